/* Eigenvalues: wrappers of LAPACK, and Arnoldi's method for operators.
 *
 * The _work variants of LAPACKE receive memory from the caller, so all of it belongs to the
 * context. A row-major matrix read by columns is its transpose: it has the same eigenvalues, and is
 * the same matrix if it is symmetric. */
#include "math/eigen.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense.h"

/* Matrices ------------------------------------------------------------------------------------- */

int yk_blas_threads(void)
{
    return openblas_get_num_threads();
}

static yk_status check_input(yk_context *context, int n, const double *a)
{
    if (n < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "eigenvalues of a matrix with %d rows were asked for", n);

    /* LAPACK's QR iteration may not return for a NaN. */
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++) {
        if (!isfinite(a[i]))
            return yk_fail(context, YK_ERROR_NOT_FINITE,
                           "the matrix whose eigenvalues are sought is not finite");
    }

    /* If OpenBLAS gets no buffer, it requests one forever. So call it only if there is enough
     * address space for one; it keeps the buffer of a thread. Volatile, so that the compiler does
     * not remove the request. */
    static _Thread_local bool had_room;
    if (!had_room) {
        void *volatile room = malloc(YK_BLAS_BUFFER);
        had_room = room != NULL;
        free(room);
    }
    if (!had_room)
        return yk_fail(context, YK_ERROR_MEMORY,
                       "eigenvalues take a buffer of %d MB, and there is no memory for it; where "
                       "it is limited (ulimit -v), allow more",
                       YK_BLAS_BUFFER >> 20);

    return YK_OK;
}

static lapack_int general(int n, double *a, double *real, double *imaginary, double *vectors,
                          double *work, int length)
{
    char job = vectors ? 'V' : 'N';
    int vector_rows = vectors ? n : 1;
    return LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', job, n, a, n, real, imaginary, NULL, 1,
                              vectors, vector_rows, work, length);
}

static yk_status solve_general(yk_context *context, int n, double *a, double *real,
                               double *imaginary, double *vectors)
{
    /* The first call requests the best size of the workspace. */
    double best_length = 0;
    general(n, a, real, imaginary, vectors, &best_length, -1);

    double *work = yk_allocate(context, (size_t)best_length, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;

    lapack_int info = general(n, a, real, imaginary, vectors, work, (int)best_length);
    yk_free(context, work);
    if (info != 0)
        return yk_fail(context, YK_ERROR_NO_SOLUTION,
                       "the QR iteration found only %d of %d eigenvalues", n - (int)info, n);

    return YK_OK;
}

yk_status yk_eigen_general(yk_context *context, int n, double *a, double *real, double *imaginary)
{
    yk_status status = check_input(context, n, a);
    if (status != YK_OK)
        return status;

    return solve_general(context, n, a, real, imaginary, NULL);
}

yk_status yk_eigen_general_vectors(yk_context *context, int n, double *a, double *real,
                                   double *imaginary, double *vectors)
{
    yk_status status = check_input(context, n, a);
    if (status != YK_OK)
        return status;

    /* The vectors are those of the transpose, because LAPACK reads by columns. */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            size_t lower = (size_t)i * (size_t)n + (size_t)j;
            size_t upper = (size_t)j * (size_t)n + (size_t)i;
            double keep = a[lower];
            a[lower] = a[upper];
            a[upper] = keep;
        }
    }

    return solve_general(context, n, a, real, imaginary, vectors);
}

yk_status yk_eigen_spectral_radius(yk_context *context, int n, double *a, double *radius)
{
    double *values = yk_allocate(context, 2 * (size_t)(n > 0 ? n : 1), sizeof *values);
    if (!values)
        return YK_ERROR_MEMORY;

    yk_status status = yk_eigen_general(context, n, a, values, values + n);

    *radius = 0;
    for (int i = 0; status == YK_OK && i < n; i++)
        *radius = fmax(*radius, hypot(values[i], values[n + i]));

    yk_free(context, values);

    return status;
}

static lapack_int symmetric_pair(int n, double *a, double *b, double *values, double *work,
                                 int length)
{
    return LAPACKE_dsygv_work(LAPACK_COL_MAJOR, 1, 'V', 'L', n, a, n, b, n, values, work, length);
}

yk_status yk_eigen_symmetric_pair(yk_context *context, int n, double *a, double *b, double *values)
{
    yk_status status = check_input(context, n, a);
    if (status == YK_OK)
        status = check_input(context, n, b);
    if (status != YK_OK)
        return status;

    /* The first call requests the best size of the workspace. */
    double best_length = 0;
    symmetric_pair(n, a, b, values, &best_length, -1);
    double *work = yk_allocate(context, (size_t)best_length, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;

    lapack_int info = symmetric_pair(n, a, b, values, work, (int)best_length);
    yk_free(context, work);

    if (info > n)
        return yk_fail(context, YK_ERROR_SINGULAR,
                       "the second matrix of the eigenvalue problem is not positive definite "
                       "(leading minor %d): is a mass or inertia zero?",
                       (int)info - n);
    if (info != 0)
        return yk_fail(context, YK_ERROR_NO_SOLUTION,
                       "the QR iteration for symmetric matrices failed");

    return YK_OK;
}

/* Arnoldi's method ----------------------------------------------------------------------------- */

/* A Krylov space with an orthonormal basis, restarted with its leading Ritz vectors. */
typedef struct search {
    yk_context *context;
    size_t n;
    const yk_arnoldi_options *options;
    int count;              /* vectors in the space */
    double *vector, *image; /* rows of length n */
    double *projected;      /* space x space: vector_i . image_j */
    double *next;           /* the direction that is added next */
    /* The projected operator and its eigenvalues. */
    double *matrix, *real, *imaginary, *coefficients;
    int *order;
    int ritz_count;
    int applications;
} search;

yk_arnoldi_options yk_arnoldi_default(void)
{
    return (yk_arnoldi_options){.wanted = 6, .space = 48, .applications = 400, .tolerance = 1e-7};
}

static void add_multiple(size_t n, double factor, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

static double *row(double *rows, size_t n, int index)
{
    return rows + (size_t)index * n;
}

/* Orthogonalizes `next` against the space, twice for accuracy; false if nothing remains. */
static bool orthogonalise(search *s)
{
    double size = yk_dense_norm(s->n, s->next);
    double left = size;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->count; i++) {
            const double *v = row(s->vector, s->n, i);
            add_multiple(s->n, -yk_dense_dot(s->n, v, s->next), v, s->next);
        }

        left = yk_dense_norm(s->n, s->next);
    }

    if (!(left > 1e-12 * size) || !isfinite(left))
        return false;

    for (size_t i = 0; i < s->n; i++)
        s->next[i] /= left;

    return true;
}

/* Adds `next` to the space, with its image and the new row and column of the projected operator. */
static yk_status extend(search *s)
{
    int m = s->count;
    int space = s->options->space;
    double *v = row(s->vector, s->n, m);
    double *w = row(s->image, s->n, m);

    /* Its image is one application of the operator. */
    memcpy(v, s->next, s->n * sizeof *v);
    yk_status status = s->options->apply(s->options->user, v, w);
    if (status != YK_OK)
        return status;

    s->applications++;
    s->count++;

    /* Its row and column of the projected operator; its image is the next direction. */
    for (int i = 0; i <= m; i++) {
        s->projected[i * space + m] = yk_dense_dot(s->n, row(s->vector, s->n, i), w);
        s->projected[m * space + i] = yk_dense_dot(s->n, v, row(s->image, s->n, i));
    }

    memcpy(s->next, w, s->n * sizeof *w);
    return YK_OK;
}

static double modulus(const search *s, int i)
{
    return hypot(s->real[i], s->imaginary[i]);
}

/* Eigenpairs of the projected operator, by descending modulus; of conjugate ones the first
 * represents both. */
static yk_status solve_projected(search *s)
{
    int m = s->count;
    int space = s->options->space;

    /* The projected operator, without the gaps of its storage. */
    for (int i = 0; i < m; i++)
        memcpy(&s->matrix[i * m], &s->projected[i * space], (size_t)m * sizeof *s->matrix);
    yk_status status =
        yk_eigen_general_vectors(s->context, m, s->matrix, s->real, s->imaginary, s->coefficients);

    /* By insertion, the largest first. */
    s->ritz_count = 0;
    for (int i = 0; status == YK_OK && i < m; i++) {
        if (s->imaginary[i] < 0)
            continue;

        int at = s->ritz_count++;
        for (; at > 0 && modulus(s, s->order[at - 1]) < modulus(s, i); at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = i;
    }

    return status;
}

/* sum of coefficient_i * row_i */
static void combine_vectors(const search *s, double *rows, const double *coefficients, double *out)
{
    memset(out, 0, s->n * sizeof *out);
    for (int i = 0; i < s->count; i++)
        add_multiple(s->n, coefficients[i], row(rows, s->n, i), out);
}

/* Residual of a Ritz pair; its real part is left in `next`. */
static double residual(search *s, int ritz)
{
    int i = s->order[ritz];
    int m = s->count;
    const double *c = row(s->coefficients, (size_t)m, i);
    const double *d = s->imaginary[i] > 0 ? c + m : NULL;
    double a = s->real[i];
    double b = s->imaginary[i];
    double squares = 0;

    /* A (c + i d) - (a + i b) (c + i d), entry by entry. */
    for (size_t k = 0; k < s->n; k++) {
        double real = 0;
        double imaginary = 0;
        for (int j = 0; j < m; j++) {
            double v = s->vector[(size_t)j * s->n + k];
            double w = s->image[(size_t)j * s->n + k];
            real += c[j] * (w - a * v);
            if (!d)
                continue;

            real += d[j] * b * v;
            imaginary += d[j] * (w - a * v) - c[j] * b * v;
        }

        s->next[k] = real;
        squares += real * real + imaginary * imaginary;
    }

    return sqrt(squares);
}

/* Orthonormal coefficients that span the leading Ritz vectors: real and imaginary parts by
 * Gram-Schmidt. */
static int leading_basis(const search *s, int wanted, double *basis)
{
    size_t m = (size_t)s->count;
    int kept = 0;

    for (int r = 0; r < s->ritz_count && kept < wanted; r++) {
        int i = s->order[r];
        int parts = s->imaginary[i] > 0 ? 2 : 1;

        for (int part = 0; part < parts; part++) {
            double *b = row(basis, m, kept);
            memcpy(b, row(s->coefficients, m, i + part), m * sizeof *b);

            /* Twice, for orthogonality to rounding. */
            for (int pass = 0; pass < 2; pass++) {
                for (int k = 0; k < kept; k++) {
                    const double *other = row(basis, m, k);
                    add_multiple(m, -yk_dense_dot(m, other, b), other, b);
                }
            }

            /* The remainder, unless it is a rounding error. */
            double size = yk_dense_norm(m, b);
            if (size < 1e-10)
                continue;

            for (size_t k = 0; k < m; k++)
                b[k] /= size;
            kept++;
        }
    }

    return kept;
}

/* Shrinks the space to the leading Ritz vectors. */
static yk_status restart(search *s)
{
    size_t m = (size_t)s->count;
    int space = s->options->space;
    size_t most = (size_t)(space / 2) + 2;
    double *basis = yk_allocate(s->context, most * m + 2 * most * s->n, sizeof *basis);
    if (!basis)
        return YK_ERROR_MEMORY;

    double *fresh = basis + most * m;
    double *images = fresh + most * s->n;

    /* New vectors and their images, which are linear in them: no application is needed. */
    int kept = leading_basis(s, space / 2, basis);
    for (int i = 0; i < kept; i++) {
        combine_vectors(s, s->vector, row(basis, m, i), row(fresh, s->n, i));
        combine_vectors(s, s->image, row(basis, m, i), row(images, s->n, i));
    }

    /* These vectors are the space now; recompute its projected operator. */
    s->count = kept;
    memcpy(s->vector, fresh, (size_t)kept * s->n * sizeof *fresh);
    memcpy(s->image, images, (size_t)kept * s->n * sizeof *fresh);
    for (int i = 0; i < kept; i++) {
        for (int j = 0; j < kept; j++)
            s->projected[i * space + j] =
                yk_dense_dot(s->n, row(s->vector, s->n, i), row(s->image, s->n, j));
    }

    yk_free(s->context, basis);
    return YK_OK;
}

static yk_status look(search *s, bool *found)
{
    int limit = s->options->applications;
    *found = false;
    while (s->applications < limit) {
        /* Fill the space, unless it is invariant before. */
        bool invariant = false;
        while (s->count < s->options->space && s->applications < limit) {
            invariant = !orthogonalise(s);
            if (invariant)
                break;

            yk_status status = extend(s);
            if (status != YK_OK)
                return status;
        }

        /* Ritz pairs of this space. */
        yk_status status = solve_projected(s);
        if (status != YK_OK)
            return status;

        /* Either all requested pairs are found, or `next` contains the residual of the first
         * missing one. */
        int good = 0;
        while (!invariant && good < s->options->wanted && good < s->ritz_count) {
            double size = fmax(modulus(s, s->order[good]), DBL_MIN);
            if (residual(s, good) > s->options->tolerance * size)
                break;

            good++;
        }

        *found = invariant || good == s->options->wanted;
        if (*found)
            return YK_OK;

        /* The residual in `next` belongs to the previous space, so it is orthogonal to the kept
         * vectors. */
        if (s->applications < limit)
            status = restart(s);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

yk_status yk_arnoldi(yk_context *context, size_t n, const double *start,
                     const yk_arnoldi_options *options, yk_arnoldi_pair *pairs, double *vectors,
                     int *found)
{
    *found = 0;
    yk_arnoldi_options own = *options;
    if ((size_t)own.space > n)
        own.space = (int)n;
    search s = {.context = context, .n = n, .options = &own};

    if (n < 1 || own.wanted < 1 || (own.space < 2 * own.wanted + 2 && (size_t)own.space < n))
        return yk_fail(context, YK_ERROR_ARGUMENT, "%d eigenvalues need more than %d vectors",
                       own.wanted, own.space);

    /* One piece of memory for all numbers. */
    size_t m = (size_t)own.space;
    s.vector = yk_allocate(context, (2 * m + 1) * n + 3 * m * m + 2 * m, sizeof *s.vector);
    s.order = yk_allocate(context, m, sizeof *s.order);
    bool good = false;
    yk_status status = YK_ERROR_MEMORY;
    if (s.vector && s.order) {
        s.image = s.vector + m * n;
        s.next = s.image + m * n;
        s.projected = s.next + n;
        s.matrix = s.projected + m * m;
        s.coefficients = s.matrix + m * m;
        s.real = s.coefficients + m * m;
        s.imaginary = s.real + m;
        memcpy(s.next, start, n * sizeof *start);
        status = look(&s, &good);
    }

    /* The results, with vectors in the space of the caller. */
    for (int r = 0; status == YK_OK && r < own.wanted && r < s.ritz_count; r++) {
        int i = s.order[r];
        const double *coefficients = row(s.coefficients, (size_t)s.count, i);
        yk_arnoldi_pair *pair = &pairs[r];

        /* Real and imaginary part, from their coefficients. */
        pair->real = s.real[i];
        pair->imaginary = s.imaginary[i];
        pair->vector_real = row(vectors, n, 2 * r);
        pair->vector_imaginary = row(vectors, n, 2 * r + 1);
        combine_vectors(&s, s.vector, coefficients, pair->vector_real);
        memset(pair->vector_imaginary, 0, n * sizeof *pair->vector_imaginary);
        if (pair->imaginary > 0)
            combine_vectors(&s, s.vector, coefficients + s.count, pair->vector_imaginary);
        pair->residual = residual(&s, r);
        *found = r + 1;
    }

    yk_free(context, s.vector);
    yk_free(context, s.order);
    return status == YK_OK && !good ? YK_NOT_CONVERGED : status;
}
