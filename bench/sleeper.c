/* A solver whose steps take a given time and hardly any processor time: masses of a chain that
 * sleep. scripts/ranks-efficiency uses it to measure the benefit of many ranks on few cores.
 *
 *   m x'' = k (y - x) + d (y' - x') + F
 *
 * with the motion y of the port `begin`, by which the mass is attached to the previous one, and the
 * force F at its port `end`; one semi-implicit Euler step per call. It has no image of its state,
 * so that only its steps take time. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <yoke/plugin.h>

enum { BEGIN, END, PORTS };

typedef struct sleeper_options {
    double mass, stiffness, damping, force, velocity, seconds;
} sleeper_options;

typedef struct sleeper {
    yk_subsystem base;
    sleeper_options model;
    bool hangs;      /* `begin` is connected */
    double state[3]; /* position (m), velocity (m/s), acceleration (m/s^2) */
    double begin[3]; /* position (m), velocity (m/s) and force (N) there */
} sleeper;

static int sleeper_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port ports[PORTS] = {
        [BEGIN] = {"begin", YK_PORT_SCALAR, YK_CAUSALITY_MOTION_INPUT},
        [END] = {"end", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT},
    };
    (void)self;
    *list = ports;
    return PORTS;
}

static yk_status sleeper_connect(yk_subsystem *self, int port, yk_causality causality,
                                 unsigned constrained)
{
    (void)causality, (void)constrained;
    if (port == BEGIN)
        ((sleeper *)self)->hangs = true;
    return YK_OK;
}

/* The first number of an input and its rate at a time of the step. */
static void read_input(const yk_input *input, double time, double *value, double *rate)
{
    *value = 0;
    *rate = 0;
    for (int i = input->degree; i >= 0; i--) {
        *rate = *rate * time + *value;
        *value = *value * time + input->linear[i].x;
    }
}

/* Forces and acceleration at a time of the step. */
static void load(sleeper *s, double time, const yk_input *inputs)
{
    const sleeper_options *m = &s->model;
    double force = 0, unused = 0;
    double *begin = s->begin;
    begin[2] = 0;
    if (inputs)
        read_input(&inputs[END], time, &force, &unused);
    if (inputs && s->hangs) {
        read_input(&inputs[BEGIN], time, &begin[0], &begin[1]);
        begin[2] = m->stiffness * (begin[0] - s->state[0]) + m->damping * (begin[1] - s->state[1]);
    }
    s->state[2] = (begin[2] + force + m->force) / m->mass;
}

static yk_status sleeper_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t, (void)h;
    sleeper *s = (sleeper *)self;
    s->state[0] = 0;
    s->state[1] = s->model.velocity;
    s->begin[0] = 0;
    s->begin[1] = s->model.velocity;
    load(s, 0, inputs);
    return YK_OK;
}

static yk_status sleeper_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t;
    sleeper *s = (sleeper *)self;
    load(s, 0, inputs);
    s->state[1] += h * s->state[2];
    s->state[0] += h * s->state[1];
    load(s, h, inputs);

    double seconds = s->model.seconds;
    struct timespec pause = {.tv_sec = (time_t)seconds};
    pause.tv_nsec = (long)(1e9 * (seconds - (double)pause.tv_sec));
    nanosleep(&pause, NULL);
    return YK_OK;
}

static void sleeper_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const sleeper *s = (const sleeper *)self;
    memset(value, 0, sizeof *value);
    if (port == BEGIN) {
        value->motion.position.x = s->begin[0];
        value->motion.velocity.x = s->begin[1];
        value->wrench.force.x = s->begin[2];
        return;
    }

    value->motion.position.x = s->state[0];
    value->motion.velocity.x = s->state[1];
    value->motion.acceleration.x = s->state[2];
}

static void sleeper_destroy(yk_subsystem *self)
{
    free(self);
}

static const yk_subsystem_ops sleeper_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "sleeper",
    .ports = sleeper_ports,
    .connect = sleeper_connect,
    .initialize = sleeper_start,
    .step = sleeper_step,
    .get_port_value = sleeper_output,
    .destroy = sleeper_destroy,
};

static yk_status sleeper_create(yk_context *context, const void *options, yk_subsystem **subsystem)
{
    (void)context;
    sleeper *s = calloc(1, sizeof *s);
    if (!s)
        return YK_ERROR_MEMORY;
    s->base.ops = &sleeper_ops;
    s->model = *(const sleeper_options *)options;
    *subsystem = &s->base;
    return YK_OK;
}

#define NUMBER(name) #name, YK_OPTION_NUMBER
#define AT(name) YK_MEMBER(sleeper_options, name)
static const yk_option sleeper_rows[] = {
    {NUMBER(mass), "kg", "1", AT(mass), .range = YK_BETWEEN(1e-9, 1e9),
     .description = "that moves"},
    {NUMBER(stiffness), "N/m", "100", AT(stiffness),
     .description = "of the spring to the port `begin`"},
    {NUMBER(damping), "N s/m", "1", AT(damping), .description = "of the damper next to it"},
    {NUMBER(force), "N", "0", AT(force), .description = "on the mass, constant"},
    {NUMBER(velocity), "m/s", "0", AT(velocity), .description = "at the start"},
    {NUMBER(seconds), "s", "0", AT(seconds), .range = YK_BETWEEN(0, 3600),
     .description = "that every step sleeps"},
    {0},
};

static const yk_solver_ops sleeper_solver = {
    .size = sizeof(yk_solver_ops),
    .name = "sleeper",
    .description = "A mass that sleeps in every step. Its ports are `begin` and `end`.",
    .options_size = sizeof(sleeper_options),
    .options = sleeper_rows,
    .create = sleeper_create,
};

YK_PLUGIN_EXPORT const yk_plugin *yoke_plugin(void);
const yk_plugin *yoke_plugin(void)
{
    static const yk_solver_ops *const solvers[] = {&sleeper_solver, NULL};
    static const yk_plugin plugin = {
        .size = sizeof plugin,
        .version = YK_PLUGIN_VERSION,
        .name = "sleeper",
        .license = "Apache-2.0",
        .solvers = solvers,
    };
    return &plugin;
}
