/* What is known of a system after a step: outputs, errors of the interfaces, statistics. */
#include <string.h>

#include "coupling/ledger.h"
#include "coupling/merging.h"

static const yk_participant *participant_of(const yk_system *system, int subsystem)
{
    return &system->participants[system->parts[subsystem].participant];
}

int yk_subsystem_find_port(const yk_subsystem *subsystem, const char *name)
{
    const yk_port *ports;
    int count = subsystem->ops->ports(subsystem, &ports);
    for (int i = 0; i < count; i++)
        if (strcmp(ports[i].name, name) == 0)
            return i;
    return -1;
}

int yk_system_find_port(const yk_system *system, int subsystem, const char *name)
{
    const yk_system_part *part = &system->parts[subsystem];
    const yk_subsystem *shown = participant_of(system, subsystem)->subsystem;
    const yk_port *ports;
    int end = shown->ops->ports(shown, &ports);

    /* Ports of a merged participant are those of its parts in their order. */
    for (int i = 0; i < system->subsystem_count; i++) {
        const yk_system_part *other = &system->parts[i];
        bool behind = other->participant == part->participant && other->port > part->port;
        if (behind && other->port < end)
            end = other->port;
    }
    for (int i = part->port; i < end; i++)
        if (strcmp(ports[i].name, name) == 0)
            return i - part->port;
    return -1;
}

const yk_port_value *yk_system_output(const yk_system *system, int subsystem, int port)
{
    return &participant_of(system, subsystem)->values[system->parts[subsystem].port + port];
}

void yk_system_channel(const yk_system *system, int subsystem, int channel, double *values)
{
    const yk_subsystem *shown = participant_of(system, subsystem)->subsystem;
    shown->ops->channels->read(shown, system->parts[subsystem].channel + channel, values);
}

/* Joints inside a merged participant hold, or close as fast as its stabilisation makes them. */
static yk_interface_error joint_gap(const yk_system *system, const yk_interface_def *def)
{
    const yk_system_part *a = &system->parts[def->wrench_subsystem],
                         *b = &system->parts[def->motion_subsystem];
    const yk_participant *m = &system->participants[a->participant];
    int port = a->port + def->wrench_port;
    return yk_gap_between(m->ports[port].kind, def, &m->values[port].motion,
                          &m->values[b->port + def->motion_port].motion, yk_system_time(system));
}

bool yk_system_prescribes_motion(const yk_system *system, int number)
{
    if (system->merging)
        return false;
    const yk_interface *interface = &system->interfaces[number];
    return !yk_both_take_wrench(interface);
}

yk_interface_error yk_system_interface_error(const yk_system *system, int number)
{
    if (system->merging)
        return joint_gap(system, &system->merging->interfaces[number]);
    return yk_system_gap(system, &system->interfaces[number], yk_system_time(system));
}

yk_system_statistics yk_system_statistics_get(const yk_system *system)
{
    return system->statistics;
}

int yk_system_scheme_statistics(const yk_system *system,
                                yk_scheme_statistic rows[YK_SCHEME_STATISTICS_MAX])
{
    const yk_scheme_ops *scheme = system->scheme->ops;
    return scheme->statistics ? scheme->statistics(system->scheme, system, rows) : 0;
}

yk_subsystem_statistics yk_system_subsystem_statistics(const yk_system *system, int subsystem)
{
    if (!system->parts[subsystem].shows)
        return (yk_subsystem_statistics){0};
    const yk_participant *m = participant_of(system, subsystem);
    yk_subsystem_statistics s = m->statistics;
    int64_t timed = m->timed_calls;
    if (timed > 0)
        s.seconds *= (double)s.calls / (double)timed;
    return s;
}

yk_interface_statistics yk_system_interface_statistics(const yk_system *system, int number)
{
    return system->merging ? (yk_interface_statistics){0} : system->interfaces[number].statistics;
}
