/* Files that somebody else wrote, opened only where reading them comes to an end. */
#ifndef YK_BASE_INPUT_H
#define YK_BASE_INPUT_H

#include <stdio.h>

#include "yoke/base.h"

/* What is larger was not meant (bytes). */
#define YK_INPUT_MAX (UINT64_C(2) << 30)

/* A regular file of at most YK_INPUT_MAX bytes, open for reading. Devices, pipes and folders are
 * refused: they may have no end, or let the reader wait. NULL after yk_fail with the status. */
FILE *yk_input_open(yk_context *context, const char *path, yk_status status);

/* A hash of all bytes of such a file. */
yk_status yk_input_hash(yk_context *context, const char *path, uint64_t *hash);

#endif
