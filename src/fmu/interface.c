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
    char *names;
    size_t used;
    int count;
} writer;

/* A name in the model's memory; in the first pass only its size. */
static const char *keep(writer *w, const char *a, const char *b, const char *c)
{
    size_t bytes = strlen(a) + strlen(b) + strlen(c) + 3;
    char *to = w->names ? w->names + w->used : NULL;
    w->used += bytes;
    if (!to)
        return "";
    snprintf(to, bytes, "%s%s%s%s%s", a, b[0] ? "." : "", b, c[0] ? "." : "", c);
    return to;
}

static void add(writer *w, yk_export_variable variable)
{
    if (w->names)
        w->model->variables[w->count] = variable;
    w->count++;
}

static void add_port(writer *w, int index)
{
    const yk_port *port = &w->model->ports[index];
    yk_causality takes = w->model->causalities[index];
    if (takes == YK_UNCONNECTED)
        return;
    if (port->kind == YK_PORT_SIGNAL) {
        add(w, (yk_export_variable){.name = keep(w, port->name, "", ""),
                                    .unit = "",
                                    .role = takes == YK_TAKES_SIGNAL ? YK_EXPORT_INPUT
                                                                     : YK_EXPORT_OUTPUT,
                                    .port = index,
                                    .member = "signal",
                                    .offset = (int)(AT(motion.position) / sizeof(double))});
        return;
    }

    for (int q = 0; q < QUANTITIES; q++) {
        const quantity *row = &quantities[q];
        int size = port->kind == YK_PORT_MARKER ? row->marker : row->scalar;
        bool input = row->wrench == (takes == YK_TAKES_WRENCH);
        for (int i = 0; i < size; i++) {
            const char *component = "";
            if (size > 1)
                component = size == 4 ? quaternion[i] : letters[i];
            add(w, (yk_export_variable){.name = keep(w, port->name, row->name, component),
                                        .unit = row->unit,
                                        .role = input ? YK_EXPORT_INPUT : YK_EXPORT_OUTPUT,
                                        .port = index,
                                        .member = keep(w, row->name, component, ""),
                                        .offset = (int)(row->at / sizeof(double)) + i});
        }
    }
}

static void add_channels(writer *w)
{
    const yk_scenario_info *info = w->model->info;
    int offset = 0;

    for (int i = 0; i < info->channel_count; i++) {
        const yk_channel *channel = &info->channels[i];
        const char *const *labels = yk_scenario_channel_labels(w->model->scenario, i);
        for (int c = 0; c < channel->components; c++) {
            char number[16];
            const char *component = "";
            if (channel->components > 1) {
                snprintf(number, sizeof number, "%d", c + 1);
                component = number;
                if (labels)
                    component = labels[c];
                else if (channel->components == 4)
                    component = quaternion[c];
                else if (channel->components <= 6)
                    component = letters[c];
            }
            add(w, (yk_export_variable){.name = keep(w, channel->name, component, ""),
                                        .unit = channel->components > 4 ? "" : channel->unit,
                                        .role = YK_EXPORT_OUTPUT,
                                        .port = -1,
                                        .offset = offset++});
        }
    }
}

static void list_variables(writer *w)
{
    const yk_scope *scope = &w->model->scenario->resolver.scope;
    w->used = 0;
    w->count = 0;
    add(w, (yk_export_variable){.name = "time", .unit = "s", .role = YK_EXPORT_TIME, .port = -1});

    for (int i = 0; i < scope->parameter_count; i++)
        add(w, (yk_export_variable){.name = keep(w, "parameters", scope->parameters[i].name, ""),
                                    .unit = "",
                                    .role = YK_EXPORT_PARAMETER,
                                    .port = -1,
                                    .offset = i,
                                    .start = scope->parameters[i].value});

    if (w->model->subsystem < 0)
        add_channels(w);
    for (int i = 0; i < w->model->port_count; i++)
        add_port(w, i);
}

/* How the scenario uses the ports of a subsystem, and with which axes. */
static yk_status connect_ports(yk_export_model *m, bool wrenches)
{
    m->causalities = yk_allocate(m->context, (size_t)m->port_count + 1, sizeof *m->causalities);
    if (!m->causalities)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < m->port_count; i++) {
        const yk_port *port = &m->ports[i];
        unsigned can = port->causalities;
        unsigned axes = port->kind == YK_PORT_MARKER ? YK_AXES_ALL : YK_AXIS_X;
        bool moved = false;
        for (int k = 0; k < m->info->interface_count; k++) {
            const yk_interface_def *one = &m->info->interfaces[k];
            if (one->motion_subsystem != m->subsystem || one->motion_port != i)
                continue;
            moved = true;
            if (can & YK_TAKES_MOTION)
                axes = one->constrained;
        }
        bool forced = wrenches && (can & YK_TAKES_WRENCH);
        if (port->kind == YK_PORT_SIGNAL)
            m->causalities[i] = can & YK_TAKES_SIGNAL ? YK_TAKES_SIGNAL : YK_GIVES_SIGNAL;
        else if (moved && (can & YK_TAKES_MOTION) && !forced)
            m->causalities[i] = YK_TAKES_MOTION;
        else if (can & YK_TAKES_WRENCH)
            m->causalities[i] = YK_TAKES_WRENCH;
        if (m->causalities[i] == YK_UNCONNECTED || m->causalities[i] == YK_GIVES_SIGNAL)
            continue;
        if (m->causalities[i] == YK_TAKES_WRENCH && port->kind == YK_PORT_MARKER)
            axes = YK_AXES_ALL;
        if (axes == YK_AXIS_DISTANCE)
            return yk_fail(m->context, YK_ERROR_CAPABILITY,
                           "port '%s' is joined by a distance, which an FMU cannot prescribe; let "
                           "it take a wrench",
                           port->name);
        yk_status status = m->object->ops->connect(m->object, i, m->causalities[i], axes);
        if (YK_FAILED(status))
            return status;
    }

    return YK_OK;
}

/* Starts the model, so that start values are known. */
static yk_status start_model(yk_export_model *m)
{
    if (m->subsystem >= 0) {
        yk_status status = m->object->ops->start(m->object, m->info->start, m->info->step, NULL);
        if (YK_FAILED(status) && m->object->ops->message)
            return yk_fail(m->context, status, "%s", m->object->ops->message(m->object));
        m->rolls_back = m->object->ops->rollback != NULL;
        m->follows = yk_follows_polynomials(m->object);
        return status;
    }

    yk_system *system;
    yk_status status = yk_scenario_system(m->scenario, &system);
    if (!YK_FAILED(status))
        status = yk_system_start(system);
    if (!YK_FAILED(status))
        m->rolls_back = yk_system_state_layout(system).words > 0;

    return status;
}

static void read_start_values(yk_export_model *m)
{
    for (int i = 0; i < m->variable_count; i++) {
        yk_export_variable *v = &m->variables[i];
        if (v->port < 0)
            continue;
        yk_port_value value = {.motion.orientation.w = 1};
        m->object->ops->output(m->object, v->port, &value);
        memcpy(&v->start, (const double *)&value + v->offset, sizeof v->start);
    }
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
    m->info = yk_scenario_get(m->scenario);

    if (def->subsystem) {
        for (int i = 0; i < m->info->subsystem_count; i++)
            if (strcmp(m->info->names[i], def->subsystem) == 0)
                m->subsystem = i;
        if (m->subsystem < 0)
            status = yk_fail(context, YK_ERROR_INPUT, "%s has no subsystem '%s'", def->scenario,
                             def->subsystem);
    }
    if (status == YK_OK && m->subsystem >= 0) {
        m->object = m->info->subsystems[m->subsystem];
        m->port_count = m->object->ops->ports(m->object, &m->ports);
        status = connect_ports(m, def->wrenches);
    }
    if (status == YK_OK)
        status = start_model(m);

    writer w = {.model = m};
    if (!YK_FAILED(status)) {
        list_variables(&w);
        m->names = yk_allocate(context, w.used + 1, 1);
        m->variables = yk_allocate(context, (size_t)w.count + 1, sizeof *m->variables);
        status = m->names && m->variables ? YK_OK : YK_ERROR_MEMORY;
    }
    if (status == YK_OK) {
        w.names = m->names;
        list_variables(&w);
        m->variable_count = w.count;
        read_start_values(m);
    }
    if (status != YK_OK)
        yk_export_close(m);

    return status;
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
