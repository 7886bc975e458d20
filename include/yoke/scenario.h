/* Scenario files: reading and checking them, and access to their contents.
 *
 * A scenario is one YAML file. Loading it reports all errors in one pass as a list of diagnostics,
 * each with its location, its key, the expected values and the nearest valid word. */
#ifndef YOKE_MODEL_H
#define YOKE_MODEL_H

#include "yoke/base.h"
#include "yoke/plugin.h"
#include "yoke/subsystem.h"
#include "yoke/system.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Diagnostics ---------------------------------------------------------------------------------- */

typedef enum yk_severity { YK_SEVERITY_WARNING, YK_SEVERITY_ERROR } yk_severity;

/* One message. The texts are never NULL and live as long as the list. */
typedef struct yk_diagnostic {
    yk_severity severity;
    /* the name of the file, or "--set coupling.scheme" for an override */
    const char *source;
    int line,
        column; /* from 1, columns in characters; 0: no line (an override, an unreadable file) */
    const char *path;    /* "coupling.scheme": the key with the error; "": the whole file */
    const char *message; /* the error, the expected values, the remedy */
    /* the source line, or the part of it around the place; "" if there is none */
    const char *excerpt;
    int caret;  /* characters of the excerpt before the place */
    int length; /* characters to underline */
} yk_diagnostic;

typedef struct yk_diagnostics yk_diagnostics;

yk_status yk_diagnostics_create(yk_context *context, yk_diagnostics **diagnostics);
void yk_diagnostics_destroy(yk_diagnostics *diagnostics);

/* Number of stored messages (at most 100), and total numbers of errors and warnings. */
int yk_diagnostics_count(const yk_diagnostics *diagnostics);
int yk_diagnostics_error_count(const yk_diagnostics *diagnostics);
int yk_diagnostics_warning_count(const yk_diagnostics *diagnostics);
/* NULL outside 0 .. count - 1. */
const yk_diagnostic *yk_diagnostics_at(const yk_diagnostics *diagnostics, int index);

/* All messages in the format of compilers, "file:line:column: error: path: message" with the source
 * line and a caret below. Release with yk_free(). NULL: memory is missing. */
char *yk_diagnostics_format(const yk_diagnostics *diagnostics);

/* Scenarios ------------------------------------------------------------------------------------ */

typedef struct yk_scenario yk_scenario;

/* Unit of the checkpoint interval. */
typedef enum yk_checkpoint_unit {
    YK_CHECKPOINT_NEVER,
    YK_CHECKPOINT_STEPS,          /* macro steps */
    YK_CHECKPOINT_SIMULATED_TIME, /* s, simulated */
    YK_CHECKPOINT_WALL_TIME       /* s, wall time */
} yk_checkpoint_unit;

/* Results that are expensive to compute while loading, such as settled particles, for later loads
 * of scenarios with the same data. Several loads may use one cache at the same time. NULL: memory
 * is missing. */
typedef struct yk_cache yk_cache;
yk_cache *yk_cache_create(void);
void yk_cache_destroy(yk_cache *cache);

/* Placement of the subsystems of a scenario, for runs over several processes, which are numbered by
 * their ranks. */
typedef struct yk_subsystem_placement {
    int rank, rank_count; /* of this process; of all */
    /* Called before the first subsystem is created: ranks[i] is the rank in the scenario, or
     * negative; the function sets the rank of the subsystem. */
    yk_status (*place)(void *user, yk_context *context, const char *const *names, int count,
                       int *ranks);
    /* Returns a stand-in for a subsystem on another rank. NULL: there are no stand-ins; then the
     * scenario is loaded for its subsystems only, NULL if they are not on this rank, and cannot be
     * run. If the scheme distributes the parts of a merged subsystem, the stand-in replaces a copy
     * of the whole on which this part is solved. */
    yk_status (*create_proxy)(void *user, yk_context *context, const char *name, int index,
                              int rank, yk_subsystem **subsystem);
    void *user;
} yk_subsystem_placement;

struct yk_settling;

typedef struct yk_scenario_def {
    const char *path; /* the file; also its name in messages */
    const char *text; /* its contents; NULL: the file is read */
    /* "coupling.scheme=tight": overrides of values of the file, applied in order */
    const char *const *overrides;
    int override_count;
    /* Solvers iterate to rounding errors instead of their tolerances, so that differences of runs
     * are meaningful. */
    bool iterate_to_rounding;
    /* A refined run of the same scenario: all steps are divided by this integer, including those
     * inside subsystems; tolerances are reduced accordingly; samples remain at the same times.
     * Properties of the model, such as the period of a sampled controller, do not change. 0 or 1:
     * as written. */
    double refinement;
    /* Another realization of the random numbers of the scenario: this number is added to all seeds.
     * 0: as written. */
    int realization;
    yk_cache *cache; /* NULL: nothing is cached */
    /* Additional schemes that scenarios may name; they must outlive the scenario. */
    const yk_scheme_ops *const *schemes;
    int scheme_count;
    /* Additional solvers, added in the same way. */
    const yk_solver_ops *const *solvers;
    int solver_count;
    /* Rejects scenarios that load external code: plug-ins and FMUs, including those in a child
     * process. */
    bool forbid_external_code;
    /* Particles remain on their lattice instead of settling, which takes no time: for a look at the
     * scenario, not for a run. */
    bool skip_settling;
    /* Shows settling particles (yk_settling of yoke/nonsmooth.h); NULL: not shown. */
    void (*show_settling)(void *user, const struct yk_settling *settling);
    void *show_settling_user;
    const yk_subsystem_placement *placement; /* NULL: all subsystems are created in this process */
} yk_scenario_def;

yk_scenario_def yk_scenario_default(void);

/* Reads and checks a scenario and creates its subsystems. All errors are reported to the
 * diagnostics, in the order of the file; if there are any, the status is YK_ERROR_INPUT and
 * *scenario is NULL. The diagnostics may contain warnings afterwards; NULL: only the first error is
 * reported, by yk_last_message(). The scenario keeps no reference to the def. */
yk_status yk_scenario_load(yk_context *context, const yk_scenario_def *def,
                           yk_diagnostics *diagnostics, yk_scenario **scenario);
/* Also destroys its subsystems and its system. */
void yk_scenario_destroy(yk_scenario *scenario);

/* A plug-in that a scenario has loaded. */
typedef struct yk_plugin_info {
    const char *path;    /* relative to the present folder */
    const char *name;    /* its own name; "" if it has none */
    const char *license; /* "" if it states none */
} yk_plugin_info;

/* Contents of a scenario as plain values. Everything lives as long as the scenario. */
typedef struct yk_scenario_info {
    const char *path;
    const char *title;       /* "" if it has none */
    const char *description; /* "" if it has none */
    double start;            /* s */
    double step;             /* macro step, s */
    double end;              /* s, after the last step */
    int64_t step_count;
    int plugin_count;
    const yk_plugin_info *plugins;
    int subsystem_count;
    const char *const *subsystem_names;   /* of the subsystems */
    const char *const *subsystem_solvers; /* their kinds, "oscillator" */
    yk_subsystem *const *subsystems;
    const yk_transform *transforms; /* units and axes of each subsystem */
    int interface_count;
    const yk_interface_def *interfaces;
    int wire_count;
    const yk_wire_def *wires;
    yk_scheme_def scheme;
    /* a subsystem steps over impacts, whose times within a step are not resolved: errors are of
     * order 1, and not smooth in the step size */
    bool has_impacts;
    /* a subsystem runs in another program, which may accept one connection only: a second run at
     * the same time would wait for it */
    bool partners;
    yk_step_control step_control;
    yk_failure_policy on_failure;
    int record_interval;        /* macro steps between samples */
    int frame_count;            /* approximate number of frames of the scene in the run */
    int max_contacts_per_frame; /* largest number of contact points of each subsystem in a frame */
    /* relative to the present folder; NULL if the scenario names none */
    const char *record_file;
    yk_checkpoint_unit checkpoint_unit;
    double checkpoint_interval;
    /* relative to the present folder; NULL if the scenario names none */
    const char *checkpoint_file;
    int channel_count;
    const yk_channel *channels; /* recorded channels: name, unit, components */
    int values_per_sample;      /* doubles in one sample: the sum of the components */
} yk_scenario_info;

const yk_scenario_info *yk_scenario_get_info(const yk_scenario *scenario);

/* The files from which it was built, relative to the present folder: data, plug-ins, FMUs and
 * libraries, from index 0 on; NULL after the last. *code: whether it is run, as the last three are;
 * may be NULL. */
const char *yk_scenario_input_file(const yk_scenario *scenario, int index, bool *code);

/* The coupled system of the scenario, ready for yk_system_initialize(); created by the first call,
 * and owned by the scenario. */
yk_status yk_scenario_system(yk_scenario *scenario, yk_system **system);

/* The unit of the value at this path of an override ("subsystems.a.mass": "kg"); for a parameter,
 * that of the keys that use it, if they agree. "": none, or unknown. */
const char *yk_scenario_unit(const yk_scenario *scenario, const char *path);

/* Labels of the components of a recorded channel; NULL: x, y, z, or w, x, y, z, depending on their
 * number. */
const char *const *yk_scenario_channel_labels(const yk_scenario *scenario, int channel);

/* All recorded channels at the system's present time, one after another. The system must be
 * initialized. */
void yk_scenario_read_sample(const yk_scenario *scenario, double *values);

/* The scenario with overrides applied, defaults filled in and expressions evaluated, as YAML: the
 * values that a run uses. Release with yk_free(); NULL: memory is missing. */
char *yk_scenario_resolved_text(const yk_scenario *scenario);
/* The same, with a comment behind each value that names its file and line, its override, or
 * "default". */
char *yk_scenario_text_with_origins(const yk_scenario *scenario);

/* The scenario as written, with the overrides of the def applied, as JSON: no defaults are filled
 * in and no expressions are evaluated. Quoted text is a string; other scalars are null, true, false
 * or a number if possible. YK_ERROR_INPUT, with diagnostics: the text is not YAML, or an override
 * cannot be applied. Release with yk_free(). */
yk_status yk_scenario_source_json(yk_context *context, const yk_scenario_def *def,
                                  yk_diagnostics *diagnostics, char **json);

/* The text of a scenario file with values set in place, "coupling.scheme=tight". Everything else is
 * preserved, including comments and layout. The file is not changed. Release with yk_free().
 * YK_ERROR_INPUT: a value cannot be set without changing another, for example under an anchor that
 * is used twice. */
yk_status yk_scenario_edit(yk_context *context, const char *path, const char *const *overrides,
                           int count, char **text);

/* The reference of all keys of scenarios, in Markdown; with a scenario, including those of its
 * plug-ins. Release with yk_free(). NULL: memory is missing. */
char *yk_scenario_schema_markdown(yk_context *context, const yk_scenario *scenario);
/* One page of it, from 0 on, as in docs/scenario.md and docs/scenario/NAME.md. `name` receives the
 * name of the page, NULL after the last one. */
char *yk_scenario_reference_page(yk_context *context, const yk_scenario *scenario, int page,
                                 const char **name);

/* The same keys as a JSON Schema (draft 7), for editors. Units are under "x-unit". Release with
 * yk_free(). NULL: memory is missing. */
char *yk_scenario_json_schema(yk_context *context, const yk_scenario *scenario);

#ifdef __cplusplus
}
#endif

#endif
