/* Values set in the text of a scenario file, with everything else in it left as it is: comments,
 * layout, spelling.
 *
 * The tree of the file tells where values stand. What was written is read again and compared,
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
    *r = (reading){.store = {.context = e->context}};
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

/* Places in the text --------------------------------------------------------------------------- */

/* Bytes of a value in quotes or brackets, with both of them; 0: it does not end. */
static size_t enclosed(const char *at)
{
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; at[i]; i++) {
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
            i += strcspn(at + i, "\n");
            if (!at[i])
                return 0;
        }
        if (!quote && depth == 0)
            return i + 1;
    }
    return 0;
}

/* Bytes of a node's text; 0: not known. */
static size_t span_of(const yk_node *node, const char *at)
{
    if (strchr("\"'[{", *at) && *at)
        return enclosed(at);
    if (node->kind != YK_NODE_SCALAR)
        return 0;

    size_t length = strlen(node->text);
    return length > 0 && strncmp(at, node->text, length) == 0 ? length : 0;
}

/* The text with `with` in the place of `length` bytes at `at`. */
static char *splice(const editor *e, const char *text, const char *at, size_t length,
                    const char *with)
{
    yk_text made = {0};
    yk_text_add(e->context, &made, "%.*s%s%s", (int)(at - text), text, with, at + length);
    return made.failed ? NULL : made.data;
}

/* Editing -------------------------------------------------------------------------------------- */

/* A new entry of a map: the first one, for there its layout is known. */
static yk_status insert(const editor *e, const reading *r, const yk_node *map, const char *override,
                        char **edited)
{
    const char *text = r->source.text, *at = yk_source_at(&r->source, map->line, map->column);
    const char *equals = strchr(override, '='), *key = equals;
    while (key > override && key[-1] != '.')
        key--;
    char entry[512];
    if (map->kind != YK_NODE_MAP || map->count == 0)
        return refuse(e, override, "its section is empty");
    if (*at == '{') {
        snprintf(entry, sizeof entry, "%.*s: %s, ", (int)(equals - key), key, equals + 1);
        at += 1 + strspn(at + 1, " ");
    } else {
        const yk_node *first = map->first;
        const char *line = yk_source_at(&r->source, first->key_line, 1);
        int indent = first->key_column - 1;
        if (indent < 0 || strspn(line, " ") != (size_t)indent)
            return refuse(e, override, "the layout of its section is not a simple one");

        snprintf(entry, sizeof entry, "%*s%.*s: %s\n", indent, "", (int)(equals - key), key,
                 equals + 1);
        at = line;
    }
    *edited = splice(e, text, at, 0, entry);
    return *edited ? YK_OK : YK_ERROR_MEMORY;
}

static yk_status set_value(const editor *e, const char *text, const char *override, char **edited)
{
    reading r;
    yk_status status = read_text(e, text, &r);
    const char *equals = strchr(override, '='), *at = override;
    const yk_node *node = status == YK_OK ? r.root : NULL, *map = NULL;
    while (node && at < equals) {
        char key[128];
        size_t length = strcspn(at, ".=");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        at += length + 1;
        map = node;
        node = yk_node_get(node, key);
    }
    if (status == YK_OK && !node && at < equals)
        status = refuse(e, override, "its section is not there");
    if (status == YK_OK && !node) {
        status = insert(e, &r, map, override, edited);
    } else if (status == YK_OK) {
        const char *place = yk_source_at(&r.source, node->line, node->column);
        size_t length = node->line > 0 ? span_of(node, place) : 0;
        if (length == 0) {
            status = refuse(e, override, "the value that is there is not on one line");
        } else {
            *edited = splice(e, r.source.text, place, length, equals + 1);
            if (!*edited)
                status = YK_ERROR_MEMORY;
        }
    }
    yk_store_destroy(&r.store);
    return status;
}

/* Comparison ----------------------------------------------------------------------------------- */

static bool same(const yk_node *a, const yk_node *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == YK_NODE_SCALAR)
        return strcmp(a->text, b->text) == 0;

    const yk_node *other = b->first;
    for (const yk_node *child = a->first; child; child = child->next) {
        const yk_node *twin = a->kind == YK_NODE_MAP ? yk_node_get(b, child->key) : other;
        if (!twin || !same(child, twin))
            return false;
        if (other)
            other = other->next;
    }
    return true;
}

static yk_status check(const editor *e, const char *before, const char *after,
                       const char *const *overrides, int count)
{
    reading wanted, made;
    yk_status status = read_text(e, before, &wanted);
    for (int i = 0; status == YK_OK && i < count; i++)
        status = yk_override_apply(&wanted.store, wanted.root, overrides[i], e->diagnostics);
    yk_status read = read_text(e, after, &made);
    if (status == YK_OK)
        status = read;
    if (status == YK_OK && !same(wanted.root, made.root))
        status = yk_fail(e->context, YK_ERROR_INPUT,
                         "%s: the values cannot be set in place without changing others, as where "
                         "an anchor is used "
                         "twice; set them by hand",
                         e->path);
    yk_store_destroy(&wanted.store);
    yk_store_destroy(&made.store);
    return status;
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

    char *present = status == YK_OK ? yk_text_copy(context, source.text) : NULL;
    if (status == YK_OK && !present)
        status = YK_ERROR_MEMORY;
    for (int i = 0; status == YK_OK && i < count; i++) {
        char *edited = NULL;
        status = set_value(&e, present, overrides[i], &edited);
        if (status != YK_OK)
            break;

        yk_release(context, present);
        present = edited;
    }
    if (status == YK_OK)
        status = check(&e, source.text, present, overrides, count);
    if (status == YK_OK)
        *text = present;
    else
        yk_release(context, present);
    yk_store_destroy(&store);
    yk_diagnostics_destroy(e.diagnostics);
    return status;
}
