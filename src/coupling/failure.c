/* What a system says where something is wrong while it runs (what happened, when, and what helps),
 * and what it does then. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/restored.h"
#include "base/text.h"
#include "coupling/system.h"

/* A gap at the start (rad) beyond which the markers are not misplaced by rounding or a guess but
 * rotated against each other; gaps (m, rad; m/s, rad/s) that are worth a message. */
static const double ROTATED = 0.01;
static const double NOTABLE = 1e-6;
static const double NOTABLE_SPEED = 1e-5;

const char *yk_participant_message(const yk_participant *p)
{
    /* A subsystem whose results are refused has nothing to say itself. */
    const yk_subsystem_ops *ops = p->subsystem->ops;
    const char *message = "";
    if (ops->last_message)
        message = ops->last_message(p->subsystem);
    if (!message || !*message)
        return yk_status_text(p->status);
    return message;
}

yk_status yk_system_report_failure(yk_system *system, int participant)
{
    return yk_system_report_failure_at(system, participant, system->t + system->h);
}

yk_status yk_system_report_failure_at(yk_system *system, int participant, double t)
{
    /* The error of an algebraic loop has its message already. */
    yk_context *context = system->context;
    const yk_participant *p = &system->participants[participant];
    if (p->loop && YK_FAILED(p->loop->status))
        return p->loop->status;

    system->failed = participant;
    const char *why = yk_participant_message(p);
    if (p->failed_in_scheme)
        why = yk_last_message(context);
    const char *scheme = yk_system_scheme_name(system);
    long long step = (long long)system->step_count + 1;

    /* Alone, it can only be its own fault. */
    if (system->interface_count + system->wire_count == 0)
        return yk_fail(context, p->status, "at t = %g s (step %lld) subsystem '%s' failed: %s", t,
                       step, p->name, why);

    /* A subsystem that is asked for the impossible fails last: numbers that grew without bounds
     * may be the coupling's. */
    bool numerical = p->status == YK_ERROR_NOT_FINITE || p->status == YK_ERROR_DIVERGED;
    bool known = true;
    double energy = 0;
    int maker = -1;
    bool ran_away = numerical && yk_ledger_runaway(system, &known, &energy, &maker);

    /* What carries a coupling that ran away: wrenches on both sides know no limit of masses or
     * steps. */
    char remedy[120] = "use a smaller macro step";
    if (!(system->traits & (YK_SCHEME_MERGES | YK_SCHEME_IS_FORCE_FORCE)))
        snprintf(remedy, sizeof remedy, "use the scheme %s, or a smaller macro step",
                 yk_scheme_name_with(YK_SCHEME_IS_FORCE_FORCE));

    /* Energy that the coupling made is the cause, and named first. */
    if (ran_away && maker >= 0) {
        /* What the solver says, without what it takes for the cause and the remedy. */
        const char *end = strchr(why, ';');
        const char *clause = strstr(why, ": ");
        const char *second = NULL;
        if (clause)
            second = strstr(clause + 2, ": ");
        if (second && (!end || second < end))
            end = second;
        int length = (int)strlen(why);
        if (end)
            length = (int)(end - why);

        char made[48] = "more energy than can be counted";
        if (isfinite(energy))
            yk_format(made, sizeof made, "%.3g J of energy", energy);
        const yk_interface *interface = &system->interfaces[maker];
        const char *a = yk_interface_a(system, interface)->name;
        const char *b = yk_interface_b(system, interface)->name;

        /* Sides that had to jump to each other are the first suspects. */
        char start[120] = "";
        if (interface->start_gap > NOTABLE)
            yk_format(start, sizeof start,
                      "let its two sides, which are %.3g m apart at first, start in one place, or ",
                      interface->start_gap);
        return yk_fail(
            context, p->status,
            "the coupling is unstable: it created %s, most at interface '%s' between '%s' "
            "and '%s', until subsystem '%s' could not make step %lld of scheme %s to "
            "t = %g s (%.*s); %s%s",
            made, interface->def.name, a, b, p->name, step, scheme, t, length, why, start, remedy);
    }

    /* Where energies are not known, nobody can say which of the two it was. */
    if (numerical && !known)
        return yk_fail(context, p->status,
                       "at t = %g s (step %lld of scheme %s) subsystem '%s' failed: %s; if the "
                       "coupling is unstable, %s",
                       t, step, scheme, p->name, why, remedy);
    return yk_fail(context, p->status,
                   "at t = %g s (step %lld of scheme %s) subsystem '%s' failed: %s", t, step,
                   scheme, p->name, why);
}

void yk_system_report_not_converged(yk_system *system, double t, const yk_step_report *report)
{
    const yk_scheme_ops *ops = system->scheme->ops;
    double absolute = 0;
    double relative = 0;
    if (ops->tolerances)
        ops->tolerances(system->options, &absolute, &relative);

    /* What helps is for the scheme to say. */
    const char *remedy = "a smaller macro step";
    if (ops->convergence_hint)
        remedy = ops->convergence_hint(system->scheme);
    yk_fail(system->context, YK_NOT_CONVERGED,
            "at t = %g s the scheme %s did not converge in %d iterations: the interface wrenches "
            "still change by %g (N, N m), the tolerance is %g; use %s",
            t, ops->name, report->iterations - 1, report->wrench_change, absolute, remedy);
}

yk_status yk_system_report_never_converges(yk_system *system, double t,
                                           const yk_step_report *report)
{
    const yk_scheme_ops *ops = system->scheme->ops;

    /* What helps is for the scheme to say. */
    const char *remedy = "more iterations";
    if (ops->convergence_hint)
        remedy = ops->convergence_hint(system->scheme);
    return yk_fail(
        system->context, YK_ERROR_DIVERGED,
        "at t = %g s the iterations of scheme %s do not converge, and no step mends that: at the "
        "smallest one (%g s) the interface wrenches still change by %g (N, N m); use %s, the "
        "scheme %s, or exchange the sides of the interface: the one that takes the motion cannot "
        "give way to a wall",
        t, ops->name, system->control.def.min_step, report->wrench_change, remedy,
        yk_scheme_name_with(YK_SCHEME_IS_FORCE_FORCE));
}
yk_status yk_system_check_finite(yk_system *system)
{
    for (int i = 0; i < system->participant_count; i++) {
        yk_participant *p = &system->participants[i];
        for (int port = 0; port < p->port_count; port++) {
            if (yk_port_value_finite(p->ports[port].kind, &p->values[port]))
                continue;

            /* The message of a failure, with the port where it shows. */
            p->status = YK_ERROR_NOT_FINITE;
            yk_status status = yk_system_report_failure(system, i);
            return yk_fail(system->context, status, "%s (port '%s')",
                           yk_last_message(system->context), p->ports[port].name);
        }
    }

    return YK_OK;
}

yk_status yk_system_report_start_gap(yk_system *system, const char *name,
                                     const yk_interface_gap *gap)
{
    /* Merged parts are assembled, for which a rough guess of their poses is enough. */
    bool merged = system->merging != NULL;
    if (gap->rotation > ROTATED && !merged)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s': its two markers start %.3g rad apart; give the interface "
                       "an axis or orientation, rotate one of the ports, or free that rotation",
                       name, gap->rotation);

    yk_log_level level = YK_LOG_WARNING;
    const char *who = "the first steps pull";
    const char *when = "the first step";
    if (merged) {
        level = YK_LOG_INFO;
        who = "the assembly pulls";
        when = "the start";
    }

    /* Whoever closes the gap does it at once: with a jerk, or with an impact. */
    if (gap->position > NOTABLE || gap->rotation > NOTABLE)
        yk_log(system->context, level,
               "interface '%s': its two sides start %.3g m and %.3g rad apart; %s them together",
               name, gap->position, gap->rotation, who);
    if (gap->velocity > NOTABLE_SPEED || gap->angular_velocity > NOTABLE_SPEED)
        yk_log(system->context, level,
               "interface '%s': its two sides start with velocities that differ by %.3g m/s and "
               "%.3g rad/s, which %s takes away like an impact; give both sides the same velocity "
               "at the start",
               name, gap->velocity, gap->angular_velocity, when);
    return YK_OK;
}

/* What it does where a macro step fails for a numerical reason -----------------------------------
 *
 * Halve: the step is taken back and repeated with half the size, again and again up to a limit.
 * The size that succeeded is kept for some steps, because what made one step fail is seldom over
 * after it, and solvers that remember steps answer every change of the size with an error; then it
 * is doubled, until it is the macro step again. Sizes are always the macro step by a power of two,
 * so that the parts of a macro step end where it ends.
 *
 * Fall back: the step is taken back and repeated with another scheme, with which the run goes on.
 * Both schemes live in one system, on one wiring: ports are connected once, so that both must give
 * interfaces the same. The second one begins as after an event, with nothing extrapolated.
 *
 * Everything that decides is part of the state image. So a run that is resumed, or taken back by
 * somebody else, goes on as it would have. */

/* Of halvings: a step of less than a millionth is beyond the resolution of what is simulated. */
enum { HALVINGS_MAX = 20, GOOD_STEPS_MAX = 1000000 };
/* Fraction of the step that a part may be longer to end with the step. */
static const double SLIVER = 1e-9;

yk_failure_policy yk_failure_policy_default(void)
{
    return (yk_failure_policy){.max_halvings = 10, .steps_before_doubling = 8};
}

/* The other scheme ----------------------------------------------------------------------------- */

/* The scheme that waits is put into use, and that in use waits. */
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

    /* A scheme marks the participants whose inputs it gives substep by substep. */
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
            .subsystem_index = {interface->def.wrench_subsystem, interface->def.motion_subsystem},
            .port = {interface->def.wrench_port, interface->def.motion_port},
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

    /* The substeps are those of the first one. */
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
    policy->failures.subsystem = -1;

    /* Halving is what step control does anyhow. */
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

    /* The second scheme is created as the first one was: as that of the system. */
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
    policy->failures = (yk_system_failures){.subsystem = -1};
    if (policy->fallen)
        exchange_schemes(system);
    policy->fallen = false;
    if (policy->def.action != YK_ON_FAILURE_FALLBACK)
        return YK_OK;

    /* The other scheme starts too, and what it then keeps is what it will begin with. */
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
    return system ? system->policy.failures : (yk_system_failures){.subsystem = -1};
}

static void count_failure(yk_system *system, double t, const char *reason)
{
    yk_system_failures *f = &system->policy.failures;
    f->last_time = t;
    if (f->count++ > 0)
        return;

    f->first_time = t;
    f->subsystem = system->failed;
    strncpy(f->first_message, reason, sizeof f->first_message - 1);
}

/* From here on with the other scheme, as it was at the start. */
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

    system->failed = -1;
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
        /* As much as is left, unless steps are halved now. */
        double h = left;
        double part = ldexp(system->step, -policy->level);
        if (part < left * (1 - SLIVER))
            h = part;

        system->failed = -1;
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

        if (!yk_step_can_be_mended(status) || policy->fallen)
            return status;
        if (halves && policy->level == policy->def.max_halvings)
            return yk_fail(system->context, status,
                           "%s; this is with the macro step halved %d times, to %g s",
                           yk_last_message(system->context), policy->level, part);

        /* Again from its start, which the state image knows, but not how often it was tried. */
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
