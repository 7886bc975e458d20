/* Who moves in a mode, and at which interface it is driven. In a step the interfaces do the work
 *
 *   W = sum of dF . (dx(t + h) - dx(t)) over both sides
 *
 * on the deviation, with dF, dx the deviations of wrenches and poses of their ports. A rigid
 * joint does none: the interface whose two sides cancel least is the one that a mode of the
 * coupling lives at. Deviations of ports come from first differences, which are exact; kinetic
 * energies from second differences, for which the amplitude can be larger as no step is involved.
 * Of a complex mode real and imaginary part are summed, which is the mean over a period. The same
 * runs show which bodies move: their recorded positions are differenced. */
#include "analysis/stability_mode.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"
#include "math/dense.h"
#include "math/so3.h"

/* What a side of an interface shows, before and after the step. */
typedef struct side {
    yk_motion before, after;
    yk_wrench wrench;
} side;

/* What a run of one step shows. */
typedef struct view {
    side *sides;      /* two per interface */
    double *position; /* of all that have one: x, y, z each */
} view;

/* Something with a position: a body by its channel, or a port. */
typedef struct mover {
    int subsystem;
    int channel; /* -1: a port */
    int port;
    const char *name;
    double size; /* of its motion in the mode */
} mover;

typedef struct inquiry {
    yk_step_map *map;
    const yk_scenario_info *info;
    double amplitude;
    mover *movers;
    int mover_count;
    double *room;
    side *sides;
    view views[2]; /* plus, minus */
    /* Summed over the parts of the mode. */
    double *kinetic; /* per subsystem, second differences by the square of the amplitude */
    double *work;    /* per interface, the same */
} inquiry;

/* Amplitude of the differences of energies: they are of second order, so that small ones drown in
 * rounding. */
static const double ENERGY_AMPLITUDE = 100;

/* Movers --------------------------------------------------------------------------------------- */

static bool is_position(const yk_channel *channel)
{
    const char *dot = strrchr(channel->name, '.');
    return channel->components == 3 && dot && strcmp(dot, ".position") == 0;
}

/* Bodies where a subsystem names them; its ports where it does not. */
static int list_movers(const yk_scenario_info *info, mover *list)
{
    int count = 0;
    for (int s = 0; s < info->subsystem_count; s++) {
        const yk_subsystem *part = info->subsystems[s];
        const yk_channel *channels = NULL;
        const yk_port *ports;
        int before = count, channel_count = 0;
        if (part->ops->channels)
            channel_count = part->ops->channels->list(part, &channels);
        for (int i = 0; i < channel_count; i++) {
            if (!is_position(&channels[i]))
                continue;
            if (list)
                list[count] = (mover){.subsystem = s, .channel = i, .name = channels[i].name};
            count++;
        }
        int port_count = count == before ? part->ops->ports(part, &ports) : 0;
        for (int i = 0; i < port_count; i++, count++)
            if (list)
                list[count] =
                    (mover){.subsystem = s, .channel = -1, .port = i, .name = ports[i].name};
    }
    return count;
}

static void read_mover(const inquiry *q, const mover *m, double *position)
{
    if (m->channel >= 0) {
        yk_system_channel(q->map->system, m->subsystem, m->channel, position);
        return;
    }
    yk_vec3 p = yk_system_output(q->map->system, m->subsystem, m->port)->motion.position;
    position[0] = p.x, position[1] = p.y, position[2] = p.z;
}

/* Runs ----------------------------------------------------------------------------------------- */

static const yk_port_value *port_of(const inquiry *q, int number, int which)
{
    const yk_interface_def *interface = &q->info->interfaces[number];
    return which == 0 ? yk_system_output(q->map->system, interface->wrench_subsystem,
                                         interface->wrench_port)
                      : yk_system_output(q->map->system, interface->motion_subsystem,
                                         interface->motion_port);
}

/* Looks at the state, takes the step, and looks again. */
static yk_status look(inquiry *q, double amplitude, const double *vector, view *out)
{
    yk_step_map *map = q->map;
    int interfaces = q->info->interface_count;
    yk_step_map_perturb(map, amplitude, vector, map->plus);
    yk_status status = yk_system_state_set(map->system, map->plus);
    if (status < 0)
        return status;
    for (int i = 0; i < q->mover_count; i++)
        read_mover(q, &q->movers[i], out->position + 3 * (size_t)i);
    for (int i = 0; i < 2 * interfaces; i++)
        out->sides[i].before = port_of(q, i / 2, i % 2)->motion;
    status = yk_step_map_step(map, map->plus);
    for (int i = 0; i < 2 * interfaces; i++) {
        const yk_port_value *value = port_of(q, i / 2, i % 2);
        out->sides[i].after = value->motion, out->sides[i].wrench = value->wrench;
    }
    return status;
}

/* Half the rotation from one orientation to the other. */
static yk_vec3 rotation_deviation(yk_quat plus, yk_quat minus)
{
    return yk_v3_scale(0.5, yk_so3_log(yk_q_mul(plus, yk_q_conjugate(minus))));
}

static yk_vec3 deviation(yk_vec3 plus, yk_vec3 minus)
{
    return yk_v3_scale(0.5, yk_v3_sub(plus, minus));
}

/* Rounding of a difference of two numbers of this size. */
static double rounding(yk_vec3 v)
{
    return 8 * DBL_EPSILON * yk_v3_norm(v);
}

/* None where it is not told from the rounding of what it comes from. */
static double work_on(const side *plus, const side *minus, bool marker)
{
    yk_vec3 force = deviation(plus->wrench.force, minus->wrench.force);
    yk_vec3 from = deviation(plus->before.position, minus->before.position);
    yk_vec3 displacement = yk_v3_sub(deviation(plus->after.position, minus->after.position), from);
    double noise = yk_v3_norm(force) * rounding(plus->after.position) +
                   yk_v3_norm(displacement) * rounding(plus->wrench.force);
    double work = force.x * displacement.x;
    if (marker) {
        yk_vec3 torque = deviation(plus->wrench.torque, minus->wrench.torque);
        yk_vec3 rotation =
            yk_v3_sub(rotation_deviation(plus->after.orientation, minus->after.orientation),
                      rotation_deviation(plus->before.orientation, minus->before.orientation));
        work = yk_v3_dot(force, displacement) + yk_v3_dot(torque, rotation);
        noise += yk_v3_norm(torque) * 8 * DBL_EPSILON +
                 yk_v3_norm(rotation) * rounding(plus->wrench.torque);
    }
    return fabs(work) > 4 * noise ? work : 0;
}

static bool has_marker(const yk_scenario_info *info, int number)
{
    const yk_interface_def *interface = &info->interfaces[number];
    const yk_port *ports;
    const yk_subsystem *part = info->subsystems[interface->wrench_subsystem];
    part->ops->ports(part, &ports);
    return ports[interface->wrench_port].kind == YK_PORT_MARKER;
}

/* Second differences of the energies, without a step. */
static yk_status add_energies(inquiry *q, const double *vector)
{
    yk_step_map *map = q->map;
    for (int k = -1; k <= 1; k++) {
        yk_step_map_perturb(map, k * ENERGY_AMPLITUDE, vector, map->plus);
        yk_status status = yk_system_state_set(map->system, map->plus);
        if (status < 0)
            return status;
        double factor = (k == 0 ? -2 : 1) / (ENERGY_AMPLITUDE * ENERGY_AMPLITUDE);
        for (int i = 0; i < q->info->subsystem_count; i++) {
            yk_energy energy;
            bool reported = yk_system_energy(map->system, i, &energy);
            q->kinetic[i] += reported ? factor * energy.kinetic : NAN;
        }
    }
    return YK_OK;
}

static yk_status look_along(inquiry *q, const double *vector)
{
    view *plus = &q->views[0], *minus = &q->views[1];
    yk_status status = add_energies(q, vector);
    if (status == YK_OK)
        status = look(q, q->amplitude, vector, plus);
    if (status == YK_OK)
        status = look(q, -q->amplitude, vector, minus);
    if (status < 0)
        return status;
    double square = q->amplitude * q->amplitude;
    for (int i = 0; i < 2 * q->info->interface_count; i++) {
        double work =
            work_on(&plus->sides[i], &minus->sides[i], has_marker(q->info, i / 2)) / square;
        q->work[i / 2] += work;
    }
    for (int i = 0; i < q->mover_count; i++)
        for (int k = 0; k < 3; k++) {
            double change = plus->position[3 * i + k] - minus->position[3 * i + k];
            q->movers[i].size += change * change;
        }
    return YK_OK;
}

/* Answers -------------------------------------------------------------------------------------- */

static void report_interface(const inquiry *q, yk_stability_mode *mode)
{
    double most = -1;
    mode->interface = -1;
    if (yk_scheme_traits(&q->info->scheme) & YK_SCHEME_MERGES)
        return;
    for (int i = 0; i < q->info->interface_count; i++)
        if (fabs(q->work[i]) > most)
            most = fabs(q->work[i]), mode->interface = i;
}

static void report_subsystem(const inquiry *q, yk_stability_mode *mode)
{
    double sum = 0, most = -1;
    mode->subsystem = -1;
    for (int i = 0; i < q->info->subsystem_count; i++) {
        double size = fabs(q->kinetic[i]);
        sum += size;
        if (size > most)
            most = size, mode->subsystem = i;
    }
    mode->moving_fraction = most / sum;
    if (!isfinite(mode->moving_fraction))
        mode->subsystem = -1, mode->moving_fraction = NAN;
}

static void report_movers(const inquiry *q, yk_stability_mode *mode)
{
    enum { NAMED = 3 };
    static const double NOTABLE = 0.1; /* of the largest motion */
    double largest = 0;
    size_t used = 0;
    *mode->moving = '\0';
    for (int round = 0; round < NAMED; round++) {
        int best = -1;
        for (int i = 0; i < q->mover_count; i++)
            if (q->movers[i].size > 0 && (best < 0 || q->movers[i].size > q->movers[best].size))
                best = i;
        if (best < 0)
            break;
        mover *m = &q->movers[best];
        if (round == 0)
            largest = m->size;
        if (m->size < NOTABLE * NOTABLE * largest)
            break;
        int length = (int)strlen(m->name);
        if (m->channel >= 0)
            length -= (int)strlen(".position");
        int added = snprintf(mode->moving + used, sizeof mode->moving - used, "%s%s.%.*s",
                             round ? ", " : "", q->info->names[m->subsystem], length, m->name);
        if (added < 0 || (size_t)added >= sizeof mode->moving - used) {
            mode->moving[used] = '\0';
            break;
        }
        used += (size_t)added;
        m->size = 0;
    }
}

static yk_status open_inquiry(inquiry *q)
{
    yk_context *context = q->map->context;
    size_t parts = (size_t)q->info->subsystem_count, interfaces = (size_t)q->info->interface_count;
    q->mover_count = list_movers(q->info, NULL);
    size_t positions = 3 * (size_t)q->mover_count;
    q->movers = yk_allocate(context, (size_t)q->mover_count + 1, sizeof *q->movers);
    q->room = yk_allocate(context, 2 * positions + parts + interfaces, sizeof *q->room);
    q->sides = yk_allocate(context, 4 * interfaces, sizeof *q->sides);
    if (!q->movers || !q->room || !q->sides)
        return YK_ERROR_MEMORY;
    list_movers(q->info, q->movers);
    for (size_t i = 0; i < 2; i++)
        q->views[i] =
            (view){.sides = q->sides + 2 * interfaces * i, .position = q->room + positions * i};
    q->kinetic = q->room + 2 * positions;
    q->work = q->kinetic + parts;
    return YK_OK;
}

static void close_inquiry(inquiry *q)
{
    yk_release(q->map->context, q->movers);
    yk_release(q->map->context, q->room);
    yk_release(q->map->context, q->sides);
}

yk_status yk_stability_describe(yk_step_map *map, const yk_scenario_info *info, double amplitude,
                                const double *real, const double *imaginary,
                                yk_stability_mode *mode)
{
    inquiry q = {.map = map, .info = info, .amplitude = amplitude};
    yk_status status = open_inquiry(&q);
    if (status == YK_OK)
        status = look_along(&q, real);
    if (status == YK_OK && imaginary)
        status = look_along(&q, imaginary);
    if (status == YK_OK) {
        report_interface(&q, mode);
        report_subsystem(&q, mode);
        report_movers(&q, mode);
    }
    close_inquiry(&q);
    return status;
}
