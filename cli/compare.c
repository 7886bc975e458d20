/* yoke compare: whether two recorded runs are the same, channel by channel. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "yoke/record.h"

static const char usage[] = "compare A B [--tolerance X] [--channel NAME ...]\n\n"
                            "Compares the channels that both records have: largest and root mean "
                            "square difference, in which "
                            "component and when.\n"
                            "B is taken at the times of A, between its samples where it has none "
                            "there. A channel differs where "
                            "its largest\n"
                            "difference is more than --tolerance times its range in A. Exit code "
                            "0: none differs; 1: some do, or "
                            "a channel is\n"
                            "in one of them alone.";

/* A channel in both records. */
typedef struct comparison {
    double largest, rms;
    double range; /* of A */
    double when;  /* s, of the largest */
    int component;
} comparison;

/* The value of a column at a time: its own sample where there is one, else between two. */
static double value_at(const yk_record *record, const double *column, double t, size_t *from)
{
    const double *time = yk_record_time(record);
    size_t rows = yk_record_rows(record), i = *from;
    while (i + 1 < rows && time[i + 1] <= t)
        i++;
    *from = i;

    if (t <= time[i] || i + 1 == rows)
        return column[i];
    double w = (t - time[i]) / (time[i + 1] - time[i]);
    if (w < 1e-9)
        return column[i];
    return column[i] + w * (column[i + 1] - column[i]);
}

/* Rows of A that lie within the time of B, with rounding. */
static bool is_shared(const yk_record *b, double t)
{
    const double *time = yk_record_time(b);
    double first = time[0], last = time[yk_record_rows(b) - 1];
    double rounding = 1e-9 * (last - first);
    return t >= first - rounding && t <= last + rounding;
}

static comparison compare_channel(const yk_record *a, int in_a, const yk_record *b, int in_b)
{
    comparison c = {.when = NAN};
    const double *time = yk_record_time(a);
    int components = yk_record_get_header(a)->channels[in_a].components;
    double squares = 0, count = 0;
    for (int k = 0; k < components; k++) {
        const double *x = yk_record_column(a, in_a, k), *y = yk_record_column(b, in_b, k);
        double low = INFINITY, high = -INFINITY;
        size_t at = 0;
        for (size_t i = 0; i < yk_record_rows(a); i++) {
            if (!is_shared(b, time[i]))
                continue;

            low = fmin(low, x[i]);
            high = fmax(high, x[i]);

            /* Numbers that are the same, infinite ones and NaN too, do not differ. */
            double value = value_at(b, y, time[i], &at);
            bool same = x[i] == value || (isnan(x[i]) && isnan(value));
            double difference = same ? 0 : fabs(value - x[i]);
            if (isnan(difference))
                difference = INFINITY;
            squares += difference * difference;
            count++;
            if (difference > c.largest) {
                c.largest = difference;
                c.when = time[i];
                c.component = k;
            }
        }
        c.range = fmax(c.range, high - low);
    }
    c.rms = count > 0 ? sqrt(squares / count) : 0;
    return c;
}

/* False where it differs. */
static bool print_channel(const yk_record *a, int in_a, const yk_record *b, double tolerance)
{
    const yk_record_channel *channel = &yk_record_get_header(a)->channels[in_a];
    int in_b = yk_record_find(b, channel->name);
    if (in_b < 0) {
        printf("  %-40s only in A\n", channel->name);
        return false;
    }
    const yk_record_channel *other = &yk_record_get_header(b)->channels[in_b];
    if (other->components != channel->components || strcmp(other->unit, channel->unit) != 0) {
        printf("  %-40s %d x [%s] in A, %d x [%s] in B\n", channel->name, channel->components,
               channel->unit, other->components, other->unit);
        return false;
    }

    /* What is not equal is printed, whether it counts as a difference or not. */
    comparison c = compare_channel(a, in_a, b, in_b);
    bool same = c.largest <= tolerance * c.range;
    if (c.largest == 0) {
        printf("  %-40s equal\n", channel->name);
        return true;
    }
    char unit[32];
    snprintf(unit, sizeof unit, "[%s]", channel->unit);
    printf("  %-40s %11.4g %11.4g %-8s %s%-4s %11.5g s%s\n", channel->name, c.largest, c.rms, unit,
           channel->components > 1 ? ":" : " ",
           channel->components > 1 ? channel->labels[c.component] : "", c.when,
           same ? "" : "  differs");
    return same;
}

int command_compare(int argc, char **argv)
{
    const char *files[2];
    double tolerance = 0;
    option_list wanted = {0};
    const option_row rows[] = {
        {"tolerance", OPTION_NUMBER, &tolerance, "X",
         "largest difference that is no difference, of the range of the channel [0: every bit "
         "counts]"},
        {"channel", OPTION_LIST, &wanted, "NAME", "compare this channel only; may be repeated"},
        {.kind = OPTION_END},
    };
    int parsed = options_parse(usage, rows, argc, argv, files, 2, 2);
    if (parsed < 0)
        return options_exit(parsed);

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;
    yk_record *records[2] = {NULL, NULL};
    int code = EXIT_GOOD;
    for (int i = 0; i < 2 && code == EXIT_GOOD; i++) {
        if (yk_record_load(context, files[i], &records[i]) < 0) {
            print_failure(context);
            code = EXIT_MISUSE;
        }
    }
    for (int i = 0; i < wanted.count && code == EXIT_GOOD; i++) {
        if (yk_record_find(records[0], wanted.items[i]) < 0) {
            fprintf(stderr, "yoke: %s has no channel '%s'\n", files[0], wanted.items[i]);
            code = EXIT_MISUSE;
        }
    }

    if (code == EXIT_GOOD) {
        const yk_record_header *a = yk_record_get_header(records[0]);
        const yk_record_header *b = yk_record_get_header(records[1]);
        printf("  %-40s %11s %11s %-8s %-5s %11s\n", "channel", "largest", "rms", "", "where",
               "when");
        int differing = 0;
        for (int i = 0; i < a->channel_count; i++) {
            bool chosen = wanted.count == 0;
            for (int k = 0; k < wanted.count; k++)
                chosen = chosen || strcmp(wanted.items[k], a->channels[i].name) == 0;
            if (chosen && !print_channel(records[0], i, records[1], tolerance))
                differing++;
        }
        for (int i = 0; i < b->channel_count && wanted.count == 0; i++) {
            if (yk_record_find(records[0], b->channels[i].name) >= 0)
                continue;
            printf("  %-40s only in B\n", b->channels[i].name);
            differing++;
        }
        if (differing == 0)
            printf("the runs are the same\n");
        else
            printf("%d channel%s of the runs differ\n", differing, plural(differing));
        code = differing == 0 ? EXIT_GOOD : EXIT_FAILED;
    }
    yk_record_destroy(records[0]);
    yk_record_destroy(records[1]);
    yk_context_destroy(context);
    return code;
}
