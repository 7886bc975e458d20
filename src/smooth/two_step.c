/* The two-step integrator. One step: what the past contributes, the Hermite prediction (explicit (33)-(35), tight
 * (5)-(6)), acceptance; and the loop that cuts steps where Newton's method fails or the local error is too large. */
#include <string.h>

#include "smooth/two_step.h"
#include "smooth/variation.h"

static yk_vec3 combine(double a, yk_vec3 u, double b, yk_vec3 v)
{
    return yk_v3_axpy(b, v, yk_v3_scale(a, u));
}

static yk_two_step method_for(const yk_smooth *model, double h)
{
    const clock_state *clock = model->state.clock;
    if (clock->steps == 0) return yk_two_step_trapezoidal();
    return yk_two_step_variable(model->def.options.rho_inf, h / clock->h);
}

static void place(const node_state *now, double c, trial_node *node)
{
    node->frame.position = yk_v3_axpy(c, node->frame.velocity, node->position_past);
    node->turn = yk_turn_of(yk_v3_axpy(c, node->phi_rate, node->phi_past));
    node->orientation = yk_q_unit(yk_q_mul(node->turn.rotation, now->orientation));
    node->frame.rotation = yk_q_matrix(node->orientation);
    node->frame.angular_velocity = yk_turn_tangent(&node->turn, node->phi_rate);
}

/* What is known of position and rotation at the end of the step, and the rate of phi one step back. */
static yk_vec3 place_past(const yk_smooth *model, const yk_two_step *m, int i, double h, trial_node *node)
{
    const node_state *now = &model->state.now[i], *before = &model->state.before[i];
    if (model->state.clock->steps == 0) {
        node->position_past = yk_v3_axpy(m->b1 * h, now->velocity, now->position);
        node->phi_past = yk_v3_scale(m->b1 * h, now->angular_velocity);
        return now->angular_velocity;
    }
    yk_vec3 last = yk_v3_neg(model->state.turn[i]);
    yk_turn back = yk_turn_of(last);
    yk_vec3 phi_rate = yk_turn_tangent_inverse(&back, before->angular_velocity);
    yk_vec3 move = yk_v3_sub(now->position, before->position);
    node->position_past = yk_v3_add(yk_v3_axpy(-m->a2, move, now->position),
                                    combine(m->b1 * h, now->velocity, m->b2 * h, before->velocity));
    node->phi_past = yk_v3_axpy(m->a2, last, combine(m->b1 * h, now->angular_velocity, m->b2 * h, phi_rate));
    return phi_rate;
}

/* Where Newton's method begins: velocities extrapolated by their own rates. In the constrained directions the method's
 * velocities carry a smooth error of second order, which an extrapolation of the velocities keeps, and one that mixes
 * in positions would multiply; so this guess is better by one order there than the Hermite prediction, and the first
 * correction is of the size of the local error of the velocities.
 *
 * Accelerations of what is far stiffer than the step, such as a light section of a beam that is released or loaded at once,
 * tell nothing of the next velocity: where they would carry a node far in one step, its velocity is left as it is. */
static void guess(const yk_smooth *model, int i, double h, double c, trial_node *node)
{
    static const double far = 0.02; /* rad, or of the length of the model */
    const node_state *now = &model->state.now[i], *before = &model->state.before[i];
    const clock_state *clock = model->state.clock;
    double half = clock->steps == 0 ? 0 : 0.5 * h / clock->h;
    yk_vec3 change = combine(h * (1 + half), now->acceleration, -h * half, before->acceleration);
    yk_vec3 spin_change = combine(h * (1 + half), now->angular_acceleration, -h * half, before->angular_acceleration);
    double limit = far / h, reach = limit * model->length_scale;
    if (!(yk_v3_norm2(change) < reach * reach)) change = yk_v3(0, 0, 0);
    if (!(yk_v3_norm2(spin_change) < limit * limit)) spin_change = yk_v3(0, 0, 0);
    node->frame.velocity = yk_v3_add(now->velocity, change);
    yk_vec3 spin = yk_v3_add(now->angular_velocity, spin_change);
    yk_turn turn = yk_turn_of(yk_v3_axpy(c, spin, node->phi_past));
    node->phi_rate = yk_turn_tangent_inverse(&turn, spin);
}

/* The rate at the end of a step `ratio` times as long as the last, from the cubic through both ends of the last:
 * change = (y_n - y_(n-1)) / (size of the last step). */
static yk_vec3 hermite_rate(double ratio, yk_vec3 change, yk_vec3 rate, yk_vec3 rate_before)
{
    double square = ratio * ratio;
    double now = 1 + 4 * ratio + 3 * square, before = 2 * ratio + 3 * square, slope = -6 * (ratio + square);
    return yk_v3_axpy(slope, change, yk_v3_axpy(before, rate_before, yk_v3_scale(now, rate)));
}

/* The prediction of the papers, which explicit schemes pass to the partners. */
static void predict_node(const yk_smooth *model, int i, double h, trial_node *node)
{
    const node_state *now = &model->state.now[i], *before = &model->state.before[i];
    const clock_state *clock = model->state.clock;
    yk_two_step method = method_for(model, h);
    yk_vec3 phi_rate_before = place_past(model, &method, i, h, node);
    if (clock->steps == 0) {
        guess(model, i, h, method.b0 * h, node);
    } else {
        double ratio = h / clock->h, inverse = 1 / clock->h;
        yk_vec3 move = yk_v3_scale(inverse, yk_v3_sub(now->position, before->position));
        yk_vec3 turn = yk_v3_scale(inverse, model->state.turn[i]);
        node->frame.velocity = hermite_rate(ratio, move, now->velocity, before->velocity);
        node->phi_rate = hermite_rate(ratio, turn, now->angular_velocity, phi_rate_before);
    }
    place(now, method.b0 * h, node);
    node->acceleration = now->acceleration;
    node->angular_acceleration = now->angular_acceleration;
}

static void momentum_past(const yk_smooth *model, const yk_two_step *m, int i, double h, trial_node *node)
{
    const node_state *now = &model->state.now[i], *before = &model->state.before[i];
    node->momentum_past.linear = combine(m->a1, now->momentum.linear, m->b1 * h, now->momentum_rate.linear);
    node->momentum_past.angular = combine(m->a1, now->momentum.angular, m->b1 * h, now->momentum_rate.angular);
    if (model->state.clock->steps == 0) return;
    yk_vec3 linear = combine(m->a2, before->momentum.linear, m->b2 * h, before->momentum_rate.linear);
    yk_vec3 angular = combine(m->a2, before->momentum.angular, m->b2 * h, before->momentum_rate.angular);
    node->momentum_past.linear = yk_v3_add(node->momentum_past.linear, linear);
    node->momentum_past.angular = yk_v3_add(node->momentum_past.angular, angular);
}

/* The same for a coordinate, which needs no chart. */
static void open_coordinate(const yk_smooth *model, int k)
{
    const yk_two_step *m = &model->method;
    const coordinate_state *now = &model->state.coordinate_now[k], *before = &model->state.coordinate_before[k];
    const clock_state *clock = model->state.clock;
    trial_coordinate *trial = &model->coordinates[k];
    double h = model->h;
    bool first = clock->steps == 0;
    double half = first ? 0 : 0.5 * h / clock->h;
    trial->value_past = now->value + m->b1 * h * now->rate;
    trial->momentum_past = m->a1 * now->momentum + m->b1 * h * now->momentum_rate;
    if (!first) {
        trial->value_past += m->a2 * (before->value - now->value) + m->b2 * h * before->rate;
        trial->momentum_past += m->a2 * before->momentum + m->b2 * h * before->momentum_rate;
    }
    trial->rate = now->rate + h * ((1 + half) * now->acceleration - half * before->acceleration);
    trial->value = trial->value_past + model->c * trial->rate;
}

/* Where joint equations are redundant: a compliance of 1e-14 length scales per unit of acceleration of the typical mass
 * singles out the multipliers of least norm and opens no gap that is seen; in the units of the matrix. */
double yk_smooth_redundant_compliance(const yk_smooth *model)
{
    return model->state.clock->redundant != 0 ? fmax(1e-14 * model->length_scale / (model->c * model->c), 1e-14) : 0;
}

static void open_trial(yk_smooth *model, double t, double h)
{
    model->method = method_for(model, h);
    model->h = h;
    model->t = t + h;
    model->c = model->method.b0 * h;
    model->compliance = yk_smooth_redundant_compliance(model);
    model->damping = yk_smooth_damping_at(model, model->t);
    model->extent = 0;
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &model->trial[i];
        place_past(model, &model->method, i, h, node);
        guess(model, i, h, model->c, node);
        momentum_past(model, &model->method, i, h, node);
        place(&model->state.now[i], model->c, node);
        yk_vec3 at = node->frame.position;
        model->extent = fmax(model->extent, fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z))));
    }
    for (int k = 0; k < model->coordinate_count; k++) open_coordinate(model, k);
    /* Multipliers are extrapolated too: what is wrong with them is multiplied by the change of the joints' directions
     * since the factors were made. */
    double ratio = model->state.clock->steps > 1 ? h / model->state.clock->h : 0;
    for (int r = 0; r < model->row_count; r++) {
        double last = model->state.lambda[r];
        model->lambda[r] = last + ratio * (last - model->state.lambda_before[r]);
    }
    model->open = true;
    model->iterated = model->new_inputs = false;
    model->iteration = 0;
    model->refreshed = false;
    model->refresh = model->state.clock->refresh != 0;
}

void yk_smooth_place_node(yk_smooth *model, int i)
{
    place(&model->state.now[i], model->c, &model->trial[i]);
}

/* The method solved for the rate at the end. */
static yk_vec3 rate_of(const yk_two_step *m, double h, yk_vec3 value, yk_vec3 now, yk_vec3 before, yk_vec3 rate_now,
                       yk_vec3 rate_before)
{
    yk_vec3 past = combine(m->a1, now, m->a2, before);
    yk_vec3 rates = combine(m->b1, rate_now, m->b2, rate_before);
    return yk_v3_scale(1 / m->b0, yk_v3_sub(yk_v3_scale(1 / h, yk_v3_sub(value, past)), rates));
}

void yk_two_step_accelerations(yk_smooth *model)
{
    const yk_two_step *m = &model->method;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &model->state.now[i], *before = &model->state.before[i];
        trial_node *node = &model->trial[i];
        node->acceleration = rate_of(m, model->h, node->frame.velocity, now->velocity, before->velocity,
                                     now->acceleration, before->acceleration);
        node->angular_acceleration =
            rate_of(m, model->h, node->frame.angular_velocity, now->angular_velocity, before->angular_velocity,
                    now->angular_acceleration, before->angular_acceleration);
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &model->state.coordinate_now[k], *before = &model->state.coordinate_before[k];
        double change = (model->coordinates[k].rate - m->a1 * now->rate - m->a2 * before->rate) / model->h;
        model->coordinates[k].acceleration =
            (change - m->b1 * now->acceleration - m->b2 * before->acceleration) / m->b0;
    }
}

static void close_trial(yk_smooth *model)
{
    yk_smooth_inertias(model, true);
    yk_smooth_account(model);
    yk_two_step_accelerations(model);
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &model->state.now[i];
        model->state.older_move[i] = yk_v3_sub(now->position, model->state.before[i].position);
        model->state.older_turn[i] = model->state.turn[i];
        model->state.before[i] = *now;
        model->state.turn[i] = model->trial[i].turn.phi;
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        coordinate_state *now = &model->state.coordinate_now[k], *before = &model->state.coordinate_before[k];
        model->state.older_change[k] = now->value - before->value;
        *before = *now;
    }
    memcpy(model->state.lambda_before, model->state.lambda, (size_t)model->row_count * sizeof *model->lambda);
    yk_smooth_state_from_trial(model);
    clock_state *clock = model->state.clock;
    clock->t = model->t;
    clock->unchanged = clock->h == model->h ? clock->unchanged + 1 : 0;
    clock->h_before = clock->h;
    clock->h = model->h;
    clock->steps++;
    clock->correction = model->first_correction;
    model->report.steps++;
    model->open = false;
}

/* Smallest share of a step that is tried before the step is given up. */
static const double smallest_share = 1e-4;
/* The same under error control, where the whole may be a thousand steps. */
static const double smallest_controlled = 1e-9;

/* Third derivative from the moves of three steps, by divided differences. */
static double third_of(const double h[3], double last, double middle, double first)
{
    double speed[3] = {last / h[0], middle / h[1], first / h[2]};
    double second = (speed[0] - speed[1]) / (h[0] + h[1]), before = (speed[1] - speed[2]) / (h[1] + h[2]);
    return 6 / (h[0] + h[1] + h[2]) * (second - before);
}

static yk_vec3 third_derivative(const double h[3], yk_vec3 last, yk_vec3 middle, yk_vec3 first)
{
    return yk_v3(third_of(h, last.x, middle.x, first.x), third_of(h, last.y, middle.y, first.y),
                 third_of(h, last.z, middle.z, first.z));
}

/* The largest third derivative of a coordinate of a flexible body, as a displacement of the body (m/s3). */
static double largest_third(const yk_smooth *model, const double h[3])
{
    double largest = 0;
    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &model->state.coordinate_now[k], *before = &model->state.coordinate_before[k];
        const trial_coordinate *trial = &model->coordinates[k];
        double third =
            model->state.clock->steps < 2
                ? (trial->acceleration - now->acceleration) / h[0]
                : third_of(h, trial->value - now->value, now->value - before->value, model->state.older_change[k]);
        largest = fmax(largest, model->reach[k] * fabs(third));
    }
    return largest;
}

/* Local truncation error of positions (m), rotations and coordinates of flexible bodies: the method's error constant times
 * h^3 times the third derivative. That is taken from positions alone: velocities and accelerations of an index-3 system
 * carry errors that belong to the steps in which they were made, and jump when the step changes. */
static double local_error(const yk_smooth *model)
{
    const yk_two_step *m = &model->method;
    const clock_state *clock = model->state.clock;
    double h = model->h, ratio = clock->steps ? h / clock->h : 1;
    /* What the method makes of t^3 on steps of 1/ratio and 1, against 1. */
    double constant = fabs(1 + m->a2 / (ratio * ratio * ratio) - 3 * (m->b0 + m->b2 / (ratio * ratio))) / 6;
    double sizes[3] = {h, clock->h, clock->h_before}, largest = largest_third(model, sizes) / model->length_scale;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &model->state.now[i], *before = &model->state.before[i];
        const trial_node *node = &model->trial[i];
        yk_vec3 jerk, swing;
        if (clock->steps < 2) { /* the start knows its accelerations */
            jerk = yk_v3_scale(1 / h, yk_v3_sub(node->acceleration, now->acceleration));
            swing = yk_v3_scale(1 / h, yk_v3_sub(node->angular_acceleration, now->angular_acceleration));
        } else {
            jerk = third_derivative(sizes, yk_v3_sub(node->frame.position, now->position),
                                    yk_v3_sub(now->position, before->position), model->state.older_move[i]);
            swing = third_derivative(sizes, node->turn.phi, model->state.turn[i], model->state.older_turn[i]);
        }
        largest = fmax(largest, fmax(yk_v3_norm(jerk) / model->length_scale, yk_v3_norm(swing)));
    }
    return constant * h * h * h * largest * model->length_scale;
}

/* Solves one trial of the given size from the accepted state; the local error decides whether it stands. */
static yk_status try_step(yk_smooth *model, double begin, double local, double size, bool *accepted)
{
    double tolerance = model->def.options.error_tolerance;
    model->input_time = local + size;
    if (!model->open) open_trial(model, begin + local, size);
    model->new_inputs = model->iterated;
    yk_smooth_input_frames(model);
    *accepted = false;
    yk_status status = yk_smooth_solve_step(model);
    if (status != YK_OK) {
        yk_smooth_trial_from_state(model);
        return status;
    }
    *accepted = true;
    if (tolerance == 0) return YK_OK;
    if (model->state.clock->steps < 2) yk_two_step_accelerations(model);
    model->report.error = local_error(model);
    *accepted = model->report.error <= tolerance;
    if (!*accepted) yk_smooth_trial_from_state(model);
    return YK_OK;
}

/* The factor by which the next step may grow, from the local error of third order. Small changes are not worth new
 * factors of the matrix, and a change is let settle before the next. */
static double growth(const yk_smooth *model, bool accepted)
{
    double factor = 0.85 * cbrt(model->def.options.error_tolerance / fmax(model->report.error, 1e-300));
    if (!accepted) return fmax(0.2, fmin(0.8, factor));
    if (factor < 1.2 || model->state.clock->unchanged < 3) return 1;
    return fmin(2, factor);
}

/* A first step from the size of the start's jerk, |w| |a|, well below what the tolerance allows. */
static double first_size(const yk_smooth *model, double h)
{
    double jerk = 1e-6;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &model->state.now[i];
        double spin = yk_v3_norm(now->angular_velocity) + sqrt(yk_v3_norm(now->angular_acceleration));
        jerk = fmax(jerk, spin * (yk_v3_norm(now->acceleration) + spin * spin * model->length_scale));
    }
    return fmin(h, 0.3 * cbrt(model->def.options.error_tolerance / jerk));
}

static yk_status tolerance_not_met(yk_smooth *model, double t)
{
    return yk_fail(model->context, YK_ERROR_DIVERGED,
                   "%s: the error tolerance %g cannot be met at t = %g: the motion is not smooth there; use a larger "
                   "tolerance",
                   model->def.name, model->def.options.error_tolerance, t);
}

/* For derivatives: of a single internal step here, before it is accepted; of several after the last. */
static yk_status note_step(yk_smooth *model, double size, bool whole)
{
    variation *v = model->variation;
    if (v->size_count < YK_TWO_STEP_REPEATS_MAX) v->sizes[v->size_count] = size;
    v->size_count++;
    return whole ? yk_two_step_vary(model) : YK_OK;
}

static yk_status advance(yk_smooth *model, double t, double h)
{
    clock_state *clock = model->state.clock;
    bool controlled = model->def.options.error_tolerance > 0;
    double done = 0, size = h;
    if (controlled && !model->open) size = clock->size > 0 ? clock->size : first_size(model, h);
    while (done < h) {
        double left = h - done, used = model->open ? h : yk_smooth_next_size(size, left);
        bool accepted;
        yk_status status = try_step(model, t, done, used, &accepted);
        if (status < 0 && status != YK_ERROR_DIVERGED && status != YK_ERROR_SINGULAR) return status;
        if (status == YK_OK && accepted && model->varying) status = note_step(model, used, used >= h);
        if (status == YK_OK && accepted) {
            double factor = controlled ? growth(model, true) : 2;
            close_trial(model);
            done = used >= left ? h : done + used;
            /* The end of the whole must not shorten the steps after it. */
            size = used < 0.9 * size ? size : used * factor;
            if (controlled) clock->size = size;
            continue;
        }
        model->report.rejected++;
        if (status == YK_ERROR_SINGULAR && clock->redundant == 0) {
            /* Joints have come to depend on each other on the way: go on with multipliers of least norm. */
            yk_log(model->context, YK_LOG_WARNING, "%s", yk_last_message(model->context));
            clock->redundant = 1;
            continue;
        }
        size = used * (status != YK_OK ? 0.25 : growth(model, false));
        if (size < (controlled ? smallest_controlled : smallest_share) * h)
            return status != YK_OK ? status : tolerance_not_met(model, t + done);
    }
    clock->t = t + h;
    return YK_OK;
}

yk_status yk_two_step_repeat(yk_smooth *model, double t, const double *sizes, int count)
{
    double done = 0;
    for (int i = 0; i < count; i++) {
        open_trial(model, t + done, sizes[i]);
        done += sizes[i];
        model->input_time = done;
        yk_smooth_input_frames(model);
        yk_status status = yk_smooth_solve_step(model);
        if (status != YK_OK) return status;
        close_trial(model);
    }
    return YK_OK;
}

static yk_status vary(yk_smooth *model, double t, double h)
{
    variation *v = model->variation;
    v->size_count = 0;
    memcpy(v->mark, model->image, model->image_words * sizeof *v->mark);
    yk_status status = advance(model, t, h);
    if (status != YK_OK || v->size_count == 1) return status;
    if (v->size_count > YK_TWO_STEP_REPEATS_MAX)
        return yk_fail(model->context, YK_ERROR_CAPABILITY,
                       "%s: the step to t = %g took %d internal steps, too many for its sensitivities: use a smaller "
                       "step or a larger error tolerance",
                       model->def.name, t + h, v->size_count);
    return yk_two_step_differences(model, t, h, v->mark, v->sizes, v->size_count, v->image);
}

static yk_status iterate(yk_smooth *model, double t, double h, yk_iteration *report)
{
    model->input_time = h;
    if (!model->open) open_trial(model, t, h);
    model->iterated = model->new_inputs = true;
    yk_smooth_input_frames(model);
    bool converged;
    yk_status status = yk_smooth_iterate_once(model, &converged);
    if (status != YK_OK) return status;
    yk_two_step_accelerations(model);
    report->correction = model->report.correction;
    report->converged = converged || model->report.correction <= 1;
    return YK_OK;
}

/* Pivots for the matrix of a step, chosen at the start so that steps need only refactor. A matrix that is singular there
 * may be regular in the first step: that one will tell. */
static yk_status begin(yk_smooth *model)
{
    memcpy(model->state.lambda_before, model->lambda, (size_t)model->row_count * sizeof *model->lambda);
    model->state.factor->c = 0; /* no factors yet */
    model->c = yk_two_step_trapezoidal().b0 * model->state.clock->h;
    model->compliance = yk_smooth_redundant_compliance(model);
    yk_smooth_assemble(model, LEVEL_STEP, true);
    yk_status status = yk_sparse_factor(model->matrix, NULL);
    return status == YK_ERROR_MEMORY ? status : YK_OK;
}

static void characterise(const yk_smooth *model, yk_step_model *out)
{
    const yk_two_step *m = &model->method;
    out->lead = m->b0;
    out->sample = 1;
    out->weight[0] = m->b0, out->weight[1] = m->b1, out->weight[2] = m->b2;
    out->memory = m->a2;
}

const integrator yk_smooth_two_step = {.begin = begin,
                                       .advance = advance,
                                       .iterate = iterate,
                                       .predict = predict_node,
                                       .vary = vary,
                                       .open = open_trial,
                                       .characterise = characterise};
