/* Bodies at rest are deactivated, and disturbances reactivate them in time. */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

static const double H = 1e-3;

static yk_nonsmooth_def sleeping_default(bool sleeps)
{
    yk_nonsmooth_def def = scene_default();
    def.contact_options.max_iterations = 100;
    def.contact_options.tolerance = 1e-9;
    if (sleeps)
        def.sleeping = (yk_sleep_options){
            .speed_threshold = 2e-3, .angular_speed_threshold = 0.05, .delay = 0.1};
    return def;
}

static size_t asleep(const scene *s)
{
    yk_nonsmooth_report report;
    yk_nonsmooth_report_read(s->world, &report);
    return report.asleep;
}

/* A body that never moves, in the shape of a plate with its upper face at z = 0. */
static int add_plate(scene *s, yk_vec3 centre)
{
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.fixed = true;
    body.position = yk_v3_add(centre, yk_v3(0, 0, -0.1));
    int plate = yk_world_add_body(s->world, &body);
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){plate};
    shape.kind = YK_SOLID_BOX;
    shape.size = yk_v3(1, 1, 0.1);
    shape.material = rough(0.5);
    assert_true(plate >= 0 && yk_world_add_shape(s->world, &shape) >= 0);
    return plate;
}

/* Two beds of balls and boxes in open trays on one body that never moves; returns how many bodies
 * can move. */
static int add_beds(scene *s)
{
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.fixed = true;
    int trays = yk_world_add_body(s->world, &body), count = 0;
    for (int side = -1; side <= 1; side += 2) {
        yk_nonsmooth_shape_def tray = yk_nonsmooth_shape_default();
        tray.body = (yk_body_id){trays};
        tray.kind = YK_SOLID_BOX_CAVITY;
        tray.position = yk_v3(0.5 * side, 0, 0.5);
        tray.size = yk_v3(0.21, 0.21, 0.5);
        tray.open_walls = YK_WALL_TOP;
        tray.material = rough(0.5);
        tray.collision_group = tray.collision_mask = side < 0 ? 1 : 2;
        assert_true(trays >= 0 && yk_world_add_shape(s->world, &tray) >= 0);
        for (int i = 0; i < 20; i++, count++) {
            yk_vec3 at = {0.5 * side - 0.15 + 0.1 * (i % 4), -0.15 + 0.1 * (i / 4 % 4),
                          0.051 + 0.102 * (i / 16)};
            yk_vec3 half = i % 3 ? yk_v3(0.0495, 0, 0) : yk_v3(0.049, 0.049, 0.05);
            yk_mat3 inertia = yk_m3_scale(i % 3 ? 0.4 * half.x * half.x : 0.0016, yk_m3_identity());
            body = yk_nonsmooth_body_default();
            body.position = at;
            body.inertia = inertia;
            yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
            shape.body = (yk_body_id){yk_world_add_body(s->world, &body)};
            shape.kind = i % 3 ? YK_SOLID_SPHERE : YK_SOLID_BOX;
            shape.size = half;
            shape.material = rough(0.6);
            shape.collision_group = shape.collision_mask = tray.collision_group;
            assert_true(shape.body.index >= 0 && yk_world_add_shape(s->world, &shape) >= 0);
        }
    }
    return count;
}

static double total_energy(const scene *s)
{
    yk_energy e;
    yk_nonsmooth_energy(s->world, &e);
    return e.kinetic + e.potential + e.dissipated - e.work;
}

/* Everything sleeps in the end, exactly at rest; the plate still carries all of the weight, and
 * the energies balance. */
static void test_beds_fall_asleep(void **state)
{
    (void)state;
    yk_nonsmooth_def def = sleeping_default(true);
    scene s = scene_make(&def);
    int count = add_beds(&s);
    start(&s, H);
    run(&s, H, 1000);
    assert_int_equal(asleep(&s), count);
    double weight = 0, energy = total_energy(&s);
    for (int i = 1; i <= count; i++) {
        yk_motion motion = motion_of(&s, i);
        assert_true(yk_v3_norm(motion.velocity) == 0 && yk_v3_norm(motion.angular_velocity) == 0);
        weight += SCENE_G * yk_nonsmooth_body_mass(s.world, i);
    }
    yk_vec3 before = motion_of(&s, 7).position;
    assert_near(yk_nonsmooth_reaction(s.world, 0).force.z, weight, 1e-6 * weight);
    run(&s, H, 500);
    run(&s, H / 3, 10); /* forces do not depend on the step */
    assert_near(yk_nonsmooth_reaction(s.world, 0).force.z, weight, 1e-6 * weight);
    yk_vec3 after = motion_of(&s, 7).position;
    assert_memory_equal(&before, &after, sizeof before);
    assert_near(total_energy(&s), energy, 1e-12);
    scene_end(&s);
}

/* A ball that waits on a plate high above one of the beds, and is then dropped on one of the
 * beds. */
static int add_missile(scene *s)
{
    add_plate(s, yk_v3(-0.5, 0, 0.95));
    return add_ball(s, 0.03, yk_v3(-0.5, 0, 0.98), rough(0.3));
}

static void drop(scene *s, int ball)
{
    yk_motion motion = motion_of(s, ball);
    motion.position = yk_v3(-0.47, 0.02, 0.6);
    yk_nonsmooth_set_motion(s->world, ball, &motion);
}

/* Touched bodies wake, others continue to sleep, and the end equals that of bodies that never slept. */
static void test_impact_wakes_what_it_touches(void **state)
{
    (void)state;
    scene scenes[2];
    int missile = 0;
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        yk_nonsmooth_def def = sleeping_default(sleeps);
        scene *s = &scenes[sleeps];
        *s = scene_make(&def);
        add_beds(s);
        missile = add_missile(s);
        start(s, H);
        run(s, H, 700);
        if (sleeps)
            assert_int_equal(asleep(s), 41);
        drop(s, missile);
        run(s, H, 200);
        if (sleeps)
            assert_int_equal(asleep(s), 40); /* on its way */
        run(s, H, 200);
        if (sleeps)
            assert_in_range(asleep(s), 20, 39); /* it has struck one of the beds */
        run(s, H, 1100);
        if (sleeps)
            assert_true(asleep(s) >= 39); /* a ball may roll on */
    }
    yk_energy expected, found;
    yk_nonsmooth_energy(scenes[0].world, &expected);
    yk_nonsmooth_energy(scenes[1].world, &found);
    assert_near(found.potential, expected.potential, 1e-9 * expected.potential);
    assert_near(found.dissipated, expected.dissipated, 1e-9 * expected.dissipated);
    double moved = 0;
    for (int i = 1; i < missile; i++) {
        yk_vec3 a = motion_of(&scenes[0], i).position, b = motion_of(&scenes[1], i).position;
        moved = fmax(moved, yk_v3_norm(yk_v3_sub(a, b)));
    }
    assert_true(moved < 1e-9);
    scene_end(&scenes[0]);
    scene_end(&scenes[1]);
}

/* A box that was asleep on a support falls from the very step in which the support is taken away:
 * n steps of g h. */
static void test_support_is_removed(void **state)
{
    (void)state;
    yk_nonsmooth_def def = sleeping_default(true);
    scene s = scene_make(&def);
    int plate = add_plate(&s, yk_v3(0, 0, 0));
    int boxes[3];
    for (int i = 0; i < 3; i++)
        boxes[i] = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1 + 0.2 * i), 2 + i, rough(0.5));
    start(&s, H);
    run(&s, H, 300);
    assert_int_equal(asleep(&s), 3);
    double top = motion_of(&s, boxes[2]).position.z;
    yk_motion aside = motion_of(&s, plate);
    aside.position.x += 10;
    yk_nonsmooth_set_motion(s.world, plate, &aside);
    run(&s, H, 100);
    assert_int_equal(asleep(&s), 0);
    assert_near(motion_of(&s, boxes[2]).velocity.z, -SCENE_G * 100 * H, 1e-9);
    assert_near(motion_of(&s, boxes[2]).position.z, top - SCENE_G * H * H * 100 * 101 / 2, 1e-9);
    scene_end(&s);
}

/* Prescribed motion of a plane: at rest, then tilting about y slowly, with a pause. */
typedef struct tilting {
    double rate, pause_begin, pause_end;
} tilting;

static double tilt_at(const tilting *tilt, double t, double *rate)
{
    bool pausing = t > tilt->pause_begin && t < tilt->pause_end;
    *rate = pausing ? 0 : tilt->rate;
    double lost = fmin(fmax(t - tilt->pause_begin, 0), tilt->pause_end - tilt->pause_begin);
    return tilt->rate * (t - lost);
}

static void tilt_plane(void *user, double t, yk_motion *motion)
{
    double rate, angle = tilt_at(user, t, &rate);
    *motion = (yk_motion){.orientation = {cos(angle / 2), 0, sin(angle / 2), 0},
                          .angular_velocity = {0, rate, 0}};
}

/* Angle at which a box on the plane has slipped by 1 mm; whether it ever slept. */
static double slip_angle(const tilting *tilt, bool sleeps, bool *slept)
{
    tilting own = *tilt;
    yk_nonsmooth_def def = sleeping_default(sleeps);
    scene s = scene_make(&def);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    int plane = yk_world_add_body(s.world, &body);
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){plane};
    shape.kind = YK_SOLID_PLANE;
    shape.material = rough(0.05);
    assert_true(yk_world_add_shape(s.world, &shape) >= 0);
    assert_int_equal(yk_world_prescribe(s.world, plane, tilt_plane, &own), YK_OK);
    int box = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1), 1, rough(0.5));
    start(&s, H);
    *slept = false;
    double rate, slipped = 0;
    for (int i = 0; i < 20000 && slipped < 1e-3; i++) {
        run(&s, H, 1);
        *slept = *slept || asleep(&s) > 0;
        yk_vec3 local =
            yk_q_rotate_back(motion_of(&s, plane).orientation, motion_of(&s, box).position);
        slipped = fabs(local.x);
    }
    double angle = tilt_at(&own, yk_nonsmooth_time(s.world), &rate);
    scene_end(&s);
    return angle;
}

/* All along the box is slower than the limits until it slips at atan mu: it must not rest while
 * the plane moves, may rest while the plane pauses, and slips at the same angle in any case. */
static void test_slow_tilting_keeps_the_slip_angle(void **state)
{
    (void)state;
    bool slept;
    const tilting steady = {0.01, 100, 100}, paused = {0.01, 2, 3};
    double expected = slip_angle(&steady, false, &slept);
    /* A millimetre takes time while the slope grows: 6 * 1 mm = g rate t^3. */
    assert_near(expected, atan(0.05) + 0.01 * cbrt(6e-3 / (SCENE_G * 0.01)), 2e-4);
    assert_true(slip_angle(&steady, true, &slept) == expected);
    assert_false(slept);
    assert_near(slip_angle(&paused, true, &slept), expected, 2e-5);
    assert_true(slept);
}

static double late_load(void *user, double t)
{
    (void)user;
    return t < 1 ? 1 : 3;
}

/* A block on a rough floor, pushed by less than friction holds, sleeps; a larger push moves it
 * from that step on. */
static void test_changed_load_wakes(void **state)
{
    (void)state;
    yk_nonsmooth_def def = sleeping_default(true);
    scene s = scene_make(&def);
    add_plate(&s, yk_v3(0, 0, 0));
    int box = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1), 1, rough(0.2));
    yk_force_def push = yk_force_default();
    push.kind = YK_FORCE_FORCE;
    push.vector = yk_v3(1, 0, 0);
    push.bodies[1] = (yk_body_id){box};
    push.load = (yk_time_function){.evaluate = late_load, .user = NULL};
    assert_true(yk_world_add_force(s.world, &push) >= 0);
    start(&s, H);
    run(&s, H, 999);
    assert_int_equal(asleep(&s), 1);
    assert_near(motion_of(&s, box).velocity.x, 0, 0);
    run(&s, H, 101);
    assert_int_equal(asleep(&s), 0);
    double steps = round((yk_nonsmooth_time(s.world) - 1) / H);
    assert_near(motion_of(&s, box).velocity.x, (3 - 0.2 * SCENE_G) * H * steps, 2e-3 * steps * H);
    scene_end(&s);
}

static double late_drive(void *user, double t)
{
    (void)user;
    return t < 1 ? 0 : 0.5 * (t - 1);
}

/* A wheel whose angle is driven: at rest it sleeps with its holder, and follows the drive as if
 * it had not. */
static void test_drive_wakes(void **state)
{
    (void)state;
    yk_nonsmooth_def def = sleeping_default(true);
    scene s = scene_make(&def);
    int wheel = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 2), 3, rough(0.2));
    yk_joint_def joint = yk_joint_default();
    joint.kind = YK_JOINT_DRIVEN_ROTATION;
    joint.bodies[0] = (yk_body_id){wheel};
    joint.bodies[1] = YK_GROUND;
    joint.markers[1] = yk_marker_at(0, 0, 2);
    joint.drive = (yk_time_function){.evaluate = late_drive, .user = NULL};
    int motor = yk_world_add_joint(s.world, &joint);
    assert_true(motor >= 0);
    joint.kind = YK_JOINT_REVOLUTE;
    joint.drive = (yk_time_function){0};
    int hinge = yk_world_add_joint(s.world, &joint);
    assert_true(hinge >= 0);
    start(&s, H);
    run(&s, H, 900);
    assert_int_equal(asleep(&s), 1);
    assert_near(yk_nonsmooth_joint_reaction(s.world, hinge).force.z, -3 * SCENE_G, 1e-6);
    run(&s, H, 300);
    assert_int_equal(asleep(&s), 0);
    assert_near(fabs(motion_of(&s, wheel).angular_velocity.z), 0.5, 1e-9);
    assert_near(motion_of(&s, wheel).position.z, 2, 1e-9);
    scene_end(&s);
}

/* A box clamped 2 m from the centre of a plate that never moves: asleep it still hangs from the
 * plate with all of its weight, whichever of them the joint names first. */
static void test_joints_carry_what_sleeps(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        yk_nonsmooth_def def = sleeping_default(true);
        scene s = scene_make(&def);
        int plate = add_plate(&s, yk_v3(0, 0, 0.1));
        int box = add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(2, 0, 0), 3, rough(0.2));
        yk_joint_def joint = yk_joint_default();
        joint.kind = YK_JOINT_FIXED;
        joint.bodies[first] = (yk_body_id){plate};
        joint.bodies[1 - first] = (yk_body_id){box};
        joint.markers[first] = yk_marker_at(2, 0, 0);
        assert_true(yk_world_add_joint(s.world, &joint) >= 0);
        start(&s, H);
        run(&s, H, 500);
        assert_int_equal(asleep(&s), 1);
        yk_wrench held = yk_nonsmooth_reaction(s.world, plate);
        assert_near(held.force.z, 3 * SCENE_G, 1e-6);
        assert_near(held.torque.y, -2 * 3 * SCENE_G, 1e-6);
        scene_end(&s);
    }
}

static scene struck_beds(int threads)
{
    yk_nonsmooth_def def = sleeping_default(true);
    def.thread_count = threads;
    def.contact_options.max_iterations = 30;
    def.contact_options.tolerance = 0;
    scene s = scene_make(&def);
    add_beds(&s);
    int missile = add_missile(&s);
    start(&s, H);
    run(&s, H, 700);
    drop(&s, missile);
    return s;
}

/* The image of a world that may sleep has the stated size, and nothing is written after it:
 * there are many bodies with prescribed motion, so that the space for contacts cannot hide a missing space for them. */
static void test_image_has_its_size(void **state)
{
    (void)state;
    enum { KNOWN = 50, BEYOND = 1000 };
    static const double untouched = -1234.5;
    yk_nonsmooth_def def = sleeping_default(true);
    def.contact_capacity = 1;
    scene s = scene_make(&def);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.fixed = true;
    for (int i = 0; i < KNOWN; i++)
        assert_true(yk_world_add_body(s.world, &body) >= 0);
    add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0), 3, rough(0.2));
    start(&s, H);
    run(&s, H, 10);

    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
    size_t words = subsystem->ops->rollback->layout(subsystem).word_count;
    double *image = malloc((words + BEYOND) * sizeof *image);
    assert_non_null(image);
    for (size_t i = 0; i < words + BEYOND; i++)
        image[i] = untouched;
    subsystem->ops->rollback->get(subsystem, image);
    assert_true(image[words - 1] != untouched);
    for (size_t i = words; i < words + BEYOND; i++)
        assert_true(image[i] == untouched);
    free(image);
    scene_end(&s);
}

/* Bits across falling asleep and waking, for any number of threads, and again after a rollback
 * from afar. */
static void test_same_bits(void **state)
{
    (void)state;
    size_t words, again;
    scene one = struck_beds(1), many = struck_beds(3);
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(one.world);
    double *mark = image_of(&one, &words);
    assert_int_equal(asleep(&one), 41);
    run(&one, H, 400);
    assert_in_range(asleep(&one), 20, 39);
    double *woken = image_of(&one, &words);
    run(&many, H, 400);
    double *image = image_of(&many, &again);
    assert_int_equal(words, again);
    assert_memory_equal(image, woken, words * sizeof *image);
    run(&one, H, 1100);
    assert_true(asleep(&one) >= 39);
    assert_int_equal(subsystem->ops->rollback->set(subsystem, mark), YK_OK);
    run(&one, H, 400);
    subsystem->ops->rollback->get(subsystem, image);
    assert_memory_equal(image, woken, words * sizeof *image);
    free(mark), free(woken), free(image);
    scene_end(&one);
    scene_end(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beds_fall_asleep),
        cmocka_unit_test(test_impact_wakes_what_it_touches),
        cmocka_unit_test(test_support_is_removed),
        cmocka_unit_test(test_slow_tilting_keeps_the_slip_angle),
        cmocka_unit_test(test_changed_load_wakes),
        cmocka_unit_test(test_drive_wakes),
        cmocka_unit_test(test_joints_carry_what_sleeps),
        cmocka_unit_test(test_image_has_its_size),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
