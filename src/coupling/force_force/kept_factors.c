/* When the factors of balanced interfaces are kept over steps.
 *
 * A correction with factors of an earlier step leaves a fraction of the conditions, the contraction
 * rate of Newton's method with an old Jacobian. It grows with the angles by which the subsystems have
 * moved since, so about linearly with the age of the factors. The conditions before the correction
 * are the effect of the change of the reactions in one step. A small fraction of them is left, which
 * the next step removes, as it removes the errors of higher order that exact factors leave too.
 *
 * If factors are kept, the contraction is measured from the motions at the end of the step. If new ones
 * are computed, it is the difference between the corrections by the old and the new factors. If forces
 * jump, the conditions before the correction are large, and new factors are computed before the step is
 * made. */
#include <math.h>
#include <string.h>

#include "coupling/force_force/balance.h"

/* Largest contraction rate that is accepted. */
static const double LIMIT = 5e-4;
/* The rate that is expected from the last measurement is multiplied by this. */
static const double SAFETY = 1.5;
/* Conditions that are larger than in the last step by more than this are a jump. */
static const double JUMP = 8;
/* Rounding errors of positions and angles, relative to distances and to 1 rad; conditions below
 * VISIBLE times their effect do not show the contraction. */
static const double ROUNDING = 1e-15;
static const double VISIBLE = 100;
/* Steps between measurements of factors that are older than two steps. */
static const double MEASURE_EVERY = 4;
/* Relative change of the step size for which factors are kept. */
static const double SAME_STEP = 1e-9;

void yk_balance_restart(yk_balance *balance)
{
    if (balance)
        balance->kept.valid = 0;
}

static const yk_motion *motion_on(const yk_system *system, const yk_balance_interface *own,
                                  int side)
{
    const yk_interface *interface = &system->interfaces[own->interface];
    return side == 0 ? yk_before_a(system, interface) : yk_before_b(system, interface);
}

void yk_balance_measure_factors(yk_balance *balance, const yk_system *system)
{
    yk_kept_factors *kept = &balance->kept;
    bool visible = kept->conditions > VISIBLE * kept->rounding;
    bool due = kept->age <= 2 || kept->unmeasured >= MEASURE_EVERY;
    if (kept->valid == 0 || kept->age < 1 || !visible || !due)
        return;

    double *left = balance->residual;
    for (int i = 0; i < balance->count; i++) {
        const yk_balance_interface *own = &balance->interfaces[i];
        const yk_interface *interface = &system->interfaces[own->interface];
        yk_constraint_kinematics kinematics;
        yk_constraint_kinematics_at(&own->constraint, system->t, motion_on(system, own, 0),
                                    motion_on(system, own, 1), &kinematics);
        memcpy(kinematics.slip, interface->slip, sizeof kinematics.slip);
        yk_balance_conditions(own, kept->h, &kinematics, left);
        left += own->constraint.row_count;
    }

    double size = yk_jacobian_condition_size(balance->jacobian, balance->residual);
    kept->growth = size / kept->conditions / kept->age;
    kept->unmeasured = 0;
}

bool yk_balance_needs_factors(const yk_balance *balance, double h)
{
    const yk_kept_factors *kept = &balance->kept;
    if (kept->valid == 0 || !(fabs(h - kept->h) <= SAME_STEP * h))
        return true;

    return !(SAFETY * kept->growth * (kept->age + 1) <= LIMIT);
}

bool yk_balance_try_old_factors(yk_balance *balance)
{
    double *correction = balance->old_correction;
    yk_kept_factors *kept = &balance->kept;
    if (kept->valid == 0)
        return false;

    /* At rest, corrections are rounding errors, and any factors are good enough. */
    double size = yk_jacobian_condition_size(balance->jacobian, balance->residual);
    if (!(size > VISIBLE * kept->rounding)) {
        kept->growth = 0;
        return false;
    }

    if (yk_jacobian_restore(balance->jacobian) != YK_OK)
        return false;
    memcpy(correction, balance->residual, (size_t)balance->rows * sizeof *correction);
    yk_jacobian_solve(balance->jacobian, correction, NULL);
    return true;
}

void yk_balance_compare_factors(yk_balance *balance)
{
    double *correction = balance->old_correction;
    yk_kept_factors *kept = &balance->kept;
    double size = yk_jacobian_unknown_size(balance->jacobian, balance->residual);
    for (int i = 0; i < balance->rows; i++)
        correction[i] -= balance->residual[i];
    double difference = yk_jacobian_unknown_size(balance->jacobian, correction);
    kept->growth = size > 0 ? difference / size / (kept->age + 1) : 0;
    kept->unmeasured = 0;
}

bool yk_balance_has_jump(const yk_balance *balance, const double *conditions)
{
    const yk_kept_factors *kept = &balance->kept;
    double size = yk_jacobian_condition_size(balance->jacobian, conditions);
    return !(size <= JUMP * fmax(kept->conditions, VISIBLE * kept->rounding));
}

/* Effect of rounding errors of positions on the conditions, in the scale of the rows. */
static double rounding_of(yk_balance *balance, const yk_system *system)
{
    double *error = balance->residual;
    for (int i = 0; i < balance->count; i++) {
        const yk_balance_interface *own = &balance->interfaces[i];
        yk_vec3 at = motion_on(system, own, 0)->position;
        double extent = 1 + fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z)));
        for (int row = 0; row < own->constraint.row_count; row++)
            *error++ = ROUNDING * extent / (system->h * system->h);
    }
    return yk_jacobian_condition_size(balance->jacobian, balance->residual);
}

void yk_balance_age_factors(yk_balance *balance, const yk_system *system, double conditions,
                            bool computed)
{
    yk_kept_factors *kept = &balance->kept;
    kept->conditions = conditions;
    kept->unmeasured += 1;
    if (!computed) {
        kept->age += 1;
        return;
    }

    /* Factors without earlier ones are not kept before their growth is known. */
    if (kept->valid == 0)
        kept->growth = INFINITY;

    /* The correction of redundant conditions needs more than the factors. */
    kept->valid = yk_jacobian_is_redundant(balance->jacobian) ? 0 : 1;
    kept->age = 0;
    kept->h = system->h;
    kept->rounding = rounding_of(balance, system);
}
