/* Internal structs of FMUs: one instance of its code, and the subsystem made from it.
 *
 *   instance.c                 loads the binary
 *   instance2.c, instance3.c   calls of FMI 2.0 and 3.0
 *   fmu_ports.c                maps variables to ports
 *   fmu.c                      the subsystem
 *   fmu_exchange.c             integrates FMUs of model exchange
 *   fmu_sensitivity.c          differentiates a step */
#ifndef YK_TRANSPORT_FMI_FMU_INTERNAL_H
#define YK_TRANSPORT_FMI_FMU_INTERNAL_H

#include "interop/fmi/description.h"
#include "interop/fmi/fmu.h"
#include "interop/fmi/functions.h"
#include "math/stiff.h"

/* Instances ------------------------------------------------------------------------------------ */

/* One instance of a loaded FMU, the same for FMI 2.0 and 3.0 and for both interface types.
 *
 *   load -> instantiate -> begin, set values, initialize -> steps ... -> unload
 *
 * One table contains the calls that differ between the versions. All calls return a status; the
 * instance keeps the message, which names the FMU, the function and the FMU's log. Values of all
 * types are doubles here. */

/* Result of an event, or of a step that ended at one. */
typedef struct yk_fmi_event {
    bool again; /* discrete states must be updated again */
    bool terminate;
    bool states_changed;
    double next; /* time of the next event; infinity: unknown */
} yk_fmi_event;

typedef struct yk_fmi_calls yk_fmi_calls;

typedef struct yk_fmi_instance {
    yk_context *context;
    const yk_fmi_description *description;
    const yk_fmi_capabilities *can; /* of the interface type in use */
    const yk_fmi_calls *calls;
    bool exchange;      /* model exchange, otherwise co-simulation */
    const char *file;   /* names the FMU in messages */
    const char *folder; /* where it is unpacked */
    char *name;
    bool logging;
    double tolerance; /* 0: the FMU's own */
    bool events;      /* co-simulation with event mode */
    bool returns;     /* earlier states may be set: the FMU must keep the data for them */
    void *library;
    void *component; /* NULL: not instantiated */
    bool discarded;  /* the last failed call returned `discard`: a smaller step may help */
    bool dead;       /* after a fatal error no function may be called */
    /* NULL if the FMU has no function with this name */
    union {
        struct {
            YK_FMI2_LIST(YK_FMI_POINTER)
        } two;
        struct {
            YK_FMI3_LIST(YK_FMI_POINTER)
        } three;
    } functions;
    yk_fmi2_callbacks callbacks;
    /* FMI 3: called for inputs at a time within the step */
    void (*intermediate)(void *user, double t);
    void *intermediate_user;
    char log[256];     /* last warning or error that the FMU logged, "" */
    char message[600]; /* of the last failed call */
} yk_fmi_instance;

struct yk_fmi_calls {
    yk_status (*instantiate)(yk_fmi_instance *self);
    void (*release)(yk_fmi_instance *self);
    yk_status (*reset)(yk_fmi_instance *self);
    /* Enters the initialization for a start at t, and leaves it. Afterwards FMUs of model exchange
     * are in event mode, others ready for steps or, with `event_mode`, in event mode. */
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
    /* Nominal values of the states, or ones if the FMU does not provide any. */
    yk_status (*nominals)(yk_fmi_instance *self, double *nominals, int count);
    yk_status (*indicators)(yk_fmi_instance *self, double *z, int count);
    yk_status (*counts)(yk_fmi_instance *self, int *states, int *indicators);
};

extern const yk_fmi_calls yk_fmi2_calls;
extern const yk_fmi_calls yk_fmi3_calls;

/* Loads the binary of an unpacked FMU, for model exchange or for co-simulation. Description, file
 * and folder must outlive the instance. Failures are reported to the context. */
yk_status yk_fmi_load(yk_context *context, const yk_fmi_description *description, bool exchange,
                      const char *file, const char *folder, const char *name,
                      yk_fmi_instance **instance);
void yk_fmi_unload(yk_fmi_instance *self);

/* The function of an FMU in which a thread is, so that a crash can be reported with its location. */
typedef struct yk_fmi_call {
    const char *file; /* NULL: the thread runs no code of an FMU */
    const char *function;
} yk_fmi_call;

extern _Thread_local yk_fmi_call yk_fmi_running;

static inline void yk_fmi_enter(const yk_fmi_instance *self, const char *function)
{
    yk_fmi_running = (yk_fmi_call){self->file, function};
}

static inline int yk_fmi_left(int level)
{
    yk_fmi_running.file = NULL;
    return level;
}

/* The level that a function of the FMU returns. `version` is 2 or 3, `functions` the table of it. */
#define YK_FMI_INVOKE(self, version, functions, name, ...) \
    (yk_fmi_enter(self, "fmi" #version #name), yk_fmi_left((int)(functions).name(__VA_ARGS__)))

/* For the two versions: sets the message and returns the status. */
yk_status yk_fmi_refuse(yk_fmi_instance *self, yk_status status, const char *format, ...)
    YK_PRINTF(3, 4);
/* Status for the level returned by a function; `level` counts from OK as in both versions. */
yk_status yk_fmi_judge(yk_fmi_instance *self, int level, const char *function);
/* Precedes the FMU's log in a message: "; it logged: ", or "" if that is empty. */
const char *yk_fmi_log_link(const yk_fmi_instance *self);
/* A line that the FMU logged. */
void yk_fmi_logged(yk_fmi_instance *self, int level, const char *category, const char *text);

/* The subsystem -------------------------------------------------------------------------------- */

/* Variables that are set or read together. Continuous ones of type Float64 come first and need one
 * call. */
typedef struct yk_fmu_list {
    int count, capacity;
    int *variables; /* indices in the description */
    uint32_t *references;
    int *first; /* of each variable: its first value */
    int real_count, real_values;
    int value_count;
    double *values;
} yk_fmu_list;

/* Indices of the components of a port's quantities in the values of inputs (received) or outputs
 * (returned); -1: always zero. */
typedef struct yk_fmu_port {
    yk_causality takes;
    bool connected;
    bool asks;          /* FMI 3: the FMU requests its inputs within a step */
    double wrench_sign; /* of the wrench that the FMU returns */
    int count[YK_FMU_QUANTITIES];
    int at[YK_FMU_QUANTITIES][YK_FMU_COMPONENTS_MAX];
} yk_fmu_port;

enum { YK_FMU_STATES_KEPT = 64 };

typedef struct yk_fmu {
    yk_subsystem subsystem;
    yk_subsystem_ops ops; /* of this FMU, with its capabilities */
    yk_context *context;
    char *file;
    char *folder;
    bool borrowed; /* another object owns the folder */
    yk_fmi_description description;
    yk_fmi_instance *instance;
    double longest_step; /* s; 0: not limited */

    int port_count;
    yk_port *ports;
    yk_fmu_port *maps;
    yk_fmu_list inputs, outputs;
    int rate_count; /* number of values that the FMU does not have: rates of others */
    struct {
        int to, from; /* in the values of outputs */
        bool asked;   /* from derivatives of outputs; otherwise from differences */
        uint32_t reference;
    } * rates;
    int derived_count;    /* number of values after those of the outputs */
    double *before;       /* values of outputs at the end of the last step */
    double *input_rates;  /* of Float64 inputs */
    int *orders;          /* ones, for calls that need the order of a derivative */
    bool discrete_inputs; /* some inputs may be set in event mode only */

    int setting_count;
    yk_fmu_setting *settings;
    int *setting_variables;
    int channel_count;
    yk_channel *channels;
    int *channel_variables;

    /* Present state in addition to that of the FMU. */
    bool started;
    double next_event; /* s; infinity: none known */
    int clock_count;
    const yk_fmi_variable **clocks;
    double *ticks; /* of each clock: how often it was active since the start */
    bool *active;  /* of each clock: at the present event */
    double start;  /* s */

    /* Model exchange. */
    int state_count, indicator_count;
    double *x;            /* continuous states */
    double *trial_states; /* states at a time within a step */
    double *nominal;      /* of the states */
    double *z, *z_before; /* event indicators */
    double
        /* s, largest distance of two times at which indicators are tested; 0: not given */
        event_spacing;
    double absolute;     /* tolerance, relative to the nominal values */
    double *tolerances;  /* absolute, of the states */
    double proposal;     /* s, next step size of the integrator; 0: unknown. Part of the image */
    bool jacobian_given; /* from directional derivatives; otherwise from differences */
    uint32_t *rate_references;
    yk_stiff_problem problem;
    yk_stiff *integrator;

    /* The input that is valid within the present step, for intermediate updates. */
    const yk_input *step_inputs;
    double step_begin;

    /* Rollback. */
    yk_state_use state_use;
    bool state_measured; /* the size of a serialized state is known */
    size_t state_bytes;  /* of a serialized state; 0: handles */
    void *scratch_state;
    void *kept[YK_FMU_STATES_KEPT];
    uint64_t kept_count; /* states taken so far */

    double *sensitivity_work;
} yk_fmu;

/* fmu_ports.c */
yk_status yk_fmu_map_ports(yk_fmu *self, const yk_fmu_def *def);
/* Values of the inputs from the inputs of the ports, over the local times `from` to `to`: wrenches
 * by their mean, all others by their value at `to`. */
void yk_fmu_fill(yk_fmu *self, const yk_input *inputs, double from, double to);
/* Whether no input changes within the step. */
bool yk_fmu_inputs_are_held(const yk_fmu *self, const yk_input *inputs);
/* For ports that are requested within a step, at one local time. */
void yk_fmu_fill_within(yk_fmu *self, const yk_input *inputs, double at);
/* Straight lines: values at `from` in the inputs, slopes in input_rates. */
void yk_fmu_fill_lines(yk_fmu *self, const yk_input *inputs, double from, double to);
void yk_fmu_read_port(const yk_fmu *self, int port, yk_port_value *value);
/* The unit of the variable behind a number of a port; see port_unit of the contract. */
const char *yk_fmu_port_unit(const yk_subsystem *subsystem, int port, int offset);

/* fmu.c */
/* Sets the inputs to their values; discontinuous ones only if requested, those of clocks only if
 * one of their clocks is active. */
yk_status yk_fmu_set_inputs(yk_fmu *self, bool discrete);
/* Updates discrete states until nothing changes. Called in event mode, which remains active. */
yk_status yk_fmu_update(yk_fmu *self, bool *states_changed);

/* fmu_exchange.c */
/* Memory and settings of the integrator, after the numbers of states are known. */
yk_status yk_fmu_prepare_integrator(yk_fmu *self, const yk_fmu_def *def);
void yk_fmu_release_integrator(yk_fmu *self);
/* From t to t + h with the inputs of the step that began at step_begin. */
yk_status yk_fmu_integrate(yk_fmu *self, double t, double h);

/* fmu_sensitivity.c */
yk_status yk_fmu_step_sensitivity(yk_subsystem *subsystem, double t, double h,
                                  const yk_input *inputs, int degree, double *matrix);
/* Whether the FMU supports it; allocates the memory. */
yk_status yk_fmu_prepare_sensitivity(yk_fmu *self, bool *offered);
yk_status yk_fmu_step(yk_subsystem *subsystem, double t, double h, const yk_input *inputs);

#endif
