/* The geometrically exact three-node beam, derived from its strain energy.
 *
 *      node 1                  node 2                  node 3
 *         o-----------*-----------o-----------*-----------o            xi = -1 ... 1
 *                  point 1                 point 2                     xi = -1/sqrt(3), 1/sqrt(3)
 *
 * Strains of Simo 1985. The line and the rotations are interpolated by parabolas through the nodes,
 * and the strain energy is integrated with two Gauss points, at which the strains of parabolas are
 * most accurate: a beam loaded at its ends only is solved exactly in the limit of small
 * deflections, without locking. Rotations are interpolated as rotation vectors relative to the
 * middle node: rigid motions of any size cause no strain, and constant curvature is exact.
 *
 * Loads are derivatives of the energy. So the stiffness is symmetric and no mode can grow, however
 * short the beam is and however it is bent or compressed below its buckling load. (Finite volumes,
 * which balance the resultants at the two points on rigid portions between them as in MBDyn, have
 * an unsymmetric stiffness: modes of elements with a length of two to three thicknesses grow by up
 * to 0.06 of their frequency.)
 *
 * The mass is lumped at the nodes by Simpson's rule, which for parabolas is as accurate as a
 * consistent mass matrix: on four elements the second and third bending frequency of a cantilever
 * are 0.2 and 1.7 % too high, on eight 0.01 and 0.1 % (consistent mass matrix: 0.4 and 2.8 % on
 * four; finite volumes with rigid portions: -0.4 and -1.3 % on four, -0.1 and -0.4 % on eight;
 * tests/multibody/beam_mass.c).
 *
 * A beam does not depend on a solver: it maps the motion of three nodes to the loads on them and
 * their derivatives. */
#ifndef YK_MULTIBODY_BEAM_H
#define YK_MULTIBODY_BEAM_H

#include "mechanics/body.h"
#include "yoke/base.h"
#include "yoke/multibody.h"

enum { YK_BEAM_UNKNOWNS = 6 * YK_BEAM_NODE_COUNT };

/* The beam in its strain-free shape. */
typedef struct yk_beam_def {
    yk_vec3 position[YK_BEAM_NODE_COUNT];    /* of the nodes */
    yk_quat orientation[YK_BEAM_NODE_COUNT]; /* of the nodes */
    yk_vec3
        offset[YK_BEAM_NODE_COUNT]; /* from the node to the reference line, in the node's axes */
    /* from section axes (x along the beam) to the node's axes */
    yk_quat section_frame[YK_BEAM_NODE_COUNT];
    yk_beam_section section[YK_BEAM_SECTION_COUNT]; /* each represents half of the beam */
} yk_beam_def;

/* A straight prismatic beam from one end to the other, with `up` in its x-y plane and nodes whose
 * axes are those of the section. For tests and benchmarks without a model. */
yk_beam_def yk_beam_straight(yk_vec3 start, yk_vec3 end, yk_vec3 up,
                             const yk_beam_section *section);

/* Constant data at one evaluation point. */
typedef struct yk_beam_point {
    double shape[YK_BEAM_NODE_COUNT]; /* shape functions */
    double slope[YK_BEAM_NODE_COUNT]; /* and their derivatives by arc length */
    /* arc length per unit of xi: the weight of the point in integrals along the beam */
    double length;
    double strain[6]; /* of the reference shape, subtracted */
    double stiffness[6][6];
    double damping[6][6];
    bool coupled;  /* forces depend on curvatures, or moments on strains */
    bool diagonal; /* the stiffness is */
} yk_beam_point;

typedef struct yk_beam {
    yk_vec3 offset[YK_BEAM_NODE_COUNT];
    yk_mat3 section_frame[YK_BEAM_NODE_COUNT];
    yk_beam_point point[YK_BEAM_SECTION_COUNT];
    bool rotated; /* section axes differ from the nodes' */
    bool has_offset;
    bool damped;
} yk_beam;

typedef struct yk_beam_loads {
    yk_vec3 force[YK_BEAM_NODE_COUNT];  /* of the beam on the nodes, global frame */
    yk_vec3 torque[YK_BEAM_NODE_COUNT]; /* about the nodes */
    double strain[YK_BEAM_SECTION_COUNT][6];
    double resultant[YK_BEAM_SECTION_COUNT][6]; /* in section axes, with damping */
    double energy;                              /* strain energy (J) */
    double loss;                                /* power lost to damping (W) */
} yk_beam_loads;

/* Derivatives of the loads. Rows: force and torque of node 1, 2, 3. Columns: translation and
 * rotation of node 1, 2, 3. A rotation delta changes the orientation of the node to exp(delta) *
 * orientation at constant velocity and angular velocity. */
typedef struct yk_beam_jacobian {
    double pose[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS];
    double rate[YK_BEAM_UNKNOWNS][YK_BEAM_UNKNOWNS]; /* written for damped beams only */
} yk_beam_jacobian;

/* YK_ERROR_ARGUMENT: nodes coincide, sections are rotated by half a turn from one node to the next,
 * or a stiffness is not symmetric and positive definite. */
yk_status yk_beam_create(yk_context *context, const yk_beam_def *def, yk_beam *beam);

/* Loads at the given motion; the Jacobian may be NULL. Velocities are read for damped beams only. */
void yk_beam_evaluate(const yk_beam *beam, const yk_frame *const node[YK_BEAM_NODE_COUNT],
                      yk_beam_loads *loads, yk_beam_jacobian *jacobian);

/* The mass at the three nodes by Simpson's rule. Mass and center of a straight beam are exact. Its
 * moment of inertia is exact if both sections have the same mass; if they differ by a factor of two
 * it is 1.4 % too large. */
void yk_beam_lumps(const yk_beam_def *def, yk_inertia lump[YK_BEAM_NODE_COUNT]);

#endif
