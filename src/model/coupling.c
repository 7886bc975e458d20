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

/* Option rows ---------------------------------------------------------------------------------- */

/* As keys of a scenario: the fields of the schema that they stand for, and from resolved nodes back
 * into the structs that they describe. */

static int count_rows(const yk_option *rows)
{
    int count = 0;
    while (rows && rows[count].key)
        count++;
    return count;
}

/* The field of a row, without its default; it lives in the store; false when out of memory. */
static bool field_of_row(yk_store *store, const yk_option *row, yk_field *field)
{
    static const int types[] = {
        [YK_OPTION_NUMBER] = YK_TYPE_NUMBER,     [YK_OPTION_INTEGER] = YK_TYPE_INTEGER,
        [YK_OPTION_BOOLEAN] = YK_TYPE_BOOLEAN,   [YK_OPTION_CHOICE] = YK_TYPE_CHOICE,
        [YK_OPTION_SUBSYSTEMS] = YK_TYPE_LIST,   [YK_OPTION_TEXT] = YK_TYPE_TEXT,
        [YK_OPTION_PATH] = YK_TYPE_PATH,         [YK_OPTION_NUMBERS] = YK_TYPE_NUMBERS,
        [YK_OPTION_FUNCTION] = YK_TYPE_FUNCTION,
    };

    /* What all kinds have. */
    static const yk_field subsystem = {"subsystems", YK_TYPE_TEXT, .text = "a subsystem"};
    *field = (yk_field){.key = row->key,
                        .type = types[row->kind],
                        .unit = row->unit,
                        .refines = row->refinement_exponent};
    field->text = row->description;
    field->required = row->required;

    /* Ranges: both bounds zero are none, and an infinite upper one is not written out. */
    bool bounded = row->minimum != 0 || row->maximum != 0;
    if (bounded)
        field->range.low = row->minimum;
    if (bounded)
        field->range.bounds = YK_LOW;
    if (bounded && isfinite(row->maximum)) {
        field->range.high = row->maximum;
        field->range.bounds |= YK_HIGH;
    }

    /* Lists. */
    if (row->kind == YK_OPTION_NUMBERS) {
        field->least = row->count;
        field->most = row->count;
    }

    if (row->kind == YK_OPTION_SUBSYSTEMS) {
        field->most = YK_SUBSYSTEMS_MAX;
        field->item = &subsystem;
    }

    if (row->kind != YK_OPTION_CHOICE)
        return true;

    /* The words of a choice. */
    size_t count = 0;
    while (row->choices[count].name)
        count++;

    yk_word *words = yk_store_take(store, (count + 1) * sizeof *words);
    if (!words)
        return false;

    for (size_t i = 0; i < count; i++)
        words[i] = (yk_word){row->choices[i].name, row->choices[i].description};
    field->words = words;
    if (!row->custom_fields)
        return true;

    /* A choice that can also be given by keys of its own. */
    int inner_count = count_rows(row->custom_fields);
    yk_field *inner = yk_store_take(store, ((size_t)inner_count + 1) * sizeof *inner);
    yk_section *section = yk_store_take(store, sizeof *section);
    if (!inner || !section)
        return false;

    /* All of them are needed: a ratio has no default of its own. */
    for (int i = 0; i < inner_count; i++) {
        const yk_option *from = &row->custom_fields[i];
        inner[i] = (yk_field){
            .key = from->key,
            .type = YK_TYPE_NUMBER,
            .unit = from->unit,
            .required = true,
            .range = YK_NOT_NEGATIVE,
            .text = from->description,
        };
    }
    *section = (yk_section){row->key, "Weights of their own; only the ratios matter.", inner};
    field->type = YK_TYPE_FORM;
    field->section = section;

    return true;
}

const yk_section *yk_option_section(yk_store *store, const char *name, const char *text,
                                    const yk_option *rows)
{
    int count = count_rows(rows);
    yk_section *section = yk_store_take(store, sizeof *section);
    yk_field *fields = yk_store_take(store, ((size_t)count + 1) * sizeof *fields);
    if (!section || !fields)
        return NULL;

    for (int i = 0; i < count; i++) {
        if (!field_of_row(store, &rows[i], &fields[i]))
            return NULL;

        fields[i].fallback = rows[i].default_text;
    }
    *section = (yk_section){name, text, fields};

    return section;
}

yk_status yk_option_read(yk_builder *builder, const yk_option *row, const yk_node *node,
                         void *options)
{
    /* Copied byte by byte: the struct belongs to whoever declared the row. */
    char *target = (char *)options + row->offset;
    switch (row->kind) {
    case YK_OPTION_NUMBER: memcpy(target, &node->value, sizeof node->value); return YK_OK;
    case YK_OPTION_INTEGER: {
        int whole = (int)node->value;
        memcpy(target, &whole, sizeof whole);
        return YK_OK;
    }
    case YK_OPTION_BOOLEAN: {
        bool flag = node->choice != 0;
        memcpy(target, &flag, sizeof flag);
        return YK_OK;
    }
    case YK_OPTION_CHOICE: {
        /* Keys of its own instead of a word have the index behind all words. */
        int choice = node->choice;
        if (choice < 0) {
            for (choice = 0; row->choices[choice].name;)
                choice++;
            for (const yk_option *inner = row->custom_fields; inner->key; inner++)
                yk_option_read(builder, inner, yk_node_get(node, inner->key), options);
        }

        memcpy(target, &choice, sizeof choice);
        return YK_OK;
    }
    case YK_OPTION_SUBSYSTEMS: return YK_OK;
    case YK_OPTION_TEXT: memcpy(target, &node->text, sizeof node->text); return YK_OK;
    case YK_OPTION_PATH: {
        const char *path = yk_builder_path(builder, node->parent, row->key);
        memcpy(target, &path, sizeof path);
        return path ? YK_OK : YK_ERROR_MEMORY;
    }
    case YK_OPTION_NUMBERS: {
        /* An array inside the struct where the row says its length, else a pointer with a count. */
        yk_number_list list = {node->values, node->value_count};
        if (row->count > 0)
            memcpy(target, node->values, (size_t)row->count * sizeof *node->values);
        else
            memcpy(target, &list, sizeof list);
        return YK_OK;
    }
    case YK_OPTION_FUNCTION: {
        yk_time_function function;
        yk_status status = yk_builder_function_of(builder, node, &function);
        memcpy(target, &function, sizeof function);
        return status;
    }
    }

    return YK_OK;
}

/* The section ---------------------------------------------------------------------------------- */

/* What a key means in every scheme: "tight, index1: ...; relaxed: ...". */
static const char *describe_key(yk_store *store, const yk_extensions *extensions, const char *key,
                                bool with_defaults)
{
    yk_context *context = store->context;
    yk_text text = {0};
    const yk_scheme_ops *ops;

    for (int i = 0; (ops = yk_schemes_at(extensions, i)); i++) {
        const yk_option *row = yk_scheme_find_option(ops, key);
        if (!row)
            continue;

        /* Schemes that say the same are named together, where the first of them comes. */
        bool said = false;
        for (int k = 0; k < i; k++) {
            const yk_option *earlier = yk_scheme_find_option(yk_schemes_at(extensions, k), key);
            said = said || (earlier && strcmp(earlier->description, row->description) == 0);
        }

        if (said)
            continue;

        /* "`tight`, `index1`: what it means (`default`)" */
        if (text.length > 0)
            yk_text_add(context, &text, "; ");

        yk_text_add(context, &text, "`%s`", ops->name);
        const yk_scheme_ops *other;
        for (int k = i + 1; (other = yk_schemes_at(extensions, k)); k++) {
            const yk_option *later = yk_scheme_find_option(other, key);
            if (later && strcmp(later->description, row->description) == 0)
                yk_text_add(context, &text, ", `%s`", other->name);
        }

        yk_text_add(context, &text, ": %s", row->description);
        if (row->default_text && !row->has_derived_default && with_defaults)
            yk_text_add(context, &text, " (`%s`)", row->default_text);
    }

    /* The field outlives this text. */
    const char *kept = NULL;
    if (text.data)
        kept = yk_store_text(store, text.data, text.length);

    yk_free(context, text.data);
    return kept;
}

/* The default that all schemes have for a key; NULL: they differ, or it follows from others. */
static const char *common_fallback(const yk_extensions *extensions, const char *key)
{
    const char *common = NULL;
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(extensions, i)); i++) {
        const yk_option *row = yk_scheme_find_option(ops, key);
        if (!row)
            continue;

        /* A default that follows from other options is no common one. */
        if (row->has_derived_default || !row->default_text)
            return NULL;
        if (common && strcmp(common, row->default_text) != 0)
            return NULL;

        common = row->default_text;
    }

    return common;
}

/* Appends the keys of all schemes, each once and as the chosen one has it: those of other schemes
 * are checked too. Returns how many there are then, or -1 when out of memory. */
static int add_option_fields(yk_store *store, const yk_extensions *extensions,
                             const yk_scheme_ops *chosen, int count, yk_field *fields)
{
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(extensions, i)); i++) {
        for (const yk_option *row = ops->options; row && row->key; row++) {
            bool known = false;
            for (int k = 0; k < count; k++)
                known = known || strcmp(fields[k].key, row->key) == 0;
            if (known)
                continue;

            const yk_option *own = chosen ? yk_scheme_find_option(chosen, row->key) : NULL;
            yk_field *field = &fields[count++];
            if (!field_of_row(store, own ? own : row, field))
                return -1;
            if (own && !own->has_derived_default)
                field->fallback = own->default_text;
            if (chosen)
                continue;

            /* As documentation. */
            field->fallback = common_fallback(extensions, row->key);
            field->text = describe_key(store, extensions, row->key, !field->fallback);
            if (!field->text)
                return -1;
        }
    }

    return count;
}

/* What may stand under on_failure. In the order of yk_on_failure. */
static const yk_field no_fields[] = {{0}};
static const yk_section stop_section = {"stop", "The run ends with the error.", no_fields};
static const yk_field halve_fields[] = {
    {"max_halvings", YK_TYPE_INTEGER, .fallback = "10", .range = YK_BETWEEN(1, 20),
     .text = "of the macro step, at most; where the smallest one fails too, the run ends"},
    {"steps_before_doubling", YK_TYPE_INTEGER, .fallback = "8", .range = YK_BETWEEN(1, 1000000),
     .text = "in a row, after which a halved step is doubled again, up to `time.step`"},
    {0},
};
static const yk_section halve_section = {
    "halve",
    "The step is taken again from its start with half the size. Results stay at multiples of "
    "`time.step`. In place of `time.step_tolerance`, which takes failed steps again as well.",
    halve_fields};

const yk_section *yk_coupling_section(yk_store *store, const yk_extensions *extensions,
                                      const yk_scheme_ops *chosen, const yk_scheme_ops *fall_back)
{
    const yk_scheme_ops *ops;

    /* Memory for as many keys as there are rows; schemes share most of them. */
    size_t scheme_count = 0;
    size_t row_count = 0;
    for (; (ops = yk_schemes_at(extensions, (int)scheme_count)); scheme_count++)
        for (const yk_option *row = ops->options; row && row->key; row++)
            row_count++;

    yk_section *section = yk_store_take(store, sizeof *section);
    yk_section *second = yk_store_take(store, sizeof *second);
    yk_field *fields = yk_store_take(store, (row_count + 3) * sizeof *fields);
    yk_field *second_fields = yk_store_take(store, (row_count + 2) * sizeof *second_fields);
    yk_word *words = yk_store_take(store, (scheme_count + 1) * sizeof *words);
    const yk_section **policies = yk_store_take(store, 4 * sizeof *policies);
    if (!section || !second || !fields || !second_fields || !words || !policies)
        return NULL;

    /* The key `scheme`, with a word for each. */
    for (size_t i = 0; i < scheme_count; i++) {
        ops = yk_schemes_at(extensions, (int)i);
        words[i] = (yk_word){ops->name, ops->description};
    }

    fields[0] = (yk_field){.key = "scheme", .type = YK_TYPE_CHOICE, .text = "coupling scheme"};
    fields[0].fallback = words[0].word;
    fields[0].words = words;

    /* A scheme to fall back to has the same keys in a section of its own. */
    second_fields[0] = fields[0];
    second_fields[0].fallback = NULL;
    second_fields[0].required = true;
    second_fields[0].text =
        "another scheme that gives interfaces the same, a motion and a wrench or "
        "a wrench on both sides; its options stand beside it, as under coupling";
    if (fall_back && add_option_fields(store, extensions, fall_back, 1, second_fields) < 0)
        return NULL;

    *second = (yk_section){
        "fallback",
        "The step is taken again from its start with another scheme, with which the run goes on. "
        "So it "
        "does where the run is seen to go wrong: where interfaces make energy, or a wrench swings "
        "from step to step, more and more.",
        second_fields};
    policies[0] = &stop_section;
    policies[1] = &halve_section;
    policies[2] = second;

    fields[1] = (yk_field){
        .key = "on_failure",
        .type = YK_TYPE_VARIANT,
        .variants = policies,
        .selector = "type",
        .selector_fallback = "stop",
        .text =
            "what happens where a macro step fails for a numerical reason: a number that is not "
            "finite, a solver without a solution, singular equations; stop where it is absent. "
            "What does not stop "
            "the run needs subsystems that can return to an earlier state, and is listed in "
            "the findings of the run",
    };

    /* Behind the two keys that do not depend on the scheme. */
    if (add_option_fields(store, extensions, chosen, 2, fields) < 0)
        return NULL;

    *section = (yk_section){"coupling",
                            "How the subsystems are coupled. Keys of other schemes than the chosen "
                            "one are not used, so that one line changes the scheme.",
                            fields};

    return section;
}

/* Values --------------------------------------------------------------------------------------- */

/* The options of a scheme as they are written in a section, and what follows from them; NULL: its
 * defaults. */
static char *read_scheme(yk_scenario *scenario, const yk_scheme_ops *ops, const yk_node *section,
                         yk_scheme_def *def)
{
    yk_resolver *r = &scenario->resolver;
    char *options = ops ? yk_resolver_take(r, ops->options_size + 1) : NULL;
    if (!options)
        return NULL;

    yk_scheme_set_defaults(ops, options);
    *def = (yk_scheme_def){.ops = ops, .options = options};
    if (!section)
        return options;

    /* What is written, and what follows from it. */
    uint64_t written = 0;
    for (const yk_option *row = ops->options; row && row->key; row++) {
        const yk_node *node = yk_node_get(section, row->key);
        if (!node)
            continue;

        written |= (uint64_t)1 << (row - ops->options);
        yk_status status = yk_option_read(&scenario->builder, row, node, options);
        if (status != YK_OK) {
            r->status = status;
            return options;
        }
    }

    /* Defaults that follow from other options see what the user has chosen. */
    if (ops->derive)
        ops->derive(options, written);

    /* A finer run of the same scenario has finer tolerances, those that it does not name too. */
    for (const yk_option *row = ops->options; row && row->key; row++) {
        bool named = written >> (row - ops->options) & 1;
        bool refines = row->kind == YK_OPTION_NUMBER && row->refinement_exponent != 0;
        if (named || !refines || !(r->refinement > 0))
            continue;

        double value;
        memcpy(&value, options + row->offset, sizeof value);
        value *= pow(r->refinement, -row->refinement_exponent);
        memcpy(options + row->offset, &value, sizeof value);
    }

    /* Runs whose difference counts must not differ by what iterations leave. */
    if (scenario->builder.to_rounding && ops->tighten_tolerances)
        ops->tighten_tolerances(options);

    /* What does not fit together is the scheme's to say. */
    if (yk_scheme_validate(scenario->context, def) != YK_OK)
        yk_node_error(r->diagnostics, section, "%s", yk_last_message(scenario->context));

    return options;
}

/* What happens where a step fails. */
static void read_failure_policy(yk_scenario *scenario, const yk_node *section)
{
    yk_failure_policy *policy = &scenario->info.on_failure;
    policy->action = (yk_on_failure)section->choice;
    if (policy->action == YK_ON_FAILURE_HALVE) {
        policy->max_halvings = yk_node_integer(section, "max_halvings");
        policy->steps_before_doubling = yk_node_integer(section, "steps_before_doubling");
        if (scenario->info.step_control.relative_tolerance > 0)
            yk_node_error(
                scenario->resolver.diagnostics, section,
                "does what time.step_tolerance does already, which takes failed steps again "
                "with smaller sizes: remove one of the two");
    }

    if (policy->action == YK_ON_FAILURE_FALLBACK) {
        int chosen = yk_node_choice(section, "scheme");
        const yk_scheme_ops *ops = yk_schemes_at(&scenario->extensions, chosen);
        scenario->fall_back_options = read_scheme(scenario, ops, section, &policy->fallback_scheme);
    }
}

void yk_scenario_read_coupling(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node *coupling = yk_node_get(scenario->root, "coupling");
    const yk_node *interfaces = yk_node_get(scenario->root, "interfaces");
    if (!coupling && interfaces && interfaces->count > 0)
        yk_node_key_error(r->diagnostics, interfaces,
                          "need a scheme: 'coupling' is missing, as in coupling: {scheme: "
                          "explicit}");

    /* The chosen scheme; its defaults where nothing is written. */
    if (coupling && !coupling->valid)
        coupling = NULL;
    int chosen = coupling ? yk_node_choice(coupling, "scheme") : 0;
    const yk_scheme_ops *ops = yk_schemes_at(&scenario->extensions, chosen);
    scenario->info.on_failure = yk_failure_policy_default();
    scenario->options = read_scheme(scenario, ops, coupling, &scenario->info.scheme);
    if (!coupling || r->status != YK_OK)
        return;

    const yk_node *policy = yk_node_get(coupling, "on_failure");
    if (policy && policy->valid)
        read_failure_policy(scenario, policy);
    if (r->status != YK_OK)
        return;

    /* Solvers are to leave less than repetitions resolve. */
    const yk_scheme_def *second = &scenario->info.on_failure.fallback_scheme;
    unsigned traits = yk_scheme_traits(&scenario->info.scheme);
    if (second->ops)
        traits |= yk_scheme_traits(second);
    bool repeats = traits & YK_SCHEME_NEEDS_ROLLBACK;
    scenario->builder.repeats = repeats || scenario->info.step_control.relative_tolerance > 0;
}

/* The subsystems that a scheme's options name, in one section. */
static void read_lists(yk_scenario *scenario, const yk_node *section, const yk_scheme_ops *ops,
                       char *options)
{
    yk_resolver *r = &scenario->resolver;
    int count = scenario->info.subsystem_count;
    for (const yk_option *row = ops->options; row && row->key; row++) {
        const yk_node *list = yk_node_get(section, row->key);
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
                yk_node_error(r->diagnostics, item, "subsystem '%s' not found. %s", item->text,
                              yk_suggest_name(item->text, scenario->names, count).text);
            else
                items[found.count++] = index;
        }

        memcpy(options + row->offset, &found, sizeof found);
    }
}

void yk_scenario_read_subsystem_lists(yk_scenario *scenario)
{
    const yk_node *coupling = yk_node_get(scenario->root, "coupling");
    if (!coupling || !coupling->valid)
        return;

    read_lists(scenario, coupling, scenario->info.scheme.ops, scenario->options);
    const yk_scheme_ops *second = scenario->info.on_failure.fallback_scheme.ops;
    if (second)
        read_lists(scenario, yk_node_get(coupling, "on_failure"), second,
                   scenario->fall_back_options);
}
