/* The scheme rim: fast members run against reduced models of the slow ones (paper rim 2 and 4.2, figures 3 and 4).
 *
 * No step is repeated. In every macro step H
 *
 *   1  slow members tell their reduced interface model at the start: inverse effective mass W and rate r
 *   2  fast members make their small steps; at every exchange, E times in H, they take the motion of the models and the
 *      models the effort f of the fast members, (45):
 *
 *          w <- w + H/E (r + W f)
 *
 *   3  slow members make one step with the mean of the efforts. In order gauss-seidel it is that of this macro step, so
 *      that a slow member receives the impulse that its model has received; in order jacobi that of the last one, and
 *      all may run at the same time.
 *
 * The model of a slow member holds all its interfaces together, so that several actuators of one mechanism feel each
 * other. Ports are where the slow member itself would be after a step up to there, x + tau ((1 - lead) w(0) + lead w(tau)):
 * with the integral of w, (45), the mechanism would come to another place than its model, and a stiff partner would
 * feel the difference as a blow at the start of the next macro step.
 *
 * In place of the model, velocities can be held or extrapolated from the macro steps before, with everything else the
 * same: the schemes that the paper compares with.
 *
 * Slow members that are joined to each other are balanced where they can be (balance.h); the efforts between them then
 * stay over the macro step, also in the models.
 *
 * Interfaces of another kind: between fast members both sides exchange at every exchange, between slow ones once per
 * macro step as in the explicit scheme; where the fast side takes the effort it is held over the macro step. */
#include "coupling/rim.h"

#include <string.h>

#include "coupling/balance.h"
#include "coupling/interface.h"
#include "math/polynomial.h"
#include "math/so3.h"

/* Motion of the models --------------------------------------------------------------------------------------------- */

static yk_vec3 get3(const double *array)
{
    return yk_v3(array[0], array[1], array[2]);
}

static void put3(double *array, yk_vec3 v)
{
    array[0] = v.x, array[1] = v.y, array[2] = v.z;
}

/* Where the effort side of a link is `tau` after the start of the macro step, by its model. */
static void modelled_motion(const yk_system *system, const yk_link *link, double tau, yk_motion *motion)
{
    const yk_rim_member *a = &system->rim->members[link->def.effort_subsystem];
    const yk_motion *begin = &yk_link_a(system, link)->before[link->def.effort_port];
    int offset = a->offsets[link->def.effort_port], size = link->kind == YK_PORT_SCALAR ? 1 : 6;
    double way[6] = {0};
    const double *now = a->now + offset;
    for (int k = 0; k < size; k++) {
        double mean = a->start[offset + k] + a->model.lead * (now[k] - a->start[offset + k]) + a->drift[offset + k];
        bool integral = system->scheme.rim.positions == YK_RIM_POSITIONS_INTEGRAL;
        way[k] = integral ? a->way[offset + k] : tau * mean;
    }
    *motion = *begin;
    if (link->kind == YK_PORT_SCALAR) {
        motion->position.x += way[0];
        motion->velocity.x = now[0];
        return;
    }
    motion->position = yk_v3_add(begin->position, get3(way));
    motion->velocity = get3(now);
    motion->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(get3(way + 3)), begin->orientation));
    motion->angular_velocity = get3(now + 3);
}

/* Velocity at local time tau of the polynomial through the last macro points, and its integral. */
static yk_vec3 extrapolate(int degree, double h, double tau, yk_vec3 now, const yk_vec3 *past, yk_vec3 *way)
{
    yk_vec3 first = yk_v3(0, 0, 0), second = first; /* backward differences over h, h^2 */
    if (degree >= 1) first = yk_v3_scale(1 / h, yk_v3_sub(now, past[0]));
    if (degree >= 2) {
        yk_vec3 before = yk_v3_scale(1 / h, yk_v3_sub(past[0], past[1]));
        second = yk_v3_scale(1 / (2 * h), yk_v3_sub(first, before));
    }
    /* now + first tau + second tau (tau + h) */
    yk_vec3 slope = yk_v3_axpy(h, second, first);
    *way = yk_v3_scale(tau, yk_v3_add(now, yk_v3_axpy(tau / 2, slope, yk_v3_scale(tau * tau / 3, second))));
    return yk_v3_add(now, yk_v3_axpy(tau, slope, yk_v3_scale(tau * tau, second)));
}

static void extrapolated_motion(const yk_system *system, const yk_link *link, double tau, yk_motion *motion)
{
    const yk_rim_link *own = &system->rim->links[link - system->links];
    const yk_motion *begin = &yk_link_a(system, link)->before[link->def.effort_port];
    int degree = (int)system->scheme.rim.extrapolation - (int)YK_EXTRAPOLATION_HOLD;
    if (degree > system->rim->past_count) degree = (int)system->rim->past_count;
    yk_vec3 way;
    *motion = *begin;
    motion->velocity = extrapolate(degree, system->step, tau, begin->velocity, own->past, &way);
    motion->position = yk_v3_add(begin->position, way);
    if (link->kind == YK_PORT_SCALAR) return;
    motion->angular_velocity = extrapolate(degree, system->step, tau, begin->angular_velocity, own->past_angular, &way);
    motion->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(way), begin->orientation));
}

/* What the effort side of a link is said to do, seen from its partner. */
static void told_motion(const yk_system *system, const yk_link *link, double tau, yk_motion *motion)
{
    if (system->scheme.rim.extrapolation == YK_EXTRAPOLATION_RIM)
        modelled_motion(system, link, tau, motion);
    else
        extrapolated_motion(system, link, tau, motion);
}

/* Exchanges -------------------------------------------------------------------------------------------------------- */

static void set_line(yk_port_kind kind, const yk_motion *motion, yk_signal *signal)
{
    signal->degree = 1;
    signal->linear[0] = motion->position;
    signal->linear[1] = motion->velocity;
    if (kind == YK_PORT_SCALAR) return;
    signal->orientation = motion->orientation;
    signal->angular[0] = yk_v3(0, 0, 0);
    signal->angular[1] = motion->angular_velocity;
}

/* The inputs of a fast member from `tau` to the next exchange. */
static void set_fast_inputs(yk_system *system, int member, double tau)
{
    yk_member *m = &system->members[member];
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        yk_rim_link *own = &system->rim->links[i];
        if (link->def.motion_subsystem == member) {
            yk_motion told = yk_link_a(system, link)->values[link->def.effort_port].motion;
            if (own->role == YK_RIM_MODELLED) told_motion(system, link, tau, &told);
            link->origin = told.position;
            set_line(link->kind, &told, &m->inputs[link->def.motion_port]);
        } else if (link->def.effort_subsystem == member) {
            const yk_port_value *b = &yk_link_b(system, link)->values[link->def.motion_port];
            link->applied = yk_effort_opposite(link->kind, b, m->values[link->def.effort_port].motion.position);
            yk_input_constant(link->kind, &link->applied, &m->inputs[link->def.effort_port]);
            own->applied = yk_effort_combine(link->kind, &own->applied, 1.0 / system->rim->exchanges, &link->applied);
        }
    }
}

/* What sources give now: fast ones at this exchange, slow ones at the start of the macro step. */
static void feed_fast(yk_system *system, int member)
{
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        if (wire->def.target_subsystem != member) continue;
        yk_signal *input = &system->members[member].inputs[wire->def.target_port];
        input->degree = 0;
        input->linear[0].x = wire->def.hold ? wire->before : wire->now;
    }
}

/* The work of the interfaces on a fast member over the exchange that it has made. */
static void add_work(yk_system *system, int member)
{
    const yk_member *m = &system->members[member];
    yk_rim_member *own = &system->rim->members[member];
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        double *work = system->rim->links[i].work;
        if (link->def.effort_subsystem == member) {
            int port = link->def.effort_port;
            work[0] += yk_effort_work(link->kind, &link->applied, &own->from[port], &m->values[port].motion);
        }
        if (link->def.motion_subsystem == member) {
            int port = link->def.motion_port;
            const yk_port_value *value = &m->values[port];
            bool parts = own->parts > 1;
            work[1] += parts ? m->port_work[port]
                             : yk_effort_work(link->kind, &value->effort, &own->from[port], &value->motion);
        }
    }
    for (int port = 0; port < m->port_count; port++) own->from[port] = m->values[port].motion;
}

/* Over one exchange, as a macro step of its own. */
static yk_status advance_fast(yk_system *system, int member, double tau, double h)
{
    yk_member *m = &system->members[member];
    yk_rim_member *own = &system->rim->members[member];
    double t = system->t, whole = system->h, share = 1.0 / system->rim->exchanges;
    bool mean = system->scheme.rim.efforts == YK_RIM_EFFORTS_MEAN;
    int substeps = m->substeps;
    system->t = t + tau, system->h = h, m->substeps = own->parts;
    yk_status status = yk_system_advance(system, member);
    if (status < 0) status = yk_system_blame(system, member);
    system->t = t, system->h = whole, m->substeps = substeps;
    add_work(system, member);
    for (int port = 0; port < m->port_count; port++) {
        const yk_effort *effort = &m->values[port].effort;
        own->given[port] = mean ? yk_effort_combine(m->ports[port].kind, &own->given[port], share, effort) : *effort;
    }
    return status;
}

/* The effort of the fast side on the model behind a link. */
static void take_effort(yk_system *system, yk_link *link)
{
    yk_rim_member *a = &system->rim->members[link->def.effort_subsystem];
    const yk_port_value *b = &yk_link_b(system, link)->values[link->def.motion_port];
    if (a->size == 0) return;
    yk_effort effort = yk_effort_opposite(link->kind, b, link->origin);
    yk_effort_pack(link->kind, &effort, a->efforts + a->offsets[link->def.effort_port]);
}

/* (45). */
static void advance_models(yk_system *system, double h)
{
    for (int i = 0; i < system->member_count; i++) {
        yk_rim_member *own = &system->rim->members[i];
        const yk_interface_model *model = &own->model;
        for (int k = 0; k < own->size; k++) {
            double rate = model->rate[k];
            for (int j = 0; j < own->size; j++) rate += model->inverse_mass[k * own->size + j] * own->efforts[j];
            own->now[k] += h * rate;
            own->way[k] += h * own->now[k];
        }
    }
}

static yk_status run_exchange(yk_system *system, double tau, double h)
{
    for (int i = 0; i < system->member_count; i++)
        if (system->rim->members[i].fast) set_fast_inputs(system, i, tau), feed_fast(system, i);
    for (int i = 0; i < system->member_count; i++) {
        if (!system->rim->members[i].fast) continue;
        yk_status status = advance_fast(system, i, tau, h);
        if (status < 0) return status;
    }
    for (int i = 0; i < system->link_count; i++)
        if (system->rim->links[i].role == YK_RIM_MODELLED) take_effort(system, &system->links[i]);
    advance_models(system, h);
    return YK_OK;
}

/* Macro step ------------------------------------------------------------------------------------------------------- */

static void set_slow_motions(yk_system *system, int member, int place)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        if (link->def.motion_subsystem != member || link->balanced) continue;
        const yk_member *a = yk_link_a(system, link);
        if (system->rim->links[i].role == YK_RIM_SLOW) {
            yk_explicit_motion_input(system, link, place >= 0 && link->a_place < place);
            continue;
        }
        /* The fast side has gone this way, or will go on from here. */
        const yk_motion *end = &a->values[link->def.effort_port].motion;
        link->origin = end->position;
        yk_input_interpolated(link->kind, system->h, &a->before[link->def.effort_port], end,
                              &system->members[member].inputs[link->def.motion_port]);
    }
}

/* One port of a model at the start of the macro step: its velocities, and what acts on it until a partner tells. */
static void begin_port(yk_rim_member *own, yk_port_kind kind, int port, const yk_motion *motion,
                       const yk_effort *effort)
{
    int offset = own->offsets[port];
    double *now = own->now + offset, *start = own->start + offset;
    yk_effort_pack(kind, effort, own->efforts + offset);
    if (kind == YK_PORT_SCALAR) {
        now[0] = start[0] = motion->velocity.x;
        return;
    }
    put3(now, motion->velocity), put3(start, motion->velocity);
    put3(now + 3, motion->angular_velocity), put3(start + 3, motion->angular_velocity);
}

static yk_status begin_models(yk_system *system)
{
    for (int i = 0; i < system->member_count; i++) {
        yk_rim_member *own = &system->rim->members[i];
        if (own->size > 0) memset(own->way, 0, (size_t)own->size * sizeof *own->way);
    }
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        for (int side = 0; side < (link->balanced ? 2 : 1); side++) {
            int member = side == 0 ? link->def.effort_subsystem : link->def.motion_subsystem;
            int port = side == 0 ? link->def.effort_port : link->def.motion_port;
            const yk_member *m = &system->members[member];
            yk_rim_member *own = &system->rim->members[member];
            if (own->size == 0) continue;
            const yk_motion *motion = &m->before[port];
            const yk_port_value *b = &yk_link_b(system, link)->values[link->def.motion_port];
            yk_effort effort = {m->inputs[port].linear[0], m->inputs[port].angular[0]};
            if (!link->balanced) effort = yk_effort_opposite(link->kind, b, motion->position);
            begin_port(own, link->kind, port, motion, &effort);
        }
    }
    for (int i = 0; i < system->member_count; i++) {
        if (system->rim->members[i].size == 0) continue;
        set_slow_motions(system, i, -1);
        yk_system_feed(system, i);
        if (yk_rim_find_model(system, i) < 0) return yk_system_blame(system, i);
    }
    return YK_OK;
}

static yk_status run_fast(yk_system *system)
{
    struct yk_rim *rim = system->rim;
    double h = system->h / rim->exchanges;
    for (int i = 0; i < system->link_count; i++) {
        rim->links[i].work[0] = rim->links[i].work[1] = 0;
        rim->links[i].applied = (yk_effort){.force = {0, 0, 0}};
    }
    for (int i = 0; i < system->member_count; i++)
        for (int port = 0; rim->members[i].fast && port < system->members[i].port_count; port++) {
            rim->members[i].given[port] = (yk_effort){.force = {0, 0, 0}};
            rim->members[i].from[port] = system->members[i].before[port];
        }
    for (int k = 0; k < rim->exchanges; k++) {
        yk_status status = run_exchange(system, k * h, h);
        if (status < 0) return status;
    }
    return YK_OK;
}

/* From here on efforts of and on fast members are the means over the macro step. */
static void show_means(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++)
        if (system->rim->members[system->links[i].def.effort_subsystem].fast)
            system->links[i].applied = system->rim->links[i].applied;
    for (int i = 0; i < system->member_count; i++) {
        yk_member *m = &system->members[i];
        const yk_rim_member *own = &system->rim->members[i];
        for (int port = 0; own->fast && port < m->port_count; port++) {
            m->values[port].effort = own->given[port];
            if (m->mean_efforts) m->mean_efforts[port] = own->given[port];
        }
    }
}

static void set_slow_efforts(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    if (!m->effort_size) return;
    yk_system_pack_efforts(system, member);
    double *fresh = m->fresh;
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (link->def.effort_subsystem != member || link->balanced) continue;
        yk_effort mean = {.force = {0, 0, 0}};
        yk_effort_unpack(link->kind, fresh, &mean);
        yk_effort given = yk_rim_feed(system, i, &mean);
        fresh = yk_effort_pack(link->kind, &given, fresh);

        yk_rim_link *own = &system->rim->links[i];
        own->given[1] = own->given[0];
        own->given[0] = given;
        own->mean = mean;
    }
    yk_system_apply_efforts(system, member, m->fresh);
}

static yk_status run_slow(yk_system *system, bool with_efforts)
{
    for (int place = 0; place < system->member_count; place++) {
        int member = system->sequence[place];
        if (system->rim->members[member].fast) continue;
        set_slow_motions(system, member, with_efforts ? place : -1);
        if (with_efforts) set_slow_efforts(system, member);
        yk_system_feed(system, member);
        if (yk_system_advance(system, member) < 0) return yk_system_blame(system, member);
    }
    return YK_OK;
}

static void remember(yk_system *system)
{
    struct yk_rim *rim = system->rim;
    for (int i = 0; i < system->link_count; i++) {
        yk_rim_link *own = &rim->links[i];
        const yk_motion *motion = &yk_link_a(system, &system->links[i])->before[system->links[i].def.effort_port];
        for (int k = YK_RIM_PAST - 1; k > 0; k--) {
            own->past[k] = own->past[k - 1];
            own->past_angular[k] = own->past_angular[k - 1];
        }
        own->past[0] = motion->velocity;
        own->past_angular[0] = motion->angular_velocity;
    }
    if (rim->past_count < YK_RIM_PAST) rim->past_count++;
}

yk_status yk_rim_step(yk_system *system, yk_step_report *report)
{
    report->iterations = 1;
    bool jacobi = system->scheme.order == YK_ORDER_JACOBI;
    yk_status status = system->balance ? yk_balance_solve(system) : YK_OK;
    if (status == YK_OK) status = begin_models(system);
    if (status < 0) return status;
    /* In order jacobi slow members take the efforts of the macro step before, at the places where they were then. */
    if (jacobi) {
        for (int i = 0; i < system->link_count; i++)
            system->links[i].origin =
                yk_link_a(system, &system->links[i])->before[system->links[i].def.effort_port].position;
        for (int i = 0; i < system->member_count; i++)
            if (!system->rim->members[i].fast) set_slow_efforts(system, i);
    }
    status = run_fast(system);
    if (status < 0) return status;
    show_means(system);
    status = run_slow(system, !jacobi);
    if (status == YK_OK) remember(system);
    return status;
}
