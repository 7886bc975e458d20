/* The parts of an FMU subsystem. fmu_ports.c maps variables to ports, fmu.c is the subsystem,
 * fmu_exchange.c integrates FMUs of model exchange, fmu_sensitivity.c differentiates a step. */
#ifndef YK_TRANSPORT_FMI_FMU_INTERNAL_H
#define YK_TRANSPORT_FMI_FMU_INTERNAL_H

#include "transport/fmi/fmu.h"
#include "transport/fmi/instance.h"

/* Variables that are set or read together. Continuous ones of type Float64 come first and are one
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

/* Where the components of a port's quantities are in the values of inputs (what it takes) or
 * outputs (what it answers with); -1: always zero. */
typedef struct yk_fmu_port {
    yk_causality takes;
    bool connected;
    bool asks;          /* FMI 3: the FMU asks for its inputs within a step */
    double wrench_sign; /* of the wrench that the FMU gives */
    int count[YK_FMU_QUANTITIES];
    int at[YK_FMU_QUANTITIES][YK_FMU_COMPONENTS_MAX];
} yk_fmu_port;

enum { YK_FMU_STATES_KEPT = 64 };

typedef struct yk_fmu {
    yk_subsystem subsystem;
    yk_subsystem_ops ops; /* of this FMU: capabilities are those that it has */
    yk_context *context;
    char *file;
    char *folder;
    bool borrowed; /* the folder belongs to another */
    yk_fmi_description description;
    yk_fmi_instance *instance;
    double longest_step;

    int port_count;
    yk_port *ports;
    yk_fmu_port *maps;
    yk_fmu_list inputs, outputs;
    int rate_count; /* of values that the FMU does not have: rates of others */
    struct {
        int to, from; /* in the values of outputs */
        bool asked;   /* by derivatives of outputs; else by differences */
        uint32_t reference;
    } * rates;
    int derived_count;    /* values after those of the outputs */
    double *before;       /* values of outputs at the last step's end */
    double *input_rates;  /* of Float64 inputs */
    int *orders;          /* ones, for calls that want the order of a derivative */
    bool discrete_inputs; /* some inputs may be set in event mode only */

    int setting_count;
    yk_fmu_setting *settings;
    int *setting_variables;
    int channel_count;
    yk_channel *channels;
    int *channel_variables;

    /* Present state besides that of the FMU. */
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
    double *work;         /* of the integrator */
    double *z, *z_before; /* event indicators */

    /* The input that is valid within the present step, for intermediate updates. */
    const yk_input *step_inputs;
    double step_begin;

    /* Rollback. */
    size_t state_bytes; /* of a serialised state; 0: handles */
    void *scratch_state;
    void *kept[YK_FMU_STATES_KEPT];
    uint64_t kept_count; /* states taken so far */

    double *sensitivity_work;
} yk_fmu;

/* fmu_ports.c */
yk_status yk_fmu_map_ports(yk_fmu *self, const yk_fmu_def *def);
/* Values of the inputs from the inputs of the ports, over the local times `from` to `to`:
 * wrenches by their mean, all else by its value at `to`. */
void yk_fmu_fill(yk_fmu *self, const yk_input *inputs, double from, double to);
/* Whether no input changes within the step. */
bool yk_fmu_inputs_are_held(const yk_fmu *self, const yk_input *inputs);
/* Of ports that are asked within a step, at one local time. */
void yk_fmu_fill_within(yk_fmu *self, const yk_input *inputs, double at);
/* As lines: values at `from` in the inputs, slopes in input_rates. */
void yk_fmu_fill_lines(yk_fmu *self, const yk_input *inputs, double from, double to);
void yk_fmu_read_port(const yk_fmu *self, int port, yk_port_value *value);

/* fmu.c */
/* Sets the inputs to their values; those that are not continuous only where asked, those of clocks
 * only where one of their clocks is active. */
yk_status yk_fmu_set_inputs(yk_fmu *self, bool discrete);
/* Discrete states until nothing changes any more. In event mode; left in it. */
yk_status yk_fmu_update(yk_fmu *self, bool *states_changed);

/* fmu_exchange.c: from t to t + h with the inputs of the step that began at step_begin. */
yk_status yk_fmu_integrate(yk_fmu *self, double t, double h);

/* fmu_sensitivity.c */
yk_status yk_fmu_step_sensitivity(yk_subsystem *subsystem, double t, double h,
                                  const yk_input *inputs, int degree, double *matrix);
/* Whether the FMU offers what that needs; takes the memory for it. */
yk_status yk_fmu_prepare_sensitivity(yk_fmu *self, bool *offered);
yk_status yk_fmu_step(yk_subsystem *subsystem, double t, double h, const yk_input *inputs);

#endif
