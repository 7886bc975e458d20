/* The scheme rim: fast participants run against reduced models of the slow ones (paper rim 2 and 4.2, figures 3 and 4).
 *
 * No step is repeated. In every macro step H
 *
 *   1  slow participants tell their reduced interface model at the start: inverse effective mass W and rate r
 *   2  fast participants make their small steps; at every exchange, E times in H, they take the motion of the models and the
 *      models the wrench f of the fast participants, (45):
 *
 *          w <- w + H/E (r + W f)
 *
 *   3  slow participants make one step with the mean of the wrenches. In order gauss-seidel it is that of this macro step, so
 *      that a slow participant receives the impulse that its model has received; in order jacobi that of the last one, and
 *      all may run at the same time.
 *
 * The model of a slow participant holds all its interfaces together, so that several actuators of one mechanism feel each
 * other. Ports are where the slow participant itself would be after a step up to there, x + tau ((1 - lead) w(0) + lead w(tau)):
 * with the integral of w, (45), the mechanism would come to another place than its model, and a stiff partner would
 * feel the difference as a blow at the start of the next macro step.
 *
 * In place of the model, velocities can be held or extrapolated from the macro steps before, with everything else the
 * same: the schemes that the paper compares with.
 *
 * Slow participants that are joined to each other are balanced where they can be (balance.h); the wrenches between them then
 * stay over the macro step, also in the models.
 *
 * Interfaces of another kind: between fast participants both sides exchange at every exchange, between slow ones once per
 * macro step as in the explicit scheme; where the fast side takes the wrench it is held over the macro step. */
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

/* Where the wrench side of an interface is `tau` after the start of the macro step, by its model. */
static void modelled_motion(const yk_system *system, const yk_interface *interface, double tau, yk_motion *motion)
{
    const yk_rim_participant *a = &system->rim->participants[interface->def.wrench_subsystem];
    const yk_motion *begin = &yk_interface_a(system, interface)->before[interface->def.wrench_port];
    int offset = a->offsets[interface->def.wrench_port], size = interface->kind == YK_PORT_SCALAR ? 1 : 6;
    double displacement[6] = {0};
    const double *now = a->now + offset;
    for (int k = 0; k < size; k++) {
        double mean = a->start[offset + k] + a->model.lead * (now[k] - a->start[offset + k]) + a->drift[offset + k];
        bool integral = system->scheme.rim.positions == YK_RIM_POSITIONS_INTEGRAL;
        displacement[k] = integral ? a->displacement[offset + k] : tau * mean;
    }
    *motion = *begin;
    if (interface->kind == YK_PORT_SCALAR) {
        motion->position.x += displacement[0];
        motion->velocity.x = now[0];
        return;
    }
    motion->position = yk_v3_add(begin->position, get3(displacement));
    motion->velocity = get3(now);
    motion->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(get3(displacement + 3)), begin->orientation));
    motion->angular_velocity = get3(now + 3);
}

/* Velocity at local time tau of the polynomial through the last macro points, and its integral. */
static yk_vec3 extrapolate(int degree, double h, double tau, yk_vec3 now, const yk_vec3 *past, yk_vec3 *displacement)
{
    yk_vec3 first = yk_v3(0, 0, 0), second = first; /* backward differences over h, h^2 */
    if (degree >= 1) first = yk_v3_scale(1 / h, yk_v3_sub(now, past[0]));
    if (degree >= 2) {
        yk_vec3 before = yk_v3_scale(1 / h, yk_v3_sub(past[0], past[1]));
        second = yk_v3_scale(1 / (2 * h), yk_v3_sub(first, before));
    }
    /* now + first tau + second tau (tau + h) */
    yk_vec3 slope = yk_v3_axpy(h, second, first);
    *displacement = yk_v3_scale(tau, yk_v3_add(now, yk_v3_axpy(tau / 2, slope, yk_v3_scale(tau * tau / 3, second))));
    return yk_v3_add(now, yk_v3_axpy(tau, slope, yk_v3_scale(tau * tau, second)));
}

static void extrapolated_motion(const yk_system *system, const yk_interface *interface, double tau, yk_motion *motion)
{
    const yk_rim_interface *own = &system->rim->interfaces[interface - system->interfaces];
    const yk_motion *begin = &yk_interface_a(system, interface)->before[interface->def.wrench_port];
    int degree = (int)system->scheme.rim.extrapolation - (int)YK_EXTRAPOLATION_HOLD;
    if (degree > system->rim->past_count) degree = (int)system->rim->past_count;
    yk_vec3 displacement;
    *motion = *begin;
    motion->velocity = extrapolate(degree, system->step, tau, begin->velocity, own->past, &displacement);
    motion->position = yk_v3_add(begin->position, displacement);
    if (interface->kind == YK_PORT_SCALAR) return;
    motion->angular_velocity =
        extrapolate(degree, system->step, tau, begin->angular_velocity, own->past_angular, &displacement);
    motion->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(displacement), begin->orientation));
}

/* What the wrench side of an interface is said to do, seen from its partner. */
static void given_motion(const yk_system *system, const yk_interface *interface, double tau, yk_motion *motion)
{
    if (system->scheme.rim.extrapolation == YK_EXTRAPOLATION_RIM)
        modelled_motion(system, interface, tau, motion);
    else
        extrapolated_motion(system, interface, tau, motion);
}

/* Exchanges -------------------------------------------------------------------------------------------------------- */

static void set_line(yk_port_kind kind, const yk_motion *motion, yk_input *input)
{
    input->degree = 1;
    input->linear[0] = motion->position;
    input->linear[1] = motion->velocity;
    if (kind == YK_PORT_SCALAR) return;
    input->orientation = motion->orientation;
    input->angular[0] = yk_v3(0, 0, 0);
    input->angular[1] = motion->angular_velocity;
}

/* The inputs of a fast participant from `tau` to the next exchange. */
static void set_fast_inputs(yk_system *system, int participant, double tau)
{
    yk_participant *m = &system->participants[participant];
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        yk_rim_interface *own = &system->rim->interfaces[i];
        if (interface->def.motion_subsystem == participant) {
            yk_motion given = yk_interface_a(system, interface)->values[interface->def.wrench_port].motion;
            if (own->role == YK_RIM_MODELLED) given_motion(system, interface, tau, &given);
            interface->origin = given.position;
            set_line(interface->kind, &given, &m->inputs[interface->def.motion_port]);
        } else if (interface->def.wrench_subsystem == participant) {
            const yk_port_value *b = &yk_interface_b(system, interface)->values[interface->def.motion_port];
            interface->applied =
                yk_wrench_opposite(interface->kind, b, m->values[interface->def.wrench_port].motion.position);
            yk_input_constant(interface->kind, &interface->applied, &m->inputs[interface->def.wrench_port]);
            own->applied =
                yk_wrench_combine(interface->kind, &own->applied, 1.0 / system->rim->exchanges, &interface->applied);
        }
    }
}

/* What sources give now: fast ones at this exchange, slow ones at the start of the macro step. */
static void carry_fast_signals(yk_system *system, int participant)
{
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        if (wire->def.target_subsystem != participant) continue;
        yk_input *input = &system->participants[participant].inputs[wire->def.target_port];
        input->degree = 0;
        input->linear[0].x = wire->def.hold ? wire->before : wire->now;
    }
}

/* The work of the interfaces on a fast participant over the exchange that it has made. */
static void add_work(yk_system *system, int participant)
{
    const yk_participant *m = &system->participants[participant];
    yk_rim_participant *own = &system->rim->participants[participant];
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        double *work = system->rim->interfaces[i].work;
        if (interface->def.wrench_subsystem == participant) {
            int port = interface->def.wrench_port;
            work[0] += yk_wrench_work(interface->kind, &interface->applied, &own->from[port], &m->values[port].motion);
        }
        if (interface->def.motion_subsystem == participant) {
            int port = interface->def.motion_port;
            const yk_port_value *value = &m->values[port];
            bool parts = own->parts > 1;
            work[1] += parts ? m->port_work[port]
                             : yk_wrench_work(interface->kind, &value->wrench, &own->from[port], &value->motion);
        }
    }
    for (int port = 0; port < m->port_count; port++) own->from[port] = m->values[port].motion;
}

/* Over one exchange, as a macro step of its own. */
static yk_status advance_fast(yk_system *system, int participant, double tau, double h)
{
    yk_participant *m = &system->participants[participant];
    yk_rim_participant *own = &system->rim->participants[participant];
    double t = system->t, whole = system->h, fraction = 1.0 / system->rim->exchanges;
    bool mean = system->scheme.rim.wrenches == YK_RIM_WRENCHES_MEAN;
    int substeps = m->substeps;
    system->t = t + tau, system->h = h, m->substeps = own->parts;
    yk_status status = yk_system_advance(system, participant);
    if (status < 0) status = yk_system_report_failure(system, participant);
    system->t = t, system->h = whole, m->substeps = substeps;
    add_work(system, participant);
    for (int port = 0; port < m->port_count; port++) {
        const yk_wrench *wrench = &m->values[port].wrench;
        own->given[port] = mean ? yk_wrench_combine(m->ports[port].kind, &own->given[port], fraction, wrench) : *wrench;
    }
    return status;
}

/* The wrench of the fast side on the model behind an interface. */
static void take_wrench(yk_system *system, yk_interface *interface)
{
    yk_rim_participant *a = &system->rim->participants[interface->def.wrench_subsystem];
    const yk_port_value *b = &yk_interface_b(system, interface)->values[interface->def.motion_port];
    if (a->size == 0) return;
    yk_wrench wrench = yk_wrench_opposite(interface->kind, b, interface->origin);
    yk_wrench_pack(interface->kind, &wrench, a->wrenches + a->offsets[interface->def.wrench_port]);
}

/* (45). */
static void advance_models(yk_system *system, double h)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_rim_participant *own = &system->rim->participants[i];
        const yk_interface_model *model = &own->model;
        for (int k = 0; k < own->size; k++) {
            double rate = model->rate[k];
            for (int j = 0; j < own->size; j++) rate += model->inverse_mass[k * own->size + j] * own->wrenches[j];
            own->now[k] += h * rate;
            own->displacement[k] += h * own->now[k];
        }
    }
}

static yk_status run_exchange(yk_system *system, double tau, double h)
{
    for (int i = 0; i < system->participant_count; i++)
        if (system->rim->participants[i].fast) set_fast_inputs(system, i, tau), carry_fast_signals(system, i);
    for (int i = 0; i < system->participant_count; i++) {
        if (!system->rim->participants[i].fast) continue;
        yk_status status = advance_fast(system, i, tau, h);
        if (status < 0) return status;
    }
    for (int i = 0; i < system->interface_count; i++)
        if (system->rim->interfaces[i].role == YK_RIM_MODELLED) take_wrench(system, &system->interfaces[i]);
    advance_models(system, h);
    return YK_OK;
}

/* Macro step ------------------------------------------------------------------------------------------------------- */

static void set_slow_motions(yk_system *system, int participant, int index)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->def.motion_subsystem != participant || interface->balanced) continue;
        const yk_participant *a = yk_interface_a(system, interface);
        if (system->rim->interfaces[i].role == YK_RIM_SLOW) {
            yk_explicit_motion_input(system, interface, index >= 0 && interface->a_index < index);
            continue;
        }
        /* The fast side has gone this way, or will go on from here. */
        const yk_motion *end = &a->values[interface->def.wrench_port].motion;
        interface->origin = end->position;
        yk_input_interpolated(interface->kind, system->h, &a->before[interface->def.wrench_port], end,
                              &system->participants[participant].inputs[interface->def.motion_port]);
    }
}

/* One port of a model at the start of the macro step: its velocities, and what acts on it until a partner tells. */
static void begin_port(yk_rim_participant *own, yk_port_kind kind, int port, const yk_motion *motion,
                       const yk_wrench *wrench)
{
    int offset = own->offsets[port];
    double *now = own->now + offset, *start = own->start + offset;
    yk_wrench_pack(kind, wrench, own->wrenches + offset);
    if (kind == YK_PORT_SCALAR) {
        now[0] = start[0] = motion->velocity.x;
        return;
    }
    put3(now, motion->velocity), put3(start, motion->velocity);
    put3(now + 3, motion->angular_velocity), put3(start + 3, motion->angular_velocity);
}

static yk_status begin_models(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_rim_participant *own = &system->rim->participants[i];
        if (own->size > 0) memset(own->displacement, 0, (size_t)own->size * sizeof *own->displacement);
    }
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        for (int side = 0; side < (interface->balanced ? 2 : 1); side++) {
            int participant = side == 0 ? interface->def.wrench_subsystem : interface->def.motion_subsystem;
            int port = side == 0 ? interface->def.wrench_port : interface->def.motion_port;
            const yk_participant *m = &system->participants[participant];
            yk_rim_participant *own = &system->rim->participants[participant];
            if (own->size == 0) continue;
            const yk_motion *motion = &m->before[port];
            const yk_port_value *b = &yk_interface_b(system, interface)->values[interface->def.motion_port];
            yk_wrench wrench = {m->inputs[port].linear[0], m->inputs[port].angular[0]};
            if (!interface->balanced) wrench = yk_wrench_opposite(interface->kind, b, motion->position);
            begin_port(own, interface->kind, port, motion, &wrench);
        }
    }
    for (int i = 0; i < system->participant_count; i++) {
        if (system->rim->participants[i].size == 0) continue;
        set_slow_motions(system, i, -1);
        yk_system_carry_signals(system, i);
        if (yk_rim_find_model(system, i) < 0) return yk_system_report_failure(system, i);
    }
    return YK_OK;
}

static yk_status run_fast(yk_system *system)
{
    struct yk_rim *rim = system->rim;
    double h = system->h / rim->exchanges;
    for (int i = 0; i < system->interface_count; i++) {
        rim->interfaces[i].work[0] = rim->interfaces[i].work[1] = 0;
        rim->interfaces[i].applied = (yk_wrench){.force = {0, 0, 0}};
    }
    for (int i = 0; i < system->participant_count; i++)
        for (int port = 0; rim->participants[i].fast && port < system->participants[i].port_count; port++) {
            rim->participants[i].given[port] = (yk_wrench){.force = {0, 0, 0}};
            rim->participants[i].from[port] = system->participants[i].before[port];
        }
    for (int k = 0; k < rim->exchanges; k++) {
        yk_status status = run_exchange(system, k * h, h);
        if (status < 0) return status;
    }
    return YK_OK;
}

/* From here on wrenches of and on fast participants are the means over the macro step. */
static void show_means(yk_system *system)
{
    for (int i = 0; i < system->interface_count; i++)
        if (system->rim->participants[system->interfaces[i].def.wrench_subsystem].fast)
            system->interfaces[i].applied = system->rim->interfaces[i].applied;
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        const yk_rim_participant *own = &system->rim->participants[i];
        for (int port = 0; own->fast && port < m->port_count; port++) {
            m->values[port].wrench = own->given[port];
            if (m->mean_wrenches) m->mean_wrenches[port] = own->given[port];
        }
    }
}

static void set_slow_wrenches(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    if (!m->wrench_size) return;
    yk_system_pack_wrenches(system, participant);
    double *fresh = m->fresh;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant || interface->balanced) continue;
        yk_wrench mean = {.force = {0, 0, 0}};
        yk_wrench_unpack(interface->kind, fresh, &mean);
        yk_wrench given = yk_rim_method_wrench(system, i, &mean);
        fresh = yk_wrench_pack(interface->kind, &given, fresh);

        yk_rim_interface *own = &system->rim->interfaces[i];
        own->given[1] = own->given[0];
        own->given[0] = given;
        own->mean = mean;
    }
    yk_system_apply_wrenches(system, participant, m->fresh);
}

static yk_status run_slow(yk_system *system, bool with_wrenches)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->sequence[index];
        if (system->rim->participants[participant].fast) continue;
        set_slow_motions(system, participant, with_wrenches ? index : -1);
        if (with_wrenches) set_slow_wrenches(system, participant);
        yk_system_carry_signals(system, participant);
        if (yk_system_advance(system, participant) < 0) return yk_system_report_failure(system, participant);
    }
    return YK_OK;
}

static void remember(yk_system *system)
{
    struct yk_rim *rim = system->rim;
    for (int i = 0; i < system->interface_count; i++) {
        yk_rim_interface *own = &rim->interfaces[i];
        const yk_motion *motion =
            &yk_interface_a(system, &system->interfaces[i])->before[system->interfaces[i].def.wrench_port];
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
    /* In order jacobi slow participants take the wrenches of the macro step before, at the places where they were then. */
    if (jacobi) {
        for (int i = 0; i < system->interface_count; i++)
            system->interfaces[i].origin =
                yk_interface_a(system, &system->interfaces[i])->before[system->interfaces[i].def.wrench_port].position;
        for (int i = 0; i < system->participant_count; i++)
            if (!system->rim->participants[i].fast) set_slow_wrenches(system, i);
    }
    status = run_fast(system);
    if (status < 0) return status;
    show_means(system);
    status = run_slow(system, !jacobi);
    if (status == YK_OK) remember(system);
    return status;
}
