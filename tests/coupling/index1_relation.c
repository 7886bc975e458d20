/* The scheme index1 on interfaces whose second side takes motion and answers with a wrench:
 * orders, stiff laws next to constraints, impulses, rollback, and controllers in the loop. */
#include <stdlib.h>
#include <string.h>

#include "any_scheme.h"
#include "coupling/system_arrays.h"
#include "math/polynomial.h"
#include "test.h"
#include "the_context.h"
#include "yoke/oscillator.h"

/* A spring and a damper that receive the motion of their end, and a force that is received as a signal. */
typedef struct law {
    yk_subsystem base;
    double stiffness, damping;
    bool joined, wired;
    double now[4]; /* place, velocity, acceleration, signal */
} law;

enum { LAW_END, LAW_FORCE };

static int law_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port ports[] = {{"end", YK_PORT_SCALAR, YK_CAUSALITY_MOTION_INPUT},
                                    {"force", YK_PORT_SIGNAL, YK_CAUSALITY_SIGNAL_INPUT}};
    (void)self;
    *list = ports;
    return 2;
}

static yk_status law_connect(yk_subsystem *self, int port, yk_causality causality,
                             unsigned constrained)
{
    (void)causality, (void)constrained;
    law *l = (law *)self;
    if (port == LAW_END)
        l->joined = true;
    else
        l->wired = true;
    return YK_OK;
}

static yk_status law_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t;
    law *l = (law *)self;
    const yk_input *end = &inputs[LAW_END];
    l->now[0] = yk_input_scalar(end, h), l->now[1] = yk_input_scalar_rate(end, h);
    l->now[2] = yk_input_scalar_second_rate(end, h);
    l->now[3] = l->wired ? yk_input_scalar(&inputs[LAW_FORCE], h) : 0;
    return YK_OK;
}

static yk_status law_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)h;
    memset(((law *)self)->now, 0, sizeof((law *)self)->now);
    return inputs ? law_step(self, t, 0, inputs) : YK_OK;
}

static void law_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const law *l = (const law *)self;
    value->motion.position.x = port == LAW_END ? l->now[0] : l->now[3];
    value->motion.velocity.x = port == LAW_END ? l->now[1] : 0;
    value->motion.acceleration.x = port == LAW_END ? l->now[2] : 0;
    value->wrench.force.x =
        port == LAW_END ? l->stiffness * l->now[0] + l->damping * l->now[1] - l->now[3] : 0;
}

static void law_destroy(yk_subsystem *self)
{
    free(self);
}

static yk_state_layout law_layout(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){4, 4};
}

static void law_get(const yk_subsystem *self, double *image)
{
    memcpy(image, ((const law *)self)->now, sizeof((const law *)self)->now);
}

static yk_status law_set(yk_subsystem *self, const double *image)
{
    memcpy(((law *)self)->now, image, sizeof((law *)self)->now);
    return YK_OK;
}

static const yk_rollback_ops law_rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = law_layout, .get = law_get, .set = law_set};
static const yk_subsystem_ops law_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "law",
    .ports = law_ports,
    .connect = law_connect,
    .initialize = law_start,
    .step = law_step,
    .get_port_value = law_output,
    .destroy = law_destroy,
    .rollback = &law_rollback_ops,
};

static yk_subsystem *create_law(double stiffness, double damping)
{
    law *l = calloc(1, sizeof *l);
    assert_non_null(l);
    *l = (law){.base = {&law_ops}, .stiffness = stiffness, .damping = damping};
    return &l->base;
}

/* A controller: what it gives is proportional to what it takes. */
typedef struct gain {
    yk_subsystem base;
    double factor, now;
} gain;

enum { GAIN_INPUT, GAIN_OUTPUT };

static int gain_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port ports[] = {{"input", YK_PORT_SIGNAL, YK_CAUSALITY_SIGNAL_INPUT},
                                    {"output", YK_PORT_SIGNAL, YK_CAUSALITY_SIGNAL_OUTPUT}};
    (void)self;
    *list = ports;
    return 2;
}

static yk_status gain_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t;
    ((gain *)self)->now = yk_input_scalar(&inputs[GAIN_INPUT], h);
    return YK_OK;
}

static yk_status gain_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)h;
    ((gain *)self)->now = 0;
    return inputs ? gain_step(self, t, 0, inputs) : YK_OK;
}

static void gain_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const gain *g = (const gain *)self;
    value->motion.position.x = port == GAIN_OUTPUT ? g->factor * g->now : g->now;
}

static yk_state_layout gain_layout(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){1, 1};
}

static void gain_get(const yk_subsystem *self, double *image)
{
    image[0] = ((const gain *)self)->now;
}

static yk_status gain_set(yk_subsystem *self, const double *image)
{
    ((gain *)self)->now = image[0];
    return YK_OK;
}

static yk_status connect_anything(yk_subsystem *self, int port, yk_causality causality,
                                  unsigned constrained)
{
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static const yk_rollback_ops gain_rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = gain_layout, .get = gain_get, .set = gain_set};
static const yk_subsystem_ops gain_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "gain",
    .ports = gain_ports,
    .connect = connect_anything,
    .initialize = gain_start,
    .step = gain_step,
    .get_port_value = gain_output,
    .destroy = law_destroy,
    .rollback = &gain_rollback_ops,
};

static yk_subsystem *create_gain(double factor)
{
    gain *g = calloc(1, sizeof *g);
    assert_non_null(g);
    *g = (gain){.base = {&gain_ops}, .factor = factor};
    return &g->base;
}

/* A free mass with two ports, exact under polynomials. */
typedef struct cart {
    yk_subsystem base;
    double mass, velocity;
    double now[5]; /* place, velocity, acceleration, both wrenches */
} cart;

static int cart_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port ports[] = {{"front", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT},
                                    {"back", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT}};
    (void)self;
    *list = ports;
    return 2;
}

static yk_status cart_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t;
    cart *c = (cart *)self;
    double displacement = h * c->now[1];
    c->now[2] = 0;
    for (int port = 0; port < 2; port++) {
        double power = h;
        for (int i = 0; i <= inputs[port].degree; i++, power *= h) {
            double rate = inputs[port].linear[i].x / c->mass;
            c->now[1] += rate * power / (i + 1),
                displacement += rate * power * h / ((i + 1) * (i + 2));
        }
        c->now[3 + port] = yk_input_scalar(&inputs[port], h);
        c->now[2] += c->now[3 + port] / c->mass;
    }
    c->now[0] += displacement;
    return YK_OK;
}

static yk_status cart_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)h;
    cart *c = (cart *)self;
    memset(c->now, 0, sizeof c->now);
    c->now[1] = c->velocity;
    return inputs ? cart_step(self, t, 0, inputs) : YK_OK;
}

static void cart_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const cart *c = (const cart *)self;
    value->motion.position.x = c->now[0], value->motion.velocity.x = c->now[1];
    value->motion.acceleration.x = c->now[2], value->wrench.force.x = c->now[3 + port];
}

static yk_state_layout cart_layout(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){5, 5};
}

static void cart_get(const yk_subsystem *self, double *image)
{
    memcpy(image, ((const cart *)self)->now, sizeof((const cart *)self)->now);
}

static yk_status cart_set(yk_subsystem *self, const double *image)
{
    memcpy(((cart *)self)->now, image, sizeof((cart *)self)->now);
    return YK_OK;
}

static int cart_degree(const yk_subsystem *self)
{
    (void)self;
    return YK_INPUT_DEGREE_MAX;
}

static const yk_rollback_ops cart_rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = cart_layout, .get = cart_get, .set = cart_set};
static const yk_subsystem_ops cart_ops = {.size = sizeof(yk_subsystem_ops),
                                          .kind = "cart",
                                          .ports = cart_ports,
                                          .connect = connect_anything,
                                          .initialize = cart_start,
                                          .step = cart_step,
                                          .get_port_value = cart_output,
                                          .destroy = law_destroy,
                                          .rollback = &cart_rollback_ops,
                                          .max_input_degree = cart_degree};

static yk_subsystem *create_cart(double mass, double velocity)
{
    cart *c = calloc(1, sizeof *c);
    assert_non_null(c);
    *c = (cart){.base = {&cart_ops}, .mass = mass, .velocity = velocity};
    return &c->base;
}

/* Masses with exact integrators, the first on a law; the third part, if any, joined to its second
 * port. */
typedef struct bed {
    yk_subsystem *parts[4];
    int count;
    yk_system *system;
} bed;

static const char *const names[] = {"mass", "law", "other", "controller"};

static yk_subsystem *create_mass(double mass, double stiffness, double velocity)
{
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = mass, def.stiffness = stiffness, def.velocity = velocity,
    def.integrator = YK_OSCILLATOR_EXACT;
    yk_subsystem *made;
    assert_int_equal(yk_oscillator_create(context, &def, &made), YK_OK);
    return made;
}

static any_scheme index1(int degree)
{
    any_scheme scheme = any_scheme_default();
    scheme.ops = yk_scheme_index1();
    scheme.degree = degree;
    scheme.tolerance = 0, scheme.relative_tolerance = 1e-11;
    return scheme;
}

static void open_bed(bed *b, const any_scheme *scheme, double h, int substeps,
                     const yk_wire_def *wires, int wire_count)
{
    const yk_interface_def interfaces[] = {
        {.name = "law", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X},
        {.name = "joint",
         .wrench_subsystem = {2},
         .motion_port = {1},
         .constrained_axes = YK_AXIS_X}};
    const int steps[] = {1, substeps, 1, 1};
    yk_system_description def = {.subsystems = b->parts,
                                 .names = names,
                                 .subsystem_count = b->count,
                                 .substeps = steps,
                                 .interfaces = interfaces,
                                 .interface_count = b->count > 2 ? 2 : 1,
                                 .wires = wires,
                                 .wire_count = wire_count,
                                 .step = h};
    yk_status status = any_scheme_create(context, &def, scheme, &b->system);
    if (status == YK_OK)
        status = yk_system_initialize(b->system);
    if (YK_FAILED(status))
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
}

static void close_bed(bed *b)
{
    yk_system_destroy(b->system);
    for (int i = 0; i < b->count; i++)
        b->parts[i]->ops->destroy(b->parts[i]);
}

static void run(bed *b, int steps)
{
    for (int i = 0; i < steps; i++) {
        yk_status status = yk_system_step(b->system, NULL);
        if (status != YK_OK)
            print_error("step %d: %s\n", i, yk_last_message(context));
        assert_int_equal(status, YK_OK);
    }
}

static double place(const bed *b, int part)
{
    return yk_system_port_value(b->system, (yk_subsystem_id){part}, (yk_port_id){0})
        ->motion.position.x;
}

/* m x'' + c x' + k x = 0 from x = 0 with velocity v. */
static double swing(double m, double c, double k, double v, double t)
{
    double decay = c / (2 * m), omega = sqrt(k / m - decay * decay);
    return v / omega * exp(-decay * t) * sin(omega * t);
}

/* 1 kg with a spring of its own and a law of 800 N/m and 10 N s/m. */
static double error_on_law(int degree, int substeps, double h)
{
    bed b = {{create_mass(1, 200, 1), create_law(800, 10)}, 2, NULL};
    any_scheme scheme = index1(degree);
    open_bed(&b, &scheme, h, substeps, NULL, 0);
    double largest = 0;
    int steps = (int)lround(0.4 / h);
    for (int i = 1; i <= steps; i++) {
        run(&b, 1);
        largest = fmax(largest, fabs(place(&b, 0) - swing(1, 10, 1000, 1, i * h)));
        assert_near(place(&b, 1), place(&b, 0), 1e-11);
    }
    close_bed(&b);
    return largest;
}

static void laws_have_the_third_order(void **state)
{
    (void)state;
    for (int degree = 2; degree <= 3; degree++) {
        double coarse = error_on_law(degree, 4, 0.005), fine = error_on_law(degree, 4, 0.0025);
        assert_near(log2(coarse / fine), 3, 0.2);
    }
    /* A wrench that is known only at the end of the step keeps its value. */
    assert_near(log2(error_on_law(2, 1, 0.0005) / error_on_law(2, 1, 0.00025)), 1, 0.1);
}

/* Springs that are far too stiff for the step come to rest; with a constant wrench they do not
 * grow. */
static void stiff_laws_are_stable(void **state)
{
    (void)state;
    for (int degree = 0; degree <= 3; degree++) {
        for (double stiffness = 1e2; stiffness < 1e11; stiffness *= 10) {
            bed b = {{create_mass(1, 0, 1), create_law(stiffness, 0.1 * sqrt(stiffness))}, 2, NULL};
            any_scheme scheme = index1(degree);
            scheme.relative_tolerance = 1e-8;
            open_bed(&b, &scheme, 0.01, 8, NULL, 0);
            run(&b, 200);
            assert_true(fabs(place(&b, 0)) <= fmax(0.02, 1 / sqrt(stiffness)));
            assert_true(fabs(yk_system_port_value(b.system, (yk_subsystem_id){0}, (yk_port_id){0})
                                 ->motion.velocity.x) <= 1);
            if (degree > 0 && stiffness > 1e4)
                assert_near(place(&b, 0), 0, 1e-9);
            close_bed(&b);
        }
    }
}

/* Two masses joined to one, on a law: 3 kg on 900 N/m and 6 N s/m. */
static void laws_and_constraints_are_solved_together(void **state)
{
    (void)state;
    bed b = {{create_cart(1, 1), create_law(900, 6), create_mass(2, 0, 1)}, 3, NULL};
    any_scheme scheme = index1(3);
    open_bed(&b, &scheme, 0.005, 4, NULL, 0);
    for (int i = 1; i <= 100; i++) {
        run(&b, 1);
        assert_near(place(&b, 0), swing(3, 6, 900, 1, i * 0.005), 5e-6);
        assert_near(place(&b, 2), place(&b, 0), 1e-12);
    }
    yk_system_statistics s = yk_system_get_statistics(b.system);
    assert_true(s.iterations <= 3 * s.steps);
    assert_in_range((int)scheme_statistic(b.system, "coupling Jacobians"), 1, 2);
    close_bed(&b);
}

/* The velocity of the law's end, measured and fed back as a force: so much more damping. */
static void open_loop_of(bed *b, double factor, double h)
{
    static const yk_wire_def wires[] = {{.name = "speed",
                                         .source_subsystem = {1},
                                         .source_port = {LAW_END},
                                         .component_index = 3,
                                         .target_subsystem = {3}},
                                        {.name = "force",
                                         .source_subsystem = {3},
                                         .source_port = {GAIN_OUTPUT},
                                         .target_subsystem = {1},
                                         .target_port = {LAW_FORCE}}};
    *b = (bed){{create_cart(1, 1), create_law(900, 6), create_mass(2, 0, 1), create_gain(-factor)},
               4,
               NULL};
    any_scheme scheme = index1(3);
    open_bed(b, &scheme, h, 4, wires, 2);
}

static double error_in_loop(double factor, double h)
{
    bed b;
    double largest = 0;
    open_loop_of(&b, factor, h);
    for (int i = 1; i <= lround(0.3 / h); i++) {
        run(&b, 1);
        largest = fmax(largest, fabs(place(&b, 0) - swing(3, 6 + factor, 900, 1, i * h)));
    }
    yk_system_statistics s = yk_system_get_statistics(b.system);
    assert_true(s.iterations <= 3 * s.steps + 2);
    close_bed(&b);
    return largest;
}

static void loops_of_wires_are_solved_with_the_wrenches(void **state)
{
    (void)state;
    double coarse = error_in_loop(12, 0.005), fine = error_in_loop(12, 0.0025);
    assert_true(coarse < 1e-4);
    assert_near(log2(coarse / fine), 2, 0.2); /* signals are straight lines */
    /* Followed run by run, this loop would be a hundred times too strong; by straight lines its
     * end swings, and decays. */
    bed b;
    open_loop_of(&b, 3e4, 0.01);
    run(&b, 100);
    assert_true(fabs(yk_system_port_value(b.system, (yk_subsystem_id){0}, (yk_port_id){0})
                         ->motion.velocity.x) < 0.1);
    close_bed(&b);
}

static void a_step_repeated_from_an_image_is_the_same(void **state)
{
    (void)state;
    bed b;
    open_loop_of(&b, 12, 0.005);
    run(&b, 7);
    size_t words = yk_system_state_layout(b.system).word_count;
    double *image = calloc(3 * words, sizeof *image);
    assert_non_null(image);
    yk_system_get_state(b.system, image);
    run(&b, 3);
    yk_system_get_state(b.system, image + words);
    assert_int_equal(yk_system_set_state(b.system, image), YK_OK);
    run(&b, 3);
    yk_system_get_state(b.system, image + 2 * words);
    assert_memory_equal(image + words, image + 2 * words, words * sizeof *image);
    free(image);
    close_bed(&b);
}

static void sway(void *user, double t, double value[3])
{
    (void)user;
    value[0] = sin(t), value[1] = cos(t), value[2] = -sin(t);
}

static void laws_cannot_be_driven(void **state)
{
    (void)state;
    yk_subsystem *parts[] = {create_mass(1, 0, 0), create_law(1, 1)};
    const yk_relative_motion drive[6] = {{sway, NULL}};
    const yk_interface_def interface = {
        .name = "rod", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X, .drive = drive};
    yk_system_description def = {.subsystems = parts,
                                 .names = names,
                                 .subsystem_count = 2,
                                 .interfaces = &interface,
                                 .interface_count = 1,
                                 .step = 0.01};
    yk_system *system;
    any_scheme scheme = index1(3);
    assert_int_equal(any_scheme_create(context, &def, &scheme, &system), YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(context),
                           "'rod' prescribes a relative motion to a port that takes motion"));
    for (int i = 0; i < 2; i++)
        parts[i]->ops->destroy(parts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_have_the_third_order),
        cmocka_unit_test(stiff_laws_are_stable),
        cmocka_unit_test(laws_and_constraints_are_solved_together),
        cmocka_unit_test(loops_of_wires_are_solved_with_the_wrenches),
        cmocka_unit_test(a_step_repeated_from_an_image_is_the_same),
        cmocka_unit_test(laws_cannot_be_driven),
    };
    return cmocka_run_group_tests_name("coupling/index1_law", tests, open_context, close_context);
}
