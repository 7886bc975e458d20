/* The options of schemes: table rows over the option struct of each scheme, from which defaults,
 * checks and texts follow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/text.h"
#include "coupling/scheme_options.h"
#include "coupling/system.h"

const yk_option_choice yk_order_words[] = {
    {"gauss-seidel",
     "the sides that receive a motion first, then the others with the new wrenches"},
    {"jacobi", "all at the same time, with the data at the start of the step"},
    {NULL, NULL},
};

const yk_option_choice yk_exchange_words[] = {
    {"force-motion", "a motion to the second side, and its reaction wrench to the first"},
    {"auto", "one wrench to both sides, so that the joint is satisfied at the end of the step "
             "whatever the mass ratio, if both sides can predict their next step (multibody, "
             "oscillators); otherwise force-motion"},
    {"force-force", "the same, also if a subsystem has an interface model only (nonsmooth)"},
    {NULL, NULL},
};

const yk_option_choice yk_acceleration_words[] = {
    {"none", "as they are"},
    {"aitken", "by a factor from the last two changes (Aitken)"},
    {"quasi-newton",
     "by least squares over all changes, including those of earlier steps (IQN-ILS)"},
    {NULL, NULL},
};

/* Values --------------------------------------------------------------------------------------- */

void yk_scheme_set_defaults(const yk_scheme_ops *ops, void *options)
{
    /* Options without a default are zero. */
    memset(options, 0, ops->options_size);
    yk_option_set_defaults(ops->options, options);
}

/* Checks --------------------------------------------------------------------------------------- */

/* Checks that the value of a row is in its range, with a message that names both. */
static yk_status check_range(yk_context *context, const yk_scheme_ops *ops, const yk_option *row,
                             double value)
{
    yk_range range = row->range;
    if (row->kind == YK_OPTION_CHOICE || row->kind == YK_OPTION_FORM) {
        /* The last index of a form stands for its own keys. */
        int last = yk_option_choice_count(row) - 1;
        if (row->kind == YK_OPTION_FORM)
            last++;
        range = (yk_range)YK_BETWEEN(0, last);
    }

    if (yk_range_contains(&range, value) && !isnan(value))
        return YK_OK;

    if (!(range.bounds & YK_BOUND_MAXIMUM))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "scheme %s: the option '%s' is %g, must be %g or more", ops->name, row->key,
                       value, range.minimum);
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "scheme %s: the option '%s' is %g, must be between %g and %g", ops->name,
                   row->key, value, range.minimum, range.maximum);
}

yk_status yk_scheme_validate(yk_context *context, const yk_scheme_def *scheme)
{
    const yk_scheme_ops *ops = scheme->ops;
    if (!ops)
        ops = yk_scheme_at(0);

    /* Checks the table, which may come from outside the library. */
    const char *name = ops->name ? ops->name : "unknown";
    if (ops->size != sizeof(yk_scheme_ops))
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "scheme %s was built for another version of the contract (its table has %zu "
                       "bytes, this library's %zu): rebuild it",
                       name, ops->size, sizeof(yk_scheme_ops));

    /* Callers store options in buffers of a fixed size. */
    int rows = 0;
    while (ops->options && ops->options[rows].key)
        rows++;
    if (rows > YK_SCHEME_OPTIONS_MAX || ops->options_size > YK_SCHEME_OPTIONS_SIZE_MAX)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "scheme %s has %d options in %zu bytes; the most are %d in %d bytes", name,
                       rows, ops->options_size, YK_SCHEME_OPTIONS_MAX, YK_SCHEME_OPTIONS_SIZE_MAX);
    if (!ops->name || !ops->create || !ops->destroy || !ops->initialize || !ops->step)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "scheme %s lacks a required operation: name, create, destroy, start or step",
                       name);
    if (!scheme->options)
        return YK_OK;

    /* Check each option, then their combination. */
    for (int i = 0; i < rows; i++) {
        const yk_option *row = &ops->options[i];
        double value;
        if (!yk_option_get_number(row, scheme->options, &value))
            continue;

        yk_status status = check_range(context, ops, row, value);
        if (status != YK_OK)
            return status;
    }

    return ops->check ? ops->check(context, scheme->options) : YK_OK;
}

/* Options by name ------------------------------------------------------------------------------ */

const yk_option *yk_scheme_find_option(const yk_scheme_ops *ops, const char *key)
{
    return yk_option_find(ops->options, key);
}

yk_status yk_scheme_set_option(yk_context *context, const yk_scheme_ops *ops, void *options,
                               const char *key, const char *text)
{
    const yk_option *row = yk_scheme_find_option(ops, key);
    if (!row)
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme %s has no option '%s'", ops->name, key);

    /* Numbers of a custom choice, in the order of its keys, as in "2,2,1". The custom choice has
     * the index after the last word. */
    if (row->kind == YK_OPTION_FORM && strchr(text, ',')) {
        const char *rest = text;
        const yk_option *field = row->section->options;
        for (; field->key; field++) {
            char *end;
            double number = yk_text_number(rest, &end);
            char expected = ',';
            if (!field[1].key)
                expected = '\0';
            if (end == rest || *end != expected)
                break;

            yk_option_set_number(field, options, number);
            rest = end + 1;
        }

        if (!field->key) {
            yk_option_set_number(row, options, yk_option_choice_count(row));
            return YK_OK;
        }
    }

    /* Parses a number or a word of the row and checks its range. */
    double value;
    if (yk_option_parse(row, text, &value)) {
        yk_status status = check_range(context, ops, row, value);
        if (status == YK_OK)
            yk_option_set_number(row, options, value);
        return status;
    }

    if (!row->choices)
        return yk_fail(context, YK_ERROR_ARGUMENT, "scheme %s: '%s' is no value of the option '%s'",
                       ops->name, text, key);

    /* The valid values: words, or the numbers of the custom choice. */
    char words[200] = "";
    size_t used = 0;

    for (int i = 0; row->choices[i].name && used < sizeof words; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "",
                                 row->choices[i].name);

    const yk_option *fields = row->section ? row->section->options : NULL;
    int numbers = 0;
    while (fields && fields[numbers].key)
        numbers++;
    if (numbers > 0 && used < sizeof words)
        used += (size_t)snprintf(words + used, sizeof words - used, ", or %d numbers ", numbers);
    for (int i = 0; i < numbers && used < sizeof words; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? "," : "",
                                 fields[i].key);
    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "scheme %s: the option '%s' is '%s', must be one of %s", ops->name, key, text,
                   words);
}

/* The options of a system ---------------------------------------------------------------------- */

yk_status yk_system_copy_options(yk_system *system, const yk_scheme_def *scheme)
{
    const yk_scheme_ops *ops = scheme->ops;
    char *copy = yk_allocate(system->context, ops->options_size + 1, 1);
    if (!copy)
        return YK_ERROR_MEMORY;

    system->options = copy;
    system->scheme_def = (yk_scheme_def){.ops = ops, .options = copy};
    if (!scheme->options) {
        yk_scheme_set_defaults(ops, copy);
        return YK_OK;
    }

    memcpy(copy, scheme->options, ops->options_size);

    /* The copy still points to the caller's lists; copy them too. */
    size_t count = 0;
    for (const yk_option *row = ops->options; row && row->key; row++) {
        if (row->kind != YK_OPTION_SUBSYSTEMS)
            continue;

        const yk_subsystem_list *list = (void *)(copy + row->offset);
        count += (size_t)list->count;
    }

    if (count == 0)
        return YK_OK;

    /* All lists in one block. */
    int *next = yk_allocate(system->context, count, sizeof *next);
    if (!next)
        return YK_ERROR_MEMORY;

    system->option_items = next;
    for (const yk_option *row = ops->options; row->key; row++) {
        if (row->kind != YK_OPTION_SUBSYSTEMS)
            continue;

        yk_subsystem_list *list = (void *)(copy + row->offset);
        memcpy(next, list->items, (size_t)list->count * sizeof *next);
        list->items = next;
        next += list->count;
    }

    return YK_OK;
}

yk_status yk_system_create_scheme(yk_system *system)
{
    /* An incomplete object must be destroyed too, so its table is set first. */
    const yk_scheme_ops *ops = system->scheme_def.ops;
    yk_status status = ops->create(system, system->options, &system->scheme);
    if (system->scheme)
        system->scheme->ops = ops;
    return status;
}

/* What others ask ------------------------------------------------------------------------------ */

unsigned yk_scheme_traits(const yk_scheme_def *scheme)
{
    const yk_scheme_ops *ops = scheme->ops;
    if (!ops)
        ops = yk_scheme_at(0);
    if (!ops->traits)
        return ops->constant_traits;
    if (scheme->options || ops->options_size == 0)
        return ops->constant_traits | ops->traits(scheme->options);

    /* Traits that depend on options: those with the default options. */
    double defaults[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
    yk_scheme_set_defaults(ops, defaults);
    return ops->constant_traits | ops->traits(defaults);
}

void yk_scheme_display_name(const yk_scheme_def *scheme, char *text, size_t capacity)
{
    const yk_scheme_ops *ops = scheme->ops;
    if (!ops)
        ops = yk_scheme_at(0);
    snprintf(text, capacity, "%s", ops->name);
    if (ops->display_name && scheme->options)
        ops->display_name(scheme->options, text, capacity);
}

const char *yk_scheme_name_with(unsigned trait)
{
    for (int i = 0; yk_scheme_at(i); i++) {
        const yk_scheme_def scheme = {.ops = yk_scheme_at(i)};
        if (yk_scheme_traits(&scheme) & trait)
            return scheme.ops->name;
    }

    return "";
}

const char *yk_scheme_name_without(unsigned trait)
{
    for (int i = 0; yk_scheme_at(i); i++) {
        const yk_scheme_def scheme = {.ops = yk_scheme_at(i)};
        if (!(yk_scheme_traits(&scheme) & trait))
            return scheme.ops->name;
    }

    return "";
}
