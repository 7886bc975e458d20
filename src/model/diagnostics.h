/* The reader's side of yk_diagnostics: where a piece of text came from, and how a mistake in it
 * is reported. */
#ifndef YK_MODEL_DIAGNOSTICS_H
#define YK_MODEL_DIAGNOSTICS_H

#include "yoke/model.h"

/* A text that nodes point into. */
typedef struct yk_source {
    const char *name; /* a file's name, or "--set coupling.scheme" */
    const char *text;
    size_t length;
    bool has_lines; /* false: the name alone is the location (overrides, defaults) */
} yk_source;

/* Lines and columns count from 1 (columns in characters, not bytes); line 0: nowhere in
 * particular. */
typedef struct yk_location {
    const yk_source *source;
    int line, column;
    int length; /* characters to underline */
} yk_location;

/* Adds one message; `path` may be NULL or empty. What does not fit any more is counted, not
 * kept. */
void yk_report(yk_diagnostics *diagnostics, yk_severity severity, yk_location location,
               const char *path, const char *format, ...) YK_PRINTF(5, 6);

/* The text at a line and column, up to the end of the source. */
const char *yk_source_at(const yk_source *source, int line, int column);

/* No further message will be kept: a validator may stop. */
bool yk_diagnostics_full(const yk_diagnostics *diagnostics);
/* A message was lost because memory ran out. */
bool yk_diagnostics_failed(const yk_diagnostics *diagnostics);

/* In the order of the source: file by file, line by line. */
void yk_diagnostics_sort(yk_diagnostics *diagnostics);

#endif
