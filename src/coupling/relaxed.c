/* The relaxed scheme: paper relaxed, section 4 and figure 2.
 *
 * The subsystems are merged, so that every part knows all constraints, and relaxed one by one: each solves its own
 * equations over the macro step with what the others reached last, until nothing changes any more. Gauss-Seidel: one
 * after the other in the order of the scenario, on the merged subsystem itself. Jacobi: all at once, the first part on the
 * merged subsystem and each other on a copy of it, so that they can run in parallel; their results are exchanged after
 * each sweep. The image of the merged subsystem is the state: the copies take it over before each step.
 *
 * What one part does to another in a sweep comes from the stabilisation of the constraints, paper (31), with the gain
 * 2 beta h velocity + (beta h)^2 position of the integrator's weights times the shares of inertia, 1.35 for beta h = 1 and
 * rho_inf = 0.6; a sweep over two parts contracts by (gain / (2 + gain))^2 at worst,
 * 0.16. Stiffness of a part comes
 * through the same constraints: where its steps are long against its vibrations, a light end on a heavy neighbour
 * multiplies the gain by the ratio of their masses. Sweeps are accelerated by what those before did (acceleration.h),
 * which takes out the few directions that matter. */
#include "coupling/relaxed.h"

#include <math.h>
#include <string.h>

/* A change that grows by this over its smallest value, after some sweeps, will not come down again. */
static const double HOPELESS = 1e4;
enum { PATIENCE = 6, COLUMNS = 12 };

void yk_relaxed_destroy(yk_system *system)
{
    yk_relaxed *relaxed = system->relaxed;
    if (!relaxed) return;
    yk_context *context = system->context;
    for (int i = 1; i < relaxed->worker_count; i++)
        if (relaxed->workers[i]) relaxed->workers[i]->ops->destroy(relaxed->workers[i]);
    yk_release(context, relaxed->workers);
    yk_release(context, relaxed->names);
    yk_release(context, relaxed->offset);
    yk_release(context, relaxed->unknowns);
    yk_release(context, relaxed->before);
    yk_accelerator_destroy(context, relaxed->accelerator);
    yk_release(context, relaxed->words);
    yk_release(context, relaxed->change);
    yk_release(context, relaxed->status);
    yk_release(context, relaxed->image);
    yk_release(context, relaxed);
    system->relaxed = NULL;
}

static yk_status check_capability(const yk_system *system)
{
    const yk_member *m = &system->members[0];
    const yk_subsystem_ops *ops = m->subsystem->ops;
    if (ops->relax && ops->part_words && ops->part_get && ops->part_set && ops->state_get) return YK_OK;
    return yk_fail(
        system->context, YK_ERROR_CAPABILITY,
        "scheme relaxed: subsystems of the kind %s cannot be relaxed part by part; choose the scheme tight or "
        "index1",
        ops->kind);
}

yk_status yk_relaxed_create(yk_system *system, const yk_system_def *def)
{
    yk_context *context = system->context;
    yk_status status = check_capability(system);
    if (status < 0) return status;
    yk_relaxed *relaxed = yk_allocate(context, 1, sizeof *relaxed);
    if (!relaxed) return YK_ERROR_MEMORY;
    system->relaxed = relaxed;
    size_t parts = (size_t)def->subsystem_count;
    relaxed->part_count = def->subsystem_count;
    relaxed->names = yk_allocate(context, parts, sizeof *relaxed->names);
    relaxed->offset = yk_allocate(context, parts + 1, sizeof *relaxed->offset);
    relaxed->unknowns = yk_allocate(context, parts, sizeof *relaxed->unknowns);
    relaxed->change = yk_allocate(context, parts, sizeof *relaxed->change);
    relaxed->status = yk_allocate(context, parts, sizeof *relaxed->status);
    relaxed->workers = yk_allocate(context, parts, sizeof *relaxed->workers);
    if (!relaxed->names || !relaxed->offset || !relaxed->unknowns || !relaxed->change || !relaxed->status ||
        !relaxed->workers)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < relaxed->part_count; i++) relaxed->names[i] = def->names[i];
    if (def->scheme.order != YK_ORDER_JACOBI || def->subsystem_count < 2) return YK_OK;
    relaxed->worker_count = relaxed->part_count;
    relaxed->workers[0] = system->members[0].subsystem;
    for (int i = 1; i < relaxed->worker_count && status == YK_OK; i++)
        status = yk_monolithic_copy(system, def, &relaxed->workers[i]);
    return status;
}

static yk_status create_accelerator(yk_system *system)
{
    yk_relaxed *relaxed = system->relaxed;
    size_t n = 0;
    for (int i = 0; i < relaxed->part_count; i++) n += relaxed->unknowns[i];
    if (!relaxed->before) relaxed->before = yk_allocate(system->context, 3 * n, sizeof *relaxed->before);
    if (!relaxed->before) return YK_ERROR_MEMORY;
    relaxed->after = relaxed->before + n, relaxed->next = relaxed->after + n;
    return yk_accelerator_create(system->context, system->scheme.relaxation, (int)n, COLUMNS, &relaxed->accelerator);
}

/* Copies in the state of the merged subsystem, with the memory that relaxing takes. */
static yk_status start_copies(yk_system *system)
{
    const yk_relaxed *relaxed = system->relaxed;
    for (int i = 1; i < relaxed->worker_count; i++) {
        yk_subsystem *worker = relaxed->workers[i];
        size_t words, unknowns;
        yk_status status = worker->ops->start(worker, system->start, system->step, NULL);
        if (status >= 0) status = worker->ops->part_words(worker, i, &words, &unknowns);
        if (status < 0) return status;
    }
    return YK_OK;
}

/* After the merged subsystem has started: its copies, and room for what the parts exchange. */
yk_status yk_relaxed_start(yk_system *system)
{
    yk_relaxed *relaxed = system->relaxed;
    yk_context *context = system->context;
    yk_subsystem *whole = system->members[0].subsystem;
    for (int i = 0; i < relaxed->part_count; i++) {
        size_t words = 0;
        yk_status status = whole->ops->part_words(whole, i, &words, &relaxed->unknowns[i]);
        if (status < 0)
            return yk_fail(context, status, "scheme relaxed: %s",
                           whole->ops->message ? whole->ops->message(whole) : "a part cannot be relaxed");
        relaxed->offset[i + 1] = relaxed->offset[i] + words;
    }
    yk_status status = start_copies(system);
    if (status < 0) return status;
    size_t words = relaxed->offset[relaxed->part_count], image = whole->ops->state_layout(whole).words;
    if (!relaxed->words) relaxed->words = yk_allocate(context, words, sizeof *relaxed->words);
    if (!relaxed->image) relaxed->image = yk_allocate(context, image, sizeof *relaxed->image);
    if (!relaxed->words || !relaxed->image) return YK_ERROR_MEMORY;
    bool accelerated = system->scheme.relaxation != YK_RELAXATION_NONE;
    return accelerated && !relaxed->accelerator ? create_accelerator(system) : YK_OK;
}

static yk_status blame_part(yk_system *system, int part, yk_subsystem *subsystem)
{
    const yk_relaxed *relaxed = system->relaxed;
    return yk_fail(system->context, relaxed->status[part],
                   "at t = %g s (step %lld of scheme relaxed) subsystem '%s' failed: %s", system->t + system->h,
                   (long long)system->step_count + 1, relaxed->names[part],
                   subsystem->ops->message ? subsystem->ops->message(subsystem) : "unknown");
}

static yk_status gauss_seidel(yk_system *system)
{
    yk_relaxed *relaxed = system->relaxed;
    yk_subsystem *whole = system->members[0].subsystem;
    for (int i = 0; i < relaxed->part_count; i++) {
        relaxed->status[i] =
            whole->ops->relax(whole, i, system->t, system->h, yk_system_inputs(system, 0), &relaxed->change[i]);
        if (relaxed->status[i] < 0) return blame_part(system, i, whole);
    }
    return YK_OK;
}

static void relax_range(void *user, size_t begin, size_t end, size_t chunk)
{
    yk_system *system = user;
    yk_relaxed *relaxed = system->relaxed;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        yk_subsystem *worker = relaxed->workers[i];
        relaxed->status[i] =
            worker->ops->relax(worker, (int)i, system->t, system->h, system->members[0].inputs, &relaxed->change[i]);
        if (relaxed->status[i] >= 0) worker->ops->part_get(worker, (int)i, relaxed->words + relaxed->offset[i]);
    }
}

static yk_status jacobi(yk_system *system)
{
    yk_relaxed *relaxed = system->relaxed;
    if (system->pool) {
        yk_pool_run(system->pool, (size_t)relaxed->part_count, 1, relax_range, system);
    } else {
        relax_range(system, 0, (size_t)relaxed->part_count, 0);
    }
    for (int i = 0; i < relaxed->part_count; i++)
        if (relaxed->status[i] < 0) return blame_part(system, i, relaxed->workers[i]);
    for (int i = 0; i < relaxed->part_count; i++)
        for (int j = 0; j < relaxed->part_count; j++)
            if (i != j) relaxed->workers[i]->ops->part_set(relaxed->workers[i], j, relaxed->words + relaxed->offset[j]);
    return YK_OK;
}

/* The unknowns of all parts after a sweep; the next sweep begins with a combination of this one and the earlier. */
static void accelerate(yk_system *system, bool first)
{
    yk_relaxed *relaxed = system->relaxed;
    yk_subsystem *whole = system->members[0].subsystem;
    bool copies = relaxed->worker_count > 0;
    double *at = relaxed->after;
    for (int i = 0; i < relaxed->part_count; at += relaxed->unknowns[i++]) {
        double *words = relaxed->words + relaxed->offset[i];
        if (!copies) whole->ops->part_get(whole, i, words);
        memcpy(at, words, relaxed->unknowns[i] * sizeof *at);
    }
    if (first) {
        yk_accelerator_restart(relaxed->accelerator);
        memcpy(relaxed->before, relaxed->after, (size_t)(at - relaxed->after) * sizeof *at);
        return;
    }
    yk_accelerator_next(relaxed->accelerator, relaxed->before, relaxed->after, relaxed->next);
    memcpy(relaxed->before, relaxed->next, (size_t)(at - relaxed->after) * sizeof *at);
    at = relaxed->next;
    for (int i = 0; i < relaxed->part_count; at += relaxed->unknowns[i++]) {
        double *words = relaxed->words + relaxed->offset[i];
        memcpy(words, at, relaxed->unknowns[i] * sizeof *at);
        if (!copies) whole->ops->part_set(whole, i, words);
        for (int j = 0; j < relaxed->worker_count; j++)
            relaxed->workers[j]->ops->part_set(relaxed->workers[j], i, words);
    }
}

static double largest_change(const yk_relaxed *relaxed, int *part)
{
    double largest = -1;
    for (int i = 0; i < relaxed->part_count; i++)
        if (!(relaxed->change[i] <= largest)) largest = relaxed->change[i], *part = i;
    return largest;
}

static yk_status not_converged(yk_system *system, yk_status status, int part, int sweeps, double change)
{
    system->relaxed->blamed = part;
    return yk_fail(
        system->context, status,
        "at t = %g s (step %lld of scheme relaxed) subsystem '%s' still changes by %.3g of the typical velocity after "
        "%d "
        "sweeps: it is too stiff against its neighbours for this step; use %sa smaller time.step, a smaller "
        "integrator.stabilisation (such as 0.1 over the step), put stiff neighbours into one subsystem, or take the "
        "scheme monolithic",
        system->t + system->h, (long long)system->step_count + 1, system->relaxed->names[part], change, sweeps,
        system->scheme.relaxation == YK_RELAXATION_NONE ? "coupling.relaxation quasi-newton, " : "");
}

static yk_status sweep(yk_system *system, yk_step_report *report)
{
    const yk_scheme_def *scheme = &system->scheme;
    double least = INFINITY, change = INFINITY;
    bool copies = system->relaxed->worker_count > 0;
    int worst = 0;
    for (int k = 1; k <= scheme->iterations; k++) {
        yk_status status = copies ? jacobi(system) : gauss_seidel(system);
        if (status < 0) return status;
        change = largest_change(system->relaxed, &worst);
        report->iterations = k;
        if (change <= scheme->tolerance) return YK_OK;
        if (!isfinite(change) || (k > PATIENCE && change > HOPELESS * least))
            return not_converged(system, YK_ERROR_DIVERGED, worst, k, change);
        least = fmin(least, change);
        if (system->relaxed->accelerator && k < scheme->iterations) accelerate(system, k == 1);
    }
    if (change > 10 * least) return not_converged(system, YK_ERROR_DIVERGED, worst, scheme->iterations, change);
    return not_converged(system, YK_NOT_CONVERGED, worst, scheme->iterations, change);
}

yk_status yk_relaxed_step(yk_system *system, yk_step_report *report)
{
    yk_relaxed *relaxed = system->relaxed;
    yk_subsystem *whole = system->members[0].subsystem;
    if (relaxed->worker_count > 0) {
        whole->ops->state_get(whole, relaxed->image);
        for (int i = 1; i < relaxed->worker_count; i++) {
            yk_status status = relaxed->workers[i]->ops->state_set(relaxed->workers[i], relaxed->image);
            if (status < 0) return status;
        }
    }
    yk_status outcome = sweep(system, report);
    if (outcome < 0) return outcome;
    return yk_system_advance(system, 0) < 0 ? yk_system_blame(system, 0) : outcome;
}
