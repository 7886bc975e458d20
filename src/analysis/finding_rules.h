/* The rules of all findings: one row per kind with its quantity, thresholds, reason and words.
 *
 * To add a finding, add an enumerator to yk_finding_kind, a row to the table in finding_rules.c and
 * the function that measures it to findings.c. The name in records, the message, the table in
 * docs/trust.md and the thresholds in records follow from the row. */
#ifndef YK_ANALYSIS_FINDING_RULES_H
#define YK_ANALYSIS_FINDING_RULES_H

#include "yoke/analysis.h"

/* The words for one cause of a finding. A template names figures of the finding in braces:
 * {name} with three digits, {name%} in percent, {name#} as an integer, {name@} as a time. Other
 * names are {interface}, {wrench_side}, {motion_side}, {subsystem}, {detail}, {time}, {value} and
 * {limit}. */
typedef struct yk_finding_words {
    yk_finding_cause cause;
    const char *text;
} yk_finding_words;

enum { YK_FINDING_WORDS_MAX = 6 };

/* When a finding is serious. */
typedef enum yk_severity_rule {
    YK_SERIOUS_ABOVE_THRESHOLD,
    YK_SERIOUS_ALWAYS,
    YK_SERIOUS_NEVER,
    /* A cause that is known before the run: serious if the run has another serious finding. */
    YK_SERIOUS_IF_RUN_IS_WRONG
} yk_severity_rule;

typedef struct yk_finding_rule {
    yk_finding_kind kind;
    const char *name;     /* in records and documents */
    const char *meaning;  /* one sentence for the table of docs/trust.md */
    const char *quantity; /* what `value` is, with its unit */
    const char *scale;    /* what the quantity is compared with; "" if with nothing */
    /* Reported above `warning`, serious above `serious`, as fractions of the scale; NAN: none. */
    double warning, serious;
    yk_severity_rule severity;
    /* The finding is indirect evidence: a small estimated error of the whole run outweighs it. */
    bool is_indirect;
    const char *reason; /* for the thresholds */
    yk_finding_words words[YK_FINDING_WORDS_MAX];
} yk_finding_rule;

const yk_finding_rule *yk_finding_rule_of(yk_finding_kind kind);

/* Composes the message of a finding from its figures. The scenario gives the names of interfaces
 * and subsystems. */
void yk_finding_describe(const yk_scenario_info *info, yk_finding *finding);

/* The table of findings in docs/trust.md as Markdown; release with yk_free. NULL: out of memory. */
char *yk_finding_rules_markdown(yk_context *context);

#endif
