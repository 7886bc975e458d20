/* Newton's method on the equations of a step, with factors that are kept as long as they are good.
 *
 * The prediction is of third order and the method of second: the first correction is, up to
 * higher order, the local truncation error of the step. Iterations are to leave nothing that
 * matters beside it, so they stop when the estimate
 *
 *   rate / (1 - rate) * |correction|      rate: contraction, measured when there are two
 *                                         corrections
 *
 * is below newton_relative times the first correction (and below newton_absolute). Factors are
 * made anew when a step took more than two iterations, when the step size changed, or when an
 * iteration hardly contracts; until then they turn with the bodies (linear_solver.c).
 *
 * Steps may be so small that corrections are of the size of the positions' rounding, where
 * nothing can be measured. What old factors leave of them is then unseen, but it is not harmless:
 * the balance of momenta is far more accurate than a position, and an error dx that remains is an
 * error dx / c of the velocity that the next steps keep. There factors are made anew when the
 * mechanism has moved on by a small angle. */
#include <string.h>

#include "multibody/multibody.h"

/* Below this fraction of the coordinates corrections are rounding and do not get smaller. */
static const double ROUNDING_FRACTION = 2e-15;
static const double SLOW_RATE = 0.3;
static const double SAFETY = 2;
static const int KEPT_ITERATIONS = 2;
/* New factors of a rod in absolute coordinates cost as much as some more iterations. */
static const int KEPT_WITH_RODS = 3;
/* Corrections below this many roundings tell nothing of how factors contract ... */
static const double UNSEEN = 100;
/* ... and these must not be older than this rotation (rad), which is their contraction. */
static const double UNSEEN_ROTATION = 2e-3;
/* A contraction is measured at least once in so many steps. */
static const double MEASURE_EVERY = 16;

/* Kept factors --------------------------------------------------------------------------------- */

void yk_multibody_remember_factors(yk_multibody *self, assembly_level level)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;
    yk_multibody_state *state = &self->state;

    /* Where they belong to, for the steps that keep them. */
    state->factor->c = work->c;
    state->factor->t = work->t;
    state->factor->damping = work->damping;
    state->factor->level = level;
    yk_multibody_keep_placement(model, work, state->reference, state->reference_coordinate);
    memcpy(state->reference_lambda, work->lambda, (size_t)model->row_count * sizeof *work->lambda);

    self->solver.match = true;
    yk_multibody_carry_from_here(model, work, &self->solver);
}

/* After a rollback the matrix may hold factors of a later time; the same as before are made from
 * what they were assembled at, so that a repeated step gives the same bits. */
yk_status yk_multibody_restore_factors(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;

    /* The trial as it was then. */
    double c = work->c;
    double t = work->t;
    double damping = work->damping;
    double *lambda = work->lambda;
    yk_multibody_swap_placement(model, work, state->reference, state->reference_coordinate);
    work->c = state->factor->c;
    work->t = state->factor->t;
    work->damping = state->factor->damping;
    work->lambda = state->reference_lambda;

    /* The matrix of that trial, and axes from which the factors turn with the bodies. */
    yk_multibody_assemble(model, work, solver, (assembly_level)state->factor->level);
    yk_status status = yk_multibody_factor(model, work, solver);
    yk_multibody_carry_from_here(model, work, solver);
    solver->match = status == YK_OK;

    /* And as it is now. */
    work->lambda = lambda;
    work->c = c;
    work->t = t;
    work->damping = damping;
    yk_multibody_swap_placement(model, work, state->reference, state->reference_coordinate);

    return status;
}

/* Iterations ----------------------------------------------------------------------------------- */

void yk_multibody_open_newton(const yk_multibody_state *state, yk_multibody_workspace *work)
{
    work->open = true;
    work->iterated = work->new_inputs = false;
    work->iteration = 0;
    work->refreshed = false;
    work->refresh = state->clock->refresh != 0;
}

/* Corrections below this are rounding of the positions (by the length scale, rad). */
static double rounding_of(const yk_multibody_model *model, const yk_multibody_workspace *work)
{
    return ROUNDING_FRACTION * fmax(1, work->extent / model->length_scale);
}

/* What the next correction would be, as a fraction of this one. Measured from the second
 * correction on; before, what earlier steps showed: the error of kept factors grows with their
 * age, that of fresh ones is of higher order. 1 where nothing is known. */
static double contraction(yk_multibody_state *state, yk_multibody_workspace *work,
                          double correction, bool *measured)
{
    clock_state *clock = state->clock;

    *measured = false;

    /* With new inputs the last correction was made for other equations. */
    if (work->new_inputs) {
        work->new_inputs = false;
        if (work->iteration > 1)
            return 1;
    }

    /* Expected, unless something has happened that earlier steps have not seen. */
    if (work->iteration == 1) {
        bool jump = correction > 8 * clock->correction;
        if (jump || clock->unmeasured >= MEASURE_EVERY)
            return 1;

        double rate = SAFETY * clock->age * clock->rate;
        if (work->refreshed)
            rate = SAFETY * clock->fresh_rate;
        return rate > 0 ? fmin(rate, 1) : 1;
    }

    /* Measured. */
    double rate = 0;
    if (work->last_correction > 0)
        rate = correction / work->last_correction;

    *measured = true;
    if (work->iteration > 2 || work->iterated)
        return rate;

    /* The second correction follows the first with the same factors: what later steps may
     * expect. */
    clock->unmeasured = 0;
    if (work->refreshed) {
        clock->fresh_rate = fmax(rate, fmax(0.5 * clock->fresh_rate, ROUNDING_FRACTION));
    } else {
        clock->rate = fmax(rate, ROUNDING_FRACTION) / clock->age;
    }

    return rate;
}

/* Whether what is left after a correction does not matter beside the local error of the step. */
static bool good_enough(const yk_multibody_model *model, yk_multibody_state *state,
                        yk_multibody_workspace *work, double correction)
{
    const yk_multibody_options *options = &model->def.options;
    bool measured;
    double rate = contraction(state, work, correction, &measured);

    /* Where joints are redundant, mechanisms pass through positions in which they could change
     * their mode of motion. */
    double relative = options->newton_relative_tolerance;
    if (state->clock->redundant != 0)
        relative *= 0.01;
    double wanted = fmin(relative * work->first_correction, options->newton_absolute_tolerance);
    double rounding = rounding_of(model, work);
    double limit = fmax(wanted, rounding);
    work->report.correction = correction / limit;

    /* Rounding; as small as rounding lets it become; or what is left is below the limit. */
    if (correction <= rounding)
        return true;
    if (rate >= 1 && work->iteration > 1 && correction < 100 * rounding)
        return true;
    if (rate < 1 && rate / (1 - rate) * correction <= limit)
        return true;

    /* Kept factors may let an error of rounding's size grow where all others shrink. */
    if (measured && rate > SLOW_RATE)
        work->refresh = true;

    return false;
}

yk_status yk_multibody_iterate_once(yk_multibody *self, bool *converged)
{
    const yk_multibody_model *model = &self->model;
    const integrator *method = model->integrator;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;

    /* Factors of another weight, or of other equations, are of no use. */
    bool other = state->factor->c != work->c || state->factor->level != LEVEL_STEP;
    bool refresh = work->refresh || other;
    if (!refresh && !solver->match) {
        yk_status status = yk_multibody_restore_factors(self);
        if (status != YK_OK)
            return status;
    }

    /* The residual, and its solution with new factors or with those that turn with the bodies. */
    method->momenta(model, work);
    yk_multibody_assemble(model, work, refresh ? solver : NULL, LEVEL_STEP);
    if (refresh) {
        yk_status status = yk_multibody_factor(model, work, solver);
        if (status != YK_OK)
            return status;

        yk_multibody_remember_factors(self, LEVEL_STEP);
        work->refresh = false;
        work->refreshed = true;
        state->clock->age = 0;
        yk_multibody_solve(model, solver, work->right);
    } else {
        yk_multibody_solve_carried(model, work, solver, work->right);
    }

    /* To the trial; the first correction estimates the local error. */
    double correction = method->update(model, state, work);
    work->iteration++;
    work->report.iterations++;
    if (!isfinite(correction)) {
        *converged = false;
        return yk_fail(model->context, YK_ERROR_DIVERGED,
                       "%s: the iteration at t = %g became infinite: use a smaller step",
                       model->def.name, work->t);
    }

    if (work->iteration == 1)
        work->first_correction = correction;
    *converged = good_enough(model, state, work, correction);
    work->last_correction = correction;

    return YK_OK;
}

static yk_status not_converged(const yk_multibody_model *model, const yk_multibody_workspace *work)
{
    /* The unknown with the largest part in the last correction. */
    int worst = 0;
    double largest = -1;
    for (int i = 0; i < model->motion_count; i++) {
        double size = fabs(work->right[i]) * yk_multibody_relative_size(model, i);
        if (!(size > largest))
            continue;

        largest = size;
        worst = i;
    }

    char owner[128];
    return yk_fail(model->context, YK_ERROR_DIVERGED,
                   "%s: the step to t = %g (size %g) does not converge after %d iterations, worst "
                   "at %s: the mechanism locks or comes to a dead point there, or the step is too "
                   "large; use a smaller step",
                   model->def.name, work->t, work->h, work->iteration,
                   yk_multibody_owner(model, worst, owner, sizeof owner));
}

yk_status yk_multibody_solve_step(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    clock_state *clock = self->state.clock;
    bool converged = false;

    while (!converged) {
        yk_status status = YK_OK;
        if (work->iteration >= model->def.options.max_newton_iterations) {
            status = not_converged(model, work);
        } else {
            status = yk_multibody_iterate_once(self, &converged);
        }

        if (status != YK_OK) {
            clock->refresh = 1;
            return status;
        }
    }

    /* Trials that calls of iterate have corrected say nothing of the factors. */
    clock->unmeasured += 1;
    clock->age += 1;
    if (work->iterated)
        return YK_OK;

    /* Whether the next step makes new factors: where this one took too many iterations, or ... */
    int most = KEPT_ITERATIONS;
    for (int i = 0; i < model->def.flexible_count; i++) {
        if (model->flexibles[i].body->kind == YK_FLEXIBLE_ROD)
            most = KEPT_WITH_RODS;
    }
    bool refresh = work->iteration > most;

    /* ... where corrections are rounding and the mechanism has moved on: by the largest angular
     * velocity, or velocity by the length of the model. */
    if (model->row_count > 0 && work->first_correction < UNSEEN * rounding_of(model, work)) {
        double largest = 0;
        double inverse = 1 / (model->length_scale * model->length_scale);
        for (int i = 0; i < model->node_count; i++) {
            const yk_frame *frame = &work->trial[i].frame;
            largest = fmax(largest, yk_v3_norm2(frame->angular_velocity));
            largest = fmax(largest, yk_v3_norm2(frame->velocity) * inverse);
        }
        for (int k = 0; k < model->coordinate_count; k++) {
            double rate = work->coordinates[k].rate * model->fraction[k];
            largest = fmax(largest, rate * rate);
        }

        double rotation = clock->age * work->h * sqrt(largest);
        refresh = refresh || rotation > UNSEEN_ROTATION;
    }
    clock->refresh = refresh;

    return YK_OK;
}
