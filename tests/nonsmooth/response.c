/* The reduced interface model, compared with the solver itself: the effect of a wrench at a port
 * during one step, with open, sticking and sliding contacts, with and without joints, for all
 * friction models. */
#include <string.h>

#include "math/polynomial.h"
#include "math/so3.h"
#include "scene.h"

static const double STEP = 1e-4;
enum { SIZE_MAX_MODEL = 12, SETTLE = 20 /* steps before the model is asked for */ };

typedef struct response_case {
    const char *name;
    void (*build)(scene *s, yk_friction_model friction);
    yk_contact_method method;
    yk_friction_model friction;
    double bearing;   /* the floor carries at least this of the first body (N) */
    double tolerance; /* of the response, relative to its largest element */
} response_case;

static void add_port(scene *s, const char *name, int body, yk_vec3 offset)
{
    yk_marker marker = yk_marker_default();
    marker.offset = offset;
    int port = yk_world_add_port(s->world, name, body, &marker);
    assert_true(port >= 0);
}

static int add_moving_box(scene *s, yk_vec3 half, yk_vec3 position, double mass, double friction,
                          yk_vec3 velocity)
{
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.position = position;
    body.velocity = velocity;
    body.mass = mass;
    double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
    body.inertia = yk_m3_scale(mass / 3, yk_m3_diagonal(y + z, x + z, x + y));
    int number = yk_world_add_body(s->world, &body);
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){number};
    shape.kind = YK_SOLID_BOX;
    shape.size = half;
    shape.material = rough(friction);
    assert_true(yk_world_add_shape(s->world, &shape) >= 0);
    return number;
}

/* In free flight: the floor is far. */
static void build_open(scene *s, yk_friction_model friction)
{
    (void)friction;
    add_floor(s, rough(0.5));
    int box = add_moving_box(s, yk_v3(0.1, 0.2, 0.3), yk_v3(0, 0, 5), 8, 0.5, yk_v3(1, 0, 0));
    add_port(s, "a", box, yk_v3(0.1, 0, 0.2));
    add_port(s, "b", box, yk_v3(-0.1, 0.1, 0));
}

/* Four contact points that know only three of their normal impulses. */
static void build_sticking(scene *s, yk_friction_model friction)
{
    (void)friction;
    add_floor(s, rough(0.5));
    int box = add_moving_box(s, yk_v3(0.1, 0.2, 0.3), yk_v3(0, 0, 0.3), 8, 0.5, yk_v3(0, 0, 0));
    add_port(s, "a", box, yk_v3(0.1, 0, 0.1));
}

/* Rows enough for the sparse solution; the middle box is held by eight points. */
static void build_stack(scene *s, yk_friction_model friction)
{
    (void)friction;
    add_floor(s, rough(0.5));
    int box = -1;
    for (int i = 0; i < 4; i++)
        box = add_moving_box(s, yk_v3(0.2, 0.2, 0.1), yk_v3(0, 0, 0.1 + 0.2 * i), 4, 0.5,
                             yk_v3(0, 0, 0));
    add_port(s, "a", box, yk_v3(0.1, 0, 0));
}

/* Surfaces that yield, (40)-(42): the box gives way to the push. */
static void build_yielding(scene *s, yk_friction_model friction)
{
    (void)friction;
    yk_material soft = {.friction = 0.5, .stiffness = 1e6, .damping = 1e5};
    add_floor(s, soft);
    yk_vec3 half = {0.1, 0.2, 0.3};
    int box = add_box(s, half, yk_v3(0, 0, 0.3), 8, soft);
    add_port(s, "a", box, yk_v3(0.1, 0, 0.1));
}

/* Friction against spinning, and against rolling that it does not stop. */
static void build_rolling(scene *s, yk_friction_model friction)
{
    (void)friction;
    yk_material rolling = {.friction = 0.8, .rolling_friction = 1e-4, .spinning_friction = 0.01};
    add_floor(s, rolling);
    int ball = add_ball(s, 0.1, yk_v3(0, 0, 0.1), rolling);
    add_port(s, "a", ball, yk_v3(0, 0, 0));
}

/* A plate on sixty-four balls: many contacts on one body, where the blocks of W would be too
 * many. */
static void build_bed(scene *s, yk_friction_model friction)
{
    (void)friction;
    add_floor(s, rough(0.5));
    int plate =
        add_moving_box(s, yk_v3(0.6, 0.6, 0.05), yk_v3(0, 0, 0.15), 20, 0.5, yk_v3(0, 0, 0));
    for (int i = 0; i < 64; i++)
        add_ball(s, 0.05, yk_v3(0.14 * (i % 8 - 3.5), 0.14 * (i / 8 - 3.5), 0.05), rough(0.5));
    add_port(s, "a", plate, yk_v3(0.1, 0, 0));
}

/* Not along an axis: round cones turn the direction of friction, pyramids do not. The convex cone
 * carries what slides at a distance of mu h times its speed; it starts there. */
static void build_slipping(scene *s, yk_friction_model friction)
{
    double gap = friction == YK_FRICTION_CONVEX_CONE ? 0.3 * STEP * hypot(2, 1) : 0;
    add_floor(s, rough(0.3));
    int box =
        add_moving_box(s, yk_v3(0.2, 0.2, 0.05), yk_v3(0, 0, 0.05 + gap), 8, 0.3, yk_v3(2, 1, 0));
    add_port(s, "a", box, yk_v3(0, 0, 0));
}

static void build_ball(scene *s, yk_friction_model friction)
{
    (void)friction;
    add_floor(s, rough(0.3));
    int ball = add_ball(s, 0.1, yk_v3(0, 0, 0.1), rough(0.3));
    add_port(s, "a", ball, yk_v3(0, 0, 0.05));
}

static void build_slipping_ball(scene *s, yk_friction_model friction)
{
    double gap = friction == YK_FRICTION_CONVEX_CONE ? 0.3 * STEP * hypot(2, 1) : 0;
    add_floor(s, rough(0.3));
    yk_nonsmooth_body_def body = yk_nonsmooth_body_default();
    body.position = yk_v3(0, 0, 0.1 + gap);
    body.velocity = yk_v3(2, 1, 0);
    body.mass = 4;
    body.inertia = yk_m3_diagonal(0.016, 0.016, 0.016);
    yk_nonsmooth_shape_def shape = yk_nonsmooth_shape_default();
    shape.body = (yk_body_id){yk_world_add_body(s->world, &body)};
    shape.kind = YK_SOLID_SPHERE;
    shape.size = yk_v3(0.1, 0, 0);
    shape.material = rough(0.3);
    assert_true(yk_world_add_shape(s->world, &shape) >= 0);
    add_port(s, "a", shape.body.index, yk_v3(0, 0, 0));
}

static void hinge(scene *s, int a, int b, yk_vec3 at_a, yk_vec3 at_b)
{
    yk_joint_def joint = yk_joint_default();
    joint.kind = YK_JOINT_REVOLUTE;
    joint.bodies[0] = (yk_body_id){a};
    joint.bodies[1] = (yk_body_id){b};
    joint.markers[0].offset = at_a;
    joint.markers[1].offset = at_b;
    joint.markers[0].orientation = joint.markers[1].orientation =
        yk_so3_exp(yk_v3(1.5707963267948966, 0, 0));
    assert_true(yk_world_add_joint(s->world, &joint) >= 0);
}

/* A double pendulum in the plane y = 0, and a block that it does not touch. */
static void build_joints(scene *s, yk_friction_model friction)
{
    (void)friction;
    int upper = add_moving_box(s, yk_v3(0.5, 0.05, 0.05), yk_v3(0.5, 0, 2), 5, 0, yk_v3(0, 0, 0));
    int lower = add_moving_box(s, yk_v3(0.5, 0.05, 0.05), yk_v3(1.5, 0, 2), 3, 0, yk_v3(0, 0, 0));
    hinge(s, YK_GROUND_INDEX, upper, yk_v3(0, 0, 2), yk_v3(-0.5, 0, 0));
    hinge(s, upper, lower, yk_v3(0.5, 0, 0), yk_v3(-0.5, 0, 0));
    add_floor(s, rough(0.5));
    add_moving_box(s, yk_v3(0.1, 0.1, 0.1), yk_v3(5, 0, 0.1), 7, 0.5, yk_v3(0, 0, 0));
    add_port(s, "a", upper, yk_v3(0.2, 0, 0));
    add_port(s, "b", lower, yk_v3(0.5, 0, 0));
}

/* The same pendulum on two actuators, with the second link standing on the floor. */
static void build_actuators(scene *s, yk_friction_model friction)
{
    (void)friction;
    add_floor(s, rough(0.5));
    int lower =
        add_moving_box(s, yk_v3(0.2, 0.1, 0.5), yk_v3(1.2, 0, 0.5), 30, 0.5, yk_v3(0, 0, 0));
    int upper = add_moving_box(s, yk_v3(0.4, 0.05, 0.05), yk_v3(0.5, 0, 0.9), 5, 0, yk_v3(0, 0, 0));
    hinge(s, upper, lower, yk_v3(0.5, 0, 0), yk_v3(-0.2, 0, 0.4));
    yk_body_id ends[2][2] = {{YK_GROUND, {upper}}, {{upper}, {lower}}};
    yk_marker markers[2][2] = {{yk_marker_at(0, 0.1, 0.2), yk_marker_at(-0.3, 0, 0)},
                               {yk_marker_at(0.1, 0, 0), yk_marker_at(0.1, 0, 0.1)}};
    for (int i = 0; i < 2; i++)
        assert_true(yk_world_add_line_port(s->world, i ? "second" : "first", ends[i], markers[i]) >=
                    0);
}

/* A bar on a hinge whose end rests on a block, which sticks to or slips on the floor. */
static void leaning_bar(scene *s, double friction, double speed)
{
    add_floor(s, rough(0.4));
    int block =
        add_moving_box(s, yk_v3(0.4, 0.2, 0.1), yk_v3(1, 0, 0.1), 6, 0.4, yk_v3(speed, 0, 0));
    yk_nonsmooth_body_def rod =
        yk_nonsmooth_body_default(); /* without a shape: it may pass through its tip */
    rod.position = yk_v3(0.5, 0, 0.3);
    rod.mass = 5;
    rod.inertia = yk_m3_diagonal(0.01, 0.4, 0.4);
    int bar = yk_world_add_body(s->world, &rod);
    int tip = add_solid(s, YK_SOLID_SPHERE, yk_v3(0.1, 0, 0), yk_v3(1, 0, 0.3), yk_q_identity(), 2,
                        yk_m3_diagonal(0.02, 0.02, 0.02), rough(friction));
    yk_joint_def clamp = yk_joint_default();
    clamp.kind = YK_JOINT_FIXED;
    clamp.bodies[0] = (yk_body_id){bar};
    clamp.bodies[1] = (yk_body_id){tip};
    clamp.markers[0].offset = yk_v3(0.5, 0, 0);
    assert_true(yk_world_add_joint(s->world, &clamp) >= 0);
    hinge(s, YK_GROUND_INDEX, bar, yk_v3(0, 0, 0.3), yk_v3(-0.5, 0, 0));
    add_port(s, "a", bar, yk_v3(0.2, 0, 0));
    add_port(s, "b", block, yk_v3(-0.4, 0, 0));
}

static void build_bar_sticking(scene *s, yk_friction_model friction)
{
    (void)friction;
    leaning_bar(s, 0.4, 0);
}

static void build_bar_slipping(scene *s, yk_friction_model friction)
{
    (void)friction;
    leaning_bar(s, 0.2, 0.5);
}

static void set_wrench(const yk_port *ports, int count, const double *wrench, yk_input *inputs)
{
    for (int i = 0; i < count; wrench += yk_port_freedoms(ports[i++].kind)) {
        inputs[i] = (yk_input){.degree = 0, .base_orientation = {1, 0, 0, 0}};
        inputs[i].linear[0].x = wrench[0];
        if (yk_port_freedoms(ports[i].kind) == 1)
            continue;
        inputs[i].linear[0] = yk_v3(wrench[0], wrench[1], wrench[2]);
        inputs[i].angular[0] = yk_v3(wrench[3], wrench[4], wrench[5]);
    }
}

static void read_velocities(const yk_subsystem *subsystem, int count, double *w)
{
    const yk_port *ports;
    subsystem->ops->ports(subsystem, &ports);
    for (int i = 0; i < count; w += yk_port_freedoms(ports[i++].kind)) {
        yk_port_value value;
        subsystem->ops->get_port_value(subsystem, i, &value);
        w[0] = value.motion.velocity.x;
        if (yk_port_freedoms(ports[i].kind) == 1)
            continue;
        w[1] = value.motion.velocity.y, w[2] = value.motion.velocity.z;
        w[3] = value.motion.angular_velocity.x, w[4] = value.motion.angular_velocity.y;
        w[5] = value.motion.angular_velocity.z;
    }
}

/* One step from the image with the wrench; the velocities after it. */
static void step_with(yk_subsystem *subsystem, const double *image, double t, const double *wrench,
                      double *w)
{
    const yk_port *ports;
    yk_input inputs[2];
    int count = subsystem->ops->ports(subsystem, &ports);
    assert_int_equal(subsystem->ops->rollback->set(subsystem, image), YK_OK);
    set_wrench(ports, count, wrench, inputs);
    yk_status status = subsystem->ops->step(subsystem, t, STEP, inputs);
    if (status != YK_OK)
        fail_msg("step: %s", subsystem->ops->last_message(subsystem));
    read_velocities(subsystem, count, w);
}

static void check_response(const response_case *c, yk_subsystem *subsystem, double t,
                           const double *wrench, int size)
{
    double inverse_mass[SIZE_MAX_MODEL * SIZE_MAX_MODEL], rate[SIZE_MAX_MODEL], now[SIZE_MAX_MODEL],
        end[SIZE_MAX_MODEL], largest = 0;
    static double image[100000], after[100000];
    size_t words = subsystem->ops->rollback->layout(subsystem).word_count;
    assert_true(words < 100000);
    subsystem->ops->rollback->get(subsystem, image);
    yk_interface_model model = {
        .row_count = size, .inverse_mass = inverse_mass, .free_acceleration = rate};
    assert_int_equal(subsystem->ops->interface_model->evaluate(subsystem, t, STEP, NULL, &model),
                     YK_OK);
    subsystem->ops->rollback->get(subsystem, after);
    assert_memory_equal(image, after, words * sizeof *image);
    assert_near(model.theta, 1, 0);
    for (int i = 0; i < size * size; i++)
        largest = fmax(largest, fabs(inverse_mass[i]));
    const yk_port *ports;
    read_velocities(subsystem, subsystem->ops->ports(subsystem, &ports), now);
    step_with(subsystem, image, t, wrench, end);
    for (int i = 0; i < size; i++) {
        double predicted = now[i] + STEP * rate[i];
        for (int j = 0; j < size; j++)
            predicted += STEP * inverse_mass[i * size + j] * wrench[j];
        assert_near(end[i], predicted, 1e-7);
    }
    const double push = 0.1;
    largest = fmax(largest, 0.1); /* of a body that is stuck nothing moves */
    for (int j = 0; j < size; j++) {
        double more[SIZE_MAX_MODEL], less[SIZE_MAX_MODEL], changed[SIZE_MAX_MODEL];
        memcpy(changed, wrench, sizeof changed);
        changed[j] = wrench[j] + push;
        step_with(subsystem, image, t, changed, more);
        changed[j] = wrench[j] - push;
        step_with(subsystem, image, t, changed, less);
        for (int i = 0; i < size; i++) {
            double measured = (more[i] - less[i]) / (2 * push * STEP),
                   predicted = inverse_mass[i * size + j];
            if (fabs(measured - predicted) > c->tolerance * largest)
                fail_msg("%s: response (%d, %d) is %.12g, the model says %.12g (largest %g)",
                         c->name, i, j, measured, predicted, largest);
        }
    }
}

static void run_case(const response_case *c)
{
    yk_nonsmooth_def def = scene_default();
    def.contact_options.method = c->method;
    def.contact_options.friction_model = c->friction;
    scene s = scene_make(&def);
    c->build(&s, c->friction);
    yk_subsystem *subsystem = yk_nonsmooth_subsystem(s.world);
    const yk_port *ports;
    int count = subsystem->ops->ports(subsystem, &ports), size = 0;
    for (int i = 0; i < count; i++)
        size += yk_port_freedoms(ports[i].kind);
    for (int i = 0; i < count; i++)
        assert_int_equal(
            subsystem->ops->connect(subsystem, i, YK_CAUSALITY_WRENCH_INPUT, YK_AXES_ALL), YK_OK);
    double wrench[SIZE_MAX_MODEL] = {1, -0.5, -2, 0.05, 0.1, -0.1, 0.3, 0.2, -1, 0, 0.02, 0.03};
    yk_input inputs[2];
    set_wrench(ports, count, wrench, inputs);
    assert_int_equal(subsystem->ops->initialize(subsystem, 0, STEP, inputs), YK_OK);
    for (int i = 0; i < SETTLE; i++)
        if (subsystem->ops->step(subsystem, i * STEP, STEP, inputs) != YK_OK)
            fail_msg("%s, step %d: %s", c->name, i, subsystem->ops->last_message(subsystem));
    assert_true(yk_nonsmooth_contact_force(s.world, 0, YK_GROUND_INDEX).z >= c->bearing);
    check_response(c, subsystem, SETTLE * STEP, wrench, size);
    scene_end(&s);
}

static void check_model(const char *name, void (*build)(scene *s, yk_friction_model friction),
                        yk_friction_model friction, double bearing, double tolerance)
{
    yk_contact_method method =
        friction == YK_FRICTION_PYRAMID ? YK_CONTACT_PIVOTING : YK_CONTACT_INTERIOR_POINT;
    char text[64];
    snprintf(text, sizeof text, "%s, friction %d", name, (int)friction);
    response_case c = {text, build, method, friction, bearing, tolerance};
    run_case(&c);
}

static void check_all_models(const char *name, void (*build)(scene *s, yk_friction_model friction),
                             double bearing, double tolerance)
{
    for (yk_friction_model friction = YK_FRICTION_CONVEX_CONE; friction <= YK_FRICTION_PYRAMID;
         friction++)
        check_model(name, build, friction, bearing, tolerance);
}

static void test_open(void **state)
{
    (void)state;
    check_all_models("open", build_open, 0, 1e-7);
}

static void test_sticking(void **state)
{
    (void)state;
    check_all_models("sticking", build_sticking, 70, 1e-8);
    check_model("stack", build_stack, YK_FRICTION_COULOMB, 150, 1e-7);
    check_all_models("yielding", build_yielding, 60, 1e-7);
    check_model("rolling", build_rolling, YK_FRICTION_COULOMB, 30, 1e-4);
    check_model("bed", build_bed, YK_FRICTION_COULOMB, 0, 1e-5);
    check_all_models("ball", build_ball, 30, 1e-7);
}

/* The direction of friction turns by the impulse and the speed of the last step: to first order
 * in the step. */
static void test_slipping(void **state)
{
    (void)state;
    check_all_models("slipping ball", build_slipping_ball, 35, 1e-4);
    for (yk_friction_model friction = YK_FRICTION_COULOMB; friction <= YK_FRICTION_PYRAMID;
         friction++)
        check_model("slipping", build_slipping, friction, 70, 1e-4);
}

static void test_joints(void **state)
{
    (void)state;
    check_all_models("joints", build_joints, 0, 1e-6);
}

static void test_joints_and_contact(void **state)
{
    (void)state;
    /* The direction of the line at the end of the step is that of the beginning to first order. */
    check_all_models("actuators", build_actuators, 100, 1e-5);
    check_all_models("bar, sticking", build_bar_sticking, 80, 1e-7);
    /* The convex cone would lift the block off. */
    for (yk_friction_model friction = YK_FRICTION_COULOMB; friction <= YK_FRICTION_PYRAMID;
         friction++)
        check_model("bar, slipping", build_bar_slipping, friction, 80, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_open), cmocka_unit_test(test_sticking),
                                       cmocka_unit_test(test_slipping),
                                       cmocka_unit_test(test_joints),
                                       cmocka_unit_test(test_joints_and_contact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
