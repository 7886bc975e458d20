/* Arnoldi's method from a deviation that the system itself made, so that all vectors are of that kind; in small systems its
 * space is the whole one. It is done with differences of several sizes: large ones are bent by the model or open contacts,
 * small ones drown in rounding and in the solvers' tolerances. How far two of them disagree is the error. */
#include "analysis/spectrum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/arnoldi.h"
#include "math/dense.h"

/* From large to small. Where the model is smooth the first two agree, and errors are smallest; else contacts and the like are
 * at work, and only the last two tell. */
enum { LEVELS = 4 };
static const double AMPLITUDES[LEVELS] = {10, 1, 1e-3, 1e-4};
static const double AGREEMENT = 1e-4;

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

/* One step from the eigenvector tells which of the roots of the eigenvalue of many steps is that of one. */
static yk_status take_root(search *s, yk_eigenpair *p, double *image)
{
    size_t n = s->map->n;
    double size = pow(modulus(p), 1.0 / YK_PASSAGE), angle = atan2(p->imaginary, p->real), real = 0, imaginary = 0;
    for (int part = 0; part < 2 && p->vector[part]; part++) {
        const double *own = p->vector[part], *other = p->vector[1 - part];
        yk_status status = yk_step_map_apply(s->map, 1, s->amplitude, own, image);
        if (status != YK_OK) return status;
        real += yk_dense_dot(n, own, image);
        if (other) imaginary += (part == 0 ? -1 : 1) * yk_dense_dot(n, other, image);
    }
    double wanted = atan2(imaginary, real), turn = 2 * acos(-1) / YK_PASSAGE;
    double root = angle / YK_PASSAGE + turn * round((wanted - angle / YK_PASSAGE) / turn);
    p->real = size * cos(root), p->imaginary = fabs(size * sin(root));
    return YK_OK;
}

static yk_status take_roots(search *s, yk_spectrum *out)
{
    double *image = yk_allocate(s->map->context, s->map->n, sizeof *image);
    yk_status status = image ? YK_OK : YK_ERROR_MEMORY;
    for (int i = 0; status == YK_OK && i < out->count; i++) status = take_root(s, &out->pairs[i], image);
    yk_release(s->map->context, image);
    return status;
}

static yk_status largest(search *s, const double *start, yk_spectrum *out)
{
    yk_arnoldi_options options = yk_arnoldi_default();
    options.wanted = YK_STABILITY_MODES;
    options.tolerance = 1e-6;
    options.applications = 144;
    options.apply = apply, options.user = s;
    yk_arnoldi_pair pairs[YK_STABILITY_MODES];
    yk_status status = yk_arnoldi(s->map->context, s->map->n, start, &options, pairs, out->vectors, &out->count);
    for (int i = 0; status >= 0 && i < out->count; i++) {
        double size = hypot(pairs[i].real, pairs[i].imaginary);
        out->pairs[i] =
            (yk_eigenpair){.real = pairs[i].real,
                           .imaginary = pairs[i].imaginary,
                           .residual = size > 0 ? pairs[i].residual / size : 0,
                           .vector = {pairs[i].vector_real, pairs[i].imaginary > 0 ? pairs[i].vector_imaginary : NULL}};
    }
    out->dimension = (size_t)options.space < s->map->n ? options.space : (int)s->map->n;
    return status < 0 ? status : YK_OK;
}

static yk_status find_level(search *s, const double *start, yk_spectrum *out)
{
    *out = (yk_spectrum){.amplitude = s->amplitude};
    out->vectors = yk_allocate(s->map->context, 2 * YK_STABILITY_MODES * s->map->n, sizeof *out->vectors);
    if (!out->vectors) return YK_ERROR_MEMORY;
    yk_status status = largest(s, start, out);
    return status == YK_OK ? take_roots(s, out) : status;
}

/* The modulus of the mode of another level that is nearest to this one, and how far it is from this. */
static double change_of_modulus(const yk_eigenpair *p, const yk_spectrum *other)
{
    double least = INFINITY, change = INFINITY;
    for (int i = 0; i < other->count; i++) {
        const yk_eigenpair *q = &other->pairs[i];
        double distance = hypot(p->real - q->real, p->imaginary - q->imaginary);
        if (distance < least) least = distance, change = fabs(modulus(p) - modulus(q));
    }
    return fmax(change, 0.1 * least);
}

static void estimate_errors(yk_spectrum *spectrum, const yk_spectrum *other)
{
    for (int i = 0; i < spectrum->count; i++) {
        yk_eigenpair *p = &spectrum->pairs[i];
        double residual = modulus(p) * p->residual / YK_PASSAGE;
        p->error = fmax(change_of_modulus(p, other), residual) + 16 * DBL_EPSILON;
        /* The radius itself must not have moved either, whichever mode it was. */
        if (i == 0) p->error = fmax(p->error, fabs(modulus(p) - modulus(&other->pairs[0])));
    }
}

yk_status yk_spectrum_find(yk_step_map *map, const double *start, yk_spectrum *spectrum)
{
    *spectrum = (yk_spectrum){0};
    search s = {.map = map};
    yk_spectrum levels[LEVELS] = {{0}};
    int best = 0, made = 0;
    yk_status status = YK_OK;
    for (int k = 0; status == YK_OK && k < LEVELS && best == 0; k++) {
        s.amplitude = AMPLITUDES[k];
        status = find_level(&s, start, &levels[k]);
        made = k + 1;
        if (status != YK_OK || k % 2 == 0 || levels[k].count == 0 || levels[k - 1].count == 0) continue;
        double change = fabs(modulus(&levels[k].pairs[0]) - modulus(&levels[k - 1].pairs[0]));
        if (change < AGREEMENT || k == LEVELS - 1) best = k;
    }
    if (status == YK_OK && best > 0) {
        *spectrum = levels[best];
        estimate_errors(spectrum, &levels[best - 1]);
        levels[best].vectors = NULL;
    } else if (status == YK_OK) {
        status = yk_fail(map->context, YK_ERROR_NO_SOLUTION, "stability: no eigenvalue was found");
    }
    for (int k = 0; k < made; k++) yk_spectrum_release(map->context, &levels[k]);
    return status;
}

void yk_spectrum_release(yk_context *context, yk_spectrum *spectrum)
{
    yk_release(context, spectrum->vectors);
    *spectrum = (yk_spectrum){0};
}
