/* The equations of a model on acceleration level, | M G^T; G -e | (a, lambda) = (f - bias, -bias of
 * the rows), at any placement of the trial; and the projections of an integrator onto the
 * constraints, in the metric of the masses. One matrix serves all three, because it depends on the
 * positions alone. */
#include "multibody/multibody.h"

#include <string.h>

/* Compliance for redundant rows; yk_multibody_solve_refined() removes its effect. */
static const double REDUNDANT_COMPLIANCE = 1e-9;
static const int PROJECTIONS = 10;
/* Kept factors: residual relative to the right-hand side that they may leave, and number of
 * refinements. */
static const double KEPT_ACCURACY = 1e-14;
static const int KEPT_REFINEMENTS = 4;
/* Gaps below this fraction of the extent are rounding errors. */
static const double ROUNDING_FRACTION = 1e-15;

static double largest_entry(int n, const double *v)
{
    double size = 0;
    for (int i = 0; i < n; i++) {
        if (fabs(v[i]) > size || isnan(v[i]))
            size = fabs(v[i]);
    }

    return size;
}

void yk_multibody_rates_open(yk_multibody *self)
{
    const yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;

    /* Accelerations need no weight of a step; redundant rows need their compliance. */
    work->c = 0;
    work->compliance = 0;
    if (state->clock->redundant != 0)
        work->compliance = REDUNDANT_COMPLIANCE;

    /* Factors of accelerations can be reused; those of a step cannot. */
    if (state->factor->level != LEVEL_ACCELERATION)
        self->solver.match = false;
}

/* The equations at the trial; artificial damping needs the momenta. */
static void assemble_rates(const yk_multibody_model *model, yk_multibody_workspace *work,
                           yk_linear_solver *solver)
{
    if (work->damping > 0)
        yk_multibody_inertias(model, work, false);
    yk_multibody_assemble(model, work, solver, LEVEL_ACCELERATION);
}

/* With factors of this placement --------------------------------------------------------------- */

/* With one refinement: rounding errors of the factors would be visible in the eleventh digit of
 * long runs. */
static void solve_with_factors(const yk_multibody_model *model, yk_multibody_workspace *work,
                               const yk_linear_solver *solver)
{
    if (work->compliance > 0) {
        yk_multibody_solve_refined(model, work, solver);
        return;
    }

    int n = model->unknown_count;
    const double *scale = model->unknown_scale;
    double *b = work->work_vector;
    double *image = work->work_vector + n;
    double *x = work->right;

    /* In scaled units. */
    for (int i = 0; i < n; i++)
        b[i] = x[i] *= scale[i];
    yk_sparse_solve(solver->matrix, x);

    /* b - A x, and its solution added. */
    yk_sparse_multiply(solver->matrix, x, image);
    for (int i = 0; i < n; i++)
        b[i] -= image[i];

    yk_sparse_solve(solver->matrix, b);
    for (int i = 0; i < n; i++)
        x[i] = (x[i] + b[i]) * scale[i];
}

yk_status yk_multibody_rates(const yk_multibody_model *model, yk_multibody_workspace *work,
                             yk_linear_solver *solver, bool factored)
{
    work->damping = yk_multibody_damping_at(model, work->t);
    assemble_rates(model, work, factored ? NULL : solver);

    /* Stages of one step may share the factors. */
    if (!factored) {
        yk_status status = yk_multibody_factor(model, work, solver);
        if (status != YK_OK)
            return status;
    }

    solve_with_factors(model, work, solver);
    yk_multibody_read_accelerations(model, work);
    work->report.iterations++;

    return YK_OK;
}

yk_status yk_multibody_project_positions(const yk_multibody_model *model,
                                         yk_multibody_workspace *work,
                                         const yk_linear_solver *solver)
{
    double rounding = ROUNDING_FRACTION * fmax(model->length_scale, work->extent);
    double last = INFINITY;

    for (int k = 0; k < PROJECTIONS; k++) {
        yk_multibody_assemble(model, work, NULL, LEVEL_POSITION);
        double gap = largest_entry(model->row_count, work->right + model->motion_count);
        if (gap <= rounding)
            return YK_OK;

        /* The decrease ends at rounding errors. A larger gap means that the step failed. */
        if (!(gap < 0.5 * last))
            return gap < 1e-9 * model->length_scale ? YK_OK : YK_ERROR_DIVERGED;

        /* A displacement in the metric of the masses, which closes the gaps to first order. */
        last = gap;
        solve_with_factors(model, work, solver);
        yk_multibody_move_nodes(model, work, 1);
    }

    return YK_ERROR_DIVERGED;
}

void yk_multibody_project_velocities(const yk_multibody_model *model, yk_multibody_workspace *work,
                                     const yk_linear_solver *solver)
{
    yk_multibody_assemble(model, work, NULL, LEVEL_VELOCITY);
    solve_with_factors(model, work, solver);
    yk_multibody_add_velocities(model, work);
}

void yk_multibody_stabilized_drift(const yk_multibody_model *model, yk_multibody_workspace *work,
                                   const yk_linear_solver *solver, double beta, double *drift)
{
    size_t n = (size_t)model->motion_count;

    /* The multipliers mu remove the rates c' = G v + c_t of the rows, and beta times their values. */
    yk_multibody_assemble(model, work, NULL, LEVEL_VELOCITY);
    solve_with_factors(model, work, solver);
    memcpy(drift, work->right, n * sizeof *drift);

    yk_multibody_assemble(model, work, NULL, LEVEL_POSITION);
    solve_with_factors(model, work, solver);
    for (size_t i = 0; i < n; i++)
        drift[i] += beta * work->right[i];
}

/* With factors of an earlier placement --------------------------------------------------------- */

/* Solves the assembled equations with older factors, by refinement against the matrix of this
 * placement, because masses change slowly. False: the factors are too old. */
static bool solve_with_kept(const yk_multibody_model *model, yk_multibody_workspace *work,
                            const yk_linear_solver *solver)
{
    int n = model->unknown_count;
    const double *scale = model->unknown_scale;
    double *solution = work->work_vector;
    double *residual = work->work_vector + n;
    double *b = work->right;

    /* Scaled right-hand side; the initial solution is zero. */
    for (int i = 0; i < n; i++) {
        residual[i] = b[i] * scale[i];
        solution[i] = 0;
    }

    double wanted = KEPT_ACCURACY * largest_entry(n, residual);
    double last = INFINITY;
    for (int k = 0; k < KEPT_REFINEMENTS; k++) {
        /* With the old factors. */
        yk_sparse_solve(solver->matrix, residual);
        for (int i = 0; i < n; i++)
            solution[i] += residual[i];

        /* The residual with the matrix of this placement. */
        yk_sparse_multiply(solver->matrix, solution, residual);
        for (int i = 0; i < n; i++)
            residual[i] = b[i] * scale[i] - residual[i];

        /* Accurate enough, or limited by rounding errors. */
        double left = largest_entry(n, residual);
        if (left <= wanted || (k > 0 && left <= 100 * wanted && left > 0.5 * last)) {
            for (int i = 0; i < n; i++)
                b[i] = solution[i] * scale[i];
            return true;
        }

        if (!(left < 0.1 * last))
            return false;

        last = left;
    }

    return false;
}

yk_status yk_multibody_renew_rates(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;

    assemble_rates(model, work, &self->solver);
    yk_status status = yk_multibody_factor(model, work, &self->solver);
    if (status == YK_OK)
        yk_multibody_remember_factors(self, LEVEL_ACCELERATION);

    return status;
}

yk_status yk_multibody_solve_rates(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    bool plain = work->compliance == 0;
    bool kept = plain && self->state.factor->level == LEVEL_ACCELERATION;
    yk_status status = YK_OK;

    /* After a rollback the state may be another one. */
    if (kept && !solver->match)
        status = yk_multibody_restore_factors(self);
    if (status != YK_OK)
        return status;

    /* Kept factors, refined against the matrix of this placement. */
    assemble_rates(model, work, solver);
    if (kept && solve_with_kept(model, work, solver))
        return YK_OK;

    /* The factors are too old, or there are none. */
    status = yk_multibody_factor(model, work, solver);
    if (status != YK_OK)
        return status;

    yk_multibody_remember_factors(self, LEVEL_ACCELERATION);

    if (plain) {
        yk_multibody_solve(model, solver, work->right);
    } else {
        yk_multibody_solve_refined(model, work, solver);
    }

    return YK_OK;
}
