/* The functions of an FMU of FMI 3.0, declared from the text of the standard; see fmi2.h. */
#ifndef YK_TRANSPORT_FMI_FMI3_H
#define YK_TRANSPORT_FMI_FMI3_H

#include <stdbool.h>

#include "transport/fmi/fmi2.h"

typedef enum yk_fmi3_status {
    YK_FMI3_OK,
    YK_FMI3_WARNING,
    YK_FMI3_DISCARD,
    YK_FMI3_ERROR,
    YK_FMI3_FATAL
} yk_fmi3_status;

typedef uint32_t yk_fmi3_reference;

typedef void (*yk_fmi3_log)(void *environment, yk_fmi3_status status, const char *category,
                            const char *message);
typedef void (*yk_fmi3_intermediate_update)(void *environment, double time, bool set_requested,
                                            bool get_allowed, bool step_finished,
                                            bool can_return_early, bool *return_early,
                                            double *return_time);
typedef void (*yk_fmi3_clock_update)(void *environment);
typedef void (*yk_fmi3_preemption)(void);

#define YK_FMI3_REFERENCES const yk_fmi3_reference *references, size_t count
#define YK_FMI3_ACCESS(X, who, type, ctype)                             \
    X(who, yk_fmi3_status, Get##type,                                   \
      (void *c, YK_FMI3_REFERENCES, ctype *values, size_t value_count)) \
    X(who, yk_fmi3_status, Set##type,                                   \
      (void *c, YK_FMI3_REFERENCES, const ctype *values, size_t value_count))
#define YK_FMI3_DERIVATIVE(X, who, name)                                                      \
    X(who, yk_fmi3_status, name,                                                              \
      (void *c, const yk_fmi3_reference *unknowns, size_t unknown_count,                      \
       const yk_fmi3_reference *knowns, size_t known_count, const double *seed, size_t seeds, \
       double *result, size_t results))
#define YK_FMI3_INSTANCE \
    const char *name, const char *token, const char *resources, bool visible, bool logging

/* X(who, returned type, name without fmi3, arguments) */
#define YK_FMI3_LIST(X)                                                                          \
    X(YK_FMI_ALL, const char *, GetVersion, (void))                                              \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, SetDebugLogging,                                          \
      (void *c, bool on, size_t count, const char *const *categories))                           \
    X(YK_FMI_ONLY_ME, void *, InstantiateModelExchange,                                          \
      (YK_FMI3_INSTANCE, void *environment, yk_fmi3_log log))                                    \
    X(YK_FMI_ONLY_CS, void *, InstantiateCoSimulation,                                           \
      (YK_FMI3_INSTANCE, bool event_mode, bool early_return,                                     \
       const yk_fmi3_reference *intermediate, size_t intermediate_count, void *environment,      \
       yk_fmi3_log log, yk_fmi3_intermediate_update update))                                     \
    X(YK_FMI_OPTIONAL, void *, InstantiateScheduledExecution,                                    \
      (YK_FMI3_INSTANCE, void *environment, yk_fmi3_log log, yk_fmi3_clock_update clock_update,  \
       yk_fmi3_preemption lock, yk_fmi3_preemption unlock))                                      \
    X(YK_FMI_ALL, void, FreeInstance, (void *c))                                                 \
    X(YK_FMI_ALL, yk_fmi3_status, EnterInitializationMode,                                       \
      (void *c, bool tolerance_defined, double tolerance, double start, bool stop_defined,       \
       double stop))                                                                             \
    X(YK_FMI_ALL, yk_fmi3_status, ExitInitializationMode, (void *c))                             \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, EnterEventMode, (void *c))                                \
    X(YK_FMI_ALL, yk_fmi3_status, Terminate, (void *c))                                          \
    X(YK_FMI_ALL, yk_fmi3_status, Reset, (void *c))                                              \
    YK_FMI3_ACCESS(X, YK_FMI_ALL, Float64, double)                                               \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Float32, float)                                           \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Int8, int8_t)                                             \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, UInt8, uint8_t)                                           \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Int16, int16_t)                                           \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, UInt16, uint16_t)                                         \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Int32, int32_t)                                           \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, UInt32, uint32_t)                                         \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Int64, int64_t)                                           \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, UInt64, uint64_t)                                         \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, Boolean, bool)                                            \
    YK_FMI3_ACCESS(X, YK_FMI_OPTIONAL, String, yk_fmi_text)                                      \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetBinary,                                                \
      (void *c, YK_FMI3_REFERENCES, size_t *sizes, const uint8_t **values, size_t value_count))  \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, SetBinary,                                                \
      (void *c, YK_FMI3_REFERENCES, const size_t *sizes, const uint8_t *const *values,           \
       size_t value_count))                                                                      \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetClock, (void *c, YK_FMI3_REFERENCES, bool *values))    \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, SetClock,                                                 \
      (void *c, YK_FMI3_REFERENCES, const bool *values))                                         \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetNumberOfVariableDependencies,                          \
      (void *c, yk_fmi3_reference reference, size_t *count))                                     \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetVariableDependencies,                                  \
      (void *c, yk_fmi3_reference dependent, size_t *elements, yk_fmi3_reference *independents,  \
       size_t *independent_elements, int *kinds, size_t count))                                  \
    X(YK_FMI_ONLY_STATE, yk_fmi3_status, GetFMUState, (void *c, void **state))                   \
    X(YK_FMI_ONLY_STATE, yk_fmi3_status, SetFMUState, (void *c, void *state))                    \
    X(YK_FMI_ONLY_STATE, yk_fmi3_status, FreeFMUState, (void *c, void **state))                  \
    X(YK_FMI_ONLY_SERIAL, yk_fmi3_status, SerializedFMUStateSize,                                \
      (void *c, void *state, size_t *size))                                                      \
    X(YK_FMI_ONLY_SERIAL, yk_fmi3_status, SerializeFMUState,                                     \
      (void *c, void *state, uint8_t *bytes, size_t size))                                       \
    X(YK_FMI_ONLY_SERIAL, yk_fmi3_status, DeserializeFMUState,                                   \
      (void *c, const uint8_t *bytes, size_t size, void **state))                                \
    YK_FMI3_DERIVATIVE(X, YK_FMI_ONLY_DIRECTIONAL, GetDirectionalDerivative)                     \
    YK_FMI3_DERIVATIVE(X, YK_FMI_OPTIONAL, GetAdjointDerivative)                                 \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, EnterConfigurationMode, (void *c))                        \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, ExitConfigurationMode, (void *c))                         \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetIntervalDecimal,                                       \
      (void *c, YK_FMI3_REFERENCES, double *intervals, int *qualifiers))                         \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetIntervalFraction,                                      \
      (void *c, YK_FMI3_REFERENCES, uint64_t *counters, uint64_t *resolutions, int *qualifiers)) \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetShiftDecimal,                                          \
      (void *c, YK_FMI3_REFERENCES, double *shifts))                                             \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetShiftFraction,                                         \
      (void *c, YK_FMI3_REFERENCES, uint64_t *counters, uint64_t *resolutions))                  \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, SetIntervalDecimal,                                       \
      (void *c, YK_FMI3_REFERENCES, const double *intervals))                                    \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, SetIntervalFraction,                                      \
      (void *c, YK_FMI3_REFERENCES, const uint64_t *counters, const uint64_t *resolutions))      \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, SetShiftDecimal,                                          \
      (void *c, YK_FMI3_REFERENCES, const double *shifts))                                       \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, SetShiftFraction,                                         \
      (void *c, YK_FMI3_REFERENCES, const uint64_t *counters, const uint64_t *resolutions))      \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, EvaluateDiscreteStates, (void *c))                        \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, UpdateDiscreteStates,                                     \
      (void *c, bool *update_needed, bool *terminate, bool *nominals_changed,                    \
       bool *states_changed, bool *next_event_defined, double *next_event))                      \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, EnterContinuousTimeMode, (void *c))                        \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, CompletedIntegratorStep,                                   \
      (void *c, bool no_rollback, bool *event, bool *terminate))                                 \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, SetTime, (void *c, double time))                           \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, SetContinuousStates,                                       \
      (void *c, const double *states, size_t count))                                             \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, GetContinuousStateDerivatives,                             \
      (void *c, double *derivatives, size_t count))                                              \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, GetEventIndicators,                                        \
      (void *c, double *indicators, size_t count))                                               \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, GetContinuousStates,                                       \
      (void *c, double *states, size_t count))                                                   \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetNominalsOfContinuousStates,                            \
      (void *c, double *nominals, size_t count))                                                 \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, GetNumberOfEventIndicators, (void *c, size_t *count))      \
    X(YK_FMI_ONLY_ME, yk_fmi3_status, GetNumberOfContinuousStates, (void *c, size_t *count))     \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, EnterStepMode, (void *c))                                 \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, GetOutputDerivatives,                                     \
      (void *c, YK_FMI3_REFERENCES, const int32_t *orders, double *values, size_t value_count))  \
    X(YK_FMI_ONLY_CS, yk_fmi3_status, DoStep,                                                    \
      (void *c, double time, double step, bool no_rollback, bool *event_needed, bool *terminate, \
       bool *returned_early, double *last_time))                                                 \
    X(YK_FMI_OPTIONAL, yk_fmi3_status, ActivateModelPartition,                                   \
      (void *c, yk_fmi3_reference clock, double time))

/* The functions of one FMU; NULL where it has none of this name. */
typedef struct yk_fmi3_functions {
#define YK_FMI3_POINTER(who, type, name, arguments) type(*name) arguments;
    YK_FMI3_LIST(YK_FMI3_POINTER)
#undef YK_FMI3_POINTER
} yk_fmi3_functions;

#endif
