/* FMI 2.0 for the models of the tests; see skeleton.h. */
typedef struct instance {
    double v[VALUES], rate[VALUES], time;
    yk_fmi2_callbacks callbacks;
    char name[64];
    double first[VALUES];
    bool has_first;
} instance;

typedef struct saved {
    double v[VALUES], rate[VALUES], time;
} saved;

#define FUNCTION(type, name, arguments) \
    EXPORT type fmi2##name arguments;   \
    EXPORT type fmi2##name arguments
#define LOG(self, status, text)                                                                  \
    (self)->callbacks.logger((self)->callbacks.environment, (self)->name, status, "model", "%s", \
                             text)

DEFINE_PARTIAL

FUNCTION(const char *, GetTypesPlatform, (void))
{
    return "default";
}
FUNCTION(const char *, GetVersion, (void))
{
    return "2.0";
}

FUNCTION(void *, Instantiate,
         (const char *name, int kind, const char *guid, const char *resources,
          const yk_fmi2_callbacks *callbacks, int visible, int logging))
{
    (void)kind, (void)resources, (void)visible, (void)logging;
    if (strcmp(guid, TOKEN) != 0) {
        callbacks->logger(callbacks->environment, name, YK_FMI_ERROR, "model",
                          "the GUID %s is not that of the binary, %s", guid, TOKEN);
        return NULL;
    }
    instance *self = calloc(1, sizeof *self);
    memcpy(self->v, start, sizeof self->v);
    self->callbacks = *callbacks;
    strncpy(self->name, name, sizeof self->name - 1);
    return self;
}

FUNCTION(void, FreeInstance, (void *c))
{
    free(c);
}

FUNCTION(yk_fmi_status, SetupExperiment,
         (void *c, int tolerance_defined, double tolerance, double begin, int stop_defined,
          double stop))
{
    (void)tolerance_defined, (void)tolerance, (void)stop_defined, (void)stop;
    ((instance *)c)->time = begin;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, EnterInitializationMode, (void *c))
{
    (void)c;
    return YK_FMI_OK;
}
FUNCTION(yk_fmi_status, Terminate, (void *c))
{
    (void)c;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, ExitInitializationMode, (void *c))
{
    instance *self = c;
    calculate(self->v, self->time);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, Reset, (void *c))
{
    instance *self = c;
    memcpy(self->v, start, sizeof self->v);
    memset(self->rate, 0, sizeof self->rate);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetReal, (void *c, const unsigned *vr, size_t n, double *values))
{
    instance *self = c;
    calculate(self->v, self->time);
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= VALUES)
            return YK_FMI_ERROR;
        values[i] = self->v[vr[i]];
    }
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetReal, (void *c, const unsigned *vr, size_t n, const double *values))
{
    instance *self = c;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= VALUES)
            return YK_FMI_ERROR;
        self->v[vr[i]] = values[i];
        self->rate[vr[i]] = 0;
    }
    return YK_FMI_OK;
}

#define UNUSED_ACCESS(type, ctype)                                                             \
    FUNCTION(yk_fmi_status, Get##type, (void *c, const unsigned *vr, size_t n, ctype *values)) \
    {                                                                                          \
        (void)c, (void)vr, (void)n, (void)values;                                              \
        return YK_FMI_ERROR;                                                                   \
    }                                                                                          \
    FUNCTION(yk_fmi_status, Set##type,                                                         \
             (void *c, const unsigned *vr, size_t n, const ctype *values))                     \
    {                                                                                          \
        (void)c, (void)vr, (void)n, (void)values;                                              \
        return YK_FMI_ERROR;                                                                   \
    }
UNUSED_ACCESS(Integer, int)
UNUSED_ACCESS(Boolean, int)
UNUSED_ACCESS(String, yk_fmi_text)

FUNCTION(yk_fmi_status, GetFMUstate, (void *c, void **state))
{
    TAKE_STATE();
    instance *self = c;
    if (!*state)
        *state = malloc(sizeof(saved));
    saved *s = *state;
    memcpy(s->v, self->v, sizeof s->v);
    memcpy(s->rate, self->rate, sizeof s->rate);
    s->time = self->time;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetFMUstate, (void *c, void *state))
{
    instance *self = c;
    const saved *s = state;
    memcpy(self->v, s->v, sizeof s->v);
    memcpy(self->rate, s->rate, sizeof s->rate);
    self->time = s->time;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, FreeFMUstate, (void *c, void **state))
{
    (void)c;
    free(*state);
    *state = NULL;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SerializedFMUstateSize, (void *c, void *state, size_t *size))
{
    (void)c, (void)state;
    *size = sizeof(saved);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SerializeFMUstate, (void *c, void *state, char *bytes, size_t size))
{
    (void)c;
    memcpy(bytes, state, size);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, DeSerializeFMUstate,
         (void *c, const char *bytes, size_t size, void **state))
{
    (void)c;
    if (!*state)
        *state = malloc(sizeof(saved));
    memcpy(*state, bytes, size);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetDirectionalDerivative,
         (void *c, const unsigned *unknowns, size_t n, const unsigned *knowns, size_t m,
          const double *seed, double *result))
{
    const instance *self = c;
    for (size_t i = 0; i < n; i++) {
        result[i] = 0;
        for (size_t k = 0; k < m; k++)
            result[i] += seed[k] * partial(self->v, self->time, unknowns[i], knowns[k]);
    }
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetRealInputDerivatives,
         (void *c, const unsigned *vr, size_t n, const int *orders, const double *values))
{
    instance *self = c;
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= VALUES || orders[i] != 1)
            return YK_FMI_ERROR;
        self->rate[vr[i]] = values[i];
    }
    return YK_FMI_OK;
}

#ifndef WITHOUT_DO_STEP /* a binary that lacks a function */
FUNCTION(yk_fmi_status, DoStep, (void *c, double t, double h, int no_rollback))
{
    instance *self = c;
    RESTORE_START(self, no_rollback);
    int fault = t + h > 0.05 ? (int)self->v[FAULT] : NO_FAULT;
    if (fault == CRASHES)
        raise(SIGSEGV);
    while (fault == HANGS)
        pause();
    if (fault == FAILS) {
        LOG(self, YK_FMI_ERROR, "the model has failed as it was asked to");
        return YK_FMI_ERROR;
    }
    if (fault == DISCARDS || fault == ENDS)
        return YK_FMI_DISCARD;
    advance(self->v, self->rate, t, h);
    self->time = t + h;
    if (fault == LOSES_NUMBERS)
        self->v[state_of[0]] = NAN;
    calculate(self->v, self->time);
    return YK_FMI_OK;
}
#endif

FUNCTION(yk_fmi_status, GetBooleanStatus, (void *c, int question, int *value))
{
    const instance *self = c;
    *value = question == YK_FMI2_TERMINATED && self->v[FAULT] == ENDS;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetRealStatus, (void *c, int question, double *value))
{
    (void)question;
    *value = ((const instance *)c)->time;
    return YK_FMI_OK;
}

/* Model exchange. */

FUNCTION(yk_fmi_status, EnterEventMode, (void *c))
{
    (void)c;
    return YK_FMI_OK;
}
FUNCTION(yk_fmi_status, EnterContinuousTimeMode, (void *c))
{
    (void)c;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, NewDiscreteStates, (void *c, yk_fmi2_event_info *info))
{
    instance *self = c;
    memset(info, 0, sizeof *info);
    info->states_changed = react(self->v, self->time);
#ifdef NEXT_EVENT
    info->next_event = NEXT_EVENT(self->v, self->time);
    info->next_event_defined = isfinite(info->next_event);
#endif
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, CompletedIntegratorStep,
         (void *c, int no_rollback, int *event, int *terminate))
{
    (void)c, (void)no_rollback;
    *event = 0;
    *terminate = 0;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetTime, (void *c, double t))
{
    ((instance *)c)->time = t;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetContinuousStates, (void *c, const double *x, size_t n))
{
    for (size_t i = 0; i < n; i++)
        ((instance *)c)->v[state_of[i]] = x[i];
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetContinuousStates, (void *c, double *x, size_t n))
{
    for (size_t i = 0; i < n; i++)
        x[i] = ((instance *)c)->v[state_of[i]];
    return YK_FMI_OK;
}

#ifdef NOMINALS
FUNCTION(yk_fmi_status, GetNominalsOfContinuousStates, (void *c, double *nominals, size_t n))
{
    static const double values[STATES] = NOMINALS;
    (void)c;
    memcpy(nominals, values, n * sizeof *nominals);
    return YK_FMI_OK;
}
#endif

FUNCTION(yk_fmi_status, GetDerivatives, (void *c, double *rates, size_t n))
{
    instance *self = c;
    calculate(self->v, self->time);
    for (size_t i = 0; i < n; i++)
        rates[i] = self->v[rate_of[i]];
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetEventIndicators, (void *c, double *z, size_t n))
{
    (void)n;
    indicate(((instance *)c)->v, z);
    return YK_FMI_OK;
}
