/* The schemes that are worth trying, as changes of a scenario: what the schemes themselves offer
 * (yk_scheme_variant). */
#ifndef YK_ANALYSIS_CANDIDATES_H
#define YK_ANALYSIS_CANDIDATES_H

#include "yoke/analysis.h"

enum { YK_CHOICES_MAX = 32, YK_CHOICE_OPTIONS = 6 };

/* A variant of a scheme, as "coupling.scheme=tight", "coupling.acceleration=quasi-newton", ... */
typedef struct yk_choice {
    const yk_scheme_ops *scheme;
    const yk_scheme_variant *variant; /* NULL: the scheme as it is */
    const char *name;
    char changes[YK_CHOICE_OPTIONS + 1][64];
    int change_count;
} yk_choice;

/* The variants that serve a purpose, the cheapest first; returns their number. */
int yk_choices(unsigned purpose, yk_choice *list);
/* All candidates for advice: the variants that schemes offer for it, and schemes that offer none
 * as they are. */
int yk_candidates(yk_choice *list);

/* The first scheme of the library that has a trait. */
const yk_scheme_ops *yk_scheme_with(unsigned trait);
/* Whether the subsystems and ports of a scenario have what a scheme needs. */
bool yk_scheme_fits(const yk_scheme_ops *scheme, const yk_scenario_info *info);

/* Offers a choice as the remedy of a finding: a change of the scheme, or where that is the same,
 * of its first option. */
void yk_choice_offer(const yk_choice *choice, const yk_scenario_info *info, yk_finding *finding);
/* The scenario's block that it amounts to: "coupling: {scheme: tight, acceleration: aitken}". */
void yk_candidate_block(const yk_variant *variant, char *text, size_t capacity);

#endif
