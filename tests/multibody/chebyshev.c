/* The Runge-Kutta-Chebyshev method: its coefficients, its growth factors in the pair of stabilised
 * equations, and its order. */
#include "multibody/integrator.h"
#include "multibody/multibody.h"

#include "run.h"

static void use(run *r, int stages, double rate)
{
    r->kit.def.options.integrator = YK_MULTIBODY_CHEBYSHEV;
    r->kit.def.options.stages = stages;
    r->kit.def.options.stabilization_rate = rate;
    r->kit.def.options.assembly_tolerance = 1e-13;
}

/* The growth factor is 1 + z + z^2/2 + O(z^3), and the last stage is at the end of the step. */
static void coefficients_satisfy_order_conditions(void **state)
{
    (void)state;
    for (int stages = 2; stages <= YK_CHEBYSHEV_STAGES_MAX; stages += 7) {
        yk_chebyshev_stage stage[YK_CHEBYSHEV_STAGES_MAX + 1];
        yk_chebyshev_coefficients(stages, stage);
        assert_near(stage[stages].c, 1, 1e-12);

        double z = 1e-3;
        double plus = yk_chebyshev_growth(stages, z), minus = yk_chebyshev_growth(stages, -z);
        assert_near(0.5 * (plus - minus) / z, 1, 1e-6);
        assert_near((plus + minus - 2) / (z * z), 1, 1e-6);
    }
}

/* Stable on the negative real axis up to 0.65 (s^2 - 1), and not much further. */
static void region_of_stability_grows_with_the_square_of_the_stages(void **state)
{
    (void)state;
    for (int stages = 2; stages <= 60; stages += 2) {
        double limit = 0.65 * (stages * stages - 1);
        for (int i = 0; i <= 1000; i++)
            assert_true(fabs(yk_chebyshev_growth(stages, -limit * i / 1000)) <= 1 + 1e-12);
        assert_true(fabs(yk_chebyshev_growth(stages, -1.2 * limit)) > 1);
    }
}

/* A mass on a damper to the ground: v' = -d v. */
static double velocity_after_one_step(int stages, double z)
{
    run r;
    kit_open(&r.kit, 1);
    r.kit.def.name = "damped";
    r.kit.nodes[kit_node(&r.kit, "mass", yk_v3(1, 0, 0), yk_q_identity())].velocity =
        yk_v3(0, 1, 0);
    kit_body(&r.kit, 0, 2, 1, 1, 1);
    yk_force_def *damper = &r.kit.forces[0];
    *damper = yk_force_default();
    damper->name = "damper", damper->kind = YK_FORCE_BUSHING, damper->bodies[1] = (yk_body_id){0};
    double h = 0.01;
    damper->bushing_damping[1][1] = -2 * z / h;
    r.kit.def.force_count = 1;
    use(&r, stages, 0);
    run_start(&r, h);
    run_to(&r, h);
    double velocity = run_motion(&r, 0).velocity.y;
    run_stop(&r);
    return velocity;
}

static void a_damped_mass_follows_the_growth_factor(void **state)
{
    (void)state;
    for (int stages = 2; stages <= 20; stages += 3) {
        double limit = 0.65 * (stages * stages - 1);
        for (double z = 0.1; z < 1.5 * limit; z += 0.37 * limit) {
            double growth = yk_chebyshev_growth(stages, -z);
            assert_near(velocity_after_one_step(stages, -z), growth, 1e-12 * fmax(1, fabs(growth)));
        }
    }
}

/* A gap of a joint decays with the growth factor of -beta h, and so does its rate, each on its own:
 * in the equation of second order for accelerations a gap would cause a velocity. */
static void gaps_and_their_rates_decay_independently(void **state)
{
    (void)state;
    double h = 0.02, beta = 30;
    run r;
    kit_open(&r.kit, 2);
    r.kit.def.name = "rail";
    kit_node(&r.kit, "slider", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 2, 1, 1, 1);
    kit_joint(&r.kit, YK_JOINT_PRISMATIC, "rail", YK_GROUND_INDEX, yk_marker_default(), 0,
              yk_marker_default());
    use(&r, 4, beta);
    run_start(&r, h);
    node_state *slider = &r.model->state.now[0];
    slider->position.x = 1e-3;
    slider->velocity.y = 2e-3;
    run_to(&r, 3 * h);

    double decay = pow(yk_chebyshev_growth(4, -beta * h), 3);
    yk_motion m = run_motion(&r, 0);
    assert_near(m.position.x, 1e-3 * decay, 1e-15);
    assert_near(m.velocity.x, 0, 1e-15);
    assert_near(m.velocity.y, 2e-3 * decay, 1e-15);
    assert_near(m.position.y, 0, 1e-15);
    run_stop(&r);
}

static yk_vec3 end_of_pendulum(yk_multibody_integrator kind, double h)
{
    run r;
    kit_double_pendulum(&r.kit);
    use(&r, 5, 0);
    r.kit.def.options.integrator = kind;
    run_start(&r, h);
    run_to(&r, 0.48);
    yk_vec3 end = run_motion(&r, 1).position;
    run_stop(&r);
    return end;
}

/* Against the method of order 8. */
static void steps_of_a_double_pendulum_are_of_second_order(void **state)
{
    (void)state;
    yk_vec3 exact = end_of_pendulum(YK_MULTIBODY_RUNGE_KUTTA, 1e-3);
    double errors[3];
    for (int i = 0; i < 3; i++) {
        yk_vec3 end = end_of_pendulum(YK_MULTIBODY_CHEBYSHEV, 0.016 / (1 << i));
        errors[i] = yk_v3_norm(yk_v3_sub(end, exact));
    }
    for (int i = 0; i < 2; i++) {
        double order = log2(fabs(errors[i] / errors[i + 1]));
        if (!(order > 1.85 && order < 2.3))
            print_error("errors %.3g and %.3g: order %.2f\n", errors[i], errors[i + 1], order);
        assert_true(order > 1.85 && order < 2.3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_satisfy_order_conditions),
        cmocka_unit_test(region_of_stability_grows_with_the_square_of_the_stages),
        cmocka_unit_test(a_damped_mass_follows_the_growth_factor),
        cmocka_unit_test(gaps_and_their_rates_decay_independently),
        cmocka_unit_test(steps_of_a_double_pendulum_are_of_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
