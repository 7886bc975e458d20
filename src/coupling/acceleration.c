#include "coupling/acceleration.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

/* A difference that the others explain up to this fraction says nothing new: it is mostly what iterative solvers leave
 * unconverged, and would spoil the least squares. */
static const double INDEPENDENT = 1e-6;
/* A step so many times the residual is not one of a fixed point that converges, but noise that was extrapolated. */
static const double LONGEST = 1e3;

struct yk_accelerator {
    yk_relaxation kind;
    int n, columns, count; /* count: differences that are remembered */
    int iterations;        /* since the restart */
    double factor;
    double *residual, *image;      /* of the last iteration: H(x) - x and H(x) */
    double *dresidual, *dimage;    /* differences, newest last, `columns` x n */
    double *q, *r, *right, *alpha; /* least squares: Q by rows of n, R upper triangular */
    bool *used;
};

yk_status yk_accelerator_create(yk_context *context, yk_relaxation kind, int n, int columns,
                                yk_accelerator **accelerator)
{
    *accelerator = NULL;
    yk_accelerator *a = yk_allocate(context, 1, sizeof *a);
    if (!a) return YK_ERROR_MEMORY;
    size_t size = (size_t)n, width = (size_t)columns;
    double *block = yk_allocate(context, 2 * size + 3 * width * size + width * width + 2 * width, sizeof *block);
    a->used = yk_allocate(context, width, sizeof *a->used);
    a->residual = block;
    if (!block || !a->used) {
        yk_accelerator_destroy(context, a);
        return YK_ERROR_MEMORY;
    }
    a->kind = kind, a->n = n, a->columns = columns;
    a->image = block + size;
    a->dresidual = a->image + size;
    a->dimage = a->dresidual + width * size;
    a->q = a->dimage + width * size;
    a->r = a->q + width * size;
    a->right = a->r + width * width;
    a->alpha = a->right + width;
    *accelerator = a;
    return YK_OK;
}

void yk_accelerator_destroy(yk_context *context, yk_accelerator *accelerator)
{
    if (!accelerator) return;
    yk_release(context, accelerator->residual);
    yk_release(context, accelerator->used);
    yk_release(context, accelerator);
}

void yk_accelerator_restart(yk_accelerator *accelerator)
{
    accelerator->count = 0;
    accelerator->iterations = 0;
    accelerator->factor = 1;
}

/* factor(l+1) = -factor(l) r(l) . (r(l+1) - r(l)) / |r(l+1) - r(l)|^2 */
static void aitken(yk_accelerator *a, const double *x, const double *hx, double *next)
{
    double square = 0, slope = 0;
    for (int i = 0; i < a->n; i++) {
        double residual = hx[i] - x[i], difference = residual - a->residual[i];
        square += difference * difference;
        slope += a->residual[i] * difference;
        a->residual[i] = residual;
    }
    if (a->iterations > 0 && square > 0) a->factor *= -slope / square;
    for (int i = 0; i < a->n; i++) next[i] = x[i] + a->factor * a->residual[i];
}

/* Keeps the change since the last iteration as the newest column, and the oldest no longer than there is room. */
static void remember_difference(yk_accelerator *a, const double *residual, const double *image)
{
    size_t size = (size_t)a->n;
    if (a->count == a->columns) {
        memmove(a->dresidual, a->dresidual + size, (size_t)(a->count - 1) * size * sizeof(double));
        memmove(a->dimage, a->dimage + size, (size_t)(a->count - 1) * size * sizeof(double));
        a->count--;
    }
    double *dr = a->dresidual + (size_t)a->count * size, *di = a->dimage + (size_t)a->count * size;
    for (int i = 0; i < a->n; i++) {
        dr[i] = residual[i] - a->residual[i];
        di[i] = image[i] - a->image[i];
    }
    a->count++;
}

/* Gram-Schmidt of the differences, newest first, leaving out those that say nothing new. */
static void orthogonalise(yk_accelerator *a)
{
    size_t size = (size_t)a->n;
    for (int k = 0; k < a->count; k++) {
        const double *column = a->dresidual + (size_t)(a->count - 1 - k) * size;
        double *q = a->q + (size_t)k * size, *r = a->r + k;
        double whole = yk_dense_norm(size, column);
        memcpy(q, column, size * sizeof(double));
        for (int j = 0; j < k; j++) {
            double *row = &r[j * a->columns];
            *row = 0;
            if (!a->used[j]) continue;
            *row = yk_dense_dot(size, a->q + (size_t)j * size, q);
            for (size_t i = 0; i < size; i++) q[i] -= *row * a->q[(size_t)j * size + i];
        }
        double left = yk_dense_norm(size, q);
        a->used[k] = left > INDEPENDENT * whole && left > 0;
        r[k * a->columns] = left;
        for (size_t i = 0; a->used[k] && i < size; i++) q[i] /= left;
    }
}

/* alpha with least |dresidual alpha + residual|. */
static void solve_least_squares(yk_accelerator *a, const double *residual)
{
    size_t size = (size_t)a->n;
    for (int k = 0; k < a->count; k++) a->right[k] = -yk_dense_dot(size, a->q + (size_t)k * size, residual);
    for (int k = a->count - 1; k >= 0; k--) {
        double sum = a->right[k];
        for (int j = k + 1; j < a->count; j++) sum -= a->r[k * a->columns + j] * a->alpha[j];
        a->alpha[k] = a->used[k] ? sum / a->r[k * a->columns + k] : 0;
    }
}

static void quasi_newton(yk_accelerator *a, const double *x, const double *hx, double *next)
{
    size_t size = (size_t)a->n;
    double *residual = next; /* next is free until the end */
    for (int i = 0; i < a->n; i++) residual[i] = hx[i] - x[i];
    if (a->iterations > 0) remember_difference(a, residual, hx);
    orthogonalise(a);
    solve_least_squares(a, residual);
    memcpy(a->residual, residual, size * sizeof(double));
    memcpy(a->image, hx, size * sizeof(double));
    memcpy(next, hx, size * sizeof(double));
    for (int k = 0; k < a->count; k++) {
        const double *di = a->dimage + (size_t)(a->count - 1 - k) * size;
        for (size_t i = 0; i < size; i++) next[i] += a->alpha[k] * di[i];
    }
    double way = 0;
    for (size_t i = 0; i < size; i++) way += (next[i] - x[i]) * (next[i] - x[i]);
    if (sqrt(way) <= LONGEST * yk_dense_norm(size, a->residual)) return;
    memcpy(next, hx, size * sizeof(double));
    a->count = 0;
}

void yk_accelerator_next(yk_accelerator *accelerator, const double *x, const double *hx, double *next)
{
    if (accelerator->kind == YK_RELAXATION_QUASI_NEWTON)
        quasi_newton(accelerator, x, hx, next);
    else
        aitken(accelerator, x, hx, next);
    accelerator->iterations++;
}
