/* Directional and adjoint derivatives of exported models, and rotors that are coupled with them. */
#include <math.h>

#include "exported.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/fmu.h"
#include "interop/fmi/fmu_internal.h"

/* The first link of a double pendulum as a subsystem and as an FMU; both receive wrenches. */

enum { ROWS = 18, COLUMNS = 6 * YK_INPUT_COEFFICIENT_COUNT };

static const yk_input pulled = {
    .degree = 3,
    .linear = {{2, -1, 0.5}, {30, 10, -5}, {200, -50, 80}, {4e3, 1e3, 0}},
    .angular = {{0.1, 0.2, 0.3}, {1, 2, -3}},
    .base_orientation = {1, 0, 0, 0}};

/* The sensitivity of the second of two steps of 10 ms. */
static void differentiate(yk_subsystem *s, double *matrix)
{
    assert_int_equal(s->ops->connect(s, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXES_ALL), YK_OK);
    yk_input inputs[1] = {pulled};
    assert_true(s->ops->initialize(s, 0, 1e-2, NULL) >= 0);
    assert_true(s->ops->step(s, 0, 1e-2, inputs) >= 0);
    assert_non_null(s->ops->sensitivity);
    assert_true(s->ops->sensitivity->step_with_sensitivity(s, 1e-2, 1e-2, inputs,
                                                           YK_INPUT_DEGREE_MAX, matrix) >= 0);
}

static void sensitivities_come_through_an_fmu(void **state)
{
    (void)state;
    double inside[ROWS * COLUMNS], outside[ROWS * COLUMNS];
    run r = open_run("coupled-pendulum/scenario.yaml", NULL);
    yk_scenario *copy = load_scenario(r.context, model_file("coupled-pendulum"), NULL, NULL);
    differentiate(yk_scenario_get_info(copy)->subsystems[0], inside);
    yk_scenario_destroy(copy);

    /* FMI 3 asks for wrenches at four times, and so knows their cubics. */
    export_model("coupled-pendulum", "one", true, 3, "link");
    char file[600];
    snprintf(file, sizeof file, "%s/link.fmu", folder);
    yk_fmu_def fmu = yk_fmu_default();
    fmu.file = file;
    yk_subsystem *s;
    assert_int_equal(yk_fmu_create(r.context, &fmu, &s), YK_OK);
    differentiate(s, outside);
    s->ops->destroy(s);
    close_run(&r);

    /* The solver's own matrix comes from differences, which rounding of the cubics shows in. */
    for (int i = 0; i < ROWS * COLUMNS; i++)
        assert_near(outside[i], inside[i], 1e-9 * (1 + fabs(inside[i])));
    assert_true(fabs(inside[6 * COLUMNS]) > 1e-4); /* velocity by force */
}

/* Calls of the standard itself ----------------------------------------------------------------- */

typedef struct loaded {
    yk_context *context;
    char *folder;
    yk_fmi_description description;
    yk_fmi_instance *instance;
    int input_count, output_count;
    uint32_t inputs[256], outputs[256];
} loaded;

static loaded load(const char *name)
{
    loaded l = {.context = yk_context_create(NULL)};
    char file[600];
    snprintf(file, sizeof file, "%s/%s.fmu", folder, name);
    assert_int_equal(yk_archive_unpack(l.context, file, &l.folder), YK_OK);
    assert_int_equal(yk_fmi_describe(l.context, l.folder, "link.fmu", &l.description), YK_OK);
    for (int i = 0; i < l.description.variable_count; i++) {
        const yk_fmi_variable *v = &l.description.variables[i];
        if (v->causality == YK_FMI_INPUT)
            l.inputs[l.input_count++] = v->reference;
        else if (v->causality == YK_FMI_OUTPUT)
            l.outputs[l.output_count++] = v->reference;
    }
    return l;
}

static void start(loaded *l)
{
    assert_int_equal(yk_fmi_load(l->context, &l->description, false, "link.fmu", l->folder, "link",
                                 &l->instance),
                     YK_OK);
    const yk_fmi_calls *calls = l->instance->calls;
    assert_int_equal(calls->instantiate(l->instance), YK_OK);
    assert_int_equal(calls->begin(l->instance, 0), YK_OK);
    assert_int_equal(calls->initialise(l->instance), YK_OK);
}

static void unload(loaded *l)
{
    yk_fmi_unload(l->instance);
    yk_fmi_forget(l->context, &l->description);
    yk_archive_remove(l->context, l->folder);
    yk_context_destroy(l->context);
}

/* Outputs after a step in which one input has a value and all others are zero. */
static void answer(loaded *l, void *from, int input, double value, double *outputs)
{
    const yk_fmi_calls *calls = l->instance->calls;
    double values[256] = {0}, reached;
    bool event;
    values[input] = value;
    assert_int_equal(calls->state_set(l->instance, from), YK_OK);
    assert_int_equal(
        calls->set(l->instance, YK_FMI_FLOAT64, l->inputs, l->input_count, values, l->input_count),
        YK_OK);
    assert_int_equal(calls->step(l->instance, 0, 1e-2, &reached, &event), YK_OK);
    assert_int_equal(calls->get(l->instance, YK_FMI_FLOAT64, l->outputs, l->output_count, outputs,
                                l->output_count),
                     YK_OK);
}

static void derivatives_are_those_of_the_step(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        export_model("coupled-pendulum", "one", true, version, "link");
        loaded l = load("link");
        assert_true(l.description.co_simulation.directional);
        assert_int_equal(l.input_count, 6);
        start(&l);
        const yk_fmi_calls *calls = l.instance->calls;
        void *from = NULL;
        assert_int_equal(calls->state_get(l.instance, &from), YK_OK);

        for (int input = 0; input < l.input_count; input++) {
            double more[256], less[256], result[256], after[256];
            answer(&l, from, input, -1, less);
            answer(&l, from, input, 1, more);
            answer(&l, from, input, 0, after);
            assert_int_equal(
                calls->directional(l.instance, l.outputs, l.output_count, l.inputs[input], result),
                YK_OK);
            for (int i = 0; i < l.output_count; i++)
                assert_near(result[i], (more[i] - less[i]) / 2, 1e-5 * (1e-3 + fabs(result[i])));

            /* The repeated step leaves the model where it was. */
            assert_int_equal(calls->get(l.instance, YK_FMI_FLOAT64, l.outputs, l.output_count, more,
                                        l.output_count),
                             YK_OK);
            assert_memory_equal(more, after, (size_t)l.output_count * sizeof *more);

            /* The adjoint: the same column, row by row. */
            for (int i = 0; version == 3 && i < l.output_count; i++) {
                double seed = 2, found;
                assert_int_equal(l.instance->functions.three.GetAdjointDerivative(
                                     l.instance->component, &l.outputs[i], 1, &l.inputs[input], 1,
                                     &seed, 1, &found, 1),
                                 YK_FMI_OK);
                assert_true(found == 2 * result[i]);
            }
        }
        calls->state_free(l.instance, &from);
        unload(&l);
    }
}

static void wrong_questions_are_refused(void **state)
{
    (void)state;
    export_model("coupled-pendulum", "one", true, 3, "link");
    loaded l = load("link");
    start(&l);
    const yk_fmi_calls *calls = l.instance->calls;
    double result[256], reached;
    bool event;

    /* Before the first step, by an output, of an input. */
    assert_true(calls->directional(l.instance, l.outputs, 1, l.inputs[0], result) < 0);
    assert_non_null(strstr(l.instance->message, "none was made since the start"));
    assert_int_equal(calls->step(l.instance, 0, 1e-2, &reached, &event), YK_OK);
    assert_true(calls->directional(l.instance, l.outputs, 1, l.outputs[0], result) < 0);
    assert_non_null(strstr(l.instance->message, "derivatives are those by inputs"));
    assert_true(calls->directional(l.instance, l.inputs, 1, l.inputs[0], result) < 0);
    assert_non_null(strstr(l.instance->message, "derivatives are those of outputs"));
    assert_int_equal(calls->directional(l.instance, l.outputs, 1, l.inputs[0], result), YK_OK);
    unload(&l);

    /* Ports that take a motion have no sensitivities, and the FMU does not promise them. */
    export_model("two-mass-oscillator", "right", false, 3, "right");
    l = load("right");
    assert_false(l.description.co_simulation.directional);
    unload(&l);
}

/* Rotors --------------------------------------------------------------------------------------- */

#define ONE(forces)                                                                              \
    "  one:\n    solver: multibody\n    integrator: runge-kutta\n    gravity: [0, 0, 0]\n"       \
    "    bodies: {wheel: {mass: 2, inertia: [0.02, 0.02, 0.03], angular_velocity: [0, 0, 5]}}\n" \
    "    joints: {bearing: {type: revolute, between: [ground, wheel], at: [0, 0, 0]}}\n" forces  \
    "    ports: {flange: {body: wheel, offset: [0, 0, 0.1]}}\n"
#define TWO(z, speed)                                                                       \
    "  two:\n    solver: multibody\n    integrator: runge-kutta\n    gravity: [0, 0, 0]\n"  \
    "    bodies: {wheel: {mass: 3, inertia: [0.03, 0.03, 0.05], position: [0, 0, " z "],\n" \
    "      angular_velocity: [0, 0, " speed "]}}\n"                                         \
    "    ports: {flange: {body: wheel, offset: [0, 0, -0.1]}}\n"
#define SHAFT                                                                                     \
    "  shaft:\n    solver: multibody\n    integrator: runge-kutta\n    gravity: [0, 0, 0]\n"      \
    "    bodies:\n"                                                                               \
    "      left: {mass: 0.5, inertia: [5e-3, 5e-3, 0.01], position: [0, 0, 0.15],\n"              \
    "        angular_velocity: [0, 0, 5]}\n"                                                      \
    "      right: {mass: 0.5, inertia: [5e-3, 5e-3, 0.01], position: [0, 0, 0.35],\n"             \
    "        angular_velocity: [0, 0, 3]}\n"                                                      \
    "    joints: {sleeve: {type: revolute, between: [left, right], at: [0, 0, 0.25]}}\n"          \
    "    forces: {twist: {type: torsion-spring, between: [left, right], at: [0, 0, 0.25], "       \
    "stiffness: "                                                                                 \
    "40}}\n"                                                                                      \
    "    ports: {left: {body: left, offset: [0, 0, -0.05]}, right: {body: right, offset: [0, 0, " \
    "0.05]}}\n"
#define LOCKED_INTERFACES "interfaces:\n  lock: {between: [one.flange, two.flange], joint: fixed}\n"
#define SHAFT_INTERFACES                                                       \
    "interfaces:\n  near: {between: [one.flange, shaft.left], joint: fixed}\n" \
    "  far: {between: [shaft.right, two.flange], joint: fixed}\n"
#define RECORD "record: {channels: [one.flange.angular_velocity, two.flange.angular_velocity]}\n"

/* Exports `one` and `two` of a scenario, and opens a scenario with these FMUs next to `own`. */
static run open_rotors(const char *inside, const char *own, const char *interfaces, int version,
                       const char *scheme)
{
    char path[400];
    snprintf(path, sizeof path, "%s/rotors.yaml", folder);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fprintf(stream,
            "time: {end: 0.2, step: 1e-3}\nsubsystems:\n%s%s"
            "coupling: {scheme: %s}\n" RECORD,
            inside, interfaces, scheme);
    assert_int_equal(fclose(stream), 0);
    bool wrenches = strcmp(scheme, "index1") == 0;
    export_file(path, "one", wrenches, version, "one");
    export_file(path, "two", wrenches, version, "two");

    /* FMI 3 has terminals; in FMI 2 the variables of a marker are named. */
    const char *ports = "";
    if (version == 2)
        ports = ", ports: {flange: {type: marker,\n"
                "    position: [flange.position.x, flange.position.y, flange.position.z],\n"
                "    velocity: [flange.velocity.x, flange.velocity.y, flange.velocity.z],\n"
                "    acceleration: [flange.acceleration.x, flange.acceleration.y, "
                "flange.acceleration.z],\n"
                "    orientation: [flange.orientation.w, flange.orientation.x, "
                "flange.orientation.y, flange.orientation.z],\n"
                "    angular_velocity: [flange.angular_velocity.x, flange.angular_velocity.y, "
                "flange.angular_velocity.z],\n"
                "    angular_acceleration: [flange.angular_acceleration.x, "
                "flange.angular_acceleration.y, flange.angular_acceleration.z],\n"
                "    force: [flange.force.x, flange.force.y, flange.force.z],\n"
                "    torque: [flange.torque.x, flange.torque.y, flange.torque.z]}}";
    char text[8000];
    snprintf(text, sizeof text,
             "time: {end: 0.2, step: 1e-3}\nsubsystems:\n%s"
             "  one: {solver: fmu, file: one.fmu%s}\n  two: {solver: fmu, file: two.fmu%s}\n%s"
             "coupling: {scheme: %s}\n" RECORD,
             own, ports, ports, interfaces, scheme);
    return open_here(text);
}

/* Rows: index1 has the order of its polynomials, tight one of its inputs. */
static const struct {
    const char *scheme;
    int version;
    double tolerance;
} couplings[] = {{"index1", 2, 2e-5}, {"index1", 3, 1e-6}, {"tight", 3, 2e-2}, {"tight", 2, 2e-2}};

/* Locked, both are one inertia of 0.08 kg m2 on a spring of 40 N m/rad. */
static void rotors_are_locked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof couplings / sizeof *couplings; i++) {
        run r = open_rotors(
            ONE("    forces: {spring: {type: torsion-spring, between: [ground, wheel], at: "
                "[0, 0, 0], stiffness: 40}}\n") TWO("0.2", "5"),
            "", LOCKED_INTERFACES, couplings[i].version, couplings[i].scheme);
        double w = sqrt(40 / 0.08);
        for (int k = 1; k <= 200; k++) {
            step(&r);
            double speed = 5 * cos(w * 1e-3 * k);
            assert_near(r.sample[2], speed, couplings[i].tolerance);
            assert_near(r.sample[5], speed, couplings[i].tolerance);
        }
        close_run(&r);
    }
}

/* By a shaft: inertias of 0.04 and 0.06 kg m2 at 5 and 3 rad/s, on both ends of a spring. */
static void rotors_are_joined_by_a_shaft(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof couplings / sizeof *couplings; i++) {
        run r = open_rotors(ONE("") SHAFT TWO("0.5", "3"), SHAFT, SHAFT_INTERFACES,
                            couplings[i].version, couplings[i].scheme);
        double w = sqrt(40 * (1 / 0.04 + 1 / 0.06));
        double mean = (0.04 * 5 + 0.06 * 3) / 0.1;
        for (int k = 1; k <= 200; k++) {
            step(&r);
            double swing = 2 * cos(w * 1e-3 * k);
            assert_near(r.sample[2], mean + 0.6 * swing, couplings[i].tolerance);
            assert_near(r.sample[5], mean - 0.4 * swing, couplings[i].tolerance);
        }
        close_run(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sensitivities_come_through_an_fmu),
        cmocka_unit_test(derivatives_are_those_of_the_step),
        cmocka_unit_test(wrong_questions_are_refused),
        cmocka_unit_test(rotors_are_locked),
        cmocka_unit_test(rotors_are_joined_by_a_shaft),
    };
    return cmocka_run_group_tests_name("derivatives of FMUs", tests, make_folder, remove_folder);
}
