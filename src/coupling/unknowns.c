#include "coupling/unknowns.h"

#include <float.h>
#include <math.h>

#include "coupling/interface.h"
#include "math/so3.h"

/* Differences that are remembered at most, and the words that all of them may take. */
enum { COLUMNS_MAX = 100, COLUMNS_FEW = 8, WORDS_MAX = 100000 };

/* Differences that are rounding, beside the largest wrench. */
static const double ROUNDING = 4 * DBL_EPSILON;

static int root_of(const int *parent, int participant)
{
    while (parent[participant] != participant)
        participant = parent[participant];
    return participant;
}

/* The participant by which all interfaces of one vector are known. */
static void find_roots(const yk_system *system, bool joined, int *parent)
{
    for (int i = 0; i < system->participant_count; i++)
        parent[i] = i;
    if (!joined)
        return;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        parent[root_of(parent, def->motion_subsystem)] = root_of(parent, def->wrench_subsystem);
    }
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        parent[root_of(parent, def->source_subsystem)] = root_of(parent, def->target_subsystem);
    }
}

/* Coordinates of a motion that is told. */
static int motion_words(const yk_unknowns *w, const yk_interface *interface)
{
    int words = yk_port_freedoms(interface->kind);
    return w->rates ? 2 * words : words;
}

/* The vector and what accelerates it. */
static yk_status allocate(const yk_system *system, yk_acceleration kind, yk_unknowns *w)
{
    yk_context *context = system->context;
    int wrenches = w->size;
    for (int i = 0; i < w->lagged_count; i++)
        w->size += motion_words(w, &system->interfaces[w->lagged[i]]);
    w->size += w->wire_count;
    size_t size = (size_t)w->size;
    w->applied = yk_allocate(context, 4 * size, sizeof *w->applied);
    if (!w->applied)
        return YK_ERROR_MEMORY;
    w->fresh = w->applied + size;
    w->next = w->fresh + size;
    w->tried = w->next + size;

    int room = WORDS_MAX / w->size;
    int columns = w->size < COLUMNS_MAX ? w->size : COLUMNS_MAX;
    if (columns > room)
        columns = room > COLUMNS_FEW ? room : COLUMNS_FEW;
    yk_status status = yk_accelerator_create(context, kind, w->size, columns, &w->accelerator);
    if (status < 0)
        return status;

    /* Motions and signals have units of their own. */
    int first = wrenches;
    for (int i = 0; i < w->lagged_count; i++) {
        yk_accelerator_block(w->accelerator, first);
        first += motion_words(w, &system->interfaces[w->lagged[i]]);
    }
    for (int i = 0; i < w->wire_count; i++)
        yk_accelerator_block(w->accelerator, first++);
    return YK_OK;
}

yk_status yk_unknowns_create(const yk_system *system, const yk_unknowns_def *def,
                             yk_unknowns **list, int *count)
{
    bool joined = def->what != YK_UNKNOWNS_OF_SIDES;
    *list = NULL;
    *count = 0;
    if (system->interface_count == 0)
        return YK_OK;

    yk_context *context = system->context;
    size_t interfaces = (size_t)system->interface_count;
    int *parent = yk_allocate(context, (size_t)system->participant_count, sizeof *parent);
    yk_unknowns *made = yk_allocate(context, interfaces, sizeof *made);
    yk_status status = parent && made ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK)
        find_roots(system, joined, parent);

    /* Interfaces are taken in their order, each with all later ones of the same root; those with
     * a wrench on both sides have no part in it. */
    for (int i = 0; status == YK_OK && i < system->interface_count; i++) {
        int root = root_of(parent, system->interfaces[i].def.wrench_subsystem);
        bool known = yk_both_take_wrench(&system->interfaces[i]);
        for (int k = 0; k < i; k++) {
            const yk_interface *interface = &system->interfaces[k];
            known = known || (!yk_both_take_wrench(interface) &&
                              root_of(parent, interface->def.wrench_subsystem) == root);
        }
        if (known)
            continue;

        yk_unknowns *w = &made[(*count)++];
        w->start = def->what == YK_UNKNOWNS_AT_START;
        w->rates = def->rates;
        w->tolerance = def->tolerance;
        w->relative_tolerance = def->relative_tolerance;
        w->interfaces = yk_allocate(context, 2 * interfaces, sizeof *w->interfaces);
        w->wires = yk_allocate(context, (size_t)system->wire_count, sizeof *w->wires);
        w->largest = yk_allocate(context, interfaces, sizeof *w->largest);
        if (!w->interfaces || !w->wires || !w->largest)
            status = YK_ERROR_MEMORY;
        w->lagged = w->interfaces + interfaces;
        for (int k = i; status == YK_OK && k < system->interface_count; k++) {
            const yk_interface *interface = &system->interfaces[k];
            if (yk_both_take_wrench(interface) ||
                root_of(parent, interface->def.wrench_subsystem) != root)
                continue;
            w->interfaces[w->interface_count++] = k;
            if (joined && system->interfaces[k].lagged)
                w->lagged[w->lagged_count++] = k;
            w->size += yk_port_freedoms(system->interfaces[k].kind);
        }
        for (int k = 0;
             status == YK_OK && def->what == YK_UNKNOWNS_OF_JOINED && k < system->wire_count; k++) {
            bool inside = root_of(parent, system->wires[k].def.target_subsystem) == root;
            if (inside && system->wires[k].lagged)
                w->wires[w->wire_count++] = k;
        }
        if (status == YK_OK)
            status = allocate(system, def->kind, w);
    }

    yk_release(context, parent);
    *list = made;
    return status;
}

void yk_unknowns_destroy(yk_context *context, yk_unknowns *list, int count)
{
    for (int i = 0; i < count; i++) {
        yk_release(context, list[i].interfaces);
        yk_release(context, list[i].wires);
        yk_release(context, list[i].largest);
        yk_release(context, list[i].applied);
        yk_accelerator_destroy(context, list[i].accelerator);
    }
    yk_release(context, list);
}

/* A motion as what leads to it from the start of the step; at a start, as its acceleration. */
static double *pack_motion(const yk_system *system, const yk_unknowns *w,
                           const yk_interface *interface, const yk_motion *end, double *array)
{
    if (w->start) {
        yk_wrench acceleration = {end->acceleration, end->angular_acceleration};
        return yk_wrench_pack(interface->kind, &acceleration, array);
    }
    const yk_motion *start = &yk_interface_a(system, interface)->before[interface->def.wrench_port];
    yk_wrench displacement = {yk_v3_sub(end->position, start->position), {0, 0, 0}};
    if (interface->kind == YK_PORT_MARKER)
        displacement.torque =
            yk_so3_log(yk_q_mul(end->orientation, yk_q_conjugate(start->orientation)));
    array = yk_wrench_pack(interface->kind, &displacement, array);
    if (!w->rates)
        return array;
    yk_wrench rate = {end->velocity, end->angular_velocity};
    return yk_wrench_pack(interface->kind, &rate, array);
}

static const double *unpack_motion(const yk_system *system, const yk_unknowns *w,
                                   const yk_interface *interface, const double *array,
                                   yk_motion *end)
{
    yk_wrench displacement, rate;
    array = yk_wrench_unpack(interface->kind, array, &displacement);
    if (w->start) {
        end->acceleration = displacement.force;
        end->angular_acceleration = displacement.torque;
        return array;
    }
    const yk_motion *start = &yk_interface_a(system, interface)->before[interface->def.wrench_port];
    end->position = yk_v3_add(start->position, displacement.force);
    if (interface->kind == YK_PORT_MARKER)
        end->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(displacement.torque), start->orientation));
    if (!w->rates)
        return array;
    array = yk_wrench_unpack(interface->kind, array, &rate);
    end->velocity = rate.force;
    end->angular_velocity = rate.torque;
    return array;
}

void yk_unknowns_read(const yk_system *system, yk_unknowns *w)
{
    double *fresh = w->fresh, *applied = w->applied;
    for (int i = 0; i < w->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[w->interfaces[i]];
        const yk_port_value *b =
            &yk_interface_b(system, interface)->values[interface->def.motion_port];
        yk_wrench wrench = yk_wrench_opposite(interface->kind, b, interface->origin);
        fresh = yk_wrench_pack(interface->kind, &wrench, fresh);
        applied = yk_wrench_pack(interface->kind, &interface->applied, applied);
    }
    for (int i = 0; i < w->lagged_count; i++) {
        const yk_interface *interface = &system->interfaces[w->lagged[i]];
        const yk_motion *end =
            &yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
        fresh = pack_motion(system, w, interface, end, fresh);
        applied = pack_motion(system, w, interface, &interface->given, applied);
    }
    for (int i = 0; i < w->wire_count; i++) {
        *fresh++ = system->wires[w->wires[i]].now;
        *applied++ = system->wires[w->wires[i]].given;
    }
}

void yk_unknowns_apply(yk_system *system, const yk_unknowns *w, const double *x)
{
    for (int i = 0; i < w->interface_count; i++) {
        yk_interface *interface = &system->interfaces[w->interfaces[i]];
        x = yk_wrench_unpack(interface->kind, x, &interface->applied);
        yk_input_constant(interface->kind, &interface->applied,
                          &yk_interface_a(system, interface)->inputs[interface->def.wrench_port]);
    }
    for (int i = 0; i < w->lagged_count; i++) {
        yk_interface *interface = &system->interfaces[w->lagged[i]];
        x = unpack_motion(system, w, interface, x, &interface->given);
    }
    for (int i = 0; i < w->wire_count; i++)
        system->wires[w->wires[i]].given = *x++;
}

bool yk_unknowns_settled(yk_system *system, const yk_unknowns *w, double *change)
{
    const double *fresh = w->fresh;
    bool settled = true;
    for (int i = 0; i < w->interface_count; i++) {
        yk_interface *interface = &system->interfaces[w->interfaces[i]];
        yk_wrench wrench;
        fresh = yk_wrench_unpack(interface->kind, fresh, &wrench);
        yk_wrench difference = yk_wrench_combine(interface->kind, &wrench, -1, &interface->applied);
        double size = yk_wrench_size(interface->kind, &difference);
        double now = yk_wrench_size(interface->kind, &wrench);
        if (now > w->largest[i])
            w->largest[i] = now;
        double limit = w->tolerance + w->relative_tolerance * now;
        limit = fmax(limit, ROUNDING * w->largest[i]);
        if (!(size <= *change))
            *change = size;
        interface->residual = size <= limit ? 0 : size;
        settled = settled && size <= limit;
    }
    return settled;
}
