/* The record in memory, the copies that recorders keep, and readers and writers of all formats. */
#ifndef YK_RECORD_MEMORY_H
#define YK_RECORD_MEMORY_H

#include "yoke/record.h"

/* Closes the record without a summary, as after a run that did not finish. */
void yk_record_close(yk_record *record);

/* Checked copies of the header and the summary that a recorder receives (recorder.c).
 *
 * A deep copy in one block of memory, released by yk_free(): strings are "" if they were NULL,
 * labels always exist (that of a single component is "" unless given). Rejects missing and
 * duplicate names. */
yk_status yk_header_copy(yk_context *context, const yk_record_header *header,
                         yk_record_header **copy);
/* NULL gives a summary without values. */
yk_status yk_summary_copy(yk_context *context, const yk_record_summary *summary,
                          yk_record_summary **copy);

/* A file from which a record reads columns and frames when they are first needed. Implementations
 * have this as their first member. */
typedef struct yk_record_source yk_record_source;

typedef struct yk_record_source_ops {
    /* Fills the columns of a channel (-1: the time), one per component, with all rows. */
    yk_status (*read_channel)(yk_record_source *self, int channel, double *const *columns);
    /* Passes all frames to a recorder that has begun. */
    yk_status (*read_frames)(yk_record_source *self, yk_recorder *to);
    void (*destroy)(yk_record_source *self);
} yk_record_source_ops;

struct yk_record_source {
    const yk_record_source_ops *ops;
};

/* Gives a closed record without rows the rows of a source, which the record owns from now on. */
void yk_record_set_source(yk_record *record, yk_record_source *source, size_t row_count);

/* Number of doubles in a row: the components of all channels. */
size_t yk_header_width(const yk_record_header *header);

/* Readers of the formats pass the contents of a file to a recorder: begin, samples, frames and, for
 * a complete record, the end. */
yk_status yk_csv_load(yk_context *context, const char *path, yk_recorder *to, bool *complete);
yk_status yk_hdf5_load(yk_context *context, const char *path, yk_recorder *to, bool *complete);

/* Begins and closes a record with the header and the summary of a results file, which becomes its
 * source. */
yk_status yk_hdf5_attach(yk_context *context, const char *path, yk_record *record);

/* Samples and frames of a record that is written from its journal. */
typedef struct yk_record_counts {
    size_t row_count, frame_count;
} yk_record_counts;

/* Writers: recorders that write one format directly to a file. The file recorder (file.c) keeps a
 * journal during the run and plays it to a writer at the end. The file must not exist; it is on the
 * disk when `end` returns. The caller removes a file that could not be written. */
typedef yk_status yk_writer_create_function(yk_context *context, const char *path,
                                            const yk_record_counts *counts, yk_recorder **writer);
yk_writer_create_function yk_csv_writer_create;
yk_writer_create_function yk_hdf5_writer_create;

/* Passes the contents of a file of any format to a recorder, and returns whether the record is
 * complete. */
yk_status yk_record_play(yk_context *context, const char *path, yk_recorder *to, bool *complete);

/* Keeps the journal of a finished record when the recorder is destroyed, because a checkpoint
 * refers to it. Without effect on other kinds of recorders. */
void yk_file_recorder_keep_journal(yk_recorder *recorder);

/* Loads a file as a record of at most this number of rows (at least 512) that looks the same: if
 * there are more, the lowest and highest values of neighbours are kept. Without scene, frames and
 * summary, in memory that does not depend on the length of the file. */
yk_status yk_record_load_thin(yk_context *context, const char *path, size_t rows_most,
                              yk_record **record);

#endif
