/* Pairs of convex solids in general: the direction from GJK and EPA (libccd), the contact points from the features that
 * look at each other.
 *
 * Both solids are swollen by half the margin, so that solids with a gap below it overlap and EPA gives a direction. It
 * is good to about 1e-3 on round surfaces, and its single point does not carry a resting body. Therefore the faces,
 * edges or corners that look along it are taken from the solids themselves: a face lends its exact normal, and what
 * looks at it is clipped at its sides; edges and corners, also inside the skin of a capsule or sphere, give their
 * nearest points. */
#include <ccd/ccd.h>

#include "nonsmooth/collide.h"

/* A face is taken as such up to this angle (sine) from the direction of contact. */
static const double FACE_SLOPE = 0.05;

typedef struct swollen {
    const yk_solid *solid;
    double swelling;
} swollen;

static double core_radius(const yk_solid *solid)
{
    return solid->kind == YK_SOLID_SPHERE || solid->kind == YK_SOLID_CAPSULE ? solid->size.x : 0;
}

static yk_vec3 core_support(const yk_solid *solid, yk_vec3 direction)
{
    if (solid->kind == YK_SOLID_SPHERE) return solid->position;
    if (solid->kind == YK_SOLID_CAPSULE) {
        yk_vec3 axis = yk_m3_column(&solid->rotation, 2);
        return yk_v3_axpy(yk_v3_dot(axis, direction) < 0 ? -solid->size.z : solid->size.z, axis, solid->position);
    }
    return yk_solid_support(solid, direction);
}

static yk_vec3 from_ccd(const ccd_vec3_t *v)
{
    return yk_v3(ccdVec3X(v), ccdVec3Y(v), ccdVec3Z(v));
}

static void support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *point)
{
    const swollen *s = object;
    yk_vec3 d = from_ccd(direction);
    yk_vec3 p = yk_v3_axpy(s->swelling, yk_v3_unit(d), core_support(s->solid, d));
    ccdVec3Set(point, p.x, p.y, p.z);
}

static yk_vec3 middle_of(const yk_solid *solid)
{
    if (solid->point_count == 0) return solid->position;
    yk_vec3 sum = {0, 0, 0};
    for (int i = 0; i < solid->point_count; i++) sum = yk_v3_add(sum, solid->points[i]);
    return yk_v3_add(solid->position, yk_m3_apply(solid->rotation, yk_v3_scale(1.0 / solid->point_count, sum)));
}

static void centre(const void *object, ccd_vec3_t *point)
{
    yk_vec3 p = middle_of(((const swollen *)object)->solid);
    ccdVec3Set(point, p.x, p.y, p.z);
}

/* Direction from a to b and the gap between the solids along it; false when they are farther apart than the margin. */
static bool find_direction(const yk_solid *a, const yk_solid *b, double margin, yk_vec3 *direction, double *gap,
                           yk_vec3 *at)
{
    swollen sa = {a, core_radius(a) + margin / 2}, sb = {b, core_radius(b) + margin / 2};
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = support;
    ccd.support2 = support;
    ccd.center1 = centre;
    ccd.center2 = centre;
    ccd.max_iterations = 200;
    ccd.epa_tolerance = 1e-9 * fmin(yk_solid_radius(a), yk_solid_radius(b));
    ccd_real_t depth;
    ccd_vec3_t dir, pos;
    if (ccdGJKPenetration(&sa, &sb, &ccd, &depth, &dir, &pos) != 0) return false;
    *direction = yk_v3_unit(from_ccd(&dir));
    *gap = margin - depth;
    *at = from_ccd(&pos);
    return yk_v3_norm2(*direction) > 0;
}

/* Faces --------------------------------------------------------------------------------------------------------------
 */

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

/* Clipping -----------------------------------------------------------------------------------------------------------
 */

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

/* Two edges that are nearly parallel touch along a line: its two ends. */
static int meet_parallel_edges(const yk_vec3 *pa, const yk_vec3 *pb, yk_vec3 n, double margin, yk_touch *list)
{
    yk_vec3 ea = yk_v3_sub(pa[1], pa[0]), eb = yk_v3_sub(pb[1], pb[0]);
    double length = yk_v3_norm(ea);
    if (yk_v3_norm(yk_v3_cross(ea, eb)) > 2 * FACE_SLOPE * length * yk_v3_norm(eb)) return 0;
    yk_vec3 along = yk_v3_scale(1 / length, ea);
    double from = yk_v3_dot(along, yk_v3_sub(pb[0], pa[0])), to = yk_v3_dot(along, yk_v3_sub(pb[1], pa[0]));
    double low = fmax(0, fmin(from, to)), high = fmin(length, fmax(from, to));
    if (high <= low) return 0;
    double end[2] = {low, high};
    int count = 0;
    for (int i = 0; i < 2; i++) {
        yk_vec3 p = yk_v3_axpy(end[i], along, pa[0]), q = yk_v3_axpy((end[i] - from) / (to - from), eb, pb[0]);
        double gap = yk_v3_dot(n, yk_v3_sub(q, p));
        if (gap >= margin) continue;
        list[count++] = (yk_touch){.point_a = p, .point_b = q, .normal = n, .gap = gap, .feature = 2048u + (uint32_t)i};
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

/* The place of an edge on a cylinder follows the direction, so that its nearest point says nothing about it. */
static bool has_fixed_edges(const yk_solid *solid)
{
    return solid->kind != YK_SOLID_CYLINDER;
}

static void shrink_to_core(const yk_solid *solid, yk_vec3 outward, yk_vec3 *polygon, int count)
{
    for (int i = 0; i < count; i++) polygon[i] = yk_v3_axpy(-core_radius(solid), outward, polygon[i]);
}

/* One contact between edges or corners: direction and gap from the nearest points of the cores. */
static int meet_sharp(const yk_solid *a, const yk_solid *b, yk_vec3 *pa, int na, yk_vec3 *pb, int nb, yk_vec3 n,
                      double margin, yk_touch *touch)
{
    if (!has_fixed_edges(a) || !has_fixed_edges(b)) return -1;
    shrink_to_core(a, n, pa, na);
    shrink_to_core(b, yk_v3_neg(n), pb, nb);
    yk_vec3 p, q;
    nearest_points(pa, na, pb, nb, &p, &q);
    yk_vec3 apart = yk_v3_sub(q, p);
    double distance = yk_v3_norm(apart), side = yk_v3_dot(apart, n) < 0 ? -1 : 1;
    yk_vec3 exact = yk_v3_scale(side / distance, apart);
    /* Points that nearly coincide, or a guess that was another feature's: the direction of EPA stands. */
    if (!(distance > 1e-9 * yk_solid_radius(a)) || yk_v3_dot(exact, n) < 0.99) return -1;
    double gap = side * distance - core_radius(a) - core_radius(b);
    if (gap >= margin) return 0;
    *touch = (yk_touch){.point_a = yk_v3_axpy(core_radius(a), exact, p),
                        .point_b = yk_v3_axpy(-core_radius(b), exact, q),
                        .normal = exact,
                        .gap = gap,
                        .feature = 4096};
    return 1;
}

int yk_collide_convex(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    yk_vec3 n, at;
    double gap;
    if (!find_direction(a, b, margin, &n, &gap, &at)) return 0;
    yk_vec3 pa[YK_POLYGON_MAX], pb[YK_POLYGON_MAX];
    int na = yk_solid_face(a, n, pa), nb = yk_solid_face(b, yk_v3_neg(n), pb), count = 0;
    if (na >= 3) {
        count = yk_clip_polygons(pa, na, flat_normal(pa, na, n), pb, nb, margin, list);
    } else if (nb >= 3) {
        count = yk_clip_polygons(pb, nb, flat_normal(pb, nb, yk_v3_neg(n)), pa, na, margin, list);
        swap_sides(list, count);
    } else {
        if (na == 2 && nb == 2) count = meet_parallel_edges(pa, pb, n, margin, list);
        if (count > 0) return count;
        count = meet_sharp(a, b, pa, na, pb, nb, n, margin, list);
        if (count >= 0) return count;
        count = 0;
    }
    if (count > 0) return count;
    list[0] = (yk_touch){.point_a = yk_v3_axpy(-gap / 2, n, at),
                         .point_b = yk_v3_axpy(gap / 2, n, at),
                         .normal = n,
                         .gap = gap,
                         .feature = 4096};
    return 1;
}
