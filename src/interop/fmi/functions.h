/* The functions of an FMU of FMI 2.0 and of FMI 3.0, declared from the texts of the standard.
 *
 * One list for each version gives the types of the functions, the table of pointers to those of a
 * loaded FMU and the names that are looked up. Each row says which kinds of FMU must have the
 * function. */
#ifndef YK_TRANSPORT_FMI_FUNCTIONS_H
#define YK_TRANSPORT_FMI_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return values of the functions of both versions. */
typedef enum yk_fmi_status {
    YK_FMI_OK,
    YK_FMI_WARNING,
    YK_FMI_DISCARD,
    YK_FMI_ERROR,
    YK_FMI_FATAL,
    YK_FMI_PENDING /* FMI 2 */
} yk_fmi_status;

/* Texts for the macros of lists: with a name before which const can be written. */
typedef const char *yk_fmi_text;

/* FMUs that must have a function. */
enum {
    YK_FMI_ALL = 1,
    YK_FMI_ONLY_ME = 2,
    YK_FMI_ONLY_CS = 4,
    YK_FMI_ONLY_STATE = 8,        /* those that declare state get and set */
    YK_FMI_ONLY_SERIAL = 16,      /* ... its serialisation */
    YK_FMI_ONLY_DIRECTIONAL = 32, /* ... directional derivatives */
    YK_FMI_OPTIONAL = 64
};

#define YK_FMI_REFERENCES const uint32_t *references, size_t count

/* A member of a table of functions, for a row of the lists. */
#define YK_FMI_POINTER(who, type, name, arguments) type(*name) arguments;

/* FMI 2.0 -------------------------------------------------------------------------------------- */

typedef int yk_fmi2_boolean;

/* Data available after a step that was not completed, in the order of the standard. */
enum {
    YK_FMI2_DO_STEP_STATUS,
    YK_FMI2_PENDING_STATUS,
    YK_FMI2_LAST_SUCCESSFUL_TIME,
    YK_FMI2_TERMINATED
};

enum { YK_FMI2_MODEL_EXCHANGE = 0, YK_FMI2_CO_SIMULATION = 1 }; /* kind of an instance */

typedef struct yk_fmi2_callbacks {
    void (*logger)(void *environment, const char *instance, yk_fmi_status status,
                   const char *category, const char *message, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *block);
    void (*step_finished)(void *environment, yk_fmi_status status);
    void *environment;
} yk_fmi2_callbacks;

typedef struct yk_fmi2_event_info {
    yk_fmi2_boolean new_discrete_states_needed;
    yk_fmi2_boolean terminate;
    yk_fmi2_boolean nominals_changed;
    yk_fmi2_boolean states_changed;
    yk_fmi2_boolean next_event_defined;
    double next_event;
} yk_fmi2_event_info;

#define YK_FMI2_ACCESS(X, type, ctype)                                                   \
    X(YK_FMI_ALL, yk_fmi_status, Get##type, (void *c, YK_FMI_REFERENCES, ctype *values)) \
    X(YK_FMI_ALL, yk_fmi_status, Set##type, (void *c, YK_FMI_REFERENCES, const ctype *values))

/* X(who, returned type, name without fmi2, arguments) */
#define YK_FMI2_LIST(X)                                                                            \
    X(YK_FMI_ALL, const char *, GetTypesPlatform, (void))                                          \
    X(YK_FMI_ALL, const char *, GetVersion, (void))                                                \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetDebugLogging,                                             \
      (void *c, yk_fmi2_boolean on, size_t count, const char *const *categories))                  \
    X(YK_FMI_ALL, void *, Instantiate,                                                             \
      (const char *name, int kind, const char *guid, const char *resources,                        \
       const yk_fmi2_callbacks *callbacks, yk_fmi2_boolean visible, yk_fmi2_boolean logging))      \
    X(YK_FMI_ALL, void, FreeInstance, (void *c))                                                   \
    X(YK_FMI_ALL, yk_fmi_status, SetupExperiment,                                                  \
      (void *c, yk_fmi2_boolean tolerance_defined, double tolerance, double start,                 \
       yk_fmi2_boolean stop_defined, double stop))                                                 \
    X(YK_FMI_ALL, yk_fmi_status, EnterInitializationMode, (void *c))                               \
    X(YK_FMI_ALL, yk_fmi_status, ExitInitializationMode, (void *c))                                \
    X(YK_FMI_ALL, yk_fmi_status, Terminate, (void *c))                                             \
    X(YK_FMI_ALL, yk_fmi_status, Reset, (void *c))                                                 \
    YK_FMI2_ACCESS(X, Real, double)                                                                \
    YK_FMI2_ACCESS(X, Integer, int)                                                                \
    YK_FMI2_ACCESS(X, Boolean, yk_fmi2_boolean)                                                    \
    YK_FMI2_ACCESS(X, String, yk_fmi_text)                                                         \
    X(YK_FMI_ONLY_STATE, yk_fmi_status, GetFMUstate, (void *c, void **state))                      \
    X(YK_FMI_ONLY_STATE, yk_fmi_status, SetFMUstate, (void *c, void *state))                       \
    X(YK_FMI_ONLY_STATE, yk_fmi_status, FreeFMUstate, (void *c, void **state))                     \
    X(YK_FMI_ONLY_SERIAL, yk_fmi_status, SerializedFMUstateSize,                                   \
      (void *c, void *state, size_t *size))                                                        \
    X(YK_FMI_ONLY_SERIAL, yk_fmi_status, SerializeFMUstate,                                        \
      (void *c, void *state, char *bytes, size_t size))                                            \
    X(YK_FMI_ONLY_SERIAL, yk_fmi_status, DeSerializeFMUstate,                                      \
      (void *c, const char *bytes, size_t size, void **state))                                     \
    X(YK_FMI_ONLY_DIRECTIONAL, yk_fmi_status, GetDirectionalDerivative,                            \
      (void *c, const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns,            \
       size_t known_count, const double *seed, double *result))                                    \
    X(YK_FMI_ONLY_ME, yk_fmi_status, EnterEventMode, (void *c))                                    \
    X(YK_FMI_ONLY_ME, yk_fmi_status, NewDiscreteStates, (void *c, yk_fmi2_event_info *info))       \
    X(YK_FMI_ONLY_ME, yk_fmi_status, EnterContinuousTimeMode, (void *c))                           \
    X(YK_FMI_ONLY_ME, yk_fmi_status, CompletedIntegratorStep,                                      \
      (void *c, yk_fmi2_boolean no_rollback, yk_fmi2_boolean *event, yk_fmi2_boolean *terminate))  \
    X(YK_FMI_ONLY_ME, yk_fmi_status, SetTime, (void *c, double time))                              \
    X(YK_FMI_ONLY_ME, yk_fmi_status, SetContinuousStates,                                          \
      (void *c, const double *states, size_t count))                                               \
    X(YK_FMI_ONLY_ME, yk_fmi_status, GetDerivatives, (void *c, double *derivatives, size_t count)) \
    X(YK_FMI_ONLY_ME, yk_fmi_status, GetEventIndicators,                                           \
      (void *c, double *indicators, size_t count))                                                 \
    X(YK_FMI_ONLY_ME, yk_fmi_status, GetContinuousStates, (void *c, double *states, size_t count)) \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetNominalsOfContinuousStates,                               \
      (void *c, double *nominals, size_t count))                                                   \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetRealInputDerivatives,                                     \
      (void *c, YK_FMI_REFERENCES, const int *orders, const double *values))                       \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetRealOutputDerivatives,                                    \
      (void *c, YK_FMI_REFERENCES, const int *orders, double *values))                             \
    X(YK_FMI_ONLY_CS, yk_fmi_status, DoStep,                                                       \
      (void *c, double time, double step, yk_fmi2_boolean no_rollback))                            \
    X(YK_FMI_OPTIONAL, yk_fmi_status, CancelStep, (void *c))                                       \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetStatus, (void *c, int question, yk_fmi_status *value))    \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetRealStatus, (void *c, int question, double *value))       \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetIntegerStatus, (void *c, int question, int *value))       \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetBooleanStatus,                                            \
      (void *c, int question, yk_fmi2_boolean *value))                                             \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetStringStatus, (void *c, int question, const char **value))

/* FMI 3.0 -------------------------------------------------------------------------------------- */

typedef void (*yk_fmi3_log)(void *environment, yk_fmi_status status, const char *category,
                            const char *message);
typedef void (*yk_fmi3_intermediate_update)(void *environment, double time, bool set_requested,
                                            bool get_allowed, bool step_finished,
                                            bool can_return_early, bool *return_early,
                                            double *return_time);

#define YK_FMI3_ACCESS(X, who, type, ctype)                            \
    X(who, yk_fmi_status, Get##type,                                   \
      (void *c, YK_FMI_REFERENCES, ctype *values, size_t value_count)) \
    X(who, yk_fmi_status, Set##type,                                   \
      (void *c, YK_FMI_REFERENCES, const ctype *values, size_t value_count))
#define YK_FMI3_DERIVATIVE(X, who, name)                                                \
    X(who, yk_fmi_status, name,                                                         \
      (void *c, const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns, \
       size_t known_count, const double *seed, size_t seeds, double *result, size_t results))
#define YK_FMI3_INSTANCE \
    const char *name, const char *token, const char *resources, bool visible, bool logging

/* X(who, returned type, name without fmi3, arguments) */
#define YK_FMI3_LIST(X)                                                                            \
    X(YK_FMI_ALL, const char *, GetVersion, (void))                                                \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetDebugLogging,                                             \
      (void *c, bool on, size_t count, const char *const *categories))                             \
    X(YK_FMI_ONLY_ME, void *, InstantiateModelExchange,                                            \
      (YK_FMI3_INSTANCE, void *environment, yk_fmi3_log log))                                      \
    X(YK_FMI_ONLY_CS, void *, InstantiateCoSimulation,                                             \
      (YK_FMI3_INSTANCE, bool event_mode, bool early_return, const uint32_t *intermediate,         \
       size_t intermediate_count, void *environment, yk_fmi3_log log,                              \
       yk_fmi3_intermediate_update update))                                                        \
    X(YK_FMI_OPTIONAL, void *, InstantiateScheduledExecution,                                      \
      (YK_FMI3_INSTANCE, void *environment, yk_fmi3_log log,                                       \
       void (*clock_update)(void *environment), void (*lock)(void), void (*unlock)(void)))         \
    X(YK_FMI_ALL, void, FreeInstance, (void *c))                                                   \
    X(YK_FMI_ALL, yk_fmi_status, EnterInitializationMode,                                          \
      (void *c, bool tolerance_defined, double tolerance, double start, bool stop_defined,         \
       double stop))                                                                               \
    X(YK_FMI_ALL, yk_fmi_status, ExitInitializationMode, (void *c))                                \
    X(YK_FMI_OPTIONAL, yk_fmi_status, EnterEventMode, (void *c))                                   \
    X(YK_FMI_ALL, yk_fmi_status, Terminate, (void *c))                                             \
    X(YK_FMI_ALL, yk_fmi_status, Reset, (void *c))                                                 \
    YK_FMI3_ACCESS(X, YK_FMI_ALL, Float64, double)                                                 \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Float32, float)                                             \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Int8, int8_t)                                               \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, UInt8, uint8_t)                                             \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Int16, int16_t)                                             \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, UInt16, uint16_t)                                           \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Int32, int32_t)                                             \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, UInt32, uint32_t)                                           \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Int64, int64_t)                                             \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, UInt64, uint64_t)                                           \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Boolean, bool)                                              \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, String, yk_fmi_text)                                        \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetBinary,                                                   \
      (void *c, YK_FMI_REFERENCES, size_t *sizes, const uint8_t **values, size_t value_count))     \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetBinary,                                                   \
      (void *c, YK_FMI_REFERENCES, const size_t *sizes, const uint8_t *const *values,              \
       size_t value_count))                                                                        \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetClock, (void *c, YK_FMI_REFERENCES, bool *values))        \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetClock, (void *c, YK_FMI_REFERENCES, const bool *values))  \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetNumberOfVariableDependencies,                             \
      (void *c, uint32_t reference, size_t *count))                                                \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetVariableDependencies,                                     \
      (void *c, uint32_t dependent, size_t *elements, uint32_t *independents,                      \
       size_t *independent_elements, int *kinds, size_t count))                                    \
    X(YK_FMI_ONLY_STATE, yk_fmi_status, GetFMUState, (void *c, void **state))                      \
    X(YK_FMI_ONLY_STATE, yk_fmi_status, SetFMUState, (void *c, void *state))                       \
    X(YK_FMI_ONLY_STATE, yk_fmi_status, FreeFMUState, (void *c, void **state))                     \
    X(YK_FMI_ONLY_SERIAL, yk_fmi_status, SerializedFMUStateSize,                                   \
      (void *c, void *state, size_t *size))                                                        \
    X(YK_FMI_ONLY_SERIAL, yk_fmi_status, SerializeFMUState,                                        \
      (void *c, void *state, uint8_t *bytes, size_t size))                                         \
    X(YK_FMI_ONLY_SERIAL, yk_fmi_status, DeserializeFMUState,                                      \
      (void *c, const uint8_t *bytes, size_t size, void **state))                                  \
    YK_FMI3_DERIVATIVE(X, YK_FMI_ONLY_DIRECTIONAL, GetDirectionalDerivative)                       \
    YK_FMI3_DERIVATIVE(X, YK_FMI_OPTIONAL, GetAdjointDerivative)                                   \
    X(YK_FMI_OPTIONAL, yk_fmi_status, EnterConfigurationMode, (void *c))                           \
    X(YK_FMI_OPTIONAL, yk_fmi_status, ExitConfigurationMode, (void *c))                            \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetIntervalDecimal,                                          \
      (void *c, YK_FMI_REFERENCES, double *intervals, int *qualifiers))                            \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetIntervalFraction,                                         \
      (void *c, YK_FMI_REFERENCES, uint64_t *counters, uint64_t *resolutions, int *qualifiers))    \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetShiftDecimal,                                             \
      (void *c, YK_FMI_REFERENCES, double *shifts))                                                \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetShiftFraction,                                            \
      (void *c, YK_FMI_REFERENCES, uint64_t *counters, uint64_t *resolutions))                     \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetIntervalDecimal,                                          \
      (void *c, YK_FMI_REFERENCES, const double *intervals))                                       \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetIntervalFraction,                                         \
      (void *c, YK_FMI_REFERENCES, const uint64_t *counters, const uint64_t *resolutions))         \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetShiftDecimal,                                             \
      (void *c, YK_FMI_REFERENCES, const double *shifts))                                          \
    X(YK_FMI_OPTIONAL, yk_fmi_status, SetShiftFraction,                                            \
      (void *c, YK_FMI_REFERENCES, const uint64_t *counters, const uint64_t *resolutions))         \
    X(YK_FMI_OPTIONAL, yk_fmi_status, EvaluateDiscreteStates, (void *c))                           \
    X(YK_FMI_OPTIONAL, yk_fmi_status, UpdateDiscreteStates,                                        \
      (void *c, bool *update_needed, bool *terminate, bool *nominals_changed,                      \
       bool *states_changed, bool *next_event_defined, double *next_event))                        \
    X(YK_FMI_ONLY_ME, yk_fmi_status, EnterContinuousTimeMode, (void *c))                           \
    X(YK_FMI_ONLY_ME, yk_fmi_status, CompletedIntegratorStep,                                      \
      (void *c, bool no_rollback, bool *event, bool *terminate))                                   \
    X(YK_FMI_ONLY_ME, yk_fmi_status, SetTime, (void *c, double time))                              \
    X(YK_FMI_ONLY_ME, yk_fmi_status, SetContinuousStates,                                          \
      (void *c, const double *states, size_t count))                                               \
    X(YK_FMI_ONLY_ME, yk_fmi_status, GetContinuousStateDerivatives,                                \
      (void *c, double *derivatives, size_t count))                                                \
    X(YK_FMI_ONLY_ME, yk_fmi_status, GetEventIndicators,                                           \
      (void *c, double *indicators, size_t count))                                                 \
    X(YK_FMI_ONLY_ME, yk_fmi_status, GetContinuousStates, (void *c, double *states, size_t count)) \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetNominalsOfContinuousStates,                               \
      (void *c, double *nominals, size_t count))                                                   \
    X(YK_FMI_ONLY_ME, yk_fmi_status, GetNumberOfEventIndicators, (void *c, size_t *count))         \
    X(YK_FMI_ONLY_ME, yk_fmi_status, GetNumberOfContinuousStates, (void *c, size_t *count))        \
    X(YK_FMI_OPTIONAL, yk_fmi_status, EnterStepMode, (void *c))                                    \
    X(YK_FMI_OPTIONAL, yk_fmi_status, GetOutputDerivatives,                                        \
      (void *c, YK_FMI_REFERENCES, const int32_t *orders, double *values, size_t value_count))     \
    X(YK_FMI_ONLY_CS, yk_fmi_status, DoStep,                                                       \
      (void *c, double time, double step, bool no_rollback, bool *event_needed, bool *terminate,   \
       bool *returned_early, double *last_time))                                                   \
    X(YK_FMI_OPTIONAL, yk_fmi_status, ActivateModelPartition,                                      \
      (void *c, uint32_t clock, double time))

#endif
