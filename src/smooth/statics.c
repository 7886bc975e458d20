/* Static equilibrium by pseudo-transient continuation: Newton's method on the equations without inertia, with the
 * masses kept in the matrix as if a step of size c were taken from rest. While the iterate is far the masses dominate
 * and the nodes follow the forces downhill; c grows as the corrections shrink, and the last iterations are Newton's. */
#include <string.h>

#include "smooth/internal.h"

static const double first_step = 1e-2, last_step = 1e6, largest_step = 1e8;
static const int most_iterations = 2000;

static void come_to_rest(yk_smooth *model)
{
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &model->trial[i];
        node->frame.velocity = node->frame.angular_velocity = yk_v3(0, 0, 0);
        node->acceleration = node->angular_acceleration = yk_v3(0, 0, 0);
        node->momentum = node->momentum_rate = (yk_momentum){0};
    }
}

static yk_status relax(yk_smooth *model, double *change)
{
    int column = 0;
    char owner[128];
    model->compliance = model->redundant ? 1e-11 : 0;
    yk_smooth_assemble(model, LEVEL_STATIC, true);
    yk_status status = yk_sparse_refactor(model->matrix, &column);
    if (status != YK_OK)
        return yk_fail(model->context, status, "%s: no static equilibrium: %s is not held by anything", model->def.name,
                       yk_smooth_owner(model, column, owner, sizeof owner));
    yk_smooth_solve(model, model->right);
    *change = yk_smooth_largest_change(model);
    if (!isfinite(*change))
        return yk_fail(model->context, YK_ERROR_DIVERGED, "%s: the search for static equilibrium diverged",
                       model->def.name);
    double share = *change > 0.2 ? 0.2 / *change : 1;
    yk_smooth_move_nodes(model, share);
    double scale = share * model->mass_scale / (model->c * model->c);
    for (int r = 0; r < model->row_count; r++) model->lambda[r] += scale * model->right[6 * model->node_count + r];
    return YK_OK;
}

yk_status yk_smooth_equilibrium(yk_smooth *model)
{
    double change = 0, last = 1;
    come_to_rest(model);
    model->c = first_step;
    model->matrix_serial = -1;
    for (int k = 0; k < most_iterations; k++) {
        yk_status status = relax(model, &change);
        if (status != YK_OK) return status;
        if (change < 1e-11 && model->c >= last_step) return YK_OK;
        double factor = change < last ? 2 : change > 0.2 ? 0.5 : 1.2;
        if (change < 1e-3) factor = 10;
        model->c = fmin(fmax(model->c * factor, 0.1 * first_step), largest_step);
        last = change;
    }
    if (change < 1e-8) return YK_OK;
    char owner[128];
    int worst = 0;
    for (int i = 0; i < 6 * model->node_count; i++)
        if (fabs(model->right[i]) > fabs(model->right[worst])) worst = i;
    return yk_fail(model->context, YK_NOT_CONVERGED,
                   "%s: no static equilibrium was found in %d iterations: %s still moves; start closer, or let damping "
                   "bring it to rest",
                   model->def.name, most_iterations, yk_smooth_owner(model, worst, owner, sizeof owner));
}
