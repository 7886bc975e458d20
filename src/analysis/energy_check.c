/* Checks the energy balance of a run: the present energy compared with the initial energy and the
 * supplied work.
 *
 * At some hundred instants of the run the balances of all subsystems (yk_system_energy_balance())
 * are summed. Energy beyond the initial energy and the supplied work was created by the coupling or
 * by the integration. If it is a large fraction of them, the motion is wrong, whatever the cause.
 * The fraction is always relative to energy that is known to be real: initial kinetic energy,
 * potential energy released since, work supplied from outside; never to energy that the run itself
 * has created.
 *
 * Fractions at single instants are misleading: sound methods let the energy oscillate about its
 * value, and first steps from rest have large errors relative to almost nothing. So instants are
 * averaged over windows, and the criterion is the end of the run, or several windows in a row in
 * which more energy was created than is real. */
#include <float.h>
#include <math.h>

#include "analysis/run.h"
#include "base/restored.h"
#include "math/vec3.h"

/* Largest number of evaluations in a whole run. */
static const double LOOKS = 1024;
/* Windows in a row with created energy, which is not an oscillation or a first step. */
enum { IN_A_ROW = 4 };
/* Fraction of the windows that counts as the end of the run. */
enum { LAST = 8 };
/* Created energy relative to the real energy at the end, below which the run is not unstable. */
static const double NOTHING = 0.01;
/* Multiple of the rounding errors of single energies, because sums have many steps and solvers
 * iterate to tolerances. */
static const double NOISE = 1e9;

/* Sums over all subsystems and interfaces (J). */
typedef struct totals {
    double kinetic, potential;
    double made, created, fed, dissipated;
    /* sum of the absolute values of the terms, to which rounding errors are relative */
    double size;
} totals;

/* Created energy relative to the real energy from which no run recovers, and number of evaluations
 * in a row that show it, so that it is not a first step from rest. */
static const double EXPLODED = 1e6;
enum { EXPLODING_LOOKS = 3 };

/* The same for a run that can still be saved: more than the oscillations of sound methods, for more
 * evaluations than a start from rest needs; or for fewer evaluations if it doubles each time, which
 * a start from rest does not do twice. */
static const double GROWN = 0.1;
enum { GROWING_LOOKS = 8, DOUBLING_LOOKS = 2 };

/* Displacement of ports in a step relative to the extent of the system, or rotation in radians:
 * smaller ones count as rest, and an unstable run exceeds it. */
static const double AT_REST = 1e4 * DBL_EPSILON;
static const double RUNS_AWAY = 0.01;

/* Without gravity and springs a system at rest has no energy, and the energies of rounding errors
 * and of iterations are infinitely large in comparison: the motion itself decides whether there is
 * something to judge. */
static double travel_in_a_step(const yk_budget *b)
{
    double extent = 0;
    double speed = 0;
    double spin = 0;
    for (int i = 0; i < 2 * b->info->interface_count; i++) {
        const yk_interface_def *def = &b->info->interfaces[i / 2];
        yk_subsystem_id subsystem = def->wrench_subsystem;
        yk_port_id port = def->wrench_port;
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
    /* Energies reported by the subsystems. */
    totals sum = {0};
    for (int i = 0; i < b->info->subsystem_count; i++) {
        yk_energy_balance one = yk_system_energy_balance(b->system, (yk_subsystem_id){i});
        sum.kinetic += one.kinetic;
        sum.potential += one.potential;
        sum.made += one.numerical;
        sum.fed += one.external_work;
        sum.dissipated += one.dissipated;
        sum.size += one.kinetic + fabs(one.potential) + fabs(one.initial) + fabs(one.dissipated) +
                    fabs(one.external_work) + fabs(one.interface_work);
    }

    /* The work of a prescribed relative motion at the interface is supplied. */
    for (int i = 0; i < b->info->interface_count; i++) {
        yk_interface_statistics s = yk_system_interface_statistics(b->system, (yk_interface_id){i});
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

    /* Energy before anything has moved. */
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

    /* Without interfaces there is no criterion: every motion counts. */
    double travel = travel_in_a_step(b);
    b->moves = b->moves || b->info->interface_count == 0 || travel > AT_REST;

    /* Values that are not finite have grown without limit. */
    if (!isfinite(now.kinetic + now.potential + now.made + now.fed)) {
        b->not_finite = true;
        return;
    }

    /* Extremes so far, and the real energy. */
    b->rounding = fmax(b->rounding, DBL_EPSILON * now.size);
    b->largest_kinetic = fmax(b->largest_kinetic, now.kinetic);
    b->lowest_potential = fmin(b->lowest_potential, now.potential);
    b->highest_potential = fmax(b->highest_potential, now.potential);
    b->released = fmax(b->released, b->start_potential - now.potential);
    b->fed = fmax(b->fed, now.fed);
    b->dissipated = now.dissipated;
    b->most_dissipated = fmax(b->most_dissipated, now.dissipated);
    b->undissipated = fmax(b->undissipated, b->most_dissipated - now.dissipated);

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

    /* Growth of the created energy between evaluations. */
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

/* Whether any subsystem reports its energy. Without one, created energy has no scale. */
static bool has_energies(const yk_budget *b)
{
    for (int i = 0; i < b->info->subsystem_count; i++) {
        yk_energy energy;
        if (yk_system_energy(b->system, (yk_subsystem_id){i}, &energy))
            return true;
    }

    return false;
}

/* The smallest fraction of energy that was created in several windows in a row with more created
 * than real energy; -infinity: there are no such windows. Before anything moves, the energies are
 * negligible compared with later ones. */
static yk_energy_error largest_in_a_row(const yk_budget *b)
{
    double end_scale = 0;
    for (int i = 0; i < b->count; i++)
        end_scale = fmax(end_scale, b->windows[i].scale);

    yk_energy_error largest = {.fraction = -INFINITY};
    yk_energy_error least = {.fraction = INFINITY};
    int in_a_row = 0;
    for (int i = 0; i < b->count; i++) {
        if (b->windows[i].looks == 0)
            continue;

        double mean = b->windows[i].made / b->windows[i].looks;
        double scale = b->windows[i].scale;
        double fraction = 0;
        if (scale > 0)
            fraction = mean / scale;
        if (fraction > 1 && mean > NOTHING * end_scale) {
            if (fraction < least.fraction)
                least =
                    (yk_energy_error){.fraction = fraction,
                                      .scale = scale,
                                      .energy = mean,
                                      .at_interfaces = b->windows[i].created / b->windows[i].looks};
            in_a_row++;
        } else {
            least.fraction = INFINITY;
            in_a_row = 0;
        }

        if (in_a_row >= IN_A_ROW && least.fraction > largest.fraction)
            largest = least;
    }

    return largest;
}

yk_energy_error yk_budget_conclude(const yk_budget *b)
{
    yk_energy_error error = {0};
    if (!has_energies(b)) {
        error.fraction = NAN;
        return error;
    }
    if (!b->moves && !b->not_finite)
        return error;

    /* Energy created or lost at the end of the run, as the mean over its last windows. */
    int looks = 0;
    for (int i = b->count - b->count / LAST - 1; i >= 0 && i < b->count; i++) {
        looks += b->windows[i].looks;
        error.energy += b->windows[i].made;
        error.at_interfaces += b->windows[i].created;
        if (b->windows[i].looks > 0)
            error.scale = b->windows[i].scale;
    }

    if (looks > 0) {
        error.energy /= looks;
        error.at_interfaces /= looks;
    }
    if (error.scale > 0)
        error.fraction = error.energy / error.scale;

    yk_energy_error largest = largest_in_a_row(b);
    if (largest.fraction > error.fraction)
        error = largest;

    /* If more was created than is real, supplied and released energy are not reliable either: only the
     * energy before it was created is real. */
    if (error.fraction > 1) {
        if (b->sound > 0)
            error.scale = b->sound;
        error.fraction = error.energy / error.scale;
    }
    if (b->not_finite || isnan(error.fraction)) {
        error.fraction = INFINITY;
        error.energy = INFINITY;
        if (b->sound > 0)
            error.scale = b->sound;
    }

    return error;
}
