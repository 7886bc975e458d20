/* What is known of a system after a step: outputs, errors of the interfaces, statistics. */
#include <string.h>

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
    const yk_participant *p = participant_of(system, subsystem);
    return &p->values[system->parts[subsystem].port + port];
}

void yk_system_channel(const yk_system *system, int subsystem, int channel, double *values)
{
    const yk_subsystem *shown = participant_of(system, subsystem)->subsystem;
    shown->ops->channels->read(shown, system->parts[subsystem].channel + channel, values);
}

const yk_subsystem *yk_system_shown(const yk_system *system, int subsystem, int *part,
                                    yk_transform *transform)
{
    const yk_participant *shown = participant_of(system, subsystem);
    *part = 0;
    if (system->merging) {
        const yk_group *group = &system->merging->groups[system->parts[subsystem].participant];
        while (*part + 1 < group->part_count && group->parts[*part] != subsystem)
            ++*part;
    }

    *transform = yk_transform_default();
    if (shown->transform)
        *transform = *shown->transform;
    return shown->subsystem;
}

bool yk_system_prescribes_motion(const yk_system *system, int number)
{
    if (system->merging)
        return false;
    return !yk_both_take_wrench(&system->interfaces[number]);
}

yk_interface_error yk_system_interface_error(const yk_system *system, int number)
{
    double t = yk_system_time(system);
    if (!system->merging)
        return yk_system_gap(system, &system->interfaces[number], t);

    /* Joints inside a merged participant hold, or close as fast as its stabilisation makes them. */
    const yk_interface_def *def = &system->merging->interfaces[number];
    const yk_system_part *a = &system->parts[def->wrench_subsystem];
    const yk_system_part *b = &system->parts[def->motion_subsystem];
    const yk_participant *p = &system->participants[a->participant];
    int a_port = a->port + def->wrench_port;
    int b_port = b->port + def->motion_port;
    return yk_gap_between(p->ports[a_port].kind, def, &p->values[a_port].motion,
                          &p->values[b_port].motion, t);
}

yk_system_statistics yk_system_statistics_get(const yk_system *system)
{
    return system->statistics;
}

int yk_system_scheme_statistics(const yk_system *system,
                                yk_scheme_statistic rows[YK_SCHEME_STATISTICS_MAX])
{
    const yk_scheme_ops *ops = system->scheme->ops;
    return ops->statistics ? ops->statistics(system->scheme, system, rows) : 0;
}

yk_subsystem_statistics yk_system_subsystem_statistics(const yk_system *system, int subsystem)
{
    if (!system->parts[subsystem].shows)
        return (yk_subsystem_statistics){0};

    /* Short calls are timed now and then: those count for all. */
    const yk_participant *p = participant_of(system, subsystem);
    yk_subsystem_statistics s = p->statistics;
    if (p->timed_calls > 0)
        s.seconds *= (double)s.calls / (double)p->timed_calls;
    return s;
}

yk_interface_statistics yk_system_interface_statistics(const yk_system *system, int number)
{
    if (system->merging)
        return (yk_interface_statistics){0};
    return system->interfaces[number].statistics;
}
