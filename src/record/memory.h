/* The record in memory, the readers that fill it, and the copies that recorders keep. */
#ifndef YK_RECORD_MEMORY_H
#define YK_RECORD_MEMORY_H

#include "yoke/record.h"

/* Columns grow at their ends, each in its own memory: to add a row to all of them touches as many
 * cache lines as there are columns. So rows are staged first, side by side, and moved to the
 * columns many at a time. */
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

/* Closes the record without a summary, as after a run that did not finish. */
void yk_record_close(yk_record *record);

/* Checked copies of what a recorder is given at its beginning and its end (header.c).
 *
 * A deep copy in one block of memory, to be released with yk_release: strings "" where they were
 * NULL, labels always present (that of a lone component is "" unless given). Refuses names that
 * are missing or used twice. */
yk_status yk_header_copy(yk_context *context, const yk_record_header *header,
                         yk_record_header **copy);
/* NULL gives a summary without values. */
yk_status yk_summary_copy(yk_context *context, const yk_record_summary *summary,
                          yk_record_summary **copy);

/* Doubles in a row: the components of all channels. */
size_t yk_header_width(const yk_record_header *header);

/* Passes all that a file of any format holds to a recorder: begin, samples, frames and, of a record
 * that is complete, the end. (load.c) */
yk_status yk_record_play(yk_context *context, const char *path, yk_recorder *to, bool *complete);
/* Readers of the formats, likewise. That of HDF5 reads in a process of its own, because libhdf5
 * does not survive every damaged file; yk_hdf5_read is what that process does. */
yk_status yk_csv_load(yk_context *context, const char *path, yk_recorder *to, bool *complete);
yk_status yk_hdf5_load(yk_context *context, const char *path, yk_recorder *to, bool *complete);
yk_status yk_hdf5_read(yk_context *context, const char *path, yk_recorder *to);

/* Loads a file as a record of at most so many rows (at least 512) that looks the same: where there
 * are more, the lowest and highest values of neighbours stay. Without scene, frames and summary, in
 * memory that does not depend on the length of the file. (thin.c) */
yk_status yk_record_load_thin(yk_context *context, const char *path, size_t rows_most,
                              yk_record **record);

#endif
