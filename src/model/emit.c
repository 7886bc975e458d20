/* A resolved scenario as YAML, and the reference of all keys. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/scenario.h"

typedef struct emitter {
    yk_context *context;
    yk_text text;
} emitter;

/* As it is, or in double quotes with what YAML wants escaped. */
static void add_word(emitter *e, const char *text)
{
    /* Letters first: other words could be numbers. */
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    char first = text[0];
    bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    bool plain = letter && strspn(text, safe) == strlen(text);
    if (plain && strcmp(text, "null") != 0) {
        yk_text_add(e->context, &e->text, "%s", text);
        return;
    }

    /* In quotes, control characters by their number. */
    yk_text_add(e->context, &e->text, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            yk_text_add(e->context, &e->text, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            yk_text_add(e->context, &e->text, "\\x%02X", c);
        else
            yk_text_add(e->context, &e->text, "%c", c);
    }

    yk_text_add(e->context, &e->text, "\"");
}

/* The value after a key or a '-', on the same line where it is a scalar or empty. */
static void add_value(emitter *e, const yk_node *node, int indent)
{
    yk_context *context = e->context;
    yk_text *text = &e->text;
    if (node->kind != YK_NODE_SCALAR) {
        /* A section or a list, indented below its key. */
        const char *empty = node->kind == YK_NODE_MAP ? " {}" : " []";
        yk_text_add(context, text, "%s\n", node->count ? "" : empty);
        for (const yk_node *child = node->first; child; child = child->next) {
            yk_text_add(context, text, "%*s", indent, "");
            if (child->key)
                add_word(e, child->key);

            yk_text_add(context, text, "%s", child->key ? ":" : "-");
            add_value(e, child, indent + 2);
        }
        return;
    }

    yk_text_add(context, text, " ");
    if (node->value_count == 1) {
        /* The shortest digits that read back as the same number, with a point in every locale. */
        char digits[32];
        for (int precision = 6; precision <= 17; precision++) {
            snprintf(digits, sizeof digits, "%.*g", precision, node->value);
            char *comma = strchr(digits, ',');
            if (comma)
                *comma = '.';

            double back;
            if (yk_number_read(digits, &back) && back == node->value)
                break;
        }

        yk_text_add(context, text, "%s", digits);
    } else {
        add_word(e, node->text);
    }
    yk_text_add(context, text, "\n");
}

static char *finish(emitter *e)
{
    if (e->text.failed)
        yk_text_destroy(e->context, &e->text);
    return e->text.data;
}

char *yk_scenario_text(const yk_scenario *scenario)
{
    emitter e = {.context = scenario->context};
    for (const yk_node *child = scenario->root->first; child; child = child->next) {
        add_word(&e, child->key);
        yk_text_add(e.context, &e.text, ":");
        add_value(&e, child, 2);
    }

    return finish(&e);
}

/* Reference ------------------------------------------------------------------------------------ */

static const char introduction[] =
    "# Scenario files\n\n"
    "<!-- Written by `yoke schema` from the tables in src/model; do not edit. -->\n\n"
    "A scenario is one YAML file. "
    "`yoke check` reports every mistake in it, `yoke run` runs it. "
    "Any value can be given on the command line instead: "
    "`--set coupling.scheme=tight`, `--set subsystems.left.mass=2`, "
    "`--set interfaces[0].joint=revolute`, "
    "or an item of a list by its name, `--set interfaces.tip.joint=clamp`.\n\n"
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

char *yk_scenario_reference(yk_context *context, const yk_scenario *scenario)
{
    emitter e = {.context = context};
    yk_store store = {.context = context};

    /* With what a scenario has loaded, if there is one. */
    yk_extensions extensions = {0};
    if (scenario)
        extensions = scenario->extensions;

    const yk_section *section = yk_scenario_section(&store, &extensions, NULL, NULL);
    if (!section) {
        yk_store_destroy(&store);
        return NULL;
    }

    /* The words of expressions; a bar would end the column. */
    yk_text_add(context, &e.text, "%s", introduction);
    for (const yk_expression_word *word = yk_expression_words(); word->usage; word++) {
        yk_text_add(context, &e.text, "| `");
        for (const char *c = word->usage; *c; c++)
            yk_text_add(context, &e.text, *c == '|' ? "\\%c" : "%c", *c);

        yk_text_add(context, &e.text, "` | %s |\n", word->text);
    }

    /* All keys, section by section. */
    yk_text_add(context, &e.text, "\n## Keys of the file\n\n");
    yk_schema_describe(context, &e.text, section, "", 3);
    yk_text_add(context, &e.text, "\n## Repeat\n\n");
    yk_schema_describe(context, &e.text, &yk_repeat_section, "repeat", 3);
    yk_text_add(context, &e.text, "\n## Orientation\n\n");
    yk_schema_describe(context, &e.text, &yk_orientation_section, "orientation", 3);
    yk_store_destroy(&store);

    return finish(&e);
}
