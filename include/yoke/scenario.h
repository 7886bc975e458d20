/* Scenario files: reading, checking, and what they say.
 *
 * A scenario is one YAML file. Loading it reports every mistake in one pass into a list of
 * diagnostics, each with its location, the key that causes it, what is expected and the nearest
 * valid word. */
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
    /* the file's name, or "--set coupling.scheme" for a value of the command line */
    const char *source;
    int line,
        column; /* from 1, columns in characters; 0: no line (an override, an unreadable file) */
    const char *path;    /* "coupling.scheme": the key that causes it; "": the whole file */
    const char *message; /* what is wrong, what is expected, the remedy */
    /* the source line, or the part of it around the place; "" where there is none */
    const char *excerpt;
    int caret;  /* characters of the excerpt before the place */
    int length; /* characters to underline */
} yk_diagnostic;

typedef struct yk_diagnostics yk_diagnostics;

yk_status yk_diagnostics_create(yk_context *context, yk_diagnostics **diagnostics);
void yk_diagnostics_destroy(yk_diagnostics *diagnostics);

/* How many messages are kept (at most 100), and how many errors and warnings there were in all. */
int yk_diagnostics_count(const yk_diagnostics *diagnostics);
int yk_diagnostics_error_count(const yk_diagnostics *diagnostics);
int yk_diagnostics_warning_count(const yk_diagnostics *diagnostics);
/* NULL outside 0 .. count - 1. */
const yk_diagnostic *yk_diagnostics_at(const yk_diagnostics *diagnostics, int index);

/* All messages as compilers print them, "file:line:column: error: path: message" with the source
 * line and a caret below; to be given back with yk_free. NULL when out of memory. */
char *yk_diagnostics_format(const yk_diagnostics *diagnostics);

/* Scenarios ------------------------------------------------------------------------------------ */

typedef struct yk_scenario yk_scenario;

/* In what the distance of two checkpoints is measured. */
typedef enum yk_checkpoint_unit {
    YK_CHECKPOINT_NEVER,
    YK_CHECKPOINT_STEPS,          /* macro steps */
    YK_CHECKPOINT_SIMULATED_TIME, /* s, simulated */
    YK_CHECKPOINT_WALL_TIME       /* s, on the clock */
} yk_checkpoint_unit;

/* What a load took long to find, such as where particles come to rest, for later loads of
 * scenarios that agree in it. One may serve several loads at a time. NULL when out of memory. */
typedef struct yk_cache yk_cache;
yk_cache *yk_cache_create(void);
void yk_cache_destroy(yk_cache *cache);

/* Where the subsystems of a scenario are, for runs over several processes, which are numbered by
 * their ranks. */
typedef struct yk_subsystem_placement {
    int rank, rank_count; /* of this process; of all */
    /* Before the first subsystem is made: ranks[i] comes as the scenario names it, or negative, and
     * leaves as the rank that has the subsystem. */
    yk_status (*place)(void *user, yk_context *context, const char *const *names, int count,
                       int *ranks);
    /* What stands here for a subsystem that another rank has. NULL: nothing does; then the scenario
     * is loaded for its subsystems alone, NULL where they are not here, and cannot be run. Where the
     * scheme spreads the parts of a merged subsystem, its place is that of a copy of the whole on
     * which this part is solved. */
    yk_status (*create_proxy)(void *user, yk_context *context, const char *name, int index,
                              int rank, yk_subsystem **subsystem);
    void *user;
} yk_subsystem_placement;

struct yk_settling;

typedef struct yk_scenario_def {
    const char *path; /* the file; also its name in messages */
    const char *text; /* its contents instead of reading it; NULL: the file is read */
    /* "coupling.scheme=tight": values over those of the file, applied in order */
    const char *const *overrides;
    int override_count;
    /* Solvers iterate to rounding instead of their tolerances, so that runs may be differenced. */
    bool iterate_to_rounding;
    /* The same scenario in finer steps: all steps in it are divided by this whole number, those
     * inside of subsystems too, tolerances fall with them, and samples stay where they are. What
     * belongs to the model, such as the period of a sampled controller, stays. 0 or 1: as
     * written. */
    double refinement;
    yk_cache *cache; /* NULL: nothing is kept */
    /* Schemes of one's own that scenarios may name, besides those of the library; they must
     * outlive what is loaded. */
    const yk_scheme_ops *const *schemes;
    int scheme_count;
    /* Likewise solvers of one's own. */
    const yk_solver_ops *const *solvers;
    int solver_count;
    /* Scenarios that run code of others are refused: plug-ins and FMUs, those in a child process
     * too. */
    bool forbid_external_code;
    /* Particles that are to settle stay on their lattice, which takes no time: for a look at the
     * scenario, not for a run. */
    bool skip_settling;
    /* Sees particles that settle (yk_settling of yoke/nonsmooth.h); NULL: nobody does. */
    void (*show_settling)(void *user, const struct yk_settling *settling);
    void *show_settling_user;
    const yk_subsystem_placement *placement; /* NULL: all subsystems are made here */
} yk_scenario_def;

yk_scenario_def yk_scenario_default(void);

/* Reads and checks a scenario and creates its subsystems. All mistakes are reported to the
 * diagnostics, in the order of the file; with any error the status is YK_ERROR_INPUT and
 * *scenario NULL. The diagnostics may hold warnings afterwards; NULL: only the first mistake is
 * kept, in yk_last_message(). The scenario keeps nothing of the def. */
yk_status yk_scenario_load(yk_context *context, const yk_scenario_def *def,
                           yk_diagnostics *diagnostics, yk_scenario **scenario);
/* Destroys its subsystems and its system too. */
void yk_scenario_destroy(yk_scenario *scenario);

/* A plug-in that a scenario has loaded. */
typedef struct yk_plugin_info {
    const char *path;    /* from the present folder */
    const char *name;    /* as it calls itself; "" if it has no name */
    const char *license; /* "" if it names none */
} yk_plugin_info;

/* What a scenario says, in plain values. Everything lives as long as the scenario. */
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
    /* a subsystem steps over impacts, whose times within a step are lost: errors are of order 1,
     * and not smooth in the step */
    bool has_impacts;
    /* a subsystem runs in another program, which may accept one connection only: a second run at
     * the same time would wait for it */
    bool partners;
    yk_step_control step_control;
    yk_failure_policy on_failure;
    int record_interval;        /* macro steps between samples */
    int frame_count;            /* about so many frames of the scene in the run */
    int max_contacts_per_frame; /* contact points of each subsystem in a frame, at most */
    const char *record_file;    /* from the present folder; NULL if the scenario names none */
    yk_checkpoint_unit checkpoint_unit;
    double checkpoint_interval;
    const char *checkpoint_file; /* from the present folder; NULL if the scenario names none */
    int channel_count;
    const yk_channel *channels; /* what is recorded: name, unit, components */
    int values_per_sample;      /* doubles in one sample: the sum of the components */
} yk_scenario_info;

const yk_scenario_info *yk_scenario_get_info(const yk_scenario *scenario);

/* The files that it was built from, from the present folder: data, plug-ins, FMUs and libraries, from
 * index 0 on; NULL behind the last. *code: whether it is run, as the last three are; may be NULL. */
const char *yk_scenario_input_file(const yk_scenario *scenario, int index, bool *code);

/* The coupled system that the scenario describes, ready for yk_system_initialize; made at the first
 * call, and owned by the scenario. */
yk_status yk_scenario_system(yk_scenario *scenario, yk_system **system);

/* The unit of a value that overrides name by this path ("subsystems.a.mass": "kg"); of a parameter
 * that of the keys whose value it is, where these agree. "" where it has none, or none is known. */
const char *yk_scenario_unit(const yk_scenario *scenario, const char *path);

/* What the components of a recorded channel are called; NULL: x, y, z, or w, x, y, z, as their
 * number says. */
const char *const *yk_scenario_channel_labels(const yk_scenario *scenario, int channel);

/* All recorded channels at the system's present time, one after the other; after
 * yk_scenario_system and start. */
void yk_scenario_read_sample(const yk_scenario *scenario, double *values);

/* The scenario with overrides applied, defaults filled in and expressions evaluated, as YAML:
 * what a run really used. To be given back with yk_free; NULL when out of memory. */
char *yk_scenario_resolved_text(const yk_scenario *scenario);

/* The scenario as it is written, with the overrides of the def applied, as JSON: no defaults are filled in and no expressions
 * are evaluated. Text in quotes is a string; other scalars are null, true, false or a number if they can be read as
 * such. YK_ERROR_INPUT, with diagnostics: the text is not YAML, or an override cannot be applied. To be freed with
 * yk_free(). */
yk_status yk_scenario_source_json(yk_context *context, const yk_scenario_def *def,
                                  yk_diagnostics *diagnostics, char **json);

/* The text of a scenario file with values set in place, "coupling.scheme=tight", and all else in
 * it as it was: comments and layout too. The file is not touched. To be given back with
 * yk_free. YK_ERROR_INPUT where a value cannot be set without changing another, as under an
 * anchor that is used twice. */
yk_status yk_scenario_edit(yk_context *context, const char *path, const char *const *overrides,
                           int count, char **text);

/* The reference of all keys that a scenario may have, in Markdown; with a scenario, those of its
 * plug-ins too. To be given back with yk_free. NULL if memory is missing. */
char *yk_scenario_schema_markdown(yk_context *context, const yk_scenario *scenario);
/* One page of it, from 0 on, as in docs/scenario.md and docs/scenario/NAME.md. `name` becomes the name
 * of the page, NULL behind the last one. */
char *yk_scenario_reference_page(yk_context *context, const yk_scenario *scenario, int page,
                                 const char **name);

/* The same keys as a JSON Schema (draft 7), for editors. Units are under "x-unit". To be freed with yk_free(). NULL when
 * out of memory. */
char *yk_scenario_json_schema(yk_context *context, const yk_scenario *scenario);

#ifdef __cplusplus
}
#endif

#endif
