/* The list of subsystem kinds: the words after `solver:`, the schemas of their sections, and their
 * construction; and functions shared by kinds of mechanical models. */
#ifndef YK_MODEL_REGISTRY_H
#define YK_MODEL_REGISTRY_H

#include "model/schema.h"
#include "yoke/mechanics.h"
#include "yoke/scenario.h"

/* Building ------------------------------------------------------------------------------------- */

/* Data for building a subsystem from its section. */
typedef struct yk_builder yk_builder;

yk_context *yk_builder_context(const yk_builder *builder);
/* The unit of length of a subsystem's section (m). */
double yk_builder_length_unit(const yk_node *section);
/* Memory that lives as long as the scenario; NULL: memory is missing. */
void *yk_builder_take(yk_builder *builder, size_t bytes);
/* Reports an error found while building, at its node. Returns YK_ERROR_INPUT, which the caller
 * returns after all errors are reported. */
yk_status yk_builder_error(yk_builder *builder, const yk_node *node, const char *format, ...)
    YK_PRINTF(3, 4);
/* The subsystem has impacts: see yk_scenario_info. */
void yk_builder_note_impacts(yk_builder *builder);
/* The subsystem runs in another program: see yk_scenario_info. */
void yk_builder_note_partner(yk_builder *builder);

/* An entry of type YK_OPTION_FUNCTION as a function of time; zero where it is absent. It lives as
 * long as the scenario. */
yk_status yk_builder_function(yk_builder *builder, const yk_node *section, const char *key,
                              yk_time_function *function);
/* The same for a node, such as an item of YK_OPTION_FUNCTIONS. */
yk_status yk_builder_function_of(yk_builder *builder, const yk_node *node,
                                 yk_time_function *function);
/* An expression of the named variables and the parameters, from a node's text; errors are reported
 * at the node. It lives as long as the scenario. */
yk_status yk_builder_expression(yk_builder *builder, const yk_node *node,
                                const char *const *variables, int count,
                                yk_expression **expression);

/* A file named in the scenario, relative to the scenario's folder; NULL: memory is missing. */
const char *yk_builder_path(yk_builder *builder, const yk_node *section, const char *key);
const char *yk_builder_file(yk_builder *builder, const char *path);
/* The same for an output file, and for a file whose code is run; an error at the node if that is
 * forbidden. */
const char *yk_builder_output(yk_builder *builder, const char *path);
yk_status yk_builder_code(yk_builder *builder, const yk_node *node, const char **path);
/* The same for a library; a name without a slash is left to the system's loader. */
yk_status yk_builder_library(yk_builder *builder, const yk_node *node, const char **path);
/* Whether particles stay on their lattice instead of settling. */
bool yk_builder_leaves_unsettled(const yk_builder *builder);
/* Shows settling particles to the caller of the load. */
void yk_builder_show_settling(const yk_builder *builder, const struct yk_settling *settling);

/* Names used in references, each with the index of the named object. Sorted, because models have
 * thousands of references. */
typedef struct yk_names {
    int count;
    struct {
        const char *name;
        int index;
    } entries[];
} yk_names;

/* The names of the items of a collection (NULL: none), in their order; NULL: memory is missing. */
const yk_names *yk_builder_names(yk_builder *builder, const yk_node *collection);
/* Sorts names that the caller has collected. */
void yk_names_sort(yk_names *names);
/* Index of the object named by the node's text; -1 after a message that there is no such `what`
 * ("body"). `also`: another valid word ("ground"), for the message; may be NULL. */
int yk_builder_find(yk_builder *builder, const yk_names *names, const yk_node *reference,
                    const char *what, const char *also);

/* Results of earlier loads that were expensive to compute, each with a key text that contains
 * everything it depends on. May be NULL. (cache.c) */
yk_cache *yk_builder_cache(const yk_builder *builder);
/* Copies the entry with this key; false: there is none of this size, or no cache. */
bool yk_cache_recall(yk_cache *cache, const char *key, void *data, size_t size);
/* Stores a copy. The first entry with a key is kept. Beyond 256 MiB nothing more is stored, and
 * later loads compute the data again. */
void yk_cache_keep(yk_cache *cache, const char *key, const void *data, size_t size);

/* Writes the values of a resolved section to the members that its rows name. Lists of names are left to the reader of the
 * section, who knows what they refer to. (option_read.c) */
yk_status yk_option_read_all(yk_builder *builder, const yk_option *rows, const yk_node *section,
                             void *def);

/* Mechanisms ----------------------------------------------------------------------------------- */

/* Mechanisms in scenarios, independent of the solver: markers, joints, forces and ports, with one
 * schema and one reader. A kind of mechanical model defines the bodies and accepts the parts.
 * (mechanism.c) */

/* Items of `joints`, `forces`, `couplings` and `ports`. */
extern const yk_option yk_joint_item;
extern const yk_option yk_force_item;
extern const yk_option yk_coupling_item;
extern const yk_option yk_port_item;

/* To be included: `body`, `offset` and `orientation` of one marker. */
extern const yk_option_section yk_marker_keys;

/* Variants of shapes, particles and sinks of the nonsmooth solver. The name of a variant is that of
 * its kind of solid (yk_solid_kind_named), except for clumps of particles. */
extern const yk_option_section *const yk_shape_variants[];
extern const yk_option_section *const yk_particle_variants[];
extern const yk_option_section *const yk_sink_variants[];
/* Variants of drawn shapes of the multibody solver, and their kinds in the same order. */
extern const yk_option_section *const yk_drawing_variants[];
extern const yk_shape_kind yk_drawing_kinds[];

/* Access of the reader to a model under construction. */
typedef struct yk_mechanism_ops {
    /* The body with the name in a reference; YK_NULL_BODY after a message. */
    yk_body_id (*find)(void *model, const yk_node *reference);
    /* Initial frame of a body: position and orientation. */
    yk_motion (*pose)(const void *model, yk_body_id body);
    /* Like the functions of yoke/multibody.h and yoke/nonsmooth.h. */
    yk_joint_id (*add_joint)(void *model, const yk_joint_def *def);
    yk_force_id (*add_force)(void *model, const yk_force_def *def);
    yk_port_id (*add_port)(void *model, const yk_port_def *def);
    bool feedback; /* loads may depend on channels of the model */
} yk_mechanism_ops;

/* Adds the items of `joints`, `forces` and `ports` of a section, and a signal port for each input
 * of a force. Reports all errors; returns the status of the first. */
yk_status yk_read_mechanism(yk_builder *builder, const yk_node *section,
                            const yk_mechanism_ops *ops, void *model);

/* A frame with z along the axis, whose length must not be zero. */
yk_status yk_read_axis(yk_builder *builder, const yk_node *axis, yk_quat *frame);
/* The marker of an item that includes yk_marker_keys. */
yk_marker yk_read_marker(const yk_node *item);
/* Six diagonal values, or 36 by rows. */
yk_status yk_read_six_by_six(yk_builder *builder, const yk_node *item, const char *key,
                             double matrix[6][6]);
/* The `inertia` of a rigid body; an error at its location if no mass distribution has it. */
yk_status yk_read_inertia(yk_builder *builder, const yk_node *inertia, yk_mat3 *tensor);

/* Kinds ---------------------------------------------------------------------------------------- */

/* A kind of subsystem. */
typedef struct yk_solver_kind {
    const yk_option_section *section; /* Its name is the word after `solver:`. */
    /* Creates the subsystem from a resolved section. The user sees the message of an error. */
    yk_status (*build)(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem);
} yk_solver_kind;

/* The kinds of this module. */
extern const yk_solver_kind yk_blocks_kind, yk_control_kind, yk_hydraulic_kind, yk_multibody_kind,
    yk_nonsmooth_kind, yk_oscillator_kind, yk_remote_kind;

/* Their schemas; solver_multibody.c and solver_nonsmooth.c contain the schemas only. */
extern const yk_option_section yk_multibody_section, yk_nonsmooth_section;

/* All kinds of this build, in the order of the reference. Defined in src/interop/registry.c, which
 * adds the kinds of other programs, so that this module does not depend on them. */
extern const yk_solver_kind *const yk_solver_kinds[];
extern const int yk_solver_kind_count;

#endif
