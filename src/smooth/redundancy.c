/* Redundant joint equations: how many, and whose.
 *
 * Multipliers y with G^T y = 0 change nothing in the motion. They are found by inverse iteration
 * with the factored matrix of the start, | M/s G^T; G -e |, whose Schur complement is -(G M^-1
 * G^T s + e): a vector without components in that null space grows by at most 1/(smallest
 * eigenvalue), one inside by 1/e. Vectors are found one by one, each orthogonal to those before,
 * until one is not annihilated by G^T. Iterations go on while |G^T y| falls: light bodies have
 * eigenvalues so close to e that a few of them would not tell. The cost is that of a few sparse
 * solutions per redundant equation, so long chains are no burden.
 *
 * A model with redundant equations is integrated with a compliance of the joints so small that no
 * gap is seen, which singles out the multipliers of least norm (internal.h). */
#include <string.h>

#include "base/text.h"
#include "smooth/internal.h"

enum {
    NULL_VECTORS_MAX = 256,
    NAMES_MAX = 12,
    INVERSE_ITERATIONS_LEAST = 3,
    INVERSE_ITERATIONS_MOST = 60
};

/* A vector with |G^T y| below this fraction of |y| counts as annihilated. */
static const double NULL_FRACTION = 1e-6;

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Unit vector orthogonal to the `count` rows of `basis`; false if nothing is left. */
static bool orthonormalise(int m, const double *basis, int count, double *y)
{
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < count; k++) {
            const double *row = basis + (size_t)k * (size_t)m;
            double along = dot(m, row, y);
            for (int i = 0; i < m; i++)
                y[i] -= along * row[i];
        }
    }

    double norm = sqrt(dot(m, y, y));
    if (!(norm > 1e-100))
        return false;

    for (int i = 0; i < m; i++)
        y[i] /= norm;

    return true;
}

static void put_multipliers(const yk_smooth_model *model, const double *y, double *full)
{
    memset(full, 0, (size_t)model->motion_count * sizeof *full);
    memcpy(full + model->motion_count, y, (size_t)model->row_count * sizeof *y);
}

/* The next vector of the null space, into y; false if there is no other. */
static bool next_null_vector(const yk_smooth_model *model, yk_smooth_workspace *work,
                             const yk_linear_solver *solver, const double *basis, int count,
                             uint64_t *seed, double *y)
{
    int m = model->row_count;

    /* From a vector at random, orthogonal to those that are known. */
    for (int i = 0; i < m; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        y[i] = (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
    }

    if (!orthonormalise(m, basis, count, y))
        return false;

    /* Inverse iteration, as long as |G^T y| falls. */
    double size = INFINITY;
    for (int k = 1; k <= INVERSE_ITERATIONS_MOST; k++) {
        put_multipliers(model, y, work->right);
        yk_sparse_solve(solver->matrix, work->right);
        memcpy(y, work->right + model->motion_count, (size_t)m * sizeof *y);
        if (!orthonormalise(m, basis, count, y))
            return false;
        if (k < INVERSE_ITERATIONS_LEAST)
            continue;

        /* |G^T y| */
        put_multipliers(model, y, work->right);
        yk_sparse_multiply(solver->matrix, work->right, work->work_vector);
        double now = sqrt(dot(model->motion_count, work->work_vector, work->work_vector));
        if (now < NULL_FRACTION)
            return true;
        if (!(now < 0.95 * size))
            return false;

        size = now;
    }

    return false;
}

/* Names the joints whose equations the vectors of the basis mix. */
static yk_status report_redundant(const yk_smooth_model *model, const double *basis, int count)
{
    /* Joints that have a part in any of the vectors. */
    yk_text names = {0};
    int involved = 0;

    for (int j = 0; j < model->joint_count; j++) {
        const joint_model *joint = &model->joints[j];
        double largest = 0;

        for (int k = 0; k < count; k++) {
            const double *row = basis + (size_t)k * (size_t)model->row_count + (size_t)joint->row;
            for (int r = 0; r < joint->joint.row_count; r++)
                largest = fmax(largest, fabs(row[r]));
        }

        if (largest < 1e-4)
            continue;

        const char *comma = involved > 0 ? ", " : "";
        if (involved++ < NAMES_MAX)
            yk_text_add(model->context, &names, "%s'%s'", comma, joint->name);
    }

    if (involved > NAMES_MAX)
        yk_text_add(model->context, &names, " and %d more", involved - NAMES_MAX);

    yk_status status =
        yk_fail(model->context, YK_REDUNDANT,
                "%s: %s%d joint equation%s redundant among the joints %s: reactions there are "
                "those of least norm; replace joints by ones that constrain less where they matter",
                model->def.name, count == NULL_VECTORS_MAX ? "at least " : "", count,
                count == 1 ? " is" : "s are", names.data ? names.data : "");
    yk_text_destroy(model->context, &names);

    return status;
}

yk_status yk_smooth_find_redundant(yk_smooth *smooth)
{
    const yk_smooth_model *model = &smooth->model;
    yk_context *context = model->context;
    size_t m = (size_t)model->row_count;
    size_t capacity = 4;

    smooth->state.clock->redundant = 0;
    smooth->work.report.redundant = 0;
    if (m == 0)
        return YK_OK;

    double *basis = yk_allocate(context, capacity * m, sizeof *basis);
    if (!basis)
        return YK_ERROR_MEMORY;

    /* Vectors of the null space one by one, with memory for as many as there are. */
    uint64_t seed = 1;
    int count = 0;
    while (count < NULL_VECTORS_MAX && count < model->row_count) {
        double *next = basis + (size_t)count * m;
        if (!next_null_vector(model, &smooth->work, &smooth->solver, basis, count, &seed, next))
            break;

        if ((size_t)++count < capacity)
            continue;

        capacity *= 2;
        double *grown = yk_reallocate(context, basis, capacity * m, sizeof *basis);
        if (!grown) {
            yk_release(context, basis);
            return YK_ERROR_MEMORY;
        }

        basis = grown;
    }

    /* Steps will want multipliers of least norm. */
    smooth->work.report.redundant = count;
    smooth->state.clock->redundant = count > 0;

    yk_status status = YK_OK;
    if (count)
        status = report_redundant(model, basis, count);
    yk_release(context, basis);

    return status;
}
