/* Particles at rest in a container: the initial state of a particle damper, a hopper or a heap. A
 * particle of any shape (particle.c), random numbers (Steele, Lea, Flood 2014; Shoemake 1992),
 * packings (packing.c), and their use by the builder (builder.c).
 *
 * As in Zhang et al. 2020, section 3.2.1, particles start on a lattice with clearances and fall;
 * the container is shaken by one cycle of a sine and its lid is lowered to the highest particle,
 * repeatedly, until the height of the bed no longer decreases. This run uses a world of its own.
 * Its result, positions in the frame of the cavity, can be written to a file and added to any
 * number of models. */
#ifndef YK_NONSMOOTH_PACKING_H
#define YK_NONSMOOTH_PACKING_H

#include "nonsmooth/nonsmooth.h"

/* One particle --------------------------------------------------------------------------------- */

/* One particle of a packing, of any shape: created once at unit size, and added any number of
 * times, scaled by a radius.
 *
 * Unit size means the volume of a sphere of radius 1, so that mass and inertia of a particle of
 * radius r and density rho are
 *
 *   m = 4/3 pi rho r^3        J = rho r^5 J1
 *
 * with J1 about the center of mass, which is the origin of the parts. A clump is a rigid body of
 * spheres; overlapping volume counts once. */
typedef struct yk_particle {
    int part_count;  /* 0: a sphere */
    yk_solid *parts; /* in the particle's axes */
    yk_vec3 *points; /* points of a hull, followed by memory for the same number of scaled points */
    yk_mat3 inertia; /* J1 */
    double reach;    /* radius of the ball around its center of mass that contains it */
    double radius;   /* radius of the unscaled shape (m) */
} yk_particle;

yk_status yk_particle_make(yk_context *context, const yk_particle_shape *shape, yk_particle *made);
void yk_particle_destroy(yk_context *context, yk_particle *particle);

/* Extent upwards from its center of mass. */
double yk_particle_top(const yk_particle *particle, yk_quat orientation, double radius);

/* Adds the particle as a body without a name; returns the body, or YK_NO_ID. */
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

/* Uniform distribution on all rotations (Shoemake 1992). */
static inline yk_quat yk_random_orientation(uint64_t *seed)
{
    double u = yk_random(seed);
    double a = 2 * YK_PI * yk_random(seed);
    double b = 2 * YK_PI * yk_random(seed);
    return (yk_quat){sqrt(u) * cos(b), sqrt(1 - u) * sin(a), sqrt(1 - u) * cos(a),
                     sqrt(u) * sin(b)};
}

/* Packings ------------------------------------------------------------------------------------- */

/* Largest number of particles in a packing. */
enum { YK_PACKING_MAX = 100000000 };

typedef struct yk_packing {
    yk_particle particle; /* shape of all particles, up to their size */
    int count;
    yk_vec3 *positions; /* relative to the center of the cavity */
    double *radii;
    yk_quat *orientations;                    /* NULL: the axes are those of the global frame */
    yk_vec3 *velocities, *angular_velocities; /* NULL: at rest; global axes */
    double height;  /* of the highest point above the floor of the cavity */
    double speed;   /* root mean square in the last step */
    double seconds; /* simulated */
    int shakes;
    bool at_rest; /* false: the time limit came first */
} yk_packing;

/* YK_NOT_CONVERGED: the bed was still moving at the time limit; the packing is usable. */
yk_status yk_packing_make(yk_context *context, const yk_packing_def *def, yk_packing *packing);
/* The lattice alone, without settling. */
yk_status yk_packing_lattice(yk_context *context, const yk_packing_def *def, yk_packing *packing);
void yk_packing_destroy(yk_context *context, yk_packing *packing);

/* Adds the particles to a model whose cavity has its center at `origin`; returns the first body, or
 * YK_NO_ID. */
int yk_packing_add(yk_nonsmooth *self, const yk_packing *packing, yk_vec3 origin, double density,
                   yk_material material);

/* Text file: x, y, z, radius per particle, in metres. If there are more columns, or in another
 * order, the first line names them: x, y, z, radius; vx, vy, vz (m/s); qw, qx, qy, qz, the
 * quaternion from the particle's axes to the global ones; wx, wy, wz (rad/s, global axes). Shape
 * NULL: spheres. */
yk_status yk_packing_read(yk_context *context, const char *path, const yk_particle_shape *shape,
                          yk_packing *packing);

/* What the builder (builder.c) offers beside its public functions ------------------------------ */

/* Called with the world of a packing in progress, for display. */
yk_nonsmooth *yk_nonsmooth_world_of(yk_nonsmooth_builder *builder);
/* Adds particles of an existing packing; position, motion, density and material are those of the
 * def. */
int yk_nonsmooth_add_packing(yk_nonsmooth_builder *builder, const yk_packing *packing,
                             const yk_particles_def *def);

#endif
