/* Growth of deviations, and the bodies that move in them.
 *
 * The growth per macro step is an eigenvalue of the derivative of the step. If contacts open and
 * close, a derivative does not predict the growth, and a moving base changes it. So a deviation
 * that starts as the least stable mode is followed along the run itself, scaled back to its size in
 * each step. If the two disagree, the run is right. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/stability.h"
#include "math/dense.h"
#include "math/so3.h"

/* Largest number of words for which rest is searched: it needs the full derivative of the step. */
enum { REST_WORDS = 600 };
/* Relative error of the growth per step below which a derivative needs no confirmation: contacts
 * that change cause larger errors. */
static const double RESOLVED = 1e-4;
/* Growth of a deviation from one quarter of the steps to the next that is exponential. */
static const double GROWTH_OF_QUARTERS = 1.7;
/* Factor of the number of macro steps if the followed ones are not sufficient. */
enum { LONGER = 5 };

bool yk_growth_broke_down(yk_status status)
{
    return status == YK_ERROR_NOT_FINITE || status == YK_ERROR_DIVERGED ||
           status == YK_ERROR_SUBSYSTEM || status == YK_ERROR_SINGULAR;
}

yk_status yk_growth_find(yk_step_map *map, const yk_scenario_info *info, const yk_growth_def *def,
                         yk_spectrum *spectrum, yk_growth *growth)
{
    const double h = info->step;
    *growth = (yk_growth){.step = h, .tracked = NAN, .radius = NAN, .error = NAN, .rate = NAN};
    *spectrum = (yk_spectrum){0};

    /* On to the state. */
    double passed = (yk_system_time(map->system) - info->start) / h;
    double wanted = (def->time - info->start) / h - YK_PASSAGE;
    yk_status status = yk_step_map_run(map, (int64_t)fmax(0, round(wanted - passed)));
    if (status != YK_OK)
        return status;

    growth->time = yk_system_time(map->system) + YK_PASSAGE * h;

    /* A state of rest near it, if requested. */
    double *start = yk_allocate(map->context, map->n, sizeof *start);
    if (!start)
        return YK_ERROR_MEMORY;

    status = yk_step_map_set_base(map, start);
    if (status == YK_OK && def->rest && map->n > REST_WORDS)
        status = yk_fail(map->context, YK_ERROR_ARGUMENT,
                         "stability: rest is looked for in systems of up to %d words, this one has "
                         "%zu; take a time at which the run has come to rest",
                         REST_WORDS, map->n);
    else if (status == YK_OK && def->rest)
        status = yk_step_map_rest(map);

    /* No modes: use the deviation that the system produced. */
    if (status == YK_OK && def->follow > 0) {
        *spectrum = (yk_spectrum){.count = 1, .vectors = start, .amplitude = def->follow};
        spectrum->pairs[0].vector_real = start;
        return YK_OK;
    }

    /* The modes, from that deviation on. */
    if (status == YK_OK)
        status = yk_spectrum_find(map, start, def->brief, spectrum);
    yk_free(map->context, start);
    if (status != YK_OK)
        return status;

    growth->amplitude = spectrum->amplitude;
    growth->mode_count = spectrum->count;

    for (int i = 0; i < spectrum->count; i++) {
        const yk_arnoldi_pair *p = &spectrum->pairs[i];
        double modulus = hypot(p->real, p->imaginary);
        growth->modes[i].rate = log(modulus) / h;
        growth->modes[i].error = spectrum->errors[i] / (modulus * h);
        growth->modes[i].phase = atan2(p->imaginary, p->real);
        growth->modes[i].frequency = growth->modes[i].phase / (2 * acos(-1) * h);
    }

    /* The least stable of them. */
    const yk_arnoldi_pair *first = &spectrum->pairs[0];
    growth->radius = hypot(first->real, first->imaginary);
    growth->error = spectrum->errors[0];
    growth->frequency = growth->modes[0].frequency;
    growth->phase = growth->modes[0].phase;

    return YK_OK;
}

/* Carries a deviation over the step of the base, whose result is in map->minus. */
static yk_status carry(yk_step_map *map, double amplitude, double *deviation)
{
    yk_step_map_perturb(map, amplitude, deviation, map->plus);
    yk_status status = yk_step_map_step(map, map->plus);
    if (status == YK_OK)
        yk_step_map_scale(map, 1 / amplitude, map->plus, map->minus, deviation);
    return status;
}

/* Mean logarithm of the growth per macro step over the later half of the steps, and its
 * uncertainty: a drift, which grows proportionally to time, doubles over the later half; and its
 * two quarters may disagree. Ends early if the run breaks down or the deviation becomes too large;
 * NaN if that is too early. */
static yk_status track(yk_step_map *map, const yk_spectrum *spectrum, int steps, double *mean,
                       double *error, double *witnessed)
{
    enum { LEAST_STEPS = 16 };
    const size_t n = map->n;
    const double amplitude = spectrum->amplitude;
    const yk_arnoldi_pair *first = &spectrum->pairs[0];
    double *pair = yk_allocate(map->context, 2 * n + (size_t)steps, sizeof *pair);
    if (!pair)
        return YK_ERROR_MEMORY;

    double *logs = pair + 2 * n;
    memcpy(pair, first->vector_real, n * sizeof *pair);
    if (first->vector_imaginary)
        memcpy(pair + n, first->vector_imaginary, n * sizeof *pair);

    /* Step by step, as long as run and deviation are valid. */
    int done = 0;
    yk_status status = YK_OK;

    for (; done < steps; done++) {
        /* Scale back to its size, as long as that is above the rounding errors of the state. */
        double size = yk_dense_norm(2 * n, pair);
        double largest = 0;
        for (size_t i = 0; i < n; i++)
            if (map->scale[i] > 0)
                largest = fmax(largest, fabs(map->base[i]) / map->scale[i]);
        if (!(size > 0) || !(DBL_EPSILON * largest < 1e-3 * amplitude))
            break;

        for (size_t k = 0; k < 2 * n; k++)
            pair[k] /= size;

        /* One step of the base and of both parts of the deviation. */
        memcpy(map->minus, map->base, map->words * sizeof *map->base);
        status = yk_step_map_step(map, map->minus);
        if (status == YK_OK)
            status = carry(map, amplitude, pair);
        if (status == YK_OK && first->vector_imaginary)
            status = carry(map, amplitude, pair + n);
        if (status != YK_OK)
            break;

        memcpy(map->base, map->minus, map->words * sizeof *map->base);

        double grown = yk_dense_norm(2 * n, pair);
        if (!(grown > 0))
            break;

        logs[done] = log(grown);
    }

    if (yk_growth_broke_down(status))
        status = YK_OK;

    /* The largest growth so far. */
    double whole = 0;
    for (int i = 0; i < done; i++) {
        whole += logs[i];
        *witnessed = fmax(*witnessed, whole);
    }

    /* The later half, in its two quarters. */
    int half = done / 2;
    int quarter = half / 2;
    double sum[2] = {0};
    for (int i = 0; i < half; i++)
        sum[i < quarter] += logs[done - 1 - i];
    yk_free(map->context, pair);
    *mean = NAN;
    *error = NAN;
    if (done >= LEAST_STEPS) {
        *mean = (sum[0] + sum[1]) / half;
        *error = fmax(fabs(sum[0] / (half - quarter) - sum[1] / quarter), log(2) / half);
    }

    return status;
}

yk_status yk_growth_along_run(yk_step_map *map, double amplitude, int64_t steps, double *logarithm,
                              bool *exponential)
{
    enum { QUARTERS = 4 };
    const size_t n = map->n;
    *logarithm = NAN;
    *exponential = true;
    double *deviation = yk_allocate(map->context, n + 1, sizeof *deviation);
    if (!deviation)
        return YK_ERROR_MEMORY;

    /* The largest deviation of each quarter of the run, which is cut back to its size after every
     * step. */
    double largest[QUARTERS] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    double grown = 0;
    yk_status status = yk_step_map_set_base(map, deviation);
    for (int64_t i = 0; status == YK_OK && i < steps; i++) {
        double size = yk_dense_norm(n, deviation);
        if (!(size > 0))
            break;
        for (size_t k = 0; k < n; k++)
            deviation[k] /= size;
        grown += log(size);

        memcpy(map->minus, map->base, map->words * sizeof *map->base);
        status = yk_step_map_step(map, map->minus);
        if (status == YK_OK)
            status = carry(map, amplitude, deviation);
        memcpy(map->base, map->minus, map->words * sizeof *map->base);
        int quarter = (int)((double)i * QUARTERS / (double)steps);
        largest[quarter] = fmax(largest[quarter], grown);
    }
    yk_free(map->context, deviation);
    if (status != YK_OK || !isfinite(largest[QUARTERS - 1]))
        return status;

    /* Neighbours on a regular motion move apart in proportion to the time: twice as far in the
     * second quarter, and 1.5 times as far in the third. The first quarter may be a transient, and
     * what grows exponentially may have reached its limits in the last. */
    *logarithm = largest[QUARTERS - 1];
    *exponential = false;
    int in_a_row = 0;
    for (int i = 1; i < QUARTERS; i++) {
        bool grows = largest[i] - largest[i - 1] > log(GROWTH_OF_QUARTERS);
        in_a_row = grows ? in_a_row + 1 : 0;
        *exponential = *exponential || in_a_row == 2;
    }
    return YK_OK;
}

yk_status yk_growth_follow(yk_step_map *map, const yk_growth_def *def, const yk_spectrum *spectrum,
                           yk_growth *growth)
{
    const double h = growth->step;
    const double grown = fabs(growth->radius - 1);
    const bool modes = !(def->follow > 0);
    growth->confirmed = true;
    growth->rate = log(growth->radius) / h;
    growth->rate_error = growth->error / (growth->radius * h);

    /* Continue longer if relevant growth cannot be distinguished from none. */
    int steps = def->track;
    if (def->rest)
        steps = 0;
    for (int round = 0; round < 2 && steps > 0; round++, steps *= LONGER) {
        double mean;
        double error;
        yk_status status = track(map, spectrum, steps, &mean, &error, &growth->witnessed);
        if (status != YK_OK)
            return status;

        /* Steps that are not repeatable appear as unlimited growth. */
        growth->tracked = exp(mean);
        if (modes && !(growth->tracked <= 2 * fmax(1, growth->radius)))
            growth->tracked = NAN;
        if (isnan(growth->tracked)) {
            if (!modes) {
                growth->rate = INFINITY;
                growth->rate_error = 0;
            }

            return YK_OK;
        }

        /* A derivative on which differences of several sizes agree is accepted, except for growth
         * that it cannot represent; if its error exceeds half of the growth, the run is more
         * reliable; in between the run must confirm it. */
        double apart = fabs(growth->tracked - growth->radius);
        bool resolved = growth->error <= fmax(RESOLVED * grown, 1e-6);
        resolved = resolved && mean - error <= fmax(0, 2 * log(growth->radius));
        bool confirmed = growth->error <= 0.5 * grown;
        confirmed = confirmed && apart <= 0.3 * grown + fmin(3 * growth->error, 0.01);
        growth->confirmed = modes && (resolved || confirmed);
        if (growth->confirmed)
            return YK_OK;

        /* Accept the run, if its result is significant. */
        growth->rate = mean / h;
        growth->rate_error = error / h;
        bool open = growth->rate > def->notable && growth->rate <= growth->rate_error;
        if (!open)
            break;
    }

    return YK_OK;
}

/* Modes ------------------------------------------------------------------------------------------
 *
 * The bodies that move in a mode, and the interface that drives it. In a step the interfaces do the
 * work
 *
 *   W = sum of dF . (dx(t + h) - dx(t)) over both sides
 *
 * on the deviation, with dF, dx the deviations of wrenches and poses of their ports. A rigid joint
 * does none: the interface whose two sides cancel least drives a mode of the coupling. Deviations
 * of ports are first differences, which are accurate; kinetic energies are second differences, for
 * which the amplitude can be larger because no step is involved. For a complex mode, real and
 * imaginary part are summed, which is the mean over a period. The same runs show the moving bodies,
 * by differences of their recorded positions. */

/* Amplitude of the differences of energies: they are of second order, so that small ones are lost
 * in rounding errors. */
static const double ENERGY_AMPLITUDE = 100;

/* Output of a side of an interface, before and after the step. */
typedef struct side {
    yk_motion before, after;
    yk_wrench wrench;
} side;

/* An object with a position: a body by its channel, or a port. */
typedef struct mover {
    int subsystem;
    int channel; /* -1: a port */
    int port;
    const char *name;
    double size; /* square of its motion in the mode */
} mover;

typedef struct inquiry {
    yk_step_map *map;
    const yk_scenario_info *info;
    double amplitude;
    mover *movers;
    int mover_count;
    /* Of the two runs of one step, with the positive and the negative deviation. */
    side *sides[2];       /* two per interface */
    double *positions[2]; /* of all movers: x, y, z each */
    /* Sums over the parts of the mode, divided by the square of the amplitude. */
    double *kinetic; /* per subsystem, second differences */
    double *work;    /* per interface */
} inquiry;

/* Bodies if a subsystem names them; otherwise its ports. */
static int list_movers(const yk_scenario_info *info, mover *list)
{
    int count = 0;
    for (int s = 0; s < info->subsystem_count; s++) {
        const yk_subsystem *part = info->subsystems[s];
        const yk_channel *channels = NULL;
        int before = count;
        int channel_count = 0;
        if (part->ops->channels)
            channel_count = part->ops->channels->list(part, &channels);

        /* A body has a channel of its position. */
        for (int i = 0; i < channel_count; i++) {
            const char *dot = strrchr(channels[i].name, '.');
            if (channels[i].component_count != 3 || !dot || strcmp(dot, ".position") != 0)
                continue;
            if (list)
                list[count] = (mover){.subsystem = s, .channel = i, .name = channels[i].name};
            count++;
        }

        if (count > before)
            continue;

        /* Without bodies, its ports represent it. */
        const yk_port *ports;
        int port_count = part->ops->ports(part, &ports);

        for (int i = 0; i < port_count; i++) {
            mover port = {.subsystem = s, .channel = -1, .port = i, .name = ports[i].name};
            if (list)
                list[count] = port;
            count++;
        }
    }

    return count;
}

static const yk_port_value *port_of(const inquiry *q, int interface, int which)
{
    const yk_interface_def *def = &q->info->interfaces[interface];
    if (which == 0)
        return yk_system_port_value(q->map->system, def->wrench_subsystem, def->wrench_port);

    return yk_system_port_value(q->map->system, def->motion_subsystem, def->motion_port);
}

static yk_vec3 deviation(yk_vec3 plus, yk_vec3 minus)
{
    return yk_v3_scale(0.5, yk_v3_sub(plus, minus));
}

/* Half the rotation from one orientation to the other. */
static yk_vec3 rotation_deviation(yk_quat plus, yk_quat minus)
{
    return yk_v3_scale(0.5, yk_so3_log(yk_q_mul(plus, yk_q_conjugate(minus))));
}

/* Rounding error of a difference of two numbers of this size. */
static double rounding(yk_vec3 v)
{
    return 8 * DBL_EPSILON * yk_v3_norm(v);
}

/* The work of one side in the step; zero if it is within the rounding errors of its terms. */
static double work_on(const side *plus, const side *minus, bool marker)
{
    /* dF . (dx(t + h) - dx(t)). */
    yk_vec3 force = deviation(plus->wrench.force, minus->wrench.force);
    yk_vec3 from = deviation(plus->before.position, minus->before.position);
    yk_vec3 to = deviation(plus->after.position, minus->after.position);
    yk_vec3 displacement = yk_v3_sub(to, from);
    double noise = yk_v3_norm(force) * rounding(plus->after.position) +
                   yk_v3_norm(displacement) * rounding(plus->wrench.force);
    double work = force.x * displacement.x;
    if (marker) {
        /* And that of the torque along the rotation. */
        yk_vec3 torque = deviation(plus->wrench.torque, minus->wrench.torque);
        yk_vec3 first = rotation_deviation(plus->before.orientation, minus->before.orientation);
        yk_vec3 second = rotation_deviation(plus->after.orientation, minus->after.orientation);
        yk_vec3 rotation = yk_v3_sub(second, first);
        work = yk_v3_dot(force, displacement) + yk_v3_dot(torque, rotation);
        noise += yk_v3_norm(torque) * 8 * DBL_EPSILON +
                 yk_v3_norm(rotation) * rounding(plus->wrench.torque);
    }

    if (fabs(work) > 4 * noise)
        return work;
    return 0;
}

/* Adds the motion of one part of the mode. */
static yk_status look_along(inquiry *q, const double *vector)
{
    yk_step_map *map = q->map;
    const yk_scenario_info *info = q->info;

    /* Second differences of the energies, without a step. */
    for (int k = -1; k <= 1; k++) {
        yk_step_map_perturb(map, k * ENERGY_AMPLITUDE, vector, map->plus);
        yk_status status = yk_system_set_state(map->system, map->plus);
        if (YK_FAILED(status))
            return status;

        double weight = 1;
        if (k == 0)
            weight = -2;
        double factor = weight / (ENERGY_AMPLITUDE * ENERGY_AMPLITUDE);

        for (int i = 0; i < info->subsystem_count; i++) {
            yk_energy energy;
            if (yk_system_energy(map->system, (yk_subsystem_id){i}, &energy))
                q->kinetic[i] += factor * energy.kinetic;
            else
                q->kinetic[i] = NAN;
        }
    }

    /* With the positive and the negative deviation: the state, a step, and the state after it. */
    for (int run = 0; run < 2; run++) {
        side *sides = q->sides[run];
        double amplitude = q->amplitude;
        if (run == 1)
            amplitude = -q->amplitude;
        yk_step_map_perturb(map, amplitude, vector, map->plus);
        yk_status status = yk_system_set_state(map->system, map->plus);
        if (YK_FAILED(status))
            return status;

        /* Positions of the bodies ... */
        for (int i = 0; i < q->mover_count; i++) {
            const mover *m = &q->movers[i];
            double *position = q->positions[run] + 3 * (size_t)i;
            if (m->channel >= 0) {
                yk_system_read_channel(map->system, (yk_subsystem_id){m->subsystem}, m->channel,
                                       position);
                continue;
            }

            yk_vec3 p = yk_system_port_value(map->system, (yk_subsystem_id){m->subsystem},
                                             (yk_port_id){m->port})
                            ->motion.position;
            position[0] = p.x;
            position[1] = p.y;
            position[2] = p.z;
        }

        /* ... and outputs of the sides of interfaces before and after the step. */
        for (int i = 0; i < 2 * info->interface_count; i++)
            sides[i].before = port_of(q, i / 2, i % 2)->motion;

        status = yk_step_map_step(map, map->plus);
        if (status != YK_OK)
            return status;

        for (int i = 0; i < 2 * info->interface_count; i++) {
            const yk_port_value *value = port_of(q, i / 2, i % 2);
            sides[i].after = value->motion;
            sides[i].wrench = value->wrench;
        }
    }

    /* The work of both sides of every interface, and how far each body moved. */
    double square = q->amplitude * q->amplitude;
    for (int i = 0; i < 2 * info->interface_count; i++) {
        const yk_interface_def *def = &info->interfaces[i / 2];
        const yk_subsystem *part = info->subsystems[def->wrench_subsystem.index];
        const yk_port *ports;
        part->ops->ports(part, &ports);
        bool marker = ports[def->wrench_port.index].kind == YK_PORT_MARKER;
        q->work[i / 2] += work_on(&q->sides[0][i], &q->sides[1][i], marker) / square;
    }

    for (int i = 0; i < q->mover_count; i++) {
        for (int k = 0; k < 3; k++) {
            double change = q->positions[0][3 * i + k] - q->positions[1][3 * i + k];
            q->movers[i].size += change * change;
        }
    }

    return YK_OK;
}

/* The names of the bodies with the largest motion, up to three. */
static void name_movers(const inquiry *q, yk_stability_mode *mode)
{
    enum { NAMED = 3 };
    static const double NOTABLE = 0.1;
    double largest = 0;
    size_t used = 0;
    *mode->moving_bodies = '\0';

    for (int round = 0; round < NAMED; round++) {
        /* The largest of those left, unless it is negligible compared with the first. */
        mover *most = NULL;
        for (int i = 0; i < q->mover_count; i++) {
            mover *m = &q->movers[i];
            if (m->size > 0 && (!most || m->size > most->size))
                most = m;
        }

        if (!most)
            return;
        if (round == 0)
            largest = most->size;
        if (most->size < NOTABLE * NOTABLE * largest)
            return;

        /* A body without the name of its quantity; a name that does not fit ends the list. */
        int length = (int)strlen(most->name);
        if (most->channel >= 0)
            length -= (int)strlen(".position");
        size_t left = sizeof mode->moving_bodies - used;
        const char *separator = round > 0 ? ", " : "";
        int added = snprintf(mode->moving_bodies + used, left, "%s%s.%.*s", separator,
                             q->info->subsystem_names[most->subsystem], length, most->name);
        if (added < 0 || (size_t)added >= left) {
            mode->moving_bodies[used] = '\0';
            return;
        }

        used += (size_t)added;
        most->size = 0;
    }
}

yk_status yk_stability_describe(yk_step_map *map, const yk_scenario_info *info, double amplitude,
                                const double *real, const double *imaginary,
                                yk_stability_mode *mode)
{
    /* Memory for both runs of a step, and for the sums. */
    yk_context *context = map->context;
    size_t parts = (size_t)info->subsystem_count;
    size_t interfaces = (size_t)info->interface_count;
    inquiry q = {.map = map, .info = info, .amplitude = amplitude};
    q.mover_count = list_movers(info, NULL);
    size_t positions = 3 * (size_t)q.mover_count;
    q.movers = yk_allocate(context, (size_t)q.mover_count + 1, sizeof *q.movers);
    double *numbers = yk_allocate(context, 2 * positions + parts + interfaces, sizeof *numbers);
    side *sides = yk_allocate(context, 4 * interfaces, sizeof *sides);
    yk_status status = YK_OK;
    if (!q.movers || !numbers || !sides)
        status = YK_ERROR_MEMORY;

    /* Along the real part, and along the imaginary one. */
    if (status == YK_OK) {
        list_movers(info, q.movers);

        for (size_t run = 0; run < 2; run++) {
            q.sides[run] = sides + 2 * interfaces * run;
            q.positions[run] = numbers + positions * run;
        }

        q.kinetic = numbers + 2 * positions;
        q.work = q.kinetic + parts;
        status = look_along(&q, real);
    }

    if (status == YK_OK && imaginary)
        status = look_along(&q, imaginary);

    if (status == YK_OK) {
        /* The interface with the largest work. */
        bool merged = yk_scheme_traits(&info->scheme) & YK_SCHEME_MERGES;
        double most = -1;
        mode->interface = YK_NULL_INTERFACE;

        for (int i = 0; !merged && i < info->interface_count; i++) {
            if (!(fabs(q.work[i]) > most))
                continue;

            most = fabs(q.work[i]);
            mode->interface = (yk_interface_id){i};
        }

        /* The subsystem with the largest part of the kinetic energy. */
        double sum = 0;
        most = -1;
        mode->subsystem = YK_NULL_SUBSYSTEM;

        for (int i = 0; i < info->subsystem_count; i++) {
            double size = fabs(q.kinetic[i]);
            sum += size;
            if (!(size > most))
                continue;

            most = size;
            mode->subsystem = (yk_subsystem_id){i};
        }

        mode->kinetic_fraction = most / sum;
        if (!isfinite(mode->kinetic_fraction)) {
            mode->subsystem = YK_NULL_SUBSYSTEM;
            mode->kinetic_fraction = NAN;
        }

        name_movers(&q, mode);
    }

    yk_free(context, q.movers);
    yk_free(context, numbers);
    yk_free(context, sides);
    return status;
}
