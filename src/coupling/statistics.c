/* What is known of a system after a step: outputs, errors of the interfaces, statistics. */
#include <stdint.h>
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

/* Checkpoints ---------------------------------------------------------------------------------- */

int yk_system_find_unsaved(const yk_system *system)
{
    for (int i = 0; i < system->subsystem_count; i++) {
        const yk_subsystem *subsystem = participant_of(system, i)->subsystem;
        const yk_subsystem_ops *ops = subsystem->ops;
        if (!ops->rollback || (ops->image_is_local && ops->image_is_local(subsystem)))
            return i;
    }

    return -1;
}

/* One piece of what the system knows besides the states of its subsystems and its scheme. */
typedef struct piece {
    void *data;
    size_t bytes;
} piece;

/* Calls back with all of them, always in the same order: what is counted, and what ports,
 * interfaces and wires showed and were given last, which the next step may begin with. */
static void visit_memory(const yk_system *system, void (*visit)(piece one, void *user), void *user)
{
    yk_system *s = (yk_system *)(uintptr_t)system;
    visit((piece){&s->statistics, sizeof s->statistics}, user);
    visit((piece){&s->policy.failures, sizeof s->policy.failures}, user);

    for (int i = 0; i < s->participant_count; i++) {
        yk_participant *m = &s->participants[i];
        size_t ports = (size_t)m->port_count;
        visit((piece){&m->statistics, sizeof m->statistics}, user);
        visit((piece){&m->timed_calls, sizeof m->timed_calls}, user);
        visit((piece){m->values, ports * sizeof *m->values}, user);
        visit((piece){m->before, ports * sizeof *m->before}, user);
        visit((piece){m->inputs, ports * sizeof *m->inputs}, user);

        void *counts = NULL;
        size_t bytes = 0;
        if (m->subsystem->ops->counts)
            bytes = m->subsystem->ops->counts(m->subsystem, &counts);
        if (bytes > 0)
            visit((piece){counts, bytes}, user);
    }

    for (int i = 0; i < s->interface_count; i++) {
        yk_interface *interface = &s->interfaces[i];
        visit((piece){&interface->statistics, sizeof interface->statistics}, user);
        visit((piece){&interface->given, sizeof interface->given}, user);
        visit((piece){&interface->applied, sizeof interface->applied}, user);
        visit((piece){&interface->origin, sizeof interface->origin}, user);
        visit((piece){&interface->residual, sizeof interface->residual}, user);
    }

    for (int i = 0; i < s->wire_count; i++) {
        yk_wire *wire = &s->wires[i];
        visit((piece){&wire->now, sizeof wire->now}, user);
        visit((piece){&wire->before, sizeof wire->before}, user);
        visit((piece){&wire->given, sizeof wire->given}, user);
    }
}

static size_t words_of(size_t bytes)
{
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

static void count_words(piece one, void *user)
{
    *(size_t *)user += words_of(one.bytes);
}

static void save_piece(piece one, void *user)
{
    double **words = user;
    memcpy(*words, one.data, one.bytes);
    *words += words_of(one.bytes);
}

static void restore_piece(piece one, void *user)
{
    const double **words = user;
    memcpy(one.data, *words, one.bytes);
    *words += words_of(one.bytes);
}

size_t yk_system_memory_words(const yk_system *system)
{
    size_t words = 0;
    visit_memory(system, count_words, &words);
    return words;
}

void yk_system_memory_save(const yk_system *system, double *words)
{
    memset(words, 0, yk_system_memory_words(system) * sizeof *words);
    visit_memory(system, save_piece, &words);
}

void yk_system_memory_restore(yk_system *system, const double *words)
{
    visit_memory(system, restore_piece, &words);
}
