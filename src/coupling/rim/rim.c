/* The scheme rim: fast participants run against reduced models of the slow ones (Peiret et al.
 * 2020, sections 2 and 4.2, figures 3 and 4).
 *
 * No step is repeated. In every macro step H
 *
 *   1  slow participants report their reduced interface model at the start: inverse effective mass
 *      W and rate r
 *   2  fast participants make their small steps. At every exchange, E times in H, they receive the
 *      motion of the models, and the models receive the wrench f of the fast participants (45):
 *
 *          w <- w + H/E (r + W f)
 *
 *   3  slow participants make one step with the mean of the wrenches. With sequence gauss-seidel it
 *      is the mean of this macro step, so that a slow participant receives the impulse that its
 *      model has received; with sequence jacobi it is the mean of the last macro step, and all
 *      participants may run at the same time.
 *
 * The model of a slow participant contains all its interfaces, so that several actuators of one
 * mechanism influence each other. The positions of the ports are those that a step of the slow
 * participant itself up to this time would reach, x + tau ((1 - lead) w(0) + lead w(tau)). With the
 * integral of w (45), the mechanism would end at another position than its model, and a stiff
 * partner would react to the difference with an impact at the start of the next macro step.
 *
 * Instead of the model, velocities can be held or extrapolated from earlier macro steps, with
 * everything else unchanged: these are the schemes to which the paper compares.
 *
 * Interfaces between slow participants have a wrench on both sides if possible
 * (force_force/balance.h); these wrenches are constant over the macro step, also in the models.
 *
 * Interfaces between a fast and a slow participant may have a wrench on both sides too: it is found at every exchange, from the
 * reduced model of the slow participant and the step model of the fast one (shared.c). So the mechanism need not be the side
 * whose motion the partner follows.
 *
 * Other interfaces: between fast participants both sides exchange at every exchange, between slow
 * ones once per macro step as in the explicit scheme. If the fast side receives the wrench and the
 * slow side can receive a motion only, the wrench is constant over the macro step. */
#include "coupling/rim/rim.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "coupling/extrapolation.h"
#include "coupling/failure.h"
#include "coupling/participant.h"
#include "coupling/scheme_options.h"
#include "coupling/step_frame.h"
#include "math/so3.h"

/* Motion of the models ------------------------------------------------------------------------- */

static yk_vec3 get3(const double *array)
{
    return yk_v3(array[0], array[1], array[2]);
}

/* Rate of a velocity of a model with its present wrenches: r + W f. */
static double model_rate(const yk_rim_participant *own, int row)
{
    const yk_interface_model *model = &own->model;
    double rate = model->free_acceleration[row];
    for (int j = 0; j < own->size; j++)
        rate += model->inverse_mass[row * own->size + j] * own->wrenches[j];
    return rate;
}

/* A port of a participant after a displacement, which for rotations is a rotation about a fixed axis. */
static yk_motion moved(const yk_participant *p, int port, const double displacement[6],
                       const double velocity[6])
{
    yk_motion motion = p->before[port];
    if (p->ports[port].kind == YK_PORT_SCALAR) {
        motion.position.x += displacement[0];
        motion.velocity.x = velocity[0];
        return motion;
    }

    yk_quat rotation = yk_so3_exp(get3(displacement + 3));
    motion.position = yk_v3_add(motion.position, get3(displacement));
    motion.velocity = get3(velocity);
    motion.orientation = yk_q_unit(yk_q_mul(rotation, motion.orientation));
    motion.angular_velocity = get3(velocity + 3);
    return motion;
}

/* Motion of the wrench side of an interface at `tau` after the start of the macro step, from its
 * model. */
static yk_motion modelled_motion(const yk_system *system, int number, double tau)
{
    const yk_rim *rim = yk_rim_of(system);
    const yk_interface *interface = &system->interfaces[number];
    const yk_rim_participant *a = &rim->participants[interface->def.wrench_subsystem.index];
    int port = interface->def.wrench_port.index;
    int offset = a->offsets[port];
    const double *start = a->start + offset;
    const double *now = a->now + offset;

    /* Displacement as in a step of the slow participant itself, or as the integral of the
     * velocities. */
    double displacement[6] = {0};
    for (int k = 0; k < yk_port_freedoms(interface->kind); k++) {
        double mean = start[k] + a->model.theta * (now[k] - start[k]) + a->drift[offset + k];
        displacement[k] = tau * mean;
        if (rim->options.position_update == YK_POSITION_UPDATE_INTEGRAL)
            displacement[k] = a->displacement[offset + k];
    }

    return moved(yk_interface_a(system, interface), port, displacement, now);
}

/* Time by which the positions of a slow participant are ahead of the integral of its velocities (s): a semi-implicit method moves
 * with the velocity at the end of the step, which is half a step too early. A joint that held these positions to those of its
 * partner would lag behind the velocities by as much, and damp or excite every oscillation. */
static double lead_of(const yk_system *system, const yk_rim_participant *own)
{
    if (!own->steps)
        return (own->model.theta - 0.5) * system->h;
    return fmax(0, 0.5 - own->step.wrench_point) * system->h;
}

yk_motion yk_rim_integrated_motion(const yk_system *system, int participant, int port, double h)
{
    const yk_participant *p = &system->participants[participant];
    const yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    int offset = own->offsets[port];
    double lead = lead_of(system, own);
    double displacement[6] = {0};
    double velocity[6] = {0};
    for (int k = 0; k < yk_port_freedoms(p->ports[port].kind); k++) {
        int i = offset + k;
        velocity[k] = own->now[i] + h * model_rate(own, i);
        displacement[k] = own->displacement[i] + h * velocity[k];
        displacement[k] -= lead * (own->start[i] - own->initial[i]);
    }

    return moved(p, port, displacement, velocity);
}

static void extrapolated_motion(const yk_rim *rim, const yk_system *system, int number, double tau,
                                yk_motion *motion)
{
    const yk_interface *interface = &system->interfaces[number];
    const yk_rim_interface *own = &rim->interfaces[number];
    const yk_motion *begin = yk_before_a(system, interface);
    const double steps[2] = {system->step, system->step};
    /* With the available number of macro points. */
    int degree = (int)rim->options.extrapolation - (int)YK_EXTRAPOLATION_CONSTANT;
    if (degree > rim->past_count)
        degree = (int)rim->past_count;

    yk_vec3 displacement;
    *motion = *begin;
    motion->velocity =
        yk_extrapolate_rate(degree, steps, tau, begin->velocity, own->past, &displacement);
    motion->position = yk_v3_add(begin->position, displacement);
    if (interface->kind == YK_PORT_SCALAR)
        return;

    yk_vec3 rotation;
    motion->angular_velocity = yk_extrapolate_rate(degree, steps, tau, begin->angular_velocity,
                                                   own->past_angular, &rotation);
    motion->orientation = yk_q_unit(yk_q_mul(yk_so3_exp(rotation), begin->orientation));
}

/* Exchanges ------------------------------------------------------------------------------------ */

/* The inputs of a fast participant from `tau` to the next exchange. */
static void set_fast_inputs(yk_rim *rim, yk_system *system, int participant, double tau)
{
    yk_participant *p = &system->participants[participant];
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        yk_rim_interface *own = &rim->interfaces[i];
        yk_port_kind kind = interface->kind;

        /* The wrenches of shared interfaces are found afterwards, from these inputs. */
        if (own->role == YK_RIM_SHARED)
            continue;

        /* A straight line along the motion of its partner, or of the partner's model. */
        if (interface->def.motion_subsystem.index == participant) {
            yk_motion given = yk_value_a(system, interface)->motion;
            if (own->role == YK_RIM_MODELLED) {
                if (rim->options.extrapolation == YK_EXTRAPOLATION_INTERFACE_MODEL)
                    given = modelled_motion(system, i, tau);
                else
                    extrapolated_motion(rim, system, i, tau, &given);
            }

            interface->origin = given.position;
            yk_input_original(kind, &given, &given, &p->inputs[interface->def.motion_port.index]);
            continue;
        }

        /* The reaction wrench of its partner. The mean over the macro step is used for the work. */
        if (interface->def.wrench_subsystem.index == participant) {
            yk_vec3 origin = p->values[interface->def.wrench_port.index].motion.position;
            yk_wrench wrench = yk_wrench_opposite(kind, yk_value_b(system, interface), origin);
            yk_system_apply_wrench(system, i, &wrench);
            own->applied = yk_wrench_combine(kind, &own->applied, 1.0 / rim->exchanges, &wrench);
        }
    }

    /* Present values of sources: of fast ones at this exchange, of slow ones at the start of the
     * macro step. */
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire *wire = &system->wires[i];
        if (wire->def.target_subsystem.index != participant)
            continue;

        yk_input *input = &p->inputs[wire->def.target_port.index];
        input->degree = 0;
        input->linear[0].x = wire->now;
        if (wire->def.sample_and_hold)
            input->linear[0].x = wire->before;
    }
}

/* Steps of several participants at the same time: fast ones over one exchange, or slow ones over the macro step. */
typedef struct pass {
    yk_rim *rim;
    yk_system *system;
    double tau, h; /* Of the exchange. */
    bool fast, posted;
} pass;

static void work_pass(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const pass *p = user;
    for (size_t i = begin; i < end; i++) {
        const yk_rim_participant *own = &p->rim->participants[i];
        yk_participant *participant = &p->system->participants[i];
        if (participant->posted != p->posted || own->fast != p->fast)
            continue;
        if (own->fast)
            yk_system_advance_part(p->system, (int)i, p->tau, p->h, own->parts);
        else if (own->begun)
            yk_system_advance_participant(p->system, (int)i);
    }
}

/* The status of each step stays with its participant. */
static void run_pass(pass *p)
{
    /* Wait last for those in other processes. */
    p->posted = false;
    yk_system_for_all(p->system, p->system->participant_count, work_pass, p);
    bool any = false;
    for (int i = 0; i < p->system->participant_count; i++)
        any = any || p->system->participants[i].posted;
    p->posted = true;
    if (any)
        yk_system_for_all(p->system, p->system->participant_count, work_pass, p);
}

/* Reports the step of a fast participant over one exchange if it failed. Otherwise adds up its results. */
static yk_status end_exchange(yk_rim *rim, yk_system *system, int participant, double end)
{
    yk_participant *p = &system->participants[participant];
    yk_rim_participant *own = &rim->participants[participant];
    if (YK_FAILED(p->status))
        return yk_system_report_failure_at(system, participant, end);

    /* The work of its interfaces. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        yk_port_kind kind = interface->kind;
        double *work = rim->interfaces[i].work;
        if (rim->interfaces[i].role == YK_RIM_SHARED) {
            int side = def->wrench_subsystem.index == participant ? 0 : 1;
            int port = side == 0 ? def->wrench_port.index : def->motion_port.index;
            yk_wrench wrench = yk_rim_shared_wrench(rim->shared, i, side);
            if (side == 0 || def->motion_subsystem.index == participant)
                work[side] +=
                    yk_wrench_work(kind, &wrench, &own->from[port], &p->values[port].motion);
            continue;
        }

        if (def->wrench_subsystem.index == participant) {
            const yk_motion *from = &own->from[def->wrench_port.index];
            const yk_motion *to = &p->values[def->wrench_port.index].motion;
            work[0] += yk_wrench_work(kind, &interface->applied, from, to);
        }

        if (def->motion_subsystem.index == participant) {
            const yk_motion *from = &own->from[def->motion_port.index];
            const yk_port_value *to = &p->values[def->motion_port.index];
            if (own->parts > 1)
                work[1] += p->port_work[def->motion_port.index];
            else
                work[1] += yk_wrench_work(kind, &to->wrench, from, &to->motion);
        }
    }

    /* Add to the mean wrenches for its partners. */
    double fraction = 1.0 / rim->exchanges;
    for (int port = 0; port < p->port_count; port++) {
        const yk_port_value *value = &p->values[port];
        yk_wrench *given = &own->given[port];
        own->from[port] = value->motion;
        if (rim->options.slow_wrench == YK_SLOW_WRENCH_MEAN)
            *given = yk_wrench_combine(p->ports[port].kind, given, fraction, &value->wrench);
        else
            *given = value->wrench;
    }

    return YK_OK;
}

/* Macro step ----------------------------------------------------------------------------------- */

/* Inputs of a slow participant. `index` is its position in the sequence, -1 if all step at the same
 * time. */
static void set_slow_motions(const yk_rim *rim, yk_system *system, int participant, int index)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (!yk_is_motion_side(interface, participant))
            continue;

        /* The motion of the fast side, or its extrapolation. */
        if (rim->interfaces[i].role != YK_RIM_SLOW) {
            yk_system_prescribe_motion(system, i, yk_system_interface_motion(system, i, 0));
            continue;
        }

        yk_motion end = yk_value_a(system, interface)->motion;
        if (index < 0 || interface->a_index >= index)
            yk_system_predict_motion(system, i, &end);
        yk_system_prescribe_weighted(system, i, &yk_weights_index1, &end);
    }
}

/* The wrench of a shared interface on its slow side, over the macro step. */
static void set_shared_wrench(yk_rim *rim, yk_system *system, int number, int participant)
{
    yk_interface *interface = &system->interfaces[number];
    int side = interface->def.wrench_subsystem.index == participant ? 0 : 1;
    int port = yk_rim_slow_port(system, number, participant);
    yk_wrench mean = yk_rim_shared_mean(rim->shared, number, side);
    if (rim->options.slow_wrench != YK_SLOW_WRENCH_MEAN)
        mean = yk_rim_shared_wrench(rim->shared, number, side);

    yk_rim_interface *own = &rim->interfaces[number];
    yk_wrench given = yk_rim_method_wrench(system, number, &mean);
    own->given[1] = own->given[0];
    own->given[0] = given;
    own->mean = mean;
    if (side == 0)
        interface->applied = given;
    yk_input_constant(interface->kind, &given, &system->participants[participant].inputs[port]);
}

static void set_slow_wrenches(yk_rim *rim, yk_system *system, int participant)
{
    yk_participant *p = &system->participants[participant];
    for (int i = 0; i < system->interface_count; i++)
        if (rim->interfaces[i].role == YK_RIM_SHARED &&
            yk_rim_slow_port(system, i, participant) >= 0)
            set_shared_wrench(rim, system, i, participant);
    if (p->wrench_size == 0)
        return;

    /* Convert the means of the macro step to the wrenches for the participant's method. */
    yk_system_pack_wrenches(system, participant);
    double *fresh = p->fresh;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (!yk_is_wrench_side(interface, participant))
            continue;

        yk_wrench mean = {.force = {0, 0, 0}};
        yk_wrench_unpack(interface->kind, fresh, &mean);
        yk_wrench given = yk_rim_method_wrench(system, i, &mean);
        fresh = yk_wrench_pack(interface->kind, &given, fresh);

        yk_rim_interface *own = &rim->interfaces[i];
        own->given[1] = own->given[0];
        own->given[0] = given;
        own->mean = mean;
    }

    yk_system_apply_wrenches(system, participant, p->fresh);
}

/* Whether all inputs of a slow participant are known before any slow one, or any fast one, makes
 * its step. Wrenches are, except those between slow participants. */
static bool is_known(const yk_rim *rim, const yk_system *system, int participant, bool before_fast)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface_def *def = &system->interfaces[i].def;
        bool touches = def->wrench_subsystem.index == participant ||
                       def->motion_subsystem.index == participant;
        int role = rim->interfaces[i].role;
        if (touches && (role == YK_RIM_SLOW || (before_fast && role == YK_RIM_REVERSED)))
            return false;
    }

    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        bool comes = def->target_subsystem.index == participant &&
                     def->source_subsystem.index != participant;
        if (comes && (before_fast || !rim->participants[def->source_subsystem.index].fast))
            return false;
    }

    return true;
}

/* Sets the inputs of a slow participant over the macro step. With sequence jacobi its wrenches have
 * been set before. */
static void set_slow_inputs(yk_rim *rim, yk_system *system, int index)
{
    int participant = system->sequence[index];
    bool jacobi = rim->options.sequence == YK_SEQUENCE_JACOBI;
    int position = index;
    if (jacobi)
        position = -1;
    set_slow_motions(rim, system, participant, position);
    if (!jacobi)
        set_slow_wrenches(rim, system, participant);
    yk_system_update_signals(system, participant);
}

/* Begins the steps of slow participants whose inputs are known: those in other processes then
 * compute at the same time. */
static void begin_slow(yk_rim *rim, yk_system *system, bool before_fast)
{
    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->sequence[index];
        yk_rim_participant *own = &rim->participants[participant];
        if (own->fast || own->begun || !is_known(rim, system, participant, before_fast))
            continue;

        set_slow_inputs(rim, system, index);
        yk_system_post(system, participant);
        own->begun = true;
    }
}

/* Initial values of the model of a side: the velocity of its port, and the wrench on it until a
 * partner answers. */
static void begin_side(yk_rim *rim, const yk_system *system, const yk_interface *interface,
                       int participant, int port)
{
    yk_rim_participant *own = &rim->participants[participant];
    if (own->size == 0)
        return;

    /* Balanced interfaces have their wrench already. */
    const yk_participant *p = &system->participants[participant];
    const yk_motion *motion = &p->before[port];
    yk_port_kind kind = interface->kind;
    int offset = own->offsets[port];
    yk_wrench wrench = {p->inputs[port].linear[0], p->inputs[port].angular[0]};
    if (!yk_both_take_wrench(interface))
        wrench = yk_wrench_opposite(kind, yk_value_b(system, interface), motion->position);
    yk_wrench_pack(kind, &wrench, own->wrenches + offset);

    yk_wrench velocity = {motion->velocity, motion->angular_velocity};
    yk_wrench_pack(kind, &velocity, own->start + offset);
    yk_wrench_pack(kind, &velocity, own->now + offset);
}

/* The small steps of all fast participants. Afterwards wrenches of and on them are means over the
 * macro step. */
static yk_status run_fast(yk_rim *rim, yk_system *system)
{
    /* Reset the sums over the exchanges. */
    const yk_wrench none = {.force = {0, 0, 0}};
    yk_rim_shared_begin(rim->shared);
    for (int i = 0; i < system->interface_count; i++) {
        rim->interfaces[i].work[0] = 0;
        rim->interfaces[i].work[1] = 0;
        rim->interfaces[i].applied = none;
    }

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *p = &system->participants[i];
        yk_rim_participant *own = &rim->participants[i];

        for (int port = 0; own->fast && port < p->port_count; port++) {
            own->given[port] = none;
            own->from[port] = p->before[port];
        }
    }

    /* For each exchange: advance all fast participants by a few steps ... */
    double h = system->h / rim->exchanges;
    for (int exchange = 0; exchange < rim->exchanges; exchange++) {
        double tau = exchange * h;
        for (int i = 0; i < system->participant_count; i++)
            if (rim->participants[i].fast)
                set_fast_inputs(rim, system, i, tau);

        yk_status solved = yk_rim_shared_solve(rim->shared, system, tau, h);
        if (YK_FAILED(solved))
            return solved;

        /* ... sending the requests to other processes first and waiting for them last ... */
        for (int i = 0; i < system->participant_count; i++)
            if (rim->participants[i].fast)
                yk_system_post_part(system, i, tau, h, rim->participants[i].parts);

        pass fast = {.rim = rim, .system = system, .tau = tau, .h = h, .fast = true};
        run_pass(&fast);
        for (int i = 0; i < system->participant_count; i++) {
            if (!rim->participants[i].fast)
                continue;

            yk_status status = end_exchange(rim, system, i, system->t + tau + h);
            if (YK_FAILED(status))
                return status;
        }

        /* ... apply their wrenches to the models ... */
        for (int i = 0; i < system->interface_count; i++) {
            const yk_interface *interface = &system->interfaces[i];
            yk_rim_participant *a = &rim->participants[interface->def.wrench_subsystem.index];
            if (rim->interfaces[i].role != YK_RIM_MODELLED || a->size == 0)
                continue;

            int offset = a->offsets[interface->def.wrench_port.index];
            yk_wrench wrench = yk_system_reaction_wrench(system, i);
            yk_wrench_pack(interface->kind, &wrench, a->wrenches + offset);
        }

        /* ... and advance the models: w <- w + h (r + W f), (45). */
        for (int i = 0; i < system->participant_count; i++) {
            yk_rim_participant *own = &rim->participants[i];
            for (int k = 0; k < own->size; k++) {
                own->now[k] += h * model_rate(own, k);
                own->displacement[k] += h * own->now[k];
            }
        }
    }

    /* Set the mean wrenches on fast wrench sides, and those for slow participants. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (rim->participants[interface->def.wrench_subsystem.index].fast)
            interface->applied = rim->interfaces[i].applied;
        if (rim->interfaces[i].role == YK_RIM_SHARED)
            interface->applied = yk_rim_shared_mean(rim->shared, i, 0);
    }

    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        const yk_rim_participant *own = &rim->participants[i];

        for (int port = 0; own->fast && port < p->port_count; port++) {
            p->values[port].wrench = own->given[port];
            if (p->mean_wrenches)
                p->mean_wrenches[port] = own->given[port];
        }
    }

    return YK_OK;
}

static void work_models(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const pass *p = user;
    for (size_t i = begin; i < end; i++)
        if (p->rim->participants[i].size > 0)
            yk_rim_find_model(p->system, (int)i);
}

/* The models of all slow participants at the same time. Trial steps of participants in a loop of wires also step the others of the
 * loop, so that these make them one after another. */
static void find_models(yk_rim *rim, yk_system *system)
{
    pass all = {.rim = rim, .system = system};
    if (system->loop_count == 0)
        yk_system_for_all(system, system->participant_count, work_models, &all);
    else
        work_models(&all, 0, (size_t)system->participant_count, 0);
}

static yk_status rim_step(yk_scheme *scheme, yk_system *system, yk_step_report *report)
{
    yk_rim *rim = (yk_rim *)scheme;
    bool jacobi = rim->options.sequence == YK_SEQUENCE_JACOBI;
    report->iterations = 1;
    if (rim->balance) {
        yk_status status = yk_balance_solve(rim->balance, system, &yk_weights_index1, NULL);
        if (status != YK_OK)
            return status;
    }

    /* 1: the models of slow participants, from their state at the start of the macro step. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        begin_side(rim, system, interface, def->wrench_subsystem.index, def->wrench_port.index);
        if (yk_both_take_wrench(interface))
            begin_side(rim, system, interface, def->motion_subsystem.index, def->motion_port.index);
    }

    for (int i = 0; i < system->participant_count; i++) {
        yk_rim_participant *own = &rim->participants[i];
        if (own->size == 0)
            continue;

        /* Models are linear about the wrenches of the last macro step, which are part of the state. */
        for (int k = 0; k < system->interface_count; k++) {
            int port = yk_rim_slow_port(system, k, i);
            if (port >= 0 && rim->interfaces[k].role == YK_RIM_SHARED)
                yk_input_constant(system->interfaces[k].kind, &rim->interfaces[k].given[0],
                                  &system->participants[i].inputs[port]);
        }

        memset(own->displacement, 0, (size_t)own->size * sizeof *own->displacement);
        set_slow_motions(rim, system, i, -1);
        yk_system_update_signals(system, i);
    }

    find_models(rim, system);
    for (int i = 0; i < system->participant_count; i++)
        if (rim->participants[i].size > 0 && YK_FAILED(system->participants[i].status))
            return yk_system_report_failure(system, i);

    /* With sequence jacobi, slow participants receive the wrenches of the previous macro step, at
     * the positions of that time. */
    for (int i = 0; jacobi && i < system->interface_count; i++)
        system->interfaces[i].origin =
            yk_system_interface_motion_at_step_start(system, i, 0)->position;

    for (int i = 0; jacobi && i < system->participant_count; i++)
        if (!rim->participants[i].fast)
            set_slow_wrenches(rim, system, i);

    for (int i = 0; i < system->participant_count; i++)
        rim->participants[i].begun = false;
    if (jacobi)
        begin_slow(rim, system, true);

    /* 2: fast participants against the models. */
    yk_status status = run_fast(rim, system);
    if (YK_FAILED(status))
        return status;

    /* 3: slow participants, one step each. */
    begin_slow(rim, system, false);
    pass slow = {.rim = rim, .system = system};
    run_pass(&slow);
    for (int i = 0; i < system->participant_count; i++)
        if (rim->participants[i].begun && YK_FAILED(system->participants[i].status))
            return yk_system_report_failure(system, i);

    for (int index = 0; index < system->participant_count; index++) {
        int participant = system->sequence[index];
        if (rim->participants[participant].fast || rim->participants[participant].begun)
            continue;

        set_slow_inputs(rim, system, index);
        if (YK_FAILED(yk_system_advance_participant(system, participant)))
            return yk_system_report_failure(system, participant);
    }

    /* Save the velocities at the start of this macro step, for extrapolation over the next ones. */
    for (int i = 0; i < system->interface_count; i++) {
        yk_rim_interface *own = &rim->interfaces[i];
        const yk_motion *start = yk_system_interface_motion_at_step_start(system, i, 0);

        for (int k = YK_RIM_PAST - 1; k > 0; k--) {
            own->past[k] = own->past[k - 1];
            own->past_angular[k] = own->past_angular[k - 1];
        }

        own->past[0] = start->velocity;
        own->past_angular[0] = start->angular_velocity;
    }

    if (rim->past_count < YK_RIM_PAST)
        rim->past_count++;
    return YK_OK;
}

/* The scheme ----------------------------------------------------------------------------------- */

static const yk_option_choice extrapolation_words[] = {
    {"interface-model",
     "by a reduced interface model, which responds to the wrenches of the fast subsystems"},
    {"constant", "the velocity at the start of the macro step"},
    {"linear", "from the velocities at the last two macro steps"},
    {"quadratic", "from those at the last three"},
    {NULL, NULL},
};
static const yk_option_choice models_words[] = {
    {"reported", "by the subsystems if possible, otherwise identified"},
    {"identified",
     "by trial steps, which include dynamics within the macro step: for flexible mechanisms"},
    {NULL, NULL},
};
static const yk_option_choice wrenches_words[] = {
    {"mean", "the mean over a macro step, which preserves the impulse"},
    {"last", "the value at its end"},
    {NULL, NULL},
};
static const yk_option_choice positions_words[] = {
    {"own-step", "the positions that one step of the slow subsystem itself would reach"},
    {"integral", "the integral of the model's velocities"},
    {NULL, NULL},
};

#define ROW(type, field) .kind = YK_OPTION_##type, YK_MEMBER(yk_rim_options, field)

enum { EXCHANGE_ROW = 1 };

static const yk_option options[] = {
    {"sequence", ROW(CHOICE, sequence), .default_text = "gauss-seidel", .choices = yk_order_words,
     .description = "whether slow subsystems receive the mean wrench of the present macro step or "
                    "of the last"},
    [EXCHANGE_ROW] = {"exchange", ROW(CHOICE, exchange), .has_derived_default = true,
                      .choices = yk_exchange_words,
                      .description = "exchanged quantities of interfaces between slow subsystems, "
                                     "and between slow ones and "
                                     "named fast_subsystems; default: auto"},
    {"extrapolation", ROW(CHOICE, extrapolation), .default_text = "interface-model",
     .choices = extrapolation_words,
     .description = "motion of slow subsystems for the fast ones within a macro step"},
    {"interface_models", ROW(CHOICE, interface_models), .default_text = "reported",
     .choices = models_words, .description = "source of the reduced models"},
    {"slow_wrench", ROW(CHOICE, slow_wrench), .default_text = "mean", .choices = wrenches_words,
     .description = "wrenches of fast subsystems on slow ones"},
    {"position_update", ROW(CHOICE, position_update), .default_text = "own-step",
     .choices = positions_words, .description = "positions of the ports of the reduced model"},
    {"exchanges_per_step", ROW(INTEGER, exchanges_per_step), .default_text = "0",
     .range = YK_NOT_NEGATIVE,
     .description = "number of exchanges between fast subsystems and models per macro step; 0: at "
                    "every common step of the fast ones"},
    {"fast_subsystems", ROW(SUBSYSTEMS, fast_subsystems),
     .description = "the fast subsystems; default: those with substeps that receive no wrench, "
                    "otherwise those that receive motions only"},
    {"threads", ROW(INTEGER, thread_count), .default_text = "1", .range = YK_BETWEEN(0, 1024),
     .description = "interface models, fast subsystems, and slow subsystems without interfaces "
                    "between them that are computed at the same time; 0 is one per core"},
    {0},
};

static const yk_scheme_variant variants[] = {
    {"rim",
     YK_VARIANT_REMEDY,
     3,
     {"extrapolation=interface-model", "sequence=gauss-seidel", "slow_wrench=mean"}},
    {0},
};

static void rim_configure_for_trial(void *own, double tolerance)
{
    (void)tolerance;
    ((yk_rim_options *)own)->thread_count = 1;
}

static unsigned rim_traits(const void *own)
{
    const yk_rim_options *o = own;
    unsigned set = YK_SCHEME_CARRIES_SIGNALS | YK_SCHEME_NEEDS_INTERFACES | YK_SCHEME_TRIES_STEPS;
    if (o->exchange != YK_EXCHANGE_FORCE_MOTION)
        set |= YK_SCHEME_CAN_EXCHANGE_FORCE_FORCE;
    return set;
}

static void rim_derive(void *own, uint64_t given)
{
    if (!(given >> EXCHANGE_ROW & 1))
        ((yk_rim_options *)own)->exchange = YK_EXCHANGE_AUTO;
}

static void rim_display_name(const void *own, char *text, size_t capacity)
{
    const yk_rim_options *o = own;
    if (o->extrapolation == YK_EXTRAPOLATION_INTERFACE_MODEL)
        return;

    /* Then the scheme is one of those to which Peiret et al. 2020 compare. */
    const char *word = extrapolation_words[o->extrapolation].name;
    const char *what = " extrapolation";
    if (o->extrapolation == YK_EXTRAPOLATION_CONSTANT)
        what = "";
    snprintf(text, capacity, "rim with %s%s in place of the model", word, what);
}

static bool is_named_fast(const yk_rim_options *own, int subsystem)
{
    const yk_subsystem_list *named = &own->fast_subsystems;
    for (int i = 0; i < named->count; i++)
        if (named->items[i] == subsystem)
            return true;
    return false;
}

/* Whether both sides can receive a wrench, and report how they respond to it: the fast side by its
 * step model, the slow side by its reduced model. */
static bool can_share(const yk_port_pair *joined, int fast)
{
    for (int side = 0; side < 2; side++) {
        const yk_subsystem *subsystem = joined->subsystem[side];
        const yk_port *ports;
        subsystem->ops->ports(subsystem, &ports);
        if (!(ports[joined->port[side]].allowed_causalities & YK_CAUSALITY_WRENCH_INPUT))
            return false;
    }

    const yk_subsystem_ops *slow = joined->subsystem[1 - fast]->ops;
    return joined->subsystem[fast]->ops->step_model &&
           (slow->step_model || slow->interface_model || slow->rollback);
}

/* A fast participant receives a motion, or shares the wrench with its slow partner if the exchange asks for it or if it is the
 * first side. */
static yk_causality rim_second_side_causality(const void *own, const yk_port_pair *joined)
{
    const yk_rim_options *o = own;
    bool first = is_named_fast(o, joined->subsystem_index[0]);
    bool second = is_named_fast(o, joined->subsystem_index[1]);
    if (!first && !second)
        return yk_balance_second_side(o->exchange, joined);

    bool wanted = o->exchange == YK_EXCHANGE_FORCE_FORCE;
    wanted = wanted || (o->exchange == YK_EXCHANGE_AUTO && first);
    bool modelled = o->extrapolation == YK_EXTRAPOLATION_INTERFACE_MODEL;
    if (first != second && wanted && modelled && can_share(joined, second ? 1 : 0))
        return YK_CAUSALITY_WRENCH_INPUT;
    return YK_CAUSALITY_MOTION_INPUT;
}

const yk_scheme_ops *yk_scheme_rim(void)
{
    static const yk_scheme_ops ops = {
        .size = sizeof ops,
        .name = "rim",
        .description = "fast subsystems with small steps against reduced models of the slow ones, "
                       "without repetitions",
        .options_size = sizeof(yk_rim_options),
        .options = options,
        .variants = variants,
        .traits = rim_traits,
        .create = yk_rim_create,
        .destroy = yk_rim_destroy,
        .initialize = yk_rim_start,
        .step = rim_step,
        .derive = rim_derive,
        .display_name = rim_display_name,
        .configure_for_trial = rim_configure_for_trial,
        .second_side_causality = rim_second_side_causality,
        .state_layout = yk_rim_layout,
        .state_get = yk_rim_get,
        .state_set = yk_rim_set,
        .is_valid_state = yk_rim_is_valid,
        .interface_work = yk_rim_work,
    };

    return &ops;
}

yk_rim_options yk_rim_options_default(void)
{
    yk_rim_options own;
    yk_scheme_set_defaults(yk_scheme_rim(), &own);
    return own;
}
