/* Statistics after a step: gaps of the interfaces, work on both of their sides, and the energy
 * balance of the subsystems.
 *
 * Over a step, the interface does work on each side: the work of the wrench that this side received
 * along the path that this side moved. Both may differ from those of the partner. A rigid joint
 * does no work in total, so the sum of both is energy that the coupling created (or destroyed, if
 * it is negative). A prescribed relative motion does work of its own, which is not counted as
 * created. For sides that make several steps in a macro step the work is summed over their steps.
 *
 * The balance of a subsystem since the start,
 *
 *   kinetic + potential + dissipated = external + interfaces + numerical,
 *
 * defines the last term: the energy that the integration adds compared with the exact solution for
 * the same exchanged quantities. */
#include "coupling/energy_balance.h"

#include <math.h>
#include <string.h>

#include "base/unit.h"
#include "coupling/arguments.h"
#include "coupling/constraint.h"
#include "coupling/merging.h"

/* Fraction of the energy of the motion that counts as most of it. */
static const double MOST = 0.5;

static void raise_to(double *largest, double value)
{
    /* A maximum that keeps values that are not a number. */
    if (!(value <= *largest))
        *largest = value;
}

/* Gaps ----------------------------------------------------------------------------------------- */

/* The largest rows of a nonholonomic joint. The slip counts as a gap of the positions. */
static yk_interface_gap gap_of_rows(const yk_constraint *constraint,
                                    const yk_constraint_kinematics *kinematics)
{
    double g[YK_LEVELS][YK_JOINT_ROWS_MAX];
    yk_constraint_value(constraint, kinematics, g);
    yk_interface_gap gap = {.position = 0};
    for (int row = 0; row < constraint->row_count; row++) {
        gap.position = fmax(gap.position, fabs(g[0][row]));
        gap.velocity = fmax(gap.velocity, fabs(g[1][row]));
    }

    return gap;
}

yk_interface_gap yk_gap_between(yk_port_kind kind, const yk_interface_def *def, const yk_motion *a,
                                const yk_motion *b, double t)
{
    bool nonholonomic = def->constrained_axes & (YK_AXIS_KNIFE_EDGE | YK_AXIS_ROLLING);
    if (!def->drive && !nonholonomic)
        return yk_compute_interface_gap(kind, def->constrained_axes, a, b);

    /* With a drive: relative to the driven frame, or to the prescribed length. */
    yk_constraint constraint = yk_constraint_of(kind, def);
    yk_constraint_kinematics kinematics;
    yk_constraint_kinematics_at(&constraint, t, a, b, &kinematics);
    if (nonholonomic)
        return gap_of_rows(&constraint, &kinematics);
    if (constraint.length <= 0)
        return yk_compute_interface_gap(kind, def->constrained_axes, &kinematics.a, &kinematics.b);

    /* In metres. The row of the constraint is scaled by the distance at the start. */
    yk_vec3 displacement = yk_v3_sub(a->position, b->position);
    yk_vec3 direction = yk_v3_unit(displacement);
    double rate = yk_v3_dot(direction, yk_v3_sub(a->velocity, b->velocity));

    return (yk_interface_gap){
        .position = fabs(yk_v3_norm(displacement) - kinematics.length[0]),
        .velocity = fabs(rate - kinematics.length[1]),
    };
}

/* The gap with the present motions of both sides. */
static yk_interface_gap present_gap(const yk_system *system, const yk_interface *interface,
                                    double t)
{
    const yk_motion *a = &yk_value_a(system, interface)->motion;
    const yk_motion *b = &yk_value_b(system, interface)->motion;
    return yk_gap_between(interface->kind, &interface->def, a, b, t);
}

void yk_ledger_add_gap(yk_system *system, yk_interface *interface, double t)
{
    yk_interface_gap gap = present_gap(system, interface, t);
    yk_interface_gap *largest = &interface->statistics.max_gap;
    raise_to(&largest->position, gap.position);
    for (int row = 0; row < YK_SLIP_ROWS; row++)
        raise_to(&largest->position, fabs(interface->slip[row]));
    raise_to(&largest->rotation, gap.rotation);
    raise_to(&largest->velocity, gap.velocity);
    raise_to(&largest->angular_velocity, gap.angular_velocity);
}

/* Work ----------------------------------------------------------------------------------------- */

double yk_driven_created(const yk_system *system, const yk_interface *interface,
                         const yk_wrench *on_a, const double on[2])
{
    const yk_interface_def *def = &interface->def;
    const yk_motion *a_end = &yk_value_a(system, interface)->motion;
    const yk_motion *b_end = &yk_value_b(system, interface)->motion;
    double t = system->t;

    /* The driven frame at both ends of the step. */
    yk_constraint constraint = yk_constraint_of(interface->kind, def);
    yk_constraint_kinematics start;
    yk_constraint_kinematics end;
    yk_constraint_kinematics_at(&constraint, t, yk_before_a(system, interface),
                                yk_before_b(system, interface), &start);
    yk_constraint_kinematics_at(&constraint, t + system->h, a_end, b_end, &end);

    if (constraint.length <= 0)
        return on[0] - yk_wrench_work(interface->kind, on_a, &start.b, &end.b);

    /* A distance pulls along its line, and does work if its length is driven. */
    yk_vec3 first = yk_v3_sub(start.a.position, start.b.position);
    yk_vec3 line = yk_v3_add(first, yk_v3_sub(end.a.position, end.b.position));
    double length = yk_v3_norm(line);
    if (length <= 0)
        return on[0] + on[1];

    double along = yk_v3_dot(on_a->force, line) / length;

    return on[0] + on[1] - along * (end.length[0] - start.length[0]);
}

/* Work of the mean wrench on a side, or of the wrenches of its substeps. */
static void exchanged_work(const yk_system *system, const yk_interface *interface,
                           yk_interface_work *work)
{
    const yk_participant *a = yk_interface_a(system, interface);
    const yk_participant *b = yk_interface_b(system, interface);
    const yk_motion *a_start = yk_before_a(system, interface);
    const yk_motion *a_end = &yk_value_a(system, interface)->motion;
    const yk_port_value *b_end = yk_value_b(system, interface);
    const yk_input *input = yk_input_a(system, interface);
    yk_port_kind kind = interface->kind;
    double h = system->h;

    /* Side A. Both sides receive a wrench that varies over the step at different times. If both
     * integrate over the step, the exchanged wrench in the middle of the step counts, not the one
     * at its end. */
    yk_wrench received = interface->applied;
    yk_wrench late = {{0, 0, 0}, {0, 0, 0}};
    bool changes = input->degree == 1;
    bool single = a->substeps == 1 && b->substeps == 1;
    if (changes && single && yk_subsystem_can_follow_polynomials(a->subsystem) &&
        yk_subsystem_can_follow_polynomials(b->subsystem)) {
        late.force = yk_v3_scale(0.5 * h, input->linear[1]);
        late.torque = yk_v3_scale(0.5 * h, input->angular[1]);
        received = yk_wrench_combine(kind, &received, -1, &late);
    }

    work->work[0] = yk_wrench_work(kind, &received, a_start, a_end);

    /* With substeps, A reads the wrench at the ends of its substeps, and B answers at the ends of
     * its own. Compare both at the same distance from the middle of a substep. */
    if (changes && a->substeps > 1) {
        double delay = 0.5 * h * (1.0 / b->substeps - 1.0 / a->substeps);
        yk_wrench rate = {input->linear[1], input->angular[1]};
        double late_work = delay * yk_wrench_work(kind, &rate, a_start, a_end);
        work->work[0] = a->port_work[interface->def.wrench_port.index] + late_work;
    }

    /* Side B. */
    if (b->substeps > 1) {
        work->work[1] = b->port_work[interface->def.motion_port.index];
    } else {
        yk_wrench given = yk_wrench_combine(kind, &b_end->wrench, 1, &late);
        const yk_motion *b_start = yk_before_b(system, interface);
        work->work[1] = yk_wrench_work(kind, &given, b_start, &b_end->motion);
    }

    /* Sum of both, minus the work of a prescribed relative motion. */
    work->energy_created = work->work[0] + work->work[1];
    if (interface->def.drive)
        work->energy_created = yk_driven_created(system, interface, &received, work->work);
}

void yk_ledger_add_step(yk_system *system)
{
    const yk_scheme_ops *ops = system->scheme->ops;
    double h = system->h;

    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        yk_interface_statistics *s = &interface->statistics;
        yk_ledger_add_gap(system, interface, system->t + h);

        /* A scheme whose wrenches vary within the step computes their work itself. */
        yk_interface_work work;
        if (ops->interface_work)
            ops->interface_work(system->scheme, system, i, &work);
        else
            exchanged_work(system, interface, &work);
        s->work[0] += work.work[0];
        s->work[1] += work.work[1];
        s->energy_created += work.energy_created;

        /* Impulse through the interface, and the impulse that the iterations left. */
        const yk_wrench *wrench = &yk_value_b(system, interface)->wrench;
        s->impulse += h * yk_wrench_size(interface->kind, wrench);
        s->residual_impulse += h * interface->residual;
        raise_to(&s->max_residual, interface->residual);
    }
}

void yk_ledger_begin_substeps(yk_participant *p)
{
    /* Read the outputs again: after a rollback `values` still has those of the rejected step. */
    for (int port = 0; port < p->port_count; port++) {
        p->port_work[port] = 0;
        yk_port_kind kind = p->ports[port].kind;
        if (kind == YK_PORT_SIGNAL)
            continue;

        yk_port_value value;
        p->subsystem->ops->get_port_value(p->subsystem, port, &value);
        if (p->transform)
            yk_transform_value(p->transform, kind, &value);
        p->substep_start[port] = value.motion;
    }
}

void yk_ledger_add_substep(yk_participant *p, double h)
{
    /* Work of the wrench of the substep along the path of the port. */
    for (int port = 0; port < p->port_count; port++) {
        yk_port_kind kind = p->ports[port].kind;
        if (kind == YK_PORT_SIGNAL)
            continue;

        const yk_port_value *value = &p->values[port];
        yk_motion *start = &p->substep_start[port];
        p->port_work[port] +=
            yk_wrench_impulse_work(kind, h, &value->wrench, start, &value->motion);
        *start = value->motion;
    }
}

/* Balance -------------------------------------------------------------------------------------- */

static bool participant_energy(const yk_participant *p, yk_energy *energy)
{
    *energy = (yk_energy){0};
    if (!p->subsystem->ops->energy)
        return false;

    /* A subsystem that does not count the work of its ports leaves this unchanged. */
    energy->port_work = NAN;
    p->subsystem->ops->energy->read(p->subsystem, energy);
    if (p->transform)
        yk_transform_energy(p->transform, energy);
    return true;
}

/* Work of all interfaces on a participant since the start (J). */
static double interface_work(const yk_system *system, int participant)
{
    const yk_participant *p = &system->participants[participant];
    double sum = 0;
    for (int i = 0; i < p->joined_count; i++) {
        const yk_interface *interface = &system->interfaces[p->joined[i]];
        if (interface->def.wrench_subsystem.index == participant)
            sum += interface->statistics.work[0];
        if (interface->def.motion_subsystem.index == participant)
            sum += interface->statistics.work[1];
    }

    return sum;
}

bool yk_system_energy(const yk_system *system, yk_subsystem_id subsystem, yk_energy *energy)
{
    if (!yk_system_has_memory(system, __func__, "energy", energy))
        return false;

    *energy = (yk_energy){0};
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_subsystem(system, __func__, subsystem.index))
        return false;

    const yk_system_part *part = &system->parts[subsystem.index];
    if (!part->shows)
        return true;
    if (!participant_energy(&system->participants[part->participant], energy))
        return false;

    if (isnan(energy->work))
        energy->work = interface_work(system, part->participant);
    return true;
}

void yk_ledger_start(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        participant_energy(p, &p->start_energy);
    }
}

yk_energy_balance yk_system_energy_balance(const yk_system *system, yk_subsystem_id subsystem)
{
    yk_energy_balance balance = {0};
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_subsystem(system, __func__, subsystem.index))
        return balance;

    balance.known = true;
    if (!system->parts[subsystem.index].shows)
        return balance;

    int participant = system->parts[subsystem.index].participant;
    const yk_participant *p = &system->participants[participant];

    balance.interface_work = interface_work(system, participant);

    /* The energy exchanged with a subsystem that does not report its energy counts as external
     * work. The ports of a subsystem may be unable to do work; then it exchanges none. */
    yk_energy now;
    if (!participant_energy(p, &now)) {
        for (int port = 0; port < p->port_count; port++)
            if (p->ports[port].kind != YK_PORT_SIGNAL)
                balance.known = false;

        balance.external_work = -balance.interface_work;
        return balance;
    }

    const yk_energy *start = &p->start_energy;
    balance.kinetic = now.kinetic;
    balance.potential = now.potential;
    balance.initial = start->kinetic + start->potential;
    balance.dissipated = now.dissipated - start->dissipated;

    /* The part of the work that came through the ports: the subsystem's own count, otherwise that
     * of the interfaces. */
    double work = now.work - start->work;
    double ports = now.port_work - start->port_work;
    bool given = isfinite(ports) && (ports != 0 || balance.interface_work == 0);
    if (!given)
        ports = balance.interface_work;
    balance.external_work = isnan(work) ? 0 : work - ports;

    /* The remainder is the numerical energy of the integration. */
    balance.numerical =
        now.kinetic + now.potential - balance.initial + balance.dissipated - balance.external_work;
    balance.numerical -= balance.interface_work;

    return balance;
}

bool yk_ledger_runaway(const yk_system *system, bool *known, double *made, int *interface)
{
    *known = true;
    *made = 0;
    *interface = -1;
    double moving = 0;

    for (int i = 0; i < system->participant_count; i++) {
        yk_energy_balance b = yk_system_energy_balance(system, (yk_subsystem_id){i});
        *known = *known && b.known;
        moving += b.kinetic;
        *made += b.interface_work + b.numerical;
    }

    /* The subsystem or interface that created most of it. */
    double most = -INFINITY;
    for (int i = 0; i < system->interface_count; i++) {
        double created = fabs(system->interfaces[i].statistics.energy_created);
        if (!(created <= most)) {
            most = created;
            *interface = i;
        }
    }

    /* Values that are not finite count as larger than all others. */
    return !(*made <= MOST * moving) || !isfinite(moving);
}

/* What users ask for --------------------------------------------------------------------------- */

static const yk_participant *participant_of(const yk_system *system, int subsystem)
{
    return &system->participants[system->parts[subsystem].participant];
}

void yk_subsystem_destroy(yk_subsystem *subsystem)
{
    if (subsystem)
        subsystem->ops->destroy(subsystem);
}

yk_port_id yk_subsystem_find_port(const yk_subsystem *subsystem, const char *name)
{
    if (!subsystem || !name)
        return YK_NULL_PORT;

    const yk_port *ports;
    int count = subsystem->ops->ports(subsystem, &ports);
    for (int i = 0; i < count; i++)
        if (strcmp(ports[i].name, name) == 0)
            return (yk_port_id){i};

    return YK_NULL_PORT;
}

yk_port_id yk_system_find_port(const yk_system *system, yk_subsystem_id subsystem, const char *name)
{
    if (!yk_system_has_subsystem(system, __func__, subsystem.index) ||
        !yk_system_has_memory(system, __func__, "name", name))
        return YK_NULL_PORT;

    const yk_system_part *part = &system->parts[subsystem.index];
    const yk_subsystem *shown = participant_of(system, subsystem.index)->subsystem;
    const yk_port *ports;
    int end = shown->ops->ports(shown, &ports);

    /* Ports of a merged participant are those of its parts in order. */
    for (int i = 0; i < system->subsystem_count; i++) {
        const yk_system_part *other = &system->parts[i];
        bool behind = other->participant == part->participant && other->port > part->port;
        if (behind && other->port < end)
            end = other->port;
    }

    for (int i = part->port; i < end; i++)
        if (strcmp(ports[i].name, name) == 0)
            return (yk_port_id){i - part->port};

    return YK_NULL_PORT;
}

const yk_port_value *yk_system_port_value(const yk_system *system, yk_subsystem_id subsystem,
                                          yk_port_id port)
{
#define NAN_VECTOR    \
    {                 \
        NAN, NAN, NAN \
    }
    static const yk_port_value unknown = {
        .motion =
            {NAN_VECTOR, NAN_VECTOR, NAN_VECTOR, {NAN, NAN, NAN, NAN}, NAN_VECTOR, NAN_VECTOR},
        .wrench = {NAN_VECTOR, NAN_VECTOR},
    };
#undef NAN_VECTOR
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_port(system, __func__, subsystem.index, port.index))
        return &unknown;

    const yk_participant *p = participant_of(system, subsystem.index);
    return &p->values[system->parts[subsystem.index].port + port.index];
}

yk_status yk_system_read_channel(const yk_system *system, yk_subsystem_id subsystem, int channel,
                                 double *values)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_channel(system, __func__, subsystem.index, channel) ||
        !yk_system_has_memory(system, __func__, "values", values))
        return YK_ERROR_ARGUMENT;

    const yk_system_part *part = &system->parts[subsystem.index];
    const yk_subsystem *shown = system->participants[part->participant].subsystem;
    shown->ops->channels->read(shown, part->channel + channel, values);
    if (part->length == 1 && part->mass == 1)
        return YK_OK;

    const yk_channel *list;
    shown->ops->channels->list(shown, &list);
    double factor = yk_unit_factor(list[part->channel + channel].unit, part->length, part->mass);
    for (int i = 0; i < list[part->channel + channel].component_count; i++)
        values[i] *= factor;
    return YK_OK;
}

const yk_subsystem *yk_system_visible_subsystem(const yk_system *system, yk_subsystem_id subsystem,
                                                int *part, yk_transform *transform)
{
    if (!yk_system_has_subsystem(system, __func__, subsystem.index) ||
        !yk_system_has_memory(system, __func__, "part", part) ||
        !yk_system_has_memory(system, __func__, "transform", transform))
        return NULL;

    const yk_participant *shown = participant_of(system, subsystem.index);
    *part = 0;
    if (system->merging) {
        const yk_group *group =
            &system->merging->groups[system->parts[subsystem.index].participant];
        while (*part + 1 < group->part_count && group->parts[*part] != subsystem.index)
            ++*part;
    }

    *transform = yk_transform_identity();
    if (shown->transform)
        *transform = *shown->transform;
    return shown->subsystem;
}

bool yk_system_is_motion_prescribed(const yk_system *system, yk_interface_id number)
{
    if (!yk_system_has_interface(system, __func__, number.index) || system->merging)
        return false;
    return !yk_both_take_wrench(&system->interfaces[number.index]);
}

yk_interface_gap yk_system_interface_start_gap(const yk_system *system, yk_interface_id number)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_interface(system, __func__, number.index) || system->merging)
        return (yk_interface_gap){NAN, NAN, NAN, NAN};
    return system->interfaces[number.index].start_gap;
}

yk_interface_gap yk_system_interface_gap(const yk_system *system, yk_interface_id number)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_interface(system, __func__, number.index))
        return (yk_interface_gap){NAN, NAN, NAN, NAN};

    double t = yk_system_time(system);
    if (!system->merging)
        return present_gap(system, &system->interfaces[number.index], t);

    /* Joints inside a merged participant are satisfied, or drift as its stabilization allows. */
    const yk_interface_def *def = &system->merging->interfaces[number.index];
    const yk_system_part *a = &system->parts[def->wrench_subsystem.index];
    const yk_system_part *b = &system->parts[def->motion_subsystem.index];
    const yk_participant *p = &system->participants[a->participant];
    int a_port = a->port + def->wrench_port.index;
    int b_port = b->port + def->motion_port.index;
    return yk_gap_between(p->ports[a_port].kind, def, &p->values[a_port].motion,
                          &p->values[b_port].motion, t);
}

yk_system_statistics yk_system_get_statistics(const yk_system *system)
{
    return system ? system->statistics : (yk_system_statistics){0};
}

int yk_system_scheme_statistics(const yk_system *system,
                                yk_scheme_statistic rows[YK_SCHEME_STATISTICS_MAX])
{
    if (!yk_system_has_memory(system, __func__, "rows", rows))
        return 0;

    const yk_scheme_ops *ops = system->scheme->ops;
    return ops->statistics ? ops->statistics(system->scheme, system, rows) : 0;
}

yk_subsystem_statistics yk_system_subsystem_statistics(const yk_system *system,
                                                       yk_subsystem_id subsystem)
{
    if (!yk_system_has_subsystem(system, __func__, subsystem.index) ||
        !system->parts[subsystem.index].shows)
        return (yk_subsystem_statistics){0};

    /* Short calls are timed on a sample, which is extrapolated to all calls. */
    const yk_participant *p = participant_of(system, subsystem.index);
    yk_subsystem_statistics s = p->statistics;
    if (p->timed_calls > 0)
        s.wall_time *= (double)s.calls / (double)p->timed_calls;
    return s;
}

yk_interface_statistics yk_system_interface_statistics(const yk_system *system,
                                                       yk_interface_id number)
{
    if (!yk_system_has_interface(system, __func__, number.index) || system->merging)
        return (yk_interface_statistics){0};
    return system->interfaces[number.index].statistics;
}
