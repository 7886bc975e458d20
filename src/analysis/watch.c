#include "analysis/watch.h"

#include <math.h>
#include <stdio.h>

#include "analysis/finding.h"
#include "analysis/limits.h"
#include "math/vec3.h"

/* Energy from the coupling, by what moves, that spoils a run, and that is worth a word. */
static const double CREATED_SERIOUS = 0.1, CREATED_NOTABLE = 0.01;
/* Times the rounding of single energies: sums of many steps. */
static const double NOISE = 1e6;
/* Growth of the largest gap from a quarter to half and from there to the whole run that is a drift; and the gap, by the way
 * of the interface (or in rad), below which it does not matter; gaps of rounding (m, rad) never do. */
static const double DRIFT = 1.7;
static const double NOTABLE_GAP = 1e-5, ROUNDING_GAP = 1e-12;

static const yk_port_value *side(const yk_watch *watch, int i, bool effort)
{
    const yk_interface_def *face = &watch->info->interfaces[i];
    return effort ? yk_system_output(watch->system, face->effort_subsystem, face->effort_port)
                  : yk_system_output(watch->system, face->motion_subsystem, face->motion_port);
}

yk_status yk_watch_open(yk_context *context, yk_system *system, const yk_scenario_info *info, yk_watch *watch)
{
    *watch = (yk_watch){.context = context, .system = system, .info = info};
    if (info->interface_count == 0 || yk_scheme_merges(info->scheme.kind)) return YK_OK;
    watch->interfaces = yk_allocate(context, (size_t)info->interface_count, sizeof *watch->interfaces);
    if (!watch->interfaces) return YK_ERROR_MEMORY;
    watch->count = info->interface_count;
    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < watch->count; i++) {
        watch->interfaces[i].origin = side(watch, i, true)->motion.position;
        status = yk_system_probe(system, i, &watch->interfaces[i].probe);
    }
    return status;
}

void yk_watch_close(yk_watch *watch)
{
    yk_release(watch->context, watch->interfaces);
}

/* At the last steps of a window. */
static void look_closely(yk_watch *watch, int i)
{
    yk_watched *w = &watch->interfaces[i];
    yk_ripple_add(&w->ripple, &side(watch, i, false)->effort, yk_system_time(watch->system));
    if (w->ripple.count == 0)
        w->way = fmax(w->way, yk_v3_norm(yk_v3_sub(side(watch, i, true)->motion.position, w->origin)));
}

void yk_watch_step(yk_watch *watch, int64_t step)
{
    for (int i = 0; i < watch->count; i++) {
        yk_watched *w = &watch->interfaces[i];
        if (yk_ripple_counts(&w->ripple)) look_closely(watch, i);
        if (step == watch->info->steps / 4)
            w->quarter = yk_system_interface_statistics(watch->system, i).largest, w->quarter_way = w->way;
        if (step == watch->info->steps / 2)
            w->half = yk_system_interface_statistics(watch->system, i).largest, w->half_way = w->way;
    }
}

/* Conclusions ------------------------------------------------------------------------------------------------------ */

static yk_finding *add(yk_run_report *report, yk_finding_kind kind, bool serious, int interface, double value)
{
    return yk_finding_add(report, kind, serious, interface, value, " ");
}

typedef struct remedy {
    char text[200];
} remedy;

static remedy remedy_of(const yk_watch *watch)
{
    remedy r;
    snprintf(r.text, sizeof r.text, "use a smaller time.step%s; `yoke stability` and `yoke advise` show what is stable",
             yk_scheme_steadier(&watch->info->scheme));
    return r;
}

static void conclude_ripple(const yk_watch *watch, int i, yk_run_report *report)
{
    const yk_ripple *r = &watch->interfaces[i].ripple;
    if (r->longest < YK_RIPPLE_ALARM) return;
    yk_finding *f = add(report, YK_FINDING_RIPPLE, true, i, r->growth);
    if (f)
        snprintf(
            f->text, sizeof f->text,
            "the effort at interface '%s' swings from step to step, and the swing grew by %.3g per step over %d steps "
            "up to t = %.4g s: the coupling is unstable; %s",
            watch->info->interfaces[i].name, r->growth, r->longest * YK_RIPPLE_WINDOW, r->time, remedy_of(watch).text);
}

static void conclude_energy(const yk_watch *watch, yk_run_report *report)
{
    double created = 0, most = -INFINITY;
    int worst = -1;
    for (int i = 0; i < watch->count; i++) {
        double here = yk_system_interface_statistics(watch->system, i).energy_created;
        created += here;
        if (here > most) most = here, worst = i;
    }
    report->energy_created = watch->count ? created : 0;
    double share = report->largest_energy > 0 ? created / report->largest_energy : 0; /* 0: it failed at once */
    if (!(share > CREATED_NOTABLE) || worst < 0 || created < NOISE * report->rounding) return;
    bool serious = share > CREATED_SERIOUS;
    yk_finding *f = add(report, YK_FINDING_ENERGY, serious, worst, share);
    if (f)
        snprintf(f->text, sizeof f->text,
                 "the coupling created %.3g J, %.3g %% of the energy that moves, most of it at interface '%s'%s; %s",
                 created, 100 * share, watch->info->interfaces[worst].name,
                 serious ? ": the coupling drives the system" : "", remedy_of(watch).text);
}

static void conclude_convergence(const yk_watch *watch, yk_run_report *report)
{
    yk_system_statistics all = yk_system_statistics_get(watch->system);
    if (all.steps_not_converged == 0) return;
    /* By time, not by number: a step cut down to meet an impact is one of many, and covers nearly nothing. */
    double share = all.time_not_converged / (fmax(1, (double)report->steps) * watch->info->step);
    yk_finding *f = add(report, YK_FINDING_NOT_CONVERGED, share > 0.01, -1, share);
    if (!f) return;
    const yk_scheme_def *scheme = &watch->info->scheme;
    bool tight = scheme->kind == YK_SCHEME_TIGHT, relaxed = scheme->kind == YK_SCHEME_RELAXED;
    bool plain = scheme->relaxation == YK_RELAXATION_NONE;
    char whose[96] = "";
    if (relaxed) snprintf(whose, sizeof whose, " in subsystem '%.64s'", watch->info->names[all.worst_not_converged]);
    snprintf(f->text, sizeof f->text,
             "%lld of %lld steps, %.3g %% of the time, did not converge, the first at t = %.4g s%s; use %s%sa smaller "
             "time.step or more coupling.iterations",
             (long long)all.steps_not_converged, (long long)all.steps, 100 * share, all.first_not_converged, whose,
             tight              ? "coupling.relaxation aitken or quasi-newton, "
             : relaxed && plain ? "coupling.relaxation quasi-newton, "
                                : "",
             relaxed ? "a smaller integrator.stabilisation, " : "");
}

/* A gap that grows more than the motion does. */
static bool has_drifted(const double gap[3], const double way[3], double notable)
{
    for (int k = 1; k < 3; k++)
        if (!(gap[k - 1] > 0 && gap[k] > DRIFT * gap[k - 1] * fmax(1, way[k - 1] > 0 ? way[k] / way[k - 1] : 1)))
            return false;
    return gap[2] > notable;
}

static bool looks_at_positions(const yk_scheme_def *scheme)
{
    return scheme->kind != YK_SCHEME_EXPLICIT || (scheme->inputs.modified && scheme->inputs.position > 0);
}

static void conclude_drift(const yk_watch *watch, int i, yk_run_report *report)
{
    const yk_watched *w = &watch->interfaces[i];
    yk_interface_error all = yk_system_interface_statistics(watch->system, i).largest;
    const double way[3] = {w->quarter_way, w->half_way, w->way};
    const double gaps[3] = {w->quarter.position, w->half.position, all.position};
    const double turns[3] = {w->quarter.rotation, w->half.rotation, all.rotation};
    bool position = has_drifted(gaps, way, fmax(NOTABLE_GAP * w->way, ROUNDING_GAP)),
         rotation = has_drifted(turns, way, NOTABLE_GAP);
    if (!position && !rotation) return;
    const double *told = position ? gaps : turns;
    yk_finding *f = add(report, YK_FINDING_DRIFT, false, i, told[2]);
    if (f)
        snprintf(
            f->text, sizeof f->text,
            "the two sides of interface '%s' drift apart: %.3g %s after a quarter of the run, %.3g after half, %.3g at "
            "the end; use %s",
            watch->info->interfaces[i].name, told[0], position ? "m" : "rad", told[1], told[2],
            looks_at_positions(&watch->info->scheme)
                ? "a smaller time.step or coupling.scheme index1"
                : "inputs that look at positions (coupling.inputs index-1 or index-3), or coupling.scheme tight");
}

void yk_watch_conclude(const yk_watch *watch, yk_run_report *report)
{
    report->finding_count = 0;
    for (int i = 0; i < watch->count; i++) conclude_ripple(watch, i, report);
    conclude_energy(watch, report);
    conclude_convergence(watch, report);
    /* What is unstable drifts as well. */
    bool serious = report->finding_count > 0 && report->findings[0].serious;
    for (int i = 0; !serious && i < watch->count; i++) conclude_drift(watch, i, report);
    yk_limits_conclude(watch, report);
}
