/* The schema as reference documentation in Markdown: one table of keys per section, the sections
 * below it after it. */
#include <stdio.h>
#include <string.h>

#include "model/schema.h"

typedef struct writer {
    yk_context *context;
    yk_text *text;
} writer;

/* After one empty line. */
static void add_heading(writer *w, int level, const char *title)
{
    bool separated =
        w->text->length >= 2 && strcmp(w->text->data + w->text->length - 2, "\n\n") == 0;
    yk_text_add(w->context, w->text, "%s%.*s %s\n\n", separated ? "" : "\n", level, "######",
                title);
}

static void add_range(writer *w, yk_range range)
{
    bool low = range.bounds & YK_LOW, high = range.bounds & YK_HIGH;
    if (low)
        yk_text_add(w->context, w->text, ", %s %g", range.bounds & YK_LOW_OPEN ? ">" : "≥",
                    range.low);
    if (high)
        yk_text_add(w->context, w->text, ", %s %g", range.bounds & YK_HIGH_OPEN ? "<" : "≤",
                    range.high);
}

static void add_words(writer *w, const yk_word *words)
{
    for (const yk_word *word = words; word->word; word++)
        yk_text_add(w->context, w->text, "%s`%s`", word == words ? "" : ", ", word->word);
}

static void add_count(writer *w, const yk_field *field, const char *items)
{
    if (field->most && field->least == field->most)
        yk_text_add(w->context, w->text, "list of %d %s", field->least, items);
    else
        yk_text_add(w->context, w->text, "list of %s", items);
}

static void add_variants(writer *w, const yk_field *field)
{
    yk_text_add(w->context, w->text, "section by `%s`: ", field->selector);
    for (const yk_section *const *variant = field->variants; *variant; variant++)
        yk_text_add(w->context, w->text, "%s`%s`", variant == field->variants ? "" : ", ",
                    (*variant)->name);
}

static void add_type(writer *w, const yk_field *field)
{
    static const char *const names[] = {
        [YK_TYPE_NUMBER] = "number",
        [YK_TYPE_INTEGER] = "whole number",
        [YK_TYPE_BOOLEAN] = "`true` or `false`",
        [YK_TYPE_TEXT] = "text",
        [YK_TYPE_NAME] = "name",
        [YK_TYPE_FUNCTION] = "function of time",
        [YK_TYPE_ORIENTATION] = "[orientation](#orientation)",
        [YK_TYPE_INERTIA] = "3 numbers or 3 rows",
        [YK_TYPE_PATH] = "file",
        [YK_TYPE_SECTION] = "section",
        [YK_TYPE_NAMED] = "named items",
        [YK_TYPE_PARAMETERS] = "names and numbers",
    };
    switch (field->type) {
    case YK_TYPE_CHOICE: add_words(w, field->words); break;
    case YK_TYPE_FORM:
        add_words(w, field->words), yk_text_add(w->context, w->text, ", or a section");
        break;
    case YK_TYPE_NUMBERS: add_count(w, field, "numbers"); break;
    case YK_TYPE_FUNCTIONS: add_count(w, field, "functions of time"); break;
    case YK_TYPE_LIST: add_count(w, field, field->item->key); break;
    case YK_TYPE_VARIANT: add_variants(w, field); break;
    default: yk_text_add(w->context, w->text, "%s", names[field->type]); break;
    }
    add_range(w, field->range);
}

static void add_field(writer *w, const yk_field *field)
{
    yk_text_add(w->context, w->text, "| `%s` | ", field->key);
    add_type(w, field);
    yk_text_add(w->context, w->text, " | %s | ", field->unit ? field->unit : "");
    if (field->required)
        yk_text_add(w->context, w->text, "required");
    else if (field->fallback)
        yk_text_add(w->context, w->text, "`%s`", field->fallback);
    yk_text_add(w->context, w->text, " | %s |\n", field->text);
}

static void add_table(writer *w, const yk_section *section)
{
    if (!section->fields[0].key)
        return;

    yk_text_add(w->context, w->text,
                "| key | value | unit | default | meaning |\n|---|---|---|---|---|\n");
    for (const yk_field *field = section->fields; field->key; field++)
        add_field(w, field);
}

static void add_word_list(writer *w, const yk_field *field)
{
    if (!field->words || !field->words[0].text)
        return;

    yk_text_add(w->context, w->text, "\n`%s`:\n\n", field->key);
    for (const yk_word *word = field->words; word->word; word++)
        yk_text_add(w->context, w->text, "- `%s`: %s\n", word->word, word->text);
}

enum { PATH_MAX_LENGTH = 200 };

static void describe_below(writer *w, const yk_field *field, const char *path, int level);

/* The section's text, its keys, and what is below them. `path` is empty at the top. */
static void describe(writer *w, const yk_section *section, const char *path, int level)
{
    if (section->text)
        yk_text_add(w->context, w->text, "%s\n\n", section->text);
    add_table(w, section);
    for (const yk_field *field = section->fields; field->key; field++)
        add_word_list(w, field);
    for (const yk_field *field = section->fields; field->key; field++) {
        char below[PATH_MAX_LENGTH];
        snprintf(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", field->key);
        describe_below(w, field, below, level);
    }
}

static void describe_variants(writer *w, const yk_field *field, const char *path, int level)
{
    add_heading(w, level, path);
    yk_text_add(w->context, w->text, "%s. The key `%s` selects the kind", field->text,
                field->selector);
    if (field->selector_fallback)
        yk_text_add(w->context, w->text, " (`%s` where it is absent)", field->selector_fallback);
    yk_text_add(w->context, w->text,
                "; the word alone may stand for a section with nothing else in it.\n\n");
    if (field->section)
        describe(w, field->section, path, level + 1);
    for (const yk_section *const *variant = field->variants; *variant; variant++) {
        char below[PATH_MAX_LENGTH];
        snprintf(below, sizeof below, "%s, `%s: %s`", path, field->selector, (*variant)->name);
        add_heading(w, level + 1, below);
        snprintf(below, sizeof below, "%s", path);
        describe(w, *variant, below, level + 2);
    }
}

static void describe_below(writer *w, const yk_field *field, const char *path, int level)
{
    if (level > 6)
        level = 6;
    if (field->type == YK_TYPE_VARIANT) {
        describe_variants(w, field, path, level);
    } else if (field->type == YK_TYPE_SECTION || field->type == YK_TYPE_FORM) {
        add_heading(w, level, path);
        describe(w, field->section, path, level + 1);
    } else if (field->type == YK_TYPE_NAMED || field->type == YK_TYPE_LIST) {
        char below[PATH_MAX_LENGTH];
        snprintf(below, sizeof below, field->type == YK_TYPE_NAMED ? "%s.NAME" : "%s[]", path);
        describe_below(w, field->item, below, level);
    }
}

void yk_schema_describe(yk_context *context, yk_text *text, const yk_section *section,
                        const char *path, int level)
{
    describe(&(writer){context, text}, section, path, level);
}
