/* Controllers driven by a measured signal: continuous in both forms, and sampled. */
#include "conformance.h"

#include "yoke/control.h"

typedef struct kind {
    yk_control_output form;
    double period;
} kind;

static yk_status create(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    const kind *k = user;
    yk_control_loop_def loops[2] = {yk_control_loop_default(), yk_control_loop_default()};
    for (int i = 0; i < 2; i++) {
        loops[i].name = i ? "driven" : "other";
        loops[i].output = k->form;
        loops[i].proportional = 3, loops[i].integral = 2, loops[i].derivative = 0.3;
        loops[i].derivative_filter = 0.05;
    }
    yk_control_def def = {.name = "control", .sample_period = k->period};
    yk_control_builder *builder = yk_control_begin(context, &def);
    for (int i = 0; i < 2; i++)
        yk_control_add_loop(builder, &loops[i]);
    return yk_control_create(builder, subsystem);
}

static const kind value = {YK_CONTROL_OUTPUT_VALUE, 0}, rate = {YK_CONTROL_OUTPUT_RATE, 0},
                  sampled = {YK_CONTROL_OUTPUT_VALUE, 7e-3};

#define SIGNAL                                                                                 \
    .port = 5, .answer = -1, .causality = YK_CAUSALITY_SIGNAL_INPUT, .constrained = YK_AXIS_X, \
    .amplitude = 2, .frequency = 9
#define STEPS .step = 4e-3, .steps = 100, .energy_order = -1, .scale = 1

static const conformance_case cases[] = {
    {"value", create, &value, SIGNAL, STEPS, .order = 2},
    {"rate", create, &rate, SIGNAL, STEPS, .order = 2},
    {"sampled", create, &sampled, SIGNAL, STEPS, .order = -1},
};

int main(void)
{
    return conformance_run(cases, sizeof cases / sizeof *cases);
}
