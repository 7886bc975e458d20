/* Between the units and axes of a subsystem and those of the system (paper tight (20)). */
#ifndef YK_COUPLING_TRANSFORM_H
#define YK_COUPLING_TRANSFORM_H

#include "yoke/coupling.h"

/* Outputs of the subsystem, in place, to the system's units and axes. */
void yk_transform_value(const yk_transform *transform, yk_port_kind kind, yk_port_value *value);
void yk_transform_motion(const yk_transform *transform, yk_port_kind kind, yk_motion *motion);
/* Changes of a motion in the coordinates of step_sensitivity, `stride` apart. */
void yk_transform_variation(const yk_transform *transform, yk_port_kind kind, double *change,
                            int stride);
/* Velocities or displacements of a port, one or six; and what a port has in a matrix of `size`
 * velocities by as many wrenches, its rows and columns from `offset` on. */
void yk_transform_rates(const yk_transform *transform, yk_port_kind kind, double *rates);
void yk_transform_response(const yk_transform *transform, yk_port_kind kind, int offset, int size,
                           double *matrix);
void yk_transform_energy(const yk_transform *transform, yk_energy *energy);
/* An input in the system's units and axes to those of the subsystem. */
void yk_transform_input(const yk_transform *transform, yk_port_kind kind, yk_causality causality,
                        const yk_input *input, yk_input *own);

#endif
