/* Inputs and errors of marker interfaces: rotations on SO(3), joints with free axes, wrenches
 * that balance. */
#include "coupling/interface.h"

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
    yk_input_modified(YK_PORT_MARKER, YK_AXES_ALL, &weights, h, &b, &a, &input);
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
    yk_input_modified(YK_PORT_MARKER, YK_AXES_ALL, &weights, h, &b, &a, &input);
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
        yk_interface_error hinge =
            yk_interface_gap(YK_PORT_MARKER, YK_AXES_ALL & ~free_axis[k], &a, &b);
        assert_near(hinge.rotation, 1e-3, 1e-12);
        assert_true(yk_interface_gap(YK_PORT_MARKER, YK_AXES_ALL, &a, &b).rotation > 2.4);
        assert_near(yk_interface_gap(YK_PORT_MARKER, YK_AXES_TRANSLATION, &a, &b).rotation, 0, 0);
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
        yk_motion a = motion_at(yk_v3(0, 0, 0), yk_v3(0.5, 0.2, 0.1)), b = a;
        /* From a, the joint turns about a's first axis and then about b's second: both are free. */
        yk_quat rotated =
            yk_q_mul(yk_so3_exp(yk_v3_scale(0.7, first)), yk_so3_exp(yk_v3_scale(-0.4, second)));
        b.orientation = yk_q_mul(a.orientation, rotated);
        assert_near(yk_interface_gap(YK_PORT_MARKER, constrained, &a, &b).rotation, 0, 1e-14);
        /* About the third axis it must not. */
        b.orientation = yk_q_mul(a.orientation, yk_so3_exp(yk_v3_scale(0.02, third)));
        assert_near(yk_interface_gap(YK_PORT_MARKER, constrained, &a, &b).rotation, 0.02, 1e-14);
    }
}

static void gaps_are_measured_along_constrained_axes_of_b(void **state)
{
    (void)state;
    yk_motion b = motion_at(yk_v3(0, 0, 0), yk_v3(0, 0, YK_PI / 2)), a = b;
    a.position = yk_v3(3, 4, 12); /* in b's axes: (4, -3, 12) */
    a.velocity = yk_v3(0, 2, 0);
    assert_near(yk_interface_gap(YK_PORT_MARKER, YK_AXIS_X, &a, &b).position, 4, 1e-14);
    assert_near(yk_interface_gap(YK_PORT_MARKER, YK_AXIS_X | YK_AXIS_Y, &a, &b).position, 5, 1e-14);
    assert_near(yk_interface_gap(YK_PORT_MARKER, YK_AXES_ALL, &a, &b).position, 13, 1e-14);
    assert_near(yk_interface_gap(YK_PORT_MARKER, YK_AXIS_Y, &a, &b).velocity, 0, 1e-15);
}

/* No momentum is made: forces cancel, and so do the torques about any point. */
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
    assert_near(yk_interface_gap(YK_PORT_MARKER, sleeve, &a, &b).velocity, 0, 1e-14);
    a.velocity = yk_v3_axpy(0.1, across, a.velocity);
    assert_near(yk_interface_gap(YK_PORT_MARKER, sleeve, &a, &b).velocity, 0.1, 1e-14);
}

/* A bent universal joint: turning about either of its own axes is free, about their normal it is
 * not. */
static void turning_about_the_arms_of_a_universal_joint_is_no_gap(void **state)
{
    (void)state;
    yk_quat bent = yk_so3_exp(yk_v3(0, 0.6, 0));
    yk_motion b = {.orientation = {1, 0, 0, 0}}, a = {.orientation = bent};
    unsigned constrained = YK_AXES_TRANSLATION | YK_AXIS_RZ;
    yk_vec3 on_a = yk_q_rotate(bent, yk_v3(1, 0, 0)), on_b = yk_v3(0, 1, 0);
    a.angular_velocity = yk_v3_axpy(3, on_a, yk_v3_scale(-2, on_b));
    assert_near(yk_interface_gap(YK_PORT_MARKER, constrained, &a, &b).angular_velocity, 0, 1e-14);
    a.angular_velocity = yk_v3_cross(on_a, on_b);
    assert_near(yk_interface_gap(YK_PORT_MARKER, constrained, &a, &b).angular_velocity, 1, 1e-14);
}

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
        cmocka_unit_test(gaps_are_measured_along_constrained_axes_of_b),
        cmocka_unit_test(sliding_out_on_a_turning_rod_is_no_gap),
        cmocka_unit_test(turning_about_the_arms_of_a_universal_joint_is_no_gap),
        cmocka_unit_test(opposite_wrench_balances_about_any_point),
        cmocka_unit_test(interpolated_input_meets_both_ends),
    };
    return cmocka_run_group_tests_name("interface", tests, NULL, NULL);
}
