/* Inputs and errors of marker interfaces: rotations on SO(3), joints with free axes, and wrenches
 * in equilibrium. */
#include "coupling/interface.h"

#include "coupling/constraint.h"
#include "math/polynomial.h"
#include "math/so3.h"
#include "test.h"

static yk_motion motion_at(yk_vec3 position, yk_vec3 rotation)
{
    return (yk_motion){.position = position, .orientation = yk_so3_exp(rotation)};
}

/* Index-3 weights: the prescribed velocity reaches A's place in one step, by a rotation about a
 * fixed axis. */
static void position_weight_alone_reaches_the_partner(void **state)
{
    (void)state;
    const double h = 0.01;
    yk_input_weights weights = {1, 0, 0};
    yk_motion b = motion_at(yk_v3(1, 2, 3), yk_v3(0.3, -2.0, 0.4)),
              a = motion_at(yk_v3(1.1, 1.9, 3.2), yk_v3(1, 1, -1));
    yk_input input = {0};
    yk_input_modified(YK_PORT_MARKER, YK_AXES_ALL, &weights, h, &a, &b, &a, &input);
    yk_motion start = yk_input_motion(&input, YK_PORT_MARKER, 0),
              end = yk_input_motion(&input, YK_PORT_MARKER, h);
    assert_near(yk_v3_norm(yk_v3_sub(start.position, b.position)), 0, 1e-15);
    assert_near(yk_v3_norm(yk_v3_sub(end.position, a.position)), 0, 1e-14);
    assert_near(yk_v3_norm(yk_so3_log(yk_q_mul(end.orientation, yk_q_conjugate(a.orientation)))), 0,
                1e-13);
}

/* paper explicit (26): the velocity is the weighted mean, component by component, of translation
 * and rotation alike. */
static void weights_mix_position_velocity_and_acceleration(void **state)
{
    (void)state;
    const double h = 0.1;
    yk_input_weights weights = {2, 3, 5};
    yk_motion b = motion_at(yk_v3(0, 0, 0), yk_v3(0, 0, 0)),
              a = motion_at(yk_v3(0.1, 0, 0), yk_v3(0, 0, 0.2));
    a.velocity = yk_v3(7, 0, 0), a.acceleration = yk_v3(20, 0, 0), b.velocity = yk_v3(1, 0, 0);
    a.angular_velocity = yk_v3(0, 0, 4), b.angular_velocity = yk_v3(0, 0, 3),
    a.angular_acceleration = yk_v3(0, 0, -10);
    yk_input input = {0};
    yk_input_modified(YK_PORT_MARKER, YK_AXES_ALL, &weights, h, &a, &b, &a, &input);
    assert_near(input.linear[1].x, (2 * 1 + 3 * 7 + 5 * (1 + 0.1 * 20)) / 10, 1e-14);
    assert_near(input.angular[1].z, (2 * 2 + 3 * 4 + 5 * (3 - 0.1 * 10)) / 10, 1e-14);
}

/* A hinge may turn as far as it likes: only the tilt of its axis is an error. */
static void free_rotations_are_no_error(void **state)
{
    (void)state;
    yk_motion b = motion_at(yk_v3(0, 0, 0), yk_v3(0.2, 0.1, -0.4));
    const unsigned free_axis[3] = {YK_AXIS_RX, YK_AXIS_RY, YK_AXIS_RZ};
    for (int k = 0; k < 3; k++) {
        yk_vec3 axis = yk_v3(k == 0, k == 1, k == 2),
                tilt = yk_v3_scale(1e-3, yk_v3(k == 2, k == 0, k == 1));
        yk_motion a = b;
        a.orientation =
            yk_q_mul(b.orientation, yk_q_mul(yk_so3_exp(tilt), yk_so3_exp(yk_v3_scale(2.5, axis))));
        yk_interface_gap hinge =
            yk_compute_interface_gap(YK_PORT_MARKER, YK_AXES_ALL & ~free_axis[k], &a, &b);
        assert_near(hinge.rotation, 1e-3, 1e-12);
        assert_true(yk_compute_interface_gap(YK_PORT_MARKER, YK_AXES_ALL, &a, &b).rotation > 2.4);
        assert_near(yk_compute_interface_gap(YK_PORT_MARKER, YK_AXES_TRANSLATION, &a, &b).rotation,
                    0, 0);
    }
}

/* With two free rotations the third is restored to a right angle between an axis of each side. */
static void universal_joint_keeps_a_right_angle(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        unsigned constrained = YK_AXES_TRANSLATION | (unsigned)(YK_AXIS_RX << k);
        yk_vec3 first = yk_v3(k == 2, k == 0, k == 1), second = yk_v3(k == 1, k == 2, k == 0),
                third = yk_v3(k == 0, k == 1, k == 2);
        yk_motion b = motion_at(yk_v3(0, 0, 0), yk_v3(0.5, 0.2, 0.1)), a = b;
        /* From b, the joint turns about b's first axis and then about a's second: both are free. */
        yk_quat rotated =
            yk_q_mul(yk_so3_exp(yk_v3_scale(0.7, first)), yk_so3_exp(yk_v3_scale(-0.4, second)));
        a.orientation = yk_q_mul(b.orientation, rotated);
        assert_near(yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a, &b).rotation, 0,
                    1e-14);
        /* About the third axis it must not. */
        a.orientation = yk_q_mul(b.orientation, yk_so3_exp(yk_v3_scale(0.02, third)));
        assert_near(yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a, &b).rotation, 0.02,
                    1e-14);
        /* Axes that have become parallel are 90 degrees off. */
        a.orientation = yk_q_mul(b.orientation, yk_so3_exp(yk_v3_scale(YK_PI / 2, third)));
        assert_near(yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a, &b).rotation,
                    YK_PI / 2, 1e-7);
    }
}

/* Joints of every set of axes ------------------------------------------------------------------ */

static uint64_t random_state;

/* In [-1, 1), from a linear congruential generator. */
static double random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / (double)(1ull << 52) - 1;
}

static yk_vec3 random_vector(double size)
{
    double x = size * random_number(), y = size * random_number();
    return yk_v3(x, y, size * random_number());
}

static yk_motion random_motion(void)
{
    yk_motion m = motion_at(random_vector(2), random_vector(3));
    m.velocity = random_vector(3), m.angular_velocity = random_vector(4);
    return m;
}

/* A place of a that satisfies the joint, with the free coordinates anywhere. */
static yk_motion joined_motion(unsigned constrained, const yk_motion *b)
{
    yk_motion a = random_motion();
    yk_vec3 slide = random_vector(2);
    if (constrained & YK_AXIS_X)
        slide.x = 0;
    if (constrained & YK_AXIS_Y)
        slide.y = 0;
    if (constrained & YK_AXIS_Z)
        slide.z = 0;
    a.position = yk_v3_add(b->position, yk_q_rotate(b->orientation, slide));

    /* Free rotations one after the other, the first about an axis of b, the last about one of a;
     * those of a universal joint in the order of its cross. */
    yk_quat rotation = yk_q_identity();
    unsigned rotations = constrained >> 3;
    int start = rotations == 4 ? 0 : rotations == 1 ? 1 : rotations == 2 ? 2 : 0;
    for (int i = 0; i < 3; i++) {
        int k = (start + i) % 3;
        if (!(rotations >> k & 1))
            rotation = yk_q_mul(rotation, yk_so3_exp(yk_v3_scale(3 * random_number(),
                                                                 yk_v3(k == 0, k == 1, k == 2))));
    }
    a.orientation = yk_q_mul(b->orientation, rotation);
    return a;
}

/* A motion continued with constant velocities. */
static yk_motion coasted(const yk_motion *motion, double t)
{
    yk_motion m = *motion;
    m.position = yk_v3_axpy(t, m.velocity, m.position);
    m.orientation = yk_q_mul(yk_so3_exp(yk_v3_scale(t, m.angular_velocity)), motion->orientation);
    return m;
}

/* Norms of the rows of the joint that a smooth or nonsmooth subsystem keeps at a port that takes
 * motion: mechanics/joint.h with side B as its first marker. */
static yk_interface_gap enforced_by_a_solver(unsigned constrained, const yk_motion *a,
                                             const yk_motion *b)
{
    yk_marker origin = yk_marker_default();
    yk_joint joint = yk_joint_of_axes(constrained, &origin, &origin);
    const yk_motion *sides[2] = {b, a};
    yk_frame frame[2];
    for (int i = 0; i < 2; i++)
        frame[i] = (yk_frame){.position = sides[i]->position,
                              .rotation = yk_q_matrix(sides[i]->orientation),
                              .velocity = sides[i]->velocity,
                              .angular_velocity = sides[i]->angular_velocity};
    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(&joint, &frame[0], &frame[1], NULL, &kinematics);
    yk_interface_gap sum = {0};
    for (int i = 0; i < joint.row_count; i++) {
        double value = yk_row_value(&joint.row[i], &kinematics),
               rate = yk_row_rate(&joint.row[i], &kinematics);
        bool rotates = joint.row[i].kind == YK_ROW_AXES;
        *(rotates ? &sum.rotation : &sum.position) += value * value;
        *(rotates ? &sum.angular_velocity : &sum.velocity) += rate * rate;
    }
    return (yk_interface_gap){sqrt(sum.position), sqrt(sum.rotation), sqrt(sum.velocity),
                              sqrt(sum.angular_velocity)};
}

/* The same of the rows that schemes with wrenches on both sides solve for. */
static yk_interface_gap enforced_by_a_scheme(unsigned constrained, const yk_motion *a,
                                             const yk_motion *b)
{
    yk_constraint constraint = yk_constraint_make(YK_PORT_MARKER, constrained, NULL);
    yk_constraint_kinematics kinematics;
    yk_constraint_kinematics_at(&constraint, 0, a, b, &kinematics);
    double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
    yk_constraint_value(&constraint, &kinematics, g);
    yk_interface_gap sum = {0};
    for (int i = 0; i < constraint.row_count; i++) {
        bool rotates = constraint.row[i].kind == YK_ROW_AXES;
        *(rotates ? &sum.rotation : &sum.position) += g[0][i] * g[0][i];
        *(rotates ? &sum.angular_velocity : &sum.velocity) += g[1][i] * g[1][i];
    }
    return (yk_interface_gap){sqrt(sum.position), sqrt(sum.rotation), sqrt(sum.velocity),
                              sqrt(sum.angular_velocity)};
}

typedef yk_interface_gap residual_function(unsigned constrained, const yk_motion *a,
                                           const yk_motion *b);
static residual_function *const enforced[] = {enforced_by_a_solver, enforced_by_a_scheme};

static int constrained_rotations(unsigned constrained)
{
    return (int)(constrained >> 3 & 1) + (int)(constrained >> 4 & 1) + (int)(constrained >> 5 & 1);
}

/* All 63 sets of axes, so the joint of every name, with either motion as side A: the gap vanishes
 * if the joint is satisfied, however far the free coordinates have gone, and is the residual of
 * the enforced rows if it is not. Rows of rotations are sines of angles. */
static void gap_is_the_residual_of_the_enforced_rows(void **state)
{
    (void)state;
    random_state = 1;
    for (unsigned constrained = 1; constrained <= YK_AXES_ALL; constrained++) {
        for (int trial = 0; trial < 50; trial++) {
            yk_motion one = random_motion(), other = random_motion(),
                      joined = joined_motion(constrained, &one);
            yk_interface_gap gap =
                yk_compute_interface_gap(YK_PORT_MARKER, constrained, &joined, &one);
            assert_near(gap.position + gap.rotation, 0, 1e-7);

            const yk_motion *pairs[3][2] = {{&one, &other}, {&other, &one}, {&joined, &one}};
            for (int i = 0; i < 6; i++) {
                const yk_motion *a = pairs[i / 2][0], *b = pairs[i / 2][1];
                gap = yk_compute_interface_gap(YK_PORT_MARKER, constrained, a, b);
                yk_interface_gap row = enforced[i % 2](constrained, a, b);
                assert_near(gap.position, row.position, 1e-13);
                assert_near(gap.velocity, row.velocity, 1e-12);
                if (constrained_rotations(constrained) < 3)
                    assert_near(sin(gap.rotation), row.rotation, 1e-13);
                /* On the joint angles and sines have the same rate. */
                if (a == &joined)
                    assert_near(gap.angular_velocity, row.angular_velocity, 1e-6);
            }

            /* The angle of three constrained rotations agrees with their rows to first order. */
            yk_motion off = joined;
            yk_vec3 tilt = random_vector(1e-5);
            off.orientation = yk_q_mul(yk_so3_exp(tilt), joined.orientation);
            gap = yk_compute_interface_gap(YK_PORT_MARKER, constrained, &off, &one);
            for (int i = 0; i < 2; i++)
                assert_near(gap.rotation, enforced[i](constrained, &off, &one).rotation, 1e-9);
        }
    }
}

/* From a pose that satisfies the joint the gap grows with the reported rate; from a general pose
 * a gap of one row changes with it, and one of several rows not faster. */
static void rate_is_the_derivative_of_the_gap(void **state)
{
    (void)state;
    const double dt = 1e-6;
    random_state = 2;
    for (unsigned constrained = 1; constrained <= YK_AXES_ALL; constrained++) {
        unsigned translations = constrained & YK_AXES_TRANSLATION;
        bool one_translation = (translations & (translations - 1)) == 0;
        for (int trial = 0; trial < 50; trial++) {
            yk_motion b = random_motion(), a = joined_motion(constrained, &b);
            yk_interface_gap rate = yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a, &b);
            yk_motion a_next = coasted(&a, dt), b_next = coasted(&b, dt);
            yk_interface_gap next =
                yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a_next, &b_next);
            assert_near(next.position / dt, rate.velocity, 1e-3);
            assert_near(next.rotation / dt, rate.angular_velocity, 1e-3);

            a = random_motion();
            rate = yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a, &b);
            yk_interface_gap side[2];
            for (int i = 0; i < 2; i++) {
                a_next = coasted(&a, i ? dt : -dt), b_next = coasted(&b, i ? dt : -dt);
                side[i] = yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a_next, &b_next);
            }
            /* Next to kinks of the norm, and at the largest angles, differences say nothing. */
            double largest = constrained_rotations(constrained) == 3 ? YK_PI : YK_PI / 2;
            double speed = fabs(side[1].position - side[0].position) / (2 * dt),
                   spin = fabs(side[1].rotation - side[0].rotation) / (2 * dt);
            if (rate.position > 0.01) {
                assert_true(speed < rate.velocity + 1e-6);
                if (one_translation)
                    assert_near(speed, rate.velocity, 1e-6);
            }
            if (rate.rotation > 0.01 && rate.rotation < largest - 0.05) {
                assert_true(spin < rate.angular_velocity + 1e-6);
                if (constrained_rotations(constrained) == 1)
                    assert_near(spin, rate.angular_velocity, 1e-6);
            }
        }
    }
}

/* paper explicit (32b) with the weight of positions alone: the prescribed marker starts where the
 * joint holds with B and ends where the joint holds with A. */
static void position_weight_alone_closes_the_joint(void **state)
{
    (void)state;
    const double h = 0.01;
    yk_input_weights weights = {1, 0, 0};
    random_state = 3;
    for (unsigned constrained = 1; constrained <= YK_AXES_ALL; constrained++) {
        for (int trial = 0; trial < 20; trial++) {
            yk_motion a_start = random_motion(), a_end = random_motion(), b = random_motion();
            yk_input input = {0};
            yk_input_modified(YK_PORT_MARKER, constrained, &weights, h, &a_start, &b, &a_end,
                              &input);
            yk_motion start = yk_input_motion(&input, YK_PORT_MARKER, 0),
                      end = yk_input_motion(&input, YK_PORT_MARKER, h);
            yk_interface_gap gap =
                yk_compute_interface_gap(YK_PORT_MARKER, constrained, &start, &b);
            assert_near(gap.position + gap.rotation, 0, 1e-7);
            gap = yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a_end, &end);
            assert_near(gap.position + gap.rotation, 0, 1e-7);
        }
    }
}

/* Reactions act at the marker of A, in directions that follow it: on a joint that holds, the input
 * prescribes the motion of A for every set of weights, not that of the marker of B. */
static void inputs_of_a_joint_that_holds_follow_its_first_side(void **state)
{
    (void)state;
    const double h = 1e-5;
    yk_input_weights weights = {2, 2, 1};
    random_state = 4;
    for (unsigned constrained = 1; constrained <= YK_AXES_ALL; constrained++) {
        unsigned rotations = constrained >> 3;
        for (int trial = 0; trial < 20; trial++) {
            yk_motion b = random_motion(), a = joined_motion(constrained, &b);
            yk_motion end = coasted(&a, h);
            yk_input input = {0};
            yk_input_modified(YK_PORT_MARKER, constrained, &weights, h, &a, &b, &end, &input);
            yk_motion start = yk_input_motion(&input, YK_PORT_MARKER, 0);
            assert_near(yk_v3_norm(yk_v3_sub(start.position, a.position)), 0, 1e-13);
            /* The axis of a universal joint that moves with A; rows of others have none. */
            if (rotations == 1 || rotations == 2 || rotations == 4)
                assert_near(yk_v3_norm(yk_so3_log(
                                yk_q_mul(start.orientation, yk_q_conjugate(a.orientation)))),
                            0, 1e-7);
        }
    }
}

/* A hinge whose axes point in opposite directions is as good a hinge: its rows vanish. */
static void opposite_axes_are_parallel(void **state)
{
    (void)state;
    yk_motion b = motion_at(yk_v3(0, 0, 0), yk_v3(0.2, 0.1, -0.4)), a = b;
    yk_quat turned = yk_so3_exp(yk_v3(YK_PI, 0, 0));
    a.orientation = yk_q_mul(b.orientation, turned);
    unsigned hinge = YK_AXES_ALL & ~(unsigned)YK_AXIS_RZ;
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, hinge, &a, &b).rotation, 0, 1e-14);
    a.orientation = yk_q_mul(a.orientation, yk_so3_exp(yk_v3(1e-3, 0, 0)));
    a.orientation = yk_q_mul(a.orientation, yk_so3_exp(yk_v3(0, 0, 0.8)));
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, hinge, &a, &b).rotation, 1e-3, 1e-14);
    assert_true(yk_compute_interface_gap(YK_PORT_MARKER, YK_AXES_ALL, &a, &b).rotation > 2);
}

static void gaps_are_measured_along_constrained_axes_of_b(void **state)
{
    (void)state;
    yk_motion b = motion_at(yk_v3(0, 0, 0), yk_v3(0, 0, YK_PI / 2)), a = b;
    a.position = yk_v3(3, 4, 12); /* in b's axes: (4, -3, 12) */
    a.velocity = yk_v3(0, 2, 0);
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, YK_AXIS_X, &a, &b).position, 4, 1e-14);
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, YK_AXIS_X | YK_AXIS_Y, &a, &b).position, 5,
                1e-14);
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, YK_AXES_ALL, &a, &b).position, 13, 1e-14);
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, YK_AXIS_Y, &a, &b).velocity, 0, 1e-15);
}

/* A sleeve 0.3 m out on a rod that turns about its end with 5 rad/s, sliding outwards with 2 m/s:
 * it goes 1.5 m/s across. */
static void sliding_out_on_a_turning_rod_is_no_gap(void **state)
{
    (void)state;
    yk_quat rotated = yk_so3_exp(yk_v3(0, 0, 0.7));
    yk_vec3 along = yk_q_rotate(rotated, yk_v3(1, 0, 0)),
            across = yk_q_rotate(rotated, yk_v3(0, 1, 0));
    yk_motion b = {
        .orientation = rotated, .angular_velocity = {0, 0, 5}, .velocity = {0.4, -0.2, 0}};
    yk_motion a = b;
    a.position = yk_v3_scale(0.3, along);
    a.velocity = yk_v3_add(b.velocity, yk_v3_axpy(2, along, yk_v3_scale(1.5, across)));
    unsigned sleeve = YK_AXES_ALL & ~(unsigned)YK_AXIS_X;
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, sleeve, &a, &b).velocity, 0, 1e-14);
    a.velocity = yk_v3_axpy(0.1, across, a.velocity);
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, sleeve, &a, &b).velocity, 0.1, 1e-14);
}

/* A bent universal joint: turning about x of side B or y of side A is free, about their normal it
 * is not. */
static void turning_about_the_arms_of_a_universal_joint_is_no_gap(void **state)
{
    (void)state;
    yk_quat bent = yk_so3_exp(yk_v3(0.6, 0, 0));
    yk_motion b = {.orientation = {1, 0, 0, 0}}, a = {.orientation = bent};
    unsigned constrained = YK_AXES_TRANSLATION | YK_AXIS_RZ;
    yk_vec3 on_a = yk_q_rotate(bent, yk_v3(0, 1, 0)), on_b = yk_v3(1, 0, 0);
    a.angular_velocity = yk_v3_axpy(3, on_a, yk_v3_scale(-2, on_b));
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a, &b).angular_velocity, 0,
                1e-14);
    a.angular_velocity = yk_v3_cross(on_a, on_b);
    assert_near(yk_compute_interface_gap(YK_PORT_MARKER, constrained, &a, &b).angular_velocity, 1,
                1e-14);
}

/* No momentum is made: forces cancel, and so do the torques about any point. */
static void opposite_wrench_balances_about_any_point(void **state)
{
    (void)state;
    yk_motion a = motion_at(yk_v3(0.1, 0.2, 0.3), yk_v3(0, 0, 0));
    yk_port_value b = {.motion = motion_at(yk_v3(0.4, -0.1, 0.2), yk_v3(0, 1, 0)),
                       .wrench = {{10, -20, 5}, {1, 2, 3}}};
    yk_wrench on_a = yk_wrench_opposite(YK_PORT_MARKER, &b, a.position);
    yk_vec3 about_origin_a = yk_v3_add(on_a.torque, yk_v3_cross(a.position, on_a.force));
    yk_vec3 about_origin_b =
        yk_v3_add(b.wrench.torque, yk_v3_cross(b.motion.position, b.wrench.force));
    assert_near(yk_v3_norm(yk_v3_add(on_a.force, b.wrench.force)), 0, 0);
    assert_near(yk_v3_norm(yk_v3_add(about_origin_a, about_origin_b)), 0, 1e-14);
}

/* SLERP between A's orientations at both ends, paper tight (21). */
static void interpolated_input_meets_both_ends(void **state)
{
    (void)state;
    const double h = 0.02;
    yk_motion from = motion_at(yk_v3(1, 0, 0), yk_v3(0.1, 0.2, 3.0)),
              to = motion_at(yk_v3(1, 0.5, 0), yk_v3(0.3, 0.2, -3.0));
    yk_input input = {0};
    yk_input_interpolated(YK_PORT_MARKER, h, &from, &to, &input);
    yk_motion end = yk_input_motion(&input, YK_PORT_MARKER, h),
              middle = yk_input_motion(&input, YK_PORT_MARKER, h / 2);
    yk_quat half =
        yk_q_mul(yk_so3_exp(yk_v3_scale(
                     0.5, yk_so3_log(yk_q_mul(to.orientation, yk_q_conjugate(from.orientation))))),
                 from.orientation);
    assert_near(yk_v3_norm(yk_so3_log(yk_q_mul(end.orientation, yk_q_conjugate(to.orientation)))),
                0, 1e-13);
    assert_near(yk_v3_norm(yk_so3_log(yk_q_mul(middle.orientation, yk_q_conjugate(half)))), 0,
                1e-13);
    assert_near(end.velocity.y, 25, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(position_weight_alone_reaches_the_partner),
        cmocka_unit_test(weights_mix_position_velocity_and_acceleration),
        cmocka_unit_test(free_rotations_are_no_error),
        cmocka_unit_test(universal_joint_keeps_a_right_angle),
        cmocka_unit_test(gap_is_the_residual_of_the_enforced_rows),
        cmocka_unit_test(rate_is_the_derivative_of_the_gap),
        cmocka_unit_test(position_weight_alone_closes_the_joint),
        cmocka_unit_test(inputs_of_a_joint_that_holds_follow_its_first_side),
        cmocka_unit_test(opposite_axes_are_parallel),
        cmocka_unit_test(gaps_are_measured_along_constrained_axes_of_b),
        cmocka_unit_test(sliding_out_on_a_turning_rod_is_no_gap),
        cmocka_unit_test(turning_about_the_arms_of_a_universal_joint_is_no_gap),
        cmocka_unit_test(opposite_wrench_balances_about_any_point),
        cmocka_unit_test(interpolated_input_meets_both_ends),
    };
    return cmocka_run_group_tests_name("interface", tests, NULL, NULL);
}
