/* The calls of FMI 2.0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/fmi/instance.h"

#define F(self) ((self)->functions.two)

static void logger(void *environment, const char *instance, yk_fmi2_status status,
                   const char *category, const char *message, ...) YK_PRINTF(5, 6);

static void logger(void *environment, const char *instance, yk_fmi2_status status,
                   const char *category, const char *message, ...)
{
    (void)instance;
    char text[500];
    if (!message)
        return;

    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    yk_fmi_logged(environment, (int)status, category, text);
}

/* The folder of resources as a URI. */
static void resource_uri(const yk_fmi_instance *self, char *uri, size_t size)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    size_t used = (size_t)snprintf(uri, size, "file://");

    for (const char *at = self->folder; *at && used + 4 < size; at++) {
        if (strchr(plain, *at))
            uri[used++] = *at;
        else
            used += (size_t)snprintf(uri + used, size - used, "%%%02X", (unsigned char)*at);
    }

    snprintf(uri + used, size - used, "/resources");
}

static yk_status instantiate(yk_fmi_instance *self)
{
    char resources[4096];
    resource_uri(self, resources, sizeof resources);
    self->callbacks = (yk_fmi2_callbacks){
        .logger = logger, .allocate = calloc, .release = free, .environment = self};
    int kind = self->kind == YK_FMI_MODEL_EXCHANGE ? YK_FMI2_MODEL_EXCHANGE : YK_FMI2_CO_SIMULATION;
    self->component = F(self).Instantiate(self->name, kind, self->description->token, resources,
                                          &self->callbacks, 0, self->logging);
    if (self->component)
        return YK_OK;

    return yk_fmi_refuse(self, YK_ERROR_EXTERNAL, "%s: fmi2Instantiate made no instance%s%s",
                         self->file, self->log[0] ? "; it logged: " : " and logged no reason",
                         self->log);
}

static void release(yk_fmi_instance *self)
{
    F(self).FreeInstance(self->component);
    self->component = NULL;
}

static yk_status reset(yk_fmi_instance *self)
{
    return yk_fmi_judge(self, F(self).Reset(self->component), "Reset");
}

static yk_status begin(yk_fmi_instance *self, double t)
{
    int level =
        F(self).SetupExperiment(self->component, self->tolerance > 0, self->tolerance, t, 0, 0);
    yk_status status = yk_fmi_judge(self, level, "SetupExperiment");
    if (status != YK_OK)
        return status;
    return yk_fmi_judge(self, F(self).EnterInitializationMode(self->component),
                        "EnterInitializationMode");
}

static yk_status initialise(yk_fmi_instance *self)
{
    return yk_fmi_judge(self, F(self).ExitInitializationMode(self->component),
                        "ExitInitializationMode");
}

/* Values --------------------------------------------------------------------------------------- */

static yk_status get(yk_fmi_instance *self, yk_fmi_type type, const uint32_t *references, int count,
                     double *values, int value_count)
{
    (void)value_count;
    if (type == YK_FMI_FLOAT64) {
        int level = F(self).GetReal(self->component, references, (size_t)count, values);
        return level == YK_FMI2_OK ? YK_OK : yk_fmi_judge(self, level, "GetReal");
    }

    yk_status status = YK_OK;

    for (int i = 0; i < count && status == YK_OK; i++) {
        int value = 0;
        if (type == YK_FMI_BOOLEAN)
            status = yk_fmi_judge(
                self, F(self).GetBoolean(self->component, &references[i], 1, &value), "GetBoolean");
        else
            status = yk_fmi_judge(
                self, F(self).GetInteger(self->component, &references[i], 1, &value), "GetInteger");
        values[i] = value;
    }

    return status;
}

static yk_status set(yk_fmi_instance *self, yk_fmi_type type, const uint32_t *references, int count,
                     const double *values, int value_count)
{
    (void)value_count;
    if (type == YK_FMI_FLOAT64) {
        int level = F(self).SetReal(self->component, references, (size_t)count, values);
        return level == YK_FMI2_OK ? YK_OK : yk_fmi_judge(self, level, "SetReal");
    }

    yk_status status = YK_OK;

    for (int i = 0; i < count && status == YK_OK; i++) {
        if (type == YK_FMI_BOOLEAN) {
            int truth = values[i] != 0;
            status = yk_fmi_judge(
                self, F(self).SetBoolean(self->component, &references[i], 1, &truth), "SetBoolean");
        } else {
            int value = (int)lround(values[i]);
            status = yk_fmi_judge(
                self, F(self).SetInteger(self->component, &references[i], 1, &value), "SetInteger");
        }
    }

    return status;
}

static yk_status set_text(yk_fmi_instance *self, uint32_t reference, const char *text)
{
    return yk_fmi_judge(self, F(self).SetString(self->component, &reference, 1, &text),
                        "SetString");
}

static yk_status set_clock(yk_fmi_instance *self, uint32_t reference)
{
    (void)reference;
    return yk_fmi_refuse(self, YK_ERROR_CAPABILITY, "%s: FMI 2 has no clocks", self->file);
}

/* Steps ---------------------------------------------------------------------------------------- */

/* An FMU that works in the background is asked until it has ended. */
static int wait_for(yk_fmi_instance *self)
{
    yk_fmi2_status value = YK_FMI2_PENDING;
    struct timespec pause = {.tv_nsec = 50000};
    while (value == YK_FMI2_PENDING && F(self).GetStatus) {
        nanosleep(&pause, NULL);
        if (F(self).GetStatus(self->component, YK_FMI2_DO_STEP_STATUS, &value) != YK_FMI2_OK)
            return YK_FMI2_ERROR;
    }
    return (int)value;
}

static yk_status step(yk_fmi_instance *self, double t, double h, double *reached, bool *event)
{
    *event = false;
    *reached = t + h;
    int level = F(self).DoStep(self->component, t, h, !self->can->state);
    if (level == YK_FMI2_OK)
        return YK_OK;
    if (level == YK_FMI2_PENDING)
        level = wait_for(self);
    if (level != YK_FMI2_DISCARD)
        return yk_fmi_judge(self, level, "DoStep");

    /* Part of the step was made, or the FMU wants to end. */
    yk_fmi2_boolean ended = 0;
    if (F(self).GetBooleanStatus)
        F(self).GetBooleanStatus(self->component, YK_FMI2_TERMINATED, &ended);
    if (F(self).GetRealStatus)
        F(self).GetRealStatus(self->component, YK_FMI2_LAST_SUCCESSFUL_TIME, reached);
    if (ended)
        return yk_fmi_refuse(self, YK_ERROR_SUBSYSTEM,
                             "%s: the FMU ended the simulation at t = %.9g s%s%s", self->file,
                             *reached, self->log[0] ? "; it logged: " : "", self->log);

    return yk_fmi_refuse(self, YK_ERROR_SUBSYSTEM,
                         "%s: the FMU discarded the step from t = %.9g s by %.9g s%s%s", self->file,
                         t, h, self->log[0] ? "; it logged: " : "", self->log);
}

static yk_status step_mode(yk_fmi_instance *self)
{
    (void)self;
    return YK_OK;
}

static yk_status input_rates(yk_fmi_instance *self, const uint32_t *references, int count,
                             const int *orders, const double *rates)
{
    if (!F(self).SetRealInputDerivatives)
        return yk_fmi_judge(self, YK_FMI2_ERROR, "SetRealInputDerivatives");

    int level =
        F(self).SetRealInputDerivatives(self->component, references, (size_t)count, orders, rates);
    return yk_fmi_judge(self, level, "SetRealInputDerivatives");
}

static yk_status output_rates(yk_fmi_instance *self, const uint32_t *references, int count,
                              const int *orders, double *rates)
{
    if (!F(self).GetRealOutputDerivatives)
        return yk_fmi_judge(self, YK_FMI2_ERROR, "GetRealOutputDerivatives");

    int level =
        F(self).GetRealOutputDerivatives(self->component, references, (size_t)count, orders, rates);
    return yk_fmi_judge(self, level, "GetRealOutputDerivatives");
}

/* State ---------------------------------------------------------------------------------------- */

static yk_status state_get(yk_fmi_instance *self, void **state)
{
    return yk_fmi_judge(self, F(self).GetFMUstate(self->component, state), "GetFMUstate");
}

static yk_status state_set(yk_fmi_instance *self, void *state)
{
    return yk_fmi_judge(self, F(self).SetFMUstate(self->component, state), "SetFMUstate");
}

static void state_free(yk_fmi_instance *self, void **state)
{
    if (*state)
        F(self).FreeFMUstate(self->component, state);
    *state = NULL;
}

static yk_status state_size(yk_fmi_instance *self, void *state, size_t *bytes)
{
    int level = F(self).SerializedFMUstateSize(self->component, state, bytes);
    return yk_fmi_judge(self, level, "SerializedFMUstateSize");
}

static yk_status serialise(yk_fmi_instance *self, void *state, void *bytes, size_t size)
{
    int level = F(self).SerializeFMUstate(self->component, state, bytes, size);
    return yk_fmi_judge(self, level, "SerializeFMUstate");
}

static yk_status deserialise(yk_fmi_instance *self, const void *bytes, size_t size, void **state)
{
    int level = F(self).DeSerializeFMUstate(self->component, bytes, size, state);
    return yk_fmi_judge(self, level, "DeSerializeFMUstate");
}

static yk_status directional(yk_fmi_instance *self, const uint32_t *unknowns, int count,
                             uint32_t known, double *result)
{
    const double one = 1;
    int level = F(self).GetDirectionalDerivative(self->component, unknowns, (size_t)count, &known,
                                                 1, &one, result);
    return yk_fmi_judge(self, level, "GetDirectionalDerivative");
}

/* Model exchange ------------------------------------------------------------------------------- */

static yk_status event_mode(yk_fmi_instance *self)
{
    return yk_fmi_judge(self, F(self).EnterEventMode(self->component), "EnterEventMode");
}

static yk_status update(yk_fmi_instance *self, yk_fmi_event *event)
{
    yk_fmi2_event_info info = {0};
    int level = F(self).NewDiscreteStates(self->component, &info);
    *event = (yk_fmi_event){.again = info.new_discrete_states_needed,
                            .terminate = info.terminate,
                            .states_changed = info.states_changed,
                            .next = info.next_event_defined ? info.next_event : INFINITY};
    return yk_fmi_judge(self, level, "NewDiscreteStates");
}

static yk_status continuous_mode(yk_fmi_instance *self)
{
    return yk_fmi_judge(self, F(self).EnterContinuousTimeMode(self->component),
                        "EnterContinuousTimeMode");
}

static yk_status completed_step(yk_fmi_instance *self, bool *event, bool *terminate)
{
    yk_fmi2_boolean wants_event = 0;
    yk_fmi2_boolean wants_end = 0;
    int level = F(self).CompletedIntegratorStep(self->component, !self->can->state, &wants_event,
                                                &wants_end);
    *event = wants_event;
    *terminate = wants_end;
    return yk_fmi_judge(self, level, "CompletedIntegratorStep");
}

static yk_status set_time(yk_fmi_instance *self, double t)
{
    return yk_fmi_judge(self, F(self).SetTime(self->component, t), "SetTime");
}

static yk_status set_states(yk_fmi_instance *self, const double *x, int count)
{
    int level = F(self).SetContinuousStates(self->component, x, (size_t)count);
    return yk_fmi_judge(self, level, "SetContinuousStates");
}

static yk_status get_states(yk_fmi_instance *self, double *x, int count)
{
    int level = F(self).GetContinuousStates(self->component, x, (size_t)count);
    return yk_fmi_judge(self, level, "GetContinuousStates");
}

static yk_status rates(yk_fmi_instance *self, double *values, int count)
{
    int level = F(self).GetDerivatives(self->component, values, (size_t)count);
    return yk_fmi_judge(self, level, "GetDerivatives");
}

static yk_status indicators(yk_fmi_instance *self, double *z, int count)
{
    int level = F(self).GetEventIndicators(self->component, z, (size_t)count);
    return yk_fmi_judge(self, level, "GetEventIndicators");
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
    .indicators = indicators,
    .counts = counts,
};
