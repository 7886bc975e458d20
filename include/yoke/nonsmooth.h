/* Bodies with frictional contact: rigid bodies, containers and particles, stepped at the level of
 * impulses.
 *
 *      o  o o        particles: spheres and other shapes, added one by one or as a settled packing
 *     |o o o |       shapes: the surfaces of bodies and of the ground; a cavity is solid around a box or a cylinder
 *     |_o_o__|       joints, forces, ports: as in every mechanism                              (yoke/mechanics.h)
 *        |
 *      port          a marker at which another subsystem carries the container
 *
 * The origin of a body is its centre of mass. Bodies that are `fixed`, or whose motion is prescribed,
 * act like bodies of infinite mass. Each step finds the contacts that can close within it, and solves
 * all contacts and joints together, once. The times of impacts within a step are not resolved.
 *
 *   yk_nonsmooth_def def = yk_nonsmooth_default();
 *   yk_nonsmooth_builder *box = yk_nonsmooth_begin(context, &def);
 *   yk_body_id container = yk_nonsmooth_add_body(box, &body);
 *   yk_nonsmooth_add_shape(box, &cavity);
 *   yk_nonsmooth_add_particles(box, &particles);
 *   yk_port_def port = yk_port_marker("container", container, yk_marker_default());
 *   yk_nonsmooth_add_port(box, &port);
 *   yk_subsystem *subsystem;
 *   yk_status status = yk_nonsmooth_create(box, &subsystem);
 *
 * yk_nonsmooth_create reports the errors of all calls before it (see yoke/mechanics.h). The operations
 * table of the subsystem destroys it. docs/scenario.md lists the channels. Results are the same to the
 * bit for any number of threads. */
#ifndef YOKE_NONSMOOTH_H
#define YOKE_NONSMOOTH_H

#include "yoke/contact.h"
#include "yoke/mechanics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Surfaces and shapes -------------------------------------------------------------------------- */

/* Properties of a surface. Those of a contact follow from both surfaces by yk_material_combine, or are
 * given for a pair of surfaces by yk_nonsmooth_add_material_pair. */
typedef struct yk_material {
    double friction;          /* coefficient of sliding (kinetic) friction */
    double restitution;       /* ratio of rebound speed to approach speed, 0 to 1 */
    double rolling_friction;  /* ratio of resisting torque to normal force (m) */
    double spinning_friction; /* the same about the normal (m) */
    /* Peiret et al. 2020 (40): the force of a contact point is K times its overlap plus D times the
     * rate of the overlap. Friction creeps with the same compliance. 0: rigid. */
    double stiffness; /* K (N/m) */
    double damping;   /* D (N s/m) */
    /* Coefficient of static friction mu_s, and the speed (m/s) of its decay to the coefficient of
     * kinetic friction mu_k: mu_k + (mu_s - mu_k) exp(-(v / speed)^2). A coefficient below `friction`
     * counts as `friction`; a speed of 0 as 1 mm/s. */
    double static_friction;
    double stribeck_velocity;
    /* Attractive force (N) of a contact point whose gap is at most the range (m; 0: a hundredth of the
     * envelope). The limit of friction is that of the normal force plus this force. */
    double cohesion;
    double cohesion_range;
    /* E / (1 - nu^2) of an elastic surface (Pa); 0: rigid. Contacts of spheres and capsules follow
     * Hertz's law with 1 / E* = 1 / E1 + 1 / E2, and have a damper that gives the restitution. */
    double plane_strain_modulus;
    int surface_id; /* positive number that yk_material_pair_def refers to; 0: none */
} yk_material;

/* Properties of the contact of two surfaces: the smaller values; stiffness and damping of the softer
 * surface, or of the only compliant one; for the moduli, the reciprocal of the sum of the
 * reciprocals. */
yk_material yk_material_combine(const yk_material *a, const yk_material *b);

/* Properties of the contacts between two surfaces, which replace those of yk_material_combine. */
typedef struct yk_material_pair_def {
    int surface_ids[2];   /* may be the same twice */
    yk_material material; /* surface_id is not read */
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
    yk_body_id bodies[2]; /* not YK_GROUND, whose shapes have groups */
} yk_exclusion_def;

typedef struct yk_nonsmooth_shape_def {
    yk_body_id body; /* or YK_GROUND */
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

/* Shape of a particle: a sphere, another solid, or a clump, several spheres in one rigid body. Only
 * the proportions count: each particle is scaled to the volume of a sphere of its radius.
 * Overlapping volume and mass of a clump's spheres count once.
 *
 *     o        ____                 .--.
 *   sphere   (____)   []   <>     (  ( )  )     clump
 *            capsule  box  hull     '--' '-' */
typedef struct yk_particle_shape {
    yk_solid_kind kind; /* a finite kind with a volume */
    yk_vec3 size;       /* as of that solid (m); of hulls and clumps not read */
    /* hull: its corners; with YK_SOLID_SPHERE: the middles of the spheres of a clump (m) */
    const yk_vec3 *points;
    int point_count;
    const double *radii; /* of the spheres of a clump (m) */
} yk_particle_shape;

/* Largest number of spheres of a clump. */
enum { YK_CLUMP_SPHERES_MAX = 256 };

/* How the radii of particles are distributed, by number. Normal and lognormal ones end at
 * `size_cut` standard deviations on either side. */
typedef enum yk_size_distribution {
    YK_SIZE_UNIFORM,  /* in radius (1 +- spread) */
    YK_SIZE_NORMAL,   /* mean `radius`, standard deviation spread * radius */
    YK_SIZE_LOGNORMAL /* median `radius`, standard deviation of the logarithm `spread` */
} yk_size_distribution;

/* One point of a sieve curve: the fraction of the mass that passes a sieve of this opening. Between
 * two sieves the mass is uniform in the diameter. */
typedef struct yk_sieve_point {
    double diameter; /* m */
    double passing;  /* 0 of the first, rising to 1 of the last */
} yk_sieve_point;

/* Progress of settling particles. */
typedef struct yk_settling {
    const yk_subsystem *bed; /* the particles and their container, with a scene */
    int count;
    int container;        /* body of the container in that scene; its height is that of the lid */
    yk_solid_kind cavity; /* final kind and size of the container */
    yk_vec3 size;
    yk_vec3 middle;    /* present position of the middle of the container (m) */
    double time;       /* since the release of the particles (s) */
    double time_limit; /* settling ends at this time even if particles still move (s) */
    double rms_speed;  /* root mean square speed of the particles (m/s) */
} yk_settling;

typedef void (*yk_settling_function)(void *user, const yk_settling *settling);

/* Particles in a cavity. They start on a lattice with clearances. Settled particles have fallen
 * under gravity before the model is created: they are shaken by single cycles of a sine, and the
 * lid is lowered to the highest particle after each cycle, until the height of the bed no longer
 * decreases (Zhang et al. 2020, section 3.2.1). Particles that are not spheres have random
 * orientations on the lattice unless they are aligned. */
typedef struct yk_packing_def {
    yk_solid_kind cavity; /* YK_SOLID_BOX_CAVITY or YK_SOLID_CYLINDER_CAVITY, axis z up */
    yk_vec3 size;         /* as of that solid (m) */
    int count;
    yk_particle_shape shape;
    bool aligned;   /* all particles have the axes of the cavity */
    double radius;  /* of a sphere with the particle's volume (m); 0: the size of the shape */
    double spread;  /* see yk_size_distribution; 0: equal */
    double density; /* kg/m3 */
    yk_size_distribution size_distribution;
    double size_cutoff;
    const yk_sieve_point *sieve_curve; /* replaces radius, spread and distribution; NULL: none */
    int sieve_point_count;
    yk_material material;
    double clearance;     /* of the lattice, in radii of the ball around the largest particle */
    double jitter;        /* random displacement, as a fraction of the clearance, in [0, 1] */
    uint64_t seed;        /* of the random numbers */
    double gravity;       /* m/s2, along -z */
    double settling_step; /* of settling (s) */
    /* particles are at rest below this root mean square speed (m/s); 0: gravity times step / 10 */
    double rest_speed;
    double max_settling_time; /* for each settling (s) */
    int max_shakes;           /* 0: the bed settles once and is not shaken */
    double shake_amplitude;   /* m */
    double shake_frequency;   /* Hz */
    yk_contact_options contact_options;
    yk_settling_function show_settling; /* called every 50 steps; NULL: never */
    void *show_settling_user;
} yk_packing_def;

/* Spheres of 1 mm. */
yk_packing_def yk_packing_default(void);

typedef struct yk_particles_def {
    yk_packing_def packing;
    bool settled;             /* false: the lattice itself */
    yk_vec3 position;         /* of the middle of their cavity, global (m) */
    yk_vec3 velocity;         /* at that middle (m/s) */
    yk_vec3 angular_velocity; /* of all as one rigid body about that middle (rad/s) */
} yk_particles_def;

/* A lattice of yk_packing_default at rest. */
yk_particles_def yk_particles_default(void);
/* Equal spheres in a box cavity with these half edges (m). */
yk_particles_def yk_particles_in_box(int count, double radius, yk_vec3 half_edges);
/* The cavity that a packing fills, as a shape of a body, with the packing's surface. */
yk_nonsmooth_shape_def yk_packing_container_shape(const yk_packing_def *packing, yk_body_id body);

/* Emitters and sinks --------------------------------------------------------------------------- */

/* Adds particles during the run. They appear one by one at random free places of a region. If the
 * region is full, they wait until there is room.
 *
 *     ____________
 *    |  o   o  o  |   region of the emitter: the cavity of its particles
 *    |____________|
 *     \   o  o   /
 *      \ o  o  o/      the energy of particles that enter and leave counts as external work
 *       \ o  o /
 *    -----------------
 *         o   o       sink: removes bodies whose centre of mass is inside; they can be emitted again
 *
 * All particles that can exist at a time are created with the model and are absent until they are due,
 * so that memory and state image have one size for the whole run. */
typedef struct yk_emitter_def {
    const char *name; /* of its channels */
    /* `packing.count`: largest number of particles that exist at a time. Cavity and position define
     * the region; each particle starts with the velocity and the angular velocity. `settled`,
     * clearance and jitter are not read. */
    yk_particles_def particles;
    double rate;       /* particles per second; 0: by mass */
    double mass_rate;  /* kg/s */
    double start_time; /* s; the first particle is due 1 / rate, or its mass / mass_rate, later */
    double end_time;   /* s */
    int max_emitted;   /* 0: no limit */
} yk_emitter_def;

/* Default particles from time 0 without end. The caller sets a name and one of the rates. */
yk_emitter_def yk_emitter_default(void);

/* Removes particles during the run: bodies without a name, joints, forces or ports. */
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

/* When bodies go to sleep. An island is a set of bodies that contacts, joints and forces connect. It
 * sleeps after all its bodies have been slower than the limits for `delay`, and costs almost nothing
 * until it is disturbed. Choose limits above the noise of the solver and below any slow motion that
 * matters: slower motion is lost and counts as dissipated energy. */
typedef struct yk_sleep_options {
    double speed_threshold;         /* m/s; 0: bodies never sleep */
    double angular_speed_threshold; /* rad/s; 0: the speed over the smallest radius that moves */
    double delay;                   /* s */
} yk_sleep_options;

/* Law of restitution for simultaneous contacts. Example: four equal balls touch in a row, and a
 * fifth one hits them with speed 1; restitution 1:
 *
 *   Newton      -0.6  0.4  0.4  0.4  0.4      every contact returns its own approach
 *   Poisson     -0.6  0.4  0.4  0.4  0.4      every contact returns its own impulse
 *   sequential   0 0 0 0 1 approaching contacts rebound one after another: shocks travel
 *
 * Poisson's and the sequential law never create energy; Newton's may, with friction or if
 * coefficients differ. */
typedef enum yk_impact_law {
    YK_IMPACT_NEWTON,
    YK_IMPACT_POISSON,
    YK_IMPACT_SEQUENTIAL
} yk_impact_law;

/* Periodic space: a body that leaves a period at one end enters at the other, and touches its
 * neighbours there.
 *
 *      low             high
 *   o)  |  o   o  o    o |  (o       images beyond the ends
 *
 * Bodies keep their positions and continue beyond the period; their nearest images touch. Two
 * solids together must be smaller than half of the period, and planes and cavities must be
 * invariant along it. */
typedef struct yk_periodic_box {
    yk_vec3 lower,
        upper; /* of one period (m); space is not periodic in directions in which they are equal */
} yk_periodic_box;

typedef struct yk_nonsmooth_def {
    yk_vec3 gravity; /* m/s2 */
    yk_periodic_box periodic;
    yk_contact_options contact_options;
    /* contacts exist below this gap (m); 0: 3 % of the radius of the smallest moving solid */
    double envelope;
    /* extra range of the list of near pairs, so that it is valid for several steps (m); 0:
     * automatic */
    double skin;
    /* largest speed at which overlaps are corrected (m/s); 0: speed after a free fall of one envelope,
     * for contacts of meshes with solids other than spheres at most gravity times step */
    double max_recovery_speed;
    /* restitution acts on approach faster than this (m/s); 0: gravity times step */
    double min_bounce_speed;
    yk_impact_law impact_law;
    /* largest number of contact points; 0: derived from the number of solids */
    int contact_capacity;
    int thread_count; /* 0: that of the context */
    yk_sleep_options sleeping;
    double length_unit; /* of all lengths (m), by which messages state them in m */
    /* Makes 50 sweeps in each step also if the residual is small after fewer of them. For couplings that repeat or
     * differentiate steps: a small change of an input could change the number of sweeps, and with it the result by more. */
    bool makes_all_sweeps;
} yk_nonsmooth_def;

/* Gravity [0, 0, -9.81]; 50 sweeps of Gauss-Seidel on cone friction; nothing sleeps. */
yk_nonsmooth_def yk_nonsmooth_default(void);

typedef struct yk_nonsmooth_builder yk_nonsmooth_builder;

/* A NULL def is the default. Returns NULL if out of memory; the functions below accept NULL, and
 * yk_nonsmooth_create reports the error. */
yk_nonsmooth_builder *yk_nonsmooth_begin(yk_context *context, const yk_nonsmooth_def *def);

/* Contacts cannot stop a body whose motion an interface prescribes. Runs report its penetration of
 * fixed shapes above this fraction of its radius; smaller values are within the accuracy of contact. */
#define YK_NONSMOOTH_PENETRATION_LIMIT 0.01

/* Each function returns the id of the added part, or a null id after an error. Parts to which nothing
 * refers have no id: the functions return the status. */
yk_body_id yk_nonsmooth_add_body(yk_nonsmooth_builder *builder, const yk_nonsmooth_body_def *def);
yk_status yk_nonsmooth_add_shape(yk_nonsmooth_builder *builder, const yk_nonsmooth_shape_def *def);
/* The shapes with these surfaces may be added before or after. */
yk_status yk_nonsmooth_add_material_pair(yk_nonsmooth_builder *builder,
                                         const yk_material_pair_def *def);
/* The bodies must be added before. */
yk_status yk_nonsmooth_add_exclusion(yk_nonsmooth_builder *builder, const yk_exclusion_def *def);
yk_joint_id yk_nonsmooth_add_joint(yk_nonsmooth_builder *builder, const yk_joint_def *def);
/* Loads are functions of time or signals. Feedback loads are not supported. */
yk_force_id yk_nonsmooth_add_force(yk_nonsmooth_builder *builder, const yk_force_def *def);
/* Signals come after all other ports. */
yk_port_id yk_nonsmooth_add_port(yk_nonsmooth_builder *builder, const yk_port_def *def);
/* A port that is a marker of a body. */
yk_port_id yk_nonsmooth_add_marker_port(yk_nonsmooth_builder *builder, const char *name,
                                        yk_body_id body, yk_marker marker);
/* Adds a homogeneous sphere with its shape and returns the body. Takes less memory than a body and a
 * shape. */
yk_body_id yk_nonsmooth_add_sphere(yk_nonsmooth_builder *builder, yk_vec3 position, double radius,
                                   double density, yk_material material);
/* Returns the first body; the others have the following indices. Settles the particles if the def
 * requests it, which may take long. */
yk_body_id yk_nonsmooth_add_particles(yk_nonsmooth_builder *builder, const yk_particles_def *def);
/* The same in a container body. The cavity becomes a shape at its centre, and the particles start at
 * rest relative to the body. Position and velocity of the def are not read. */
yk_body_id yk_nonsmooth_add_particles_in_body(yk_nonsmooth_builder *builder, yk_body_id body,
                                              const yk_particles_def *def);
/* Particles of emitters have body ids too, but nothing can be joined to them. */
yk_status yk_nonsmooth_add_emitter(yk_nonsmooth_builder *builder, const yk_emitter_def *def);
yk_status yk_nonsmooth_add_sink(yk_nonsmooth_builder *builder, const yk_sink_def *def);
/* Prescribe all six motions of a body by a function, or by the functions of a path. */
void yk_nonsmooth_prescribe_motion(yk_nonsmooth_builder *builder, yk_body_id body,
                                   yk_motion_function function, void *user);
void yk_nonsmooth_prescribe_path(yk_nonsmooth_builder *builder, yk_body_id body,
                                 const yk_prescribed_path *path);

/* Creates the subsystem and destroys the builder, also on failure. YK_ERROR_ARGUMENT: the message
 * names the invalid item. */
yk_status yk_nonsmooth_create(yk_nonsmooth_builder *builder, yk_subsystem **subsystem);
/* The same as an expression, for a system that adopts the subsystem. Returns NULL on failure, which
 * yk_system_create reports. */
yk_subsystem *yk_nonsmooth_create_or_null(yk_nonsmooth_builder *builder);
/* Destroys a builder without creating a subsystem. NULL is allowed. */
void yk_nonsmooth_discard(yk_nonsmooth_builder *builder);

#ifdef __cplusplus
}
#endif

#endif
