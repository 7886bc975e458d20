/* One participant of a system: its inputs in its own units, a step or several substeps with them,
 * and its outputs.
 *
 * Every call of a subsystem for a step is between begin_call() and end_call(), which measure the
 * time and read the outputs. The wrench of a participant with substeps is the mean over the
 * substeps, so that its partner receives the whole impulse. */
#include "coupling/participant.h"

#include <string.h>

#include "base/clock.h"
#include "coupling/energy_balance.h"
#include "coupling/loops.h"
#include "coupling/system.h"
#include "coupling/wire.h"

/* Steps that are shorter than this (s) are timed on a sample only, because reading the clock would
 * cost more than the step. */
static const double SHORT_STEP = 5e-6;
enum { TIMING_STRIDE = 64 };

bool yk_subsystem_can_follow_polynomials(const yk_subsystem *subsystem)
{
    const yk_subsystem_ops *ops = subsystem->ops;
    return ops->max_input_degree && ops->max_input_degree(subsystem) >= YK_INPUT_DEGREE_MAX;
}

/* Inputs and outputs --------------------------------------------------------------------------- */

void yk_system_gather(yk_participant *p)
{
    /* Converts the outputs to the system's units and axes. */
    for (int port = 0; port < p->port_count; port++) {
        yk_port_value *value = &p->values[port];
        p->subsystem->ops->get_port_value(p->subsystem, port, value);
        if (p->transform)
            yk_transform_value(p->transform, p->ports[port].kind, value);
    }

    yk_wires_read(p);
}

/* Fills the inputs in the units of the subsystem, from `offset` on in the step. */
static void make_own_inputs(yk_system *system, yk_participant *p, double offset)
{
    const yk_scheme_ops *scheme = system->scheme->ops;
    for (int k = 0; k < p->joined_count; k++) {
        int i = p->joined[k];
        const yk_interface *interface = &system->interfaces[i];
        bool first = yk_interface_a(system, interface) == p;

        /* Interface and side of each connected port. */
        int side = 0;
        int port = interface->def.wrench_port.index;
        yk_causality causality = YK_CAUSALITY_WRENCH_INPUT;
        if (!first) {
            side = 1;
            port = interface->def.motion_port.index;
            causality = interface->takes;
        }

        /* The input during the substep: computed by the scheme, or the input as it is. */
        yk_input input;
        if (p->shaped && causality == YK_CAUSALITY_WRENCH_INPUT)
            input = scheme->substep_input(system->scheme, system, i, side, offset);
        else
            input = yk_input_shift(&p->inputs[port], interface->kind, offset);

        yk_input *own = &p->own_inputs[port];
        if (p->transform)
            yk_transform_input(p->transform, interface->kind, causality, &input, own);
        else
            *own = input;
    }

    /* Signals have no units and no axes. */
    for (int k = 0; k < p->received_count; k++) {
        const yk_wire_def *def = &system->wires[p->received[k]].def;
        const yk_input *signal = &p->inputs[def->target_port.index];
        p->own_inputs[def->target_port.index] = yk_input_shift(signal, YK_PORT_SIGNAL, offset);
    }
    for (int i = 0; i < system->input_count; i++) {
        const yk_external_input *input = &system->inputs[i];
        if (&system->participants[input->participant] == p)
            p->own_inputs[input->port] = p->inputs[input->port];
    }
}

static inline const yk_input *inputs_from(yk_system *system, yk_participant *p, double offset)
{
    /* Most participants use the inputs without a change. */
    if (!p->transform && !p->shaped && offset == 0)
        return p->inputs;

    make_own_inputs(system, p, offset);
    return p->own_inputs;
}

const yk_input *yk_system_inputs(yk_system *system, int participant)
{
    return inputs_from(system, &system->participants[participant], 0);
}

/* Steps ---------------------------------------------------------------------------------------- */

/* The time at which a call begins; 0 if the call is not timed. */
static inline double begin_call(const yk_participant *p)
{
    const yk_subsystem_statistics *s = &p->statistics;
    bool timed =
        s->calls % TIMING_STRIDE == 0 || s->wall_time > SHORT_STEP * (double)p->timed_calls;
    if (!timed)
        return 0;
    return yk_clock_seconds();
}

static inline yk_status end_call(yk_system *system, yk_participant *p, int substeps, double begin)
{
    /* Add the measured time. */
    yk_subsystem_statistics *s = &p->statistics;
    if (begin > 0) {
        s->wall_time += yk_clock_seconds() - begin;
        p->timed_calls++;
    }

    s->calls++;
    s->steps += substeps;

    /* Partners receive the mean of all substeps. */
    yk_system_gather(p);
    if (substeps > 1) {
        for (int port = 0; port < p->port_count; port++)
            p->values[port].wrench = p->mean_wrenches[port];

        yk_wires_read(p);
    } else if (system->substep) {
        system->substep(system->scheme, system, (int)(p - system->participants), 1);
    }

    p->advanced = true;
    p->posted = false;
    return p->status;
}

/* Adds `factor` times a torque to the mean wrenches at motion ports: the torque of the last force
 * or of the mean force about the marker that the port follows, `t` after the start of the step. The
 * markers of some joints slide apart. */
static void add_arms(const yk_system *system, yk_participant *p, double t, double factor, bool mean)
{
    for (int k = 0; k < p->joined_count; k++) {
        const yk_interface *interface = &system->interfaces[p->joined[k]];
        if (yk_interface_b(system, interface) != p || interface->kind != YK_PORT_MARKER)
            continue;

        /* The torque about the marker that the port follows. */
        int port = interface->def.motion_port.index;
        const yk_port_value *value = &p->values[port];
        yk_wrench *sum = &p->mean_wrenches[port];
        yk_vec3 force = value->wrench.force;
        if (mean)
            force = sum->force;

        yk_vec3 followed = yk_input_motion(&p->inputs[port], YK_PORT_MARKER, t).position;
        yk_vec3 arm = yk_v3_sub(value->motion.position, followed);
        sum->torque = yk_v3_axpy(factor, yk_v3_cross(arm, force), sum->torque);
    }
}

static yk_status make_substeps(yk_system *system, yk_participant *p, double t, double whole,
                               int substeps)
{
    int participant = (int)(p - system->participants);
    double h = whole / substeps;
    double fraction = 1.0 / substeps;
    bool arms = system->traits & YK_SCHEME_SHIFTS_TORQUE_POINT;
    yk_status worst = YK_OK;
    memset(p->mean_wrenches, 0, (size_t)p->port_count * sizeof *p->mean_wrenches);
    yk_ledger_begin_substeps(p);

    for (int i = 0; i < substeps; i++) {
        if (yk_context_should_stop(system->context))
            return YK_ERROR_ABORTED;

        /* The inputs from the start of the substep on. */
        const yk_input *inputs = inputs_from(system, p, i * h);
        yk_status status = p->subsystem->ops->step(p->subsystem, t + i * h, h, inputs);
        if (YK_FAILED(status))
            return status;
        if (status > worst)
            worst = status;

        /* Add to the mean wrenches and to the work. */
        yk_system_gather(p);
        for (int port = 0; port < p->port_count; port++) {
            yk_wrench *sum = &p->mean_wrenches[port];
            const yk_wrench *wrench = &p->values[port].wrench;
            *sum = yk_wrench_combine(p->ports[port].kind, sum, fraction, wrench);
        }

        if (arms)
            add_arms(system, p, (i + 1) * h, fraction, false);
        yk_ledger_add_substep(p, h);

        if (system->substep)
            system->substep(system->scheme, system, participant, i + 1);
    }

    /* Refer the wrench to the port's own marker at its present place. */
    if (arms)
        add_arms(system, p, whole, -1, true);
    return worst;
}

static inline yk_status make_step(yk_system *system, yk_participant *p, double t, double h,
                                  int substeps)
{
    if (substeps > 1)
        return make_substeps(system, p, t, h, substeps);
    if (yk_context_should_stop(system->context))
        return YK_ERROR_ABORTED;
    return p->subsystem->ops->step(p->subsystem, t, h, inputs_from(system, p, 0));
}

/* Whether the steps of a participant are part of the solution of an algebraic loop. */
static bool is_solved_in_loop(const yk_participant *p)
{
    return p->loop && !p->loop->only_at_start;
}

static yk_status advance_alone(yk_system *system, int participant, void *user)
{
    (void)user;
    yk_participant *p = &system->participants[participant];
    double begin = begin_call(p);
    if (system->substep)
        system->substep(system->scheme, system, participant, 0);
    p->status = make_step(system, p, system->t, system->h, p->substeps);

    return end_call(system, p, p->substeps, begin);
}

yk_status yk_system_advance_participant(yk_system *system, int participant)
{
    if (is_solved_in_loop(&system->participants[participant]))
        return yk_loops_advance(system, participant, advance_alone, NULL);
    return advance_alone(system, participant, NULL);
}

yk_status yk_system_advance_part(yk_system *system, int participant, double offset, double h,
                                 int substeps)
{
    yk_participant *p = &system->participants[participant];
    double begin = begin_call(p);
    if (system->substep)
        system->substep(system->scheme, system, participant, 0);
    p->status = make_step(system, p, system->t + offset, h, substeps);

    return end_call(system, p, substeps, begin);
}

/* A function that prepares a step, and its argument. */
typedef struct preparation {
    yk_status (*prepare)(yk_system *system, int participant, void *user);
    void *user;
} preparation;

static yk_status advance_prepared_alone(yk_system *system, int participant, void *user)
{
    const preparation *before = user;
    yk_participant *p = &system->participants[participant];
    double begin = begin_call(p);
    if (system->substep)
        system->substep(system->scheme, system, participant, 0);

    /* The function that prepares the step may fail. */
    p->status = YK_OK;
    if (before->prepare)
        p->status = before->prepare(system, participant, before->user);
    p->failed_in_scheme = YK_FAILED(p->status);
    if (!YK_FAILED(p->status))
        p->status = make_step(system, p, system->t, system->h, p->substeps);
    return end_call(system, p, p->substeps, begin);
}

yk_status yk_system_advance_prepared(yk_system *system, int participant,
                                     yk_status (*prepare)(yk_system *system, int participant,
                                                          void *user),
                                     void *user)
{
    preparation before = {prepare, user};
    if (is_solved_in_loop(&system->participants[participant]))
        return yk_loops_advance(system, participant, advance_prepared_alone, &before);
    return advance_prepared_alone(system, participant, &before);
}

yk_status yk_system_advance_sensitive(yk_system *system, int participant, int degree,
                                      double *sensitivity)
{
    yk_participant *p = &system->participants[participant];
    const yk_sensitivity_ops *ops = p->subsystem->ops->sensitivity;
    double begin = begin_call(p);
    if (system->substep)
        system->substep(system->scheme, system, participant, 0);

    /* Sensitivities cover a single step over the whole macro step. */
    const yk_input *inputs = inputs_from(system, p, 0);
    p->status = YK_ERROR_ABORTED;
    if (!yk_context_should_stop(system->context))
        p->status = ops->step_with_sensitivity(p->subsystem, system->t, system->h, inputs, degree,
                                               sensitivity);

    return end_call(system, p, 1, begin);
}

yk_status yk_system_iterate(yk_system *system, int participant)
{
    yk_participant *p = &system->participants[participant];
    const yk_iteration_ops *ops = p->subsystem->ops->iteration;
    double begin = begin_call(p);
    const yk_input *inputs = inputs_from(system, p, 0);

    /* The coupling checks convergence. */
    yk_iteration_report report;
    p->status = YK_ERROR_ABORTED;
    if (!yk_context_should_stop(system->context))
        p->status = ops->iterate(p->subsystem, system->t, system->h, inputs, &report);

    return end_call(system, p, 1, begin);
}

/* Steps ahead ---------------------------------------------------------------------------------- */

void yk_system_post_part(yk_system *system, int participant, double offset, double whole,
                         int substeps)
{
    yk_participant *p = &system->participants[participant];
    const yk_remote_ops *remote = p->subsystem->ops->remote;
    if (!remote || p->shaped || is_solved_in_loop(p) || yk_context_should_stop(system->context))
        return;

    /* The same inputs as in make_step() and make_substeps(). */
    double h = whole / substeps;
    p->posted = true;
    for (int i = 0; i < substeps && p->posted; i++) {
        const yk_input *inputs = inputs_from(system, p, i * h);
        double t = system->t + offset + i * h;
        p->posted = remote->begin_step(p->subsystem, t, h, inputs, substeps - 1 - i) == YK_OK;
    }
}

void yk_system_post(yk_system *system, int participant)
{
    int substeps = system->participants[participant].substeps;
    yk_system_post_part(system, participant, 0, system->h, substeps);
}

void yk_system_post_step_model(yk_system *system, int participant, const yk_step_model *model)
{
    yk_participant *p = &system->participants[participant];
    const yk_remote_ops *remote = p->subsystem->ops->remote;
    if (remote)
        remote->begin_step_model(p->subsystem, system->t, system->h, inputs_from(system, p, 0),
                                 model);
}

yk_status yk_system_use_threads(yk_system *system, int threads)
{
    /* A single participant does not need threads. A fallback scheme uses the existing threads. */
    if (threads == 1 || system->subsystem_count < 2 || system->pool)
        return YK_OK;
    return yk_pool_create(system->context, threads, &system->pool);
}

void yk_system_for_all(yk_system *system, int count, yk_pool_work work, void *user)
{
    if (system->pool)
        yk_pool_run(system->pool, (size_t)count, 1, work, user);
    else
        work(user, 0, (size_t)count, 0);
}

/* One of the two passes over all participants. */
typedef struct pass {
    yk_system *system;
    bool posted;
    yk_status (*advance)(yk_system *system, int participant);
} pass;

static void work_pass(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const pass *p = user;

    /* The caller reads an error from the status of the participant. */
    for (size_t i = begin; i < end; i++)
        if (p->system->participants[i].posted == p->posted)
            p->advance(p->system, (int)i);
}

void yk_system_advance_all(yk_system *system,
                           yk_status (*advance)(yk_system *system, int participant))
{
    /* Waiting for another process before the own work is done would add up both times. */
    bool any = false;
    for (int i = 0; i < system->participant_count; i++)
        any = any || system->participants[i].posted;

    /* A loop is solved for all of its participants at once, by one thread. */
    for (int n = 0; n < system->loop_count; n++) {
        const yk_loop *loop = &system->loops[n];
        if (!loop->solvable || loop->only_at_start)
            continue;

        int first = loop->members[0];
        advance(system, first);
        system->participants[first].loop_done = true;
    }

    pass here = {system, false, advance};
    pass elsewhere = {system, true, advance};
    yk_system_for_all(system, system->participant_count, work_pass, &here);
    if (any)
        yk_system_for_all(system, system->participant_count, work_pass, &elsewhere);
}

/* Models of what a participant will do --------------------------------------------------------- */

int yk_system_number_velocities(const yk_system *system, int participant, int *offsets)
{
    const yk_participant *p = &system->participants[participant];
    for (int port = 0; port < p->port_count; port++)
        offsets[port] = -1;

    /* Find the ports that receive a wrench ... */
    for (int k = 0; k < p->joined_count; k++) {
        const yk_interface *interface = &system->interfaces[p->joined[k]];
        const yk_interface_def *def = &interface->def;
        if (def->wrench_subsystem.index == participant)
            offsets[def->wrench_port.index] = 0;
        if (def->motion_subsystem.index == participant && yk_both_take_wrench(interface))
            offsets[def->motion_port.index] = 0;
    }

    /* ... and the rows of their velocities, in the order of the ports, which may differ from that
     * of the interfaces. */
    int size = 0;
    for (int port = 0; port < p->port_count; port++) {
        if (offsets[port] < 0)
            continue;

        offsets[port] = size;
        size += yk_port_freedoms(p->ports[port].kind);
    }

    return size;
}

yk_status yk_system_step_model_over(yk_system *system, int participant, double offset, double h,
                                    const int *offsets, yk_step_model *model)
{
    yk_participant *p = &system->participants[participant];
    const yk_step_model_ops *ops = p->subsystem->ops->step_model;
    const yk_input *inputs = yk_system_inputs(system, participant);
    p->status = ops->evaluate(p->subsystem, system->t + offset, h, inputs, model);
    if (!YK_FAILED(p->status))
        yk_participant_transform_step_model(p, offsets, model);
    return p->status;
}

yk_status yk_system_step_model(yk_system *system, int participant, const int *offsets,
                               yk_step_model *model)
{
    return yk_system_step_model_over(system, participant, 0, system->h, offsets, model);
}

void yk_participant_transform_step_model(const yk_participant *p, const int *offsets,
                                         yk_step_model *model)
{
    /* Convert rows and columns of each wrench port, by its own units and axes. */
    if (!p->transform)
        return;

    for (int port = 0; port < p->port_count; port++) {
        int offset = offsets[port];
        if (offset < 0)
            continue;

        yk_port_kind kind = p->ports[port].kind;
        yk_transform_rates(p->transform, kind, model->velocity + offset);
        yk_transform_rates(p->transform, kind, model->displacement + offset);
        yk_transform_response(p->transform, kind, offset, model->row_count, model->mobility);
    }
}

yk_status yk_system_interface_model(yk_system *system, int participant, yk_interface_model *model)
{
    yk_participant *p = &system->participants[participant];
    const yk_interface_model_ops *ops = p->subsystem->ops->interface_model;
    const yk_input *inputs = yk_system_inputs(system, participant);
    p->status = ops->evaluate(p->subsystem, system->t, system->h, inputs, model);

    return p->status;
}

void yk_system_count_model(yk_system *system, int participant, double begin)
{
    yk_subsystem_statistics *s = &system->participants[participant].statistics;
    s->model_wall_time += yk_clock_seconds() - begin;
    s->model_calls++;
}

/* Wrenches of a participant together ----------------------------------------------------------- */

void yk_system_pack_wrenches(yk_system *system, int participant)
{
    yk_participant *p = &system->participants[participant];
    /* The latest reaction wrenches of the motion sides, in the order of the interfaces. */
    double *fresh = p->fresh;
    double *applied = p->applied;
    for (int k = 0; k < p->joined_count; k++) {
        const yk_interface *interface = &system->interfaces[p->joined[k]];
        if (!yk_is_wrench_side(interface, participant))
            continue;

        const yk_port_value *b = yk_value_b(system, interface);
        yk_wrench wrench = yk_wrench_opposite(interface->kind, b, interface->origin);
        fresh = yk_wrench_pack(interface->kind, &wrench, fresh);
        applied = yk_wrench_pack(interface->kind, &interface->applied, applied);
    }
}

void yk_system_apply_wrenches(yk_system *system, int participant, const double *wrenches)
{
    /* In the same order as they were packed. */
    const yk_participant *p = &system->participants[participant];
    for (int k = 0; k < p->joined_count; k++) {
        yk_interface *interface = &system->interfaces[p->joined[k]];
        if (!yk_is_wrench_side(interface, participant))
            continue;

        yk_input *input = &p->inputs[interface->def.wrench_port.index];
        wrenches = yk_wrench_unpack(interface->kind, wrenches, &interface->applied);
        yk_input_constant(interface->kind, &interface->applied, input);
    }
}
