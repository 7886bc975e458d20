/* Your own solver in a coupled system: two carts, each on its spring, each stepping by
 * itself, clamped together.
 *
 *      |--/\/\/--[ left ]=[ right ]--/\/\/--|
 *
 * The cart below fulfils the contract of yoke/subsystem.h. Yoke couples two of them, first with
 * an explicit scheme that calls each once per step, then with one that repeats the step until
 * both agree. Clamped carts are one mass on two springs, so the exact motion is known.
 *
 *   cc couple.c $(pkg-config --cflags --libs yoke) -lm
 *
 * If the library is not in a folder of the system, add -Wl,-rpath,$(pkg-config --variable=libdir yoke). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <yoke/analysis.h>
#include <yoke/system.h>

/* The solver: semi-implicit Euler -------------------------------------------------------------- */

/* All data that change while stepping: doubles only, so that this is the state image. */
typedef struct cart_state {
    double x, v, a; /* position (m), velocity, acceleration */
    double force;   /* on the cart, from the clamp (N) */
} cart_state;

typedef struct cart {
    yk_subsystem subsystem; /* first, so that Yoke finds the operations */
    double mass, stiffness;
    cart_state initial, now;
    yk_causality causality;
} cart;

static int cart_ports(const yk_subsystem *self, const yk_port **list)
{
    static const yk_port port = {"clamp", YK_PORT_SCALAR,
                                 YK_CAUSALITY_WRENCH_INPUT | YK_CAUSALITY_MOTION_INPUT};
    (void)self;
    *list = &port;
    return 1;
}

static yk_status cart_connect(yk_subsystem *self, int port, yk_causality causality,
                              unsigned constrained)
{
    (void)port;
    (void)constrained;
    ((cart *)self)->causality = causality;
    return YK_OK;
}

static double spring(const cart *self)
{
    return -self->stiffness * self->now.x;
}

static yk_status cart_start(yk_subsystem *subsystem, double t, double h, const yk_input *inputs)
{
    cart *self = (cart *)subsystem;
    (void)t;
    (void)h;
    self->now = self->initial;
    if (inputs && self->causality == YK_CAUSALITY_MOTION_INPUT) {
        self->now.a = 2 * (inputs->degree >= 2 ? inputs->linear[2].x : 0);
        self->now.force = self->mass * self->now.a - spring(self);
    } else {
        self->now.force =
            inputs && self->causality == YK_CAUSALITY_WRENCH_INPUT ? inputs->linear[0].x : 0;
        self->now.a = (self->now.force + spring(self)) / self->mass;
    }
    return YK_OK;
}

/* Value of the input after a time, by Horner's rule. */
static double value(const yk_input *input, double time)
{
    double sum = 0;
    for (int i = input->degree; i >= 0; i--)
        sum = sum * time + input->linear[i].x;
    return sum;
}

static yk_status cart_step(yk_subsystem *subsystem, double t, double h, const yk_input *inputs)
{
    cart *self = (cart *)subsystem;
    cart_state *now = &self->now;
    (void)t;
    if (self->causality ==
        YK_CAUSALITY_MOTION_INPUT) { /* go where the input ends; the clamp's force follows */
        now->a = ((value(inputs, h) - now->x) / h - now->v) / h;
        now->force = self->mass * now->a - spring(self);
    } else { /* the clamp's force is given; see where it leads */
        now->force = self->causality == YK_CAUSALITY_WRENCH_INPUT ? value(inputs, h / 2) : 0;
        now->a = (now->force + spring(self)) / self->mass;
    }
    now->v += h * now->a;
    now->x += h * now->v;
    return isfinite(now->x) ? YK_OK : YK_ERROR_NOT_FINITE;
}

static void cart_output(const yk_subsystem *subsystem, int port, yk_port_value *out)
{
    const cart_state *now = &((const cart *)subsystem)->now;
    (void)port;
    out->motion.position.x = now->x;
    out->motion.velocity.x = now->v;
    out->motion.acceleration.x = now->a;
    out->wrench.force.x = now->force;
}

static void cart_destroy(yk_subsystem *self)
{
    (void)self; /* lives on the stack of main */
}

/* Optional: the predicted motion of the cart without new forces. Explicit schemes pass it to the
 * partner. It must use this solver's own formula, because otherwise the two carts would drift apart
 * by the difference. */
static void cart_predict(const yk_subsystem *self, int port, double h, yk_motion *motion)
{
    const cart_state *now = &((const cart *)self)->now;
    (void)port;
    motion->acceleration.x = now->a;
    motion->velocity.x = now->v + h * now->a;
    motion->position.x = now->x + h * motion->velocity.x;
}

/* Optional: what lets schemes repeat a step. */
static yk_state_layout cart_layout(const yk_subsystem *self)
{
    enum { WORDS = sizeof(cart_state) / sizeof(double) };
    (void)self;
    return (yk_state_layout){.word_count = WORDS, .continuous_count = WORDS};
}

static void cart_get(const yk_subsystem *self, double *image)
{
    memcpy(image, &((const cart *)self)->now, sizeof(cart_state));
}

static yk_status cart_set(yk_subsystem *self, const double *image)
{
    memcpy(&((cart *)self)->now, image, sizeof(cart_state));
    return YK_OK;
}

static const yk_rollback_ops cart_rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = cart_layout, .get = cart_get, .set = cart_set};
static const yk_subsystem_ops cart_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "cart",
    .ports = cart_ports,
    .connect = cart_connect,
    .initialize = cart_start,
    .step = cart_step,
    .get_port_value = cart_output,
    .destroy = cart_destroy,
    .rollback = &cart_rollback_ops,
    .predict = cart_predict,
};

/* The coupled system --------------------------------------------------------------------------- */

static const double duration = 1.0; /* s */
static const double step = 1e-4;    /* s */

/* Checks whether the coupling is stable (spectral radius at most 1; it is not for the explicit
 * scheme if the mass of the right cart is above about 0.3 of the left one's), runs to the end, and
 * prints the errors of motion and joint. */
static yk_status simulate(yk_context *context, const char *title, yk_scheme_def scheme,
                          yk_subsystem *left, yk_subsystem *right, double omega)
{
    yk_system_def def = yk_system_default();
    def.scheme = scheme;
    def.macro_step = step;
    yk_system_builder *builder = yk_system_begin(context, &def);
    yk_subsystem_def parts[] = {yk_subsystem_named("left", left),
                                yk_subsystem_named("right", right)};
    yk_subsystem_id left_id = yk_system_add_subsystem(builder, &parts[0]);
    yk_subsystem_id right_id = yk_system_add_subsystem(builder, &parts[1]);
    yk_system_connect_ports(builder, "clamp", left_id, (yk_port_id){0}, right_id, (yk_port_id){0});
    yk_system *system = NULL;
    yk_status status = yk_system_create(builder, &system);

    double radius = 0;
    double error = 0;
    double calls = 0;
    if (!YK_FAILED(status))
        status = yk_spectral_radius(context, system, false, &radius);
    if (!YK_FAILED(status))
        status = yk_system_initialize(system);
    while (!YK_FAILED(status) && yk_system_time(system) < duration - step / 2) {
        yk_step_report report;
        status = yk_system_step(system, &report);
        double exact = cos(omega * yk_system_time(system));
        double position = yk_system_port_value(system, left_id, (yk_port_id){0})->motion.position.x;
        error = fmax(error, fabs(position - exact));
        calls += report.iterations;
    }
    if (!YK_FAILED(status)) {
        yk_interface_statistics joint =
            yk_system_interface_statistics(system, (yk_interface_id){0});
        printf("%-8s  %10.6f  %10.1f  %10.2e  %10.2e  %10.2e\n", title, radius,
               calls / (double)yk_system_step_count(system), error, joint.max_gap.position,
               joint.energy_created);
    }
    yk_system_destroy(system);
    return status;
}

int main(void)
{
    cart left = {.subsystem = {&cart_ops}, .mass = 2.0, .stiffness = 100.0, .initial = {.x = 1.0}};
    cart right = {.subsystem = {&cart_ops}, .mass = 0.4, .stiffness = 50.0, .initial = {.x = 1.0}};
    double omega = sqrt((left.stiffness + right.stiffness) / (left.mass + right.mass));

    yk_context *context = yk_context_create(NULL);
    if (!context)
        return 1;
    printf("Yoke %s: two carts for %g s in steps of %g s\n\n", yk_version(), duration, step);
    printf("%-8s  %10s  %10s  %10s  %10s  %10s\n", "scheme", "radius", "calls/step", "error (m)",
           "gap (m)", "energy (J)");
    yk_status status = simulate(context, "explicit", yk_scheme_default(), &left.subsystem,
                                &right.subsystem, omega);
    yk_tight_options tight = yk_tight_options_default();
    tight.acceleration = YK_ACCELERATION_AITKEN;
    yk_scheme_def scheme = {yk_scheme_tight(), &tight};
    if (!YK_FAILED(status))
        status = simulate(context, "tight", scheme, &left.subsystem, &right.subsystem, omega);
    if (YK_FAILED(status))
        fprintf(stderr, "%s: %s\n", yk_status_text(status), yk_last_message(context));
    yk_context_destroy(context);
    return YK_FAILED(status);
}
