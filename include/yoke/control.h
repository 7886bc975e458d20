/* Controllers: loops that compare a measured signal with a reference and return a command (Peiret et al. 2020, equation 53).
 *
 *     e = reference - measured,   v = P e + I (integral of e) + D e'
 *
 *     YK_CONTROL_OUTPUT_VALUE    command  = command_offset + v
 *     YK_CONTROL_OUTPUT_RATE     command' = v, starting at command_offset. Equation 53 has P = -k^P and D = -k^D.
 *
 *     yk_control_builder *controller = yk_control_begin(context, NULL);
 *     yk_control_loop_def loop = yk_control_loop_default();
 *     loop.name = "speed";
 *     loop.proportional = 3;
 *     yk_control_add_loop(controller, &loop);
 *     yk_subsystem *subsystem;
 *     yk_status status = yk_control_create(controller, &subsystem);
 *
 * The command stays within its limits and changes at most at its maximum rate. Integrals do not wind up: while the command
 * is limited, an error that would drive it further is not integrated.
 *
 * Each loop NAME has four signal ports: the output `NAME`, the input `NAME.measured`, and the optional inputs `NAME.rate`
 * (derivative of the measured signal; without it e' is computed from differences of e, smoothed by the filter) and
 * `NAME.reference` (replaces the function). A controller with a sample period reads its inputs at its samples, otherwise
 * continuously. Names must live until `create` returns; functions of time must outlive the subsystem. */
#ifndef YOKE_CONTROL_H
#define YOKE_CONTROL_H

#include "yoke/base.h"
#include "yoke/ids.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yk_control_output {
    YK_CONTROL_OUTPUT_VALUE,
    YK_CONTROL_OUTPUT_RATE
} yk_control_output;

typedef struct yk_control_loop_def {
    const char *name;
    yk_control_output output;
    yk_time_function reference;
    double proportional, integral, derivative;
    double derivative_filter; /* Time constant of e' (s); 0: none. */
    double
        command_offset; /* Command without error; with YK_CONTROL_OUTPUT_RATE: initial command. */
    double min_command, max_command; /* Limits of the command. */
    double max_command_rate;         /* Largest change of the command (1/s). */
} yk_control_loop_def;

typedef struct yk_control_def {
    const char *name;
    double sample_period; /* s; the command is constant between samples; 0: continuous. */
    double max_step;      /* Largest step of a continuous controller (s); 0: one step per call. */
} yk_control_def;

/* Continuous. */
yk_control_def yk_control_default(void);
/* No gains and no limits. */
yk_control_loop_def yk_control_loop_default(void);

typedef struct yk_control_builder yk_control_builder;

/* `def` may be NULL for the defaults. Returns NULL if memory is missing; the functions below accept NULL, and
 * yk_control_create() reports it. */
yk_control_builder *yk_control_begin(yk_context *context, const yk_control_def *def);
/* Returns the output port, or YK_NULL_PORT. The input ports follow in the order above. */
yk_port_id yk_control_add_loop(yk_control_builder *builder, const yk_control_loop_def *def);
/* Creates the subsystem and frees the builder, also after an error. YK_ERROR_ARGUMENT: the message names the part that is
 * wrong. */
yk_status yk_control_create(yk_control_builder *builder, yk_subsystem **subsystem);
/* Frees a builder without creating a subsystem; NULL is allowed. */
void yk_control_discard(yk_control_builder *builder);

#ifdef __cplusplus
}
#endif

#endif
