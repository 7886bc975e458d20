/* Derivatives of an implicit step, of the two-step method or of generalised-alpha. In one
 * internal step the wrenches enter at its end alone, and the change of the unknowns follows from
 * the matrix of Newton's method at the converged step; what that matrix leaves out (the stiffness
 * of the wrenches themselves, damping times the change of geometry) is put in by iterations
 * against the true residual. Where the macro step took several internal steps, these are repeated
 * with displaced wrenches. */
#include <string.h>

#include "smooth/variation.h"

/* At most; they end when the last one adds less than this fraction. */
static const int REFINEMENTS = 12;
static const double SETTLED = 1e-8;

/* One internal step ---------------------------------------------------------------------------- */

/* Moves the trial along the solution in v->base. */
static void displace(yk_smooth *smooth, int column, double fraction)
{
    const yk_smooth_model *model = &smooth->model;
    const integrator *method = model->integrator;
    yk_smooth_workspace *work = &smooth->work;

    (void)column;
    yk_variation_restore(smooth);
    for (int i = 0; i < model->unknown_count; i++)
        work->right[i] = fraction * smooth->variation->base[i];
    method->update(model, &smooth->state, work);
    if (method->accelerations)
        method->accelerations(model, &smooth->state, work);
}

static double fraction_of(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    const yk_smooth_workspace *work = &smooth->work;
    variation *v = smooth->variation;
    for (int i = 0; i < model->motion_count; i++) {
        v->direction[i] = v->base[i];
        v->direction[model->motion_count + i] = v->base[i] / work->c;
    }

    return yk_variation_relative_size(model, work, v->direction);
}

/* The change of the unknowns by a column, into v->base, and the motions of the ports from it. */
static void one_column(yk_smooth *smooth, int column)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    variation *v = smooth->variation;
    int n = model->unknown_count;

    /* The wrench itself; it acts at the ports where they are. */
    double factor = work->c * work->c;
    for (int k = 0; k < v->power[column]; k++)
        factor *= work->input_time;
    yk_variation_restore(smooth);
    memset(v->plus, 0, (size_t)n * sizeof *v->plus);
    yk_smooth_push(model, work, &v->rows[v->row[column]], v->plus);
    for (int i = 0; i < n; i++) {
        v->plus[i] *= factor;
        v->base[i] = 0;
    }

    /* Iterations against the true residual, until the last adds nothing that matters. */
    for (int k = 0; k < REFINEMENTS; k++) {
        memcpy(v->minus, v->plus, (size_t)n * sizeof *v->minus);

        /* The change of the equations along what is known of the solution. */
        double fraction = fraction_of(smooth);
        for (int side = 0; side < 2 && fraction != 0; side++) {
            double sign = side ? -1 : 1;
            displace(smooth, 0, sign * fraction);
            model->integrator->momenta(model, work);
            yk_smooth_assemble(model, work, NULL, LEVEL_STEP);
            double half = sign * 0.5 / fraction;
            for (int i = 0; i < n; i++)
                v->minus[i] += half * work->right[i];
        }

        /* The correction, and its size beside what is known. */
        yk_smooth_solve(model, &smooth->solver, v->minus);
        double change = 0, size = 0;
        for (int i = 0; i < n; i++) {
            v->base[i] += v->minus[i];
            change = fmax(change, fabs(v->minus[i]) / model->unknown_scale[i]);
            size = fmax(size, fabs(v->base[i]) / model->unknown_scale[i]);
        }

        if (change <= SETTLED * size)
            break;
    }

    yk_variation_read(smooth, column, fraction_of(smooth), displace);
}

yk_status yk_two_step_vary(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_workspace *work = &smooth->work;
    variation *v = smooth->variation;

    /* Fresh factors at the converged step. */
    yk_variation_keep(smooth);
    model->integrator->momenta(model, work);
    yk_smooth_assemble(model, work, &smooth->solver, LEVEL_STEP);
    yk_status status = yk_smooth_factor(model, work, &smooth->solver);
    smooth->solver.match = false; /* later steps make those again that belong to the state */
    if (status == YK_OK) {
        yk_smooth_port_rows(model, work, v->rows);
        for (int c = 0; c < v->columns; c++)
            one_column(smooth, c);
    }

    yk_variation_restore(smooth);
    return status;
}

/* Several internal steps ----------------------------------------------------------------------- */

/* Adds a displaced wrench to the model's own inputs: one that moves a typical mass by 1e-5 of the
 * length scale over the step, forwards or backwards. Returns its size. */
static double push_input(yk_smooth *smooth, int column, double h, double sign)
{
    const yk_smooth_model *model = &smooth->model;
    const variation *v = smooth->variation;

    /* The port that the column belongs to, and which of its components. */
    int port = 0;
    int k = v->row[column];
    int power = v->power[column];
    for (int size; k >= (size = yk_smooth_port_size(&model->ports[port])); port++)
        k -= size;
    yk_input *signal = &smooth->work.own_inputs[port];

    /* A force or torque of that size, as a coefficient of its power of time. */
    double unit = 2e-5 * model->mass_scale * model->length_scale / (h * h);
    double arm = k < 3 ? 1 : model->gyration;
    double fraction = unit * arm / pow(h, power);
    for (int i = signal->degree + 1; i <= power; i++)
        signal->linear[i] = signal->angular[i] = yk_v3(0, 0, 0);
    if (power > signal->degree)
        signal->degree = power;

    yk_vec3 *vector = k < 3 ? &signal->linear[power] : &signal->angular[power];
    double *component[3] = {&vector->x, &vector->y, &vector->z};
    *component[k % 3] += sign * fraction;

    return fraction;
}

yk_status yk_two_step_differences(yk_smooth *smooth, double t, double h, const double *mark,
                                  const double *sizes, int count, double *end)
{
    const yk_smooth_model *model = &smooth->model;
    yk_smooth_state *state = &smooth->state;
    yk_smooth_workspace *work = &smooth->work;
    const yk_input *inputs = work->inputs;
    size_t bytes = state->words * sizeof *end;
    size_t input_bytes = (size_t)model->def.port_count * sizeof *inputs;
    yk_status status = YK_OK;

    yk_variation_keep(smooth);
    memcpy(end, state->image, bytes);

    /* The same internal steps from the same state, with each wrench displaced backwards and
     * forwards. */
    work->inputs = work->own_inputs;
    for (int c = 0; c < smooth->variation->columns && status == YK_OK; c++) {
        double fraction = 0;
        for (int side = 0; side < 2 && status == YK_OK; side++) {
            memcpy(work->own_inputs, inputs, input_bytes);
            fraction = push_input(smooth, c, h, side ? 1 : -1);
            memcpy(state->image, mark, bytes);
            smooth->solver.match = false;
            yk_smooth_trial_from_state(model, state, work);
            status = yk_two_step_repeat(smooth, t, sizes, count);
            if (status == YK_OK)
                yk_variation_read_side(smooth, side);
        }

        if (status == YK_OK)
            yk_variation_write(smooth, c, fraction);
    }

    work->inputs = inputs;
    memcpy(state->image, end, bytes);
    yk_variation_restore(smooth);
    smooth->solver.match = false;

    return status;
}
