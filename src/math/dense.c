/* Dense kernels: all inner loops run along rows. The exponential by scaling and squaring (Higham
 * 2005). */
#include "math/dense.h"

#include <math.h>
#include <string.h>

static void swap_doubles(double *a, double *b)
{
    double spare = *a;
    *a = *b;
    *b = spare;
}

/* y -= s x */
static inline void subtract_scaled(int n, double s, const double *restrict x, double *restrict y)
{
    for (int j = 0; j < n; j++)
        y[j] -= s * x[j];
}

static inline bool usable_pivot(double pivot)
{
    return pivot != 0 && isfinite(pivot);
}

/* LU ------------------------------------------------------------------------------------------- */

yk_status yk_lu_factor(int n, double *a, int *pivot)
{
    for (int k = 0; k < n; k++) {
        double *row_k = a + (size_t)k * (size_t)n;

        /* The largest of the column. */
        int best = k;
        double largest = fabs(row_k[k]);
        for (int i = k + 1; i < n; i++) {
            double candidate = fabs(a[(size_t)i * (size_t)n + (size_t)k]);
            if (candidate > largest) {
                largest = candidate;
                best = i;
            }
        }

        pivot[k] = best;
        if (best != k) {
            double *row = a + (size_t)best * (size_t)n;
            for (int j = 0; j < n; j++)
                swap_doubles(&row_k[j], &row[j]);
        }

        if (!usable_pivot(row_k[k]))
            return YK_ERROR_SINGULAR;

        /* Row k from all below. */
        for (int i = k + 1; i < n; i++) {
            double *row_i = a + (size_t)i * (size_t)n;
            row_i[k] /= row_k[k];
            subtract_scaled(n - k - 1, row_i[k], row_k + k + 1, row_i + k + 1);
        }
    }

    return YK_OK;
}

void yk_lu_solve(int n, const double *a, const int *pivot, double *b)
{
    /* Rows as they were exchanged, then forward and backward. */
    for (int k = 0; k < n; k++) {
        if (pivot[k] != k)
            swap_doubles(&b[k], &b[pivot[k]]);
    }

    for (int i = 1; i < n; i++)
        b[i] -= yk_dense_dot((size_t)i, a + (size_t)i * (size_t)n, b);

    for (int i = n - 1; i >= 0; i--) {
        const double *row = a + (size_t)i * (size_t)n;
        b[i] = (b[i] - yk_dense_dot((size_t)(n - i - 1), row + i + 1, b + i + 1)) / row[i];
    }
}

/* Exponential ---------------------------------------------------------------------------------- */

enum { EXP_MAX = 16, PADE_ORDERS = 5, PADE_COEFFICIENTS = 14 };

/* Diagonal Pade approximants: the largest 1-norm for which the order is accurate to rounding
 * errors, and the numerator. */
typedef struct pade_approximant {
    int order;
    double largest_norm;
    double c[PADE_COEFFICIENTS];
} pade_approximant;

static const pade_approximant pade_table[PADE_ORDERS] = {
    {3, 1.495585217958292e-2, {120, 60, 12, 1}},
    {5, 2.539398330063230e-1, {30240, 15120, 3360, 420, 30, 1}},
    {7, 9.504178996162932e-1, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
    {9,
     2.097847961257068e0,
     {17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1}},
    {13,
     5.371920351148152e0,
     {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
      10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}},
};

static void multiply(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    memset(c, 0, (size_t)(n * n) * sizeof *c);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            subtract_scaled(n, -a[i * n + k], b + k * n, c + i * n);
    }
}

static double norm_1(int n, const double *a)
{
    double norm = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += fabs(a[i * n + j]);
        if (!(sum <= norm))
            norm = sum; /* keeps a NaN */
    }

    return norm;
}

/* Diagonal similarity transformation by powers of two (exact) that balances the norms of rows and
 * columns: an oscillator's companion matrix has norm omega^2 before and omega after it, and every
 * halving of the norm saves a squaring and its errors. */
static void balance(int n, double *a, double *scale)
{
    for (int i = 0; i < n; i++)
        scale[i] = 1;

    for (int sweep = 0, changed = 1; changed && sweep < 100; sweep++) {
        changed = 0;
        for (int i = 0; i < n; i++) {
            /* Norms without the diagonal, which no such transformation changes. */
            double row = 0;
            double column = 0;
            for (int j = 0; j < n; j++) {
                if (j == i)
                    continue;

                row += fabs(a[i * n + j]);
                column += fabs(a[j * n + i]);
            }

            if (!usable_pivot(row) || !usable_pivot(column))
                continue;

            /* Only if it reduces the norm. */
            double factor = exp2(round(0.5 * log2(row / column)));
            if (!usable_pivot(factor) || column * factor + row / factor >= 0.95 * (column + row))
                continue;

            changed = 1;
            scale[i] *= factor;
            for (int j = 0; j < n; j++)
                a[i * n + j] /= factor;
            for (int j = 0; j < n; j++)
                a[j * n + i] *= factor;
        }
    }
}

/* Numerator p = even + odd and denominator q = even - odd of the approximant, by Horner's rule in
 * a^2. */
static void pade_sums(int n, const double *a, int order, const double *c, double *p, double *q)
{
    double square[EXP_MAX * EXP_MAX];
    double even[EXP_MAX * EXP_MAX];
    double odd[EXP_MAX * EXP_MAX];
    int count = n * n;

    /* Powers of a^2. */
    multiply(n, a, a, square);
    memset(even, 0, (size_t)count * sizeof *even);
    memset(odd, 0, (size_t)count * sizeof *odd);

    /* Horner's rule for even and odd powers at once. */
    for (int k = order; k > 0; k -= 2) {
        multiply(n, square, even, p);
        multiply(n, square, odd, q);
        memcpy(even, p, (size_t)count * sizeof *even);
        memcpy(odd, q, (size_t)count * sizeof *odd);
        for (int i = 0; i < n; i++) {
            even[i * n + i] += c[k - 1];
            odd[i * n + i] += c[k];
        }
    }

    /* Multiply the odd part once more by a. */
    multiply(n, a, odd, square);
    for (int i = 0; i < count; i++) {
        p[i] = even[i] + square[i];
        q[i] = even[i] - square[i];
    }
}

yk_status yk_dense_exp(int n, const double *a, double *result)
{
    if (n < 1 || n > EXP_MAX)
        return YK_ERROR_ARGUMENT;

    /* Rows and columns of similar size. */
    double scaled[EXP_MAX * EXP_MAX];
    double p[EXP_MAX * EXP_MAX];
    double q[EXP_MAX * EXP_MAX];
    double scale[EXP_MAX];
    int count = n * n;
    memcpy(scaled, a, (size_t)count * sizeof *scaled);
    balance(n, scaled, scale);
    double norm = norm_1(n, scaled);
    if (!isfinite(norm))
        return YK_ERROR_NOT_FINITE;

    /* The lowest order that is accurate to rounding errors, otherwise the highest on a matrix that
     * is halved often enough. */
    int row = 0;
    int squarings = 0;
    while (row < PADE_ORDERS - 1 && norm > pade_table[row].largest_norm)
        row++;
    if (norm > pade_table[row].largest_norm) {
        frexp(norm / pade_table[row].largest_norm, &squarings);
        for (int i = 0; i < count; i++)

            scaled[i] = ldexp(scaled[i], -squarings);
    }

    /* q^-1 p, column by column. */
    int pivot[EXP_MAX];
    pade_sums(n, scaled, pade_table[row].order, pade_table[row].c, p, q);
    yk_status status = yk_lu_factor(n, q, pivot);
    if (status != YK_OK)
        return status;

    for (int j = 0; j < n; j++) {
        double column[EXP_MAX];
        for (int i = 0; i < n; i++)
            column[i] = p[i * n + j];
        yk_lu_solve(n, q, pivot, column);
        for (int i = 0; i < n; i++)
            scaled[i * n + j] = column[i];
    }

    /* Square as often as it was halved, and undo the balancing. */
    for (; squarings > 0; squarings--) {
        multiply(n, scaled, scaled, p);
        memcpy(scaled, p, (size_t)count * sizeof *scaled);
    }

    for (int i = 0; i < count; i++)
        result[i] = scaled[i] * (scale[i / n] / scale[i % n]);

    return isfinite(norm_1(n, result)) ? YK_OK : YK_ERROR_NOT_FINITE;
}

/* Vectors -------------------------------------------------------------------------------------- */

double yk_dense_dot(size_t n, const double *a, const double *b)
{
    /* Four sums use the adder fully; the order of the additions is fixed, so the result is
     * reproducible bit for bit. */
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }

    for (; i < n; i++)
        s0 += a[i] * b[i];

    return (s0 + s1) + (s2 + s3);
}

double yk_dense_norm(size_t n, const double *a)
{
    double sum = yk_dense_dot(n, a, a);
    if (sum > 1e-280 && sum < 1e280)
        return sqrt(sum);

    /* The squares exceed the range of doubles: scale by the largest entry. */
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(a[i]) <= largest))
            largest = fabs(a[i]);
    }

    if (largest == 0 || !isfinite(largest))
        return largest;

    /* Relative to it, no square overflows. */
    sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] / largest) * (a[i] / largest);

    return largest * sqrt(sum);
}

int yk_dense_rank(int n, double *a, double tolerance)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (a[i * n + i] > a[pivot * n + pivot])
                pivot = i;
        if (!(a[pivot * n + pivot] > tolerance))
            return k;

        /* Exchange the row and the column of the pivot with those of k. */
        for (int i = 0; i < n; i++) {
            double entry = a[k * n + i];
            a[k * n + i] = a[pivot * n + i];
            a[pivot * n + i] = entry;
        }

        for (int i = 0; i < n; i++) {
            double entry = a[i * n + k];
            a[i * n + k] = a[i * n + pivot];
            a[i * n + pivot] = entry;
        }

        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j] / a[k * n + k];
    }

    return n;
}
