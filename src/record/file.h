/* Writers of results files: recorders that write one format straight to a file. What users get
 * (yk_file_recorder_create, file.c) keeps a journal while the run goes on and plays it to one of
 * these at the end. */
#ifndef YK_RECORD_FILE_H
#define YK_RECORD_FILE_H

#include "yoke/record.h"

/* The file must not be there yet; its end is on the disk when `end` returns. Nothing is given back
 * of a file that fails: whoever asked for it removes it. */
yk_status yk_csv_writer_create(yk_context *context, const char *path, yk_recorder **writer);
yk_status yk_hdf5_writer_create(yk_context *context, const char *path, yk_recorder **writer);

#endif
