/* Models as FMUs and back: exported, imported again, and the same as inside. */
#include "exported.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/fmu.h"

/* Steps both and compares what they record. */
static void compare(run *inside, run *outside, int steps, double tolerance)
{
    int size = outside->info->values_per_sample;
    assert_true(size >= 1 && size <= inside->info->values_per_sample);
    for (int i = 0; i < steps; i++) {
        step(inside);
        step(outside);
        for (int k = 0; k < size; k++)
            assert_near(outside->sample[k], inside->sample[k], tolerance);
    }
    close_run(inside);
    close_run(outside);
}

/* Whole systems: the same bits. */
static void whole_systems_give_the_same_bits(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        export_model("pendulum", NULL, false, version, "pendulum");
        run inside = open_run("pendulum/scenario.yaml", NULL);
        run outside = open_here("parameters: {period: 2.367841947576}\n"
                                "time: {end: period, step: period/2400}\n"
                                "subsystems:\n  it: {solver: fmu, file: pendulum.fmu}\n"
                                "record: {channels: [it.mechanism.bob.position.x.value, "
                                "it.mechanism.bob.position.y.value]}\n");
        compare(&inside, &outside, 200, 0);

        export_model("bouncing-ball", NULL, false, version, "ball");
        inside = open_run("bouncing-ball/scenario.yaml", NULL);
        char text[600];
        snprintf(text, sizeof text,
                 "time: {end: %.17g, step: %.17g}\n"
                 "subsystems:\n  it: {solver: fmu, file: ball.fmu}\n",
                 inside.info->end, inside.info->step);
        outside = open_here(text);
        compare(&inside, &outside, 200, 0);
    }
}

/* FMUs are unpacked into a folder whose name a URI has to encode. */
static void folders_may_have_any_name(void **state)
{
    (void)state;
    char odd[400];
    snprintf(odd, sizeof odd, "%s/50 %% full", folder);
    assert_int_equal(mkdir(odd, 0700), 0);
    export_model("two-mass-oscillator", "left", false, 2, "left");
    assert_int_equal(setenv("TMPDIR", odd, 1), 0);
    run r = open_here("time: {end: 1, step: 1e-3}\n"
                      "subsystems: {it: {solver: fmu, file: left.fmu}}\n");
    unsetenv("TMPDIR");
    step(&r);
    close_run(&r);
}

/* One subsystem takes the wrench, the other the motion. FMI 3 asks for the motion at four times, and
 * so has its polynomial; FMI 2 has a line, which this scheme gives. */
static void two_masses_are_coupled_as_inside(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        export_model("two-mass-oscillator", "left", false, version, "left");
        export_model("two-mass-oscillator", "right", false, version, "right");
        run inside = open_run("two-mass-oscillator/scenario.yaml",
                              (const char *const[]){"coupling={scheme: tight}", NULL});
        const char *ports =
            version == 3 ? ""
                         : ", ports: {mass: {position: mass.position, velocity: mass.velocity, "
                           "acceleration: mass.acceleration, force: mass.force}}";
        char text[1200];
        snprintf(text, sizeof text,
                 "time: {end: 0.5, step: 1e-4}\nsubsystems:\n"
                 "  left: {solver: fmu, file: left.fmu%s}\n"
                 "  right: {solver: fmu, file: right.fmu%s}\n"
                 "interfaces:\n"
                 "  - {name: joint, between: [left.mass, right.mass], joint: fixed}\n"
                 "coupling: {scheme: tight}\n"
                 "record: {channels: [left.mass.position, left.mass.velocity]}\n",
                 ports, ports);
        run outside = open_here(text);
        compare(&inside, &outside, 300, 1e-12);
    }
}

/* Markers with all six coordinates, by terminals, in the scheme index1. */
static void a_double_pendulum_is_coupled_as_inside(void **state)
{
    (void)state;
    export_model("coupled-pendulum", "one", true, 3, "one");
    export_model("coupled-pendulum", "two", true, 3, "two");
    run inside = open_run("coupled-pendulum/scenario.yaml", NULL);
    run outside =
        open_here("time: {end: 2, step: 1e-2}\nsubsystems:\n"
                  "  one: {solver: fmu, file: one.fmu}\n"
                  "  two: {solver: fmu, file: two.fmu}\n"
                  "interfaces:\n  elbow: {between: [two.start, one.end], joint: spherical}\n"
                  "coupling: {scheme: index1, polynomial_degree: 3, relative_tolerance: 1e-12, "
                  "absolute_tolerance: 0, jacobian_update: "
                  "every-step}\n"
                  "record: {channels: [one.end.position, two.end.position, two.end.velocity]}\n");
    compare(&inside, &outside, 10, 1e-10);
}

/* Several instances of one FMU in a process, each with parameters of its own. */
static void instances_have_parameters_of_their_own(void **state)
{
    (void)state;
    export_model("pendulum", NULL, false, 3, "pendulum");
    run both = open_here("parameters: {period: 2.367841947576}\n"
                         "time: {end: period, step: period/2400}\n"
                         "subsystems:\n"
                         "  long: {solver: fmu, file: pendulum.fmu, start_values: [{variable: "
                         "parameters.length, value: "
                         "2}]}\n"
                         "  short: {solver: fmu, file: pendulum.fmu}\n"
                         "record: {channels: [long.mechanism.bob.position.x.value, "
                         "short.mechanism.bob.position.x.value]}\n");
    run alone =
        open_run("pendulum/scenario.yaml", (const char *const[]){"parameters.length=2", NULL});
    for (int i = 0; i < 100; i++) {
        step(&both);
        step(&alone);
        assert_true(both.sample[0] == alone.sample[0]);
    }
    assert_near(both.sample[1], 1, 0.2);
    close_run(&both);
    close_run(&alone);
}

static void rollback_of_an_exported_model_is_exact(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        export_model("two-mass-oscillator", "left", false, version, "left");
        yk_context *context = yk_context_create(NULL);
        char file[600];
        snprintf(file, sizeof file, "%s/left.fmu", folder);
        yk_fmu_port_def port = {.name = "mass",
                                .kind = YK_PORT_SCALAR,
                                .quantities = {[YK_FMU_POSITION] = {1, {"mass.position"}},
                                               [YK_FMU_VELOCITY] = {1, {"mass.velocity"}},
                                               [YK_FMU_FORCE] = {1, {"mass.force"}}}};
        yk_fmu_def def = yk_fmu_default();
        def.file = file;
        def.ports = &port;
        def.port_count = 1;
        yk_subsystem *s;
        assert_int_equal(yk_fmu_create(context, &def, &s), YK_OK);
        assert_int_equal(s->ops->connect(s, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXIS_X), YK_OK);
        assert_int_equal(s->ops->initialize(s, 0, 1e-3, NULL), YK_OK);
        yk_input inputs[1] = {{.degree = 1, .linear = {{5, 0, 0}, {300, 0, 0}}}};
        size_t words = s->ops->rollback->layout(s).word_count;
        double *image = calloc(words, sizeof *image), *first = calloc(words, sizeof *first),
               *second = calloc(words, sizeof *second);
        assert_int_equal(s->ops->step(s, 0, 1e-3, inputs), YK_OK);
        s->ops->rollback->get(s, image);
        assert_int_equal(s->ops->step(s, 1e-3, 1e-3, inputs), YK_OK);
        s->ops->rollback->get(s, first);
        assert_int_equal(s->ops->rollback->set(s, image), YK_OK);
        assert_int_equal(s->ops->step(s, 1e-3, 1e-3, inputs), YK_OK);
        s->ops->rollback->get(s, second);
        assert_memory_equal(first, second, words * sizeof *first);
        free(image);
        free(first);
        free(second);
        s->ops->destroy(s);
        yk_context_destroy(context);
    }
}

/* A text in an FMU of the folder. */
static void read_part(const char *name, const char *part, char *text, size_t size)
{
    yk_context *context = yk_context_create(NULL);
    char file[600], path[800];
    char *unpacked = NULL;
    snprintf(file, sizeof file, "%s/%s.fmu", folder, name);
    assert_int_equal(yk_archive_unpack(context, file, &unpacked), YK_OK);
    snprintf(path, sizeof path, "%s/%s", unpacked, part);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    text[fread(text, 1, size - 1, stream)] = '\0';
    fclose(stream);
    yk_archive_remove(context, unpacked);
    yk_context_destroy(context);
}

static void read_description(const char *name, char *text, size_t size)
{
    read_part(name, "modelDescription.xml", text, size);
}

/* A scenario of models/ with the sections of some subsystems replaced by FMUs of them. Each pair is
 * the first line of the section, up to that of the next one. */
static char *replace_sections(const char *model, const char *const (*sections)[3])
{
    char path[600];
    snprintf(path, sizeof path, "%s", model_file(model));
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    char *text = calloc(1, 20000);
    assert_true(fread(text, 1, 9000, stream) > 0);
    fclose(stream);
    for (; (*sections)[0]; sections++) {
        char *begin = strstr(text, (*sections)[0]);
        char *end = strstr(text, (*sections)[1]);
        assert_true(begin && end && end > begin);
        char *rest = strdup(end);
        snprintf(begin, (size_t)(text + 20000 - begin), "%s%s", (*sections)[2], rest);
        free(rest);
    }
    return text;
}

/* Runs a model, and a scenario with FMUs of its subsystems, and compares what both record. */
static void compare_with_model(const char *model, const char *text, const char *coupling,
                               const char *channels, const char *fmu_channels, int steps,
                               double tolerance)
{
    char file[400], inside_record[400], outside_record[400];
    snprintf(file, sizeof file, "%s/scenario.yaml", model);
    snprintf(inside_record, sizeof inside_record, "record={channels: [%s]}", channels);
    snprintf(outside_record, sizeof outside_record, "record={channels: [%s]}", fmu_channels);
    run inside = open_run(file, (const char *const[]){coupling, inside_record, NULL});
    char path[400];
    snprintf(path, sizeof path, "%s/scenario.yaml", folder);
    run outside = open_text(path, text, (const char *const[]){coupling, outside_record, NULL});
    assert_int_equal(outside.info->channel_count, inside.info->channel_count);
    for (int i = 0; i < inside.info->channel_count; i++)
        assert_string_equal(outside.info->channels[i].unit, inside.info->channels[i].unit);
    compare(&inside, &outside, steps, tolerance);
}

/* A controller keeps the reference of its section, and differences what it measures if the scenario
 * has no wire for the rate. With a wire it takes the rate. */
static void controllers_are_the_same_as_inside(void **state)
{
    (void)state;
    static const char *const with_fmu[][3] = {
        {"  pd:", "interfaces:", "  pd: {solver: fmu, file: pd.fmu}\n"}, {NULL}};
    for (int version = 2; version <= 3; version++) {
        export_model("controlled-arm", "pd", false, version, "pd");
        char *text = replace_sections("controlled-arm", with_fmu);
        compare_with_model("controlled-arm", text, "coupling={scheme: explicit}",
                           "inner.hinge.angle, torque.value", "inner.hinge.angle, torque.value",
                           500, 0);
        free(text);

        static const char *const without_rate[][3] = {{"  rate:", "  torque:", ""}, {NULL}};
        static const char *const pd[][3] = {
            {"  rate:", "  torque:", ""},
            {"  pd:", "interfaces:", "  pd: {solver: fmu, file: pd.fmu}\n"},
            {NULL}};
        char path[400];
        snprintf(path, sizeof path, "%s/without_rate.yaml", folder);
        text = replace_sections("controlled-arm", without_rate);
        FILE *stream = fopen(path, "w");
        assert_non_null(stream);
        fputs(text, stream);
        assert_int_equal(fclose(stream), 0);
        run inside = open_text(path, NULL, NULL);
        export_file(path, "pd", false, version, "pd");
        free(text);
        text = replace_sections("controlled-arm", pd);
        run outside = open_here(text);
        free(text);
        assert_true(inside.sample[2] == 5);
        compare(&inside, &outside, 500, 0);
    }
}

/* The dependencies of an output in a description of version 3. */
static void dependencies_of(const char *description, const char *name, char *list, size_t size)
{
    char key[100];
    int reference;
    snprintf(key, sizeof key, "name=\"%s\" valueReference=\"", name);
    const char *variable = strstr(description, key);
    assert_non_null(variable);
    assert_int_equal(sscanf(variable + strlen(key), "%d", &reference), 1);
    snprintf(key, sizeof key, "<Output valueReference=\"%d\" dependencies=\"", reference);
    const char *output = strstr(description, key);
    assert_non_null(output);
    output += strlen(key);
    snprintf(list, size, "%.*s", (int)strcspn(output, "\""), output);
}

static bool has_number(const char *list, int number)
{
    char *end;
    for (; list[0]; list = end) {
        if (strtol(list, &end, 10) == number)
            return true;
        if (end == list)
            break;
    }
    return false;
}

/* A torque acts on accelerations at once, and on angles and velocities after some time. */
static void dependencies_are_those_of_the_solver(void **state)
{
    (void)state;
    static char description[200000];
    static const struct {
        const char *output;
        bool immediate;
    } outputs[] = {
        {"hinge.angle", false},    {"hinge.angular_velocity", false}, {"bar.position.x", false},
        {"bar.velocity.y", false}, {"bar.acceleration.y", true},      {"hinge.force.x", true},
        {"end.velocity.y", false}, {"end.acceleration.y", true},
    };
    export_model("controlled-arm", "inner", false, 3, "inner");
    read_description("inner", description, sizeof description);
    const char *torque = strstr(description, "name=\"torque\" valueReference=\"");
    assert_non_null(torque);
    int input;
    assert_int_equal(sscanf(torque, "name=\"torque\" valueReference=\"%d", &input), 1);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char list[400];
        dependencies_of(description, outputs[i].output, list, sizeof list);
        if (has_number(list, input) != outputs[i].immediate)
            fail_msg("%s depends on '%s'", outputs[i].output, list);
    }

    /* Its angle closes no algebraic loop through the controller. */
    static const char *const with_fmu[][3] = {
        {"  inner:", "  outer:", "  inner: {solver: fmu, file: inner.fmu}\n"}, {NULL}};
    char *text = replace_sections("controlled-arm", with_fmu);
    char path[400];
    snprintf(path, sizeof path, "%s/scenario.yaml", folder);
    run r = open_text(path, text, (const char *const[]){"record={channels: [torque.value]}", NULL});
    assert_int_equal(yk_system_loop_count(r.system), 0);
    close_run(&r);
    free(text);
}

/* Joint angles are outputs, and signals start as in the scenario. The part that receives a motion
 * differs by the tolerance of each step: its reaction is about the prescribed place of its marker. The other
 * part also by the corrections that Newton's method leaves in its steps. */
static void arms_are_the_same_as_inside(void **state)
{
    (void)state;
    static const char *const with_fmus[][3] = {
        {"  inner:", "  outer:", "  inner: {solver: fmu, file: inner.fmu}\n"},
        {"  outer:", "  pd:", "  outer: {solver: fmu, file: outer.fmu}\n"},
        {NULL}};
    static const char *const exact =
        "coupling={scheme: tight, absolute_tolerance: 1e-12, relative_tolerance: 1e-12}";
    static char description[200000];
    export_model("controlled-arm", "inner", false, 3, "inner");
    export_model("controlled-arm", "outer", false, 3, "outer");
    read_description("inner", description, sizeof description);
    const char *torque = strstr(description, "name=\"torque\"");
    assert_non_null(torque);
    assert_non_null(strstr(torque, "start=\"5\""));
    char *text = replace_sections("controlled-arm", with_fmus);
    compare_with_model("controlled-arm", text, exact,
                       "inner.hinge.angle, inner.hinge.angular_velocity, torque.value",
                       "inner.hinge.angle.value, inner.hinge.angular_velocity.value, torque.value",
                       500, 1e-8);
    free(text);

    text = replace_sections("controlled-arm", &with_fmus[1]);
    compare_with_model("controlled-arm", text, exact,
                       "inner.hinge.angle, inner.hinge.angular_velocity, torque.value",
                       "inner.hinge.angle, inner.hinge.angular_velocity, torque.value", 500,
                       500 * 1e-12);
    free(text);
}

/* Cylinders start where the scenario has them. In macro steps that are longer than their own, the
 * partner inside of Yoke has the mean of their force, that of an FMU the force at the end. */
static void cylinders_are_the_same_as_inside(void **state)
{
    (void)state;
    static const char *const with_fmu[][3] = {
        {"  oil:", "  mass:", "  oil: {solver: fmu, file: oil.fmu}\n"}, {NULL}};
    export_model("servo-cylinder", "oil", false, 3, "oil");
    static char description[200000];
    read_description("oil", description, sizeof description);
    assert_null(strstr(description, "nan"));
    char *text = replace_sections("servo-cylinder", with_fmu);
    compare_with_model("servo-cylinder", text, "time.step=1e-4",
                       "rod.position, oil.ram.spool_position",
                       "rod.position, oil.ram.spool_position.value", 3000, 1e-11);
    free(text);
}

/* The members of terminals describe the variables of a port. */
static void terminals_name_their_members(void **state)
{
    (void)state;
    static char text[200000];
    export_model("controlled-arm", "inner", true, 3, "inner");
    read_part("inner", "terminalsAndIcons/terminalsAndIcons.xml", text, sizeof text);
    assert_non_null(strstr(text, "<Terminal name=\"end\""));
    assert_non_null(strstr(text, "memberName=\"force.x\" variableKind=\"inflow\""));
    assert_non_null(strstr(text, "memberName=\"position.x\" variableKind=\"signal\""));
    assert_null(strstr(text, "(null)"));

    /* Signals have no power, and are no terminals. */
    assert_null(strstr(text, "<Terminal name=\"torque\""));
}

/* A whole system has its own step, a subsystem takes any; FMI 2 has no word for the first. */
static void descriptions_say_what_the_model_can(void **state)
{
    (void)state;
    static char text[200000];
    for (int version = 2; version <= 3; version++) {
        export_model("pendulum", NULL, false, version, "whole");
        read_description("whole", text, sizeof text);
        assert_non_null(strstr(text, "canHandleVariableCommunicationStepSize=\"false\""));
        assert_int_equal(strstr(text, "fixedInternalStepSize=\"") != NULL, version == 3);
        assert_null(strstr(text, "canInterpolateInputs"));
        assert_null(strstr(text, "providesIntermediateUpdate"));

        export_model("two-mass-oscillator", "left", false, version, "part");
        read_description("part", text, sizeof text);
        assert_non_null(strstr(text, "canHandleVariableCommunicationStepSize=\"true\""));
        assert_null(strstr(text, "fixedInternalStepSize"));
        assert_int_equal(strstr(text, "canInterpolateInputs=\"true\"") != NULL, version == 2);
        assert_int_equal(strstr(text, "providesIntermediateUpdate=\"true\"") != NULL, version == 3);
    }
}

/* The name of the file as an identifier of C, which begins with a letter. */
static void identifiers_come_from_the_file(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"left2", "left2"}, {"a-b_2", "a_b_2"}, {"2nd part", "m2nd_part"}, {"_left", "m_left"}};
    static char text[200000];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char expected[80];
        export_model("two-mass-oscillator", "left", false, 3, names[i][0]);
        read_description(names[i][0], text, sizeof text);
        snprintf(expected, sizeof expected, "modelIdentifier=\"%s\"", names[i][1]);
        assert_non_null(strstr(text, expected));
    }
}

/* A whole system has outputs in SI; a subsystem has the units of its own numbers, with their factor
 * to SI. */
static void variables_have_the_units_that_they_are_in(void **state)
{
    (void)state;
    char path[400];
    snprintf(path, sizeof path, "%s/millimetres.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("time: {end: 1, step: 1e-2}\n"
          "subsystems:\n"
          "  arm:\n"
          "    solver: multibody\n"
          "    units: {length: mm, mass: g}\n"
          "    bodies: {bob: {mass: 500, inertia: [1e6, 1e6, 1e6], velocity: [250, 0, 0]}}\n"
          "    ports: {tip: {body: bob}}\n"
          "  other:\n"
          "    solver: multibody\n"
          "    bodies: {bob: {mass: 2, inertia: [1, 1, 1]}}\n"
          "    ports: {tip: {body: bob}}\n"
          "interfaces: {link: {between: [arm.tip, other.tip], joint: spherical}}\n"
          "coupling: {scheme: index1}\n"
          "record: {channels: [arm.bob.velocity, arm.tip.force, arm.energy]}\n",
          file);
    fclose(file);

    static char text[200000];
    for (int version = 2; version <= 3; version++) {
        export_file(path, "arm", false, version, "arm");
        read_description("arm", text, sizeof text);
        const char *variable = strstr(text, "name=\"tip.force.x\"");
        assert_non_null(variable);
        assert_non_null(strstr(variable, "unit=\"g.mm/s2\""));
        assert_non_null(strstr(text, "unit=\"mm\""));
        assert_non_null(strstr(text,
                               "<Unit name=\"mm\"><BaseUnit kg=\"0\" m=\"1\" s=\"0\" rad=\"0\" "
                               "factor=\"0.001\"/></Unit>"));
        assert_non_null(strstr(text, "<Unit name=\"g.mm/s2\"><BaseUnit kg=\"1\" m=\"1\" s=\"-2\" "
                                     "rad=\"0\" factor=\"9.9999999999999995e-07\"/></Unit>"));
        assert_null(strstr(text, "unit=\"m\""));

        export_file(path, NULL, false, version, "both");
        read_description("both", text, sizeof text);
        variable = strstr(text, "name=\"arm.bob.velocity.x\"");
        assert_non_null(variable);
        assert_non_null(strstr(variable, "unit=\"m/s\""));
        assert_null(strstr(text, "unit=\"mm"));

        run outside = open_here("time: {end: 1, step: 1e-2}\n"
                                "subsystems:\n  it: {solver: fmu, file: both.fmu}\n"
                                "record: {channels: [it.arm.bob.velocity.x.value]}\n");
        assert_near(outside.sample[0], 0.25, 1e-12);
        close_run(&outside);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_systems_give_the_same_bits),
        cmocka_unit_test(folders_may_have_any_name),
        cmocka_unit_test(descriptions_say_what_the_model_can),
        cmocka_unit_test(variables_have_the_units_that_they_are_in),
        cmocka_unit_test(terminals_name_their_members),
        cmocka_unit_test(identifiers_come_from_the_file),
        cmocka_unit_test(two_masses_are_coupled_as_inside),
        cmocka_unit_test(a_double_pendulum_is_coupled_as_inside),
        cmocka_unit_test(controllers_are_the_same_as_inside),
        cmocka_unit_test(dependencies_are_those_of_the_solver),
        cmocka_unit_test(arms_are_the_same_as_inside),
        cmocka_unit_test(cylinders_are_the_same_as_inside),
        cmocka_unit_test(instances_have_parameters_of_their_own),
        cmocka_unit_test(rollback_of_an_exported_model_is_exact),
    };
    return cmocka_run_group_tests_name("round trips", tests, make_folder, remove_folder);
}
