/* Overrides of values of a file: in its tree, as on the command line, and in its text. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/yaml_tree.h"

/* In the tree ---------------------------------------------------------------------------------- */

typedef struct override {
    yk_store *store;
    yk_diagnostics *diagnostics;
    yk_source *source; /* named "--set coupling.scheme", with the value as its text */
    const char *path;
    bool failed; /* reported */
} override;

/* One step of a path: a key, or an index in brackets. */
typedef struct segment {
    const char *name; /* NULL: an index */
    int index;
    size_t end; /* length of the path up to and with this step */
} segment;

enum { SEGMENTS_MAX = 32 };

static void complain(override *o, const char *message)
{
    yk_report(o->diagnostics, YK_SEVERITY_ERROR, (yk_location){.source = o->source}, NULL, "%s",
              message);
    o->failed = true;
}

/* Splits the path into `count` steps; no steps after an error. */
static yk_status split_path(override *o, segment *segments, int *count)
{
    *count = 0;
    int found = 0;
    for (const char *at = o->path; *at;) {
        if (found == SEGMENTS_MAX) {
            complain(o, "the path has more than 32 steps");
            return YK_OK;
        }

        segment *next = &segments[found];
        if (*at == '[') {
            /* "[12]" */
            size_t length = 1;
            int number = 0;
            while (at[length] >= '0' && at[length] <= '9' && number < 1000000)
                number = 10 * number + (at[length++] - '0');
            if (length == 1 || at[length] != ']' || found == 0) {
                complain(o, "'[' starts an index such as interfaces[0]");
                return YK_OK;
            }

            next->name = NULL;
            next->index = number;
            at += length + 1;
        } else {
            /* ".scheme", without the '.' at the beginning. */
            if (found > 0 && *at++ != '.') {
                complain(o, "a '.' is missing between the steps of the path");
                return YK_OK;
            }

            size_t length = strcspn(at, ".[");
            if (length == 0) {
                complain(o, "the path has an empty step; write it as coupling.scheme=tight");
                return YK_OK;
            }

            next->name = yk_store_text(o->store, at, length);
            if (!next->name)
                return YK_ERROR_MEMORY;

            at += length;
        }

        /* Messages show the path as far as it was found. */
        next->end = (size_t)(at - o->path);
        found++;
    }
    *count = found;

    return YK_OK;
}

/* The child of the step; NULL without an error if a map does not have it yet. `begin` is the length
 * of the path before the step. */
static yk_node *find_child(override *o, const yk_node *node, const segment *step, size_t begin)
{
    /* Maps by key, lists by index. */
    if (node->kind == YK_NODE_MAP && step->name)
        return yk_node_get(node, step->name);
    if (node->kind == YK_NODE_LIST && !step->name && step->index < node->count)
        return yk_node_at(node, step->index);

    /* Reports an error, with the path as far as it was found. */
    char message[256];
    int shown = (int)(begin < 100 ? begin : 100);
    if (node->kind == YK_NODE_LIST && step->name) {
        /* The item with the name; if it is missing, the message suggests the nearest one. */
        const char *nearest = NULL;
        int distance = 4;
        for (yk_node *item = node->first; item; item = item->next) {
            const char *other = yk_node_name(item);
            if (!other)
                continue;
            if (strcmp(other, step->name) == 0)
                return item;

            int now = yk_text_distance(step->name, other, distance - 1);
            if (now < distance) {
                distance = now;
                nearest = other;
            }
        }

        char remedy[100] = "Give the name of an item, or an index such as [0].";
        if (nearest)
            snprintf(remedy, sizeof remedy, "Did you mean '%.60s'?", nearest);

        snprintf(message, sizeof message, "the list has no item named '%.60s'. %s", step->name,
                 remedy);
    } else if (node->kind == YK_NODE_LIST) {
        snprintf(message, sizeof message, "the list has no item [%d]; it has %d, counted from [0]",
                 step->index, node->count);
    } else if (node->kind == YK_NODE_MAP) {
        snprintf(message, sizeof message,
                 "'%.*s' is a section, not a list; name a key instead of an index", shown, o->path);
    } else {
        snprintf(message, sizeof message, "'%.*s' is a value, not a section", shown, o->path);
    }

    complain(o, message);

    return NULL;
}

yk_status yk_override_apply(yk_store *store, yk_node *root, const char *assignment,
                            yk_diagnostics *diagnostics)
{
    /* The source of messages: "--set path". */
    static const char option[] = "--set ";
    const char *equals = strchr(assignment, '=');
    const char *given = equals ? equals + 1 : "";
    size_t length = strcspn(assignment, "=");
    override o = {.store = store, .diagnostics = diagnostics};
    o.source = yk_store_take(store, sizeof *o.source);
    char *name = yk_store_take(store, sizeof option + length);
    char *text = yk_store_text(store, given, strlen(given));
    if (!o.source || !name || !text)
        return YK_ERROR_MEMORY;

    /* The path is shown as the user wrote it, after the option. */
    memcpy(name, option, sizeof option - 1);
    memcpy(name + sizeof option - 1, assignment, length);
    o.path = name + sizeof option - 1;
    *o.source = (yk_source){.name = name, .text = text, .length = strlen(text)};
    if (!equals || !o.path[0]) {
        complain(&o, "a path and a value are expected, as in coupling.scheme=tight");
        return YK_OK;
    }

    /* The path and the value, which is YAML. */
    segment segments[SEGMENTS_MAX];
    int count;
    yk_status status = split_path(&o, segments, &count);
    if (status != YK_OK || count == 0)
        return status;
    if (!text[0]) {
        complain(&o, "the value after '=' is missing");
        return YK_OK;
    }

    yk_node *value;
    status = yk_yaml_read(store, o.source, diagnostics, &value);
    if (!value)
        return status;

    /* Follow the path; missing sections are created. */
    yk_node *node = root;
    size_t begin = 0;
    for (int i = 0; i < count; i++) {
        const segment *step = &segments[i];
        bool last = i == count - 1;
        yk_node *child = find_child(&o, node, step, begin);
        begin = step->end;
        if (o.failed)
            return status;
        if (child && !last && !yk_node_is_empty(child)) {
            node = child;
            continue;
        }

        /* The value at the end of the path, or a section on the way. */
        yk_node *fresh = value;
        if (!last)
            fresh = yk_node_create(store, YK_NODE_MAP, yk_node_location(value));
        if (!fresh)
            return YK_ERROR_MEMORY;

        /* The schema checks whether such a section was intended. */
        fresh->implied = !child && !last;
        fresh->added = !child && last;
        if (child)
            yk_node_replace(child, fresh);
        else
            yk_node_append(node, fresh, step->name, (yk_location){0});

        node = fresh;
    }

    return status;
}

/* In the text ---------------------------------------------------------------------------------- */

/* Everything else in a file is preserved: comments, layout, spelling.
 *
 * The tree of the file has the locations of values. The result is parsed again and compared, node
 * by node, with the tree after the same overrides: an anchor that is used twice, or a layout that
 * is not supported, is rejected instead of damaged. */

/* A tree with its source. */
typedef struct reading {
    yk_store store;
    yk_source source;
    yk_node *root;
} reading;

static yk_status read_text(yk_context *context, const char *path, const char *text,
                           yk_diagnostics *diagnostics, reading *r)
{
    /* The tree points to its own copy of the text, which edits do not change. */
    *r = (reading){.store = {.context = context}};
    if (!text)
        return YK_ERROR_MEMORY; /* for the text before this edit */

    size_t length = strlen(text);
    r->source = (yk_source){.has_lines = true, .length = length, .name = path};
    r->source.text = yk_store_text(&r->store, text, length);
    if (!r->source.text)
        return YK_ERROR_MEMORY;

    yk_status status = yk_yaml_read(&r->store, &r->source, diagnostics, &r->root);
    if (status == YK_OK && !r->root)
        status = yk_fail(context, YK_ERROR_INPUT, "'%s' cannot be read as YAML", path);

    return status;
}

static yk_status refuse(const reading *r, const char *assignment, const char *why)
{
    return yk_fail(r->store.context, YK_ERROR_INPUT,
                   "%s: cannot set %s in place: %s; set it by hand", r->source.name, assignment,
                   why);
}

/* The text with `with` instead of `length` bytes at `at`. */
static yk_status splice(const reading *r, const char *at, size_t length, const char *with,
                        char **edited)
{
    yk_text made = {0};
    const char *text = r->source.text;
    yk_text_add(r->store.context, &made, "%.*s%s%s", (int)(at - text), text, with, at + length);
    if (made.failed)
        return YK_ERROR_MEMORY;

    *edited = made.data;
    return YK_OK;
}

/* Length of a value in quotes or brackets, including them; 0: it does not end. */
static size_t enclosed(const char *at)
{
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; at[i]; i++) {
        /* Ignore brackets in quotes, and quotes after a backslash. */
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

/* A new entry of a map. It becomes the first one, because its layout is known. */
static yk_status insert(const reading *r, const yk_node *map, const char *assignment, char **edited)
{
    if (map->kind != YK_NODE_MAP || map->count == 0)
        return refuse(r, assignment, "its section is empty");

    /* The last step of the path is the key. */
    const char *equals = strchr(assignment, '=');
    const char *key = equals;
    while (key > assignment && key[-1] != '.')
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
            return refuse(r, assignment, "the layout of its section is not a simple one");

        snprintf(entry, sizeof entry, "%*s%.*s: %s\n", indent, "", key_length, key, value);
    }

    return splice(r, at, 0, entry, edited);
}

static yk_status set_value(yk_context *context, const char *path, const char *text,
                           yk_diagnostics *diagnostics, const char *assignment, char **edited)
{
    reading r;
    yk_status status = read_text(context, path, text, diagnostics, &r);

    /* Follow the path to the value, or to the map without it. */
    const char *equals = strchr(assignment, '=');
    const char *step = assignment;
    const yk_node *node = NULL;
    const yk_node *map = NULL;
    if (status == YK_OK)
        node = r.root;

    /* By keys only: an index in brackets is rejected below. */
    while (node && step < equals) {
        char key[128];
        size_t length = strcspn(step, ".=");
        snprintf(key, sizeof key, "%.*s", (int)length, step);
        step += length + 1;
        map = node;
        node = yk_node_get(node, key);
    }

    /* The bytes of an existing value: in quotes or brackets, or its text. */
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

    /* A layout that is not supported is rejected. */
    if (status == YK_OK && bytes > 0)
        status = splice(&r, at, bytes, equals + 1, edited);
    else if (status == YK_OK && node)
        status = refuse(&r, assignment, "the value that is there is not on one line");
    else if (status == YK_OK && step < equals)
        status = refuse(&r, assignment, "its section is not there");
    else if (status == YK_OK)
        status = insert(&r, map, assignment, edited);

    yk_store_destroy(&r.store);
    return status;
}

static bool same(const yk_node *a, const yk_node *b)
{
    /* Locations change by an edit; kinds, keys and texts must not. */
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
    yk_diagnostics *diagnostics = NULL;
    yk_store store = {.context = context};
    yk_source source = {0};
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (status == YK_OK)
        status = yk_yaml_open(&store, path, diagnostics, &source);
    if (status == YK_OK && !source.text)
        status = yk_fail(context, YK_ERROR_INPUT, "'%s' cannot be read", path);

    /* The tree points into the source, so edit a copy. */
    char *present = NULL;
    if (status == YK_OK) {
        present = yk_text_copy(context, source.text);
        if (!present)
            status = YK_ERROR_MEMORY;
    }

    /* One value after another, each in the text after the previous edit. */
    for (int i = 0; status == YK_OK && i < count; i++) {
        char *edited = NULL;
        status = set_value(context, path, present, diagnostics, overrides[i], &edited);
        if (status != YK_OK)
            break;

        yk_free(context, present);
        present = edited;
    }

    /* Compare the result with the tree of the file after the overrides. */
    reading wanted = {.store = {.context = context}};
    reading made = {.store = {.context = context}};
    if (status == YK_OK)
        status = read_text(context, path, source.text, diagnostics, &wanted);

    for (int i = 0; status == YK_OK && i < count; i++)
        status = yk_override_apply(&wanted.store, wanted.root, overrides[i], diagnostics);
    if (status == YK_OK)
        status = read_text(context, path, present, diagnostics, &made);
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
        yk_free(context, present);

    yk_store_destroy(&store);
    yk_diagnostics_destroy(diagnostics);
    return status;
}
