/* Values set in the text of a scenario file, with everything else in it left as it is: comments,
 * layout, spelling.
 *
 * The tree of the file has the locations of values. What was written is read again and compared,
 * node by node, with the tree that the same overrides give: an anchor that is used twice, or a
 * layout that is not understood, is refused and not spoilt. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/yaml.h"

typedef struct editor {
    yk_context *context;
    const char *path;
    yk_diagnostics *diagnostics;
} editor;

/* A tree with what it was read from. */
typedef struct reading {
    yk_store store;
    yk_source source;
    yk_node *root;
} reading;

static yk_status read_text(const editor *e, const char *text, reading *r)
{
    /* The tree points into a text of its own, which edits do not change. */
    *r = (reading){.store = {.context = e->context}};
    if (!text)
        return YK_ERROR_MEMORY; /* for the text of the edit before this one */

    size_t length = strlen(text);
    r->source = (yk_source){.has_lines = true, .length = length, .name = e->path};
    r->source.text = yk_store_text(&r->store, text, length);
    if (!r->source.text)
        return YK_ERROR_MEMORY;

    yk_status status = yk_yaml_read(&r->store, &r->source, e->diagnostics, &r->root);
    if (status == YK_OK && !r->root)
        status = yk_fail(e->context, YK_ERROR_INPUT, "'%s' cannot be read as YAML", e->path);

    return status;
}

static yk_status refuse(const editor *e, const char *override, const char *why)
{
    return yk_fail(e->context, YK_ERROR_INPUT, "%s: cannot set %s in place: %s; set it by hand",
                   e->path, override, why);
}

/* The text with `with` instead of `length` bytes at `at`. */
static yk_status splice(const editor *e, const char *text, const char *at, size_t length,
                        const char *with, char **edited)
{
    yk_text made = {0};
    yk_text_add(e->context, &made, "%.*s%s%s", (int)(at - text), text, with, at + length);
    if (made.failed)
        return YK_ERROR_MEMORY;

    *edited = made.data;
    return YK_OK;
}

/* Bytes of a value in quotes or brackets, with both of them; 0: it does not end. */
static size_t enclosed(const char *at)
{
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; at[i]; i++) {
        /* Brackets in quotes do not count, nor quotes behind a backslash. */
        char c = at[i];
        if (quote) {
            if (c == '\\' && quote == '"' && at[i + 1])
                i++;
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if (c == ']' || c == '}') {
            depth--;
        } else if (c == '#' && i > 0 && (at[i - 1] == ' ' || at[i - 1] == '\n')) {
            /* Brackets in comments do not count. */
            i += strcspn(at + i, "\n");
            if (!at[i])
                return 0;
        }

        if (!quote && depth == 0)
            return i + 1;
    }

    return 0;
}

/* A new entry of a map: the first one, for there its layout is known. */
static yk_status insert(const editor *e, const reading *r, const yk_node *map, const char *override,
                        char **edited)
{
    if (map->kind != YK_NODE_MAP || map->count == 0)
        return refuse(e, override, "its section is empty");

    /* The last step of the path is the key. */
    const char *equals = strchr(override, '=');
    const char *key = equals;
    while (key > override && key[-1] != '.')
        key--;
    int key_length = (int)(equals - key);
    const char *value = equals + 1;

    /* In braces, or on a line of its own with the indentation of its neighbour. */
    char entry[512];
    const char *at = yk_source_at(&r->source, map->line, map->column);
    if (*at == '{') {
        snprintf(entry, sizeof entry, "%.*s: %s, ", key_length, key, value);
        at += 1 + strspn(at + 1, " ");
    } else {
        const yk_node *first = map->first;
        at = yk_source_at(&r->source, first->key_line, 1);
        int indent = first->key_column - 1;
        if (indent < 0 || strspn(at, " ") != (size_t)indent)
            return refuse(e, override, "the layout of its section is not a simple one");

        snprintf(entry, sizeof entry, "%*s%.*s: %s\n", indent, "", key_length, key, value);
    }

    return splice(e, r->source.text, at, 0, entry, edited);
}

static yk_status set_value(const editor *e, const char *text, const char *override, char **edited)
{
    reading r;
    yk_status status = read_text(e, text, &r);

    /* Down the path to the value, or to the map in which it is missing. */
    const char *equals = strchr(override, '=');
    const char *step = override;
    const yk_node *node = NULL;
    const yk_node *map = NULL;
    if (status == YK_OK)
        node = r.root;

    while (node && step < equals) {
        char key[128];
        size_t length = strcspn(step, ".=");
        snprintf(key, sizeof key, "%.*s", (int)length, step);
        step += length + 1;
        map = node;
        node = yk_node_get(node, key);
    }

    /* The bytes of a value that is there: in quotes or brackets, or its text. */
    const char *at = NULL;
    size_t bytes = 0;
    if (node && node->line > 0) {
        at = yk_source_at(&r.source, node->line, node->column);
        size_t plain = strlen(node->text);
        if (*at && strchr("\"'[{", *at))
            bytes = enclosed(at);
        else if (node->kind == YK_NODE_SCALAR && strncmp(at, node->text, plain) == 0)
            bytes = plain;
    }

    /* A layout that is not understood is refused. */
    if (status == YK_OK && bytes > 0)
        status = splice(e, r.source.text, at, bytes, equals + 1, edited);
    else if (status == YK_OK && node)
        status = refuse(e, override, "the value that is there is not on one line");
    else if (status == YK_OK && step < equals)
        status = refuse(e, override, "its section is not there");
    else if (status == YK_OK)
        status = insert(e, &r, map, override, edited);

    yk_store_destroy(&r.store);
    return status;
}

static bool same(const yk_node *a, const yk_node *b)
{
    /* Locations differ after an edit; kinds, keys and texts must not. */
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == YK_NODE_SCALAR)
        return strcmp(a->text, b->text) == 0;

    /* Entries of a map by their keys, items of a list one by one. */
    const yk_node *other = b->first;
    for (const yk_node *child = a->first; child; child = child->next) {
        const yk_node *twin = other;
        if (a->kind == YK_NODE_MAP)
            twin = yk_node_get(b, child->key);
        if (!twin || !same(child, twin))
            return false;
        if (other)
            other = other->next;
    }

    return true;
}

yk_status yk_scenario_edit(yk_context *context, const char *path, const char *const *overrides,
                           int count, char **text)
{
    *text = NULL;
    editor e = {.context = context, .path = path};
    yk_store store = {.context = context};
    yk_source source = {0};
    yk_status status = yk_diagnostics_create(context, &e.diagnostics);
    if (status == YK_OK)
        status = yk_yaml_open(&store, path, e.diagnostics, &source);
    if (status == YK_OK && !source.text)
        status = yk_fail(context, YK_ERROR_INPUT, "'%s' cannot be read", path);

    char *present = NULL;
    if (status == YK_OK) {
        present = yk_text_copy(context, source.text);
        if (!present)
            status = YK_ERROR_MEMORY;
    }

    /* One value after the other, each in the text that the one before has left. */
    for (int i = 0; status == YK_OK && i < count; i++) {
        char *edited = NULL;
        status = set_value(&e, present, overrides[i], &edited);
        if (status != YK_OK)
            break;

        yk_release(context, present);
        present = edited;
    }

    /* What is written now is compared with what is meant: the tree of the file with the
     * overrides. */
    reading wanted = {.store = {.context = context}};
    reading made = {.store = {.context = context}};
    if (status == YK_OK)
        status = read_text(&e, source.text, &wanted);

    for (int i = 0; status == YK_OK && i < count; i++)
        status = yk_override_apply(&wanted.store, wanted.root, overrides[i], e.diagnostics);
    if (status == YK_OK)
        status = read_text(&e, present, &made);
    if (status == YK_OK && !same(wanted.root, made.root))
        status = yk_fail(context, YK_ERROR_INPUT,
                         "%s: the values cannot be set in place without changing others, as where "
                         "an anchor is used twice; set them by hand",
                         path);

    yk_store_destroy(&wanted.store);
    yk_store_destroy(&made.store);

    if (status == YK_OK)
        *text = present;
    else
        yk_release(context, present);

    yk_store_destroy(&store);
    yk_diagnostics_destroy(e.diagnostics);
    return status;
}
