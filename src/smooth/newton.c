/* Newton's method on the equations of a step, with factors that are kept as long as they are good.
 *
 * The prediction is of third order and the method of second: the first correction is, up to higher order, the local
 * truncation error of the step. Iterations are to leave nothing that matters beside it, so they stop when the estimate
 *
 *   rate / (1 - rate) * |correction|      rate: contraction, measured when there are two corrections
 *
 * is below newton_relative times the first correction (and below newton_absolute). Factors are made anew when a step
 * took more than two iterations, when the step size changed, or when an iteration hardly contracts; until then they
 * turn with the bodies (corotation.c).
 *
 * Steps may be so small that corrections are of the size of the positions' rounding, where nothing can be measured. What
 * old factors leave of them is then unseen, but it is not harmless: the balance of momenta is far more accurate than a
 * position, and an error dx that remains is an error dx / c of the velocity that the next steps keep. There factors are
 * made anew when the mechanism has moved on by a small angle. */
#include <string.h>

#include "smooth/internal.h"

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

void yk_smooth_remember_factors(yk_smooth *smooth, assembly_level level)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    factor_state *factor = state->factor;
    factor->c = work->c;
    factor->t = work->t;
    factor->damping = work->damping;
    factor->level = level;
    solver->match = true;
    for (int i = 0; i < model->frame_count; i++) state->reference[i] = work->trial[i].frame;
    for (int k = 0; k < model->coordinate_count; k++)
        state->reference_coordinate[k] =
            (coordinate_reference){.value = work->coordinates[k].value, .rate = work->coordinates[k].rate};
    memcpy(state->reference_lambda, work->lambda, (size_t)model->row_count * sizeof *work->lambda);
    yk_smooth_carry_from_here(model, work, solver);
}

/* Exchanges the placement of the trial with that of the last assembly of the matrix. */
static void swap_reference(const yk_smooth_model *model, yk_smooth_state *state, yk_smooth_workspace *work)
{
    for (int i = 0; i < model->frame_count; i++) {
        yk_frame swap = work->trial[i].frame;
        work->trial[i].frame = state->reference[i];
        state->reference[i] = swap;
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        coordinate_reference *kept = &state->reference_coordinate[k], swap = *kept;
        *kept = (coordinate_reference){.value = work->coordinates[k].value, .rate = work->coordinates[k].rate};
        work->coordinates[k].value = swap.value;
        work->coordinates[k].rate = swap.rate;
    }
}

/* After a rollback the matrix may hold factors of a later time; the same as before are made from what they were
 * assembled at, so that a repeated step gives the same bits. */
yk_status yk_smooth_restore_factors(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    factor_state *wanted = state->factor;
    double c = work->c, t = work->t, damping = work->damping;
    double *lambda = work->lambda;
    swap_reference(model, state, work);
    work->c = wanted->c, work->t = wanted->t, work->damping = wanted->damping;
    work->lambda = state->reference_lambda;
    yk_smooth_assemble(model, work, solver, (assembly_level)wanted->level);
    yk_status status = yk_smooth_factor(model, work, solver);
    yk_smooth_carry_from_here(model, work, solver);
    work->lambda = lambda;
    work->c = c, work->t = t, work->damping = damping;
    swap_reference(model, state, work);
    solver->match = status == YK_OK;
    return status;
}

static double rounding_of(const yk_smooth_model *model, const yk_smooth_workspace *work)
{
    return ROUNDING_FRACTION * fmax(1, work->extent / model->length_scale);
}

static double tolerance(const yk_smooth_model *model, const yk_smooth_state *state, const yk_smooth_workspace *work)
{
    const yk_smooth_options *options = &model->def.options;
    /* Where joints are redundant, mechanisms pass through positions in which they could change their mode of motion. */
    double fraction = options->newton_relative * (state->clock->redundant != 0 ? 0.01 : 1);
    double wanted = fmin(fraction * work->first_correction, options->newton_absolute);
    return fmax(wanted, rounding_of(model, work));
}

/* What the next correction would be, as a fraction of this one. Measured from the second correction on; before, what
 * earlier steps showed: the error of kept factors grows with their age, that of fresh ones is of higher order. 1 where
 * nothing is known. */
static double contraction(yk_smooth_state *state, yk_smooth_workspace *work, double correction, bool *measured)
{
    *measured = false;
    clock_state *clock = state->clock;
    if (work->new_inputs) { /* the last correction was made for other equations */
        work->new_inputs = false;
        if (work->iteration > 1) return 1;
    }
    if (work->iteration == 1) {
        bool jump = correction > 8 * clock->correction;
        if (jump || clock->unmeasured >= MEASURE_EVERY) return 1;
        double rate = work->refreshed ? SAFETY * clock->fresh_rate : SAFETY * clock->age * clock->rate;
        return rate > 0 ? fmin(rate, 1) : 1;
    }
    double rate = work->last_correction > 0 ? correction / work->last_correction : 0;
    *measured = true;
    if (work->iteration == 2 && !work->iterated) {
        clock->unmeasured = 0;
        if (work->refreshed) {
            clock->fresh_rate = fmax(rate, fmax(0.5 * clock->fresh_rate, ROUNDING_FRACTION));
        } else {
            clock->rate = fmax(rate, ROUNDING_FRACTION) / clock->age;
        }
    }
    return rate;
}

static bool good_enough(const yk_smooth_model *model, yk_smooth_state *state, yk_smooth_workspace *work,
                        double correction)
{
    bool measured;
    double rate = contraction(state, work, correction, &measured), limit = tolerance(model, state, work),
           rounding = rounding_of(model, work);
    work->report.correction = correction / limit;
    if (correction <= rounding) return true;
    if (rate >= 1 && work->iteration > 1 && correction < 100 * rounding) return true;
    if (rate < 1 && rate / (1 - rate) * correction <= limit) return true;
    /* Kept factors may let an error of rounding's size grow where all others shrink. */
    if (measured && rate > SLOW_RATE) work->refresh = true;
    return false;
}

yk_status yk_smooth_iterate_once(yk_smooth *smooth, bool *converged)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    factor_state *kept = state->factor;
    bool refresh = work->refresh || kept->c != work->c || kept->level != LEVEL_STEP;
    if (!refresh && !solver->match) {
        yk_status status = yk_smooth_restore_factors(smooth);
        if (status != YK_OK) return status;
    }
    model->integrator->momenta(model, work);
    yk_smooth_assemble(model, work, refresh ? solver : NULL, LEVEL_STEP);
    if (refresh) {
        yk_status status = yk_smooth_factor(model, work, solver);
        if (status != YK_OK) return status;
        yk_smooth_remember_factors(smooth, LEVEL_STEP);
        work->refresh = false;
        work->refreshed = true;
        state->clock->age = 0;
    }
    if (refresh) {
        yk_smooth_solve(model, solver, work->right);
    } else {
        yk_smooth_solve_carried(model, work, solver, work->right);
    }
    double correction = model->integrator->update(model, state, work);
    work->iteration++;
    work->report.iterations++;
    if (!isfinite(correction)) {
        *converged = false;
        return yk_fail(model->context, YK_ERROR_DIVERGED,
                       "%s: the iteration at t = %g became infinite: use a smaller step", model->def.name, work->t);
    }
    if (work->iteration == 1) work->first_correction = correction;
    *converged = good_enough(model, state, work, correction);
    work->last_correction = correction;
    return YK_OK;
}

/* The unknown with the largest share in the last correction. */
static int worst_unknown(const yk_smooth_model *model, const yk_smooth_workspace *work)
{
    int worst = 0;
    double largest = -1;
    for (int i = 0; i < model->motion_count; i++) {
        double size = fabs(work->right[i]) * yk_smooth_relative_size(model, i);
        if (size > largest) largest = size, worst = i;
    }
    return worst;
}

static yk_status not_converged(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    char owner[128];
    return yk_fail(model->context, YK_ERROR_DIVERGED,
                   "%s: the step to t = %g (size %g) does not converge after %d iterations, worst at %s: the mechanism "
                   "locks or comes to a dead point there, or the step is too large; use a smaller step",
                   model->def.name, work->t, work->h, work->iteration,
                   yk_smooth_owner(model, worst_unknown(model, work), owner, sizeof owner));
}

static int most_kept(const yk_smooth_model *model)
{
    for (int i = 0; i < model->def.flexible_count; i++)
        if (model->flexibles[i].body->kind == YK_FLEXIBLE_ROD) return KEPT_WITH_RODS;
    return KEPT_ITERATIONS;
}

/* How fast directions change: the largest angular velocity, or velocity by the length of the model (1/s). */
static double rotating_rate(const yk_smooth_model *model, const yk_smooth_workspace *work)
{
    double largest = 0, inverse = 1 / (model->length_scale * model->length_scale);
    for (int i = 0; i < model->node_count; i++) {
        const yk_frame *frame = &work->trial[i].frame;
        largest = fmax(largest, yk_v3_norm2(frame->angular_velocity));
        largest = fmax(largest, yk_v3_norm2(frame->velocity) * inverse);
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        double rate = work->coordinates[k].rate * model->fraction[k];
        largest = fmax(largest, rate * rate);
    }
    return sqrt(largest);
}

yk_status yk_smooth_solve_step(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    bool converged = false;
    while (!converged) {
        if (work->iteration >= model->def.options.newton_iterations) {
            state->clock->refresh = 1;
            return not_converged(model, work);
        }
        yk_status status = yk_smooth_iterate_once(smooth, &converged);
        if (status != YK_OK) {
            state->clock->refresh = 1;
            return status;
        }
    }
    clock_state *clock = state->clock;
    clock->unmeasured += 1;
    clock->age += 1;
    if (work->iterated) return YK_OK;
    clock->refresh = work->iteration > most_kept(model);
    if (model->row_count > 0 && work->first_correction < UNSEEN * rounding_of(model, work))
        clock->refresh = clock->refresh != 0 || clock->age * work->h * rotating_rate(model, work) > UNSEEN_ROTATION;
    return YK_OK;
}
