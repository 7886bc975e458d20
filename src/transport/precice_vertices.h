/* Vertices that a marker carries as a rigid body does.
 *
 * With p and Q the position of the marker and its rotation from the reference, a_i the arm from the
 * marker to vertex i in the reference and x_i the vertex there:
 *
 *   displacement   u_i = p + Q a_i - x_i             velocity   v_i = v + w x Q a_i
 *   wrench         F = sum f_i                       torque     T = sum Q a_i x f_i
 *
 * The other way round a wrench becomes the smallest forces that have it as their resultant: about the
 * mean of the vertices, with r_i the arms from there and J = sum (|r_i|^2 - r_i r_i^T),
 *
 *   f_i = F / n + (J^-1 T) x r_i
 *
 * and displacements the motion that fits them best in the sense of least squares. Power is the same
 * on both sides: sum f_i . v_i = F . v + T . w. */
#ifndef YK_TRANSPORT_PRECICE_VERTICES_H
#define YK_TRANSPORT_PRECICE_VERTICES_H

#include "math/vec3.h"
#include "yoke/base.h"

typedef struct yk_vertices {
    yk_vec3 position; /* of the marker, in the reference */
    yk_quat orientation;
    const yk_vec3 *points; /* in the reference */
    int count;
    int dimensions; /* of the mesh: 2 leaves z out */
    yk_vec3 mean;   /* of the arms */
    /* J^-1 in the reference; zero where the vertices do not determine a rotation. */
    yk_mat3 inverse;
    bool rotates;
} yk_vertices;

/* Finds mean, inverse and rotates; the rest is set. */
void yk_vertices_prepare(yk_vertices *vertices);

/* Values are `dimensions` numbers for each vertex. */
void yk_vertices_displace(const yk_vertices *vertices, const yk_motion *motion,
                          double *displacements);
void yk_vertices_move(const yk_vertices *vertices, const yk_motion *motion, double *velocities);
yk_wrench yk_vertices_reduce(const yk_vertices *vertices, const yk_motion *motion,
                             const double *forces);
void yk_vertices_distribute(const yk_vertices *vertices, const yk_motion *motion,
                            const yk_wrench *wrench, double *forces);
/* Position and orientation from displacements, beginning at the orientation of the motion; then
 * velocities from velocities of the vertices. */
void yk_vertices_fit(const yk_vertices *vertices, const double *displacements, yk_motion *motion);
void yk_vertices_fit_velocity(const yk_vertices *vertices, const double *velocities,
                              yk_motion *motion);

#endif
