#include "fmu/interface.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/scenario.h"

/* Quantities of a port as runs of doubles in yk_port_value. */
typedef struct quantity {
    const char *name, *unit;
    size_t at;          /* bytes */
    int marker, scalar; /* components */
    bool wrench;
} quantity;

#define AT(member) offsetof(yk_port_value, member)
static const quantity quantities[] = {
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
static const char *const quaternion[] = {"w", "x", "y", "z"};

/* Where the names are written: counted first, then kept. */
typedef struct writer {
    yk_export_model *model;
    char *names; /* NULL: only counted */
    size_t used;
    int count;
} writer;

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

static void list_variables(writer *w)
{
    const yk_export_model *m = w->model;
    const yk_scenario_info *info = m->info;

    /* Time is there in any case: FMI 3 wants it as a variable. */
    w->used = 0;
    w->count = 0;
    add(w, (yk_export_variable){.name = "time", .unit = "s", .role = YK_EXPORT_TIME, .port = -1});

    /* Parameters of the scenario, with their values to start from. */
    const yk_scope *scope = &m->scenario->resolver.scope;
    yk_export_variable parameter = {.unit = "", .role = YK_EXPORT_PARAMETER, .port = -1};
    for (int i = 0; i < scope->parameter_count; i++) {
        parameter.name = keep(w, "parameters", scope->parameters[i].name, "");
        parameter.offset = i;
        parameter.start = scope->parameters[i].value;
        add(w, parameter);
    }

    /* A subsystem has its ports; m->port_count is 0 for a whole system. */
    for (int i = 0; i < m->port_count; i++) {
        const yk_port *port = &m->ports[i];
        yk_causality takes = m->causalities[i];
        yk_export_variable variable = {.unit = "", .role = YK_EXPORT_OUTPUT, .port = i};
        if (takes == YK_UNCONNECTED)
            continue;

        /* A signal is one number, kept where a scalar position is. */
        if (port->kind == YK_PORT_SIGNAL) {
            if (takes == YK_TAKES_SIGNAL)
                variable.role = YK_EXPORT_INPUT;

            variable.name = keep(w, port->name, "", "");
            variable.offset = (int)(AT(motion.position) / sizeof(double));
            add(w, variable);
            continue;
        }

        /* A port with power has quantities of motion and of wrench, by components. The side of the
         * power that it takes is an input, the other one an output. */
        for (int q = 0; q < QUANTITIES; q++) {
            const quantity *row = &quantities[q];
            int size = row->scalar;
            if (port->kind == YK_PORT_MARKER)
                size = row->marker;

            variable.unit = row->unit;
            variable.role = YK_EXPORT_OUTPUT;
            if (row->wrench == (takes == YK_TAKES_WRENCH))
                variable.role = YK_EXPORT_INPUT;

            for (int c = 0; c < size; c++) {
                const char *component = "";
                if (size > 1)
                    component = size == 4 ? quaternion[c] : letters[c];

                variable.name = keep(w, port->name, row->name, component);
                variable.member = keep(w, row->name, component, "");
                variable.offset = (int)(row->at / sizeof(double)) + c;
                add(w, variable);
            }
        }
    }

    if (m->subsystem >= 0)
        return;

    /* A whole system has all recorded channels, component by component. */
    yk_export_variable output = {.role = YK_EXPORT_OUTPUT, .port = -1};
    for (int i = 0; i < info->channel_count; i++) {
        const yk_channel *channel = &info->channels[i];
        const char *const *labels = yk_scenario_channel_labels(m->scenario, i);
        int size = channel->components;

        for (int c = 0; c < size; c++) {
            /* Labels of the scenario, else the usual letters, else numbers. */
            char number[16];
            snprintf(number, sizeof number, "%d", c + 1);
            const char *component = number;
            if (size == 1)
                component = "";
            else if (labels)
                component = labels[c];
            else if (size == 4)
                component = quaternion[c];
            else if (size <= 6)
                component = letters[c];

            output.name = keep(w, channel->name, component, "");
            output.unit = size > 4 ? "" : channel->unit;
            add(w, output);
            output.offset++;
        }
    }
}

/* How the scenario uses the ports of a subsystem, and with which axes. */
static yk_status connect_ports(yk_export_model *m, bool wrenches)
{
    m->causalities = yk_allocate(m->context, (size_t)m->port_count + 1, sizeof *m->causalities);
    if (!m->causalities)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < m->port_count; i++) {
        const yk_port *port = &m->ports[i];
        bool can_take_motion = port->causalities & YK_TAKES_MOTION;
        bool can_take_wrench = port->causalities & YK_TAKES_WRENCH;

        unsigned axes = YK_AXIS_X;
        if (port->kind == YK_PORT_MARKER)
            axes = YK_AXES_ALL;

        /* On the motion side of an interface it takes the motion there. */
        bool moved = false;
        for (int k = 0; k < m->info->interface_count; k++) {
            const yk_interface_def *one = &m->info->interfaces[k];
            if (one->motion_subsystem != m->subsystem || one->motion_port != i)
                continue;

            moved = true;
            if (can_take_motion)
                axes = one->constrained;
        }

        /* A signal has one direction; others take motion where the scenario moves them. */
        yk_causality takes = YK_UNCONNECTED;
        if (port->kind == YK_PORT_SIGNAL && (port->causalities & YK_TAKES_SIGNAL))
            takes = YK_TAKES_SIGNAL;
        else if (port->kind == YK_PORT_SIGNAL)
            takes = YK_GIVES_SIGNAL;
        else if (moved && can_take_motion && !(wrenches && can_take_wrench))
            takes = YK_TAKES_MOTION;
        else if (can_take_wrench)
            takes = YK_TAKES_WRENCH;

        m->causalities[i] = takes;
        if (takes == YK_UNCONNECTED || takes == YK_GIVES_SIGNAL)
            continue;

        /* A wrench has all components, whatever the interface constrains. */
        if (takes == YK_TAKES_WRENCH && port->kind == YK_PORT_MARKER)
            axes = YK_AXES_ALL;
        if (axes == YK_AXIS_DISTANCE)
            return yk_fail(m->context, YK_ERROR_CAPABILITY,
                           "port '%s' is joined by a distance, which an FMU cannot prescribe; let "
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

    /* The subsystem, if it is to be one. */
    m->info = yk_scenario_get(m->scenario);
    for (int i = 0; def->subsystem && i < m->info->subsystem_count; i++)
        if (strcmp(m->info->names[i], def->subsystem) == 0)
            m->subsystem = i;

    if (def->subsystem && m->subsystem < 0)
        status = yk_fail(context, YK_ERROR_INPUT, "%s has no subsystem '%s'", def->scenario,
                         def->subsystem);

    /* It is started, so that start values are known. */
    if (status == YK_OK && m->subsystem >= 0) {
        yk_subsystem *object = m->info->subsystems[m->subsystem];
        const yk_subsystem_ops *ops = object->ops;
        m->object = object;
        m->port_count = ops->ports(object, &m->ports);
        m->rolls_back = ops->rollback != NULL;
        if (ops->input_degree)
            m->input_degree = ops->input_degree(object);
        status = connect_ports(m, def->wrenches);

        /* Sensitivities are those to wrenches; a step is repeated for them. */
        bool wrenches = false;
        bool others = false;
        for (int i = 0; status == YK_OK && i < m->port_count; i++) {
            wrenches = wrenches || m->causalities[i] == YK_TAKES_WRENCH;
            others = others || (m->causalities[i] & ~(unsigned)YK_TAKES_WRENCH) != 0;
        }
        m->differentiable = ops->sensitivity && ops->rollback && wrenches && !others;

        if (status == YK_OK) {
            status = ops->start(object, m->info->start, m->info->step, NULL);
            if (YK_FAILED(status) && ops->message)
                yk_fail(context, status, "%s", ops->message(object));
        }
    } else if (status == YK_OK) {
        /* A whole system is started as a run starts it. */
        yk_system *system;
        status = yk_scenario_system(m->scenario, &system);
        if (!YK_FAILED(status))
            status = yk_system_start(system);
        if (!YK_FAILED(status))
            m->rolls_back = yk_system_state_layout(system).words > 0;
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

    w.names = m->names;
    list_variables(&w);
    m->variable_count = w.count;

    /* Start values of the ports, as the started subsystem has them. */
    for (int i = 0; i < m->variable_count; i++) {
        yk_export_variable *v = &m->variables[i];
        if (v->port < 0)
            continue;

        yk_port_value value = {.motion.orientation.w = 1};
        m->object->ops->output(m->object, v->port, &value);
        memcpy(&v->start, (const double *)&value + v->offset, sizeof v->start);
    }

    return YK_OK;
}

void yk_export_close(yk_export_model *model)
{
    if (!model->context)
        return;

    yk_release(model->context, model->causalities);
    yk_release(model->context, model->variables);
    yk_release(model->context, model->names);
    yk_scenario_destroy(model->scenario);
    *model = (yk_export_model){.subsystem = -1};
}
