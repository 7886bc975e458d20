/* Input files that others wrote. They are opened only if reading them comes to an end: devices, pipes and folders are
 * refused, because they may be endless or block the reader. */
#ifndef YK_BASE_INPUT_H
#define YK_BASE_INPUT_H

#include <stdint.h>
#include <stdio.h>

#include "yoke/base.h"

/* Largest input file (bytes). */
#define YK_INPUT_MAX (UINT64_C(2) << 30)

/* Opens a regular file of at most YK_INPUT_MAX bytes for reading. NULL after yk_fail() with `status`. */
FILE *yk_input_open(yk_context *context, const char *path, yk_status status);

/* Call this after a file was read with `status`, because readers take a read error for the end of the file. Returns
 * YK_ERROR_FILE after a read error, otherwise `status`. */
yk_status yk_input_check(yk_context *context, FILE *file, const char *path, yk_status status);

/* Like yk_input_open(), but without a limit of the size, for files that Yoke wrote. */
FILE *yk_regular_open(yk_context *context, const char *path, yk_status status);

/* Whether a library may open the file by its path. The dynamic loader, libzip and HDF5 would wait for a writer of a
 * pipe. */
yk_status yk_regular_check(yk_context *context, const char *path, yk_status status);

/* Whether the path names something other than a regular file, such as a pipe. false: it is regular, missing, or cannot be
 * reached. */
bool yk_is_irregular_file(const char *path);

/* Hash of all bytes of an input file (yk_hash_bytes()). */
yk_status yk_input_hash(yk_context *context, const char *path, uint64_t *hash);

#endif
