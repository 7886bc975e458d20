/* Blocks with continuous states, with memories, and with an algebraic loop. */
#include "conformance.h"

#include "physics/blocks.h"

static double sum(void *user, const double *arguments)
{
    const int *count = user;
    double total = 0;
    for (int i = 0; i < *count; i++)
        total += (i % 2 ? -0.5 : 1) * arguments[i];
    return total;
}

static int one = 1, two = 2;

static yk_block_function reads(int first, int second)
{
    yk_block_function f = {sum, second >= 0 ? &two : &one, second >= 0 ? 2 : 1, {first, second}};
    return f;
}

static yk_status create(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    const bool *memories = user;
    static const char *const inputs[] = {"other", "driven"};
    enum { FIRST = 2 };
    yk_block_def list[4] = {yk_block_default(), yk_block_default(), yk_block_default(),
                            yk_block_default()};

    /* The first block is in a loop with the second. */
    list[0].name = "loop", list[0].input = reads(1, FIRST + 1);
    list[1].name = "back", list[1].input = reads(FIRST, 0);
    list[2].name = "integral", list[2].kind = YK_BLOCK_INTEGRATOR, list[2].input = reads(FIRST, -1);
    list[3].name = "pid", list[3].kind = YK_BLOCK_PID, list[3].input = reads(1, FIRST + 2);
    list[3].proportional = 3, list[3].integral = 2, list[3].derivative = 0.3, list[3].time = 0.05;
    if (*memories) {
        list[2].kind = YK_BLOCK_DELAY, list[2].time = 0.02;
        list[3].kind = YK_BLOCK_SAMPLE, list[3].time = 7e-3;
    }

    yk_blocks_def def = {
        .name = "blocks", .input_count = 2, .inputs = inputs, .block_count = 4, .blocks = list};
    return yk_blocks_create(context, &def, subsystem);
}

static const bool with = true, without = false;

#define SIGNAL                                                                                 \
    .port = 1, .answer = -1, .causality = YK_CAUSALITY_SIGNAL_INPUT, .constrained = YK_AXIS_X, \
    .amplitude = 2, .frequency = 9
#define STEPS .step = 4e-3, .steps = 100, .energy_order = -1, .scale = 1

static const conformance_case cases[] = {
    {"continuous", create, &without, SIGNAL, STEPS, .order = -1},
    {"memories", create, &with, SIGNAL, STEPS, .order = -1},
};

int main(void)
{
    return conformance_run(cases, sizeof cases / sizeof *cases);
}
