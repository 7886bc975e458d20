/* Static equilibrium by pseudo-transient continuation: Newton's method on the equations without
 * inertia, with the masses kept in the matrix as for a step of size c from rest. Far from the
 * solution the masses dominate and the nodes follow the forces downhill; c grows as the corrections
 * decrease, and the last iterations are Newton iterations. */
#include "multibody/multibody.h"

/* In units of the time in which the present loads would move a typical mass over the model's
 * length. Beyond the last step size the masses no longer matter for anything held by a spring or a
 * weight. For motions that nothing holds, such as the spin of a link about its own axis, larger
 * steps would only add rounding errors. */
static const double FIRST_STEP = 0.03;
static const double LAST_STEP = 100;
/* Loads below this fraction of the largest load so far are not used as a scale. */
static const double LEAST_LOAD = 1e-6;
static const int MOST_ITERATIONS = 2000;
/* Unbalanced loads and gaps as a fraction of the largest load and of the length scale. */
static const double BALANCE = 1e-10;
/* Rounding errors of stiff parts may be larger, and without a load they are all that remains. Then
 * corrections of this size (relative to the length scale, rad) end the iteration. */
static const double SETTLED = 1e-11;

/* Unbalanced forces, relative to the present loads, and gaps of the constraints. */
static double relative_imbalance(const yk_multibody_model *model,
                                 const yk_multibody_workspace *work, int *worst, double *load)
{
    double scale = model->mass_scale / (work->c * work->c);
    double force = 0;

    *worst = 0;
    for (int i = 0; i < model->motion_count; i++) {
        double arm = yk_multibody_relative_size(model, i) * model->length_scale;
        double size = scale * fabs(work->right[i]) / arm;
        if (size > force) {
            force = size;
            *worst = i;
        }
    }

    double gap = 0;
    for (int i = model->motion_count; i < model->unknown_count; i++)
        gap = fmax(gap, fabs(work->right[i]));

    /* Relative to the largest of weights, multipliers and unbalanced forces; and to the length
     * scale. */
    *load = force;
    double gravity = yk_v3_norm(model->def.gravity);
    for (int i = 0; i < model->node_count; i++)
        *load = fmax(*load, gravity * model->nodes[i].inertia.mass);
    for (int r = 0; r < model->row_count; r++)
        *load = fmax(*load, fabs(work->lambda[r]));

    double fraction = 0;
    if (*load > 0)
        fraction = force / *load;
    return fmax(fraction, gap / model->length_scale);
}

/* The time in which a load moves a typical mass over the model's length. */
static double time_of(const yk_multibody_model *model, double load)
{
    return load > 0 ? sqrt(model->mass_scale * model->length_scale / load) : 1;
}

/* One step from rest, limited to a fifth of the model's size; `change` is its length without the
 * limit. */
static yk_status relax_towards_rest(const yk_multibody_model *model, yk_multibody_workspace *work,
                                    yk_linear_solver *solver, double *change)
{
    int column = 0;
    char owner[128];
    yk_status status = yk_sparse_refactor(solver->matrix, &column);
    if (status != YK_OK)
        return yk_fail(model->context, status,
                       "%s: no static equilibrium: %s is not held by anything", model->def.name,
                       yk_multibody_owner(model, column, owner, sizeof owner));

    /* A step of Newton's method with the masses in the matrix. */
    yk_multibody_solve(model, solver, work->right);
    *change = yk_multibody_largest_change(model, work);
    if (!isfinite(*change))
        return yk_fail(model->context, YK_ERROR_DIVERGED,
                       "%s: the search for static equilibrium diverged", model->def.name);

    /* At most a fifth of the model's size at once. */
    double fraction = *change > 0.2 ? 0.2 / *change : 1;
    yk_multibody_move_nodes(model, work, fraction);
    double scale = fraction * model->mass_scale / (work->c * work->c);
    for (int r = 0; r < model->row_count; r++)
        work->lambda[r] += scale * work->right[model->motion_count + r];

    return YK_OK;
}

yk_status yk_multibody_equilibrium(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;

    /* From rest. */
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &work->trial[i];
        node->frame.velocity = yk_v3(0, 0, 0);
        node->frame.angular_velocity = yk_v3(0, 0, 0);
        node->acceleration = yk_v3(0, 0, 0);
        node->angular_acceleration = yk_v3(0, 0, 0);
        node->momentum = (yk_momentum){0};
        node->momentum_rate = (yk_momentum){0};
    }

    for (int k = 0; k < model->coordinate_count; k++)
        work->coordinates[k] = (trial_coordinate){.value = work->coordinates[k].value};

    /* An initial weight, and a small compliance if rows are redundant. */
    work->c = 1;
    solver->match = false;
    work->compliance = 0;
    if (self->state.clock->redundant != 0)
        work->compliance = 1e-11;

    /* Increase the step size as the corrections decrease. */
    double change = 1;
    double last_change = 1;
    double left = 0;
    double largest_load = 0;
    double smallest_step = 0;
    int worst = 0;

    for (int k = 0; k < MOST_ITERATIONS; k++) {
        double load = 0;
        yk_multibody_assemble(model, work, solver, LEVEL_STATIC);
        left = relative_imbalance(model, work, &worst, &load);
        largest_load = fmax(largest_load, load);
        double largest_step = LAST_STEP * time_of(model, fmax(load, LEAST_LOAD * largest_load));

        /* In balance; or so stiff that rounding errors hide it, while the masses no longer matter. */
        if (left < BALANCE && change < 1e-4)
            return YK_OK;
        if (change < SETTLED && work->c >= 0.3 * largest_step)
            return YK_OK;

        /* The first assembly only determines the size of the loads. */
        if (k == 0) {
            work->c = FIRST_STEP * time_of(model, load);
            smallest_step = 0.1 * work->c;
            yk_multibody_assemble(model, work, solver, LEVEL_STATIC);
        }

        yk_status status = relax_towards_rest(model, work, solver, &change);
        if (status != YK_OK)
            return status;

        /* Steps grow while corrections shrink. */
        double factor = 1.2;
        if (change > 0.2)
            factor = 0.5;
        if (change < last_change)
            factor = 2;
        if (change < 1e-3)
            factor = 10;
        work->c = fmin(fmax(work->c * factor, smallest_step), largest_step);
        last_change = change;
    }

    char owner[128];
    return yk_fail(model->context, YK_ERROR_NO_SOLUTION,
                   "%s: no static equilibrium was found in %d iterations: %.3g of the loads at %s "
                   "are not in balance; start closer, or let damping bring it to rest",
                   model->def.name, MOST_ITERATIONS, left,
                   yk_multibody_owner(model, worst, owner, sizeof owner));
}
