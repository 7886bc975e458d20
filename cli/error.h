/* The error bars of `yoke run --error`: finer runs after the run itself, its record with the
 * bars, a table. */
#ifndef YOKE_CLI_ERROR_H
#define YOKE_CLI_ERROR_H

#include "scenario.h"
#include "yoke/analysis.h"

typedef struct error_request {
    const loaded *loaded; /* the scenario that was run */
    const char *path;     /* of its file */
    const option_list *sets;
    const yk_record *record; /* of the run */
    double seconds;          /* that the run took */
    bool quiet;
} error_request;

/* Estimates the error, writes the record with its bars to the recorder (may be NULL) and prints
 * what was found, unless quiet. The record is written in any case. */
yk_status estimate_error(const error_request *request, yk_recorder *recorder);

#endif
