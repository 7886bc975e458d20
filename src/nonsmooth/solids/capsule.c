/* A capsule: a line of half length size.z along z under a skin of thickness size.x. */
#include "nonsmooth/solids/solid.h"

static bool capsule_is_valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.z >= 0;
}

/* A cylinder and two half spheres, whose centers of mass are 3/8 r beyond its ends. */
static double capsule_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    double r = solid->size.x, rr = r * r, half = solid->size.z;
    double rod = density * 2 * YK_PI * rr * half;
    double ends = density * 4.0 / 3.0 * YK_PI * r * rr;

    /* Ends by the parallel-axis theorem. */
    double across =
        rod * (rr / 4 + half * half / 3) + ends * (0.4 * rr + half * half + 0.75 * half * r);
    double along = rod * rr / 2 + 0.4 * ends * rr;
    *inertia = yk_m3_diagonal(across, across, along);
    return rod + ends;
}

static double capsule_radius(const yk_solid *solid)
{
    return solid->size.x + solid->size.z;
}

static yk_vec3 capsule_support(const yk_solid *solid, yk_vec3 d)
{
    yk_vec3 end = yk_v3_scale(solid->size.x, yk_v3_unit(d));
    end.z += yk_sign(d.z) * solid->size.z;
    return end;
}

static yk_vec3 capsule_under_skin(const yk_solid *solid, yk_vec3 direction)
{
    yk_vec3 axis = yk_m3_column(&solid->rotation, 2);
    double end = yk_sign(yk_v3_dot(axis, direction)) * solid->size.z;
    return yk_v3_axpy(end, axis, solid->position);
}

/* The line of its side if it faces the normal; otherwise the point at one end. */
static int capsule_face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    yk_vec3 skin = yk_v3_scale(solid->size.x, n);
    double up = yk_sign(n.z) * solid->size.z;

    polygon[0] = yk_v3(skin.x, skin.y, skin.z + up);
    if (fabs(n.z) >= YK_FACE_SLOPE)
        return 1;

    polygon[1] = yk_v3(skin.x, skin.y, skin.z - up);
    return 2;
}

static yk_nearest capsule_nearest(const yk_solid *solid, yk_vec3 p)
{
    yk_vec3 on_axis = {0, 0, yk_clamp(p.z, solid->size.z)};
    return yk_nearest_of_point(p, on_axis, yk_v3(1, 0, 0));
}

static void capsule_extremes(const yk_solid *solid, const yk_wall *wall, yk_extremes *set)
{
    (void)wall;
    set->rounding = solid->size.x;
    set->own[0] = yk_v3(0, 0, -solid->size.z);
    set->own[1] = yk_v3(0, 0, solid->size.z);
    set->count = 2;
}

static const yk_option capsule_keys[] = {
    YK_SOLID_RADIUS,
    YK_SOLID_LENGTH("of its axis, without the round ends"),
    {0},
};

const yk_solid_ops yk_capsule_ops = {
    .section = {"capsule", "A cylinder about z with round ends.", capsule_keys},
    .valid = capsule_is_valid,
    .mass = capsule_mass,
    .shape = YK_SHAPE_CAPSULE,
    .radius = capsule_radius,
    .support = capsule_support,
    .under_skin = capsule_under_skin,
    .face = capsule_face,
    .nearest = capsule_nearest,
    .extremes = capsule_extremes,
};
