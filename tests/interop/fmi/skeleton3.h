/* FMI 3.0 for the models of the tests; see skeleton.h. */
typedef struct instance {
    double v[VALUES], time;
    void *environment;
    yk_fmi3_log log;
    yk_fmi3_intermediate_update update;
    bool event_mode;
    bool early_return;
    bool in_event_mode;
    double first[VALUES];
    bool has_first;
} instance;

typedef struct saved {
    double v[VALUES], time;
} saved;

#define FUNCTION(type, name, arguments) \
    EXPORT type fmi3##name arguments;   \
    EXPORT type fmi3##name arguments

DEFINE_PARTIAL

FUNCTION(const char *, GetVersion, (void))
{
    return "3.0";
}

static void *make(const char *token, void *environment, yk_fmi3_log log)
{
    if (strcmp(token, TOKEN) != 0) {
        log(environment, YK_FMI_ERROR, "model", "the token is not that of the binary");
        return NULL;
    }
    instance *self = calloc(1, sizeof *self);
    memcpy(self->v, start, sizeof self->v);
    self->environment = environment;
    self->log = log;
    return self;
}

FUNCTION(void *, InstantiateCoSimulation,
         (const char *name, const char *token, const char *resources, bool visible, bool logging,
          bool event_mode, bool early_return, const uint32_t *intermediate, size_t count,
          void *environment, yk_fmi3_log log, yk_fmi3_intermediate_update update))
{
    (void)name, (void)resources, (void)visible, (void)logging;
    (void)intermediate, (void)count;
    instance *self = make(token, environment, log);
    if (!self)
        return NULL;
    self->update = update;
    self->event_mode = event_mode;
    self->early_return = early_return;
    return self;
}

FUNCTION(void *, InstantiateModelExchange,
         (const char *name, const char *token, const char *resources, bool visible, bool logging,
          void *environment, yk_fmi3_log log))
{
    (void)name, (void)resources, (void)visible, (void)logging;
    return make(token, environment, log);
}

FUNCTION(void, FreeInstance, (void *c))
{
    free(c);
}

FUNCTION(yk_fmi_status, EnterInitializationMode,
         (void *c, bool tolerance_defined, double tolerance, double begin, bool stop_defined,
          double stop))
{
    (void)tolerance_defined, (void)tolerance, (void)stop_defined, (void)stop;
    ((instance *)c)->time = begin;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, ExitInitializationMode, (void *c))
{
    instance *self = c;
    calculate(self->v, self->time);
    self->in_event_mode = self->event_mode;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, Terminate, (void *c))
{
    (void)c;
    return YK_FMI_OK;
}
FUNCTION(yk_fmi_status, EnterEventMode, (void *c))
{
    ((instance *)c)->in_event_mode = true;
    return YK_FMI_OK;
}
FUNCTION(yk_fmi_status, EnterStepMode, (void *c))
{
    ((instance *)c)->in_event_mode = false;
    return YK_FMI_OK;
}
FUNCTION(yk_fmi_status, EnterContinuousTimeMode, (void *c))
{
    (void)c;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, Reset, (void *c))
{
    instance *self = c;
    memcpy(self->v, start, sizeof self->v);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetFloat64,
         (void *c, const uint32_t *vr, size_t n, double *values, size_t count))
{
    instance *self = c;
    calculate(self->v, self->time);
    for (size_t i = 0; i < n && i < count; i++) {
        if (vr[i] >= VALUES)
            return YK_FMI_ERROR;
        values[i] = self->v[vr[i]];
    }
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetFloat64,
         (void *c, const uint32_t *vr, size_t n, const double *values, size_t count))
{
    instance *self = c;
    for (size_t i = 0; i < n && i < count; i++) {
        if (vr[i] >= VALUES)
            return YK_FMI_ERROR;
#ifdef INPUT_OF_A_CLOCK
        if (vr[i] == INPUT_OF_A_CLOCK && self->v[ACTIVE] == 0)
            return YK_FMI_ERROR;
#endif
        self->v[vr[i]] = values[i];
    }
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetFMUState, (void *c, void **state))
{
    TAKE_STATE();
    instance *self = c;
    if (!*state)
        *state = malloc(sizeof(saved));
    saved *s = *state;
    memcpy(s->v, self->v, sizeof s->v);
    s->time = self->time;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, SetFMUState, (void *c, void *state))
{
    instance *self = c;
    const saved *s = state;
    memcpy(self->v, s->v, sizeof s->v);
    self->time = s->time;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, FreeFMUState, (void *c, void **state))
{
    (void)c;
    free(*state);
    *state = NULL;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetDirectionalDerivative,
         (void *c, const uint32_t *unknowns, size_t n, const uint32_t *knowns, size_t m,
          const double *seed, size_t seeds, double *result, size_t results))
{
    (void)seeds, (void)results;
    const instance *self = c;
    for (size_t i = 0; i < n; i++) {
        result[i] = 0;
        for (size_t k = 0; k < m; k++)
            result[i] += seed[k] * partial(self->v, self->time, unknowns[i], knowns[k]);
    }
    return YK_FMI_OK;
}

/* A step in four parts, with inputs asked for at the middle of each; where the model has event mode
 * it returns early, at the end of the third. It returns at these middles when it is asked to. */
FUNCTION(yk_fmi_status, DoStep,
         (void *c, double t, double h, bool no_rollback, bool *event, bool *terminate, bool *early,
          double *last))
{
    enum { PARTS = 4 };
    instance *self = c;
    RESTORE_START(self, no_rollback);
    int fault = t + h > 0.05 ? (int)self->v[FAULT] : NO_FAULT;
    *event = false;
    *terminate = fault == ENDS;
    *early = false;
    *last = t + h;
    if (fault == CRASHES)
        raise(SIGSEGV);
    while (fault == HANGS)
        pause();
    if (fault == FAILS) {
        self->log(self->environment, YK_FMI_ERROR, "model",
                  "the model has failed as it was asked to");
        return YK_FMI_ERROR;
    }
    if (fault == DISCARDS)
        return YK_FMI_DISCARD;

    static const double no_rates[VALUES];
    for (int i = 0; i < PARTS; i++) {
        double return_time;
        bool return_early = false;
        double middle = t + (i + 0.5) * h / PARTS;
        if (self->update)
            self->update(self->environment, middle, true, true, false, self->early_return,
                         &return_early, &return_time);
        if (return_early && self->early_return) {
            advance(self->v, no_rates, t + i * h / PARTS, 0.5 * h / PARTS);
            self->time = *last = middle;
            *early = true;
            break;
        }
        advance(self->v, no_rates, t + i * h / PARTS, h / PARTS);
        self->time = t + (i + 1) * h / PARTS;
        if (i == 2 && self->event_mode && h > 1e-4) {
            *early = true;
            *event = true;
            *last = self->time;
            break;
        }
    }
    if (fault == LOSES_NUMBERS)
        self->v[state_of[0]] = NAN;
    calculate(self->v, self->time);
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, UpdateDiscreteStates,
         (void *c, bool *again, bool *terminate, bool *nominals, bool *changed, bool *next_defined,
          double *next))
{
    instance *self = c;
    *again = false;
    *terminate = false;
    *nominals = false;
    *changed = react(self->v, self->time);
    *next_defined = false;
    *next = 0;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, CompletedIntegratorStep,
         (void *c, bool no_rollback, bool *event, bool *terminate))
{
    (void)c, (void)no_rollback;
    *event = false;
    *terminate = false;
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

FUNCTION(yk_fmi_status, GetContinuousStateDerivatives, (void *c, double *rates, size_t n))
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

FUNCTION(yk_fmi_status, GetNumberOfEventIndicators, (void *c, size_t *n))
{
    (void)c;
    *n = INDICATORS;
    return YK_FMI_OK;
}

FUNCTION(yk_fmi_status, GetNumberOfContinuousStates, (void *c, size_t *n))
{
    (void)c;
    *n = STATES;
    return YK_FMI_OK;
}
