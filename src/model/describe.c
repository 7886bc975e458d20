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
    /* Some sections end with an empty line already. */
    const yk_text *text = w->text;
    bool separated = text->length >= 2 && strcmp(text->data + text->length - 2, "\n\n") == 0;
    if (!separated)
        yk_text_add(w->context, w->text, "\n");
    yk_text_add(w->context, w->text, "%.*s %s\n\n", level, "######", title);
}

/* "`cone`, `coulomb`" */
static void add_choices(writer *w, const yk_word *words)
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

/* What a value is, with its bounds: the second column of a table. */
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
    yk_context *context = w->context;
    yk_text *text = w->text;

    /* Types with a list of words or items say which. */
    switch (field->type) {
    case YK_TYPE_CHOICE: add_choices(w, field->words); break;
    case YK_TYPE_FORM:
        add_choices(w, field->words);
        yk_text_add(context, text, ", or a section");
        break;
    case YK_TYPE_NUMBERS: add_count(w, field, "numbers"); break;
    case YK_TYPE_FUNCTIONS: add_count(w, field, "functions of time"); break;
    case YK_TYPE_LIST: add_count(w, field, field->item->key); break;
    case YK_TYPE_VARIANT:
        yk_text_add(context, text, "section by `%s`: ", field->selector);
        for (int i = 0; field->variants[i]; i++)
            yk_text_add(context, text, "%s`%s`", i ? ", " : "", field->variants[i]->name);
        break;
    default: yk_text_add(context, text, "%s", names[field->type]); break;
    }

    /* Bounds. */
    yk_range range = field->range;
    if (range.bounds & YK_LOW) {
        const char *sign = range.bounds & YK_LOW_OPEN ? ">" : "≥";
        yk_text_add(context, text, ", %s %g", sign, range.low);
    }

    if (range.bounds & YK_HIGH) {
        const char *sign = range.bounds & YK_HIGH_OPEN ? "<" : "≤";
        yk_text_add(context, text, ", %s %g", sign, range.high);
    }
}

enum { PATH_MAX_LENGTH = 200 };

static void describe_fields(writer *w, const yk_section *section, const char *path, int level);
static void describe_below(writer *w, const yk_field *field, const char *path, int level);

/* One row per key. */
static void add_rows(writer *w, const yk_section *section)
{
    yk_context *context = w->context;
    yk_text *text = w->text;
    for (const yk_field *field = section->fields; field->key; field++) {
        if (field->type == YK_TYPE_INCLUDE) {
            add_rows(w, field->section);
            continue;
        }

        yk_text_add(context, text, "| `%s` | ", field->key);
        add_type(w, field);
        yk_text_add(context, text, " | %s | ", field->unit ? field->unit : "");
        if (field->required)
            yk_text_add(context, text, "required");
        else if (field->fallback)
            yk_text_add(context, text, "`%s`", field->fallback);

        yk_text_add(context, text, " | %s |\n", field->text);
    }
}

/* The meaning of words, where they have one. */
static void add_meanings(writer *w, const yk_section *section)
{
    for (const yk_field *field = section->fields; field->key; field++) {
        if (field->type == YK_TYPE_INCLUDE)
            add_meanings(w, field->section);
        if (!field->words || !field->words[0].text)
            continue;

        yk_text_add(w->context, w->text, "\n`%s`:\n\n", field->key);
        for (const yk_word *word = field->words; word->word; word++)
            yk_text_add(w->context, w->text, "- `%s`: %s\n", word->word, word->text);
    }
}

/* The section's text, its keys, and what is below them. `path` is empty at the top. */
static void describe(writer *w, const yk_section *section, const char *path, int level)
{
    if (section->text)
        yk_text_add(w->context, w->text, "%s\n\n", section->text);
    if (section->fields[0].key)
        yk_text_add(w->context, w->text,
                    "| key | value | unit | default | meaning |\n"
                    "|---|---|---|---|---|\n");

    add_rows(w, section);
    add_meanings(w, section);
    describe_fields(w, section, path, level);
}

/* What is below the keys, under headings of their own. */
static void describe_fields(writer *w, const yk_section *section, const char *path, int level)
{
    for (const yk_field *field = section->fields; field->key; field++) {
        if (field->type == YK_TYPE_INCLUDE) {
            describe_fields(w, field->section, path, level);
            continue;
        }

        char below[PATH_MAX_LENGTH];
        if (path[0])
            snprintf(below, sizeof below, "%s.%s", path, field->key);
        else
            snprintf(below, sizeof below, "%s", field->key);

        describe_below(w, field, below, level);
    }
}

static void describe_variants(writer *w, const yk_field *field, const char *path, int level)
{
    yk_context *context = w->context;
    yk_text *text = w->text;

    /* What selects the variant. */
    add_heading(w, level, path);
    yk_text_add(context, text, "%s. The key `%s` selects the kind", field->text, field->selector);
    if (field->selector_fallback)
        yk_text_add(context, text, " (`%s` where it is absent)", field->selector_fallback);

    yk_text_add(context, text,
                "; the word alone may stand for a section with nothing else in it.\n\n");

    /* The keys that all have, then each. */
    if (field->section)
        describe(w, field->section, path, level + 1);

    for (const yk_section *const *variant = field->variants; *variant; variant++) {
        char title[PATH_MAX_LENGTH];
        snprintf(title, sizeof title, "%s, `%s: %s`", path, field->selector, (*variant)->name);
        add_heading(w, level + 1, title);
        describe(w, *variant, path, level + 2);
    }
}

/* Sections below a key, at the deepest level that Markdown has. */
static void describe_below(writer *w, const yk_field *field, const char *path, int level)
{
    /* Markdown has six levels. */
    if (level > 6)
        level = 6;

    /* Items of collections are shown by a name or by brackets. */
    char below[PATH_MAX_LENGTH];
    switch (field->type) {
    case YK_TYPE_VARIANT: describe_variants(w, field, path, level); break;
    case YK_TYPE_SECTION:
    case YK_TYPE_FORM:
        add_heading(w, level, path);
        describe(w, field->section, path, level + 1);
        break;
    case YK_TYPE_NAMED:
        snprintf(below, sizeof below, "%s.NAME", path);
        describe_below(w, field->item, below, level);
        break;
    case YK_TYPE_LIST:
        snprintf(below, sizeof below, "%s[]", path);
        describe_below(w, field->item, below, level);
        break;
    default: break;
    }
}

void yk_schema_describe(yk_context *context, yk_text *text, const yk_section *section,
                        const char *path, int level)
{
    describe(&(writer){context, text}, section, path, level);
}
