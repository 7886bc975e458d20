/* The time step: semi-implicit Euler at the level of impulses, tight (19), explicit (11). See nonsmooth.h. */
#include <string.h>

#include "base/clock.h"
#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

/* Known motion ----------------------------------------------------------------------------------------------------- */

/* explicit (18): v(t + h) = u22 - (q(t) - u21) / h, rotations on SO(3); the frame is that of a marker on the body. */
static void follow(yk_body_state *body, const yk_marker *marker, const yk_motion *begin, const yk_motion *end, double h)
{
    yk_vec3 arm = yk_q_rotate(body->orientation, marker->offset);
    yk_vec3 at = yk_v3_add(body->position, arm);
    yk_quat rotated = yk_q_mul(body->orientation, marker->orientation);
    yk_vec3 apart = yk_v3_sub(at, begin->position);
    yk_vec3 twist = yk_so3_log(yk_q_mul(rotated, yk_q_conjugate(begin->orientation)));
    body->angular_velocity = yk_v3_axpy(-1 / h, twist, end->angular_velocity);
    yk_vec3 velocity = yk_v3_axpy(-1 / h, apart, end->velocity);
    body->velocity = yk_v3_sub(velocity, yk_v3_cross(body->angular_velocity, arm));
}

double yk_world_rate(yk_function function, double t, double width)
{
    if (!function.value) return 0;
    double inner = yk_function_value(function, t + width) - yk_function_value(function, t - width);
    double outer = yk_function_value(function, t + 2 * width) - yk_function_value(function, t - 2 * width);
    return (8 * inner - outer) / (12 * width);
}

/* Differences over this fraction of a second: rounding and the fifth derivative weigh alike for motions of some ten Hz. */
static const double PATH_WIDTH = 1e-4;

static yk_vec3 path_value(const yk_function *functions, double t)
{
    return yk_v3(yk_function_value(functions[0], t), yk_function_value(functions[1], t),
                 yk_function_value(functions[2], t));
}

static yk_vec3 path_rate(const yk_function *functions, double t)
{
    return yk_v3(yk_world_rate(functions[0], t, PATH_WIDTH), yk_world_rate(functions[1], t, PATH_WIDTH),
                 yk_world_rate(functions[2], t, PATH_WIDTH));
}

yk_motion yk_world_prescribed(const yk_nonsmooth *self, const yk_prescription *prescription, double t)
{
    yk_motion motion = {.orientation = {1, 0, 0, 0}};
    if (prescription->function) {
        prescription->function(prescription->user, t, &motion);
        return motion;
    }
    const yk_nonsmooth_path *path = &prescription->path;
    yk_vec3 rotation = path_value(path->rotation, t);
    motion.position = yk_v3_add(self->initial[prescription->body].position, path_value(path->position, t));
    motion.velocity = path_rate(path->position, t);
    motion.orientation = yk_q_mul(yk_so3_exp(rotation), self->initial[prescription->body].orientation);
    motion.angular_velocity = yk_m3_apply(yk_so3_left_tangent(rotation), path_rate(path->rotation, t));
    return motion;
}

static void follow_functions(const yk_nonsmooth *self, double t, double h, yk_body_state *known)
{
    yk_marker centre = yk_marker_default();
    for (size_t i = 0; i < self->prescription_count; i++) {
        const yk_prescription *p = &self->prescriptions[i];
        yk_motion begin = yk_world_prescribed(self, p, t), end = yk_world_prescribed(self, p, t + h);
        follow(&known[(size_t)self->slot_of[p->body] - self->dynamic_count], &centre, &begin, &end, h);
    }
}

static void follow_ports(const yk_nonsmooth *self, double h, const yk_input *inputs, yk_body_state *known)
{
    for (size_t i = 0; i < self->port_count; i++) {
        const yk_port_slot *port = &self->ports[i];
        if (!port->whole_body || !inputs) continue;
        yk_motion begin = yk_input_motion(&inputs[i], YK_PORT_MARKER, 0);
        yk_motion end = yk_input_motion(&inputs[i], YK_PORT_MARKER, h);
        follow(&known[(size_t)port->slot - self->dynamic_count], &port->marker, &begin, &end, h);
    }
}

void yk_world_follow(const yk_nonsmooth *self, double t, double h, const yk_input *inputs, yk_body_state *known)
{
    follow_functions(self, t, h, known);
    follow_ports(self, h, inputs, known);
}

/* Forces ----------------------------------------------------------------------------------------------------------- */

static void apply(yk_nonsmooth *self, int slot, yk_vec3 force, yk_vec3 torque)
{
    if (slot < 0) return;
    self->applied[slot].force = yk_v3_add(self->applied[slot].force, force);
    self->applied[slot].torque = yk_v3_add(self->applied[slot].torque, torque);
}

/* The mean over the step: Simpson's rule is exact for the cubics that signals are. */
static void take_signals(yk_nonsmooth *self, double h, const yk_input *inputs)
{
    for (size_t i = 0; inputs && i < self->signal_count; i++) {
        const yk_input *input = &inputs[self->signals[i].place];
        if (!self->signals[i].connected) continue;
        double ends = yk_input_scalar(input, 0) + yk_input_scalar(input, h);
        self->signals[i].value = (ends + 4 * yk_input_scalar(input, h / 2)) / 6;
    }
}

static void apply_laws(yk_nonsmooth *self, double t, double h)
{
    for (size_t i = 0; i < self->force_count; i++) {
        const yk_force_slot *force = &self->forces[i];
        yk_frame a = yk_world_frame(self, force->slot_a), b = yk_world_frame(self, force->slot_b);
        double load = yk_force_on_both(force->def.law.kind) ? 0 : 1;
        if (force->def.load.value) load = yk_function_value(force->def.load, t);
        if (force->def.input >= 0) load = self->signals[force->def.input].value;
        yk_force_load result;
        yk_force_evaluate(&force->def.law, &a, &b, load, &result, NULL);
        apply(self, force->slot_a, result.part[0], result.part[1]);
        apply(self, force->slot_b, result.part[2], result.part[3]);
        self->step_loss += h * result.loss;
        self->step_force_supply += h * result.supply;
    }
}

/* Likewise of a wrench. */
static yk_wrench mean_wrench(const yk_input *input, double h)
{
    yk_wrench begin = yk_input_wrench(input, 0), middle = yk_input_wrench(input, h / 2),
              end = yk_input_wrench(input, h);
    yk_vec3 force = yk_v3_axpy(4, middle.force, yk_v3_add(begin.force, end.force));
    yk_vec3 torque = yk_v3_axpy(4, middle.torque, yk_v3_add(begin.torque, end.torque));
    return (yk_wrench){yk_v3_scale(1.0 / 6, force), yk_v3_scale(1.0 / 6, torque)};
}

static void apply_ports(yk_nonsmooth *self, double h, const yk_input *inputs)
{
    for (size_t i = 0; i < self->port_count; i++) {
        yk_port_slot *port = &self->ports[i];
        if (port->causality != YK_TAKES_WRENCH || !inputs) continue;
        if (port->line) {
            yk_world_line line = yk_world_line_at(self, port);
            double wrench = port->wrench.force.x = yk_world_line_wrench(&inputs[i], h);
            apply(self, port->slot, yk_v3_scale(wrench, line.force[0]), yk_v3_scale(wrench, line.torque[0]));
            apply(self, port->far_slot, yk_v3_scale(wrench, line.force[1]), yk_v3_scale(wrench, line.torque[1]));
            continue;
        }
        port->wrench = mean_wrench(&inputs[i], h);
        yk_vec3 arm = yk_q_rotate(self->bodies[port->slot].orientation, port->marker.offset);
        apply(self, port->slot, port->wrench.force,
              yk_v3_add(port->wrench.torque, yk_v3_cross(arm, port->wrench.force)));
    }
}

/* Their work over the step, by the mean velocity: known only after the solution. */
static void add_port_work(yk_nonsmooth *self, double h)
{
    for (size_t i = 0; i < self->port_count; i++) {
        const yk_port_slot *port = &self->ports[i];
        if (port->causality != YK_TAKES_WRENCH) continue;
        if (port->line) {
            double work = yk_world_line_work(self, port, h);
            self->step_force_supply += work;
            self->step_port_work += work;
            continue;
        }
        const yk_body_state *body = &self->bodies[port->slot];
        const yk_twist *before = &self->before[port->slot];
        yk_vec3 arm = yk_q_rotate(body->orientation, port->marker.offset);
        yk_vec3 w = yk_v3_scale(0.5, yk_v3_add(body->angular_velocity, before->angular));
        yk_vec3 v = yk_v3_scale(0.5, yk_v3_add(body->velocity, before->linear));
        v = yk_v3_add(v, yk_v3_cross(w, arm));
        double work = h * (yk_v3_dot(port->wrench.force, v) + yk_v3_dot(port->wrench.torque, w));
        self->step_force_supply += work;
        self->step_port_work += work;
    }
}

/* Free motion ------------------------------------------------------------------------------------------------------ */

/* Euler's equations of the torque-free body over the step by the implicit midpoint rule, which keeps the kinetic energy
 * and the angular momentum: J (w1 - w0) + h wm x J wm = 0 in body axes, Newton from w0. */
static yk_vec3 spin_freely(const yk_tensor *tensor, yk_vec3 w0, double h)
{
    yk_vec3 w1 = w0;
    for (int iteration = 0; iteration < 20; iteration++) {
        yk_vec3 wm = yk_v3_scale(0.5, yk_v3_add(w0, w1)), momentum = yk_m3_apply(tensor->body, wm);
        yk_vec3 residual = yk_v3_axpy(h, yk_v3_cross(wm, momentum), yk_m3_apply(tensor->body, yk_v3_sub(w1, w0)));
        yk_mat3 rotating = yk_m3_sub(yk_m3_mul(yk_m3_skew(wm), tensor->body), yk_m3_skew(momentum));
        yk_mat3 tangent = yk_m3_add(tensor->body, yk_m3_scale(0.5 * h, rotating));
        yk_vec3 change = yk_m3_apply(yk_m3_inverse(tangent), residual);
        w1 = yk_v3_sub(w1, change);
        if (yk_v3_norm2(change) <= 1e-30 * yk_v3_norm2(w1)) break;
    }
    return w1;
}

typedef struct free_job {
    yk_nonsmooth *self;
    double h;
} free_job;

static void free_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const free_job *job = user;
    yk_nonsmooth *self = job->self;
    double h = job->h;
    for (size_t i = begin; i < end; i++) {
        const yk_body_model *model = &self->models[i];
        const yk_body_state *body = &self->bodies[i];
        const yk_wrench *f = self->applied ? &self->applied[i] : NULL;
        yk_vec3 v = yk_v3_axpy(h, self->def.gravity, body->velocity), w = body->angular_velocity;
        self->before[i] = (yk_twist){body->velocity, body->angular_velocity};
        if (yk_world_is_asleep(self, (int32_t)i)) {
            self->nodes[i].velocity = self->nodes[i].spin = yk_v3(0, 0, 0);
            continue;
        }
        if (f) v = yk_v3_axpy(h / model->mass, f->force, v);
        if (model->radius > 0) {
            if (f) w = yk_v3_axpy(h / model->inertia, f->torque, w);
            self->nodes[i] = yk_network_sphere(v, w, model->radius, 1 / model->mass, 1 / model->inertia);
            continue;
        }
        yk_vec3 local = spin_freely(&self->tensors[model->tensor], yk_q_rotate_back(body->orientation, w), h);
        w = yk_q_rotate(body->orientation, local);
        yk_mat3 inverse = yk_world_inverse_inertia(self, i);
        if (f) w = yk_v3_axpy(h, yk_m3_apply(inverse, f->torque), w);
        self->nodes[i] = (yk_network_node){v, 1 / model->mass, w, 1};
        yk_network_inertia(self->network, i, &inverse);
    }
}

static void apply_wrenches(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    self->step_loss = self->step_supply = self->step_force_supply = self->step_port_work = 0;
    if (!self->applied) return;
    memset(self->applied, 0, self->body_count * sizeof *self->applied);
    take_signals(self, h, inputs);
    apply_laws(self, t, h);
    if (inputs) apply_ports(self, h, inputs);
}

static void set_known_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    for (size_t i = self->dynamic_count; i < self->body_count; i++)
        self->before[i] = (yk_twist){self->bodies[i].velocity, self->bodies[i].angular_velocity};
    yk_world_follow(self, t, h, inputs, self->bodies + self->dynamic_count);
}

static void set_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    free_job job = {self, h};
    yk_pool_run(self->pool, self->dynamic_count, YK_BODY_CHUNK, free_chunk, &job);
    set_known_motion(self, t, h, inputs);
}

void yk_world_set_free_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    take_signals(self, h, inputs);
    apply_wrenches(self, t, h, NULL);
    set_motion(self, t, h, inputs);
}

/* Move ------------------------------------------------------------------------------------------------------------- */

static void take_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    yk_nonsmooth *self = user;
    for (size_t i = begin; i < end; i++) {
        double radius = self->models[i].radius;
        self->bodies[i].velocity = self->nodes[i].velocity;
        self->bodies[i].angular_velocity =
            radius > 0 ? yk_v3_scale(1 / radius, self->nodes[i].spin) : self->nodes[i].spin;
    }
}

static void move_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    const free_job *job = user;
    for (size_t i = begin; i < end; i++) {
        if (yk_world_is_asleep(job->self, (int32_t)i)) continue;
        yk_body_state *body = &job->self->bodies[i];
        body->position = yk_v3_axpy(job->h, body->velocity, body->position);
        yk_quat rotation = yk_so3_exp(yk_v3_scale(job->h, body->angular_velocity));
        body->orientation = yk_q_unit(yk_q_mul(rotation, body->orientation));
    }
}

/* Before the step, and after it, when the bodies are in their places. */
static void note_line_speeds(yk_nonsmooth *self)
{
    for (size_t i = 0; i < self->port_count; i++)
        if (self->ports[i].line) self->ports[i].speed = yk_world_line_at(self, &self->ports[i]).rate;
}

static void set_line_outputs(yk_nonsmooth *self, double h)
{
    for (size_t i = 0; i < self->port_count; i++) {
        yk_port_slot *port = &self->ports[i];
        if (port->line) port->rate.linear.x = (yk_world_line_at(self, port).rate - port->speed) / h;
    }
}

static void set_port_outputs(yk_nonsmooth *self, double h)
{
    for (size_t i = 0; i < self->port_count; i++) {
        yk_port_slot *port = &self->ports[i];
        if (port->line) continue;
        size_t slot = (size_t)port->slot;
        port->rate.linear = yk_v3_scale(1 / h, yk_v3_sub(self->bodies[slot].velocity, self->before[slot].linear));
        port->rate.angular =
            yk_v3_scale(1 / h, yk_v3_sub(self->bodies[slot].angular_velocity, self->before[slot].angular));
        if (!port->whole_body) continue;
        yk_wrench at_centre = self->reactions[slot - self->dynamic_count];
        yk_vec3 arm = yk_q_rotate(self->bodies[slot].orientation, port->marker.offset);
        port->wrench.force = at_centre.force;
        port->wrench.torque = yk_v3_sub(at_centre.torque, yk_v3_cross(arm, at_centre.force));
    }
}

static yk_status report_failed_body(yk_nonsmooth *self)
{
    size_t slot = 0;
    while (slot < self->body_count && yk_v3_finite(self->bodies[slot].velocity) &&
           yk_v3_finite(self->bodies[slot].angular_velocity))
        slot++;
    int body = slot < self->body_count ? self->body_of[slot] : -1;
    const char *name = body >= 0 && self->names[body] ? self->names[body] : "no name";
    return yk_fail(self->context, YK_ERROR_NOT_FINITE, "t = %g: the velocity of body %d (%s) is not finite",
                   self->run.time, body, name);
}

/* Stages 1 to 4: contacts, free motion, rows, impulses. */
static yk_status find_impulses(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    double start = yk_clock_seconds();
    yk_status status = yk_world_find_contacts(self, h);
    self->report.collision_seconds = yk_clock_seconds() - start;
    if (status < 0) return status;
    set_motion(self, t, h, inputs);
    double rows = yk_clock_seconds();
    status = yk_world_set_contacts(self, h);
    if (status == YK_OK) status = yk_world_set_rows(self, t, h, inputs);
    if (status < 0) return status;
    yk_status outcome = yk_network_solve(self->network, &self->def.solver, &self->report.solver);
    self->report.solve_seconds = yk_clock_seconds() - rows;
    if (outcome < 0) return outcome;
    self->largest_residual = fmax(self->largest_residual, self->report.solver.residual);
    yk_pool_run(self->pool, self->dynamic_count, YK_BODY_CHUNK, take_chunk, self);
    yk_world_take_impulses(self, h);
    yk_world_take_reactions(self, h);
    return YK_OK;
}

/* In their place where everything sleeps and nothing moves. */
static void stay_at_rest(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    self->report = (yk_nonsmooth_report){.contacts = self->sleep.frozen.count, .near_pairs = self->broad.partner_count};
    for (size_t i = 0; i < self->port_count; i++) {
        const yk_port_slot *port = &self->ports[i];
        self->before[port->slot] = (yk_twist){.linear = {0, 0, 0}};
        if (port->line && port->far_slot >= 0) self->before[port->far_slot] = (yk_twist){.linear = {0, 0, 0}};
    }
    set_known_motion(self, t, h, inputs);
    yk_world_clear_received(self, h);
}

yk_status yk_world_step(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    double start = yk_clock_seconds();
    note_line_speeds(self);
    apply_wrenches(self, t, h, inputs);
    if (self->sleep.rest_time && yk_sleep_begin(self, t, h, inputs)) {
        stay_at_rest(self, t, h, inputs);
    } else {
        yk_status status = find_impulses(self, t, h, inputs);
        if (status < 0) return status;
    }
    add_port_work(self, h);
    self->step_supply += self->step_force_supply;
    if (!yk_world_balance_energy(self, h)) return report_failed_body(self);
    set_port_outputs(self, h);
    free_job job = {self, h};
    yk_pool_run(self->pool, self->body_count, YK_BODY_CHUNK, move_chunk, &job);
    set_line_outputs(self, h);
    yk_world_watch_passages(self);
    if (self->sleep.rest_time) yk_sleep_end(self, h);
    self->run.time = t + h;
    self->run.step = h;
    self->report.step_seconds = yk_clock_seconds() - start;
    return YK_OK;
}
