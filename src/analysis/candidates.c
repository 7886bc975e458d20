#include "analysis/candidates.h"

#include <stdio.h>
#include <string.h>

#include "model/scenario.h"

enum { FORMS_MAX = 3 };

typedef struct form {
    const char *name;
    const char *overrides[FORMS_MAX + 1];
} form;

static const form forms[] = {
    {"monolithic", {"coupling.scheme=monolithic"}},
    {"explicit, forces", {"coupling.scheme=explicit", "coupling.order=gauss-seidel", "coupling.exchange=auto"}},
    {"explicit, index-1", {"coupling.scheme=explicit", "coupling.order=gauss-seidel", "coupling.inputs=index-1"}},
    {"explicit, index-2", {"coupling.scheme=explicit", "coupling.order=gauss-seidel", "coupling.inputs=index-2"}},
    {"explicit, index-3", {"coupling.scheme=explicit", "coupling.order=gauss-seidel", "coupling.inputs=index-3"}},
    {"explicit, original", {"coupling.scheme=explicit", "coupling.order=gauss-seidel", "coupling.inputs=original"}},
    {"explicit, jacobi", {"coupling.scheme=explicit", "coupling.order=jacobi", "coupling.inputs=index-1"}},
    {"tight", {"coupling.scheme=tight", "coupling.acceleration=none"}},
    {"tight, aitken", {"coupling.scheme=tight", "coupling.acceleration=aitken"}},
    {"tight, quasi-newton", {"coupling.scheme=tight", "coupling.acceleration=quasi-newton"}},
    {"loose", {"coupling.scheme=loose"}},
    {"index1, degree 2", {"coupling.scheme=index1", "coupling.degree=2"}},
    {"index1, degree 3", {"coupling.scheme=index1", "coupling.degree=3"}},
};

enum { FORM_COUNT = sizeof forms / sizeof *forms };

static const yk_word *scheme_words(void)
{
    const yk_field *field = yk_scenario_section.fields;
    while (field->key && strcmp(field->key, "coupling") != 0) field++;
    if (!field->key) return NULL;
    const yk_field *inner = field->section->fields;
    while (inner->key && strcmp(inner->key, "scheme") != 0) inner++;
    return inner->key ? inner->words : NULL;
}

static bool is_listed(const char *word)
{
    const char *prefix = "coupling.scheme=";
    for (int i = 0; i < FORM_COUNT; i++)
        if (strcmp(forms[i].overrides[0] + strlen(prefix), word) == 0) return true;
    return false;
}

int yk_candidates(const yk_variant **list, yk_variant *room, const char **overrides, char (*texts)[64])
{
    int count = 0, used = 0, written = 0;
    for (; count < FORM_COUNT; count++) {
        room[count] = (yk_variant){.name = forms[count].name, .overrides = forms[count].overrides};
        while (forms[count].overrides[room[count].override_count]) room[count].override_count++;
    }
    for (const yk_word *word = scheme_words(); word && word->word && count < YK_ADVICE_MAX; word++) {
        if (is_listed(word->word)) continue;
        snprintf(texts[written], sizeof *texts, "coupling.scheme=%s", word->word);
        overrides[used] = texts[written++];
        room[count++] = (yk_variant){.name = word->word, .overrides = &overrides[used++], .override_count = 1};
    }
    *list = room;
    return count;
}

void yk_candidate_block(const yk_variant *variant, char *text, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; i <= variant->override_count && used < capacity; i++) {
        bool last = i == variant->override_count;
        const char *key = last ? "" : variant->overrides[i] + strlen("coupling."), *equals = strchr(key, '=');
        int added = last ? snprintf(text + used, capacity - used, "}")
                         : snprintf(text + used, capacity - used, "%s%.*s: %s", i ? ", " : "coupling: {",
                                    (int)(equals - key), key, equals + 1);
        used += added > 0 ? (size_t)added : 0;
    }
}
