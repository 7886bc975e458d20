/* From the option rows of schemes to the keys of a scenario, and back to their option structs.
 *
 * Keys of other schemes than the chosen one are checked like any other but not used, so that one
 * line changes the scheme. */
#include "model/coupling.h"

#include <math.h>
#include <string.h>

#include "model/scenario.h"
#include "model/schema_words.h"

/* Schemes -------------------------------------------------------------------------------------- */

const yk_scheme_ops *yk_schemes_at(const yk_schemes *schemes, int number)
{
    int count = 0;
    while (yk_scheme_at(count))
        count++;
    if (number < count)
        return yk_scheme_at(number);
    return number - count < schemes->own_count ? schemes->own[number - count] : NULL;
}

const yk_scheme_ops *yk_schemes_find(const yk_schemes *schemes, const char *name)
{
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(schemes, i)); i++)
        if (strcmp(ops->name, name) == 0)
            return ops;
    return NULL;
}

/* Fields --------------------------------------------------------------------------------------- */

static const yk_word *make_words(yk_store *store, const yk_option_word *words)
{
    size_t count = 0;
    while (words[count].word)
        count++;
    yk_word *made = yk_store_take(store, (count + 1) * sizeof *made);
    for (size_t i = 0; made && i < count; i++)
        made[i] = (yk_word){words[i].word, words[i].text};
    return made;
}

/* A choice that can be given by keys of its own. */
static const yk_section *make_form(yk_store *store, const yk_option *row)
{
    size_t count = 0;
    while (row->fields[count].key)
        count++;
    yk_field *fields = yk_store_take(store, (count + 1) * sizeof *fields);
    yk_section *section = yk_store_take(store, sizeof *section);
    if (!fields || !section)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const yk_option *inner = &row->fields[i];
        fields[i] = (yk_field){
            .key = inner->key, .type = YK_TYPE_NUMBER, .unit = inner->unit, .text = inner->text};
        fields[i].required = true;
        fields[i].range = (yk_range)YK_NOT_NEGATIVE;
    }
    *section = (yk_section){row->key, "Weights of their own; only the ratios matter.", fields};
    return section;
}

static bool make_field(yk_store *store, const yk_option *row, yk_field *field)
{
    static const yk_type types[] = {
        [YK_OPTION_NUMBER] = YK_TYPE_NUMBER,   [YK_OPTION_INTEGER] = YK_TYPE_INTEGER,
        [YK_OPTION_BOOLEAN] = YK_TYPE_BOOLEAN, [YK_OPTION_CHOICE] = YK_TYPE_CHOICE,
        [YK_OPTION_SUBSYSTEMS] = YK_TYPE_LIST,
    };
    static const yk_field subsystem = {"subsystems", YK_TYPE_TEXT, .text = "a subsystem"};
    *field = (yk_field){
        .key = row->key, .type = types[row->kind], .unit = row->unit, .refines = row->refines};
    field->text = row->text;

    bool bounded = row->least != 0 || row->most != 0;
    if (bounded)
        field->range = (yk_range){.low = row->least, .bounds = YK_LOW};
    if (bounded && isfinite(row->most)) {
        field->range.high = row->most;
        field->range.bounds |= YK_HIGH;
    }

    if (row->kind == YK_OPTION_SUBSYSTEMS) {
        field->most = YK_SUBSYSTEMS_MAX;
        field->item = &subsystem;
    }
    if (row->kind != YK_OPTION_CHOICE)
        return true;
    field->words = make_words(store, row->words);
    if (row->fields) {
        field->type = YK_TYPE_FORM;
        field->section = make_form(store, row);
    }
    return field->words && (!row->fields || field->section);
}

/* What a key means in every scheme: "tight, index1: ...; relaxed: ...". */
static const char *describe_key(yk_store *store, const yk_schemes *schemes, const char *key,
                                const char *column)
{
    yk_text text = {0};
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(schemes, i)); i++) {
        const yk_option *row = yk_scheme_option(ops, key);
        if (!row)
            continue;

        /* Schemes that say the same are named together, where the first of them comes. */
        bool said = false;
        for (int k = 0; k < i; k++) {
            const yk_option *earlier = yk_scheme_option(yk_schemes_at(schemes, k), key);
            said = said || (earlier && strcmp(earlier->text, row->text) == 0);
        }
        if (said)
            continue;
        yk_text_add(store->context, &text, "%s`%s`", text.length > 0 ? "; " : "", ops->name);
        for (int k = i + 1; yk_schemes_at(schemes, k); k++) {
            const yk_option *later = yk_scheme_option(yk_schemes_at(schemes, k), key);
            if (later && strcmp(later->text, row->text) == 0)
                yk_text_add(store->context, &text, ", `%s`", yk_schemes_at(schemes, k)->name);
        }
        yk_text_add(store->context, &text, ": %s", row->text);
        if (row->fallback && !row->derived && !column)
            yk_text_add(store->context, &text, " (`%s`)", row->fallback);
    }
    const char *kept = text.data ? yk_store_text(store, text.data, text.length) : NULL;
    yk_release(store->context, text.data);
    return kept;
}

/* The default that all schemes have for a key; NULL: they differ, or it follows from others. */
static const char *common_fallback(const yk_schemes *schemes, const char *key)
{
    const char *common = NULL;
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(schemes, i)); i++) {
        const yk_option *row = yk_scheme_option(ops, key);
        if (!row)
            continue;
        if (row->derived || !row->fallback)
            return NULL;
        if (common && strcmp(common, row->fallback) != 0)
            return NULL;
        common = row->fallback;
    }
    return common;
}

static bool is_known(const yk_field *fields, int count, const char *key)
{
    for (int i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0)
            return true;
    return false;
}

const yk_section *yk_coupling_section(yk_store *store, const yk_schemes *schemes,
                                      const yk_scheme_ops *chosen)
{
    const yk_scheme_ops *ops;
    size_t scheme_count = 0, row_count = 0;
    for (; (ops = yk_schemes_at(schemes, (int)scheme_count)); scheme_count++)
        for (const yk_option *row = ops->options; row && row->key; row++)
            row_count++;

    yk_section *section = yk_store_take(store, sizeof *section);
    yk_field *fields = yk_store_take(store, (row_count + 2) * sizeof *fields);
    yk_word *words = yk_store_take(store, (scheme_count + 1) * sizeof *words);
    if (!section || !fields || !words)
        return NULL;
    for (size_t i = 0; i < scheme_count; i++) {
        ops = yk_schemes_at(schemes, (int)i);
        words[i] = (yk_word){ops->name, ops->text};
    }
    fields[0] = (yk_field){
        .key = "scheme", .type = YK_TYPE_CHOICE, .fallback = words[0].word, .words = words};
    fields[0].text = "coupling scheme";

    int count = 1;
    for (size_t i = 0; i < scheme_count; i++) {
        ops = yk_schemes_at(schemes, (int)i);
        for (const yk_option *row = ops->options; row && row->key; row++) {
            if (is_known(fields, count, row->key))
                continue;
            const yk_option *own = chosen ? yk_scheme_option(chosen, row->key) : NULL;
            yk_field *field = &fields[count++];
            if (!make_field(store, own ? own : row, field))
                return NULL;
            if (own && !own->derived)
                field->fallback = own->fallback;
            if (chosen)
                continue;

            field->fallback = common_fallback(schemes, row->key);
            field->text = describe_key(store, schemes, row->key, field->fallback);
            if (!field->text)
                return NULL;
        }
    }
    *section = (yk_section){"coupling",
                            "How the subsystems are coupled. Keys of other schemes than the chosen "
                            "one are not used, so "
                            "that one line changes the scheme.",
                            fields};
    return section;
}

/* Values --------------------------------------------------------------------------------------- */

static void put_value(const yk_option *row, const yk_node *node, char *options)
{
    char *place = options + row->offset;
    int whole = (int)node->value;
    bool flag = node->choice != 0;
    switch (row->kind) {
    case YK_OPTION_NUMBER: memcpy(place, &node->value, sizeof node->value); break;
    case YK_OPTION_INTEGER: memcpy(place, &whole, sizeof whole); break;
    case YK_OPTION_BOOLEAN: memcpy(place, &flag, sizeof flag); break;
    case YK_OPTION_CHOICE:
        whole = node->choice;
        if (whole < 0)
            for (whole = 0; row->words[whole].word;)
                whole++;
        memcpy(place, &whole, sizeof whole);
        for (const yk_option *inner = row->fields; node->choice < 0 && inner->key; inner++)
            put_value(inner, yk_node_get(node, inner->key), options);
        break;
    case YK_OPTION_SUBSYSTEMS: break; /* when their names are known */
    }
}

/* A finer run of the same scenario has finer tolerances, those that it does not name too. */
static void refine_value(const yk_option *row, double refinement, char *options)
{
    double value;
    if (row->kind != YK_OPTION_NUMBER || row->refines == 0 || !(refinement > 0))
        return;
    memcpy(&value, options + row->offset, sizeof value);
    value *= pow(refinement, -row->refines);
    memcpy(options + row->offset, &value, sizeof value);
}

void yk_scenario_read_coupling(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node *coupling = yk_node_get(scenario->root, "coupling");
    const yk_node *interfaces = yk_node_get(scenario->root, "interfaces");
    if (!coupling && interfaces && interfaces->count > 0)
        yk_node_key_error(
            r->diagnostics, interfaces,
            "need a scheme: 'coupling' is missing, as in coupling: {scheme: explicit}");
    bool given = coupling && coupling->valid;

    /* The defaults of the chosen scheme. */
    const yk_scheme_ops *ops =
        yk_schemes_at(&scenario->schemes, given ? yk_node_choice(coupling, "scheme") : 0);
    char *options = yk_store_take(&scenario->store, ops->options_size + 1);
    if (!options) {
        r->status = YK_ERROR_MEMORY;
        return;
    }
    yk_scheme_fill(ops, options);
    scenario->info.scheme = (yk_scheme_def){.ops = ops, .options = options};
    scenario->options = options;
    if (!given)
        return;

    /* What is written, and what follows from it. */
    uint64_t written = 0;
    for (const yk_option *row = ops->options; row && row->key; row++) {
        const yk_node *node = yk_node_get(coupling, row->key);
        if (!node)
            continue;
        written |= (uint64_t)1 << (row - ops->options);
        put_value(row, node, options);
    }
    if (ops->derive)
        ops->derive(options, written);
    for (const yk_option *row = ops->options; row && row->key; row++)
        if (!(written >> (row - ops->options) & 1))
            refine_value(row, r->refinement, options);
    if (scenario->builder.to_rounding && ops->sharpen)
        ops->sharpen(options);

    yk_status status = yk_scheme_check(scenario->context, &scenario->info.scheme);
    if (status < 0)
        yk_node_error(r->diagnostics, coupling, "%s", yk_last_message(scenario->context));
    bool repeats = yk_scheme_traits(&scenario->info.scheme) & YK_SCHEME_NEEDS_ROLLBACK;
    scenario->builder.repeats = repeats || scenario->info.control.tolerance > 0;
}

void yk_scenario_read_subsystem_lists(yk_scenario *scenario)
{
    const yk_node *coupling = yk_node_get(scenario->root, "coupling");
    int count = scenario->info.subsystem_count;
    const yk_option *row = scenario->info.scheme.ops->options;
    for (; coupling && coupling->valid && row && row->key; row++) {
        const yk_node *list = yk_node_get(coupling, row->key);
        if (row->kind != YK_OPTION_SUBSYSTEMS || !list || list->count == 0)
            continue;
        int *items = yk_store_take(&scenario->store, (size_t)list->count * sizeof *items);
        if (!items) {
            scenario->resolver.status = YK_ERROR_MEMORY;
            return;
        }

        yk_subsystem_list found = {.items = items};
        for (const yk_node *item = list->first; item; item = item->next) {
            int index = yk_find_name(scenario->names, count, item->text);
            if (index < 0)
                yk_node_error(scenario->resolver.diagnostics, item,
                              "there is no subsystem '%s'; %s", item->text,
                              yk_suggestion(item->text, scenario->names, count).text);
            else
                items[found.count++] = index;
        }
        memcpy(scenario->options + row->offset, &found, sizeof found);
    }
}
