/* Readers of the formats; load.c picks the one. */
#ifndef YK_RECORD_LOAD_H
#define YK_RECORD_LOAD_H

#include "record/memory.h"

/* Fills a new, empty record. */
yk_status yk_csv_load(yk_context *context, const char *path, yk_record *record);
yk_status yk_hdf5_load(yk_context *context, const char *path, yk_record *record);

#endif
