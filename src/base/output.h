/* Output files that are replaced as a whole: written under a temporary name in the same folder, synchronized to the disk,
 * and renamed when they are complete. A file with the final name is therefore always the complete old or the complete new
 * file, also after a crash or on a full disk. Devices and pipes are written directly. */
#ifndef YK_BASE_OUTPUT_H
#define YK_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct yk_output {
    FILE *stream;    /* NULL: the file cannot be written; errno has the reason. */
    char *path;      /* Links are resolved. */
    char *temporary; /* NULL: the file is written directly. */
} yk_output;

/* The result must be closed or discarded, also if the file cannot be written. */
yk_output yk_output_open(const char *path);

/* Completes the file. False, with errno: a part of it could not be written, and the old file is unchanged. */
bool yk_output_close(yk_output *output);

/* Drops the new file. The old file is unchanged. */
void yk_output_discard(yk_output *output);

#endif
