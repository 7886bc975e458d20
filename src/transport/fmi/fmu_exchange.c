/* Integration of FMUs of model exchange: the classical Runge-Kutta method of order 4 with steps of
 * one size, and events.
 *
 * A state event is where an indicator changes between positive and not positive. It is enclosed by
 * bisection of the step's size, each trial from the same start, and the step is accepted at the end
 * after the event, as FMI asks. Steps end at time events. */
#include <math.h>
#include <string.h>

#include "transport/fmi/fmu_internal.h"

/* Takes the FMU to the time t with the states x. */
static yk_status visit(yk_fmu *self, double t, const double *x)
{
    yk_fmi_instance *instance = self->instance;
    yk_status status = instance->calls->set_time(instance, t);

    /* The values at this time, wrenches too: over no time the mean is the value. */
    if (status == YK_OK && self->inputs.count > 0 && self->step_inputs) {
        double local = t - self->step_begin;
        yk_fmu_fill(self, self->step_inputs, local, local);
        status = yk_fmu_set_inputs(self, false);
    }

    if (status == YK_OK && self->state_count > 0)
        status = instance->calls->set_states(instance, x, self->state_count);

    return status;
}

/* One step of size h from (t, x) to the states `end`; the FMU stands there afterwards. */
static yk_status runge_kutta(yk_fmu *self, double t, double h, const double *x, double *end)
{
    /* k_s = f(t + c_s h, x + c_s h k_(s-1)); each stage needs only the rates of the one before. */
    static const double node[4] = {0, 0.5, 0.5, 1};
    static const double weight[4] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
    yk_fmi_instance *instance = self->instance;
    int n = self->state_count;
    double *rate = self->work;
    double *stage = self->work + n;

    memcpy(end, x, (size_t)n * sizeof *end);

    for (int s = 0; s < 4 && n > 0; s++) {
        for (int i = 0; i < n; i++) {
            double change = 0;
            if (s > 0)
                change = node[s] * h * rate[i];
            stage[i] = x[i] + change;
        }

        yk_status status = visit(self, t + node[s] * h, stage);
        if (status == YK_OK)
            status = instance->calls->rates(instance, rate, n);
        if (status != YK_OK)
            return status;

        for (int i = 0; i < n; i++)
            end[i] += weight[s] * h * rate[i];
    }

    /* The FMU stays where the step ends. */
    return visit(self, t + h, end);
}

/* Whether an indicator has changed its side since z_before; the FMU stands where it is asked. */
static yk_status crossed(yk_fmu *self, bool *yes)
{
    *yes = false;
    if (self->indicator_count == 0)
        return YK_OK;

    yk_fmi_instance *instance = self->instance;
    yk_status status = instance->calls->indicators(instance, self->z, self->indicator_count);

    /* z > 0 against z <= 0: zero is on the negative side. */
    for (int i = 0; i < self->indicator_count && status == YK_OK; i++)
        *yes = *yes || (self->z[i] > 0) != (self->z_before[i] > 0);
    return status;
}

/* The shortest step, up to rounding, after which the indicators have changed; *h has been found to
 * be one. The FMU stands at its end, with the states `end`. */
static yk_status locate(yk_fmu *self, double t, double *h, double *end)
{
    double low = 0;
    double high = *h;
    double tolerance = 4e-16 * (fabs(t) + *h) + 1e-14 * *h;

    /* Each trial starts at x again: an FMU has no way back but its states. */
    bool at_high = true;
    while (high - low > tolerance) {
        double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high))
            break;

        bool yes;
        yk_status status = runge_kutta(self, t, middle, self->x, end);
        if (status == YK_OK)
            status = crossed(self, &yes);
        if (status != YK_OK)
            return status;

        at_high = yes;
        if (yes)
            high = middle;
        else
            low = middle;
    }

    /* The last trial may have been one before the event. */
    *h = high;
    if (at_high)
        return YK_OK;
    return runge_kutta(self, t, high, self->x, end);
}

/* An event at the present time of the FMU. */
static yk_status handle_event(yk_fmu *self)
{
    yk_fmi_instance *instance = self->instance;
    bool changed = false;
    yk_status status = instance->calls->event_mode(instance);

    if (status == YK_OK)
        status = yk_fmu_set_inputs(self, true);
    if (status == YK_OK)
        status = yk_fmu_update(self, &changed);
    if (status == YK_OK)
        status = instance->calls->continuous_mode(instance);

    /* An event may set the continuous states: a ball that bounces. */
    if (status == YK_OK && changed && self->state_count > 0)
        status = instance->calls->get_states(instance, self->x, self->state_count);
    return status;
}

yk_status yk_fmu_integrate(yk_fmu *self, double t, double h)
{
    enum { EVENTS_MAX = 10000 };
    yk_fmi_instance *instance = self->instance;
    double *end_states = self->work + 2 * self->state_count;
    double end = t + h;
    double tolerance = 1e-9 * h;
    double now = t;

    /* Where the longest step is given, the step is one of its pieces already. */
    double usual = h / 10;
    if (self->longest_step > 0)
        usual = h;

    /* In event mode only may inputs be set that are not continuous. */
    yk_status status = visit(self, now, self->x);
    if (status == YK_OK && self->discrete_inputs)
        status = handle_event(self);

    int events = 0;
    while (status == YK_OK && end - now > tolerance) {
        /* The size: to the end, to the next time event, and not longer than usual. */
        if (self->indicator_count > 0)
            status = instance->calls->indicators(instance, self->z_before, self->indicator_count);

        double size = end - now;
        if (size > usual * (1 + 1e-9))
            size = usual;
        bool timed = self->next_event > now && self->next_event <= now + size + tolerance;
        if (timed)
            size = self->next_event - now;

        /* The step, or the part of it up to the first state event. */
        bool event = false;
        if (status == YK_OK)
            status = runge_kutta(self, now, size, self->x, end_states);
        if (status == YK_OK)
            status = crossed(self, &event);

        if (status == YK_OK && event) {
            /* A state event before the time event comes first. */
            double shorter = size;
            status = locate(self, now, &shorter, end_states);
            timed = timed && shorter == size;
            size = shorter;
        }

        if (status != YK_OK)
            return status;

        memcpy(self->x, end_states, (size_t)self->state_count * sizeof *self->x);
        now += size;

        /* The FMU may ask for an event of its own, or for the end. */
        bool asked = false;
        bool terminate = false;
        if (!instance->can->completed_step_unused)
            status = instance->calls->completed_step(instance, &asked, &terminate);

        if (status == YK_OK && terminate)
            return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                                 "%s: the FMU ended the simulation at t = %.9g s", self->file, now);

        if (status == YK_OK && (event || timed || asked)) {
            status = handle_event(self);

            /* A model that jumps to and fro between events would never reach the end. */
            if (++events > EVENTS_MAX)
                return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                                     "%s: more than %d events in a step that ends at t = %.9g s",
                                     self->file, EVENTS_MAX, end);
        }
    }

    return status;
}
