/* Checked copies of what a recorder is told at its beginning and its end. */
#ifndef YK_RECORD_HEADER_H
#define YK_RECORD_HEADER_H

#include "yoke/record.h"

/* A deep copy in one block of memory, to be released with yk_release: strings "" where they were
 * NULL, labels always present (that of a lone component is "" unless given). Refuses names that
 * are missing or used twice. */
yk_status yk_header_copy(yk_context *context, const yk_record_header *header,
                         yk_record_header **copy);
/* NULL gives a summary without values. */
yk_status yk_summary_copy(yk_context *context, const yk_record_summary *summary,
                          yk_record_summary **copy);

/* Doubles in a row: the components of all channels. */
size_t yk_header_width(const yk_record_header *header);

#endif
