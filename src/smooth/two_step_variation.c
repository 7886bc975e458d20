/* Derivatives of an implicit step, of the two-step method or of generalised-alpha. In one internal step the efforts enter at its end alone, and the change
 * of the unknowns follows from the matrix of Newton's method at the converged step; what that matrix leaves out (the
 * stiffness of the efforts themselves, damping times the change of geometry) is put in by iterations against the true
 * residual. Where the macro step took several internal steps, these are repeated with displaced efforts. */
#include <string.h>

#include "smooth/two_step.h"
#include "smooth/variation.h"

/* At most; they end when the last one adds less than this share. */
static const int refinements = 12;
static const double settled = 1e-8;

static void displace(yk_smooth *model, int column, double share)
{
    (void)column;
    const variation *v = model->variation;
    yk_variation_restore(model);
    for (int i = 0; i < model->unknown_count; i++) model->right[i] = share * v->base[i];
    yk_smooth_step_update(model);
    if (!model->integrator->update) yk_two_step_accelerations(model);
}

static double share_of(yk_smooth *model)
{
    variation *v = model->variation;
    for (int i = 0; i < model->motion_count; i++) {
        v->direction[i] = v->base[i];
        v->direction[model->motion_count + i] = v->base[i] / model->c;
    }
    return yk_variation_share(model, v->direction);
}

/* The change of the equations along v->base, added to `to`. */
static void add_change(yk_smooth *model, double *to)
{
    double share = share_of(model);
    if (share == 0) return;
    for (int side = 0; side < 2; side++) {
        displace(model, 0, side ? -share : share);
        yk_smooth_step_momenta(model);
        yk_smooth_assemble(model, LEVEL_STEP, false);
        double factor = (side ? -0.5 : 0.5) / share;
        for (int i = 0; i < model->unknown_count; i++) to[i] += factor * model->right[i];
    }
}

static void one_column(yk_smooth *model, int column)
{
    variation *v = model->variation;
    double factor = model->c * model->c;
    for (int k = 0; k < v->power[column]; k++) factor *= model->input_time;
    memset(v->plus, 0, (size_t)model->unknown_count * sizeof *v->plus);
    yk_variation_restore(model); /* efforts act at the ports where they are */
    yk_smooth_push(model, &v->rows[v->row[column]], v->plus);
    for (int i = 0; i < model->unknown_count; i++) v->plus[i] *= factor, v->base[i] = 0;
    for (int k = 0; k < refinements; k++) {
        memcpy(v->minus, v->plus, (size_t)model->unknown_count * sizeof *v->minus);
        add_change(model, v->minus);
        yk_smooth_solve(model, v->minus);
        double change = 0, size = 0;
        for (int i = 0; i < model->unknown_count; i++) {
            v->base[i] += v->minus[i];
            change = fmax(change, fabs(v->minus[i]) / model->unknown_scale[i]);
            size = fmax(size, fabs(v->base[i]) / model->unknown_scale[i]);
        }
        if (change <= settled * size) break;
    }
    yk_variation_read(model, column, share_of(model), displace);
}

yk_status yk_two_step_vary(yk_smooth *model)
{
    variation *v = model->variation;
    yk_variation_keep(model);
    yk_smooth_step_momenta(model);
    yk_smooth_assemble(model, LEVEL_STEP, true);
    yk_status status = yk_smooth_factor(model);
    model->factors_match = false; /* later steps make those again that belong to the state */
    if (status == YK_OK) {
        yk_smooth_port_rows(model, v->rows);
        for (int c = 0; c < v->columns; c++) one_column(model, c);
    }
    yk_variation_restore(model);
    return status;
}

/* Several internal steps ------------------------------------------------------------------------------------------- */

static double *component(yk_signal *signal, int power, int k)
{
    yk_vec3 *v = k < 3 ? &signal->linear[power] : &signal->angular[power];
    return k % 3 == 0 ? &v->x : k % 3 == 1 ? &v->y : &v->z;
}

static yk_signal *signal_of(yk_smooth *model, int column, int *k)
{
    int row = model->variation->row[column];
    for (int p = 0;; p++) {
        int size = yk_smooth_port_size(&model->ports[p]);
        *k = row;
        if (row < size) return &model->own_inputs[p];
        row -= size;
    }
}

/* A displaced effort that moves a typical mass by 1e-5 of the length scale over the step. */
static void push_input(yk_smooth *model, int column, double h, double sign, double *share)
{
    int power = model->variation->power[column], k;
    yk_signal *signal = signal_of(model, column, &k);
    *share = 2e-5 * model->mass_scale * model->length_scale / (h * h) * (k < 3 ? 1 : model->gyration) / pow(h, power);
    for (int i = signal->degree + 1; i <= power; i++) signal->linear[i] = signal->angular[i] = yk_v3(0, 0, 0);
    signal->degree = power > signal->degree ? power : signal->degree;
    *component(signal, power, k) += sign * *share;
}

static void copy_inputs(yk_smooth *model, const yk_signal *inputs)
{
    memcpy(model->own_inputs, inputs, (size_t)model->def.port_count * sizeof *inputs);
}

yk_status yk_two_step_differences(yk_smooth *model, double t, double h, const double *mark, const double *sizes,
                                  int count, double *end)
{
    variation *v = model->variation;
    const yk_signal *inputs = model->inputs;
    size_t bytes = model->image_words * sizeof *end;
    yk_status status = YK_OK;
    yk_variation_keep(model);
    memcpy(end, model->image, bytes);
    model->inputs = model->own_inputs;
    for (int c = 0; c < v->columns && status == YK_OK; c++) {
        double share = 0;
        for (int side = 0; side < 2 && status == YK_OK; side++) {
            copy_inputs(model, inputs);
            push_input(model, c, h, side ? 1 : -1, &share);
            memcpy(model->image, mark, bytes);
            model->factors_match = false;
            yk_smooth_trial_from_state(model);
            status = yk_two_step_repeat(model, t, sizes, count);
            if (status == YK_OK) yk_variation_read_side(model, side);
        }
        if (status == YK_OK) yk_variation_write(model, c, share);
    }
    model->inputs = inputs;
    memcpy(model->image, end, bytes);
    yk_variation_restore(model);
    model->factors_match = false;
    return status;
}
