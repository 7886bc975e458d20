/* One particle of a packing, whatever its shape: made once at unit size, and added as often as
 * wanted, scaled by a radius.
 *
 * Unit size is the volume of a sphere of radius 1, so that mass and inertia of a particle of
 * radius r and density rho are
 *
 *   m = 4/3 pi rho r^3        J = rho r^5 J1
 *
 * with J1 about the centre of mass, which is the origin of the parts. A clump is a rigid body of
 * spheres; where they overlap, volume counts once. */
#ifndef YK_NONSMOOTH_PARTICLE_H
#define YK_NONSMOOTH_PARTICLE_H

#include "nonsmooth/nonsmooth.h"

typedef struct yk_particle {
    int part_count;  /* 0: a sphere */
    yk_solid *parts; /* in the particle's axes */
    yk_vec3 *points; /* of a hull; behind them memory for as many that are scaled */
    yk_mat3 inertia; /* J1 */
    double reach;    /* radius of the ball around its centre of mass that holds it */
    double radius;   /* of the shape before it was scaled (m) */
} yk_particle;

yk_status yk_particle_make(yk_context *context, const yk_particle_shape *shape, yk_particle *made);
void yk_particle_destroy(yk_context *context, yk_particle *particle);

/* How far it reaches upwards from its centre of mass. */
double yk_particle_top(const yk_particle *particle, yk_quat orientation, double radius);

/* Adds it as a body without a name; returns the body, or YK_NO_ID. */
int yk_particle_add(yk_nonsmooth *self, const yk_particle *particle, yk_vec3 position,
                    yk_quat orientation, double radius, double density, yk_material material);

#endif
