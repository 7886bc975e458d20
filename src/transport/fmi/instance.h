/* One instance of a loaded FMU, the same for FMI 2.0 and 3.0 and for both kinds.
 *
 *   load -> instantiate -> begin, set values, initialise -> steps ... -> unload
 *
 * What the versions call differently stands behind one table of calls (instance2.c, instance3.c).
 * All calls return a status; the instance keeps the message, which names the FMU, the function and
 * what the FMU logged. Values of all types are doubles here. */
#ifndef YK_TRANSPORT_FMI_INSTANCE_H
#define YK_TRANSPORT_FMI_INSTANCE_H

#include "transport/fmi/description.h"
#include "transport/fmi/functions.h"

/* What an event, or a step that ended at one, leaves. */
typedef struct yk_fmi_event {
    bool again; /* discrete states have to be updated once more */
    bool terminate;
    bool states_changed;
    double next; /* time of the next event; infinity: none is known */
} yk_fmi_event;

typedef struct yk_fmi_calls yk_fmi_calls;

typedef struct yk_fmi_instance {
    yk_context *context;
    const yk_fmi_description *description;
    const yk_fmi_capabilities *can; /* of the kind that is used */
    const yk_fmi_calls *calls;
    bool exchange;      /* model exchange, else co-simulation */
    const char *file;   /* names the FMU in messages */
    const char *folder; /* where it is unpacked */
    char *name;
    bool logging;
    double tolerance; /* 0: the FMU's own */
    bool events;      /* co-simulation with event mode */
    void *library;
    void *component; /* NULL: not instantiated */
    bool dead;       /* it reported a fatal error: nothing may be called any more */
    /* NULL where the FMU has none of this name */
    union {
        struct {
            YK_FMI2_LIST(YK_FMI_POINTER)
        } two;
        struct {
            YK_FMI3_LIST(YK_FMI_POINTER)
        } three;
    } functions;
    yk_fmi2_callbacks callbacks;
    /* FMI 3: asked for inputs at a time within a step */
    void (*intermediate)(void *user, double t);
    void *intermediate_user;
    char log[256];     /* last warning or error that the FMU logged, "" */
    char message[600]; /* of the last call that failed */
} yk_fmi_instance;

struct yk_fmi_calls {
    yk_status (*instantiate)(yk_fmi_instance *self);
    void (*release)(yk_fmi_instance *self);
    yk_status (*reset)(yk_fmi_instance *self);
    /* Enters initialisation for a start at t, and leaves it. Afterwards FMUs of model exchange are
     * in event mode, others ready for steps or, with `event_mode`, in event mode. */
    yk_status (*begin)(yk_fmi_instance *self, double t);
    yk_status (*initialise)(yk_fmi_instance *self);

    yk_status (*get)(yk_fmi_instance *self, yk_fmi_type type, const uint32_t *references, int count,
                     double *values, int value_count);
    yk_status (*set)(yk_fmi_instance *self, yk_fmi_type type, const uint32_t *references, int count,
                     const double *values, int value_count);
    yk_status (*set_text)(yk_fmi_instance *self, uint32_t reference, const char *text);
    yk_status (*set_clock)(yk_fmi_instance *self, uint32_t reference);

    /* Co-simulation: from t to t + h, or to an earlier *reached. */
    yk_status (*step)(yk_fmi_instance *self, double t, double h, double *reached, bool *event);
    yk_status (*step_mode)(yk_fmi_instance *self);
    /* First derivatives of inputs over the next step. */
    yk_status (*input_rates)(yk_fmi_instance *self, const uint32_t *references, int count,
                             const int *orders, const double *rates);
    yk_status (*output_rates)(yk_fmi_instance *self, const uint32_t *references, int count,
                              const int *orders, double *rates);

    yk_status (*state_get)(yk_fmi_instance *self, void **state);
    yk_status (*state_set)(yk_fmi_instance *self, void *state);
    void (*state_free)(yk_fmi_instance *self, void **state);
    yk_status (*state_size)(yk_fmi_instance *self, void *state, size_t *bytes);
    yk_status (*serialise)(yk_fmi_instance *self, void *state, void *bytes, size_t size);
    yk_status (*deserialise)(yk_fmi_instance *self, const void *bytes, size_t size, void **state);

    /* Derivatives of unknowns by one known variable. */
    yk_status (*directional)(yk_fmi_instance *self, const uint32_t *unknowns, int count,
                             uint32_t known, double *result);

    /* Events, and the rest of model exchange. */
    yk_status (*event_mode)(yk_fmi_instance *self);
    yk_status (*update)(yk_fmi_instance *self, yk_fmi_event *event);
    yk_status (*continuous_mode)(yk_fmi_instance *self);
    yk_status (*completed_step)(yk_fmi_instance *self, bool *event, bool *terminate);
    yk_status (*set_time)(yk_fmi_instance *self, double t);
    yk_status (*set_states)(yk_fmi_instance *self, const double *x, int count);
    yk_status (*get_states)(yk_fmi_instance *self, double *x, int count);
    yk_status (*rates)(yk_fmi_instance *self, double *rates, int count);
    yk_status (*indicators)(yk_fmi_instance *self, double *z, int count);
    yk_status (*counts)(yk_fmi_instance *self, int *states, int *indicators);
};

extern const yk_fmi_calls yk_fmi2_calls;
extern const yk_fmi_calls yk_fmi3_calls;

/* Loads the binary of an unpacked FMU, for model exchange or for co-simulation. Description, file and folder must outlive the instance.
 * Failures are reported to the context. */
yk_status yk_fmi_load(yk_context *context, const yk_fmi_description *description, bool exchange,
                      const char *file, const char *folder, const char *name,
                      yk_fmi_instance **instance);
void yk_fmi_unload(yk_fmi_instance *self);

/* For the two versions: sets the message and returns the status. */
yk_status yk_fmi_refuse(yk_fmi_instance *self, yk_status status, const char *format, ...)
    YK_PRINTF(3, 4);
/* What the status of a function says; `level` counts from OK as both versions do. */
yk_status yk_fmi_judge(yk_fmi_instance *self, int level, const char *function);
/* What stands before the FMU's log in a message: "; it logged: ", or "" where that is empty. */
const char *yk_fmi_log_link(const yk_fmi_instance *self);
/* A line that the FMU logged. */
void yk_fmi_logged(yk_fmi_instance *self, int level, const char *category, const char *text);

#endif
