/* The schemes that are worth trying, as changes of a scenario. */
#ifndef YK_ANALYSIS_CANDIDATES_H
#define YK_ANALYSIS_CANDIDATES_H

#include "yoke/analysis.h"

/* The known ones in their sensible forms, and every other scheme that the scenario's schema has, as it is. Returns their
 * number; at most YK_ADVICE_MAX are listed. */
int yk_candidates(const yk_variant **list, yk_variant *room, const char **overrides, char (*texts)[64]);

/* The scenario's block that they amount to: "coupling: {scheme: tight, acceleration: aitken}". */
void yk_candidate_block(const yk_variant *variant, char *text, size_t capacity);

#endif
