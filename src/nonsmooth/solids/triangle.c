/* A triangle of a mesh, and contacts between two triangles (Gottschalk, Lin, Manocha 1996). Both
 * sides can be touched, unless the mesh is closed and touches another closed mesh. */
#include "nonsmooth/solids/solid.h"

static bool triangle_is_valid(const yk_solid *solid)
{
    return solid->points && solid->point_count == 3;
}

/* Weights of the corners from the Voronoi regions of the triangle. */
static yk_nearest triangle_nearest(const yk_solid *solid, yk_vec3 p)
{
    const yk_vec3 *corner = solid->points;
    yk_vec3 ab = yk_v3_sub(corner[1], corner[0]);
    yk_vec3 ac = yk_v3_sub(corner[2], corner[0]);

    /* Position of p along the edges from each corner, and from them its signed areas with the
     * edges. */
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

static yk_vec3 triangle_plane_normal(const yk_solid *solid)
{
    const yk_vec3 *corner = solid->points;
    yk_vec3 ab = yk_v3_sub(corner[1], corner[0]);
    yk_vec3 ac = yk_v3_sub(corner[2], corner[0]);
    return yk_v3_unit(yk_v3_cross(ab, ac));
}

/* Two triangles -------------------------------------------------------------------------------- */

/* Triangles of two closed meshes, whose outsides are known.
 *
 * A triangle alone has two sides and no thickness. If it lies on another one, or has gone a little
 * through it, the side from which it came is unknown: the direction of least overlap may be in its
 * plane, or the wrong way through it. Triangles of closed meshes face away from the enclosed
 * volume, and touch only face to face. Triangles that are apart use the direction of the search,
 * unless each is behind the other. Those that touch or intersect are separated best along one of
 * their normals or perpendicular to two of their edges (separating axes, Gottschalk, Lin, Manocha
 * 1996), if that direction leads out of both. */

/* Sines of angles: a direction leads out of a triangle, or along it; a triangle is behind another. */
static const double ALONG = 1e-3;
static const double BEHIND = 0.1;
/* Distance, relative to the size of the smaller triangle, from which they are apart. */
static const double APART = 1e-4;
/* Preference of faces over pairs of edges, relative to that size. */
static const double BETTER = 1e-6;

typedef struct corners {
    yk_vec3 at[3];
    yk_vec3 outward;
} corners;

static corners corners_of(const yk_solid *solid)
{
    corners c;
    for (int i = 0; i < 3; i++)
        c.at[i] = yk_v3_add(solid->position, yk_m3_apply(solid->rotation, solid->points[i]));

    yk_vec3 ab = yk_v3_sub(c.at[1], c.at[0]);
    yk_vec3 ac = yk_v3_sub(c.at[2], c.at[0]);
    c.outward = yk_v3_scale(solid->outside, yk_v3_unit(yk_v3_cross(ab, ac)));
    return c;
}

/* Least of b minus largest of a along a direction, and the corner of a that is farthest. */
static double gap_along(const corners *a, const corners *b, yk_vec3 d, yk_vec3 *on_a)
{
    double high = -INFINITY;
    double low = INFINITY;
    for (int i = 0; i < 3; i++) {
        double of_a = yk_v3_dot(d, a->at[i]);
        if (of_a > high) {
            high = of_a;
            *on_a = a->at[i];
        }
        low = fmin(low, yk_v3_dot(d, b->at[i]));
    }

    return low - high;
}

/* Whether a direction leads from the outside of a to that of b, or along them. */
static bool leads_out(const corners *a, const corners *b, yk_vec3 d)
{
    return yk_v3_dot(d, a->outward) > -ALONG && yk_v3_dot(d, b->outward) < ALONG;
}

/* The point of the line through p along e that is nearest to the line through q along f. */
static yk_vec3 nearest_to_line(yk_vec3 p, yk_vec3 e, yk_vec3 q, yk_vec3 f)
{
    yk_vec3 d = yk_v3_sub(q, p);
    double ee = yk_v3_norm2(e), ff = yk_v3_norm2(f), ef = yk_v3_dot(e, f);
    double s = (yk_v3_dot(d, e) * ff - yk_v3_dot(d, f) * ef) / (ee * ff - ef * ef);
    return yk_v3_axpy(fmin(fmax(s, 0), 1), e, p);
}

static int collide_triangles(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    /* Sheets that are not closed can be touched from both sides. */
    if (a->outside == 0 || b->outside == 0)
        return yk_collide_convex(a, b, margin, list);

    yk_vec3 n, on_a;
    double gap = yk_solid_direction(a, b, &n, &on_a);
    if (gap >= margin)
        return 0;

    /* Apart: contact on the outside of both, or none. */
    corners ca = corners_of(a), cb = corners_of(b);
    double scale = fmin(yk_solid_radius(a), yk_solid_radius(b));
    if (gap > APART * scale) {
        if (yk_v3_dot(n, ca.outward) < -BEHIND && yk_v3_dot(n, cb.outward) > BEHIND)
            return 0;
        return yk_meet_along(a, b, n, gap, on_a, margin, list);
    }

    /* Touching: both normals, if they lead out of the other one too. */
    bool found = false;
    bool face = true;
    gap = -INFINITY;
    const yk_vec3 normals[2] = {ca.outward, yk_v3_neg(cb.outward)};
    for (int i = 0; i < 2; i++) {
        yk_vec3 corner;
        double here = gap_along(&ca, &cb, normals[i], &corner);
        if (!leads_out(&ca, &cb, normals[i]) || here <= gap)
            continue;

        found = true;
        gap = here;
        n = normals[i];
        on_a = corner;
    }

    /* Perpendicular to each two edges, in both directions. */
    for (int k = 0; k < 18; k++) {
        yk_vec3 p = ca.at[k % 3], q = cb.at[k / 3 % 3];
        yk_vec3 e = yk_v3_sub(ca.at[(k + 1) % 3], p);
        yk_vec3 f = yk_v3_sub(cb.at[(k / 3 + 1) % 3], q);
        /* Parallel edges span no direction of their own. */
        yk_vec3 across = yk_v3_cross(e, f);
        double sine = yk_v3_norm(across);
        if (!(sine > ALONG * yk_v3_norm(e) * yk_v3_norm(f)))
            continue;

        yk_vec3 d = yk_v3_scale((k < 9 ? 1 : -1) / sine, across);
        yk_vec3 corner;
        double here = gap_along(&ca, &cb, d, &corner);
        if (!leads_out(&ca, &cb, d) || here <= gap + BETTER * scale)
            continue;

        found = true;
        face = false;
        gap = here;
        n = d;
        on_a = nearest_to_line(p, e, q, f);
    }

    if (!found || gap >= margin)
        return 0;
    if (!face)
        return yk_meet_along(a, b, n, gap, on_a, margin, list);

    /* A face with nothing above it is beside the other. */
    int count = yk_meet_features(a, b, n, margin, list);
    return count > 0 ? count : 0;
}

static const yk_option corners_item = {"triangles", YK_OPTION_NUMBERS, .min_count = 3,
                                       .max_count = 3,
                                       .description = "three numbers of points, from 0"};
static const yk_option triangle_keys[] = {
    {"points", YK_OPTION_LIST, .min_count = 3, .item = &yk_solid_point_item,
     .description = "corners of the triangles"},
    {"triangles", YK_OPTION_LIST, .min_count = 1, .item = &corners_item,
     .description = "three points each"},
    {"surface", YK_OPTION_INCLUDE, .section = &yk_surface_keys, .description = ""},
    {0},
};

const yk_solid_ops yk_triangle_ops = {
    .section = {"mesh", "Triangles, solid on neither side: any surface.", triangle_keys},
    .from_points = true,
    .valid = triangle_is_valid,
    .shape = YK_SHAPE_HULL,
    .radius = yk_points_radius,
    .support = yk_points_support,
    .face = yk_points_face,
    .nearest = triangle_nearest,
    .plane_normal = triangle_plane_normal,
    .extremes = yk_points_extremes,
    .collide_own_kind = collide_triangles,
};
