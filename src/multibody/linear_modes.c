/* Shift-and-invert block Arnoldi method for constrained quadratic eigenvalue problems.
 *
 * Without damping the operator acts on q alone, q -> (K + z^2 M)^-1 M q within G q = 0 for a shift
 * z; its eigenvalues are 1 / (z^2 - s^2). With damping the first-order form in (q, p = s q) is
 * used:
 *
 *   q' = -P^-1 (M p + (C + z M) q),  p' = q + z q',  P = K + z C + z^2 M   eigenvalues 1 / (s - z)
 *
 * Starting vectors are images of the operator, so that they satisfy the constraints and have no
 * component in the massless directions, whose eigenvalues are infinite. A band of `block` vectors
 * is orthogonalized against all previous ones (twice, modified Gram-Schmidt). If a direction is
 * exhausted the band narrows, and if it is empty the space is invariant. The Rayleigh-Ritz method
 * on the space, with residuals from the stored images, decides when the space is large enough. */
#include "multibody/modes.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/eigen.h"
#include "math/sparse.h"

enum { BLOCK = 6 };

typedef struct problem {
    yk_context *context;
    const yk_linear_system *system;
    bool damped;
    int n;         /* unknowns */
    int dimension; /* of the operator: n, or 2 n with damping */
    double shift;  /* z */
    yk_sparse *matrix;
    int *entry_index; /* of the entries in the matrix */
    double *right;    /* of the constrained system */
    uint64_t seed;
} problem;

/* The search space: orthonormal rows, their images, and the Ritz pairs of the space. */
typedef struct space {
    int count;     /* vectors */
    int processed; /* number of vectors whose image is known */
    int capacity;
    double *vector, *image; /* capacity x dimension */
    double *projected;      /* capacity x capacity: vector_i . image_j */
    int projected_count;
    /* Ritz pairs: eigenpairs of the projected operator, each with the weights of the vectors */
    double *real, *imaginary, *weights;
    int *order;
    double *matrix; /* copy of `projected`, overwritten by their computation */
} space;

yk_modes_options yk_modes_default(void)
{
    return (yk_modes_options){.count = 10, .tolerance = 1e-9};
}

/* Operator ------------------------------------------------------------------------------------- */

/* y += factor * A x */
static void multiply_add(const yk_linear_matrix *a, double factor, const double *x, double *y)
{
    for (size_t k = 0; k < a->count; k++) {
        const yk_matrix_entry *e = &a->entries[k];
        y[e->row] += factor * e->value * x[e->column];
    }
}

/* y = operator x */
static void apply(problem *p, const double *x, double *y)
{
    const yk_linear_system *system = p->system;
    int n = p->n;

    memset(p->right, 0, ((size_t)n + (size_t)system->constraints) * sizeof *p->right);

    /* q' = (K + z^2 M)^-1 M q */
    if (!p->damped) {
        multiply_add(&system->mass, 1, x, p->right);
        yk_sparse_solve(p->matrix, p->right);
        memcpy(y, p->right, (size_t)n * sizeof *y);
        return;
    }

    /* The second half is p / z, so that both halves of a mode have similar size. */
    multiply_add(&system->mass, -p->shift, x + n, p->right);
    multiply_add(&system->mass, -p->shift, x, p->right);
    multiply_add(&system->damping, -1, x, p->right);
    yk_sparse_solve(p->matrix, p->right);
    for (int i = 0; i < n; i++) {
        double q = p->right[i];
        y[n + i] = x[i] / p->shift + q;
        y[i] = q;
    }
}

static double largest_entry(const yk_linear_matrix *a)
{
    double size = 0;
    for (size_t k = 0; k < a->count; k++)
        size = fmax(size, fabs(a->entries[k].value));

    return size;
}

/* An estimate of the highest frequencies. */
static double highest_frequency(const yk_linear_system *system)
{
    double ratio = largest_entry(&system->stiffness) / largest_entry(&system->mass);
    return ratio > 0 ? sqrt(ratio) : 1;
}

static size_t put_entries(yk_sparse_entry *entries, size_t at, const yk_linear_matrix *a,
                          int row_shift)
{
    for (size_t k = 0; k < a->count; k++)
        entries[at++] = (yk_sparse_entry){a->entries[k].row + row_shift, a->entries[k].column};

    return at;
}

static size_t add_values(double *values, const int *entry_index, size_t at,
                         const yk_linear_matrix *a, double factor)
{
    for (size_t k = 0; k < a->count; k++)
        values[entry_index[at++]] += factor * a->entries[k].value;

    return at;
}

/* Factors of the matrix | P G^T; G -e | at the shift. The compliance e matters only if rows of G
 * depend on each other: it is so small compared with 1/|P| that independent rows hold to rounding
 * errors. */
static yk_status factor(problem *p)
{
    const yk_linear_system *system = p->system;
    const int *entry_index = p->entry_index;
    double *values = yk_sparse_values(p->matrix);

    memset(values, 0, yk_sparse_nonzeros(p->matrix) * sizeof *values);

    /* P = K + z C + z^2 M */
    double z = p->shift;
    size_t at = add_values(values, entry_index, 0, &system->mass, z * z);
    at = add_values(values, entry_index, at, &system->damping, z);
    at = add_values(values, entry_index, at, &system->stiffness, 1);

    /* Multipliers are scaled for a balanced matrix. */
    double size = largest_entry(&system->stiffness) + z * z * largest_entry(&system->mass);
    double gradient = largest_entry(&system->constraint);
    double scale = gradient > 0 ? size / gradient : 1;
    at = add_values(values, entry_index, at, &system->constraint, scale);
    at = add_values(values, entry_index, at, &system->constraint, scale);
    for (int i = 0; i < system->constraints; i++)
        values[entry_index[at++]] -= 1e-12 * size;

    /* A singular matrix is an error that the user can fix. */
    int column = 0;
    yk_status status = yk_sparse_factor(p->matrix, &column);
    if (status != YK_ERROR_SINGULAR)
        return status;
    return yk_fail(p->context, status,
                   "modes: unknown %d has neither mass nor stiffness, or the shift %g rad/s is a "
                   "mode itself; give it mass, hold it, or choose another shift",
                   column, z);
}

/* Its pattern, with the entries in the order of factor(). */
static yk_status create_matrix(problem *p)
{
    const yk_linear_system *system = p->system;
    size_t motion = system->mass.count + system->damping.count + system->stiffness.count;
    size_t count = motion + 2 * system->constraint.count + (size_t)system->constraints;
    yk_sparse_entry *entries = yk_allocate(p->context, count, sizeof *entries);

    p->entry_index = yk_allocate(p->context, count, sizeof *p->entry_index);
    if (!entries || !p->entry_index) {
        yk_free(p->context, entries);
        return YK_ERROR_MEMORY;
    }

    /* M, C, K, then G and its transpose, then the compliance of the rows. */
    size_t at = put_entries(entries, 0, &system->mass, 0);
    at = put_entries(entries, at, &system->damping, 0);
    at = put_entries(entries, at, &system->stiffness, 0);
    size_t transposed = put_entries(entries, at, &system->constraint, p->n);
    at = put_entries(entries, transposed, &system->constraint, p->n);
    for (size_t k = transposed; k < at; k++)
        entries[k] = (yk_sparse_entry){entries[k].column, entries[k].row};
    for (int i = 0; i < system->constraints; i++)
        entries[at++] = (yk_sparse_entry){p->n + i, p->n + i};

    yk_status status = yk_sparse_create(p->context, p->n + system->constraints, entries, count,
                                        p->entry_index, &p->matrix);
    yk_free(p->context, entries);

    return status;
}

/* Space ---------------------------------------------------------------------------------------- */

static double *vector_at(const problem *p, double *block, int index)
{
    return block + (size_t)index * (size_t)p->dimension;
}

/* Appends the next vector of the space from x; false if it adds no direction. */
static bool append(const problem *p, space *s, const double *x)
{
    size_t d = (size_t)p->dimension;
    double before = yk_dense_norm(d, x);

    if (s->count == s->capacity || !(before > 0))
        return false;

    /* Normalize, so that the remainder can be judged. */
    double *v = vector_at(p, s->vector, s->count);
    for (size_t i = 0; i < d; i++)
        v[i] = x[i] / before;

    /* Modified Gram-Schmidt, twice. */
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < s->count; j++) {
            const double *u = vector_at(p, s->vector, j);
            double part = yk_dense_dot(d, u, v);
            for (size_t i = 0; i < d; i++)
                v[i] -= part * u[i];
        }
    }

    /* The direction is contained in the space. */
    double after = yk_dense_norm(d, v);
    if (after < 1e-10)
        return false;

    for (size_t i = 0; i < d; i++)
        v[i] /= after;
    s->count++;

    return true;
}

/* A random direction of the operator's range. */
static bool append_random(problem *p, space *s)
{
    if (s->count == s->capacity)
        return false;

    /* Numbers between -1 and 1, the same in every run. */
    double *x = vector_at(p, s->image, s->count); /* workspace: its image is not known yet */
    double *y = vector_at(p, s->vector, s->count);
    for (int i = 0; i < p->dimension; i++) {
        p->seed ^= p->seed << 13;
        p->seed ^= p->seed >> 7;
        p->seed ^= p->seed << 17;
        x[i] = (double)(p->seed >> 11) / 4503599627370496.0 - 1;
    }

    /* One application of the operator makes q satisfy the constraints, the second one also its
     * rate. */
    int passes = p->damped ? 2 : 1;
    for (int pass = 0; pass < passes; pass++) {
        apply(p, x, y);
        memcpy(x, y, (size_t)p->dimension * sizeof *x);
    }

    return append(p, s, x);
}

/* Grows to `target` processed vectors; false if the operator's range is exhausted before. */
static bool grow(problem *p, space *s, int target)
{
    while (s->processed < target) {
        if (s->processed == s->count && !append_random(p, s))
            return false;

        /* The image of the next vector is a direction of its own. */
        double *image = vector_at(p, s->image, s->processed);
        apply(p, vector_at(p, s->vector, s->processed), image);
        s->processed++;
        append(p, s, image);
    }

    return true;
}

/* A new space that begins with a band of random vectors. */
static void begin_space(problem *p, space *s)
{
    s->count = 0;
    s->processed = 0;
    s->projected_count = 0;
    for (int i = 0; i < BLOCK; i++)
        append_random(p, s);
}

/* Ritz pairs ----------------------------------------------------------------------------------- */

/* Eigenpairs of the operator projected on the space, in order; `candidates` of them are modes. */
static yk_status solve_projected(problem *p, space *s, int *candidates)
{
    size_t m = (size_t)s->processed;
    size_t capacity = (size_t)s->capacity;
    size_t d = (size_t)p->dimension;

    /* vector_i . image_j for what is new */
    for (int i = 0; i < s->processed; i++) {
        for (int j = 0; j < s->processed; j++) {
            if (i < s->projected_count && j < s->projected_count)
                continue;

            double product = yk_dense_dot(d, vector_at(p, s->vector, i), vector_at(p, s->image, j));
            s->projected[(size_t)i * capacity + (size_t)j] = product;
        }
    }

    s->projected_count = s->processed;

    /* Its eigenpairs. */
    for (size_t i = 0; i < m; i++)
        memcpy(s->matrix + i * m, s->projected + i * capacity, m * sizeof(double));
    yk_status status = yk_eigen_general_vectors(p->context, s->processed, s->matrix, s->real,
                                                s->imaginary, s->weights);
    if (status != YK_OK)
        return status;

    /* Modes are found in the order of descending modulus of the operator's eigenvalues, each pair
     * once. Infinite frequencies, whose eigenvalue is zero up to rounding errors, are left out.
     * With damping each of them is a double zero, which rounding errors split by the square root. */
    double zero = p->damped ? 3e-7 : 1e-13;
    double top = 0;

    int count = 0;
    for (int i = 0; i < s->processed; i++)
        top = fmax(top, hypot(s->real[i], s->imaginary[i]));
    for (int i = 0; i < s->processed; i++) {
        double size = hypot(s->real[i], s->imaginary[i]);
        if (s->imaginary[i] < 0 || size <= zero * top)
            continue;

        int at = count++;
        while (at > 0) {
            int before = s->order[at - 1];
            if (hypot(s->real[before], s->imaginary[before]) >= size)
                break;

            s->order[at--] = before;
        }

        s->order[at] = i;
    }

    *candidates = count;
    return YK_OK;
}

/* sum over j of weight_j row_j */
static void combine_rows(const problem *p, const space *s, double *rows, const double *weight,
                         double *sum)
{
    size_t d = (size_t)p->dimension;

    memset(sum, 0, d * sizeof *sum);
    for (int j = 0; j < s->processed; j++) {
        const double *row = vector_at(p, rows, j);
        for (size_t i = 0; i < d; i++)
            sum[i] += weight[j] * row[i];
    }
}

/* |A x - theta x| / |theta| of a Ritz pair with |x| = 1. Also computes x (2 x dimension: real,
 * imaginary part); `scratch` has the same size. */
static double ritz_residual(const problem *p, const space *s, int index, double *x, double *scratch)
{
    size_t d = (size_t)p->dimension;
    size_t m = (size_t)s->processed;
    double re = s->real[index];
    double im = s->imaginary[index];

    /* x and its image */
    const double *weight = s->weights + (size_t)index * m;
    combine_rows(p, s, s->vector, weight, x);
    combine_rows(p, s, s->image, weight, scratch);
    memset(x + d, 0, d * sizeof *x);
    memset(scratch + d, 0, d * sizeof *x);
    if (im > 0) {
        combine_rows(p, s, s->vector, weight + m, x + d);
        combine_rows(p, s, s->image, weight + m, scratch + d);
    }

    /* |A x - theta x| in complex numbers */
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        double a = scratch[i] - re * x[i] + im * x[d + i];
        double b = scratch[d + i] - re * x[d + i] - im * x[i];
        sum += a * a + b * b;
    }

    return sqrt(sum) / hypot(re, im);
}

/* s from the operator's eigenvalue. */
static void eigenvalue(const problem *p, double re, double im, double *s_re, double *s_im)
{
    double size2 = re * re + im * im;
    double inverse_re = re / size2;
    double inverse_im = -im / size2;

    /* theta = 1 / (s - z) */
    if (p->damped) {
        *s_re = p->shift + inverse_re;
        *s_im = inverse_im;
        return;
    }

    /* 1/theta = z^2 + w^2 with s = i w; s of positive imaginary part, or real and unstable. */
    double square_re = p->shift * p->shift - inverse_re;
    double square_im = -inverse_im;
    double modulus = hypot(square_re, square_im);
    *s_re = sqrt(fmax(0, 0.5 * (modulus + square_re)));
    *s_im = sqrt(fmax(0, 0.5 * (modulus - square_re)));
    if (square_im < 0)
        *s_re = -*s_re;
    if (*s_im == 0)
        *s_re = fabs(*s_re);
}

/* Result --------------------------------------------------------------------------------------- */

void yk_linear_modes_destroy(yk_linear_modes *modes)
{
    if (!modes)
        return;

    yk_free(modes->context, modes->real);
    yk_free(modes->context, modes->imaginary);
    yk_free(modes->context, modes->residual);
    yk_free(modes->context, modes->floor);
    yk_free(modes->context, modes->shape);
    yk_free(modes->context, modes);
}

static void add_mode(yk_linear_modes *modes, double s_re, double s_im, double residual,
                     const double *re, const double *im)
{
    size_t n = (size_t)modes->unknowns;
    int at = modes->count++;

    modes->real[at] = s_re;
    modes->imaginary[at] = s_im;
    modes->residual[at] = residual;

    /* Its shape, real and imaginary part. */
    double *shape = modes->shape + 2 * (size_t)at * n;
    memcpy(shape, re, n * sizeof *shape);
    memset(shape + n, 0, n * sizeof *shape);
    if (im)
        memcpy(shape + n, im, n * sizeof *shape);
}

/* The last shape, conjugated. */
static void conjugate_last(yk_linear_modes *modes)
{
    double *imaginary = modes->shape + (size_t)(2 * modes->count - 1) * (size_t)modes->unknowns;
    for (int i = 0; i < modes->unknowns; i++)
        imaginary[i] = -imaginary[i];
}

/* One Ritz pair as a mode. */
static void take_pair(const problem *p, const space *s, int index, double residual, const double *x,
                      int most, yk_linear_modes *modes)
{
    const double *x_im = x + p->dimension;
    double re = s->real[index];
    double im = s->imaginary[index];
    double s_re, s_im;
    eigenvalue(p, re, im, &s_re, &s_im);

    /* theta has positive imaginary part, s the opposite: list its conjugate */
    if (p->damped) {
        add_mode(modes, s_re, fabs(s_im), residual, x, im > 0 ? x_im : NULL);
        conjugate_last(modes);
        return;
    }

    /* A complex pair: both members are modes. */
    bool split = im > 0 && im < 1e-6 * fabs(re);
    if (im > 0 && !split) {
        add_mode(modes, s_re, s_im, residual, x, x_im);
        if (modes->count == most)
            return;

        eigenvalue(p, re, -im, &s_re, &s_im);
        add_mode(modes, s_re, s_im, residual, x, x_im);
        conjugate_last(modes);
        return;
    }

    /* A real pair. Two modes of one frequency may result as a complex pair because of rounding
     * errors: its real and imaginary part are then two real modes. */
    eigenvalue(p, re, 0, &s_re, &s_im);
    add_mode(modes, s_re, s_im, residual, x, NULL);
    if (split && modes->count < most)
        add_mode(modes, s_re, s_im, residual, x_im, NULL);
}

/* The number of requested modes whose pairs have converged, in order. If the space is complete, all
 * candidates count. */
static yk_status collect(problem *p, space *s, const yk_modes_options *options, bool complete,
                         yk_linear_modes *modes, double *scratch)
{
    int candidates = 0;
    yk_status status = solve_projected(p, s, &candidates);
    if (status != YK_OK)
        return status;

    size_t d = (size_t)p->dimension;
    modes->count = 0;
    for (int i = 0; i < candidates && modes->count < options->count; i++) {
        double residual = ritz_residual(p, s, s->order[i], scratch, scratch + 2 * d);
        if (residual > options->tolerance && !complete)
            return YK_NOT_CONVERGED;

        /* In a complete space the pairs of the highest frequencies are as accurate as rounding
         * errors allow, or spurious. */
        if (residual > 1e-4)
            continue;

        take_pair(p, s, s->order[i], residual, scratch, options->count, modes);
    }

    if (complete || modes->count == options->count)
        return YK_OK;

    return YK_NOT_CONVERGED;
}

/* Dimension of the space in the first search. */
static int first_target(const yk_modes_options *options)
{
    return 4 * options->count + 4 * BLOCK;
}

/* From a coarse search at a small shift: a tenth of the highest requested frequency. With a smaller
 * shift the other modes would be lost in the rounding errors of free motions; a larger one would
 * slow down the search. */
static yk_status choose_shift(problem *p, const yk_modes_options *options, space *s)
{
    int target = first_target(options);
    grow(p, s, target < s->capacity ? target : s->capacity);
    if (s->processed == 0)
        return YK_OK;

    int candidates = 0;
    yk_status status = solve_projected(p, s, &candidates);
    if (status != YK_OK)
        return status;

    /* The shift from the highest of the requested frequencies, and a new search. */
    double highest = 0;
    for (int i = 0; i < candidates && i < options->count; i++) {
        int index = s->order[i];
        double re;
        double im;
        eigenvalue(p, s->real[index], s->imaginary[index], &re, &im);
        highest = fmax(highest, hypot(re, im));
    }

    if (highest > 0)
        p->shift = 0.1 * fmin(highest, highest_frequency(p->system));

    status = factor(p);
    if (status == YK_OK)
        begin_space(p, s);

    return status;
}

/* Grows the space until the requested modes have converged. */
static yk_status search(problem *p, const yk_modes_options *options, space *s,
                        yk_linear_modes *modes, double *scratch)
{
    int target = first_target(options);
    for (;;) {
        if (target > s->capacity)
            target = s->capacity;
        bool complete = !grow(p, s, target) || target == p->dimension;
        if (s->processed == 0)
            return YK_OK;

        yk_status status = collect(p, s, options, complete, modes, scratch);
        if (status != YK_NOT_CONVERGED || target == s->capacity)
            return status;

        target += target / 2;
    }
}

static yk_status find_modes(problem *p, const yk_modes_options *options, yk_linear_modes *modes,
                            double *scratch)
{
    /* The largest possible size of the space. */
    int capacity = 20 * options->count + 200;
    if (options->subspace > 0)
        capacity = options->subspace;
    if (capacity > p->dimension)
        capacity = p->dimension;

    /* Memory for the space, its images and its eigenpairs. */
    yk_context *context = p->context;
    size_t c = (size_t)capacity;
    size_t d = (size_t)p->dimension;
    space s = {.capacity = capacity};
    s.vector = yk_allocate(context, c * d, sizeof *s.vector);
    s.image = yk_allocate(context, c * d, sizeof *s.image);
    s.projected = yk_allocate(context, c * c, sizeof *s.projected);
    s.real = yk_allocate(context, c, sizeof *s.real);
    s.imaginary = yk_allocate(context, c, sizeof *s.imaginary);
    s.weights = yk_allocate(context, c * c, sizeof *s.weights);
    s.matrix = yk_allocate(context, c * c, sizeof *s.matrix);
    s.order = yk_allocate(context, c, sizeof *s.order);

    /* Factors at the shift, which a coarse search chooses if it is not given, then the search
     * itself. */
    bool space_complete = s.vector && s.image && s.projected;
    bool pairs_complete = s.real && s.imaginary && s.weights && s.matrix && s.order;
    yk_status status = space_complete && pairs_complete ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK)
        status = create_matrix(p);
    if (status == YK_OK)
        status = factor(p);
    if (status == YK_OK)
        begin_space(p, &s);
    if (status == YK_OK && !(options->shift > 0))
        status = choose_shift(p, options, &s);
    if (status == YK_OK)
        status = search(p, options, &s, modes, scratch);
    modes->subspace = s.processed;

    yk_free(context, s.vector);
    yk_free(context, s.image);
    yk_free(context, s.projected);
    yk_free(context, s.real);
    yk_free(context, s.imaginary);
    yk_free(context, s.weights);
    yk_free(context, s.matrix);
    yk_free(context, s.order);

    return status;
}

yk_status yk_linear_modes_solve(yk_context *context, const yk_linear_system *system,
                                const yk_modes_options *options, yk_linear_modes **modes)
{
    *modes = NULL;
    if (system->unknowns < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT, "modes: the model has no node that moves");
    if (options->count < 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "modes: %d modes were asked for; ask for at least one", options->count);
    if (!(largest_entry(&system->mass) > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "modes: the model has no mass; give its nodes bodies");

    /* The problem, with a shift far below all frequencies if none is given. */
    problem p = {
        .context = context, .system = system, .n = system->unknowns, .seed = 88172645463325252u};
    p.damped = largest_entry(&system->damping) > 0;
    p.dimension = p.damped ? 2 * p.n : p.n;
    p.shift = options->shift;
    if (!(p.shift > 0))
        p.shift = 1e-4 * highest_frequency(system);
    p.right = yk_allocate(context, (size_t)p.n + (size_t)system->constraints, sizeof *p.right);
    double *scratch = yk_allocate(context, 4 * (size_t)p.dimension, sizeof *scratch);

    /* Memory for one more than requested, because complex pairs consist of two. */
    size_t most = (size_t)options->count + 1;
    yk_linear_modes *made = yk_allocate(context, 1, sizeof *made);
    *modes = made;
    bool complete = p.right && scratch && made;
    if (made) {
        made->context = context;
        made->unknowns = p.n;
        made->damped = p.damped;
        made->real = yk_allocate(context, most, sizeof *made->real);
        made->imaginary = yk_allocate(context, most, sizeof *made->imaginary);
        made->residual = yk_allocate(context, most, sizeof *made->residual);
        made->floor = yk_allocate(context, most, sizeof *made->floor);
        made->shape = yk_allocate(context, 2 * most * (size_t)p.n, sizeof *made->shape);
        complete &= made->real && made->imaginary && made->residual && made->floor && made->shape;
    }

    /* Put the modes in order, even if others did not converge. */
    yk_status status = complete ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK)
        status = find_modes(&p, options, made, scratch);
    if (status == YK_OK || status == YK_NOT_CONVERGED)
        yk_linear_modes_order(system, p.shift, made);
    if (status == YK_NOT_CONVERGED)
        yk_fail(
            context, status,
            "modes: %d of %d modes converged in a space of %d; ask for fewer or set a larger space",
            made->count, options->count, made->subspace);

    yk_sparse_destroy(p.matrix);
    yk_free(context, p.entry_index);
    yk_free(context, scratch);
    yk_free(context, p.right);
    if (YK_FAILED(status)) {
        yk_linear_modes_destroy(made);
        *modes = NULL;
    }

    return status;
}
