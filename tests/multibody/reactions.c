/* Reactions of joints over time: as accurate as the motion. */
#include <string.h>

#include "math/so3.h"
#include "run.h"

/* A slim rod that hangs by one end on a ball joint, with its node at the other, and swings in
 * space: the inertia about its own axis is one part in 200 of the other two, so that kept factors
 * of a step serve one rotation much longer than the other. */
static void slim_rod(run *r, yk_multibody_integrator integrator)
{
    kit_open(&r->kit, 2);
    r->kit.def.gravity = yk_v3(1, -9.81, 2);
    r->kit.def.options.integrator = integrator;
    if (integrator == YK_MULTIBODY_RUNGE_KUTTA)
        r->kit.def.options.error_tolerance = 1e-12;
    yk_quat rotated = yk_so3_exp(yk_v3_scale(0.8 / sqrt(5.25), yk_v3(1, 2, 0.5)));
    int rod = kit_node(&r->kit, "rod", yk_v3(0, 0, 0), rotated);
    kit_body(&r->kit, rod, 5.65, 2.5e-3, 0.47, 0.47);
    r->kit.bodies[0].center_of_mass = yk_v3(0.5, 0, 0);
    kit_joint(&r->kit, YK_JOINT_SPHERICAL, "ball", YK_GROUND_INDEX,
              kit_marker(yk_q_rotate(rotated, yk_v3(1, 0, 0)), yk_q_identity()), rod,
              yk_marker_at(1, 0, 0));
}

static double reaction_error(yk_multibody_integrator integrator, double h)
{
    run r, exact;
    slim_rod(&r, integrator);
    slim_rod(&exact, YK_MULTIBODY_RUNGE_KUTTA);
    run_start(&r, h);
    run_start(&exact, h);
    double worst = 0;
    for (int i = 1; i <= lround(0.3 / h); i++) {
        run_to(&r, i * h);
        run_to(&exact, i * h);
        yk_wrench a, b;
        yk_multibody_reaction(r.model, 0, &a);
        yk_multibody_reaction(exact.model, 0, &b);
        worst = fmax(worst, yk_v3_norm(yk_v3_sub(a.force, b.force)));
    }
    yk_multibody_report report;
    yk_multibody_report_get(r.model, &report);
    assert_int_equal(report.rejected, 0);
    run_stop(&r);
    run_stop(&exact);
    return worst;
}

static void reactions_are_of_second_order(void **state)
{
    (void)state;
    static const yk_multibody_integrator tried[] = {YK_MULTIBODY_TWO_STEP,
                                                    YK_MULTIBODY_GENERALIZED_ALPHA};
    for (int i = 0; i < 2; i++) {
        double coarse = reaction_error(tried[i], 2e-3), fine = reaction_error(tried[i], 1e-3);
        assert_near(fine, 0, 2e-3); /* of 87 N */
        assert_true(coarse / fine > 3.5);
    }
}

static void hear(void *user, yk_log_level level, const char *message)
{
    char *heard = user;
    if (level == YK_LOG_WARNING)
        snprintf(heard, 256, "%s", message);
}

/* Without numerical damping reactions are not to be trusted; nothing else is wrong, so this is
 * said and no more. */
static void undamped_reactions_are_warned_of(void **state)
{
    (void)state;
    static const struct warned {
        double rho_inf;
        yk_multibody_integrator integrator;
        yk_multibody_formulation form;
        bool warned;
    } cases[] = {
        {1, YK_MULTIBODY_TWO_STEP, YK_MULTIBODY_FORMULATION_INDEX_3, true},
        {0.98, YK_MULTIBODY_GENERALIZED_ALPHA, YK_MULTIBODY_FORMULATION_INDEX_3, true},
        {0.9, YK_MULTIBODY_TWO_STEP, YK_MULTIBODY_FORMULATION_INDEX_3, false},
        {1, YK_MULTIBODY_GENERALIZED_ALPHA, YK_MULTIBODY_FORMULATION_STABILIZED_ODE, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char heard[256] = "";
        yk_context_def def = yk_context_default();
        def.log = hear;
        def.log_user = heard;
        run r;
        slim_rod(&r, cases[i].integrator);
        r.kit.def.options.rho_inf = cases[i].rho_inf;
        r.kit.def.options.formulation = cases[i].form;
        r.context = yk_context_create(&def);
        assert_int_equal(yk_multibody_make(r.context, kit_def(&r.kit), &r.model), YK_OK);
        assert_int_equal(yk_multibody_start(r.model, 0, 1e-3), YK_OK);
        assert_int_equal(strstr(heard, "rho_inf") != NULL, cases[i].warned);
        run_stop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undamped_reactions_are_warned_of),
        cmocka_unit_test(reactions_are_of_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
