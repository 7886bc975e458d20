/* FMUs behind the contract of yoke/subsystem.h; see fmu.h. */
#include "interop/fmi/fmu.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/fmu_internal.h"
#include "remote/frame.h"

/* Values --------------------------------------------------------------------------------------- */

/* Whether a variable belongs to clocks, none of which is active. */
static bool is_asleep(const yk_fmu *self, const yk_fmi_variable *v)
{
    if (!v->clocks[0])
        return false;

    /* The references of its clocks, with spaces between them. */
    const char *at = v->clocks;
    char *end;
    for (unsigned long reference = strtoul(at, &end, 10); end != at;
         at = end, reference = strtoul(at, &end, 10))
        for (int i = 0; i < self->clock_count; i++)
            if (self->clocks[i]->reference == reference && self->active[i])
                return false;
    return true;
}

yk_status yk_fmu_set_inputs(yk_fmu *self, bool discrete)
{
    const yk_fmu_list *list = &self->inputs;
    yk_fmi_instance *instance = self->instance;
    yk_status status = YK_OK;

    /* Continuous variables in one call; most FMUs have no others. */
    if (list->real_count > 0)
        status = instance->calls->set(instance, YK_FMI_FLOAT64, list->references, list->real_count,
                                      list->values, list->real_values);
    if (!discrete)
        return status;

    /* Integers, booleans and similar types one by one, each by the call of its type. */
    for (int i = list->real_count; i < list->count && status == YK_OK; i++) {
        const yk_fmi_variable *v = &self->description.variables[list->variables[i]];
        if (is_asleep(self, v))
            continue;

        status = instance->calls->set(instance, v->type, &list->references[i], 1,
                                      &list->values[list->first[i]], v->size);
    }

    return status;
}

static yk_status read_list(yk_fmu *self, yk_fmu_list *list)
{
    /* Real numbers in one call, the rest one by one. */
    yk_fmi_instance *instance = self->instance;
    yk_status status = YK_OK;
    if (list->real_count > 0)
        status = instance->calls->get(instance, YK_FMI_FLOAT64, list->references, list->real_count,
                                      list->values, list->real_values);

    for (int i = list->real_count; i < list->count && status == YK_OK; i++) {
        const yk_fmi_variable *v = &self->description.variables[list->variables[i]];
        status = instance->calls->get(instance, v->type, &list->references[i], 1,
                                      &list->values[list->first[i]], v->size);
    }

    return status;
}

/* Outputs at the end of a step of size h, with the rates that the FMU does not have; h = 0: at the
 * start, where differences are unknown. */
static yk_status read_outputs(yk_fmu *self, double h)
{
    yk_fmu_list *list = &self->outputs;
    size_t values = (size_t)(list->value_count + self->derived_count);

    /* The previous values are needed if a rate is a difference. */
    if (self->rate_count > 0)
        memcpy(self->before, list->values, values * sizeof *self->before);
    yk_status status = read_list(self, list);
    if (status != YK_OK)
        return status;

    /* Rates that are not variables: differences, if the FMU does not provide them. */
    yk_fmi_instance *instance = self->instance;
    for (int i = 0; i < self->rate_count && status == YK_OK; i++) {
        int from = self->rates[i].from;
        double *to = &list->values[self->rates[i].to];
        uint32_t reference = self->rates[i].reference;
        const int order = 1;
        *to = 0;

        if (self->rates[i].asked)
            status = instance->calls->output_rates(instance, &reference, 1, &order, to);
        else if (h > 0)
            *to = (list->values[from] - self->before[from]) / h;
    }

    /* An internal failure of the FMU appears here first. */
    for (size_t i = 0; i < values && status == YK_OK; i++)
        if (!isfinite(list->values[i]))
            status = yk_fmi_refuse(instance, YK_ERROR_NOT_FINITE,
                                   "%s: an output is no longer finite", self->file);
    return status;
}

/* Events --------------------------------------------------------------------------------------- */

yk_status yk_fmu_update(yk_fmu *self, bool *states_changed)
{
    enum { UPDATES_MAX = 1000 };
    yk_fmi_instance *instance = self->instance;
    yk_fmi_event event = {.again = true};
    *states_changed = false;

    for (int i = 0; event.again; i++) {
        /* New discrete states may change others: repeat until none changes. */
        if (i == UPDATES_MAX)
            return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                                 "%s: its discrete states still change after %d updates at one "
                                 "event",
                                 self->file, UPDATES_MAX);

        yk_status status = instance->calls->update(instance, &event);
        if (status != YK_OK)
            return status;

        *states_changed = *states_changed || event.states_changed;
        if (event.terminate)
            return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                                 "%s: the FMU ended the simulation%s%s", self->file,
                                 yk_fmi_log_link(instance), instance->log);
    }

    self->next_event = event.next;
    return YK_OK;
}

/* The next activation of a clock. */
static double clock_time(const yk_fmu *self, int clock)
{
    const yk_fmi_variable *c = self->clocks[clock];
    return self->start + c->shift + self->ticks[clock] * c->interval;
}

/* In event mode: the clocks that tick now, then discrete states that depend on them and on inputs,
 * which are set if there are any. */
static yk_status tick(yk_fmu *self, double t, double tolerance, bool with_inputs)
{
    yk_fmi_instance *instance = self->instance;
    yk_status status = YK_OK;

    /* Times that differ by rounding errors are the same event. */
    for (int i = 0; i < self->clock_count && status == YK_OK; i++) {
        if (clock_time(self, i) > t + tolerance)
            continue;

        status = instance->calls->set_clock(instance, self->clocks[i]->reference);
        self->active[i] = true;
        self->ticks[i]++;
    }

    /* Inputs of clocks may be set only while these are active. */
    if (status == YK_OK && with_inputs)
        status = yk_fmu_set_inputs(self, true);
    bool changed;
    if (status == YK_OK)
        status = yk_fmu_update(self, &changed);

    /* An update ends the activation of all clocks. */
    for (int i = 0; i < self->clock_count; i++)
        self->active[i] = false;
    return status;
}

/* Event mode of co-simulation at the time t. */
static yk_status handle_event(yk_fmu *self, double t, double tolerance)
{
    yk_fmi_instance *instance = self->instance;
    yk_status status = instance->calls->event_mode(instance);
    if (status == YK_OK)
        status = tick(self, t, tolerance, true);
    if (status == YK_OK)
        status = instance->calls->step_mode(instance);
    return status;
}

static double next_event(const yk_subsystem *subsystem, double t)
{
    /* The next event announced by the FMU, and the next tick of a clock. */
    const yk_fmu *self = (const yk_fmu *)subsystem;
    double next = INFINITY;
    if (self->next_event > t)
        next = self->next_event;

    for (int i = 0; i < self->clock_count; i++) {
        double tick = clock_time(self, i);
        if (tick > t)
            next = fmin(next, tick);
    }

    return next;
}

/* Start ---------------------------------------------------------------------------------------- */

/* Returns the FMU to its state before the initialization. */
static yk_status make_new(yk_fmu *self)
{
    /* After a fatal error the standard allows no call at all. */
    yk_fmi_instance *instance = self->instance;
    if (instance->dead)
        return YK_ERROR_SUBSYSTEM;

    if (self->started && instance->component) {
        if (instance->calls->reset(instance) == YK_OK)
            return YK_OK;

        /* Not every FMU can be reset, despite the standard: then it is instantiated again, after
         * the states that belong to it are released. */
        for (int i = 0; i < YK_FMU_STATES_KEPT; i++)
            instance->calls->state_free(instance, &self->kept[i]);
        instance->calls->state_free(instance, &self->scratch_state);
        instance->calls->release(instance);
    }

    if (!instance->component)
        return instance->calls->instantiate(instance);
    return YK_OK;
}

/* Reads the size of a serialized state, once after each start. */
static yk_status measure_state(yk_fmu *self)
{
    yk_fmi_instance *instance = self->instance;
    if (self->state_measured || !instance->can->serialises)
        return YK_OK;

    self->state_measured = true;
    self->state_bytes = 0;
    yk_status status = instance->calls->state_get(instance, &self->scratch_state);
    if (status == YK_OK)
        status = instance->calls->state_size(instance, self->scratch_state, &self->state_bytes);
    return status;
}

static yk_status start(yk_subsystem *subsystem, double t, double h, const yk_input *inputs)
{
    yk_fmu *self = (yk_fmu *)subsystem;
    yk_fmi_instance *instance = self->instance;
    const yk_fmi_calls *calls = instance->calls;
    (void)h;

    /* Clocks count their intervals from here. */
    self->start = t;
    self->next_event = INFINITY;
    self->proposal = 0;
    for (int i = 0; i < self->clock_count; i++)
        self->ticks[i] = 0;

    yk_status status = make_new(self);
    self->started = true;
    if (status != YK_OK)
        return status;

    /* Parameters and start values, which must be set before the initialization. */
    for (int i = 0; i < self->setting_count; i++) {
        const yk_fmu_setting *s = &self->settings[i];
        const yk_fmi_variable *v = &self->description.variables[self->setting_variables[i]];

        if (s->text)
            status = calls->set_text(instance, v->reference, s->text);
        else
            status = calls->set(instance, v->type, &v->reference, 1, s->values, v->size);

        if (status == YK_OK)
            continue;

        /* Name the variable, after the FMU's message. */
        char reason[sizeof instance->message];
        snprintf(reason, sizeof reason, "%s", instance->message);
        return yk_fmi_refuse(instance, status, "%.400s, when '%.100s' was set", reason, v->name);
    }

    /* Inputs from the partners. Other inputs keep the values of the FMU. */
    status = calls->begin(instance, t);
    if (status == YK_OK)
        status = read_list(self, &self->inputs);

    if (status == YK_OK && inputs) {
        yk_fmu_fill(self, inputs, 0, 0);
        status = yk_fmu_set_inputs(self, true);
    }

    if (status == YK_OK)
        status = calls->initialise(instance);

    /* The events of the start: both kinds come out of the initialisation in event mode. */
    bool exchange = instance->exchange;
    if (status == YK_OK && (exchange || instance->events)) {
        /* Clocks without a shift tick at the start. */
        status = tick(self, t, 0, inputs && self->clock_count > 0);
        if (status == YK_OK && exchange)
            status = calls->continuous_mode(instance);
        else if (status == YK_OK)
            status = calls->step_mode(instance);
    }

    /* Present outputs. */
    if (status == YK_OK && exchange && self->state_count > 0)
        status = calls->get_states(instance, self->x, self->state_count);
    if (status == YK_OK)
        status = read_outputs(self, 0);

    /* The size of a saved state is known after the initialization. */
    self->state_measured = false;
    if (status == YK_OK && self->ops.rollback && self->state_use != YK_STATES_UNUSED)
        status = measure_state(self);
    return status;
}

/* Steps ---------------------------------------------------------------------------------------- */

/* Co-simulation from t to t + h with inputs that have been set: the FMU may return early, at an
 * event or by its own decision, and then continues from there. */
static yk_status advance(yk_fmu *self, double t, double h)
{
    yk_fmi_instance *instance = self->instance;
    double end = t + h;
    double now = t;
    double rest = h;

    /* Times that are equal within rounding errors, which matters late in a long run. */
    double tolerance = fmax(1e-9 * h, 4 * DBL_EPSILON * fabs(end));

    while (rest > tolerance) {
        /* To the next event that is known, or to the end. */
        double event_time = INFINITY;
        if (instance->events)
            event_time = next_event(&self->subsystem, now + tolerance);
        double size = rest;
        if (event_time < end - tolerance)
            size = event_time - now;

        double reached;
        bool event;
        yk_status status = instance->calls->step(instance, now, size, &reached, &event);
        if (status != YK_OK)
            return status;

        /* An FMU that stops at an event need not have advanced. */
        if (!(reached > now) && !event)
            return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                                 "%s: the FMU makes no progress at t = %.9g s", self->file, now);

        /* Events that it found, and those that are due. */
        now = reached;
        rest = end - now;
        if (!instance->events)
            continue;

        bool due = next_event(&self->subsystem, now - 2 * tolerance) <= now + tolerance;
        if (event || due)
            status = handle_event(self, now, tolerance);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* FMI 3: inputs at a time within the step. */
static void intermediate(void *user, double t)
{
    yk_fmu *self = user;
    const yk_fmu_list *list = &self->inputs;
    yk_fmi_instance *instance = self->instance;
    if (!self->step_inputs)
        return;

    /* Only those that may be set at such a time. */
    yk_fmu_fill_within(self, self->step_inputs, t - self->step_begin);
    for (int i = 0; i < list->real_count; i++) {
        const yk_fmi_variable *v = &self->description.variables[list->variables[i]];

        if (v->intermediate)
            instance->calls->set(instance, YK_FMI_FLOAT64, &list->references[i], 1,
                                 &list->values[list->first[i]], v->size);
    }
}

/* One piece of a co-simulation step, between two local times of its inputs. */
static yk_status step_piece(yk_fmu *self, double from, double to, bool held)
{
    yk_fmi_instance *instance = self->instance;
    const yk_fmu_list *list = &self->inputs;
    const yk_input *inputs = self->step_inputs;
    double t = self->step_begin;

    /* FMI 2 follows lines if supported; all other inputs get constant values for the piece. */
    bool lines = instance->can->interpolates_inputs && self->description.version == 2;
    if (lines && !held)
        yk_fmu_fill_lines(self, inputs, from, to);
    else
        yk_fmu_fill(self, inputs, from, to);

    /* Set discontinuous inputs at an event; then the rates that make lines of the values. */
    yk_status status = YK_OK;
    if (self->discrete_inputs)
        status = handle_event(self, t + from, 1e-9 * (to - from));
    else
        status = yk_fmu_set_inputs(self, true);

    /* Constant values have no slopes; remove those of the previous step. */
    if (lines && held)
        memset(self->input_rates, 0, (size_t)list->value_count * sizeof(double));

    if (status == YK_OK && lines && list->real_count > 0)
        status = instance->calls->input_rates(instance, list->references, list->real_count,
                                              self->orders, self->input_rates);

    if (status == YK_OK)
        status = advance(self, t + from, to - from);
    return status;
}

yk_status yk_fmu_step(yk_subsystem *subsystem, double t, double h, const yk_input *inputs)
{
    yk_fmu *self = (yk_fmu *)subsystem;
    bool exchange = self->instance->exchange;
    bool held = yk_fmu_inputs_are_held(self, inputs);
    self->step_inputs = inputs;
    self->step_begin = t;

    /* In equal pieces if steps are limited; a ratio that is an integer within rounding errors
     * counts as one. */
    int pieces = 1;
    if (self->longest_step > 0 && !exchange)
        pieces = (int)fmax(1, ceil(h / self->longest_step * (1 - 1e-9)));

    yk_status status = YK_OK;
    for (int i = 0; i < pieces && status == YK_OK; i++) {
        double from = h * i / pieces;
        double to = h * (i + 1) / pieces;

        if (exchange)
            status = yk_fmu_integrate(self, t + from, to - from);
        else
            status = step_piece(self, from, to, held);
    }

    /* Outputs with direct feed-through belong to the inputs at the end. */
    if (status == YK_OK && self->inputs.count > 0 && !held) {
        yk_fmu_fill(self, inputs, h, h);
        status = yk_fmu_set_inputs(self, !self->discrete_inputs);
    }

    /* The caller owns the inputs, which are valid until the step returns. */
    self->step_inputs = NULL;
    if (status == YK_OK)
        status = read_outputs(self, h);
    return status;
}

/* Rollback ------------------------------------------------------------------------------------- */

/* The image: continuous states of model exchange, values of inputs and outputs, times of events,
 * the next step size of the integrator, then the FMU's own state: its size and bytes, or the number
 * of a stored state. */
static size_t value_words(const yk_fmu *self)
{
    return (size_t)(self->state_count + self->inputs.value_count + self->outputs.value_count +
                    self->derived_count + self->clock_count + 2);
}

static yk_state_layout state_layout(const yk_subsystem *subsystem)
{
    /* Request a state of the FMU only when the first image is needed, because some FMUs crash on
     * it. */
    yk_fmu *self = (yk_fmu *)(uintptr_t)subsystem;
    if (measure_state(self) != YK_OK) {
        yk_log(self->context, YK_LOG_WARNING, "%s", self->instance->message);
        return (yk_state_layout){0};
    }

    /* States of an FMU may change in size: the image has memory for the one at the start. */
    size_t bytes = sizeof(uint64_t);
    if (self->state_bytes > 0)
        bytes = self->state_bytes;

    return (yk_state_layout){.word_count = value_words(self) + 1 + (bytes + 7) / 8,
                             .continuous_count = (size_t)self->state_count};
}

/* Copies all values to the image, or from it. */
static void move_values(yk_fmu *self, double *image, bool save)
{
    size_t output_count = (size_t)(self->outputs.value_count + self->derived_count);
    struct {
        double *values;
        size_t count;
    } pieces[] = {
        {self->x, (size_t)self->state_count},
        {self->inputs.values, (size_t)self->inputs.value_count},
        {self->outputs.values, output_count},
        {self->ticks, (size_t)self->clock_count},
        {&self->next_event, 1},
        {&self->proposal, 1},
    };

    /* The order is that of the image. */
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t bytes = pieces[i].count * sizeof(double);

        if (bytes > 0 && save)
            memcpy(image, pieces[i].values, bytes);
        else if (bytes > 0)
            memcpy(pieces[i].values, image, bytes);
        image += pieces[i].count;
    }
}

/* For an FMU that cannot serialize, states are kept in the FMU, and the image has their number. */
static bool image_is_local(const yk_subsystem *subsystem)
{
    const yk_fmu *self = (const yk_fmu *)subsystem;
    return !self->instance->can->serialises || (self->state_measured && self->state_bytes == 0);
}

static void expect_states(yk_subsystem *subsystem, yk_state_use use)
{
    yk_fmu *self = (yk_fmu *)subsystem;
    self->state_use = use;
    self->instance->returns = use == YK_STATES_RESTORED;
}

static void state_get(const yk_subsystem *subsystem, double *image)
{
    /* Reading changes only memory of the FMU for its states. */
    yk_fmu *self = (yk_fmu *)(uintptr_t)subsystem;
    yk_fmi_instance *instance = self->instance;
    const yk_fmi_calls *calls = instance->calls;
    move_values(self, image, true);

    /* The state itself in bytes, or the number of a state stored here. */
    double *tail = image + value_words(self);
    uint64_t mark = 0; /* 0: the FMU did not give its state */
    memset(tail, 0, (state_layout(subsystem).word_count - value_words(self)) * sizeof *tail);

    /* A state that has become larger does not fit, and cannot be restored. */
    if (self->state_bytes > 0) {
        size_t size = 0;
        bool good = calls->state_get(instance, &self->scratch_state) == YK_OK &&
                    calls->state_size(instance, self->scratch_state, &size) == YK_OK &&
                    size <= self->state_bytes &&
                    calls->serialise(instance, self->scratch_state, tail + 1, size) == YK_OK;
        if (good)
            mark = size;
    } else {
        uint64_t number = self->kept_count++;
        void **kept = &self->kept[number % YK_FMU_STATES_KEPT];
        if (calls->state_get(instance, kept) == YK_OK)
            mark = number + 1;
    }

    memcpy(tail, &mark, sizeof mark);
}

static yk_status state_set(yk_subsystem *subsystem, const double *image)
{
    /* Reading a state cannot fail according to the contract: the failure appears here. */
    yk_fmu *self = (yk_fmu *)subsystem;
    yk_fmi_instance *instance = self->instance;
    const double *tail = image + value_words(self);
    uint64_t mark;
    memcpy(&mark, tail, sizeof mark);
    if (mark == 0)
        return yk_fmi_refuse(instance, YK_ERROR_SUBSYSTEM,
                             "%s: the FMU did not give the state to which it is to return",
                             self->file);

    /* Bytes may come from another process; a number refers to a state in this one. */
    yk_status status;
    if (self->state_bytes > 0) {
        status = instance->calls->deserialise(instance, tail + 1, mark, &self->scratch_state);
        if (status == YK_OK)
            status = instance->calls->state_set(instance, self->scratch_state);
    } else {
        /* Handles are reused: an older state has been replaced. */
        uint64_t number = mark - 1;
        if (number + YK_FMU_STATES_KEPT < self->kept_count || number >= self->kept_count)
            return yk_fmi_refuse(instance, YK_ERROR_CAPABILITY,
                                 "%s: the state to which it is to return is older than the last "
                                 "%d, and the FMU cannot serialise its state",
                                 self->file, YK_FMU_STATES_KEPT);

        status = instance->calls->state_set(instance, self->kept[number % YK_FMU_STATES_KEPT]);
    }

    if (status != YK_OK)
        return status;

    /* The image may have been changed in its continuous states. */
    double *values = self->before + self->outputs.value_count + self->derived_count;
    memcpy(values, image, value_words(self) * sizeof *values);
    move_values(self, values, false);

    if (self->state_count > 0)
        status = instance->calls->set_states(instance, self->x, self->state_count);
    return status;
}

/* Operations ----------------------------------------------------------------------------------- */

static int get_ports(const yk_subsystem *subsystem, const yk_port **list)
{
    const yk_fmu *self = (const yk_fmu *)subsystem;
    *list = self->ports;
    return self->port_count;
}

static yk_status connect(yk_subsystem *subsystem, int port, yk_causality causality,
                         unsigned constrained)
{
    yk_fmu *self = (yk_fmu *)subsystem;

    /* The variables of a port determine its causality. */
    (void)constrained;
    if (port < 0 || port >= self->port_count || self->maps[port].takes != causality)
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "%s: port %d cannot be connected like this", self->file, port);

    self->maps[port].connected = true;
    return YK_OK;
}

static void output(const yk_subsystem *subsystem, int port, yk_port_value *value)
{
    yk_fmu_read_port((const yk_fmu *)subsystem, port, value);
}

static const char *message(const yk_subsystem *subsystem)
{
    return ((const yk_fmu *)subsystem)->instance->message;
}

/* FMUs of FMI 3 that request their inputs within a step follow them. */
static int input_degree(const yk_subsystem *subsystem)
{
    const yk_fmu *self = (const yk_fmu *)subsystem;
    const yk_fmi_description *d = &self->description;
    const yk_fmi_instance *instance = self->instance;

    /* Our own integrator evaluates the inputs at every stage. */
    if (instance->exchange)
        return YK_INPUT_DEGREE_MAX;

    /* Ports with power count; signals are lines at most. */
    bool asks = false;
    bool holds = false;
    bool wrench = false;
    for (int i = 0; i < self->port_count; i++) {
        const yk_fmu_port *port = &self->maps[i];
        bool powered =
            port->takes == YK_CAUSALITY_WRENCH_INPUT || port->takes == YK_CAUSALITY_MOTION_INPUT;
        asks = asks || (powered && port->asks);
        holds = holds || (powered && !port->asks);
        wrench = wrench || port->takes == YK_CAUSALITY_WRENCH_INPUT;
    }

    /* FMUs of Yoke declare it; in FMI 2, cubics of motions are transferred by their ends, wrenches
     * as lines. */
    if (d->input_degree >= 0 && (d->version == 3 || !wrench))
        return d->input_degree;
    if (d->version == 2)
        return instance->can->interpolates_inputs;

    /* FMI 3: one port that does not request its inputs limits all of them. */
    if (holds)
        return 0;

    if (asks)
        return YK_INPUT_DEGREE_MAX;
    return 0;
}

static int get_channels(const yk_subsystem *subsystem, const yk_channel **list)
{
    const yk_fmu *self = (const yk_fmu *)subsystem;
    *list = self->channels;
    return self->channel_count;
}

static void channel_read(const yk_subsystem *subsystem, int channel, double *values)
{
    const yk_fmu *self = (const yk_fmu *)subsystem;
    const yk_fmi_variable *v = &self->description.variables[self->channel_variables[channel]];
    yk_fmi_instance *instance = self->instance;

    /* A value that cannot be read is recorded as missing. */
    if (instance->calls->get(instance, v->type, &v->reference, 1, values, v->size) == YK_OK)
        return;

    for (int i = 0; i < v->size; i++)
        values[i] = NAN;
}

static void destroy_list(yk_fmu *self, yk_fmu_list *list)
{
    yk_free(self->context, list->variables);
    yk_free(self->context, list->references);
    yk_free(self->context, list->first);
    yk_free(self->context, list->values);
}

static void destroy(yk_subsystem *subsystem)
{
    yk_fmu *self = (yk_fmu *)subsystem;
    if (!self)
        return;

    yk_context *context = self->context;
    yk_fmi_instance *instance = self->instance;

    /* Release states before their instance. */
    if (instance && instance->component && !instance->dead) {
        for (int i = 0; i < YK_FMU_STATES_KEPT; i++)
            instance->calls->state_free(instance, &self->kept[i]);
        instance->calls->state_free(instance, &self->scratch_state);
    }

    yk_fmi_unload(instance);

    /* Ports and values. */
    for (int i = 0; self->ports && i < self->port_count; i++)
        yk_free(context, (void *)(uintptr_t)self->ports[i].name);
    yk_free(context, self->ports);
    yk_free(context, self->maps);

    destroy_list(self, &self->inputs);
    destroy_list(self, &self->outputs);

    yk_free(context, self->rates);
    yk_free(context, self->before);
    yk_free(context, self->input_rates);
    yk_free(context, self->orders);

    /* Copies of the def's arrays, and the memory of a step. */
    for (int i = 0; self->settings && i < self->setting_count; i++) {
        yk_free(context, (void *)(uintptr_t)self->settings[i].values);
        yk_free(context, (void *)(uintptr_t)self->settings[i].text);
    }
    yk_free(context, self->settings);
    yk_free(context, self->setting_variables);
    yk_free(context, self->channels);
    yk_free(context, self->channel_variables);
    yk_free(context, self->clocks);
    yk_free(context, self->active);
    yk_free(context, self->ticks);
    yk_free(context, self->x);
    yk_fmu_release_integrator(self);
    yk_free(context, self->z);
    yk_free(context, self->sensitivity_work);

    /* Remove the folder into which it was unpacked, unless another object owns it. */
    yk_fmi_forget(context, &self->description);
    if (self->borrowed)
        yk_free(context, self->folder);
    else
        yk_archive_remove(context, self->folder);

    yk_free(context, self->file);
    yk_free(context, self);
}

/* Creation ------------------------------------------------------------------------------------- */

yk_fmu_def yk_fmu_default(void)
{
    return (yk_fmu_def){.name = "fmu", .derivatives = true, .deadline = 30};
}

/* Values before the start, checked and copied. */
static yk_status copy_settings(yk_fmu *self, const yk_fmu_def *def)
{
    size_t count = (size_t)def->setting_count + 1;
    self->settings = yk_allocate(self->context, count, sizeof *self->settings);
    self->setting_variables = yk_allocate(self->context, count, sizeof *self->setting_variables);
    if (!self->settings || !self->setting_variables)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < def->setting_count; i++) {
        const yk_fmu_setting *from = &def->settings[i];
        yk_fmu_setting *to = &self->settings[self->setting_count++];

        int variable = yk_fmi_find(&self->description, from->variable);
        char hint[160];
        if (variable < 0)
            return yk_fail(self->context, YK_ERROR_INPUT,
                           "%s: there is no variable '%s' to be set%s", self->file, from->variable,
                           yk_fmi_suggest(&self->description, from->variable, hint));

        /* A number for a number, a text for a text, and as many as there are elements. */
        const yk_fmi_variable *v = &self->description.variables[variable];
        bool text = v->type == YK_FMI_STRING;
        if (text != (from->text != NULL) || (!text && !yk_fmi_type_is_number(v->type)))
            return yk_fail(self->context, YK_ERROR_INPUT,
                           "%s: the variable '%s' is of type %s and cannot be set to %s",
                           self->file, v->name, yk_fmi_type_name(v->type),
                           from->text ? "a text" : "a number");
        if (!text && from->count != v->size)
            return yk_fail(self->context, YK_ERROR_INPUT,
                           "%s: the variable '%s' has %d element%s, %d value%s given", self->file,
                           v->name, v->size, v->size == 1 ? "" : "s", from->count,
                           from->count == 1 ? " was" : "s were");

        /* Some variables are constant. */
        bool fixed = strcmp(v->variability, "constant") == 0 ||
                     v->causality == YK_FMI_CALCULATED_PARAMETER ||
                     v->causality == YK_FMI_STRUCTURAL_PARAMETER ||
                     v->causality == YK_FMI_INDEPENDENT;
        const char *why = yk_fmi_causality_name(v->causality);
        if (v->causality == YK_FMI_LOCAL)
            why = "constant";
        if (fixed)
            return yk_fail(self->context, YK_ERROR_INPUT,
                           "%s: the variable '%s' cannot be set: it is %s", self->file, v->name,
                           why);

        /* The caller's values may be released before the FMU is initialized again. */
        self->setting_variables[i] = variable;
        if (text) {
            to->text = yk_text_copy(self->context, from->text);
            if (!to->text)
                return YK_ERROR_MEMORY;
            continue;
        }

        double *values = yk_allocate(self->context, (size_t)from->count + 1, sizeof *values);
        if (!values)
            return YK_ERROR_MEMORY;

        memcpy(values, from->values, (size_t)from->count * sizeof *values);
        to->values = values;
        to->count = from->count;
    }

    return YK_OK;
}

/* Outputs that are not ports, and requested channels. */
static yk_status list_channels(yk_fmu *self, const yk_fmu_def *def)
{
    const yk_fmi_description *d = &self->description;
    size_t most = (size_t)d->variable_count + (size_t)def->channel_count + 1;
    self->channels = yk_allocate(self->context, most, sizeof *self->channels);
    self->channel_variables = yk_allocate(self->context, most, sizeof *self->channel_variables);
    if (!self->channels || !self->channel_variables)
        return YK_ERROR_MEMORY;

    /* First all variables, of which the outputs are taken, then those that were asked for. */
    for (int i = 0; i < d->variable_count + def->channel_count; i++) {
        int variable = i;
        bool wanted = i >= d->variable_count;
        if (wanted) {
            const char *name = def->channels[i - d->variable_count];
            variable = yk_fmi_find(d, name);
            char hint[160];
            if (variable < 0)
                return yk_fail(self->context, YK_ERROR_INPUT,
                               "%s: there is no variable '%s' to be recorded%s", self->file, name,
                               yk_fmi_suggest(d, name, hint));
        }

        const yk_fmi_variable *v = &d->variables[variable];

        /* Numbers, and no arrays that would fill a record. */
        bool usable = yk_fmi_type_is_number(v->type) && v->size >= 1 && v->size <= 64;
        if (!usable || (!wanted && v->causality != YK_FMI_OUTPUT))
            continue;

        /* Variables of a port are recorded with the port. */
        bool is_port = false;
        for (int k = 0; k < self->port_count; k++)
            is_port = is_port || strcmp(self->ports[k].name, v->name) == 0;
        if (is_port)
            continue;

        self->channel_variables[self->channel_count] = variable;
        self->channels[self->channel_count++] = (yk_channel){
            .name = v->name, .unit = yk_fmi_unit_ours(v->unit), .component_count = v->size};
    }

    return YK_OK;
}

/* The importer must set clocks that tick at known times. */
static yk_status list_clocks(yk_fmu *self)
{
    const yk_fmi_description *d = &self->description;
    size_t count = (size_t)d->variable_count + 1;
    self->clocks = yk_allocate(self->context, count, sizeof *self->clocks);
    self->ticks = yk_allocate(self->context, count, sizeof *self->ticks);
    self->active = yk_allocate(self->context, count, sizeof *self->active);
    if (!self->clocks || !self->ticks || !self->active)
        return YK_ERROR_MEMORY;

    /* Clocks for which the FMU waits; those that it ticks itself need nothing. */
    for (int i = 0; i < d->variable_count; i++) {
        const yk_fmi_variable *v = &d->variables[i];
        if (v->type != YK_FMI_CLOCK || v->causality != YK_FMI_INPUT)
            continue;

        /* A tunable interval is constant, because no parameter is set during a run. */
        static const char *const periodic[] = {"constant", "fixed", "tunable"};
        bool known = false;
        for (int k = 0; k < 3; k++)
            known = known || strcmp(v->ticks, periodic[k]) == 0;

        if (!known)
            return yk_fail(self->context, YK_ERROR_CAPABILITY,
                           "%s: the clock '%s' is an input that is %s; only clocks that tick at "
                           "constant intervals can be used",
                           self->file, v->name, v->ticks[0] ? v->ticks : "of no known interval");
        if (!(v->interval > 0))
            return yk_fail(self->context, YK_ERROR_CAPABILITY,
                           "%s: the description gives no interval of the clock '%s'", self->file,
                           v->name);
        if (!self->instance->can->event_mode)
            return yk_fail(self->context, YK_ERROR_CAPABILITY,
                           "%s: the clock '%s' is an input, but the FMU has no event mode in which "
                           "it could tick",
                           self->file, v->name);

        self->clocks[self->clock_count++] = v;
    }

    return YK_OK;
}

/* Memory for stepping; the instance knows the number of states. */
static yk_status take_memory(yk_fmu *self)
{
    /* In model exchange we store the states and event indicators. */
    yk_fmi_instance *instance = self->instance;
    if (instance->exchange) {
        yk_status status =
            instance->calls->counts(instance, &self->state_count, &self->indicator_count);
        if (status != YK_OK)
            return status;
    }

    size_t states = (size_t)self->state_count;
    size_t inputs = (size_t)self->inputs.value_count;
    size_t outputs = (size_t)(self->outputs.value_count + self->derived_count);
    self->x = yk_allocate(self->context, states + 1, sizeof *self->x);
    self->z = yk_allocate(self->context, 2 * (size_t)self->indicator_count + 1, sizeof *self->z);
    size_t before = outputs + value_words(self) + 1; /* and an image to be set */
    self->before = yk_allocate(self->context, before, sizeof *self->before);
    self->input_rates = yk_allocate(self->context, 2 * inputs + 1, sizeof *self->input_rates);
    self->orders = yk_allocate(self->context, inputs + 1, sizeof *self->orders);
    if (!self->x || !self->z || !self->before || !self->input_rates || !self->orders)
        return YK_ERROR_MEMORY;

    self->z_before = self->z + self->indicator_count;
    for (size_t i = 0; i < inputs; i++)
        self->orders[i] = 1;

    /* Discontinuous inputs may be set in event mode only. */
    bool discrete = self->inputs.count > self->inputs.real_count;
    bool has_events = instance->events || instance->exchange;
    self->discrete_inputs = discrete && has_events;
    return YK_OK;
}

static const yk_rollback_ops rollback_ops = {
    .size = sizeof(yk_rollback_ops), .layout = state_layout, .get = state_get, .set = state_set};
static const yk_sensitivity_ops sensitivity_ops = {
    .size = sizeof(yk_sensitivity_ops), .step_with_sensitivity = yk_fmu_step_sensitivity};
static const yk_event_ops event_ops = {.size = sizeof(yk_event_ops), .next_time = next_event};
static const yk_channel_ops channel_ops = {
    .size = sizeof(yk_channel_ops), .list = get_channels, .read = channel_read};
/* Index in the description of the variable of a signal port; -1: none. */
static int signal_variable(const yk_fmu *self, int port, const yk_fmu_list *list)
{
    const yk_fmu_port *map = &self->maps[port];
    for (int quantity = 0; quantity < YK_FMU_QUANTITIES; quantity++) {
        int value = map->count[quantity] > 0 ? map->at[quantity][0] : -1;
        for (int i = 0; i < list->count && value >= 0; i++) {
            int size = self->description.variables[list->variables[i]].size;
            if (value >= list->first[i] && value < list->first[i] + size)
                return list->variables[i];
        }
    }

    return -1;
}

/* From the model structure. Motions and wrenches of ports with power count as states. */
static bool feeds_through(const yk_subsystem *subsystem, int input, int port, int channel,
                          int component)
{
    (void)component;
    const yk_fmu *self = (const yk_fmu *)subsystem;
    if (port >= 0 && self->ports[port].kind != YK_PORT_SIGNAL)
        return false;

    const yk_fmi_description *d = &self->description;
    int from = signal_variable(self, input, &self->inputs);
    int to =
        port >= 0 ? signal_variable(self, port, &self->outputs) : self->channel_variables[channel];
    bool is_output = to >= 0 && d->variables[to].causality == YK_FMI_OUTPUT;
    return from >= 0 && is_output && yk_fmi_depends(d, to, from);
}

/* The solver inside a co-simulation FMU chooses its steps; so does the error control of model
 * exchange, whose error matters only with a loose tolerance. */
static bool keeps_own_steps(const yk_subsystem *subsystem)
{
    static const double tight_tolerance = 1e-6;
    const yk_fmi_instance *instance = ((const yk_fmu *)subsystem)->instance;
    return !instance->exchange || instance->tolerance > tight_tolerance;
}

static const yk_subsystem_ops fmu_ops = {
    .size = sizeof(yk_subsystem_ops),
    .kind = "fmu",
    .feeds_through = feeds_through,
    .keeps_own_steps = keeps_own_steps,
    .ports = get_ports,
    .connect = connect,
    .initialize = start,
    .step = yk_fmu_step,
    .get_port_value = output,
    .destroy = destroy,
    .last_message = message,
    .max_input_degree = input_degree,
    .port_unit = yk_fmu_port_unit,
    .channels = &channel_ops,
};

/* Creates all parts of the object; after a failure the caller destroys the rest. */
static yk_status fill(yk_fmu *self, const yk_fmu_def *def)
{
    yk_context *context = self->context;
    self->subsystem.ops = &self->ops;
    self->ops = fmu_ops;
    self->next_event = INFINITY;
    self->longest_step = def->step;
    self->file = yk_text_copy(context, def->file);
    if (!self->file)
        return YK_ERROR_MEMORY;

    /* The archive, and what it says of itself. */
    yk_fmi_description *d = &self->description;
    yk_status status = YK_OK;
    self->borrowed = def->folder != NULL;
    if (self->borrowed)
        self->folder = yk_text_copy(context, def->folder);
    else
        status = yk_archive_unpack(context, def->file, &self->folder);
    if (status == YK_OK && !self->folder)
        status = YK_ERROR_MEMORY;
    if (status == YK_OK)
        status = yk_fmi_describe(context, self->folder, self->file, d);
    if (status != YK_OK)
        return status;

    /* Co-simulation, unless it is missing or model exchange is requested. */
    if (def->kind == YK_FMU_CO_SIMULATION && !d->co_simulation.identifier)
        return yk_fail(context, YK_ERROR_INPUT, "%s has model exchange, no co-simulation",
                       self->file);
    if (def->kind == YK_FMU_MODEL_EXCHANGE && !d->model_exchange.identifier)
        return yk_fail(context, YK_ERROR_INPUT, "%s has co-simulation, no model exchange",
                       self->file);
    bool exchange = def->kind == YK_FMU_MODEL_EXCHANGE || !d->co_simulation.identifier;

    const char *name = def->name ? def->name : "fmu";
    status = yk_fmi_load(context, d, exchange, self->file, self->folder, name, &self->instance);
    if (status != YK_OK)
        return status;

    yk_fmi_instance *instance = self->instance;
    instance->logging = def->logging;
    instance->tolerance = def->tolerance;
    instance->intermediate = intermediate;
    instance->intermediate_user = self;

    /* The used functions, before its code runs for the first time. */
    status = yk_fmu_map_ports(self, def);
    if (status == YK_OK)
        status = copy_settings(self, def);
    if (status == YK_OK)
        status = list_channels(self, def);
    if (status == YK_OK)
        status = list_clocks(self);
    if (status != YK_OK)
        return status;

    /* The first instance; the counts of its states are known from here on. */
    bool differentiable = false;
    status = instance->calls->instantiate(instance);
    if (status == YK_OK)
        status = take_memory(self);
    if (status == YK_OK && exchange)
        status = yk_fmu_prepare_integrator(self, def);
    if (status == YK_OK && def->derivatives)
        status = yk_fmu_prepare_sensitivity(self, &differentiable);
    if (status != YK_OK && instance->message[0])
        return yk_fail(context, status, "%s", instance->message);
    if (status != YK_OK)
        return status;

    /* The contract's groups that this FMU supports, according to its description. */
    if (instance->can->state) {
        self->ops.rollback = &rollback_ops;
        self->ops.expect_states = expect_states;
        /* unless a system requests otherwise */
        expect_states(&self->subsystem, YK_STATES_RESTORED);
    }
    self->ops.is_state_process_local = image_is_local;
    if (differentiable)
        self->ops.sensitivity = &sensitivity_ops;
    if (exchange || instance->events)
        self->ops.events = &event_ops;
    return YK_OK;
}

/* In a process of its own: this process unpacks and removes the archive, because it survives a
 * crash. */
typedef struct hosted {
    yk_context *context;
    yk_fmu_def def;
    char *folder;
} hosted;

static yk_status create_hosted(void *user, yk_context *context, const char *name,
                               yk_subsystem **subsystem)
{
    (void)name;
    const hosted *h = user;
    return yk_fmu_create(context, &h->def, subsystem);
}

static void release_hosted(void *user)
{
    hosted *h = user;
    yk_context *context = h->context;
    yk_archive_remove(context, h->folder);
    yk_free(context, h);
}

yk_status yk_fmu_create(yk_context *context, const yk_fmu_def *def, yk_subsystem **fmu)
{
    *fmu = NULL;
    if (!(def->step >= 0) || !(def->tolerance >= 0) || !(def->absolute_tolerance >= 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s: step (%g s), tolerance (%g) and absolute tolerance (%g) must not be "
                       "negative",
                       def->file, def->step, def->tolerance, def->absolute_tolerance);

    if (!def->child) {
        yk_fmu *self = yk_allocate(context, 1, sizeof *self);
        if (!self)
            return YK_ERROR_MEMORY;

        self->context = context;
        yk_status status = fill(self, def);
        if (status != YK_OK) {
            destroy(&self->subsystem);
            return status;
        }

        *fmu = &self->subsystem;
        return YK_OK;
    }

    /* In a child process: the same, created there from a folder that is removed here. */
    hosted *h = yk_allocate(context, 1, sizeof *h);
    if (!h)
        return YK_ERROR_MEMORY;

    h->context = context;
    yk_status status = yk_archive_unpack(context, def->file, &h->folder);
    if (status != YK_OK) {
        yk_free(context, h);
        return status;
    }

    /* The child process creates it from the unpacked folder. */
    h->def = *def;
    h->def.child = false;
    h->def.folder = h->folder;
    char name[300];
    snprintf(name, sizeof name, "%.60s (%.200s)", def->name, def->file);
    yk_child_def child = {
        .name = name,
        .deadline = def->deadline,
        .create = create_hosted,
        .release = release_hosted,
        .user = h,
    };

    return yk_child_create(context, &child, fmu);
}
