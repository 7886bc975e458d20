/* Particles at rest in a container: the state that a particle damper, a hopper or a heap starts
 * from. One particle of any shape (particle.c), random numbers (Steele, Lea, Flood 2014; Shoemake
 * 1992), packings (packing.c), and how the builder takes them (builder.c).
 *
 * As in tight 3.2.1: particles are set on a lattice with clearances and fall; the container is
 * shaken by one cycle of a sine and its lid lowered to the highest one, again and again, until
 * the height of the bed no longer falls. The run takes place in a world of its own; its result,
 * places in the frame of the cavity, can be written to a file and put into any number of models. */
#ifndef YK_NONSMOOTH_PACKING_H
#define YK_NONSMOOTH_PACKING_H

#include "nonsmooth/nonsmooth.h"

/* One particle --------------------------------------------------------------------------------- */

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

/* Random numbers of our own, so that a seed means the same everywhere -------------------------- */

/* Uniform in [0, 1): SplitMix64 (Steele, Lea, Flood 2014). */
static inline double yk_random(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

/* Uniform in all rotations (Shoemake 1992). */
static inline yk_quat yk_random_orientation(uint64_t *seed)
{
    double u = yk_random(seed);
    double a = 2 * YK_PI * yk_random(seed);
    double b = 2 * YK_PI * yk_random(seed);
    return (yk_quat){sqrt(u) * cos(b), sqrt(1 - u) * sin(a), sqrt(1 - u) * cos(a),
                     sqrt(u) * sin(b)};
}

/* Packings ------------------------------------------------------------------------------------- */

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

/* What the builder (builder.c) offers beside its public functions ------------------------------ */

/* The world in the making, to be looked at. */
yk_nonsmooth *yk_nonsmooth_world_of(yk_nonsmooth_builder *builder);
/* Particles of a packing that is there already; position, motion, density and material are read of
 * the def. */
int yk_nonsmooth_add_packing(yk_nonsmooth_builder *builder, const yk_packing *packing,
                             const yk_particles_def *def);

#endif
