/* Prescribed relative motions of interfaces: expressions of time with their derivatives. */
#include "model/scenario.h"

/* Distance of the points of the differences (s), if the macro step is not shorter: with order
 * eight their error is that of rounding for motions slower than about 100 rad/s. */
static const double DIFFERENCE_STEP = 1e-3;

typedef struct driven_axis {
    yk_function function;
    double step;
} driven_axis;

/* Central differences of order eight. */
static void evaluate(void *user, double t, double value[3])
{
    static const double first[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    static const double second[4] = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
    const driven_axis *axis = user;
    double h = axis->step, middle = yk_function_value(axis->function, t);
    value[0] = middle, value[1] = 0, value[2] = -205.0 / 72 * middle / (h * h);
    for (int k = 0; k < 4; k++) {
        double after = yk_function_value(axis->function, t + (k + 1) * h);
        double before = yk_function_value(axis->function, t - (k + 1) * h);
        value[1] += first[k] * (after - before) / h;
        value[2] += second[k] * (after + before) / (h * h);
    }
}

static yk_status read_axis(yk_scenario *scenario, const yk_node *node, yk_relative_motion *motion)
{
    driven_axis *axis = yk_store_take(&scenario->store, sizeof *axis);
    if (!axis)
        return YK_ERROR_MEMORY;

    axis->step = scenario->info.step < DIFFERENCE_STEP ? scenario->info.step : DIFFERENCE_STEP;
    yk_status status = yk_builder_function_of(&scenario->builder, node, &axis->function);
    if (status == YK_OK)
        *motion = (yk_relative_motion){evaluate, axis};
    return status;
}

/* The length of a distance joint, in the place of the first motion. */
static const yk_relative_motion *read_length(yk_scenario *scenario, const yk_node *interface,
                                             const yk_node *drive, const yk_node *length)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    if (drive)
        yk_node_error(diagnostics, drive,
                      "a distance is prescribed by 'length', as an expression of time");
    if (!length) {
        yk_node_error(diagnostics, yk_node_get(interface, "joint"),
                      "needs 'length', the distance of the two origins");
        return NULL;
    }
    yk_relative_motion *motions = yk_store_take(&scenario->store, 6 * sizeof *motions);
    yk_status status = motions ? read_axis(scenario, length, &motions[0]) : YK_ERROR_MEMORY;
    if (status == YK_ERROR_MEMORY)
        scenario->resolver.status = status;
    return motions;
}

const yk_relative_motion *yk_scenario_read_drive(yk_scenario *scenario, const yk_node *interface,
                                                 unsigned axes, yk_port_kind kind)
{
    static const char *const names[6] = {"x", "y", "z", "rx", "ry", "rz"};
    const yk_node *drive = yk_node_get(interface, "drive"),
                  *length = yk_node_get(interface, "length");
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    if (axes == YK_AXIS_DISTANCE)
        return read_length(scenario, interface, drive, length);
    if (length)
        yk_node_error(diagnostics, length, "belongs to the joint distance");
    if (!drive || !drive->valid)
        return NULL;

    yk_relative_motion *motions = yk_store_take(&scenario->store, 6 * sizeof *motions);
    if (!motions)
        scenario->resolver.status = YK_ERROR_MEMORY;
    for (int i = 0; motions && i < 6; i++) {
        const yk_node *node = yk_node_get(drive, names[i]);
        if (!node)
            continue;
        if (!(axes & 1u << i))
            yk_node_error(diagnostics, node,
                          kind == YK_PORT_SCALAR ? "scalar ports are driven along x"
                                                 : "the joint leaves this motion free");
        else if (read_axis(scenario, node, &motions[i]) == YK_ERROR_MEMORY)
            scenario->resolver.status = YK_ERROR_MEMORY;
    }
    return motions;
}
