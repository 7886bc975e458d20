/* Quantities at an interface: inputs of both sides, wrenches, gaps, and their units.
 *
 * Side A receives the wrench, side B the motion. All rotations are composed on SO(3), never by
 * components. */
#ifndef YK_COUPLING_INTERFACE_H
#define YK_COUPLING_INTERFACE_H

#include "math/polynomial.h"
#include "yoke/system.h"

/* Motion inputs of side B over the step ---------------------------------------------------------*/

/* Original inputs (Zhang et al. 2022, equation 20): a line from A's position at the start, with A's
 * velocity at the end. */
void yk_input_original(yk_port_kind kind, const yk_motion *a_start, const yk_motion *a_end,
                       yk_input *input);

/* Weights of position, velocity and acceleration in modified inputs (Zhang et al. 2022, equation
 * 26). */
typedef struct yk_input_weights {
    double position, velocity, acceleration;
} yk_input_weights;

extern const yk_input_weights yk_weights_index1; /* of the inputs called index-1 */

/* Modified inputs (Zhang et al. 2022, equations 25 and 26): a line from B's own position, with the
 * weighted velocity. If the joint leaves motions free, the line starts at the place of A's marker
 * that satisfies the joint with B. */
void yk_input_modified(yk_port_kind kind, unsigned constrained, const yk_input_weights *weights,
                       double h, const yk_motion *a_start, const yk_motion *b_start,
                       const yk_motion *a_end, yk_input *input);
/* A line between A's positions at the start and at the end (Zhang et al. 2020, equations 21 and
 * 26). */
void yk_input_interpolated(yk_port_kind kind, double h, const yk_motion *a_start,
                           const yk_motion *a_end, yk_input *input);
/* The cubic polynomial with A's positions and velocities at both ends, for sides that make several
 * steps with it. It has no kink between macro steps, to which a solver would react with an impact. */
void yk_input_cubic(yk_port_kind kind, double h, const yk_motion *a_start, const yk_motion *a_end,
                    yk_input *input);
/* A's present motion with its rates, for a consistent start. */
void yk_input_taylor(yk_port_kind kind, const yk_motion *a, yk_input *input);

/* Wrenches --------------------------------------------------------------------------------------*/

/* The wrench on A that balances the wrench on B: the opposite force, and the torque moved to A's
 * origin, so that no momentum is created even if the markers are apart. */
yk_wrench yk_wrench_opposite(yk_port_kind kind, const yk_port_value *b, yk_vec3 a_origin);
/* The same wrench over the whole step. */
void yk_input_constant(yk_port_kind kind, const yk_wrench *wrench, yk_input *input);
/* A line in time that has the value `wrench` at the time `at` of the step. Its slope is that of the
 * change from `before`, which acted at the time `since` earlier. */
void yk_input_line(yk_port_kind kind, const yk_wrench *wrench, double at, const yk_wrench *before,
                   double since, yk_input *input);

/* Work of a constant wrench over a displacement (J). */
double yk_wrench_work(yk_port_kind kind, const yk_wrench *wrench, const yk_motion *from,
                      const yk_motion *to);
/* Work of the impulse of the wrench in the time h at the mean velocity of both ends (J). This is
 * the change of kinetic energy, also if the velocity jumps. */
double yk_wrench_impulse_work(yk_port_kind kind, double h, const yk_wrench *wrench,
                              const yk_motion *from, const yk_motion *to);

/* Operations on wrenches as vectors of yk_port_freedoms(kind) components: a + factor b; the larger
 * of the norms of force (N) and torque (N m); conversion to and from a plain array, which returns
 * the address after the last component. */
yk_wrench yk_wrench_combine(yk_port_kind kind, const yk_wrench *a, double factor,
                            const yk_wrench *b);
double yk_wrench_size(yk_port_kind kind, const yk_wrench *a);
double *yk_wrench_pack(yk_port_kind kind, const yk_wrench *wrench, double *array);
const double *yk_wrench_unpack(yk_port_kind kind, const double *array, yk_wrench *wrench);

/* Largest number of rows of a nonholonomic joint (rolling.h), each of which may accumulate slip. */
enum { YK_SLIP_ROWS = 3 };

/* Both ----------------------------------------------------------------------------------------- */

/* Distance of two motions along the constrained axes, in the frame of b. */
yk_interface_gap yk_compute_interface_gap(yk_port_kind kind, unsigned constrained,
                                          const yk_motion *a, const yk_motion *b);

bool yk_port_value_finite(yk_port_kind kind, const yk_port_value *value);

/* Units and axes ---------------------------------------------------------------------------------
 *
 * Between those of a subsystem and those of the system (Zhang et al. 2020, equation 20). Outputs of the
 * subsystem, in place: */
void yk_transform_value(const yk_transform *transform, yk_port_kind kind, yk_port_value *value);
void yk_transform_motion(const yk_transform *transform, yk_port_kind kind, yk_motion *motion);
/* Differences of motions in the coordinates of step_sensitivity, stored with the given stride. */
void yk_transform_variation(const yk_transform *transform, yk_port_kind kind, double *change,
                            int stride);
/* Velocities or displacements of a port, and the block of a port in a matrix that maps `size`
 * wrenches to `size` velocities; its rows and columns begin at `offset`. */
void yk_transform_rates(const yk_transform *transform, yk_port_kind kind, double *rates);
void yk_transform_response(const yk_transform *transform, yk_port_kind kind, int offset, int size,
                           double *matrix);
void yk_transform_energy(const yk_transform *transform, yk_energy *energy);
/* Converts an input from the system's units and axes to those of the subsystem. */
void yk_transform_input(const yk_transform *transform, yk_port_kind kind, yk_causality causality,
                        const yk_input *input, yk_input *own);

#endif
