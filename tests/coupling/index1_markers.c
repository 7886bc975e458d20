/* The scheme index1 on joints between markers: orders on the double pendulum and on joints whose
 * directions turn, momentum, chains, prescribed motions. */
#include <stdlib.h>
#include <string.h>

#include "any_scheme.h"
#include "coupling/system_arrays.h"
#include "free_body.h"
#include "math/so3.h"
#include "test.h"
#include "the_context.h"

enum { BODIES_MAX = 40 };

typedef struct bed {
    int count;
    yk_subsystem *bodies[BODIES_MAX];
    const char *names[BODIES_MAX];
    yk_interface_def interfaces[BODIES_MAX];
    int interface_count;
    yk_system *system;
} bed;

static any_scheme index1(int degree)
{
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_index1();
    scheme.degree = degree;
    scheme.tolerance = 0;
    scheme.relative_tolerance = 1e-11;
    return scheme;
}

static int add_body(bed *b, const free_body_def *def)
{
    b->bodies[b->count] = free_body_create(def);
    b->names[b->count] = "body";
    assert_non_null(b->bodies[b->count]);
    return b->count++;
}

/* Joins port a of body `from` (which takes the wrench) with port b of body `to` (whose frame
 * counts). */
static yk_interface_def *join(bed *b, int from, int port_a, int to, int port_b, unsigned axes)
{
    yk_interface_def *interface = &b->interfaces[b->interface_count++];
    *interface = (yk_interface_def){.name = "joint",
                                    .wrench_subsystem = {from},
                                    .wrench_port = {port_a},
                                    .motion_subsystem = {to},
                                    .motion_port = {port_b},
                                    .constrained_axes = axes};
    return interface;
}

static void open_bed(bed *b, const any_scheme *scheme, double h)
{
    yk_system_description def = {.subsystems = b->bodies,
                                 .names = b->names,
                                 .subsystem_count = b->count,
                                 .interfaces = b->interfaces,
                                 .interface_count = b->interface_count,
                                 .step = h};
    yk_status status = any_scheme_create(context, &def, scheme, &b->system);
    if (status == YK_OK)
        status = yk_system_initialize(b->system);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
}

static void close_bed(bed *b)
{
    yk_system_destroy(b->system);
    for (int i = 0; i < b->count; i++)
        b->bodies[i]->ops->destroy(b->bodies[i]);
}

static void run(bed *b, int steps)
{
    for (int i = 0; i < steps; i++) {
        yk_status status = yk_system_step(b->system, NULL);
        if (status != YK_OK)
            print_error("step %d: %s\n", i, yk_last_message(context));
        assert_int_equal(status, YK_OK);
    }
}

static const double LENGTH = 1, GRAVITY = 9.81;

/* A uniform rod along x of length 1 m and 1 kg, swinging about z; its ends are its ports. */
static free_body_def rod(double angle, yk_vec3 start)
{
    double inertia = LENGTH * LENGTH / 12;
    yk_vec3 along = {cos(angle), sin(angle), 0};
    return (free_body_def){.mass = 1,
                           .inertia = {0.01, inertia, inertia},
                           .gravity = {0, -GRAVITY, 0},
                           .position = yk_v3_axpy(LENGTH / 2, along, start),
                           .orientation = {cos(angle / 2), 0, 0, sin(angle / 2)},
                           .port_count = 2,
                           .offset = {{-LENGTH / 2, 0, 0}, {LENGTH / 2, 0, 0}},
                           .substeps = 24};
}

/* A chain of rods from the ground, at two angles in turn. */
static void hang_rods(bed *b, int rods, double odd, double even, unsigned axes)
{
    *b = (bed){0};
    add_body(b, &(free_body_def){.port_count = 1, .substeps = 1});
    yk_vec3 end = {0, 0, 0};
    for (int i = 0; i < rods; i++) {
        double a = i % 2 ? even : odd;
        free_body_def def = rod(a, end);
        int body = add_body(b, &def);
        join(b, body, 0, i ? body - 1 : 0, i ? 1 : 0, axes);
        end = yk_v3_axpy(LENGTH, yk_v3(cos(a), sin(a), 0), end);
    }
}

/* The first at the angle, the others in zigzag. */
static void hang_chain(bed *b, int rods, double angle, unsigned axes)
{
    hang_rods(b, rods, angle, -angle, axes);
}

/* The double pendulum of paper index1 4.2 in its two angles, by the classical Runge-Kutta
 * method. */
static void pendulum_rates(const double y[4], double rate[4])
{
    double a = y[0], b = y[1], c = cos(a - b), s = sin(a - b);
    double m11 = 4.0 / 3, m22 = 1.0 / 3, m12 = 0.5 * c;
    double f1 = -0.5 * s * y[3] * y[3] - 1.5 * GRAVITY * cos(a),
           f2 = 0.5 * s * y[2] * y[2] - 0.5 * GRAVITY * cos(b);
    double det = m11 * m22 - m12 * m12;
    rate[0] = y[2], rate[1] = y[3];
    rate[2] = (m22 * f1 - m12 * f2) / det, rate[3] = (m11 * f2 - m12 * f1) / det;
}

static void exact_pendulum(double t, double y[4])
{
    enum { STEPS = 4000 };
    double h = t / STEPS, k[4][4], z[4];
    y[0] = YK_PI / 4, y[1] = -YK_PI / 4, y[2] = y[3] = 0;
    for (int n = 0; n < STEPS; n++) {
        pendulum_rates(y, k[0]);
        for (int i = 0; i < 4; i++)
            z[i] = y[i] + h / 2 * k[0][i];
        pendulum_rates(z, k[1]);
        for (int i = 0; i < 4; i++)
            z[i] = y[i] + h / 2 * k[1][i];
        pendulum_rates(z, k[2]);
        for (int i = 0; i < 4; i++)
            z[i] = y[i] + h * k[2][i];
        pendulum_rates(z, k[3]);
        for (int i = 0; i < 4; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* Distance of the double pendulum's tip from the exact one. */
static double tip_error(const any_scheme *scheme, unsigned axes, int steps, double end)
{
    bed b;
    double y[4];
    hang_chain(&b, 2, YK_PI / 4, axes);
    open_bed(&b, scheme, end / steps);
    run(&b, steps);
    exact_pendulum(end, y);
    yk_vec3 tip = {cos(y[0]) + cos(y[1]), sin(y[0]) + sin(y[1]), 0};
    double error = yk_v3_norm(yk_v3_sub(
        yk_system_port_value(b.system, (yk_subsystem_id){2}, (yk_port_id){1})->motion.position,
        tip));
    close_bed(&b);
    return error;
}

static void double_pendulum_has_the_orders_of_the_paper(void **state)
{
    (void)state;
    static const unsigned joints[] = {YK_AXES_TRANSLATION, YK_AXES_ALL & ~YK_AXIS_RZ};
    for (int i = 0; i < 2; i++) {
        for (int k = 2; k < 4; k++) {
            any_scheme scheme = index1(k);
            int steps = k == 2 ? 80 : 20;
            double coarse = tip_error(&scheme, joints[i], steps, 0.5);
            for (int halving = 0; halving < (k == 2 ? 1 : 2); halving++) {
                double fine = tip_error(&scheme, joints[i], steps *= 2, 0.5);
                assert_near(log2(coarse / fine), k + 3, 0.1);
                coarse = fine;
            }
        }
    }
}

/* A single correction is enough too, once the steps are small: the error is that of the iterated
 * scheme. */
static void one_newton_step_has_the_same_order(void **state)
{
    (void)state;
    for (int k = 2; k < 4; k++) {
        any_scheme iterated = index1(k), single = index1(k);
        single.iterations = 1;
        int steps = k == 2 ? 160 : 80;
        double error = tip_error(&iterated, YK_AXES_TRANSLATION, steps, 0.5);
        assert_true(tip_error(&single, YK_AXES_TRANSLATION, steps, 0.5) < 3 * error);
    }
}

/* A heavy top on the ground and a body on top of it behind the joint, both turning as one at the
 * start. */
static void open_top(bed *b, unsigned axes, const yk_relative_motion *drive,
                     const any_scheme *scheme, double h)
{
    *b = (bed){0};
    yk_vec3 spin = {1.5, -2, 4}, first = {0.1, 0.5, 0.3}, second = {0.4, 0.9, 0.8};
    yk_quat tilt = yk_so3_exp(yk_v3(0.3, -0.5, 0.7));
    add_body(b, &(free_body_def){.port_count = 1, .substeps = 1});
    add_body(b, &(free_body_def){.mass = 2,
                                 .inertia = {0.3, 0.5, 0.4},
                                 .gravity = {0, 0, -GRAVITY},
                                 .position = first,
                                 .velocity = yk_v3_cross(spin, first),
                                 .angular_velocity = spin,
                                 .port_count = 2,
                                 .offset = {yk_v3_neg(first), {0.1, 0.2, 0.1}},
                                 .rotation = {{0}, tilt},
                                 .substeps = 24});
    add_body(b,
             &(free_body_def){.mass = 1,
                              .inertia = {0.08, 0.05, 0.1},
                              .gravity = {0, 0, -GRAVITY},
                              .position = second,
                              .velocity = yk_v3_cross(spin, second),
                              .angular_velocity = spin,
                              .port_count = 1,
                              .offset = {yk_v3_sub(yk_v3_add(first, yk_v3(0.1, 0.2, 0.1)), second)},
                              .rotation = {tilt},
                              .substeps = 24});
    join(b, 1, 0, 0, 0, YK_AXES_TRANSLATION);
    join(b, 2, 0, 1, 1, axes)->drive = drive;
    open_bed(b, scheme, h);
}

static void run_top(unsigned axes, const yk_relative_motion *drive, const any_scheme *scheme,
                    int steps, yk_motion *m)
{
    bed b;
    open_top(&b, axes, drive, scheme, 0.4 / steps);
    run(&b, steps);
    *m = yk_system_port_value(b.system, (yk_subsystem_id){2}, (yk_port_id){0})->motion;
    close_bed(&b);
}

static double distance(const yk_motion *a, const yk_motion *b)
{
    return yk_v3_norm(yk_v3_sub(a->position, b->position)) +
           yk_v3_norm(yk_so3_log(yk_q_mul(a->orientation, yk_q_conjugate(b->orientation))));
}

static double observed_order(unsigned axes, const yk_relative_motion *drive, int degree, int steps)
{
    any_scheme scheme = index1(degree);
    yk_motion m[3];
    for (int i = 0; i < 3; i++)
        run_top(axes, drive, &scheme, steps << i, &m[i]);
    return log2(distance(&m[0], &m[1]) / distance(&m[1], &m[2]));
}

/* Clamp, revolute, prismatic, cylindrical, planar, universal, in line, in plane, and others by
 * their axes. */
static void directions_that_turn_keep_the_order(void **state)
{
    (void)state;
    static const unsigned joints[] = {YK_AXES_ALL,
                                      YK_AXES_ALL & ~YK_AXIS_RZ,
                                      YK_AXES_ALL & ~YK_AXIS_Z,
                                      YK_AXES_ALL & ~(YK_AXIS_Z | YK_AXIS_RZ),
                                      YK_AXIS_Z | YK_AXIS_RX | YK_AXIS_RY,
                                      YK_AXES_TRANSLATION | YK_AXIS_RZ,
                                      YK_AXIS_X | YK_AXIS_Y,
                                      YK_AXIS_Z,
                                      YK_AXIS_RX,
                                      YK_AXES_ROTATION,
                                      YK_AXIS_X | YK_AXIS_RY};
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        assert_near(observed_order(joints[i], NULL, 2, 20), 5, 0.15);
        assert_near(observed_order(joints[i], NULL, 3, 10), 6, 0.35);
    }
}

/* The joint turns by 0.6 (1 - cos 3t) about z and slides by 0.2 (1 - cos 3t) along x: at rest at
 * the start. */
static void swing(void *user, double t, double value[3])
{
    double size = *(const double *)user;
    value[0] = size * (1 - cos(3 * t)), value[1] = 3 * size * sin(3 * t),
    value[2] = 9 * size * cos(3 * t);
}

static void prescribed_motions_are_followed_with_the_same_order(void **state)
{
    (void)state;
    static double slide = 0.2, rotation = 0.6;
    const yk_relative_motion drive[6] = {[0] = {swing, &slide}, [5] = {swing, &rotation}};
    assert_near(observed_order(YK_AXES_ALL, drive, 2, 20), 5, 0.15);
    assert_near(observed_order(YK_AXES_ALL, drive, 3, 10), 6, 0.35);
    bed b;
    any_scheme scheme = index1(3);
    open_top(&b, YK_AXES_ALL, drive, &scheme, 0.01);
    for (int n = 1; n <= 40; n++) {
        run(&b, 1);
        const yk_motion
            *to = &yk_system_port_value(b.system, (yk_subsystem_id){2}, (yk_port_id){0})->motion,
            *from = &yk_system_port_value(b.system, (yk_subsystem_id){1}, (yk_port_id){1})->motion;
        yk_vec3 displacement =
            yk_q_rotate_back(from->orientation, yk_v3_sub(to->position, from->position));
        yk_vec3 angle = yk_so3_log(yk_q_mul(yk_q_conjugate(from->orientation), to->orientation));
        double phase = 1 - cos(3 * 0.01 * n);
        assert_near(displacement.x, slide * phase, 1e-11);
        assert_near(angle.z, rotation * phase, 1e-11);
        assert_near(fabs(displacement.y) + fabs(displacement.z) + fabs(angle.x) + fabs(angle.y), 0,
                    1e-11);
    }
    yk_interface_statistics s = yk_system_interface_statistics(b.system, (yk_interface_id){1});
    assert_near(s.max_gap.position + s.max_gap.rotation, 0,
                1e-11);                     /* the prescribed motion is no gap, */
    assert_near(s.energy_created, 0, 1e-9); /* and its work not that of the coupling */
    close_bed(&b);
}

static void what_one_side_receives_the_other_gives(void **state)
{
    (void)state;
    static const unsigned joints[] = {YK_AXES_ALL, YK_AXES_ALL & ~YK_AXIS_Z,
                                      YK_AXIS_Z | YK_AXIS_RX | YK_AXIS_RY};
    for (int i = 0; i < 3; i++) {
        bed b;
        any_scheme scheme = index1(3);
        open_top(&b, joints[i], NULL, &scheme, 0.01);
        for (int n = 0; n < 40; n++) {
            run(&b, 1);
            const yk_port_value *to = yk_system_port_value(b.system, (yk_subsystem_id){2},
                                                           (yk_port_id){0}),
                                *from = yk_system_port_value(b.system, (yk_subsystem_id){1},
                                                             (yk_port_id){1});
            yk_vec3 arm = yk_v3_sub(to->motion.position, from->motion.position);
            yk_vec3 moment =
                yk_v3_add(from->wrench.torque,
                          yk_v3_add(to->wrench.torque, yk_v3_cross(arm, to->wrench.force)));
            double size = yk_v3_norm(to->wrench.force) + yk_v3_norm(to->wrench.torque);
            assert_near(yk_v3_norm(yk_v3_add(to->wrench.force, from->wrench.force)), 0,
                        1e-14 * size);
            assert_near(yk_v3_norm(moment), 0, 1e-10 * size);
        }
        assert_near(yk_system_interface_statistics(b.system, (yk_interface_id){1}).energy_created,
                    0, 1e-9);
        close_bed(&b);
    }
}

typedef struct chain_cost {
    int64_t iterations;
    double jacobians, difference_runs;
} chain_cost;

static chain_cost run_chain(int rods, int threads, int steps, double end, double *tip)
{
    bed b;
    any_scheme scheme = index1(3);
    scheme.threads = threads;
    scheme.relative_tolerance = 1e-10;
    hang_chain(&b, rods, 0.2, YK_AXES_ALL & ~YK_AXIS_RZ);
    open_bed(&b, &scheme, end / steps);
    run(&b, steps);
    yk_vec3 place =
        yk_system_port_value(b.system, (yk_subsystem_id){rods}, (yk_port_id){1})->motion.position;
    tip[0] = place.x, tip[1] = place.y, tip[2] = place.z;
    chain_cost cost = {.iterations = yk_system_get_statistics(b.system).iterations,
                       .jacobians = scheme_statistic(b.system, "coupling Jacobians"),
                       .difference_runs = scheme_statistic(b.system, "calls of subsystems")};
    close_bed(&b);
    return cost;
}

/* Neither the number of iterations nor the runs for a subsystem's part of the Jacobian grow with
 * the chain. */
static void long_chains_cost_no_more_per_subsystem(void **state)
{
    (void)state;
    double tip[3];
    chain_cost two = run_chain(2, 1, 20, 0.1, tip), all = run_chain(32, 1, 20, 0.1, tip);
    assert_true(all.iterations <= two.iterations + 10);
    double per_two = two.difference_runs / two.jacobians / 2;
    double per_all = all.difference_runs / all.jacobians / 32;
    assert_true(per_all <= 2 * 15 * 1.05 &&
                per_two >= 15); /* five rows, three parameters, at one joint or two */
}

/* A chain that swings straight is as slow with many links as with few, so a large step needs no
 * more iterations. */
static void straight_chains_need_the_same_iterations(void **state)
{
    (void)state;
    enum { STEPS = 6 };
    static const int rods[] = {2, 8, 32};
    for (int i = 0; i < 3; i++) {
        bed b;
        any_scheme scheme = index1(3);
        scheme.jacobian = YK_JACOBIAN_UPDATE_EVERY_STEP;
        scheme.tolerance = 1e-6, scheme.relative_tolerance = 1e-9;
        hang_rods(&b, rods[i], -1.4, -1.4, YK_AXES_ALL & ~YK_AXIS_RZ);
        open_bed(&b, &scheme, 0.01);
        run(&b, STEPS);
        assert_in_range(yk_system_get_statistics(b.system).iterations, 2 * STEPS, 2 * STEPS + 1);
        close_bed(&b);
    }
}

/* Two rods fall through a right angle: in their own axes they answer alike all the time. */
static void the_jacobian_of_turning_bodies_lasts(void **state)
{
    (void)state;
    bed b;
    any_scheme scheme = index1(3);
    scheme.relative_tolerance = 1e-9;
    hang_rods(&b, 2, 0, -0.1, YK_AXES_ALL & ~YK_AXIS_RZ);
    open_bed(&b, &scheme, 0.005);
    run(&b, 120);
    assert_true(
        yk_system_port_value(b.system, (yk_subsystem_id){1}, (yk_port_id){1})->motion.position.y <
        -0.9);
    yk_system_statistics s = yk_system_get_statistics(b.system);
    assert_in_range((int)scheme_statistic(b.system, "coupling Jacobians"), 1, 3);
    assert_true(s.iterations < 4 * 120);
    close_bed(&b);
}

static void long_chains_keep_the_order(void **state)
{
    (void)state;
    double coarse[3], middle[3], fine[3];
    run_chain(8, 1, 10, 0.2, coarse), run_chain(8, 1, 20, 0.2, middle),
        run_chain(8, 1, 40, 0.2, fine);
    double first = hypot(coarse[0] - middle[0], coarse[1] - middle[1]);
    double second = hypot(middle[0] - fine[0], middle[1] - fine[1]);
    assert_true(log2(first / second) > 5.6);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    double one[3], two[3], many[3];
    run_chain(5, 1, 10, 0.1, one), run_chain(5, 2, 10, 0.1, two), run_chain(5, 4, 10, 0.1, many);
    assert_memory_equal(one, two, sizeof one);
    assert_memory_equal(one, many, sizeof one);
}

/* Four bars with parallel axes, three of them movable: three constraints too many. */
static void redundant_joints_share_their_wrenches(void **state)
{
    (void)state;
    bed b = {0};
    add_body(&b, &(free_body_def){
                     .port_count = 2, .offset = {{0, 0, 0}, {LENGTH, 0, 0}}, .substeps = 1});
    free_body_def up = rod(2, yk_v3(0, 0, 0)), along = rod(0, yk_v3(cos(2.0), sin(2.0), 0)),
                  down = rod(2, yk_v3(LENGTH, 0, 0));
    add_body(&b, &up), add_body(&b, &along), add_body(&b, &down);
    unsigned revolute = YK_AXES_ALL & ~YK_AXIS_RZ;
    join(&b, 1, 0, 0, 0, revolute), join(&b, 2, 0, 1, 1, revolute);
    join(&b, 3, 1, 2, 1, revolute), join(&b, 3, 0, 0, 1, revolute);
    any_scheme scheme = index1(3);
    scheme.relative_tolerance = 1e-8;
    open_bed(&b, &scheme, 0.01);
    run(&b, 50);
    for (int i = 0; i < 4; i++) {
        yk_interface_gap gap = yk_system_interface_gap(b.system, (yk_interface_id){i});
        assert_near(gap.position + gap.rotation, 0, 1e-9);
    }
    /* A parallelogram: the coupler stays parallel to the ground, and the energy is kept. */
    yk_energy sum = {0};
    for (int i = 1; i < 4; i++) {
        yk_energy e;
        assert_true(yk_system_energy(b.system, (yk_subsystem_id){i}, &e));
        sum.kinetic += e.kinetic, sum.potential += e.potential;
    }
    assert_near(
        yk_system_port_value(b.system, (yk_subsystem_id){2}, (yk_port_id){0})->motion.orientation.z,
        0, 1e-8);
    assert_near(sum.kinetic + sum.potential, GRAVITY * 2 * sin(2.0), 1e-7);
    close_bed(&b);
}

/* The second rod in millimetres and grams, in a frame of its own. */
static void units_and_frames_of_subsystems_are_respected(void **state)
{
    (void)state;
    yk_motion plain, placed;
    for (int i = 0; i < 2; i++) {
        bed b;
        hang_chain(&b, 1, 0.4, YK_AXES_TRANSLATION);
        free_body_def def = rod(-0.4, yk_v3(cos(0.4), sin(0.4), 0));
        yk_transform places[3] = {yk_transform_identity(), yk_transform_identity(),
                                  yk_transform_identity()};
        if (i == 1) {
            yk_transform *p = &places[2];
            *p = (yk_transform){{0.3, -0.2, 0.7}, yk_so3_exp(yk_v3(0.5, 1.1, -0.3)), 1e-3, 1e-3};
            yk_quat back = yk_q_conjugate(p->orientation);
            def.position =
                yk_v3_scale(1e3, yk_q_rotate(back, yk_v3_sub(def.position, p->position)));
            def.gravity = yk_v3_scale(1e3, yk_q_rotate(back, def.gravity));
            def.orientation = yk_q_mul(back, def.orientation);
            def.mass *= 1e3, def.inertia = yk_v3_scale(1e9, def.inertia);
            for (int port = 0; port < 2; port++)
                def.offset[port] = yk_v3_scale(1e3, def.offset[port]);
        }
        int body = add_body(&b, &def);
        join(&b, body, 0, 1, 1, YK_AXES_ALL & ~YK_AXIS_RZ);
        any_scheme scheme = index1(3);
        yk_system_description system = {.subsystems = b.bodies,
                                        .names = b.names,
                                        .subsystem_count = b.count,
                                        .transforms = places,
                                        .interfaces = b.interfaces,
                                        .interface_count = b.interface_count,
                                        .step = 0.01};
        assert_int_equal(any_scheme_create(context, &system, &scheme, &b.system), YK_OK);
        assert_int_equal(yk_system_initialize(b.system), YK_OK);
        run(&b, 30);
        *(i ? &placed : &plain) =
            yk_system_port_value(b.system, (yk_subsystem_id){2}, (yk_port_id){1})->motion;
        close_bed(&b);
    }
    assert_near(distance(&plain, &placed), 0, 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum_has_the_orders_of_the_paper),
        cmocka_unit_test(one_newton_step_has_the_same_order),
        cmocka_unit_test(directions_that_turn_keep_the_order),
        cmocka_unit_test(prescribed_motions_are_followed_with_the_same_order),
        cmocka_unit_test(what_one_side_receives_the_other_gives),
        cmocka_unit_test(long_chains_cost_no_more_per_subsystem),
        cmocka_unit_test(straight_chains_need_the_same_iterations),
        cmocka_unit_test(the_jacobian_of_turning_bodies_lasts),
        cmocka_unit_test(long_chains_keep_the_order),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(redundant_joints_share_their_wrenches),
        cmocka_unit_test(units_and_frames_of_subsystems_are_respected),
    };
    return cmocka_run_group_tests_name("index1 on markers", tests, open_context, close_context);
}
