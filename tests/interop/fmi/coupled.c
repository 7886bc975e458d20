/* Two FMUs in one scenario, by the schemes that couple them. */
#include <math.h>

#include "fmus.h"
#include "system/scenario_run.h"
#include "yoke/analysis.h"

static yk_context *context;

static int make_fmus(void **state)
{
    (void)state;
    context = yk_context_create(NULL);
    free(make_fmu(context, &(fmu_recipe){.name = "mass2", MASS2}));
    free(make_fmu(context, &(fmu_recipe){.name = "mass3", MASS3}));
    free(make_fmu(context, &(fmu_recipe){.name = "spring", SPRING2}));
    free(make_fmu(context, &(fmu_recipe){.name = "forward",
                                         SPRING2,
                                         .find = "canGetAndSetFMUstate=\"true\" "
                                                 "canSerializeFMUstate=\"true\"",
                                         .replace = ""}));
    free(
        make_fmu(context, &(fmu_recipe){.name = "independent",
                                        SPRING2,
                                        .find = "<Unknown index=\"3\"/>",
                                        .replace = "<Unknown index=\"3\" dependencies=\"2 4\"/>"}));
    return 0;
}

static int remove_fmus(void **state)
{
    (void)state;
    yk_context_destroy(context);
    remove_test_folder();
    return 0;
}

static run open_coupled(const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/scenario.yaml", test_folder());
    return open_text(path, text, NULL);
}

#define PORT "{position: x, velocity: v, acceleration: a, force: f}"
#define JOINED                                                                               \
    "time: {end: 0.5, step: 5e-3}\n"                                                         \
    "subsystems:\n"                                                                          \
    "  a: {solver: fmu, file: mass2.fmu, ports: {p: " PORT "},\n"                            \
    "      start_values: [{variable: m, value: 1}, {variable: k, value: 80}, {variable: x, " \
    "value: 0.1}]}\n"                                                                        \
    "  b: {solver: fmu, file: mass3.fmu, ports: {p: {type: terminal, terminal: flange}},\n"  \
    "      start_values: [{variable: m, value: 3}, {variable: k, value: 20}, {variable: x, " \
    "value: 0.1}]}\n"                                                                        \
    "interfaces:\n"                                                                          \
    "  - {name: lock, between: [a.p, b.p], joint: fixed}\n"                                  \
    "record: {channels: [a.p.position, b.p.position]}\n"

/* Two masses locked together: one mass of 4 kg on a spring of 100 N/m. */
static void two_masses_are_locked_by_index1(void **state)
{
    (void)state;
    run r = open_coupled(JOINED "coupling: {scheme: index1}\n");
    double w = sqrt(100 / 4.0);
    for (int i = 0; i < 100; i++) {
        step(&r);
        double x = 0.1 * cos(w * 5e-3 * (i + 1));
        assert_near(r.sample[0], x, 1e-6);
        assert_near(r.sample[1], x, 1e-6);
    }
    close_run(&r);
}

#define HELD                                                                                     \
    "time: {end: 0.5, step: 1e-3}\n"                                                             \
    "subsystems:\n"                                                                              \
    "  a: {solver: fmu, file: mass2.fmu, ports: {p: " PORT "},\n"                                \
    "      start_values: [{variable: m, value: 2}, {variable: x, value: 0.1}]}\n"                \
    "  b: {solver: fmu, file: spring.fmu, ports: {p: {position: end.x, velocity: end.v, force: " \
    "end.f}},\n"                                                                                 \
    "      start_values: [{variable: k, value: 50}, {variable: end.x, value: 0.1}]}\n"           \
    "interfaces:\n"                                                                              \
    "  - {name: lock, between: [a.p, b.p], joint: fixed}\n"                                      \
    "record: {channels: [a.p.position]}\n"

/* A mass of 2 kg on a spring of 50 N/m, which is the other FMU. The force of a step is that at its
 * end, half a step early in the mean: a damper with k h / 2, or a decay with the rate w^2 h / 4. */
static void hold_by_a_spring(const char *coupling)
{
    char text[2000];
    snprintf(text, sizeof text, "%s%s", HELD, coupling);
    run r = open_coupled(text);
    const double w = 5, h = 1e-3;
    for (int i = 0; i < 500; i++) {
        step(&r);
        double t = h * (i + 1);
        double decay = w * w * h / 4;
        double x = 0.1 * exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t));
        assert_near(r.sample[0], x, 2e-6);
    }
    close_run(&r);
}

static void tight_couples_motion_and_force(void **state)
{
    (void)state;
    hold_by_a_spring("coupling: {scheme: tight}\n");
}

static void explicit_couples_motion_and_force(void **state)
{
    (void)state;
    hold_by_a_spring("coupling: {scheme: explicit, exchange: force-motion}\n");
}

/* A mass that falls freely, as an FMU with a trap in the functions for its state. */
static const char *trap_text(const char *name, const char *coupling, const char *process)
{
    static char text[1000];
    snprintf(text, sizeof text,
             "time: {end: 0.5, step: 1e-2}\nsubsystems:\n"
             "  a: {solver: fmu, file: %s.fmu, run_in: %s, start_values: [{variable: v, value: "
             "2}], ports: "
             "{p: " PORT "}}\n"
             "%srecord: {channels: [a.p.position]}\n",
             name, process, coupling);
    return text;
}

static void make_trap(const char *name, int version)
{
    fmu_recipe recipe = {.name = name, MASS2};
    if (version == 3)
        recipe = (fmu_recipe){.name = name, MASS3};
    recipe.binary = name;
    free(make_fmu(context, &recipe));
}

/* If an earlier state may be set, this FMU restarts at its first state (like libcosim's
 * Wheel.fmu). Without rollback it must not be told so, also if states are taken for checkpoints. */
static void schemes_without_rollback_say_so(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const char *name = i & 1 ? "wheel3" : "wheel2";
        make_trap(name, i & 1 ? 3 : 2);
        run r = open_coupled(trap_text(name, "coupling: {scheme: explicit}\n",
                                       i & 2 ? "child-process" : "this-process"));
        double *image = NULL;
        if (i & 4) {
            size_t words = yk_system_saved_layout(r.system).word_count;
            assert_true(words > 0);
            image = calloc(words, sizeof *image);
        }
        for (int k = 0; k < 50; k++) {
            step(&r);
            if (image)
                yk_system_get_state(r.system, image);
        }
        assert_near(r.sample[0], 1, 1e-12);
        free(image);
        close_run(&r);
    }
}

/* A caller that asks for the layout may set states, so the FMU has to keep them. */
static void callers_that_set_states_say_so(void **state)
{
    (void)state;
    make_trap("wheel2", 2);
    for (int i = 0; i < 2; i++) {
        run r = open_coupled(trap_text("wheel2", "coupling: {scheme: explicit}\n",
                                       i ? "child-process" : "this-process"));
        assert_true(yk_system_state_layout(r.system).word_count > 0);
        for (int k = 0; k < 50; k++)
            step(&r);
        assert_near(r.sample[0], 2e-2, 1e-12);
        close_run(&r);
    }
}

/* An FMU that crashes when a state is taken runs by schemes that take none. */
static void states_are_taken_only_if_needed(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const char *name = i & 1 ? "fragile3" : "fragile2";
        make_trap(name, i & 1 ? 3 : 2);
        run r = open_coupled(trap_text(name, "coupling: {scheme: explicit}\n",
                                       i & 2 ? "child-process" : "this-process"));
        for (int k = 0; k < 50; k++)
            step(&r);
        assert_near(r.sample[0], 1, 1e-12);
        uint64_t hash;
        assert_int_equal(yk_system_state_hash(r.system, &hash), YK_OK);
        close_run(&r);
    }
}

/* A crash ends the program with a message that names the FMU and the function. */
static void crashes_are_reported(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        const char *name = version == 3 ? "fragile3" : "fragile2";
        make_trap(name, version);
        char path[600], command[1600], text[4000], expected[200];
        snprintf(path, sizeof path, "%s/crash.yaml", test_folder());
        const char *scenario = trap_text(
            name, "coupling: {scheme: explicit, on_failure: {type: halve}}\n", "this-process");
        write_bytes(path, scenario, strlen(scenario));
        snprintf(command, sizeof command,
                 "cd '%s' && ASAN_OPTIONS=handle_segv=0 '%s' run crash.yaml --no-output 2>&1",
                 test_folder(), YOKE_PROGRAM);
        FILE *stream = popen(command, "r");
        assert_non_null(stream);
        text[fread(text, 1, sizeof text - 1, stream)] = '\0';
        assert_true(pclose(stream) != 0);
        snprintf(expected, sizeof expected, "%s.fmu crashed in fmi%dGetFMU%s", name, version,
                 version == 3 ? "State" : "state");
        if (!strstr(text, expected))
            fail_msg("%s", text);
    }
}

/* The section that `yoke fmu info` prints is one that loads. */
static void sections_of_info_load(void **state)
{
    (void)state;
    static const char *const names[] = {"mass2", "mass3", "spring", "ball2"};
    free(make_fmu(context, &(fmu_recipe){.name = "ball2", BALL2}));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char command[1200], text[8000];
        snprintf(command, sizeof command, "cd '%s' && '%s' fmu info %s.fmu", test_folder(),
                 YOKE_PROGRAM, names[i]);
        FILE *stream = popen(command, "r");
        assert_non_null(stream);
        size_t got = fread(text, 1, sizeof text - 1, stream);
        text[got] = '\0';
        assert_int_equal(pclose(stream), 0);
        const char *section = strstr(text, "subsystems:");
        assert_non_null(section);
        char scenario[9000];
        snprintf(scenario, sizeof scenario, "time: {end: 0.1, step: 0.01}\n%s", section);
        run r = open_coupled(scenario);
        run_to(&r, 0.1);
        close_run(&r);
    }
}

/* A controller and an FMU without dynamics: y = 2 (1 - k y), a loop gain of -2 k. */
static const char *loop_text(const char *fmu, double stiffness, const char *scheme)
{
    static char text[800];
    snprintf(text, sizeof text,
             "time: {end: 0.05, step: 1e-3}\n"
             "subsystems:\n"
             "  p: {solver: control, loops: {y: {reference: 1, proportional: 2}}}\n"
             "  q: {solver: fmu, file: %s.fmu, start_values: [{variable: k, value: %g}]}\n"
             "  a: {solver: oscillator, mass: 1, stiffness: 100, velocity: 0.1}\n"
             "  b: {solver: oscillator, mass: 0.5, stiffness: 50, velocity: 0.1}\n"
             "interfaces: {joint: {between: [a.mass, b.mass], joint: fixed}}\n"
             "wires: {pq: {from: p.y, to: q.end.x}, qp: {from: q.end.f, to: p.y.measured}}\n"
             "coupling: {scheme: %s}\n"
             "record: {channels: [p.y.value]}\n",
             fmu, stiffness, scheme);
    return text;
}

static void loops_through_fmus_are_solved(void **state)
{
    (void)state;
    static const char *const schemes[] = {"explicit", "loose", "rim", "tight", "index1"};
    static const double stiffnesses[] = {3, 0.2, -0.2};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        for (size_t k = 0; k < sizeof stiffnesses / sizeof *stiffnesses; k++) {
            run r = open_coupled(loop_text("spring", stiffnesses[k], schemes[i]));
            assert_int_equal(yk_system_loop_count(r.system), 1);
            double exact = 2 / (1 + 2 * stiffnesses[k]);
            for (int n = 0; n < 50; n++) {
                assert_near(r.sample[0], exact, 1e-8);
                step(&r);
            }
            close_run(&r);
        }
    }

    /* The force depends on the velocity and the stiffness only, says the description. */
    run r = open_coupled(loop_text("independent", 0.2, "explicit"));
    assert_int_equal(yk_system_loop_count(r.system), 0);
    close_run(&r);
}

/* An FMU without states of its own to return to: the loop lags, which is serious if it grows. */
static void loops_that_lag_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/scenario.yaml", test_folder());
        const char *text = loop_text("forward", i ? 0.05 : 3, "explicit");
        yk_scenario *scenario = load_scenario(context, path, text, NULL);
        yk_run_report report;
        assert_false(YK_FAILED(yk_run(context, scenario, NULL, &report)));
        int k = 0;
        while (k < report.finding_count && report.findings[k].kind != YK_FINDING_WIRE_LOOP)
            k++;
        assert_true(k < report.finding_count);
        const yk_finding *found = &report.findings[k];
        assert_non_null(strstr(found->message, "'q.end.f' -> 'p.y.measured'"));
        assert_int_equal(found->severity == YK_FINDING_SEVERITY_SERIOUS, i == 0);

        /* A delay is a remedy only of a loop that tolerates it. */
        assert_int_equal(found->remedy_count, i);
        if (i)
            assert_string_equal(found->remedies[0].overrides[0], "wires.pq.sample_and_hold=true");
        yk_scenario_destroy(scenario);
        if (!i)
            continue;

        /* With the remedy the delay is part of the model, and the run is trusted. */
        const char *const remedy[] = {"wires.pq.sample_and_hold=true", NULL};
        scenario = load_scenario(context, path, text, remedy);
        assert_int_equal(yk_run(context, scenario, NULL, &report), YK_OK);
        for (k = 0; k < report.finding_count; k++)
            assert_true(report.findings[k].severity != YK_FINDING_SEVERITY_SERIOUS &&
                        report.findings[k].kind != YK_FINDING_WIRE_LOOP);
        yk_scenario_destroy(scenario);
    }
}

/* FMUs report no energy, so there is nothing that the work at their interface could be compared
 * with, however wrong the run is. Other findings judge it. */
static void without_energies_there_is_no_energy_error(void **state)
{
    (void)state;
    static const char *const texts[] = {JOINED "coupling: {scheme: index1}\n",
                                        HELD "coupling: {scheme: tight}\n",
                                        HELD "coupling: {scheme: explicit, exchange: "
                                             "force-motion}\n"};
    static const char *const steps[] = {"time.step=1e-3", "time.step=0.1", "time.step=0.3"};
    for (int i = 0; i < 9; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/scenario.yaml", test_folder());
        const char *const overrides[] = {steps[i % 3], "time.end=6", NULL};
        yk_scenario *scenario = load_scenario(context, path, texts[i / 3], overrides);
        yk_run_report report;
        yk_run(context, scenario, NULL, &report);
        for (int k = 0; k < report.finding_count; k++)
            if (report.findings[k].kind == YK_FINDING_ENERGY_ERROR)
                fail_msg("%s: %s", steps[i % 3], report.findings[k].message);
        assert_true(isnan(report.spurious_energy));
        assert_true(report.reference_energy == 0);
        yk_scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_masses_are_locked_by_index1),
        cmocka_unit_test(tight_couples_motion_and_force),
        cmocka_unit_test(explicit_couples_motion_and_force),
        cmocka_unit_test(schemes_without_rollback_say_so),
        cmocka_unit_test(callers_that_set_states_say_so),
        cmocka_unit_test(states_are_taken_only_if_needed),
        cmocka_unit_test(crashes_are_reported),
        cmocka_unit_test(sections_of_info_load),
        cmocka_unit_test(loops_through_fmus_are_solved),
        cmocka_unit_test(loops_that_lag_are_found),
        cmocka_unit_test(without_energies_there_is_no_energy_error),
    };
    return cmocka_run_group_tests_name("coupled FMUs", tests, make_fmus, remove_fmus);
}
