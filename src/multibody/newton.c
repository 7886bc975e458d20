/* Newton's method on the equations of a step, with factors that are kept as long as they are
 * accurate enough.
 *
 * The prediction is of third order and the method of second, so the first correction is, up to
 * higher order, the local truncation error of the step. The error of the iterations should be small
 * compared with it, so they stop when the estimate
 *
 *   rate / (1 - rate) * |correction| rate: contraction, measured when there are two corrections
 *
 * is below newton_relative times the first correction (and below newton_absolute). Factors are
 * recomputed if a step took more than two iterations, if the step size changed, or if an iteration
 * hardly contracts. Until then they rotate with the bodies (linear_solver.c).
 *
 * Steps may be so small that corrections are of the size of the rounding errors of positions, and
 * the contraction cannot be measured. The error that old factors leave is then invisible in the
 * positions but not harmless: the balance of momenta is far more accurate than a position, and a
 * remaining error dx is an error dx / c of the velocity, which the next steps keep. In this case
 * factors are recomputed when the mechanism has moved by a small angle. */
#include <string.h>

#include "multibody/multibody.h"

/* Below this fraction of the coordinates, corrections are rounding errors and do not decrease. */
static const double ROUNDING_FRACTION = 2e-15;
static const double SLOW_RATE = 0.3;
static const double SAFETY = 2;
static const int KEPT_ITERATIONS = 2;
/* New factors of a rod in absolute coordinates cost as much as some more iterations. */
static const int KEPT_WITH_RODS = 3;
/* Corrections below this multiple of the rounding errors do not show the contraction of the factors
 * ... */
static const double UNSEEN = 100;
/* ... which must then not be older than this rotation (rad). The rotation is an estimate of their
 * contraction. */
static const double UNSEEN_ROTATION = 2e-3;
/* The contraction is measured at least once in this number of steps. */
static const double MEASURE_EVERY = 16;

/* Kept factors --------------------------------------------------------------------------------- */

void yk_multibody_remember_factors(yk_multibody *self, assembly_level level)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;
    yk_multibody_state *state = &self->state;

    /* Store the placement of the factors, for the steps that reuse them. */
    state->factor->c = work->c;
    state->factor->t = work->t;
    state->factor->damping = work->damping;
    state->factor->level = level;
    yk_multibody_keep_placement(model, work, state->reference, state->reference_coordinate);
    memcpy(state->reference_lambda, work->lambda, (size_t)model->row_count * sizeof *work->lambda);

    self->solver.match = true;
    yk_multibody_carry_from_here(model, work, &self->solver);
}

/* After a rollback the matrix may have factors of a later time. The same factors as before are
 * recomputed from the stored placement, so that a repeated step gives the same bits. */
yk_status yk_multibody_restore_factors(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;

    /* Set the trial to that placement. */
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

    /* Restore the present trial. */
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

/* Corrections below this are rounding errors of the positions (relative to the length scale, rad). */
static double rounding_of(const yk_multibody_model *model, const yk_multibody_workspace *work)
{
    return ROUNDING_FRACTION * fmax(1, work->extent / model->length_scale);
}

/* Expected ratio of the next correction to this one. It is measured from the second correction on.
 * Before, earlier steps give an estimate: the error of kept factors grows with their age, that of
 * new ones is of higher order. 1 if nothing is known. */
static double contraction(yk_multibody_state *state, yk_multibody_workspace *work,
                          double correction, bool *measured)
{
    clock_state *clock = state->clock;

    *measured = false;

    /* With new inputs the last correction belongs to other equations. */
    if (work->new_inputs) {
        work->new_inputs = false;
        if (work->iteration > 1)
            return 1;
    }

    /* Expected from earlier steps, unless something new has happened. */
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

    /* The second correction follows the first with the same factors: later steps may expect this
     * contraction. */
    clock->unmeasured = 0;
    if (work->refreshed) {
        clock->fresh_rate = fmax(rate, fmax(0.5 * clock->fresh_rate, ROUNDING_FRACTION));
    } else {
        clock->rate = fmax(rate, ROUNDING_FRACTION) / clock->age;
    }

    return rate;
}

/* Whether the error that remains after a correction is small compared with the local error of the
 * step. */
static bool good_enough(const yk_multibody_model *model, yk_multibody_state *state,
                        yk_multibody_workspace *work, double correction)
{
    const yk_multibody_options *options = &model->def.options;
    bool measured;
    double rate = contraction(state, work, correction, &measured);

    /* If joints are redundant, mechanisms may pass through positions in which they could change
     * their mode of motion. */
    double relative = options->newton_relative_tolerance;
    if (state->clock->redundant != 0)
        relative *= 0.01;
    double wanted = fmin(relative * work->first_correction, options->newton_absolute_tolerance);
    double rounding = rounding_of(model, work);
    double limit = fmax(wanted, rounding);
    work->report.correction = correction / limit;

    /* Rounding errors; or as small as rounding errors allow; or the remaining error is below the
     * limit. */
    if (correction <= rounding)
        return true;
    if (rate >= 1 && work->iteration > 1 && correction < 100 * rounding)
        return true;
    if (rate < 1 && rate / (1 - rate) * correction <= limit)
        return true;

    /* Kept factors may let an error of rounding size grow while all others decrease. */
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

    /* Factors of another weight, or of other equations, cannot be used. */
    bool other = state->factor->c != work->c || state->factor->level != LEVEL_STEP;
    bool refresh = work->refresh || other;
    if (!refresh && !solver->match) {
        yk_status status = yk_multibody_restore_factors(self);
        if (status != YK_OK)
            return status;
    }

    /* The residual, and its solution with new factors or with rotated ones. */
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

    /* Add it to the trial. The first correction is the estimate of the local error. */
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

    /* Trials corrected by calls of iterate do not show the contraction of the factors. */
    clock->unmeasured += 1;
    clock->age += 1;
    if (work->iterated)
        return YK_OK;

    /* Whether the next step makes new factors: if this one took too many iterations, or ... */
    int most = KEPT_ITERATIONS;
    for (int i = 0; i < model->def.flexible_count; i++) {
        if (model->flexibles[i].body->kind == YK_FLEXIBLE_ROD)
            most = KEPT_WITH_RODS;
    }
    bool refresh = work->iteration > most;

    /* ... if corrections are rounding errors and the mechanism has moved: estimated from the
     * largest angular velocity, or velocity relative to the length of the model. */
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
