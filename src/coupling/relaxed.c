/* The relaxed scheme: paper relaxed, section 4 and figure 2.
 *
 * The subsystems are merged, so that every part knows all constraints, and relaxed one by one: each solves its own
 * equations over the macro step with what the others reached last, until nothing changes any more. Gauss-Seidel: one
 * after the other in the order of the scenario, on the merged subsystem itself. Jacobi: all at once, the first part on the
 * merged subsystem and each other on a copy of it, so that they can run in parallel; their results are exchanged after
 * each sweep. The image of the merged subsystem is the state: the copies take it over before each step. Subsystems that no
 * interface joins step as they are, and wires run between all of them as in the scheme monolithic.
 *
 * What one part does to another in a sweep comes from the stabilisation of the constraints, paper (31), with the gain
 * 2 beta h velocity + (beta h)^2 position of the integrator's weights times the fractions of inertia, 1.35 for beta h = 1 and
 * rho_inf = 0.6; a sweep over two parts contracts by (gain / (2 + gain))^2 at worst,
 * 0.16. Stiffness of a part comes
 * through the same constraints: where its steps are long against its vibrations, a light end on a heavy neighbour
 * multiplies the gain by the ratio of their masses. Sweeps are accelerated by what those before did (acceleration.h),
 * which takes out the few directions that matter. */
#include "coupling/relaxed.h"

#include <math.h>
#include <string.h>

#include "coupling/merging.h"

/* A change that grows by this over its smallest value, after some sweeps, will not come down again. */
static const double GROWTH_LIMIT = 1e4;
enum { PATIENCE = 6, COLUMNS = 12 };

static void destroy_group(yk_context *context, yk_relaxed_group *group)
{
    for (int i = 1; group->workers && i < group->worker_count; i++)
        if (group->workers[i]) group->workers[i]->ops->destroy(group->workers[i]);
    yk_release(context, group->workers);
    yk_release(context, group->names);
    yk_release(context, group->offset);
    yk_release(context, group->unknowns);
    yk_release(context, group->before);
    yk_accelerator_destroy(context, group->accelerator);
    yk_release(context, group->words);
    yk_release(context, group->change);
    yk_release(context, group->status);
    yk_release(context, group->image);
}

void yk_relaxed_destroy(yk_system *system)
{
    yk_relaxed *relaxed = system->relaxed;
    if (!relaxed) return;
    for (int i = 0; relaxed->groups && i < system->participant_count; i++)
        destroy_group(system->context, &relaxed->groups[i]);
    yk_release(system->context, relaxed->groups);
    yk_release(system->context, relaxed);
    system->relaxed = NULL;
}

static yk_status check_capability(const yk_system *system, const yk_participant *participant)
{
    const yk_subsystem_ops *ops = participant->subsystem->ops;
    if (ops->parts && ops->rollback) return YK_OK;
    return yk_fail(system->context, YK_ERROR_CAPABILITY,
                   "scheme relaxed: subsystems of the kind %s ('%s') cannot be relaxed part by part; choose the scheme "
                   "monolithic, tight or index1",
                   ops->kind, participant->name);
}

static yk_status create_group(yk_system *system, const yk_system_def *def, int participant)
{
    yk_context *context = system->context;
    const yk_group *merged = &system->merging->groups[participant];
    yk_relaxed_group *group = &system->relaxed->groups[participant];
    if (merged->part_count == 1) return YK_OK;
    yk_status status = check_capability(system, &system->participants[participant]);
    if (status < 0) return status;
    size_t parts = (size_t)merged->part_count;
    group->part_count = merged->part_count;
    group->names = yk_allocate(context, parts, sizeof *group->names);
    group->offset = yk_allocate(context, parts + 1, sizeof *group->offset);
    group->unknowns = yk_allocate(context, parts, sizeof *group->unknowns);
    group->change = yk_allocate(context, parts, sizeof *group->change);
    group->status = yk_allocate(context, parts, sizeof *group->status);
    group->workers = yk_allocate(context, parts, sizeof(yk_subsystem *));
    if (!group->names || !group->offset || !group->unknowns || !group->change || !group->status || !group->workers)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < group->part_count; i++) group->names[i] = def->names[merged->parts[i]];

    if (system->scheme.order != YK_ORDER_JACOBI) return YK_OK;
    group->worker_count = group->part_count;
    group->workers[0] = system->participants[participant].subsystem;
    for (int i = 1; i < group->worker_count && status == YK_OK; i++)
        status = yk_merging_copy(system, merged, &group->workers[i]);
    return status;
}

yk_status yk_relaxed_create(yk_system *system, const yk_system_def *def)
{
    yk_relaxed *relaxed = system->relaxed = yk_allocate(system->context, 1, sizeof *relaxed);
    if (!relaxed) return YK_ERROR_MEMORY;
    relaxed->groups = yk_allocate(system->context, (size_t)system->participant_count, sizeof *relaxed->groups);
    if (!relaxed->groups) return YK_ERROR_MEMORY;
    yk_status status = YK_OK;
    for (int i = 0; i < system->participant_count && status == YK_OK; i++) status = create_group(system, def, i);
    return status;
}

static yk_status create_accelerator(yk_system *system, yk_relaxed_group *group)
{
    size_t n = 0;
    for (int i = 0; i < group->part_count; i++) n += group->unknowns[i];
    if (!group->before) group->before = yk_allocate(system->context, 3 * n, sizeof *group->before);
    if (!group->before) return YK_ERROR_MEMORY;
    group->after = group->before + n, group->next = group->after + n;
    int columns = n < COLUMNS ? (int)n : COLUMNS;
    return yk_accelerator_create(system->context, system->scheme.acceleration, (int)n, columns, &group->accelerator);
}

/* Copies in the state of the merged subsystem, with the memory that relaxing takes. */
static yk_status start_copies(yk_system *system, const yk_relaxed_group *group)
{
    for (int i = 1; i < group->worker_count; i++) {
        yk_subsystem *worker = group->workers[i];
        size_t words, unknowns;
        yk_status status = worker->ops->start(worker, system->start, system->step, NULL);
        if (status >= 0) status = worker->ops->parts->words(worker, i, &words, &unknowns);
        if (status < 0) return status;
    }
    return YK_OK;
}

/* After the merged subsystem has started: its copies, and room for what the parts exchange. */
static yk_status start_group(yk_system *system, int participant)
{
    yk_relaxed_group *group = &system->relaxed->groups[participant];
    yk_context *context = system->context;
    yk_subsystem *whole = system->participants[participant].subsystem;
    for (int i = 0; i < group->part_count; i++) {
        size_t words = 0;
        yk_status status = whole->ops->parts->words(whole, i, &words, &group->unknowns[i]);
        if (status < 0)
            return yk_fail(context, status, "scheme relaxed: %s",
                           whole->ops->message ? whole->ops->message(whole) : "a part cannot be relaxed");
        group->offset[i + 1] = group->offset[i] + words;
    }
    yk_status status = start_copies(system, group);
    if (status < 0) return status;

    size_t words = group->offset[group->part_count], image = whole->ops->rollback->layout(whole).words;
    if (!group->words) group->words = yk_allocate(context, words, sizeof *group->words);
    if (!group->image) group->image = yk_allocate(context, image, sizeof *group->image);
    if (!group->words || !group->image) return YK_ERROR_MEMORY;
    bool accelerated = system->scheme.acceleration != YK_ACCELERATION_NONE;
    return accelerated && !group->accelerator ? create_accelerator(system, group) : YK_OK;
}

yk_status yk_relaxed_start(yk_system *system)
{
    yk_status status = YK_OK;
    for (int i = 0; i < system->participant_count && status >= 0; i++)
        if (system->relaxed->groups[i].part_count > 0) status = start_group(system, i);
    return status;
}

/* Sweeps ----------------------------------------------------------------------------------------------------------- */

/* One merged participant in the step that is being taken. */
typedef struct work {
    yk_system *system;
    yk_relaxed_group *group;
    yk_subsystem *whole;
    const yk_input *inputs;
} work;

static yk_status part_failed(const work *w, int part, yk_subsystem *subsystem)
{
    return yk_fail(w->system->context, w->group->status[part], "%s: %s", w->group->names[part],
                   subsystem->ops->message ? subsystem->ops->message(subsystem) : "unknown");
}

static yk_status gauss_seidel(const work *w)
{
    yk_relaxed_group *group = w->group;
    const yk_system *system = w->system;
    for (int i = 0; i < group->part_count; i++) {
        group->status[i] = w->whole->ops->parts->relax(w->whole, i, system->t, system->h, w->inputs, &group->change[i]);
        if (group->status[i] < 0) return part_failed(w, i, w->whole);
    }
    return YK_OK;
}

static void relax_range(void *user, size_t begin, size_t end, size_t chunk)
{
    const work *w = user;
    yk_relaxed_group *group = w->group;
    const yk_system *system = w->system;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        yk_subsystem *worker = group->workers[i];
        group->status[i] =
            worker->ops->parts->relax(worker, (int)i, system->t, system->h, w->inputs, &group->change[i]);
        if (group->status[i] >= 0) worker->ops->parts->get(worker, (int)i, group->words + group->offset[i]);
    }
}

static yk_status jacobi(work *w)
{
    yk_relaxed_group *group = w->group;
    if (w->system->pool) {
        yk_pool_run(w->system->pool, (size_t)group->part_count, 1, relax_range, w);
    } else {
        relax_range(w, 0, (size_t)group->part_count, 0);
    }
    for (int i = 0; i < group->part_count; i++)
        if (group->status[i] < 0) return part_failed(w, i, group->workers[i]);
    for (int i = 0; i < group->part_count; i++)
        for (int j = 0; j < group->part_count; j++)
            if (i != j) group->workers[i]->ops->parts->set(group->workers[i], j, group->words + group->offset[j]);
    return YK_OK;
}

/* The unknowns of all parts after a sweep; the next sweep begins with a combination of this one and the earlier. */
static void accelerate(const work *w, bool first)
{
    yk_relaxed_group *group = w->group;
    yk_subsystem *whole = w->whole;
    bool copies = group->worker_count > 0;
    double *at = group->after;
    for (int i = 0; i < group->part_count; at += group->unknowns[i++]) {
        double *words = group->words + group->offset[i];
        if (!copies) whole->ops->parts->get(whole, i, words);
        memcpy(at, words, group->unknowns[i] * sizeof *at);
    }
    if (first) {
        yk_accelerator_restart(group->accelerator);
        memcpy(group->before, group->after, (size_t)(at - group->after) * sizeof *at);
        return;
    }
    yk_accelerator_next(group->accelerator, group->before, group->after, group->next);
    memcpy(group->before, group->next, (size_t)(at - group->after) * sizeof *at);
    at = group->next;
    for (int i = 0; i < group->part_count; at += group->unknowns[i++]) {
        double *words = group->words + group->offset[i];
        memcpy(words, at, group->unknowns[i] * sizeof *at);
        if (!copies) whole->ops->parts->set(whole, i, words);
        for (int j = 0; j < group->worker_count; j++) group->workers[j]->ops->parts->set(group->workers[j], i, words);
    }
}

static double largest_change(const yk_relaxed_group *group, int *part)
{
    double largest = -1;
    for (int i = 0; i < group->part_count; i++)
        if (!(group->change[i] <= largest)) largest = group->change[i], *part = i;
    return largest;
}

static yk_status not_converged(const work *w, yk_status status, int part, int sweeps, double change)
{
    yk_system *system = w->system;
    int participant = (int)(w->group - system->relaxed->groups);
    system->relaxed->source = system->merging->groups[participant].parts[part];
    system->relaxed->left = change;
    return yk_fail(
        system->context, status,
        "at t = %g s (step %lld of scheme relaxed) subsystem '%s' still changes by %.3g of the typical velocity after "
        "%d sweeps: it is too stiff against its neighbours for this step; use %sa smaller time.step, more "
        "coupling.sweeps, a smaller integrator.stabilisation (such as 0.1 over the step), put stiff neighbours into "
        "one subsystem, or take the scheme monolithic",
        system->t + system->h, (long long)system->step_count + 1, w->group->names[part], change, sweeps,
        system->scheme.acceleration == YK_ACCELERATION_NONE ? "coupling.acceleration quasi-newton, " : "");
}

static yk_status sweep_group(work *w)
{
    const yk_scheme_def *scheme = &w->system->scheme;
    yk_relaxed *relaxed = w->system->relaxed;
    yk_relaxed_group *group = w->group;
    double least = INFINITY, change = INFINITY;
    int worst = 0;
    for (int k = 1; k <= scheme->iterations; k++) {
        yk_status status = group->worker_count > 0 ? jacobi(w) : gauss_seidel(w);
        if (status < 0) return status;
        change = largest_change(group, &worst);
        if (k > relaxed->sweeps) relaxed->sweeps = k;
        if (change <= scheme->relative_tolerance) return YK_OK;
        if (!isfinite(change) || (k > PATIENCE && change > GROWTH_LIMIT * least))
            return not_converged(w, YK_ERROR_DIVERGED, worst, k, change);
        least = fmin(least, change);
        if (group->accelerator && k < scheme->iterations) accelerate(w, k == 1);
    }
    bool grown = change > 10 * least;
    return not_converged(w, grown ? YK_ERROR_DIVERGED : YK_NOT_CONVERGED, worst, scheme->iterations, change);
}

yk_status yk_relaxed_sweep(yk_system *system, yk_participant *participant)
{
    int index = (int)(participant - system->participants);
    work w = {system, &system->relaxed->groups[index], participant->subsystem, yk_system_inputs(system, index)};
    if (w.group->part_count == 0) return YK_OK;
    if (w.group->worker_count > 0) {
        w.whole->ops->rollback->get(w.whole, w.group->image);
        for (int i = 1; i < w.group->worker_count; i++) {
            yk_status status = w.group->workers[i]->ops->rollback->set(w.group->workers[i], w.group->image);
            if (status < 0) return status;
        }
    }
    yk_status outcome = sweep_group(&w);
    if (outcome > 0) system->relaxed->outcome = outcome;
    return outcome;
}

yk_status yk_relaxed_step(yk_system *system, yk_step_report *report)
{
    system->relaxed->sweeps = 0;
    system->relaxed->outcome = YK_OK;
    yk_status status = yk_monolithic_step(system, report);
    if (system->relaxed->sweeps > report->iterations) report->iterations = system->relaxed->sweeps;
    return status == YK_OK ? system->relaxed->outcome : status;
}
