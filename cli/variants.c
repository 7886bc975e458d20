#include "variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(variant_list *list, const char *text)
{
    fprintf(stderr,
            "yoke: --variant '%s': write NAME;PATH=VALUE;PATH=VALUE, such as "
            "\"lazy;coupling.scheme=tight;coupling."
            "iterations=0\" (at most %d variants with %d values each)\n",
            text, VARIANTS_MAX, VARIANT_OVERRIDES_MAX);
    variants_free(list);
    return false;
}

/* Cuts the text at its semicolons. */
static bool add_variant(variant_list *list, const char *text)
{
    if (list->count == VARIANTS_MAX)
        return refuse(list, text);
    int index = list->count++;
    char *copy = list->texts[index] = strdup(text);
    yk_variant *v = &list->items[index];
    *v = (yk_variant){.name = copy, .overrides = list->overrides[index]};
    for (char *at = copy ? strchr(copy, ';') : NULL; at; at = strchr(at, ';')) {
        *at++ = '\0';
        if (v->override_count == VARIANT_OVERRIDES_MAX || !strchr(at, '='))
            return refuse(list, text);
        list->overrides[index][v->override_count++] = at;
    }
    return copy && *copy ? true : refuse(list, text);
}

static bool add_schemes(variant_list *list, const char *schemes)
{
    const char *words[32] = {NULL};
    for (int i = 0; yk_scheme_at(i) && i < 31; i++)
        words[i] = yk_scheme_at(i)->name;
    while (schemes && *schemes) {
        size_t length = strcspn(schemes, ",");
        char word[40], text[160];
        int index;
        snprintf(word, sizeof word, "%.*s", (int)length, schemes);
        if (!options_pick("schemes", word, words, &index)) {
            variants_free(list);
            return false;
        }
        snprintf(text, sizeof text, "%s;coupling.scheme=%s", word, word);
        if (!add_variant(list, text))
            return false;
        schemes += length + (schemes[length] == ',');
    }
    return true;
}

bool variants_read(const char *schemes, const option_list *variants, variant_list *out)
{
    *out = (variant_list){0};
    if (!add_schemes(out, schemes))
        return false;
    for (int i = 0; i < variants->count; i++)
        if (!add_variant(out, variants->items[i]))
            return false;
    return true;
}

void variants_free(variant_list *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->texts[i]);
    list->count = 0;
}
