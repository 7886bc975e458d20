/* Vertices that a marker carries: wrenches, forces and motions against known answers. */
#include "interop/precice/partner.h"

#include <math.h>

#include "math/so3.h"
#include "test.h"

/* A frame that is neither at the origin nor along the axes, four points around it. */
static const yk_vec3 POINTS[] = {{1, 2, 3}, {1.5, 2, 3}, {1, 2.7, 3.1}, {0.8, 2.2, 2.6}};

static yk_vertices make(int dimensions, int count)
{
    yk_vertices v = {
        .position = {0.9, 1.8, 2.5},
        .orientation = yk_so3_exp(yk_v3(0.3, -0.2, 0.5)),
        .points = POINTS,
        .count = count,
        .dimensions = dimensions,
    };
    yk_vertices_prepare(&v);
    return v;
}

/* Far from the reference, so that nothing holds to first order only. */
static yk_motion moved(const yk_vertices *v)
{
    yk_motion motion = {
        .position = {-3, 0.5, 4},
        .velocity = {0.1, -0.7, 2},
        .angular_velocity = {3, -1, 0.5},
    };
    motion.orientation = yk_q_mul(yk_so3_exp(yk_v3(1, 2, -0.5)), v->orientation);
    return motion;
}

static void assert_vector(yk_vec3 value, yk_vec3 expected, double tolerance)
{
    assert_near(value.x, expected.x, tolerance);
    assert_near(value.y, expected.y, tolerance);
    assert_near(value.z, expected.z, tolerance);
}

/* 2 N along z at a point 1.5 m along x, on a body rotated by 90 degrees about z: the arm is along y. */
static void forces_become_a_wrench(void **state)
{
    (void)state;
    const yk_vec3 points[] = {{1.5, 0, 0}, {0, 0, 0}};
    yk_vertices v = {.orientation = {1, 0, 0, 0}, .points = points, .count = 2, .dimensions = 3};
    yk_vertices_prepare(&v);
    yk_motion motion = {.position = {7, 8, 9},
                        .orientation = yk_so3_exp(yk_v3(0, 0, acos(-1) / 2))};
    const double forces[] = {0, 0, 2, 1, 0, 0};
    yk_wrench wrench = yk_vertices_reduce(&v, &motion, forces);
    assert_vector(wrench.force, yk_v3(1, 0, 2), 1e-15);
    assert_vector(wrench.torque, yk_v3(3, 0, 0), 1e-15);
}

static void a_wrench_becomes_forces(void **state)
{
    (void)state;
    yk_vertices v = make(3, 4);
    yk_motion motion = moved(&v);
    const yk_wrench wrench = {{1, -2, 3}, {0.4, 5, -6}};
    double forces[12];
    yk_vertices_distribute(&v, &motion, &wrench, forces);
    yk_wrench back = yk_vertices_reduce(&v, &motion, forces);
    assert_vector(back.force, wrench.force, 1e-14);
    assert_vector(back.torque, wrench.torque, 1e-14);

    /* Power is the same on both sides. */
    double velocities[12];
    double power = 0;
    yk_vertices_move(&v, &motion, velocities);
    for (int i = 0; i < 12; i++)
        power += forces[i] * velocities[i];
    double expected = yk_v3_dot(wrench.force, motion.velocity) +
                      yk_v3_dot(wrench.torque, motion.angular_velocity);
    assert_near(power, expected, 1e-13);
}

static void displacements_become_a_motion(void **state)
{
    (void)state;
    yk_vertices v = make(3, 4);
    yk_motion motion = moved(&v);
    double displacements[12];
    double velocities[12];
    yk_vertices_displace(&v, &motion, displacements);
    yk_vertices_move(&v, &motion, velocities);

    /* From the reference, more than two radians away. */
    yk_motion fitted = {.orientation = v.orientation};
    yk_vertices_fit(&v, displacements, &fitted);
    yk_vertices_fit_velocity(&v, velocities, &fitted);
    yk_quat difference = yk_q_mul(fitted.orientation, yk_q_conjugate(motion.orientation));
    assert_vector(yk_so3_log(difference), yk_v3(0, 0, 0), 1e-13);
    assert_vector(fitted.position, motion.position, 1e-13);
    assert_vector(fitted.velocity, motion.velocity, 1e-13);
    assert_vector(fitted.angular_velocity, motion.angular_velocity, 1e-13);
}

/* A deformation without a mean rotation: points on a square move outwards. */
static void a_deformation_is_no_rotation(void **state)
{
    (void)state;
    const yk_vec3 points[] = {{1, 1, 0}, {-1, 1, 0}, {-1, -1, 0}, {1, -1, 0}};
    const double displacements[] = {0.2, 0.1, 0, -0.2, 0.1, 0, -0.2, -0.1, 0, 0.2, -0.1, 0};
    yk_vertices v = {.orientation = {1, 0, 0, 0}, .points = points, .count = 4, .dimensions = 3};
    yk_vertices_prepare(&v);
    assert_true(v.rotates);
    yk_motion fitted = {.orientation = {1, 0, 0, 0}};
    yk_vertices_fit(&v, displacements, &fitted);
    assert_vector(yk_so3_log(fitted.orientation), yk_v3(0, 0, 0), 1e-15);
    assert_vector(fitted.position, yk_v3(0, 0, 0), 1e-15);
}

static void what_does_not_rotate(void **state)
{
    (void)state;
    assert_false(make(3, 1).rotates);
    assert_false(make(3, 2).rotates);
    assert_true(make(3, 3).rotates);
    assert_false(make(2, 1).rotates);
    assert_true(make(2, 2).rotates);

    /* One point: the force goes through it, and the motion is that of the point. */
    yk_vertices v = make(3, 1);
    const double displacement[] = {0.1, 0.2, 0.3};
    const yk_wrench wrench = {{1, 2, 3}, {4, 5, 6}};
    yk_motion fitted = {.orientation = v.orientation};
    double force[3];
    yk_vertices_fit(&v, displacement, &fitted);
    yk_vertices_distribute(&v, &fitted, &wrench, force);
    assert_vector(fitted.position, yk_v3(1, 2, 2.8), 1e-15);
    assert_vector(yk_v3(force[0], force[1], force[2]), wrench.force, 0);
}

/* A mesh of two dimensions: rotation about z, and the torque about it. */
static void in_a_plane(void **state)
{
    (void)state;
    const yk_vec3 points[] = {{2, 0, 0}, {0, 1, 0}, {-1, -1, 0}};
    yk_vertices v = {.orientation = {1, 0, 0, 0}, .points = points, .count = 3, .dimensions = 2};
    yk_vertices_prepare(&v);
    yk_motion motion = {.position = {3, 4, 0}, .orientation = yk_so3_exp(yk_v3(0, 0, 0.8))};
    double displacements[6];
    double forces[6];
    yk_vertices_displace(&v, &motion, displacements);
    yk_motion fitted = {.orientation = {1, 0, 0, 0}};
    yk_vertices_fit(&v, displacements, &fitted);
    assert_vector(yk_so3_log(fitted.orientation), yk_v3(0, 0, 0.8), 1e-14);
    assert_vector(fitted.position, motion.position, 1e-14);

    const yk_wrench wrench = {{1, -2, 0}, {0, 0, 5}};
    yk_vertices_distribute(&v, &motion, &wrench, forces);
    yk_wrench back = yk_vertices_reduce(&v, &motion, forces);
    assert_vector(back.force, wrench.force, 1e-14);
    assert_vector(back.torque, wrench.torque, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_become_a_wrench),
        cmocka_unit_test(a_wrench_becomes_forces),
        cmocka_unit_test(displacements_become_a_motion),
        cmocka_unit_test(a_deformation_is_no_rotation),
        cmocka_unit_test(what_does_not_rotate),
        cmocka_unit_test(in_a_plane),
    };
    return cmocka_run_group_tests_name("precice_vertices", tests, NULL, NULL);
}
