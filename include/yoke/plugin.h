/* Plug-ins: solvers and coupling schemes from outside the library, for scenarios.
 *
 * A solver for scenarios is a constant table: its word behind `solver:`, its keys as option rows
 * over a struct of its own (as schemes have them, yoke/scheme_ops.h), and a function that makes a
 * subsystem (yoke/subsystem.h) from the filled struct.
 *
 *   scenario.yaml                       the table                     what Yoke calls
 *
 *   subsystems:
 *     left:
 *       solver: duffing                 name = "duffing"
 *       mass: 2                         options[0].key = "mass"       create(context, &options, ...)
 *       stiffness: 100                  options[1].key = "stiffness"
 *
 * From the rows come the defaults, the checks with file, line and column, and the reference of
 * keys. There are two ways to a scenario: a program hands the table to yk_scenario_load
 * (yoke/scenario.h), or a shared library exports one function
 *
 *   YK_PLUGIN_EXPORT const yk_plugin *yoke_plugin(void);
 *
 * and the scenario names the library under `plugins:`. It is loaded before the scenario is checked,
 * and closed after the last of its subsystems is destroyed. A plug-in runs with all rights of the
 * program: who does not trust a scenario forbids it (yk_scenario_def, yoke --no-external-code). */
#ifndef YOKE_PLUGIN_H
#define YOKE_PLUGIN_H

#include "yoke/scheme_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with each change of the contracts that a plug-in was compiled against. */
enum { YK_PLUGIN_VERSION = 1 };

/* Most bytes of the option struct of a solver. */
enum { YK_SOLVER_OPTIONS_SIZE_MAX = 4096 };

typedef struct yk_solver_ops {
    size_t size;              /* of this table as it was compiled */
    const char *name;         /* one word */
    const char *description;  /* what it is, for the reference */
    size_t options_size;      /* of its struct, which is all zero before the rows are filled in */
    const yk_option *options; /* ended by a row without a key; NULL: it has none */

    /* Makes the subsystem, which is destroyed by its own operation. Texts, lists and functions in
     * the options stay valid until then. Where it fails, yk_fail says why: the message is shown at
     * the subsystem's line of the scenario. */
    yk_status (*create)(yk_context *context, const void *options, yk_subsystem **subsystem);
} yk_solver_ops;

typedef struct yk_plugin {
    size_t size;                         /* of this table as it was compiled */
    unsigned version;                    /* YK_PLUGIN_VERSION */
    const char *name;                    /* of the plug-in, with its own version: "duffing 1.2" */
    const char *license;                 /* may be NULL */
    const yk_solver_ops *const *solvers; /* ended by NULL; may be NULL */
    const yk_scheme_ops *const *schemes; /* ended by NULL; may be NULL */
} yk_plugin;

typedef const yk_plugin *(*yk_plugin_function)(void);

#if defined(__GNUC__)
#define YK_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define YK_PLUGIN_EXPORT
#endif

#ifdef __cplusplus
}
#endif

#endif
