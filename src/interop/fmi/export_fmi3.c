/* FMI 3.0, co-simulation, of an exported model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop/fmi/export.h"

typedef struct component {
    yk_exported *model;
    void *environment;
    yk_fmi3_log log;
    yk_fmi3_intermediate_update update;
    bool logging;
} component;

#define MODEL(c) (((component *)(c))->model)

/* Returns an error unless there is an instance and it is in one of the modes. */
#define ALLOW(c, name, modes)                                       \
    if (!(c) || !yk_exported_allows(MODEL(c), "fmi3" #name, modes)) \
    return YK_FMI_ERROR
#define EXPORT __attribute__((visibility("default")))
/* Prototype and head of a function of the standard. */
#define FUNCTION(type, name, arguments) \
    EXPORT type fmi3##name arguments;   \
    EXPORT type fmi3##name arguments

/* Modes in which groups of functions may be called (FMI 3.0, 4.2). */
enum {
    MODES_SET = YK_MODE_INSTANTIATED | YK_MODE_INITIALISATION | YK_MODE_STEP | YK_MODE_INTERMEDIATE,
    MODES_DERIVE = YK_MODE_INITIALISATION | YK_MODE_STEP | YK_MODE_FAILED | YK_MODE_TERMINATED,
    MODES_OUTSIDE = YK_MODE_ANY & ~YK_MODE_INTERMEDIATE /* of a step */
};

static void log_text(void *user, yk_log_level level, const char *text)
{
    component *c = user;
    yk_fmi_status status = YK_FMI_OK;
    if (level == YK_LOG_WARNING)
        status = YK_FMI_WARNING;
    else if (level == YK_LOG_ERROR)
        status = YK_FMI_ERROR;

    /* Warnings and errors always, other messages if the importer requests them. */
    bool grave = level >= YK_LOG_WARNING;
    const char *category = grave ? "logStatusError" : "logAll";
    if (c->log && (c->logging || grave))
        c->log(c->environment, status, category, text);
}

/* Functions that the FMU does not support, with the reason. */
static yk_fmi_status refuse(void *c, const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "the FMU has no %s", what);
    log_text(c, YK_LOG_ERROR, text);
    return YK_FMI_ERROR;
}

FUNCTION(const char *, GetVersion, (void))
{
    return "3.0";
}

FUNCTION(yk_fmi_status, SetDebugLogging,
         (void *c, bool on, size_t count, const char *const *categories))
{
    ALLOW(c, SetDebugLogging, YK_MODE_ANY);
    (void)count;
    (void)categories;
    ((component *)c)->logging = on;
    return YK_FMI_OK;
}

FUNCTION(void *, InstantiateCoSimulation,
         (YK_FMI3_INSTANCE, bool event_mode, bool early_return, const uint32_t *intermediate,
          size_t intermediate_count, void *environment, yk_fmi3_log log,
          yk_fmi3_intermediate_update update))
{
    (void)name;
    (void)visible;
    (void)event_mode;
    (void)early_return;
    (void)intermediate;

    component *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;

    c->environment = environment;
    c->log = log;
    c->logging = logging;

    /* An importer that names no inputs does not set them within steps. */
    if (intermediate_count > 0)
        c->update = update;

    /* Log the reason: for the importer, NULL only means that there is no instance. */
    if (!resources)
        log_text(c, YK_LOG_ERROR, "the path of the resources is missing");
    else
        c->model = yk_exported_create(resources, token, log_text, c);

    if (c->model)
        return c;

    free(c);
    return NULL;
}

FUNCTION(void *, InstantiateModelExchange, (YK_FMI3_INSTANCE, void *environment, yk_fmi3_log log))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    refuse(&(component){.environment = environment, .log = log}, "model exchange");
    return NULL;
}

FUNCTION(void *, InstantiateScheduledExecution,
         (YK_FMI3_INSTANCE, void *environment, yk_fmi3_log log,
          void (*clock_update)(void *environment), void (*lock)(void), void (*unlock)(void)))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)clock_update;
    (void)lock;
    (void)unlock;
    refuse(&(component){.environment = environment, .log = log}, "scheduled execution");
    return NULL;
}

FUNCTION(void, FreeInstance, (void *c))
{
    if (!c)
        return;

    yk_exported_destroy(MODEL(c));
    free(c);
}

FUNCTION(yk_fmi_status, EnterInitializationMode,
         (void *c, bool tolerance_defined, double tolerance, double start, bool stop_defined,
          double stop))
{
    (void)tolerance_defined;
    (void)tolerance;
    ALLOW(c, EnterInitializationMode, YK_MODE_INSTANTIATED);
    yk_status status = yk_exported_set_up(MODEL(c), start, stop_defined ? stop : INFINITY);
    if (status == YK_OK)
        status = yk_exported_begin(MODEL(c));
    return yk_exported_answer(status);
}

FUNCTION(yk_fmi_status, ExitInitializationMode, (void *c))
{
    ALLOW(c, ExitInitializationMode, YK_MODE_INITIALISATION);
    return yk_exported_answer(yk_exported_initialise(MODEL(c)));
}

FUNCTION(yk_fmi_status, Terminate, (void *c))
{
    ALLOW(c, Terminate, YK_MODE_STEP | YK_MODE_FAILED);
    yk_exported_terminate(MODEL(c));
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, Reset, (void *c))
{
    ALLOW(c, Reset, MODES_OUTSIDE);
    return yk_exported_answer(yk_exported_reset(MODEL(c)));
}

/* Values: all variables are of type Float64. */

FUNCTION(yk_fmi_status, GetFloat64,
         (void *c, YK_FMI_REFERENCES, double *values, size_t value_count))
{
    ALLOW(c, GetFloat64, YK_MODE_ANY);
    if (value_count != count)
        return YK_FMI_ERROR;

    return yk_exported_answer(yk_exported_get(MODEL(c), references, count, values));
}

FUNCTION(yk_fmi_status, SetFloat64,
         (void *c, YK_FMI_REFERENCES, const double *values, size_t value_count))
{
    ALLOW(c, SetFloat64, MODES_SET);
    if (value_count != count)
        return YK_FMI_ERROR;

    return yk_exported_answer(yk_exported_set(MODEL(c), references, count, values));
}

#define NONE_OF(type, ctype)                                                        \
    FUNCTION(yk_fmi_status, Get##type,                                              \
             (void *c, YK_FMI_REFERENCES, ctype *values, size_t value_count))       \
    {                                                                               \
        ALLOW(c, Get##type, YK_MODE_ANY);                                           \
        (void)references;                                                           \
        (void)values;                                                               \
        (void)value_count;                                                          \
        return count == 0 ? YK_FMI_OK : refuse(c, "variables of type " #type);      \
    }                                                                               \
    FUNCTION(yk_fmi_status, Set##type,                                              \
             (void *c, YK_FMI_REFERENCES, const ctype *values, size_t value_count)) \
    {                                                                               \
        ALLOW(c, Set##type, MODES_SET);                                             \
        (void)references;                                                           \
        (void)values;                                                               \
        (void)value_count;                                                          \
        return count == 0 ? YK_FMI_OK : refuse(c, "variables of type " #type);      \
    }
NONE_OF(Float32, float)
NONE_OF(Int8, int8_t)
NONE_OF(UInt8, uint8_t)
NONE_OF(Int16, int16_t)
NONE_OF(UInt16, uint16_t)
NONE_OF(Int32, int32_t)
NONE_OF(UInt32, uint32_t)
NONE_OF(Int64, int64_t)
NONE_OF(UInt64, uint64_t)
NONE_OF(Boolean, bool)
NONE_OF(String, yk_fmi_text)

/* State. */

FUNCTION(yk_fmi_status, GetFMUState, (void *c, void **state))
{
    ALLOW(c, GetFMUState, MODES_OUTSIDE);
    if (!state)
        return YK_FMI_ERROR;
    size_t size = yk_exported_state_size(MODEL(c));
    if (!*state && size > 0)
        *state = malloc(size);

    if (!*state || size == 0)
        return refuse(c, "state that could be saved");

    yk_exported_state_get(MODEL(c), *state);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetFMUState, (void *c, void *state))
{
    ALLOW(c, SetFMUState, MODES_OUTSIDE);
    yk_exported *model = MODEL(c);
    return yk_exported_answer(yk_exported_state_set(model, state, yk_exported_state_size(model)));
}

FUNCTION(yk_fmi_status, FreeFMUState, (void *c, void **state))
{
    ALLOW(c, FreeFMUState, MODES_OUTSIDE);
    if (state) {
        free(*state);
        *state = NULL;
    }
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SerializedFMUStateSize, (void *c, void *state, size_t *size))
{
    ALLOW(c, SerializedFMUStateSize, MODES_OUTSIDE);
    (void)state;
    *size = yk_exported_state_size(MODEL(c));
    if (*size == 0)
        return refuse(c, "state that could be saved");
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SerializeFMUState, (void *c, void *state, uint8_t *bytes, size_t size))
{
    ALLOW(c, SerializeFMUState, MODES_OUTSIDE);
    if (size != yk_exported_state_size(MODEL(c)))
        return refuse(c, "state of this size");

    memcpy(bytes, state, size);
    yk_exported_state_seal(bytes, size);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, DeserializeFMUState,
         (void *c, const uint8_t *bytes, size_t size, void **state))
{
    ALLOW(c, DeserializeFMUState, MODES_OUTSIDE);
    if (YK_FAILED(yk_exported_state_check(MODEL(c), bytes, size)))
        return YK_FMI_ERROR;

    if (!*state)
        *state = malloc(size);
    if (!*state)
        return YK_FMI_ERROR;

    memcpy(*state, bytes, size);
    return YK_FMI_OK;
}

/* Steps. */

static void ask_for_inputs(void *user, double t)
{
    component *c = user;
    bool early = false;

    double time = t;
    c->update(c->environment, t, true, false, false, false, &early, &time);
}

FUNCTION(yk_fmi_status, DoStep,
         (void *c, double t, double h, bool no_rollback, bool *event_needed, bool *terminate,
          bool *returned_early, double *last_time))
{
    ALLOW(c, DoStep, YK_MODE_STEP);
    (void)no_rollback;

    component *self = c;
    *event_needed = false;
    *terminate = false;
    *returned_early = false;

    void (*ask)(void *user, double t) = NULL;
    if (self->update)
        ask = ask_for_inputs;

    yk_status status = yk_exported_step(self->model, t, h, ask, self);

    /* There are no early returns: a failed step has no result. */
    *last_time = t;
    if (!YK_FAILED(status))
        *last_time = t + h;
    return yk_exported_answer(status);
}

/* All variables are scalars: one seed per variable of one kind, one result per variable of the
 * other. */

#define DERIVATIVE(name, adjoint, seeded, found)                                                 \
    FUNCTION(yk_fmi_status, name,                                                                \
             (void *c, const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns,   \
              size_t known_count, const double *seed, size_t seeds, double *result,              \
              size_t results))                                                                   \
    {                                                                                            \
        ALLOW(c, name, MODES_DERIVE);                                                            \
        if (seeds != (seeded) || results != (found))                                             \
            return refuse(c, "arrays: a seed and a result belong to one variable each");         \
        return yk_exported_answer(yk_exported_derive(MODEL(c), adjoint, unknowns, unknown_count, \
                                                     knowns, known_count, seed, result));        \
    }
DERIVATIVE(GetDirectionalDerivative, false, known_count, unknown_count)
DERIVATIVE(GetAdjointDerivative, true, unknown_count, known_count)

/* Features that the model does not have. */

#define LACKS(name, arguments, what)               \
    FUNCTION(yk_fmi_status, name, arguments)       \
    {                                              \
        return c ? refuse(c, what) : YK_FMI_ERROR; \
    }
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
LACKS(EnterEventMode, (void *c), "event mode")
LACKS(EnterStepMode, (void *c), "event mode")
LACKS(EnterConfigurationMode, (void *c), "structural parameters")
LACKS(ExitConfigurationMode, (void *c), "structural parameters")
LACKS(GetBinary, (void *c, YK_FMI_REFERENCES, size_t *sizes, const uint8_t **values, size_t n),
      "binary variables")
LACKS(SetBinary,
      (void *c, YK_FMI_REFERENCES, const size_t *sizes, const uint8_t *const *values, size_t n),
      "binary variables")
LACKS(GetClock, (void *c, YK_FMI_REFERENCES, bool *values), "clocks")
LACKS(SetClock, (void *c, YK_FMI_REFERENCES, const bool *values), "clocks")
LACKS(GetIntervalDecimal, (void *c, YK_FMI_REFERENCES, double *intervals, int *qualifiers),
      "clocks")
LACKS(GetIntervalFraction,
      (void *c, YK_FMI_REFERENCES, uint64_t *counters, uint64_t *resolutions, int *qualifiers),
      "clocks")
LACKS(GetShiftDecimal, (void *c, YK_FMI_REFERENCES, double *shifts), "clocks")
LACKS(GetShiftFraction, (void *c, YK_FMI_REFERENCES, uint64_t *counters, uint64_t *resolutions),
      "clocks")
LACKS(SetIntervalDecimal, (void *c, YK_FMI_REFERENCES, const double *intervals), "clocks")
LACKS(SetIntervalFraction,
      (void *c, YK_FMI_REFERENCES, const uint64_t *counters, const uint64_t *resolutions), "clocks")
LACKS(SetShiftDecimal, (void *c, YK_FMI_REFERENCES, const double *shifts), "clocks")
LACKS(SetShiftFraction,
      (void *c, YK_FMI_REFERENCES, const uint64_t *counters, const uint64_t *resolutions), "clocks")
LACKS(EvaluateDiscreteStates, (void *c), "event mode")
LACKS(UpdateDiscreteStates,
      (void *c, bool *update_needed, bool *terminate, bool *nominals_changed, bool *states_changed,
       bool *next_event_defined, double *next_event),
      "event mode")
LACKS(GetNumberOfVariableDependencies, (void *c, uint32_t reference, size_t *count),
      "lists of dependencies")
LACKS(GetVariableDependencies,
      (void *c, uint32_t dependent, size_t *elements, uint32_t *independents,
       size_t *independent_elements, int *kinds, size_t count),
      "lists of dependencies")
LACKS(GetOutputDerivatives,
      (void *c, YK_FMI_REFERENCES, const int32_t *orders, double *values, size_t value_count),
      "derivatives of outputs")
LACKS(EnterContinuousTimeMode, (void *c), "model exchange")
LACKS(CompletedIntegratorStep, (void *c, bool no_rollback, bool *event, bool *terminate),
      "model exchange")
LACKS(SetTime, (void *c, double time), "model exchange")
LACKS(SetContinuousStates, (void *c, const double *states, size_t count), "model exchange")
LACKS(GetContinuousStateDerivatives, (void *c, double *rates, size_t count), "model exchange")
LACKS(GetEventIndicators, (void *c, double *indicators, size_t count), "model exchange")
LACKS(GetContinuousStates, (void *c, double *states, size_t count), "model exchange")
LACKS(GetNominalsOfContinuousStates, (void *c, double *nominals, size_t count), "model exchange")
LACKS(GetNumberOfEventIndicators, (void *c, size_t *count), "model exchange")
LACKS(GetNumberOfContinuousStates, (void *c, size_t *count), "model exchange")
LACKS(ActivateModelPartition, (void *c, uint32_t clock, double time), "scheduled execution")
