/* Integration of the pressures: the Radau IIA method of order 5 with fixed steps or with error control, the energy balance,
 * and the events that cause warnings. */
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

    double length = j->at->now->length;
    if (j->motion) {
        length = yk_input_scalar(j->motion, local);
        drive.rate = yk_input_scalar_rate(j->motion, local);
    }

    drive.length = length - j->at->origin;

    drive.command = def->neutral_command;
    if (def->spool_command.evaluate)
        drive.command = yk_function_value(def->spool_command, t);
    if (j->spool)
        drive.command = yk_input_scalar(j->spool, local);

    return drive;
}

static void pressure_rate(void *user, double t, const double *y, double *result)
{
    const yk_hydraulic_job *j = user;
    yk_cylinder_drive drive = yk_hydraulic_drive(j, t);
    yk_cylinder_rate(&j->at->cylinder, &j->self->fluid, &drive, y, result);
}

static void pressure_jacobian(void *user, double t, const double *y, double *result)
{
    const yk_hydraulic_job *j = user;
    yk_cylinder_drive drive = yk_hydraulic_drive(j, t);
    yk_cylinder_jacobian(&j->at->cylinder, &j->self->fluid, &drive, y, result);
}

/* Energy balance --------------------------------------------------------------------------------------- */

/* Adds the energies and the durations of events of one stage, weighted by the quadrature of the method. */
static void add_stage_energy(const yk_hydraulic_job *j, double t, double weight, const double *y)
{
    const yk_cylinder *cylinder = &j->at->cylinder;
    const yk_fluid *fluid = &j->self->fluid;
    yk_hydraulic_ledger *ledger = j->at->ledger;
    yk_cylinder_drive drive = yk_hydraulic_drive(j, t);
    yk_cylinder_power power;
    yk_cylinder_flow flow;

    yk_cylinder_powers(cylinder, fluid, &drive, y, &power);
    yk_cylinder_flows(cylinder, fluid, &drive, y, &flow);

    /* d(energy)/dt = port + supply - loss */
    ledger->work += weight * (power.port + power.supply);
    ledger->port_work += weight * power.port;
    ledger->dissipated += weight * power.loss;

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

/* Scale of the errors of pressures: one bar (Pa). The scale of the spool is 1. */
static const double BAR = 1e5;
/* Number of times that a step is halved if Newton's method fails. */
enum { HALVINGS_MAX = 30 };

/* Pressure that no material withstands (Pa). */
static const double IMPOSSIBLE_PRESSURE = 1e10;

/* Makes one step of the method with its energies. YK_NOT_CONVERGED and YK_STEP_CUT leave everything unchanged. `size` is the
 * norm of the error. */
static yk_status try_step(const yk_hydraulic_job *j, double t, double h, bool controlled,
                          double *size)
{
    double *y = j->at->now->unknown;
    double bar = BAR * j->self->def.pascal;
    const double scales[YK_RADAU_SIZE_MAX] = {bar, bar, 1};
    yk_radau_problem problem = {
        .n = yk_cylinder_size(&j->at->cylinder),
        .rate = pressure_rate,
        .jacobian = pressure_jacobian,
        .user = (void *)(uintptr_t)j,
        .scale = scales,
    };
    double stage[YK_RADAU_STAGES][YK_RADAU_SIZE_MAX];

    *size = 0;
    yk_status status = yk_radau_take(&problem, t, h, y, stage);
    if (status != YK_OK)
        return status;

    /* The last stage of Radau IIA is the end of the step. */
    const double *end = stage[YK_RADAU_STAGES - 1];

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

    for (int i = 0; i < YK_RADAU_STAGES; i++)
        add_stage_energy(j, t + yk_radau_node[i] * h, yk_radau_weight[i] * h, stage[i]);
    memcpy(y, end, (size_t)problem.n * sizeof *y);

    return YK_OK;
}

/* Largest number of internal steps in one call. */
enum { ATTEMPTS_MAX = 100000 };

static yk_status report_stuck_step(yk_hydraulic *self, const yk_hydraulic_slot *at, double t)
{
    yk_format(self->message, sizeof self->message,
              "t = %g: the pressures of cylinder '%s' cannot be found however short the step is", t,
              at->name);
    return YK_ERROR_DIVERGED;
}

/* Fixed steps: equal parts that are at most max_step long. A part that fails is halved. */
static yk_status take_fixed(yk_hydraulic *self, const yk_hydraulic_job *j, double t, double h)
{
    /* The factor prevents an additional part because of rounding. */
    double parts = 1;
    if (self->def.max_step > 0)
        parts = fmax(1, ceil(h / self->def.max_step * (1 - 1e-9)));
    double length = h / parts;
    double end = t + h;

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
            return report_stuck_step(self, j->at, t + from);

        /* Return to whole parts at their ends. */
        at += ldexp(1, -halvings);
        if (halvings > 0 && at == floor(at))
            halvings = 0;
    }

    return YK_OK;
}

/* Error control. The error estimate has order 3, which gives the exponent. */
static yk_status take_controlled(yk_hydraulic *self, const yk_hydraulic_job *j, double t, double h)
{
    yk_hydraulic_ledger *ledger = j->at->ledger;
    double end = t + h;
    double least = h * ldexp(1, -HALVINGS_MAX);
    double next = 0.01 * h;

    if (ledger->next_step > 0)
        next = ledger->next_step;

    for (int attempts = 0; t < end; attempts++) {
        if (yk_context_should_stop(self->context))
            return YK_ERROR_ABORTED;
        if (attempts == ATTEMPTS_MAX)
            return report_stuck_step(self, j->at, t);

        /* Make two equal steps instead of a long and a very short one. */
        double rest = end - t;
        double width = next;
        if (next >= 0.5 * rest)
            width = 0.5 * rest;
        if (next >= rest)
            width = rest;
        bool last = width == rest;

        double size;
        yk_status status = try_step(j, t, width, true, &size);

        double factor = 8;
        if (size > 0)
            factor = 0.9 * pow(size, -0.25);

        /* A step that was shortened by the end of the interval does not reduce the next step. */
        if (status == YK_OK) {
            t = last ? end : t + width;
            double proposed = width * fmin(8, fmax(0.2, factor));
            next = width < next ? fmax(next, proposed) : proposed;
            continue;
        }

        /* Reduce the step by the error, or by a fixed factor if Newton's method failed. */
        double shorter = 0.25;
        if (status == YK_STEP_CUT)
            shorter = fmax(0.1, fmin(0.9, factor));
        next = width * shorter;
        if (next < least)
            return report_stuck_step(self, j->at, t);
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

    yk_status status = YK_OK;
    if (self->def.relative_tolerance > 0) {
        status = take_controlled(self, &j, t, h);
    } else {
        status = take_fixed(self, &j, t, h);
    }

    if (status != YK_OK)
        return status;

    yk_cylinder_drive drive = yk_hydraulic_drive(&j, t + h);
    at->now->length = drive.length + at->origin;
    at->now->rate = drive.rate;

    at->ledger->acceleration = 0;
    if (at->joined)
        at->ledger->acceleration = yk_input_scalar_second_rate(&inputs[index], h);
    at->ledger->time = t + h;

    /* Without a lag the spool is at its command. */
    if (at->cylinder.valve.time_constant <= 0)
        at->now->unknown[2] = drive.command;

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
