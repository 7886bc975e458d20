/* The acceleration-level form of a model, | M G^T; G -e | (a, lambda) = (f - bias, -bias of the rows), at any placement
 * of the trial; and the projections that keep an integrator of it on the constraints, in the metric of the masses. One
 * matrix serves all three: it depends on the positions alone. */
#include "smooth/internal.h"

/* Where rows are redundant: refined away by yk_smooth_solve_refined. */
static const double REDUNDANT_COMPLIANCE = 1e-9;
static const int PROJECTIONS = 10;
/* Kept factors: what they may leave of the right-hand side, and in how many rounds. */
static const double KEPT_ACCURACY = 1e-14;
static const int KEPT_REFINEMENTS = 4;
/* Gaps of this fraction of the extent are rounding. */
static const double ROUNDING_FRACTION = 1e-15;

static void momenta(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    if (work->damping > 0) yk_smooth_inertias(model, work, false);
}

/* With one step of refinement: rounding of the factors would be seen in the eleventh digit of long runs. */
static void solve(const yk_smooth_model *model, yk_smooth_workspace *work, const yk_linear_solver *solver)
{
    if (work->compliance > 0) {
        yk_smooth_solve_refined(model, work, solver);
        return;
    }
    int n = model->unknown_count;
    double *b = work->work_vector, *image = work->work_vector + n, *x = work->right;
    for (int i = 0; i < n; i++) b[i] = x[i] *= model->unknown_scale[i];
    yk_sparse_solve(solver->matrix, x);
    yk_sparse_multiply(solver->matrix, x, image);
    for (int i = 0; i < n; i++) b[i] -= image[i];
    yk_sparse_solve(solver->matrix, b);
    for (int i = 0; i < n; i++) x[i] = (x[i] + b[i]) * model->unknown_scale[i];
}

void yk_smooth_rates_open(yk_smooth *smooth)
{
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    work->c = 0;
    work->compliance = state->clock->redundant != 0 ? REDUNDANT_COMPLIANCE : 0;
    /* relaxations go on with theirs */
    if (state->factor->level != LEVEL_ACCELERATION) smooth->solver.match = false;
}

void yk_smooth_read_multipliers(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    for (int r = 0; r < model->row_count; r++)
        work->lambda[r] = model->mass_scale * work->right[model->motion_count + r];
}

static void read_accelerations(const yk_smooth_model *model, yk_smooth_workspace *work)
{
    for (int i = 0; i < model->node_count; i++) {
        const double *value = &work->right[model->nodes[i].unknown];
        work->trial[i].acceleration = yk_v3(value[0], value[1], value[2]);
        work->trial[i].angular_acceleration = yk_v3(value[3], value[4], value[5]);
    }
    for (int k = 0; k < model->coordinate_count; k++)
        work->coordinates[k].acceleration = work->right[model->coordinate_first + k];
    yk_smooth_read_multipliers(model, work);
}

static double largest(int n, const double *v)
{
    double size = 0;
    for (int i = 0; i < n; i++)
        if (fabs(v[i]) > size || isnan(v[i])) size = fabs(v[i]);
    return size;
}

/* Solves the assembled equations with factors of an earlier placement, refined against the matrix of this one: masses
 * change slowly, where they change at all. False: these factors are too old. */
static bool solve_with_kept(const yk_smooth_model *model, yk_smooth_workspace *work, yk_linear_solver *solver)
{
    int n = model->unknown_count;
    double *solution = work->work_vector, *residual = work->work_vector + n, *b = work->right;
    for (int i = 0; i < n; i++) residual[i] = b[i] * model->unknown_scale[i], solution[i] = 0;
    double wanted = KEPT_ACCURACY * largest(n, residual), last = INFINITY;
    for (int k = 0; k < KEPT_REFINEMENTS; k++) {
        yk_sparse_solve(solver->matrix, residual);
        for (int i = 0; i < n; i++) solution[i] += residual[i];
        yk_sparse_multiply(solver->matrix, solution, residual);
        for (int i = 0; i < n; i++) residual[i] = b[i] * model->unknown_scale[i] - residual[i];
        double left = largest(n, residual);
        if (left <= wanted || (k > 0 && left <= 100 * wanted && left > 0.5 * last)) {
            for (int i = 0; i < n; i++) b[i] = solution[i] * model->unknown_scale[i];
            return true;
        }
        if (!(left < 0.1 * last)) return false;
        last = left;
    }
    return false;
}

yk_status yk_smooth_renew_rates(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    momenta(model, work);
    yk_smooth_assemble(model, work, solver, LEVEL_ACCELERATION);
    yk_status status = yk_smooth_factor(model, work, solver);
    if (status == YK_OK) yk_smooth_remember_factors(smooth, LEVEL_ACCELERATION);
    return status;
}

yk_status yk_smooth_solve_rates(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    bool plain = work->compliance == 0, kept = plain && smooth->state.factor->level == LEVEL_ACCELERATION;
    yk_status status = kept && !solver->match ? yk_smooth_restore_factors(smooth) : YK_OK;
    if (status != YK_OK) return status;
    momenta(model, work);
    yk_smooth_assemble(model, work, solver, LEVEL_ACCELERATION);
    if (kept && solve_with_kept(model, work, solver)) return YK_OK;
    status = yk_smooth_factor(model, work, solver);
    if (status != YK_OK) return status;
    yk_smooth_remember_factors(smooth, LEVEL_ACCELERATION);
    if (plain) {
        yk_smooth_solve(model, solver, work->right);
    } else {
        yk_smooth_solve_refined(model, work, solver);
    }
    return YK_OK;
}

yk_status yk_smooth_rates(const yk_smooth_model *model, yk_smooth_workspace *work, yk_linear_solver *solver,
                          bool factored)
{
    work->damping = yk_smooth_damping_at(model, work->t);
    momenta(model, work);
    yk_smooth_assemble(model, work, !factored ? solver : NULL, LEVEL_ACCELERATION);
    if (!factored) {
        yk_status status = yk_smooth_factor(model, work, solver);
        if (status != YK_OK) return status;
    }
    solve(model, work, solver);
    read_accelerations(model, work);
    work->report.iterations++;
    return YK_OK;
}

/* Largest gap of the rows in the right-hand side (m, rad). */
static double largest_gap(const yk_smooth_model *model, const yk_smooth_workspace *work)
{
    double gap = 0;
    for (int i = model->motion_count; i < model->unknown_count; i++)
        if (fabs(work->right[i]) > gap || isnan(work->right[i])) gap = fabs(work->right[i]);
    return gap;
}

yk_status yk_smooth_project_positions(const yk_smooth_model *model, yk_smooth_workspace *work,
                                      const yk_linear_solver *solver)
{
    double last = INFINITY;
    for (int k = 0; k < PROJECTIONS; k++) {
        yk_smooth_assemble(model, work, NULL, LEVEL_POSITION);
        double gap = largest_gap(model, work);
        if (gap <= ROUNDING_FRACTION * fmax(model->length_scale, work->extent)) return YK_OK;
        /* Rounding ends the decrease; anything larger is a step that went astray. */
        if (!(gap < 0.5 * last)) return gap < 1e-9 * model->length_scale ? YK_OK : YK_ERROR_DIVERGED;
        last = gap;
        solve(model, work, solver);
        yk_smooth_move_nodes(model, work, 1);
    }
    return YK_ERROR_DIVERGED;
}

void yk_smooth_project_velocities(const yk_smooth_model *model, yk_smooth_workspace *work,
                                  const yk_linear_solver *solver)
{
    yk_smooth_assemble(model, work, NULL, LEVEL_VELOCITY);
    solve(model, work, solver);
    for (int i = 0; i < model->node_count; i++) {
        const double *change = &work->right[model->nodes[i].unknown];
        yk_frame *frame = &work->trial[i].frame;
        frame->velocity = yk_v3_add(frame->velocity, yk_v3(change[0], change[1], change[2]));
        frame->angular_velocity = yk_v3_add(frame->angular_velocity, yk_v3(change[3], change[4], change[5]));
    }
    for (int k = 0; k < model->coordinate_count; k++)
        work->coordinates[k].rate += work->right[model->coordinate_first + k];
}
