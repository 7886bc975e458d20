/* Every row of every joint against differences of itself. */
#include "mechanics/joint.h"

#include <string.h>

#include "bodies.h"
#include "test.h"

static const double STEP = 1e-5;

static const yk_drive drive = {0.3, 0.7, -0.4, 0.2};

static double value_at(const yk_joint *joint, int r, const yk_frame body[2])
{
    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(joint, &body[0], &body[1], &drive, &kinematics);
    return yk_row_value(&joint->row[r], &kinematics);
}

static yk_gradient gradient_at(const yk_joint *joint, int r, const yk_frame body[2])
{
    yk_joint_kinematics kinematics;
    yk_gradient gradient;
    yk_joint_kinematics_at(joint, &body[0], &body[1], &drive, &kinematics);
    yk_row_gradient(&joint->row[r], &kinematics, &gradient);
    return gradient;
}

/* In the order of displace(): force a, torque a, force b, torque b. */
static double entry(const yk_gradient *gradient, int component)
{
    int body = component / 6;
    yk_vec3 part = component % 6 < 3 ? gradient->force[body] : gradient->torque[body];
    return component_of(part, component % 3);
}

static yk_joint joint_of(int kind)
{
    yk_marker a = general_marker(0), b = general_marker(1);
    if (kind == YK_JOINT_CUSTOM)
        return yk_joint_of_axes(YK_AXIS_X | YK_AXIS_RY, &a, &b);
    return yk_joint_make((yk_joint_kind)kind, &a, &b, 0.6);
}

/* Size of the third derivatives, which limit central differences: the axes of a coupled rotation are
 * far from parallel in the general position, where its stiffness is 30 and more. */
static double steepness(int kind)
{
    return kind == YK_JOINT_COUPLED_ROTATION ? 100 : 1;
}

static void gradient_is_the_derivative_of_the_value(void **state)
{
    (void)state;
    for (int kind = 0; kind < YK_JOINT_KIND_COUNT; kind++) {
        yk_joint joint = joint_of(kind);
        for (int r = 0; r < joint.row_count; r++) {
            if (yk_row_on_velocity(&joint.row[r]))
                continue;
            yk_frame body[2];
            general_bodies(body);
            yk_gradient gradient = gradient_at(&joint, r, body);
            for (int k = 0; k < 12; k++) {
                yk_frame ahead[2], behind[2];
                general_bodies(ahead), general_bodies(behind);
                displace(ahead, k, STEP), displace(behind, k, -STEP);
                double slope =
                    (value_at(&joint, r, ahead) - value_at(&joint, r, behind)) / (2 * STEP);
                assert_near(entry(&gradient, k), slope, 1e-9 * steepness(kind));
            }
        }
    }
}

static void rate_is_linear_in_the_velocities(void **state)
{
    (void)state;
    for (int kind = 0; kind < YK_JOINT_KIND_COUNT; kind++) {
        yk_joint joint = joint_of(kind);
        for (int r = 0; r < joint.row_count; r++) {
            yk_frame body[2], faster[2];
            general_bodies(body);
            yk_gradient gradient = gradient_at(&joint, r, body);
            yk_joint_kinematics kinematics;
            yk_joint_kinematics_at(&joint, &body[0], &body[1], &drive, &kinematics);
            double rate = yk_row_rate(&joint.row[r], &kinematics);
            for (int k = 0; k < 12; k++) {
                general_bodies(faster);
                hasten(faster, k, 1);
                yk_joint_kinematics_at(&joint, &faster[0], &faster[1], &drive, &kinematics);
                assert_near(yk_row_rate(&joint.row[r], &kinematics) - rate, entry(&gradient, k),
                            1e-13);
            }
        }
    }
}

/* Value (rate) along the motion that bodies and drive make at constant velocities. */
static double along(const yk_joint *joint, int r, double time, bool rate)
{
    yk_frame body[2];
    general_bodies(body);
    yk_frame a = coasted(&body[0], time), b = coasted(&body[1], time);
    yk_drive moved = {drive.value + time * (drive.rate + 0.5 * time * drive.second),
                      drive.rate + time * drive.second, drive.second, drive.near_angle};
    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(joint, &a, &b, &moved, &kinematics);
    return rate ? yk_row_rate(&joint->row[r], &kinematics)
                : yk_row_value(&joint->row[r], &kinematics);
}

static void rate_and_bias_are_derivatives_by_time(void **state)
{
    (void)state;
    yk_frame body[2];
    general_bodies(body);
    for (int kind = 0; kind < YK_JOINT_KIND_COUNT; kind++) {
        yk_joint joint = joint_of(kind);
        for (int r = 0; r < joint.row_count; r++) {
            double rate = along(&joint, r, 0, true);
            double bias = yk_row_bias(&joint.row[r], &joint, &body[0], &body[1], &drive);
            double h = 1e-4;
            assert_near(bias, (along(&joint, r, h, true) - along(&joint, r, -h, true)) / (2 * h),
                        1e-6 * steepness(kind));
            if (yk_row_on_velocity(&joint.row[r]))
                continue;
            assert_near(rate, (along(&joint, r, h, false) - along(&joint, r, -h, false)) / (2 * h),
                        1e-7 * steepness(kind));
        }
    }
}

static void stiffness_is_the_derivative_of_the_gradient(void **state)
{
    (void)state;
    for (int kind = 0; kind < YK_JOINT_KIND_COUNT; kind++) {
        yk_joint joint = joint_of(kind);
        for (int r = 0; r < joint.row_count; r++) {
            const yk_row *row = &joint.row[r];
            if (yk_row_on_velocity(row) || row->kind == YK_ROW_WHEEL)
                continue;
            yk_frame body[2];
            general_bodies(body);
            yk_joint_kinematics kinematics;
            yk_joint_kinematics_at(&joint, &body[0], &body[1], &drive, &kinematics);
            yk_mat3 stiffness[4][4];
            memset(stiffness, 0, sizeof stiffness);
            yk_row_stiffness(row, &kinematics, 2.5, stiffness);
            for (int k = 0; k < 12; k++) {
                yk_frame ahead[2], behind[2];
                general_bodies(ahead), general_bodies(behind);
                displace(ahead, k, STEP), displace(behind, k, -STEP);
                yk_gradient up = gradient_at(&joint, r, ahead),
                            down = gradient_at(&joint, r, behind);
                for (int i = 0; i < 12; i++) {
                    double slope = 2.5 * (entry(&up, i) - entry(&down, i)) / (2 * STEP);
                    assert_near(stiffness[i / 3][k / 3].m[i % 3][k % 3], slope,
                                1e-8 * steepness(kind));
                    if (!(yk_row_stiffness_mask(row) >> (4 * (i / 3) + k / 3) & 1u))
                        assert_near(slope, 0, 1e-8);
                }
            }
        }
    }
}

static void masks_hide_only_zeros(void **state)
{
    (void)state;
    yk_frame body[2];
    general_bodies(body);
    for (int kind = 0; kind < YK_JOINT_KIND_COUNT; kind++) {
        yk_joint joint = joint_of(kind);
        for (int r = 0; r < joint.row_count; r++) {
            yk_gradient gradient = gradient_at(&joint, r, body);
            for (int k = 0; k < 12; k++)
                if (!(yk_row_mask(&joint.row[r]) >> k & 1u))
                    assert_true(entry(&gradient, k) == 0);
        }
    }
}

/* Free motions of each joint: motions of b relative to a that change no row. */
static void joints_leave_their_motions_free(void **state)
{
    (void)state;
    static const struct {
        yk_joint_kind kind;
        int free; /* degrees of freedom */
    } table[] = {
        {YK_JOINT_SPHERICAL, 3}, {YK_JOINT_REVOLUTE, 1},      {YK_JOINT_UNIVERSAL, 2},
        {YK_JOINT_PRISMATIC, 1}, {YK_JOINT_CYLINDRICAL, 2},   {YK_JOINT_PLANAR, 3},
        {YK_JOINT_FIXED, 0},     {YK_JOINT_DISTANCE, 5},      {YK_JOINT_IN_LINE, 4},
        {YK_JOINT_IN_PLANE, 5},  {YK_JOINT_PARALLEL_AXES, 4}, {YK_JOINT_FIXED_ORIENTATION, 3},
        {YK_JOINT_ROLLING, 3}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        yk_marker origin = yk_marker_default();
        yk_joint joint = yk_joint_make(table[i].kind, &origin, &origin, 1);
        assert_int_equal(6 - joint.row_count, table[i].free);
    }
    /* A revolute joint turned about z and a prismatic one moved along z stay closed. */
    yk_marker origin = yk_marker_default();
    yk_frame a = yk_frame_ground(), b = yk_frame_ground();
    b.rotation = yk_so3_exp_matrix(yk_v3(0, 0, 1.3));
    yk_joint revolute = yk_joint_make(YK_JOINT_REVOLUTE, &origin, &origin, 0);
    yk_joint_kinematics kinematics;
    yk_joint_kinematics_at(&revolute, &a, &b, NULL, &kinematics);
    for (int r = 0; r < 5; r++)
        assert_near(yk_row_value(&revolute.row[r], &kinematics), 0, 1e-15);
    b = yk_frame_ground();
    b.position.z = 2;
    yk_joint prismatic = yk_joint_make(YK_JOINT_PRISMATIC, &origin, &origin, 0);
    yk_joint_kinematics_at(&prismatic, &a, &b, NULL, &kinematics);
    for (int r = 0; r < 5; r++)
        assert_near(yk_row_value(&prismatic.row[r], &kinematics), 0, 1e-15);
}

/* A motor moves what the joint leaves free, and a drive enters a row of its own level. */
static void traits_agree_with_the_rows(void **state)
{
    (void)state;
    yk_marker origin = yk_marker_default();
    for (int kind = 0; kind < YK_JOINT_KIND_COUNT; kind++) {
        yk_joint joint = yk_joint_make((yk_joint_kind)kind, &origin, &origin, 0);
        const yk_joint_traits *traits = yk_joint_traits_of((yk_joint_kind)kind);

        assert_true(joint.driven == (traits->drive.name != NULL));
        if (joint.driven) {
            assert_true(traits->drive.on_velocity ==
                        yk_row_on_velocity(&joint.row[joint.row_count - 1]));
        }

        yk_frame a = yk_frame_ground(), b = yk_frame_ground();
        if (traits->motion == YK_MOTION_NONE)
            continue;
        if (traits->motion == YK_MOTION_ROTATION)
            b.rotation = yk_so3_exp_matrix(yk_v3(0, 0, 0.4));
        if (traits->motion == YK_MOTION_TRANSLATION)
            b.position.z = 0.4;
        yk_drive moved = {.value = 0.4};
        yk_joint_kinematics kinematics;
        yk_joint_kinematics_at(&joint, &a, &b, &moved, &kinematics);
        for (int r = 0; r < joint.row_count; r++)
            assert_near(yk_row_value(&joint.row[r], &kinematics), 0, 1e-15);
    }
}

/* A joint of axes holds the motions in its mask, each by one row, and no other. */
static void axes_hold_the_motions_of_their_mask(void **state)
{
    (void)state;
    yk_marker origin = yk_marker_default();
    yk_frame body[2] = {yk_frame_ground(), yk_frame_ground()};
    for (unsigned mask = 0; mask < 1u << 6; mask++) {
        yk_joint joint = yk_joint_of_axes(mask, &origin, &origin);
        int held_count = 0;
        for (int k = 0; k < 6; k++) {
            bool moved = false;
            for (int r = 0; r < joint.row_count; r++) {
                yk_gradient gradient = gradient_at(&joint, r, body);
                moved |= entry(&gradient, 6 + k) != 0;
            }
            assert_true(moved == (mask >> k & 1));
            held_count += mask >> k & 1;
        }
        assert_int_equal(joint.row_count, held_count);
    }
}

/* Driven motions are joints of their own; those of which rows would turn with a driven rotation
 * are refused. */
static void driven_motions_are_pieces_about_their_axes(void **state)
{
    (void)state;
    yk_joint_piece piece[YK_JOINT_PIECES_MAX];
    for (int k = 0; k < 3; k++) {
        unsigned along = (unsigned)YK_AXIS_X << k;
        unsigned about = (unsigned)YK_AXIS_RX << k;
        unsigned first = (unsigned)YK_AXIS_X << (k + 1) % 3;
        unsigned second = (unsigned)YK_AXIS_X << (k + 2) % 3;
        unsigned turned = (unsigned)YK_AXIS_RX << (k + 1) % 3;
        unsigned rotations = YK_AXIS_RX | YK_AXIS_RY | YK_AXIS_RZ;

        /* A motor about each axis of a joint that is otherwise held. */
        unsigned all = YK_AXES_TRANSLATION | rotations;
        assert_int_equal(yk_joint_pieces(all, about, piece), 2);
        assert_int_equal(piece[0].kind, YK_JOINT_CUSTOM);
        assert_int_equal(piece[0].constrained, all & ~about);
        assert_int_equal(piece[1].kind, YK_JOINT_DRIVEN_ROTATION);
        assert_int_equal(piece[1].driven, 3 + k);
        yk_vec3 z = yk_q_rotate(piece[1].axes, yk_v3(0, 0, 1));
        for (int i = 0; i < 3; i++)
            assert_near(component_of(z, i), i == k, 1e-15);

        /* A translation along it. */
        assert_int_equal(yk_joint_pieces(along, along, piece), 1);
        assert_int_equal(piece[0].kind, YK_JOINT_DRIVEN_TRANSLATION);
        assert_int_equal(piece[0].driven, k);

        /* Across the axis both translations are held or none. */
        assert_int_equal(yk_joint_pieces(about, about, piece), 1);
        assert_int_equal(yk_joint_pieces(about | along, about, piece), 2);
        assert_int_equal(yk_joint_pieces(about | first | second, about, piece), 2);
        assert_int_equal(yk_joint_pieces(about | first, about, piece), 0);
        assert_int_equal(yk_joint_pieces(about | second, about, piece), 0);

        /* One driven rotation, alone or with both others held. */
        assert_int_equal(yk_joint_pieces(about | turned, about | turned, piece), 0);
        assert_int_equal(yk_joint_pieces(about | turned, about, piece), 0);
        assert_int_equal(yk_joint_pieces(rotations, about, piece), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_the_derivative_of_the_value),
        cmocka_unit_test(rate_is_linear_in_the_velocities),
        cmocka_unit_test(rate_and_bias_are_derivatives_by_time),
        cmocka_unit_test(stiffness_is_the_derivative_of_the_gradient),
        cmocka_unit_test(masks_hide_only_zeros),
        cmocka_unit_test(joints_leave_their_motions_free),
        cmocka_unit_test(traits_agree_with_the_rows),
        cmocka_unit_test(axes_hold_the_motions_of_their_mask),
        cmocka_unit_test(driven_motions_are_pieces_about_their_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
