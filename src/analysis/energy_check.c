/* Whether the energy of a run is accounted for: what there is against what there was and what was
 * fed in.
 *
 * At some hundred instants of the run the balances of all subsystems (yk_system_energy_balance) are
 * summed up. What is more than the energy at the start and fed in was made by the coupling or by
 * the integration, and where it is a large fraction of them the motion cannot be right, whoever
 * made it. The fraction is always taken of energy that is known to be real: kinetic energy at the
 * start, potential energy released since, work fed in from outside; never of what the run itself
 * has made.
 *
 * Fractions of single instants mislead: methods that are sound let the energy swing about its
 * value, and first steps from rest are wrong by much of nearly nothing. So instants are averaged
 * over windows, and what counts is the end of the run, or several windows in a row in which more
 * was made than there is. */
#include <float.h>
#include <math.h>

#include "analysis/run.h"
#include "base/restored.h"
#include "math/vec3.h"

/* Looks in a whole run, at most. */
static const double LOOKS = 1024;
/* Windows in a row with more made than there is, which is no swing and no first step. */
enum { IN_A_ROW = 4 };
/* Part of the windows that is the end of the run. */
enum { LAST = 8 };
/* Energy made, by what there was and was fed in at the end, that is too little to run away with. */
static const double NOTHING = 0.01;
/* Times the rounding of single energies: sums of many steps, and solvers that iterate to
 * tolerances. */
static const double NOISE = 1e9;

/* Sums over all subsystems and interfaces (J). */
typedef struct totals {
    double kinetic, potential;
    double made, created, fed, dissipated;
    double size; /* sum of the absolute values that were added: what rounding is relative to */
} totals;

/* Energy made or moving, by what there was and was fed in, that no run comes back from; and looks
 * in a row that show it, which is no first step from rest. */
static const double EXPLODED = 1e6;
enum { EXPLODING_LOOKS = 3 };

/* The same of a run that can still be saved: more than methods that are sound let the energy swing
 * by, for more looks than a start from rest takes to have any; or less long where it doubles from
 * look to look, which no start from rest does twice. */
static const double GROWN = 0.1;
enum { GROWING_LOOKS = 8, DOUBLING_LOOKS = 2 };

/* How far ports move in a step, as a part of the extent of the system or in radians: by less than
 * this they are at rest, and what runs away moves by more than that. */
static const double AT_REST = 1e4 * DBL_EPSILON;
static const double RUNS_AWAY = 0.01;

/* Without gravity and springs a system at rest has no energy at all, and what rounding and the
 * tolerances of iterations make of it is infinitely much beside nothing: the motion itself decides
 * whether there is something to judge. */
static double travel_in_a_step(const yk_budget *b)
{
    double extent = 0;
    double speed = 0;
    double spin = 0;
    for (int i = 0; i < 2 * b->info->interface_count; i++) {
        const yk_interface_def *def = &b->info->interfaces[i / 2];
        int subsystem = def->wrench_subsystem;
        int port = def->wrench_port;
        if (i % 2 == 1) {
            subsystem = def->motion_subsystem;
            port = def->motion_port;
        }

        const yk_port_value *value = yk_system_port_value(b->system, subsystem, port);
        extent = fmax(extent, yk_v3_norm(value->motion.position));
        speed = fmax(speed, yk_v3_norm(value->motion.velocity));
        spin = fmax(spin, yk_v3_norm(value->motion.angular_velocity));
    }

    double travel = b->info->step * spin;
    if (speed > 0)
        travel = fmax(travel, b->info->step * speed / extent);
    return travel;
}

static totals sum_up(const yk_budget *b)
{
    /* What the subsystems say of themselves. */
    totals sum = {0};
    for (int i = 0; i < b->info->subsystem_count; i++) {
        yk_energy_balance one = yk_system_energy_balance(b->system, i);
        sum.kinetic += one.kinetic;
        sum.potential += one.potential;
        sum.made += one.numerical;
        sum.fed += one.external_work;
        sum.dissipated += one.dissipated;
        sum.size += one.kinetic + fabs(one.potential) + fabs(one.initial) + fabs(one.dissipated) +
                    fabs(one.external_work) + fabs(one.interface_work);
    }

    /* What a prescribed relative motion did at the interface was fed in. */
    for (int i = 0; i < b->info->interface_count; i++) {
        yk_interface_statistics s = yk_system_interface_statistics(b->system, i);
        sum.created += s.energy_created;
        sum.fed += s.work[0] + s.work[1] - s.energy_created;
    }

    sum.made += sum.created;

    return sum;
}

void yk_budget_open(yk_budget *b, yk_system *system, const yk_scenario_info *info)
{
    *b = (yk_budget){.system = system, .info = info};
    b->stride = (int64_t)fmax(1, floor((double)info->step_count / LOOKS));
    if (info->on_failure.action == YK_ON_FAILURE_FALLBACK)
        b->stride = 1;
    b->next = b->stride;

    /* What there is before anything has moved. */
    totals start = sum_up(b);
    b->start_kinetic = start.kinetic;
    b->largest_kinetic = start.kinetic;
    b->start_potential = start.potential;
    b->lowest_potential = start.potential;
    b->highest_potential = start.potential;
}

bool yk_budget_is_valid(const yk_budget *b, int64_t stride)
{
    bool valid = b->stride == stride && b->next >= 0 && b->next - stride <= b->info->step_count;
    valid = valid && yk_is_restored_bool(&b->moves) && yk_is_restored_bool(&b->not_finite);
    valid = valid && yk_is_restored_small_count(b->exploding);
    valid = valid && yk_is_restored_small_count(b->growing);
    valid = valid && yk_is_restored_small_count(b->doubling);
    valid = valid && b->count >= 0 && b->count <= YK_BUDGET_WINDOWS;
    for (int i = 0; valid && i < YK_BUDGET_WINDOWS; i++)
        valid = yk_is_restored_small_count(b->windows[i].looks);
    return valid;
}

bool yk_budget_exploded(const yk_budget *b)
{
    return b->not_finite || b->exploding >= EXPLODING_LOOKS;
}

bool yk_budget_runs_away(const yk_budget *b)
{
    bool fast = b->growing > 0 && b->doubling >= DOUBLING_LOOKS;
    return b->not_finite || b->growing >= GROWING_LOOKS || fast;
}

void yk_budget_step(yk_budget *b, int64_t step)
{
    if (step < b->next)
        return;

    b->next = step + b->stride;
    totals now = sum_up(b);

    /* Without interfaces there is nothing to go by: every motion counts. */
    double travel = travel_in_a_step(b);
    b->moves = b->moves || b->info->interface_count == 0 || travel > AT_REST;

    /* Numbers that are none any more say that it grew without limit. */
    if (!isfinite(now.kinetic + now.potential + now.made + now.fed)) {
        b->not_finite = true;
        return;
    }

    /* Extremes so far, and the energy that is known to be real. */
    b->rounding = fmax(b->rounding, DBL_EPSILON * now.size);
    b->largest_kinetic = fmax(b->largest_kinetic, now.kinetic);
    b->lowest_potential = fmin(b->lowest_potential, now.potential);
    b->highest_potential = fmax(b->highest_potential, now.potential);
    b->released = fmax(b->released, b->start_potential - now.potential);
    b->fed = fmax(b->fed, now.fed);
    b->dissipated = now.dissipated;

    /* The window that this step belongs to. */
    int64_t steps = 1;
    if (b->info->step_count > 0)
        steps = b->info->step_count;
    int index = (int)((double)(step - 1) * YK_BUDGET_WINDOWS / (double)steps);
    if (index < 0)
        index = 0;
    if (index >= YK_BUDGET_WINDOWS)
        index = YK_BUDGET_WINDOWS - 1;
    if (index >= b->count)
        b->count = index + 1;

    double scale = fmax(b->start_kinetic + b->released + b->fed, NOISE * b->rounding);
    b->windows[index].looks++;
    b->windows[index].made += now.made;
    b->windows[index].created += now.created;
    b->windows[index].scale = scale;

    /* How the energy that was made goes on from look to look. */
    if (now.made <= scale)
        b->sound = scale;
    if (travel > RUNS_AWAY && fmax(now.made, now.kinetic) > EXPLODED * scale)
        b->exploding++;
    else
        b->exploding = 0;
    if (b->moves && now.made > GROWN * scale)
        b->growing++;
    else
        b->growing = 0;
    if (b->made > 0 && now.made > 2 * b->made)
        b->doubling++;
    else
        b->doubling = 0;
    b->made = now.made;
}

void yk_budget_conclude(const yk_budget *b, double *made, double *lost, double *scale)
{
    *made = 0;
    *lost = 0;
    *scale = 0;
    if (!b->moves && !b->not_finite)
        return;

    /* Against the energy that was real by the end. */
    double end_scale = 0;
    for (int i = 0; i < b->count; i++)
        end_scale = fmax(end_scale, b->windows[i].scale);

    /* More made than there is, in several windows in a row: the least of them counts. Before
     * anything moves it is nothing beside what moves later. */
    double largest = -INFINITY;
    double least = INFINITY;
    int in_a_row = 0;

    for (int i = 0; i < b->count; i++) {
        if (b->windows[i].looks == 0)
            continue;

        double mean = b->windows[i].made / b->windows[i].looks;
        *scale = b->windows[i].scale;
        double fraction = 0;
        if (*scale > 0)
            fraction = mean / *scale;
        if (fraction > 1 && mean > NOTHING * end_scale) {
            least = fmin(least, fraction);
            in_a_row++;
        } else {
            least = INFINITY;
            in_a_row = 0;
        }

        if (in_a_row >= IN_A_ROW)
            largest = fmax(largest, least);
    }

    /* What was made or lost by the end of the run, as the mean over its last windows. */
    double made_last = 0;
    double created_last = 0;
    int looks = 0;

    for (int i = b->count - b->count / LAST - 1; i >= 0 && i < b->count; i++) {
        looks += b->windows[i].looks;
        made_last += b->windows[i].made;
        created_last += b->windows[i].created;
    }

    if (looks > 0 && *scale > 0) {
        *made = made_last / looks / *scale;
        *lost = -fmax(made_last, created_last) / looks / *scale;
    }

    *made = fmax(*made, largest);
    if (b->not_finite || isnan(*made) || isnan(*lost))
        *made = INFINITY;
    if (*made > 1) {
        *scale = b->sound;
        if (!(b->sound > 0))
            *scale = fabs(b->start_kinetic + b->start_potential);
    }
}
