/* Subsystems that another master carries: a spring whose force that master finds, on a mass that moves
 * exactly under constant forces. With the force at the start of each step,
 *
 *   x1 = x + h v - k x h^2 / 2 m       v1 = v - h k x / m
 *
 * and where the master repeats the step until the force is that at its end, k x1 instead of k x. */
#include <math.h>
#include <string.h>

#include "context.h"
#include "coupling/system_arrays.h"
#include "math/polynomial.h"
#include "test.h"
#include "yoke/oscillator.h"

static const double MASS = 2;      /* kg */
static const double STIFFNESS = 8; /* N/m */
static const double STEP = 0.125;  /* s */

typedef struct spring {
    yk_subsystem subsystem;
    double window; /* s, of repeated steps; 0: none is */
    double position, kept, force;
    double done; /* s of the window */
    bool again;
    int calls;
} spring;

static int spring_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port port = {"end", YK_PORT_SCALAR, YK_CAUSALITY_MOTION_INPUT};
    (void)self;
    *list = &port;
    return 1;
}

static yk_status spring_connect(yk_subsystem *self, int port, yk_causality causality,
                                unsigned constrained)
{
    (void)self, (void)port, (void)constrained;
    assert_int_equal(causality, YK_CAUSALITY_MOTION_INPUT);
    return YK_OK;
}

static yk_status spring_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    spring *s = (spring *)self;
    (void)t, (void)h;
    if (!inputs)
        return YK_OK;

    s->position = s->kept = yk_input_scalar(inputs, 0);
    s->force = STIFFNESS * s->position;
    return YK_OK;
}

static yk_status spring_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    spring *s = (spring *)self;
    (void)t;
    s->calls++;
    s->again = false;
    s->position = yk_input_scalar(inputs, h);

    /* Nothing is known before the window ends. */
    s->done += h;
    if (s->done < s->window - 1e-9)
        return YK_OK;

    double force = STIFFNESS * s->position;
    s->again = s->window > 0 && fabs(force - s->force) > 1e-14;
    s->force = force;
    s->done = 0;
    if (s->again)
        s->position = s->kept;
    s->kept = s->position;
    return YK_OK;
}

static void spring_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const spring *s = (const spring *)self;
    (void)port;
    *value = (yk_port_value){0};
    value->motion.position.x = s->position;
    value->wrench.force.x = s->force;
}

static void spring_destroy(yk_subsystem *self)
{
    (void)self;
}

static double spring_repeated(const yk_subsystem *self)
{
    return ((const spring *)self)->window;
}

static bool spring_again(const yk_subsystem *self)
{
    return ((const spring *)self)->again;
}

static const yk_time_window_ops windows = {sizeof windows, spring_repeated, spring_again};
static const yk_subsystem_ops spring_ops = {
    .size = sizeof spring_ops,
    .kind = "spring",
    .ports = spring_ports,
    .connect = spring_connect,
    .initialize = spring_start,
    .step = spring_step,
    .get_port_value = spring_output,
    .destroy = spring_destroy,
    .time_windows = &windows,
};

/* The spring is listed first, so that the order is the doing of its windows. */
typedef struct pair {
    spring spring;
    yk_subsystem *list[2];
    yk_interface_def joint;
    yk_system_description def;
    yk_system *system;
} pair;

static void set_up(yk_context *context, pair *p, double window)
{
    static const char *const names[] = {"spring", "mass"};
    *p = (pair){.spring = {.subsystem.ops = &spring_ops, .window = window}};
    yk_oscillator_def mass = yk_oscillator_default();
    mass.mass = MASS;
    mass.position = 0.5;
    mass.velocity = -1;
    mass.integrator = YK_OSCILLATOR_EXACT;
    p->list[0] = &p->spring.subsystem;
    assert_int_equal(yk_oscillator_create(context, &mass, &p->list[1]), YK_OK);
    p->joint = (yk_interface_def){.name = "joint",
                                  .wrench_subsystem = {1},
                                  .motion_subsystem = {0},
                                  .constrained_axes = YK_AXIS_X};
    p->def = (yk_system_description){.subsystems = p->list,
                                     .names = names,
                                     .subsystem_count = 2,
                                     .interfaces = &p->joint,
                                     .interface_count = 1,
                                     .step = STEP};
}

static void tear_down(pair *p)
{
    yk_system_destroy(p->system);
    p->list[1]->ops->destroy(p->list[1]);
}

/* Steps of the system and of the recurrence; `end`: with the force at the end of a step. */
static void run(yk_context *context, pair *p, bool end)
{
    assert_int_equal(yk_system_make(context, &p->def, &p->system), YK_OK);
    assert_int_equal(yk_system_initialize(p->system), YK_OK);
    double x = 0.5;
    double v = -1;
    double c = STIFFNESS / MASS;
    for (int i = 0; i < 40; i++) {
        assert_int_equal(yk_system_step(p->system, NULL), YK_OK);
        double at = x;
        if (end)
            at = (x + STEP * v) / (1 + 0.5 * c * STEP * STEP);
        x += STEP * v - 0.5 * c * STEP * STEP * at;
        v -= STEP * c * at;
        const yk_motion *mass =
            &yk_system_port_value(p->system, (yk_subsystem_id){1}, (yk_port_id){0})->motion;
        assert_near(mass->position.x, x, 1e-13);
        assert_near(mass->velocity.x, v, 1e-13);
        assert_near(yk_system_port_value(p->system, (yk_subsystem_id){0}, (yk_port_id){0})
                        ->motion.position.x,
                    x, 1e-13);
    }
    assert_int_equal(yk_system_step_count(p->system), 40);
}

static void the_motion_that_was_reached_is_given(void **state)
{
    pair p;
    set_up(*state, &p, 0);
    run(*state, &p, false);
    assert_int_equal(p.spring.calls, 40);
    assert_int_equal(yk_system_get_statistics(p.system).iterations, 40);
    tear_down(&p);
}

static void steps_are_made_again(void **state)
{
    pair p;
    set_up(*state, &p, STEP);
    run(*state, &p, true);

    /* Every call is counted, and the clock once per step. */
    yk_system_statistics all = yk_system_get_statistics(p.system);
    assert_true(p.spring.calls > 40);
    assert_int_equal(all.steps, 40);
    assert_int_equal(all.iterations, p.spring.calls);
    assert_int_equal(yk_system_subsystem_statistics(p.system, (yk_subsystem_id){1}).calls,
                     p.spring.calls);
    tear_down(&p);
}

/* An event cuts a macro step; all of the step is made again, with one force. */
static void parts_of_a_step_are_made_again(void **state)
{
    pair p;
    double event = 2.5 * STEP;
    set_up(*state, &p, STEP);
    p.def.control.event_times = &event;
    p.def.control.event_time_count = 1;
    run(*state, &p, true);
    assert_int_equal(yk_system_get_statistics(p.system).steps, 41);
    tear_down(&p);
}

static void expect_refusal(yk_context *context, pair *p, const char *words)
{
    yk_status status = yk_system_make(context, &p->def, &p->system);
    if (status == YK_OK)
        status = yk_system_initialize(p->system);
    assert_true(status < 0);
    if (!strstr(yk_last_message(context), words))
        print_error("message: %s\n", yk_last_message(context));
    assert_non_null(strstr(yk_last_message(context), words));
    tear_down(p);
}

static void what_cannot_follow_is_refused(void **state)
{
    pair p;
    set_up(*state, &p, 0);
    p.def.scheme.ops = yk_scheme_tight();
    expect_refusal(*state, &p, "'spring' (spring) is carried by another master");

    set_up(*state, &p, 0);
    yk_explicit_options jacobi = yk_explicit_options_default();
    jacobi.sequence = YK_SEQUENCE_JACOBI;
    p.def.scheme.ops = yk_scheme_explicit();
    p.def.scheme.options = &jacobi;
    expect_refusal(*state, &p, "choose scheme explicit in order gauss-seidel");

    set_up(*state, &p, 2 * STEP);
    expect_refusal(*state, &p, "repeats windows of 0.25 s, the macro step is 0.125 s");

    /* A partner that cannot go back. */
    set_up(*state, &p, STEP);
    yk_subsystem_ops forward = *p.list[1]->ops;
    forward.rollback = NULL;
    p.list[1]->ops = &forward;
    expect_refusal(*state, &p, "'spring' (spring) repeats macro steps, but 'mass' (oscillator)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_motion_that_was_reached_is_given),
        cmocka_unit_test(steps_are_made_again),
        cmocka_unit_test(parts_of_a_step_are_made_again),
        cmocka_unit_test(what_cannot_follow_is_refused),
    };
    return cmocka_run_group_tests_name("window", tests, create_context, destroy_context);
}
