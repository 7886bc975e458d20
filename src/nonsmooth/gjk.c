/* Distance of two convex solids by GJK (Gilbert, Johnson, Keerthi 1988), and the direction of
 * least overlap.
 *
 * Solids are seen through their support points alone; rounded ones (sphere, capsule) as the point
 * or line under their skin. GJK finds the nearest points of solids that are apart. Overlaps are
 * led back to that case: b is shifted along an estimate of the direction, just so far that a
 * plane separates the two, and GJK gives a better direction. The gap along it, min over b minus
 * max over a, never falls from step to step, so that the iteration climbs to a least overlap;
 * with the first estimate from slightly thinner solids that is the right one unless a solid is
 * passed half through. */
#include "nonsmooth/solids/solid.h"

enum { GJK_LIMIT = 64, CLIMB_LIMIT = 32 };

/* A solid without its skin, made thinner (boxes, cylinders by `less` on all sides, hulls by a
 * factor), and shifted. */
typedef struct core {
    const yk_solid *solid;
    const yk_solid_ops *kind;
    yk_vec3 middle, shift;
    double less, factor;
} core;

static yk_vec3 middle_of(const yk_solid *solid)
{
    if (solid->point_count == 0)
        return solid->position;

    yk_vec3 sum = {0, 0, 0};
    for (int i = 0; i < solid->point_count; i++)
        sum = yk_v3_add(sum, solid->points[i]);

    yk_vec3 mean = yk_v3_scale(1.0 / solid->point_count, sum);
    return yk_v3_add(solid->position, yk_m3_apply(solid->rotation, mean));
}

/* Thinner by this ratio of its thickness. */
static core make_core(const yk_solid *solid, double ratio)
{
    const yk_solid_ops *kind = yk_solid_ops_of(solid->kind);
    core c = {.solid = solid, .kind = kind, .middle = middle_of(solid), .factor = 1};

    if (kind->shrinks)
        c.factor = 1 - ratio;
    if (kind->thickness)
        c.less = ratio * kind->thickness(solid);
    return c;
}

static yk_vec3 core_support(const core *c, yk_vec3 d)
{
    const yk_solid *solid = c->solid;
    yk_vec3 at;

    /* Rounded solids have their skin taken off, others are made thinner by their size, or about
     * their middle. */
    if (c->kind->under_skin) {
        at = c->kind->under_skin(solid, d);
    } else if (c->kind->thickness) {
        yk_solid thinner = *solid;
        thinner.size = yk_v3_sub(solid->size, yk_v3(c->less, c->less, c->less));
        at = yk_solid_support(&thinner, d);
    } else {
        at = yk_v3_axpy(c->factor, yk_v3_sub(yk_solid_support(solid, d), c->middle), c->middle);
    }

    return yk_v3_add(at, c->shift);
}

/* Nearest point of a simplex to the origin: keeps the points that carry it. -------------------- */

typedef struct simplex {
    yk_vec3 point[4]; /* of b minus a */
    yk_vec3 on_a[4];
    int count;
} simplex;

/* The edge (l < 0) or face of these corners. */
static simplex part_of(const simplex *s, int i, int k, int l)
{
    simplex part = {.count = l < 0 ? 2 : 3};
    const int corner[3] = {i, k, l};

    for (int n = 0; n < part.count; n++) {
        part.point[n] = s->point[corner[n]];
        part.on_a[n] = s->on_a[corner[n]];
    }
    return part;
}

static yk_vec3 nearest_on_segment(simplex *s)
{
    yk_vec3 a = s->point[0];

    yk_vec3 ab = yk_v3_sub(s->point[1], a);
    double t = -yk_v3_dot(a, ab), length = yk_v3_norm2(ab);

    /* Beyond an end only that end is left. */
    if (t <= 0 || length == 0) {
        s->count = 1;
        return a;
    }

    if (t >= length) {
        s->point[0] = s->point[1];
        s->on_a[0] = s->on_a[1];
        s->count = 1;
        return s->point[0];
    }

    return yk_v3_axpy(t / length, ab, a);
}

static yk_vec3 nearest_on_triangle(simplex *s)
{
    yk_vec3 a = s->point[0], b = s->point[1], c = s->point[2];
    yk_vec3 n = yk_v3_cross(yk_v3_sub(b, a), yk_v3_sub(c, a));

    double area = yk_v3_norm2(n);

    /* Signed areas opposite the corners, as seen along the normal: all positive above the inner
     * of the face. */
    double wa = yk_v3_dot(n, yk_v3_cross(b, c));
    double wb = yk_v3_dot(n, yk_v3_cross(c, a));
    double wc = yk_v3_dot(n, yk_v3_cross(a, b));
    if (area > 0 && wa >= 0 && wb >= 0 && wc >= 0)
        return yk_v3_scale(yk_v3_dot(n, a) / area, n);

    /* Beside the face: the nearest of its edges. */
    simplex best = *s;
    yk_vec3 nearest = {INFINITY, 0, 0};
    for (int i = 0; i < 3; i++) {
        simplex edge = part_of(s, i, (i + 1) % 3, -1);
        yk_vec3 p = nearest_on_segment(&edge);
        if (yk_v3_norm2(p) < yk_v3_norm2(nearest)) {
            nearest = p;
            best = edge;
        }
    }

    *s = best;
    return nearest;
}

static yk_vec3 nearest_on_tetrahedron(simplex *s)
{
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
    simplex best = *s;
    yk_vec3 nearest = {INFINITY, 0, 0};
    bool outside = false;

    for (int i = 0; i < 4; i++) {
        /* Faces that have the origin on the side of the fourth corner do not carry the nearest
         * point. */
        yk_vec3 a = s->point[face[i][0]], b = s->point[face[i][1]], c = s->point[face[i][2]];
        yk_vec3 n = yk_v3_cross(yk_v3_sub(b, a), yk_v3_sub(c, a));
        double origin = -yk_v3_dot(n, a);
        double other = yk_v3_dot(n, yk_v3_sub(s->point[face[i][3]], a));
        if (origin * other > 0)
            continue;

        outside = true;

        simplex triangle = part_of(s, face[i][0], face[i][1], face[i][2]);
        yk_vec3 p = nearest_on_triangle(&triangle);
        if (yk_v3_norm2(p) < yk_v3_norm2(nearest)) {
            nearest = p;
            best = triangle;
        }
    }

    if (!outside)
        return yk_v3(0, 0, 0); /* the origin is inside: an overlap */

    *s = best;
    return nearest;
}

/* The point of a that belongs to the point v of the simplex that is nearest to the origin. */
static yk_vec3 witness(const simplex *s, yk_vec3 v)
{
    if (s->count == 1)
        return s->on_a[0];

    /* The weights of v in the simplex, applied to the points of a. */
    yk_vec3 ab = yk_v3_sub(s->point[1], s->point[0]);
    yk_vec3 av = yk_v3_sub(v, s->point[0]);
    if (s->count == 2) {
        double t = yk_v3_dot(av, ab) / yk_v3_norm2(ab);
        return yk_v3_axpy(t, yk_v3_sub(s->on_a[1], s->on_a[0]), s->on_a[0]);
    }

    /* A triangle: barycentric weights from areas. */
    yk_vec3 ac = yk_v3_sub(s->point[2], s->point[0]);
    yk_vec3 n = yk_v3_cross(ab, ac);
    double area = yk_v3_norm2(n);
    double wb = yk_v3_dot(n, yk_v3_cross(av, ac)) / area;
    double wc = yk_v3_dot(n, yk_v3_cross(ab, av)) / area;
    yk_vec3 p = yk_v3_axpy(wb, yk_v3_sub(s->on_a[1], s->on_a[0]), s->on_a[0]);
    return yk_v3_axpy(wc, yk_v3_sub(s->on_a[2], s->on_a[0]), p);
}

/* The shortest vector from a to b, and the point of a where it begins; zero where they overlap or
 * touch. */
static yk_vec3 gjk(const core *a, const core *b, double scale, yk_vec3 *on_a)
{
    /* The first direction is from middle to middle. */
    simplex s = {.count = 0}, kept = s;

    yk_vec3 v = yk_v3_sub(yk_v3_add(b->middle, b->shift), yk_v3_add(a->middle, a->shift));
    if (yk_v3_norm2(v) == 0)
        v.x = scale;

    double shortest = INFINITY;
    for (int i = 0; i < GJK_LIMIT; i++) {
        yk_vec3 pa = core_support(a, v);
        yk_vec3 w = yk_v3_sub(core_support(b, yk_v3_neg(v)), pa);

        /* No point of the difference is nearer along v by more than rounding. */
        double rounding = 1e-14 * (yk_v3_norm2(v) + 1e-4 * scale * yk_v3_norm(v));
        if (i > 0 && yk_v3_norm2(v) - yk_v3_dot(v, w) <= rounding)
            break;

        /* The simplex grows by this point, and loses those that do not carry the nearest one. */
        s.point[s.count] = w;
        s.on_a[s.count++] = pa;
        yk_vec3 next = w;
        switch (s.count) {
        case 2: next = nearest_on_segment(&s); break;
        case 3: next = nearest_on_triangle(&s); break;
        case 4: next = nearest_on_tetrahedron(&s); break;
        }

        /* Rounding ends the search: a length of zero, or one that no longer falls. */
        double length = yk_v3_norm2(next);
        if (length <= 1e-24 * scale * scale)
            return yk_v3(0, 0, 0);
        if (length >= shortest)
            break; /* rounding: no progress any more */

        shortest = length;
        v = next;
        kept = s;
    }

    *on_a = witness(&kept, v);
    return v;
}

/* Overlaps ------------------------------------------------------------------------------------- */

static double gap_along(const core *a, const core *b, yk_vec3 d)
{
    return yk_v3_dot(d, yk_v3_sub(core_support(b, yk_v3_neg(d)), core_support(a, d)));
}

/* A first direction, from solids thin enough to be apart. */
static yk_vec3 guess_direction(const yk_solid *a, const yk_solid *b, double scale)
{
    static const double ratios[] = {0.05, 0.3, 0.9};
    for (int i = 0; i < 3; i++) {
        core thin_a = make_core(a, ratios[i]), thin_b = make_core(b, ratios[i]);

        yk_vec3 ignored;
        yk_vec3 v = gjk(&thin_a, &thin_b, scale, &ignored);
        if (yk_v3_norm(v) > 1e-6 * scale)
            return yk_v3_unit(v);
    }

    /* Deep inside each other: from middle to middle. */
    yk_vec3 v = yk_v3_unit(yk_v3_sub(middle_of(b), middle_of(a)));
    return yk_v3_norm2(v) > 0 ? v : yk_v3(0, 0, 1);
}

/* Improves the direction of least overlap; returns the gap along it. */
static double climb(const core *a, const core *b, double scale, yk_vec3 *direction, yk_vec3 *on_a)
{
    double gap = gap_along(a, b, *direction);
    double apart = 0.01 * scale;

    for (int i = 0; i < CLIMB_LIMIT; i++) {
        /* Shifted so far that a plane with this normal separates them. */
        core shifted = *b;
        shifted.shift = yk_v3_scale(apart - gap, *direction);
        yk_vec3 point;
        yk_vec3 v = gjk(a, &shifted, scale, &point);

        double length = yk_v3_norm(v);
        if (!(length > 0.1 * apart))
            break;

        /* Accepted while the gap does not fall. */
        yk_vec3 better = yk_v3_scale(1 / length, v);
        double rise = gap_along(a, b, better) - gap;
        if (!(rise >= 0))
            break;

        *direction = better;
        *on_a = point;
        gap += rise;
        if (rise < 1e-12 * scale)
            break;
    }

    return gap;
}

double yk_solid_direction(const yk_solid *a, const yk_solid *b, yk_vec3 *direction, yk_vec3 *point)
{
    double scale = fmin(yk_solid_radius(a), yk_solid_radius(b));
    double skins = yk_solid_skin(a) + yk_solid_skin(b);
    core core_a = make_core(a, 0), core_b = make_core(b, 0);

    /* Apart under their skins: the shortest vector between them. Else the direction of least
     * overlap. */
    yk_vec3 on_a, d;
    yk_vec3 v = gjk(&core_a, &core_b, scale, &on_a);
    double gap = yk_v3_norm(v);
    if (gap > 1e-4 * scale) {
        d = yk_v3_scale(1 / gap, v);
    } else {
        d = guess_direction(a, b, scale);
        on_a = core_support(&core_a, d);
        gap = climb(&core_a, &core_b, scale, &d, &on_a);
    }

    /* Skins are added to the cores along the direction. */
    *direction = d;
    *point = yk_v3_axpy(yk_solid_skin(a), d, on_a);
    return gap - skins;
}
