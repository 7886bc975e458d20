/* A scenario from start to end: steps, samples, and the findings and statistics at the end. */
#include "analysis/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/finding_rules.h"
#include "analysis/pace.h"
#include "analysis/remedies.h"
#include "analysis/scenario_run.h"
#include "analysis/verdict.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/text.h"
#include "model/scenario.h"
#include "record/checkpoint.h"

/* Reading the clock costs as much as a short macro step. It is read after every step if steps take
 * longer than CLOCK_SECONDS, and only every CLOCK_STRIDE steps if they are short. Progress is
 * reported every PROGRESS_SECONDS. */
enum { CLOCK_STRIDE = 64 };
static const double CLOCK_SECONDS = 1e-3;
static const double PROGRESS_SECONDS = 0.1;

/* Limit of the memory for all frames of a run, before compression. */
static const double FRAMES_BYTES = 256e6;

typedef struct run {
    yk_context *context;
    yk_scenario *scenario;
    const yk_scenario_info *info;
    yk_system *system;
    const yk_run_options *def;
    yk_run_report *report;
    yk_watch watch;
    yk_error_monitor monitor;
    double *row;
    yk_scene scene;
    int64_t frame_stride;                    /* steps between frames; 0: none */
    double begun, last_report, last_reading; /* wall time (s) */
    double cpu_begun;                        /* processor time (s) */
    int64_t stride, next_reading;            /* steps */
    bool converged;
    yk_checkpointer checkpoints; /* has a context if the run writes checkpoints */
    int missed;                  /* consecutive checkpoints that could not be written */
    /* For a run with a fallback scheme: state, checkpoint data and watch before the step. */
    double *kept;
    size_t state_words, memory_words;

    /* Data for the end of the record. */
    yk_record_value *figures;
    char (*figure_names)[96];
    int figure_count, figure_capacity;
} run;

/* Record --------------------------------------------------------------------------------------- */

/* The initial scene, also for a resumed run, if frames are recorded. */
static yk_status open_scene(run *r)
{
    if (!r->def->recorder || r->def->frame_count <= 0)
        return YK_OK;

    yk_status status = yk_scene_open(r->context, r->system, r->info, &r->watch,
                                     r->def->max_contacts_per_frame, &r->scene);
    if (YK_FAILED(status))
        return status;

    /* Interval of frames: as requested, and as memory allows. */
    size_t size = yk_scene_frame_value_count(&r->scene.record);
    double frames = r->def->frame_count;
    if (size > 0)
        frames = fmin(frames, fmax(FRAMES_BYTES / ((double)size * sizeof(float)), 2));
    r->frame_stride = (int64_t)ceil((double)r->info->step_count / frames);
    if (r->frame_stride < 1)
        r->frame_stride = 1;

    return YK_OK;
}

/* Begins the record; continues that of a resumed run. */
static yk_status begin_record(run *r)
{
    if (!r->def->recorder)
        return YK_OK;

    /* The resolved scenario, and its inputs, so that the run can be repeated. */
    const yk_scenario_info *info = r->info;
    char *inputs = NULL;
    if (r->checkpoints.inputs)
        inputs = yk_text_copy(r->context, r->checkpoints.inputs);
    else
        inputs = yk_scenario_inputs(r->scenario);
    char *resolved = yk_scenario_resolved_text(r->scenario);
    yk_text text = {0};
    if (inputs && resolved)
        yk_text_add(r->context, &text, "%s%s", inputs, resolved);
    yk_free(r->context, resolved);
    yk_free(r->context, inputs);

    yk_record_channel *channels =
        yk_allocate(r->context, (size_t)info->channel_count, sizeof *channels);
    yk_status status = YK_ERROR_MEMORY;
    if (text.data && !text.failed && channels) {
        for (int i = 0; i < info->channel_count; i++) {
            channels[i].name = info->channels[i].name;
            channels[i].unit = info->channels[i].unit;
            channels[i].component_count = info->channels[i].component_count;
            channels[i].labels = yk_scenario_channel_labels(r->scenario, i);
        }

        yk_record_header header = {
            .title = info->title,
            .scenario_text = text.data,
            .command = r->def->command,
            .channels = channels,
            .channel_count = info->channel_count,
        };
        if (r->frame_stride > 0)
            header.scene = &r->scene.record;
        if (r->def->resume_from)
            status = yk_recorder_resume(r->def->recorder, &header, &r->checkpoints.position);
        else
            status = yk_recorder_begin(r->def->recorder, &header);
    }

    yk_free(r->context, channels);
    yk_text_destroy(r->context, &text);
    return status;
}

static yk_status sample(run *r)
{
    if (!r->def->recorder)
        return YK_OK;

    yk_scenario_read_sample(r->scenario, r->row);
    yk_status status = yk_system_remote_status(r->system);
    if (status != YK_OK)
        return status;
    return yk_recorder_sample(r->def->recorder, yk_system_time(r->system), r->row);
}

static yk_status record_frame(run *r)
{
    if (r->frame_stride == 0)
        return YK_OK;

    yk_scene_read(&r->scene);
    yk_status status = yk_system_remote_status(r->system);
    if (status != YK_OK)
        return status;
    return yk_recorder_frame(r->def->recorder, yk_system_time(r->system), r->scene.frame);
}

/* The statistics of the run as a list. The names exist until the record has its copies. */
/* Appends a number as "owner.what", or as "what" without an owner. */
static void add_figure(run *r, const char *owner, const char *what, double value, const char *unit)
{
    if (r->figure_count == r->figure_capacity)
        return;

    char *name = r->figure_names[r->figure_count];
    const char *dot = *owner ? "." : "";
    snprintf(name, sizeof *r->figure_names, "%s%s%s", owner, dot, what);
    r->figures[r->figure_count++] = (yk_record_value){.name = name, .value = value, .unit = unit};
}

static void add_text(run *r, const char *what, double value, const char *text)
{
    add_figure(r, "", what, value, "");
    r->figures[r->figure_count - 1].text = text;
}

bool yk_run_max_contact_residual(yk_scenario *scenario, yk_subsystem_id subsystem, double *residual)
{
    yk_system *system;
    if (!scenario || yk_scenario_system(scenario, &system) != YK_OK)
        return false;

    int count = yk_scenario_get_info(scenario)->subsystem_count;
    if (subsystem.index < 0 || subsystem.index >= count) {
        yk_fail(yk_system_context(system), YK_ERROR_ARGUMENT,
                "%s: there is no subsystem %d; the ids are 0 to %d", __func__, subsystem.index,
                count - 1);
        return false;
    }

    return yk_watch_channel(system, yk_scenario_get_info(scenario), subsystem.index,
                            "max_contact_residual", residual);
}

/* Statistics of the system, of its subsystems and of its interfaces, and their scales. */
static void add_statistics(run *r)
{
    /* Of the system ... */
    const yk_scenario_info *info = r->info;
    yk_system_statistics all = yk_system_get_statistics(r->system);
    add_figure(r, "", "step_count", (double)all.steps, "");
    add_figure(r, "", "iteration_count", (double)all.iterations, "");
    add_figure(r, "", "max_iterations", all.max_iterations, "");
    add_figure(r, "", "steps_not_converged", (double)all.steps_not_converged, "");
    add_figure(r, "", "steps_rejected", (double)all.steps_rejected, "");
    add_figure(r, "", "min_step", all.min_step, "s");
    add_figure(r, "", "max_step", all.max_step, "s");
    const yk_error_estimate *estimate = &r->report->estimate;
    if (estimate->available) {
        add_figure(r, "", "estimated_error", estimate->relative_error, "");
        r->figures[r->figure_count - 1].text = estimate->channel;
    }
    if (estimate->by_statistics) {
        add_figure(r, "", "statistics_error", estimate->statistics_error, "");
        add_figure(r, "", "dissipation_error", estimate->dissipation_error, "");
    }
    add_figure(r, "", "wall_time", r->report->wall_time, "s");
    add_figure(r, "", "max_energy", r->report->max_energy, "J");
    add_figure(r, "", "reference_energy", r->report->reference_energy, "J");
    add_figure(r, "", "spurious_energy", r->report->spurious_energy, "");
    add_figure(r, "", "end_time_reached", r->report->time, "s");
    add_figure(r, "", "end_time_requested", info->end, "s");

    /* ... of its subsystems ... */
    for (int i = 0; i < info->subsystem_count; i++) {
        const char *name = info->subsystem_names[i];
        yk_subsystem_statistics part =
            yk_system_subsystem_statistics(r->system, (yk_subsystem_id){i});
        add_figure(r, name, "calls", (double)part.calls, "");
        add_figure(r, name, "wall_time", part.wall_time, "s");
        double residual;
        if (yk_run_max_contact_residual(r->scenario, (yk_subsystem_id){i}, &residual))
            add_figure(r, name, "max_contact_residual", residual, "m/s");
        double unresolved;
        if (yk_watch_channel(r->system, info, i, "unsolved_step_fraction", &unresolved))
            add_figure(r, name, "unsolved_step_fraction", unresolved, "");
        double missed;
        if (yk_watch_channel(r->system, info, i, "unsolved_impulse_fraction", &missed))
            add_figure(r, name, "unsolved_impulse_fraction", missed, "");
    }

    /* ... and of its interfaces: largest gaps, and the energy that they created. */
    for (int i = 0; i < info->interface_count; i++) {
        const char *name = info->interfaces[i].name;
        yk_interface_statistics interface =
            yk_system_interface_statistics(r->system, (yk_interface_id){i});
        add_figure(r, name, "max_gap_position", interface.max_gap.position, "m");
        add_figure(r, name, "max_gap_rotation", interface.max_gap.rotation, "rad");
        add_figure(r, name, "max_gap_velocity", interface.max_gap.velocity, "m/s");
        add_figure(r, name, "max_gap_angular_velocity", interface.max_gap.angular_velocity,
                   "rad/s");
        add_figure(r, name, "energy_created", interface.energy_created, "J");
        if (i >= r->watch.count)
            continue;

        /* Reference values of the limits of the watch: masses, travel, and velocity. */
        const yk_watched *w = &r->watch.interfaces[i];
        double velocity_gap = 0;
        if (w->speed_squares > 0)
            velocity_gap = sqrt(w->gap_squares / w->speed_squares);
        add_figure(r, name, "mass_ratio", w->probe.mass_ratio, "");
        add_figure(r, name, "path_length", w->travel, "m");
        add_figure(r, name, "relative_velocity_gap", velocity_gap, "");
        double open = 0;
        if (interface.impulse > 0)
            open = interface.residual_impulse / interface.impulse;
        add_figure(r, name, "relative_residual_impulse", open, "");
        add_figure(r, name, "step_oscillation", w->ripple.swing, "");

        /* Determine the stable mass ratio by trials if the run will be displayed. */
        double limit;
        bool tried = r->frame_stride > 0 && w->probe.axis >= 0 &&
                     yk_limits_ratio(r->context, r->system, info, i, &limit) == YK_OK;
        if (tried && !isnan(limit))
            add_figure(r, name, "mass_ratio_limit", limit, "");
    }

    for (int i = 0; i < YK_FINDING_COUNT; i++) {
        const yk_finding_rule *rule = yk_finding_rule_of(i);
        char name[64];
        snprintf(name, sizeof name, "%s_serious", rule->name);
        if (!isnan(rule->warning))
            add_figure(r, "threshold", rule->name, rule->warning, "");
        if (!isnan(rule->serious))
            add_figure(r, "threshold", name, rule->serious, "");
    }

    add_figure(r, "threshold", "oscillation_steps", YK_RIPPLE_ALARM * YK_RIPPLE_WINDOW, "");
    add_figure(r, "threshold", "mass_ratio_tested", YK_RATIO_MOST, "");
}

/* The overrides of a remedy, line by line. */
typedef char remedy_text[YK_REMEDY_OVERRIDES_MAX * sizeof(((yk_remedy *)0)->overrides[0])];

/* Also after a failure: the results until then are kept, and the record contains the reason of the
 * end. */
static yk_status end_record(run *r, yk_status outcome, const char *failure)
{
    if (!r->def->recorder)
        return YK_OK;

    /* Upper bound of the number of values. */
    r->figure_capacity = 22 + 2 * YK_FINDING_COUNT + 4 * r->info->subsystem_count +
                         11 * r->info->interface_count + (5 + YK_REMEDIES_MAX) * YK_FINDINGS_MAX;
    size_t capacity = (size_t)r->figure_capacity;
    remedy_text *remedies =
        yk_allocate(r->context, YK_FINDINGS_MAX * YK_REMEDIES_MAX, sizeof *remedies);
    r->figures = yk_allocate(r->context, capacity, sizeof *r->figures);
    r->figure_names = yk_allocate(r->context, capacity, sizeof *r->figure_names);

    /* Statistics, findings with their remedies, and the outcome. */
    yk_status status = YK_ERROR_MEMORY;
    if (r->figures && r->figure_names && remedies) {
        add_statistics(r);

        /* Each finding, with its location. */
        for (int i = 0; i < r->report->finding_count; i++) {
            const yk_finding *f = &r->report->findings[i];
            char name[64];
            snprintf(name, sizeof name, "findings.%d.kind", i + 1);
            add_text(r, name, f->kind, yk_finding_kind_name(f->kind));
            snprintf(name, sizeof name, "findings.%d.value", i + 1);
            add_figure(r, "", name, f->value, "");
            snprintf(name, sizeof name, "findings.%d.message", i + 1);
            add_text(r, name, NAN, f->message);
            snprintf(name, sizeof name, "findings.%d.is_serious", i + 1);
            add_figure(r, "", name, f->severity == YK_FINDING_SEVERITY_SERIOUS, "");
            if (f->interface_index.index >= 0) {
                snprintf(name, sizeof name, "findings.%d.interface", i + 1);
                add_text(r, name, f->interface_index.index,
                         r->info->interfaces[f->interface_index.index].name);
            }

            /* The kind of a remedy, and its overrides line by line. */
            for (int k = 0; k < f->remedy_count; k++) {
                const yk_remedy *remedy = &f->remedies[k];
                char *text = remedies[i * YK_REMEDIES_MAX + k];
                text[0] = '\0';

                for (int n = 0; n < remedy->override_count; n++) {
                    size_t length = strlen(text);
                    const char *separator = n > 0 ? "\n" : "";
                    snprintf(text + length, sizeof(remedy_text) - length, "%s%s", separator,
                             remedy->overrides[n]);
                }

                snprintf(name, sizeof name, "findings.%d.remedy_%d", i + 1, k + 1);
                add_text(r, name, remedy->kind, text);
            }
        }

        /* The hash as text, because a double cannot represent 64 bits. */
        char hash[20];
        snprintf(hash, sizeof hash, "%016" PRIx64, r->report->state_hash);
        add_text(r, "state_hash", NAN, hash);
        add_text(r, "outcome", outcome, failure);
        const char *changes = r->def->changes ? r->def->changes(r->def->user) : NULL;
        if (changes)
            add_text(r, "changes", NAN, changes);
        yk_record_summary summary = {r->figures, r->figure_count};
        status = yk_recorder_end(r->def->recorder, &summary);
    }

    yk_free(r->context, remedies);
    yk_free(r->context, r->figures);
    yk_free(r->context, r->figure_names);
    return status;
}

/* Stepping ------------------------------------------------------------------------------------- */

/* Reports progress at intervals. False: the caller wants to stop. */
static bool report_progress(run *r, int64_t step, bool last)
{
    if (!r->def->progress)
        return true;
    if (!last && step < r->next_reading)
        return true;

    /* Number of steps until the clock is read again. */
    double now = yk_clock_seconds();
    if (now - r->last_reading > CLOCK_SECONDS)
        r->stride = 1;
    else if (r->stride < CLOCK_STRIDE)
        r->stride++;
    r->last_reading = now;
    r->next_reading = step + r->stride;

    if (!last && now - r->last_report < PROGRESS_SECONDS)
        return true;

    r->last_report = now;
    yk_run_progress progress = {
        .step = step,
        .step_count = r->info->step_count,
        .time = yk_system_time(r->system),
        .wall_time = now - r->begun,
    };

    return r->def->progress(r->def->user, &progress);
}

/* Checkpoints ---------------------------------------------------------------------------------- */

/* Prepares checkpoints, and restores the one from which the run is resumed. */
static yk_status open_checkpoints(run *r)
{
    if (!r->def->checkpoint_path && !r->def->resume_from)
        return YK_OK;

    yk_status status = yk_checkpointer_open(r->context, r->def, r->scenario, r->system, &r->watch,
                                            &r->checkpoints);
    if (YK_FAILED(status) || !r->def->resume_from)
        return status;

    status = yk_checkpointer_restore(&r->checkpoints, r->def->resume_from);
    if (YK_FAILED(status))
        return status;

    r->report->step_count = r->checkpoints.last_step;
    r->converged = r->checkpoints.converged;
    r->begun -= r->checkpoints.seconds;

    return YK_OK;
}

static yk_status write_checkpoint(run *r)
{
    double seconds = yk_clock_seconds() - r->begun;
    return yk_checkpointer_write(&r->checkpoints, r->report->step_count, r->converged, seconds);
}

/* Falling back --------------------------------------------------------------------------------- */

static yk_status open_fall_back(run *r)
{
    if (r->info->on_failure.action != YK_ON_FAILURE_FALLBACK)
        return YK_OK;

    r->state_words = yk_system_state_layout(r->system).word_count;
    r->memory_words = yk_system_checkpoint_size(r->system);
    size_t words = r->state_words + r->memory_words + yk_watch_words(&r->watch);
    r->kept = yk_allocate(r->context, words, sizeof *r->kept);
    if (!r->kept)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

/* One macro step and its observation. The system handles failures of a step itself, but an unstable
 * coupling is detected only afterwards: the step is then rolled back and repeated with the fallback
 * scheme, before it is recorded. */
static yk_status make_step(run *r, int64_t number, yk_status *sound)
{
    double *state = r->kept;
    bool may_fall_back = state && !yk_system_get_failures(r->system).used_fallback;
    if (may_fall_back) {
        yk_system_get_state(r->system, state);
        yk_system_get_checkpoint_data(r->system, state + r->state_words);
        yk_watch_save(&r->watch, state + r->state_words + r->memory_words);
    }

    yk_status status = yk_system_step(r->system, NULL);
    if (YK_FAILED(status))
        return status;

    *sound = yk_watch_step(&r->watch, number);
    char reason[256];
    if (!may_fall_back || !yk_watch_runs_away(&r->watch, reason, sizeof reason))
        return status;
    if (yk_system_get_failures(r->system).used_fallback)
        return status;

    status = yk_system_set_state(r->system, state);
    if (YK_FAILED(status))
        return status;

    status = yk_system_set_checkpoint_data(r->system, state + r->state_words);
    if (!YK_FAILED(status))
        status = yk_watch_restore(&r->watch, state + r->state_words + r->memory_words);
    if (!YK_FAILED(status))
        status = yk_system_switch_to_fallback(r->system, reason);
    if (!YK_FAILED(status))
        status = yk_system_step(r->system, NULL);
    if (!YK_FAILED(status))
        *sound = yk_watch_step(&r->watch, number);
    return status;
}

/* The status of a failed step from t on. If an expression of time has no value there, this is the
 * cause, whatever a solver or the energies report: an error in the scenario that no other scheme or
 * step fixes. */
static yk_status explain_failure(const run *r, int64_t number, double t, yk_status status)
{
    bool numerical =
        status == YK_ERROR_DIVERGED || status == YK_ERROR_NOT_FINITE || status == YK_ERROR_SINGULAR;
    char what[1024];
    if (!numerical || !yk_scenario_find_undefined(r->scenario, t, r->info->step, what, sizeof what))
        return status;

    return yk_fail(r->context, YK_ERROR_INPUT, "step %lld of %lld failed: %s", (long long)number,
                   (long long)r->info->step_count, what);
}

/* Runs from sample to sample, reports progress, and writes checkpoints. */
static yk_status step_to_end(run *r)
{
    /* The state at the start is the first sample. */
    int64_t steps = r->info->step_count;
    int64_t first = r->report->step_count + 1;
    yk_status status = YK_OK;
    if (!r->def->resume_from) {
        status = sample(r);
        if (!YK_FAILED(status))
            status = yk_error_monitor_sample(&r->monitor, 0, yk_system_time(r->system), r->row);
        if (!YK_FAILED(status))
            status = record_frame(r);
    }

    yk_pacer pacer = yk_pacer_start(r->def->pace, yk_system_time(r->system), &r->report->pace);
    for (int64_t n = first; !YK_FAILED(status) && n <= steps; n++) {
        yk_pacer_begin_step(&pacer);
        yk_status sound = YK_OK;
        double t = yk_system_time(r->system);
        status = make_step(r, n, &sound);
        if (status == YK_ERROR_ABORTED)
            return yk_fail(r->context, YK_INTERRUPTED,
                           "stopped in the midst of step %lld of %lld, after t = %g s",
                           (long long)n, (long long)steps, yk_system_time(r->system));
        if (YK_FAILED(status))
            return explain_failure(r, n, t, status);
        if (status == YK_NOT_CONVERGED)
            r->converged = false;

        /* The step is made, and recorded. */
        r->report->step_count = n;

        bool last = n == steps;
        if (n % r->info->record_interval == 0 || last)
            status = sample(r);
        if (!YK_FAILED(status))
            status = yk_error_monitor_sample(&r->monitor, n, yk_system_time(r->system), r->row);
        bool shown = r->frame_stride > 0 && (n % r->frame_stride == 0 || last);
        if (!YK_FAILED(status) && shown)
            status = record_frame(r);
        if (YK_FAILED(status))
            break;
        if (YK_FAILED(sound))
            return explain_failure(r, n, t, sound);

        yk_pacer_end_step(&pacer, yk_system_time(r->system));
        yk_pacer_wait(&pacer);

        /* If the caller wants to stop, save everything that is needed to resume. */
        bool stops = !report_progress(r, n, last) && !last;
        yk_status kept = YK_OK;
        if (stops && r->def->checkpoint_path)
            kept = write_checkpoint(r);
        if (kept != YK_OK)
            return kept;
        if (stops)
            return yk_fail(r->context, YK_INTERRUPTED, "stopped at t = %g s, step %lld of %lld",
                           yk_system_time(r->system), (long long)n, (long long)steps);

        /* Write a checkpoint at intervals, by the clock as last read. */
        double clock = r->last_reading;
        bool by_clock =
            r->def->checkpoint_path && r->def->checkpoint_unit == YK_CHECKPOINT_WALL_TIME;
        if (by_clock && !r->def->progress)
            clock = yk_clock_seconds();
        if (last || !r->def->checkpoint_path || !yk_checkpointer_due(&r->checkpoints, n, clock))
            continue;

        /* A checkpoint that cannot be written does not stop the run, because earlier ones exist.
         * The first consecutive failure is reported, then the second, the fourth, and so on. */
        r->missed++;
        if (write_checkpoint(r) == YK_OK)
            r->missed = 0;
        else if ((r->missed & (r->missed - 1)) == 0)
            yk_log(r->context, YK_LOG_WARNING, "no checkpoint at t = %g s, %d in a row: %s",
                   yk_system_time(r->system), r->missed, yk_last_message(r->context));
    }

    if (YK_FAILED(status))
        return status;
    return YK_OK;
}

static yk_status run_with_report(yk_context *context, yk_scenario *scenario,
                                 const yk_run_options *def, yk_run_report *report)
{
    static const yk_run_options nothing_recorded;
    if (!def)
        def = &nothing_recorded;
    run r = {
        .context = context,
        .scenario = scenario,
        .info = yk_scenario_get_info(scenario),
        .def = def,
        .report = report,
        .begun = yk_clock_seconds(),
        .cpu_begun = yk_processor_seconds(),
        .watch = {.context = context},
        .converged = true,
    };

    memset(report, 0, sizeof *report);
    if (!(def->pace >= 0) || isinf(def->pace))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "yk_run: the pace %g must be a number of simulated seconds per second, or 0",
                       def->pace);

    yk_status status = yk_scenario_system(scenario, &r.system);
    if (YK_FAILED(status))
        return status;

    r.row = yk_allocate(context, (size_t)r.info->values_per_sample, sizeof *r.row);
    if (!r.row)
        return YK_ERROR_MEMORY;

    /* From the start to the end, or to a failure; the results until then are reported. */
    status = yk_system_initialize(r.system);
    if (!YK_FAILED(status))
        status = yk_watch_open(context, r.system, r.info, &r.watch);
    if (!YK_FAILED(status))
        status = open_scene(&r);
    if (!YK_FAILED(status))
        status = yk_error_monitor_open(context, scenario, def, &r.monitor);
    if (!YK_FAILED(status))
        status = open_fall_back(&r);
    if (!YK_FAILED(status))
        status = open_checkpoints(&r);
    if (!YK_FAILED(status))
        status = begin_record(&r);
    if (!YK_FAILED(status)) {
        status = step_to_end(&r);
        r.report->time = yk_system_time(r.system);
        r.report->wall_time = yk_clock_seconds() - r.begun;

        /* The outcome of the run. */
        yk_status hashed = yk_system_state_hash(r.system, &r.report->state_hash);
        if (!YK_FAILED(status) && YK_FAILED(hashed))
            status = hashed;
        yk_watch_conclude(&r.watch, status, r.report);

        /* Save the message of a failed step, because trials and the end of the record may overwrite
         * it. */
        char *failure = NULL;
        if (status != YK_OK)
            failure = yk_text_copy(context, yk_last_message(context));

        if (status == YK_OK)
            yk_error_monitor_judge(&r.monitor, def, yk_processor_seconds() - r.cpu_begun,
                                   r.watch.budget.moves, r.report);

        /* Try remedies if a second run of the scenario is possible: a partner in another program
         * may accept one connection only, which this run still holds. */
        yk_finding_kind kind;
        bool numerical = status == YK_ERROR_DIVERGED || status == YK_ERROR_NOT_FINITE;
        bool may_try = def->remedy_scenario && (!YK_FAILED(status) || numerical) &&
                       yk_report_serious(r.report, &kind) && !r.info->partners &&
                       yk_system_first_without_state(r.system).index < 0;
        if (may_try)
            yk_remedies_try(context, r.info, def, r.report);

        /* A run that can be resumed leaves its record open; a finished run needs no checkpoints.
         * The recorder keeps its journal until it is destroyed: as long as there is a checkpoint,
         * there is also the journal to which it refers. */
        yk_status ended = YK_OK;
        bool resumable = r.checkpoints.written;
        if (status == YK_OK || !resumable)
            ended = end_record(&r, status, failure);
        r.report->can_resume = resumable && (status != YK_OK || ended != YK_OK);
        if (status == YK_OK && ended == YK_OK && def->checkpoint_path)
            yk_checkpoint_remove(context, def->checkpoint_path);
        r.report->record_is_complete = def->recorder && ended == YK_OK && !r.report->can_resume;
        if (!YK_FAILED(status) && YK_FAILED(ended))
            status = ended;
        else if (failure)
            yk_fail(context, status, "%s", failure);
        yk_free(context, failure);
    }

    if (r.checkpoints.context)
        yk_checkpointer_close(&r.checkpoints);
    yk_watch_close(&r.watch);
    yk_error_monitor_close(&r.monitor);
    if (r.scene.context)
        yk_scene_close(&r.scene);
    yk_free(context, r.row);
    yk_free(context, r.kept);
    if (status == YK_OK && !r.converged)
        return YK_NOT_CONVERGED;

    return status;
}

yk_status yk_run(yk_context *context, yk_scenario *scenario, const yk_run_options *def,
                 yk_run_report *report)
{
    if (!scenario)
        return yk_refuse_null(context, __func__, "scenario");

    /* Reports are too large for the stack. */
    yk_run_report *own = NULL;
    if (!report)
        report = own = yk_allocate(context, 1, sizeof *own);
    if (!report)
        return YK_ERROR_MEMORY;

    yk_status status = run_with_report(context, scenario, def, report);
    yk_free(context, own);
    return status;
}
