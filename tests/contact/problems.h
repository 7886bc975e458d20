/* Contact problems for tests: a fixed stream of numbers, random problems of bodies and contacts,
 * and stacks. */
#ifndef YOKE_TESTS_CONTACT_PROBLEMS_H
#define YOKE_TESTS_CONTACT_PROBLEMS_H

#include <stdlib.h>
#include <string.h>

#include "contact/problem.h"
#include "test.h"

typedef struct stream {
    uint64_t state;
} stream;

/* Uniform in [-1, 1]. */
static inline double next_number(stream *s)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(s->state >> 11) * 0x1p-52 - 1;
}

static inline yk_context *make_context(void)
{
    yk_context_def def = yk_context_default();
    yk_context *context = yk_context_create(&def);
    assert_non_null(context);
    return context;
}

/* W = D^T M^-1 D (row-major, n x n) with `velocities` random unit-mass velocities: rank at most
 * `velocities`. Every row of D has entries in a window of velocities only when `window` is
 * smaller, which makes W sparse. */
static inline double *random_gram(stream *s, int n, int velocities, int window)
{
    double *d = calloc((size_t)(n * velocities), sizeof *d),
           *w = calloc((size_t)(n * n), sizeof *w);
    assert_non_null(d);
    assert_non_null(w);
    for (int i = 0; i < n; i++) {
        int first = window < velocities ? i / 3 * 5 % (velocities - window + 1) : 0;
        for (int k = first; k < first + window && k < velocities; k++)
            d[i * velocities + k] = next_number(s);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < velocities; k++)
                w[i * n + j] += d[i * velocities + k] * d[j * velocities + k];
    free(d);
    return w;
}

/* q in the range of W plus a normal part that pushes contacts together, so that a solution
 * exists. */
static inline void random_problem(yk_context *context, stream *s, int dim, int contacts,
                                  int bilateral, int velocities, double mu,
                                  yk_contact_problem *problem)
{
    int n = dim * contacts + bilateral;
    double *w = random_gram(s, n, velocities, velocities < 12 ? velocities : 12);
    double q[128] = {0}, r[128], mus[64];
    assert_true(n <= 128 && contacts <= 64);
    for (int i = 0; i < n; i++)
        r[i] = i < dim * contacts && i % dim == 0 ? -1 - next_number(s) : 0.5 * next_number(s);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            q[i] += w[i * n + j] * r[j];
    for (int i = 0; i < contacts; i++)
        mus[i] = mu;
    assert_int_equal(
        yk_contact_problem_from_dense(context, dim, contacts, bilateral, w, q, mus, problem),
        YK_OK);
    free(w);
}

#endif
