/* Valid scenarios: the values that are read, the system that is built, and the reference
 * documentation. */
#include "loading.h"

#include <stdlib.h>

#include "model/scenario.h"

static const char two_masses[] =
    "title: Two masses, one spring\n"
    "description: |\n"
    "  A chain of \"two\" masses.\n"
    "  Split in the middle.\n"
    "parameters: {omega: sqrt(stiffness/mass), mass: 2, stiffness: 5000}\n"
    "time: {end: 0.5, step: 1e-3}\n"
    "subsystems:\n"
    "  left:\n"
    "    solver: oscillator\n"
    "    mass: mass\n"
    "    stiffness: stiffness\n"
    "    position: 0.01\n"
    "    force: 0.25*sin(omega*t)\n"
    "  right:\n"
    "    solver: oscillator\n"
    "    mass: mass/2\n"
    "    position: 0.01\n"
    "    integrator: semi-implicit\n"
    "interfaces:\n"
    "  - {name: joint, between: [left.mass, right.mass]}\n"
    "coupling: {scheme: explicit}\n";

static void plain_values_are_those_of_the_file(void **state)
{
    (void)state;
    loading l = load_good(two_masses);
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_string_equal(info->title, "Two masses, one spring");
    assert_string_equal(info->path, "file.yaml");
    assert_near(info->start, 0, 0);
    assert_near(info->step, 1e-3, 0);
    assert_near(info->end, 0.5, 1e-15);
    assert_int_equal(info->step_count, 500);
    assert_int_equal(info->subsystem_count, 2);
    assert_string_equal(info->subsystem_names[1], "right");
    assert_string_equal(info->subsystem_solvers[0], "oscillator");
    assert_string_equal(info->subsystems[0]->ops->kind, "oscillator");
    assert_int_equal(info->interface_count, 1);
    assert_string_equal(info->interfaces[0].name, "joint");
    assert_int_equal(info->interfaces[0].wrench_subsystem.index, 0);
    assert_int_equal(info->interfaces[0].motion_subsystem.index, 1);
    assert_int_equal(info->interfaces[0].constrained_axes, YK_AXIS_X);
    assert_int_equal(info->record_interval, 1);
    assert_null(info->record_file);
    assert_int_equal(yk_diagnostics_count(l.diagnostics), 0);
    unload(&l);
}

/* The options of a scheme as a scenario has them, with one value changed or none. */
static void read_options(const char *scheme, const char *override, void *options, size_t size)
{
    char chosen[64];
    snprintf(chosen, sizeof chosen, "coupling.scheme=%s", scheme);
    const char *overrides[] = {chosen, override};
    loading l = load_with(two_masses, overrides, override ? 2 : 1);
    if (l.status != YK_OK)
        print_error("%s", l.text);
    assert_int_equal(l.status, YK_OK);
    const yk_scheme_def *loaded = &yk_scenario_get_info(l.scenario)->scheme;
    assert_string_equal(loaded->ops->name, scheme);
    assert_int_equal(loaded->ops->options_size, size);
    memcpy(options, loaded->options, size);
    unload(&l);
}

static yk_explicit_options explicit_with(const char *override)
{
    yk_explicit_options options;
    read_options("explicit", override, &options, sizeof options);
    return options;
}

static yk_tight_options tight_with(const char *override)
{
    yk_tight_options options;
    read_options("tight", override, &options, sizeof options);
    return options;
}

/* But for those that follow from others where they are not written. */
static void coupling_defaults_are_those_of_the_scheme(void **state)
{
    (void)state;
    yk_explicit_options plain = explicit_with(NULL), usual = yk_explicit_options_default();
    assert_int_equal(plain.exchange, YK_EXCHANGE_AUTO);
    plain.exchange = usual.exchange;
    assert_memory_equal(&plain, &usual, sizeof usual);

    yk_tight_options tight = tight_with(NULL), expected = yk_tight_options_default();
    assert_int_equal(tight.max_iterations, 50);
    assert_near(tight.relative_tolerance, 1e-9, 0);
    tight.max_iterations = expected.max_iterations, tight.relative_tolerance = 0,
    tight.exchange = expected.exchange;
    assert_memory_equal(&tight, &expected, sizeof expected);
    assert_int_equal(tight_with("coupling.acceleration=none").max_iterations, 20);

    yk_index1_options index1, index1_usual = yk_index1_options_default();
    read_options("index1", NULL, &index1, sizeof index1);
    assert_memory_equal(&index1, &index1_usual, sizeof index1);
}

static void assert_inputs(const char *override, yk_modified_inputs inputs, double alpha,
                          double beta, double gamma)
{
    yk_explicit_options options = explicit_with(override);
    assert_int_equal(options.modified_inputs, inputs);
    assert_int_equal(options.exchange, YK_EXCHANGE_FORCE_MOTION);
    assert_near(options.alpha, alpha, 0);
    assert_near(options.beta, beta, 0);
    assert_near(options.gamma, gamma, 0);
}

static void every_word_of_the_coupling_arrives(void **state)
{
    (void)state;
    assert_int_equal(explicit_with("coupling.sequence=jacobi").sequence, YK_SEQUENCE_JACOBI);
    assert_int_equal(explicit_with("coupling.sequence=gauss-seidel").sequence,
                     YK_SEQUENCE_GAUSS_SEIDEL);
    assert_inputs("coupling.modified_inputs=none", YK_MODIFIED_INPUTS_NONE, 0, 0, 0);
    assert_inputs("coupling.modified_inputs=index-1", YK_MODIFIED_INPUTS_INDEX_1, 0, 0, 0);
    assert_inputs("coupling.modified_inputs=index-2", YK_MODIFIED_INPUTS_INDEX_2, 0, 0, 0);
    assert_inputs("coupling.modified_inputs=index-3", YK_MODIFIED_INPUTS_INDEX_3, 0, 0, 0);
    assert_inputs("coupling.modified_inputs={alpha: 2e5, beta: 30, gamma: 1}",
                  YK_MODIFIED_INPUTS_WEIGHTED, 2e5, 30, 1);
    assert_int_equal(explicit_with("coupling.threads=2").thread_count, 2);
    assert_int_equal(tight_with("coupling.acceleration=aitken").acceleration,
                     YK_ACCELERATION_AITKEN);
    assert_int_equal(tight_with("coupling.acceleration=quasi-newton").acceleration,
                     YK_ACCELERATION_QUASI_NEWTON);
    assert_int_equal(tight_with("coupling.prescribed_velocity=partner").prescribed_velocity,
                     YK_PRESCRIBED_VELOCITY_PARTNER);
    assert_int_equal(tight_with("coupling.max_halvings=3").max_halvings, 3);
    assert_int_equal(tight_with("coupling.max_iterations=0").max_iterations, 0);
    assert_near(tight_with("coupling.absolute_tolerance=1e-9").tolerance, 1e-9, 0);
    assert_near(tight_with("coupling.relative_tolerance=1e-3").relative_tolerance, 1e-3, 0);

    yk_rim_options rim;
    read_options("rim", "coupling.fast_subsystems=[right]", &rim, sizeof rim);
    assert_int_equal(rim.fast_subsystems.count, 1);
}

/* Keys of other schemes are checked as these have them, and not used. */
static void keys_of_other_schemes_are_not_used(void **state)
{
    (void)state;
    yk_explicit_options usual = explicit_with(NULL),
                        other = explicit_with("coupling.polynomial_degree=1");
    assert_memory_equal(&usual, &other, sizeof usual);
    const char *wrong[] = {"coupling.scheme=explicit", "coupling.polynomial_degree=7"};
    loading l = load_with(two_masses, wrong, 2);
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "coupling.polynomial_degree"));
    unload(&l);
}

/* x'' + 25 x = 3 from rest, solved exactly: x = 3/25 (1 - cos 5t). */
static void one_subsystem_runs_without_coupling(void **state)
{
    (void)state;
    loading l = load_good(
        "parameters: {k: 25}\n"
        "time: {start: 1, end: 3, step: 0.125}\n"
        "subsystems:\n"
        "  only: {solver: oscillator, mass: 1, stiffness: k, force: 3, integrator: exact}\n"
        "record: {channels: [only.mass.position, only.mass.velocity, only.energy.potential]}\n");
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    yk_system *system, *again;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_scenario_system(l.scenario, &again), YK_OK);
    assert_ptr_equal(system, again);
    assert_int_equal(info->step_count, 16);
    assert_int_equal(info->values_per_sample, 3);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < info->step_count; i++)
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
    double sample[3];
    yk_scenario_read_sample(l.scenario, sample);
    assert_near(yk_system_time(system), info->end, 0);
    assert_near(sample[0], 3.0 / 25 * (1 - cos(10)), 1e-13);
    assert_near(sample[1], 3.0 / 5 * sin(10), 1e-13);
    assert_near(sample[2], 12.5 * sample[0] * sample[0], 1e-13);
    unload(&l);
}

/* Expressions of time reach the subsystem: a force t on a free mass of 1 kg gives x = t^3/6. */
static void forces_follow_their_expressions(void **state)
{
    (void)state;
    loading l = load_good(
        "parameters: {slope: 2}\n"
        "time: {end: 1, step: 1e-3}\n"
        "subsystems: {only: {solver: oscillator, mass: 2, force: slope*t, integrator: exact}}\n");
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(yk_system_step(system, NULL), YK_OK);
    assert_near(
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x,
        1.0 / 6, 1e-6);
    unload(&l);
}

/* The same scenario by three schemes: one line changes the scheme, and they agree. */
static void schemes_agree_on_the_two_masses(void **state)
{
    (void)state;
    static const char *const schemes[] = {"coupling.scheme=monolithic", "coupling.scheme=tight",
                                          "coupling.scheme=explicit"};
    double reference = 0;
    for (int i = 0; i < 3; i++) {
        const char *overrides[] = {
            schemes[i], "time.step=1e-5", "time.end=0.05",
            "record={channels: [joint.position, right.mass.position, joint.gap_position]}"};
        loading l = load_with(two_masses, overrides, 4);
        if (l.status != YK_OK)
            print_error("%s", l.text);
        assert_int_equal(l.status, YK_OK);
        yk_system *system;
        assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
        assert_int_equal(yk_system_initialize(system), YK_OK);
        for (int n = 0; n < 5000; n++)
            assert_int_equal(yk_system_step(system, NULL), YK_OK);
        double sample[3];
        yk_scenario_read_sample(l.scenario, sample);
        if (i == 0)
            reference = sample[0];
        assert_near(sample[0], reference, 1e-5);
        assert_near(sample[1], reference, 1e-5);
        assert_near(sample[2], fabs(sample[0] - sample[1]), 1e-12);
        unload(&l);
    }
    assert_true(fabs(reference) > 1e-3);
}

/* The right mass in grams and millimetres, in two steps, is the same mass. */
static void units_and_substeps_reach_the_system(void **state)
{
    (void)state;
    static const char *const right[] = {"subsystems.right={solver: oscillator, mass: 1, position: "
                                        "0.01, integrator: semi-implicit, substeps: 2}",
                                        "subsystems.right={solver: oscillator, mass: 1000, "
                                        "position: 10, units: {length: mm, mass: g}, "
                                        "integrator: semi-implicit, substeps: 2}"};
    double reference = 0;
    for (int i = 0; i < 2; i++) {
        const char *overrides[] = {"coupling.scheme=tight", "time.step=1e-4", "time.end=0.01",
                                   "record={channels: [right.mass.position]}", right[i]};
        loading l = load_with(two_masses, overrides, 5);
        if (l.status != YK_OK)
            print_error("%s", l.text);
        assert_int_equal(l.status, YK_OK);
        yk_system *system;
        assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
        assert_int_equal(yk_system_initialize(system), YK_OK);
        for (int n = 0; n < 100; n++)
            assert_int_equal(yk_system_step(system, NULL), YK_OK);
        double position;
        yk_scenario_read_sample(l.scenario, &position);
        if (i == 0)
            reference = position;
        assert_near(position, reference, 1e-10);
        unload(&l);
    }
    assert_near(reference, 0.01 * cos(sqrt(5000.0 / 3) * 0.01), 3e-6); /* first order */
}

static void without_a_list_everything_is_recorded(void **state)
{
    (void)state;
    static const char *const names[] = {
        "left.mass.position", "left.mass.velocity",   "left.mass.force",
        "left.energy",        "right.mass.position",  "right.mass.velocity",
        "right.mass.force",   "right.energy",         "joint.gap_position",
        "joint.gap_velocity", "joint.energy_created", "coupling.iteration_count"};
    loading l = load_good(two_masses);
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_int_equal(info->channel_count, 12);
    for (int i = 0; i < 12; i++)
        assert_string_equal(info->channels[i].name, names[i]);
    assert_string_equal(info->channels[2].unit, "N");
    assert_int_equal(info->channels[3].component_count, 4);
    assert_int_equal(info->values_per_sample, 18);
    yk_system *system;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    assert_int_equal(yk_system_step(system, NULL), YK_OK);
    double sample[18];
    yk_scenario_read_sample(l.scenario, sample);
    assert_near(
        sample[0],
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x, 0);
    assert_near(
        sample[1],
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.velocity.x, 0);
    assert_near(sample[9],
                yk_system_port_value(system, (yk_subsystem_id){1}, (yk_port_id){0})->wrench.force.x,
                0);
    assert_near(sample[14], fabs(sample[0] - sample[7]), 1e-15);
    assert_near(sample[17], 1, 0); /* two_masses are coupled explicitly */
    yk_energy energy;
    yk_system_energy(system, (yk_subsystem_id){1}, &energy);
    assert_near(sample[10], energy.kinetic, 0);
    assert_near(sample[13], energy.work, 0);
    unload(&l);
}

static void steps_are_counted_with_a_warning_where_they_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *time;
        int64_t steps;
        const char *warning;
    } cases[] = {
        {"{end: 0.3, step: 0.1}", 3, NULL},
        {"{end: 1, step: 1/3}", 3, NULL},
        {"{start: -0.5, end: 0.5, step: 1e-6}", 1000000, NULL},
        {"{end: 1e-3, step: 1e-3}", 1, NULL},
        {"{end: 1, step: 0.3}", 4,
         "is not a whole number of steps of 0.3 s; the run takes 4 steps and ends at 1.2 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, "time: %s\nsubsystems: {a: {solver: oscillator, mass: 1}}\n",
                 cases[i].time);
        loading l = load_good(text);
        assert_int_equal(yk_scenario_get_info(l.scenario)->step_count, cases[i].steps);
        assert_int_equal(yk_diagnostics_warning_count(l.diagnostics), cases[i].warning != NULL);
        if (cases[i].warning)
            assert_string_equal(yk_diagnostics_at(l.diagnostics, 0)->message, cases[i].warning);
        unload(&l);
    }
}

static void loose_parts_are_warned_of(void **state)
{
    (void)state;
    loading l = load_good(
        "time: {end: 1, step: 0.1}\n"
        "subsystems: {a: {solver: oscillator, mass: 1}, b: {solver: oscillator, mass: 1}}\n");
    assert_int_equal(yk_diagnostics_warning_count(l.diagnostics), 2);
    assert_string_equal(yk_diagnostics_at(l.diagnostics, 1)->path, "subsystems.b");
    unload(&l);
}

/* Merged subsystems make the same steps: numbers of their own are said not to be used. */
static void substeps_of_merged_subsystems_are_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        int substeps;
        int warnings;
    } cases[] = {{"monolithic", 4, 1}, {"monolithic", 1, 0}, {"explicit", 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "time: {end: 1, step: 0.1}\n"
                 "subsystems:\n"
                 "  a: {solver: oscillator, mass: 1, substeps: %d}\n"
                 "  b: {solver: oscillator, mass: 1}\n"
                 "interfaces: [{name: joint, between: [a.mass, b.mass]}]\n"
                 "coupling: {scheme: %s}\n",
                 cases[i].substeps, cases[i].scheme);
        loading l = load_good(text);
        assert_int_equal(yk_diagnostics_warning_count(l.diagnostics), cases[i].warnings);
        if (cases[i].warnings)
            assert_string_equal(yk_diagnostics_at(l.diagnostics, 0)->path, "subsystems.a.substeps");
        unload(&l);
    }
}

/* A component follows a point or a colon, for wires as for records. */
static void wires_start_at_components(void **state)
{
    (void)state;
    static const char *const sources[] = {"bob.tip.velocity.z", "bob.tip.velocity.z"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "time: {end: 1, step: 0.1}\n"
                 "subsystems:\n"
                 "  bob:\n"
                 "    solver: multibody\n"
                 "    bodies: {bar: {mass: 1, inertia: [1, 1, 1]}}\n"
                 "    ports: {tip: {body: bar}}\n"
                 "  pd: {solver: control, loops: {speed: {reference: 0, proportional: 1}}}\n"
                 "wires: {speed: {from: '%s', to: pd.speed.measured}}\n"
                 "coupling: {scheme: explicit}\n",
                 sources[i]);
        loading l = load_good(text);
        const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
        assert_int_equal(info->wire_count, 1);
        assert_int_equal(info->wires[0].source_subsystem.index, 0);
        assert_int_equal(info->wires[0].component_index, 5); /* behind the position */
        unload(&l);
    }
}

/* Bodies on nodes that are described before them. */
static void bodies_stand_on_nodes(void **state)
{
    (void)state;
    loading l = load_good("time: {end: 1, step: 0.1}\n"
                          "subsystems:\n"
                          "  frame:\n"
                          "    solver: multibody\n"
                          "    nodes: {corner: {position: [1, 2, 3]}}\n"
                          "    bodies: {block: {node: corner, mass: 1, inertia: [1, 1, 1]}}\n"
                          "    ports: {tip: {body: corner}}\n");
    unload(&l);
}

/* A sphere of 10 mm fits into a box of 12 mm, not into one of 9 mm. */
static void particles_fill_the_size_that_is_written(void **state)
{
    (void)state;
    static const char text[] =
        "parameters: {side: 0.012}\n"
        "time: {end: 1, step: 0.1}\n"
        "subsystems:\n"
        "  heap:\n"
        "    solver: nonsmooth\n"
        "    gravity: [0, 0, -9.81]\n"
        "    bodies: {box: {fixed: true, shapes: [{type: box-cavity, size: [side, side, side]}]}}\n"
        "    particles:\n"
        "      shot: {type: lattice, container: box, container_size: [side, side, side], count: 1, "
        "radius: "
        "5e-3,\n"
        "             density: 1000}\n";
    loading l = load_good(text);
    unload(&l);

    const char *smaller = "parameters.side=0.009";
    l = load_with(text, &smaller, 1);
    assert_int_equal(l.status, YK_ERROR_INPUT);
    assert_non_null(strstr(l.text, "particles.shot"));
    unload(&l);
}

static void subsystems_and_interfaces_may_be_lists_or_maps(void **state)
{
    (void)state;
    loading l = load_good("time: {end: 1, step: 0.1}\n"
                          "subsystems:\n"
                          "  - {name: a, solver: oscillator, mass: 1}\n"
                          "  - {name: b, solver: oscillator, mass: 1}\n"
                          "interfaces: {j: {between: [a.mass, b.mass]}}\n"
                          "coupling: {}\n"
                          "record: {every: 10, file: results.h5}\n");
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_string_equal(info->subsystem_names[1], "b");
    assert_string_equal(info->interfaces[0].name, "j");
    assert_int_equal(info->record_interval, 10);
    assert_string_equal(info->record_file, "results.h5");
    unload(&l);
}

static void files_are_found_from_the_folder_of_the_scenario(void **state)
{
    (void)state;
    yk_scenario_def def = yk_scenario_default();
    def.path = "some/folder/file.yaml";
    def.text = "time: {end: 1, step: 0.1}\nsubsystems: {a: {solver: oscillator, mass: 1}}\nrecord: "
               "{file: out/r.h5}\n";
    loading l = load_in(yk_context_create(NULL), &def);
    assert_int_equal(l.status, YK_OK);
    assert_string_equal(yk_scenario_get_info(l.scenario)->record_file, "some/folder/out/r.h5");
    unload(&l);
}

/* The scenario of a run can be read back without a change, with defaults and evaluated numbers. */
static void the_resolved_text_reads_back_the_same(void **state)
{
    (void)state;
    loading first = load_good(two_masses);
    char *text = yk_scenario_resolved_text(first.scenario);
    assert_non_null(strstr(text, "  omega: 50\n"));
    assert_non_null(strstr(text, "rho_inf: 0.6\n"));
    assert_non_null(strstr(text, "force: \"0.25*sin(omega*t)\"\n"));
    loading second = load_good(text);
    char *again = yk_scenario_resolved_text(second.scenario);
    assert_string_equal(again, text);
    assert_string_equal(yk_scenario_get_info(second.scenario)->description,
                        yk_scenario_get_info(first.scenario)->description);
    yk_free(first.context, text);
    yk_free(second.context, again);
    unload(&first);
    unload(&second);
}

/* The defaults of every table must be valid values. */
static void check_defaults(yk_resolver *resolver, const yk_option_section *section, int *count);

static void check_default(yk_resolver *resolver, const yk_option *field, int *count)
{
    if (field->default_text && field->default_text[0] != '{' && field->default_text[0] != '[') {
        yk_node *node = yk_node_create(resolver->store, YK_NODE_SCALAR, (yk_location){0});
        node->text = field->default_text;
        yk_resolve(resolver, node, field);
        if (!node->valid)
            print_error("default of %s\n", field->key);
        assert_true(node->valid);
        ++*count;
    }
    assert_non_null(field->description);
    assert_false(field->required && field->default_text);
    if (field->section)
        check_defaults(resolver, field->section, count);
    for (int i = 0; field->variants && field->variants[i]; i++)
        check_defaults(resolver, field->variants[i], count);
    if (field->item)
        check_default(resolver, field->item, count);
}

static void check_defaults(yk_resolver *resolver, const yk_option_section *section, int *count)
{
    for (const yk_option *field = section->options; field->key; field++)
        check_default(resolver, field, count);
}

static void every_default_is_valid(void **state)
{
    (void)state;
    int count = 0;
    yk_context *context = yk_context_create(NULL);
    yk_store store = {.context = context};
    yk_resolver resolver = {.store = &store};
    assert_int_equal(yk_diagnostics_create(context, &resolver.diagnostics), YK_OK);
    for (int i = 0; yk_scheme_at(i); i++)
        check_defaults(&resolver,
                       yk_scenario_section(&store, &(yk_extensions){0}, yk_scheme_at(i), NULL),
                       &count);
    assert_true(count > 15);
    yk_diagnostics_destroy(resolver.diagnostics);
    yk_store_destroy(&store);
    yk_context_destroy(context);
}

static void the_reference_in_docs_is_up_to_date(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    const char *name;
    char *page;
    int pages = 0;
    while ((page = yk_scenario_reference_page(context, NULL, pages, &name))) {
        char path[1024];
        const char *folder = pages == 0 ? "" : "scenario/";
        snprintf(path, sizeof path, YOKE_SOURCE_DIR "/docs/%s%s.md", folder, name);
        FILE *file = fopen(path, "rb");
        char *committed = calloc(1, 1 << 20);
        size_t length = file ? fread(committed, 1, (1 << 20) - 1, file) : 0;
        if (file)
            fclose(file);
        assert_int_equal(length, strlen(committed));
        if (strcmp(committed, page) != 0)
            print_error("%s is old: yoke schema --folder docs\n", path);
        assert_string_equal(committed, page);
        free(committed);
        yk_free(context, page);
        pages++;
    }
    assert_null(name);
    assert_true(pages > 15);
    yk_context_destroy(context);
}

/* Fails for a key below the section that has no row in the reference. Returns the number of keys. */
static int look_for_keys(const char *reference, const yk_option_section *section);

static int look_for_key(const char *reference, const yk_option *field)
{
    char row[120];
    snprintf(row, sizeof row, "\n| `%s` | ", field->key);
    if (!strstr(reference, row))
        fail_msg("the reference has no row for '%s'", field->key);

    while (field->kind == YK_OPTION_NAMED || field->kind == YK_OPTION_LIST)
        field = field->item;
    int keys = 1;
    if (field->section)
        keys += look_for_keys(reference, field->section);
    for (int i = 0; field->variants && field->variants[i]; i++)
        keys += look_for_keys(reference, field->variants[i]);
    return keys;
}

static int look_for_keys(const char *reference, const yk_option_section *section)
{
    int keys = 0;
    for (const yk_option *field = section->options; field->key; field++)
        keys += field->kind == YK_OPTION_INCLUDE ? look_for_keys(reference, field->section)
                                                 : look_for_key(reference, field);
    return keys;
}

/* Every key has its row in the reference, and a table that several sections have is described once. */
static void the_reference_has_every_key_once(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_store store = {.context = context};
    yk_extensions none = {0};
    char *reference = yk_scenario_schema_markdown(context, NULL);
    assert_non_null(reference);
    int keys = look_for_keys(reference, yk_scenario_section(&store, &none, NULL, NULL));
    assert_true(keys > 700);

    /* Rows of five columns: the reference without its index. */
    int rows = 0;
    for (const char *line = reference; (line = strstr(line, "\n| `")); line++) {
        int bars = 0;
        for (const char *c = line + 1; *c && *c != '\n'; c++)
            bars += *c == '|';
        rows += bars == 6;
    }
    assert_true(rows > 300);
    assert_true(rows < 650);
    yk_store_destroy(&store);
    yk_free(context, reference);
    yk_context_destroy(context);
}

static void parameters_fill_in_names(void **state)
{
    (void)state;
    loading l = load_good(
        "parameters: {last: 4, mass: 2}\n"
        "time: {end: 1, step: 1e-3}\n"
        "subsystems:\n"
        "  part_{last/2}:\n"
        "    solver: multibody\n"
        "    bodies:\n"
        "      - {name: \"b_{i}\", repeat: last, mass: mass, position: [\"{i}\", 0, 0]}\n"
        "    joints:\n"
        "      stop: {type: fixed, between: [ground, \"b_{last}\"], at: [\"{last}\", 0, 0]}\n"
        "    ports:\n"
        "      end: {body: \"b_{last - 1}\"}\n"
        "record: {channels: [\"part_2.b_{last-1}.position.x\"]}\n");
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_string_equal(info->subsystem_names[0], "part_2");
    assert_string_equal(info->channels[0].name, "part_2.b_3.position.x");

    yk_system *system;
    double value;
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    yk_scenario_read_sample(l.scenario, &value);
    assert_near(value, 3, 0);
    unload(&l);
}

static void components_may_stand_behind_a_colon(void **state)
{
    (void)state;
    static const char text[] =
        "time: {end: 1, step: 1e-3}\n"
        "subsystems: {a: {solver: multibody, bodies: {b: {mass: 1, position: [1, 2, 3]}}}}\n"
        "record: {channels: [a.b.position.y, a.b.position.z, a.b.orientation.w]}\n";
    loading l = load_good(text);
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    assert_int_equal(info->values_per_sample, 3);
    assert_string_equal(info->channels[0].name, "a.b.position.y");

    yk_system *system;
    double values[3];
    assert_int_equal(yk_scenario_system(l.scenario, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    yk_scenario_read_sample(l.scenario, values);
    assert_near(values[0], 2, 0);
    assert_near(values[1], 3, 0);
    assert_near(values[2], 1, 0);
    unload(&l);
}

static void diagnostics_may_be_left_out(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_scenario_def def = yk_scenario_default();
    yk_scenario *scenario;
    def.path = "file.yaml";
    def.text = "time: {end: 1, step: 0.1}\nsubsystems: {a: {solver: oscillator, mas: 1}}\n";
    assert_int_equal(yk_scenario_load(context, &def, NULL, &scenario), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_last_message(context), "line 2"));
    def.text = "time: {end: 1, step: 0.1}\nsubsystems: {a: {solver: oscillator, mass: 1}}\n";
    assert_int_equal(yk_scenario_load(context, &def, NULL, &scenario), YK_OK);
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_values_are_those_of_the_file),
        cmocka_unit_test(coupling_defaults_are_those_of_the_scheme),
        cmocka_unit_test(every_word_of_the_coupling_arrives),
        cmocka_unit_test(keys_of_other_schemes_are_not_used),
        cmocka_unit_test(one_subsystem_runs_without_coupling),
        cmocka_unit_test(forces_follow_their_expressions),
        cmocka_unit_test(schemes_agree_on_the_two_masses),
        cmocka_unit_test(units_and_substeps_reach_the_system),
        cmocka_unit_test(without_a_list_everything_is_recorded),
        cmocka_unit_test(steps_are_counted_with_a_warning_where_they_do_not_fit),
        cmocka_unit_test(loose_parts_are_warned_of),
        cmocka_unit_test(wires_start_at_components),
        cmocka_unit_test(bodies_stand_on_nodes),
        cmocka_unit_test(particles_fill_the_size_that_is_written),
        cmocka_unit_test(substeps_of_merged_subsystems_are_warned_of),
        cmocka_unit_test(subsystems_and_interfaces_may_be_lists_or_maps),
        cmocka_unit_test(files_are_found_from_the_folder_of_the_scenario),
        cmocka_unit_test(the_resolved_text_reads_back_the_same),
        cmocka_unit_test(parameters_fill_in_names),
        cmocka_unit_test(components_may_stand_behind_a_colon),
        cmocka_unit_test(every_default_is_valid),
        cmocka_unit_test(diagnostics_may_be_left_out),
        cmocka_unit_test(the_reference_in_docs_is_up_to_date),
        cmocka_unit_test(the_reference_has_every_key_once),
    };
    return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
