/* An ellipsoid with half axes `size` along its own axes. */
#include "nonsmooth/solids/ellipse.h"

static yk_vec3 multiply(yk_vec3 a, yk_vec3 b)
{
    return yk_v3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static bool ellipsoid_is_valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.y > 0 && solid->size.z > 0;
}

static double ellipsoid_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    yk_vec3 s = solid->size, squared = multiply(s, s);
    double m = density * 4.0 / 3.0 * YK_PI * s.x * s.y * s.z;
    *inertia = yk_m3_scale(
        m / 5, yk_m3_diagonal(squared.y + squared.z, squared.x + squared.z, squared.x + squared.y));
    return m;
}

static double ellipsoid_radius(const yk_solid *solid)
{
    return fmax(solid->size.x, fmax(solid->size.y, solid->size.z));
}

static double ellipsoid_thickness(const yk_solid *solid)
{
    return fmin(solid->size.x, fmin(solid->size.y, solid->size.z));
}

/* The map from the unit sphere takes the normal u to the point S u and the normal S^-1 u. */
static yk_vec3 ellipsoid_support(const yk_solid *solid, yk_vec3 direction)
{
    return multiply(solid->size, yk_v3_unit(multiply(solid->size, direction)));
}

static int ellipsoid_face(const yk_solid *solid, yk_vec3 normal, yk_vec3 *polygon)
{
    polygon[0] = ellipsoid_support(solid, normal);
    return 1;
}

/* One point does not determine the direction of contact. */
static double ellipsoid_face_skin(const yk_solid *solid, int count)
{
    (void)solid;
    (void)count;
    return -1;
}

/* Nearest point of the surface after Eberly (2013): x_i = s_i^2 p_i / (t + s_i^2), where t is the
 * largest root of F(t) = sum (s_i p_i / (t + s_i^2))^2 - 1 above the pole t = -s_min^2. If p has no
 * component along the shortest axis, F may be negative at the pole already, which is then the root.
 * Lengths are relative to the shortest half axis, and root = t + 1.
 *
 * Newton's iteration from the left of the root of a convex, decreasing function never passes it. */
static yk_nearest ellipsoid_nearest(const yk_solid *solid, yk_vec3 point)
{
    const double shortest = ellipsoid_thickness(solid);
    const double size[3] = {solid->size.x / shortest, solid->size.y / shortest,
                            solid->size.z / shortest};
    const double p[3] = {fabs(point.x) / shortest, fabs(point.y) / shortest,
                         fabs(point.z) / shortest};

    /* Left of the root: one term alone is at least 1 there. */
    double root = 0;
    for (int i = 0; i < 3; i++)
        root = fmax(root, size[i] * p[i] - (size[i] * size[i] - 1));

    enum { STEPS = 100 };
    for (int step = 0; step < STEPS; step++) {
        double value = -1, slope = 0;
        for (int i = 0; i < 3; i++) {
            double below = root + (size[i] * size[i] - 1);
            if (p[i] == 0)
                continue;
            double term = size[i] * p[i] / below;
            value += term * term;
            slope -= 2 * term * term / below;
        }
        double next = root - value / slope;
        if (!(value > 0) || !(next > root))
            break;
        root = next;
    }

    /* At the pole, the component along the shortest axis is the one that puts the point on the
     * surface. */
    double x[3], inside = 1;
    int short_axis = 0;
    for (int i = 0; i < 3; i++) {
        double below = root + (size[i] * size[i] - 1);
        bool pole = !(below > 0);
        if (pole)
            short_axis = i;
        x[i] = pole ? 0 : size[i] * size[i] * p[i] / below;
        inside -= x[i] * x[i] / (size[i] * size[i]);
    }
    if (!(root > 0))
        x[short_axis] = sqrt(fmax(0, inside));

    yk_vec3 at = {copysign(shortest * x[0], point.x), copysign(shortest * x[1], point.y),
                  copysign(shortest * x[2], point.z)};
    yk_vec3 s = solid->size;
    yk_vec3 normal = yk_v3_unit(yk_v3(at.x / (s.x * s.x), at.y / (s.y * s.y), at.z / (s.z * s.z)));
    return (yk_nearest){
        .point = at, .normal = normal, .distance = yk_v3_dot(normal, yk_v3_sub(point, at))};
}

/* The points farthest from the axis of a curved wall are on the silhouette, where the normal is
 * perpendicular to the axis: an ellipse about the center of the ellipsoid. */
static void ellipsoid_extremes(const yk_solid *solid, const yk_wall *wall, yk_extremes *set)
{
    if (!wall->curved) {
        set->own[0] = ellipsoid_support(solid, wall->normal);
        set->count = 1;
        return;
    }

    yk_vec3 s = solid->size, axis = wall->axis;
    yk_vec3 normal = yk_v3_unit(yk_v3(axis.x / s.x, axis.y / s.y, axis.z / s.z));
    yk_vec3 u, w;
    yk_v3_tangents(normal, &u, &w);
    u = multiply(s, u);
    w = multiply(s, w);

    /* Unit lengths, so that the iteration's tolerance is relative to the size. */
    double radius = ellipsoid_radius(solid);
    u = yk_v3_scale(1 / radius, u);
    w = yk_v3_scale(1 / radius, w);

    double ua = yk_v3_dot(u, axis), wa = yk_v3_dot(w, axis);
    yk_vec3 arm = yk_v3_neg(wall->middle);
    yk_vec3 e = yk_v3_axpy(-yk_v3_dot(arm, axis), axis, arm);
    yk_ellipse silhouette = {
        .radius = radius,
        .u = u,
        .w = w,
        .eu = yk_v3_dot(e, u),
        .ew = yk_v3_dot(e, w),
        .uu = yk_v3_dot(u, u) - ua * ua,
        .ww = yk_v3_dot(w, w) - wa * wa,
        .uw = yk_v3_dot(u, w) - ua * wa,
    };

    /* The long axis of the projected silhouette, and the direction of the center. */
    double across = 0.5 * atan2(2 * silhouette.uw, silhouette.uu - silhouette.ww);
    double off_axis = atan2(silhouette.ew, silhouette.eu);
    const double starts[4] = {off_axis, off_axis + YK_PI, across, across + YK_PI};
    set->count = yk_ellipse_extremes(&silhouette, wall, starts, set->own);
}

static const yk_option ellipsoid_keys[] = {
    YK_SOLID_SIZE("diameters along its axes"),
    {0},
};

const yk_solid_ops yk_ellipsoid_ops = {
    .section = {"ellipsoid", "", ellipsoid_keys},
    .valid = ellipsoid_is_valid,
    .mass = ellipsoid_mass,
    .shape = YK_SHAPE_ELLIPSOID,
    .radius = ellipsoid_radius,
    .support = ellipsoid_support,
    .thickness = ellipsoid_thickness,
    .face = ellipsoid_face,
    .face_skin = ellipsoid_face_skin,
    .nearest = ellipsoid_nearest,
    .extremes = ellipsoid_extremes,
};
