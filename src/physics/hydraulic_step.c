/* Pressures over a step: the Radau IIA method of order 5, in fixed steps or with error control,
 * and the ledger of energy and of what is worth a warning. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "math/integrators.h"
#include "math/polynomial.h"
#include "physics/hydraulic_parts.h"

/* Drive ---------------------------------------------------------------------------------------- */

yk_cylinder_drive yk_hydraulic_drive(const yk_hydraulic_job *j, double t)
{
    const yk_hydraulic *self = j->self;
    const yk_hydraulic_cylinder_def *def = &j->at->def;
    double local = t - j->begin;
    yk_cylinder_drive drive = {.pump = yk_function_value(self->def.pump_pressure, t),
                               .tank = self->def.tank_pressure};

    /* Motion: of the port, or none. */
    double length = j->at->now->length;
    if (j->motion) {
        length = yk_input_scalar(j->motion, local);
        drive.rate = yk_input_scalar_rate(j->motion, local);
    }

    drive.length = length - j->at->origin;

    /* Command: of a wire, of the function, or neutral. */
    drive.command = def->neutral_command;
    if (def->spool_command.evaluate)
        drive.command = yk_function_value(def->spool_command, t);
    if (j->spool)
        drive.command = yk_input_scalar(j->spool, local);

    return drive;
}

static void rate(void *user, double t, const double *y, double *result)
{
    const yk_hydraulic_job *j = user;
    yk_cylinder_drive drive = yk_hydraulic_drive(j, t);
    yk_cylinder_rate(&j->at->cylinder, &j->self->fluid, &drive, y, result);
}

static void jacobian(void *user, double t, const double *y, double *result)
{
    const yk_hydraulic_job *j = user;
    yk_cylinder_drive drive = yk_hydraulic_drive(j, t);
    yk_cylinder_jacobian(&j->at->cylinder, &j->self->fluid, &drive, y, result);
}

/* Ledger --------------------------------------------------------------------------------------- */

/* Energies and the time of what is worth a warning, by the quadrature of the stages. */
static void add_stage_energy(const yk_hydraulic_job *j, double t, double weight, const double *y)
{
    const yk_cylinder *cylinder = &j->at->cylinder;
    const yk_fluid *fluid = &j->self->fluid;
    yk_hydraulic_ledger *ledger = j->at->ledger;
    yk_cylinder_drive drive = yk_hydraulic_drive(j, t);
    yk_cylinder_power power;
    yk_cylinder_flow flow;

    /* Powers and flows of this stage. */
    yk_cylinder_powers(cylinder, fluid, &drive, y, &power);
    yk_cylinder_flows(cylinder, fluid, &drive, y, &flow);

    /* d(energy) = port and supply less losses. */
    ledger->work += weight * (power.port + power.supply);
    ledger->port_work += weight * power.port;
    ledger->dissipated += weight * power.loss;

    /* What a user is warned of, how long in all and when first. */
    const bool happens[YK_HYDRAULIC_EVENTS] = {
        [YK_BLOCKED] = flow.blocked > 0,
        [YK_CAVITATED] = y[0] <= fluid->vapor_pressure || y[1] <= fluid->vapor_pressure,
        [YK_STOPPED] = yk_cylinder_stop_force(cylinder, drive.length, drive.rate) != 0,
        [YK_LIMITED] = yk_valve_limited(cylinder->valve.kind, drive.command) != drive.command,
        [YK_BEYOND_RANGE] = fmax(y[0], y[1]) > yk_fluid_limit(fluid),
    };
    for (int k = 0; k < YK_HYDRAULIC_EVENTS; k++) {
        if (!happens[k])
            continue;

        if (ledger->event_time[k] == 0)
            ledger->event_first[k] = t;
        ledger->event_time[k] += weight;
    }
}

/* Steps ---------------------------------------------------------------------------------------- */

/* Head of one bar (Pa), by which errors of pressures are measured. That of the spool is 1. */
static const double BAR = 1e5;
/* A step that Newton's method cannot take is halved so often before the circuit gives up. */
enum { HALVINGS_MAX = 30 };

/* No oil and no steel withstands this pressure (Pa). */
static const double IMPOSSIBLE_PRESSURE = 1e10;

/* One step of the method, with its energies; YK_NOT_CONVERGED and YK_STEP_CUT leave everything as
 * it was. `size` is the error's norm. */
static yk_status try_step(const yk_hydraulic_job *j, double t, double h, bool controlled,
                          double *size)
{
    double *y = j->at->now->unknown;
    double bar = BAR * j->self->def.pascal;
    const double scales[YK_RADAU_SIZE_MAX] = {bar, bar, 1};
    yk_radau_problem problem = {
        .n = yk_cylinder_size(&j->at->cylinder),
        .rate = rate,
        .jacobian = jacobian,
        .user = (void *)(uintptr_t)j,
        .scale = scales,
    };
    double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX];

    *size = 0;
    yk_status status = yk_radau_take(&problem, t, h, y, stage);
    if (status != YK_OK)
        return status;

    /* Radau IIA ends in its last stage. */
    const double *end = stage[YK_RADAU_STAGES - 1];

    /* Too large an error: a shorter step. */
    if (controlled) {
        double error[YK_RADAU_SIZE_MAX];
        if (yk_radau_error(&problem, t, h, y, stage, error) != YK_OK)
            return YK_NOT_CONVERGED;

        for (int i = 0; i < problem.n; i++) {
            double allowed = j->self->def.relative_tolerance * (scales[i] + fabs(end[i]));
            *size = fmax(*size, fabs(error[i]) / allowed);
        }

        if (*size > 1)
            return YK_STEP_CUT;
    }

    /* Accepted: powers are integrated by the quadrature of the method. */
    for (int i = 0; i < YK_RADAU_STAGES; i++)
        add_stage_energy(j, t + yk_radau_node[i] * h, yk_radau_weight[i] * h, stage[i]);
    memcpy(y, end, (size_t)problem.n * sizeof *y);

    return YK_OK;
}

/* Internal steps in one call: beyond so many, the step is not that of the motion. */
enum { ATTEMPTS_MAX = 100000 };

static yk_status give_up(yk_hydraulic *self, const yk_hydraulic_slot *at, double t)
{
    yk_format(self->message, sizeof self->message,
              "t = %g: the pressures of cylinder '%s' cannot be found however short the step is", t,
              at->name);
    return YK_ERROR_DIVERGED;
}

/* In equal parts no longer than `step`, each halved as often as it takes. */
static yk_status take_fixed(yk_hydraulic *self, const yk_hydraulic_job *j, double t, double h)
{
    /* The factor keeps rounding from adding a part. */
    double parts = 1;
    if (self->def.max_step > 0)
        parts = fmax(1, ceil(h / self->def.max_step * (1 - 1e-9)));
    double length = h / parts;
    double end = t + h;

    /* A part that fails is made of two. */
    int halvings = 0;
    for (double at = 0; at < parts;) {
        double unused;
        double width = length * ldexp(1, -halvings);
        double from = at * length;
        double size = fmin(width, end - t - from);
        yk_status status = try_step(j, t + from, size, false, &unused);
        if (status == YK_NOT_CONVERGED && ++halvings <= HALVINGS_MAX)
            continue;
        if (status != YK_OK)
            return give_up(self, j->at, t + from);

        /* Whole parts again where halves make up one. */
        at += ldexp(1, -halvings);
        if (halvings > 0 && at == floor(at))
            halvings = 0;
    }

    return YK_OK;
}

/* With error control: order 3 of the estimate gives the exponent. */
static yk_status take_controlled(yk_hydraulic *self, const yk_hydraulic_job *j, double t, double h)
{
    yk_hydraulic_ledger *ledger = j->at->ledger;
    double end = t + h;
    double least = h * ldexp(1, -HALVINGS_MAX);
    double next = 0.01 * h;

    /* The size that the last step ended with. */
    if (ledger->next_step > 0)
        next = ledger->next_step;

    for (int attempts = 0; t < end; attempts++) {
        if (yk_context_should_stop(self->context))
            return YK_ERROR_ABORTED;
        if (attempts == ATTEMPTS_MAX)
            return give_up(self, j->at, t);

        /* Two equal steps rather than a long and a tiny one. */
        double rest = end - t;
        double width = next;
        if (next >= 0.5 * rest)
            width = 0.5 * rest;
        if (next >= rest)
            width = rest;
        bool last = width == rest;

        double size;
        yk_status status = try_step(j, t, width, true, &size);

        /* The factor to the size that would just meet the tolerance. */
        double factor = 8;
        if (size > 0)
            factor = 0.9 * pow(size, -0.25);

        /* Accepted; a step cut short by the end says nothing against a longer one. */
        if (status == YK_OK) {
            t = last ? end : t + width;
            double proposed = width * fmin(8, fmax(0.2, factor));
            next = width < next ? fmax(next, proposed) : proposed;
            continue;
        }

        /* Shorter: by the error, or blindly where Newton's method failed. */
        double shorter = 0.25;
        if (status == YK_STEP_CUT)
            shorter = fmax(0.1, fmin(0.9, factor));
        next = width * shorter;
        if (next < least)
            return give_up(self, j->at, t);
    }

    ledger->next_step = next;
    return YK_OK;
}

static yk_status step_cylinder(yk_hydraulic *self, int index, double t, double h,
                               const yk_input *inputs)
{
    yk_hydraulic_slot *at = &self->slots[index];
    yk_hydraulic_job j = {.self = self, .at = at, .begin = t};
    if (at->joined)
        j.motion = &inputs[index];
    if (at->wired)
        j.spool = &inputs[self->count + index];

    /* The pressures. */
    yk_status status = YK_OK;
    if (self->def.relative_tolerance > 0) {
        status = take_controlled(self, &j, t, h);
    } else {
        status = take_fixed(self, &j, t, h);
    }

    if (status != YK_OK)
        return status;

    /* What is seen at the end of the step. */
    yk_cylinder_drive drive = yk_hydraulic_drive(&j, t + h);
    at->now->length = drive.length + at->origin;
    at->now->rate = drive.rate;

    at->ledger->acceleration = 0;
    if (at->joined)
        at->ledger->acceleration = yk_input_scalar_second_rate(&inputs[index], h);
    at->ledger->time = t + h;

    /* Without a lag the spool is where its command is. */
    if (at->cylinder.valve.time_constant <= 0)
        at->now->unknown[2] = drive.command;

    /* Whether it can be believed. */
    const double *y = at->now->unknown;
    double highest = fmax(y[0], y[1]);
    if (!isfinite(y[0] + y[1])) {
        yk_format(self->message, sizeof self->message,
                  "t = %g: the pressures of cylinder '%s' are not finite", t + h, at->name);
        return YK_ERROR_NOT_FINITE;
    }

    double pascal = self->def.pascal;
    if (highest >= IMPOSSIBLE_PRESSURE * pascal) {
        yk_format(self->message, sizeof self->message,
                  "t = %g: the pressure of cylinder '%s' is %.3g Pa; its motion is impossible "
                  "against a closed chamber",
                  t + h, at->name, highest / pascal);
        return YK_ERROR_DIVERGED;
    }

    return YK_OK;
}

yk_status yk_hydraulic_advance(yk_hydraulic *self, double t, double h, const yk_input *inputs)
{
    self->ran = true;
    for (int i = 0; i < self->count; i++) {
        yk_status status = step_cylinder(self, i, t, h, inputs);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}
