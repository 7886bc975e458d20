/* Inertia shape integrals of a floating-frame body, from its points or given directly, and the
 * check whether they are physically possible. */
#include <string.h>

#include "math/eigen.h"
#include "multibody/ffrf.h"

/* Integrals ------------------------------------------------------------------------------------ */

/* The integrals of ffrf.h, given or as sums over the points, and the modal matrices. */
static void fill_integrals(const yk_ffrf_def *def, yk_ffrf *body)
{
    int n = body->modes;

    if (def->invariants) {
        const yk_ffrf_invariants *from = def->invariants;
        size_t count = (size_t)n;

        body->mass = from->mass;
        body->moment = from->moment;
        body->second = from->second;
        memcpy(body->shift, from->shift, count * sizeof *body->shift);
        memcpy(body->spread, from->spread, count * sizeof *body->spread);
        memcpy(body->pair, from->pair, count * count * sizeof *body->pair);
        if (from->curve)
            memcpy(body->curve, from->curve, count * count * sizeof *body->curve);
    }

    for (int p = 0; p < def->point_count && !def->invariants; p++) {
        const yk_ffrf_point *point = &def->points[p];
        double m = point->mass;
        yk_vec3 u = point->position;

        /* The rigid body. */
        body->mass += m;
        body->moment = yk_v3_axpy(m, u, body->moment);
        yk_m3_add_to(&body->second, m, yk_m3_outer(u, u));
        yk_m3_add_to(&body->second, 1, point->second);

        /* First moments of the shapes alone, and with the position. Pieces with rotary inertia of
         * their own move by s_i + theta_i x rho. */
        for (int i = 0; i < n; i++) {
            yk_vec3 s = point->displacement[i];
            yk_mat3 rotated = yk_m3_zero();

            body->shift[i] = yk_v3_axpy(m, s, body->shift[i]);
            yk_m3_add_to(&body->spread[i], m, yk_m3_outer(u, s));
            if (point->rotation) {
                yk_mat3 back = yk_m3_transpose(yk_m3_skew(point->rotation[i]));
                rotated = yk_m3_mul(point->second, back);
                yk_m3_add_to(&body->spread[i], 1, rotated);
            }

            /* Pairs of shapes, and shapes of second order. */
            for (int j = 0; j < n; j++) {
                int k = n * i + j;
                yk_mat3 *pair = &body->pair[k];
                yk_m3_add_to(pair, m, yk_m3_outer(point->displacement[j], s));
                if (point->rotation)
                    yk_m3_add_to(pair, 1, yk_m3_mul(yk_m3_skew(point->rotation[j]), rotated));
                if (!point->shortening)
                    continue;

                yk_m3_add_to(pair, m, yk_m3_outer(u, point->shortening[k]));
                body->curve[k] = yk_v3_axpy(m, point->shortening[k], body->curve[k]);
            }
        }
    }

    /* The modal matrices. */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int k = n * i + j;
            body->stiffness[k] = def->stiffness[k];
            body->damping[k] = def->damping ? def->damping[k] : 0;
            body->damped |= body->damping[k] != 0;
            if (def->mass) {
                body->modal_mass[k] = def->mass[k];
                continue;
            }

            /* int s_i . s_j, without the contribution of the shapes of second order in pair. */
            double sum = 0;
            for (int p = 0; p < def->point_count; p++) {
                const yk_ffrf_point *point = &def->points[p];
                sum += point->mass * yk_v3_dot(point->displacement[i], point->displacement[j]);
                if (!point->rotation)
                    continue;

                yk_mat3 tensor = yk_ffrf_tensor(&point->second);
                sum += yk_v3_dot(point->rotation[i], yk_m3_apply(tensor, point->rotation[j]));
            }
            body->modal_mass[k] = sum;
        }
    }
}

/* Lists of what is not zero -------------------------------------------------------------------- */

static int list_vectors(int modes, const yk_vec3 *dense, yk_ffrf_bend *list)
{
    int count = 0;
    for (int k = 0; k < modes * modes; k++) {
        if (yk_v3_norm2(dense[k]) > 0)
            list[count++] = (yk_ffrf_bend){k / modes, k % modes, dense[k]};
    }

    return count;
}

/* The pairs, and the couplings that follow from them. Shapes along the axes leave most entries of
 * the pairs zero, so rounding errors of their sums are dropped. */
static yk_status list_pairs(yk_context *context, yk_ffrf *body)
{
    int n = body->modes;
    size_t squares = (size_t)(n * n);

    /* Upper bounds of their numbers. */
    body->terms = yk_allocate(context, 9 * squares, sizeof *body->terms);
    body->first_term = yk_allocate(context, (size_t)n + 1, sizeof *body->first_term);
    body->curves = yk_allocate(context, squares, sizeof *body->curves);
    body->gyros = yk_allocate(context, squares, sizeof *body->gyros);
    body->swirls = yk_allocate(context, 3 * squares, sizeof *body->swirls);
    if (!body->terms || !body->first_term || !body->curves || !body->gyros || !body->swirls)
        return YK_ERROR_MEMORY;

    /* Nonzero entries, shape by shape. */
    int count = 0;
    const double *mass = body->modal_mass;
    for (int i = 0; i < n; i++) {
        body->first_term[i] = count;
        for (int j = 0; j < n; j++) {
            yk_mat3 *pair = &body->pair[n * i + j];
            double size = sqrt(fabs(mass[(n + 1) * i] * mass[(n + 1) * j]));

            for (int k = 0; k < 9; k++) {
                double *value = &pair->m[k / 3][k % 3];
                if (fabs(*value) < 1e-15 * size)
                    *value = 0;
                if (*value != 0)
                    body->terms[count++] = (yk_ffrf_term){i, j, k, *value};
            }
        }
    }
    body->first_term[n] = count;

    /* The Coriolis couplings, axial(pair_ij) - axial(pair_ji), and their terms. */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            yk_vec3 swirl = yk_ffrf_axial(&body->pair[n * j + i]);
            const double component[3] = {swirl.x, swirl.y, swirl.z};
            for (int axis = 0; axis < 3; axis++) {
                if (component[axis] == 0)
                    continue;
                yk_ffrf_term term = {i, j, axis, component[axis]};
                body->swirls[body->swirl_count++] = term;
            }

            int k = n * i + j;
            body->gyro[k] = yk_v3_sub(yk_ffrf_axial(&body->pair[k]), swirl);
        }
    }

    body->curve_count = list_vectors(n, body->curve, body->curves);
    body->gyro_count = list_vectors(n, body->gyro, body->gyros);

    return YK_OK;
}

/* Orthogonality of shapes within rounding errors. */
static void drop_rounding(int n, double *matrix)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double size = sqrt(fabs(matrix[(n + 1) * i] * matrix[(n + 1) * j]));
            if (i != j && fabs(matrix[n * i + j]) < 1e-12 * size)
                matrix[n * i + j] = 0;
        }
    }
}

/* The second moments are W0 + sym(sum of p_i spread_i + p_i p_j pair_ij / 2), sym(A) = A + A^T. */
static yk_status list_squares(yk_context *context, yk_ffrf *body)
{
    static const int row[YK_FFRF_SYMMETRIC] = {0, 1, 2, 0, 0, 1};
    static const int column[YK_FFRF_SYMMETRIC] = {0, 1, 2, 1, 2, 2};
    int n = body->modes;

    body->squares =
        yk_allocate(context, (size_t)(YK_FFRF_SYMMETRIC * n * (n + 1) / 2), sizeof *body->squares);
    if (!body->squares)
        return YK_ERROR_MEMORY;

    int count = 0;
    for (int e = 0; e < YK_FFRF_SYMMETRIC; e++) {
        int r = row[e];
        int c = column[e];

        body->first_square[e] = count;
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) {
                const yk_mat3 *a = &body->pair[n * i + j];
                const yk_mat3 *b = &body->pair[n * j + i];
                double other = 0;

                if (i != j)
                    other = b->m[r][c] + b->m[c][r];
                double value = 0.5 * (a->m[r][c] + a->m[c][r] + other);
                if (value != 0)
                    body->squares[count++] = (yk_ffrf_term){i, j, e, value};
            }
        }
    }

    body->first_square[YK_FFRF_SYMMETRIC] = count;
    return YK_OK;
}

/* Whether it can be a body --------------------------------------------------------------------- */

/* Fractions of the diagonal that the rounding of numbers in a file may cause. */
static const double ROUGH = 1e-6;

static yk_status check_symmetric(yk_context *context, int n, const double *matrix, const char *what)
{
    for (int i = 0; i < n; i++) {
        double d = matrix[(n + 1) * i];
        if (!(d >= 0) || !isfinite(d))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "the modal %s of shape %d is %g: it must not be negative", what, i + 1,
                           d);

        for (int j = 0; j < i; j++) {
            double a = matrix[n * i + j];
            double b = matrix[n * j + i];
            double size = fmax(sqrt(d * matrix[(n + 1) * j]), fmax(fabs(a), fabs(b)));

            if (!(fabs(a - b) <= ROUGH * size) && a != b)
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "the modal %s matrix is not symmetric: %.9g for shapes %d and %d, "
                               "%.9g the other way",
                               what, a, i + 1, j + 1, b);
        }
    }

    return YK_OK;
}

/* The smallest eigenvalue of a symmetric matrix whose diagonal is scaled to one; zeros on the
 * diagonal remain. The matrix is overwritten. */
static yk_status least_eigenvalue(yk_context *context, int n, double *matrix, double *least)
{
    double *unit = yk_allocate(context, (size_t)(n * n + 2 * n), sizeof *unit);
    if (!unit)
        return YK_ERROR_MEMORY;

    double *scale = unit + n * n;
    double *values = scale + n;

    /* Scaled, so that shapes of any size have the same weight. */
    for (int i = 0; i < n; i++) {
        double d = matrix[(n + 1) * i];
        scale[i] = 1;
        if (d > 0)
            scale[i] = 1 / sqrt(d);
    }

    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            matrix[n * i + j] *= scale[i] * scale[j];
            unit[n * i + j] = i == j;
        }
    }

    yk_status status = yk_eigen_symmetric_pair(context, n, matrix, unit, values);
    *least = values[0];
    yk_free(context, unit);

    return status;
}

/* Rejects a matrix with eigenvalues below the limit; `copy` is memory for it. */
static yk_status check_definite(yk_context *context, int n, const double *matrix, double *copy,
                                double limit, const char *refusal)
{
    if (n == 0)
        return YK_OK;

    if (copy != matrix)
        memcpy(copy, matrix, (size_t)(n * n) * sizeof *copy);

    double least = 0;
    yk_status status = least_eigenvalue(context, n, copy, &least);
    if (status != YK_OK || least >= limit)
        return status;
    return yk_fail(context, YK_ERROR_ARGUMENT, "%s (least eigenvalue %.3g for a diagonal of one)",
                   refusal, least);
}

/* A modal matrix, and the reason if it has an eigenvalue below the limit. */
typedef struct matrix_check {
    const double *matrix;
    const char *name;
    double limit;
    const char *refusal;
} matrix_check;

static yk_status check_matrices(yk_context *context, const yk_ffrf *body, double *copy)
{
    const matrix_check table[] = {
        {body->modal_mass, "mass", 1e-12,
         "the modal mass matrix is not positive: two shapes are the same, or its entries are "
         "wrong"},
        {body->stiffness, "stiffness", -ROUGH,
         "the modal stiffness matrix is not positive: a shape would deform itself"},
        {body->damping, "damping", -ROUGH,
         "the modal damping matrix is not positive: it would create energy"},
    };
    enum { MATRICES = sizeof table / sizeof *table };

    for (int k = 0; k < MATRICES; k++) {
        yk_status status = check_symmetric(context, body->modes, table[k].matrix, table[k].name);
        if (status != YK_OK)
            return status;
    }

    for (int k = 0; k < MATRICES; k++) {
        yk_status status = check_definite(context, body->modes, table[k].matrix, copy,
                                          table[k].limit, table[k].refusal);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* The mass matrix of frame and shapes in the undeformed body. Modal masses of a consistent mass
 * matrix and integrals of a lumped one agree only roughly. This does not matter if the frame of the
 * body is held, but may if the body moves freely. */
static yk_status check_whole(yk_context *context, const yk_ffrf *body, double *matrix)
{
    /* Rows and columns of the frame, */
    int n = 6 + body->modes;
    yk_mat3 arm = yk_m3_skew(body->moment);
    yk_mat3 tensor = yk_ffrf_tensor(&body->second);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            matrix[n * i + j] = i == j ? body->mass : 0;
            matrix[n * (3 + i) + 3 + j] = tensor.m[i][j];
            matrix[n * (3 + i) + j] = arm.m[i][j];
            matrix[n * j + 3 + i] = arm.m[i][j];
        }
    }

    /* and of the shapes. */
    for (int k = 0; k < body->modes; k++) {
        yk_vec3 shift = body->shift[k];
        yk_vec3 spin = yk_ffrf_axial(&body->spread[k]);
        const double column[6] = {shift.x, shift.y, shift.z, spin.x, spin.y, spin.z};

        for (int i = 0; i < 6; i++) {
            matrix[n * i + 6 + k] = column[i];
            matrix[n * (6 + k) + i] = column[i];
        }

        for (int l = 0; l < body->modes; l++)
            matrix[n * (6 + k) + 6 + l] = body->modal_mass[body->modes * k + l];
    }

    /* Whether it is positive definite, exactly or almost. */
    double least = 0;
    yk_status status = least_eigenvalue(context, n, matrix, &least);
    if (status != YK_OK || least >= -ROUGH)
        return status;
    if (least >= -0.05) {
        yk_log(context, YK_LOG_WARNING,
               "the mass matrix of a flexible body's frame and shapes is not quite positive (least "
               "eigenvalue %.2g for a diagonal of one): modal masses and the other integrals come "
               "from different mass matrices; take both from one",
               least);
        return YK_OK;
    }

    return yk_fail(
        context, YK_ERROR_ARGUMENT,
        "the mass matrix of frame and shapes is not positive (least eigenvalue %.2g for a diagonal "
        "of one): moments, inertia (about the frame, not the centre of mass), shapes and modal "
        "masses belong to different bodies, units or normalisations",
        least);
}

/* All checks of a body, and its lowest frequency, which results from them. */
static yk_status check_body(yk_context *context, yk_ffrf *body)
{
    int modes = body->modes;
    if (!(body->mass > 0) || !isfinite(body->mass))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "the flexible body has no mass: give its points some");
    for (int i = 0; i < modes; i++) {
        double own = body->modal_mass[(modes + 1) * i];
        if (!(own > 0))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "the modal mass of shape %d is %g: a shape must move some of the mass",
                           i + 1, own);
    }

    /* All matrices, then the undeformed body, then both together. */
    size_t n = 6 + (size_t)modes;
    double *copy = yk_allocate(context, 2 * n * n + n, sizeof *copy);
    if (!copy)
        return YK_ERROR_MEMORY;

    yk_status status = check_matrices(context, body, copy);

    /* The second moments of the undeformed body must not be negative, because a moment of inertia
     * is the sum of two of them. */
    double spread = 0;
    for (int k = 0; k < 9; k++)
        copy[k] = body->second.m[k / 3][k % 3];
    for (int i = 0; i < 3; i++)
        spread += fabs(copy[4 * i]);
    for (int i = 0; i < 3 && status == YK_OK; i++) {
        if (!(copy[4 * i] >= -ROUGH * spread))
            status = yk_fail(context, YK_ERROR_ARGUMENT,
                             "no mass has these moments of inertia: the one about %c is larger "
                             "than the other two together",
                             "xyz"[i]);
    }
    if (status == YK_OK)
        status = check_definite(context, 3, copy, copy, -ROUGH,
                                "no mass has this inertia tensor: check its products of inertia, "
                                "entries of the tensor with their sign");
    if (status == YK_OK)
        status = check_whole(context, body, copy);

    /* The lowest frequency of the shapes if the frame is held. */
    if (status == YK_OK && modes > 0) {
        double *other = copy + n * n;
        double *values = other + n * n;
        size_t bytes = (size_t)(modes * modes) * sizeof *copy;
        memcpy(copy, body->stiffness, bytes);
        memcpy(other, body->modal_mass, bytes);
        status = yk_eigen_symmetric_pair(context, modes, copy, other, values);
        body->slowest = sqrt(fmax(0, values[0]));
    }

    yk_free(context, copy);
    return status;
}

/* Creation ------------------------------------------------------------------------------------- */

yk_status yk_ffrf_create(yk_context *context, const yk_ffrf_def *def, yk_ffrf *body)
{
    *body = (yk_ffrf){.modes = def->mode_count, .constant_mass = def->constant_mass};
    if (def->mode_count < 0 || def->mode_count > YK_FFRF_MODES_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a flexible body has %d shapes, but at most %d can be used", def->mode_count,
                       YK_FFRF_MODES_MAX);
    if (def->invariants && !def->mass)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a body that is given by its invariants needs its modal masses");

    /* One block of memory for vectors, matrices and numbers. */
    size_t modes = (size_t)def->mode_count;
    size_t squares = modes * modes;
    size_t vectors = modes + 2 * squares;
    size_t matrices = modes + squares;
    size_t numbers = 3 * squares + modes;
    double *at = yk_allocate(context, 3 * vectors + 9 * matrices + numbers + 1, sizeof *at);
    if (!at)
        return YK_ERROR_MEMORY;

    body->store = at;
    body->shift = (yk_vec3 *)at;
    body->curve = body->shift + modes;
    body->gyro = body->curve + squares;
    body->spread = (yk_mat3 *)(body->gyro + squares);
    body->pair = body->spread + modes;
    body->modal_mass = (double *)(body->pair + squares);
    body->stiffness = body->modal_mass + squares;
    body->damping = body->stiffness + squares;
    body->reach = body->damping + squares;

    fill_integrals(def, body);
    yk_status status = check_body(context, body);

    /* Lists of nonzero entries, after rounding errors are dropped. */
    if (status == YK_OK)
        status = list_pairs(context, body);
    drop_rounding(body->modes, body->modal_mass);
    drop_rounding(body->modes, body->stiffness);
    if (status == YK_OK)
        status = list_squares(context, body);

    /* Whether the modes are orthogonal, and which entries of the tangent are coupled. */
    int n = body->modes;
    int size = 6 + n;
    body->diagonal = true;
    for (int k = 0; k < n * n; k++) {
        if (k % (n + 1) != 0)
            body->diagonal &= body->modal_mass[k] == 0 && body->stiffness[k] == 0;
    }
    body->coupled = yk_allocate(context, (size_t)(size * size), sizeof *body->coupled);
    if (!body->coupled)
        status = YK_ERROR_MEMORY;
    if (status != YK_OK) {
        yk_ffrf_destroy(context, body);
        return status;
    }

    /* Nonzero entries of the tangent. */
    for (int k = 0; k < size * size; k++)
        body->coupled[k] = yk_ffrf_coupled(body, k / size, k % size);

    /* The largest displacement of a point; at least the mean displacement of the mass, which also
     * covers pieces that only rotate. */
    for (int i = 0; i < body->modes; i++) {
        body->reach[i] = sqrt(body->modal_mass[(body->modes + 1) * i] / body->mass);
        for (int k = 0; k < def->point_count; k++)
            body->reach[i] = fmax(body->reach[i], yk_v3_norm(def->points[k].displacement[i]));
    }

    return YK_OK;
}

void yk_ffrf_destroy(yk_context *context, yk_ffrf *body)
{
    yk_free(context, body->store);
    yk_free(context, body->terms);
    yk_free(context, body->first_term);
    yk_free(context, body->curves);
    yk_free(context, body->gyros);
    yk_free(context, body->swirls);
    yk_free(context, body->coupled);
    yk_free(context, body->squares);
    *body = (yk_ffrf){0};
}

yk_mat3 yk_ffrf_compose(const yk_mat3 *tensor_change, yk_vec3 axial)
{
    const yk_mat3 *d = tensor_change;
    double quarter = 0.25 * (d->m[0][0] + d->m[1][1] + d->m[2][2]);
    yk_mat3 antisymmetric = yk_m3_scale(-0.5, yk_m3_skew(axial));
    yk_mat3 symmetric = yk_m3_scale(-0.25, yk_m3_add(*d, yk_m3_transpose(*d)));
    return yk_m3_add(yk_m3_add(yk_m3_diagonal(quarter, quarter, quarter), symmetric),
                     antisymmetric);
}

yk_mat3 yk_ffrf_tensor_change(const yk_mat3 *y)
{
    yk_mat3 twice = yk_m3_add(*y, yk_m3_transpose(*y));
    return yk_ffrf_tensor(&twice);
}

yk_vec3 yk_ffrf_axial_of(const yk_mat3 *y)
{
    return yk_ffrf_axial(y);
}
