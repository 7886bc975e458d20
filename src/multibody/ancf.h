/* The rod in absolute nodal coordinates: large deflections and rotations by position vectors and
 * gradients alone (Zhou et al. 2022, section 2.3 and figure 8).
 *
 *   node 0                       middle                       node 1
 *      o----------------------------*----------------------------o           xi = x / length
 *   r, r_x, r_y, r_z           r_y, r_z                  r, r_x, r_y, r_z
 *
 * Ten vectors, 30 coordinates. The line r(x) is a cubic, the gradients r_y(x) and r_z(x) across it
 * are parabolas; a point (y, z) of the section is at r + y r_y + z r_z. The mass matrix is
 * constant.
 *
 * Strains on the line are the Green-Lagrange strains of the three gradients; curvatures are k_y =
 * G^T r_y' and k_z = G^T r_z' with G = [r_x, r_y, r_z]. The material law is linear. It is the full
 * three-dimensional law for the strains of the line, so that a stretched rod gets thinner. For
 * strains that vary across the section it uses Young's modulus alone, because the section cannot
 * bulge and would otherwise be too stiff by the effect of Poisson's ratio. The shear factors and
 * the torsion constant of the section are included. Three Gauss points are enough for all 24
 * deformations and few enough to avoid locking.
 *
 * An element does not depend on a solver: it maps coordinates to forces and exact derivatives. */
#ifndef YK_MULTIBODY_ANCF_H
#define YK_MULTIBODY_ANCF_H

#include "mechanics/body.h"
#include "yoke/base.h"
#include "yoke/multibody.h"

enum {
    YK_ANCF_VECTORS = 10,
    YK_ANCF_COORDINATES = 3 * YK_ANCF_VECTORS,
    YK_ANCF_NODE = 12,  /* coordinates of an end node: r, r_x, r_y, r_z */
    YK_ANCF_MIDDLE = 6, /* of the middle: r_y, r_z */
    YK_ANCF_POINTS = 3,
    YK_ANCF_STRAINS = 12,
    YK_ANCF_GRADIENTS = 5
};

/* Constant data of one Gauss point: each gradient is a sum of coordinate vectors. In the order
 * r_x, r_y, r_z, r_y', r_z'. */
typedef struct yk_ancf_point {
    double shape[YK_ANCF_GRADIENTS][YK_ANCF_VECTORS];
    double weight;                     /* length of rod that the point represents */
    double reference[YK_ANCF_STRAINS]; /* strain measures of the undeformed shape, subtracted */
} yk_ancf_point;

typedef struct yk_ancf {
    double length;
    double mass[YK_ANCF_VECTORS]
               /* of vectors: the mass matrix is this matrix times the 3 x 3 identity */
               [YK_ANCF_VECTORS];
    /* generalized weight per unit of gravity: integral of the mass */
    double weight[YK_ANCF_VECTORS];
    double law[YK_ANCF_STRAINS][YK_ANCF_STRAINS];
    double damping_ratio; /* stress = law (strain + damping_ratio strain rate) (s) */
    yk_ancf_point point[YK_ANCF_POINTS];
} yk_ancf;

typedef struct yk_ancf_loads {
    double force[YK_ANCF_COORDINATES]; /* of the element on its coordinates */
    double energy;                     /* strain energy (J) */
    double loss;                       /* power lost to damping (W) */
} yk_ancf_loads;

/* Makes the shape at the given coordinates the strain-free one. The gradients should be orthonormal
 * at the nodes: a straight element, or a curved one parametrized by its arc length.
 * YK_ERROR_ARGUMENT: a length or a section that is not positive. */
yk_status yk_ancf_create(yk_context *context, double length, const yk_beam_section_def *section,
                         const double coordinates[YK_ANCF_COORDINATES], yk_ancf *element);

/* Coordinates of a straight element, from the arc length `from` to `from + length` along the x axis
 * of `axes` after `start`; rates of a rigid motion with the given velocity of the start and angular
 * velocity (NULL: not needed). */
void yk_ancf_straight(const yk_frame *start, double from, double length, double *coordinates,
                      double *rates);

/* The same for an element of an arc: curvature (1/m) in the axes of the section, constant along the
 * arc. */
void yk_ancf_arc(const yk_frame *start, yk_vec3 curvature, double from, double length,
                 double *coordinates, double *rates);

/* Adds the mass matrix times the rates, or accelerations, of the coordinates. */
void yk_ancf_momenta(const yk_ancf *element, const double *rates, double *momenta);

/* Rates are read for damped elements only and may be NULL for others. */
void yk_ancf_evaluate(const yk_ancf *element, const double *coordinates, const double *rates,
                      yk_ancf_loads *loads);
/* Derivatives of the forces with respect to coordinates and rates (NULL: not needed). Both are
 * symmetric. */
void yk_ancf_tangent(const yk_ancf *element, const double *coordinates, const double *rates,
                     double transform[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES],
                     double rate[YK_ANCF_COORDINATES][YK_ANCF_COORDINATES]);

/* The point of the line at xi = x / length. */
yk_vec3 yk_ancf_line(const yk_ancf *element, const double *coordinates, double xi);

/* The frame of the section at an end node, from r, r_y and r_z (nine coordinates, in this order): x
 * is normal to the section, y and z are rotated from r_y and r_z by equal angles. The gradient
 * along the line is not used: it is not fixed to the section, and a moment does work on the
 * rotation of the section. */
enum { YK_ANCF_SECTION = 9 };

/* The 6 x 9 map, row-major, from the rates of the nine coordinates to velocity and angular
 * velocity. */
void yk_ancf_section_pose(const double coordinates[YK_ANCF_SECTION],
                          const double rates[YK_ANCF_SECTION], yk_frame *placed, double *jacobian);
/* Acceleration of the frame if the second derivatives of the coordinates are zero. */
void yk_ancf_section_bias(const double coordinates[YK_ANCF_SECTION],
                          const double rates[YK_ANCF_SECTION], yk_vec3 *acceleration,
                          yk_vec3 *angular_acceleration);
/* Adds scale times the derivative of (jacobian^T load) at a fixed force and torque, 9 x 9. */
void yk_ancf_section_stiffness(const double coordinates[YK_ANCF_SECTION], yk_vec3 torque,
                               double scale, double *tangent);

#endif
