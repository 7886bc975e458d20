/* The record in memory, as the readers fill it. */
#ifndef YK_RECORD_MEMORY_H
#define YK_RECORD_MEMORY_H

#include "yoke/record.h"

struct yk_record {
    yk_recorder base;
    yk_context *context;
    yk_record_header *header;   /* never NULL after creation */
    yk_record_summary *summary; /* likewise */
    bool open;                  /* between begin and end */
    bool complete;
    size_t width; /* doubles in a row, time apart */
    size_t rows;
    size_t capacity;  /* rows that fit; equals `rows` when closed, so that sample notices */
    double **columns; /* width + 1 of them, time first */
};

/* Room for so many rows in all; the rows there are stay. */
yk_status yk_record_reserve(yk_record *record, size_t rows);

/* Closes the record without a summary, as after a run that did not finish. */
void yk_record_close(yk_record *record);

#endif
