/* Plug-ins for the tests: a correct one, a mass driven by a force, and one for each possible
 * mistake. The macro VARIANT selects it. */
#include <stdlib.h>
#include <string.h>

#include "yoke/plugin.h"

enum {
    GOOD,
    NO_TABLE,
    OLD_VERSION,
    OTHER_SIZE,
    SOLVER_OF_OTHER_SIZE,
    NO_CREATE,
    KNOWN_NAME,
    ROW_OUTSIDE,
    REFUSES,
    MAKES_NOTHING,
    OLD_SUBSYSTEM
};

typedef struct options {
    double mass;
    const char *file;
    const char *label;
    double start[2]; /* m, m/s */
    yk_number_list extra;
    yk_time_function force; /* N */
    int choice;
    bool heavy;
} options;

typedef struct mass {
    yk_subsystem base;
    options given;
    double state[2];
} mass;

static int list_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port port = {"end", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT};
    (void)self;
    *list = &port;
    return 1;
}

static yk_status connect_port(yk_subsystem *self, int port, yk_causality causality,
                              unsigned constrained)
{
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static yk_status start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t, (void)h, (void)inputs;
    mass *m = (mass *)self;
    memcpy(m->state, m->given.start, sizeof m->state);
    return YK_OK;
}

/* Exact for a force that is constant over the step. */
static yk_status step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)inputs;
    mass *m = (mass *)self;
    double force = m->given.force.evaluate ? m->given.force.evaluate(m->given.force.user, t) : 0;
    double acceleration = force / m->given.mass;
    m->state[0] += h * m->state[1] + 0.5 * h * h * acceleration;
    m->state[1] += h * acceleration;
    return YK_OK;
}

static void output(const yk_subsystem *self, int port, yk_port_value *value)
{
    (void)port;
    const mass *m = (const mass *)self;
    memset(value, 0, sizeof *value);
    value->motion.position.x = m->state[0];
    value->motion.velocity.x = m->state[1];
}

static void destroy(yk_subsystem *self)
{
    free(self);
}

static const yk_subsystem_ops ops = {
    .size = VARIANT == OLD_SUBSYSTEM ? 24 : sizeof ops,
    .kind = "test-mass",
    .ports = list_ports,
    .connect = connect_port,
    .initialize = start,
    .step = step,
    .get_port_value = output,
    .destroy = destroy,
};

/* With the variant that refuses, the message says all that arrived. */
static yk_status create(yk_context *context, const void *from, yk_subsystem **subsystem)
{
    const options *o = from;
    if (VARIANT == MAKES_NOTHING)
        return YK_OK;
    if (VARIANT == REFUSES)
        return yk_fail(
            context, YK_ERROR_ARGUMENT, "%g|%s|%s|%g,%g|%d|%g|%g|%d|%d", o->mass, o->file, o->label,
            o->start[0], o->start[1], o->extra.count, o->extra.count > 1 ? o->extra.items[1] : 0,
            o->force.evaluate ? o->force.evaluate(o->force.user, 2) : 0, o->choice, o->heavy);

    static mass old; /* of another contract: it cannot be destroyed */
    mass *m = VARIANT == OLD_SUBSYSTEM ? &old : calloc(1, sizeof *m);
    if (!m)
        return YK_ERROR_MEMORY;
    m->base.ops = &ops;
    m->given = *o;
    *subsystem = &m->base;
    return YK_OK;
}

static const yk_option_choice words[] = {{"first", "of two"}, {"second", "of two"}, {NULL, NULL}};
static const yk_option rows[] = {
    {"mass", YK_OPTION_NUMBER, "kg", YK_MEMBER(options, mass), .required = true,
     .range = YK_BETWEEN(1e-3, 1e3), .description = "that moves"},
    {"file", YK_OPTION_PATH, YK_MEMBER(options, file), .default_text = "none.csv",
     .description = "a file"},
    {"label", YK_OPTION_TEXT, YK_MEMBER(options, label), .default_text = "plain",
     .description = "a text"},
    {"start", YK_OPTION_NUMBERS, YK_MEMBER(options, start), .default_text = "[0, 0]",
     .min_count = 2, .max_count = 2, .description = "position and velocity"},
    {"extra", YK_OPTION_NUMBERS, YK_MEMBER(options, extra), .default_text = "[]",
     .description = "any number"},
    {"force", YK_OPTION_FUNCTION, "N", "0", YK_MEMBER(options, force),
     .description = "on the mass"},
    {"choice", YK_OPTION_CHOICE, YK_MEMBER(options, choice), .default_text = "first",
     .choices = words, .description = "one of two"},
    {"heavy", YK_OPTION_BOOLEAN, YK_MEMBER(options, heavy), .default_text = "false",
     .description = "or not"},
    {0},
};

static const yk_solver_ops solver = {
    .size = VARIANT == SOLVER_OF_OTHER_SIZE ? 8 : sizeof solver,
    .name = VARIANT == KNOWN_NAME ? "oscillator" : "test-mass",
    .description = "A mass that a force moves.",
    .options_size = VARIANT == ROW_OUTSIDE ? 8 : sizeof(options),
    .options = rows,
    .create = VARIANT == NO_CREATE ? NULL : create,
};

YK_PLUGIN_EXPORT const yk_plugin *yoke_plugin(void);
const yk_plugin *yoke_plugin(void)
{
    static const yk_solver_ops *const solvers[] = {&solver, NULL};
    static const yk_plugin plugin = {
        .size = VARIANT == OTHER_SIZE ? 16 : sizeof plugin,
        .version = VARIANT == OLD_VERSION ? 99 : YK_PLUGIN_VERSION,
        .name = "test plug-in 1.0",
        .solvers = solvers,
    };
    return VARIANT == NO_TABLE ? NULL : &plugin;
}
