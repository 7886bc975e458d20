/* One instance of an exported model, as the functions of both versions of FMI use it.
 *
 *   create (from the folder of resources) -> set -> initialise -> step ... -> destroy
 *
 * Inputs within a step. A master that gives rates of inputs (FMI 2) or values at times within the
 * step (FMI 3) is followed: by lines, or by cubics through four times. Of others wrenches and
 * signals are held, and a motion goes from where it was to the value that was given, as a cubic. */
#ifndef YK_FMU_RUNTIME_H
#define YK_FMU_RUNTIME_H

#include "fmu/interface.h"

typedef struct yk_exported yk_exported;

/* Asks the master for inputs at a time within the step, which it sets before this returns. */
typedef void (*yk_exported_ask)(void *user, double t);
typedef void (*yk_exported_log)(void *user, yk_log_level level, const char *text);

/* NULL after the reason was logged. `resources`: a path, with or without a slash at its end. */
yk_exported *yk_exported_create(const char *resources, const char *token, yk_exported_log log,
                                void *user);
void yk_exported_destroy(yk_exported *self);

yk_status yk_exported_begin(yk_exported *self, double t); /* enters initialisation */
yk_status yk_exported_initialise(yk_exported *self);
yk_status yk_exported_reset(yk_exported *self);
yk_status yk_exported_step(yk_exported *self, double t, double h, yk_exported_ask ask, void *user);

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

/* The state as bytes; 0: it cannot be saved. */
size_t yk_exported_state_size(const yk_exported *self);
void yk_exported_state_get(const yk_exported *self, void *bytes);
yk_status yk_exported_state_set(yk_exported *self, const void *bytes, size_t size);

#endif
