#include "nonsmooth/solids/ellipse.h"

yk_vec3 yk_ellipse_point(const yk_ellipse *ellipse, double angle)
{
    double r = ellipse->radius;
    yk_vec3 p = yk_v3_axpy(r * cos(angle), ellipse->u, ellipse->center);
    return yk_v3_axpy(r * sin(angle), ellipse->w, p);
}

/* Angle of a point that is farther from the axis than its neighbours, by Newton's iteration on the
 * square of the distance. */
static double farthest_angle(const yk_ellipse *e, double angle)
{
    enum { STEPS = 32 };
    const double largest_step = 0.5;
    double r = e->radius, size = fabs(e->eu) + fabs(e->ew) + r;
    for (int i = 0; i < STEPS; i++) {
        double c = cos(angle), s = sin(angle);
        double slope =
            e->ew * c - e->eu * s + r * ((e->ww - e->uu) * s * c + e->uw * (c * c - s * s));
        double bend =
            -e->eu * c - e->ew * s + r * ((e->ww - e->uu) * (c * c - s * s) - 4 * e->uw * s * c);
        if (fabs(slope) < 1e-12 * size)
            break;

        /* If the square is not concave here, step uphill. */
        double step = slope < 0 ? -largest_step : largest_step;
        if (bend < 0)
            step = yk_clamp(-slope / bend, largest_step);
        angle += step;
    }
    return angle;
}

int yk_ellipse_extremes(const yk_ellipse *ellipse, const yk_wall *wall, const double starts[4],
                        yk_vec3 points[2])
{
    yk_vec3 found[4], arm[4];
    double reach[4];
    int near = 0;
    for (int i = 0; i < 4; i++) {
        found[i] = yk_ellipse_point(ellipse, farthest_angle(ellipse, starts[i]));
        arm[i] = yk_v3_sub(found[i], ellipse->center);
        yk_vec3 from_middle = yk_v3_sub(found[i], wall->middle);
        reach[i] = yk_v3_dot(yk_wall_outward(wall, found[i]), from_middle);
        if (reach[i] > reach[near])
            near = i;
    }

    int far = -1;
    for (int i = 0; i < 4; i++) {
        bool opposite = yk_v3_dot(arm[i], arm[near]) < 0;
        if (opposite && (far < 0 || reach[i] > reach[far]))
            far = i;
    }

    points[0] = found[near];
    if (far >= 0)
        points[1] = found[far];
    return far >= 0 ? 2 : 1;
}
