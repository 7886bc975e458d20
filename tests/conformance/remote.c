/* A remote subsystem is one like any other: the oscillators through a socket, through memory and
 * through messages between ranks, which are those of an MPI under mpirun -n 2. */
#include "conformance.h"

#include "remote/rank_serving.h"
#include "remote/serving.h"
#include "yoke/oscillator.h"

static serving server;

static yk_status create_there(void *user, yk_context *context, const char *name,
                              yk_subsystem **subsystem)
{
    (void)user;
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = 2;
    def.stiffness = 300;
    def.damping = 1.5;
    def.position = 0.01;
    def.rho_inf = 0.7;
    def.integrator = YK_OSCILLATOR_TWO_STEP;
    if (strcmp(name, "exact") == 0)
        def.integrator = YK_OSCILLATOR_EXACT;
    return yk_oscillator_create(context, &def, subsystem);
}

typedef struct place {
    const char *name;
    bool socket_only;
} place;

static yk_status create(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    const place *p = user;
    yk_remote_def def = yk_remote_default();
    def.address = server.address;
    def.subsystem = p->name;
    def.disable_shared_memory = p->socket_only;
    return yk_remote_create(context, &def, subsystem);
}

/* Ranks have what they were started with: one subsystem after the other is met, each once. */
enum { ON_RANK = 200 };
static rank_serving rank;
static int met;

static yk_status create_on_rank(yk_context *context, int index, yk_subsystem **subsystem)
{
    (void)index;
    return create_there(NULL, context, "two-step", subsystem);
}

static yk_status create_by_rank(yk_context *context, const void *user, yk_subsystem **subsystem)
{
    (void)user;
    return yk_ranks_remote(context, rank.ranks, 1, met++, "two-step", 30, subsystem);
}

static const place two_step = {"two-step", false};
static const place exact = {"exact", true};

static const conformance_case cases[] = {
    {"two-step, wrench, by memory", create, &two_step, .causality = YK_CAUSALITY_WRENCH_INPUT,
     .constrained = YK_AXIS_X, .amplitude = 5, .frequency = 9, .step = 4e-3, .steps = 100,
     .order = 2, .energy_order = 2, .scale = 1},
    {"two-step, motion, by memory", create, &two_step, .causality = YK_CAUSALITY_MOTION_INPUT,
     .constrained = YK_AXIS_X, .amplitude = 0.02, .frequency = 9, .step = 4e-3, .steps = 100,
     .order = 2, .energy_order = 2, .scale = 1},
    {"exact, wrench, by socket", create, &exact, .causality = YK_CAUSALITY_WRENCH_INPUT,
     .constrained = YK_AXIS_X, .amplitude = 5, .frequency = 9, .step = 4e-3, .steps = 100,
     .order = 4, .energy_order = 4, .scale = 1},
    {"two-step, wrench, by rank", create_by_rank, NULL, .causality = YK_CAUSALITY_WRENCH_INPUT,
     .constrained = YK_AXIS_X, .amplitude = 5, .frequency = 9, .step = 4e-3, .steps = 100,
     .order = 2, .energy_order = 2, .scale = 1},
    {"two-step, motion, by rank", create_by_rank, NULL, .causality = YK_CAUSALITY_MOTION_INPUT,
     .constrained = YK_AXIS_X, .amplitude = 0.02, .frequency = 9, .step = 4e-3, .steps = 100,
     .order = 2, .energy_order = 2, .scale = 1},
};

int main(void)
{
    if (!rank_serving_start(&rank, create_on_rank, ON_RANK) ||
        !serving_start(&server, NULL, NULL, create_there))
        return 1;
    int failed = conformance_run(cases, sizeof cases / sizeof *cases);
    serving_stop(&server);
    return failed + !rank_serving_stop(&rank);
}
