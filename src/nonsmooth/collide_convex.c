/* Pairs of convex solids in general: the direction from gjk.c, the contact points from the features that look at each
 * other.
 *
 * One point does not carry a resting body. Therefore the faces, edges or corners that look along the direction are
 * taken from the solids: a face lends its exact normal, and what looks at it is clipped at its sides; edges and
 * corners, also under the skin of a capsule or of a cylinder's side, give their nearest points. */
#include "nonsmooth/collide.h"

/* A face is taken as such up to this angle (sine) from the direction of contact. */
static const double FACE_SLOPE = 0.05;

/* Faces ------------------------------------------------------------------------------------------------------------ */

static int box_face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    double d[3] = {n.x, n.y, n.z}, half[3] = {solid->size.x, solid->size.y, solid->size.z}, corner[3];
    int level[2], levels = 0;
    for (int i = 0; i < 3; i++) {
        corner[i] = d[i] < 0 ? -half[i] : half[i];
        if (fabs(d[i]) < FACE_SLOPE && levels < 2) level[levels++] = i;
    }
    static const int turn[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    int count = 1 << levels;
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < levels; i++) corner[level[i]] = (levels == 2 ? turn[k][i] : 2 * k - 1) * half[level[i]];
        polygon[k] = yk_v3(corner[0], corner[1], corner[2]);
    }
    return count;
}

static int cylinder_face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    double radial = sqrt(n.x * n.x + n.y * n.y), radius = solid->size.x, up = n.z < 0 ? -solid->size.z : solid->size.z;
    if (radial < FACE_SLOPE) {
        for (int i = 0; i < 8; i++) polygon[i] = yk_v3(radius * cos(i * YK_PI / 4), radius * sin(i * YK_PI / 4), up);
        return 8;
    }
    yk_vec3 rim = {radius * n.x / radial, radius * n.y / radial, up};
    polygon[0] = rim;
    if (fabs(n.z) >= FACE_SLOPE) return 1;
    polygon[1] = yk_v3(rim.x, rim.y, -up);
    return 2;
}

static int capsule_face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    yk_vec3 skin = yk_v3_scale(solid->size.x, n);
    double up = n.z < 0 ? -solid->size.z : solid->size.z;
    polygon[0] = yk_v3(skin.x, skin.y, skin.z + up);
    if (fabs(n.z) >= FACE_SLOPE) return 1;
    polygon[1] = yk_v3(skin.x, skin.y, skin.z - up);
    return 2;
}

static void sort_around(yk_vec3 *polygon, int count, yk_vec3 n)
{
    yk_vec3 u, w, middle = {0, 0, 0};
    yk_v3_tangents(n, &u, &w);
    for (int i = 0; i < count; i++) middle = yk_v3_axpy(1.0 / count, polygon[i], middle);
    double angle[YK_POLYGON_MAX];
    for (int i = 0; i < count; i++) {
        yk_vec3 arm = yk_v3_sub(polygon[i], middle), point = polygon[i];
        double value = atan2(yk_v3_dot(arm, w), yk_v3_dot(arm, u));
        int at = i;
        for (; at > 0 && angle[at - 1] > value; at--) angle[at] = angle[at - 1], polygon[at] = polygon[at - 1];
        angle[at] = value;
        polygon[at] = point;
    }
}

static int points_face(const yk_solid *solid, yk_vec3 n, yk_vec3 *polygon)
{
    double top = -INFINITY, spread = 0;
    for (int i = 0; i < solid->point_count; i++) {
        top = fmax(top, yk_v3_dot(solid->points[i], n));
        spread = fmax(spread, yk_v3_norm(yk_v3_sub(solid->points[i], solid->points[0])));
    }
    int count = 0;
    for (int i = 0; i < solid->point_count && count < YK_POLYGON_MAX; i++)
        if (yk_v3_dot(solid->points[i], n) >= top - FACE_SLOPE * spread) polygon[count++] = solid->points[i];
    if (count > 2) sort_around(polygon, count, n);
    return count;
}

int yk_solid_face(const yk_solid *solid, yk_vec3 normal, yk_vec3 polygon[YK_POLYGON_MAX])
{
    yk_vec3 n = yk_m3_apply_transposed(solid->rotation, normal);
    int count = 1;
    switch (solid->kind) {
    case YK_SOLID_BOX: count = box_face(solid, n, polygon); break;
    case YK_SOLID_CYLINDER: count = cylinder_face(solid, n, polygon); break;
    case YK_SOLID_CAPSULE: count = capsule_face(solid, n, polygon); break;
    case YK_SOLID_SPHERE: polygon[0] = yk_v3_scale(solid->size.x, n); break;
    default: count = points_face(solid, n, polygon);
    }
    for (int i = 0; i < count; i++) polygon[i] = yk_v3_add(solid->position, yk_m3_apply(solid->rotation, polygon[i]));
    return count;
}

/* Clipping --------------------------------------------------------------------------------------------------------- */

typedef struct clip_point {
    yk_vec3 at;
    uint32_t name; /* of the corner of the incident polygon, or of the cut that made it */
} clip_point;

/* Keeps what is on the inner side of the plane; a polygon of two points is an open line. */
static int clip_at(const clip_point *in, int count, yk_vec3 origin, yk_vec3 outward, uint32_t side, clip_point *out)
{
    int kept = 0;
    int edges = count == 2 ? 1 : count;
    if (count == 1) {
        if (yk_v3_dot(outward, yk_v3_sub(in[0].at, origin)) <= 0) out[kept++] = in[0];
        return kept;
    }
    for (int i = 0; i < edges && kept + 2 < 2 * YK_POLYGON_MAX; i++) {
        const clip_point *p = &in[i], *q = &in[(i + 1) % count];
        double dp = yk_v3_dot(outward, yk_v3_sub(p->at, origin)), dq = yk_v3_dot(outward, yk_v3_sub(q->at, origin));
        if (dp <= 0) out[kept++] = *p;
        if ((dp < 0 && dq > 0) || (dp > 0 && dq < 0))
            out[kept++] = (clip_point){yk_v3_axpy(dp / (dp - dq), yk_v3_sub(q->at, p->at), p->at),
                                       (p->name & 31) * 32 + side + 1024};
        if (count == 2 && dq <= 0) out[kept++] = *q;
    }
    return kept;
}

/* Keeps the widest-spread of too many points: every second, as often as needed; the order around is kept. */
static int thin_out(clip_point *points, int count, int limit)
{
    while (count > limit) {
        int kept = 0;
        for (int i = 0; i < count; i += 2) points[kept++] = points[i];
        count = kept;
    }
    return count;
}

int yk_clip_polygons(const yk_vec3 *reference, int reference_count, yk_vec3 normal, const yk_vec3 *incident,
                     int incident_count, double margin, yk_touch *list)
{
    clip_point buffer[2][2 * YK_POLYGON_MAX];
    int count = incident_count, now = 0;
    for (int i = 0; i < count; i++) buffer[0][i] = (clip_point){incident[i], (uint32_t)i};
    yk_vec3 middle = {0, 0, 0};
    for (int i = 0; i < reference_count; i++) middle = yk_v3_axpy(1.0 / reference_count, reference[i], middle);
    for (int i = 0; i < reference_count && count > 0; i++) {
        yk_vec3 edge = yk_v3_sub(reference[(i + 1) % reference_count], reference[i]);
        yk_vec3 outward = yk_v3_cross(edge, normal);
        if (yk_v3_dot(outward, yk_v3_sub(reference[i], middle)) < 0) outward = yk_v3_neg(outward);
        count = clip_at(buffer[now], count, reference[i], outward, (uint32_t)i, buffer[1 - now]);
        now = 1 - now;
    }
    count = thin_out(buffer[now], count, YK_MANIFOLD_MAX);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        yk_vec3 p = buffer[now][i].at;
        double gap = yk_v3_dot(normal, yk_v3_sub(p, reference[0]));
        if (gap >= margin) continue;
        list[kept++] = (yk_touch){.point_a = yk_v3_axpy(-gap, normal, p),
                                  .point_b = p,
                                  .normal = normal,
                                  .gap = gap,
                                  .feature = buffer[now][i].name};
    }
    return kept;
}

static void swap_sides(yk_touch *list, int count)
{
    for (int i = 0; i < count; i++) {
        yk_vec3 p = list[i].point_a;
        list[i].point_a = list[i].point_b;
        list[i].point_b = p;
        list[i].normal = yk_v3_neg(list[i].normal);
        list[i].feature |= 1u << 16;
    }
}

/* Normal of a flat polygon on the side of `near`; `near` itself where the polygon is not close to perpendicular. */
static yk_vec3 flat_normal(const yk_vec3 *polygon, int count, yk_vec3 near)
{
    yk_vec3 sum = {0, 0, 0};
    for (int i = 2; i < count; i++)
        sum = yk_v3_add(sum, yk_v3_cross(yk_v3_sub(polygon[i - 1], polygon[0]), yk_v3_sub(polygon[i], polygon[0])));
    yk_vec3 n = yk_v3_unit(sum);
    if (yk_v3_dot(n, near) < 0) n = yk_v3_neg(n);
    return yk_v3_norm(yk_v3_sub(n, near)) < 2 * FACE_SLOPE ? n : near;
}

/* Edges and corners ------------------------------------------------------------------------------------------------ */

/* The side of a cylinder is, like a capsule, a line with a skin; of its rims only the point that looks along the
 * direction is known, which says nothing about the direction itself: negative. */
static double skin_of(const yk_solid *solid, int count)
{
    if (solid->kind == YK_SOLID_CYLINDER) return count == 2 ? solid->size.x : -1;
    return yk_solid_skin(solid);
}

static void peel(yk_vec3 *polygon, int count, double skin, yk_vec3 outward)
{
    for (int i = 0; i < count; i++) polygon[i] = yk_v3_axpy(-skin, outward, polygon[i]);
}

/* Two edges that are nearly parallel touch along a line: its two ends. Edges with a skin know the direction better than
 * EPA does. */
static int meet_parallel_edges(const yk_vec3 *pa, const yk_vec3 *pb, double skin_a, double skin_b, yk_vec3 n,
                               double margin, yk_touch *list)
{
    yk_vec3 ea = yk_v3_sub(pa[1], pa[0]), eb = yk_v3_sub(pb[1], pb[0]);
    double length = yk_v3_norm(ea);
    if (yk_v3_norm(yk_v3_cross(ea, eb)) > 2 * FACE_SLOPE * length * yk_v3_norm(eb)) return 0;
    yk_vec3 along = yk_v3_scale(1 / length, ea);
    double from = yk_v3_dot(along, yk_v3_sub(pb[0], pa[0])), to = yk_v3_dot(along, yk_v3_sub(pb[1], pa[0]));
    double end[2] = {fmax(0, fmin(from, to)), fmin(length, fmax(from, to))};
    if (end[1] <= end[0]) return 0;
    int count = 0;
    for (int i = 0; i < 2; i++) {
        yk_vec3 p = yk_v3_axpy(end[i], along, pa[0]), q = yk_v3_axpy((end[i] - from) / (to - from), eb, pb[0]);
        yk_vec3 apart = yk_v3_sub(q, p), normal = skin_a + skin_b > 0 ? yk_v3_unit(apart) : n;
        double gap = yk_v3_dot(normal, apart) - skin_a - skin_b;
        if (gap >= margin || yk_v3_dot(normal, n) < 0.9) continue;
        list[count++] = (yk_touch){.point_a = yk_v3_axpy(skin_a, normal, p),
                                   .point_b = yk_v3_axpy(-skin_b, normal, q),
                                   .normal = normal,
                                   .gap = gap,
                                   .feature = 2048u + (uint32_t)i};
    }
    return count;
}

static double clamp_unit(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Nearest points of two edges that are not parallel, or of an edge or corner and a corner (an edge of no length). */
static void nearest_points(const yk_vec3 *pa, int na, const yk_vec3 *pb, int nb, yk_vec3 *p, yk_vec3 *q)
{
    yk_vec3 ea = yk_v3_sub(pa[na - 1], pa[0]), eb = yk_v3_sub(pb[nb - 1], pb[0]), d = yk_v3_sub(pb[0], pa[0]);
    double aa = yk_v3_norm2(ea), bb = yk_v3_norm2(eb), ab = yk_v3_dot(ea, eb);
    double da = yk_v3_dot(d, ea), db = yk_v3_dot(d, eb), det = aa * bb - ab * ab;
    double s = aa > 0 ? clamp_unit(det > 0 ? (da * bb - db * ab) / det : da / aa) : 0;
    double t = bb > 0 ? clamp_unit((s * ab - db) / bb) : 0;
    if (aa > 0) s = clamp_unit((t * ab + da) / aa);
    *p = yk_v3_axpy(s, ea, pa[0]);
    *q = yk_v3_axpy(t, eb, pb[0]);
}

/* One contact between edges or corners: direction and gap from the nearest points under the skins. -1: that says
 * nothing, because the points nearly coincide or another feature was meant. */
static int meet_sharp(const yk_vec3 *pa, int na, double skin_a, const yk_vec3 *pb, int nb, double skin_b, yk_vec3 n,
                      double margin, yk_touch *touch)
{
    yk_vec3 p, q;
    nearest_points(pa, na, pb, nb, &p, &q);
    yk_vec3 apart = yk_v3_sub(q, p);
    double distance = yk_v3_norm(apart), side = yk_v3_dot(apart, n) < 0 ? -1 : 1;
    yk_vec3 normal = yk_v3_scale(side / distance, apart);
    if (!(distance > 1e-9 * margin) || yk_v3_dot(normal, n) < 0.99) return -1;
    double gap = side * distance - skin_a - skin_b;
    if (gap >= margin) return 0;
    *touch = (yk_touch){.point_a = yk_v3_axpy(skin_a, normal, p),
                        .point_b = yk_v3_axpy(-skin_b, normal, q),
                        .normal = normal,
                        .gap = gap,
                        .feature = 4096};
    return 1;
}

static int meet_edges(const yk_solid *a, const yk_solid *b, yk_vec3 *pa, int na, yk_vec3 *pb, int nb, yk_vec3 n,
                      double margin, yk_touch *list)
{
    double skin_a = skin_of(a, na), skin_b = skin_of(b, nb);
    if (skin_a < 0 || skin_b < 0) return -1;
    peel(pa, na, skin_a, n);
    peel(pb, nb, skin_b, yk_v3_neg(n));
    if (na == 2 && nb == 2) {
        int count = meet_parallel_edges(pa, pb, skin_a, skin_b, n, margin, list);
        if (count > 0) return count;
    }
    return meet_sharp(pa, na, skin_a, pb, nb, skin_b, n, margin, list);
}

/* A face of `reference` looks at `incident`: exact normal, and the incident feature as it looks along that. */
static int meet_face(const yk_vec3 *face, int face_count, const yk_solid *incident, yk_vec3 outward, double margin,
                     yk_touch *list)
{
    yk_vec3 polygon[YK_POLYGON_MAX], normal = flat_normal(face, face_count, outward);
    int count = yk_solid_face(incident, yk_v3_neg(normal), polygon);
    return yk_clip_polygons(face, face_count, normal, polygon, count, margin, list);
}

int yk_collide_convex(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    yk_vec3 n, on_a;
    double gap = yk_solid_direction(a, b, &n, &on_a);
    if (gap >= margin) return 0;
    yk_vec3 pa[YK_POLYGON_MAX], pb[YK_POLYGON_MAX];
    int na = yk_solid_face(a, n, pa), nb = yk_solid_face(b, yk_v3_neg(n), pb), count = 0;
    if (na >= 3) {
        count = meet_face(pa, na, b, n, margin, list);
    } else if (nb >= 3) {
        count = meet_face(pb, nb, a, yk_v3_neg(n), margin, list);
        swap_sides(list, count);
    } else {
        count = meet_edges(a, b, pa, na, pb, nb, n, margin, list);
        if (count >= 0) return count;
    }
    if (count > 0) return count;
    list[0] =
        (yk_touch){.point_a = on_a, .point_b = yk_v3_axpy(gap, n, on_a), .normal = n, .gap = gap, .feature = 4096};
    return 1;
}
