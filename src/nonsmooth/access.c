/* Access while the solver runs: states of the bodies, wrenches on them, and gravity (yk_body_ops, yk_parameter_ops). Bodies have the ids that the
 * builder returned; a wrench acts about the origin of a body, which is its center of mass. */
#include <float.h>
#include <math.h>

#include "nonsmooth/world.h"

static const yk_nonsmooth *const_world_of(const yk_subsystem *self)
{
    return (const yk_nonsmooth *)self;
}

static int count_bodies(const yk_subsystem *self)
{
    return (int)const_world_of(self)->model.body_count;
}

static const char *name_body(const yk_subsystem *self, int body)
{
    return const_world_of(self)->model.names[body];
}

static void read_bodies(const yk_subsystem *subsystem, int first, int count, yk_body_state *states)
{
    const yk_nonsmooth *self = const_world_of(subsystem);
    for (int i = 0; i < count; i++) {
        size_t slot = yk_world_body_index(&self->model, (size_t)(first + i));
        states[i] = self->state.bodies[slot];
        if (yk_world_is_absent(&self->model, &self->state, (int32_t)slot))
            states[i].position = yk_v3(NAN, NAN, NAN);
    }
}

static yk_status allocate_pushes(yk_nonsmooth *self)
{
    yk_pushes *pushes = &self->pushes;
    size_t bodies = self->model.body_count;
    if (pushes->wrenches)
        return YK_OK;

    /* Models without forces and ports have no sum of the applied wrenches. */
    if (!self->step.applied) {
        pushes->applied = yk_allocate(self->context, bodies, sizeof *pushes->applied);
        if (!pushes->applied)
            return YK_ERROR_MEMORY;
    }
    pushes->slots = yk_allocate(self->context, bodies, sizeof *pushes->slots);
    pushes->wrenches = yk_allocate(self->context, bodies, sizeof *pushes->wrenches);
    if (!pushes->slots || !pushes->wrenches) {
        yk_world_release_pushes(self);
        return YK_ERROR_MEMORY;
    }
    if (pushes->applied)
        self->step.applied = pushes->applied;
    return YK_OK;
}

void yk_world_release_pushes(yk_nonsmooth *self)
{
    yk_pushes *pushes = &self->pushes;
    if (pushes->applied && self->step.applied == pushes->applied)
        self->step.applied = NULL;
    yk_free(self->context, pushes->applied);
    yk_free(self->context, pushes->slots);
    yk_free(self->context, pushes->wrenches);
    *pushes = (yk_pushes){0};
}

/* Whether a wrench has an effect: it moves the body, or changes the wrench with which a port
 * answers to a prescribed motion. */
static bool can_be_pushed(const yk_world_model *model, size_t slot)
{
    if (slot < model->dynamic_count)
        return true;
    for (size_t i = 0; i < model->port_count; i++)
        if (model->ports[i].whole_body && (size_t)model->ports[i].slot == slot)
            return true;
    return false;
}

static yk_status push_body(yk_nonsmooth *self, int body, const yk_wrench *wrench)
{
    size_t slot = yk_world_body_index(&self->model, (size_t)body);
    if (!can_be_pushed(&self->model, slot))
        return yk_fail(self->context, YK_ERROR_CAPABILITY,
                       "body %d (%s) is fixed or follows a function of time, so that a wrench has "
                       "no effect on it",
                       body, self->model.names[body] ? self->model.names[body] : "no name");

    yk_status status = allocate_pushes(self);
    if (status != YK_OK)
        return status;

    yk_pushes *pushes = &self->pushes;
    size_t at = 0;
    while (at < pushes->count && pushes->slots[at] != (int32_t)slot)
        at++;
    pushes->wrenches[slot] = *wrench;

    bool acts = yk_v3_norm2(wrench->force) > 0 || yk_v3_norm2(wrench->torque) > 0;
    if (acts && at == pushes->count)
        pushes->slots[pushes->count++] = (int32_t)slot;
    if (!acts && at < pushes->count)
        pushes->slots[at] = pushes->slots[--pushes->count];
    if (acts && self->state.sleep.rest_time)
        yk_sleep_wake(self, (int32_t)slot);
    return YK_OK;
}

static yk_status set_body_wrench(yk_subsystem *subsystem, int body, const yk_wrench *wrench)
{
    yk_nonsmooth *self = (yk_nonsmooth *)subsystem;
    return yk_keep_message(&self->message, self->context, push_body(self, body, wrench));
}

static double mechanical_energy(const yk_nonsmooth *self)
{
    yk_energy energy;
    yk_nonsmooth_energy(self, &energy);
    return energy.kinetic + energy.potential;
}

/* Whether a body can be given another state. */
static yk_status check_movable(const yk_nonsmooth *self, int body)
{
    size_t slot = yk_world_body_index(&self->model, (size_t)body);
    const char *name = self->model.names[body] ? self->model.names[body] : "no name";
    if (slot >= self->model.dynamic_count)
        return yk_fail(
            self->context, YK_ERROR_CAPABILITY,
            "body %d (%s) is fixed or its motion is prescribed, so that its state cannot "
            "be set",
            body, name);
    if (yk_world_is_absent(&self->model, &self->state, (int32_t)slot))
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "body %d (%s) does not exist at present: its emitter has not released it",
                       body, name);
    return YK_OK;
}

static yk_status place_bodies(yk_nonsmooth *self, int first, int count, const yk_body_state *states)
{
    for (int i = 0; i < count; i++) {
        yk_status status = check_movable(self, first + i);
        if (status != YK_OK)
            return status;
    }

    double before = mechanical_energy(self);
    for (int i = 0; i < count; i++) {
        size_t slot = yk_world_body_index(&self->model, (size_t)(first + i));
        self->state.bodies[slot] = states[i];
        yk_sleep_wake(self, (int32_t)slot);
    }
    self->state.run.work += mechanical_energy(self) - before;
    self->has_points = false;
    return YK_OK;
}

static yk_status set_body_states(yk_subsystem *subsystem, int first, int count,
                                 const yk_body_state *states)
{
    yk_nonsmooth *self = (yk_nonsmooth *)subsystem;
    return yk_keep_message(&self->message, self->context, place_bodies(self, first, count, states));
}

const yk_body_ops yk_nonsmooth_body_ops = {.size = sizeof(yk_body_ops),
                                           .count = count_bodies,
                                           .name = name_body,
                                           .read = read_bodies,
                                           .set_wrench = set_body_wrench,
                                           .set_states = set_body_states};

/* Parameters: gravity --------------------------------------------------------------------------- */

enum { GRAVITY_PARAMETER_COUNT = 3 };

static const yk_parameter gravity_parameters[GRAVITY_PARAMETER_COUNT] = {
    {"gravity.x", "m/s^2", -DBL_MAX, DBL_MAX},
    {"gravity.y", "m/s^2", -DBL_MAX, DBL_MAX},
    {"gravity.z", "m/s^2", -DBL_MAX, DBL_MAX},
};

static int list_parameters(const yk_subsystem *subsystem, const yk_parameter **list)
{
    (void)subsystem;
    *list = gravity_parameters;
    return GRAVITY_PARAMETER_COUNT;
}

static double get_parameter(const yk_subsystem *subsystem, int parameter)
{
    const yk_vec3 *gravity = &const_world_of(subsystem)->model.def.gravity;
    const double components[GRAVITY_PARAMETER_COUNT] = {gravity->x, gravity->y, gravity->z};
    return components[parameter];
}

/* With another gravity, sleeping bodies would rest differently: wake them. The change of the
 * potential energy is external work. */
static yk_status set_parameter(yk_subsystem *subsystem, int parameter, double value)
{
    yk_nonsmooth *self = (yk_nonsmooth *)subsystem;
    yk_vec3 *gravity = &self->model.def.gravity;
    double *const components[GRAVITY_PARAMETER_COUNT] = {&gravity->x, &gravity->y, &gravity->z};
    double before = self->started ? mechanical_energy(self) : 0;
    *components[parameter] = value;
    if (!self->started)
        return YK_OK;

    self->state.run.work += mechanical_energy(self) - before;
    yk_sleep_wake(self, -1);
    return YK_OK;
}

const yk_parameter_ops yk_nonsmooth_parameter_ops = {.size = sizeof(yk_parameter_ops),
                                                     .list = list_parameters,
                                                     .get = get_parameter,
                                                     .set = set_parameter};

/* In a step ------------------------------------------------------------------------------------ */

void yk_world_apply_pushes(yk_nonsmooth *self)
{
    const yk_pushes *pushes = &self->pushes;
    for (size_t i = 0; i < pushes->count; i++) {
        int32_t slot = pushes->slots[i];
        yk_wrench *sum = &self->step.applied[slot];
        sum->force = yk_v3_add(sum->force, pushes->wrenches[slot].force);
        sum->torque = yk_v3_add(sum->torque, pushes->wrenches[slot].torque);
    }
}

void yk_world_account_pushes(yk_nonsmooth *self, double h)
{
    /* The work with the mean of the velocities before and after the step. */
    const yk_pushes *pushes = &self->pushes;
    for (size_t i = 0; i < pushes->count; i++) {
        int32_t slot = pushes->slots[i];
        const yk_body_state *after = &self->state.bodies[slot];
        const yk_twist *before = &self->step.before[slot];
        yk_vec3 v = yk_v3_scale(0.5, yk_v3_add(after->velocity, before->linear));
        yk_vec3 w = yk_v3_scale(0.5, yk_v3_add(after->angular_velocity, before->angular));
        self->step.force_supply += h * (yk_v3_dot(pushes->wrenches[slot].force, v) +
                                        yk_v3_dot(pushes->wrenches[slot].torque, w));
    }
}
