/* Bodies with frictional contact: rigid bodies, containers and particles, stepped at the level of
 * impulses.
 *
 *      o  o o        particles: spheres and others, added one by one or as a packing that has settled in its cavity
 *     |o o o |       shapes: what bodies and the ground touch with; a cavity is everything around a box or a cylinder
 *     |_o_o__|       joints, forces, ports: as in every mechanism                              (yoke/mechanics.h)
 *        |
 *      port          where another subsystem carries the container
 *
 * A body's frame is its centre of mass. Bodies that are `fixed`, or whose motion is prescribed,
 * act like bodies of infinite mass. Contacts are found when they are close, solved together with
 * all joints once per step, and impacts happen within a step: their times are not resolved.
 *
 *   yk_nonsmooth_def def = yk_nonsmooth_default();
 *   yk_nonsmooth_builder *box = yk_nonsmooth_begin(context, &def);
 *   int container = yk_nonsmooth_add_body(box, &body);
 *   yk_nonsmooth_add_shape(box, &cavity);
 *   yk_nonsmooth_add_particles(box, &particles);
 *   yk_port_def port = yk_port_marker("container", container, yk_marker_default());
 *   yk_nonsmooth_add_port(box, &port);
 *   yk_subsystem *subsystem;
 *   yk_status status = yk_nonsmooth_create(box, &subsystem);
 *
 * Mistakes are reported by yk_nonsmooth_create, as yoke/mechanics.h says; the subsystem is
 * destroyed by its operations table. Its channels are listed in docs/scenario.md. The same bits
 * come out for any number of threads. */
#ifndef YOKE_NONSMOOTH_H
#define YOKE_NONSMOOTH_H

#include "yoke/contact.h"
#include "yoke/mechanics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Surfaces and shapes -------------------------------------------------------------------------- */

/* Of a surface. What counts where two touch is said by yk_material_combine, or for a pair of
 * surfaces by yk_nonsmooth_add_material_pair. */
typedef struct yk_material {
    double friction;          /* coefficient of sliding (kinetic) friction */
    double restitution;       /* rebound over approach speed, 0 to 1 */
    double rolling_friction;  /* resisting torque over normal force (m) */
    double spinning_friction; /* the same about the normal (m) */
    /* Paper rim (40): a contact point gives way under K times overlap plus D times its rate;
     * friction creeps by as much of its force. 0: rigid. */
    double stiffness; /* K (N/m) */
    double damping;   /* D (N s/m) */
    /* Coefficient of what sticks, and the sliding speed (m/s) at which it has come down to that of
     * what slides: mu_k + (mu_s - mu_k) exp(-(v / speed)^2). Below `friction`: as that; no speed:
     * 1 mm/s. */
    double static_friction;
    double stribeck_velocity;
    /* A contact point pulls with this force (N) while its gap is not above the range (m; 0: a
     * hundredth of the envelope): it holds up to it, and friction is that of the force plus it. */
    double cohesion;
    double cohesion_range;
    /* E / (1 - nu^2) of an elastic surface (Pa); 0: rigid. Where a sphere or capsule touches, it
     * yields by Hertz's law, 1 / E* = 1 / E1 + 1 / E2, with a damper that gives the restitution. */
    double plane_strain_modulus;
    int surface_id; /* a positive number by which pairs refer to it; 0: none does */
} yk_material;

/* Of two surfaces that touch: the smaller values; the stiffness and damping of the softer one, or
 * of the one that yields; of two moduli the reciprocal of the sum of the reciprocals. */
yk_material yk_material_combine(const yk_material *a, const yk_material *b);

/* What counts between two surfaces, in place of what their materials make of each other. */
typedef struct yk_material_pair_def {
    int surface_ids[2];   /* may be the same twice */
    yk_material material; /* its own `surface` is not read */
} yk_material_pair_def;

/* Kinds of solids: the kinds of shapes that can touch, with the numbers of yk_shape_kind. The numbers
 * are stored in the keys of cached packings. Do not change a number. */
typedef enum yk_solid_kind {
    YK_SOLID_SPHERE = YK_SHAPE_SPHERE,         /* size.x radius */
    YK_SOLID_BOX = YK_SHAPE_BOX,               /* size half edges */
    YK_SOLID_CYLINDER = YK_SHAPE_CYLINDER,     /* size.x radius, size.z half height, axis z */
    YK_SOLID_CAPSULE = YK_SHAPE_CAPSULE,       /* size.x radius, size.z half length of the axis z */
    YK_SOLID_HULL = YK_SHAPE_HULL,             /* the smallest convex solid that holds its points */
    YK_SOLID_BOX_CAVITY = YK_SHAPE_BOX_CAVITY, /* solid around the half edges `size` */
    YK_SOLID_CYLINDER_CAVITY =
        YK_SHAPE_CYLINDER_CAVITY,            /* solid around radius size.x, |z| <= size.z */
    YK_SOLID_PLANE = YK_SHAPE_PLANE,         /* solid below z = 0 of its frame */
    YK_SOLID_ELLIPSOID = YK_SHAPE_ELLIPSOID, /* size half axes */
    YK_SOLID_MESH = 64 /* triangles, solid on neither side; drawn as one hull per triangle */
} yk_solid_kind;

/* Two bodies whose shapes do not touch each other, such as links that overlap at their joint. */
typedef struct yk_exclusion_def {
    int body[2]; /* not YK_GROUND, whose shapes have groups */
} yk_exclusion_def;

typedef struct yk_nonsmooth_shape_def {
    int body; /* or YK_GROUND */
    yk_solid_kind kind;
    yk_vec3 position; /* in the body's frame (m) */
    yk_quat orientation;
    yk_vec3 size;          /* see yk_solid_kind (m) */
    unsigned open_walls;   /* cavities: walls left out, mask of YK_WALL_LEFT and so on */
    const yk_vec3 *points; /* hull, mesh */
    int point_count;
    const int (*triangles)[3]; /* mesh: three numbers of points each, from 0 */
    int triangle_count;
    yk_material material;
    unsigned
        collision_group; /* bits; shapes touch where each one's mask has a bit of the other's group */
    unsigned collision_mask;
} yk_nonsmooth_shape_def;

/* A sphere of 1 m on the ground, without friction, that touches everything. */
yk_nonsmooth_shape_def yk_nonsmooth_shape_default(void);

/* Bodies --------------------------------------------------------------------------------------- */

typedef struct yk_nonsmooth_body_def {
    const char *name; /* NULL: none */
    yk_vec3 position; /* of the centre of mass (m) */
    yk_quat orientation;
    yk_vec3 velocity;         /* m/s */
    yk_vec3 angular_velocity; /* rad/s, global axes */
    double mass;              /* kg */
    yk_mat3 inertia;          /* about the centre of mass, body axes (kg m2) */
    bool fixed;               /* never moves; mass and inertia are not read */
} yk_nonsmooth_body_def;

/* 1 kg and 1 kg m2, at rest at the origin. */
yk_nonsmooth_body_def yk_nonsmooth_body_default(void);
/* The same with a name, a mass (kg) and an inertia tensor (kg m2), at a position (m). */
yk_nonsmooth_body_def yk_nonsmooth_body_named(const char *name, double mass, yk_mat3 inertia,
                                              yk_vec3 position);

/* The motion of a body as a function of time: position, orientation, velocity and angular
 * velocity are read. */
typedef void (*yk_motion_function)(void *user, double t, yk_motion *motion);

/* The same by its coordinates; velocities are found by differences of fourth order. */
typedef struct yk_prescribed_path {
    yk_time_function position[3]; /* displacement from the place at the start (m) */
    yk_time_function rotation[3]; /* rotation vector, from the orientation at the start (rad) */
} yk_prescribed_path;

/* Particles ------------------------------------------------------------------------------------ */

/* What a particle is: a sphere, another solid, or a clump, several spheres in one rigid body. Its
 * proportions count: each particle is made as large as its radius says, which is that of the sphere
 * of equal volume. Where spheres of a clump overlap, volume and mass count once.
 *
 *     o        ____                 .--.
 *   sphere   (____)   []   <>     (  ( )  )     clump
 *           capsule  box  hull     '--' '-'
 */
typedef struct yk_particle_shape {
    yk_solid_kind kind; /* a finite kind with a volume */
    yk_vec3 size;       /* as of that solid (m); of hulls and clumps not read */
    /* hull: its corners; with YK_SOLID_SPHERE: the middles of the spheres of a clump (m) */
    const yk_vec3 *points;
    int point_count;
    const double *radii; /* of the spheres of a clump (m) */
} yk_particle_shape;

/* Spheres of a clump, at most. */
enum { YK_CLUMP_SPHERES_MAX = 256 };

/* How the radii of particles are distributed, by number. Normal and lognormal ones end at
 * `size_cut` standard deviations on either side. */
typedef enum yk_size_distribution {
    YK_SIZE_UNIFORM,  /* in radius (1 +- spread) */
    YK_SIZE_NORMAL,   /* mean `radius`, standard deviation spread * radius */
    YK_SIZE_LOGNORMAL /* median `radius`, standard deviation of the logarithm `spread` */
} yk_size_distribution;

/* One point of a sieve curve: which fraction of the mass passes a sieve of this opening. Between
 * two sieves the mass is uniform in the diameter. */
typedef struct yk_sieve_point {
    double diameter; /* m */
    double passing;  /* 0 of the first, rising to 1 of the last */
} yk_sieve_point;

/* Particles on their way to rest, for whoever wants to see them. */
typedef struct yk_settling {
    const yk_subsystem *bed; /* they and their container, alone; it has a scene */
    int count;
    int container;        /* its body in that scene, which is as high as the lid now is */
    yk_solid_kind cavity; /* the container as it will be ... */
    yk_vec3 size;
    yk_vec3 middle;    /* ... and where its middle is now (m) */
    double time;       /* s, since the particles were let go */
    double time_limit; /* s, after which the model is made though they still move */
    double rms_speed;  /* m/s, root mean square of all */
} yk_settling;

typedef void (*yk_settling_function)(void *user, const yk_settling *settling);

/* Particles in a cavity: set on a lattice with clearances, and where they are to be at rest, fallen
 * under gravity before the model is made; shaken by single cycles of a sine, with the lid lowered
 * to the highest particle after each, until the bed no longer falls (paper tight 3.2.1). Particles
 * that are not spheres stand on the lattice in random orientations, unless they are aligned. */
typedef struct yk_packing_def {
    yk_solid_kind cavity; /* YK_SOLID_BOX_CAVITY or YK_SOLID_CYLINDER_CAVITY, axis z up */
    yk_vec3 size;         /* as of that solid (m) */
    int count;
    yk_particle_shape shape;
    bool aligned;   /* the axes of all particles are those of the cavity */
    double radius;  /* of a sphere with the particle's volume (m); 0: as large as the shape is */
    double spread;  /* see yk_size_distribution; 0: equal */
    double density; /* kg/m3 */
    yk_size_distribution size_distribution;
    double size_cutoff;
    const yk_sieve_point *sieve_curve; /* in place of radius, spread and law, where there are any */
    int sieve_point_count;
    yk_material material;
    double clearance;     /* of the lattice, in radii of the ball around the largest particle */
    double jitter;        /* share of the clearance by which they are moved at random, in [0, 1] */
    uint64_t seed;        /* of the random numbers */
    double gravity;       /* m/s2, along -z */
    double settling_step; /* of settling (s) */
    /* root mean square of the speeds that counts as rest (m/s); 0: gravity times step / 10 */
    double rest_speed;
    double max_settling_time; /* for each settling (s) */
    int max_shakes;           /* at most; 0: the bed settles once and stays */
    double shake_amplitude;   /* m */
    double shake_frequency;   /* Hz */
    yk_contact_options contact_options;
    yk_settling_function show_settling; /* every 50 steps; NULL: nobody sees them */
    void *show_settling_user;
} yk_packing_def;

/* Spheres of 1 mm. */
yk_packing_def yk_packing_default(void);

typedef struct yk_particles_def {
    yk_packing_def packing;
    bool settled;             /* false: the lattice as it is */
    yk_vec3 position;         /* of the middle of their cavity, global (m) */
    yk_vec3 velocity;         /* at that middle (m/s) */
    yk_vec3 angular_velocity; /* of all as one rigid body about that middle (rad/s) */
} yk_particles_def;

/* A lattice of yk_packing_default at rest. */
yk_particles_def yk_particles_default(void);
/* Equal spheres in a box cavity with these half edges (m). */
yk_particles_def yk_particles_in_box(int count, double radius, yk_vec3 half_edges);
/* The cavity that a packing fills, as a shape of a body, with the packing's surface. */
yk_nonsmooth_shape_def yk_packing_container_shape(const yk_packing_def *packing, int body);

/* Emitters and sinks --------------------------------------------------------------------------- */

/* Brings particles into the run. They appear one by one at random places of a region in which
 * nothing else is; where all is taken, they wait, and come as soon as there is room.
 *
 *     ____________
 *    |  o   o  o  |   region of the emitter: the cavity of its particles
 *    |____________|
 *     \   o  o   /
 *      \ o  o  o/      what enters and leaves counts as energy fed in and taken out
 *       \ o  o /
 *    -----------------
 *         o   o       sink: whatever has its centre of mass in there is gone, and can be emitted again
 *
 * Particles are made when the model is, as many as there may be at a time, and wait outside of it
 * until they are due: memory and state image have one size for the whole run. */
typedef struct yk_emitter_def {
    const char *name; /* of its channels */
    /* `packing.count`: how many of its particles there may be at a time. The cavity with its
     * position is where they appear, with this velocity and angular velocity each. Whether they
     * are settled, and clearance and jitter of the lattice, do not count. */
    yk_particles_def particles;
    double rate;       /* particles per second; 0: by mass */
    double mass_rate;  /* kg/s */
    double start_time; /* s; the first one is due a while later, 1 / rate or its mass / mass_rate */
    double end_time;   /* s */
    int max_emitted;   /* so many are emitted at most; 0: no limit */
} yk_emitter_def;

/* A lattice's default particles, from 0 on without end; a name, and one of the rates are missing. */
yk_emitter_def yk_emitter_default(void);

/* Takes particles out of the run: bodies without a name that nothing is joined to. */
typedef struct yk_sink_def {
    const char *name;
    yk_solid_kind kind; /* box, cylinder, or plane: everything below z = 0 of its frame */
    yk_vec3 position;   /* m */
    yk_quat orientation;
    yk_vec3 size; /* see yk_solid_kind (m); not of a plane */
} yk_sink_def;

/* Everything below z = 0. */
yk_sink_def yk_sink_default(void);

/* Building ------------------------------------------------------------------------------------- */

/* When bodies go to sleep: all bodies of an island, which contacts, joints and forces connect,
 * have been slower than the limits for a while. They cost next to nothing until something
 * disturbs them. Choose the limits above the noise of the solver and below any creeping that
 * matters: slower motion is lost, and counted as dissipated. */
typedef struct yk_sleep_options {
    double speed_threshold;         /* m/s; 0: bodies never sleep */
    double angular_speed_threshold; /* rad/s; 0: the speed over the smallest radius that moves */
    double delay;                   /* s */
} yk_sleep_options;

/* What restitution does where several contacts meet an impact at once. Five equal balls in a row
 * that touch, restitution 1, the first one hitting with speed 1:
 *
 *   Newton      -0.6  0.4  0.4  0.4  0.4      every contact gives back its own approach
 *   Poisson     -0.6  0.4  0.4  0.4  0.4      every contact gives back its own impulse
 *   sequential   0    0    0    0    1        contacts that approach rebound in turn: shocks run on
 *
 * Poisson's and the sequential law never create energy; Newton's may, with friction or where
 * coefficients differ. */
typedef enum yk_impact_law {
    YK_IMPACT_NEWTON,
    YK_IMPACT_POISSON,
    YK_IMPACT_SEQUENTIAL
} yk_impact_law;

/* Space may repeat itself: what leaves a period at one end comes in at the other, and touches there
 * what is near.
 *
 *      low             high
 *   o)  |  o   o  o    o |  (o       images beyond the ends
 *
 * Bodies keep their positions and go on beyond the period; their images nearest to each other touch.
 * Two solids together must be smaller than half of it, and planes and cavities the same all along. */
typedef struct yk_periodic_box {
    yk_vec3 lower,
        upper; /* of one period (m); where they are equal, space does not repeat itself */
} yk_periodic_box;

typedef struct yk_nonsmooth_def {
    yk_vec3 gravity; /* m/s2 */
    yk_periodic_box periodic;
    yk_contact_options contact_options;
    /* contacts are seen from this gap on (m); 0: 3 % of the smallest radius that moves */
    double envelope;
    /* extra reach of the list of near pairs, so that it serves several steps (m); 0: chosen */
    double skin;
    /* overlaps are undone no faster than this (m/s); 0: as fast as a fall through one envelope
     * ends, with meshes gravity times step (spheres on them as all others) */
    double max_recovery_speed;
    /* restitution acts on approach faster than this (m/s); 0: gravity times step */
    double min_bounce_speed;
    yk_impact_law impact_law;
    /* contact points that are kept at most; 0: chosen from the number of solids */
    int contact_capacity;
    int thread_count; /* 0: as the context says */
    yk_sleep_options sleeping;
} yk_nonsmooth_def;

/* Gravity [0, 0, -9.81]; 50 sweeps of Gauss-Seidel on cone friction; nothing sleeps. */
yk_nonsmooth_def yk_nonsmooth_default(void);

typedef struct yk_nonsmooth_builder yk_nonsmooth_builder;

/* NULL: the default def. Returns NULL when out of memory, which the functions below take and
 * yk_nonsmooth_create reports. */
yk_nonsmooth_builder *yk_nonsmooth_begin(yk_context *context, const yk_nonsmooth_def *def);

/* A body whose motion an interface prescribes is stopped by nothing: how deep it went into what
 * never moves is watched, from this part of its radius on. Less is the accuracy of a model that
 * touches. */
#define YK_NONSMOOTH_PENETRATION_LIMIT 0.01

/* Each returns the id of what was added, or YK_NO_ID. */
int yk_nonsmooth_add_body(yk_nonsmooth_builder *builder, const yk_nonsmooth_body_def *def);
int yk_nonsmooth_add_shape(yk_nonsmooth_builder *builder, const yk_nonsmooth_shape_def *def);
/* Before or after the shapes with these surfaces. */
int yk_nonsmooth_add_material_pair(yk_nonsmooth_builder *builder, const yk_material_pair_def *def);
/* After its bodies. */
int yk_nonsmooth_add_exclusion(yk_nonsmooth_builder *builder, const yk_exclusion_def *def);
int yk_nonsmooth_add_joint(yk_nonsmooth_builder *builder, const yk_joint_def *def);
/* Loads are functions of time or signals: a feedback is refused. */
int yk_nonsmooth_add_force(yk_nonsmooth_builder *builder, const yk_force_def *def);
/* Signals come after all other ports. */
int yk_nonsmooth_add_port(yk_nonsmooth_builder *builder, const yk_port_def *def);
/* A port that is a marker of a body. */
int yk_nonsmooth_add_marker_port(yk_nonsmooth_builder *builder, const char *name, int body,
                                 yk_marker marker);
/* A solid sphere with its shape, in one call; the body. A million of these stay small. */
int yk_nonsmooth_add_sphere(yk_nonsmooth_builder *builder, yk_vec3 position, double radius,
                            double density, yk_material material);
/* The first body; those that follow are numbered on. Settling takes its time here. */
int yk_nonsmooth_add_particles(yk_nonsmooth_builder *builder, const yk_particles_def *def);
/* The same in a body: their cavity becomes a shape at its centre, and they start there, at rest in
 * its axes, whatever their own position and velocity say. */
int yk_nonsmooth_add_particles_in_body(yk_nonsmooth_builder *builder, int body,
                                       const yk_particles_def *def);
/* The emitter; its particles are bodies too, numbered on, which nothing can be joined to. */
int yk_nonsmooth_add_emitter(yk_nonsmooth_builder *builder, const yk_emitter_def *def);
int yk_nonsmooth_add_sink(yk_nonsmooth_builder *builder, const yk_sink_def *def);
/* All six motions of a body follow a function, or the functions of a path. */
void yk_nonsmooth_prescribe_motion(yk_nonsmooth_builder *builder, int body,
                                   yk_motion_function function, void *user);
void yk_nonsmooth_prescribe_path(yk_nonsmooth_builder *builder, int body,
                                 const yk_prescribed_path *path);

/* Makes the subsystem of all that was added, and ends the builder whatever comes out.
 * YK_ERROR_ARGUMENT with the name of what is wrong. */
yk_status yk_nonsmooth_create(yk_nonsmooth_builder *builder, yk_subsystem **subsystem);
/* The same in one word, for a system that adopts it: NULL after a mistake, which yk_system_create
 * then reports. */
yk_subsystem *yk_nonsmooth_create_or_null(yk_nonsmooth_builder *builder);
/* Ends a builder from which nothing is to be made; NULL is allowed. */
void yk_nonsmooth_discard(yk_nonsmooth_builder *builder);

#ifdef __cplusplus
}
#endif

#endif
