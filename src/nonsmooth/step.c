/* The time step: semi-implicit Euler on the level of impulses (Zhang et al. 2020, equation 19;
 * Zhang et al. 2022, equation 11). See nonsmooth.h. */
#include <string.h>

#include "base/clock.h"
#include "math/polynomial.h"
#include "math/so3.h"
#include "nonsmooth/world.h"

/* Forces --------------------------------------------------------------------------------------- */

/* The mean of an input signal over the step. Simpson's rule is exact for cubic polynomials, which
 * signals are. */
static void take_signals(yk_nonsmooth *self, double h, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;
    for (size_t i = 0; inputs && i < model->signal_count; i++) {
        const yk_input *input = &inputs[model->signals[i].index];
        if (!model->signals[i].connected)
            continue;

        double ends = yk_input_scalar(input, 0) + yk_input_scalar(input, h);
        self->state.signals[i] = (ends + 4 * yk_input_scalar(input, h / 2)) / 6;
    }
}

static void apply(yk_nonsmooth *self, int slot, yk_vec3 force, yk_vec3 torque)
{
    if (slot < 0)
        return;

    yk_wrench *sum = &self->step.applied[slot];
    sum->force = yk_v3_add(sum->force, force);
    sum->torque = yk_v3_add(sum->torque, torque);
}

/* The mean over the step of a wrench, likewise. */
static yk_wrench mean_wrench(const yk_input *input, double h)
{
    /* Simpson's rule, exact for cubic polynomials. */
    yk_wrench begin = yk_input_wrench(input, 0);
    yk_wrench middle = yk_input_wrench(input, h / 2);
    yk_wrench end = yk_input_wrench(input, h);

    yk_vec3 force = yk_v3_axpy(4, middle.force, yk_v3_add(begin.force, end.force));
    yk_vec3 torque = yk_v3_axpy(4, middle.torque, yk_v3_add(begin.torque, end.torque));
    return (yk_wrench){yk_v3_scale(1.0 / 6, force), yk_v3_scale(1.0 / 6, torque)};
}

/* Evaluates force laws and wrenches at ports into `applied`; without inputs the laws only. */
static void apply_wrenches(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;

    /* Sums of this step, which the energy balance adds to those of the run. */
    self->step.loss = self->step.supply = self->step.force_supply = self->step.port_work = 0;
    if (!self->step.applied)
        return;

    memset(self->step.applied, 0, model->body_count * sizeof *self->step.applied);
    yk_world_apply_pushes(self);
    take_signals(self, h, inputs);

    /* Force laws, with the load from a function or a wire. */
    for (size_t i = 0; i < model->force_count; i++) {
        const yk_force_model *force = &model->forces[i];
        const yk_force_def *def = &force->def;

        /* A signal takes precedence over a function, a function over the law's own load. */
        double load = yk_force_kind_acts_on_both(def->kind) ? 0 : 1;
        if (def->load.evaluate)
            load = def->load_scale * yk_function_value(def->load, t);
        if (def->signal_port.index >= 0)
            load = def->load_scale * self->state.signals[def->signal_port.index];

        yk_frame a = yk_world_frame(&self->state, force->slot_a);
        yk_frame b = yk_world_frame(&self->state, force->slot_b);
        yk_force_load result;
        yk_force_evaluate(&force->law, &a, &b, load, &result, NULL);

        /* Wrenches on both bodies, dissipated power and power supplied by the load. */
        apply(self, force->slot_a, result.part[0], result.part[1]);
        apply(self, force->slot_b, result.part[2], result.part[3]);
        self->step.loss += h * result.loss;
        self->step.force_supply += h * result.supply;
    }

    /* Ports that take a wrench. */
    for (size_t i = 0; inputs && i < model->port_count; i++) {
        const yk_port_model *port = &model->ports[i];
        const yk_input *input = &inputs[i];
        yk_wrench *wrench = &self->state.ports[i].wrench;
        if (port->causality != YK_CAUSALITY_WRENCH_INPUT)
            continue;

        /* A line pushes its two bodies apart. */
        if (port->line) {
            double begin = yk_input_scalar(input, 0), middle = yk_input_scalar(input, h / 2);
            double force = (begin + 4 * middle + yk_input_scalar(input, h)) / 6;
            yk_world_line line = yk_world_line_at(self, port);

            wrench->force.x = force;
            apply(self, port->slot, yk_v3_scale(force, line.force[0]),
                  yk_v3_scale(force, line.torque[0]));
            apply(self, port->far_slot, yk_v3_scale(force, line.force[1]),
                  yk_v3_scale(force, line.torque[1]));
            continue;
        }

        /* A wrench at a marker, moved to the centre of mass. */
        *wrench = mean_wrench(input, h);
        yk_vec3 arm = yk_q_rotate(self->state.bodies[port->slot].orientation, port->marker.offset);
        apply(self, port->slot, wrench->force,
              yk_v3_add(wrench->torque, yk_v3_cross(arm, wrench->force)));
    }
}

/* Work of the wrenches at ports with the mean velocity, which is known only after the solution. */
static void account_ports(yk_nonsmooth *self, double h)
{
    const yk_body_state *bodies = self->state.bodies;
    const yk_twist *before = self->step.before;

    for (size_t i = 0; i < self->model.port_count; i++) {
        const yk_port_model *port = &self->model.ports[i];
        const yk_wrench *wrench = &self->state.ports[i].wrench;
        if (port->causality != YK_CAUSALITY_WRENCH_INPUT)
            continue;

        /* The rate of the port with the mean of the velocities before and after. */
        double work;
        if (port->line) {
            yk_world_line line = yk_world_line_at(self, port);
            const int slots[2] = {port->slot, port->far_slot};
            double rate = 0;
            for (int side = 0; side < 2; side++) {
                int slot = slots[side];
                if (slot < 0)
                    continue;

                yk_vec3 v = yk_v3_add(bodies[slot].velocity, before[slot].linear);
                yk_vec3 w = yk_v3_add(bodies[slot].angular_velocity, before[slot].angular);
                rate += 0.5 * yk_v3_dot(line.force[side], v);
                rate += 0.5 * yk_v3_dot(line.torque[side], w);
            }

            work = h * wrench->force.x * rate;
        } else {
            int slot = port->slot;

            /* The marker moves with v + w x arm. */
            yk_vec3 arm = yk_q_rotate(bodies[slot].orientation, port->marker.offset);
            yk_vec3 w =
                yk_v3_scale(0.5, yk_v3_add(bodies[slot].angular_velocity, before[slot].angular));
            yk_vec3 v = yk_v3_scale(0.5, yk_v3_add(bodies[slot].velocity, before[slot].linear));
            v = yk_v3_add(v, yk_v3_cross(w, arm));
            work = h * (yk_v3_dot(wrench->force, v) + yk_v3_dot(wrench->torque, w));
        }

        self->step.force_supply += work;
        self->step.port_work += work;
    }
}

/* Free motion ---------------------------------------------------------------------------------- */

/* Euler's equations of a torque-free body over the step by the implicit midpoint rule, which
 * preserves kinetic energy and angular momentum: J (w1 - w0) + h wm x J wm = 0 in body axes, solved
 * by Newton's method from w0. */
static yk_vec3 spin_freely(yk_mat3 j, yk_vec3 w0, double h)
{
    yk_vec3 w1 = w0;

    for (int iteration = 0; iteration < 20; iteration++) {
        yk_vec3 wm = yk_v3_scale(0.5, yk_v3_add(w0, w1));
        yk_vec3 momentum = yk_m3_apply(j, wm);
        yk_vec3 residual =
            yk_v3_axpy(h, yk_v3_cross(wm, momentum), yk_m3_apply(j, yk_v3_sub(w1, w0)));

        /* Its derivative by w1. */
        yk_mat3 gyroscopic = yk_m3_sub(yk_m3_mul(yk_m3_skew(wm), j), yk_m3_skew(momentum));
        yk_mat3 tangent = yk_m3_add(j, yk_m3_scale(0.5 * h, gyroscopic));
        yk_vec3 change = yk_m3_apply(yk_m3_inverse(tangent), residual);

        /* Quadratic convergence: stop at rounding errors. */
        w1 = yk_v3_sub(w1, change);
        if (yk_v3_norm2(change) <= 1e-30 * yk_v3_norm2(w1))
            break;
    }

    return w1;
}

/* v(t) + h M^-1 f of dynamic bodies into the nodes of the contact problem. */
static void free_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    yk_nonsmooth *self = user;
    const yk_world_model *model = &self->model;
    double h = self->step.h;

    for (size_t i = begin; i < end; i++) {
        const yk_body_model *constant = &model->bodies[i];
        const yk_body_state *body = &self->state.bodies[i];
        const yk_wrench *f = self->step.applied ? &self->step.applied[i] : NULL;
        yk_network_node *node = &self->problem.nodes[i];

        /* Sleeping and absent bodies are nodes at rest, which no row moves. */
        self->step.before[i] = (yk_twist){body->velocity, body->angular_velocity};
        if (yk_world_is_idle(model, &self->state, (int32_t)i)) {
            node->velocity = node->spin = yk_v3(0, 0, 0);
            continue;
        }

        /* Gravity and the applied force change the velocity; the rotation follows below. */
        yk_twist start = self->step.before[i];
        if (self->step.from)
            start = self->step.from[i];
        yk_vec3 v = yk_v3_axpy(h, model->def.gravity, start.linear);
        yk_vec3 w = start.angular;

        if (f)
            v = yk_v3_axpy(h / constant->mass, f->force, v);

        /* Spheres: no gyroscopic torque, and no tensor that rotates with the body. */
        if (constant->radius > 0) {
            if (f)
                w = yk_v3_axpy(h / constant->inertia, f->torque, w);
            *node = yk_network_sphere(v, w, constant->radius, 1 / constant->mass,
                                      1 / constant->inertia);
            continue;
        }

        /* Others: Euler's equations in body axes, then the torque. */
        yk_vec3 local = yk_q_rotate_back(body->orientation, w);
        w = yk_q_rotate(body->orientation,
                        spin_freely(model->tensors[constant->tensor].body, local, h));
        yk_mat3 inverse = yk_world_inverse_inertia(model, &self->state, i);
        if (f)
            w = yk_v3_axpy(h, yk_m3_apply(inverse, f->torque), w);

        *node = (yk_network_node){v, 1 / constant->mass, w, 1};
        yk_network_inertia(self->problem.network, i, &inverse);
    }
}

/* Bodies with known motion get the velocity at the end of the step. */
static void set_known_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    yk_body_state *bodies = self->state.bodies;
    size_t first = self->model.dynamic_count;

    /* Starting values for the reactions computed later. */
    for (size_t i = first; i < self->model.body_count; i++)
        self->step.before[i] = (yk_twist){bodies[i].velocity, bodies[i].angular_velocity};
    yk_world_follow(self, t, h, inputs, bodies + first);
}

static void set_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    self->step.h = h;
    self->step.from = NULL;
    yk_pool_run(self->pool, self->model.dynamic_count, YK_BODY_CHUNK, free_chunk, self);
    set_known_motion(self, t, h, inputs);
}

void yk_world_set_free_motion(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    take_signals(self, h, inputs);
    apply_wrenches(self, t, h, NULL);
    set_motion(self, t, h, inputs);
}

/* Solution ------------------------------------------------------------------------------------- */

yk_status yk_world_find_contacts(yk_nonsmooth *self, double h)
{
    const yk_sleep_state *sleep = &self->state.sleep;
    yk_status status;

    /* A body touched by one that is awake wakes, and then has contacts of its own. */
    do {
        status = yk_collision_search(&self->collision, h);
    } while (status == YK_OK && sleep->rest_time && yk_sleep_was_touched(self, h));

    self->report.contacts = self->collision.found.count + sleep->frozen.count;
    self->report.near_pairs = self->collision.near.pairs.partner_count;
    self->report.rebuilt = self->collision.rebuilt;
    return status;
}

/* Velocities of the solution. */
static void take_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    yk_nonsmooth *self = user;
    for (size_t i = begin; i < end; i++) {
        double radius = self->model.bodies[i].radius;
        const yk_network_node *node = &self->problem.nodes[i];
        yk_body_state *body = &self->state.bodies[i];

        /* Spins of spheres are surface speeds in the contact problem, r w. */
        body->velocity = node->velocity;
        body->angular_velocity = node->spin;
        if (radius > 0)
            body->angular_velocity = yk_v3_scale(1 / radius, node->spin);
    }
}

/* Compares the residual of the contact problem with the speed that the step resolves. If the number
 * of sweeps was not given, continues to reduce a larger residual. */
static yk_status judge_residual(yk_nonsmooth *self, double h)
{
    const yk_contact_options *solver = &self->model.def.contact_options;
    yk_contact_report *report = &self->report.solver;
    bool open = solver->method == YK_CONTACT_AUTO && solver->max_iterations == 0;

    /* The fastest approach is needed only if gravity alone does not decide. */
    double resolved = h * yk_v3_norm(self->model.def.gravity);
    if (report->residual > resolved)
        resolved = yk_world_resolved_speed(self, h);

    /* A tolerance given by the user takes precedence over the resolved speed. */
    double wanted = resolved;
    if (solver->tolerance > 0)
        wanted = solver->tolerance;
    if (open && report->residual > YK_STIFF_TOLERANCE * wanted) {
        yk_status status = yk_network_improve(self->problem.network, solver, wanted, report);
        if (YK_FAILED(status))
            return status;
    }

    /* Data for the report of a run. */
    self->steps++;
    self->largest_residual = fmax(self->largest_residual, report->residual);
    if (report->residual > resolved) {
        self->unresolved_steps++;
        self->missed_impulse += yk_network_impulse_residual(self->problem.network);
        self->largest_residual_ratio =
            fmax(self->largest_residual_ratio, report->residual / fmax(resolved, 1e-300));
    }

    return YK_OK;
}

/* Stages 1 to 4: contacts, free motion, rows, impulses. */
static yk_status find_impulses(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    yk_nonsmooth_report *report = &self->report;

    /* Pairs near enough to touch within the step. */
    double start = yk_clock_seconds();
    yk_status status = yk_world_find_contacts(self, h);
    report->collision_seconds = yk_clock_seconds() - start;
    if (YK_FAILED(status))
        return status;

    /* Bodies with known motion have their velocity at the end of the step from here on. */
    set_motion(self, t, h, inputs);

    /* Impacts of Newton's law are among the rows; those of other laws come first. */
    start = yk_clock_seconds();
    if (self->model.def.impact_law != YK_IMPACT_NEWTON) {
        status = yk_world_resolve_impacts(self, t, h, inputs);
        if (YK_FAILED(status))
            return status;

        self->step.from = self->impact.after;
        yk_pool_run(self->pool, self->model.dynamic_count, YK_BODY_CHUNK, free_chunk, self);
    }

    /* Rows of contacts and joints. */
    status = yk_world_set_contacts(self, h);
    if (status == YK_OK)
        status = yk_world_set_joint_rows(self, t, h, inputs);
    if (YK_FAILED(status))
        return status;

    /* Without a number of iterations the solver knows by what the step resolves when to stop. */
    bool open = self->model.def.contact_options.max_iterations == 0;
    double resolution = open ? h * yk_v3_norm(self->model.def.gravity) : 0;
    yk_network_set_resolution(self->problem.network, resolution);
    yk_network_make_all_sweeps(self->problem.network, self->model.def.makes_all_sweeps);

    /* One problem for all impulses, started from those of the last step. */
    status =
        yk_network_solve(self->problem.network, &self->model.def.contact_options, &report->solver);
    if (!YK_FAILED(status))
        status = judge_residual(self, h);

    report->solve_seconds = yk_clock_seconds() - start;
    if (YK_FAILED(status))
        return status;

    /* Results: velocities, impulses for the next step, reactions. */
    yk_pool_run(self->pool, self->model.dynamic_count, YK_BODY_CHUNK, take_chunk, self);
    yk_world_take_impulses(self, h);

    /* Impacts before the contact problem load the joints too. */
    for (size_t k = 0; self->impact.acted && k < self->problem.joint_row_count; k++)
        self->problem.joint_rows[k].impulse += self->impact.joint_impulses[k];
    yk_world_take_reactions(self, h);
    return YK_OK;
}

/* Replaces these stages if everything sleeps and nothing moves. */
static void stay_at_rest(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    /* No search and no solution: the contacts are the frozen ones. */
    self->report = (yk_nonsmooth_report){
        .contacts = self->state.sleep.frozen.count,
        .near_pairs = self->collision.near.pairs.partner_count,
    };

    /* Ports report no acceleration. */
    for (size_t i = 0; i < self->model.port_count; i++) {
        const yk_port_model *port = &self->model.ports[i];
        self->step.before[port->slot] = (yk_twist){.linear = {0, 0, 0}};
        if (port->line && port->far_slot >= 0)
            self->step.before[port->far_slot] = (yk_twist){.linear = {0, 0, 0}};
    }

    set_known_motion(self, t, h, inputs);
    yk_world_clear_received(self, h);
}

/* Move ----------------------------------------------------------------------------------------- */

static void move_chunk(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    yk_nonsmooth *self = user;
    double h = self->step.h;

    for (size_t i = begin; i < end; i++) {
        if (yk_world_is_idle(&self->model, &self->state, (int32_t)i))
            continue;

        yk_body_state *body = &self->state.bodies[i];

        /* q(t + h) = q(t) + h v(t + h), the rotation by the exponential map. */
        body->position = yk_v3_axpy(h, body->velocity, body->position);
        yk_quat rotation = yk_so3_exp(yk_v3_scale(h, body->angular_velocity));
        body->orientation = yk_q_unit(yk_q_mul(rotation, body->orientation));
    }
}

/* Accelerations of ports over the step, and the wrench on a prescribed body. The bodies have not
 * moved yet. */
static void set_port_outputs(yk_nonsmooth *self, double h)
{
    for (size_t i = 0; i < self->model.port_count; i++) {
        const yk_port_model *port = &self->model.ports[i];
        yk_port_state *out = &self->state.ports[i];
        if (port->line)
            continue;

        size_t slot = (size_t)port->slot;
        const yk_body_state *body = &self->state.bodies[slot];
        const yk_twist *before = &self->step.before[slot];

        out->rate.linear = yk_v3_scale(1 / h, yk_v3_sub(body->velocity, before->linear));
        out->rate.angular = yk_v3_scale(1 / h, yk_v3_sub(body->angular_velocity, before->angular));

        /* The reaction of the body, moved from its centre of mass to the marker. */
        if (!port->whole_body)
            continue;

        yk_wrench at_centre = self->state.reactions[slot - self->model.dynamic_count];
        yk_vec3 arm = yk_q_rotate(body->orientation, port->marker.offset);
        out->wrench.force = at_centre.force;
        out->wrench.torque = yk_v3_sub(at_centre.torque, yk_v3_cross(arm, at_centre.force));
    }
}

/* Names the first body whose velocity is not finite, or the one with known motion whose reaction is
 * not finite. */
static yk_status report_not_finite(yk_nonsmooth *self)
{
    const yk_world_model *model = &self->model;
    for (size_t slot = 0; slot < model->body_count; slot++) {
        const yk_body_state *state = &self->state.bodies[slot];
        bool moves = yk_v3_finite(state->velocity) && yk_v3_finite(state->angular_velocity);
        /* For bodies with known motion it shows in their reaction. */
        bool held = true;
        if (slot >= model->dynamic_count) {
            const yk_wrench *reaction = &self->state.reactions[slot - model->dynamic_count];
            held = yk_v3_finite(reaction->force) && yk_v3_finite(reaction->torque);
        }

        if (moves && held)
            continue;

        int body = model->body_of[slot];
        const char *name = model->names[body];
        return yk_fail(self->context, YK_ERROR_NOT_FINITE,
                       "t = %g: the %s of body %d (%s) is not finite: check the forces on it and "
                       "what prescribes its motion, or use a smaller step",
                       self->state.run.time, moves ? "reaction" : "velocity", body,
                       name ? name : "no name");
    }

    return yk_fail(self->context, YK_ERROR_NOT_FINITE,
                   "t = %g: the work of the forces is not finite, though all velocities are: they "
                   "are too large to be squared; use a smaller step",
                   self->state.run.time);
}

yk_status yk_world_step(yk_nonsmooth *self, double t, double h, const yk_input *inputs)
{
    const yk_world_model *model = &self->model;
    bool sleeps = self->state.sleep.rest_time != NULL;
    double start = yk_clock_seconds();
    self->step.h = h;

    /* Loads on the bodies other than gravity, contacts and joints. */
    for (size_t i = 0; i < model->port_count; i++)
        if (model->ports[i].line)
            self->step.line_speeds[i] = yk_world_line_at(self, &model->ports[i]).rate;
    apply_wrenches(self, t, h, inputs);

    /* Stages 1 to 4 give the velocities at the end of the step. */
    if (sleeps && yk_sleep_begin(self, t, h, inputs)) {
        stay_at_rest(self, t, h, inputs);
    } else {
        yk_status status = find_impulses(self, t, h, inputs);
        if (YK_FAILED(status))
            return status;
    }

    /* Energies and reactions, before the bodies move, because the impulses acted at the present
     * poses. */
    account_ports(self, h);
    yk_world_account_pushes(self, h);
    self->step.supply += self->step.force_supply;
    if (!yk_world_balance_energy(self, h))
        return report_not_finite(self);

    set_port_outputs(self, h);

    /* Stage 5: q(t + h) = q(t) + h v(t + h). */
    yk_pool_run(self->pool, model->body_count, YK_BODY_CHUNK, move_chunk, self);
    for (size_t i = 0; i < model->port_count; i++) {
        const yk_port_model *port = &model->ports[i];
        if (!port->line)
            continue;

        double change = yk_world_line_at(self, port).rate - self->step.line_speeds[i];
        self->state.ports[i].rate.linear.x = change / h;
    }

    /* Data for later steps and for the user. */
    yk_world_watch_passages(self);
    if (sleeps)
        yk_sleep_end(self, h);

    /* Sinks act first, which frees particles for emitters. */
    yk_world_drain(self);
    yk_world_emit(self, t + h);

    self->state.run.time = t + h;
    self->state.run.step = h;
    self->report.step_seconds = yk_clock_seconds() - start;
    return YK_OK;
}
