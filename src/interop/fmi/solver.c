/* solver: fmu */

#include "interop/fmi/fmu.h"
#include "interop/interop.h"

static const yk_option_choice kind_words[] = {
    {"auto", "co-simulation if the FMU supports it, otherwise model exchange"},
    {"co-simulation", "the FMU's own solver"},
    {"model-exchange", "its equations, integrated by Yoke with error control"},
    {NULL, NULL},
};

static const yk_option_choice process_words[] = {
    {"this-process", "that of the run: fastest"},
    {"child-process",
     "a child process: if the FMU crashes, the step fails and the results so far are kept"},
    {NULL, NULL},
};

/* Ports ---------------------------------------------------------------------------------------- */

static const yk_option scalar_fields[] = {
    {"position", YK_OPTION_TEXT, .description = "variable of the position (m) or angle (rad)"},
    {"velocity", YK_OPTION_TEXT, .description = "variable of its velocity"},
    {"acceleration", YK_OPTION_TEXT, .description = "variable of its acceleration"},
    {"force", YK_OPTION_TEXT, .description = "variable of the force (N) or torque (N m)"},
    {"force_on_partner", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "the force of the FMU acts on its partner, not on itself"},
    {0},
};

static const yk_option variable_item = {
    "variables", YK_OPTION_TEXT,
    .description = "a variable of the FMU; 0: the component is always zero"};

#define MARKER_FIELD(word, largest, what)                                                     \
    {                                                                                         \
        word, YK_OPTION_LIST,                                                                 \
            .min_count = 1, .max_count = largest, .item = &variable_item,                     \
            .description = "variables of " what                                               \
                           "; one name: an array, or the first part of name[1], name[2], ..." \
    }
static const yk_option marker_fields[] = {
    MARKER_FIELD("position", 3, "the position, global axes"),
    MARKER_FIELD("orientation", 9,
                 "the rotation from the marker to the global axes: "
                 "a quaternion, scalar first, or a matrix by rows"),
    MARKER_FIELD("velocity", 3, "the velocity, global axes"),
    MARKER_FIELD("angular_velocity", 3, "the angular velocity, global axes"),
    MARKER_FIELD("acceleration", 3, "the acceleration, global axes"),
    MARKER_FIELD("angular_acceleration", 3, "the angular acceleration, global axes"),
    MARKER_FIELD("force", 3, "the force, global axes"),
    MARKER_FIELD("torque", 3, "the torque about the marker's origin, global axes"),
    {"force_on_partner", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "the wrench of the FMU acts on its partner, not on itself"},
    {0},
};

static const yk_option signal_fields[] = {
    {"variable", YK_OPTION_TEXT, .required = true,
     .description = "an input, or a variable to be read"},
    {0},
};
static const yk_option terminal_fields[] = {
    {"terminal", YK_OPTION_TEXT, .required = true, .description = "a terminal of the FMU (FMI 3)"},
    {0},
};

static const yk_option_section scalar_section = {
    "scalar",
    "One coordinate with its force. If the force is an input of the FMU, the port receives a "
    "wrench; if the motion is an input, it receives a motion.",
    scalar_fields};
static const yk_option_section marker_section = {
    "marker", "A frame with six coordinates; its causality is determined as for scalar ports.",
    marker_fields};
static const yk_option_section signal_section = {"signal", "A number without power, for wires.",
                                                 signal_fields};
static const yk_option_section terminal_section = {
    "terminal",
    "A port by the members of a terminal: "
    "position, velocity, force, ..., or s, f, phi, tau as in Modelica.",
    terminal_fields};

/* In the order of port_kinds below. */
static const yk_option_section *const port_sections[] = {&scalar_section, &marker_section,
                                                         &signal_section, &terminal_section, NULL};
enum { SCALAR_PORT, MARKER_PORT, SIGNAL_PORT, TERMINAL_PORT };
static const yk_port_kind port_kinds[] = {YK_PORT_SCALAR, YK_PORT_MARKER, YK_PORT_SIGNAL,
                                          YK_PORT_SCALAR};

static const yk_option port_item = {"port",
                                    YK_OPTION_VARIANT,
                                    .variants = port_sections,
                                    .selector = "type",
                                    .default_variant = "scalar",
                                    .description = "a port"};

/* Values --------------------------------------------------------------------------------------- */

static const yk_option setting_fields[] = {
    {"variable", YK_OPTION_TEXT, .required = true,
     .description = "a parameter or start value of the FMU"},
    {"value", YK_OPTION_NUMBER, .description = "its value; a boolean is 0 or 1"},
    {"values", YK_OPTION_NUMBERS, .min_count = 1, .description = "the values of an array"},
    {"string", YK_OPTION_TEXT, .description = "the value of a variable of type String"},
    {0},
};
static const yk_option_section setting_section = {"setting", "A value before the start.",
                                                  setting_fields};
static const yk_option setting_item = {"settings", YK_OPTION_SECTION, .section = &setting_section,
                                       .description = "a value"};
static const yk_option channel_item = {"variables", YK_OPTION_TEXT, .description = "a variable"};

static const yk_option fields[] = {
    {"file", YK_OPTION_PATH, .required = true, .description = "the FMU, FMI 2.0 or 3.0"},
    {"interface_type", YK_OPTION_CHOICE, .default_text = "auto", .choices = kind_words,
     .description = "interface type of the FMU to use"},
    {"ports", YK_OPTION_NAMED, .item = &port_item,
     .description =
         "points that can be coupled with other subsystems; default: the FMU's terminals, and a "
         "signal port with the same name for each other input and output"},
    {"start_values", YK_OPTION_LIST, .item = &setting_item,
     .description = "parameters and start values"},
    {"channels", YK_OPTION_LIST, .item = &channel_item,
     .description = "variables to record in addition to the outputs"},
    {"max_step", YK_OPTION_NUMBER, "s", .range = YK_POSITIVE, .refinement_exponent = 1,
     .description = "longest step of the FMU; default: co-simulation makes one step per macro "
                    "step, and the error control chooses the steps of model exchange"},
    {"solver_tolerance", YK_OPTION_NUMBER, .range = YK_POSITIVE,
     .description = "relative tolerance of the solver; default: co-simulation uses the FMU's own, "
                    "model exchange that of the FMU's default experiment, or 1e-8"},
    {"absolute_tolerance", YK_OPTION_NUMBER, .range = YK_POSITIVE,
     .description = "with model exchange: absolute tolerance of each state, relative to its "
                    "nominal value; default: a hundredth of `solver_tolerance`"},
    {"log_all", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "log all messages of the FMU, not only its warnings"},
    {"use_directional_derivatives", YK_OPTION_BOOLEAN, .default_text = "true",
     .description = "use the FMU's directional derivatives if it has them"},
    {"run_in", YK_OPTION_CHOICE, .default_text = "this-process", .choices = process_words,
     .description = "process that runs the FMU's code"},
    {"timeout", YK_OPTION_NUMBER, "s", "30", .range = YK_POSITIVE,
     .description = "with `run_in: child-process`: longest time for one step"},
    {0},
};

static const yk_option_section fmu_section = {
    "fmu",
    "A model of another program, as a Functional Mock-up Unit. `yoke fmu info FILE` describes it "
    "and writes a section to start from.",
    fields};

/* Building ------------------------------------------------------------------------------------- */

static void read_port(const yk_node *node, yk_fmu_port_def *port)
{
    *port = (yk_fmu_port_def){.name = yk_node_name(node), .kind = port_kinds[node->choice]};
    const yk_node *reaction = yk_node_get(node, "force_on_partner");
    port->reaction = reaction && reaction->choice;

    /* A terminal of FMI 3.0 lists the variables of a port itself. */
    if (node->choice == TERMINAL_PORT) {
        port->terminal = yk_node_text(node, "terminal");
        return;
    }

    if (node->choice == SIGNAL_PORT) {
        port->quantities[YK_FMU_SIGNAL] = (yk_fmu_variables){1, {yk_node_text(node, "variable")}};
        return;
    }

    /* Each quantity has one variable, or of a marker a list of them. */
    for (int q = 0; q < YK_FMU_SIGNAL; q++) {
        const yk_node *entry = yk_node_get(node, yk_fmu_quantity_names[q]);
        yk_fmu_variables *variables = &port->quantities[q];
        if (!entry)
            continue;
        if (node->choice == SCALAR_PORT) {
            *variables = (yk_fmu_variables){1, {entry->text}};
            continue;
        }

        for (const yk_node *item = entry->first; item; item = item->next)
            variables->names[variables->count++] = item->text;
    }
}

static yk_status build_fmu(yk_builder *builder, const yk_node *section, yk_subsystem **subsystem)
{
    yk_fmu_def def = yk_fmu_default();
    def.name = yk_node_name(section);

    /* An FMU is code, in a child process as in this one. */
    yk_status status = yk_builder_code(builder, yk_node_get(section, "file"), &def.file);
    if (status != YK_OK)
        return status;

    def.kind = yk_node_choice(section, "interface_type");
    def.logging = yk_node_boolean(section, "log_all");
    def.derivatives = yk_node_boolean(section, "use_directional_derivatives");
    def.child = yk_node_choice(section, "run_in") == 1;
    def.deadline = yk_node_number(section, "timeout");

    /* Without these, the FMU's own. */
    if (yk_node_get(section, "max_step"))
        def.step = yk_node_number(section, "max_step");
    if (yk_node_get(section, "solver_tolerance"))
        def.tolerance = yk_node_number(section, "solver_tolerance");
    if (yk_node_get(section, "absolute_tolerance"))
        def.absolute_tolerance = yk_node_number(section, "absolute_tolerance");

    /* Memory for its lists. */
    const yk_node *ports = yk_node_get(section, "ports");
    const yk_node *set = yk_node_get(section, "start_values");
    const yk_node *channels = yk_node_get(section, "channels");
    size_t port_count = ports ? (size_t)ports->count : 0;
    size_t setting_count = set ? (size_t)set->count : 0;
    size_t channel_count = channels ? (size_t)channels->count : 0;
    yk_fmu_port_def *port_list = yk_builder_take(builder, (port_count + 1) * sizeof *port_list);

    /* A text, a number or an array. */
    yk_fmu_setting *settings = yk_builder_take(builder, (setting_count + 1) * sizeof *settings);
    const char **names = yk_builder_take(builder, (channel_count + 1) * sizeof *names);
    if (!port_list || !settings || !names)
        return YK_ERROR_MEMORY;

    /* Ports and channels. */
    def.ports = port_list;
    def.settings = settings;
    def.channels = names;
    for (const yk_node *item = yk_node_items(section, "ports"); item; item = item->next)
        read_port(item, &port_list[def.port_count++]);
    for (const yk_node *item = yk_node_items(section, "channels"); item; item = item->next)
        names[def.channel_count++] = item->text;

    /* All mistakes of all settings are reported. */
    for (const yk_node *item = yk_node_items(section, "start_values"); item; item = item->next) {
        const yk_node *value = yk_node_get(item, "value");
        const yk_node *values = yk_node_get(item, "values");
        const yk_node *text = yk_node_get(item, "string");
        if ((value != NULL) + (values != NULL) + (text != NULL) != 1) {
            status = yk_builder_error(builder, item, "needs one of value, values and string");
            continue;
        }

        yk_fmu_setting *setting = &settings[def.setting_count++];
        setting->variable = yk_node_text(item, "variable");
        if (text) {
            setting->text = text->text;
        } else {
            const yk_node *numbers = value ? value : values;
            setting->values = numbers->values;
            setting->count = numbers->value_count;
        }
    }

    if (status != YK_OK)
        return status;

    return yk_fmu_create(yk_builder_context(builder), &def, subsystem);
}

const yk_solver_kind yk_fmu_kind = {&fmu_section, build_fmu};
