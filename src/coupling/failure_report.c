/* Messages about failures, and the data from which they are composed (yk_failure). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "coupling/energy_balance.h"
#include "coupling/failure.h"
#include "coupling/scheme_options.h"
#include "coupling/system.h"

/* Gap at the start (rad) above which the markers are rotated against each other, rather than misplaced by rounding or by a
 * rough guess. */
static const double ROTATED = 0.01;
/* Gaps (m, rad; m/s, rad/s) that cause a warning. */
static const double NOTABLE = 1e-6;
static const double NOTABLE_SPEED = 1e-5;

const char *yk_participant_message(const yk_participant *p)
{
    /* A subsystem whose results are not finite has no message of its own. */
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

/* A subsystem that receives impossible inputs fails last: values that grew without bounds may be caused by the coupling. */
static yk_failure diagnose(const yk_system *system, int participant, double t)
{
    const yk_participant *p = &system->participants[participant];
    yk_failure failure = {.status = p->status,
                          .time = t,
                          .step = system->step_count + 1,
                          .subsystem = {participant},
                          .interface = {-1},
                          .is_cause_known = true};

    bool numerical = p->status == YK_ERROR_NOT_FINITE || p->status == YK_ERROR_DIVERGED;
    bool alone = system->interface_count + system->wire_count == 0;
    if (!numerical || alone)
        return failure;

    double energy = 0;
    int interface = -1;
    if (yk_ledger_runaway(system, &failure.is_cause_known, &energy, &interface)) {
        failure.interface = (yk_interface_id){interface};
        failure.energy = energy;
    }
    return failure;
}

/* The remedy for an unstable coupling. Schemes with wrenches on both sides have no limit of the
 * mass ratio. */
static void describe_remedy(const yk_system *system, char *text, size_t capacity)
{
    if (system->traits & (YK_SCHEME_MERGES | YK_SCHEME_IS_FORCE_FORCE))
        yk_format(text, capacity, "use a smaller macro step");
    else
        yk_format(text, capacity, "use the scheme %s, or a smaller macro step",
                  yk_scheme_name_with(YK_SCHEME_IS_FORCE_FORCE));
}

/* The coupling created the energy: it is the cause, and is named first. The solver's own message is about the consequence and
 * its remedies do not help, so that only its status is given. */
static yk_status report_unstable_coupling(const yk_system *system, const yk_failure *failure,
                                          const char *remedy)
{
    char made[48] = "more energy than can be counted";
    if (isfinite(failure->energy))
        yk_format(made, sizeof made, "%.3g J of energy", failure->energy);
    const yk_interface *interface = &system->interfaces[failure->interface.index];

    /* Sides that had to jump to each other are a likely cause. */
    char start[120] = "";
    if (interface->start_gap.position > NOTABLE)
        yk_format(start, sizeof start,
                  "let its two sides, which are %.3g m apart at first, start in one place, or ",
                  interface->start_gap.position);
    return yk_fail(system->context, failure->status,
                   "the coupling is unstable: it created %s, most at interface '%s' between '%s' "
                   "and '%s', until subsystem '%s' could not make step %lld of scheme %s to "
                   "t = %g s (%s); %s%s",
                   made, interface->def.name, yk_interface_a(system, interface)->name,
                   yk_interface_b(system, interface)->name,
                   system->participants[failure->subsystem.index].name, (long long)failure->step,
                   yk_system_scheme_name(system), failure->time, yk_status_text(failure->status),
                   start, remedy);
}

yk_status yk_system_report_failure_at(yk_system *system, int participant, double t)
{
    /* The error of an algebraic loop has its message already. */
    yk_context *context = system->context;
    const yk_participant *p = &system->participants[participant];
    if (p->loop && YK_FAILED(p->loop->status))
        return p->loop->status;

    const char *why = yk_participant_message(p);
    if (p->failed_in_scheme)
        why = yk_last_message(context);
    const yk_failure failure = diagnose(system, participant, t);
    system->failure = failure;

    long long step = (long long)failure.step;
    if (system->interface_count + system->wire_count == 0)
        return yk_fail(context, p->status, "at t = %g s (step %lld) subsystem '%s' failed: %s", t,
                       step, p->name, why);

    char remedy[120];
    describe_remedy(system, remedy, sizeof remedy);
    if (failure.interface.index >= 0)
        return report_unstable_coupling(system, &failure, remedy);

    const char *scheme = yk_system_scheme_name(system);
    if (!failure.is_cause_known)
        return yk_fail(context, p->status,
                       "at t = %g s (step %lld of scheme %s) subsystem '%s' failed: %s; if the "
                       "coupling is unstable, %s",
                       t, step, scheme, p->name, why, remedy);
    return yk_fail(context, p->status,
                   "at t = %g s (step %lld of scheme %s) subsystem '%s' failed: %s", t, step,
                   scheme, p->name, why);
}

yk_failure yk_system_last_failure(const yk_system *system)
{
    if (!system)
        return (yk_failure){.subsystem = {-1}, .interface = {-1}};

    /* The participant of several merged subsystems stands for the first of them. */
    yk_failure failure = system->failure;
    for (int i = 0; failure.subsystem.index >= 0 && i < system->subsystem_count; i++) {
        if (system->parts[i].participant == system->failure.subsystem.index) {
            failure.subsystem = (yk_subsystem_id){i};
            break;
        }
    }
    return failure;
}

void yk_system_report_not_converged(yk_system *system, double t, const yk_step_report *report)
{
    const yk_scheme_ops *ops = system->scheme->ops;
    double absolute = 0;
    double relative = 0;
    if (ops->tolerances)
        ops->tolerances(system->options, &absolute, &relative);

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

    const char *remedy = "more iterations";
    if (ops->convergence_hint)
        remedy = ops->convergence_hint(system->scheme);
    return yk_fail(
        system->context, YK_ERROR_DIVERGED,
        "at t = %g s the iterations of scheme %s do not converge, and a smaller step does not "
        "help: at the "
        "smallest step (%g s) the interface wrenches still change by %g (N, N m); use %s, the "
        "scheme %s, or exchange the sides of the interface: a side with a prescribed motion cannot "
        "yield to a wall",
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

            /* The message of a failure, followed by the port. */
            p->status = YK_ERROR_NOT_FINITE;
            yk_status status = yk_system_report_failure(system, i);
            return yk_fail(system->context, status, "%s (port '%s')",
                           yk_last_message(system->context), p->ports[port].name);
        }
    }

    return YK_OK;
}

yk_status yk_system_report_start_gap(yk_system *system, const char *name,
                                     const yk_interface_gap *gap, bool prescribed)
{
    /* Merged parts are assembled from a rough guess of their poses. */
    bool merged = system->merging != NULL;
    if (gap->rotation > ROTATED && !merged)
        return yk_fail(system->context, YK_ERROR_ARGUMENT,
                       "interface '%s': its two markers start %.3g rad apart; give the interface "
                       "an axis or orientation, rotate one of the ports, or free that rotation",
                       name, gap->rotation);

    yk_log_level level = YK_LOG_WARNING;
    const char *who = "the first steps pull";
    const char *change = "the first step removes like an impact";
    if (prescribed)
        change = "the scheme removes without an impact, so that momentum is not conserved";
    if (merged) {
        level = YK_LOG_INFO;
        who = "the assembly pulls";
        change = "the start removes like an impact";
    }

    /* The gap is closed at once. */
    if (gap->position > NOTABLE || gap->rotation > NOTABLE)
        yk_log(system->context, level,
               "interface '%s': its two sides start %.3g m and %.3g rad apart; %s them together",
               name, gap->position, gap->rotation, who);
    if (gap->velocity > NOTABLE_SPEED || gap->angular_velocity > NOTABLE_SPEED)
        yk_log(system->context, level,
               "interface '%s': its two sides start with velocities that differ by %.3g m/s and "
               "%.3g rad/s, which %s; give both sides the same velocity at the start",
               name, gap->velocity, gap->angular_velocity, change);
    return YK_OK;
}
