/* Advice on scenarios whose best coupling is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "test.h"
#include "yoke/analysis.h"

static yk_status advise(yk_context *context, const yk_advice_options *def, yk_advice_report *advice)
{
    yk_diagnostics *diagnostics = NULL;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    yk_status status = yk_advise(context, def, diagnostics, advice);
    yk_diagnostics_destroy(diagnostics);
    return status;
}

static yk_advice_options question(const char *path, const char *const *overrides, int count)
{
    yk_advice_options def = yk_advice_options_default();
    def.scenario.path = path;
    def.scenario.overrides = overrides, def.scenario.override_count = count;
    def.cpu_time_budget = 600, def.jobs = 1; /* time must not decide what is tried */
    return def;
}

static const yk_advice_row *row_of(const yk_advice_report *advice, const char *name)
{
    for (int i = 0; i < advice->count; i++)
        if (strcmp(advice->rows[i].name, name) == 0)
            return &advice->rows[i];
    return NULL;
}

static const char oscillator[] = YOKE_SOURCE_DIR "/models/two-mass-oscillator/scenario.yaml";

/* Explicit coupling with index-1 inputs is of first order: 0.0155 at 1e-4 s, so 0.01 is met from
 * 5e-5 s on. The chosen scheme costs no more than that. */
static void the_cheapest_that_meets_the_tolerance_is_chosen(void **state)
{
    yk_advice_options def = question(oscillator, NULL, 0);
    yk_advice_report *a = malloc(sizeof *a);
    assert_int_equal(advise(*state, &def, a), YK_OK);
    assert_string_equal(a->reference, "monolithic");
    assert_true(a->reference_error < 1e-5);
    assert_near(a->duration, 0.5, 1e-9);
    assert_true(a->best_row >= 0);
    const yk_advice_row *best = &a->rows[a->best_row];
    assert_int_equal(best->outcome, YK_ADVICE_ACCEPTED);
    assert_true(best->error <= 0.01);
    const yk_advice_row *plain = row_of(a, "explicit, index-1");
    assert_int_equal(plain->outcome, YK_ADVICE_ACCEPTED);
    assert_near(plain->step, 5e-5, 1e-12);
    assert_true(plain->call_count == 20000 && best->call_count <= plain->call_count);
    assert_non_null(strstr(best->overrides[0], "coupling.scheme="));
    assert_true(a->has_stability && a->stability.verdict == YK_VERDICT_STABLE);
    /* Unstable schemes are not offered, even if their error is small. */
    assert_int_equal(row_of(a, "explicit, unmodified")->outcome, YK_ADVICE_UNSTABLE);
    /* Schemes that meet the tolerance only at higher cost are reported as such. */
    assert_true(row_of(a, "tight, aitken")->outcome == YK_ADVICE_ACCEPTED ||
                row_of(a, "tight, aitken")->call_count > best->call_count);
    assert_int_equal(row_of(a, "monolithic")->outcome, YK_ADVICE_ACCEPTED);
    assert_near(a->verified_until, 0.5, 1e-9);
    assert_true(a->override_count > 1);
    char step[64];
    snprintf(step, sizeof step, "time.step=%g", best->step);
    assert_string_equal(a->overrides[a->override_count - 1], step);
    for (int i = 0; i < a->count; i++) {
        assert_true(*a->rows[i].name && a->rows[i].override_count > 0);
        if (a->rows[i].outcome > YK_ADVICE_INACCURATE)
            assert_true(*a->rows[i].message);
    }
    /* In order: those that meet the tolerance, then others, each kind by error. */
    for (int i = 1; i < a->count; i++) {
        const yk_advice_row *before = &a->rows[i - 1], *row = &a->rows[i];
        assert_true(before->outcome <= row->outcome);
        if (before->outcome == row->outcome && row->outcome != YK_ADVICE_ACCEPTED)
            assert_false(row->error < before->error);
    }
    free(a);
}

/* A heavy second mass: an explicit scheme that prescribes its motion has no stable step, and is
 * not taken. */
static void heavy_partners_are_not_moved_explicitly(void **state)
{
    static const char *const heavy[] = {"parameters.right_mass=4", "time.end=0.2"};
    yk_advice_options def = question(oscillator, heavy, 2);
    def.tolerance = 0.02;
    yk_advice_report *a = malloc(sizeof *a);
    assert_int_equal(advise(*state, &def, a), YK_OK);
    assert_int_equal(row_of(a, "explicit, index-1")->outcome, YK_ADVICE_UNSTABLE);
    assert_int_equal(row_of(a, "tight, aitken")->outcome, YK_ADVICE_ACCEPTED);
    assert_true(a->best_row >= 0);
    const yk_advice_row *best = &a->rows[a->best_row];
    for (int i = 0; i < best->override_count; i++)
        assert_null(strstr(best->overrides[i], "inputs"));
    assert_near(a->verified_until, 0.2, 1e-9);
    free(a);
}

/* A mass and a hydraulic cylinder cannot be merged: the row says so, and another reference is found. */
static void missing_capabilities_are_named(void **state)
{
    static const char *const end = "time.end=0.2";
    yk_advice_options def =
        question(YOKE_SOURCE_DIR "/models/servo-cylinder/scenario.yaml", &end, 1);
    def.tolerance = 0.05;
    yk_advice_report *a = malloc(sizeof *a);
    assert_int_equal(advise(*state, &def, a), YK_OK);
    assert_int_equal(row_of(a, "monolithic")->outcome, YK_ADVICE_FAILED);
    assert_non_null(strstr(row_of(a, "monolithic")->message, "cannot be merged"));
    assert_true(strcmp(a->reference, "monolithic") != 0 && a->reference_error < 0.01);
    assert_true(a->best_row >= 0);
    free(a);
}

/* Beyond what there is time to compare, the choice is verified on its own; pasted, it meets the
 * tolerance over the whole run, whose truth is the closed form. */
static void the_choice_holds_to_the_end(void **state)
{
    static const char *const sets[] = {"time.end=2", "parameters.right_mass=0.5",
                                       "record.channels=[joint.position]"};
    yk_advice_options def = question(oscillator, sets, 3);
    def.cpu_time_budget = 20, def.tolerance = 0.02;
    yk_advice_report *a = malloc(sizeof *a);
    assert_int_equal(advise(*state, &def, a), YK_OK);
    assert_true(a->best_row >= 0);
    assert_near(a->verified_until, 2, 1e-6);
    const char *overrides[16];
    int count = 0;
    for (int i = 0; i < 3; i++)
        overrides[count++] = sets[i];
    for (int i = 0; i < a->override_count; i++)
        overrides[count++] = a->overrides[i];
    yk_scenario_def pasted = {.path = oscillator, .overrides = overrides, .override_count = count};
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
    yk_record *record;
    assert_int_equal(yk_diagnostics_create(*state, &diagnostics), YK_OK);
    assert_int_equal(yk_scenario_load(*state, &pasted, diagnostics, &scenario), YK_OK);
    assert_int_equal(yk_record_create(*state, &record), YK_OK);
    yk_run_options run = {.recorder = yk_record_recorder(record)};
    assert_int_equal(yk_run(*state, scenario, &run, NULL), YK_OK);
    double omega = sqrt(5000 / 1.5), worst = 0;
    for (size_t i = 0; i < yk_record_row_count(record); i++) {
        double t = yk_record_times(record)[i];
        worst = fmax(worst, fabs(yk_record_column(record, 0, 0)[i] - 0.1 / omega * sin(omega * t)));
    }
    assert_true(worst / (2 * 0.1 / omega) <= def.tolerance);
    yk_record_destroy(record);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    free(a);
}

/* A load that swings below a trolley, without a list of what to record: all channels count, of which
 * the torque at the pin is nothing but rounding, and energies are known of the whole alone where
 * subsystems are merged. Neither may make a scheme look wrong. */
static void channels_that_show_nothing_do_not_count(void **state)
{
    static const char text[] =
        "time: {end: 1, step: 1e-3}\n"
        "subsystems:\n"
        "  trolley:\n"
        "    solver: multibody\n"
        "    bodies: {cart: {mass: 400, inertia: [50, 50, 50], position: [0, 0, 5]}}\n"
        "    joints: {rail: {type: prismatic, between: [ground, cart], at: [0, 0, 5],\n"
        "                    axis: [1, 0, 0]}}\n"
        "    ports: {hook: {body: cart}}\n"
        "  load:\n"
        "    solver: multibody\n"
        "    bodies: {rod: {mass: 900, inertia: [90, 90, 10], position: [1, 0, 3]}}\n"
        "    ports: {top: {body: rod, offset: [-1, 0, 2]}}\n"
        "interfaces:\n"
        "  - {name: pin, between: [trolley.hook, load.top], joint: revolute, axis: [0, 1, 0]}\n"
        "coupling: {scheme: explicit}\n";
    yk_advice_options def = question("trolley.yaml", NULL, 0);
    def.scenario.text = text;
    yk_advice_report *a = malloc(sizeof *a);
    assert_int_equal(advise(*state, &def, a), YK_OK);

    static const char *const good[] = {"tight, quasi-newton", "explicit, force-force", "relaxed",
                                       "index1, degree 2", "monolithic"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(row_of(a, good[i])->outcome, YK_ADVICE_ACCEPTED);
    assert_int_equal(row_of(a, "explicit, unmodified")->outcome, YK_ADVICE_UNSTABLE);
    free(a);
}

static void what_cannot_be_asked_is_refused(void **state)
{
    yk_advice_report *a = malloc(sizeof *a);
    yk_advice_options def = question(YOKE_SOURCE_DIR "/models/pendulum/scenario.yaml", NULL, 0);
    assert_int_equal(advise(*state, &def, a), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "no interfaces"));
    static const char *const still[] = {"parameters.v0=0"};
    def = question(oscillator, still, 1);
    assert_int_equal(advise(*state, &def, a), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(*state), "nothing moves"));
    def = question(oscillator, NULL, 0);
    def.tolerance = 0;
    assert_int_equal(advise(*state, &def, a), YK_ERROR_ARGUMENT);
    free(a);
}

static const char *const pendulum_with_motor =
    "time: {end: 4, step: 1e-2}\n"
    "subsystems:\n"
    "  plant:\n"
    "    solver: multibody\n"
    "    bodies: {bar: {mass: 1, inertia: [0.002, 0.03, 0.03], position: [0.25, 0, 0]}}\n"
    "    joints: {hinge: {type: revolute, between: [ground, bar], at: [0, 0, 0], axis: [0, 0, "
    "1]}}\n"
    "    forces: {motor: {type: motor, joint: hinge, signal_port: torque}}\n"
    "  pd:\n"
    "    solver: control\n"
    "    loops: {angle: {reference: 0.5, proportional: 10, derivative: 1}}\n"
    "wires:\n"
    "  angle: {from: plant.hinge.angle, to: pd.angle.measured}\n"
    "  rate: {from: plant.hinge.angular_velocity, to: pd.angle.rate}\n"
    "  torque: {from: pd.angle, to: plant.torque}\n"
    "record: {channels: [plant.hinge.angle, pd.angle]}\n";

/* A controller that lags by a macro step has an error of first order. */
static void wires_alone_get_advice(void **state)
{
    yk_advice_options def = question("wires.yaml", NULL, 0);
    def.scenario.text = pendulum_with_motor;
    yk_advice_report *a = malloc(sizeof *a);
    assert_int_equal(advise(*state, &def, a), YK_OK);
    assert_true(a->best_row >= 0);
    assert_true(a->rows[a->best_row].error <= 0.01);
    free(a);
}

static const char *const double_pendulum =
    "time: {end: 15, step: 4e-3}\n"
    "subsystems:\n"
    "  upper:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}}\n"
    "    joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0]}}\n"
    "    ports: {end: {body: a, offset: [0.5, 0, 0]}}\n"
    "  lower:\n"
    "    solver: multibody\n"
    "    gravity: [0, -9.81, 0]\n"
    "    bodies: {b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1.5, 0, 0]}}\n"
    "    ports: {start: {body: b, offset: [-0.5, 0, 0]}, tip: {body: b, offset: [0.5, 0, 0]}}\n"
    "interfaces: {hinge: {between: [upper.end, lower.start], joint: revolute}}\n"
    "coupling: {scheme: explicit}\n"
    "record: {channels: [lower.tip.position]}\n";

/* No step predicts a double pendulum over 15 s; it is compared as long as it can be predicted. */
static void chaos_is_compared_as_long_as_it_is_predictable(void **state)
{
    yk_advice_options def = question("chaos.yaml", NULL, 0);
    def.scenario.text = double_pendulum;
    def.cpu_time_budget = 60;
    yk_advice_report *a = malloc(sizeof *a);
    assert_int_equal(advise(*state, &def, a), YK_OK);
    assert_true(a->predictable_until > 2 && a->predictable_until < 15);
    assert_true(a->duration < a->predictable_until);
    assert_true(a->best_row >= 0);
    free(a);
}

static const char crank_damper[] = YOKE_SOURCE_DIR "/models/crank-damper/scenario.yaml";

/* A run of one second of processor time: about ten times as much gives an answer, which is a choice
 * or the closest scheme with its error. */
static void expensive_scenarios_take_ten_runs(void **state)
{
    static const char *const sets[] = {"time.end=0.5"};
    yk_advice_options def = question(crank_damper, sets, 1);
    def.cpu_time_budget = NAN, def.tolerance = 0.02;
    yk_advice_report *a = malloc(sizeof *a);
    assert_int_equal(advise(*state, &def, a), YK_OK);
    assert_true(a->run_time > 0);
    assert_true(a->cpu_time <= fmax(5, 10 * a->run_time));
    const yk_advice_row *answer = &a->rows[a->best_row >= 0 ? a->best_row : 0];
    assert_true(answer->outcome <= YK_ADVICE_INACCURATE && isfinite(answer->error));
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_that_meets_the_tolerance_is_chosen),
        cmocka_unit_test(heavy_partners_are_not_moved_explicitly),
        cmocka_unit_test(missing_capabilities_are_named),
        cmocka_unit_test(the_choice_holds_to_the_end),
        cmocka_unit_test(channels_that_show_nothing_do_not_count),
        cmocka_unit_test(what_cannot_be_asked_is_refused),
        cmocka_unit_test(wires_alone_get_advice),
        cmocka_unit_test(chaos_is_compared_as_long_as_it_is_predictable),
        cmocka_unit_test(expensive_scenarios_take_ten_runs),
    };
    return cmocka_run_group_tests_name("advise", tests, create_context, destroy_context);
}
