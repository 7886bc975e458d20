/* Newton's method for the wrenches and motions of many interfaces: the unknowns of one yk_unknowns whose
 * subsystems all step at the same time.
 *
 * A subsystem turns the wrenches and motions that its interfaces give it into motions and wrenches. The derivative of
 * its outputs with respect to its inputs, its response, is found by finite differences. The residual H(x) - x of an
 * interface depends on the two subsystems of the interface only, so that the Jacobian is sparse in the graph of
 * subsystems:
 *
 *   (I - H') change = H(x) - x
 *
 * Responses and factors are kept over steps. They are computed again if the changes of an iteration decrease slowly. */
#ifndef YK_COUPLING_INTERFACE_NEWTON_H
#define YK_COUPLING_INTERFACE_NEWTON_H

#include "coupling/interface_fixed_point.h"

typedef struct yk_interface_newton yk_interface_newton;

/* How the inputs of one interface are set from the values of its unknowns. */
typedef struct yk_interface_inputs {
    void (*set_wrench)(void *user, yk_system *system, int interface);
    void (*set_motion)(void *user, yk_system *system, int interface);
    void *user;
} yk_interface_inputs;

/* Whether the method can be used: positions are the only unknown motions, no wire is unknown, and no subsystem has so
 * many interfaces that its response would be large. */
bool yk_interface_newton_applies(const yk_system *system, const yk_unknowns *w);
yk_status yk_interface_newton_create(const yk_system *system, const yk_unknowns *w,
                                     yk_interface_newton **newton);
void yk_interface_newton_destroy(yk_context *context, yk_interface_newton *newton);

/* Starts a new run, whose first step computes the responses. */
void yk_interface_newton_restart(yk_interface_newton *newton);
/* Starts a new step. */
void yk_interface_newton_begin(yk_interface_newton *newton);

/* Sets w->next from w->applied and w->fresh, which belong to the last sweep with the present inputs. May step all
 * subsystems to compute responses; their outputs do not change. *converged: the wrenches in x and H(x), and the change
 * of the wrenches by this iteration, are within the tolerance. */
yk_status yk_interface_newton_next(yk_interface_newton *newton, yk_system *system, yk_unknowns *w,
                                   const yk_interface_inputs *inputs, bool *converged);
/* The iterate of this step with the smallest change. */
void yk_interface_newton_best(const yk_interface_newton *newton, double *x);

/* The responses, as words of a state image. */
size_t yk_interface_newton_words(const yk_interface_newton *newton);
void yk_interface_newton_get(const yk_interface_newton *newton, double *words);
void yk_interface_newton_set(yk_interface_newton *newton, const double *words);
bool yk_interface_newton_is_valid(const yk_interface_newton *newton, const double *words);

#endif
