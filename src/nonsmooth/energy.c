/* Stored, dissipated and supplied energy.
 *
 * Over a step, impulses p change the velocity of a body from v0 to v1 and its kinetic energy by
 * exactly p . (v0 + v1)/2. So the work of contacts and joints on a body is the change of its
 * kinetic energy minus the work, by the same rule, of all other impulses. Summed over both sides of
 * all contacts it is the energy that they dissipate. This does not depend on the solver, and the
 * balance is exact for any impulses, converged or not. The remaining error is that of the time
 * stepping in the potential energy: gravity moves a body by h v1 and not by h (v0 + v1)/2. */
#include "nonsmooth/world.h"

double yk_world_body_kinetic(const yk_nonsmooth *self, size_t slot, yk_vec3 v, yk_vec3 w)
{
    const yk_body_model *model = &self->model.bodies[slot];
    double linear = model->mass * yk_v3_norm2(v);

    if (model->radius > 0)
        return 0.5 * (linear + model->inertia * yk_v3_norm2(w));
    if (model->tensor < 0)
        return 0.5 * linear;

    /* A tensor in body axes: w^T J w with w turned into them. */
    const yk_mat3 *inertia = &self->model.tensors[model->tensor].body;
    yk_vec3 local = yk_q_rotate_back(self->state.bodies[slot].orientation, w);
    return 0.5 * (linear + yk_v3_dot(local, yk_m3_apply(*inertia, local)));
}

/* Impulse of gravity and of all other loads except contacts and joints. */
static yk_wrench applied_to(const yk_nonsmooth *self, size_t slot)
{
    yk_wrench sum = {.force = {0, 0, 0}};
    if (self->step.applied)
        sum = self->step.applied[slot];
    sum.force = yk_v3_axpy(self->model.bodies[slot].mass, self->model.def.gravity, sum.force);
    return sum;
}

/* Work of contacts and joints on dynamic bodies. */
static void contact_work(void *user, size_t begin, size_t end, size_t chunk)
{
    const yk_nonsmooth *self = user;
    double sum = 0;

    for (size_t i = begin; i < end; i++) {
        if (yk_world_is_idle(&self->model, &self->state, (int32_t)i))
            continue;

        const yk_body_state *body = &self->state.bodies[i];
        const yk_twist *before = &self->step.before[i];

        /* The change of its kinetic energy minus the work of all other impulses. */
        yk_wrench f = applied_to(self, i);

        double other = yk_v3_dot(f.force, yk_v3_add(body->velocity, before->linear)) +
                       yk_v3_dot(f.torque, yk_v3_add(body->angular_velocity, before->angular));
        sum += yk_world_body_kinetic(self, i, body->velocity, body->angular_velocity) -
               yk_world_body_kinetic(self, i, before->linear, before->angular) -
               0.5 * self->step.h * other;
    }

    self->step.partials[chunk] = sum;
}

/* For a body with known motion, the balance of momentum gives the impulse that held it, and its
 * work. */
static void add_known_energy(yk_nonsmooth *self, size_t slot, double h)
{
    const yk_body_model *model = &self->model.bodies[slot];
    const yk_body_state *body = &self->state.bodies[slot];
    const yk_twist *before = &self->step.before[slot];
    size_t known = slot - self->model.dynamic_count;
    const yk_wrench *received = &self->step.received[known];
    yk_wrench f = applied_to(self, slot);

    /* Changes and means of its velocities over the step. */
    yk_vec3 dv = yk_v3_sub(body->velocity, before->linear);
    yk_vec3 dw = yk_v3_sub(body->angular_velocity, before->angular);
    yk_vec3 v = yk_v3_scale(0.5, yk_v3_add(body->velocity, before->linear));
    yk_vec3 w = yk_v3_scale(0.5, yk_v3_add(body->angular_velocity, before->angular));

    /* m dv = impulse + h f + received, J dw + h w x J w = the same of torques. */
    yk_vec3 impulse =
        yk_v3_sub(yk_v3_scale(model->mass, dv), yk_v3_axpy(h, f.force, received->force));
    yk_vec3 torque = yk_v3_neg(yk_v3_axpy(h, f.torque, received->torque));

    /* For a ball J w is parallel to w, and the gyroscopic torque is zero. */
    if (model->radius > 0) {
        torque = yk_v3_axpy(model->inertia, dw, torque);
    } else if (model->tensor >= 0) {
        yk_quat q = body->orientation;
        const yk_mat3 *tensor = &self->model.tensors[model->tensor].body;
        yk_vec3 momentum = yk_q_rotate(q, yk_m3_apply(*tensor, yk_q_rotate_back(q, w)));
        yk_vec3 change = yk_q_rotate(q, yk_m3_apply(*tensor, yk_q_rotate_back(q, dw)));
        torque = yk_v3_add(torque, yk_v3_axpy(h, yk_v3_cross(w, momentum), change));
    }

    self->state.reactions[known] =
        (yk_wrench){yk_v3_scale(1 / h, impulse), yk_v3_scale(1 / h, torque)};

    /* The holding impulse supplies energy; received impulses are the other side of contacts and
     * joints. */
    double work = yk_v3_dot(impulse, v) + yk_v3_dot(torque, w);
    self->step.contact_work += yk_v3_dot(received->force, v) + yk_v3_dot(received->torque, w);
    self->step.supply += work;

    /* Work through a port is also counted there. */
    for (size_t i = 0; i < self->model.port_count; i++) {
        const yk_port_model *port = &self->model.ports[i];
        if (port->whole_body && (size_t)port->slot == slot)
            self->step.port_work += work;
    }
}

bool yk_world_balance_energy(yk_nonsmooth *self, double h)
{
    const yk_world_model *model = &self->model;

    /* Work of contacts and joints on all bodies. */
    double joints = self->step.supply - self->step.force_supply;
    double sum = 0;
    yk_pool_run(self->pool, model->dynamic_count, YK_BODY_CHUNK, contact_work, self);
    for (size_t i = 0; i < model->dynamic_count; i += YK_BODY_CHUNK)
        sum += self->step.partials[i / YK_BODY_CHUNK];
    self->step.contact_work = 0;
    for (size_t i = model->dynamic_count; i < model->body_count; i++)
        add_known_energy(self, i, h);

    /* Their work that is not supplied by drives is dissipated. */
    self->state.run.dissipated += self->step.loss + joints - sum - self->step.contact_work;
    self->state.run.work += self->step.supply;
    self->state.run.port_work += self->step.port_work;
    return isfinite(sum) && isfinite(self->step.supply);
}

void yk_nonsmooth_energy(const yk_nonsmooth *self, yk_energy *energy)
{
    const yk_world_model *model = &self->model;

    *energy = (yk_energy){.dissipated = self->state.run.dissipated,
                          .work = self->state.run.work,
                          .port_work = self->state.run.port_work};

    for (size_t i = 0; i < model->body_count; i++) {
        if (yk_world_is_absent(model, &self->state, (int32_t)i))
            continue;

        const yk_body_state *body = &self->state.bodies[i];
        energy->kinetic += yk_world_body_kinetic(self, i, body->velocity, body->angular_velocity);
        energy->potential -= model->bodies[i].mass * yk_v3_dot(model->def.gravity, body->position);
    }

    /* Springs store energy; loads do not. */
    for (size_t i = 0; i < model->force_count; i++) {
        const yk_force_model *force = &model->forces[i];
        yk_frame a = yk_world_frame(&self->state, force->slot_a);
        yk_frame b = yk_world_frame(&self->state, force->slot_b);
        yk_force_load load;
        yk_force_evaluate(&force->law, &a, &b, 0, &load, NULL);
        energy->potential += load.energy;
    }
}
