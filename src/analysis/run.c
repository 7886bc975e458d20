/* A scenario from start to end: steps, samples, and what is worth knowing afterwards. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"
#include "base/clock.h"
#include "base/text.h"
#include "yoke/analysis.h"

/* The clock is looked at every so many steps where they are short, about once in so many seconds; and how often progress
 * is told. */
enum { CLOCK_STRIDE = 64 };
static const double CLOCK_SECONDS = 1e-3, PROGRESS_SECONDS = 0.1;

typedef struct run {
    yk_context *context;
    yk_scenario *scenario;
    const yk_scenario_info *info;
    yk_system *system;
    const yk_run_def *def;
    yk_run_report *report;
    yk_watch watch;
    double *row;
    double begun, told, looked; /* s on the clock */
    int64_t stride, next_look;  /* steps */
    bool converged;
    char hash[20]; /* of the final state, in words */
} run;

/* Record --------------------------------------------------------------------------------------------------------- */

static yk_status begin_record(run *r)
{
    if (!r->def->recorder) return YK_OK;
    yk_context *context = r->context;
    char *text = yk_scenario_text(r->scenario);
    yk_record_channel *channels = yk_allocate(context, (size_t)r->info->signal_count, sizeof *channels);
    yk_status status = YK_ERROR_MEMORY;
    if (text && channels) {
        for (int i = 0; i < r->info->signal_count; i++)
            channels[i] = (yk_record_channel){.name = r->info->signals[i].name,
                                              .unit = r->info->signals[i].unit,
                                              .components = r->info->signals[i].components,
                                              .labels = yk_scenario_signal_labels(r->scenario, i)};
        yk_record_header header = {.title = r->info->title,
                                   .scenario = text,
                                   .command = r->def->command,
                                   .channels = channels,
                                   .channel_count = r->info->signal_count};
        status = yk_recorder_begin(r->def->recorder, &header);
    }
    yk_release(context, channels);
    yk_release(context, text);
    return status;
}

static yk_status sample(run *r)
{
    if (!r->def->recorder) return YK_OK;
    yk_scenario_sample(r->scenario, r->row);
    return yk_recorder_sample(r->def->recorder, yk_system_time(r->system), r->row);
}

/* The statistics of the run as a growing list. The names are kept until the record has its copies. */
typedef struct summary {
    yk_context *context;
    yk_record_value *values;
    int count, capacity;
    char (*names)[96];
} summary;

static void add_figure(summary *s, const char *owner, const char *what, double value, const char *unit)
{
    if (s->count == s->capacity) return;
    char *name = s->names[s->count];
    snprintf(name, sizeof *s->names, "%s%s%s", owner, *owner ? "." : "", what);
    s->values[s->count++] = (yk_record_value){.name = name, .value = value, .unit = unit};
}

static void add_interface_figures(summary *s, const run *r, int i)
{
    yk_interface_statistics face = yk_system_interface_statistics(r->system, i);
    const char *name = r->info->interfaces[i].name;
    add_figure(s, name, "largest_position_error", face.largest.position, "m");
    add_figure(s, name, "largest_rotation_error", face.largest.rotation, "rad");
    add_figure(s, name, "largest_velocity_error", face.largest.velocity, "m/s");
    add_figure(s, name, "largest_angular_velocity_error", face.largest.angular_velocity, "rad/s");
    add_figure(s, name, "energy_created", face.energy_created, "J");
    if (i < r->watch.count) add_figure(s, name, "mass_ratio", r->watch.interfaces[i].probe.ratio, "");
}

/* What was found wrong, under its own name, with the words as its text. */
static void add_findings(summary *s, const run *r)
{
    static const char *const names[] = {[YK_FINDING_RIPPLE] = "ripple",
                                        [YK_FINDING_ENERGY] = "energy",
                                        [YK_FINDING_NOT_CONVERGED] = "not_converged",
                                        [YK_FINDING_DRIFT] = "drift",
                                        [YK_FINDING_FEEDTHROUGH] = "feedthrough",
                                        [YK_FINDING_MASS_RATIO] = "mass_ratio",
                                        [YK_FINDING_GAP] = "gap",
                                        [YK_FINDING_PASSAGE] = "passage",
                                        [YK_FINDING_FAILED] = "failed"};
    for (int i = 0; i < r->report->finding_count; i++) {
        const yk_finding *f = &r->report->findings[i];
        char name[64];
        snprintf(name, sizeof name, "finding_%d_%s", i + 1, names[f->kind]);
        add_figure(s, "", name, f->value, "");
        s->values[s->count - 1].text = f->text;
    }
}

bool yk_run_contact_residual(yk_scenario *scenario, int subsystem, double *residual)
{
    yk_system *system;
    if (yk_scenario_system(scenario, &system) < 0) return false;
    return yk_watch_channel(system, yk_scenario_get(scenario), subsystem, "largest_residual", residual);
}

static void fill_summary(summary *s, run *r)
{
    yk_system_statistics all = yk_system_statistics_get(r->system);
    add_figure(s, "", "steps", (double)all.steps, "");
    add_figure(s, "", "iterations", (double)all.iterations, "");
    add_figure(s, "", "steps_not_converged", (double)all.steps_not_converged, "");
    add_figure(s, "", "steps_repeated", (double)all.steps_rejected, "");
    add_figure(s, "", "smallest_step", all.smallest_step, "s");
    add_figure(s, "", "largest_step", all.largest_step, "s");
    add_figure(s, "", "wall_time", r->report->seconds, "s");
    add_figure(s, "", "largest_energy", r->report->largest_energy, "J");
    for (int i = 0; i < r->info->subsystem_count; i++) {
        yk_subsystem_statistics part = yk_system_subsystem_statistics(r->system, i);
        add_figure(s, r->info->names[i], "calls", (double)part.calls, "");
        add_figure(s, r->info->names[i], "wall_time", part.seconds, "s");
        double residual;
        if (yk_run_contact_residual(r->scenario, i, &residual))
            add_figure(s, r->info->names[i], "largest_contact_residual", residual, "m/s");
    }
    for (int i = 0; i < r->info->interface_count; i++) add_interface_figures(s, r, i);
    add_findings(s, r);

    /* As text: a double does not hold 64 bits. */
    add_figure(s, "", "state_hash", NAN, "");
    snprintf(r->hash, sizeof r->hash, "%016" PRIx64, r->report->state_hash);
    s->values[s->count - 1].text = r->hash;
}

/* Also after a failure: what was computed until then is kept, and the record says why there is no more. */
static yk_status end_record(run *r, yk_status outcome, const char *failure)
{
    if (!r->def->recorder) return YK_OK;
    yk_context *context = r->context;
    summary s = {.context = context,
                 .capacity = 12 + 3 * r->info->subsystem_count + 6 * r->info->interface_count + YK_FINDINGS_MAX};
    s.values = yk_allocate(context, (size_t)s.capacity, sizeof *s.values);
    s.names = yk_allocate(context, (size_t)s.capacity, sizeof *s.names);
    yk_status status = YK_ERROR_MEMORY;
    if (s.values && s.names) {
        fill_summary(&s, r);
        add_figure(&s, "", "outcome", outcome, "");
        s.values[s.count - 1].text = failure;
        status = yk_recorder_end(r->def->recorder, &(yk_record_summary){s.values, s.count});
    }
    yk_release(context, s.values);
    yk_release(context, s.names);
    return status;
}

/* Stepping ------------------------------------------------------------------------------------------------------- */

/* False: the user wants to stop. */
static bool tell_progress(run *r, int64_t step, bool last)
{
    if (!r->def->progress || (!last && step < r->next_look)) return true;
    double now = yk_clock_seconds();
    r->stride = now - r->looked > CLOCK_SECONDS ? 1 : r->stride < CLOCK_STRIDE ? r->stride + 1 : CLOCK_STRIDE;
    r->looked = now, r->next_look = step + r->stride;
    if (!last && now - r->told < PROGRESS_SECONDS) return true;
    r->told = now;
    yk_run_progress progress = {
        .step = step, .steps = r->info->steps, .time = yk_system_time(r->system), .seconds = now - r->begun};
    return r->def->progress(r->def->user, &progress);
}

static yk_status step_to_end(run *r)
{
    yk_status status = sample(r);
    for (int64_t n = 1; status >= 0 && n <= r->info->steps; n++) {
        status = yk_system_step(r->system, NULL);
        if (status < 0) return status;
        if (status == YK_NOT_CONVERGED) r->converged = false;
        r->report->steps = n;
        yk_watch_step(&r->watch, n);
        bool last = n == r->info->steps;
        if (n % r->info->record_every == 0 || last) status = sample(r);
        if (status >= 0 && !tell_progress(r, n, last) && !last)
            return yk_fail(r->context, YK_INTERRUPTED, "stopped at t = %g s, step %lld of %lld",
                           yk_system_time(r->system), (long long)n, (long long)r->info->steps);
    }
    return status < 0 ? status : YK_OK;
}

yk_status yk_run(yk_context *context, yk_scenario *scenario, const yk_run_def *def, yk_run_report *report)
{
    yk_run_report own;
    run r = {.context = context,
             .scenario = scenario,
             .info = yk_scenario_get(scenario),
             .def = def,
             .report = report ? report : &own,
             .begun = yk_clock_seconds(),
             .watch = {.context = context},
             .converged = true};
    *r.report = (yk_run_report){0};
    yk_status status = yk_scenario_system(scenario, &r.system);
    if (status < 0) return status;
    r.row = yk_allocate(context, (size_t)r.info->sample_size, sizeof *r.row);
    if (!r.row) return YK_ERROR_MEMORY;
    status = yk_system_start(r.system);
    if (status >= 0) status = yk_watch_open(context, r.system, r.info, &r.watch);
    if (status >= 0) status = begin_record(&r);
    if (status >= 0) {
        status = step_to_end(&r);
        r.report->time = yk_system_time(r.system);
        r.report->seconds = yk_clock_seconds() - r.begun;
        yk_status hashed = yk_system_state_hash(r.system, &r.report->state_hash);
        if (status >= 0 && hashed < 0) status = hashed;
        yk_watch_conclude(&r.watch, status, r.report);
        /* The message of a failed step must survive whatever ending the record has to say. */
        char *failure = status == YK_OK ? NULL : yk_text_copy(context, yk_last_message(context));
        yk_status ended = end_record(&r, status, failure);
        r.report->recorded = def->recorder && ended == YK_OK;
        if (status >= 0 && ended < 0)
            status = ended;
        else if (failure)
            yk_fail(context, status, "%s", failure);
        yk_release(context, failure);
    }
    yk_watch_close(&r.watch);
    yk_release(context, r.row);
    return status == YK_OK && !r.converged ? YK_NOT_CONVERGED : status;
}
