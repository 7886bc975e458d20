/* A triangle, of which meshes are made; both sides can be touched, unless the mesh is closed and
 * meets another one (collide_triangles.c). */
#include "nonsmooth/solids/solid.h"

static bool valid(const yk_solid *solid)
{
    return solid->points && solid->point_count == 3;
}

/* Weights of the corners from the Voronoi regions of the triangle. */
static yk_nearest nearest(const yk_solid *solid, yk_vec3 p)
{
    const yk_vec3 *corner = solid->points;
    yk_vec3 ab = yk_v3_sub(corner[1], corner[0]);
    yk_vec3 ac = yk_v3_sub(corner[2], corner[0]);

    /* p along the edges, seen from each corner, and from them its signed areas with the edges. */
    yk_vec3 ap = yk_v3_sub(p, corner[0]);
    yk_vec3 bp = yk_v3_sub(p, corner[1]);
    yk_vec3 cp = yk_v3_sub(p, corner[2]);
    double d1 = yk_v3_dot(ab, ap), d2 = yk_v3_dot(ac, ap);
    double d3 = yk_v3_dot(ab, bp), d4 = yk_v3_dot(ac, bp);
    double d5 = yk_v3_dot(ab, cp), d6 = yk_v3_dot(ac, cp);
    double va = d3 * d6 - d5 * d4;
    double vb = d5 * d2 - d1 * d6;
    double vc = d1 * d4 - d3 * d2;

    /* Corners, edges, the face itself. */
    double v = 0, w = 0; /* of the second and third corner */
    uint32_t feature = 0;
    if (d1 <= 0 && d2 <= 0) {
        feature = 4;
    } else if (d3 >= 0 && d4 <= d3) {
        v = 1;
        feature = 5;
    } else if (d6 >= 0 && d5 <= d6) {
        w = 1;
        feature = 6;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3);
        feature = 1;
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w = d2 / (d2 - d6);
        feature = 2;
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        v = 1 - w;
        feature = 3;
    } else {
        v = vb / (va + vb + vc);
        w = vc / (va + vb + vc);
    }

    yk_vec3 q = yk_v3_axpy(w, ac, yk_v3_axpy(v, ab, corner[0]));
    yk_nearest result = yk_nearest_of_point(p, q, yk_v3_unit(yk_v3_cross(ab, ac)));
    result.feature = feature;
    return result;
}

static yk_vec3 plane_normal(const yk_solid *solid)
{
    const yk_vec3 *corner = solid->points;
    yk_vec3 ab = yk_v3_sub(corner[1], corner[0]);
    yk_vec3 ac = yk_v3_sub(corner[2], corner[0]);
    return yk_v3_unit(yk_v3_cross(ab, ac));
}

const yk_solid_ops yk_triangle_ops = {
    .name = "triangle",
    .from_points = true,
    .valid = valid,
    .shape = YK_SHAPE_HULL,
    .radius = yk_points_radius,
    .support = yk_points_support,
    .face = yk_points_face,
    .nearest = nearest,
    .plane_normal = plane_normal,
    .extremes = yk_points_extremes,
    .collide_own_kind = yk_collide_triangles,
};
