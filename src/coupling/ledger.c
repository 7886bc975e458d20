/* What the interfaces did: gaps, the work on both of their sides, and the energy balance of the subsystems.
 *
 * Over a step the interface does on each side the work of the wrench that this side received along the way that this side
 * went: both may differ from its partner's. A rigid joint does none in all, so the sum of both is energy that the coupling
 * created (or destroyed, where it is negative); a prescribed relative motion does work of its own, which is not counted
 * as created. Sides that step several times in a macro step sum over their steps.
 *
 * The balance of a subsystem since the start,
 *
 *   kinetic + potential + dissipated = external + interfaces + numerical,
 *
 * defines the last term: what its integration made of the exchanged quantities that the exact solution would not. */
#include "coupling/ledger.h"

#include <math.h>

#include "coupling/index1.h"
#include "coupling/interface.h"
#include "coupling/placement.h"
#include "coupling/rim.h"

/* The part of what moves that is most of it. */
static const double MOST = 0.5;

static void raise_to(double *largest, double value)
{
    if (!(value <= *largest)) *largest = value;
}

yk_interface_error yk_gap_between(yk_port_kind kind, const yk_interface_def *def, const yk_motion *a,
                                  const yk_motion *b, double t)
{
    if (!def->drive) return yk_interface_gap(kind, def->constrained, a, b);
    yk_constraint constraint = yk_constraint_make(kind, def->constrained, def->drive);
    yk_constraint_place place;
    yk_constraint_place_at(&constraint, t, a, b, &place);
    if (constraint.length > 0) {
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_value(&constraint, &place, g);
        return (yk_interface_error){.position = fabs(g[0][0]), .velocity = fabs(g[1][0])};
    }
    return yk_interface_gap(kind, def->constrained, &place.a, &place.b);
}

yk_interface_error yk_system_gap(const yk_system *system, const yk_link *link, double t)
{
    const yk_motion *a = &yk_link_a(system, link)->values[link->def.effort_port].motion;
    const yk_motion *b = &yk_link_b(system, link)->values[link->def.motion_port].motion;
    return yk_gap_between(link->kind, &link->def, a, b, t);
}

void yk_ledger_add_gap(yk_system *system, yk_link *link, double t)
{
    yk_interface_error gap = yk_system_gap(system, link, t);
    yk_interface_error *largest = &link->statistics.largest;
    raise_to(&largest->position, gap.position);
    raise_to(&largest->rotation, gap.rotation);
    raise_to(&largest->velocity, gap.velocity);
    raise_to(&largest->angular_velocity, gap.angular_velocity);
}

double yk_driven_created(const yk_system *system, const yk_link *link, const yk_effort *on_a, const double on[2])
{
    const yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    int a_port = link->def.effort_port, b_port = link->def.motion_port;
    yk_constraint constraint = yk_constraint_make(link->kind, link->def.constrained, link->def.drive);
    yk_constraint_place start, end;
    yk_constraint_place_at(&constraint, system->t, &a->before[a_port], &b->before[b_port], &start);
    yk_constraint_place_at(&constraint, system->t + system->h, &a->values[a_port].motion, &b->values[b_port].motion,
                           &end);

    if (constraint.length <= 0) return on[0] - yk_effort_work(link->kind, on_a, &start.b, &end.b);

    /* A distance pulls along its line, and does work where its length is driven. */
    yk_vec3 line = yk_v3_add(yk_v3_sub(start.a.position, start.b.position), yk_v3_sub(end.a.position, end.b.position));
    double length = yk_v3_norm(line);
    if (length <= 0) return on[0] + on[1];
    double along = yk_v3_dot(on_a->force, line) / length;
    return on[0] + on[1] - along * (end.length[0] - start.length[0]);
}

/* Of the mean wrench on a side, or of those of its substeps. */
static void exchanged_work(const yk_system *system, const yk_link *link, yk_link_work *work)
{
    const yk_member *a = yk_link_a(system, link), *b = yk_link_b(system, link);
    int a_port = link->def.effort_port, b_port = link->def.motion_port;
    yk_effort received = link->applied;
    work->on[0] = yk_effort_work(link->kind, &received, &a->before[a_port], &a->values[a_port].motion);
    yk_effort late = {{0, 0, 0}, {0, 0, 0}};
    bool changes = a->inputs[a_port].degree == 1;
    if (changes && a->substeps == 1 && b->substeps == 1 && yk_follows_polynomials(a->subsystem) &&
        yk_follows_polynomials(b->subsystem)) {
        /* Both sides integrate over the step: what they exchanged in its middle counts, not at its end. */
        late.force = yk_v3_scale(0.5 * system->h, a->inputs[a_port].linear[1]);
        late.torque = yk_v3_scale(0.5 * system->h, a->inputs[a_port].angular[1]);
        received = yk_effort_combine(link->kind, &received, -1, &late);
        work->on[0] = yk_effort_work(link->kind, &received, &a->before[a_port], &a->values[a_port].motion);
    } else if (changes && a->substeps > 1) {
        /* A wrench that changes, read by A at the ends of its substeps. B answers at the ends of its own, so that both are
         * compared at the same distance from the middle of a substep. */
        double delay = 0.5 * system->h * (1.0 / b->substeps - 1.0 / a->substeps);
        yk_effort rate = {a->inputs[a_port].linear[1], a->inputs[a_port].angular[1]};
        work->on[0] = a->port_work[a_port] +
                      delay * yk_effort_work(link->kind, &rate, &a->before[a_port], &a->values[a_port].motion);
    }
    if (b->substeps > 1) {
        work->on[1] = b->port_work[b_port];
    } else {
        const yk_port_value *value = &b->values[b_port];
        yk_effort given = yk_effort_combine(link->kind, &value->effort, 1, &late);
        work->on[1] = yk_effort_work(link->kind, &given, &b->before[b_port], &value->motion);
    }
    work->created = work->on[0] + work->on[1];
    if (link->def.drive) work->created = yk_driven_created(system, link, &received, work->on);
}

void yk_system_observe(yk_system *system)
{
    for (int i = 0; i < system->link_count; i++) {
        yk_link *link = &system->links[i];
        yk_ledger_add_gap(system, link, system->t + system->h);

        yk_link_work work;
        if (system->index1)
            yk_index1_work(system, i, &work);
        else if (system->rim)
            yk_rim_work(system, i, &work);
        else
            exchanged_work(system, link, &work);

        yk_interface_statistics *s = &link->statistics;
        s->work[0] += work.on[0];
        s->work[1] += work.on[1];
        s->energy_created += work.created;

        double wrench = yk_effort_size(link->kind, &yk_link_b(system, link)->values[link->def.motion_port].effort);
        s->impulse += system->h * wrench;
        s->residual_impulse += system->h * link->residual;
        raise_to(&s->largest_residual, link->residual);
    }
}

/* Substeps --------------------------------------------------------------------------------------------------------- */

static void read_motion(const yk_member *m, int port, yk_port_value *value)
{
    m->subsystem->ops->output(m->subsystem, port, value);
    if (m->placement) yk_placement_value(m->placement, m->ports[port].kind, value);
}

void yk_ledger_begin_substeps(yk_member *m)
{
    for (int port = 0; port < m->port_count; port++) {
        m->port_work[port] = 0;
        yk_port_value value;
        if (m->ports[port].kind == YK_PORT_SIGNAL) continue;
        read_motion(m, port, &value);
        m->substep_start[port] = value.motion;
    }
}

void yk_ledger_add_substep(yk_member *m, double h)
{
    for (int port = 0; port < m->port_count; port++) {
        if (m->ports[port].kind == YK_PORT_SIGNAL) continue;
        const yk_port_value *value = &m->values[port];
        m->port_work[port] +=
            yk_effort_impulse_work(m->ports[port].kind, h, &value->effort, &m->substep_start[port], &value->motion);
        m->substep_start[port] = value->motion;
    }
}

/* Balance ---------------------------------------------------------------------------------------------------------- */

static bool member_energy(const yk_member *m, yk_energy *energy)
{
    *energy = (yk_energy){0};
    if (!m->subsystem->ops->energy) return false;
    energy->port_work = NAN;
    m->subsystem->ops->energy(m->subsystem, energy);
    if (m->placement) yk_placement_energy(m->placement, energy);
    return true;
}

bool yk_system_energy(const yk_system *system, int subsystem, yk_energy *energy)
{
    const yk_system_part *part = &system->parts[subsystem];
    *energy = (yk_energy){0};
    return !part->shows || member_energy(&system->members[part->member], energy);
}

void yk_ledger_start(yk_system *system)
{
    for (int i = 0; i < system->member_count; i++) member_energy(&system->members[i], &system->members[i].start_energy);
}

/* Whether the ports of a subsystem can do work. */
static bool has_power(const yk_member *m)
{
    for (int port = 0; port < m->port_count; port++)
        if (m->ports[port].kind != YK_PORT_SIGNAL) return true;
    return false;
}

yk_energy_balance yk_system_balance(const yk_system *system, int subsystem)
{
    yk_energy_balance balance = {.known = true};
    if (!system->parts[subsystem].shows) return balance;
    int member = system->parts[subsystem].member;
    const yk_member *m = &system->members[member];
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (link->def.effort_subsystem == member) balance.interfaces += link->statistics.work[0];
        if (link->def.motion_subsystem == member) balance.interfaces += link->statistics.work[1];
    }
    yk_energy now;
    const yk_energy *start = &m->start_energy;
    balance.known = member_energy(m, &now);
    if (!balance.known) {
        /* What a subsystem that does not tell its energy gives or takes comes from outside; without ports it has none. */
        balance.known = !has_power(m);
        balance.external = -balance.interfaces;
        return balance;
    }

    balance.kinetic = now.kinetic;
    balance.potential = now.potential;
    balance.start = start->kinetic + start->potential;
    balance.dissipated = now.dissipated - start->dissipated;
    double work = now.work - start->work, ports = now.port_work - start->port_work;
    bool told = isfinite(ports) && (ports != 0 || balance.interfaces == 0);
    balance.external = work - (told ? ports : balance.interfaces);
    balance.numerical = now.kinetic + now.potential - balance.start + balance.dissipated - balance.external;
    balance.numerical -= balance.interfaces;
    return balance;
}

yk_runaway yk_ledger_runaway(const yk_system *system)
{
    yk_runaway r = {.known = true, .interface = -1};
    double moving = 0;
    for (int i = 0; i < system->member_count; i++) {
        yk_energy_balance b = yk_system_balance(system, i);
        r.known = r.known && b.known;
        moving += b.kinetic;
        r.made += b.interfaces + b.numerical;
    }
    /* Numbers that are not finite any more have grown beyond all others. */
    r.found = !(r.made <= MOST * moving) || !isfinite(moving);

    double most = -INFINITY;
    for (int i = 0; i < system->link_count; i++) {
        double created = fabs(system->links[i].statistics.energy_created);
        if (!(created <= most)) {
            most = created;
            r.interface = i;
        }
    }
    return r;
}
