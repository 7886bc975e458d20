/* Contact points of solids, against hand-made answers and against brute force. */
#include "base/pool.h"
#include "math/so3.h"
#include "nonsmooth/collision.h"
#include "nonsmooth/narrow_phase.h"
#include "nonsmooth/solids/solid.h"
#include <string.h>

#include "test.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double uniform(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) * 0x1p-53;
}

static yk_solid solid(yk_solid_kind kind, yk_vec3 size, yk_vec3 position)
{
    return (yk_solid){
        .kind = kind, .size = size, .position = position, .rotation = yk_m3_identity()};
}

static void assert_vector(yk_vec3 actual, double x, double y, double z, double tolerance)
{
    assert_near(actual.x, x, tolerance);
    assert_near(actual.y, y, tolerance);
    assert_near(actual.z, z, tolerance);
}

/* Conditions that every contact point must satisfy. */
static void check_points(const yk_touch *list, int count, double margin)
{
    for (int i = 0; i < count; i++) {
        assert_near(yk_v3_norm(list[i].normal), 1, 1e-12);
        assert_true(list[i].gap < margin);
        assert_near(yk_v3_dot(list[i].normal, yk_v3_sub(list[i].point_b, list[i].point_a)),
                    list[i].gap, 1e-9);
        for (int k = 0; k < i; k++)
            assert_true(list[k].feature != list[i].feature);
    }
}

typedef struct kind_traits {
    yk_solid_kind kind;
    const char *name;
    bool finite, mass, points, ball, thin;
} kind_traits;

static void test_traits_of_kinds(void **state)
{
    (void)state;
    static const kind_traits kinds[] = {
        {.kind = YK_SOLID_SPHERE, "sphere", .finite = true, .mass = true, .ball = true},
        {.kind = YK_SOLID_BOX, "box", .finite = true, .mass = true},
        {.kind = YK_SOLID_CYLINDER, "cylinder", .finite = true, .mass = true},
        {.kind = YK_SOLID_CAPSULE, "capsule", .finite = true, .mass = true},
        {.kind = YK_SOLID_HULL, "hull", .finite = true, .mass = true, .points = true},
        {.kind = YK_SOLID_BOX_CAVITY, "box-cavity"},
        {.kind = YK_SOLID_CYLINDER_CAVITY, "cylinder-cavity"},
        {.kind = YK_SOLID_PLANE, "plane"},
        {.kind = YK_SOLID_ELLIPSOID, "ellipsoid", .finite = true, .mass = true},
        {.kind = YK_SOLID_MESH, "mesh", .finite = true, .points = true, .thin = true},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        yk_solid_kind kind = kinds[i].kind;
        assert_int_equal(yk_solid_kind_named(kinds[i].name), kind);
        assert_int_equal(yk_solid_is_finite(kind), kinds[i].finite);
        assert_int_equal(yk_solid_is_ball(kind), kinds[i].ball);
        assert_int_equal(yk_solid_is_thin(kind), kinds[i].thin);
        assert_int_equal(yk_solid_has_mass(kind), kinds[i].mass);
        assert_int_equal(yk_solid_has_points(kind), kinds[i].points);
    }

    /* Shapes that cannot touch, and unknown numbers. */
    static const int others[] = {YK_SHAPE_LINE, YK_SHAPE_JOINT, YK_SOLID_MESH + 1, -1};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        yk_solid unknown = solid((yk_solid_kind)others[i], yk_v3(1, 1, 1), yk_v3(0, 0, 0));
        assert_false(yk_solid_is_valid(&unknown));
    }
}

/* Requirements of yk_collide on the places of two kinds in a pair. */
static void test_places_in_pairs(void **state)
{
    (void)state;
    for (int i = 0; i <= YK_SOLID_MESH; i++) {
        const yk_solid_ops *a = yk_solid_ops_of((yk_solid_kind)i);
        if (!a)
            continue;
        bool finite = yk_solid_is_finite((yk_solid_kind)i);
        assert_int_equal(finite, !a->collide_finite);
        for (int k = 0; k <= YK_SOLID_MESH; k++) {
            const yk_solid_ops *b = yk_solid_ops_of((yk_solid_kind)k);
            if (!b || i == k)
                continue;
            int place_a = yk_solid_place_in_pair((yk_solid_kind)i);
            int place_b = yk_solid_place_in_pair((yk_solid_kind)k);
            assert_true(place_a != place_b);
            if (a->ball || (finite && (b->collide_finite || b->plane_normal)))
                assert_true(place_a < place_b);
        }
    }
}

static void test_sphere_pairs(void **state)
{
    (void)state;
    yk_touch list[YK_MANIFOLD_MAX];
    yk_solid ball = solid(YK_SOLID_SPHERE, yk_v3(1, 0, 0), yk_v3(0, 0, 0));
    yk_solid other = solid(YK_SOLID_SPHERE, yk_v3(2, 0, 0), yk_v3(0, 3.1, 0));
    assert_int_equal(yk_collide(&ball, &other, 0.2, list), 1);
    check_points(list, 1, 0.2);
    assert_vector(list[0].normal, 0, 1, 0, 1e-15);
    assert_near(list[0].gap, 0.1, 1e-15);
    assert_int_equal(yk_collide(&ball, &other, 0.05, list), 0);

    yk_solid box = solid(YK_SOLID_BOX, yk_v3(1, 2, 3), yk_v3(1 + sqrt(0.5), 2 + sqrt(0.5), 0));
    assert_int_equal(yk_collide(&box, &ball, 0.1, list), 1);
    check_points(list, 1, 0.1);
    assert_vector(list[0].normal, -sqrt(0.5), -sqrt(0.5), 0, 1e-12);
    assert_near(list[0].gap, 0, 1e-12);

    yk_solid inside = solid(YK_SOLID_BOX, yk_v3(5, 5, 5), yk_v3(0, 0, -4.5));
    assert_int_equal(yk_collide(&ball, &inside, 0.1, list), 1);
    assert_vector(list[0].normal, 0, 0, -1, 1e-12);
    assert_near(list[0].gap, -1.5, 1e-12);

    yk_solid capsule = solid(YK_SOLID_CAPSULE, yk_v3(0.5, 0, 2), yk_v3(1.5, 0, 1.5));
    assert_int_equal(yk_collide(&ball, &capsule, 0.1, list), 1);
    check_points(list, 1, 0.1);
    assert_near(list[0].gap, 0, 1e-12);

    yk_solid rod = solid(YK_SOLID_CYLINDER, yk_v3(0.5, 0, 2), yk_v3(0.5 + 0.6, 0, 2.8));
    assert_int_equal(yk_collide(&ball, &rod, 0.1, list), 1); /* the rim at (0.6, 0, 0.8) */
    check_points(list, 1, 0.1);
    assert_vector(list[0].normal, 0.6, 0, 0.8, 1e-12);

    yk_vec3 corners[3] = {{-1, -1, 0}, {1, -1, 0}, {0, 2, 0}};
    yk_solid triangle = {.kind = YK_SOLID_MESH,
                         .position = {0, 0, -0.95},
                         .rotation = yk_m3_identity(),
                         .points = corners,
                         .point_count = 3};
    assert_int_equal(yk_collide(&ball, &triangle, 0.1, list), 1);
    assert_vector(list[0].normal, 0, 0, -1, 1e-12);
    assert_near(list[0].gap, -0.05, 1e-12);
    assert_int_equal(list[0].feature, 0);
    triangle.position = yk_v3(0, 1.6, -0.8); /* the lower edge, at (0, 0.6, -0.8) */
    assert_int_equal(yk_collide(&ball, &triangle, 0.1, list), 1);
    assert_vector(list[0].normal, 0, 0.6, -0.8, 1e-12);
    assert_true(list[0].feature > 0);
}

static void test_cavities(void **state)
{
    (void)state;
    yk_touch list[YK_MANIFOLD_MAX];
    yk_solid can = solid(YK_SOLID_CYLINDER_CAVITY, yk_v3(10, 0, 5), yk_v3(0, 0, 0));
    yk_solid ball = solid(YK_SOLID_SPHERE, yk_v3(1, 0, 0), yk_v3(9 * 0.6, 9 * 0.8, -4));
    int count = yk_collide(&ball, &can, 0.01, list);
    assert_int_equal(count, 2); /* wall and bottom */
    check_points(list, count, 0.01);
    assert_vector(list[0].normal, 0.6, 0.8, 0, 1e-12);
    assert_vector(list[1].normal, 0, 0, -1, 1e-12);
    can.open = YK_WALL_BOTTOM;
    assert_int_equal(yk_collide(&ball, &can, 0.01, list), 1);
    can.open = YK_WALL_BOTTOM | YK_WALL_LEFT;
    assert_int_equal(yk_collide(&ball, &can, 0.01, list), 0);

    yk_solid room = solid(YK_SOLID_BOX_CAVITY, yk_v3(5, 5, 5), yk_v3(0, 0, 0));
    ball.position = yk_v3(-4, 4, 4.005);
    count = yk_collide(&ball, &room, 0.01, list);
    assert_int_equal(count, 3);
    check_points(list, count, 0.01);
    assert_near(list[2].gap, -0.005, 1e-12);

    yk_solid box = solid(YK_SOLID_BOX, yk_v3(1, 1, 1), yk_v3(0, 0, -4));
    count = yk_collide(&box, &room, 0.01, list);
    assert_int_equal(count, 4);
    check_points(list, count, 0.01);
}

static void test_standing_and_lying_cylinder(void **state)
{
    (void)state;
    yk_touch list[YK_MANIFOLD_MAX];
    yk_solid floor = solid(YK_SOLID_PLANE, yk_v3(1, 1, 1), yk_v3(0, 0, 0));
    yk_solid rod = solid(YK_SOLID_CYLINDER, yk_v3(0.5, 0, 2), yk_v3(0, 0, 2));
    int count = yk_collide(&rod, &floor, 0.01, list);
    assert_int_equal(count, 4);
    check_points(list, count, 0.01);
    rod.rotation = yk_q_matrix(yk_so3_exp(yk_v3(YK_PI / 2, 0, 0)));
    rod.position.z = 0.5;
    count = yk_collide(&rod, &floor, 0.01, list);
    assert_int_equal(count, 2);
    check_points(list, count, 0.01);
    assert_near(fabs(list[0].point_a.y - list[1].point_a.y), 4, 1e-12);
    yk_solid capsule = solid(YK_SOLID_CAPSULE, yk_v3(0.5, 0, 2), yk_v3(0, 0, 0.5));
    capsule.rotation = rod.rotation;
    assert_int_equal(yk_collide(&capsule, &floor, 0.01, list), 2);
}

static void test_box_on_box(void **state)
{
    (void)state;
    yk_touch list[YK_MANIFOLD_MAX];
    yk_solid low = solid(YK_SOLID_BOX, yk_v3(1, 1, 0.5), yk_v3(0, 0, 0));
    yk_solid high = solid(YK_SOLID_BOX, yk_v3(0.5, 0.5, 0.5), yk_v3(0.8, 0.1, 1.001));
    int count = yk_collide(&low, &high, 0.01, list);
    assert_int_equal(count, 4);
    check_points(list, count, 0.01);
    double least = 9, most = -9;
    for (int i = 0; i < count; i++) {
        assert_vector(list[i].normal, 0, 0, 1, 1e-12);
        assert_near(list[i].gap, 0.001, 1e-12);
        least = fmin(least, list[i].point_a.x);
        most = fmax(most, list[i].point_a.x);
    }
    assert_near(least, 0.3, 1e-12);
    assert_near(most, 1.0, 1e-12); /* clipped at the edge of the lower box */

    /* Crossed edges: both turned by 45 degrees about perpendicular axes. */
    yk_solid a = solid(YK_SOLID_BOX, yk_v3(1, 1, 1), yk_v3(0, 0, 0));
    a.rotation = yk_q_matrix(yk_so3_exp(yk_v3(YK_PI / 4, 0, 0)));
    yk_solid b = solid(YK_SOLID_BOX, yk_v3(1, 1, 1), yk_v3(0, 0, 2 * sqrt(2) - 0.01));
    b.rotation = yk_q_matrix(yk_so3_exp(yk_v3(0, YK_PI / 4, 0)));
    count = yk_collide(&a, &b, 0.01, list);
    assert_int_equal(count, 1);
    assert_vector(list[0].normal, 0, 0, 1, 1e-12);
    assert_near(list[0].gap, -0.01, 1e-12);
    assert_vector(list[0].point_a, 0, 0, sqrt(2), 1e-12);
}

/* Pairs that go through libccd: normal and gap where they are known. */
/* Bricks of a wall are flush with each other up to small motions, which must not rename contacts: the
 * solver starts from the impulse of the contact with the same name. */
static void test_flush_boxes_keep_their_names(void **state)
{
    (void)state;
    uint64_t seed = 7;
    uint32_t names[4] = {0};
    for (int k = 0; k < 200; k++) {
        yk_solid low = solid(YK_SOLID_BOX, yk_v3(1, 0.5, 0.3), yk_v3(0, 0, 0));
        yk_solid high = low;
        double small = 2e-4;
        high.position = yk_v3(small * (uniform(&seed) - 0.5), small * (uniform(&seed) - 0.5), 0.6);
        yk_vec3 turn = {0, 0, small * (uniform(&seed) - 0.5)};
        high.rotation = yk_q_matrix(yk_so3_exp(turn));

        yk_touch list[YK_MANIFOLD_MAX];
        assert_int_equal(yk_collide(&low, &high, 0.01, list), 4);
        for (int i = 0; i < 4; i++) {
            if (k == 0)
                names[i] = list[i].feature;
            assert_int_equal(list[i].feature, names[i]);
        }
    }
}

/* Two squares at 45 degrees overlap in an octagon, of which four points are kept: the lowest one, and
 * points that enclose the middle. */
static void test_crossed_faces_have_four_points(void **state)
{
    (void)state;
    yk_touch list[YK_MANIFOLD_MAX];
    static const yk_vec3 square[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    for (int k = 0; k < 16; k++) {
        /* Leaning towards one corner of the octagon after another. */
        double direction = YK_PI / 8 * k + 0.1;
        yk_vec3 turned[4];
        for (int i = 0; i < 4; i++) {
            double angle = YK_PI / 2 * i;
            turned[i] = yk_v3_scale(sqrt(2), yk_v3(cos(angle), sin(angle), 0));
            turned[i].z = 0.01 * sqrt(2) * sin(angle - direction);
        }

        int count = yk_clip_polygons(square, 4, yk_v3(0, 0, 1), turned, 4, 0.1, list);
        assert_int_equal(count, 4);
        double lowest = INFINITY;
        yk_vec3 ends[2] = {{9, 9, 9}, {-9, -9, -9}};
        for (int i = 0; i < count; i++) {
            lowest = fmin(lowest, list[i].gap);
            yk_vec3 p = list[i].point_b;
            ends[0] = yk_v3(fmin(ends[0].x, p.x), fmin(ends[0].y, p.y), 0);
            ends[1] = yk_v3(fmax(ends[1].x, p.x), fmax(ends[1].y, p.y), 0);
        }

        /* Points of the octagon are 1 / cos(pi / 8) from the middle. */
        double radius = 1 / cos(YK_PI / 8), deepest = 0;
        for (int i = 0; i < 8; i++) {
            double angle = YK_PI / 8 + YK_PI / 4 * i;
            double drop = radius * 0.01 * sin(angle - direction);
            deepest = fmin(deepest, drop);
        }
        assert_near(lowest, deepest, 2e-3);
        assert_true(ends[0].x < -0.3 && ends[0].y < -0.3 && ends[1].x > 0.3 && ends[1].y > 0.3);
    }
}

static void test_convex_pairs(void **state)
{
    (void)state;
    yk_touch list[YK_MANIFOLD_MAX];
    yk_solid box = solid(YK_SOLID_BOX, yk_v3(1, 1, 0.5), yk_v3(0, 0, 0));
    yk_solid rod = solid(YK_SOLID_CYLINDER, yk_v3(0.5, 0, 1), yk_v3(0.2, 0, 1.501));
    int count = yk_collide(&box, &rod, 0.01, list);
    assert_true(count >= 4); /* the cap as a polygon */
    check_points(list, count, 0.01);
    for (int i = 0; i < count; i++)
        assert_near(list[i].gap, 0.001, 1e-9);

    yk_solid capsule = solid(YK_SOLID_CAPSULE, yk_v3(0.25, 0, 0.5), yk_v3(0, 0, 0.7499));
    capsule.rotation = yk_q_matrix(yk_so3_exp(yk_v3(0, YK_PI / 2, 0)));
    count = yk_collide(&capsule, &box, 0.01, list);
    assert_int_equal(count, 2);
    check_points(list, count, 0.01);
    for (int i = 0; i < count; i++) {
        assert_near(list[i].gap, -0.0001, 1e-8);
        assert_vector(list[i].normal, 0, 0, -1, 1e-8);
    }

    /* Two crossed capsules. */
    yk_solid a = solid(YK_SOLID_CAPSULE, yk_v3(0.25, 0, 1), yk_v3(0, 0, 0)), b = a;
    a.rotation = yk_q_matrix(yk_so3_exp(yk_v3(0, YK_PI / 2, 0)));
    b.rotation = yk_q_matrix(yk_so3_exp(yk_v3(YK_PI / 2, 0, 0)));
    b.position = yk_v3(0.3, 0.2, 0.504);
    count = yk_collide(&a, &b, 0.01, list);
    assert_int_equal(count, 1);
    assert_vector(list[0].normal, 0, 0, 1, 1e-4);
    assert_near(list[0].gap, 0.004, 1e-7);
    assert_near(list[0].point_a.x, 0.3, 1e-3);
    assert_near(list[0].point_a.y, 0, 1e-3);

    yk_vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] = yk_v3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 0.5 : -0.5);
    yk_solid hull = {.kind = YK_SOLID_HULL,
                     .position = {0.5, 0.25, 0.9995},
                     .rotation = yk_m3_identity(),
                     .points = corners,
                     .point_count = 8};
    count = yk_collide(&box, &hull, 0.01, list);
    assert_int_equal(count, 4);
    check_points(list, count, 0.01);
    for (int i = 0; i < count; i++) {
        assert_vector(list[i].normal, 0, 0, 1, 1e-12);
        assert_near(list[i].gap, -0.0005, 1e-9);
    }
}

/* In closed form. */
static void test_masses_are_exact(void **state)
{
    (void)state;
    const double density = 3, r = 0.72, b = 0.52, l = 0.4;
    const double ball = density * 4 / 3 * YK_PI * r * r * r;
    const double bar = density * 2 * YK_PI * r * r * l;
    const double brick = density * 8 * r * b * l;
    const double egg = density * 4 / 3 * YK_PI * r * b * l;
    const struct {
        yk_solid_kind kind;
        double mass, xx, zz;
    } cases[] = {
        {YK_SOLID_SPHERE, ball, 0.4 * ball * r * r, 0.4 * ball * r * r},
        {YK_SOLID_CAPSULE, bar + ball,
         bar * (3 * r * r + 4 * l * l) / 12 + ball * (0.4 * r * r + l * l + 0.75 * r * l),
         0.5 * bar * r * r + 0.4 * ball * r * r},
        {YK_SOLID_BOX, brick, brick * (b * b + l * l) / 3, brick * (r * r + b * b) / 3},
        {YK_SOLID_CYLINDER, bar, bar * (3 * r * r + 4 * l * l) / 12, 0.5 * bar * r * r},
        {YK_SOLID_ELLIPSOID, egg, egg * (b * b + l * l) / 5, egg * (r * r + b * b) / 5},
    };
    for (int k = 0; k < 5; k++) {
        yk_solid s = solid(cases[k].kind, yk_v3(r, b, l), yk_v3(0, 0, 0));
        yk_mat3 inertia;
        assert_relative(yk_solid_mass(&s, density, &inertia), cases[k].mass, 1e-14);
        assert_relative(inertia.m[0][0], cases[k].xx, 1e-14);
        assert_relative(inertia.m[2][2], cases[k].zz, 1e-14);
    }
}

/* The mass belongs to the shape that others touch: sums over a grid, as exact as its cells. */
static void test_masses(void **state)
{
    (void)state;
    static const yk_solid_kind kinds[] = {YK_SOLID_SPHERE, YK_SOLID_CAPSULE, YK_SOLID_BOX,
                                          YK_SOLID_CYLINDER, YK_SOLID_ELLIPSOID};
    enum { N = 60 };
    for (int k = 0; k < 5; k++) {
        yk_solid s = solid(kinds[k], yk_v3(0.72, 0.52, 0.4), yk_v3(0, 0, 0));
        yk_mat3 inertia;
        double mass = yk_solid_mass(&s, 3, &inertia), sum = 0, xx = 0, zz = 0, cell = 2.4 / N;
        for (int i = 0; i < N * N * N; i++) {
            yk_vec3 p = {(i % N + 0.5) * cell - 1.2, (i / N % N + 0.5) * cell - 1.2,
                         (i / N / N + 0.5) * cell - 1.2};
            yk_solid dot = solid(YK_SOLID_SPHERE, yk_v3(1e-9, 0, 0), p);
            yk_touch touch[YK_MANIFOLD_MAX];
            if (yk_collide(&dot, &s, 0, touch) == 0)
                continue;
            double m = 3 * cell * cell * cell;
            sum += m, xx += m * (p.y * p.y + p.z * p.z), zz += m * (p.x * p.x + p.y * p.y);
        }
        assert_relative(mass, sum, 0.02);
        assert_relative(inertia.m[0][0], xx, 0.03);
        assert_relative(inertia.m[2][2], zz, 0.03);
    }
}

/* Broad phase ---------------------------------------------------------------------------------- */

enum { BALLS = 600 };

/* Sizes over three decades, some far away. */
static void scatter(yk_ball *balls, uint64_t seed)
{
    for (int i = 0; i < BALLS; i++) {
        double radius = pow(10, -2 + 3 * pow(uniform(&seed), 6));
        double far = i % 97 == 0 ? 1e7 : 1;
        balls[i] = (yk_ball){
            {far * (uniform(&seed) - 0.5), uniform(&seed) - 0.5, uniform(&seed) - 0.5}, radius};
    }
}

static void test_broad_against_brute_force(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_pool *pool;
    yk_broad broad;
    assert_int_equal(yk_pool_create(context, 2, &pool), YK_OK);
    assert_int_equal(yk_broad_create(context, pool, BALLS, &broad), YK_OK);
    static yk_ball balls[BALLS];
    static bool listed[BALLS][BALLS];
    yk_solid room = solid(YK_SOLID_BOX_CAVITY, yk_v3(0.5, 0.5, 0.5), yk_v3(0, 0, 0));
    room.open = YK_WALL_LEFT | YK_WALL_RIGHT;
    for (uint64_t round = 0; round < 5; round++) {
        scatter(balls, round);
        yk_broad_input input = {
            .finite = BALLS, .unbounded = 1, .balls = balls, .unbounded_solids = &room};

        /* A wide margin makes rows too long for the memory of the first pass. */
        double margin = round < 3 ? 0.01 : 0.3;
        assert_int_equal(yk_broad_build(&broad, &input, margin, 0.01), YK_OK);
        if (round >= 3)
            assert_true(broad.partner_count > 20 * BALLS);

        memset(listed, 0, sizeof listed);
        size_t walls = 0, expected_walls = 0;
        for (int i = 0; i < BALLS; i++) {
            for (uint32_t k = broad.row_start[i]; k < broad.row_start[i + 1]; k++) {
                int j = broad.partners[k];
                if (k > broad.row_start[i])
                    assert_true(broad.partners[k - 1] < j);
                if (j == BALLS) {
                    walls++;
                    continue;
                }
                assert_false(listed[i][j] || listed[j][i]);
                listed[i][j] = true;
            }
            expected_walls += 0.5 - fabs(balls[i].centre.y) < balls[i].radius + 0.01 ||
                              0.5 - fabs(balls[i].centre.z) < balls[i].radius + 0.01;
        }
        assert_int_equal(walls, expected_walls);
        for (int i = 0; i < BALLS; i++) {
            for (int j = 0; j < i; j++) {
                double distance = yk_v3_norm(yk_v3_sub(balls[i].centre, balls[j].centre));
                bool near = distance < balls[i].radius + balls[j].radius + margin;
                assert_int_equal(near, listed[i][j] || listed[j][i]);
            }
        }
    }
    yk_broad_destroy(&broad);
    yk_pool_destroy(pool);
    yk_context_destroy(context);
}

/* Images across the ends of a period are found as others are, each pair once; balls may be anywhere, and
 * some are absent. */
static void test_broad_in_periodic_space(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_pool *pool;
    yk_broad broad;
    assert_int_equal(yk_pool_create(context, 2, &pool), YK_OK);
    assert_int_equal(yk_broad_create(context, pool, BALLS, &broad), YK_OK);
    static yk_ball balls[BALLS];
    static bool listed[BALLS][BALLS];
    static uint8_t absent[BALLS];
    const yk_vec3 periods[4] = {{1, 0, 0}, {1, 0.8, 0}, {0, 0, 1.5}, {1, 0.8, 1.5}};
    for (uint64_t round = 0; round < 8; round++) {
        uint64_t seed = round;
        yk_vec3 period = periods[round % 4];
        for (int i = 0; i < BALLS; i++) {
            double radius = 0.03 + 0.12 * pow(uniform(&seed), 6);
            yk_vec3 at = {2 * uniform(&seed) - 1, uniform(&seed) - 0.4, 2 * uniform(&seed) - 1};
            balls[i] = (yk_ball){at, radius};
            absent[i] = round >= 4 && i % 5 == 0;
        }
        yk_broad_input input = {.finite = BALLS,
                                .balls = balls,
                                .low = {-0.3, 0.1, 0.7},
                                .period = period,
                                .absent = round >= 4 ? absent : NULL};
        assert_int_equal(yk_broad_build(&broad, &input, 0.01, 0.01), YK_OK);
        memset(listed, 0, sizeof listed);
        for (int i = 0; i < BALLS; i++) {
            for (uint32_t k = broad.row_start[i]; k < broad.row_start[i + 1]; k++) {
                int j = broad.partners[k];
                assert_false(listed[i][j] || listed[j][i]);
                listed[i][j] = true;
            }
        }

        int across = 0;
        for (int i = 0; i < BALLS; i++) {
            for (int j = 0; j < i; j++) {
                yk_vec3 d = yk_v3_sub(balls[i].centre, balls[j].centre), direct = d;
                d.x -= period.x > 0 ? period.x * rint(d.x / period.x) : 0;
                d.y -= period.y > 0 ? period.y * rint(d.y / period.y) : 0;
                d.z -= period.z > 0 ? period.z * rint(d.z / period.z) : 0;
                bool near = yk_v3_norm(d) < balls[i].radius + balls[j].radius + 0.01;
                near = near && !absent[i] && !absent[j];
                assert_int_equal(near, listed[i][j] || listed[j][i]);
                across += near && yk_v3_norm(yk_v3_sub(direct, d)) > 0.5;
            }
        }
        assert_true(across > 20);
    }
    yk_broad_destroy(&broad);
    yk_pool_destroy(pool);
    yk_context_destroy(context);
}

/* A hull with the corners of a box, moved off its origin, and with points inside, on a face and on
 * an edge that change nothing: mass, centre and inertia of the box. A tetrahedron: V/10 a^2. */
static void test_mass_of_hulls(void **state)
{
    (void)state;
    const yk_vec3 half = {0.3, 0.2, 0.1}, shift = {0.5, -0.2, 0.7};
    yk_vec3 points[11];
    for (int i = 0; i < 8; i++) {
        yk_vec3 corner = {i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
                          i & 4 ? half.z : -half.z};
        points[i + 3] = yk_v3_add(shift, corner);
    }
    points[0] = shift;
    points[1] = yk_v3_add(shift, yk_v3(0.1, 0.05, half.z));
    points[2] = yk_v3_add(shift, yk_v3(0.1, half.y, half.z));
    yk_solid hull = {.kind = YK_SOLID_HULL, .points = points, .point_count = 11};
    yk_solid box = {.kind = YK_SOLID_BOX, .size = half};
    yk_mat3 of_hull, of_box;
    double mass = yk_solid_mass(&hull, 700, &of_hull);
    assert_near(mass, yk_solid_mass(&box, 700, &of_box), 1e-10);
    assert_near(yk_v3_norm(yk_v3_sub(yk_solid_centre(&hull), shift)), 0, 1e-12);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(of_hull.m[i][j], of_box.m[i][j], 1e-10);

    const yk_vec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    yk_solid tetrahedron = {.kind = YK_SOLID_HULL, .points = corner, .point_count = 4};
    assert_near(yk_solid_mass(&tetrahedron, 6, &of_hull), 1, 1e-14);
    assert_near(yk_solid_centre(&tetrahedron).x, 0.25, 1e-14);
    assert_near(of_hull.m[0][0], 3.0 / 40, 1e-14);
    assert_near(of_hull.m[0][1], 1.0 / 80, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_of_hulls),
        cmocka_unit_test(test_traits_of_kinds),
        cmocka_unit_test(test_places_in_pairs),
        cmocka_unit_test(test_sphere_pairs),
        cmocka_unit_test(test_cavities),
        cmocka_unit_test(test_standing_and_lying_cylinder),
        cmocka_unit_test(test_box_on_box),
        cmocka_unit_test(test_flush_boxes_keep_their_names),
        cmocka_unit_test(test_crossed_faces_have_four_points),
        cmocka_unit_test(test_convex_pairs),
        cmocka_unit_test(test_masses_are_exact),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_broad_against_brute_force),
        cmocka_unit_test(test_broad_in_periodic_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
