/* Records of several runs of one scenario, on the rows that all of them have. */
#ifndef YK_ANALYSIS_ALIGN_H
#define YK_ANALYSIS_ALIGN_H

#include "yoke/record.h"

typedef struct yk_aligned {
    size_t rows;
    int runs, width;  /* columns without time */
    double **columns; /* columns[run * width + column][row] */
    double *values;
    double *time;
} yk_aligned;

/* Columns of a record without time: the components of all channels. */
int yk_record_width(const yk_record_header *header);

/* Copies the records, which have the same channels and the same times as far as they go.
 * Quaternions of opposite sign are one rotation: those of later records take the sign of the
 * first. To be released, whatever the status. */
yk_status yk_align(yk_context *context, const yk_record *const *records, int count,
                   yk_aligned *aligned);
void yk_align_release(yk_context *context, yk_aligned *aligned);

#endif
