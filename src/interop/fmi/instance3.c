/* The calls of FMI 3.0. */
#include <math.h>
#include <stdio.h>

#include "interop/fmi/fmu_internal.h"

#define F(self) ((self)->functions.three)

/* Call a function of the FMU; CALL also turns its status into one of Yoke. */
#define INVOKE(self, name, ...) YK_FMI_INVOKE(self, 3, F(self), name, __VA_ARGS__)
#define CALL(self, name, ...) yk_fmi_judge(self, INVOKE(self, name, __VA_ARGS__), #name)

static void log_message(void *environment, yk_fmi_status status, const char *category,
                        const char *message)
{
    yk_fmi_logged(environment, (int)status, category, message);
}

/* The FMU requests inputs at a time within the step; it is never asked to return early. */
static void intermediate_update(void *environment, double t, bool set_requested, bool get_allowed,
                                bool step_finished, bool can_return_early, bool *return_early,
                                double *return_time)
{
    yk_fmi_instance *self = environment;
    yk_fmi_call step = yk_fmi_running;
    (void)get_allowed;
    (void)step_finished;
    (void)can_return_early;

    if (return_early)
        *return_early = false;
    if (return_time)
        *return_time = t;
    if (set_requested && self->intermediate)
        self->intermediate(self->intermediate_user, t);
    yk_fmi_running = step;
}

static yk_status instantiate(yk_fmi_instance *self)
{
    /* FMI 3 wants a path, where FMI 2 has a URI. */
    const yk_fmi_description *d = self->description;
    const char *function = "InstantiateModelExchange";
    char resources[4096];
    snprintf(resources, sizeof resources, "%s/resources/", self->folder);

    yk_fmi_enter(self, "fmi3Instantiate");
    if (self->exchange) {
        self->component = F(self).InstantiateModelExchange(self->name, d->token, resources, false,
                                                           self->logging, self, log_message);
    } else {
        /* Inputs that may be set within a step. */
        enum { INTERMEDIATE_MAX = 256 };
        uint32_t list[INTERMEDIATE_MAX];
        size_t count = 0;
        yk_fmi3_intermediate_update update_within = NULL;
        if (self->can->intermediate_update)
            update_within = intermediate_update;
        for (int i = 0; i < d->variable_count && count < INTERMEDIATE_MAX; i++) {
            const yk_fmi_variable *v = &d->variables[i];
            if (update_within && v->intermediate && v->causality == YK_FMI_INPUT)
                list[count++] = v->reference;
        }

        /* Some FMUs declare event mode and do not have it: use them without it. */
        function = "InstantiateCoSimulation";
        self->events = self->can->event_mode;
        for (int i = 0; i < 2 && !self->component; i++) {
            self->component = F(self).InstantiateCoSimulation(
                self->name, d->token, resources, false, self->logging, self->events, self->events,
                list, count, self, log_message, update_within);
            if (self->component || !self->events)
                break;

            self->events = false;
        }
    }

    yk_fmi_left(0);

    /* The last log message is nearly always the reason. */
    if (self->component)
        return YK_OK;
    return yk_fmi_refuse(self, YK_ERROR_EXTERNAL, "%s: fmi3%s made no instance%s%s", self->file,
                         function, self->log[0] ? "; it logged: " : " and logged no reason",
                         self->log);
}

static void release(yk_fmi_instance *self)
{
    yk_fmi_enter(self, "fmi3FreeInstance");
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
    return CALL(self, EnterInitializationMode, self->component, self->tolerance > 0,
                self->tolerance, t, false, 0);
}

static yk_status initialise(yk_fmi_instance *self)
{
    return CALL(self, ExitInitializationMode, self->component);
}

/* Values --------------------------------------------------------------------------------------- */

enum { SMALL_ARRAY = 64 };

/* One variable of a type other than Float64, through an array of its own type. */
#define GET_ONE(name, ctype)                                                                 \
    case YK_FMI_##name: {                                                                    \
        ctype own[SMALL_ARRAY];                                                              \
        if (!F(self).GET_##name || size > SMALL_ARRAY)                                       \
            return refuse_type(self, type, size);                                            \
        level = INVOKE(self, GET_##name, self->component, &reference, 1, own, (size_t)size); \
        for (int i = 0; i < size; i++)                                                       \
            values[i] = (double)own[i];                                                      \
        break;                                                                               \
    }
#define SET_ONE(name, ctype, convert)                                                        \
    case YK_FMI_##name: {                                                                    \
        ctype own[SMALL_ARRAY];                                                              \
        if (!F(self).SET_##name || size > SMALL_ARRAY)                                       \
            return refuse_type(self, type, size);                                            \
        for (int i = 0; i < size; i++)                                                       \
            own[i] = (ctype)convert(values[i]);                                              \
        level = INVOKE(self, SET_##name, self->component, &reference, 1, own, (size_t)size); \
        break;                                                                               \
    }
#define GET_FLOAT32 GetFloat32
#define GET_INT8 GetInt8
#define GET_UINT8 GetUInt8
#define GET_INT16 GetInt16
#define GET_UINT16 GetUInt16
#define GET_INT32 GetInt32
#define GET_UINT32 GetUInt32
#define GET_INT64 GetInt64
#define GET_UINT64 GetUInt64
#define GET_ENUMERATION GetInt64
#define GET_BOOLEAN GetBoolean
#define SET_FLOAT32 SetFloat32
#define SET_INT8 SetInt8
#define SET_UINT8 SetUInt8
#define SET_INT16 SetInt16
#define SET_UINT16 SetUInt16
#define SET_INT32 SetInt32
#define SET_UINT32 SetUInt32
#define SET_INT64 SetInt64
#define SET_UINT64 SetUInt64
#define SET_ENUMERATION SetInt64
#define SET_BOOLEAN SetBoolean

static yk_status refuse_type(yk_fmi_instance *self, yk_fmi_type type, int size)
{
    if (size > SMALL_ARRAY)
        return yk_fmi_refuse(self, YK_ERROR_CAPABILITY,
                             "%s: arrays of type %s with more than %d elements cannot be used",
                             self->file, yk_fmi_type_name(type), SMALL_ARRAY);
    return yk_fmi_refuse(self, YK_ERROR_EXTERNAL,
                         "%s: its binary lacks the functions for variables of type %s", self->file,
                         yk_fmi_type_name(type));
}

static yk_status get_one(yk_fmi_instance *self, yk_fmi_type type, uint32_t reference,
                         double *values, int size)
{
    int level = YK_FMI_ERROR;
    switch (type) {
        GET_ONE(FLOAT32, float)
        GET_ONE(INT8, int8_t)
        GET_ONE(UINT8, uint8_t)
        GET_ONE(INT16, int16_t)
        GET_ONE(UINT16, uint16_t)
        GET_ONE(INT32, int32_t)
        GET_ONE(UINT32, uint32_t)
        GET_ONE(INT64, int64_t)
        GET_ONE(UINT64, uint64_t)
        GET_ONE(ENUMERATION, int64_t)
        GET_ONE(BOOLEAN, bool)

    default: return refuse_type(self, type, 0);
    }

    return yk_fmi_judge(self, level, "Get of a value");
}

static yk_status set_one(yk_fmi_instance *self, yk_fmi_type type, uint32_t reference,
                         const double *values, int size)
{
    int level = YK_FMI_ERROR;
    switch (type) {
        SET_ONE(FLOAT32, float, )
        SET_ONE(INT8, int8_t, lround)
        SET_ONE(UINT8, uint8_t, lround)
        SET_ONE(INT16, int16_t, lround)
        SET_ONE(UINT16, uint16_t, lround)
        SET_ONE(INT32, int32_t, lround)
        SET_ONE(UINT32, uint32_t, llround)
        SET_ONE(INT64, int64_t, llround)
        SET_ONE(UINT64, uint64_t, llround)
        SET_ONE(ENUMERATION, int64_t, llround)
        SET_ONE(BOOLEAN, bool, 0 !=)

    default: return refuse_type(self, type, 0);
    }

    return yk_fmi_judge(self, level, "Set of a value");
}

static yk_status get(yk_fmi_instance *self, yk_fmi_type type, const uint32_t *references, int count,
                     double *values, int value_count)
{
    /* The most frequent calls; a successful one needs no check. */
    if (type == YK_FMI_FLOAT64) {
        int level = INVOKE(self, GetFloat64, self->component, references, (size_t)count, values,
                           (size_t)value_count);
        if (level == YK_FMI_OK)
            return YK_OK;
        return yk_fmi_judge(self, level, "GetFloat64");
    }

    /* Arrays of other types go through memory of that type, one variable at a time. */
    yk_status status = YK_OK;
    for (int i = 0; i < count && status == YK_OK; i++) {
        int size = value_count / count;
        status = get_one(self, type, references[i], values + i * size, size);
    }

    return status;
}

static yk_status set(yk_fmi_instance *self, yk_fmi_type type, const uint32_t *references, int count,
                     const double *values, int value_count)
{
    /* Real numbers in one call, as they are read. */
    if (type == YK_FMI_FLOAT64) {
        int level = INVOKE(self, SetFloat64, self->component, references, (size_t)count, values,
                           (size_t)value_count);
        if (level == YK_FMI_OK)
            return YK_OK;
        return yk_fmi_judge(self, level, "SetFloat64");
    }

    /* Other types go through memory of that type, one variable at a time. */
    yk_status status = YK_OK;
    for (int i = 0; i < count && status == YK_OK; i++) {
        int size = value_count / count;
        status = set_one(self, type, references[i], values + i * size, size);
    }

    return status;
}

static yk_status set_text(yk_fmi_instance *self, uint32_t reference, const char *text)
{
    if (!F(self).SetString)
        return refuse_type(self, YK_FMI_STRING, 0);

    return CALL(self, SetString, self->component, &reference, 1, &text, 1);
}

static yk_status set_clock(yk_fmi_instance *self, uint32_t reference)
{
    const bool active = true;
    if (!F(self).SetClock)
        return refuse_type(self, YK_FMI_CLOCK, 0);

    return CALL(self, SetClock, self->component, &reference, 1, &active);
}

/* Steps ---------------------------------------------------------------------------------------- */

static yk_status step(yk_fmi_instance *self, double t, double h, double *reached, bool *event)
{
    bool terminate = false;
    bool early = false;
    double last = t + h;
    *event = false;

    /* An FMU that is never returned to an earlier state may discard data from before the step. */
    int level = INVOKE(self, DoStep, self->component, t, h, !self->returns, event, &terminate,
                       &early, &last);

    /* Exactly t + h at the end, instead of the FMU's sum. */
    *reached = t + h;
    if (early)
        *reached = last;

    if (terminate)
        return yk_fmi_refuse(self, YK_ERROR_SUBSYSTEM,
                             "%s: the FMU ended the simulation at t = %.9g s%s%s", self->file, last,
                             yk_fmi_log_link(self), self->log);

    if (level == YK_FMI_DISCARD)
        return yk_fmi_refuse(self, YK_ERROR_SUBSYSTEM,
                             "%s: the FMU discarded the step from t = %.9g s by %.9g s%s%s",
                             self->file, t, h, yk_fmi_log_link(self), self->log);

    return yk_fmi_judge(self, level, "DoStep");
}

static yk_status step_mode(yk_fmi_instance *self)
{
    if (!F(self).EnterStepMode)
        return yk_fmi_judge(self, YK_FMI_ERROR, "EnterStepMode (which its binary lacks)");

    return CALL(self, EnterStepMode, self->component);
}

static yk_status input_rates(yk_fmi_instance *self, const uint32_t *references, int count,
                             const int *orders, const double *values)
{
    (void)references;
    (void)count;
    (void)orders;
    (void)values;
    return yk_fmi_refuse(self, YK_ERROR_CAPABILITY, "%s: FMI 3 has no derivatives of inputs",
                         self->file);
}

static yk_status output_rates(yk_fmi_instance *self, const uint32_t *references, int count,
                              const int *orders, double *values)
{
    if (!F(self).GetOutputDerivatives)
        return yk_fmi_judge(self, YK_FMI_ERROR, "GetOutputDerivatives (which its binary lacks)");

    return CALL(self, GetOutputDerivatives, self->component, references, (size_t)count, orders,
                values, (size_t)count);
}

/* State ---------------------------------------------------------------------------------------- */

static yk_status state_get(yk_fmi_instance *self, void **state)
{
    return CALL(self, GetFMUState, self->component, state);
}

static yk_status state_set(yk_fmi_instance *self, void *state)
{
    return CALL(self, SetFMUState, self->component, state);
}

static void state_free(yk_fmi_instance *self, void **state)
{
    /* The handle must not be used after its release, even if the FMU did not change it. */
    if (*state)
        INVOKE(self, FreeFMUState, self->component, state);
    *state = NULL;
}

static yk_status state_size(yk_fmi_instance *self, void *state, size_t *bytes)
{
    return CALL(self, SerializedFMUStateSize, self->component, state, bytes);
}

static yk_status serialise(yk_fmi_instance *self, void *state, void *bytes, size_t size)
{
    return CALL(self, SerializeFMUState, self->component, state, bytes, size);
}

static yk_status deserialise(yk_fmi_instance *self, const void *bytes, size_t size, void **state)
{
    return CALL(self, DeserializeFMUState, self->component, bytes, size, state);
}

static yk_status directional(yk_fmi_instance *self, const uint32_t *unknowns, int count,
                             uint32_t known, double *result)
{
    const double one = 1;
    return CALL(self, GetDirectionalDerivative, self->component, unknowns, (size_t)count, &known, 1,
                &one, 1, result, (size_t)count);
}

/* Events and model exchange -------------------------------------------------------------------- */

static yk_status event_mode(yk_fmi_instance *self)
{
    if (!F(self).EnterEventMode || !F(self).UpdateDiscreteStates)
        return yk_fmi_judge(self, YK_FMI_ERROR,
                            "EnterEventMode (which its binary lacks, or UpdateDiscreteStates)");

    return CALL(self, EnterEventMode, self->component);
}

static yk_status update(yk_fmi_instance *self, yk_fmi_event *event)
{
    bool again = false;
    bool terminate = false;
    bool nominals = false;
    bool states = false;
    bool defined = false;
    double next = INFINITY;
    if (!F(self).UpdateDiscreteStates)
        return yk_fmi_judge(self, YK_FMI_ERROR, "UpdateDiscreteStates (which its binary lacks)");

    /* Nominal values are not used here, so their change is not an event. */
    int level = INVOKE(self, UpdateDiscreteStates, self->component, &again, &terminate, &nominals,
                       &states, &defined, &next);
    *event = (yk_fmi_event){
        .again = again,
        .terminate = terminate,
        .states_changed = states,
        .next = INFINITY,
    };

    if (defined)
        event->next = next;
    return yk_fmi_judge(self, level, "UpdateDiscreteStates");
}

static yk_status continuous_mode(yk_fmi_instance *self)
{
    return CALL(self, EnterContinuousTimeMode, self->component);
}

static yk_status completed_step(yk_fmi_instance *self, bool *event, bool *terminate)
{
    *event = false;
    *terminate = false;
    return CALL(self, CompletedIntegratorStep, self->component, !self->returns, event, terminate);
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
    return CALL(self, GetContinuousStateDerivatives, self->component, values, (size_t)count);
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
    /* They may depend on structural parameters, of which the description contains only start
     * values. */
    size_t states = 0;
    size_t found = 0;
    yk_status status = CALL(self, GetNumberOfContinuousStates, self->component, &states);
    if (status != YK_OK)
        return status;

    *state_count = (int)states;
    status = CALL(self, GetNumberOfEventIndicators, self->component, &found);
    *indicator_count = (int)found;
    return status;
}

const yk_fmi_calls yk_fmi3_calls = {
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
