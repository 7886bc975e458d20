/* The sensitivities of a step: the parts common to all integrators (columns, memory, and the
 * motions of the ports), and those of implicit steps.
 *
 * Implicit steps are those of the two-step method and of generalized-alpha. In one internal step
 * the wrenches act at its end only, and the change of the unknowns follows from the matrix of
 * Newton's method at the converged step. Terms that this matrix neglects (the stiffness of the
 * wrenches themselves, damping times the change of geometry) are included by iterations against the
 * true residual. If the macro step consists of several internal steps, these are repeated with
 * displaced wrenches. */
#include "multibody/step_sensitivity.h"

#include <string.h>

#include "math/so3.h"

enum { MARKER_MOTIONS = 18, SCALAR_MOTIONS = 3 };

static const double DISPLACED = 1e-5;
/* Largest number of iterations against the true residual, and relative change at which they end. */
static const int REFINEMENTS = 12;
static const double SETTLED = 1e-8;

/* Columns and memory --------------------------------------------------------------------------- */

void yk_multibody_release_variation(yk_multibody *self)
{
    variation *v = self->variation;
    if (!v)
        return;

    yk_context *context = self->model.context;
    void *const blocks[] = {v->row,    v->power,     v->begin,   v->end,  v->slope, v->direction,
                            v->base,   v->plus,      v->minus,   v->rows, v->trial, v->coordinates,
                            v->lambda, v->output[0], v->rotated, v->mark, v->image, v->sizes};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        yk_free(context, blocks[i]);

    yk_free(context, v);
    self->variation = NULL;
}

static yk_status create_variation(yk_multibody *self, int degree)
{
    const yk_multibody_model *model = &self->model;
    yk_context *context = model->context;
    variation *v = yk_allocate(context, 1, sizeof *v);
    if (!v)
        return YK_ERROR_MEMORY;

    /* Numbers of columns, and of motion components of each. */
    self->variation = v;
    v->degree = degree;
    v->n = 2 * (size_t)model->motion_count;
    for (int p = 0; p < model->def.port_count; p++) {
        int size = yk_multibody_port_size(&model->ports[p]);
        v->port_rows += size;
        if (size == 1)
            v->outputs += SCALAR_MOTIONS;
        if (size == 6)
            v->outputs += MARKER_MOTIONS;
    }

    v->columns = v->port_rows * (degree + 1);

    /* All memory of a step with its derivatives. */
    size_t columns = (size_t)v->columns;
    size_t unknowns = (size_t)model->unknown_count;
    size_t word = sizeof(double);
    size_t stages = (size_t)model->integrator->stages;
    size_t words = self->state.words;
    v->row = yk_allocate(context, columns, sizeof *v->row);
    v->power = yk_allocate(context, columns, sizeof *v->power);
    v->begin = yk_allocate(context, columns * v->n, word);
    v->end = yk_allocate(context, columns * v->n, word);
    v->slope = yk_allocate(context, columns * v->n * stages, word);
    v->direction = yk_allocate(context, v->n, word);
    v->base = yk_allocate(context, unknowns, word);
    v->plus = yk_allocate(context, unknowns, word);
    v->minus = yk_allocate(context, unknowns, word);
    v->output[0] = yk_allocate(context, 2 * (size_t)v->outputs, word);
    v->rotated = yk_allocate(context, (size_t)model->def.port_count, sizeof *v->rotated);
    v->rows = yk_allocate(context, (size_t)v->port_rows, sizeof *v->rows);
    v->trial = yk_allocate(context, (size_t)model->frame_count, sizeof *v->trial);
    v->coordinates = yk_allocate(context, (size_t)model->coordinate_count, sizeof *v->coordinates);
    v->lambda = yk_allocate(context, (size_t)model->row_count, word);
    v->mark = yk_allocate(context, words, word);
    v->image = yk_allocate(context, words, word);
    v->sizes = yk_allocate(context, YK_VARIATION_STEPS_MAX, word);
    bool complete = v->row && v->power && v->begin && v->end && v->slope && v->direction &&
                    v->base && v->plus && v->minus && v->output[0] && v->rotated && v->rows &&
                    v->trial && v->coordinates && v->lambda && v->mark && v->image && v->sizes;
    if (!complete) {
        yk_multibody_release_variation(self);
        return YK_ERROR_MEMORY;
    }

    v->output[1] = v->output[0] + v->outputs;

    /* Coefficients are ordered by power of time, then by port, then by component. */
    int row = 0;
    int column = 0;
    for (int p = 0; p < model->def.port_count; p++) {
        int size = yk_multibody_port_size(&model->ports[p]);
        for (int power = 0; power <= degree; power++) {
            for (int k = 0; k < size; k++, column++) {
                v->row[column] = row + k;
                v->power[column] = power;
            }
        }
        row += size;
    }

    return YK_OK;
}

/* The trial of the step itself ----------------------------------------------------------------- */

void yk_variation_keep(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;

    memcpy(v->trial, work->trial, (size_t)model->frame_count * sizeof *v->trial);
    memcpy(v->coordinates, work->coordinates,
           (size_t)model->coordinate_count * sizeof *v->coordinates);

    memcpy(v->lambda, work->lambda, (size_t)model->row_count * sizeof *v->lambda);
    v->supply = work->supply;
    v->port_supply = work->port_supply;
    v->loss = work->loss;
    v->potential = work->potential;
}

void yk_variation_restore(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    const variation *v = self->variation;
    yk_multibody_workspace *work = &self->work;

    memcpy(work->trial, v->trial, (size_t)model->frame_count * sizeof *v->trial);
    memcpy(work->coordinates, v->coordinates,
           (size_t)model->coordinate_count * sizeof *v->coordinates);
    memcpy(work->lambda, v->lambda, (size_t)model->row_count * sizeof *v->lambda);

    work->supply = v->supply;
    work->port_supply = v->port_supply;
    work->loss = v->loss;
    work->potential = v->potential;

    /* Frames of attachments follow the coordinates. */
    if (model->def.flexible_count)
        yk_multibody_place_flexibles(model, work, ATTACHMENT_MAPS);
}

/* Differences ---------------------------------------------------------------------------------- */

double yk_variation_relative_size(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, const double *direction)
{
    double largest = 0;

    /* Displacements, then rates as displacements per step. */
    for (int level = 0; level < 2; level++) {
        for (int i = 0; i < model->motion_count; i++) {
            double size = fabs(direction[level * model->motion_count + i]);
            if (level == 1)
                size *= work->h;
            largest = fmax(largest, size * yk_multibody_relative_size(model, i));
        }
    }

    return largest > 0 ? DISPLACED / largest : 0;
}

static double *put_vector(double *to, yk_vec3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    return to + 3;
}

/* Motions of the ports at the trial, displaced backwards (side 0) and then forwards (1). */
static void read_side(yk_multibody *self, int side)
{
    const yk_multibody_model *model = &self->model;
    variation *v = self->variation;
    double *to = v->output[side];

    yk_multibody_show_attachments(model, &self->work);
    for (int p = 0; p < model->def.port_count; p++) {
        int size = yk_multibody_port_size(&model->ports[p]);
        if (size == 0)
            continue;

        yk_port_value value;
        yk_multibody_port_output(model, &self->work, p, &value);
        const yk_motion *m = &value.motion;

        /* A distance has three numbers, a marker eighteen. */
        if (size == 1) {
            *to++ = m->position.x;
            *to++ = m->velocity.x;
            *to++ = m->acceleration.x;
            continue;
        }

        /* Rotations are relative to those of the first reading. */
        if (side == 0)
            v->rotated[p] = m->orientation;

        to = put_vector(to, m->position);
        to = put_vector(to, yk_so3_log(yk_q_mul(m->orientation, yk_q_conjugate(v->rotated[p]))));
        to = put_vector(to, m->velocity);
        to = put_vector(to, m->angular_velocity);
        to = put_vector(to, m->acceleration);
        to = put_vector(to, m->angular_acceleration);
    }
}

/* A column from both. */
static void write_column(yk_multibody *self, int column, double fraction)
{
    const variation *v = self->variation;

    for (int i = 0; i < v->outputs; i++) {
        double change = 0;
        if (fraction > 0)
            change = (v->output[1][i] - v->output[0][i]) / (2 * fraction);
        v->matrix[(size_t)i * (size_t)v->columns + (size_t)column] = change;
    }
}

void yk_variation_read(yk_multibody *self, int column, double fraction,
                       void (*displace)(yk_multibody *self, int column, double fraction))
{
    /* Central differences. */
    for (int side = 0; side < 2; side++) {
        displace(self, column, side ? fraction : -fraction);
        read_side(self, side);
    }

    write_column(self, column, fraction);
}

/* Of the contract ------------------------------------------------------------------------------ */

yk_status yk_multibody_step_sensitivity(yk_multibody *self, double t, double h, int degree,
                                        double *matrix)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;

    if (degree < 0 || degree > YK_INPUT_DEGREE_MAX)
        return yk_fail(model->context, YK_ERROR_ARGUMENT,
                       "%s: sensitivities to wrenches of degree %d: 0 to %d are known",
                       model->def.name, degree, YK_INPUT_DEGREE_MAX);

    /* Columns of another degree need new memory. */
    if (self->variation && self->variation->degree != degree)
        yk_multibody_release_variation(self);

    yk_status status = YK_OK;
    if (!self->variation)
        status = create_variation(self, degree);
    if (status != YK_OK)
        return status;

    /* The step itself, with its derivatives. */
    self->variation->matrix = matrix;
    work->varying = true;
    status = model->integrator->vary(self, t, h);
    work->varying = false;
    yk_multibody_show_attachments(model, work);

    return status;
}

/* An implicit step: one internal step ---------------------------------------------------------- */

/* Moves the trial along the solution in v->base. */
static void displace_along_solution(yk_multibody *self, int column, double fraction)
{
    const yk_multibody_model *model = &self->model;
    const integrator *method = model->integrator;
    yk_multibody_workspace *work = &self->work;

    (void)column;
    yk_variation_restore(self);
    for (int i = 0; i < model->unknown_count; i++)
        work->right[i] = fraction * self->variation->base[i];
    method->update(model, &self->state, work);
    if (method->accelerations)
        method->accelerations(model, &self->state, work);
}

static double fraction_of(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    const yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;
    for (int i = 0; i < model->motion_count; i++) {
        v->direction[i] = v->base[i];
        v->direction[model->motion_count + i] = v->base[i] / work->c;
    }

    return yk_variation_relative_size(model, work, v->direction);
}

/* The change of the unknowns by a column, into v->base, and the motions of the ports from it. */
static void one_column(yk_multibody *self, int column)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;
    int n = model->unknown_count;

    /* The wrench itself, at the present positions of the ports. */
    double factor = work->c * work->c;
    for (int k = 0; k < v->power[column]; k++)
        factor *= work->input_time;
    yk_variation_restore(self);
    memset(v->plus, 0, (size_t)n * sizeof *v->plus);
    yk_multibody_push(model, work, &v->rows[v->row[column]], v->plus);
    for (int i = 0; i < n; i++) {
        v->plus[i] *= factor;
        v->base[i] = 0;
    }

    /* Iterate against the true residual until the changes are negligible. */
    for (int k = 0; k < REFINEMENTS; k++) {
        memcpy(v->minus, v->plus, (size_t)n * sizeof *v->minus);

        /* The change of the equations along the present solution. */
        double fraction = fraction_of(self);
        for (int side = 0; side < 2 && fraction != 0; side++) {
            double sign = side ? -1 : 1;
            displace_along_solution(self, 0, sign * fraction);
            model->integrator->momenta(model, work);
            yk_multibody_assemble(model, work, NULL, LEVEL_STEP);
            double half = sign * 0.5 / fraction;
            for (int i = 0; i < n; i++)
                v->minus[i] += half * work->right[i];
        }

        /* The correction, and its size relative to the solution. */
        yk_multibody_solve(model, &self->solver, v->minus);
        double change = 0, size = 0;
        for (int i = 0; i < n; i++) {
            v->base[i] += v->minus[i];
            change = fmax(change, fabs(v->minus[i]) / model->unknown_scale[i]);
            size = fmax(size, fabs(v->base[i]) / model->unknown_scale[i]);
        }

        if (change <= SETTLED * size)
            break;
    }

    yk_variation_read(self, column, fraction_of(self), displace_along_solution);
}

yk_status yk_two_step_vary(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;

    /* New factors at the converged step. */
    yk_variation_keep(self);
    model->integrator->momenta(model, work);
    yk_multibody_assemble(model, work, &self->solver, LEVEL_STEP);
    yk_status status = yk_multibody_factor(model, work, &self->solver);
    self->solver.match = false; /* later steps recompute those that belong to the state */
    if (status == YK_OK) {
        yk_multibody_port_rows(model, work, v->rows);
        for (int c = 0; c < v->columns; c++)
            one_column(self, c);
    }

    yk_variation_restore(self);
    return status;
}

/* An implicit step: several internal steps ----------------------------------------------------- */

/* Adds a displaced wrench to the model's own inputs: one that moves a typical mass by 1e-5 of the
 * length scale over the step, forwards or backwards. Returns its size. */
static double push_input(yk_multibody *self, int column, double h, double sign)
{
    const yk_multibody_model *model = &self->model;
    const variation *v = self->variation;

    /* The port of the column, and its component. */
    int port = 0;
    int k = v->row[column];
    int power = v->power[column];
    for (int size; k >= (size = yk_multibody_port_size(&model->ports[port])); port++)
        k -= size;
    yk_input *signal = &self->work.own_inputs[port];

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

yk_status yk_two_step_differences(yk_multibody *self, double t, double h, const double *mark,
                                  const double *sizes, int count, double *end)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    const yk_input *inputs = work->inputs;
    size_t bytes = state->words * sizeof *end;
    size_t input_bytes = (size_t)model->def.port_count * sizeof *inputs;
    yk_status status = YK_OK;

    yk_variation_keep(self);
    memcpy(end, state->image, bytes);

    /* The same internal steps from the same state, with each wrench displaced backwards and
     * forwards. */
    work->inputs = work->own_inputs;
    for (int c = 0; c < self->variation->columns && status == YK_OK; c++) {
        double fraction = 0;
        for (int side = 0; side < 2 && status == YK_OK; side++) {
            memcpy(work->own_inputs, inputs, input_bytes);
            fraction = push_input(self, c, h, side ? 1 : -1);
            memcpy(state->image, mark, bytes);
            self->solver.match = false;
            yk_multibody_trial_from_state(model, state, work);
            status = yk_two_step_repeat(self, t, sizes, count);
            if (status == YK_OK)
                read_side(self, side);
        }

        if (status == YK_OK)
            write_column(self, c, fraction);
    }

    work->inputs = inputs;
    memcpy(state->image, end, bytes);
    yk_variation_restore(self);
    self->solver.match = false;

    return status;
}
