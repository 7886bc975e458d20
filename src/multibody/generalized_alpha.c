/* The generalized-alpha integrator.
 *
 * Form dae: the constraints themselves at the end of the step (index 3). Form ode: the constraints
 * are replaced by the stable equation (d/dt + beta)^2 c = 0, which is Zhou et al. 2022 (31) applied
 * to the positions and to the velocities; it makes (35) and (37) one equation of second order, as
 * this method requires. Multipliers are eliminated by the factors of | M G^T; G 0 |. Both forms are
 * solved by the Newton iteration of newton.c: with weight c = h sqrt(position) its matrix is that
 * of this method, except for damping, which is weighted by c instead of h velocity, at most six per
 * cent less.
 *
 * The first step begins with a = v'(t + (alpha_m - alpha_f) h), the time to which the algorithmic
 * accelerations belong: with a = v'(t) the multipliers of the form dae would be of first order for
 * a while. */
#include "multibody/multibody.h"

#include <string.h>

#include "multibody/step_sensitivity.h"

/* Smallest fraction of a step that is tried before the step fails. */
static const double SMALLEST_FRACTION = 1e-4;

yk_generalized_alpha yk_generalized_alpha_of(double rho_inf)
{
    yk_generalized_alpha m = {0};
    m.alpha_m = (2 * rho_inf - 1) / (rho_inf + 1);
    m.alpha_f = rho_inf / (rho_inf + 1);
    m.gamma = 0.5 + m.alpha_f - m.alpha_m;
    m.beta = 0.25 * (m.gamma + 0.5) * (m.gamma + 0.5);

    /* Changes of position and velocity at the end by a change of the true acceleration. */
    double ratio = (1 - m.alpha_f) / (1 - m.alpha_m);
    m.position = m.beta * ratio;
    m.velocity = m.gamma * ratio;

    return m;
}

double yk_generalized_alpha_stabilisation(const yk_multibody_model *model, double h)
{
    const yk_multibody_options *options = &model->def.options;
    if (options->formulation != YK_MULTIBODY_FORMULATION_STABILIZED_ODE)

        return 0;
    return options->stabilization_rate > 0 ? options->stabilization_rate : 1 / h;
}

/* Whether constraints are ordinary differential equations under these options. */
static bool generalized_alpha_is_ode(const yk_multibody_options *options)
{
    return options->integrator == YK_MULTIBODY_GENERALIZED_ALPHA &&
           options->formulation == YK_MULTIBODY_FORMULATION_STABILIZED_ODE;
}

void yk_generalized_alpha_as_ode(yk_multibody_options *options)
{
    /* A chosen form keeps its stabilization. */
    if (!generalized_alpha_is_ode(options))
        options->stabilization_rate = 0;

    options->integrator = YK_MULTIBODY_GENERALIZED_ALPHA;
    options->formulation = YK_MULTIBODY_FORMULATION_STABILIZED_ODE;
    options->error_tolerance = 0;
}

/* The formulas by components ------------------------------------------------------------------- */

/* The algorithmic acceleration at the end for a true one. */
static yk_vec3 method_acceleration(const yk_generalized_alpha *m, yk_vec3 end, yk_vec3 now,
                                   yk_vec3 method)
{
    yk_vec3 sum = yk_v3_axpy(m->alpha_f, now, yk_v3_scale(1 - m->alpha_f, end));
    return yk_v3_scale(1 / (1 - m->alpha_m), yk_v3_axpy(-m->alpha_m, method, sum));
}

static double coordinate_acceleration(const yk_generalized_alpha *m, double end, double now,
                                      double method)
{
    return ((1 - m->alpha_f) * end + m->alpha_f * now - m->alpha_m * method) / (1 - m->alpha_m);
}

static yk_vec3 velocity_at(const yk_generalized_alpha *m, double h, yk_vec3 v, yk_vec3 method,
                           yk_vec3 end)
{
    return yk_v3_axpy(h * m->gamma, end, yk_v3_axpy(h * (1 - m->gamma), method, v));
}

static yk_vec3 move_of(const yk_generalized_alpha *m, double h, yk_vec3 v, yk_vec3 method,
                       yk_vec3 end)
{
    yk_vec3 sum = yk_v3_axpy(m->beta, end, yk_v3_scale(0.5 - m->beta, method));
    return yk_v3_scale(h, yk_v3_axpy(h, sum, v));
}

static yk_vec3 take(const double *from)
{
    return yk_v3(from[0], from[1], from[2]);
}

/* The trial ------------------------------------------------------------------------------------ */

void yk_generalized_alpha_place_node(const yk_multibody_model *model,
                                     const yk_multibody_state *state, yk_multibody_workspace *work,
                                     int i)
{
    yk_generalized_alpha m = yk_generalized_alpha_of(model->def.options.rho_inf);
    const node_state *now = &state->now[i];
    const double *method = &state->method[model->nodes[i].unknown];
    trial_node *node = &work->trial[i];
    double h = work->h;

    /* The formulas in the header comment, for the position ... */
    yk_vec3 linear = take(method);
    yk_vec3 a = method_acceleration(&m, node->acceleration, now->acceleration, linear);
    node->frame.velocity = velocity_at(&m, h, now->velocity, linear, a);
    node->frame.position = yk_v3_add(now->position, move_of(&m, h, now->velocity, linear, a));

    /* ... and for the rotation, in the chart around the last accepted one. */
    yk_vec3 angular = take(method + 3);
    yk_vec3 swing = now->angular_acceleration;
    yk_vec3 b = method_acceleration(&m, node->angular_acceleration, swing, angular);
    node->frame.angular_velocity = velocity_at(&m, h, now->angular_velocity, angular, b);
    node->rotation = yk_rotation_of(move_of(&m, h, now->angular_velocity, angular, b));
    node->orientation = yk_q_unit(yk_q_mul(node->rotation.quaternion, now->orientation));
    node->frame.rotation = yk_q_matrix(node->orientation);
}

void yk_generalized_alpha_place_coordinate(const yk_multibody_model *model,
                                           const yk_multibody_state *state,
                                           yk_multibody_workspace *work, int k)
{
    yk_generalized_alpha m = yk_generalized_alpha_of(model->def.options.rho_inf);
    const coordinate_state *now = &state->coordinate_now[k];
    trial_coordinate *trial = &work->coordinates[k];
    double h = work->h;
    double method = state->method[model->coordinate_first + k];
    double a = coordinate_acceleration(&m, trial->acceleration, now->acceleration, method);

    /* The formulas in the header comment. */
    double curve = (0.5 - m.beta) * method + m.beta * a;
    trial->rate = now->rate + h * ((1 - m.gamma) * method + m.gamma * a);
    trial->value = now->value + h * (now->rate + h * curve);
}

void yk_generalized_alpha_open(const yk_multibody_model *model, const yk_multibody_state *state,
                               yk_multibody_workspace *work, double t, double h)
{
    const clock_state *clock = state->clock;

    work->h = h;
    work->t = t + h;
    work->damping = yk_multibody_damping_at(model, work->t);

    /* Extrapolate accelerations and multipliers with their change in the last step; the rest
     * follows from them. */
    double ratio = 0;
    if (clock->steps > 0)
        ratio = h / clock->h;

    work->extent = 0;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &state->now[i];
        const node_state *before = &state->before[i];
        trial_node *node = &work->trial[i];

        yk_vec3 linear = now->acceleration;
        yk_vec3 angular = now->angular_acceleration;
        yk_vec3 change = yk_v3_sub(linear, before->acceleration);
        yk_vec3 swing = yk_v3_sub(angular, before->angular_acceleration);
        node->acceleration = yk_v3_axpy(ratio, change, linear);
        node->angular_acceleration = yk_v3_axpy(ratio, swing, angular);
        yk_generalized_alpha_place_node(model, state, work, i);

        yk_vec3 at = now->position;
        work->extent = fmax(work->extent, fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z))));
    }

    /* Coordinates and multipliers likewise. */
    for (int k = 0; k < model->coordinate_count; k++) {
        double now = state->coordinate_now[k].acceleration;
        double before = state->coordinate_before[k].acceleration;
        work->coordinates[k].acceleration = now + ratio * (now - before);
        yk_generalized_alpha_place_coordinate(model, state, work, k);
    }

    for (int r = 0; r < model->row_count; r++) {
        double now = state->lambda[r];
        work->lambda[r] = now + ratio * (now - state->lambda_before[r]);
    }

    work->open = true;
    work->iteration = 0;
}

static void generalized_alpha_open(const yk_multibody_model *model, const yk_multibody_state *state,
                                   yk_multibody_workspace *work, double t, double h)
{
    yk_generalized_alpha m = yk_generalized_alpha_of(model->def.options.rho_inf);

    yk_generalized_alpha_open(model, state, work, t, h);

    /* The weight for which the matrix of a step is that of this method. */
    work->c = h * sqrt(m.position);
    work->compliance = yk_multibody_redundant_compliance(model, state, work);

    /* Form ode: the row c'' + 2 beta c' + beta^2 c is scaled so that its derivative by the position
     * is the gradient again. */
    double beta = yk_generalized_alpha_stabilisation(model, h);
    double square = m.position * h * h;
    work->stabilisation = beta;
    work->row_weight = work->velocity_row_weight = 0;
    if (beta > 0) {
        work->row_weight =
            square / (1 + 2 * beta * m.velocity * h + beta * beta * m.position * h * h);
        work->velocity_row_weight = square / (1 + beta * m.velocity * h);
    }

    yk_multibody_open_newton(state, work);
}

/* Adds changes of the positions in work->right, the result of Newton's method, to the trial. */
static double generalized_alpha_update(const yk_multibody_model *model,
                                       const yk_multibody_state *state,
                                       yk_multibody_workspace *work)
{
    yk_generalized_alpha m = yk_generalized_alpha_of(model->def.options.rho_inf);
    double inverse = 1 / (m.position * work->h * work->h);
    double length = 1 / model->length_scale;
    double largest = 0;

    /* The unknowns of the method are accelerations: d v' = d q / (position h^2). */
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &work->trial[i];
        const double *change = &work->right[model->nodes[i].unknown];
        yk_vec3 move = take(change);
        yk_vec3 rotation = yk_rotation_tangent_inverse(&node->rotation, take(change + 3));

        node->acceleration = yk_v3_axpy(inverse, move, node->acceleration);
        node->angular_acceleration = yk_v3_axpy(inverse, rotation, node->angular_acceleration);
        yk_generalized_alpha_place_node(model, state, work, i);

        double size = fmax(yk_v3_norm2(move) * length * length, yk_v3_norm2(rotation));
        if (size > largest || isnan(size))
            largest = size;
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        double move = work->right[model->coordinate_first + k];
        work->coordinates[k].acceleration += inverse * move;
        yk_generalized_alpha_place_coordinate(model, state, work, k);

        double size = move * model->fraction[k];
        size *= size;
        if (size > largest || isnan(size))
            largest = size;
    }

    /* Multipliers count in units of the matrix. */
    double scale = model->mass_scale / (work->c * work->c);
    for (int r = 0; r < model->row_count; r++)
        work->lambda[r] += scale * work->right[model->motion_count + r];

    return sqrt(largest);
}

void yk_generalized_alpha_close(const yk_multibody_model *model, yk_multibody_state *state,
                                yk_multibody_workspace *work)
{
    yk_generalized_alpha m = yk_generalized_alpha_of(model->def.options.rho_inf);

    yk_multibody_momenta(model, work);
    yk_multibody_balance_energy(model, state, work);

    /* The algorithmic accelerations; the present state becomes the past of the next step. */
    for (int i = 0; i < model->node_count; i++) {
        const trial_node *node = &work->trial[i];
        const node_state *now = &state->now[i];
        double *method = &state->method[model->nodes[i].unknown];
        yk_vec3 a = method_acceleration(&m, node->acceleration, now->acceleration, take(method));
        yk_vec3 swing = now->angular_acceleration;
        yk_vec3 b = method_acceleration(&m, node->angular_acceleration, swing, take(method + 3));

        memcpy(method, &a, sizeof a);
        memcpy(method + 3, &b, sizeof b);
        state->before[i] = *now;
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        const coordinate_state *now = &state->coordinate_now[k];
        double *method = &state->method[model->coordinate_first + k];
        double end = work->coordinates[k].acceleration;
        *method = coordinate_acceleration(&m, end, now->acceleration, *method);
        state->coordinate_before[k] = *now;
    }

    /* Multipliers and the state itself. */
    memcpy(state->lambda_before, state->lambda, (size_t)model->row_count * sizeof *work->lambda);
    yk_multibody_state_from_trial(model, state, work);

    /* The step is over. */
    clock_state *clock = state->clock;
    clock->t = work->t;
    clock->h = work->h;
    clock->steps++;
    clock->correction = work->first_correction;
    work->report.steps++;
    work->stabilisation = 0;
    work->open = false;
}

/* Steps ---------------------------------------------------------------------------------------- */

static yk_status generalized_alpha_advance(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    double done = 0;
    double size = h;

    int attempts = 0;
    while (done < h) {
        yk_status allowed = yk_multibody_go_on(model, t, h, done, attempts++);
        if (allowed != YK_OK)
            return allowed;

        /* An open trial covers the whole step. */
        double left = h - done;
        double used = work->open ? h : yk_multibody_next_size(size, left);

        work->input_time = done + used;
        if (!work->open)
            generalized_alpha_open(model, state, work, t + done, used);
        work->new_inputs = work->iterated;
        yk_multibody_input_frames(model, work);
        yk_status status = yk_multibody_solve_step(self);

        /* Derivatives cover a single step. */
        if (status == YK_OK && work->varying && used < h)
            status = yk_fail(model->context, YK_ERROR_CAPABILITY,
                             "%s: the step to t = %g had to be cut to converge, and has no "
                             "sensitivities then: use a smaller step",
                             model->def.name, work->t);

        if (status == YK_OK && work->varying)
            status = yk_two_step_vary(self);

        if (status == YK_OK) {
            yk_generalized_alpha_close(model, state, work);
            done = used >= left ? h : done + used;
            continue;
        }

        /* Repeat a failed step with a smaller size. */
        work->stabilisation = 0;
        yk_multibody_trial_from_state(model, state, work);
        if (status != YK_ERROR_DIVERGED && status != YK_ERROR_SINGULAR)
            return status;

        work->report.rejected++;
        size = 0.25 * used;
        if (size < SMALLEST_FRACTION * h)
            return status;
    }

    state->clock->t = t + h;
    return YK_OK;
}

static yk_status generalized_alpha_iterate(yk_multibody *self, double t, double h,
                                           yk_iteration_report *report)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;

    /* Start from the result of the last call, with the inputs of this one. */
    work->input_time = h;
    if (!work->open)
        generalized_alpha_open(model, &self->state, work, t, h);
    work->iterated = work->new_inputs = true;
    yk_multibody_input_frames(model, work);

    bool converged;
    yk_status status = yk_multibody_iterate_once(self, &converged);
    if (status != YK_OK)
        return status;

    report->correction = work->report.correction;
    report->converged = converged || work->report.correction <= 1;

    return YK_OK;
}

static yk_status generalized_alpha_begin(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    yk_generalized_alpha m = yk_generalized_alpha_of(model->def.options.rho_inf);
    double t = work->t;
    double h = state->clock->h;

    memcpy(state->lambda_before, state->lambda, (size_t)model->row_count * sizeof *work->lambda);

    /* Algorithmic accelerations of the start, at (alpha_m - alpha_f) h after it. */
    yk_multibody_rates_open(self);
    yk_multibody_assemble(model, work, solver, LEVEL_ACCELERATION);
    int column = 0;
    yk_status status = yk_sparse_factor(solver->matrix, &column);
    if (status == YK_OK) {
        yk_multibody_move_along(model, state, work, (m.alpha_m - m.alpha_f) * h);
        status = yk_multibody_rates(model, work, solver, false);
        memcpy(state->method, work->right, (size_t)model->motion_count * sizeof *state->method);
    }

    if (status == YK_ERROR_MEMORY)
        return status;

    /* Back to the start. */
    yk_multibody_trial_from_state(model, state, work);
    work->t = t;
    work->input_time = 0;
    yk_multibody_input_frames(model, work);

    /* Massless nodes: their motion is determined in implicit steps only. */
    if (status != YK_OK) {
        for (int i = 0; i < model->node_count; i++) {
            const node_state *now = &state->now[i];
            double *method = &state->method[model->nodes[i].unknown];
            memcpy(method, &now->acceleration, sizeof now->acceleration);
            memcpy(method + 3, &now->angular_acceleration, sizeof now->angular_acceleration);
        }

        for (int k = 0; k < model->coordinate_count; k++)
            state->method[model->coordinate_first + k] = state->coordinate_now[k].acceleration;
    }

    /* No factors yet, but pivots for the matrix of a step. */
    state->factor->c = 0;
    state->factor->level = LEVEL_STEP;

    memset(state->parts, 0,
           (size_t)yk_multibody_part_count(model) * state->part_words * sizeof *state->parts);

    work->c = h * sqrt(m.position);
    work->compliance = yk_multibody_redundant_compliance(model, state, work);
    yk_multibody_assemble(model, work, solver, LEVEL_STEP);
    status = yk_sparse_factor(solver->matrix, NULL);

    return status == YK_ERROR_MEMORY ? status : YK_OK;
}

/* The algorithmic acceleration, eliminated from the two formulas of the method. */
static void generalized_alpha_characterise(const yk_multibody_model *model,
                                           const yk_multibody_workspace *work, yk_step_model *out)
{
    (void)work;
    yk_generalized_alpha m = yk_generalized_alpha_of(model->def.options.rho_inf);
    double rest = 1 - m.alpha_m;

    out->theta = m.position / m.velocity;
    out->wrench_point = 1;
    out->wrench_weights[0] = m.gamma * (1 - m.alpha_f) / rest;
    out->wrench_weights[1] = (m.gamma * m.alpha_f + (1 - m.gamma) * (1 - m.alpha_f)) / rest;
    out->wrench_weights[2] = (1 - m.gamma) * m.alpha_f / rest;
    out->memory_factor = m.alpha_m / rest;
}

const integrator yk_multibody_generalized_alpha = {.begin = generalized_alpha_begin,
                                                   .advance = generalized_alpha_advance,
                                                   .iterate = generalized_alpha_iterate,
                                                   .vary = generalized_alpha_advance,
                                                   .predict = yk_multibody_predict_taylor,
                                                   .open = generalized_alpha_open,
                                                   .momenta = yk_multibody_momenta,
                                                   .update = generalized_alpha_update,
                                                   .characterise = generalized_alpha_characterise,
                                                   .remembers = true,
                                                   .is_ode = generalized_alpha_is_ode};
