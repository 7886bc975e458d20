/* solver: control */

#include "math/polynomial.h"
#include "model/registry.h"
#include "yoke/control.h"

static const yk_option_choice form_words[] = {
    {"value", "the command is offset + P e + I ∫e + D e'"},
    {"rate", "the command's rate is P e + I ∫e + D e', from the offset on"},
    {NULL, NULL},
};
static const yk_option point_item = {"points", YK_OPTION_NUMBERS, .min_count = 2, .max_count = 2,
                                     .description = "time (s) and value"};

static const yk_option loop_fields[] = {
    {"reference", YK_OPTION_FUNCTION, .default_text = "0",
     .description = "what the measured signal is to be"},
    {"reference_table", YK_OPTION_LIST, .min_count = 1, .item = &point_item,
     .description =
         "the reference by points [time, value] instead, with straight lines between them; "
         "two points at one time are a jump"},
    {"output", YK_OPTION_CHOICE, .default_text = "value", .choices = form_words,
     .description = "what the gains act on"},
    {"proportional", YK_OPTION_NUMBER, .default_text = "0",
     .description = "P, on the error e = reference - measured"},
    {"integral", YK_OPTION_NUMBER, .default_text = "0", .description = "I, on its integral"},
    {"derivative", YK_OPTION_NUMBER, .default_text = "0", .description = "D, on its derivative"},
    {"derivative_filter", YK_OPTION_NUMBER, "s", "0", .range = YK_NOT_NEGATIVE,
     .description = "time constant that smooths the derivative; 0: none"},
    {"command_offset", YK_OPTION_NUMBER, .default_text = "0",
     .description = "command without error; of output rate: command at the start"},
    {"command_limits", YK_OPTION_NUMBERS, .min_count = 2, .max_count = 2,
     .description = "least and largest command"},
    {"max_command_rate", YK_OPTION_NUMBER, "1/s", .range = YK_POSITIVE,
     .description = "fastest change of the command"},
    {0},
};
static const yk_option_section loop_section = {
    "loop", "A measured signal, its reference and the command that follows.", loop_fields};
static const yk_option loop_item = {"loop", YK_OPTION_SECTION, .section = &loop_section,
                                    .description = ""};

static const yk_option fields[] = {
    {"loops", YK_OPTION_NAMED, .required = true, .min_count = 1, .item = &loop_item,
     .description = "any number of them"},
    {"sample_period", YK_OPTION_NUMBER, "s", "0", .range = YK_NOT_NEGATIVE,
     .description = "between samples; 0: the signals are followed continuously"},
    {"max_step", YK_OPTION_NUMBER, "s", "auto", .accepts_auto = true, .range = YK_NOT_NEGATIVE,
     .refinement_exponent = 1,
     .description = "longest own step of a continuous controller; "
                    "0: one in each that the coupling asks for"},
    {0},
};

static const yk_option_section control_section = {
    "control",
    "PID control with limits; integrals do not wind up. "
    "Ports of a loop NAME, all signals: "
    "it gives `NAME` and takes `NAME.measured`, "
    "`NAME.rate` (derivative of what is measured, if there is a wire) "
    "and `NAME.reference` (if there is a wire, instead of the key). "
    "Channels: `NAME.error`, `NAME.integral`, `NAME.command_limited_time` since the start. "
    "A wire from a controller with a period should be held.",
    fields};

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
    def->output = (yk_control_output)yk_node_choice(item, "output");
    def->proportional = yk_node_number(item, "proportional");
    def->integral = yk_node_number(item, "integral");
    def->derivative = yk_node_number(item, "derivative");
    def->derivative_filter = yk_node_number(item, "derivative_filter");
    def->command_offset = yk_node_number(item, "command_offset");

    /* Bounds of the command; the first one, the offset, must be allowed. */
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
            "the offset, %g, is outside; set 'command_offset' to a command that is "
            "allowed",
            def->command_offset);
    if (yk_node_get(item, "max_command_rate"))
        def->max_command_rate = yk_node_number(item, "max_command_rate");

    /* The reference: a function of time, or a table. */
    const yk_node *list = yk_node_get(item, "reference_table");
    if (!list)
        return yk_builder_function(builder, item, "reference", &def->reference);

    /* The table, its times and its values are one block. */
    size_t count = (size_t)list->count;
    yk_table *table = yk_builder_take(builder, sizeof *table + 2 * count * sizeof(double));
    if (!table)
        return YK_ERROR_MEMORY;

    double *times = (double *)(table + 1);
    double *values = times + count;
    *table = (yk_table){list->count, times, values};

    /* Two equal times are a jump. */
    int row = 0;
    for (const yk_node *point = list->first; point; point = point->next, row++) {
        times[row] = point->values[0];
        values[row] = point->values[1];
        if (row > 0 && times[row] < times[row - 1])
            return yk_builder_error(builder, point,
                                    "is before the point ahead of it, at %g s; times must rise",
                                    times[row - 1]);
    }

    /* Its points are events: there the value or its slope jumps. */
    def->reference = (yk_time_function){table_value, table, table_next};
    return YK_OK;
}

static yk_status build_control(yk_builder *builder, const yk_node *section,
                               yk_subsystem **subsystem)
{
    yk_control_def def = yk_control_default();
    def.name = yk_node_name(section);
    def.sample_period = yk_node_number(section, "sample_period");
    def.max_step = yk_node_number(section, "max_step");
    yk_control_builder *controller = yk_control_begin(yk_builder_context(builder), &def);

    /* All mistakes of all loops are reported. */
    yk_status status = YK_OK;
    for (const yk_node *item = yk_node_items(section, "loops"); item; item = item->next) {
        yk_control_loop_def loop;
        yk_status one = read_loop(builder, item, &loop);
        if (one == YK_OK)
            yk_control_add_loop(controller, &loop);
        else
            status = one;
    }

    /* A controller with mistakes is not made. */
    if (status != YK_OK) {
        yk_control_discard(controller);
        return status;
    }

    return yk_control_create(controller, subsystem);
}

const yk_solver_kind yk_control_kind = {&control_section, build_control};
