/* The scheme rim with markers: a rigid body in a fast bushing, in SI units and in millimetres,
 * grams and turned axes. */
#include <string.h>

#include "any_scheme.h"
#include "context.h"
#include "coupling/free_body.h"
#include "coupling/system_arrays.h"
#include "math/so3.h"
#include "test.h"

/* Stiffness and damping against the ground, for position and rotation. */
typedef struct bushing {
    yk_subsystem base;
    double stiffness, damping, rotational_stiffness, rotational_damping;
    yk_vec3 anchor;
    yk_port_value value;
} bushing;

static int ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port port = {"end", YK_PORT_MARKER, YK_CAUSALITY_MOTION_INPUT};
    (void)self;
    *list = &port;
    return 1;
}

static yk_status connect(yk_subsystem *self, int port, yk_causality causality, unsigned constrained)
{
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static yk_status step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    bushing *b = (bushing *)self;
    (void)t, (void)h;
    yk_motion *m = &b->value.motion;
    m->position = inputs[0].linear[0];
    m->velocity = inputs[0].linear[1];
    m->orientation = inputs[0].base_orientation;
    m->angular_velocity = inputs[0].angular[1];
    yk_vec3 rotation = yk_so3_log(m->orientation);
    b->value.wrench.force = yk_v3_axpy(b->stiffness, yk_v3_sub(m->position, b->anchor),
                                       yk_v3_scale(b->damping, m->velocity));
    b->value.wrench.torque = yk_v3_axpy(b->rotational_stiffness, rotation,
                                        yk_v3_scale(b->rotational_damping, m->angular_velocity));
    return YK_OK;
}

static yk_status start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    bushing *b = (bushing *)self;
    b->value = (yk_port_value){.motion = {.position = b->anchor, .orientation = {1, 0, 0, 0}}};
    return inputs ? step(self, t, h, inputs) : YK_OK;
}

static void output(const yk_subsystem *self, int port, yk_port_value *value)
{
    (void)port;
    *value = ((const bushing *)self)->value;
}

static void nothing(yk_subsystem *self)
{
    (void)self;
}

static const yk_subsystem_ops bushing_ops = {.size = sizeof(yk_subsystem_ops),
                                             .kind = "bushing",
                                             .ports = ports,
                                             .connect = connect,
                                             .initialize = start,
                                             .step = step,
                                             .get_port_value = output,
                                             .destroy = nothing};

/* The body in the placement's units and axes; the marker is turned so that it starts along the
 * system's. */
static yk_subsystem *make_body(const yk_transform *p)
{
    double inertia_unit = p->mass_unit * p->length_unit * p->length_unit;
    yk_quat back = yk_q_conjugate(p->orientation);
    free_body_def def = {.mass = 2 / p->mass_unit,
                         .inertia = {0.02 / inertia_unit, 0.03 / inertia_unit, 0.04 / inertia_unit},
                         .gravity =
                             yk_v3_scale(1 / p->length_unit, yk_q_rotate(back, yk_v3(0, 0, -9.81))),
                         .orientation = back,
                         .port_count = 1,
                         .offset = {yk_v3_scale(1 / p->length_unit, yk_v3(0.1, 0.05, -0.02))},
                         .rotation = {{1, 0, 0, 0}},
                         .substeps = 4};
    yk_vec3 at = yk_v3_sub(yk_v3(0.3, 0.2, 0.1), p->position);
    def.position = yk_v3_scale(1 / p->length_unit, yk_q_rotate(back, at));
    def.velocity = yk_v3_scale(1 / p->length_unit, yk_q_rotate(back, yk_v3(0.5, -0.2, 0.1)));
    def.angular_velocity = yk_q_rotate(back, yk_v3(1, 2, -1));
    return free_body_create(&def);
}

static void run(yk_context *context, const yk_transform *transform, yk_position_update positions,
                double h, int steps, yk_motion *end)
{
    yk_transform transforms[2] = {*transform, yk_transform_identity()};
    bushing b = {.base = {&bushing_ops},
                 .stiffness = 2e5,
                 .damping = 200,
                 .rotational_stiffness = 2e3,
                 .rotational_damping = 2,
                 .anchor = {0.4, 0.25, 0.08}};
    yk_subsystem *body = make_body(transform), *parts[2] = {body, &b.base};
    static const char *const names[] = {"body", "bushing"};
    static const int substeps[] = {1, 200};
    yk_interface_def face = {
        .name = "clamp", .motion_subsystem = {1}, .constrained_axes = YK_AXES_ALL};
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .transforms = transforms,
                                 .substeps = substeps,
                                 .interfaces = &face,
                                 .interface_count = 1,
                                 .step = h};
    any_scheme rim = any_scheme_default();
    any_options options;
    rim.ops = yk_scheme_rim();
    rim.positions = positions;
    def.scheme = any_scheme_def(&rim, &options);
    yk_system *system;
    if (yk_system_make(context, &def, &system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    if (yk_system_initialize(system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    for (int i = 0; i < steps; i++)
        if (yk_system_step(system, NULL) != YK_OK)
            fail_msg("%s", yk_last_message(context));
    *end = yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion;
    yk_system_destroy(system);
    body->ops->destroy(body);
}

static void assert_close(yk_vec3 a, yk_vec3 b, double tolerance)
{
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

/* Ten times the macro step that explicit coupling could take: at rest in the end where the weight
 * stretches the bushing. */
static void test_stiff_bushing(void **state)
{
    yk_transform plain = yk_transform_identity();
    yk_motion end;
    run(*state, &plain, YK_POSITION_UPDATE_OWN_STEP, 0.02, 500, &end);
    assert_close(end.velocity, yk_v3(0, 0, 0), 1e-4);
    assert_close(end.position, yk_v3(0.4, 0.25, 0.08 - 2 * 9.81 / 2e5), 2e-6);
}

/* Positions from integrated velocities are those of the method, except for the error of the step. */
static void test_integrated_positions(void **state)
{
    yk_transform plain = yk_transform_identity();
    yk_motion end[2];
    run(*state, &plain, YK_POSITION_UPDATE_OWN_STEP, 2e-4, 100, &end[0]);
    run(*state, &plain, YK_POSITION_UPDATE_INTEGRAL, 2e-4, 100, &end[1]);
    assert_close(end[1].position, end[0].position, 1e-5);
    assert_close(end[1].velocity, end[0].velocity, 1e-3);
    assert_close(end[1].angular_velocity, end[0].angular_velocity, 1e-2);
}

static void test_units_and_axes(void **state)
{
    yk_transform plain = yk_transform_identity();
    yk_transform other = {.position = {0.7, -0.3, 0.2},
                          .orientation = yk_so3_exp(yk_v3(0.4, -0.8, 1.1)),
                          .length_unit = 1e-3,
                          .mass_unit = 1e-3};
    yk_motion end[2];
    run(*state, &plain, YK_POSITION_UPDATE_OWN_STEP, 0.002, 60, &end[0]);
    run(*state, &other, YK_POSITION_UPDATE_OWN_STEP, 0.002, 60, &end[1]);
    assert_close(end[1].position, end[0].position, 1e-6);
    assert_close(end[1].velocity, end[0].velocity, 1e-4);
    assert_close(end[1].angular_velocity, end[0].angular_velocity, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stiff_bushing),
                                       cmocka_unit_test(test_integrated_positions),
                                       cmocka_unit_test(test_units_and_axes)};
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
