/* What the commands that take a scenario have in common. */
#ifndef YOKE_CLI_SCENARIO_H
#define YOKE_CLI_SCENARIO_H

#include <stdio.h>

#include "options.h"
#include "yoke/analysis.h"
#include "yoke/model.h"

typedef struct loaded {
    yk_context *context;
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
} loaded;

/* `yoke --no-plugins ...`: scenarios that name plug-ins are refused. */
void forbid_plugins(void);

/* The scenario of a path with overrides, as the program's options say. */
yk_scenario_def scenario_def(const char *path, const option_list *sets);

/* Loads and prints what is to be said about it on stderr. False, and nothing to close, if it has
 * mistakes. */
bool load_scenario(const char *path, const option_list *sets, loaded *out);
/* The same, for differences of runs (see yk_scenario_def). */
bool load_scenario_as(const char *path, const option_list *sets, bool to_rounding, loaded *out);
/* The same, with everything that is worth a word on stderr: what a run would set right by itself
 * too. */
bool load_scenario_to_check(const char *path, const option_list *sets, loaded *out);
void close_scenario(loaded *out);

/* Prints what the list holds; true if there are errors in it. */
bool print_diagnostics(yk_context *context, const yk_diagnostics *diagnostics);

/* A context whose warnings go to stderr; NULL after a message. */
yk_context *open_context(void);

/* Prints the context's last message as the program's; returns EXIT_FAILED. */
int print_failure(const yk_context *context);

/* Why work on a scenario ended with a status other than YK_OK: its mistakes, or the last message.
 * Returns the exit code. */
int print_refusal(yk_context *context, const yk_diagnostics *diagnostics, yk_status status);

/* What was found in a run, and what can be done about it, in one sentence without a full stop. */
void print_finding(FILE *file, const char *path, const yk_finding *finding);

#endif
