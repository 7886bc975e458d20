/* Verdicts on couplings with a known answer: how many are right, wrong and undecided.
 *
 * Linear models: their motion grows or decays by a closed form that the scenario's head states,
 * and the recurrence of the scheme either grows beyond it or not (radii of the two-mass
 * oscillator agree with closed forms, see stability.c). A coupling by a rigid joint whose motion side
 * is too heavy is unstable at every step. Mechanisms: an inverted rod falls under every
 * scheme, and a hanging one does not; drift is neutral. A verdict may be undecided, but not
 * wrong. */
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

enum { OVERRIDES_MAX = 16 };

typedef enum truth {
    STABLE,   /* nothing grows, or what drifts is neutral */
    MOTION,   /* the motion itself grows */
    COUPLING, /* the coupling makes it grow, or breaks the run */
    SOLVER,   /* a solver does */
    /* linear and undamped: the motion does not grow, so that all growth comes from the coupling */
    BY_RADIUS
} truth;

typedef struct verdict_case {
    truth truth;
    const char *model;     /* "@name": of models/; else of stability_cases/ */
    const char *overrides; /* with spaces between them */
} verdict_case;

#define TIGHT \
    "coupling.scheme=tight coupling.acceleration=quasi-newton coupling.absolute_tolerance=1e-9 "
#define MASSES "@two-mass-oscillator"
#define EXACT "subsystems.left.integrator=exact subsystems.right.integrator=exact "
#define TWO_STEP "subsystems.right.integrator=two-step "
/* A frequency ratio of 1e3 (paper index1, figure 14). */
#define STIFF                                                              \
    "time.step=0.01 coupling.scheme=index1 subsystems.left.stiffness=100 " \
    "subsystems.right.stiffness=1e8 "

static const verdict_case cases[] = {
    /* Two masses, with and without a limit of their ratio: two-step with semi-implicit 1.86,
     * two-step twice 0.07 (Jacobi 0.18), exact twice 0.42. */
    {COUPLING, MASSES, "time.step=1e-3 parameters.right_mass=3 coupling.modified_inputs=none"},
    {STABLE, MASSES, "time.step=1e-3 parameters.right_mass=1.5"},
    {COUPLING, MASSES, "time.step=1e-3 parameters.right_mass=2.5"},
    {COUPLING, MASSES, "time.step=1e-3 parameters.right_mass=0.5 " TWO_STEP},
    {COUPLING, MASSES, "time.step=1e-3 parameters.right_mass=0.15 " TWO_STEP},
    {STABLE, MASSES, "time.step=1e-3 parameters.right_mass=0.03 " TWO_STEP},
    {COUPLING, MASSES,
     "time.step=1e-3 parameters.right_mass=0.3 coupling.sequence=jacobi " TWO_STEP},
    {COUPLING, MASSES, "time.step=1e-3 parameters.right_mass=0.6 " EXACT},
    {STABLE, MASSES, "time.step=1e-3 parameters.right_mass=0.2 " EXACT},
    {BY_RADIUS, MASSES, "time.step=1e-3 parameters.right_mass=3 coupling.scheme=rim"},
    {BY_RADIUS, MASSES,
     "time.step=1e-3 parameters.right_mass=3 coupling.scheme=rim coupling.exchange=force-motion"},
    {BY_RADIUS, MASSES, "time.step=1e-3 parameters.right_mass=3 coupling.scheme=loose"},
    {BY_RADIUS, MASSES,
     "time.step=1e-3 parameters.right_mass=3 coupling.scheme=loose coupling.exchange=force-motion"},
    {STABLE, MASSES, "time.step=1e-3 parameters.right_mass=30 coupling.scheme=index1"},
    {STABLE, MASSES, "time.step=1e-3 parameters.right_mass=30 " TIGHT},
    {STABLE, MASSES, "time.step=1e-3 parameters.right_mass=0.3 subsystems.right.substeps=5"},
    {COUPLING, MASSES,
     "time.step=1e-3 parameters.right_mass=6 subsystems.right.substeps=5 "
     "coupling.modified_inputs=none"},
    /* Weak: 1.00037 per step, and none at half the step. */
    {COUPLING, MASSES, "time.step=2e-2 parameters.right_mass=1 coupling.modified_inputs=index-3"},
    /* Semi-implicit Euler beyond omega h = 2. */
    {SOLVER, MASSES,
     "time.step=1e-3 parameters.stiffness=5e6 parameters.right_mass=0.01 "
     "subsystems.left.integrator=semi-implicit"},
    {COUPLING, MASSES, STIFF EXACT "coupling.polynomial_degree=2"},
    {STABLE, MASSES, STIFF EXACT "coupling.polynomial_degree=3"},

    /* A driven or damped mass with a rider. */
    {MOTION, "driven", ""},
    {MOTION, "driven", TIGHT},
    {MOTION, "driven", "coupling.scheme=rim"},
    {MOTION, "driven", "time.step=5e-3"},
    {COUPLING, "driven", "parameters.rider=5"},
    {COUPLING, "driven", "parameters.rider=5 parameters.damping=4"},
    {STABLE, "driven", "parameters.damping=4"},
    {STABLE, "driven", "parameters.damping=0"},
    {COUPLING, "driven", "parameters.rider=5 parameters.damping=0 coupling.modified_inputs=none"},

    /* A rod on its head, cut in the middle, and one that hangs. */
    {MOTION, "falling", ""},
    {MOTION, "falling", "time.step=5e-3 coupling.scheme=index1"},
    {MOTION, "falling", "time.step=1e-2"},
    {MOTION, "falling",
     "subsystems.upper.solver=nonsmooth parameters.part=0.2 coupling.scheme=explicit "
     "coupling.modified_inputs=index-1"},
    {COUPLING, "falling", "coupling.scheme=explicit coupling.modified_inputs=none"},
    {COUPLING, "falling", "coupling.scheme=loose coupling.exchange=force-motion"},
    {STABLE, "falling", "parameters.tilt=3.1"},

    /* Rows. */
    {COUPLING, "chain", "coupling.modified_inputs=index-1"},
    {STABLE, "chain", "coupling.modified_inputs=index-1 parameters.light=0.02"},
    {STABLE, "chain", TIGHT},
    {STABLE, "clamped", ""},
    {COUPLING, "clamped", "parameters.ratio=3"},
    {STABLE, "clamped", "parameters.ratio=3 " TIGHT},

    /* Free flight: drift is neutral. */
    {STABLE, "free", ""},
    {STABLE, "free", "coupling.scheme=index1"},
    {COUPLING, "free", "coupling.scheme=explicit coupling.modified_inputs=none"},

    /* A control loop: stable; unstable by its gain at any step; unstable by the delay of a long
     * step. */
    {STABLE, "servo", ""},
    {MOTION, "servo", "parameters.gain=200"},
    {MOTION, "servo", "parameters.gain=200 " TIGHT},
    {MOTION, "servo", "parameters.gain=200 time.step=1e-4"},
    {COUPLING, "servo", "time.step=2e-2"},
};

enum { CASES = sizeof cases / sizeof *cases };

/* `more`: overrides on lines of their own, as a remedy names them; may be NULL. */
static yk_scenario *load(yk_context *context, const verdict_case *c, const char *more)
{
    char own[512], texts[1000];
    snprintf(own, sizeof own, "%s/tests/analysis/stability_cases/%s.yaml", YOKE_SOURCE_DIR,
             c->model);
    const char *path = own;
    if (*c->model == '@')
        path = model_file(c->model + 1);

    const char *overrides[OVERRIDES_MAX + 1] = {NULL};
    int count = 0;
    snprintf(texts, sizeof texts, "%s", c->overrides);
    for (char *at = strtok(texts, " "); at; at = strtok(NULL, " "))
        overrides[count++] = at;
    char lines[1000];
    snprintf(lines, sizeof lines, "%s", more ? more : "");
    for (char *at = strtok(lines, "\n"); at; at = strtok(NULL, "\n"))
        overrides[count++] = at;
    assert_true(count <= OVERRIDES_MAX);

    yk_scenario_def def = describe_scenario(path, NULL, overrides);
    def.iterate_to_rounding = true;
    return load_described(context, &def);
}

static yk_stability_report ask(yk_context *context, const verdict_case *c, const char *more,
                               bool remedies)
{
    yk_scenario *scenario = load(context, c, more);
    yk_stability_options def = yk_stability_options_default();
    def.cpu_time_budget = 300;
    def.find_remedies = remedies;
    yk_stability_report r;
    assert_int_equal(yk_analyze_stability(context, scenario, &def, &r), YK_OK);
    yk_scenario_destroy(scenario);
    return r;
}

static truth said(yk_verdict verdict)
{
    switch (verdict) {
    case YK_VERDICT_UNSTABLE_MOTION: return MOTION;
    case YK_VERDICT_UNSTABLE_SOLVER: return SOLVER;
    case YK_VERDICT_UNSTABLE_COUPLING:
    case YK_VERDICT_COUPLING_BREAKDOWN: return COUPLING;
    default: return STABLE;
    }
}

static void verdicts_are_right(void **state)
{
    int right = 0, wrong = 0, undecided = 0;
    for (int i = 0; i < CASES; i++) {
        const verdict_case *c = &cases[i];
        yk_stability_report r = ask(*state, c, NULL, false);
        truth expected = c->truth;
        if (expected == BY_RADIUS)
            expected = r.spectral_radius > 1 + 1e-4 ? COUPLING : STABLE;

        bool good = said(r.verdict) == expected;
        if (r.verdict == YK_VERDICT_UNDECIDED)
            undecided++;
        else if (good)
            right++;
        else
            wrong++;
        if (!good || r.verdict == YK_VERDICT_UNDECIDED)
            print_message("%s %s: verdict %d, radius %.9g, rate %g 1/s, reference %s %g 1/s; %s\n",
                          c->model, c->overrides, r.verdict, r.spectral_radius, r.rates[0].rate,
                          r.reference, r.reference_rate.rate, r.reason);

        /* A verdict does not contradict the radius that is printed with it. */
        if (r.verdict == YK_VERDICT_UNSTABLE_COUPLING || r.verdict == YK_VERDICT_UNSTABLE_SOLVER)
            assert_true(r.spectral_radius > 1 && r.coupling_growth > 1);
        if (r.verdict == YK_VERDICT_STABLE)
            assert_true(r.coupling_growth <= 1);
    }
    print_message("%d right, %d wrong, %d undecided of %d\n", right, wrong, undecided, CASES);
    assert_int_equal(wrong, 0);
    assert_int_equal(undecided, 0);
}

/* Rates of the motion are those of the closed forms: 3.836 1/s of a standing rod, -damping/(2 (m1
 * + m2)) of a driven mass. */
static void the_rate_of_the_motion_is_that_of_the_closed_form(void **state)
{
    const verdict_case falling = {MOTION, "falling", ""}, driven = {MOTION, "driven", ""};
    yk_stability_report r = ask(*state, &falling, NULL, false);
    assert_relative(r.reference_rate.rate, sqrt(3 * 9.81 / 2), 1e-2);
    assert_relative(r.rates[0].rate, sqrt(3 * 9.81 / 2), 1e-2);
    r = ask(*state, &driven, NULL, false);
    assert_relative(r.reference_rate.rate, 4 / (2 * 1.05), 1e-2);
    assert_relative(r.rates[0].rate, 4 / (2 * 1.05), 2e-2);
}

/* Remedies for an unstable coupling were tried, and are stable when they are applied. */
static void remedies_work(void **state)
{
    const verdict_case asked[] = {
        {COUPLING, MASSES, "time.step=1e-3 parameters.right_mass=3"},
        {COUPLING, MASSES, "time.step=1e-3 parameters.right_mass=0.5 " TWO_STEP},
        {COUPLING, "clamped", "parameters.ratio=3"},
        {COUPLING, "falling", "coupling.scheme=explicit coupling.modified_inputs=none"},
        {COUPLING, "servo", "time.step=2e-2"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        yk_stability_report r = ask(*state, &asked[i], NULL, true);
        assert_true(yk_verdict_is_unstable(r.verdict));
        assert_true(*r.remedy != '\0');
        yk_stability_report remedied = ask(*state, &asked[i], r.remedy, false);
        assert_true(remedied.verdict == YK_VERDICT_STABLE ||
                    remedied.verdict == YK_VERDICT_UNSTABLE_MOTION);
    }
}

/* A step that is called stable is; no step is called stable where the ratio of masses decides. */
static void stable_steps_are_stable(void **state)
{
    const verdict_case ratio = {COUPLING, MASSES, "time.step=1e-3 parameters.right_mass=3"};
    yk_stability_report r = ask(*state, &ratio, NULL, true);
    assert_true(r.unstable_at_every_step && isnan(r.stable_step));

    const verdict_case delay = {COUPLING, "servo", "time.step=2e-2"};
    r = ask(*state, &delay, NULL, true);
    assert_true(r.stable_step < 2e-2);
    char step[64];
    snprintf(step, sizeof step, "time.step=%.17g", r.stable_step);
    assert_int_equal(ask(*state, &delay, step, false).verdict, YK_VERDICT_STABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_are_right),
        cmocka_unit_test(the_rate_of_the_motion_is_that_of_the_closed_form),
        cmocka_unit_test(remedies_work),
        cmocka_unit_test(stable_steps_are_stable),
    };
    return cmocka_run_group_tests_name("stability_verdicts", tests, create_context,
                                       destroy_context);
}
