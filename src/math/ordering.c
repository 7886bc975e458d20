/* AMD, then a postorder of the elimination tree (Liu 1986; Liu 1990): columns of one supernode
 * follow each other in it, and the fill is the same in every postorder. */
#include "math/supernodal.h"

#include <amd.h>
#include <limits.h>
#include <string.h>

/* AMD with its work in memory of the context: amd_order would call an allocator of its own. */
static yk_status minimum_degree(yk_context *context, int n, const int *starts, const int *rows,
                                int *order)
{
    size_t stored = (size_t)starts[n];
    size_t most = stored + stored / 5 + (size_t)n + 1; /* what AMD asks for */
    int *work = NULL;

    if (most < INT_MAX)
        work = yk_allocate(context, most + 8 * (size_t)n, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;

    /* Arrays that AMD asks for, one behind the other. */
    int *begin = work + most;
    int *length = begin + n;
    int *count = length + n;
    int *next = count + n;
    int *head = next + n;
    int *elements = head + n;
    int *degree = elements + n;
    int *mark = degree + n;

    /* It wants the pattern without the diagonal. */
    int entries = 0;
    for (int i = 0; i < n; i++) {
        begin[i] = entries;
        for (int p = starts[i]; p < starts[i + 1]; p++) {
            if (rows[p] != i)
                work[entries++] = rows[p];
        }

        length[i] = entries - begin[i];
    }

    /* What it says of its work is not needed. */
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2(n, begin, work, length, (int)most, entries, count, next, order, head, elements, degree,
          mark, control, info);
    yk_release(context, work);

    return YK_OK;
}

/* Parents in the elimination tree under an order, by paths to the root that are shortened as they
 * are walked (Liu 1986). */
static void elimination_tree(int n, const int *starts, const int *rows, const int *order,
                             const int *inverse, int *ancestor, int *parent)
{
    for (int k = 0; k < n; k++) {
        parent[k] = -1;
        ancestor[k] = -1;

        /* Entries before k in its row lead to roots of subtrees, whose parent is k. */
        int vertex = order[k];
        for (int p = starts[vertex]; p < starts[vertex + 1]; p++) {
            int i = inverse[rows[p]];
            while (i >= 0 && i < k) {
                int above = ancestor[i];
                ancestor[i] = k;
                if (above < 0)
                    parent[i] = k;
                i = above;
            }
        }
    }
}

/* Children before their parents and subtrees together: position `count` of the new order is
 * `sequence[count]` of the old. */
static void postorder(int n, const int *parent, int *child, int *sibling, int *stack, int *sequence)
{
    /* Lists of children, the lowest first. */
    for (int k = 0; k < n; k++)
        child[k] = -1;
    for (int k = n - 1; k >= 0; k--) {
        if (parent[k] < 0)
            continue;

        sibling[k] = child[parent[k]];
        child[parent[k]] = k;
    }

    /* Depth first; a vertex is numbered when it has no child left. */
    int count = 0;
    for (int root = 0; root < n; root++) {
        if (parent[root] >= 0)
            continue;

        /* A stack of vertices whose children are not all numbered. */
        int top = 0;
        stack[0] = root;
        while (top >= 0) {
            int k = stack[top];
            if (child[k] >= 0) {
                stack[++top] = child[k];
                child[k] = sibling[child[k]];
            } else {
                sequence[count++] = k;
                top--;
            }
        }
    }
}

yk_status yk_elimination_order(yk_context *context, int n, const int *starts, const int *rows,
                               int *order)
{
    if (n == 0)
        return YK_OK;

    int *work = yk_allocate(context, 5 * (size_t)n, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;

    /* An order of little fill. */
    yk_status status = minimum_degree(context, n, starts, rows, order);
    if (status != YK_OK) {
        yk_release(context, work);
        return status;
    }

    /* Its elimination tree, in postorder; memory of what is not needed any more serves again. */
    int *inverse = work;
    int *parent = work + n;
    for (int k = 0; k < n; k++)
        inverse[order[k]] = k;
    elimination_tree(n, starts, rows, order, inverse, work + 2 * n, parent);

    /* Positions in postorder, and the order with them. */
    int *sequence = work;
    postorder(n, parent, work + 2 * n, work + 3 * n, work + 4 * n, sequence);

    int *last = parent;
    memcpy(last, order, (size_t)n * sizeof *order);
    for (int k = 0; k < n; k++)
        order[k] = last[sequence[k]];
    yk_release(context, work);

    return YK_OK;
}
