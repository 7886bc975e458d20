/* What a system says where something is wrong while it runs: what happened, when, and what
 * helps. */
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    if (ops->message)
        message = ops->message(p->subsystem);
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
    system->failed = participant;
    yk_context *context = system->context;
    const yk_participant *p = &system->participants[participant];
    const char *why = yk_participant_message(p);
    const char *scheme = yk_system_scheme_name(system);
    long long step = (long long)system->step_count + 1;

    /* Alone, it can only be its own fault. */
    if (system->interface_count + system->wire_count == 0)
        return yk_fail(context, p->status, "at t = %g s (step %lld) subsystem '%s' failed: %s", t,
                       step, p->name, why);

    /* A subsystem that is asked for the impossible fails last: numbers that grew without bounds
     * may be the coupling's. */
    bool numerical = p->status == YK_ERROR_NOT_FINITE || p->status == YK_ERROR_DIVERGED;
    yk_runaway run = {.known = true};
    if (numerical)
        run = yk_ledger_runaway(system);

    /* What carries a coupling that ran away: wrenches on both sides know no limit of masses or
     * steps. */
    char remedy[120] = "use a smaller macro step";
    if (!(system->traits & (YK_SCHEME_MERGES | YK_SCHEME_WRENCH_ON_BOTH_SIDES)))
        snprintf(remedy, sizeof remedy, "use the scheme %s, or a smaller macro step",
                 yk_scheme_name_with(YK_SCHEME_WRENCH_ON_BOTH_SIDES));

    /* Energy that the coupling made is the cause, and named first. */
    if (run.found && run.interface >= 0) {
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
        if (isfinite(run.made))
            snprintf(made, sizeof made, "%.3g J of nothing", run.made);
        const yk_interface *interface = &system->interfaces[run.interface];
        const char *a = yk_interface_a(system, interface)->name;
        const char *b = yk_interface_b(system, interface)->name;

        /* Sides that had to jump to each other are the first suspects. */
        char start[120] = "";
        if (interface->start_gap > NOTABLE)
            snprintf(start, sizeof start,
                     "let its two sides, which are %.3g m apart at first, start in one place, or ",
                     interface->start_gap);
        return yk_fail(context, p->status,
                       "the coupling is unstable: it made %s, most at interface '%s' between '%s' "
                       "and '%s', until subsystem '%s' could not make step %lld of scheme %s to "
                       "t = %g s (%.*s); %s%s",
                       made, interface->def.name, a, b, p->name, step, scheme, t, length, why,
                       start, remedy);
    }

    /* Where energies are not known, nobody can say which of the two it was. */
    if (numerical && !run.known)
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
    if (ops->remedy)
        remedy = ops->remedy(system->scheme);
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
    if (ops->remedy)
        remedy = ops->remedy(system->scheme);
    return yk_fail(
        system->context, YK_ERROR_DIVERGED,
        "at t = %g s the iterations of scheme %s do not converge, and no step mends that: at the "
        "smallest one (%g s) the interface wrenches still change by %g (N, N m); use %s, the "
        "scheme %s, or exchange the sides of the interface: the one that takes the motion cannot "
        "give way to a wall",
        t, ops->name, system->control.def.smallest, report->wrench_change, remedy,
        yk_scheme_name_with(YK_SCHEME_WRENCH_ON_BOTH_SIDES));
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
                                     const yk_interface_error *gap)
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
