/* Coulomb problems of dense heaps, walls and towers, to the residual 1e-8 with the default options
 * of the contact solver.
 *
 * Each case simulates falling or standing bodies for some steps with Gauss-Seidel, takes the
 * problem of the last step, and solves it again from zero. Walls and towers have many more contacts
 * than their bodies have degrees of freedom, which is hard at large friction. The notes contain
 * success, residual and number of factorizations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

typedef enum scene_kind { SPHERES, CAPSULES, MIXED, WALL, STACKS, TOWER } scene_kind;

typedef struct scene {
    scene_kind kind;
    int count;
    double mu;
    int steps;
    double spread; /* ratio of the largest density to the smallest */
} scene;

/* In [0, 1), the same on every machine. */
static double number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static yk_vec3 numbers(uint64_t *state)
{
    double x = number(state), y = number(state), z = number(state);
    return yk_v3(x, y, z);
}

static void add_solid(bench *run, yk_nonsmooth *world, yk_solid_kind kind, yk_vec3 size, yk_vec3 at,
                      yk_vec3 rotation, double density, double mu)
{
    double x = size.x, y = size.y, z = size.z, ball = 4 * YK_PI / 3 * x * x * x;
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.position = at;
    body.orientation = yk_so3_exp(rotation);
    if (kind == YK_SOLID_BOX) {
        body.mass = density * 8 * x * y * z;
        body.inertia =
            yk_m3_scale(body.mass / 3, yk_m3_diagonal(y * y + z * z, x * x + z * z, x * x + y * y));
    } else if (kind == YK_SOLID_SPHERE) {
        body.mass = density * ball;
        body.inertia = yk_m3_scale(0.4 * body.mass * x * x, yk_m3_identity());
    } else {
        double length = 2 * (x + z);
        body.mass = density * (2 * YK_PI * x * x * z + ball);
        double across = body.mass * (x * x / 4 + length * length / 12);
        body.inertia = yk_m3_diagonal(across, across, 0.5 * body.mass * x * x);
    }
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){yk_world_add_body(world, &body)};
    shape.kind = kind;
    shape.size = size;
    shape.material.friction = mu;
    if (bench_added(run, shape.body.index))
        bench_added(run, yk_world_add_shape(world, &shape));
}

static void add_ground(bench *run, yk_nonsmooth *world, yk_solid_kind kind, double half, double mu)
{
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.kind = kind;
    if (kind == YK_SOLID_BOX_CAVITY) {
        shape.size = yk_v3(half, half, 50);
        shape.position.z = 50;
        shape.open_walls = YK_WALL_TOP;
    }
    shape.material.friction = mu;
    bench_added(run, yk_world_add_shape(world, &shape));
}

/* Loose bodies over an open box. */
static void add_heap(bench *run, yk_nonsmooth *world, const scene *s)
{
    uint64_t state = 1;
    int columns = (int)ceil(cbrt(s->count));
    double half = 0.05775 * columns;
    add_ground(run, world, YK_SOLID_BOX_CAVITY, half, s->mu);
    for (int i = 0; i < s->count; i++) {
        yk_vec3 at = {0.112 * (i % columns), 0.112 * (i / columns % columns),
                      0.112 * (i / columns / columns)};
        yk_vec3 jitter = numbers(&state), rotation = numbers(&state);
        at = yk_v3_add(at,
                       yk_v3(0.06 - half + 0.004 * jitter.x, 0.06 - half + 0.004 * jitter.y, 0.06));
        double density = 1000 * pow(s->spread, number(&state)), r = 0.045 + 0.005 * number(&state);
        int kind = s->kind == SPHERES ? 0 : s->kind == CAPSULES ? 2 : i % 3;
        if (kind == 0)
            add_solid(run, world, YK_SOLID_SPHERE, yk_v3(r, 0, 0), at, yk_v3(0, 0, 0), density,
                      s->mu);
        else if (kind == 1)
            add_solid(run, world, YK_SOLID_BOX, yk_v3(0.7 * r, 0.6 * r, 0.8 * r), at, rotation,
                      density, s->mu);
        else
            add_solid(run, world, YK_SOLID_CAPSULE, yk_v3(0.5 * r, 0.5 * r, 0.5 * r), at,
                      yk_v3_scale(2, rotation), density, s->mu);
    }
}

/* Boxes on a floor: a wall of bricks, stacks of ten side by side, or a tower of planks in crossed
 * layers of three. */
static void add_boxes(bench *run, yk_nonsmooth *world, const scene *s)
{
    uint64_t state = 1;
    int rows = (int)sqrt(s->count), columns = (s->count + rows - 1) / rows;
    add_ground(run, world, YK_SOLID_PLANE, 0, s->mu);
    for (int i = 0; i < s->count; i++) {
        yk_vec3 size = {0.1, 0.1, 0.1},
                at = {0.201 * (i / 10 % 10), 0.201 * (i / 100), 0.1 + 0.2 * (i % 10)};
        double rotation = 0;
        if (s->kind == WALL) {
            size = yk_v3(0.1, 0.05, 0.05);
            at = yk_v3(0.2 * (i % columns) + (i / columns % 2 ? 0.1 : 0), 0,
                       0.05 + 0.1 * (i / columns));
        } else if (s->kind == TOWER) {
            double across = 0.05 * (i % 3 - 1), height = 0.004 + 0.008 * (i / 3);
            bool crossed = i / 3 % 2;
            size = yk_v3(0.06, 0.012, 0.004);
            at = crossed ? yk_v3(across, 0, height) : yk_v3(0, across, height);
            rotation = crossed ? YK_PI / 2 : 0;
        }
        double density = 1000 * pow(s->spread, number(&state));
        add_solid(run, world, YK_SOLID_BOX, size, at, yk_v3(0, 0, rotation), density, s->mu);
    }
}

/* The problem of the last step, which the network holds with its impulses: u = W r + q. */
static bool take_problem(bench *run, const scene *s, yk_contact_problem *problem)
{
    const double step = 2e-3;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    def.contact_options.friction_model = YK_FRICTION_COULOMB;
    def.contact_options.max_iterations = 100;
    def.contact_capacity = 40 * s->count;
    yk_nonsmooth *world;
    if (!bench_check(run, yk_world_create(bench_context(run), &def, &world)))
        return false;
    if (s->kind <= MIXED)
        add_heap(run, world, s);
    else
        add_boxes(run, world, s);
    bool good = bench_check(run, yk_nonsmooth_start(world, 0, step));
    for (int i = 0; good && i < s->steps; i++)
        good = bench_check(run, yk_nonsmooth_step(world, step));
    good = good && bench_check(run, yk_network_assemble(world->problem.network, problem));
    if (good) {
        size_t rows = (size_t)problem->row_count + 1;
        double *r = calloc(rows, sizeof *r), *change = calloc(rows, sizeof *change);
        yk_network_take_impulses(world->problem.network, problem, r);
        yk_contact_multiply(problem, r, change);
        for (int k = 0; k < problem->row_count; k++)
            problem->q[k] -= change[k];
        free(r);
        free(change);
    }
    yk_nonsmooth_destroy(world);
    return good;
}

static void run_scene(bench *run, const scene *s)
{
    yk_contact_problem problem;
    if (!take_problem(run, s, &problem))
        return;
    yk_contact_options options = yk_contact_options_default();
    yk_contact_report report = {0};
    double *r = calloc((size_t)problem.row_count + 1, sizeof *r);
    while (bench_repeat(run)) {
        bench_start(run);
        yk_contact_solve(bench_context(run), &problem, &options, r, NULL, &report);
        bench_stop(run, problem.contact_count);
        if (report.seconds > 1)
            break; /* once is enough */
    }
    bench_note(run, "contacts", problem.contact_count);
    bench_note(run, "solved", report.residual <= options.tolerance);
    bench_note(run, "residual", report.residual);
    bench_note(run, "steps", report.iterations);
    bench_note(run, "seconds", report.seconds);
    free(r);
    yk_contact_problem_destroy(bench_context(run), &problem);
}

#define SCENE(function, ...)                         \
    static void function(bench *run)                 \
    {                                                \
        run_scene(run, &(const scene){__VA_ARGS__}); \
    }

SCENE(spheres_low, SPHERES, 200, 0.3, 600, 1)
SCENE(spheres_high, SPHERES, 200, 0.8, 600, 1)
SCENE(spheres_smooth, SPHERES, 550, 0, 600, 1)
SCENE(spheres_masses, SPHERES, 200, 0.5, 600, 1e4)
SCENE(spheres_many, SPHERES, 800, 0.3, 600, 1)
SCENE(mixed, MIXED, 150, 0.5, 600, 1)
SCENE(mixed_masses, MIXED, 150, 0.5, 600, 1e4)
SCENE(mixed_many, MIXED, 450, 0.5, 400, 1)
SCENE(capsules, CAPSULES, 200, 0.5, 500, 1)
SCENE(capsules_many, CAPSULES, 500, 0.7, 300, 1)
SCENE(wall_smooth, WALL, 49, 0, 20, 1)
SCENE(wall_low, WALL, 49, 0.3, 20, 1)
SCENE(wall_high, WALL, 49, 0.8, 20, 1)
SCENE(stacks, STACKS, 40, 0.5, 30, 1)
SCENE(tower, TOWER, 30, 0.3, 100, 1)

const bench_case bench_coulomb[] = {
    {"coulomb/spheres-200-mu-0.3", "contact", spheres_low, NULL, true},
    {"coulomb/spheres-200-mu-0.8", "contact", spheres_high, NULL, true},
    {"coulomb/spheres-200-masses", "contact", spheres_masses, NULL, true},
    {"coulomb/spheres-550-mu-0", "contact", spheres_smooth, NULL, true},
    {"coulomb/spheres-800-mu-0.3", "contact", spheres_many, NULL, true},
    {"coulomb/mixed-150-mu-0.5", "contact", mixed, NULL, true},
    {"coulomb/mixed-150-masses", "contact", mixed_masses, NULL, true},
    {"coulomb/mixed-450-mu-0.5", "contact", mixed_many, NULL, true},
    {"coulomb/capsules-200-mu-0.5", "contact", capsules, NULL, true},
    {"coulomb/capsules-500-mu-0.7", "contact", capsules_many, NULL, true},
    {"coulomb/stacks-40-mu-0.5", "contact", stacks, NULL, true},
    {"coulomb/wall-49-mu-0", "contact", wall_smooth, NULL, true},
    {"coulomb/wall-49-mu-0.3", "contact", wall_low, NULL, true},
    {"coulomb/wall-49-mu-0.8", "contact", wall_high, NULL, true},
    {"coulomb/tower-30-mu-0.3", "contact", tower, NULL, true},
    {0},
};
