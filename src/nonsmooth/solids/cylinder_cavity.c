/* The cavity of a cylinder: solid around radius size.x and |z| <= size.z, with walls that can be
 * left out. */
#include "nonsmooth/solids/solid.h"

static bool valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.z > 0;
}

static double clearance(const yk_solid *solid, yk_vec3 p)
{
    double room = yk_clearance_of_ends(solid, p);
    if (solid->open & YK_OPEN_LEFT)
        return room;
    return fmin(room, solid->size.x - sqrt(p.x * p.x + p.y * p.y));
}

/* Wall 0 is the curved one, bottom and top are numbered as in a box. */
static bool wall(const yk_solid *solid, uint32_t number, yk_vec3 at, double *height,
                 yk_vec3 *inward)
{
    if (number > 0)
        return yk_flat_wall(solid, number, at, height, inward);
    if (solid->open & YK_OPEN_LEFT)
        return false;

    /* Inward is towards the axis. */
    yk_vec3 arm = yk_v3_sub(at, solid->position);
    yk_vec3 axis = yk_m3_column(&solid->rotation, 2);
    yk_vec3 radial = yk_v3_axpy(-yk_v3_dot(arm, axis), axis, arm);
    double distance = yk_v3_norm(radial);
    if (distance == 0)
        return false;

    *inward = yk_v3_scale(-1 / distance, radial);
    *height = solid->size.x - distance;
    return true;
}

static int collide_finite(const yk_solid *finite, const yk_solid *solid, double margin,
                          yk_touch *list)
{
    int count = 0;
    if (!(solid->open & YK_OPEN_LEFT))
        count = yk_meet_curved_wall(finite, solid, margin, list);
    return yk_meet_flat_walls(finite, solid, 5, margin, list, count);
}

const yk_solid_ops yk_cylinder_cavity_ops = {
    .name = "cylinder-cavity",
    .valid = valid,
    .shape = YK_SHAPE_CYLINDER_CAVITY,
    .clearance = clearance,
    .walls = 1u << 0 | 3u << 5,
    .wall = wall,
    .collide_finite = collide_finite,
};
