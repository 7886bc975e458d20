/* Wrong uses of the public functions, one row of the table for each. Every row must return its
 * documented status with a message that names the argument, and must neither crash nor leak. Each
 * use runs in a child process, so that one that crashes does not hide the others. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "yoke/analysis.h"
#include "yoke/control.h"
#include "yoke/hydraulic.h"
#include "yoke/mbdyn.h"
#include "yoke/multibody.h"
#include "yoke/nonsmooth.h"
#include "yoke/oscillator.h"
#include "yoke/record.h"
#include "yoke/remote.h"
#include "yoke/scenario.h"
#include "yoke/system.h"

typedef struct misuse {
    const char *name;
    yk_status (*use)(yk_context *context);
    yk_status expected;
    const char *named; /* must be part of the message; NULL: there is no context to hold one */
} misuse;

/* Parts ---------------------------------------------------------------------------------------- */

static yk_subsystem *oscillator(yk_context *context)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.stiffness = 100;
    def.position = 0.1;
    yk_subsystem *made = NULL;
    yk_oscillator_create(context, &def, &made);
    return made;
}

static yk_system_builder *begin(yk_context *context)
{
    yk_system_def def = yk_system_default();
    def.macro_step = 1e-3;
    return yk_system_begin(context, &def);
}

/* Two oscillators clamped to each other, not started. */
static yk_system *pair(yk_context *context)
{
    yk_system_builder *builder = begin(context);
    yk_system_add_owned_subsystem(builder, "left", oscillator(context));
    yk_system_add_owned_subsystem(builder, "right", oscillator(context));
    yk_system_connect_ports(builder, "clamp", (yk_subsystem_id){0}, (yk_port_id){0},
                            (yk_subsystem_id){1}, (yk_port_id){0});
    yk_system *system = NULL;
    yk_system_create(builder, &system);
    return system;
}

static yk_system *started(yk_context *context)
{
    yk_system *system = pair(context);
    yk_system_initialize(system);
    return system;
}

/* The status that `create` ends a builder with; what is made by mistake is destroyed. */
static yk_status create_system(yk_system_builder *builder)
{
    yk_system *system = NULL;
    yk_status status = yk_system_create(builder, &system);
    yk_system_destroy(system);
    return status;
}

static void drop(yk_subsystem *subsystem)
{
    if (subsystem)
        subsystem->ops->destroy(subsystem);
}

static yk_status create_smooth(yk_multibody_builder *builder)
{
    yk_subsystem *made = NULL;
    yk_status status = yk_multibody_create(builder, &made);
    drop(made);
    return status;
}

static yk_status create_nonsmooth(yk_nonsmooth_builder *builder)
{
    yk_subsystem *made = NULL;
    yk_status status = yk_nonsmooth_create(builder, &made);
    drop(made);
    return status;
}

static yk_multibody_builder *rod(yk_context *context, int *body)
{
    yk_multibody_builder *model = yk_multibody_begin(context, NULL);
    yk_multibody_body_def def =
        yk_multibody_body_named("rod", 2, yk_inertia_box(2, 1, 0.04, 0.04), (yk_vec3){0.5, 0, 0});
    *body = yk_multibody_add_body(model, &def).index;
    return model;
}

static yk_nonsmooth_builder *box(yk_context *context, int *body)
{
    yk_nonsmooth_builder *model = yk_nonsmooth_begin(context, NULL);
    yk_nonsmooth_body_def def =
        yk_nonsmooth_body_named("box", 2, yk_inertia_box(2, 1, 1, 1), (yk_vec3){0, 0, 1});
    *body = yk_nonsmooth_add_body(model, &def).index;
    return model;
}

static double one(void *user, double t)
{
    (void)user;
    (void)t;
    return 1;
}

/* Asks a system one question and destroys it: the last status is the answer. */
#define ASK(name, maker, ...)                       \
    static yk_status name(yk_context *context)      \
    {                                               \
        yk_system *system = maker(context);         \
        __VA_ARGS__;                                \
        yk_status status = yk_last_status(context); \
        yk_system_destroy(system);                  \
        return status;                              \
    }

/* Ends with the status of the last expression. */
#define RETURN(name, maker, expression)        \
    static yk_status name(yk_context *context) \
    {                                          \
        yk_system *system = maker(context);    \
        yk_status status = (expression);       \
        yk_system_destroy(system);             \
        return status;                         \
    }

/* Systems: order of calls ---------------------------------------------------------------------- */

RETURN(step_before_start, pair, yk_system_step(system, NULL))
RETURN(hash_before_start, pair, yk_system_state_hash(system, &(uint64_t){0}))
RETURN(probe_before_start, pair,
       yk_system_probe_interfaces(system, 1e-3, (yk_interface_masses[1]){{0}}))
ASK(state_get_before_start, pair, yk_system_get_state(system, (double[64]){0}))
RETURN(state_set_before_start, pair, yk_system_set_state(system, (double[64]){0}))
ASK(output_before_start, pair,
    assert_true(isnan(
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x)))
ASK(energy_before_start, pair, yk_energy e;
    assert_false(yk_system_energy(system, (yk_subsystem_id){0}, &e)))
ASK(balance_before_start, pair,
    assert_false(yk_system_energy_balance(system, (yk_subsystem_id){0}).known))
ASK(gap_before_start, pair,
    assert_true(isnan(yk_system_interface_gap(system, (yk_interface_id){0}).position)))
ASK(memory_before_start, pair, yk_system_get_checkpoint_data(system, (double[4096]){0}))
RETURN(fall_back_without_scheme, started, yk_system_switch_to_fallback(system, "test"))
RETURN(fall_back_without_reason, started, yk_system_switch_to_fallback(system, NULL))

static yk_status null_system(yk_context *context)
{
    (void)context;
    yk_energy energy;
    yk_transform transform;
    int part;
    bool refused =
        yk_system_initialize(NULL) == YK_ERROR_ARGUMENT &&
        yk_system_run(NULL, 1) == YK_ERROR_ARGUMENT &&
        yk_system_set_state(NULL, NULL) == YK_ERROR_ARGUMENT &&
        yk_system_state_hash(NULL, &(uint64_t){0}) == YK_ERROR_ARGUMENT &&
        yk_system_state_layout(NULL).word_count == 0 && yk_system_step_count(NULL) == 0 &&
        !yk_port_is_valid(yk_system_find_port(NULL, (yk_subsystem_id){0}, "mass")) &&
        isnan(yk_system_time(NULL)) && isnan(yk_system_wire_value(NULL, (yk_wire_id){0})) &&
        !yk_system_energy(NULL, (yk_subsystem_id){0}, &energy) &&
        !yk_system_energy_balance(NULL, (yk_subsystem_id){0}).known &&
        !yk_system_visible_subsystem(NULL, (yk_subsystem_id){0}, &part, &transform);
    yk_system_destroy(NULL);
    return refused ? yk_system_step(NULL, NULL) : YK_OK;
}

/* Systems: ids --------------------------------------------------------------------------------- */

ASK(output_of_no_subsystem, started,
    yk_system_port_value(system, (yk_subsystem_id){7}, (yk_port_id){0}))
ASK(output_of_subsystem_below_zero, started,
    yk_system_port_value(system, YK_NULL_SUBSYSTEM, (yk_port_id){0}))
ASK(output_of_no_port, started,
    yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){12}))
ASK(output_of_no_id, started, yk_system_port_value(system, (yk_subsystem_id){0}, YK_NULL_PORT))
ASK(channel_of_no_subsystem, started,
    yk_system_read_channel(system, (yk_subsystem_id){2}, 0, (double[9]){0}))
ASK(channel_of_no_channel, started,
    yk_system_read_channel(system, (yk_subsystem_id){0}, 99, (double[9]){0}))
ASK(no_wire, started, assert_true(isnan(yk_system_wire_value(system, (yk_wire_id){0}))))
ASK(energy_of_no_subsystem, started, yk_energy e;
    yk_system_energy(system, (yk_subsystem_id){5}, &e))
ASK(balance_of_no_subsystem, started, yk_system_energy_balance(system, (yk_subsystem_id){5}))
ASK(statistics_of_no_subsystem, started,
    yk_system_subsystem_statistics(system, (yk_subsystem_id){5}))
ASK(statistics_of_no_interface, started,
    yk_system_interface_statistics(system, (yk_interface_id){1}))
ASK(gap_of_no_interface, started, yk_system_interface_gap(system, YK_NULL_INTERFACE))
ASK(prescribes_at_no_interface, started,
    yk_system_is_motion_prescribed(system, (yk_interface_id){3}))
ASK(port_of_no_subsystem, started, yk_system_find_port(system, (yk_subsystem_id){9}, "mass"))
ASK(port_without_name, started, yk_system_find_port(system, (yk_subsystem_id){0}, NULL))
ASK(shown_of_no_subsystem, started, int part; yk_transform t;
    assert_null(yk_system_visible_subsystem(system, (yk_subsystem_id){4}, &part, &t)))
RETURN(probe_without_step, started,
       yk_system_probe_interfaces(system, -1, (yk_interface_masses[1]){{0}}))
RETURN(run_to_nowhere, started, yk_system_run(system, NAN))

/* Systems: states ------------------------------------------------------------------------------ */

RETURN(state_of_zeros, started, yk_system_set_state(system, (double[256]){0}))
RETURN(state_from_nowhere, started, yk_system_set_state(system, NULL))
ASK(state_to_nowhere, started, yk_system_get_state(system, NULL))

static yk_status state_that_is_not_finite(yk_context *context)
{
    yk_system *system = started(context);
    size_t words = yk_system_state_layout(system).word_count;
    double *image = calloc(words, sizeof *image);
    yk_system_get_state(system, image);
    image[0] = NAN;
    yk_status status = yk_system_set_state(system, image);
    free(image);
    yk_system_destroy(system);
    return status;
}

static yk_status state_of_another_system(yk_context *context)
{
    /* The image has the same number of words, but another subsystem name. */
    yk_system *system = started(context);
    yk_system_builder *builder = begin(context);
    yk_system_add_owned_subsystem(builder, "left", oscillator(context));
    yk_system_add_owned_subsystem(builder, "other", oscillator(context));
    yk_system_connect_ports(builder, "clamp", (yk_subsystem_id){0}, (yk_port_id){0},
                            (yk_subsystem_id){1}, (yk_port_id){0});
    yk_system *other = NULL;
    yk_system_create(builder, &other);
    yk_system_initialize(other);
    size_t words = yk_system_state_layout(other).word_count;
    double *image = calloc(words, sizeof *image);
    yk_system_get_state(other, image);
    yk_status status = yk_system_set_state(system, image);
    free(image);
    yk_system_destroy(other);
    yk_system_destroy(system);
    return status;
}

/* A state of zeros has no orientations: neither mechanism may take it. */
static yk_status zeros_to(yk_subsystem *made)
{
    made->ops->initialize(made, 0, 1e-3, NULL);
    size_t words = made->ops->rollback->layout(made).word_count;
    double *image = calloc(words, sizeof *image);
    yk_status status = made->ops->rollback->set(made, image);
    free(image);
    drop(made);
    return status;
}

static yk_status smooth_state_of_zeros(yk_context *context)
{
    int body;
    return zeros_to(yk_multibody_create_or_null(rod(context, &body)));
}

static yk_status nonsmooth_state_of_zeros(yk_context *context)
{
    int body;
    return zeros_to(yk_nonsmooth_create_or_null(box(context, &body)));
}

/* Systems: building ---------------------------------------------------------------------------- */

static yk_status adopted_twice(yk_context *context)
{
    yk_system_builder *builder = begin(context);
    yk_subsystem *same = oscillator(context);
    yk_system_add_owned_subsystem(builder, "left", same);
    yk_system_add_owned_subsystem(builder, "right", same);
    return create_system(builder);
}

static yk_status added_twice(yk_context *context)
{
    yk_system_builder *builder = begin(context);
    yk_subsystem *same = oscillator(context);
    yk_subsystem_def first = yk_subsystem_named("left", same);
    yk_subsystem_def second = yk_subsystem_named("right", same);
    yk_system_add_subsystem(builder, &first);
    yk_system_add_subsystem(builder, &second);
    yk_status status = create_system(builder);
    drop(same);
    return status;
}

static yk_status adopted_nothing(yk_context *context)
{
    yk_system_builder *builder = begin(context);
    yk_system_add_owned_subsystem(builder, "left", NULL);
    return create_system(builder);
}

static yk_status subsystem_without_name(yk_context *context)
{
    yk_system_builder *builder = begin(context);
    yk_system_add_owned_subsystem(builder, NULL, oscillator(context));
    return create_system(builder);
}

static yk_status subsystem_without_table(yk_context *context)
{
    yk_system_builder *builder = begin(context);
    yk_subsystem empty = {NULL};
    yk_subsystem_def def = yk_subsystem_named("empty", &empty);
    yk_system_add_subsystem(builder, &def);
    return create_system(builder);
}

#define BUILD(name, ...)                                                      \
    static yk_status name(yk_context *context)                                \
    {                                                                         \
        yk_system_builder *builder = begin(context);                          \
        yk_system_add_owned_subsystem(builder, "left", oscillator(context));  \
        yk_system_add_owned_subsystem(builder, "right", oscillator(context)); \
        __VA_ARGS__;                                                          \
        return create_system(builder);                                        \
    }

BUILD(subsystem_without_def, yk_system_add_subsystem(builder, NULL))
BUILD(interface_without_def, yk_system_add_interface(builder, NULL))
BUILD(wire_without_def, yk_system_add_wire(builder, NULL))
BUILD(interface_to_no_subsystem,
      yk_system_connect_ports(builder, "clamp", (yk_subsystem_id){0}, (yk_port_id){0},
                              (yk_subsystem_id){5}, (yk_port_id){0}))
BUILD(interface_to_no_port,
      yk_system_connect_ports(builder, "clamp", (yk_subsystem_id){0}, (yk_port_id){3},
                              (yk_subsystem_id){1}, (yk_port_id){0}))
BUILD(interface_with_itself,
      yk_system_connect_ports(builder, "clamp", (yk_subsystem_id){0}, (yk_port_id){0},
                              (yk_subsystem_id){0}, (yk_port_id){0}))
BUILD(wire_to_no_port, yk_wire_def wire = yk_wire_default(); wire.name = "wire";
      wire.target_port = (yk_port_id){9}; yk_system_add_wire(builder, &wire))
BUILD(wire_of_no_component, yk_wire_def wire = yk_wire_default(); wire.name = "wire";
      wire.component_index = 999; yk_system_add_wire(builder, &wire))
BUILD(wire_that_is_not_finite, yk_wire_def wire = yk_wire_default(); wire.name = "wire";
      wire.gain = NAN; yk_system_add_wire(builder, &wire))
BUILD(drive_without_function,
      yk_interface_def def = yk_interface_between("clamp", (yk_subsystem_id){0}, (yk_port_id){0},
                                                  (yk_subsystem_id){1}, (yk_port_id){0});
      def.constrained_axes = 1u << 20; yk_system_add_interface(builder, &def))

static yk_status system_to_nowhere(yk_context *context)
{
    yk_system_builder *builder = begin(context);
    yk_system_add_owned_subsystem(builder, "left", oscillator(context));
    return yk_system_create(builder, NULL);
}

static yk_status system_without_step(yk_context *context)
{
    yk_system_builder *builder = yk_system_begin(context, NULL);
    yk_system_add_owned_subsystem(builder, "left", oscillator(context));
    return create_system(builder);
}

static yk_status no_subsystems(yk_context *context)
{
    return create_system(begin(context));
}

static yk_status no_builder(yk_context *context)
{
    /* `create` reports that there was no memory for a builder. */
    yk_system_builder *builder = yk_system_begin(NULL, NULL);
    yk_system_add_owned_subsystem(builder, "left", oscillator(context));
    return create_system(builder);
}

static yk_status option_of_no_word(yk_context *context)
{
    yk_explicit_options options = yk_explicit_options_default();
    options.sequence = (yk_sequence)7;
    yk_system_def def = yk_system_default();
    def.macro_step = 1e-3;
    def.scheme = (yk_scheme_def){yk_scheme_explicit(), &options};
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_system_add_owned_subsystem(builder, "left", oscillator(context));
    return create_system(builder);
}

static yk_status option_out_of_range(yk_context *context)
{
    yk_tight_options options = yk_tight_options_default();
    options.tolerance = -1;
    yk_system_def def = yk_system_default();
    def.macro_step = 1e-3;
    def.scheme = (yk_scheme_def){yk_scheme_tight(), &options};
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_system_add_owned_subsystem(builder, "left", oscillator(context));
    return create_system(builder);
}

static yk_status option_that_is_not_there(yk_context *context)
{
    yk_tight_options options = yk_tight_options_default();
    return yk_scheme_set_option(context, yk_scheme_tight(), &options, "colour", "blue");
}

static yk_status scheme_without_operations(yk_context *context)
{
    static const yk_scheme_ops empty = {.size = sizeof empty, .name = "empty"};
    yk_system_def def = yk_system_default();
    def.macro_step = 1e-3;
    def.scheme.ops = &empty;
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_system_add_owned_subsystem(builder, "left", oscillator(context));
    return create_system(builder);
}

/* Smooth --------------------------------------------------------------------------------------- */

#define SMOOTH(name, ...)                                  \
    static yk_status name(yk_context *context)             \
    {                                                      \
        int body;                                          \
        yk_multibody_builder *model = rod(context, &body); \
        __VA_ARGS__;                                       \
        return create_smooth(model);                       \
    }

SMOOTH(smooth_body_without_def, yk_multibody_add_body(model, NULL))
SMOOTH(smooth_joint_without_def, yk_multibody_add_joint(model, NULL))
SMOOTH(smooth_force_without_def, yk_multibody_add_force(model, NULL))
SMOOTH(smooth_joint_of_no_kind,
       yk_joint_def joint = yk_joint_named("pin", (yk_joint_kind)99, YK_GROUND, (yk_body_id){body});
       yk_multibody_add_joint(model, &joint))
SMOOTH(smooth_joint_to_no_body,
       yk_joint_def joint = yk_joint_named("pin", YK_JOINT_FIXED, (yk_body_id){12},
                                           (yk_body_id){body});
       yk_multibody_add_joint(model, &joint))
SMOOTH(smooth_drive_without_function,
       yk_joint_def joint = yk_joint_named("motor", YK_JOINT_DRIVEN_ROTATION, YK_GROUND,
                                           (yk_body_id){body});
       yk_multibody_add_joint(model, &joint))
SMOOTH(smooth_force_on_ground, yk_force_def force = yk_force_default(); force.name = "push";
       force.vector.x = 1; yk_multibody_add_force(model, &force))
SMOOTH(smooth_force_without_second_body, yk_force_def force = yk_force_default();
       force.name = "push"; force.bodies[0] = (yk_body_id){body};
       yk_multibody_add_force(model, &force))
SMOOTH(smooth_load_and_input, yk_port_def port = yk_port_signal("command");
       yk_force_def force = yk_force_default(); force.name = "push";
       force.bodies[1] = (yk_body_id){body};
       force.signal_port = yk_multibody_add_port(model, &port); force.load.evaluate = one;
       yk_multibody_add_force(model, &force))
SMOOTH(smooth_force_of_no_kind, yk_force_def force = yk_force_default(); force.name = "push";
       force.kind = (yk_force_kind)42; force.bodies[1] = (yk_body_id){body};
       yk_multibody_add_force(model, &force))
SMOOTH(smooth_force_with_no_input, yk_force_def force = yk_force_default(); force.name = "push";
       force.bodies[1] = (yk_body_id){body}; force.signal_port = (yk_port_id){77};
       yk_multibody_add_force(model, &force))
SMOOTH(smooth_input_below_none, yk_force_def force = yk_force_default(); force.name = "push";
       force.bodies[1] = (yk_body_id){body}; force.signal_port = (yk_port_id){-5};
       yk_multibody_add_force(model, &force))
SMOOTH(smooth_port_of_no_kind,
       yk_port_def port = yk_port_marker("tip", (yk_body_id){body}, yk_marker_default());
       port.kind = (yk_port_kind)9; yk_multibody_add_port(model, &port))
SMOOTH(smooth_port_without_name,
       yk_multibody_add_marker_port(model, NULL, (yk_body_id){body}, yk_marker_default()))
SMOOTH(smooth_beam_without_nodes, yk_multibody_beam_def beam = yk_multibody_beam_default();
       beam.name = "boom"; beam.nodes[1] = (yk_body_id){50}; yk_multibody_add_beam(model, &beam))
SMOOTH(smooth_beam_axes_without_def,
       yk_multibody_orient_beam_sections(model, NULL, (yk_vec3){0, 0, 1}))
SMOOTH(smooth_negative_mass,
       yk_multibody_body_def def = yk_multibody_body_named("bob", -2, yk_inertia_sphere(1, 1),
                                                           (yk_vec3){0, 0, 0});
       yk_multibody_add_body(model, &def))

static yk_status smooth_option_of_no_kind(yk_context *context)
{
    yk_multibody_def def = yk_multibody_default();
    def.options.integrator = (yk_multibody_integrator)9;
    yk_multibody_builder *model = yk_multibody_begin(context, &def);
    yk_multibody_node_def node = yk_multibody_node_default();
    node.name = "node";
    yk_multibody_add_node(model, &node);
    return create_smooth(model);
}

static yk_status smooth_to_nowhere(yk_context *context)
{
    int body;
    return yk_multibody_create(rod(context, &body), NULL);
}

/* Nonsmooth ------------------------------------------------------------------------------------ */

#define NONSMOOTH(name, ...)                               \
    static yk_status name(yk_context *context)             \
    {                                                      \
        int body;                                          \
        yk_nonsmooth_builder *model = box(context, &body); \
        __VA_ARGS__;                                       \
        return create_nonsmooth(model);                    \
    }

NONSMOOTH(nonsmooth_body_without_def, yk_nonsmooth_add_body(model, NULL))
NONSMOOTH(nonsmooth_shape_without_def, yk_nonsmooth_add_shape(model, NULL))
NONSMOOTH(nonsmooth_joint_of_no_kind,
          yk_joint_def joint = yk_joint_named("pin", (yk_joint_kind)99, YK_GROUND,
                                              (yk_body_id){body});
          yk_nonsmooth_add_joint(model, &joint))
NONSMOOTH(nonsmooth_drive_without_function,
          yk_joint_def joint = yk_joint_named("motor", YK_JOINT_DRIVEN_ROTATION, YK_GROUND,
                                              (yk_body_id){body});
          yk_nonsmooth_add_joint(model, &joint))
NONSMOOTH(nonsmooth_joint_without_axes,
          yk_joint_def joint = yk_joint_named("guide", YK_JOINT_CUSTOM, YK_GROUND,
                                              (yk_body_id){body});
          yk_nonsmooth_add_joint(model, &joint))
NONSMOOTH(nonsmooth_joint_without_length,
          yk_joint_def joint = yk_joint_named("link", YK_JOINT_DISTANCE, YK_GROUND,
                                              (yk_body_id){body});
          yk_nonsmooth_add_joint(model, &joint))
NONSMOOTH(nonsmooth_force_on_ground, yk_force_def force = yk_force_default(); force.name = "push";
          force.vector.x = 1; yk_nonsmooth_add_force(model, &force))
NONSMOOTH(nonsmooth_force_without_second_body, yk_force_def force = yk_force_default();
          force.name = "push"; force.bodies[0] = (yk_body_id){body};
          yk_nonsmooth_add_force(model, &force))
NONSMOOTH(nonsmooth_load_and_input, yk_port_def port = yk_port_signal("command");
          yk_force_def force = yk_force_default(); force.name = "push";
          force.bodies[1] = (yk_body_id){body};
          force.signal_port = yk_nonsmooth_add_port(model, &port); force.load.evaluate = one;
          yk_nonsmooth_add_force(model, &force))
NONSMOOTH(nonsmooth_force_of_no_kind, yk_force_def force = yk_force_default(); force.name = "push";
          force.kind = (yk_force_kind)42; force.bodies[1] = (yk_body_id){body};
          yk_nonsmooth_add_force(model, &force))
NONSMOOTH(nonsmooth_shape_of_no_kind, yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
          shape.kind = (yk_solid_kind)99; shape.body = (yk_body_id){body};
          yk_nonsmooth_add_shape(model, &shape))
NONSMOOTH(nonsmooth_mesh_of_no_points, yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
          shape.kind = YK_SOLID_MESH; shape.triangle_count = 4;
          yk_nonsmooth_add_shape(model, &shape))
NONSMOOTH(nonsmooth_port_to_no_body,
          yk_nonsmooth_add_marker_port(model, "tip", (yk_body_id){44}, yk_marker_default()))
NONSMOOTH(nonsmooth_motion_without_function,
          yk_nonsmooth_prescribe_motion(model, (yk_body_id){body}, NULL, NULL))
NONSMOOTH(nonsmooth_path_to_nowhere, yk_nonsmooth_prescribe_path(model, (yk_body_id){body}, NULL))
NONSMOOTH(nonsmooth_sphere_without_size,
          yk_nonsmooth_add_sphere(model, (yk_vec3){0, 0, 0}, -1, 1000, (yk_material){0}))
NONSMOOTH(nonsmooth_particles_without_count, yk_particles_def p = yk_particles_default();
          p.packing.count = -4; yk_nonsmooth_add_particles(model, &p))
NONSMOOTH(nonsmooth_fill_no_body,
          yk_particles_def p = yk_particles_in_box(4, 0.01, (yk_vec3){1, 1, 1});
          yk_nonsmooth_add_particles_in_body(model, (yk_body_id){31}, &p))
NONSMOOTH(nonsmooth_sink_of_no_kind, yk_sink_def sink = yk_sink_default(); sink.name = "drain";
          sink.kind = YK_SOLID_HULL; yk_nonsmooth_add_sink(model, &sink))
NONSMOOTH(nonsmooth_emitter_without_rate, yk_emitter_def e = yk_emitter_default(); e.name = "spout";
          yk_nonsmooth_add_emitter(model, &e))

static yk_status nonsmooth_method_of_no_kind(yk_context *context)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.contact_options.method = (yk_contact_method)77;
    return create_nonsmooth(yk_nonsmooth_begin(context, &def));
}

/* Physics -------------------------------------------------------------------------------------- */

static yk_status oscillator_without_mass(yk_context *context)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = 0;
    yk_subsystem *made = NULL;
    return yk_oscillator_create(context, &def, &made);
}

static yk_status oscillator_of_no_kind(yk_context *context)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.integrator = (yk_oscillator_integrator)5;
    yk_subsystem *made = NULL;
    yk_status status = yk_oscillator_create(context, &def, &made);
    drop(made);
    return status;
}

static yk_status oscillator_without_def(yk_context *context)
{
    yk_subsystem *made = NULL;
    return yk_oscillator_create(context, NULL, &made);
}

static yk_status oscillator_to_nowhere(yk_context *context)
{
    yk_oscillator_def def = yk_oscillator_default();
    return yk_oscillator_create(context, &def, NULL);
}

static yk_status control(yk_context *context, const yk_control_loop_def *loop)
{
    yk_control_builder *builder = yk_control_begin(context, NULL);
    yk_control_add_loop(builder, loop);
    yk_subsystem *made = NULL;
    yk_status status = yk_control_create(builder, &made);
    drop(made);
    return status;
}

static yk_status control_without_def(yk_context *context)
{
    return control(context, NULL);
}

static yk_status control_of_no_form(yk_context *context)
{
    yk_control_loop_def loop = yk_control_loop_default();
    loop.name = "loop";
    loop.output = (yk_control_output)8;
    return control(context, &loop);
}

static yk_status control_without_range(yk_context *context)
{
    yk_control_loop_def loop = yk_control_loop_default();
    loop.name = "loop";
    loop.min_command = 2;
    loop.max_command = 1;
    return control(context, &loop);
}

static yk_status hydraulic(yk_context *context, const yk_hydraulic_cylinder_def *cylinder)
{
    yk_hydraulic_builder *builder = yk_hydraulic_begin(context, NULL);
    yk_hydraulic_add_cylinder(builder, cylinder);
    yk_subsystem *made = NULL;
    yk_status status = yk_hydraulic_create(builder, &made);
    drop(made);
    return status;
}

static yk_status hydraulic_without_def(yk_context *context)
{
    return hydraulic(context, NULL);
}

static yk_status hydraulic_valve_of_no_kind(yk_context *context)
{
    yk_hydraulic_cylinder_def ram = yk_hydraulic_cylinder_default();
    ram.name = "ram";
    ram.cylinder.valve.kind = (yk_valve_kind)6;
    return hydraulic(context, &ram);
}

static yk_status hydraulic_start_of_no_kind(yk_context *context)
{
    yk_hydraulic_cylinder_def ram = yk_hydraulic_cylinder_default();
    ram.name = "ram";
    ram.initial_state = (yk_hydraulic_initial_state)6;
    return hydraulic(context, &ram);
}

/* Scenarios, records, transport, analysis ------------------------------------------------------ */

static yk_scenario *scenario(yk_context *context)
{
    yk_scenario_def def = yk_scenario_default();
    def.text = "time: {end: 0.01, step: 1e-3}\n"
               "subsystems: {ball: {solver: oscillator, mass: 1}}\n"
               "record: {channels: [ball.mass.position]}\n";
    yk_scenario *loaded = NULL;
    yk_scenario_load(context, &def, NULL, &loaded);
    return loaded;
}

static yk_status scenario_without_def(yk_context *context)
{
    yk_scenario *loaded = NULL;
    return yk_scenario_load(context, NULL, NULL, &loaded);
}

static yk_status scenario_without_path(yk_context *context)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = NULL;
    yk_scenario *loaded = NULL;
    return yk_scenario_load(context, &def, NULL, &loaded);
}

static yk_status scenario_that_is_not_there(yk_context *context)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = "/nowhere/scenario.yaml";
    yk_scenario *loaded = NULL;
    return yk_scenario_load(context, &def, NULL, &loaded);
}

static yk_status sample_before_start(yk_context *context)
{
    yk_scenario *loaded = scenario(context);
    yk_scenario_read_sample(loaded, (double[16]){0});
    yk_status status = yk_last_status(context);
    yk_scenario_destroy(loaded);
    return status;
}

static yk_status labels_of_no_channel(yk_context *context)
{
    yk_scenario *loaded = scenario(context);
    yk_scenario_channel_labels(loaded, 55);
    yk_status status = yk_last_status(context);
    yk_scenario_destroy(loaded);
    return status;
}

static yk_status limits_before_start(yk_context *context)
{
    yk_scenario *loaded = scenario(context);
    yk_run_report report;
    yk_status status = yk_check_coupling_limits(context, loaded, &report);
    yk_scenario_destroy(loaded);
    return status;
}

static yk_status run_without_scenario(yk_context *context)
{
    yk_run_report report;
    return yk_run(context, NULL, NULL, &report);
}

static yk_status run_without_def(yk_context *context)
{
    yk_scenario *loaded = scenario(context);
    yk_run_report report;
    yk_status status = yk_run(context, loaded, NULL, &report);
    yk_scenario_destroy(loaded);
    return status;
}

static yk_status residual_of_no_subsystem(yk_context *context)
{
    yk_scenario *loaded = scenario(context);
    yk_run_report report;
    yk_run(context, loaded, &(yk_run_options){0}, &report);
    double residual;
    bool known = yk_run_max_contact_residual(loaded, (yk_subsystem_id){12}, &residual);
    yk_status status = known ? YK_OK : yk_last_status(context);
    yk_scenario_destroy(loaded);
    return status;
}

static yk_status column_of_no_channel(yk_context *context)
{
    yk_record *record = NULL;
    yk_record_create(context, &record);
    const double *column = yk_record_column(record, 3, 0);
    yk_status status = column ? YK_OK : yk_last_status(context);
    yk_record_destroy(record);
    return status;
}

static yk_status sample_before_begin(yk_context *context)
{
    yk_record *record = NULL;
    yk_record_create(context, &record);
    yk_status status = yk_recorder_sample(yk_record_recorder(record), 0, (double[1]){0});
    yk_record_destroy(record);
    return status;
}

static yk_status end_before_begin(yk_context *context)
{
    yk_record *record = NULL;
    yk_record_create(context, &record);
    yk_status status = yk_recorder_end(yk_record_recorder(record), &(yk_record_summary){0});
    yk_record_destroy(record);
    return status;
}

static yk_status frame_that_is_not_there(yk_context *context)
{
    yk_record *record = NULL;
    yk_record_create(context, &record);
    const float *frame = yk_record_frame(record, 9);
    yk_status status = frame ? YK_OK : yk_last_status(context);
    yk_record_destroy(record);
    return status;
}

static yk_status recorder_without_path(yk_context *context)
{
    yk_file_recorder_def def = yk_file_recorder_default();
    yk_recorder *recorder = NULL;
    yk_status status = yk_file_recorder_create(context, &def, &recorder);
    yk_recorder_destroy(recorder);
    return status;
}

static yk_status tee_of_nothing(yk_context *context)
{
    yk_recorder *tee = NULL;
    yk_status status = yk_tee_recorder_create(context, (yk_recorder *[]){NULL}, 1, &tee);
    yk_recorder_destroy(tee);
    return status;
}

static yk_status record_without_path(yk_context *context)
{
    yk_record *record = NULL;
    return yk_record_load(context, NULL, &record);
}

static yk_status opened_record_without_path(yk_context *context)
{
    yk_record *record = NULL;
    return yk_record_open(context, NULL, &record);
}

static yk_status remote_without_address(yk_context *context)
{
    yk_remote_def def = yk_remote_default();
    yk_subsystem *made = NULL;
    return yk_remote_create(context, &def, &made);
}

static yk_status server_without_function(yk_context *context)
{
    yk_server_def def = yk_server_default();
    def.address = "tcp:127.0.0.1:0";
    return yk_serve(context, &def);
}

static yk_status mbdyn_without_nodes(yk_context *context)
{
    yk_mbdyn_def def = yk_mbdyn_default();
    def.address = "unix:/nowhere/mbdyn";
    yk_subsystem *made = NULL;
    return yk_mbdyn_create(context, &def, &made);
}

static yk_status checkpoint_without_path(yk_context *context)
{
    yk_checkpoint *checkpoint = NULL;
    return yk_checkpoint_load(context, NULL, &checkpoint);
}

static yk_status two_mass_of_no_method(yk_context *context)
{
    yk_two_mass_model model = yk_two_mass_default();
    *yk_two_mass_find_parameter(&model, yk_two_mass_parameter_names()[0]) = NAN;
    double radius;
    return yk_two_mass_radius(context, &model, &radius);
}

/* The table ------------------------------------------------------------------------------------ */

#define ROW(use, status, named)  \
    {                            \
#use, use, status, named \
    }
#define WRONG(use, named) ROW(use, YK_ERROR_ARGUMENT, named)

static const misuse table[] = {
    WRONG(step_before_start, "yk_system_initialize"),
    WRONG(hash_before_start, "yk_system_initialize"),
    WRONG(probe_before_start, "yk_system_initialize"),
    WRONG(state_get_before_start, "yk_system_initialize"),
    WRONG(state_set_before_start, "yk_system_initialize"),
    WRONG(output_before_start, "yk_system_initialize"),
    WRONG(energy_before_start, "yk_system_initialize"),
    WRONG(balance_before_start, "yk_system_initialize"),
    WRONG(gap_before_start, "yk_system_initialize"),
    WRONG(memory_before_start, "yk_system_initialize"),
    WRONG(null_system, NULL),
    ROW(fall_back_without_scheme, YK_ERROR_CAPABILITY, "fall back"),
    WRONG(fall_back_without_reason, "reason"),
    WRONG(output_of_no_subsystem, "subsystem 7"),
    WRONG(output_of_subsystem_below_zero, "subsystem is null"),
    WRONG(output_of_no_port, "port 12"),
    WRONG(output_of_no_id, "port is null"),
    WRONG(channel_of_no_subsystem, "subsystem 2"),
    WRONG(channel_of_no_channel, "channel 99"),
    WRONG(no_wire, "wire 0"),
    WRONG(energy_of_no_subsystem, "subsystem 5"),
    WRONG(balance_of_no_subsystem, "subsystem 5"),
    WRONG(statistics_of_no_subsystem, "subsystem 5"),
    WRONG(statistics_of_no_interface, "interface 1"),
    WRONG(gap_of_no_interface, "interface is null"),
    WRONG(prescribes_at_no_interface, "interface 3"),
    WRONG(port_of_no_subsystem, "subsystem 9"),
    WRONG(port_without_name, "name"),
    WRONG(shown_of_no_subsystem, "subsystem 4"),
    WRONG(probe_without_step, "step"),
    WRONG(run_to_nowhere, "end"),
    WRONG(state_of_zeros, "state image"),
    WRONG(state_from_nowhere, "image"),
    WRONG(state_to_nowhere, "image"),
    WRONG(state_that_is_not_finite, "state image"),
    WRONG(state_of_another_system, "state image"),
    WRONG(smooth_state_of_zeros, "rod"),
    WRONG(nonsmooth_state_of_zeros, "box"),
    WRONG(adopted_twice, "right"),
    WRONG(added_twice, "right"),
    WRONG(adopted_nothing, "left"),
    WRONG(subsystem_without_name, "name"),
    ROW(subsystem_without_table, YK_ERROR_CAPABILITY, "empty"),
    WRONG(subsystem_without_def, "def"),
    WRONG(interface_without_def, "def"),
    WRONG(wire_without_def, "def"),
    WRONG(interface_to_no_subsystem, "subsystem 5"),
    WRONG(interface_to_no_port, "port 3"),
    WRONG(interface_with_itself, "clamp"),
    WRONG(wire_to_no_port, "port 9"),
    ROW(wire_of_no_component, YK_ERROR_ARGUMENT, "component 999"),
    WRONG(wire_that_is_not_finite, "gain"),
    WRONG(drive_without_function, "axis"),
    WRONG(system_to_nowhere, "system"),
    WRONG(system_without_step, "step"),
    WRONG(no_subsystems, "subsystem"),
    ROW(no_builder, YK_ERROR_MEMORY, NULL),
    WRONG(option_of_no_word, "sequence"),
    WRONG(option_out_of_range, "absolute_tolerance"),
    WRONG(option_that_is_not_there, "colour"),
    ROW(scheme_without_operations, YK_ERROR_CAPABILITY, "empty"),
    WRONG(smooth_body_without_def, "def"),
    WRONG(smooth_joint_without_def, "def"),
    WRONG(smooth_force_without_def, "def"),
    WRONG(smooth_joint_of_no_kind, "pin"),
    WRONG(smooth_joint_to_no_body, "body 12"),
    WRONG(smooth_drive_without_function, "motor"),
    WRONG(smooth_force_on_ground, "push"),
    WRONG(smooth_force_without_second_body, "push"),
    WRONG(smooth_load_and_input, "push"),
    WRONG(smooth_force_of_no_kind, "push"),
    WRONG(smooth_force_with_no_input, "push"),
    WRONG(smooth_input_below_none, "push"),
    WRONG(smooth_port_of_no_kind, "tip"),
    WRONG(smooth_port_without_name, "name"),
    WRONG(smooth_beam_without_nodes, "boom"),
    WRONG(smooth_beam_axes_without_def, "def"),
    WRONG(smooth_negative_mass, "bob"),
    WRONG(smooth_option_of_no_kind, "integrator"),
    WRONG(smooth_to_nowhere, "subsystem"),
    WRONG(nonsmooth_body_without_def, "def"),
    WRONG(nonsmooth_shape_without_def, "def"),
    WRONG(nonsmooth_joint_of_no_kind, "pin"),
    WRONG(nonsmooth_drive_without_function, "motor"),
    WRONG(nonsmooth_joint_without_axes, "guide"),
    WRONG(nonsmooth_joint_without_length, "link"),
    WRONG(nonsmooth_force_on_ground, "push"),
    WRONG(nonsmooth_force_without_second_body, "push"),
    WRONG(nonsmooth_load_and_input, "push"),
    WRONG(nonsmooth_force_of_no_kind, "push"),
    WRONG(nonsmooth_shape_of_no_kind, "kind"),
    WRONG(nonsmooth_mesh_of_no_points, "shape"),
    WRONG(nonsmooth_port_to_no_body, "body 44"),
    WRONG(nonsmooth_motion_without_function, "function"),
    WRONG(nonsmooth_path_to_nowhere, "path"),
    WRONG(nonsmooth_sphere_without_size, "radius"),
    WRONG(nonsmooth_particles_without_count, "count"),
    WRONG(nonsmooth_fill_no_body, "body 31"),
    WRONG(nonsmooth_sink_of_no_kind, "drain"),
    WRONG(nonsmooth_emitter_without_rate, "spout"),
    WRONG(nonsmooth_method_of_no_kind, "method"),
    WRONG(oscillator_without_mass, "mass"),
    WRONG(oscillator_of_no_kind, "integrator"),
    WRONG(oscillator_without_def, "def"),
    WRONG(oscillator_to_nowhere, "oscillator"),
    WRONG(control_without_def, "def"),
    WRONG(control_of_no_form, "output"),
    WRONG(control_without_range, "limits"),
    WRONG(hydraulic_without_def, "def"),
    WRONG(hydraulic_valve_of_no_kind, "ram"),
    WRONG(hydraulic_start_of_no_kind, "ram"),
    WRONG(scenario_without_def, "def"),
    WRONG(scenario_without_path, "path"),
    ROW(scenario_that_is_not_there, YK_ERROR_INPUT, "nowhere"),
    WRONG(sample_before_start, "start"),
    WRONG(labels_of_no_channel, "channel 55"),
    WRONG(limits_before_start, "start"),
    WRONG(run_without_scenario, "scenario"),
    ROW(run_without_def, YK_OK, ""),
    WRONG(residual_of_no_subsystem, "subsystem 12"),
    WRONG(column_of_no_channel, "channel 3"),
    WRONG(sample_before_begin, "begin"),
    WRONG(end_before_begin, "begun"),
    WRONG(frame_that_is_not_there, "frame 9"),
    WRONG(recorder_without_path, "name of the file"),
    WRONG(tee_of_nothing, "recorder"),
    WRONG(record_without_path, "path"),
    WRONG(opened_record_without_path, "path"),
    WRONG(remote_without_address, "address"),
    WRONG(server_without_function, "function that makes"),
    WRONG(mbdyn_without_nodes, "node"),
    WRONG(checkpoint_without_path, "path"),
    WRONG(two_mass_of_no_method, "rho_inf"),
};

enum { ROWS = sizeof table / sizeof *table };

/* Seconds that one use may take. */
enum { LIMIT = 20 };

/* Exit code of the child: 0 if the use returned its status with a message that names the argument. */
static int judge(const misuse *row)
{
    yk_context *context = yk_context_create(NULL);
    yk_status status = row->use(context);
    char message[4096];
    snprintf(message, sizeof message, "%s", yk_last_message(context));
    yk_context_destroy(context);

    if (status != row->expected) {
        print_error("%s: returned %s, expected %s; message: %s\n", row->name,
                    yk_status_name(status), yk_status_name(row->expected), message);
        return 1;
    }
    if (row->named && !strstr(message, row->named)) {
        print_error("%s: the message does not name '%s': %s\n", row->name, row->named, message);
        return 2;
    }
    return 0;
}

static void test_wrong_use_is_refused(void **state)
{
    const misuse *row = *state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        /* A crash or a hang must end the child: cmocka would continue with the next test there. */
        static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            signal(ends[i], SIG_DFL);
        alarm(LIMIT);
        exit(judge(row));
    }

    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        print_error("%s: ended by signal %d\n", row->name, WTERMSIG(status));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    static struct CMUnitTest tests[ROWS];
    for (int i = 0; i < ROWS; i++)
        tests[i] = (struct CMUnitTest){table[i].name, test_wrong_use_is_refused, NULL, NULL,
                                       (void *)(uintptr_t)&table[i]};
    return _cmocka_run_group_tests("misuse", tests, ROWS, NULL, NULL);
}
