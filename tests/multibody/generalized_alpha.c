/* The generalised-alpha integrator in both forms: order, energy, drift, the reactions of the
 * first steps. */
#include <string.h>

#include "run.h"

/* The slider-crank of the reference table at t = 0.5. */
static const double TABLE_X = 0.1886173755993;

static void set(run *r, yk_multibody_formulation form, double rho_inf)
{
    r->kit.def.options.integrator = YK_MULTIBODY_GENERALIZED_ALPHA;
    r->kit.def.options.formulation = form;
    r->kit.def.options.rho_inf = rho_inf;
    r->kit.def.options.newton_relative_tolerance = 1e-7;
}

static double slider_error(yk_multibody_formulation form, double rho_inf, double h, double *drift)
{
    run r;
    kit_slider_crank(&r.kit);
    set(&r, form, rho_inf);
    run_start(&r, h);
    run_to(&r, 0.5);
    yk_motion slider = run_motion(&r, 2), rod = run_motion(&r, 1);
    /* The universal joint: the end of the rod is at the slider. */
    yk_vec3 end = yk_v3_add(rod.position, yk_q_rotate(rod.orientation, yk_v3(0.15, 0, 0)));
    *drift = yk_v3_norm(yk_v3_sub(end, slider.position));
    double error = slider.position.x - TABLE_X;
    run_stop(&r);
    return error;
}

static void check_order(yk_multibody_formulation form, double rho_inf, double gap)
{
    double drift, finer, coarse = slider_error(form, rho_inf, 1e-3, &drift);
    double fine = slider_error(form, rho_inf, 5e-4, &finer), order = log2(fabs(coarse / fine));
    if (order < 1.8 || order > 2.6)
        print_error("errors %g and %g: order %.2f\n", coarse, fine, order);
    assert_true(order > 1.8 && order < 2.6);
    assert_true(drift < gap && finer < fmax(0.3 * drift, 1e-10));
}

static void both_forms_are_of_second_order(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        check_order(YK_MULTIBODY_FORMULATION_INDEX_3, 0.3 * k + 0.2, 1e-10);
        check_order(YK_MULTIBODY_FORMULATION_STABILIZED_ODE, 0.3 * k + 0.2,
                    1e-6); /* gaps of the order of the local error, not of rounding */
    }
}

static void a_free_rate_of_stabilisation_closes_gaps_more_slowly(void **state)
{
    (void)state;
    double gap[2];
    for (int k = 0; k < 2; k++) {
        run r;
        kit_slider_crank(&r.kit);
        set(&r, YK_MULTIBODY_FORMULATION_STABILIZED_ODE, 0.6);
        r.kit.def.options.stabilization_rate = k ? 100 : 2000; /* one over the step is 2000 */
        run_start(&r, 5e-4);
        run_to(&r, 0.25);
        yk_motion slider = run_motion(&r, 2), rod = run_motion(&r, 1);
        yk_vec3 end = yk_v3_add(rod.position, yk_q_rotate(rod.orientation, yk_v3(0.15, 0, 0)));
        gap[k] = yk_v3_norm(yk_v3_sub(end, slider.position));
        assert_near(slider.position.x, 0.2841627474501, 2e-5);
        run_stop(&r);
    }
    assert_true(gap[0] < 2e-7 && gap[1] > 3 * gap[0] && gap[1] < 1e-4);
}

/* A mass on a spring whose period is six steps: its amplitude falls by the method's own damping,
 * none with rho_inf = 1. */
static double amplitude_left(double rho_inf)
{
    double h = 0.1, mass = 2, stiffness = mass * (2 * YK_PI / (6 * h)) * (2 * YK_PI / (6 * h));
    run r;
    kit_open(&r.kit, 1);
    kit_node(&r.kit, "mass", yk_v3(1.5, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, mass, 1, 1, 1);
    r.kit.forces[0] = yk_force_default();
    r.kit.forces[0].name = "spring";
    r.kit.forces[0].kind = YK_FORCE_SPRING;
    r.kit.forces[0].bodies[1] = (yk_body_id){0};
    r.kit.forces[0].stiffness = stiffness, r.kit.forces[0].free_length = 1;
    r.kit.def.force_count = 1;
    set(&r, YK_MULTIBODY_FORMULATION_INDEX_3, rho_inf);
    run_start(&r, h);
    run_to(&r, 20);
    double left = sqrt(run_energy(&r) / (0.5 * stiffness * 0.25));
    run_stop(&r);
    return left;
}

static void amplitudes_decay_with_rho_inf(void **state)
{
    (void)state;
    /* The scalar recurrence of the method over 200 steps, computed independently. */
    assert_near(amplitude_left(1), 1, 1e-12);
    assert_near(amplitude_left(0.8), 0.8837680472782901, 1e-12);
    assert_near(amplitude_left(0.2), 1.663617311332593e-05, 1e-15);
}

/* Reactions are of second order from the first step on, thanks to where the method's
 * accelerations begin. */
static double reaction_error(double h)
{
    run exact, r;
    yk_wrench wanted, found;
    double t = 8e-3;
    kit_slider_crank(&exact.kit);
    exact.kit.def.options.integrator = YK_MULTIBODY_RUNGE_KUTTA;
    exact.kit.def.options.error_tolerance = 1e-12;
    run_start(&exact, t);
    run_to(&exact, t);
    yk_multibody_reaction(exact.model, 1, &wanted);
    kit_slider_crank(&r.kit);
    set(&r, YK_MULTIBODY_FORMULATION_INDEX_3, 0.6);
    run_start(&r, h);
    run_to(&r, t);
    yk_multibody_reaction(r.model, 1, &found);
    run_stop(&exact);
    run_stop(&r);
    return yk_v3_norm(yk_v3_sub(found.force, wanted.force));
}

static void reactions_are_of_second_order(void **state)
{
    (void)state;
    double coarse = reaction_error(1e-3), fine = reaction_error(5e-4);
    if (!(log2(coarse / fine) > 1.7))
        print_error("errors %g and %g N\n", coarse, fine);
    assert_true(log2(coarse / fine) > 1.7);
}

static void redundant_joints_and_speeds_are_carried(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        run r;
        kit_bricard(&r.kit);
        set(&r, (yk_multibody_formulation)form, 0.6);
        run_start(&r, 1e-3);
        double energy = run_energy(&r);
        run_to(&r, 1);
        assert_near(run_energy(&r), energy, 2e-4); /* some 10 J are moving by then */
        run_stop(&r);
    }
}

/* A step for which the iterations do not suffice is made in pieces, and ends where it should: the
 * tip of the double pendulum, against steps that are not cut. */
static void a_step_that_is_cut_ends_where_it_should(void **state)
{
    (void)state;
    static const double steps[] = {1e-3, 0.05};
    double height[2];
    for (int k = 0; k < 2; k++) {
        run r;
        kit_double_pendulum(&r.kit);
        set(&r, YK_MULTIBODY_FORMULATION_INDEX_3, 0.8);
        if (k == 1)
            r.kit.def.options.max_newton_iterations = 3;
        run_start(&r, steps[k]);
        run_to(&r, 0.2);
        yk_multibody_report report;
        yk_multibody_report_get(r.model, &report);
        assert_int_equal(report.rejected > 0, k);
        height[k] = run_motion(&r, 1).position.y;
        run_stop(&r);
    }
    assert_near(height[1], height[0], 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_are_of_second_order),
        cmocka_unit_test(a_free_rate_of_stabilisation_closes_gaps_more_slowly),
        cmocka_unit_test(amplitudes_decay_with_rho_inf),
        cmocka_unit_test(reactions_are_of_second_order),
        cmocka_unit_test(redundant_joints_and_speeds_are_carried),
        cmocka_unit_test(a_step_that_is_cut_ends_where_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
