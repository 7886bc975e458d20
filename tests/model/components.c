/* Components and included files: a scenario with them equals the one that is written out. */
#include "loading.h"

#include <stdlib.h>
#include <sys/stat.h>

/* The resolved subsystems of a scenario. */
static char *subsystems_of(const char *text, const char *const *overrides, int count)
{
    loading l = load_with(text, overrides, count);
    if (l.status != YK_OK)
        print_error("%s", l.text);
    assert_int_equal(l.status, YK_OK);
    char *resolved = yk_scenario_resolved_text(l.scenario);
    char *from = strstr(resolved, "subsystems:");
    assert_non_null(from);
    const char *const next[] = {"\nrecord:", "\nparameters:"};
    for (int i = 0; i < 2; i++) {
        char *end = strstr(from, next[i]);
        if (end)
            *end = '\0';
    }
    char *copy = strdup(from);
    yk_free(l.context, resolved);
    unload(&l);
    return copy;
}

static void assert_equal_models(const char *components, const char *written)
{
    char *left = subsystems_of(components, NULL, 0);
    char *right = subsystems_of(written, NULL, 0);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define HEAD "time: {end: 1, step: 0.01}\n"
#define CORNER                                                                                   \
    "  corner:\n"                                                                                \
    "    parameters: {x: , y: , mass: 40 kg, stiffness: 20 kN/m, damping: "                      \
    "2*sqrt(stiffness*mass)}\n"                                                                  \
    "    names: {body: chassis}\n"                                                               \
    "    bodies:\n"                                                                              \
    "      wheel: {mass: mass, inertia: [1, 1, 1], position: [x, y, 0.3]}\n"                     \
    "    joints:\n"                                                                              \
    "      guide: {type: prismatic, between: [\"{body}\", wheel], at: [x, y, 0.3]}\n"            \
    "    forces:\n"                                                                              \
    "      spring: {type: spring, between: [\"{body}\", wheel], stiffness: stiffness, damping: " \
    "damping}\n"
#define CHASSIS "chassis: {mass: 1200, inertia: [400, 1500, 1700]}\n"
#define TEMPLATES "templates:\n" CORNER

static void four_corners_equal_a_written_car(void **state)
{
    (void)state;
    const char *components = HEAD TEMPLATES
        "parameters: {track: 1.4 m}\n"
        "subsystems:\n"
        "  car:\n"
        "    solver: multibody\n"
        "    components:\n"
        "      fl: {use: corner, with: {x: 1.2, y: track/2}}\n"
        "      rear-right: {use: corner, with: {x: -1.2, y: -track/2, stiffness: 25000}, "
        "bodies: {wheel: {mass: mass + 5 kg}}}\n"
        "    bodies:\n"
        "      " CHASSIS;
    const char *written = HEAD
        "subsystems:\n"
        "  car:\n"
        "    solver: multibody\n"
        "    bodies:\n"
        "      " CHASSIS
        "      fl_wheel: {mass: 40, inertia: [1, 1, 1], position: [1.2, 0.7, 0.3]}\n"
        "      rear-right_wheel: {mass: 45, inertia: [1, 1, 1], position: [-1.2, -0.7, 0.3]}\n"
        "    joints:\n"
        "      fl_guide: {type: prismatic, between: [chassis, fl_wheel], at: [1.2, 0.7, 0.3]}\n"
        "      rear-right_guide: {type: prismatic, between: [chassis, rear-right_wheel], at: "
        "[-1.2, -0.7, 0.3]}\n"
        "    forces:\n"
        "      fl_spring: {type: spring, between: [chassis, fl_wheel], stiffness: 20000, "
        "damping: 2*sqrt(20000*40)}\n"
        "      rear-right_spring: {type: spring, between: [chassis, rear-right_wheel], stiffness: "
        "25000, damping: 2*sqrt(25000*40)}\n";
    assert_equal_models(components, written);
}

static void items_of_the_section_change_those_of_a_component(void **state)
{
    (void)state;
    const char *components =
        HEAD TEMPLATES "subsystems:\n"
                       "  car:\n"
                       "    solver: multibody\n"
                       "    components: {fl: {use: corner, with: {x: 1, y: 1}}}\n"
                       "    bodies:\n"
                       "      fl_wheel: {mass: 50}\n"
                       "      " CHASSIS;
    char *text = subsystems_of(components, NULL, 0);
    assert_non_null(strstr(text, "fl_wheel:\n        mass: 50\n"));
    free(text);

    /* An override reaches the item by its full name, the instance, and the template. */
    const char *const mass[] = {"subsystems.car.bodies.fl_wheel.mass=60",
                                "subsystems.car.components.fl.with.stiffness=3 kN/m",
                                "templates.corner.parameters.x=2"};
    text = subsystems_of(components, mass, 3);
    assert_non_null(strstr(text, "fl_wheel:\n        mass: 60\n"));
    assert_non_null(strstr(text, "stiffness: 3000\n"));
    free(text);
}

static void components_nest_and_repeat(void **state)
{
    (void)state;
    const char *components =
        HEAD "templates:\n"
             "  link:\n"
             "    parameters: {length: 1, i: }\n"
             "    names: {before: ground}\n"
             "    bodies:\n"
             "      \"bar_{k}\": {repeat: {index: k, to: 2}, mass: length, inertia: [1, 1, 1], "
             "position: [i, \"{k}*length\", 0]}\n"
             "    joints:\n"
             "      pin: {type: spherical, between: [\"{before}\", bar_1], at: [0, 0, 0]}\n"
             "  pair:\n"
             "    parameters: {size: }\n"
             "    components:\n"
             "      first: {use: link, with: {length: size, i: 1}}\n"
             "      second: {use: link, with: {length: 2*size, i: 2, before: first_bar_2}}\n"
             "subsystems:\n"
             "  chain:\n"
             "    solver: multibody\n"
             "    components:\n"
             "      \"p{n}\": {use: pair, repeat: {index: n, to: 2}, with: {size: \"{n}\"}}\n";
    const char *written = HEAD
        "subsystems:\n"
        "  chain:\n"
        "    solver: multibody\n"
        "    bodies:\n"
        "      p1_first_bar_1: {mass: 1, inertia: [1, 1, 1], position: [1, 1, 0]}\n"
        "      p1_first_bar_2: {mass: 1, inertia: [1, 1, 1], position: [1, 2, 0]}\n"
        "      p1_second_bar_1: {mass: 2, inertia: [1, 1, 1], position: [2, 2, 0]}\n"
        "      p1_second_bar_2: {mass: 2, inertia: [1, 1, 1], position: [2, 4, 0]}\n"
        "      p2_first_bar_1: {mass: 2, inertia: [1, 1, 1], position: [1, 2, 0]}\n"
        "      p2_first_bar_2: {mass: 2, inertia: [1, 1, 1], position: [1, 4, 0]}\n"
        "      p2_second_bar_1: {mass: 4, inertia: [1, 1, 1], position: [2, 4, 0]}\n"
        "      p2_second_bar_2: {mass: 4, inertia: [1, 1, 1], position: [2, 8, 0]}\n"
        "    joints:\n"
        "      p1_first_pin: {type: spherical, between: [ground, p1_first_bar_1], at: [0, 0, 0]}\n"
        "      p1_second_pin: {type: spherical, between: [p1_first_bar_2, p1_second_bar_1], at: "
        "[0, 0, 0]}\n"
        "      p2_first_pin: {type: spherical, between: [ground, p2_first_bar_1], at: [0, 0, 0]}\n"
        "      p2_second_pin: {type: spherical, between: [p2_first_bar_2, p2_second_bar_1], at: "
        "[0, 0, 0]}\n";
    assert_equal_models(components, written);
}

/* Subsystems, interfaces and wires are items of the scenario. */
static void components_of_a_scenario_hold_subsystems(void **state)
{
    (void)state;
    const char *text = HEAD "templates:\n"
                            "  pair:\n"
                            "    parameters: {m: }\n"
                            "    subsystems:\n"
                            "      a: {solver: oscillator, mass: m, stiffness: 100}\n"
                            "      b: {solver: oscillator, mass: m}\n"
                            "    interfaces:\n"
                            "      joint: {between: [a.mass, b.mass]}\n"
                            "components:\n"
                            "  x: {use: pair, with: {m: 1}}\n"
                            "  y: {use: pair, with: {m: 2}}\n"
                            "coupling: {scheme: tight}\n";
    loading l = load_good(text);
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_int_equal(info->subsystem_count, 4);
    assert_int_equal(info->interface_count, 2);
    assert_string_equal(info->subsystem_names[2], "y_a");

    /* The resolved scenario is complete, and loads again as the same one. */
    char *resolved = yk_scenario_resolved_text(l.scenario);
    loading again = load_good(resolved);
    char *second = yk_scenario_resolved_text(again.scenario);
    assert_string_equal(resolved, second);
    yk_free(l.context, resolved);
    yk_free(again.context, second);
    unload(&again);
    unload(&l);
}

/* Functions of time are compiled after the tree has been resolved. */
static void functions_and_channels_use_the_names_of_the_instance(void **state)
{
    (void)state;
    const char *text = HEAD
        "templates:\n"
        "  motor:\n"
        "    parameters: {torque: 1, omega: 3 rad/s}\n"
        "    bodies: {rotor: {mass: 1, inertia: [1, 1, 1]}}\n"
        "    joints: {axle: {type: revolute, between: [ground, rotor], at: [0, 0, 0], axis: [0, 0, "
        "1]}}\n"
        "    forces:\n"
        "      drive: {type: torque, body: rotor, vector: [0, 0, 1], factor: torque*sin(omega*t)}\n"
        "      brake: {type: torque, body: rotor, vector: [0, 0, -1], feedback: {inputs: {w: "
        "rotor.angular_velocity.z}, expression: torque*w/10}}\n"
        "subsystems:\n"
        "  m:\n"
        "    solver: multibody\n"
        "    components: {left: {use: motor, with: {torque: 2}}}\n"
        "record: {channels: [m.left_rotor.angular_velocity]}\n";
    loading l = load_good(text);

    /* The resolved text has the same functions. */
    char *resolved = yk_scenario_resolved_text(l.scenario);
    assert_non_null(strstr(resolved, "m.left.torque*sin(m.left.omega*t)"));
    loading again = load_good(resolved);
    yk_free(l.context, resolved);
    unload(&again);
    unload(&l);
}

static loading load_path(const char *path)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    return load_in(yk_context_create(NULL), &def);
}

static void files_are_relative_to_the_file_that_names_them(void **state)
{
    (void)state;
    mkdir("components-model", 0777);
    mkdir("components-model/parts", 0777);
    write_file("components-model/parts/common.yaml", "include: numbers.yaml\n"
                                                     "time: {end: 1, step: 0.01}\n"
                                                     "parameters: {a: 1, b: 2}\n"
                                                     "tables: {load: {file: load.csv}}\n");
    write_file("components-model/parts/numbers.yaml", "parameters: {b: 7, c: 3}\n");
    write_file("components-model/parts/load.csv", "t,value\n0,1\n1,2\n");
    write_file(
        "components-model/parts/mass.yaml",
        "parameters: {m: }\nsubsystems:\n  body: {solver: oscillator, mass: m, force: load(t)}\n");
    write_file("components-model/scenario.yaml",
               "include: [parts/common.yaml]\n"
               "parameters: {a: 10}\n"
               "time: {step: 0.02}\n"
               "components: {one: {use: parts/mass.yaml, with: {m: a + b + c}}}\n");
    loading l = load_path("components-model/scenario.yaml");
    if (l.status != YK_OK)
        print_error("%s", l.text);
    assert_int_equal(l.status, YK_OK);
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_float_equal(info->step, 0.02, 0);
    assert_float_equal(info->end, 1, 0);

    /* Own values first, then those of the file, then those of the file that it includes. */
    char *resolved = yk_scenario_resolved_text(l.scenario);
    assert_non_null(strstr(resolved, "mass: 15\n"));
    yk_free(l.context, resolved);

    /* Every value has its origin. */
    char *origins = yk_scenario_text_with_origins(l.scenario);
    assert_non_null(strstr(origins, "a: 10  # components-model/scenario.yaml:2\n"));
    assert_non_null(strstr(origins, "b: 2  # components-model/parts/common.yaml:3\n"));
    assert_non_null(strstr(origins, "c: 3  # components-model/parts/numbers.yaml:1\n"));
    assert_non_null(strstr(origins, "mass: 15  # components-model/parts/mass.yaml:3\n"));
    assert_non_null(strstr(origins, "# default\n"));
    yk_free(l.context, origins);

    /* All of them are inputs of the run. */
    int count = 0;
    while (yk_scenario_input_file(l.scenario, count, NULL))
        count++;
    assert_int_equal(count, 4);
    unload(&l);
}

static void files_that_include_themselves_are_an_error(void **state)
{
    (void)state;
    mkdir("components-model", 0777);
    write_file("components-model/loop.yaml",
               "include: loop.yaml\n" HEAD "subsystems: {a: {solver: oscillator, mass: 1}}\n");
    loading l = load_path("components-model/loop.yaml");
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "does a file include itself?"));
    unload(&l);

    l = load_text(HEAD "templates: {a: {components: {b: {use: a}}}}\n"
                       "components: {c: {use: a}}\n"
                       "subsystems: {a: {solver: oscillator, mass: 1}}\n");
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "does a component contain itself?"));
    unload(&l);

    /* Growth by a factor per level ends at the limit. */
    char text[4000] = HEAD "subsystems: {a: {solver: oscillator, mass: 1}}\n"
                           "components: {c: {use: t0}}\ntemplates:\n";
    for (int i = 0; i < 12; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length,
                 "  t%d: {components: {\"x{i}\": {repeat: 10, use: t%d}}}\n", i, i + 1);
    }
    strcat(text, "  t12: {subsystems: {b: {solver: oscillator, mass: 1}}}\n");
    l = load_text(text);
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "more than a million values"));
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_corners_equal_a_written_car),
        cmocka_unit_test(items_of_the_section_change_those_of_a_component),
        cmocka_unit_test(components_nest_and_repeat),
        cmocka_unit_test(components_of_a_scenario_hold_subsystems),
        cmocka_unit_test(functions_and_channels_use_the_names_of_the_instance),
        cmocka_unit_test(files_are_relative_to_the_file_that_names_them),
        cmocka_unit_test(files_that_include_themselves_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
