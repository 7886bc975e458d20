/* Scenario files: reading, checking, and what they say.
 *
 * A scenario is one YAML file. Loading it reports every mistake in one pass into a list of diagnostics, each with its
 * place, the key that is to blame, what is expected and the nearest valid word. */
#ifndef YOKE_MODEL_H
#define YOKE_MODEL_H

#include "yoke/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Diagnostics ---------------------------------------------------------------------------------------------------- */

typedef enum yk_severity { YK_SEVERITY_WARNING, YK_SEVERITY_ERROR } yk_severity;

/* One message. The texts are never NULL and live as long as the list. */
typedef struct yk_diagnostic {
    yk_severity severity;
    const char *source;  /* the file's name, or "--set coupling.scheme" for a value of the command line */
    int line, column;    /* from 1, columns in characters; 0: no line (an override, an unreadable file) */
    const char *path;    /* "coupling.scheme": the key that is to blame; "": the whole file */
    const char *message; /* what is wrong, what is expected, the remedy */
    const char *excerpt; /* the source line, or the part of it around the place; "" where there is none */
    int caret;           /* characters of the excerpt before the place */
    int length;          /* characters to underline */
} yk_diagnostic;

typedef struct yk_diagnostics yk_diagnostics;

yk_status yk_diagnostics_create(yk_context *context, yk_diagnostics **diagnostics);
void yk_diagnostics_destroy(yk_diagnostics *diagnostics);

/* How many messages are kept (at most 100), and how many errors and warnings there were in all. */
int yk_diagnostics_count(const yk_diagnostics *diagnostics);
int yk_diagnostics_errors(const yk_diagnostics *diagnostics);
int yk_diagnostics_warnings(const yk_diagnostics *diagnostics);
/* NULL outside 0 .. count - 1. */
const yk_diagnostic *yk_diagnostics_get(const yk_diagnostics *diagnostics, int index);

/* All messages as compilers print them, "file:line:column: error: path: message" with the source line and a caret
 * below; to be given back with yk_release. NULL when out of memory. */
char *yk_diagnostics_text(const yk_diagnostics *diagnostics);

#ifdef __cplusplus
}
#endif

#endif
