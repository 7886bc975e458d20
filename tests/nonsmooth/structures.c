/* Structures of blocks with face contacts, with the default options: stable structures remain at
 * rest, unstable ones collapse. */
#include "scene.h"

#include <string.h>

static const double STEP = 1e-3;

static scene make_structure(int threads)
{
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.gravity = yk_v3(0, 0, -SCENE_G);
    def.thread_count = threads;
    return scene_make(&def);
}

/* The largest distance that any of the first `count` bodies moves in `steps` steps. */
static double largest_motion(scene *s, int count, int steps)
{
    yk_motion *begin = calloc((size_t)count, sizeof *begin);
    for (int i = 0; i < count; i++)
        begin[i] = motion_of(s, i);
    run(s, STEP, steps);
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, yk_v3_norm(yk_v3_sub(motion_of(s, i).position, begin[i].position)));
    free(begin);
    return largest;
}

static const yk_vec3 BRICK = {0.1, 0.05, 0.03};

/* Courses on a floor, each half a brick further than the one below; the first body of a wall is 0. */
static int add_wall(scene *s, int courses, int bricks)
{
    add_floor(s, rough(0.6));
    int count = 0;
    for (int course = 0; course < courses; course++) {
        int halves = bricks > 1 && course % 2 == 1;
        for (int i = 0; i < bricks + halves; i++, count++) {
            bool half = halves && (i == 0 || i == bricks);
            yk_vec3 size = BRICK;
            double x = 2 * BRICK.x * (i - 0.5 * halves);
            if (half) {
                size.x /= 2;
                x += i == 0 ? size.x : -size.x;
            }
            /* Joints of 0.1 mm. */
            size.x -= 5e-5;
            yk_vec3 at = {x, 0, (2 * course + 1) * BRICK.z};
            add_box(s, size, at, half ? 1 : 2, rough(0.6));
        }
    }
    return count;
}

static void test_tower_stands_still(void **state)
{
    (void)state;
    scene s = make_structure(1);
    int count = add_wall(&s, 36, 1);
    start(&s, STEP);
    assert_true(largest_motion(&s, count, 500) < 1e-9);
    scene_end(&s);
}

static void test_wall_stands_still(void **state)
{
    (void)state;
    scene s = make_structure(1);
    int count = add_wall(&s, 10, 8);
    start(&s, STEP);
    assert_true(largest_motion(&s, count, 300) < 1e-9);

    /* The floor bears the weight. */
    yk_nonsmooth_report report;
    yk_nonsmooth_report_read(s.world, &report);
    assert_true(report.solver.residual < 1e-7);
    assert_true(report.solver.iterations < 20);
    scene_end(&s);
}

/* At rest a high wall needs few steps of Newton's method: errors of earlier steps do not add up. */
static void test_high_wall_needs_few_steps(void **state)
{
    (void)state;
    enum { STEPS = 250 };
    scene s = make_structure(1);
    add_wall(&s, 24, 20);
    start(&s, STEP);
    run(&s, STEP, 10);
    int iterations = 0;
    for (int i = 0; i < STEPS; i++) {
        run(&s, STEP, 1);
        yk_nonsmooth_report report;
        yk_nonsmooth_report_read(s.world, &report);
        assert_true(report.solver.residual < 1e-5);
        iterations += report.solver.iterations;
    }
    assert_true(iterations <= 3 * STEPS);
    scene_end(&s);
}

/* A wall whose bricks move against each other is left to sweeps, which are cheaper there; at rest it goes
 * to Newton's method. */
static void test_moving_wall_is_left_to_sweeps(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        scene s = make_structure(1);
        int count = add_wall(&s, 4, 3);
        for (int i = 0; moves && i < count; i++)
            set_velocity(&s, i, yk_v3(0.1 * sin(i), 0.1 * cos(3 * i), 0), yk_v3(0, 0, sin(2 * i)));
        start(&s, STEP);
        run(&s, STEP, 1);
        yk_nonsmooth_report report;
        yk_nonsmooth_report_read(s.world, &report);
        assert_int_equal(report.solver.method,
                         moves ? YK_CONTACT_GAUSS_SEIDEL : YK_CONTACT_INTERIOR_POINT);
        scene_end(&s);
    }
}

/* A block slides where the slope is steeper than its friction, by g (sin - mu cos), else it
 * does not creep. */
static void test_block_on_a_slope(void **state)
{
    (void)state;
    const double mu = 0.5;
    for (int steep = 0; steep < 2; steep++) {
        double slope = atan(mu) + (steep ? 0.01 : -0.01);
        yk_nonsmooth_def def = yk_nonsmooth_default();
        def.gravity = tilted(slope);
        def.contact_options.friction_model = YK_FRICTION_COULOMB;
        def.thread_count = 1;
        scene s = scene_make(&def);
        add_floor(&s, rough(mu));
        int block = add_box(&s, yk_v3(0.1, 0.1, 0.02), yk_v3(0, 0, 0.02), 1, rough(mu));
        start(&s, STEP);
        double moved = largest_motion(&s, 1, 1000);
        double speed = SCENE_G * (sin(slope) - mu * cos(slope));
        if (steep)
            assert_near(motion_of(&s, block).velocity.x, speed, 1e-5 * speed);
        else
            assert_true(moved < 1e-9);
        scene_end(&s);
    }
}

/* A semicircular arch of voussoirs stands if its thickness is more than 0.1075 of the radius of its
 * middle (Milankovitch 1907), with enough friction. Returns the largest motion. */
static double motion_of_arch(double thickness)
{
    enum { VOUSSOIRS = 15 };
    const double radius = 1, depth = 0.2, density = 2000;
    scene s = make_structure(1);
    add_floor(&s, rough(0.8));
    for (int i = 0; i < VOUSSOIRS; i++) {
        /* A trapezium with corners on both circles. */
        double begin = YK_PI * i / VOUSSOIRS, end = YK_PI * (i + 1) / VOUSSOIRS;
        double middle = (begin + end) / 2, turn = (end - begin) / 2;
        double inner = radius - thickness / 2, outer = radius + thickness / 2;
        double low = inner * cos(turn), high = outer * cos(turn);
        double a = 2 * inner * sin(turn), b = 2 * outer * sin(turn), height = high - low;
        double centre = low + height / 3 * (a + 2 * b) / (a + b);
        double mass = density * depth * height * (a + b) / 2;

        yk_vec3 direction = {cos(middle), 0, sin(middle)}, across = {-sin(middle), 0, cos(middle)};
        yk_vec3 corners[8];
        for (int k = 0; k < 8; k++) {
            double along = (k & 1 ? high : low) - centre;
            double side = (k & 1 ? b : a) / 2 * (k & 2 ? 1 : -1);
            corners[k] = yk_v3_axpy(along, direction, yk_v3_scale(side, across));
            corners[k].y = k & 4 ? depth / 2 : -depth / 2;
        }

        yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
        body.position = yk_v3_scale(centre, direction);
        body.mass = mass;
        double w2 = (a + b) * (a + b) / 4, h2 = height * height, d2 = depth * depth;
        body.inertia = yk_m3_scale(mass / 12, yk_m3_diagonal(d2 + h2, fmax(w2, h2) + h2, d2 + w2));
        yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
        shape.body = (yk_body_id){yk_world_add_body(s.world, &body)};
        assert_true(shape.body.index >= 0);
        shape.kind = YK_SOLID_HULL;
        shape.points = corners;
        shape.point_count = 8;
        shape.material = rough(0.8);
        assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    }

    start(&s, STEP);
    double moved = largest_motion(&s, VOUSSOIRS, 400);
    scene_end(&s);
    return moved;
}

static void test_arch(void **state)
{
    (void)state;
    assert_true(motion_of_arch(0.125) < 1e-7);
    assert_true(motion_of_arch(0.095) > 1e-2);
}

/* A brick that hits a wall, with threads, and once more from a saved state. */
static void test_same_bits(void **state)
{
    (void)state;
    double *images[2];
    size_t words[2];
    for (int k = 0; k < 2; k++) {
        scene s = make_structure(1 + 2 * k);
        add_wall(&s, 6, 4);
        int ball = add_box(&s, BRICK, yk_v3(0.3, -0.3, 0.25), 5, rough(0.3));
        set_velocity(&s, ball, yk_v3(0, 3, 0), yk_v3(1, 2, 3));
        start(&s, STEP);
        run(&s, STEP, 60);
        double *saved = image_of(&s, &words[k]);
        run(&s, STEP, 40);
        images[k] = image_of(&s, &words[k]);

        yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
        assert_int_equal(subsystem->ops->rollback->set(subsystem, saved), YK_OK);
        run(&s, STEP, 40);
        double *again = image_of(&s, &words[k]);
        assert_memory_equal(again, images[k], words[k] * sizeof *again);
        free(again);
        free(saved);
        scene_end(&s);
    }

    assert_int_equal(words[0], words[1]);
    assert_memory_equal(images[0], images[1], words[0] * sizeof *images[0]);
    free(images[0]);
    free(images[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tower_stands_still),
        cmocka_unit_test(test_wall_stands_still),
        cmocka_unit_test(test_high_wall_needs_few_steps),
        cmocka_unit_test(test_moving_wall_is_left_to_sweeps),
        cmocka_unit_test(test_block_on_a_slope),
        cmocka_unit_test(test_arch),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
