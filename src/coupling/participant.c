/* One participant of a system: its inputs in its own units, a step or several substeps with them,
 * and its outputs.
 *
 * Every call of a subsystem for a step passes through call_participant, which keeps the time that
 * it took and reads the outputs. The wrench of a participant with substeps is the mean over them:
 * what its partner receives is then the whole impulse. */
#include <string.h>

#include "base/clock.h"
#include "coupling/interface.h"
#include "coupling/ledger.h"
#include "coupling/transform.h"
#include "math/polynomial.h"

/* Steps that are shorter than this (s) are timed only now and then: reading the clock would cost
 * more than they do. */
static const double SHORT_STEP = 5e-6;
enum { TIMING_STRIDE = 64 };

bool yk_follows_polynomials(const yk_subsystem *subsystem)
{
    return subsystem->ops->input_degree &&
           subsystem->ops->input_degree(subsystem) >= YK_INPUT_DEGREE_MAX;
}

bool yk_participant_can_return(const yk_participant *m)
{
    return m->subsystem->ops->rollback;
}

/* Inputs and outputs --------------------------------------------------------------------------- */

void yk_system_gather(yk_participant *participant)
{
    for (int port = 0; port < participant->port_count; port++) {
        participant->subsystem->ops->output(participant->subsystem, port,
                                            &participant->values[port]);
        if (participant->transform)
            yk_transform_value(participant->transform, participant->ports[port].kind,
                               &participant->values[port]);
    }
    yk_wires_read(participant);
}

/* The inputs as the subsystem takes them, from `offset` on in the step. */
static const yk_input *own_inputs(yk_system *system, yk_participant *m, double offset)
{
    if (!m->transform && !m->shaped && offset == 0)
        return m->inputs;

    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        bool first = yk_interface_a(system, interface) == m;
        if (!first && yk_interface_b(system, interface) != m)
            continue;

        int port = first ? interface->def.wrench_port : interface->def.motion_port;
        yk_causality causality = first ? YK_TAKES_WRENCH : interface->takes;
        yk_input input;
        if (m->shaped && causality == YK_TAKES_WRENCH)
            input = system->scheme->ops->substep_input(system->scheme, system, i, first ? 0 : 1,
                                                       offset);
        else
            input = yk_input_shift(&m->inputs[port], interface->kind, offset);

        if (m->transform)
            yk_transform_input(m->transform, interface->kind, causality, &input,
                               &m->own_inputs[port]);
        else
            m->own_inputs[port] = input;
    }

    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        if (&system->participants[def->target_subsystem] == m)
            m->own_inputs[def->target_port] =
                yk_input_shift(&m->inputs[def->target_port], YK_PORT_SIGNAL, offset);
    }
    return m->own_inputs;
}

const yk_input *yk_system_inputs(yk_system *system, int participant)
{
    return own_inputs(system, &system->participants[participant], 0);
}

/* Steps ---------------------------------------------------------------------------------------- */

/* What a participant is called for. */
typedef struct participant_call {
    double t, h;
    int substeps;
    int sensitivity_degree;
    double *sensitivity; /* where its sensitivities go; NULL: none wanted */
    yk_preparation prepare;
    void *user;
} participant_call;

typedef yk_status (*participant_step)(yk_system *system, yk_participant *participant,
                                      const participant_call *call);

/* Adds to the mean wrenches at motion ports `factor` times the torque that the last or the mean
 * force has about the marker that the port follows, `t` after the start of the step: markers of
 * some joints slide apart. */
static void add_arms(const yk_system *system, yk_participant *m, double t, double factor, bool mean)
{
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (yk_interface_b(system, interface) != m || interface->kind != YK_PORT_MARKER)
            continue;
        int port = interface->def.motion_port;
        yk_vec3 followed = yk_input_motion(&m->inputs[port], YK_PORT_MARKER, t).position;
        yk_vec3 force = mean ? m->mean_wrenches[port].force : m->values[port].wrench.force;
        yk_vec3 torque = yk_v3_cross(yk_v3_sub(m->values[port].motion.position, followed), force);
        m->mean_wrenches[port].torque = yk_v3_axpy(factor, torque, m->mean_wrenches[port].torque);
    }
}

static yk_status step_in_parts(yk_system *system, yk_participant *m, const participant_call *call)
{
    int participant = (int)(m - system->participants), substeps = call->substeps;
    double h = call->h / substeps;
    bool arms = system->traits & YK_SCHEME_MOVES_TORQUES;
    yk_status worst = YK_OK;
    memset(m->mean_wrenches, 0, (size_t)m->port_count * sizeof *m->mean_wrenches);
    yk_ledger_begin_substeps(m);

    for (int i = 0; i < substeps; i++) {
        yk_status status =
            m->subsystem->ops->step(m->subsystem, call->t + i * h, h, own_inputs(system, m, i * h));
        if (status < 0)
            return status;
        if (status > worst)
            worst = status;

        yk_system_gather(m);
        for (int port = 0; port < m->port_count; port++)
            m->mean_wrenches[port] = yk_wrench_combine(m->ports[port].kind, &m->mean_wrenches[port],
                                                       1.0 / substeps, &m->values[port].wrench);
        if (arms)
            add_arms(system, m, (i + 1) * h, 1.0 / substeps, false);
        yk_ledger_add_substep(m, h);
        if (system->substep)
            system->substep(system->scheme, system, participant, i + 1);
    }

    /* As a wrench at its own marker where that is now. */
    if (arms)
        add_arms(system, m, call->h, -1, true);
    return worst;
}

static yk_status step_participant(yk_system *system, yk_participant *m,
                                  const participant_call *call)
{
    if (system->substep)
        system->substep(system->scheme, system, (int)(m - system->participants), 0);
    if (call->prepare) {
        yk_status status = call->prepare(system, (int)(m - system->participants), call->user);
        if (status < 0)
            return status;
    }

    if (call->substeps > 1)
        return step_in_parts(system, m, call);
    const yk_input *inputs = own_inputs(system, m, 0);
    if (call->sensitivity)
        return m->subsystem->ops->sensitivity->step(m->subsystem, call->t, call->h, inputs,
                                                    call->sensitivity_degree, call->sensitivity);
    return m->subsystem->ops->step(m->subsystem, call->t, call->h, inputs);
}

static yk_status iterate_participant(yk_system *system, yk_participant *m,
                                     const participant_call *call)
{
    yk_iteration report;
    return m->subsystem->ops->iteration->iterate(m->subsystem, call->t, call->h,
                                                 own_inputs(system, m, 0), &report);
}

/* Calls the participant, keeps the time that it took, and reads its outputs. */
static inline yk_status call_participant(yk_system *system, int participant, participant_step step,
                                         const participant_call *call)
{
    yk_participant *m = &system->participants[participant];
    yk_subsystem_statistics *s = &m->statistics;
    bool timed = s->calls % TIMING_STRIDE == 0 || s->seconds > SHORT_STEP * (double)m->timed_calls;
    double begin = timed ? yk_clock_seconds() : 0;
    m->status = step(system, m, call);
    if (timed) {
        s->seconds += yk_clock_seconds() - begin;
        m->timed_calls++;
    }
    s->calls++;
    s->steps += call->substeps;

    yk_system_gather(m);
    if (call->substeps > 1) {
        for (int port = 0; port < m->port_count; port++)
            m->values[port].wrench = m->mean_wrenches[port];
        yk_wires_read(m);
    } else if (system->substep) {
        system->substep(system->scheme, system, participant, 1);
    }
    m->advanced = true;
    return m->status;
}

int yk_system_number_velocities(const yk_system *system, int participant, int *offsets)
{
    const yk_participant *m = &system->participants[participant];
    for (int port = 0; port < m->port_count; port++)
        offsets[port] = -1;

    /* Which ports take a wrench ... */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem == participant)
            offsets[interface->def.wrench_port] = 0;
        if (interface->def.motion_subsystem == participant && yk_both_take_wrench(interface))
            offsets[interface->def.motion_port] = 0;
    }

    /* ... and where their velocities begin, in the order of the ports, whatever that of the
     * interfaces is. */
    int size = 0;
    for (int port = 0; port < m->port_count; port++) {
        if (offsets[port] < 0)
            continue;
        offsets[port] = size;
        size += m->ports[port].kind == YK_PORT_SCALAR ? 1 : 6;
    }
    return size;
}

yk_status yk_system_advance(yk_system *system, int participant)
{
    const participant_call whole = {
        .t = system->t, .h = system->h, .substeps = system->participants[participant].substeps};
    return call_participant(system, participant, step_participant, &whole);
}

yk_status yk_system_advance_part(yk_system *system, int participant, double offset, double h,
                                 int substeps)
{
    const participant_call part = {.t = system->t + offset, .h = h, .substeps = substeps};
    return call_participant(system, participant, step_participant, &part);
}

yk_status yk_system_advance_sensitive(yk_system *system, int participant, int degree,
                                      double *sensitivity)
{
    const participant_call sensitive = {.t = system->t,
                                        .h = system->h,
                                        .substeps = system->participants[participant].substeps,
                                        .sensitivity_degree = degree,
                                        .sensitivity = sensitivity};
    return call_participant(system, participant, step_participant, &sensitive);
}

yk_status yk_system_advance_prepared(yk_system *system, int participant, yk_preparation prepare,
                                     void *user)
{
    const participant_call prepared = {.t = system->t,
                                       .h = system->h,
                                       .substeps = system->participants[participant].substeps,
                                       .prepare = prepare,
                                       .user = user};
    return call_participant(system, participant, step_participant, &prepared);
}

yk_status yk_system_iterate(yk_system *system, int participant)
{
    const participant_call whole = {
        .t = system->t, .h = system->h, .substeps = system->participants[participant].substeps};
    return call_participant(system, participant, iterate_participant, &whole);
}

yk_status yk_system_use_threads(yk_system *system, int threads)
{
    if (threads == 1 || system->subsystem_count < 2)
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

/* Models of what a participant will do --------------------------------------------------------- */

yk_status yk_system_step_model(yk_system *system, int participant, const int *offsets,
                               yk_step_model *model)
{
    yk_participant *m = &system->participants[participant];
    const yk_input *inputs = yk_system_inputs(system, participant);
    m->status =
        m->subsystem->ops->step_model->evaluate(m->subsystem, system->t, system->h, inputs, model);
    if (m->status >= 0)
        yk_participant_place_step_model(m, offsets, model);
    return m->status;
}

void yk_participant_place_step_model(const yk_participant *m, const int *offsets,
                                     yk_step_model *model)
{
    for (int port = 0; m->transform && port < m->port_count; port++) {
        if (offsets[port] < 0)
            continue;
        yk_port_kind kind = m->ports[port].kind;
        yk_transform_rates(m->transform, kind, model->velocity + offsets[port]);
        yk_transform_rates(m->transform, kind, model->displacement + offsets[port]);
        yk_transform_response(m->transform, kind, offsets[port], model->size, model->mobility);
    }
}

yk_status yk_system_interface_model(yk_system *system, int participant, yk_interface_model *model)
{
    yk_participant *m = &system->participants[participant];
    const yk_input *inputs = yk_system_inputs(system, participant);
    return m->status = m->subsystem->ops->interface_model->evaluate(m->subsystem, system->t,
                                                                    system->h, inputs, model);
}

void yk_system_count_model(yk_system *system, int participant, double begin)
{
    yk_subsystem_statistics *s = &system->participants[participant].statistics;
    s->model_seconds += yk_clock_seconds() - begin;
    s->model_calls++;
}

/* Wrenches of a participant together ----------------------------------------------------------- */

void yk_system_pack_wrenches(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    double *fresh = m->fresh, *applied = m->applied;
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant || yk_both_take_wrench(interface))
            continue;
        const yk_port_value *b =
            &yk_interface_b(system, interface)->values[interface->def.motion_port];
        yk_wrench wrench = yk_wrench_opposite(interface->kind, b, interface->origin);
        fresh = yk_wrench_pack(interface->kind, &wrench, fresh);
        applied = yk_wrench_pack(interface->kind, &interface->applied, applied);
    }
}

void yk_system_apply_wrenches(yk_system *system, int participant, const double *wrenches)
{
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant || yk_both_take_wrench(interface))
            continue;
        wrenches = yk_wrench_unpack(interface->kind, wrenches, &interface->applied);
        yk_input_constant(interface->kind, &interface->applied,
                          &system->participants[participant].inputs[interface->def.wrench_port]);
    }
}
