/* Points of an ellipse in space that are farthest from the axis of a curved wall. The rims of a
 * cylinder and the silhouette of an ellipsoid are such ellipses.
 *
 * The points are center + radius (cos(angle) u + sin(angle) w). Distances from the axis are those of
 * the projection of the ellipse along the axis, which the products of u, w and the center determine. */
#ifndef YK_NONSMOOTH_SOLIDS_ELLIPSE_H
#define YK_NONSMOOTH_SOLIDS_ELLIPSE_H

#include "nonsmooth/solids/solid.h"

typedef struct yk_ellipse {
    yk_vec3 center;
    double radius;
    yk_vec3 u, w;
    double eu, ew;     /* products of u and w with the arm from the axis to the center */
    double uu, ww, uw; /* products of u and w, each less its part along the axis */
} yk_ellipse;

yk_vec3 yk_ellipse_point(const yk_ellipse *ellipse, double angle);

/* Starts Newton's iteration at four angles. Writes the point farthest from the axis of the wall and,
 * if there is a local maximum on the opposite side, that one too. Returns the number of points. */
int yk_ellipse_extremes(const yk_ellipse *ellipse, const yk_wall *wall, const double starts[4],
                        yk_vec3 points[2]);

#endif
