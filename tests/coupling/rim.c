/* The scheme rim, compared with recurrences derived by hand: masses driven by springs and dampers
 * without inertia. */
#include <stdlib.h>
#include <string.h>

#include "any_scheme.h"
#include "context.h"
#include "coupling/system_arrays.h"
#include "test.h"

/* A slow partner: masses with scalar ports and semi-implicit Euler, coupled by an inverse mass
 * matrix ------------------
 */

enum { PORTS_MAX = 2 };

typedef struct slow {
    yk_subsystem base;
    int count;
    double inverse_mass[PORTS_MAX][PORTS_MAX], load[PORTS_MAX];
    double state[2 * PORTS_MAX], initial[2 * PORTS_MAX]; /* positions, velocities */
    double wrench[PORTS_MAX];
} slow;

static const yk_port slow_ports[PORTS_MAX] = {{"a", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT},
                                              {"b", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT}};

static int slow_list(const yk_subsystem *self, const yk_port **list)
{
    *list = slow_ports;
    return ((const slow *)self)->count;
}

static yk_status any_connect(yk_subsystem *self, int port, yk_causality causality,
                             unsigned constrained)
{
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static yk_status slow_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    slow *s = (slow *)self;
    (void)t, (void)h, (void)inputs;
    memcpy(s->state, s->initial, sizeof s->state);
    return YK_OK;
}

static yk_status slow_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    slow *s = (slow *)self;
    (void)t;
    for (int i = 0; i < s->count; i++)
        s->wrench[i] = inputs[i].linear[0].x;
    for (int i = 0; i < s->count; i++)
        for (int j = 0; j < s->count; j++)
            s->state[PORTS_MAX + i] += h * s->inverse_mass[i][j] * (s->load[j] + s->wrench[j]);
    for (int i = 0; i < s->count; i++)
        s->state[i] += h * s->state[PORTS_MAX + i];
    return YK_OK;
}

static void slow_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const slow *s = (const slow *)self;
    memset(value, 0, sizeof *value);
    value->motion.position.x = s->state[port];
    value->motion.velocity.x = s->state[PORTS_MAX + port];
    value->wrench.force.x = s->wrench[port];
}

static void nothing(yk_subsystem *self)
{
    (void)self;
}

static yk_state_layout slow_layout(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){2 * PORTS_MAX, 2 * PORTS_MAX};
}

static void slow_get(const yk_subsystem *self, double *image)
{
    memcpy(image, ((const slow *)self)->state, sizeof((const slow *)self)->state);
}

static yk_status slow_set(yk_subsystem *self, const double *image)
{
    memcpy(((slow *)self)->state, image, sizeof((slow *)self)->state);
    return YK_OK;
}

static yk_status slow_model(yk_subsystem *self, double t, double h, const yk_input *inputs,
                            yk_interface_model *model)
{
    const slow *s = (const slow *)self;
    (void)t, (void)h, (void)inputs;
    assert_int_equal(model->row_count, s->count);
    model->theta = 1;
    for (int i = 0; i < s->count; i++) {
        model->free_acceleration[i] = 0;
        for (int j = 0; j < s->count; j++) {
            model->inverse_mass[i * s->count + j] = s->inverse_mass[i][j];
            model->free_acceleration[i] += s->inverse_mass[i][j] * s->load[j];
        }
    }
    return YK_OK;
}

/* Positions, velocities by the one wrench. */
static yk_status slow_sensitivity(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                  int degree, double *matrix)
{
    const slow *s = (const slow *)self;
    assert_int_equal(degree, 0);
    for (int i = 0; i < s->count; i++)
        for (int j = 0; j < s->count; j++) {
            matrix[(3 * i + 0) * s->count + j] = h * h * s->inverse_mass[i][j];
            matrix[(3 * i + 1) * s->count + j] = h * s->inverse_mass[i][j];
            matrix[(3 * i + 2) * s->count + j] = s->inverse_mass[i][j];
        }
    return slow_step(self, t, h, inputs);
}

#define SLOW_OPS                                                            \
    .size = sizeof(yk_subsystem_ops), .kind = "masses", .ports = slow_list, \
    .connect = any_connect, .initialize = slow_start, .step = slow_step,    \
    .get_port_value = slow_output, .destroy = nothing

static const yk_rollback_ops slow_rollback = {
    .size = sizeof(yk_rollback_ops), .layout = slow_layout, .get = slow_get, .set = slow_set};

static const yk_interface_model_ops interface_model_ops = {.size = sizeof(yk_interface_model_ops),
                                                           .evaluate = slow_model};
static const yk_subsystem_ops reporting = {SLOW_OPS, .rollback = &slow_rollback,
                                           .interface_model = &interface_model_ops};
static const yk_sensitivity_ops sensitivity_ops = {.size = sizeof(yk_sensitivity_ops),
                                                   .step_with_sensitivity = slow_sensitivity};
static const yk_subsystem_ops differentiable = {SLOW_OPS, .rollback = &slow_rollback,
                                                .sensitivity = &sensitivity_ops};
static const yk_subsystem_ops reversible = {SLOW_OPS, .rollback = &slow_rollback};
static const yk_subsystem_ops mute = {SLOW_OPS};

static slow one_mass(const yk_subsystem_ops *ops, double mass, double load, double velocity)
{
    slow s = {.base = {ops}, .count = 1, .inverse_mass = {{1 / mass}}, .load = {load}};
    s.initial[PORTS_MAX] = velocity;
    return s;
}

/* A fast partner: a spring and a damper to the ground, one state for its last wrench
 * -----------------------------------
 */

typedef struct fast {
    yk_subsystem base;
    double stiffness, damping;
    double state[3]; /* position, velocity, wrench */
} fast;

static const yk_port fast_port = {"end", YK_PORT_SCALAR, YK_CAUSALITY_MOTION_INPUT};

static int fast_list(const yk_subsystem *self, const yk_port **list)
{
    (void)self;
    *list = &fast_port;
    return 1;
}

/* With the motion of the beginning: an explicit method. */
static yk_status fast_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    fast *f = (fast *)self;
    double x = inputs[0].linear[0].x, v = inputs[0].degree > 0 ? inputs[0].linear[1].x : 0;
    (void)t;
    f->state[0] = x + h * v;
    f->state[1] = v;
    f->state[2] = f->stiffness * x + f->damping * v;
    return YK_OK;
}

static yk_status fast_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    fast *f = (fast *)self;
    memset(f->state, 0, sizeof f->state);
    return inputs ? fast_step(self, t, 0 * h, inputs) : YK_OK;
}

static void fast_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const fast *f = (const fast *)self;
    (void)port;
    memset(value, 0, sizeof *value);
    value->motion.position.x = f->state[0];
    value->motion.velocity.x = f->state[1];
    value->wrench.force.x = f->state[2];
}

static yk_state_layout fast_layout(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){3, 3};
}

static void fast_get(const yk_subsystem *self, double *image)
{
    memcpy(image, ((const fast *)self)->state, sizeof((const fast *)self)->state);
}

static yk_status fast_set(yk_subsystem *self, const double *image)
{
    memcpy(((fast *)self)->state, image, sizeof((fast *)self)->state);
    return YK_OK;
}

static const yk_rollback_ops fast_rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = fast_layout, .get = fast_get, .set = fast_set};
static const yk_subsystem_ops fast_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "spring",
    .ports = fast_list,
    .connect = any_connect,
    .initialize = fast_start,
    .step = fast_step,
    .get_port_value = fast_output,
    .destroy = nothing,
    .rollback = &fast_rollback_ops,
};

/* Systems -------------------------------------------------------------------------------------- */

typedef struct bench {
    slow mass;
    fast spring[PORTS_MAX];
    any_scheme scheme;
    int substeps;
    double h;
} bench;

static bench bench_of(const yk_subsystem_ops *ops, double stiffness, double damping, double h,
                      int substeps)
{
    bench b = {.mass = one_mass(ops, 2, 0, 1),
               .scheme = any_scheme_default(),
               .substeps = substeps,
               .h = h};
    for (int i = 0; i < PORTS_MAX; i++)
        b.spring[i] = (fast){.base = {&fast_ops}, .stiffness = stiffness, .damping = damping};
    b.scheme.ops = yk_scheme_rim();
    return b;
}

static yk_status bench_create(yk_context *context, bench *b, yk_system **system)
{
    yk_subsystem *parts[1 + PORTS_MAX] = {&b->mass.base, &b->spring[0].base, &b->spring[1].base};
    static const char *const names[] = {"mass", "spring", "second"};
    int substeps[1 + PORTS_MAX] = {1, b->substeps, b->substeps};
    yk_interface_def faces[PORTS_MAX] = {{.name = "first",
                                          .wrench_subsystem = {0},
                                          .wrench_port = {0},
                                          .motion_subsystem = {1},
                                          .constrained_axes = YK_AXIS_X},
                                         {.name = "second",
                                          .wrench_subsystem = {0},
                                          .wrench_port = {1},
                                          .motion_subsystem = {2},
                                          .constrained_axes = YK_AXIS_X}};
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 1 + b->mass.count,
                                 .substeps = substeps,
                                 .interfaces = faces,
                                 .interface_count = b->mass.count,
                                 .step = b->h};
    return any_scheme_create(context, &def, &b->scheme, system);
}

static yk_system *bench_start(yk_context *context, bench *b)
{
    yk_system *system;
    if (bench_create(context, b, &system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    if (yk_system_initialize(system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    return system;
}

static void step(yk_context *context, yk_system *system)
{
    if (yk_system_step(system, NULL) != YK_OK)
        fail_msg("%s", yk_last_message(context));
}

/* One macro step of the mass in formulas: the spring receives the position `where` and
 * velocity. */
typedef struct hand {
    double x, v, past[2];
    int known;
} hand;

static void hand_step(const bench *b, hand *m)
{
    double inverse = b->mass.inverse_mass[0][0], load = b->mass.load[0], h = b->h / b->substeps,
           w = m->v, displacement = 0, mean = 0, v0 = m->v;
    int degree = (int)b->scheme.extrapolation - (int)YK_EXTRAPOLATION_CONSTANT;
    if (degree > m->known)
        degree = m->known;
    for (int i = 0; i < b->substeps; i++) {
        double tau = i * h, reported = w, at = m->x + tau * w;
        if (b->scheme.positions == YK_POSITION_UPDATE_INTEGRAL)
            at = m->x + displacement;
        if (degree >= 0) {
            double slope = degree > 0 ? (v0 - m->past[0]) / b->h : 0, bend = 0;
            if (degree > 1)
                bend = (v0 - 2 * m->past[0] + m->past[1]) / (2 * b->h * b->h);
            reported = v0 + slope * tau + bend * tau * (tau + b->h);
            at = m->x + v0 * tau + slope * tau * tau / 2 +
                 bend * (tau * tau * tau / 3 + b->h * tau * tau / 2);
        }
        double wrench = -b->spring[0].stiffness * at - b->spring[0].damping * reported;
        w += h * inverse * (load + wrench);
        displacement += h * w;
        mean += wrench / b->substeps;
    }
    m->past[1] = m->past[0], m->past[0] = v0;
    if (m->known < 2)
        m->known++;
    m->v += b->h * inverse * (load + mean);
    m->x += b->h * m->v;
}

static void compare_with_hand(yk_context *context, bench *b, int steps)
{
    hand m = {.x = b->mass.initial[0], .v = b->mass.initial[PORTS_MAX]};
    yk_system *system = bench_start(context, b);
    for (int i = 0; i < steps; i++) {
        step(context, system);
        hand_step(b, &m);
        const yk_motion *motion =
            &yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion;
        double size = 1 + fabs(m.x) + fabs(m.v);
        assert_near(motion->position.x, m.x, 1e-9 * size);
        assert_near(motion->velocity.x, m.v, 1e-9 * size);
    }
    yk_system_destroy(system);
}

/* Tests ---------------------------------------------------------------------------------------- */

static void test_every_extrapolation(void **state)
{
    for (yk_extrapolation kind = YK_EXTRAPOLATION_INTERFACE_MODEL;
         kind <= YK_EXTRAPOLATION_QUADRATIC; kind++) {
        bench b = bench_of(&reporting, 300, 5, 0.02, 10);
        b.mass.load[0] = 3;
        b.scheme.extrapolation = kind;
        compare_with_hand(*state, &b, 60);
    }
    bench b = bench_of(&reporting, 300, 5, 0.02, 10);
    b.scheme.positions = YK_POSITION_UPDATE_INTEGRAL;
    compare_with_hand(*state, &b, 60);
    b = bench_of(&reporting, 300, 5, 0.005, 1);
    compare_with_hand(*state, &b, 60);
}

/* Told, from derivatives, by differences: one model. */
static void test_models_are_identified(void **state)
{
    const yk_subsystem_ops *kinds[] = {&reporting, &differentiable, &reversible, &reporting};
    double end[4];
    for (int i = 0; i < 4; i++) {
        bench b = bench_of(kinds[i], 300, 5, 0.02, 10);
        b.mass.load[0] = 3;
        b.scheme.models = i == 3 ? YK_INTERFACE_MODEL_IDENTIFIED : YK_INTERFACE_MODEL_REPORTED;
        yk_system *system = bench_start(*state, &b);
        for (int k = 0; k < 50; k++)
            step(*state, system);
        end[i] =
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
        yk_subsystem_statistics s = yk_system_subsystem_statistics(system, (yk_subsystem_id){0});
        assert_int_equal(s.calls, 50);
        assert_int_equal(s.model_calls, 50);
        yk_system_destroy(system);
    }
    assert_near(end[1], end[0], 1e-12);
    assert_near(end[2], end[0], 1e-9);
    assert_memory_equal(&end[3], &end[2], sizeof end[3]); /* not asked, though it could tell */
}

/* The speed after some steps, or infinity. */
static double last_speed(yk_context *context, bench *b, int steps)
{
    double speed = 0;
    yk_system *system = bench_start(context, b);
    for (int i = 0; i < steps && speed < 1e6; i++) {
        step(context, system);
        speed = fabs(
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.velocity.x);
    }
    yk_system_destroy(system);
    return speed < 1e6 ? speed : INFINITY;
}

/* A spring of frequency omega on the mass: with the velocity held, its mean force makes a map of
 * determinant 1 - (omega H)^2 / 2 and trace 2 - 3 (omega H)^2 / 2, which is stable up to omega H
 * = sqrt(2). A damper: up to c H / m = 2. With the reduced model both are stable for every H. */
static void test_stability(void **state)
{
    static const double angle[] = {0.5, 1.5, 2.5, 4, 6, 10, 20};
    for (size_t i = 0; i < sizeof angle / sizeof *angle; i++) {
        double h = 0.01, omega = angle[i] / h;
        bench b = bench_of(&reporting, 2 * omega * omega, 0, h, 400);
        assert_true(last_speed(*state, &b, 300) < 1e-3);
        b.scheme.extrapolation = YK_EXTRAPOLATION_CONSTANT;
        assert_true(isinf(last_speed(*state, &b, 300)) == (angle[i] > sqrt(2)));
    }
    for (size_t i = 0; i < sizeof angle / sizeof *angle; i++) {
        double h = 0.01;
        bench b = bench_of(&reporting, 0, 2 * angle[i] / h, h, 100);
        assert_true(last_speed(*state, &b, 100) < 1e-12);
        b.scheme.extrapolation = YK_EXTRAPOLATION_CONSTANT;
        assert_true(isinf(last_speed(*state, &b, 100)) == (angle[i] > 2));
    }
}

/* (45) taken literally: the mass makes its way with the velocity of the end, its model with all
 * those on the way. The map has the determinant cos(omega H) and the trace 1 - omega H sin(omega
 * H) + cos(omega H): stable up to cot(omega H / 2) = omega H / 2, which is 1.72. */
static void test_integrated_positions(void **state)
{
    static const double angle[] = {1, 1.6, 1.85, 3};
    for (size_t i = 0; i < sizeof angle / sizeof *angle; i++) {
        double h = 0.01, omega = angle[i] / h;
        bench b = bench_of(&reporting, 2 * omega * omega, 0, h, 400);
        b.scheme.positions = YK_POSITION_UPDATE_INTEGRAL;
        assert_true(isinf(last_speed(*state, &b, 600)) == (angle[i] > 1.7207));
    }
}

/* x'' + 2 d x' + omega^2 x = 0 from x = 0, x' = 1. */
static double error_at_end(yk_context *context, double h)
{
    const double omega = 20, d = 2, end = 0.4;
    bench b = bench_of(&reporting, 2 * omega * omega, 4 * d, h, 200);
    yk_system *system = bench_start(context, &b);
    for (int i = 0; i < (int)lround(end / h); i++)
        step(context, system);
    double x =
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
    yk_system_destroy(system);
    double damped = sqrt(omega * omega - d * d);
    return fabs(x - exp(-d * end) * sin(damped * end) / damped);
}

static void test_accuracy(void **state)
{
    double coarse = error_at_end(*state, 0.004), fine = error_at_end(*state, 0.002);
    assert_near(coarse / fine, 2, 0.2);
    assert_true(fine < 2e-3); /* of 0.05 */
}

/* Two actuators on one mechanism feel each other through it. */
static void test_coupled_actuators(void **state)
{
    double end[2];
    for (int run = 0; run < 2; run++) {
        double h = run == 0 ? 0.02 : 1e-3;
        bench b = bench_of(run == 0 ? &reversible : &reporting, 4000, 40, h, run == 0 ? 200 : 10);
        b.mass = (slow){.base = b.mass.base,
                        .count = 2,
                        .inverse_mass = {{0.5, 0.4}, {0.4, 0.5}},
                        .load = {10, -4},
                        .initial = {0, 0, 0, 0}};
        yk_system *system = bench_start(*state, &b);
        for (int i = 0; i < (int)lround(4.0 / h); i++)
            step(*state, system);
        end[run] =
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
        assert_near(
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){1})->motion.position.x,
            -4.0 / 4000, 1e-5);
        yk_system_destroy(system);
    }
    assert_near(end[0], 10.0 / 4000, 1e-5);
    assert_near(end[1], end[0], 1e-5);
}

/* The mass goes the way of its model, so what the one side gives the other receives. */
static void test_energy_at_the_interface(void **state)
{
    for (int i = 0; i < 2; i++) {
        bench b = bench_of(&reporting, 800, 8, i == 0 ? 0.002 : 0.001, 20);
        yk_system *system = bench_start(*state, &b);
        for (int k = 0; k < (i == 0 ? 500 : 1000); k++)
            step(*state, system);
        yk_interface_statistics s = yk_system_interface_statistics(system, (yk_interface_id){0});
        assert_true(fabs(s.energy_created) < 1e-5); /* of 1 J */
        assert_true(fabs(s.work[0]) > 0.5);         /* that the spring and the damper took */
        yk_system_destroy(system);
    }
}

/* To the middle of a run, and to its start. */
static void test_rollback(void **state)
{
    for (int k = 0; k < 4; k++) {
        yk_sequence order = k % 2 ? YK_SEQUENCE_JACOBI : YK_SEQUENCE_GAUSS_SEIDEL;
        int from_start = k / 2;
        bench b = bench_of(&reversible, 300, 5, 0.01, 10);
        b.scheme.order = order;
        b.scheme.extrapolation = order == YK_SEQUENCE_JACOBI ? YK_EXTRAPOLATION_QUADRATIC
                                                             : YK_EXTRAPOLATION_INTERFACE_MODEL;
        yk_system *system = bench_start(*state, &b);
        for (int i = 0; i < 7 * from_start; i++)
            step(*state, system);
        size_t words = yk_system_state_layout(system).word_count;
        double *image = calloc(2 * words, sizeof *image), first[2];
        yk_system_get_state(system, image);
        for (int run = 0; run < 2; run++) {
            for (int i = 0; i < 5; i++)
                step(*state, system);
            first[run] = yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})
                             ->motion.position.x;
            assert_int_equal(yk_system_set_state(system, image), YK_OK);
        }
        yk_system_get_state(system, image + words);
        assert_memory_equal(image, image + words, words * sizeof *image);
        assert_memory_equal(&first[0], &first[1], sizeof first[0]);
        free(image);
        yk_system_destroy(system);
    }
}

/* Jacobi: the mass takes the mean wrench of the macro step before. */
static void test_jacobi(void **state)
{
    bench b = bench_of(&reporting, 0, 30, 0.01, 10);
    b.scheme.order = YK_SEQUENCE_JACOBI;
    yk_system *system = bench_start(*state, &b);
    step(*state, system);
    /* The consistent start found the wrench of the spring. */
    assert_near(
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.velocity.x,
        1 - 0.01 * 30 * 1 / 2.0, 1e-12);
    double w = 1, mean = 0;
    for (int i = 0; i < 10; i++) {
        mean += -30 * w / 10;
        w += 0.001 / 2 * -30 * w;
    }
    double before =
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.velocity.x;
    step(*state, system);
    assert_near(
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.velocity.x,
        before + 0.01 / 2 * mean, 1e-12);
    yk_system_destroy(system);
}

/* Graphs --------------------------------------------------------------------------------------- */

/* A spring and a damper between two slow participants. */
static int bridge_list(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port ports[2] = {{"left", YK_PORT_SCALAR, YK_CAUSALITY_MOTION_INPUT},
                                     {"right", YK_PORT_SCALAR, YK_CAUSALITY_MOTION_INPUT}};
    (void)self;
    *list = ports;
    return 2;
}

static yk_status bridge_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    fast *f = (fast *)self;
    double x = inputs[0].linear[0].x - inputs[1].linear[0].x,
           v = inputs[0].linear[1].x - inputs[1].linear[1].x;
    (void)t, (void)h;
    f->state[2] = f->stiffness * x + f->damping * v;
    return YK_OK;
}

static yk_status bridge_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    memset(((fast *)self)->state, 0, sizeof((fast *)self)->state);
    return inputs ? bridge_step(self, t, h, inputs) : YK_OK;
}

static void bridge_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    memset(value, 0, sizeof *value);
    value->wrench.force.x = (port == 0 ? 1 : -1) * ((const fast *)self)->state[2];
}

static const yk_rollback_ops bridge_rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = fast_layout, .get = fast_get, .set = fast_set};
static const yk_subsystem_ops bridge_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "bridge",
    .ports = bridge_list,
    .connect = any_connect,
    .initialize = bridge_start,
    .step = bridge_step,
    .get_port_value = bridge_output,
    .destroy = nothing,
    .rollback = &bridge_rollback_ops,
};

/* Two mechanisms on one fast participant: stiff far beyond the macro step, and not a bit of
 * momentum is lost. */
static void test_one_fast_participant_between_two_mechanisms(void **state)
{
    yk_context *context = *state;
    const double h = 0.01, omega = 8 / h; /* of the two masses against each other */
    slow left = one_mass(&reporting, 2, 0, 1), right = one_mass(&reversible, 6, 0, -0.5);
    fast bridge = {
        .base = {&bridge_ops}, .stiffness = 1.5 * omega * omega, .damping = 0.1 * 1.5 * omega};
    yk_subsystem *parts[] = {&left.base, &right.base, &bridge.base};
    static const char *const names[] = {"left", "right", "bridge"};
    static const int substeps[] = {1, 1, 400};
    static const yk_interface_def faces[] = {{.name = "l",
                                              .wrench_subsystem = {0},
                                              .motion_subsystem = {2},
                                              .motion_port = {0},
                                              .constrained_axes = YK_AXIS_X},
                                             {.name = "r",
                                              .wrench_subsystem = {1},
                                              .motion_subsystem = {2},
                                              .motion_port = {1},
                                              .constrained_axes = YK_AXIS_X}};
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 3,
                                 .substeps = substeps,
                                 .interfaces = faces,
                                 .interface_count = 2,
                                 .step = h};
    def.scheme.ops = yk_scheme_rim();
    yk_system *system;
    assert_int_equal(yk_system_make(context, &def, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < 300; i++)
        step(context, system);
    double v[2] = {
        yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.velocity.x,
        yk_system_port_value(system, (yk_subsystem_id){1}, (yk_port_id){0})->motion.velocity.x};
    assert_near(2 * v[0] + 6 * v[1], 2 - 3, 1e-9);
    assert_near(v[0], -1.0 / 8, 1e-3);
    assert_near(v[1], -1.0 / 8, 1e-3);
    yk_system_destroy(system);
}

/* Masses on springs of 20 rad/s in the four ways in which an interface can lie between fast and
 * slow. */
static void test_every_kind_of_interface(void **state)
{
    enum { PAIRS = 4 };
    yk_context *context = *state;
    const double h = 5e-4, end = 0.3, omega = 20;
    slow mass[PAIRS];
    fast spring[PAIRS];
    yk_subsystem *parts[2 * PAIRS];
    const char *names[2 * PAIRS];
    int substeps[2 * PAIRS], quick[2 * PAIRS], quick_count = 0;
    yk_interface_def faces[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        bool fast_mass = i & 1, fast_spring = i & 2;
        mass[i] = one_mass(&reporting, 2, 0, 1);
        spring[i] = (fast){.base = {&fast_ops}, .stiffness = 2 * omega * omega};
        parts[2 * i] = &mass[i].base, parts[2 * i + 1] = &spring[i].base;
        names[2 * i] = "mass", names[2 * i + 1] = "spring";
        substeps[2 * i] = fast_mass ? 5 : 1, substeps[2 * i + 1] = fast_spring ? 5 : 1;
        if (fast_mass)
            quick[quick_count++] = 2 * i;
        if (fast_spring)
            quick[quick_count++] = 2 * i + 1;
        faces[i] = (yk_interface_def){.name = "pair",
                                      .wrench_subsystem = {2 * i},
                                      .motion_subsystem = {2 * i + 1},
                                      .constrained_axes = YK_AXIS_X};
    }
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 2 * PAIRS,
                                 .substeps = substeps,
                                 .interfaces = faces,
                                 .interface_count = PAIRS,
                                 .step = h};
    def.scheme.ops = yk_scheme_rim();
    yk_rim_options options = yk_rim_options_default();
    options.fast_subsystems = (yk_subsystem_list){quick, quick_count};
    def.scheme.options = &options;
    yk_system *system;
    if (yk_system_make(context, &def, &system) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < (int)lround(end / h); i++)
        step(context, system);
    for (int i = 0; i < PAIRS; i++)
        assert_near(yk_system_port_value(system, (yk_subsystem_id){2 * i}, (yk_port_id){0})
                        ->motion.position.x,
                    sin(omega * end) / omega, 0.05 / omega);
    yk_system_destroy(system);
}

static void expect_refusal(yk_context *context, bench *b, const char *word)
{
    yk_system *system = NULL;
    assert_true(YK_FAILED(bench_create(context, b, &system)));
    assert_null(system);
    if (!strstr(yk_last_message(context), word))
        fail_msg("'%s' says nothing of '%s'", yk_last_message(context), word);
}

static void test_refusals(void **state)
{
    bench b = bench_of(&mute, 300, 5, 0.01, 10);
    expect_refusal(*state, &b, "interface model");
    b.scheme.extrapolation = YK_EXTRAPOLATION_CONSTANT;
    yk_system *system;
    assert_int_equal(bench_create(*state, &b, &system), YK_OK);
    yk_system_destroy(system);
    int nobody = 7;
    b = bench_of(&reporting, 300, 5, 0.01, 10);
    b.scheme.fast = (yk_subsystem_list){&nobody, 1};
    expect_refusal(*state, &b, "no fast subsystem 7");
    b = bench_of(&reporting, 300, 5, 0.01, 10);
    b.scheme.exchanges = 3;
    expect_refusal(*state, &b, "3 exchanges");
}

/* Two mechanisms of two masses, joined by two bridges: models that are reported and models that are identified, fast steps, and slow
 * steps, on up to three threads. */
static void run_on_threads(yk_context *context, const yk_subsystem_ops *kind, yk_sequence order,
                           int threads, double *end)
{
    const double h = 0.01;
    slow masses[2];
    fast bridges[2];
    for (int i = 0; i < 2; i++) {
        masses[i] = one_mass(kind, 2 + i, 0.1 * i, 1 - i);
        masses[i].count = 2;
        masses[i].inverse_mass[1][1] = 0.7;
        masses[i].inverse_mass[0][1] = masses[i].inverse_mass[1][0] = 0.1;
        bridges[i] = (fast){.base = {&bridge_ops}, .stiffness = 5e4 * (1 + i), .damping = 30};
    }
    yk_subsystem *parts[] = {&masses[0].base, &masses[1].base, &bridges[0].base, &bridges[1].base};
    static const char *const names[] = {"left", "right", "first", "second"};
    static const int substeps[] = {1, 1, 40, 60};
    yk_interface_def faces[4];
    for (int i = 0; i < 4; i++)
        faces[i] = (yk_interface_def){.name = names[i],
                                      .wrench_subsystem = {i % 2},
                                      .wrench_port = {i / 2},
                                      .motion_subsystem = {2 + i / 2},
                                      .motion_port = {i % 2},
                                      .constrained_axes = YK_AXIS_X};
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 4,
                                 .substeps = substeps,
                                 .interfaces = faces,
                                 .interface_count = 4,
                                 .step = h};
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_rim();
    scheme.order = order;
    scheme.threads = threads;
    yk_system *system;
    assert_int_equal(any_scheme_create(context, &def, &scheme, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);
    for (int i = 0; i < 50; i++)
        step(context, system);
    for (int i = 0; i < 4; i++)
        end[i] = yk_system_port_value(system, (yk_subsystem_id){i % 2}, (yk_port_id){i / 2})
                     ->motion.position.x;
    yk_system_destroy(system);
}

static void test_threads_do_not_change_bits(void **state)
{
    const yk_subsystem_ops *const kinds[] = {&reporting, &reversible};
    for (int c = 0; c < 4; c++) {
        double reference[4];
        run_on_threads(*state, kinds[c % 2], (yk_sequence)(c / 2), 1, reference);
        assert_true(isfinite(reference[0]) && reference[0] != 0);
        for (int threads = 2; threads <= 3; threads++) {
            double end[4];
            run_on_threads(*state, kinds[c % 2], (yk_sequence)(c / 2), threads, end);
            assert_memory_equal(end, reference, sizeof end);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_extrapolation),
        cmocka_unit_test(test_models_are_identified),
        cmocka_unit_test(test_stability),
        cmocka_unit_test(test_integrated_positions),
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_coupled_actuators),
        cmocka_unit_test(test_energy_at_the_interface),
        cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_jacobi),
        cmocka_unit_test(test_one_fast_participant_between_two_mechanisms),
        cmocka_unit_test(test_every_kind_of_interface),
        cmocka_unit_test(test_threads_do_not_change_bits),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, create_context, destroy_context);
}
