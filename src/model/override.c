#include "model/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/yaml.h"

typedef struct override {
    yk_store *store;
    yk_diagnostics *diagnostics;
    yk_source *source;
    const char *path;
    yk_node *value;
    bool failed; /* reported */
    yk_status status;
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

static void *checked(override *o, void *memory)
{
    if (!memory)
        o->status = YK_ERROR_MEMORY;
    return memory;
}

/* Splits the path; returns the number of steps, 0 after a complaint. */
static int split_path(override *o, segment *segments)
{
    int count = 0;
    for (const char *at = o->path; *at;) {
        if (count == SEGMENTS_MAX) {
            complain(o, "the path has more than 32 steps");
            return 0;
        }
        segment *next = &segments[count];

        /* "[12]" */
        if (*at == '[') {
            size_t length = 1;
            int number = 0;
            while (at[length] >= '0' && at[length] <= '9' && number < 1000000)
                number = 10 * number + (at[length++] - '0');
            if (length == 1 || at[length] != ']' || count == 0) {
                complain(o, "'[' starts an index such as interfaces[0]");
                return 0;
            }
            next->name = NULL;
            next->index = number;
            at += length + 1;
        } else {
            if (count > 0 && *at++ != '.') {
                complain(o, "a '.' is missing between the steps of the path");
                return 0;
            }
            size_t length = strcspn(at, ".[");
            if (length == 0) {
                complain(o, "the path has an empty step; write it as coupling.scheme=tight");
                return 0;
            }
            next->name = checked(o, yk_store_text(o->store, at, length));
            if (!next->name)
                return 0;

            at += length;
        }
        next->end = (size_t)(at - o->path);
        count++;
    }
    return count;
}

/* The item of a list that has the name; reported with the nearest one if there is none. */
static yk_node *find_named(override *o, const yk_node *list, const char *name)
{
    char message[256] = "";
    const char *nearest = NULL;
    int distance = 4;
    for (yk_node *item = list->first; item; item = item->next) {
        const char *other = yk_node_name(item);
        if (!other)
            continue;
        if (strcmp(other, name) == 0)
            return item;

        int now = yk_text_distance(name, other, distance - 1);
        if (now < distance) {
            distance = now;
            nearest = other;
        }
    }

    if (nearest)
        snprintf(message, sizeof message,
                 "the list has no item named '%.60s'; did you mean '%.60s'?", name, nearest);
    else
        snprintf(message, sizeof message,
                 "the list has no item named '%.60s'; give a name that is there, or an index such "
                 "as [0]",
                 name);
    complain(o, message);
    return NULL;
}

/* The child that the step names; NULL without a complaint if a map does not have it yet. */
static yk_node *find_child(override *o, const yk_node *node, const segment *step, size_t begin)
{
    char message[256];
    if (node->kind == YK_NODE_LIST && step->name)
        return find_named(o, node, step->name);
    if (node->kind == YK_NODE_MAP && step->name)
        return yk_node_get(node, step->name);
    if (node->kind == YK_NODE_LIST && step->index < node->count)
        return yk_node_at(node, step->index);

    int shown = (int)(begin < 100 ? begin : 100);
    if (node->kind == YK_NODE_LIST)
        snprintf(message, sizeof message, "the list has no item [%d]; it has %d, counted from [0]",
                 step->index, node->count);
    else if (node->kind == YK_NODE_MAP)
        snprintf(message, sizeof message,
                 "'%.*s' is a section, not a list; name a key instead of an index", shown, o->path);
    else
        snprintf(message, sizeof message, "'%.*s' is a value, not a section", shown, o->path);
    complain(o, message);
    return NULL;
}

/* Puts the value where the path says, from `node` on. */
static void set_value(override *o, yk_node *root, const segment *segments, int count)
{
    yk_node *node = root;
    yk_location location = yk_node_location(o->value);
    for (int i = 0; i < count; i++) {
        bool last = i == count - 1;
        yk_node *child = find_child(o, node, &segments[i], i ? segments[i - 1].end : 0);
        if (o->failed)
            return;

        /* Sections on the way that are not there are made. */
        bool absent = !child || (!last && yk_node_is_empty(child));
        yk_node *fresh = o->value;
        if (absent && !last)
            fresh = checked(o, yk_node_create(o->store, YK_NODE_MAP, location));
        if (!fresh)
            return;

        fresh->implied = !child && !last;

        if (!child)
            yk_node_append(node, fresh, segments[i].name, (yk_location){0});
        else if (last || absent)
            yk_node_replace(child, fresh);
        else
            fresh = child;
        node = fresh;
    }
}

/* "--set coupling.scheme" with the value as its text. */
static void make_source(override *o, const char *assignment, const char *equals)
{
    static const char option[] = "--set ";
    size_t length = equals ? (size_t)(equals - assignment) : strlen(assignment);
    o->source = checked(o, yk_store_take(o->store, sizeof *o->source));
    char *name = checked(o, yk_store_take(o->store, sizeof option + length));
    char *text = checked(
        o, yk_store_text(o->store, equals ? equals + 1 : "", equals ? strlen(equals + 1) : 0));
    if (o->status != YK_OK)
        return;

    memcpy(name, option, sizeof option - 1);
    memcpy(name + sizeof option - 1, assignment, length);
    o->path = name + sizeof option - 1;
    *o->source = (yk_source){.name = name, .text = text, .length = strlen(text)};
}

yk_status yk_override_apply(yk_store *store, yk_node *root, const char *assignment,
                            yk_diagnostics *diagnostics)
{
    override o = {.store = store, .diagnostics = diagnostics};
    const char *equals = strchr(assignment, '=');
    make_source(&o, assignment, equals);
    if (o.status != YK_OK)
        return o.status;
    if (!equals || !o.path[0]) {
        complain(&o, "a path and a value are expected, as in coupling.scheme=tight");
        return YK_OK;
    }

    segment segments[SEGMENTS_MAX];
    int count = split_path(&o, segments);
    if (!count)
        return o.status;
    if (!o.source->length) {
        complain(&o, "the value after '=' is missing");
        return YK_OK;
    }
    o.status = yk_yaml_read(store, o.source, diagnostics, &o.value);
    if (o.value)
        set_value(&o, root, segments, count);
    return o.status;
}
