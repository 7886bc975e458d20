/* A resolved scenario as YAML. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/scenario.h"

/* YAML ----------------------------------------------------------------------------------------- */

/* Unquoted if possible, otherwise in double quotes with the escapes of YAML. */
static void add_word(yk_context *context, yk_text *text, const char *word)
{
    /* The first character must be a letter, because other words could be numbers. */
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

/* "  # corner.yaml:7", "  # --set time.end", "  # default" */
static void add_origin(yk_context *context, yk_text *text, const yk_node *node)
{
    const yk_source *source = node->from;
    if (source && source->has_lines)
        yk_text_add(context, text, "  # %s:%d", source->name, node->line);
    else if (source)
        yk_text_add(context, text, "  # %s", source->name);
}

/* The value after a key or a '-', on the same line if it is a scalar or empty. */
static void add_value(yk_context *context, yk_text *text, const yk_node *node, int indent,
                      bool origins)
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
            add_value(context, text, child, indent + 2, origins);
        }
        return;
    }

    yk_text_add(context, text, " ");
    if (node->value_count == 1) {
        /* The shortest digits that are read back as the same number. */
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

    if (origins)
        add_origin(context, text, node);
    yk_text_add(context, text, "\n");
}

static char *finish(yk_context *context, yk_text *text)
{
    if (text->failed)
        yk_text_destroy(context, text);
    return text->data;
}

static char *describe(const yk_scenario *scenario, bool origins)
{
    yk_context *context = scenario->context;
    yk_text text = {0};
    for (const yk_node *child = scenario->root->first; child; child = child->next) {
        add_word(context, &text, child->key);
        yk_text_add(context, &text, ":");
        add_value(context, &text, child, 2, origins);
    }

    return finish(context, &text);
}

char *yk_scenario_resolved_text(const yk_scenario *scenario)
{
    return describe(scenario, false);
}

char *yk_scenario_text_with_origins(const yk_scenario *scenario)
{
    return describe(scenario, true);
}
