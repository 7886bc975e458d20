/* What a hydraulic circuit tells besides its ports. */
#include <stdio.h>
#include <string.h>

#include "physics/hydraulic_parts.h"
#include "physics/names.h"

yk_cylinder_drive yk_hydraulic_present(const yk_hydraulic *self, const yk_hydraulic_slot *at)
{
    const yk_hydraulic_state *s = at->now;
    return (yk_cylinder_drive){.length = s->length - at->origin,
                               .rate = s->rate,
                               .command = s->unknown[2],
                               .pump = yk_function_value(self->def.pump, at->ledger->time),
                               .tank = self->def.tank};
}

typedef enum channel_kind {
    PRESSURE_1,
    PRESSURE_2,
    FLOW_1,
    FLOW_2,
    THRUST,
    OPENING,
    VOID_1,
    VOID_2,
    BLOCKED_TIME, /* and those that follow: in the order of the events */
    CAVITATION_TIME,
    STOP_TIME,
    LIMIT_TIME,
    OVERPRESSURE_TIME,
    CHANNEL_KINDS
} channel_kind;

static const yk_channel_row channel_rows[CHANNEL_KINDS] = {
    [PRESSURE_1] = {"pressure_1", "Pa"},
    [PRESSURE_2] = {"pressure_2", "Pa"},
    [FLOW_1] = {"flow_1", "m^3/s"},
    [FLOW_2] = {"flow_2", "m^3/s"},
    [THRUST] = {"thrust", "N"},
    [OPENING] = {"opening", ""},
    [VOID_1] = {"void_1", ""},
    [VOID_2] = {"void_2", ""},
    [BLOCKED_TIME] = {"blocked_time", "s"},
    [CAVITATION_TIME] = {"cavitation_time", "s"},
    [STOP_TIME] = {"stop_time", "s"},
    [LIMIT_TIME] = {"limit_time", "s"},
    [OVERPRESSURE_TIME] = {"overpressure_time", "s"},
};

int yk_hydraulic_channels(const yk_subsystem *subsystem, const yk_channel **list)
{
    const yk_hydraulic *self = (const yk_hydraulic *)subsystem;
    *list = self->channels;
    return self->channel_count;
}

static double net_flow(const yk_hydraulic *self, const yk_hydraulic_slot *at, int chamber)
{
    yk_cylinder_drive drive = yk_hydraulic_present(self, at);
    yk_cylinder_flow flow;
    yk_cylinder_flows(&at->cylinder, &self->fluid, &drive, at->now->unknown, &flow);
    return flow.orifice[2 * chamber] - flow.orifice[2 * chamber + 1];
}

static double channel_value(const yk_hydraulic *self, const yk_hydraulic_slot *at, channel_kind kind)
{
    yk_cylinder_drive drive = yk_hydraulic_present(self, at);
    const double *y = at->now->unknown;
    switch (kind) {
    case PRESSURE_1: return yk_fluid_pressure(&self->fluid, y[0]);
    case PRESSURE_2: return yk_fluid_pressure(&self->fluid, y[1]);
    case FLOW_1: return net_flow(self, at, 0);
    case FLOW_2: return net_flow(self, at, 1);
    case THRUST: return yk_cylinder_force(&at->cylinder, &self->fluid, &drive, y);
    case OPENING: return yk_valve_limited(at->cylinder.valve.kind, y[2]);
    case VOID_1: return yk_fluid_void(&self->fluid, y[0]);
    case VOID_2: return yk_fluid_void(&self->fluid, y[1]);
    default: return at->ledger->event_time[kind - BLOCKED_TIME];
    }
}

void yk_hydraulic_channel_read(const yk_subsystem *subsystem, int channel, double *values)
{
    const yk_hydraulic *self = (const yk_hydraulic *)subsystem;
    values[0] = channel_value(self, &self->slots[channel / CHANNEL_KINDS], (channel_kind)(channel % CHANNEL_KINDS));
}

static const char *cylinder_name(const void *user, int index)
{
    return ((const yk_hydraulic *)user)->slots[index].name;
}

yk_status yk_hydraulic_name_channels(yk_hydraulic *self)
{
    yk_channel_rows rows = {channel_rows, CHANNEL_KINDS, cylinder_name, self, self->count};
    self->channel_count = self->count * CHANNEL_KINDS;
    return yk_name_channels(self->context, &rows, &self->channels, &self->channel_names);
}
