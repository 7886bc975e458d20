#include "mechanics/force.h"

#include "bodies.h"
#include "test.h"

static const double STEP = 1e-5;

static double hills(void *user, double x, double y)
{
    (void)user;
    return 0.1 * sin(x) * cos(2 * y);
}

static yk_force_law law_of(int kind)
{
    yk_force_law law = {.kind = (yk_force_kind)kind,
                        .stiffness = 30,
                        .damping = 0,
                        .free = 0.4,
                        .vector = {1, -2, 3},
                        .contact = {.radius = 3,
                                    .stiffness = 30,
                                    .exponent = 1.5,
                                    .damping = 0.05,
                                    .clearance = 0.1,
                                    .friction = 0.4,
                                    .transition_velocity = 0.5,
                                    .slip_stiffness = 20,
                                    .cornering_stiffness = 15,
                                    .rolling_resistance = 0.1,
                                    .linear_drag = 2,
                                    .quadratic_drag = 3,
                                    .wind = {0.3, -0.2, 0.7},
                                    .height = hills,
                                    .length_unit = 1}};
    for (int side = 0; side < 2; side++) {
        yk_marker marker = general_marker(side);
        law.offset[side] = marker.offset;
        law.axes[side] = yk_q_matrix(marker.orientation);
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            law.bushing_stiffness[i][j] = i == j ? 20 + i : 0.5 * (i + j);
    return law;
}

static double load_at(const yk_force_law *law, const yk_frame body[2], int i)
{
    yk_force_load load;
    yk_force_evaluate(law, &body[0], &body[1], 1.5, &load, NULL);
    return component_of(load.part[i / 3], i % 3);
}

/* Torsion and bushing neglect how the tangent of a finite rotation turns: they are checked at
 * small relative rotation, where the neglected part vanishes. */
static void bodies_for(const yk_force_law *law, yk_frame body[2])
{
    general_bodies(body);
    if (law->kind != YK_FORCE_TORSION_SPRING && law->kind != YK_FORCE_BUSHING)
        return;
    yk_mat3 marker_a = yk_m3_mul(body[0].rotation, law->axes[0]);
    yk_vec3 rotation = law->kind == YK_FORCE_TORSION_SPRING ? yk_v3(0, 0, 0.8) : yk_v3(0, 0, 0);
    yk_mat3 marker_b = yk_m3_mul(marker_a, yk_so3_exp_matrix(rotation));
    body[1].rotation = yk_m3_mul(marker_b, yk_m3_transpose(law->axes[1]));
}

static void tangent_is_the_derivative_of_the_load(void **state)
{
    (void)state;
    for (int kind = 0; kind < YK_FORCE_KIND_COUNT; kind++) {
        yk_force_law law = law_of(kind);
        yk_frame body[2];
        bodies_for(&law, body);
        yk_force_load load;
        yk_force_tangent tangent;
        yk_force_evaluate(&law, &body[0], &body[1], 1.5, &load, &tangent);
        for (int k = 0; k < 12; k++) {
            yk_frame ahead[2], behind[2];
            bodies_for(&law, ahead), bodies_for(&law, behind);
            displace(ahead, k, STEP), displace(behind, k, -STEP);
            for (int i = 0; i < 12; i++) {
                /* About axes across the hinge a torsion spring is not defined by the joint that
                 * holds it. */
                if (kind == YK_FORCE_TORSION_SPRING && k % 6 >= 3)
                    continue;
                double slope = (load_at(&law, ahead, i) - load_at(&law, behind, i)) / (2 * STEP);
                /* Slopes of a ground are differences themselves, of loads that are larger. */
                double tolerance = kind >= YK_FORCE_DRAG ? 2e-5 : 2e-7;
                assert_near(tangent.pose[i / 3][k / 3].m[i % 3][k % 3], slope, tolerance);
            }
        }
    }
}

/* A torsion spring turned about its own axis. */
static void torsion_turns_about_its_axis(void **state)
{
    (void)state;
    yk_force_law law = law_of(YK_FORCE_TORSION_SPRING);
    yk_frame body[2], rotated[2];
    bodies_for(&law, body), bodies_for(&law, rotated);
    yk_vec3 z = yk_m3_apply(body[0].rotation, yk_m3_column(&law.axes[0], 2));
    rotated[1].rotation = yk_m3_mul(yk_so3_exp_matrix(yk_v3_scale(0.1, z)), rotated[1].rotation);
    yk_force_load before, after;
    yk_force_evaluate(&law, &body[0], &body[1], 0, &before, NULL);
    yk_force_evaluate(&law, &rotated[0], &rotated[1], 0, &after, NULL);
    assert_near(yk_v3_dot(before.part[3], z), -30 * (0.8 - 0.4), 1e-12);
    assert_near(yk_v3_dot(after.part[3], z), -30 * (0.9 - 0.4), 1e-12);
}

/* Powers: force times velocity = - rate of stored energy - loss + supply, for laws with damping. */
static void power_balances(void **state)
{
    (void)state;
    for (int kind = 0; kind < YK_FORCE_KIND_COUNT; kind++) {
        yk_force_law law = law_of(kind);
        law.damping = 2;
        for (int i = 0; i < 6; i++) {
            law.bushing_damping[i][i] = 3;
            for (int j = 0; j < 6; j++)
                law.bushing_stiffness[i][j] = i == j ? 20 + i : 0.5 * (i + j);
        }
        yk_frame body[2];
        general_bodies(body);
        if (kind == YK_FORCE_TORSION_SPRING) {
            /* The axis of the spring must be an axis of the relative rotation. */
            bodies_for(&law, body);
            yk_vec3 z = yk_m3_apply(body[0].rotation, yk_m3_column(&law.axes[0], 2));
            body[1].angular_velocity = yk_v3_axpy(0.7, z, body[0].angular_velocity);
        }
        yk_force_load load, ahead, behind;
        yk_force_evaluate(&law, &body[0], &body[1], 1.5, &load, NULL);
        double power = 0;
        for (int side = 0; side < 2; side++)
            power += yk_v3_dot(load.part[2 * side], body[side].velocity) +
                     yk_v3_dot(load.part[2 * side + 1], body[side].angular_velocity);
        yk_frame a[2] = {coasted(&body[0], STEP), coasted(&body[0], -STEP)};
        yk_frame b[2] = {coasted(&body[1], STEP), coasted(&body[1], -STEP)};
        yk_force_evaluate(&law, &a[0], &b[0], 1.5, &ahead, NULL);
        yk_force_evaluate(&law, &a[1], &b[1], 1.5, &behind, NULL);
        double stored = (ahead.energy - behind.energy) / (2 * STEP);
        double tolerance = kind >= YK_FORCE_DRAG ? 1e-9 * fabs(power) + 1e-7 : 1e-7;
        assert_near(power, -stored - load.loss + load.supply, tolerance);
    }
}

/* The laws of contacts are functions of velocities too. */
static void rate_tangent_is_the_derivative_of_the_load(void **state)
{
    (void)state;
    for (int kind = YK_FORCE_DRAG; kind <= YK_FORCE_CLEARANCE; kind++) {
        yk_force_law law = law_of(kind);
        yk_frame body[2];
        general_bodies(body);
        yk_force_load load;
        yk_force_tangent tangent;
        yk_force_evaluate(&law, &body[0], &body[1], 0, &load, &tangent);
        assert_true(yk_v3_norm(load.part[2]) > 1);
        for (int k = 0; k < 12; k++) {
            yk_frame ahead[2], behind[2];
            general_bodies(ahead), general_bodies(behind);
            hasten(ahead, k, STEP), hasten(behind, k, -STEP);
            for (int i = 0; i < 12; i++) {
                double slope = (load_at(&law, ahead, i) - load_at(&law, behind, i)) / (2 * STEP);
                assert_near(tangent.rate[i / 3][k / 3].m[i % 3][k % 3], slope, 2e-6);
            }
        }
    }
}

/* A wheel whose axis is along y and that moves along x, 0.1 m above its place without load. */
static yk_force_load wheel_load(double speed, double aside, double spin)
{
    yk_force_law law = {.kind = YK_FORCE_TYRE,
                        .axes = {yk_m3_identity(), yk_so3_exp_matrix(yk_v3(-YK_PI / 2, 0, 0))},
                        .contact = {.radius = 0.3,
                                    .stiffness = 2e5,
                                    .exponent = 1,
                                    .friction = 0.8,
                                    .transition_velocity = 1e-6,
                                    .slip_stiffness = 6e4,
                                    .cornering_stiffness = 4e4,
                                    .length_unit = 1}};
    yk_frame ground = yk_frame_ground();
    yk_frame wheel = {.position = {0, 0, 0.28},
                      .rotation = yk_m3_identity(),
                      .velocity = {speed, aside, 0},
                      .angular_velocity = {0, spin, 0}};
    yk_force_load load;
    yk_force_evaluate(&law, &ground, &wheel, 0, &load, NULL);
    return load;
}

/* Pacejka 2012, section 3.2: lateral force of the brush model with parabolic pressure, and its
 * limit. */
static void tyre_follows_the_brush_model(void **state)
{
    (void)state;
    const double normal = 4000, limit = 0.8 * 4000;
    yk_force_load free = wheel_load(20, 0, 20 / 0.3);
    assert_near(free.part[2].z, normal, 1e-6);
    assert_near(free.part[2].x, 0, 1e-6);
    assert_near(free.part[2].y, 0, 1e-6);

    for (int k = 1; k < 8; k++) {
        double tangent = 0.02 * k;
        double s = 4e4 * tangent / limit;
        double expected = s < 3 ? limit * (1 - pow(1 - s / 3, 3)) : limit;
        assert_near(wheel_load(20, 20 * tangent, 20 / 0.3).part[2].y, -expected, 1e-6 * limit);
    }

    /* A driven wheel: slip (omega R - v) / v, and a locked one. */
    double s = 6e4 * 0.03 / limit;
    assert_near(wheel_load(20, 0, 1.03 * 20 / 0.3).part[2].x, limit * (1 - pow(1 - s / 3, 3)),
                1e-6 * limit);
    assert_near(wheel_load(20, 0, 0).part[2].x, -limit, 1e-6 * limit);
    assert_near(wheel_load(20, 0, 0).loss, limit * 20, 1e-6 * limit * 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangent_is_the_derivative_of_the_load),
        cmocka_unit_test(torsion_turns_about_its_axis),
        cmocka_unit_test(power_balances),
        cmocka_unit_test(rate_tangent_is_the_derivative_of_the_load),
        cmocka_unit_test(tyre_follows_the_brush_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
