/* What a system says where something is wrong while it runs; see failure.c. */
#ifndef YK_COUPLING_FAILURE_H
#define YK_COUPLING_FAILURE_H

#include "coupling/system.h"

/* What a participant says of its last status. */
const char *yk_participant_message(const yk_participant *participant);
/* An error of a participant at a time of its own; yk_system_report_failure is at the end of the
 * step. */
yk_status yk_system_report_failure_at(yk_system *system, int participant, double t);
/* Whether all outputs are finite, with an error that names the port. */
yk_status yk_system_check_finite(yk_system *system);
/* Warns of a gap between two sides at the start, and refuses markers that are turned against each
 * other. */
yk_status yk_system_report_start_gap(yk_system *system, const char *name,
                                     const yk_interface_error *gap);
/* The first scheme of the library that has a trait, for messages that recommend it. */
const char *yk_scheme_name_with(unsigned trait);

#endif
