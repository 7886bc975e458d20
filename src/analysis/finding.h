/* Findings of a run are written in one style: the cause first, then the remedies. */
#ifndef YK_ANALYSIS_FINDING_H
#define YK_ANALYSIS_FINDING_H

#include "yoke/analysis.h"

/* Adds a finding with its cause in words, without a full stop. NULL when the report has no room
 * left. */
yk_finding *yk_finding_add(yk_run_report *report, yk_finding_kind kind, bool serious, int interface,
                           double value, const char *format, ...) YK_PRINTF(6, 7);

/* Adds a remedy: its overrides as one string, "coupling.scheme=tight
 * coupling.acceleration=aitken", separated by spaces outside of brackets; "" if it is nothing
 * that an override can do. Its words end the text: "...; use A, or use B". Nothing happens where
 * the finding is NULL. */
void yk_finding_remedy(yk_finding *finding, const char *overrides, const char *format, ...)
    YK_PRINTF(3, 4);

#endif
