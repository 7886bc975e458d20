/* Resolves a tree against its schema: reports all errors in one pass, fills in defaults, stores
 * values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/text.h"
#include "model/scenario.h"

static bool exhausted(const yk_resolver *r)
{
    return r->status != YK_OK || yk_diagnostics_full(r->diagnostics);
}

void *yk_resolver_take(yk_resolver *r, size_t bytes)
{
    void *memory = yk_store_take(r->store, bytes);
    if (!memory)
        r->status = YK_ERROR_MEMORY;
    return memory;
}

void yk_resolve_mismatch(yk_resolver *r, const yk_node *node, const yk_option *field)
{
    yk_node_error(r->diagnostics, node, "expected %s, but found %s", yk_expected(field).text,
                  yk_found(node).text);
}

static void report_unknown_value(yk_resolver *r, const yk_node *node, const char *const *valid,
                                 int count)
{
    yk_node_error(r->diagnostics, node, "unknown value '%.60s'. %s", node->text,
                  yk_suggest_format_word(YK_WORD_VALUE, node->text, valid, count).text);
}

/* Numbers -------------------------------------------------------------------------------------- */

static void report_expression(yk_resolver *r, const yk_node *node, const yk_option *field,
                              const yk_expression_error *error)
{
    yk_location location = yk_node_location(node);

    /* Underline only the part with the error, if the text is in the file literally: no override, no
     * escapes. */
    const yk_source *source = node->from;
    if (source && source->text && node->line >= 1) {
        int quote = node->quoted ? 1 : 0;
        size_t length = strlen(node->text);
        const char *at = yk_source_at(source, node->line, node->column + quote);
        size_t left = (size_t)(source->text + source->length - at);
        if (left >= length && strncmp(at, node->text, length) == 0) {
            location.column += quote;
            location.length = (int)error->length;

            /* Columns count characters: skip continuation bytes of UTF-8. */
            for (size_t i = 0; i < error->offset; i++)
                location.column += ((unsigned char)node->text[i] & 0xC0) != 0x80;
        }
    }

    /* A value that changes with time may have a key of its own: with the same unit, or a factor. */
    char remedy[64] = "";
    const yk_option *beside = NULL;
    if (error->wants_time && r->section)
        beside = r->section->options;
    for (; beside && beside->key; beside++) {
        bool fits = !beside->unit || (field->unit && strcmp(beside->unit, field->unit) == 0);
        if (beside->kind == YK_OPTION_FUNCTION && fits)
            snprintf(remedy, sizeof remedy, "; a function of time is '%s'", beside->key);
    }

    yk_report(r->diagnostics, YK_SEVERITY_ERROR, location,
              yk_node_path(node, (char[YK_PATH_MAX]){0}), "expected %s: %s%s",
              yk_expected(field).text, error->message, remedy);
}

static bool is_scalar(yk_resolver *r, const yk_node *node, const yk_option *field)
{
    if (node->kind == YK_NODE_SCALAR && !yk_node_is_empty(node))
        return true;

    yk_resolve_mismatch(r, node, field);
    return false;
}

/* The factor from a value to the number that the key takes; false after a message. */
static bool find_factor(yk_resolver *r, const yk_node *node, const yk_option *field,
                        yk_quantity quantity, double *factor)
{
    yk_expression_error error = {.length = strlen(node->text)};
    if (yk_quantity_fits(quantity, field->unit, r->length, r->mass, factor, error.message))
        return true;

    report_expression(r, node, field, &error);
    return false;
}

/* The value of a constant expression of the parameters; false after a message. */
static bool evaluate(yk_resolver *r, const yk_node *node, const yk_option *field, double *value,
                     yk_quantity *quantity)
{
    yk_expression_error error;
    yk_status status =
        yk_expression_constant(r->store->context, node->text, &r->scope, &error, value, quantity);
    if (status == YK_ERROR_MEMORY)
        r->status = status;
    if (status == YK_ERROR_INPUT)
        report_expression(r, node, field, &error);
    return status == YK_OK;
}

bool yk_resolve_parameter(yk_resolver *r, yk_node *node, yk_quantity *quantity)
{
    static const yk_option field = {.key = "parameter", .kind = YK_OPTION_NUMBER};
    if (!is_scalar(r, node, &field) || !evaluate(r, node, &field, &node->value, quantity))
        return false;

    /* The quantity stays that of the file if an override gives a plain number. */
    if (!quantity->has_unit)
        *quantity = yk_quantity_plain;
    if (!quantity->has_unit && node->replaced && node->replaced->kind == YK_NODE_SCALAR) {
        yk_expression_error error;
        double written;
        yk_quantity of_file;
        yk_status status = yk_expression_constant(r->store->context, node->replaced->text,
                                                  &r->scope, &error, &written, &of_file);
        if (status == YK_ERROR_MEMORY)
            r->status = status;
        if (status == YK_OK && of_file.has_unit)
            *quantity = of_file;
    }

    if (quantity->has_unit && quantity->certain) {
        yk_unit_name unit = yk_dimension_name(quantity->dimension);
        node->unit = yk_store_text(r->store, unit.text, strlen(unit.text));
    }

    node->values = &node->value;
    node->value_count = 1;
    node->valid = true;
    return true;
}

bool yk_resolve_number(yk_resolver *r, yk_node *node, const yk_option *field)
{
    static const double LEAST_TOLERANCE = 1e-14;
    if (!is_scalar(r, node, field))
        return false;

    double value = 0;
    yk_quantity quantity = yk_quantity_number;
    bool automatic = field->accepts_auto && strcmp(node->text, "auto") == 0;
    if (!automatic && !evaluate(r, node, field, &value, &quantity))
        return false;

    double factor = 1;
    if (!find_factor(r, node, field, quantity, &factor))
        return false;

    value *= factor;

    /* Checks its bounds; the message shows the value if the text does not. */
    if (!yk_range_contains(&field->range, value)) {
        double plain;
        if (yk_number_read(node->text, &plain))
            yk_resolve_mismatch(r, node, field);
        else
            yk_node_error(r->diagnostics, node, "expected %s, but found %s, which is %g",
                          yk_expected(field).text, yk_found(node).text, value);
        return false;
    }

    /* In a refined run steps are smaller, and tolerances too, but not below rounding errors. */
    if (r->refinement > 0 && field->refinement_exponent != 0) {
        double finer = value * pow(r->refinement, -field->refinement_exponent);
        if (field->refinement_exponent > 1 && finer < LEAST_TOLERANCE)
            finer = fmin(value, LEAST_TOLERANCE);
        if (field->refinement_exponent < 0)
            finer = round(finer);

        value = finer;
    }

    if (field->is_seed)
        value += r->realization;

    /* The node has its value from here on. */
    node->value = value;
    node->values = &node->value;
    node->value_count = 1;
    node->valid = true;

    return true;
}

static void resolve_number(yk_resolver *r, yk_node *node, const yk_option *field)
{
    yk_resolve_number(r, node, field);
}

static void resolve_integer(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (!yk_resolve_number(r, node, field))
        return;

    node->valid = node->value == floor(node->value) && fabs(node->value) <= 2147483647;
    if (!node->valid)
        yk_resolve_mismatch(r, node, field);
}

/* Compiled here to find errors; the user of the function compiles it again. */
static void resolve_function(yk_resolver *r, yk_node *node, const yk_option *field)
{
    static const char *const time[] = {"t"};
    double plain;
    if (!is_scalar(r, node, field))
        return;

    /* Most functions are plain numbers. */
    if (yk_number_read(node->text, &plain)) {
        yk_resolve_number(r, node, field);
        return;
    }

    /* An expression of time. */
    yk_scope scope = r->scope;
    scope.variables = time;
    scope.variable_count = 1;
    yk_expression_error error;
    yk_expression *expression = NULL;
    yk_status status =
        yk_expression_create(r->store->context, node->text, &scope, &error, &expression);

    /* An expression without time is a number. */
    double factor;
    if (status == YK_OK && !yk_expression_varies(expression))
        yk_resolve_number(r, node, field);
    else
        node->valid = status == YK_OK &&
                      find_factor(r, node, field, yk_expression_quantity(expression), &factor);
    if (status == YK_ERROR_INPUT)
        report_expression(r, node, field, &error);
    if (status == YK_ERROR_MEMORY)
        r->status = status;

    yk_expression_destroy(expression);
}

static bool check_count(yk_resolver *r, const yk_node *node, const yk_option *field)
{
    bool fits = node->kind == YK_NODE_LIST && node->count >= field->min_count &&
                (!field->max_count || node->count <= field->max_count);
    if (!fits)
        yk_resolve_mismatch(r, node, field);
    return fits;
}

static void resolve_numbers(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (!check_count(r, node, field))
        return;

    /* Each item separately, so that a message names it. */
    yk_option one = {
        .key = field->key, .kind = YK_OPTION_NUMBER, .unit = field->unit, .range = field->range};
    if (field->kind == YK_OPTION_FUNCTIONS)
        one.kind = YK_OPTION_FUNCTION;

    for (yk_node *item = node->first; item && !exhausted(r); item = item->next)
        yk_resolve(r, item, &one);

    /* Their values in one array. */
    double *values = yk_resolver_take(r, (size_t)node->count * sizeof *values);
    if (!values)
        return;

    int count = 0;
    node->valid = true;
    for (const yk_node *item = node->first; item; item = item->next) {
        values[count++] = item->value;
        node->valid = node->valid && item->valid;
    }

    node->values = values;
    node->value_count = count;
}

/* Three diagonal values, or three rows. */
static void resolve_inertia(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (node->kind != YK_NODE_LIST || node->count != 3) {
        yk_resolve_mismatch(r, node, field);
        return;
    }

    /* The first item decides. */
    bool rows = node->first->kind == YK_NODE_LIST;
    yk_option one = {.key = field->key, .unit = field->unit, .min_count = 3, .max_count = 3};
    one.kind = rows ? YK_OPTION_NUMBERS : YK_OPTION_NUMBER;

    double *matrix = yk_resolver_take(r, 9 * sizeof *matrix);
    if (!matrix)
        return;

    /* A row each, or an entry of the diagonal. */
    int i = 0;
    node->valid = true;
    for (yk_node *item = node->first; item; item = item->next, i++) {
        yk_resolve(r, item, &one);
        node->valid = node->valid && item->valid;
        if (!item->valid)
            continue;
        if (rows)
            memcpy(matrix + 3 * i, item->values, 3 * sizeof *matrix);
        else
            matrix[4 * i] = item->value;
    }

    node->values = matrix;
    node->value_count = 9;

    /* Rows are written by people: both halves must agree. */
    bool symmetric = matrix[1] == matrix[3] && matrix[2] == matrix[6] && matrix[5] == matrix[7];
    if (node->valid && !symmetric) {
        yk_node_error(r->diagnostics, node, "expected %s; the matrix is not symmetric",
                      yk_expected(field).text);
        node->valid = false;
    }
}

/* Words ---------------------------------------------------------------------------------------- */

static void resolve_boolean(yk_resolver *r, yk_node *node, const yk_option *field)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    if (!is_scalar(r, node, field))
        return;

    /* Words for no and for yes alternate. */
    for (int i = 0; i < 6; i++) {
        if (strcmp(node->text, words[i]) != 0)
            continue;

        node->choice = i % 2;
        node->valid = true;
        return;
    }

    yk_resolve_mismatch(r, node, field);
}

static void resolve_text(yk_resolver *r, yk_node *node, const yk_option *field)
{
    node->valid = is_scalar(r, node, field);
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    size_t length = strlen(text);
    return length > 0 && length <= 60 && strchr(letters, text[0]) && strspn(text, rest) == length;
}

static void report_bad_name(yk_resolver *r, const yk_node *node, const char *name,
                            yk_location location)
{
    yk_report(r->diagnostics, YK_SEVERITY_ERROR, location,
              yk_node_path(node, (char[YK_PATH_MAX]){0}),
              "'%.70s' cannot be a name; a name starts with a letter (a to z, A to Z) and has at "
              "most 60 letters, digits, '_' and '-'",
              name);
}

static void resolve_name(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (!is_scalar(r, node, field))
        return;

    node->valid = is_name(node->text);
    if (!node->valid)
        report_bad_name(r, node, node->text, yk_node_location(node));
}

enum { WORDS_MAX = 64 };

static void resolve_choice(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (!is_scalar(r, node, field))
        return;

    /* The message lists the valid words. */
    const char *valid[WORDS_MAX];
    int count = 0;
    for (; count < WORDS_MAX && field->choices[count].name; count++) {
        valid[count] = field->choices[count].name;
        if (strcmp(node->text, valid[count]) != 0)
            continue;

        node->choice = count;
        node->valid = true;
        return;
    }

    report_unknown_value(r, node, valid, count);
}

/* Sections ------------------------------------------------------------------------------------- */

/* A map without entries if the value is empty. */
static bool is_map(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (yk_node_is_empty(node))
        node->kind = YK_NODE_MAP;
    if (node->kind == YK_NODE_MAP)
        return true;

    yk_resolve_mismatch(r, node, field);
    return false;
}

static const yk_source defaults = {.name = "default"};

/* A node from the text of a default: a scalar, {} or a flat list. */
static yk_node *make_default(yk_resolver *r, const char *text)
{
    /* Its first character determines its type. */
    yk_location location = {.source = &defaults};
    yk_node_kind kind = YK_NODE_SCALAR;
    if (text[0] == '{')
        kind = YK_NODE_MAP;
    if (text[0] == '[')
        kind = YK_NODE_LIST;

    yk_node *node = yk_node_create(r->store, kind, location);
    if (node && kind == YK_NODE_SCALAR)
        node->text = text;

    /* The items of a list. */
    const char *at = text + strspn(text, "[ ");
    while (node && kind == YK_NODE_LIST && *at && *at != ']') {
        size_t length = strcspn(at, ",]");
        yk_node *item = yk_node_create(r->store, YK_NODE_SCALAR, location);
        char *copy = item ? yk_store_text(r->store, at, length) : NULL;
        if (copy) {
            item->text = copy;
            yk_node_append(node, item, NULL, location);
        } else {
            node = NULL;
        }
        at += length + strspn(at + length, ", ");
    }

    if (!node)
        r->status = YK_ERROR_MEMORY;
    return node;
}

/* Appends the valid keys of a section, for messages. */
static void list_keys(const yk_option_section *section, const char *keys[WORDS_MAX], int *count)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE)
            list_keys(field->section, keys, count);
        else if (*count < WORDS_MAX)
            keys[(*count)++] = field->key;
    }
}

/* A default as a node. Defaults are SI values; they are converted for a subsystem with units of its
 * own. */
static yk_node *make_default_in_units(yk_resolver *r, const yk_option *field)
{
    yk_node *node = make_default(r, field->default_text);
    bool number = field->kind == YK_OPTION_NUMBER || field->kind == YK_OPTION_NUMBERS;
    bool automatic = field->accepts_auto && strcmp(field->default_text, "auto") == 0;
    if (!node || !number || automatic || !field->unit || r->length == 0)
        return node;

    double factor = 1 / yk_unit_factor(field->unit, r->length, r->mass);
    yk_node *item = node->kind == YK_NODE_LIST ? node->first : node;
    for (; item && factor != 1; item = item->next) {
        char text[80];
        yk_format(text, sizeof text, "%.40s*%.17g", item->text, factor);
        item->text = yk_store_text(r->store, text, strlen(text));
        if (!item->text)
            r->status = YK_ERROR_MEMORY;
    }

    return node;
}

/* Whether the value of a key meets the condition of another key of the same section. Without words, the key must be given. */
static bool meets_condition(const yk_node *node, const yk_option_condition *condition)
{
    const yk_node *other = yk_node_get(node, condition->key);
    if (!condition->words[0])
        return other && other->from != &defaults;
    if (!other || !other->text)
        return true; /* the scheme chooses the value */

    for (int i = 0; i < YK_CONDITION_WORDS_MAX && condition->words[i]; i++)
        if (strcmp(other->text, condition->words[i]) == 0)
            return true;
    return false;
}

/* Warns of keys that are given but have no effect. */
static void report_ineffective(yk_resolver *r, const yk_node *node,
                               const yk_option_section *section)
{
    for (const yk_option *row = section->options; row->key; row++) {
        const yk_option_condition *condition = &row->only_with;
        const yk_node *child = condition->key ? yk_node_get(node, row->key) : NULL;
        if (!child || child->from == &defaults || meets_condition(node, condition))
            continue;

        char words[120] = "";
        size_t used = 0;
        for (int i = 0; i < YK_CONDITION_WORDS_MAX && condition->words[i]; i++)
            used += (size_t)yk_format(words + used, sizeof words - used, "%s%.30s",
                                      i > 0 ? " or " : ": ", condition->words[i]);
        yk_report(r->diagnostics, YK_SEVERITY_WARNING, yk_node_key_location(child),
                  yk_node_path(child, (char[YK_PATH_MAX]){0}),
                  "the key '%s' has no effect; it is used only with '%s%s'", row->key,
                  condition->key, words);
    }
}

/* The values of a section's keys, or their defaults; false if one is missing or not valid. */
static bool resolve_values(yk_resolver *r, yk_node *node, const yk_option_section *section)
{
    bool valid = true;
    for (const yk_option *field = section->options; field->key && !exhausted(r); field++) {
        if (field->kind == YK_OPTION_INCLUDE) {
            valid = resolve_values(r, node, field->section) && valid;
            continue;
        }

        yk_node *child = yk_node_get(node, field->key);
        if (!child && field->required) {
            yk_node_key_error(r->diagnostics, node, "'%s' is missing. Expected %s (%s).",
                              field->key, yk_expected(field).text, field->description);
            valid = false;
            continue;
        }

        /* Defaults become nodes, so that the resolved scenario contains them. */
        if (!child && field->default_text) {
            child = make_default_in_units(r, field);
            if (child)
                yk_node_append(node, child, field->key, (yk_location){0});
        }

        if (!child)
            continue;

        const yk_option_section *outer = r->section;
        r->section = section;
        yk_resolve(r, child, field);
        r->section = outer;
        valid = valid && child->valid;
    }

    if (valid)
        report_ineffective(r, node, section);
    return valid;
}

/* Whether a map has a list or map `subsystems` with an item of this name. */
static bool names_subsystem(const yk_node *map, const char *name)
{
    for (const yk_node *item = yk_node_items(map, "subsystems"); item; item = item->next) {
        const char *own = yk_node_name(item);
        if (own && strcmp(own, name) == 0)
            return true;
    }

    return false;
}

/* A map with the keys of one or two sections (the second may be NULL) and, for a variant, with its
 * selector (otherwise NULL). */
static void resolve_keys(yk_resolver *r, yk_node *node, const yk_option_section *first,
                         const yk_option_section *second, const char *selector)
{
    /* All valid keys. */
    const char *keys[WORDS_MAX];
    int key_count = 0;
    if (selector)
        keys[key_count++] = selector;

    list_keys(first, keys, &key_count);
    if (second)
        list_keys(second, keys, &key_count);

    /* Report the others. */
    bool valid = true;
    for (const yk_node *child = node->first; child && !exhausted(r); child = child->next) {
        const char *key = child->key;
        bool known =
            yk_option_find(first->options, key) || (second && yk_option_find(second->options, key));
        bool selects = selector && strcmp(key, selector) == 0;
        bool names = node->named && strcmp(key, "name") == 0;
        if (known || selects || names)
            continue;

        /* "{0,1: }" has a key and no value. */
        valid = false;
        if (key[strspn(key, "0123456789")] == '\0' && yk_node_is_empty(child))
            yk_node_key_error(r->diagnostics, child,
                              "a number cannot be a key. Write decimals with a point, as in 0.1.");
        else if (names_subsystem(node, key))
            yk_node_key_error(r->diagnostics, child,
                              "unknown key '%.60s'. The subsystem is 'subsystems.%.60s'.", key,
                              key);
        else
            yk_node_key_error(r->diagnostics, child, "unknown key '%.60s'. %s", key,
                              yk_suggest_format_word(YK_WORD_KEY, key, keys, key_count).text);
    }

    valid = resolve_values(r, node, first) && valid;

    /* Every kind has the keys of the units of a subsystem, which apply to its other keys. */
    const yk_node *units = yk_node_get(node, "units");
    if (units && units->valid && yk_option_find(first->options, "units")) {
        r->length = yk_length_units[yk_node_choice(units, "length")];
        r->mass = yk_mass_units[yk_node_choice(units, "mass")];
    }

    if (second)
        valid = resolve_values(r, node, second) && valid;
    if (units && yk_option_find(first->options, "units"))
        r->length = r->mass = 0;

    node->valid = valid && !exhausted(r);
}

static void resolve_section(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (is_map(r, node, field))
        resolve_keys(r, node, field->section, NULL, NULL);
}

void yk_resolve_section(yk_resolver *r, yk_node *node, const yk_option_section *section)
{
    resolve_section(r, node, &(yk_option){.kind = YK_OPTION_SECTION, .section = section});
}

static void resolve_form(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (node->kind == YK_NODE_MAP) {
        resolve_section(r, node, field);
        node->choice = -1;
    } else {
        resolve_choice(r, node, field);
    }
}

static void report_missing_selector(yk_resolver *r, const yk_node *node, const yk_option *field)
{
    /* An earlier version may have used another key. */
    const char *const valid[] = {field->selector, NULL};
    for (const yk_node *child = node->first; child; child = child->next) {
        if (!child->key || !yk_word_renamed(YK_WORD_KEY, child->key, valid))
            continue;

        yk_node_key_error(r->diagnostics, child, "unknown key '%.60s'. It was renamed to '%s'.",
                          child->key, field->selector);
        return;
    }

    yk_node_key_error(r->diagnostics, node, "'%s' is missing. Expected %s.", field->selector,
                      yk_expected(field).text);
}

static void resolve_variant(yk_resolver *r, yk_node *node, const yk_option *field)
{
    /* The short form "revolute" of {type: revolute}. */
    if (node->kind == YK_NODE_SCALAR && !yk_node_is_empty(node)) {
        int budget = 1;
        yk_node *copy = yk_node_copy(r->store, node, &budget);
        if (!copy) {
            r->status = YK_ERROR_MEMORY;
            return;
        }

        node->kind = YK_NODE_MAP;
        yk_node_append(node, copy, field->selector, (yk_location){0});
    }

    /* Otherwise a section with the word under the selector. */
    if (!is_map(r, node, field))
        return;

    /* The word that selects: written, or the default. */
    yk_node *word = yk_node_get(node, field->selector);
    if (!word && !field->default_variant) {
        report_missing_selector(r, node, field);
        return;
    }

    if (!word) {
        word = make_default(r, field->default_variant);
        if (!word)
            return;

        yk_node_append(node, word, field->selector, (yk_location){0});
    }

    if (word->kind != YK_NODE_SCALAR || yk_node_is_empty(word)) {
        yk_node_error(r->diagnostics, word, "expected %s, but found %s", yk_expected(field).text,
                      yk_found(word).text);
        return;
    }

    /* The variant of that name. */
    const char *valid[WORDS_MAX];
    int count = 0;
    for (; count < WORDS_MAX && field->variants[count]; count++) {
        const yk_option_section *variant = field->variants[count];
        valid[count] = variant->name;
        if (strcmp(word->text, variant->name) != 0)
            continue;

        /* The keys of all variants, and those of this one. */
        word->valid = true;
        node->choice = count;
        if (field->section)
            resolve_keys(r, node, field->section, variant, field->selector);
        else
            resolve_keys(r, node, variant, NULL, field->selector);
        return;
    }

    report_unknown_value(r, word, valid, count);
}

/* Collections ---------------------------------------------------------------------------------- */

static void resolve_list(yk_resolver *r, yk_node *node, const yk_option *field)
{
    /* An empty value is an empty list; each copy of a repeated item counts. */
    if (yk_node_is_empty(node))
        node->kind = YK_NODE_LIST;
    if (!yk_expand_repeats(r, node) || !check_count(r, node, field))
        return;

    /* Check every item, also after one with errors, to report all of them. */
    bool valid = true;
    for (yk_node *item = node->first; item && !exhausted(r); item = item->next) {
        yk_resolve(r, item, field->item);
        valid = valid && item->valid;
    }

    node->valid = valid && !exhausted(r);
}

/* Names of subsystems, in an option of a scheme. */
static void resolve_subsystems(yk_resolver *r, yk_node *node, const yk_option *field)
{
    static const yk_option item = {"subsystems", YK_OPTION_TEXT, .description = "a subsystem"};
    yk_option list = *field;
    list.kind = YK_OPTION_LIST;
    list.max_count = YK_SUBSYSTEMS_MAX;
    list.item = &item;
    resolve_list(r, node, &list);
}

/* Whether an override names an item that does not exist: with a single key of it, or with its value
 * if it is a plain one. The name is probably misspelled, and not a new item. */
static bool is_misnamed(const yk_node *item, const yk_option *field)
{
    const yk_option *of = field->item;
    bool plain = of->kind != YK_OPTION_SECTION && of->kind != YK_OPTION_VARIANT &&
                 of->kind != YK_OPTION_FORM;
    return item->implied || (item->added && plain);
}

static void report_misnamed(yk_resolver *r, const yk_node *item, const char *what)
{
    const char *nearest = NULL;
    int distance = 4;
    const yk_node *other = item->parent->first;

    for (; other && distance > 0; other = other->next) {
        if (other == item || !other->key)
            continue;

        int now = yk_text_distance(item->key, other->key, distance - 1);
        if (now < distance) {
            distance = now;
            nearest = other->key;
        }
    }

    /* A repetition has created an item of the same name. */
    if (nearest && distance == 0)
        yk_node_error(r->diagnostics, item,
                      "'%.60s' is made by a repetition; change that, or write the items one "
                      "by one",
                      item->key);
    else if (nearest)
        yk_node_error(r->diagnostics, item, "%s '%.60s' not found. Did you mean '%.60s'?", what,
                      item->key, nearest);
    else if (item->implied)
        yk_node_error(r->diagnostics, item,
                      "%s '%.60s' not found. Give a new one as a whole, as in %.60s={...}.", what,
                      item->key, item->key);
    else
        yk_node_error(r->diagnostics, item, "%s '%.60s' not found. Add a new one to the file.",
                      what, item->key);
}

/* One item of a named collection: its name, which is its key or its entry `name`, and its value. */
static bool resolve_named_item(yk_resolver *r, yk_node *item, const yk_option *field)
{
    yk_diagnostics *diagnostics = r->diagnostics;
    const char *what = field->item->key;
    if (is_misnamed(item, field)) {
        report_misnamed(r, item, what);
        return false;
    }

    /* An item of a list needs a key for its name. */
    if (!item->key && item->kind != YK_NODE_MAP) {
        yk_node_error(diagnostics, item, "expected a section with 'name', but found %s",
                      yk_found(item).text);
        return false;
    }

    /* Its name: the key in a map, the entry `name` in a list. */
    bool named = false;
    yk_node *name = yk_node_get(item, "name");
    if (item->key) {
        named = is_name(item->key);
        if (!named)
            report_bad_name(r, item, item->key, yk_node_key_location(item));
    } else if (name) {
        item->named = true;
        yk_resolve(r, name, &(yk_option){.key = "name", .kind = YK_OPTION_NAME});
        named = name->valid;
    } else {
        yk_node_error(diagnostics, item, "'name' is missing: a name for this %s", what);
    }

    /* Check the value even if the name is wrong, to report all errors. */
    yk_resolve(r, item, field->item);
    return named && item->valid;
}

static int compare_names(const void *a, const void *b)
{
    const yk_node *left = *(yk_node *const *)a;
    const yk_node *right = *(yk_node *const *)b;
    int order = strcmp(yk_node_name(left), yk_node_name(right));
    if (order != 0)
        return order;
    return (left->line > right->line) - (left->line < right->line);
}

/* Equal keys of a map can come of a repetition. */
static bool check_unique_names(yk_resolver *r, yk_node *list)
{
    yk_node **items = yk_resolver_take(r, (size_t)list->count * sizeof(yk_node *));
    if (!items)
        return false;

    /* Items without a name have a message already. */
    int count = 0;
    for (yk_node *item = list->first; item; item = item->next)
        if (yk_node_name(item))
            items[count++] = item;

    /* Equal names are adjacent after sorting. */
    qsort(items, (size_t)count, sizeof *items, compare_names);
    bool unique = true;
    for (int i = 1; i < count && !exhausted(r); i++) {
        const yk_node *item = items[i];
        const yk_node *earlier = items[i - 1];
        if (strcmp(yk_node_name(earlier), yk_node_name(item)) != 0)
            continue;

        unique = false;

        /* Where the name is written; copies of one item need the index in it. */
        yk_location location = yk_node_key_location(item);
        if (!item->key)
            location = yk_node_location(yk_node_get(item, "name"));

        const char *remedy = "";
        if (item->line == earlier->line && item->column == earlier->column)
            remedy = "; names of repeated items have the index in them, as in \"link_{i}\"";

        yk_report(r->diagnostics, YK_SEVERITY_ERROR, location,
                  yk_node_path(item, (char[YK_PATH_MAX]){0}),
                  "the name '%s' is already used in line %d%s", yk_node_name(item), earlier->line,
                  remedy);
    }

    return unique;
}

static void resolve_named(yk_resolver *r, yk_node *node, const yk_option *field)
{
    /* A map of names, or a list of items with `name`. */
    if (yk_node_is_empty(node))
        node->kind = YK_NODE_MAP;
    if (node->kind == YK_NODE_SCALAR) {
        yk_resolve_mismatch(r, node, field);
        return;
    }

    if (!yk_expand_repeats(r, node))
        return;

    /* The allowed number. */
    bool few = node->count < field->min_count;
    bool many = field->max_count && node->count > field->max_count;
    if (few || many) {
        int bound = few ? field->min_count : field->max_count;
        yk_node_key_error(r->diagnostics, node, "expected %s %d %s%s, but found %d",
                          few ? "at least" : "at most", bound, field->item->key,
                          bound == 1 ? "" : "s", node->count);
        return;
    }

    /* Names must be unique; an item misnamed by an override has a message of its own. */
    bool misnamed = false;
    for (const yk_node *item = node->first; item; item = item->next)
        misnamed = misnamed || is_misnamed(item, field);

    bool valid = misnamed || check_unique_names(r, node);
    for (yk_node *item = node->first; item && !exhausted(r); item = item->next)
        valid = resolve_named_item(r, item, field) && valid;

    node->valid = valid && !exhausted(r);
}

/* Used before keys are resolved. */
static void accept_tree(yk_resolver *r, yk_node *node, const yk_option *field)
{
    (void)r;
    (void)field;
    node->valid = true;
}

/* All ------------------------------------------------------------------------------------------ */

static void (*const resolvers[])(yk_resolver *r, yk_node *node, const yk_option *field) = {
    [YK_OPTION_NUMBER] = resolve_number,
    [YK_OPTION_INTEGER] = resolve_integer,
    [YK_OPTION_BOOLEAN] = resolve_boolean,
    [YK_OPTION_TEXT] = resolve_text,
    [YK_OPTION_NAME] = resolve_name,
    [YK_OPTION_CHOICE] = resolve_choice,
    [YK_OPTION_FUNCTION] = resolve_function,
    [YK_OPTION_NUMBERS] = resolve_numbers,
    [YK_OPTION_FUNCTIONS] = resolve_numbers,
    [YK_OPTION_ORIENTATION] = yk_resolve_orientation,
    [YK_OPTION_INERTIA] = resolve_inertia,
    [YK_OPTION_PATH] = resolve_text,
    [YK_OPTION_SUBSYSTEMS] = resolve_subsystems,
    [YK_OPTION_SECTION] = resolve_section,
    [YK_OPTION_FORM] = resolve_form,
    [YK_OPTION_VARIANT] = resolve_variant,
    [YK_OPTION_LIST] = resolve_list,
    [YK_OPTION_NAMED] = resolve_named,
    [YK_OPTION_PARAMETERS] = yk_resolve_parameters,
    [YK_OPTION_TABLES] = yk_resolve_tables,
    [YK_OPTION_EXPRESSION] = resolve_text,
    [YK_OPTION_COMPONENTS] = yk_resolve_components,
    [YK_OPTION_TREE] = accept_tree,
};

void yk_resolve(yk_resolver *r, yk_node *node, const yk_option *field)
{
    if (exhausted(r))
        return;

    /* Parameters in braces are filled in before anything is read, except in parameters themselves. */
    yk_adapt_value(r, node, field);
    if (node->kind == YK_NODE_SCALAR && field->kind != YK_OPTION_PARAMETERS)
        node->text = yk_fill_parameters(r, node->text);
    node->unit = field->unit;
    node->own_length = r->length;
    node->own_mass = r->mass;
    resolvers[field->kind](r, node, field);
}
