/* Wires: what arrives, when the source goes first and when it does not, and what is refused.
 *
 * The source tells t^2 as a signal port and as a channel; the target integrates what it is fed,
 * exactly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "coupling/system_arrays.h"
#include "math/polynomial.h"
#include "test.h"
#include "yoke/oscillator.h"

typedef struct clock_source {
    yk_subsystem subsystem;
    double time;
} clock_source;

typedef struct integral {
    yk_subsystem subsystem;
    double sum, start_value;
    int degree;
} integral;

static int source_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port port = {"square", YK_PORT_SIGNAL, YK_CAUSALITY_SIGNAL_OUTPUT};
    (void)self;
    *list = &port;
    return 1;
}

static int target_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port ports[2] = {{"sum", YK_PORT_SIGNAL, YK_CAUSALITY_SIGNAL_OUTPUT},
                                     {"in", YK_PORT_SIGNAL, YK_CAUSALITY_SIGNAL_INPUT}};
    (void)self;
    *list = ports;
    return 2;
}

static yk_status accept(yk_subsystem *self, int port, yk_causality causality, unsigned constrained)
{
    (void)self, (void)port, (void)constrained;
    assert_int_equal(causality, YK_CAUSALITY_SIGNAL_INPUT);
    return YK_OK;
}

static yk_status source_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)h, (void)inputs;
    ((clock_source *)self)->time = t;
    return YK_OK;
}

static yk_status source_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)inputs;
    ((clock_source *)self)->time = t + h;
    return YK_OK;
}

static double square(const yk_subsystem *self)
{
    double t = ((const clock_source *)self)->time;
    return t * t;
}

static void source_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    (void)port;
    value->motion.position.x = square(self);
}

static int source_channels(const yk_subsystem *self, const yk_channel **list)
{
    static const yk_channel channel = {"pair", "", 2};
    (void)self;
    *list = &channel;
    return 1;
}

static void source_channel(const yk_subsystem *self, int channel, double *values)
{
    (void)channel;
    values[0] = -1, values[1] = square(self);
}

static yk_status target_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t, (void)h;
    integral *target = (integral *)self;
    target->sum = 0;
    if (inputs)
        target->start_value = yk_input_scalar(&inputs[1], 0);
    return YK_OK;
}

static yk_status target_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t;
    integral *target = (integral *)self;
    target->degree = inputs[1].degree;
    target->sum += h * yk_input_scalar(&inputs[1], h / 2); /* of a line */
    return YK_OK;
}

static void target_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    value->motion.position.x = port == 0 ? ((const integral *)self)->sum : 0;
}

static yk_state_layout one_word(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){1, 1};
}

/* Both keep their one number behind the ops pointer. */
static void word_get(const yk_subsystem *self, double *image)
{
    *image = ((const clock_source *)self)->time;
}

static yk_status word_set(yk_subsystem *self, const double *image)
{
    ((clock_source *)self)->time = *image;
    return YK_OK;
}

static void nothing(yk_subsystem *self)
{
    (void)self;
}

static const yk_rollback_ops word_rollback = {
    .size = sizeof(yk_rollback_ops), .layout = one_word, .get = word_get, .set = word_set};

#define COMMON                                                               \
    .size = sizeof(yk_subsystem_ops), .connect = accept, .destroy = nothing, \
    .rollback = &word_rollback

static const yk_channel_ops source_channels_ops = {
    .size = sizeof(yk_channel_ops), .list = source_channels, .read = source_channel};
static const yk_subsystem_ops source_ops = {
    COMMON,
    .kind = "clock",
    .ports = source_ports,
    .initialize = source_start,
    .step = source_step,
    .get_port_value = source_output,
    .channels = &source_channels_ops,
};
static const yk_subsystem_ops target_ops = {COMMON,
                                            .kind = "integral",
                                            .ports = target_ports,
                                            .initialize = target_start,
                                            .step = target_step,
                                            .get_port_value = target_output};

/* The target is listed first, so the order is the wire's doing. */
typedef struct pair {
    clock_source source;
    integral target;
    yk_subsystem *list[2];
    yk_wire_def wire;
    int substeps[2];
    yk_system_description def;
    yk_system *system;
} pair;

static void set_up(pair *p)
{
    static const char *const names[] = {"target", "source"};
    *p = (pair){.source.subsystem.ops = &source_ops, .target.subsystem.ops = &target_ops};
    p->list[0] = &p->target.subsystem, p->list[1] = &p->source.subsystem;
    p->wire = (yk_wire_def){.name = "line", .source_subsystem = {1}, .target_port = {1}};
    p->def = (yk_system_description){.subsystems = p->list,
                                     .names = names,
                                     .subsystem_count = 2,
                                     .wires = &p->wire,
                                     .wire_count = 1,
                                     .start = 1,
                                     .step = 0.25};
}

static double run(yk_context *context, pair *p)
{
    yk_status status = yk_system_make(context, &p->def, &p->system);
    if (status != YK_OK)
        print_error("%s\n", yk_last_message(context));
    assert_int_equal(status, YK_OK);
    assert_int_equal(yk_system_initialize(p->system), YK_OK);
    assert_near(p->target.start_value, 1, 0);
    assert_near(yk_system_wire_value(p->system, (yk_wire_id){0}), 1, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(yk_system_step(p->system, NULL), YK_OK);
    assert_near(yk_system_wire_value(p->system, (yk_wire_id){0}), 4, 0);
    double sum =
        yk_system_port_value(p->system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
    yk_system_destroy(p->system);
    return sum;
}

/* Trapezoidal rule and rectangles on t^2 from 1 to 2. */
static const double LINES = 0.25 * (0.5 + 1.25 * 1.25 + 1.5 * 1.5 + 1.75 * 1.75 + 2);
static const double RECTANGLES = 0.25 * (1 + 1.25 * 1.25 + 1.5 * 1.5 + 1.75 * 1.75);

static void the_source_goes_first(void **state)
{
    pair p;
    set_up(&p);
    assert_near(run(*state, &p), LINES, 1e-15);
    set_up(&p);
    p.wire.source_port = YK_NULL_PORT, p.wire.component_index = 1;
    assert_near(run(*state, &p), LINES, 1e-15);
}

static void without_knowledge_the_value_is_held(void **state)
{
    pair p;
    set_up(&p);
    yk_explicit_options jacobi = yk_explicit_options_default();
    jacobi.sequence = YK_SEQUENCE_JACOBI;
    p.def.scheme.options = &jacobi;
    assert_near(run(*state, &p), RECTANGLES, 1e-15);
    jacobi.thread_count = 2;
    assert_near(run(*state, &p), RECTANGLES, 1e-15);
    set_up(&p);
    p.wire.sample_and_hold = true;
    assert_near(run(*state, &p), RECTANGLES, 1e-15);
}

static void iterations_carry_wires(void **state)
{
    pair p;
    set_up(&p);
    p.def.scheme.ops = yk_scheme_tight();
    assert_near(run(*state, &p), LINES, 1e-15);
}

/* Both ends of each line are scaled: from 1 to 4 becomes from 5 to 11. */
static void wires_scale_and_shift(void **state)
{
    pair p;
    set_up(&p);
    p.wire.gain = 2, p.wire.offset = 3;
    assert_int_equal(yk_system_make(*state, &p.def, &p.system), YK_OK);
    assert_int_equal(yk_system_initialize(p.system), YK_OK);
    assert_near(p.target.start_value, 5, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
    assert_near(yk_system_wire_value(p.system, (yk_wire_id){0}), 11, 0);
    double sum =
        yk_system_port_value(p.system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
    assert_near(sum, 2 * LINES + 3, 1e-14);
    yk_system_destroy(p.system);
}

/* The last correction of a step knows all values at its end. */
static void index1_carries_wires(void **state)
{
    static const char *const names[] = {"target", "source", "left", "right"};
    pair p;
    set_up(&p);
    yk_oscillator_def mass = yk_oscillator_default();
    mass.integrator = YK_OSCILLATOR_EXACT, mass.stiffness = 3, mass.position = 0.1;
    yk_subsystem *list[4] = {p.list[0], p.list[1]};
    for (int i = 2; i < 4; i++, mass.mass = 2)
        assert_int_equal(yk_oscillator_create(*state, &mass, &list[i]), YK_OK);
    yk_interface_def joint = {.name = "joint",
                              .wrench_subsystem = {2},
                              .motion_subsystem = {3},
                              .constrained_axes = YK_AXIS_X};
    p.def.subsystems = list, p.def.names = names, p.def.subsystem_count = 4;
    p.def.interfaces = &joint, p.def.interface_count = 1;
    p.def.scheme.ops = yk_scheme_index1();
    assert_near(run(*state, &p), LINES, 1e-15);
    for (int i = 2; i < 4; i++)
        list[i]->ops->destroy(list[i]);
}

/* In parts of the step the line continues. */
static void substeps_see_their_part_of_the_line(void **state)
{
    pair p;
    set_up(&p);
    p.substeps[0] = 5, p.substeps[1] = 1;
    p.def.substeps = p.substeps;
    assert_near(run(*state, &p), LINES, 1e-14);
}

static void a_restored_state_brings_back_the_wires(void **state)
{
    pair p;
    set_up(&p);
    assert_int_equal(yk_system_make(*state, &p.def, &p.system), YK_OK);
    assert_int_equal(yk_system_initialize(p.system), YK_OK);
    double image[16], end[2];
    assert_true(yk_system_state_layout(p.system).word_count <= 16);
    yk_system_step(p.system, NULL);
    yk_system_get_state(p.system, image);
    for (int i = 0; i < 2; i++) {
        yk_system_step(p.system, NULL);
        end[i] = yk_system_port_value(p.system, (yk_subsystem_id){0}, (yk_port_id){0})
                     ->motion.position.x;
        assert_int_equal(yk_system_set_state(p.system, image), YK_OK);
        assert_near(yk_system_wire_value(p.system, (yk_wire_id){0}), 1.5625, 0);
    }
    assert_near(end[0], end[1], 0);
    yk_system_destroy(p.system);
}

static void expect_refusal(yk_context *context, const yk_system_description *def, const char *words)
{
    yk_system *system;
    assert_true(YK_FAILED(yk_system_make(context, def, &system)));
    if (!strstr(yk_last_message(context), words))
        print_error("message: %s\n", yk_last_message(context));
    assert_non_null(strstr(yk_last_message(context), words));
}

static void wrong_wires_are_refused(void **state)
{
    pair p;
    set_up(&p);
    p.wire.source_subsystem = (yk_subsystem_id){2};
    expect_refusal(*state, &p.def, "wire 'line': there is no subsystem 2");
    set_up(&p);
    p.wire.target_port = (yk_port_id){0};
    expect_refusal(*state, &p.def, "port 'sum' of subsystem 'target' does not take a signal");
    set_up(&p);
    p.wire.source_subsystem = (yk_subsystem_id){0}, p.wire.source_port = (yk_port_id){1};
    expect_refusal(*state, &p.def, "takes a signal and gives none");
    set_up(&p);
    p.wire.source_port = YK_NULL_PORT, p.wire.source_channel = 3;
    expect_refusal(*state, &p.def, "subsystem 'source' has no channel 3");
    set_up(&p);
    p.wire.component_index = 1000;
    expect_refusal(*state, &p.def, "no component 1000");
    set_up(&p);
    yk_wire_def two[2] = {p.wire, p.wire};
    two[1].name = "second";
    p.def.wires = two, p.def.wire_count = 2;
    expect_refusal(*state, &p.def, "wires 'line' and 'second' both end at port 'in'");
    set_up(&p);
    yk_interface_def joint = {.name = "joint", .wrench_subsystem = {1}, .motion_subsystem = {0}};
    p.def.interfaces = &joint, p.def.interface_count = 1;
    expect_refusal(*state, &p.def, "carries a signal without power; join it by a wire");
}

/* Two masses that are merged, next to the source and the target of the wire, which stay as they
 * are. */
static void wires_run_beside_what_is_merged(void **state)
{
    static const char *const names[] = {"left", "target", "right", "source"};
    pair p;
    set_up(&p);
    yk_oscillator_def mass = yk_oscillator_default();
    mass.integrator = YK_OSCILLATOR_EXACT, mass.stiffness = 3, mass.position = 0.1;
    yk_subsystem *masses[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(yk_oscillator_create(*state, &mass, &masses[i]), YK_OK);
    yk_subsystem *list[4] = {masses[0], p.list[0], masses[1], p.list[1]};
    yk_interface_def joint = {.name = "joint",
                              .wrench_subsystem = {0},
                              .motion_subsystem = {2},
                              .constrained_axes = YK_AXIS_X};
    p.def.subsystems = list, p.def.names = names, p.def.subsystem_count = 4;
    p.def.interfaces = &joint, p.def.interface_count = 1;
    p.wire.source_subsystem = (yk_subsystem_id){3}, p.wire.target_subsystem = (yk_subsystem_id){1};
    p.def.scheme.ops = yk_scheme_monolithic();
    assert_int_equal(yk_system_make(*state, &p.def, &p.system), YK_OK);
    assert_int_equal(yk_system_initialize(p.system), YK_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(yk_system_step(p.system, NULL), YK_OK);
    assert_near(
        yk_system_port_value(p.system, (yk_subsystem_id){1}, (yk_port_id){0})->motion.position.x,
        LINES, 1e-15);
    assert_near(
        yk_system_port_value(p.system, (yk_subsystem_id){2}, (yk_port_id){0})->motion.position.x,
        0.1 * cos(sqrt(3.0)), 1e-14);
    assert_near(yk_system_interface_gap(p.system, (yk_interface_id){0}).position, 0, 0);
    yk_system_destroy(p.system);
    for (int i = 0; i < 2; i++)
        masses[i]->ops->destroy(masses[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_source_goes_first),
        cmocka_unit_test(without_knowledge_the_value_is_held),
        cmocka_unit_test(iterations_carry_wires),
        cmocka_unit_test(wires_scale_and_shift),
        cmocka_unit_test(index1_carries_wires),
        cmocka_unit_test(substeps_see_their_part_of_the_line),
        cmocka_unit_test(a_restored_state_brings_back_the_wires),
        cmocka_unit_test(wrong_wires_are_refused),
        cmocka_unit_test(wires_run_beside_what_is_merged),
    };
    return cmocka_run_group_tests_name("wire", tests, create_context, destroy_context);
}
