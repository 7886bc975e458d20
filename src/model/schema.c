/* What a field expects, in words; and the values of resolved nodes. */
#include "model/schema.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "model/schema_words.h"
#include "model/synonyms.h"

static void add(yk_phrase *phrase, const char *format, ...) YK_PRINTF(2, 3);

static void add(yk_phrase *phrase, const char *format, ...)
{
    size_t used = strlen(phrase->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(phrase->text + used, sizeof phrase->text - used, format, arguments);
    va_end(arguments);
}

static void add_count(yk_phrase *phrase, const yk_field *field, const char *one, const char *many)
{
    if (field->least == field->most && field->least)
        add(phrase, "a list of %d %s", field->least, field->least == 1 ? one : many);
    else if (field->most && field->least)
        add(phrase, "a list of %d to %d %s", field->least, field->most, many);
    else if (field->least)
        add(phrase, "a list of %d or more %s", field->least, many);
    else
        add(phrase, "a list of %s", many);
    if (field->most && !field->least)
        add(phrase, ", at most %d", field->most);
}

static void add_words(yk_phrase *phrase, const yk_word *words)
{
    for (const yk_word *word = words; word->word; word++)
        add(phrase, "%s%s", word == words ? "" : word[1].word ? ", " : " or ", word->word);
}

static void add_range(yk_phrase *phrase, yk_range range)
{
    bool low = range.bounds & YK_LOW, high = range.bounds & YK_HIGH;
    if (low && high && !(range.bounds & (YK_LOW_OPEN | YK_HIGH_OPEN)))
        add(phrase, ", between %g and %g", range.low, range.high);
    else if (low && high)
        add(phrase, ", %s %g and %s %g", range.bounds & YK_LOW_OPEN ? "greater than" : "at least",
            range.low, range.bounds & YK_HIGH_OPEN ? "less than" : "at most", range.high);
    else if (low)
        add(phrase, ", %s %g", range.bounds & YK_LOW_OPEN ? "greater than" : "at least", range.low);
    else if (high)
        add(phrase, ", %s %g", range.bounds & YK_HIGH_OPEN ? "less than" : "at most", range.high);
}

static void add_variants(yk_phrase *phrase, const yk_field *field)
{
    add(phrase, "a section with '%s': ", field->selector);
    for (const yk_section *const *variant = field->variants; *variant; variant++)
        add(phrase, "%s%s",
            variant == field->variants ? ""
            : variant[1]               ? ", "
                                       : " or ",
            (*variant)->name);
}

static void add_kind(yk_phrase *phrase, const yk_field *field)
{
    switch (field->type) {
    case YK_TYPE_NUMBER: add(phrase, "a number"); break;
    case YK_TYPE_INTEGER: add(phrase, "a whole number"); break;
    case YK_TYPE_BOOLEAN: add(phrase, "true or false"); break;
    case YK_TYPE_TEXT: add(phrase, "a text"); break;
    case YK_TYPE_NAME: add(phrase, "a name"); break;
    case YK_TYPE_FUNCTION: add(phrase, "a number or an expression of time"); break;
    case YK_TYPE_NUMBERS: add_count(phrase, field, "number", "numbers"); break;
    case YK_TYPE_FUNCTIONS:
        add_count(phrase, field, "expression of time", "expressions of time");
        break;
    case YK_TYPE_ORIENTATION:
        add(phrase, "an orientation such as [w, x, y, z] or {axis: [0, 0, 1], angle: 0.5}");
        break;
    case YK_TYPE_INERTIA:
        add(phrase, "three numbers (a diagonal) or three rows of a symmetric matrix");
        break;
    case YK_TYPE_PATH: add(phrase, "the name of a file"); break;
    case YK_TYPE_SECTION: add(phrase, "a section"); break;
    case YK_TYPE_CHOICE: add_words(phrase, field->words); break;
    case YK_TYPE_FORM: add_words(phrase, field->words), add(phrase, ", or a section"); break;
    case YK_TYPE_VARIANT: add_variants(phrase, field); break;
    case YK_TYPE_LIST: add_count(phrase, field, field->item->key, field->item->key); break;
    case YK_TYPE_NAMED:
        add(phrase, "a section of named items, or a list of items with 'name'");
        break;
    case YK_TYPE_PARAMETERS: add(phrase, "a section of names and numbers"); break;
    }
}

yk_phrase yk_expected(const yk_field *field)
{
    yk_phrase phrase = {""};
    add_kind(&phrase, field);
    if (field->unit)
        add(&phrase, " in %s", field->unit);
    add_range(&phrase, field->range);
    return phrase;
}

yk_phrase yk_found(const yk_node *node)
{
    yk_phrase phrase = {""};
    if (yk_node_is_empty(node))
        add(&phrase, "nothing");
    else if (node->kind == YK_NODE_SCALAR)
        add(&phrase, "'%.40s'", node->text);
    else if (node->kind == YK_NODE_LIST)
        add(&phrase, "a list of %d", node->count);
    else
        add(&phrase, "a section");
    return phrase;
}

yk_phrase yk_suggestion(const char *word, const char *const *names, int count)
{
    yk_phrase phrase = {""};
    const char *valid[YK_SUGGESTED_MAX + 1] = {NULL};
    for (int i = 0; i < count && i < YK_SUGGESTED_MAX; i++)
        valid[i] = names[i];
    const char *nearest = yk_word_meant(word, valid);
    if (nearest) {
        add(&phrase, "did you mean '%s'?", nearest);
        return phrase;
    }
    add(&phrase, count == 0 ? "there are none" : count == 1 ? "there is only " : "there are ");
    for (int i = 0; i < count && strlen(phrase.text) < sizeof phrase.text - 1; i++)
        add(&phrase, "%s'%s'", i ? ", " : "", names[i]);
    return phrase;
}

/* Values --------------------------------------------------------------------------------------- */

/* The schema guarantees the entry: asking for another one is a mistake in the program. */
static const yk_node *entry(const yk_node *section, const char *key)
{
    const yk_node *node = yk_node_get(section, key);
    assert(node && node->valid);
    return node;
}

double yk_node_number(const yk_node *section, const char *key)
{
    return entry(section, key)->value;
}

int yk_node_integer(const yk_node *section, const char *key)
{
    return (int)entry(section, key)->value;
}

bool yk_node_boolean(const yk_node *section, const char *key)
{
    return entry(section, key)->choice != 0;
}

const char *yk_node_text(const yk_node *section, const char *key)
{
    return entry(section, key)->text;
}

int yk_node_choice(const yk_node *section, const char *key)
{
    return entry(section, key)->choice;
}

yk_vec3 yk_node_vector(const yk_node *section, const char *key)
{
    const yk_node *node = entry(section, key);
    assert(node->value_count == 3);
    return (yk_vec3){node->values[0], node->values[1], node->values[2]};
}

yk_quat yk_node_orientation(const yk_node *section, const char *key)
{
    const yk_node *node = entry(section, key);
    assert(node->value_count == 4);
    return (yk_quat){node->values[0], node->values[1], node->values[2], node->values[3]};
}
