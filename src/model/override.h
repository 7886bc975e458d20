/* Values of the command line over those of the file: coupling.scheme=tight,
 * interfaces[0].joint=revolute, interfaces.tip.joint=clamp (an item of a list by its name). */
#ifndef YK_MODEL_OVERRIDE_H
#define YK_MODEL_OVERRIDE_H

#include "model/node.h"

/* Sets one value in the tree, making the sections on the way that are missing. Mistakes are
 * reported under the name "--set path"; the status is an error only when memory is out. */
yk_status yk_override_apply(yk_store *store, yk_node *root, const char *assignment,
                            yk_diagnostics *diagnostics);

#endif
