/* The explicit Runge-Kutta-Chebyshev method of order 2 (Sommeijer, Shampine and Verwer 1998: RKC, an
 * explicit solver for parabolic PDEs) for the stabilised equations of Zhou et al. 2022.
 *
 * The constraints are ordinary differential equations of first order: the pair (35) and (37),
 *
 *   M (q' - v) + G^T mu = 0         c' + beta c = 0     for the positions
 *   M v' + G^T lambda = F           g' + beta g = 0     for g = c' on velocity level
 *
 * so that gaps and their rates decay independently of each other. Both lines have the matrix of
 * accelerations.c, which is factored at every stage; there is no projection and no iteration.
 *
 * A method with s stages is stable for eigenvalues from 0 to -0.65 (s^2 - 1) / h on the real axis.
 * Errors of oscillations without damping grow by at most 0.025 (omega h)^4 per step. */
#include <assert.h>
#include <string.h>

#include "multibody/multibody.h"
#include "multibody/step_sensitivity.h"

/* Damping of the method: widens the region of stability around the real axis. */
static const double DAMPING = 2.0 / 13;

/* Coefficients --------------------------------------------------------------------------------- */

/* Chebyshev polynomials and their first three derivatives at x. */
typedef struct chebyshev {
    double value[YK_CHEBYSHEV_STAGES_MAX + 1];
    double first[YK_CHEBYSHEV_STAGES_MAX + 1];
    double second[YK_CHEBYSHEV_STAGES_MAX + 1];
    double third[YK_CHEBYSHEV_STAGES_MAX + 1];
} chebyshev;

static void evaluate_chebyshev(int count, double x, chebyshev *t)
{
    memset(t, 0, sizeof *t);
    t->value[0] = 1;
    t->value[1] = x;
    t->first[1] = 1;
    for (int j = 2; j <= count; j++) {
        t->value[j] = 2 * x * t->value[j - 1] - t->value[j - 2];
        t->first[j] = 2 * t->value[j - 1] + 2 * x * t->first[j - 1] - t->first[j - 2];
        t->second[j] = 4 * t->first[j - 1] + 2 * x * t->second[j - 1] - t->second[j - 2];
        t->third[j] = 6 * t->second[j - 1] + 2 * x * t->third[j - 1] - t->third[j - 2];
    }
}

void yk_chebyshev_coefficients(int stages, yk_chebyshev_stage stage[YK_CHEBYSHEV_STAGES_MAX + 1])
{
    assert(stages >= 2 && stages <= YK_CHEBYSHEV_STAGES_MAX);
    double w0 = 1 + DAMPING / ((double)stages * stages);
    chebyshev t;
    evaluate_chebyshev(stages, w0, &t);
    double w1 = t.first[stages] / t.second[stages];

    /* b_0 = b_1 = b_2 */
    double b[YK_CHEBYSHEV_STAGES_MAX + 1] = {0};
    for (int j = 2; j <= stages; j++)
        b[j] = t.second[j] / (t.first[j] * t.first[j]);
    b[0] = b[1] = b[2];

    memset(stage, 0, ((size_t)stages + 1) * sizeof *stage);
    stage[1].mu_slope = b[1] * w1;
    stage[1].c = stage[1].mu_slope;
    for (int j = 2; j <= stages; j++) {
        double before = 1 - b[j - 1] * t.value[j - 1];
        yk_chebyshev_stage *s = &stage[j];
        s->mu = 2 * b[j] * w0 / b[j - 1];
        s->nu = -b[j] / b[j - 2];
        s->mu_slope = 2 * b[j] * w1 / b[j - 1];
        s->gamma = -before * s->mu_slope;
        /* A consistent stage is exact for a constant slope. */
        s->c = s->mu * stage[j - 1].c + s->nu * stage[j - 2].c + s->mu_slope + s->gamma;
    }
}

double yk_chebyshev_growth(int stages, double z)
{
    double w0 = 1 + DAMPING / ((double)stages * stages);
    chebyshev t;
    evaluate_chebyshev(stages, w0, &t);
    double w1 = t.first[stages] / t.second[stages];
    double b = t.second[stages] / (t.first[stages] * t.first[stages]);
    double shift = 1 - b * t.value[stages];

    evaluate_chebyshev(stages, w0 + w1 * z, &t);
    return shift + b * t.value[stages];
}

/* Steps ---------------------------------------------------------------------------------------- */

static yk_vec3 take(const double *from)
{
    return yk_v3(from[0], from[1], from[2]);
}

/* Rates of the vector at the trial: accelerations (35), then the rates of the positions (37). */
static yk_status compute_slope(const yk_multibody_model *model, yk_multibody_workspace *work,
                               yk_linear_solver *solver, const yk_runge_kutta_workspace *w,
                               double *slope)
{
    work->stabilises_velocities = true;
    yk_status status = yk_multibody_rates(model, work, solver, false);
    work->stabilises_velocities = false;
    if (status != YK_OK)
        return status;

    yk_runge_kutta_read_slope(model, work, w, slope);
    double *drift = w->moved;
    yk_multibody_stabilized_drift(model, work, solver, work->stabilisation, drift);
    for (int i = 0; i < model->node_count; i++) {
        int u = model->nodes[i].unknown;
        yk_vec3 turn = yk_rotation_tangent_inverse(&work->trial[i].rotation, take(drift + u + 3));
        const double rotation[3] = {turn.x, turn.y, turn.z};
        for (int k = 0; k < 3; k++) {
            slope[u + k] += drift[u + k];
            slope[u + 3 + k] += rotation[k];
        }
    }

    for (int k = model->coordinate_first; k < model->coordinate_first + model->coordinate_count;
         k++)
        slope[k] += drift[k];

    return YK_OK;
}

/* One step from the accepted state; its end is in the trial and in w->begin, the slope there in
 * w->slope[0]. */
static yk_status chebyshev_travel(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    const yk_multibody_options *options = &model->def.options;
    yk_runge_kutta_workspace w = yk_runge_kutta_workspace_of(model, work);
    int stages = options->stages;
    double rate = options->stabilization_rate;

    yk_multibody_trial_from_state(model, &self->state, work);
    yk_multibody_rates_open(self);
    work->h = h;
    work->size = 0;
    work->drive_step = 0.25 * h;
    work->stabilisation = rate > 0 ? rate : 1 / h;

    /* The slope at the start, with sums of work from zero. */
    yk_runge_kutta_begin_step(model, work, &w);
    memset(w.begin + 2 * (size_t)model->motion_count, 0,
           (w.n - 2 * (size_t)model->motion_count) * sizeof *w.begin);
    yk_runge_kutta_move_to(model, work, t, 0);
    yk_status status = compute_slope(model, work, solver, &w, w.slope[0]);

    /* Y_{j-1}, Y_{j-2} and the slope of Y_{j-1}. */
    yk_chebyshev_stage stage[YK_CHEBYSHEV_STAGES_MAX + 1];
    yk_chebyshev_coefficients(stages, stage);
    const double *first = w.slope[0];
    double *last = w.value;
    double *earlier = w.error5;
    double *next = w.error3;
    double *slope = w.stage;
    memcpy(earlier, w.begin, w.n * sizeof *earlier);
    for (size_t i = 0; i < w.n; i++)
        last[i] = w.begin[i] + stage[1].mu_slope * h * first[i];

    for (int j = 2; j <= stages && status == YK_OK; j++) {
        const yk_chebyshev_stage *s = &stage[j];
        yk_runge_kutta_place(model, work, &w, last);
        yk_runge_kutta_move_to(model, work, t, stage[j - 1].c * h);
        status = compute_slope(model, work, solver, &w, slope);

        double rest = 1 - s->mu - s->nu;
        for (size_t i = 0; i < w.n; i++)
            next[i] = rest * w.begin[i] + s->mu * last[i] + s->nu * earlier[i] +
                      h * (s->mu_slope * slope[i] + s->gamma * first[i]);

        double *free = earlier;
        earlier = last;
        last = next;
        next = free;
    }

    /* The end: the next step starts from its rotations. */
    if (status == YK_OK) {
        size_t sums = 2 * (size_t)model->motion_count;
        yk_runge_kutta_place(model, work, &w, last);
        yk_runge_kutta_move_to(model, work, t, h);
        memcpy(w.begin + sums, last + sums, (w.n - sums) * sizeof *last);
        status = compute_slope(model, work, solver, &w, w.slope[0]);
    }

    work->drive_step = 0;
    work->stabilisation = 0;
    bool finite = true;
    for (size_t i = 0; status == YK_OK && i < w.n; i++)
        finite = finite && isfinite(w.slope[0][i]);
    if (!finite)
        return yk_fail(
            model->context, YK_ERROR_DIVERGED,
            "%s: the step of the Runge-Kutta-Chebyshev method to t = %g is not finite: use "
            "a smaller step, more stages, or an implicit integrator",
            model->def.name, t + h);

    return status;
}

static yk_status chebyshev_advance(yk_multibody *self, double t, double h)
{
    yk_status status = chebyshev_travel(self, t, h);
    if (status != YK_OK) {
        yk_multibody_trial_from_state(&self->model, &self->state, &self->work);
        return status;
    }

    yk_runge_kutta_accept(self, t, h);
    return YK_OK;
}

/* The whole step at once: another iteration with the same inputs would change nothing. */
static yk_status chebyshev_iterate(yk_multibody *self, double t, double h,
                                   yk_iteration_report *report)
{
    yk_status status = chebyshev_travel(self, t, h);
    self->work.open = status == YK_OK;
    report->correction = 0;
    report->converged = true;
    return status;
}

/* Derivatives ---------------------------------------------------------------------------------- */

/* Displacement of the model by a changed wrench, as a fraction of its size. */
static const double DISPLACEMENT = 1e-5;

static yk_input *changed_inputs(const yk_multibody_model *model, yk_multibody_workspace *work)
{
    double *scratch = work->scratch;
    return (yk_input *)(scratch + yk_runge_kutta_scratch_words(model));
}

/* Port, component and power of a column, and the change of its coefficient for a fraction of 1. */
static double *coefficient_of(const yk_multibody_model *model, yk_input *inputs, const variation *v,
                              int column, double h, double *change)
{
    int row = v->row[column];
    int port = 0;
    int size = yk_multibody_port_size(&model->ports[0]);
    while (row >= size) {
        row -= size;
        size = yk_multibody_port_size(&model->ports[++port]);
    }

    double length = model->length_scale;
    *change = DISPLACEMENT * model->mass_scale * length / pow(h, 2 + v->power[column]);
    yk_input *input = &inputs[port];
    if (input->degree < v->power[column])
        input->degree = v->power[column];
    if (row >= 3)
        *change *= length;

    yk_vec3 *vector =
        row < 3 ? &input->linear[v->power[column]] : &input->angular[v->power[column]];
    double *component[3] = {&vector->x, &vector->y, &vector->z};
    return component[row % 3];
}

/* Repeats the step with one coefficient of the inputs changed. */
static void displace_by_wrench(yk_multibody *self, int column, double fraction)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;
    const yk_input *inputs = work->inputs;
    yk_input *changed = changed_inputs(model, work);

    memcpy(changed, inputs, (size_t)model->def.port_count * sizeof *changed);
    double change;
    double *coefficient = coefficient_of(model, changed, v, column, work->h, &change);
    *coefficient += fraction;
    work->inputs = changed;
    /* A failure is one of the step itself, which follows. */
    (void)chebyshev_travel(self, self->state.clock->t, work->h);
    work->inputs = inputs;
}

static yk_status chebyshev_vary(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    variation *v = self->variation;

    work->h = h;
    for (int column = 0; column < v->columns; column++) {
        yk_input *inputs = changed_inputs(model, work);
        memcpy(inputs, work->inputs, (size_t)model->def.port_count * sizeof *inputs);
        double change;
        (void)coefficient_of(model, inputs, v, column, h, &change);
        yk_variation_read(self, column, change, displace_by_wrench);
    }

    return chebyshev_advance(self, t, h);
}

static size_t chebyshev_scratch_words(const yk_multibody_model *model)
{
    size_t inputs = (size_t)model->def.port_count * sizeof(yk_input);
    return yk_runge_kutta_scratch_words(model) + (inputs + sizeof(double) - 1) / sizeof(double);
}

/* Coefficient of z^3 in the growth factor. */
static double chebyshev_cubic_weight(const yk_multibody_options *options)
{
    int stages = options->stages;
    chebyshev t;
    evaluate_chebyshev(stages, 1 + DAMPING / ((double)stages * stages), &t);
    double w1 = t.first[stages] / t.second[stages];
    double b = t.second[stages] / (t.first[stages] * t.first[stages]);
    return b * w1 * w1 * w1 * t.third[stages] / 6;
}

const integrator yk_multibody_chebyshev = {
    .begin = yk_runge_kutta_begin,
    .advance = chebyshev_advance,
    .iterate = chebyshev_iterate,
    .predict = yk_multibody_predict_taylor,
    .scratch_words = chebyshev_scratch_words,
    .stages = 1,
    .input_degree = YK_INPUT_DEGREE_MAX,
    .vary = chebyshev_vary,
    .cubic_weight = chebyshev_cubic_weight,
};
