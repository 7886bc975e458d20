/* Unbounded solids: planes, which are solid below z = 0 of their frame, and cavities, which are
 * solid around a cylinder or a box and whose walls can be left out.
 *
 * A cavity is convex, so a solid is inside if its extreme points are: corners of polyhedra, the
 * ends of a capsule, points of the two rims of a cylinder. Each wall near such a point gives one
 * contact, so that there may be several in a corner. */
#include <assert.h>

#include "nonsmooth/solids/solid.h"

/* Walls ---------------------------------------------------------------------------------------- */

enum { EXTREMES_MAX = 256 };

static bool is_unit(yk_vec3 d)
{
    return fabs(yk_v3_norm2(d) - 1) < 1e-9;
}

yk_vec3 yk_wall_outward(const yk_wall *wall, yk_vec3 at)
{
    if (!wall->curved) {
        assert(is_unit(wall->normal));
        return wall->normal;
    }

    assert(is_unit(wall->axis));
    yk_vec3 arm = yk_v3_sub(at, wall->middle);
    yk_vec3 radial = yk_v3_axpy(-yk_v3_dot(arm, wall->axis), wall->axis, arm);
    double distance = yk_v3_norm(radial);
    if (distance > 1e-12 * yk_v3_norm(arm))
        return yk_v3_scale(1 / distance, radial);

    yk_vec3 side, other;
    yk_v3_tangents(wall->axis, &side, &other);
    return side;
}

/* The wall is in global axes. */
static void find_extremes(const yk_solid *solid, const yk_wall *wall, yk_extremes *set)
{
    set->points = set->own;
    set->rounding = 0;

    yk_wall local = {
        .curved = wall->curved,
        .normal = yk_m3_apply_transposed(solid->rotation, wall->normal),
        .middle = yk_m3_apply_transposed(solid->rotation, yk_v3_sub(wall->middle, solid->position)),
        .axis = yk_m3_apply_transposed(solid->rotation, wall->axis),
    };
    yk_solid_ops_of(solid->kind)->extremes(solid, &local, set);
}

/* Adds a contact, or replaces the widest of a full list if this one is closer. */
static int add_touch(yk_touch *list, int count, const yk_touch *touch)
{
    if (count < YK_MANIFOLD_MAX) {
        list[count] = *touch;
        return count + 1;
    }

    /* The list is full: replace the widest gap. */
    int widest = 0;
    for (int i = 1; i < count; i++)
        if (list[i].gap > list[widest].gap)
            widest = i;
    if (touch->gap < list[widest].gap)
        list[widest] = *touch;
    return count;
}

/* A flat wall goes through `origin`, its normal points to the free side; adds to `list`, which has
 * `count` contacts. */
static int meet_flat_wall(const yk_solid *finite, yk_vec3 origin, yk_vec3 inward, double margin,
                          uint32_t wall, yk_touch *list, int count)
{
    yk_extremes set;
    find_extremes(finite, &(yk_wall){.normal = yk_v3_neg(inward)}, &set);

    for (int i = 0; i < set.count; i++) {
        yk_vec3 centre = yk_v3_add(finite->position, yk_m3_apply(finite->rotation, set.points[i]));

        /* Height above the wall, minus the rounding radius. */
        double height = yk_v3_dot(inward, yk_v3_sub(centre, origin));
        if (height - set.rounding >= margin)
            continue;

        /* Wall and point identify the contact, by which the next step finds its impulse. */
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

/* The flat walls of a cavity from number `first` on (1: all six, 5: bottom and top). */
static int meet_flat_walls(const yk_solid *finite, const yk_solid *cavity, uint32_t first,
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
        count = meet_flat_wall(finite, origin, inward, margin, wall, list, count);
    }

    return count;
}

static int meet_curved_wall(const yk_solid *finite, const yk_solid *cavity, double margin,
                            yk_touch *list)
{
    yk_vec3 axis = yk_m3_column(&cavity->rotation, 2);
    yk_wall wall = {.curved = true, .middle = cavity->position, .axis = axis};
    yk_extremes set;
    find_extremes(finite, &wall, &set);

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

static bool flat_wall(const yk_solid *cavity, uint32_t wall, yk_vec3 at, double *height,
                      yk_vec3 *inward)
{
    uint32_t side = wall - 1;
    if (cavity->open & (1u << side))
        return false;

    /* Numbered as in meet_flat_walls(): low and high side of each axis in turn. */
    const double half[3] = {cavity->size.x, cavity->size.y, cavity->size.z};
    yk_vec3 axis = yk_m3_column(&cavity->rotation, (int)side / 2);
    *inward = side % 2 ? yk_v3_neg(axis) : axis;
    *height = half[side / 2] + yk_v3_dot(*inward, yk_v3_sub(at, cavity->position));
    return true;
}

/* To the flat ends of a cavity, z = +-size.z. */
static double clearance_of_ends(const yk_solid *cavity, yk_vec3 p)
{
    /* Distances from the existing walls; the smallest counts. */
    double room = INFINITY;
    if (!(cavity->open & YK_WALL_BOTTOM))
        room = fmin(room, p.z + cavity->size.z);
    if (!(cavity->open & YK_WALL_TOP))
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

/* Planes --------------------------------------------------------------------------------------- */

static bool plane_is_valid(const yk_solid *solid)
{
    (void)solid;
    return true;
}

static double plane_clearance(const yk_solid *solid, yk_vec3 point)
{
    (void)solid;
    return point.z;
}

static bool plane_wall(const yk_solid *solid, uint32_t number, yk_vec3 at, double *height,
                       yk_vec3 *inward)
{
    (void)number;
    *inward = yk_m3_column(&solid->rotation, 2);
    *height = yk_v3_dot(*inward, yk_v3_sub(at, solid->position));
    return true;
}

static int plane_collide_finite(const yk_solid *finite, const yk_solid *solid, double margin,
                                yk_touch *list)
{
    yk_vec3 up = yk_m3_column(&solid->rotation, 2);
    return meet_flat_wall(finite, solid->position, up, margin, 0, list, 0);
}

static bool plane_contains(const yk_solid *solid, yk_vec3 point)
{
    (void)solid;
    return point.z < 0;
}

static const yk_option plane_keys[] = {{0}};

const yk_solid_ops yk_plane_ops = {
    .section = {"plane", "Everything below z = 0 is solid.", plane_keys},
    .valid = plane_is_valid,
    .contains = plane_contains,
    .clearance = plane_clearance,
    .walls = 1u << 0,
    .shape = YK_SHAPE_PLANE,
    .wall = plane_wall,
    .collide_finite = plane_collide_finite,
};

/* Keys of cavities: the walls in the order of the bits of yk_cavity_wall. */
static const yk_option_choice wall_words[] = {{"left", "-x; the curved wall of a cylinder"},
                                              {"right", "+x"},
                                              {"front", "-y"},
                                              {"back", "+y"},
                                              {"bottom", "-z"},
                                              {"top", "+z"},
                                              {NULL, NULL}};
static const yk_option wall_item = {"walls", YK_OPTION_CHOICE, .choices = wall_words,
                                    .description = "a wall"};
#define YK_OPEN_WALLS                                                     \
    {                                                                     \
        "open_walls", YK_OPTION_LIST, .max_count = 6, .item = &wall_item, \
                                      .description = "walls to leave out" \
    }

/* Cavities of boxes, half edges `size` --------------------------------------------------------- */

static bool box_cavity_is_valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.y > 0 && solid->size.z > 0;
}

static double box_cavity_clearance(const yk_solid *solid, yk_vec3 p)
{
    unsigned open = solid->open;
    double room = clearance_of_ends(solid, p);

    if (!(open & YK_WALL_LEFT))
        room = fmin(room, p.x + solid->size.x);
    if (!(open & YK_WALL_RIGHT))
        room = fmin(room, solid->size.x - p.x);
    if (!(open & YK_WALL_FRONT))
        room = fmin(room, p.y + solid->size.y);
    if (!(open & YK_WALL_BACK))
        room = fmin(room, solid->size.y - p.y);
    return room;
}

static int box_cavity_collide_finite(const yk_solid *finite, const yk_solid *solid, double margin,
                                     yk_touch *list)
{
    return meet_flat_walls(finite, solid, 1, margin, list, 0);
}

static const yk_option box_cavity_keys[] = {
    YK_SOLID_SIZE("its inner edges"),
    YK_OPEN_WALLS,
    {0},
};

const yk_solid_ops yk_box_cavity_ops = {
    .section = {"box-cavity", "Everything around a box is solid: a container.", box_cavity_keys},
    .valid = box_cavity_is_valid,
    .shape = YK_SHAPE_BOX_CAVITY,
    .clearance = box_cavity_clearance,
    .walls = 63u << 1,
    .wall = flat_wall,
    .collide_finite = box_cavity_collide_finite,
};

/* Cavities of cylinders, radius size.x and |z| <= size.z --------------------------------------- */

static bool cylinder_cavity_is_valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.z > 0;
}

static double cylinder_cavity_clearance(const yk_solid *solid, yk_vec3 p)
{
    double room = clearance_of_ends(solid, p);
    if (solid->open & YK_WALL_LEFT)
        return room;
    return fmin(room, solid->size.x - sqrt(p.x * p.x + p.y * p.y));
}

/* Wall 0 is the curved one, bottom and top are numbered as in a box. */
static bool cylinder_cavity_wall(const yk_solid *solid, uint32_t number, yk_vec3 at, double *height,
                                 yk_vec3 *inward)
{
    if (number > 0)
        return flat_wall(solid, number, at, height, inward);
    if (solid->open & YK_WALL_LEFT)
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

static int cylinder_cavity_collide_finite(const yk_solid *finite, const yk_solid *solid,
                                          double margin, yk_touch *list)
{
    int count = 0;
    if (!(solid->open & YK_WALL_LEFT))
        count = meet_curved_wall(finite, solid, margin, list);
    return meet_flat_walls(finite, solid, 5, margin, list, count);
}

static const yk_option cylinder_cavity_keys[] = {
    YK_SOLID_RADIUS,
    YK_SOLID_LENGTH("inner height, along its z axis"),
    YK_OPEN_WALLS,
    {0},
};

const yk_solid_ops yk_cylinder_cavity_ops = {
    .section = {"cylinder-cavity", "Everything around a cylinder is solid: a can.",
                cylinder_cavity_keys},
    .valid = cylinder_cavity_is_valid,
    .shape = YK_SHAPE_CYLINDER_CAVITY,
    .clearance = cylinder_cavity_clearance,
    .walls = 1u << 0 | 3u << 5,
    .wall = cylinder_cavity_wall,
    .collide_finite = cylinder_cavity_collide_finite,
};
