/* A box with half edges `size`, and contacts between two boxes by the separating-axis theorem. */
#include "nonsmooth/solids/solid.h"

static bool box_is_valid(const yk_solid *solid)
{
    return solid->size.x > 0 && solid->size.y > 0 && solid->size.z > 0;
}

static double box_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    yk_vec3 s = solid->size;

    /* J_xx = m/3 (b^2 + c^2) with the half edges. */
    double m = density * 8 * s.x * s.y * s.z;
    double xx = s.x * s.x, yy = s.y * s.y, zz = s.z * s.z;
    *inertia = yk_m3_scale(m / 3, yk_m3_diagonal(yy + zz, xx + zz, xx + yy));
    return m;
}

static double box_radius(const yk_solid *solid)
{
    return yk_v3_norm(solid->size);
}

static yk_vec3 box_support(const yk_solid *solid, yk_vec3 d)
{
    yk_vec3 s = solid->size;
    return yk_v3(yk_sign(d.x) * s.x, yk_sign(d.y) * s.y, yk_sign(d.z) * s.z);
}

static double box_thickness(const yk_solid *solid)
{
    yk_vec3 s = solid->size;
    return fmin(s.x, fmin(s.y, s.z));
}

/* A corner may vary along the axes to which the normal is nearly perpendicular: none gives a
 * corner, one an edge, two a face. */
static int box_face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
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

static yk_nearest box_nearest(const yk_solid *solid, yk_vec3 p)
{
    yk_vec3 s = solid->size;
    yk_vec3 q = {yk_clamp(p.x, s.x), yk_clamp(p.y, s.y), yk_clamp(p.z, s.z)};

    /* Outside: the nearest point is p clamped to the box. */
    if (q.x != p.x || q.y != p.y || q.z != p.z)
        return yk_nearest_of_point(p, q, yk_v3(0, 0, 1));

    /* Inside: through the nearest face. */
    const double depth[3] = {s.x - fabs(p.x), s.y - fabs(p.y), s.z - fabs(p.z)};
    const double half[3] = {s.x, s.y, s.z};
    int axis = 2;
    if (depth[1] <= depth[2])
        axis = 1;
    if (depth[0] <= depth[1] && depth[0] <= depth[2])
        axis = 0;

    /* Inside, the distance is negative: the depth below the face. */
    double at[3] = {p.x, p.y, p.z}, normal[3] = {0, 0, 0};
    normal[axis] = yk_sign(at[axis]);
    at[axis] = normal[axis] * half[axis];
    return (yk_nearest){
        .point = {at[0], at[1], at[2]},
        .normal = {normal[0], normal[1], normal[2]},
        .distance = -depth[axis],
    };
}

/* Corners are ordered by the bits of their number. */
static void box_extremes(const yk_solid *solid, const yk_wall *wall, yk_extremes *set)
{
    (void)wall;
    yk_vec3 s = solid->size;

    static const int side[2] = {-1, 1};
    for (int i = 0; i < 8; i++)
        set->own[i] = yk_v3(side[i & 1] * s.x, side[i >> 1 & 1] * s.y, side[i >> 2 & 1] * s.z);
    set->count = 8;
}

/* Two boxes ------------------------------------------------------------------------------------ */

/* Two boxes: the axis of least overlap among the 15 of the separating-axis theorem, then clipping
 * of the facing faces, or the nearest points of two edges. Not handled by the general code, because
 * stacks depend on it: exact normals, the same result for small gaps and small overlaps, faces
 * preferred to edges. */

/* Half the width of the box along n. */
static double reach_along(const yk_solid *box, yk_vec3 n)
{
    const double half[3] = {box->size.x, box->size.y, box->size.z};
    double reach = 0;
    for (int i = 0; i < 3; i++)
        reach += half[i] * fabs(yk_v3_dot(yk_m3_column(&box->rotation, i), n));
    return reach;
}

/* Selects the axis if the gap along it exceeds the best so far by more than `preference`. Stores
 * the normal, the gap, and the feature of the axis: 0 to 2: face of a, 3 to 5: face of b, 6 and
 * more: 6 + 3 * edge of a + edge of b. */
static void consider(const yk_solid *a, const yk_solid *b, yk_vec3 axis, int feature,
                     double preference, yk_touch *best)
{
    yk_vec3 offset = yk_v3_sub(b->position, a->position);
    yk_vec3 n = axis;

    if (yk_v3_dot(axis, offset) < 0)
        n = yk_v3_neg(axis);

    double gap = yk_v3_dot(n, offset) - reach_along(a, n) - reach_along(b, n);
    if (gap - preference > best->gap)
        *best = (yk_touch){.normal = n, .gap = gap, .feature = (uint32_t)feature};
}

static yk_touch choose_axis(const yk_solid *a, const yk_solid *b)
{
    /* Another kind of axis must be better by more than rounding errors, because otherwise a flat
     * contact would change its face at random. */
    double thin_a = fmin(a->size.x, a->size.y);
    double thin_b = fmin(a->size.z, fmin(b->size.x, fmin(b->size.y, b->size.z)));
    double slack = 1e-6 * fmin(thin_a, thin_b);

    /* Faces of a, faces of b, pairs of edges. */
    yk_touch best = {.gap = -INFINITY};
    for (int i = 0; i < 3; i++)
        consider(a, b, yk_m3_column(&a->rotation, i), i, 0, &best);
    for (int i = 0; i < 3; i++)
        consider(a, b, yk_m3_column(&b->rotation, i), 3 + i, slack, &best);

    /* An edge must be better by a larger amount than a face: flat contacts support stacks. */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            yk_vec3 axis =
                yk_v3_cross(yk_m3_column(&a->rotation, i), yk_m3_column(&b->rotation, j));
            double length = yk_v3_norm(axis);

            if (length < 1e-3)
                continue; /* parallel edges: the faces cover this direction */
            consider(a, b, yk_v3_scale(1 / length, axis), 6 + 3 * i + j, 10 * slack, &best);
        }
    }

    return best;
}

/* The face of the box whose outward normal is nearest to n, as a polygon; returns its number. */
static uint32_t face_polygon(const yk_solid *box, yk_vec3 n, yk_vec3 polygon[4])
{
    yk_vec3 d = yk_m3_apply_transposed(box->rotation, n);
    const double along[3] = {d.x, d.y, d.z};
    const double half[3] = {box->size.x, box->size.y, box->size.z};
    int axis = 2;

    /* The axis that n is nearest to. */
    if (fabs(d.y) >= fabs(d.z))
        axis = 1;
    if (fabs(d.x) >= fabs(d.y) && fabs(d.x) >= fabs(d.z))
        axis = 0;

    /* Its four corners in order around it. */
    static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    int u = (axis + 1) % 3, w = (axis + 2) % 3;
    for (int k = 0; k < 4; k++) {
        double corner[3];
        corner[axis] = along[axis] < 0 ? -half[axis] : half[axis];
        corner[u] = around[k][0] * half[u];
        corner[w] = around[k][1] * half[w];
        yk_vec3 local = {corner[0], corner[1], corner[2]};
        polygon[k] = yk_v3_add(box->position, yk_m3_apply(box->rotation, local));
    }

    return (uint32_t)(2 * axis + (along[axis] < 0));
}

static int meet_faces(const yk_solid *reference, const yk_solid *incident, yk_vec3 outward,
                      double margin, yk_touch *list)
{
    yk_vec3 on_reference[4], on_incident[4];
    uint32_t face_r = face_polygon(reference, outward, on_reference);
    uint32_t face_i = face_polygon(incident, yk_v3_neg(outward), on_incident);

    /* The two faces are part of the identity of a contact, by which it is found again in the next
     * step. */
    int count = yk_clip_polygons(on_reference, 4, outward, on_incident, 4, margin, list);
    for (int i = 0; i < count; i++)
        list[i].feature |= (face_r * 8 + face_i) << 20;
    return count;
}

/* The middle of the edge of the box that is farthest along n and runs along its axis i. */
static yk_vec3 edge_middle(const yk_solid *box, yk_vec3 n, int i)
{
    yk_vec3 corner = box->size;
    yk_vec3 d = yk_m3_apply_transposed(box->rotation, n);

    /* The corner that is farthest along n. */
    if (d.x < 0)
        corner.x = -corner.x;
    if (d.y < 0)
        corner.y = -corner.y;
    if (d.z < 0)
        corner.z = -corner.z;

    /* From the corner to the middle of the edge. */
    if (i == 0)
        corner.x = 0;
    if (i == 1)
        corner.y = 0;
    if (i == 2)
        corner.z = 0;
    return yk_v3_add(box->position, yk_m3_apply(box->rotation, corner));
}

static int meet_edges(const yk_solid *a, const yk_solid *b, const yk_touch *choice, yk_touch *list)
{
    int i = ((int)choice->feature - 6) / 3, j = ((int)choice->feature - 6) % 3;
    yk_vec3 edge_a = yk_m3_column(&a->rotation, i);
    yk_vec3 edge_b = yk_m3_column(&b->rotation, j);
    yk_vec3 middle_a = edge_middle(a, choice->normal, i);
    yk_vec3 middle_b = edge_middle(b, yk_v3_neg(choice->normal), j);

    /* Nearest points of the two lines: s and t along them, from the middles of the edges. */
    yk_vec3 offset = yk_v3_sub(middle_b, middle_a);
    double mixed = yk_v3_dot(edge_a, edge_b);
    double along_a = yk_v3_dot(edge_a, offset), along_b = yk_v3_dot(edge_b, offset);
    double det = 1 - mixed * mixed;
    double s = (along_a - mixed * along_b) / det;
    double t = (mixed * along_a - along_b) / det;

    /* Separated boxes: the nearest points of the lines may be beyond the ends of the edges. */
    const double half_a[3] = {a->size.x, a->size.y, a->size.z};
    const double half_b[3] = {b->size.x, b->size.y, b->size.z};
    if (choice->gap > 0 && (fabs(s) > half_a[i] || fabs(t) > half_b[j]))
        return 0;

    list[0] = (yk_touch){
        .point_a = yk_v3_axpy(s, edge_a, middle_a),
        .point_b = yk_v3_axpy(t, edge_b, middle_b),
        .normal = choice->normal,
        .gap = choice->gap,
        .feature = 512u + choice->feature,
    };
    return 1;
}

static int collide_boxes(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    yk_touch choice = choose_axis(a, b);
    if (choice.gap >= margin)
        return 0;
    if (choice.feature >= 6)
        return meet_edges(a, b, &choice, list);
    if (choice.feature < 3)
        return meet_faces(a, b, choice.normal, margin, list);

    /* A face of b: computed from its side, then reversed. */
    int count = meet_faces(b, a, yk_v3_neg(choice.normal), margin, list);
    yk_swap_sides(list, count);
    for (int i = 0; i < count; i++)
        list[i].feature |= 1u << 19;
    return count;
}

static bool box_contains(const yk_solid *solid, yk_vec3 p)
{
    yk_vec3 s = solid->size;
    return fabs(p.x) <= s.x && fabs(p.y) <= s.y && fabs(p.z) <= s.z;
}

static const yk_option box_keys[] = {
    YK_SOLID_SIZE("its edges"),
    {0},
};

const yk_solid_ops yk_box_ops = {
    .section = {"box", "", box_keys},
    .valid = box_is_valid,
    .mass = box_mass,
    .contains = box_contains,
    .shape = YK_SHAPE_BOX,
    .radius = box_radius,
    .support = box_support,
    .thickness = box_thickness,
    .face = box_face,
    .nearest = box_nearest,
    .extremes = box_extremes,
    .collide_own_kind = collide_boxes,
};
