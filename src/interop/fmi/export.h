/* A scenario, or one of its subsystems, as an FMU: the variables that it shows, with their value
 * references (export.c), the FMU that is written (export.c), and one instance of it in the binary
 * (runtime.c).
 *
 * Program and binary make the list from the same scenario by the same function, so that the
 * description which the one writes fits what the other does.
 *
 *   a whole system    time, the scenario's parameters, and every recorded channel as outputs
 *   a subsystem       time, parameters, its ports (what a port takes as inputs, what it answers with
 *                     as outputs, "tip.force.x") and its channels as outputs, "hinge.angle"
 */
#ifndef YK_FMU_EXPORT_H
#define YK_FMU_EXPORT_H

#include "interop/fmi/functions.h"
#include "yoke/scenario.h"

/* Variables ------------------------------------------------------------------------------------ */

typedef struct yk_export_variable {
    const char *name;
    const char *unit; /* "" where there is none */
    enum { YK_EXPORT_TIME, YK_EXPORT_PARAMETER, YK_EXPORT_INPUT, YK_EXPORT_OUTPUT } role;
    int port;           /* of a subsystem; -1: none */
    int channel;        /* of a subsystem; -1: none */
    const char *member; /* of the port: "position.x"; NULL: none */
    /* Of a port: which double of yk_port_value; of a channel of a subsystem: which component; of a
     * channel of a system: which number of the sample; of a parameter: its number. */
    int offset;
    double start;
} yk_export_variable;

/* What a port of the subsystem is given when a run of the scenario starts: the signal of a wire, or
 * a number of the motion of an interface. */
typedef struct yk_export_start {
    int port;
    int offset; /* in yk_port_value, in doubles */
    double value;
} yk_export_start;

typedef struct yk_export_def {
    const char *scenario; /* file */
    const char *const *overrides;
    int override_count;
    const char *subsystem; /* NULL: the whole system */
    /* Ports that can take a wrench do, also where the scenario gives them a motion. */
    bool wrenches;
    /* Start values of inputs; other inputs start as the subsystem is by itself. */
    const yk_export_start *starts;
    int start_count;
} yk_export_def;

typedef struct yk_export_model {
    yk_context *context;
    yk_scenario *scenario;
    const yk_scenario_info *info;
    int subsystem;        /* index; -1: the whole system */
    yk_subsystem *object; /* of the subsystem */
    int port_count;
    const yk_port *ports;
    yk_causality *causalities; /* of each port: how it is used; YK_CAUSALITY_NONE: not at all */
    int channel_count;         /* of the subsystem */
    const yk_channel *channels;
    int variable_count;
    yk_export_variable *variables;
    char *names; /* of the variables and members */
    bool rolls_back;
    /* Longest own step of the subsystem, by `micro_step` or `substeps` of its section (s); 0: those
     * of the master. */
    double longest_step;
    int input_degree; /* of polynomials up to which a step of the subsystem follows a wrench */
    /* Derivatives of a step by its inputs are known: all ports that are used take wrenches. */
    bool differentiable;
} yk_export_model;

/* Loads the scenario and makes the list; start values are those after a start of the model. A
 * subsystem is connected then, a system created. */
yk_status yk_export_open(yk_context *context, const yk_export_def *def, yk_export_model *model);
void yk_export_close(yk_export_model *model);

/* The FMU -------------------------------------------------------------------------------------- */

/* How the FMU is put together beside the binary. */
#define YK_EXPORT_SCENARIO "scenario.yaml"
/* Token, subsystem, wrenches: one per line; then a line for each start value: port, offset, value as
 * bits. */
#define YK_EXPORT_NOTES "yoke.txt"

typedef struct yk_fmu_export_def {
    yk_export_def model;
    int version;        /* 2 or 3 */
    const char *binary; /* the library that is put into the FMU */
    const char *file;   /* to be written */
} yk_fmu_export_def;

/* Writes the FMU. */
yk_status yk_fmu_export(yk_context *context, const yk_fmu_export_def *def);

/* Instances ------------------------------------------------------------------------------------ */

/* Modes of an instance, as bits: the calls that the standard allows depend on them. */
typedef enum yk_exported_mode {
    YK_MODE_INSTANTIATED = 1,
    YK_MODE_INITIALISATION = 2,
    YK_MODE_STEP = 4,         /* between steps */
    YK_MODE_INTERMEDIATE = 8, /* within a step, while the master is asked for inputs */
    YK_MODE_FAILED = 16,      /* after a step that failed: a state may be set, or it is reset */
    YK_MODE_TERMINATED = 32,
    YK_MODE_ANY = 63
} yk_exported_mode;

/* One instance of an exported model, as the functions of both versions of FMI use it:
 *
 *   create (from the folder of resources) -> set -> begin, initialise -> step ... -> destroy
 *
 * Inputs within a step. A master that gives rates of inputs (FMI 2) or values at times within the
 * step (FMI 3) is followed: by lines, or by cubics through four times. Of others wrenches and
 * signals are held, and a motion goes from where it was to the value that was given, as a cubic. */
typedef struct yk_exported yk_exported;

/* NULL after the reason was logged. `resources`: a path, with or without a slash at its end. */
yk_exported *yk_exported_create(const char *resources, const char *token, yk_log_function log,
                                void *user);
void yk_exported_destroy(yk_exported *self);

/* Whether a function of the standard may be called now: the instance is in one of the modes. If not,
 * the reason is logged. */
bool yk_exported_allows(yk_exported *self, const char *function, unsigned modes);

/* Start and end of the run (s); the end may be infinite. In FMI 2 before begin, else with it. */
yk_status yk_exported_set_up(yk_exported *self, double start, double stop);
yk_status yk_exported_begin(yk_exported *self); /* enters initialisation */
yk_status yk_exported_initialise(yk_exported *self);
void yk_exported_terminate(yk_exported *self);
yk_status yk_exported_reset(yk_exported *self);
/* `ask` asks the master for inputs at a time within the step, which it sets before that returns;
 * NULL: it cannot be asked. */
yk_status yk_exported_step(yk_exported *self, double t, double h, void (*ask)(void *user, double t),
                           void *user);

yk_status yk_exported_get(yk_exported *self, const uint32_t *references, size_t count,
                          double *values);
yk_status yk_exported_set(yk_exported *self, const uint32_t *references, size_t count,
                          const double *values);
/* First derivatives of inputs over the next step. */
yk_status yk_exported_set_rates(yk_exported *self, const uint32_t *references, size_t count,
                                const double *rates);

/* Derivatives of outputs at the end of the last step by its inputs: result = J seed, or with
 * `adjoint` the transpose of J times the seed. A change of an input is one of its value over the
 * whole step; the reference plus k times the number of variables stands for a change with t^k. */
yk_status yk_exported_derive(yk_exported *self, bool adjoint, const uint32_t *unknowns,
                             size_t unknown_count, const uint32_t *knowns, size_t known_count,
                             const double *seed, double *result);

/* The state as bytes; 0: it cannot be saved. `set` and `check` refuse bytes that are no state of this
 * model with these parameters. A state that leaves the process is sealed by a checksum, which
 * `check` compares. */
size_t yk_exported_state_size(const yk_exported *self);
void yk_exported_state_get(const yk_exported *self, void *bytes);
yk_status yk_exported_state_set(yk_exported *self, const void *bytes, size_t size);
void yk_exported_state_seal(void *bytes, size_t size);
yk_status yk_exported_state_check(yk_exported *self, const void *bytes, size_t size);

/* What a function of the standard returns for it. */
yk_fmi_status yk_exported_answer(yk_status status);

#endif
