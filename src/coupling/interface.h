/* The joint between two ports: inputs of both sides, errors, and the energy that the coupling
 * creates.
 *
 * Side A takes the wrench, side B the motion. All rotations are composed on SO(3), never by
 * components. */
#ifndef YK_COUPLING_INTERFACE_H
#define YK_COUPLING_INTERFACE_H

#include "yoke/coupling.h"

/* Weights of position, velocity and acceleration in modified inputs, paper explicit (26). */
typedef struct yk_input_weights {
    double position, velocity, acceleration;
} yk_input_weights;

/* The motion input of side B over the step, a straight line in time: */
/* ... original inputs, paper explicit (20): from A's place at the start, with A's velocity at the
 * end. */
void yk_input_original(yk_port_kind kind, const yk_motion *a_start, const yk_motion *a_end,
                       yk_input *input);
/* ... modified inputs, paper explicit (25), (26): from B's own place, with the weighted velocity.
 * Where rotations are free only the constrained part of the relative rotation counts. */
void yk_input_modified(yk_port_kind kind, unsigned constrained, const yk_input_weights *weights,
                       double h, const yk_motion *b_start, const yk_motion *a_end, yk_input *input);
/* ... between A's places at the start and at the end, papers tight (21), (26). */
void yk_input_interpolated(yk_port_kind kind, double h, const yk_motion *a_start,
                           const yk_motion *a_end, yk_input *input);
/* ... the cubic that meets A's places and velocities at both ends, for sides that make several
 * steps on it: without a kink between macro steps, which a solver would answer with a blow. */
void yk_input_cubic(yk_port_kind kind, double h, const yk_motion *a_start, const yk_motion *a_end,
                    yk_input *input);
/* ... A's motion now with its rates, for a consistent start. */
void yk_input_taylor(yk_port_kind kind, const yk_motion *a, yk_input *input);

/* The wrench on A that balances the wrench on B: opposite force, and the torque moved to A's
 * origin, so that no momentum is created even where the markers are apart. */
yk_wrench yk_wrench_opposite(yk_port_kind kind, const yk_port_value *b, yk_vec3 a_origin);
/* The same wrench over the whole step. */
void yk_input_constant(yk_port_kind kind, const yk_wrench *wrench, yk_input *input);

/* A line in time with the wrench at the time `at` of the step, and the rate at which it came
 * there from `before`, `since` ago. */
void yk_input_line(yk_port_kind kind, const yk_wrench *wrench, double at, const yk_wrench *before,
                   double since, yk_input *input);

/* How far two motions are apart along the constrained axes, in the frame of b. */
yk_interface_error yk_interface_gap(yk_port_kind kind, unsigned constrained, const yk_motion *a,
                                    const yk_motion *b);

/* Work of a constant wrench over a displacement (J). */
double yk_wrench_work(yk_port_kind kind, const yk_wrench *wrench, const yk_motion *from,
                      const yk_motion *to);
/* Work of its impulse in the time h at the mean velocity of both ends (J): what changes the
 * kinetic energy, also where the velocity jumps. */
double yk_wrench_impulse_work(yk_port_kind kind, double h, const yk_wrench *wrench,
                              const yk_motion *from, const yk_motion *to);

/* Wrenches as vectors of one (scalar port) or six components. */
yk_wrench yk_wrench_combine(yk_port_kind kind, const yk_wrench *a, double factor,
                            const yk_wrench *b);
/* One component or six, to and from a plain array; both return the place behind. */
double *yk_wrench_pack(yk_port_kind kind, const yk_wrench *wrench, double *array);
const double *yk_wrench_unpack(yk_port_kind kind, const double *array, yk_wrench *wrench);
/* The larger of the norms of force (N) and torque (N m). */
double yk_wrench_size(yk_port_kind kind, const yk_wrench *a);

bool yk_port_value_finite(yk_port_kind kind, const yk_port_value *value);

#endif
