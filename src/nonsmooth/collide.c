/* Dispatch of the narrow phase, and what is common to its parts: support points and bounds of solids. */
#include "nonsmooth/collide.h"

static double sign_of(double x)
{
    return x < 0 ? -1 : 1;
}

static yk_vec3 farthest_point(const yk_vec3 *points, int count, yk_vec3 direction)
{
    int best = 0;
    double reach = yk_v3_dot(points[0], direction);
    for (int i = 1; i < count; i++) {
        double value = yk_v3_dot(points[i], direction);
        if (value > reach) {
            reach = value;
            best = i;
        }
    }
    return points[best];
}

/* In the frame of the solid; `d` need not be a unit vector. */
static yk_vec3 local_support(const yk_solid *solid, yk_vec3 d)
{
    yk_vec3 size = solid->size;
    switch (solid->kind) {
    case YK_SOLID_SPHERE: return yk_v3_scale(size.x, yk_v3_unit(d));
    case YK_SOLID_CAPSULE: {
        yk_vec3 end = yk_v3_scale(size.x, yk_v3_unit(d));
        end.z += sign_of(d.z) * size.z;
        return end;
    }
    case YK_SOLID_BOX: return yk_v3(sign_of(d.x) * size.x, sign_of(d.y) * size.y, sign_of(d.z) * size.z);
    case YK_SOLID_CYLINDER: {
        double radial = sqrt(d.x * d.x + d.y * d.y);
        double scale = radial > 0 ? size.x / radial : 0;
        return yk_v3(scale * d.x, scale * d.y, sign_of(d.z) * size.z);
    }
    default: return farthest_point(solid->points, solid->point_count, d);
    }
}

yk_vec3 yk_solid_support(const yk_solid *solid, yk_vec3 direction)
{
    yk_vec3 local = local_support(solid, yk_m3_apply_transposed(solid->rotation, direction));
    return yk_v3_add(solid->position, yk_m3_apply(solid->rotation, local));
}

double yk_solid_radius(const yk_solid *solid)
{
    yk_vec3 size = solid->size;
    double radius = 0;
    switch (solid->kind) {
    case YK_SOLID_SPHERE: return size.x;
    case YK_SOLID_CAPSULE: return size.x + size.z;
    case YK_SOLID_BOX: return yk_v3_norm(size);
    case YK_SOLID_CYLINDER: return sqrt(size.x * size.x + size.z * size.z);
    default:
        for (int i = 0; i < solid->point_count; i++) radius = fmax(radius, yk_v3_norm(solid->points[i]));
        return radius;
    }
}

yk_vec3 yk_solid_half_extent(const yk_solid *solid)
{
    yk_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double half[3];
    for (int i = 0; i < 3; i++) {
        double high = yk_v3_dot(axes[i], yk_v3_sub(yk_solid_support(solid, axes[i]), solid->position));
        yk_vec3 back = yk_v3_neg(axes[i]);
        double low = yk_v3_dot(back, yk_v3_sub(yk_solid_support(solid, back), solid->position));
        half[i] = fmax(high, low);
    }
    return yk_v3(half[0], half[1], half[2]);
}

double yk_solid_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    double r = solid->size.x, half = solid->size.z, rr = r * r, mass = 0;
    yk_vec3 s = solid->size;
    double across = 0, along = 0;
    switch (solid->kind) {
    case YK_SOLID_SPHERE:
        mass = density * 4.0 / 3.0 * YK_PI * r * rr;
        across = along = 0.4 * mass * rr;
        break;
    case YK_SOLID_BOX:
        mass = density * 8 * s.x * s.y * s.z;
        *inertia =
            yk_m3_scale(mass / 3, yk_m3_diagonal(s.y * s.y + s.z * s.z, s.x * s.x + s.z * s.z, s.x * s.x + s.y * s.y));
        return mass;
    case YK_SOLID_CYLINDER:
        mass = density * 2 * YK_PI * rr * half;
        across = mass * (rr / 4 + half * half / 3), along = mass * rr / 2;
        break;
    case YK_SOLID_CAPSULE: {
        double rod = density * 2 * YK_PI * rr * half, ends = density * 4.0 / 3.0 * YK_PI * r * rr;
        mass = rod + ends;
        across = rod * (rr / 4 + half * half / 3) + ends * (0.4 * rr + half * half + 0.75 * half * r);
        along = rod * rr / 2 + 0.4 * ends * rr;
        break;
    }
    default: break;
    }
    *inertia = yk_m3_diagonal(across, across, along);
    return mass;
}

static int collide_ordered(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    if (!yk_solid_is_finite(b->kind)) return yk_collide_outside(a, b, margin, list);
    if (a->kind == YK_SOLID_SPHERE) return yk_collide_sphere(a, b, margin, list);
    if (a->kind == YK_SOLID_BOX && b->kind == YK_SOLID_BOX) return yk_collide_boxes(a, b, margin, list);
    return yk_collide_convex(a, b, margin, list);
}

int yk_collide(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    if (a->kind <= b->kind) return collide_ordered(a, b, margin, list);
    int count = collide_ordered(b, a, margin, list);
    for (int i = 0; i < count; i++) {
        yk_touch t = list[i];
        list[i].point_a = t.point_b;
        list[i].point_b = t.point_a;
        list[i].normal = yk_v3_neg(t.normal);
    }
    return count;
}
