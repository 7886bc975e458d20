/* A scenario as written, with its overrides, as JSON: for programs that read or change scenarios. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/scenario.h"

/* Whether a number is an integer in the notation of JSON, which preserves all of its digits. */
static bool is_plain_integer(const char *text)
{
    text += *text == '-';
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && text[digits] == '\0' && (text[0] != '0' || digits == 1);
}

static void add_scalar(yk_context *context, yk_text *text, const yk_node *node)
{
    double value;
    if (node->quoted)
        yk_text_add_json(context, text, node->text);
    else if (yk_node_is_empty(node))
        yk_text_add(context, text, "null");
    else if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0 ||
             is_plain_integer(node->text))
        yk_text_add(context, text, "%s", node->text);
    else if (yk_number_read(node->text, &value) && isfinite(value))
        yk_text_add(context, text, "%.17g", value);
    else
        yk_text_add_json(context, text, node->text);
}

static void add_node(yk_context *context, yk_text *text, const yk_node *node)
{
    if (node->kind == YK_NODE_SCALAR) {
        add_scalar(context, text, node);
        return;
    }

    bool is_map = node->kind == YK_NODE_MAP;
    yk_text_add(context, text, is_map ? "{" : "[");
    for (const yk_node *child = node->first; child; child = child->next) {
        if (is_map) {
            yk_text_add_json(context, text, child->key);
            yk_text_add(context, text, ":");
        }
        add_node(context, text, child);
        if (child->next)
            yk_text_add(context, text, ",");
    }
    yk_text_add(context, text, is_map ? "}" : "]");
}

yk_status yk_scenario_source_json(yk_context *context, const yk_scenario_def *def,
                                  yk_diagnostics *diagnostics, char **json)
{
    *json = NULL;
    yk_scenario scenario = {.context = context,
                            .store = {.context = context},
                            .resolver = {.diagnostics = diagnostics}};
    int errors = yk_diagnostics_error_count(diagnostics);
    yk_status status = yk_scenario_read_tree(&scenario, def);
    if (status == YK_OK && yk_diagnostics_error_count(diagnostics) > errors)
        status = YK_ERROR_INPUT;

    yk_text text = {0};
    if (status == YK_OK) {
        if (scenario.root)
            add_node(context, &text, scenario.root);
        else
            yk_text_add(context, &text, "null");
        if (text.failed) {
            yk_text_destroy(context, &text);
            status = YK_ERROR_MEMORY;
        }
    }

    *json = text.data;
    yk_store_destroy(&scenario.store);
    return status;
}
