/* Particles at rest in a container: the state that a particle damper, a hopper or a heap starts
 * from.
 *
 * As in tight 3.2.1: particles are set on a lattice with clearances and fall; the container is
 * shaken by one cycle of a sine and its lid lowered to the highest one, again and again, until
 * the height of the bed no longer falls. The run takes place in a world of its own; its result,
 * places in the frame of the cavity, can be written to a file and put into any number of models. */
#ifndef YK_NONSMOOTH_PACKING_H
#define YK_NONSMOOTH_PACKING_H

#include "nonsmooth/particle.h"

/* Particles in one packing, at most. */
enum { YK_PACKING_MAX = 100000000 };

typedef struct yk_packing {
    yk_particle particle; /* what all of them are, up to their size */
    int count;
    yk_vec3 *positions; /* from the middle of the cavity */
    double *radii;
    yk_quat *orientations;                    /* NULL: those of the global axes */
    yk_vec3 *velocities, *angular_velocities; /* NULL: at rest; global axes */
    double height;  /* of the highest point above the floor of the cavity */
    double speed;   /* root mean square, of the last step */
    double seconds; /* simulated */
    int shakes;
    bool at_rest; /* false: the time limit came first */
} yk_packing;

/* YK_NOT_CONVERGED when the bed was still moving at the time limit; the packing is usable. */
yk_status yk_packing_make(yk_context *context, const yk_packing_def *def, yk_packing *packing);
/* Without falling: the lattice alone. */
yk_status yk_packing_lattice(yk_context *context, const yk_packing_def *def, yk_packing *packing);
void yk_packing_destroy(yk_context *context, yk_packing *packing);

/* Adds the particles to a model whose cavity has its middle at `origin`; returns the first body, or
 * YK_NO_ID. */
int yk_packing_add(yk_nonsmooth *self, const yk_packing *packing, yk_vec3 origin, double density,
                   yk_material material);

/* Text: x, y, z, radius per particle, in metres. Where there is more, or in another order, the
 * first line names the columns: x, y, z, radius; vx, vy, vz (m/s); qw, qx, qy, qz, the quaternion
 * from the particle's axes to the global ones; wx, wy, wz (rad/s, global axes). Shape NULL:
 * spheres. */
yk_status yk_packing_read(yk_context *context, const char *path, const yk_particle_shape *shape,
                          yk_packing *packing);

#endif
