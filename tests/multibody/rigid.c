/* Properties that the solver guarantees: conservation laws, motions known in closed form,
 * prescribed and non-holonomic motions, statics, error control, merging, and messages that name the
 * cause. */
#include <string.h>

#include "math/so3.h"
#include "run.h"

static void assert_second_order(double coarse, double fine)
{
    double order = log2(fabs(coarse) / fabs(fine));
    if (order < 1.8 || order > 2.3)
        print_error("errors %.3g and %.3g: order %.2f\n", coarse, fine, order);
    assert_true(order >= 1.8 && order <= 2.3);
}

/* Free and heavy top --------------------------------------------------------------------------- */

static yk_vec3 angular_momentum(const run *r, yk_mat3 inertia)
{
    yk_motion motion = run_motion(r, 0);
    yk_mat3 rotation = yk_q_matrix(motion.orientation);
    yk_mat3 rotated = yk_m3_mul(rotation, yk_m3_mul(inertia, yk_m3_transpose(rotation)));
    return yk_m3_apply(rotated, motion.angular_velocity);
}

/* A free body that spins near its unstable axis tumbles over and over; its angular momentum never
 * changes. */
static void free_body_keeps_its_angular_momentum(void **state)
{
    (void)state;
    yk_mat3 inertia = yk_m3_diagonal(1, 2, 3);
    double energy[2];
    yk_quat orientation[3];
    for (int i = 0; i < 3; i++) {
        run r;
        kit_open(&r.kit, 1);
        kit_node(&r.kit, "stone", yk_v3(0, 0, 0), yk_so3_exp(yk_v3(0.3, -0.2, 0.5)));
        kit_body(&r.kit, 0, 1, 1, 2, 3);
        r.kit.nodes[0].angular_velocity = yk_v3(0.4, 4, -0.3);
        r.kit.def.options.newton_relative_tolerance =
            1e-9; /* conservation is as good as the iteration: 2e-15 rad per step */
        run_start(&r, 4e-3 / (1 << i));
        yk_vec3 before = angular_momentum(&r, inertia);
        double start = run_energy(&r);
        run_to(&r, 4);
        assert_near(yk_v3_norm(yk_v3_sub(angular_momentum(&r, inertia), before)), 0, 1e-8);
        if (i < 2)
            energy[i] = run_energy(&r) - start;
        orientation[i] = run_motion(&r, 0).orientation;
        run_stop(&r);
    }
    assert_second_order(energy[0], energy[1]);
    double coarse =
        yk_v3_norm(yk_so3_log(yk_q_mul(orientation[0], yk_q_conjugate(orientation[1]))));
    double fine = yk_v3_norm(yk_so3_log(yk_q_mul(orientation[1], yk_q_conjugate(orientation[2]))));
    assert_second_order(coarse, fine);
}

/* explicit (33)-(35) over steps of any size: a body that falls while it spins about an axis of
 * inertia is predicted exactly, since its path is a parabola and its rotation uniform. */
static void prediction_is_exact_for_unequal_steps(void **state)
{
    (void)state;
    static const double sizes[] = {0.01, 0.02, 0.005, 0.0125};
    run r;
    kit_open(&r.kit, 1);
    r.kit.def.gravity = yk_v3(0, 0, -9.81);
    kit_node(&r.kit, "stone", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 2, 1, 2, 3);
    r.kit.nodes[0].velocity = yk_v3(3, 0, 1);
    r.kit.nodes[0].angular_velocity = yk_v3(0, 0, 4);
    r.kit.ports[0] = yk_port_default();
    r.kit.ports[0].name = "centre";
    r.kit.ports[0].bodies[0] = (yk_body_id){0};
    r.kit.def.port_count = 1;
    run_create(&r);

    yk_subsystem *subsystem = yk_multibody_subsystem(r.model);
    yk_status status =
        subsystem->ops->connect(subsystem, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXES_ALL);
    assert_int_equal(status, YK_OK);
    yk_input free = {.degree = 0, .base_orientation = {1, 0, 0, 0}};
    assert_true(subsystem->ops->initialize(subsystem, 0, sizes[0], &free) >= 0);

    double t = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double h = sizes[i], end = t + h;
        yk_motion motion = run_motion(&r, 0);
        subsystem->ops->predict(subsystem, 0, h, &motion);
        assert_near(motion.position.x, 3 * end, 1e-12);
        assert_near(motion.position.z, end - 0.5 * 9.81 * end * end, 1e-12);
        assert_near(motion.velocity.z, 1 - 9.81 * end, 1e-10);
        assert_near(motion.angular_velocity.z, 4, 1e-10);
        yk_quat ahead = yk_q_mul(motion.orientation, yk_so3_exp(yk_v3(0, 0, -4 * end)));
        assert_near(yk_v3_norm(yk_so3_log(ahead)), 0, 1e-12);

        assert_int_equal(subsystem->ops->step(subsystem, t, h, &free), YK_OK);
        t = end;
    }
    run_stop(&r);
}

static double top_error(double h, double end)
{
    run r;
    kit_top(&r.kit);
    run_start(&r, h);
    run_to(&r, end);
    double error = yk_v3_norm(yk_v3_sub(run_motion(&r, 0).position, kit_top_position(end)));
    run_stop(&r);
    return error;
}

static void heavy_top_precesses_steadily(void **state)
{
    (void)state;
    /* It spins with 120 rad/s: seven degrees per step at h = 1e-3, twenty turns in all. */
    double coarse = top_error(1e-3, 1), fine = top_error(5e-4, 1);
    assert_near(fine, 0, 1e-3);
    assert_second_order(coarse, fine);
}

/* Flyball governor: two arms with balls on a free shaft, links to a sleeve, a spring; redundant
 * loops. */

static double governor_spin(const run *r)
{
    /* Angular momentum about the shaft; all bodies except the shaft and the sleeve are points. */
    double sum = 0;
    static const double mass[7] = {2, 1, 1, 0.01, 0.01, 0.5, 0},
                        inertia[7] = {0.02, 1e-3, 1e-3, 1e-5, 1e-5, 5e-3, 0};
    for (int i = 0; i < 6; i++) {
        yk_motion m = run_motion(r, i);
        sum += mass[i] * (m.position.x * m.velocity.y - m.position.y * m.velocity.x) +
               inertia[i] * m.angular_velocity.z;
    }
    return sum;
}

static void governor(run *r)
{
    double arm = 0.4, angle = 0.7, link = 0.2;
    double reach = arm * sin(angle), drop = arm * cos(angle);
    kit_open(&r->kit, 12);
    r->kit.def.name = "governor";
    r->kit.def.gravity = yk_v3(0, 0, -9.81);
    int shaft = kit_node(&r->kit, "shaft", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r->kit, shaft, 2, 0.02, 0.02, 0.02);
    yk_quat about_y = kit_axis(yk_v3(0, 1, 0));
    yk_marker top = kit_marker(yk_v3(0, 0, 0), about_y);
    int ball[2];
    for (int i = 0; i < 2; i++) {
        double side = i ? -1 : 1;
        ball[i] =
            kit_node(&r->kit, i ? "left" : "right", yk_v3(side * reach, 0, -drop), yk_q_identity());
        kit_body(&r->kit, ball[i], 1, 1e-3, 1e-3, 1e-3);
        kit_joint(&r->kit, YK_JOINT_REVOLUTE, i ? "hip left" : "hip right", shaft, top, ball[i],
                  kit_marker(yk_v3(-side * reach, 0, drop), about_y));
    }
    int joint_link[2];
    for (int i = 0; i < 2; i++) {
        double side = i ? -1 : 1;
        joint_link[i] =
            kit_node(&r->kit, i ? "link left" : "link right",
                     yk_v3(side * 0.25 * reach, 0, -0.5 * drop - 0.5 * link), yk_q_identity());
        kit_body(&r->kit, joint_link[i], 0.01, 1e-5, 1e-5, 1e-5);
        /* From the middle of the arm to the sleeve on the shaft. */
        kit_joint(&r->kit, YK_JOINT_REVOLUTE, i ? "knee left" : "knee right", ball[i],
                  kit_marker(yk_v3(-side * 0.5 * reach, 0, 0.5 * drop), about_y), joint_link[i],
                  kit_marker(yk_v3(side * 0.25 * reach, 0, 0.5 * link), about_y));
    }
    int sleeve = kit_node(&r->kit, "sleeve", yk_v3(0, 0, -0.5 * drop - link), yk_q_identity());
    kit_body(&r->kit, sleeve, 0.5, 5e-3, 5e-3, 5e-3);
    for (int i = 0; i < 2; i++)
        kit_joint(&r->kit, YK_JOINT_REVOLUTE, i ? "foot left" : "foot right", joint_link[i],
                  kit_marker(yk_v3(i ? 0.25 * reach : -0.25 * reach, 0, -0.5 * link), about_y),
                  sleeve, top);
    kit_joint(&r->kit, YK_JOINT_PRISMATIC, "sleeve guide", shaft, yk_marker_default(), sleeve,
              yk_marker_default());
    kit_joint(&r->kit, YK_JOINT_REVOLUTE, "bearing", YK_GROUND_INDEX, yk_marker_default(), shaft,
              yk_marker_default());
    r->kit.forces[0] = yk_force_default();
    r->kit.forces[0].name = "spring";
    r->kit.forces[0].kind = YK_FORCE_SPRING;
    r->kit.forces[0].bodies[0] = (yk_body_id){shaft};
    r->kit.forces[0].bodies[1] = (yk_body_id){sleeve};
    r->kit.forces[0].stiffness = 200;
    r->kit.forces[0].free_length = 0.4;
    r->kit.def.force_count = 1;
    for (int i = 0; i < 6; i++) {
        yk_vec3 spin = {0, 0, 12};
        r->kit.nodes[i].angular_velocity = spin;
        r->kit.nodes[i].velocity = yk_v3_cross(spin, r->kit.nodes[i].position);
    }
}

static void governor_keeps_energy_and_spin(void **state)
{
    (void)state;
    double energy[2], height[2], momentum[2];
    for (int i = 0; i < 2; i++) {
        run r;
        governor(&r);
        r.kit.def.options.newton_relative_tolerance = 1e-6;
        run_start(&r, i ? 5e-4 : 1e-3);
        double start = run_energy(&r), spin = governor_spin(&r);
        double first = run_motion(&r, 1).position.z;
        run_to(&r, 0.5);
        energy[i] = run_energy(&r) - start;
        height[i] = run_motion(&r, 1).position.z - first;
        momentum[i] = governor_spin(&r) - spin;
        /* The balls are on opposite sides at one height. */
        assert_near(run_motion(&r, 1).position.z, run_motion(&r, 2).position.z, 1e-9);
        run_stop(&r);
    }
    assert_true(fabs(height[1]) > 1e-3); /* it does move */
    assert_near(energy[1], 0, 1e-4);
    assert_near(momentum[1], 0, 1e-6);
    assert_second_order(energy[0], energy[1]);
}

/* Non-holonomic motions ------------------------------------------------------------------------ */

/* A skate on an inclined plane, at rest but turning: x = g/(2 w^2) sin^2(w t), y = g/(2 w) (t -
 * sin(2 w t)/(2 w)). */
static double skate_error(double h)
{
    double slope = 2, w = 3, end = 1;
    run r;
    kit_open(&r.kit, 4);
    r.kit.def.gravity = yk_v3(slope, 0, -9);
    kit_node(&r.kit, "skate", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 1.3, 0.1, 0.1, 0.2);
    r.kit.nodes[0].angular_velocity = yk_v3(0, 0, w);
    kit_joint(&r.kit, YK_JOINT_PLANAR, "ice", YK_GROUND_INDEX, yk_marker_default(), 0,
              yk_marker_default());
    kit_joint(&r.kit, YK_JOINT_KNIFE_EDGE, "edge", YK_GROUND_INDEX, yk_marker_default(), 0,
              yk_marker_default());
    run_start(&r, h);
    run_to(&r, end);
    yk_motion motion = run_motion(&r, 0);
    double x = slope / (2 * w * w) * sin(w * end) * sin(w * end);
    double y = slope / (2 * w) * (end - sin(2 * w * end) / (2 * w));
    run_stop(&r);
    return hypot(motion.position.x - x, motion.position.y - y);
}

static void skate_goes_down_an_incline_on_cycloids(void **state)
{
    (void)state;
    double coarse = skate_error(4e-3), fine = skate_error(2e-3);
    assert_near(fine, 0, 1e-5);
    assert_second_order(coarse, fine);
}

static void wheel(run *r, yk_vec3 lean, double speed)
{
    double radius = 0.3, mass = 2;
    kit_open(&r->kit, 2);
    r->kit.def.name = "wheel";
    r->kit.def.gravity = yk_v3(0, 0, -9.81);
    /* The axle (z of the body) along global y, so it rolls along x. */
    yk_quat upright = yk_so3_exp(yk_v3(-YK_PI / 2, 0, 0));
    yk_quat orientation = yk_q_mul(yk_so3_exp(lean), upright);
    double height = radius * sqrt(1 - pow(yk_q_rotate(orientation, yk_v3(0, 0, 1)).z, 2));
    kit_node(&r->kit, "wheel", yk_v3(0, 0, height), orientation);
    kit_body(&r->kit, 0, mass, 0.25 * mass * radius * radius, 0.25 * mass * radius * radius,
             0.5 * mass * radius * radius);
    r->kit.nodes[0].velocity = yk_v3(speed, 0, 0);
    r->kit.nodes[0].angular_velocity = yk_q_rotate(orientation, yk_v3(0, 0, speed / radius));
    r->kit.nodes[0].keep_initial_pose = true;
    int road = kit_joint(&r->kit, YK_JOINT_ROLLING, "road", YK_GROUND_INDEX, yk_marker_default(), 0,
                         yk_marker_default());
    r->kit.joints[road].length = radius;
}

static void upright_wheel_rolls_straight(void **state)
{
    (void)state;
    run r;
    wheel(&r, yk_v3(0, 0, 0), 3);
    run_start(&r, 2e-3);
    run_to(&r, 1);
    yk_motion motion = run_motion(&r, 0);
    assert_near(motion.position.x, 3, 1e-9);
    assert_near(motion.position.z, 0.3, 1e-9);
    assert_near(yk_v3_norm(motion.angular_velocity), 10, 1e-9);
    yk_wrench reaction;
    yk_multibody_reaction(r.model, 0, &reaction);
    assert_near(reaction.force.z, 2 * 9.81, 1e-7);
    run_stop(&r);
}

static void leaning_wheel_keeps_its_energy_and_does_not_slip(void **state)
{
    (void)state;
    double energy[2];
    for (int i = 0; i < 2; i++) {
        run r;
        wheel(&r, yk_v3(0.3, 0, 0), 3);
        run_start(&r, i ? 1e-3 : 2e-3);
        double start = run_energy(&r);
        run_to(&r, 1.5);
        energy[i] = run_energy(&r) - start;
        yk_motion motion = run_motion(&r, 0);
        yk_vec3 axle = yk_q_rotate(motion.orientation, yk_v3(0, 0, 1));
        yk_vec3 contact = yk_v3_scale(-0.3 / sqrt(1 - axle.z * axle.z),
                                      yk_v3_axpy(-axle.z, axle, yk_v3(0, 0, 1)));
        yk_vec3 slip = yk_v3_add(motion.velocity, yk_v3_cross(motion.angular_velocity, contact));
        assert_near(hypot(slip.x, slip.y), 0, 1e-8);
        assert_near(motion.position.z + contact.z, 0, 1e-9);
        assert_true(fabs(motion.position.y) > 0.05); /* it turns to the side it leans to */
        run_stop(&r);
    }
    assert_near(energy[1], 0, 1e-4);
    assert_second_order(energy[0], energy[1]);
}

/* Prescribed motions --------------------------------------------------------------------------- */

static double ramp(void *user, double t)
{
    return *(double *)user * t;
}

static double constant(void *user, double t)
{
    (void)t;
    return *(double *)user;
}

/* An arm turned at constant speed: over many turns, with the torque that gravity asks for. */
static void driven_arm(bool by_angle)
{
    double speed = 20, arm = 0.25, mass = 0.8;
    run r;
    kit_open(&r.kit, 4);
    r.kit.def.gravity = yk_v3(0, -9.81, 0);
    kit_node(&r.kit, "arm", yk_v3(arm, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, mass, 1e-3, 1e-3, 1e-3);
    kit_joint(&r.kit, YK_JOINT_REVOLUTE, "hub", YK_GROUND_INDEX, yk_marker_default(), 0,
              yk_marker_at(-arm, 0, 0));
    int motor =
        kit_joint(&r.kit, by_angle ? YK_JOINT_DRIVEN_ROTATION : YK_JOINT_DRIVEN_ANGULAR_VELOCITY,
                  "motor", YK_GROUND_INDEX, yk_marker_default(), 0, yk_marker_at(-arm, 0, 0));
    r.kit.joints[motor].drive = (yk_time_function){by_angle ? ramp : constant, &speed, NULL};
    run_start(&r, 2.5e-4);
    /* The start finds speed, centripetal acceleration and torque. */
    yk_motion motion = run_motion(&r, 0);
    assert_near(motion.velocity.y, speed * arm, 1e-9);
    assert_near(motion.acceleration.x, -speed * speed * arm, 1e-5);
    yk_wrench torque, force;
    yk_multibody_reaction(r.model, 1, &torque);
    assert_near(torque.torque.z, mass * 9.81 * arm, 1e-5);
    double end = 5;
    run_to(&r, end);
    double angle = speed * end;
    motion = run_motion(&r, 0);
    assert_near(motion.position.x, arm * cos(angle), 1e-6);
    assert_near(motion.position.y, arm * sin(angle), 1e-6);
    yk_multibody_reaction(r.model, 1, &torque);
    yk_multibody_reaction(r.model, 0, &force);
    assert_near(torque.torque.z, mass * 9.81 * arm * cos(angle), 5e-4);
    assert_near(force.force.x, -mass * speed * speed * arm * cos(angle), 2e-3);
    assert_near(force.force.y, mass * 9.81 - mass * speed * speed * arm * sin(angle), 2e-3);
    yk_energy energy;
    yk_multibody_energy(r.model, &energy);
    assert_near(energy.work, mass * 9.81 * arm * sin(angle), 1e-3);
    run_stop(&r);
}

static void arm_turns_by_angle_and_by_speed(void **state)
{
    (void)state;
    driven_arm(true);
    driven_arm(false);
}

static double sine(void *user, double t)
{
    (void)user;
    return 0.1 * sin(5 * t);
}

/* A carriage on a slide, shaken: the force is mass times acceleration. */
static void carriage_is_shaken(void **state)
{
    (void)state;
    run r;
    kit_open(&r.kit, 4);
    kit_node(&r.kit, "carriage", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 3, 1, 1, 1);
    yk_quat along_x = kit_axis(yk_v3(1, 0, 0));
    yk_marker rail = kit_marker(yk_v3(0, 0, 0), along_x);
    kit_joint(&r.kit, YK_JOINT_PRISMATIC, "rail", YK_GROUND_INDEX, rail, 0, rail);
    int shaker =
        kit_joint(&r.kit, YK_JOINT_DRIVEN_TRANSLATION, "shaker", YK_GROUND_INDEX, rail, 0, rail);
    r.kit.joints[shaker].drive = (yk_time_function){.evaluate = sine};
    run_start(&r, 1e-3);
    assert_near(run_motion(&r, 0).velocity.x, 0.5, 1e-9);
    run_to(&r, 1);
    assert_near(run_motion(&r, 0).position.x, 0.1 * sin(5), 1e-12);
    yk_wrench force;
    yk_multibody_reaction(r.model, 1, &force);
    assert_near(force.force.x, -3 * 2.5 * sin(5), 1e-4);
    run_stop(&r);
}

/* A force that reads the model: minus k times a position it looks up by name is a spring. */
static double follow(void *user, double t, const double *inputs)
{
    (void)user, (void)t;
    return -40 * inputs[0];
}

static void forces_may_depend_on_the_model(void **state)
{
    (void)state;
    run r;
    static const char *const inputs[] = {"mass.position.x"};
    kit_open(&r.kit, 2);
    kit_node(&r.kit, "mass", yk_v3(0.1, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 0.4, 1, 1, 1);
    r.kit.forces[0] = yk_force_default();
    r.kit.forces[0].name = "controller";
    r.kit.forces[0].kind = YK_FORCE_FORCE;
    r.kit.forces[0].bodies[1] = (yk_body_id){0};
    r.kit.forces[0].vector = yk_v3(1, 0, 0);
    r.kit.forces[0].feedback = (yk_feedback){follow, NULL, inputs, 1};
    r.kit.def.force_count = 1;
    run_start(&r, 1e-3);
    run_to(&r, 1);
    assert_near(run_motion(&r, 0).position.x, 0.1 * cos(10), 2e-5);
    run_stop(&r);
}

/* Statics and start ---------------------------------------------------------------------------- */

static void chain_hangs_down_at_rest(void **state)
{
    (void)state;
    run r;
    kit_chain(&r.kit, 6, YK_JOINT_SPHERICAL);
    r.kit.def.gravity = yk_v3(0.3, -9.81, 0.2);
    r.kit.def.options.start_in_equilibrium = true;
    run_start(&r, 1e-3);
    yk_vec3 down = yk_v3_unit(r.kit.def.gravity);
    for (int i = 0; i < 6; i++) {
        yk_vec3 expected = yk_v3_scale(0.1 * (i + 0.5), down);
        assert_near(yk_v3_norm(yk_v3_sub(run_motion(&r, i).position, expected)), 0, 1e-9);
        yk_wrench pin;
        yk_multibody_reaction(r.model, i, &pin);
        yk_vec3 weight = yk_v3_scale(-0.1 * (6 - i), r.kit.def.gravity);
        assert_near(yk_v3_norm(yk_v3_sub(pin.force, weight)), 0, 1e-7);
    }
    run_to(&r, 0.1);
    assert_near(yk_v3_norm(run_motion(&r, 5).velocity), 0, 1e-7);
    run_stop(&r);
}

static void mass_settles_on_its_spring(void **state)
{
    (void)state;
    run r;
    kit_open(&r.kit, 2);
    r.kit.def.gravity = yk_v3(0, 0, -9.81);
    kit_node(&r.kit, "mass", yk_v3(0, 0, -1), yk_q_identity());
    kit_body(&r.kit, 0, 2, 0.1, 0.1, 0.1);
    r.kit.forces[0] = yk_force_default();
    r.kit.forces[0].name = "spring";
    r.kit.forces[0].kind = YK_FORCE_BUSHING;
    r.kit.forces[0].bodies[1] = (yk_body_id){0};
    for (int i = 0; i < 6; i++)
        r.kit.forces[0].bushing_stiffness[i][i] = 50;
    r.kit.def.force_count = 1;
    run_start(&r, 1e-3);
    assert_int_equal(yk_multibody_statics(r.model, 0), YK_OK);
    assert_near(run_motion(&r, 0).position.z, -2 * 9.81 / 50, 1e-9);
    run_stop(&r);
}

/* A rough guess: every node displaced and turned, velocities given for the crank alone. */
static void rough_guess_is_assembled(void **state)
{
    (void)state;
    run r;
    kit_slider_crank(&r.kit);
    r.kit.nodes[1].position = yk_v3_add(r.kit.nodes[1].position, yk_v3(0.03, -0.02, 0.04));
    r.kit.nodes[1].orientation =
        yk_q_mul(yk_so3_exp(yk_v3(0.2, 0.1, -0.3)), r.kit.nodes[1].orientation);
    r.kit.nodes[2].position = yk_v3(0.23, 0.01, -0.02);
    run_start(&r, 1e-3);
    assert_near(run_motion(&r, 2).position.x, 0.2, 1e-7);
    assert_near(run_motion(&r, 2).velocity.x, 0.24, 1e-6);
    assert_near(run_motion(&r, 0).angular_velocity.x, 6, 1e-6);
    run_stop(&r);
}

static void damping_is_removed_gradually(void **state)
{
    (void)state;
    run r;
    kit_open(&r.kit, 1);
    kit_node(&r.kit, "puck", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 1, 1, 1, 1);
    r.kit.nodes[0].velocity = yk_v3(1, 0, 0);
    r.kit.def.options.startup_damping = 5;
    r.kit.def.options.startup_damping_full_until = 0.1;
    r.kit.def.options.startup_damping_end = 0.4;
    run_start(&r, 1e-3);
    run_to(&r, 0.4);
    /* Integral of the rate: 5 * 0.1 + 5 * 0.3 / 2. */
    double expected = exp(-1.25);
    assert_near(run_motion(&r, 0).velocity.x, expected, 1e-5);
    run_to(&r, 0.8);
    assert_near(run_motion(&r, 0).velocity.x, expected, 1e-5);
    assert_near(run_energy(&r), 0.5, 1e-5);
    run_stop(&r);
}

/* The slider after one second; small steps of the explicit method of order eight, or those of the
 * two-step method. */
static double slider_at_one_second(yk_multibody_integrator integrator, double h)
{
    run r;
    kit_slider_crank(&r.kit);
    r.kit.def.options.integrator = integrator;
    if (integrator == YK_MULTIBODY_RUNGE_KUTTA)
        r.kit.def.options.error_tolerance = 1e-14;
    run_start(&r, h);
    run_to(&r, 1);
    double x = run_motion(&r, 2).position.x;
    run_stop(&r);
    return x;
}

/* The order remains two if corrections are below the rounding of positions; with old factors
 * 4e-6 s gave 1e-8 m. */
static void small_steps_have_no_floor(void **state)
{
    (void)state;
    double exact = slider_at_one_second(YK_MULTIBODY_RUNGE_KUTTA, 1e-3);
    double coarse = fabs(slider_at_one_second(YK_MULTIBODY_TWO_STEP, 1e-4) - exact);
    double middle = fabs(slider_at_one_second(YK_MULTIBODY_TWO_STEP, 1e-5) - exact);
    double fine = fabs(slider_at_one_second(YK_MULTIBODY_TWO_STEP, 4e-6) - exact);
    if (!(middle < 0.014 * coarse && fine < 0.005 * coarse))
        fail_msg("errors %g, %g, %g m", coarse, middle, fine);
}

static void error_control_chooses_its_steps(void **state)
{
    (void)state;
    run r;
    kit_slider_crank(&r.kit);
    r.kit.def.options.error_tolerance = 1e-8;
    run_start(&r, 0.05);
    run_to(&r, 0.5);
    assert_near(run_motion(&r, 2).position.x, 0.1886173755993, 5e-6);
    yk_multibody_report loose, strict;
    yk_multibody_report_get(r.model, &loose);
    run_stop(&r);
    kit_slider_crank(&r.kit);
    r.kit.def.options.error_tolerance = 1e-11;
    run_start(&r, 0.05);
    run_to(&r, 0.5);
    assert_near(run_motion(&r, 2).position.x, 0.1886173755993, 1e-7);
    yk_multibody_report_get(r.model, &strict);
    /* Third order of the local error: a thousandth of it takes ten times the steps. */
    assert_true(strict.steps > 6 * loose.steps && strict.steps < 16 * loose.steps);
    run_stop(&r);
}

/* Merging -------------------------------------------------------------------------------------- */

static yk_multibody *half_pendulum(yk_context *context, model_kit *kit, int half)
{
    double length = 0.4;
    kit_open(kit, 2);
    kit->def.name = half ? "lower" : "upper";
    kit->def.gravity = yk_v3(0, -9.81, 0);
    kit_node(kit, "link", yk_v3((half + 0.5) * length, 0, 0), yk_q_identity());
    kit_body(kit, 0, 1, 1, 1, 1);
    kit->nodes[0].angular_velocity = yk_v3(0, 0, 0.5);
    kit->nodes[0].velocity = yk_v3(0, 0.5 * (half + 0.5) * length, 0);
    if (!half)
        kit_joint(kit, YK_JOINT_REVOLUTE, "top", YK_GROUND_INDEX, yk_marker_default(), 0,
                  yk_marker_at(-0.5 * length, 0, 0));
    kit->ports[0] = yk_port_default();
    kit->ports[0].name = "elbow";
    kit->ports[0].bodies[0] = (yk_body_id){0};
    kit->ports[0].markers[0] = yk_marker_at(half ? -0.5 * length : 0.5 * length, 0, 0);
    kit->def.port_count = 1;
    yk_multibody *model;
    assert_int_equal(yk_multibody_make(context, kit_def(kit), &model), YK_OK);
    return model;
}

static void parts_merge_into_the_whole(void **state)
{
    (void)state;
    run r;
    kit_double_pendulum(&r.kit);
    run_start(&r, 1e-3);
    run_to(&r, 0.5);
    model_kit kits[2];
    yk_multibody *upper = half_pendulum(r.context, &kits[0], 0),
                 *lower = half_pendulum(r.context, &kits[1], 1);
    yk_subsystem *parts[2] = {yk_multibody_subsystem(upper), yk_multibody_subsystem(lower)},
                 *merged;
    unsigned hinge = YK_AXES_TRANSLATION | YK_AXIS_RX | YK_AXIS_RY;
    yk_merge_joint joint = {
        .part_a = 0, .port_a = 0, .part_b = 1, .port_b = 0, .constrained_axes = hinge};
    assert_int_equal(
        parts[0]->ops->merge->merge(
            &(yk_merge_def){.parts = parts, .part_count = 2, .joints = &joint, .joint_count = 1},
            &merged),
        YK_OK);
    const yk_port *ports;
    assert_int_equal(merged->ops->ports(merged, &ports), 2);
    assert_int_equal(merged->ops->initialize(merged, 0, 1e-3, NULL), YK_OK);
    for (int i = 0; i < 500; i++)
        assert_int_equal(merged->ops->step(merged, i * 1e-3, 1e-3, NULL), YK_OK);
    yk_port_value end;
    merged->ops->get_port_value(merged, 1, &end);
    yk_marker elbow = yk_marker_at(-0.2, 0, 0);
    yk_motion expected;
    yk_multibody_marker_motion(r.model, 1, &elbow, &expected);
    assert_near(yk_v3_norm(yk_v3_sub(end.motion.position, expected.position)), 0, 1e-9);
    assert_near(yk_v3_norm(yk_v3_sub(end.motion.velocity, expected.velocity)), 0, 1e-7);
    merged->ops->destroy(merged);
    for (int i = 0; i < 2; i++) {
        parts[i]->ops->destroy(parts[i]);
        kit_close(&kits[i]);
    }
    run_stop(&r);
}

/* Messages ------------------------------------------------------------------------------------- */

static void open_mechanism_is_reported_with_its_joint(void **state)
{
    (void)state;
    run r;
    kit_slider_crank(&r.kit);
    /* A rod of a third of the length reaches nowhere. */
    r.kit.joints[1].markers[1] = yk_marker_at(-0.01, 0, 0);
    r.kit.joints[2].markers[1] = yk_marker_at(0.01, 0, 0);
    run_create(&r);
    assert_int_equal(yk_multibody_start(r.model, 0, 1e-3), YK_ERROR_NO_SOLUTION);
    const char *message = yk_last_message(r.context);
    assert_non_null(strstr(message, "cannot be assembled"));
    assert_true(strstr(message, "'ball'") || strstr(message, "'cross'"));
    run_stop(&r);
}

/* A rod whose two pins are 2e-5 m further apart than they should be: nothing where it is 200 m
 * long, too much where it is 0.2 m. */
static void gaps_are_measured_by_the_size_of_the_model(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        double half = k == 0 ? 100 : 0.1;
        run r;
        kit_open(&r.kit, 2);
        kit_node(&r.kit, "rod", yk_v3(0, 0, 0), yk_q_identity());
        kit_body(&r.kit, 0, 1, 1, 1, 1);
        for (int side = -1; side <= 1; side += 2)
            kit_joint(&r.kit, YK_JOINT_SPHERICAL, side < 0 ? "left" : "right", YK_GROUND_INDEX,
                      yk_marker_at(side * (half + 1e-5), 0, 0), 0, yk_marker_at(side * half, 0, 0));
        r.kit.def.options.assembly_tolerance = 1e-6;
        run_create(&r);
        yk_status status = yk_multibody_start(r.model, 0, 1e-3);
        if (k == 0 && YK_FAILED(status))
            fail_msg("%s", yk_last_message(r.context));
        if (k == 1)
            assert_int_equal(status, YK_ERROR_NO_SOLUTION);
        run_stop(&r);
    }
}

/* A rod that is pulled beyond its reach: the step where it locks is refused with names. */
static void locked_mechanism_is_reported(void **state)
{
    (void)state;
    run r;
    double speed = 1;
    kit_open(&r.kit, 6);
    r.kit.def.name = "toggle";
    kit_node(&r.kit, "rod", yk_v3(0.2, 0, 0), yk_so3_exp(yk_v3(0, 0, 0)));
    kit_node(&r.kit, "block", yk_v3(0.4 * cos(0.5) + 0.4, 0, 0), yk_q_identity());
    kit_node(&r.kit, "second", yk_v3(0.6, 0, 0), yk_q_identity());
    r.kit.nodes[0].position = yk_v3(0.2 * cos(0.5), 0.2 * sin(0.5), 0);
    r.kit.nodes[0].orientation = yk_so3_exp(yk_v3(0, 0, 0.5));
    r.kit.nodes[2].position = yk_v3(0.6 * cos(0.5), 0.2 * sin(0.5), 0);
    r.kit.nodes[2].orientation = yk_so3_exp(yk_v3(0, 0, -0.5));
    r.kit.nodes[1].position = yk_v3(0.8 * cos(0.5), 0, 0);
    for (int i = 0; i < 3; i++)
        kit_body(&r.kit, i, 1, 0.01, 0.01, 0.01);
    yk_quat along_x = kit_axis(yk_v3(1, 0, 0));
    kit_joint(&r.kit, YK_JOINT_REVOLUTE, "base", YK_GROUND_INDEX, yk_marker_default(), 0,
              yk_marker_at(-0.2, 0, 0));
    kit_joint(&r.kit, YK_JOINT_REVOLUTE, "knee", 0, yk_marker_at(0.2, 0, 0), 2,
              yk_marker_at(-0.2, 0, 0));
    kit_joint(&r.kit, YK_JOINT_SPHERICAL, "end", 2, yk_marker_at(0.2, 0, 0), 1,
              yk_marker_default());
    int pull = kit_joint(&r.kit, YK_JOINT_DRIVEN_VELOCITY, "pull", YK_GROUND_INDEX,
                         kit_marker(yk_v3(0, 0, 0), along_x), 1, yk_marker_default());
    r.kit.joints[pull].drive = (yk_time_function){.evaluate = constant, .user = &speed};
    run_start(&r, 1e-3);
    yk_status status = YK_OK;
    int i = 0;
    /* The block is at 0.702 m and reaches 0.8 m after 98 steps. */
    for (; i < 200 && !YK_FAILED(status); i++)
        status = yk_multibody_step(r.model, i * 1e-3, 1e-3);
    assert_int_equal(status, YK_ERROR_DIVERGED);
    assert_in_range(i, 90, 105);
    const char *message = yk_last_message(r.context);
    assert_non_null(strstr(message, "toggle"));
    assert_non_null(strstr(message, "locks"));
    assert_non_null(strstr(message, "node '"));
    run_stop(&r);
}

/* Nothing decides where a massless node goes: the step ends with its name, at once. */
static void undetermined_node_is_reported(void **state)
{
    (void)state;
    run r;
    kit_open(&r.kit, 4);
    kit_node(&r.kit, "bead", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 1, 0, 0, 0); /* a point: its rotation does not matter */
    r.kit.nodes[0].velocity = yk_v3(1, 0, 0);
    run_start(&r, 1e-3);
    run_to(&r, 0.1);
    assert_near(run_motion(&r, 0).position.x, 0.1, 1e-12);
    run_stop(&r);
    kit_open(&r.kit, 4);
    kit_node(&r.kit, "bead", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 1, 1, 1, 1);
    kit_node(&r.kit, "ghost", yk_v3(1, 0, 0), yk_q_identity());
    run_start(&r, 1e-3);
    assert_int_equal(yk_multibody_step(r.model, 0, 1e-3), YK_ERROR_SINGULAR);
    assert_non_null(strstr(yk_last_message(r.context), "node 'ghost'"));
    run_stop(&r);
}

static void bad_definitions_are_refused_by_name(void **state)
{
    (void)state;
    yk_context *context = yk_context_create(NULL);
    model_kit kit;
    yk_multibody *model;
    kit_slider_crank(&kit);
    kit.bodies[1].mass = -1;
    assert_int_equal(yk_multibody_make(context, kit_def(&kit), &model), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "rod"));
    kit.bodies[1].mass = 1;
    kit.joints[2].bodies[1] = (yk_body_id){17};
    assert_int_equal(yk_multibody_make(context, kit_def(&kit), &model), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "cross"));
    kit.joints[2].bodies[1] = kit.joints[2].bodies[0];
    assert_int_equal(yk_multibody_make(context, kit_def(&kit), &model), YK_ERROR_ARGUMENT);
    kit.joints[2].bodies[1] = (yk_body_id){1};
    kit.bodies[0].inertia.m[0][0] = -1;
    assert_int_equal(yk_multibody_make(context, kit_def(&kit), &model), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(context), "crank"));
    kit.bodies[0].inertia.m[0][0] = 1e-4;
    kit.def.options.rho_inf = 1.5;
    assert_int_equal(yk_multibody_make(context, kit_def(&kit), &model), YK_ERROR_ARGUMENT);
    kit.def.options.rho_inf = 0.5;
    assert_int_equal(yk_multibody_make(context, kit_def(&kit), &model), YK_OK);
    yk_subsystem *made = yk_multibody_subsystem(model);
    assert_near(made->ops->rho_inf(made), 0.5, 0); /* what extrapolations close with */
    assert_int_equal(yk_multibody_step(model, 0, 1e-3), YK_ERROR_ARGUMENT); /* not started */
    yk_multibody_destroy(model);
    kit_close(&kit);
    yk_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_body_keeps_its_angular_momentum),
        cmocka_unit_test(prediction_is_exact_for_unequal_steps),
        cmocka_unit_test(heavy_top_precesses_steadily),
        cmocka_unit_test(governor_keeps_energy_and_spin),
        cmocka_unit_test(skate_goes_down_an_incline_on_cycloids),
        cmocka_unit_test(upright_wheel_rolls_straight),
        cmocka_unit_test(leaning_wheel_keeps_its_energy_and_does_not_slip),
        cmocka_unit_test(arm_turns_by_angle_and_by_speed),
        cmocka_unit_test(carriage_is_shaken),
        cmocka_unit_test(forces_may_depend_on_the_model),
        cmocka_unit_test(chain_hangs_down_at_rest),
        cmocka_unit_test(mass_settles_on_its_spring),
        cmocka_unit_test(rough_guess_is_assembled),
        cmocka_unit_test(damping_is_removed_gradually),
        cmocka_unit_test(small_steps_have_no_floor),
        cmocka_unit_test(error_control_chooses_its_steps),
        cmocka_unit_test(parts_merge_into_the_whole),
        cmocka_unit_test(open_mechanism_is_reported_with_its_joint),
        cmocka_unit_test(gaps_are_measured_by_the_size_of_the_model),
        cmocka_unit_test(locked_mechanism_is_reported),
        cmocka_unit_test(undetermined_node_is_reported),
        cmocka_unit_test(bad_definitions_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
