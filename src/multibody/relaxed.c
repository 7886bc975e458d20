/* Relaxed coupling of the parts of a merged model (Zhou et al. 2022, section 4).
 *
 * One relaxation solves the stabilized equations of one part, (38) and (39), for its accelerations
 * at the end of the step, with positions and velocities of the other parts from their last
 * relaxation. The right-hand side is that of the whole mechanism with all constraints, but only the
 * rows of the part are used: r = v' - V(q(v'), v(v')) = 0, where q and v follow from v' by the
 * generalized-alpha method. Newton's method uses a Jacobian by finite differences, which is kept as
 * long as it contracts. So the element formulations need no derivatives, and the cost of a part
 * depends on its own unknowns only.
 *
 * The Jacobian 1 - h^2 position V_q - h velocity V_v is a function of a placement (frames and
 * coordinates with their rates), t and h. These are stored in the image, and the Jacobian is
 * recomputed from them after a rollback: the same image leads to the same bits, whatever was
 * computed in between. */
#include "multibody/multibody.h"

#include <string.h>

#include "math/dense.h"

typedef struct part_model {
    int count;
    int *unknown;
    double *acceleration, *residual;
    double *jacobian;
    int *pivot;
    bool match; /* the Jacobian is that of the image */
} part_model;

struct relaxation {
    int count;
    part_model *part;
    int *owner;    /* part of each unknown of motion */
    double *spare; /* placement of the factors, saved while a Jacobian is recomputed */
    double speed;
};

static const int NEWTON_ITERATIONS = 12;
static const double SLOW_RATE = 0.2;
/* Fraction of the change by a relaxation that may remain as an error: sweeps that follow need not
 * be exact. */
static const double INNER_FRACTION = 0.03;
/* Number of relaxations between two that measure the contraction of their iteration; the others
 * assume it. */
static const double MEASURE_EVERY = 32;

int yk_multibody_part_count(const yk_multibody_model *model)
{
    const integrator *method = model->integrator;
    if (!method->is_ode || !method->is_ode(&model->def.options))

        return 0;
    return model->def.part_count > 0 ? model->def.part_count : 1;
}

/* Words of the image that describe the placement of the factors. */
static size_t factor_words(const yk_multibody_state *state)
{
    return (size_t)((double *)state->clock - (double *)state->reference);
}

/* Words that the image contains for a part; its placement follows. */
static part_state *kept_of(const yk_multibody_state *state, int part)
{
    return (part_state *)(state->parts + (size_t)part * state->part_words);
}

static yk_frame *frames_of(part_state *kept)
{
    return (yk_frame *)(kept + 1);
}

static coordinate_reference *coordinates_of(const yk_multibody_model *model, part_state *kept)
{
    return (coordinate_reference *)(frames_of(kept) + model->frame_count);
}

/* Memory --------------------------------------------------------------------------------------- */

void yk_multibody_release_relaxation(yk_multibody *self)
{
    yk_context *context = self->model.context;

    struct relaxation *made = self->relaxation;
    if (!made)
        return;

    /* Parts that were created completely. */
    for (int i = 0; i < made->count && made->part; i++) {
        part_model *part = &made->part[i];
        yk_free(context, part->unknown);
        yk_free(context, part->acceleration);
        yk_free(context, part->jacobian);
        yk_free(context, part->pivot);
    }

    yk_free(context, made->part);
    yk_free(context, made->owner);
    yk_free(context, made->spare);
    yk_free(context, made);
    self->relaxation = NULL;
}

/* Created at the first request. */
static yk_status prepare_relaxation(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_context *context = model->context;

    if (self->relaxation)
        return YK_OK;

    int parts = yk_multibody_part_count(model);
    if (parts == 0)
        return yk_fail(
            context, YK_ERROR_CAPABILITY,
            "%s: relaxed coupling takes the equations of motion as ordinary differential "
            "equations: use the generalised-alpha integrator in its form ode",
            model->def.name);

    struct relaxation *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    self->relaxation = made;
    made->count = parts;
    made->part = yk_allocate(context, (size_t)made->count, sizeof *made->part);
    made->owner = yk_allocate(context, (size_t)model->motion_count, sizeof *made->owner);
    made->spare = yk_allocate(context, factor_words(&self->state), sizeof *made->spare);
    if (!made->part || !made->owner || !made->spare) {
        yk_multibody_release_relaxation(self);
        return YK_ERROR_MEMORY;
    }

    /* Unknowns belong to the part of their node or body. */
    for (int i = 0; i < model->node_count; i++) {
        for (int k = 0; k < 6; k++)
            made->owner[model->nodes[i].unknown + k] = model->def.nodes[i].part;
    }
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *flexible = &model->flexibles[i];
        int first = model->coordinate_first + flexible->coordinate;
        for (int k = 0; k < flexible->body->coordinates; k++)
            made->owner[first + k] = model->def.flexibles[i].part;
    }

    /* Parts with the unknowns that they own: accelerations and residuals, a Jacobian and a column
     * of work. */
    for (int i = 0; i < made->count; i++) {
        part_model *part = &made->part[i];
        for (int k = 0; k < model->motion_count; k++)
            part->count += made->owner[k] == i;

        size_t n = (size_t)part->count;
        part->unknown = yk_allocate(context, n, sizeof *part->unknown);
        part->acceleration = yk_allocate(context, 2 * n, sizeof *part->acceleration);
        part->jacobian = yk_allocate(context, n * (n + 1), sizeof *part->jacobian);
        part->pivot = yk_allocate(context, n, sizeof *part->pivot);
        if (!part->unknown || !part->acceleration || !part->jacobian || !part->pivot) {
            yk_multibody_release_relaxation(self);
            return YK_ERROR_MEMORY;
        }

        part->residual = part->acceleration + n;
        int at = 0;
        for (int k = 0; k < model->motion_count; k++) {
            if (made->owner[k] == i)
                part->unknown[at++] = k;
        }
    }

    return YK_OK;
}

/* Components of the trial ---------------------------------------------------------------------- */

static double *acceleration_of(const yk_multibody_model *model, yk_multibody_workspace *work,
                               int unknown)
{
    if (unknown >= model->coordinate_first)
        return &work->coordinates[unknown - model->coordinate_first].acceleration;

    trial_node *node = &work->trial[unknown / 6];
    yk_vec3 *v = unknown % 6 < 3 ? &node->acceleration : &node->angular_acceleration;
    double *component[3] = {&v->x, &v->y, &v->z};
    return component[unknown % 3];
}

/* Sets accelerations of a part, and the resulting placement. */
static void put_accelerations(const yk_multibody_model *model, const yk_multibody_state *state,
                              yk_multibody_workspace *work, const part_model *part,
                              const double *values)
{
    for (int i = 0; i < part->count; i++)
        *acceleration_of(model, work, part->unknown[i]) = values[i];

    for (int i = 0; i < part->count; i++) {
        int unknown = part->unknown[i];
        int coordinate = unknown - model->coordinate_first;
        if (coordinate >= 0) {
            yk_generalized_alpha_place_coordinate(model, state, work, coordinate);
        } else if (unknown % 6 == 0) {
            yk_generalized_alpha_place_node(model, state, work, unknown / 6);
        }
    }
}

/* The Jacobian --------------------------------------------------------------------------------- */

/* Moves an unknown of the trial as a change `push` of its acceleration would. */
static void displace_unknown(const yk_multibody_model *model, yk_multibody_workspace *work,
                             int unknown, double push)
{
    yk_generalized_alpha m = yk_generalized_alpha_of(model->def.options.rho_inf);
    double h = work->h;
    double move = h * h * m.position * push;
    double speed = h * m.velocity * push;

    /* A coordinate is displaced directly. */
    if (unknown >= model->coordinate_first) {
        trial_coordinate *coordinate = &work->coordinates[unknown - model->coordinate_first];
        coordinate->value += move;
        coordinate->rate += speed;
        return;
    }

    /* A node along one axis, */
    yk_frame *frame = &work->trial[unknown / 6].frame;
    int k = unknown % 3;
    yk_vec3 axis = yk_v3(k == 0, k == 1, k == 2);
    if (unknown % 6 < 3) {
        frame->position = yk_v3_axpy(move, axis, frame->position);
        frame->velocity = yk_v3_axpy(speed, axis, frame->velocity);
        return;
    }

    /* or about it, in the chart of the step. */
    yk_rotation step = yk_rotation_of(yk_v3_scale(h, frame->angular_velocity));
    yk_rotation rotation = yk_rotation_of(yk_v3_scale(move, yk_rotation_tangent(&step, axis)));
    frame->rotation = yk_m3_mul(yk_q_matrix(rotation.quaternion), frame->rotation);
    frame->angular_velocity = yk_v3_axpy(speed, axis, frame->angular_velocity);
}

/* Factors of 1 - dV/dv' at the placement of the trial, its t and h. The result must not depend on
 * anything else, so the factors of the rates are recomputed, and ports have no wrenches. */
static yk_status difference(yk_multibody *self, part_model *part)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    int n = part->count;
    double *jacobian = part->jacobian;
    double *base = jacobian + (size_t)n * (size_t)n;
    const yk_input *inputs = work->inputs;

    /* No wrenches of ports, and factors of this placement. */
    work->inputs = work->own_inputs;
    yk_status status = yk_multibody_renew_rates(self);
    if (status == YK_OK)
        status = yk_multibody_solve_rates(self);

    /* V without displacement, and the size of displacements. */
    double largest = 1;
    for (int i = 0; i < n; i++) {
        base[i] = work->right[part->unknown[i]];
        largest = fmax(largest, fabs(base[i]));
    }

    /* V of the part with each unknown displaced in turn. */
    double push = 1e-3 * largest;
    for (int j = 0; j < n && status == YK_OK; j++) {
        /* Undo the displacement after each column. */
        int unknown = part->unknown[j];
        int k = unknown - model->coordinate_first;
        int node = unknown / 6;
        yk_frame frame = {0};
        trial_coordinate coordinate = {0};

        /* Its frame, or its value and rate. */
        if (k < 0) {
            frame = work->trial[node].frame;
        } else {
            coordinate = work->coordinates[k];
        }

        displace_unknown(model, work, unknown, push);
        status = yk_multibody_solve_rates(self);

        for (int i = 0; i < n; i++)
            jacobian[i * n + j] = (i == j) - (work->right[part->unknown[i]] - base[i]) / push;

        if (k < 0) {
            work->trial[node].frame = frame;
        } else {
            work->coordinates[k].value = coordinate.value;
            work->coordinates[k].rate = coordinate.rate;
        }
    }

    work->inputs = inputs;
    if (status == YK_OK)
        status = yk_lu_factor(n, jacobian, part->pivot);
    self->solver.factorisations++;

    return status;
}

/* The rate at which a part closes the gaps of the constraints, beta of equation (31): its own, or
 * that of the whole. */
static double stabilisation_of(const yk_multibody_model *model, int part, double h)
{
    double own = model->part_rates ? model->part_rates[part] : 0;
    if (own != 0)
        return own > 0 ? own : 1 / h;
    return yk_generalized_alpha_stabilisation(model, h);
}

static void set_time(const yk_multibody_model *model, yk_multibody_workspace *work, int part,
                     double t, double h)
{
    work->t = t;
    work->h = h;
    work->damping = yk_multibody_damping_at(model, t);
    work->stabilisation = stabilisation_of(model, part, h);
}

/* Recomputes the Jacobian of the image after a rollback. The placement of the factors of the rates
 * remains in the image. */
static yk_status restore_jacobian(yk_multibody *self, int index, part_state *kept)
{
    part_model *part = &self->relaxation->part[index];
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    yk_frame *frames = frames_of(kept);
    coordinate_reference *coordinates = coordinates_of(model, kept);

    /* Save the trial and the placement of the factors. */
    double t = work->t;
    double h = work->h;
    double *spare = self->relaxation->spare;
    size_t bytes = factor_words(state) * sizeof *spare;

    /* Finite differences at the placement of the image, then restore the trial. */
    memcpy(spare, state->reference, bytes);
    yk_multibody_swap_placement(model, work, frames, coordinates);
    set_time(model, work, index, kept->t, kept->h);
    yk_status status = difference(self, part);
    set_time(model, work, index, t, h);
    yk_multibody_swap_placement(model, work, frames, coordinates);
    memcpy(state->reference, spare, bytes);

    self->solver.match = false;
    part->match = status == YK_OK;
    return status;
}

/* Newton's method ------------------------------------------------------------------------------ */

static yk_status diverged(const yk_multibody_model *model, const yk_multibody_workspace *work)
{
    return yk_fail(model->context, YK_ERROR_DIVERGED,
                   "its equations do not converge at t = %g: the step is too large for its "
                   "stiffness; use a smaller macro step",
                   work->t);
}

/* Rounding errors of positions, multiplied by the stabilization. */
static double rounding_of(const yk_multibody_model *model, const yk_multibody_workspace *work,
                          double speed)
{
    return 4e-16 * fmax(work->extent, model->length_scale) / (work->h * speed);
}

/* Solves r = v' - V = 0 for the accelerations of a part; `change`: the largest change, relative to
 * the typical velocity. */
static yk_status solve_part(yk_multibody *self, int index, double *change)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;
    part_model *part = &self->relaxation->part[index];
    part_state *kept = kept_of(&self->state, index);
    double speed = self->relaxation->speed;
    double limit = rounding_of(model, work, speed);
    double last = INFINITY;
    double velocity = yk_generalized_alpha_of(model->def.options.rho_inf).velocity;

    *change = 0;
    for (int k = 0; k < NEWTON_ITERATIONS; k++) {
        /* The kept Jacobian; a new one at the trial, whose placement is stored in the image; or,
         * after a rollback, the one that belongs to the image. */
        yk_status status = YK_OK;
        if (kept->stale != 0 || kept->h != work->h) {
            status = difference(self, part);
            *kept = (part_state){.t = work->t, .h = status == YK_OK ? work->h : 0, .rate = 1};
            part->match = true;
            yk_multibody_keep_placement(model, work, frames_of(kept), coordinates_of(model, kept));
        } else if (!part->match) {
            status = restore_jacobian(self, index, kept);
        }

        if (status == YK_OK)
            status = yk_multibody_solve_rates(self);
        bool astray = status == YK_ERROR_SINGULAR || status == YK_ERROR_DIVERGED;
        if (astray)
            return diverged(model, work);
        if (status != YK_OK)
            return status;

        /* r = v' - V. */
        for (int i = 0; i < part->count; i++)
            part->residual[i] = part->acceleration[i] - work->right[part->unknown[i]];

        /* The correction, and its size. */
        yk_lu_solve(part->count, part->jacobian, part->pivot, part->residual);
        double largest = 0;
        for (int i = 0; i < part->count; i++) {
            double relative = yk_multibody_relative_size(model, part->unknown[i]);
            double size = fabs(part->residual[i]) * relative * model->length_scale;
            if (size > largest || isnan(size))
                largest = size;
        }

        /* As a fraction of the typical velocity. */
        double step = work->h * velocity / speed * largest;
        double rate = step / last;
        if (!isfinite(step))
            return diverged(model, work);

        /* The accelerations, and the placement that they lead to. */
        for (int i = 0; i < part->count; i++)
            part->acceleration[i] -= part->residual[i];
        put_accelerations(model, &self->state, work, part, part->acceleration);
        *change = fmax(*change, step);

        /* The contraction of the Jacobian: measured in the second iteration, assumed for a while in
         * the first iteration of other relaxations. */
        if (k == 1 && last > 1e4 * limit) {
            kept->rate = rate;
            kept->trusted = 0;
        }

        if (k > 0 && rate > SLOW_RATE && step > 1e3 * limit)
            kept->stale = 1;

        double contraction = 1;
        if (k > 0) {
            contraction = rate;
        } else if (kept->trusted++ < MEASURE_EVERY) {
            contraction = kept->rate;
        }

        /* Stop at rounding errors, or if the next correction would not matter. */
        if (step <= limit)
            return YK_OK;
        double next = contraction / (1 - contraction) * step;
        if (contraction < 1 && next <= INNER_FRACTION * *change)
            return YK_OK;

        last = step;
    }

    return last < 1e-6 ? YK_OK : diverged(model, work);
}

yk_status yk_multibody_relax(yk_multibody *self, int index, double t, double h, double *change)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_state *state = &self->state;
    yk_multibody_workspace *work = &self->work;
    yk_status status = prepare_relaxation(self);
    if (status != YK_OK)
        return status;

    struct relaxation *relaxation = self->relaxation;
    part_model *part = &relaxation->part[index];

    /* The first relaxation of a step opens its trial. */
    work->input_time = h;
    if (!work->open) {
        yk_generalized_alpha_open(model, state, work, t, h);
        yk_multibody_rates_open(self);
        work->relaxing = true;

        /* The typical speed: velocities of the model, or the speed that its accelerations cause
         * over a length scale; a model below a millionth of that length per second counts as at
         * rest. */
        double length = model->length_scale;
        double speed = 1e-6 * length;
        for (int i = 0; i < model->node_count; i++) {
            const node_state *now = &state->now[i];
            double swing = yk_v3_norm(now->angular_acceleration);
            double moves = yk_v3_norm(now->velocity) + length * yk_v3_norm(now->angular_velocity);
            double falls = yk_v3_norm(now->acceleration) + length * swing;
            speed = fmax(speed, fmax(moves, sqrt(falls * length)));
        }
        relaxation->speed = speed;
    }

    yk_multibody_input_frames(model, work);

    /* The part continues from its last relaxation. */
    work->stabilisation = stabilisation_of(model, index, h);
    for (int i = 0; i < part->count; i++)
        part->acceleration[i] = *acceleration_of(model, work, part->unknown[i]);
    status = solve_part(self, index, change);
    if (*change <= 20 * rounding_of(model, work, relaxation->speed))
        *change = 0;

    work->stabilisation = 0;
    work->report.iterations++;

    return status;
}

yk_status yk_multibody_accept_relaxed(yk_multibody *self)
{
    const yk_multibody_model *model = &self->model;
    yk_multibody_workspace *work = &self->work;

    work->relaxing = false;
    yk_multibody_input_frames(model, work);
    work->stabilisation = yk_generalized_alpha_stabilisation(model, work->h);
    yk_status status = yk_multibody_solve_rates(self);
    work->stabilisation = 0;
    if (status != YK_OK)
        return status;

    /* Only the multipliers are new; motions are those of the last sweep. */
    yk_multibody_read_multipliers(model, work);
    yk_generalized_alpha_close(model, &self->state, work);

    return YK_OK;
}

/* Between images and copies of the model ------------------------------------------------------- */

/* Whether two images have the same Jacobian, regardless of its contraction. */
static bool same_jacobian(const yk_multibody_state *state, const double *a, const double *b)
{
    size_t skipped = sizeof(part_state) / sizeof(double);

    size_t words = state->part_words - skipped;
    return a[0] == b[0] && a[1] == b[1] && memcmp(a + skipped, b + skipped, words * sizeof *a) == 0;
}

void yk_multibody_relaxation_compare(yk_multibody *self, const double *image)
{
    const yk_multibody_state *state = &self->state;
    struct relaxation *made = self->relaxation;
    size_t first = (size_t)(state->parts - state->image);

    for (int i = 0; made && i < made->count; i++) {
        size_t at = first + (size_t)i * state->part_words;
        if (!same_jacobian(state, state->image + at, image + at))
            made->part[i].match = false;
    }
}

yk_status yk_multibody_part_words(yk_multibody *self, int part, size_t *words, size_t *unknowns)
{
    yk_status status = prepare_relaxation(self);
    if (status != YK_OK)
        return status;
    if (part < 0 || part >= self->relaxation->count)
        return yk_fail(self->model.context, YK_ERROR_ARGUMENT, "%s: there is no part %d",
                       self->model.def.name, part);

    *unknowns = (size_t)self->relaxation->part[part].count;
    *words = *unknowns + self->state.part_words;
    return YK_OK;
}

void yk_multibody_part_get(yk_multibody *self, int part, double *words)
{
    const yk_multibody_state *state = &self->state;
    const part_model *of = &self->relaxation->part[part];
    for (int i = 0; i < of->count; i++)
        words[i] = *acceleration_of(&self->model, &self->work, of->unknown[i]);
    memcpy(words + of->count, kept_of(state, part), state->part_words * sizeof *words);
}

void yk_multibody_part_set(yk_multibody *self, int part, const double *words)
{
    const yk_multibody_state *state = &self->state;
    part_model *of = &self->relaxation->part[part];
    double *kept = (double *)kept_of(state, part);

    put_accelerations(&self->model, state, &self->work, of, words);
    if (!same_jacobian(state, kept, words + of->count))
        of->match = false;
    memcpy(kept, words + of->count, state->part_words * sizeof *kept);
}
