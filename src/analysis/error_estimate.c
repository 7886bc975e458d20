/* The error of every recorded channel, by the differences between the run and its companions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/companions.h"
#include "analysis/run_difference.h"
#include "math/vec3.h"
#include "model/scenario.h"

/* Orders of methods that are believed. */
static const double ORDER_LEAST = 0.6;
static const double ORDER_MOST = 4.6;
/* Order up to which an error is extrapolated from steps that are this many times as large, or from
 * runs that differ much: errors of higher order dominate there, and others remain near the run. */
static const double FACTOR_FAR = 4;
static const double ORDER_MOST_FAR = 2;
/* Order without a third run: between 1 and 2. */
static const double ORDER_ASSUMED = 1.5;
/* Error relative to the difference to a finer run, if they do not fall regularly: of any order. */
static const double FACTOR_IRREGULAR = 1.4;
/* Range of a force relative to what its energy and motion could cause, and dissipated energy
 * relative to that of the motion, below which they are compared with these. */
static const double SMALL_RANGE = 0.01;
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
/* Differences of one channel between the runs, and what follows from them. */
typedef struct channel_judgement {
    yk_channel_error distance; /* of the run from the companion with half or twice its steps */
    double relative;           /* error relative to its scale */
    double factor;             /* of the distance: what the error is by it */
    double order;              /* NaN: not observed */
    double far;                /* largest difference of the runs, by the range */
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
static double scale_of(const yk_companions *c, const yk_channel_error *channels, int index)
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

/* Error of the run by its difference to the companion (1), and by the order that it shows with a
 * companion (2). The rows of all three runs (`a`) are fewer than those of two (`pair`). */
static void judge_channel(const yk_aligned *pair, const yk_aligned *a, const yk_companion *others,
                          int first, int components, bool impacts, const double **columns,
                          channel_judgement *judged)
{
    yk_error_input input = yk_error_channel(pair, first, components, impacts, columns);
    yk_error_distance(&input, &judged->distance);
    double factor = others[0].factor;
    judged->order = NAN;
    judged->regular = true;
    judged->factor = 1 / fabs(pow(factor, ORDER_ASSUMED) - 1);
    judged->far = judged->distance.relative_to_range;
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
    yk_difference_function *difference = jumps ? yk_mean_difference : yk_largest_difference;
    double fine = difference(a, first, components, by_step[0], by_step[1]);
    double coarse = difference(a, first, components, by_step[1], by_step[2]);
    judged->far =
        judged->distance.range > 0 && !jumps ? fmax(fine, coarse) / judged->distance.range : 0;
    double order =
        fine > 0 ? yk_order_of_differences(factors[0], factors[1], factors[2], coarse / fine) : NAN;
    bool too_high = factor > 1 && order > ORDER_MOST;
    judged->regular = order >= ORDER_LEAST && !too_high;
    if (fine == 0 && coarse == 0)
        judged->regular = true;
    if (judged->regular && isfinite(order)) {
        judged->order = order;
        bool is_far = factor >= FACTOR_FAR || (factor > 1 && judged->far > YK_COMPANIONS_FAR);
        order = fmin(order, is_far ? ORDER_MOST_FAR : ORDER_MOST);
        judged->factor = yk_error_by_difference(factor, order, factors, fine, coarse);
        return;
    }

    /* The finest run is nearer to the truth than any law. */
    judged->factor = factor < 1 ? FACTOR_IRREGULAR : 1;
    if (others[1].factor < factor) {
        double near = yk_largest_difference(a, first, components, 0, 1);
        double far = yk_largest_difference(a, first, components, 0, 2);
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
static bool rests_in_contact(const yk_companions *c, const yk_channel_error *e, double duration)
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

yk_status yk_compare_companions(yk_companions *c, const yk_companion *others, int count)
{
    const yk_record_header *header = yk_record_get_header(c->monitor->record);
    const yk_record *records[YK_COMPANIONS_MAX + 1] = {c->monitor->record};
    for (int i = 0; i < count; i++)
        records[i + 1] = others[i].trial->record;

    yk_aligned a = {0};
    yk_aligned all = {0};
    yk_status status = yk_align_common(c->context, records, 2, &a);
    if (!YK_FAILED(status))
        status = yk_align_common(c->context, records, count + 1, &all);
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
    double hidden = 0;
    c->unpredictable = false;
    e->reliable_until = INFINITY;
    for (int i = 0; !YK_FAILED(status) && i < channel_count; i++)
        has_motion = has_motion || !(errors[i].excluded || follows_from_motion(errors[i].unit));
    first = 0;
    for (int i = 0; !YK_FAILED(status) && i < channel_count; i++) {
        channel_judgement *j = &judged[i];
        double scale = scale_of(c, errors, i);
        double size = j->distance.max_error;
        if (j->distance.accuracy == YK_ACCURACY_DISCONTINUOUS)
            size = j->distance.relative_mean * j->distance.range;
        j->relative = isfinite(size) ? fmax(ROUNDING, j->factor * size / scale) : INFINITY;
        bool counts = !errors[i].excluded && !(has_motion && follows_from_motion(errors[i].unit));
        if (impacts && !errors[i].excluded) {
            int components = header->channels[i].component_count;
            double statistics =
                yk_statistics_difference(&a, first, components, 0, 1, *errors[i].unit != 'N') /
                scale_of(c, errors, i);
            if (j->distance.max_error * j->factor > c->monitor->tolerance * scale)
                c->unpredictable = true;
            if (!(statistics <= statistics_error)) {
                statistics_error = statistics;
                statistics_channel = i;
            }
        }
        for (int k = 0; counts && k < header->channels[i].component_count; k++)
            if (errors[i].range > 0)
                hidden = fmax(hidden,
                              yk_hidden_motion(yk_record_times(records[0]),
                                               yk_record_column(records[0], i, k),
                                               yk_record_row_count(records[0]), &all, first + k) /
                                  scale);
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
        c->hidden = hidden;
        snprintf(e->channel, sizeof e->channel, "%s", header->channels[worst].name);
        e->reliable_until =
            yk_time_of_difference(&a, worst_first, components, 0, 1,
                                  c->monitor->tolerance * scale / judged[worst].factor);
    }

    yk_align_release(c->context, &a);
    yk_align_release(c->context, &all);
    yk_free(c->context, judged);
    yk_free(c->context, errors);
    yk_free(c->context, columns);
    return status;
}
