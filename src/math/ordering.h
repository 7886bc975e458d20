/* An order of elimination that keeps factors sparse and their supernodes wide. */
#ifndef YK_MATH_ORDERING_H
#define YK_MATH_ORDERING_H

#include "yoke/base.h"

/* Approximate minimum degree for a symmetric pattern in compressed columns without duplicates,
 * renumbered so that columns with the same pattern follow each other: order[k] is the k-th vertex
 * to be eliminated. All memory is the context's. */
yk_status yk_elimination_order(yk_context *context, int n, const int *starts, const int *rows,
                               int *order);

#endif
