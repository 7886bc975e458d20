/* The oscillators, in all integrators and both ways of driving them. */
#include "conformance.h"

#include "yoke/oscillator.h"

static yk_status create(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    return yk_oscillator_create(context, user, subsystem);
}

#define DEF(method)                                                                   \
    {                                                                                 \
        .mass = 2, .stiffness = 300, .damping = 1.5, .position = 0.01, .velocity = 0, \
        .integrator = method, .rho_inf = 0.7                                          \
    }

static const yk_oscillator_def two_step = DEF(YK_OSCILLATOR_TWO_STEP);
static const yk_oscillator_def semi_implicit = DEF(YK_OSCILLATOR_SEMI_IMPLICIT);
static const yk_oscillator_def exact = DEF(YK_OSCILLATOR_EXACT);

#define WRENCH                                                                                   \
    .port = 0, .causality = YK_CAUSALITY_WRENCH_INPUT, .constrained = YK_AXIS_X, .amplitude = 5, \
    .frequency = 9
#define MOTION                                                                   \
    .port = 0, .causality = YK_CAUSALITY_MOTION_INPUT, .constrained = YK_AXIS_X, \
    .amplitude = 0.02, .frequency = 9

static const conformance_case cases[] = {
    {"two-step, wrench", create, &two_step, WRENCH, .step = 4e-3, .steps = 100, .order = 2,
     .energy_order = 2, .scale = 1},
    {"two-step, motion", create, &two_step, MOTION, .step = 4e-3, .steps = 100, .order = 2,
     .energy_order = 2, .scale = 1},
    {"semi-implicit, wrench", create, &semi_implicit, WRENCH, .step = 1e-3, .steps = 400,
     .order = 1, .energy_order = 1, .scale = 1},
    {"semi-implicit, motion", create, &semi_implicit, MOTION, .step = 1e-3, .steps = 400,
     .order = 1, .energy_order = 1, .scale = 1},
    /* The driving cubic differs from the sine by O(h^4); so does what the exact method makes of
     * it. */
    {"exact, wrench", create, &exact, WRENCH, .step = 4e-3, .steps = 100, .order = 4,
     .energy_order = 4, .scale = 1},
    {"exact, motion", create, &exact, MOTION, .step = 4e-3, .steps = 100, .order = 2,
     .energy_order = 2, .scale = 1},
};

int main(void)
{
    return conformance_run(cases, sizeof cases / sizeof *cases);
}
