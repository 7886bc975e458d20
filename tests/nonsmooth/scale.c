/* Contacts do not depend on the unit of length: a scene that is scaled as a whole, with its margin,
 * has the same contacts. Powers of two change no bit of a result but its exponent. */
#include "samples.h"

enum { ROUNDS = 150 };

static const struct {
    yk_solid_kind kind;
    const char *name;
} containers[] = {
    {YK_SOLID_PLANE, "plane"},
    {YK_SOLID_CYLINDER_CAVITY, "cylinder cavity"},
    {YK_SOLID_BOX_CAVITY, "box cavity"},
};
enum { CONTAINERS = sizeof containers / sizeof *containers };

static sample scaled_sample(const sample *from, double factor)
{
    sample made = *from;
    made.solid.position = yk_v3_scale(factor, from->solid.position);
    made.solid.size = yk_v3_scale(factor, from->solid.size);
    for (int i = 0; i < from->solid.point_count; i++)
        made.points[i] = yk_v3_scale(factor, from->points[i]);
    return made;
}

/* The points of a copy are its own. */
static int collide_samples(sample *a, sample *b, double margin, yk_touch *list)
{
    if (a->solid.point_count > 0)
        a->solid.points = a->points;
    if (b->solid.point_count > 0)
        b->solid.points = b->points;
    return yk_collide(&a->solid, &b->solid, margin, list);
}

static double least_gap(const yk_touch *list, int count)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++)
        least = fmin(least, list[i].gap);
    return least;
}

/* Compares a scene with copies of it; returns how many contacts it has. Other factors than powers of
 * two round differently, which can decide about the order of contacts, and between equal directions of
 * solids that are aligned or overlap deeply. */
static int check_scales(const sample *a, const sample *b, double margin, arrangement how)
{
    yk_touch list[YK_MANIFOLD_MAX], scaled[YK_MANIFOLD_MAX];
    sample first = scaled_sample(a, 1), second = scaled_sample(b, 1);
    int count = collide_samples(&first, &second, margin, list);

    bool has_equal_directions = how == ALIGNED;
    for (int i = 0; i < count; i++)
        has_equal_directions = has_equal_directions || list[i].gap < -0.1;

    const double factors[] = {0x1p-10, 0x1p-5, 0x1p10, 1e-3, 1e-2, 1e-1, 10, 100, 1000};
    for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) {
        double factor = factors[k];
        bool exact = k < 3;
        if (!exact && has_equal_directions)
            continue;

        first = scaled_sample(a, factor);
        second = scaled_sample(b, factor);
        assert_int_equal(collide_samples(&first, &second, factor * margin, scaled), count);
        for (int i = 0; i < count && exact; i++) {
            assert_int_equal(scaled[i].feature, list[i].feature);
            assert_near(scaled[i].gap / factor, list[i].gap, 0);
            assert_near(yk_v3_norm(yk_v3_sub(scaled[i].normal, list[i].normal)), 0, 0);
        }
        if (count > 0)
            assert_near(least_gap(scaled, count) / factor, least_gap(list, count), 1e-6);
    }
    return count;
}

/* Between the random streams of two kinds: does not grow with the number of kinds, so that a new kind
 * does not change the samples of the others. */
enum { STRIDE = 6 };

static void test_pairs_of_finite_solids(void **state)
{
    (void)state;
    for (int first = 0; first < KINDS; first++) {
        for (int second = 0; second < KINDS; second++) {
            int contacts = 0;
            for (int round = 0; round < ROUNDS; round++) {
                uint64_t stream = (uint64_t)(first * STRIDE + second) * ROUNDS + (uint64_t)round;
                stream *= UINT64_C(0xd1342543de82ef95);
                arrangement how = round % ARRANGEMENTS;
                sample a, b;
                make_sample(&stream, kinds[first].kind, how, &a);
                make_sample(&stream, kinds[second].kind, how, &b);
                a.solid.position = yk_v3_scale(0.5, a.solid.position);
                b.solid.position = yk_v3_scale(0.5, b.solid.position);
                contacts += check_scales(&a, &b, 0.05, how);
            }
            assert_true(contacts > ROUNDS / 10);
        }
    }
}

static void test_solids_in_containers(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int container = 0; container < CONTAINERS; container++) {
            int contacts = 0;
            for (int round = 0; round < ROUNDS; round++) {
                uint64_t stream = (uint64_t)(kind * CONTAINERS + container) * ROUNDS;
                stream = (stream + (uint64_t)round) * UINT64_C(0xd1342543de82ef95);
                arrangement how = round % ARRANGEMENTS;
                sample inner, outer = {.solid = {.kind = containers[container].kind}};
                make_sample(&stream, kinds[kind].kind, how, &inner);
                inner.solid.position = yk_v3_scale(0.5, inner.solid.position);

                /* Along the axes, or at a small angle to them. */
                outer.solid.size = yk_v3(between(&stream, 0.5, 1.5), 1, between(&stream, 0.5, 1.5));
                outer.solid.rotation = yk_m3_identity();
                if (round % 2)
                    outer.solid.rotation = yk_q_matrix(yk_so3_exp(yk_v3(0.02, 0.01, 0.3)));
                contacts += check_scales(&inner, &outer, 0.05, how);
            }
            assert_true(contacts > ROUNDS / 4);
        }
    }
}

/* A rod that lies along the wall of a can touches it with the ends of a line. */
static void test_rod_in_can(void **state)
{
    (void)state;
    for (double radius = 4e-3; radius < 50; radius *= 10) {
        yk_solid can = {.kind = YK_SOLID_CYLINDER_CAVITY,
                        .size = {radius, 0, radius},
                        .rotation = yk_m3_identity()};
        yk_solid rod = {.kind = YK_SOLID_CYLINDER,
                        .size = {0.2 * radius, 0, 0.5 * radius},
                        .position = {0.8 * radius, 0, 0},
                        .rotation = yk_m3_identity()};
        yk_touch list[YK_MANIFOLD_MAX];
        assert_int_equal(yk_collide(&rod, &can, 1e-3 * radius, list), 2);
        for (int i = 0; i < 2; i++) {
            assert_near(list[i].gap, 0, 1e-12 * radius);
            assert_near(list[i].normal.x, 1, 1e-12);
            assert_near(fabs(list[i].point_a.z), 0.5 * radius, 1e-12 * radius);
        }
    }
}

/* Clearance of the rims of a cylinder in a can by trying many points. */
static double clearance_of_rims(const yk_solid *rod, double can_radius)
{
    enum { POINTS = 20000 };
    double least = INFINITY;
    for (int i = 0; i < 2 * POINTS; i++) {
        double angle = 2 * YK_PI * (i / 2) / POINTS;
        yk_vec3 local = {rod->size.x * cos(angle), rod->size.x * sin(angle),
                         i % 2 ? rod->size.z : -rod->size.z};
        yk_vec3 at = yk_v3_add(rod->position, yk_m3_apply(rod->rotation, local));
        least = fmin(least, can_radius - hypot(at.x, at.y));
    }
    return least;
}

/* The least gap of a cylinder in a can, also of a piston that is tilted on the axis and touches with
 * opposite points of its rims. */
static void test_rims_in_can(void **state)
{
    (void)state;
    yk_solid can = {
        .kind = YK_SOLID_CYLINDER_CAVITY, .size = {1, 0, 3}, .rotation = yk_m3_identity()};
    can.open = YK_WALL_BOTTOM | YK_WALL_TOP;
    uint64_t stream = 5;
    for (int round = 0; round < 300; round++) {
        yk_solid rod = {.kind = YK_SOLID_CYLINDER,
                        .size = {between(&stream, 0.1, 0.95), 0, between(&stream, 0.1, 0.8)}};
        double tilt = round % 3 == 0 ? 0.05 : 3;
        rod.rotation = yk_q_matrix(
            yk_so3_exp(yk_v3_scale(tilt * yk_random(&stream), random_direction(&stream))));
        if (round % 2)
            rod.position = yk_v3_scale(0.3, random_direction(&stream));

        yk_touch list[YK_MANIFOLD_MAX];
        int count = yk_collide(&rod, &can, 10, list);
        double least = INFINITY;
        for (int i = 0; i < count; i++)
            least = fmin(least, list[i].gap);
        assert_near(least, clearance_of_rims(&rod, 1), 1e-4);
    }

    yk_solid piston = {.kind = YK_SOLID_CYLINDER, .size = {0.98, 0, 0.5}};
    piston.rotation = yk_q_matrix(yk_so3_exp(yk_v3(0, 0.04, 0)));
    yk_touch list[YK_MANIFOLD_MAX];
    int count = yk_collide(&piston, &can, 0.005, list), left = 0, right = 0;
    for (int i = 0; i < count; i++) {
        left += list[i].normal.x < -0.9 && list[i].point_a.z < 0;
        right += list[i].normal.x > 0.9 && list[i].point_a.z > 0;
    }
    assert_true(left >= 1 && right >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_of_finite_solids),
        cmocka_unit_test(test_solids_in_containers),
        cmocka_unit_test(test_rod_in_can),
        cmocka_unit_test(test_rims_in_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
