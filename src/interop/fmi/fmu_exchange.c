/* Integration of FMUs of model exchange by the error-controlled method of math/stiff.h, with
 * events.
 *
 * A state event is a change of an indicator between positive and not positive. The indicators are
 * tested at the end of each step and at times within long steps. The event is located by bisection
 * on the interpolated states, and the step ends just after the event, as FMI requires. Steps also
 * end at time events. The integrator restarts without history at each macro step and each event;
 * the size of its next step is part of the state image. So repeated steps give the same bits. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "interop/fmi/fmu_internal.h"

/* Sets the FMU to the time t with the states x. */
static yk_status visit(yk_fmu *self, double t, const double *x)
{
    yk_fmi_instance *instance = self->instance;
    yk_status status = instance->calls->set_time(instance, t);

    /* Values at this time; the mean of a wrench over no time is its value. */
    if (status == YK_OK && self->inputs.count > 0 && self->step_inputs) {
        double local = t - self->step_begin;
        yk_fmu_fill(self, self->step_inputs, local, local);
        status = yk_fmu_set_inputs(self, false);
    }

    if (status == YK_OK && self->state_count > 0)
        status = instance->calls->set_states(instance, x, self->state_count);

    return status;
}

/* Status of a step whose calls may fail because the states are outside of the model's domain. */
static yk_status tolerate_discard(const yk_fmi_instance *instance, yk_status status)
{
    if (status != YK_OK && instance->discarded && !instance->dead)
        return YK_NOT_CONVERGED;
    return status;
}

static yk_status exchange_rate(void *user, double t, const double *x, double *rate)
{
    yk_fmu *self = user;
    yk_fmi_instance *instance = self->instance;
    yk_status status = visit(self, t, x);
    if (status == YK_OK)
        status = instance->calls->rates(instance, rate, self->state_count);
    return tolerate_discard(instance, status);
}

/* Columns of the Jacobian by one-sided differences. */
static yk_status difference_rates(yk_fmu *self, double t, const double *x, const double *rate,
                                  double *jacobian)
{
    int n = self->state_count;
    double *moved = self->trial_states;
    double *moved_rate = self->trial_states + n;
    memcpy(moved, x, (size_t)n * sizeof *moved);

    for (int c = 0; c < n; c++) {
        /* The actual difference after rounding. */
        double wanted = sqrt(DBL_EPSILON) * fmax(fabs(x[c]), self->nominal[c]);
        moved[c] = x[c] + copysign(wanted, rate[c]);
        double difference = moved[c] - x[c];

        yk_status status = exchange_rate(self, t, moved, moved_rate);
        if (status != YK_OK)
            return status;

        moved[c] = x[c];
        for (int r = 0; r < n; r++)
            jacobian[r * n + c] = (moved_rate[r] - rate[r]) / difference;
    }

    return YK_OK;
}

static yk_status exchange_jacobian(void *user, double t, const double *x, const double *rate,
                                   double *jacobian)
{
    yk_fmu *self = user;
    yk_fmi_instance *instance = self->instance;
    const yk_fmi_description *d = &self->description;
    int n = self->state_count;
    if (!self->jacobian_given)
        return difference_rates(self, t, x, rate, jacobian);

    double *column = self->trial_states;
    yk_status status = visit(self, t, x);
    for (int c = 0; c < n && status == YK_OK; c++) {
        uint32_t state = d->variables[d->states[c]].reference;
        status = instance->calls->directional(instance, self->rate_references, n, state, column);
        for (int r = 0; r < n; r++)
            jacobian[r * n + c] = column[r];
    }

    return tolerate_discard(instance, status);
}

yk_status yk_fmu_prepare_integrator(yk_fmu *self, const yk_fmu_def *def)
{
    const double TOLERANCE = 1e-8;
    const yk_fmi_description *d = &self->description;
    yk_context *context = self->context;
    size_t n = (size_t)self->state_count;

    /* NaN: the description does not give any. */
    double relative = TOLERANCE;
    if (def->tolerance > 0)
        relative = def->tolerance;
    else if (d->tolerance > 0)
        relative = d->tolerance;
    self->absolute = def->absolute_tolerance;
    if (!(self->absolute > 0))
        self->absolute = 0.01 * relative;
    if (d->step_size > 0)
        self->event_spacing = d->step_size;

    self->trial_states = yk_allocate(context, 2 * n + 1, sizeof *self->trial_states);
    self->nominal = yk_allocate(context, n + 1, sizeof *self->nominal);
    self->tolerances = yk_allocate(context, n + 1, sizeof *self->tolerances);
    self->rate_references = yk_allocate(context, n + 1, sizeof *self->rate_references);
    if (!self->trial_states || !self->nominal || !self->tolerances || !self->rate_references)
        return YK_ERROR_MEMORY;

    /* FMI has no derivatives by single elements of arrays. */
    self->jacobian_given =
        def->derivatives && self->instance->can->directional && self->state_count == d->state_count;
    for (int i = 0; i < d->state_count; i++)
        self->jacobian_given = self->jacobian_given && d->variables[d->states[i]].size == 1;
    for (int i = 0; i < d->state_count && self->jacobian_given; i++)
        self->rate_references[i] = d->variables[d->derivatives[i]].reference;

    self->problem = (yk_stiff_problem){.n = self->state_count,
                                       .rate = exchange_rate,
                                       .jacobian = exchange_jacobian,
                                       .user = self,
                                       .relative = relative,
                                       .absolute = self->tolerances};
    return yk_stiff_create(context, &self->problem, &self->integrator);
}

void yk_fmu_release_integrator(yk_fmu *self)
{
    yk_stiff_destroy(self->integrator);
    yk_free(self->context, self->trial_states);
    yk_free(self->context, self->nominal);
    yk_free(self->context, self->tolerances);
    yk_free(self->context, self->rate_references);
}

/* Starts the integrator at the present states. An event may have changed the nominal values. */
static yk_status restart_integrator(yk_fmu *self, double t, double proposal)
{
    yk_fmi_instance *instance = self->instance;
    yk_status status = YK_OK;
    if (self->state_count > 0)
        status = instance->calls->nominals(instance, self->nominal, self->state_count);
    if (status != YK_OK)
        return status;

    for (int i = 0; i < self->state_count; i++) {
        double nominal = fabs(self->nominal[i]);
        if (!(nominal > 0) || !isfinite(nominal))
            nominal = 1;
        self->nominal[i] = nominal;
        self->tolerances[i] = self->absolute * nominal;
    }
    yk_stiff_restart(self->integrator, t, self->x, proposal);
    return YK_OK;
}

/* Takes the FMU to the fraction theta of the last step, which began at t, with the states `x` there.
 * `changed` says whether an indicator has another sign than z_before; zero counts as negative. */
static yk_status test_indicators(yk_fmu *self, double t, double theta, double *x, bool *changed)
{
    yk_fmi_instance *instance = self->instance;
    *changed = false;
    yk_stiff_interpolate(self->integrator, theta, x);
    yk_status status = visit(self, t + theta * yk_stiff_size(self->integrator), x);
    if (status == YK_OK && self->indicator_count > 0)
        status = instance->calls->indicators(instance, self->z, self->indicator_count);

    for (int i = 0; i < self->indicator_count && status == YK_OK; i++)
        *changed = *changed || (self->z[i] > 0) != (self->z_before[i] > 0);
    return status;
}

/* The part of a step up to its first state event, or all of it. */
typedef struct event_search {
    bool found;
    double theta; /* fraction of the step at which it ends */
} event_search;

/* Searches the last step, which began at t. Indicators are tested at places no further apart than
 * `spacing`, in s. The FMU stays at the end that was found, with the states `x`. */
static yk_status find_event(yk_fmu *self, double t, double spacing, double *x, event_search *search)
{
    double size = yk_stiff_size(self->integrator);
    int places = 1;
    if (self->indicator_count > 0)
        places = (int)fmin(1000, fmax(1, ceil(size / spacing * (1 - 1e-9))));

    *search = (event_search){.theta = 1};
    double low = 0;
    for (int i = 1; i <= places; i++) {
        search->theta = i == places ? 1 : (double)i / places;
        yk_status status = test_indicators(self, t, search->theta, x, &search->found);
        if (status != YK_OK)
            return status;
        if (search->found)
            break;
        low = search->theta;
    }
    if (!search->found)
        return YK_OK;

    double tolerance = 2 * DBL_EPSILON * fabs(t) / size + 1e-14;
    bool at_event = true;
    while (search->theta - low > tolerance) {
        double middle = 0.5 * (low + search->theta);
        yk_status status = test_indicators(self, t, middle, x, &at_event);
        if (status != YK_OK)
            return status;
        if (at_event)
            search->theta = middle;
        else
            low = middle;
    }

    bool changed;
    if (at_event)
        return YK_OK;
    return test_indicators(self, t, search->theta, x, &changed);
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

    /* An event may change the continuous states, as for a bouncing ball. */
    if (status == YK_OK && changed && self->state_count > 0)
        status = instance->calls->get_states(instance, self->x, self->state_count);
    return status;
}

yk_status yk_fmu_integrate(yk_fmu *self, double t, double h)
{
    enum { EVENTS_MAX = 10000, STEPS_MAX = 1000000 };
    yk_fmi_instance *instance = self->instance;
    double end = t + h;
    double tolerance = 1e-9 * h;
    double now = t;

    double spacing = h / 10;
    if (self->event_spacing > 0)
        spacing = fmin(spacing, self->event_spacing);

    /* Discontinuous inputs may be set in event mode only. */
    yk_status status = visit(self, now, self->x);
    if (status == YK_OK && self->discrete_inputs)
        status = handle_event(self);
    if (status == YK_OK)
        status = restart_integrator(self, now, self->proposal);

    int events = 0;
    int steps = 0;
    while (status == YK_OK && end - now > tolerance) {
        if (self->indicator_count > 0)
            status = instance->calls->indicators(instance, self->z_before, self->indicator_count);

        /* To the end or to the next time event, in equal parts if the step is limited. */
        double limit = end - now;
        bool timed = self->next_event > now && self->next_event <= end + tolerance;
        if (timed)
            limit = self->next_event - now;
        if (self->longest_step > 0 && limit > self->longest_step) {
            limit /= ceil(limit / self->longest_step * (1 - 1e-9));
            timed = false;
        }

        if (status == YK_OK)
            status = yk_stiff_step(self->integrator, limit);
        if (status == YK_NOT_CONVERGED || ++steps > STEPS_MAX) {
            const char *reason = "the error of even the smallest step is larger";
            if (status == YK_OK)
                reason = "too many steps are needed";
            return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                                 "%s: the integration cannot meet the relative tolerance %g at "
                                 "t = %.9g s: %s. Increase `tolerance` or check the states of the "
                                 "model at this time",
                                 self->file, self->problem.relative, now, reason);
        }

        event_search search = {0};
        if (status == YK_OK)
            status = find_event(self, now, spacing, self->x, &search);
        if (status != YK_OK)
            return status;

        /* A state event before the time event has priority. */
        double size = search.theta * yk_stiff_size(self->integrator);
        timed = timed && size == limit;
        now += size;

        /* The FMU may request an event, or the end. */
        bool asked = false;
        bool terminate = false;
        if (!instance->can->completed_step_unused)
            status = instance->calls->completed_step(instance, &asked, &terminate);

        if (status == YK_OK && terminate)
            return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                                 "%s: the FMU ended the simulation at t = %.9g s", self->file, now);

        if (status == YK_OK && (search.found || timed || asked)) {
            status = handle_event(self);

            /* A model that alternates between events would never reach the end. */
            if (++events > EVENTS_MAX)
                return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                                     "%s: more than %d events in a step that ends at t = %.9g s",
                                     self->file, EVENTS_MAX, end);

            double proposal = yk_stiff_proposal(self->integrator);
            if (status == YK_OK)
                status = restart_integrator(self, now, proposal);
        }
    }

    self->proposal = yk_stiff_proposal(self->integrator);
    return status;
}
