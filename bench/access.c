/* The cost of access to a running system: steps of a controller and two coupled oscillators, bare and with reads and
 * writes between them. */
#include "yoke/access.h"
#include "bench.h"
#include "yoke/control.h"
#include "yoke/oscillator.h"

enum { STEPS = 20000 };
static const double STEP = 1e-4; /* s */

typedef struct loop {
    yk_system *system;
    yk_snapshot *snapshot;
    yk_channel_id velocity;
    yk_input_id input;
    yk_parameter_id proportional;
} loop;

static yk_subsystem *make_control(bench *run)
{
    yk_control_builder *builder = yk_control_begin(bench_context(run), NULL);
    yk_control_loop_def def = yk_control_loop_default();
    def.name = "loop";
    def.proportional = 2;
    yk_control_add_loop(builder, &def);
    yk_subsystem *control = NULL;
    bench_check(run, yk_control_create(builder, &control));
    return control;
}

static yk_subsystem *make_mass(bench *run, double mass, double stiffness)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = mass;
    def.stiffness = stiffness;
    def.velocity = 0.1;
    yk_subsystem *made = NULL;
    bench_check(run, yk_oscillator_create(bench_context(run), &def, &made));
    return made;
}

static bool open_loop(bench *run, loop *l)
{
    *l = (loop){0};
    yk_system_def def = yk_system_default();
    def.macro_step = STEP;
    yk_system_builder *builder = yk_system_begin(bench_context(run), &def);
    yk_subsystem *control = make_control(run);
    yk_system_add_owned_subsystem(builder, "left", make_mass(run, 1, 5000));
    yk_system_add_owned_subsystem(builder, "right", make_mass(run, 0.02, 0));
    yk_subsystem_id id = yk_system_add_owned_subsystem(builder, "control", control);
    yk_system_connect_ports(builder, "joint", (yk_subsystem_id){0}, (yk_port_id){0},
                            (yk_subsystem_id){1}, (yk_port_id){0});
    yk_system_add_input(builder, "measured", id, yk_subsystem_find_port(control, "loop.measured"),
                        0);
    bool good = bench_check(run, yk_system_create(builder, &l->system)) &&
                bench_check(run, yk_system_initialize(l->system)) &&
                bench_check(run, yk_snapshot_create(l->system, &l->snapshot));
    if (!good)
        return false;

    l->velocity = yk_system_find_channel(l->system, "left.mass.velocity");
    l->input = yk_system_find_input(l->system, "measured");
    l->proportional = yk_system_find_parameter(l->system, id, "loop.proportional");
    return yk_channel_is_valid(l->velocity) && yk_input_is_valid(l->input) &&
           yk_parameter_is_valid(l->proportional);
}

static void close_loop(loop *l)
{
    yk_snapshot_destroy(l->snapshot);
    yk_system_destroy(l->system);
}

typedef void (*between_steps)(loop *l);

static void run_loop(bench *run, between_steps access)
{
    loop l;
    bool good = open_loop(run, &l);
    while (good && bench_repeat(run)) {
        bench_check(run, yk_system_initialize(l.system));
        bench_start(run);
        for (int i = 0; i < STEPS; i++) {
            if (access)
                access(&l);
            yk_system_step(l.system, NULL);
        }
        bench_stop(run, STEPS);
        good = yk_system_step_count(l.system) == STEPS;
    }
    if (!good)
        bench_check(run, YK_ERROR_DIVERGED);
    close_loop(&l);
}

static void read_and_set(loop *l)
{
    double velocity;
    yk_system_read_channels(l->system, &l->velocity, 1, &velocity);
    yk_system_set_input(l->system, l->input, velocity);
}

static void set_parameter(loop *l)
{
    yk_system_set_parameter(l->system, (yk_subsystem_id){2}, l->proportional, 2);
}

static void save_and_restore(loop *l)
{
    yk_snapshot_save(l->snapshot, l->system);
    yk_snapshot_restore(l->snapshot, l->system);
}

static void bare_step(bench *run)
{
    run_loop(run, NULL);
}

static void step_with_input(bench *run)
{
    run_loop(run, read_and_set);
}

static void step_with_parameter(bench *run)
{
    run_loop(run, set_parameter);
}

static void step_with_snapshot(bench *run)
{
    run_loop(run, save_and_restore);
}

const bench_case bench_access[] = {
    {.name = "access/bare step", .unit = "macro step", .run = bare_step},
    {.name = "access/one channel read, one input set",
     .unit = "macro step",
     .run = step_with_input,
     .relative_to = "access/bare step"},
    {.name = "access/one parameter set",
     .unit = "macro step",
     .run = step_with_parameter,
     .relative_to = "access/bare step"},
    {.name = "access/snapshot saved and restored",
     .unit = "macro step",
     .run = step_with_snapshot,
     .relative_to = "access/bare step"},
    {0},
};
