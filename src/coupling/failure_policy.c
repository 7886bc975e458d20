/* The failure policy: the reaction of a system to a macro step that fails for a numerical reason.
 *
 * Halve: roll the step back and repeat it with half its size, up to a limit. The size that
 * succeeded is kept for some steps, because difficulties rarely end after one step, and solvers
 * with a memory react to every change of the step size with an error. Then the size is doubled
 * until it is the macro step again. Sizes are the macro step divided by powers of two, so that the
 * parts of a macro step end with it.
 *
 * Fall back: roll the step back and repeat it with another scheme, with which the run continues.
 * Both schemes share one system with one wiring. Ports are connected once, so interfaces must
 * exchange the same quantities in both schemes. The second scheme starts as after an event: it
 * extrapolates nothing.
 *
 * All decisions are part of the state image, so that a run that is resumed or rolled back repeats
 * them. */
#include <math.h>
#include <string.h>

#include "base/restored.h"
#include "coupling/arguments.h"
#include "coupling/failure.h"
#include "coupling/scheme_options.h"
#include "coupling/state.h"
#include "coupling/step_control.h"
#include "coupling/step_frame.h"
#include "coupling/system.h"

/* Largest number of halvings. A step below a millionth of the macro step resolves no motion of
 * interest. */
enum { HALVINGS_MAX = 20, GOOD_STEPS_MAX = 1000000 };
/* Fraction of the step that a part may be longer to end with the step. */
static const double SLIVER = 1e-9;

yk_failure_policy yk_failure_policy_default(void)
{
    return (yk_failure_policy){.max_halvings = 10, .steps_before_doubling = 8};
}

/* The other scheme ----------------------------------------------------------------------------- */

/* Exchanges the waiting scheme and the scheme in use. */
static void exchange_schemes(yk_system *system)
{
    yk_scheme_slot *other = &system->policy.other;
    yk_scheme_slot used = {
        .scheme = system->scheme,
        .def = system->scheme_def,
        .options = system->options,
        .option_items = system->option_items,
        .traits = system->traits,
        .substep = system->substep,
        .shaped = other->shaped,
    };

    system->scheme = other->scheme;
    system->scheme_def = other->def;
    system->options = other->options;
    system->option_items = other->option_items;
    system->traits = other->traits;
    system->substep = other->substep;

    /* A scheme marks the participants whose inputs it computes for each substep. */
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        bool shaped = p->shaped;
        p->shaped = other->shaped[i];
        other->shaped[i] = shaped;
    }

    *other = used;
}

/* Whether the other scheme can take over on the wiring of the first one. */
static yk_status check_exchange(yk_system *system, const yk_scheme_def *def)
{
    yk_context *context = system->context;
    const char *first = yk_system_scheme_name(system);
    if (!def->ops)
        return yk_fail(context, YK_ERROR_ARGUMENT, "there is no scheme to fall back to: name one");

    yk_status status = yk_scheme_validate(context, def);
    if (status != YK_OK)
        return status;

    const char *name = def->ops->name;
    unsigned traits = yk_scheme_traits(def);
    if (def->ops == system->scheme_def.ops)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "the scheme to fall back to is %s, which failed: name another one", name);
    if (system->interface_count == 0 && !system->merging)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "there is nothing to fall back from: without interfaces all schemes do the "
                       "same; halve the step instead");
    if ((system->traits | traits) & YK_SCHEME_MERGES)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "no run can fall back from scheme %s to %s: one of them makes one subsystem "
                       "of several, with a state of its own; choose two that do not merge",
                       first, name);
    if (system->wire_count > 0 && !(traits & YK_SCHEME_CARRIES_SIGNALS))
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "no run can fall back to scheme %s, which does not carry wires", name);

    /* Ports are connected once. */
    for (int i = 0; i < system->interface_count; i++) {
        const yk_interface *interface = &system->interfaces[i];
        const yk_port_pair joined = {
            .subsystem = {yk_interface_a(system, interface)->subsystem,
                          yk_interface_b(system, interface)->subsystem},
            .subsystem_index = {interface->def.wrench_subsystem.index,
                                interface->def.motion_subsystem.index},
            .port = {interface->def.wrench_port.index, interface->def.motion_port.index},
        };
        yk_causality takes = YK_CAUSALITY_MOTION_INPUT;
        if (def->ops->second_side_causality)
            takes = def->ops->second_side_causality(def->options, &joined);
        if (takes == interface->takes)
            continue;

        const char *gives = "a wrench to both sides";
        const char *other = "a motion to one side";
        if (interface->takes == YK_CAUSALITY_MOTION_INPUT) {
            gives = "a motion to one side";
            other = "a wrench to both sides";
        }

        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "no run can fall back from scheme %s to %s: interface '%s' gives %s with "
                       "the first and %s with the second; choose an exchange, or a scheme, with "
                       "which both give the same",
                       first, name, interface->def.name, gives, other);
    }

    /* The substeps remain those of the first scheme. */
    for (int i = 0; i < system->participant_count && def->ops->default_substeps; i++) {
        const yk_participant *p = &system->participants[i];
        int fewest = 1;
        def->ops->default_substeps(def->options, p->subsystem, &fewest);
        if (p->substeps < fewest)
            return yk_fail(context, YK_ERROR_CAPABILITY,
                           "no run can fall back to scheme %s, which needs at least %d substeps of "
                           "subsystem '%s': it has %d",
                           name, fewest, p->name, p->substeps);
    }

    return YK_OK;
}

/* Life ----------------------------------------------------------------------------------------- */

yk_status yk_policy_create(yk_system *system, const yk_failure_policy *def)
{
    yk_policy *policy = &system->policy;
    yk_context *context = system->context;
    policy->def = *def;
    policy->failures.subsystem = YK_NULL_SUBSYSTEM;

    /* Step control halves failed steps anyway. */
    if (def->action == YK_ON_FAILURE_HALVE) {
        if (system->control.def.relative_tolerance > 0)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "step control takes failed steps again with smaller sizes already: let "
                           "failures stop the run, or take steps of one size");
        if (def->max_halvings < 1 || def->max_halvings > HALVINGS_MAX)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "a failed step may be halved %d times, must be 1 to %d",
                           def->max_halvings, (int)HALVINGS_MAX);
        if (def->steps_before_doubling < 1 || def->steps_before_doubling > GOOD_STEPS_MAX)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "halved steps are doubled after %d good ones, must be 1 to %d",
                           def->steps_before_doubling, (int)GOOD_STEPS_MAX);
    }

    if (def->action != YK_ON_FAILURE_FALLBACK)
        return YK_OK;

    yk_status status = check_exchange(system, &def->fallback_scheme);
    if (status != YK_OK)
        return status;

    /* The second scheme is created like the first one, as the scheme of the system. */
    size_t participants = (size_t)system->participant_count;
    policy->other.shaped = yk_allocate(context, participants, sizeof *policy->other.shaped);
    if (!policy->other.shaped)
        return YK_ERROR_MEMORY;

    exchange_schemes(system);
    status = yk_system_copy_options(system, &def->fallback_scheme);
    if (status == YK_OK) {
        system->traits = yk_scheme_traits(&system->scheme_def);
        system->substep = system->scheme_def.ops->after_substep;
        status = yk_system_create_scheme(system);
    }

    exchange_schemes(system);
    return status;
}

void yk_policy_destroy(yk_system *system)
{
    yk_policy *policy = &system->policy;
    if (policy->other.shaped) {
        exchange_schemes(system);
        if (system->scheme)
            system->scheme->ops->destroy(system->scheme, system);
        exchange_schemes(system);
    }

    yk_free(system->context, policy->other.options);
    yk_free(system->context, policy->other.option_items);
    yk_free(system->context, policy->other.shaped);
    yk_free(system->context, policy->other_start);
}

yk_status yk_policy_start(yk_system *system)
{
    yk_policy *policy = &system->policy;
    policy->level = 0;
    policy->good = 0;
    policy->failures = (yk_system_failures){.subsystem = {-1}};
    if (policy->fallen)
        exchange_schemes(system);
    policy->fallen = false;
    if (policy->def.action != YK_ON_FAILURE_FALLBACK)
        return YK_OK;

    /* Start the other scheme too, and save the state with which it begins if it is used. */
    exchange_schemes(system);
    const yk_scheme_ops *ops = system->scheme->ops;
    yk_status status = ops->initialize(system->scheme, system);
    if (status == YK_OK) {
        yk_state_layout layout = yk_scheme_state_layout(system);
        double *words = yk_reallocate(system->context, policy->other_start, layout.word_count + 1,
                                      sizeof *words);
        if (words) {
            policy->other_start = words;
            policy->other_layout = layout;
            yk_scheme_state_get(system, words, words + layout.continuous_count);
        } else {
            status = YK_ERROR_MEMORY;
        }
    }

    exchange_schemes(system);
    return status;
}

void yk_policy_get(const yk_system *system, double words[YK_POLICY_WORDS])
{
    words[0] = system->policy.level;
    words[1] = system->policy.good;
    words[2] = system->policy.fallen;
}

bool yk_policy_set(yk_system *system, const double words[YK_POLICY_WORDS])
{
    /* There is another scheme only if the policy is to fall back to it. */
    yk_policy *policy = &system->policy;
    int schemes = policy->def.action == YK_ON_FAILURE_FALLBACK ? 1 : 0;
    if (!yk_is_restored_word(words[0], policy->def.max_halvings) ||
        !yk_is_restored_word(words[1], INT_MAX / 2) || !yk_is_restored_word(words[2], schemes))
        return false;

    policy->level = (int)words[0];
    policy->good = (int)words[1];
    bool fallen = words[2] != 0;
    if (fallen != policy->fallen)
        exchange_schemes(system);
    policy->fallen = fallen;
    return true;
}

/* Steps ---------------------------------------------------------------------------------------- */

yk_system_failures yk_system_get_failures(const yk_system *system)
{
    return system ? system->policy.failures : (yk_system_failures){.subsystem = {-1}};
}

static void count_failure(yk_system *system, double t, const char *reason)
{
    yk_system_failures *f = &system->policy.failures;
    f->last_time = t;
    if (f->count++ > 0)
        return;

    f->first_time = t;
    f->subsystem = system->failure.subsystem;
    strncpy(f->first_message, reason, sizeof f->first_message - 1);
}

/* From here on use the other scheme, in its state after the start. */
static void fall_back(yk_system *system)
{
    yk_policy *policy = &system->policy;
    exchange_schemes(system);
    policy->fallen = true;
    policy->failures.used_fallback = true;
    const double *words = policy->other_start;
    yk_scheme_state_set(system, words, words + policy->other_layout.continuous_count);
    yk_system_announce_event(system);
}

yk_status yk_system_switch_to_fallback(yk_system *system, const char *reason)
{
    if (!yk_system_has_started(system, __func__) ||
        !yk_system_has_memory(system, __func__, "reason", reason))
        return YK_ERROR_ARGUMENT;

    const yk_policy *policy = &system->policy;
    if (policy->def.action != YK_ON_FAILURE_FALLBACK || policy->fallen)
        return yk_fail(system->context, YK_ERROR_CAPABILITY,
                       "the system has no scheme to fall back to that is not in use");

    system->failure = (yk_failure){.subsystem = {-1}, .interface = {-1}};
    count_failure(system, yk_system_time(system), reason);
    fall_back(system);
    return YK_OK;
}

yk_status yk_policy_step(yk_system *system, double t, double left, double *taken,
                         yk_step_report *report)
{
    yk_policy *policy = &system->policy;
    if (!yk_policy_repeats(system))
        return yk_controller_step(system, t, left, taken, report);

    bool halves = policy->def.action == YK_ON_FAILURE_HALVE;
    bool controlled = system->control.def.relative_tolerance > 0;
    for (;;) {
        /* Take the whole remaining step, unless steps are halved at present. */
        double h = left;
        double part = ldexp(system->step, -policy->level);
        if (part < left * (1 - SLIVER))
            h = part;

        system->failure = (yk_failure){.subsystem = {-1}, .interface = {-1}};
        if (!controlled)
            yk_controller_keep(system);
        yk_status status = yk_controller_step(system, t, h, taken, report);

        /* After some good steps the size is doubled. */
        if (!YK_FAILED(status)) {
            policy->good++;
            if (policy->level > 0 && policy->good >= policy->def.steps_before_doubling) {
                policy->level--;
                policy->good = 0;
            }

            return status;
        }

        if (!yk_step_is_recoverable(status) || policy->fallen)
            return status;
        if (halves && policy->level == policy->def.max_halvings)
            return yk_fail(system->context, status,
                           "%s; this is with the macro step halved %d times, to %g s",
                           yk_last_message(system->context), policy->level, part);

        /* Repeat the step from its start. The state image contains the start, but not the number of
         * attempts. */
        int level = policy->level;
        count_failure(system, t, yk_last_message(system->context));
        status = yk_controller_take_back(system);
        if (status != YK_OK)
            return status;

        system->statistics.steps_rejected++;
        if (halves) {
            policy->level = level + 1;
            policy->good = 0;
            double smallest = ldexp(system->step, -policy->level);
            if (policy->failures.min_step == 0 || smallest < policy->failures.min_step)
                policy->failures.min_step = smallest;
        } else {
            fall_back(system);
        }
    }
}
