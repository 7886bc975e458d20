/* A box with half edges `size`. */
#include "nonsmooth/solids/solid.h"

static bool valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.y > 0 && solid->size.z > 0;
}

static double mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    yk_vec3 s = solid->size;

    /* J_xx = m/3 (b^2 + c^2) with the half edges. */
    double m = density * 8 * s.x * s.y * s.z;
    double xx = s.x * s.x, yy = s.y * s.y, zz = s.z * s.z;
    *inertia = yk_m3_scale(m / 3, yk_m3_diagonal(yy + zz, xx + zz, xx + yy));
    return m;
}

static double radius(const yk_solid *solid)
{
    return yk_v3_norm(solid->size);
}

static yk_vec3 support(const yk_solid *solid, yk_vec3 d)
{
    yk_vec3 s = solid->size;
    return yk_v3(yk_sign(d.x) * s.x, yk_sign(d.y) * s.y, yk_sign(d.z) * s.z);
}

static double thickness(const yk_solid *solid)
{
    yk_vec3 s = solid->size;
    return fmin(s.x, fmin(s.y, s.z));
}

/* A corner is varied along the axes to which the normal is nearly perpendicular: none gives a
 * corner, one an edge, two a face. */
static int face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    const double d[3] = {n.x, n.y, n.z};
    const double half[3] = {solid->size.x, solid->size.y, solid->size.z};

    double corner[3];
    int level[2], levels = 0;
    for (int i = 0; i < 3; i++) {
        corner[i] = yk_sign(d[i]) * half[i];
        if (fabs(d[i]) < YK_FACE_SLOPE && levels < 2)
            level[levels++] = i;
    }

    /* All corners of the feature, a face in order around it. */
    static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    int count = 1 << levels;
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < levels; i++) {
            int side = levels == 2 ? around[k][i] : 2 * k - 1;
            corner[level[i]] = side * half[level[i]];
        }

        polygon[k] = yk_v3(corner[0], corner[1], corner[2]);
    }

    return count;
}

static yk_nearest nearest(const yk_solid *solid, yk_vec3 p)
{
    yk_vec3 s = solid->size;
    yk_vec3 q = {yk_clamp(p.x, s.x), yk_clamp(p.y, s.y), yk_clamp(p.z, s.z)};

    /* Outside: the nearest point is p cut to the box. */
    if (q.x != p.x || q.y != p.y || q.z != p.z)
        return yk_nearest_of_point(p, q, yk_v3(0, 0, 1));

    /* Inside: out through the nearest face. */
    const double depth[3] = {s.x - fabs(p.x), s.y - fabs(p.y), s.z - fabs(p.z)};
    const double half[3] = {s.x, s.y, s.z};
    int axis = 2;
    if (depth[1] <= depth[2])
        axis = 1;
    if (depth[0] <= depth[1] && depth[0] <= depth[2])
        axis = 0;

    double at[3] = {p.x, p.y, p.z}, normal[3] = {0, 0, 0};
    normal[axis] = yk_sign(at[axis]);
    at[axis] = normal[axis] * half[axis];
    return (yk_nearest){
        .point = {at[0], at[1], at[2]},
        .normal = {normal[0], normal[1], normal[2]},
        .distance = -depth[axis],
    };
}

/* Corners in the order of the bits of their number. */
static void extremes(const yk_solid *solid, yk_vec3 direction, yk_extremes *set)
{
    (void)direction;
    yk_vec3 s = solid->size;

    static const int side[2] = {-1, 1};
    for (int i = 0; i < 8; i++)
        set->own[i] = yk_v3(side[i & 1] * s.x, side[i >> 1 & 1] * s.y, side[i >> 2 & 1] * s.z);
    set->count = 8;
}

const yk_solid_ops yk_box_ops = {
    .name = "box",
    .valid = valid,
    .mass = mass,
    .shape = YK_SHAPE_BOX,
    .radius = radius,
    .support = support,
    .thickness = thickness,
    .face = face,
    .nearest = nearest,
    .extremes = extremes,
    .collide_own_kind = yk_collide_boxes,
};
