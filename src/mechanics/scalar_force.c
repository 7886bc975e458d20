/* Laws of springs, torsion springs and motors on their coordinate (force.h), or on a sum of
 * coordinates. */
#include <math.h>

#include "mechanics/force.h"

/* Whether load and characteristic act along the coordinate, and not against it. */
static bool drives(const yk_force_law *law)
{
    bool motor = law->kind == YK_FORCE_MOTOR || law->kind == YK_FORCE_LINEAR_MOTOR;
    return motor && !law->terms.resists;
}

/* A one-sided contact with the penetration depth, which grows with the coordinate (side 1) or
 * against it (-1): stiffness depth (1 + damping depth'), not negative. */
static void touch(double stiffness, double damping, double depth, double rate, int side,
                  yk_scalar_force *sum)
{
    if (depth <= 0)
        return;

    double inward = side * rate;
    double factor = 1 + damping * inward;
    double elastic = stiffness * depth;
    sum->energy += 0.5 * elastic * depth;
    if (factor <= 0) {
        /* It moves away faster than the contact can follow. */
        sum->loss -= elastic * inward;
        return;
    }

    sum->force += side * elastic * factor;
    sum->by_value += stiffness * factor;
    sum->by_rate += elastic * damping;
    sum->loss += elastic * damping * inward * inward;
}

/* Spring and damper, with play or on one side only. */
static void add_spring(const yk_force_law *law, double x, double v, yk_scalar_force *sum)
{
    const yk_force_terms *terms = &law->terms;

    sum->force += law->damping * v;
    sum->by_rate += law->damping;
    sum->loss += law->damping * v * v;
    if (terms->sides == YK_SIDES_BOTH && terms->play == 0) {
        sum->force += law->stiffness * x;
        sum->by_value += law->stiffness;
        sum->energy += 0.5 * law->stiffness * x * x;
        return;
    }

    if (terms->sides != YK_SIDES_COMPRESSION)
        touch(law->stiffness, terms->contact_damping, x - terms->play, v, 1, sum);
    if (terms->sides != YK_SIDES_TENSION)
        touch(law->stiffness, terms->contact_damping, -x - terms->play, v, -1, sum);
}

/* Coulomb friction with the Stribeck effect, regularised. */
static void add_friction(const yk_force_terms *terms, double v, yk_scalar_force *sum)
{
    double excess = terms->static_friction - terms->coulomb_friction;
    if (excess < 0)
        excess = 0;

    double s = v / terms->stribeck_velocity;
    double bell = excess * exp(-s * s);
    double level = terms->coulomb_friction + bell;
    double level_rate = -2 * s / terms->stribeck_velocity * bell;
    double sign = tanh(v / terms->transition_velocity);
    double sign_rate = (1 - sign * sign) / terms->transition_velocity;

    sum->force += level * sign;
    sum->by_rate += level * sign_rate + level_rate * sign;
    sum->loss += level * sign * v;
}

/* A force of the user, with slopes by central differences. Its work counts as supplied. */
static void add_characteristic(const yk_force_law *law, double x, double v, double load,
                               yk_scalar_force *sum)
{
    const yk_force_terms *terms = &law->terms;
    double unit = drives(law) ? -terms->force_unit : terms->force_unit;
    double length = terms->length_unit;
    void *user = terms->characteristic_user;
    x /= length;
    v /= length;
    load /= terms->force_unit;

    double step = 1e-6 * fmax(fabs(x), 1e-3);
    double rate_step = 1e-6 * fmax(fabs(v), 1e-3);
    double ahead = terms->characteristic(user, x + step, v, load);
    double behind = terms->characteristic(user, x - step, v, load);
    double faster = terms->characteristic(user, x, v + rate_step, load);
    double slower = terms->characteristic(user, x, v - rate_step, load);
    double force = unit * terms->characteristic(user, x, v, load);

    sum->force += force;
    sum->by_value += unit / length * (ahead - behind) / (2 * step);
    sum->by_rate += unit / length * (faster - slower) / (2 * rate_step);
    sum->supply -= force * v * length;
}

yk_scalar_force yk_force_scalar(const yk_force_law *law, double value, double rate, double load)
{
    const yk_force_terms *terms = &law->terms;
    yk_scalar_force sum = {0};
    double x = value - law->free;

    add_spring(law, x, rate, &sum);
    if (terms->limited) {
        touch(terms->stop_stiffness, terms->contact_damping, value - terms->limits[1], rate, 1,
              &sum);
        touch(terms->stop_stiffness, terms->contact_damping, terms->limits[0] - value, rate, -1,
              &sum);
    }
    if (terms->coulomb_friction > 0 || terms->static_friction > 0)
        add_friction(terms, rate, &sum);

    if (terms->characteristic) {
        add_characteristic(law, x, rate, load, &sum);
    } else {
        double tension = drives(law) ? -load : load;
        sum.force += tension;
        sum.supply -= tension * rate;
    }

    return sum;
}
