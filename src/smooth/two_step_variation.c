/* Derivatives of an implicit step, of the two-step method or of generalised-alpha. In one internal step the wrenches enter at its end alone, and the change
 * of the unknowns follows from the matrix of Newton's method at the converged step; what that matrix leaves out (the
 * stiffness of the wrenches themselves, damping times the change of geometry) is put in by iterations against the true
 * residual. Where the macro step took several internal steps, these are repeated with displaced wrenches. */
#include <string.h>

#include "smooth/two_step.h"
#include "smooth/variation.h"

/* At most; they end when the last one adds less than this share. */
static const int REFINEMENTS = 12;
static const double SETTLED = 1e-8;

static void displace(yk_smooth *smooth, int column, double fraction)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    (void)column;
    const variation *v = smooth->variation;
    yk_variation_restore(smooth);
    for (int i = 0; i < model->unknown_count; i++) work->right[i] = fraction * v->base[i];
    model->integrator->update(model, state, work);
    if (model->integrator->accelerations) model->integrator->accelerations(model, state, work);
}

static double fraction_of(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    variation *v = smooth->variation;
    for (int i = 0; i < model->motion_count; i++) {
        v->direction[i] = v->base[i];
        v->direction[model->motion_count + i] = v->base[i] / work->c;
    }
    return yk_variation_relative_size(model, work, v->direction);
}

/* The change of the equations along v->base, added to `to`. */
static void add_change(yk_smooth *smooth, double *to)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    double fraction = fraction_of(smooth);
    if (fraction == 0) return;
    for (int side = 0; side < 2; side++) {
        displace(smooth, 0, side ? -fraction : fraction);
        model->integrator->momenta(model, work);
        yk_smooth_assemble(model, work, NULL, LEVEL_STEP);
        double factor = (side ? -0.5 : 0.5) / fraction;
        for (int i = 0; i < model->unknown_count; i++) to[i] += factor * work->right[i];
    }
}

static void one_column(yk_smooth *smooth, int column)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    variation *v = smooth->variation;
    double factor = work->c * work->c;
    for (int k = 0; k < v->power[column]; k++) factor *= work->input_time;
    memset(v->plus, 0, (size_t)model->unknown_count * sizeof *v->plus);
    yk_variation_restore(smooth); /* wrenches act at the ports where they are */
    yk_smooth_push(model, work, &v->rows[v->row[column]], v->plus);
    for (int i = 0; i < model->unknown_count; i++) v->plus[i] *= factor, v->base[i] = 0;
    for (int k = 0; k < REFINEMENTS; k++) {
        memcpy(v->minus, v->plus, (size_t)model->unknown_count * sizeof *v->minus);
        add_change(smooth, v->minus);
        yk_smooth_solve(model, &smooth->solver, v->minus);
        double change = 0, size = 0;
        for (int i = 0; i < model->unknown_count; i++) {
            v->base[i] += v->minus[i];
            change = fmax(change, fabs(v->minus[i]) / model->unknown_scale[i]);
            size = fmax(size, fabs(v->base[i]) / model->unknown_scale[i]);
        }
        if (change <= SETTLED * size) break;
    }
    yk_variation_read(smooth, column, fraction_of(smooth), displace);
}

yk_status yk_two_step_vary(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    variation *v = smooth->variation;
    yk_variation_keep(smooth);
    model->integrator->momenta(model, work);
    yk_smooth_assemble(model, work, solver, LEVEL_STEP);
    yk_status status = yk_smooth_factor(model, work, solver);
    solver->match = false; /* later steps make those again that belong to the state */
    if (status == YK_OK) {
        yk_smooth_port_rows(model, work, v->rows);
        for (int c = 0; c < v->columns; c++) one_column(smooth, c);
    }
    yk_variation_restore(smooth);
    return status;
}

/* Several internal steps ------------------------------------------------------------------------------------------- */

static double *component(yk_input *signal, int power, int k)
{
    yk_vec3 *v = k < 3 ? &signal->linear[power] : &signal->angular[power];
    return k % 3 == 0 ? &v->x : k % 3 == 1 ? &v->y : &v->z;
}

static yk_input *signal_of(yk_smooth *smooth, int column, int *k)
{
    int row = smooth->variation->row[column];
    for (int p = 0;; p++) {
        int size = yk_smooth_port_size(&smooth->model.ports[p]);
        *k = row;
        if (row < size) return &smooth->work.own_inputs[p];
        row -= size;
    }
}

/* A displaced wrench that moves a typical mass by 1e-5 of the length scale over the step. */
static void push_input(yk_smooth *smooth, int column, double h, double sign, double *fraction)
{
    const yk_smooth_model *model = &smooth->model;
    int power = smooth->variation->power[column], k;
    yk_input *signal = signal_of(smooth, column, &k);
    *fraction =
        2e-5 * model->mass_scale * model->length_scale / (h * h) * (k < 3 ? 1 : model->gyration) / pow(h, power);
    for (int i = signal->degree + 1; i <= power; i++) signal->linear[i] = signal->angular[i] = yk_v3(0, 0, 0);
    signal->degree = power > signal->degree ? power : signal->degree;
    *component(signal, power, k) += sign * *fraction;
}

static void copy_inputs(const yk_smooth_model *model, yk_smooth_workspace *work, const yk_input *inputs)
{
    memcpy(work->own_inputs, inputs, (size_t)model->def.port_count * sizeof *inputs);
}

yk_status yk_two_step_differences(yk_smooth *smooth, double t, double h, const double *mark, const double *sizes,
                                  int count, double *end)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    yk_linear_solver *solver = &smooth->solver;
    variation *v = smooth->variation;
    const yk_input *inputs = work->inputs;
    size_t bytes = state->words * sizeof *end;
    yk_status status = YK_OK;
    yk_variation_keep(smooth);
    memcpy(end, state->image, bytes);
    work->inputs = work->own_inputs;
    for (int c = 0; c < v->columns && status == YK_OK; c++) {
        double fraction = 0;
        for (int side = 0; side < 2 && status == YK_OK; side++) {
            copy_inputs(model, work, inputs);
            push_input(smooth, c, h, side ? 1 : -1, &fraction);
            memcpy(state->image, mark, bytes);
            solver->match = false;
            yk_smooth_trial_from_state(model, state, work);
            status = yk_two_step_repeat(smooth, t, sizes, count);
            if (status == YK_OK) yk_variation_read_side(smooth, side);
        }
        if (status == YK_OK) yk_variation_write(smooth, c, fraction);
    }
    work->inputs = inputs;
    memcpy(state->image, end, bytes);
    yk_variation_restore(smooth);
    solver->match = false;
    return status;
}
