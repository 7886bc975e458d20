/* Distance of two convex solids by GJK (Gilbert, Johnson, Keerthi 1988), and the direction of least
 * overlap.
 *
 * The search uses support points only; rounded solids (sphere, capsule) are represented by the
 * point or line under their skin. GJK finds the nearest points of solids that are apart. Overlaps
 * are reduced to that case: b is shifted along an estimate of the direction until a plane separates
 * the two, and GJK gives a better direction. The gap along it, min over b minus max over a, never
 * decreases from step to step, so that the iteration converges to a least overlap among the
 * neighbouring directions. If the first estimate is made with slightly thinner solids, this is the
 * correct direction unless a solid has passed half through the other. */
#include "nonsmooth/solids/solid.h"

/* Largest numbers of iterations of a search, of iterations without a shorter vector, and of steps
 * towards the least overlap. A far point can improve the direction while the change of the length,
 * which is of second order, is below rounding errors. */
enum { GJK_LIMIT = 64, STALL_LIMIT = 8, CLIMB_LIMIT = 32 };

/* Difference of the bounds of a distance at which the search ends, relative to the distance and to
 * the size of the solids. */
static const double DUALITY_GAP = 1e-14;

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

/* Radius about the middle. The origin of the frame of hulls and triangles may be far away. */
static double extent_of(const yk_solid *solid)
{
    if (solid->point_count == 0)
        return yk_solid_radius(solid);

    yk_vec3 middle =
        yk_m3_apply_transposed(solid->rotation, yk_v3_sub(middle_of(solid), solid->position));
    double radius = 0;
    for (int i = 0; i < solid->point_count; i++)
        radius = fmax(radius, yk_v3_norm(yk_v3_sub(solid->points[i], middle)));
    return radius;
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

    /* Remove the skin of rounded solids; make the others thinner relative to their size, or about
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

/* Simplices ------------------------------------------------------------------------------------ */

/* Up to four points of the difference b - a, and the weights of the point of their convex hull that
 * is nearest to the origin. That point is always formed from weights that are not negative, so that
 * it belongs to the difference, and its length is an upper bound of the distance, no matter how flat
 * the simplex is. Weights are computed from edges, which stay accurate when the points of a curved
 * surface come close to each other, and not from the points themselves. */
typedef struct simplex {
    yk_vec3 point[4];
    yk_vec3 on_a[4];
    double weight[4];
    int count;
    yk_vec3 nearest;
} simplex;

static simplex simplex_of_corner(const simplex *s, int i)
{
    return (simplex){.point = {s->point[i]},
                     .on_a = {s->on_a[i]},
                     .weight = {1},
                     .count = 1,
                     .nearest = s->point[i]};
}

static simplex shorter_of(const simplex *a, const simplex *b)
{
    return yk_v3_norm2(b->nearest) < yk_v3_norm2(a->nearest) ? *b : *a;
}

static simplex nearest_on_edge(const simplex *s, int i, int k)
{
    yk_vec3 a = s->point[i];
    yk_vec3 ab = yk_v3_sub(s->point[k], a);
    double t = -yk_v3_dot(a, ab), length = yk_v3_norm2(ab);

    if (t <= 0 || length == 0)
        return simplex_of_corner(s, i);
    if (t >= length)
        return simplex_of_corner(s, k);

    t /= length;
    return (simplex){.point = {a, s->point[k]},
                     .on_a = {s->on_a[i], s->on_a[k]},
                     .weight = {1 - t, t},
                     .count = 2,
                     .nearest = yk_v3_axpy(t, ab, a)};
}

/* Ratio of height to longest edge below which a triangle counts as flat. Rounding then decides on
 * which side of its edges the origin is, so that the edges are tried in any case. */
static const double FLAT_TRIANGLE = 1e-5;

/* Nearest point of a triangle. Corner l is the newest one: the edge opposite it cannot be nearer. */
static simplex nearest_on_triangle(const simplex *s, int i, int k, int l)
{
    /* Along the longest edge first: the result is as accurate as the points, even if the third one
     * is very close to that edge. */
    double ik = yk_v3_norm2(yk_v3_sub(s->point[k], s->point[i]));
    double kl = yk_v3_norm2(yk_v3_sub(s->point[l], s->point[k]));
    double li = yk_v3_norm2(yk_v3_sub(s->point[i], s->point[l]));
    int corner[3] = {i, k, l};
    if (kl > ik && kl >= li) {
        corner[0] = k, corner[1] = l, corner[2] = i;
    } else if (li > ik) {
        corner[0] = l, corner[1] = i, corner[2] = k;
    }

    yk_vec3 a = s->point[corner[0]];
    yk_vec3 ab = yk_v3_sub(s->point[corner[1]], a);
    yk_vec3 ac = yk_v3_sub(s->point[corner[2]], a);
    double length = yk_v3_norm(ab);
    yk_vec3 along = yk_v3_unit(ab);
    yk_vec3 across = yk_v3_axpy(-yk_v3_dot(ac, along), along, ac);
    double height = yk_v3_norm(across);
    across = yk_v3_unit(across);

    /* Weights of b and c at the foot of the origin on the plane of the triangle. */
    bool inside = false;
    simplex face = {.count = 0};
    if (height > 0) {
        double c = -yk_v3_dot(a, across) / height;
        double b = (-yk_v3_dot(a, along) - c * yk_v3_dot(ac, along)) / length;
        inside = b >= 0 && c >= 0 && b + c <= 1;
        face = (simplex){.weight = {1 - b - c, b, c}, .count = 3};
        face.nearest = yk_v3_axpy(c, ac, yk_v3_axpy(b, ab, a));
    }

    if (inside) {
        for (int n = 0; n < 3; n++) {
            face.point[n] = s->point[corner[n]];
            face.on_a[n] = s->on_a[corner[n]];
        }

        /* Near the origin the sum loses its direction, which the normal keeps. */
        if (yk_v3_norm(face.nearest) < height) {
            yk_vec3 normal = yk_v3_unit(yk_v3_cross(along, across));
            face.nearest = yk_v3_scale(yk_v3_dot(normal, a), normal);
        }
        if (height > FLAT_TRIANGLE * length)
            return face;
    }

    simplex best = nearest_on_edge(s, k, l), other = nearest_on_edge(s, l, i);
    best = shorter_of(&best, &other);
    return inside ? shorter_of(&best, &face) : best;
}

/* Whether the origin is strictly on the inner side of each face. */
static bool encloses_origin(const simplex *s)
{
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
    for (int i = 0; i < 4; i++) {
        yk_vec3 a = s->point[face[i][0]], b = s->point[face[i][1]], c = s->point[face[i][2]];
        yk_vec3 n = yk_v3_cross(yk_v3_sub(b, a), yk_v3_sub(c, a));
        double origin = -yk_v3_dot(n, a);
        double other = yk_v3_dot(n, yk_v3_sub(s->point[face[i][3]], a));
        if (!(origin * other > 0))
            return false;
    }
    return true;
}

/* Reduces the simplex to the points that carry the nearest one. The last point is the newest: the
 * others were reduced before, so that only edges and faces with the newest point can be nearer. */
static simplex reduce(const simplex *s)
{
    switch (s->count) {
    case 1: return simplex_of_corner(s, 0);
    case 2: return nearest_on_edge(s, 0, 1);
    case 3: return nearest_on_triangle(s, 0, 1, 2);
    default: break;
    }

    simplex best = nearest_on_triangle(s, 0, 1, 3);
    simplex other = nearest_on_triangle(s, 1, 2, 3);
    best = shorter_of(&best, &other);
    other = nearest_on_triangle(s, 2, 0, 3);
    return shorter_of(&best, &other);
}

static bool has_point(const simplex *s, yk_vec3 p)
{
    for (int i = 0; i < s->count; i++)
        if (s->point[i].x == p.x && s->point[i].y == p.y && s->point[i].z == p.z)
            return true;
    return false;
}

/* Distances ------------------------------------------------------------------------------------ */

/* The widest slab between two cores: a plane with this unit normal, from a to b, separates them by
 * the gap, and `on_a` is the nearest point of a. A gap of 0 means that none was found: the cores
 * overlap or touch, and the other results are undefined. */
typedef struct separation {
    double gap;
    yk_vec3 direction;
    yk_vec3 on_a;
} separation;

/* With the support point w of b - a along -v, all points x of b - a have v.x >= v.w. Therefore the
 * distance is at least v.w / |v|; it is at most |v|, because v belongs to b - a. The search ends when
 * the bounds agree or rounding stops both, and returns the plane of the best lower bound. At curved
 * surfaces that is not always the last one: the points of the simplex come so close to each other
 * that rounding turns its normal.
 *
 * A positive lower bound proves that the cores are apart. A flat tetrahedron that seems to enclose
 * the origin is then an effect of rounding, and must not be taken for an overlap. */
static separation gjk(const core *a, const core *b, double scale)
{
    /* The first direction connects the middles. */
    yk_vec3 v = yk_v3_sub(yk_v3_add(b->middle, b->shift), yk_v3_add(a->middle, a->shift));
    if (yk_v3_norm2(v) == 0)
        v.x = 1;

    separation best = {.gap = 0};
    simplex s = {.count = 0};
    double shortest = INFINITY;
    int stalls = 0;
    bool separated = false;
    for (int i = 0; i < GJK_LIMIT; i++) {
        yk_vec3 pa = core_support(a, v);
        yk_vec3 w = yk_v3_sub(core_support(b, yk_v3_neg(v)), pa);

        double length = yk_v3_norm(v);
        yk_vec3 direction = yk_v3_scale(1 / length, v);
        double least = yk_v3_dot(direction, w);
        separated = separated || least > 0;
        if (i > 0 && least > best.gap) {
            best.gap = least;
            best.direction = direction;
        }
        if (i > 0 && length - least <= DUALITY_GAP * (length + scale))
            break;

        /* No other point is beyond the plane of the simplex. */
        if (has_point(&s, w))
            break;

        simplex grown = s;
        grown.point[grown.count] = w;
        grown.on_a[grown.count++] = pa;
        if (grown.count == 4 && !separated && encloses_origin(&grown))
            return (separation){.gap = 0};

        simplex next = reduce(&grown);
        double squared = yk_v3_norm2(next.nearest);
        if (squared <= 1e-24 * scale * scale)
            return (separation){.gap = 0};
        bool stalled = !(squared < shortest);
        stalls += stalled;
        if (stalled && (stalls > STALL_LIMIT || squared > shortest * (1 + 1e-14)))
            break;

        shortest = fmin(squared, shortest);
        s = next;
        v = s.nearest;
    }

    for (int i = 0; i < s.count; i++)
        best.on_a = yk_v3_axpy(s.weight[i], s.on_a[i], best.on_a);
    return best;
}

/* Overlaps ------------------------------------------------------------------------------------- */

static double gap_along(const core *a, const core *b, yk_vec3 d)
{
    return yk_v3_dot(d, yk_v3_sub(core_support(b, yk_v3_neg(d)), core_support(a, d)));
}

/* Initial direction, from solids thin enough to be apart. */
static yk_vec3 guess_direction(const yk_solid *a, const yk_solid *b, double scale)
{
    static const double ratios[] = {0.05, 0.3, 0.9};
    for (int i = 0; i < 3; i++) {
        core thin_a = make_core(a, ratios[i]), thin_b = make_core(b, ratios[i]);

        separation apart = gjk(&thin_a, &thin_b, scale);
        if (apart.gap > 1e-6 * scale)
            return apart.direction;
    }

    /* If they overlap deeply: from middle to middle. */
    yk_vec3 v = yk_v3_unit(yk_v3_sub(middle_of(b), middle_of(a)));
    return yk_v3_norm2(v) > 0 ? v : yk_v3(0, 0, 1);
}

/* Improves a direction until its neighbours have no wider gap.
 *
 * b is shifted along the direction until the gap is `apart`, and moves away from a saddle by a factor
 * of 1 - gap / apart per step. Therefore `apart` is about as large as the overlap, and large enough
 * for rounding not to turn the direction. */
static separation climb(const core *a, const core *b, double scale, yk_vec3 direction)
{
    separation best = {gap_along(a, b, direction), direction, core_support(a, direction)};

    for (int i = 0; i < CLIMB_LIMIT; i++) {
        double apart = fmin(0.01 * scale, fmax(fabs(best.gap), 1e-6 * scale));
        core shifted = *b;
        shifted.shift = yk_v3_scale(apart - best.gap, best.direction);
        separation found = gjk(a, &shifted, scale);
        if (!(found.gap > 0.1 * apart))
            break;

        /* Rounding errors may lower the gap of a direction that is already the best one. */
        double rise = gap_along(a, b, found.direction) - best.gap;
        if (rise < -1e-8 * scale)
            break;

        best.on_a = found.on_a;
        if (!(rise >= 0))
            break;

        best.direction = found.direction;
        best.gap += rise;
        if (rise < 1e-12 * scale)
            break;
    }

    return best;
}

double yk_solid_direction(const yk_solid *a, const yk_solid *b, yk_vec3 *direction, yk_vec3 *point)
{
    double scale = fmin(extent_of(a), extent_of(b));
    core core_a = make_core(a, 0), core_b = make_core(b, 0);

    /* A shorter vector has no accurate direction. */
    separation found = gjk(&core_a, &core_b, scale);
    if (!(found.gap > 1e-6 * scale))
        found = climb(&core_a, &core_b, scale, guess_direction(a, b, scale));

    /* Skins are added to the cores along the direction. */
    *direction = found.direction;
    *point = yk_v3_axpy(yk_solid_skin(a), found.direction, found.on_a);
    return found.gap - yk_solid_skin(a) - yk_solid_skin(b);
}
