#include "free_body.h"

#include <stdlib.h>
#include <string.h>

#include "math/polynomial.h"
#include "math/so3.h"

typedef struct body_state {
    yk_vec3 position, velocity, angular_velocity;
    yk_quat orientation;
    yk_vec3 acceleration, angular_acceleration;
    yk_wrench wrench[FREE_BODY_PORTS];
} body_state;

typedef struct free_body {
    yk_subsystem base;
    free_body_def def;
    yk_port ports[FREE_BODY_PORTS];
    bool connected[FREE_BODY_PORTS];
    body_state now;
} free_body;

typedef struct body_rates {
    yk_vec3 position, velocity, angular_velocity;
    yk_quat orientation;
} body_rates;

static free_body *of(yk_subsystem *self)
{
    return (free_body *)self;
}

static const free_body *of_const(const yk_subsystem *self)
{
    return (const free_body *)self;
}

static int ports(const yk_subsystem *self, const yk_port **list)
{
    *list = of_const(self)->ports;
    return of_const(self)->def.port_count;
}

static yk_status connect(yk_subsystem *self, int port, yk_causality causality, unsigned constrained)
{
    (void)constrained;
    of(self)->connected[port] = causality == YK_CAUSALITY_WRENCH_INPUT;
    return YK_OK;
}

/* Newton and Euler, in global axes. */
static void rates(const free_body *b, const body_state *s, const yk_wrench *wrench, body_rates *r)
{
    *r = (body_rates){.position = s->velocity};
    yk_vec3 w = s->angular_velocity;
    yk_quat spin = {0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z};
    r->orientation = yk_q_mul(spin, s->orientation);
    if (b->def.mass == 0)
        return;
    yk_vec3 force = yk_v3_scale(b->def.mass, b->def.gravity), torque = {0, 0, 0};
    for (int i = 0; i < b->def.port_count; i++) {
        yk_vec3 arm = yk_q_rotate(s->orientation, b->def.offset[i]);
        force = yk_v3_add(force, wrench[i].force);
        torque = yk_v3_add(torque, yk_v3_add(wrench[i].torque, yk_v3_cross(arm, wrench[i].force)));
    }
    r->velocity = yk_v3_scale(1 / b->def.mass, force);
    yk_vec3 own = yk_q_rotate_back(s->orientation, w), j = b->def.inertia;
    yk_vec3 gyro = yk_v3_cross(own, yk_v3(j.x * own.x, j.y * own.y, j.z * own.z));
    yk_vec3 rest = yk_v3_sub(yk_q_rotate_back(s->orientation, torque), gyro);
    r->angular_velocity =
        yk_q_rotate(s->orientation, yk_v3(rest.x / j.x, rest.y / j.y, rest.z / j.z));
}

static void wrenches_at(const free_body *b, const yk_input *inputs, double t, yk_wrench *wrench)
{
    memset(wrench, 0, FREE_BODY_PORTS * sizeof *wrench);
    for (int i = 0; inputs && i < b->def.port_count; i++)
        if (b->connected[i])
            wrench[i] = yk_input_wrench(&inputs[i], t);
}

static body_state moved(const body_state *s, const body_rates *r, double h)
{
    body_state m = *s;
    m.position = yk_v3_axpy(h, r->position, s->position);
    m.velocity = yk_v3_axpy(h, r->velocity, s->velocity);
    m.angular_velocity = yk_v3_axpy(h, r->angular_velocity, s->angular_velocity);
    m.orientation.w += h * r->orientation.w, m.orientation.x += h * r->orientation.x;
    m.orientation.y += h * r->orientation.y, m.orientation.z += h * r->orientation.z;
    return m;
}

static void settle(free_body *b, const yk_input *inputs, double t)
{
    body_rates r;
    wrenches_at(b, inputs, t, b->now.wrench);
    rates(b, &b->now, b->now.wrench, &r);
    b->now.acceleration = r.velocity, b->now.angular_acceleration = r.angular_velocity;
}

static yk_status start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t, (void)h;
    free_body *b = of(self);
    b->now = (body_state){.position = b->def.position,
                          .velocity = b->def.velocity,
                          .angular_velocity = b->def.angular_velocity,
                          .orientation = b->def.orientation};
    settle(b, inputs, 0);
    return YK_OK;
}

static yk_status step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t;
    free_body *b = of(self);
    double d = h / b->def.substeps;
    for (int i = 0; i < b->def.substeps; i++) {
        yk_wrench wrench[3][FREE_BODY_PORTS];
        for (int k = 0; k < 3; k++)
            wrenches_at(b, inputs, (i + 0.5 * k) * d, wrench[k]);
        body_rates r[4];
        rates(b, &b->now, wrench[0], &r[0]);
        body_state s = moved(&b->now, &r[0], d / 2);
        rates(b, &s, wrench[1], &r[1]);
        s = moved(&b->now, &r[1], d / 2);
        rates(b, &s, wrench[1], &r[2]);
        s = moved(&b->now, &r[2], d);
        rates(b, &s, wrench[2], &r[3]);
        for (int k = 0; k < 4; k++)
            b->now = moved(&b->now, &r[k], (k == 1 || k == 2 ? d / 3 : d / 6));
        b->now.orientation = yk_q_unit(b->now.orientation);
    }
    settle(b, inputs, h);
    return YK_OK;
}

static void output(const yk_subsystem *self, int port, yk_port_value *value)
{
    const free_body *b = of_const(self);
    const body_state *s = &b->now;
    yk_vec3 arm = yk_q_rotate(s->orientation, b->def.offset[port]), w = s->angular_velocity;
    yk_vec3 swing = yk_v3_cross(w, arm);
    value->motion.position = yk_v3_add(s->position, arm);
    value->motion.velocity = yk_v3_add(s->velocity, swing);
    value->motion.acceleration =
        yk_v3_add(s->acceleration,
                  yk_v3_add(yk_v3_cross(s->angular_acceleration, arm), yk_v3_cross(w, swing)));
    value->motion.orientation = yk_q_mul(s->orientation, b->def.rotation[port]);
    value->motion.angular_velocity = w;
    value->motion.angular_acceleration = s->angular_acceleration;
    value->wrench = s->wrench[port];
}

static void destroy(yk_subsystem *self)
{
    free(self);
}

static yk_state_layout state_layout(const yk_subsystem *self)
{
    (void)self;
    size_t words = sizeof(body_state) / sizeof(double);
    return (yk_state_layout){.word_count = words, .continuous_count = words};
}

static void state_get(const yk_subsystem *self, double *image)
{
    memcpy(image, &of_const(self)->now, sizeof(body_state));
}

static yk_status state_set(yk_subsystem *self, const double *image)
{
    memcpy(&of(self)->now, image, sizeof(body_state));
    return YK_OK;
}

static void energy(const yk_subsystem *self, yk_energy *energy)
{
    const free_body *b = of_const(self);
    yk_vec3 own = yk_q_rotate_back(b->now.orientation, b->now.angular_velocity), j = b->def.inertia;
    double rotating = j.x * own.x * own.x + j.y * own.y * own.y + j.z * own.z * own.z;
    *energy = (yk_energy){.kinetic = 0.5 * (b->def.mass * yk_v3_norm2(b->now.velocity) + rotating),
                          .potential = -b->def.mass * yk_v3_dot(b->def.gravity, b->now.position)};
}

static int input_degree(const yk_subsystem *self)
{
    (void)self;
    return YK_INPUT_DEGREE_MAX;
}

static const yk_rollback_ops rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = state_layout, .get = state_get, .set = state_set};
static const yk_energy_ops energy_ops = {.size = sizeof(yk_energy_ops), .read = energy};
static const yk_subsystem_ops operations = {.size = sizeof(yk_subsystem_ops),
                                            .kind = "free body",
                                            .ports = ports,
                                            .connect = connect,
                                            .initialize = start,
                                            .step = step,
                                            .get_port_value = output,
                                            .destroy = destroy,
                                            .rollback = &rollback_ops,
                                            .energy = &energy_ops,
                                            .max_input_degree = input_degree};

yk_subsystem *free_body_create(const free_body_def *def)
{
    free_body *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->base.ops = &operations;
    b->def = *def;
    if (yk_q_norm(b->def.orientation) == 0)
        b->def.orientation = yk_q_identity();
    for (int i = 0; i < FREE_BODY_PORTS; i++) {
        static const char *const names[FREE_BODY_PORTS] = {"first", "second", "third"};
        if (yk_q_norm(b->def.rotation[i]) == 0)
            b->def.rotation[i] = yk_q_identity();
        b->ports[i] = (yk_port){names[i], YK_PORT_MARKER, YK_CAUSALITY_WRENCH_INPUT};
    }
    return &b->base;
}
