/* What is stored, what is lost, what is brought in.
 *
 * Over a step impulses p change the velocity of a body from v0 to v1 and its kinetic energy by exactly p . (v0 + v1)/2.
 * So the work of contacts and joints on a body is the change of its kinetic energy less the work, by the same rule, of
 * all other impulses; summed over both sides of all contacts it is what they dissipate. Nothing of the solver enters,
 * and the books close for any impulses, converged or not. What remains is the error of the time stepping in the
 * potential energy: gravity moves a body by h v1 and not by h (v0 + v1)/2. */
#include "nonsmooth/world.h"

double yk_world_body_kinetic(const yk_nonsmooth *self, size_t slot, yk_vec3 v, yk_vec3 w)
{
    const yk_body_model *model = &self->models[slot];
    double linear = model->mass * yk_v3_norm2(v);
    if (model->radius > 0) return 0.5 * (linear + model->inertia * yk_v3_norm2(w));
    if (model->tensor < 0) return 0.5 * linear;
    yk_vec3 local = yk_q_rotate_back(self->bodies[slot].orientation, w);
    return 0.5 * (linear + yk_v3_dot(local, yk_m3_apply(self->tensors[model->tensor].body, local)));
}

static yk_wrench applied_to(const yk_nonsmooth *self, size_t slot)
{
    yk_wrench sum = self->applied ? self->applied[slot] : (yk_wrench){.force = {0, 0, 0}};
    sum.force = yk_v3_axpy(self->models[slot].mass, self->def.gravity, sum.force);
    return sum;
}

/* Work of contacts and joints on the bodies [begin, end). */
typedef struct energy_job {
    yk_nonsmooth *self;
    double h;
} energy_job;

static double contact_work(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const energy_job *job = user;
    const yk_nonsmooth *self = job->self;
    double sum = 0;
    for (size_t i = begin; i < end; i++) {
        if (yk_world_is_asleep(self, (int32_t)i)) continue;
        const yk_body_state *body = &self->bodies[i];
        const yk_twist *before = &self->before[i];
        yk_wrench f = applied_to(self, i);
        double other = yk_v3_dot(f.force, yk_v3_add(body->velocity, before->linear)) +
                       yk_v3_dot(f.torque, yk_v3_add(body->angular_velocity, before->angular));
        sum += yk_world_body_kinetic(self, i, body->velocity, body->angular_velocity) -
               yk_world_body_kinetic(self, i, before->linear, before->angular) - 0.5 * job->h * other;
    }
    return sum;
}

/* The momentum balance of a body of known motion gives the impulse that held it, which is also its fraction of the work.
 */
static void add_known_energy(yk_nonsmooth *self, size_t slot, double h)
{
    const yk_body_model *model = &self->models[slot];
    const yk_body_state *body = &self->bodies[slot];
    const yk_twist *before = &self->before[slot];
    const yk_wrench *received = &self->received[slot - self->dynamic_count];
    yk_wrench f = applied_to(self, slot);
    yk_vec3 dv = yk_v3_sub(body->velocity, before->linear), dw = yk_v3_sub(body->angular_velocity, before->angular);
    yk_vec3 impulse = yk_v3_sub(yk_v3_scale(model->mass, dv), yk_v3_axpy(h, f.force, received->force));
    yk_vec3 torque = yk_v3_neg(yk_v3_axpy(h, f.torque, received->torque));
    if (model->radius > 0) {
        torque = yk_v3_axpy(model->inertia, dw, torque);
    } else if (model->tensor >= 0) {
        yk_quat q = body->orientation;
        const yk_mat3 *tensor = &self->tensors[model->tensor].body;
        yk_vec3 w = yk_v3_scale(0.5, yk_v3_add(body->angular_velocity, before->angular));
        yk_vec3 momentum = yk_q_rotate(q, yk_m3_apply(*tensor, yk_q_rotate_back(q, w)));
        yk_vec3 change = yk_q_rotate(q, yk_m3_apply(*tensor, yk_q_rotate_back(q, dw)));
        torque = yk_v3_add(torque, yk_v3_axpy(h, yk_v3_cross(w, momentum), change));
    }
    yk_vec3 v = yk_v3_scale(0.5, yk_v3_add(body->velocity, before->linear));
    yk_vec3 w = yk_v3_scale(0.5, yk_v3_add(body->angular_velocity, before->angular));
    self->step_work += yk_v3_dot(received->force, v) + yk_v3_dot(received->torque, w);
    double work = yk_v3_dot(impulse, v) + yk_v3_dot(torque, w);
    self->step_supply += work;
    for (size_t i = 0; i < self->port_count; i++)
        if (self->ports[i].whole_body && (size_t)self->ports[i].slot == slot) self->step_port_work += work;
    self->reactions[slot - self->dynamic_count] = (yk_wrench){yk_v3_scale(1 / h, impulse), yk_v3_scale(1 / h, torque)};
}

bool yk_world_balance_energy(yk_nonsmooth *self, double h)
{
    energy_job job = {self, h};
    double joints = self->step_supply - self->step_force_supply;
    double sum = yk_pool_sum(self->pool, self->dynamic_count, YK_BODY_CHUNK, contact_work, &job, self->partials);
    self->step_work = 0;
    for (size_t i = self->dynamic_count; i < self->body_count; i++) add_known_energy(self, i, h);
    self->run.dissipated += self->step_loss + joints - sum - self->step_work;
    self->run.work += self->step_supply;
    self->run.port_work += self->step_port_work;
    return isfinite(sum);
}

void yk_nonsmooth_energy(const yk_nonsmooth *self, yk_energy *energy)
{
    *energy = (yk_energy){.dissipated = self->run.dissipated, .work = self->run.work, .port_work = self->run.port_work};
    for (size_t i = 0; i < self->body_count; i++) {
        const yk_body_state *body = &self->bodies[i];
        energy->kinetic += yk_world_body_kinetic(self, i, body->velocity, body->angular_velocity);
        energy->potential -= self->models[i].mass * yk_v3_dot(self->def.gravity, body->position);
    }
    for (size_t i = 0; i < self->force_count; i++) {
        const yk_force_slot *force = &self->forces[i];
        yk_frame a = yk_world_frame(self, force->slot_a), b = yk_world_frame(self, force->slot_b);
        yk_force_load load;
        yk_force_evaluate(&force->def.law, &a, &b, 0, &load, NULL);
        energy->potential += load.energy;
    }
}
