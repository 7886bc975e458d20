/* Relaxed coupling of the parts of a merged model: paper relaxed, section 4.
 *
 * One relaxation solves the stabilised equations of one part, (38) and (39), for its accelerations at the end of the step,
 * with positions and velocities of the other parts as their last relaxation left them. The right-hand side is that of the
 * whole mechanism with all constraints, and only the rows of the part are kept: r = v' - V(q(v'), v(v')) = 0, q and v
 * following from v' by the generalised-alpha method. Newton's method with a Jacobian by differences, kept as long as it
 * contracts; so the element formulations need not be differentiated, and a part costs what its own unknowns cost. */
#include "smooth/relaxation.h"

#include <string.h>

#include "math/dense.h"
#include "smooth/generalised_alpha.h"

typedef struct part_model {
    int count;
    int *unknown;
    double *acceleration, *residual;
    double *jacobian;
    int *pivot;
    bool factored, stale;
    double rate; /* last measured contraction */
    int trusted; /* relaxations since */
} part_model;

struct relaxation {
    int count;
    part_model *part;
    int *owner; /* part of each unknown of motion */
    double speed;
};

static const int newton_iterations = 12;
static const double slow_rate = 0.2;
/* What may be left of the change that a relaxation makes in its part: sweeps follow that need not be perfect. */
static const double inner_share = 0.1;
/* Relaxations between two that measure the contraction of their iteration; the others trust it. */
enum { MEASURE_EVERY = 32 };

void yk_smooth_release_relaxation(yk_smooth *model)
{
    struct relaxation *made = model->relaxation;
    if (!made) return;
    for (int i = 0; i < made->count && made->part; i++) {
        part_model *part = &made->part[i];
        yk_release(model->context, part->unknown);
        yk_release(model->context, part->acceleration);
        yk_release(model->context, part->jacobian);
        yk_release(model->context, part->pivot);
    }
    yk_release(model->context, made->part);
    yk_release(model->context, made->owner);
    yk_release(model->context, made);
    model->relaxation = NULL;
}

static void find_owners(const yk_smooth *model, struct relaxation *made)
{
    for (int i = 0; i < model->node_count; i++)
        for (int k = 0; k < 6; k++) made->owner[model->nodes[i].unknown + k] = model->def.nodes[i].part;
    for (int i = 0; i < model->def.flexible_count; i++) {
        const flexible_model *flexible = &model->flexibles[i];
        for (int k = 0; k < flexible->body->coordinates; k++)
            made->owner[model->coordinate_first + flexible->coordinate + k] = model->def.flexibles[i].part;
    }
}

static yk_status make_part(yk_smooth *model, const int *owner, int index, part_model *part)
{
    yk_context *context = model->context;
    for (int i = 0; i < model->motion_count; i++) part->count += owner[i] == index;
    size_t n = (size_t)part->count;
    part->unknown = yk_allocate(context, n, sizeof *part->unknown);
    part->acceleration = yk_allocate(context, 2 * n, sizeof *part->acceleration);
    part->jacobian = yk_allocate(context, n * n, sizeof *part->jacobian);
    part->pivot = yk_allocate(context, n, sizeof *part->pivot);
    if (!part->unknown || !part->acceleration || !part->jacobian || !part->pivot) return YK_ERROR_MEMORY;
    part->residual = part->acceleration + n;
    int at = 0;
    for (int i = 0; i < model->motion_count; i++)
        if (owner[i] == index) part->unknown[at++] = i;
    return YK_OK;
}

static yk_status create(yk_smooth *model)
{
    if (model->integrator != &yk_smooth_generalised_alpha || model->def.options.form != YK_SMOOTH_ODE)
        return yk_fail(model->context, YK_ERROR_CAPABILITY,
                       "%s: relaxed coupling takes the equations of motion as ordinary differential equations: set "
                       "integrator: {type: generalised-alpha, form: ode}",
                       model->def.name);
    struct relaxation *made = yk_allocate(model->context, 1, sizeof *made);
    if (!made) return YK_ERROR_MEMORY;
    model->relaxation = made;
    made->count = model->def.part_count > 0 ? model->def.part_count : 1;
    made->part = yk_allocate(model->context, (size_t)made->count, sizeof *made->part);
    made->owner = yk_allocate(model->context, (size_t)model->motion_count, sizeof *made->owner);
    yk_status status = made->part && made->owner ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) find_owners(model, made);
    for (int i = 0; i < made->count && status == YK_OK; i++) status = make_part(model, made->owner, i, &made->part[i]);
    if (status != YK_OK) yk_smooth_release_relaxation(model);
    return status;
}

/* Components of the trial ------------------------------------------------------------------------------------------ */

static double *acceleration_of(yk_smooth *model, int unknown)
{
    if (unknown >= model->coordinate_first) return &model->coordinates[unknown - model->coordinate_first].acceleration;
    trial_node *node = &model->trial[unknown / 6];
    yk_vec3 *v = unknown % 6 < 3 ? &node->acceleration : &node->angular_acceleration;
    int k = unknown % 3;
    return k == 0 ? &v->x : k == 1 ? &v->y : &v->z;
}

static void place_unknown(yk_smooth *model, int unknown)
{
    if (unknown >= model->coordinate_first) {
        yk_generalised_alpha_place_coordinate(model, unknown - model->coordinate_first);
    } else {
        yk_generalised_alpha_place_node(model, unknown / 6);
    }
}

static void put_accelerations(yk_smooth *model, const part_model *part, const double *values)
{
    for (int i = 0; i < part->count; i++) *acceleration_of(model, part->unknown[i]) = values[i];
    for (int i = 0; i < part->count; i++)
        if (part->unknown[i] >= model->coordinate_first || part->unknown[i] % 6 == 0)
            place_unknown(model, part->unknown[i]);
}

/* r = v' - V at the trial. */
static yk_status evaluate(yk_smooth *model, part_model *part, double *residual)
{
    yk_status status = yk_smooth_solve_rates(model);
    if (status != YK_OK) return status;
    for (int i = 0; i < part->count; i++) residual[i] = part->acceleration[i] - model->right[part->unknown[i]];
    return YK_OK;
}

/* Newton's method -------------------------------------------------------------------------------------------------- */

static yk_status differentiate(yk_smooth *model, part_model *part)
{
    int n = part->count;
    double largest = 1;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(part->acceleration[i]));
    double push = 1e-3 * largest;
    for (int j = 0; j < n; j++) {
        double *column = part->residual, kept = part->acceleration[j];
        part->acceleration[j] = kept + push;
        *acceleration_of(model, part->unknown[j]) = part->acceleration[j];
        place_unknown(model, part->unknown[j]);
        yk_status status = evaluate(model, part, column);
        for (int i = 0; i < n && status == YK_OK; i++) part->jacobian[i * n + j] = column[i] / push;
        part->acceleration[j] = kept;
        *acceleration_of(model, part->unknown[j]) = kept;
        place_unknown(model, part->unknown[j]);
        if (status != YK_OK) return status;
    }
    yk_status status = evaluate(model, part, part->residual);
    if (status != YK_OK) return status;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) part->jacobian[i * n + j] -= part->residual[i] / push;
    status = yk_lu_factor(n, part->jacobian, part->pivot);
    part->factored = status == YK_OK;
    part->stale = false;
    part->rate = 1;
    model->report.factorisations++;
    return status;
}

/* Velocities of the model, or what its accelerations would make over a length scale; below a millionth of that length
 * per second it counts as at rest. */
static double typical_speed(const yk_smooth *model)
{
    double length = model->length_scale, speed = 1e-6 * length;
    for (int i = 0; i < model->node_count; i++) {
        const node_state *now = &model->state.now[i];
        double moves = yk_v3_norm(now->velocity) + length * yk_v3_norm(now->angular_velocity);
        double falls = yk_v3_norm(now->acceleration) + length * yk_v3_norm(now->angular_acceleration);
        speed = fmax(speed, fmax(moves, sqrt(falls * length)));
    }
    return speed;
}

/* A change of accelerations as a share of the typical velocity. */
static double change_of(const yk_smooth *model, const part_model *part, const double *step)
{
    yk_generalised_alpha m = yk_generalised_alpha_of(model->def.options.rho_inf);
    double largest = 0, factor = model->h * m.velocity / model->relaxation->speed;
    for (int i = 0; i < part->count; i++) {
        double size = fabs(step[i]) * (yk_smooth_turns(model, part->unknown[i]) ? model->length_scale : 1);
        if (size > largest || isnan(size)) largest = size;
    }
    return factor * largest;
}

static yk_status diverged(yk_smooth *model)
{
    return yk_fail(model->context, YK_ERROR_DIVERGED,
                   "its equations do not converge at t = %g: the step is too large for its stiffness; use a smaller "
                   "time.step",
                   model->t);
}

/* Rounding of positions, as the stabilisation turns it into velocities. */
static double rounding_of(const yk_smooth *model)
{
    return 4e-16 * fmax(model->extent, model->length_scale) / (model->h * model->relaxation->speed);
}

static yk_status solve_part(yk_smooth *model, part_model *part, double *change)
{
    double limit = rounding_of(model);
    double last = INFINITY;
    yk_status status = YK_OK;
    *change = 0;
    for (int k = 0; k < newton_iterations; k++) {
        if (!part->factored || part->stale) {
            status = differentiate(model, part);
        } else {
            status = evaluate(model, part, part->residual);
        }
        if (status == YK_ERROR_SINGULAR || status == YK_ERROR_DIVERGED)
            return diverged(model); /* an iterate went astray */
        if (status != YK_OK) return status;
        yk_lu_solve(part->count, part->jacobian, part->pivot, part->residual);
        double step = change_of(model, part, part->residual), rate = step / last;
        if (!isfinite(step)) return diverged(model);
        for (int i = 0; i < part->count; i++) part->acceleration[i] -= part->residual[i];
        put_accelerations(model, part, part->acceleration);
        *change = fmax(*change, step);
        if (k == 1 && last > 1e4 * limit) part->rate = rate, part->trusted = 0;
        if (k > 0 && rate > slow_rate && step > 1e3 * limit) part->stale = true;
        bool trusting = k == 0 && part->trusted++ < MEASURE_EVERY;
        double contraction = k > 0 ? rate : trusting ? part->rate : 1;
        if (step <= limit || (contraction < 1 && contraction / (1 - contraction) * step <= inner_share * *change))
            return YK_OK;
        last = step;
    }
    return last < 1e-6 ? YK_OK : diverged(model);
}

yk_status yk_smooth_relax(yk_smooth *model, int index, double t, double h, double *change)
{
    yk_status status = model->relaxation ? YK_OK : create(model);
    if (status != YK_OK) return status;
    part_model *part = &model->relaxation->part[index];
    model->input_time = h;
    if (!model->open) {
        yk_generalised_alpha_open(model, t, h);
        yk_smooth_rates_open(model);
        model->relaxation->speed = typical_speed(model);
        model->relaxing = true;
    }
    yk_smooth_input_frames(model);
    model->stabilisation = yk_generalised_alpha_stabilisation(model, h);
    for (int i = 0; i < part->count; i++) part->acceleration[i] = *acceleration_of(model, part->unknown[i]);
    status = solve_part(model, part, change);
    if (*change <= 20 * rounding_of(model)) *change = 0;
    model->stabilisation = 0;
    model->report.iterations++;
    return status;
}

void yk_smooth_forget_relaxation(yk_smooth *model)
{
    model->rates_factored = false;
    for (int i = 0; i < model->relaxation->count; i++) {
        part_model *part = &model->relaxation->part[i];
        part->factored = part->stale = false;
        part->rate = 1;
        part->trusted = 0;
    }
}

yk_status yk_smooth_accept_relaxed(yk_smooth *model)
{
    model->relaxing = false;
    yk_smooth_input_frames(model);
    model->stabilisation = yk_generalised_alpha_stabilisation(model, model->h);
    yk_status status = yk_smooth_solve_rates(model);
    model->stabilisation = 0;
    if (status != YK_OK) return status;
    yk_smooth_read_multipliers(model);
    yk_generalised_alpha_close(model);
    return YK_OK;
}

size_t yk_smooth_part_words(yk_smooth *model, int part)
{
    if (!model->relaxation && create(model) != YK_OK) return 0;
    return (size_t)model->relaxation->part[part].count;
}

void yk_smooth_part_get(yk_smooth *model, int part, double *words)
{
    const part_model *of = &model->relaxation->part[part];
    for (int i = 0; i < of->count; i++) words[i] = *acceleration_of(model, of->unknown[i]);
}

void yk_smooth_part_set(yk_smooth *model, int part, const double *words)
{
    put_accelerations(model, &model->relaxation->part[part], words);
}
