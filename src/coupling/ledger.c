/* What the interfaces did: gaps, the work on both of their sides, and the energy balance of the
 * subsystems.
 *
 * Over a step the interface does on each side the work of the wrench that this side received
 * along the way that this side went: both may differ from its partner's. A rigid joint does none
 * in all, so the sum of both is energy that the coupling created (or destroyed, where it is
 * negative); a prescribed relative motion does work of its own, which is not counted as created.
 * Sides that step several times in a macro step sum over their steps.
 *
 * The balance of a subsystem since the start,
 *
 *   kinetic + potential + dissipated = external + interfaces + numerical,
 *
 * defines the last term: what its integration made of the exchanged quantities that the exact
 * solution would not. */
#include "coupling/ledger.h"

#include <math.h>

#include "coupling/constraint.h"
#include "coupling/interface.h"
#include "coupling/transform.h"

/* The part of what moves that is most of it. */
static const double MOST = 0.5;

static void raise_to(double *largest, double value)
{
    if (!(value <= *largest))
        *largest = value;
}

yk_interface_error yk_gap_between(yk_port_kind kind, const yk_interface_def *def,
                                  const yk_motion *a, const yk_motion *b, double t)
{
    if (!def->drive)
        return yk_interface_gap(kind, def->constrained, a, b);
    yk_constraint constraint = yk_constraint_make(kind, def->constrained, def->drive);
    yk_constraint_kinematics place;
    yk_constraint_kinematics_at(&constraint, t, a, b, &place);
    if (constraint.length > 0) {
        double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
        yk_constraint_value(&constraint, &place, g);
        return (yk_interface_error){.position = fabs(g[0][0]), .velocity = fabs(g[1][0])};
    }
    return yk_interface_gap(kind, def->constrained, &place.a, &place.b);
}

yk_interface_error yk_system_gap(const yk_system *system, const yk_interface *interface, double t)
{
    const yk_motion *a =
        &yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
    const yk_motion *b =
        &yk_interface_b(system, interface)->values[interface->def.motion_port].motion;
    return yk_gap_between(interface->kind, &interface->def, a, b, t);
}

void yk_ledger_add_gap(yk_system *system, yk_interface *interface, double t)
{
    yk_interface_error gap = yk_system_gap(system, interface, t);
    yk_interface_error *largest = &interface->statistics.largest;
    raise_to(&largest->position, gap.position);
    raise_to(&largest->rotation, gap.rotation);
    raise_to(&largest->velocity, gap.velocity);
    raise_to(&largest->angular_velocity, gap.angular_velocity);
}

double yk_driven_created(const yk_system *system, const yk_interface *interface,
                         const yk_wrench *on_a, const double on[2])
{
    const yk_participant *a = yk_interface_a(system, interface),
                         *b = yk_interface_b(system, interface);
    int a_port = interface->def.wrench_port, b_port = interface->def.motion_port;
    yk_constraint constraint =
        yk_constraint_make(interface->kind, interface->def.constrained, interface->def.drive);
    yk_constraint_kinematics start, end;
    yk_constraint_kinematics_at(&constraint, system->t, &a->before[a_port], &b->before[b_port],
                                &start);
    yk_constraint_kinematics_at(&constraint, system->t + system->h, &a->values[a_port].motion,
                                &b->values[b_port].motion, &end);

    if (constraint.length <= 0)
        return on[0] - yk_wrench_work(interface->kind, on_a, &start.b, &end.b);

    /* A distance pulls along its line, and does work where its length is driven. */
    yk_vec3 line = yk_v3_add(yk_v3_sub(start.a.position, start.b.position),
                             yk_v3_sub(end.a.position, end.b.position));
    double length = yk_v3_norm(line);
    if (length <= 0)
        return on[0] + on[1];
    double along = yk_v3_dot(on_a->force, line) / length;
    return on[0] + on[1] - along * (end.length[0] - start.length[0]);
}

/* Of the mean wrench on a side, or of those of its substeps. */
static void exchanged_work(const yk_system *system, const yk_interface *interface,
                           yk_interface_work *work)
{
    const yk_participant *a = yk_interface_a(system, interface),
                         *b = yk_interface_b(system, interface);
    int a_port = interface->def.wrench_port, b_port = interface->def.motion_port;
    const yk_motion *a_start = &a->before[a_port], *a_end = &a->values[a_port].motion;
    const yk_port_value *b_end = &b->values[b_port];
    const yk_input *input = &a->inputs[a_port];
    yk_port_kind kind = interface->kind;

    /* Side A. A wrench that changes over the step is met by the two sides at different times. */
    yk_wrench received = interface->applied, late = {{0, 0, 0}, {0, 0, 0}};
    bool changes = input->degree == 1, single = a->substeps == 1 && b->substeps == 1;
    if (changes && single && yk_follows_polynomials(a->subsystem) &&
        yk_follows_polynomials(b->subsystem)) {
        /* Both sides integrate over the step: what they exchanged in its middle counts, not at
         * its end. */
        late.force = yk_v3_scale(0.5 * system->h, input->linear[1]);
        late.torque = yk_v3_scale(0.5 * system->h, input->angular[1]);
        received = yk_wrench_combine(kind, &received, -1, &late);
    }
    work->on[0] = yk_wrench_work(kind, &received, a_start, a_end);
    if (changes && a->substeps > 1) {
        /* It is read by A at the ends of its substeps. B answers at the ends of its own, so that
         * both are compared at the same distance from the middle of a substep. */
        double delay = 0.5 * system->h * (1.0 / b->substeps - 1.0 / a->substeps);
        yk_wrench rate = {input->linear[1], input->angular[1]};
        work->on[0] = a->port_work[a_port] + delay * yk_wrench_work(kind, &rate, a_start, a_end);
    }

    /* Side B, and what a prescribed relative motion did. */
    if (b->substeps > 1) {
        work->on[1] = b->port_work[b_port];
    } else {
        yk_wrench given = yk_wrench_combine(kind, &b_end->wrench, 1, &late);
        work->on[1] = yk_wrench_work(kind, &given, &b->before[b_port], &b_end->motion);
    }
    work->created = work->on[0] + work->on[1];
    if (interface->def.drive)
        work->created = yk_driven_created(system, interface, &received, work->on);
}

void yk_system_observe(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        yk_ledger_add_gap(system, interface, system->t + system->h);

        yk_interface_work work;
        const yk_scheme_ops *scheme = system->scheme->ops;
        if (scheme->work)
            scheme->work(system->scheme, system, i, &work);
        else
            exchanged_work(system, interface, &work);

        yk_interface_statistics *s = &interface->statistics;
        s->work[0] += work.on[0];
        s->work[1] += work.on[1];
        s->energy_created += work.created;

        double wrench = yk_wrench_size(
            interface->kind,
            &yk_interface_b(system, interface)->values[interface->def.motion_port].wrench);
        s->impulse += system->h * wrench;
        s->residual_impulse += system->h * interface->residual;
        raise_to(&s->largest_residual, interface->residual);
    }
}

/* Substeps ------------------------------------------------------------------------------------- */

static void read_motion(const yk_participant *m, int port, yk_port_value *value)
{
    m->subsystem->ops->output(m->subsystem, port, value);
    if (m->transform)
        yk_transform_value(m->transform, m->ports[port].kind, value);
}

void yk_ledger_begin_substeps(yk_participant *m)
{
    for (int port = 0; port < m->port_count; port++) {
        m->port_work[port] = 0;
        yk_port_value value;
        if (m->ports[port].kind == YK_PORT_SIGNAL)
            continue;
        read_motion(m, port, &value);
        m->substep_start[port] = value.motion;
    }
}

void yk_ledger_add_substep(yk_participant *m, double h)
{
    for (int port = 0; port < m->port_count; port++) {
        if (m->ports[port].kind == YK_PORT_SIGNAL)
            continue;
        const yk_port_value *value = &m->values[port];
        m->port_work[port] += yk_wrench_impulse_work(m->ports[port].kind, h, &value->wrench,
                                                     &m->substep_start[port], &value->motion);
        m->substep_start[port] = value->motion;
    }
}

/* Balance -------------------------------------------------------------------------------------- */

static bool participant_energy(const yk_participant *m, yk_energy *energy)
{
    *energy = (yk_energy){0};
    if (!m->subsystem->ops->energy)
        return false;
    energy->port_work = NAN;
    m->subsystem->ops->energy->read(m->subsystem, energy);
    if (m->transform)
        yk_transform_energy(m->transform, energy);
    return true;
}

bool yk_system_energy(const yk_system *system, int subsystem, yk_energy *energy)
{
    const yk_system_part *part = &system->parts[subsystem];
    *energy = (yk_energy){0};
    return !part->shows || participant_energy(&system->participants[part->participant], energy);
}

void yk_ledger_start(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++)
        participant_energy(&system->participants[i], &system->participants[i].start_energy);
}

/* Whether the ports of a subsystem can do work. */
static bool has_power(const yk_participant *m)
{
    for (int port = 0; port < m->port_count; port++)
        if (m->ports[port].kind != YK_PORT_SIGNAL)
            return true;
    return false;
}

yk_energy_balance yk_system_balance(const yk_system *system, int subsystem)
{
    yk_energy_balance balance = {.known = true};
    if (!system->parts[subsystem].shows)
        return balance;
    int participant = system->parts[subsystem].participant;
    const yk_participant *m = &system->participants[participant];
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem == participant)
            balance.interfaces += interface->statistics.work[0];
        if (interface->def.motion_subsystem == participant)
            balance.interfaces += interface->statistics.work[1];
    }
    yk_energy now;
    const yk_energy *start = &m->start_energy;
    balance.known = participant_energy(m, &now);
    if (!balance.known) {
        /* What a subsystem that does not tell its energy gives or takes comes from outside;
         * without ports it has none. */
        balance.known = !has_power(m);
        balance.external = -balance.interfaces;
        return balance;
    }

    balance.kinetic = now.kinetic;
    balance.potential = now.potential;
    balance.start = start->kinetic + start->potential;
    balance.dissipated = now.dissipated - start->dissipated;
    double work = now.work - start->work, ports = now.port_work - start->port_work;
    bool given = isfinite(ports) && (ports != 0 || balance.interfaces == 0);
    balance.external = work - (given ? ports : balance.interfaces);
    balance.numerical =
        now.kinetic + now.potential - balance.start + balance.dissipated - balance.external;
    balance.numerical -= balance.interfaces;
    return balance;
}

yk_runaway yk_ledger_runaway(const yk_system *system)
{
    yk_runaway r = {.known = true, .interface = -1};
    double moving = 0;
    for (int i = 0; i < system->participant_count; i++) {
        yk_energy_balance b = yk_system_balance(system, i);
        r.known = r.known && b.known;
        moving += b.kinetic;
        r.made += b.interfaces + b.numerical;
    }
    /* Numbers that are not finite any more have grown beyond all others. */
    r.found = !(r.made <= MOST * moving) || !isfinite(moving);

    double most = -INFINITY;
    for (int i = 0; i < system->interface_count; i++) {
        double created = fabs(system->interfaces[i].statistics.energy_created);
        if (!(created <= most)) {
            most = created;
            r.interface = i;
        }
    }
    return r;
}
