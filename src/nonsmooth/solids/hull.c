/* The convex hull of points, and functions shared by hulls and triangles. */
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
    /* Extent and size of the hull. */
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

    /* A corner or an edge has no order around the normal. */
    if (count <= 2)
        return count;

    /* Around their middle. */
    yk_vec3 u, w, middle = {0, 0, 0};
    yk_v3_tangents(n, &u, &w);
    for (int i = 0; i < count; i++)
        middle = yk_v3_axpy(1.0 / count, polygon[i], middle);

    /* Insertion sort. */
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

void yk_points_extremes(const yk_solid *solid, const yk_wall *wall, yk_extremes *set)
{
    (void)wall;
    set->points = solid->points;
    set->count = solid->point_count;
}

static bool hull_is_valid(const yk_solid *solid)
{
    return solid->points && solid->point_count >= 4;
}

/* Largest number of points for which planes are found by trying all triples. */
enum { WEIGHED_POINTS = 200 };

/* Volume of a hull with its first and second moments about the origin of its frame. */
typedef struct hull_moments {
    double volume;
    yk_vec3 first;
    double second[3][3];
} hull_moments;

/* Adds the tetrahedron of the origin and three points, with the sign of its orientation. Its
 * second moments are V/20 (sum of all p p^T + s s^T) with s the sum of its corners. */
static void add_tetrahedron(hull_moments *m, yk_vec3 a, yk_vec3 b, yk_vec3 c)
{
    double volume = yk_v3_dot(a, yk_v3_cross(b, c)) / 6;
    yk_vec3 sum = yk_v3_add(a, yk_v3_add(b, c));

    m->volume += volume;
    m->first = yk_v3_axpy(volume / 4, sum, m->first);

    /* The fourth corner is the origin, which adds nothing; in its place is the sum s. */
    const double corners[4][3] = {
        {a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}, {sum.x, sum.y, sum.z}};
    for (int p = 0; p < 4; p++) {
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                m->second[i][j] += volume / 20 * corners[p][i] * corners[p][j];
        }
    }
}

/* The corners of the points in a plane, counterclockwise about its normal: gift wrapping, which
 * leaves out points inside and on edges. -1: there are too many. */
static int outline_of(const yk_solid *solid, yk_vec3 origin, yk_vec3 normal, double tolerance,
                      yk_vec3 polygon[YK_POLYGON_MAX])
{
    /* A point that is a corner: farthest in some direction of the plane, and of equal ones across. */
    yk_vec3 u, w;
    yk_v3_tangents(normal, &u, &w);
    int first = -1;
    for (int i = 0; i < solid->point_count; i++) {
        yk_vec3 arm = yk_v3_sub(solid->points[i], origin);
        if (fabs(yk_v3_dot(normal, arm)) > tolerance)
            continue;
        if (first < 0) {
            first = i;
            continue;
        }

        yk_vec3 apart = yk_v3_sub(solid->points[i], solid->points[first]);
        double ahead = yk_v3_dot(u, apart);
        if (ahead > tolerance || (ahead > -tolerance && yk_v3_dot(w, apart) > 0))
            first = i;
    }

    /* From corner to corner back to the first. */
    int count = 0;
    int at = first;
    do {
        polygon[count++] = solid->points[at];

        /* The next corner has all others on its left; of collinear points the farthest. */
        int next = -1;
        for (int i = 0; i < solid->point_count; i++) {
            yk_vec3 arm = yk_v3_sub(solid->points[i], solid->points[at]);
            if (i == at || fabs(yk_v3_dot(normal, arm)) > tolerance || yk_v3_norm(arm) <= tolerance)
                continue;
            if (next < 0) {
                next = i;
                continue;
            }

            yk_vec3 edge = yk_v3_sub(solid->points[next], solid->points[at]);
            double left = yk_v3_dot(normal, yk_v3_cross(edge, arm));
            bool in_line = fabs(left) <= tolerance * yk_v3_norm(edge);
            if ((!in_line && left < 0) || (in_line && yk_v3_norm(arm) > yk_v3_norm(edge)))
                next = i;
        }

        at = next;
    } while (at >= 0 && count < YK_POLYGON_MAX &&
             yk_v3_norm(yk_v3_sub(solid->points[at], polygon[0])) > tolerance);

    /* A polygon with too many corners does not return to the first one. */
    bool closed = at >= 0 && yk_v3_norm(yk_v3_sub(solid->points[at], polygon[0])) <= tolerance;
    return closed ? count : -1;
}

/* Every triple of points whose plane has all others on one side spans a face. Of a face with more
 * points the first triple counts, and its polygon is divided into a fan of triangles. */
static hull_moments integrate(const yk_solid *solid)
{
    hull_moments m = {0};
    const yk_vec3 *p = solid->points;
    int count = solid->point_count;
    if (count > WEIGHED_POINTS)
        return m;

    /* Tolerances are relative to the size of the hull. */
    double size = 0;
    for (int i = 1; i < count; i++)
        size = fmax(size, yk_v3_norm(yk_v3_sub(p[i], p[0])));

    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count; j++) {
            for (int k = j + 1; k < count; k++) {
                yk_vec3 normal = yk_v3_cross(yk_v3_sub(p[j], p[i]), yk_v3_sub(p[k], p[i]));

                /* Collinear points span no plane. */
                double area = yk_v3_norm(normal);
                if (!(area > 1e-12 * size * size))
                    continue;

                normal = yk_v3_scale(1 / area, normal);

                /* Find the side of the other points, and whether an earlier triple has this plane. */
                bool above = false, below = false, earlier = false;
                for (int l = 0; l < count; l++) {
                    double height = yk_v3_dot(normal, yk_v3_sub(p[l], p[i]));
                    bool on = fabs(height) <= 1e-9 * size;
                    above = above || (!on && height > 0);
                    below = below || (!on && height < 0);
                    if (!on || l >= k || l == i || l == j)
                        continue;

                    /* An earlier point of the plane, unless it is collinear with i and j. */
                    yk_vec3 arm = yk_v3_cross(yk_v3_sub(p[j], p[i]), yk_v3_sub(p[l], p[i]));
                    bool in_line = yk_v3_norm(arm) <= 1e-12 * size * size;
                    earlier = earlier || l < j || !in_line;
                }

                /* Faces have all points on one side; the normal points away from them. */
                if ((above && below) || earlier)
                    continue;
                if (above)
                    normal = yk_v3_neg(normal);

                /* A fan of triangles from one corner; each forms a tetrahedron with the origin. */
                yk_vec3 polygon[YK_POLYGON_MAX];
                int corners = outline_of(solid, p[i], normal, 1e-9 * size, polygon);
                if (corners < 0)
                    return (hull_moments){0};

                for (int c = 2; c < corners; c++)
                    add_tetrahedron(&m, polygon[0], polygon[c - 1], polygon[c]);
            }
        }
    }

    return m;
}

static yk_vec3 hull_centre(const yk_solid *solid)
{
    hull_moments m = integrate(solid);
    if (!(m.volume > 0))
        return yk_v3(0, 0, 0);
    return yk_v3_scale(1 / m.volume, m.first);
}

static double hull_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    hull_moments m = integrate(solid);
    if (!(m.volume > 0))
        return 0;

    /* About the center: second moments minus those of a point mass there. */
    yk_vec3 at = yk_v3_scale(1 / m.volume, m.first);
    const double c[3] = {at.x, at.y, at.z};
    double trace = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            m.second[i][j] -= m.volume * c[i] * c[j];
        trace += m.second[i][i];
    }

    /* J = rho (trace(S) 1 - S) from the second moments S. */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            inertia->m[i][j] = density * ((i == j ? trace : 0) - m.second[i][j]);
    }

    return density * m.volume;
}

const yk_option yk_solid_point_item = {"points",       YK_OPTION_NUMBERS, "m",
                                       .min_count = 3, .max_count = 3,    .description = "x, y, z"};

static const yk_option surface_keys[] = {
    {"file", YK_OPTION_PATH,
     .description = "a surface as STL or OBJ file instead, relative to the scenario's folder"},
    {"scale", YK_OPTION_NUMBER, NULL, "1", .range = YK_POSITIVE,
     .description = "ratio of the unit of the file to the subsystem's unit of length: 0.001 if the "
                    "file is in millimetres and the subsystem in metres"},
    {0},
};
const yk_option_section yk_surface_keys = {"surface", NULL, surface_keys};

static const yk_option hull_keys[] = {
    {"points", YK_OPTION_LIST, .min_count = 4, .item = &yk_solid_point_item,
     .description = "its corners"},
    {"surface", YK_OPTION_INCLUDE, .section = &yk_surface_keys, .description = ""},
    {0},
};

const yk_solid_ops yk_hull_ops = {
    .section = {"hull", "The smallest convex solid with these corners.", hull_keys},
    .from_points = true,
    .valid = hull_is_valid,
    .centre = hull_centre,
    .mass = hull_mass,
    .shape = YK_SHAPE_HULL,
    .radius = yk_points_radius,
    .support = yk_points_support,
    .shrinks = true,
    .face = yk_points_face,
    .extremes = yk_points_extremes,
};
