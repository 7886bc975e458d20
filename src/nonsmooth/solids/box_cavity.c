/* The cavity of a box: solid around the half edges `size`, with walls that can be left out. */
#include "nonsmooth/solids/solid.h"

static bool valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.y > 0 && solid->size.z > 0;
}

static double clearance(const yk_solid *solid, yk_vec3 p)
{
    unsigned open = solid->open;
    double room = yk_clearance_of_ends(solid, p);

    if (!(open & YK_OPEN_LEFT))
        room = fmin(room, p.x + solid->size.x);
    if (!(open & YK_OPEN_RIGHT))
        room = fmin(room, solid->size.x - p.x);
    if (!(open & YK_OPEN_FRONT))
        room = fmin(room, p.y + solid->size.y);
    if (!(open & YK_OPEN_BACK))
        room = fmin(room, solid->size.y - p.y);
    return room;
}

static bool wall(const yk_solid *solid, uint32_t number, yk_vec3 at, double *height,
                 yk_vec3 *inward)
{
    return yk_flat_wall(solid, number, at, height, inward);
}

static int collide_finite(const yk_solid *finite, const yk_solid *solid, double margin,
                          yk_touch *list)
{
    return yk_meet_flat_walls(finite, solid, 1, margin, list, 0);
}

const yk_solid_ops yk_box_cavity_ops = {
    .name = "box-cavity",
    .valid = valid,
    .shape = YK_SHAPE_BOX_CAVITY,
    .clearance = clearance,
    .walls = 63u << 1,
    .wall = wall,
    .collide_finite = collide_finite,
};
