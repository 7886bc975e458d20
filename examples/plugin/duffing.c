/* Your own solver for scenarios: a Duffing oscillator, as a plug-in.
 *
 *   m x'' + c x' + k x + k3 x^3 = F
 *
 * with the force F at its port, integrated by the classical Runge-Kutta method. The scenario in
 * this folder names the library and couples it with an oscillator of Yoke.
 *
 *   cc -shared -fPIC duffing.c -o duffing.so $(pkg-config --cflags yoke)
 *   yoke run scenario.yaml */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <yoke/plugin.h>

typedef struct duffing_options {
    double mass, damping, stiffness, cubic;
    double position, velocity;
} duffing_options;

typedef struct duffing {
    yk_subsystem base; /* first, so that Yoke finds the operations */
    duffing_options model;
    /* Position (m), velocity (m/s), acceleration (m/s^2): the state that a rollback restores. */
    double state[3];
} duffing;

static int duffing_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port port = {"mass", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT};
    (void)self;
    *list = &port;
    return 1;
}

static yk_status duffing_connect(yk_subsystem *self, int port, yk_causality causality,
                                 unsigned constrained)
{
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static double acceleration(const duffing *d, const double state[2], double force)
{
    const duffing_options *m = &d->model;
    double x = state[0];
    double v = state[1];
    return (force - m->damping * v - m->stiffness * x - m->cubic * x * x * x) / m->mass;
}

/* The force of the port at a time within the step; zero if it is not connected. */
static double force_at(const yk_input *inputs, double time)
{
    double force = 0;
    for (int i = inputs ? inputs[0].degree : -1; i >= 0; i--)
        force = force * time + inputs[0].linear[i].x;
    return force;
}

static yk_status duffing_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t, (void)h;
    duffing *d = (duffing *)self;
    d->state[0] = d->model.position;
    d->state[1] = d->model.velocity;
    d->state[2] = acceleration(d, d->state, force_at(inputs, 0));
    return YK_OK;
}

static yk_status duffing_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t;
    static const double part[] = {0, 0.5, 0.5, 1};
    static const double weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    duffing *d = (duffing *)self;
    double rate[2] = {0, 0};
    double sum[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        double at = part[i] * h;
        double state[2] = {d->state[0] + at * rate[0], d->state[1] + at * rate[1]};
        rate[0] = state[1];
        rate[1] = acceleration(d, state, force_at(inputs, at));
        sum[0] += weight[i] * rate[0];
        sum[1] += weight[i] * rate[1];
    }
    d->state[0] += h * sum[0];
    d->state[1] += h * sum[1];
    d->state[2] = acceleration(d, d->state, force_at(inputs, h));
    return YK_OK;
}

static void duffing_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    (void)port;
    const duffing *d = (const duffing *)self;
    memset(value, 0, sizeof *value);
    value->motion.position.x = d->state[0];
    value->motion.velocity.x = d->state[1];
    value->motion.acceleration.x = d->state[2];
}

static void duffing_destroy(yk_subsystem *self)
{
    free(self);
}

static yk_state_layout duffing_layout(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){.word_count = 3, .continuous_count = 2};
}

static void duffing_get(const yk_subsystem *self, double *image)
{
    memcpy(image, ((const duffing *)self)->state, 3 * sizeof *image);
}

static yk_status duffing_set(yk_subsystem *self, const double *image)
{
    memcpy(((duffing *)self)->state, image, 3 * sizeof *image);
    return YK_OK;
}

static const yk_rollback_ops duffing_rollback = {
    .size = sizeof(yk_rollback_ops),
    .layout = duffing_layout,
    .get = duffing_get,
    .set = duffing_set,
};

static const yk_subsystem_ops duffing_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "duffing",
    .ports = duffing_ports,
    .connect = duffing_connect,
    .initialize = duffing_start,
    .step = duffing_step,
    .get_port_value = duffing_output,
    .destroy = duffing_destroy,
    .rollback = &duffing_rollback,
};

/* From here on: registration as a solver of scenarios, and as a plug-in. */

static yk_status duffing_create(yk_context *context, const void *options, yk_subsystem **subsystem)
{
    (void)context;
    duffing *d = calloc(1, sizeof *d);
    if (!d)
        return YK_ERROR_MEMORY;
    d->base.ops = &duffing_ops;
    d->model = *(const duffing_options *)options;
    *subsystem = &d->base;
    return YK_OK;
}

#define NUMBER(name) #name, YK_OPTION_NUMBER
#define AT(name) YK_MEMBER(duffing_options, name)
static const yk_option duffing_rows[] = {
    {NUMBER(mass), "kg", AT(mass), .required = true, .range = YK_BETWEEN(1e-9, 1e9),
     .description = "that moves"},
    {NUMBER(damping), "N s/m", "0", AT(damping), .description = "of the damper to the ground"},
    {NUMBER(stiffness), "N/m", "0", AT(stiffness),
     .description = "of the spring to the ground, linear part"},
    {NUMBER(cubic), "N/m^3", "0", AT(cubic), .description = "the same, cubic part"},
    {NUMBER(position), "m", "0", AT(position), .description = "at the start"},
    {NUMBER(velocity), "m/s", "0", AT(velocity), .description = "at the start"},
    {0},
};

static const yk_solver_ops duffing_solver = {
    .size = sizeof(yk_solver_ops),
    .name = "duffing",
    .description =
        "A mass on a spring that hardens with the cube of its displacement. Its port is `mass`.",
    .options_size = sizeof(duffing_options),
    .options = duffing_rows,
    .create = duffing_create,
};

YK_PLUGIN_EXPORT const yk_plugin *yoke_plugin(void);
const yk_plugin *yoke_plugin(void)
{
    static const yk_solver_ops *const solvers[] = {&duffing_solver, NULL};
    static const yk_plugin plugin = {
        .size = sizeof plugin,
        .version = YK_PLUGIN_VERSION,
        .name = "duffing 1.0",
        .license = "Apache-2.0",
        .solvers = solvers,
    };
    return &plugin;
}
