/* A sphere against every finite solid except hulls: the nearest point of the solid to the centre, in closed form. */
#include "nonsmooth/collide.h"

/* Nearest point of the surface to the centre, and the unit normal there that points away from the solid; the signed
 * distance is negative inside. All in the frame of the solid. */
typedef struct nearest {
    yk_vec3 point, normal;
    double distance;
    uint32_t feature;
} nearest;

/* From the nearest point q of a thin or outer set to p; `fallback` where they coincide. */
static nearest nearest_of_point(yk_vec3 p, yk_vec3 q, yk_vec3 fallback)
{
    yk_vec3 away = yk_v3_sub(p, q);
    double distance = yk_v3_norm(away);
    yk_vec3 normal = distance > 0 ? yk_v3_scale(1 / distance, away) : fallback;
    return (nearest){.point = q, .normal = normal, .distance = distance};
}

static double clamp(double x, double limit)
{
    return x > limit ? limit : x < -limit ? -limit : x;
}

static nearest nearest_on_box(yk_vec3 size, yk_vec3 p)
{
    yk_vec3 q = {clamp(p.x, size.x), clamp(p.y, size.y), clamp(p.z, size.z)};
    if (q.x != p.x || q.y != p.y || q.z != p.z) return nearest_of_point(p, q, yk_v3(0, 0, 1));
    double depth[3] = {size.x - fabs(p.x), size.y - fabs(p.y), size.z - fabs(p.z)};
    double at[3] = {p.x, p.y, p.z}, half[3] = {size.x, size.y, size.z}, normal[3] = {0, 0, 0};
    int axis = depth[0] <= depth[1] && depth[0] <= depth[2] ? 0 : depth[1] <= depth[2] ? 1 : 2;
    normal[axis] = at[axis] < 0 ? -1 : 1;
    at[axis] = normal[axis] * half[axis];
    return (nearest){
        .point = {at[0], at[1], at[2]}, .normal = {normal[0], normal[1], normal[2]}, .distance = -depth[axis]};
}

static nearest nearest_on_cylinder(yk_vec3 size, yk_vec3 p)
{
    double radial = sqrt(p.x * p.x + p.y * p.y);
    yk_vec3 outward = radial > 0 ? yk_v3(p.x / radial, p.y / radial, 0) : yk_v3(1, 0, 0);
    bool beside = radial > size.x, beyond = fabs(p.z) > size.z;
    if (beside || beyond) {
        yk_vec3 q = yk_v3_scale(beside ? size.x : radial, outward);
        q.z = clamp(p.z, size.z);
        return nearest_of_point(p, q, outward);
    }
    double side = size.x - radial, cap = size.z - fabs(p.z), up = p.z < 0 ? -1 : 1;
    if (side < cap)
        return (nearest){.point = {size.x * outward.x, size.x * outward.y, p.z}, .normal = outward, .distance = -side};
    return (nearest){.point = {p.x, p.y, up * size.z}, .normal = {0, 0, up}, .distance = -cap};
}

/* Weights of the corners, from the Voronoi regions of the triangle. */
static nearest nearest_on_triangle(const yk_vec3 *corner, yk_vec3 p)
{
    yk_vec3 ab = yk_v3_sub(corner[1], corner[0]), ac = yk_v3_sub(corner[2], corner[0]);
    yk_vec3 face = yk_v3_unit(yk_v3_cross(ab, ac));
    yk_vec3 ap = yk_v3_sub(p, corner[0]), bp = yk_v3_sub(p, corner[1]), cp = yk_v3_sub(p, corner[2]);
    double d1 = yk_v3_dot(ab, ap), d2 = yk_v3_dot(ac, ap), d3 = yk_v3_dot(ab, bp), d4 = yk_v3_dot(ac, bp),
           d5 = yk_v3_dot(ab, cp), d6 = yk_v3_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    double v = 0, w = 0;
    uint32_t feature = 0; /* 0 face, 1 to 3 edges, 4 to 6 corners */
    if (d1 <= 0 && d2 <= 0) {
        feature = 4;
    } else if (d3 >= 0 && d4 <= d3) {
        v = 1, feature = 5;
    } else if (d6 >= 0 && d5 <= d6) {
        w = 1, feature = 6;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        v = d1 / (d1 - d3), feature = 1;
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w = d2 / (d2 - d6), feature = 2;
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6)), v = 1 - w, feature = 3;
    } else {
        v = vb / (va + vb + vc), w = vc / (va + vb + vc);
    }
    yk_vec3 q = yk_v3_axpy(w, ac, yk_v3_axpy(v, ab, corner[0]));
    nearest n = nearest_of_point(p, q, face);
    n.feature = feature;
    return n;
}

static nearest nearest_on(const yk_solid *other, yk_vec3 p)
{
    switch (other->kind) {
    case YK_SOLID_CAPSULE: return nearest_of_point(p, yk_v3(0, 0, clamp(p.z, other->size.z)), yk_v3(1, 0, 0));
    case YK_SOLID_BOX: return nearest_on_box(other->size, p);
    case YK_SOLID_CYLINDER: return nearest_on_cylinder(other->size, p);
    case YK_SOLID_TRIANGLE: return nearest_on_triangle(other->points, p);
    default: return nearest_of_point(p, yk_v3(0, 0, 0), yk_v3(0, 0, 1));
    }
}

int yk_collide_sphere(const yk_solid *sphere, const yk_solid *other, double margin, yk_touch *list)
{
    if (other->kind == YK_SOLID_HULL) return yk_collide_convex(sphere, other, margin, list);
    yk_vec3 local = yk_m3_apply_transposed(other->rotation, yk_v3_sub(sphere->position, other->position));
    nearest n = nearest_on(other, local);
    double rounding = other->kind == YK_SOLID_SPHERE || other->kind == YK_SOLID_CAPSULE ? other->size.x : 0;
    double gap = n.distance - sphere->size.x - rounding;
    if (gap >= margin) return 0;
    yk_vec3 outward = yk_m3_apply(other->rotation, n.normal);
    yk_vec3 at = yk_v3_add(other->position, yk_m3_apply(other->rotation, n.point));
    list[0] = (yk_touch){.point_a = yk_v3_axpy(-sphere->size.x, outward, sphere->position),
                         .point_b = yk_v3_axpy(rounding, outward, at),
                         .normal = yk_v3_neg(outward),
                         .gap = gap,
                         .feature = n.feature};
    return 1;
}
