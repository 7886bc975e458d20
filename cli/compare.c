/* yoke compare: whether two recorded runs are the same, channel by channel. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "yoke/record.h"

static const char usage[] =
    "compare A B [OPTIONS]\n"
    "\n"
    "Compare the channels of two recorded runs: largest and root mean square "
    "difference, and the component and the time of the largest. B is interpolated at "
    "the times of A. Exit code 0: equal within the tolerance, 1: different, 2: "
    "invalid input.";

/* Compares a channel of A with the one of its name in B. False where it differs. */
static bool print_channel(const yk_record *a, int in_a, const yk_record *b, double tolerance)
{
    const double *time = yk_record_times(a);
    const double *time_b = yk_record_times(b);
    const yk_record_channel *channel = &yk_record_get_header(a)->channels[in_a];

    /* A channel that only one of them has, or has in another shape, differs. */
    int in_b = yk_record_find_channel(b, channel->name);
    if (in_b < 0) {
        print_out("  %-40s only in A\n", channel->name);
        return false;
    }

    const yk_record_channel *other = &yk_record_get_header(b)->channels[in_b];
    if (other->component_count != channel->component_count ||
        strcmp(other->unit, channel->unit) != 0) {
        print_out("  %-40s %d x [%s] in A, %d x [%s] in B\n", channel->name,
                  channel->component_count, channel->unit, other->component_count, other->unit);
        return false;
    }

    /* Over the rows of A that lie within the time of B, with rounding. */
    size_t rows_b = yk_record_row_count(b);
    double first = INFINITY;
    double last = -INFINITY;
    if (rows_b > 0) {
        first = time_b[0];
        last = time_b[rows_b - 1];
    }

    double rounding = 1e-9 * (last - first);

    /* The largest difference of all components with its time, and their root mean square. */
    double largest = 0;
    double when = NAN;
    int where = 0;
    double range = 0;
    double squares = 0;
    double count = 0;
    for (int k = 0; k < channel->component_count; k++) {
        const double *x = yk_record_column(a, in_a, k);
        const double *y = yk_record_column(b, in_b, k);
        double low = INFINITY;
        double high = -INFINITY;
        size_t at = 0;

        for (size_t i = 0; i < yk_record_row_count(a); i++) {
            if (time[i] < first - rounding || time[i] > last + rounding)
                continue;

            low = fmin(low, x[i]);
            high = fmax(high, x[i]);

            /* B at this time: its own sample where it has one, else between two. Times grow, so
             * the search goes on where it was. */
            while (at + 1 < rows_b && time_b[at + 1] <= time[i])
                at++;

            double value = y[at];
            if (time[i] > time_b[at] && at + 1 < rows_b) {
                double w = (time[i] - time_b[at]) / (time_b[at + 1] - time_b[at]);
                if (w >= 1e-9)
                    value = y[at] + w * (y[at + 1] - y[at]);
            }

            /* Numbers that are the same, infinite ones and NaN too, do not differ. */
            bool same = x[i] == value || (isnan(x[i]) && isnan(value));
            double difference = same ? 0 : fabs(value - x[i]);
            if (isnan(difference))
                difference = INFINITY;

            squares += difference * difference;
            count++;
            if (difference > largest) {
                largest = difference;
                when = time[i];
                where = k;
            }
        }

        range = fmax(range, high - low);
    }

    /* What is not equal is printed, whether it counts as a difference or not. */
    bool same = largest <= tolerance * range;
    if (largest == 0) {
        print_out("  %-40s equal\n", channel->name);
        return true;
    }

    /* Which component it was, and when, so that one can look there. */
    char unit[32];
    char component[40] = " ";
    snprintf(unit, sizeof unit, "[%s]", *channel->unit ? channel->unit : "1");
    if (channel->component_count > 1)
        snprintf(component, sizeof component, ":%s", channel->labels[where]);
    print_out("  %-40s %11.4g %11.4g %-8s %-5s %11.5g s%s\n", channel->name, largest,
              sqrt(squares / count), unit, component, when, same ? "" : "  differs");
    return same;
}

int command_compare(int argc, char **argv)
{
    const char *files[2];
    double tolerance = 0;
    option_list wanted = {0};

    const option_row rows[] = {
        {"tolerance", OPTION_NUMBER, &tolerance, "X",
         "Accept differences up to X times the range of the channel (default: 0, bitwise)"},
        {"channel", OPTION_LIST, &wanted, "NAME", "Compare only this channel; may be repeated"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, files, 2, 2);
    if (parsed < 0)
        return options_exit(parsed);

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* Whole records, not thinned ones: every sample counts. */
    yk_record *records[2] = {NULL, NULL};
    int code = EXIT_GOOD;
    for (int i = 0; i < 2 && code == EXIT_GOOD; i++) {
        yk_status status = yk_record_load(context, files[i], &records[i]);
        if (status != YK_OK) {
            print_failure(context);
            code = input_code(status);
        }
    }

    /* A channel that is asked for and is not there is a slip of the command, not a difference. */
    for (int i = 0; i < wanted.count && code == EXIT_GOOD; i++) {
        if (yk_record_find_channel(records[0], wanted.items[i]) < 0) {
            print_err("yoke: %s has no channel '%s'\n", files[0], wanted.items[i]);
            code = EXIT_MISUSE;
        }
    }

    if (code == EXIT_GOOD) {
        const yk_record_header *a = yk_record_get_header(records[0]);
        const yk_record_header *b = yk_record_get_header(records[1]);
        print_out("  %-40s %11s %11s %-8s %-5s %11s\n", "channel", "largest", "rms", "", "where",
                  "when");

        /* Channels of A, then those that B has alone. */
        int differing = 0;
        for (int i = 0; i < a->channel_count; i++) {
            bool chosen = wanted.count == 0;
            for (int k = 0; k < wanted.count; k++)
                chosen = chosen || strcmp(wanted.items[k], a->channels[i].name) == 0;
            if (chosen && !print_channel(records[0], i, records[1], tolerance))
                differing++;
        }

        for (int i = 0; i < b->channel_count && wanted.count == 0; i++) {
            if (yk_record_find_channel(records[0], b->channels[i].name) >= 0)
                continue;

            print_out("  %-40s only in B\n", b->channels[i].name);
            differing++;
        }

        /* Scripts see a difference by the exit code. */
        if (differing == 0)
            print_styled(stdout, STYLE_GOOD, "all channels are equal\n");
        else
            print_styled(stdout, STYLE_SERIOUS, "%d channel%s\n", differing,
                         differing == 1 ? " differs" : "s differ");
        if (differing > 0)
            code = EXIT_FAILED;
    }

    yk_record_destroy(records[0]);
    yk_record_destroy(records[1]);
    yk_context_destroy(context);
    return code;
}
