/* Between the units and axes of a subsystem and those of the system (paper tight (20)). */
#ifndef YK_COUPLING_FRAME_H
#define YK_COUPLING_FRAME_H

#include "yoke/coupling.h"

/* Outputs of the subsystem, in place, to the system's units and axes. */
void yk_frame_port_value(const yk_frame *frame, yk_port_kind kind, yk_port_value *value);
void yk_frame_motion(const yk_frame *frame, yk_port_kind kind, yk_motion *motion);
void yk_frame_energy(const yk_frame *frame, yk_energy *energy);
/* An input in the system's units and axes to those of the subsystem. */
void yk_frame_input(const yk_frame *frame, yk_port_kind kind, yk_causality causality, const yk_signal *input,
                    yk_signal *own);

#endif
