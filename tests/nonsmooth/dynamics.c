/* Many bodies: determinism, rollback, heaps, packings, joints, prescribed motion, energy. */
#include "math/so3.h"
#include "nonsmooth/packing.h"
#include "packing_file.h"
#include "scene.h"

#include <stdlib.h>
#include <string.h>

/* A heap of spheres and boxes in an open box that is shaken sideways: every kind of contact. */
static void shake_sideways(void *user, double t, yk_motion *motion)
{
    (void)user;
    double a = 0.02, w = 20;
    *motion = (yk_motion){.position = {a * sin(w * t), 0, 0},
                          .velocity = {a * w * cos(w * t), 0, 0},
                          .orientation = {1, 0, 0, 0}};
}

static scene mixed_heap(int threads, int count)
{
    yk_nonsmooth_def def = scene_default();
    def.thread_count = threads;
    def.contact_options.max_iterations = 30;
    def.contact_options.tolerance = 0;
    scene s = scene_make(&def);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.name = "tray";
    int tray = yk_world_add_body(s.world, &body);
    yk_nonsmooth_shape_def cavity = yk_nonsmooth_shape_default();
    cavity.body = (yk_body_id){tray};
    cavity.kind = YK_SOLID_BOX_CAVITY;
    cavity.size = yk_v3(0.4, 0.4, 2);
    cavity.position = yk_v3(0, 0, 2);
    cavity.open_walls = YK_WALL_TOP;
    cavity.material = rough(0.5);
    assert_true(yk_world_add_shape(s.world, &cavity) >= 0);
    assert_int_equal(yk_world_prescribe(s.world, tray, shake_sideways, NULL), YK_OK);
    for (int i = 0; i < count; i++) {
        yk_vec3 at = {-0.3 + 0.15 * (i % 5), -0.3 + 0.15 * (i / 5 % 5), 0.1 + 0.15 * (i / 25)};
        if (i % 7 == 3)
            add_box(&s, yk_v3(0.06, 0.05, 0.04), at, 0.5, rough(0.4));
        else
            add_ball(&s, 0.05 + 0.001 * (i % 13), at, rough(0.6));
    }
    start(&s, 1e-3);
    return s;
}

static void test_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    size_t words, again;
    scene one = mixed_heap(1, 150);
    run(&one, 1e-3, 300);
    double *expected = image_of(&one, &words);
    yk_nonsmooth_report report;
    yk_nonsmooth_report_read(one.world, &report);
    assert_true(report.contacts > 100);
    for (int threads = 2; threads <= 5; threads += 3) {
        scene many = mixed_heap(threads, 150);
        run(&many, 1e-3, 300);
        double *image = image_of(&many, &again);
        assert_int_equal(words, again);
        assert_memory_equal(image, expected, words * sizeof *image);
        free(image);
        scene_end(&many);
    }
    free(expected);
    scene_end(&one);
}

/* More bodies than one thread takes at a time, and no sphere among them: from the first step on every
 * one has its own inertia. */
static double *image_of_slabs(int threads, size_t *words)
{
    yk_nonsmooth_def def = scene_default();
    def.thread_count = threads;
    def.contact_options.max_iterations = 30;
    def.contact_options.tolerance = 0;
    scene s = scene_make(&def);
    add_floor(&s, rough(0.5));
    for (int i = 0; i < 5000; i++) {
        yk_vec3 at = {0.5 * (i % 70), 0.5 * (i / 70), 0.1 + 0.02 * (i % 3)};
        int slab = add_box(&s, yk_v3(0.2, 0.15, 0.1), at, 1 + 0.01 * (i % 11), rough(0.5));
        set_velocity(&s, slab, yk_v3(0, 0, 0), yk_v3(1, 0.1 * (i % 5), 2));
    }

    start(&s, 1e-3);
    run(&s, 1e-3, 3);
    double *image = image_of(&s, words);
    scene_end(&s);
    return image;
}

static void test_same_bits_of_many_slabs(void **state)
{
    (void)state;
    size_t words, again;
    double *expected = image_of_slabs(1, &words);
    for (int repeat = 0; repeat < 3; repeat++) {
        double *image = image_of_slabs(4, &again);
        assert_int_equal(words, again);
        assert_memory_equal(image, expected, words * sizeof *image);
        free(image);
    }
    free(expected);
}

/* Bits also do not depend on when the list of near pairs was made: the rolled-back run has
 * another list. */
static void test_rollback_is_exact(void **state)
{
    (void)state;
    scene s = mixed_heap(1, 100);
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
    run(&s, 1e-3, 150);
    size_t words;
    double *begin = image_of(&s, &words);
    run(&s, 1e-3, 57);
    double *end = image_of(&s, &words);
    run(&s, 1e-3, 31);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(subsystem->ops->rollback->set(subsystem, begin), YK_OK);
        double *back = image_of(&s, &words);
        assert_memory_equal(back, begin, words * sizeof *begin);
        free(back);
        run(&s, 1e-3, 57);
        double *again = image_of(&s, &words);
        assert_memory_equal(again, end, words * sizeof *end);
        free(again);
    }
    free(begin);
    free(end);
    scene_end(&s);
}

/* The force that shakes the tray balances weight and acceleration of everything in it; the
 * energies balance up to the first-order error of gravity in semi-implicit Euler. */
static void test_momentum_and_energy(void **state)
{
    (void)state;
    scene s = mixed_heap(1, 100);
    run(&s, 1e-3, 100);
    yk_energy before, after;
    yk_nonsmooth_energy(s.world, &before);
    yk_vec3 impulse = {0, 0, 0}, momentum[2] = {{0, 0, 0}, {0, 0, 0}};
    double weight = 0, h = 1e-3, drift = 0;
    int steps = 200, bodies = yk_nonsmooth_body_count(s.world);
    for (int phase = 0; phase < 2; phase++) {
        for (int i = 0; i < bodies; i++)
            momentum[phase] = yk_v3_axpy(yk_nonsmooth_body_mass(s.world, i),
                                         motion_of(&s, i).velocity, momentum[phase]);
        if (phase == 1)
            break;
        for (int i = 0; i < steps; i++) {
            double potential = 0;
            for (int k = 0; k < bodies; k++)
                potential += yk_nonsmooth_body_mass(s.world, k) * motion_of(&s, k).velocity.z;
            run(&s, h, 1);
            impulse = yk_v3_axpy(h, yk_nonsmooth_reaction(s.world, 0).force, impulse);
            for (int k = 0; k < bodies; k++)
                potential -= yk_nonsmooth_body_mass(s.world, k) * motion_of(&s, k).velocity.z;
            drift += 0.5 * h * SCENE_G * potential;
        }
    }
    for (int i = 0; i < bodies; i++)
        weight += SCENE_G * yk_nonsmooth_body_mass(s.world, i);
    yk_vec3 change = yk_v3_sub(momentum[1], momentum[0]);
    assert_near(impulse.x, change.x, 1e-12 * weight);
    assert_near(impulse.y, change.y, 1e-12 * weight);
    assert_near(impulse.z - weight * steps * h, change.z, 1e-11 * weight);
    yk_nonsmooth_energy(s.world, &after);
    double balance = after.kinetic + after.potential + after.dissipated - after.work -
                     (before.kinetic + before.potential + before.dissipated - before.work);
    assert_near(balance, -drift, 1e-12 * after.potential);
    assert_true(after.dissipated > before.dissipated);
    scene_end(&s);
}

/* More cells side by side than an int counts, of which a few are used. */
static void test_lattice_of_many_cells(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_packing_def def = yk_packing_default();
    def.count = 50;
    def.radius = 1e-5;
    def.size = yk_v3(0.5, 0.5, 0.5);
    for (int box = 0; box < 2; box++) {
        def.cavity = box ? YK_SOLID_BOX_CAVITY : YK_SOLID_CYLINDER_CAVITY;
        yk_packing packing;
        assert_int_equal(yk_packing_lattice(context, &def, &packing), YK_OK);
        for (int i = 0; i < def.count; i++) {
            yk_vec3 p = packing.positions[i];
            double reach = box ? fmax(fabs(p.x), fabs(p.y)) : hypot(p.x, p.y);
            assert_true(reach + packing.radii[i] <= 0.5 && p.z > -0.5 && p.z < 0);
            for (int k = 0; k < i; k++)
                assert_true(yk_v3_norm(yk_v3_sub(p, packing.positions[k])) > 2e-5);
        }
        yk_packing_destroy(context, &packing);
    }

    def.count = YK_PACKING_MAX + 1;
    yk_packing packing;
    assert_int_equal(yk_packing_lattice(context, &def, &packing), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "asks for 100000001 particles, the limit is"));
    yk_context_destroy(context);
}

static void test_packing_settles_and_survives_a_file(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    yk_packing_def def = yk_packing_default();
    def.count = 120;
    def.size = yk_v3(8e-3, 0, 10e-3);
    def.max_shakes = 3;
    def.settling_step = 2e-4;
    yk_packing packing, copy;
    yk_status status = yk_packing_make(context, &def, &packing);
    if (status != YK_OK)
        fail_msg("%s", yk_last_message(context));
    assert_true(packing.at_rest);
    assert_true(packing.shakes >= 1);
    double volume = def.count * 4.0 / 3 * YK_PI * pow(def.radius, 3),
           area = YK_PI * def.size.x * def.size.x;
    assert_true(packing.height > volume / area && packing.height < 2.6 * volume / area);
    for (int i = 0; i < packing.count; i++) {
        yk_vec3 p = packing.positions[i];
        assert_true(sqrt(p.x * p.x + p.y * p.y) < def.size.x - def.radius + 1e-5);
        assert_true(p.z > -def.size.z + def.radius - 1e-5);
    }
    const char *path = "packing_test.csv";
    write_packing(&packing, path);
    assert_int_equal(yk_packing_read(context, path, NULL, &copy), YK_OK);
    assert_int_equal(copy.count, packing.count);
    assert_memory_equal(copy.positions, packing.positions,
                        (size_t)copy.count * sizeof *copy.positions);
    remove(path);
    yk_packing_destroy(context, &copy);
    assert_int_equal(yk_packing_read(context, "no such file", NULL, &copy), YK_ERROR_FILE);
    yk_packing_destroy(context, &packing);
    yk_context_destroy(context);
}

/* Without torque the energy and the angular momentum of an asymmetric body stay, however it
 * tumbles. */
static void test_free_rotation(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    scene s = scene_make(&def);
    yk_mat3 inertia = yk_m3_diagonal(1, 2, 3);
    int body = add_solid(&s, YK_SOLID_BOX, yk_v3(1, 1, 1), yk_v3(0, 0, 0), yk_q_identity(), 1,
                         inertia, rough(0));
    set_velocity(&s, body, yk_v3(0, 0, 0),
                 yk_v3(0.01, 5, 0.01)); /* about the middle axis: it turns over and over */
    start(&s, 1e-3);
    yk_energy begin, end;
    yk_nonsmooth_energy(s.world, &begin);
    double least = 1;
    for (int i = 0; i < 5000; i++) {
        run(&s, 1e-3, 1);
        yk_motion m = motion_of(&s, body);
        least = fmin(least, yk_q_rotate(m.orientation, yk_v3(0, 1, 0)).y);
    }
    yk_nonsmooth_energy(s.world, &end);
    assert_relative(end.kinetic, begin.kinetic, 1e-11);
    yk_motion m = motion_of(&s, body);
    yk_vec3 local = yk_q_rotate_back(m.orientation, m.angular_velocity);
    assert_relative(yk_v3_norm(yk_m3_apply(inertia, local)),
                    sqrt(10 * 10 + 0.01 * 0.01 + 0.03 * 0.03), 1e-11);
    assert_true(least < -0.9);
    scene_end(&s);
}

/* A rod on a hinge: energy to first order, the joint holds to second, the reaction at the lowest
 * point is m g + m l w^2. */
static void test_pendulum(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    double m = 2, l = 0.5, inertia = m * l * l / 3, h = 1e-4;
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.position = yk_v3(l, 0, 0);
    body.mass = m;
    body.inertia = yk_m3_diagonal(1e-3, inertia, inertia);
    int rod = yk_world_add_body(s.world, &body);
    yk_joint_def hinge = yk_joint_default();
    hinge.name = "hinge";
    hinge.kind = YK_JOINT_REVOLUTE;
    hinge.bodies[1] = (yk_body_id){rod};
    yk_quat along_y = {sqrt(0.5), -sqrt(0.5), 0, 0};
    hinge.markers[0].orientation = along_y;
    hinge.markers[1] = (yk_marker){yk_v3(-l, 0, 0), along_y};
    int joint = yk_world_add_joint(s.world, &hinge);
    assert_true(joint >= 0);
    start(&s, h);
    double speed = 0, drift = 0;
    yk_vec3 reaction = {0, 0, 0};
    yk_motion motion = motion_of(&s, rod);
    while (motion.position.x > 0) {
        run(&s, h, 1);
        motion = motion_of(&s, rod);
        speed = yk_v3_norm(motion.angular_velocity);
        reaction = yk_nonsmooth_joint_reaction(s.world, joint).force;
        yk_vec3 end =
            yk_v3_add(motion.position, yk_q_rotate(motion.orientation, hinge.markers[1].offset));
        drift = fmax(drift, yk_v3_norm(end));
    }
    double exact = sqrt(2 * m * SCENE_G * l / (inertia + m * l * l));
    assert_relative(speed, exact, 1e-3);
    assert_relative(reaction.z, m * SCENE_G + m * l * exact * exact, 2e-3);
    assert_true(drift < 2 * h * h * exact * exact * l);
    yk_energy energy;
    yk_nonsmooth_energy(s.world, &energy);
    assert_near(energy.kinetic + energy.potential, 0, 1e-3 * m * SCENE_G * l);
    scene_end(&s);
}

/* A ball on a rod without mass: it swings at the rod's length. */
static void test_distance(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    int ball = add_ball(&s, 0.1, yk_v3(0.6, 0, -0.8), rough(0));
    yk_joint_def rod = yk_joint_default();
    rod.kind = YK_JOINT_DISTANCE;
    rod.bodies[1] = (yk_body_id){ball};
    rod.length = 1;
    assert_true(yk_world_add_joint(s.world, &rod) >= 0);
    double h = 1e-4;
    start(&s, h);
    for (int i = 0; i < 40; i++) {
        run(&s, h, 100);
        yk_motion motion = motion_of(&s, ball);
        assert_near(yk_v3_norm(motion.position), 1, 1e-6);
        assert_near(yk_v3_norm2(motion.velocity) / 2 + SCENE_G * motion.position.z, -0.8 * SCENE_G,
                    1e-2);
    }
    scene_end(&s);
}

/* A ball and a box on ground that yields: both sink by weight over stiffness, and swing with the
 * given damping. */
static void test_yielding_ground(void **state)
{
    (void)state;
    const double stiffness = 2e4, damping = 300, h = 1e-4;
    for (int round = 0; round < 2; round++) {
        yk_nonsmooth_def def = scene_default();
        def.contact_options.method = YK_CONTACT_INTERIOR_POINT;
        def.envelope = 0.01;
        scene s = scene_make(&def);
        yk_material soft = {.friction = 0.5, .stiffness = stiffness, .damping = damping};
        add_floor(&s, soft);
        int points = round ? 1 : 4;
        int body = round ? add_ball(&s, 0.1, yk_v3(0, 0, 0.1), rough(0.5))
                         : add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1), 8, rough(0.5));
        double mass = yk_nonsmooth_body_mass(s.world, body), k = points * stiffness,
               c = points * damping;
        start(&s, h);
        run(&s, h, 100);
        /* From the edge of contact: x'' + c/m x' + k/m x = -g. */
        double decay = c / (2 * mass), omega = sqrt(k / mass - decay * decay), t = 100 * h,
               sunk = mass * SCENE_G / k;
        double expected =
            -sunk * (1 - exp(-decay * t) * (cos(omega * t) + decay / omega * sin(omega * t)));
        assert_near(motion_of(&s, body).position.z - 0.1, expected, 0.02 * sunk);
        run(&s, h, 5000);
        assert_near(motion_of(&s, body).position.z - 0.1, -sunk, 1e-6);
        scene_end(&s);
    }
}

static double steady_spin(void *user, double t)
{
    (void)t;
    return *(const double *)user;
}

/* A motor that turns a wheel at constant speed against nothing needs no torque; its start needs
 * the angular momentum.
 */
static void test_motor(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, 0, 0);
    scene s = scene_make(&def);
    int wheel = add_solid(&s, YK_SOLID_CYLINDER, yk_v3(0.2, 0.2, 0.05), yk_v3(0, 0, 0),
                          yk_q_identity(), 3, yk_m3_diagonal(0.1, 0.1, 0.06), rough(0.5));
    double rate = 7, h = 1e-3;
    yk_joint_def joint = yk_joint_default();
    joint.kind = YK_JOINT_REVOLUTE;
    joint.bodies[1] = (yk_body_id){wheel};
    assert_true(yk_world_add_joint(s.world, &joint) >= 0);
    joint.kind = YK_JOINT_DRIVEN_ANGULAR_VELOCITY;
    joint.drive = (yk_time_function){.evaluate = steady_spin, .user = &rate};
    int motor = yk_world_add_joint(s.world, &joint);
    start(&s, h);
    run(&s, h, 1);
    assert_relative(motion_of(&s, wheel).angular_velocity.z, rate, 1e-9);
    assert_relative(yk_nonsmooth_joint_reaction(s.world, motor).torque.z, 0.06 * rate / h, 1e-9);
    yk_energy energy;
    yk_nonsmooth_energy(s.world, &energy);
    assert_relative(energy.work, 0.5 * 0.06 * rate * rate, 1e-9);
    assert_near(energy.dissipated, 0, 1e-12);
    run(&s, h, 100);
    assert_near(yk_nonsmooth_joint_reaction(s.world, motor).torque.z, 0, 1e-6);
    yk_quat q = motion_of(&s, wheel).orientation;
    assert_near(2 * atan2(q.z, q.w), rate * 101 * h, 1e-9);
    scene_end(&s);
}

static double parabola(void *user, double t)
{
    (void)user;
    return 1 + 3 * t * t;
}

/* The row g/h + dg/dt = 0 undoes in one step what is left of the last: a driven body is at
 * d(t - h) + h d'(t), independent of the past. */
static void test_drive_leaves_the_error_of_one_step(void **state)
{
    (void)state;
    const double h = 1e-2;
    const yk_joint_kind kinds[] = {YK_JOINT_DRIVEN_TRANSLATION, YK_JOINT_DISTANCE};
    for (int k = 0; k < 2; k++) {
        yk_nonsmooth_def def = scene_default();
        def.gravity = yk_v3(0, 0, 0);
        scene s = scene_make(&def);
        int ball = add_ball(&s, 0.1, yk_v3(0, 0, 1), rough(0));
        yk_joint_def joint = yk_joint_default();
        joint.kind = kinds[k];
        joint.bodies[1] = (yk_body_id){ball};
        joint.drive = (yk_time_function){.evaluate = parabola};
        assert_true(yk_world_add_joint(s.world, &joint) >= 0);
        start(&s, h);
        for (int n = 1; n <= 20; n++) {
            run(&s, h, 1);
            double begin = (n - 1) * h;
            double expected = parabola(NULL, begin) + h * 6 * n * h;
            assert_near(motion_of(&s, ball).position.z, expected, 1e-10);
        }
        scene_end(&s);
    }
}

/* A body that is turned about an eccentric marker: the marker is at rest, the centre moves on
 * a circle, each step along the tangent where the step began. */
static void test_port_turns_a_body_about_its_marker(void **state)
{
    (void)state;
    const double h = 1e-2, rate = 2, l = 0.5;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    int rod = add_box(&s, yk_v3(l, 0.05, 0.05), yk_v3(l, 0, 0), 3, rough(0));
    yk_marker end = yk_marker_at(-l, 0, 0);
    int port = yk_world_add_port(s.world, "end", rod, &end);
    assert_int_equal(port, 0);

    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
    yk_status status =
        subsystem->ops->connect(subsystem, port, YK_CAUSALITY_MOTION_INPUT, YK_AXES_ALL);
    assert_int_equal(status, YK_OK);
    yk_input input = {.degree = 1, .base_orientation = {1, 0, 0, 0}};
    input.angular[1] = yk_v3(0, 0, rate);
    assert_int_equal(subsystem->ops->initialize(subsystem, 0, h, &input), YK_OK);
    assert_near(motion_of(&s, rod).velocity.y, rate * l, 1e-14);

    for (int n = 0; n < 50; n++) {
        double angle = n * h * rate;
        input.base_orientation = yk_so3_exp(yk_v3(0, 0, angle));
        assert_int_equal(subsystem->ops->step(subsystem, n * h, h, &input), YK_OK);

        /* (exp(h w) - 1 - h w x) times the arm is what the marker is off, as after every step. */
        yk_motion motion = motion_of(&s, rod);
        yk_vec3 at = yk_v3_add(motion.position, yk_q_rotate(motion.orientation, end.offset));
        double across = l * (cos(h * rate) - 1);
        double along = l * (sin(h * rate) - h * rate);
        assert_near(yk_v3_norm(at), hypot(across, along), 1e-12);
        assert_near(motion.angular_velocity.z, rate, 1e-11);
    }
    scene_end(&s);
}

/* Two jaws on slides press a log with F each: it is held iff 2 mu F >= m g. */
static double slip_of_log(double press)
{
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    double mu = 0.4, m = 5, r = 0.1, l = 0.4;
    yk_mat3 inertia = yk_m3_diagonal(m * (3 * r * r + 4 * l * l) / 12,
                                     m * (3 * r * r + 4 * l * l) / 12, m * r * r / 2);
    yk_quat lying = {sqrt(0.5), sqrt(0.5), 0, 0};
    int log = add_solid(&s, YK_SOLID_CYLINDER, yk_v3(r, r, l), yk_v3(0, 0, 1), lying, m, inertia,
                        rough(mu));
    for (int side = -1; side <= 1; side += 2) {
        int jaw = add_box(&s, yk_v3(0.02, 0.3, 0.1), yk_v3(side * (r + 0.02), 0, 1), 1, rough(mu));
        yk_joint_def slide = yk_joint_default();
        slide.kind = YK_JOINT_PRISMATIC;
        slide.bodies[1] = (yk_body_id){jaw};
        yk_quat along_x = {sqrt(0.5), 0, sqrt(0.5), 0};
        slide.markers[0] = (yk_marker){yk_v3(0, 0, 1), along_x};
        slide.markers[1] = (yk_marker){yk_v3(-side * (r + 0.02), 0, 0), along_x};
        assert_true(yk_world_add_joint(s.world, &slide) >= 0);
        yk_force_def force = yk_force_default();
        force.vector = yk_v3(-side * press * m * SCENE_G / (2 * mu), 0, 0);
        force.bodies[1] = (yk_body_id){jaw};
        assert_true(yk_world_add_force(s.world, &force) >= 0);
    }
    start(&s, 1e-3);
    run(&s, 1e-3, 100);
    double fall = 1 - motion_of(&s, log).position.z;
    scene_end(&s);
    return fall;
}

static void test_gripper_holds_log(void **state)
{
    (void)state;
    assert_near(slip_of_log(1.02), 0, 1e-6);

    /* Friction of 95 % of the weight: after n steps of h it has fallen n (n + 1) / 2 a h². */
    double fall = 0.5 * 0.05 * SCENE_G * 0.1 * 0.101;
    assert_relative(slip_of_log(0.95), fall, 2e-3);
}

/* A ball that rolls over the inner edges of a flat mesh does not feel them. */
static void test_mesh_has_no_bumps(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    enum { N = 8 };
    static yk_vec3 points[(N + 1) * (N + 1)];
    static int triangles[2 * N * N][3];
    for (int i = 0; i <= N; i++)
        for (int k = 0; k <= N; k++)
            points[i * (N + 1) + k] = yk_v3(0.23 * i - 0.4, 0.21 * k - 0.8, 0);
    for (int i = 0; i < N * N; i++) {
        int a = i / N * (N + 1) + i % N;
        int quad[6] = {a, a + N + 1, a + N + 2, a, a + N + 2, a + 1};
        memcpy(triangles[2 * i], quad, sizeof quad);
    }
    yk_nonsmooth_shape_def mesh = yk_nonsmooth_shape_default();
    mesh.kind = YK_SOLID_MESH;
    mesh.points = points;
    mesh.point_count = (N + 1) * (N + 1);
    mesh.triangles = (const int(*)[3])triangles;
    mesh.triangle_count = 2 * N * N;
    mesh.material = rough(0.5);
    assert_true(yk_world_add_shape(s.world, &mesh) >= 0);
    double r = 0.1, v = 1;
    int ball = add_ball(&s, r, yk_v3(0, 0.01, r), rough(0.5));
    set_velocity(&s, ball, yk_v3(v, 0.1, 0), yk_v3(-0.1 / r, v / r, 0));
    start(&s, 1e-3);
    run(&s, 1e-3, 1000);
    yk_motion motion = motion_of(&s, ball);
    assert_near(motion.position.z, r, 1e-7);
    assert_relative(motion.velocity.x, v, 1e-6);
    assert_near(motion.position.x, 1, 1e-5);
    scene_end(&s);
}

/* A half-filled drum in steady rotation: what the drive brings in is what friction takes, and the
 * bed leans. */
static void spin_drum(void *user, double t, yk_motion *motion)
{
    (void)user;
    double w = 2;
    *motion = (yk_motion){.orientation = {cos(w * t / 2), 0, 0, sin(w * t / 2)},
                          .angular_velocity = {0, 0, w}};
}

static void test_drum(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.gravity = yk_v3(0, -SCENE_G, 0);
    def.contact_options.max_iterations = 60;
    def.contact_options.tolerance = 0;
    scene s = scene_make(&def);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.fixed = true;
    int drum = yk_world_add_body(s.world, &body);
    yk_nonsmooth_shape_def cavity = yk_nonsmooth_shape_default();
    cavity.body = (yk_body_id){drum};
    cavity.kind = YK_SOLID_CYLINDER_CAVITY;
    cavity.size = yk_v3(0.1, 0.1, 0.02);
    cavity.material = rough(0.6);
    yk_world_add_shape(s.world, &cavity);
    assert_int_equal(yk_world_prescribe(s.world, drum, spin_drum, NULL), YK_OK);
    int first = -1, count = 0;
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < 9; k++) {
            yk_vec3 at = {-0.08 + 0.02 * i, -0.085 + 0.02 * k, -0.01};
            if (sqrt(at.x * at.x + at.y * at.y) > 0.089 || at.y > 0.02)
                continue;
            for (int z = 0; z < 2; z++) {
                int ball = add_ball(&s, 0.0095, yk_v3(at.x, at.y, at.z + 0.02 * z), rough(0.6));
                if (first < 0)
                    first = ball;
                count++;
            }
        }
    }
    double h = 5e-4;
    start(&s, h);
    run(&s, h, 1500);
    yk_energy begin, end;
    yk_nonsmooth_energy(s.world, &begin);
    double lean = 0;
    for (int i = 0; i < 1500; i++) {
        run(&s, h, 1);
        for (int k = 0; k < count; k++)
            lean += motion_of(&s, first + k).position.x / count / 1500;
    }
    yk_nonsmooth_energy(s.world, &end);
    double work = end.work - begin.work, lost = end.dissipated - begin.dissipated;
    assert_true(work > 0);
    double stored = end.kinetic + end.potential - begin.kinetic - begin.potential;
    assert_near(work - lost, stored, 1e-3 * work);
    assert_true(lean > 0.01); /* the wall drags the bed along, up on the side of +x */
    scene_end(&s);
}

/* A motion without a value is named in the step in which it is asked for. */
static void lose_value(void *user, double t, yk_motion *motion)
{
    double x = sqrt(*(double *)user - t);
    *motion = (yk_motion){
        .position = {x, 0, 0}, .orientation = {1, 0, 0, 0}, .velocity = {-0.5 / x, 0, 0}};
}

static void test_motion_without_value(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    scene s = scene_make(&def);
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.name = "cam";
    body.fixed = true;
    double last = 0.035;
    assert_int_equal(
        yk_world_prescribe(s.world, yk_world_add_body(s.world, &body), lose_value, &last), YK_OK);
    add_ball(&s, 0.1, yk_v3(0, 0, 1), rough(0));

    double h = 0.01;
    start(&s, h);
    run(&s, h, 3);
    assert_int_equal(yk_nonsmooth_step(s.world, h), YK_ERROR_NOT_FINITE);
    assert_non_null(strstr(yk_last_message(s.context), "t = 0.03: the velocity of body 0 (cam)"));
    assert_non_null(strstr(yk_last_message(s.context), "what prescribes its motion"));
    scene_end(&s);
}

/* Rolling resistance M = rolling * N slows a rolling sphere by 5/7 rolling g / r, spinning
 * resistance its spin by 5/2 spinning g / r^2, both constant until it stops. */
static void test_rolling_and_spinning_friction(void **state)
{
    (void)state;
    yk_nonsmooth_def def = scene_default();
    def.contact_options.friction_model = YK_FRICTION_COULOMB;
    scene s = scene_make(&def);
    yk_material felt = {.friction = 0.5, .rolling_friction = 2e-3, .spinning_friction = 1e-3};
    double r = 0.1, v = 1, w = 5, h = 1e-3;
    add_floor(&s, felt);
    int rolls = add_ball(&s, r, yk_v3(0, 0, r), felt),
        spins = add_ball(&s, r, yk_v3(0, 5, r), felt);
    set_velocity(&s, rolls, yk_v3(v, 0, 0), yk_v3(0, v / r, 0));
    set_velocity(&s, spins, yk_v3(0, 0, 0), yk_v3(0, 0, w));
    start(&s, h);
    run(&s, h, 500);
    yk_motion rolling = motion_of(&s, rolls), spinning = motion_of(&s, spins);
    assert_relative(rolling.velocity.x, v - 5.0 / 7 * felt.rolling_friction * SCENE_G / r * 0.5,
                    1e-6);
    assert_relative(rolling.angular_velocity.y, rolling.velocity.x / r, 1e-6);
    assert_relative(spinning.angular_velocity.z,
                    w - 2.5 * felt.spinning_friction * SCENE_G / (r * r) * 0.5, 1e-6);
    run(&s, h, 8000);
    assert_near(motion_of(&s, rolls).velocity.x, 0, 1e-9);
    assert_near(motion_of(&s, spins).angular_velocity.z, 0, 1e-9);
    scene_end(&s);
}

/* A bed at rest stays at rest: no overlap grows, no energy is created. */
static void test_settled_bed_stays(void **state)
{
    (void)state;
    yk_packing_def bed = yk_packing_default();
    bed.count = 100;
    bed.size = yk_v3(7e-3, 0, 20e-3);
    bed.settling_step = 5e-4;
    yk_packing packing;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    scene s = scene_make(&def);
    assert_int_equal(yk_packing_make(s.context, &bed, &packing), YK_OK);
    yk_nonsmooth_shape_def cavity = yk_nonsmooth_shape_default();
    cavity.kind = bed.cavity;
    cavity.size = yk_v3(7e-3, 7e-3, 20e-3);
    cavity.material = bed.material;
    assert_true(yk_world_add_shape(s.world, &cavity) >= 0);
    assert_true(yk_packing_add(s.world, &packing, yk_v3(0, 0, 0), bed.density, bed.material) >= 0);

    /* The motion of the settling must end first: single spheres may still roll. */
    double h = 5e-4;
    start(&s, h);
    run(&s, h, 400);

    yk_energy begin, end;
    yk_nonsmooth_energy(s.world, &begin);
    double deepest = 0, fastest = 0, least = INFINITY, rise = 0;
    for (int i = 0; i < 2000; i++) {
        run(&s, h, 1);
        yk_nonsmooth_report report;
        yk_nonsmooth_report_read(s.world, &report);
        deepest = fmax(deepest, report.deepest_overlap);
        yk_nonsmooth_energy(s.world, &end);
        fastest = fmax(fastest, end.kinetic);
        least = fmin(least, end.kinetic + end.potential);
        rise = fmax(rise, end.kinetic + end.potential - least);
    }
    double scale = 100 * bed.density * 4.2 * pow(bed.radius, 3) * SCENE_G * bed.radius;
    assert_true(deepest < 1e-6 * bed.radius);
    assert_true(fastest < 1e-9 * scale);
    assert_true(rise < 1e-7 * scale);
    assert_near(end.potential, begin.potential, 1e-5 * scale);
    yk_packing_destroy(s.context, &packing);
    scene_end(&s);
}

static void *count_calls(void *user, void *block, size_t bytes)
{
    ++*(int *)user;
    if (bytes)
        return realloc(block, bytes);
    free(block);
    return NULL;
}

/* The accurate method builds its problem again in every step, in the memory of earlier steps. */
static void test_accurate_steps_take_no_memory(void **state)
{
    (void)state;
    int calls = 0;
    yk_context_def context_def = {.allocate = count_calls, .allocate_user = &calls};
    yk_nonsmooth_def def = scene_default();
    def.contact_options.method = YK_CONTACT_INTERIOR_POINT;
    def.contact_options.friction_model = YK_FRICTION_COULOMB;
    scene s = {.context = yk_context_create(&context_def)};
    assert_int_equal(yk_world_create(s.context, &def, &s.world), YK_OK);
    add_floor(&s, rough(0.5));
    for (int i = 0; i < 5; i++)
        add_box(&s, yk_v3(0.1, 0.1, 0.1), yk_v3(0, 0, 0.1 + 0.2 * i), 2, rough(0.5));
    start(&s, 1e-3);
    run(&s, 1e-3, 10);
    int before = calls;
    run(&s, 1e-3, 20);
    assert_int_equal(calls, before);
    scene_end(&s);
}

/* A box that begins 20 mm deep in the floor comes out no faster than a fall through one envelope
 * ends, not at one envelope per step. */
static void test_overlap_at_the_start_is_undone_slowly(void **state)
{
    (void)state;
    yk_nonsmooth_def def = yk_nonsmooth_default();
    def.thread_count = 1;
    def.envelope = 2e-3;
    scene s = scene_make(&def);
    add_floor(&s, rough(0.5));
    int box = add_solid(&s, YK_SOLID_BOX, yk_v3(0.05, 0.05, 0.05), yk_v3(0, 0, 0.03),
                        yk_q_identity(), 1, yk_m3_scale(1. / 600, yk_m3_identity()), rough(0.5));
    start(&s, 1e-3);
    double fastest = 0;
    for (int i = 0; i < 400; i++) {
        assert_true(!YK_FAILED(yk_nonsmooth_step(s.world, 1e-3)));
        fastest = fmax(fastest, motion_of(&s, box).velocity.z);
    }
    assert_near(fastest, sqrt(2 * 9.81 * 2e-3), 1e-6);
    assert_near(motion_of(&s, box).position.z, 0.05, 1e-6);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap_at_the_start_is_undone_slowly),
        cmocka_unit_test(test_accurate_steps_take_no_memory),
        cmocka_unit_test(test_same_bits_for_any_number_of_threads),
        cmocka_unit_test(test_same_bits_of_many_slabs),
        cmocka_unit_test(test_rollback_is_exact),
        cmocka_unit_test(test_momentum_and_energy),
        cmocka_unit_test(test_lattice_of_many_cells),
        cmocka_unit_test(test_packing_settles_and_survives_a_file),
        cmocka_unit_test(test_free_rotation),
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_yielding_ground),
        cmocka_unit_test(test_motor),
        cmocka_unit_test(test_drive_leaves_the_error_of_one_step),
        cmocka_unit_test(test_port_turns_a_body_about_its_marker),
        cmocka_unit_test(test_gripper_holds_log),
        cmocka_unit_test(test_mesh_has_no_bumps),
        cmocka_unit_test(test_drum),
        cmocka_unit_test(test_motion_without_value),
        cmocka_unit_test(test_rolling_and_spinning_friction),
        cmocka_unit_test(test_settled_bed_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
