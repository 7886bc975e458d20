#include "coupling/wrenches.h"

#include <float.h>
#include <math.h>

#include "coupling/interface.h"
#include "math/so3.h"

/* Differences that are remembered at most, and the words that all of them may take. */
enum { COLUMNS_MAX = 100, COLUMNS_FEW = 8, WORDS_MAX = 100000 };

/* Differences that are rounding, beside the largest wrench. */
static const double ROUNDING = 4 * DBL_EPSILON;

static int root_of(const int *parent, int member)
{
    while (parent[member] != member) member = parent[member];
    return member;
}

/* The member by which all links of one vector are known. */
static void find_roots(const yk_system *system, bool joined, int *parent)
{
    for (int i = 0; i < system->member_count; i++) parent[i] = i;
    if (!joined) return;
    for (int i = 0; i < system->link_count; i++) {
        const yk_interface_def *def = &system->links[i].def;
        parent[root_of(parent, def->motion_subsystem)] = root_of(parent, def->effort_subsystem);
    }
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        parent[root_of(parent, def->source_subsystem)] = root_of(parent, def->target_subsystem);
    }
}

/* Whether rates at the end are told besides the way over the step. */
static bool tells_rates(const yk_system *system, const yk_wrenches *w)
{
    return !w->start && system->scheme.velocity == YK_VELOCITY_MARKER;
}

/* Coordinates of a motion that is told. */
static int motion_words(const yk_system *system, const yk_wrenches *w, const yk_link *link)
{
    int words = link->kind == YK_PORT_SCALAR ? 1 : 6;
    return tells_rates(system, w) ? 2 * words : words;
}

/* The vector and what accelerates it. */
static yk_status allocate(const yk_system *system, yk_relaxation kind, yk_wrenches *w)
{
    yk_context *context = system->context;
    int wrenches = w->size;
    for (int i = 0; i < w->lagged_count; i++) w->size += motion_words(system, w, &system->links[w->lagged[i]]);
    w->size += w->wire_count;
    size_t size = (size_t)w->size;
    w->applied = yk_allocate(context, 4 * size, sizeof *w->applied);
    if (!w->applied) return YK_ERROR_MEMORY;
    w->fresh = w->applied + size;
    w->next = w->fresh + size;
    w->tried = w->next + size;

    int room = WORDS_MAX / w->size;
    int columns = w->size < COLUMNS_MAX ? w->size : COLUMNS_MAX;
    if (columns > room) columns = room > COLUMNS_FEW ? room : COLUMNS_FEW;
    yk_status status = yk_accelerator_create(context, kind, w->size, columns, &w->accelerator);
    if (status < 0) return status;

    /* Motions and signals have units of their own. */
    int first = wrenches;
    for (int i = 0; i < w->lagged_count; i++) {
        yk_accelerator_block(w->accelerator, first);
        first += motion_words(system, w, &system->links[w->lagged[i]]);
    }
    for (int i = 0; i < w->wire_count; i++) yk_accelerator_block(w->accelerator, first++);
    return YK_OK;
}

yk_status yk_wrenches_create(const yk_system *system, yk_relaxation kind, yk_wrenches_of what, yk_wrenches **list,
                             int *count)
{
    bool joined = what != YK_WRENCHES_OF_SIDES;
    *list = NULL;
    *count = 0;
    if (system->link_count == 0) return YK_OK;

    yk_context *context = system->context;
    size_t links = (size_t)system->link_count;
    int *parent = yk_allocate(context, (size_t)system->member_count, sizeof *parent);
    yk_wrenches *made = yk_allocate(context, links, sizeof *made);
    yk_status status = parent && made ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) find_roots(system, joined, parent);

    /* Links are taken in their order, each with all later ones of the same root; balanced ones have no part in it. */
    for (int i = 0; status == YK_OK && i < system->link_count; i++) {
        int root = root_of(parent, system->links[i].def.effort_subsystem);
        bool known = system->links[i].balanced;
        for (int k = 0; k < i; k++) {
            const yk_link *link = &system->links[k];
            known = known || (!link->balanced && root_of(parent, link->def.effort_subsystem) == root);
        }
        if (known) continue;

        yk_wrenches *w = &made[(*count)++];
        w->start = what == YK_WRENCHES_AT_START;
        w->links = yk_allocate(context, 2 * links, sizeof *w->links);
        w->wires = yk_allocate(context, (size_t)system->wire_count, sizeof *w->wires);
        if (!w->links || !w->wires) status = YK_ERROR_MEMORY;
        w->lagged = w->links + links;
        for (int k = i; status == YK_OK && k < system->link_count; k++) {
            const yk_link *link = &system->links[k];
            if (link->balanced || root_of(parent, link->def.effort_subsystem) != root) continue;
            w->links[w->link_count++] = k;
            if (joined && system->links[k].lagged) w->lagged[w->lagged_count++] = k;
            w->size += system->links[k].kind == YK_PORT_SCALAR ? 1 : 6;
        }
        for (int k = 0; status == YK_OK && what == YK_WRENCHES_OF_JOINED && k < system->wire_count; k++) {
            bool inside = root_of(parent, system->wires[k].def.target_subsystem) == root;
            if (inside && system->wires[k].lagged) w->wires[w->wire_count++] = k;
        }
        if (status == YK_OK) status = allocate(system, kind, w);
    }

    yk_release(context, parent);
    *list = made;
    return status;
}

void yk_wrenches_destroy(yk_context *context, yk_wrenches *list, int count)
{
    for (int i = 0; i < count; i++) {
        yk_release(context, list[i].links);
        yk_release(context, list[i].wires);
        yk_release(context, list[i].applied);
        yk_accelerator_destroy(context, list[i].accelerator);
    }
    yk_release(context, list);
}

/* A motion as what leads to it from the start of the step; at a start, as its acceleration. */
static double *pack_motion(const yk_system *system, const yk_wrenches *w, const yk_link *link, const yk_motion *end,
                           double *array)
{
    if (w->start) {
        yk_effort acceleration = {end->acceleration, end->angular_acceleration};
        return yk_effort_pack(link->kind, &acceleration, array);
    }
    const yk_motion *start = &yk_link_a(system, link)->before[link->def.effort_port];
    yk_effort way = {yk_v3_sub(end->position, start->position), {0, 0, 0}};
    if (link->kind == YK_PORT_MARKER)
        way.torque = yk_so3_log(yk_q_mul(end->orientation, yk_q_conjugate(start->orientation)));
    array = yk_effort_pack(link->kind, &way, array);
    if (!tells_rates(system, w)) return array;
    yk_effort rate = {end->velocity, end->angular_velocity};
    return yk_effort_pack(link->kind, &rate, array);
}

static const double *unpack_motion(const yk_system *system, const yk_wrenches *w, const yk_link *link,
                                   const double *array, yk_motion *end)
{
    yk_effort way, rate;
    array = yk_effort_unpack(link->kind, array, &way);
    if (w->start) {
        end->acceleration = way.force;
        end->angular_acceleration = way.torque;
        return array;
    }
    const yk_motion *start = &yk_link_a(system, link)->before[link->def.effort_port];
    end->position = yk_v3_add(start->position, way.force);
    if (link->kind == YK_PORT_MARKER)
        end->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(way.torque), start->orientation));
    if (!tells_rates(system, w)) return array;
    array = yk_effort_unpack(link->kind, array, &rate);
    end->velocity = rate.force;
    end->angular_velocity = rate.torque;
    return array;
}

void yk_wrenches_read(const yk_system *system, yk_wrenches *w)
{
    double *fresh = w->fresh, *applied = w->applied;
    for (int i = 0; i < w->link_count; i++) {
        const yk_link *link = &system->links[w->links[i]];
        const yk_port_value *b = &yk_link_b(system, link)->values[link->def.motion_port];
        yk_effort effort = yk_effort_opposite(link->kind, b, link->origin);
        fresh = yk_effort_pack(link->kind, &effort, fresh);
        applied = yk_effort_pack(link->kind, &link->applied, applied);
    }
    for (int i = 0; i < w->lagged_count; i++) {
        const yk_link *link = &system->links[w->lagged[i]];
        const yk_motion *end = &yk_link_a(system, link)->values[link->def.effort_port].motion;
        fresh = pack_motion(system, w, link, end, fresh);
        applied = pack_motion(system, w, link, &link->told, applied);
    }
    for (int i = 0; i < w->wire_count; i++) {
        *fresh++ = system->wires[w->wires[i]].now;
        *applied++ = system->wires[w->wires[i]].told;
    }
}

void yk_wrenches_apply(yk_system *system, const yk_wrenches *w, const double *x)
{
    for (int i = 0; i < w->link_count; i++) {
        yk_link *link = &system->links[w->links[i]];
        x = yk_effort_unpack(link->kind, x, &link->applied);
        yk_input_constant(link->kind, &link->applied, &yk_link_a(system, link)->inputs[link->def.effort_port]);
    }
    for (int i = 0; i < w->lagged_count; i++) {
        yk_link *link = &system->links[w->lagged[i]];
        x = unpack_motion(system, w, link, x, &link->told);
    }
    for (int i = 0; i < w->wire_count; i++) system->wires[w->wires[i]].told = *x++;
}

bool yk_wrenches_settled(yk_system *system, const yk_wrenches *w, double *change)
{
    const double *fresh = w->fresh;
    bool settled = true;
    for (int i = 0; i < w->link_count; i++) {
        yk_link *link = &system->links[w->links[i]];
        yk_effort effort;
        fresh = yk_effort_unpack(link->kind, fresh, &effort);
        yk_effort difference = yk_effort_combine(link->kind, &effort, -1, &link->applied);
        double size = yk_effort_size(link->kind, &difference);
        double now = yk_effort_size(link->kind, &effort);
        if (now > link->largest) link->largest = now;
        double limit = system->scheme.tolerance + system->scheme.relative_tolerance * now;
        limit = fmax(limit, ROUNDING * link->largest);
        if (!(size <= *change)) *change = size;
        link->residual = size <= limit ? 0 : size;
        settled = settled && size <= limit;
    }
    return settled;
}
