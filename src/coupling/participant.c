/* One participant of a system: its inputs in its own units, a step or several substeps with them,
 * and its outputs.
 *
 * Every call of a subsystem for a step lies between begin_call and end_call, which keep the time
 * that it took and read the outputs. The wrench of a participant with substeps is the mean over
 * them: what its partner receives is then the whole impulse. */
#include <string.h>

#include "base/clock.h"
#include "coupling/system.h"

/* Steps that are shorter than this (s) are timed only now and then: reading the clock would cost
 * more than they do. */
static const double SHORT_STEP = 5e-6;
enum { TIMING_STRIDE = 64 };

bool yk_follows_polynomials(const yk_subsystem *subsystem)
{
    const yk_subsystem_ops *ops = subsystem->ops;
    return ops->input_degree && ops->input_degree(subsystem) >= YK_INPUT_DEGREE_MAX;
}

/* Inputs and outputs --------------------------------------------------------------------------- */

void yk_system_gather(yk_participant *m)
{
    /* In the system's units and axes, whatever those of the subsystem are. */
    for (int port = 0; port < m->port_count; port++) {
        yk_port_value *value = &m->values[port];
        m->subsystem->ops->output(m->subsystem, port, value);
        if (m->transform)
            yk_transform_value(m->transform, m->ports[port].kind, value);
    }

    yk_wires_read(m);
}

/* Fills the inputs as the subsystem takes them, from `offset` on in the step. */
static void make_own_inputs(yk_system *system, yk_participant *m, double offset)
{
    const yk_scheme_ops *scheme = system->scheme->ops;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        bool first = yk_interface_a(system, interface) == m;
        if (!first && yk_interface_b(system, interface) != m)
            continue;

        /* Which of its ports, and what it takes there. */
        int side = 0;
        int port = interface->def.wrench_port;
        yk_causality causality = YK_TAKES_WRENCH;
        if (!first) {
            side = 1;
            port = interface->def.motion_port;
            causality = interface->takes;
        }

        /* What acts over the substep is the scheme's choice, or the input as it stands. */
        yk_input input;
        if (m->shaped && causality == YK_TAKES_WRENCH)
            input = scheme->substep_input(system->scheme, system, i, side, offset);
        else
            input = yk_input_shift(&m->inputs[port], interface->kind, offset);

        yk_input *own = &m->own_inputs[port];
        if (m->transform)
            yk_transform_input(m->transform, interface->kind, causality, &input, own);
        else
            *own = input;
    }

    /* Signals have no units and no axes. */
    for (int i = 0; i < system->wire_count; i++) {
        const yk_wire_def *def = &system->wires[i].def;
        if (&system->participants[def->target_subsystem] != m)
            continue;

        const yk_input *signal = &m->inputs[def->target_port];
        m->own_inputs[def->target_port] = yk_input_shift(signal, YK_PORT_SIGNAL, offset);
    }
}

static inline const yk_input *inputs_from(yk_system *system, yk_participant *m, double offset)
{
    /* Most participants take the inputs as they are. */
    if (!m->transform && !m->shaped && offset == 0)
        return m->inputs;

    make_own_inputs(system, m, offset);
    return m->own_inputs;
}

const yk_input *yk_system_inputs(yk_system *system, int participant)
{
    return inputs_from(system, &system->participants[participant], 0);
}

/* Steps ---------------------------------------------------------------------------------------- */

/* The time at which a call begins, 0 where it is not measured. */
static inline double begin_call(const yk_participant *m)
{
    const yk_subsystem_statistics *s = &m->statistics;
    bool timed = s->calls % TIMING_STRIDE == 0 || s->seconds > SHORT_STEP * (double)m->timed_calls;
    if (!timed)
        return 0;
    return yk_clock_seconds();
}

static inline yk_status end_call(yk_system *system, yk_participant *m, int substeps, double begin)
{
    /* What it cost. */
    yk_subsystem_statistics *s = &m->statistics;
    if (begin > 0) {
        s->seconds += yk_clock_seconds() - begin;
        m->timed_calls++;
    }

    s->calls++;
    s->steps += substeps;

    /* Partners receive the mean of all substeps. */
    yk_system_gather(m);
    if (substeps > 1) {
        for (int port = 0; port < m->port_count; port++)
            m->values[port].wrench = m->mean_wrenches[port];

        yk_wires_read(m);
    } else if (system->substep) {
        system->substep(system->scheme, system, (int)(m - system->participants), 1);
    }

    m->advanced = true;
    return m->status;
}

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
        const yk_port_value *value = &m->values[port];
        yk_wrench *sum = &m->mean_wrenches[port];
        yk_vec3 force = value->wrench.force;
        if (mean)
            force = sum->force;

        yk_vec3 followed = yk_input_motion(&m->inputs[port], YK_PORT_MARKER, t).position;
        yk_vec3 arm = yk_v3_sub(value->motion.position, followed);
        sum->torque = yk_v3_axpy(factor, yk_v3_cross(arm, force), sum->torque);
    }
}

static yk_status make_substeps(yk_system *system, yk_participant *m, double t, double whole,
                               int substeps)
{
    int participant = (int)(m - system->participants);
    double h = whole / substeps;
    double fraction = 1.0 / substeps;
    bool arms = system->traits & YK_SCHEME_MOVES_TORQUES;
    yk_status worst = YK_OK;
    memset(m->mean_wrenches, 0, (size_t)m->port_count * sizeof *m->mean_wrenches);
    yk_ledger_begin_substeps(m);

    for (int i = 0; i < substeps; i++) {
        /* The inputs from the start of the substep on. */
        const yk_input *inputs = inputs_from(system, m, i * h);
        yk_status status = m->subsystem->ops->step(m->subsystem, t + i * h, h, inputs);
        if (YK_FAILED(status))
            return status;
        if (status > worst)
            worst = status;

        /* Mean wrench and work are sums over the substeps. */
        yk_system_gather(m);
        for (int port = 0; port < m->port_count; port++) {
            yk_wrench *sum = &m->mean_wrenches[port];
            const yk_wrench *wrench = &m->values[port].wrench;
            *sum = yk_wrench_combine(m->ports[port].kind, sum, fraction, wrench);
        }

        if (arms)
            add_arms(system, m, (i + 1) * h, fraction, false);
        yk_ledger_add_substep(m, h);

        if (system->substep)
            system->substep(system->scheme, system, participant, i + 1);
    }

    /* As a wrench at its own marker where that is now. */
    if (arms)
        add_arms(system, m, whole, -1, true);
    return worst;
}

static inline yk_status make_step(yk_system *system, yk_participant *m, double t, double h,
                                  int substeps)
{
    if (substeps > 1)
        return make_substeps(system, m, t, h, substeps);
    return m->subsystem->ops->step(m->subsystem, t, h, inputs_from(system, m, 0));
}

yk_status yk_system_advance(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    double begin = begin_call(m);
    if (system->substep)
        system->substep(system->scheme, system, participant, 0);
    m->status = make_step(system, m, system->t, system->h, m->substeps);

    return end_call(system, m, m->substeps, begin);
}

yk_status yk_system_advance_part(yk_system *system, int participant, double offset, double h,
                                 int substeps)
{
    yk_participant *m = &system->participants[participant];
    double begin = begin_call(m);
    if (system->substep)
        system->substep(system->scheme, system, participant, 0);
    m->status = make_step(system, m, system->t + offset, h, substeps);

    return end_call(system, m, substeps, begin);
}

yk_status yk_system_advance_prepared(yk_system *system, int participant, yk_preparation prepare,
                                     void *user)
{
    yk_participant *m = &system->participants[participant];
    double begin = begin_call(m);
    if (system->substep)
        system->substep(system->scheme, system, participant, 0);

    /* What prepares the step may fail for it. */
    m->status = YK_OK;
    if (prepare)
        m->status = prepare(system, participant, user);
    if (!YK_FAILED(m->status))
        m->status = make_step(system, m, system->t, system->h, m->substeps);
    return end_call(system, m, m->substeps, begin);
}

yk_status yk_system_advance_sensitive(yk_system *system, int participant, int degree,
                                      double *sensitivity)
{
    yk_participant *m = &system->participants[participant];
    const yk_sensitivity_ops *ops = m->subsystem->ops->sensitivity;
    double begin = begin_call(m);
    if (system->substep)
        system->substep(system->scheme, system, participant, 0);
    const yk_input *inputs = inputs_from(system, m, 0);
    m->status = ops->step(m->subsystem, system->t, system->h, inputs, degree, sensitivity);

    return end_call(system, m, 1, begin);
}

yk_status yk_system_iterate(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    const yk_iteration_ops *ops = m->subsystem->ops->iteration;
    double begin = begin_call(m);
    const yk_input *inputs = inputs_from(system, m, 0);
    yk_iteration report;
    m->status = ops->iterate(m->subsystem, system->t, system->h, inputs, &report);

    return end_call(system, m, 1, begin);
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

int yk_system_number_velocities(const yk_system *system, int participant, int *offsets)
{
    const yk_participant *m = &system->participants[participant];
    for (int port = 0; port < m->port_count; port++)
        offsets[port] = -1;

    /* Which ports take a wrench ... */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_interface_def *def = &interface->def;
        if (def->wrench_subsystem == participant)
            offsets[def->wrench_port] = 0;
        if (def->motion_subsystem == participant && yk_both_take_wrench(interface))
            offsets[def->motion_port] = 0;
    }

    /* ... and where their velocities begin, in the order of the ports, whatever that of the
     * interfaces is. */
    int size = 0;
    for (int port = 0; port < m->port_count; port++) {
        if (offsets[port] < 0)
            continue;

        offsets[port] = size;
        size += yk_port_freedoms(m->ports[port].kind);
    }

    return size;
}

yk_status yk_system_step_model(yk_system *system, int participant, const int *offsets,
                               yk_step_model *model)
{
    yk_participant *m = &system->participants[participant];
    const yk_step_model_ops *ops = m->subsystem->ops->step_model;
    const yk_input *inputs = yk_system_inputs(system, participant);
    m->status = ops->evaluate(m->subsystem, system->t, system->h, inputs, model);
    if (!YK_FAILED(m->status))
        yk_participant_transform_step_model(m, offsets, model);
    return m->status;
}

void yk_participant_transform_step_model(const yk_participant *m, const int *offsets,
                                         yk_step_model *model)
{
    /* Rows and columns of each port that takes a wrench, by its own units and axes. */
    if (!m->transform)
        return;

    for (int port = 0; port < m->port_count; port++) {
        int offset = offsets[port];
        if (offset < 0)
            continue;

        yk_port_kind kind = m->ports[port].kind;
        yk_transform_rates(m->transform, kind, model->velocity + offset);
        yk_transform_rates(m->transform, kind, model->displacement + offset);
        yk_transform_response(m->transform, kind, offset, model->size, model->mobility);
    }
}

yk_status yk_system_interface_model(yk_system *system, int participant, yk_interface_model *model)
{
    yk_participant *m = &system->participants[participant];
    const yk_interface_model_ops *ops = m->subsystem->ops->interface_model;
    const yk_input *inputs = yk_system_inputs(system, participant);
    m->status = ops->evaluate(m->subsystem, system->t, system->h, inputs, model);

    return m->status;
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
    /* What the motion sides last needed, in the order of the interfaces. */
    double *fresh = m->fresh;
    double *applied = m->applied;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant || yk_both_take_wrench(interface))
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
    const yk_participant *m = &system->participants[participant];
    for (int i = 0; i < system->interface_count; i++) {
        yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant || yk_both_take_wrench(interface))
            continue;

        yk_input *input = &m->inputs[interface->def.wrench_port];
        wrenches = yk_wrench_unpack(interface->kind, wrenches, &interface->applied);
        yk_input_constant(interface->kind, &interface->applied, input);
    }
}
