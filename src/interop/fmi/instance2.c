/* The calls of FMI 2.0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "interop/fmi/fmu_internal.h"

#define F(self) ((self)->functions.two)

/* Call a function of the FMU; CALL also turns its status into one of Yoke. */
#define INVOKE(self, name, ...) YK_FMI_INVOKE(self, 2, F(self), name, __VA_ARGS__)
#define CALL(self, name, ...) yk_fmi_judge(self, INVOKE(self, name, __VA_ARGS__), #name)

static void logger(void *environment, const char *instance, yk_fmi_status status,
                   const char *category, const char *message, ...) YK_PRINTF(5, 6);

static void logger(void *environment, const char *instance, yk_fmi_status status,
                   const char *category, const char *message, ...)
{
    (void)instance;
    char text[500];
    if (!message)
        return;

    /* FMI 2 logs by a format with its arguments, FMI 3 by a text. */
    va_list arguments;
    va_start(arguments, message);
    yk_format_list(text, sizeof text, message, arguments);
    va_end(arguments);

    yk_fmi_logged(environment, (int)status, category, text);
}

static yk_status instantiate(yk_fmi_instance *self)
{
    /* The folder of resources as a URI. */
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    char uri[4096] = "file://";
    size_t used = strlen(uri);

    /* Percent-encoding of RFC 3986: all characters that are not unreserved, except slashes. */
    for (const char *at = self->folder; *at && used + 4 < sizeof uri; at++) {
        if (strchr(plain, *at))
            uri[used++] = *at;
        else
            used += (size_t)snprintf(uri + used, sizeof uri - used, "%%%02X", (unsigned char)*at);
    }

    snprintf(uri + used, sizeof uri - used, "/resources");

    /* The FMU allocates memory and logs through these; they must exist as long as it does. */
    self->callbacks = (yk_fmi2_callbacks){
        .logger = logger,
        .allocate = calloc,
        .release = free,
        .environment = self,
    };

    int kind = YK_FMI2_CO_SIMULATION;
    if (self->exchange)
        kind = YK_FMI2_MODEL_EXCHANGE;

    yk_fmi_enter(self, "fmi2Instantiate");
    self->component = F(self).Instantiate(self->name, kind, self->description->token, uri,
                                          &self->callbacks, 0, self->logging);
    yk_fmi_left(0);
    if (self->component)
        return YK_OK;

    return yk_fmi_refuse(self, YK_ERROR_EXTERNAL, "%s: fmi2Instantiate made no instance%s%s",
                         self->file, self->log[0] ? "; it logged: " : " and logged no reason",
                         self->log);
}

static void release(yk_fmi_instance *self)
{
    yk_fmi_enter(self, "fmi2FreeInstance");
    F(self).FreeInstance(self->component);
    yk_fmi_left(0);
    self->component = NULL;
}

static yk_status reset(yk_fmi_instance *self)
{
    return CALL(self, Reset, self->component);
}

static yk_status begin(yk_fmi_instance *self, double t)
{
    /* Without a tolerance the FMU uses its own; the end of the run is unknown. */
    int level = INVOKE(self, SetupExperiment, self->component, self->tolerance > 0, self->tolerance,
                       t, 0, 0);
    yk_status status = yk_fmi_judge(self, level, "SetupExperiment");
    if (status != YK_OK)
        return status;

    return CALL(self, EnterInitializationMode, self->component);
}

static yk_status initialise(yk_fmi_instance *self)
{
    return CALL(self, ExitInitializationMode, self->component);
}

/* Values --------------------------------------------------------------------------------------- */

static yk_status get(yk_fmi_instance *self, yk_fmi_type type, const uint32_t *references, int count,
                     double *values, int value_count)
{
    (void)value_count;

    /* The most frequent calls; a successful one needs no message. */
    if (type == YK_FMI_FLOAT64) {
        int level = INVOKE(self, GetReal, self->component, references, (size_t)count, values);
        if (level == YK_FMI_OK)
            return YK_OK;
        return yk_fmi_judge(self, level, "GetReal");
    }

    /* Integers and truths; enumerations are integers in FMI 2. */
    yk_status status = YK_OK;
    for (int i = 0; i < count && status == YK_OK; i++) {
        int value = 0;
        if (type == YK_FMI_BOOLEAN)
            status = CALL(self, GetBoolean, self->component, &references[i], 1, &value);
        else
            status = CALL(self, GetInteger, self->component, &references[i], 1, &value);

        values[i] = value;
    }

    return status;
}

static yk_status set(yk_fmi_instance *self, yk_fmi_type type, const uint32_t *references, int count,
                     const double *values, int value_count)
{
    (void)value_count;

    /* FMI 2 has no arrays: as many values as variables. */
    if (type == YK_FMI_FLOAT64) {
        int level = INVOKE(self, SetReal, self->component, references, (size_t)count, values);
        if (level == YK_FMI_OK)
            return YK_OK;
        return yk_fmi_judge(self, level, "SetReal");
    }

    /* Numbers become whole, the nearest one. */
    yk_status status = YK_OK;
    for (int i = 0; i < count && status == YK_OK; i++) {
        if (type == YK_FMI_BOOLEAN) {
            int truth = values[i] != 0;
            status = CALL(self, SetBoolean, self->component, &references[i], 1, &truth);
        } else {
            int value = (int)lround(values[i]);
            status = CALL(self, SetInteger, self->component, &references[i], 1, &value);
        }
    }

    return status;
}

static yk_status set_text(yk_fmi_instance *self, uint32_t reference, const char *text)
{
    return CALL(self, SetString, self->component, &reference, 1, &text);
}

static yk_status set_clock(yk_fmi_instance *self, uint32_t reference)
{
    (void)reference;
    return yk_fmi_refuse(self, YK_ERROR_CAPABILITY, "%s: FMI 2 has no clocks", self->file);
}

/* Steps ---------------------------------------------------------------------------------------- */

/* An FMU that works in the background is polled until it has finished. */
static int wait_for(yk_fmi_instance *self)
{
    yk_fmi_status value = YK_FMI_PENDING;
    struct timespec pause = {.tv_nsec = 50000};

    /* 50 us: short compared with a step that is worth a thread of its own. */
    while (value == YK_FMI_PENDING && F(self).GetStatus) {
        nanosleep(&pause, NULL);
        if (INVOKE(self, GetStatus, self->component, YK_FMI2_DO_STEP_STATUS, &value) != YK_FMI_OK)
            return YK_FMI_ERROR;
    }

    return (int)value;
}

static yk_status step(yk_fmi_instance *self, double t, double h, double *reached, bool *event)
{
    *event = false;
    *reached = t + h;

    /* An FMU that is never returned to an earlier state may discard data from before the step. */
    int level = INVOKE(self, DoStep, self->component, t, h, !self->returns);
    if (level == YK_FMI_OK)
        return YK_OK;

    /* Some make their steps in another thread. */
    if (level == YK_FMI_PENDING)
        level = wait_for(self);
    if (level != YK_FMI_DISCARD)
        return yk_fmi_judge(self, level, "DoStep");

    /* A part of the step was made, or the FMU requests the end. */
    yk_fmi2_boolean ended = 0;
    if (F(self).GetBooleanStatus)
        INVOKE(self, GetBooleanStatus, self->component, YK_FMI2_TERMINATED, &ended);
    if (F(self).GetRealStatus)
        INVOKE(self, GetRealStatus, self->component, YK_FMI2_LAST_SUCCESSFUL_TIME, reached);

    if (ended)
        return yk_fmi_refuse(self, YK_ERROR_SUBSYSTEM,
                             "%s: the FMU ended the simulation at t = %.9g s%s%s", self->file,
                             *reached, yk_fmi_log_link(self), self->log);

    return yk_fmi_refuse(self, YK_ERROR_SUBSYSTEM,
                         "%s: the FMU discarded the step from t = %.9g s by %.9g s%s%s", self->file,
                         t, h, yk_fmi_log_link(self), self->log);
}

static yk_status step_mode(yk_fmi_instance *self)
{
    /* FMI 2 has no event mode in co-simulation that could be left. */
    (void)self;
    return YK_OK;
}

static yk_status input_rates(yk_fmi_instance *self, const uint32_t *references, int count,
                             const int *orders, const double *rates)
{
    if (!F(self).SetRealInputDerivatives)
        return yk_fmi_judge(self, YK_FMI_ERROR, "SetRealInputDerivatives");

    return CALL(self, SetRealInputDerivatives, self->component, references, (size_t)count, orders,
                rates);
}

static yk_status output_rates(yk_fmi_instance *self, const uint32_t *references, int count,
                              const int *orders, double *rates)
{
    if (!F(self).GetRealOutputDerivatives)
        return yk_fmi_judge(self, YK_FMI_ERROR, "GetRealOutputDerivatives");

    return CALL(self, GetRealOutputDerivatives, self->component, references, (size_t)count, orders,
                rates);
}

/* State ---------------------------------------------------------------------------------------- */

static yk_status state_get(yk_fmi_instance *self, void **state)
{
    return CALL(self, GetFMUstate, self->component, state);
}

static yk_status state_set(yk_fmi_instance *self, void *state)
{
    return CALL(self, SetFMUstate, self->component, state);
}

static void state_free(yk_fmi_instance *self, void **state)
{
    /* The handle must not be used after its release, even if the FMU did not change it. */
    if (*state)
        INVOKE(self, FreeFMUstate, self->component, state);
    *state = NULL;
}

static yk_status state_size(yk_fmi_instance *self, void *state, size_t *bytes)
{
    return CALL(self, SerializedFMUstateSize, self->component, state, bytes);
}

static yk_status serialise(yk_fmi_instance *self, void *state, void *bytes, size_t size)
{
    return CALL(self, SerializeFMUstate, self->component, state, bytes, size);
}

static yk_status deserialise(yk_fmi_instance *self, const void *bytes, size_t size, void **state)
{
    return CALL(self, DeSerializeFMUstate, self->component, bytes, size, state);
}

static yk_status directional(yk_fmi_instance *self, const uint32_t *unknowns, int count,
                             uint32_t known, double *result)
{
    const double one = 1;
    return CALL(self, GetDirectionalDerivative, self->component, unknowns, (size_t)count, &known, 1,
                &one, result);
}

/* Model exchange ------------------------------------------------------------------------------- */

static yk_status event_mode(yk_fmi_instance *self)
{
    return CALL(self, EnterEventMode, self->component);
}

static yk_status update(yk_fmi_instance *self, yk_fmi_event *event)
{
    yk_fmi2_event_info info = {0};
    int level = INVOKE(self, NewDiscreteStates, self->component, &info);

    *event = (yk_fmi_event){
        .again = info.new_discrete_states_needed,
        .terminate = info.terminate,
        .states_changed = info.states_changed,
        .next = INFINITY,
    };

    if (info.next_event_defined)
        event->next = info.next_event;
    return yk_fmi_judge(self, level, "NewDiscreteStates");
}

static yk_status continuous_mode(yk_fmi_instance *self)
{
    return CALL(self, EnterContinuousTimeMode, self->component);
}

static yk_status completed_step(yk_fmi_instance *self, bool *event, bool *terminate)
{
    yk_fmi2_boolean wants_event = 0;
    yk_fmi2_boolean wants_end = 0;
    int level = INVOKE(self, CompletedIntegratorStep, self->component, !self->returns, &wants_event,
                       &wants_end);
    *event = wants_event;
    *terminate = wants_end;
    return yk_fmi_judge(self, level, "CompletedIntegratorStep");
}

static yk_status set_time(yk_fmi_instance *self, double t)
{
    return CALL(self, SetTime, self->component, t);
}

static yk_status set_states(yk_fmi_instance *self, const double *x, int count)
{
    return CALL(self, SetContinuousStates, self->component, x, (size_t)count);
}

static yk_status get_states(yk_fmi_instance *self, double *x, int count)
{
    return CALL(self, GetContinuousStates, self->component, x, (size_t)count);
}

static yk_status rates(yk_fmi_instance *self, double *values, int count)
{
    return CALL(self, GetDerivatives, self->component, values, (size_t)count);
}

static yk_status nominals(yk_fmi_instance *self, double *values, int count)
{
    /* The standard's default, for a binary that lacks the function. */
    for (int i = 0; i < count; i++)
        values[i] = 1;
    if (!F(self).GetNominalsOfContinuousStates)
        return YK_OK;

    return CALL(self, GetNominalsOfContinuousStates, self->component, values, (size_t)count);
}

static yk_status indicators(yk_fmi_instance *self, double *z, int count)
{
    return CALL(self, GetEventIndicators, self->component, z, (size_t)count);
}

static yk_status counts(yk_fmi_instance *self, int *state_count, int *indicator_count)
{
    *state_count = self->description->state_count;
    *indicator_count = self->description->indicator_count;
    return YK_OK;
}

const yk_fmi_calls yk_fmi2_calls = {
    .instantiate = instantiate,
    .release = release,
    .reset = reset,
    .begin = begin,
    .initialise = initialise,
    .get = get,
    .set = set,
    .set_text = set_text,
    .set_clock = set_clock,
    .step = step,
    .step_mode = step_mode,
    .input_rates = input_rates,
    .output_rates = output_rates,
    .state_get = state_get,
    .state_set = state_set,
    .state_free = state_free,
    .state_size = state_size,
    .serialise = serialise,
    .deserialise = deserialise,
    .directional = directional,
    .event_mode = event_mode,
    .update = update,
    .continuous_mode = continuous_mode,
    .completed_step = completed_step,
    .set_time = set_time,
    .set_states = set_states,
    .get_states = get_states,
    .rates = rates,
    .nominals = nominals,
    .indicators = indicators,
    .counts = counts,
};
