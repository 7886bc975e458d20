/* Thin layer over LAPACK. The _work variants of LAPACKE take memory from the caller, so all of it
 * is the context's. A row-major matrix read by columns is its transpose: same eigenvalues, and
 * the same matrix where symmetric. */
#include "math/eigen.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

int yk_blas_threads(void)
{
    return openblas_get_num_threads();
}

static yk_status check_input(yk_context *context, int n, const double *a)
{
    if (n < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "eigenvalues of a matrix with %d rows were asked for", n);

    /* LAPACK's QR iteration may not return on a NaN. */
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++) {
        if (!isfinite(a[i]))
            return yk_fail(context, YK_ERROR_NOT_FINITE,
                           "the matrix whose eigenvalues are sought is not finite");
    }

    /* OpenBLAS asks again and again for a buffer that it does not get, for ever. So it is asked only
     * where there is room for one; a buffer that a thread once had is kept. Volatile, that the
     * request is really made. */
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
    /* The first call asks for the best size of the work space. */
    double best_length = 0;
    general(n, a, real, imaginary, vectors, &best_length, -1);

    double *work = yk_allocate(context, (size_t)best_length, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;

    lapack_int info = general(n, a, real, imaginary, vectors, work, (int)best_length);
    yk_release(context, work);
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

    /* Vectors are those of the transpose: read by columns. */
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

    yk_release(context, values);

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

    /* The first call asks for the best size of the work space. */
    double best_length = 0;
    symmetric_pair(n, a, b, values, &best_length, -1);
    double *work = yk_allocate(context, (size_t)best_length, sizeof *work);
    if (!work)
        return YK_ERROR_MEMORY;

    lapack_int info = symmetric_pair(n, a, b, values, work, (int)best_length);
    yk_release(context, work);

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
