/* The state of a system as one image, and the saved states to which schemes roll back.
 *
 *   continuous words of every participant, of the scheme
 *   opaque words of every participant, of the scheme, of step control, of the failure policy | the
 *   clock | the stamp
 *
 * The stamp is a fingerprint of the system: names and kinds of the participants and sizes of their
 * states. An image of zeros, or of another system, is rejected because of it.
 *
 * If the system has a fallback scheme, the image has room for the larger of the two schemes, and
 * the words are those of the scheme in use. Without a policy there are no words of it.
 *
 * A participant with substeps has, in addition to the words of its subsystem, data of the coupling:
 * the mean wrenches of the last macro step and the motion before it. The slip of nonholonomic joints follows the words of the
 * participants.
 *
 * Counters and the latest outputs and inputs are not part of the state. Checkpoints store them in
 * addition. */
#include "coupling/state.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/restored.h"
#include "base/text.h"
#include "coupling/arguments.h"
#include "coupling/failure.h"
#include "coupling/participant.h"
#include "coupling/scheme_options.h"
#include "coupling/slip.h"
#include "coupling/step_control.h"
#include "coupling/system.h"

enum {
    MOTION_WORDS = sizeof(yk_motion) / sizeof(double),
    WRENCH_WORDS = sizeof(yk_wrench) / sizeof(double),
    CLOCK_WORDS = 2, /* Count of macro steps, and stamp. */
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
    bool controlled = system->control.def.relative_tolerance > 0;
    bool again = yk_policy_repeats(system);
    if (!repeats && !controlled && !again)
        return YK_OK;

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *m = &system->participants[i];
        if (yk_participant_can_return(m))
            continue;

        const yk_scheme_ops *ops = system->scheme->ops;
        if (!controlled && !again && ops->needs_rollback_of &&
            !ops->needs_rollback_of(system->scheme, system, i))
            continue;

        const char *kind = m->subsystem->ops->kind;
        if (repeats)
            return yk_fail(system->context, YK_ERROR_CAPABILITY,
                           "scheme %s repeats steps, but subsystem '%s' (%s) cannot return to an "
                           "earlier state; choose another scheme, such as %s",
                           scheme, m->name, kind, yk_scheme_name_without(YK_SCHEME_NEEDS_ROLLBACK));
        if (!controlled)
            return yk_fail(
                system->context, YK_ERROR_CAPABILITY,
                "a step that fails is to be taken again from its start, but subsystem "
                "'%s' (%s) cannot return to an earlier state; let a failure stop the run",
                m->name, kind);
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "scheme %s with step control repeats steps whose error is too large, but "
                       "subsystem '%s' (%s) cannot return to an earlier state; take steps of one "
                       "size (tolerance 0)",
                       scheme, m->name, kind);
    }

    return YK_OK;
}

/* Use ------------------------------------------------------------------------------------------ */

/* Whether the run returns a participant to earlier states: because of its scheme, step control,
 * failure policy or time windows. */
static bool returns_participant(const yk_system *system, int participant)
{
    const yk_scheme_ops *ops = system->scheme->ops;
    if (system->control.def.relative_tolerance > 0 || yk_policy_repeats(system) ||
        yk_system_uses_time_windows(system) || (system->traits & YK_SCHEME_TRIES_STEPS))
        return true;

    /* Merged systems repeat steps if wires form a cycle. */
    if (system->traits & YK_SCHEME_MERGES)
        return system->wire_count > 0 || (system->traits & YK_SCHEME_NEEDS_ROLLBACK);
    if (!(system->traits & YK_SCHEME_NEEDS_ROLLBACK))
        return false;
    return !ops->needs_rollback_of || ops->needs_rollback_of(system->scheme, system, participant);
}

void yk_system_announce_states(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        m->state_use = YK_STATES_UNUSED;
        if (returns_participant(system, i) || (m->loop && !m->loop->only_at_start))
            m->state_use = YK_STATES_RESTORED;
        if (m->subsystem->ops->expect_states)
            m->subsystem->ops->expect_states(m->subsystem, m->state_use);
    }
}

/* Prepares all participants for a use of their states, after the start. */
static yk_state_layout expect_states(yk_system *system, yk_state_use use)
{
    if (!system)
        return (yk_state_layout){0};

    bool prepared = true;
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        if (m->state_use >= use)
            continue;

        m->state_use = use;
        if (!m->subsystem->ops->expect_states)
            continue;

        prepared = prepared && !system->states_deferred;
        m->subsystem->ops->expect_states(m->subsystem, use);
    }

    if (!prepared && YK_FAILED(yk_system_prepare_states(system)))
        return (yk_state_layout){0};
    return system->layout;
}

yk_state_layout yk_system_state_layout(const yk_system *system)
{
    /* Preparing for images changes nothing that a caller can see. */
    return expect_states((yk_system *)(uintptr_t)system, YK_STATES_RESTORED);
}

yk_state_layout yk_system_saved_layout(yk_system *system)
{
    return expect_states(system, YK_STATES_SAVED);
}

/* Of the scheme -------------------------------------------------------------------------------- */

yk_state_layout yk_scheme_state_layout(const yk_system *system)
{
    const yk_scheme_ops *ops = system->scheme->ops;
    yk_state_layout layout = {0};
    if (ops->state_array) {
        ops->state_array(system->scheme, system, &layout.word_count);
        layout.continuous_count = layout.word_count;
    } else if (ops->state_layout) {
        layout = ops->state_layout(system->scheme, system);
    }

    return layout;
}

void yk_scheme_state_get(const yk_system *system, double *continuous, double *opaque)
{
    /* A scheme without words may lack the operations. */
    const yk_scheme_ops *ops = system->scheme->ops;
    if (ops->state_array) {
        size_t count;
        const double *words = ops->state_array(system->scheme, system, &count);
        memcpy(continuous, words, count * sizeof *words);
    } else if (yk_scheme_state_layout(system).word_count > 0) {
        ops->state_get(system->scheme, system, continuous, opaque);
    }
}

void yk_scheme_state_set(yk_system *system, const double *continuous, const double *opaque)
{
    const yk_scheme_ops *ops = system->scheme->ops;
    if (ops->state_array) {
        size_t count;
        double *words = ops->state_array(system->scheme, system, &count);
        memcpy(words, continuous, count * sizeof *words);
    } else if (yk_scheme_state_layout(system).word_count > 0) {
        ops->state_set(system->scheme, system, continuous, opaque);
    }
}

/* Of the system -------------------------------------------------------------------------------- */

/* Words reserved for the scheme. */
static yk_state_layout scheme_reserve(const yk_system *system)
{
    if (system->policy.def.action == YK_ON_FAILURE_FALLBACK)
        return system->policy.reserve;
    return yk_scheme_state_layout(system);
}

/* A subsystem knows the size of its state after initialization. */
yk_status yk_system_prepare_states(yk_system *system)
{
    size_t largest = 0;
    bool complete = true;
    system->layout = (yk_state_layout){0};
    system->states_deferred = false;

    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        const yk_subsystem_ops *ops = m->subsystem->ops;
        if (!yk_participant_can_return(m)) {
            complete = false;
            continue;
        }

        /* Do not ask for the size of an image that the run does not use: some FMUs crash in it. */
        if (ops->expect_states && m->state_use == YK_STATES_UNUSED) {
            complete = false;
            system->states_deferred = true;
            continue;
        }

        /* Subsystems in other processes save their states there. */
        m->layout = ops->rollback->layout(m->subsystem);
        if (m->layout.word_count == 0)
            complete = false;
        size_t kept = m->layout.word_count;
        if (m->subsystem->ops->remote)
            kept = 1;
        double *mark = yk_reallocate(system->context, m->mark, kept, sizeof *mark);
        if (!mark)
            return YK_ERROR_MEMORY;

        m->mark = mark;

        if (m->layout.word_count > largest)
            largest = m->layout.word_count;
        system->layout.word_count += m->layout.word_count;
        system->layout.continuous_count += m->layout.continuous_count;

        /* Data of the coupling, and the size of the previous step. */
        if (m->earlier) {
            size_t remembered = (size_t)m->port_count * (MOTION_WORDS + WRENCH_WORDS);
            system->layout.word_count += remembered + 1;
            system->layout.continuous_count += remembered;
        }
    }

    /* With two schemes, the room is for the larger one. */
    yk_policy *policy = &system->policy;
    yk_state_layout own = yk_scheme_state_layout(system);
    if (policy->def.action == YK_ON_FAILURE_FALLBACK) {
        size_t opaque[2] = {own.word_count - own.continuous_count,
                            policy->other_layout.word_count -
                                policy->other_layout.continuous_count};
        size_t continuous[2] = {own.continuous_count, policy->other_layout.continuous_count};
        size_t most = opaque[0] > opaque[1] ? opaque[0] : opaque[1];
        own.continuous_count = continuous[0] > continuous[1] ? continuous[0] : continuous[1];
        own.word_count = own.continuous_count + most;
        policy->reserve = own;
    }

    /* The scheme, step control, the policy and the clock. If a subsystem has no image, the system
     * has none; then `returning` is only used for time windows (time_window.c). */
    system->layout.word_count += own.word_count + yk_slip_words(system);
    system->layout.continuous_count += own.continuous_count + yk_slip_words(system);
    system->layout.word_count += YK_CONTROLLER_WORDS + CLOCK_WORDS;
    if (yk_policy_repeats(system))
        system->layout.word_count += YK_POLICY_WORDS;
    system->returning = system->layout;
    if (!complete)
        system->layout = (yk_state_layout){0};

    /* Buffer for the largest image of a participant. */
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
    const yk_subsystem_ops *ops = m->subsystem->ops;
    if (ops->remote)
        ops->remote->save_state(m->subsystem);
    else
        ops->rollback->get(m->subsystem, m->mark);
}

void yk_system_save_participants(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++)
        if (yk_participant_can_return(&system->participants[i]))
            yk_system_mark_participant(system, i);
}

yk_status yk_system_rollback_participant(yk_system *system, int participant)
{
    yk_participant *m = &system->participants[participant];
    const yk_subsystem_ops *ops = m->subsystem->ops;

    /* A participant that was advanced with its loop is already in the right state. */
    if (m->loop_done)
        return YK_OK;

    /* Discard a step that was sent ahead. */
    m->posted = false;
    if (ops->remote)
        m->status = ops->remote->restore_state(m->subsystem);
    else
        m->status = ops->rollback->set(m->subsystem, m->mark);
    return m->status;
}

/* The image ------------------------------------------------------------------------------------ */

/* The stamp. Never zero, and equal in every process that creates the same system. */
static uint64_t image_stamp(const yk_system *system)
{
    uint64_t stamp = YK_HASH_START;
    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *m = &system->participants[i];
        const char *kind = m->subsystem->ops->kind ? m->subsystem->ops->kind : "";
        stamp = yk_hash_bytes(stamp, m->name, strlen(m->name) + 1);
        stamp = yk_hash_bytes(stamp, kind, strlen(kind) + 1);
        stamp = yk_hash_bytes(stamp, &m->layout, sizeof m->layout);
    }

    return stamp | 1;
}

/* Checks that an image belongs to this system, before any part of it is set. */
static yk_status check_image(const yk_system *system, const double *image)
{
    uint64_t stamp;
    memcpy(&stamp, image + system->returning.word_count - 1, sizeof stamp);
    if (stamp != image_stamp(system))
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "this is no state image of the system: its stamp is %016llx, not %016llx; "
                       "set an image that yk_system_get_state of the same system has filled",
                       (unsigned long long)stamp, (unsigned long long)image_stamp(system));

    for (size_t i = 0; i < system->returning.continuous_count; i++)
        if (!isfinite(image[i]))
            return yk_fail(system->context, YK_ERROR_ARGUMENT,
                           "word %zu of the state image is %g, must be finite", i, image[i]);
    return YK_OK;
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

yk_status yk_system_get_state(const yk_system *system, double *image)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_memory(system, __func__, "image", image))
        return YK_ERROR_ARGUMENT;

    double *continuous = image;
    double *opaque = image + system->returning.continuous_count;

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *m = &system->participants[i];
        size_t own = m->layout.continuous_count;
        if (!yk_participant_can_return(m))
            continue;

        m->subsystem->ops->rollback->get(m->subsystem, system->scratch);
        continuous = put(continuous, system->scratch, own);
        opaque = put(opaque, system->scratch + own, m->layout.word_count - own);
        if (!m->earlier)
            continue;

        /* Data of the coupling. */
        size_t ports = (size_t)m->port_count;
        continuous = put(continuous, m->earlier, ports * MOTION_WORDS);
        continuous = put(continuous, m->mean_wrenches, ports * WRENCH_WORDS);
        opaque = put(opaque, &m->earlier_step, 1);
    }

    continuous = yk_slip_get(system, continuous);

    /* The scheme. Unused words are zero. */
    yk_state_layout own = yk_scheme_state_layout(system);
    yk_state_layout reserve = scheme_reserve(system);
    if (reserve.word_count > own.word_count) {
        memset(continuous, 0, reserve.continuous_count * sizeof *continuous);
        memset(opaque, 0, (reserve.word_count - reserve.continuous_count) * sizeof *opaque);
    }

    yk_scheme_state_get(system, continuous, opaque);
    opaque += reserve.word_count - reserve.continuous_count;

    /* Step control, the policy, and the clock. */
    yk_controller_get(&system->control, opaque);
    opaque += YK_CONTROLLER_WORDS;
    if (yk_policy_repeats(system)) {
        yk_policy_get(system, opaque);
        opaque += YK_POLICY_WORDS;
    }

    uint64_t stamp = image_stamp(system);
    memcpy(opaque, &system->step_count, sizeof *opaque);
    memcpy(opaque + 1, &stamp, sizeof stamp);
    return YK_OK;
}

yk_status yk_system_set_state(yk_system *system, const double *image)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_memory(system, __func__, "image", image))
        return YK_ERROR_ARGUMENT;

    yk_status fits = check_image(system, image);
    if (fits != YK_OK)
        return fits;

    const double *continuous = image;
    const double *opaque = image + system->returning.continuous_count;

    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *m = &system->participants[i];
        size_t own = m->layout.continuous_count;
        if (!yk_participant_can_return(m))
            continue;

        continuous = take(system->scratch, continuous, own);
        opaque = take(system->scratch + own, opaque, m->layout.word_count - own);
        m->status = m->subsystem->ops->rollback->set(m->subsystem, system->scratch);
        m->posted = false;
        if (YK_FAILED(m->status))
            return yk_system_report_failure(system, i);

        yk_system_gather(m);
        if (!m->earlier)
            continue;

        /* Data of the coupling. */
        size_t ports = (size_t)m->port_count;
        continuous = take(m->earlier, continuous, ports * MOTION_WORDS);
        continuous = take(m->mean_wrenches, continuous, ports * WRENCH_WORDS);
        opaque = take(&m->earlier_step, opaque, 1);

        for (size_t port = 0; port < ports; port++)
            m->values[port].wrench = m->mean_wrenches[port];
    }

    continuous = yk_slip_set(system, continuous);

    /* Step control, the policy with the scheme that was in use, and the clock, which the scheme may
     * read. */
    yk_state_layout reserve = scheme_reserve(system);
    const double *control = opaque + (reserve.word_count - reserve.continuous_count);
    const double *policy = control + YK_CONTROLLER_WORDS;
    const double *clock = policy;
    bool valid = yk_controller_set(&system->control, control);
    if (yk_policy_repeats(system)) {
        valid = valid && yk_policy_set(system, policy);
        clock += YK_POLICY_WORDS;
    }

    memcpy(&system->step_count, clock, sizeof *clock);
    const yk_scheme_ops *ops = system->scheme->ops;
    valid = valid && yk_is_restored_count(system->step_count);
    if (valid && ops->is_valid_state && yk_scheme_state_layout(system).word_count > 0)
        valid = ops->is_valid_state(system->scheme, system, continuous, opaque);
    if (!valid)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "the state image is not that of this system and scheme %s", ops->name);

    yk_scheme_state_set(system, continuous, opaque);
    return YK_OK;
}

yk_status yk_system_state_hash(yk_system *system, uint64_t *hash)
{
    if (!yk_system_has_memory(system, __func__, "hash", hash) ||
        !yk_system_has_started(system, __func__))
        return YK_ERROR_ARGUMENT;

    *hash = YK_HASH_START;

    /* For a subsystem without an image, hash the outputs of its ports. */
    if (system->layout.word_count == 0) {
        for (int i = 0; i < system->participant_count; i++) {
            const yk_participant *m = &system->participants[i];
            *hash = yk_hash_bytes(*hash, m->values, (size_t)m->port_count * sizeof *m->values);
        }

        *hash = yk_hash_bytes(*hash, &system->step_count, sizeof system->step_count);
        return YK_OK;
    }

    double *image = yk_allocate(system->context, system->layout.word_count, sizeof *image);
    if (!image)
        return YK_ERROR_MEMORY;

    yk_system_get_state(system, image);
    /* The stamp is not part of the state. */
    *hash = yk_hash_bytes(*hash, image, (system->layout.word_count - 1) * sizeof *image);
    yk_free(system->context, image);

    yk_status status = yk_system_remote_status(system);
    if (status != YK_OK)
        *hash = 0;
    return status;
}

yk_status yk_system_remote_status(yk_system *system)
{
    if (!system)
        return YK_ERROR_ARGUMENT;

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *m = &system->participants[i];
        const yk_remote_ops *remote = m->subsystem->ops->remote;
        yk_status status = YK_OK;
        if (remote)
            status = remote->last_status(m->subsystem);
        if (YK_FAILED(status))
            return yk_fail(system->context, status, "%s", yk_participant_message(m));
    }

    return YK_OK;
}

/* What checkpoints hold besides the image ------------------------------------------------------ */

yk_subsystem_id yk_system_first_without_state(const yk_system *system)
{
    if (!system)
        return YK_NULL_SUBSYSTEM;

    for (int i = 0; i < system->subsystem_count; i++) {
        const yk_subsystem *subsystem =
            system->participants[system->parts[i].participant].subsystem;
        const yk_subsystem_ops *ops = subsystem->ops;
        if (!ops->rollback ||
            (ops->is_state_process_local && ops->is_state_process_local(subsystem)))
            return (yk_subsystem_id){i};
    }

    return YK_NULL_SUBSYSTEM;
}

/* Calls back with all data of the system other than the states of its subsystems and its scheme,
 * always in the same order: statistics, and the latest values of ports, interfaces and wires, which
 * the next step may start from. */
static void visit_memory(const yk_system *system,
                         void (*visit)(void *piece, size_t bytes, void *user), void *user)
{
    yk_system *s = (yk_system *)(uintptr_t)system;
    visit(&s->statistics, sizeof s->statistics, user);
    visit(&s->policy.failures, sizeof s->policy.failures, user);

    for (int i = 0; i < s->participant_count; i++) {
        yk_participant *m = &s->participants[i];
        size_t ports = (size_t)m->port_count;
        visit(&m->statistics, sizeof m->statistics, user);
        visit(&m->timed_calls, sizeof m->timed_calls, user);
        visit(m->values, ports * sizeof *m->values, user);
        visit(m->before, ports * sizeof *m->before, user);
        visit(m->inputs, ports * sizeof *m->inputs, user);

        void *counts = NULL;
        size_t bytes = 0;
        if (m->subsystem->ops->counters)
            bytes = m->subsystem->ops->counters(m->subsystem, &counts);
        if (bytes > 0)
            visit(counts, bytes, user);
    }

    for (int i = 0; i < s->interface_count; i++) {
        yk_interface *interface = &s->interfaces[i];
        visit(&interface->statistics, sizeof interface->statistics, user);
        visit(&interface->given, sizeof interface->given, user);
        visit(&interface->applied, sizeof interface->applied, user);
        visit(&interface->origin, sizeof interface->origin, user);
        visit(&interface->residual, sizeof interface->residual, user);
    }

    for (int i = 0; i < s->wire_count; i++) {
        yk_wire *wire = &s->wires[i];
        visit(&wire->now, sizeof wire->now, user);
        visit(&wire->before, sizeof wire->before, user);
        visit(&wire->given, sizeof wire->given, user);
    }
}

static size_t words_of(size_t bytes)
{
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

static void count_words(void *piece, size_t bytes, void *user)
{
    (void)piece;
    *(size_t *)user += words_of(bytes);
}

static void save_piece(void *piece, size_t bytes, void *user)
{
    double **words = user;
    memcpy(*words, piece, bytes);
    *words += words_of(bytes);
}

static void restore_piece(void *piece, size_t bytes, void *user)
{
    const double **words = user;
    memcpy(piece, *words, bytes);
    *words += words_of(bytes);
}

size_t yk_system_checkpoint_size(const yk_system *system)
{
    if (!system)
        return 0;

    size_t words = 0;
    visit_memory(system, count_words, &words);
    return words;
}

yk_status yk_system_get_checkpoint_data(const yk_system *system, double *words)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_memory(system, __func__, "words", words))
        return YK_ERROR_ARGUMENT;

    memset(words, 0, yk_system_checkpoint_size(system) * sizeof *words);
    visit_memory(system, save_piece, &words);
    return YK_OK;
}

/* Checks that the restored counters, indices and truth values are valid. */
static bool is_valid_memory(const yk_system *system)
{
    const yk_system_statistics *s = &system->statistics;
    const int64_t counts[] = {s->steps,           s->iterations,     s->steps_not_converged,
                              s->steps_halved,    s->steps_rejected, s->steps_accepted_at_min_step,
                              s->last_iterations, s->max_iterations, system->policy.failures.count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!yk_is_restored_count(counts[i]))
            return false;
    if (s->worst_subsystem.index < -1 || s->worst_subsystem.index >= system->subsystem_count)
        return false;

    const yk_system_failures *f = &system->policy.failures;
    if (f->subsystem.index < -1 || f->subsystem.index >= system->subsystem_count)
        return false;
    if (!yk_is_restored_bool(&f->used_fallback) ||
        !memchr(f->first_message, '\0', sizeof f->first_message))
        return false;

    for (int i = 0; i < system->participant_count; i++) {
        const yk_participant *m = &system->participants[i];
        const yk_subsystem_statistics *own = &m->statistics;
        if (!yk_is_restored_count(own->calls) || !yk_is_restored_count(own->steps) ||
            !yk_is_restored_count(own->model_calls) || !yk_is_restored_count(m->timed_calls))
            return false;
        for (int port = 0; port < m->port_count; port++)
            if (m->inputs[port].degree < 0 || m->inputs[port].degree > YK_INPUT_DEGREE_MAX)
                return false;
    }

    return true;
}

yk_status yk_system_set_checkpoint_data(yk_system *system, const double *words)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_memory(system, __func__, "words", words))
        return YK_ERROR_ARGUMENT;

    visit_memory(system, restore_piece, &words);
    if (is_valid_memory(system))
        return YK_OK;
    return yk_fail(system->context, YK_ERROR_ARGUMENT,
                   "what the system remembers of its last step is not that of this system");
}
