/* Access while the solver runs: states of the bodies and wrenches on them (yk_body_ops). Bodies have the ids that the
 * builder returned; a wrench acts about the origin of a body, which is its center of mass. */
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

static yk_status push_body(yk_nonsmooth *self, int body, const yk_wrench *wrench)
{
    size_t slot = yk_world_body_index(&self->model, (size_t)body);
    if (slot >= self->model.dynamic_count)
        return yk_fail(self->context, YK_ERROR_CAPABILITY,
                       "the motion of body %d (%s) is fixed or prescribed, so that a wrench has no "
                       "effect on it",
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

const yk_body_ops yk_nonsmooth_body_ops = {.size = sizeof(yk_body_ops),
                                           .count = count_bodies,
                                           .name = name_body,
                                           .read = read_bodies,
                                           .set_wrench = set_body_wrench};

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
    /* The work at the mean of the velocities before and after the step. */
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
