/* The relaxed scheme (Zhou et al. 2022, section 4 and figure 2).
 *
 * The subsystems are merged, so that every part knows all constraints, and are relaxed one by one:
 * each part solves its own equations over the macro step with the latest results of the others,
 * until nothing changes. Gauss-Seidel: one after the other in the order of the def, on the merged
 * subsystem itself. Jacobi: all at the same time, the first part on the merged subsystem and each
 * other part on a copy of it, so that they can run in parallel, on threads or in other processes;
 * their results are exchanged after each sweep. The image of the merged subsystem is the state; the
 * copies receive it before each step. Subsystems that no interface connects step unchanged, and
 * wires are handled as in the scheme monolithic.
 *
 * The influence of the parts on each other in a sweep is caused by the stabilization of the
 * constraints (equation 31), with the gain 2 beta h velocity + (beta h)^2 position of the
 * integrator's weights times the mass fractions: 1.35 for beta h = 1 and rho_inf = 0.6. A sweep
 * over two parts reduces the error by (gain / (2 + gain))^2 = 0.16 in the worst case. Stiffness of
 * a part acts through the same constraints: if its steps are long compared with its vibrations, a
 * light end on a heavy neighbour multiplies the gain by the ratio of their masses. Sweeps are
 * accelerated with the results of earlier ones (iteration_acceleration.c), which removes the few
 * slowly converging directions. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "coupling/interface_fixed_point.h"
#include "coupling/merging.h"
#include "coupling/participant.h"
#include "coupling/scheme_options.h"

/* A change that exceeds its smallest value by this factor, after some sweeps, is regarded as
 * divergence. */
static const double GROWTH_LIMIT = 1e4;
enum { PATIENCE = 6, COLUMNS = 12 };

/* One merged participant. */
typedef struct relaxed_group {
    /* 0: the participant is not merged. */
    int part_count;

    /* Words that the parts exchange: offset of each part, and number of its leading words that are
     * unknowns. */
    double *words;
    size_t *offset;
    size_t *unknowns;

    /* Change of each part in the last sweep, relative to the typical velocity. */
    double *change;
    yk_status *status;

    /* Acceleration of the sweeps: all unknowns before a sweep, after it, and before the next; NULL:
     * none. */
    yk_accelerator *accelerator;
    double *before, *after, *next;

    /* The step in progress, and whether the next sweep is its first. */
    yk_system *system;
    int participant;
    const yk_input *inputs;
    bool first;
} relaxed_group;

typedef struct relaxed {
    yk_scheme base;
    yk_relaxed_options options;
    relaxed_group *groups; /* one per participant */
    /* Of this macro step: largest number of sweeps of a participant; YK_NOT_CONVERGED if the sweeps
     * of one did not converge; the subsystem with the largest change then, and that change relative
     * to the typical velocity. */
    int sweeps;
    yk_status outcome;
    int worst;
    double left;
    /* Counters since the start: relaxations with sequence jacobi, and those of them in other
     * processes. */
    int64_t relaxations, elsewhere;
} relaxed;

/* Life ----------------------------------------------------------------------------------------- */

static void relaxed_destroy(yk_scheme *scheme, yk_system *system)
{
    relaxed *x = (relaxed *)scheme;
    yk_context *context = system->context;

    /* If creation failed, some members do not exist. */
    for (int i = 0; x->groups && i < system->participant_count; i++) {
        relaxed_group *group = &x->groups[i];
        yk_free(context, group->offset);
        yk_free(context, group->unknowns);
        yk_free(context, group->before);
        yk_accelerator_destroy(context, group->accelerator);
        yk_free(context, group->words);
        yk_free(context, group->change);
        yk_free(context, group->status);
    }

    yk_free(context, x->groups);
    yk_free(context, x);
}

static yk_status relaxed_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    yk_context *context = system->context;
    relaxed *x = yk_allocate(context, 1, sizeof *x);
    if (!x)
        return YK_ERROR_MEMORY;

    x->options = *(const yk_relaxed_options *)options;
    *scheme = &x->base;

    x->groups = yk_allocate(context, (size_t)system->participant_count, sizeof *x->groups);
    if (!x->groups)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < system->participant_count; i++) {
        relaxed_group *group = &x->groups[i];
        int part_count = system->merging->groups[i].part_count;
        if (part_count == 1)
            continue;

        const yk_participant *p = &system->participants[i];
        const yk_subsystem_ops *ops = p->subsystem->ops;
        if (!ops->relaxed || !ops->rollback)
            return yk_fail(context, YK_ERROR_CAPABILITY,
                           "scheme relaxed: subsystems of the kind %s ('%s') cannot be relaxed "
                           "part by part; choose another scheme, such as %s",
                           ops->kind, p->name, yk_scheme_name_with(YK_SCHEME_IS_REFERENCE));

        size_t parts = (size_t)part_count;
        group->part_count = part_count;
        group->offset = yk_allocate(context, parts + 1, sizeof *group->offset);
        group->unknowns = yk_allocate(context, parts, sizeof *group->unknowns);
        group->change = yk_allocate(context, parts, sizeof *group->change);
        group->status = yk_allocate(context, parts, sizeof *group->status);
        if (!group->offset || !group->unknowns || !group->change || !group->status)
            return YK_ERROR_MEMORY;

        /* Parts that are solved at the same time need one copy of the whole each. */
        if (x->options.sequence == YK_SEQUENCE_JACOBI) {
            yk_status status = yk_merging_make_copies(system, i);
            if (status != YK_OK)
                return status;
        }
    }

    if (x->options.sequence != YK_SEQUENCE_JACOBI)
        return YK_OK;
    return yk_system_use_threads(system, x->options.thread_count);
}

static yk_status relaxed_initialize(yk_scheme *scheme, yk_system *system)
{
    relaxed *x = (relaxed *)scheme;
    yk_context *context = system->context;
    x->relaxations = 0;
    x->elsewhere = 0;
    yk_status status = yk_system_initialize_wrenches(system);
    if (status != YK_OK)
        return status;

    /* After the start of the merged subsystems: starts their copies and allocates memory for the
     * exchanged words. */
    for (int i = 0; i < system->participant_count; i++) {
        relaxed_group *group = &x->groups[i];
        if (group->part_count == 0)
            continue;

        /* Number of words and of unknowns of each part. */
        size_t n = 0;
        for (int part = 0; part < group->part_count; part++) {
            size_t words = 0;
            size_t *unknowns = &group->unknowns[part];
            status = yk_merging_part_words(system, i, part, &words, unknowns);
            if (YK_FAILED(status))
                return yk_fail(context, status, "scheme relaxed: %s",
                               yk_merging_message(system, i, 0));

            group->offset[part + 1] = group->offset[part] + words;
            n += *unknowns;
        }

        status = yk_merging_start_copies(system, i);
        if (YK_FAILED(status))
            return status;

        /* A system that is initialized again has its memory already. */
        size_t words = group->offset[group->part_count];
        if (!group->words)
            group->words = yk_allocate(context, words, sizeof *group->words);
        if (!group->words)
            return YK_ERROR_MEMORY;
        if (x->options.acceleration == YK_ACCELERATION_NONE || group->accelerator)
            continue;

        /* All unknowns of a sweep as one vector. */
        group->before = yk_allocate(context, 3 * n, sizeof *group->before);
        if (!group->before)
            return YK_ERROR_MEMORY;

        /* More columns than unknowns have no use. */
        group->after = group->before + n;
        group->next = group->after + n;
        int columns = n < COLUMNS ? (int)n : COLUMNS;
        status = yk_accelerator_create(context, x->options.acceleration, (int)n, columns,
                                       &group->accelerator);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* Sweeps --------------------------------------------------------------------------------------- */

static relaxed *scheme_of(const relaxed_group *group)
{
    return (relaxed *)group->system->scheme;
}

/* The subsystem of the def that corresponds to a part. */
static int part_number(const relaxed_group *group, int part)
{
    return group->system->merging->groups[group->participant].parts[part];
}

static yk_status part_failed(const relaxed_group *group, int copy, int part)
{
    const yk_system *system = group->system;
    const char *name = system->parts[part_number(group, part)].name;
    const char *why = yk_merging_message(system, group->participant, copy);
    return yk_fail(system->context, group->status[part], "%s: %s", name, why);
}

/* Relaxes a part on its own copy, and reads the result for the others. */
static void relax_on_copy(relaxed_group *group, int part)
{
    double *change = &group->change[part];
    double *words = group->words + group->offset[part];
    group->status[part] =
        yk_merging_relax(group->system, group->participant, part, part, group->inputs, change);
    if (!YK_FAILED(group->status[part]))
        yk_merging_part_get(group->system, group->participant, part, part, words);
}

static void relax_range(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)chunk;
    relaxed_group *group = user;
    for (size_t i = begin; i < end; i++)
        if (!yk_merging_is_elsewhere(group->system, group->participant, (int)i))
            relax_on_copy(group, (int)i);
}

static yk_status jacobi(relaxed_group *group)
{
    /* All parts at the same time. Requests to other processes are sent first and waited for last. */
    for (int i = 0; i < group->part_count; i++)
        if (yk_merging_is_elsewhere(group->system, group->participant, i))
            yk_merging_post(group->system, group->participant, i, i, group->inputs, group->first);

    yk_system_for_all(group->system, group->part_count, relax_range, group);
    for (int i = 0; i < group->part_count; i++) {
        scheme_of(group)->relaxations++;
        if (!yk_merging_is_elsewhere(group->system, group->participant, i))
            continue;

        relax_on_copy(group, i);
        scheme_of(group)->elsewhere++;
    }

    /* Report the first failure. */
    for (int i = 0; i < group->part_count; i++)
        if (YK_FAILED(group->status[i]))
            return part_failed(group, i, i);

    /* Give each copy the results of the other parts. */
    for (int i = 0; i < group->part_count; i++) {
        for (int j = 0; j < group->part_count; j++) {
            const double *words = group->words + group->offset[j];
            if (i != j)
                yk_merging_part_set(group->system, group->participant, i, j, words);
        }
    }

    return YK_OK;
}

/* The next sweep begins with a combination of this sweep and earlier ones. */
static void accelerate(relaxed_group *group)
{
    bool jacobi = scheme_of(group)->options.sequence == YK_SEQUENCE_JACOBI;
    int copies = 1;
    if (jacobi)
        copies = group->part_count;

    /* The unknowns of all parts after the sweep. */
    double *at = group->after;
    for (int i = 0; i < group->part_count; i++) {
        double *words = group->words + group->offset[i];
        if (!jacobi)
            yk_merging_part_get(group->system, group->participant, 0, i, words);
        memcpy(at, words, group->unknowns[i] * sizeof *at);
        at += group->unknowns[i];
    }

    /* The first sweep has no predecessor. */
    size_t bytes = (size_t)(at - group->after) * sizeof *at;
    if (group->first) {
        yk_accelerator_restart(group->accelerator);
        memcpy(group->before, group->after, bytes);
        return;
    }

    /* Set the start of the next sweep, on the whole or on all copies. */
    yk_accelerator_next(group->accelerator, group->before, group->after, group->next);
    memcpy(group->before, group->next, bytes);
    at = group->next;

    for (int i = 0; i < group->part_count; i++) {
        double *words = group->words + group->offset[i];
        memcpy(words, at, group->unknowns[i] * sizeof *at);

        for (int j = 0; j < copies; j++)
            yk_merging_part_set(group->system, group->participant, j, i, words);

        at += group->unknowns[i];
    }
}

static yk_status not_converged(const relaxed_group *group, yk_status status, int part, int sweeps,
                               double change)
{
    relaxed *x = scheme_of(group);
    const yk_system *system = group->system;
    x->worst = part_number(group, part);
    x->left = change;

    /* Remedies that help before a smaller step does. */
    const char *first = "";
    if (x->options.acceleration == YK_ACCELERATION_NONE)
        first = "quasi-Newton acceleration, ";
    return yk_fail(system->context, status,
                   "at t = %g s (step %lld of scheme relaxed) subsystem '%s' still changes by %.3g "
                   "of the typical velocity after %d sweeps: it is too stiff against its "
                   "neighbours for this step; use %sa smaller macro step, more sweeps, a smaller "
                   "stabilisation of its constraints (such as 0.1 over the step), put stiff "
                   "neighbours into one subsystem, or take the scheme %s",
                   system->t + system->h, (long long)system->step_count + 1,
                   system->parts[x->worst].name, change, sweeps, first,
                   yk_scheme_name_with(YK_SCHEME_IS_REFERENCE));
}

/* The sweeps of a merged participant over the step. The step itself then accepts their result. */
static yk_status sweep(yk_system *system, int participant, void *user)
{
    relaxed *x = user;
    if (x->groups[participant].part_count == 0)
        return YK_OK;

    yk_status status = yk_merging_synchronise(system, participant);
    if (YK_FAILED(status))
        return status;

    relaxed_group *group = &x->groups[participant];
    group->system = system;
    group->participant = participant;
    group->inputs = yk_system_inputs(system, participant);
    int limit = x->options.max_sweeps;
    int worst = 0;
    double least = INFINITY;
    double change = INFINITY;

    for (int k = 1; k <= limit; k++) {
        group->first = k == 1;

        /* All parts at once, or one after the other on the merged subsystem itself. */
        if (x->options.sequence == YK_SEQUENCE_JACOBI) {
            status = jacobi(group);
            if (YK_FAILED(status))
                return status;
        } else {
            for (int i = 0; i < group->part_count; i++) {
                double *part_change = &group->change[i];
                group->status[i] =
                    yk_merging_relax(system, participant, 0, i, group->inputs, part_change);
                if (YK_FAILED(group->status[i]))
                    return part_failed(group, 0, i);
            }
        }

        /* The part with the largest change. */
        change = -1;
        for (int i = 0; i < group->part_count; i++) {
            if (group->change[i] <= change)
                continue;

            change = group->change[i];
            worst = i;
        }

        /* Converged, diverged, or continue. */
        if (k > x->sweeps)
            x->sweeps = k;
        if (change <= x->options.relative_tolerance)
            return YK_OK;
        if (!isfinite(change) || (k > PATIENCE && change > GROWTH_LIMIT * least))
            return not_converged(group, YK_ERROR_DIVERGED, worst, k, change);

        least = fmin(least, change);
        if (group->accelerator && k < limit)
            accelerate(group);
    }

    /* At the limit: an iteration with a growing change would not converge with more sweeps. */
    if (change > 10 * least)
        return not_converged(group, YK_ERROR_DIVERGED, worst, limit, change);

    x->outcome = YK_NOT_CONVERGED;
    return not_converged(group, YK_NOT_CONVERGED, worst, limit, change);
}

static yk_status relaxed_step(yk_scheme *scheme, yk_system *system, yk_step_report *report)
{
    /* Step the subsystems in the sequence of their wires, merged ones after their sweeps. */
    relaxed *x = (relaxed *)scheme;
    x->sweeps = 0;
    x->outcome = YK_OK;
    yk_status status = yk_merging_step(system, x->options.max_sweeps, sweep, x, report);
    if (x->sweeps > report->iterations)
        report->iterations = x->sweeps;

    /* The message is already set. */
    if (x->outcome == YK_NOT_CONVERGED) {
        report->worst_subsystem = (yk_subsystem_id){x->worst};
        report->residual = x->left;
        report->has_message = true;
    }

    if (status != YK_OK)
        return status;
    return x->outcome;
}

/* The scheme ----------------------------------------------------------------------------------- */

#define ROW(type, field) .kind = YK_OPTION_##type, YK_MEMBER(yk_relaxed_options, field)

static const yk_option options[] = {
    {"sequence", ROW(CHOICE, sequence), .default_text = "gauss-seidel", .choices = yk_order_words,
     .description = "sequence of the subsystems"},
    {"acceleration", ROW(CHOICE, acceleration), .default_text = "quasi-newton",
     .choices = yk_acceleration_words, .description = "acceleration of the repetitions"},
    {"relative_tolerance", ROW(NUMBER, relative_tolerance), .default_text = "1e-10",
     .has_derived_default = true, .range = YK_NOT_NEGATIVE, .refinement_exponent = 1,
     .description = "largest change of a velocity, relative to the typical velocity"},
    {"max_sweeps", ROW(INTEGER, max_sweeps), .default_text = "200", .range = YK_AT_LEAST(1),
     .description = "maximum number of sweeps over the subsystems per macro step"},
    {"threads", ROW(INTEGER, thread_count), .default_text = "1", .range = YK_BETWEEN(0, 1024),
     .only_with = {"sequence", {"jacobi"}},
     .description = "subsystems that are solved at the same time; 0 is one per core"},
    {0},
};

static const yk_scheme_variant variants[] = {
    {"relaxed", YK_VARIANT_REMEDY, 6, {NULL}},
    {0},
};

static unsigned relaxed_traits(const void *own)
{
    const yk_relaxed_options *o = own;
    unsigned set = YK_SCHEME_CARRIES_SIGNALS | YK_SCHEME_MERGES | YK_SCHEME_SOLVES_PARTS_SEPARATELY;
    if (o->sequence == YK_SEQUENCE_JACOBI)
        set |= YK_SCHEME_DISTRIBUTES_PARTS;
    if (o->acceleration == YK_ACCELERATION_QUASI_NEWTON)
        set |= YK_SCHEME_ACCELERATES;
    return set;
}

/* A value of 0 that a scenario sets for another scheme is ignored. */
static void relaxed_derive(void *own, uint64_t given)
{
    (void)given;
    yk_relaxed_options *o = own;
    if (o->relative_tolerance == 0)
        o->relative_tolerance = 1e-10;
}

static yk_status relaxed_check(yk_context *context, const void *own)
{
    const yk_relaxed_options *o = own;
    if (o->relative_tolerance > 0)
        return YK_OK;
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "scheme relaxed: the relative tolerance is %g, must be positive",
                   o->relative_tolerance);
}

static void relaxed_display_name(const void *own, char *text, size_t capacity)
{
    const yk_relaxed_options *o = own;
    snprintf(text, capacity, "relaxed, %s", yk_order_words[o->sequence].name);
}

static int relaxed_statistics(const yk_scheme *scheme, const yk_system *system,
                              yk_scheme_statistic *rows)
{
    /* If all parts are in this process, these counters add nothing to the number of sweeps. */
    (void)system;
    const relaxed *x = (const relaxed *)scheme;
    if (x->elsewhere == 0)
        return 0;

    rows[0] = (yk_scheme_statistic){"relaxations of parts", (double)x->relaxations};
    rows[1] = (yk_scheme_statistic){"of them in other processes", (double)x->elsewhere};
    return 2;
}

static void relaxed_configure_for_trial(void *own, double tolerance)
{
    (void)tolerance;
    ((yk_relaxed_options *)own)->thread_count = 1;
}

const yk_scheme_ops *yk_scheme_relaxed(void)
{
    static const yk_scheme_ops ops = {
        .size = sizeof ops,
        .name = "relaxed",
        .description =
            "the subsystems in turn by ordinary differential equations that contain all "
            "constraints, repeated until convergence; for interfaces between multibody subsystems",
        .options_size = sizeof(yk_relaxed_options),
        .options = options,
        .variants = variants,
        .traits = relaxed_traits,
        .create = relaxed_create,
        .destroy = relaxed_destroy,
        .initialize = relaxed_initialize,
        .step = relaxed_step,
        .derive = relaxed_derive,
        .check = relaxed_check,
        .configure_for_trial = relaxed_configure_for_trial,
        .display_name = relaxed_display_name,
        .statistics = relaxed_statistics,
    };

    return &ops;
}

yk_relaxed_options yk_relaxed_options_default(void)
{
    yk_relaxed_options own;
    yk_scheme_set_defaults(yk_scheme_relaxed(), &own);
    return own;
}
