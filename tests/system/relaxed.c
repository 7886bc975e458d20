/* The scheme relaxed on chains of links, one subsystem each: its fixed point is the solution of the
 * merged system, in any order of the subsystems and with any number of threads. If it does not
 * converge, it reports where and why. */
#include <string.h>

#include "../coupling/any_scheme.h"
#include "coupling/system_arrays.h"
#include "multibody/def.h"
#include "test.h"

enum { LINKS = 4 };

static const double LENGTH = 0.4;

/* Which link each subsystem is; NULL: in their order. */
typedef const int *link_order;

typedef struct chain {
    yk_context *context;
    yk_subsystem *links[LINKS];
    yk_system *system;
    int count;
} chain;

static void stiff_spring(yk_force_def *spring, double stiffness)
{
    *spring = yk_force_default();
    spring->name = "bed";
    spring->kind = YK_FORCE_BUSHING;
    spring->bodies[1] = (yk_body_id){0};
    for (int k = 0; k < 3; k++)
        spring->bushing_stiffness[k][k] = stiffness;
}

/* A link along x with a pin to the ground on the first, and ports at both ends. */
static yk_subsystem *make_link(yk_context *context, int number, const yk_multibody_options *options,
                               double stiffness)
{
    static const char *const names[LINKS] = {"one", "two", "three", "four"};
    yk_multibody_node_def node = yk_multibody_node_default();
    node.name = "link";
    node.position = yk_v3((number + 0.5) * LENGTH, 0, 0);
    yk_multibody_body_def body = yk_multibody_body_default();
    body.name = "link", body.node = (yk_body_id){0}, body.mass = 1 + number,
    body.inertia = yk_m3_diagonal(0.01, 0.02, 0.02);
    yk_joint_def pin = yk_joint_default();
    pin.name = "pin", pin.kind = YK_JOINT_REVOLUTE;
    pin.bodies[0] = YK_GROUND, pin.bodies[1] = (yk_body_id){0};
    pin.markers[1] = yk_marker_at(-LENGTH / 2, 0, 0);
    yk_force_def bed;
    stiff_spring(&bed, stiffness);
    bed.markers[0] = yk_marker_at((number + 0.5) * LENGTH, 0, 0);
    yk_port_def ports[2] = {yk_port_default(), yk_port_default()};
    ports[0].name = "in", ports[0].bodies[0] = (yk_body_id){0},
    ports[0].markers[0] = yk_marker_at(-LENGTH / 2, 0, 0);
    ports[1].name = "out", ports[1].bodies[0] = (yk_body_id){0},
    ports[1].markers[0] = yk_marker_at(LENGTH / 2, 0, 0);
    yk_multibody_description def = yk_multibody_description_empty();
    def.name = names[number];
    def.options = *options;
    def.gravity = yk_v3(0, -9.81, 0);
    def.nodes = &node, def.node_count = 1;
    def.bodies = &body, def.body_count = 1;
    def.joints = &pin, def.joint_count = number == 0;
    def.forces = &bed, def.force_count = stiffness > 0 && number == 1;
    def.ports = ports, def.port_count = 2;
    yk_multibody *link = NULL;
    assert_int_equal(yk_multibody_make(context, &def, &link), YK_OK);
    return yk_multibody_subsystem(link);
}

static yk_multibody_options ode_options(void)
{
    yk_multibody_options options = yk_multibody_options_default();
    options.integrator = YK_MULTIBODY_GENERALIZED_ALPHA;
    options.formulation = YK_MULTIBODY_FORMULATION_STABILIZED_ODE;
    options.newton_relative_tolerance = 1e-10;
    options.newton_absolute_tolerance = 1e-14;
    return options;
}

static any_scheme relaxed_scheme(yk_sequence order)
{
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_relaxed();
    scheme.order = order;
    scheme.relative_tolerance = 1e-12;
    scheme.iterations = 100;
    return scheme;
}

static int place_of(link_order order, int count, int link)
{
    for (int i = 0; i < count && order; i++)
        if (order[i] == link)
            return i;
    return link;
}

static yk_status open_chain(chain *c, int count, link_order order,
                            const yk_multibody_options *options, const any_scheme *scheme, double h,
                            double stiffness)
{
    static const char *const names[LINKS] = {"one", "two", "three", "four"};
    yk_interface_def hinges[LINKS];
    *c = (chain){.context = yk_context_create(NULL), .count = count};
    for (int i = 0; i < count; i++)
        c->links[i] = make_link(c->context, order ? order[i] : i, options, stiffness);
    for (int i = 0; i + 1 < count; i++)
        hinges[i] = (yk_interface_def){.name = "hinge",
                                       .wrench_subsystem = {place_of(order, count, i)},
                                       .wrench_port = {1},
                                       .motion_subsystem = {place_of(order, count, i + 1)},
                                       .motion_port = {0},
                                       .constrained_axes = YK_AXES_ALL & ~(unsigned)YK_AXIS_RZ};
    yk_system_description def = {.subsystems = c->links,
                                 .names = names,
                                 .subsystem_count = count,
                                 .interfaces = hinges,
                                 .interface_count = count - 1,
                                 .step = h,
                                 .control = yk_step_control_default()};
    yk_status status = any_scheme_create(c->context, &def, scheme, &c->system);
    return status == YK_OK ? yk_system_initialize(c->system) : status;
}

static void close_chain(chain *c)
{
    yk_system_destroy(c->system);
    for (int i = 0; i < c->count; i++)
        c->links[i]->ops->destroy(c->links[i]);
    yk_context_destroy(c->context);
}

/* The end of the last link after `steps`, and the mean number of sweeps. */
static yk_vec3 run_ordered(int count, link_order order, const any_scheme *scheme, double h,
                           int steps, double *sweeps)
{
    chain c;
    yk_multibody_options options = ode_options();
    yk_status status = open_chain(&c, count, order, &options, scheme, h, 0);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(c.context));
    assert_int_equal(status, YK_OK);
    double total = 0;
    for (int i = 0; i < steps; i++) {
        yk_step_report report = {0};
        status = yk_system_step(c.system, &report);
        if (status != YK_OK)
            print_error("%s\n", yk_last_message(c.context));
        assert_int_equal(status, YK_OK);
        total += report.iterations;
    }
    yk_vec3 end =
        yk_system_port_value(c.system, (yk_subsystem_id){place_of(order, count, count - 1)},
                             (yk_port_id){1})
            ->motion.position;
    if (sweeps)
        *sweeps = total / steps;
    close_chain(&c);
    return end;
}

static yk_vec3 run_chain(int count, const any_scheme *scheme, double h, int steps, double *sweeps)
{
    return run_ordered(count, NULL, scheme, h, steps, sweeps);
}

static double distance(yk_vec3 a, yk_vec3 b)
{
    return yk_v3_norm(yk_v3_sub(a, b));
}

static void the_fixed_point_is_the_merged_system(void **state)
{
    (void)state;
    any_scheme gauss_seidel = relaxed_scheme(YK_SEQUENCE_GAUSS_SEIDEL),
               jacobi = relaxed_scheme(YK_SEQUENCE_JACOBI);
    any_scheme merged = any_scheme_default();
    merged.ops = yk_scheme_monolithic();
    for (int count = 2; count <= LINKS; count++) {
        double sweeps, jacobi_sweeps;
        yk_vec3 exact = run_chain(count, &merged, 1e-3, 300, NULL);
        assert_near(distance(run_chain(count, &gauss_seidel, 1e-3, 300, &sweeps), exact), 0, 1e-9);
        assert_near(distance(run_chain(count, &jacobi, 1e-3, 300, &jacobi_sweeps), exact), 0, 1e-9);
        assert_true(sweeps > 1 && sweeps < jacobi_sweeps);
    }
}

static void the_order_of_the_parts_does_not_matter(void **state)
{
    (void)state;
    static const int orders[][LINKS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    any_scheme plain = relaxed_scheme(YK_SEQUENCE_GAUSS_SEIDEL), accelerated = plain;
    plain.acceleration = YK_ACCELERATION_NONE;
    double sweeps, fewer;
    yk_vec3 first = run_chain(LINKS, &plain, 1e-3, 100, NULL);
    for (int k = 0; k < 4; k++) {
        assert_near(distance(run_ordered(LINKS, orders[k], &plain, 1e-3, 100, &sweeps), first), 0,
                    1e-10);
        assert_near(distance(run_ordered(LINKS, orders[k], &accelerated, 1e-3, 100, &fewer), first),
                    0, 1e-10);
        assert_true(fewer < 0.8 * sweeps);
    }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    any_scheme one = relaxed_scheme(YK_SEQUENCE_JACOBI), two = one;
    two.threads = 2;
    yk_vec3 a = run_chain(3, &one, 1e-3, 100, NULL), b = run_chain(3, &two, 1e-3, 100, NULL);
    assert_memory_equal(&a, &b, sizeof a);
}

static void halved_steps_converge_with_second_order(void **state)
{
    (void)state;
    any_scheme scheme = relaxed_scheme(YK_SEQUENCE_GAUSS_SEIDEL);
    yk_vec3 a = run_chain(2, &scheme, 2e-3, 150, NULL), b = run_chain(2, &scheme, 1e-3, 300, NULL),
            c = run_chain(2, &scheme, 5e-4, 600, NULL);
    double order = log2(distance(a, b) / distance(b, c));
    if (!(order > 1.8))
        print_error("order %.2f\n", order);
    assert_true(order > 1.8);
}

/* Parts with any integrator are relaxed as those that name what the scheme takes. */
static void other_integrators_need_no_preparation(void **state)
{
    (void)state;
    any_scheme scheme = relaxed_scheme(YK_SEQUENCE_GAUSS_SEIDEL);
    yk_multibody_options other = ode_options();
    other.integrator = YK_MULTIBODY_TWO_STEP, other.formulation = YK_MULTIBODY_FORMULATION_INDEX_3,
    other.stabilization_rate = 0;
    yk_multibody_options same = other;
    same.integrator = YK_MULTIBODY_GENERALIZED_ALPHA,
    same.formulation = YK_MULTIBODY_FORMULATION_STABILIZED_ODE;
    yk_motion tip[2];
    for (int k = 0; k < 2; k++) {
        chain c;
        assert_int_equal(open_chain(&c, 2, NULL, k == 0 ? &other : &same, &scheme, 1e-3, 0), YK_OK);
        for (int i = 0; i < 50; i++)
            assert_int_equal(yk_system_step(c.system, NULL), YK_OK);
        tip[k] = yk_system_port_value(c.system, (yk_subsystem_id){1}, (yk_port_id){0})->motion;
        close_chain(&c);
    }
    assert_memory_equal(&tip[0], &tip[1], sizeof *tip);
}

static void stiff_neighbours_are_named(void **state)
{
    (void)state;
    chain c;
    yk_multibody_options options = ode_options();
    any_scheme scheme = relaxed_scheme(YK_SEQUENCE_GAUSS_SEIDEL);
    assert_int_equal(open_chain(&c, 3, NULL, &options, &scheme, 1e-2, 1e9), YK_OK);
    yk_status status = YK_OK;
    yk_step_report report;
    for (int i = 0; i < 20 && status == YK_OK; i++)
        status = yk_system_step(c.system, &report);
    assert_true(status != YK_OK);
    const char *message = yk_last_message(c.context);
    if (!strstr(message, "subsystem '") || !strstr(message, "smaller"))
        print_error("%s\n", message);
    assert_non_null(strstr(message, "subsystem '"));
    assert_non_null(strstr(message, "smaller"));
    close_chain(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixed_point_is_the_merged_system),
        cmocka_unit_test(the_order_of_the_parts_does_not_matter),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(halved_steps_converge_with_second_order),
        cmocka_unit_test(other_integrators_need_no_preparation),
        cmocka_unit_test(stiff_neighbours_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
