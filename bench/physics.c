/* Steps of a hydraulic cylinder under a swinging motion, in fixed steps and with error control. */
#include <math.h>

#include "bench.h"
#include "math/polynomial.h"
#include "yoke/hydraulic.h"

/* The cylinder of Peiret et al. 2020, table 1, example 1, whose friction differs from the default. */
static yk_hydraulic_cylinder_def example_cylinder(void)
{
    yk_hydraulic_cylinder_def def = yk_hydraulic_cylinder_default();
    def.cylinder.viscous_friction = 1e5;
    return def;
}

enum { STEPS = 1000 };

static double spool(void *user, double t)
{
    (void)user;
    return 0.45 + 0.02 * sin(11 * t);
}

static bool take_steps(yk_subsystem *s)
{
    const double h = 2e-4;
    for (int i = 0; i < STEPS; i++) {
        double t = i * h;
        yk_input inputs[2] = {
            {.degree = 1,
             .linear = {{0.8 + 0.02 * sin(9 * t), 0, 0}, {0.18 * cos(9 * t), 0, 0}},
             .base_orientation = {1, 0, 0, 0}}};
        if (s->ops->step(s, t, h, inputs) < 0)
            return false;
    }
    return true;
}

static void run_cylinder(bench *run, double lag, double tolerance)
{
    yk_hydraulic_cylinder_def cylinder = example_cylinder();
    cylinder.name = "ram", cylinder.initial_actuator_length = 0.8,
    cylinder.spool_command.evaluate = spool;
    cylinder.cylinder.valve.time_constant = lag;
    yk_hydraulic_def def = yk_hydraulic_default();
    def.relative_tolerance = tolerance;
    yk_hydraulic_builder *builder = yk_hydraulic_begin(bench_context(run), &def);
    yk_hydraulic_add_cylinder(builder, &cylinder);
    yk_subsystem *s;
    if (!bench_check(run, yk_hydraulic_create(builder, &s)))
        return;
    bool good = bench_check(run, s->ops->connect(s, 0, YK_CAUSALITY_MOTION_INPUT, YK_AXIS_X));
    while (good && bench_repeat(run)) {
        yk_input begin[2] = {
            {.degree = 1, .linear = {{0.8, 0, 0}, {0.18, 0, 0}}, .base_orientation = {1, 0, 0, 0}}};
        good = bench_check(run, s->ops->initialize(s, 0, 2e-4, begin));
        bench_start(run);
        good = good && take_steps(s);
        bench_stop(run, STEPS);
        if (!good)
            bench_fail(run, "%s", s->ops->last_message(s));
    }
    s->ops->destroy(s);
}

static void fixed(bench *run)
{
    run_cylinder(run, 0, 0);
}

static void lagging(bench *run)
{
    run_cylinder(run, 0.01, 0);
}

static void controlled(bench *run)
{
    run_cylinder(run, 0, 1e-8);
}

const bench_case bench_physics[] = {
    {"physics/cylinder", "step of 0.2 ms", fixed, NULL, false},
    {"physics/cylinder, lagging spool", "step of 0.2 ms", lagging, "physics/cylinder", false},
    {"physics/cylinder, error control", "step of 0.2 ms", controlled, "physics/cylinder", false},
    {0},
};
