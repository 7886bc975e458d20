/* Beam sections: what one cross-section answers to strains, and what it weighs.
 *
 * Section axes: x along the beam, y and z across. Strains and resultants are ordered
 *
 *   strain     gamma_x extension, gamma_y and gamma_z shear; kappa_x twist, kappa_y and kappa_z curvature (1/m)
 *   resultant  N_x, N_y, N_z (N); M_x, M_y, M_z (N m)
 *
 * and the stiffness may be any 6 x 6 matrix between them: eccentric or anisotropic sections couple all of them. */
#ifndef YK_SMOOTH_BEAM_SECTION_H
#define YK_SMOOTH_BEAM_SECTION_H

#include "math/vec3.h"

typedef struct yk_beam_section {
    double stiffness[6][6];
    double damping[6][6]; /* resultants from strain rates; all zero: none */
    double mass;          /* kg/m */
    yk_vec3 centre;       /* of mass, from the reference line, in section axes (m) */
    yk_mat3 inertia;      /* about the centre of mass, in section axes (kg m) */
} yk_beam_section;

/* Homogeneous and isotropic, with its centre on the reference line and principal axes y and z. */
typedef struct yk_beam_section_def {
    double young;         /* Pa */
    double poisson;       /* 1 */
    double density;       /* kg/m3 */
    double area;          /* m2 */
    double inertia_y;     /* second moment of area about y: bending in the x-z plane (m4) */
    double inertia_z;     /* about z: bending in the x-y plane (m4) */
    double torsion;       /* torsion constant (m4) */
    double shear_y;       /* shear factors: fraction of the area that carries shear along y and z */
    double shear_z;       /**/
    double damping_ratio; /* damping = damping_ratio * stiffness (s) */
} yk_beam_section_def;

/* Steel with a solid circular section of 1 cm2; shapes below fill in the geometry. */
yk_beam_section_def yk_beam_section_default(void);
/* Widths along y and z. Torsion by Saint-Venant's series, shear factor 5/6. */
void yk_beam_section_rectangle(yk_beam_section_def *def, double width_y, double width_z);
/* A tube, or a bar with inner radius zero. Shear factor after Cowper (1966) for the section's Poisson ratio, which must
 * be set before. */
void yk_beam_section_tube(yk_beam_section_def *def, double outer_radius, double inner_radius);

yk_beam_section yk_beam_section_create(const yk_beam_section_def *def);

/* The same section seen from axes that are turned by `angle` about x and from a reference line that runs at `offset`
 * (y, z in the old axes) from the old one. */
yk_beam_section yk_beam_section_moved(const yk_beam_section *section, double angle, double offset_y, double offset_z);

#endif
