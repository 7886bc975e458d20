/* Export of a scenario, or of one of its subsystems, as an FMU: its variables with their value
 * references (export.c), the FMU file (export.c), and an instance in the library of the FMU
 * (export_runtime.c).
 *
 * The program and the library inside the FMU derive the list of variables from the same scenario
 * with the same function, so that the model description fits the library.
 *
 *     a whole system    time, the parameters of the scenario, and every recorded channel as an output
 *     a subsystem       time, parameters, its ports ("tip.force.x": received quantities are inputs,
 *                       returned quantities are outputs) and its channels as outputs ("hinge.angle") */
#ifndef YK_FMU_EXPORT_H
#define YK_FMU_EXPORT_H

#include "interop/fmi/functions.h"
#include "yoke/scenario.h"

/* Variables ------------------------------------------------------------------------------------ */

typedef struct yk_export_variable {
    const char *name;
    const char *unit; /* "": none */
    enum { YK_EXPORT_TIME, YK_EXPORT_PARAMETER, YK_EXPORT_INPUT, YK_EXPORT_OUTPUT } role;
    int port;           /* Of a subsystem; -1: none. */
    int channel;        /* Of a subsystem; -1: none. */
    const char *member; /* Of the port: "position.x"; NULL: none. */
    /* Of a port: index of a double in yk_port_value. Of a channel of a subsystem: component. Of
     * a channel of a system: index in the sample. Of a parameter: its index. */
    int offset;
    double start;
} yk_export_variable;

/* Initial value of an input of the subsystem in a run of the scenario: the signal of a wire, or
 * a number of the motion of an interface. */
typedef struct yk_export_start {
    int port;
    int offset; /* Index of a double in yk_port_value. */
    double value;
} yk_export_start;

typedef struct yk_export_def {
    const char *scenario; /* File. */
    const char *const *overrides;
    int override_count;
    const char *subsystem; /* NULL: the whole system. */
    /* Prefer wrench inputs, also for ports that receive a motion in the scenario. */
    bool wrenches;
    /* Start values of inputs. Other inputs start with the values of the uncoupled subsystem. */
    const yk_export_start *starts;
    int start_count;
} yk_export_def;

typedef struct yk_export_model {
    yk_context *context;
    yk_scenario *scenario;
    const yk_scenario_info *info;
    int subsystem;        /* Index; -1: the whole system. */
    yk_subsystem *object; /* Of the subsystem. */
    int port_count;
    const yk_port *ports;
    yk_causality *causalities; /* Of each port; YK_CAUSALITY_NONE: not used. */
    int channel_count;         /* Of the subsystem. */
    const yk_channel *channels;
    int variable_count;
    yk_export_variable *variables;
    char *names; /* Memory of the names of variables and members. */
    bool rolls_back;
    /* Largest step of the subsystem, from `max_substep` or `substeps` of its section (s); 0: the
     * communication step of the importer. */
    double longest_step;
    int input_degree; /* Largest degree of a wrench, as a polynomial in time, that a step follows. */
    /* The derivatives of a step with respect to its inputs are known: all used ports receive
     * wrenches. */
    bool differentiable;
} yk_export_model;

/* Loads the scenario and makes the list. Start values are those after the initialization of the
 * model: a subsystem is connected, a system is created. */
yk_status yk_export_open(yk_context *context, const yk_export_def *def, yk_export_model *model);
void yk_export_close(yk_export_model *model);

/* The FMU -------------------------------------------------------------------------------------- */

/* Files of the FMU next to the library. */
#define YK_EXPORT_SCENARIO "scenario.yaml"
/* Token, subsystem and wrenches on one line each; then a line for each start value: port,
 * offset, and the bits of the value. */
#define YK_EXPORT_NOTES "yoke.txt"

typedef struct yk_fmu_export_def {
    yk_export_def model;
    int version;        /* 2 or 3 */
    const char *binary; /* Library that is put into the FMU. */
    const char *file;   /* FMU to write. */
} yk_fmu_export_def;

/* Writes the FMU. */
yk_status yk_fmu_export(yk_context *context, const yk_fmu_export_def *def);

/* Instances ------------------------------------------------------------------------------------ */

/* Modes of an instance, as bits. The standard allows each function only in some modes. */
typedef enum yk_exported_mode {
    YK_MODE_INSTANTIATED = 1,
    YK_MODE_INITIALISATION = 2,
    YK_MODE_STEP = 4,         /* Between steps. */
    YK_MODE_INTERMEDIATE = 8, /* Within a step, while the importer is asked for inputs. */
    YK_MODE_FAILED =
        16, /* After a step that failed: a state may be set, or the instance is reset. */
    YK_MODE_TERMINATED = 32,
    YK_MODE_ANY = 63
} yk_exported_mode;

/* An instance of an exported model, used by the functions of both versions of FMI.
 *
 *     create (from the resources folder) -> set -> begin, initialize -> step ... -> destroy
 *
 * Inputs within a step: if the importer gives rates of inputs (FMI 2) or values at times within
 * the step (FMI 3), inputs are linear, or cubic through four times. Otherwise wrenches and
 * signals are constant, and a motion is a cubic from its last value to the new one. */
typedef struct yk_exported yk_exported;

/* NULL after the reason was logged. `resources` is a path, with or without a slash at its end. */
yk_exported *yk_exported_create(const char *resources, const char *token, yk_log_function log,
                                void *user);
void yk_exported_destroy(yk_exported *self);

/* Whether a function of the standard may be called: the instance must be in one of the modes.
 * Otherwise the reason is logged. */
bool yk_exported_allows(yk_exported *self, const char *function, unsigned modes);

/* Start and end of the run (s); the end may be infinite. Called before begin in FMI 2, with it
 * in FMI 3. */
yk_status yk_exported_set_up(yk_exported *self, double start, double stop);
yk_status yk_exported_begin(yk_exported *self); /* Enters the initialization mode. */
yk_status yk_exported_initialise(yk_exported *self);
void yk_exported_terminate(yk_exported *self);
yk_status yk_exported_reset(yk_exported *self);
/* `ask` asks the importer for inputs at a time within the step, which it sets before `ask`
 * returns; NULL: the importer cannot be asked. */
yk_status yk_exported_step(yk_exported *self, double t, double h, void (*ask)(void *user, double t),
                           void *user);

yk_status yk_exported_get(yk_exported *self, const uint32_t *references, size_t count,
                          double *values);
yk_status yk_exported_set(yk_exported *self, const uint32_t *references, size_t count,
                          const double *values);
/* First derivatives of the inputs in the next step. */
yk_status yk_exported_set_rates(yk_exported *self, const uint32_t *references, size_t count,
                                const double *rates);

/* Derivatives of the outputs at the end of the last step with respect to its inputs: result = J
 * seed, or J^T seed if `adjoint` is set. A seed of an input changes its value during the whole
 * step; the reference plus k times the number of variables stands for a change proportional to
 * t^k. */
yk_status yk_exported_derive(yk_exported *self, bool adjoint, const uint32_t *unknowns,
                             size_t unknown_count, const uint32_t *knowns, size_t known_count,
                             const double *seed, double *result);

/* The state as bytes; size 0: the state cannot be saved. `set` and `check` refuse bytes that are
 * not a state of this model with these parameters. A state that leaves the process has a
 * checksum, which `check` compares. */
size_t yk_exported_state_size(const yk_exported *self);
void yk_exported_state_get(const yk_exported *self, void *bytes);
yk_status yk_exported_state_set(yk_exported *self, const void *bytes, size_t size);
void yk_exported_state_seal(void *bytes, size_t size);
yk_status yk_exported_state_check(yk_exported *self, const void *bytes, size_t size);

/* The value that a function of the standard returns for a status. */
yk_fmi_status yk_exported_answer(yk_status status);

#endif
