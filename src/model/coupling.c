/* Conversion of the option rows of schemes to keys of a scenario, and of values to option structs.
 *
 * Keys of schemes other than the chosen one are checked like any other but not used, so that the
 * scheme can be changed in one line. */
#include "model/scenario.h"

#include <math.h>
#include <string.h>

/* Schemes -------------------------------------------------------------------------------------- */

const yk_scheme_ops *yk_schemes_at(const yk_extensions *extensions, int number)
{
    /* Schemes of the library come first. */
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

/* The section ---------------------------------------------------------------------------------- */

/* Whether two schemes describe a key in the same way. */
static bool same_meaning(const yk_option *a, const yk_option *b)
{
    bool same_condition = !a->only_with.key == !b->only_with.key;
    return same_condition && strcmp(a->description, b->description) == 0;
}

/* The meaning of a key in every scheme: "tight, index1: ...; relaxed: ...". */
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

        /* Schemes with the same meaning are listed together, at the place of the first. */
        bool said = false;
        for (int k = 0; k < i; k++) {
            const yk_option *earlier = yk_scheme_find_option(yk_schemes_at(extensions, k), key);
            said = said || (earlier && same_meaning(earlier, row));
        }

        if (said)
            continue;

        /* "`tight`, `index1`: meaning (`default`)" */
        if (text.length > 0)
            yk_text_add(context, &text, "; ");

        yk_text_add(context, &text, "`%s`", ops->name);
        const yk_scheme_ops *other;
        for (int k = i + 1; (other = yk_schemes_at(extensions, k)); k++) {
            const yk_option *later = yk_scheme_find_option(other, key);
            if (later && same_meaning(later, row))
                yk_text_add(context, &text, ", `%s`", other->name);
        }

        yk_text_add(context, &text, ": %s", row->description);
        if (row->only_with.key && row->only_with.words[0])
            yk_text_add(context, &text, ", only with `%s: %s`", row->only_with.key,
                        row->only_with.words[0]);
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

/* The default that all schemes share for a key; NULL: they differ, or the default depends on other
 * options. */
static const char *common_fallback(const yk_extensions *extensions, const char *key)
{
    const char *common = NULL;
    const yk_scheme_ops *ops;
    for (int i = 0; (ops = yk_schemes_at(extensions, i)); i++) {
        const yk_option *row = yk_scheme_find_option(ops, key);
        if (!row)
            continue;

        /* A default that depends on other options is not a common one. */
        if (row->has_derived_default || !row->default_text)
            return NULL;
        if (common && strcmp(common, row->default_text) != 0)
            return NULL;

        common = row->default_text;
    }

    return common;
}

/* Appends the keys of all schemes, each once and as in the chosen scheme; those of other schemes
 * are checked too. Returns the new count, or -1 if memory is missing. */
static int add_option_fields(yk_store *store, const yk_extensions *extensions,
                             const yk_scheme_ops *chosen, int count, yk_option *fields)
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
            yk_option *field = &fields[count++];
            *field = own ? *own : *row;
            field->default_text = NULL;
            if (!own)
                field->only_with = (yk_option_condition){0};
            if (own && !own->has_derived_default)
                field->default_text = own->default_text;
            if (chosen)
                continue;

            /* For the documentation. */
            field->default_text = common_fallback(extensions, row->key);
            field->description = describe_key(store, extensions, row->key, !field->default_text);
            if (!field->description)
                return -1;
        }
    }

    return count;
}

/* Keys of on_failure, in the order of yk_on_failure. */
static const yk_option no_fields[] = {{0}};
static const yk_option_section stop_section = {"stop", "The run ends with the error.", no_fields};
static const yk_option halve_fields[] = {
    {"max_halvings", YK_OPTION_INTEGER, .default_text = "10", .range = YK_BETWEEN(1, 20),
     .description = "of the macro step, at most; where the smallest one fails too, the run ends"},
    {"steps_before_doubling", YK_OPTION_INTEGER, .default_text = "8",
     .range = YK_BETWEEN(1, 1000000),
     .description = "in a row, after which a halved step is doubled again, up to `time.step`"},
    {0},
};
static const yk_option_section halve_section = {
    "halve",
    "The step is taken again from its start with half the size. Results stay at multiples of "
    "`time.step`. In place of `time.step_tolerance`, which takes failed steps again as well.",
    halve_fields};

const yk_option_section *yk_coupling_section(yk_store *store, const yk_extensions *extensions,
                                             const yk_scheme_ops *chosen,
                                             const yk_scheme_ops *fall_back)
{
    const yk_scheme_ops *ops;

    /* Memory for as many keys as there are rows; schemes share most of them. */
    size_t scheme_count = 0;
    size_t row_count = 0;
    for (; (ops = yk_schemes_at(extensions, (int)scheme_count)); scheme_count++)
        for (const yk_option *row = ops->options; row && row->key; row++)
            row_count++;

    yk_option_section *section = yk_store_take(store, sizeof *section);
    yk_option_section *second = yk_store_take(store, sizeof *second);
    yk_option *fields = yk_store_take(store, (row_count + 3) * sizeof *fields);
    yk_option *second_fields = yk_store_take(store, (row_count + 2) * sizeof *second_fields);
    yk_option_choice *words = yk_store_take(store, (scheme_count + 1) * sizeof *words);
    const yk_option_section **policies = yk_store_take(store, 4 * sizeof *policies);
    if (!section || !second || !fields || !second_fields || !words || !policies)
        return NULL;

    /* The key `scheme`, with a word for each scheme. */
    for (size_t i = 0; i < scheme_count; i++) {
        ops = yk_schemes_at(extensions, (int)i);
        words[i] = (yk_option_choice){ops->name, ops->description};
    }

    fields[0] =
        (yk_option){.key = "scheme", .kind = YK_OPTION_CHOICE, .description = "coupling scheme"};
    fields[0].default_text = words[0].name;
    fields[0].choices = words;

    /* A fallback scheme has the same keys in its own section. */
    second_fields[0] = fields[0];
    second_fields[0].default_text = NULL;
    second_fields[0].required = true;
    second_fields[0].description =
        "another scheme that gives interfaces the same, a motion and a wrench or "
        "a wrench on both sides; its options are next to it, as under coupling";
    if (fall_back && add_option_fields(store, extensions, fall_back, 1, second_fields) < 0)
        return NULL;

    *second = (yk_option_section){
        "fallback",
        "The step is repeated from its start with another scheme, with which the run continues.",
        second_fields};
    policies[0] = &stop_section;
    policies[1] = &halve_section;
    policies[2] = second;

    fields[1] = (yk_option){
        .key = "on_failure",
        .kind = YK_OPTION_VARIANT,
        .variants = policies,
        .selector = "type",
        .default_variant = "stop",
        .description =
            "what happens where a macro step fails for a numerical reason: a number that is not "
            "finite, a solver without a solution, singular equations; stop where it is absent. "
            "What does not stop "
            "the run needs subsystems that can return to an earlier state, and is listed in "
            "the findings of the run",
    };

    /* After the two keys that do not depend on the scheme. */
    if (add_option_fields(store, extensions, chosen, 2, fields) < 0)
        return NULL;

    *section =
        (yk_option_section){"coupling",
                            "How the subsystems are coupled. Keys of other schemes than the chosen "
                            "one are not used, so that one line changes the scheme.",
                            fields};

    return section;
}

/* Values --------------------------------------------------------------------------------------- */

/* The options of a scheme as written in a section, and those derived from them; NULL: its defaults. */
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

    uint64_t written = 0;
    for (const yk_option *row = ops->options; row && row->key; row++)
        if (yk_node_get(section, row->key))
            written |= (uint64_t)1 << (row - ops->options);

    yk_status status = yk_option_read_all(&scenario->builder, ops->options, section, options);
    if (status != YK_OK) {
        r->status = status;
        return options;
    }

    /* Defaults that depend on other options need those of the user. */
    if (ops->derive)
        ops->derive(options, written);

    /* A refined run of the same scenario has smaller tolerances, including those that are not
     * written. */
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

    /* If runs are compared, their difference must not be caused by the residuals of iterations. */
    if (scenario->builder.to_rounding && ops->tighten_tolerances)
        ops->tighten_tolerances(options);

    /* The scheme checks the combination of its options. */
    if (yk_scheme_validate(scenario->context, def) != YK_OK)
        yk_node_error(r->diagnostics, section, "%s", yk_last_message(scenario->context));

    return options;
}

/* The failure policy. */
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

    /* The chosen scheme, or its defaults if nothing is written. */
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

    /* The solvers' residuals must be smaller than the repetitions resolve. */
    const yk_scheme_def *second = &scenario->info.on_failure.fallback_scheme;
    unsigned traits = yk_scheme_traits(&scenario->info.scheme);
    if (second->ops)
        traits |= yk_scheme_traits(second);
    bool repeats = traits & YK_SCHEME_NEEDS_ROLLBACK;
    scenario->builder.repeats = repeats || scenario->info.step_control.relative_tolerance > 0;
}

/* The subsystems named in a scheme's options, in one section. */
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
