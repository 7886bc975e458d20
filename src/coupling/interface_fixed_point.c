#include "coupling/interface_fixed_point.h"

#include <float.h>
#include <math.h>

#include "math/so3.h"

/* Largest number of stored differences, and largest number of words for all of them. */
enum { COLUMNS_MAX = 100, COLUMNS_FEW = 8, WORDS_MAX = 100000 };

/* Difference that is rounding error, relative to the largest wrench. */
static const double ROUNDING = 4 * DBL_EPSILON;

static int root_of(const int *parent, int participant)
{
    while (parent[participant] != participant)
        participant = parent[participant];
    return participant;
}

/* Number of coordinates of a prescribed motion. */
static int motion_words(const yk_unknowns *w, const yk_interface *interface)
{
    return yk_port_freedoms(interface->kind) * (1 + (int)w->motion);
}

/* Lists the members of the vector of a root: wrenches, and motions and signals that must be
 * prescribed before they are known. */
static yk_status list_unknowns(const yk_system *system, const yk_unknowns_def *def,
                               const int *parent, int root, yk_unknowns *w)
{
    yk_context *context = system->context;
    size_t interfaces = (size_t)system->interface_count;
    w->start = def->what == YK_UNKNOWNS_AT_START;
    w->motion = def->motion;
    w->tolerance = def->tolerance;
    w->relative_tolerance = def->relative_tolerance;

    /* Allocate for the largest possible number. */
    w->interfaces = yk_allocate(context, 2 * interfaces, sizeof *w->interfaces);
    w->wires = yk_allocate(context, (size_t)system->wire_count, sizeof *w->wires);
    w->largest = yk_allocate(context, interfaces, sizeof *w->largest);
    if (!w->interfaces || !w->wires || !w->largest)
        return YK_ERROR_MEMORY;

    w->lagged = w->interfaces + interfaces;

    /* Wrenches first, then motions of interfaces in cycles, then wires against the order. */
    bool joined = def->what != YK_UNKNOWNS_OF_SIDES;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (yk_both_take_wrench(interface))
            continue;
        if (root_of(parent, interface->def.wrench_subsystem.index) != root)
            continue;

        w->interfaces[w->interface_count++] = i;
        if (joined && (interface->lagged || def->simultaneous))
            w->lagged[w->lagged_count++] = i;
    }

    for (int i = 0; def->what == YK_UNKNOWNS_OF_JOINED && i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        bool unknown = wire->lagged || (def->simultaneous && yk_wire_can_lag(wire));
        if (unknown && root_of(parent, wire->def.target_subsystem.index) == root)
            w->wires[w->wire_count++] = i;
    }

    return YK_OK;
}

/* The vector and its acceleration. */
static yk_status create_vector(const yk_system *system, yk_acceleration kind, yk_unknowns *w)
{
    yk_context *context = system->context;

    int wrenches = 0;
    for (int i = 0; i < w->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[w->interfaces[i]];
        wrenches += yk_port_freedoms(interface->kind);
    }

    w->size = wrenches + w->wire_count;
    for (int i = 0; i < w->lagged_count; i++)
        w->size += motion_words(w, &system->interfaces[w->lagged[i]]);

    /* x, H(x), the next x and the previous x. */
    size_t size = (size_t)w->size;
    w->applied = yk_allocate(context, 4 * size, sizeof *w->applied);
    if (!w->applied)
        return YK_ERROR_MEMORY;

    w->fresh = w->applied + size;
    w->next = w->fresh + size;
    w->tried = w->next + size;

    /* As many differences as there are unknowns; fewer for long vectors. */
    int columns = w->size;
    if (columns > COLUMNS_MAX)
        columns = COLUMNS_MAX;
    int most = WORDS_MAX / w->size;
    if (columns > most)
        columns = most > COLUMNS_FEW ? most : COLUMNS_FEW;
    yk_status status = yk_accelerator_create(context, kind, w->size, columns, &w->accelerator);
    if (status != YK_OK)
        return status;

    /* Motions and signals have units of their own. */
    int first = wrenches;
    for (int i = 0; i < w->lagged_count; i++) {
        const yk_interface *interface = &system->interfaces[w->lagged[i]];
        int behind = first + motion_words(w, interface);
        yk_accelerator_block(w->accelerator, first);
        if (w->motion == YK_UNKNOWN_ACCELERATION)
            yk_accelerator_block(w->accelerator, behind - yk_port_freedoms(interface->kind));
        first = behind;
    }

    for (int i = 0; i < w->wire_count; i++)
        yk_accelerator_block(w->accelerator, first++);

    return YK_OK;
}

yk_status yk_unknowns_create(const yk_system *system, const yk_unknowns_def *def,
                             yk_unknowns **list, int *count)
{
    *list = NULL;
    *count = 0;
    if (system->interface_count == 0)
        return YK_OK;

    yk_context *context = system->context;
    size_t participants = (size_t)system->participant_count;
    int *parent = yk_allocate(context, participants, sizeof *parent);
    bool *listed = yk_allocate(context, participants, sizeof *listed);
    *list = yk_allocate(context, (size_t)system->interface_count, sizeof **list);
    yk_status status = YK_OK;
    if (!parent || !listed || !*list)
        status = YK_ERROR_MEMORY;

    /* Participants whose interfaces share a vector have the same root: all connected participants,
     * or each wrench side by itself. */
    bool joined = def->what != YK_UNKNOWNS_OF_SIDES;
    for (int i = 0; status == YK_OK && i < system->participant_count; i++)
        parent[i] = i;

    for (int i = 0; status == YK_OK && joined && i < system->interface_count; i++) {
        const yk_interface_def *ends = &system->interfaces[i].def;
        int wrench_root = root_of(parent, ends->wrench_subsystem.index);
        parent[root_of(parent, ends->motion_subsystem.index)] = wrench_root;
    }

    for (int i = 0; status == YK_OK && joined && i < system->wire_count; i++) {
        const yk_wire_def *ends = &system->wires[i].def;
        int target_root = root_of(parent, ends->target_subsystem.index);
        parent[root_of(parent, ends->source_subsystem.index)] = target_root;
    }

    /* In the order of the interfaces, each with all others of the same root. Interfaces with a
     * wrench on both sides are not part of it. */
    for (int i = 0; status == YK_OK && i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        int root = root_of(parent, interface->def.wrench_subsystem.index);
        if (yk_both_take_wrench(interface) || listed[root])
            continue;

        listed[root] = true;
        yk_unknowns *w = &(*list)[(*count)++];
        status = list_unknowns(system, def, parent, root, w);
        if (status == YK_OK)
            status = create_vector(system, def->kind, w);
    }

    yk_free(context, parent);
    yk_free(context, listed);

    return status;
}

bool yk_unknowns_exceed_columns(const yk_unknowns *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i].size > COLUMNS_MAX)
            return true;
    return false;
}

void yk_unknowns_destroy(yk_context *context, yk_unknowns *list, int count)
{
    for (int i = 0; i < count; i++) {
        /* `lagged`, `fresh` and the others are parts of these blocks. */
        yk_unknowns *w = &list[i];
        yk_free(context, w->interfaces);
        yk_free(context, w->wires);
        yk_free(context, w->largest);
        yk_free(context, w->applied);
        yk_accelerator_destroy(context, w->accelerator);
    }

    yk_free(context, list);
}

/* x and H(x) ----------------------------------------------------------------------------------- */

/* A motion as its displacement from the start of the step; at the start, as its acceleration. */
static double *pack_motion(const yk_system *system, const yk_unknowns *w,
                           const yk_interface *interface, const yk_motion *end, double *array)
{
    yk_port_kind kind = interface->kind;
    if (w->start) {
        yk_wrench acceleration = {end->acceleration, end->angular_acceleration};
        return yk_wrench_pack(kind, &acceleration, array);
    }

    /* Displacement and rotation from the start, and the rates if they are prescribed too. */
    const yk_motion *start = yk_before_a(system, interface);
    yk_wrench displacement = {yk_v3_sub(end->position, start->position), {0, 0, 0}};
    if (kind == YK_PORT_MARKER) {
        yk_quat back = yk_q_conjugate(start->orientation);
        displacement.torque = yk_so3_log(yk_q_mul(end->orientation, back));
    }

    array = yk_wrench_pack(kind, &displacement, array);
    if (w->motion == YK_UNKNOWN_POSITION)
        return array;

    yk_wrench rate = {end->velocity, end->angular_velocity};
    array = yk_wrench_pack(kind, &rate, array);
    if (w->motion == YK_UNKNOWN_VELOCITY)
        return array;

    yk_wrench acceleration = {end->acceleration, end->angular_acceleration};
    return yk_wrench_pack(kind, &acceleration, array);
}

/* The motion with these coordinates; the inverse of pack_motion. */
static const double *unpack_motion(const yk_system *system, const yk_unknowns *w,
                                   const yk_interface *interface, const double *array,
                                   yk_motion *end)
{
    yk_port_kind kind = interface->kind;
    yk_wrench displacement = {{0, 0, 0}, {0, 0, 0}};
    array = yk_wrench_unpack(kind, array, &displacement);
    if (w->start) {
        end->acceleration = displacement.force;
        end->angular_acceleration = displacement.torque;
        return array;
    }

    /* Relative to the start of the step. */
    const yk_motion *start = yk_before_a(system, interface);
    end->position = yk_v3_add(start->position, displacement.force);
    if (kind == YK_PORT_MARKER) {
        yk_quat rotation = yk_so3_exp(displacement.torque);
        end->orientation = yk_q_unit(yk_q_mul(rotation, start->orientation));
    }

    if (w->motion == YK_UNKNOWN_POSITION)
        return array;

    yk_wrench rate = {{0, 0, 0}, {0, 0, 0}};
    array = yk_wrench_unpack(kind, array, &rate);
    end->velocity = rate.force;
    end->angular_velocity = rate.torque;
    if (w->motion == YK_UNKNOWN_VELOCITY)
        return array;

    yk_wrench acceleration = {{0, 0, 0}, {0, 0, 0}};
    array = yk_wrench_unpack(kind, array, &acceleration);
    end->acceleration = acceleration.force;
    end->angular_acceleration = acceleration.torque;
    return array;
}

void yk_unknowns_read(const yk_system *system, yk_unknowns *w)
{
    /* Wrenches: the reactions of the motion sides, and the applied ones. */
    double *fresh = w->fresh;
    double *applied = w->applied;

    for (int i = 0; i < w->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[w->interfaces[i]];
        yk_wrench wrench = yk_system_reaction_wrench(system, w->interfaces[i]);
        fresh = yk_wrench_pack(interface->kind, &wrench, fresh);
        applied = yk_wrench_pack(interface->kind, &interface->applied, applied);
    }

    /* Motions: the resulting ones, and the prescribed ones. The same for signals. */
    for (int i = 0; i < w->lagged_count; i++) {
        const yk_interface *interface = &system->interfaces[w->lagged[i]];
        const yk_motion *end = &yk_value_a(system, interface)->motion;
        fresh = pack_motion(system, w, interface, end, fresh);
        applied = pack_motion(system, w, interface, &interface->given, applied);
    }

    for (int i = 0; i < w->wire_count; i++) {
        const yk_wire *wire = &system->wires[w->wires[i]];
        *fresh++ = wire->now;
        *applied++ = wire->given;
    }
}

void yk_unknowns_apply(yk_system *system, const yk_unknowns *w, const double *x)
{
    /* Apply wrenches to the wrench sides; prescribe motions and signals. */
    for (int i = 0; i < w->interface_count; i++) {
        yk_interface *interface = &system->interfaces[w->interfaces[i]];
        yk_input *input = yk_input_a(system, interface);
        x = yk_wrench_unpack(interface->kind, x, &interface->applied);
        yk_input_constant(interface->kind, &interface->applied, input);
    }

    for (int i = 0; i < w->lagged_count; i++) {
        yk_interface *interface = &system->interfaces[w->lagged[i]];
        x = unpack_motion(system, w, interface, x, &interface->given);
    }

    for (int i = 0; i < w->wire_count; i++)
        system->wires[w->wires[i]].given = *x++;
}

void yk_unknowns_set_wrench(yk_system *system, int interface, const double *x)
{
    yk_interface *own = &system->interfaces[interface];
    yk_wrench_unpack(own->kind, x, &own->applied);
    yk_input_constant(own->kind, &own->applied, yk_input_a(system, own));
}

void yk_unknowns_set_motion(yk_system *system, const yk_unknowns *w, int interface, const double *x)
{
    yk_interface *own = &system->interfaces[interface];
    unpack_motion(system, w, own, x, &own->given);
}

void yk_unknowns_get_motion(const yk_system *system, const yk_unknowns *w, int interface,
                            double *values)
{
    const yk_interface *own = &system->interfaces[interface];
    pack_motion(system, w, own, &yk_value_a(system, own)->motion, values);
}

void yk_unknowns_get_reaction(const yk_system *system, int interface, double *values)
{
    yk_wrench wrench = yk_system_reaction_wrench(system, interface);
    yk_wrench_pack(system->interfaces[interface].kind, &wrench, values);
}

bool yk_unknowns_settled(yk_system *system, const yk_unknowns *w, double *change)
{
    const double *fresh = w->fresh;
    bool settled = true;

    for (int i = 0; i < w->interface_count; i++) {
        yk_interface *interface = &system->interfaces[w->interfaces[i]];
        yk_port_kind kind = interface->kind;
        yk_wrench wrench;
        fresh = yk_wrench_unpack(kind, fresh, &wrench);
        yk_wrench difference = yk_wrench_combine(kind, &wrench, -1, &interface->applied);
        double size = yk_wrench_size(kind, &difference);
        if (!(size <= *change))
            *change = size;

        /* A change that is rounding error relative to the largest wrench of the step counts as
         * converged. */
        double now = yk_wrench_size(kind, &wrench);
        if (now > w->largest[i])
            w->largest[i] = now;
        double limit = w->tolerance + w->relative_tolerance * now;
        limit = fmax(limit, ROUNDING * w->largest[i]);

        interface->residual = 0;
        if (!(size <= limit)) {
            interface->residual = size;
            settled = false;
        }
    }

    return settled;
}
