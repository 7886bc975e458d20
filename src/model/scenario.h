/* Internal structs of a scenario. */
#ifndef YK_MODEL_SCENARIO_H
#define YK_MODEL_SCENARIO_H

#include "base/unit.h"
#include "coupling/channels.h"
#include "model/registry.h"
#include "yoke/plugin.h"
#include "yoke/system.h"

enum {
    YK_SUBSYSTEMS_MAX = 10000,
    YK_INTERFACES_MAX = 100000,
    YK_WIRES_MAX = 100000,
    YK_PARAMETERS_MAX = 1000,
    YK_CHANNELS_MAX = 100000,
    YK_EVENTS_MAX = 1000,
    YK_PLUGINS_MAX = 100
};

/* Joints by their words, in the order of the schema, with their constrained axes. */
extern const unsigned yk_joint_axes[];

/* Words for units of length and mass, and their values in SI (m, kg) in the same order. */
extern const yk_option_choice yk_length_words[], yk_mass_words[];
extern const double yk_length_units[], yk_mass_units[];

/* Name of an SI unit in the units of a subsystem: "mm" for "m". */
yk_unit_name yk_scenario_own_unit(const yk_scenario *scenario, int subsystem, const char *unit,
                                  yk_unit_style style);

/* An expression used by the subsystems. */
typedef struct yk_scenario_function {
    yk_expression *expression;
    const yk_node *node; /* its text */
    bool of_time;        /* it depends on time and no other variable */
    struct yk_scenario_function *next;
} yk_scenario_function;

/* Solvers and schemes that a scenario may name in addition to those of the library: those of the
 * program that loads it, and those of its plug-ins (yoke/plugin.h). */
typedef struct yk_extensions {
    const yk_solver_ops **solvers;
    int solver_count;
    const yk_scheme_ops **schemes;
    int scheme_count;
} yk_extensions;

/* An open library. */
typedef struct yk_plugin_handle {
    void *library;
    yk_plugin_info info;
    struct yk_plugin_handle *next;
} yk_plugin_handle;

/* A file that the scenario reads. */
typedef struct yk_scenario_input {
    const char *path;  /* as written in the scenario */
    const char *whole; /* relative to the present folder */
    bool code;         /* a plug-in, an FMU or a library, whose code is run */
    const struct yk_scenario_input *next;
} yk_scenario_input;

struct yk_builder {
    yk_store *store;
    yk_diagnostics *diagnostics;
    const yk_scope *scope;
    const char *folder; /* of the scenario, with its last '/'; "" for the present one */
    bool to_rounding;   /* see yk_scenario_def */
    bool forbid_code;   /* see yk_scenario_def */
    bool unsettled;     /* see yk_scenario_def */
    void (*see_settling)(void *user, const struct yk_settling *settling); /* see yk_scenario_def */
    void *see_user;
    const yk_subsystem_placement *hosts; /* see yk_scenario_def; NULL after loading */
    /* steps are repeated and compared: solvers must iterate to smaller residuals */
    bool repeats;
    bool impacts, partners; /* see yk_scenario_info */
    yk_cache *cache;
    yk_scenario_function *functions;
    const yk_scenario_input *files; /* files from which subsystems were built */
};

/* Whether a channel describes the quality of the coupling, not the behavior of the model. */
static inline bool yk_channel_tells_of_coupling(const yk_channel_row *row)
{
    return row->kind == YK_CHANNEL_GAP || row->kind == YK_CHANNEL_CREATED ||
           row->kind == YK_CHANNEL_ITERATIONS;
}

struct yk_scenario {
    yk_context *context;
    yk_store store;
    yk_source source;
    yk_node *root;
    yk_resolver resolver;
    yk_builder builder;
    yk_scenario_info info;
    yk_extensions extensions;  /* solvers and schemes in addition to the library's */
    yk_plugin_handle *plugins; /* the last loaded plug-in first */
    char *options;             /* of its scheme */
    char *fall_back_options;   /* of the fallback scheme */
    yk_subsystem **subsystems; /* NULL if a section had errors */
    /* For schemes that distribute the parts of merged subsystems over processes: on rank 0,
     * stand-ins of the copies of the whole on which other ranks relax a part; on the other ranks,
     * the copy of this rank. NULL: none. */
    yk_subsystem **copies;
    yk_subsystem **served; /* on other ranks: subsystems of this rank, which serve rank 0 */
    int *ranks;            /* rank of each subsystem; NULL: all are in this process */
    const char **names, **solvers;
    yk_transform *transforms;
    int *substeps;
    bool placed; /* some transforms or substeps differ from the defaults */
    yk_interface_def *interfaces;
    yk_wire_def *wires;
    yk_channel *channels;
    yk_channel_row *rows;
    double *channel; /* buffer for the largest channel of a subsystem */
    yk_system *system;
};

/* Loading -------------------------------------------------------------------------------------- */

/* Adds the solvers and schemes of the def and of the plug-ins that the file names; closes the
 * plug-ins after their last use. (plugins.c) */
yk_status yk_scenario_extend(yk_scenario *scenario, const yk_scenario_def *def);
void yk_scenario_close_plugins(yk_scenario *scenario);
/* Creates a subsystem by an external solver, from its resolved section. (plugins.c) */
yk_status yk_solver_build(yk_builder *builder, const yk_solver_ops *ops, const yk_node *section,
                          yk_subsystem **subsystem);

/* Reads the text of the def, or its file, and applies the overrides to its tree. Requires `store`
 * and the resolver's diagnostics only. */
yk_status yk_scenario_read_tree(yk_scenario *scenario, const yk_scenario_def *def);

/* The steps of yk_scenario_load() after the tree is resolved. They report to the resolver's
 * diagnostics and set its status if memory is missing. */
void yk_scenario_read_coupling(yk_scenario *scenario);
void yk_scenario_build_subsystems(yk_scenario *scenario);
void yk_scenario_read_subsystem_lists(yk_scenario *scenario); /* of the scheme's options */
void yk_scenario_read_interfaces(yk_scenario *scenario);
/* For merged subsystems that are distributed over ranks. */
void yk_scenario_make_copies(yk_scenario *scenario);
void yk_scenario_read_wires(yk_scenario *scenario);
void yk_scenario_read_channels(yk_scenario *scenario);

/* Names ---------------------------------------------------------------------------------------- */

/* Index of the name, or -1. */
int yk_find_name(const char *const *names, int count, const char *name);

/* Resolves the name of a quantity to its place; false after a message at the node. (channels.c) */
bool yk_scenario_find_channel(yk_scenario *scenario, const char *name, const yk_node *node,
                              yk_channel_row *row);

/* Schemes and option rows ---------------------------------------------------------------------- */

/* The schemes that a scenario may name, first those of the library. NULL after the last, or if
 * there is none of that name. (coupling.c) */
const yk_scheme_ops *yk_schemes_at(const yk_extensions *extensions, int number);
const yk_scheme_ops *yk_schemes_find(const yk_extensions *extensions, const char *name);

/* The section `coupling` with the keys of all schemes, each as in the chosen scheme, or as in the
 * first scheme that has it. Without a chosen scheme, for the documentation: the meaning of each key
 * in every scheme. `on_failure` is handled likewise for the fallback scheme (NULL: none). Lives in
 * the store; NULL: memory is missing. (coupling.c) */
const yk_option_section *yk_coupling_section(yk_store *store, const yk_extensions *extensions,
                                             const yk_scheme_ops *chosen,
                                             const yk_scheme_ops *fall_back);
/* The schema of the file, with that section and the external solvers. (scenario_schema.c) */
const yk_option_section *yk_scenario_section(yk_store *store, const yk_extensions *extensions,
                                             const yk_scheme_ops *chosen,
                                             const yk_scheme_ops *fall_back);

/* Of runs -------------------------------------------------------------------------------------- */

/* The inputs of a run in addition to the text of its scenario: the version of the program, and the
 * files that the scenario names, with a hash of their bytes. As comments, to precede that text in a
 * record:
 *
 *   # version 0.1.0
 *   # scenario models/modal-cantilever/scenario.yaml
 *   # 8b1f0c63a2d94e57 models/modal-cantilever/frequencies.csv
 *
 * Release with yk_free(); NULL: memory is missing. */
char *yk_scenario_inputs(const yk_scenario *scenario);

/* Expressions of time without a value, such as sqrt(1 - t) after t = 1 s. They cause an
 * instability, a singular matrix or unsolvable pressures in the solvers. Returns whether one of the
 * scenario's expressions of time alone is not finite within the step from t to t + h; if so, the
 * text names the expression, its location and the time. */
bool yk_scenario_find_undefined(const yk_scenario *scenario, double t, double h, char *what,
                                size_t capacity);

#endif
