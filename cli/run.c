/* yoke run: a scenario from start to end, with a progress bar, a summary that says whether to
 * trust it, and on request error bars. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli.h"
#include "live.h"
#include "mpi.h"
#include "record/checkpoint.h"
#include "summary.h"

/* The options of the command line. */
typedef struct request {
    const char *path;
    option_list sets, files;
    const char *command;
    bool quiet, verbose, json, error;
    bool no_verdict, no_remedies;
    int seeds;              /* realizations of the random numbers; 0: the run alone */
    double error_tolerance; /* estimated error above which a run is not trustworthy */
    double pace;            /* simulated time per wall time; 0: as fast as possible */
    bool visible;           /* a progress bar is shown */
    int frames;             /* negative: as the scenario says */
    const char *checkpoint; /* NULL: none */
    const yk_checkpoint *resume;
    const yk_scenario_def *source; /* on which remedies are tried; NULL: they are not */
    double deadline;               /* s, for answers of other ranks */
    live_view *live;
} request;

static bool show_progress(void *user, const yk_run_progress *p)
{
    const request *q = user;
    if (q->live)
        live_progress(q->live, p);
    if (q->visible) {
        double fraction = 1;
        double left = 0;
        if (p->step_count > 0)
            fraction = (double)p->step / (double)p->step_count;
        if (fraction > 0)
            left = p->wall_time * (1 - fraction) / fraction;

        /* Results are made of their journals after the last step, which may take long as well. */
        show_bar(fraction);
        if (p->stage)
            fprintf(stderr, "%.60s \033[K", p->stage);
        else if (p->step < p->step_count)
            fprintf(stderr, "t = %-10.5g s  %.0f s left \033[K", p->time, left);
        else if (q->files.count > 0)
            fprintf(stderr, "writing the results \033[K");
        else
            fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }

    return !was_interrupted();
}

/* Parameters that were changed from the page of the live view. */
static const char *note_changes(void *user)
{
    const request *q = user;
    return q->live ? live_changes(q->live) : NULL;
}

/* Progress before the run begins, such as particles that settle. */
static void show_loading(void *user, const char *message)
{
    const request *q = user;
    if (q->live)
        live_loading(q->live, message);
    if (!q->quiet && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r");
        print_err("%s ", message);
        fprintf(stderr, "\033[K");
        fflush(stderr);
    }
}

static void show_settling(void *user, const yk_settling *settling)
{
    const request *q = user;
    live_settling(q->live, settling);
}

/* Error bars ----------------------------------------------------------------------------------- */

static bool show_fraction(void *user, double fraction)
{
    const request *q = user;
    if (q->visible) {
        show_bar(fraction);
        fprintf(stderr, "error bars: %s \033[K",
                q->seeds > 0 ? "runs with other random numbers" : "runs with smaller steps");
        fflush(stderr);
    }
    return !was_interrupted();
}

/* Order of the table: the worst first; those that do not count last. */
static double rank_of(const yk_channel_error *e)
{
    if (e->excluded)
        return -1;
    return e->error;
}

/* Recorders of all files that are asked for. */
static yk_status open_results(yk_context *context, const option_list *files,
                              yk_recorder **recorders)
{
    for (int i = 0; i < files->count; i++) {
        for (int k = 0; k < i; k++)
            if (strcmp(files->items[k], files->items[i]) == 0)
                return yk_fail(context, YK_ERROR_ARGUMENT,
                               "the results would go twice to '%s'; remove one -o",
                               files->items[i]);

        yk_file_recorder_def def = yk_file_recorder_default();
        def.path = files->items[i];
        yk_status status = yk_file_recorder_create(context, &def, &recorders[i]);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* The results files, a line each, as they are found from the checkpoint: a run may be resumed from
 * another folder. */
static yk_text name_results(yk_context *context, const option_list *files, const char *checkpoint)
{
    yk_text names = {0};
    for (int i = 0; checkpoint && i < files->count; i++) {
        char *relative = yk_path_relative(context, files->items[i], checkpoint);
        yk_text_add(context, &names, "%s\n", relative ? relative : "");
        names.failed = names.failed || !relative;
        yk_free(context, relative);
    }

    return names;
}

static void close_results(const option_list *files, yk_recorder **recorders)
{
    for (int i = 0; i < files->count; i++)
        yk_recorder_destroy(recorders[i]);
}

/* Repeats the run with smaller steps, writes its files again with the bars, prints a table, and
 * judges the run by them. The record is incomplete if the files cannot be written. */
static yk_status estimate_error(const loaded *l, request *q, const yk_record *record,
                                yk_run_report *run_report)
{
    enum { ROWS_MAX = 16 };
    static const char *const notes[] = {
        [YK_ACCURACY_MEASURED_ORDER] = "",
        [YK_ACCURACY_ROUNDING] = "rounding",
        [YK_ACCURACY_DISCONTINUOUS] = "jumps",
        [YK_ACCURACY_ASSUMED_ORDER] = "order 1 assumed",
        [YK_ACCURACY_UPPER_BOUND] = "irregular, upper bound",
        [YK_ACCURACY_UNPREDICTABLE] = "not predictable",
    };

    /* It takes several times as long as the run: said before it begins. */
    if (!q->quiet)
        print_out(
            "\nestimating errors with 1/2 and 1/4 of the step, about %d times the work of the run "
            "(%.2g s)\n",
            YK_ACCURACY_COST, YK_ACCURACY_COST * run_report->wall_time);
    fflush(stdout);

    /* The scenario again, with finer steps. */
    yk_accuracy_options def = {
        .scenario = scenario_def(q->path, &q->sets),
        .loaded_scenario = l->scenario,
        .record = record,
        .progress = show_fraction,
        .user = q,
    };

    yk_accuracy_report *report = NULL;
    yk_status status = yk_estimate_accuracy(l->context, &def, &report);
    if (q->visible)
        clear_progress();

    /* The files of the run give way to those with bars, which are complete before they take their
     * places. */
    const option_list *files = &q->files;
    if (report && files->count > 0) {
        yk_recorder *recorders[OPTION_LIST_MAX] = {NULL};
        yk_recorder *tee = NULL;
        yk_status written = open_results(l->context, files, recorders);
        if (written == YK_OK)
            written = yk_tee_recorder_create(l->context, recorders, files->count, &tee);
        if (written == YK_OK)
            written = yk_accuracy_report_write(l->context, record, report, tee);
        yk_recorder_destroy(tee);
        close_results(files, recorders);

        run_report->record_is_complete = written == YK_OK;
        if (written != YK_OK)
            status = written;
    }

    if (report)
        yk_accuracy_judge(l->scenario, record, report, q->error_tolerance, run_report);
    if (!report || q->quiet) {
        yk_accuracy_report_destroy(l->context, report);
        return status;
    }

    /* The consequence for each channel: the worst first, as many as can be read, sorted by looking
     * for the next each time. */
    int shown = report->is_bounded ? report->channel_count : 0;
    if (shown > ROWS_MAX)
        shown = ROWS_MAX;
    if (report->is_bounded)
        print_styled(stdout, STYLE_DIM, "\n  %-34s %18s %10s %19s %6s\n", "channel",
                     "max error bar", "% of range", "% of mean deviation", "order");

    double above = INFINITY;
    int last = -1;
    for (int row = 0; row < shown; row++) {
        /* The next below the last that was printed; of equal ones in their order. */
        int next = -1;
        for (int i = 0; i < report->channel_count; i++) {
            double rank = rank_of(&report->channels[i]);
            bool open = rank < above || (rank == above && i > last);
            if (open && (next < 0 || rank > rank_of(&report->channels[next])))
                next = i;
        }
        if (next < 0) {
            shown = row;
            break;
        }

        /* Errors that are unknown or irrelevant have no number. */
        const yk_channel_error *e = &report->channels[next];
        char order[16] = "-";
        char relative[16] = "-";
        char mean[16] = "-";
        if (isfinite(e->order))
            snprintf(order, sizeof order, "%.1f", e->order);
        if (!e->excluded) {
            snprintf(relative, sizeof relative, "%.2g", 100 * e->relative_to_range);
            snprintf(mean, sizeof mean, "%.2g", 100 * e->relative_mean);
        }

        print_out("  %-34s %10.3g %-7s %10s %19s %6s  %s", e->name, e->max_error, e->unit, relative,
                  mean, order, notes[e->accuracy]);
        if (e->accuracy == YK_ACCURACY_UNPREDICTABLE && isfinite(e->predictable_until))
            print_out(" beyond t = %.4g s", e->predictable_until);
        print_out("\n");

        above = rank_of(e);
        last = next;
    }

    if (report->is_bounded && shown < report->channel_count)
        print_out("  and %d more, in the record\n", report->channel_count - shown);
    print_out("\n  error: %s\n", report->summary);

    /* Statistics of contacts. */
    const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
    for (int i = 0; i < info->subsystem_count; i++) {
        double residual;
        if (yk_run_max_contact_residual(l->scenario, (yk_subsystem_id){i}, &residual))
            print_out("  contacts of '%s': max residual %.3g m/s\n", info->subsystem_names[i],
                      residual);
    }

    yk_accuracy_report_destroy(l->context, report);
    return status;
}

/* The run -------------------------------------------------------------------------------------- */

/* Runs and records, with error bars where they are asked for. Prints all but what went wrong. */
static yk_status run_and_record(const loaded *l, request *q, yk_run_report *report)
{
    const option_list *files = &q->files;
    *report = (yk_run_report){.record_is_complete = true};

    yk_recorder *recorders[OPTION_LIST_MAX] = {NULL};
    yk_recorder *tee = NULL;
    yk_record *kept = NULL;
    yk_status status = open_results(l->context, files, recorders);

    /* Error bars are found from what is kept in memory. */
    if (status == YK_OK && q->error)
        status = yk_record_create(l->context, &kept);

    if (status == YK_OK) {
        const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
        if (!q->quiet) {
            print_headline(info);
            ranks_print(info);
        }

        /* From here on an interrupt ends the run after its step, with its record closed. */
        catch_interrupts();
        yk_run_options def = {
            .frame_count = q->frames >= 0 ? q->frames : info->frame_count,
            .max_contacts_per_frame = info->max_contacts_per_frame,
            .command = q->command,
            .progress = show_progress,
            .user = q,
            .checkpoint_path = q->checkpoint,
            .checkpoint_unit = info->checkpoint_unit,
            .checkpoint_interval = info->checkpoint_interval,
            .resume_from = q->resume,
            .remedy_scenario = q->no_remedies ? NULL : q->source,
            .verdict_scenario = q->error || q->no_verdict ? NULL : q->source,
            .error_tolerance = q->error_tolerance,
            .pace = q->pace,
            .changes = note_changes,
        };

        yk_text names = name_results(l->context, files, q->checkpoint);
        def.note = names.data;

        /* One recorder for all who listen: the live view, the memory, the files. */
        yk_recorder *list[OPTION_LIST_MAX + 2];
        int count = 0;
        if (q->live)
            list[count++] =
                live_recorder(q->live, (double)info->step_count / info->record_interval);
        if (kept)
            list[count++] = yk_record_recorder(kept);
        for (int i = 0; i < files->count; i++)
            list[count++] = recorders[i];
        if (count > 0)
            status = yk_tee_recorder_create(l->context, list, count, &tee);
        def.recorder = tee;

        if (status == YK_OK && names.failed)
            status = YK_ERROR_MEMORY;
        yk_system *system = NULL;
        if (status == YK_OK && q->live)
            status = yk_scenario_system(l->scenario, &system);
        if (status == YK_OK && q->live)
            status = live_attach(q->live, info, system, q->pace > 0);
        if (status == YK_OK)
            status = yk_run(l->context, l->scenario, &def, report);
        yk_text_destroy(l->context, &names);

        if (q->visible)
            clear_progress();
        bool begun = report->wall_time > 0;
        if (begun && !q->quiet && !kept)
            print_summary(l, report, q->verbose);
    }

    yk_recorder_destroy(tee);
    close_results(files, recorders);

    /* Error bars need a run that came to its end; its files, closed by now, may give way. */
    bool complete = status == YK_OK || status == YK_NOT_CONVERGED;
    if (kept && complete) {
        yk_status estimated = estimate_error(l, q, kept, report);
        if (estimated != YK_OK)
            status = estimated;
    }

    /* The verdict includes the error bars. */
    if (kept && report->wall_time > 0 && !q->quiet)
        print_summary(l, report, q->verbose);

    yk_record_destroy(kept);
    return status;
}

/* The name of a results file's journal; whether it is there. */
static bool find_journal(const char *file, char *part, size_t size)
{
    int length = snprintf(part, size, "%s.part", file);
    return length < (int)size && access(part, F_OK) == 0;
}

/* Repeats the run with other random numbers, and prints its statistics with error bars. */
static yk_status repeat_with_seeds(const loaded *l, request *q)
{
    enum { ROWS_MAX = 24 };
    yk_seed_options def = {
        .scenario = scenario_def(q->path, &q->sets),
        .run_count = q->seeds,
        .progress = show_fraction,
        .user = q,
    };
    yk_seed_report *report = NULL;
    yk_status status = yk_run_seeds(l->context, &def, &report);
    if (q->visible)
        clear_progress();
    if (status != YK_OK)
        return status;

    if (!report->is_random) {
        print_err("yoke: --seeds: all %d runs are equal, since the scenario has no random numbers "
                  "(particles, emitters or noise with a seed)\n",
                  q->seeds);
    } else if (!q->quiet) {
        print_out("\n%d realizations of the random numbers, means with 95 %% confidence:\n\n",
                  report->run_count);
        print_styled(stdout, STYLE_DIM, "  %-34s %12s %10s %12s %10s\n", "channel", "mean", "+-",
                     "rms", "+-");
        for (int i = 0; i < report->statistic_count && i < ROWS_MAX; i++) {
            const yk_seed_statistic *s = &report->statistics[i];
            print_out("  %-34s %12.4g %10.2g %12.4g %10.2g  %s\n", s->name, s->mean.mean,
                      s->mean.error, s->rms.mean, s->rms.error, s->unit);
        }
        if (report->statistic_count > ROWS_MAX)
            print_out("  ... %d more\n", report->statistic_count - ROWS_MAX);
        print_out("  %-34s %12.4g %10.2g %12s %10s  J\n", "dissipated energy",
                  report->dissipated_energy.mean, report->dissipated_energy.error, "", "");
        if (report->untrusted_count > 0)
            print_out("  %d of these runs have a serious finding\n", report->untrusted_count);
    }

    yk_seed_report_destroy(report);
    return YK_OK;
}

/* Runs what was loaded and asked for. */
static int run_loaded(const loaded *l, request *q)
{
    /* A system that cannot be made is a mistake of the scenario. */
    yk_system *system;
    if (yk_scenario_system(l->scenario, &system) != YK_OK) {
        print_failure_of(q->path, l->context);
        return EXIT_MISUSE;
    }

    const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
    const option_list *files = &q->files;
    static yk_run_report report; /* too large for a small stack */
    q->visible = !q->quiet && isatty(STDERR_FILENO);
    yk_status status = run_and_record(l, q, &report);
    bool complete = status == YK_OK || status == YK_NOT_CONVERGED;
    if (complete && q->seeds > 0) {
        yk_status repeated = repeat_with_seeds(l, q);
        if (repeated != YK_OK)
            status = repeated;
    }
    if (q->json)
        write_run_json(l, &report, status, files);
    else if (!q->quiet && report.step_count > 0)
        print_results(files, &report);

    /* A run that came to its end may still not be one to trust; a quiet one says at least so. */
    if (status == YK_OK || status == YK_NOT_CONVERGED) {
        if (!has_serious_finding(&report))
            return EXIT_GOOD;

        if (q->quiet && !q->json)
            print_warnings("not trustworthy", info, report.findings, 1);
        return EXIT_UNTRUSTED;
    }

    /* Why not, and who may help. */
    int code = print_refusal(l->context, NULL, status);
    bool numerical = status == YK_ERROR_DIVERGED || status == YK_ERROR_NOT_FINITE;
    if (numerical && info->interface_count > 0)
        print_err("yoke: `yoke advise %s` looks for a scheme and a step\n", q->path);
    if (report.can_resume)
        print_err("yoke: resume with `yoke resume %s`\n", q->checkpoint);

    /* The journal of a recorder that could not end. */
    bool begun = report.wall_time > 0;
    for (int i = 0; begun && !report.record_is_complete && i < files->count; i++) {
        char part[4096];
        if (find_journal(files->items[i], part, sizeof part))
            print_err("yoke: the journal '%s' has all samples up to the stop; convert it with "
                      "`yoke recover %s`\n",
                      part, part);
    }
    return code;
}

/* Loads a scenario, on several ranks twice where costs decide which of them has what. */
static bool load_to_run(const yk_scenario_def *def, loaded *l)
{
    if (!load_scenario_def(def, LOAD_TO_RUN, l))
        return false;
    if (!ranks_measure(l))
        return true;

    close_scenario(l);
    return load_scenario_def(def, LOAD_AGAIN, l);
}

/* Whether a checkpoint is of the run that was asked for: the same scenario with its overrides, and
 * the same results files. */
static bool is_checkpoint_of(const loaded *l, const request *q, const yk_checkpoint_info *info)
{
    char *scenario = yk_scenario_resolved_text(l->scenario);
    yk_text names = name_results(l->context, &q->files, q->checkpoint);
    bool same = scenario && !names.failed && strcmp(info->scenario_text, scenario) == 0 &&
                strcmp(info->note, names.data ? names.data : "") == 0;
    yk_text_destroy(l->context, &names);
    yk_free(l->context, scenario);
    return same;
}

/* For --resume-or-start: prepares to continue from the checkpoint of this run, if there is one.
 * Nothing else is taken for it, and nothing is overwritten. Returns the exit code. */
static int find_own_checkpoint(const loaded *l, request *q, yk_checkpoint **checkpoint)
{
    if (!q->checkpoint) {
        print_err(
            "yoke: --resume-or-start needs checkpoints: add `checkpoint: {every: 10 min wall}` "
            "to the scenario, and remove --error-bars and --live\n");
        return EXIT_MISUSE;
    }

    if (!yk_checkpoint_exists(l->context, q->checkpoint))
        return EXIT_GOOD;
    if (yk_checkpoint_load(l->context, q->checkpoint, checkpoint) != YK_OK)
        return print_failure(l->context);

    const yk_checkpoint_info *info = yk_checkpoint_get_info(*checkpoint);
    if (!is_checkpoint_of(l, q, info)) {
        print_err("yoke: '%s' is the checkpoint of another run, '%s': its scenario, overrides or "
                  "results files differ. Finish that run with `yoke resume`, or choose other names "
                  "(-o)\n",
                  q->checkpoint, info->command);
        return EXIT_FAILED;
    }

    q->resume = *checkpoint;
    q->command = info->command;
    q->frames = info->frame_count;
    if (!q->quiet)
        print_out("resumed at t = %g s, step %lld of %lld\n", info->time, (long long)info->step,
                  (long long)yk_scenario_get_info(l->scenario)->step_count);
    return EXIT_GOOD;
}

static const char run_usage[] = "run SCENARIO [OPTIONS]\n\n"
                                "Run a scenario and write the results to HDF5 or CSV.";

int command_run(int argc, char **argv)
{
    request q = {.frames = -1, .deadline = RANKS_DEADLINE, .error_tolerance = 0.1};
    bool no_output = false, live = false, resume_or_start = false;
    int port = 0;
    const option_row rows[] = {
        SET_ROW(&q.sets),
        {"output", OPTION_LIST, &q.files, "FILE",
         "Write results to FILE, whose ending selects the format; may be repeated (default: "
         "record.file, or "
         "results.h5)"},
        {"frames", OPTION_COUNT, &q.frames, "N",
         "Record N frames for the 3D view of `yoke report` (0 to disable; default: "
         "record.frames)"},
        {"no-output", OPTION_FLAG, &no_output, NULL, "Do not record anything"},
        {"resume-or-start", OPTION_FLAG, &resume_or_start, NULL,
         "Continue this run if it has a checkpoint, and start it otherwise; for jobs that are "
         "restarted"},
        {"error-bars", OPTION_FLAG, &q.error, NULL,
         "Repeat the run with 1/2 and 1/4 of the step and add error bars (about 6 times the work)"},
        {"seeds", OPTION_COUNT, &q.seeds, "N",
         "Repeat the run with N realizations of its random numbers, and print means, rms and "
         "dissipated energy with error bars"},
        {"no-verdict", OPTION_FLAG, &q.no_verdict, NULL,
         "Do not repeat the run with other steps to estimate its error, nor with remedies"},
        {"no-remedies", OPTION_FLAG, &q.no_remedies, NULL,
         "Do not try the remedies of a run that is not trustworthy"},
        {"error-tolerance", OPTION_NUMBER, &q.error_tolerance, "X",
         "Largest estimated error of a trustworthy run, relative to the range (default: 0.1)"},
        {"pace", OPTION_NUMBER, &q.pace, "X",
         "Advance X simulated seconds per second (1: real time) and report the steps that were too "
         "late; implies --no-verdict"},
        {"live", OPTION_FLAG, &live, NULL, "Show the run in a browser while it is running"},
        {"live-port", OPTION_COUNT, &port, "N",
         "Serve the live view on this port of 127.0.0.1 (default: a free port)"},
        {"timeout", OPTION_NUMBER, &q.deadline, "SECONDS",
         "Under mpirun: wait this long for another rank (default: 60)"},
        JSON_ROW(&q.json),
        {"verbose", OPTION_FLAG, &q.verbose, NULL,
         "Print all tables, also if the run is not trustworthy"},
        {"quiet", OPTION_FLAG, &q.quiet, NULL,
         "Print neither progress nor summary; the exit code still reports trust"},
        RENAMED_ROW("error", "error-bars"),
        RENAMED_ROW("port", "live-port"),
        RENAMED_ROW("deadline", "timeout"),
        {.kind = OPTION_END},
    };

    int parsed = options_parse(run_usage, rows, argc, argv, &q.path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    q.quiet = q.quiet || q.json;
    if (q.seeds == 1 || q.seeds > YK_SEED_RUNS_MAX) {
        print_err("yoke: --seeds %d: error bars need from 2 to %d realizations\n", q.seeds,
                  YK_SEED_RUNS_MAX);
        return EXIT_MISUSE;
    }
    if (!(q.deadline > 0)) {
        print_err("yoke: --timeout %g: give a time above 0 s\n", q.deadline);
        return EXIT_MISUSE;
    }

    if (!(q.pace >= 0) || isinf(q.pace)) {
        print_err("yoke: --pace %g: give simulated seconds per second, such as 1 for real time\n",
                  q.pace);
        return EXIT_MISUSE;
    }

    /* Companion runs would use the time of the steps. */
    q.no_verdict = q.no_verdict || q.pace > 0;
    if (!(q.error_tolerance > 0)) {
        print_err("yoke: --error-tolerance %g: give a number above 0\n", q.error_tolerance);
        return EXIT_MISUSE;
    }

    /* Other ranks have some of the subsystems, and nothing else to do. */
    yk_scenario_def def = scenario_def(q.path, &q.sets);
    if (ranks_own() > 0)
        return ranks_serve(&def);
    def.placement = ranks_hosts(q.deadline);

    if (port > 65535) {
        print_err("yoke: --live-port %d: there are ports up to 65535\n", port);
        return EXIT_MISUSE;
    }
    if (live && !(q.live = live_open(port)))
        return EXIT_FAILED;

    /* Preparations that take long, such as settled particles, are kept for trials of remedies; a live
     * view ends with the run. */
    yk_scenario_def source = scenario_def(q.path, &q.sets);
    source.cache = yk_cache_create();
    if (!live)
        q.source = &source;
    q.no_remedies = q.no_remedies || q.no_verdict;

    watch_loading(show_loading, &q);
    if (live) {
        def.show_settling = show_settling;
        def.show_settling_user = &q;
    }

    loaded l;
    def.cache = source.cache;
    bool good = load_to_run(&def, &l);
    if (!q.quiet)
        clear_progress();
    if (!good) {
        live_close(q.live);
        yk_cache_destroy(source.cache);
        return l.code;
    }

    /* Results files. */
    const char *file = yk_scenario_get_info(l.scenario)->record_file;
    if (no_output)
        q.files.count = 0;
    else if (q.files.count == 0)
        q.files.items[q.files.count++] = file ? file : "results.h5";

    /* Checkpoint files. Error bars keep the record in memory until they are known, and a live
     * view cannot be taken up again. */
    const yk_scenario_info *info = yk_scenario_get_info(l.scenario);
    char beside[4096];
    if (info->checkpoint_unit != YK_CHECKPOINT_NEVER && (q.error || live)) {
        print_err("yoke: warning: no checkpoints are written with --error-bars or --live\n");
    } else if (info->checkpoint_unit != YK_CHECKPOINT_NEVER) {
        const char *results = q.files.count > 0 ? q.files.items[0] : "run";
        snprintf(beside, sizeof beside, "%s.checkpoint", results);
        q.checkpoint = beside;
        if (info->checkpoint_file)
            q.checkpoint = info->checkpoint_file;
    }

    yk_text command = {0};
    join_arguments(l.context, &command, argc, (const char *const *)(uintptr_t)argv);
    q.command = command.data;
    yk_checkpoint *checkpoint = NULL;
    int code = EXIT_GOOD;
    if (resume_or_start)
        code = find_own_checkpoint(&l, &q, &checkpoint);
    if (code == EXIT_GOOD)
        code = run_loaded(&l, &q);

    yk_checkpoint_destroy(checkpoint);
    yk_text_destroy(l.context, &command);
    live_close(q.live);
    close_scenario(&l);
    yk_cache_destroy(source.cache);
    return code;
}

/* yoke resume ---------------------------------------------------------------------------------- */

static const char resume_usage[] =
    "resume CHECKPOINT [OPTIONS]\n"
    "\n"
    "Resume a stopped run from its last checkpoint. The results are identical to "
    "those of an uninterrupted run. Paths of results files are relative to the "
    "checkpoint.";

int command_resume(int argc, char **argv)
{
    request q = {.deadline = RANKS_DEADLINE, .error_tolerance = 0.1};
    bool no_output = false;
    const char *path = NULL;
    const option_row rows[] = {
        {"no-output", OPTION_FLAG, &no_output, NULL,
         "Continue without recording, if the journal is lost"},
        {"timeout", OPTION_NUMBER, &q.deadline, "SECONDS",
         "Under mpirun: wait this long for another rank (default: 60)"},
        {"quiet", OPTION_FLAG, &q.quiet, NULL, "Print neither progress nor summary"},
        RENAMED_ROW("deadline", "timeout"),
        {.kind = OPTION_END},
    };
    int parsed = options_parse(resume_usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    yk_checkpoint *checkpoint = NULL;
    yk_status status = yk_checkpoint_load(context, path, &checkpoint);
    if (status != YK_OK) {
        print_failure(context);
        yk_context_destroy(context);
        return input_code(status);
    }

    /* The scenario and the files as they were. */
    const yk_checkpoint_info *info = yk_checkpoint_get_info(checkpoint);
    yk_scenario_def def = scenario_def(info->scenario_path, &q.sets);
    def.text = info->scenario_text;
    q.path = info->scenario_path;
    q.command = info->command;
    q.frames = info->frame_count;
    q.resume = checkpoint;

    /* The number of ranks may be another than before. */
    if (ranks_own() > 0) {
        int code = ranks_serve(&def);
        yk_checkpoint_destroy(checkpoint);
        yk_context_destroy(context);
        return code;
    }
    def.placement = ranks_hosts(q.deadline);

    /* A run that is resumed from the checkpoint before the last writes the last one again. */
    static const char previous[] = ".previous";
    char own[4096];
    snprintf(own, sizeof own - 16, "%s", path);
    if (ends_in(own, previous))
        own[strlen(own) - strlen(previous)] = '\0';
    q.checkpoint = own;

    /* Paths of results are relative to the checkpoint, not to the current folder. */
    char *names[OPTION_LIST_MAX] = {NULL};
    for (const char *name = info->note; *name && q.files.count < OPTION_LIST_MAX;) {
        char line[4096];
        size_t length = strcspn(name, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, name);
        char *file = yk_path_resolve(context, line, own);
        if (!file)
            break;

        names[q.files.count] = file;
        q.files.items[q.files.count++] = file;
        name += length + (name[length] == '\n');
    }

    /* A run without a record must not change the checkpoint of a run with one. */
    int recorded = q.files.count;
    if (no_output && recorded > 0) {
        q.files.count = 0;
        strcat(own, ".no-output");
        print_err("yoke: nothing is recorded. '%s' and its record are kept as they are\n", path);
    }

    int code = EXIT_MISUSE;
    loaded l;
    if (load_to_run(&def, &l)) {
        if (!q.quiet)
            print_out("resumed at t = %g s, step %lld of %lld\n", info->time, (long long)info->step,
                      (long long)yk_scenario_get_info(l.scenario)->step_count);
        code = run_loaded(&l, &q);
        close_scenario(&l);
    }

    for (int i = 0; i < recorded; i++)
        yk_free(context, names[i]);
    yk_checkpoint_destroy(checkpoint);
    yk_context_destroy(context);
    return code;
}
