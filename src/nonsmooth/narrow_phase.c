/* The narrow phase: the table of solid kinds; properties of any solid derived from its row (support
 * points, bounds, mass); contact points of convex solids in general; and the choice of the function
 * for two kinds.
 *
 * Convex solids touch along the direction from gjk.c. A single point does not support a resting
 * body. Therefore the faces, edges or corners of the solids that face the direction are used: a
 * face gives its exact normal, and the feature facing it is clipped at its sides; edges and
 * corners, also under the skin of a capsule or of a cylinder's side, give their nearest points. */
#include <assert.h>
#include <string.h>

#include "nonsmooth/solids/solid.h"

/* Kinds ---------------------------------------------------------------------------------------- */

#define ROW(name, kind) [YK_SOLID_##kind] = &yk_##name##_ops,
static const yk_solid_ops *const rows[] = {YK_SOLID_LIST(ROW)};
enum { ROWS = sizeof rows / sizeof *rows };
#define PLACE(name, kind) [YK_SOLID_##kind] = YK_PLACE_##kind,
static const uint8_t places[ROWS] = {YK_SOLID_LIST(PLACE)};

int yk_solid_place_in_pair(yk_solid_kind kind)
{
    return places[kind];
}

const yk_solid_ops *yk_solid_ops_of(yk_solid_kind kind)
{
    return (size_t)kind < ROWS ? rows[kind] : NULL;
}

bool yk_solid_is_valid(const yk_solid *solid)
{
    const yk_solid_ops *ops = yk_solid_ops_of(solid->kind);
    return ops && yk_v3_finite(solid->size) && ops->valid(solid);
}

yk_solid_kind yk_solid_kind_named(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i] && strcmp(rows[i]->section.name, name) == 0)
            return (yk_solid_kind)i;
    assert(!"a kind of solid has this name");
    return YK_SOLID_SPHERE;
}

bool yk_solid_is_finite(yk_solid_kind kind)
{
    return rows[kind]->support;
}

bool yk_solid_is_ball(yk_solid_kind kind)
{
    return rows[kind]->ball;
}

bool yk_solid_is_thin(yk_solid_kind kind)
{
    return rows[kind]->plane_normal;
}

bool yk_solid_has_mass(yk_solid_kind kind)
{
    return rows[kind]->mass;
}

bool yk_solid_has_points(yk_solid_kind kind)
{
    return rows[kind]->from_points;
}

yk_vec3 yk_solid_support(const yk_solid *solid, yk_vec3 direction)
{
    /* Kinds use their own axes: convert to these axes and back. */
    yk_vec3 d = yk_m3_apply_transposed(solid->rotation, direction);
    yk_vec3 local = rows[solid->kind]->support(solid, d);
    return yk_v3_add(solid->position, yk_m3_apply(solid->rotation, local));
}

/* The face, edge or corner of a finite solid that faces `normal`, in order around it; returns the
 * number of points. */
static int face_along(const yk_solid *solid, yk_vec3 normal, yk_vec3 polygon[YK_POLYGON_MAX])
{
    yk_vec3 n = yk_m3_apply_transposed(solid->rotation, normal);
    int count = rows[solid->kind]->face(solid, n, polygon);
    for (int i = 0; i < count; i++)
        polygon[i] = yk_v3_add(solid->position, yk_m3_apply(solid->rotation, polygon[i]));
    return count;
}

double yk_solid_skin(const yk_solid *solid)
{
    return rows[solid->kind]->under_skin ? solid->size.x : 0;
}

double yk_solid_radius(const yk_solid *solid)
{
    return rows[solid->kind]->radius(solid);
}

yk_vec3 yk_solid_half_extent(const yk_solid *solid)
{
    static const yk_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double half[3];

    /* Hulls need not be centered: use the wider of both sides. */
    for (int i = 0; i < 3; i++) {
        yk_vec3 back = yk_v3_neg(axes[i]);
        double high =
            yk_v3_dot(axes[i], yk_v3_sub(yk_solid_support(solid, axes[i]), solid->position));
        double low = yk_v3_dot(back, yk_v3_sub(yk_solid_support(solid, back), solid->position));
        half[i] = fmax(high, low);
    }

    return yk_v3(half[0], half[1], half[2]);
}

double yk_solid_clearance(const yk_solid *solid, yk_vec3 at)
{
    yk_vec3 local = yk_m3_apply_transposed(solid->rotation, yk_v3_sub(at, solid->position));
    return rows[solid->kind]->clearance(solid, local);
}

yk_vec3 yk_solid_centre(const yk_solid *solid)
{
    if (!rows[solid->kind]->centre)
        return yk_v3(0, 0, 0);
    return rows[solid->kind]->centre(solid);
}

double yk_solid_mass(const yk_solid *solid, double density, yk_mat3 *inertia)
{
    *inertia = yk_m3_zero();
    if (!rows[solid->kind]->mass)
        return 0;
    return rows[solid->kind]->mass(solid, density, inertia);
}

/* Clipping ------------------------------------------------------------------------------------- */

void yk_swap_sides(yk_touch *list, int count)
{
    for (int i = 0; i < count; i++) {
        yk_vec3 point_a = list[i].point_a;
        list[i].point_a = list[i].point_b;
        list[i].point_b = point_a;
        list[i].normal = yk_v3_neg(list[i].normal);
    }
}

typedef struct clip_point {
    yk_vec3 at;
    /* identifies the corner of the incident polygon, or the cut that created the point */
    uint32_t name;
} clip_point;

/* Points within this distance of a side of the reference polygon, relative to its radius, count as
 * inside. Flush solids then keep their corners despite rounding errors and small motions, and
 * contacts keep their identity and impulses from step to step. */
static const double CLIP_SLACK = 1e-3;

/* Keeps the part of a polygon on the inner side of a plane; a polygon of two points is an open
 * line. */
static int clip_at(const clip_point *in, int count, yk_vec3 origin, yk_vec3 outward, double slack,
                   uint32_t side, clip_point *out)
{
    int kept = 0;

    /* A corner stays or goes. */
    if (count == 1) {
        if (yk_v3_dot(outward, yk_v3_sub(in[0].at, origin)) <= slack)
            out[kept++] = in[0];
        return kept;
    }

    /* The inner end of each edge, and the cut where the edge crosses the plane. */
    int edges = count == 2 ? 1 : count;
    for (int i = 0; i < edges && kept + 2 < 2 * YK_POLYGON_MAX; i++) {
        const clip_point *p = &in[i], *q = &in[(i + 1) % count];
        double dp = yk_v3_dot(outward, yk_v3_sub(p->at, origin));
        double dq = yk_v3_dot(outward, yk_v3_sub(q->at, origin));

        if (dp <= slack)
            out[kept++] = *p;

        /* A cut is identified by its corner and by the side that cut it, separate from all corners. */
        if ((dp < -slack && dq > slack) || (dp > slack && dq < -slack)) {
            yk_vec3 cut = yk_v3_axpy(dp / (dp - dq), yk_v3_sub(q->at, p->at), p->at);
            out[kept++] = (clip_point){cut, (p->name & 31) * 32 + side + 1024};
        }

        if (count == 2 && dq <= slack)
            out[kept++] = *q;
    }

    return kept;
}

/* Number of contact points that are kept of two faces: the smallest number that supports any load. */
enum { FACE_POINTS = 4 };

/* Chooses four points of a convex polygon that keep its lowest point and much of its area: the lowest
 * point, the point farthest from it, and on both sides of the line between these the point farthest
 * from the line. Differences below `slack` do not count, so that a flat face keeps its choice from
 * step to step. The points stay in their order. */
static int choose_points(const yk_touch *all, int count, double slack, yk_touch *list)
{
    int chosen[FACE_POINTS] = {0, 0, -1, -1};
    for (int i = 1; i < count; i++)
        if (all[i].gap < all[chosen[0]].gap - slack)
            chosen[0] = i;

    yk_vec3 from = all[chosen[0]].point_a;
    double farthest = 0;
    for (int i = 0; i < count; i++) {
        double distance = yk_v3_norm(yk_v3_sub(all[i].point_a, from));
        if (distance > farthest + slack) {
            farthest = distance;
            chosen[1] = i;
        }
    }

    yk_vec3 along = yk_v3_sub(all[chosen[1]].point_a, from);
    yk_vec3 across = yk_v3_unit(yk_v3_cross(all[0].normal, along));
    double reach[2] = {slack, slack};
    for (int i = 0; i < count; i++) {
        double offset = yk_v3_dot(across, yk_v3_sub(all[i].point_a, from));
        int side = offset < 0;
        if (i != chosen[0] && i != chosen[1] && fabs(offset) > reach[side] + slack) {
            reach[side] = fabs(offset);
            chosen[2 + side] = i;
        }
    }

    int kept = 0;
    for (int i = 0; i < count; i++)
        if (i == chosen[0] || i == chosen[1] || i == chosen[2] || i == chosen[3])
            list[kept++] = all[i];
    return kept;
}

int yk_clip_polygons(const yk_vec3 *reference, int reference_count, yk_vec3 normal,
                     const yk_vec3 *incident, int incident_count, double margin, yk_touch *list)
{
    clip_point buffer[2][2 * YK_POLYGON_MAX];
    clip_point *points = buffer[0], *clipped = buffer[1];
    int count = incident_count;

    for (int i = 0; i < count; i++)
        points[i] = (clip_point){incident[i], (uint32_t)i};

    /* The outer side of an edge points away from the middle of the polygon. */
    yk_vec3 middle = {0, 0, 0};
    for (int i = 0; i < reference_count; i++)
        middle = yk_v3_axpy(1.0 / reference_count, reference[i], middle);
    double radius = 0;
    for (int i = 0; i < reference_count; i++)
        radius = fmax(radius, yk_v3_norm(yk_v3_sub(reference[i], middle)));

    /* Cut at each side of the reference polygon in turn. */
    for (int i = 0; i < reference_count && count > 0; i++) {
        yk_vec3 edge = yk_v3_sub(reference[(i + 1) % reference_count], reference[i]);
        yk_vec3 outward = yk_v3_cross(edge, normal);
        if (yk_v3_dot(outward, yk_v3_sub(reference[i], middle)) < 0)
            outward = yk_v3_neg(outward);

        double slack = CLIP_SLACK * radius * yk_v3_norm(edge);
        count = clip_at(points, count, reference[i], outward, slack, (uint32_t)i, clipped);
        clip_point *cut = clipped;
        clipped = points;
        points = cut;
    }

    /* Points below the margin, and their projections on the reference face. */
    yk_touch touches[2 * YK_POLYGON_MAX] = {0};
    int found = 0;
    for (int i = 0; i < count; i++) {
        yk_vec3 p = points[i].at;
        double gap = yk_v3_dot(normal, yk_v3_sub(p, reference[0]));
        if (gap >= margin)
            continue;

        touches[found++] = (yk_touch){
            .point_a = yk_v3_axpy(-gap, normal, p),
            .point_b = p,
            .normal = normal,
            .gap = gap,
            .feature = points[i].name,
        };
    }

    if (found > FACE_POINTS)
        return choose_points(touches, found, CLIP_SLACK * radius, list);
    memcpy(list, touches, (size_t)found * sizeof *list);
    return found;
}

/* Gaps are measured from the first point. The points of a hull that look along a direction need not
 * be in one plane: the polygon starts at the point that is farthest along the normal, which touches
 * first. A flat face keeps its order. */
static void start_at_top(const yk_vec3 *face, int count, yk_vec3 normal,
                         yk_vec3 polygon[YK_POLYGON_MAX])
{
    double spread = 0, rise = 0;
    int top = 0;
    for (int i = 1; i < count; i++) {
        yk_vec3 arm = yk_v3_sub(face[i], face[0]);
        spread = fmax(spread, yk_v3_norm(arm));
        if (yk_v3_dot(normal, arm) > rise) {
            rise = yk_v3_dot(normal, arm);
            top = i;
        }
    }
    if (!(rise > 1e-9 * spread))
        top = 0;

    for (int i = 0; i < count; i++)
        polygon[i] = face[(top + i) % count];
}

/* A face of `reference` faces `incident`: exact normal, and the incident feature that faces it. */
static int meet_face(const yk_vec3 *face, int face_count, const yk_solid *incident, yk_vec3 outward,
                     double margin, yk_touch *list)
{
    /* The normal of the polygon, on its outer side. */
    yk_vec3 sum = {0, 0, 0};
    for (int i = 2; i < face_count; i++) {
        yk_vec3 u = yk_v3_sub(face[i - 1], face[0]);
        yk_vec3 w = yk_v3_sub(face[i], face[0]);
        sum = yk_v3_add(sum, yk_v3_cross(u, w));
    }

    yk_vec3 normal = yk_v3_unit(sum);
    if (yk_v3_dot(normal, outward) < 0)
        normal = yk_v3_neg(normal);

    /* If the points are no flat face, the direction of the search is better. */
    if (!(yk_v3_norm(yk_v3_sub(normal, outward)) < 2 * YK_FACE_SLOPE))
        normal = outward;

    yk_vec3 polygon[YK_POLYGON_MAX], reference[YK_POLYGON_MAX];
    int count = face_along(incident, yk_v3_neg(normal), polygon);
    start_at_top(face, face_count, normal, reference);
    return yk_clip_polygons(reference, face_count, normal, polygon, count, margin, list);
}

/* Edges and corners ---------------------------------------------------------------------------- */

/* An edge of a solid (two points), or a corner (one), under a skin. */
typedef struct sharp {
    yk_vec3 *points;
    int count;
    double skin;
} sharp;

/* Two nearly parallel edges touch along a line: use its two ends. The direction between edges with
 * a skin is more accurate than that of the search. */
static int meet_parallel_edges(const sharp *a, const sharp *b, yk_vec3 n, double margin,
                               yk_touch *list)
{
    const yk_vec3 *pa = a->points, *pb = b->points;
    yk_vec3 ea = yk_v3_sub(pa[1], pa[0]);
    yk_vec3 eb = yk_v3_sub(pb[1], pb[0]);
    double length = yk_v3_norm(ea);

    if (yk_v3_norm(yk_v3_cross(ea, eb)) > 2 * YK_FACE_SLOPE * length * yk_v3_norm(eb))
        return 0;

    /* The part along a that both cover. */
    yk_vec3 along = yk_v3_scale(1 / length, ea);
    double from = yk_v3_dot(along, yk_v3_sub(pb[0], pa[0]));
    double to = yk_v3_dot(along, yk_v3_sub(pb[1], pa[0]));
    const double end[2] = {fmax(0, fmin(from, to)), fmin(length, fmax(from, to))};
    if (end[1] <= end[0])
        return 0;

    /* A contact at each of its ends. */
    int count = 0;
    for (int i = 0; i < 2; i++) {
        yk_vec3 p = yk_v3_axpy(end[i], along, pa[0]);
        yk_vec3 q = yk_v3_axpy((end[i] - from) / (to - from), eb, pb[0]);
        yk_vec3 apart = yk_v3_sub(q, p), normal = n;
        /* Rounded edges touch along the line between their points, sharp ones along the direction
         * of the search. */
        if (a->skin + b->skin > 0)
            normal = yk_v3_unit(apart);

        double gap = yk_v3_dot(normal, apart) - a->skin - b->skin;
        if (gap >= margin || yk_v3_dot(normal, n) < 0.9)
            continue;

        list[count++] = (yk_touch){
            .point_a = yk_v3_axpy(a->skin, normal, p),
            .point_b = yk_v3_axpy(-b->skin, normal, q),
            .normal = normal,
            .gap = gap,
            .feature = 2048u + (uint32_t)i,
        };
    }

    return count;
}

static double clamp_unit(double x)
{
    if (x < 0)
        return 0;
    return x > 1 ? 1 : x;
}

/* One contact between edges or corners: direction and gap from their nearest points. -1: these do
 * not give a direction, because they nearly coincide or belong to another feature. */
static int meet_nearest_points(const sharp *a, const sharp *b, yk_vec3 n, double margin,
                               yk_touch *touch)
{
    /* Nearest points of two segments, s and t along them from 0 to 1; a corner is a segment of no
     * length. */
    const yk_vec3 *pa = a->points, *pb = b->points;
    yk_vec3 ea = yk_v3_sub(pa[a->count - 1], pa[0]);
    yk_vec3 eb = yk_v3_sub(pb[b->count - 1], pb[0]);
    yk_vec3 d = yk_v3_sub(pb[0], pa[0]);

    /* Minimize |d + t eb - s ea|^2: free s, then t for it, then s for t, each within its segment. */
    double aa = yk_v3_norm2(ea), bb = yk_v3_norm2(eb), ab = yk_v3_dot(ea, eb);
    double da = yk_v3_dot(d, ea), db = yk_v3_dot(d, eb);
    double det = aa * bb - ab * ab;
    double s = 0, t = 0;
    if (aa > 0)
        s = clamp_unit(det > 0 ? (da * bb - db * ab) / det : da / aa);
    if (bb > 0)
        t = clamp_unit((s * ab - db) / bb);
    if (aa > 0)
        s = clamp_unit((t * ab + da) / aa);

    yk_vec3 p = yk_v3_axpy(s, ea, pa[0]);
    yk_vec3 q = yk_v3_axpy(t, eb, pb[0]);

    /* The direction from one to the other, if it is close to that of the search. */
    yk_vec3 apart = yk_v3_sub(q, p);
    double distance = yk_v3_norm(apart);
    double side = yk_v3_dot(apart, n) < 0 ? -1 : 1;
    yk_vec3 normal = yk_v3_scale(side / distance, apart);
    if (!(distance > 1e-9 * margin) || yk_v3_dot(normal, n) < 0.99)
        return -1;

    /* If they have passed each other, the distance counts as overlap. */
    double gap = side * distance - a->skin - b->skin;
    if (gap >= margin)
        return 0;

    *touch = (yk_touch){
        .point_a = yk_v3_axpy(a->skin, normal, p),
        .point_b = yk_v3_axpy(-b->skin, normal, q),
        .normal = normal,
        .gap = gap,
        .feature = 4096,
    };
    return 1;
}

/* Skin of the edge or corner, whose points are moved under it; negative if it does not give a
 * direction. */
static double peel(const yk_solid *solid, yk_vec3 *points, int count, yk_vec3 outward)
{
    const yk_solid_ops *kind = yk_solid_ops_of(solid->kind);

    double skin = kind->face_skin ? kind->face_skin(solid, count) : yk_solid_skin(solid);
    for (int i = 0; i < count && skin >= 0; i++)
        points[i] = yk_v3_axpy(-skin, outward, points[i]);
    return skin;
}

int yk_meet_features(const yk_solid *a, const yk_solid *b, yk_vec3 n, double margin, yk_touch *list)
{
    /* The facing features: three or more points are a face. */
    yk_vec3 pa[YK_POLYGON_MAX], pb[YK_POLYGON_MAX], back = yk_v3_neg(n);
    int na = face_along(a, n, pa);
    int nb = face_along(b, back, pb);
    int count = 0;
    if (na >= 3) {
        count = meet_face(pa, na, b, n, margin, list);
    } else if (nb >= 3) {
        count = meet_face(pb, nb, a, back, margin, list);
        yk_swap_sides(list, count);
        /* A bit distinguishes clipped faces of b from those of a. */
        for (int i = 0; i < count; i++)
            list[i].feature |= 1u << 16;
    } else {
        /* Edges and corners: a line, or the nearest points. */
        sharp on_sides[2] = {{pa, na, peel(a, pa, na, n)}, {pb, nb, peel(b, pb, nb, back)}};
        bool known = on_sides[0].skin >= 0 && on_sides[1].skin >= 0;
        if (known && na == 2 && nb == 2)
            count = meet_parallel_edges(&on_sides[0], &on_sides[1], n, margin, list);
        if (known && count == 0) {
            count = meet_nearest_points(&on_sides[0], &on_sides[1], n, margin, list);
            if (count == 0)
                return 0;
        }
    }

    return count > 0 ? count : -1;
}

int yk_meet_along(const yk_solid *a, const yk_solid *b, yk_vec3 n, double gap, yk_vec3 on_a,
                  double margin, yk_touch *list)
{
    int count = yk_meet_features(a, b, n, margin, list);
    if (count >= 0)
        return count;

    /* If no feature gave a point, use that of the search. */
    list[0] = (yk_touch){
        .point_a = on_a,
        .point_b = yk_v3_axpy(gap, n, on_a),
        .normal = n,
        .gap = gap,
        .feature = 4096,
    };
    return 1;
}

int yk_collide_convex(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    yk_vec3 n, on_a;
    double gap = yk_solid_direction(a, b, &n, &on_a);
    if (gap >= margin)
        return 0;
    return yk_meet_along(a, b, n, gap, on_a, margin, list);
}

/* Pairs of kinds ------------------------------------------------------------------------------- */

/* Contacts with a triangle in a direction other than its normal are at its edges, which are ignored
 * inside a mesh (contact_detection.c). */
static void mark_edges(const yk_solid *solid, yk_touch *list, int count)
{
    const yk_solid_ops *kind = yk_solid_ops_of(solid->kind);
    if (!kind->plane_normal)
        return;

    yk_vec3 normal = yk_m3_apply(solid->rotation, kind->plane_normal(solid));
    for (int i = 0; i < count; i++)
        if (fabs(yk_v3_dot(normal, list[i].normal)) < 0.99)
            list[i].edge = true;
}

/* A sphere against a finite solid whose nearest point to the center has a closed form. */
static int collide_sphere(const yk_solid *sphere, const yk_solid *other, double margin,
                          yk_touch *list)
{
    /* In the frame of the solid. */
    yk_vec3 centre =
        yk_m3_apply_transposed(other->rotation, yk_v3_sub(sphere->position, other->position));
    yk_nearest near = yk_solid_ops_of(other->kind)->nearest(other, centre);
    double skin = yk_solid_skin(other);
    double gap = near.distance - sphere->size.x - skin;
    if (gap >= margin)
        return 0;

    /* Convert to global axes; the normal points from the sphere into the solid. */
    yk_vec3 outward = yk_m3_apply(other->rotation, near.normal);
    yk_vec3 at = yk_v3_add(other->position, yk_m3_apply(other->rotation, near.point));
    list[0] = (yk_touch){
        .point_a = yk_v3_axpy(-sphere->size.x, outward, sphere->position),
        .point_b = yk_v3_axpy(skin, outward, at),
        .normal = yk_v3_neg(outward),
        .gap = gap,
        .feature = near.feature,
        .edge = near.feature > 0,
    };
    return 1;
}

int yk_collide(const yk_solid *a, const yk_solid *b, double margin, yk_touch *list)
{
    const yk_solid_ops *kind_a = yk_solid_ops_of(a->kind);
    const yk_solid_ops *kind_b = yk_solid_ops_of(b->kind);
    if (places[a->kind] > places[b->kind]) {
        int count = yk_collide(b, a, margin, list);
        yk_swap_sides(list, count);
        return count;
    }

    /* Planes and cavities find their own contacts; a sphere has at most one with each wall. */
    if (kind_b->collide_finite) {
        if (!yk_solid_is_finite(a->kind))
            return 0;
        if (!kind_a->ball)
            return kind_b->collide_finite(a, b, margin, list);

        int count = 0;
        for (uint32_t wall = 0; wall < YK_WALLS; wall++)
            if (kind_b->walls >> wall & 1)
                count += yk_sphere_at_wall(b, wall, a->position, a->size.x, margin, &list[count]);
        return count;
    }

    /* Use closed forms if there are any, otherwise the general search. */
    if (kind_a->ball && kind_b->nearest)
        return collide_sphere(a, b, margin, list);
    if (a->kind == b->kind && kind_a->collide_own_kind)
        return kind_a->collide_own_kind(a, b, margin, list);

    /* Two triangles have been handled above, so only b can be a triangle. */
    int count = yk_collide_convex(a, b, margin, list);
    mark_edges(b, list, count);
    return count;
}
