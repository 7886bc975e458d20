/* The cost of coupling itself: macro steps of two in-process oscillators, whose own work is a few
 * nanoseconds. */
#include "bench.h"
#include "coupling/system_arrays.h"
#include "yoke/oscillator.h"
#include "yoke/record.h"

enum { STEPS = 20000 };
static const double STEP = 1e-4; /* s */

typedef struct pair {
    yk_subsystem *masses[2];
    yk_system *system;
} pair;

static const char *const names[] = {"left", "right"};

static bool open_pair(bench *run, const yk_scheme_def *scheme, pair *p)
{
    yk_oscillator_def left = yk_oscillator_default(), right = yk_oscillator_default();
    left.stiffness = 5000, left.rho_inf = 0.56, left.velocity = right.velocity = 0.1;
    right.integrator = YK_OSCILLATOR_SEMI_IMPLICIT;
    yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    yk_system_description def = {.subsystems = p->masses,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &joint,
                                 .interface_count = 1,
                                 .scheme = *scheme,
                                 .step = STEP};
    *p = (pair){0};
    yk_context *context = bench_context(run);
    return bench_check(run, yk_oscillator_create(context, &left, &p->masses[0])) &&
           bench_check(run, yk_oscillator_create(context, &right, &p->masses[1])) &&
           bench_check(run, yk_system_make(context, &def, &p->system)) &&
           bench_check(run, yk_system_initialize(p->system));
}

static void close_pair(pair *p)
{
    yk_system_destroy(p->system);
    for (int i = 0; i < 2; i++)
        if (p->masses[i])
            p->masses[i]->ops->destroy(p->masses[i]);
}

/* A coupled motion that decays forever would end in denormal numbers, which cost several times as
 * much. */
static void restart(bench *run, pair *p)
{
    bench_check(run, yk_system_initialize(p->system));
}

static void step_pair(bench *run, const yk_scheme_def *scheme)
{
    pair p;
    bool good = open_pair(run, scheme, &p);
    while (good && bench_repeat(run)) {
        restart(run, &p);
        bench_start(run);
        for (int i = 0; i < STEPS; i++)
            yk_system_step(p.system, NULL);
        bench_stop(run, STEPS);
    }
    close_pair(&p);
}

static void explicit_gauss_seidel(bench *run)
{
    yk_scheme_def scheme = yk_scheme_default();
    step_pair(run, &scheme);
}

static void explicit_index_3(bench *run)
{
    yk_explicit_options options = yk_explicit_options_default();
    options.modified_inputs = YK_MODIFIED_INPUTS_INDEX_3;
    step_pair(run, &(yk_scheme_def){yk_scheme_explicit(), &options});
}

static void explicit_jacobi(bench *run)
{
    yk_explicit_options options = yk_explicit_options_default();
    options.sequence = YK_SEQUENCE_JACOBI;
    options.modified_inputs = YK_MODIFIED_INPUTS_WEIGHTED;
    options.alpha = 0.2 / (STEP * STEP);
    options.beta = 0.2 / STEP;
    options.gamma = 1;
    step_pair(run, &(yk_scheme_def){yk_scheme_explicit(), &options});
}

static void tight(bench *run)
{
    step_pair(run, &(yk_scheme_def){.ops = yk_scheme_tight()});
}

static void tight_aitken(bench *run)
{
    yk_tight_options options = yk_tight_options_default();
    options.acceleration = YK_ACCELERATION_AITKEN;
    step_pair(run, &(yk_scheme_def){yk_scheme_tight(), &options});
}

static void loose(bench *run)
{
    step_pair(run, &(yk_scheme_def){.ops = yk_scheme_loose()});
}

static void monolithic(bench *run)
{
    step_pair(run, &(yk_scheme_def){.ops = yk_scheme_monolithic()});
}

/* Position, velocity and wrench of both masses, recorded at every macro step. */
static void sample_pair(const pair *p, double *row)
{
    for (int i = 0; i < 2; i++) {
        const yk_port_value *value =
            yk_system_port_value(p->system, (yk_subsystem_id){i}, (yk_port_id){0});
        *row++ = value->motion.position.x;
        *row++ = value->motion.velocity.x;
        *row++ = value->wrench.force.x;
    }
}

static void explicit_recorded(bench *run)
{
    static const yk_record_channel channels[] = {
        {"left.position", "m", 1, NULL},    {"left.velocity", "m/s", 1, NULL},
        {"left.force", "N", 1, NULL},       {"right.position", "m", 1, NULL},
        {"right.velocity", "m/s", 1, NULL}, {"right.force", "N", 1, NULL}};
    pair p;
    yk_scheme_def scheme = yk_scheme_default();
    yk_record *record = NULL;
    bool good = open_pair(run, &scheme, &p) &&
                bench_check(run, yk_record_create(bench_context(run), &record));
    while (good && bench_repeat(run)) {
        yk_recorder *recorder = yk_record_recorder(record);
        good =
            bench_check(run, yk_recorder_begin(recorder, &(yk_record_header){.channels = channels,
                                                                             .channel_count = 6}));
        restart(run, &p);
        bench_start(run);
        for (int i = 0; i < STEPS; i++) {
            double row[6];
            yk_system_step(p.system, NULL);
            sample_pair(&p, row);
            yk_recorder_sample(recorder, yk_system_time(p.system), row);
        }
        bench_stop(run, STEPS);
    }
    yk_record_destroy(record);
    close_pair(&p);
}

/* The same two oscillators stepped by hand, with constant inputs: the cost without any coupling. */
static void raw_calls(bench *run)
{
    pair p;
    yk_scheme_def scheme = yk_scheme_default();
    bool good = open_pair(run, &scheme, &p);
    yk_input wrench = {.degree = 0}, motion = {.degree = 1};
    while (good && bench_repeat(run)) {
        bench_start(run);
        for (int i = 0; i < STEPS; i++) {
            p.masses[1]->ops->step(p.masses[1], i * STEP, STEP, &motion);
            p.masses[0]->ops->step(p.masses[0], i * STEP, STEP, &wrench);
        }
        bench_stop(run, STEPS);
    }
    close_pair(&p);
}

const bench_case bench_coupling[] = {
    {.name = "coupling/raw calls", .unit = "macro step", .run = raw_calls},
    {.name = "coupling/explicit gauss-seidel index-1",
     .unit = "macro step",
     .run = explicit_gauss_seidel,
     .relative_to = "coupling/raw calls"},
    {.name = "coupling/explicit gauss-seidel, every step to memory",
     .unit = "macro step",
     .run = explicit_recorded,
     .relative_to = "coupling/raw calls"},
    {.name = "coupling/explicit gauss-seidel index-3",
     .unit = "macro step",
     .run = explicit_index_3,
     .relative_to = "coupling/raw calls"},
    {.name = "coupling/explicit jacobi",
     .unit = "macro step",
     .run = explicit_jacobi,
     .relative_to = "coupling/raw calls"},
    {.name = "coupling/loose",
     .unit = "macro step",
     .run = loose,
     .relative_to = "coupling/raw calls"},
    {.name = "coupling/tight",
     .unit = "macro step",
     .run = tight,
     .relative_to = "coupling/raw calls"},
    {.name = "coupling/tight aitken",
     .unit = "macro step",
     .run = tight_aitken,
     .relative_to = "coupling/raw calls"},
    {.name = "coupling/monolithic",
     .unit = "macro step",
     .run = monolithic,
     .relative_to = "coupling/raw calls"},
    {0},
};
