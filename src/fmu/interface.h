/* A scenario, or one of its subsystems, as an FMU shows it: variables with value references.
 *
 * Program and binary make the list from the same scenario by the same function, so that the
 * description which the one writes fits what the other does.
 *
 *   a whole system    time, the scenario's parameters, and every recorded channel as outputs
 *   a subsystem       time, parameters, and its ports: what a port takes as inputs, what it answers
 *                     with as outputs, "tip.force.x"
 */
#ifndef YK_FMU_INTERFACE_H
#define YK_FMU_INTERFACE_H

#include "yoke/model.h"

typedef enum yk_export_role {
    YK_EXPORT_TIME,
    YK_EXPORT_PARAMETER,
    YK_EXPORT_INPUT,
    YK_EXPORT_OUTPUT
} yk_export_role;

typedef struct yk_export_variable {
    const char *name;
    const char *unit; /* "" where there is none */
    yk_export_role role;
    int port;           /* of a subsystem; -1: none */
    const char *member; /* of the port: "position.x"; NULL: none */
    /* Of a port: which double of yk_port_value; of a channel: of the sample; of a parameter: its
     * number. */
    int offset;
    double start;
} yk_export_variable;

typedef struct yk_export_def {
    const char *scenario; /* file */
    const char *const *overrides;
    int override_count;
    const char *subsystem; /* NULL: the whole system */
    /* Ports that can take a wrench do, also where the scenario gives them a motion. */
    bool wrenches;
} yk_export_def;

typedef struct yk_export_model {
    yk_context *context;
    yk_scenario *scenario;
    const yk_scenario_info *info;
    int subsystem;        /* index; -1: the whole system */
    yk_subsystem *object; /* of the subsystem */
    int port_count;
    const yk_port *ports;
    yk_causality *causalities; /* of each port: how it is used; YK_UNCONNECTED: not at all */
    int variable_count;
    yk_export_variable *variables;
    char *names; /* of the variables and members */
    bool rolls_back;
    int input_degree; /* of polynomials up to which a step of the subsystem follows a wrench */
    /* Derivatives of a step by its inputs are known: all ports that are used take wrenches. */
    bool differentiable;
} yk_export_model;

/* Loads the scenario and makes the list; start values are those after a start of the model. A
 * subsystem is connected then, a system created. */
yk_status yk_export_open(yk_context *context, const yk_export_def *def, yk_export_model *model);
void yk_export_close(yk_export_model *model);

/* How the FMU is put together beside the binary. */
#define YK_EXPORT_SCENARIO "scenario.yaml"
#define YK_EXPORT_NOTES "yoke.txt" /* token, subsystem, wrenches: one per line */

typedef struct yk_fmu_export_def {
    yk_export_def model;
    int version;        /* 2 or 3 */
    const char *binary; /* the library that is put into the FMU */
    const char *file;   /* to be written */
} yk_fmu_export_def;

/* Writes the FMU. (export.c) */
yk_status yk_fmu_export(yk_context *context, const yk_fmu_export_def *def);

#endif
