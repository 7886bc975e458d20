/* Contact solvers: what a contact costs per Gauss-Seidel sweep in networks of spheres, and the
 * reference problems. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "contact/network.h"
#include "contact/read.h"
#include "contact/solver.h"

/* Spheres in layers over a floor, each in the hollow between four below it: four contacts per
 * sphere. Numbered in bricks of 8 x 8 x 8, as in a simulation that sorts its bodies by cells.
 * `edge` is a multiple of 8. */
typedef struct heap {
    int edge;
    size_t nodes, contacts;
    yk_pair *pairs;
    yk_contact *data;
} heap;

enum { BRICK = 8 };

static int32_t brick_number(int edge, int x, int y, int z)
{
    int bricks = edge / BRICK;
    int brick = (z / BRICK * bricks + y / BRICK) * bricks + x / BRICK;
    return brick * BRICK * BRICK * BRICK + (z % BRICK * BRICK + y % BRICK) * BRICK + x % BRICK;
}

static yk_vec3 sphere_place(int x, int y, int z)
{
    const double pitch = 2.1, height = 1.34, odd = z % 2 ? 0.5 : 0;
    double jitter = 0.01 * sin(12.9898 * x + 78.233 * y + 37.719 * z);
    return yk_v3(pitch * (x + odd) + jitter, pitch * (y + odd) - jitter, 1 + height * z + jitter);
}

static void add_contacts(heap *h, int x, int y, int z)
{
    int32_t own = brick_number(h->edge, x, y, z);
    if (z == 0) {
        h->pairs[h->contacts] = (yk_pair){own, YK_NETWORK_NONE, YK_PAIR_ROUND};
        h->data[h->contacts++] = (yk_contact){.normal = {0, 0, 1}, .mu = 0.5};
        return;
    }
    int low = z % 2 ? 0 : -1;
    for (int dx = low; dx < low + 2; dx++)
        for (int dy = low; dy < low + 2; dy++) {
            if (x + dx < 0 || y + dy < 0 || x + dx >= h->edge || y + dy >= h->edge)
                continue;
            yk_vec3 d = yk_v3_sub(sphere_place(x, y, z), sphere_place(x + dx, y + dy, z - 1));
            double length = yk_v3_norm(d);
            h->pairs[h->contacts] =
                (yk_pair){own, brick_number(h->edge, x + dx, y + dy, z - 1), YK_PAIR_ROUND};
            h->data[h->contacts++] = (yk_contact){.normal = yk_v3_scale(1 / length, d),
                                                  .mu = 0.5,
                                                  .bias = length - 2,
                                                  .arm_a = yk_v3_scale(-1 / length, d),
                                                  .arm_b = yk_v3_scale(1 / length, d)};
        }
}

static bool heap_create(bench *run, int edge, int kind, heap *h)
{
    size_t n = (size_t)edge * (size_t)edge * (size_t)edge;
    *h = (heap){.edge = edge,
                .nodes = n,
                .pairs = calloc(4 * n, sizeof *h->pairs),
                .data = calloc(4 * n, sizeof *h->data)};
    if (!h->pairs || !h->data) {
        bench_fail(run, "no memory for %zu spheres", n);
        return false;
    }
    for (int bz = 0; bz < edge; bz += BRICK)
        for (int by = 0; by < edge; by += BRICK)
            for (int bx = 0; bx < edge; bx += BRICK)
                for (int i = 0; i < BRICK * BRICK * BRICK; i++)
                    add_contacts(h, bx + i % BRICK, by + i / BRICK % BRICK, bz + i / BRICK / BRICK);
    for (size_t i = 0; i < h->contacts; i++)
        h->pairs[i].kind = kind;
    return true;
}

static void heap_destroy(heap *h)
{
    free(h->pairs);
    free(h->data);
}

static bool fill_nodes(bench *run, yk_network *network, const heap *h)
{
    yk_network_node *nodes = yk_network_nodes(network, h->nodes);
    if (!nodes)
        bench_fail(run, "%s", yk_last_message(bench_context(run)));
    for (size_t i = 0; nodes && i < h->nodes; i++)
        nodes[i] = yk_network_sphere(yk_v3(0, 0, -0.1), yk_v3(0, 0, 0), 1, 1, 2.5);
    return nodes != NULL;
}

static bool fill_contacts(bench *run, yk_network *network, const heap *h)
{
    if (!bench_check(run, yk_network_plan(network, h->pairs, h->contacts)))
        return false;
    for (size_t i = 0; i < h->contacts; i++)
        yk_network_set(network, i, &h->data[i]);
    return true;
}

/* Enough sweeps that their cost dominates that of start and residual. */
static void sweep_heap(bench *run, int edge, int kind, int threads, int sweeps)
{
    heap h;
    yk_pool *pool = NULL;
    yk_network *network = NULL;
    if (!heap_create(run, edge, kind, &h))
        return;
    yk_network_def def = yk_network_default();
    if (threads > 1 && bench_check(run, yk_pool_create(bench_context(run), threads, &pool)))
        def.pool = pool;
    yk_contact_options options = yk_contact_options_default();
    options.method = YK_CONTACT_GAUSS_SEIDEL;
    options.friction_model = YK_FRICTION_CONVEX_CONE;
    options.tolerance = 0;
    options.max_iterations = sweeps;
    yk_contact_report report = {0};
    bool ready = bench_check(run, yk_network_create(bench_context(run), &def, &network)) &&
                 fill_nodes(run, network, &h) && fill_contacts(run, network, &h);
    while (ready && bench_repeat(run)) {
        fill_nodes(run, network, &h);
        bench_start(run);
        bench_check(run, yk_network_solve(network, &options, &report));
        bench_stop(run, (double)h.contacts * sweeps);
    }
    if (ready) {
        bench_note(run, "contacts", (double)h.contacts);
        bench_note(run, "bytes/contact",
                   ((double)yk_network_memory(network) - 64. * (double)h.nodes) /
                       (double)h.contacts);
        bench_note(run, "violation", report.residual);
    }
    yk_network_destroy(network);
    yk_pool_destroy(pool);
    heap_destroy(&h);
}

static void sweep_general(bench *run)
{
    sweep_heap(run, 8, YK_PAIR_GENERAL, 1, 50);
}

static void sweep_round(bench *run)
{
    sweep_heap(run, 8, YK_PAIR_ROUND, 1, 200);
}

static void sweep_33k(bench *run)
{
    sweep_heap(run, 32, YK_PAIR_ROUND, 1, 20);
}

static void sweep_33k_two(bench *run)
{
    sweep_heap(run, 32, YK_PAIR_ROUND, 2, 20);
}

static void sweep_million(bench *run)
{
    sweep_heap(run, 104, YK_PAIR_ROUND, 1, 20);
}

static void sweep_million_two(bench *run)
{
    sweep_heap(run, 104, YK_PAIR_ROUND, 2, 20);
}

/* Plan and filling, which a simulation does once per step. */
static void plan_heap(bench *run)
{
    heap h;
    yk_network *network = NULL;
    if (!heap_create(run, 16, YK_PAIR_ROUND, &h))
        return;
    yk_network_def def = yk_network_default();
    bool ready = bench_check(run, yk_network_create(bench_context(run), &def, &network)) &&
                 fill_nodes(run, network, &h);
    while (ready && bench_repeat(run)) {
        bench_start(run);
        fill_contacts(run, network, &h);
        bench_stop(run, (double)h.contacts);
    }
    yk_network_destroy(network);
    heap_destroy(&h);
}

/* The reference problems ----------------------------------------------------------------------- */

static const char *const files[] = {
    "FC3D_Example1_SBM",           "Rover1040",
    "OneObject-i100000-316.hdf5",  "NESpheres_30_1",
    "fclib_local_problem_test",    "BoxesStack1-i100000-32.hdf5",
    "Confeti-ex03-Fc3D-SBM",       "Box_Stacks-i1000-137-4",
    "Capsules-i100-1090",          "Spheres-i099-356-679",
    "FrictionContactProblem00071",
};
enum { FILES = sizeof files / sizeof *files };

static void solve_set(bench *run, yk_contact_method method, yk_friction_model friction,
                      double tolerance)
{
    yk_context *context = bench_context(run);
    yk_contact_problem problems[FILES];
    int count = 0, rows = 1, solved = 0;
    for (int i = 0; i < FILES; i++) {
        char path[512];
        snprintf(path, sizeof path, YOKE_SOURCE_DIR "/../shared/reference/contact/%s.dat",
                 files[i]);
        if (yk_contact_read(context, path, &problems[count]) != YK_OK)
            continue; /* not at hand */
        if (problems[count].row_count > rows)
            rows = problems[count].row_count;
        count++;
    }
    if (count == 0) {
        bench_skip(run, "the problem files are not at hand");
        return;
    }
    double *r = calloc((size_t)rows, sizeof *r), worst = 0;
    yk_contact_options options = yk_contact_options_default();
    options.method = method;
    options.friction_model = friction;
    options.tolerance = tolerance;
    while (r && bench_repeat(run)) {
        solved = 0;
        worst = 0;
        bench_start(run);
        for (int i = 0; i < count; i++) {
            yk_contact_report report;
            solved += yk_contact_solve(context, &problems[i], &options, r, NULL, &report) == YK_OK;
            worst = fmax(worst, report.residual);
        }
        bench_stop(run, 1);
    }
    bench_note(run, "files", count);
    bench_note(run, "solved", solved);
    bench_note(run, "worst residual", worst);
    for (int i = 0; i < count; i++)
        yk_contact_problem_destroy(context, &problems[i]);
    free(r);
}

static void set_default(bench *run)
{
    solve_set(run, YK_CONTACT_AUTO, YK_FRICTION_COULOMB, 1e-8);
}

static void set_convex(bench *run)
{
    solve_set(run, YK_CONTACT_AUTO, YK_FRICTION_CONVEX_CONE, 1e-8);
}

static void set_gradient(bench *run)
{
    solve_set(run, YK_CONTACT_PROJECTED_GRADIENT, YK_FRICTION_COULOMB, 1e-4);
}

static void set_gauss_seidel(bench *run)
{
    solve_set(run, YK_CONTACT_GAUSS_SEIDEL, YK_FRICTION_COULOMB, 1e-4);
}

const bench_case bench_contact[] = {
    {.name = "contact/sweep-general-500", .unit = "contact and sweep", .run = sweep_general},
    {.name = "contact/sweep-500",
     .unit = "contact and sweep",
     .run = sweep_round,
     .relative_to = "contact/sweep-general-500"},
    {.name = "contact/sweep-33k",
     .unit = "contact and sweep",
     .run = sweep_33k,
     .relative_to = "contact/sweep-500"},
    {.name = "contact/sweep-33k-2-threads",
     .unit = "contact and sweep",
     .run = sweep_33k_two,
     .relative_to = "contact/sweep-33k"},
    {.name = "contact/sweep-1M",
     .unit = "contact and sweep",
     .run = sweep_million,
     .relative_to = "contact/sweep-500",
     .slow = true},
    {.name = "contact/sweep-1M-2-threads",
     .unit = "contact and sweep",
     .run = sweep_million_two,
     .relative_to = "contact/sweep-1M",
     .slow = true},
    {.name = "contact/plan-and-fill", .unit = "contact", .run = plan_heap},
    {.name = "contact/reference-1e-8", .unit = "set of files", .run = set_default},
    {.name = "contact/reference-convex-1e-8", .unit = "set of files", .run = set_convex},
    {.name = "contact/reference-gradient-1e-4", .unit = "set of files", .run = set_gradient},
    {.name = "contact/reference-gauss-seidel-1e-4",
     .unit = "set of files",
     .run = set_gauss_seidel},
    {0},
};
