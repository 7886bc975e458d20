/* The interfaces and wires of each participant, so that work for one participant does not grow with
 * the size of the system. */
#include "coupling/neighbors.h"

#include "base/context.h"

/* Allocates the lists of all participants as one block; `offsets` has their lengths, which become
 * their beginnings. */
static int *allocate_lists(yk_context *context, int *offsets, int count)
{
    int total = 0;
    for (int i = 0; i < count; i++) {
        int length = offsets[i];
        offsets[i] = total;
        total += length;
    }

    return yk_allocate(context, (size_t)total, sizeof(int));
}

static bool exists(const yk_system *system, int participant)
{
    return participant >= 0 && participant < system->participant_count;
}

yk_status yk_neighbors_list_interfaces(yk_system *system)
{
    yk_context *context = system->context;
    int count = system->participant_count;
    int *offsets = yk_allocate(context, (size_t)count, sizeof *offsets);
    if (!offsets)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        offsets[def->wrench_subsystem.index]++;
        if (def->motion_subsystem.index != def->wrench_subsystem.index)
            offsets[def->motion_subsystem.index]++;
    }

    system->joined = allocate_lists(context, offsets, count);
    for (int i = 0; system->joined && i < count; i++) {
        system->participants[i].joined = system->joined + offsets[i];
        system->participants[i].joined_count = 0;
    }

    for (int i = 0; system->joined && i < system->interface_count; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        yk_participant *a = &system->participants[def->wrench_subsystem.index];
        yk_participant *b = &system->participants[def->motion_subsystem.index];
        a->joined[a->joined_count++] = i;
        if (b != a)
            b->joined[b->joined_count++] = i;
    }

    yk_free(context, offsets);
    return system->joined ? YK_OK : YK_ERROR_MEMORY;
}

yk_status yk_neighbors_list_wires(yk_system *system, const yk_system_description *def)
{
    yk_context *context = system->context;
    int count = system->participant_count;
    size_t wires = (size_t)def->wire_count;
    int *offsets = yk_allocate(context, 2 * (size_t)count, sizeof *offsets);
    if (!offsets)
        return YK_ERROR_MEMORY;

    /* The wires are not checked yet. */
    int *sources = offsets + count;
    for (int i = 0; i < def->wire_count; i++) {
        if (exists(system, def->wires[i].target_subsystem.index))
            offsets[def->wires[i].target_subsystem.index]++;
        if (exists(system, def->wires[i].source_subsystem.index))
            sources[def->wires[i].source_subsystem.index]++;
    }

    system->received = allocate_lists(context, offsets, count);
    system->sent = yk_allocate(context, wires, sizeof *system->sent);
    bool complete = system->received && system->sent;
    for (int i = 0, sent = 0; complete && i < count; i++) {
        system->participants[i].received = system->received + offsets[i];
        system->participants[i].wires = system->sent + sent;
        sent += sources[i];
    }

    yk_free(context, offsets);
    return complete ? YK_OK : YK_ERROR_MEMORY;
}

void yk_neighbors_release(yk_system *system)
{
    yk_free(system->context, system->joined);
    yk_free(system->context, system->received);
    yk_free(system->context, system->sent);
}
