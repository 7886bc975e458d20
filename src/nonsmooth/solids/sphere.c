/* A sphere: a point under a skin of thickness size.x. */
#include "nonsmooth/solids/solid.h"

static bool sphere_is_valid(const yk_solid *solid)
{
    return solid->size.x > 0;
}

static double sphere_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    double r = solid->size.x, rr = r * r;
    double m = density * 4.0 / 3.0 * YK_PI * r * rr;
    double j = 0.4 * m * rr;
    *inertia = yk_m3_diagonal(j, j, j);
    return m;
}

static double sphere_radius(const yk_solid *solid)
{
    return solid->size.x;
}

static yk_vec3 sphere_support(const yk_solid *solid, yk_vec3 direction)
{
    return yk_v3_scale(solid->size.x, yk_v3_unit(direction));
}

static yk_vec3 sphere_under_skin(const yk_solid *solid, yk_vec3 direction)
{
    (void)direction;
    return solid->position;
}

static int sphere_face(const yk_solid *solid, yk_vec3 normal, yk_vec3 *polygon)
{
    polygon[0] = yk_v3_scale(solid->size.x, normal);
    return 1;
}

static yk_nearest sphere_nearest(const yk_solid *solid, yk_vec3 point)
{
    (void)solid;
    return yk_nearest_of_point(point, yk_v3(0, 0, 0), yk_v3(0, 0, 1));
}

static void sphere_extremes(const yk_solid *solid, const yk_wall *wall, yk_extremes *set)
{
    (void)wall;
    set->rounding = solid->size.x;
    set->own[0] = yk_v3(0, 0, 0);
    set->count = 1;
}

static const yk_option sphere_keys[] = {
    YK_SOLID_RADIUS,
    {0},
};

const yk_solid_ops yk_sphere_ops = {
    .section = {"sphere", "", sphere_keys},
    .ball = true,
    .valid = sphere_is_valid,
    .mass = sphere_mass,
    .shape = YK_SHAPE_SPHERE,
    .radius = sphere_radius,
    .support = sphere_support,
    .under_skin = sphere_under_skin,
    .face = sphere_face,
    .nearest = sphere_nearest,
    .extremes = sphere_extremes,
};
