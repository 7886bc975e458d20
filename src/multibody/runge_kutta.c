/* The explicit Runge-Kutta method of order 8 of Dormand and Prince with error control of orders 5
 * and 3 (Hairer, Norsett, Wanner 1993, II.5 and II.10), applied to the accelerations of
 * accelerations.c.
 *
 * Rotations are integrated in the chart phi = log(R R_0^T) around the start of each internal step,
 * in which the method keeps its order (a Runge-Kutta-Munthe-Kaas method); work and losses are
 * integrated together with them. After each internal step positions and velocities are projected
 * onto the constraints, and the accelerations that are passed on belong to the inputs at its end. A
 * step depends on the accepted state only. The method is intended for highly accurate results of
 * models without stiff parts: with beams or stiff springs, stability limits the step size, and the
 * implicit methods are the better choice. */
#include <string.h>

#include "multibody/multibody.h"
#include "multibody/step_sensitivity.h"

enum { STAGES = YK_RUNGE_KUTTA_STAGES };

/* Coefficients --------------------------------------------------------------------------------- */

/* Dormand and Prince's method of order 8 with 12 stages, and the two error estimates of the code
 * DOP853 (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 2nd edition,
 * II.5 and II.10). */
static const yk_runge_kutta dormand_prince = {
    .a = {[1] = {[0] = 0.05260015195876773},
          [2] = {[0] = 0.0197250569845379, [1] = 0.0591751709536137},
          [3] = {[0] = 0.02958758547680685, [2] = 0.08876275643042054},
          [4] = {[0] = 0.2413651341592667, [2] = -0.8845494793282861, [3] = 0.924834003261792},
          [5] = {[0] = 0.037037037037037035, [3] = 0.17082860872947386, [4] = 0.12546768756682242},
          [6] = {[0] = 0.037109375,
                 [3] = 0.17025221101954405,
                 [4] = 0.06021653898045596,
                 [5] = -0.017578125},
          [7] = {[0] = 0.03709200011850479,
                 [3] = 0.17038392571223998,
                 [4] = 0.10726203044637328,
                 [5] = -0.015319437748624402,
                 [6] = 0.008273789163814023},
          [8] = {[0] = 0.6241109587160757,
                 [3] = -3.3608926294469414,
                 [4] = -0.868219346841726,
                 [5] = 27.59209969944671,
                 [6] = 20.154067550477894,
                 [7] = -43.48988418106996},
          [9] = {[0] = 0.47766253643826434,
                 [3] = -2.4881146199716677,
                 [4] = -0.590290826836843,
                 [5] = 21.230051448181193,
                 [6] = 15.279233632882423,
                 [7] = -33.28821096898486,
                 [8] = -0.020331201708508627},
          [10] = {[0] = -0.9371424300859873,
                  [3] = 5.186372428844064,
                  [4] = 1.0914373489967295,
                  [5] = -8.149787010746927,
                  [6] = -18.52006565999696,
                  [7] = 22.739487099350505,
                  [8] = 2.4936055526796523,
                  [9] = -3.0467644718982196},
          [11] = {[0] = 2.273310147516538,
                  [3] = -10.53449546673725,
                  [4] = -2.0008720582248625,
                  [5] = -17.9589318631188,
                  [6] = 27.94888452941996,
                  [7] = -2.8589982771350235,
                  [8] = -8.87285693353063,
                  [9] = 12.360567175794303,
                  [10] = 0.6433927460157636}},
    .c = {0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726,
          1.0 / 3, 0.25, 4.0 / 13, 127.0 / 195, 0.6, 6.0 / 7, 1},
    .b = {[0] = 0.054293734116568765,
          [5] = 4.450312892752409,
          [6] = 1.8915178993145003,
          [7] = -5.801203960010585,
          [8] = 0.3111643669578199,
          [9] = -0.1521609496625161,
          [10] = 0.20136540080403034,
          [11] = 0.04471061572777259},
    .error5 = {[0] = 0.01312004499419488,
               [5] = -1.2251564463762044,
               [6] = -0.4957589496572502,
               [7] = 1.6643771824549864,
               [8] = -0.35032884874997366,
               [9] = 0.3341791187130175,
               [10] = 0.08192320648511571,
               [11] = -0.022355307863886294},
    .error3 = {[0] = -0.18980075407240762,
               [5] = 4.450312892752409,
               [6] = 1.8915178993145003,
               [7] = -5.801203960010585,
               [8] = -0.42268232132379197,
               [9] = -0.1521609496625161,
               [10] = 0.20136540080403034,
               [11] = 0.022651792198360825}};

const yk_runge_kutta *yk_runge_kutta_853(void)
{
    return &dormand_prince;
}

/* Steps ---------------------------------------------------------------------------------------- */

/* After positions and rates: work, work through ports, losses. */
enum { SUMS = 3 };

static size_t runge_kutta_vector_size(const yk_multibody_model *model)
{
    return 2 * (size_t)model->motion_count + SUMS;
}

size_t yk_runge_kutta_scratch_words(const yk_multibody_model *model)
{
    return (6 + STAGES) * runge_kutta_vector_size(model) + 4 * (size_t)model->node_count;
}

yk_runge_kutta_workspace yk_runge_kutta_workspace_of(const yk_multibody_model *model,
                                                     yk_multibody_workspace *work)
{
    yk_runge_kutta_workspace w = {.n = runge_kutta_vector_size(model)};
    double **vectors[] = {&w.begin, &w.value, &w.error5, &w.error3, &w.stage, &w.moved};
    double *at = work->scratch;

    /* Vectors of the step, slopes of its stages, centres of the charts. */
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++, at += w.n)
        *vectors[i] = at;
    for (int i = 0; i < STAGES; i++, at += w.n)
        w.slope[i] = at;
    w.orientation = (yk_quat *)at;

    return w;
}

static void put_vector(double *to, yk_vec3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static yk_vec3 take(const double *from)
{
    return yk_v3(from[0], from[1], from[2]);
}

void yk_runge_kutta_begin_step(const yk_multibody_model *model, yk_multibody_workspace *work,
                               yk_runge_kutta_workspace *w)
{
    double *rate = w->begin + model->motion_count;
    work->extent = 0;
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &work->trial[i];
        int u = model->nodes[i].unknown;

        /* Positions and velocities; phi is zero in its own chart. */
        put_vector(w->begin + u, node->frame.position);
        put_vector(w->begin + u + 3, yk_v3(0, 0, 0));
        put_vector(rate + u, node->frame.velocity);
        put_vector(rate + u + 3, node->frame.angular_velocity);

        w->orientation[i] = node->orientation;
        node->rotation = yk_rotation_of(yk_v3(0, 0, 0));

        /* Scale of the rounding errors of positions. */
        yk_vec3 at = node->frame.position;
        work->extent = fmax(work->extent, fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z))));
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        w->begin[model->coordinate_first + k] = work->coordinates[k].value;
        rate[model->coordinate_first + k] = work->coordinates[k].rate;
    }
}

void yk_runge_kutta_place(const yk_multibody_model *model, yk_multibody_workspace *work,
                          const yk_runge_kutta_workspace *w, const double *value)
{
    const double *rate = value + model->motion_count;
    for (int i = 0; i < model->node_count; i++) {
        trial_node *node = &work->trial[i];
        int u = model->nodes[i].unknown;

        node->frame.position = take(value + u);
        node->frame.velocity = take(rate + u);
        node->frame.angular_velocity = take(rate + u + 3);

        /* The rotation relative to the chart's center. */
        node->rotation = yk_rotation_of(take(value + u + 3));
        node->orientation = yk_q_unit(yk_q_mul(node->rotation.quaternion, w->orientation[i]));
        node->frame.rotation = yk_q_matrix(node->orientation);
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        work->coordinates[k].value = value[model->coordinate_first + k];
        work->coordinates[k].rate = rate[model->coordinate_first + k];
    }
}

void yk_runge_kutta_read_slope(const yk_multibody_model *model, yk_multibody_workspace *work,
                               const yk_runge_kutta_workspace *w, double *slope)
{
    double *second = slope + model->motion_count;
    for (int i = 0; i < model->node_count; i++) {
        const trial_node *node = &work->trial[i];
        int u = model->nodes[i].unknown;

        put_vector(slope + u, node->frame.velocity);
        yk_vec3 spin = node->frame.angular_velocity;
        put_vector(slope + u + 3, yk_rotation_tangent_inverse(&node->rotation, spin));
        put_vector(second + u, node->acceleration);
        put_vector(second + u + 3, node->angular_acceleration);
    }

    for (int k = 0; k < model->coordinate_count; k++) {
        slope[model->coordinate_first + k] = work->coordinates[k].rate;
        second[model->coordinate_first + k] = work->coordinates[k].acceleration;
    }

    /* Powers are integrated together with the motion. */
    yk_multibody_drive_powers(model, work);
    double *sums = slope + w->n - SUMS;
    sums[0] = work->supply;
    sums[1] = work->port_supply;
    sums[2] = work->loss + yk_multibody_beam_loss(model, work);
}

void yk_runge_kutta_move_to(const yk_multibody_model *model, yk_multibody_workspace *work, double t,
                            double local)
{
    work->t = t + local;
    work->input_time = local;
    yk_multibody_input_frames(model, work);
}

/* sum = h times the weighted sum of the slopes */
static void combine_slopes(const yk_runge_kutta_workspace *w, const double *weight, int count,
                           double h, double *sum)
{
    memset(sum, 0, w->n * sizeof *sum);
    for (int j = 0; j < count; j++) {
        if (weight[j] == 0)
            continue;

        for (size_t i = 0; i < w->n; i++)
            sum[i] += weight[j] * w->slope[j][i];
    }

    for (size_t i = 0; i < w->n; i++)
        sum[i] *= h;
}

void yk_runge_kutta_stage(const yk_runge_kutta_workspace *w, int s, double size, double *value)
{
    combine_slopes(w, yk_runge_kutta_853()->a[s], s, size, value);
    for (size_t i = 0; i < w->n; i++)
        value[i] += w->begin[i];
}

/* All stages of an internal step from `local`, with the first slope known; the end is stored in
 * w->value. */
static yk_status stages(const yk_multibody_model *model, yk_multibody_workspace *work,
                        yk_linear_solver *solver, yk_runge_kutta_workspace *w, double t,
                        double local, double size)
{
    const yk_runge_kutta *method = yk_runge_kutta_853();
    work->drive_step = 0.25 * size;

    for (int s = 1; s < STAGES; s++) {
        yk_runge_kutta_stage(w, s, size, w->value);
        yk_runge_kutta_place(model, work, w, w->value);
        yk_runge_kutta_move_to(model, work, t, local + method->c[s] * size);

        /* Accelerations of this placement, by new factors. */
        yk_status status = yk_multibody_rates(model, work, solver, false);
        if (status != YK_OK)
            return status;

        yk_runge_kutta_read_slope(model, work, w, w->slope[s]);
    }

    /* The end of order 8, and its differences from orders 5 and 3. */
    combine_slopes(w, method->error5, STAGES, size, w->error5);
    combine_slopes(w, method->error3, STAGES, size, w->error3);
    combine_slopes(w, method->b, STAGES, size, w->value);
    for (size_t i = 0; i < w->n; i++)
        w->value[i] += w->begin[i];

    return YK_OK;
}

/* The estimate of order 8 from those of orders 5 and 3 is smaller than the actual errors of
 * pendulums and tops, by this factor. */
static const double CAUTION = 20;
/* Estimates below this may be rounding errors. */
static const double NOISE = 2e-12;

/* Estimated error relative to the tolerance: positions by the length scale, rates by the typical
 * speed. */
static double error_of(const yk_multibody_model *model, const yk_runge_kutta_workspace *w,
                       double tolerance)
{
    int n = model->motion_count;
    double length = model->length_scale;

    /* Typical speed: present velocities, or those that the accelerations would cause over a length
     * scale in the step. Below a millionth of that length per second the model counts as at rest. */
    double speed = 1e-6 * length;
    for (int s = 0; s < STAGES; s++) {
        const double *rate = w->slope[s];
        const double *second = rate + n;
        for (int i = 0; i < n; i++) {
            double arm = yk_multibody_arm(model, i);
            double falls = sqrt(arm * fabs(second[i]) * length);
            speed = fmax(speed, fmax(arm * fabs(rate[i]), falls));
        }
    }

    /* The largest estimates of orders 5 and 3; one that is not a number is kept. */
    double fifth = 0;
    double third = 0;
    for (int level = 0; level < 2; level++) {
        for (int i = 0; i < n; i++) {
            double scale = yk_multibody_arm(model, i) / (level ? speed : length);
            size_t at = (size_t)(level * n + i);
            double e5 = scale * fabs(w->error5[at]);
            double e3 = scale * fabs(w->error3[at]);

            if (e5 > fifth || isnan(e5))
                fifth = e5;
            if (e3 > third || isnan(e3))
                third = e3;
        }
    }

    /* Of order 8: Hairer, Norsett, Wanner 1993, II.10 */
    double norm = sqrt(fifth * fifth + 0.01 * third * third);
    if (!(norm > 0))
        return fifth;

    return CAUTION * fifth * fifth / norm / tolerance;
}

/* Projects the end of the stages onto the constraints, and computes its accelerations. */
static yk_status arrive(const yk_multibody_model *model, yk_multibody_workspace *work,
                        yk_linear_solver *solver, yk_runge_kutta_workspace *w, double t,
                        double local)
{
    /* Positions in the metric of the masses, then velocities with the factors of these
     * positions. */
    yk_runge_kutta_place(model, work, w, w->value);
    yk_runge_kutta_move_to(model, work, t, local);
    yk_status status = yk_multibody_project_positions(model, work, solver);
    if (status == YK_OK)
        status = yk_multibody_rates(model, work, solver, false);
    if (status != YK_OK)
        return status;

    yk_multibody_project_velocities(model, work, solver);
    status = yk_multibody_rates(model, work, solver, true);
    if (status != YK_OK)
        return status;

    /* This is the start of the next internal step. */
    yk_runge_kutta_begin_step(model, work, w);
    size_t sums = w->n - SUMS;
    memcpy(w->begin + sums, w->value + sums, SUMS * sizeof *w->begin);
    yk_runge_kutta_read_slope(model, work, w, w->slope[0]);

    return isfinite(w->slope[0][sums]) ? YK_OK : YK_ERROR_DIVERGED;
}

/* Factor to the size that would exactly meet the tolerance. */
static double growth(double error)
{
    return fmin(6, fmax(1.0 / 3, 0.9 * pow(fmax(error, 1e-12), -1.0 / 8)));
}

/* Internal steps from the accepted state over h, left in the trial and w->begin. */
static yk_status travel(yk_multibody *self, yk_runge_kutta_workspace *w, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;
    double now = self->state.clock->t;

    /* The estimate cannot resolve errors below rounding. */
    double wanted = model->def.options.error_tolerance;
    double tolerance = fmax(wanted, CAUTION * 1e-15 * fmax(1, work->extent / model->length_scale));

    /* Begin with the size at which the last step ended. */
    double size = h;
    if (wanted > 0 && work->size > 0)
        size = work->size;

    double done = 0;
    double last_error = INFINITY;
    double last_size = h;
    int attempts = 0;
    while (done < h) {
        yk_status allowed = yk_multibody_go_on(model, t, h, done, attempts++);
        if (allowed != YK_OK)
            return allowed;

        double left = h - done;
        double used = left;

        if (wanted > 0)
            used = yk_multibody_next_size(size, left);

        yk_status status = stages(model, work, solver, w, t, done, used);
        double error = 0;
        if (status == YK_OK && wanted > 0)
            error = error_of(model, w, tolerance);

        /* An error that hardly falls with the step size is a rounding error, and cannot be reduced. */
        bool stays = error > last_error * pow(used / last_size, 4);
        if (error > 1 && error * tolerance < NOISE && stays)
            error = 1;
        last_error = error;
        last_size = used;

        /* Accepted: project onto the constraints and continue. */
        if (status == YK_OK && isfinite(error) && error <= 1) {
            double end = used >= left ? h : done + used;
            if (work->varying)
                status = yk_runge_kutta_vary(self, w, t, done, used);
            if (status == YK_OK)
                status = arrive(model, work, solver, w, t, end);
            if (status == YK_OK) {
                if (work->varying)
                    yk_runge_kutta_vary_end(self, w);
                done = end;
                work->report.error = error * tolerance * model->length_scale;

                /* A shortened last internal step must not reduce the size of the following ones. */
                double kept = used < 0.9 * size ? size : 0;
                if (wanted > 0)
                    size = fmax(kept, used * fmax(1, growth(error)));
                work->size = size;
                continue;
            }

            error = 0;
        }

        /* Rejected: try a smaller step, unless it would be too small. */
        if (YK_FAILED(status) && status != YK_ERROR_DIVERGED && status != YK_ERROR_SINGULAR)
            return status;

        work->report.rejected++;
        double factor = 0.25;
        if (status == YK_OK && isfinite(error))
            factor = fmin(0.8, growth(error));
        size = used * factor;
        if (wanted > 0 && size >= 1e-9 * h && now + size != now)
            continue;

        if (status == YK_ERROR_SINGULAR)
            return status;
        return yk_fail(model->context, YK_ERROR_DIVERGED,
                       "%s: no step of the Runge-Kutta method meets the tolerance %g at t = %g: "
                       "the motion is not smooth there, or the model is too stiff; use a larger "
                       "tolerance or the two-step method",
                       model->def.name, wanted, t + done);
    }

    return YK_OK;
}

static yk_status travel_from_state(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    yk_runge_kutta_workspace w = yk_runge_kutta_workspace_of(model, work);

    /* From the accepted state, without any history. */
    yk_multibody_trial_from_state(model, state, work);
    yk_multibody_rates_open(self);
    work->size = state->clock->size;
    work->h = h;
    work->drive_step = 0.25 * h;

    /* The first slope, with sums of work starting at zero. */
    yk_runge_kutta_begin_step(model, work, &w);
    memset(w.begin + w.n - SUMS, 0, SUMS * sizeof *w.begin);
    yk_runge_kutta_move_to(model, work, t, 0);
    yk_status status = yk_multibody_rates(model, work, &self->solver, false);
    if (status != YK_OK)
        return status;

    yk_runge_kutta_read_slope(model, work, &w, w.slope[0]);
    status = travel(self, &w, t, h);

    if (status == YK_OK && work->varying)
        status = yk_runge_kutta_vary_outputs(self, h);
    work->drive_step = 0;

    return status;
}

void yk_runge_kutta_accept(yk_multibody *self, double t, double h)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;

    /* The trial becomes the state. */
    yk_multibody_inertias(model, work, false);
    yk_multibody_state_from_trial(model, state, work);

    /* Works and losses over the step, and powers at its end. */
    yk_runge_kutta_workspace w = yk_runge_kutta_workspace_of(model, work);
    const double *sum = w.begin + w.n - SUMS;
    const double *power = w.slope[0] + w.n - SUMS;
    clock_state *clock = state->clock;
    clock->work += sum[0];
    clock->port_work += sum[1];
    clock->dissipated += sum[2];
    clock->supply = power[0];
    clock->port_supply = power[1];
    clock->loss = power[2];

    /* The clock. */
    clock->t = t + h;
    clock->h = h;
    clock->size = work->size;
    clock->steps++;
    work->report.steps++;
    work->open = false;
}

static yk_status runge_kutta_advance(yk_multibody *self, double t, double h)
{
    yk_status status = travel_from_state(self, t, h);
    if (status != YK_OK) {
        yk_multibody_trial_from_state(&self->model, &self->state, &self->work);
        return status;
    }

    yk_runge_kutta_accept(self, t, h);
    return YK_OK;
}

static yk_status runge_kutta_vary(yk_multibody *self, double t, double h)
{
    variation *v = self->variation;
    memset(v->begin, 0, (size_t)v->columns * v->n * sizeof *v->begin);
    return runge_kutta_advance(self, t, h);
}

/* The whole step at once: another iteration with the same inputs would change nothing. */
static yk_status runge_kutta_iterate(yk_multibody *self, double t, double h,
                                     yk_iteration_report *report)
{
    yk_status status = travel_from_state(self, t, h);
    self->work.open = status == YK_OK;
    report->correction = 0;
    report->converged = true;
    return status;
}

yk_status yk_runge_kutta_begin(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    yk_linear_solver *solver = &self->solver;

    self->state.clock->size = 0;
    yk_multibody_rates_open(self);
    yk_multibody_assemble(model, work, solver, LEVEL_ACCELERATION);

    int column = 0;
    yk_status status = yk_sparse_factor(solver->matrix, &column);
    if (status != YK_OK)
        return yk_multibody_factor_failed(model, work, status, column);

    return YK_OK;
}

const integrator yk_multibody_runge_kutta = {
    .begin = yk_runge_kutta_begin,
    .advance = runge_kutta_advance,
    .iterate = runge_kutta_iterate,
    .predict = yk_multibody_predict_taylor,
    .scratch_words = yk_runge_kutta_scratch_words,
    .stages = STAGES,
    .input_degree = YK_INPUT_DEGREE_MAX,
    .vary = runge_kutta_vary,
};
