/* Hydraulic circuits (yoke/hydraulic.h) as subsystems. */
#include <stdio.h>
#include <string.h>

#include "base/builder.h"
#include "base/context.h"
#include "base/text.h"
#include "math/polynomial.h"
#include "physics/hydraulic_parts.h"
#include "physics/options.h"

static const yk_subsystem_ops hydraulic_ops;

/* Initialization ---------------------------------------------------------------------------------------- */

/* Logs one warning for the events of the run. */
static void log_events(yk_hydraulic *self)
{
    static const char *const words[YK_HYDRAULIC_EVENTS] = {
        [YK_BLOCKED] = "its valve kept fluid from flowing back",
        [YK_CAVITATED] = "a chamber cavitated",
        [YK_STOPPED] = "its piston was at an end stop",
        [YK_LIMITED] = "the spool's command was limited",
        [YK_BEYOND_RANGE] = "a pressure was beyond the range of the fluid's bulk modulus",
    };

    for (int i = 0; self->ran && i < self->count; i++) {
        const yk_hydraulic_ledger *b = self->slots[i].ledger;
        for (int k = 0; k < YK_HYDRAULIC_EVENTS; k++) {
            if (!(b->event_time[k] > 0))
                continue;

            yk_log(self->context, YK_LOG_WARNING,
                   "%s: cylinder '%s': %s for %.3g s in all, from t = %.6g s on", self->name,
                   self->slots[i].name, words[k], b->event_time[k], b->event_first[k]);
        }
    }

    self->ran = false;
}

/* Initial pressures: given, from the initial force, or those of a steady flow. */
static yk_status start_heads(yk_hydraulic *self, const yk_hydraulic_slot *at,
                             const yk_cylinder_drive *drive, double heads[2])
{
    const yk_hydraulic_cylinder_def *def = &at->def;
    const double *area = at->cylinder.area;
    double sum = drive->pump + drive->tank;

    switch (def->initial_state) {
    case YK_HYDRAULIC_INITIAL_PRESSURE:
        heads[0] = def->pressure[0];
        heads[1] = def->pressure[1];
        break;
    case YK_HYDRAULIC_INITIAL_FORCE:
        /* A2 p2 - A1 p1 = force and p1 + p2 = pump + tank: both orifices of a chamber lose the
         * same. */
        heads[1] = (def->force + area[0] * sum) / (area[0] + area[1]);
        heads[0] = sum - heads[1];
        break;
    case YK_HYDRAULIC_INITIAL_STEADY:
        if (yk_cylinder_steady(&at->cylinder, drive, heads))
            break;
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "%s: the valve of cylinder '%s' is closed at the start and leaves its "
                       "pressures open; give them, or the force that it holds",
                       self->name, at->name);
    }

    /* Between the vapor pressure and the limit of the density law. */
    double lowest = fmin(heads[0], heads[1]);
    double highest = fmax(heads[0], heads[1]);
    if (lowest >= self->fluid.vapor_pressure && highest < yk_fluid_limit(&self->fluid))
        return YK_OK;
    return yk_fail(self->context, YK_ERROR_ARGUMENT,
                   "%s: cylinder '%s' would start with %g and %g Pa; the force that it is to hold "
                   "is beyond pump and tank",
                   self->name, at->name, heads[0] / self->def.pascal, heads[1] / self->def.pascal);
}

static yk_status start_cylinder(yk_hydraulic *self, int index, double t, const yk_input *inputs)
{
    yk_hydraulic_slot *at = &self->slots[index];
    yk_hydraulic_job j = {.self = self, .at = at, .begin = t};

    if (at->joined && inputs)
        j.motion = &inputs[index];
    if (at->wired && inputs)
        j.spool = &inputs[self->count + index];

    *at->now = (yk_hydraulic_state){.length = at->def.initial_actuator_length};
    *at->ledger = (yk_hydraulic_ledger){.time = t};
    at->origin = at->def.initial_actuator_length;
    if (isnan(at->origin))
        at->origin = j.motion ? yk_input_scalar(j.motion, 0) : 0;

    if (!at->joined)
        at->now->length = at->origin;
    if (j.motion) {
        at->now->length = yk_input_scalar(j.motion, 0);
        at->now->rate = yk_input_scalar_rate(j.motion, 0);
        at->ledger->acceleration = yk_input_scalar_second_rate(j.motion, 0);
    }

    /* The spool is at its command, and the pressures belong to it. */
    yk_cylinder_drive drive = yk_hydraulic_drive(&j, t);
    at->now->unknown[2] = drive.command;

    return start_heads(self, at, &drive, at->now->unknown);
}

static yk_status hydraulic_initialize(yk_subsystem *subsystem, double t, double h,
                                      const yk_input *inputs)
{
    yk_hydraulic *self = (yk_hydraulic *)subsystem;
    (void)h;

    log_events(self);

    for (int i = 0; i < self->count; i++) {
        yk_status status = start_cylinder(self, i, t, inputs);
        if (status == YK_OK)
            continue;

        int most = (int)sizeof self->message - 1;
        snprintf(self->message, sizeof self->message, "%.*s", most, yk_last_message(self->context));
        return status;
    }

    return YK_OK;
}

/* Outputs -------------------------------------------------------------------------------------- */

static yk_status hydraulic_step(yk_subsystem *subsystem, double t, double h, const yk_input *inputs)
{
    return yk_hydraulic_advance((yk_hydraulic *)subsystem, t, h, inputs);
}

/* Motion and pressures that drive a cylinder between steps. */
static yk_cylinder_drive present_drive(const yk_hydraulic *self, const yk_hydraulic_slot *at)
{
    const yk_hydraulic_state *s = at->now;
    return (yk_cylinder_drive){
        .length = s->length - at->origin,
        .rate = s->rate,
        .command = s->unknown[2],
        .pump = yk_function_value(self->def.pump_pressure, at->ledger->time),
        .tank = self->def.tank_pressure,
    };
}

static void hydraulic_get_port_value(const yk_subsystem *subsystem, int port, yk_port_value *value)
{
    const yk_hydraulic *self = (const yk_hydraulic *)subsystem;
    const yk_hydraulic_slot *at = &self->slots[port % self->count];

    if (port >= self->count) {
        value->motion.position.x = at->now->unknown[2];
        return;
    }

    /* The force that the motion needs is the opposite of the force of the cylinder. */
    yk_cylinder_drive drive = present_drive(self, at);
    value->motion.position.x = at->now->length;
    value->motion.velocity.x = at->now->rate;
    value->motion.acceleration.x = at->ledger->acceleration;
    value->wrench.force.x =
        -yk_cylinder_force(&at->cylinder, &self->fluid, &drive, at->now->unknown);
}

static int get_ports(const yk_subsystem *subsystem, const yk_port **list)
{
    const yk_hydraulic *self = (const yk_hydraulic *)subsystem;
    *list = self->ports;
    return 2 * self->count;
}

static yk_status hydraulic_connect(yk_subsystem *subsystem, int port, yk_causality causality,
                                   unsigned constrained)
{
    yk_hydraulic *self = (yk_hydraulic *)subsystem;
    (void)constrained;
    if (port < 0 || port >= 2 * self->count || !(self->ports[port].allowed_causalities & causality))
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "%s: port %d cannot be connected like this", self->name, port);

    yk_hydraulic_slot *at = &self->slots[port % self->count];
    if (port < self->count) {
        at->joined = true;
    } else {
        at->wired = true;
    }

    return YK_OK;
}

static const char *hydraulic_message(const yk_subsystem *subsystem)
{
    return ((const yk_hydraulic *)subsystem)->message;
}

static yk_state_layout hydraulic_state_layout(const yk_subsystem *subsystem)
{
    size_t count = (size_t)((const yk_hydraulic *)subsystem)->count;
    return (yk_state_layout){
        .word_count = count * (YK_HYDRAULIC_STATE_WORDS + YK_HYDRAULIC_LEDGER_WORDS),
        .continuous_count = count * YK_HYDRAULIC_STATE_WORDS,
    };
}

static void hydraulic_get_state(const yk_subsystem *subsystem, double *image)
{
    memcpy(image, ((const yk_hydraulic *)subsystem)->image,
           hydraulic_state_layout(subsystem).word_count * sizeof *image);
}

static yk_status hydraulic_set_state(yk_subsystem *subsystem, const double *image)
{
    memcpy(((yk_hydraulic *)subsystem)->image, image,
           hydraulic_state_layout(subsystem).word_count * sizeof *image);
    return YK_OK;
}

static void hydraulic_energy(const yk_subsystem *subsystem, yk_energy *sum)
{
    const yk_hydraulic *self = (const yk_hydraulic *)subsystem;

    /* Fluid and stops store energy. A cylinder has no mass. */
    *sum = (yk_energy){0};
    for (int i = 0; i < self->count; i++) {
        const yk_hydraulic_slot *at = &self->slots[i];
        double length = at->now->length - at->origin;
        sum->potential += yk_cylinder_energy(&at->cylinder, &self->fluid, length, at->now->unknown);
        sum->dissipated += at->ledger->dissipated;
        sum->work += at->ledger->work;
        sum->port_work += at->ledger->port_work;
    }
}

static double hydraulic_next_event(const yk_subsystem *subsystem, double t)
{
    const yk_hydraulic *self = (const yk_hydraulic *)subsystem;

    double next = yk_function_next_event(self->def.pump_pressure, t);
    for (int i = 0; i < self->count; i++) {
        if (!self->slots[i].wired)
            next = fmin(next, yk_function_next_event(self->slots[i].def.spool_command, t));
    }

    return next;
}

/* Channels ------------------------------------------------------------------------------------- */

/* The name of the cylinder precedes these names. */
static const yk_channel channels[YK_HYDRAULIC_CHANNELS] = {
    [YK_PRESSURE_1] = {".pressure_1", "Pa", 1},
    [YK_PRESSURE_2] = {".pressure_2", "Pa", 1},
    [YK_FLOW_1] = {".flow_1", "m^3/s", 1},
    [YK_FLOW_2] = {".flow_2", "m^3/s", 1},
    [YK_THRUST] = {".piston_force", "N", 1},
    [YK_OPENING] = {".spool_position", "1", 1},
    [YK_VOID_1] = {".vapor_fraction_1", "1", 1},
    [YK_VOID_2] = {".vapor_fraction_2", "1", 1},
    [YK_EVENT_TIMES + YK_BLOCKED] = {".backflow_blocked_time", "s", 1},
    [YK_EVENT_TIMES + YK_CAVITATED] = {".cavitation_time", "s", 1},
    [YK_EVENT_TIMES + YK_STOPPED] = {".stop_time", "s", 1},
    [YK_EVENT_TIMES + YK_LIMITED] = {".command_limited_time", "s", 1},
    [YK_EVENT_TIMES + YK_BEYOND_RANGE] = {".overpressure_time", "s", 1},
};

static int get_channels(const yk_subsystem *subsystem, const yk_channel **list)
{
    const yk_hydraulic *self = (const yk_hydraulic *)subsystem;
    *list = self->channels;
    return YK_HYDRAULIC_CHANNELS * self->count;
}

static void channel_read(const yk_subsystem *subsystem, int channel, double *values)
{
    const yk_hydraulic *self = (const yk_hydraulic *)subsystem;
    const yk_hydraulic_slot *at = &self->slots[channel / YK_HYDRAULIC_CHANNELS];
    int kind = channel % YK_HYDRAULIC_CHANNELS;
    const yk_cylinder *cylinder = &at->cylinder;
    const yk_fluid *fluid = &self->fluid;
    const double *y = at->now->unknown;
    yk_cylinder_drive drive = present_drive(self, at);

    yk_cylinder_flow flow;
    yk_cylinder_flows(cylinder, fluid, &drive, y, &flow);

    double value = 0;
    switch (kind) {
    case YK_PRESSURE_1: value = yk_fluid_pressure(fluid, y[0]); break;
    case YK_PRESSURE_2: value = yk_fluid_pressure(fluid, y[1]); break;
    case YK_FLOW_1: value = flow.orifice[YK_ORIFICE_P1] - flow.orifice[YK_ORIFICE_T1]; break;
    case YK_FLOW_2: value = flow.orifice[YK_ORIFICE_P2] - flow.orifice[YK_ORIFICE_T2]; break;
    case YK_THRUST: value = yk_cylinder_force(cylinder, fluid, &drive, y); break;
    case YK_OPENING: value = yk_valve_limited(cylinder->valve.kind, y[2]); break;
    case YK_VOID_1: value = yk_fluid_void(fluid, y[0]); break;
    case YK_VOID_2: value = yk_fluid_void(fluid, y[1]); break;
    default: value = at->ledger->event_time[kind - YK_EVENT_TIMES]; break;
    }
    values[0] = value;
}

/* Creation ------------------------------------------------------------------------------------- */

yk_hydraulic_cylinder_def yk_hydraulic_cylinder_default(void)
{
    yk_hydraulic_cylinder_def def = {
        .cylinder = {.area = {6.5e-3, 6.5e-3}, .length = 0.442, .min_chamber_length = 0.05 * 0.442},
        .neutral_command = NAN,
        .initial_actuator_length = NAN,
    };
    yk_option_set_defaults(yk_hydraulic_cylinder_options.options, &def);
    return def;
}

static double example_pump(void *user, double t)
{
    (void)user;
    (void)t;
    return 7.6e6;
}

yk_hydraulic_def yk_hydraulic_default(void)
{
    yk_hydraulic_def def = {
        .name = "hydraulic", .pump_pressure = {.evaluate = example_pump}, .pascal = 1};
    yk_option_set_defaults(yk_hydraulic_options.options, &def);
    return def;
}

static void hydraulic_destroy(yk_subsystem *subsystem)
{
    yk_hydraulic *self = (yk_hydraulic *)subsystem;
    if (!self)
        return;

    yk_context *context = self->context;

    if (self->image)
        log_events(self);

    for (int i = 0; self->slots && i < self->count; i++) {
        yk_free(context, self->slots[i].name);
        yk_free(context, self->slots[i].spool_name);
        for (int k = 0; k < YK_HYDRAULIC_CHANNELS; k++)
            yk_free(context, self->slots[i].channel_names[k]);
    }

    yk_free(context, self->slots);
    yk_free(context, self->ports);
    yk_free(context, self->image);
    yk_free(context, self->channels);
    yk_free(context, self->name);
    yk_free(context, self);
}

static bool is_positive(double value)
{
    return value > 0 && isfinite(value);
}

static yk_status check_cylinder(yk_context *context, const yk_hydraulic_cylinder_def *def)
{
    const yk_cylinder *c = &def->cylinder;
    const yk_valve *valve = &c->valve;
    const char *name = def->name;
    if (!name || !name[0])
        return yk_fail(context, YK_ERROR_ARGUMENT, "a cylinder has no name: give it one");

    if ((unsigned)valve->kind > YK_VALVE_CLOSED_CENTER)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "cylinder '%s': there is no kind of valve with the number %d", name,
                       (int)valve->kind);
    if ((unsigned)def->initial_state > YK_HYDRAULIC_INITIAL_PRESSURE)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "cylinder '%s': there is no kind of start with the number %d", name,
                       (int)def->initial_state);

    bool chambers = is_positive(c->area[0]) && is_positive(c->area[1]) && is_positive(c->length);
    bool orifices = is_positive(valve->area) && is_positive(valve->discharge_coefficient) &&
                    is_positive(valve->laminar_pressure);
    if (!chambers || !orifices)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "cylinder '%s': areas, length, discharge coefficient and the laminar "
                       "pressure must be positive",
                       name);

    bool losses = c->viscous_friction >= 0 && c->leakage >= 0 && valve->time_constant >= 0;
    bool stops = c->stop_damping >= 0 && is_positive(c->stop_stiffness);
    if (!losses || !stops)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "cylinder '%s': friction, leakage, lag and the damping of the stops must "
                       "not be negative, the stops' stiffness must be positive",
                       name);

    double least = c->length * fmin(c->initial_fraction, 1 - c->initial_fraction);
    if (!(c->min_chamber_length > 0 && c->min_chamber_length < least))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "cylinder '%s': at the start its shorter chamber is %g m long, and the "
                       "stops are at %g m; they must leave the piston space",
                       name, least, c->min_chamber_length);

    return YK_OK;
}

static yk_status check_def(yk_context *context, const yk_hydraulic_def *def)
{
    if (!def->name || !def->name[0])
        return yk_fail(context, YK_ERROR_ARGUMENT, "a hydraulic circuit needs a name");

    /* The density must rise with the pressure, and the tank pressure must be above the vapor pressure. */
    const yk_fluid *fluid = &def->fluid;
    bool law = is_positive(fluid->compressibility) && is_positive(fluid->density) &&
               isfinite(fluid->compressibility_2);
    bool vapour = isfinite(fluid->vapor_pressure) && fluid->vapor_pressure <= def->tank_pressure &&
                  fluid->vapor_pressure < yk_fluid_limit(fluid);
    if (!law || !vapour)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "the fluid's density and compressibility must be positive, and its vapour "
                       "pressure (%g Pa) no more than that of the tank (%g Pa)",
                       fluid->vapor_pressure / def->pascal, def->tank_pressure / def->pascal);

    if (!(def->max_step >= 0) || !(def->relative_tolerance >= 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "step (%g s) and tolerance (%g) must not be negative", def->max_step,
                       def->relative_tolerance);
    return YK_OK;
}

struct yk_hydraulic_builder {
    yk_building building;
    yk_hydraulic_def def;
    yk_hydraulic_cylinder_def *cylinders;
    int cylinder_count;
};

yk_hydraulic_builder *yk_hydraulic_begin(yk_context *context, const yk_hydraulic_def *def)
{
    yk_hydraulic_builder *builder = yk_allocate(context, 1, sizeof *builder);
    if (!builder)
        return NULL;

    builder->building.context = context;
    builder->def = def ? *def : yk_hydraulic_default();
    if (!(builder->def.pascal > 0))
        builder->def.pascal = 1;
    yk_status status = check_def(context, &builder->def);
    if (status != YK_OK)
        yk_building_refuse(&builder->building, status);

    return builder;
}

yk_port_id yk_hydraulic_add_cylinder(yk_hydraulic_builder *builder,
                                     const yk_hydraulic_cylinder_def *def)
{
    if (!builder || !yk_building_has_def(&builder->building, __func__, def))
        return YK_NULL_PORT;

    yk_status status = check_cylinder(builder->building.context, def);
    if (status != YK_OK) {
        yk_building_refuse(&builder->building, status);
        return YK_NULL_PORT;
    }

    return (yk_port_id){yk_building_append(&builder->building, &builder->cylinders,
                                           &builder->cylinder_count, def, sizeof *def)};
}

void yk_hydraulic_discard(yk_hydraulic_builder *builder)
{
    if (!builder)
        return;

    yk_free(builder->building.context, builder->cylinders);
    yk_free(builder->building.context, builder);
}

static yk_status fill_circuit(yk_hydraulic *self, const yk_hydraulic_builder *builder)
{
    yk_context *context = self->context;
    size_t count = (size_t)builder->cylinder_count;
    size_t words = count * (YK_HYDRAULIC_STATE_WORDS + YK_HYDRAULIC_LEDGER_WORDS);
    self->count = builder->cylinder_count;

    self->name = yk_text_copy(context, self->def.name);
    self->slots = yk_allocate(context, count, sizeof *self->slots);
    self->ports = yk_allocate(context, 2 * count, sizeof *self->ports);
    self->channels = yk_allocate(context, YK_HYDRAULIC_CHANNELS * count, sizeof *self->channels);
    self->image = yk_allocate(context, words, sizeof *self->image);
    if (!self->name || !self->slots || !self->ports || !self->channels || !self->image)
        return YK_ERROR_MEMORY;

    /* The state image has the states of all cylinders, then their sums. */
    yk_hydraulic_state *states = (yk_hydraulic_state *)self->image;
    yk_hydraulic_ledger *ledger =
        (yk_hydraulic_ledger *)(self->image + count * YK_HYDRAULIC_STATE_WORDS);

    for (size_t i = 0; i < count; i++) {
        yk_hydraulic_slot *at = &self->slots[i];
        at->def = builder->cylinders[i];
        at->cylinder = at->def.cylinder;
        at->now = &states[i];
        at->ledger = &ledger[i];

        /* Neutral: an open-center valve is half open, a closed-center valve is closed. */
        if (isnan(at->def.neutral_command))
            at->def.neutral_command = at->cylinder.valve.kind == YK_VALVE_OPEN_CENTER ? 0.5 : 0;

        at->name = yk_text_copy(context, at->def.name);
        if (!at->name)
            return YK_ERROR_MEMORY;

        at->spool_name = yk_text_join(context, at->name, ".spool");
        if (!at->spool_name)
            return YK_ERROR_MEMORY;

        self->ports[i] = (yk_port){at->name, YK_PORT_SCALAR, YK_CAUSALITY_MOTION_INPUT};
        unsigned spool = YK_CAUSALITY_SIGNAL_INPUT;
        if (at->def.spool_command.evaluate)
            spool |= YK_OPTIONAL_SIGNAL;
        self->ports[count + i] = (yk_port){at->spool_name, YK_PORT_SIGNAL, spool};

        for (size_t k = 0; k < YK_HYDRAULIC_CHANNELS; k++) {
            yk_channel *channel = &self->channels[YK_HYDRAULIC_CHANNELS * i + k];
            *channel = channels[k];
            at->channel_names[k] = yk_text_join(context, at->name, channel->name);
            channel->name = at->channel_names[k];
            if (!channel->name)
                return YK_ERROR_MEMORY;
        }
    }

    return YK_OK;
}

static yk_status create_circuit(yk_hydraulic_builder *builder, yk_subsystem **subsystem)
{
    yk_context *context = builder->building.context;
    if (builder->building.status == YK_OK && builder->cylinder_count < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a hydraulic circuit needs at least one cylinder");

    /* Ports are named after cylinders, so the names must differ. */
    if (builder->cylinder_count > 0)
        yk_building_unique(&builder->building, "cylinders", &builder->cylinders->name,
                           builder->cylinder_count, sizeof *builder->cylinders);
    yk_status status = yk_building_finish(&builder->building);
    if (status != YK_OK)
        return status;

    yk_hydraulic *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    /* Names and cylinders are copied, because the def belongs to the caller. */
    self->subsystem.ops = &hydraulic_ops;
    self->context = context;
    self->def = builder->def;
    self->fluid = builder->def.fluid;

    status = fill_circuit(self, builder);
    if (status != YK_OK) {
        hydraulic_destroy(&self->subsystem);
        return status;
    }

    *subsystem = &self->subsystem;
    return YK_OK;
}

yk_status yk_hydraulic_create(yk_hydraulic_builder *builder, yk_subsystem **subsystem)
{
    if (subsystem)
        *subsystem = NULL;
    if (!builder)
        return YK_ERROR_MEMORY;

    yk_status status;
    if (subsystem)
        status = create_circuit(builder, subsystem);
    else
        status = yk_refuse_null(builder->building.context, __func__, "subsystem");
    yk_hydraulic_discard(builder);
    return status;
}

static const yk_rollback_ops hydraulic_rollback_ops = {.size = sizeof(yk_rollback_ops),
                                                       .layout = hydraulic_state_layout,
                                                       .get = hydraulic_get_state,
                                                       .set = hydraulic_set_state};
static const yk_event_ops hydraulic_events_ops = {.size = sizeof(yk_event_ops),
                                                  .next_time = hydraulic_next_event};
static const yk_energy_ops hydraulic_energy_ops = {.size = sizeof(yk_energy_ops),
                                                   .read = hydraulic_energy};
static const yk_channel_ops hydraulic_channels_ops = {
    .size = sizeof(yk_channel_ops), .list = get_channels, .read = channel_read};
static const yk_subsystem_ops hydraulic_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "hydraulic",
    .ports = get_ports,
    .connect = hydraulic_connect,
    .initialize = hydraulic_initialize,
    .step = hydraulic_step,
    .get_port_value = hydraulic_get_port_value,
    .destroy = hydraulic_destroy,
    .last_message = hydraulic_message,
    .rollback = &hydraulic_rollback_ops,
    .energy = &hydraulic_energy_ops,
    .channels = &hydraulic_channels_ops,
    .events = &hydraulic_events_ops,
};
