/* Acceleration of a fixed point x = H(x) of a small vector: the wrenches on one subsystem in a
 * tight iteration.
 *
 *   Aitken        x + factor (H(x) - x), with the factor from the last two residuals; exact after
 *                 two iterations in one dimension, whatever the slope
 *   quasi-Newton  IQN-ILS (Degroote, Bathe, Vierendeels 2009): the combination of all earlier
 *                 residual differences that cancels the present residual in the least-squares
 *                 sense, applied to the differences of H(x)
 *
 * The differences describe the derivative of H, which changes little from one macro step to the
 * next. They may be kept over steps (yk_accelerator_begin()). They are then state, and belong to
 * the state image of the accelerator's owner. Newer differences have priority. Differences of
 * earlier steps are dropped as soon as they increase the residual. */
#include "coupling/interface_fixed_point.h"

#include <math.h>
#include <string.h>

#include "base/restored.h"
#include "math/dense.h"

/* A difference that equals a combination of the others except for this fraction has no information:
 * it consists mainly of the errors of iterative solvers, and would spoil the least squares. */
static const double INDEPENDENT = 1e-6;
/* A step longer than the residual by this factor is extrapolated noise, not a step of a converging
 * fixed point. */
static const double LONGEST = 1e3;

/* Differences of a block below this fraction of its values are rounding errors. */
static const double ROUNDING = 1e-10;

/* Iterations without progress after which the step from the best x is shortened, and the factor of
 * each shortening. */
enum { PATIENCE = 4 };
static const double DAMPING = 0.5;

struct yk_accelerator {
    yk_acceleration kind;
    int n, columns;

    /* Number of stored differences. The newest `current` of them belong to the present fixed point. */
    int count, recent;

    /* Iterations of the present fixed point; for quasi-Newton, iterations since the best x. */
    int iterations, failures;

    double factor;

    /* H(x) - x and H(x): of the last iteration (Aitken), or of the best one (quasi-Newton). */
    double *residual, *image;

    /* Differences, newest last, `columns` x n. */
    double *dresidual, *dimage;

    /* Least squares: Q by rows of n, R upper triangular, and flags of the columns that are used. */
    double *q, *r, *right, *alpha;
    bool *used;

    /* First components of blocks with other units, ascending; weight of each component. */
    int *blocks;
    int block_count;
    double *weight;
};

yk_status yk_accelerator_create(yk_context *context, yk_acceleration kind, int n, int columns,
                                yk_accelerator **accelerator)
{
    *accelerator = NULL;
    yk_accelerator *a = yk_allocate(context, 1, sizeof *a);
    if (!a)
        return YK_ERROR_MEMORY;

    size_t size = (size_t)n;
    size_t width = (size_t)columns;
    size_t words = 3 * size + 3 * width * size + width * width + 2 * width;
    double *block = yk_allocate(context, words, sizeof *block);
    a->used = yk_allocate(context, width, sizeof *a->used);
    a->blocks = yk_allocate(context, size, sizeof *a->blocks);
    a->residual = block;
    if (!block || !a->used || !a->blocks) {
        yk_accelerator_destroy(context, a);
        return YK_ERROR_MEMORY;
    }

    /* All vectors and matrices in one allocation. */
    a->kind = kind;
    a->n = n;
    a->columns = columns;
    a->image = block + size;
    a->dresidual = a->image + size;
    a->dimage = a->dresidual + width * size;
    a->q = a->dimage + width * size;
    a->r = a->q + width * size;
    a->right = a->r + width * width;
    a->alpha = a->right + width;
    a->weight = a->alpha + width;

    for (size_t i = 0; i < size; i++)
        a->weight[i] = 1;

    *accelerator = a;
    return YK_OK;
}

void yk_accelerator_destroy(yk_context *context, yk_accelerator *accelerator)
{
    if (!accelerator)
        return;

    yk_free(context, accelerator->residual);
    yk_free(context, accelerator->used);
    yk_free(context, accelerator->blocks);
    yk_free(context, accelerator);
}

void yk_accelerator_block(yk_accelerator *accelerator, int first)
{
    accelerator->blocks[accelerator->block_count++] = first;
}

void yk_accelerator_restart(yk_accelerator *accelerator)
{
    accelerator->count = 0;
    yk_accelerator_begin(accelerator);
}

void yk_accelerator_begin(yk_accelerator *accelerator)
{
    accelerator->recent = 0;
    accelerator->iterations = 0;
    accelerator->failures = 0;
    accelerator->factor = 1;
}

/* factor(l+1) = -factor(l) r(l) . (r(l+1) - r(l)) / |r(l+1) - r(l)|^2 */
static void aitken(yk_accelerator *a, const double *x, const double *hx, double *next)
{
    double square = 0;
    double slope = 0;

    for (int i = 0; i < a->n; i++) {
        double residual = hx[i] - x[i];
        double difference = residual - a->residual[i];
        square += difference * difference;
        slope += a->residual[i] * difference;
        a->residual[i] = residual;
    }

    /* The first step has no predecessor, so its factor is 1. */
    if (a->iterations > 0 && square > 0)
        a->factor *= -slope / square;
    for (int i = 0; i < a->n; i++)
        next[i] = x[i] + a->factor * a->residual[i];
}

static void forget_oldest(yk_accelerator *a, int number)
{
    size_t gone = (size_t)(number * a->n);
    size_t left = (size_t)((a->count - number) * a->n);
    memmove(a->dresidual, a->dresidual + gone, left * sizeof *a->dresidual);
    memmove(a->dimage, a->dimage + gone, left * sizeof *a->dimage);

    a->count -= number;
    if (a->recent > a->count)
        a->recent = a->count;
}

/* Size of a block in all residual differences. */
static double block_size(const yk_accelerator *a, int begin, int end)
{
    double sum = 0;
    for (int k = 0; k < a->count; k++) {
        const double *difference = a->dresidual + k * a->n;
        for (int i = begin; i < end; i++)
            sum += pow(difference[i], 2);
    }

    return sqrt(sum);
}

/* All blocks have the weight of the first. A block whose differences are rounding errors has weight
 * 0. */
static void weigh_blocks(yk_accelerator *a, const double *hx)
{
    /* All components have the same unit. */
    if (a->block_count == 0)
        return;

    double first = block_size(a, 0, a->blocks[0]);
    for (int b = 0; b < a->block_count; b++) {
        int begin = a->blocks[b];
        int end = a->n;
        if (b + 1 < a->block_count)
            end = a->blocks[b + 1];
        double size = block_size(a, begin, end);
        double value = yk_dense_norm((size_t)(end - begin), hx + begin);
        double weight = 0;
        if (size > ROUNDING * value && first > 0)
            weight = first / size;
        for (int i = begin; i < end; i++)
            a->weight[i] = weight;
    }
}

/* Gram-Schmidt orthogonalization of the differences, newest first, without those that have no
 * information. */
static void orthogonalise(yk_accelerator *a)
{
    size_t size = (size_t)a->n;
    for (int k = 0; k < a->count; k++) {
        const double *column = a->dresidual + (size_t)(a->count - 1 - k) * size;
        double *q = a->q + (size_t)k * size;
        double *r = a->r + k;

        for (size_t i = 0; i < size; i++)
            q[i] = a->weight[i] * column[i];

        /* Subtract the projections on the newer differences. */
        double whole = yk_dense_norm(size, q);
        for (int j = 0; j < k; j++) {
            const double *newer = a->q + (size_t)j * size;
            double *row = &r[j * a->columns];
            *row = 0;
            if (!a->used[j])
                continue;

            *row = yk_dense_dot(size, newer, q);
            for (size_t i = 0; i < size; i++)
                q[i] -= *row * newer[i];
        }

        /* Use the remainder if it is a new direction. */
        double left = yk_dense_norm(size, q);
        a->used[k] = left > INDEPENDENT * whole && left > 0;
        r[k * a->columns] = left;

        for (size_t i = 0; a->used[k] && i < size; i++)
            q[i] /= left;
    }
}

/* alpha with the smallest |dresidual alpha + residual|. */
static void solve_least_squares(yk_accelerator *a, const double *residual)
{
    /* -Q^T residual. */
    size_t size = (size_t)a->n;
    for (int k = 0; k < a->count; k++) {
        const double *q = a->q + (size_t)k * size;
        a->right[k] = 0;

        for (size_t i = 0; i < size; i++)
            a->right[k] -= q[i] * a->weight[i] * residual[i];
    }

    /* Solve R alpha = -Q^T residual from the last row on; unused columns have alpha 0. */
    for (int k = a->count - 1; k >= 0; k--) {
        double sum = a->right[k];
        for (int j = k + 1; j < a->count; j++)
            sum -= a->r[k * a->columns + j] * a->alpha[j];

        a->alpha[k] = 0;
        if (a->used[k])
            a->alpha[k] = sum / a->r[k * a->columns + k];
    }
}

static double weighted_norm(const yk_accelerator *a, const double *vector)
{
    double sum = 0;
    for (int i = 0; i < a->n; i++)
        sum += pow(a->weight[i] * vector[i], 2);
    return sqrt(sum);
}

/* IQN-ILS of Degroote, Bathe, Vierendeels 2009. */
static void quasi_newton(yk_accelerator *a, const double *x, const double *hx, double *next)
{
    /* `next` is not used until the end. */
    size_t size = (size_t)a->n;
    double *residual = next;

    for (int i = 0; i < a->n; i++)
        residual[i] = hx[i] - x[i];

    /* All differences are relative to the best x so far. If H has a kink between two iterates, such
     * differences are secants; those between two poor iterates would be meaningless. */
    if (a->iterations > 0) {
        if (a->count == a->columns)
            forget_oldest(a, 1);

        double *dr = a->dresidual + a->count * a->n;
        double *di = a->dimage + a->count * a->n;
        for (int i = 0; i < a->n; i++) {
            dr[i] = residual[i] - a->residual[i];
            di[i] = hx[i] - a->image[i];
        }

        a->count++;
        a->recent++;
    }

    /* Reuse the differences of earlier fixed points until they stop reducing the residual. */
    if (a->iterations == 0 || weighted_norm(a, residual) < weighted_norm(a, a->residual)) {
        a->failures = 0;
        memcpy(a->residual, residual, size * sizeof(double));
        memcpy(a->image, hx, size * sizeof(double));
    } else {
        a->failures++;
        forget_oldest(a, a->count - a->recent);
    }

    /* next = H(x) + dimage alpha with the smallest |residual + dresidual alpha|, from the best x */
    weigh_blocks(a, a->image);
    orthogonalise(a);
    solve_least_squares(a, a->residual);
    memcpy(next, a->image, size * sizeof(double));

    for (int k = 0; k < a->count; k++) {
        const double *di = a->dimage + (size_t)(a->count - 1 - k) * size;
        for (size_t i = 0; i < size; i++)
            next[i] += a->alpha[k] * di[i];
    }

    /* Drop columns of earlier fixed points that newer ones make redundant, to make room. */
    int kept = 0;
    for (int column = 0; column < a->count; column++) {
        bool old = column < a->count - a->recent;
        if (old && !a->used[a->count - 1 - column])
            continue;

        if (kept != column) {
            memcpy(a->dresidual + kept * a->n, a->dresidual + column * a->n, size * sizeof(double));
            memcpy(a->dimage + kept * a->n, a->dimage + column * a->n, size * sizeof(double));
        }

        kept++;
    }

    a->count = kept;

    /* Limit the step to a plausible length ... */
    double length = 0;
    for (size_t i = 0; i < size; i++)
        length += pow(a->weight[i] * (next[i] - a->image[i] + a->residual[i]), 2);
    if (sqrt(length) > LONGEST * weighted_norm(a, a->residual)) {
        memcpy(next, a->image, size * sizeof(double));
        a->count = 0;
        a->recent = 0;
    }

    /* ... and shorten it for every iteration without progress. */
    if (a->failures < PATIENCE)
        return;

    double part = pow(DAMPING, a->failures - PATIENCE + 1);
    for (size_t i = 0; i < size; i++) {
        double best = a->image[i] - a->residual[i];
        next[i] = best + part * (next[i] - best);
    }
}

void yk_accelerator_next(yk_accelerator *accelerator, const double *x, const double *hx,
                         double *next)
{
    if (accelerator->kind == YK_ACCELERATION_QUASI_NEWTON)
        quasi_newton(accelerator, x, hx, next);
    else
        aitken(accelerator, x, hx, next);
    accelerator->iterations++;
}

void yk_accelerator_best(const yk_accelerator *accelerator, double *x)
{
    /* Aitken stores the last x only. */
    if (accelerator->kind != YK_ACCELERATION_QUASI_NEWTON || accelerator->iterations == 0)
        return;

    for (int i = 0; i < accelerator->n; i++)
        x[i] = accelerator->image[i] - accelerator->residual[i];
}

size_t yk_accelerator_words(const yk_accelerator *accelerator)
{
    return 1 + 2 * (size_t)accelerator->columns * (size_t)accelerator->n;
}

void yk_accelerator_get(const yk_accelerator *accelerator, double *words)
{
    /* All columns, used or not, because the size of a state is constant. */
    size_t most = (size_t)accelerator->columns * (size_t)accelerator->n;
    *words++ = accelerator->count;
    memcpy(words, accelerator->dresidual, most * sizeof(double));
    memcpy(words + most, accelerator->dimage, most * sizeof(double));
}

bool yk_accelerator_is_valid(const yk_accelerator *accelerator, const double *words)
{
    return yk_is_restored_word(words[0], accelerator->columns);
}

void yk_accelerator_set(yk_accelerator *accelerator, const double *words)
{
    size_t most = (size_t)accelerator->columns * (size_t)accelerator->n;
    accelerator->count = (int)*words++;
    memcpy(accelerator->dresidual, words, most * sizeof(double));
    memcpy(accelerator->dimage, words + most, most * sizeof(double));
    yk_accelerator_begin(accelerator);
}
