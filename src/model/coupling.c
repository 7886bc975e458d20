/* From the option rows of schemes to the keys of a scenario, and back to their option structs.
 *
 * Keys of other schemes than the chosen one are checked like any other but not used, so that one
 * line changes the scheme. */
#include "model/scenario.h"

#include <math.h>
#include <string.h>

/* Schemes -------------------------------------------------------------------------------------- */

const yk_scheme_ops *yk_schemes_at(const yk_extensions *extensions, int number)
{
    /* Those of the library are counted first. */
    int count = 0;
    while (yk_scheme_at(count))
        count++;
    if (number < count)
        return yk_scheme_at(number);
    if (number - count < extensions->scheme_count)
        return extensions->schemes[number - count];

    return NULL;
}

const yk_scheme_ops *yk_schemes_find(const yk_extensions *extensions, const char *name)
{
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(extensions, i)); i++)
        if (strcmp(ops->name, name) == 0)
            return ops;
    return NULL;
}

/* Fields --------------------------------------------------------------------------------------- */

/* What a key means in every scheme: "tight, index1: ...; relaxed: ...". */
static const char *describe_key(yk_store *store, const yk_extensions *extensions, const char *key,
                                bool with_defaults)
{
    yk_context *context = store->context;
    yk_text text = {0};
    const yk_scheme_ops *ops;

    for (int i = 0; (ops = yk_schemes_at(extensions, i)); i++) {
        const yk_option *row = yk_scheme_option(ops, key);
        if (!row)
            continue;

        /* Schemes that say the same are named together, where the first of them comes. */
        bool said = false;
        for (int k = 0; k < i; k++) {
            const yk_option *earlier = yk_scheme_option(yk_schemes_at(extensions, k), key);
            said = said || (earlier && strcmp(earlier->text, row->text) == 0);
        }
        if (said)
            continue;

        /* "`tight`, `index1`: what it means (`default`)" */
        if (text.length > 0)
            yk_text_add(context, &text, "; ");

        yk_text_add(context, &text, "`%s`", ops->name);
        const yk_scheme_ops *other;
        for (int k = i + 1; (other = yk_schemes_at(extensions, k)); k++) {
            const yk_option *later = yk_scheme_option(other, key);
            if (later && strcmp(later->text, row->text) == 0)
                yk_text_add(context, &text, ", `%s`", other->name);
        }

        yk_text_add(context, &text, ": %s", row->text);
        if (row->fallback && !row->derived && with_defaults)
            yk_text_add(context, &text, " (`%s`)", row->fallback);
    }

    /* The field outlives this text. */
    const char *kept = NULL;
    if (text.data)
        kept = yk_store_text(store, text.data, text.length);

    yk_release(context, text.data);
    return kept;
}

/* The default that all schemes have for a key; NULL: they differ, or it follows from others. */
static const char *common_fallback(const yk_extensions *extensions, const char *key)
{
    const char *common = NULL;
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(extensions, i)); i++) {
        const yk_option *row = yk_scheme_option(ops, key);
        if (!row)
            continue;

        /* A default that follows from other options is no common one. */
        if (row->derived || !row->fallback)
            return NULL;
        if (common && strcmp(common, row->fallback) != 0)
            return NULL;

        common = row->fallback;
    }

    return common;
}

const yk_section *yk_coupling_section(yk_store *store, const yk_extensions *extensions,
                                      const yk_scheme_ops *chosen)
{
    const yk_scheme_ops *ops;

    /* Memory for as many keys as there are rows; schemes share most of them. */
    size_t scheme_count = 0;
    size_t row_count = 0;
    for (; (ops = yk_schemes_at(extensions, (int)scheme_count)); scheme_count++)
        for (const yk_option *row = ops->options; row && row->key; row++)
            row_count++;

    yk_section *section = yk_store_take(store, sizeof *section);
    yk_field *fields = yk_store_take(store, (row_count + 2) * sizeof *fields);
    yk_word *words = yk_store_take(store, (scheme_count + 1) * sizeof *words);
    if (!section || !fields || !words)
        return NULL;

    /* The key `scheme`, with a word for each. */
    for (size_t i = 0; i < scheme_count; i++) {
        ops = yk_schemes_at(extensions, (int)i);
        words[i] = (yk_word){ops->name, ops->text};
    }

    fields[0] = (yk_field){.key = "scheme", .type = YK_TYPE_CHOICE, .text = "coupling scheme"};
    fields[0].fallback = words[0].word;
    fields[0].words = words;

    /* Keys of all schemes, each once: those of other schemes are checked too. */
    int count = 1;
    for (size_t i = 0; i < scheme_count; i++) {
        ops = yk_schemes_at(extensions, (int)i);
        for (const yk_option *row = ops->options; row && row->key; row++) {
            bool known = false;
            for (int k = 0; k < count; k++)
                known = known || strcmp(fields[k].key, row->key) == 0;
            if (known)
                continue;

            /* As the chosen scheme has it. */
            const yk_option *own = chosen ? yk_scheme_option(chosen, row->key) : NULL;
            yk_field *field = &fields[count++];
            if (!yk_option_field(store, own ? own : row, field))
                return NULL;
            if (own && !own->derived)
                field->fallback = own->fallback;
            if (chosen)
                continue;

            /* As documentation. */
            field->fallback = common_fallback(extensions, row->key);
            field->text = describe_key(store, extensions, row->key, !field->fallback);
            if (!field->text)
                return NULL;
        }
    }

    *section = (yk_section){"coupling",
                            "How the subsystems are coupled. Keys of other schemes than the chosen "
                            "one are not used, so that one line changes the scheme.",
                            fields};

    return section;
}

/* Values --------------------------------------------------------------------------------------- */

void yk_scenario_read_coupling(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node *coupling = yk_node_get(scenario->root, "coupling");
    const yk_node *interfaces = yk_node_get(scenario->root, "interfaces");
    if (!coupling && interfaces && interfaces->count > 0)
        yk_node_key_error(r->diagnostics, interfaces,
                          "need a scheme: 'coupling' is missing, as in coupling: {scheme: "
                          "explicit}");

    /* The defaults of the chosen scheme. */
    bool given = coupling && coupling->valid;
    int chosen = given ? yk_node_choice(coupling, "scheme") : 0;
    const yk_scheme_ops *ops = yk_schemes_at(&scenario->extensions, chosen);
    char *options = yk_resolver_take(r, ops->options_size + 1);
    if (!options)
        return;

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
        yk_status status = yk_option_read(&scenario->builder, row, node, options);
        if (status != YK_OK) {
            r->status = status;
            return;
        }
    }

    if (ops->derive)
        ops->derive(options, written);

    /* A finer run of the same scenario has finer tolerances, those that it does not name too. */
    for (const yk_option *row = ops->options; row && row->key; row++) {
        bool named = written >> (row - ops->options) & 1;
        bool refines = row->kind == YK_OPTION_NUMBER && row->refines != 0;
        if (named || !refines || !(r->refinement > 0))
            continue;

        double value;
        memcpy(&value, options + row->offset, sizeof value);
        value *= pow(r->refinement, -row->refines);
        memcpy(options + row->offset, &value, sizeof value);
    }

    if (scenario->builder.to_rounding && ops->sharpen)
        ops->sharpen(options);

    /* What does not fit together is the scheme's to say. */
    if (yk_scheme_check(scenario->context, &scenario->info.scheme) != YK_OK)
        yk_node_error(r->diagnostics, coupling, "%s", yk_last_message(scenario->context));

    /* Solvers are to leave less than repetitions resolve. */
    bool repeats = yk_scheme_traits(&scenario->info.scheme) & YK_SCHEME_NEEDS_ROLLBACK;
    scenario->builder.repeats = repeats || scenario->info.control.tolerance > 0;
}

void yk_scenario_read_subsystem_lists(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node *coupling = yk_node_get(scenario->root, "coupling");
    if (!coupling || !coupling->valid)
        return;

    int count = scenario->info.subsystem_count;
    const yk_option *rows = scenario->info.scheme.ops->options;
    for (const yk_option *row = rows; row && row->key; row++) {
        const yk_node *list = yk_node_get(coupling, row->key);
        if (row->kind != YK_OPTION_SUBSYSTEMS || !list || list->count == 0)
            continue;

        /* The options keep a pointer to the list, which lives as long as the scenario. */
        int *items = yk_resolver_take(r, (size_t)list->count * sizeof *items);
        if (!items)
            return;

        /* Names to numbers. */
        yk_subsystem_list found = {.items = items};
        for (const yk_node *item = list->first; item; item = item->next) {
            int index = yk_find_name(scenario->names, count, item->text);
            if (index < 0)
                yk_node_error(r->diagnostics, item, "there is no subsystem '%s'; %s", item->text,
                              yk_suggest_name(item->text, scenario->names, count).text);
            else
                items[found.count++] = index;
        }

        memcpy(scenario->options + row->offset, &found, sizeof found);
    }
}
