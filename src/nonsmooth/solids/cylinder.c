/* A cylinder of radius size.x and half height size.z about the axis z. */
#include "nonsmooth/solids/solid.h"

static bool valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.z > 0;
}

static double mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    double r = solid->size.x, rr = r * r, half = solid->size.z;
    double m = density * 2 * YK_PI * rr * half;

    double across = m * (rr / 4 + half * half / 3);
    double along = m * rr / 2;
    *inertia = yk_m3_diagonal(across, across, along);
    return m;
}

static double radius(const yk_solid *solid)
{
    return sqrt(solid->size.x * solid->size.x + solid->size.z * solid->size.z);
}

static yk_vec3 support(const yk_solid *solid, yk_vec3 d)
{
    double radial = sqrt(d.x * d.x + d.y * d.y);
    double scale = radial > 0 ? solid->size.x / radial : 0;
    return yk_v3(scale * d.x, scale * d.y, yk_sign(d.z) * solid->size.z);
}

static double thickness(const yk_solid *solid)
{
    return fmin(solid->size.x, solid->size.z);
}

/* A cap as an octagon, the line of its side, or a point of its rim. */
static int face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    double r = solid->size.x;
    double up = yk_sign(n.z) * solid->size.z;
    double radial = sqrt(n.x * n.x + n.y * n.y);

    if (radial < YK_FACE_SLOPE) {
        for (int i = 0; i < 8; i++)
            polygon[i] = yk_v3(r * cos(i * YK_PI / 4), r * sin(i * YK_PI / 4), up);
        return 8;
    }

    /* The point of the rim that is farthest out, and the one opposite where the side looks along
     * the normal. */
    yk_vec3 rim = {r * n.x / radial, r * n.y / radial, up};
    polygon[0] = rim;
    if (fabs(n.z) >= YK_FACE_SLOPE)
        return 1;

    polygon[1] = yk_v3(rim.x, rim.y, -up);
    return 2;
}

/* Its side is, like a capsule, a line with a skin; of a rim only the point that looks along the
 * direction is known, which does not determine the direction itself. */
static double face_skin(const yk_solid *solid, int count)
{
    return count == 2 ? solid->size.x : -1;
}

static yk_nearest nearest(const yk_solid *solid, yk_vec3 p)
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

    /* Inside: out through the side or the nearer cap. */
    double side = size.x - radial, cap = size.z - fabs(p.z), up = yk_sign(p.z);
    if (side < cap) {
        yk_vec3 on_side = {size.x * outward.x, size.x * outward.y, p.z};
        return (yk_nearest){.point = on_side, .normal = outward, .distance = -side};
    }

    return (yk_nearest){.point = {p.x, p.y, up * size.z}, .normal = {0, 0, up}, .distance = -cap};
}

/* The point of each rim that is farthest along the direction, and four fixed ones where a cap
 * faces that way: a standing cylinder needs several feet, and fixed ones do not wander. */
static void extremes(const yk_solid *solid, yk_vec3 d, yk_extremes *set)
{
    double r = solid->size.x;
    double radial = sqrt(d.x * d.x + d.y * d.y);
    bool stands = radial < YK_FACE_SLOPE;
    yk_vec3 *own = set->own;

    int count = 0;

    /* Both rims. */
    for (int cap = -1; cap <= 1; cap += 2) {
        double z = cap * solid->size.z;
        if (radial > 1e-9)
            own[count++] = yk_v3(r * d.x / radial, r * d.y / radial, z);
        if (!stands)
            continue;
        own[count++] = yk_v3(r, 0, z);
        own[count++] = yk_v3(0, r, z);
        own[count++] = yk_v3(-r, 0, z);
        own[count++] = yk_v3(0, -r, z);
    }

    set->count = count;
}

const yk_solid_ops yk_cylinder_ops = {
    .name = "cylinder",
    .valid = valid,
    .mass = mass,
    .shape = YK_SHAPE_CYLINDER,
    .radius = radius,
    .support = support,
    .thickness = thickness,
    .face = face,
    .face_skin = face_skin,
    .nearest = nearest,
    .extremes = extremes,
};
