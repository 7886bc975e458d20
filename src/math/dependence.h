/* Linear dependence among the rows of a sparse matrix: the redundant rows of a system of
 * constraints.
 *
 * Groups of columns are eliminated one after another, in an order that keeps the work sparse. All
 * rows with entries in the columns of a group form a dense front F, and a QR factorization with
 * column pivoting reduces it, first in the columns of the group and then in the others:
 *
 *                 group   others
 *             |   R        *    |    pivot rows: they determine the group
 *   Q^T F  =  |   0        S    |    remaining constraints on other groups
 *             |   0        0    |    dependent: these combinations of rows vanish
 *
 * S becomes part of the front of the next group with columns in it, as S = L Z with orthonormal
 * rows of Z. So each decision compares constraints by the angles between them, and a long chain,
 * whose S would become smaller with every link, is not mistaken for a dependent one. A vanishing
 * combination is found in the first front that contains all of its rows: many small loops cost time
 * proportional to their number.
 *
 * One row is chosen from each vanishing combination, after the rows chosen before have been
 * eliminated from it. Without the chosen rows no combination vanishes. Among the rows with a large
 * coefficient the last one is chosen, so that a loop of joints tends to be opened at one joint. */
#ifndef YK_MATH_DEPENDENCE_H
#define YK_MATH_DEPENDENCE_H

#include "math/sparse.h"

typedef struct yk_dependence_def {
    int rows, columns;
    /* Without duplicates. Columns should be scaled to the same unit; rows are scaled to unit
     * length here. */
    const yk_matrix_entry *entries;
    size_t entry_count;

    /* Group of each column, such as the six of a body. */
    const int *group;
    int group_count;

    /* Rows of a front depend on each other if a unit combination of them is shorter than this. */
    double tolerance;
} yk_dependence_def;

typedef struct yk_dependence {
    int count;    /* rows - rank */
    double *part; /* per row: largest coefficient in a vanishing combination, 0 (none) to 1 */
    bool *chosen; /* per row: one of `count` rows without which the others are independent */
} yk_dependence;

/* Release the result by yk_dependence_release. */
yk_status yk_dependence_find(yk_context *context, const yk_dependence_def *def,
                             yk_dependence *dependence);
void yk_dependence_release(yk_context *context, yk_dependence *dependence);

#endif
