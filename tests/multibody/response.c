/* The reduced interface model of the solver `multibody`: its predictions compared with the
 * accelerations at the start and with the velocities after a short wrench. */
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "models.h"
#include "test.h"

enum { SIZE = 7 };

/* A marker on one node, and the distance from a place on the ground to another. */
static void add_ports(model_kit *kit, int marker_node, yk_vec3 offset, int node, yk_vec3 ground)
{
    yk_port_def tip = yk_port_default(), actuator = yk_port_default();
    tip.name = "tip";
    tip.kind = YK_PORT_MARKER;
    tip.bodies[0] = (yk_body_id){marker_node};
    tip.markers[0].offset = offset;
    actuator.name = "actuator";
    actuator.kind = YK_PORT_SCALAR;
    actuator.bodies[0] = YK_GROUND;
    actuator.markers[0].offset = ground;
    actuator.bodies[1] = (yk_body_id){node};
    actuator.markers[1].offset = yk_v3(0.05, 0.02, 0.01);
    kit->ports[0] = tip;
    kit->ports[1] = actuator;
    kit->def.port_count = 2;
}

static yk_subsystem *create(yk_context *context, model_kit *kit)
{
    yk_multibody *model;
    if (yk_multibody_make(context, kit_def(kit), &model) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    yk_subsystem *subsystem = yk_multibody_subsystem(model);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            subsystem->ops->connect(subsystem, i, YK_CAUSALITY_WRENCH_INPUT, YK_AXES_ALL), YK_OK);
    return subsystem;
}

static void set_wrenches(const double *wrench, yk_input *inputs)
{
    for (int i = 0; i < 2; i++)
        inputs[i] = (yk_input){.base_orientation = {1, 0, 0, 0}};
    inputs[0].linear[0] = yk_v3(wrench[0], wrench[1], wrench[2]);
    inputs[0].angular[0] = yk_v3(wrench[3], wrench[4], wrench[5]);
    inputs[1].linear[0].x = wrench[6];
}

static void read(const yk_subsystem *subsystem, double *velocity, double *acceleration)
{
    yk_port_value tip, actuator;
    subsystem->ops->get_port_value(subsystem, 0, &tip);
    subsystem->ops->get_port_value(subsystem, 1, &actuator);
    const yk_motion *m = &tip.motion;
    const yk_vec3 v[2] = {m->velocity, m->angular_velocity},
                  a[2] = {m->acceleration, m->angular_acceleration};
    for (int i = 0; i < 2; i++) {
        velocity[3 * i] = v[i].x, velocity[3 * i + 1] = v[i].y, velocity[3 * i + 2] = v[i].z;
        acceleration[3 * i] = a[i].x, acceleration[3 * i + 1] = a[i].y,
                         acceleration[3 * i + 2] = a[i].z;
    }
    velocity[6] = actuator.motion.velocity.x;
    acceleration[6] = actuator.motion.acceleration.x;
}

static const double WRENCH[SIZE] = {3, -2, 1, 0.1, 0.2, -0.3, 5};

typedef struct reduced {
    double inverse_mass[SIZE * SIZE], rate[SIZE], largest;
} reduced;

static void ask(yk_subsystem *subsystem, double t, double h, reduced *r)
{
    yk_interface_model model = {
        .row_count = SIZE, .inverse_mass = r->inverse_mass, .free_acceleration = r->rate};
    yk_status status = subsystem->ops->interface_model->evaluate(subsystem, t, h, NULL, &model);
    if (status != YK_OK)
        fail_msg("%s", subsystem->ops->last_message(subsystem));
    assert_near(model.theta, 0.5, 0);
    r->largest = 0;
    for (int i = 0; i < SIZE * SIZE; i++)
        r->largest = fmax(r->largest, fabs(r->inverse_mass[i]));
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < i; j++)
            assert_near(r->inverse_mass[i * SIZE + j], r->inverse_mass[j * SIZE + i],
                        1e-9 * r->largest);
}

/* rim (5): the accelerations that a consistent start finds. */
static void check_start(yk_subsystem *subsystem, double tolerance)
{
    yk_input inputs[2];
    double velocity[SIZE], acceleration[SIZE];
    reduced r;
    set_wrenches(WRENCH, inputs);
    assert_true(subsystem->ops->initialize(subsystem, 0, 1e-4, inputs) >= 0);
    read(subsystem, velocity, acceleration);
    ask(subsystem, 0, 1e-4, &r);
    for (int i = 0; i < SIZE; i++) {
        double expected = r.rate[i], size = fabs(expected);
        for (int j = 0; j < SIZE; j++) {
            expected += r.inverse_mass[i * SIZE + j] * WRENCH[j];
            size += fabs(r.inverse_mass[i * SIZE + j] * WRENCH[j]);
        }
        assert_near(acceleration[i], expected, tolerance * (1 + size));
    }
}

/* Change of the velocities in twenty steps with the wrench changed by `more` in component j.
 * Twenty go before them: the method feels a jump of a wrench over several steps. */
static void run(yk_subsystem *subsystem, const double *image, double t, double h, int j,
                double more, double *gained)
{
    yk_input inputs[2];
    double wrench[SIZE], acceleration[SIZE], before[SIZE];
    memcpy(wrench, WRENCH, sizeof wrench);
    wrench[j] += more;
    set_wrenches(wrench, inputs);
    assert_int_equal(subsystem->ops->rollback->set(subsystem, image), YK_OK);
    for (int i = 0; i < 20; i++)
        assert_int_equal(subsystem->ops->step(subsystem, t + i * h, h, inputs), YK_OK);
    read(subsystem, before, acceleration);
    for (int i = 20; i < 40; i++)
        assert_int_equal(subsystem->ops->step(subsystem, t + i * h, h, inputs), YK_OK);
    read(subsystem, gained, acceleration);
    for (int i = 0; i < SIZE; i++)
        gained[i] -= before[i];
}

static void check_motion(yk_subsystem *subsystem, double tolerance)
{
    const double h = 2e-6, duration = 20 * h, push = 10;
    yk_input inputs[2];
    set_wrenches(WRENCH, inputs);
    assert_true(subsystem->ops->initialize(subsystem, 0, h, inputs) >= 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(subsystem->ops->step(subsystem, i * h, h, inputs), YK_OK);
    size_t words = subsystem->ops->rollback->layout(subsystem).word_count;
    double *image = calloc(2 * words, sizeof *image);
    subsystem->ops->rollback->get(subsystem, image);
    reduced r;
    ask(subsystem, 20 * h, h, &r);
    subsystem->ops->rollback->get(subsystem, image + words);
    assert_memory_equal(image, image + words, words * sizeof *image);
    for (int j = 0; j < SIZE; j++) {
        double more[SIZE], less[SIZE];
        run(subsystem, image, 20 * h, h, j, push, more);
        run(subsystem, image, 20 * h, h, j, -push, less);
        for (int i = 0; i < SIZE; i++)
            assert_near((more[i] - less[i]) / (2 * push * duration), r.inverse_mass[i * SIZE + j],
                        tolerance * r.largest);
    }
    free(image);
}

static void test_open_chain(void **state)
{
    model_kit kit;
    kit_double_pendulum(&kit);
    add_ports(&kit, 1, yk_v3(0.2, 0, 0.1), 0, yk_v3(0.1, -0.5, 0));
    yk_subsystem *subsystem = create(*state, &kit);
    check_start(subsystem, 1e-9);
    check_motion(subsystem, 1e-4);
    subsystem->ops->destroy(subsystem);
    kit_close(&kit);
}

/* A spatial loop. */
static void test_closed_chain(void **state)
{
    model_kit kit;
    kit_slider_crank(&kit);
    add_ports(&kit, 1, yk_v3(0.02, 0, 0.01), 0, yk_v3(0.1, -0.5, 0));
    yk_subsystem *subsystem = create(*state, &kit);
    check_start(subsystem, 1e-7);
    check_motion(subsystem, 2e-3);
    subsystem->ops->destroy(subsystem);
    kit_close(&kit);
}

/* Six hinges of which the last closes the loop, with equations to spare. */
static void test_redundant_joints(void **state)
{
    model_kit kit;
    kit_bricard(&kit);
    add_ports(&kit, 2, yk_v3(0, 0, 0), 1, yk_v3(0.3, -2, 0.1));
    yk_subsystem *subsystem = create(*state, &kit);
    check_start(subsystem, 1e-6);
    subsystem->ops->destroy(subsystem);
    kit_close(&kit);
}

/* Asking changes nothing of the motion. */
static void test_asking_leaves_no_trace(void **state)
{
    model_kit kit;
    double velocity[2][SIZE], acceleration[SIZE];
    kit_double_pendulum(&kit);
    add_ports(&kit, 1, yk_v3(0.2, 0, 0.1), 0, yk_v3(0.1, -0.5, 0));
    for (int asking = 0; asking < 2; asking++) {
        yk_subsystem *subsystem = create(*state, &kit);
        yk_input inputs[2];
        reduced r;
        set_wrenches(WRENCH, inputs);
        assert_true(subsystem->ops->initialize(subsystem, 0, 1e-3, inputs) >= 0);
        for (int i = 0; i < 100; i++) {
            if (asking)
                ask(subsystem, i * 1e-3, 1e-3, &r);
            assert_int_equal(subsystem->ops->step(subsystem, i * 1e-3, 1e-3, inputs), YK_OK);
        }
        read(subsystem, velocity[asking], acceleration);
        subsystem->ops->destroy(subsystem);
    }
    assert_memory_equal(velocity[0], velocity[1], sizeof velocity[0]);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_chain), cmocka_unit_test(test_closed_chain),
        cmocka_unit_test(test_redundant_joints), cmocka_unit_test(test_asking_leaves_no_trace)};
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
