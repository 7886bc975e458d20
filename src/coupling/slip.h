/* Accumulated slip of knife edges and rolling discs: the integral of their rows on velocity level since the start of the run, which
 * takes the place of the position level that these rows do not have. Schemes that return it to zero keep the slip small for
 * any length of the run, as the position level does for holonomic joints. */
#ifndef YK_COUPLING_SLIP_H
#define YK_COUPLING_SLIP_H

#include "coupling/constraint.h"
#include "coupling/system.h"

static inline bool yk_interface_can_slip(const yk_interface *interface)
{
    return interface->def.constrained_axes & (YK_AXIS_KNIFE_EDGE | YK_AXIS_ROLLING);
}

/* Sets the slip of the kinematics for the end of the step in progress: that at its start, and the integral along the paths from
 * the start to the motions of the kinematics. Has no effect on holonomic constraints. */
void yk_slip_at_end(const yk_system *system, int interface, const yk_constraint *constraint,
                    yk_constraint_kinematics *kinematics);
/* Adds the slip of the finished step to the interface. */
void yk_slip_add_step(const yk_system *system, yk_interface *interface);
/* Number of words of all interfaces in the state image; copies them to `words`, or from there, and returns the address after
 * the last one. */
size_t yk_slip_words(const yk_system *system);
double *yk_slip_get(const yk_system *system, double *words);
const double *yk_slip_set(yk_system *system, const double *words);

#endif
