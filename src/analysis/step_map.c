/* The macro step of a coupled system as a map of state images, differentiated by running it.
 *
 *   deviation of the image at t  ->  deviation of the image some macro steps later
 *
 * Perturbing single words of an image leaves the set of reachable states: quaternions are no longer
 * normalized, constraints are violated, the history of a multistep method becomes inconsistent.
 * Such parts decay within some steps, but until then they are amplified by 1/h and 1/h^2, and small
 * errors of the differences would appear as spurious eigenvalues. So the map covers several macro
 * steps at once, in which they vanish and the true spectrum remains; its eigenvalues are powers of
 * those of one step. Words are scaled by their deviation after all words were perturbed and some
 * steps were made: this is how much each moves with the others, whatever its unit. */
#include "analysis/stability.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "math/dense.h"

/* Perturbation of a word, relative to its size; and smallest size, relative to a typical one. */
static const double PROBE = 1e-5;
static const double SMALLEST_PROBE = 1e-10;
static const double FLOOR = 1e-2;
/* Fraction of the largest word below which a word does not count for the typical size. */
static const double NEGLIGIBLE = 1e-9;
/* Number of random combinations of all perturbations for the scales. */
enum { PROBES = 6 };

yk_status yk_step_map_open(yk_context *context, yk_system *system, yk_step_map *map)
{
    *map = (yk_step_map){.context = context, .system = system, .deadline = INFINITY};
    yk_state_layout layout = yk_system_state_layout(system);
    if (layout.word_count == 0 || layout.continuous_count == 0)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "stability: a subsystem cannot return to an earlier state, so its steps "
                       "cannot be compared; only a run can show whether it is stable");

    /* Images and scales in one block. */
    map->words = layout.word_count;
    map->n = layout.continuous_count;
    map->earlier = yk_allocate(context, 4 * map->words + 2 * map->n, sizeof *map->earlier);
    if (!map->earlier)
        return YK_ERROR_MEMORY;

    map->base = map->earlier + map->words;
    map->plus = map->base + map->words;
    map->minus = map->plus + map->words;
    map->probe = map->minus + map->words;
    map->scale = map->probe + map->n;

    return YK_OK;
}

void yk_step_map_close(yk_step_map *map)
{
    if (map->context)
        yk_free(map->context, map->earlier);
    *map = (yk_step_map){0};
}

/* Steps ---------------------------------------------------------------------------------------- */

/* A counted step of the unchanged system. */
static yk_status take_step(yk_step_map *map)
{
    /* The clock is read at intervals. */
    if (map->steps % 16 == 0 && yk_processor_seconds() > map->deadline)
        return yk_fail(map->context, YK_INTERRUPTED, "stability: the time that was given is over");

    yk_step_report report;
    yk_status status = yk_system_step(map->system, &report);
    if (YK_FAILED(status))
        return status;

    map->steps++;
    if (status == YK_NOT_CONVERGED) {
        map->unconverged++;
        map->left += report.wrench_change;
    }

    return YK_OK;
}

yk_status yk_step_map_step(yk_step_map *map, double *image)
{
    yk_status status = yk_system_set_state(map->system, image);
    if (!YK_FAILED(status))
        status = take_step(map);
    if (status == YK_OK)
        yk_system_get_state(map->system, image);
    return status;
}

yk_status yk_step_map_run(yk_step_map *map, int64_t steps)
{
    yk_status status = YK_OK;
    for (int64_t i = 0; status == YK_OK && i < steps; i++)
        status = take_step(map);
    return status;
}

static yk_status pass(yk_step_map *map, int steps, double *image)
{
    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < steps; i++)
        status = yk_step_map_step(map, image);
    return status;
}

/* Scales --------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The scales, from perturbations of `earlier` of a given size; `deviation` is the last resulting
 * deviation at the base. */
static yk_status find_scales(yk_step_map *map, double size, double *deviation)
{
    size_t n = map->n;
    double *probe = map->probe;
    double *scale = map->scale;

    /* Words that are zero now, or noise for a plane motion, may change: they are perturbed by a
     * fraction of the typical size, which is the median of those that are not negligible. */
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        probe[i] = fmax(fabs(map->earlier[i]), fabs(map->base[i]));
        largest = fmax(largest, probe[i]);
    }

    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (probe[i] > NEGLIGIBLE * largest)
            scale[count++] = probe[i];
    qsort(scale, count, sizeof *scale, compare_numbers);
    double usual = 1;
    if (count > 0)
        usual = scale[count / 2];
    double least = FLOOR * usual;

    for (size_t i = 0; i < n; i++) {
        probe[i] = size * fmax(probe[i], least);
        scale[i] = 0;
    }

    /* Random combinations of all perturbations, forward and backward. The scale of a word is its
     * largest resulting deviation, and at least its perturbation. */
    uint64_t seed = UINT64_C(88172645463325252);
    for (int k = 0; k < PROBES; k++) {
        memcpy(map->plus, map->earlier, map->words * sizeof(double));
        memcpy(map->minus, map->earlier, map->words * sizeof(double));

        for (size_t i = 0; i < n; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            double d = probe[i];
            if (!(seed & 1024))
                d = -probe[i];
            map->plus[i] += d;
            map->minus[i] -= d;
        }

        yk_status status = pass(map, YK_PASSAGE, map->plus);
        if (status == YK_OK)
            status = pass(map, YK_PASSAGE, map->minus);

        /* Rounding errors are not deviations. */
        for (size_t i = 0; i < n; i++) {
            double change = 0.5 * (map->plus[i] - map->minus[i]);
            if (fabs(change) <= 16 * DBL_EPSILON * fabs(map->plus[i]))
                change = 0;
            deviation[i] = change;
            if (fabs(change) > 0)
                scale[i] = fmax(scale[i], fmax(fabs(change), probe[i]));
        }

        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

yk_status yk_step_map_set_base(yk_step_map *map, double *vector)
{
    /* On to the base. */
    yk_system_get_state(map->system, map->earlier);
    memcpy(map->base, map->earlier, map->words * sizeof(double));
    map->reached = false;
    yk_status status = pass(map, YK_PASSAGE, map->base);
    if (status != YK_OK)
        return status;

    map->reached = true;

    /* A size that is typical of words of all units may be too large for one of them: then reduce
     * it. */
    double size = PROBE;
    do {
        status = find_scales(map, size, vector);
        size *= 1e-2;
    } while (YK_FAILED(status) && size >= SMALLEST_PROBE);

    /* The same image must lead to the same state after any other steps; otherwise differences are
     * noise. */
    if (status == YK_OK) {
        memcpy(map->plus, map->earlier, map->words * sizeof(double));
        status = pass(map, YK_PASSAGE, map->plus);
        double worst = 0;
        for (size_t i = 0; i < map->n; i++)
            if (map->scale[i] > 0)
                worst = fmax(worst, fabs(map->plus[i] - map->base[i]) / map->scale[i]);
        if (status == YK_OK && worst > 0)
            yk_log(map->context, YK_LOG_WARNING,
                   "stability: the same state did not lead to the same steps (deviations up to "
                   "%.2g of those that are looked at): the state image of a subsystem is not "
                   "complete, and the result is as uncertain",
                   worst);
    }

    /* The deviation in scales, of length one. */
    for (size_t i = 0; i < map->n; i++) {
        if (map->scale[i] > 0)
            vector[i] /= map->scale[i];
        else
            vector[i] = 0;
    }

    double length = yk_dense_norm(map->n, vector);
    for (size_t i = 0; length > 0 && i < map->n; i++)
        vector[i] /= length;
    if (status == YK_OK && yk_dense_norm(map->n, vector) == 0)
        return yk_fail(map->context, YK_ERROR_ARGUMENT, "stability: nothing in this system moves");

    return status;
}

/* Differences ---------------------------------------------------------------------------------- */

void yk_step_map_perturb(const yk_step_map *map, double amplitude, const double *vector,
                         double *image)
{
    memcpy(image, map->base, map->words * sizeof *image);
    for (size_t i = 0; i < map->n; i++)
        image[i] += amplitude * map->scale[i] * vector[i];
}

void yk_step_map_scale(const yk_step_map *map, double factor, const double *plus,
                       const double *minus, double *vector)
{
    for (size_t i = 0; i < map->n; i++) {
        vector[i] = 0;
        if (map->scale[i] > 0)
            vector[i] = factor * (plus[i] - minus[i]) / map->scale[i];
    }
}

/* The derivative along a vector of scaled words at the base, over some macro steps, by the central
 * difference with an amplitude in scales. */
static yk_status derivative_along(yk_step_map *map, int steps, double amplitude,
                                  const double *vector, double *image)
{
    /* (S(x + a v) - S(x - a v)) / 2a. */
    yk_step_map_perturb(map, amplitude, vector, map->plus);
    yk_step_map_perturb(map, -amplitude, vector, map->minus);

    yk_status status = pass(map, steps, map->plus);
    if (status == YK_OK)
        status = pass(map, steps, map->minus);
    if (status == YK_OK)
        yk_step_map_scale(map, 0.5 / amplitude, map->plus, map->minus, image);

    return status;
}

/* Rest ----------------------------------------------------------------------------------------- */

yk_status yk_step_map_rest(yk_step_map *map)
{
    /* The full derivative, because an unstable state of rest is valid too. */
    enum { ITERATIONS_MAX = 40 };
    size_t n = map->n;
    double *matrix = yk_allocate(map->context, n * n + 3 * n, sizeof *matrix);
    int *pivot = yk_allocate(map->context, n, sizeof *pivot);
    yk_status status = YK_OK;
    if (!matrix || !pivot)
        status = YK_ERROR_MEMORY;

    /* Until a step changes the base by no more than the resolution of differences. */
    double first = 0;
    double left = INFINITY;

    for (int i = 0; status == YK_OK && i < ITERATIONS_MAX; i++) {
        double *change = matrix + n * n;
        double *unit = change + n;
        double *image = unit + n;
        memcpy(map->plus, map->base, map->words * sizeof(double));
        status = yk_step_map_step(map, map->plus);
        if (status != YK_OK)
            break;

        yk_step_map_scale(map, 1, map->plus, map->base, change);

        left = yk_dense_norm(n, change);
        if (i == 0)
            first = left;
        if (left <= 1e-7 * fmax(first, 1))
            break;

        /* Newton's step: the residual of the base x is its change by a step S, and (1 - S') dx =
         * S(x) - x. The derivative is computed column by column. */
        for (size_t j = 0; status == YK_OK && j < n; j++) {
            memset(unit, 0, n * sizeof *unit);
            unit[j] = 1;
            status = derivative_along(map, 1, 1, unit, image);
            for (size_t k = 0; status == YK_OK && k < n; k++)
                matrix[k * n + j] = (k == j) - image[k];
        }

        if (status != YK_OK)
            break;

        status = yk_lu_factor((int)n, matrix, pivot);
        if (status == YK_ERROR_SINGULAR)
            status = yk_fail(map->context, YK_ERROR_NO_SOLUTION,
                             "stability: the system may stay anywhere along a neutral motion, so "
                             "its rest is not unique");
        if (status != YK_OK)
            break;

        yk_lu_solve((int)n, matrix, pivot, change);
        for (size_t k = 0; k < n; k++)
            map->base[k] += map->scale[k] * change[k];
    }

    yk_free(map->context, matrix);
    yk_free(map->context, pivot);
    if (YK_FAILED(status))
        return status;
    if (left <= 1e-4 * fmax(first, 1))
        return YK_OK;

    return yk_fail(map->context, YK_ERROR_NO_SOLUTION,
                   "stability: no state of rest was found near t = %g s; take a time at which the "
                   "run has come to rest",
                   yk_system_time(map->system));
}

/* The largest eigenvalues ------------------------------------------------------------------------
 *
 * Arnoldi's method from a deviation that the system itself produced, so that all vectors are of
 * that kind; for small systems its space is the whole one. It is done with differences of several
 * sizes: large ones are affected by nonlinearity or open contacts, small ones by rounding errors
 * and by the solvers' tolerances. The disagreement of two of them is the error. */

/* From large to small. If the model is smooth, the second and the third agree, and their errors are
 * the smallest. Solvers with steps of their own need larger differences, contacts smaller ones:
 * then the two neighbours that agree best are the most reliable. */
enum { LEVELS = 7, BRIEF_LEVELS = 4 };
static const double amplitudes[LEVELS] = {100, 10, 1, 0.1, 1e-2, 1e-3, 1e-4};
static const int sequence[LEVELS] = {1, 2, 0, 3, 4, 5, 6};
static const double AGREEMENT = 1e-4;

/* Number of modes for which a brief search waits, and largest number of applications of the map. */
enum { BRIEF_MODES = 3, BRIEF_APPLICATIONS = 32 };
/* Sufficient agreement if the first sizes do not agree better: contacts. */
static const double ROUGH_AGREEMENT = 1e-3;
enum { PATIENT_LEVELS = 3 };
/* Number of words of the state above which fewer applications are made. */
enum { LARGE = 400 };

/* A step map with differences of one size. */
typedef struct search {
    yk_step_map *map;
    double amplitude;
} search;

static double modulus(const yk_arnoldi_pair *p)
{
    return hypot(p->real, p->imaginary);
}

static yk_status apply(void *user, const double *vector, double *image)
{
    search *s = user;
    return derivative_along(s->map, YK_PASSAGE, s->amplitude, vector, image);
}

/* The eigenvalue of one step is a root of that of the map. The step after the map selects the root:
 * both deviations are then produced by the system. `images`: workspace for four vectors. */
static yk_status take_root(const search *s, double *images, yk_arnoldi_pair *p)
{
    const double *vectors[2] = {p->vector_real, p->vector_imaginary};
    size_t n = s->map->n;
    double *now[2] = {images, images + n};
    double *next[2] = {images + 2 * n, images + 3 * n};

    for (int part = 0; part < 2 && vectors[part]; part++) {
        const double *vector = vectors[part];
        yk_status status = derivative_along(s->map, YK_PASSAGE, s->amplitude, vector, now[part]);
        if (status == YK_OK)
            status = derivative_along(s->map, YK_PASSAGE + 1, s->amplitude, vector, next[part]);
        if (status != YK_OK)
            return status;
    }

    /* Angle by which the last step rotated the deviation. */
    double real = yk_dense_dot(n, now[0], next[0]);
    double imaginary = 0;
    if (vectors[1]) {
        real += yk_dense_dot(n, now[1], next[1]);
        imaginary = yk_dense_dot(n, now[0], next[1]) - yk_dense_dot(n, now[1], next[0]);
    }

    double wanted = atan2(imaginary, real);

    /* The root nearest to it. */
    double size = pow(modulus(p), 1.0 / YK_PASSAGE);
    double angle = atan2(p->imaginary, p->real) / YK_PASSAGE;
    double spacing = 2 * acos(-1) / YK_PASSAGE;
    double root = angle + spacing * round((wanted - angle) / spacing);
    p->real = size * cos(root);
    p->imaginary = fabs(size * sin(root));
    if (p->imaginary < 1e-12 * size)
        p->imaginary = 0;

    return YK_OK;
}

/* The spectrum with differences of one size. */
static yk_status find_level(const search *s, const double *start, bool brief, yk_spectrum *out)
{
    yk_step_map *map = s->map;
    *out = (yk_spectrum){.amplitude = s->amplitude};
    out->vectors =
        yk_allocate(map->context, 2 * YK_STABILITY_MODES_MAX * map->n, sizeof *out->vectors);
    double *images = yk_allocate(map->context, 4 * map->n, sizeof *images);
    yk_status status = YK_OK;
    if (!out->vectors || !images)
        status = YK_ERROR_MEMORY;

    /* The largest eigenvalues of the map. */
    search own = *s;
    yk_arnoldi_options options = yk_arnoldi_default();
    options.wanted = YK_STABILITY_MODES_MAX;
    options.tolerance = 1e-6;
    options.applications = 144;
    if (map->n > LARGE)
        options.applications = 72;
    options.apply = apply;
    options.user = &own;
    if (brief) {
        options.wanted = BRIEF_MODES;
        options.applications = BRIEF_APPLICATIONS;
        options.space = BRIEF_APPLICATIONS;
    }

    out->dimension = options.space;
    if ((size_t)options.space >= map->n)
        out->dimension = (int)map->n;
    if (status == YK_OK)
        status = yk_arnoldi(map->context, map->n, start, &options, out->pairs, out->vectors,
                            &out->count);

    /* The result at its end, with its residuals. */
    if (!YK_FAILED(status))
        status = YK_OK;

    /* Those of one step. */
    for (int i = 0; status == YK_OK && i < out->count; i++) {
        yk_arnoldi_pair *p = &out->pairs[i];
        double size = modulus(p);
        p->residual = size > 0 ? p->residual / size : 0;
        if (!(p->imaginary > 0))
            p->vector_imaginary = NULL;
        status = take_root(s, images, p);
    }

    yk_free(map->context, images);
    return status;
}

/* The modulus of the nearest mode of another level, and its distance. */
static double change_of_modulus(const yk_arnoldi_pair *p, const yk_spectrum *other)
{
    /* The nearest mode is taken for the same one. */
    double least = INFINITY;
    double change = INFINITY;

    for (int i = 0; i < other->count; i++) {
        const yk_arnoldi_pair *q = &other->pairs[i];
        double distance = hypot(p->real - q->real, p->imaginary - q->imaginary);
        if (distance < least) {
            least = distance;
            change = fabs(modulus(p) - modulus(q));
        }
    }

    return fmax(change, 0.1 * least);
}

/* Disagreement of two levels: on the first mode itself, and on the radius, whichever mode it was. */
static double change_of_first(const yk_spectrum *level, const yk_spectrum *other)
{
    /* Levels without modes do not agree. */
    if (level->count == 0 || other->count == 0)
        return INFINITY;

    double radius = fabs(modulus(&level->pairs[0]) - modulus(&other->pairs[0]));
    return fmax(change_of_modulus(&level->pairs[0], other), radius);
}

yk_status yk_spectrum_find(yk_step_map *map, const double *start, bool brief, yk_spectrum *spectrum)
{
    *spectrum = (yk_spectrum){0};
    yk_spectrum levels[LEVELS] = {{0}};
    int tried = LEVELS;
    if (brief)
        tried = BRIEF_LEVELS;

    /* Try sizes of differences until two neighbours agree. */
    int best = 0;
    double least = INFINITY;
    yk_status status = YK_OK;

    for (int i = 0; status == YK_OK && i < tried; i++) {
        double enough = AGREEMENT;
        if (i >= PATIENT_LEVELS)
            enough = ROUGH_AGREEMENT;
        if (least <= enough)
            break;

        int level = sequence[i];
        search s = {.map = map, .amplitude = amplitudes[level]};
        status = find_level(&s, start, brief, &levels[level]);

        /* Deviations of this size make the run fail; others may not. */
        if (YK_FAILED(status) && status != YK_ERROR_MEMORY) {
            yk_spectrum_release(map->context, &levels[level]);
            status = YK_OK;
        }

        /* Which neighbours agree best by now. */
        for (int k = 1; status == YK_OK && k < LEVELS; k++) {
            double change = change_of_first(&levels[k], &levels[k - 1]);
            if (change < least) {
                least = change;
                best = k;
            }
        }
    }

    if (status == YK_OK && best == 0)
        status = yk_fail(map->context, YK_ERROR_NO_SOLUTION, "stability: no eigenvalue was found");

    /* The smaller of the two, with their disagreement as its error. */
    if (status == YK_OK) {
        const yk_spectrum *other = &levels[best - 1];
        *spectrum = levels[best];
        levels[best].vectors = NULL;

        for (int i = 0; i < spectrum->count; i++) {
            const yk_arnoldi_pair *p = &spectrum->pairs[i];
            double residual = modulus(p) * p->residual / YK_PASSAGE;
            double change = change_of_modulus(p, other);
            if (i == 0)
                change = change_of_first(spectrum, other);
            spectrum->errors[i] = fmax(change, residual) + 16 * DBL_EPSILON;
        }
    }

    for (int k = 0; k < LEVELS; k++)
        yk_spectrum_release(map->context, &levels[k]);
    return status;
}

void yk_spectrum_release(yk_context *context, yk_spectrum *spectrum)
{
    yk_free(context, spectrum->vectors);
    *spectrum = (yk_spectrum){0};
}
