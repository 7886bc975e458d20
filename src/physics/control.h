/* Controllers: loops that compare a measured signal with a reference and give a command (paper
 * rim (53)).
 *
 *   e = reference - measured,   v = P e + I (integral of e) + D e'
 *
 *   YK_CONTROL_VALUE   command = offset + v
 *   YK_CONTROL_RATE    command' = v, from the offset on: rim (53) with P = -k^P, D = -k^D
 *
 * The command stays within its limits and changes no faster than its rate limit. Integrals do not
 * wind up: while the command is held back, an error that would drive it further is not
 * integrated.
 *
 * Every loop NAME has four signal ports: it gives `NAME` and takes `NAME.measured`, and if they
 * are connected `NAME.rate` (the derivative of what is measured; without it e' comes from
 * differences of e, smoothed by the filter) and `NAME.reference` (instead of the function). With
 * a period they are read at its samples, else all the time. */
#ifndef YK_PHYSICS_CONTROL_H
#define YK_PHYSICS_CONTROL_H

#include "base/function.h"
#include "yoke/base.h"
#include "yoke/subsystem.h"

typedef enum yk_control_form { YK_CONTROL_VALUE, YK_CONTROL_RATE } yk_control_form;

typedef struct yk_control_loop_def {
    const char *name; /* copied */
    yk_control_form form;
    yk_function reference;
    double proportional, integral, derivative;
    double filter;     /* time constant of e', s; 0: none */
    double offset;     /* command without error; form rate: command at the start */
    double low, high;  /* limits of the command */
    double rate_limit; /* of the command, 1/s */
} yk_control_loop_def;

typedef struct yk_control_def {
    const char *name;
    double period; /* between samples, s; the command is held from one to the next; 0: continuous */
    double step;   /* continuous: longest own step, s; 0: one per step that is asked for */
    const yk_control_loop_def *loops;
    int loop_count;
} yk_control_def;

/* Continuous, no loop; no gains, no limits. */
yk_control_def yk_control_default(void);
yk_control_loop_def yk_control_loop_default(void);

yk_status yk_control_create(yk_context *context, const yk_control_def *def,
                            yk_subsystem **subsystem);

#endif
