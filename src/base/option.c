/* Option rows: search, ranges, defaults and members. */
#include "base/option.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

const yk_option *yk_option_find(const yk_option *rows, const char *key)
{
    for (const yk_option *row = rows; row && row->key; row++) {
        const yk_option *found = row;
        if (row->kind == YK_OPTION_INCLUDE)
            found = yk_option_find(row->section->options, key);
        else if (strcmp(row->key, key) != 0)
            found = NULL;
        if (found)
            return found;
    }

    return NULL;
}

int yk_option_choice_count(const yk_option *row)
{
    int count = 0;
    while (row->choices && row->choices[count].name)
        count++;
    return count;
}

bool yk_range_contains(const yk_range *range, double value)
{
    if (isnan(value))
        return range->bounds == 0;
    bool low = range->bounds & YK_BOUND_MINIMUM && value < range->minimum;
    bool high = range->bounds & YK_BOUND_MAXIMUM && value > range->maximum;
    low = low || (range->bounds & YK_BOUND_MINIMUM_OPEN && value == range->minimum);
    high = high || (range->bounds & YK_BOUND_MAXIMUM_OPEN && value == range->maximum);
    return !low && !high;
}

/* Values --------------------------------------------------------------------------------------- */

static bool find_choice(const yk_option *row, const char *text, double *value)
{
    int count = yk_option_choice_count(row);
    for (int i = 0; i < count; i++) {
        *value = i;
        if (strcmp(row->choices[i].name, text) == 0)
            return true;
    }

    return false;
}

bool yk_option_parse(const yk_option *row, const char *text, double *value)
{
    char *end;
    switch (row->kind) {
    case YK_OPTION_CHOICE:
    case YK_OPTION_FORM: return find_choice(row, text, value);
    case YK_OPTION_BOOLEAN:
        *value = strcmp(text, "true") == 0;
        return *value != 0 || strcmp(text, "false") == 0;
    case YK_OPTION_NUMBER:
    case YK_OPTION_INTEGER:
        *value = 0;
        if (row->accepts_auto && strcmp(text, "auto") == 0)
            return true;
        *value = yk_text_number(text, &end);
        if (end == text || *end != '\0')
            return false;
        return row->kind == YK_OPTION_NUMBER || (fabs(*value) < 1e9 && *value == rint(*value));
    default: return false; /* not a single number */
    }
}

static double factor_of(const yk_option *row)
{
    return row->factor != 0 ? row->factor : 1;
}

void yk_option_set_array(const yk_option *row, void *def, const double *values)
{
    for (size_t i = 0; i < row->size / sizeof(double); i++) {
        double value = factor_of(row) * values[i];
        memcpy((char *)def + row->offset + i * sizeof value, &value, sizeof value);
    }
}

/* Members are read and written by bytes, because only their offsets are known here. */

bool yk_option_get_number(const yk_option *row, const void *def, double *value)
{
    const char *member = (const char *)def + row->offset;
    int whole;
    bool flag;
    switch (row->kind) {
    case YK_OPTION_NUMBER:
        memcpy(value, member, sizeof *value);
        *value /= factor_of(row);
        return true;
    case YK_OPTION_INTEGER:
    case YK_OPTION_CHOICE:
    case YK_OPTION_FORM:
    case YK_OPTION_VARIANT:
        memcpy(&whole, member, sizeof whole);
        *value = whole;
        return true;
    case YK_OPTION_BOOLEAN:
        memcpy(&flag, member, sizeof flag);
        *value = flag;
        return true;
    default: return false;
    }
}

void yk_option_set_number(const yk_option *row, void *def, double value)
{
    char *member = (char *)def + row->offset;
    bool flag = value != 0;
    int whole;
    switch (row->kind) {
    case YK_OPTION_NUMBER:
        value *= factor_of(row);
        memcpy(member, &value, sizeof value);
        break;
    case YK_OPTION_INTEGER:
    case YK_OPTION_CHOICE:
    case YK_OPTION_FORM:
    case YK_OPTION_VARIANT:
        whole = (int)value;
        memcpy(member, &whole, sizeof whole);
        break;
    case YK_OPTION_BOOLEAN: memcpy(member, &flag, sizeof flag); break;
    default: assert(false); break;
    }
}

/* Defaults ------------------------------------------------------------------------------------- */

/* "[1, 2, 3]" into consecutive doubles. */
static void set_numbers(const yk_option *row, char *member)
{
    const char *at = row->default_text;
    for (size_t i = 0; i < row->size / sizeof(double); i++) {
        at += strspn(at, "[, ");
        char *end;
        double value = yk_text_number(at, &end);
        assert(end != at);
        value *= factor_of(row);
        memcpy(member + i * sizeof value, &value, sizeof value);
        at = end;
    }
}

/* The default variant's rows, and its index. */
static void set_variant(const yk_option *row, void *def)
{
    if (row->section)
        yk_option_set_defaults(row->section->options, def);

    for (int i = 0; row->variants[i]; i++) {
        if (!row->default_variant || strcmp(row->variants[i]->name, row->default_variant) != 0)
            continue;
        if (row->size > 0)
            yk_option_set_number(row, def, i);
        yk_option_set_defaults(row->variants[i]->options, def);
    }
}

void yk_option_set_defaults(const yk_option *rows, void *def)
{
    for (const yk_option *row = rows; row && row->key; row++) {
        double value;
        if (row->kind == YK_OPTION_INCLUDE)
            yk_option_set_defaults(row->section->options, def);
        else if (!row->default_text)
            continue;
        else if (row->kind == YK_OPTION_SECTION)
            yk_option_set_defaults(row->section->options, def);
        else if (row->kind == YK_OPTION_VARIANT)
            set_variant(row, def);
        else if (row->size == 0)
            continue;
        else if (row->kind == YK_OPTION_ORIENTATION ||
                 (row->kind == YK_OPTION_NUMBERS && row->min_count > 0 &&
                  row->min_count == row->max_count))
            set_numbers(row, (char *)def + row->offset);
        else if (yk_option_parse(row, row->default_text, &value))
            yk_option_set_number(row, def, value);
    }
}
