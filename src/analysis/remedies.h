/* What was found in a run, and what can be done about it: values of the scenario that may be
 * changed, and the schemes that are worth trying, which schemes themselves offer
 * (yk_scheme_variant). What is recommended was tried, where that is asked for. */
#ifndef YK_ANALYSIS_REMEDIES_H
#define YK_ANALYSIS_REMEDIES_H

#include "yoke/analysis.h"

/* "coupling.scheme=tight": values that differ from the scenario's, applied in order. */
enum { YK_CHANGES_MAX = 12, YK_CHANGE_TEXT = 200 };

typedef struct yk_changes {
    int count;
    char texts[YK_CHANGES_MAX][YK_CHANGE_TEXT];
} yk_changes;

void yk_changes_add(yk_changes *changes, const char *format, ...) YK_PRINTF(2, 3);

/* A variant of a scheme, as "coupling.scheme=tight", "coupling.acceleration=quasi-newton", ... */
typedef struct yk_choice {
    const yk_scheme_ops *scheme;
    const yk_scheme_variant *variant; /* NULL: the scheme as it is */
    const char *name;
} yk_choice;

/* The changes of a choice: first the scheme, then the options of the variant. */
yk_changes yk_choice_changes(const yk_choice *choice);

enum { YK_CHOICES_MAX = 32 };

/* The variants that serve a purpose, the cheapest first; returns their number. */
int yk_choices(unsigned purpose, yk_choice *list);
/* All candidates for advice: the variants that schemes offer for it, and schemes that offer none
 * as they are. */
int yk_candidates(yk_choice *list);
/* The traits of the scheme with the options of the variant. */
unsigned yk_choice_traits(yk_context *context, const yk_choice *choice);

/* The first scheme of the library that has a trait. */
const yk_scheme_ops *yk_scheme_with(unsigned trait);
/* Whether the subsystems and ports of a scenario have what a scheme needs. */
bool yk_scheme_fits(const yk_scheme_ops *scheme, const yk_scenario_info *info);

/* A finding of the whole run with its value, the limit of its rule, and the severity that follows
 * from both. */
yk_finding yk_finding_of(yk_finding_kind kind, yk_finding_cause cause, double value);
/* Adds a number for the message. */
void yk_finding_set(yk_finding *finding, const char *name, double value);
/* Appends it to the report; a full report drops it. */
void yk_finding_add(yk_run_report *report, const yk_finding *finding);

/* Add a remedy to a finding. The changes belong together; those
 * of a choice leave out a scheme that the scenario has already. `kind`: of a remedy without
 * changes. */
void yk_finding_change(yk_finding *finding, const yk_changes *changes);
void yk_finding_choice(yk_finding *finding, const yk_choice *choice, const yk_scenario_info *info);
void yk_finding_scheme(yk_finding *finding, const yk_scheme_ops *scheme);
void yk_finding_search(yk_finding *finding, yk_remedy_kind kind);

/* Tries the remedies of serious findings on the source of the run's scenario, within a time that
 * its own duration sets: those that help are left, with a shorter step where that is needed. */
void yk_remedies_try(yk_context *context, const yk_scenario_info *info, const yk_run_options *run,
                     yk_run_report *report);

#endif
