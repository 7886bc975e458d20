/* The estimated error of a run, from companion runs of the same scenario with other steps.
 *
 * A companion multiplies all steps, those inside of subsystems too, by a factor f. If the error of
 * the run is C, that of a companion of order p is C f^p. The differences between the run and two
 * companions give C and p.
 *
 * Short runs are compared with half and twice their steps, and with a quarter of them in doubt.
 * Longer runs begin with 32 and 16 times their steps, which costs 10 % of the run. The factors are
 * halved until the differences fall regularly and the error is clearly below its tolerance. So a
 * run whose steps are small for its error costs little to judge, and a doubtful one up to its own
 * time again. */
#include "analysis/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/error_bars.h"
#include "analysis/finding_rules.h"
#include "analysis/remedies.h"
#include "analysis/scenario_run.h"
#include "base/text.h"
#include "math/vec3.h"
#include "model/scenario.h"

/* Samples of the run that are compared, at most, and values in them. */
static const double ROWS = 2000;
static const double VALUES = 4e6;
/* Processor time of all companions: as a fraction of the run, and in s if that is less. */
static const double COST = 1.1;
static const double SECONDS_LEAST = 1;
/* Processor time (s) of a run up to which it is short. */
static const double SHORT_SECONDS = 0.1;
/* Time of a companion (s) that no clock resolves well. */
static const double CLOCK_SECONDS = 0.05;
/* Processor time (s) up to which an important doubt is resolved by half the steps. */
static const double DOUBT_SECONDS = 5;
/* Cost of a companion relative to its number of steps: iterations vary with the step. */
static const double COST_MARGIN = 1.2;
/* Time of a companion by what its steps would take: after more it has failed. */
static const double TOO_SLOW = 3;
/* Largest factor of the steps of a companion, without and with contact, and the number of steps
 * that it must have left. */
enum { FACTOR_MAX = 32, FACTOR_MAX_CONTACT = 4, COMPANION_STEPS = 24 };
/* Orders of methods that are believed. */
static const double ORDER_LEAST = 0.6;
static const double ORDER_MOST = 4.6;
/* Order without a third run: between 1 and 2. */
static const double ORDER_ASSUMED = 1.5;
/* Difference between coarse companions, relative to the range, above which their order says
 * nothing about the run. */
static const double FAR = 0.5;
/* Error relative to the difference to a finer run, if they do not fall regularly: of any order. */
static const double FACTOR_IRREGULAR = 1.4;
/* Range of a force relative to what its energy and motion could cause, and dissipated energy
 * relative to that of the motion, below which they are compared with these. */
static const double SMALL_RANGE = 0.01;
/* Below this error the run needs no further companion (fraction of the error tolerance). */
static const double CLEARLY_GOOD = 0.2;
/* Fraction of the tolerance up to which an estimate outweighs indirect findings. */
static const double OUTWEIGHS = 0.5;
/* Multiple of the rounding of energies that says nothing. */
static const double ENERGY_NOISE = 1e4;
/* Angle (rad) below which nothing rotates. */
static const double RESTING_ANGLE = 1e-6;
/* Changes of position and velocity while contacts close, in those that gravity causes in a step, and
 * as a fraction of those that it causes in the whole run: larger ones are motion. */
static const double RESTING_STEPS = 5;
static const double RESTING_FALL = 1e-4;
static const double RESTING_SPEED = 0.02;
/* Smallest relative error that is reported: the rounding of long runs. */
static const double ROUNDING = 1e-12;

/* Samples ---------------------------------------------------------------------------------------- */

yk_status yk_error_monitor_open(yk_context *context, yk_scenario *scenario,
                                const yk_run_options *options, yk_error_monitor *monitor)
{
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    *monitor = (yk_error_monitor){.context = context, .scenario = scenario, .info = info};
    if (!options->verdict_scenario)
        return YK_OK;

    monitor->source = options->verdict_scenario;
    monitor->tolerance = options->error_tolerance > 0
                             ? options->error_tolerance
                             : yk_finding_rule_of(YK_FINDING_ESTIMATED_ERROR)->serious;
    if (options->resume_from)
        monitor->reason = "the run was resumed";
    else if (info->partners)
        monitor->reason = "a partner runs in another process";
    else if (options->verdict_scenario->placement)
        monitor->reason = "subsystems run on several ranks";
    else if (info->channel_count == 0)
        monitor->reason = "nothing is recorded";
    if (monitor->reason)
        return YK_OK;

    /* The distance between samples is a power of two, so that coarser runs have them too. */
    double rows = fmax(2, fmin(ROWS, VALUES / fmax(1, info->values_per_sample)));
    monitor->stride = 1;
    while ((double)info->step_count > rows * (double)monitor->stride)
        monitor->stride *= 2;

    yk_record_channel *channels =
        yk_allocate(context, (size_t)info->channel_count, sizeof *channels);
    if (!channels)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < info->channel_count; i++)
        channels[i] = (yk_record_channel){.name = info->channels[i].name,
                                          .unit = info->channels[i].unit,
                                          .component_count = info->channels[i].component_count};
    yk_record_header header = {.title = info->title,
                               .scenario_text = "",
                               .channels = channels,
                               .channel_count = info->channel_count};
    yk_status status = yk_record_create(context, &monitor->record);
    if (!YK_FAILED(status))
        status = yk_recorder_begin(yk_record_recorder(monitor->record), &header);
    yk_free(context, channels);
    return status;
}

void yk_error_monitor_close(yk_error_monitor *monitor)
{
    yk_record_destroy(monitor->record);
    monitor->record = NULL;
}

yk_status yk_error_monitor_sample(yk_error_monitor *monitor, int64_t step, double time, double *row)
{
    if (!monitor->record || step % monitor->stride != 0)
        return YK_OK;

    yk_scenario_read_sample(monitor->scenario, row);
    return yk_recorder_sample(yk_record_recorder(monitor->record), time, row);
}

/* Companions ------------------------------------------------------------------------------------- */

enum { COMPANIONS_MAX = 8 };

typedef struct companions {
    yk_context *context;
    const yk_error_monitor *monitor;
    const yk_run_options *options;
    double run_seconds;     /* of the processor, that the run took */
    double seconds;         /* of the processor, that are left */
    double end;             /* s */
    double energy;          /* J, of the motion */
    double energy_rounding; /* J */
    double dissipated;      /* J */
    char stage[64];         /* for the progress */
    yk_trial trials[COMPANIONS_MAX];
    int count;
    bool unpredictable; /* some recorded channel, forces included, depends on the step */
    double far; /* largest difference of the coarser runs in the worst channel, by its range */
    yk_error_estimate *estimate;
} companions;

static bool companion_goes_on(void *user, const yk_trial *trial, const yk_run_progress *progress)
{
    (void)trial;
    const companions *c = user;
    yk_run_progress shown = *progress;
    shown.stage = c->stage;
    return !c->options->progress || c->options->progress(c->options->user, &shown);
}

/* A companion that came to its end. */
typedef struct companion {
    const yk_trial *trial; /* NULL: it failed or had no time */
    double factor;         /* of the steps */
} companion;

static companion run_companion(companions *c, double factor)
{
    companion result = {.factor = factor};
    double limit = TOO_SLOW * c->run_seconds / factor + CLOCK_SECONDS;
    if (c->count == COMPANIONS_MAX || !(c->seconds > 0))
        return result;

    snprintf(c->stage, sizeof c->stage, "estimating the error: %g times the steps", factor);
    yk_trial *trial = &c->trials[c->count++];
    yk_trial_def def = {
        .scenario = c->monitor->source,
        .step = NAN,
        .refinement = 1 / factor,
        .end = c->end,
        /* At least one step of a coarser run lies between samples. */
        .every = (int)fmax((double)c->monitor->stride, factor),
        .seconds = fmin(c->seconds, limit),
        .caller = c->context,
        .progress = companion_goes_on,
        .user = c,
    };
    yk_trial_run(&def, trial);
    c->seconds -= trial->seconds;
    c->estimate->cpu_time += trial->seconds;
    c->estimate->run_count++;
    if (!YK_FAILED(trial->status) && trial->status != YK_INTERRUPTED)
        result.trial = trial;
    return result;
}

/* Comparison ------------------------------------------------------------------------------------- */

/* Rows of several records at the times that all of them have. */
static yk_status align_common(yk_context *context, const yk_record *const *records, int count,
                              yk_aligned *a)
{
    const yk_record_header *header = yk_record_get_header(records[0]);
    size_t rows = yk_record_row_count(records[0]);
    *a = (yk_aligned){.runs = count, .width = yk_record_width(header)};
    size_t columns = (size_t)count * (size_t)a->width;
    a->columns = yk_allocate(context, columns + 1, sizeof *a->columns);
    a->values = yk_allocate(context, columns * rows + 1, sizeof *a->values);
    a->time = yk_allocate(context, rows + 1, sizeof *a->time);
    if (!a->columns || !a->values || !a->time)
        return YK_ERROR_MEMORY;
    for (size_t i = 0; i < columns; i++)
        a->columns[i] = a->values + i * rows;

    const double *t = yk_record_times(records[0]);
    double grid = rows > 1 ? t[1] - t[0] : 1;
    size_t at[COMPANIONS_MAX + 1] = {0};
    for (size_t row = 0; row < rows; row++) {
        bool common = true;
        at[0] = row;
        for (int r = 1; r < count; r++) {
            const double *u = yk_record_times(records[r]);
            size_t others = yk_record_row_count(records[r]);
            while (at[r] < others && u[at[r]] < t[row] - 1e-6 * grid)
                at[r]++;
            common = common && at[r] < others && fabs(u[at[r]] - t[row]) <= 1e-6 * grid;
        }
        if (!common)
            continue;

        for (int r = 0; r < count; r++) {
            int column = 0;
            for (int c = 0; c < header->channel_count; c++) {
                int components = header->channels[c].component_count;
                double product = 0;
                for (int k = 0; k < components; k++) {
                    double value = yk_record_column(records[r], c, k)[at[r]];
                    a->columns[r * a->width + column + k][a->rows] = value;
                    product += value * a->columns[column + k][a->rows];
                }

                /* A quaternion and its negative are one rotation. */
                const char *dot = strrchr(header->channels[c].name, '.');
                bool flip = r > 0 && components == 4 && dot && product < 0 &&
                            strcmp(dot, ".orientation") == 0;
                for (int k = 0; flip && k < components; k++)
                    a->columns[r * a->width + column + k][a->rows] *= -1;
                column += components;
            }
        }
        a->time[a->rows++] = t[row];
    }

    return YK_OK;
}

/* What is known of one channel. */
typedef struct channel_judgement {
    yk_channel_error distance; /* of the run from the companion with half or twice its steps */
    double relative;           /* error relative to its scale */
    double factor;             /* of the distance: what the error is by it */
    double order;              /* NaN: not observed */
    double far;                /* largest difference of the coarser runs, by the range */
    bool regular;
} channel_judgement;

/* Forces, accelerations and energies follow from the motion, and jump where it does not. They are
 * judged only if no motion is recorded. */
static bool follows_from_motion(const char *unit)
{
    return *unit == 'N' || strcmp(unit, "J") == 0 || strcmp(unit, "W") == 0 ||
           strstr(unit, "/s^2") || strstr(unit, "/s²");
}

/* The vector of a subsystem that a recorded channel is a part of; 0: none. */
static int vector_of(const yk_scenario *scenario, int channel)
{
    const yk_channel_row *row = &scenario->rows[channel];
    if (row->kind != YK_CHANNEL_OF_SUBSYSTEM)
        return 0;

    const yk_subsystem *s = scenario->info.subsystems[row->subsystem];
    return s->ops->channel_vector ? s->ops->channel_vector(s, row->port) : 0;
}

static bool is_diagnostic(const yk_scenario *scenario, int channel)
{
    const yk_channel_row *row = &scenario->rows[channel];
    if (row->kind != YK_CHANNEL_OF_SUBSYSTEM)
        return false;

    const yk_subsystem *s = scenario->info.subsystems[row->subsystem];
    return s->ops->is_diagnostic_channel && s->ops->is_diagnostic_channel(s, row->port);
}

/* Whether two recorded channels are parts of one vector. */
static bool is_same_vector(const yk_scenario *scenario, int a, int b)
{
    int vector = vector_of(scenario, a);
    return vector > 0 && vector == vector_of(scenario, b) &&
           scenario->rows[a].subsystem == scenario->rows[b].subsystem &&
           strcmp(scenario->channels[a].unit, scenario->channels[b].unit) == 0;
}

/* The number that the error of a channel is compared with: its range, or the range of others of its
 * unit, or its own size if the zero of its unit means something. Forces are also compared with the
 * energy of the motion divided by its extent: a joint may carry nothing but rounding. */
static double scale_of(const companions *c, const yk_channel_error *channels, int index)
{
    const yk_scenario *scenario = c->monitor->scenario;
    int count = scenario->info.channel_count;
    const yk_channel_error *e = &channels[index];
    double scale = yk_error_scale(channels, count, index);
    for (int k = 0; k < count; k++)
        if (is_same_vector(scenario, index, k))
            scale = fmax(scale, channels[k].range);

    double extent = 0;
    for (int k = 0; k < count; k++)
        if (strcmp(channels[k].unit, "m") == 0)
            extent = fmax(extent, channels[k].range);
    if (strcmp(e->unit, "N") == 0 && extent > 0)
        scale = fmax(scale, SMALL_RANGE * c->energy / extent);
    if (strcmp(e->unit, "N m") == 0)
        scale = fmax(scale, SMALL_RANGE * c->energy);
    return scale;
}

/* Largest difference of two runs in a channel. */
static double largest_difference(const yk_aligned *a, int first, int components, int i, int j)
{
    double largest = 0;
    for (int c = first; c < first + components; c++)
        for (size_t row = 0; row < a->rows; row++) {
            double d = fabs(a->columns[i * a->width + c][row] - a->columns[j * a->width + c][row]);
            if (!(d <= largest))
                largest = d;
        }
    return largest;
}

static double mean_difference(const yk_aligned *a, int first, int components, int i, int j)
{
    double sum = 0;
    for (int c = first; c < first + components; c++)
        for (size_t row = 0; row < a->rows; row++)
            sum += fabs(a->columns[i * a->width + c][row] - a->columns[j * a->width + c][row]);
    return sum;
}

/* Difference of the means and of the rms of two runs, the larger one. The rms of impact forces
 * depends on the step by which their impulses are divided. */
static double statistics_difference(const yk_aligned *a, int first, int components, int i, int j,
                                    bool with_rms)
{
    double largest = 0;
    for (int c = first; c < first + components; c++) {
        double mean[2] = {0};
        double square[2] = {0};
        const int runs[2] = {i, j};
        for (int k = 0; k < 2; k++) {
            const double *column = a->columns[runs[k] * a->width + c];
            for (size_t row = 0; row < a->rows; row++)
                mean[k] += column[row] / (double)a->rows;
            for (size_t row = 0; row < a->rows; row++)
                square[k] += (column[row] - mean[k]) * (column[row] - mean[k]) / (double)a->rows;
        }
        largest = fmax(largest, fabs(mean[0] - mean[1]));
        if (with_rms)
            largest = fmax(largest, fabs(sqrt(square[0]) - sqrt(square[1])));
    }
    return largest;
}

/* The first time at which two runs differ by more than a limit; infinite if they never do. */
static double time_of_difference(const yk_aligned *a, int first, int components, int i, int j,
                                 double limit)
{
    for (size_t row = 0; row < a->rows; row++)
        for (int c = first; c < first + components; c++)
            if (!(fabs(a->columns[i * a->width + c][row] - a->columns[j * a->width + c][row]) <=
                  limit))
                return a->time[row];
    return INFINITY;
}

typedef double difference_function(const yk_aligned *a, int first, int components, int i, int j);

/* The order p at which differences between runs with the factors a < b < c of the steps have this
 * ratio, (c^p - b^p) / (b^p - a^p), which grows with p. */
static double order_of(double a, double b, double c, double ratio)
{
    double low = 0.25;
    double high = 8;
    for (int i = 0; i < 40; i++) {
        double p = 0.5 * (low + high);
        if ((pow(c, p) - pow(b, p)) / (pow(b, p) - pow(a, p)) < ratio)
            low = p;
        else
            high = p;
    }
    return 0.5 * (low + high);
}

/* Error of the run relative to its difference to a companion with a factor of the steps, of which
 * the differences `fine` and `coarse` between three runs show the order. A scheme of first order
 * with solvers of second order has errors of both: far from the run the second hides the first. */
static double error_by_difference(double factor, double order, const double factors[3], double fine,
                                  double coarse)
{
    double power = 1 / fabs(pow(factor, order) - 1);
    if (!(order > 1 && order < 2) || factor < 4)
        return power;

    double a = factors[0];
    double b = factors[1];
    double c = factors[2];
    double determinant = (b - a) * (c * c - b * b) - (c - b) * (b * b - a * a);
    double first = (fine * (c * c - b * b) - coarse * (b * b - a * a)) / determinant;
    double second = (coarse * (b - a) - fine * (c - b)) / determinant;
    return (first + second) / (first * (factor - 1) + second * (factor * factor - 1));
}

/* Error of the run by its difference to the companion (1), and by the order that it shows with a
 * companion (2). The rows of all three runs (`a`) are fewer than those of two (`pair`). */
static void judge_channel(const yk_aligned *pair, const yk_aligned *a, const companion *others,
                          int first, int components, bool impacts, const double **columns,
                          channel_judgement *judged)
{
    yk_error_input input = yk_error_channel(pair, first, components, impacts, columns);
    yk_error_distance(&input, &judged->distance);
    double factor = others[0].factor;
    judged->order = NAN;
    judged->regular = true;
    judged->factor = 1 / fabs(pow(factor, ORDER_ASSUMED) - 1);
    judged->far = 0;
    if (a->runs < 3 || a->rows < 2)
        return;

    /* Run, near and far companion by their steps. */
    int by_step[3] = {0, 1, 2};
    double factors[3] = {1, factor, others[1].factor};
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && factors[k] < factors[k - 1]; k--) {
            double f = factors[k];
            int run = by_step[k];
            factors[k] = factors[k - 1];
            by_step[k] = by_step[k - 1];
            factors[k - 1] = f;
            by_step[k - 1] = run;
        }

    bool jumps = judged->distance.accuracy == YK_ACCURACY_DISCONTINUOUS;
    difference_function *difference = jumps ? mean_difference : largest_difference;
    double fine = difference(a, first, components, by_step[0], by_step[1]);
    double coarse = difference(a, first, components, by_step[1], by_step[2]);
    judged->far = judged->distance.range > 0 && !jumps ? coarse / judged->distance.range : 0;
    double order = fine > 0 ? order_of(factors[0], factors[1], factors[2], coarse / fine) : NAN;
    bool too_high = factor > 1 && order > ORDER_MOST;
    judged->regular = order >= ORDER_LEAST && !too_high;
    if (fine == 0 && coarse == 0)
        judged->regular = true;
    if (judged->regular && isfinite(order)) {
        judged->order = order;
        order = fmin(order, ORDER_MOST);
        judged->factor = error_by_difference(factor, order, factors, fine, coarse);
        return;
    }

    /* The finest run is nearer to the truth than any law. */
    judged->factor = factor < 1 ? FACTOR_IRREGULAR : 1;
    if (others[1].factor < factor) {
        double near = largest_difference(a, first, components, 0, 1);
        double far = largest_difference(a, first, components, 0, 2);
        if (near > 0)
            judged->factor *= fmax(1, far / near);
    }
}

/* The largest gravity of all subsystems (m/s2). */
static double largest_gravity(const yk_scenario_info *info)
{
    double largest = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_subsystem *s = info->subsystems[i];
        if (s->ops->scene && s->ops->scene->gravity)
            largest = fmax(largest,
                           info->transforms[i].length_unit * yk_v3_norm(s->ops->scene->gravity(s)));
    }
    return largest;
}

/* Whether bodies lie on others: they move by what a step resolves when their contacts close, which
 * is next to nothing compared with a fall of the same duration. */
static bool rests_in_contact(const companions *c, const yk_channel_error *e, double duration)
{
    double gravity = largest_gravity(c->monitor->info);
    double step = c->monitor->info->step;
    if (strcmp(e->unit, "m") == 0)
        return e->range < fmin(RESTING_STEPS * gravity * step * step,
                               RESTING_FALL * gravity * duration * duration);
    if (strcmp(e->unit, "m/s") == 0)
        return e->range < fmin(RESTING_STEPS * gravity * step, RESTING_SPEED * gravity * duration);
    return false;
}

/* The worst channel into the estimate. */
static yk_status compare(companions *c, const companion *others, int count)
{
    const yk_record_header *header = yk_record_get_header(c->monitor->record);
    const yk_record *records[COMPANIONS_MAX + 1] = {c->monitor->record};
    for (int i = 0; i < count; i++)
        records[i + 1] = others[i].trial->record;

    yk_aligned a = {0};
    yk_aligned all = {0};
    yk_status status = align_common(c->context, records, 2, &a);
    if (!YK_FAILED(status))
        status = align_common(c->context, records, count + 1, &all);
    size_t width = (size_t)yk_record_width(header);
    int channel_count = header->channel_count;
    channel_judgement *judged = yk_allocate(c->context, (size_t)channel_count, sizeof *judged);
    yk_channel_error *errors = yk_allocate(c->context, (size_t)channel_count, sizeof *errors);
    const double **columns = yk_allocate(c->context, 2 * width + 1, sizeof *columns);
    if (!judged || !errors || !columns)
        status = YK_ERROR_MEMORY;
    if (!YK_FAILED(status) && a.rows < 2)
        status = YK_ERROR_ARGUMENT;

    bool impacts = c->monitor->info->has_impacts;
    int first = 0;
    for (int i = 0; !YK_FAILED(status) && i < channel_count; i++) {
        judged[i].distance.name = header->channels[i].name;
        judged[i].distance.unit = header->channels[i].unit;
        judge_channel(&a, &all, others, first, header->channels[i].component_count, impacts,
                      columns, &judged[i]);
        errors[i] = judged[i].distance;
        errors[i].excluded = yk_channel_tells_of_coupling(&c->monitor->scenario->rows[i]) ||
                             is_diagnostic(c->monitor->scenario, i);
        first += header->channels[i].component_count;
    }

    if (!YK_FAILED(status)) {
        double duration = a.time[a.rows - 1] - a.time[0];
        yk_error_exempt_resting(errors, channel_count, duration);

        /* Energies of rounding, and rotations that come to no angle. */
        for (int i = 0; i < channel_count; i++) {
            const char *unit = errors[i].unit;
            double range = errors[i].range;
            bool rounding =
                (strcmp(unit, "J") == 0 && range <= ENERGY_NOISE * c->energy_rounding) ||
                (strcmp(unit, "rad/s") == 0 && range * duration <= RESTING_ANGLE) ||
                (strcmp(unit, "rad") == 0 && range <= RESTING_ANGLE);
            if (rounding || (impacts && rests_in_contact(c, &errors[i], duration)))
                errors[i].excluded = true;
        }
    }

    yk_error_estimate *e = c->estimate;
    int worst = -1;
    int worst_first = 0;
    int statistics_channel = -1;
    double statistics_error = -1;
    bool has_motion = false;
    c->unpredictable = false;
    e->reliable_until = INFINITY;
    for (int i = 0; !YK_FAILED(status) && i < channel_count; i++)
        has_motion = has_motion || !(errors[i].excluded || follows_from_motion(errors[i].unit));
    first = 0;
    for (int i = 0; !YK_FAILED(status) && i < channel_count; i++) {
        channel_judgement *j = &judged[i];
        double scale = scale_of(c, errors, i);
        double size = j->distance.max_error;
        if (j->distance.accuracy == YK_ACCURACY_DISCONTINUOUS) {
            size = j->distance.relative_mean;
            scale = 1;
        }
        j->relative = isfinite(size) ? fmax(ROUNDING, j->factor * size / scale) : INFINITY;
        bool counts = !errors[i].excluded && !(has_motion && follows_from_motion(errors[i].unit));
        if (impacts && !errors[i].excluded) {
            int components = header->channels[i].component_count;
            double statistics =
                statistics_difference(&a, first, components, 0, 1, *errors[i].unit != 'N') /
                scale_of(c, errors, i);
            if (j->distance.relative_to_range * j->factor > c->monitor->tolerance)
                c->unpredictable = true;
            if (!(statistics <= statistics_error)) {
                statistics_error = statistics;
                statistics_channel = i;
            }
        }
        if (counts && !(worst >= 0 && j->relative <= judged[worst].relative)) {
            worst = i;
            worst_first = first;
        }
        first += header->channels[i].component_count;
    }

    if (!YK_FAILED(status)) {
        e->available = true;
        e->relative_error = 0;
        e->regular = true;
        e->order = NAN;
        e->statistics_error = NAN;
        e->dissipation_error = NAN;
        snprintf(e->channel, sizeof e->channel, "%s", "");
    }
    if (!YK_FAILED(status) && statistics_channel >= 0) {
        e->statistics_error = statistics_error;
        snprintf(e->statistics_channel, sizeof e->statistics_channel, "%s",
                 header->channels[statistics_channel].name);
    }

    /* Energy that is negligible compared with the motion says nothing. */
    double dissipated = c->dissipated;
    if (!YK_FAILED(status) && dissipated > SMALL_RANGE * c->energy)
        e->dissipation_error =
            fabs(others[0].trial->report->dissipated_energy - dissipated) / dissipated;
    if (!YK_FAILED(status) && worst >= 0) {
        int components = header->channels[worst].component_count;
        double scale = scale_of(c, errors, worst);
        e->relative_error = judged[worst].relative;
        e->regular = judged[worst].regular;
        e->order = judged[worst].order;
        c->far = judged[worst].far;
        snprintf(e->channel, sizeof e->channel, "%s", header->channels[worst].name);
        e->reliable_until =
            time_of_difference(&a, worst_first, components, 0, 1,
                               c->monitor->tolerance * scale / judged[worst].factor);
    }

    yk_align_release(c->context, &a);
    yk_align_release(c->context, &all);
    yk_free(c->context, judged);
    yk_free(c->context, errors);
    yk_free(c->context, columns);
    return status;
}

/* Verdict ---------------------------------------------------------------------------------------- */

/* Adds the finding of an error that is too large, with a step that would be small enough. */
static void add_error_finding(const yk_error_monitor *monitor, yk_run_report *report)
{
    const yk_error_estimate *e = &report->estimate;
    if (!e->available || !(e->relative_error > monitor->tolerance))
        return;

    yk_finding f = yk_finding_of(YK_FINDING_ESTIMATED_ERROR, YK_CAUSE_DEFAULT, e->relative_error);
    f.limit = monitor->tolerance;
    f.severity = YK_FINDING_SEVERITY_SERIOUS;
    if (!e->regular && e->relative_error > 0.5)
        f.cause = YK_CAUSE_UNPREDICTABLE;
    f.time = e->reliable_until;
    snprintf(f.detail, sizeof f.detail, "%s", e->channel);
    yk_finding_set(&f, "step", monitor->info->step);

    double order = isfinite(e->order) ? fmax(1, fmin(2, e->order)) : 1;
    double parts = pow(2 * e->relative_error / f.limit, 1 / order);
    if (parts < 64) {
        yk_changes changes = {0};
        yk_changes_add(&changes, "time.step=%.10g",
                       monitor->info->step / exp2(ceil(log2(fmax(2, parts)))));
        yk_finding_change(&f, &changes);
    }
    yk_finding_search(&f, YK_REMEDY_SMALLER_STEP);
    yk_finding_describe(monitor->info, &f);
    yk_finding_add(report, &f);
}

/* Adds the finding of means, rms or dissipated energies that other steps change too much. */
static void add_statistics_finding(const yk_error_monitor *monitor, yk_run_report *report)
{
    const yk_error_estimate *e = &report->estimate;
    bool dissipation = e->dissipation_error > e->statistics_error;
    double error = dissipation ? e->dissipation_error : e->statistics_error;
    if (!e->by_statistics || !(error > monitor->tolerance))
        return;

    yk_finding f = yk_finding_of(YK_FINDING_ESTIMATED_ERROR,
                                 dissipation ? YK_CAUSE_DISSIPATION : YK_CAUSE_STATISTICS, error);
    f.limit = monitor->tolerance;

    /* If the recorded motion does not depend on the step, what the contacts dissipate did not matter to it. */
    bool moves_right = e->relative_error <= monitor->tolerance;
    f.severity = moves_right ? YK_FINDING_SEVERITY_WARNING : YK_FINDING_SEVERITY_SERIOUS;
    snprintf(f.detail, sizeof f.detail, "%s", e->statistics_channel);
    yk_finding_set(&f, "step", monitor->info->step);
    yk_finding_search(&f, YK_REMEDY_SMALLER_STEP);
    yk_finding_describe(monitor->info, &f);
    yk_finding_add(report, &f);
}

/* Indirect evidence against a run whose error is known to be small is worth a warning. */
static void weigh_findings(const yk_error_monitor *monitor, yk_run_report *report)
{
    const yk_error_estimate *e = &report->estimate;
    bool good = e->available && e->relative_error <= OUTWEIGHS * monitor->tolerance &&
                (e->regular || e->relative_error <= CLEARLY_GOOD * monitor->tolerance);
    if (!good)
        return;

    for (int i = 0; i < report->finding_count; i++) {
        yk_finding *f = &report->findings[i];
        /* All companions may share a position gap. */
        if (yk_finding_rule_of(f->kind)->is_indirect && f->cause != YK_CAUSE_POSITION)
            f->severity = YK_FINDING_SEVERITY_WARNING;
    }

    /* What remains of the energy error is said by the estimate. */
    int kept = 0;
    for (int i = 0; i < report->finding_count; i++) {
        const yk_finding *f = &report->findings[i];
        bool small = f->kind == YK_FINDING_ENERGY_ERROR && fabs(f->value) <= f->limit;
        if (!small)
            report->findings[kept++] = *f;
    }
    report->finding_count = kept;

    /* Limits that are known before the run are serious only next to another serious finding. */
    bool wrong = false;
    for (int i = 0; i < report->finding_count; i++) {
        const yk_finding *f = &report->findings[i];
        bool cause = yk_finding_rule_of(f->kind)->severity == YK_SERIOUS_IF_RUN_IS_WRONG;
        wrong = wrong || (!cause && f->severity == YK_FINDING_SEVERITY_SERIOUS);
    }
    for (int i = 0; i < report->finding_count && !wrong; i++)
        report->findings[i].severity = YK_FINDING_SEVERITY_WARNING;
}

/* Whether more companions could change the verdict. */
static bool is_decided(const companions *c)
{
    const yk_error_estimate *e = c->estimate;
    double error = e->relative_error / c->monitor->tolerance;
    return (e->regular && c->far <= FAR && error <= CLEARLY_GOOD) ||
           error <= CLEARLY_GOOD * CLEARLY_GOOD;
}

/* A short run: half and twice the steps, and a quarter if that leaves a doubt. */
static yk_status compare_with_finer(companions *c)
{
    companion others[2] = {run_companion(c, 0.5)};
    if (!others[0].trial)
        return YK_ERROR_ARGUMENT;

    yk_status status = compare(c, others, 1);
    others[1] = run_companion(c, 2);
    if (!YK_FAILED(status) && others[1].trial)
        status = compare(c, others, 2);

    double near = c->estimate->relative_error / c->monitor->tolerance;
    bool doubtful = !others[1].trial || !c->estimate->regular;
    doubtful = (doubtful && near > CLEARLY_GOOD) || (near > 0.5 && near < 10);
    if (YK_FAILED(status) || !doubtful || !(4 * COST_MARGIN * c->run_seconds <= c->seconds))
        return status;

    others[1] = run_companion(c, 0.25);
    if (others[1].trial)
        status = compare(c, others, 2);
    return status;
}

/* A longer run: from much larger steps on down to twice the steps, until the error is clear. */
static yk_status compare_with_coarser(companions *c)
{
    double factor = c->monitor->info->has_impacts ? FACTOR_MAX_CONTACT : FACTOR_MAX;
    double steps = (double)c->monitor->info->step_count;
    while (factor > 4 && steps < COMPANION_STEPS * factor)
        factor /= 2;

    companion coarser = {0};
    yk_status status = YK_ERROR_ARGUMENT;
    while (factor >= 2 && COST_MARGIN * c->run_seconds / factor <= c->seconds) {
        companion others[2] = {run_companion(c, factor), coarser};
        bool useless = !others[0].trial;
        if (!useless) {
            status = compare(c, others, coarser.trial ? 2 : 1);
            if (YK_FAILED(status) || (coarser.trial && is_decided(c)))
                return status;
            useless = c->far > FAR;
            coarser = others[0];
        }

        /* Steps that are far too large are followed by much smaller ones. */
        factor = useless && factor > 4 ? factor / 4 : factor / 2;
    }

    /* Larger steps that say nothing, or a doubt that matters. */
    double near = c->estimate->relative_error / c->monitor->tolerance;
    bool doubtful = YK_FAILED(status) || (!c->estimate->regular && near > CLEARLY_GOOD) ||
                    (near > 0.5 && near < 2);
    if (!doubtful || !(2 * COST_MARGIN * c->run_seconds <= DOUBT_SECONDS))
        return status;

    c->seconds = DOUBT_SECONDS;
    companion others[2] = {run_companion(c, 0.5), coarser};
    if (others[0].trial)
        status = compare(c, others, coarser.trial ? 2 : 1);
    return status;
}

/* Names the subsystems whose errors all companions repeat. */
static void name_uncovered(const yk_scenario_info *info, yk_error_estimate *e)
{
    size_t used = 0;
    for (int i = 0; i < info->subsystem_count; i++) {
        const yk_subsystem *s = info->subsystems[i];
        bool covered = !s->ops->keeps_own_steps || !s->ops->keeps_own_steps(s);
        if (!covered && used < sizeof e->uncovered)
            used += (size_t)snprintf(e->uncovered + used, sizeof e->uncovered - used, "%s'%s'",
                                     used > 0 ? ", " : "", info->subsystem_names[i]);
    }
}

/* Why no comparison was possible, by the companion with the smallest steps. */
static void explain_failure(const companions *c, yk_error_estimate *e)
{
    e->available = false;
    const yk_trial *last = c->count > 0 ? &c->trials[c->count - 1] : NULL;
    if (!last)
        yk_format(e->reason, sizeof e->reason, "there was no time for a run with other steps");
    else if (last->status == YK_INTERRUPTED)
        yk_format(e->reason, sizeof e->reason, "runs with other steps took too long");
    else
        yk_format(e->reason, sizeof e->reason, "the run with other steps failed: %.150s",
                  last->message);
}

void yk_error_monitor_judge(yk_error_monitor *monitor, const yk_run_options *options,
                            double run_seconds, bool moves, yk_run_report *report)
{
    yk_error_estimate *e = &report->estimate;
    if (monitor->reason)
        snprintf(e->reason, sizeof e->reason, "%s", monitor->reason);
    if (!monitor->record)
        return;

    /* The motion of a system at rest is rounding. */
    if (!moves) {
        e->available = true;
        e->regular = true;
        e->order = NAN;
        e->statistics_error = NAN;
        e->dissipation_error = NAN;
        e->reliable_until = INFINITY;
        return;
    }

    companions c = {
        .context = monitor->context,
        .monitor = monitor,
        .options = options,
        .run_seconds = run_seconds,
        .seconds = fmax(COST * run_seconds, SECONDS_LEAST),
        .end = monitor->info->end,
        .energy = report->max_energy,
        .energy_rounding = report->energy_rounding,
        .dissipated = report->dissipated_energy,
        .estimate = e,
    };
    yk_log(monitor->context, YK_LOG_DEBUG, "estimating the error");
    name_uncovered(monitor->info, e);
    yk_status status = YK_ERROR_ARGUMENT;
    if (run_seconds <= SHORT_SECONDS)
        status = compare_with_finer(&c);
    if (YK_FAILED(status))
        status = compare_with_coarser(&c);
    if (YK_FAILED(status))
        explain_failure(&c, e);
    for (int i = 0; i < c.count; i++)
        yk_trial_release(&c.trials[i]);

    /* Every impact may send a body another way, so that no step gives the same trajectory. */
    e->by_statistics = e->available && monitor->info->has_impacts && c.unpredictable;
    if (e->by_statistics && e->relative_error > monitor->tolerance) {
        e->available = false;
        yk_format(e->reason, sizeof e->reason,
                  "contact: single trajectories depend on the step from t = %.4g s on",
                  e->reliable_until);
    }

    add_error_finding(monitor, report);
    add_statistics_finding(monitor, report);
    weigh_findings(monitor, report);
}

/* Error bars ------------------------------------------------------------------------------------- */

/* The first time at which the error bar of the worst channel exceeds the tolerance (s). */
static double time_of_error(const yk_record *record, const yk_accuracy_report *accuracy,
                            double tolerance)
{
    const yk_record_header *header = yk_record_get_header(record);
    int first = 0;
    for (int i = 0; i < accuracy->worst_channel; i++)
        first += header->channels[i].component_count;

    const yk_channel_error *worst = &accuracy->channels[accuracy->worst_channel];
    for (size_t row = 0; row < yk_record_row_count(record); row++)
        for (int c = 0; c < header->channels[accuracy->worst_channel].component_count; c++)
            if (!(accuracy->error_bars[first + c][row] <= tolerance * worst->range))
                return yk_record_times(record)[row];
    return yk_record_times(record)[0];
}

void yk_accuracy_judge(const yk_scenario *scenario, const yk_record *record,
                       const yk_accuracy_report *accuracy, double tolerance, yk_run_report *report)
{
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    yk_error_estimate *e = &report->estimate;
    *e = (yk_error_estimate){.available = true,
                             .relative_error = accuracy->worst_channel < 0 ? 0 : accuracy->error,
                             .order = NAN,
                             .reliable_until = INFINITY,
                             .statistics_error = NAN,
                             .dissipation_error = NAN,
                             .run_count = accuracy->refined_run_count};
    if (!accuracy->is_bounded) {
        yk_finding f = yk_finding_of(YK_FINDING_ESTIMATED_ERROR, YK_CAUSE_UNBOUNDED, INFINITY);
        e->available = false;
        snprintf(e->reason, sizeof e->reason, "%.190s", accuracy->summary);
        snprintf(f.detail, sizeof f.detail, "%.250s", accuracy->summary);
        yk_finding_search(&f, YK_REMEDY_SMALLER_STEP);
        yk_finding_describe(info, &f);
        yk_finding_add(report, &f);
        return;
    }
    if (accuracy->worst_channel < 0)
        return;

    const yk_channel_error *worst = &accuracy->channels[accuracy->worst_channel];
    snprintf(e->channel, sizeof e->channel, "%s", worst->name);
    e->order = worst->order;
    e->regular = worst->accuracy != YK_ACCURACY_UNPREDICTABLE;
    if (worst->error > tolerance)
        e->reliable_until = time_of_error(record, accuracy, tolerance);

    /* Both runs of the bars have smaller steps. */
    yk_error_monitor monitor = {.info = info, .tolerance = tolerance};
    add_error_finding(&monitor, report);
    weigh_findings(&monitor, report);
}
