/* Every remedy that a finding names, applied to the model that raised it: the finding is gone,
 * nothing else is serious, and the motion is that of the same parts as one system. */
#include <string.h>

#include "analysis/scenario_run.h"
#include "test.h"
#include "yoke/analysis.h"

enum { OVERRIDES_MAX = 10 };

/* Two equal masses, both with the two-step method: unstable under every explicit scheme. */
static const char masses[] =
    "time: {end: 1, step: 2e-3}\n"
    "subsystems:\n"
    "  left: {solver: oscillator, mass: 1, stiffness: 400, position: 0.01}\n"
    "  right: {solver: oscillator, mass: 1, position: 0.01}\n"
    "interfaces:\n"
    "  joint: {between: [left.mass, right.mass]}\n"
    "coupling: {scheme: explicit}\n"
    "record: {every: 5, channels: [left.mass.position, right.mass.position]}\n";

/* Two rods of a pendulum, each a multibody model of its own. */
static const char pendulum[] =
    "time: {end: 0.8, step: 2e-3}\n"
    "subsystems:\n"
    "  upper:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    bodies: {rod: {mass: 1, inertia: [0.01, 0.0833, 0.0833], position: [0.5, 0, 0]}}\n"
    "    joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0, 0]}}\n"
    "    ports: {end: {body: rod, offset: [0.5, 0, 0]}}\n"
    "  lower:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    bodies: {rod: {mass: 2, inertia: [0.02, 0.1667, 0.1667], position: [1.5, 0, 0]}}\n"
    "    ports: {end: {body: rod, offset: [-0.5, 0, 0]}}\n"
    "interfaces:\n"
    "  elbow: {between: [upper.end, lower.end], joint: spherical}\n"
    "coupling: {scheme: explicit}\n"
    "record: {every: 5, channels: [upper.end.position, lower.end.position]}\n";

/* A microgram: forces of 1e-7 N, below the tolerance of the iterations. */
static const char micro[] =
    "time: {end: 1, step: 2e-3}\n"
    "subsystems:\n"
    "  left: {solver: oscillator, mass: 1e-9, stiffness: 4e-7, position: 0.01}\n"
    "  right: {solver: oscillator, mass: 1e-9, stiffness: 1e-7, position: 0.01}\n"
    "interfaces:\n"
    "  joint: {between: [left.mass, right.mass]}\n"
    "coupling: {scheme: tight}\n"
    "record: {every: 5, channels: [left.mass.position, right.mass.position]}\n";

/* A trolley on a spring, and a load that hangs from it: at a tenth of a second nothing is stable. */
static const char crane[] =
    "time: {end: 4, step: 0.1}\n"
    "subsystems:\n"
    "  trolley:\n"
    "    solver: multibody\n"
    "    bodies: {cart: {mass: 400, inertia: [60, 80, 80], position: [0, 0, 5]}}\n"
    "    joints:\n"
    "      rail: {type: prismatic, between: [ground, cart], at: [0, 0, 5], axis: [1, 0, 0]}\n"
    "    forces:\n"
    "      buffer: {type: spring, between: [ground, cart], stiffness: 2e4, damping: 50,\n"
    "               markers: [{offset: [-2, 0, 5]}, {}]}\n"
    "    ports: {hook: {body: cart}}\n"
    "  load:\n"
    "    solver: multibody\n"
    "    bodies:\n"
    "      rope: {mass: 20, inertia: [15, 15, 0.1], position: [0, 0, 3.5]}\n"
    "      block: {mass: 900, inertia: [120, 120, 90], position: [0.4, 0, 1.6]}\n"
    "    joints: {swivel: {type: spherical, between: [rope, block], at: [0, 0, 2]}}\n"
    "    ports: {top: {body: rope, offset: [0, 0, 1.5]}}\n"
    "interfaces: {hinge: {between: [trolley.hook, load.top], joint: spherical}}\n"
    "coupling: {scheme: explicit}\n";

typedef struct raised {
    const char *model;
    yk_finding_kind kind;
    const char *overrides[OVERRIDES_MAX];
} raised;

static const raised cases[] = {
    {masses, YK_FINDING_ENERGY_ERROR, {"coupling.modified_inputs=none"}},
    {masses,
     YK_FINDING_ENERGY_ERROR,
     {"coupling.sequence=jacobi", "coupling.exchange=force-motion"}},
    {masses, YK_FINDING_ENERGY_ERROR, {"coupling.scheme=loose", "coupling.exchange=force-motion"}},
    {masses, YK_FINDING_NOT_CONVERGED, {"coupling.scheme=tight", "coupling.acceleration=none"}},
    {masses, YK_FINDING_RUN_FAILED, {"time.end=10", "coupling.modified_inputs=none"}},
    {micro, YK_FINDING_ENERGY_ERROR, {"coupling.scheme=tight"}},
    {micro, YK_FINDING_ENERGY_ERROR, {"coupling.acceleration=aitken", "time.step=5e-3"}},
    {pendulum,
     YK_FINDING_ENERGY_ERROR,
     {"coupling.scheme=loose", "coupling.exchange=force-motion"}},
    {pendulum,
     YK_FINDING_ENERGY_ERROR,
     {"coupling.sequence=jacobi", "coupling.exchange=force-motion"}},
    {pendulum, YK_FINDING_NOT_CONVERGED, {"coupling.scheme=tight", "coupling.acceleration=none"}},
    {pendulum,
     YK_FINDING_RUN_FAILED,
     {"coupling.scheme=explicit", "coupling.exchange=force-motion"}},
    {masses,
     YK_FINDING_MASS_RATIO,
     {"subsystems.left.integrator=exact", "subsystems.right.integrator=exact",
      "coupling.exchange=force-motion"}},
    {masses, YK_FINDING_MASS_RATIO, {"coupling.sequence=jacobi", "coupling.exchange=force-motion"}},
    {pendulum,
     YK_FINDING_MASS_RATIO,
     {"coupling.scheme=explicit", "coupling.exchange=force-motion"}},
};

/* Runs a model with two lists of overrides. */
static void run(const char *model, const char *const *first, const yk_remedy *then,
                const char *last, yk_trial *trial)
{
    yk_scenario_def scenario = yk_scenario_default();
    scenario.path = "model.yaml";
    scenario.text = model;
    const char *overrides[2 * OVERRIDES_MAX];
    int count = 0;
    for (int i = 0; i < OVERRIDES_MAX && first[i]; i++)
        overrides[count++] = first[i];
    for (int i = 0; then && i < then->override_count; i++)
        overrides[count++] = then->overrides[i];
    if (last)
        overrides[count++] = last;
    yk_variant variant = {.name = "", .overrides = overrides, .override_count = count};
    yk_trial_def def = {
        .scenario = &scenario, .variant = &variant, .step = NAN, .end = NAN, .seconds = INFINITY};
    yk_trial_run(&def, trial);
}

static const yk_finding *find(const yk_run_report *report, yk_finding_kind kind)
{
    for (int i = 0; i < report->finding_count; i++)
        if (report->findings[i].kind == kind)
            return &report->findings[i];
    return NULL;
}

static void every_remedy_works_on_the_model_that_raised_it(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const raised *now = &cases[c];
        yk_trial wrong, truth;
        run(now->model, now->overrides, NULL, NULL, &wrong);
        const yk_finding *finding = find(wrong.report, now->kind);
        if (!finding)
            print_error("case %d: not found\n", (int)c);
        assert_non_null(finding);
        assert_true(finding->severity == YK_FINDING_SEVERITY_SERIOUS);
        run(now->model, (const char *const[OVERRIDES_MAX]){"time.end=1"}, NULL,
            "coupling.scheme=monolithic", &truth);
        assert_int_equal(truth.status, YK_OK);

        /* The first finding is the cause, and has a remedy that can be pasted. */
        assert_true(wrong.report->findings[0].remedy_count > 0);
        assert_true(wrong.report->findings[0].remedies[0].override_count > 0);
        for (int f = 0; f < wrong.report->finding_count; f++) {
            for (int i = 0; i < wrong.report->findings[f].remedy_count; i++) {
                const yk_remedy *remedy = &wrong.report->findings[f].remedies[i];
                if (remedy->override_count == 0)
                    continue;
                yk_trial repaired;
                yk_finding_kind kind;
                double largest;
                run(now->model, now->overrides, remedy, "time.end=0.8", &repaired);
                bool serious = yk_report_serious(repaired.report, &kind);
                double off = yk_record_distance(repaired.record, truth.record, &largest);
                if (YK_FAILED(repaired.status) || serious || !(off < 0.03))
                    print_error("case %d, %s: status %d, %s, off by %.3g\n", (int)c,
                                remedy->overrides[0], repaired.status,
                                serious ? repaired.report->findings[0].message : "", off);
                assert_true(!YK_FAILED(repaired.status));
                assert_false(serious);
                const yk_finding *left = find(repaired.report, now->kind);
                if (left)
                    print_error("case %d, %s: %s\n", (int)c, remedy->overrides[0], left->message);
                assert_null(left);
                assert_true(off < 0.03);
                yk_trial_release(&repaired);
            }
        }
        yk_trial_release(&wrong);
        yk_trial_release(&truth);
    }
}

/* If the remedy that is known for a finding does not help, one that was seen to help takes its
 * place; without the source of the scenario it stays as it was. */
static void remedies_that_fail_are_not_recommended(void **state)
{
    (void)state;
    static const char *const schemes[] = {
        "coupling.scheme=explicit",   "coupling.scheme=tight",          "coupling.scheme=index1",
        "coupling.scheme=monolithic", "coupling.exchange=force-motion",
    };

    for (size_t c = 0; c < sizeof schemes / sizeof *schemes; c++) {
        yk_scenario_def source = yk_scenario_default();
        source.path = "crane.yaml";
        source.text = crane;
        source.overrides = &schemes[c];
        source.override_count = 1;
        yk_context *context = yk_context_create(NULL);
        yk_scenario *scenario;
        yk_run_report untried, tried;
        yk_finding_kind kind;
        assert_int_equal(yk_scenario_load(context, &source, NULL, &scenario), YK_OK);
        yk_run(context, scenario, &(yk_run_options){0}, &untried);
        yk_run(context, scenario, &(yk_run_options){.remedy_scenario = &source}, &tried);
        assert_true(yk_report_serious(&tried, &kind));
        assert_int_equal(untried.finding_count, tried.finding_count);

        for (int i = 0; i < tried.finding_count; i++) {
            const yk_finding *f = &tried.findings[i];
            assert_true(f->remedy_count > 0);
            const yk_remedy *remedy = &f->remedies[0];
            assert_true(remedy->override_count > 0);
            assert_float_equal(remedy->verified_until, 4, 1e-9);
            yk_trial repaired;
            run(crane, (const char *const[OVERRIDES_MAX]){schemes[c]}, remedy, NULL, &repaired);
            assert_int_equal(repaired.status, YK_OK);
            assert_false(yk_report_serious(repaired.report, &kind));
            yk_trial_release(&repaired);
        }
        for (int i = 0; i < untried.finding_count; i++)
            for (int k = 0; k < untried.findings[i].remedy_count; k++)
                assert_true(untried.findings[i].remedies[k].verified_until == 0);
        yk_scenario_destroy(scenario);
        yk_context_destroy(context);
    }
}

static bool always(void *user)
{
    (void)user;
    return true;
}

/* If the user wants to stop, or the time is over, a trial ends within its present step: one
 * that takes minutes kept the program for as long. */
static void trials_end_in_the_midst_of_a_step(void **state)
{
    (void)state;
    yk_context_def context_def = yk_context_default();
    context_def.should_stop = always;
    yk_context *impatient = yk_context_create(&context_def);
    yk_scenario_def scenario = yk_scenario_default();
    scenario.path = "model.yaml";
    scenario.text = pendulum;
    yk_trial_def defs[] = {
        {.scenario = &scenario, .step = NAN, .end = NAN, .seconds = INFINITY, .caller = impatient},
        {.scenario = &scenario, .step = NAN, .end = NAN, .seconds = 0},
    };
    for (int i = 0; i < 2; i++) {
        yk_trial trial;
        yk_trial_run(&defs[i], &trial);
        assert_int_equal(trial.status, YK_INTERRUPTED);
        assert_int_equal(trial.report->step_count, 0);
        assert_non_null(strstr(trial.message, "in the midst of step 1"));
        yk_trial_release(&trial);
    }
    yk_context_destroy(impatient);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_remedy_works_on_the_model_that_raised_it),
        cmocka_unit_test(remedies_that_fail_are_not_recommended),
        cmocka_unit_test(trials_end_in_the_midst_of_a_step),
    };
    return cmocka_run_group_tests_name("remedies", tests, NULL, NULL);
}
