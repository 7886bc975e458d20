/* The functions of an FMU of FMI 2.0, declared from the text of the standard.
 *
 * One list gives the types of the functions, the table of pointers to those of a loaded FMU and
 * the names that are looked up. Each row says which kinds of FMU must have the function. */
#ifndef YK_TRANSPORT_FMI_FMI2_H
#define YK_TRANSPORT_FMI_FMI2_H

#include <stddef.h>
#include <stdint.h>

typedef enum yk_fmi2_status {
    YK_FMI2_OK,
    YK_FMI2_WARNING,
    YK_FMI2_DISCARD,
    YK_FMI2_ERROR,
    YK_FMI2_FATAL,
    YK_FMI2_PENDING
} yk_fmi2_status;

/* What can be asked of a step that was not completed, in the order of the standard. */
typedef enum yk_fmi2_question {
    YK_FMI2_DO_STEP_STATUS,
    YK_FMI2_PENDING_STATUS,
    YK_FMI2_LAST_SUCCESSFUL_TIME,
    YK_FMI2_TERMINATED
} yk_fmi2_question;

enum { YK_FMI2_MODEL_EXCHANGE = 0, YK_FMI2_CO_SIMULATION = 1 }; /* kind of an instance */

typedef unsigned yk_fmi2_reference;
typedef int yk_fmi2_boolean;
typedef const char *yk_fmi_text;

typedef struct yk_fmi2_callbacks {
    void (*logger)(void *environment, const char *instance, yk_fmi2_status status,
                   const char *category, const char *message, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *block);
    void (*step_finished)(void *environment, yk_fmi2_status status);
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

/* Who must have a function. */
enum {
    YK_FMI_ALL = 1,
    YK_FMI_ONLY_ME = 2,
    YK_FMI_ONLY_CS = 4,
    YK_FMI_ONLY_STATE = 8,        /* those that declare state get and set */
    YK_FMI_ONLY_SERIAL = 16,      /* ... its serialisation */
    YK_FMI_ONLY_DIRECTIONAL = 32, /* ... directional derivatives */
    YK_FMI_OPTIONAL = 64
};

#define YK_FMI2_REFERENCES const yk_fmi2_reference *references, size_t count
#define YK_FMI2_ACCESS(X, type, ctype)                                                     \
    X(YK_FMI_ALL, yk_fmi2_status, Get##type, (void *c, YK_FMI2_REFERENCES, ctype *values)) \
    X(YK_FMI_ALL, yk_fmi2_status, Set##type, (void *c, YK_FMI2_REFERENCES, const ctype *values))

/* X(who, returned type, name without fmi2, arguments) */
#define YK_FMI2_LIST(X)                                                                           \
    X(YK_FMI_ALL, const char *, GetTypesPlatform, (void))                                         \
    X(YK_FMI_ALL, const char *, GetVersion, (void))                                               \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, SetDebugLogging,                                           \
      (void *c, yk_fmi2_boolean on, size_t count, const char *const *categories))                 \
    X(YK_FMI_ALL, void *, Instantiate,                                                            \
      (const char *name, int kind, const char *guid, const char *resources,                       \
       const yk_fmi2_callbacks *callbacks, yk_fmi2_boolean visible, yk_fmi2_boolean logging))     \
    X(YK_FMI_ALL, void, FreeInstance, (void *c))                                                  \
    X(YK_FMI_ALL, yk_fmi2_status, SetupExperiment,                                                \
      (void *c, yk_fmi2_boolean tolerance_defined, double tolerance, double start,                \
       yk_fmi2_boolean stop_defined, double stop))                                                \
    X(YK_FMI_ALL, yk_fmi2_status, EnterInitializationMode, (void *c))                             \
    X(YK_FMI_ALL, yk_fmi2_status, ExitInitializationMode, (void *c))                              \
    X(YK_FMI_ALL, yk_fmi2_status, Terminate, (void *c))                                           \
    X(YK_FMI_ALL, yk_fmi2_status, Reset, (void *c))                                               \
    YK_FMI2_ACCESS(X, Real, double)                                                               \
    YK_FMI2_ACCESS(X, Integer, int)                                                               \
    YK_FMI2_ACCESS(X, Boolean, yk_fmi2_boolean)                                                   \
    YK_FMI2_ACCESS(X, String, yk_fmi_text)                                                        \
    X(YK_FMI_ONLY_STATE, yk_fmi2_status, GetFMUstate, (void *c, void **state))                    \
    X(YK_FMI_ONLY_STATE, yk_fmi2_status, SetFMUstate, (void *c, void *state))                     \
    X(YK_FMI_ONLY_STATE, yk_fmi2_status, FreeFMUstate, (void *c, void **state))                   \
    X(YK_FMI_ONLY_SERIAL, yk_fmi2_status, SerializedFMUstateSize,                                 \
      (void *c, void *state, size_t *size))                                                       \
    X(YK_FMI_ONLY_SERIAL, yk_fmi2_status, SerializeFMUstate,                                      \
      (void *c, void *state, char *bytes, size_t size))                                           \
    X(YK_FMI_ONLY_SERIAL, yk_fmi2_status, DeSerializeFMUstate,                                    \
      (void *c, const char *bytes, size_t size, void **state))                                    \
    X(YK_FMI_ONLY_DIRECTIONAL, yk_fmi2_status, GetDirectionalDerivative,                          \
      (void *c, const yk_fmi2_reference *unknowns, size_t unknown_count,                          \
       const yk_fmi2_reference *knowns, size_t known_count, const double *seed, double *result))  \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, EnterEventMode, (void *c))                                  \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, NewDiscreteStates, (void *c, yk_fmi2_event_info *info))     \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, EnterContinuousTimeMode, (void *c))                         \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, CompletedIntegratorStep,                                    \
      (void *c, yk_fmi2_boolean no_rollback, yk_fmi2_boolean *event, yk_fmi2_boolean *terminate)) \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, SetTime, (void *c, double time))                            \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, SetContinuousStates,                                        \
      (void *c, const double *states, size_t count))                                              \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, GetDerivatives,                                             \
      (void *c, double *derivatives, size_t count))                                               \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, GetEventIndicators,                                         \
      (void *c, double *indicators, size_t count))                                                \
    X(YK_FMI_ONLY_ME, yk_fmi2_status, GetContinuousStates,                                        \
      (void *c, double *states, size_t count))                                                    \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, GetNominalsOfContinuousStates,                             \
      (void *c, double *nominals, size_t count))                                                  \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, SetRealInputDerivatives,                                   \
      (void *c, YK_FMI2_REFERENCES, const int *orders, const double *values))                     \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, GetRealOutputDerivatives,                                  \
      (void *c, YK_FMI2_REFERENCES, const int *orders, double *values))                           \
    X(YK_FMI_ONLY_CS, yk_fmi2_status, DoStep,                                                     \
      (void *c, double time, double step, yk_fmi2_boolean no_rollback))                           \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, CancelStep, (void *c))                                     \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, GetStatus,                                                 \
      (void *c, const yk_fmi2_question question, yk_fmi2_status *value))                          \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, GetRealStatus,                                             \
      (void *c, const yk_fmi2_question question, double *value))                                  \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, GetIntegerStatus,                                          \
      (void *c, const yk_fmi2_question question, int *value))                                     \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, GetBooleanStatus,                                          \
      (void *c, const yk_fmi2_question question, yk_fmi2_boolean *value))                         \
    X(YK_FMI_OPTIONAL, yk_fmi2_status, GetStringStatus,                                           \
      (void *c, const yk_fmi2_question question, const char **value))

/* The functions of one FMU; NULL where it has none of this name. */
typedef struct yk_fmi2_functions {
#define YK_FMI2_POINTER(who, type, name, arguments) type(*name) arguments;
    YK_FMI2_LIST(YK_FMI2_POINTER)
#undef YK_FMI2_POINTER
} yk_fmi2_functions;

#endif
