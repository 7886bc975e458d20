/* Periodic boundaries: contacts across a boundary equal those inside, momentum is conserved, and a
 * shift by any fraction of the period does not change the motion. */
#include "math/so3.h"
#include "scene.h"

#include <stdlib.h>
#include <string.h>

static const double H = 1e-3;

static yk_nonsmooth_def periodic_default(double low, double high)
{
    yk_nonsmooth_def def = scene_default();
    def.periodic.lower.x = low;
    def.periodic.upper.x = high;
    return def;
}

/* Into [-1, 1), as a user would write positions down. */
static yk_vec3 wrapped(yk_vec3 p)
{
    p.x -= 2 * floor((p.x + 1) / 2);
    return p;
}

/* Five kinds of bodies that hit each other obliquely, spin and rub, with their middle at x. */
static scene collision_at(double x, yk_impact_law law)
{
    yk_nonsmooth_def def = periodic_default(-1, 1);
    def.gravity = yk_v3(0, 0, 0);
    def.impact_law = law;
    scene s = scene_make(&def);
    yk_material material = {.friction = 0.4, .restitution = 0.7};
    int bodies[6];
    bodies[0] = add_ball(&s, 0.05, wrapped(yk_v3(x - 0.25, 0, 0)), material);
    bodies[1] =
        add_box(&s, yk_v3(0.05, 0.06, 0.04), wrapped(yk_v3(x - 0.125, 0.02, 0)), 1, material);
    bodies[2] = add_ball(&s, 0.05, wrapped(yk_v3(x, 0, 0.01)), material);
    bodies[3] = add_ball(&s, 0.04, wrapped(yk_v3(x + 0.0925, 0, 0)), material);
    yk_mat3 inertia = yk_m3_diagonal(2e-3, 2e-3, 1e-3);
    bodies[4] =
        add_solid(&s, YK_SOLID_CAPSULE, yk_v3(0.03, 0, 0.05), wrapped(yk_v3(x + 0.1875, 0.01, 0)),
                  yk_q_identity(), 0.5, inertia, material);
    yk_nonsmooth_body_def clump = yk_nonsmooth_body_default();
    clump.position = wrapped(yk_v3(x + 0.3125, 0, 0));
    clump.inertia = yk_m3_diagonal(3e-3, 2e-3, 4e-3);
    bodies[5] = yk_world_add_body(s.world, &clump);
    yk_nonsmooth_shape_def sphere = yk_nonsmooth_shape_default();
    sphere.body = (yk_body_id){bodies[5]};
    sphere.size.x = 0.04;
    sphere.material = material;
    for (int i = -1; i <= 1; i += 2) {
        sphere.position = yk_v3(0, 0.03 * i, 0.01 * i);
        assert_true(yk_world_add_shape(s.world, &sphere) >= 0);
    }
    for (int i = 0; i < 6; i++)
        set_velocity(&s, bodies[i], yk_v3(2.013 - 1.0173 * i, 0.1 * i, 0.05), yk_v3(1, i, -2));
    start(&s, H);
    return s;
}

static void test_ends_are_like_the_inside(void **state)
{
    (void)state;
    for (yk_impact_law law = YK_IMPACT_NEWTON; law <= YK_IMPACT_SEQUENTIAL; law++) {
        scene inside = collision_at(0, law);
        run(&inside, H, 300);
        yk_motion last = motion_of(&inside, 5);
        assert_true(last.velocity.x > -2.9); /* it was hit */

        /* The end is between any two of them, or in the middle of one. */
        for (int k = 0; k < 12; k++) {
            double x = 0.7 + 0.05 * k;
            scene across = collision_at(x, law);
            run(&across, H, 300);
            for (int i = 0; i < 6; i++) {
                yk_motion a = motion_of(&inside, i), b = motion_of(&across, i);
                assert_near(yk_v3_norm(yk_v3_sub(a.velocity, b.velocity)), 0, 1e-11);
                assert_near(yk_v3_norm(yk_v3_sub(a.angular_velocity, b.angular_velocity)), 0, 1e-9);
                double d = b.position.x - a.position.x - x;
                assert_near(d - 2 * rint(d / 2), 0, 1e-12);
                assert_near(b.position.y, a.position.y, 1e-12);
            }
            scene_end(&across);
        }
        scene_end(&inside);
    }
}

/* Spheres that touch each other all around the period: a push on one of them moves all, and the
 * shock of a sequential law runs around and comes back. */
static void test_closed_ring(void **state)
{
    (void)state;
    yk_nonsmooth_def def = periodic_default(0, 1.6);
    def.gravity = yk_v3(0, 0, 0);
    scene s = scene_make(&def);
    for (int i = 0; i < 16; i++)
        add_ball(&s, 0.05, yk_v3(0.05 + 0.1 * i, 0, 0), rough(0));
    set_velocity(&s, 7, yk_v3(1, 0, 0), yk_v3(0, 0, 0));
    start(&s, H);
    run(&s, H, 1);
    yk_nonsmooth_report report;
    yk_nonsmooth_report_read(s.world, &report);
    assert_int_equal(report.contacts, 16);
    run(&s, H, 50);
    for (int i = 0; i < 16; i++)
        assert_near(motion_of(&s, i).velocity.x, 1.0 / 16, 1e-9);
    scene_end(&s);
}

/* A gas between two plates, in a space that repeats itself sideways. */
static scene gas(int threads, yk_solid_kind kind)
{
    yk_nonsmooth_def def = scene_default();
    def.thread_count = threads;
    def.contact_options.tolerance = 0;
    def.contact_options.max_iterations = 60;
    def.gravity = yk_v3(0, 0, -2);
    def.periodic = (yk_periodic_box){{-0.5, 0.1, 0}, {0.5, 0.9, 0}};
    scene s = scene_make(&def);
    add_floor(&s, rough(0));
    int n = 0;
    yk_material material = {.friction = 0.3, .restitution = 0.9};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 5; k++) {
            for (int l = 0; l < 4; l++, n++) {
                yk_vec3 at = {-0.45 + 0.16 * i, 0.15 + 0.16 * k, 0.1 + 0.12 * l};
                int body;
                if (kind == YK_SOLID_BOX && n % 3 == 0)
                    body = add_box(&s, yk_v3(0.03, 0.04, 0.035), at, 0.3, material);
                else
                    body = add_ball(&s, 0.03 + 0.002 * (n % 7), at, material);
                set_velocity(&s, body, yk_v3(sin(12.9 * n), 1.5 * sin(4.1 * n), 0.7 * sin(7.7 * n)),
                             yk_v3(0, n % 5, 0));
            }
        }
    }
    start(&s, H);
    return s;
}

static void test_momentum_is_kept(void **state)
{
    (void)state;
    for (int boxes = 0; boxes < 2; boxes++) {
        scene s = gas(1, boxes ? YK_SOLID_BOX : YK_SOLID_SPHERE);
        yk_vec3 momentum[2] = {{0, 0, 0}, {0, 0, 0}};
        int count = yk_nonsmooth_body_count(s.world), left = 0;
        double size = 0;
        for (int phase = 0; phase < 2; phase++) {
            for (int i = 0; i < count; i++) {
                yk_motion motion = motion_of(&s, i);
                double mass = yk_nonsmooth_body_mass(s.world, i);
                momentum[phase] = yk_v3_axpy(mass, motion.velocity, momentum[phase]);
                size += mass * yk_v3_norm(motion.velocity);
                left += fabs(motion.position.x) > 0.5;
            }
            if (phase == 0)
                run(&s, H, 1000);
        }

        /* The floor has no friction. */
        assert_near(momentum[1].x, momentum[0].x, 1e-12 * size);
        assert_near(momentum[1].y, momentum[0].y, 1e-12 * size);
        assert_true(left > 20);

        /* All are drawn in the first period. */
        yk_scene_pose *poses = calloc((size_t)count, sizeof *poses);
        yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
        subsystem->ops->scene->poses(subsystem, poses);
        for (int i = 0; i < count; i++) {
            yk_vec3 p = poses[i].position;
            assert_true(p.x >= -0.5 && p.x <= 0.5 && p.y >= 0.1 && p.y <= 0.9);
            double d = (motion_of(&s, i).position.x - p.x) / 1.0;
            assert_near(d, rint(d), 1e-12);
        }
        free(poses);

        /* No images overlap by more than the solver leaves. */
        yk_nonsmooth_report report;
        yk_nonsmooth_report_read(s.world, &report);
        assert_true(report.deepest_overlap < 2e-3);
        scene_end(&s);
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    size_t words;
    scene one = gas(1, YK_SOLID_BOX);
    run(&one, H, 200);
    double *begin = image_of(&one, &words);
    run(&one, H, 300);
    double *expected = image_of(&one, &words);

    /* Any number of threads, and after a rollback. */
    for (int threads = 2; threads <= 4; threads += 2) {
        scene many = gas(threads, YK_SOLID_BOX);
        run(&many, H, 500);
        double *image = image_of(&many, &words);
        assert_memory_equal(image, expected, words * sizeof *image);
        free(image);
        scene_end(&many);
    }
    run(&one, H, 31);
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(one.world);
    assert_int_equal(subsystem->ops->rollback->set(subsystem, begin), YK_OK);
    run(&one, H, 300);
    double *again = image_of(&one, &words);
    assert_memory_equal(again, expected, words * sizeof *again);
    free(begin);
    free(expected);
    free(again);
    scene_end(&one);
}

/* A bed on a rough incline slides down for ever; shifted by half a period it does the same. Each
 * contact makes rounding grow, so that this can be seen for a while only. */
static void test_bed_on_an_incline(void **state)
{
    (void)state;
    yk_vec3 at[2][60];
    double speed[2] = {0, 0};
    for (int shifted = 0; shifted < 2; shifted++) {
        yk_nonsmooth_def def = periodic_default(-0.5, 0.5);
        def.gravity = tilted(0.6);
        def.periodic.lower.y = -0.3;
        def.periodic.upper.y = 0.3;
        scene s = scene_make(&def);
        add_floor(&s, rough(0.3));
        for (int i = 0; i < 60; i++) {
            yk_vec3 p = {-0.46 + 0.1 * (i % 10) + 0.01 * (i / 10), -0.2 + 0.2 * (i / 10 % 3),
                         0.045 + 0.09 * (i / 30)};
            p.x += 0.5 * shifted;
            add_ball(&s, 0.04 + 0.0005 * (i % 3), p, rough(0.3));
        }
        start(&s, H);
        run(&s, H, 400);
        for (int i = 0; i < 60; i++) {
            at[shifted][i] = motion_of(&s, i).position;
            speed[shifted] += motion_of(&s, i).velocity.x / 60;
        }
        scene_end(&s);
    }

    for (int i = 0; i < 60; i++)
        assert_near(yk_v3_norm(yk_v3_sub(yk_v3_sub(at[1][i], at[0][i]), yk_v3(0.5, 0, 0))), 0,
                    1e-8);
    assert_relative(speed[1], speed[0], 1e-8);
    assert_true(speed[0] > 0.5);
}

/* A sphere rolls for several periods: on a plane, v = 5/7 g sin(a) t; over the seam of a mesh as over any
 * other edge. */
static void test_rolling_on(void **state)
{
    (void)state;
    for (int mesh = 0; mesh < 2; mesh++) {
        yk_nonsmooth_def def = periodic_default(-0.5, 0.5);
        double angle = 0.2;
        def.gravity = tilted(angle);
        scene s = scene_make(&def);
        if (mesh) {
            yk_vec3 points[22];
            int triangles[20][3];
            for (int i = 0; i <= 10; i++) {
                points[2 * i] = yk_v3(-0.5 + 0.1 * i, -0.05, 0);
                points[2 * i + 1] = yk_v3(-0.5 + 0.1 * i, 0.05, 0);
            }
            for (int i = 0; i < 10; i++) {
                const int corners[2][3] = {{2 * i, 2 * i + 2, 2 * i + 1},
                                           {2 * i + 1, 2 * i + 2, 2 * i + 3}};
                memcpy(triangles[2 * i], corners, sizeof corners);
            }
            yk_nonsmooth_shape_def floor = yk_nonsmooth_shape_default();
            floor.kind = YK_SOLID_MESH;
            floor.points = points;
            floor.point_count = 22;
            floor.triangles = (const int(*)[3])triangles;
            floor.triangle_count = 20;
            floor.material = rough(1);
            assert_true(yk_world_add_shape(s.world, &floor) >= 0);
        } else {
            add_floor(&s, rough(1));
        }
        int ball = add_ball(&s, 0.03, yk_v3(0.1, 0.01, 0.03), rough(1));
        start(&s, H);
        run(&s, H, 2000);
        double v = 5.0 / 7 * SCENE_G * sin(angle) * 2;
        assert_near(motion_of(&s, ball).velocity.x, v, 1e-8);
        assert_near(motion_of(&s, ball).position.x, 0.1 + 0.5 * v * 2.001, 1e-8);
        assert_near(motion_of(&s, ball).position.z, 0.03, 1e-8);
        scene_end(&s);
    }
}

/* Particles appear where no image of another one is, and leave through sinks of the first period. */
static void test_emitters_and_sinks(void **state)
{
    (void)state;
    yk_nonsmooth_def def = periodic_default(0, 0.2);
    def.gravity = yk_v3(0, 0, 0);
    scene s = scene_make(&def);
    yk_emitter_def emitter = yk_emitter_default();
    emitter.name = "rain";
    emitter.rate = 1e4;
    emitter.particles = yk_particles_in_box(500, 0.01, yk_v3(0.1, 0.05, 0.05));
    emitter.particles.position = yk_v3(0.05, 0, 0);
    assert_true(yk_world_add_emitter(s.world, &emitter) >= 0);
    yk_sink_def sink = yk_sink_default();
    sink.name = "drain";
    sink.kind = YK_SOLID_BOX;
    sink.position = yk_v3(0.19, 0, 1);
    sink.size = yk_v3(0.005, 1, 0.1);
    assert_true(yk_world_add_sink(s.world, &sink) >= 0);
    int ball = add_ball(&s, 0.01, yk_v3(-0.6, 0, 1), rough(0));
    set_velocity(&s, ball, yk_v3(-1, 0, 0), yk_v3(0, 0, 0));
    start(&s, H);

    /* From 0 (that is 0.2, or -0.6) to 0.195 in 5 ms. */
    run(&s, H, 4);
    assert_false(yk_nonsmooth_is_absent(s.world, ball));
    run(&s, H, 4);
    assert_true(yk_nonsmooth_is_absent(s.world, ball));
    run(&s, H, 50);
    int present = 0;
    for (int i = 0; i < ball; i++) {
        if (yk_nonsmooth_is_absent(s.world, i))
            continue;
        present++;
        for (int k = 0; k < i; k++) {
            if (yk_nonsmooth_is_absent(s.world, k))
                continue;
            yk_vec3 d = yk_v3_sub(motion_of(&s, i).position, motion_of(&s, k).position);
            d.x -= 0.2 * rint(d.x / 0.2);
            assert_true(yk_v3_norm(d) > 0.02);
        }
    }
    assert_true(present > 20);
    scene_end(&s);
}

/* Two balls that touch across the ends fall asleep as one island, and a third one that comes to one of
 * them wakes both. */
static void test_sleeping_across_the_ends(void **state)
{
    (void)state;
    yk_nonsmooth_def def = periodic_default(-0.5, 0.5);
    def.sleeping =
        (yk_sleep_options){.speed_threshold = 1e-3, .angular_speed_threshold = 0.1, .delay = 0.05};
    scene s = scene_make(&def);
    add_floor(&s, rough(0.5));
    int left = add_ball(&s, 0.05, yk_v3(-0.46, 0, 0.05), rough(0.5));
    int right = add_ball(&s, 0.05, yk_v3(0.44, 0, 0.05), rough(0.5));
    int third = add_ball(&s, 0.05, yk_v3(-0.2, 0, 0.05), rough(0.5));
    set_velocity(&s, third, yk_v3(-0.5, 0, 0), yk_v3(0, -10, 0));
    start(&s, H);
    run(&s, H, 100);
    yk_nonsmooth_report report;
    yk_nonsmooth_report_read(s.world, &report);
    assert_int_equal(report.asleep, 2);
    run(&s, H, 400);
    assert_true(motion_of(&s, right).position.x < 0.44 - 0.01);
    assert_true(motion_of(&s, left).position.x < -0.46);
    scene_end(&s);
}

static void refuse(scene *s, const char *reason)
{
    assert_true(yk_nonsmooth_start(s->world, 0, H) < 0);
    if (!strstr(yk_last_message(s->context), reason))
        fail_msg("'%s' does not say '%s'", yk_last_message(s->context), reason);
    scene_end(s);
}

static void test_what_does_not_repeat_is_refused(void **state)
{
    (void)state;

    /* The wrong way around. */
    yk_nonsmooth_def def = periodic_default(0.5, -0.5);
    scene s = scene_make(&def);
    add_ball(&s, 0.01, yk_v3(0, 0, 0), rough(0));
    refuse(&s, "the second must be larger");

    /* Two solids that see two images of each other; a body that meets its own. */
    def = periodic_default(-0.5, 0.5);
    s = scene_make(&def);
    add_ball(&s, 0.15, yk_v3(0, 0, 0), rough(0));
    add_ball(&s, 0.15, yk_v3(0, 1, 0), rough(0));
    refuse(&s, "must be at least");
    s = scene_make(&def);
    add_box(&s, yk_v3(0.24, 0.1, 0.1), yk_v3(0, 0, 0), 1, rough(0));
    refuse(&s, "at most half of the period");

    /* Planes across the period, walls that are not left out, walls that turn. */
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.kind = YK_SOLID_PLANE;
    shape.orientation = yk_so3_exp(yk_v3(0, 0.1, 0));
    s = scene_make(&def);
    add_ball(&s, 0.01, yk_v3(0, 0, 1), rough(0));
    assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    refuse(&s, "is not the same all along");
    shape.kind = YK_SOLID_BOX_CAVITY;
    shape.orientation = yk_q_identity();
    shape.size = yk_v3(1, 1, 1);
    shape.open_walls = YK_WALL_LEFT;
    s = scene_make(&def);
    add_ball(&s, 0.01, yk_v3(0, 0, 0), rough(0));
    assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    refuse(&s, "is not the same all along");
    shape.kind = YK_SOLID_CYLINDER_CAVITY;
    shape.open_walls = YK_WALL_TOP | YK_WALL_BOTTOM;
    s = scene_make(&def);
    add_ball(&s, 0.01, yk_v3(0, 0, 0), rough(0));
    assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    refuse(&s, "is not the same all along");
    s = scene_make(&def);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    shape.body = (yk_body_id){yk_world_add_body(s.world, &body)};
    shape.kind = YK_SOLID_PLANE;
    add_ball(&s, 0.01, yk_v3(0, 0, 1), rough(0));
    assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    refuse(&s, "is on a body that may turn");

    /* A pipe along the period is fine, and so is a channel. */
    s = scene_make(&def);
    add_ball(&s, 0.01, yk_v3(0, 0, 0), rough(0));
    shape.body = YK_GROUND;
    shape.kind = YK_SOLID_CYLINDER_CAVITY;
    shape.orientation = yk_so3_exp(yk_v3(0, YK_PI / 2, 0));
    assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    shape.kind = YK_SOLID_BOX_CAVITY;
    shape.orientation = yk_q_identity();
    shape.open_walls = YK_WALL_LEFT | YK_WALL_RIGHT;
    assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    start(&s, H);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_are_like_the_inside),
        cmocka_unit_test(test_closed_ring),
        cmocka_unit_test(test_momentum_is_kept),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_bed_on_an_incline),
        cmocka_unit_test(test_rolling_on),
        cmocka_unit_test(test_emitters_and_sinks),
        cmocka_unit_test(test_sleeping_across_the_ends),
        cmocka_unit_test(test_what_does_not_repeat_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
