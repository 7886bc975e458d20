/* The rows of nonholonomic constraints: a knife edge, and a disc that rolls on a plane.
 *
 * Side A has the blade, whose normal is its y, or the disc about its z; side B has the plane normal to its z. With d from B's
 * origin to A's, n = b_z, m = a_z, c = n . m, s = sqrt(1 - c^2), the rows are
 *
 *   wheel   n . d - r s                                     the disc touches the plane: holonomic
 *   roll    e . (velocity of the contact point of A relative to B),    e along (m x n)/s or across it
 *   slip    a_y . (velocity of A's origin relative to B)
 *
 * where the contact point is at -r/s (n - c m) from A's origin, and the velocity relative to B is that relative to the
 * material point of B at the same place. Roll and slip have no position level: their value is the slip that has accumulated
 * since the start of the run (slip.h), whose derivative with respect to the position of a side at the end of a step is that of
 * the rate with respect to its velocity, except for terms of the order of the step. */
#ifndef YK_COUPLING_ROLLING_H
#define YK_COUPLING_ROLLING_H

#include "coupling/constraint.h"

/* Whether a constraint consists of these rows. */
bool yk_constraint_is_nonholonomic(const yk_constraint *constraint);

/* Values and rates of the rows: g[level][row]. */
void yk_rolling_value(const yk_constraint *constraint, const yk_constraint_kinematics *kinematics,
                      double g[YK_LEVELS][YK_JOINT_ROWS_MAX]);
/* Derivatives with respect to the coordinates of both sides up to a level. */
void yk_rolling_differentiate(const yk_constraint *constraint,
                              const yk_constraint_kinematics *kinematics, int levels,
                              yk_constraint_gradient *gradient);
/* Wrenches on both sides of a unit multiplier of a row, each at the side's own marker. */
void yk_rolling_unit_wrenches(const yk_constraint *constraint,
                              const yk_constraint_kinematics *kinematics, int row,
                              yk_wrench wrench[2]);

#endif
