/* Reduced models for the scheme rim.
 *
 * A participant may report its own model (interface_model). Otherwise it is identified by trial
 * steps that are rolled back: from its velocities at the end of the macro step and their
 * derivatives with respect to constant wrenches, by step_sensitivity or by finite differences, the
 * model is W = dw/df / H and r = (w(H) - w(0)) / H - W f; the derivatives of the positions show the
 * motion in between.
 *
 * A participant whose method has a memory responds to the wrench of a macro step over several
 * steps. If a wrench were given to it as a value at the end of the step, half a step late, every
 * oscillation against a fast partner would grow. So it receives a wrench with which its velocity
 * gains the whole impulse of the macro step at once (yk_rim_method_wrench()), and its model is made
 * from the step model of its own method for that wrench: the mechanism ends where the model
 * predicted, with its stiffness as the method resolves it. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "coupling/participant.h"
#include "coupling/rim/rim.h"
#include "coupling/state.h"

/* Whether a participant reports its model. If the options request it and the participant can be
 * rolled back, the model is identified by trial steps instead. */
static bool reports_model(const yk_system *system, const yk_participant *p)
{
    if (!p->subsystem->ops->interface_model)
        return false;

    bool identified = yk_rim_of(system)->options.interface_models == YK_INTERFACE_MODEL_IDENTIFIED;
    return !identified || !yk_participant_can_return(p);
}

yk_status yk_rim_check_model(yk_system *system, int participant)
{
    const yk_rim *rim = yk_rim_of(system);
    const yk_participant *p = &system->participants[participant];
    yk_rim_participant *own = &rim->participants[participant];

    /* Partners that are called once per macro step are not faster than the participant: their
     * wrench is passed on unchanged. */
    bool identified = rim->options.interface_models == YK_INTERFACE_MODEL_IDENTIFIED;
    bool whole = p->substeps == 1 && rim->exchanges > 1 && !identified;
    own->steps = whole && p->subsystem->ops->step_model;
    if (own->steps || reports_model(system, p) || yk_participant_can_return(p))
        return YK_OK;
    return yk_fail(system->context, YK_ERROR_CAPABILITY,
                   "scheme rim needs to know how subsystem '%s' (%s) answers to wrenches, but it "
                   "neither has an interface model nor can return to an earlier state; extrapolate "
                   "its motion instead (hold, linear or quadratic)",
                   p->name, p->subsystem->ops->kind);
}

static void to_system_units(const yk_participant *p, yk_rim_participant *own)
{
    /* Rows and columns of each connected wrench port. */
    for (int port = 0; port < p->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0)
            continue;

        yk_port_kind kind = p->ports[port].kind;
        yk_interface_model *model = &own->model;
        yk_transform_rates(p->transform, kind, model->free_acceleration + offset);
        yk_transform_response(p->transform, kind, offset, own->size, model->inverse_mass);
    }
}

/* Identification ------------------------------------------------------------------------------- */

static void set_wrenches(yk_participant *p, const yk_rim_participant *own, const double *wrenches)
{
    /* Constant over the macro step. */
    for (int port = 0; port < p->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0)
            continue;

        yk_port_kind kind = p->ports[port].kind;
        yk_wrench wrench = {.force = {0, 0, 0}};
        yk_wrench_unpack(kind, wrenches + offset, &wrench);
        yk_input_constant(kind, &wrench, &p->inputs[port]);
    }
}

/* Velocities of the ports, and their positions; rotations are treated like translations. */
static void read_motion(const yk_participant *p, const yk_rim_participant *own, double *velocity,
                        double *position)
{
    /* Angles of large rotations are not additive: leave them out. */
    for (int port = 0; port < p->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0)
            continue;

        yk_port_kind kind = p->ports[port].kind;
        const yk_motion *motion = &p->values[port].motion;
        yk_wrench rates = {motion->velocity, motion->angular_velocity};
        yk_wrench positions = {motion->position, {NAN, NAN, NAN}};
        yk_wrench_pack(kind, &rates, velocity + offset);
        yk_wrench_pack(kind, &positions, position + offset);
    }
}

static yk_status try_step(yk_system *system, int participant, const double *wrenches,
                          double *velocity, double *position)
{
    /* Makes a step from the saved state, and rolls back. */
    yk_participant *p = &system->participants[participant];
    const yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    set_wrenches(p, own, wrenches);
    yk_status status = yk_system_advance_participant(system, participant);
    if (YK_FAILED(status))
        return status;

    read_motion(p, own, velocity, position);
    return yk_system_rollback_participant(system, participant);
}

/* Finds the lead: the ratio of the derivatives of positions to those of velocities times H, limited
 * to the range of known methods. */
static double lead_of(double moved, double gained)
{
    if (!(gained > 0))
        return 0.5;
    return fmin(1, fmax(0.5, moved / gained));
}

static yk_status identify_by_differences(yk_system *system, int participant)
{
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    yk_interface_model *model = &own->model;
    int n = own->size;
    double h = system->h;
    double *base = own->scratch;
    double *base_position = base + n;
    double *trial = base_position + n;
    double *position = trial + n;
    double *wrenches = position + n;

    /* The step with the present wrenches. */
    yk_status status = try_step(system, participant, own->wrenches, base, base_position);
    if (YK_FAILED(status))
        return status;

    /* A change of wrench that is small compared with the present wrenches and large compared with
     * rounding errors. */
    double largest = 0;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fabs(own->wrenches[k]));

    double change = 1e-3 * (1 + largest);

    /* W column by column; the lead from the displacements of the ports. */
    double moved = 0;
    double gained = 0;
    for (int j = 0; j < n; j++) {
        memcpy(wrenches, own->wrenches, (size_t)n * sizeof *wrenches);
        wrenches[j] = own->wrenches[j] + change;
        status = try_step(system, participant, wrenches, trial, position);
        if (YK_FAILED(status))
            return status;

        for (int i = 0; i < n; i++)
            model->inverse_mass[i * n + j] = (trial[i] - base[i]) / (h * change);
        if (isnan(position[j]))
            continue;

        double displacement = position[j] - base_position[j];
        double gain = h * (trial[j] - base[j]);
        moved += displacement * gain;
        gained += gain * gain;
    }

    for (int i = 0; i < n; i++)
        model->free_acceleration[i] = (base[i] - own->start[i]) / h;

    model->theta = lead_of(moved, gained);

    return YK_OK;
}

static yk_status identify_by_sensitivity(yk_system *system, int participant)
{
    yk_participant *p = &system->participants[participant];
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    yk_interface_model *model = &own->model;
    int n = own->size;
    double h = system->h;
    double *matrix = own->scratch;
    double *end = matrix + 3 * n * n;
    double *position = end + n;

    /* One step, with derivatives with respect to constant wrenches. */
    set_wrenches(p, own, own->wrenches);
    yk_status status = yk_system_advance_sensitive(system, participant, 0, matrix);
    if (YK_FAILED(status))
        return status;

    /* Rows of step_sensitivity: position, velocity, acceleration of each port. */
    double moved = 0;
    double gained = 0;

    for (int port = 0; port < p->port_count; port++) {
        int offset = own->offsets[port];
        int size = yk_port_freedoms(p->ports[port].kind);
        if (offset < 0)
            continue;

        for (int k = 0; k < size; k++) {
            const double *x = matrix + (3 * offset + k) * n;
            const double *v = x + size * n;

            for (int j = 0; j < n; j++)
                model->inverse_mass[(offset + k) * n + j] = v[j] / h;

            moved += x[offset + k] * h * v[offset + k];
            gained += h * v[offset + k] * h * v[offset + k];
        }
    }

    model->theta = lead_of(moved, gained);
    if (p->transform)
        to_system_units(p, own);

    read_motion(p, own, end, position);
    for (int i = 0; i < n; i++)
        model->free_acceleration[i] = (end[i] - own->start[i]) / h;

    return yk_system_rollback_participant(system, participant);
}

/* Composition from the next step --------------------------------------------------------------- */

yk_wrench yk_rim_method_wrench(const yk_system *system, int number, const yk_wrench *mean)
{
    const yk_rim *rim = yk_rim_of(system);
    const yk_interface *interface = &system->interfaces[number];
    const yk_rim_interface *own = &rim->interfaces[number];
    int slow = interface->def.wrench_subsystem.index;
    if (yk_rim_slow_port(system, number, slow) < 0)
        slow = interface->def.motion_subsystem.index;
    const yk_rim_participant *a = &rim->participants[slow];
    if (!a->steps || yk_rim_slow_port(system, number, slow) < 0)
        return *mean;

    /* mean = weight[0] f + weight[1] f1 + weight[2] f2 - memory y1, solved for f. */
    yk_port_kind kind = interface->kind;
    const double *weight = a->step.wrench_weights;
    const yk_wrench none = {.force = {0, 0, 0}};
    yk_wrench sum = yk_wrench_combine(kind, mean, a->step.memory_factor, &own->mean);
    sum = yk_wrench_combine(kind, &sum, -weight[1], &own->given[0]);
    sum = yk_wrench_combine(kind, &sum, -weight[2], &own->given[1]);

    return yk_wrench_combine(kind, &none, 1 / weight[0], &sum);
}

/* Model from the participant's own step model for the wrenches of its inputs, f0. Among the
 * wrenches F of the model, those of fast partners reach the method as (F + past) / weight
 * (yk_rim_method_wrench()), the others unchanged. */
static yk_status compose(yk_system *system, int participant)
{
    const yk_rim *rim = yk_rim_of(system);
    yk_participant *p = &system->participants[participant];
    yk_rim_participant *own = &rim->participants[participant];
    yk_step_model *step = &own->step;
    int n = own->size;
    double h = system->h;
    yk_status status = yk_system_step_model(system, participant, own->offsets, step);
    if (YK_FAILED(status))
        return status;

    /* Difference between the method's wrenches and f0 if the wrenches of the model are zero. */
    double *offset_wrench = own->scratch;
    double *scale = offset_wrench + n;
    for (int k = 0; k < n; k++) {
        offset_wrench[k] = 0;
        scale[k] = 1;
    }

    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        int port = yk_rim_slow_port(system, i, participant);
        if (port < 0)
            continue;

        int first = own->offsets[port];
        const yk_wrench none = {.force = {0, 0, 0}};
        yk_wrench past = yk_rim_method_wrench(system, i, &none);
        yk_wrench_pack(interface->kind, &past, offset_wrench + first);

        for (int k = 0; k < yk_port_freedoms(interface->kind); k++)
            scale[first + k] = 1 / step->wrench_weights[0];
    }

    /* f0 itself. */
    for (int port = 0; port < p->port_count; port++) {
        int first = own->offsets[port];
        if (first < 0)
            continue;

        yk_port_kind kind = p->ports[port].kind;
        const yk_input *input = &p->inputs[port];
        yk_wrench wrench = {input->linear[0], input->angular[0]};
        double applied[6];
        yk_wrench_pack(kind, &wrench, applied);

        for (int k = 0; k < yk_port_freedoms(kind); k++)
            offset_wrench[first + k] -= applied[k];
    }

    /* W and r of the velocities, and the additional drift of the positions. */
    for (int i = 0; i < n; i++) {
        double end = step->velocity[i];
        for (int j = 0; j < n; j++) {
            double mobility = step->mobility[i * n + j];
            end += mobility * offset_wrench[j];
            own->model.inverse_mass[i * n + j] = mobility * scale[j] / h;
        }

        own->model.free_acceleration[i] = (end - own->start[i]) / h;
        own->drift[i] = step->displacement[i] / h - step->theta * step->velocity[i] -
                        (1 - step->theta) * own->start[i];
    }

    own->model.theta = step->theta;

    return p->status;
}

yk_status yk_rim_find_model(yk_system *system, int participant)
{
    yk_participant *p = &system->participants[participant];
    yk_rim_participant *own = &yk_rim_of(system)->participants[participant];
    double begin = yk_clock_seconds();

    /* By its own step model, or by trial steps. */
    if (own->steps) {
        compose(system, participant);
    } else if (reports_model(system, p)) {
        yk_system_interface_model(system, participant, &own->model);
        if (!YK_FAILED(p->status) && p->transform)
            to_system_units(p, own);
    } else {
        /* Trial steps count as cost of the model, and not as steps of the participant. */
        yk_subsystem_statistics statistics = p->statistics;
        int64_t timed = p->timed_calls;
        bool advanced = p->advanced;
        yk_system_mark_participant(system, participant);

        yk_status status;
        if (p->subsystem->ops->sensitivity && p->substeps == 1)
            status = identify_by_sensitivity(system, participant);
        else
            status = identify_by_differences(system, participant);
        p->statistics = statistics;
        p->timed_calls = timed;
        p->advanced = advanced;

        if (!YK_FAILED(status)) {
            yk_system_gather(p);

            /* The acceleration without wrenches: r = (w(H) - w(0)) / H - W f. */
            int n = own->size;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    own->model.free_acceleration[i] -=
                        own->model.inverse_mass[i * n + j] * own->wrenches[j];

            status = YK_OK;
        }

        p->status = status;
    }

    yk_system_count_model(system, participant, begin);

    return p->status;
}
