/* Output files that are written as a whole: under a temporary name in the same folder, put on the
 * disk, and renamed when they are complete. So a file of that name is the old one or the new one,
 * whatever ends the program and however full the disk is. Devices and pipes, which cannot be
 * renamed, are written directly. */
#ifndef YK_BASE_OUTPUT_H
#define YK_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct yk_output {
    FILE *stream;    /* NULL: the file cannot be written, with the reason in errno */
    char *path;      /* links are resolved */
    char *temporary; /* NULL: written directly */
} yk_output;

/* To be closed or discarded, also if it cannot be written. */
yk_output yk_output_open(const char *path);

/* Completes the file. False with errno if any of it could not be written: then the old file stays as
 * it was. */
bool yk_output_close(yk_output *output);

/* Leaves the old file as it was. */
void yk_output_discard(yk_output *output);

#endif
