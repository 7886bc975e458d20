/* Finite solids above a plane and inside cavities.
 *
 * A cavity is convex, so a solid is inside when its extreme points are: corners for polyhedra, the ends of a capsule,
 * points of the two rims for a cylinder. Each wall that such a point comes near gives one contact; in a corner there
 * are as many as walls. */
#include "nonsmooth/collide.h"

enum { RIM_POINTS = 4, EXTREMES_MAX = 256 };

/* Points with a rounding radius about them; none is farther along a wall's direction than the solid itself. */
typedef struct extremes {
    const yk_vec3 *points; /* in the frame of the solid */
    int count;
    double rounding;
    yk_vec3 own[2 * (RIM_POINTS + 1)];
} extremes;

/* Corners of a box in the order of the bits of their number. */
static void box_extremes(const yk_solid *solid, extremes *set)
{
    for (int i = 0; i < 8; i++)
        set->own[i] = yk_v3(i & 1 ? solid->size.x : -solid->size.x, i & 2 ? solid->size.y : -solid->size.y,
                            i & 4 ? solid->size.z : -solid->size.z);
    set->count = 8;
}

/* The point of each rim that is farthest along `direction`, and four fixed ones where a cap faces that way: a standing
 * cylinder needs several feet, and fixed ones do not wander. */
static void cylinder_extremes(const yk_solid *solid, yk_vec3 direction, extremes *set)
{
    yk_vec3 d = yk_m3_apply_transposed(solid->rotation, direction);
    double radial = sqrt(d.x * d.x + d.y * d.y), radius = solid->size.x;
    bool stands = radial < 0.05;
    set->count = 0;
    for (int cap = -1; cap <= 1; cap += 2) {
        double z = cap * solid->size.z;
        if (radial > 1e-9) set->own[set->count++] = yk_v3(radius * d.x / radial, radius * d.y / radial, z);
        if (!stands) continue;
        set->own[set->count++] = yk_v3(radius, 0, z);
        set->own[set->count++] = yk_v3(0, radius, z);
        set->own[set->count++] = yk_v3(-radius, 0, z);
        set->own[set->count++] = yk_v3(0, -radius, z);
    }
}

static void find_extremes(const yk_solid *solid, yk_vec3 direction, extremes *set)
{
    set->points = set->own;
    set->rounding = 0;
    switch (solid->kind) {
    case YK_SOLID_CAPSULE:
        set->rounding = solid->size.x;
        set->own[0] = yk_v3(0, 0, -solid->size.z);
        set->own[1] = yk_v3(0, 0, solid->size.z);
        set->count = 2;
        break;
    case YK_SOLID_BOX: box_extremes(solid, set); break;
    case YK_SOLID_CYLINDER: cylinder_extremes(solid, direction, set); break;
    default: set->points = solid->points, set->count = solid->point_count;
    }
}

/* Adds a contact, or replaces the widest of a full list if this one is closer. */
static int add_touch(yk_touch *list, int count, const yk_touch *touch)
{
    if (count < YK_MANIFOLD_MAX) {
        list[count] = *touch;
        return count + 1;
    }
    int widest = 0;
    for (int i = 1; i < count; i++)
        if (list[i].gap > list[widest].gap) widest = i;
    if (touch->gap < list[widest].gap) list[widest] = *touch;
    return count;
}

/* A flat wall through `origin` whose normal points to the free side. */
static int meet_wall(const yk_solid *solid, yk_vec3 origin, yk_vec3 inward, double margin, uint32_t wall,
                     yk_touch *list, int count)
{
    extremes set;
    find_extremes(solid, yk_v3_neg(inward), &set);
    for (int i = 0; i < set.count; i++) {
        yk_vec3 centre = yk_v3_add(solid->position, yk_m3_apply(solid->rotation, set.points[i]));
        double height = yk_v3_dot(inward, yk_v3_sub(centre, origin));
        if (height - set.rounding >= margin) continue;
        yk_touch touch = {.point_a = yk_v3_axpy(-set.rounding, inward, centre),
                          .point_b = yk_v3_axpy(-height, inward, centre),
                          .normal = yk_v3_neg(inward),
                          .gap = height - set.rounding,
                          .feature = wall * EXTREMES_MAX + (uint32_t)(i % EXTREMES_MAX)};
        count = add_touch(list, count, &touch);
    }
    return count;
}

/* The curved wall of a cylinder cavity. */
static int meet_round_wall(const yk_solid *solid, const yk_solid *cavity, double margin, yk_touch *list, int count)
{
    yk_vec3 axis = yk_m3_column(&cavity->rotation, 2);
    yk_vec3 offset = yk_v3_sub(solid->position, cavity->position);
    extremes set;
    find_extremes(solid, yk_v3_axpy(-yk_v3_dot(offset, axis), axis, offset), &set);
    for (int i = 0; i < set.count; i++) {
        yk_vec3 centre = yk_v3_add(solid->position, yk_m3_apply(solid->rotation, set.points[i]));
        yk_vec3 arm = yk_v3_sub(centre, cavity->position);
        yk_vec3 radial = yk_v3_axpy(-yk_v3_dot(arm, axis), axis, arm);
        double distance = yk_v3_norm(radial), gap = cavity->size.x - distance - set.rounding;
        if (gap >= margin || distance == 0) continue;
        yk_vec3 outward = yk_v3_scale(1 / distance, radial);
        yk_touch touch = {.point_a = yk_v3_axpy(set.rounding, outward, centre),
                          .point_b = yk_v3_axpy(cavity->size.x - distance, outward, centre),
                          .normal = outward,
                          .gap = gap,
                          .feature = (uint32_t)(i % EXTREMES_MAX)};
        count = add_touch(list, count, &touch);
    }
    return count;
}

/* Height of a point above the wall, and the wall's normal there towards the free side. */
static bool wall_below(const yk_solid *outside, uint32_t wall, yk_vec3 at, double *height, yk_vec3 *inward)
{
    yk_vec3 arm = yk_v3_sub(at, outside->position);
    if (wall == 0 && outside->kind == YK_SOLID_PLANE) {
        *inward = yk_m3_column(&outside->rotation, 2);
        *height = yk_v3_dot(*inward, arm);
        return true;
    }
    if (wall == 0) {
        if (outside->kind != YK_SOLID_CYLINDER_CAVITY || (outside->open & YK_OPEN_LEFT)) return false;
        yk_vec3 axis = yk_m3_column(&outside->rotation, 2);
        yk_vec3 radial = yk_v3_axpy(-yk_v3_dot(arm, axis), axis, arm);
        double distance = yk_v3_norm(radial);
        if (distance == 0) return false;
        *inward = yk_v3_scale(-1 / distance, radial);
        *height = outside->size.x - distance;
        return true;
    }
    uint32_t side = wall - 1, first = outside->kind == YK_SOLID_BOX_CAVITY ? 0 : 4;
    if (outside->kind == YK_SOLID_PLANE || side < first || (outside->open & (1u << side))) return false;
    double half = side < 2 ? outside->size.x : side < 4 ? outside->size.y : outside->size.z;
    yk_vec3 axis = yk_m3_column(&outside->rotation, (int)side / 2);
    *inward = side % 2 ? yk_v3_neg(axis) : axis;
    *height = half + yk_v3_dot(*inward, arm);
    return true;
}

bool yk_sphere_at_wall(const yk_solid *outside, uint32_t wall, yk_vec3 centre, double radius, double margin,
                       yk_touch *touch)
{
    double height;
    yk_vec3 inward;
    if (!wall_below(outside, wall, centre, &height, &inward) || height - radius >= margin) return false;
    *touch = (yk_touch){.point_a = yk_v3_axpy(-radius, inward, centre),
                        .point_b = yk_v3_axpy(-height, inward, centre),
                        .normal = yk_v3_neg(inward),
                        .gap = height - radius,
                        .feature = wall};
    return true;
}

static int sphere_at_walls(const yk_solid *sphere, const yk_solid *outside, double margin, yk_touch *list)
{
    int count = 0;
    for (uint32_t wall = 0; wall < YK_WALLS; wall++)
        count += yk_sphere_at_wall(outside, wall, sphere->position, sphere->size.x, margin, &list[count]);
    return count;
}

int yk_collide_outside(const yk_solid *finite, const yk_solid *cavity, double margin, yk_touch *list)
{
    if (!yk_solid_is_finite(finite->kind)) return 0;
    if (finite->kind == YK_SOLID_SPHERE) return sphere_at_walls(finite, cavity, margin, list);
    if (cavity->kind == YK_SOLID_PLANE)
        return meet_wall(finite, cavity->position, yk_m3_column(&cavity->rotation, 2), margin, 0, list, 0);
    int count = 0, first_axis = 0;
    if (cavity->kind == YK_SOLID_CYLINDER_CAVITY) {
        if (!(cavity->open & YK_OPEN_LEFT)) count = meet_round_wall(finite, cavity, margin, list, 0);
        first_axis = 2;
    }
    double half[3] = {cavity->size.x, cavity->size.y, cavity->size.z};
    for (int wall = 2 * first_axis; wall < 6; wall++) {
        if (cavity->open & (1u << wall)) continue;
        yk_vec3 axis = yk_m3_column(&cavity->rotation, wall / 2);
        yk_vec3 inward = wall % 2 ? yk_v3_neg(axis) : axis;
        yk_vec3 origin = yk_v3_axpy(-half[wall / 2], inward, cavity->position);
        count = meet_wall(finite, origin, inward, margin, (uint32_t)wall + 1, list, count);
    }
    return count;
}
