/* solver: control */

#include "math/polynomial.h"
#include "model/registry.h"
#include "physics/options.h"
#include "yoke/control.h"

static double table_value(void *user, double t)
{
    return yk_table_value(user, t);
}

static double table_next(void *user, double t)
{
    return yk_table_next_point(user, t);
}

static yk_status read_loop(yk_builder *builder, const yk_node *item, yk_control_loop_def *def)
{
    *def = yk_control_loop_default();
    def->name = yk_node_name(item);
    yk_status status = yk_option_read_all(builder, yk_control_loop_options.options, item, def);
    if (status != YK_OK)
        return status;

    /* Bounds of the command. The first value, the offset, must be within them. */
    const yk_node *limits = yk_node_get(item, "command_limits");
    if (limits) {
        def->min_command = limits->values[0];
        def->max_command = limits->values[1];
    }

    if (!(def->min_command < def->max_command))
        return yk_builder_error(builder, limits, "the first must be below the second");
    if (def->command_offset < def->min_command || def->command_offset > def->max_command)
        return yk_builder_error(
            builder, limits,
            "the offset, %g, is outside; set 'command_offset' to a value within the limits",
            def->command_offset);

    /* The reference: a function of time, or a table. */
    const yk_node *list = yk_node_get(item, "reference_table");
    if (!list)
        return YK_OK;

    /* The table, its times and its values are one block. */
    size_t count = (size_t)list->count;
    yk_table *table = yk_builder_take(builder, sizeof *table + 2 * count * sizeof(double));
    if (!table)
        return YK_ERROR_MEMORY;

    double *times = (double *)(table + 1);
    double *values = times + count;
    *table = (yk_table){list->count, times, values};

    /* Two equal times define a jump. */
    int row = 0;
    for (const yk_node *point = list->first; point; point = point->next, row++) {
        times[row] = point->values[0];
        values[row] = point->values[1];
        if (row > 0 && times[row] < times[row - 1])
            return yk_builder_error(builder, point,
                                    "is before the previous point, at %g s; times must ascend",
                                    times[row - 1]);
    }

    /* Its points are events, because the value or its slope jumps there. */
    def->reference = (yk_time_function){table_value, table, table_next};
    return YK_OK;
}

static yk_status build_control(yk_builder *builder, const yk_node *section,
                               yk_subsystem **subsystem)
{
    yk_control_def def = yk_control_default();
    def.name = yk_node_name(section);
    yk_status status = yk_option_read_all(builder, yk_control_options.options, section, &def);
    if (status != YK_OK)
        return status;

    yk_control_builder *controller = yk_control_begin(yk_builder_context(builder), &def);

    /* Report all errors of all loops. */
    for (const yk_node *item = yk_node_items(section, "loops"); item; item = item->next) {
        yk_control_loop_def loop;
        yk_status one = read_loop(builder, item, &loop);
        if (one == YK_OK)
            yk_control_add_loop(controller, &loop);
        else
            status = one;
    }

    /* A controller with errors is not created. */
    if (status != YK_OK) {
        yk_control_discard(controller);
        return status;
    }

    return yk_control_create(controller, subsystem);
}

const yk_solver_kind yk_control_kind = {&yk_control_options, build_control};
