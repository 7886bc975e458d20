#include "error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

enum { BAR_WIDTH = 32, ROWS_MAX = 16 };

static bool show_fraction(void *user, double fraction)
{
    if (*(const bool *)user) {
        char bar[BAR_WIDTH + 1];
        for (int i = 0; i < BAR_WIDTH; i++)
            bar[i] = i < fraction * BAR_WIDTH ? '#' : '.';
        bar[BAR_WIDTH] = '\0';
        fprintf(stderr, "\r[%s] %3.0f %%  error bars: runs with smaller steps \033[K", bar,
                100 * fraction);
        fflush(stderr);
    }
    return !was_interrupted();
}

static void print_channel(const yk_channel_error *e)
{
    static const char *const notes[] = {[YK_ACCURACY_REGULAR] = "",
                                        [YK_ACCURACY_ROUNDING] = "rounding",
                                        [YK_ACCURACY_JUMPS] = "jumps",
                                        [YK_ACCURACY_ASSUMED] = "order 1 assumed",
                                        [YK_ACCURACY_IRREGULAR] = "irregular, upper bound",
                                        [YK_ACCURACY_LOST] = "not predictable"};
    char order[16] = "-", relative[16] = "-", mean[16] = "-";
    if (isfinite(e->order))
        snprintf(order, sizeof order, "%.1f", e->order);
    if (!e->exempt)
        snprintf(relative, sizeof relative, "%.2g", 100 * e->relative);
    if (!e->exempt)
        snprintf(mean, sizeof mean, "%.2g", 100 * e->mean);
    printf("  %-34s %10.3g %-7s %9s %9s %6s  %s", e->name, e->largest, e->unit, relative, mean,
           order, notes[e->accuracy]);
    if (e->accuracy == YK_ACCURACY_LOST && isfinite(e->horizon))
        printf(" beyond t = %.4g s", e->horizon);
    printf("\n");
}

/* The worst first; those that do not count last. */
static void print_channels(const yk_error_report *r)
{
    printf("\n  %-34s %10s %-7s %9s %9s %6s\n", "error bar, largest", "", "", "% range", "% mean",
           "order");
    double above = INFINITY;
    int printed = 0, last = -1;
    while (printed < ROWS_MAX && printed < r->count) {
        int next = -1;
        for (int i = 0; i < r->count; i++) {
            double size = r->channels[i].exempt ? -1 : r->channels[i].error;
            bool open = size < above || (size == above && i > last);
            double best = next < 0 ? -2 : r->channels[next].exempt ? -1 : r->channels[next].error;
            if (open && size > best)
                next = i;
        }
        if (next < 0)
            break;
        print_channel(&r->channels[next]);
        above = r->channels[next].exempt ? -1 : r->channels[next].error;
        last = next;
        printed++;
    }
    if (printed < r->count)
        printf("  and %d more, in the record\n", r->count - printed);
}

yk_status estimate_error(const error_request *q, yk_recorder *recorder)
{
    yk_context *context = q->loaded->context;
    bool visible = !q->quiet && isatty(STDERR_FILENO);
    if (!q->quiet)
        printf("\n  error bars: the same with 1/2 and 1/4 of the step, about %d times the work of "
               "the run (%.2g s)\n",
               YK_ERROR_WORK, YK_ERROR_WORK * q->seconds);
    fflush(stdout);

    yk_error_def def = {.scenario = scenario_def(q->path, q->sets),
                        .loaded = q->loaded->scenario,
                        .record = q->record,
                        .progress = show_fraction,
                        .user = &visible};
    yk_error_report *report = NULL;
    yk_status status = yk_error_estimate(context, &def, &report);
    if (visible)
        fprintf(stderr, "\r\033[K");
    if (status != YK_OK)
        fprintf(stderr, "yoke: %s\n", yk_last_message(context));

    if (recorder) {
        yk_status written = yk_error_record(context, q->record, report, recorder);
        if (written < 0)
            status = written;
    }
    if (report && !q->quiet) {
        if (report->known)
            print_channels(report);
        printf("\n  error: %s\n", report->text);
        const yk_scenario_info *info = yk_scenario_get(q->loaded->scenario);
        for (int i = 0; i < info->subsystem_count; i++) {
            double residual;
            if (yk_run_contact_residual(q->loaded->scenario, i, &residual))
                printf(
                    "  contacts of '%s': missed their conditions by %.3g m/s in the worst step\n",
                    info->names[i], residual);
        }
    }
    yk_error_report_destroy(context, report);
    return status;
}
