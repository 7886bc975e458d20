/* Failures of steps: the policy (failure_policy.c) and the messages (failure_report.c). */
#ifndef YK_COUPLING_FAILURE_H
#define YK_COUPLING_FAILURE_H

#include "coupling/system.h"

/* Create the policy after the scheme of the system. Start it before the scheme. */
yk_status yk_policy_create(yk_system *system, const yk_failure_policy *def);
yk_status yk_policy_start(yk_system *system);
void yk_policy_destroy(yk_system *system);
/* Like yk_controller_step(), but repeats a failed step according to the policy. */
yk_status yk_policy_step(yk_system *system, double t, double left, double *taken,
                         yk_step_report *report);
/* The policy's part of the state image. yk_policy_set() also selects the scheme that was in use,
 * and returns false if the words are not those of a policy of this system. */
void yk_policy_get(const yk_system *system, double words[YK_POLICY_WORDS]);
bool yk_policy_set(yk_system *system, const double words[YK_POLICY_WORDS]);

static inline bool yk_policy_repeats(const yk_system *system)
{
    return system->policy.def.action != YK_ON_FAILURE_STOP;
}

/* The message of a participant about its last status. */
const char *yk_participant_message(const yk_participant *participant);
/* Like yk_system_report_failure(), for a time other than the end of the step. */
yk_status yk_system_report_failure_at(yk_system *system, int participant, double t);
/* Sets the message of a step whose iterations reached their limit, or the error of a step that
 * fails with the smallest size. */
void yk_system_report_not_converged(yk_system *system, double t, const yk_step_report *report);
yk_status yk_system_report_never_converges(yk_system *system, double t,
                                           const yk_step_report *report);
/* Checks that all outputs are finite; an error names the port. */
yk_status yk_system_check_finite(yk_system *system);
/* Warns of a gap between the two sides of an interface at the start, and rejects markers that are
 * rotated against each other. `prescribed`: the scheme moves one side like the other. */
yk_status yk_system_report_start_gap(yk_system *system, const char *name,
                                     const yk_interface_gap *gap, bool prescribed);

#endif
