/* Hydraulic circuits of two cylinders: of the paper's form, and with everything that it leaves
 * out. */
#include "conformance.h"

#include <math.h>

#include "yoke/hydraulic.h"

/* The cylinder of rim table 1, example 1, whose friction is not that of the default. */
static yk_hydraulic_cylinder_def example_cylinder(void)
{
    yk_hydraulic_cylinder_def def = yk_hydraulic_cylinder_default();
    def.cylinder.viscous_friction = 1e5;
    return def;
}

static double swing(void *user, double t)
{
    (void)user;
    return 0.45 + 0.02 * sin(11 * t);
}

static yk_status create(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    yk_hydraulic_cylinder_def cylinders[2] = {example_cylinder(), example_cylinder()};
    cylinders[0].name = "other", cylinders[1].name = "driven";
    for (int i = 0; i < 2; i++) {
        cylinders[i].spool_command.evaluate = swing;
        cylinders[i].initial_actuator_length = 0.8;
    }
    yk_hydraulic_def def = *(const yk_hydraulic_def *)user;
    if (def.tank_pressure > 1e5) {
        yk_cylinder *c = &cylinders[1].cylinder;
        c->area[0] = 4e-3;
        c->leakage = 1e-11;
        c->valve.time_constant = 0.05;
        c->valve.allow_backflow = true;
        cylinders[1].initial_state = YK_HYDRAULIC_INITIAL_FORCE;
        cylinders[1].force = 5e3;
    }
    def.name = "hydraulic";
    yk_hydraulic_builder *builder = yk_hydraulic_begin(context, &def);
    for (int i = 0; i < 2; i++)
        yk_hydraulic_add_cylinder(builder, &cylinders[i]);
    return yk_hydraulic_create(builder, subsystem);
}

static double pump(void *user, double t)
{
    (void)user;
    return 7.6e6 + 1e5 * sin(5 * t);
}

#define FLUID                                                                       \
    {                                                                               \
        .compressibility = 6.53e-10, .compressibility_2 = -1.19e-18, .density = 850 \
    }
static const yk_hydraulic_def plain = {
    .fluid = FLUID, .pump_pressure = {.evaluate = pump}, .tank_pressure = 1e5};
static const yk_hydraulic_def rich = {
    .fluid = FLUID, .pump_pressure = {.evaluate = pump}, .tank_pressure = 2e5};
static const yk_hydraulic_def adaptive = {.fluid = FLUID,
                                          .pump_pressure = {.evaluate = pump},
                                          .tank_pressure = 1e5,
                                          .relative_tolerance = 1e-6};

#define MOTION                                                                   \
    .port = 1, .causality = YK_CAUSALITY_MOTION_INPUT, .constrained = YK_AXIS_X, \
    .amplitude = 0.05, .frequency = 9

static const conformance_case cases[] = {
    /* The cubic between the ends of a step is off by O(h^4), and what the method of order 5 makes
     * of it too. */
    {"fixed steps", create, &plain, MOTION, .step = 4e-4, .steps = 100, .order = 4,
     .energy_order = 4, .scale = 1e4},
    {"lag, leakage, unequal areas", create, &rich, MOTION, .step = 4e-4, .steps = 100, .order = 4,
     .energy_order = 4, .scale = 1e4},
    {"error control", create, &adaptive, MOTION, .step = 4e-4, .steps = 100, .order = -1,
     .energy_order = -1, .scale = 1e4},
};

int main(void)
{
    return conformance_run(cases, sizeof cases / sizeof *cases);
}
