/* Comparison of two recorded runs (compare.h). */
#include "yoke/compare.h"

#include <math.h>
#include <string.h>

#include "base/context.h"

yk_compare_options yk_compare_options_default(void)
{
    return (yk_compare_options){.size = sizeof(yk_compare_options)};
}

/* Sums over the rows and components of a channel. */
typedef struct sums {
    double squares, count;
} sums;

/* Value of a column of B at a time: a sample, or linear interpolation. Times ascend, so the search
 * continues from the last row. */
static double interpolate(const yk_record *b, const double *column, double time, size_t *row)
{
    static const double SAME_TIME = 1e-9; /* fraction of the distance of two samples */
    const double *times = yk_record_times(b);
    size_t count = yk_record_row_count(b);
    while (*row + 1 < count && times[*row + 1] <= time)
        ++*row;

    double value = column[*row];
    if (time > times[*row] && *row + 1 < count) {
        double w = (time - times[*row]) / (times[*row + 1] - times[*row]);
        if (w >= SAME_TIME)
            value += w * (column[*row + 1] - value);
    }
    return value;
}

/* NaN equals NaN, and infinite numbers equal themselves. */
static double difference_of(double x, double y)
{
    if (x == y || (isnan(x) && isnan(y)))
        return 0;
    double difference = fabs(y - x);
    return isnan(difference) ? INFINITY : difference;
}

static void compare_component(const yk_record *a, int in_a, const yk_record *b, int in_b,
                              int component, yk_channel_comparison *result, sums *s)
{
    const double *time = yk_record_times(a);
    const double *x = yk_record_column(a, in_a, component);
    const double *y = yk_record_column(b, in_b, component);
    size_t rows_b = yk_record_row_count(b);
    if (rows_b == 0)
        return;

    double first = yk_record_times(b)[0];
    double last = yk_record_times(b)[rows_b - 1];
    double rounding = 1e-9 * (last - first);
    double low = INFINITY;
    double high = -INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < yk_record_row_count(a); i++) {
        if (time[i] < first - rounding || time[i] > last + rounding)
            continue;

        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
        double difference = difference_of(x[i], interpolate(b, y, time[i], &at));
        s->squares += difference * difference;
        s->count++;
        if (difference > result->max_difference) {
            result->max_difference = difference;
            result->time = time[i];
            result->component = component;
        }
    }

    result->range = fmax(result->range, high - low);
}

static void compare_channel(const yk_record *a, int in_a, const yk_record *b, double tolerance,
                            yk_channel_comparison *result)
{
    const yk_record_channel *channel = &yk_record_get_header(a)->channels[in_a];
    *result = (yk_channel_comparison){
        .name = channel->name, .unit = channel->unit, .time = NAN, .label = ""};

    int in_b = yk_record_find_channel(b, channel->name);
    if (in_b < 0) {
        result->relation = YK_CHANNELS_ONLY_IN_A;
        return;
    }

    const yk_record_channel *other = &yk_record_get_header(b)->channels[in_b];
    if (other->component_count != channel->component_count ||
        strcmp(other->unit, channel->unit) != 0) {
        result->relation = YK_CHANNELS_INCOMPATIBLE;
        return;
    }

    sums s = {0};
    for (int k = 0; k < channel->component_count; k++)
        compare_component(a, in_a, b, in_b, k, result, &s);
    if (s.count > 0)
        result->rms_difference = sqrt(s.squares / s.count);
    if (channel->component_count > 1)
        result->label = channel->labels[result->component];

    result->relation = YK_CHANNELS_DIFFERENT;
    if (result->max_difference == 0)
        result->relation = YK_CHANNELS_EQUAL;
    else if (result->max_difference <= tolerance * result->range)
        result->relation = YK_CHANNELS_WITHIN_TOLERANCE;
}

static bool is_chosen(const yk_compare_options *options, const char *name)
{
    for (int i = 0; i < options->channel_count; i++)
        if (strcmp(options->channels[i], name) == 0)
            return true;
    return options->channel_count == 0;
}

yk_status yk_record_compare(yk_context *context, const yk_record *a, const yk_record *b,
                            const yk_compare_options *options, yk_comparison **comparison)
{
    *comparison = NULL;
    if (options->size < sizeof(yk_compare_options) || !(options->tolerance >= 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "comparison: the options are not initialized, or the tolerance is negative");
    for (int i = 0; i < options->channel_count; i++)
        if (yk_record_find_channel(a, options->channels[i]) < 0)
            return yk_fail(context, YK_ERROR_ARGUMENT, "channel '%s' not found",
                           options->channels[i]);

    const yk_record_header *header_a = yk_record_get_header(a);
    const yk_record_header *header_b = yk_record_get_header(b);
    size_t most = (size_t)header_a->channel_count + (size_t)header_b->channel_count;
    yk_comparison *result = yk_allocate(context, 1, sizeof *result);
    yk_channel_comparison *channels = yk_allocate(context, most + 1, sizeof *channels);
    if (!result || !channels) {
        yk_free(context, result);
        yk_free(context, channels);
        return YK_ERROR_MEMORY;
    }

    *result = (yk_comparison){.channels = channels};
    for (int i = 0; i < header_a->channel_count; i++)
        if (is_chosen(options, header_a->channels[i].name))
            compare_channel(a, i, b, options->tolerance, &channels[result->channel_count++]);

    for (int i = 0; options->channel_count == 0 && i < header_b->channel_count; i++) {
        const yk_record_channel *channel = &header_b->channels[i];
        if (yk_record_find_channel(a, channel->name) < 0)
            channels[result->channel_count++] = (yk_channel_comparison){
                .name = channel->name,
                .unit = channel->unit,
                .relation = YK_CHANNELS_ONLY_IN_B,
                .time = NAN,
                .label = "",
            };
    }

    for (int i = 0; i < result->channel_count; i++)
        result->different_count += channels[i].relation >= YK_CHANNELS_DIFFERENT;
    *comparison = result;
    return YK_OK;
}

void yk_comparison_destroy(yk_context *context, yk_comparison *comparison)
{
    if (!comparison)
        return;
    yk_free(context, comparison->channels);
    yk_free(context, comparison);
}
