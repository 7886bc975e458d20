/* More cases with exact answers, with sweeps and with the accurate method: a ladder, a ball in a
 * groove, a box that spins, a cylinder that rolls, and stacks whose top weighs a million times
 * the rest. */
#include "scene.h"

#include "math/so3.h"

static const double STEP = 1e-3;
static const yk_contact_method methods[] = {YK_CONTACT_GAUSS_SEIDEL, YK_CONTACT_INTERIOR_POINT};
enum { METHODS = sizeof methods / sizeof *methods };

static scene make(yk_contact_method method, yk_vec3 gravity)
{
    yk_nonsmooth_def def = scene_default();
    def.contact_options.method = method;
    def.contact_options.friction_model = YK_FRICTION_COULOMB;
    def.gravity = gravity;
    if (method == YK_CONTACT_INTERIOR_POINT) {
        def.contact_options.max_iterations = 0;
        def.contact_options.tolerance = 1e-10;
    }
    return scene_make(&def);
}

/* A half space turned about the y axis. */
static void add_wall(scene *s, double angle, yk_material material)
{
    yk_nonsmooth_shape_def wall = yk_nonsmooth_shape_default();
    wall.kind = YK_SOLID_PLANE;
    wall.orientation = yk_so3_exp(yk_v3(0, angle, 0));
    wall.material = material;
    assert_true(yk_world_add_shape(s->world, &wall) >= 0);
}

/* A thin rod on a rough floor and a smooth wall stands iff the tangent of its slope is at least 1
 * / (2 mu). */
static double speed_of_ladder(yk_contact_method method, double mu, double slope)
{
    const double half = 0.5, radius = 0.01;
    scene s = make(method, yk_v3(0, 0, -SCENE_G));
    add_floor(&s, rough(mu));
    add_wall(&s, YK_PI / 2, rough(0));
    yk_vec3 centre = yk_v3(half * cos(slope) + radius, 0, half * sin(slope) + radius);
    int rod =
        add_solid(&s, YK_SOLID_CAPSULE, yk_v3(radius, radius, half), centre,
                  yk_so3_exp(yk_v3(0, slope - YK_PI / 2, 0)), 1,
                  yk_m3_diagonal(half * half / 3, half * half / 3, radius * radius / 2), rough(mu));
    start(&s, STEP);
    run(&s, STEP, 300);
    double speed = yk_v3_norm(motion_of(&s, rod).velocity);
    scene_end(&s);
    return speed;
}

static void test_ladder(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++)
        for (double mu = 0.3; mu < 0.8; mu += 0.2) {
            double limit = atan(1 / (2 * mu));
            assert_true(speed_of_ladder(methods[m], mu, limit + 0.02) < 1e-8);
            assert_true(speed_of_ladder(methods[m], mu, limit - 0.02) > 0.02);
        }
}

/* A ball that slides along a groove of 90 degrees: both sides press with m g / sqrt 2, so it
 * slows by sqrt 2 mu g. */
static void test_groove(void **state)
{
    (void)state;
    const double mu = 0.2, radius = 0.1;
    for (int m = 0; m < METHODS; m++) {
        scene s = make(methods[m], yk_v3(0, 0, -SCENE_G));
        add_wall(&s, YK_PI / 4, rough(mu));
        add_wall(&s, -YK_PI / 4, rough(mu));
        int ball = add_ball(&s, radius, yk_v3(0, 0, radius * sqrt(2)), rough(mu));
        set_velocity(&s, ball, yk_v3(0, 2, 0), yk_v3(0, 0, 0));
        start(&s, STEP);
        run(&s, STEP, 100);
        assert_near(motion_of(&s, ball).velocity.y, 2 - mu * SCENE_G * sqrt(2) * 0.1, 1e-9);
        scene_end(&s);
    }
}

/* A square box spins on its corners: the torque mu m g R is the same however they share the
 * weight. */
static void test_spinning_box(void **state)
{
    (void)state;
    const double mu = 0.3, half = 0.2, mass = 2;
    for (int m = 0; m < METHODS; m++) {
        scene s = make(methods[m], yk_v3(0, 0, -SCENE_G));
        add_floor(&s, rough(mu));
        int box = add_box(&s, yk_v3(half, half, 0.05), yk_v3(0, 0, 0.05), mass, rough(mu));
        set_velocity(&s, box, yk_v3(0, 0, 0), yk_v3(0, 0, 10));
        start(&s, STEP);
        run(&s, STEP, 100);
        double rate = mu * SCENE_G * half * sqrt(2) / (2. / 3 * half * half);
        assert_near(motion_of(&s, box).angular_velocity.z, 10 - 0.1 * rate, 1e-8);
        run(&s, STEP, 300);
        assert_near(motion_of(&s, box).angular_velocity.z, 0, 1e-9);
        scene_end(&s);
    }
}

/* A cylinder on its side rolls down with 2/3 g sin as long as the tangent is at most 3 mu, and
 * slips beyond. */
static void test_rolling_cylinder(void **state)
{
    (void)state;
    const double mu = 0.2, radius = 0.1, length = 0.2, mass = 2;
    double across = mass * (3 * radius * radius + length * length) / 12;
    for (int m = 0; m < METHODS; m++)
        for (int slips = 0; slips < 2; slips++) {
            double angle = atan(3 * mu) + (slips ? 0.1 : -0.1);
            scene s = make(methods[m], tilted(angle));
            add_floor(&s, rough(mu));
            int cylinder =
                add_solid(&s, YK_SOLID_CYLINDER, yk_v3(radius, radius, length / 2),
                          yk_v3(0, 0, radius), yk_so3_exp(yk_v3(YK_PI / 2, 0, 0)), mass,
                          yk_m3_diagonal(across, across, mass * radius * radius / 2), rough(mu));
            start(&s, STEP);
            run(&s, STEP, 200);
            double pull = slips ? sin(angle) - mu * cos(angle) : 2. / 3 * sin(angle);
            assert_near(motion_of(&s, cylinder).velocity.x, 0.2 * SCENE_G * pull, 1e-8);
            scene_end(&s);
        }
}

/* Three boxes of 1 kg carry one of 1e6 kg. */
static void test_million_on_top(void **state)
{
    (void)state;
    scene s = make(YK_CONTACT_INTERIOR_POINT, yk_v3(0, 0, -SCENE_G));
    add_floor(&s, rough(0.5));
    int top = -1;
    for (int i = 0; i < 4; i++)
        top = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1 + 0.2 * i), i == 3 ? 1e6 : 1,
                      rough(0.5));
    start(&s, STEP);
    run(&s, STEP, 100);
    assert_near(motion_of(&s, top).position.z, 0.7, 1e-12);
    assert_near(yk_nonsmooth_contact_force(s.world, 0, YK_GROUND_INDEX).z, SCENE_G * (3 + 1e6), 1);
    scene_end(&s);
}

/* Twenty boxes of 1 kg under one of 1000 kg, with the default solver: they stay at rest
 * to rounding of their weight, and no step is unsolved. With fifty sweeps alone they fall. */
static void test_loaded_stack_stands_by_default(void **state)
{
    (void)state;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    scene s = scene_make(&def);
    add_floor(&s, rough(0.5));
    int top = -1;
    for (int i = 0; i < 21; i++) {
        double mass = i < 20 ? 1 : 1000;
        top = add_solid(&s, YK_SOLID_BOX, yk_v3(0.5, 0.5, 0.5), yk_v3(0, 0, 0.5 + i),
                        yk_q_identity(), mass, yk_m3_scale(mass / 6, yk_m3_identity()), rough(0.5));
    }

    start(&s, STEP);
    double worst = 0;
    for (int i = 0; i < 200; i++) {
        yk_nonsmooth_report report;
        assert_int_equal(yk_nonsmooth_step(s.world, STEP), YK_OK);
        yk_nonsmooth_report_read(s.world, &report);
        worst = fmax(worst, report.solver.residual);
    }
    yk_motion motion = motion_of(&s, top);
    assert_true(worst < 0.011 * SCENE_G * STEP);
    assert_near(motion.position.x, 0, 1e-5);
    assert_near(motion.position.y, 0, 1e-5);
    assert_near(motion.position.z, 20.5, 1e-6);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loaded_stack_stands_by_default),
        cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_groove),
        cmocka_unit_test(test_spinning_box),
        cmocka_unit_test(test_rolling_cylinder),
        cmocka_unit_test(test_million_on_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
