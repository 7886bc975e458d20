/* Arnoldi's method from a deviation that the system itself made, so that all vectors are of that
 * kind; in small systems its space is the whole one. It is done with differences of several
 * sizes: large ones are bent by the model or open contacts, small ones are lost in rounding and in
 * the solvers' tolerances. How far two of them disagree is the error. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "analysis/step_map.h"
#include "math/dense.h"
#include "math/eigen.h"

/* From large to small. Where the model is smooth the second and the third agree, and their errors
 * are the smallest. Solvers that choose steps of their own want larger differences, contacts
 * smaller ones: then the two neighbours that agree best are the most reliable. */
enum { LEVELS = 7, BRIEF_LEVELS = 4 };
static const double amplitudes[LEVELS] = {100, 10, 1, 0.1, 1e-2, 1e-3, 1e-4};
static const int sequence[LEVELS] = {1, 2, 0, 3, 4, 5, 6};
static const double AGREEMENT = 1e-4;

/* Modes that a brief search waits for, and how often it applies the map at most. */
enum { BRIEF_MODES = 3, BRIEF_APPLICATIONS = 32 };
/* Agreement that is enough where the first sizes do not agree better: contacts. */
static const double ROUGH_AGREEMENT = 1e-3;
enum { PATIENT_LEVELS = 3 };
/* Words of the state from which on fewer applications have to do. */
enum { LARGE = 400 };

/* A step map with differences of one size. */
typedef struct search {
    yk_step_map *map;
    double amplitude;
} search;

static double modulus(const yk_eigenpair *p)
{
    return hypot(p->real, p->imaginary);
}

static yk_status apply(void *user, const double *vector, double *image)
{
    search *s = user;
    return yk_step_map_apply(s->map, YK_PASSAGE, s->amplitude, vector, image);
}

/* The eigenvalue of one step is a root of that of the map, and the step after the map shows which:
 * both deviations are then such as the system makes. `images`: workspace for four vectors. */
static yk_status take_root(const search *s, double *images, yk_eigenpair *p)
{
    size_t n = s->map->n;
    double *now[2] = {images, images + n};
    double *next[2] = {images + 2 * n, images + 3 * n};

    for (int part = 0; part < 2 && p->vector[part]; part++) {
        const double *vector = p->vector[part];
        yk_status status = yk_step_map_apply(s->map, YK_PASSAGE, s->amplitude, vector, now[part]);
        if (status == YK_OK)
            status = yk_step_map_apply(s->map, YK_PASSAGE + 1, s->amplitude, vector, next[part]);
        if (status != YK_OK)
            return status;
    }

    /* By which angle the last step rotated the deviation. */
    double real = yk_dense_dot(n, now[0], next[0]);
    double imaginary = 0;
    if (p->vector[1]) {
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
    out->vectors = yk_allocate(map->context, 2 * YK_STABILITY_MODES * map->n, sizeof *out->vectors);
    double *images = yk_allocate(map->context, 4 * map->n, sizeof *images);
    yk_status status = YK_OK;
    if (!out->vectors || !images)
        status = YK_ERROR_MEMORY;

    /* The largest eigenvalues of the map. */
    search own = *s;
    yk_arnoldi_options options = yk_arnoldi_default();
    options.wanted = YK_STABILITY_MODES;
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
    yk_arnoldi_pair pairs[YK_STABILITY_MODES];
    if (status == YK_OK)
        status =
            yk_arnoldi(map->context, map->n, start, &options, pairs, out->vectors, &out->count);

    /* What was found until it ended, with its residuals. */
    if (!YK_FAILED(status))
        status = YK_OK;

    /* Those of one step. */
    for (int i = 0; status == YK_OK && i < out->count; i++) {
        const yk_arnoldi_pair *from = &pairs[i];
        yk_eigenpair *p = &out->pairs[i];
        *p = (yk_eigenpair){.real = from->real, .imaginary = from->imaginary};
        double size = modulus(p);
        if (size > 0)
            p->residual = from->residual / size;
        p->vector[0] = from->vector_real;
        if (from->imaginary > 0)
            p->vector[1] = from->vector_imaginary;
    }

    for (int i = 0; status == YK_OK && i < out->count; i++)
        status = take_root(s, images, &out->pairs[i]);

    yk_release(map->context, images);
    return status;
}

/* The modulus of the mode of another level that is nearest to this one, and how far it is from
 * this. */
static double change_of_modulus(const yk_eigenpair *p, const yk_spectrum *other)
{
    /* The nearest mode is taken for the same one. */
    double least = INFINITY;
    double change = INFINITY;

    for (int i = 0; i < other->count; i++) {
        const yk_eigenpair *q = &other->pairs[i];
        double distance = hypot(p->real - q->real, p->imaginary - q->imaginary);
        if (distance < least) {
            least = distance;
            change = fabs(modulus(p) - modulus(q));
        }
    }

    return fmax(change, 0.1 * least);
}

/* How far two levels disagree on their first mode: on the mode itself, and on the radius,
 * whichever mode it was. */
static double change_of_first(const yk_spectrum *level, const yk_spectrum *other)
{
    /* Levels that found nothing agree on nothing. */
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

    /* Sizes of differences until two neighbours agree. */
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

        /* Deviations of this size break the run; others may not. */
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
            yk_eigenpair *p = &spectrum->pairs[i];
            double residual = modulus(p) * p->residual / YK_PASSAGE;
            double change = change_of_modulus(p, other);
            if (i == 0)
                change = change_of_first(spectrum, other);
            p->error = fmax(change, residual) + 16 * DBL_EPSILON;
        }
    }

    for (int k = 0; k < LEVELS; k++)
        yk_spectrum_release(map->context, &levels[k]);
    return status;
}

void yk_spectrum_release(yk_context *context, yk_spectrum *spectrum)
{
    yk_release(context, spectrum->vectors);
    *spectrum = (yk_spectrum){0};
}
