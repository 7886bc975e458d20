/* Contact points with their forces, as they are stored in records. */
#include "scene.h"

/* A box of 8 kg at rest on the floor stands on its four corners. */
static void test_corners_of_a_box(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    add_floor(&s, rough(0.5));
    add_box(&s, yk_v3(0.2, 0.1, 0.1), yk_v3(0, 0, 0.1), 8, rough(0.5));
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
    const yk_contact_point_ops *ops = subsystem->ops->contact_points;
    assert_non_null(ops);

    start(&s, 1e-3);
    yk_contact_point points[8];
    assert_true(ops->list(subsystem, NULL, 0) >= 8);
    assert_int_equal(ops->list(subsystem, points, 8), 0); /* before the first step */
    run(&s, 1e-3, 20);
    int count = ops->list(subsystem, points, 8);
    assert_int_equal(count, 4);
    yk_vec3 force = {0, 0, 0}, moment = {0, 0, 0};
    for (int i = 0; i < count; i++) {
        assert_near(fabs(points[i].point.x), 0.2, 1e-9);
        assert_near(fabs(points[i].point.y), 0.1, 1e-9);
        assert_near(points[i].point.z, 0, 1e-9);

        /* The force on the side that the normal points to is a push. */
        assert_near(fabs(points[i].normal.z), 1, 1e-12);
        assert_true(yk_v3_dot(points[i].force, points[i].normal) > 0);
        double up = points[i].normal.z < 0 ? -1 : 1;
        force = yk_v3_axpy(up, points[i].force, force);
        moment = yk_v3_axpy(up, yk_v3_cross(points[i].point, points[i].force), moment);
    }
    assert_near(yk_v3_norm(yk_v3_sub(force, yk_v3(0, 0, 8 * SCENE_G))), 0, 1e-8);
    assert_near(yk_v3_norm(moment), 0, 1e-8);
    scene_end(&s);
}

/* The strongest contacts, if there are more than the capacity. */
static void test_strongest_come_first(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    add_floor(&s, rough(0));
    enum { BALLS = 9, KEPT = 4 };
    for (int i = 0; i < BALLS; i++) {
        double radius = 0.1 + 0.01 * ((7 * i) % BALLS); /* in no order */
        add_ball(&s, radius, yk_v3(i, 0, radius), rough(0));
    }
    start(&s, 1e-3);
    run(&s, 1e-3, 5);
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
    yk_contact_point points[KEPT];
    assert_int_equal(subsystem->ops->contact_points->list(subsystem, points, KEPT), KEPT);
    double sum = 0, expected = 0;
    for (int i = 0; i < KEPT; i++) {
        double radius = 0.1 + 0.01 * (BALLS - 1 - i);
        expected += SCENE_G * 1000 * 4 / 3 * YK_PI * radius * radius * radius;
        sum += yk_v3_norm(points[i].force);
    }
    assert_relative(sum, expected, 1e-9);
    scene_end(&s);
}

/* Two boxes that overlap, and each the floor: an exclusion leaves the contacts with the floor. */
static void test_excluded_bodies(void **state)
{
    (void)state;
    for (int excluded = 0; excluded < 2; excluded++) {
        yk_nonsmooth_def def = scene_default();
        scene s = scene_make(&def);
        add_floor(&s, rough(0));
        add_ball(&s, 0.1, yk_v3(3, 0, 0.1), rough(0));
        int a = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1), 8, rough(0));
        int b = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0.15, 0, 0.1), 8, rough(0));
        yk_exclusion_def exclusion = {{{b}, {a}}};
        if (excluded)
            assert_true(yk_world_add_exclusion(s.world, &exclusion) >= 0);

        /* The first step pushes the boxes apart, without a force later on. */
        start(&s, 1e-3);
        yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
        for (int steps = 1; steps <= 4; steps += 3) {
            run(&s, 1e-3, steps);
            yk_contact_point points[32];
            int count = subsystem->ops->contact_points->list(subsystem, points, 32);
            int between = 0;
            for (int i = 0; i < count; i++)
                between += fabs(points[i].normal.z) < 0.5;
            if (steps == 1) {
                assert_true(excluded ? between == 0 : between > 0);
            } else {
                assert_int_equal(count - between, 9);
            }
        }
        scene_end(&s);
    }

    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    int ball = add_ball(&s, 0.1, yk_v3(0, 0, 0.1), rough(0));
    assert_int_equal(yk_world_add_exclusion(s.world, &(yk_exclusion_def){{{ball}, YK_GROUND}}),
                     YK_NO_ID);
    assert_int_equal(yk_world_add_exclusion(s.world, &(yk_exclusion_def){{{ball}, {ball}}}),
                     YK_NO_ID);
    assert_int_equal(yk_world_add_exclusion(s.world, &(yk_exclusion_def){{{ball}, {7}}}), YK_NO_ID);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corners_of_a_box),
        cmocka_unit_test(test_strongest_come_first),
        cmocka_unit_test(test_excluded_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
