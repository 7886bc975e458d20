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

/* Below this share of the coordinates corrections are rounding and do not get smaller. */
static const double rounding_share = 2e-15;
static const double slow_rate = 0.3;
static const double safety = 2;
static const int kept_iterations = 2;
/* New factors of a rod in absolute coordinates cost as much as some more iterations. */
static const int kept_with_rods = 3;
/* Corrections below this many roundings tell nothing of how factors contract ... */
static const double unseen = 100;
/* ... and these must not be older than this rotation (rad), which is their contraction. */
static const double unseen_turn = 2e-3;
/* A contraction is measured at least once in so many steps. */
static const double measure_every = 16;

void yk_smooth_remember_factors(yk_smooth *model, assembly_level level)
{
    factor_state *factor = model->state.factor;
    factor->c = model->c;
    factor->t = model->t;
    factor->damping = model->damping;
    factor->level = level;
    model->factors_match = true;
    for (int i = 0; i < model->frame_count; i++) model->state.reference[i] = model->trial[i].frame;
    for (int k = 0; k < model->coordinate_count; k++)
        model->state.reference_coordinate[k] =
            (coordinate_reference){.value = model->coordinates[k].value, .rate = model->coordinates[k].rate};
    memcpy(model->state.reference_lambda, model->lambda, (size_t)model->row_count * sizeof *model->lambda);
    yk_smooth_carry_from_here(model);
}

/* Exchanges the placement of the trial with that of the last assembly of the matrix. */
static void swap_reference(yk_smooth *model)
{
    for (int i = 0; i < model->frame_count; i++) {
        yk_frame swap = model->trial[i].frame;
        model->trial[i].frame = model->state.reference[i];
        model->state.reference[i] = swap;
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        coordinate_reference *kept = &model->state.reference_coordinate[k], swap = *kept;
        *kept = (coordinate_reference){.value = model->coordinates[k].value, .rate = model->coordinates[k].rate};
        model->coordinates[k].value = swap.value;
        model->coordinates[k].rate = swap.rate;
    }
}

yk_status yk_smooth_factor_failed(yk_smooth *model, yk_status status, int column)
{
    char owner[128];
    if (status == YK_ERROR_NOT_FINITE)
        return yk_fail(model->context, YK_ERROR_DIVERGED,
                       "%s: the equations at t = %g are not finite at %s: use a smaller step, or check its forces",
                       model->def.name, model->t, yk_smooth_owner(model, column, owner, sizeof owner));
    if (status != YK_ERROR_SINGULAR) return status;
    return yk_fail(model->context, status,
                   "%s: the equations at t = %g have no unique solution at %s: a massless node moves freely there, or "
                   "its joints lock; give it mass or a joint",
                   model->def.name, model->t, yk_smooth_owner(model, column, owner, sizeof owner));
}

yk_status yk_smooth_factor(yk_smooth *model)
{
    int column = 0;
    yk_status status = yk_sparse_refactor(model->matrix, &column);
    if (status != YK_OK) {
        model->factors_match = false;
        return yk_smooth_factor_failed(model, status, column);
    }
    model->report.factorisations++;
    return YK_OK;
}

/* After a rollback the matrix may hold factors of a later time; the same as before are made from what they were
 * assembled at, so that a repeated step gives the same bits. */
yk_status yk_smooth_restore_factors(yk_smooth *model)
{
    factor_state *wanted = model->state.factor;
    double c = model->c, t = model->t, damping = model->damping;
    double *lambda = model->lambda;
    swap_reference(model);
    model->c = wanted->c, model->t = wanted->t, model->damping = wanted->damping;
    model->lambda = model->state.reference_lambda;
    yk_smooth_assemble(model, (assembly_level)wanted->level, true);
    yk_status status = yk_smooth_factor(model);
    yk_smooth_carry_from_here(model);
    model->lambda = lambda;
    model->c = c, model->t = t, model->damping = damping;
    swap_reference(model);
    model->factors_match = status == YK_OK;
    return status;
}

void yk_smooth_step_momenta(yk_smooth *model)
{
    if (model->integrator->momenta) {
        model->integrator->momenta(model);
    } else {
        yk_smooth_inertias(model, true);
    }
}

double yk_smooth_step_update(yk_smooth *model)
{
    return model->integrator->update ? model->integrator->update(model) : yk_smooth_update(model);
}

double yk_smooth_update(yk_smooth *model)
{
    double inverse = 1 / model->c, inverse_length = 1 / model->length_scale, largest = 0;
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &model->trial[i];
        const double *change = &model->right[model->nodes[i].unknown];
        yk_vec3 move = {change[0], change[1], change[2]}, turn = {change[3], change[4], change[5]};
        node->frame.velocity = yk_v3_axpy(inverse, move, node->frame.velocity);
        node->phi_rate = yk_v3_axpy(inverse, yk_turn_tangent_inverse(&node->turn, turn), node->phi_rate);
        yk_smooth_place_node(model, i);
        double size = fmax(yk_v3_norm2(move) * inverse_length * inverse_length, yk_v3_norm2(turn));
        largest = size > largest || isnan(size) ? size : largest;
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        double move = model->right[model->coordinate_first + k], share = move * model->share[k];
        model->coordinates[k].rate += inverse * move;
        model->coordinates[k].value = model->coordinates[k].value_past + model->c * model->coordinates[k].rate;
        largest = share * share > largest || isnan(share) ? share * share : largest;
    }
    double scale = model->mass_scale * inverse * inverse;
    const double *change = &model->right[model->motion_count];
    for (int r = 0; r < model->row_count; r++) model->lambda[r] += scale * change[r];
    return sqrt(largest);
}

static double rounding_of(const yk_smooth *model)
{
    return rounding_share * fmax(1, model->extent / model->length_scale);
}

static double tolerance(const yk_smooth *model)
{
    const yk_smooth_options *options = &model->def.options;
    /* Where joints are redundant, mechanisms pass through positions in which they could change their mode of motion. */
    double share = options->newton_relative * (model->state.clock->redundant != 0 ? 0.01 : 1);
    double wanted = fmin(share * model->first_correction, options->newton_absolute);
    return fmax(wanted, rounding_of(model));
}

/* What the next correction would be, as a share of this one. Measured from the second correction on; before, what
 * earlier steps showed: the error of kept factors grows with their age, that of fresh ones is of higher order. 1 where
 * nothing is known. */
static double contraction(yk_smooth *model, double correction, bool *measured)
{
    *measured = false;
    clock_state *clock = model->state.clock;
    if (model->new_inputs) { /* the last correction was made for other equations */
        model->new_inputs = false;
        if (model->iteration > 1) return 1;
    }
    if (model->iteration == 1) {
        bool jump = correction > 8 * clock->correction;
        if (jump || clock->unmeasured >= measure_every) return 1;
        double rate = model->refreshed ? safety * clock->fresh_rate : safety * clock->age * clock->rate;
        return rate > 0 ? fmin(rate, 1) : 1;
    }
    double rate = model->last_correction > 0 ? correction / model->last_correction : 0;
    *measured = true;
    if (model->iteration == 2 && !model->iterated) {
        clock->unmeasured = 0;
        if (model->refreshed) {
            clock->fresh_rate = fmax(rate, fmax(0.5 * clock->fresh_rate, rounding_share));
        } else {
            clock->rate = fmax(rate, rounding_share) / clock->age;
        }
    }
    return rate;
}

static bool good_enough(yk_smooth *model, double correction)
{
    bool measured;
    double rate = contraction(model, correction, &measured), limit = tolerance(model), rounding = rounding_of(model);
    model->report.correction = correction / limit;
    if (correction <= rounding) return true;
    if (rate >= 1 && model->iteration > 1 && correction < 100 * rounding) return true;
    if (rate < 1 && rate / (1 - rate) * correction <= limit) return true;
    /* Kept factors may let an error of rounding's size grow where all others shrink. */
    if (measured && rate > slow_rate) model->refresh = true;
    return false;
}

yk_status yk_smooth_iterate_once(yk_smooth *model, bool *converged)
{
    factor_state *kept = model->state.factor;
    bool refresh = model->refresh || kept->c != model->c || kept->level != LEVEL_STEP;
    if (!refresh && !model->factors_match) {
        yk_status status = yk_smooth_restore_factors(model);
        if (status != YK_OK) return status;
    }
    yk_smooth_step_momenta(model);
    yk_smooth_assemble(model, LEVEL_STEP, refresh);
    if (refresh) {
        yk_status status = yk_smooth_factor(model);
        if (status != YK_OK) return status;
        yk_smooth_remember_factors(model, LEVEL_STEP);
        model->refresh = false;
        model->refreshed = true;
        model->state.clock->age = 0;
    }
    if (refresh) {
        yk_smooth_solve(model, model->right);
    } else {
        yk_smooth_solve_carried(model, model->right);
    }
    double correction = yk_smooth_step_update(model);
    model->iteration++;
    model->report.iterations++;
    if (!isfinite(correction)) {
        *converged = false;
        return yk_fail(model->context, YK_ERROR_DIVERGED,
                       "%s: the iteration at t = %g became infinite: use a smaller step", model->def.name, model->t);
    }
    if (model->iteration == 1) model->first_correction = correction;
    *converged = good_enough(model, correction);
    model->last_correction = correction;
    return YK_OK;
}

/* The unknown with the largest share in the last correction. */
static int worst_unknown(const yk_smooth *model)
{
    int worst = 0;
    double largest = -1;
    for (int i = 0; i < model->motion_count; i++) {
        double size = fabs(model->right[i]) * yk_smooth_share(model, i);
        if (size > largest) largest = size, worst = i;
    }
    return worst;
}

static yk_status not_converged(yk_smooth *model)
{
    char owner[128];
    return yk_fail(model->context, YK_ERROR_DIVERGED,
                   "%s: the step to t = %g (size %g) does not converge after %d iterations, worst at %s: the mechanism "
                   "locks or comes to a dead point there, or the step is too large; use a smaller step",
                   model->def.name, model->t, model->h, model->iteration,
                   yk_smooth_owner(model, worst_unknown(model), owner, sizeof owner));
}

static int most_kept(const yk_smooth *model)
{
    for (int i = 0; i < model->def.flexible_count; i++)
        if (model->flexibles[i].body->kind == YK_FLEXIBLE_ROD) return kept_with_rods;
    return kept_iterations;
}

/* How fast directions change: the largest angular velocity, or velocity by the length of the model (1/s). */
static double turning_rate(const yk_smooth *model)
{
    double largest = 0, inverse = 1 / (model->length_scale * model->length_scale);
    for (int i = 0; i < model->node_count; i++) {
        const yk_frame *frame = &model->trial[i].frame;
        largest = fmax(largest, yk_v3_norm2(frame->angular_velocity));
        largest = fmax(largest, yk_v3_norm2(frame->velocity) * inverse);
    }
    for (int k = 0; k < model->coordinate_count; k++) {
        double rate = model->coordinates[k].rate * model->share[k];
        largest = fmax(largest, rate * rate);
    }
    return sqrt(largest);
}

yk_status yk_smooth_solve_step(yk_smooth *model)
{
    bool converged = false;
    while (!converged) {
        if (model->iteration >= model->def.options.newton_iterations) {
            model->state.clock->refresh = 1;
            return not_converged(model);
        }
        yk_status status = yk_smooth_iterate_once(model, &converged);
        if (status != YK_OK) {
            model->state.clock->refresh = 1;
            return status;
        }
    }
    clock_state *clock = model->state.clock;
    clock->unmeasured += 1;
    clock->age += 1;
    if (model->iterated) return YK_OK;
    clock->refresh = model->iteration > most_kept(model);
    if (model->row_count > 0 && model->first_correction < unseen * rounding_of(model))
        clock->refresh = clock->refresh != 0 || clock->age * model->h * turning_rate(model) > unseen_turn;
    return YK_OK;
}
