/* yoke reproduce: repeats a recorded run from the contents of its record, and compares it bit by
 * bit. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"
#include "model/scenario.h"
#include "yoke/record.h"

static const char usage[] =
    "reproduce RESULTS [OPTIONS]\n"
    "\n"
    "Run the recorded scenario again and compare every sample and the state hash bit "
    "by bit. The command stops at the first difference and names it. Exit code 0: "
    "identical, 1: different, 2: invalid input.";

/* A recorder that compares its data with a record, and fails at the first difference. */
typedef struct replayer {
    yk_recorder base;
    const yk_record *was;
    const double **columns; /* of all components, in order */
    size_t width, row;
    bool other_channels;
    bool differs;
    int channel, component; /* where; -1: in time */
    double then, now;
} replayer;

static yk_status begin(yk_recorder *recorder, const yk_record_header *header)
{
    replayer *self = (replayer *)recorder;
    const yk_record_header *was = yk_record_get_header(self->was);

    /* Rows can be compared only if their columns have the same meaning. */
    self->other_channels = header->channel_count != was->channel_count;
    for (int i = 0; !self->other_channels && i < was->channel_count; i++)
        self->other_channels =
            strcmp(header->channels[i].name, was->channels[i].name) != 0 ||
            header->channels[i].component_count != was->channels[i].component_count;

    return self->other_channels ? YK_ERROR_INPUT : YK_OK;
}

static yk_status sample(yk_recorder *recorder, double time, const double *row)
{
    replayer *self = (replayer *)recorder;
    size_t at = self->row++;
    if (at >= yk_record_row_count(self->was))
        return YK_OK; /* the record ends before the run */

    /* Bits are compared, not values: NaN equals itself, and -0 differs from 0. */
    self->channel = -1;
    self->then = yk_record_times(self->was)[at];
    self->now = time;
    self->differs = memcmp(&self->then, &time, sizeof time) != 0;
    for (size_t k = 0; k < self->width && !self->differs; k++) {
        if (memcmp(&self->columns[k][at], &row[k], sizeof *row) == 0)
            continue;

        self->differs = true;
        self->then = self->columns[k][at];
        self->now = row[k];

        /* Which component of which channel it is. */
        const yk_record_channel *channels = yk_record_get_header(self->was)->channels;
        int component = (int)k;
        for (self->channel = 0; component >= channels[self->channel].component_count;
             self->channel++)
            component -= channels[self->channel].component_count;
        self->component = component;
    }

    return self->differs ? YK_ERROR_EXTERNAL : YK_OK;
}

static yk_status end(yk_recorder *recorder, const yk_record_summary *summary)
{
    (void)recorder;
    (void)summary;
    return YK_OK;
}

static const yk_recorder_ops replayer_ops = {
    .size = sizeof replayer_ops,
    .kind = "replay",
    .begin = begin,
    .sample = sample,
    .end = end,
};

static const char *find_text(const yk_record *record, const char *name)
{
    const yk_record_summary *summary = yk_record_get_summary(record);
    for (int i = 0; i < summary->count; i++)
        if (strcmp(summary->values[i].name, name) == 0)
            return summary->values[i].text;

    return NULL;
}

/* The result as text; the exit code. */
static int print_outcome(const loaded *l, const replayer *r, yk_status status,
                         const yk_run_report *report, bool quiet)
{
    const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
    if (r->other_channels) {
        print_err("yoke: the scenario of the record records other channels today: the program "
                  "or a file has changed\n");
        return EXIT_FAILED;
    }

    /* The first difference, and its size: the first sample that differs is the most informative. */
    if (r->differs) {
        size_t at = r->row - 1;
        int64_t step = (int64_t)at * info->record_interval;
        const yk_record_header *was = yk_record_get_header(r->was);
        print_out("first difference at step %lld (t = %.9g s, sample %zu of %zu): ",
                  (long long)(step < info->step_count ? step : info->step_count),
                  yk_record_times(r->was)[at], at + 1, yk_record_row_count(r->was));
        if (r->channel < 0)
            print_out("the time");
        else
            print_out("%s%s%s", was->channels[r->channel].name,
                      *was->channels[r->channel].labels[r->component] ? ":" : "",
                      was->channels[r->channel].labels[r->component]);
        print_out(" recorded %.17g, now %.17g\n", r->then, r->now);
        return EXIT_FAILED;
    }

    /* A run that failed may fail again in the same step. */
    if (status != YK_OK && status != YK_NOT_CONVERGED && !find_text(r->was, "outcome"))
        return print_refusal(l->context, NULL, status);

    /* The state behind the last sample, where the run came to its end. */
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, report->state_hash);
    const char *was = find_text(r->was, "state_hash");
    bool ended = yk_record_is_complete(r->was) && r->row == yk_record_row_count(r->was);
    if (ended && was && strcmp(was, hash) != 0) {
        print_out(
            "all %zu samples are identical, but the final state differs: hash %s, recorded %s\n",
            yk_record_row_count(r->was), hash, was);
        return EXIT_FAILED;
    }

    if (!quiet && ended && was)
        print_out("identical: %zu samples, state hash %s\n", yk_record_row_count(r->was), hash);
    else if (!quiet)
        print_out("identical: %zu samples; the record has no final state to compare\n",
                  yk_record_row_count(r->was));

    return EXIT_GOOD;
}

int command_reproduce(int argc, char **argv)
{
    const char *path = NULL;
    bool quiet = false;

    const option_row rows[] = {
        {"quiet", OPTION_FLAG, &quiet, NULL, "Print nothing if the runs are identical"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* The record contains its scenario as it was. */
    yk_record *record = NULL;
    if (yk_record_load(context, path, &record) != YK_OK) {
        print_failure(context);
        yk_context_destroy(context);
        return EXIT_MISUSE;
    }

    /* "# scenario PATH" among the inputs before the scenario: its files are found relative to it. */
    static const char lead[] = "\n# scenario ";
    const yk_record_header *header = yk_record_get_header(record);
    const char *line = strstr(header->scenario_text, lead);
    yk_text file = {0};
    if (strncmp(header->scenario_text, "# version ", 10) == 0 && line) {
        line += strlen(lead);
        yk_text_add(context, &file, "%.*s", (int)strcspn(line, "\n"), line);
    }

    int code = EXIT_MISUSE;
    loaded l;
    bool ready = false;
    const char *changes = find_text(record, "changes");
    if (changes) {
        print_err("yoke: '%s' cannot be reproduced, because parameters were changed in its live "
                  "view: %s\n",
                  path, changes);
    } else if (!file.data) {
        print_err(
            "yoke: '%s' does not hold the scenario of its run: reproduce an HDF5 file of this "
            "version (CSV has the numbers alone)\n",
            path);
    } else {
        yk_scenario_def def = scenario_def(file.data, &(option_list){0});
        def.text = header->scenario_text;
        ready = load_scenario_def(&def, LOAD_TO_RUN, &l);
    }

    if (ready) {
        /* Lines before the scenario list the inputs of the run: report each that is missing or
         * changed today. */
        char *inputs = yk_scenario_inputs(l.scenario);
        line = header->scenario_text;
        while (inputs && line[0] == '#' && line[1] == ' ') {
            size_t length = strcspn(line, "\n");
            bool found = false;
            for (const char *other = inputs; *other && !found;) {
                size_t size = strcspn(other, "\n");
                found = size == length && strncmp(line, other, length) == 0;
                other += size + (other[size] == '\n');
            }

            const char *name = memchr(line + 2, ' ', length - 2);
            if (!found && strncmp(line, "# version ", 10) == 0)
                print_err("yoke: warning: the run was made by %.*s, this is version %s\n",
                          (int)length - 2, line + 2, yk_version());
            else if (!found && name)
                print_err("yoke: warning: '%.*s' has changed since the run\n",
                          (int)(line + length - name - 1), name + 1);
            line += length + (line[length] == '\n');
        }
        yk_free(l.context, inputs);

        /* The recorder that compares: it looks rows up in the columns of the record. */
        replayer r = {.base.ops = &replayer_ops, .was = record};
        for (int i = 0; i < header->channel_count; i++)
            r.width += (size_t)header->channels[i].component_count;
        r.columns = yk_allocate(l.context, r.width + 1, sizeof *r.columns);

        size_t k = 0;
        for (int i = 0; r.columns && i < header->channel_count; i++)
            for (int c = 0; c < header->channels[i].component_count; c++)
                r.columns[k++] = yk_record_column(record, i, c);

        /* The run ends at the first number that differs. */
        yk_system *system;
        if (r.columns && yk_scenario_system(l.scenario, &system) == YK_OK) {
            catch_interrupts();
            yk_run_options def = {.recorder = &r.base};
            static yk_run_report report; /* too large for a small stack */
            yk_status status = yk_run(l.context, l.scenario, &def, &report);
            code = print_outcome(&l, &r, status, &report, quiet);
        } else {
            code = print_failure(l.context);
        }

        yk_free(l.context, r.columns);
        close_scenario(&l);
    }

    yk_text_destroy(context, &file);
    yk_record_destroy(record);
    yk_context_destroy(context);
    return code;
}
