/* The integrator of order 8: its coefficients, its order, and motions that are known to many
 * digits. */
#include "multibody/integrator.h"

#include <string.h>

#include "math/so3.h"
#include "run.h"

enum { STAGES = YK_RUNGE_KUTTA_STAGES };

static void set_tolerances(run *r, double tolerance)
{
    r->kit.def.options.integrator = YK_MULTIBODY_RUNGE_KUTTA;
    r->kit.def.options.error_tolerance = tolerance;
    r->kit.def.options.assembly_tolerance = 1e-13;
}

/* Quadrature conditions sum b c^(k-1) = 1/k up to order 8, the row sums, and what the two
 * estimates annihilate. */
static void coefficients_satisfy_order_conditions(void **state)
{
    (void)state;
    const yk_runge_kutta *m = yk_runge_kutta_853();
    for (int i = 0; i < STAGES; i++) {
        double sum = 0;
        for (int j = 0; j < i; j++)
            sum += m->a[i][j];
        assert_near(sum, m->c[i], 4e-14);
    }
    for (int k = 1; k <= 8; k++) {
        double b = 0, e5 = 0, e3 = 0, nested = 0;
        for (int i = 0; i < STAGES; i++) {
            double inner = 0;
            for (int j = 0; j < i; j++)
                inner += m->a[i][j] * pow(m->c[j], k - 1);
            b += m->b[i] * pow(m->c[i], k - 1);
            nested += m->b[i] * inner;
            e5 += m->error5[i] * pow(m->c[i], k - 1);
            e3 += m->error3[i] * pow(m->c[i], k - 1);
        }
        assert_near(b, 1.0 / k, 1e-14);
        if (k < 8)
            assert_near(nested, 1.0 / (k * (k + 1)), 1e-14);
        if (k <= 5)
            assert_near(e5, 0, 1e-14);
        if (k <= 3)
            assert_near(e3, 0, 1e-14);
    }
}

/* Physical pendulum released horizontally: angle and period by elliptic functions. ------------- */

/* Complete elliptic integral of the first kind by the arithmetic-geometric mean. */
static double elliptic_k(double modulus)
{
    double a = 1, b = sqrt(1 - modulus * modulus);
    for (int i = 0; i < 8; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return YK_PI / (2 * a);
}

static void pendulum(run *r)
{
    kit_open(&r->kit, 2);
    r->kit.def.name = "pendulum";
    r->kit.def.gravity = yk_v3(0, -9.81, 0);
    kit_node(&r->kit, "bob", yk_v3(0.7, 0, 0), yk_q_identity());
    kit_body(&r->kit, 0, 2, 0.01, 0.05, 0.06);
    kit_joint(&r->kit, YK_JOINT_REVOLUTE, "pin", YK_GROUND_INDEX, yk_marker_default(), 0,
              yk_marker_at(-0.7, 0, 0));
}

/* After whole periods it is back; after half of one on the other side. */
static void pendulum_returns_to_eleven_digits(void **state)
{
    (void)state;
    double inertia = 0.06 + 2 * 0.49, slow = sqrt(2 * 9.81 * 0.7 / inertia);
    double period = 4 * elliptic_k(sqrt(0.5)) / slow;
    run r;
    pendulum(&r);
    set_tolerances(&r, 1e-14);
    run_start(
        &r,
        period /
            /* coefficients of size 43 leave rounding of some 1e-12 in steps as long as allowed */
            200);
    double energy = run_energy(&r);
    run_to(&r, period / 2);
    assert_near(run_motion(&r, 0).position.x, -0.7, 1e-11);
    run_to(&r, 4 * period);
    assert_near(run_motion(&r, 0).position.x, 0.7, 1e-11);
    assert_near(run_motion(&r, 0).position.y, 0, 2e-11);
    assert_near(run_energy(&r) / (2 * 9.81 * 0.7), energy, 1e-11);
    run_stop(&r);
}

/* The angle at 0.8 s, in which it swings through. */
static double pendulum_angle(double h, double tolerance)
{
    run r;
    pendulum(&r);
    set_tolerances(&r, tolerance);
    run_start(&r, h);
    run_to(&r, 0.8);
    yk_vec3 at = run_motion(&r, 0).position;
    run_stop(&r);
    return atan2(at.y, at.x);
}

static void fixed_steps_are_of_order_eight(void **state)
{
    (void)state;
    double exact = pendulum_angle(0.005, 0);
    double coarse = pendulum_angle(0.16, 0) - exact, fine = pendulum_angle(0.08, 0) - exact;
    double order = log2(fabs(coarse / fine));
    if (order < 7.5 || order > 9)
        print_error("errors %.3g and %.3g: order %.2f\n", coarse, fine, order);
    assert_true(order > 7.5 && order < 9);
}

static void heavy_top_precesses_steadily(void **state)
{
    (void)state;
    double rate = KIT_TOP_RATE;
    run r;
    kit_top(&r.kit);
    set_tolerances(&r, 1e-13);
    run_start(&r, 0.05);
    run_to(&r, 1);
    yk_motion motion = run_motion(&r, 0);
    yk_vec3 exact = kit_top_position(1);
    assert_near(yk_v3_norm(yk_v3_sub(motion.position, exact)), 0, 1e-11);
    /* The acceleration at the end belongs to the same circle. */
    yk_vec3 centripetal = yk_v3_scale(-rate * rate, yk_v3(exact.x, exact.y, 0));
    assert_near(yk_v3_norm(yk_v3_sub(motion.acceleration, centripetal)), 0, 1e-8);
    run_stop(&r);
}

/* The reference table holds to 1e-11 m: our own runs agree among each other to 2e-12 m from a
 * tolerance of 1e-12 on. */
static void slider_crank_meets_the_table(void **state)
{
    (void)state;
    static const struct {
        double t, x, v, omega;
    } row[] = {{0.25, 0.2841627474501, 0.3591871034882, 16.12301577868},
               {0.5, 0.1886173755993, -0.2867660389803, 13.25858290548},
               {1, 0.2363628560001, -0.5841584649506, 11.14860840486},
               {2, 0.2620462718080, 0.4220735747248, 9.563621736241}};
    run r;
    kit_slider_crank(&r.kit);
    set_tolerances(&r, 1e-13);
    run_start(&r, 1e-2);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        run_to(&r, row[i].t);
        yk_motion slider = run_motion(&r, 2), crank = run_motion(&r, 0);
        assert_near(slider.position.x, row[i].x, 1e-11);
        assert_near(slider.velocity.x, row[i].v, 1e-10);
        assert_near(crank.angular_velocity.x, row[i].omega, 3e-9);
    }
    assert_near(run_energy(&r), 0.7656984, 1e-7);
    run_stop(&r);
}

/* Redundant joints: the closure of the Bricard mechanism has rank 5 of 6. */
static void redundant_loops_are_no_obstacle(void **state)
{
    (void)state;
    run r;
    kit_bricard(&r.kit);
    set_tolerances(&r, 1e-12);
    run_start(&r, 1e-2);
    double energy = run_energy(&r);
    run_to(&r, 1);
    assert_near(run_energy(&r), energy, 1e-8);
    run_stop(&r);
}

/* A cubic force over the whole step, exactly: a free mass under t^3 moves as t^5/20. ----------- */

static void cubic_inputs_enter_the_stages(void **state)
{
    (void)state;
    run r;
    kit_open(&r.kit, 1);
    kit_node(&r.kit, "mass", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 2, 1, 1, 1);
    r.kit.ports[0] = yk_port_default();
    r.kit.ports[0].name = "end";
    r.kit.ports[0].bodies[0] = (yk_body_id){0};
    r.kit.def.port_count = 1;
    set_tolerances(&r, 1e-12);
    run_create(&r);
    yk_subsystem *subsystem = yk_multibody_subsystem(r.model);
    assert_int_equal(subsystem->ops->connect(subsystem, 0, YK_CAUSALITY_WRENCH_INPUT, YK_AXES_ALL),
                     YK_OK);
    assert_int_equal(subsystem->ops->initialize(subsystem, 0, 1, NULL), YK_OK);
    yk_input cubic = {.degree = 3, .base_orientation = yk_q_identity()};
    cubic.linear[0].y = 4, cubic.linear[1].y = 2, cubic.linear[3].x = 2;
    cubic.angular[2].z = 3;
    assert_int_equal(subsystem->ops->step(subsystem, 0, 1, &cubic), YK_OK);
    yk_port_value value;
    subsystem->ops->get_port_value(subsystem, 0, &value);
    assert_near(value.motion.position.x, 1.0 / 20, 1e-14);
    assert_near(value.motion.position.y, 1 + 1.0 / 6, 1e-14);
    assert_near(value.motion.acceleration.x, 1, 1e-14);
    assert_near(value.motion.acceleration.y, 3, 1e-14);
    assert_near(value.motion.angular_velocity.z, 1, 1e-14);
    assert_near(value.motion.angular_acceleration.z, 3, 1e-14);
    yk_energy energy;
    yk_multibody_energy(r.model, &energy);
    assert_near(energy.work, energy.kinetic, 1e-13);
    run_stop(&r);
}

/* Half the drive's period: the driven pendulum's own angle is prescribed, its energy comes from
 * the drive. */
static double swing(void *user, double t)
{
    (void)user;
    return 0.8 * sin(9 * t);
}

static void drives_are_followed(void **state)
{
    (void)state;
    run r;
    pendulum(&r);
    int drive = kit_joint(&r.kit, YK_JOINT_DRIVEN_ROTATION, "motor", YK_GROUND_INDEX,
                          yk_marker_default(), 0, yk_marker_at(-0.7, 0, 0));
    r.kit.joints[drive].drive.evaluate = swing;
    set_tolerances(&r, 1e-12);
    run_start(&r, 0.02);
    double energy = run_energy(&r);
    run_to(&r, 1);
    yk_motion motion = run_motion(&r, 0);
    double angle = swing(NULL, 1), rate = 7.2 * cos(9.0), second = -64.8 * sin(9.0);
    assert_near(motion.position.x, 0.7 * cos(angle), 1e-13);
    assert_near(motion.angular_velocity.z, rate, 1e-10);
    assert_near(motion.angular_acceleration.z, second, 1e-7);
    assert_near(run_energy(&r), energy, 1e-8);
    run_stop(&r);
}

static void says_when_the_motion_is_not_smooth(void **state)
{
    (void)state;
    run r;
    kit_open(&r.kit, 2);
    r.kit.def.name = "loose end";
    kit_node(&r.kit, "mass", yk_v3(0, 0, 0), yk_q_identity());
    kit_body(&r.kit, 0, 1, 1, 1, 1);
    kit_node(&r.kit, "ring", yk_v3(1, 0, 0), yk_q_identity());
    set_tolerances(&r, 1e-12);
    run_create(&r);
    assert_int_equal(yk_multibody_start(r.model, 0, 1e-2), YK_ERROR_SINGULAR);
    assert_non_null(strstr(yk_last_message(r.context), "'ring'"));
    run_stop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_satisfy_order_conditions),
        cmocka_unit_test(pendulum_returns_to_eleven_digits),
        cmocka_unit_test(fixed_steps_are_of_order_eight),
        cmocka_unit_test(heavy_top_precesses_steadily),
        cmocka_unit_test(slider_crank_meets_the_table),
        cmocka_unit_test(redundant_loops_are_no_obstacle),
        cmocka_unit_test(cubic_inputs_enter_the_stages),
        cmocka_unit_test(drives_are_followed),
        cmocka_unit_test(says_when_the_motion_is_not_smooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
