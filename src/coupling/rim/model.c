/* Reduced models for the scheme rim.
 *
 * A participant tells its own (interface_model). One that does not is asked by steps that are
 * taken back: its velocities at the end of the macro step and their derivatives by constant
 * wrenches, from step_sensitivity or by finite differences, are the model's W = dw/df / H and r =
 * (w(H) - w(0)) / H - W f; those of the positions tell how it moves in between.
 *
 * A participant whose method has a memory answers to the wrench of a macro step over several.
 * With a wrench that is given to it as a value at the end of the step, half a step late, every
 * swing against a fast partner would grow. So it is given what makes its velocity gain the whole
 * impulse of the macro step at once (yk_rim_method_wrench), and its model is made of what its own
 * method says of the step with that (step_model): the mechanism ends where the model said, with
 * its stiffness as the method sees it. */
#include <math.h>

#include "base/clock.h"
#include "coupling/interface.h"
#include "coupling/rim/rim.h"

static bool known(const yk_system *system, const yk_participant *m)
{
    return m->subsystem->ops->interface_model &&
           !((yk_rim_of(system)->options.models == YK_RIM_MODELS_IDENTIFIED) &&
             yk_participant_can_return(m));
}

static bool can_differentiate(const yk_participant *m)
{
    return m->subsystem->ops->sensitivity && m->substeps == 1;
}

yk_status yk_rim_check_model(yk_system *system, int participant)
{
    const yk_participant *m = &system->participants[participant];
    /* Partners that are called once per macro step are not faster than the participant: their
     * wrench is handed over as it is. */
    bool whole = m->substeps == 1 && yk_rim_of(system)->exchanges > 1 &&
                 !(yk_rim_of(system)->options.models == YK_RIM_MODELS_IDENTIFIED);
    yk_rim_of(system)->participants[participant].steps = whole && m->subsystem->ops->step_model;
    if (yk_rim_of(system)->participants[participant].steps)
        return YK_OK;
    if (known(system, m) || yk_participant_can_return(m))
        return YK_OK;
    return yk_fail(system->context, YK_ERROR_CAPABILITY,
                   "scheme rim needs to know how subsystem '%s' (%s) answers to wrenches, but it "
                   "neither has an "
                   "interface model nor can return to an earlier state; extrapolate its motion "
                   "instead (hold, linear or "
                   "quadratic)",
                   m->name, m->subsystem->ops->kind);
}

/* Units ---------------------------------------------------------------------------------------- */

static void to_system_units(const yk_participant *m, yk_rim_participant *own)
{
    for (int port = 0; port < m->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0)
            continue;
        yk_transform_rates(m->transform, m->ports[port].kind, own->model.rate + offset);
        yk_transform_response(m->transform, m->ports[port].kind, offset, own->size,
                              own->model.inverse_mass);
    }
}

/* Identification ------------------------------------------------------------------------------- */

static void set_wrenches(yk_system *system, int participant, const double *wrenches)
{
    yk_participant *m = &system->participants[participant];
    const yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    for (int port = 0; port < m->port_count; port++) {
        if (own->offsets[port] < 0)
            continue;
        yk_wrench wrench = {.force = {0, 0, 0}};
        yk_wrench_unpack(m->ports[port].kind, wrenches + own->offsets[port], &wrench);
        yk_input_constant(m->ports[port].kind, &wrench, &m->inputs[port]);
    }
}

/* Velocities of the ports, and how far they came: half of the scratch each. */
static void read_motion(const yk_participant *m, const yk_rim_participant *own, double *velocity,
                        double *position)
{
    for (int port = 0; port < m->port_count; port++) {
        if (own->offsets[port] < 0)
            continue;
        const yk_motion *motion = &m->values[port].motion;
        double *v = velocity + own->offsets[port], *x = position + own->offsets[port];
        v[0] = motion->velocity.x, x[0] = motion->position.x;
        if (m->ports[port].kind == YK_PORT_SCALAR)
            continue;
        v[1] = motion->velocity.y, v[2] = motion->velocity.z;
        v[3] = motion->angular_velocity.x, v[4] = motion->angular_velocity.y,
        v[5] = motion->angular_velocity.z;
        x[1] = motion->position.y, x[2] = motion->position.z;
        x[3] = x[4] = x[5] = NAN; /* rotations follow as translations do */
    }
}

static yk_status try_step(yk_system *system, int participant, const double *wrenches,
                          double *velocity, double *position)
{
    yk_participant *m = &system->participants[participant];
    set_wrenches(system, participant, wrenches);
    yk_status status = yk_system_advance(system, participant);
    if (status < 0)
        return status;
    read_motion(m, &yk_rim_of(system)->participants[participant], velocity, position);
    return yk_system_rewind(system, participant);
}

/* A change of wrench that is small beside those that act and large beside rounding. */
static double probe(const yk_rim_participant *own)
{
    double largest = 0;
    for (int k = 0; k < own->size; k++)
        largest = fmax(largest, fabs(own->wrenches[k]));
    return 1e-3 * (1 + largest);
}

/* lead: of the derivatives of positions by those of velocities over H, kept to what methods do. */
static double lead_of(double moved, double gained)
{
    if (!(gained > 0))
        return 0.5;
    return fmin(1, fmax(0.5, moved / gained));
}

static yk_status identify_by_differences(yk_system *system, int participant)
{
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    int n = own->size;
    double *base = own->scratch, *base_index = base + n, *trial = base_index + n,
           *index = trial + n, *wrenches = index + n;
    double h = system->h, change = probe(own), moved = 0, gained = 0;
    yk_status status = try_step(system, participant, own->wrenches, base, base_index);
    for (int j = 0; j < n && status >= 0; j++) {
        for (int k = 0; k < n; k++)
            wrenches[k] = own->wrenches[k] + (k == j ? change : 0);
        status = try_step(system, participant, wrenches, trial, index);
        if (status < 0)
            break;
        for (int i = 0; i < n; i++)
            own->model.inverse_mass[i * n + j] = (trial[i] - base[i]) / (h * change);
        if (isnan(index[j]))
            continue;
        double displacement = index[j] - base_index[j], gain = h * (trial[j] - base[j]);
        moved += displacement * gain, gained += gain * gain;
    }
    if (status < 0)
        return status;
    for (int i = 0; i < n; i++)
        own->model.rate[i] = (base[i] - own->start[i]) / h;
    own->model.lead = lead_of(moved, gained);
    return YK_OK;
}

/* Rows of step_sensitivity: position, velocity, acceleration of each port. */
static void take_sensitivity(const yk_participant *m, yk_rim_participant *own, double h,
                             const double *matrix)
{
    int n = own->size;
    double moved = 0, gained = 0;
    for (int port = 0; port < m->port_count; port++) {
        int offset = own->offsets[port], size = yk_port_freedoms(m->ports[port].kind);
        if (offset < 0)
            continue;
        for (int k = 0; k < size; k++) {
            const double *x = matrix + (3 * offset + k) * n,
                         *v = matrix + (3 * offset + size + k) * n;
            for (int j = 0; j < n; j++)
                own->model.inverse_mass[(offset + k) * n + j] = v[j] / h;
            moved += x[offset + k] * h * v[offset + k];
            gained += h * v[offset + k] * h * v[offset + k];
        }
    }
    own->model.lead = lead_of(moved, gained);
}

static yk_status identify_by_sensitivity(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    int n = own->size;
    double *matrix = own->scratch, *end = matrix + 3 * n * n, *index = end + n;
    set_wrenches(system, participant, own->wrenches);
    yk_status status = yk_system_advance_sensitive(system, participant, 0, matrix);
    if (status < 0)
        return status;
    take_sensitivity(m, own, system->h, matrix);
    if (m->transform)
        to_system_units(m, own);
    read_motion(m, own, end, index);
    for (int i = 0; i < n; i++)
        own->model.rate[i] = (end[i] - own->start[i]) / system->h;
    return yk_system_rewind(system, participant);
}

/* Trial steps are the model's cost, and not steps of the participant. */
static yk_status identify(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    yk_subsystem_statistics statistics = m->statistics;
    int64_t timed = m->timed_calls;
    bool advanced = m->advanced;
    yk_system_mark_participant(system, participant);
    yk_status status = can_differentiate(m) ? identify_by_sensitivity(system, participant)
                                            : identify_by_differences(system, participant);
    m->statistics = statistics;
    m->timed_calls = timed;
    m->advanced = advanced;
    if (status < 0)
        return status;
    yk_system_gather(m);
    int n = own->size;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            own->model.rate[i] -= own->model.inverse_mass[i * n + j] * own->wrenches[j];
    return YK_OK;
}

yk_wrench yk_rim_method_wrench(const yk_system *system, int interface, const yk_wrench *mean)
{
    const yk_interface *l = &system->interfaces[interface];
    const yk_rim_interface *own = &yk_rim_of(system)->interfaces[interface];
    const yk_rim_participant *a = &yk_rim_of(system)->participants[l->def.wrench_subsystem];
    if (!a->steps || own->role != YK_RIM_MODELLED)
        return *mean;
    const double *weight = a->step.weight;
    const yk_wrench none = {.force = {0, 0, 0}};
    yk_wrench sum = yk_wrench_combine(l->kind, mean, a->step.memory, &own->mean);
    sum = yk_wrench_combine(l->kind, &sum, -weight[1], &own->given[0]);
    sum = yk_wrench_combine(l->kind, &sum, -weight[2], &own->given[1]);
    return yk_wrench_combine(l->kind, &none, 1 / weight[0], &sum);
}

/* From what the participant says of its step with the wrenches of its inputs, f0. Of the wrenches
 * F of the model those of fast partners reach the method as (F + past) / weight
 * (yk_rim_method_wrench), the others as they are. */
static yk_status compose(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    yk_step_model *step = &own->step;
    int n = own->size;
    double h = system->h, *fed = own->scratch, *scale = fed + n;
    yk_status given = yk_system_step_model(system, participant, own->offsets, step);
    if (given < 0)
        return given;

    /* How far the method's wrenches are from f0 where those of the model are zero. */
    for (int k = 0; k < n; k++)
        fed[k] = 0, scale[k] = 1;
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        if (interface->def.wrench_subsystem != participant ||
            yk_rim_of(system)->interfaces[i].role != YK_RIM_MODELLED)
            continue;
        const yk_wrench none = {.force = {0, 0, 0}};
        yk_wrench past = yk_rim_method_wrench(system, i, &none);
        int offset = own->offsets[interface->def.wrench_port];
        double *end = yk_wrench_pack(interface->kind, &past, fed + offset);
        for (double *at = fed + offset; at < end; at++)
            scale[at - fed] = 1 / step->weight[0];
    }
    for (int port = 0; port < m->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0)
            continue;
        const yk_input *input = &m->inputs[port];
        yk_wrench wrench = {input->linear[0], input->angular[0]};
        double applied[6], *end = yk_wrench_pack(m->ports[port].kind, &wrench, applied);
        for (double *at = applied; at < end; at++)
            fed[offset + (at - applied)] -= *at;
    }

    for (int i = 0; i < n; i++) {
        double end = step->velocity[i];
        for (int j = 0; j < n; j++) {
            end += step->mobility[i * n + j] * fed[j];
            own->model.inverse_mass[i * n + j] = step->mobility[i * n + j] * scale[j] / h;
        }
        own->model.rate[i] = (end - own->start[i]) / h;
        own->drift[i] = step->displacement[i] / h - step->lead * step->velocity[i] -
                        (1 - step->lead) * own->start[i];
    }
    own->model.lead = step->lead;
    return m->status;
}

yk_status yk_rim_find_model(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    double begin = yk_clock_seconds();
    if (own->steps) {
        compose(system, participant);
    } else if (known(system, m)) {
        yk_system_interface_model(system, participant, &own->model);
        if (m->status >= 0 && m->transform)
            to_system_units(m, own);
    } else {
        m->status = identify(system, participant);
    }
    yk_system_count_model(system, participant, begin);
    return m->status;
}
