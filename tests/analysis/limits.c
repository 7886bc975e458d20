/* The check before a run of how masses and algebraic loops restrict the choice of a scheme: mass
 * ratios against closed forms, stability limits against the known limits of pairs of integrators,
 * and loops: reported in models that have one, not reported in others. */
#include <stdlib.h>
#include <string.h>

#include "analysis/run.h"
#include "context.h"
#include "coupling/system_arrays.h"
#include "load_scenario.h"
#include "massless_damper.h"
#include "math/eigen.h"
#include "test.h"
#include "yoke/analysis.h"
#include "yoke/oscillator.h"

/* The report of the start of a scenario, with overrides up to a NULL. */
static yk_run_report *ask(yk_context *context, const char *text, const char *const *overrides,
                          yk_interface_masses *probes)
{
    yk_scenario *scenario = load_scenario(context, "limits.yaml", text, overrides);
    yk_system *system = NULL;
    yk_status status = yk_scenario_system(scenario, &system);
    if (YK_FAILED(status))
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    assert_true(!YK_FAILED(yk_system_initialize(system)));
    yk_run_report *report = calloc(1, sizeof *report);
    assert_int_equal(
        yk_limits_find(context, system, yk_scenario_get_info(scenario), report, probes), YK_OK);
    yk_scenario_destroy(scenario);
    return report;
}

static double reported_limit(const yk_run_report *report)
{
    if (report->finding_count == 0)
        return INFINITY;
    return report->findings[0].limit;
}

/* Whether a smaller step is among the remedies, or a search for one. */
static bool offers_a_step(const yk_finding *finding)
{
    for (int i = 0; i < finding->remedy_count; i++) {
        const yk_remedy *remedy = &finding->remedies[i];
        if (remedy->kind == YK_REMEDY_SMALLER_STEP)
            return true;
        for (int k = 0; k < remedy->override_count; k++)
            if (strstr(remedy->overrides[k], "time.step"))
                return true;
    }
    return false;
}

static const char *const two_masses =
    "parameters: {m: 3, k: 0}\n"
    "time: {end: 0.1, step: 1e-3}\n"
    "subsystems:\n"
    "  a: {solver: oscillator, mass: 1, stiffness: 100, velocity: 0.1}\n"
    "  b: {solver: oscillator, mass: m, stiffness: k, velocity: 0.1}\n"
    "interfaces:\n"
    "  - {name: joint, between: [a.mass, b.mass], joint: fixed}\n"
    "coupling: {scheme: explicit, exchange: force-motion}\n";

/* Limits of paper explicit and of the recurrence equations (tests/analysis/stability.c), for masses that
 * are free. */
static void limits_are_those_of_the_integrators(void **state)
{
    static const struct {
        const char *a, *b, *order, *inputs;
        double limit;
    } known[] = {
        {"two-step", "semi-implicit", "gauss-seidel", "index-1", 1.86},
        {"two-step", "semi-implicit", "gauss-seidel", "none", 0.725},
        {"two-step", "two-step", "gauss-seidel", "index-1", 0.070},
        {"two-step", "two-step", "jacobi", "index-1", 0.176},
        {"exact", "exact", "gauss-seidel", "index-1", 0.42},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char a[64], b[64], order[64], inputs[64];
        snprintf(a, sizeof a, "subsystems.a.integrator=%s", known[i].a);
        snprintf(b, sizeof b, "subsystems.b.integrator=%s", known[i].b);
        snprintf(order, sizeof order, "coupling.sequence=%s", known[i].order);
        snprintf(inputs, sizeof inputs, "coupling.modified_inputs=%s", known[i].inputs);
        const char *const overrides[] = {a, b, order, inputs, NULL};
        yk_run_report *report = ask(*state, two_masses, overrides, NULL);
        assert_relative(report->mass_ratio, 3.0, 1e-3);
        assert_relative(reported_limit(report), known[i].limit, 0.02);
        assert_int_equal(report->findings[0].cause, YK_CAUSE_UNSTABLE);
        assert_false(offers_a_step(&report->findings[0]));
        free(report);
    }
}

/* Below the limit nothing is said, nor where the scheme has none. */
static void what_is_borne_is_not_reported(void **state)
{
    static const char *const sound[][4] = {
        {"subsystems.b.integrator=semi-implicit", "parameters.m=1.6", NULL},
        {"coupling.exchange=auto", NULL},
        {"coupling.scheme=tight", NULL},
        {"coupling.scheme=tight", "parameters.m=1000", NULL},
        {"coupling.scheme=tight", "coupling.acceleration=none", "parameters.m=0.3", NULL},
    };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        yk_run_report *report = ask(*state, two_masses, sound[i], NULL);
        if (report->finding_count)
            print_error("%s\n", report->findings[0].message);
        assert_int_equal(report->finding_count, 0);
        free(report);
    }
}

/* A record with frames has the limits themselves, also where the ratio is below: those of the
 * integrators above; where quasi-Newton bears everything, the largest that is tried; none where
 * wrenches are exchanged on both sides. */
static void records_have_the_ratio_that_is_borne(void **state)
{
    static const struct {
        const char *overrides[4];
        double limit; /* 0: none */
    } cases[] = {
        {{"subsystems.b.integrator=semi-implicit", "coupling.modified_inputs=index-1",
          "parameters.m=0.1"},
         1.86},
        {{"subsystems.b.integrator=semi-implicit", "coupling.modified_inputs=none",
          "parameters.m=0.1"},
         0.725},
        {{"coupling.scheme=tight"}, YK_RATIO_MOST},
        {{"coupling.exchange=force-force"}, 0},
    };
    yk_context *context = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yk_scenario *scenario =
            load_scenario(context, "limits.yaml", two_masses, cases[i].overrides);
        yk_record *record = NULL;
        assert_int_equal(yk_record_create(context, &record), YK_OK);
        yk_run_options run = {.recorder = yk_record_recorder(record), .frame_count = 10};
        assert_int_equal(yk_run(context, scenario, &run, NULL), YK_OK);

        double limit = 0;
        double serious = 0;
        const yk_record_summary *summary = yk_record_get_summary(record);
        for (int k = 0; k < summary->count; k++) {
            if (strcmp(summary->values[k].name, "joint.mass_ratio_limit") == 0)
                limit = summary->values[k].value;
            if (strcmp(summary->values[k].name, "threshold.interface_gap_serious") == 0)
                serious = summary->values[k].value;
        }
        assert_near(limit, cases[i].limit, 0.02 * cases[i].limit);
        assert_true(serious == 0.2); /* docs/trust.md */

        yk_record_destroy(record);
        yk_scenario_destroy(scenario);
    }
}

static void plain_iterations_have_a_limit(void **state)
{
    const char *const overrides[] = {"coupling.scheme=tight", "coupling.acceleration=none",
                                     "parameters.m=20", NULL};
    yk_run_report *report = ask(*state, two_masses, overrides, NULL);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].cause, YK_CAUSE_NO_CONVERGENCE);
    assert_string_equal(report->findings[0].remedies[0].overrides[0],
                        "coupling.acceleration=quasi-newton");
    free(report);
}

/* A stiff spring next to a small mass: a step that does not resolve the spring sees a heavy mass. */
static void springs_are_distinguished_from_masses(void **state)
{
    const char *const overrides[] = {"parameters.m=0.3", "parameters.k=1e8",
                                     "subsystems.b.integrator=semi-implicit", NULL};
    yk_run_report *report = ask(*state, two_masses, overrides, NULL);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].kind, YK_FINDING_MASS_RATIO);
    assert_int_equal(report->findings[0].cause, YK_CAUSE_UNSTABLE_SPRINGS);
    free(report);
}

/* Rigid bodies --------------------------------------------------------------------------------- */

enum { SIX = 6 };

/* Acceleration of a marker at (x, 0, 0) of a free body by a wrench at the marker: a = f / m +
 * alpha x r. */
static void marker_mobility(double mass, const double inertia[3], double x, double y[SIX][SIX])
{
    memset(y, 0, SIX * sizeof y[0]);
    for (int i = 0; i < 3; i++)
        y[i][i] = 1 / mass, y[3 + i][3 + i] = 1 / inertia[i];
    y[1][1] += x * x / inertia[2], y[2][2] += x * x / inertia[1];
    y[1][5] = y[5][1] = x / inertia[2];
    y[2][4] = y[4][2] = -x / inertia[1];
}

/* Largest eigenvalue of Y_A Y_B^-1 over the constrained axes. */
static double true_ratio(yk_context *context, unsigned mask, double a[SIX][SIX], double b[SIX][SIX])
{
    int n = 0, axes[SIX];
    for (int i = 0; i < SIX; i++)
        if (mask >> i & 1)
            axes[n++] = i;
    double left[SIX * SIX], right[SIX * SIX], values[SIX];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            left[i * n + k] = a[axes[i]][axes[k]];
            right[i * n + k] = b[axes[i]][axes[k]];
        }
    assert_int_equal(yk_eigen_symmetric_pair(context, n, left, right, values), YK_OK);
    return values[n - 1];
}

static void ratios_of_rigid_bodies_are_those_of_their_markers(void **state)
{
    static const char text[] =
        "parameters: {kind: 0}\n"
        "time: {end: 0.1, step: 1e-3}\n"
        "subsystems:\n"
        "  a:\n"
        "    solver: %s\n"
        "    units: {length: %s}\n"
        "    bodies: {bar: {mass: 2, inertia: [%s], position: [0, 0, 0]}}\n"
        "    ports: {end: {body: bar, offset: [%s, 0, 0]}}\n"
        "  b:\n"
        "    solver: %s\n"
        "    bodies: {bar: {mass: 3, inertia: [0.03, 0.07, 0.05], position: [0.7, 0, 0]}}\n"
        "    ports: {end: {body: bar, offset: [-0.4, 0, 0]}}\n"
        "interfaces:\n"
        "  - {name: joint, between: [a.end, b.end], joint: %s}\n"
        "coupling: {scheme: explicit, exchange: force-motion}\n";
    static const char *const solvers[] = {"multibody", "nonsmooth"};
    static const struct {
        const char *name;
        unsigned mask;
    } joints[] = {{"spherical", 7},
                  {"fixed", 63},
                  {"revolute", 31},
                  {"prismatic", 59},
                  {"{constrained_axes: [y, rz]}", 34}};
    static const double inertia_a[3] = {0.02, 0.04, 0.06}, inertia_b[3] = {0.03, 0.07, 0.05};
    double ya[SIX][SIX], yb[SIX][SIX];
    marker_mobility(2, inertia_a, 0.3, ya);
    marker_mobility(3, inertia_b, -0.4, yb);
    for (int pair = 0; pair < 4; pair++)
        for (size_t j = 0; j < sizeof joints / sizeof *joints; j++) {
            char scenario[2000];
            bool millimetres = j % 2 == 1;
            snprintf(scenario, sizeof scenario, text, solvers[pair / 2], millimetres ? "mm" : "m",
                     millimetres ? "2e4, 4e4, 6e4" : "0.02, 0.04, 0.06",
                     millimetres ? "300" : "0.3", solvers[pair % 2], joints[j].name);
            yk_interface_masses probe;
            free(ask(*state, scenario, NULL, &probe));
            double ratio = probe.mass_ratio;
            double expected = true_ratio(*state, joints[j].mask, ya, yb);
            if (fabs(ratio / expected - 1) > 0.01)
                print_error("%s\n", scenario);
            assert_relative(ratio, expected, 0.01);
        }
}

/* Three bodies in a row, joined along x alone: what hangs on a side counts to it. */
static void partners_behind_other_interfaces_count(void **state)
{
    static const char text[] =
        "time: {end: 0.1, step: 1e-3}\n"
        "subsystems:\n"
        "  a: {solver: %s, bodies: {body: {mass: 5, inertia: [1, 1, 1]}}, ports: {p: {body: "
        "body}}}\n"
        "  b: {solver: %s, bodies: {body: {mass: 2, inertia: [1, 1, 1]}}, ports: {p: {body: body}, "
        "q: {body: body}}}\n"
        "  c: {solver: %s, bodies: {body: {mass: 1, inertia: [1, 1, 1]}}, ports: {p: {body: "
        "body}}}\n"
        "interfaces:\n"
        "  - {name: ab, between: [a.p, b.p], joint: {constrained_axes: [x]}}\n"
        "  - {name: bc, between: [b.q, c.p], joint: {constrained_axes: [x]}}\n"
        "coupling: {scheme: explicit, exchange: force-motion}\n";
    static const char *const solvers[] = {"multibody", "nonsmooth"};
    for (int i = 0; i < 2; i++) {
        char scenario[2000];
        yk_interface_masses probes[2];
        snprintf(scenario, sizeof scenario, text, solvers[i], solvers[i], solvers[i]);
        free(ask(*state, scenario, NULL, probes));
        assert_relative(probes[0].mass_ratio, 3.0 / 5, 0.01);
        assert_relative(probes[1].mass_ratio, 1.0 / 7, 0.01);
    }
}

/* Loops ---------------------------------------------------------------------------------------- */

static void clamped_chains_have_no_algebraic_loop(void **state)
{
    static const char text[] =
        "time: {end: 0.1, step: 1e-3}\n"
        "subsystems:\n"
        "  a:\n"
        "    solver: %s\n"
        "    bodies: {bar: {mass: 1, inertia: [0.02, 0.02, 0.02], position: [0.2, 0, 0]}}\n"
        "    joints: {pin: {type: %s, between: [ground, bar], at: [0, 0, 0]}}\n"
        "    ports: {out: {body: bar, offset: [0.2, 0, 0]}}\n"
        "  b:\n"
        "    solver: %s\n"
        "    bodies: {bar: {mass: 0.5, inertia: [0.02, 0.02, 0.02], position: [0.6, 0, 0]}}\n"
        "    ports: {in: {body: bar, offset: [-0.2, 0, 0]}, out: {body: bar, offset: [0.2, 0, "
        "0]}}\n"
        "  c:\n"
        "    solver: %s\n"
        "    bodies: {bar: {mass: 0.1, inertia: [0.02, 0.02, 0.02], position: [1, 0, 0]}}\n"
        "    ports: {in: {body: bar, offset: [-0.2, 0, 0]}}\n"
        "interfaces:\n"
        "  - {name: ab, between: [a.out, b.in], joint: fixed}\n"
        "  - {name: bc, between: [b.out, c.in], joint: fixed}\n"
        "coupling: {scheme: explicit, exchange: force-motion}\n";
    static const char *const solvers[] = {"multibody", "nonsmooth"}, *const pins[] = {"spherical",
                                                                                      "fixed"};
    for (int i = 0; i < 8; i++) {
        char scenario[2000];
        snprintf(scenario, sizeof scenario, text, solvers[i & 1], pins[i >> 1 & 1], "multibody",
                 solvers[i >> 2 & 1]);
        yk_run_report *report = ask(*state, scenario, NULL, NULL);
        for (int k = 0; k < report->finding_count; k++)
            assert_int_not_equal(report->findings[k].kind, YK_FINDING_ALGEBRAIC_LOOP);
        free(report);
    }
}

/* With explicit coupling the loop is named, and no smaller step; what is named instead, works: a
 * mass that a damper drives with 20 N comes to 2 m/s as 1 - exp(-10 t) does. */
static void a_side_without_mass_is_an_algebraic_loop(void **state)
{
    static const char *const names[] = {"damper", "mass"};
    static const yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    for (int remedy = 0; remedy < 2; remedy++) {
        damper left = {.base = {&damper_ops}, .preload = 20};
        yk_oscillator_def mass = yk_oscillator_default();
        mass.integrator = YK_OSCILLATOR_SEMI_IMPLICIT;
        yk_subsystem *parts[2] = {&left.base, NULL};
        assert_int_equal(yk_oscillator_create(*state, &mass, &parts[1]), YK_OK);
        yk_system_description def = {.subsystems = parts,
                                     .names = names,
                                     .subsystem_count = 2,
                                     .interfaces = &joint,
                                     .interface_count = 1,
                                     .step = 1e-3};
        if (remedy)
            def.scheme.ops = yk_scheme_tight();
        yk_system *system = NULL;
        assert_int_equal(yk_system_make(*state, &def, &system), YK_OK);
        assert_int_equal(yk_system_initialize(system), YK_OK);

        yk_scenario_info info = {.step = 1e-3,
                                 .subsystem_count = 2,
                                 .subsystem_names = names,
                                 .subsystems = parts,
                                 .interface_count = 1,
                                 .interfaces = &joint,
                                 .scheme = def.scheme};
        yk_run_report *report = calloc(1, sizeof *report);
        assert_int_equal(yk_limits_find(*state, system, &info, report, NULL), YK_OK);
        assert_int_equal(report->finding_count, 1 - remedy);
        if (!remedy) {
            assert_int_equal(report->findings[0].kind, YK_FINDING_ALGEBRAIC_LOOP);
            assert_string_equal(report->findings[0].remedies[0].overrides[0],
                                "coupling.scheme=tight");
            assert_false(offers_a_step(&report->findings[0]));
        } else {
            for (int i = 0; i < 100; i++)
                assert_int_equal(yk_system_step(system, NULL), YK_OK);
            double v = yk_system_port_value(system, (yk_subsystem_id){1}, (yk_port_id){0})
                           ->motion.velocity.x;
            assert_near(v, 2 * (1 - exp(-10 * 0.1)), 0.02);
        }
        free(report);
        yk_system_destroy(system);
        parts[1]->ops->destroy(parts[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_the_integrators),
        cmocka_unit_test(what_is_borne_is_not_reported),
        cmocka_unit_test(records_have_the_ratio_that_is_borne),
        cmocka_unit_test(plain_iterations_have_a_limit),
        cmocka_unit_test(springs_are_distinguished_from_masses),
        cmocka_unit_test(ratios_of_rigid_bodies_are_those_of_their_markers),
        cmocka_unit_test(partners_behind_other_interfaces_count),
        cmocka_unit_test(clamped_chains_have_no_algebraic_loop),
        cmocka_unit_test(a_side_without_mass_is_an_algebraic_loop),
    };
    return cmocka_run_group_tests_name("limits", tests, create_context, destroy_context);
}
