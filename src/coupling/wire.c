/* Wires: numbers without power from one subsystem to another.
 *
 * A wire stores the value of its source at the start of the macro step and the present value. Its
 * target receives a line between the two if the source has advanced, otherwise the value at the
 * start. Schemes only call the update before each advance. Wires have no state: both values follow
 * from the source. */
#include "coupling/wire.h"

#include <math.h>

#include "base/unit.h"
#include "coupling/arguments.h"
#include "coupling/neighbors.h"
#include "coupling/scheme_options.h"
#include "coupling/system.h"

/* Creation ------------------------------------------------------------------------------------- */

/* Checks that the port exists, receives a signal, and is not the end of another wire. */
static yk_status check_target(const yk_system *system, const yk_wire_def *def)
{
    yk_context *context = system->context;
    int target = def->target_subsystem.index;
    if (target < 0 || target >= system->participant_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "wire '%s': there is no subsystem %d", def->name,
                       target);

    const yk_participant *to = &system->participants[target];
    if (def->target_port.index < 0 || def->target_port.index >= to->port_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "wire '%s': subsystem '%s' has no port %d",
                       def->name, to->name, def->target_port.index);

    const yk_port *port = &to->ports[def->target_port.index];
    if (!(port->allowed_causalities & YK_CAUSALITY_SIGNAL_INPUT))
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "wire '%s': port '%s' of subsystem '%s' does not take a signal; wires end "
                       "at signal ports",
                       def->name, port->name, to->name);

    /* A port can have only one wire. */
    for (int i = 0; i < to->received_count; i++) {
        const yk_wire_def *other = &system->wires[to->received[i]].def;
        if (other->target_port.index == def->target_port.index)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "wires '%s' and '%s' both end at port '%s' of subsystem '%s'; a signal "
                           "port takes one",
                           other->name, def->name, port->name, to->name);
    }

    return YK_OK;
}

/* The subsystem that owns a channel of a participant: for merged subsystems, the last one whose
 * channels begin at or before it. */
static const yk_system_part *part_of_channel(const yk_system *system, int participant, int channel)
{
    const yk_system_part *found = NULL;
    for (int i = 0; i < system->subsystem_count; i++) {
        const yk_system_part *part = &system->parts[i];
        bool before = part->participant == participant && part->channel <= channel;
        if (before && (!found || part->channel >= found->channel))
            found = part;
    }

    return found;
}

/* Checks that the source exists. For a channel, sets its size (otherwise 0) and the factor from its
 * units to SI. */
static yk_status check_source(const yk_system *system, const yk_wire_def *def, int *size,
                              double *factor)
{
    yk_context *context = system->context;
    int source = def->source_subsystem.index;
    if (source < 0 || source >= system->participant_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "wire '%s': there is no subsystem %d", def->name,
                       source);

    /* A port offers all components of its motion and wrench, a channel its listed components. */
    const yk_participant *from = &system->participants[source];
    int components = sizeof(yk_port_value) / sizeof(double);
    *size = 0;
    *factor = 1;
    if (def->source_port.index >= from->port_count)
        return yk_fail(context, YK_ERROR_ARGUMENT, "wire '%s': subsystem '%s' has no port %d",
                       def->name, from->name, def->source_port.index);

    if (def->source_port.index >= 0) {
        const yk_port *port = &from->ports[def->source_port.index];
        if (port->allowed_causalities & YK_CAUSALITY_SIGNAL_INPUT)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "wire '%s': port '%s' of subsystem '%s' takes a signal and gives none",
                           def->name, port->name, from->name);
    } else {
        const yk_channel_ops *ops = from->subsystem->ops->channels;
        const yk_channel *channels = NULL;
        int count = 0;
        if (ops)
            count = ops->list(from->subsystem, &channels);
        if (def->source_channel < 0 || def->source_channel >= count)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "wire '%s': subsystem '%s' has no channel %d", def->name, from->name,
                           def->source_channel);

        components = channels[def->source_channel].component_count;
        *size = components;

        const yk_system_part *part = part_of_channel(system, source, def->source_channel);
        *factor = yk_unit_factor(channels[def->source_channel].unit, part->length, part->mass);
    }

    /* One component of the source. */
    if (def->component_index >= 0 && def->component_index < components)
        return YK_OK;
    return yk_fail(context, YK_ERROR_ARGUMENT, "wire '%s': its source has no component %d",
                   def->name, def->component_index);
}

yk_status yk_wires_create(yk_system *system, const yk_system_description *def)
{
    if (def->wire_count == 0)
        return YK_OK;
    if (!(system->traits & YK_SCHEME_CARRIES_SIGNALS))
        return yk_fail(
            system->context, YK_ERROR_CAPABILITY,
            "scheme %s does not carry wires between subsystems; choose another scheme, such as %s",
            yk_system_scheme_name(system), yk_scheme_name_with(YK_SCHEME_CARRIES_SIGNALS));

    size_t count = (size_t)def->wire_count;
    system->wires = yk_allocate(system->context, count, sizeof *system->wires);
    if (!system->wires)
        return YK_ERROR_MEMORY;

    system->wire_count = def->wire_count;
    yk_status status = yk_neighbors_list_wires(system, def);
    if (status != YK_OK)
        return status;

    for (int i = 0; i < def->wire_count; i++) {
        yk_wire *wire = &system->wires[i];
        wire->def = def->wires[i];
        if (!wire->def.name)
            wire->def.name = "unnamed";

        int size = 0;
        status = check_source(system, &wire->def, &size, &wire->factor);
        if (status != YK_OK)
            return status;

        status = check_target(system, &wire->def);
        if (status != YK_OK)
            return status;

        /* Channels are read as a whole. */
        if (size > 0) {
            wire->channel = yk_allocate(system->context, (size_t)size, sizeof *wire->channel);
            if (!wire->channel)
                return YK_ERROR_MEMORY;
        }

        /* The source reads the wire after every step, the target receives it as an input. */
        yk_participant *from = &system->participants[wire->def.source_subsystem.index];
        from->wires[from->wire_count++] = wire;
        yk_participant *to = &system->participants[wire->def.target_subsystem.index];
        to->received[to->received_count++] = i;
        yk_subsystem *target = to->subsystem;
        status =
            target->ops->connect(target, wire->def.target_port.index, YK_CAUSALITY_SIGNAL_INPUT, 0);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

void yk_wires_destroy(yk_system *system)
{
    for (int i = 0; system->wires && i < system->wire_count; i++)
        yk_free(system->context, system->wires[i].channel);
    yk_free(system->context, system->wires);
}

/* Values --------------------------------------------------------------------------------------- */

void yk_wires_read(yk_participant *p)
{
    for (int i = 0; i < p->wire_count; i++) {
        yk_wire *wire = p->wires[i];
        const yk_wire_def *def = &wire->def;

        /* A port value is an array of numbers, like a channel. */
        const double *values = wire->channel;
        if (values)
            p->subsystem->ops->channels->read(p->subsystem, def->source_channel, wire->channel);
        else
            values = (const double *)&p->values[def->source_port.index];
        wire->now = wire->factor * values[def->component_index];

        /* Most wires have gain 1 and offset 0. */
        if (def->gain != 0)
            wire->now *= def->gain;
        if (def->offset != 0)
            wire->now += def->offset;
    }
}

/* Sets the input of a wire's target over the step. Returns the relative change of its end value
 * since it was last set. */
static double set_input(yk_system *system, const yk_wire *wire, double begin, double end)
{
    /* End value of the input when it was last set. */
    const yk_participant *to = &system->participants[wire->def.target_subsystem.index];
    yk_input *input = &to->inputs[wire->def.target_port.index];
    double last = input->linear[0].x;
    if (input->degree > 0)
        last = input->linear[0].x + system->h * input->linear[1].x;

    input->degree = 1;
    if (end == begin)
        input->degree = 0;
    input->linear[0].x = begin;
    input->linear[1].x = (end - begin) / system->h;

    return fabs(end - last) / (1 + fabs(end));
}

static double carry(yk_system *system, int participant, yk_carried_signals signals)
{
    const yk_participant *p = &system->participants[participant];
    double largest = 0;
    for (int k = 0; k < p->received_count; k++) {
        const yk_wire *wire = &system->wires[p->received[k]];

        /* Value at the end of the step: none, the source's own value, or the given value of a wire
         * against the sequence. */
        const yk_participant *from = &system->participants[wire->def.source_subsystem.index];
        double end = wire->before;
        if (from->advanced && !wire->def.sample_and_hold)
            end = wire->now;
        if ((signals == YK_CARRY_GIVEN_BACKWARD && wire->lagged) ||
            (signals == YK_CARRY_ALL_GIVEN && yk_wire_can_lag(wire)))
            end = wire->given;
        if (wire->torn)
            end = wire->torn_end;
        largest = fmax(largest, set_input(system, wire, wire->before, end));
    }

    return largest;
}

double yk_system_update_signals(yk_system *system, int participant)
{
    system->carried = YK_CARRY_PRESENT;
    return carry(system, participant, system->carried);
}

double yk_system_carry_given_signals(yk_system *system, int participant, yk_carried_signals signals)
{
    system->carried = signals;
    return carry(system, participant, signals);
}

void yk_wires_carry_again(yk_system *system, int participant)
{
    carry(system, participant, system->carried);
}

void yk_wires_carry_start(yk_system *system, int participant)
{
    const yk_participant *p = &system->participants[participant];
    for (int k = 0; k < p->received_count; k++) {
        const yk_wire *wire = &system->wires[p->received[k]];
        double value = wire->torn ? wire->torn_end : wire->now;
        set_input(system, wire, value, value);
    }
}

/* Returns the largest relative difference between the present value of a wire and the value that
 * its target was initialized with. It is not zero if a target is initialized before its source. */
double yk_wires_start_change(const yk_system *system)
{
    /* A wire that was updated before its source was initialized has an old value. */
    double largest = 0;
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        const yk_participant *to = &system->participants[wire->def.target_subsystem.index];
        double carried = to->inputs[wire->def.target_port.index].linear[0].x;
        largest = fmax(largest, fabs(wire->now - carried) / (1 + fabs(wire->now)));
    }

    return largest;
}

double yk_system_wire_value(const yk_system *system, yk_wire_id wire)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_wire(system, __func__, wire.index))
        return NAN;

    return system->wires[wire.index].now;
}
