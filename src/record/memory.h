/* The record in memory, the copies that recorders keep, and readers and writers of all formats. */
#ifndef YK_RECORD_MEMORY_H
#define YK_RECORD_MEMORY_H

#include "yoke/record.h"

/* Closes the record without a summary, as after a run that did not finish. */
void yk_record_close(yk_record *record);

/* Checked copies of what a recorder is given at its beginning and its end (recorder.c).
 *
 * A deep copy in one block of memory, to be released with yk_free: strings "" where they were
 * NULL, labels always present (that of a lone component is "" unless given). Refuses names that
 * are missing or used twice. */
yk_status yk_header_copy(yk_context *context, const yk_record_header *header,
                         yk_record_header **copy);
/* NULL gives a summary without values. */
yk_status yk_summary_copy(yk_context *context, const yk_record_summary *summary,
                          yk_record_summary **copy);

/* Doubles in a row: the components of all channels. */
size_t yk_header_width(const yk_record_header *header);

/* Readers of the formats pass all that a file holds to a recorder: begin, samples, frames and, for a complete
 * record, the end. */
yk_status yk_csv_load(yk_context *context, const char *path, yk_recorder *to, bool *complete);
yk_status yk_hdf5_load(yk_context *context, const char *path, yk_recorder *to, bool *complete);

/* Samples and frames of a record that is written from its journal. */
typedef struct yk_record_counts {
    size_t row_count, frame_count;
} yk_record_counts;

/* Writers: recorders that write one format straight to a file. The file recorder (file.c) keeps a journal during
 * the run and plays it to a writer at the end. The file must not exist; it is on the disk when `end` returns. The
 * caller removes a file that could not be written. */
typedef yk_status yk_writer_create_function(yk_context *context, const char *path,
                                            const yk_record_counts *counts, yk_recorder **writer);
yk_writer_create_function yk_csv_writer_create;
yk_writer_create_function yk_hdf5_writer_create;

/* Passes the contents of a file of any format to a recorder, and tells whether the record is
 * complete. */
yk_status yk_record_play(yk_context *context, const char *path, yk_recorder *to, bool *complete);

/* The journal of a record that has ended, and that a checkpoint refers to, stays when the recorder
 * is destroyed. Without effect on recorders of other kinds. */
void yk_file_recorder_keep_journal(yk_recorder *recorder);

/* Loads a file as a record of at most so many rows (at least 512) that looks the same: where there
 * are more, the lowest and highest values of neighbours stay. Without scene, frames and summary, in
 * memory that does not depend on the length of the file. */
yk_status yk_record_load_thin(yk_context *context, const char *path, size_t rows_most,
                              yk_record **record);

#endif
