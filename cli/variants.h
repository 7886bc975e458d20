/* Variants of a scenario from the command line: schemes by name, or any changes. */
#ifndef YOKE_CLI_VARIANTS_H
#define YOKE_CLI_VARIANTS_H

#include "options.h"
#include "yoke/analysis.h"

enum { VARIANTS_MAX = 32, VARIANT_OVERRIDES_MAX = 16 };

typedef struct variant_list {
    int count;
    yk_variant items[VARIANTS_MAX];
    const char *overrides[VARIANTS_MAX][VARIANT_OVERRIDES_MAX];
    char *texts[VARIANTS_MAX]; /* what the items point into */
} variant_list;

/* "explicit,tight" and a list of "name;path=value;path=value". False, and nothing to free, after
 * a message. */
bool variants_read(const char *schemes, const option_list *variants, variant_list *out);
void variants_free(variant_list *list);

#endif
