/* Option rows (yoke/scheme.h) as keys of a scenario: the schema's fields that they stand for, and
 * from resolved nodes back into the structs that they describe. */
#ifndef YK_MODEL_OPTIONS_H
#define YK_MODEL_OPTIONS_H

#include "model/registry.h"
#include "yoke/scheme.h"

/* The field of a row, without its default. It lives in the store; false when out of memory. */
bool yk_option_field(yk_store *store, const yk_option *row, yk_field *field);

/* A section with one field per row, with its defaults; NULL when out of memory. */
const yk_section *yk_option_section(yk_store *store, const char *name, const char *text,
                                    const yk_option *rows);

/* Writes the value of a resolved node to where the row says. Lists of subsystems are left to who
 * knows their names. */
yk_status yk_option_read(yk_builder *builder, const yk_option *row, const yk_node *node,
                         void *options);

#endif
