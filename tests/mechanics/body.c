#include "mechanics/body.h"

#include <string.h>

#include "bodies.h"
#include "test.h"

static yk_inertia eccentric(void)
{
    yk_mat3 central = {{{0.3, 0.02, -0.01}, {0.02, 0.4, 0.05}, {-0.01, 0.05, 0.5}}};
    return yk_inertia_of_body(2, yk_v3(0.1, -0.3, 0.2), central, yk_so3_exp(yk_v3(0.3, 0.1, -0.2)));
}

/* The kinetic energy of an offset body is that of its centre of mass plus that of its rotation. */
static void offset_body_moves_with_its_centre(void **state)
{
    (void)state;
    yk_frame body[2];
    general_bodies(body);
    const yk_frame *node = &body[0];
    yk_inertia inertia = eccentric();
    yk_inertia global;
    yk_inertia_rotate(&inertia, &node->rotation, &global);
    yk_momentum momentum = yk_inertia_momentum(&global, node->velocity, node->angular_velocity);
    double energy = yk_inertia_kinetic(&momentum, node->velocity, node->angular_velocity);
    yk_vec3 arm = yk_m3_apply(node->rotation, yk_v3(0.1, -0.3, 0.2));
    yk_vec3 centre = yk_v3_add(node->velocity, yk_v3_cross(node->angular_velocity, arm));
    yk_quat axes = yk_so3_exp(yk_v3(0.3, 0.1, -0.2));
    yk_vec3 spin =
        yk_q_rotate_back(axes, yk_m3_apply_transposed(node->rotation, node->angular_velocity));
    yk_mat3 central = {{{0.3, 0.02, -0.01}, {0.02, 0.4, 0.05}, {-0.01, 0.05, 0.5}}};
    double expected = yk_v3_norm2(centre) + 0.5 * yk_v3_dot(spin, yk_m3_apply(central, spin));
    assert_near(energy, expected, 1e-13);
    assert_near(yk_inertia_least(&inertia), 0.29, 0.02);
}

static void assert_tensor(yk_mat3 central, yk_vec3 rotation, const char *expected)
{
    char why[240] = "";
    yk_mat3 axes = yk_so3_exp_matrix(rotation);
    yk_mat3 rotated = yk_m3_mul(axes, yk_m3_mul(central, yk_m3_transpose(axes)));
    bool possible = yk_inertia_possible(&rotated, why, sizeof why);
    if (possible != !expected || (expected && !strstr(why, expected)))
        fail_msg("expected '%s', not '%s'", expected, why);
}

/* In any axes: rods, plates and points are the limits of what a body can be. */
static void impossible_tensors_are_refused(void **state)
{
    (void)state;
    static const yk_vec3 rotates[3] = {{0, 0, 0}, {0.4, -1.1, 0.3}, {2, 1, -1}};
    for (int k = 0; k < 3; k++) {
        assert_tensor(yk_m3_diagonal(1, 1, 100), rotates[k], "exceeds the sum");
        assert_tensor(yk_m3_diagonal(1e-9, 1e-9, 2.1e-9), rotates[k], "exceeds the sum");
        assert_tensor(yk_m3_diagonal(0, 0, 1), rotates[k], "exceeds the sum");
        assert_tensor(yk_m3_diagonal(1, -0.1, 1), rotates[k], "below zero");
        assert_tensor(yk_m3_diagonal(3, 1, 2), rotates[k], NULL);
        assert_tensor(yk_m3_diagonal(0, 2, 2), rotates[k], NULL);
        assert_tensor(yk_m3_diagonal(0, 0, 0), rotates[k], NULL);
        assert_tensor(yk_m3_diagonal(1e-12, 1.23, 1.23), rotates[k], NULL);
        assert_tensor(yk_m3_diagonal(0.0123, 0.0123, 0.0247), rotates[k],
                      NULL); /* a disc, rounded to three digits */
    }
    yk_mat3 skewed = {{{1, 0.1, 0}, {0, 1, 0}, {0, 0, 1}}};
    assert_tensor(skewed, rotates[0], "not symmetric");
    assert_tensor(yk_m3_diagonal(1, NAN, 1), rotates[0], "not finite");
}

/* (p', l' + v x p) with p' = p / c when dv = dx / c: against differences. */
static void residual(const yk_inertia *inertia, const yk_frame *node, double c, double out[6])
{
    yk_inertia global;
    yk_inertia_rotate(inertia, &node->rotation, &global);
    yk_momentum p = yk_inertia_momentum(&global, node->velocity, node->angular_velocity);
    yk_vec3 force = yk_v3_scale(c, p.linear);
    yk_vec3 torque =
        yk_v3_axpy(c * c, yk_v3_cross(node->velocity, p.linear), yk_v3_scale(c, p.angular));
    for (int k = 0; k < 3; k++)
        out[k] = component_of(force, k), out[k + 3] = component_of(torque, k);
}

static void tangent_is_the_derivative(void **state)
{
    (void)state;
    yk_inertia inertia = eccentric();
    yk_frame body[2];
    general_bodies(body);
    double c = 0.02, tangent[6][6], step = 1e-6;
    yk_inertia global;
    yk_inertia_rotate(&inertia, &body[0].rotation, &global);
    yk_inertia_tangent(&global, &body[0], c, YK_ROTATION_OF_STEP, tangent);
    for (int k = 0; k < 6; k++) {
        double up[6], down[6];
        for (int side = 0; side < 2; side++) {
            yk_frame moved[2];
            general_bodies(moved);
            double by = side ? step : -step;
            displace(moved, k, by);
            if (k < 3) {
                hasten(moved, k, by / c);
            } else {
                yk_vec3 rotation = {k == 3 ? by : 0, k == 4 ? by : 0, k == 5 ? by : 0};
                yk_vec3 change =
                    yk_v3_axpy(-c / 2, yk_v3_cross(moved[0].angular_velocity, rotation), rotation);
                moved[0].angular_velocity = yk_v3_axpy(1 / c, change, moved[0].angular_velocity);
            }
            residual(&inertia, &moved[0], c, side ? up : down);
        }
        for (int i = 0; i < 6; i++)
            assert_near(tangent[i][k], (up[i] - down[i]) / (2 * step), 1e-7);
    }
}

/* Homogeneous solids: m (y2 + z2)/12 and so on, 2/5 m r2, m r2/2 and m (3 r2 + l2)/12. */
static void solids_have_their_moments(void **state)
{
    (void)state;
    yk_mat3 box = yk_inertia_box(12, 1, 2, 3);
    yk_mat3 sphere = yk_inertia_sphere(5, 2);
    yk_mat3 cylinder = yk_inertia_cylinder(12, 2, 3);
    const double expected[3][3] = {{13, 10, 5}, {8, 8, 8}, {21, 21, 24}};
    const yk_mat3 *tensors[] = {&box, &sphere, &cylinder};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                assert_near(tensors[i]->m[j][k], j == k ? expected[i][j] : 0, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_have_their_moments),
        cmocka_unit_test(offset_body_moves_with_its_centre),
        cmocka_unit_test(impossible_tensors_are_refused),
        cmocka_unit_test(tangent_is_the_derivative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
