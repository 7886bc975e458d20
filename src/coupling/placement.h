/* Between the units and axes of a subsystem and those of the system (paper tight (20)). */
#ifndef YK_COUPLING_PLACEMENT_H
#define YK_COUPLING_PLACEMENT_H

#include "yoke/coupling.h"

/* Outputs of the subsystem, in place, to the system's units and axes. */
void yk_placement_value(const yk_placement *placement, yk_port_kind kind, yk_port_value *value);
void yk_placement_motion(const yk_placement *placement, yk_port_kind kind, yk_motion *motion);
/* Changes of a motion in the coordinates of step_sensitivity, `stride` apart. */
void yk_placement_variation(const yk_placement *placement, yk_port_kind kind, double *change, int stride);
/* Velocities or displacements of a port, one or six; and what a port has in a matrix of `size` velocities by as many
 * efforts, its rows and columns from `offset` on. */
void yk_placement_rates(const yk_placement *placement, yk_port_kind kind, double *rates);
void yk_placement_response(const yk_placement *placement, yk_port_kind kind, int offset, int size, double *matrix);
void yk_placement_energy(const yk_placement *placement, yk_energy *energy);
/* An input in the system's units and axes to those of the subsystem. */
void yk_placement_input(const yk_placement *placement, yk_port_kind kind, yk_causality causality,
                        const yk_signal *input, yk_signal *own);

#endif
