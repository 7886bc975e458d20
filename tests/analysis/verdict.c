/* The verdict about the whole run: its estimated error against closed forms, what it says if no
 * comparison is possible, and that it does not depend on place, direction, units and names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

enum { OVERRIDES_MAX = 10 };

/* Runs a scenario with a verdict; the record may be NULL. */
static void run(yk_context *context, const char *path, const char *text,
                const char *const *overrides, yk_record *record, yk_run_report *report)
{
    yk_scenario_def source = yk_scenario_default();
    source.path = path;
    source.text = text;
    source.overrides = overrides;
    while (overrides && overrides[source.override_count])
        source.override_count++;
    yk_scenario *scenario = load_scenario(context, path, text, overrides);
    yk_run_options options = {.recorder = record ? yk_record_recorder(record) : NULL,
                              .verdict_scenario = &source};
    assert_int_equal(yk_run(context, scenario, &options, report), YK_OK);
    yk_scenario_destroy(scenario);
}

static int serious_count(const yk_run_report *report)
{
    int count = 0;
    for (int i = 0; i < report->finding_count; i++)
        count += report->findings[i].severity == YK_FINDING_SEVERITY_SERIOUS;
    return count;
}

static const yk_finding *find(const yk_run_report *report, yk_finding_kind kind)
{
    for (int i = 0; i < report->finding_count; i++)
        if (report->findings[i].kind == kind)
            return &report->findings[i];
    return NULL;
}

static const char *const oscillator =
    "parameters: {damping: 0, rho: 0.8}\n"
    "time: {end: 10, step: 5e-3}\n"
    "subsystems:\n"
    "  body: {solver: oscillator, mass: 1, stiffness: 100, damping: damping, velocity: 1,\n"
    "         integrator: {type: two-step, rho_inf: rho}}\n"
    "record: {channels: [body.mass.position]}\n";

/* x = v0/w exp(-d t) sin(w t). */
static double true_error(const yk_record *record, double damping)
{
    double decay = damping / 2;
    double omega = sqrt(100 - decay * decay);
    double worst = 0;
    double low = 0;
    double high = 0;
    for (size_t i = 0; i < yk_record_row_count(record); i++) {
        double t = yk_record_times(record)[i];
        double exact = exp(-decay * t) * sin(omega * t) / omega;
        worst = fmax(worst, fabs(yk_record_column(record, 0, 0)[i] - exact));
        low = fmin(low, exact);
        high = fmax(high, exact);
    }
    return worst / (high - low);
}

/* Wrong frequencies conserve energy, and numerical damping loses it: neither shows in the findings
 * of a coupling. */
static void the_error_of_an_oscillator_is_estimated(void **state)
{
    static const struct {
        const char *overrides[OVERRIDES_MAX];
        double damping;
        bool serious;
    } cases[] = {
        {{NULL}, 0, false},
        {{"time.step=1e-3", NULL}, 0, false},
        {{"time.step=2e-2", NULL}, 0, true},
        {{"time.end=100", NULL}, 0, true},
        {{"time.end=100", "time.step=1e-3", NULL}, 0, false},
        {{"parameters.rho=0", "time.step=2e-2", NULL}, 0, true},
        {{"parameters.damping=2", NULL}, 2, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yk_run_report report;
        yk_record *record;
        assert_int_equal(yk_record_create(*state, &record), YK_OK);
        run(*state, "oscillator.yaml", oscillator, cases[i].overrides, record, &report);
        double error = true_error(record, cases[i].damping);
        double estimate = report.estimate.relative_error;
        assert_true(report.estimate.available);
        assert_string_equal(report.estimate.channel, "body.mass.position");
        bool close = fmin(estimate, 1) < 3 * fmin(error, 1) && estimate > error / 3;
        if (!close || cases[i].serious != (serious_count(&report) > 0))
            print_error("case %d: error %.3g, estimate %.3g\n", (int)i, error, estimate);
        assert_true(close);
        assert_int_equal(serious_count(&report) > 0, cases[i].serious);
        if (cases[i].serious)
            assert_non_null(find(&report, YK_FINDING_ESTIMATED_ERROR));
        yk_record_destroy(record);
    }
}

static void a_run_without_comparison_says_why(void **state)
{
    const char *const nothing[] = {"record.channels=[]", NULL};
    yk_run_report report;
    run(*state, "oscillator.yaml", oscillator, nothing, NULL, &report);
    if (!report.estimate.available)
        assert_true(*report.estimate.reason);

    /* Without the source there is no estimate, and none is missing. */
    yk_scenario *scenario = load_scenario(*state, "oscillator.yaml", oscillator, NULL);
    assert_int_equal(yk_run(*state, scenario, NULL, &report), YK_OK);
    assert_false(report.estimate.available);
    assert_string_equal(report.estimate.reason, "");
    yk_scenario_destroy(scenario);
}

/* A pendulum on a hook that does not move: lengths times `l`, masses times `m`, gravity in the
 * direction of the angle `turn`, at (x, y). */
static const char *const hook =
    "parameters: {l: 1, m: 1, x: 0, y: 0, turn: 0, a: 0.5}\n"
    "time: {end: 2, step: 2e-3}\n"
    "subsystems:\n"
    "  WALL:\n"
    "    solver: multibody\n"
    "    bodies: {hook: {mass: 10*m, inertia: [m*l^2, m*l^2, m*l^2], position: [x, y, 0]}}\n"
    "    joints: {weld: {type: fixed, between: [ground, hook], at: [x, y, 0]}}\n"
    "    ports: {end: {body: hook}}\n"
    "  ROD:\n"
    "    solver: multibody\n"
    "    gravity: [9.81*l*sin(turn), -9.81*l*cos(turn), 0]\n"
    "    bodies:\n"
    "      rod:\n"
    "        mass: m\n"
    "        inertia: [m*l^2/12, m*l^2/100, m*l^2/12]\n"
    "        position: [x + sin(a + turn)*l/2, y - cos(a + turn)*l/2, 0]\n"
    "        orientation: {axis: [0, 0, 1], angle: a + turn}\n"
    "    ports: {top: {body: rod, offset: [0, l/2, 0]}, tip: {body: rod, offset: [0, -l/2, 0]}}\n"
    "interfaces:\n"
    "  HINGE: {between: [WALL.end, ROD.top], joint: revolute}\n"
    "coupling: {scheme: tight}\n"
    "record: {channels: [ROD.tip.position]}\n";

/* The names in capitals stand for others. */
static void write_hook(bool renamed, char *text, size_t size)
{
    static const struct {
        const char *placeholder, *name, *other;
    } names[] = {{"WALL", "wall", "z"}, {"ROD", "pendulum", "a-rod"}, {"HINGE", "hinge", "q"}};
    size_t used = 0;
    for (const char *c = hook; *c && used + 1 < size;) {
        bool replaced = false;
        for (size_t i = 0; i < sizeof names / sizeof *names && !replaced; i++) {
            size_t length = strlen(names[i].placeholder);
            if (strncmp(c, names[i].placeholder, length) != 0)
                continue;
            used += (size_t)snprintf(text + used, size - used, "%s",
                                     renamed ? names[i].other : names[i].name);
            c += length;
            replaced = true;
        }
        if (!replaced)
            text[used++] = *c++;
    }
    text[used] = '\0';
}

/* Two masses of 0.5 and 1.5 kg at 0.3 and 0 m/s are joined: together they move at 0.075 m/s. A scheme that
 * prescribes motions gives both the velocity of one of them. */
static void different_start_velocities_are_serious_if_momentum_is_lost(void **state)
{
    static const char text[] = "time: {end: 0.1, step: 1e-3}\n"
                               "subsystems:\n"
                               "  a: {solver: oscillator, mass: 0.5, velocity: 0.3}\n"
                               "  b: {solver: oscillator, mass: 1.5}\n"
                               "interfaces: [{name: j, between: [a.mass, b.mass], joint: fixed}]\n"
                               "coupling: {scheme: tight}\n"
                               "record: {channels: [a.mass.velocity, b.mass.velocity]}\n";
    static const struct {
        const char *overrides[OVERRIDES_MAX];
        double value; /* NAN: no finding */
    } cases[] = {
        {{NULL}, 0.75},
        {{"interfaces.j.between=[b.mass,a.mass]", NULL}, 0.25},
        {{"subsystems.b.mass=5e-4", NULL}, NAN}, /* a light side loses little */
        {{"subsystems.b.velocity=0.3", NULL}, NAN},
        {{"coupling.scheme=index1", NULL}, NAN}, /* an impact */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yk_run_report report;
        run(*state, "start.yaml", text, cases[i].overrides, NULL, &report);
        const yk_finding *f = find(&report, YK_FINDING_INCONSISTENT_START);
        assert_int_equal(f != NULL, !isnan(cases[i].value));
        if (!f)
            continue;
        assert_int_equal(f->severity, YK_FINDING_SEVERITY_SERIOUS);
        assert_true(fabs(f->value - cases[i].value) < 0.01);
        assert_true(f->remedy_count > 0);
    }
}

/* Joined bodies of two solvers that fly freely. Their velocities are constant but for what the iterations leave, in one
 * component or in three, and in a contact solver differences of this size look like jumps. */
static void rounding_of_constant_velocities_is_no_error(void **state)
{
    static const char text[] = "time: {end: 0.1, step: 1e-3}\n"
                               "parameters: {vx: 0, vz: 0}\n"
                               "subsystems:\n"
                               "  a:\n"
                               "    solver: multibody\n"
                               "    gravity: [0, 0, 0]\n"
                               "    bodies: {p: {mass: 0.5, inertia: [1, 1, 1], position: [7, -2, "
                               "1], velocity: [vx, 0.3, vz]}}\n"
                               "    ports: {e: {body: p}}\n"
                               "  b:\n"
                               "    solver: nonsmooth\n"
                               "    gravity: [0, 0, 0]\n"
                               "    bodies: {q: {mass: 1.5, inertia: [1, 1, 1], position: [7, -2, "
                               "1], velocity: [vx, 0.3, vz]}}\n"
                               "    ports: {e: {body: q}}\n"
                               "interfaces: [{name: j, between: [a.e, b.e], joint: fixed}]\n"
                               "coupling: {scheme: tight}\n"
                               "record: {channels: [a.p.velocity, b.q.velocity]}\n";
    static const char *const changes[][OVERRIDES_MAX] = {
        {NULL},
        {"parameters.vx=0.2", "parameters.vz=-0.2", NULL},
        {"parameters.vx=0.2", "parameters.vz=-0.2", "coupling.scheme=index1", NULL},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        yk_run_report report;
        run(*state, "flight.yaml", text, changes[i], NULL, &report);
        assert_int_equal(serious_count(&report), 0);
        assert_true(!(report.estimate.relative_error > 1e-4));
    }
}

/* A rotation changes the range of the widest component, to which errors are relative. */
static void the_verdict_does_not_depend_on_coordinates_units_and_names(void **state)
{
    static const char *const changes[][OVERRIDES_MAX] = {
        {NULL},
        {"parameters.x=1", "parameters.y=-0.3", NULL},
        {"parameters.x=-5000", "parameters.y=700", NULL},
        {"parameters.turn=1.1", NULL},
        {"parameters.turn=-2.5", "parameters.x=3", NULL},
        {"parameters.l=1000", "parameters.m=1e-3", NULL}, /* mm, t, s */
    };
    static const char *const steps[] = {"time.step=2e-3", "time.step=0.2"};
    for (int k = 0; k < 2; k++) {
        double first = NAN;
        int findings = -1;
        for (size_t i = 0; i <= sizeof changes / sizeof *changes; i++) {
            bool renamed = i == sizeof changes / sizeof *changes;
            char text[4096];
            write_hook(renamed, text, sizeof text);
            const char *overrides[OVERRIDES_MAX] = {NULL};
            int count = 0;
            for (; !renamed && changes[i][count]; count++)
                overrides[count] = changes[i][count];
            overrides[count++] = steps[k];

            yk_run_report report;
            run(*state, "hook.yaml", text, overrides, NULL, &report);
            double error = report.estimate.relative_error;
            if (isnan(first)) {
                first = error;
                findings = serious_count(&report);
            }
            if (serious_count(&report) != findings || !(fabs(error - first) < 0.25 * first))
                print_error("change %d, %s: error %.3g, first %.3g, %s\n", (int)i, steps[k], error,
                            first, report.finding_count ? report.findings[0].message : "");
            assert_int_equal(serious_count(&report), findings);
            assert_null(find(&report, YK_FINDING_INTERFACE_GAP));
            assert_null(find(&report, YK_FINDING_DRIFT));
            assert_true(fabs(error - first) < 0.25 * first);
        }
        assert_int_equal(findings > 0, k == 1);
    }
}

/* Without companions too: the integrator damps the motion that the model excites. */
static void energy_lost_by_integration_is_found(void **state)
{
    const char *const damped[] = {"parameters.rho=0", "time.step=4e-2", NULL};
    yk_run_report report;
    yk_scenario *scenario = load_scenario(*state, "oscillator.yaml", oscillator, damped);
    assert_int_equal(yk_run(*state, scenario, NULL, &report), YK_OK);
    yk_scenario_destroy(scenario);
    const yk_finding *loss = find(&report, YK_FINDING_ENERGY_ERROR);
    assert_non_null(loss);
    assert_true(loss->value < -0.15);
    assert_int_equal(loss->severity, YK_FINDING_SEVERITY_SERIOUS);
}

/* Modal amplitudes are parts of one vector: the smaller ones are compared with the largest. */
static void parts_of_a_vector_share_a_scale(void **state)
{
    const char *const step[] = {NULL};
    yk_run_report report;
    run(*state, YOKE_SOURCE_DIR "/models/modal-cantilever/scenario.yaml", NULL, step, NULL,
        &report);
    assert_true(report.estimate.available);
    assert_true(report.estimate.relative_error > 1e-3);
    assert_true(report.estimate.relative_error < 0.05);
    assert_int_equal(serious_count(&report), 0);
}

/* A stiff damper: the energy balance is off by several percent in the first steps, and the motion
 * is right. */
static void a_small_error_outweighs_indirect_findings(void **state)
{
    static const char *const dashpot =
        "time: {end: 4, step: 1e-2}\n"
        "subsystems:\n"
        "  left: {solver: oscillator, mass: 1, stiffness: 50, damping: 300, velocity: 1}\n"
        "  right: {solver: oscillator, mass: 0.5, velocity: 1}\n"
        "interfaces:\n"
        "  joint: {between: [left.mass, right.mass]}\n"
        "coupling: {scheme: tight}\n"
        "record: {channels: [left.mass.position]}\n";
    yk_run_report report;
    run(*state, "dashpot.yaml", dashpot, NULL, NULL, &report);
    assert_true(report.estimate.available);
    if (report.estimate.relative_error < 0.05)
        assert_int_equal(serious_count(&report), 0);
}

/* Spheres in a shaken can: their trajectories depend on the step, but not what they dissipate.
 * Numbers of the solver, such as the number of contacts, are not results. */
static void chaotic_contact_is_judged_by_statistics(void **state)
{
    static const char path[] = YOKE_SOURCE_DIR "/models/particle-damper/scenario.yaml";
    const char *const overrides[] = {"time.end=0.3", NULL};
    yk_run_report report;
    run(*state, path, NULL, overrides, NULL, &report);
    const yk_error_estimate *e = &report.estimate;
    assert_true(e->by_statistics);
    assert_true(e->dissipation_error < 0.05);
    assert_true(e->statistics_error < 0.1);
    assert_string_not_equal(e->statistics_channel, "damper.contact_count");
    assert_int_equal(serious_count(&report), 0);

    /* A step that does not resolve the impacts. */
    const char *const coarse[] = {"time.end=0.3", "time.step=6.4e-3", "record.every=1", NULL};
    run(*state, path, NULL, coarse, NULL, &report);
    int dissipation = 0;
    for (int i = 0; i < report.finding_count; i++)
        dissipation += report.findings[i].cause == YK_CAUSE_DISSIPATION &&
                       report.findings[i].severity == YK_FINDING_SEVERITY_SERIOUS;
    assert_int_equal(dissipation, 1);

    /* Boxes at rest move by what their contacts close in the first steps. */
    const char *const rest[] = {NULL};
    run(*state, YOKE_SOURCE_DIR "/studies/trust/scenarios/stack.yaml", NULL, rest, NULL, &report);
    assert_true(report.estimate.available);
    assert_string_equal(report.estimate.channel, "");
    assert_int_equal(report.finding_count, 0);
}

/* A factor of zero was read as no factor, so that the force acted as a whole. */
static void a_factor_of_zero_removes_its_force(void **state)
{
    static const char *const text =
        "time: {end: 1, step: 1e-2}\n"
        "subsystems:\n"
        "  a:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, 0]\n"
        "    bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
        "    forces: {push: {type: force, body: b, vector: [1, 0, 0], factor: 0}}\n"
        "    ports: {b: {body: b}}\n"
        "record: {channels: [a.b.position]}\n";
    yk_run_report report;
    yk_record *record;
    assert_int_equal(yk_record_create(*state, &record), YK_OK);
    run(*state, "zero.yaml", text, NULL, record, &report);
    assert_true(yk_record_column(record, 0, 0)[yk_record_row_count(record) - 1] == 0);
    yk_record_destroy(record);
}

/* Iterations that end at once, since forces are below their tolerance, do so in companions too. */
static void a_tolerance_above_the_forces_shows_in_the_estimate(void **state)
{
    static const char *const micro =
        "time: {end: 0.5, step: 2e-3}\n"
        "subsystems:\n"
        "  a: {solver: oscillator, mass: 1e-9, stiffness: 2e-6, damping: 1e-9, velocity: 1e-4}\n"
        "  b: {solver: oscillator, mass: 1e-9, velocity: 1e-4}\n"
        "interfaces: {cut: {between: [a.mass, b.mass]}}\n"
        "coupling: {scheme: index1}\n"
        "record: {channels: [a.mass.position]}\n";
    const char *const none[] = {NULL};
    yk_run_report report;
    run(*state, "micro.yaml", micro, none, NULL, &report);
    assert_true(report.estimate.relative_error > 0.3);
    assert_true(serious_count(&report) > 0);
    const char *const tight[] = {"coupling.absolute_tolerance=0",
                                 "coupling.relative_tolerance=1e-6", NULL};
    run(*state, "micro.yaml", micro, tight, NULL, &report);
    assert_true(report.estimate.relative_error < 0.1);
    assert_int_equal(serious_count(&report), 0);
}

/* One box that falls over moves as predicted if its steps are small: differences between large steps
 * are errors, and not chaos. */
static void a_tipping_box_is_predictable(void **state)
{
    static const char *const box =
        "time: {end: 0.4, step: 5e-4}\n"
        "subsystems:\n"
        "  a:\n"
        "    solver: nonsmooth\n"
        "    materials: {m: {friction: 0.6}}\n"
        "    ground_shapes: [{type: plane, material: m}]\n"
        "    bodies:\n"
        "      b:\n"
        "        position: [0, 0, 0.3]\n"
        "        velocity: [0.18, 0, -0.06]\n"
        "        angular_velocity: [0, 0.6, 0]\n"
        "        shapes: [{type: box, size: [0.2, 0.2, 0.6], density: 500, material: m}]\n"
        "record: {channels: [a.b.position.x, a.b.position.z]}\n";
    static const struct {
        const char *step;
        bool serious; /* errors by a run with 1/32 of the steps: 42 %, 13 %, 3.4 % */
    } cases[] = {{"time.step=2e-3", true}, {"time.step=5e-4", true}, {"time.step=1.25e-4", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const overrides[] = {cases[i].step, NULL};
        yk_run_report report;
        run(*state, "box.yaml", box, overrides, NULL, &report);
        assert_true(report.estimate.available);
        assert_int_equal(serious_count(&report) > 0, cases[i].serious);
    }
}

/* Long runs are judged by much larger steps. A fast decay at the start falls between their samples,
 * and an order that is observed far from the run does not hold near it. */
static void long_runs_are_judged_as_short_ones(void **state)
{
    static const char *const creep =
        "time: {end: 60, step: 0.04}\n"
        "subsystems:\n"
        "  a:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, 0]\n"
        "    bodies:\n"
        "      b_{i}: {repeat: 100, mass: 2, inertia: [1, 1, 1], velocity: [4, 0, 0]}\n"
        "    joints:\n"
        "      r_{i}: {repeat: 100, type: prismatic, between: [ground, \"b_{i}\"], axis: [1, 0, "
        "0],\n"
        "              at: [0, 0, 0]}\n"
        "    forces:\n"
        "      s_{i}: {repeat: 100, type: joint-spring, joint: \"r_{i}\", stiffness: 10,\n"
        "              damping: 90}\n"
        "record: {channels: [a.r_1.displacement]}\n";
    const char *const coarse[] = {NULL};                                /* 11.4 % off */
    const char *const fine[] = {"time.step=0.01", "time.end=15", NULL}; /* 0.74 % */
    yk_run_report report;
    run(*state, "creep.yaml", creep, coarse, NULL, &report);
    assert_true(report.estimate.relative_error > 0.114 / 3);
    assert_true(report.estimate.relative_error < 0.114 * 3);
    run(*state, "creep.yaml", creep, fine, NULL, &report);
    assert_true(report.estimate.relative_error > 0.0074 / 3);
    assert_true(report.estimate.relative_error < 0.0074 * 3);
    assert_int_equal(serious_count(&report), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_of_an_oscillator_is_estimated),
        cmocka_unit_test(a_run_without_comparison_says_why),
        cmocka_unit_test(different_start_velocities_are_serious_if_momentum_is_lost),
        cmocka_unit_test(rounding_of_constant_velocities_is_no_error),
        cmocka_unit_test(the_verdict_does_not_depend_on_coordinates_units_and_names),
        cmocka_unit_test(energy_lost_by_integration_is_found),
        cmocka_unit_test(parts_of_a_vector_share_a_scale),
        cmocka_unit_test(a_small_error_outweighs_indirect_findings),
        cmocka_unit_test(a_factor_of_zero_removes_its_force),
        cmocka_unit_test(a_tolerance_above_the_forces_shows_in_the_estimate),
        cmocka_unit_test(a_tipping_box_is_predictable),
        cmocka_unit_test(long_runs_are_judged_as_short_ones),
        cmocka_unit_test(chaotic_contact_is_judged_by_statistics),
    };
    return cmocka_run_group_tests_name("verdict", tests, create_context, destroy_context);
}
