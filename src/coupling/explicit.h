/* The input of motion sides in the explicit scheme, which rim has between its slow participants
 * too; see explicit.c. */
#ifndef YK_COUPLING_EXPLICIT_H
#define YK_COUPLING_EXPLICIT_H

#include "coupling/interface.h"
#include "coupling/system.h"

/* The motion of an interface's wrench side, which has made the step or not, as it is prescribed
 * to the other; without weights: original inputs. */
void yk_explicit_motion_input(yk_system *system, int interface, const yk_input_weights *weights,
                              bool a_advanced);

/* The weights of index-1 inputs. */
extern const yk_input_weights yk_index1_weights;

#endif
