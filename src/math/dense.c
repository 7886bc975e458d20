/* Dense kernels: all inner loops run along rows. LDLT pivots by Bunch and Kaufman (1977), the exponential follows
 * Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26 (2005).
 */
#include "math/dense.h"

#include <math.h>
#include <string.h>

static void swap_doubles(double *a, double *b)
{
    double spare = *a;
    *a = *b;
    *b = spare;
}

static void swap_rows(double *a, double *b, int count)
{
    for (int j = 0; j < count; j++) swap_doubles(&a[j], &b[j]);
}

/* y -= s x */
static inline void subtract_scaled(int n, double s, const double *restrict x, double *restrict y)
{
    for (int j = 0; j < n; j++) y[j] -= s * x[j];
}

static inline bool usable_pivot(double pivot)
{
    return pivot != 0 && isfinite(pivot);
}

/* LU ---------------------------------------------------------------------------------------------------------- */

yk_status yk_lu_factor(int n, double *a, int *pivot)
{
    for (int k = 0; k < n; k++) {
        double *row_k = a + (size_t)k * (size_t)n;
        int best = k;
        double largest = fabs(row_k[k]);
        for (int i = k + 1; i < n; i++) {
            double candidate = fabs(a[(size_t)i * (size_t)n + (size_t)k]);
            if (candidate > largest) largest = candidate, best = i;
        }
        pivot[k] = best;
        if (best != k) swap_rows(row_k, a + (size_t)best * (size_t)n, n);
        if (!usable_pivot(row_k[k])) return YK_ERROR_SINGULAR;
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
    for (int k = 0; k < n; k++)
        if (pivot[k] != k) swap_doubles(&b[k], &b[pivot[k]]);
    for (int i = 1; i < n; i++) b[i] -= yk_dense_dot((size_t)i, a + (size_t)i * (size_t)n, b);
    for (int i = n - 1; i >= 0; i--) {
        const double *row = a + (size_t)i * (size_t)n;
        b[i] = (b[i] - yk_dense_dot((size_t)(n - i - 1), row + i + 1, b + i + 1)) / row[i];
    }
}

/* LDLT ---------------------------------------------------------------------------------------------------------
 *
 * Interchanges are applied to the rows of L that are already known, so that P A P^T = L D L^T with one permutation in
 * front. pivot[k] = p: rows k and p were exchanged and D has a 1 x 1 block at k. A 2 x 2 block at k, k + 1 has
 * pivot[k] = ~k and pivot[k + 1] = ~p; its off-diagonal entry sits in the place of L(k + 1, k), which is zero. */

static const double BUNCH_KAUFMAN_ALPHA = 0.6403882032022076; /* (1 + sqrt(17)) / 8 bounds the growth of the entries */

/* Row of the largest entry below the diagonal of column k. */
static int largest_below(int n, const double *a, int k, double *largest)
{
    int at = k;
    *largest = 0;
    for (int i = k + 1; i < n; i++) {
        double candidate = fabs(a[(size_t)i * (size_t)n + (size_t)k]);
        if (candidate > *largest) *largest = candidate, at = i;
    }
    return at;
}

/* Largest off-diagonal entry of row and column r within the rows from k on. */
static double largest_across(int n, const double *a, int k, int r)
{
    double largest = 0;
    largest_below(n, a, r, &largest);
    const double *row = a + (size_t)r * (size_t)n;
    for (int j = k; j < r; j++)
        if (fabs(row[j]) > largest) largest = fabs(row[j]);
    return largest;
}

/* Exchanges rows and columns p < q of the symmetric remainder, and rows p and q of L left of it. */
static void swap_symmetric(int n, double *a, int p, int q)
{
    size_t w = (size_t)n;
    swap_rows(a + (size_t)p * w, a + (size_t)q * w, p);
    swap_doubles(&a[(size_t)p * w + (size_t)p], &a[(size_t)q * w + (size_t)q]);
    for (int i = p + 1; i < q; i++) swap_doubles(&a[(size_t)i * w + (size_t)p], &a[(size_t)q * w + (size_t)i]);
    for (int i = q + 1; i < n; i++) swap_doubles(&a[(size_t)i * w + (size_t)p], &a[(size_t)i * w + (size_t)q]);
}

/* The pivot block at k: returns its size, 1 or 2, and the row to be exchanged with its last row. */
static int choose_pivot(int n, const double *a, int k, int *exchange)
{
    double below;
    int r = largest_below(n, a, k, &below);
    double diagonal = fabs(a[(size_t)k * (size_t)n + (size_t)k]);
    *exchange = k;
    /* Comparisons are such that a NaN becomes a 1 x 1 pivot, which is then refused. */
    if (!(diagonal < BUNCH_KAUFMAN_ALPHA * below)) return 1;
    double across = largest_across(n, a, k, r);
    if (!(diagonal * (across / below) < BUNCH_KAUFMAN_ALPHA * below)) return 1;
    *exchange = r;
    return fabs(a[(size_t)r * (size_t)n + (size_t)r]) < BUNCH_KAUFMAN_ALPHA * across ? 2 : 1;
}

/* Column k as a row above the diagonal, where the update can run along it. */
static double *column_to_row(int n, double *a, int k)
{
    double *row = a + (size_t)k * (size_t)n;
    for (int i = k + 1; i < n; i++) row[i] = a[(size_t)i * (size_t)n + (size_t)k];
    return row;
}

static bool eliminate_one(int n, double *a, int k)
{
    double *column = column_to_row(n, a, k);
    if (!usable_pivot(column[k])) return false;
    for (int i = k + 1; i < n; i++) {
        double *row = a + (size_t)i * (size_t)n;
        row[k] /= column[k];
        subtract_scaled(i - k, row[k], column + k + 1, row + k + 1);
    }
    return true;
}

static bool eliminate_two(int n, double *a, int k)
{
    double *first = column_to_row(n, a, k), *second = column_to_row(n, a, k + 1);
    double d11 = first[k], d21 = first[k + 1], d22 = second[k + 1];
    /* Divided by the off-diagonal entry, which is the large one, the block's inverse cannot overflow. */
    double p = d11 / d21, q = d22 / d21, determinant = p * q - 1;
    if (!usable_pivot(d21) || !usable_pivot(determinant)) return false;
    for (int i = k + 2; i < n; i++) {
        double *row = a + (size_t)i * (size_t)n;
        double x = row[k] / d21, y = row[k + 1] / d21;
        row[k] = (q * x - y) / determinant;
        row[k + 1] = (p * y - x) / determinant;
        subtract_scaled(i - k - 1, row[k], first + k + 2, row + k + 2);
        subtract_scaled(i - k - 1, row[k + 1], second + k + 2, row + k + 2);
    }
    return true;
}

yk_status yk_ldlt_factor(int n, double *a, int *pivot)
{
    for (int k = 0; k < n;) {
        int exchange;
        int size = choose_pivot(n, a, k, &exchange);
        int last = k + size - 1;
        if (exchange != last) swap_symmetric(n, a, last, exchange);
        if (size == 1) {
            pivot[k] = exchange;
            if (!eliminate_one(n, a, k)) return YK_ERROR_SINGULAR;
        } else {
            pivot[k] = ~k;
            pivot[k + 1] = ~exchange;
            if (!eliminate_two(n, a, k)) return YK_ERROR_SINGULAR;
        }
        k += size;
    }
    return YK_OK;
}

static int pivot_row(int pivot)
{
    return pivot < 0 ? ~pivot : pivot;
}

/* b = D^-1 b */
static void solve_blocks(int n, const double *a, const int *pivot, double *b)
{
    for (int k = 0; k < n; k++) {
        const double *row = a + (size_t)k * (size_t)n, *next = row + n;
        if (pivot[k] >= 0) {
            b[k] /= row[k];
            continue;
        }
        double p = row[k] / next[k], q = next[k + 1] / next[k], determinant = p * q - 1;
        double x = b[k] / next[k], y = b[k + 1] / next[k];
        b[k] = (q * x - y) / determinant;
        b[k + 1] = (p * y - x) / determinant;
        k++;
    }
}

void yk_ldlt_solve(int n, const double *a, const int *pivot, double *b)
{
    for (int k = 0; k < n; k++)
        if (pivot_row(pivot[k]) != k) swap_doubles(&b[k], &b[pivot_row(pivot[k])]);
    for (int i = 0; i < n; i++) {
        const double *row = a + (size_t)i * (size_t)n;
        b[i] -= yk_dense_dot((size_t)i, row, b);
        if (pivot[i] < 0) { /* the second row of the block has no entry in the block's first column */
            i++;
            b[i] -= yk_dense_dot((size_t)(i - 1), row + n, b);
        }
    }
    solve_blocks(n, a, pivot, b);
    for (int i = n - 1; i >= 0; i--) {
        const double *row = a + (size_t)i * (size_t)n;
        if (pivot[i] < 0) {
            subtract_scaled(i - 1, b[i], row, b);
            i--;
            row -= n;
        }
        subtract_scaled(i, b[i], row, b);
    }
    for (int k = n - 1; k >= 0; k--)
        if (pivot_row(pivot[k]) != k) swap_doubles(&b[k], &b[pivot_row(pivot[k])]);
}

/* Exponential --------------------------------------------------------------------------------------------------- */

enum { EXP_MAX = 16, PADE_ORDERS = 5, PADE_COEFFICIENTS = 14 };

/* Diagonal Pade approximants: the largest 1-norm for which the order reaches rounding, and the numerator. */
typedef struct pade {
    int order;
    double largest_norm;
    double c[PADE_COEFFICIENTS];
} pade;

static const pade pade_table[PADE_ORDERS] = {
    {3, 1.495585217958292e-2, {120, 60, 12, 1}},
    {5, 2.539398330063230e-1, {30240, 15120, 3360, 420, 30, 1}},
    {7, 9.504178996162932e-1, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
    {9, 2.097847961257068e0, {17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1}},
    {13,
     5.371920351148152e0,
     {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
      670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}},
};

static void multiply(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    memset(c, 0, (size_t)(n * n) * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) subtract_scaled(n, -a[i * n + k], b + k * n, c + i * n);
}

static double norm_1(int n, const double *a)
{
    double norm = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(a[i * n + j]);
        if (!(sum <= norm)) norm = sum; /* keeps a NaN */
    }
    return norm;
}

/* Diagonal similarity by powers of two (exact) that makes rows and columns alike in norm: an oscillator's companion
 * matrix has norm omega^2 before and omega after, and every halving of the norm spares a squaring and its errors. */
static void balance(int n, double *a, double *scale)
{
    for (int i = 0; i < n; i++) scale[i] = 1;
    for (int sweep = 0, changed = 1; changed && sweep < 100; sweep++) {
        changed = 0;
        for (int i = 0; i < n; i++) {
            double row = 0, column = 0;
            for (int j = 0; j < n; j++) {
                if (j == i) continue;
                row += fabs(a[i * n + j]);
                column += fabs(a[j * n + i]);
            }
            if (!usable_pivot(row) || !usable_pivot(column)) continue;
            double factor = exp2(round(0.5 * log2(row / column)));
            if (!usable_pivot(factor) || column * factor + row / factor >= 0.95 * (column + row)) continue;
            changed = 1;
            scale[i] *= factor;
            for (int j = 0; j < n; j++) a[i * n + j] /= factor;
            for (int j = 0; j < n; j++) a[j * n + i] *= factor;
        }
    }
}

/* Numerator p = even + odd and denominator q = even - odd of the approximant, by Horner's rule in a^2. */
static void pade_sums(int n, const double *a, const pade *used, double *p, double *q)
{
    double square[EXP_MAX * EXP_MAX], even[EXP_MAX * EXP_MAX], odd[EXP_MAX * EXP_MAX];
    int count = n * n;
    multiply(n, a, a, square);
    memset(even, 0, (size_t)count * sizeof *even);
    memset(odd, 0, (size_t)count * sizeof *odd);
    for (int k = used->order; k > 0; k -= 2) {
        multiply(n, square, even, p);
        multiply(n, square, odd, q);
        memcpy(even, p, (size_t)count * sizeof *even);
        memcpy(odd, q, (size_t)count * sizeof *odd);
        for (int i = 0; i < n; i++) even[i * n + i] += used->c[k - 1], odd[i * n + i] += used->c[k];
    }
    multiply(n, a, odd, square);
    for (int i = 0; i < count; i++) p[i] = even[i] + square[i], q[i] = even[i] - square[i];
}

/* r = q^-1 p */
static yk_status solve_columns(int n, double *q, const double *p, double *r)
{
    int pivot[EXP_MAX];
    double column[EXP_MAX];
    yk_status status = yk_lu_factor(n, q, pivot);
    if (status != YK_OK) return status;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) column[i] = p[i * n + j];
        yk_lu_solve(n, q, pivot, column);
        for (int i = 0; i < n; i++) r[i * n + j] = column[i];
    }
    return YK_OK;
}

yk_status yk_dense_exp(int n, const double *a, double *result)
{
    if (n < 1 || n > EXP_MAX) return YK_ERROR_ARGUMENT;
    double scaled[EXP_MAX * EXP_MAX], p[EXP_MAX * EXP_MAX], q[EXP_MAX * EXP_MAX], scale[EXP_MAX];
    int count = n * n;
    memcpy(scaled, a, (size_t)count * sizeof *scaled);
    balance(n, scaled, scale);
    double norm = norm_1(n, scaled);
    if (!isfinite(norm)) return YK_ERROR_NOT_FINITE;

    int row = 0, squarings = 0;
    while (row < PADE_ORDERS - 1 && norm > pade_table[row].largest_norm) row++;
    if (norm > pade_table[row].largest_norm) {
        frexp(norm / pade_table[row].largest_norm, &squarings);
        for (int i = 0; i < count; i++) scaled[i] = ldexp(scaled[i], -squarings);
    }
    pade_sums(n, scaled, &pade_table[row], p, q);
    yk_status status = solve_columns(n, q, p, scaled);
    if (status != YK_OK) return status;
    for (; squarings > 0; squarings--) {
        multiply(n, scaled, scaled, p);
        memcpy(scaled, p, (size_t)count * sizeof *scaled);
    }
    for (int i = 0; i < count; i++) result[i] = scaled[i] * (scale[i / n] / scale[i % n]);
    return isfinite(norm_1(n, result)) ? YK_OK : YK_ERROR_NOT_FINITE;
}

/* Vectors ------------------------------------------------------------------------------------------------------- */

double yk_dense_dot(size_t n, const double *a, const double *b)
{
    /* Four sums keep the adder busy; the order of the additions is fixed, so the bits are too. */
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++) s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

double yk_dense_norm(size_t n, const double *a)
{
    double sum = yk_dense_dot(n, a, a);
    if (sum > 1e-280 && sum < 1e280) return sqrt(sum);
    /* The squares left the range of doubles: scale by the largest entry. */
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i]) <= largest)) largest = fabs(a[i]);
    if (largest == 0 || !isfinite(largest)) return largest;
    sum = 0;
    for (size_t i = 0; i < n; i++) sum += (a[i] / largest) * (a[i] / largest);
    return largest * sqrt(sum);
}
