/* The stability of scenarios: against closed forms, against known frequencies, and against what
 * the runs do. */
#include <string.h>

#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

enum { OVERRIDES_MAX = 8 };

typedef struct question {
    const char *model;
    const char *overrides[OVERRIDES_MAX];
} question;

static yk_scenario *load(yk_context *context, const question *q, bool to_rounding)
{
    yk_scenario_def def = describe_scenario(model_file(q->model), NULL, q->overrides);
    def.iterate_to_rounding = to_rounding;
    return load_described(context, &def);
}

static yk_stability_report ask(yk_context *context, const question *q, bool rest)
{
    yk_scenario *scenario = load(context, q, true);
    yk_stability_options def = yk_stability_options_default();
    def.find_equilibrium = rest;
    yk_stability_report report;
    assert_int_equal(yk_analyze_stability(context, scenario, &def, &report), YK_OK);
    yk_scenario_destroy(scenario);
    return report;
}

/* Energy that the interfaces created, by the largest that moves; infinite if the run broke down. */
static double run_creates(yk_context *context, const question *q)
{
    yk_scenario *scenario = load(context, q, false);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    yk_run_report report;
    yk_status status = yk_run(context, scenario, &(yk_run_options){0}, &report);
    double created = 0;
    for (int i = 0; i < yk_scenario_get_info(scenario)->interface_count; i++)
        created += yk_system_interface_statistics(system, (yk_interface_id){i}).energy_created;
    yk_scenario_destroy(scenario);
    return YK_FAILED(status) ? INFINITY : created / report.max_energy;
}

/* tests/analysis/stability.c compares yk_two_mass_radius with the recurrence matrices of the
 * papers to 1e-9. */
static void the_two_mass_scenario_has_the_radius_of_the_closed_forms(void **state)
{
    static const char *const words[] = {"none", "index-1", "index-2", "index-3"};
    const yk_modified_inputs inputs[] = {YK_MODIFIED_INPUTS_NONE, YK_MODIFIED_INPUTS_INDEX_1,
                                         YK_MODIFIED_INPUTS_INDEX_2, YK_MODIFIED_INPUTS_INDEX_3};
    const double steps[] = {1e-4, 1e-3, 2e-2}, masses[] = {0.3, 1, 2};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 9; j++) {
            yk_two_mass_model model = yk_two_mass_default();
            model.rho_inf = 0.56, model.omega_h = sqrt(5000) * steps[j / 3],
            model.mass_ratio = masses[j % 3];
            yk_explicit_options options = yk_explicit_options_default();
            options.modified_inputs = inputs[i];
            model.scheme.options = &options;
            double expected;
            assert_int_equal(yk_two_mass_radius(*state, &model, &expected), YK_OK);
            char texts[3][64];
            snprintf(texts[0], sizeof texts[0], "time.step=%.17g", steps[j / 3]);
            snprintf(texts[1], sizeof texts[1], "parameters.right_mass=%.17g", masses[j % 3]);
            snprintf(texts[2], sizeof texts[2], "coupling.modified_inputs=%s", words[i]);
            question q = {"two-mass-oscillator", {texts[0], texts[1], texts[2]}};
            yk_stability_report r = ask(*state, &q, false);
            assert_near(r.spectral_radius, expected, 1e-6);
            assert_true(fabs(r.spectral_radius - expected) <= 100 * r.spectral_radius_error + 1e-9);
            assert_int_equal(r.verdict, expected > YK_SPECTRAL_RADIUS_LIMIT
                                            ? YK_VERDICT_UNSTABLE_COUPLING
                                            : YK_VERDICT_STABLE);
            assert_near(r.tracked_growth, expected, 1e-3);
        }
}

static void orders_and_schemes_are_covered_without_knowing_them(void **state)
{
    yk_two_mass_model model = yk_two_mass_default();
    model.rho_inf = 0.56, model.omega_h = sqrt(5000) * 1e-3;
    yk_explicit_options jacobi = yk_explicit_options_default();
    jacobi.sequence = YK_SEQUENCE_JACOBI;
    model.scheme.options = &jacobi;
    double expected;
    assert_int_equal(yk_two_mass_radius(*state, &model, &expected), YK_OK);
    question q = {"two-mass-oscillator", {"time.step=1e-3", "coupling.sequence=jacobi"}};
    assert_near(ask(*state, &q, false).spectral_radius, expected, 1e-6);
    model = yk_two_mass_default();
    model.rho_inf = 0.56, model.omega_h = sqrt(5000) * 1e-3;
    yk_tight_options converged = yk_tight_options_default();
    converged.tolerance = 1e-12, converged.relative_tolerance = 1e-14,
    converged.max_iterations = 100;
    model.scheme = (yk_scheme_def){yk_scheme_tight(), &converged};
    assert_int_equal(yk_two_mass_radius(*state, &model, &expected), YK_OK);
    question tight = {"two-mass-oscillator",
                      {"time.step=1e-3", "coupling.scheme=tight", "coupling.acceleration=aitken",
                       "coupling.absolute_tolerance=1e-12", "coupling.max_iterations=100"}};
    assert_near(ask(*state, &tight, false).spectral_radius, expected, 1e-6);
    model.scheme = (yk_scheme_def){.ops = yk_scheme_monolithic()};
    assert_int_equal(yk_two_mass_radius(*state, &model, &expected), YK_OK);
    question monolithic = {"two-mass-oscillator", {"time.step=1e-3", "coupling.scheme=monolithic"}};
    yk_stability_report r = ask(*state, &monolithic, false);
    assert_near(r.spectral_radius, expected, 1e-6);
    assert_false(yk_interface_is_valid(r.modes[0].interface));
}

/* A frequency ratio of 1e3, where degree 2 is unstable and degree 3 is not (paper index1, figure
 * 14). The interfaces of index1 create no energy, and it is the coupling all the same. */
static void the_verdict_on_index1_needs_no_energy(void **state)
{
    question q = {"two-mass-oscillator",
                  {"coupling.scheme=index1", "subsystems.left.integrator=exact",
                   "subsystems.right.integrator=exact", "subsystems.left.stiffness=100",
                   "subsystems.right.stiffness=1e8", "time.step=0.01",
                   "coupling.polynomial_degree=2"}};
    yk_stability_report r = ask(*state, &q, false);
    assert_int_equal(r.verdict, YK_VERDICT_UNSTABLE_COUPLING);
    assert_near(r.coupling_growth, r.spectral_radius, 0);
    q.overrides[6] = "coupling.polynomial_degree=3";
    assert_int_equal(ask(*state, &q, false).verdict, YK_VERDICT_STABLE);
}

static void the_least_stable_mode_is_named(void **state)
{
    question q = {"two-mass-oscillator", {"time.step=1e-3", "coupling.modified_inputs=none"}};
    yk_stability_report r = ask(*state, &q, false);
    const yk_stability_mode *m = &r.modes[0];
    assert_int_equal(m->interface.index, 0);
    assert_int_equal(m->subsystem.index, 1);
    assert_non_null(strstr(m->moving_bodies, "right.mass"));
    assert_int_equal(r.verdict, YK_VERDICT_UNSTABLE_COUPLING);
    assert_true(r.unstable_at_every_step);
    assert_relative(m->rate, log(1.10532447731) / 1e-3, 1e-6);
    /* The physical mode is there too: sqrt(5000 / 2) rad/s, lowered by the coupling in second
     * order. */
    assert_near(r.modes[1].frequency, sqrt(2500) / (2 * acos(-1)), 0.01);
}

/* A constrained mechanism with quaternions and a multistep method: no word of its image is a
 * coordinate. */
static void a_pendulum_at_rest_has_its_frequency(void **state)
{
    question hanging = {"pendulum",
                        {"subsystems.mechanism.bodies.bob.position=[0.5, -sqrt(0.75), 0]"}};
    yk_stability_report r = ask(*state, &hanging, true);
    assert_near(r.modes[0].frequency, sqrt(9.81) / (2 * acos(-1)), 1e-4);
    assert_near(r.spectral_radius, 1, 1e-6);
    assert_int_equal(r.verdict, YK_VERDICT_STABLE);
    assert_true(r.modes[1].growth <
                0.7); /* what constraints and history leave decays with rho_inf = 0.6 */
    question standing = {"pendulum", {"subsystems.mechanism.bodies.bob.position=[0.05, 1, 0]"}};
    r = ask(*state, &standing, true);
    assert_near(r.modes[0].rate, sqrt(9.81 / hypot(0.05, 1)), 1e-4);
    assert_int_equal(r.verdict, YK_VERDICT_UNSTABLE_MOTION);
}

/* A pendulum that falls from near the top, where deviations grow as exp(sqrt(g cos(angle)) t), and
 * slower the farther it has come. If several states have the same verdict, the worst is reported, not the last. */
static void the_worst_of_the_states_is_told(void **state)
{
    question falling = {"pendulum",
                        {"subsystems.mechanism.bodies.bob.position=[0.05, sqrt(0.9975), 0]",
                         "time.end=0.45", "time.step=1e-3"}};
    yk_scenario *scenario = load(*state, &falling, true);
    yk_stability_options def = yk_stability_options_default();
    def.sample_count = 2;
    yk_stability_report r;
    assert_int_equal(yk_analyze_stability(*state, scenario, &def, &r), YK_OK);
    yk_scenario_destroy(scenario);

    assert_int_equal(r.sample_count, 2);
    assert_int_equal(r.verdict, YK_VERDICT_UNSTABLE_MOTION);
    assert_int_equal(r.samples[0].verdict, YK_VERDICT_UNSTABLE_MOTION);
    assert_int_equal(r.samples[1].verdict, YK_VERDICT_UNSTABLE_MOTION);
    assert_true(r.samples[0].radius > r.samples[1].radius + 1e-4);
    assert_near(r.spectral_radius, r.samples[0].radius, 0);
    assert_near(r.time, r.samples[0].time, 0);
    assert_relative(log(r.spectral_radius) / 1e-3, sqrt(9.81 * sqrt(0.9975)), 1e-3);
}

/* Smooth and nonsmooth solver, a contact cache in the image: paper explicit, figure 17, on the
 * shaken box. */
static void the_verdict_on_a_particle_damper_is_that_of_the_run(void **state)
{
    static const char *const words[] = {
        "coupling.modified_inputs=none", "coupling.modified_inputs=index-1",
        "coupling.modified_inputs=index-2", "coupling.modified_inputs=index-3"};
    for (int i = 0; i < 4; i++)
        for (int light = 0; light < 2; light++) {
            question q = {"shaken-damper",
                          {words[i], light ? "parameters.fraction=0.3" : "parameters.fraction=0.55",
                           "parameters.count=12", "coupling.scheme=explicit", "time.end=0.1"}};
            bool unstable = !light && i != 1;
            yk_stability_report r = ask(*state, &q, false);
            double created = run_creates(*state, &q);
            assert_int_equal(r.verdict == YK_VERDICT_UNSTABLE_COUPLING, unstable);
            assert_int_equal(created > 0.1, unstable);
        }
}

/* Hydraulics, control and contact: studies/rim finds that holding the motion over a macro step is
 * unstable for large ones, and a reduced interface model is not. The pump feeds what the coupling
 * makes swing. */
static void the_verdict_on_hydraulic_machines_is_that_of_the_run(void **state)
{
    const struct {
        const char *model, *step, *extrapolation;
        bool unstable;
    } cases[] = {{"manipulator", "time.step=1e-2", "coupling.extrapolation=constant", false},
                 {"manipulator", "time.step=2e-2", "coupling.extrapolation=interface-model", false},
                 {"manipulator", "time.step=2e-2", "coupling.extrapolation=constant", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        question q = {cases[i].model,
                      {"coupling.scheme=rim", "coupling.sequence=jacobi",
                       "coupling.slow_wrench=last", cases[i].step, cases[i].extrapolation}};
        yk_verdict verdict = ask(*state, &q, false).verdict;
        assert_int_equal(verdict == YK_VERDICT_UNSTABLE_COUPLING ||
                             verdict == YK_VERDICT_COUPLING_BREAKDOWN,
                         cases[i].unstable);
    }
}

static void a_run_that_breaks_down_is_an_answer(void **state)
{
    question q = {"two-mass-oscillator",
                  {"time.step=1e-3", "coupling.modified_inputs=none", "parameters.right_mass=30"}};
    yk_scenario *scenario = load(*state, &q, true);
    yk_stability_options def = yk_stability_options_default();
    def.time = 2;
    yk_stability_report r;
    assert_int_equal(yk_analyze_stability(*state, scenario, &def, &r), YK_OK);
    assert_int_equal(r.verdict, YK_VERDICT_COUPLING_BREAKDOWN);
    assert_true(isinf(r.spectral_radius) && isinf(r.coupling_growth) && r.time < 2);
    def.time = -1;
    assert_int_equal(yk_analyze_stability(*state, scenario, &def, &r), YK_ERROR_ARGUMENT);
    yk_scenario_destroy(scenario);
}

static void the_system_is_left_at_its_start(void **state)
{
    question q = {"two-mass-oscillator", {NULL}};
    yk_scenario *scenario = load(*state, &q, true);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    yk_stability_options def = yk_stability_options_default();
    yk_stability_report r;
    assert_int_equal(yk_analyze_stability(*state, scenario, &def, &r), YK_OK);
    assert_int_equal(yk_system_step_count(system), 0);
    assert_near(
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x, 0,
        0);
    assert_near(
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.velocity.x, 0.1,
        0);
    yk_scenario_destroy(scenario);
}

/* Maps are sweeps of the measure `coupling`: parallel, and with the boundary where the closed
 * form has it. */
static void maps_have_the_boundary_of_the_closed_form(void **state)
{
    static const char *const masses[] = {"0.5", "1.5", "2", "3"}, *const steps[] = {"1e-3", "1e-2"};
    static const char *const measures[] = {"coupling", "radius"};
    const yk_sweep_axis axes[] = {{"time.step", steps, 2}, {"parameters.right_mass", masses, 4}};
    yk_sweep_options def = {
        .axes = axes, .axis_count = 2, .measures = measures, .measure_count = 2, .jobs = 2};
    def.scenario = yk_scenario_default();
    def.scenario.path = YOKE_SOURCE_DIR "/models/two-mass-oscillator/scenario.yaml";
    double results[16];
    yk_diagnostics *diagnostics = NULL;
    yk_diagnostics_create(*state, &diagnostics);
    assert_int_equal(yk_sweep(*state, &def, diagnostics, results), YK_OK);
    yk_diagnostics_destroy(diagnostics);
    for (int run = 0; run < 8; run++) {
        yk_two_mass_model model = yk_two_mass_default();
        const double values[] = {0.5, 1.5, 2, 3};
        model.rho_inf = 0.56, model.omega_h = sqrt(5000) * (run < 4 ? 1e-3 : 1e-2),
        model.mass_ratio = values[run % 4];
        double expected;
        assert_int_equal(yk_two_mass_radius(*state, &model, &expected), YK_OK);
        assert_near(results[2 * run + 1], expected, 1e-6);
        assert_near(results[2 * run], expected, 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_two_mass_scenario_has_the_radius_of_the_closed_forms),
        cmocka_unit_test(orders_and_schemes_are_covered_without_knowing_them),
        cmocka_unit_test(the_verdict_on_index1_needs_no_energy),
        cmocka_unit_test(the_least_stable_mode_is_named),
        cmocka_unit_test(a_pendulum_at_rest_has_its_frequency),
        cmocka_unit_test(the_worst_of_the_states_is_told),
        cmocka_unit_test(the_verdict_on_a_particle_damper_is_that_of_the_run),
        cmocka_unit_test(the_verdict_on_hydraulic_machines_is_that_of_the_run),
        cmocka_unit_test(a_run_that_breaks_down_is_an_answer),
        cmocka_unit_test(the_system_is_left_at_its_start),
        cmocka_unit_test(maps_have_the_boundary_of_the_closed_form),
    };
    return cmocka_run_group_tests_name("scenario_stability", tests, create_context,
                                       destroy_context);
}
