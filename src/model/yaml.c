/* Reads YAML to nodes, from the events of libyaml, without recursion, so that only the limits of
 * the header restrict the depth. */
#include "model/yaml_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Files ---------------------------------------------------------------------------------------- */

static void report_file_error(yk_diagnostics *diagnostics, const yk_source *source,
                              const char *what, int reason)
{
    char text[128] = "unknown reason";
    strerror_r(reason, text, sizeof text);
    yk_report(diagnostics, YK_SEVERITY_ERROR, (yk_location){.source = source}, NULL,
              "cannot be %s: %s", what, text);
}

yk_status yk_yaml_open(yk_store *store, const char *path, yk_diagnostics *diagnostics,
                       yk_source *source)
{
    *source = (yk_source){.has_lines = true, .name = yk_store_text(store, path, strlen(path))};
    if (!source->name)
        return YK_ERROR_MEMORY;

    FILE *file = fopen(path, "rb");
    if (!file) {
        report_file_error(diagnostics, source, "opened", errno);
        return YK_OK;
    }

    /* Reads all of it, into a buffer that doubles: the size of a pipe is not known in advance. */
    size_t capacity = 1 << 16;
    size_t length = 0;
    bool too_long = false;
    char *text = yk_allocate(store->context, capacity, 1);

    errno = 0;

    /* A full buffer may be the whole file: only a short read is its end. */
    while (text) {
        length += fread(text + length, 1, capacity - length, file);
        too_long = length > YK_YAML_BYTES_MAX;
        if (length < capacity || too_long)
            break;

        char *grown = yk_reallocate(store->context, text, 2 * capacity, 1);
        if (!grown)
            yk_free(store->context, text);

        text = grown;
        capacity *= 2;
    }

    /* Save the error before it is overwritten. */
    int reason = errno;
    bool unreadable = ferror(file) != 0;
    fclose(file);
    if (!text)
        return YK_ERROR_MEMORY;

    /* A read error is a failure of the machine; a folder or a text that is too long is an error of
     * the user. */
    if (unreadable) {
        report_file_error(diagnostics, source, "read", reason);
        yk_free(store->context, text);
        if (reason == EISDIR)
            return YK_OK;
        return yk_fail(store->context, YK_ERROR_FILE, "'%s' cannot be read: %s", path,
                       strerror(reason));
    }

    if (too_long)
        yk_report(
            diagnostics, YK_SEVERITY_ERROR, (yk_location){.source = source}, NULL,
            "is larger than %d MiB, the limit of a scenario; put bulk data into a file of its own",
            YK_YAML_BYTES_MAX >> 20);
    else
        source->text = yk_store_text(store, text, length);

    source->length = length;
    yk_free(store->context, text);
    return source->text || too_long ? YK_OK : YK_ERROR_MEMORY;
}

/* What libyaml complains about, in plain words ------------------------------------------------- */

static const struct {
    const char *problem; /* the message of libyaml */
    const char *meaning;
} translations[] = {
    {"mapping values are not allowed in this context",
     "a ':' where no key can stand; put text that contains ': "
     "' in quotes, and give keys of one section the same indentation"},
    {"could not find expected ':'",
     "this line has no 'key: value'; a ':' followed by a space is missing"},
    {"did not find expected key", "the indentation does not match the lines above; "
                                  "keys of one section start in the same column"},
    {"did not find expected '-' indicator",
     "the indentation does not match the list above; its items start with '-' in the same column"},
    {"did not find expected ',' or '}'",
     "a '{' is not closed, or a ',' is missing between its entries"},
    {"did not find expected ',' or ']'",
     "a '[' is not closed, or a ',' is missing between its items"},
    {"did not find expected node content", "a value is missing between the brackets"},
    {"did not find expected <document start>",
     "text after the end of the document; one file holds one scenario"},
    {"found unexpected end of stream", "a quote is opened and never closed"},
    {"found unexpected document indicator",
     "a quote is opened and never closed before '---' or '...'"},
    {"found unknown escape character",
     "unknown escape after '\\' in double quotes; use single quotes for text with backslashes"},
    {"found a tab character that violates indentation",
     "a tab indents this line; indent with spaces"},
    {"found a tab character where an indentation space is expected",
     "a tab indents this line; indent with spaces"},
    {"block sequence entries are not allowed in this context",
     "a list item '- ' cannot start here; put it on a line of its own below its key"},
    {"mapping keys are not allowed in this context",
     "a key cannot start here; put it on a line of its own"},
    {"found undefined tag handle", "tags such as !name have no meaning in a scenario; remove it"},
    {"did not find expected alphabetic or numeric character",
     "a name is missing after '&' or '*'; put text that starts with one of them in quotes"},
    {"control characters are not allowed", "a control character; the file must be plain text"},
    {"invalid leading UTF-8 octet",
     "a character that is not UTF-8; save the file in UTF-8 encoding"},
    {"invalid trailing UTF-8 octet",
     "a character that is not UTF-8; save the file in UTF-8 encoding"},
    {"incomplete UTF-8 octet sequence",
     "a character that is not UTF-8; save the file in UTF-8 encoding"},
    {"invalid length of a UTF-8 sequence",
     "a character that is not UTF-8; save the file in UTF-8 encoding"},
    {"invalid Unicode character", "a character that is not UTF-8; save the file in UTF-8 encoding"},
};

static const char *translate(const char *problem)
{
    for (size_t i = 0; i < sizeof translations / sizeof *translations; i++)
        if (strcmp(problem, translations[i].problem) == 0)
            return translations[i].meaning;
    return problem;
}

static yk_location location_of_offset(const yk_source *source, size_t offset)
{
    yk_location location = {source, 1, 1, 1};
    for (size_t i = 0; i < offset && i < source->length; i++) {
        /* Columns count characters: skip continuation bytes of UTF-8. */
        if (source->text[i] == '\n') {
            location.line++;
            location.column = 1;
        } else if (((unsigned char)source->text[i] & 0xC0) != 0x80) {
            location.column++;
        }
    }

    return location;
}

static int clamped(size_t number)
{
    return number < 1000000000 ? (int)number : 1000000000;
}

static yk_location location_of_mark(const yk_source *source, yaml_mark_t mark)
{
    return (yk_location){source, clamped(mark.line) + 1, clamped(mark.column) + 1, 1};
}

static const char missing_key[] = "a key is missing before ':'";

static void report_syntax(const yaml_parser_t *parser, const yk_source *source,
                          yk_diagnostics *diagnostics)
{
    if (parser->error == YAML_READER_ERROR) {
        yk_report(diagnostics, YK_SEVERITY_ERROR,
                  location_of_offset(source, parser->problem_offset), NULL, "%s",
                  translate(parser->problem));
        return;
    }

    /* The character at which it stopped; libyaml's positions count characters, not bytes. */
    yaml_mark_t mark = parser->problem_mark;
    const char *at = source->text;
    const char *end = source->text + source->length;
    for (size_t i = 0; i < mark.index && at < end; i++) {
        at++;
        while (at < end && ((unsigned char)*at & 0xC0) == 0x80)
            at++;
    }

    /* Two of its messages cover several errors. */
    const char *problem = parser->problem ? parser->problem : "this is not YAML";
    const char *message = translate(problem);
    if (strcmp(problem, "did not find expected key") == 0 && *at == ':')
        message = missing_key;
    if (strcmp(problem, "found character that cannot start any token") == 0) {
        switch (*at) {
        case '\t': message = "a tab indents this line; indent with spaces"; break;
        case '@':
        case '`': message = "text cannot start with '@' or '`'; put it in quotes"; break;
        case '%': message = "text cannot start with '%'; put it in quotes"; break;
        default: message = "this character cannot start a value; put the text in quotes";
        }
    }

    /* At the end of the text, the opening place is more helpful than the missing closing sign. */
    if (at == end && parser->context)
        mark = parser->context_mark;

    bool flow = parser->context && strstr(parser->context, "flow") && at != end;
    if (flow && parser->context_mark.line != mark.line)
        yk_report(diagnostics, YK_SEVERITY_ERROR, location_of_mark(source, mark), NULL,
                  "%s; it was opened in line %d", message, clamped(parser->context_mark.line) + 1);
    else
        yk_report(diagnostics, YK_SEVERITY_ERROR, location_of_mark(source, mark), NULL, "%s",
                  message);
}

/* Events to nodes ------------------------------------------------------------------------------ */

/* A collection that is open. */
typedef struct level {
    yk_node *node;
    const char *key; /* key of the map entry whose value follows */
    yk_location key_location;
    int anchor; /* -1: none; an anchor is valid only after its node is complete */
} level;

typedef struct reader {
    yk_store *store;
    const yk_source *source;
    yk_diagnostics *diagnostics;
    yaml_parser_t parser;
    yk_node *root;
    int depth;
    int budget; /* of nodes */
    int anchor_count;
    bool stopped; /* after an error beyond which reading makes no sense */
    yk_status status;
    level levels[YK_YAML_DEPTH_MAX];
    struct {
        const char *name;
        yk_node *node;
    } anchors[YK_YAML_ANCHORS_MAX];
} reader;

static void stop(reader *r, yk_location location, const char *message)
{
    yk_report(r->diagnostics, YK_SEVERITY_ERROR, location, NULL, "%s", message);
    r->stopped = true;
}

static void out_of_memory(reader *r)
{
    r->status = YK_ERROR_MEMORY;
    r->stopped = true;
}

static yk_location event_location(const reader *r, const yaml_event_t *event)
{
    yk_location location = location_of_mark(r->source, event->start_mark);

    /* Values of several lines are marked at their beginning. */
    bool one_line = event->end_mark.line == event->start_mark.line;
    if (one_line && event->end_mark.column > event->start_mark.column)
        location.length = clamped(event->end_mark.column - event->start_mark.column);

    return location;
}

static yk_node *new_node(reader *r, yk_node_kind kind, yk_location location)
{
    /* Aliases count every time they are used. */
    if (--r->budget < 0) {
        stop(r, location,
             "the file has more than a million values; put bulk data into a file of its own");
        return NULL;
    }

    yk_node *node = yk_node_create(r->store, kind, location);
    if (!node)
        out_of_memory(r);

    return node;
}

/* Adds a node to the open collection. */
static void attach(reader *r, yk_node *node)
{
    if (r->depth == 0) {
        r->root = node;
        return;
    }

    /* In a map the key has come before. */
    level *top = &r->levels[r->depth - 1];
    yk_node_append(top->node, node, top->key, top->key_location);
    top->key = NULL;
}

/* The index of a new anchor, -1 if the event has none. */
static int declare_anchor(reader *r, const yaml_char_t *name, yk_location location)
{
    if (!name)
        return -1;
    if (r->anchor_count == YK_YAML_ANCHORS_MAX) {
        stop(r, location, "more than 1000 anchors (&name)");
        return -1;
    }

    /* Its node follows when that is complete. */
    const char *kept = yk_store_text(r->store, (const char *)name, strlen((const char *)name));
    r->anchors[r->anchor_count].name = kept;
    r->anchors[r->anchor_count].node = NULL;
    if (!kept)
        out_of_memory(r);

    return r->stopped ? -1 : r->anchor_count++;
}

static void refuse_tag(reader *r, const yaml_char_t *tag, yk_location location)
{
    if (tag)
        yk_report(r->diagnostics, YK_SEVERITY_ERROR, location, NULL,
                  "tags such as '%.40s' have no meaning in a scenario; remove it",
                  (const char *)tag);
}

static bool expects_key(const reader *r)
{
    if (r->depth == 0)
        return false;

    const level *top = &r->levels[r->depth - 1];
    return top->node->kind == YK_NODE_MAP && !top->key;
}

static char *copy_scalar(reader *r, const yaml_event_t *event, yk_location location)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;

    /* C would take this for the end of the text. */
    if (memchr(text, '\0', length)) {
        yk_report(r->diagnostics, YK_SEVERITY_ERROR, location, NULL,
                  "text with a zero character (\\0)");
        length = 0;
    }

    char *copy = yk_store_text(r->store, text, length);
    if (!copy)
        out_of_memory(r);

    return copy;
}

static void read_scalar(reader *r, const yaml_event_t *event)
{
    yk_location location = event_location(r, event);
    refuse_tag(r, event->data.scalar.tag, location);

    /* The key of an entry, whose value follows. */
    if (expects_key(r)) {
        level *top = &r->levels[r->depth - 1];
        char *key = copy_scalar(r, event, location);
        if (!key)
            return;
        if (!key[0])
            yk_report(r->diagnostics, YK_SEVERITY_ERROR, location, NULL, "%s", missing_key);
        if (event->data.scalar.anchor)
            stop(r, location, "keys cannot have anchors (&name)");

        top->key = key;
        top->key_location = location;
        return;
    }

    /* A value, with its anchor. */
    int index = declare_anchor(r, event->data.scalar.anchor, location);
    if (r->stopped)
        return;

    yk_node *node = new_node(r, YK_NODE_SCALAR, location);
    if (!node)
        return;

    char *text = copy_scalar(r, event, location);
    if (!text)
        return;

    /* Quoted numbers are texts. */
    yaml_scalar_style_t style = event->data.scalar.style;
    node->text = text;
    node->quoted = style != YAML_PLAIN_SCALAR_STYLE && style != YAML_ANY_SCALAR_STYLE;
    if (index >= 0)
        r->anchors[index].node = node;

    attach(r, node);
}

static void open_collection(reader *r, const yaml_event_t *event)
{
    /* The event of a list, or of a map. */
    yk_node_kind kind = YK_NODE_LIST;
    const yaml_char_t *tag = event->data.sequence_start.tag;
    const yaml_char_t *name = event->data.sequence_start.anchor;
    if (event->type == YAML_MAPPING_START_EVENT) {
        kind = YK_NODE_MAP;
        tag = event->data.mapping_start.tag;
        name = event->data.mapping_start.anchor;
    }

    /* Keys are words, and nesting has a limit. */
    yk_location location = event_location(r, event);
    refuse_tag(r, tag, location);
    if (expects_key(r)) {
        stop(r, location,
             "a key must be a word, not a list or a section; put expressions with commas in "
             "quotes");
        return;
    }

    if (r->depth == YK_YAML_DEPTH_MAX) {
        stop(r, location, "more than 64 levels of nesting");
        return;
    }

    /* Open until its end event. */
    int index = declare_anchor(r, name, location);
    if (r->stopped)
        return;

    yk_node *node = new_node(r, kind, location);
    if (!node)
        return;

    attach(r, node);
    r->levels[r->depth++] = (level){.node = node, .anchor = index};
}

static int compare_keys(const void *a, const void *b)
{
    const yk_node *left = *(yk_node *const *)a;
    const yk_node *right = *(yk_node *const *)b;
    int order = strcmp(left->key, right->key);
    if (order)
        return order;

    /* Equal keys in the order of the text. */
    if (left->key_line != right->key_line)
        return left->key_line < right->key_line ? -1 : 1;

    return (left->key_column > right->key_column) - (left->key_column < right->key_column);
}

/* Sorted, so that a map with a hundred thousand keys is fast; the first of equal keys is kept. */
static void drop_duplicates(reader *r, yk_node *map)
{
    if (map->count < 2)
        return;

    /* The entries by their keys, equal ones by their lines. */
    yk_node **entries = yk_allocate(r->store->context, (size_t)map->count, sizeof(yk_node *));
    if (!entries) {
        out_of_memory(r);
        return;
    }

    int count = 0;
    for (yk_node *child = map->first; child; child = child->next)
        entries[count++] = child;

    qsort(entries, (size_t)count, sizeof *entries, compare_keys);

    /* Merge keys may be given several times. */
    int first = 0;
    for (int i = 1; i < count && !yk_diagnostics_full(r->diagnostics); i++) {
        bool differs = strcmp(entries[first]->key, entries[i]->key) != 0;
        if (differs || strcmp(entries[i]->key, "<<") == 0) {
            first = i;
            continue;
        }

        yk_node_key_error(r->diagnostics, entries[i],
                          "is given twice, first in line %d; remove one of them",
                          entries[first]->key_line);
        yk_node_remove(entries[i]);
    }

    yk_free(r->store->context, entries);
}

/* Adds the entries of `from` that the map does not have. */
static void merge_from(reader *r, yk_node *map, const yk_node *from)
{
    /* "<<: *name", where the anchor is a map. */
    if (from->kind != YK_NODE_MAP) {
        yk_node_error(r->diagnostics, from,
                      "after '<<' comes a section, or a list of sections, to take entries from");
        return;
    }

    for (const yk_node *child = from->first; child && !r->stopped; child = child->next) {
        if (yk_node_get(map, child->key))
            continue;
        if (map->count >= YK_YAML_MERGE_MAX) {
            stop(r, yk_node_location(from), "more than 1000 entries are merged with '<<'");
            return;
        }

        /* A copy, because overrides may change the entry. */
        yk_node *copy = yk_node_copy(r->store, child, &r->budget);
        if (!copy && r->budget < 0)
            stop(r, yk_node_location(from), "the aliases expand to more than a million values");
        if (!copy && !r->stopped)
            out_of_memory(r);
        if (copy)
            yk_node_append(map, copy, child->key, yk_node_key_location(child));
    }
}

/* The collection is complete: check for duplicate keys, and apply merge keys. */
static void close_collection(reader *r, const yaml_event_t *event)
{
    (void)event;
    level closed = r->levels[--r->depth];
    yk_node *node = closed.node;
    if (node->kind == YK_NODE_MAP)
        drop_duplicates(r, node);

    /* Merge keys, in their order: earlier entries have priority. */
    while (node->kind == YK_NODE_MAP && !r->stopped) {
        yk_node *merge = yk_node_get(node, "<<");
        if (!merge)
            break;

        yk_node_remove(merge);
        if (merge->kind != YK_NODE_LIST) {
            merge_from(r, node, merge);
            continue;
        }

        for (yk_node *item = merge->first; item; item = item->next)
            merge_from(r, node, item);
    }

    /* Complete: aliases may refer to it. */
    if (closed.anchor >= 0)
        r->anchors[closed.anchor].node = node;
}

static void read_alias(reader *r, const yaml_event_t *event)
{
    yk_location location = event_location(r, event);
    const char *name = (const char *)event->data.alias.anchor;

    /* The last anchor of that name, which must be complete. */
    int index = r->anchor_count - 1;
    while (index >= 0 && strcmp(r->anchors[index].name, name) != 0)
        index--;
    if (index < 0) {
        yk_report(r->diagnostics, YK_SEVERITY_ERROR, location, NULL,
                  "no anchor '&%.60s' before this alias; put text that starts with '*' in quotes",
                  name);
        r->stopped = true;
        return;
    }

    if (!r->anchors[index].node) {
        yk_report(r->diagnostics, YK_SEVERITY_ERROR, location, NULL,
                  "the alias '*%.60s' is inside its own anchor", name);
        r->stopped = true;
        return;
    }

    if (expects_key(r)) {
        stop(r, location, "a key cannot be an alias");
        return;
    }

    /* A deep copy, because aliases of aliases multiply. */
    yk_node *copy = yk_node_copy(r->store, r->anchors[index].node, &r->budget);
    if (copy)
        attach(r, copy);
    else if (r->budget < 0)
        stop(r, location, "the aliases expand to more than a million values");
    else
        out_of_memory(r);
}

static void begin_document(reader *r, const yaml_event_t *event)
{
    if (r->root)
        stop(r, event_location(r, event),
             "a second document starts here; one file holds one scenario");
}

/* Handles an event; other kinds have no effect. */
static void (*const handlers[])(reader *r, const yaml_event_t *event) = {
    [YAML_DOCUMENT_START_EVENT] = begin_document,
    [YAML_SCALAR_EVENT] = read_scalar,
    [YAML_ALIAS_EVENT] = read_alias,
    [YAML_SEQUENCE_START_EVENT] = open_collection,
    [YAML_MAPPING_START_EVENT] = open_collection,
    [YAML_SEQUENCE_END_EVENT] = close_collection,
    [YAML_MAPPING_END_EVENT] = close_collection,
};

yk_status yk_yaml_read(yk_store *store, yk_source *source, yk_diagnostics *diagnostics,
                       yk_node **root)
{
    *root = NULL;

    /* A byte order mark does not prove UTF-8. */
    if (source->length >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0) {
        source->text += 3;
        source->length -= 3;
    }

    /* Errors that libyaml would accept, or report in misleading words. */
    const char *text = source->text;
    bool low_first = source->length >= 2 && memcmp(text, "\xFF\xFE", 2) == 0;
    bool high_first = source->length >= 2 && memcmp(text, "\xFE\xFF", 2) == 0;
    if (low_first || high_first) {
        yk_report(diagnostics, YK_SEVERITY_ERROR, (yk_location){.source = source}, NULL,
                  "is encoded in UTF-16; save it in UTF-8 encoding");
        return YK_OK;
    }

    /* Texts of the tree end at a zero byte, which must not be within them. */
    const char *zero = memchr(text, '\0', source->length);
    if (zero) {
        yk_location at = location_of_offset(source, (size_t)(zero - text));
        yk_report(diagnostics, YK_SEVERITY_ERROR, at, NULL,
                  "a zero byte; the file is binary, or not encoded in UTF-8");
        return YK_OK;
    }

    /* The reader is too large for the stack. */
    reader *r = yk_allocate(store->context, 1, sizeof *r);
    if (!r)
        return YK_ERROR_MEMORY;

    r->store = store;
    r->source = source;
    r->diagnostics = diagnostics;
    r->budget = YK_YAML_NODES_MAX;
    if (yaml_parser_initialize(&r->parser)) {
        /* Known by now: libyaml is not to guess it. */
        yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
        const unsigned char *bytes = (const unsigned char *)text;
        yaml_parser_set_input_string(&r->parser, bytes, source->length);

        /* Until the end of the stream, or an error beyond which reading makes no sense. */
        bool done = false;
        while (!done && !r->stopped) {
            yaml_event_t event;
            if (!yaml_parser_parse(&r->parser, &event)) {
                if (r->parser.error == YAML_MEMORY_ERROR)
                    out_of_memory(r);
                else
                    report_syntax(&r->parser, source, diagnostics);

                r->stopped = true;
                break;
            }

            size_t type = (size_t)event.type;
            if (type < sizeof handlers / sizeof *handlers && handlers[type])
                handlers[type](r, &event);

            done = event.type == YAML_STREAM_END_EVENT;
            yaml_event_delete(&event);
        }

        yaml_parser_delete(&r->parser);
    } else {
        yk_fail(store->context, YK_ERROR_MEMORY, "out of memory in the YAML parser");
        out_of_memory(r);
    }

    /* A text with comments only has no tree. */
    if (!r->stopped && !r->root)
        yk_report(diagnostics, YK_SEVERITY_ERROR, (yk_location){.source = source}, NULL,
                  "the %s is empty", source->has_lines ? "file" : "value");
    if (!r->stopped)
        *root = r->root;

    yk_status status = r->status;
    yk_free(store->context, r);
    return status;
}
