#include "analysis/error_bars.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A ratio of differences above this shows no convergence: half an order. */
static const double RATIO_REGULAR = 0.7;
/* Smallest ratios for the sum of the series: no method is assumed to have an order above 2, or 1
 * with impacts, which costs little, and the sum of a slowly converging series is bounded. */
static const double RATIO_SMOOTH = 0.25;
static const double RATIO_IMPACTS = 0.5;
static const double RATIO_MOST = 0.9;
/* For two runs only: order 1. */
static const double RATIO_ASSUMED = 0.5;
/* Safety factor of the rest of the series. */
static const double MARGIN = 1.5;
/* The error of a jump lasts for a short time: the mean difference is small compared with the
 * largest. With few samples, an error over this number of samples counts as short. */
static const double JUMP_MEAN = 0.2;
static const double JUMP_LASTING = 0.25;
enum { JUMP_SAMPLES = 4 };
/* Fraction of the range above which a short difference is a jump, and not the ripple of a fast
 * oscillation. */
static const double LOST_TO_JUMPS = 0.01;
/* Fraction of the range above which a channel that does not converge is unpredictable. */
static const double LOST = 0.3;
/* The same for the mean over a part of the run: differences by jumps become shorter. */
static const double LOST_MEAN = 0.1;
enum { PARTS = 16 };
/* Distance from an integer within which an order can be used for extrapolation. */
static const double CLEAR_ORDER = 0.25;
/* Range relative to the widest of the same unit, and to the size of the channel itself, below which
 * nothing moves. */
static const double AT_REST = 1e-6;
static const double AT_REST_OWN = 1e-11;
/* Displacement by a velocity over the run, relative to the size of the position. */
static const double AT_REST_RATE = 1e-9;
/* Differences relative to the size of the channel that are rounding errors, accumulated over many
 * steps. */
static const double ROUNDING = 1e-11;
/* Range of a channel relative to the largest range of the same unit, and of a rate or wrench
 * relative to its own size, below which its error is compared with these. */
static const double SMALL_RANGE = 0.01;

/* Records side by side ------------------------------------------------------------------------- */

int yk_record_width(const yk_record_header *header)
{
    int width = 0;
    for (int i = 0; i < header->channel_count; i++)
        width += header->channels[i].component_count;
    return width;
}

yk_status yk_align(yk_context *context, const yk_record *const *records, int count, yk_aligned *a)
{
    const yk_record_header *header = yk_record_get_header(records[0]);
    *a = (yk_aligned){.runs = count, .width = yk_record_width(header)};
    a->rows = yk_record_row_count(records[0]);
    for (int i = 1; i < count; i++)
        if (yk_record_row_count(records[i]) < a->rows)
            a->rows = yk_record_row_count(records[i]);

    size_t columns = (size_t)a->runs * (size_t)a->width;
    a->columns = yk_allocate(context, columns + 1, sizeof *a->columns);
    a->values = yk_allocate(context, columns * a->rows + 1, sizeof *a->values);
    a->time = yk_allocate(context, a->rows + 1, sizeof *a->time);
    if (!a->columns || !a->values || !a->time)
        return YK_ERROR_MEMORY;

    /* Copies, so that signs can be changed. */
    memcpy(a->time, yk_record_times(records[0]), a->rows * sizeof *a->time);
    for (int run = 0; run < a->runs; run++) {
        double **own = a->columns + run * a->width;
        int column = 0;

        for (int c = 0; c < header->channel_count; c++) {
            const yk_record_channel *channel = &header->channels[c];
            double **first = a->columns + column;
            double **here = own + column;

            for (int k = 0; k < channel->component_count; k++, column++) {
                own[column] = a->values + (size_t)(run * a->width + column) * a->rows;
                memcpy(own[column], yk_record_column(records[run], c, k), a->rows * sizeof(double));
            }

            /* A quaternion and its negative are the same rotation: use the sign of the first run. */
            const char *dot = strrchr(channel->name, '.');
            bool rotation =
                channel->component_count == 4 && dot && strcmp(dot, ".orientation") == 0;

            for (size_t i = 0; run > 0 && rotation && i < a->rows; i++) {
                double product = 0;
                for (int k = 0; k < 4; k++)
                    product += first[k][i] * here[k][i];
                for (int k = 0; product < 0 && k < 4; k++)
                    here[k][i] = -here[k][i];
            }
        }
    }

    return YK_OK;
}

void yk_align_release(yk_context *context, yk_aligned *a)
{
    yk_free(context, a->columns);
    yk_free(context, a->values);
    yk_free(context, a->time);
}

yk_error_input yk_error_channel(const yk_aligned *a, int first, int components, bool impacts,
                                const double **columns)
{
    /* The columns of this channel, run after run. */
    for (int run = 0; run < a->runs; run++)
        for (int c = 0; c < components; c++)
            columns[run * components + c] = a->columns[run * a->width + first + c];

    return (yk_error_input){
        .runs = a->runs,
        .components = components,
        .impacts = impacts,
        .rows = a->rows,
        .time = a->time,
        .columns = columns,
    };
}

/* Differences of runs -------------------------------------------------------------------------- */

/* A component in the finest run, or `before` runs earlier; if there are only two runs, the first
 * replaces missing ones. */
static const double *column(const yk_error_input *in, int before_finest, int component)
{
    int run = in->runs - 1 - before_finest;
    if (run < 0)
        run = 0;
    return in->columns[run * in->components + component];
}

/* Remaining error of the finest run, from its difference to the previous run, and that of the
 * previous run: two runs may agree by chance. */
static double rest_of_series(const yk_error_input *in, double coarse, double fine, double ratio)
{
    double least = RATIO_SMOOTH;
    if (in->impacts)
        least = RATIO_IMPACTS;

    /* The geometric series after the last difference. */
    double theta = fmin(fmax(ratio, least), RATIO_MOST);
    return MARGIN * fmax(fine, least * coarse) * theta / (1 - theta);
}

static double ratio_of(double later, double earlier)
{
    if (earlier > 0)
        return later / earlier;

    if (later > 0)
        return INFINITY;
    return 0;
}

/* Sums and extremes over the whole run, of all components together. */
typedef struct totals {
    /* Differences of the last three runs: coarse, fine. */
    double largest[2], mean[2];

    /* Difference of the run from the finest one: the largest and its time, the largest that lasts
     * for some samples, and the sum. */
    double off;
    size_t off_row;
    double lasting;
    double off_mean;

    /* Of the finest run; sum of the deviations from its mean. */
    double range, size;
    double deviation;
} totals;

static totals sum_up(const yk_error_input *in)
{
    totals t = {0};
    for (int c = 0; c < in->components; c++) {
        /* The run itself, and the last three runs. */
        const double *y = in->columns[c];
        const double *fine = column(in, 0, c);
        const double *before = column(in, 1, c);
        const double *coarse = column(in, 2, c);

        /* Differences between runs, and the range of the finest. */
        double low = INFINITY;
        double high = -INFINITY;
        double mean = 0;

        for (size_t i = 0; i < in->rows; i++) {
            double d[2] = {fabs(coarse[i] - before[i]), fabs(before[i] - fine[i])};
            for (int k = 0; k < 2; k++) {
                if (!(d[k] <= t.largest[k]))
                    t.largest[k] = d[k];
                t.mean[k] += d[k];
            }

            t.off_mean += fabs(y[i] - fine[i]);
            t.size = fmax(t.size, fabs(fine[i]));
            low = fmin(low, fine[i]);
            high = fmax(high, fine[i]);
            mean += fine[i] / (double)in->rows;
        }

        t.range = fmax(t.range, high - low);
        for (size_t i = 0; i < in->rows; i++)
            t.deviation += fabs(fine[i] - mean);

        /* Size and duration of the difference of the run from the finest one. */
        for (size_t i = 0; i < in->rows; i++) {
            double lasting = fabs(y[i] - fine[i]);
            if (lasting > t.off) {
                t.off = lasting;
                t.off_row = i;
            }

            for (size_t k = 1; k < JUMP_SAMPLES && i + k < in->rows; k++)
                lasting = fmin(lasting, fabs(y[i + k] - fine[i + k]));
            if (i + JUMP_SAMPLES <= in->rows)
                t.lasting = fmax(t.lasting, lasting);
        }
    }

    return t;
}

/* Whether the run differs much from the finest one for short times only, because impacts occur at
 * different times. Without impacts, fast changes are transients that the run must resolve. */
static bool is_jumping(const yk_error_input *in, const totals *t)
{
    if (!in->impacts || in->rows <= 4 * JUMP_SAMPLES)
        return false;

    return t->lasting < JUMP_LASTING * t->off && t->off > LOST_TO_JUMPS * t->range;
}

static yk_accuracy classify(const yk_error_input *in, const totals *t)
{
    /* Categories from the worst to the best. */
    if (!isfinite(t->largest[0] + t->largest[1]))
        return YK_ACCURACY_UNPREDICTABLE;
    if (fmax(t->largest[0], t->largest[1]) <= ROUNDING * t->size)
        return YK_ACCURACY_ROUNDING;
    if (in->runs < 3)
        return YK_ACCURACY_ASSUMED_ORDER;

    /* Unpredictable if there is a part of the run in which the runs differ by as much as the
     * channel moves, and finer ones do not differ less. */
    for (size_t part = 0; part < PARTS; part++) {
        size_t begin = part * in->rows / PARTS;
        size_t end = (part + 1) * in->rows / PARTS;
        double sums[2] = {0};

        for (int c = 0; c < in->components; c++) {
            const double *fine = column(in, 0, c);
            const double *before = column(in, 1, c);
            const double *coarse = column(in, 2, c);

            for (size_t i = begin; i < end; i++) {
                sums[0] += fabs(coarse[i] - before[i]);
                sums[1] += fabs(fine[i] - before[i]);
            }
        }

        bool part_falls = sums[1] < RATIO_REGULAR * sums[0];
        if (!part_falls && sums[1] > LOST_MEAN * t->range * (double)(end - begin))
            return YK_ACCURACY_UNPREDICTABLE;
    }

    /* A diverging channel has all of its error at the end, and no jump there. */
    bool largest_falls = t->largest[1] < RATIO_REGULAR * t->largest[0];
    bool at_end = t->off_row + JUMP_SAMPLES >= in->rows;
    if (!largest_falls && t->off > LOST * t->range && at_end)
        return YK_ACCURACY_UNPREDICTABLE;

    if (is_jumping(in, t))
        return YK_ACCURACY_DISCONTINUOUS;
    if (largest_falls)
        return YK_ACCURACY_MEASURED_ORDER;

    /* The mean decreases nevertheless: the cause is the motion of jumps. */
    double mean = t->mean[1] / (double)(in->rows * (size_t)in->components);
    bool falls = t->mean[1] < RATIO_REGULAR * t->mean[0];
    if (falls && mean < JUMP_MEAN * t->largest[1])
        return YK_ACCURACY_DISCONTINUOUS;

    return YK_ACCURACY_UPPER_BOUND;
}

/* Bars ----------------------------------------------------------------------------------------- */

void yk_error_bars(const yk_error_input *in, double *ratios, double *const *bars,
                   yk_channel_error *error)
{
    /* The bars depend on the category of the error. */
    totals t = sum_up(in);
    yk_accuracy kind = classify(in, &t);

    /* Ratio of the differences up to each time, from the largest of all components. Early ratios
     * are based on few samples, so that of the whole run, if there is one, is a lower bound. */
    double whole_ratio = ratio_of(t.largest[1], t.largest[0]);
    double mean_ratio = ratio_of(t.mean[1], t.mean[0]);
    if (kind == YK_ACCURACY_ASSUMED_ORDER)
        mean_ratio = RATIO_ASSUMED;
    double largest[2] = {0};

    for (size_t i = 0; i < in->rows; i++) {
        for (int c = 0; c < in->components; c++) {
            double fine = column(in, 0, c)[i];
            double before = column(in, 1, c)[i];
            double coarse = column(in, 2, c)[i];
            largest[0] = fmax(largest[0], fabs(coarse - before));
            largest[1] = fmax(largest[1], fabs(before - fine));
        }

        ratios[i] = ratio_of(largest[1], largest[0]);
        if (kind == YK_ACCURACY_ASSUMED_ORDER || kind == YK_ACCURACY_DISCONTINUOUS)
            ratios[i] = mean_ratio;
        if (kind == YK_ACCURACY_MEASURED_ORDER)
            ratios[i] = fmax(ratios[i], whole_ratio);
    }

    /* The bars: the largest difference from the finest run up to each time, plus the error of that
     * run. Shortly before a jump, the true solution may have jumped already. */
    size_t ahead = JUMP_SAMPLES;
    if (kind == YK_ACCURACY_MEASURED_ORDER)
        ahead = 0;
    double worst = 0;
    double horizon = INFINITY;

    for (int c = 0; c < in->components; c++) {
        const double *fine = column(in, 0, c);
        const double *before = column(in, 1, c);
        const double *coarse = column(in, 2, c);
        double off = 0;
        double steps[2] = {0};

        for (size_t i = 0, seen = 0; i < in->rows; i++) {
            for (; seen < in->rows && seen <= i + ahead; seen++) {
                off = fmax(off, fabs(in->columns[c][seen] - fine[seen]));
                steps[0] = fmax(steps[0], fabs(coarse[seen] - before[seen]));
                steps[1] = fmax(steps[1], fabs(before[seen] - fine[seen]));
            }

            double rest = fmin(rest_of_series(in, steps[0], steps[1], ratios[i]), t.range);
            double bar = off + rest + 16 * DBL_EPSILON * t.size;
            if (kind == YK_ACCURACY_UNPREDICTABLE && bar > LOST * t.range) {
                horizon = fmin(horizon, in->time[i]);
                bar = fmax(bar, t.range);
            }

            bars[c][i] = bar;
            worst = fmax(worst, bar);
        }
    }

    /* For the whole run. The motion of the time of a jump between samples is invisible: assume at
     * least half an order. */
    double series = mean_ratio;
    if (kind == YK_ACCURACY_DISCONTINUOUS)
        series = fmin(mean_ratio, RATIO_REGULAR);
    double mean = t.off_mean + rest_of_series(in, t.mean[0], t.mean[1], series);
    error->accuracy = kind;
    error->range = t.range;
    error->max_abs = t.size;
    error->max_error = INFINITY;
    error->relative_mean = INFINITY;
    if (isfinite(t.largest[0] + t.largest[1])) {
        error->max_error = worst;
        error->relative_mean = mean / t.deviation;
    }

    error->relative_to_range = error->max_error / t.range;
    error->error = fmax(error->relative_to_range, error->relative_mean);
    error->predictable_until = horizon;
    error->order = NAN;
    if (kind == YK_ACCURACY_MEASURED_ORDER)
        error->order = -log2(t.largest[1] / t.largest[0]);
    if (kind == YK_ACCURACY_DISCONTINUOUS) {
        error->error = error->relative_mean;
        error->order = -log2(mean_ratio);
    }
}

/* Distances ------------------------------------------------------------------------------------ */

/* Fills an error from its largest value and from its sum over all samples. */
static void fill_error(const totals *t, yk_accuracy kind, double largest, double sum,
                       yk_channel_error *error)
{
    /* Without a finite error nothing is known. */
    *error = (yk_channel_error){
        .name = error->name,
        .unit = error->unit,
        .excluded = error->excluded,
        .accuracy = kind,
        .range = t->range,
        .max_abs = t->size,
        .order = NAN,
        .predictable_until = INFINITY,
        .max_error = INFINITY,
        .relative_to_range = INFINITY,
        .relative_mean = INFINITY,
    };

    if (isfinite(largest + sum)) {
        error->max_error = largest;
        error->relative_to_range = largest / t->range;
        error->relative_mean = sum / t->deviation;
    }

    error->error = error->relative_mean;
    if (kind != YK_ACCURACY_DISCONTINUOUS)
        error->error = fmax(error->relative_to_range, error->relative_mean);
}

void yk_error_distance(const yk_error_input *in, yk_channel_error *error)
{
    /* If the time of a jump is wrong, the error is the whole jump for a moment. */
    totals t = sum_up(in);
    yk_accuracy kind = YK_ACCURACY_MEASURED_ORDER;
    if (is_jumping(in, &t))
        kind = YK_ACCURACY_DISCONTINUOUS;
    fill_error(&t, kind, t.off, t.off_mean, error);
}

void yk_error_extrapolate(const yk_error_input *in, double *const *truth, yk_channel_error *error)
{
    /* The error of the finest run. */
    totals t = sum_up(in);
    yk_accuracy kind = classify(in, &t);

    /* First the finest run with its error. */
    double ratio = ratio_of(t.largest[1], t.largest[0]);
    double mean_ratio = ratio_of(t.mean[1], t.mean[0]);
    if (kind == YK_ACCURACY_ASSUMED_ORDER) {
        ratio = RATIO_ASSUMED;
        mean_ratio = RATIO_ASSUMED;
    }

    if (kind == YK_ACCURACY_DISCONTINUOUS)
        mean_ratio = fmin(mean_ratio, RATIO_REGULAR);
    fill_error(&t, kind, rest_of_series(in, t.largest[0], t.largest[1], ratio),
               rest_of_series(in, t.mean[0], t.mean[1], mean_ratio), error);
    for (int c = 0; c < in->components; c++)
        memcpy(truth[c], column(in, 0, c), in->rows * sizeof(double));

    /* The time from which on the runs differ by as much as the channel moves. */
    for (size_t i = 0; i < in->rows && kind == YK_ACCURACY_UNPREDICTABLE; i++)
        for (int c = 0; c < in->components; c++) {
            bool lost = !(fabs(column(in, 0, c)[i] - column(in, 1, c)[i]) <= LOST * t.range);
            if (lost)
                error->predictable_until = fmin(error->predictable_until, in->time[i]);
        }

    /* For a clear order, Richardson's limit y(h/4) + (y(h/4) - y(h/2)) / (2^p - 1) from each pair
     * of runs. Their difference is at least three times the error of the finer one. */
    double order = NAN;
    if (kind == YK_ACCURACY_MEASURED_ORDER)
        order = -log2(t.largest[1] / t.largest[0]);
    if (!(fabs(order - round(order)) < CLEAR_ORDER) || round(order) < 1 || in->runs < 3)
        return;

    double weight = 1 / (exp2(round(order)) - 1);
    double largest = 0;
    double sum = 0;

    for (int c = 0; c < in->components; c++) {
        const double *coarse = column(in, 2, c);
        const double *before = column(in, 1, c);
        const double *fine = column(in, 0, c);

        for (size_t i = 0; i < in->rows; i++) {
            double limit = fine[i] + weight * (fine[i] - before[i]);
            double other = before[i] + weight * (before[i] - coarse[i]);
            largest = fmax(largest, fabs(limit - other));
            sum += fabs(limit - other);
        }
    }

    /* Use it if it is better. */
    yk_channel_error limit_error = *error;
    fill_error(&t, kind, largest, sum, &limit_error);
    if (!(limit_error.error < error->error))
        return;

    *error = limit_error;

    for (int c = 0; c < in->components; c++) {
        const double *before = column(in, 1, c);
        const double *fine = column(in, 0, c);
        for (size_t i = 0; i < in->rows; i++)
            truth[c][i] = fine[i] + weight * (fine[i] - before[i]);
    }
}

static bool is_rate_or_wrench(const char *unit)
{
    return strstr(unit, "/s") || strncmp(unit, "N", 1) == 0;
}

double yk_error_scale(const yk_channel_error *channels, int count, int index)
{
    const yk_channel_error *e = &channels[index];
    double scale = e->range;
    bool has_unit = *e->unit && strcmp(e->unit, "1") != 0;
    for (int k = 0; k < count && has_unit; k++)
        if (strcmp(channels[k].unit, e->unit) == 0 && !channels[k].excluded)
            scale = fmax(scale, SMALL_RANGE * channels[k].range);
    if (is_rate_or_wrench(e->unit))
        scale = fmax(scale, SMALL_RANGE * e->max_abs);
    return scale;
}

void yk_error_relate(yk_channel_error *channels, int count)
{
    for (int i = 0; i < count; i++) {
        yk_channel_error *e = &channels[i];
        double scale = yk_error_scale(channels, count, i);
        if (!(e->range > 0 && scale > e->range))
            continue;
        e->relative_to_range *= e->range / scale;
        e->relative_mean *= e->range / scale;
        e->error *= e->range / scale;
    }
}

void yk_error_exempt_resting(yk_channel_error *channels, int count, double duration)
{
    /* The lever arm with which forces are compared with torques: the extent of the motion. */
    double arm = 0;
    for (int i = 0; i < count; i++)
        if (strcmp(channels[i].unit, "m") == 0)
            arm = fmax(arm, channels[i].range);

    for (int i = 0; i < count; i++) {
        /* A channel moves if its range is significant relative to its own size, and to all others
         * of its unit. */
        yk_channel_error *e = &channels[i];
        bool moves = e->range > AT_REST_OWN * e->max_abs;

        for (int k = 0; k < count; k++) {
            const yk_channel_error *other = &channels[k];
            bool same = strcmp(other->unit, e->unit) == 0;
            if (same)
                moves = moves && e->range > AT_REST * other->range;

            /* Torques that a joint does not transmit are rounding errors of its forces. */
            bool torque = strcmp(e->unit, "N m") == 0 && strcmp(other->unit, "N") == 0;
            if (torque)
                moves = moves && e->range > AT_REST * arm * other->max_abs;

            /* For the first or second time derivative of a quantity: the change of the quantity
             * over the run. */
            size_t length = strlen(other->unit);
            if (length == 0 || strncmp(e->unit, other->unit, length) != 0)
                continue;

            const char *per = e->unit + length;
            int rate = 0;
            if (strcmp(per, "/s") == 0)
                rate = 1;
            if (strcmp(per, "/s^2") == 0 || strcmp(per, "/s²") == 0)
                rate = 2;
            if (rate > 0)
                moves = moves && e->range * pow(duration, rate) > AT_REST_RATE * other->max_abs;
        }

        if (!moves)
            e->excluded = true;
    }
}
