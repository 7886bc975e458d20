/* A damper without mass, v = F / c with c = 10 N s/m, for the side of an interface that receives
 * the wrench: its velocity depends on the force at the same instant (direct feedthrough). */
#ifndef YOKE_TESTS_DAMPER_H
#define YOKE_TESTS_DAMPER_H

#include <string.h>

#include "yoke/subsystem.h"

typedef struct damper {
    yk_subsystem base;
    double preload;  /* N, in addition to the force at its port */
    double state[2]; /* position (m), velocity (m/s) */
} damper;

static int damper_ports(const yk_subsystem *self, const yk_port **list)
{
    (void)self;
    static const yk_port port = {"end", YK_PORT_SCALAR, YK_CAUSALITY_WRENCH_INPUT};
    *list = &port;
    return 1;
}

static yk_status damper_connect(yk_subsystem *self, int port, yk_causality causality,
                                unsigned constrained)
{
    (void)self, (void)port, (void)causality, (void)constrained;
    return YK_OK;
}

static yk_status damper_step(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t;
    damper *d = (damper *)self;
    d->state[1] = 0.1 * (d->preload + inputs[0].linear[0].x);
    d->state[0] += h * d->state[1];
    return YK_OK;
}

static yk_status damper_start(yk_subsystem *self, double t, double h, const yk_input *inputs)
{
    (void)t, (void)h;
    damper *d = (damper *)self;
    d->state[0] = 0;
    d->state[1] = inputs ? 0.1 * (d->preload + inputs[0].linear[0].x) : 0;
    return YK_OK;
}

static void damper_output(const yk_subsystem *self, int port, yk_port_value *value)
{
    (void)port;
    const damper *d = (const damper *)self;
    *value = (yk_port_value){
        .motion = {.position = {d->state[0], 0, 0}, .velocity = {d->state[1], 0, 0}}};
}

static void damper_destroy(yk_subsystem *self)
{
    (void)self;
}

static yk_state_layout damper_layout(const yk_subsystem *self)
{
    (void)self;
    return (yk_state_layout){2, 2};
}

static void damper_get(const yk_subsystem *self, double *image)
{
    memcpy(image, ((const damper *)self)->state, sizeof((const damper *)self)->state);
}

static yk_status damper_set(yk_subsystem *self, const double *image)
{
    memcpy(((damper *)self)->state, image, sizeof((damper *)self)->state);
    return YK_OK;
}

static const yk_rollback_ops damper_rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = damper_layout, .get = damper_get, .set = damper_set};
static const yk_subsystem_ops damper_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "damper",
    .ports = damper_ports,
    .connect = damper_connect,
    .initialize = damper_start,
    .step = damper_step,
    .get_port_value = damper_output,
    .destroy = damper_destroy,
    .rollback = &damper_rollback_ops,
};

#endif
