/* The tree of an input file: maps, lists and scalars, each with its location in the text.
 *
 * The YAML reader creates the tree, overrides change it, and the schema resolves it: it fills in
 * defaults and stores the value of each node. Nodes live in a store that is released as a whole. */
#ifndef YK_MODEL_NODE_H
#define YK_MODEL_NODE_H

#include "base/context.h"
#include "yoke/scenario.h"

/* Locations and messages ----------------------------------------------------------------------- */

/* The reader's side of yk_diagnostics: sources of texts, and reports of errors in them.
 * (diagnostics.c) */

/* A text that nodes point into. */
typedef struct yk_source {
    const char *name; /* a file's name, or "--set coupling.scheme" */
    const char *text;
    size_t length;
    bool has_lines; /* false: the name alone is the location (overrides, defaults) */
} yk_source;

/* Lines and columns count from 1 (columns in characters, not bytes); line 0: no particular place. */
typedef struct yk_location {
    const yk_source *source;
    int line, column;
    int length; /* characters to underline */
} yk_location;

/* Adds one message; `path` may be NULL or empty. If the list is full, the message is counted but
 * not stored. */
void yk_report(yk_diagnostics *diagnostics, yk_severity severity, yk_location location,
               const char *path, const char *format, ...) YK_PRINTF(5, 6);

/* The text at a line and column, up to the end of the source. */
const char *yk_source_at(const yk_source *source, int line, int column);

/* Whether the list is full, so that a validator may stop. */
bool yk_diagnostics_full(const yk_diagnostics *diagnostics);
/* Whether a message was lost because memory was missing. */
bool yk_diagnostics_failed(const yk_diagnostics *diagnostics);

/* In the order of the source: file by file, line by line. */
void yk_diagnostics_sort(yk_diagnostics *diagnostics);

/* Nodes ---------------------------------------------------------------------------------------- */

typedef enum yk_node_kind { YK_NODE_SCALAR, YK_NODE_LIST, YK_NODE_MAP } yk_node_kind;

typedef struct yk_node yk_node;

struct yk_node {
    yk_node_kind kind;
    bool quoted;           /* a scalar in quotes */
    bool implied;          /* a map that an override created on its path */
    bool added;            /* a new key from an override */
    const yk_source *from; /* source of its text */
    int line, column;
    int length;       /* characters in its line, to underline */
    const char *text; /* scalars; "" for an empty value */
    const char *key;  /* entries of maps */
    int key_line, key_column;
    int count; /* of children */
    yk_node *parent, *first, *last, *next;
    const yk_node *replaced; /* the value that an override replaced; NULL: none */
    /* The instance of a component to which a node belongs until it is resolved (components.c). */
    const struct yk_instance *instance;

    /* Set when the schema resolves the node */
    bool named; /* an item of a list whose `name` has been read */
    bool valid; /* the values below are valid */
    /* index of the word, of the variant, or of the form that was used; booleans 0 or 1 */
    int choice;
    /* of doubles: 1 number, 3 vector, 4 quaternion (w x y z), 9 matrix by rows, n list */
    int value_count;
    double value;         /* of a number */
    const double *values; /* points to `value` for a number */
    const char *unit;     /* of these, as the schema has it; NULL: none */
    /* Units (m, kg) of the subsystem to which the node belongs; 0: SI */
    double own_length, own_mass;
};

yk_node *yk_node_create(yk_store *store, yk_node_kind kind, yk_location location);
/* Appends a child. The key (NULL in lists) must live as long as the store. */
void yk_node_append(yk_node *parent, yk_node *child, const char *key, yk_location key_location);
/* Replaces a child by `with` under the same key; messages about the key then refer to `with`. */
void yk_node_replace(yk_node *old, yk_node *with);
void yk_node_remove(yk_node *child);
/* Deep copy without the key. `budget` decreases by one per node; NULL if it is exhausted (it is
 * then negative) or memory is missing. */
yk_node *yk_node_copy(yk_store *store, const yk_node *node, int *budget);

/* The entry of a map, NULL if it is missing or if the node is no map. */
yk_node *yk_node_get(const yk_node *map, const char *key);
yk_node *yk_node_at(const yk_node *list, int index);
/* The first child of the entry of a map, NULL if that is missing or empty. */
yk_node *yk_node_items(const yk_node *map, const char *key);
/* The name of an item of a named collection: its key in a map, its `name` in a list; NULL if it has
 * none. */
const char *yk_node_name(const yk_node *item);

/* An entry that is empty ("mass:") or null or ~. */
bool yk_node_is_empty(const yk_node *node);

yk_location yk_node_location(const yk_node *node);
/* Location of its key, or of the node itself if it has none. */
yk_location yk_node_key_location(const yk_node *node);

enum { YK_PATH_MAX = 256 };

/* "subsystems.left.mass", "interfaces[0].joint"; long paths are truncated at the beginning. Returns
 * buffer. */
const char *yk_node_path(const yk_node *node, char buffer[YK_PATH_MAX]);

/* Reports an error about a node (its value, or its key) with the node's path. */
#define yk_node_error(diagnostics, node, ...)                           \
    yk_report((diagnostics), YK_SEVERITY_ERROR, yk_node_location(node), \
              yk_node_path((node), (char[YK_PATH_MAX]){0}), __VA_ARGS__)
#define yk_node_key_error(diagnostics, node, ...)                           \
    yk_report((diagnostics), YK_SEVERITY_ERROR, yk_node_key_location(node), \
              yk_node_path((node), (char[YK_PATH_MAX]){0}), __VA_ARGS__)
#define yk_node_warning(diagnostics, node, ...)                           \
    yk_report((diagnostics), YK_SEVERITY_WARNING, yk_node_location(node), \
              yk_node_path((node), (char[YK_PATH_MAX]){0}), __VA_ARGS__)

/* Reading and changing ------------------------------------------------------------------------- */

/* Limits against files that would take for ever, or all memory. */
enum {
    YK_YAML_BYTES_MAX = 64 << 20,
    YK_YAML_NODES_MAX = 1000000, /* after aliases have been expanded */
    YK_YAML_DEPTH_MAX = 64,
    YK_YAML_ANCHORS_MAX = 1000,
    YK_YAML_MERGE_MAX = 1000 /* entries of a map that takes in others with << */
};

/* Reads one document. The source must live as long as the store; a byte order mark is taken off
 * it. Mistakes go to the diagnostics; *root is NULL when the text is not YAML or is empty, and
 * usable (without what was wrong) after lesser ones such as duplicate keys. The status is an
 * error only when memory is out. */
yk_status yk_yaml_read(yk_store *store, yk_source *source, yk_diagnostics *diagnostics,
                       yk_node **root);

/* The text of a file, terminated, into the store. A file that cannot be read is reported;
 * source->text is then NULL. */
yk_status yk_yaml_open(yk_store *store, const char *path, yk_diagnostics *diagnostics,
                       yk_source *source);

/* Sets one value in the tree, making the sections on the way that are missing (override.c):
 * coupling.scheme=tight, interfaces[0].joint=revolute, or an item of a list by its name,
 * interfaces.tip.joint=fixed. Mistakes are reported under the name "--set path"; the status is an
 * error only when memory is out. */
yk_status yk_override_apply(yk_store *store, yk_node *root, const char *assignment,
                            yk_diagnostics *diagnostics);

#endif
