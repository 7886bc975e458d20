/* Creates an FMU from a scenario: its variables and its files: description, terminals, the scenario
 * with its files, and the binary that runs it. */
#include "interop/fmi/export.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/description.h"
#include "model/scenario.h"
#include "yoke/scheme_ops.h"

/* Variables ------------------------------------------------------------------------------------ */

#define AT(member) offsetof(yk_port_value, member)

/* Quantities of a port as runs of doubles in yk_port_value. */
static const struct {
    const char *name, *unit;
    size_t at;          /* bytes */
    int marker, scalar; /* components */
    bool wrench;
} quantities[] = {
    {"position", "m", AT(motion.position), 3, 1, false},
    {"velocity", "m/s", AT(motion.velocity), 3, 1, false},
    {"acceleration", "m/s2", AT(motion.acceleration), 3, 1, false},
    {"orientation", "", AT(motion.orientation), 4, 0, false},
    {"angular_velocity", "rad/s", AT(motion.angular_velocity), 3, 0, false},
    {"angular_acceleration", "rad/s2", AT(motion.angular_acceleration), 3, 0, false},
    {"force", "N", AT(wrench.force), 3, 1, true},
    {"torque", "N.m", AT(wrench.torque), 3, 0, true},
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

static const char *const letters[] = {"x", "y", "z", "rx", "ry", "rz"};
static const char *const energies[] = {"kinetic", "potential", "dissipated", "work"};
static const char *const quaternion[] = {"w", "x", "y", "z"};

/* Destination of the names: counted first, then written. */
typedef struct writer {
    yk_export_model *model;
    char *names; /* NULL: only counted */
    size_t used;
    int count;
} writer;

/* Channels with more components, such as positions of all particles, are not outputs. */
enum { CHANNEL_COMPONENTS_MAX = 64 };

/* A name in the model's memory, "a.b.c"; parts that are "" are left out. */
static const char *keep(writer *w, const char *a, const char *b, const char *c)
{
    size_t bytes = strlen(a) + strlen(b) + strlen(c) + 3;
    size_t first = w->used;
    w->used += bytes;

    if (!w->names)
        return "";

    char *to = w->names + first;
    snprintf(to, bytes, "%s%s%s%s%s", a, b[0] ? "." : "", b, c[0] ? "." : "", c);
    return to;
}

static void add(writer *w, yk_export_variable variable)
{
    if (w->names)
        w->model->variables[w->count] = variable;
    w->count++;
}

/* The outputs of a channel, component by component. */
static void add_channel(writer *w, const yk_channel *channel, const char *const *labels,
                        yk_export_variable output)
{
    int size = channel->component_count;
    for (int c = 0; c < size; c++) {
        /* Labels of the scenario, otherwise the usual letters, otherwise numbers. */
        char number[16];
        snprintf(number, sizeof number, "%d", c + 1);
        const char *component = number;
        if (size == 1)
            component = "";
        else if (labels)
            component = labels[c];
        else if (size == 4)
            component = strcmp(channel->unit, "J") == 0 ? energies[c] : quaternion[c];
        else if (size <= 6)
            component = letters[c];

        output.name = keep(w, channel->name, component, "");
        output.unit = size > 4 ? "" : channel->unit;
        add(w, output);
        output.offset++;
    }
}

/* Whether a port has variables with the same names as a channel, such as those of a body "end" and
 * of a port "end" on it. */
static bool is_port_quantity(const yk_export_model *m, const char *channel)
{
    for (int i = 0; i < m->port_count; i++) {
        const char *port = m->ports[i].name;
        size_t length = strlen(port);
        if (m->causalities[i] == YK_CAUSALITY_NONE || strncmp(channel, port, length) != 0)
            continue;
        if (channel[length] == '\0')
            return true;

        for (int q = 0; channel[length] == '.' && q < QUANTITIES; q++)
            if (strcmp(channel + length + 1, quantities[q].name) == 0)
                return true;
    }
    return false;
}

static void list_variables(writer *w)
{
    const yk_export_model *m = w->model;
    const yk_scenario_info *info = m->info;

    /* Time is there in any case: FMI 3 wants it as a variable. */
    w->used = 0;
    w->count = 0;
    add(w, (yk_export_variable){
               .name = "time", .unit = "s", .role = YK_EXPORT_TIME, .port = -1, .channel = -1});

    /* Parameters of the scenario, with their values to start from. */
    const yk_scope *scope = &m->scenario->resolver.scope;
    yk_export_variable parameter = {
        .unit = "", .role = YK_EXPORT_PARAMETER, .port = -1, .channel = -1};
    for (int i = 0; i < scope->parameter_count; i++) {
        parameter.name = keep(w, "parameters", scope->parameters[i].name, "");
        parameter.offset = i;
        parameter.start = scope->parameters[i].value;
        yk_quantity quantity = scope->parameters[i].quantity;
        parameter.unit = "";
        if (quantity.has_unit && quantity.certain)
            parameter.unit = keep(w, yk_dimension_name(quantity.dimension).text, "", "");
        add(w, parameter);
    }

    /* A subsystem has its ports; m->port_count is 0 for a whole system. */
    for (int i = 0; i < m->port_count; i++) {
        const yk_port *port = &m->ports[i];
        yk_causality takes = m->causalities[i];
        yk_export_variable variable = {
            .unit = "", .role = YK_EXPORT_OUTPUT, .port = i, .channel = -1};
        if (takes == YK_CAUSALITY_NONE)
            continue;

        /* A signal is one number, stored in place of a scalar position. */
        if (port->kind == YK_PORT_SIGNAL) {
            if (takes == YK_CAUSALITY_SIGNAL_INPUT)
                variable.role = YK_EXPORT_INPUT;

            variable.name = keep(w, port->name, "", "");
            variable.offset = (int)(AT(motion.position) / sizeof(double));
            add(w, variable);
            continue;
        }

        /* A port with power has quantities of motion and of wrench, by components. The received
         * side is an input, the other one an output. */
        for (int q = 0; q < QUANTITIES; q++) {
            int size = quantities[q].scalar;
            if (port->kind == YK_PORT_MARKER)
                size = quantities[q].marker;

            variable.unit = quantities[q].unit;
            variable.role = YK_EXPORT_OUTPUT;
            if (quantities[q].wrench == (takes == YK_CAUSALITY_WRENCH_INPUT))
                variable.role = YK_EXPORT_INPUT;

            for (int c = 0; c < size; c++) {
                const char *component = "";
                if (size > 1)
                    component = size == 4 ? quaternion[c] : letters[c];

                variable.name = keep(w, port->name, quantities[q].name, component);
                variable.member = keep(w, quantities[q].name, component, "");
                variable.offset = (int)(quantities[q].at / sizeof(double)) + c;
                add(w, variable);
            }
        }
    }

    /* A subsystem has its channels, a whole system all that are recorded. */
    for (int i = 0; i < m->channel_count; i++) {
        const yk_channel *channel = &m->channels[i];
        if (channel->component_count <= CHANNEL_COMPONENTS_MAX &&
            !is_port_quantity(m, channel->name))
            add_channel(w, channel, NULL,
                        (yk_export_variable){.role = YK_EXPORT_OUTPUT, .port = -1, .channel = i});
    }

    int offset = 0;
    for (int i = 0; m->subsystem < 0 && i < info->channel_count; i++) {
        yk_export_variable output = {
            .role = YK_EXPORT_OUTPUT, .port = -1, .channel = -1, .offset = offset};
        add_channel(w, &info->channels[i], yk_scenario_channel_labels(m->scenario, i), output);
        offset += info->channels[i].component_count;
    }
}

/* Whether a wire of the scenario ends at a port of the subsystem. */
static bool is_wired(const yk_export_model *m, int port)
{
    for (int i = 0; i < m->info->wire_count; i++) {
        const yk_wire_def *wire = &m->info->wires[i];
        if (wire->target_subsystem.index == m->subsystem && wire->target_port.index == port)
            return true;
    }
    return false;
}

/* How the scenario uses the ports of a subsystem, and with which axes. */
static yk_status connect_ports(yk_export_model *m, bool wrenches)
{
    m->causalities = yk_allocate(m->context, (size_t)m->port_count + 1, sizeof *m->causalities);
    if (!m->causalities)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < m->port_count; i++) {
        const yk_port *port = &m->ports[i];
        bool can_take_motion = port->allowed_causalities & YK_CAUSALITY_MOTION_INPUT;
        bool can_take_wrench = port->allowed_causalities & YK_CAUSALITY_WRENCH_INPUT;

        unsigned axes = YK_AXIS_X;
        if (port->kind == YK_PORT_MARKER)
            axes = YK_AXES_ALL;

        /* On the motion side of an interface it takes the motion there. */
        bool moved = false;
        for (int k = 0; k < m->info->interface_count; k++) {
            const yk_interface_def *one = &m->info->interfaces[k];
            if (one->motion_subsystem.index != m->subsystem || one->motion_port.index != i)
                continue;

            moved = true;
            if (can_take_motion)
                axes = one->constrained_axes;
        }

        /* A signal has one direction; other ports receive motion if the scenario moves them. An
         * optional signal without a wire keeps its value from the scenario: as an input it would be
         * zero. */
        bool optional = port->allowed_causalities & YK_OPTIONAL_SIGNAL;
        yk_causality takes = YK_CAUSALITY_NONE;
        if (port->kind == YK_PORT_SIGNAL &&
            !(port->allowed_causalities & YK_CAUSALITY_SIGNAL_INPUT))
            takes = YK_CAUSALITY_SIGNAL_OUTPUT;
        else if (port->kind == YK_PORT_SIGNAL && (!optional || is_wired(m, i)))
            takes = YK_CAUSALITY_SIGNAL_INPUT;
        else if (port->kind == YK_PORT_SIGNAL)
            takes = YK_CAUSALITY_NONE;
        else if (moved && can_take_motion && !(wrenches && can_take_wrench))
            takes = YK_CAUSALITY_MOTION_INPUT;
        else if (can_take_wrench)
            takes = YK_CAUSALITY_WRENCH_INPUT;

        m->causalities[i] = takes;
        if (takes == YK_CAUSALITY_NONE || takes == YK_CAUSALITY_SIGNAL_OUTPUT)
            continue;

        /* A wrench has all components, also those that the interface does not constrain. */
        if (takes == YK_CAUSALITY_WRENCH_INPUT && port->kind == YK_PORT_MARKER)
            axes = YK_AXES_ALL;
        if (axes & (YK_AXIS_DISTANCE | YK_AXIS_KNIFE_EDGE | YK_AXIS_ROLLING))
            return yk_fail(m->context, YK_ERROR_CAPABILITY,
                           "port '%s' is joined by a distance, a knife edge or a rolling disc, "
                           "which an FMU cannot prescribe; let "
                           "it take a wrench",
                           port->name);

        yk_status status = m->object->ops->connect(m->object, i, takes, axes);
        if (YK_FAILED(status))
            return status;
    }
    return YK_OK;
}

yk_status yk_export_open(yk_context *context, const yk_export_def *def, yk_export_model *model)
{
    yk_export_model *m = model;
    *m = (yk_export_model){.context = context, .subsystem = -1};

    yk_scenario_def scenario = yk_scenario_default();
    scenario.path = def->scenario;
    scenario.overrides = def->overrides;
    scenario.override_count = def->override_count;

    yk_status status = yk_scenario_load(context, &scenario, NULL, &m->scenario);
    if (status != YK_OK)
        return status;

    /* The subsystem, if one is exported. */
    m->info = yk_scenario_get_info(m->scenario);
    for (int i = 0; def->subsystem && i < m->info->subsystem_count; i++)
        if (strcmp(m->info->subsystem_names[i], def->subsystem) == 0)
            m->subsystem = i;

    if (def->subsystem && m->subsystem < 0)
        status = yk_fail(context, YK_ERROR_INPUT, "%s has no subsystem '%s'", def->scenario,
                         def->subsystem);

    /* Initialize it to get the start values. */
    if (status == YK_OK && m->subsystem >= 0) {
        yk_subsystem *object = m->info->subsystems[m->subsystem];
        const yk_subsystem_ops *ops = object->ops;
        m->object = object;
        m->port_count = ops->ports(object, &m->ports);
        m->rolls_back = ops->rollback != NULL;
        if (ops->channels)
            m->channel_count = ops->channels->list(object, &m->channels);
        if (ops->max_input_degree)
            m->input_degree = ops->max_input_degree(object);

        /* Substeps recommended by the scheme do not belong to the subsystem. */
        const yk_node *sections = yk_node_get(m->scenario->root, "subsystems");
        const yk_node *section = yk_node_get(sections, def->subsystem);
        if (yk_node_get(section, "max_substep") || yk_node_get(section, "substeps"))
            m->longest_step = m->info->step / m->scenario->substeps[m->subsystem];
        status = connect_ports(m, def->wrenches);

        /* Sensitivities are those to wrenches, for which a step is repeated. */
        bool wrenches = false;
        bool others = false;
        for (int i = 0; status == YK_OK && i < m->port_count; i++) {
            wrenches = wrenches || m->causalities[i] == YK_CAUSALITY_WRENCH_INPUT;
            others = others || (m->causalities[i] & ~(unsigned)YK_CAUSALITY_WRENCH_INPUT) != 0;
        }
        m->differentiable =
            ops->sensitivity && ops->rollback && wrenches && !others && m->longest_step == 0;

        if (status == YK_OK) {
            status = ops->initialize(object, m->info->start, m->info->step, NULL);
            if (YK_FAILED(status) && ops->last_message)
                yk_fail(context, status, "%s", ops->last_message(object));
        }
    } else if (status == YK_OK) {
        /* A whole system is initialized as in a run. */
        yk_system *system;
        status = yk_scenario_system(m->scenario, &system);
        if (!YK_FAILED(status))
            status = yk_system_initialize(system);
        if (!YK_FAILED(status))
            m->rolls_back = yk_system_state_layout(system).word_count > 0;
    }

    /* The variables, counted and then written. */
    writer w = {.model = m};
    if (!YK_FAILED(status)) {
        list_variables(&w);
        m->names = yk_allocate(context, w.used + 1, 1);
        m->variables = yk_allocate(context, (size_t)w.count + 1, sizeof *m->variables);
        status = YK_OK;

        if (!m->names || !m->variables)
            status = YK_ERROR_MEMORY;
    }

    if (status != YK_OK) {
        yk_export_close(m);
        return status;
    }

    /* The second pass fills the memory measured by the first. */
    w.names = m->names;
    list_variables(&w);
    m->variable_count = w.count;

    /* Start values of the ports, from the initialized subsystem. */
    for (int i = 0; i < m->variable_count; i++) {
        yk_export_variable *v = &m->variables[i];
        if (v->port < 0)
            continue;

        yk_port_value value = {.motion.orientation.w = 1};
        m->object->ops->get_port_value(m->object, v->port, &value);
        memcpy(&v->start, (const double *)&value + v->offset, sizeof v->start);
        if (v->role != YK_EXPORT_INPUT)
            continue;

        /* A port without prescribed motion may not know its position. */
        if (m->ports[v->port].kind == YK_PORT_SIGNAL || !isfinite(v->start))
            v->start = 0;
        for (int k = 0; k < def->start_count; k++)
            if (def->starts[k].port == v->port && def->starts[k].offset == v->offset)
                v->start = def->starts[k].value;
    }

    return YK_OK;
}

/* The inputs of the subsystem that other subsystems provide at the start of a run: signals and
 * motions. `starts` has room for all variables. Returns their number. */
static int read_starts(yk_context *context, const yk_export_def *def, const yk_export_model *m,
                       yk_export_start *starts)
{
    /* Initialize the whole system, in a scenario of its own: the subsystem of the model is
     * connected as the FMU needs it. */
    yk_scenario_def scenario_def = yk_scenario_default();
    scenario_def.path = def->scenario;
    scenario_def.overrides = def->overrides;
    scenario_def.override_count = def->override_count;
    yk_scenario *scenario = NULL;
    yk_system *system = NULL;
    yk_status status = yk_scenario_load(context, &scenario_def, NULL, &scenario);
    if (!YK_FAILED(status))
        status = yk_scenario_system(scenario, &system);
    if (!YK_FAILED(status))
        status = yk_system_initialize(system);
    if (YK_FAILED(status)) {
        yk_log(context, YK_LOG_WARNING,
               "the inputs of '%s' start at 0 or where it is by itself, because the scenario does "
               "not start: %s",
               m->info->subsystem_names[m->subsystem], yk_last_message(context));
        yk_scenario_destroy(scenario);
        return 0;
    }

    int count = 0;
    bool merges = yk_scheme_traits(&m->info->scheme) & YK_SCHEME_MERGES;
    const yk_subsystem *started = yk_scenario_get_info(scenario)->subsystems[m->subsystem];
    for (int i = 0; i < m->variable_count; i++) {
        const yk_export_variable *v = &m->variables[i];
        if (v->role != YK_EXPORT_INPUT || m->causalities[v->port] == YK_CAUSALITY_WRENCH_INPUT)
            continue;

        yk_export_start start = {v->port, v->offset, NAN};
        for (int k = 0; k < m->info->wire_count; k++) {
            const yk_wire_def *wire = &m->info->wires[k];
            if (wire->target_subsystem.index == m->subsystem && wire->target_port.index == v->port)
                start.value = yk_system_wire_value(system, (yk_wire_id){k});
        }

        /* Merged subsystems do not run alone, and keep their start values. */
        if (m->causalities[v->port] == YK_CAUSALITY_MOTION_INPUT && !merges) {
            yk_port_value value = {.motion.orientation.w = 1};
            started->ops->get_port_value(started, v->port, &value);
            memcpy(&start.value, (const double *)&value + v->offset, sizeof start.value);
        }
        if (isfinite(start.value))
            starts[count++] = start;
    }

    yk_scenario_destroy(scenario);
    return count;
}

void yk_export_close(yk_export_model *model)
{
    if (!model->context)
        return;

    yk_free(model->context, model->causalities);
    yk_free(model->context, model->variables);
    yk_free(model->context, model->names);
    yk_scenario_destroy(model->scenario);
    *model = (yk_export_model){.subsystem = -1};
}

/* Descriptions --------------------------------------------------------------------------------- */

enum { PATH_BYTES = 4096 };

/* Name of the platform in the folder of the binary, by version. */
#if defined(__aarch64__)
static const char *const platforms[] = {"linux-aarch64", "aarch64-linux"};
#else
static const char *const platforms[] = {"linux64", "x86_64-linux"};
#endif

typedef struct output {
    yk_context *context;
    const yk_fmu_export_def *def;
    const yk_export_model *model;
    char *folder;
    char token[64];
    char identifier[64];
} output;

/* The unit of a variable in an FMU. */
typedef struct variable_unit {
    yk_unit_name name; /* "" for a pure number */
    yk_dimension dimension;
    double factor; /* to SI */
} variable_unit;

/* Outputs of a whole system are in SI; ports of a subsystem are in the units of the subsystem. */
static variable_unit unit_of(const yk_export_model *m, const yk_export_variable *v)
{
    variable_unit unit = {.dimension = yk_unit_dimension(v->unit), .factor = 1};
    if (m->subsystem >= 0) {
        const yk_transform *transform = &m->info->transforms[m->subsystem];
        unit.factor = yk_unit_factor(v->unit, transform->length_unit, transform->mass_unit);
        if (transform->length_unit != 1 || transform->mass_unit != 1) {
            unit.name = yk_scenario_own_unit(m->scenario, m->subsystem, v->unit, YK_UNIT_FMI);
            return unit;
        }
    }

    /* FMI writes "N.m/s2" for "N m/s^2", and no unit for a pure number. */
    size_t used = 0;
    for (const char *at = v->unit; *at && used < sizeof unit.name.text - 1; at++)
        if (*at != '^')
            unit.name.text[used++] = *at == ' ' ? '.' : *at;
    if (strcmp(unit.name.text, "1") == 0)
        unit.name.text[0] = '\0';

    return unit;
}

/* Defines the units of the variables that the table of FMI units does not have. */
static void add_units_of_variables(const output *o, yk_text *to)
{
    const yk_export_model *m = o->model;
    for (int i = 0; i < m->variable_count; i++) {
        variable_unit unit = unit_of(m, &m->variables[i]);
        bool defined = !unit.dimension.known || yk_fmi_unit_base(unit.name.text);
        for (int k = 0; k < i && !defined && unit.name.text[0]; k++)
            defined = strcmp(unit_of(m, &m->variables[k]).name.text, unit.name.text) == 0;
        if (defined || !unit.name.text[0])
            continue;

        const yk_dimension *d = &unit.dimension;
        yk_text_add(o->context, to,
                    "    <Unit name=\"%s\"><BaseUnit kg=\"%d\" m=\"%d\" s=\"%d\" rad=\"%d\" "
                    "factor=\"%.17g\"/></Unit>\n",
                    unit.name.text, d->mass, d->length, d->time, d->angle, unit.factor);
    }
}

static void add_variable(const output *o, yk_text *to, int index)
{
    static const char *const causalities[] = {"independent", "parameter", "input", "output"};
    static const char *const variabilities[] = {"continuous", "fixed", "continuous", "continuous"};
    yk_context *context = o->context;
    const yk_export_model *m = o->model;
    const yk_export_variable *v = &m->variables[index];
    bool three = o->def->version == 3;

    /* Version 3 has an element per type, version 2 one for all with the type inside. */
    yk_text_add(context, to, "    <%s name=\"", three ? "Float64" : "ScalarVariable");
    yk_text_add_xml(context, to, v->name);
    yk_text_add(context, to, "\" valueReference=\"%d\" causality=\"%s\" variability=\"%s\"", index,
                causalities[v->role], variabilities[v->role]);

    if (v->role == YK_EXPORT_OUTPUT)
        yk_text_add(context, to, " initial=\"calculated\"");
    if (!three)
        yk_text_add(context, to, "><Real");

    variable_unit unit = unit_of(m, v);
    if (unit.dimension.known && unit.name.text[0])
        yk_text_add(context, to, " unit=\"%s\"", unit.name.text);

    /* Outputs have no start values: they are calculated. */
    if (v->role == YK_EXPORT_INPUT || v->role == YK_EXPORT_PARAMETER)
        yk_text_add(context, to, " start=\"%.17g\"", v->start);

    /* For wrenches that the model cannot follow, recommend the mean. */
    bool wrench = v->port >= 0 && m->causalities[v->port] == YK_CAUSALITY_WRENCH_INPUT;
    bool follows = m->input_degree >= YK_INPUT_DEGREE_MAX;
    if (three && v->role == YK_EXPORT_INPUT && (follows || !wrench))
        yk_text_add(context, to, " intermediateUpdate=\"true\"");

    yk_text_add(context, to, three ? "/>\n" : "/></ScalarVariable>\n");
}

/* Whether an output depends on an input at the same time. Motions and wrenches may act on all
 * outputs; for signals see yk_subsystem_ops.feeds_through. */
static bool depends(const yk_export_model *m, const yk_export_variable *result,
                    const yk_export_variable *input)
{
    if (m->ports[input->port].kind != YK_PORT_SIGNAL)
        return true;
    if (m->object->ops->feeds_through)
        return m->object->ops->feeds_through(m->object, input->port, result->port, result->channel,
                                             result->offset);
    return result->port >= 0 && m->ports[result->port].kind == YK_PORT_SIGNAL;
}

/* The inputs on which an output depends. Importers find algebraic loops by them. */
static void add_dependencies(const output *o, yk_text *to, const yk_export_variable *result)
{
    const yk_export_model *m = o->model;
    const char *space = "";
    yk_text_add(o->context, to, " dependencies=\"");
    for (int i = 0; i < m->variable_count; i++) {
        const yk_export_variable *v = &m->variables[i];
        if (v->role != YK_EXPORT_INPUT || !depends(m, result, v))
            continue;
        yk_text_add(o->context, to, "%s%d", space, o->def->version == 3 ? i : i + 1);
        space = " ";
    }
    yk_text_add(o->context, to, "\"");
}

static yk_status write_description(output *o)
{
    yk_context *context = o->context;
    const yk_export_model *m = o->model;
    bool three = o->def->version == 3;
    yk_text text = {0};
    yk_text *to = &text;

    /* The root. */
    const char *name = o->identifier;
    if (m->subsystem >= 0)
        name = m->info->subsystem_names[m->subsystem];

    yk_text_add(context, to,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription "
                "fmiVersion=\"%d.0\" modelName=\"",
                o->def->version);
    yk_text_add_xml(context, to, name);
    yk_text_add(context, to, "\" %s=\"%s\" generationTool=\"Yoke %s\"",
                three ? "instantiationToken" : "guid", o->token, yk_version());

    /* A title may contain characters that XML does not allow. */
    if (m->info->title[0]) {
        yk_text_add(context, to, " description=\"");
        yk_text_add_xml(context, to, m->info->title);
        yk_text_add(context, to, "\"");
    }
    if (!three)
        yk_text_add(context, to, " variableNamingConvention=\"flat\"");

    /* Capabilities. A subsystem makes steps of any size, a system multiples of its own. */
    bool any_step = m->subsystem >= 0;
    const char *truth[] = {"false", "true"};
    const char *state = three ? "State" : "state";
    yk_text_add(context, to, ">\n  <CoSimulation modelIdentifier=\"%s\"", o->identifier);
    yk_text_add(context, to, " canHandleVariableCommunicationStepSize=\"%s\"", truth[any_step]);
    yk_text_add(context, to, " canGetAndSetFMU%s=\"%s\"", state, truth[m->rolls_back]);
    yk_text_add(context, to, " canSerializeFMU%s=\"%s\"", state, truth[m->rolls_back]);

    /* Version 2 of the standard has no adjoint derivatives. */
    if (three && m->differentiable)
        yk_text_add(context, to,
                    " providesDirectionalDerivatives=\"true\""
                    " providesAdjointDerivatives=\"true\"");
    if (!three && m->differentiable)
        yk_text_add(context, to, " providesDirectionalDerivative=\"true\"");

    /* Inputs within a step: requested in FMI 3, as lines in FMI 2. */
    if (three && any_step)
        yk_text_add(context, to, " providesIntermediateUpdate=\"true\"");
    if (three && !any_step)
        yk_text_add(context, to, " fixedInternalStepSize=\"%.17g\"", m->info->step);
    if (!three && any_step)
        yk_text_add(context, to, " canInterpolateInputs=\"true\"");
    yk_text_add(context, to, "/>\n");

    /* Units, each once. */
    yk_text_add(context, to, "  <UnitDefinitions>\n");
    for (int i = 0; i < YK_FMI_UNITS; i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first = first && strcmp(yk_fmi_units[k].name, yk_fmi_units[i].name) != 0;

        if (first)
            yk_text_add(context, to, "    <Unit name=\"%s\"><BaseUnit %s/></Unit>\n",
                        yk_fmi_units[i].name, yk_fmi_units[i].base);
    }
    add_units_of_variables(o, to);
    yk_text_add(context, to, "  </UnitDefinitions>\n");

    /* The experiment is the scenario's own, the variables those of the model. */
    yk_text_add(
        context, to,
        "  <DefaultExperiment startTime=\"%.17g\" stopTime=\"%.17g\" stepSize=\"%.17g\"/>\n",
        m->info->start, m->info->end, m->info->step);

    /* Properties for which the standard has no element, and that only Yoke reads. */
    char note[120] = "";
    if (m->differentiable)
        snprintf(note, sizeof note, " derivativeStride=\"%d\"", m->variable_count);
    if (!three && m->subsystem >= 0)
        yk_text_add(context, to,
                    "  <VendorAnnotations>\n    <Tool name=\"yoke\"><" YK_FMI_ANNOTATION
                    " inputDegree=\"%d\"%s/></Tool>\n  </VendorAnnotations>\n",
                    m->input_degree, note);

    /* Value references are indices of this list, as in the runtime. */
    yk_text_add(context, to, "  <ModelVariables>\n");
    for (int i = 0; i < m->variable_count; i++)
        add_variable(o, to, i);
    yk_text_add(context, to, "  </ModelVariables>\n");

    /* The structure: all outputs, and again as unknowns at the start. */
    static const char *const element[] = {"Output", "InitialUnknown"};
    yk_text_add(context, to, "  <ModelStructure>\n");
    for (int pass = 0; pass < 2; pass++) {
        if (!three)
            yk_text_add(context, to, "    <%ss>\n", element[pass]);

        for (int i = 0; i < m->variable_count; i++) {
            if (m->variables[i].role != YK_EXPORT_OUTPUT)
                continue;
            if (three)
                yk_text_add(context, to, "    <%s valueReference=\"%d\"", element[pass], i);
            else
                yk_text_add(context, to, "      <Unknown index=\"%d\"", i + 1);
            if (pass == 0 && m->subsystem >= 0)
                add_dependencies(o, to, &m->variables[i]);
            yk_text_add(context, to, "/>\n");
        }
        if (!three)
            yk_text_add(context, to, "    </%ss>\n", element[pass]);
    }
    yk_text_add(context, to, "  </ModelStructure>\n");

    /* The schema of version 3 has annotations last, that of version 2 before the variables. */
    if (three && m->subsystem >= 0)
        yk_text_add(context, to,
                    "  <Annotations>\n    <Annotation type=\"yoke\"><" YK_FMI_ANNOTATION
                    " inputDegree=\"%d\"%s/></Annotation>\n  </Annotations>\n",
                    m->input_degree, note);
    yk_text_add(context, to, "</fmiModelDescription>\n");

    yk_status status = YK_ERROR_MEMORY;
    if (!text.failed)
        status = yk_archive_put_text(o->context, o->folder, "modelDescription.xml", text.data);
    yk_text_destroy(context, to);
    return status;
}

/* FMI 3: a port with power is a terminal whose members are its quantities. */
static yk_status write_terminals(output *o)
{
    yk_context *context = o->context;
    const yk_export_model *m = o->model;
    yk_text text = {0};
    yk_text *to = &text;
    int count = 0;
    yk_text_add(context, to,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiTerminalsAndIcons "
                "fmiVersion=\"3.0\">\n  <Terminals>\n");

    for (int i = 0; i < m->port_count; i++) {
        const yk_port *port = &m->ports[i];
        if (m->causalities[i] == YK_CAUSALITY_NONE || port->kind == YK_PORT_SIGNAL)
            continue;

        count++;
        yk_text_add(context, to, "    <Terminal name=\"");
        yk_text_add_xml(context, to, port->name);
        yk_text_add(context, to, "\" matchingRule=\"plug\" terminalKind=\"%s\">\n",
                    port->kind == YK_PORT_MARKER ? "yoke.marker" : "yoke.scalar");

        /* Forces are flows: at a connection they sum to zero. */
        for (int k = 0; k < m->variable_count; k++) {
            const yk_export_variable *v = &m->variables[k];
            if (v->port != i)
                continue;

            bool flow = strncmp(v->member, "force", 5) == 0 || strncmp(v->member, "torque", 6) == 0;

            yk_text_add(context, to, "      <TerminalMemberVariable variableName=\"");
            yk_text_add_xml(context, to, v->name);
            yk_text_add(context, to, "\" memberName=\"%s\" variableKind=\"%s\"/>\n", v->member,
                        flow ? "inflow" : "signal");
        }
        yk_text_add(context, to, "    </Terminal>\n");
    }
    yk_text_add(context, to, "  </Terminals>\n</fmiTerminalsAndIcons>\n");

    /* A model without ports of power needs no terminals. */
    yk_status status = YK_OK;
    if (text.failed)
        status = YK_ERROR_MEMORY;
    if (status == YK_OK && count > 0)
        status = yk_archive_put_text(o->context, o->folder,
                                     "terminalsAndIcons/terminalsAndIcons.xml", text.data);
    yk_text_destroy(context, to);
    return status;
}

/* The FMU -------------------------------------------------------------------------------------- */

yk_status yk_fmu_export(yk_context *context, const yk_fmu_export_def *def)
{
    yk_export_model model;
    yk_export_def model_def = def->model;
    yk_export_start *starts = NULL;
    yk_status status = yk_export_open(context, &model_def, &model);
    if (status != YK_OK)
        return status;

    /* Values that the other subsystems of the scenario provide at the start. */
    if (model.subsystem >= 0) {
        starts = yk_allocate(context, (size_t)model.variable_count, sizeof *starts);
        if (starts) {
            model_def.starts = starts;
            model_def.start_count = read_starts(context, &model_def, &model, starts);
        }
        yk_export_close(&model);
        status = starts ? yk_export_open(context, &model_def, &model) : YK_ERROR_MEMORY;
        if (status != YK_OK) {
            yk_free(context, starts);
            return status;
        }
    }

    output o = {.context = context, .def = def, .model = &model};

    /* The name of the binary is that of the file, as an identifier of C, because functions of
     * statically linked FMUs of FMI 2 begin with it. */
    const char *name = strrchr(def->file, '/');
    if (name)
        name++;
    else
        name = def->file;
    size_t used = 0;
    for (; *name && *name != '.' && used + 1 < sizeof o.identifier; name++) {
        bool letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
        bool digit = *name >= '0' && *name <= '9';

        if (used == 0 && !letter)
            o.identifier[used++] = 'm';
        if (used + 1 < sizeof o.identifier)
            o.identifier[used++] = letter || digit ? *name : '_';
    }

    /* A file named ".fmu" has no usable name. */
    if (used == 0)
        snprintf(o.identifier, sizeof o.identifier, "model");

    /* All files in a folder, which is packed at the end: first the scenario, with overrides
     * applied. The token changes with everything that changes the variables of the FMU. */
    const yk_export_def *of = &def->model;
    const char *subsystem = of->subsystem ? of->subsystem : "";
    char *text = NULL;
    status = yk_archive_folder(context, &o.folder);
    if (status == YK_OK)
        status = yk_scenario_edit(context, of->scenario, of->overrides, of->override_count, &text);
    if (status == YK_OK) {
        uint64_t hash = yk_hash_bytes(YK_HASH_START, text, strlen(text));
        hash = yk_hash_bytes(hash, subsystem, strlen(subsystem));
        snprintf(o.token, sizeof o.token, "{yoke-%016llx-%d%d}", (unsigned long long)hash,
                 def->version, of->wrenches);
        status = yk_archive_put_text(context, o.folder, "resources/" YK_EXPORT_SCENARIO, text);
    }
    yk_free(context, text);

    /* Files keep their path below the folder, so that the scenario finds them. */
    const yk_builder *builder = &model.scenario->builder;
    const yk_scenario_input *file = builder->files;
    for (; file && status == YK_OK; file = file->next) {
        if (file->path[0] == '/' || strstr(file->path, "..")) {
            status = yk_fail(context, YK_ERROR_INPUT,
                             "the file %s lies outside of the scenario's folder and cannot be put "
                             "into an FMU",
                             file->path);
            break;
        }

        char from[PATH_BYTES];
        char to[PATH_BYTES];
        snprintf(from, sizeof from, "%s%s", builder->folder, file->path);
        snprintf(to, sizeof to, "resources/%s", file->path);
        status = yk_archive_put_file(context, o.folder, to, from);
    }

    /* Data that the binary reads when it is loaded. */
    if (status == YK_OK) {
        yk_text notes = {0};
        yk_text_add(context, &notes, "%s\n%.200s\n%d\n", o.token, subsystem, of->wrenches);
        for (int i = 0; i < model_def.start_count; i++) {
            uint64_t bits; /* every bit of the value as text */
            memcpy(&bits, &starts[i].value, sizeof bits);
            yk_text_add(context, &notes, "%d %d %llx\n", starts[i].port, starts[i].offset,
                        (unsigned long long)bits);
        }
        status = YK_ERROR_MEMORY;
        if (!notes.failed)
            status =
                yk_archive_put_text(context, o.folder, "resources/" YK_EXPORT_NOTES, notes.data);
        yk_text_destroy(context, &notes);
    }

    /* Its description, and the binary. */
    if (status == YK_OK)
        status = write_description(&o);
    if (status == YK_OK && def->version == 3)
        status = write_terminals(&o);
    if (status == YK_OK) {
        char binary[200];
        const char *platform = platforms[def->version == 3];
        snprintf(binary, sizeof binary, "binaries/%s/%s.so", platform, o.identifier);
        status = yk_archive_put_file(context, o.folder, binary, def->binary);
    }
    if (status == YK_OK)
        status = yk_archive_pack(context, o.folder, def->file);

    yk_archive_remove(context, o.folder);
    yk_export_close(&model);
    yk_free(context, starts);
    return status;
}
