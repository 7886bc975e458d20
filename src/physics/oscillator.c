/* Oscillators (yoke/oscillator.h) with three integrators, and oscillators that are joined rigidly.
 *
 * Joined oscillators move as one mass, so merging adds their masses, springs and dampers. The wrench that a part receives
 * from the others follows from its own equation of motion. With consistent initial values every step is the solution of the
 * index-3 system with the joint as a constraint, because the multipliers cancel in the sum of the equations. */
#include "yoke/oscillator.h"
#include "base/context.h"
#include "physics/options.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/integrators.h"
#include "math/polynomial.h"

/* State, in the order of the state image: first the numbers on which a step depends continuously, then counters and sums of
 * energies. */
typedef struct oscillator_state {
    double x, v, a;                      /* at t(n) */
    double x_before, v_before, a_before; /* at t(n-1) */
    double port_force;                   /* Force of the port on the oscillator (N). */
    double step_before;                  /* Size of the last step (s); 0 before the first. */
    double time;
    double dissipated, work, port_work;
} oscillator_state;

enum {
    STATE_WORDS = sizeof(oscillator_state) / sizeof(double),
    STATE_CONTINUOUS = offsetof(oscillator_state, step_before) / sizeof(double)
};

typedef struct oscillator_part {
    double mass, stiffness, damping;
    yk_time_function force;
    double force_unit; /* Unit of the function in units of the oscillator. */
} oscillator_part;

static double part_force(const oscillator_part *part, double t)
{
    return part->force_unit * yk_function_value(part->force, t);
}

typedef struct oscillator {
    yk_subsystem subsystem;
    yk_context *context;
    yk_oscillator_def def; /* Sum of the parts. */
    int part_count;
    oscillator_part *parts;
    yk_port *ports;
    yk_two_step coefficients;
    /* Matrices of the exact step for one step size: (x, v) at the end of the step from (x, v) at its start and from the
     * value and the derivatives of the input. */
    struct {
        double step;
        double state[2][2];
        double input[2][YK_INPUT_COEFFICIENT_COUNT];
    } exact;
    yk_causality causality;
    oscillator_state now;
} oscillator;

static const yk_subsystem_ops oscillator_ops;

static double external_force(const oscillator *self, double t)
{
    double sum = 0;
    for (int i = 0; i < self->part_count; i++)
        sum += part_force(&self->parts[i], t);

    return sum;
}

/* Force of the port that this motion needs. */
static double force_needed(const oscillator *self, double t, double x, double v, double a)
{
    return self->def.mass * a + self->def.damping * v + self->def.stiffness * x -
           external_force(self, t);
}

/* Two-step method ------------------------------------------------------------------------------ */

static bool has_history(const oscillator *self, double h)
{
    return fabs(self->now.step_before - h) <= 1e-9 * h;
}

/* Coefficients of the next step. Without a last step of the same size, those of the trapezoidal rule. */
static yk_two_step two_step_at(const oscillator *self, double h)
{
    if (has_history(self, h))
        return self->coefficients;

    return yk_two_step_trapezoidal();
}

/* The part of the method that is known before the step: y(n+1) = known + h b0 y'(n+1). */
static yk_two_step two_step_known(const oscillator *self, double h, double *known_x,
                                  double *known_v)
{
    const oscillator_state *s = &self->now;
    yk_two_step k = two_step_at(self, h);

    *known_x = k.a1 * s->x + k.a2 * s->x_before + h * (k.b1 * s->v + k.b2 * s->v_before);
    *known_v = k.a1 * s->v + k.a2 * s->v_before + h * (k.b1 * s->a + k.b2 * s->a_before);
    return k;
}

static void accept(oscillator *self, double h, double x, double v, double a)
{
    oscillator_state *s = &self->now;

    s->x_before = s->x;
    s->v_before = s->v;
    s->a_before = s->a;
    s->x = x;
    s->v = v;
    s->a = a;
    s->step_before = h;
}

/* Zhang et al. 2022 (37): implicit in x, v and the input at the end of the step. */
static void two_step_force(oscillator *self, double t, double h, const yk_input *input)
{
    double m = self->def.mass;
    double k = self->def.stiffness;
    double c = self->def.damping;
    double port_force = input ? yk_input_scalar(input, h) : 0;

    /* m a + c v + k x = force with v = known + b a, x = known + b v, solved for a */
    double known_x, known_v;
    double b = h * two_step_known(self, h, &known_x, &known_v).b0;
    double force = port_force + external_force(self, t + h);
    double load = force - k * (known_x + b * known_v) - c * known_v;
    double a = load / (m + b * (c + b * k));
    double v = known_v + b * a;

    self->now.port_force = port_force;
    accept(self, h, known_x + b * v, v, a);
}

static void two_step_motion(oscillator *self, double t, double h, const yk_input *input)
{
    /* Solve the method for v and a; the reaction follows from the equation of motion. */
    double known_x, known_v;
    double b = h * two_step_known(self, h, &known_x, &known_v).b0;
    double x = yk_input_scalar(input, h);
    double v = (x - known_x) / b;
    double a = (v - known_v) / b;

    self->now.port_force = force_needed(self, t + h, x, v, a);
    accept(self, h, x, v, a);
}

/* Semi-implicit Euler -------------------------------------------------------------------------- */

static void semi_implicit_force(oscillator *self, double t, double h, const yk_input *input)
{
    const oscillator_state *s = &self->now;
    double k = self->def.stiffness;
    double c = self->def.damping;

    /* Mean of the polynomial input over the step. */
    double port_force = 0;
    double power = 1;
    for (int i = 0; input && i <= input->degree; i++) {
        port_force += input->linear[i].x * power / (i + 1);
        power *= h;
    }

    double force = port_force + external_force(self, t) - k * s->x - c * s->v;
    double a = force / self->def.mass;
    double v = s->v + h * a;

    self->now.port_force = port_force;
    accept(self, h, s->x + h * v, v, a);
}

/* Zhang et al. 2022 (38c): (x(n) - u21) / h + v(n+1) - u22 = 0, where u21 is the input at the start and u22 its rate at the
 * end. Equation (38b) gives the reaction. */
static void semi_implicit_motion(oscillator *self, double t, double h, const yk_input *input)
{
    const oscillator_state *s = &self->now;
    double v = yk_input_scalar_rate(input, h) - (s->x - yk_input_scalar(input, 0)) / h;
    double a = (v - s->v) / h;
    self->now.port_force = force_needed(self, t, s->x, s->v, a);
    accept(self, h, s->x + h * v, v, a);
}

/* Exact ---------------------------------------------------------------------------------------- */

static const double factorial[YK_INPUT_COEFFICIENT_COUNT] = {1, 1, 2, 6};

/* Computes exp(h [A B; 0 N]). N differentiates the input, whose u, u', u'', u''' are appended to (x, v) as states. */
static void exact_prepare(oscillator *self, double h)
{
    enum { N = 2 + YK_INPUT_COEFFICIENT_COUNT };
    double mass = self->def.mass;
    double a[N * N] = {0};

    /* x' = v, m v' = u - k x - c v, and the derivative of each u is the next state. */
    a[0 * N + 1] = h;
    a[1 * N + 0] = -h * self->def.stiffness / mass;
    a[1 * N + 1] = -h * self->def.damping / mass;
    a[1 * N + 2] = h / mass;
    for (int i = 2; i < N - 1; i++)
        a[i * N + i + 1] = h;

    /* The blocks of the exponential that act on (x, v). */
    double e[N * N];
    yk_dense_exp(N, a, e);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            self->exact.state[i][j] = e[i * N + j];
        for (int j = 0; j < YK_INPUT_COEFFICIENT_COUNT; j++)
            self->exact.input[i][j] = e[i * N + 2 + j];
    }

    self->exact.step = h;
}

static void exact_force(oscillator *self, double t, double h, const yk_input *input)
{
    double u[YK_INPUT_COEFFICIENT_COUNT] = {0};

    for (int i = 0; input && i <= input->degree; i++)
        u[i] = factorial[i] * input->linear[i].x;

    /* External forces are arbitrary functions, so use the cubic through four Chebyshev-like points of the step. */
    bool forced = false;
    for (int i = 0; i < self->part_count; i++)
        forced = forced || self->parts[i].force.evaluate;
    if (forced) {
        const double times[4] = {0, h / 4, 3 * h / 4, h};
        double values[4];
        double c[4];

        for (int i = 0; i < 4; i++)
            values[i] = external_force(self, t + times[i]);
        yk_poly_interpolate(times, values, 3, c);
        for (int i = 0; i < 4; i++)
            u[i] += factorial[i] * c[i];
    }

    if (self->exact.step != h)
        exact_prepare(self, h);

    double y[2];
    for (int i = 0; i < 2; i++) {
        const double *by_state = self->exact.state[i];
        const double *by_input = self->exact.input[i];
        y[i] = by_state[0] * self->now.x + by_state[1] * self->now.v;
        for (int j = 0; j < YK_INPUT_COEFFICIENT_COUNT; j++)
            y[i] += by_input[j] * u[j];
    }

    double port_force = input ? yk_input_scalar(input, h) : 0;
    double force = port_force + external_force(self, t + h);
    force = force - self->def.stiffness * y[0] - self->def.damping * y[1];
    self->now.port_force = port_force;
    accept(self, h, y[0], y[1], force / self->def.mass);
}

static void exact_motion(oscillator *self, double t, double h, const yk_input *input)
{
    const yk_oscillator_def *def = &self->def;
    double x = yk_input_scalar(input, h);
    double v = yk_input_scalar_rate(input, h);

    if (input->degree >= 2) {
        double a = yk_input_scalar_second_rate(input, h);
        self->now.port_force = force_needed(self, t + h, x, v, a);
        accept(self, h, x, v, a);
        return;
    }

    /* A linear motion has its acceleration in the kink at the start of the step, so the force is the mean over the step, from
     * the change of momentum. */
    double a = (v - self->now.v) / h;
    double mean_x = yk_input_scalar(input, h / 2);
    double ends = external_force(self, t) + 4 * external_force(self, t + h / 2);
    double mean_force = (ends + external_force(self, t + h)) / 6;
    double inertia = def->mass * (v - self->now.v) / h;
    double damper = def->damping * (x - self->now.x) / h;
    self->now.port_force = inertia + damper + def->stiffness * mean_x - mean_force;
    accept(self, h, x, v, a);
}

/* Sensitivities -------------------------------------------------------------------------------- */

/* Derivative of position, velocity and acceleration at the end of the step with respect to the coefficient of t^power of the
 * input. */
static void two_step_response(const oscillator *self, double h, int power, double response[3])
{
    double known_x, known_v;
    double b = h * two_step_known(self, h, &known_x, &known_v).b0;
    double c = self->def.damping;
    double k = self->def.stiffness;

    response[2] = pow(h, power) / (self->def.mass + b * (c + b * k));
    response[1] = b * response[2];
    response[0] = b * response[1];
}

static void semi_implicit_response(const oscillator *self, double h, int power, double response[3])
{
    response[2] = pow(h, power) / (power + 1) / self->def.mass;
    response[1] = h * response[2];
    response[0] = h * response[1];
}

static void exact_response(const oscillator *self, double h, int power, double response[3])
{
    double x = factorial[power] * self->exact.input[0][power];
    double v = factorial[power] * self->exact.input[1][power];
    response[0] = x;
    response[1] = v;

    double rest = pow(h, power) - self->def.stiffness * x - self->def.damping * v;
    response[2] = rest / self->def.mass;
}

static const struct {
    void (*step_force)(oscillator *self, double t, double h, const yk_input *input);
    void (*step_motion)(oscillator *self, double t, double h, const yk_input *input);
    void (*response)(const oscillator *self, double h, int power, double response[3]);
    double sample; /* See yk_step_model. */
} integrators[] = {
    [YK_OSCILLATOR_TWO_STEP] = {two_step_force, two_step_motion, two_step_response, 1},
    [YK_OSCILLATOR_SEMI_IMPLICIT] = {semi_implicit_force, semi_implicit_motion,
                                     semi_implicit_response, 0},
    [YK_OSCILLATOR_EXACT] = {exact_force, exact_motion, exact_response, 0.5},
};

/* Operations ----------------------------------------------------------------------------------- */

static int oscillator_ports(const yk_subsystem *subsystem, const yk_port **list)
{
    const oscillator *self = (const oscillator *)subsystem;
    *list = self->ports;
    return self->part_count;
}

static yk_status oscillator_connect(yk_subsystem *subsystem, int port, yk_causality causality,
                                    unsigned constrained)
{
    oscillator *self = (oscillator *)subsystem;
    (void)constrained; /* A scalar port has one motion. */
    if (port != 0 || self->part_count > 1)
        return yk_fail(self->context, YK_ERROR_CAPABILITY,
                       "oscillator: port %d cannot be connected", port);
    self->causality = causality;

    return YK_OK;
}

static yk_status oscillator_start(yk_subsystem *subsystem, double t, double h,
                                  const yk_input *inputs)
{
    oscillator *self = (oscillator *)subsystem;
    (void)h;
    const yk_oscillator_def *def = &self->def;
    oscillator_state s = {.x = def->position, .v = def->velocity, .time = t};

    /* The motion is prescribed. The semi-implicit method starts from its own values in any case. */
    if (inputs && self->causality == YK_CAUSALITY_MOTION_INPUT) {
        if (def->integrator != YK_OSCILLATOR_SEMI_IMPLICIT) {
            s.x = yk_input_scalar(inputs, 0);
            s.v = yk_input_scalar_rate(inputs, 0);
        }

        s.a = yk_input_scalar_second_rate(inputs, 0);
        s.port_force = force_needed(self, t, s.x, s.v, s.a);
        self->now = s;
        return YK_OK;
    }

    double own_force = external_force(self, t) - def->stiffness * s.x - def->damping * s.v;
    if (inputs && self->causality == YK_CAUSALITY_WRENCH_INPUT)
        s.port_force = yk_input_scalar(inputs, 0);
    s.a = (own_force + s.port_force) / def->mass;
    self->now = s;

    return YK_OK;
}

/* Work and dissipation of the step by Simpson's rule on the Hermite interpolant of the motion. */
static void add_energies(oscillator *self, double t, double h, const oscillator_state *before,
                         const yk_input *input)
{
    oscillator_state *s = &self->now;

    double v_begin = before->v;
    double v_middle = 1.5 * (s->x - before->x) / h - 0.25 * (before->v + s->v);
    double v_end = s->v;

    double u_begin = s->port_force;
    double u_middle = s->port_force;
    double u_end = s->port_force;
    if (self->causality == YK_CAUSALITY_WRENCH_INPUT) {
        u_begin = yk_input_scalar(input, 0);
        u_middle = yk_input_scalar(input, h / 2);
        u_end = yk_input_scalar(input, h);
    } else if (self->def.integrator != YK_OSCILLATOR_SEMI_IMPLICIT) {
        u_begin = before->port_force;
        u_middle = 0.5 * (before->port_force + s->port_force);
    }

    double port = h / 6 * (u_begin * v_begin + 4 * u_middle * v_middle + u_end * v_end);

    double f_begin = external_force(self, t);
    double f_middle = external_force(self, t + h / 2);
    double f_end = external_force(self, t + h);
    s->work += port + h / 6 * (f_begin * v_begin + 4 * f_middle * v_middle + f_end * v_end);
    s->port_work += port;
    double squares = v_begin * v_begin + 4 * v_middle * v_middle + v_end * v_end;
    s->dissipated += h / 6 * self->def.damping * squares;
}

static yk_status oscillator_step(yk_subsystem *subsystem, double t, double h,
                                 const yk_input *inputs)
{
    oscillator *self = (oscillator *)subsystem;
    oscillator_state before = self->now;

    switch (self->causality) {
    case YK_CAUSALITY_MOTION_INPUT:
        integrators[self->def.integrator].step_motion(self, t, h, inputs);
        break;
    case YK_CAUSALITY_WRENCH_INPUT:
        integrators[self->def.integrator].step_force(self, t, h, inputs);
        break;
    default: integrators[self->def.integrator].step_force(self, t, h, NULL); break;
    }

    self->now.time = t + h;
    add_energies(self, t, h, &before, inputs);

    bool finite = isfinite(self->now.x + self->now.v + self->now.port_force);
    return finite ? YK_OK : YK_ERROR_NOT_FINITE;
}

static yk_status oscillator_step_sensitivity(yk_subsystem *subsystem, double t, double h,
                                             const yk_input *inputs, int degree, double *matrix)
{
    oscillator *self = (oscillator *)subsystem;

    if (self->causality != YK_CAUSALITY_WRENCH_INPUT)
        return oscillator_step(subsystem, t, h, inputs);
    if (self->def.integrator == YK_OSCILLATOR_EXACT && self->exact.step != h)
        exact_prepare(self, h);

    for (int power = 0; power <= degree; power++) {
        double response[3];
        integrators[self->def.integrator].response(self, h, power, response);
        for (int row = 0; row < 3; row++)
            matrix[row * (degree + 1) + power] = response[row];
    }

    return oscillator_step(subsystem, t, h, inputs);
}

/* The oscillator is linear, so two trial steps give the model. */
static yk_status oscillator_step_model(yk_subsystem *subsystem, double t, double h,
                                       const yk_input *inputs, yk_step_model *model)
{
    oscillator *self = (oscillator *)subsystem;
    if (self->causality != YK_CAUSALITY_WRENCH_INPUT || model->row_count != 1)
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "oscillator: the model of a step has one velocity, not %d",
                       model->row_count);

    /* Step with the force of the inputs, and with one newton more. */
    oscillator_state before = self->now;
    int steps = model->substep_count > 1 ? model->substep_count : 1;
    double part = h / steps;
    double x[2];
    double v[2];
    for (int more = 0; more < 2; more++) {
        yk_input input = inputs[0];
        input.linear[0].x += more;
        self->now = before;
        for (int i = 0; i < steps; i++) {
            yk_input own = yk_input_shift(&input, YK_PORT_SCALAR, i * part);
            integrators[self->def.integrator].step_force(self, t + i * part, part, &own);
        }

        x[more] = self->now.x - before.x;
        v[more] = self->now.v;
    }

    self->now = before;

    model->velocity[0] = v[0];
    model->displacement[0] = x[0];
    model->mobility[0] = v[1] - v[0];
    model->theta = (x[1] - x[0]) / (h * (v[1] - v[0]));
    model->wrench_point = 0.5 + (integrators[self->def.integrator].sample - 0.5) / steps;

    /* One step: the response is known without rounding errors of differences. */
    if (steps == 1) {
        double response[3];
        integrators[self->def.integrator].response(self, h, 0, response);
        model->mobility[0] = response[1];
        model->theta = response[0] / (h * response[1]);
    }

    /* Influence of the forces of earlier steps. */
    yk_two_step k = {.b0 = 1};
    bool remembers = self->def.integrator == YK_OSCILLATOR_TWO_STEP && steps == 1;
    if (remembers)
        k = two_step_at(self, h);

    model->wrench_weights[0] = k.b0;
    model->wrench_weights[1] = k.b1;
    model->wrench_weights[2] = k.b2;
    model->memory_factor = k.a2;

    return YK_OK;
}

static void oscillator_output(const yk_subsystem *subsystem, int port, yk_port_value *value)
{
    const oscillator *self = (const oscillator *)subsystem;
    const oscillator_state *s = &self->now;

    value->motion.position.x = s->x;
    value->motion.velocity.x = s->v;
    value->motion.acceleration.x = s->a;
    value->wrench.force.x = s->port_force;
    if (self->part_count == 1)
        return;

    /* A part of a merged oscillator: the force that it receives from the others. */
    const oscillator_part *part = &self->parts[port];
    double force = part_force(part, s->time);
    value->wrench.force.x =
        part->mass * s->a + part->damping * s->v + part->stiffness * s->x - force;
}

static void oscillator_destroy(yk_subsystem *subsystem)
{
    oscillator *self = (oscillator *)subsystem;
    if (!self)
        return;

    yk_context *context = self->context;
    yk_free(context, self->parts);
    yk_free(context, self->ports);
    yk_free(context, self);
}

static const char *oscillator_message(const yk_subsystem *subsystem)
{
    (void)subsystem;
    return "the motion of the mass is not finite";
}

static yk_state_layout oscillator_state_layout(const yk_subsystem *subsystem)
{
    (void)subsystem;
    return (yk_state_layout){.word_count = STATE_WORDS, .continuous_count = STATE_CONTINUOUS};
}

static void oscillator_state_get(const yk_subsystem *subsystem, double *image)
{
    memcpy(image, &((const oscillator *)subsystem)->now, sizeof(oscillator_state));
}

static yk_status oscillator_state_set(yk_subsystem *subsystem, const double *image)
{
    memcpy(&((oscillator *)subsystem)->now, image, sizeof(oscillator_state));
    return YK_OK;
}

/* Zhang et al. 2022 (33)-(35), Zhang et al. 2020 (5), (6). Without a last step, the Taylor series. */
static void oscillator_predict(const yk_subsystem *subsystem, int port, double h, yk_motion *motion)
{
    (void)port;
    const oscillator *self = (const oscillator *)subsystem;
    const oscillator_state *s = &self->now;
    motion->acceleration.x = s->a;

    if (self->def.integrator == YK_OSCILLATOR_TWO_STEP && has_history(self, h)) {
        double known_x, known_v;
        double b = h * two_step_known(self, h, &known_x, &known_v).b0;
        motion->velocity.x = -12 / h * (s->x - s->x_before) + 8 * s->v + 5 * s->v_before;
        motion->position.x = known_x + b * motion->velocity.x;
    } else {
        motion->velocity.x = s->v + h * s->a;
        motion->position.x = s->x + h * (s->v + h / 2 * s->a);
    }
}

static double oscillator_rho_inf(const yk_subsystem *subsystem)
{
    return ((const oscillator *)subsystem)->def.rho_inf;
}

static void oscillator_energy(const yk_subsystem *subsystem, yk_energy *energy)
{
    const oscillator *self = (const oscillator *)subsystem;
    const oscillator_state *s = &self->now;

    *energy = (yk_energy){
        .kinetic = 0.5 * self->def.mass * s->v * s->v,
        .potential = 0.5 * self->def.stiffness * s->x * s->x,
        .dissipated = s->dissipated,
        .work = s->work,
        .port_work = s->port_work,
    };
}

static int oscillator_input_degree(const yk_subsystem *subsystem)
{
    const oscillator *self = (const oscillator *)subsystem;
    return self->def.integrator == YK_OSCILLATOR_EXACT ? YK_INPUT_DEGREE_MAX : 0;
}

static double oscillator_next_event(const yk_subsystem *subsystem, double t)
{
    const oscillator *self = (const oscillator *)subsystem;
    double next = INFINITY;

    for (int i = 0; i < self->part_count; i++)
        next = fmin(next, yk_function_next_event(self->parts[i].force, t));

    return next;
}

/* Creation ------------------------------------------------------------------------------------- */

yk_oscillator_def yk_oscillator_default(void)
{
    yk_oscillator_def def = {.mass = 1};
    yk_option_set_defaults(yk_oscillator_options.options, &def);
    return def;
}

static yk_status check_def(yk_context *context, const yk_oscillator_def *def)
{
    if (!(def->mass > 0) || !isfinite(def->mass))
        return yk_fail(context, YK_ERROR_ARGUMENT, "oscillator: mass is %g kg, must be positive",
                       def->mass);
    if (!isfinite(def->stiffness) || !isfinite(def->damping))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "oscillator: stiffness (%g N/m) and damping (%g N s/m) must be finite",
                       def->stiffness, def->damping);

    if (!isfinite(def->position) || !isfinite(def->velocity))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "oscillator: initial position (%g m) and velocity (%g m/s) must be finite",
                       def->position, def->velocity);

    if (!(def->rho_inf >= 0 && def->rho_inf <= 1))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "oscillator: rho_inf is %g, must lie between 0 and 1", def->rho_inf);
    if ((size_t)def->integrator >= sizeof integrators / sizeof *integrators)
        return yk_fail(context, YK_ERROR_ARGUMENT, "oscillator: unknown integrator %d",
                       (int)def->integrator);

    return YK_OK;
}

static yk_status create_with_parts(yk_context *context, const yk_oscillator_def *def,
                                   int part_count, oscillator **made)
{
    yk_status status = check_def(context, def);
    if (status != YK_OK)
        return status;

    oscillator *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->subsystem.ops = &oscillator_ops;
    self->context = context;
    self->def = *def;
    self->coefficients = yk_two_step_coefficients(def->rho_inf);
    self->part_count = part_count;
    self->parts = yk_allocate(context, (size_t)part_count, sizeof *self->parts);
    self->ports = yk_allocate(context, (size_t)part_count, sizeof *self->ports);
    if (!self->parts || !self->ports) {
        oscillator_destroy(&self->subsystem);
        return YK_ERROR_MEMORY;
    }

    yk_port port = {.name = "mass",
                    .kind = YK_PORT_SCALAR,
                    .allowed_causalities = YK_CAUSALITY_WRENCH_INPUT | YK_CAUSALITY_MOTION_INPUT};
    for (int i = 0; i < part_count; i++)
        self->ports[i] = port;
    *made = self;

    return YK_OK;
}

yk_status yk_oscillator_create(yk_context *context, const yk_oscillator_def *def,
                               yk_subsystem **out)
{
    if (!out)
        return yk_refuse_null(context, __func__, "oscillator");
    *out = NULL;
    if (!def)
        return yk_refuse_null(context, __func__, "def");

    oscillator *self = NULL;
    yk_status status = create_with_parts(context, def, 1, &self);
    if (status != YK_OK)
        return status;

    self->parts[0] = (oscillator_part){def->mass, def->stiffness, def->damping, def->force, 1};
    *out = &self->subsystem;

    return YK_OK;
}

/* Whether the joints connect all parts, so that they move as one mass. */
static bool all_connected(int part_count, const yk_merge_joint *joints, int joint_count,
                          bool *reached)
{
    reached[0] = true;
    int count = 1;

    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < joint_count; i++) {
            bool *a = &reached[joints[i].part_a];
            bool *b = &reached[joints[i].part_b];

            if (*a == *b)
                continue;

            *a = true;
            *b = true;
            grown = true;
            count++;
        }
    }

    return count == part_count;
}

/* A part in the units of the merged oscillator. One coordinate does not depend on the axes. */
static yk_oscillator_def placed_def(const yk_merge_def *merge, int part)
{
    yk_oscillator_def def = ((const oscillator *)merge->parts[part])->def;
    if (!merge->transforms)
        return def;

    /* Forces scale with mass times length, so stiffness and damping scale with mass. */
    double length = merge->transforms[part].length_unit;
    double mass = merge->transforms[part].mass_unit;
    def.mass *= mass;
    def.stiffness *= mass;
    def.damping *= mass;
    def.position *= length;
    def.velocity *= length;

    return def;
}

static yk_status check_merge(const yk_merge_def *merge)
{
    yk_context *context = ((const oscillator *)merge->parts[0])->context;

    for (int i = 0; i < merge->joint_count; i++) {
        if (merge->joints[i].drive)
            return yk_fail(context, YK_ERROR_CAPABILITY,
                           "oscillators with a prescribed relative motion cannot be merged to one "
                           "mass");
    }

    yk_oscillator_def a = placed_def(merge, 0);
    for (int i = 1; i < merge->part_count; i++) {
        yk_oscillator_def b = placed_def(merge, i);
        double gap = fabs(a.position - b.position);
        double slip = fabs(a.velocity - b.velocity);
        if (gap > 1e-9 * (1 + fabs(a.position)) || slip > 1e-9 * (1 + fabs(a.velocity)))
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "joined oscillators must start together, but differ by %g m and %g m/s",
                           gap, slip);
    }

    bool *reached = yk_allocate(context, (size_t)merge->part_count, sizeof *reached);
    if (!reached)
        return YK_ERROR_MEMORY;

    bool connected = all_connected(merge->part_count, merge->joints, merge->joint_count, reached);
    yk_free(context, reached);
    if (!connected)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "the interfaces do not join all oscillators to one");

    return YK_OK;
}

static yk_status oscillator_merge(const yk_merge_def *merge, yk_subsystem **merged)
{
    *merged = NULL;
    yk_status status = check_merge(merge);
    if (status != YK_OK)
        return status;

    /* The integrator is that of the first part, the wrench side. */
    yk_oscillator_def sum = placed_def(merge, 0);
    sum.mass = 0;
    sum.stiffness = 0;
    sum.damping = 0;
    for (int i = 0; i < merge->part_count; i++) {
        yk_oscillator_def def = placed_def(merge, i);
        sum.mass += def.mass;
        sum.stiffness += def.stiffness;
        sum.damping += def.damping;
    }

    oscillator *self = NULL;
    status = create_with_parts(((const oscillator *)merge->parts[0])->context, &sum,
                               merge->part_count, &self);
    if (status != YK_OK)
        return status;

    for (int i = 0; i < merge->part_count; i++) {
        yk_oscillator_def def = placed_def(merge, i);
        double unit = merge->transforms
                          ? merge->transforms[i].mass_unit * merge->transforms[i].length_unit
                          : 1;
        self->parts[i] = (oscillator_part){def.mass, def.stiffness, def.damping, def.force, unit};
    }

    *merged = &self->subsystem;
    return YK_OK;
}

static yk_status oscillator_free_mass(const yk_subsystem *self, double mass, yk_port_kind kind,
                                      yk_subsystem **made)
{
    *made = NULL;
    if (kind != YK_PORT_SCALAR)
        return YK_ERROR_CAPABILITY;

    /* No spring, damper or force. The contract demands an initial position of 1. */
    const oscillator *model = (const oscillator *)self;
    yk_oscillator_def def = yk_oscillator_default();
    def.mass = mass;
    def.position = 1;
    def.integrator = model->def.integrator;
    def.rho_inf = model->def.rho_inf;

    return yk_oscillator_create(model->context, &def, made);
}

static const yk_rollback_ops oscillator_rollback_ops = {.size = sizeof(yk_rollback_ops),
                                                        .layout = oscillator_state_layout,
                                                        .get = oscillator_state_get,
                                                        .set = oscillator_state_set};
static const yk_sensitivity_ops oscillator_sensitivity_ops = {
    .size = sizeof(yk_sensitivity_ops), .step_with_sensitivity = oscillator_step_sensitivity};
static const yk_step_model_ops oscillator_step_model_ops = {.size = sizeof(yk_step_model_ops),
                                                            .evaluate = oscillator_step_model};
static const yk_merge_ops oscillator_merging_ops = {.size = sizeof(yk_merge_ops),
                                                    .merge = oscillator_merge,
                                                    .create_free_mass = oscillator_free_mass};
static const yk_event_ops oscillator_events_ops = {.size = sizeof(yk_event_ops),
                                                   .next_time = oscillator_next_event};
static const yk_energy_ops oscillator_energy_ops = {.size = sizeof(yk_energy_ops),
                                                    .read = oscillator_energy};
/* Parameters ----------------------------------------------------------------------------------- */

typedef enum oscillator_parameter {
    OSCILLATOR_STIFFNESS,
    OSCILLATOR_DAMPING,
    OSCILLATOR_PARAMETER_COUNT
} oscillator_parameter;

static const yk_parameter oscillator_parameters[OSCILLATOR_PARAMETER_COUNT] = {
    [OSCILLATOR_STIFFNESS] = {"stiffness", "N/m", -DBL_MAX, DBL_MAX},
    [OSCILLATOR_DAMPING] = {"damping", "N s/m", -DBL_MAX, DBL_MAX},
};

/* Merged oscillators have no parameters: their equation has one stiffness, but their parts have several. */
static int list_parameters(const yk_subsystem *subsystem, const yk_parameter **list)
{
    *list = oscillator_parameters;
    return ((const oscillator *)subsystem)->part_count == 1 ? OSCILLATOR_PARAMETER_COUNT : 0;
}

static double get_parameter(const yk_subsystem *subsystem, int parameter)
{
    const oscillator_part *part = &((const oscillator *)subsystem)->parts[0];
    return parameter == OSCILLATOR_STIFFNESS ? part->stiffness : part->damping;
}

static yk_status set_parameter(yk_subsystem *subsystem, int parameter, double value)
{
    oscillator *self = (oscillator *)subsystem;
    oscillator_part *part = &self->parts[0];
    self->exact.step = 0; /* compute the exact step again */
    if (parameter == OSCILLATOR_DAMPING) {
        part->damping = self->def.damping = value;
        return YK_OK;
    }

    /* Changing the stiffness of a deflected spring does work. */
    self->now.work += 0.5 * (value - part->stiffness) * self->now.x * self->now.x;
    part->stiffness = self->def.stiffness = value;
    return YK_OK;
}

static const yk_parameter_ops oscillator_parameter_ops = {.size = sizeof(yk_parameter_ops),
                                                          .list = list_parameters,
                                                          .get = get_parameter,
                                                          .set = set_parameter};

static const yk_subsystem_ops oscillator_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "oscillator",
    .ports = oscillator_ports,
    .connect = oscillator_connect,
    .initialize = oscillator_start,
    .step = oscillator_step,
    .get_port_value = oscillator_output,
    .destroy = oscillator_destroy,
    .last_message = oscillator_message,
    .rollback = &oscillator_rollback_ops,
    .predict = oscillator_predict,
    .rho_inf = oscillator_rho_inf,
    .energy = &oscillator_energy_ops,
    .merge = &oscillator_merging_ops,
    .sensitivity = &oscillator_sensitivity_ops,
    .events = &oscillator_events_ops,
    .max_input_degree = oscillator_input_degree,
    .step_model = &oscillator_step_model_ops,
    .parameters = &oscillator_parameter_ops,
};
