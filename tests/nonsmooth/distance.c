/* Distance, direction and nearest points of all pairs of finite kinds of solids.
 *
 * The search (gjk.c) is not compared with another search. Each answer is proved instead: a plane
 * that separates the solids by the gap bounds the distance from below, and two points of the solids
 * that are the gap apart bound it from above. Support points and membership are computed here from
 * the definitions of the solids.
 *
 * Every pair of kinds in every arrangement has a random stream of its own for every seed.
 * `test_distance 1000` takes 1000 seeds instead of 12. */
#include <stdlib.h>

#include "samples.h"

enum { SEEDS = 12, ROUNDS = 20, DIRECTIONS = 50 };

static int seed_count = SEEDS;

/* Definitions of the solids -------------------------------------------------------------------- */

static double sign_of(double x)
{
    return x < 0 ? -1 : 1;
}

/* The largest d.x of all points x of the solid. */
static double reach_along(const yk_solid *solid, yk_vec3 d)
{
    yk_vec3 u = yk_m3_apply_transposed(solid->rotation, d), s = solid->size;
    double at = yk_v3_dot(d, solid->position), most = -INFINITY;
    switch (solid->kind) {
    case YK_SOLID_SPHERE: return at + s.x * yk_v3_norm(u);
    case YK_SOLID_CAPSULE: return at + s.x * yk_v3_norm(u) + s.z * fabs(u.z);
    case YK_SOLID_BOX: return at + s.x * fabs(u.x) + s.y * fabs(u.y) + s.z * fabs(u.z);
    case YK_SOLID_CYLINDER: return at + s.x * hypot(u.x, u.y) + s.z * fabs(u.z);
    case YK_SOLID_ELLIPSOID: return at + yk_v3_norm(yk_v3(s.x * u.x, s.y * u.y, s.z * u.z));
    case YK_SOLID_HULL:
    case YK_SOLID_MESH:
        for (int i = 0; i < solid->point_count; i++)
            most = fmax(most, yk_v3_dot(u, solid->points[i]));
        return at + most;
    case YK_SOLID_PLANE:
    case YK_SOLID_CYLINDER_CAVITY:
    case YK_SOLID_BOX_CAVITY: break;
    }
    fail_msg("not a finite solid");
    return 0;
}

/* How far b is beyond a along a unit direction; negative if no plane with this normal separates
 * them. */
static double gap_along(const yk_solid *a, const yk_solid *b, yk_vec3 d)
{
    return -reach_along(b, yk_v3_neg(d)) - reach_along(a, d);
}

/* How far a point is beyond the faces of a hull: all planes through three points that have the
 * others on one side. */
static double outside_of_hull(const yk_vec3 *p, int count, yk_vec3 at)
{
    double most = -INFINITY;
    for (int i = 0; i < count; i++) {
        for (int k = i + 1; k < count; k++) {
            for (int l = k + 1; l < count; l++) {
                yk_vec3 n = yk_v3_cross(yk_v3_sub(p[k], p[i]), yk_v3_sub(p[l], p[i]));
                if (!(yk_v3_norm(n) > 1e-9))
                    continue;

                n = yk_v3_unit(n);
                double low = 0, high = 0;
                for (int m = 0; m < count; m++) {
                    double height = yk_v3_dot(n, yk_v3_sub(p[m], p[i]));
                    low = fmin(low, height);
                    high = fmax(high, height);
                }

                double height = yk_v3_dot(n, yk_v3_sub(at, p[i]));
                if (high < 1e-10)
                    most = fmax(most, height);
                if (low > -1e-10)
                    most = fmax(most, -height);
            }
        }
    }
    return most;
}

static double outside_of_triangle(const yk_vec3 *p, yk_vec3 at)
{
    yk_vec3 n = yk_v3_unit(yk_v3_cross(yk_v3_sub(p[1], p[0]), yk_v3_sub(p[2], p[0])));
    double most = fabs(yk_v3_dot(n, yk_v3_sub(at, p[0])));
    for (int i = 0; i < 3; i++) {
        yk_vec3 edge = yk_v3_sub(p[(i + 1) % 3], p[i]);
        yk_vec3 outward = yk_v3_unit(yk_v3_cross(edge, n));
        most = fmax(most, yk_v3_dot(outward, yk_v3_sub(at, p[i])));
    }
    return most;
}

/* How far a point violates the definition of the solid; at most 0 inside. */
static double outside_of(const yk_solid *solid, yk_vec3 at)
{
    yk_vec3 p = yk_m3_apply_transposed(solid->rotation, yk_v3_sub(at, solid->position));
    yk_vec3 s = solid->size;
    switch (solid->kind) {
    case YK_SOLID_SPHERE: return yk_v3_norm(p) - s.x;
    case YK_SOLID_CAPSULE:
        p.z = fabs(p.z) > s.z ? p.z - sign_of(p.z) * s.z : 0;
        return yk_v3_norm(p) - s.x;
    case YK_SOLID_BOX: return fmax(fabs(p.x) - s.x, fmax(fabs(p.y) - s.y, fabs(p.z) - s.z));
    case YK_SOLID_CYLINDER: return fmax(hypot(p.x, p.y) - s.x, fabs(p.z) - s.z);
    case YK_SOLID_ELLIPSOID: return yk_v3_norm(yk_v3(p.x / s.x, p.y / s.y, p.z / s.z)) - 1;
    case YK_SOLID_HULL: return outside_of_hull(solid->points, solid->point_count, p);
    case YK_SOLID_MESH: return outside_of_triangle(solid->points, p);
    case YK_SOLID_PLANE:
    case YK_SOLID_CYLINDER_CAVITY:
    case YK_SOLID_BOX_CAVITY: break;
    }
    fail_msg("not a finite solid");
    return 0;
}

/* Answers -------------------------------------------------------------------------------------- */

/* Errors of an answer (m). */
typedef struct answer_errors {
    double plane;     /* the gap is not that of the plane */
    double points;    /* a nearest point is not on its solid */
    double order;     /* the gap of b and a is another one */
    double direction; /* another direction has a wider gap */
} answer_errors;

/* If the gap is accurate to 1e-14 m, nearest points on curved surfaces at a distance of 5 m are
 * accurate to sqrt(2 * 5 m * 1e-14 m). */
static const answer_errors tolerance = {1e-12, 4e-7, 1e-9, 1e-9};

/* Beyond this overlap (m) the direction is an estimate. */
static const double DEEP = 0.1;

static answer_errors worse_of(answer_errors a, answer_errors b)
{
    return (answer_errors){fmax(a.plane, b.plane), fmax(a.points, b.points), fmax(a.order, b.order),
                           fmax(a.direction, b.direction)};
}

static bool is_tolerable(answer_errors e)
{
    return e.plane < tolerance.plane && e.points < tolerance.points && e.order < tolerance.order &&
           e.direction < tolerance.direction;
}

/* How much wider the gap is along some other directions, most of them close. The direction of an
 * overlap is the best one among its neighbours only, to 1e-3 of its depth: at an angle to it the
 * overlap may be reduced to 2 cos(angle) - 1 of its depth. */
static double widen_gap(const yk_solid *a, const yk_solid *b, double gap, yk_vec3 d,
                        uint64_t *stream)
{
    double most = 0;
    for (int k = 0; k < DIRECTIONS; k++) {
        yk_vec3 e = random_direction(stream);
        if (k % 3)
            e = yk_v3_unit(yk_v3_axpy(pow(10, -1 - k % 7), e, d));

        double slack = gap > 0 ? 0 : (2e-6 - 2 * gap) * (1 - yk_v3_dot(d, e)) - 1e-3 * gap;
        most = fmax(most, gap_along(a, b, e) - gap - slack);
    }
    return most;
}

static answer_errors check_answer(const yk_solid *a, const yk_solid *b, uint64_t *stream,
                                  double *gap)
{
    yk_vec3 d, back, at, ignored;
    *gap = yk_solid_direction(a, b, &d, &at);
    assert_near(yk_v3_norm(d), 1, 1e-14);

    double points = fmax(outside_of(a, at), reach_along(a, d) - yk_v3_dot(d, at));
    if (*gap > 0)
        points = fmax(points, outside_of(b, yk_v3_axpy(*gap, d, at)));

    /* The iteration for the direction of an overlap ends at 1e-3 of its depth at worst. */
    double order = fabs(yk_solid_direction(b, a, &back, &ignored) - *gap);
    order -= 1e-3 * fmax(0, -*gap);
    return (answer_errors){
        .plane = fabs(gap_along(a, b, d) - *gap),
        .points = points,
        .order = *gap > -DEEP ? order : 0,
        .direction = *gap > -DEEP ? widen_gap(a, b, *gap, d, stream) : 0,
    };
}

/* Moves b along the direction between the solids until they are at this gap. */
static void move_to_gap(const yk_solid *a, yk_solid *b, uint64_t *stream, double gap)
{
    yk_vec3 d, at;
    b->position = yk_v3_axpy(6, random_direction(stream), b->position);
    double present = yk_solid_direction(a, b, &d, &at);
    b->position = yk_v3_axpy(gap - present, d, b->position);
}

typedef struct tally {
    int apart, overlapping, streams, failed;
    answer_errors worst;
} tally;

static void check_stream(int first, int second, arrangement how, int seed, tally *t)
{
    /* Neighbouring numbers start far from each other in the sequence of yk_random. */
    uint64_t number = (((uint64_t)seed * ARRANGEMENTS + how) * KINDS + (uint64_t)first) * KINDS +
                      (uint64_t)second;
    uint64_t stream = number * UINT64_C(0xd1342543de82ef95);
    bool passed = true;

    for (int round = 0; round < ROUNDS; round++) {
        sample a, b;
        make_sample(&stream, kinds[first].kind, how, &a);
        make_sample(&stream, kinds[second].kind, how, &b);
        if (how == TOUCHING || how == DISTANT)
            move_to_gap(&a.solid, &b.solid, &stream, between(&stream, -0.01, 0.01));

        double gap;
        answer_errors e = check_answer(&a.solid, &b.solid, &stream, &gap);
        t->apart += gap > 0;
        t->overlapping += gap <= 0;
        t->worst = worse_of(t->worst, e);
        if (passed && !is_tolerable(e))
            print_error("%s and %s, %s, seed %d, pair %d, gap %.3g: plane %.1e, points %.1e, order "
                        "%.1e, direction %.1e\n",
                        kinds[first].name, kinds[second].name, arrangement_names[how], seed, round,
                        gap, e.plane, e.points, e.order, e.direction);
        passed = passed && is_tolerable(e);
    }

    t->streams++;
    t->failed += !passed;
}

static void test_all_pairs_of_kinds(void **state)
{
    (void)state;
    int streams = 0, failed = 0;
    for (int first = 0; first < KINDS; first++) {
        for (int second = first; second < KINDS; second++) {
            tally t = {0};
            for (int how = 0; how < ARRANGEMENTS; how++)
                for (int seed = 1; seed <= seed_count; seed++)
                    check_stream(first, second, how, seed, &t);

            print_message("%-8s %-8s %7d apart, %7d overlapping; errors (m): plane %.0e, points "
                          "%.0e, order %.0e, direction %.0e\n",
                          kinds[first].name, kinds[second].name, t.apart, t.overlapping,
                          t.worst.plane, t.worst.points, t.worst.order, t.worst.direction);
            assert_true(t.apart > 20 * seed_count && t.overlapping > seed_count);
            streams += t.streams;
            failed += t.failed;
        }
    }
    print_message("%d of %d streams of %d pairs pass\n", streams - failed, streams, ROUNDS);
    assert_int_equal(failed, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seed_count = atoi(argv[1]);

    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_pairs_of_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
