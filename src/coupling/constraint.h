/* The constraint of an interface on position, velocity and acceleration level, for
 * schemes that solve for its multipliers.
 *
 * The rows are those of mechanics/joint.h for a set of axes, in the frame of side B. Each row is a
 * product u . w of two vectors that move with the sides. With d, the vector from B's origin to A's,
 * they are
 *
 *   point     E_k . d        in plane  b_k . d        axes   b_k . a_l        distance   d . d / 2l
 *
 * The value, the rate and the second rate of a row follow from the motions of u and w, without
 * finite differences. A drive moves B's frame on its body: all rows then refer to the moved frame
 * (a rheonomic constraint). A constraint of scalar ports has the single row x_A - x_B. Knife edges and rolling discs have the
 * rows of rolling.h, of which those on velocity level have the accumulated slip as their value. */
#ifndef YK_COUPLING_CONSTRAINT_H
#define YK_COUPLING_CONSTRAINT_H

#include "coupling/interface.h"
#include "mechanics/joint.h"
#include "yoke/system.h"

enum {
    YK_LEVELS = 3, /* position, velocity, acceleration */
    /* Columns of one motion and level: three for the translation of the origin, three for the
     * rotation. */
    YK_MARKER_COORDINATES = 18,
    YK_SCALAR_COORDINATES = 3,
};

typedef struct yk_constraint {
    yk_port_kind kind;
    int row_count;
    yk_row row[YK_JOINT_ROWS_MAX];

    /* The directions of the wrenches rotate with the sides. */
    bool rotates;

    /* The constraint is a distance. Its drive changes the length and does not move B's frame. */
    const yk_relative_motion *drive;

    /* Length l of a distance at the start (m). */
    double length;

    double radius; /* Of a rolling disc (m). */
} yk_constraint;

/* State of a constraint at one time. */
typedef struct yk_constraint_kinematics {
    /* Frame that the rows refer to: b, moved by the drive. */
    yk_motion a, b;

    /* Vector from B's own origin to the driven origin, with its rates. */
    yk_vec3 reach[YK_LEVELS];

    /* Angular velocity and acceleration of B's own frame. */
    yk_vec3 spin[2];

    /* Length of a distance, with its rates. */
    double length[YK_LEVELS];

    /* Slip per row that has accumulated up to this time (m). Set by the caller; zero after
     * yk_constraint_kinematics_at(). */
    double slip[YK_SLIP_ROWS];
} yk_constraint_kinematics;

yk_constraint yk_constraint_make(yk_port_kind kind, unsigned constrained,
                                 const yk_relative_motion *drive);
/* The constraint of an interface. */
yk_constraint yk_constraint_of(yk_port_kind kind, const yk_interface_def *def);

static inline int yk_coordinates(yk_port_kind kind)
{
    if (kind == YK_PORT_SCALAR)
        return YK_SCALAR_COORDINATES;
    return YK_MARKER_COORDINATES;
}

void yk_constraint_kinematics_at(const yk_constraint *constraint, double t, const yk_motion *a,
                                 const yk_motion *b, yk_constraint_kinematics *kinematics);

/* Values and rates of the rows: g[level][row]. */
void yk_constraint_value(const yk_constraint *constraint,
                         const yk_constraint_kinematics *kinematics,
                         double g[YK_LEVELS][YK_JOINT_ROWS_MAX]);

/* Derivatives of the rows with respect to the coordinates of side A (0) and side B (1), in the
 * order of step_sensitivity. */
typedef struct yk_constraint_gradient {
    double by[2][YK_LEVELS][YK_JOINT_ROWS_MAX][YK_MARKER_COORDINATES];

    /* Distance of side A from the origin of the system (m). */
    double distance;
} yk_constraint_gradient;

void yk_constraint_differentiate(const yk_constraint *constraint,
                                 const yk_constraint_kinematics *kinematics,
                                 yk_constraint_gradient *gradient);
/* The same for the first levels only; the other derivatives are zero. */
void yk_constraint_differentiate_levels(const yk_constraint *constraint,
                                        const yk_constraint_kinematics *kinematics, int levels,
                                        yk_constraint_gradient *gradient);

/* Wrenches on both sides of a unit multiplier of a row, each at the side's own marker. They are
 * equal and opposite. */
void yk_constraint_unit_wrenches(const yk_constraint *constraint,
                                 const yk_constraint_kinematics *kinematics, int row,
                                 yk_wrench wrench[2]);

#endif
