/* Stability of the coupling of any scenario, from the running system: settle, linearise, find the modes that grow most,
 * ask of each who feeds it, and check the first against the run itself. */
#include <math.h>
#include <string.h>

#include "analysis/spectrum.h"
#include "analysis/stability_mode.h"
#include "analysis/step_map.h"

/* Growth within its error of 1 is none; the least that is told from 1. */
static const double LEAST_GROWTH = 1e-6;
/* Share of a mode's growth that the interfaces must bring to be blamed for it. */
static const double BLAME = 0.25;
/* Created by what is exchanged, below which a mode is resolved and its energies do not tell more. */
static const double RESOLVED = 0.02;
/* The same along the run, by what they exchange with the deviation: a coupling that is stable passes on what it takes. */
static const double CREATED = 0.3;

/* Words of the state up to which rest is looked for: it takes all of the step's derivative. */
enum { REST_WORDS = 600 };

typedef struct study {
    yk_context *context;
    const yk_scenario_info *info;
    const yk_stability_def *def;
    yk_stability_report *report;
    yk_step_map map;
    double *start;
    yk_spectrum spectrum;
} study;

yk_stability_def yk_stability_default(void)
{
    return (yk_stability_def){.time = NAN, .settle = 20, .track = 40};
}

/* Statuses of a step that mean "this run breaks down" and not "this cannot be asked". */
static bool is_breakdown(yk_status status)
{
    return status == YK_ERROR_NOT_FINITE || status == YK_ERROR_DIVERGED || status == YK_ERROR_SUBSYSTEM ||
           status == YK_ERROR_SINGULAR;
}

static yk_status settle(study *s)
{
    double wanted = s->def->settle;
    if (isfinite(s->def->time)) wanted = round((s->def->time - s->info->start) / s->info->step);
    if (wanted < 0 || wanted > 1e12)
        return yk_fail(s->context, YK_ERROR_ARGUMENT, "stability: the run starts at %g s, so there is no state at %g s",
                       s->info->start, s->def->time);
    int64_t steps = (int64_t)wanted - YK_PASSAGE;
    yk_status status = YK_OK;
    for (int64_t i = 0; status >= 0 && i < steps; i++) status = yk_system_step(s->map.system, NULL), s->map.steps++;
    if (status < 0) return status;
    s->start = yk_allocate(s->context, s->map.n, sizeof *s->start);
    if (!s->start) return YK_ERROR_MEMORY;
    double reached = yk_system_time(s->map.system);
    status = yk_step_map_place(&s->map, s->start);
    s->report->time = reached + YK_PASSAGE * s->info->step;
    return status;
}

static yk_status find_rest(study *s)
{
    if (s->map.n > REST_WORDS)
        return yk_fail(s->context, YK_ERROR_ARGUMENT,
                       "stability: rest is looked for in systems of up to %d words, this one has %zu; name a time at "
                       "which the run has come to rest",
                       REST_WORDS, s->map.n);
    return yk_step_map_rest(&s->map);
}

static yk_status describe(study *s)
{
    yk_stability_report *r = s->report;
    r->mode_count = s->spectrum.count;
    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < r->mode_count; i++) {
        const yk_eigenpair *p = &s->spectrum.pairs[i];
        yk_stability_mode *mode = &r->modes[i];
        double growth = hypot(p->real, p->imaginary);
        *mode = (yk_stability_mode){.real = p->real,
                                    .imaginary = p->imaginary,
                                    .growth = growth,
                                    .error = p->error,
                                    .rate = log(growth) / s->info->step,
                                    .frequency = atan2(p->imaginary, p->real) / (2 * acos(-1) * s->info->step)};
        status = yk_stability_describe(&s->map, s->info, s->spectrum.amplitude, p->vector[0], p->vector[1], mode);
        if (yk_scheme_closes(s->info->scheme.kind)) mode->fed = NAN;
    }
    return status;
}

static bool grows(const yk_stability_mode *mode)
{
    return mode->growth - mode->error > 1 + LEAST_GROWTH;
}

/* A slow one-sided motion that the steps resolve by far: if it grows, the model makes it, and the coupling's work on it is lost
 * in the solvers' tolerances. */
static bool creeps(const yk_stability_mode *mode)
{
    return mode->imaginary == 0 && mode->real > 0 && mode->growth < 1.05;
}

/* Energies tell nothing where a subsystem does not name them, or where a pump or a controller feeds what the coupling makes
 * swing, or where the scheme closes its interfaces. Then a mode that swings faster than the scheme resolves is the coupling's. */
static bool swings(const study *s, const yk_stability_mode *mode)
{
    double resolved = yk_scheme_resolved_turn(s->info->scheme.kind) * acos(-1);
    return isnan(mode->fed) && atan2(mode->imaginary, mode->real) > resolved;
}

/* A mode that is known well and that the interfaces feed. */
static bool is_fed(const study *s, const yk_stability_mode *mode)
{
    if (!grows(mode) || creeps(mode) || mode->interface < 0 || mode->error > 0.1 * (mode->growth - 1)) return false;
    return swings(s, mode) || (mode->fed >= BLAME && mode->created > RESOLVED);
}

/* What the run itself shows. Deviations of contacts and impacts grow in ways that no derivative foretells, and a base that
 * moves changes the map; where both disagree, the run is right. */
static bool is_confirmed(const yk_stability_report *r)
{
    return isnan(r->tracked) || fabs(r->tracked - r->radius) <= 0.3 * fabs(r->radius - 1) + fmin(3 * r->error, 0.01);
}

/* Growth of the model is worth a word if it doubles a deviation within the run. */
static bool is_notable(const study *s, double growth)
{
    return log(growth) * (double)s->info->steps > log(2);
}

static void judge(study *s)
{
    yk_stability_report *r = s->report;
    bool confirmed = is_confirmed(r), coupled = s->info->interface_count > 0 && r->modes[0].interface >= 0;
    bool blamed = coupled && !creeps(&r->modes[0]) && r->tracked > 1 + LEAST_GROWTH && r->created > CREATED;
    double growth = confirmed ? r->radius : r->tracked;
    r->coupling = fmin(1, growth);
    if (blamed && (!confirmed || grows(&r->modes[0]))) r->coupling = growth;
    for (int i = 0; confirmed && i < r->mode_count; i++)
        if (is_fed(s, &r->modes[i])) r->coupling = fmax(r->coupling, r->modes[i].growth);
    r->verdict = YK_VERDICT_STABLE;
    if (r->coupling > 1)
        r->verdict = YK_VERDICT_COUPLING;
    else if ((confirmed ? grows(&r->modes[0]) : growth > 1) && is_notable(s, fmin(r->radius, growth)))
        r->verdict = YK_VERDICT_MODEL;
}

static yk_status track(study *s)
{
    const yk_eigenpair *first = &s->spectrum.pairs[0];
    yk_track found;
    yk_status status = yk_stability_track(&s->map, s->info, s->spectrum.amplitude, first->vector[0], first->vector[1],
                                          s->def->track, &found);
    /* Steps that do not repeat exactly show as growth without measure. */
    if (found.growth > 2 * fmax(1, s->report->radius)) found.growth = found.created = NAN;
    s->report->tracked = found.growth, s->report->created = found.created;
    return status;
}

static yk_status investigate(study *s)
{
    yk_stability_report *r = s->report;
    yk_status status = settle(s);
    if (status < 0) return status;
    r->words = s->map.n;
    if (s->def->rest) status = find_rest(s);
    if (status == YK_OK) status = yk_spectrum_find(&s->map, s->start, &s->spectrum);
    if (status != YK_OK) return status;
    r->dimension = s->spectrum.dimension;
    r->residual = s->spectrum.pairs[0].residual;
    status = describe(s);
    r->radius = r->modes[0].growth, r->error = r->modes[0].error;
    if (status == YK_OK && s->def->track > 0 && !s->def->rest) status = track(s);
    if (status == YK_OK) judge(s);
    return status;
}

yk_status yk_stability(yk_context *context, yk_scenario *scenario, const yk_stability_def *def,
                       yk_stability_report *report)
{
    *report = (yk_stability_report){.radius = NAN, .error = NAN, .coupling = NAN, .tracked = NAN, .created = NAN};
    study s = {.context = context, .info = yk_scenario_get(scenario), .def = def, .report = report};
    yk_system *system;
    yk_status status = yk_scenario_system(scenario, &system);
    if (status == YK_OK) status = yk_system_start(system);
    if (status >= 0) status = yk_step_map_open(context, system, &s.map);
    if (status == YK_OK) status = investigate(&s);
    report->steps = s.map.steps, report->unconverged = s.map.unconverged;
    yk_step_map_close(&s.map);
    yk_spectrum_release(context, &s.spectrum);
    yk_release(context, s.start);
    if (is_breakdown(status)) {
        report->verdict = YK_VERDICT_FAILED;
        report->time = yk_system_time(system);
        report->radius = report->coupling = INFINITY;
        return YK_OK;
    }
    if (status < 0) return status;
    yk_status restarted = yk_system_start(system);
    return restarted < 0 ? restarted : YK_OK;
}
