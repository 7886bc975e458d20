/* Subsystems in other units and axes, with substeps, and several subsystems coupled to one: the
 * coupled motion must not change. */
#include <stdlib.h>
#include <string.h>

#include "any_scheme.h"
#include "coupling/interface.h"
#include "coupling/system_arrays.h"
#include "math/polynomial.h"
#include "math/so3.h"
#include "test.h"
#include "yoke/oscillator.h"

static yk_context *context;

enum { PARTS_MAX = 4 };
static const char *const names[PARTS_MAX] = {"base", "one", "two", "three"};

typedef struct rig {
    yk_subsystem *parts[PARTS_MAX];
    int count;
    yk_system *system;
} rig;

/* part 0 takes the wrenches of all others (oscillators have one port, so only part 1 is joined to
 * it). */
static void open_rig(rig *r, const yk_oscillator_def *defs, int count,
                     const yk_transform *transforms, const int *substeps, const any_scheme *scheme,
                     double h)
{
    *r = (rig){.count = count};
    for (int i = 0; i < count; i++)
        assert_int_equal(yk_oscillator_create(context, &defs[i], &r->parts[i]), YK_OK);
    yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    yk_system_description def = {.subsystems = r->parts,
                                 .names = names,
                                 .subsystem_count = count,
                                 .transforms = transforms,
                                 .substeps = substeps,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .step = h};
    assert_int_equal(any_scheme_create(context, &def, scheme, &r->system), YK_OK);
    assert_int_equal(yk_system_initialize(r->system), YK_OK);
}

static void close_rig(rig *r)
{
    yk_system_destroy(r->system);
    for (int i = 0; i < r->count; i++)
        r->parts[i]->ops->destroy(r->parts[i]);
}

/* A light second mass: a wrench side with substeps answers more softly, and the explicit scheme
 * is stable with it only up to a mass ratio of about one half (yoke stability --integrators
 * exact,semi-implicit). */
static void two_masses(yk_oscillator_def defs[2])
{
    defs[0] = yk_oscillator_default(), defs[1] = yk_oscillator_default();
    defs[0].stiffness = 5000, defs[0].velocity = defs[1].velocity = 0.5;
    defs[1].mass = 0.1, defs[1].stiffness = 30, defs[1].damping = 2;
    defs[1].integrator = YK_OSCILLATOR_SEMI_IMPLICIT;
}

/* The same second mass in millimetres and grams: N/m and N s/m count in g/s^2 and g/s, m in mm. */
static void to_millimetres(yk_oscillator_def *def)
{
    def->mass *= 1e3, def->stiffness *= 1e3, def->damping *= 1e3;
    def->position *= 1e3, def->velocity *= 1e3;
}

static void units_of_a_subsystem_do_not_change_the_motion(void **state)
{
    (void)state;
    const yk_scheme_ops *const kinds[] = {yk_scheme_explicit(), yk_scheme_tight()};
    for (int k = 0; k < 2; k++) {
        any_scheme scheme = any_scheme_default();
        scheme.ops = kinds[k];
        yk_oscillator_def metres[2], mixed[2];
        two_masses(metres), two_masses(mixed);
        to_millimetres(&mixed[1]);
        yk_transform transforms[2] = {yk_transform_identity(), yk_transform_identity()};
        transforms[1].length_unit = transforms[1].mass_unit = 1e-3;
        rig a, b;
        open_rig(&a, metres, 2, NULL, NULL, &scheme, 1e-4);
        open_rig(&b, mixed, 2, transforms, NULL, &scheme, 1e-4);
        for (int n = 0; n < 500; n++) {
            assert_int_equal(yk_system_step(a.system, NULL), YK_OK);
            assert_int_equal(yk_system_step(b.system, NULL), YK_OK);
        }
        for (int i = 0; i < 2; i++) {
            const yk_port_value *one = yk_system_port_value(a.system, (yk_subsystem_id){i},
                                                            (yk_port_id){0}),
                                *two = yk_system_port_value(b.system, (yk_subsystem_id){i},
                                                            (yk_port_id){0});
            assert_near(two->motion.position.x, one->motion.position.x, 1e-12);
            assert_near(two->wrench.force.x, one->wrench.force.x, 1e-6);
            yk_energy here, there;
            assert_true(yk_system_energy(a.system, (yk_subsystem_id){i}, &here) &&
                        yk_system_energy(b.system, (yk_subsystem_id){i}, &there));
            assert_near(there.kinetic, here.kinetic, 1e-10);
            assert_near(there.dissipated, here.dissipated, 1e-10);
        }
        close_rig(&a), close_rig(&b);
    }
}

/* The same with rim, which passes the wrench side's inverse mass to the fast one: whichever side
 * counts in millimetres. */
static void units_do_not_change_a_reduced_model(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_rim();
    const int substeps[2] = {1, 5};
    for (int in_millimetres = 0; in_millimetres < 2; in_millimetres++) {
        yk_oscillator_def metres[2], mixed[2];
        two_masses(metres), two_masses(mixed);
        to_millimetres(&mixed[in_millimetres]);
        yk_transform transforms[2] = {yk_transform_identity(), yk_transform_identity()};
        transforms[in_millimetres].length_unit = transforms[in_millimetres].mass_unit = 1e-3;
        rig a, b;
        open_rig(&a, metres, 2, NULL, substeps, &scheme, 1e-3);
        open_rig(&b, mixed, 2, transforms, substeps, &scheme, 1e-3);
        for (int n = 0; n < 200; n++) {
            assert_int_equal(yk_system_step(a.system, NULL), YK_OK);
            assert_int_equal(yk_system_step(b.system, NULL), YK_OK);
        }
        for (int i = 0; i < 2; i++) {
            const yk_port_value *one =
                yk_system_port_value(a.system, (yk_subsystem_id){i}, (yk_port_id){0});
            const yk_port_value *two =
                yk_system_port_value(b.system, (yk_subsystem_id){i}, (yk_port_id){0});
            assert_near(two->motion.position.x, one->motion.position.x, 1e-11);
            assert_near(two->wrench.force.x, one->wrench.force.x, 1e-6);
        }
        close_rig(&a), close_rig(&b);
    }
}

/* Velocities per wrench: of a scalar port m/s per N, of a marker port with any axes so that
 * w^T Y w, the power of the wrench on its own motion, keeps its value. */
static void responses_change_units(void **state)
{
    (void)state;
    yk_transform units = {
        .orientation = yk_so3_exp(yk_v3(0.4, -0.9, 1.3)), .length_unit = 0.1, .mass_unit = 3};

    double two[4] = {2, -0.5, -0.25, 7};
    yk_transform_response(&units, YK_PORT_SCALAR, 0, 2, two);
    yk_transform_response(&units, YK_PORT_SCALAR, 1, 2, two);
    assert_relative(two[0], 2.0 / 3, 1e-14); /* of one kilogram: length / (mass length) */
    assert_relative(two[1], -0.5 / 3, 1e-14);
    assert_relative(two[2], -0.25 / 3, 1e-14);
    assert_relative(two[3], 7.0 / 3, 1e-14);

    /* Own wrench F, own motion Y F; outside both by the rules for values. */
    double own[36], outside[36];
    for (int i = 0; i < 36; i++)
        own[i] = outside[i] = sin(1 + 3.7 * i) + (i % 7 == 0 ? 6 : 0);
    yk_transform_response(&units, YK_PORT_MARKER, 0, 6, outside);
    double wrench[6] = {1, -2, 0.5, 0.3, 0.7, -1.1}, motion[6] = {0};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++)
            motion[i] += own[6 * i + k] * wrench[k];
    yk_port_value value = {.motion = {.velocity = {motion[0], motion[1], motion[2]},
                                      .orientation = {1, 0, 0, 0},
                                      .angular_velocity = {motion[3], motion[4], motion[5]}},
                           .wrench = {{1, -2, 0.5}, {0.3, 0.7, -1.1}}};
    yk_transform_value(&units, YK_PORT_MARKER, &value);
    const double outer[6] = {value.wrench.force.x,  value.wrench.force.y,  value.wrench.force.z,
                             value.wrench.torque.x, value.wrench.torque.y, value.wrench.torque.z};
    const double expected[6] = {value.motion.velocity.x,         value.motion.velocity.y,
                                value.motion.velocity.z,         value.motion.angular_velocity.x,
                                value.motion.angular_velocity.y, value.motion.angular_velocity.z};
    for (int i = 0; i < 6; i++) {
        double velocity = 0;
        for (int k = 0; k < 6; k++)
            velocity += outside[6 * i + k] * outer[k];
        assert_near(velocity, expected[i], 1e-12);
    }
}

/* paper tight (20): outward and inward are inverse, and power keeps its value. */
static void placements_keep_power_and_come_back(void **state)
{
    (void)state;
    yk_transform place = {.position = {1, -2, 3},
                          .orientation = yk_so3_exp(yk_v3(0.4, -0.9, 1.3)),
                          .length_unit = 1e-3,
                          .mass_unit = 1e-3};
    yk_port_value value = {.motion = {.position = {10, 20, -5},
                                      .velocity = {100, -40, 7},
                                      .orientation = yk_so3_exp(yk_v3(-1, 0.2, 0.5)),
                                      .angular_velocity = {3, -2, 1}},
                           .wrench = {{2e6, 1e6, -5e5}, {3e6, -1e6, 2e6}}};
    yk_port_value out = value;
    yk_transform_value(&place, YK_PORT_MARKER, &out);
    double inside = yk_v3_dot(value.wrench.force, value.motion.velocity) +
                    yk_v3_dot(value.wrench.torque, value.motion.angular_velocity);
    double outside = yk_v3_dot(out.wrench.force, out.motion.velocity) +
                     yk_v3_dot(out.wrench.torque, out.motion.angular_velocity);
    assert_relative(outside, inside * 1e-9, 1e-13); /* g mm^2/s^3 to W */
    yk_input input = {.degree = 1, .base_orientation = out.motion.orientation}, own;
    input.linear[0] = out.motion.position, input.linear[1] = out.motion.velocity;
    input.angular[1] = out.motion.angular_velocity;
    yk_transform_input(&place, YK_PORT_MARKER, YK_CAUSALITY_MOTION_INPUT, &input, &own);
    assert_near(yk_v3_norm(yk_v3_sub(own.linear[0], value.motion.position)), 0, 1e-9);
    assert_near(yk_v3_norm(yk_v3_sub(own.linear[1], value.motion.velocity)), 0, 1e-10);
    assert_near(yk_v3_norm(yk_v3_sub(own.angular[1], value.motion.angular_velocity)), 0, 1e-13);
    yk_quat rotation = yk_q_mul(yk_q_conjugate(value.motion.orientation), own.base_orientation);
    assert_near(yk_v3_norm(yk_so3_log(rotation)), 0, 1e-14);
}

static double error_with_substeps(int first, int second, double h)
{
    yk_oscillator_def defs[2];
    two_masses(defs);
    int substeps[2] = {first, second};
    any_scheme scheme = any_scheme_default();
    rig r;
    open_rig(&r, defs, 2, NULL, substeps, &scheme, h);
    int steps = (int)lround(0.05 / h);
    for (int n = 0; n < steps; n++)
        assert_int_equal(yk_system_step(r.system, NULL), YK_OK);
    double x =
        yk_system_port_value(r.system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
    close_rig(&r);
    /* m x'' + c x' + k x = 0 of both masses together. */
    double m = 1.1, decay = 2 / (2 * m), omega = sqrt(5030 / m - decay * decay);
    return fabs(x - 0.5 / omega * exp(-decay * 0.05) * sin(omega * 0.05));
}

static void substeps_converge_with_first_order(void **state)
{
    (void)state;
    const int plans[][2] = {{1, 5}, {4, 1}, {3, 2}};
    for (int i = 0; i < 3; i++) {
        double coarse = error_with_substeps(plans[i][0], plans[i][1], 2e-4);
        double fine = error_with_substeps(plans[i][0], plans[i][1], 1e-4);
        double order = log2(coarse / fine);
        if (!(order > 0.85))
            print_error("substeps %d, %d: order %.3f\n", plans[i][0], plans[i][1], order);
        assert_true(order > 0.85);
    }
}

/* Six steps of a stiff fixed point in two iterations do not converge; halved often enough they
 * do. */
static void steps_that_do_not_converge_are_halved(void **state)
{
    (void)state;
    yk_oscillator_def defs[2];
    two_masses(defs);
    defs[1].mass = 0.8;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight(), scheme.tolerance = 0.3, scheme.iterations = 2;
    scheme.acceleration = YK_ACCELERATION_NONE;
    rig r;
    open_rig(&r, defs, 2, NULL, NULL, &scheme, 2e-3);
    yk_status status = YK_OK;
    for (int n = 0; n < 20 && status == YK_OK; n++)
        status = yk_system_step(r.system, NULL);
    assert_int_equal(status, YK_NOT_CONVERGED);
    close_rig(&r);
    scheme.halvings = 8;
    open_rig(&r, defs, 2, NULL, NULL, &scheme, 2e-3);
    for (int n = 0; n < 20; n++)
        assert_int_equal(yk_system_step(r.system, NULL), YK_OK);
    yk_system_statistics s = yk_system_get_statistics(r.system);
    assert_true(s.steps_halved > 0 && s.steps_not_converged == 0);
    assert_int_equal(s.steps, 20);
    assert_near(yk_system_time(r.system), 0.04, 1e-15);
    close_rig(&r);
}

/* All accelerations reach the same step; quasi-Newton needs no more sweeps than Aitken here. */
static void accelerated_steps_agree(void **state)
{
    (void)state;
    double x[3];
    for (int k = 0; k < 3; k++) {
        yk_oscillator_def defs[2];
        two_masses(defs);
        any_scheme scheme = any_scheme_default();
        scheme.ops = yk_scheme_tight(), scheme.tolerance = 1e-10, scheme.iterations = 100;
        scheme.acceleration = (yk_acceleration)k;
        rig r;
        open_rig(&r, defs, 2, NULL, NULL, &scheme, 1e-3);
        for (int n = 0; n < 50; n++)
            assert_int_equal(yk_system_step(r.system, NULL), YK_OK);
        x[k] = yk_system_port_value(r.system, (yk_subsystem_id){1}, (yk_port_id){0})
                   ->motion.position.x;
        if (k > 0)
            assert_true(yk_system_get_statistics(r.system).max_iterations <= 6);
        close_rig(&r);
    }
    assert_near(x[1], x[0], 1e-13);
    assert_near(x[2], x[0], 1e-13);
}

static void bad_placements_are_refused(void **state)
{
    (void)state;
    yk_oscillator_def defs[2];
    two_masses(defs);
    yk_subsystem *parts[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(yk_oscillator_create(context, &defs[i], &parts[i]), YK_OK);
    yk_transform transforms[2] = {yk_transform_identity(), yk_transform_identity()};
    int substeps[2] = {1, 0};
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .transforms = transforms,
                                 .substeps = substeps,
                                 .step = 1e-3};
    yk_system *system = NULL;
    assert_int_equal(yk_system_make(context, &def, &system), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "'one' has 0 substeps"));
    substeps[1] = 1, transforms[0].length_unit = 0;
    assert_int_equal(yk_system_make(context, &def, &system), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "'base': its units must be positive"));
    for (int i = 0; i < 2; i++)
        parts[i]->ops->destroy(parts[i]);
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_a_subsystem_do_not_change_the_motion),
        cmocka_unit_test(units_do_not_change_a_reduced_model),
        cmocka_unit_test(responses_change_units),
        cmocka_unit_test(placements_keep_power_and_come_back),
        cmocka_unit_test(substeps_converge_with_first_order),
        cmocka_unit_test(steps_that_do_not_converge_are_halved),
        cmocka_unit_test(accelerated_steps_agree),
        cmocka_unit_test(bad_placements_are_refused),
    };
    int failed = cmocka_run_group_tests_name("placement", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
