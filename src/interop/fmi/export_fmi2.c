/* FMI 2.0, co-simulation, of an exported model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interop/fmi/export.h"

typedef struct component {
    yk_exported *model;
    yk_fmi2_callbacks callbacks;
    char name[200];
    bool logging;
} component;

#define MODEL(c) (((component *)(c))->model)

/* Returns an error unless there is an instance and it is in one of the modes. */
#define ALLOW(c, name, modes)                                       \
    if (!(c) || !yk_exported_allows(MODEL(c), "fmi2" #name, modes)) \
    return YK_FMI_ERROR
#define EXPORT __attribute__((visibility("default")))
/* Prototype and head of a function of the standard. */
#define FUNCTION(type, name, arguments) \
    EXPORT type fmi2##name arguments;   \
    EXPORT type fmi2##name arguments

/* Modes in which groups of functions may be called (FMI 2.0.4, 4.2.4). */
enum {
    MODES_GET = YK_MODE_INITIALISATION | YK_MODE_STEP | YK_MODE_FAILED | YK_MODE_TERMINATED,
    MODES_SET = YK_MODE_INSTANTIATED | YK_MODE_INITIALISATION | YK_MODE_STEP,
    MODES_STATUS = YK_MODE_STEP | YK_MODE_FAILED | YK_MODE_TERMINATED,
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
    const yk_fmi2_callbacks *callbacks = &c->callbacks;
    if (callbacks->logger && (c->logging || grave))
        callbacks->logger(callbacks->environment, c->name, status, category, "%s", text);
}

FUNCTION(const char *, GetTypesPlatform, (void))
{
    return "default";
}

FUNCTION(const char *, GetVersion, (void))
{
    return "2.0";
}

FUNCTION(yk_fmi_status, SetDebugLogging,
         (void *c, yk_fmi2_boolean on, size_t count, const char *const *categories))
{
    ALLOW(c, SetDebugLogging, YK_MODE_ANY);
    (void)count;
    (void)categories;
    ((component *)c)->logging = on;
    return YK_FMI_OK;
}

/* 0 to 15; -1: no digit of this base. */
static int hexadecimal(char digit)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = digit ? strchr(digits, digit) : NULL;
    return found ? (int)(found - digits) % 16 : -1;
}

/* The path of a file URI; false if it is none. */
static bool read_uri(const char *uri, char *path, size_t size)
{
    if (!uri || strncmp(uri, "file:", 5) != 0)
        return false;

    const char *at = uri + 5;

    /* The host is empty, or this machine. */
    if (strncmp(at, "//", 2) == 0) {
        at += 2;
        if (strncmp(at, "localhost/", 10) == 0)
            at += 9;
    }

    /* %20 and the like are characters. */
    size_t used = 0;
    for (; *at && used + 1 < size; at++) {
        int high = *at == '%' ? hexadecimal(at[1]) : -1;
        int low = high >= 0 ? hexadecimal(at[2]) : -1;
        if (low >= 0) {
            path[used++] = (char)(16 * high + low);
            at += 2;
        } else {
            path[used++] = *at;
        }
    }
    path[used] = '\0';
    return true;
}

FUNCTION(void *, Instantiate,
         (const char *name, int kind, const char *guid, const char *resources,
          const yk_fmi2_callbacks *callbacks, yk_fmi2_boolean visible, yk_fmi2_boolean logging))
{
    (void)visible;
    component *c = calloc(1, sizeof *c);
    if (!c || !callbacks) {
        free(c);
        return NULL;
    }

    c->callbacks = *callbacks;
    c->logging = logging;
    snprintf(c->name, sizeof c->name, "%s", name ? name : "");

    /* Log the reason: for the importer, NULL only means that there is no instance. */
    char path[4096];
    if (kind != YK_FMI2_CO_SIMULATION)
        log_text(c, YK_LOG_ERROR, "the FMU is one of co-simulation");
    else if (!read_uri(resources, path, sizeof path))
        log_text(c, YK_LOG_ERROR, "the location of the resources is no file URI");
    else
        c->model = yk_exported_create(path, guid, log_text, c);

    if (c->model)
        return c;

    free(c);
    return NULL;
}

FUNCTION(void, FreeInstance, (void *c))
{
    if (!c)
        return;

    yk_exported_destroy(MODEL(c));
    free(c);
}

FUNCTION(yk_fmi_status, SetupExperiment,
         (void *c, yk_fmi2_boolean tolerance_defined, double tolerance, double start,
          yk_fmi2_boolean stop_defined, double stop))
{
    (void)tolerance_defined;
    (void)tolerance;
    ALLOW(c, SetupExperiment, YK_MODE_INSTANTIATED);
    return yk_exported_answer(yk_exported_set_up(MODEL(c), start, stop_defined ? stop : INFINITY));
}

FUNCTION(yk_fmi_status, EnterInitializationMode, (void *c))
{
    ALLOW(c, EnterInitializationMode, YK_MODE_INSTANTIATED);
    return yk_exported_answer(yk_exported_begin(MODEL(c)));
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

/* Values: all variables are real. */

FUNCTION(yk_fmi_status, GetReal,
         (void *c, const uint32_t *references, size_t count, double *values))
{
    ALLOW(c, GetReal, MODES_GET);
    return yk_exported_answer(yk_exported_get(MODEL(c), references, count, values));
}

FUNCTION(yk_fmi_status, SetReal,
         (void *c, const uint32_t *references, size_t count, const double *values))
{
    ALLOW(c, SetReal, MODES_SET);
    return yk_exported_answer(yk_exported_set(MODEL(c), references, count, values));
}

#define NONE_OF(type, ctype)                                                           \
    FUNCTION(yk_fmi_status, Get##type,                                                 \
             (void *c, const uint32_t *references, size_t count, ctype *values))       \
    {                                                                                  \
        ALLOW(c, Get##type, MODES_GET);                                                \
        (void)references;                                                              \
        (void)values;                                                                  \
        return count == 0 ? YK_FMI_OK : YK_FMI_ERROR;                                  \
    }                                                                                  \
    FUNCTION(yk_fmi_status, Set##type,                                                 \
             (void *c, const uint32_t *references, size_t count, const ctype *values)) \
    {                                                                                  \
        ALLOW(c, Set##type, MODES_SET);                                                \
        (void)references;                                                              \
        (void)values;                                                                  \
        return count == 0 ? YK_FMI_OK : YK_FMI_ERROR;                                  \
    }
NONE_OF(Integer, int)
NONE_OF(Boolean, yk_fmi2_boolean)
NONE_OF(String, yk_fmi_text)

FUNCTION(yk_fmi_status, SetRealInputDerivatives,
         (void *c, const uint32_t *references, size_t count, const int *orders,
          const double *values))
{
    ALLOW(c, SetRealInputDerivatives, MODES_SET);
    /* canInterpolateInputs of this model means lines: no higher derivatives. */
    for (size_t i = 0; i < count; i++)
        if (orders[i] != 1)
            return YK_FMI_ERROR;

    return yk_exported_answer(yk_exported_set_rates(MODEL(c), references, count, values));
}

FUNCTION(yk_fmi_status, GetRealOutputDerivatives,
         (void *c, const uint32_t *references, size_t count, const int *orders, double *values))
{
    ALLOW(c, GetRealOutputDerivatives, MODES_STATUS);
    (void)references;
    (void)orders;
    (void)values;
    return count == 0 ? YK_FMI_OK : YK_FMI_ERROR;
}

/* State. */

FUNCTION(yk_fmi_status, FreeFMUstate, (void *c, void **state))
{
    ALLOW(c, FreeFMUstate, MODES_OUTSIDE);
    if (state) {
        free(*state);
        *state = NULL;
    }
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetFMUstate, (void *c, void **state))
{
    ALLOW(c, GetFMUstate, MODES_OUTSIDE);
    if (!state)
        return YK_FMI_ERROR;
    size_t size = yk_exported_state_size(MODEL(c));
    if (!*state && size > 0)
        *state = malloc(size);

    if (!*state || size == 0)
        return YK_FMI_ERROR;

    yk_exported_state_get(MODEL(c), *state);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetFMUstate, (void *c, void *state))
{
    ALLOW(c, SetFMUstate, MODES_OUTSIDE);
    yk_exported *model = MODEL(c);
    return yk_exported_answer(yk_exported_state_set(model, state, yk_exported_state_size(model)));
}

FUNCTION(yk_fmi_status, SerializedFMUstateSize, (void *c, void *state, size_t *size))
{
    ALLOW(c, SerializedFMUstateSize, MODES_OUTSIDE);
    (void)state;
    *size = yk_exported_state_size(MODEL(c));
    return *size > 0 ? YK_FMI_OK : YK_FMI_ERROR;
}

FUNCTION(yk_fmi_status, SerializeFMUstate, (void *c, void *state, char *bytes, size_t size))
{
    ALLOW(c, SerializeFMUstate, MODES_OUTSIDE);
    if (size != yk_exported_state_size(MODEL(c)))
        return YK_FMI_ERROR;

    memcpy(bytes, state, size);
    yk_exported_state_seal(bytes, size);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, DeSerializeFMUstate,
         (void *c, const char *bytes, size_t size, void **state))
{
    ALLOW(c, DeSerializeFMUstate, MODES_OUTSIDE);
    if (YK_FAILED(yk_exported_state_check(MODEL(c), bytes, size)))
        return YK_FMI_ERROR;

    if (!*state)
        *state = malloc(size);
    if (!*state)
        return YK_FMI_ERROR;

    memcpy(*state, bytes, size);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetDirectionalDerivative,
         (void *c, const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns,
          size_t known_count, const double *seed, double *result))
{
    ALLOW(c, GetDirectionalDerivative, MODES_GET);
    return yk_exported_answer(yk_exported_derive(MODEL(c), false, unknowns, unknown_count, knowns,
                                                 known_count, seed, result));
}

/* Steps. */

FUNCTION(yk_fmi_status, DoStep, (void *c, double t, double h, yk_fmi2_boolean no_rollback))
{
    ALLOW(c, DoStep, YK_MODE_STEP);
    (void)no_rollback;
    return yk_exported_answer(yk_exported_step(MODEL(c), t, h, NULL, NULL));
}

FUNCTION(yk_fmi_status, CancelStep, (void *c))
{
    ALLOW(c, CancelStep, YK_MODE_INTERMEDIATE);
    return YK_FMI_ERROR;
}

#define STATUS_OF(name, ctype)                                           \
    FUNCTION(yk_fmi_status, name, (void *c, int question, ctype *value)) \
    {                                                                    \
        ALLOW(c, name, MODES_STATUS);                                    \
        (void)question;                                                  \
        (void)value;                                                     \
        return YK_FMI_DISCARD;                                           \
    }
STATUS_OF(GetStatus, yk_fmi_status)
STATUS_OF(GetRealStatus, double)
STATUS_OF(GetIntegerStatus, int)
STATUS_OF(GetBooleanStatus, yk_fmi2_boolean)
STATUS_OF(GetStringStatus, const char *)
