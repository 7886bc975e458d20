/* The indicators that monitor every run: each one is raised by a run with the problem, and none by
 * sound runs. */
#include <stdlib.h>
#include <string.h>

#include "analysis/run.h"
#include "context.h"
#include "coupling/system_arrays.h"
#include "load_scenario.h"
#include "massless_damper.h"
#include "test.h"
#include "yoke/analysis.h"
#include "yoke/oscillator.h"

enum { OVERRIDES_MAX = 8 };

/* Runs a scenario, from its file or as a text, with overrides, into a record. */
static yk_run_report run_text(yk_context *context, const char *path, const char *text,
                              const char *const *overrides, yk_record *record)
{
    yk_scenario *scenario = load_scenario(context, path, text, overrides);
    yk_run_report report;
    yk_run_options run_def = {.recorder = record ? yk_record_recorder(record) : NULL};
    yk_run(context, scenario, &run_def, &report);
    yk_scenario_destroy(scenario);
    return report;
}

static yk_run_report run_model(yk_context *context, const char *path, const char *const *overrides,
                               yk_record *record)
{
    return run_text(context, path, NULL, overrides, record);
}

/* The two-mass oscillator. */
static yk_run_report run(yk_context *context, const char *const *overrides, yk_record *record)
{
    return run_model(context, YOKE_SOURCE_DIR "/models/two-mass-oscillator/scenario.yaml",
                     overrides, record);
}

static const yk_finding *find(const yk_run_report *report, yk_finding_kind kind)
{
    for (int i = 0; i < report->finding_count; i++)
        if (report->findings[i].kind == kind)
            return &report->findings[i];
    return NULL;
}

static double add_series(double factor, int period, int steps, double noise)
{
    yk_ripple ripple = {0};
    unsigned seed = 1;
    double size = 1;
    for (int i = 0; i < steps; i++, size *= factor) {
        seed = seed * 1664525u + 1013904223u;
        double value = size * cos(2 * acos(-1) * i / period) + noise * (seed / 4294967296.0 - 0.5);
        yk_wrench wrench = {{0, 100 + value, 0}, {0, 0, 0}};
        if (yk_ripple_counts(&ripple))
            yk_ripple_add(&ripple, &wrench, i);
    }
    return ripple.longest >= YK_RIPPLE_ALARM ? ripple.growth : 0;
}

/* Impacts at random, ever harder: rough and growing, but no mode. */
static double add_impacts(double factor, int steps)
{
    yk_ripple ripple = {0};
    unsigned seed = 1;
    double size = 1;
    for (int i = 0; i < steps; i++, size *= factor) {
        seed = seed * 1664525u + 1013904223u;
        yk_wrench wrench = {{0, 0, size * (seed / 4294967296.0)}, {0, 0, 0}};
        if (yk_ripple_counts(&ripple))
            yk_ripple_add(&ripple, &wrench, i);
    }
    return ripple.longest >= YK_RIPPLE_ALARM ? ripple.growth : 0;
}

static void ripple_that_grows_is_distinguished_from_motion_and_noise(void **state)
{
    (void)state;
    assert_relative(add_series(1.05, 2, 200, 0), 1.05, 1e-6);
    assert_near(add_series(1.02, 3, 400, 0), 1.02, 0.01);
    assert_near(add_series(1.1, 4, 200, 1e-3), 1.1, 0.02);
    assert_near(add_series(1.05, 40, 400, 0), 0,
                0); /* a motion that grows, and that the steps resolve */
    assert_near(add_series(1, 2, 2000, 0), 0, 0);    /* a swing that does not grow */
    assert_near(add_series(1, 40, 20000, 10), 0, 0); /* noise, as of impacts */
    assert_near(add_series(0.9, 2, 400, 0), 0, 0);
    assert_near(add_impacts(1.03, 4000), 0, 0);
}

static void a_sound_run_has_no_findings(void **state)
{
    const char *const sound[][OVERRIDES_MAX] = {
        {"time.step=1e-4", NULL},
        {"coupling.scheme=tight", "parameters.right_mass=0.5", NULL},
        {"coupling.sequence=jacobi", "parameters.right_mass=0.1", NULL},
        {"coupling.scheme=monolithic", NULL}};
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        yk_run_report r = run(*state, sound[i], NULL);

        /* Numerical damping loses some percent, which is a warning. */
        for (int k = 0; k < r.finding_count; k++) {
            assert_int_equal(r.findings[k].kind, YK_FINDING_ENERGY_ERROR);
            assert_true(r.findings[k].value < 0);
            assert_int_equal(r.findings[k].severity, YK_FINDING_SEVERITY_WARNING);
        }
    }
}

/* An unstable coupling is left in time: the run ends near the exact solution, says when it fell back
 * and why, and is not distrusted. */
static void a_run_that_goes_wrong_falls_back_in_time(void **state)
{
    const char *const alone[] = {"parameters.right_mass=1.9", NULL};
    yk_run_report r = run(*state, alone, NULL);
    assert_true(find(&r, YK_FINDING_ENERGY_ERROR)->severity == YK_FINDING_SEVERITY_SERIOUS);

    const char *const policy[] = {"parameters.right_mass=1.9",
                                  "coupling.on_failure={type: fallback, scheme: tight}", NULL};
    yk_record *record;
    assert_int_equal(yk_record_create(*state, &record), YK_OK);
    r = run(*state, policy, record);
    const yk_finding *mended = find(&r, YK_FINDING_RECOVERED);
    assert_non_null(mended);
    assert_non_null(strstr(mended->message, "from scheme explicit to tight at t = 0.0"));
    assert_non_null(strstr(mended->message, "interface 'joint'"));
    for (int i = 0; i < r.finding_count; i++)
        assert_false(r.findings[i].severity == YK_FINDING_SEVERITY_SERIOUS);

    /* x = v0 / omega sin(omega t), at 0.5 s; what the coupling made until it was left, up to a tenth of
     * the energy, is a twentieth of the motion. */
    double omega = sqrt(5000 / 2.9);
    size_t last = yk_record_row_count(record) - 1;
    double end = yk_record_column(record, 0, 0)[last];
    assert_near(end, 0.1 / omega * sin(0.5 * omega), 0.05 * 0.1 / omega);
    yk_record_destroy(record);

    /* If the run explodes within some steps, the fallback comes late: the energy that existed for a
     * while is reported, not that of the end. */
    const char *const late[] = {"parameters.right_mass=10", "time.end=0.02",
                                "coupling.on_failure={type: fallback, scheme: tight}", NULL};
    r = run(*state, late, NULL);
    const yk_finding *energy = find(&r, YK_FINDING_ENERGY_ERROR);
    assert_non_null(energy);
    assert_true(yk_finding_figure(energy, "present") > 1);
}

/* The hinge of its upper link holds the interface fast along the link and across the plane: no
 * velocity answers there, and rounding is no answer. */
static void a_port_that_cannot_move_is_no_algebraic_loop(void **state)
{
    const char *const overrides[] = {"time.end=0.1", NULL};
    yk_run_report r =
        run_model(*state, YOKE_SOURCE_DIR "/models/split-pendulum/scenario.yaml", overrides, NULL);
    assert_null(find(&r, YK_FINDING_ALGEBRAIC_LOOP));
}

static void an_unstable_coupling_is_named_with_its_growth(void **state)
{
    const char *const overrides[] = {"time.step=1e-3", "coupling.modified_inputs=none", NULL};
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(*state, &record), YK_OK);
    yk_run_report r = run(*state, overrides, record);
    const yk_finding *ripple = find(&r, YK_FINDING_GROWING_OSCILLATION),
                     *energy = find(&r, YK_FINDING_ENERGY_ERROR);
    assert_non_null(ripple);
    assert_non_null(energy);
    assert_true(ripple->severity == YK_FINDING_SEVERITY_SERIOUS &&
                energy->severity == YK_FINDING_SEVERITY_SERIOUS);
    assert_near(ripple->value, 1.105324, 0.005); /* the spectral radius */
    assert_non_null(strstr(ripple->message, "'joint'"));
    assert_non_null(strstr(ripple->message, "coupling is unstable"));
    /* Its cause comes first: these masses are beyond what this scheme bears. And the record has
     * it, in words. */
    assert_int_equal(r.findings[0].kind, YK_FINDING_MASS_RATIO);
    const yk_record_summary *summary = yk_record_get_summary(record);
    bool named = false;
    for (int i = 0; i < summary->count; i++)
        named = named || (strcmp(summary->values[i].name, "findings.2.message") == 0 &&
                          strcmp(summary->values[i].text, ripple->message) == 0);
    assert_true(named);
    yk_record_destroy(record);
}

static double figure(const yk_record *record, const char *name)
{
    const yk_record_summary *summary = yk_record_get_summary(record);
    for (int i = 0; i < summary->count; i++)
        if (strcmp(summary->values[i].name, name) == 0)
            return summary->values[i].value;
    fail_msg("the summary has no %s", name);
    return NAN;
}

/* The masses swing by v0/omega = 0.1 m/s / 50 rad/s. */
static void the_record_has_what_limits_refer_to(void **state)
{
    const char *const overrides[] = {"parameters.right_mass=1", NULL};
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(*state, &record), YK_OK);
    run(*state, overrides, record);
    assert_near(figure(record, "step_count"), 5000, 0);
    assert_near(figure(record, "joint.mass_ratio"), 1, 1e-3);
    assert_relative(figure(record, "joint.path_length"), 2e-3, 0.01);
    assert_true(figure(record, "joint.relative_velocity_gap") > 0);
    assert_true(figure(record, "joint.relative_velocity_gap") < 0.01);
    yk_record_destroy(record);
}

static void masses_are_reported(void **state)
{
    const char *const heavy[] = {"parameters.right_mass=2.5", NULL},
                      *const light[] = {"parameters.right_mass=1.5", NULL};
    yk_run_report r = run(*state, heavy, NULL);
    assert_near(r.mass_ratio, 2.5, 1e-3);
    assert_non_null(find(&r, YK_FINDING_MASS_RATIO));
    assert_true(find(&r, YK_FINDING_MASS_RATIO)->severity ==
                YK_FINDING_SEVERITY_SERIOUS); /* it is the cause of what went wrong */
    r = run(*state, light, NULL);
    assert_near(r.mass_ratio, 1.5, 1e-3);
    assert_null(find(&r, YK_FINDING_MASS_RATIO));
}

static void iterations_that_do_not_converge_are_reported(void **state)
{
    const char *const overrides[] = {"coupling.scheme=tight", "coupling.acceleration=none",
                                     "parameters.right_mass=1.5", "coupling.max_iterations=5",
                                     NULL};
    yk_run_report r = run(*state, overrides, NULL);
    /* 0.9 mN of 7 N are open at the end of nearly every step: a run as good as with any
     * tolerance. */
    assert_non_null(find(&r, YK_FINDING_NOT_CONVERGED));
    assert_false(find(&r, YK_FINDING_NOT_CONVERGED)->severity == YK_FINDING_SEVERITY_SERIOUS);
    const char *const heavy[] = {"coupling.scheme=tight", "coupling.acceleration=none",
                                 "parameters.right_mass=6", NULL};
    r = run(*state, heavy, NULL);
    assert_int_equal(r.findings[0].kind, YK_FINDING_MASS_RATIO);
    assert_int_equal(r.findings[0].cause, YK_CAUSE_NO_CONVERGENCE);
    assert_true(find(&r, YK_FINDING_NOT_CONVERGED)->severity == YK_FINDING_SEVERITY_SERIOUS);
    assert_true(find(&r, YK_FINDING_NOT_CONVERGED)->value > 0.5);
    assert_non_null(find(&r, YK_FINDING_RUN_FAILED));
}

/* Inputs that only look at accelerations let position and velocity go. */
static void drift_is_reported(void **state)
{
    const char *const overrides[] = {"coupling.modified_inputs={alpha: 0, beta: 0, gamma: 1}",
                                     "time.end=4", "parameters.right_mass=0.2", NULL};
    yk_run_report r = run(*state, overrides, NULL);
    const yk_finding *drift = find(&r, YK_FINDING_DRIFT);
    assert_non_null(drift);
    assert_int_equal(drift->cause, YK_CAUSE_DEFAULT);
    assert_true(drift->value > yk_finding_figure(drift, "half"));
}

/* A ball of radius 0.1 m falls on a rod that prescribes its motion, first above the floor and
 * then through it. */
static void bodies_that_pass_through_the_floor_are_found(void **state)
{
    static const char path[] = YOKE_SOURCE_DIR "/studies/trust/scenarios/drop.yaml";
    const char *const above[] = {"time.end=0.2", NULL}, *const through[] = {
                                                            "time.end=0.5",
                                                            "record.channels=[ball.top.position]",
                                                            NULL};
    yk_run_report r = run_model(*state, path, above, NULL);
    assert_null(find(&r, YK_FINDING_PENETRATION));

    yk_record *record = NULL;
    assert_int_equal(yk_record_create(*state, &record), YK_OK);
    r = run_model(*state, path, through, record);
    double lowest = INFINITY;
    for (size_t i = 0; i < yk_record_row_count(record); i++)
        lowest = fmin(lowest, yk_record_column(record, 0, 2)[i]);
    yk_record_destroy(record);
    const yk_finding *passage = find(&r, YK_FINDING_PENETRATION);
    assert_non_null(passage);
    assert_true(passage->severity == YK_FINDING_SEVERITY_SERIOUS);
    assert_true(passage->value > 0.2);
    assert_near(passage->value, 0.1 - lowest, 1e-9);
}

/* An emitter that brings all that is due is not mentioned; one that cannot is, with the reason. What
 * comes in and leaves is no energy that was made or lost. */
static void emitters_that_fall_short_are_found(void **state)
{
    static const char path[] = YOKE_SOURCE_DIR "/models/fed-hopper/scenario.yaml";
    const char *const good[] = {"time.end=0.5", NULL};
    const char *const few[] = {"time.end=0.5", "subsystems.world.emitters.rain.max_present=20",
                               NULL};
    const char *const crowded[] = {"time.end=0.2", "subsystems.world.emitters.rain.mass_rate=3",
                                   "subsystems.world.emitters.rain.max_present=3000",
                                   "subsystems.world.emitters.rain.velocity=[0, 0, 0]", NULL};
    yk_run_report r = run_model(*state, path, good, NULL);
    assert_int_equal(r.finding_count, 0);

    r = run_model(*state, path, few, NULL);
    const yk_finding *found = find(&r, YK_FINDING_EMITTER_SHORTFALL);
    assert_non_null(found);
    assert_false(found->severity == YK_FINDING_SEVERITY_SERIOUS);
    assert_true(found->value > 0.5 && found->value < 1);
    assert_int_equal(found->cause, YK_CAUSE_CAPACITY_REACHED);
    assert_null(find(&r, YK_FINDING_ENERGY_ERROR));

    r = run_model(*state, path, crowded, NULL);
    found = find(&r, YK_FINDING_EMITTER_SHORTFALL);
    assert_non_null(found);
    assert_int_equal(found->cause, YK_CAUSE_REGION_FULL);
}

/* Twenty boxes under a load of 1000 kg: they stand with the default solver, and with one that does
 * not solve their contacts the run says so, with a remedy that lets them stand. */
static void contacts_that_were_not_solved_are_found(void **state)
{
    static const char path[] = YOKE_SOURCE_DIR "/studies/trust/scenarios/stack.yaml";
    const char *const plain[] = {"time.end=0.1", NULL};
    const char *const sweeps[] = {"time.end=0.1", "subsystems.world.contact.method=gauss-seidel",
                                  "subsystems.world.contact.max_iterations=20", NULL};
    yk_run_report r = run_model(*state, path, plain, NULL);
    assert_int_equal(r.finding_count, 0);

    r = run_model(*state, path, sweeps, NULL);
    const yk_finding *contact = find(&r, YK_FINDING_CONTACT_RESIDUAL);
    assert_ptr_equal(contact, &r.findings[0]);
    assert_true(contact->severity == YK_FINDING_SEVERITY_SERIOUS);
    assert_int_equal(contact->cause, YK_CAUSE_CONTACTS_CREATE_ENERGY);

    /* The remedy after what caused the finding. */
    const yk_remedy *remedy = &contact->remedies[0];
    assert_int_equal(remedy->override_count, 2);
    const char *const mended[] = {
        sweeps[0], sweeps[1], sweeps[2], remedy->overrides[0], remedy->overrides[1], NULL};
    r = run_model(*state, path, mended, NULL);
    assert_int_equal(r.finding_count, 0);
}

/* A can with 147 spheres, which are chaotic: 1 sweep dissipates 18 % more energy than 50 sweeps, 5
 * sweeps 5 % more, and 20 sweeps the same within 0.1 %, although their largest residual is ten
 * times the speed that a step resolves. */
static void contacts_are_judged_by_their_effect(void **state)
{
    static const struct {
        const char *sweeps;
        bool found, serious;
    } cases[] = {{"subsystems.damper.contact.max_iterations=1", true, true},
                 {"subsystems.damper.contact.max_iterations=5", true, false},
                 {"subsystems.damper.contact.max_iterations=20", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const overrides[] = {
            "time.end=0.2", "subsystems.damper.contact.method=gauss-seidel", cases[i].sweeps, NULL};
        yk_run_report r = run_model(*state, model_file("particle-damper"), overrides, NULL);
        const yk_finding *contact = find(&r, YK_FINDING_CONTACT_RESIDUAL);
        assert_int_equal(contact != NULL, cases[i].found);
        if (contact)
            assert_int_equal(contact->severity == YK_FINDING_SEVERITY_SERIOUS, cases[i].serious);
    }
}

/* Positions in another unit than the velocities. */
static void output_with_wrong_unit(const yk_subsystem *self, int port, yk_port_value *value)
{
    damper_output(self, port, value);
    value->motion.position.x *= 1000;
}

static void constant_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    damper_output(self, port, value);
    value->motion.position.x = 0;
}

/* A partner of an oscillator whose positions do not follow its velocities. */
static void positions_must_follow_velocities(void **state)
{
    yk_subsystem_ops wrong_ops = damper_ops;
    wrong_ops.get_port_value = output_with_wrong_unit;
    yk_subsystem_ops constant_ops = damper_ops;
    constant_ops.get_port_value = constant_output;
    const yk_subsystem_ops *const cases[] = {&damper_ops, &wrong_ops, &constant_ops};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const names[] = {"mass", "damper"};
        yk_oscillator_def mass = yk_oscillator_default();
        mass.mass = 1;
        mass.stiffness = 100;
        damper partner = {.base = {cases[i]}, .preload = 20};
        yk_subsystem *parts[2] = {NULL, &partner.base};
        assert_int_equal(yk_oscillator_create(*state, &mass, &parts[0]), YK_OK);
        yk_interface_def joint = {.name = "joint",
                                  .wrench_subsystem = {1},
                                  .motion_subsystem = {0},
                                  .constrained_axes = YK_AXIS_X};
        yk_system_description def = {.subsystems = parts,
                                     .names = names,
                                     .subsystem_count = 2,
                                     .interfaces = &joint,
                                     .interface_count = 1,
                                     .step = 1e-3};
        def.scheme.ops = yk_scheme_tight();
        yk_system *system = NULL;
        assert_int_equal(yk_system_make(*state, &def, &system), YK_OK);
        assert_int_equal(yk_system_initialize(system), YK_OK);

        yk_scenario_info info = {.step = 1e-3,
                                 .step_count = 500,
                                 .subsystem_count = 2,
                                 .subsystem_names = names,
                                 .subsystems = parts,
                                 .interface_count = 1,
                                 .interfaces = &joint};
        yk_watch watch = {0};
        static yk_run_report report;
        assert_int_equal(yk_watch_open(*state, system, &info, &watch), YK_OK);
        for (int step = 1; step <= 500; step++) {
            assert_int_equal(yk_system_step(system, NULL), YK_OK);
            assert_int_equal(yk_watch_step(&watch, step), YK_OK);
        }
        yk_watch_conclude(&watch, YK_OK, &report);
        const yk_finding *f = find(&report, YK_FINDING_INCONSISTENT_MOTION);
        assert_int_equal(f != NULL, i > 0);
        if (f) {
            assert_int_equal(f->severity, YK_FINDING_SEVERITY_SERIOUS);
            assert_int_equal(f->subsystem.index, 1);
            assert_true(f->value > 0.9);
        }
        yk_watch_close(&watch);
        yk_system_destroy(system);
        parts[0]->ops->destroy(parts[0]);
    }
}

/* Velocities whose squares overflow: infinity by infinity is no small fraction. */
static void numbers_that_overflowed_are_serious(void **state)
{
    yk_context *context = *state;
    yk_scenario *scenario = load_scenario(context, model_file("two-mass-oscillator"), NULL, NULL);
    yk_system *system = NULL;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);

    for (int which = 0; which < 3; which++) {
        yk_watch watch = {0};
        yk_run_report report = {0};
        assert_int_equal(yk_watch_open(context, system, yk_scenario_get_info(scenario), &watch),
                         YK_OK);
        yk_watched *w = &watch.interfaces[0];
        if (which != 1)
            w->gap_squares = INFINITY;
        if (which != 2)
            w->speed_squares = INFINITY;
        yk_watch_conclude(&watch, YK_OK, &report);
        const yk_finding *gap = find(&report, YK_FINDING_INTERFACE_GAP);
        assert_non_null(gap);
        assert_true(gap->severity == YK_FINDING_SEVERITY_SERIOUS);
        yk_watch_close(&watch);
    }

    yk_scenario_destroy(scenario);
}

/* At the time of the event, not at the end of the run. */
static void an_explosion_ends_the_run(void **state)
{
    yk_context *context = *state;
    yk_run_report report =
        run(context, (const char *[]){"parameters.right_mass=10", "time.end=0.02", NULL}, NULL);
    assert_true(report.step_count > 3 && report.step_count < 60);
    assert_non_null(strstr(yk_last_message(context), "the run explodes: at t = "));
    assert_non_null(strstr(yk_last_message(context), "; use coupling.scheme "));
    assert_non_null(
        strstr(yk_last_message(context), "interface 'joint' between 'left' and 'right'"));
    assert_non_null(find(&report, YK_FINDING_ENERGY_ERROR));
    assert_non_null(find(&report, YK_FINDING_RUN_FAILED));
}

/* A block falls on a tray that is fixed to a table on a spring. Iterated to the end the interface
 * makes nothing, so that what is there in excess is not said to come from it. */
static void energy_is_named_after_who_made_it(void **state)
{
    static const char text[] =
        "time: {end: 0.5, step: 5e-4}\n"
        "subsystems:\n"
        "  table:\n"
        "    solver: multibody\n"
        "    bodies: {plate: {mass: 5, inertia: [0.2, 0.2, 0.3], position: [0, 0, 0.5]}}\n"
        "    joints: {guide: {type: prismatic, between: [ground, plate], at: [0, 0, 0.5]}}\n"
        "    forces: {spring: {type: spring, between: [ground, plate], stiffness: 8000,\n"
        "                      damping: 20, free_length: 0.51}}\n"
        "    ports: {top: {body: plate, offset: [0, 0, 0.02]}}\n"
        "  box:\n"
        "    solver: nonsmooth\n"
        "    bodies:\n"
        "      tray: {mass: 1, inertia: [0.02, 0.02, 0.03], position: [0, 0, 0.55],\n"
        "             shapes: [{type: box, size: [0.2, 0.2, 0.02]}]}\n"
        "      block: {position: [0, 0, 0.60],\n"
        "              shapes: [{type: box, size: [0.04, 0.04, 0.04], density: 7800}]}\n"
        "    ports: {base: {body: tray, offset: [0, 0, -0.03]}}\n"
        "interfaces: {mount: {between: [table.top, box.base], joint: fixed}}\n"
        "coupling: {scheme: tight}\n";
    const char *const none[] = {NULL};
    yk_run_report r = run_text(*state, "tray.yaml", text, none, NULL);
    const yk_finding *energy = find(&r, YK_FINDING_ENERGY_ERROR);
    assert_non_null(energy);
    assert_false(energy->severity == YK_FINDING_SEVERITY_SERIOUS);
    assert_int_equal(energy->cause, YK_CAUSE_INTEGRATION_CREATES);
    assert_non_null(strstr(energy->message, "The integration of 'table'"));
    assert_null(strstr(energy->message, "mount"));
}

/* Models at rest, whose motion is rounding and settling, are no reason for mistrust. */
static void models_at_rest_are_trusted(void **state)
{
    /* Boxes on the floor with a block glued on top; rods that hang; masses that springs or forces
     * hold in balance. */
    static const char boxes[] =
        "time: {end: 0.2, step: 1e-3}\n"
        "subsystems:\n"
        "  world:\n"
        "    solver: nonsmooth\n"
        "    gravity: [0, 0, -9.81]\n"
        "    materials: {wood: {friction: 0.5}}\n"
        "    ground_shapes: [{type: plane, material: wood}]\n"
        "    bodies:\n"
        "      low:\n"
        "        position: [0, 0, 0.5]\n"
        "        shapes: [{type: box, size: [1, 1, 1], density: 500, material: wood}]\n"
        "      top:\n"
        "        position: [0, 0, 1.5]\n"
        "        shapes: [{type: box, size: [1, 1, 1], density: 500, material: wood}]\n"
        "    ports: {hook: {body: top, offset: [0, 0, 0.5]}}\n"
        "  block:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, -9.81]\n"
        "    bodies: {b: {mass: 10, inertia: [1, 1, 1], position: [0, 0, 2.5]}}\n"
        "    ports: {foot: {body: b, offset: [0, 0, -0.5]}}\n"
        "interfaces: {glue: {between: [world.hook, block.foot], joint: fixed}}\n"
        "coupling: {scheme: tight}\n"
        "record: {every: 10, channels: [world.top.position]}\n";
    static const char hanging[] =
        "time: {end: 0.5, step: 1e-3}\n"
        "subsystems:\n"
        "  upper:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, -9.81]\n"
        "    bodies: {rod: {mass: 1, inertia: [0.08, 0.08, 0.01], position: [0, 0, -0.5]}}\n"
        "    joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0, 0]}}\n"
        "    ports: {end: {body: rod, offset: [0, 0, -0.5]}}\n"
        "  lower:\n"
        "    solver: multibody\n"
        "    gravity: [0, 0, -9.81]\n"
        "    bodies: {rod: {mass: 2, inertia: [0.17, 0.17, 0.02], position: [0, 0, -1.5]}}\n"
        "    ports: {end: {body: rod, offset: [0, 0, 0.5]}}\n"
        "interfaces: {elbow: {between: [upper.end, lower.end], joint: spherical}}\n"
        "coupling: {scheme: tight}\n"
        "record: {every: 10, channels: [upper.end.position]}\n";
    static const char balance[] =
        "time: {end: 1, step: 1e-3}\n"
        "subsystems:\n"
        "  left: {solver: oscillator, mass: 1, stiffness: 1000, position: 0.05, force: 50}\n"
        "  right: {solver: oscillator, mass: 1, stiffness: 1000, position: 0.05, force: 50}\n"
        "interfaces: {joint: {between: [left.mass, right.mass]}}\n"
        "coupling: {scheme: tight}\n"
        "record: {every: 10, channels: [left.mass.position]}\n";
    static const struct {
        const char *model, *scheme;
    } cases[] = {
        {boxes, "explicit"},  {boxes, "tight"},   {boxes, "index1"},  {hanging, "explicit"},
        {hanging, "loose"},   {hanging, "tight"}, {hanging, "rim"},   {hanging, "index1"},
        {hanging, "relaxed"}, {balance, "tight"}, {balance, "loose"}, {balance, "explicit"},
        {balance, "index1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char scheme[64];
        snprintf(scheme, sizeof scheme, "coupling.scheme=%s", cases[i].scheme);
        const char *const overrides[] = {scheme, NULL};
        yk_run_report report = run_text(*state, "model.yaml", cases[i].model, overrides, NULL);
        for (int k = 0; k < report.finding_count; k++)
            if (report.findings[k].severity == YK_FINDING_SEVERITY_SERIOUS)
                fail_msg("%s: %s", scheme, report.findings[k].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_overflowed_are_serious),
        cmocka_unit_test(an_explosion_ends_the_run),
        cmocka_unit_test(ripple_that_grows_is_distinguished_from_motion_and_noise),
        cmocka_unit_test(energy_is_named_after_who_made_it),
        cmocka_unit_test(a_sound_run_has_no_findings),
        cmocka_unit_test(models_at_rest_are_trusted),
        cmocka_unit_test(a_run_that_goes_wrong_falls_back_in_time),
        cmocka_unit_test(a_port_that_cannot_move_is_no_algebraic_loop),
        cmocka_unit_test(an_unstable_coupling_is_named_with_its_growth),
        cmocka_unit_test(the_record_has_what_limits_refer_to),
        cmocka_unit_test(masses_are_reported),
        cmocka_unit_test(iterations_that_do_not_converge_are_reported),
        cmocka_unit_test(drift_is_reported),
        cmocka_unit_test(bodies_that_pass_through_the_floor_are_found),
        cmocka_unit_test(emitters_that_fall_short_are_found),
        cmocka_unit_test(contacts_that_were_not_solved_are_found),
        cmocka_unit_test(contacts_are_judged_by_their_effect),
        cmocka_unit_test(positions_must_follow_velocities),
    };
    return cmocka_run_group_tests_name("watch", tests, create_context, destroy_context);
}
