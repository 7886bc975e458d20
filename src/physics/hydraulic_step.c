/* Pressures over a step: the Radau IIA method of order 5, in fixed steps or with error control, and the books of energy
 * and of what is worth a word. */
#include <stdio.h>
#include <string.h>

#include "math/polynomial.h"
#include "math/radau.h"
#include "physics/hydraulic_parts.h"

/* Drive ---------------------------------------------------------------------------------------------------------- */

yk_cylinder_drive yk_hydraulic_drive(const yk_hydraulic_job *j, double t)
{
    const yk_hydraulic *self = j->self;
    double local = t - j->begin;
    yk_cylinder_drive drive = {.pump = yk_function_value(self->def.pump, t), .tank = self->def.tank};
    drive.length = (j->motion ? yk_input_scalar(j->motion, local) : j->at->now->length) - j->at->origin;
    drive.rate = j->motion ? yk_input_scalar_rate(j->motion, local) : 0;
    const yk_hydraulic_cylinder_def *def = &j->at->def;
    drive.command = def->spool.value ? yk_function_value(def->spool, t) : def->neutral;
    if (j->spool) drive.command = yk_input_scalar(j->spool, local);
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

/* Books ---------------------------------------------------------------------------------------------------------- */

static void count_event(yk_hydraulic_ledger *ledger, int event, bool happens, double t, double weight)
{
    if (!happens) return;
    if (ledger->event_time[event] == 0) ledger->event_first[event] = t;
    ledger->event_time[event] += weight;
}

/* Energies and the time of what is worth a word, by the quadrature of the stages. */
static void add_stage_energy(const yk_hydraulic_job *j, double t, double weight, const double *y)
{
    const yk_hydraulic_slot *at = j->at;
    yk_hydraulic_ledger *ledger = at->ledger;
    yk_cylinder_drive drive = yk_hydraulic_drive(j, t);
    yk_cylinder_power power;
    yk_cylinder_flow flow;
    yk_cylinder_powers(&at->cylinder, &j->self->fluid, &drive, y, &power);
    yk_cylinder_flows(&at->cylinder, &j->self->fluid, &drive, y, &flow);
    ledger->work += weight * (power.port + power.supply);
    ledger->port_work += weight * power.port;
    ledger->dissipated += weight * power.loss;
    bool empty = y[0] <= j->self->fluid.vapour || y[1] <= j->self->fluid.vapour;
    bool limited = yk_valve_limited(at->cylinder.valve.kind, drive.command) != drive.command;
    bool stopped = yk_cylinder_stop_force(&at->cylinder, drive.length, drive.rate) != 0;
    count_event(ledger, YK_BLOCKED, flow.blocked > 0, t, weight);
    count_event(ledger, YK_CAVITATED, empty, t, weight);
    count_event(ledger, YK_STOPPED, stopped, t, weight);
    count_event(ledger, YK_LIMITED, limited, t, weight);
    count_event(ledger, YK_BEYOND_RANGE, fmax(y[0], y[1]) > yk_fluid_limit(&j->self->fluid), t, weight);
}

/* Steps ---------------------------------------------------------------------------------------------------------- */

/* What counts as one bar of head and as one fraction of the spool. */
static const double scales[3] = {1e5, 1e5, 1};
/* A step that Newton's method cannot take is halved so often before the circuit gives up. */
enum { HALVINGS_MAX = 30 };

/* No oil and no steel has been there. */
static const double IMPOSSIBLE_PRESSURE = 1e10;

static yk_status check_heads(yk_hydraulic *self, const yk_hydraulic_slot *at, double t)
{
    const double *y = at->now->unknown;
    double highest = fmax(y[0], y[1]);
    if (!isfinite(y[0] + y[1])) {
        snprintf(self->message, sizeof self->message, "t = %g: the pressures of cylinder '%s' are not finite", t,
                 at->name);
        return YK_ERROR_NOT_FINITE;
    }
    if (highest < IMPOSSIBLE_PRESSURE) return YK_OK;
    snprintf(self->message, sizeof self->message,
             "t = %g: the pressure of cylinder '%s' is %.3g Pa; its motion is impossible against a closed chamber", t,
             at->name, highest);
    return YK_ERROR_DIVERGED;
}

/* One step of the method, booked; YK_NOT_CONVERGED leaves everything as it was. `size` is the error's norm. */
static yk_status try_step(const yk_hydraulic_job *j, double t, double h, bool controlled, double *size)
{
    const yk_hydraulic *self = j->self;
    double *y = j->at->now->unknown;
    yk_radau_problem problem = {.n = yk_cylinder_size(&j->at->cylinder),
                                .rate = rate,
                                .jacobian = jacobian,
                                .user = (void *)(uintptr_t)j,
                                .scale = scales};
    yk_radau_step step;
    *size = 0;
    yk_status status = yk_radau_take(&problem, t, h, y, &step);
    if (status != YK_OK) return status;
    if (controlled) {
        double error[YK_RADAU_SIZE_MAX];
        if (yk_radau_error(&problem, t, h, y, &step, error) < 0) return YK_NOT_CONVERGED;
        for (int i = 0; i < problem.n; i++)
            *size = fmax(*size, fabs(error[i]) / (self->def.tolerance * (scales[i] + fabs(step.stage[2][i]))));
        if (*size > 1) return YK_STEP_CUT;
    }
    for (int i = 0; i < YK_RADAU_STAGES; i++)
        add_stage_energy(j, t + yk_radau_node[i] * h, yk_radau_weight[i] * h, step.stage[i]);
    memcpy(y, step.stage[2], (size_t)problem.n * sizeof *y);
    return YK_OK;
}

static yk_status give_up(yk_hydraulic *self, const yk_hydraulic_slot *at, double t)
{
    snprintf(self->message, sizeof self->message,
             "t = %g: the pressures of cylinder '%s' cannot be found however short the step is", t, at->name);
    return YK_ERROR_DIVERGED;
}

/* In equal parts no longer than `step`, each halved as often as it takes. */
static yk_status take_fixed(yk_hydraulic *self, const yk_hydraulic_job *j, double t, double h)
{
    double parts = self->def.step > 0 ? fmax(1, ceil(h / self->def.step * (1 - 1e-9))) : 1, unused;
    double length = h / parts, end = t + h;
    int halvings = 0;
    for (double at = 0; at < parts;) {
        double width = length * ldexp(1, -halvings);
        yk_status status = try_step(j, t + at * length, fmin(width, end - t - at * length), false, &unused);
        if (status == YK_NOT_CONVERGED && ++halvings <= HALVINGS_MAX) continue;
        if (status != YK_OK) return give_up(self, j->at, t + at * length);
        at += ldexp(1, -halvings);
        if (halvings > 0 && at == floor(at)) halvings = 0;
    }
    return YK_OK;
}

/* With error control: order 3 of the estimate gives the exponent. */
static yk_status take_controlled(yk_hydraulic *self, const yk_hydraulic_job *j, double t, double h)
{
    yk_hydraulic_ledger *ledger = j->at->ledger;
    double end = t + h, least = h * ldexp(1, -HALVINGS_MAX);
    double next = ledger->next_step > 0 ? ledger->next_step : 0.01 * h;
    while (t < end) {
        double rest = end - t, width = next >= rest ? rest : next >= 0.5 * rest ? 0.5 * rest : next, size;
        bool last = width == rest;
        yk_status status = try_step(j, t, width, true, &size);
        double factor = size > 0 ? 0.9 * pow(size, -0.25) : 8;
        if (status == YK_OK) {
            t = last ? end : t + width;
            double proposed = width * fmin(8, fmax(0.2, factor));
            /* A step cut short by the end says nothing against a longer one. */
            next = width < next ? fmax(next, proposed) : proposed;
            continue;
        }
        next = width * (status == YK_STEP_CUT ? fmax(0.1, fmin(0.9, factor)) : 0.25);
        if (next < least) return give_up(self, j->at, t);
    }
    ledger->next_step = next;
    return YK_OK;
}

static yk_status step_cylinder(yk_hydraulic *self, int index, double t, double h, const yk_input *inputs)
{
    yk_hydraulic_slot *at = &self->slots[index];
    yk_hydraulic_job j = {self, at, at->joined ? &inputs[index] : NULL, at->wired ? &inputs[self->count + index] : NULL,
                          t};
    yk_status status = self->def.tolerance > 0 ? take_controlled(self, &j, t, h) : take_fixed(self, &j, t, h);
    if (status < 0) return status;
    yk_cylinder_drive drive = yk_hydraulic_drive(&j, t + h);
    at->now->length = drive.length + at->origin;
    at->now->rate = drive.rate;
    at->ledger->acceleration = at->joined ? yk_input_scalar_second_rate(&inputs[index], h) : 0;
    at->ledger->time = t + h;
    if (at->cylinder.valve.lag <= 0) at->now->unknown[2] = drive.command;
    return check_heads(self, at, t + h);
}

yk_status yk_hydraulic_advance(yk_hydraulic *self, double t, double h, const yk_input *inputs)
{
    self->ran = true;
    for (int i = 0; i < self->count; i++) {
        yk_status status = step_cylinder(self, i, t, h, inputs);
        if (status < 0) return status;
    }
    return YK_OK;
}
