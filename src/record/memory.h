/* The record in memory, as the readers fill it. */
#ifndef YK_RECORD_MEMORY_H
#define YK_RECORD_MEMORY_H

#include "yoke/record.h"

/* Columns grow at their ends, each in its own memory: to add a row to all of them touches as many
 * places as there are columns. So rows are staged first, side by side, and moved to the columns
 * many at a time. */
typedef struct yk_columns {
    size_t width;    /* columns, time included */
    size_t rows;     /* in the columns, without those on the stage */
    size_t capacity; /* rows that fit in the columns; at least rows + stage_rows while recording */
    size_t staged;   /* rows on the stage */
    size_t stage_rows; /* that fit there; 0 outside begin and end, so that sample notices */
    double *stage;
    double *columns[]; /* time first */
} yk_columns;

struct yk_record {
    yk_recorder base;
    yk_context *context;
    yk_record_header *header; /* this and all below never NULL after creation */
    yk_record_summary *summary;
    yk_columns *data;
    size_t frame_size, frame_count, frame_capacity;
    double *frame_times;
    float *frames; /* frame_size values each */
    bool complete;
};

/* Room in the columns for so many rows in all; the rows there are stay. */
yk_status yk_record_reserve(yk_record *record, size_t rows);

/* Closes the record without a summary, as after a run that did not finish. */
void yk_record_close(yk_record *record);

#endif
