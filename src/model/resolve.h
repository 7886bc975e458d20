/* Shared by the files that resolve nodes; the interface is schema.h. */
#ifndef YK_MODEL_RESOLVE_H
#define YK_MODEL_RESOLVE_H

#include "model/schema.h"

/* From the store; sets the resolver's status when memory is out. */
void *yk_resolver_take(yk_resolver *resolver, size_t bytes);
/* "expected a number in kg greater than 0; found 'heavy'" */
void yk_resolve_mismatch(yk_resolver *resolver, const yk_node *node, const yk_field *field);
void yk_resolve_expression_error(yk_resolver *resolver, const yk_node *node, const yk_field *field,
                                 const yk_expression_error *error);
/* A constant; false after a message. */
bool yk_resolve_number(yk_resolver *resolver, yk_node *node, const yk_field *field);

/* Named constants, in any order of definition; fills the resolver's scope (parameters.c). */
void yk_resolve_parameters(yk_resolver *resolver, yk_node *node, const yk_field *field);

/* Replaces items with `repeat` by their copies; false after a message (repeat.c). */
bool yk_expand_repeats(yk_resolver *resolver, yk_node *collection);
/* The text with the expressions of parameters that it has in braces as numbers: "n_{2*elements}".
 * Braces with anything else in them stay. */
const char *yk_fill_parameters(yk_resolver *resolver, const char *text);

#endif
