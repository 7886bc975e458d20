/* Wires: numbers without power from one subsystem to another.
 *
 * A wire remembers its source's value at the start of the macro step and the present one. Its
 * target sees a line between the two where the source has advanced, and the former where it has
 * not; so what a scheme knows decides, and schemes only say when: carry before advance. Nothing
 * of a wire is state: both values follow from the source's. */
#include <math.h>

#include "coupling/failure.h"

/* Creation ------------------------------------------------------------------------------------- */

static yk_status check_ends(const yk_system *system, const yk_wire_def *def)
{
    if (def->source_subsystem < 0 || def->source_subsystem >= system->participant_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "wire '%s': there is no subsystem %d",
                       def->name, def->source_subsystem);
    if (def->target_subsystem < 0 || def->target_subsystem >= system->participant_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT, "wire '%s': there is no subsystem %d",
                       def->name, def->target_subsystem);
    const yk_participant *to = &system->participants[def->target_subsystem];
    if (def->target_port < 0 || def->target_port >= to->port_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "wire '%s': subsystem '%s' has no port %d", def->name, to->name,
                       def->target_port);
    if (!(to->ports[def->target_port].causalities & YK_TAKES_SIGNAL))
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "wire '%s': port '%s' of subsystem '%s' does not take a signal; wires end "
                       "at signal ports",
                       def->name, to->ports[def->target_port].name, to->name);
    return YK_OK;
}

/* The channel's size in `size`, 0 for a port. */
static yk_status check_source(const yk_system *system, const yk_wire_def *def, int *size)
{
    enum { PORT_WORDS = sizeof(yk_port_value) / sizeof(double) };
    const yk_participant *from = &system->participants[def->source_subsystem];
    const yk_subsystem_ops *ops = from->subsystem->ops;
    *size = 0;
    int words = PORT_WORDS;
    bool port = def->source_port >= 0;
    if (port && def->source_port >= from->port_count)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "wire '%s': subsystem '%s' has no port %d", def->name, from->name,
                       def->source_port);
    if (port && from->ports[def->source_port].causalities & YK_TAKES_SIGNAL)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "wire '%s': port '%s' of subsystem '%s' takes a signal and gives none",
                       def->name, from->ports[def->source_port].name, from->name);
    if (!port) {
        const yk_channel *channels = NULL;
        int count = ops->channels ? ops->channels->list(from->subsystem, &channels) : 0;
        if (def->source_channel < 0 || def->source_channel >= count)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "wire '%s': subsystem '%s' has no channel %d", def->name, from->name,
                           def->source_channel);
        words = *size = channels[def->source_channel].components;
    }
    if (def->component >= 0 && def->component < words)
        return YK_OK;
    return yk_fail(system->context, YK_ERROR_ARGUMENT, "wire '%s': its source has no component %d",
                   def->name, def->component);
}

static yk_status check_target_is_free(const yk_system *system, int number, const yk_wire_def *def)
{
    for (int i = 0; i < number; i++) {
        const yk_wire_def *other = &system->wires[i].def;
        if (other->target_subsystem == def->target_subsystem &&
            other->target_port == def->target_port)
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "wires '%s' and '%s' both end at port '%s' of subsystem '%s'; a signal "
                           "port takes one",
                           other->name, def->name,
                           system->participants[def->target_subsystem].ports[def->target_port].name,
                           system->participants[def->target_subsystem].name);
    }
    return YK_OK;
}

static yk_status create_wire(yk_system *system, int number, const yk_wire_def *def)
{
    yk_wire *wire = &system->wires[number];
    wire->def = *def;
    if (!wire->def.name)
        wire->def.name = "unnamed";
    int size = 0;
    yk_status status = check_ends(system, &wire->def);
    if (status == YK_OK)
        status = check_source(system, &wire->def, &size);
    if (status == YK_OK)
        status = check_target_is_free(system, number, &wire->def);
    if (status < 0)
        return status;
    if (size > 0) {
        wire->channel = yk_allocate(system->context, (size_t)size, sizeof *wire->channel);
        if (!wire->channel)
            return YK_ERROR_MEMORY;
    }
    yk_participant *from = &system->participants[def->source_subsystem];
    from->wires[from->wire_count++] = wire;
    yk_subsystem *target = system->participants[def->target_subsystem].subsystem;
    return target->ops->connect(target, def->target_port, YK_TAKES_SIGNAL, 0);
}

yk_status yk_wires_create(yk_system *system, const yk_system_def *def)
{
    if (def->wire_count == 0)
        return YK_OK;
    if (!(system->traits & YK_SCHEME_CARRIES_SIGNALS))
        return yk_fail(
            system->context, YK_ERROR_CAPABILITY,
            "scheme %s does not carry wires between subsystems; choose another scheme, such as %s",
            yk_system_scheme_name(system), yk_scheme_name_with(YK_SCHEME_CARRIES_SIGNALS));
    yk_status status = YK_OK;
    system->wires = yk_allocate(system->context, (size_t)def->wire_count, sizeof *system->wires);
    if (!system->wires)
        return YK_ERROR_MEMORY;
    system->wire_count = def->wire_count;
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        m->wires = yk_allocate(system->context, (size_t)def->wire_count, sizeof(yk_wire *));
        if (!m->wires)
            return YK_ERROR_MEMORY;
    }
    for (int i = 0; status == YK_OK && i < def->wire_count; i++)
        status = create_wire(system, i, &def->wires[i]);
    return status;
}

void yk_wires_destroy(yk_system *system)
{
    for (int i = 0; system->wires && i < system->wire_count; i++)
        yk_release(system->context, system->wires[i].channel);
    for (int i = 0; system->participants && i < system->participant_count; i++)
        yk_release(system->context, system->participants[i].wires);
    yk_release(system->context, system->wires);
}

/* Values --------------------------------------------------------------------------------------- */

void yk_wires_read(yk_participant *participant)
{
    for (int i = 0; i < participant->wire_count; i++) {
        yk_wire *wire = participant->wires[i];
        const yk_wire_def *def = &wire->def;
        if (!wire->channel) {
            wire->now = ((const double *)&participant->values[def->source_port])[def->component];
            continue;
        }
        participant->subsystem->ops->channels->read(participant->subsystem, def->source_channel,
                                                    wire->channel);
        wire->now = wire->channel[def->component];
    }
}

static double set_input(yk_input *input, double h, double begin, double end)
{
    double last = input->linear[0].x + (input->degree > 0 ? h * input->linear[1].x : 0);
    input->degree = end == begin ? 0 : 1;
    input->linear[0].x = begin;
    input->linear[1].x = (end - begin) / h;
    return fabs(end - last) / (1 + fabs(end));
}

typedef enum moment {
    AT_START,   /* the present values */
    IN_STEP,    /* what is known of the end of the step */
    WITH_GIVEN, /* and what wires that run against the sequence are told of it */
} moment;

static double carry(yk_system *system, int participant, moment when)
{
    double largest = 0;
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        if (wire->def.target_subsystem != participant)
            continue;
        bool known = system->participants[wire->def.source_subsystem].advanced && !wire->def.hold;
        double begin = when == AT_START ? wire->now : wire->before, end = begin;
        if (when != AT_START && known)
            end = wire->now;
        if (when == WITH_GIVEN && wire->lagged)
            end = wire->given;
        yk_input *input = &system->participants[participant].inputs[wire->def.target_port];
        largest = fmax(largest, set_input(input, system->h, begin, end));
    }
    return largest;
}

double yk_system_carry_signals(yk_system *system, int participant)
{
    return carry(system, participant, IN_STEP);
}

double yk_system_carry_given_signals(yk_system *system, int participant)
{
    return carry(system, participant, WITH_GIVEN);
}

void yk_wires_carry_start(yk_system *system, int participant)
{
    carry(system, participant, AT_START);
}

/* A source that starts after its target has told it an old value, whatever the order of the
 * participants is. */
double yk_wires_start_change(const yk_system *system)
{
    double largest = 0;
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        double fed = system->participants[wire->def.target_subsystem]
                         .inputs[wire->def.target_port]
                         .linear[0]
                         .x;
        largest = fmax(largest, fabs(wire->now - fed) / (1 + fabs(wire->now)));
    }
    return largest;
}

double yk_system_wire(const yk_system *system, int wire)
{
    return system->wires[wire].now;
}
