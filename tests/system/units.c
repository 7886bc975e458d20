/* Scenarios in SI and the same in other units of length and mass: every channel of every kind of
 * subsystem must be recorded with the same numbers and the same labels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/unit.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/scenario.h"

typedef struct unit_system {
    const char *length_word, *mass_word;
    double length, mass; /* m, kg */
    bool with_units;     /* values are written with a unit, in SI */
} unit_system;

static const unit_system systems[] = {
    {"mm", "g", 1e-3, 1e-3, false}, {"mm", "kg", 1e-3, 1, false},  {"m", "g", 1, 1e-3, false},
    {"cm", "t", 1e-2, 1e3, false},  {"mm", "t", 1e-3, 1e3, false}, {"um", "mg", 1e-6, 1e-6, false},
    {"m", "kg", 1, 1, true},        {"mm", "g", 1e-3, 1e-3, true}, {"cm", "t", 1e-2, 1e3, true},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };
static const unit_system si = {"m", "kg", 1, 1, false};

enum { TEXT_MAX = 16384, CHANNELS_MAX = 400 };

/* The scenario with every "<unit|number>" as that quantity in other units, and "UNITS" as their
 * words. */
static void write_in_units(const char *scenario, const unit_system *in, char text[TEXT_MAX])
{
    size_t used = 0;
    while (*scenario) {
        assert_true(used + 200 < TEXT_MAX);
        if (strncmp(scenario, "UNITS", 5) == 0) {
            used += (size_t)snprintf(text + used, 80, "{length: %s, mass: %s}", in->length_word,
                                     in->mass_word);
            scenario += 5;
        } else if (*scenario == '<') {
            char unit[20];
            char number[80];
            assert_int_equal(sscanf(scenario, "<%19[^|]|%79[^>]>", unit, number), 2);
            assert_true(yk_unit_dimension(unit).known);
            if (in->with_units)
                used += (size_t)snprintf(text + used, 160, "(%s)*1 %s", number, unit);
            else
                used += (size_t)snprintf(text + used, 160, "(%s)*%.17g", number,
                                         1 / yk_unit_factor(unit, in->length, in->mass));
            scenario = strchr(scenario, '>') + 1;
        } else {
            text[used++] = *scenario++;
        }
    }
    text[used] = '\0';
}

typedef struct record {
    yk_context *context;
    yk_scenario *scenario;
    const yk_scenario_info *info;
    double *sample;
} record;

/* Adds a record of everything that the scenario has: defaults, and all channels of subsystems. */
static void record_all(char text[TEXT_MAX])
{
    yk_context *context = yk_context_create(NULL);
    yk_scenario *scenario = load_scenario(context, "units", text, NULL);
    const yk_scenario_info *info = yk_scenario_get_info(scenario);

    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, TEXT_MAX - used, "record:\n  channels:\n");
    for (int i = 0; i < info->channel_count; i++)
        used += (size_t)snprintf(text + used, TEXT_MAX - used, "  - %s\n", info->channels[i].name);
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_subsystem *part = info->subsystems[i];
        const yk_channel *channels;
        int count = part->ops->channels ? part->ops->channels->list(part, &channels) : 0;
        for (int k = 0; k < count; k++)
            if (strcmp(channels[k].name, "energy") != 0)
                used += (size_t)snprintf(text + used, TEXT_MAX - used, "  - %s.%s\n",
                                         info->subsystem_names[i], channels[k].name);
    }
    assert_true(used < TEXT_MAX - 1);

    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
}

static record run_in_units(const char *scenario, const unit_system *in, const char *scheme)
{
    char text[TEXT_MAX];
    write_in_units(scenario, in, text);
    record_all(text);

    char chosen[60];
    snprintf(chosen, sizeof chosen, "coupling.scheme=%s", scheme);
    const char *const overrides[] = {chosen, NULL};
    record r = {.context = yk_context_create(NULL)};
    r.scenario = load_scenario(r.context, "units", text, overrides);
    r.info = yk_scenario_get_info(r.scenario);
    r.sample = calloc((size_t)r.info->values_per_sample, sizeof *r.sample);
    assert_non_null(r.sample);

    yk_system *system;
    yk_status status = yk_scenario_system(r.scenario, &system);
    if (!YK_FAILED(status))
        status = yk_system_run(system, r.info->end);
    if (YK_FAILED(status))
        fail_msg("%s, %s: %s", in->length_word, in->mass_word, yk_last_message(r.context));
    yk_scenario_read_sample(r.scenario, r.sample);
    return r;
}

static void close_record(record *r)
{
    free(r->sample);
    yk_scenario_destroy(r->scenario);
    yk_context_destroy(r->context);
}

/* Channels that are not numbers of the motion: how hard a solver worked. */
static bool is_effort(const char *name)
{
    static const char *const efforts[] = {"contact_residual", "contact_iteration_count",
                                          "unsolved_step_fraction", "unsolved_impulse_fraction"};
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++)
        if (strstr(name, efforts[i]))
            return true;
    return false;
}

/* All channels of both agree within `tolerance` of the largest number in SI with the same unit.
 * Quantities that stay zero show no factor and are not counted; returns the number of others. */
static int compare_records(const record *a, const record *b, const unit_system *in,
                           double tolerance)
{
    int moved = 0;
    int at = 0;
    assert_int_equal(a->info->channel_count, b->info->channel_count);
    for (int i = 0; i < a->info->channel_count; i++) {
        const yk_channel *channel = &a->info->channels[i];
        assert_string_equal(channel->name, b->info->channels[i].name);
        assert_string_equal(channel->unit, b->info->channels[i].unit);

        double size = 0;
        double difference = 0;
        for (int k = 0; k < channel->component_count; k++, at++) {
            bool absent = isnan(a->sample[at]) && isnan(b->sample[at]);
            if (absent)
                continue;
            size = fmax(size, fabs(a->sample[at]));
            double own = fabs(a->sample[at] - b->sample[at]);
            difference = isnan(own) ? INFINITY : fmax(difference, own);
        }

        if (is_effort(channel->name))
            continue;
        moved += size > 1e-9;
        if (!(difference <= tolerance * fmax(size, 1e-6)))
            fail_msg("%s [%s] in %s and %s: differs by %g of %g", channel->name, channel->unit,
                     in->length_word, in->mass_word, difference, size);
    }
    return moved;
}

static void compare_in_all_units(const char *scenario, const char *scheme, double tolerance,
                                 int least)
{
    record reference = run_in_units(scenario, &si, scheme);
    for (int i = 0; i < SYSTEMS; i++) {
        record other = run_in_units(scenario, &systems[i], scheme);
        int moved = compare_records(&reference, &other, &systems[i], tolerance);
        assert_true(moved >= least);
        close_record(&other);
    }
    close_record(&reference);
}

/* Bodies, joints, forces, beams, a flexible rod, ports and an interface; gravity is the default. */
static const char smooth[] =
    "time: {end: 0.02, step: 1e-3}\n"
    "subsystems:\n"
    "  part:\n"
    "    solver: multibody\n"
    "    units: UNITS\n"
    "    bodies:\n"
    "      bob: {mass: <kg|0.5>, inertia: [<kg m^2|0.01>, <kg m^2|0.02>, <kg m^2|0.025>],\n"
    "            position: [<m|0.4>, 0, 0], velocity: [0, <m/s|0.2>, 0],\n"
    "            angular_velocity: [0, 0, 0.5]}\n"
    "      slider: {mass: <kg|2>, inertia: [<kg m^2|0.1>, <kg m^2|0.1>, <kg m^2|0.1>],\n"
    "               position: [0, <m|2>, 0], velocity: [0, 0, <m/s|0.3>]}\n"
    "    nodes:\n"
    "      n_0: {position: [<m|3>, 0, 0]}\n"
    "      n_1: {position: [<m|3.2>, 0, 0]}\n"
    "      n_2: {position: [<m|3.4>, 0, 0]}\n"
    "    beams:\n"
    "      beam: {nodes: [n_0, n_1, n_2],\n"
    "             section: {type: rectangle, young_modulus: <Pa|2e9>, poisson_ratio: 0.3, density: "
    "<kg/m^3|2e3>,\n"
    "                       width_y: <m|0.02>, width_z: <m|0.03>}}\n"
    "    flexible_bodies:\n"
    "      rod:\n"
    "        type: rod\n"
    "        reference_conditions: pinned-pinned\n"
    "        length: <m|0.3>\n"
    "        section: {type: rectangle, young_modulus: <Pa|2e9>, poisson_ratio: 0.3, density: "
    "<kg/m^3|2e3>,\n"
    "                  width_y: <m|0.01>, width_z: <m|0.01>}\n"
    "        position: [<m|5>, 0, 0]\n"
    "        attachments: {a: 0, b: <m|0.3>}\n"
    "    joints:\n"
    "      hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "      rail: {type: prismatic, between: [ground, slider], at: [0, <m|2>, 0], axis: [0, 0, 1]}\n"
    "      clamp: {type: fixed, between: [ground, n_0], at: [<m|3>, 0, 0]}\n"
    "      pin: {type: revolute, between: [ground, rod.a], at: [<m|5>, 0, 0], axis: [0, 1, 0]}\n"
    "    forces:\n"
    "      spring: {type: spring, between: [ground, slider],\n"
    "               markers: [{offset: [0, <m|2>, <m|1>]}, {offset: [0, 0, 0]}],\n"
    "               stiffness: <N/m|300>, damping: <N s/m|2>, free_length: <m|0.8>}\n"
    "      twist: {type: torsion-spring, between: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1],\n"
    "              stiffness: <N m/rad|2>, damping: <N m s/rad|0.1>, free_angle: 0.2}\n"
    "      wind: {type: force, body: bob, vector: [0, <N|3>, <N|1>], factor: 1 + t}\n"
    "    ports: {tip: {body: bob, offset: [<m|0.1>, 0, 0]}}\n"
    "  other:\n"
    "    solver: multibody\n"
    "    bodies: {weight: {mass: 0.2, inertia: [0.01, 0.01, 0.01], position: [0.5, 0, -0.5]}}\n"
    "    ports: {top: {body: weight, offset: [0, 0, 0.5]}}\n"
    "interfaces: {link: {between: [part.tip, other.top], joint: spherical}}\n"
    "coupling: {scheme: tight}\n";

static void smooth_channels_are_in_si(void **state)
{
    (void)state;
    compare_in_all_units(smooth, "monolithic", 1e-5, 70);
    compare_in_all_units(smooth, "tight", 1e-5, 70);
}

static const char nonsmooth[] =
    "time: {end: 0.1, step: 1e-3}\n"
    "subsystems:\n"
    "  world:\n"
    "    solver: nonsmooth\n"
    "    units: UNITS\n"
    "    materials: {stone: {friction: 0.3}}\n"
    "    ground_shapes: [{type: plane, material: stone}]\n"
    "    bodies:\n"
    "      ball: {mass: <kg|2>, inertia: [<kg m^2|0.008>, <kg m^2|0.008>, <kg m^2|0.008>],\n"
    "             position: [0, 0, <m|0.1>], velocity: [<m/s|0.5>, 0, 0],\n"
    "             shapes: [{type: sphere, radius: <m|0.1>, material: stone}]}\n"
    "      door: {mass: <kg|1>, inertia: [<kg m^2|0.1>, <kg m^2|0.1>, <kg m^2|0.1>],\n"
    "             position: [<m|2>, 0, <m|2>], angular_velocity: [0, 0.5, 0]}\n"
    "      sledge: {mass: <kg|1>, inertia: [<kg m^2|0.1>, <kg m^2|0.1>, <kg m^2|0.1>],\n"
    "               position: [<m|5>, 0, <m|2>], velocity: [0, 0, <m/s|1>]}\n"
    "    joints:\n"
    "      hinge: {type: revolute, between: [ground, door], at: [<m|1.5>, 0, <m|2>],\n"
    "              axis: [0, 1, 0]}\n"
    "      rail: {type: prismatic, between: [ground, sledge], at: [<m|5>, 0, <m|2>],\n"
    "             axis: [0, 0, 1]}\n"
    "    emitters:\n"
    "      rain: {rate: 50, max_present: 4, max_emitted: 4, radius: <m|0.01>, density: "
    "<kg/m^3|2500>,\n"
    "             region_size: [<m|0.2>, <m|0.2>, <m|0.1>], position: [<m|-3>, 0, <m|1>],\n"
    "             velocity: [0, 0, <m/s|-2>], material: stone}\n"
    "    sinks: {outlet: {type: plane, position: [0, 0, <m|0.95>]}}\n";

static void nonsmooth_channels_are_in_si(void **state)
{
    (void)state;
    compare_in_all_units(nonsmooth, "explicit", 1e-5, 15);
}

/* Pressures, flows and forces of a cylinder whose fluid, stops and tank are the defaults; wires
 * from channels carry SI, to the signal port of the valve a pure number. */
static const char hydraulic[] =
    "time: {end: 0.2, step: 1e-3}\n"
    "subsystems:\n"
    "  control:\n"
    "    solver: control\n"
    "    loops: {place: {reference: 0.2, proportional: 10, command_limits: [-1, 1]},\n"
    "            force: {reference: 0, proportional: 1, command_limits: [-1e9, 1e9]}}\n"
    "  oil:\n"
    "    solver: hydraulic\n"
    "    units: UNITS\n"
    "    pump_pressure: <Pa|15e6>\n"
    "    cylinders:\n"
    "      ram:\n"
    "        area: [<m^2|4e-3>, <m^2|5e-3>]\n"
    "        length: <m|1>\n"
    "        viscous_friction: <N s/m|2e4>\n"
    "        leakage: <m^3/(s Pa)|2e-12>\n"
    "        initial_state: {force: 0}\n"
    "        valve: {type: closed-center, area: <m^2|1e-4>, time_constant: 5e-3, allow_backflow: "
    "true}\n"
    "  mass: {solver: oscillator, units: UNITS, mass: <kg|400>, force: <N|-100>}\n"
    "interfaces: {rod: {between: [mass.mass, oil.ram]}}\n"
    "wires:\n"
    "  place: {from: mass.mass.position, to: control.place.measured}\n"
    "  thrust: {from: oil.ram.piston_force, to: control.force.measured}\n"
    "  command: {from: control.place, to: oil.ram.spool, sample_and_hold: true}\n"
    "coupling: {scheme: explicit}\n";

static void hydraulic_channels_and_wires_are_in_si(void **state)
{
    (void)state;
    compare_in_all_units(hydraulic, "explicit", 1e-6, 15);
}

static void parameters_are_labelled_in_the_units_of_their_subsystem(void **state)
{
    (void)state;
    static const char text[] =
        "time: {end: 1, step: 0.1}\n"
        "parameters: {weight: 3, reach: 2, angle: 30 deg, speed: 3 km/h}\n"
        "subsystems:\n"
        "  part:\n"
        "    solver: multibody\n"
        "    units: {length: mm, mass: g}\n"
        "    pose: {position: [1, 2, 3]}\n"
        "    bodies: {bob: {mass: weight, inertia: [1, 1, 1], position: [reach, 0, 0]}}\n"
        "    forces: {pull: {type: force, body: bob, vector: [0, 0, 1]}}\n"
        "  other: {solver: oscillator, mass: 2, stiffness: 3}\n";
    static const char *const units[][2] = {
        {"parameters.weight", "g"},
        {"parameters.reach", "mm"},
        {"parameters.angle", "rad"},
        {"parameters.speed", "m/s"},
        {"subsystems.part.bodies.bob.mass", "g"},
        {"subsystems.part.gravity", "mm/s^2"},
        {"subsystems.part.forces.pull.vector", "g mm/s^2"},
        {"subsystems.part.pose.position", "m"},
        {"subsystems.other.stiffness", "N/m"},
        {"time.end", "s"},
    };
    yk_context *context = yk_context_create(NULL);
    yk_scenario *scenario = load_scenario(context, "units", text, NULL);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        assert_string_equal(yk_scenario_unit(scenario, units[i][0]), units[i][1]);
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
}

/* Position (m) of a body at the parameter `reach` in a subsystem in mm. */
static double position_with(const char *override)
{
    static const char text[] =
        "time: {end: 1 s, step: 100 ms}\n"
        "parameters: {reach: 20 mm, count: 3}\n"
        "subsystems:\n"
        "  part:\n"
        "    solver: multibody\n"
        "    units: {length: mm, mass: g}\n"
        "    bodies:\n"
        "      - {name: 'bob_{i}', repeat: count, mass: 2 g, inertia: [1, 1, 1],\n"
        "         position: [reach, '{reach*i}', 1 + 2]}\n"
        "record: {channels: [part.bob_2.position]}\n";
    const char *const overrides[] = {override, NULL};
    yk_context *context = yk_context_create(NULL);
    yk_scenario *scenario = load_scenario(context, "units", text, overrides);
    yk_system *system;
    assert_int_equal(yk_scenario_system(scenario, &system), YK_OK);
    assert_int_equal(yk_system_run(system, 0), YK_OK);
    double position[3];
    yk_scenario_read_sample(scenario, position);
    assert_near(position[1], 2 * position[0], 1e-15);
    assert_near(position[2], 0.003, 1e-15);
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    return position[0];
}

static void overridden_parameters_keep_their_quantity(void **state)
{
    (void)state;
    assert_near(position_with(NULL), 0.02, 1e-15);
    assert_near(position_with("parameters.reach=0.03"), 0.03, 1e-15);
    assert_near(position_with("parameters.reach=3 cm"), 0.03, 1e-15);
    assert_near(position_with("parameters.reach=0.01*count"), 0.03, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_channels_are_in_si),
        cmocka_unit_test(nonsmooth_channels_are_in_si),
        cmocka_unit_test(hydraulic_channels_and_wires_are_in_si),
        cmocka_unit_test(parameters_are_labelled_in_the_units_of_their_subsystem),
        cmocka_unit_test(overridden_parameters_keep_their_quantity),
    };
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
