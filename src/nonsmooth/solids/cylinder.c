/* A cylinder of radius size.x and half height size.z about the axis z. */
#include "nonsmooth/solids/ellipse.h"

static bool cylinder_is_valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.z > 0;
}

static double cylinder_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    double r = solid->size.x, rr = r * r, half = solid->size.z;
    double m = density * 2 * YK_PI * rr * half;

    double across = m * (rr / 4 + half * half / 3);
    double along = m * rr / 2;
    *inertia = yk_m3_diagonal(across, across, along);
    return m;
}

static double cylinder_radius(const yk_solid *solid)
{
    return sqrt(solid->size.x * solid->size.x + solid->size.z * solid->size.z);
}

static yk_vec3 cylinder_support(const yk_solid *solid, yk_vec3 d)
{
    double radial = sqrt(d.x * d.x + d.y * d.y);
    double scale = radial > 0 ? solid->size.x / radial : 0;
    return yk_v3(scale * d.x, scale * d.y, yk_sign(d.z) * solid->size.z);
}

static double cylinder_thickness(const yk_solid *solid)
{
    return fmin(solid->size.x, solid->size.z);
}

/* A cap as an octagon, the line of its side, or a point of its rim. */
static int cylinder_face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    double r = solid->size.x;
    double up = yk_sign(n.z) * solid->size.z;
    double radial = sqrt(n.x * n.x + n.y * n.y);

    if (radial < YK_FACE_SLOPE) {
        for (int i = 0; i < 8; i++)
            polygon[i] = yk_v3(r * cos(i * YK_PI / 4), r * sin(i * YK_PI / 4), up);
        return 8;
    }

    /* The outermost point of the rim, and the opposite one if the side faces the normal. */
    yk_vec3 rim = {r * n.x / radial, r * n.y / radial, up};
    polygon[0] = rim;
    if (fabs(n.z) >= YK_FACE_SLOPE)
        return 1;

    polygon[1] = yk_v3(rim.x, rim.y, -up);
    return 2;
}

/* Its side is a line with a skin, as for a capsule. For a rim only the point along the direction is
 * known, which does not determine the direction itself. */
static double cylinder_face_skin(const yk_solid *solid, int count)
{
    return count == 2 ? solid->size.x : -1;
}

static yk_nearest cylinder_nearest(const yk_solid *solid, yk_vec3 p)
{
    yk_vec3 size = solid->size;
    double radial = sqrt(p.x * p.x + p.y * p.y);
    yk_vec3 outward = radial > 0 ? yk_v3(p.x / radial, p.y / radial, 0) : yk_v3(1, 0, 0);

    /* Outside: the nearest point of side, cap or rim. */
    bool beside = radial > size.x, beyond = fabs(p.z) > size.z;
    if (beside || beyond) {
        yk_vec3 q = yk_v3_scale(beside ? size.x : radial, outward);
        q.z = yk_clamp(p.z, size.z);
        return yk_nearest_of_point(p, q, outward);
    }

    /* Inside: through the side or the nearer cap. */
    double side = size.x - radial, cap = size.z - fabs(p.z), up = yk_sign(p.z);
    if (side < cap) {
        yk_vec3 on_side = {size.x * outward.x, size.x * outward.y, p.z};
        return (yk_nearest){.point = on_side, .normal = outward, .distance = -side};
    }

    return (yk_nearest){.point = {p.x, p.y, up * size.z}, .normal = {0, 0, up}, .distance = -cap};
}

/* The point of a rim that is farthest along a direction, which must not be that of the axis. */
static yk_vec3 point_of_rim(const yk_solid *solid, double z, yk_vec3 d)
{
    double r = solid->size.x, radial = sqrt(d.x * d.x + d.y * d.y);
    return yk_v3(r * d.x / radial, r * d.y / radial, z);
}

static bool leads_sideways(yk_vec3 d)
{
    return sqrt(d.x * d.x + d.y * d.y) > 1e-9;
}

/* A rim can touch a curved wall on both sides, as the rim of a piston does. The searches start at the
 * ends of the long axis of the projected rim, and in the direction in which its center is off the
 * axis. */
static int add_points_at_curved_wall(const yk_solid *solid, double z, yk_vec3 d,
                                     const yk_wall *wall, yk_vec3 *points)
{
    yk_vec3 center = {0, 0, z}, axis = wall->axis;
    yk_vec3 arm = yk_v3_sub(center, wall->middle);
    yk_vec3 e = yk_v3_axpy(-yk_v3_dot(arm, axis), axis, arm);
    yk_ellipse rim = {
        .center = center,
        .radius = solid->size.x,
        .u = {1, 0, 0},
        .w = {0, 1, 0},
        .eu = e.x,
        .ew = e.y,
        .uu = 1 - axis.x * axis.x,
        .ww = 1 - axis.y * axis.y,
        .uw = -axis.x * axis.y,
    };
    double off_axis = atan2(d.y, d.x), across = atan2(axis.x, -axis.y);
    const double starts[4] = {off_axis, off_axis + YK_PI, across, across + YK_PI};
    return yk_ellipse_extremes(&rim, wall, starts, points);
}

/* The point of each rim that is nearest to the wall, and four fixed ones if a cap faces it: a
 * standing cylinder needs several contact points, and fixed ones do not move from step to step. */
static void cylinder_extremes(const yk_solid *solid, const yk_wall *wall, yk_extremes *set)
{
    double r = solid->size.x;
    yk_vec3 *own = set->own;
    int count = 0;

    for (int cap = -1; cap <= 1; cap += 2) {
        double z = cap * solid->size.z;
        yk_vec3 d = yk_wall_outward(wall, yk_v3(0, 0, z));
        if (wall->curved)
            count += add_points_at_curved_wall(solid, z, d, wall, &own[count]);
        else if (leads_sideways(d))
            own[count++] = point_of_rim(solid, z, d);
        if (sqrt(d.x * d.x + d.y * d.y) >= YK_FACE_SLOPE)
            continue;
        own[count++] = yk_v3(r, 0, z);
        own[count++] = yk_v3(0, r, z);
        own[count++] = yk_v3(-r, 0, z);
        own[count++] = yk_v3(0, -r, z);
    }

    set->count = count;
}

static bool cylinder_contains(const yk_solid *solid, yk_vec3 p)
{
    return fabs(p.z) <= solid->size.z && p.x * p.x + p.y * p.y <= solid->size.x * solid->size.x;
}

static const yk_option cylinder_keys[] = {
    YK_SOLID_RADIUS,
    YK_SOLID_LENGTH("along its z axis"),
    {0},
};

const yk_solid_ops yk_cylinder_ops = {
    .section = {"cylinder", "About its z axis.", cylinder_keys},
    .valid = cylinder_is_valid,
    .mass = cylinder_mass,
    .contains = cylinder_contains,
    .shape = YK_SHAPE_CYLINDER,
    .radius = cylinder_radius,
    .support = cylinder_support,
    .thickness = cylinder_thickness,
    .face = cylinder_face,
    .face_skin = cylinder_face_skin,
    .nearest = cylinder_nearest,
    .extremes = cylinder_extremes,
};
