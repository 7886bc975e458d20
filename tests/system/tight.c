/* The scheme tight with its default relaxation on systems for which one acceleration per interface
 * does not converge: chains, closed rings and clamped connections of many parts, and mass ratios of
 * a thousand. The results agree with the monolithic system within the tolerance of the wrenches. */
#include <stdlib.h>

#include "scenario_run.h"

enum { TEXT_MAX = 20000 };

typedef struct writer {
    char *text;
    size_t length;
} writer;

YK_PRINTF(2, 3) static void add(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->length += (size_t)vsnprintf(w->text + w->length, TEXT_MAX - w->length, format, arguments);
    va_end(arguments);
    assert_true(w->length < TEXT_MAX);
}

/* Bars end to end along x from a ball joint at the origin, each a subsystem, each `ratio` times
 * as heavy as the last. */
static void write_chain(writer *w, int count, const char *joint, double ratio)
{
    add(w, "time: {end: 0.05, step: 1e-3}\nsubsystems:\n");
    double mass = 1;
    for (int i = 0; i < count; i++, mass *= ratio) {
        add(w, "  p%d:\n    solver: multibody\n    gravity: [0, -9.81, 0]\n", i);
        add(w, "    bodies: {bar: {mass: %g, inertia: [%g, %g, %g], position: [%g, 0, 0]}}\n", mass,
            0.02 * mass, 0.02 * mass, 0.02 * mass, 0.2 + 0.4 * i);
        if (i == 0)
            add(w,
                "    joints: {ball: {type: spherical, between: [ground, bar], at: [0, 0, 0]}}\n");
        add(w,
            "    ports: {in: {body: bar, offset: [-0.2, 0, 0]}, out: {body: bar, offset: [0.2, 0, "
            "0]}}\n");
    }
    add(w, "interfaces:\n");
    for (int i = 0; i + 1 < count; i++)
        add(w, "  - {name: j%d, between: [p%d.out, p%d.in], joint: %s}\n", i, i, i + 1, joint);
    add(w, "coupling: {scheme: tight}\nrecord: {channels: [p%d.out.position, p0.out.velocity]}\n",
        count - 1);
}

/* Bars around a closed polygon, ball joints at its corners, every bar the wrench side of one and
 * the motion side of the other; a spring pulls at one bar. */
static void write_ring(writer *w, int count)
{
    add(w, "time: {end: 0.05, step: 1e-3}\nsubsystems:\n");
    for (int i = 0; i < count; i++) {
        double a = 2 * acos(-1) * i / count, b = 2 * acos(-1) * (i + 1) / count;
        double x[2] = {cos(a), cos(b)}, y[2] = {1.3 * sin(a), 1.3 * sin(b)}, mass = 1 + i % 3;
        add(w, "  p%d:\n    solver: multibody\n    gravity: [0, -9.81, 0]\n", i);
        if (i == 0)
            add(w, "    forces: {pull: {type: spring, between: [ground, bar], stiffness: 20, "
                   "free_length: 0}}\n");
        add(w,
            "    bodies: {bar: {mass: %g, inertia: [0.1, 0.1, 0.1], position: [%.17g, %.17g, "
            "0]}}\n",
            mass, (x[0] + x[1]) / 2, (y[0] + y[1]) / 2);
        add(w,
            "    ports: {in: {body: bar, offset: [%.17g, %.17g, 0]}, out: {body: bar, offset: "
            "[%.17g, "
            "%.17g, 0]}}\n",
            (x[0] - x[1]) / 2, (y[0] - y[1]) / 2, (x[1] - x[0]) / 2, (y[1] - y[0]) / 2);
    }
    add(w, "interfaces:\n");
    for (int i = 0; i < count; i++)
        add(w, "  - {name: j%d, between: [p%d.out, p%d.in], joint: spherical}\n", i, i,
            (i + 1) % count);
    add(w, "coupling: {scheme: tight}\nrecord: {channels: [p1.out.position, p0.out.velocity]}\n");
}

/* Rods that hang from a hub, which is fixed to the ground and the second side of every interface. */
static void write_star(writer *w, int count)
{
    add(w, "time: {end: 0.05, step: 1e-3}\nsubsystems:\n"
           "  hub:\n    solver: multibody\n    gravity: [0, -9.81, 0]\n"
           "    bodies: {core: {mass: 1, inertia: [1, 1, 1]}}\n"
           "    joints: {hold: {type: fixed, between: [ground, core]}}\n    ports:\n");
    for (int i = 0; i < count; i++)
        add(w, "      p%d: {body: core, offset: [%g, 0, 0]}\n", i, 0.3 * i);
    for (int i = 0; i < count; i++)
        add(w,
            "  r%d:\n    solver: multibody\n    gravity: [0, -9.81, 0]\n"
            "    bodies: {rod: {mass: %d, inertia: [0.1, 0.1, 0.1], position: [%g, 0, 0]}}\n"
            "    ports: {end: {body: rod, offset: [-0.2, 0, 0]}}\n",
            i, i + 1, 0.3 * i + 0.2);
    add(w, "interfaces:\n");
    for (int i = 0; i < count; i++)
        add(w, "  - {name: j%d, between: [r%d.end, hub.p%d], joint: revolute}\n", i, i, i);
    add(w, "coupling: {scheme: tight}\nrecord: {channels: [r0.rod.position, r1.rod.position, "
           "j0.gap_position, j1.gap_position]}\n");
}

/* To the end; the iterations per step are at most `iterations`, and the end is that of the merged
 * system. */
static void compare_with_monolithic(const char *text, double iterations)
{
    static const char *const tight[] = {"coupling.absolute_tolerance=1e-7", NULL};
    static const char *const merged[] = {"coupling.scheme=monolithic", NULL};
    run a = open_text("tight.yaml", text, tight), b = open_text("tight.yaml", text, merged);
    for (int64_t step = 0; step < a.info->step_count; step++) {
        assert_int_equal(yk_system_step(a.system, NULL), YK_OK);
        assert_true(!YK_FAILED(yk_system_step(b.system, NULL)));
    }
    yk_scenario_read_sample(a.scenario, a.sample);
    yk_scenario_read_sample(b.scenario, b.sample);
    for (int i = 0; i < a.info->values_per_sample; i++)
        assert_near(a.sample[i], b.sample[i], 1e-5);

    yk_system_statistics all = yk_system_get_statistics(a.system);
    double mean = (double)all.iterations / (double)all.steps;
    if (mean > iterations)
        print_error("%.2f iterations per step\n", mean);
    assert_true(mean <= iterations);
    close_run(&a);
    close_run(&b);
}

static void chains_converge_at_every_cut(void **state)
{
    (void)state;
    static const struct {
        int count;
        const char *joint;
        double ratio, iterations;
    } chains[] = {{3, "revolute", 1, 5},  {3, "fixed", 1, 6},       {5, "spherical", 0.3, 4},
                  {5, "fixed", 3, 14},    {8, "revolute", 1, 8},    {8, "fixed", 1, 12},
                  {2, "fixed", 1000, 10}, {2, "spherical", 1000, 8}};
    char *text = malloc(TEXT_MAX);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        writer w = {text, 0};
        write_chain(&w, chains[i].count, chains[i].joint, chains[i].ratio);
        compare_with_monolithic(text, chains[i].iterations);
    }
    free(text);
}

static void rings_converge(void **state)
{
    (void)state;
    char *text = malloc(TEXT_MAX);
    for (int count = 4; count <= 6; count++) {
        writer w = {text, 0};
        write_ring(&w, count);
        compare_with_monolithic(text, 8);
    }
    free(text);
}

/* The hub cannot follow its rods, so that they follow the hub: the joints are kept. */
static void rods_follow_a_fixed_hub(void **state)
{
    (void)state;
    char *text = malloc(TEXT_MAX);
    writer w = {text, 0};
    write_star(&w, 4);
    compare_with_monolithic(text, 3);
    const char *const overrides[] = {NULL};
    run r = open_text("star", text, overrides);
    run_to(&r, 0.05);
    for (int i = 0; i < 4; i++)
        assert_near(yk_system_interface_statistics(r.system, (yk_interface_id){i}).max_gap.position,
                    0, 1e-9);
    close_run(&r);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_converge_at_every_cut),
        cmocka_unit_test(rings_converge),
        cmocka_unit_test(rods_follow_a_fixed_hub),
    };
    return cmocka_run_group_tests_name("tight", tests, NULL, NULL);
}
