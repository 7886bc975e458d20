/* The double pendulum of Zhang et al. (2020), section 4.2, split at the joint between its links, in
 * all schemes.
 *
 * Reference: an independent integration in two coordinates, accurate to 1e-10
 * (models/double-pendulum). */
#include <string.h>

#include "../coupling/any_scheme.h"
#include "coupling/system_arrays.h"
#include "math/so3.h"
#include "multibody/def.h"
#include "test.h"

static yk_context *context;

static const double LENGTH = 0.4;

typedef struct pendulum {
    yk_subsystem *links[2];
    yk_system *system;
} pendulum;

/* A link of 1 kg and 1 kg m2 along x, its centre at x = L/2 or 3L/2, turning with 0.5 rad/s about
 * the origin. */
static yk_subsystem *make_link(int number)
{
    double centre = (number + 0.5) * LENGTH;
    yk_multibody_node_def node = yk_multibody_node_default();
    node.name = "link";
    node.position = yk_v3(centre, 0, 0);
    node.velocity = yk_v3(0, 0.5 * centre, 0);
    node.angular_velocity = yk_v3(0, 0, 0.5);
    yk_multibody_body_def body = yk_multibody_body_default();
    body.name = "link", body.node = (yk_body_id){0}, body.mass = 1, body.inertia = yk_m3_identity();
    yk_joint_def pin = yk_joint_default();
    pin.name = "pin", pin.kind = YK_JOINT_REVOLUTE;
    pin.bodies[0] = YK_GROUND, pin.bodies[1] = (yk_body_id){0};
    pin.markers[1] = yk_marker_at(-LENGTH / 2, 0, 0);
    yk_port_def port = yk_port_default();
    port.name = "joint", port.bodies[0] = (yk_body_id){0};
    port.markers[0] = yk_marker_at(number == 0 ? LENGTH / 2 : -LENGTH / 2, 0, 0);
    yk_multibody_description def = yk_multibody_description_empty();
    def.name = number == 0 ? "upper" : "lower";
    def.gravity = yk_v3(0, -9.81, 0);
    def.nodes = &node, def.node_count = 1;
    def.bodies = &body, def.body_count = 1;
    def.joints = &pin, def.joint_count = number == 0;
    def.ports = &port, def.port_count = 1;
    yk_multibody *link = NULL;
    yk_status status = yk_multibody_make(context, &def, &link);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    return yk_multibody_subsystem(link);
}

static void open_pendulum(pendulum *p, const any_scheme *scheme, double h)
{
    static const char *const names[] = {"upper", "lower"};
    for (int i = 0; i < 2; i++)
        p->links[i] = make_link(i);
    yk_interface_def hinge = {.name = "hinge",
                              .motion_subsystem = {1},
                              .constrained_axes = YK_AXES_ALL & ~(unsigned)YK_AXIS_RZ};
    yk_system_description def = {.subsystems = p->links,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &hinge,
                                 .interface_count = 1,
                                 .step = h};
    yk_status status = any_scheme_create(context, &def, scheme, &p->system);
    if (status == YK_OK)
        status = yk_system_initialize(p->system);
    if (YK_FAILED(status))
        print_error("%s\n", yk_last_message(context));
    assert_true(!YK_FAILED(status));
}

static void close_pendulum(pendulum *p)
{
    yk_system_destroy(p->system);
    for (int i = 0; i < 2; i++)
        p->links[i]->ops->destroy(p->links[i]);
}

static double rate_of(const pendulum *p, int link)
{
    return yk_system_port_value(p->system, (yk_subsystem_id){link}, (yk_port_id){0})
        ->motion.angular_velocity.z;
}

/* Largest error of the angular velocities at t = 1 s (rad/s), from the reference. */
static double error_at_one_second(const any_scheme *scheme, double h)
{
    pendulum p;
    open_pendulum(&p, scheme, h);
    for (int n = 0; n < (int)lround(1 / h); n++) {
        yk_status status = yk_system_step(p.system, NULL);
        if (YK_FAILED(status))
            print_error("%s\n", yk_last_message(context));
        assert_true(!YK_FAILED(status));
    }
    double error =
        fmax(fabs(rate_of(&p, 0) - -3.0913851689322), fabs(rate_of(&p, 1) - -1.3626714755306));
    close_pendulum(&p);
    return error;
}

static void monolithic_is_of_second_order(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_monolithic();
    double coarse = error_at_one_second(&scheme, 2e-3), fine = error_at_one_second(&scheme, 1e-3);
    assert_true(fine < 2e-5);
    assert_true(log2(coarse / fine) > 1.9);
}

/* Converged iterations between two position-level solvers are the monolithic method: second
 * order, no energy made. */
static void tight_is_of_second_order_and_makes_no_energy(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight();
    double coarse = error_at_one_second(&scheme, 4e-3), fine = error_at_one_second(&scheme, 2e-3);
    assert_true(fine < 2e-5);
    assert_true(log2(coarse / fine) > 1.9);
    pendulum p;
    open_pendulum(&p, &scheme, 2e-3);
    for (int n = 0; n < 500; n++)
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
    yk_interface_statistics hinge = yk_system_interface_statistics(p.system, (yk_interface_id){0});
    assert_true(fabs(hinge.energy_created) < 1e-10);
    assert_true(hinge.max_gap.position < 1e-9 && hinge.max_gap.rotation < 1e-9);
    close_pendulum(&p);
}

/* The ports of a merged system show the reaction of the joint between them, which they exchange when
 * they are coupled. */
static void merged_ports_show_the_joint(void **state)
{
    (void)state;
    any_scheme tight = any_scheme_default(), merged = any_scheme_default();
    tight.ops = yk_scheme_tight(), tight.tolerance = 1e-10, tight.iterations = 100;
    merged.ops = yk_scheme_monolithic();
    pendulum p, q;
    open_pendulum(&p, &tight, 1e-3);
    open_pendulum(&q, &merged, 1e-3);
    for (int n = 0; n < 200; n++) {
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
        assert_int_equal(yk_system_step(q.system, NULL), YK_OK);
    }
    for (int link = 0; link < 2; link++) {
        yk_wrench
            coupled =
                yk_system_port_value(p.system, (yk_subsystem_id){link}, (yk_port_id){0})->wrench,
            shown =
                yk_system_port_value(q.system, (yk_subsystem_id){link}, (yk_port_id){0})->wrench;
        assert_true(yk_v3_norm(coupled.force) > 1);
        assert_true(yk_v3_norm(yk_v3_sub(shown.force, coupled.force)) < 1e-6);
        assert_true(yk_v3_norm(yk_v3_sub(shown.torque, coupled.torque)) < 1e-6);
    }
    close_pendulum(&p);
    close_pendulum(&q);
}

static double iterations_per_step(yk_acceleration acceleration)
{
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_tight(), scheme.acceleration = acceleration;
    pendulum p;
    open_pendulum(&p, &scheme, 2e-3);
    for (int n = 0; n < 500; n++)
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
    yk_system_statistics all = yk_system_get_statistics(p.system);
    close_pendulum(&p);
    return (double)all.iterations / (double)all.steps;
}

static void quasi_newton_saves_iterations(void **state)
{
    (void)state;
    assert_true(iterations_per_step(YK_ACCELERATION_QUASI_NEWTON) <
                0.8 * iterations_per_step(YK_ACCELERATION_NONE));
}

/* The explicit scheme needs a motion side that steps on velocity level; with one on position
 * level it diverges at any step (yoke stability --integrators two-step,two-step), and says so. */
static void explicit_scheme_with_a_position_level_partner_diverges_and_is_named(void **state)
{
    (void)state;
    any_scheme scheme = any_scheme_default();
    pendulum p;
    open_pendulum(&p, &scheme, 1e-3);
    yk_status status = YK_OK;
    for (int n = 0; n < 1000 && !YK_FAILED(status); n++)
        status = yk_system_step(p.system, NULL);
    assert_true(YK_FAILED(status));
    assert_non_null(strstr(yk_last_message(context), "the coupling is unstable"));
    close_pendulum(&p);
}

int main(void)
{
    context = yk_context_create(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monolithic_is_of_second_order),
        cmocka_unit_test(tight_is_of_second_order_and_makes_no_energy),
        cmocka_unit_test(merged_ports_show_the_joint),
        cmocka_unit_test(quasi_newton_saves_iterations),
        cmocka_unit_test(explicit_scheme_with_a_position_level_partner_diverges_and_is_named),
    };
    int failed = cmocka_run_group_tests_name("double pendulum", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
