/* A plane: solid below z = 0 of its frame. */
#include "nonsmooth/solids/solid.h"

static bool valid(const yk_solid *solid)
{
    (void)solid;
    return true;
}

static double clearance(const yk_solid *solid, yk_vec3 point)
{
    (void)solid;
    return point.z;
}

static bool wall(const yk_solid *solid, uint32_t number, yk_vec3 at, double *height,
                 yk_vec3 *inward)
{
    (void)number;
    *inward = yk_m3_column(&solid->rotation, 2);
    *height = yk_v3_dot(*inward, yk_v3_sub(at, solid->position));
    return true;
}

static int collide_finite(const yk_solid *finite, const yk_solid *solid, double margin,
                          yk_touch *list)
{
    yk_vec3 up = yk_m3_column(&solid->rotation, 2);
    return yk_meet_flat_wall(finite, solid->position, up, margin, 0, list, 0);
}

const yk_solid_ops yk_plane_ops = {
    .name = "plane",
    .valid = valid,
    .clearance = clearance,
    .walls = 1u << 0,
    .shape = YK_SHAPE_PLANE,
    .wall = wall,
    .collide_finite = collide_finite,
};
