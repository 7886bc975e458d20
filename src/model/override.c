/* Values of the command line over those of the file. */
#include "model/yaml.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

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

/* Splits the path into `count` steps, none after a complaint. */
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

        next->end = (size_t)(at - o->path);
        found++;
    }
    *count = found;

    return YK_OK;
}

/* The child that the step names; NULL without a complaint if a map does not have it yet. `begin`
 * is the length of the path before the step. */
static yk_node *find_child(override *o, const yk_node *node, const segment *step, size_t begin)
{
    /* Maps by key, lists by index. */
    if (node->kind == YK_NODE_MAP && step->name)
        return yk_node_get(node, step->name);
    if (node->kind == YK_NODE_LIST && !step->name && step->index < node->count)
        return yk_node_at(node, step->index);

    /* What is wrong, with the path as far as it could be followed. */
    char message[256];
    int shown = (int)(begin < 100 ? begin : 100);
    if (node->kind == YK_NODE_LIST && step->name) {
        /* The item that has the name, or in the message the nearest one. */
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

        char remedy[100] = "give a name that is there, or an index such as [0]";
        if (nearest)
            snprintf(remedy, sizeof remedy, "did you mean '%.60s'?", nearest);

        snprintf(message, sizeof message, "the list has no item named '%.60s'; %s", step->name,
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

    /* Down the path; sections on the way that are not there are made. */
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

        /* The schema asks whether such a section was meant. */
        fresh->implied = !child && !last;
        if (child)
            yk_node_replace(child, fresh);
        else
            yk_node_append(node, fresh, step->name, (yk_location){0});

        node = fresh;
    }

    return status;
}
