/* The nonsmooth solver: a shaken particle damper and settled heaps of spheres, next to Chrono's
 * figures for the same work (best of its solvers by time at the residual stated with it, one
 * thread, on a machine of the same kind).
 *
 * Heaps start from the settled states that Chrono's were started from where those files are at
 * hand, otherwise from a packing of our own; larger ones are tiles of these side by side, without
 * the walls in between. Residuals are natural-map violations of the cone conditions in mm/s. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "math/so3.h"
#include "nonsmooth/packing.h"

/* CPU time of all threads, so that other programs on the machine do not count. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static const yk_material lead = {.friction = 0.52};
enum { LEAD_DENSITY = 11344 };

/* Sums over the measured steps. */
typedef struct tally {
    int steps;
    double cpu, wall, collision, solver;
    double contacts, sweeps, contact_sweeps;
    double rms, largest, worst, deepest;
} tally;

static bool step_and_tally(bench *run, yk_nonsmooth *world, double h, tally *t)
{
    double cpu = cpu_seconds();
    if (!bench_check(run, yk_nonsmooth_step(world, h)))
        return false;
    t->cpu += cpu_seconds() - cpu;
    yk_nonsmooth_report report;
    yk_nonsmooth_report_read(world, &report);
    t->steps++;
    t->wall += report.step_seconds;
    t->collision += report.collision_seconds;
    t->solver += report.solver.seconds;
    t->contacts += (double)report.contacts;
    t->sweeps += report.solver.iterations;
    t->contact_sweeps += (double)report.contacts * report.solver.iterations;
    t->deepest = fmax(t->deepest, report.deepest_overlap);
    return true;
}

static void tally_residual(yk_nonsmooth *world, tally *t)
{
    double rms, largest;
    yk_nonsmooth_violation(world, &rms, &largest);
    t->rms += rms;
    t->largest += largest;
    t->worst = fmax(t->worst, largest);
}

static void note_tally(bench *run, const tally *t, double chrono_ms)
{
    double n = t->steps;
    bench_note(run, "CPU-ms", 1e3 * t->cpu / n);
    bench_note(run, "contacts", t->contacts / n);
    bench_note(run, "sweeps", t->sweeps / n);
    /* The solver's fraction of the CPU time, so that a loaded machine does not count. */
    bench_note(run, "ns-per-contact-sweep", 1e9 * t->cpu * t->solver / t->wall / t->contact_sweeps);
    bench_note(run, "collision-share", t->collision / t->wall);
    bench_note(run, "residual-rms", 1e3 * t->rms / n);
    bench_note(run, "residual-max", 1e3 * t->largest / n);
    bench_note(run, "residual-worst", 1e3 * t->worst);
    if (chrono_ms <= 0)
        return;
    bench_note(run, "Chrono-ms", chrono_ms);
    bench_note(run, "times-faster", chrono_ms / (1e3 * t->cpu / n));
}

/* Particle damper ------------------------------------------------------------------------------ */

static const double SHAKE_HZ = 15.5, SHAKE_AMPLITUDE = 2e-3, DAMPER_STEP = 1e-4;

static void shake(void *user, double t, yk_motion *motion)
{
    (void)user;
    double w = 2 * YK_PI * SHAKE_HZ;
    *motion = (yk_motion){.position = {0, 0, SHAKE_AMPLITUDE * sin(w * t)},
                          .velocity = {0, 0, SHAKE_AMPLITUDE * w * cos(w * t)},
                          .orientation = {1, 0, 0, 0}};
}

static yk_nonsmooth *make_damper(bench *run, double tolerance, int sweeps, int *can)
{
    yk_context *context = bench_context(run);
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    def.envelope = 3e-5;
    def.contact_options.tolerance = tolerance;
    def.contact_options.max_iterations = sweeps;
    yk_packing_def bed = yk_packing_default();
    bed.size = yk_v3(10e-3, 0, 5.92e-3);
    bed.count = 147;
    bed.density = LEAD_DENSITY;
    bed.material = lead;
    yk_packing packing = {0};
    yk_nonsmooth *world = NULL;
    if (!bench_check(run, yk_packing_make(context, &bed, &packing)) ||
        !bench_check(run, yk_world_create(context, &def, &world)))
        return NULL;
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.fixed = true;
    *can = yk_world_add_body(world, &body);
    yk_nonsmooth_shape_def cavity = yk_nonsmooth_shape_default();
    cavity.body = (yk_body_id){*can};
    cavity.kind = bed.cavity;
    cavity.size = bed.size;
    cavity.material = lead;
    bench_added(run, yk_world_add_shape(world, &cavity));
    bench_check(run, yk_world_prescribe(world, *can, shake, NULL));
    yk_packing_add(world, &packing, yk_v3(0, 0, 0), LEAD_DENSITY, lead);
    yk_packing_destroy(context, &packing);
    return world;
}

/* Energy lost per cycle and mean force over whole cycles after the first five; a point mass gives
 * 4.578e-4 J. */
typedef struct cycle_means {
    int first, last; /* steps */
    double cycles, lost, force;
} cycle_means;

static double lost_so_far(yk_nonsmooth *world)
{
    yk_energy energy;
    yk_nonsmooth_energy(world, &energy);
    return energy.dissipated;
}

/* Chrono's time is that of its cheapest solver with a residual that is not below ours: 0.22,
 * 0.014 mm/s. */
/* sweeps: 0: the solver chooses. */
static void run_damper(bench *run, int steps, double tolerance, int sweeps, double chrono_ms)
{
    int can;
    yk_nonsmooth *world = make_damper(run, tolerance, sweeps, &can);
    if (!world)
        return;
    double per_cycle = 1 / (SHAKE_HZ * DAMPER_STEP), whole = floor(steps / per_cycle) - 5;
    cycle_means means = {.first = (int)lround(5 * per_cycle), .cycles = whole > 0 ? whole : 0};
    means.last = (int)lround((5 + means.cycles) * per_cycle);
    tally t = {0};
    while (bench_repeat(run)) {
        if (!bench_check(run, yk_nonsmooth_start(world, 0, DAMPER_STEP)))
            break;
        t = (tally){0};
        means.lost = means.force = 0;
        bench_start(run);
        for (int i = 0; i < steps; i++) {
            if (i == means.first)
                means.lost = -lost_so_far(world);
            if (i == means.last)
                means.lost += lost_so_far(world);
            if (!step_and_tally(run, world, DAMPER_STEP, &t))
                break;
            if (i >= means.first && i < means.last)
                means.force += yk_nonsmooth_reaction(world, can).force.z;
            tally_residual(world, &t);
        }
        bench_stop(run, steps);
        if (means.last == steps)
            means.lost += lost_so_far(world);
    }
    note_tally(run, &t, chrono_ms);
    if (means.cycles > 0) {
        double weight = 147 * yk_nonsmooth_body_mass(world, 1) * 9.81;
        bench_note(run, "J-per-cycle", means.lost / means.cycles);
        bench_note(run, "of-point-mass", means.lost / means.cycles / 4.578e-4);
        bench_note(run, "force-over-weight", means.force / (means.last - means.first) / weight);
    }
    yk_nonsmooth_destroy(world);
}

static void damper(bench *run)
{
    run_damper(run, 20000, 2e-4, 200, 1.983);
}

static void damper_tight(bench *run)
{
    run_damper(run, 20000, 1e-5, 200, 4.439);
}

static void damper_50(bench *run)
{
    run_damper(run, 20000, 0, 50, 1.983);
}

static void damper_auto(bench *run)
{
    run_damper(run, 20000, 0, 0, 1.983);
}

static void damper_short(bench *run)
{
    run_damper(run, 500, 2e-4, 200, 1.983);
}

/* Heaps ---------------------------------------------------------------------------------------- */

typedef struct heap {
    int columns; /* of the box: its inner width is (2.1 columns + 1.2) mm */
    int tiles;   /* along each side */
    int threads;
    int settle, steps;
    double chrono_ms;
    bool sleeps;    /* asleep when the steps are measured */
    bool visited;   /* observed while a ball begins to fall towards it */
    double rolling; /* coefficient of rolling and spinning friction (m) */
} heap;

static FILE *open_state(int columns)
{
    return fopen(columns == 10 ? YOKE_SOURCE_DIR "/../shared/reference/heaps/heap_1000.csv"
                               : YOKE_SOURCE_DIR "/../shared/reference/heaps/heap_10000.csv",
                 "r");
}

static double box_width(int columns)
{
    return (2.1 * columns + 1.2) * 1e-3;
}

static int add_tiles(yk_nonsmooth *world, const heap *h, yk_vec3 position, yk_vec3 velocity)
{
    double width = box_width(h->columns);
    for (int i = 0; i < h->tiles * h->tiles; i++) {
        yk_vec3 shift = {(i % h->tiles - 0.5 * (h->tiles - 1)) * width,
                         (i / h->tiles - 0.5 * (h->tiles - 1)) * width, 0};
        yk_material material = lead;
        material.rolling_friction = material.spinning_friction = h->rolling;
        int body =
            yk_world_add_sphere(world, yk_v3_add(position, shift), 1e-3, LEAD_DENSITY, material);
        if (body < 0)
            return body;
        yk_motion motion = {.position = yk_v3_add(position, shift),
                            .velocity = velocity,
                            .orientation = {1, 0, 0, 0}};
        yk_nonsmooth_set_motion(world, body, &motion);
    }
    return 0;
}

static bool add_stored(bench *run, yk_nonsmooth *world, const heap *h, FILE *file)
{
    yk_vec3 p, v;
    int status = 0;
    while (status == 0 &&
           fscanf(file, "%lf,%lf,%lf,%lf,%lf,%lf", &p.x, &p.y, &p.z, &v.x, &v.y, &v.z) == 6)
        status = add_tiles(world, h, yk_v3_scale(1e-3, p), yk_v3_scale(1e-3, v));
    fclose(file);
    return bench_check(run, (yk_status)status);
}

static bool add_packed(bench *run, yk_nonsmooth *world, const heap *h)
{
    yk_packing_def def = yk_packing_default();
    double width = box_width(h->columns);
    int layers = h->columns == 10 ? 10 : 25;
    def.cavity = YK_SOLID_BOX_CAVITY;
    def.size = yk_v3(width / 2, width / 2, 0.1);
    def.count = h->columns * h->columns * layers;
    def.density = LEAD_DENSITY;
    def.material = lead;
    def.settling_step = 1e-3;
    def.rest_speed = 2e-3;
    yk_packing packing;
    if (!bench_check(run, yk_packing_make(bench_context(run), &def, &packing)))
        return false;
    int status = 0;
    for (int i = 0; i < packing.count && status == 0; i++)
        status = add_tiles(world, h, yk_v3_add(packing.positions[i], yk_v3(0, 0, def.size.z)),
                           yk_v3(0, 0, 0));
    yk_packing_destroy(bench_context(run), &packing);
    return bench_check(run, (yk_status)status);
}

static yk_nonsmooth *make_heap(bench *run, const heap *h)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = h->threads;
    def.contact_options.max_iterations = 50;
    if (h->sleeps)
        def.sleeping = (yk_sleep_options){
            .speed_threshold = 0.02, .angular_speed_threshold = 20, .delay = 0.02};
    yk_nonsmooth *world = NULL;
    if (!bench_check(run, yk_world_create(bench_context(run), &def, &world)))
        return NULL;
    yk_nonsmooth_shape_def box = yk_nonsmooth_shape_default();
    double width = box_width(h->columns) * h->tiles;
    box.kind = YK_SOLID_BOX_CAVITY;
    box.size = yk_v3(width / 2, width / 2, 1);
    box.position.z = 1;
    box.open_walls = YK_WALL_TOP;
    box.material = lead;
    box.material.rolling_friction = box.material.spinning_friction = h->rolling;
    bench_added(run, yk_world_add_shape(world, &box));
    FILE *file = open_state(h->columns);
    if (file ? !add_stored(run, world, h, file) : !add_packed(run, world, h)) {
        yk_nonsmooth_destroy(world);
        return NULL;
    }
    return world;
}

/* Steps of a sleeping heap, compared with those of the same heap awake. */
static void run_sleeping(bench *run, const heap *h)
{
    const double step = 1e-3;
    yk_nonsmooth *world = make_heap(run, h);
    if (!world)
        return;
    tally t = {0};
    yk_nonsmooth_report report = {0};
    int ball =
        h->visited ? yk_world_add_sphere(world, yk_v3(0, 0, 0.5), 1e-3, LEAD_DENSITY, lead) : -1;
    bool good = bench_check(run, yk_nonsmooth_start(world, 0, step));
    yk_motion high = {.position = {0, 0, 0.5}, .orientation = {1, 0, 0, 0}};
    for (int i = 0; good && i < h->settle; i++) {
        if (ball >= 0)
            yk_nonsmooth_set_motion(world, ball, &high);
        good = bench_check(run, yk_nonsmooth_step(world, step));
    }
    while (good && bench_repeat(run)) {
        if (ball >= 0)
            yk_nonsmooth_set_motion(world, ball, &high);
        bench_start(run);
        for (int i = 0; good && i < h->steps; i++)
            good = step_and_tally(run, world, step, &t);
        bench_stop(run, h->steps);
    }
    yk_nonsmooth_report_read(world, &report);
    bench_note(run, "CPU-ms", 1e3 * t.cpu / t.steps);
    bench_note(run, "contacts", (double)report.contacts);
    bench_note(run, "asleep", (double)report.asleep);
    yk_nonsmooth_destroy(world);
}

static void run_heap(bench *run, const heap *h)
{
    const double step = 1e-3;
    yk_nonsmooth *world = make_heap(run, h);
    if (!world)
        return;
    tally t = {0}, ignored = {0}, residual = {0};
    bool good = bench_check(run, yk_nonsmooth_start(world, 0, step));
    for (int i = 0; good && i < h->settle; i++)
        good = step_and_tally(run, world, step, &ignored);
    while (good && bench_repeat(run)) {
        bench_start(run);
        for (int i = 0; good && i < h->steps; i++)
            good = step_and_tally(run, world, step, &t);
        bench_stop(run, h->steps);
    }
    for (int i = 0; good && i < 5; i++) {
        good = step_and_tally(run, world, step, &ignored);
        tally_residual(world, &residual);
    }
    t.rms = residual.rms / 5 * t.steps;
    t.largest = residual.largest / 5 * t.steps;
    t.worst = residual.worst;
    note_tally(run, &t, h->chrono_ms);
    bench_note(run, "spheres", yk_nonsmooth_body_count(world));
    bench_note(run, "bytes-per-sphere",
               (double)yk_nonsmooth_memory(world) / yk_nonsmooth_body_count(world));
    bench_note(run, "deepest-um", 1e6 * t.deepest);
    yk_nonsmooth_destroy(world);
}

/* A settled heap over very many steps: what its overlaps and its mechanical energy, kinetic and
 * potential, do. Energy may pass from one to the other where a sphere still rolls, so their sum
 * counts: its largest rise above its least value before is what was created. */
static void run_settled(bench *run, int settle, int steps)
{
    const double step = 1e-3;
    yk_nonsmooth *world = make_heap(run, &(heap){.columns = 10, .tiles = 1, .threads = 1});
    if (!world)
        return;
    bool good = bench_check(run, yk_nonsmooth_start(world, 0, step));
    for (int i = 0; good && i < settle; i++)
        good = bench_check(run, yk_nonsmooth_step(world, step));
    yk_energy energy;
    yk_nonsmooth_energy(world, &energy);
    double begin = energy.kinetic + energy.potential, least = begin, rise = 0,
           lost = energy.dissipated;
    double deepest[2] = {0}; /* in the first and the last tenth */
    bench_repeat(run);
    bench_start(run);
    for (int i = 0; good && i < steps; i++) {
        tally t = {0};
        good = step_and_tally(run, world, step, &t);
        yk_nonsmooth_energy(world, &energy);
        double now = energy.kinetic + energy.potential;
        least = fmin(least, now);
        rise = fmax(rise, now - least);
        if (i < steps / 10)
            deepest[0] = fmax(deepest[0], t.deepest);
        if (i >= steps - steps / 10)
            deepest[1] = fmax(deepest[1], t.deepest);
    }
    bench_stop(run, steps);
    bench_note(run, "steps", steps);
    bench_note(run, "kinetic-J", energy.kinetic);
    bench_note(run, "potential-J", energy.potential);
    bench_note(run, "energy-change-J", energy.kinetic + energy.potential - begin);
    bench_note(run, "largest-rise-J", rise);
    bench_note(run, "dissipated-J", energy.dissipated - lost);
    bench_note(run, "deepest-first-tenth-m", deepest[0]);
    bench_note(run, "deepest-last-tenth-m", deepest[1]);
    yk_nonsmooth_destroy(world);
}

static void settled_long(bench *run)
{
    run_settled(run, 1000, 100000);
}

static void heap_1k(bench *run)
{
    run_heap(
        run,
        &(heap){
            .columns = 10, .tiles = 1, .threads = 1, .settle = 20, .steps = 20, .chrono_ms = 19.0});
}

static void heap_1k_rolling(bench *run)
{
    run_heap(
        run,
        &(heap){
            .columns = 10, .tiles = 1, .threads = 1, .settle = 20, .steps = 20, .rolling = 1e-5});
}

static void heap_1k_asleep(bench *run)
{
    run_sleeping(
        run,
        &(heap){
            .columns = 10, .tiles = 1, .threads = 1, .settle = 400, .steps = 2000, .sleeps = true});
}

static void heap_1k_visited(bench *run)
{
    run_sleeping(run, &(heap){.columns = 10,
                              .tiles = 1,
                              .threads = 1,
                              .settle = 400,
                              .steps = 30,
                              .sleeps = true,
                              .visited = true});
}

static void heap_10k(bench *run)
{
    run_heap(
        run,
        &(heap){
            .columns = 20, .tiles = 1, .threads = 1, .settle = 20, .steps = 10, .chrono_ms = 264});
}

static void heap_10k_2(bench *run)
{
    run_heap(run, &(heap){.columns = 20, .tiles = 1, .threads = 2, .settle = 20, .steps = 10});
}

static void heap_100k(bench *run)
{
    run_heap(run, &(heap){.columns = 10, .tiles = 10, .threads = 1, .settle = 5, .steps = 2});
}

static void heap_100k_2(bench *run)
{
    run_heap(run, &(heap){.columns = 10, .tiles = 10, .threads = 2, .settle = 5, .steps = 2});
}

static void heap_100k_4(bench *run)
{
    run_heap(run, &(heap){.columns = 10, .tiles = 10, .threads = 4, .settle = 5, .steps = 5});
}

static void heap_100k_16(bench *run)
{
    run_heap(run, &(heap){.columns = 10, .tiles = 10, .threads = 16, .settle = 5, .steps = 10});
}

static void heap_1m_16(bench *run)
{
    run_heap(run, &(heap){.columns = 20, .tiles = 10, .threads = 16, .settle = 3, .steps = 3});
}

static void heap_1m(bench *run)
{
    run_heap(run, &(heap){.columns = 20, .tiles = 10, .threads = 1, .settle = 3, .steps = 1});
}

static void heap_1m_2(bench *run)
{
    run_heap(run, &(heap){.columns = 20, .tiles = 10, .threads = 2, .settle = 3, .steps = 1});
}

/* Falling spheres ------------------------------------------------------------------------------ */

/* A loose lattice of spheres that falls into a box, by numbers of threads. */
typedef struct rain {
    int columns, layers;
    int settle, steps;
} rain;

static yk_nonsmooth *make_rain(bench *run, const rain *r, int threads)
{
    const double radius = 1e-3, pitch = 2.05e-3, density = 2500;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = threads;
    def.contact_options.max_iterations = 50;
    yk_nonsmooth *world = NULL;
    if (!bench_check(run, yk_world_create(bench_context(run), &def, &world)))
        return NULL;

    yk_nonsmooth_shape_def box = yk_nonsmooth_shape_default();
    double half = 0.5 * pitch * r->columns + radius;
    box.kind = YK_SOLID_BOX_CAVITY;
    box.size = yk_v3(half, half, pitch * r->layers);
    box.position.z = pitch * r->layers;
    box.open_walls = YK_WALL_TOP;
    box.material = lead;
    bench_added(run, yk_world_add_shape(world, &box));

    /* Every other layer is shifted, and all spheres by a little. */
    uint64_t seed = 1;
    for (int i = 0; i < r->columns * r->columns * r->layers; i++) {
        int place[3] = {i % r->columns, i / r->columns % r->columns, i / r->columns / r->columns};
        double side = 0.5 * (r->columns - 1);
        double shift = place[2] % 2 * 0.5 * radius;
        yk_vec3 at = {pitch * (place[0] - side) + shift, pitch * (place[1] - side) + shift,
                      pitch * (place[2] + 0.5)};
        yk_vec3 moved = {yk_random(&seed) - 0.5, yk_random(&seed) - 0.5, yk_random(&seed) - 0.5};
        at = yk_v3_axpy(0.04 * radius, moved, at);
        bench_added(run, yk_world_add_sphere(world, at, radius, density, lead));
    }

    return world;
}

static void run_rain(bench *run, const rain *r)
{
    static const struct {
        int threads;
        const char *ms, *energy;
    } rows[] = {{1, "ms", "J"},
                {2, "2-threads-ms", "2-threads-J"},
                {4, "4-threads-ms", "4-threads-J"},
                {8, "8-threads-ms", "8-threads-J"},
                {16, "16-threads-ms", "16-threads-J"}};
    const double h = 1e-3;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    for (size_t k = 0; k < sizeof rows / sizeof *rows && rows[k].threads <= processors; k++) {
        yk_nonsmooth *world = make_rain(run, r, rows[k].threads);
        if (!world)
            return;

        tally t = {0}, ignored = {0};
        bool good = bench_check(run, yk_nonsmooth_start(world, 0, h));
        for (int i = 0; good && i < r->settle; i++)
            good = step_and_tally(run, world, h, &ignored);
        if (k == 0)
            bench_start(run);
        for (int i = 0; good && i < r->steps; i++)
            good = step_and_tally(run, world, h, &t);
        if (k == 0)
            bench_stop(run, r->steps);

        /* Equal for any number of threads. */
        yk_energy energy;
        yk_nonsmooth_energy(world, &energy);
        bench_note(run, rows[k].ms, 1e3 * t.wall / r->steps);
        bench_note(run, rows[k].energy, energy.kinetic + energy.potential);
        yk_nonsmooth_destroy(world);
    }
}

static void rain_10k(bench *run)
{
    run_rain(run, &(rain){.columns = 20, .layers = 25, .settle = 200, .steps = 100});
}

static void rain_100k(bench *run)
{
    run_rain(run, &(rain){.columns = 50, .layers = 40, .settle = 30, .steps = 20});
}

static void rain_1m(bench *run)
{
    run_rain(run, &(rain){.columns = 100, .layers = 100, .settle = 4, .steps = 4});
}

/* Bricks --------------------------------------------------------------------------------------- */

/* Structures of bricks at rest, which must not move. */

static const yk_vec3 BRICK_HALF = {0.1, 0.05, 0.03};

static void add_brick(bench *run, yk_nonsmooth *world, double x, double length, int course)
{
    static const double density = 1800;
    yk_vec3 half = BRICK_HALF;
    half.x *= length;
    double mass = 8 * density * half.x * half.y * half.z;
    double xx = half.x * half.x, yy = half.y * half.y, zz = half.z * half.z;
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.position = yk_v3(x, 0, (2 * course + 1) * half.z);
    body.mass = mass;
    body.inertia = yk_m3_scale(mass / 3, yk_m3_diagonal(yy + zz, xx + zz, xx + yy));

    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){yk_world_add_body(world, &body)};
    bench_added(run, shape.body.index);
    shape.kind = YK_SOLID_BOX;
    shape.size = half;
    shape.material = (yk_material){.friction = 0.6};
    bench_added(run, yk_world_add_shape(world, &shape));
}

/* Courses of bricks with a joint of 1 mm between neighbors, each course half a brick further than the
 * one below it. Each has `fewer` bricks less, or every other one has half bricks at its ends. */
typedef struct masonry {
    int courses, bricks, fewer;
    int sweeps; /* 0: the solver chooses */
} masonry;

static void run_masonry(bench *run, const masonry *m)
{
    const double h = 1e-3;
    const int settle = 100, steps = 2000;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    def.contact_options.max_iterations = m->sweeps;
    yk_nonsmooth *world = NULL;
    if (!bench_check(run, yk_world_create(bench_context(run), &def, &world)))
        return;

    yk_nonsmooth_shape_def floor = yk_nonsmooth_shape_default();
    floor.kind = YK_SOLID_PLANE;
    floor.material = (yk_material){.friction = 0.6};
    bench_added(run, yk_world_add_shape(world, &floor));
    int count = 0;
    for (int course = 0; course < m->courses; course++) {
        int bricks = m->bricks - course * m->fewer;
        double pitch = 2 * BRICK_HALF.x + 1e-3;
        bool halves = !m->fewer && m->bricks > 1 && course % 2 == 1;
        double first = halves ? 0.5 : 0.5 * m->fewer * course;
        for (int i = 0; i < bricks - halves; i++, count++)
            add_brick(run, world, pitch * (first + i), 1, course);

        /* A joint between two halves makes them as long as a whole brick. */
        for (int end = 0; halves && end < 2; end++, count++) {
            double length = 0.5 - 0.25e-3 / BRICK_HALF.x;
            double inset = BRICK_HALF.x * (1 - length);
            double x = end == 0 ? -inset : pitch * (bricks - 1) + inset;
            add_brick(run, world, x, length, course);
        }
    }

    yk_motion *begin = calloc((size_t)count, sizeof *begin);
    bench_check(run, begin ? yk_nonsmooth_start(world, 0, h) : YK_ERROR_MEMORY);
    for (int i = 0; i < count && begin; i++)
        yk_nonsmooth_body_motion(world, i, &begin[i]);

    tally t = {0};
    double drift = 0, speed = 0;
    for (int i = 0; begin && i < steps; i++) {
        if (i == settle)
            bench_start(run);
        if (!step_and_tally(run, world, h, &t))
            break;
        if (i < steps - 100)
            continue;

        /* The largest speed of the last 0.1 s. */
        tally_residual(world, &t);
        for (int k = 0; k < count; k++) {
            yk_motion now;
            yk_nonsmooth_body_motion(world, k, &now);
            speed = fmax(speed, yk_v3_norm(now.velocity));
            drift = fmax(drift, yk_v3_norm(yk_v3_sub(now.position, begin[k].position)));
        }
    }
    bench_stop(run, steps - settle);
    bench_note(run, "bricks", count);
    bench_note(run, "CPU-ms", 1e3 * t.cpu / t.steps);
    bench_note(run, "contacts", t.contacts / t.steps);
    bench_note(run, "us-per-contact", 1e6 * t.cpu / t.contacts);
    bench_note(run, "collision-share", t.collision / t.wall);
    bench_note(run, "residual-max-mm/s", 1e3 * t.worst);
    bench_note(run, "moved-mm", 1e3 * drift);
    bench_note(run, "speed-mm/s", 1e3 * speed);
    free(begin);
    yk_nonsmooth_destroy(world);
}

static void brick_tower(bench *run)
{
    run_masonry(run, &(masonry){.courses = 36, .bricks = 1});
}

static void brick_tower_50(bench *run)
{
    run_masonry(run, &(masonry){.courses = 36, .bricks = 1, .sweeps = 50});
}

static void brick_wall(bench *run)
{
    run_masonry(run, &(masonry){.courses = 24, .bricks = 24});
}

static void brick_wall_50(bench *run)
{
    run_masonry(run, &(masonry){.courses = 24, .bricks = 24, .sweeps = 50});
}

static void brick_pyramid(bench *run)
{
    run_masonry(run, &(masonry){.courses = 45, .bricks = 45, .fewer = 1});
}

static void brick_pyramid_50(bench *run)
{
    run_masonry(run, &(masonry){.courses = 45, .bricks = 45, .fewer = 1, .sweeps = 50});
}

/* Rotated boxes that fall into a box and come to rest in an unordered heap. */
static void run_rubble(bench *run, int sweeps)
{
    const double h = 1e-3;
    const int columns = 6, layers = 8, steps = 1000;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    def.contact_options.max_iterations = sweeps;
    yk_nonsmooth *world = NULL;
    if (!bench_check(run, yk_world_create(bench_context(run), &def, &world)))
        return;

    yk_nonsmooth_shape_def walls = yk_nonsmooth_shape_default();
    walls.kind = YK_SOLID_BOX_CAVITY;
    walls.size = yk_v3(0.8, 0.8, 2);
    walls.position.z = 2;
    walls.open_walls = YK_WALL_TOP;
    walls.material = (yk_material){.friction = 0.6};
    bench_added(run, yk_world_add_shape(world, &walls));
    for (int i = 0; i < columns * columns * layers; i++) {
        int x = i % columns, y = i / columns % columns, z = i / columns / columns;
        yk_vec3 half = {0.08 + 0.02 * sin(i), 0.07 + 0.02 * cos(3 * i), 0.06 + 0.02 * sin(7 * i)};
        double mass = 8 * 2000 * half.x * half.y * half.z;
        double xx = half.x * half.x, yy = half.y * half.y, zz = half.z * half.z;
        yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
        double pitch = 0.26;
        body.position = yk_v3(pitch * (x - 0.5 * (columns - 1)), pitch * (y - 0.5 * (columns - 1)),
                              0.15 + pitch * z);
        body.orientation = yk_so3_exp(yk_v3(sin(i), cos(2 * i), sin(5 * i)));
        body.mass = mass;
        body.inertia = yk_m3_scale(mass / 3, yk_m3_diagonal(yy + zz, xx + zz, xx + yy));
        yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
        shape.body = (yk_body_id){yk_world_add_body(world, &body)};
        bench_added(run, shape.body.index);
        shape.kind = YK_SOLID_BOX;
        shape.size = half;
        shape.material = (yk_material){.friction = 0.6};
        bench_added(run, yk_world_add_shape(world, &shape));
    }

    tally t = {0}, last = {0};
    bool good = bench_check(run, yk_nonsmooth_start(world, 0, h));
    bench_start(run);
    for (int i = 0; good && i < steps; i++) {
        good = step_and_tally(run, world, h, &t);
        tally_residual(world, &t);
        if (i >= steps - 100)
            tally_residual(world, &last);
    }
    bench_stop(run, steps);
    note_tally(run, &t, 0);
    bench_note(run, "residual-at-end-mm/s", 1e3 * last.worst);
    double speed = 0;
    for (int k = 0; k < columns * columns * layers; k++) {
        yk_motion now;
        yk_nonsmooth_body_motion(world, k, &now);
        speed = fmax(speed, yk_v3_norm(now.velocity));
    }
    bench_note(run, "speed-at-end-mm/s", 1e3 * speed);
    yk_nonsmooth_destroy(world);
}

static void rubble(bench *run)
{
    run_rubble(run, 0);
}

static void rubble_50(bench *run)
{
    run_rubble(run, 50);
}

const bench_case bench_nonsmooth[] = {
    {"nonsmooth/damper-short", "step", damper_short, NULL, false},
    {"nonsmooth/damper", "step", damper, NULL, true},
    {"nonsmooth/damper-tight", "step", damper_tight, "nonsmooth/damper", true},
    {"nonsmooth/damper-auto", "step", damper_auto, "nonsmooth/damper", true},
    {"nonsmooth/damper-50-sweeps", "step", damper_50, "nonsmooth/damper", true},
    {"nonsmooth/heap-1k", "step", heap_1k, NULL, false},
    {"nonsmooth/heap-1k-rolling", "step", heap_1k_rolling, "nonsmooth/heap-1k", false},
    {"nonsmooth/heap-1k-asleep", "step", heap_1k_asleep, "nonsmooth/heap-1k", false},
    {"nonsmooth/heap-1k-one-awake", "step", heap_1k_visited, "nonsmooth/heap-1k", false},
    {"nonsmooth/settled-1k", "step", settled_long, NULL, true},
    {"nonsmooth/brick-tower", "step", brick_tower, NULL, false},
    {"nonsmooth/brick-tower-50-sweeps", "step", brick_tower_50, "nonsmooth/brick-tower", false},
    {"nonsmooth/brick-wall", "step", brick_wall, NULL, true},
    {"nonsmooth/brick-wall-50-sweeps", "step", brick_wall_50, "nonsmooth/brick-wall", true},
    {"nonsmooth/brick-pyramid", "step", brick_pyramid, NULL, true},
    {"nonsmooth/brick-pyramid-50-sweeps", "step", brick_pyramid_50, "nonsmooth/brick-pyramid",
     true},
    {"nonsmooth/rubble", "step", rubble, NULL, true},
    {"nonsmooth/rubble-50-sweeps", "step", rubble_50, "nonsmooth/rubble", true},
    {"nonsmooth/heap-10k", "step", heap_10k, "nonsmooth/heap-1k", true},
    {"nonsmooth/heap-10k-2-threads", "step", heap_10k_2, "nonsmooth/heap-10k", true},
    {"nonsmooth/heap-100k", "step", heap_100k, "nonsmooth/heap-10k", true},
    {"nonsmooth/heap-100k-2-threads", "step", heap_100k_2, "nonsmooth/heap-100k", true},
    {"nonsmooth/heap-100k-4-threads", "step", heap_100k_4, "nonsmooth/heap-100k", true},
    {"nonsmooth/heap-100k-16-threads", "step", heap_100k_16, "nonsmooth/heap-100k", true},
    {"nonsmooth/rain-10k", "step", rain_10k, NULL, true},
    {"nonsmooth/rain-100k", "step", rain_100k, "nonsmooth/rain-10k", true},
    {"nonsmooth/rain-1M", "step", rain_1m, "nonsmooth/rain-100k", true},
    {"nonsmooth/heap-1M", "step", heap_1m, "nonsmooth/heap-100k", true},
    {"nonsmooth/heap-1M-2-threads", "step", heap_1m_2, "nonsmooth/heap-1M", true},
    {"nonsmooth/heap-1M-16-threads", "step", heap_1m_16, "nonsmooth/heap-1M", true},
    {0},
};
