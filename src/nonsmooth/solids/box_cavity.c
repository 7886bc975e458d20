/* The cavity of a box: solid around the half edges `size`, with walls that can be left out. */
#include "nonsmooth/solids/solid.h"

static bool valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.y > 0 && solid->size.z > 0;
}

/* Its twelve edges. */
static void draw(const yk_solid *solid, yk_quat orientation, yk_picture *picture)
{
    (void)orientation;
    static const int side[2] = {-1, 1};
    const double half[3] = {solid->size.x, solid->size.y, solid->size.z};

    for (int edge = 0; edge < 12; edge++) {
        int along = edge / 4, u = (along + 1) % 3, w = (along + 2) % 3;
        double from[3], to[3];
        from[along] = -half[along];
        to[along] = half[along];
        from[u] = to[u] = side[edge & 1] * half[u];
        from[w] = to[w] = side[edge >> 1 & 1] * half[w];
        yk_picture_line(picture, solid, yk_v3(from[0], from[1], from[2]),
                        yk_v3(to[0], to[1], to[2]));
    }
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
    .draw = draw,
    .clearance = clearance,
    .walls = 63u << 1,
    .wall = wall,
    .collide_finite = collide_finite,
};
