/* Writer of MATLAB files of version 5 (Level 5 MAT-file format): real matrices and lists of texts.
 * MATLAB, Octave and scipy.io.loadmat() read them. */
#ifndef YK_RECORD_MAT_H
#define YK_RECORD_MAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/output.h"

typedef struct yk_mat_file {
    yk_output output;
    bool failed; /* a write failed, with errno in `error` */
    int error;
} yk_mat_file;

/* The file must be closed, also if it cannot be written. */
yk_mat_file yk_mat_open(const char *path);
/* Completes the file. False, with errno: it was not written, and an older file is unchanged. */
bool yk_mat_close(yk_mat_file *file);

/* A row-major matrix under a name of letters, digits and underscores. */
void yk_mat_write_matrix(yk_mat_file *file, const char *name, int rows, int columns,
                         const double *values);
/* A column of texts (a cell array). `texts` gives the text of an index. */
void yk_mat_write_texts(yk_mat_file *file, const char *name, int count,
                        const char *(*texts)(const void *user, int index), const void *user);

#endif
