/* YAML text to a tree of nodes, and values of the command line set in it. */
#ifndef YK_MODEL_YAML_H
#define YK_MODEL_YAML_H

#include "model/node.h"

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
 * interfaces.tip.joint=clamp. Mistakes are reported under the name "--set path"; the status is an
 * error only when memory is out. */
yk_status yk_override_apply(yk_store *store, yk_node *root, const char *assignment,
                            yk_diagnostics *diagnostics);

#endif
