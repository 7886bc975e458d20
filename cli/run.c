/* yoke run: a scenario from start to end, with a progress bar and a summary that tells whether to
 * trust it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "commands.h"
#include "error.h"
#include "progress.h"
#include "scenario.h"
#include "yoke/analysis.h"

/* Progress ------------------------------------------------------------------------------------- */

enum { BAR_WIDTH = 32 };

static bool show_progress(void *user, const yk_run_progress *p)
{
    bool visible = *(bool *)user;
    if (visible) {
        double fraction = p->steps ? (double)p->step / (double)p->steps : 1;
        double left = fraction > 0 ? p->seconds * (1 - fraction) / fraction : 0;
        char bar[BAR_WIDTH + 1];
        for (int i = 0; i < BAR_WIDTH; i++)
            bar[i] = i < fraction * BAR_WIDTH ? '#' : '.';
        bar[BAR_WIDTH] = '\0';
        fprintf(stderr, "\r[%s] %3.0f %%  t = %-10.5g s  %.0f s left \033[K", bar, 100 * fraction,
                p->time, left);
        if (p->step == p->steps)
            fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
    return !was_interrupted();
}

/* Summary -------------------------------------------------------------------------------------- */

static void print_head(const yk_scenario_info *info)
{
    printf("%s\n", *info->title ? info->title : info->path);
    printf("  %lld steps of %g s to t = %g s", (long long)info->steps, info->step, info->end);
    if (info->subsystem_count > 1) {
        char title[80];
        yk_scheme_title(&info->scheme, title, sizeof title);
        printf(", coupling %s", title);
    }
    printf("\n");
}

static void print_steps(const yk_run_report *report, yk_system *system)
{
    yk_system_statistics all = yk_system_statistics_get(system);
    printf("  %lld steps in %.3g s, %.3g us per step", (long long)report->steps, report->seconds,
           report->steps ? 1e6 * report->seconds / (double)report->steps : 0);
    if (all.iterations > all.steps)
        printf("; %.2f iterations per step, at most %d", (double)all.iterations / (double)all.steps,
               all.largest_iterations);
    printf("\n");
    if (all.smallest_step < all.largest_step)
        printf("  %lld macro steps of %.3g to %.3g s; %lld were repeated, %lld taken in spite of "
               "their error\n",
               (long long)all.steps, all.smallest_step, all.largest_step,
               (long long)all.steps_rejected, (long long)all.steps_forced);

    yk_scheme_statistic rows[YK_SCHEME_STATISTICS_MAX];
    int count = yk_system_scheme_statistics(system, rows);
    for (int i = 0; i < count; i++)
        printf("%s%.0f %s", i ? ", " : "  ", rows[i].value, rows[i].text);
    if (count > 0)
        printf("\n");
    printf("  state hash %016" PRIx64 "\n", report->state_hash);
}

/* Times of short steps are taken now and then and made up to the whole, which they may exceed
 * then. */
static void print_time(const char *name, int64_t calls, double own, double all)
{
    double fraction = all > 0 ? fmin(100, 100 * own / all) : 0;
    printf("  %-20s %12lld %12.4g %6.1f %%\n", name, (long long)calls, fmin(own, all), fraction);
}

static bool is_merged(const yk_scenario_info *info)
{
    return info->subsystem_count > 1 && yk_scheme_traits(&info->scheme) & YK_SCHEME_MERGES;
}

static void print_subsystems(const yk_scenario_info *info, yk_system *system, double seconds)
{
    bool merged = is_merged(info);
    printf("\n  %-20s %12s %12s %8s\n", "subsystem", "calls", "time s", "share");
    for (int i = 0; i < (merged ? 1 : info->subsystem_count); i++) {
        yk_subsystem_statistics s = yk_system_subsystem_statistics(system, i);
        print_time(merged ? "(merged)" : info->names[i], s.calls, s.seconds, seconds);
        if (s.model_calls)
            print_time("  interface model", s.model_calls, s.model_seconds, seconds);
    }
}

static bool has_markers(const yk_scenario_info *info)
{
    for (int i = 0; i < info->interface_count; i++) {
        const yk_port *ports;
        yk_subsystem *side = info->subsystems[info->interfaces[i].wrench_subsystem];
        side->ops->ports(side, &ports);
        if (ports[info->interfaces[i].wrench_port].kind == YK_PORT_MARKER)
            return true;
    }
    return false;
}

static void print_interfaces(const yk_scenario_info *info, yk_system *system)
{
    bool rotations = has_markers(info);
    printf("\n  %-20s %14s %14s%s %16s\n", "interface, largest", "gap m", "gap m/s",
           rotations ? "        gap rad      gap rad/s" : "", "energy made J");
    for (int i = 0; i < info->interface_count; i++) {
        yk_interface_statistics s = yk_system_interface_statistics(system, i);
        printf("  %-20s %14.4g %14.4g", info->interfaces[i].name, s.largest.position,
               s.largest.velocity);
        if (rotations)
            printf(" %14.4g %14.4g", s.largest.rotation, s.largest.angular_velocity);
        printf(" %16.4g\n", s.energy_created);
    }
}

/* Where the energy of each subsystem came from. */
static void print_energies(const yk_scenario_info *info, yk_system *system)
{
    printf("\n  %-20s %12s %12s %12s %12s %12s %12s\n", "energy J", "start", "now", "dissipated",
           "fed in", "interfaces", "numerical");
    for (int i = 0; i < info->subsystem_count; i++) {
        yk_energy_balance b = yk_system_balance(system, i);
        yk_energy energy;
        if (!yk_system_energy(system, i, &energy))
            continue;
        printf("  %-20s %12.4g %12.4g %12.4g %12.4g %12.4g %12.4g\n", info->names[i], b.start,
               b.kinetic + b.potential, b.dissipated, b.external, b.interfaces, b.numerical);
    }
}

static bool is_serious(const yk_run_report *report)
{
    for (int i = 0; i < report->finding_count; i++)
        if (report->findings[i].serious)
            return true;
    return false;
}

/* Whether to trust the run, and whatever was noticed. */
static void print_verdict(const char *path, const yk_run_report *report, bool coupled)
{
    if (coupled && report->energy_scale > 0 && isfinite(report->energy_made))
        printf("\n  coupling and integration %s %.3g %% of the energy at the start and fed in "
               "(%.3g J)\n",
               report->energy_made < 0 ? "lost" : "made", 100 * fabs(report->energy_made),
               report->energy_scale);
    bool serious = is_serious(report);
    if (serious)
        printf("\n  DO NOT TRUST this run:\n");
    for (int i = 0; i < report->finding_count; i++) {
        printf("%s  - ", i == 0 && !serious ? "\n" : "");
        print_finding(stdout, path, &report->findings[i]);
        printf("\n");
    }
}

static void print_summary(const loaded *l, const yk_run_report *report)
{
    yk_system *system;
    if (yk_scenario_system(l->scenario, &system) < 0)
        return;
    const yk_scenario_info *info = yk_scenario_get(l->scenario);
    if (report->steps == 0) {
        print_verdict(info->path, report, false);
        return;
    }
    print_steps(report, system);
    print_subsystems(info, system, report->seconds);
    for (int i = 0; i < info->subsystem_count; i++) {
        double residual;
        if (yk_run_contact_residual(l->scenario, i, &residual))
            printf("\n  contacts of '%s': residual at most %.3g m/s\n", info->names[i], residual);
    }
    bool coupled = info->interface_count > 0 && !is_merged(info);
    if (coupled)
        print_interfaces(info, system);
    if (coupled)
        print_energies(info, system);
    print_verdict(info->path, report, coupled);
}

/* Recorders ------------------------------------------------------------------------------------ */

typedef struct outputs {
    int count;
    yk_recorder *files[OPTION_LIST_MAX];
    yk_recorder *tee;
} outputs;

static void close_outputs(outputs *o)
{
    yk_recorder_destroy(o->tee);
    for (int i = 0; i < o->count; i++)
        yk_recorder_destroy(o->files[i]);
}

static yk_status open_outputs(yk_context *context, const option_list *names, outputs *o)
{
    *o = (outputs){0};
    for (int i = 0; i < names->count; i++) {
        for (int k = 0; k < i; k++)
            if (strcmp(names->items[k], names->items[i]) == 0)
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "the results would go twice to '%s'; remove one -o",
                               names->items[i]);
        yk_file_recorder_def def = yk_file_recorder_default();
        def.path = names->items[i];
        yk_status status = yk_file_recorder_create(context, &def, &o->files[i]);
        if (status < 0)
            return status;
        o->count++;
    }
    return yk_tee_recorder_create(context, o->files, o->count, &o->tee);
}

/* What a recorder that could not end has left behind. */
static void print_parts(const option_list *names)
{
    for (int i = 0; i < names->count; i++) {
        char part[4096];
        int length = snprintf(part, sizeof part, "%s.part", names->items[i]);
        if (length < (int)sizeof part && access(part, F_OK) == 0)
            fprintf(stderr, "yoke: what was recorded until then is in '%s'\n", part);
    }
}

/* An argument as a shell takes it. */
static void add_argument(yk_context *context, yk_text *text, const char *argument)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/@%";
    bool quoted = !*argument || argument[strspn(argument, plain)];
    yk_text_add(context, text, quoted ? " '" : " ");
    for (; *argument; argument++)
        yk_text_add(context, text, *argument == '\'' ? "'\\''" : "%c", *argument);
    if (quoted)
        yk_text_add(context, text, "'");
}

/* The command line in one text, for the record. */
static void join_arguments(yk_context *context, yk_text *text, int argc, char **argv)
{
    yk_text_add(context, text, "yoke");
    for (int i = 0; i < argc; i++)
        add_argument(context, text, argv[i]);
}

/* What the command line asks for. */
typedef struct request {
    const char *path;
    option_list sets, files;
    const char *command;
    bool quiet, error;
    int frames; /* negative: as the scenario says */
} request;

static int run_scenario(const loaded *l, const request *q)
{
    const option_list *files = &q->files;
    bool quiet = q->quiet;

    outputs o;
    yk_status status = open_outputs(l->context, files, &o);
    if (status < 0) {
        close_outputs(&o);
        return print_refusal(l->context, NULL, status);
    }
    /* With error bars the files wait until these are known. */
    yk_record *kept = NULL;
    if (q->error)
        status = yk_record_create(l->context, &kept);
    if (status < 0) {
        close_outputs(&o);
        return print_failure(l->context);
    }
    yk_recorder *file = files->count ? o.tee : NULL;
    bool visible = !quiet && isatty(STDERR_FILENO);
    catch_interrupts();
    int frames = yk_scenario_get(l->scenario)->record_frames;
    if (q->frames >= 0)
        frames = q->frames;
    yk_run_def def = {.recorder = kept ? yk_record_recorder(kept) : file,
                      .frames = frames,
                      .command = q->command,
                      .progress = show_progress,
                      .user = &visible};
    yk_run_report report;
    if (!quiet)
        print_head(yk_scenario_get(l->scenario));
    status = yk_run(l->context, l->scenario, &def, &report);
    if (visible)
        fprintf(stderr, "\r\033[K");
    if (!quiet)
        print_summary(l, &report);
    bool complete = status == YK_OK || status == YK_NOT_CONVERGED;
    if (kept && complete) {
        error_request error = {l, q->path, &q->sets, kept, report.seconds, quiet};
        yk_status estimated = estimate_error(&error, file);
        if (estimated < 0)
            status = estimated;
    } else if (kept && file && report.recorded) {
        char *failure = yk_text_copy(l->context, yk_last_message(l->context));
        yk_status written = yk_error_record(l->context, kept, NULL, file);
        report.recorded = written >= 0;
        if (failure)
            yk_fail(l->context, status, "%s", failure);
        yk_release(l->context, failure);
    }
    close_outputs(&o);
    yk_record_destroy(kept);
    if (!quiet && report.steps && files->count && report.recorded) {
        printf("\n  results:");
        for (int i = 0; i < files->count; i++)
            printf(" %s", files->items[i]);
        printf("\n");
    }
    if (status == YK_OK || status == YK_NOT_CONVERGED) {
        if (!is_serious(&report))
            return EXIT_GOOD;
        if (quiet) {
            fprintf(stderr, "yoke: do not trust this run: ");
            print_finding(stderr, q->path, &report.findings[0]);
            fprintf(stderr, "\n");
        }
        return EXIT_UNTRUSTED;
    }
    int code = print_refusal(l->context, NULL, status);
    bool numerical = status == YK_ERROR_DIVERGED || status == YK_ERROR_NOT_FINITE;
    if (numerical && yk_scenario_get(l->scenario)->interface_count > 0)
        fprintf(stderr, "yoke: `yoke advise %s` looks for a scheme and a step\n", q->path);
    if (!report.recorded)
        print_parts(files);
    return code;
}

int command_run(int argc, char **argv)
{
    request q = {.frames = -1};
    bool no_output = false;
    const option_row rows[] = {
        {"set", OPTION_LIST, &q.sets, "PATH=VALUE",
         "override a value: --set coupling.scheme=tight"},
        {"o", OPTION_LIST, &q.files, "FILE",
         "results, .h5 or .csv; may be given several times [record.file, or results.h5]"},
        {"frames", OPTION_COUNT, &q.frames, "N",
         "times that it is recorded where everything is, for `yoke report`; 0: never "
         "[record.frames]"},
        {"no-output", OPTION_FLAG, &no_output, NULL, "record nothing"},
        {"error", OPTION_FLAG, &q.error, NULL,
         "error bars on every recorded channel: the run again with 1/2 and 1/4 of the step, 6 "
         "times its work"},
        {"quiet", OPTION_FLAG, &q.quiet, NULL,
         "no progress bar and no summary; the exit code is 3 if the run is not to be trusted"},
        {.kind = OPTION_END},
    };
    int parsed = options_parse("run SCENARIO [--set PATH=VALUE ...] [-o FILE ...] [--error]", rows,
                               argc, argv, &q.path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    loaded l;
    if (!load_scenario(q.path, &q.sets, &l))
        return EXIT_MISUSE;
    const char *named = yk_scenario_get(l.scenario)->record_file;
    if (!no_output && q.files.count == 0)
        q.files.items[q.files.count++] = named ? named : "results.h5";
    if (no_output)
        q.files.count = 0;
    yk_text command = {0};
    join_arguments(l.context, &command, argc, argv);
    yk_system *system;
    int code;
    if (yk_scenario_system(l.scenario, &system) < 0) {
        fprintf(stderr, "yoke: %s: %s\n", q.path, yk_last_message(l.context));
        code = EXIT_MISUSE;
    } else {
        q.command = command.data;
        code = run_scenario(&l, &q);
    }
    yk_text_destroy(l.context, &command);
    close_scenario(&l);
    return code;
}
