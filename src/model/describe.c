/* A resolved scenario as YAML, and the reference documentation of all keys in Markdown. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/scenario.h"

/* YAML ----------------------------------------------------------------------------------------- */

/* As it is, or in double quotes with what YAML wants escaped. */
static void add_word(yk_context *context, yk_text *text, const char *word)
{
    /* Letters first: other words could be numbers. */
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    char first = word[0];
    bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    bool plain = letter && strspn(word, safe) == strlen(word);
    if (plain && strcmp(word, "null") != 0) {
        yk_text_add(context, text, "%s", word);
        return;
    }

    /* In quotes, control characters by their number. */
    yk_text_add(context, text, "\"");
    for (; *word; word++) {
        unsigned char c = (unsigned char)*word;
        if (c == '"' || c == '\\')
            yk_text_add(context, text, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            yk_text_add(context, text, "\\x%02X", c);
        else if (c == 0xC2 && word[1] &&
                 (unsigned char)word[1] < 0xA0) /* U+0080 to U+009F in UTF-8 */
            yk_text_add(context, text, "\\x%02X", (unsigned char)*++word);
        else
            yk_text_add(context, text, "%c", c);
    }

    yk_text_add(context, text, "\"");
}

/* The value after a key or a '-', on the same line where it is a scalar or empty. */
static void add_value(yk_context *context, yk_text *text, const yk_node *node, int indent)
{
    if (node->kind != YK_NODE_SCALAR) {
        /* A section or a list, indented below its key. */
        const char *empty = node->kind == YK_NODE_MAP ? " {}" : " []";
        yk_text_add(context, text, "%s\n", node->count ? "" : empty);
        for (const yk_node *child = node->first; child; child = child->next) {
            yk_text_add(context, text, "%*s", indent, "");
            if (child->key)
                add_word(context, text, child->key);

            yk_text_add(context, text, "%s", child->key ? ":" : "-");
            add_value(context, text, child, indent + 2);
        }
        return;
    }

    yk_text_add(context, text, " ");
    if (node->value_count == 1) {
        /* The shortest digits that read back as the same number. */
        char digits[32];
        for (int precision = 6; precision <= 17; precision++) {
            yk_format(digits, sizeof digits, "%.*g", precision, node->value);
            double back;
            if (yk_number_read(digits, &back) && back == node->value)
                break;
        }

        yk_text_add(context, text, "%s", digits);
    } else {
        add_word(context, text, node->text);
    }
    yk_text_add(context, text, "\n");
}

static char *finish(yk_context *context, yk_text *text)
{
    if (text->failed)
        yk_text_destroy(context, text);
    return text->data;
}

char *yk_scenario_resolved_text(const yk_scenario *scenario)
{
    yk_context *context = scenario->context;
    yk_text text = {0};
    for (const yk_node *child = scenario->root->first; child; child = child->next) {
        add_word(context, &text, child->key);
        yk_text_add(context, &text, ":");
        add_value(context, &text, child, 2);
    }

    return finish(context, &text);
}

/* Sections of the schema ----------------------------------------------------------------------- */

/* One table of keys per section, the sections below it after it. */

/* After one empty line. */
static void add_heading(yk_context *context, yk_text *text, int level, const char *title)
{
    /* Some sections end with an empty line already. */
    bool separated = text->length >= 2 && strcmp(text->data + text->length - 2, "\n\n") == 0;
    if (!separated)
        yk_text_add(context, text, "\n");
    yk_text_add(context, text, "%.*s %s\n\n", level, "######", title);
}

/* "`cone`, `coulomb`" */
static void add_choices(yk_context *context, yk_text *text, const yk_option_choice *words)
{
    for (const yk_option_choice *word = words; word->name; word++)
        yk_text_add(context, text, "%s`%s`", word == words ? "" : ", ", word->name);
}

static void add_count(yk_context *context, yk_text *text, const yk_option *field, const char *items)
{
    if (field->max_count && field->min_count == field->max_count)
        yk_text_add(context, text, "list of %d %s", field->min_count, items);
    else
        yk_text_add(context, text, "list of %s", items);
}

/* What a value is, with its bounds: the second column of a table. */
static void add_type(yk_context *context, yk_text *text, const yk_option *field)
{
    static const char *const names[] = {
        [YK_OPTION_NUMBER] = "number",
        [YK_OPTION_INTEGER] = "whole number",
        [YK_OPTION_BOOLEAN] = "`true` or `false`",
        [YK_OPTION_TEXT] = "text",
        [YK_OPTION_NAME] = "name",
        [YK_OPTION_FUNCTION] = "function of time",
        [YK_OPTION_ORIENTATION] = "[orientation](#orientation)",
        [YK_OPTION_INERTIA] = "3 numbers or 3 rows",
        [YK_OPTION_PATH] = "file",
        [YK_OPTION_SECTION] = "section",
        [YK_OPTION_NAMED] = "named items",
        [YK_OPTION_SUBSYSTEMS] = "list of subsystems",
        [YK_OPTION_PARAMETERS] = "names and numbers",
    };
    /* Types with a list of words or items say which. */
    switch (field->kind) {
    case YK_OPTION_CHOICE: add_choices(context, text, field->choices); break;
    case YK_OPTION_FORM:
        add_choices(context, text, field->choices);
        yk_text_add(context, text, ", or a section");
        break;
    case YK_OPTION_NUMBERS: add_count(context, text, field, "numbers"); break;
    case YK_OPTION_FUNCTIONS: add_count(context, text, field, "functions of time"); break;
    case YK_OPTION_LIST: add_count(context, text, field, field->item->key); break;
    case YK_OPTION_VARIANT:
        yk_text_add(context, text, "section by `%s`: ", field->selector);
        for (int i = 0; field->variants[i]; i++)
            yk_text_add(context, text, "%s`%s`", i ? ", " : "", field->variants[i]->name);
        break;
    default: yk_text_add(context, text, "%s", names[field->kind]); break;
    }

    /* Bounds. */
    if (field->range.bounds & YK_BOUND_MINIMUM) {
        const char *sign = field->range.bounds & YK_BOUND_MINIMUM_OPEN ? ">" : "≥";
        yk_text_add(context, text, ", %s %g", sign, field->range.minimum);
    }

    if (field->range.bounds & YK_BOUND_MAXIMUM) {
        const char *sign = field->range.bounds & YK_BOUND_MAXIMUM_OPEN ? "<" : "≤";
        yk_text_add(context, text, ", %s %g", sign, field->range.maximum);
    }
}

enum { PATH_MAX_LENGTH = 200 };

static void describe_fields(yk_context *context, yk_text *text, const yk_option_section *section,
                            const char *path, int level);
static void describe_below(yk_context *context, yk_text *text, const yk_option *field,
                           const char *path, int level);

/* One row per key. */
static void add_rows(yk_context *context, yk_text *text, const yk_option_section *section)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE) {
            add_rows(context, text, field->section);
            continue;
        }

        yk_text_add(context, text, "| `%s` | ", field->key);
        add_type(context, text, field);
        yk_text_add(context, text, " | %s | ", field->unit ? field->unit : "");
        if (field->required)
            yk_text_add(context, text, "required");
        else if (field->default_text)
            yk_text_add(context, text, "`%s`", field->default_text);

        yk_text_add(context, text, " | %s |\n", field->description);
    }
}

/* The meaning of words, where they have one. */
static void add_meanings(yk_context *context, yk_text *text, const yk_option_section *section)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE)
            add_meanings(context, text, field->section);
        if (!field->choices || !field->choices[0].description)
            continue;

        yk_text_add(context, text, "\n`%s`:\n\n", field->key);
        for (const yk_option_choice *word = field->choices; word->name; word++)
            yk_text_add(context, text, "- `%s`: %s\n", word->name, word->description);
    }
}

/* The section's text, its keys, and what is below them. `path` is empty at the top. */
static void describe(yk_context *context, yk_text *text, const yk_option_section *section,
                     const char *path, int level)
{
    if (section->description)
        yk_text_add(context, text, "%s\n\n", section->description);
    if (section->options[0].key)
        yk_text_add(context, text,
                    "| key | value | unit | default | meaning |\n"
                    "|---|---|---|---|---|\n");

    add_rows(context, text, section);
    add_meanings(context, text, section);
    describe_fields(context, text, section, path, level);
}

/* What is below the keys, under headings of their own. */
static void describe_fields(yk_context *context, yk_text *text, const yk_option_section *section,
                            const char *path, int level)
{
    for (const yk_option *field = section->options; field->key; field++) {
        if (field->kind == YK_OPTION_INCLUDE) {
            describe_fields(context, text, field->section, path, level);
            continue;
        }

        char below[PATH_MAX_LENGTH];
        if (path[0])
            snprintf(below, sizeof below, "%s.%s", path, field->key);
        else
            snprintf(below, sizeof below, "%s", field->key);

        describe_below(context, text, field, below, level);
    }
}

static void describe_variants(yk_context *context, yk_text *text, const yk_option *field,
                              const char *path, int level)
{
    /* What selects the variant. */
    add_heading(context, text, level, path);
    yk_text_add(context, text, "%s. The key `%s` selects the kind", field->description,
                field->selector);
    if (field->default_variant)
        yk_text_add(context, text, " (`%s` where it is absent)", field->default_variant);

    yk_text_add(context, text,
                "; the word alone may stand for a section with nothing else in it.\n\n");

    /* The keys that all have, then each. */
    if (field->section)
        describe(context, text, field->section, path, level + 1);

    for (const yk_option_section *const *variant = field->variants; *variant; variant++) {
        char title[PATH_MAX_LENGTH];
        snprintf(title, sizeof title, "%s, `%s: %s`", path, field->selector, (*variant)->name);
        add_heading(context, text, level + 1, title);
        describe(context, text, *variant, path, level + 2);
    }
}

/* Sections below a key, at the deepest level that Markdown has. */
static void describe_below(yk_context *context, yk_text *text, const yk_option *field,
                           const char *path, int level)
{
    /* Markdown has six levels. */
    if (level > 6)
        level = 6;

    /* Items of collections are shown by a name or by brackets. */
    char below[PATH_MAX_LENGTH];
    switch (field->kind) {
    case YK_OPTION_VARIANT: describe_variants(context, text, field, path, level); break;
    case YK_OPTION_SECTION:
    case YK_OPTION_FORM:
        add_heading(context, text, level, path);
        describe(context, text, field->section, path, level + 1);
        break;
    case YK_OPTION_NAMED:
        snprintf(below, sizeof below, "%s.NAME", path);
        describe_below(context, text, field->item, below, level);
        break;
    case YK_OPTION_LIST:
        snprintf(below, sizeof below, "%s[]", path);
        describe_below(context, text, field->item, below, level);
        break;
    default: break;
    }
}

/* The reference -------------------------------------------------------------------------------- */

static const char introduction[] =
    "# Scenario files\n\n"
    "<!-- Written by `yoke schema` from the tables in src/model; do not edit. -->\n\n"
    "A scenario is one YAML file. "
    "`yoke check` reports every mistake in it, `yoke run` runs it. "
    "Any value can be given on the command line instead: "
    "`--set coupling.scheme=tight`, `--set subsystems.left.mass=2`, "
    "`--set interfaces[0].joint=revolute`, "
    "or an item of a list by its name, `--set interfaces.tip.joint=fixed`.\n\n"
    "Named items (`subsystems`, `interfaces`) are a section of names, "
    "or a list of items that each have a `name`. "
    "A name starts with a letter and goes on with letters, digits, `_` and `-`. "
    "One item can stand for many: see [repeat](#repeat).\n\n"
    "Anchors (`&name`), aliases (`*name`) and merge keys (`<<: *name`) of YAML work.\n\n"
    "## Numbers and expressions\n\n"
    "A number may be given as an expression of the `parameters`; "
    "where the value is a function of time, also of the time `t` in seconds: "
    "`0.25*sin(2*pi*15.5*t)`. "
    "Inside `[]` and `{}`, expressions with commas need quotes.\n\n"
    "| | |\n"
    "|---|---|\n";

char *yk_scenario_schema_markdown(yk_context *context, const yk_scenario *scenario)
{
    yk_text text = {0};
    yk_store store = {.context = context};

    /* With what a scenario has loaded, if there is one. */
    yk_extensions extensions = {0};
    if (scenario)
        extensions = scenario->extensions;

    const yk_option_section *section = yk_scenario_section(&store, &extensions, NULL, NULL);
    if (!section) {
        yk_store_destroy(&store);
        return NULL;
    }

    /* The words of expressions; a bar would end the column. */
    yk_text_add(context, &text, "%s", introduction);
    for (const yk_option_choice *word = yk_expression_words(); word->name; word++) {
        yk_text_add(context, &text, "| `");
        for (const char *c = word->name; *c; c++)
            yk_text_add(context, &text, *c == '|' ? "\\%c" : "%c", *c);

        yk_text_add(context, &text, "` | %s |\n", word->description);
    }

    /* All keys, section by section. */
    yk_text_add(context, &text, "\n## Keys of the file\n\n");
    describe(context, &text, section, "", 3);
    yk_text_add(context, &text, "\n## Repeat\n\n");
    describe(context, &text, &yk_repeat_section, "repeat", 3);
    yk_text_add(context, &text, "\n## Orientation\n\n");
    describe(context, &text, &yk_orientation_section, "orientation", 3);
    yk_store_destroy(&store);

    return finish(context, &text);
}
