/* The convex hull of points, and what hulls and triangles share. */
#include "nonsmooth/solids/solid.h"

double yk_points_radius(const yk_solid *solid)
{
    double radius = 0;
    for (int i = 0; i < solid->point_count; i++)
        radius = fmax(radius, yk_v3_norm(solid->points[i]));
    return radius;
}

yk_vec3 yk_points_support(const yk_solid *solid, yk_vec3 direction)
{
    const yk_vec3 *points = solid->points;
    int best = 0;
    double reach = yk_v3_dot(points[0], direction);

    for (int i = 1; i < solid->point_count; i++) {
        double value = yk_v3_dot(points[i], direction);
        if (value > reach) {
            reach = value;
            best = i;
        }
    }

    return points[best];
}

/* The points that are farthest along the normal up to the slope of a face, sorted around it by
 * their angle. */
int yk_points_face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    /* How far the hull reaches, and how large it is. */
    double top = -INFINITY, spread = 0;
    for (int i = 0; i < solid->point_count; i++) {
        yk_vec3 p = solid->points[i];
        top = fmax(top, yk_v3_dot(p, n));
        spread = fmax(spread, yk_v3_norm(yk_v3_sub(p, solid->points[0])));
    }

    int count = 0;
    for (int i = 0; i < solid->point_count && count < YK_POLYGON_MAX; i++) {
        yk_vec3 p = solid->points[i];
        if (yk_v3_dot(p, n) >= top - YK_FACE_SLOPE * spread)
            polygon[count++] = p;
    }

    if (count <= 2)
        return count;

    /* Around their middle. */
    yk_vec3 u, w, middle = {0, 0, 0};
    yk_v3_tangents(n, &u, &w);
    for (int i = 0; i < count; i++)
        middle = yk_v3_axpy(1.0 / count, polygon[i], middle);

    /* Sorted by insertion. */
    double angle[YK_POLYGON_MAX];
    for (int i = 0; i < count; i++) {
        yk_vec3 point = polygon[i];
        yk_vec3 arm = yk_v3_sub(point, middle);
        double value = atan2(yk_v3_dot(arm, w), yk_v3_dot(arm, u));
        int at = i;
        for (; at > 0 && angle[at - 1] > value; at--) {
            angle[at] = angle[at - 1];
            polygon[at] = polygon[at - 1];
        }
        angle[at] = value;
        polygon[at] = point;
    }

    return count;
}

void yk_points_extremes(const yk_solid *solid, yk_vec3 direction, yk_extremes *set)
{
    (void)direction;
    set->points = solid->points;
    set->count = solid->point_count;
}

static bool valid(const yk_solid *solid)
{
    return solid->points && solid->point_count >= 4;
}

const yk_solid_ops yk_hull_ops = {
    .name = "hull",
    .from_points = true,
    .valid = valid,
    .shape = YK_SHAPE_HULL,
    .radius = yk_points_radius,
    .support = yk_points_support,
    .shrinks = true,
    .face = yk_points_face,
    .extremes = yk_points_extremes,
};
