/* The implicit two-step integrator (math/integrators.h; Zhang et al. 2020, equations 2 to 6; Zhang
 * et al. 2022, equations 5 to 10 and 33 to 35). One step: the terms of the past, the prediction,
 * acceptance; and the loop that divides steps if Newton's method fails or the local error is too
 * large. */
#include <string.h>

#include "multibody/step_sensitivity.h"

/* Smallest fraction of a step that is tried before the step fails. */
static const double SMALLEST_FRACTION = 1e-4;
/* The same under error control, with which a step may be divided into a thousand. */
static const double SMALLEST_CONTROLLED = 1e-9;
/* A change of velocity that moves a node by more than this in one step is not plausible (rad, or
 * relative to the length of the model). */
static const double FAR = 0.02;

static yk_vec3 combine(double a, yk_vec3 u, double b, yk_vec3 v)
{
    return yk_v3_axpy(b, v, yk_v3_scale(a, u));
}

static yk_two_step method_for(const yk_multibody_model *model, const yk_multibody_state *state,
                              double h)
{
    const clock_state *clock = state->clock;

    /* A first step has no past. */
    if (clock->steps == 0)
        return yk_two_step_trapezoidal();

    return yk_two_step_variable(model->def.options.rho_inf, h / clock->h);
}

/* Prediction ----------------------------------------------------------------------------------- */

/* The pose that results from velocity and rate of phi: x = x_past + c v, phi = phi_past + c phi', R
 * = exp(phi) R_n, w = T(phi) phi'. */
static void set_pose(const node_state *now, double c, trial_node *node)
{
    yk_frame *frame = &node->frame;

    frame->position = yk_v3_axpy(c, frame->velocity, node->position_past);

    node->rotation = yk_rotation_of(yk_v3_axpy(c, node->phi_rate, node->phi_past));
    node->orientation = yk_q_unit(yk_q_mul(node->rotation.quaternion, now->orientation));
    frame->rotation = yk_q_matrix(node->orientation);
    frame->angular_velocity = yk_rotation_tangent(&node->rotation, node->phi_rate);
}

/* The known terms of position and rotation at the end of the step, x_past and phi_past; returns the
 * rate of phi one step earlier. */
static yk_vec3 set_past(const yk_multibody_state *state, const yk_two_step *m, int i, double h,
                        trial_node *node)
{
    const node_state *now = &state->now[i];
    const node_state *before = &state->before[i];
    yk_vec3 w = now->angular_velocity;

    /* For a first step these are the initial values. */
    if (state->clock->steps == 0) {
        node->position_past = yk_v3_axpy(m->b1 * h, now->velocity, now->position);
        node->phi_past = yk_v3_scale(m->b1 * h, w);
        return w;
    }

    /* x_past = a1 x_n + a2 x_(n-1) + h (b1 v_n + b2 v_(n-1)), with a1 = 1 - a2. */
    yk_vec3 move = yk_v3_sub(now->position, before->position);
    yk_vec3 rates = combine(m->b1 * h, now->velocity, m->b2 * h, before->velocity);
    node->position_past = yk_v3_add(yk_v3_axpy(-m->a2, move, now->position), rates);

    /* In the present chart phi is zero now, and minus the last increment one step earlier. */
    yk_vec3 last = yk_v3_neg(state->rotation[i]);
    yk_rotation back = yk_rotation_of(last);
    yk_vec3 phi_rate = yk_rotation_tangent_inverse(&back, before->angular_velocity);
    node->phi_past = yk_v3_axpy(m->a2, last, combine(m->b1 * h, w, m->b2 * h, phi_rate));

    return phi_rate;
}

/* Initial guess of Newton's method: velocities extrapolated by their own rates. In the constrained
 * directions the method's velocities have a smooth error of second order. An extrapolation of
 * velocities keeps it, and one that also uses positions would multiply it. So this guess is better
 * by one order there than the Hermite prediction, and the first correction is of the size of the
 * local error of the velocities.
 *
 * The accelerations of parts that are far stiffer than the step, such as a light section of a beam
 * that is released or loaded suddenly, do not predict the next velocity: if they would move a node
 * far in one step, its velocity is kept. */
static void guess_velocity(const yk_multibody_model *model, const yk_multibody_state *state, int i,
                           double h, double c, trial_node *node)
{
    const node_state *now = &state->now[i];
    const node_state *before = &state->before[i];
    const clock_state *clock = state->clock;

    /* The change of velocity from the accelerations at both ends of the last step. */
    double half = 0;
    if (clock->steps != 0)
        half = 0.5 * h / clock->h;
    double a = h * (1 + half);
    double b = -h * half;
    yk_vec3 change = combine(a, now->acceleration, b, before->acceleration);
    yk_vec3 spin_change = combine(a, now->angular_acceleration, b, before->angular_acceleration);

    /* Zero if it would move the node far. */
    double limit = FAR / h;
    double reach = limit * model->length_scale;
    if (!(yk_v3_norm2(change) < reach * reach))
        change = yk_v3(0, 0, 0);
    if (!(yk_v3_norm2(spin_change) < limit * limit))
        spin_change = yk_v3(0, 0, 0);

    /* In the chart, the rate that belongs to the angular velocity. */
    node->frame.velocity = yk_v3_add(now->velocity, change);
    yk_vec3 spin = yk_v3_add(now->angular_velocity, spin_change);
    yk_rotation rotation = yk_rotation_of(yk_v3_axpy(c, spin, node->phi_past));
    node->phi_rate = yk_rotation_tangent_inverse(&rotation, spin);
}

/* The rate at the end of a step `ratio` times as long as the last, from the cubic polynomial
 * through both ends of the last: change = (y_n - y_(n-1)) / (size of the last step). */
static yk_vec3 hermite_rate(double ratio, yk_vec3 change, yk_vec3 rate, yk_vec3 rate_before)
{
    double square = ratio * ratio;
    double now = 1 + 4 * ratio + 3 * square;
    double before = 2 * ratio + 3 * square;
    double slope = -6 * (ratio + square);
    return yk_v3_axpy(slope, change, yk_v3_axpy(before, rate_before, yk_v3_scale(now, rate)));
}

/* The prediction of Zhang et al. 2022, equations 33 to 35, which explicit schemes pass to the
 * partners. */
static void two_step_predict(const yk_multibody_model *model, const yk_multibody_state *state,
                             int i, double h, trial_node *node)
{
    const node_state *now = &state->now[i];
    const node_state *before = &state->before[i];
    const clock_state *clock = state->clock;
    yk_two_step method = method_for(model, state, h);
    yk_vec3 phi_rate_before = set_past(state, &method, i, h, node);

    /* A first step has no past to extrapolate from. */
    if (clock->steps == 0) {
        guess_velocity(model, state, i, h, method.b0 * h, node);
    } else {
        double ratio = h / clock->h;
        double inverse = 1 / clock->h;
        yk_vec3 move = yk_v3_scale(inverse, yk_v3_sub(now->position, before->position));
        yk_vec3 rotation = yk_v3_scale(inverse, state->rotation[i]);
        node->frame.velocity = hermite_rate(ratio, move, now->velocity, before->velocity);
        node->phi_rate = hermite_rate(ratio, rotation, now->angular_velocity, phi_rate_before);
    }

    /* The resulting pose, with the present accelerations. */
    set_pose(now, method.b0 * h, node);
    node->acceleration = now->acceleration;
    node->angular_acceleration = now->angular_acceleration;
}

/* p_past of Zhang et al. 2020 (2): a1 p_n + a2 p_(n-1) + h (b1 p'_n + b2 p'_(n-1)). */
static yk_momentum momentum_past(const yk_two_step *m, double h, const node_state *now,
                                 const node_state *before, bool first)
{
    const yk_momentum *p = &now->momentum;
    const yk_momentum *rate = &now->momentum_rate;
    yk_momentum past = {.linear = combine(m->a1, p->linear, m->b1 * h, rate->linear),
                        .angular = combine(m->a1, p->angular, m->b1 * h, rate->angular)};

    /* A first step has no previous one. */
    if (first)
        return past;

    p = &before->momentum;
    rate = &before->momentum_rate;
    yk_vec3 linear = combine(m->a2, p->linear, m->b2 * h, rate->linear);
    yk_vec3 angular = combine(m->a2, p->angular, m->b2 * h, rate->angular);
    past.linear = yk_v3_add(past.linear, linear);
    past.angular = yk_v3_add(past.angular, angular);

    return past;
}

static void two_step_open(const yk_multibody_model *model, const yk_multibody_state *state,
                          yk_multibody_workspace *work, double t, double h)
{
    const clock_state *clock = state->clock;
    const yk_two_step method = method_for(model, state, h);
    const yk_two_step *m = &method;
    bool first = clock->steps == 0;

    work->method = method;
    work->h = h;
    work->t = t + h;
    work->c = m->b0 * h;
    work->compliance = yk_multibody_redundant_compliance(model, state, work);
    work->damping = yk_multibody_damping_at(model, work->t);

    /* Past and guess of the nodes. */
    work->extent = 0;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &state->now[i];
        trial_node *node = &work->trial[i];

        node->momentum_past = momentum_past(m, h, now, &state->before[i], first);
        set_past(state, m, i, h, node);
        guess_velocity(model, state, i, h, work->c, node);
        set_pose(now, work->c, node);

        yk_vec3 at = node->frame.position;
        work->extent = fmax(work->extent, fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z))));
    }

    /* The same for coordinates, which need no chart. */
    double half = first ? 0 : 0.5 * h / clock->h;
    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &state->coordinate_now[k];
        const coordinate_state *before = &state->coordinate_before[k];
        trial_coordinate *trial = &work->coordinates[k];

        trial->value_past = now->value + m->b1 * h * now->rate;
        trial->momentum_past = m->a1 * now->momentum + m->b1 * h * now->momentum_rate;
        if (!first) {
            trial->value_past += m->a2 * (before->value - now->value) + m->b2 * h * before->rate;
            trial->momentum_past += m->a2 * before->momentum + m->b2 * h * before->momentum_rate;
        }

        double rise = (1 + half) * now->acceleration - half * before->acceleration;
        trial->rate = now->rate + h * rise;
        trial->value = trial->value_past + work->c * trial->rate;
    }

    /* Multipliers are extrapolated too: their error is multiplied by the change of the joints'
     * directions since the factors were made. */
    double ratio = 0;
    if (clock->steps > 1)
        ratio = h / clock->h;
    for (int r = 0; r < model->row_count; r++) {
        double last = state->lambda[r];
        work->lambda[r] = last + ratio * (last - state->lambda_before[r]);
    }

    yk_multibody_open_newton(state, work);
}

/* Newton's method ------------------------------------------------------------------------------ */

static void two_step_momenta(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    yk_multibody_inertias(model, work, true);
}

static double two_step_update(const yk_multibody_model *model, const yk_multibody_state *state,
                              yk_multibody_workspace *work)
{
    double inverse = 1 / work->c;
    double inverse_length = 1 / model->length_scale;
    double largest = 0;

    /* The solution is a displacement: dv = dx / c, and dphi' = T^-1 dtheta / c in the chart. */
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &work->trial[i];
        const double *change = &work->right[model->nodes[i].unknown];
        yk_vec3 move = {change[0], change[1], change[2]};
        yk_vec3 rotation = {change[3], change[4], change[5]};

        yk_vec3 phi = yk_rotation_tangent_inverse(&node->rotation, rotation);
        node->frame.velocity = yk_v3_axpy(inverse, move, node->frame.velocity);
        node->phi_rate = yk_v3_axpy(inverse, phi, node->phi_rate);
        set_pose(&state->now[i], work->c, node);

        double size = yk_v3_norm2(move) * inverse_length * inverse_length;
        size = fmax(size, yk_v3_norm2(rotation));
        if (size > largest || isnan(size))
            largest = size;
    }

    /* Coordinates need no chart. */
    for (int k = 0; k < model->coordinate_count; k++) {
        trial_coordinate *trial = &work->coordinates[k];
        double move = work->right[model->coordinate_first + k];

        trial->rate += inverse * move;
        trial->value = trial->value_past + work->c * trial->rate;

        double size = move * model->fraction[k];
        size *= size;
        if (size > largest || isnan(size))
            largest = size;
    }

    /* Multipliers count in units of the matrix. */
    double scale = model->mass_scale * inverse * inverse;
    const double *change = &work->right[model->motion_count];
    for (int r = 0; r < model->row_count; r++)
        work->lambda[r] += scale * change[r];

    return sqrt(largest);
}

/* The unknown of the method is the rate at the end. */
static yk_vec3 rate_of(const yk_two_step *m, double h, yk_vec3 value, yk_vec3 now, yk_vec3 before,
                       yk_vec3 rate_now, yk_vec3 rate_before)
{
    yk_vec3 past = combine(m->a1, now, m->a2, before);
    yk_vec3 rates = combine(m->b1, rate_now, m->b2, rate_before);
    yk_vec3 change = yk_v3_scale(1 / h, yk_v3_sub(value, past));
    return yk_v3_scale(1 / m->b0, yk_v3_sub(change, rates));
}

static void two_step_accelerations(const yk_multibody_model *model, const yk_multibody_state *state,
                                   yk_multibody_workspace *work)
{
    const yk_two_step *m = &work->method;
    double h = work->h;

    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &state->now[i];
        const node_state *before = &state->before[i];
        trial_node *node = &work->trial[i];
        const yk_frame *frame = &node->frame;

        node->acceleration = rate_of(m, h, frame->velocity, now->velocity, before->velocity,
                                     now->acceleration, before->acceleration);
        node->angular_acceleration =
            rate_of(m, h, frame->angular_velocity, now->angular_velocity, before->angular_velocity,
                    now->angular_acceleration, before->angular_acceleration);
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &state->coordinate_now[k];
        const coordinate_state *before = &state->coordinate_before[k];
        trial_coordinate *trial = &work->coordinates[k];

        double change = (trial->rate - m->a1 * now->rate - m->a2 * before->rate) / h;
        double known = m->b1 * now->acceleration;
        trial->acceleration = (change - known - m->b2 * before->acceleration) / m->b0;
    }
}

/* The converged trial becomes the state. */
static void two_step_close(const yk_multibody_model *model, yk_multibody_state *state,
                           yk_multibody_workspace *work)
{
    yk_multibody_inertias(model, work, true);
    yk_multibody_balance_energy(model, state, work);
    two_step_accelerations(model, state, work);

    /* The present state is the past of the next step. */
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &state->now[i];
        state->older_move[i] = yk_v3_sub(now->position, state->before[i].position);
        state->older_rotation[i] = state->rotation[i];
        state->before[i] = *now;
        state->rotation[i] = work->trial[i].rotation.phi;
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        coordinate_state *now = &state->coordinate_now[k];
        coordinate_state *before = &state->coordinate_before[k];
        state->older_change[k] = now->value - before->value;
        *before = *now;
    }

    memcpy(state->lambda_before, state->lambda, (size_t)model->row_count * sizeof *work->lambda);
    yk_multibody_state_from_trial(model, state, work);

    /* The step is over. */
    clock_state *clock = state->clock;
    if (clock->h == work->h)
        clock->unchanged += 1;
    else
        clock->unchanged = 0;
    clock->t = work->t;
    clock->h_before = clock->h;
    clock->h = work->h;
    clock->steps++;
    clock->correction = work->first_correction;
    work->report.steps++;
    work->open = false;
}

/* Error control -------------------------------------------------------------------------------- */

/* Third derivative from the displacements of three steps, by divided differences. */
static double third_of(const double h[3], double last, double middle, double first)
{
    double speed[3] = {last / h[0], middle / h[1], first / h[2]};
    double second = (speed[0] - speed[1]) / (h[0] + h[1]);
    double before = (speed[1] - speed[2]) / (h[1] + h[2]);
    return 6 / (h[0] + h[1] + h[2]) * (second - before);
}

static yk_vec3 third_derivative(const double h[3], yk_vec3 last, yk_vec3 middle, yk_vec3 first)
{
    return yk_v3(third_of(h, last.x, middle.x, first.x), third_of(h, last.y, middle.y, first.y),
                 third_of(h, last.z, middle.z, first.z));
}

/* Local truncation error of positions (m), rotations and coordinates of flexible bodies: the
 * method's error constant times h^3 times the third derivative. The derivative is taken from
 * positions only: velocities and accelerations of an index-3 system contain errors that depend on
 * the steps in which they were computed, and jump when the step size changes. At the start only,
 * accelerations are used. */
static double local_error(const yk_multibody_model *model, const yk_multibody_state *state,
                          const yk_multibody_workspace *work)
{
    const yk_two_step *m = &work->method;
    const clock_state *clock = state->clock;
    bool starting = clock->steps < 2;
    double h = work->h;
    double sizes[3] = {h, clock->h, clock->h_before};

    /* Error of the method for t^3 on steps of sizes 1/ratio and 1. */
    double ratio = 1;
    if (clock->steps)
        ratio = h / clock->h;
    double cube = ratio * ratio * ratio;
    double constant = fabs(1 + m->a2 / cube - 3 * (m->b0 + m->b2 / (ratio * ratio))) / 6;

    /* Of a coordinate, as a displacement of its body. */
    double displaced = 0;
    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &state->coordinate_now[k];
        const coordinate_state *before = &state->coordinate_before[k];
        const trial_coordinate *trial = &work->coordinates[k];
        double third;

        if (starting) {
            third = (trial->acceleration - now->acceleration) / h;
        } else {
            third = third_of(sizes, trial->value - now->value, now->value - before->value,
                             state->older_change[k]);
        }

        displaced = fmax(displaced, model->reach[k] * fabs(third));
    }

    /* Of a node, position by the length scale and rotation. */
    double largest = displaced / model->length_scale;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &state->now[i];
        const node_state *before = &state->before[i];
        const trial_node *node = &work->trial[i];

        yk_vec3 jerk, swing;
        if (starting) {
            yk_vec3 spin = yk_v3_sub(node->angular_acceleration, now->angular_acceleration);
            jerk = yk_v3_scale(1 / h, yk_v3_sub(node->acceleration, now->acceleration));
            swing = yk_v3_scale(1 / h, spin);
        } else {
            yk_vec3 move = yk_v3_sub(node->frame.position, now->position);
            yk_vec3 last = yk_v3_sub(now->position, before->position);
            jerk = third_derivative(sizes, move, last, state->older_move[i]);
            swing = third_derivative(sizes, node->rotation.phi, state->rotation[i],
                                     state->older_rotation[i]);
        }

        /* Relative to the length scale, or in radians. */
        double size = fmax(yk_v3_norm(jerk) / model->length_scale, yk_v3_norm(swing));
        largest = fmax(largest, size);
    }

    return constant * h * h * h * largest * model->length_scale;
}

/* The factor by which the next step may grow, from the local error of third order. Small changes
 * are not worth new factors of the matrix, and a change must settle before the next one. */
static double growth(const yk_multibody_model *model, const yk_multibody_state *state, double error,
                     bool accepted)
{
    double factor = 0.85 * cbrt(model->def.options.error_tolerance / fmax(error, 1e-300));
    if (!accepted)
        return fmax(0.2, fmin(0.8, factor));
    if (factor < 1.2 || state->clock->unchanged < 3)
        return 1;

    return fmin(2, factor);
}

/* Steps ---------------------------------------------------------------------------------------- */

/* Solves one trial of the given size from the accepted state; the local error decides whether it is
 * accepted. */
static yk_status two_step_try(yk_multibody *self, double begin, double local, double size,
                              bool *accepted)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;

    /* A trial that calls of iterate have opened continues. */
    work->input_time = local + size;
    if (!work->open)
        two_step_open(model, state, work, begin + local, size);
    work->new_inputs = work->iterated;
    yk_multibody_input_frames(model, work);

    yk_status status = yk_multibody_solve_step(self);
    *accepted = status == YK_OK;

    double tolerance = model->def.options.error_tolerance;
    if (status == YK_OK && tolerance > 0) {
        if (state->clock->steps < 2)
            two_step_accelerations(model, state, work);
        work->report.error = local_error(model, state, work);
        *accepted = work->report.error <= tolerance;
    }

    /* Roll back the rejected step. */
    if (!*accepted)
        yk_multibody_trial_from_state(model, state, work);

    return status;
}

static yk_status two_step_advance(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    clock_state *clock = state->clock;
    bool controlled = model->def.options.error_tolerance > 0;

    /* Under error control, begin with the size at which the last step ended. */
    double done = 0;
    double size = h;
    if (controlled && !work->open && clock->size > 0) {
        size = clock->size;
    } else if (controlled && !work->open) {
        /* The first step follows from the jerk of the start, |w| |a|, with a safety margin. */
        double jerk = 1e-6;
        for (int i = 0; i < model->node_count; i++) {
            const node_state *now = &state->now[i];
            double swing = sqrt(yk_v3_norm(now->angular_acceleration));
            double w = yk_v3_norm(now->angular_velocity) + swing;
            double a = yk_v3_norm(now->acceleration) + w * w * model->length_scale;
            jerk = fmax(jerk, w * a);
        }
        size = fmin(h, 0.3 * cbrt(model->def.options.error_tolerance / jerk));
    }

    int attempts = 0;
    while (done < h) {
        yk_status allowed = yk_multibody_go_on(model, t, h, done, attempts++);
        if (allowed != YK_OK)
            return allowed;

        double left = h - done;
        double used = work->open ? h : yk_multibody_next_size(size, left);
        bool accepted;
        yk_status status = two_step_try(self, t, done, used, &accepted);
        if (YK_FAILED(status) && status != YK_ERROR_DIVERGED && status != YK_ERROR_SINGULAR)
            return status;

        /* Derivatives of a single internal step, before it is accepted; those of several follow
         * after the last. */
        if (status == YK_OK && accepted && work->varying) {
            variation *v = self->variation;
            if (v->size_count < YK_VARIATION_STEPS_MAX)
                v->sizes[v->size_count] = used;
            v->size_count++;
            if (used >= h)
                status = yk_two_step_vary(self);
        }

        /* Accepted. A shortened last internal step must not reduce the size of the following ones. */
        if (status == YK_OK && accepted) {
            double factor = 2;
            if (controlled)
                factor = growth(model, state, work->report.error, true);
            two_step_close(model, state, work);
            done = used >= left ? h : done + used;
            if (used >= 0.9 * size)
                size = used * factor;
            if (controlled)
                clock->size = size;
            continue;
        }

        work->report.rejected++;

        /* Joints have become redundant in the course of the motion: continue with multipliers of
         * least norm. */
        if (status == YK_ERROR_SINGULAR && clock->redundant == 0) {
            yk_log(model->context, YK_LOG_WARNING, "%s", yk_last_message(model->context));
            clock->redundant = 1;
            continue;
        }

        /* Rejected: divide the step, unless it would be too small. */
        double factor = 0.25;
        if (status == YK_OK)
            factor = growth(model, state, work->report.error, false);
        size = used * factor;
        double smallest = controlled ? SMALLEST_CONTROLLED : SMALLEST_FRACTION;
        if (size >= smallest * h)
            continue;

        if (status != YK_OK)
            return status;
        return yk_fail(model->context, YK_ERROR_DIVERGED,
                       "%s: the error tolerance %g cannot be met at t = %g: the motion is not "
                       "smooth there; use a larger tolerance",
                       model->def.name, model->def.options.error_tolerance, t + done);
    }

    clock->t = t + h;
    return YK_OK;
}

yk_status yk_two_step_repeat(yk_multibody *self, double t, const double *sizes, int count)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    double done = 0;

    /* Repeats the same internal steps, without error control. */
    for (int i = 0; i < count; i++) {
        two_step_open(model, state, work, t + done, sizes[i]);
        done += sizes[i];
        work->input_time = done;
        yk_multibody_input_frames(model, work);

        yk_status status = yk_multibody_solve_step(self);
        if (status != YK_OK)
            return status;

        two_step_close(model, state, work);
    }

    return YK_OK;
}

static yk_status two_step_vary(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_state *state = &self->state;
    variation *v = self->variation;

    /* The step itself, which records its internal steps. */
    v->size_count = 0;
    memcpy(v->mark, state->image, state->words * sizeof *v->mark);
    yk_status status = two_step_advance(self, t, h);
    if (status != YK_OK || v->size_count == 1)
        return status;

    /* For several internal steps, by finite differences over all of them. */
    if (v->size_count > YK_VARIATION_STEPS_MAX)
        return yk_fail(model->context, YK_ERROR_CAPABILITY,
                       "%s: the step to t = %g took %d internal steps, too many for its "
                       "sensitivities: use a smaller step or a larger error tolerance",
                       model->def.name, t + h, v->size_count);

    return yk_two_step_differences(self, t, h, v->mark, v->sizes, v->size_count, v->image);
}

static yk_status two_step_iterate(yk_multibody *self, double t, double h,
                                  yk_iteration_report *report)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;

    work->input_time = h;
    if (!work->open)
        two_step_open(model, state, work, t, h);
    work->iterated = work->new_inputs = true;
    yk_multibody_input_frames(model, work);

    /* Evaluate the accelerations of the iterate for the outputs. */
    bool converged;
    yk_status status = yk_multibody_iterate_once(self, &converged);
    if (status != YK_OK)
        return status;

    two_step_accelerations(model, state, work);

    report->correction = work->report.correction;
    report->converged = converged || work->report.correction <= 1;
    return YK_OK;
}

/* Choose pivots for the matrix of a step at the start, so that steps only need to refactor. A
 * matrix that is singular at the start may be regular in the first step, which will report an error
 * otherwise. */
static yk_status two_step_begin(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;

    memcpy(state->lambda_before, work->lambda, (size_t)model->row_count * sizeof *work->lambda);
    state->factor->c = 0; /* no factors yet */
    work->c = yk_two_step_trapezoidal().b0 * state->clock->h;
    work->compliance = yk_multibody_redundant_compliance(model, state, work);
    yk_multibody_assemble(model, work, &self->solver, LEVEL_STEP);

    yk_status status = yk_sparse_factor(self->solver.matrix, NULL);
    return status == YK_ERROR_MEMORY ? status : YK_OK;
}

static void two_step_characterise(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, yk_step_model *out)
{
    (void)model;
    const yk_two_step *m = &work->method;
    out->theta = m->b0;
    out->wrench_point = 1;
    out->wrench_weights[0] = m->b0;
    out->wrench_weights[1] = m->b1;
    out->wrench_weights[2] = m->b2;
    out->memory_factor = m->a2;
}

const integrator yk_multibody_two_step = {.begin = two_step_begin,
                                          .advance = two_step_advance,
                                          .iterate = two_step_iterate,
                                          .vary = two_step_vary,
                                          .predict = two_step_predict,
                                          .open = two_step_open,
                                          .momenta = two_step_momenta,
                                          .update = two_step_update,
                                          .accelerations = two_step_accelerations,
                                          .characterise = two_step_characterise,
                                          .settles = true};
