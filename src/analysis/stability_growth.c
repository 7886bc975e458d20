/* The growth per macro step is an eigenvalue of the derivative of the step. Where contacts open
 * and close, no derivative foretells what happens, and a base that moves on changes it; so a
 * deviation that starts as the least stable mode is followed along the run itself, cut back to
 * its size in each step, and where the two disagree the run is right. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "analysis/stability.h"
#include "math/dense.h"

/* Words of the state up to which rest is looked for: it takes all of the step's derivative. */
enum { REST_WORDS = 600 };
/* Error of the growth per step, as a part of it, with which a derivative needs no confirmation:
 * contacts that change come nowhere near it. */
static const double RESOLVED = 1e-4;
/* Times as many macro steps, where those that were followed do not decide. */
enum { LONGER = 5 };

bool yk_growth_broke_down(yk_status status)
{
    return status == YK_ERROR_NOT_FINITE || status == YK_ERROR_DIVERGED ||
           status == YK_ERROR_SUBSYSTEM || status == YK_ERROR_SINGULAR;
}

yk_status yk_growth_find(yk_step_map *map, const yk_scenario_info *info, const yk_growth_def *def,
                         yk_spectrum *spectrum, yk_growth *growth)
{
    const double h = info->step;
    *growth = (yk_growth){.step = h, .tracked = NAN, .radius = NAN, .error = NAN, .rate = NAN};
    *spectrum = (yk_spectrum){0};

    /* On to the state. */
    double passed = (yk_system_time(map->system) - info->start) / h;
    double wanted = (def->time - info->start) / h - YK_PASSAGE;
    yk_status status = yk_step_map_run(map, (int64_t)fmax(0, round(wanted - passed)));
    if (status != YK_OK)
        return status;

    growth->time = yk_system_time(map->system) + YK_PASSAGE * h;

    /* A state of rest near it, where that is asked for. */
    double *start = yk_allocate(map->context, map->n, sizeof *start);
    if (!start)
        return YK_ERROR_MEMORY;

    status = yk_step_map_set_base(map, start);
    if (status == YK_OK && def->rest && map->n > REST_WORDS)
        status = yk_fail(map->context, YK_ERROR_ARGUMENT,
                         "stability: rest is looked for in systems of up to %d words, this one has "
                         "%zu; take a time at which the run has come to rest",
                         REST_WORDS, map->n);
    else if (status == YK_OK && def->rest)
        status = yk_step_map_rest(map);

    /* No modes: the deviation that the system made. */
    if (status == YK_OK && def->follow > 0) {
        *spectrum = (yk_spectrum){.count = 1, .vectors = start, .amplitude = def->follow};
        spectrum->pairs[0].vector[0] = start;
        return YK_OK;
    }

    /* The modes, from that deviation on. */
    if (status == YK_OK)
        status = yk_spectrum_find(map, start, def->brief, spectrum);
    yk_release(map->context, start);
    if (status != YK_OK)
        return status;

    growth->amplitude = spectrum->amplitude;
    growth->mode_count = spectrum->count;

    for (int i = 0; i < spectrum->count; i++) {
        const yk_eigenpair *p = &spectrum->pairs[i];
        double modulus = hypot(p->real, p->imaginary);
        growth->modes[i].rate = log(modulus) / h;
        growth->modes[i].error = p->error / (modulus * h);
        growth->modes[i].phase = atan2(p->imaginary, p->real);
        growth->modes[i].frequency = growth->modes[i].phase / (2 * acos(-1) * h);
    }

    /* The least stable of them. */
    const yk_eigenpair *first = &spectrum->pairs[0];
    growth->radius = hypot(first->real, first->imaginary);
    growth->error = first->error;
    growth->frequency = growth->modes[0].frequency;
    growth->phase = growth->modes[0].phase;

    return YK_OK;
}

/* Carries a deviation over the step that the base, now in map->minus, has taken. */
static yk_status carry(yk_step_map *map, double amplitude, double *deviation)
{
    yk_step_map_perturb(map, amplitude, deviation, map->plus);
    yk_status status = yk_step_map_step(map, map->plus);
    if (status == YK_OK)
        yk_step_map_scale(map, 1 / amplitude, map->plus, map->minus, deviation);
    return status;
}

/* Mean logarithm of the growth per macro step over the later half of the steps, and how far it is
 * from growth that is none: a drift, which grows in proportion to the time, doubles over the
 * later half; and its two quarters may disagree. Ends early where the run breaks down or outgrows
 * the deviation; NaN if that is too early. */
static yk_status track(yk_step_map *map, const yk_spectrum *spectrum, int steps, double *mean,
                       double *error, double *witnessed)
{
    enum { LEAST_STEPS = 16 };
    const size_t n = map->n;
    const double amplitude = spectrum->amplitude;
    const yk_eigenpair *first = &spectrum->pairs[0];
    double *pair = yk_allocate(map->context, 2 * n + (size_t)steps, sizeof *pair);
    if (!pair)
        return YK_ERROR_MEMORY;

    double *logs = pair + 2 * n;
    memcpy(pair, first->vector[0], n * sizeof *pair);
    if (first->vector[1])
        memcpy(pair + n, first->vector[1], n * sizeof *pair);

    /* Step by step, as long as the run and the deviation last. */
    int done = 0;
    yk_status status = YK_OK;

    for (; done < steps; done++) {
        /* Cut back to its size, as long as that is above the rounding of the state. */
        double size = yk_dense_norm(2 * n, pair);
        double largest = 0;
        for (size_t i = 0; i < n; i++)
            if (map->scale[i] > 0)
                largest = fmax(largest, fabs(map->base[i]) / map->scale[i]);
        if (!(size > 0) || !(DBL_EPSILON * largest < 1e-3 * amplitude))
            break;

        for (size_t k = 0; k < 2 * n; k++)
            pair[k] /= size;

        /* One step of the base and of both parts of the deviation. */
        memcpy(map->minus, map->base, map->words * sizeof *map->base);
        status = yk_step_map_step(map, map->minus);
        if (status == YK_OK)
            status = carry(map, amplitude, pair);
        if (status == YK_OK && first->vector[1])
            status = carry(map, amplitude, pair + n);
        if (status != YK_OK)
            break;

        memcpy(map->base, map->minus, map->words * sizeof *map->base);

        double grown = yk_dense_norm(2 * n, pair);
        if (!(grown > 0))
            break;

        logs[done] = log(grown);
    }

    if (yk_growth_broke_down(status))
        status = YK_OK;

    /* The most that it ever grew. */
    double whole = 0;
    for (int i = 0; i < done; i++) {
        whole += logs[i];
        *witnessed = fmax(*witnessed, whole);
    }

    /* The later half, in its two quarters. */
    int half = done / 2;
    int quarter = half / 2;
    double sum[2] = {0};
    for (int i = 0; i < half; i++)
        sum[i < quarter] += logs[done - 1 - i];
    yk_release(map->context, pair);
    *mean = NAN;
    *error = NAN;
    if (done >= LEAST_STEPS) {
        *mean = (sum[0] + sum[1]) / half;
        *error = fmax(fabs(sum[0] / (half - quarter) - sum[1] / quarter), log(2) / half);
    }

    return status;
}

yk_status yk_growth_follow(yk_step_map *map, const yk_growth_def *def, const yk_spectrum *spectrum,
                           yk_growth *growth)
{
    const double h = growth->step;
    const double grown = fabs(growth->radius - 1);
    const bool modes = !(def->follow > 0);
    growth->confirmed = true;
    growth->rate = log(growth->radius) / h;
    growth->rate_error = growth->error / (growth->radius * h);

    /* Longer, where growth that matters within the run cannot be distinguished from none. */
    int steps = def->track;
    if (def->rest)
        steps = 0;
    for (int round = 0; round < 2 && steps > 0; round++, steps *= LONGER) {
        double mean;
        double error;
        yk_status status = track(map, spectrum, steps, &mean, &error, &growth->witnessed);
        if (status != YK_OK)
            return status;

        /* Steps that do not repeat exactly show as growth without measure. */
        growth->tracked = exp(mean);
        if (modes && !(growth->tracked <= 2 * fmax(1, growth->radius)))
            growth->tracked = NAN;
        if (isnan(growth->tracked)) {
            if (!modes) {
                growth->rate = INFINITY;
                growth->rate_error = 0;
            }

            return YK_OK;
        }

        /* A derivative that differences of several sizes agree on is believed, but for growth
         * that it does not see; one that is not known to half of the growth says less than the
         * run does; in between the run has to confirm it. */
        double apart = fabs(growth->tracked - growth->radius);
        bool resolved = growth->error <= fmax(RESOLVED * grown, 1e-6);
        resolved = resolved && mean - error <= fmax(0, 2 * log(growth->radius));
        bool confirmed = growth->error <= 0.5 * grown;
        confirmed = confirmed && apart <= 0.3 * grown + fmin(3 * growth->error, 0.01);
        growth->confirmed = modes && (resolved || confirmed);
        if (growth->confirmed)
            return YK_OK;

        /* The run is believed, if it says anything yet. */
        growth->rate = mean / h;
        growth->rate_error = error / h;
        bool open = growth->rate > def->notable && growth->rate <= growth->rate_error;
        if (!open)
            break;
    }

    return YK_OK;
}
