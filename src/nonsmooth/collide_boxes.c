/* Two boxes: the axis of least overlap among the 15 of the separating-axis theorem, then clipping of the faces that
 * look at each other, or the nearest points of two edges. Own code and not EPA, because stacks live on it: exact
 * normals, the same answer for small gaps and small overlaps, faces preferred to edges. */
#include "nonsmooth/collide.h"

typedef struct axis_choice {
    yk_vec3 normal; /* from a to b */
    double gap;
    int kind; /* 0 to 2: face of a, 3 to 5: face of b, 6 and more: 6 + 3 * edge of a + edge of b */
} axis_choice;

static double reach_along(const yk_solid *box, yk_vec3 n)
{
    double half[3] = {box->size.x, box->size.y, box->size.z}, reach = 0;
    for (int i = 0; i < 3; i++) reach += half[i] * fabs(yk_v3_dot(yk_m3_column(&box->rotation, i), n));
    return reach;
}

static double gap_along(const yk_solid *a, const yk_solid *b, yk_vec3 n)
{
    return yk_v3_dot(n, yk_v3_sub(b->position, a->position)) - reach_along(a, n) - reach_along(b, n);
}

static void consider(const yk_solid *a, const yk_solid *b, yk_vec3 axis, int kind, double preference, axis_choice *best)
{
    yk_vec3 n = yk_v3_dot(axis, yk_v3_sub(b->position, a->position)) < 0 ? yk_v3_neg(axis) : axis;
    double gap = gap_along(a, b, n);
    if (gap - preference > best->gap) *best = (axis_choice){n, gap, kind};
}

static axis_choice choose_axis(const yk_solid *a, const yk_solid *b)
{
    /* Another kind of axis must be better by more than rounding, or a flat contact would change its face at random. */
    double slack =
        1e-6 * fmin(fmin(a->size.x, a->size.y), fmin(a->size.z, fmin(b->size.x, fmin(b->size.y, b->size.z))));
    axis_choice best = {.gap = -INFINITY};
    for (int i = 0; i < 3; i++) consider(a, b, yk_m3_column(&a->rotation, i), i, 0, &best);
    for (int i = 0; i < 3; i++) consider(a, b, yk_m3_column(&b->rotation, i), 3 + i, slack, &best);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            yk_vec3 axis = yk_v3_cross(yk_m3_column(&a->rotation, i), yk_m3_column(&b->rotation, j));
            double length = yk_v3_norm(axis);
            if (length < 1e-3) continue;
            consider(a, b, yk_v3_scale(1 / length, axis), 6 + 3 * i + j, 10 * slack, &best);
        }
    }
    return best;
}

/* The face of the box whose outward normal is nearest to n, as a polygon; returns its number. */
static uint32_t face_polygon(const yk_solid *box, yk_vec3 n, yk_vec3 polygon[4])
{
    yk_vec3 d = yk_m3_apply_transposed(box->rotation, n);
    double along[3] = {d.x, d.y, d.z}, half[3] = {box->size.x, box->size.y, box->size.z};
    int axis = fabs(d.x) >= fabs(d.y) && fabs(d.x) >= fabs(d.z) ? 0 : fabs(d.y) >= fabs(d.z) ? 1 : 2;
    int u = (axis + 1) % 3, w = (axis + 2) % 3;
    static const int turn[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int k = 0; k < 4; k++) {
        double corner[3];
        corner[axis] = along[axis] < 0 ? -half[axis] : half[axis];
        corner[u] = turn[k][0] * half[u];
        corner[w] = turn[k][1] * half[w];
        polygon[k] = yk_v3_add(box->position, yk_m3_apply(box->rotation, yk_v3(corner[0], corner[1], corner[2])));
    }
    return (uint32_t)(2 * axis + (along[axis] < 0));
}

static int meet_faces(const yk_solid *reference, const yk_solid *incident, yk_vec3 outward, double margin,
                      yk_touch *list)
{
    yk_vec3 pr[4], pi[4];
    uint32_t face_r = face_polygon(reference, outward, pr), face_i = face_polygon(incident, yk_v3_neg(outward), pi);
    int count = yk_clip_polygons(pr, 4, outward, pi, 4, margin, list);
    for (int i = 0; i < count; i++) list[i].feature |= (face_r * 8 + face_i) << 20;
    return count;
}

/* The middle of the edge of the box that is farthest along n and runs along its axis i. */
static yk_vec3 edge_middle(const yk_solid *box, yk_vec3 n, int i)
{
    yk_vec3 d = yk_m3_apply_transposed(box->rotation, n);
    yk_vec3 corner = {d.x < 0 ? -box->size.x : box->size.x, d.y < 0 ? -box->size.y : box->size.y,
                      d.z < 0 ? -box->size.z : box->size.z};
    if (i == 0) corner.x = 0;
    if (i == 1) corner.y = 0;
    if (i == 2) corner.z = 0;
    return yk_v3_add(box->position, yk_m3_apply(box->rotation, corner));
}

static int meet_edges(const yk_solid *a, const yk_solid *b, const axis_choice *choice, yk_touch *list)
{
    int i = (choice->kind - 6) / 3, j = (choice->kind - 6) % 3;
    yk_vec3 ea = yk_m3_column(&a->rotation, i), eb = yk_m3_column(&b->rotation, j);
    yk_vec3 pa = edge_middle(a, choice->normal, i), pb = edge_middle(b, yk_v3_neg(choice->normal), j);
    yk_vec3 offset = yk_v3_sub(pb, pa);
    double mixed = yk_v3_dot(ea, eb), along_a = yk_v3_dot(ea, offset), along_b = yk_v3_dot(eb, offset);
    double det = 1 - mixed * mixed;
    double s = (along_a - mixed * along_b) / det, t = (mixed * along_a - along_b) / det;
    double half_a[3] = {a->size.x, a->size.y, a->size.z}, half_b[3] = {b->size.x, b->size.y, b->size.z};
    /* Separated boxes: the edges' lines may pass each other beyond the ends of the edges. */
    if (choice->gap > 0 && (fabs(s) > half_a[i] || fabs(t) > half_b[j])) return 0;
    list[0] = (yk_touch){.point_a = yk_v3_axpy(s, ea, pa),
                         .point_b = yk_v3_axpy(t, eb, pb),
                         .normal = choice->normal,
                         .gap = choice->gap,
                         .feature = 512u + (uint32_t)choice->kind};
    return 1;
}

int yk_collide_boxes(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    axis_choice choice = choose_axis(a, b);
    if (choice.gap >= margin) return 0;
    if (choice.kind >= 6) return meet_edges(a, b, &choice, list);
    if (choice.kind < 3) return meet_faces(a, b, choice.normal, margin, list);
    int count = meet_faces(b, a, yk_v3_neg(choice.normal), margin, list);
    for (int i = 0; i < count; i++) {
        yk_vec3 p = list[i].point_a;
        list[i].point_a = list[i].point_b;
        list[i].point_b = p;
        list[i].normal = choice.normal;
        list[i].feature |= 1u << 19;
    }
    return count;
}
