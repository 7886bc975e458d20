/* Which piece: r - u / w, one projected step on the contact's own problem. At a solution it
 * projects back to r, so that what is cut off tells sticking from slipping and closed from open,
 * and neither an impulse nor a velocity has to be compared with zero. */
#include "contact/held.h"

#include <string.h>

static double target(const yk_held_point *at, int k)
{
    return at->r[k] - at->u[k] / at->w[k];
}

/* Of a friction group: length of its target, and the mean of its w. */
static double group_target(const yk_held_point *at, int begin, int end, double *w)
{
    *w = 0;
    for (int k = begin; k < end; k++)
        *w += at->w[k] / (end - begin);

    double sum = 0;
    for (int k = begin; k < end; k++) {
        double part = at->r[k] - at->u[k] / *w;
        sum += part * part;
    }

    return sqrt(sum);
}

/* The normal impulse after the step. In the convex cone friction that is cut off lifts it. */
static double normal_impulse(const yk_cone *cone, yk_friction_model friction,
                             const yk_held_point *at)
{
    double normal = target(at, 0);
    if (friction != YK_FRICTION_CONE)
        return normal;

    /* Weighted with W, as the projection in that metric has it (cone.h). */
    double sum = normal * at->w[0];
    double weight = at->w[0];
    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++) {
        int begin = yk_cone_group_start[g];
        int end = yk_cone_group_end(cone->dim, g);
        double mu = cone->mu[g];

        double w;
        double length = group_target(at, begin, end, &w);

        /* Within its limit friction is not cut. */
        if (length <= mu * normal)
            continue;

        sum += mu * w * length;
        weight += mu * mu * w;
    }

    return sum / weight;
}

bool yk_held_is_closed(const yk_cone *cone, yk_friction_model friction, const yk_held_point *at)
{
    return normal_impulse(cone, friction, at) > 0;
}

static bool sticks(double bound, double length)
{
    /* Rounding must not let a contact that sticks slip. */
    return length <= bound * (1 + 1e-9);
}

static void stick(int k, const yk_held_point *at, yk_held_law *law)
{
    law->directions[k][k] = 1;
    law->rates[k][k] = 1;
    law->softness[k] = at->softness[k];
}

/* Nothing of the component's own: z_k = 0. */
static void idle(int k, yk_held_law *law)
{
    law->softness[k] = 1;
}

/* The normal equation of the convex cone has the friction's rates in it. */
static void follow_normal(yk_friction_model friction, int k, double fraction,
                          const yk_held_point *at, yk_held_law *law)
{
    law->directions[k][0] = fraction;

    if (friction != YK_FRICTION_CONE)
        return;

    law->rates[0][k] = fraction;
    law->softness[0] += fraction * fraction * at->softness[k];
}

void yk_held_law_of(const yk_cone *cone, yk_friction_model friction, const yk_held_point *at,
                    yk_held_law *law)
{
    double normal = normal_impulse(cone, friction, at);

    memset(law, 0, sizeof *law);
    stick(0, at, law);

    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++) {
        int begin = yk_cone_group_start[g];
        int end = yk_cone_group_end(cone->dim, g);
        double mu = cone->mu[g];

        /* Components with a bound of their own. */
        if (mu <= 0 || end - begin != 2 || friction == YK_FRICTION_BOX) {
            for (int k = begin; k < end; k++) {
                double wanted = target(at, k);
                if (mu > 0 && sticks(mu * normal, fabs(wanted))) {
                    stick(k, at, law);
                    continue;
                }
                if (mu > 0)
                    follow_normal(friction, k, copysign(mu, wanted), at, law);
                idle(k, law);
            }

            continue;
        }

        /* Two components of a round cone. */
        int k = begin;
        double w;
        double length = group_target(at, k, k + 2, &w);
        if (sticks(mu * normal, length)) {
            stick(k, at, law);
            stick(k + 1, at, law);
            continue;
        }

        /* Slipping: along the direction of friction e the impulse follows the normal, across it has
         * an unknown of its own, the first of the two; the second is idle. */
        double e[2];
        for (int i = 0; i < 2; i++)
            e[i] = (at->r[k + i] - at->u[k + i] / w) / length;
        double across[2] = {-e[1], e[0]};
        for (int i = 0; i < 2; i++) {
            follow_normal(friction, k + i, mu * e[i], at, law);
            law->directions[k + i][k] = across[i];
            law->rates[k][k + i] = across[i];
        }

        law->softness[k] = at->softness[k] + hypot(at->u[k], at->u[k + 1]) / (mu * normal);
        idle(k + 1, law);
    }
}

void yk_held_sticking_law(const yk_cone *cone, const yk_held_point *at, yk_held_law *law)
{
    memset(law, 0, sizeof *law);
    stick(0, at, law);

    for (int g = 0; g < YK_FRICTION_GROUPS && yk_cone_group_start[g] < cone->dim; g++) {
        for (int k = yk_cone_group_start[g]; k < yk_cone_group_end(cone->dim, g); k++) {
            if (cone->mu[g] > 0) {
                stick(k, at, law);
            } else {
                idle(k, law);
            }
        }
    }
}
