/* Models built in C (yoke/multibody.h, yoke/nonsmooth.h, yoke/oscillator.h, yoke/system.h): `create`
 * reports every error with the name of the part and of the member, in the words of
 * the C interface; and a model built in C equals that of the scenario bit for bit. */
#include "test.h"

#include <string.h>

#include "the_context.h"
#include "yoke/control.h"
#include "yoke/hydraulic.h"
#include "yoke/multibody.h"
#include "yoke/nonsmooth.h"
#include "yoke/oscillator.h"
#include "yoke/scenario.h"
#include "yoke/system.h"

/* The change of a valid def that a case makes. */
typedef void (*spoil)(void *def);

static void expect(yk_status status, const void *made, const char *words)
{
    const char *message = yk_last_message(context);
    if (status != YK_ERROR_ARGUMENT || made || !strstr(message, words))
        fail_msg("status %s, expected '%s', message: %s", yk_status_name(status), words, message);
}

/* Smooth --------------------------------------------------------------------------------------- */

typedef struct smooth_parts {
    yk_multibody_def def;
    yk_multibody_node_def node;
    yk_multibody_body_def body;
    yk_joint_def joint;
    yk_force_def force;
    yk_multibody_beam_def beam;
    yk_multibody_shape_def shape;
    yk_port_def port;
    int times; /* that the joint is added */
} smooth_parts;

static double of_inputs(void *user, double t, const double *inputs)
{
    (void)user;
    return t + inputs[0];
}

static yk_status build_smooth(const smooth_parts *p, yk_subsystem **made)
{
    yk_multibody_builder *builder = yk_multibody_begin(context, &p->def);
    yk_multibody_add_node(builder, &p->node);
    yk_multibody_add_body(builder, &p->body);
    for (int i = 0; i < p->times; i++)
        yk_multibody_add_joint(builder, &p->joint);
    yk_multibody_add_force(builder, &p->force);
    if (p->beam.name)
        yk_multibody_add_beam(builder, &p->beam);
    yk_multibody_add_shape(builder, &p->shape);
    yk_multibody_add_port(builder, &p->port);
    return yk_multibody_create(builder, made);
}

static smooth_parts good_smooth(void)
{
    smooth_parts p = {.def = yk_multibody_default(), .times = 1};
    p.node = yk_multibody_node_default();
    p.node.name = "frame";
    p.body = yk_multibody_body_named("rod", 2, yk_inertia_box(2, 1, 0.1, 0.1), (yk_vec3){0, 0, 0});
    p.body.node = (yk_body_id){0};
    p.joint = yk_joint_named("pin", YK_JOINT_REVOLUTE, YK_GROUND, (yk_body_id){0});
    p.force = yk_force_default();
    p.force.name = "push";
    p.force.bodies[1] = (yk_body_id){0};
    p.beam = yk_multibody_beam_default();
    p.shape = yk_multibody_shape_default();
    p.port = yk_port_marker("tip", (yk_body_id){0}, yk_marker_default());
    return p;
}

#define SPOIL(name, type, statement) \
    static void name(void *def)      \
    {                                \
        type *p = def;               \
        statement;                   \
    }

SPOIL(s_name, smooth_parts, p->def.name = NULL)
SPOIL(s_rho, smooth_parts, p->def.options.rho_inf = 2)
SPOIL(s_iterations, smooth_parts, p->def.options.max_newton_iterations = 0)
SPOIL(s_node_name, smooth_parts, p->node.name = NULL)
SPOIL(s_node_nan, smooth_parts, p->node.position.x = NAN)
SPOIL(s_node_axes, smooth_parts, p->node.orientation.w = 2)
SPOIL(s_mass, smooth_parts, p->body.mass = -2)
SPOIL(s_mass_nan, smooth_parts, p->body.mass = NAN)
SPOIL(s_inertia, smooth_parts, p->body.inertia.m[0][0] = -1)
SPOIL(s_body_node, smooth_parts, p->body.node = (yk_body_id){7})
SPOIL(s_same_name, smooth_parts, (p->body.name = "frame", p->body.node = YK_NULL_BODY))
SPOIL(s_joint_name, smooth_parts, p->joint.name = "")
SPOIL(s_joint_twice, smooth_parts, p->times = 2)
SPOIL(s_joint_body, smooth_parts, p->joint.bodies[1] = (yk_body_id){5})
SPOIL(s_joint_missing, smooth_parts, p->joint.bodies[1] = YK_NULL_BODY)
SPOIL(s_joint_kind, smooth_parts, p->joint.kind = YK_JOINT_KIND_COUNT)
SPOIL(s_joint_marker, smooth_parts, p->joint.markers[1].offset.z = INFINITY)
SPOIL(s_joint_drive, smooth_parts, p->joint.kind = YK_JOINT_DRIVEN_ANGULAR_VELOCITY)
SPOIL(s_joint_axes, smooth_parts, p->joint.kind = YK_JOINT_CUSTOM)
SPOIL(s_force_body, smooth_parts, p->force.bodies[1] = (yk_body_id){9})
SPOIL(s_force_nan, smooth_parts, p->force.vector.x = NAN)
SPOIL(s_force_input, smooth_parts, p->force.signal_port = (yk_port_id){0})
SPOIL(s_force_feedback, smooth_parts,
      (p->force.feedback.value = of_inputs, p->force.feedback.input_count = 99))
SPOIL(s_beam_twice, smooth_parts,
      (p->beam.name = "boom", p->beam.nodes[0] = p->beam.nodes[1] = (yk_body_id){0}))
SPOIL(s_beam_node, smooth_parts, (p->beam.name = "boom", p->beam.nodes[2] = (yk_body_id){3}))
SPOIL(s_shape_node, smooth_parts, p->shape.node = (yk_body_id){4})
SPOIL(s_port_name, smooth_parts, p->port.name = NULL)
SPOIL(s_port_body, smooth_parts, p->port.bodies[0] = (yk_body_id){3})

static void mistakes_of_smooth_models_are_named(void **state)
{
    (void)state;
    static const struct {
        spoil by;
        const char *words;
    } cases[] = {
        {s_name, "needs a name"},
        {s_rho, "rho_inf must be between 0 and 1, not 2"},
        {s_iterations, "number of iterations must be positive"},
        {s_node_name, "node 0 has no name"},
        {s_node_nan, "node 'frame' starts at a position or velocity that is not finite"},
        {s_node_axes, "orientation of node 'frame' is not a unit quaternion"},
        {s_mass, "mass of body 'rod' must be positive, not -2 kg"},
        {s_mass_nan, "mass of body 'rod' must be positive"},
        {s_inertia, "inertia tensor of body 'rod'"},
        {s_body_node, "body 'rod' names body 7, which was not added"},
        {s_same_name, "two bodies or nodes have the name 'frame'"},
        {s_joint_name, "has no name"},
        {s_joint_twice, "two joints have the name 'pin'"},
        {s_joint_body, "joint 'pin' names body 5, which was not added"},
        {s_joint_missing, "joint 'pin' names body -2, which was not added"},
        {s_joint_kind, "of no known kind"},
        {s_joint_marker, "marker 2 of joint 'pin'"},
        {s_joint_drive, "joint 'pin' prescribes a motion but has no drive"},
        {s_joint_axes, "joint 'pin' constrains no motion"},
        {s_force_body, "force 'push' names body 9"},
        {s_force_nan, "coefficient of force 'push' is not finite"},
        {s_force_input, "input of force 'push' is no signal port"},
        {s_force_feedback, "feedback of 'push' has 99 inputs"},
        {s_beam_twice, "beam 'boom' names a node twice"},
        {s_beam_node, "beam 'boom' names body 3, which was not added"},
        {s_shape_node, "names body 4"},
        {s_port_name, "a port has no name"},
        {s_port_body, "port 'tip' names body 3"},
    };

    yk_subsystem *made;
    smooth_parts good = good_smooth();
    assert_int_equal(build_smooth(&good, &made), YK_OK);
    made->ops->destroy(made);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        smooth_parts p = good_smooth();
        cases[i].by(&p);
        yk_status status = build_smooth(&p, &made);
        expect(status, made, cases[i].words);
    }
}

/* Nonsmooth ------------------------------------------------------------------------------------ */

typedef struct contact_parts {
    yk_nonsmooth_def def;
    yk_nonsmooth_body_def body;
    yk_nonsmooth_shape_def shape;
    yk_material_pair_def pair;
    yk_joint_def joint;
    yk_force_def force;
    yk_port_def port;
    yk_particles_def particles;
    int times; /* that the body is added */
    int prescribed;
} contact_parts;

static void stay(void *user, double t, yk_motion *motion)
{
    (void)user;
    (void)t;
    *motion = (yk_motion){.orientation = {1, 0, 0, 0}};
}

static yk_status build_contact(const contact_parts *p, yk_subsystem **made)
{
    yk_nonsmooth_builder *builder = yk_nonsmooth_begin(context, &p->def);
    for (int i = 0; i < p->times; i++)
        yk_nonsmooth_add_body(builder, &p->body);
    yk_nonsmooth_add_shape(builder, &p->shape);
    yk_nonsmooth_add_material_pair(builder, &p->pair);
    yk_nonsmooth_add_joint(builder, &p->joint);
    yk_nonsmooth_add_port(builder, &p->port);
    yk_nonsmooth_add_force(builder, &p->force);
    yk_nonsmooth_add_particles(builder, &p->particles);
    if (p->prescribed >= 0)
        yk_nonsmooth_prescribe_motion(builder, (yk_body_id){p->prescribed}, stay, NULL);
    return yk_nonsmooth_create(builder, made);
}

static contact_parts good_contact(void)
{
    contact_parts p = {.def = yk_nonsmooth_default(), .times = 1, .prescribed = -1};
    p.body =
        yk_nonsmooth_body_named("box", 1, yk_inertia_box(1, 0.1, 0.1, 0.1), (yk_vec3){0, 0, 0});
    p.shape = yk_nonsmooth_shape_default();
    p.pair = (yk_material_pair_def){.surface_ids = {1, 2}};
    p.joint = yk_joint_named("pin", YK_JOINT_REVOLUTE, YK_GROUND, (yk_body_id){0});
    p.force = yk_force_default();
    p.force.name = "push";
    p.force.bodies[1] = (yk_body_id){0};
    p.port = yk_port_marker("tip", (yk_body_id){0}, yk_marker_default());
    p.particles = yk_particles_default();
    p.particles.packing.count = 3;
    return p;
}

SPOIL(n_gravity, contact_parts, p->def.gravity.z = NAN)
SPOIL(n_envelope, contact_parts, p->def.envelope = -1)
SPOIL(n_factor, contact_parts, p->def.contact_options.relaxation_factor = 2)
SPOIL(n_mass, contact_parts, p->body.mass = -1)
SPOIL(n_mass_nan, contact_parts, p->body.mass = NAN)
SPOIL(n_position, contact_parts, p->body.position.y = NAN)
SPOIL(n_inertia, contact_parts, p->body.inertia.m[2][2] = -1)
SPOIL(n_twice, contact_parts, p->times = 2)
SPOIL(n_shape_body, contact_parts, p->shape.body = (yk_body_id){4})
SPOIL(n_shape_size, contact_parts, p->shape.size.x = -1)
SPOIL(n_material, contact_parts, p->shape.material.restitution = 2)
SPOIL(n_damped, contact_parts, p->shape.material.damping = 1)
SPOIL(n_surface, contact_parts, p->shape.material.surface_id = -1)
SPOIL(n_pair, contact_parts, p->pair.surface_ids[1] = 0)
SPOIL(n_pair_material, contact_parts, p->pair.material.friction = -1)
SPOIL(n_law, contact_parts, p->def.impact_law = (yk_impact_law)7)
SPOIL(n_joint_body, contact_parts, p->joint.bodies[1] = (yk_body_id){8})
SPOIL(n_joint_itself, contact_parts, p->joint.bodies[0] = (yk_body_id){0})
SPOIL(n_force_body, contact_parts, p->force.bodies[1] = (yk_body_id){8})
SPOIL(n_force_input, contact_parts, p->force.signal_port = (yk_port_id){0})
SPOIL(n_feedback, contact_parts, p->force.feedback.value = of_inputs)
SPOIL(n_port_name, contact_parts, p->port.name = NULL)
SPOIL(n_port_body, contact_parts, p->port.bodies[0] = YK_GROUND)
SPOIL(n_radius, contact_parts, p->particles.packing.radius = 1)
SPOIL(n_grain, contact_parts, p->particles.packing.shape.kind = YK_SOLID_PLANE)
SPOIL(n_sizes, contact_parts, p->particles.packing.size_distribution = (yk_size_distribution)9)
SPOIL(n_spread, contact_parts, p->particles.packing.spread = 1)
SPOIL(n_prescribed, contact_parts, p->prescribed = 77)

static void mistakes_of_models_with_contact_are_named(void **state)
{
    (void)state;
    static const struct {
        spoil by;
        const char *words;
    } cases[] = {
        {n_gravity, "gravity is not finite"},
        {n_envelope, "envelope (m) is -1"},
        {n_factor, "relaxation_factor is 2"},
        {n_mass, "body 0 (box): mass must be positive"},
        {n_mass_nan, "body 0 (box): mass must be positive"},
        {n_position, "body 0 (box): position, velocity or orientation is not finite"},
        {n_inertia, "body 0 (box): no body has its inertia tensor"},
        {n_twice, "two bodies have the name 'box'"},
        {n_shape_body, "shape: there is no body 4"},
        {n_shape_size, "shape 0: sizes must be positive"},
        {n_material, "restitution lies in [0, 1]"},
        {n_damped, "a damped surface needs a stiffness"},
        {n_surface, "the number of a surface is -1"},
        {n_pair, "pair 0: surfaces 1 and 0, they are numbered from 1"},
        {n_pair_material, "pair 0: friction, rolling and spinning must not be negative"},
        {n_law, "impact_law is 7"},
        {n_joint_body, "joint: there is no body 8"},
        {n_joint_itself, "joint 0 (pin) joins a body to itself"},
        {n_force_body, "force: there is no body 8"},
        {n_force_input, "input of force 'push' is port 0, which is no signal port"},
        {n_feedback, "force 0 (push): loads here are functions of time or signals"},
        {n_port_name, "a port has no name"},
        {n_port_body, "port: there is no body -1"},
        {n_radius, "not one particle of radius 1 fits"},
        {n_grain, "their shape is a solid with a volume"},
        {n_sizes, "sizes are cut at 3 standard deviations"},
        {n_spread, "spread is 1, must lie in [0, 1)"},
        {n_prescribed, "prescribed motion: there is no body 77"},
    };

    yk_subsystem *made;
    contact_parts good = good_contact();
    assert_int_equal(build_contact(&good, &made), YK_OK);
    made->ops->destroy(made);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        contact_parts p = good_contact();
        cases[i].by(&p);
        yk_status status = build_contact(&p, &made);
        expect(status, made, cases[i].words);
    }
}

/* Small kinds ---------------------------------------------------------------------------------- */

static void mistakes_of_small_kinds_are_named(void **state)
{
    (void)state;
    yk_subsystem *made = NULL;
    yk_oscillator_def oscillator = yk_oscillator_default();
    oscillator.mass = -1;
    yk_status status = yk_oscillator_create(context, &oscillator, &made);
    expect(status, made, "mass");

    /* Circuits and controllers: parts without a name, and two with one. */
    yk_hydraulic_cylinder_def ram = yk_hydraulic_cylinder_default();
    yk_control_loop_def loop = yk_control_loop_default();
    for (int twice = 0; twice < 2; twice++) {
        ram.name = loop.name = twice ? "axis" : NULL;
        yk_hydraulic_builder *circuit = yk_hydraulic_begin(context, NULL);
        yk_control_builder *control = yk_control_begin(context, NULL);
        for (int i = 0; i < 2; i++)
            assert_int_equal(yk_hydraulic_add_cylinder(circuit, &ram).index, twice ? i : YK_NO_ID);
        for (int i = 0; i < 2; i++)
            assert_int_equal(yk_control_add_loop(control, &loop).index, twice ? 4 * i : YK_NO_ID);
        status = yk_hydraulic_create(circuit, &made);
        expect(status, made,
               twice ? "two cylinders have the name 'axis'" : "a cylinder has no name");
        status = yk_control_create(control, &made);
        expect(status, made, twice ? "two loops have the name 'axis'" : "a loop has no name");
    }

    yk_hydraulic_def hydraulics = yk_hydraulic_default();
    hydraulics.name = NULL;
    status = yk_hydraulic_create(yk_hydraulic_begin(context, &hydraulics), &made);
    expect(status, made, "a hydraulic circuit needs a name");
}

/* Systems -------------------------------------------------------------------------------------- */

typedef struct system_parts {
    yk_system_def def;
    yk_subsystem_def left, right;
    yk_interface_def clamp;
    yk_wire_def wire;
} system_parts;

static yk_subsystem *masses[2];

static yk_status build_system(const system_parts *p, yk_system **made)
{
    yk_system_builder *builder = yk_system_begin(context, &p->def);
    yk_system_add_subsystem(builder, &p->left);
    yk_system_add_subsystem(builder, &p->right);
    yk_system_add_interface(builder, &p->clamp);
    if (p->wire.name)
        yk_system_add_wire(builder, &p->wire);
    return yk_system_create(builder, made);
}

static system_parts good_system(void)
{
    system_parts p = {.def = yk_system_default()};
    p.def.macro_step = 1e-3;
    p.left = yk_subsystem_named("left", masses[0]);
    p.right = yk_subsystem_named("right", masses[1]);
    p.clamp = yk_interface_between("clamp", (yk_subsystem_id){0}, (yk_port_id){0},
                                   (yk_subsystem_id){1}, (yk_port_id){0});
    p.wire = yk_wire_default();
    return p;
}

SPOIL(y_step, system_parts, p->def.macro_step = 0)
SPOIL(y_step_nan, system_parts, p->def.macro_step = NAN)
SPOIL(y_name, system_parts, p->left.name = NULL)
SPOIL(y_same_name, system_parts, p->right.name = "left")
SPOIL(y_missing, system_parts, p->right.subsystem = NULL)
SPOIL(y_units, system_parts, p->left.transform.length_unit = -1)
SPOIL(y_substeps, system_parts, p->left.substeps = 0)
SPOIL(y_interface_name, system_parts, p->clamp.name = NULL)
SPOIL(y_subsystem, system_parts, p->clamp.motion_subsystem = (yk_subsystem_id){5})
SPOIL(y_port, system_parts, p->clamp.motion_port = (yk_port_id){3})
SPOIL(y_axes, system_parts, p->clamp.constrained_axes = 0)
SPOIL(y_itself, system_parts, p->clamp.motion_subsystem = (yk_subsystem_id){0})
SPOIL(y_wire, system_parts, (p->wire.name = "wire", p->wire.target_port = (yk_port_id){2}))

static void mistakes_of_systems_are_named(void **state)
{
    (void)state;
    static const struct {
        spoil by;
        const char *words;
    } cases[] = {
        {y_step, "the macro step is 0 s"},
        {y_step_nan, "the macro step is"},
        {y_name, "a subsystem has no name"},
        {y_same_name, "two subsystems have the name 'left'"},
        {y_missing, "subsystem 'right' was not created"},
        {y_units, "subsystem 'left': its units must be positive"},
        {y_substeps, "subsystem 'left' has 0 substeps"},
        {y_interface_name, "an interface has no name"},
        {y_subsystem, "interface 'clamp' names subsystem 5, which was not added"},
        {y_port, "interface 'clamp': subsystem 'right' has no port 3; it has 1"},
        {y_axes, "interface 'clamp' constrains no axis"},
        {y_itself, "joins subsystem 'left' with itself"},
        {y_wire, "wire 'wire': subsystem 'left' has no port 2"},
    };

    yk_oscillator_def mass = yk_oscillator_default();
    for (int i = 0; i < 2; i++)
        assert_int_equal(yk_oscillator_create(context, &mass, &masses[i]), YK_OK);
    yk_system *made;
    system_parts good = good_system();
    assert_int_equal(build_system(&good, &made), YK_OK);
    assert_int_equal(yk_system_find_port(made, (yk_subsystem_id){1}, "mass").index, 0);
    assert_false(yk_port_is_valid(yk_system_find_port(made, (yk_subsystem_id){1}, "masse")));
    yk_system_destroy(made);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        system_parts p = good_system();
        cases[i].by(&p);
        yk_status status = build_system(&p, &made);
        expect(status, made, cases[i].words);
    }
    for (int i = 0; i < 2; i++)
        masses[i]->ops->destroy(masses[i]);
}

/* The first error is kept, not the errors that follow from it. */
static void the_first_mistake_is_reported(void **state)
{
    (void)state;
    yk_multibody_builder *builder = yk_multibody_begin(context, NULL);
    yk_mat3 inertia = yk_inertia_sphere(1, 0.1);
    yk_multibody_body_def rod = yk_multibody_body_named("rod", 1, inertia, (yk_vec3){0, 0, 0});
    rod.node = (yk_body_id){3};
    yk_body_id id = yk_multibody_add_body(builder, &rod);
    assert_int_equal(id.index, YK_NO_ID);
    yk_joint_def pin = yk_joint_named("pin", YK_JOINT_REVOLUTE, YK_GROUND, id);
    assert_int_equal(yk_multibody_add_joint(builder, &pin).index, YK_NO_ID);
    yk_subsystem *made;
    yk_status status = yk_multibody_create(builder, &made);
    expect(status, made, "body 'rod' names body 3");

    /* A builder that could not be begun takes everything, and reports at the end. */
    assert_int_equal(yk_multibody_add_joint(NULL, &pin).index, YK_NO_ID);
    assert_int_equal(yk_multibody_create(NULL, &made), YK_ERROR_MEMORY);
    yk_multibody_discard(NULL);
    yk_nonsmooth_discard(NULL);
    yk_hydraulic_discard(NULL);
    yk_control_discard(NULL);
    yk_system_discard(NULL);
}

/* The same ------------------------------------------------------------------------------------- */

static uint64_t hash_after(yk_system *system)
{
    uint64_t hash = 0;
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < 50; i++)
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
    assert_int_equal(yk_system_state_hash(system, &hash), YK_OK);
    return hash;
}

static void a_model_in_c_is_that_of_the_scenario(void **state)
{
    (void)state;
    yk_scenario_def def = yk_scenario_default();
    def.text = "time: {end: 1, step: 1e-3}\n"
               "subsystems:\n"
               "  pendulum:\n"
               "    solver: multibody\n"
               "    bodies: {rod: {mass: 2, inertia: [0.01, 0.2, 0.2], position: [0.5, 0, 0]}}\n"
               "    joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0, 0],\n"
               "                   axis: [0, 1, 0]}}\n"
               "    ports: {tip: {body: rod, offset: [0.5, 0, 0]}}\n"
               "  ball:\n"
               "    solver: nonsmooth\n"
               "    bodies: {ball: {mass: 0.5, inertia: [0.02, 0.02, 0.02], position: [1, 0, 0]}}\n"
               "    ports: {middle: {body: ball}}\n"
               "interfaces: {clamp: {between: [pendulum.tip, ball.middle]}}\n"
               "coupling: {scheme: explicit}\n";
    yk_scenario *scenario;
    yk_system *system = NULL;
    if (yk_scenario_load(context, &def, NULL, &scenario) != YK_OK ||
        yk_scenario_system(scenario, &system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    uint64_t expected = hash_after(system);
    yk_scenario_destroy(scenario);

    /* The same by the builders. */
    yk_mat3 inertia = {{{0.01, 0, 0}, {0, 0.2, 0}, {0, 0, 0.2}}};
    yk_multibody_builder *pendulum = yk_multibody_begin(context, NULL);
    yk_multibody_body_def rod = yk_multibody_body_named("rod", 2, inertia, (yk_vec3){0.5, 0, 0});
    yk_body_id rod_id = yk_multibody_add_body(pendulum, &rod);
    yk_marker axis = yk_marker_along((yk_vec3){0, 0, 0}, (yk_vec3){0, 1, 0});
    yk_joint_def pin = yk_joint_at("pin", YK_JOINT_REVOLUTE, YK_GROUND, rod_id, axis);
    yk_multibody_add_joint(pendulum, &pin);
    yk_multibody_add_marker_port(pendulum, "tip", rod_id, yk_marker_at(0.5, 0, 0));

    yk_nonsmooth_builder *carried = yk_nonsmooth_begin(context, NULL);
    yk_mat3 round = {{{0.02, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}}};
    yk_nonsmooth_body_def ball = yk_nonsmooth_body_named("ball", 0.5, round, (yk_vec3){1, 0, 0});
    yk_body_id ball_id = yk_nonsmooth_add_body(carried, &ball);
    yk_nonsmooth_add_marker_port(carried, "middle", ball_id, yk_marker_default());

    yk_system_def whole = yk_system_default();
    whole.macro_step = 1e-3;
    yk_system_builder *builder = yk_system_begin(context, &whole);
    yk_system_add_owned_subsystem(builder, "pendulum", yk_multibody_create_or_null(pendulum));
    yk_system_add_owned_subsystem(builder, "ball", yk_nonsmooth_create_or_null(carried));
    yk_system_connect_ports(builder, "clamp", (yk_subsystem_id){0}, (yk_port_id){0},
                            (yk_subsystem_id){1}, (yk_port_id){0});
    if (yk_system_create(builder, &system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    assert_true(hash_after(system) == expected);

    /* Run in one call: 50 steps, from the start again. */
    uint64_t hash = 0;
    assert_int_equal(yk_system_run(system, 0.05), YK_OK);
    assert_int_equal(yk_system_step_count(system), 50);
    assert_int_equal(yk_system_state_hash(system, &hash), YK_OK);
    assert_true(hash == expected);
    yk_system_destroy(system);
}

/* A box that is turned, on a pin, with spheres in it: in short words, or with every marker, shape and
 * pose as such. */
static uint64_t filled_box(bool in_short)
{
    yk_nonsmooth_builder *builder = yk_nonsmooth_begin(context, NULL);
    yk_mat3 inertia = yk_inertia_box(1, 0.2, 0.2, 0.3);
    yk_nonsmooth_body_def box = yk_nonsmooth_body_named("box", 1, inertia, (yk_vec3){0.3, 0, 1});
    box.orientation = yk_marker_along((yk_vec3){0, 0, 0}, (yk_vec3){0, 3, 4}).orientation;
    box.velocity = (yk_vec3){0, 0.3, 0};
    box.angular_velocity = (yk_vec3){0, 0, 1};
    yk_body_id id = yk_nonsmooth_add_body(builder, &box);
    yk_marker axis = yk_marker_along((yk_vec3){0, 0, 1}, (yk_vec3){0, 0, 1});
    yk_particles_def spheres = yk_particles_in_box(20, 0.01, (yk_vec3){0.05, 0.05, 0.05});

    if (in_short) {
        yk_joint_def pin = yk_joint_at("pin", YK_JOINT_REVOLUTE, YK_GROUND, id, axis);
        yk_nonsmooth_add_joint(builder, &pin);
        yk_nonsmooth_add_particles_in_body(builder, id, &spheres);
    } else {
        yk_joint_def pin = yk_joint_named("pin", YK_JOINT_REVOLUTE, YK_GROUND, id);
        pin.markers[0] = axis;
        pin.markers[1] = yk_marker_in_body(axis, box.position, box.orientation);
        yk_nonsmooth_add_joint(builder, &pin);

        yk_nonsmooth_shape_def cavity = yk_packing_container_shape(&spheres.packing, id);
        cavity.orientation = (yk_quat){box.orientation.w, -box.orientation.x, -box.orientation.y,
                                       -box.orientation.z};
        yk_nonsmooth_add_shape(builder, &cavity);
        spheres.position = box.position;
        spheres.velocity = box.velocity;
        spheres.angular_velocity = box.angular_velocity;
        yk_nonsmooth_add_particles(builder, &spheres);
    }

    yk_system_def def = yk_system_default();
    def.macro_step = 1e-3;
    yk_system_builder *whole = yk_system_begin(context, &def);
    yk_subsystem *subsystem;
    yk_nonsmooth_create(builder, &subsystem);
    yk_system_add_owned_subsystem(whole, "box", subsystem);
    yk_system *system;
    if (yk_system_create(whole, &system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    uint64_t hash = hash_after(system);
    yk_system_destroy(system);
    return hash;
}

static void short_words_mean_the_long_ones(void **state)
{
    (void)state;
    assert_true(filled_box(true) == filled_box(false));
}

/* Adopted subsystems are always released with their system; leaks are found by the address
 * sanitizer. */
static void what_was_adopted_is_never_lost(void **state)
{
    (void)state;
    yk_oscillator_def mass = yk_oscillator_default();
    yk_subsystem *subsystem;
    yk_system *system;

    assert_int_equal(yk_oscillator_create(context, &mass, &subsystem), YK_OK);
    yk_system_builder *builder = yk_system_begin(context, NULL);
    yk_system_add_owned_subsystem(builder, "mass", subsystem);
    assert_int_equal(yk_oscillator_create(context, &mass, &subsystem), YK_OK);
    assert_int_equal(yk_system_add_owned_subsystem(builder, "", subsystem).index, YK_NO_ID);
    yk_status status = yk_system_create(builder, &system);
    assert_int_equal(status, YK_ERROR_ARGUMENT);
    assert_null(system);

    /* The message names the object that could not be created. */
    builder = yk_system_begin(context, NULL);
    mass.mass = -1;
    yk_oscillator_create(context, &mass, &subsystem);
    yk_system_add_owned_subsystem(builder, "mass", subsystem);
    status = yk_system_create(builder, &system);
    assert_int_equal(status, YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "subsystem 'mass' was not created"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_of_smooth_models_are_named),
        cmocka_unit_test(mistakes_of_models_with_contact_are_named),
        cmocka_unit_test(mistakes_of_small_kinds_are_named),
        cmocka_unit_test(short_words_mean_the_long_ones),
        cmocka_unit_test(what_was_adopted_is_never_lost),
        cmocka_unit_test(mistakes_of_systems_are_named),
        cmocka_unit_test(the_first_mistake_is_reported),
        cmocka_unit_test(a_model_in_c_is_that_of_the_scenario),
    };
    return cmocka_run_group_tests_name("builders", tests, open_context, close_context);
}
