/* The state of a system as one image, and the marks that schemes rewind to.
 *
 *   continuous words of every participant, of the scheme
 *   opaque words of every participant, of the scheme, of step control | the clock
 *
 * A participant with substeps brings, besides its subsystem's words, what the coupling remembers
 * of it: the mean wrenches of the last macro step and the motion before it. */
#include <string.h>

#include "base/hash.h"
#include "coupling/system.h"

enum {
    MOTION_WORDS = sizeof(yk_motion) / sizeof(double),
    WRENCH_WORDS = sizeof(yk_wrench) / sizeof(double),
};

bool yk_participant_can_return(const yk_participant *m)
{
    return m->subsystem->ops->rollback;
}

/* Layout --------------------------------------------------------------------------------------- */

yk_status yk_system_check_rollback(const yk_system *system)
{
    const char *scheme = yk_system_scheme_name(system);
    bool repeats = system->traits & YK_SCHEME_NEEDS_ROLLBACK;
    bool controlled = system->control.def.tolerance > 0;
    if (!repeats && !controlled)
        return YK_OK;

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *m = &system->participants[i];
        if (yk_participant_can_return(m))
            continue;

        const yk_scheme_ops *ops = system->scheme->ops;
        if (!controlled && ops->rewinds && !ops->rewinds(system->scheme, system, i))
            continue;

        const char *kind = m->subsystem->ops->kind;
        if (repeats)
            return yk_fail(system->context, YK_ERROR_CAPABILITY,
                           "scheme %s repeats steps, but subsystem '%s' (%s) cannot return to an "
                           "earlier state; choose another scheme, such as %s",
                           scheme, m->name, kind, yk_scheme_name_without(YK_SCHEME_NEEDS_ROLLBACK));
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "scheme %s with step control repeats steps whose error is too large, but "
                       "subsystem '%s' (%s) cannot return to an earlier state; take steps of one "
                       "size (tolerance 0)",
                       scheme, m->name, kind);
    }

    return YK_OK;
}

/* What the scheme keeps of its own. */
static yk_state_layout scheme_layout(const yk_system *system)
{
    const yk_scheme_ops *ops = system->scheme->ops;
    if (!ops->state_layout)
        return (yk_state_layout){0};
    return ops->state_layout(system->scheme, system);
}

/* A subsystem knows the size of its state once it has started. */
yk_status yk_system_prepare_states(yk_system *system)
{
    size_t largest = 0;
    bool complete = true;
    system->layout = (yk_state_layout){0};

    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        if (!yk_participant_can_return(m)) {
            complete = false;
            continue;
        }

        m->layout = m->subsystem->ops->rollback->layout(m->subsystem);
        double *mark = yk_reallocate(system->context, m->mark, m->layout.words, sizeof *mark);
        if (!mark)
            return YK_ERROR_MEMORY;

        m->mark = mark;

        if (m->layout.words > largest)
            largest = m->layout.words;
        system->layout.words += m->layout.words;
        system->layout.continuous += m->layout.continuous;

        /* What the coupling remembers of it, and the size of the step before. */
        if (m->earlier) {
            size_t remembered = (size_t)m->port_count * (MOTION_WORDS + WRENCH_WORDS);
            system->layout.words += remembered + 1;
            system->layout.continuous += remembered;
        }
    }

    /* The scheme, step control and the clock. Where a subsystem has no image, the system has
     * none. */
    yk_state_layout own = scheme_layout(system);
    system->layout.words += own.words;
    system->layout.continuous += own.continuous;
    system->layout.words += YK_CONTROLLER_WORDS + 1;
    if (!complete)
        system->layout = (yk_state_layout){0};

    /* Images pass through memory for the largest of them. */
    double *scratch = yk_reallocate(system->context, system->scratch, largest, sizeof *scratch);
    if (!scratch)
        return YK_ERROR_MEMORY;

    system->scratch = scratch;

    return YK_OK;
}

/* Marks ---------------------------------------------------------------------------------------- */

void yk_system_mark_participant(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    m->subsystem->ops->rollback->get(m->subsystem, m->mark);
}

void yk_system_mark(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++)
        if (yk_participant_can_return(&system->participants[i]))
            yk_system_mark_participant(system, i);
}

yk_status yk_system_rewind(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    m->status = m->subsystem->ops->rollback->set(m->subsystem, m->mark);
    return m->status;
}

/* The image ------------------------------------------------------------------------------------ */

yk_state_layout yk_system_state_layout(const yk_system *system)
{
    return system->layout;
}

static double *put(double *to, const void *from, size_t words)
{
    memcpy(to, from, words * sizeof(double));
    return to + words;
}

static const double *take(void *to, const double *from, size_t words)
{
    memcpy(to, from, words * sizeof(double));
    return from + words;
}

void yk_system_state_get(const yk_system *system, double *image)
{
    double *continuous = image;
    double *opaque = image + system->layout.continuous;

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *m = &system->participants[i];
        size_t own = m->layout.continuous;
        m->subsystem->ops->rollback->get(m->subsystem, system->scratch);
        continuous = put(continuous, system->scratch, own);
        opaque = put(opaque, system->scratch + own, m->layout.words - own);
        if (!m->earlier)
            continue;

        /* What the coupling remembers of it. */
        size_t ports = (size_t)m->port_count;
        continuous = put(continuous, m->earlier, ports * MOTION_WORDS);
        continuous = put(continuous, m->mean_wrenches, ports * WRENCH_WORDS);
        opaque = put(opaque, &m->earlier_step, 1);
    }

    /* The scheme, step control, and the clock. */
    yk_state_layout own = scheme_layout(system);
    if (own.words > 0)
        system->scheme->ops->state_get(system->scheme, system, continuous, opaque);
    opaque += own.words - own.continuous;
    yk_controller_get(&system->control, opaque);
    opaque += YK_CONTROLLER_WORDS;
    memcpy(opaque, &system->step_count, sizeof *opaque);
}

yk_status yk_system_state_set(yk_system *system, const double *image)
{
    const double *continuous = image;
    const double *opaque = image + system->layout.continuous;

    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        size_t own = m->layout.continuous;
        continuous = take(system->scratch, continuous, own);
        opaque = take(system->scratch + own, opaque, m->layout.words - own);
        m->status = m->subsystem->ops->rollback->set(m->subsystem, system->scratch);
        if (YK_FAILED(m->status))
            return yk_system_report_failure(system, i);

        yk_system_gather(m);
        if (!m->earlier)
            continue;

        /* What the coupling remembers of it. */
        size_t ports = (size_t)m->port_count;
        continuous = take(m->earlier, continuous, ports * MOTION_WORDS);
        continuous = take(m->mean_wrenches, continuous, ports * WRENCH_WORDS);
        opaque = take(&m->earlier_step, opaque, 1);

        for (size_t port = 0; port < ports; port++)
            m->values[port].wrench = m->mean_wrenches[port];
    }

    /* The scheme, step control, and the clock, which the scheme may ask for. */
    yk_state_layout own = scheme_layout(system);
    const double *control = opaque + (own.words - own.continuous);
    const double *clock = control + YK_CONTROLLER_WORDS;
    memcpy(&system->step_count, clock, sizeof *clock);
    yk_controller_set(&system->control, control);
    if (own.words > 0)
        system->scheme->ops->state_set(system->scheme, system, continuous, opaque);

    return YK_OK;
}

yk_status yk_system_state_hash(yk_system *system, uint64_t *hash)
{
    *hash = YK_HASH_START;

    /* Where a subsystem has no image, what its ports show stands for its state. */
    if (system->layout.words == 0) {
        for (int i = 0; i < system->participant_count; i++) {
            const yk_participant *m = &system->participants[i];
            *hash = yk_hash_bytes(*hash, m->values, (size_t)m->port_count * sizeof *m->values);
        }

        *hash = yk_hash_bytes(*hash, &system->step_count, sizeof system->step_count);
        return YK_OK;
    }

    double *image = yk_allocate(system->context, system->layout.words, sizeof *image);
    if (!image)
        return YK_ERROR_MEMORY;

    yk_system_state_get(system, image);
    *hash = yk_hash_bytes(*hash, image, system->layout.words * sizeof *image);
    yk_release(system->context, image);

    return YK_OK;
}
