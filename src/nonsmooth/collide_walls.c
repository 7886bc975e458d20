/* Finite solids above a plane and inside cavities.
 *
 * A cavity is convex, so a solid is inside when its extreme points are: corners of polyhedra, the
 * ends of a capsule, points of the two rims of a cylinder. Each wall that such a point comes near
 * gives one contact; in a corner there are as many as walls. */
#include "nonsmooth/solids/solid.h"

enum { EXTREMES_MAX = 256 };

/* Its extreme points against a wall that lies in this direction. */
static void find_extremes(const yk_solid *solid, yk_vec3 direction, yk_extremes *set)
{
    set->points = set->own;
    set->rounding = 0;

    yk_vec3 d = yk_m3_apply_transposed(solid->rotation, direction);
    yk_solid_ops_of(solid->kind)->extremes(solid, d, set);
}

/* Adds a contact, or replaces the widest of a full list if this one is closer. */
static int add_touch(yk_touch *list, int count, const yk_touch *touch)
{
    if (count < YK_MANIFOLD_MAX) {
        list[count] = *touch;
        return count + 1;
    }

    /* The list is full: the widest gap matters least. */
    int widest = 0;
    for (int i = 1; i < count; i++)
        if (list[i].gap > list[widest].gap)
            widest = i;
    if (touch->gap < list[widest].gap)
        list[widest] = *touch;
    return count;
}

int yk_meet_flat_wall(const yk_solid *finite, yk_vec3 origin, yk_vec3 inward, double margin,
                      uint32_t wall, yk_touch *list, int count)
{
    yk_extremes set;
    find_extremes(finite, yk_v3_neg(inward), &set);

    for (int i = 0; i < set.count; i++) {
        yk_vec3 centre = yk_v3_add(finite->position, yk_m3_apply(finite->rotation, set.points[i]));

        /* Above the wall, less the rounding. */
        double height = yk_v3_dot(inward, yk_v3_sub(centre, origin));
        if (height - set.rounding >= margin)
            continue;

        yk_touch touch = {
            .point_a = yk_v3_axpy(-set.rounding, inward, centre),
            .point_b = yk_v3_axpy(-height, inward, centre),
            .normal = yk_v3_neg(inward),
            .gap = height - set.rounding,
            .feature = wall * EXTREMES_MAX + (uint32_t)(i % EXTREMES_MAX),
        };
        count = add_touch(list, count, &touch);
    }

    return count;
}

int yk_meet_flat_walls(const yk_solid *finite, const yk_solid *cavity, uint32_t first,
                       double margin, yk_touch *list, int count)
{
    const double half[3] = {cavity->size.x, cavity->size.y, cavity->size.z};

    for (uint32_t wall = first; wall < YK_WALLS; wall++) {
        uint32_t side = wall - 1;
        if (cavity->open & (1u << side))
            continue;

        /* Walls alternate between the low and the high side of an axis. */
        yk_vec3 axis = yk_m3_column(&cavity->rotation, (int)side / 2);
        yk_vec3 inward = side % 2 ? yk_v3_neg(axis) : axis;
        yk_vec3 origin = yk_v3_axpy(-half[side / 2], inward, cavity->position);
        count = yk_meet_flat_wall(finite, origin, inward, margin, wall, list, count);
    }

    return count;
}

int yk_meet_curved_wall(const yk_solid *finite, const yk_solid *cavity, double margin,
                        yk_touch *list)
{
    /* Away from the axis is where the wall is nearest. */
    yk_vec3 axis = yk_m3_column(&cavity->rotation, 2);
    yk_vec3 offset = yk_v3_sub(finite->position, cavity->position);
    yk_extremes set;
    find_extremes(finite, yk_v3_axpy(-yk_v3_dot(offset, axis), axis, offset), &set);

    int count = 0;
    for (int i = 0; i < set.count; i++) {
        yk_vec3 centre = yk_v3_add(finite->position, yk_m3_apply(finite->rotation, set.points[i]));

        /* Its distance from the axis. */
        yk_vec3 arm = yk_v3_sub(centre, cavity->position);
        yk_vec3 radial = yk_v3_axpy(-yk_v3_dot(arm, axis), axis, arm);
        double distance = yk_v3_norm(radial);
        double gap = cavity->size.x - distance - set.rounding;
        if (gap >= margin || distance == 0)
            continue;

        yk_vec3 outward = yk_v3_scale(1 / distance, radial);
        yk_touch touch = {
            .point_a = yk_v3_axpy(set.rounding, outward, centre),
            .point_b = yk_v3_axpy(cavity->size.x - distance, outward, centre),
            .normal = outward,
            .gap = gap,
            .feature = (uint32_t)(i % EXTREMES_MAX),
        };
        count = add_touch(list, count, &touch);
    }

    return count;
}

bool yk_flat_wall(const yk_solid *cavity, uint32_t wall, yk_vec3 at, double *height,
                  yk_vec3 *inward)
{
    uint32_t side = wall - 1;
    if (cavity->open & (1u << side))
        return false;

    /* Numbered as in yk_meet_flat_walls: low and high side of each axis in turn. */
    const double half[3] = {cavity->size.x, cavity->size.y, cavity->size.z};
    yk_vec3 axis = yk_m3_column(&cavity->rotation, (int)side / 2);
    *inward = side % 2 ? yk_v3_neg(axis) : axis;
    *height = half[side / 2] + yk_v3_dot(*inward, yk_v3_sub(at, cavity->position));
    return true;
}

double yk_clearance_of_ends(const yk_solid *cavity, yk_vec3 p)
{
    /* Distances from the walls that are there; the smallest counts. */
    double room = INFINITY;
    if (!(cavity->open & YK_OPEN_BOTTOM))
        room = fmin(room, p.z + cavity->size.z);
    if (!(cavity->open & YK_OPEN_TOP))
        room = fmin(room, cavity->size.z - p.z);
    return room;
}

bool yk_sphere_at_wall(const yk_solid *outside, uint32_t wall, yk_vec3 centre, double radius,
                       double margin, yk_touch *touch)
{
    double height;
    yk_vec3 inward;
    const yk_solid_ops *kind = yk_solid_ops_of(outside->kind);
    if (!kind->wall(outside, wall, centre, &height, &inward) || height - radius >= margin)
        return false;

    *touch = (yk_touch){
        .point_a = yk_v3_axpy(-radius, inward, centre),
        .point_b = yk_v3_axpy(-height, inward, centre),
        .normal = yk_v3_neg(inward),
        .gap = height - radius,
        .feature = wall,
    };
    return true;
}
