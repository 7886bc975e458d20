/* The variational equations along a Runge-Kutta step: the same stages for the derivatives of the
 * columns. At each stage | M G^T; G 0 | (da, dlambda) = d(right-hand side) - d(matrix) (a, lambda),
 * along the column's direction. */
#include <string.h>

#include "multibody/step_sensitivity.h"

enum { STAGES = YK_RUNGE_KUTTA_STAGES };

static double *column_of(double *block, const variation *v, int column)
{
    return block + (size_t)column * v->n;
}

static double *slope_of(const variation *v, int column, int stage)
{
    return v->slope + ((size_t)column * STAGES + (size_t)stage) * v->n;
}

static void displace_to(yk_multibody *self, const yk_runge_kutta_workspace *w, const double *value,
                        double fraction)
{
    variation *v = self->variation;

    /* The vector of the integration also contains work and losses, which have no effect on the
     * motion. */
    for (size_t i = 0; i < v->n; i++)
        w->moved[i] = value[i] + fraction * v->direction[i];
    yk_runge_kutta_place(&self->model, &self->work, w, w->moved);
}

/* Scaled residual of the accelerations of the stage at the present trial. */
static void residual(yk_multibody *self, double *to)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    variation *v = self->variation;

    /* The equations at the trial, with the accelerations of the stage put in. */
    if (work->damping > 0)
        yk_multibody_inertias(model, work, false);
    yk_multibody_assemble(model, work, solver, LEVEL_ACCELERATION);
    yk_sparse_multiply(solver->matrix, v->base, to);

    for (int i = 0; i < model->unknown_count; i++)
        to[i] = work->right[i] * model->unknown_scale[i] - to[i];
}

/* Rates of phi at the trial. */
static void add_rotating(const yk_multibody_model *model, const yk_multibody_workspace *work,
                         double factor, double *to)
{
    for (int i = 0; i < model->node_count; i++) {
        const trial_node *node = &work->trial[i];
        yk_vec3 rate = yk_rotation_tangent_inverse(&node->rotation, node->frame.angular_velocity);
        double *at = to + model->nodes[i].unknown + 3;
        at[0] += factor * rate.x;
        at[1] += factor * rate.y;
        at[2] += factor * rate.z;
    }
}

/* The change of the slope along v->direction at a stage whose placement is `value`, at local time
 * `time`. */
static void slope_along(yk_multibody *self, const yk_runge_kutta_workspace *w, const double *value,
                        int column, double time, double *slope)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;
    int n = model->motion_count;
    int unknowns = model->unknown_count;

    /* Rates of positions change by those of the direction; rates of phi and accelerations by
     * central differences. */
    memset(v->plus, 0, (size_t)unknowns * sizeof *v->plus);
    memcpy(slope, v->direction + n, (size_t)n * sizeof *slope);
    double fraction = yk_variation_relative_size(model, work, v->direction);
    if (fraction > 0) {
        for (int i = 0; i < model->node_count; i++)
            memset(slope + model->nodes[i].unknown + 3, 0, 3 * sizeof *slope);

        /* From one side, */
        displace_to(self, w, value, fraction);
        add_rotating(model, work, 0.5 / fraction, slope);
        residual(self, v->plus);

        /* and from the other. */
        displace_to(self, w, value, -fraction);
        add_rotating(model, work, -0.5 / fraction, slope);
        residual(self, v->minus);

        for (int i = 0; i < unknowns; i++)
            v->plus[i] = (v->plus[i] - v->minus[i]) * (0.5 / fraction);
    }

    /* The positions were displaced; wrenches act at the displaced points. */
    if (model->def.flexible_count) {
        displace_to(self, w, value, 0);
        yk_multibody_place_flexibles(model, work, ATTACHMENT_MAPS);
    }

    /* The column's own input: time^power along its component. */
    memset(v->minus, 0, (size_t)unknowns * sizeof *v->minus);
    yk_multibody_push(model, work, &v->rows[v->row[column]], v->minus);

    double factor = 1;
    for (int k = 0; k < v->power[column]; k++)
        factor *= time;
    for (int i = 0; i < unknowns; i++)
        v->plus[i] += factor * v->minus[i] * model->unknown_scale[i];

    /* da, which is the slope of the rates. */
    yk_sparse_solve(self->solver.matrix, v->plus);
    for (int i = 0; i < n; i++)
        slope[n + i] = v->plus[i] * model->unknown_scale[i];
}

/* Accelerations and multipliers of the stage, in the units of the matrix, and the directions of the
 * wrenches. */
static void keep_base(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;
    for (int i = 0; i < model->unknown_count; i++)
        v->base[i] = work->right[i] / model->unknown_scale[i];

    yk_multibody_port_rows(model, work, v->rows);
}

static void add_slopes(const variation *v, int column, const double *weight, int count, double size,
                       double *sum)
{
    for (int j = 0; j < count; j++) {
        if (weight[j] == 0)
            continue;

        const double *slope = slope_of(v, column, j);
        for (size_t i = 0; i < v->n; i++)
            sum[i] += size * weight[j] * slope[i];
    }
}

yk_status yk_runge_kutta_vary(yk_multibody *self, const yk_runge_kutta_workspace *w, double t,
                              double local, double size)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    variation *v = self->variation;
    const yk_runge_kutta *method = yk_runge_kutta_853();

    /* All columns, stage by stage together with the stages of the step. */
    for (int s = 0; s < STAGES; s++) {
        /* The stage of the step itself. */
        double time = local + method->c[s] * size;
        yk_runge_kutta_stage(w, s, size, w->stage);
        yk_runge_kutta_place(model, work, w, w->stage);
        yk_runge_kutta_move_to(model, work, t, time);
        yk_status status = yk_multibody_rates(model, work, solver, false);
        if (status != YK_OK)
            return status;

        /* Each column continues from its own earlier stages. */
        keep_base(self);

        for (int c = 0; c < v->columns; c++) {
            memcpy(v->direction, column_of(v->begin, v, c), v->n * sizeof *v->direction);
            add_slopes(v, c, method->a[s], s, size, v->direction);
            slope_along(self, w, w->stage, c, time, slope_of(v, c, s));
        }
    }

    /* The end of the internal step. */
    for (int c = 0; c < v->columns; c++) {
        double *end = column_of(v->end, v, c);
        memcpy(end, column_of(v->begin, v, c), v->n * sizeof *end);
        add_slopes(v, c, method->b, STAGES, size, end);

        /* From the chart of the start to rotations about the global axes, the chart of the next
         * internal step. */
        for (int i = 0; i < model->node_count; i++) {
            const double *phi = w->value + model->nodes[i].unknown + 3;
            double *change = end + model->nodes[i].unknown + 3;
            yk_rotation rotation = yk_rotation_of(yk_v3(phi[0], phi[1], phi[2]));
            yk_vec3 global = yk_rotation_tangent(&rotation, yk_v3(change[0], change[1], change[2]));
            change[0] = global.x;
            change[1] = global.y;
            change[2] = global.z;
        }
    }

    /* The matrix of the last stage of the step itself. */
    yk_runge_kutta_place(model, work, w, w->stage);
    return yk_multibody_rates(model, work, solver, false);
}

/* Projects the columns onto the derivative of the constraints of one level, with the factors at the
 * end of the step. */
static void project(yk_multibody *self, const yk_runge_kutta_workspace *w, assembly_level level,
                    double *column)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    variation *v = self->variation;
    int n = model->motion_count;

    /* The size of the finite difference. */
    memcpy(v->direction, column, v->n * sizeof *column);
    double fraction = yk_variation_relative_size(model, work, v->direction);
    if (fraction == 0)
        return;

    /* Change of the rows along the column. */
    for (int side = 0; side < 2; side++) {
        displace_to(self, w, w->begin, side ? -fraction : fraction);
        yk_multibody_assemble(model, work, NULL, level);
        memcpy(side ? v->minus : v->plus, work->right,
               (size_t)model->unknown_count * sizeof *v->plus);
    }

    for (int i = 0; i < n; i++)
        v->plus[i] = 0;
    for (int i = n; i < model->unknown_count; i++)
        v->plus[i] = (v->plus[i] - v->minus[i]) * (0.5 / fraction);

    /* The correction in the metric of the masses. */
    yk_multibody_solve(model, solver, v->plus);
    double *corrected = level == LEVEL_VELOCITY ? column + n : column;
    for (int i = 0; i < n; i++)
        corrected[i] += v->plus[i];
}

void yk_runge_kutta_vary_end(yk_multibody *self, const yk_runge_kutta_workspace *w)
{
    variation *v = self->variation;

    /* Columns of the end become those of the next start. */
    yk_variation_keep(self);
    for (int c = 0; c < v->columns; c++) {
        double *column = column_of(v->begin, v, c);
        memcpy(column, column_of(v->end, v, c), v->n * sizeof *column);
        project(self, w, LEVEL_POSITION, column);
        project(self, w, LEVEL_VELOCITY, column);
    }

    yk_variation_restore(self);
}

static void displace_outputs(yk_multibody *self, int column, double fraction)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;
    yk_runge_kutta_workspace w = yk_runge_kutta_workspace_of(model, work);

    displace_to(self, &w, w.begin, fraction);

    /* Accelerations follow the slope of the column at the end. */
    const double *change = slope_of(v, column, 0) + model->motion_count;
    for (int i = 0; i < model->node_count; i++) {
        const double *a = change + model->nodes[i].unknown;
        trial_node *node = &work->trial[i];
        node->acceleration =
            yk_v3_axpy(fraction, yk_v3(a[0], a[1], a[2]), v->trial[i].acceleration);
        node->angular_acceleration =
            yk_v3_axpy(fraction, yk_v3(a[3], a[4], a[5]), v->trial[i].angular_acceleration);
    }

    for (int k = 0; k < model->coordinate_count; k++)
        work->coordinates[k].acceleration =
            v->coordinates[k].acceleration + fraction * change[model->coordinate_first + k];
}

/* Derivatives of the port motions at the end of the whole, whose accelerations are in the trial. */
yk_status yk_runge_kutta_vary_outputs(yk_multibody *self, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;
    yk_runge_kutta_workspace w = yk_runge_kutta_workspace_of(model, work);

    /* The matrix at the end of the step. */
    yk_variation_keep(self);
    yk_status status = yk_multibody_rates(model, work, &self->solver, false);
    if (status != YK_OK)
        return status;

    keep_base(self);

    /* Accelerations change along each column, and with them the motions of the ports. */
    for (int c = 0; c < v->columns; c++) {
        memcpy(v->direction, column_of(v->begin, v, c), v->n * sizeof *v->direction);
        double fraction = yk_variation_relative_size(model, work, v->direction);
        slope_along(self, &w, w.begin, c, h, slope_of(v, c, 0));
        yk_variation_read(self, c, fraction, displace_outputs);
    }

    yk_variation_restore(self);
    return YK_OK;
}
