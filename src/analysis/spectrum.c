/* Arnoldi's method from a deviation that the system itself made, so that all vectors are of that
 * kind; in small systems its space is the whole one. It is done with differences of several
 * sizes: large ones are bent by the model or open contacts, small ones drown in rounding and in
 * the solvers' tolerances. How far two of them disagree is the error. */
#include "analysis/spectrum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/arnoldi.h"
#include "math/dense.h"

/* From large to small. Where the model is smooth the second and the third agree, and their errors
 * are the smallest. Solvers that choose steps of their own want larger differences, contacts
 * smaller ones: then the two neighbours that agree best tell most. */
enum { LEVELS = 7, BRIEF_LEVELS = 4 };
static const double AMPLITUDES[LEVELS] = {100, 10, 1, 0.1, 1e-2, 1e-3, 1e-4};
static const int SEQUENCE[LEVELS] = {1, 2, 0, 3, 4, 5, 6};
static const double AGREEMENT = 1e-4;

/* Modes that a brief search waits for, and how often it applies the map at most. */
enum { BRIEF_MODES = 3, BRIEF_APPLICATIONS = 32 };
/* Agreement that is enough where the first sizes do not agree better: contacts. */
static const double ROUGH_AGREEMENT = 1e-3;
enum { PATIENT_LEVELS = 3 };
/* Words of the state from which on fewer applications have to do. */
enum { LARGE = 400 };

typedef struct search {
    yk_step_map *map;
    bool brief;
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

/* The step after the map tells which of the roots of its eigenvalue is that of one step: both
 * deviations are then such as the system makes. */
static yk_status take_root(search *s, yk_eigenpair *p, double *images)
{
    size_t n = s->map->n;
    double *now[2] = {images, images + n}, *next[2] = {images + 2 * n, images + 3 * n};
    for (int part = 0; part < 2 && p->vector[part]; part++) {
        yk_status status =
            yk_step_map_apply(s->map, YK_PASSAGE, s->amplitude, p->vector[part], now[part]);
        if (status == YK_OK)
            status = yk_step_map_apply(s->map, YK_PASSAGE + 1, s->amplitude, p->vector[part],
                                       next[part]);
        if (status != YK_OK)
            return status;
    }
    double real = yk_dense_dot(n, now[0], next[0]), imaginary = 0;
    if (p->vector[1]) {
        real += yk_dense_dot(n, now[1], next[1]);
        imaginary = yk_dense_dot(n, now[0], next[1]) - yk_dense_dot(n, now[1], next[0]);
    }
    double size = pow(modulus(p), 1.0 / YK_PASSAGE),
           angle = atan2(p->imaginary, p->real) / YK_PASSAGE;
    double wanted = atan2(imaginary, real), rotation = 2 * acos(-1) / YK_PASSAGE;
    double root = angle + rotation * round((wanted - angle) / rotation);
    p->real = size * cos(root), p->imaginary = fabs(size * sin(root));
    if (p->imaginary < 1e-12 * size)
        p->imaginary = 0;
    return YK_OK;
}

static yk_status take_roots(search *s, yk_spectrum *out)
{
    double *image = yk_allocate(s->map->context, 4 * s->map->n, sizeof *image);
    yk_status status = image ? YK_OK : YK_ERROR_MEMORY;
    for (int i = 0; status == YK_OK && i < out->count; i++)
        status = take_root(s, &out->pairs[i], image);
    yk_release(s->map->context, image);
    return status;
}

static yk_status largest(search *s, const double *start, yk_spectrum *out)
{
    yk_arnoldi_options options = yk_arnoldi_default();
    options.wanted = s->brief ? BRIEF_MODES : YK_STABILITY_MODES;
    options.tolerance = 1e-6;
    options.applications = s->map->n > LARGE ? 72 : 144;
    if (s->brief)
        options.applications = BRIEF_APPLICATIONS;
    if (s->brief)
        options.space = BRIEF_APPLICATIONS;
    options.apply = apply, options.user = s;
    yk_arnoldi_pair pairs[YK_STABILITY_MODES];
    yk_status status =
        yk_arnoldi(s->map->context, s->map->n, start, &options, pairs, out->vectors, &out->count);
    for (int i = 0; status >= 0 && i < out->count; i++) {
        double size = hypot(pairs[i].real, pairs[i].imaginary);
        out->pairs[i] =
            (yk_eigenpair){.real = pairs[i].real,
                           .imaginary = pairs[i].imaginary,
                           .residual = size > 0 ? pairs[i].residual / size : 0,
                           .vector = {pairs[i].vector_real,
                                      pairs[i].imaginary > 0 ? pairs[i].vector_imaginary : NULL}};
    }
    out->dimension = (size_t)options.space < s->map->n ? options.space : (int)s->map->n;
    return status < 0 ? status : YK_OK;
}

static yk_status find_level(search *s, const double *start, yk_spectrum *out)
{
    *out = (yk_spectrum){.amplitude = s->amplitude};
    out->vectors =
        yk_allocate(s->map->context, 2 * YK_STABILITY_MODES * s->map->n, sizeof *out->vectors);
    if (!out->vectors)
        return YK_ERROR_MEMORY;
    yk_status status = largest(s, start, out);
    return status == YK_OK ? take_roots(s, out) : status;
}

/* The modulus of the mode of another level that is nearest to this one, and how far it is from
 * this. */
static double change_of_modulus(const yk_eigenpair *p, const yk_spectrum *other)
{
    double least = INFINITY, change = INFINITY;
    for (int i = 0; i < other->count; i++) {
        const yk_eigenpair *q = &other->pairs[i];
        double distance = hypot(p->real - q->real, p->imaginary - q->imaginary);
        if (distance < least)
            least = distance, change = fabs(modulus(p) - modulus(q));
    }
    return fmax(change, 0.1 * least);
}

/* How far two levels disagree on their first mode: on the mode itself, and on the radius,
 * whichever mode it was. */
static double change_of_first(const yk_spectrum *level, const yk_spectrum *other)
{
    if (level->count == 0 || other->count == 0)
        return INFINITY;
    double radius = fabs(modulus(&level->pairs[0]) - modulus(&other->pairs[0]));
    return fmax(change_of_modulus(&level->pairs[0], other), radius);
}

static void estimate_errors(yk_spectrum *spectrum, const yk_spectrum *other)
{
    for (int i = 0; i < spectrum->count; i++) {
        yk_eigenpair *p = &spectrum->pairs[i];
        double residual = modulus(p) * p->residual / YK_PASSAGE;
        double change = i == 0 ? change_of_first(spectrum, other) : change_of_modulus(p, other);
        p->error = fmax(change, residual) + 16 * DBL_EPSILON;
    }
}

yk_status yk_spectrum_find(yk_step_map *map, const double *start, bool brief, yk_spectrum *spectrum)
{
    *spectrum = (yk_spectrum){0};
    search s = {.map = map, .brief = brief};
    yk_spectrum levels[LEVELS] = {{0}};
    int best = 0;
    double least = INFINITY;
    yk_status status = YK_OK;
    int tried = brief ? BRIEF_LEVELS : LEVELS;
    for (int i = 0;
         status == YK_OK && i < tried && least > (i < PATIENT_LEVELS ? AGREEMENT : ROUGH_AGREEMENT);
         i++) {
        int level = SEQUENCE[i];
        s.amplitude = AMPLITUDES[level];
        status = find_level(&s, start, &levels[level]);
        if (status < 0 && status != YK_ERROR_MEMORY) {
            /* Deviations of this size break the run; others may not. */
            yk_spectrum_release(map->context, &levels[level]);
            status = YK_OK;
        }
        for (int k = 1; status == YK_OK && k < LEVELS; k++) {
            double change = change_of_first(&levels[k], &levels[k - 1]);
            if (change < least)
                least = change, best = k;
        }
    }
    if (status == YK_OK && best > 0) {
        *spectrum = levels[best];
        estimate_errors(spectrum, &levels[best - 1]);
        levels[best].vectors = NULL;
    } else if (status == YK_OK) {
        status = yk_fail(map->context, YK_ERROR_NO_SOLUTION, "stability: no eigenvalue was found");
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
