/* Reduced models for the scheme rim.
 *
 * A member tells its own (interface_model). One that does not is asked by steps that are taken back: its velocities at
 * the end of the macro step and their derivatives by constant efforts, from step_sensitivity or by finite differences,
 * are the model's W = dw/df / H and r = (w(H) - w(0)) / H - W f; those of the positions tell how it moves in between.
 *
 * A member whose method has a memory answers to the effort of a macro step over several. With an effort that is given to it
 * as a value at the end of the step, half a step late, every swing against a fast partner would grow. So it is given what
 * makes its velocity gain the whole impulse of the macro step at once (yk_rim_feed), and its model is made of what its
 * own method says of the step with that (step_model): the mechanism ends where the model said, with its stiffness as the
 * method sees it. */
#include <math.h>

#include "base/clock.h"
#include "coupling/interface.h"
#include "coupling/placement.h"
#include "coupling/rim.h"

static bool can_return(const yk_member *m)
{
    const yk_subsystem_ops *ops = m->subsystem->ops;
    return ops->state_layout && ops->state_get && ops->state_set;
}

static bool tells(const yk_system *system, const yk_member *m)
{
    return m->subsystem->ops->interface_model && !(system->scheme.rim.identified && can_return(m));
}

static bool can_differentiate(const yk_member *m)
{
    return m->subsystem->ops->step_sensitivity && m->substeps == 1;
}

yk_status yk_rim_check_model(yk_system *system, int member)
{
    const yk_member *m = &system->members[member];
    /* Partners that are called once per macro step are not faster than the member: their effort is handed over as it is. */
    bool whole = m->substeps == 1 && system->rim->exchanges > 1 && !system->scheme.rim.identified;
    system->rim->members[member].steps = whole && m->subsystem->ops->step_model;
    if (system->rim->members[member].steps) return YK_OK;
    if (tells(system, m) || can_return(m)) return YK_OK;
    return yk_fail(system->context, YK_ERROR_CAPABILITY,
                   "scheme rim needs to know how subsystem '%s' (%s) answers to efforts, but it neither tells an "
                   "interface model nor can it return to an earlier state; choose coupling.extrapolation hold, linear "
                   "or quadratic",
                   m->name, m->subsystem->ops->kind);
}

/* Units ------------------------------------------------------------------------------------------------------------ */

static void to_system_units(const yk_member *m, yk_rim_member *own)
{
    for (int port = 0; port < m->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0) continue;
        yk_placement_rates(m->placement, m->ports[port].kind, own->model.rate + offset);
        yk_placement_response(m->placement, m->ports[port].kind, offset, own->size, own->model.inverse_mass);
    }
}

/* Identification --------------------------------------------------------------------------------------------------- */

static void set_efforts(yk_system *system, int member, const double *efforts)
{
    yk_member *m = &system->members[member];
    const yk_rim_member *own = &system->rim->members[member];
    for (int port = 0; port < m->port_count; port++) {
        if (own->offsets[port] < 0) continue;
        yk_effort effort = {.force = {0, 0, 0}};
        yk_effort_unpack(m->ports[port].kind, efforts + own->offsets[port], &effort);
        yk_input_constant(m->ports[port].kind, &effort, &m->inputs[port]);
    }
}

/* Velocities of the ports, and how far they came: half of the scratch each. */
static void read_motion(const yk_member *m, const yk_rim_member *own, double *velocity, double *position)
{
    for (int port = 0; port < m->port_count; port++) {
        if (own->offsets[port] < 0) continue;
        const yk_motion *motion = &m->values[port].motion;
        double *v = velocity + own->offsets[port], *x = position + own->offsets[port];
        v[0] = motion->velocity.x, x[0] = motion->position.x;
        if (m->ports[port].kind == YK_PORT_SCALAR) continue;
        v[1] = motion->velocity.y, v[2] = motion->velocity.z;
        v[3] = motion->angular_velocity.x, v[4] = motion->angular_velocity.y, v[5] = motion->angular_velocity.z;
        x[1] = motion->position.y, x[2] = motion->position.z;
        x[3] = x[4] = x[5] = NAN; /* rotations follow as translations do */
    }
}

static yk_status try_step(yk_system *system, int member, const double *efforts, double *velocity, double *position)
{
    yk_member *m = &system->members[member];
    set_efforts(system, member, efforts);
    yk_status status = yk_system_advance(system, member);
    if (status < 0) return status;
    read_motion(m, &system->rim->members[member], velocity, position);
    return m->status = m->subsystem->ops->state_set(m->subsystem, m->mark);
}

/* A change of effort that is small beside those that act and large beside rounding. */
static double probe(const yk_rim_member *own)
{
    double largest = 0;
    for (int k = 0; k < own->size; k++) largest = fmax(largest, fabs(own->efforts[k]));
    return 1e-3 * (1 + largest);
}

/* lead: of the derivatives of positions by those of velocities over H, kept to what methods do. */
static double lead_of(double moved, double gained)
{
    if (!(gained > 0)) return 0.5;
    return fmin(1, fmax(0.5, moved / gained));
}

static yk_status identify_by_differences(yk_system *system, int member)
{
    yk_rim_member *own = &system->rim->members[member];
    int n = own->size;
    double *base = own->scratch, *base_place = base + n, *trial = base_place + n, *place = trial + n,
           *efforts = place + n;
    double h = system->h, change = probe(own), moved = 0, gained = 0;
    yk_status status = try_step(system, member, own->efforts, base, base_place);
    for (int j = 0; j < n && status >= 0; j++) {
        for (int k = 0; k < n; k++) efforts[k] = own->efforts[k] + (k == j ? change : 0);
        status = try_step(system, member, efforts, trial, place);
        if (status < 0) break;
        for (int i = 0; i < n; i++) own->model.inverse_mass[i * n + j] = (trial[i] - base[i]) / (h * change);
        if (isnan(place[j])) continue;
        double way = place[j] - base_place[j], gain = h * (trial[j] - base[j]);
        moved += way * gain, gained += gain * gain;
    }
    if (status < 0) return status;
    for (int i = 0; i < n; i++) own->model.rate[i] = (base[i] - own->start[i]) / h;
    own->model.lead = lead_of(moved, gained);
    return YK_OK;
}

/* Rows of step_sensitivity: position, velocity, acceleration of each port. */
static void take_sensitivity(const yk_member *m, yk_rim_member *own, double h, const double *matrix)
{
    int n = own->size;
    double moved = 0, gained = 0;
    for (int port = 0; port < m->port_count; port++) {
        int offset = own->offsets[port], size = m->ports[port].kind == YK_PORT_SCALAR ? 1 : 6;
        if (offset < 0) continue;
        for (int k = 0; k < size; k++) {
            const double *x = matrix + (3 * offset + k) * n, *v = matrix + (3 * offset + size + k) * n;
            for (int j = 0; j < n; j++) own->model.inverse_mass[(offset + k) * n + j] = v[j] / h;
            moved += x[offset + k] * h * v[offset + k];
            gained += h * v[offset + k] * h * v[offset + k];
        }
    }
    own->model.lead = lead_of(moved, gained);
}

static yk_status identify_by_sensitivity(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    yk_rim_member *own = &system->rim->members[member];
    int n = own->size;
    double *matrix = own->scratch, *end = matrix + 3 * n * n, *place = end + n;
    set_efforts(system, member, own->efforts);
    yk_status status = yk_system_advance_sensitive(system, member, 0, matrix);
    if (status < 0) return status;
    take_sensitivity(m, own, system->h, matrix);
    if (m->placement) to_system_units(m, own);
    read_motion(m, own, end, place);
    for (int i = 0; i < n; i++) own->model.rate[i] = (end[i] - own->start[i]) / system->h;
    return m->status = m->subsystem->ops->state_set(m->subsystem, m->mark);
}

/* Trial steps are the model's cost, and not steps of the member. */
static yk_status identify(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    yk_rim_member *own = &system->rim->members[member];
    yk_subsystem_statistics statistics = m->statistics;
    int64_t timed = m->timed_calls;
    bool advanced = m->advanced;
    m->subsystem->ops->state_get(m->subsystem, m->mark);
    yk_status status =
        can_differentiate(m) ? identify_by_sensitivity(system, member) : identify_by_differences(system, member);
    m->statistics = statistics;
    m->timed_calls = timed;
    m->advanced = advanced;
    if (status < 0) return status;
    yk_system_gather(m);
    int n = own->size;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) own->model.rate[i] -= own->model.inverse_mass[i * n + j] * own->efforts[j];
    return YK_OK;
}

yk_effort yk_rim_feed(const yk_system *system, int link, const yk_effort *mean)
{
    const yk_link *l = &system->links[link];
    const yk_rim_link *own = &system->rim->links[link];
    const yk_rim_member *a = &system->rim->members[l->def.effort_subsystem];
    if (!a->steps || own->role != YK_RIM_MODELLED) return *mean;
    const double *weight = a->step.weight;
    const yk_effort none = {.force = {0, 0, 0}};
    yk_effort sum = yk_effort_combine(l->kind, mean, a->step.memory, &own->mean);
    sum = yk_effort_combine(l->kind, &sum, -weight[1], &own->given[0]);
    sum = yk_effort_combine(l->kind, &sum, -weight[2], &own->given[1]);
    return yk_effort_combine(l->kind, &none, 1 / weight[0], &sum);
}

/* From what the member says of its step with the efforts of its inputs, f0. Of the efforts F of the model those of fast
 * partners reach the method as (F + past) / weight (yk_rim_feed), the others as they are. */
static yk_status compose(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    yk_rim_member *own = &system->rim->members[member];
    yk_step_model *step = &own->step;
    int n = own->size;
    double h = system->h, *fed = own->scratch, *scale = fed + n;
    m->status = m->subsystem->ops->step_model(m->subsystem, system->t, h, yk_system_inputs(system, member), step);
    if (m->status < 0) return m->status;
    for (int port = 0; m->placement && port < m->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0) continue;
        yk_placement_rates(m->placement, m->ports[port].kind, step->velocity + offset);
        yk_placement_rates(m->placement, m->ports[port].kind, step->displacement + offset);
        yk_placement_response(m->placement, m->ports[port].kind, offset, n, step->mobility);
    }

    /* How far the method's efforts are from f0 where those of the model are zero. */
    for (int k = 0; k < n; k++) fed[k] = 0, scale[k] = 1;
    for (int i = 0; i < system->link_count; i++) {
        const yk_link *link = &system->links[i];
        if (link->def.effort_subsystem != member || system->rim->links[i].role != YK_RIM_MODELLED) continue;
        const yk_effort none = {.force = {0, 0, 0}};
        yk_effort past = yk_rim_feed(system, i, &none);
        int offset = own->offsets[link->def.effort_port];
        double *end = yk_effort_pack(link->kind, &past, fed + offset);
        for (double *at = fed + offset; at < end; at++) scale[at - fed] = 1 / step->weight[0];
    }
    for (int port = 0; port < m->port_count; port++) {
        int offset = own->offsets[port];
        if (offset < 0) continue;
        const yk_signal *input = &m->inputs[port];
        yk_effort effort = {input->linear[0], input->angular[0]};
        double applied[6], *end = yk_effort_pack(m->ports[port].kind, &effort, applied);
        for (double *at = applied; at < end; at++) fed[offset + (at - applied)] -= *at;
    }

    for (int i = 0; i < n; i++) {
        double end = step->velocity[i];
        for (int j = 0; j < n; j++) {
            end += step->mobility[i * n + j] * fed[j];
            own->model.inverse_mass[i * n + j] = step->mobility[i * n + j] * scale[j] / h;
        }
        own->model.rate[i] = (end - own->start[i]) / h;
        own->drift[i] = step->displacement[i] / h - step->lead * step->velocity[i] - (1 - step->lead) * own->start[i];
    }
    own->model.lead = step->lead;
    return m->status;
}

yk_status yk_rim_find_model(yk_system *system, int member)
{
    yk_member *m = &system->members[member];
    yk_rim_member *own = &system->rim->members[member];
    double begin = yk_clock_seconds();
    if (own->steps) {
        compose(system, member);
    } else if (tells(system, m)) {
        m->status = m->subsystem->ops->interface_model(m->subsystem, system->t, system->h,
                                                       yk_system_inputs(system, member), &own->model);
        if (m->status >= 0 && m->placement) to_system_units(m, own);
    } else {
        m->status = identify(system, member);
    }
    m->statistics.model_seconds += yk_clock_seconds() - begin;
    m->statistics.model_calls++;
    return m->status;
}
