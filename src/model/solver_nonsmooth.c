/* solver: nonsmooth, the schema of its section. solver_nonsmooth_build.c builds the model. */
#include "model/registry.h"
#include "nonsmooth/options.h"
#include "nonsmooth/solids/solid.h"
#include "yoke/nonsmooth.h"

/* Surfaces ------------------------------------------------------------------------------------- */

static const yk_option material_fields[] = {
    {"friction", YK_OPTION_NUMBER, .default_text = "0", .range = YK_NOT_NEGATIVE,
     .description = "coefficient of sliding (kinetic) friction"},
    {"restitution", YK_OPTION_NUMBER, .default_text = "0", .range = YK_BETWEEN(0, 1),
     .description = "ratio of rebound speed to approach speed"},
    {"rolling_friction", YK_OPTION_NUMBER, "m", "0", .range = YK_NOT_NEGATIVE,
     .description = "ratio of rolling torque to normal force"},
    {"spinning_friction", YK_OPTION_NUMBER, "m", "0", .range = YK_NOT_NEGATIVE,
     .description = "ratio of torque about the normal to normal force"},
    {"stiffness", YK_OPTION_NUMBER, "N/m", "0", .range = YK_NOT_NEGATIVE,
     .description = "ratio of force to overlap of a contact point; 0: rigid"},
    {"damping", YK_OPTION_NUMBER, "N s/m", "0", .range = YK_NOT_NEGATIVE,
     .description = "of a surface with stiffness: ratio of force to rate of overlap; friction "
                    "creeps at the same ratio"},
    {"static_friction", YK_OPTION_NUMBER, .default_text = "0", .range = YK_NOT_NEGATIVE,
     .description = "static friction coefficient, if larger than `friction`"},
    {"stribeck_velocity", YK_OPTION_NUMBER, "m/s", "auto", .accepts_auto = true,
     .range = YK_NOT_NEGATIVE,
     .description = "sliding speed v0 of the transition between static and sliding friction: their "
                    "difference decreases by exp(-(v/v0)²); 0: 1 mm/s"},
    {"cohesion", YK_OPTION_NUMBER, "N", "0", .range = YK_NOT_NEGATIVE,
     .description = "force that holds a contact point together; friction is that of the normal "
                    "force plus this force"},
    {"cohesion_range", YK_OPTION_NUMBER, "m", "auto", .accepts_auto = true,
     .range = YK_NOT_NEGATIVE,
     .description = "gap up to which cohesion acts; 0: a hundredth of the envelope"},
    {"plane_strain_modulus", YK_OPTION_NUMBER, "Pa", "0", .range = YK_NOT_NEGATIVE,
     .description = "E/(1 - nu²) of an elastic surface, which yields by Hertz's law at contacts of "
                    "a sphere or a capsule; 0: rigid"},
    {0},
};
static const yk_option_section material_section = {
    "material",
    "A surface. At a contact of two surfaces the smaller values apply, unless `material_pairs` "
    "overrides them; if only one yields, its stiffness and damping apply; moduli combine by 1/E* = "
    "1/E1 + 1/E2.",
    material_fields};
static const yk_option material_item = {"materials", YK_OPTION_SECTION,
                                        .section = &material_section, .description = ""};

static const yk_option pair_end = {"materials", YK_OPTION_TEXT,
                                   .description = "one of `materials`"};
static const yk_option pair_fields[] = {
    {"between", YK_OPTION_LIST, .required = true, .min_count = 2, .max_count = 2, .item = &pair_end,
     .description = "two of `materials`, or one twice"},
    {"friction", YK_OPTION_NUMBER, .range = YK_NOT_NEGATIVE,
     .description = "coefficient of sliding friction"},
    {"restitution", YK_OPTION_NUMBER, .range = YK_BETWEEN(0, 1),
     .description = "ratio of rebound speed to approach speed"},
    {"rolling_friction", YK_OPTION_NUMBER, "m", .range = YK_NOT_NEGATIVE,
     .description = "ratio of rolling torque to normal force"},
    {"spinning_friction", YK_OPTION_NUMBER, "m", .range = YK_NOT_NEGATIVE,
     .description = "ratio of torque about the normal to normal force"},
    {"stiffness", YK_OPTION_NUMBER, "N/m", .range = YK_NOT_NEGATIVE,
     .description = "ratio of force to overlap of a contact point; 0: rigid"},
    {"damping", YK_OPTION_NUMBER, "N s/m", .range = YK_NOT_NEGATIVE,
     .description = "of a surface with stiffness: ratio of force to rate of overlap"},
    {"static_friction", YK_OPTION_NUMBER, .range = YK_NOT_NEGATIVE,
     .description = "static friction coefficient, if larger than `friction`"},
    {"stribeck_velocity", YK_OPTION_NUMBER, "m/s", .range = YK_NOT_NEGATIVE,
     .description = "sliding speed v0 of the transition between static and sliding friction: their "
                    "difference decreases by exp(-(v/v0)²); 0: 1 mm/s"},
    {"cohesion", YK_OPTION_NUMBER, "N", .range = YK_NOT_NEGATIVE,
     .description = "force that holds a contact point together; friction is that of the normal "
                    "force plus this force"},
    {"cohesion_range", YK_OPTION_NUMBER, "m", .range = YK_NOT_NEGATIVE,
     .description = "gap up to which cohesion acts; 0: a hundredth of the envelope"},
    {"plane_strain_modulus", YK_OPTION_NUMBER, "Pa", .range = YK_NOT_NEGATIVE,
     .description =
         "combined modulus of both surfaces for Hertz's law, 1/E* = 1/E1 + 1/E2; 0: rigid"},
    {0},
};
static const yk_option_section pair_section = {"material pair",
                                               "Properties of the contact of these two surfaces; "
                                               "missing ones are combined from both surfaces.",
                                               pair_fields};
static const yk_option pair_item = {"material_pairs", YK_OPTION_SECTION, .section = &pair_section,
                                    .description = ""};

static const yk_option exclusion_end = {"bodies", YK_OPTION_TEXT, .description = "one of `bodies`"};
static const yk_option exclusion_fields[] = {
    {"between", YK_OPTION_LIST, .required = true, .min_count = 2, .max_count = 2,
     .item = &exclusion_end, .description = "two of `bodies`"},
    {0},
};
static const yk_option_section exclusion_section = {
    "exclusion", "Two bodies without contact, such as links that overlap at their joint.",
    exclusion_fields};
static const yk_option exclusion_item = {"exclusions", YK_OPTION_SECTION,
                                         .section = &exclusion_section, .description = ""};

/* Shapes --------------------------------------------------------------------------------------- */

static const yk_option passes_item = {"groups", YK_OPTION_TEXT, .description = "a group"};
static const yk_option shape_fields[] = {
    {"material", YK_OPTION_TEXT, .description = "one of `materials`; default: no friction"},
    {"position", YK_ORIGIN, .description = "center of the shape, in the body's axes"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "rotation from its axes to the body's axes"},
    {"density", YK_OPTION_NUMBER, "kg/m³", .range = YK_POSITIVE,
     .description =
         "defines the mass of the body if `mass` is missing, and its inertia if `inertia` is"},
    {"collides", YK_OPTION_BOOLEAN, .default_text = "true",
     .description = "false: the shape is drawn, but has no contact"},
    {"collision_group", YK_OPTION_TEXT, .default_text = "default",
     .description = "a name that several shapes may share; particles are in the group `default`"},
    {"no_collision_with", YK_OPTION_LIST, .max_count = 31, .item = &passes_item,
     .description = "groups without contact to this shape; it is sufficient if one of the two "
                    "shapes names the other's group"},
    {0},
};
static const yk_option_section shape_section = {"shape", "", shape_fields};

#define VARIANT(name, kind) &yk_##name##_ops.section,
const yk_option_section *const yk_shape_variants[] = {YK_SOLID_LIST(VARIANT) NULL};
static const yk_option shape_item = {"shapes",
                                     YK_OPTION_VARIANT,
                                     .section = &shape_section,
                                     .variants = yk_shape_variants,
                                     .selector = "type",
                                     .description = "What can touch"};

/* Bodies --------------------------------------------------------------------------------------- */

static const yk_option motion_value = {"value", YK_OPTION_FUNCTION,
                                       .description = "function of time"};
static const yk_option motion_fields[] = {
    {"displacement", YK_OPTION_FUNCTIONS, "m", "[0, 0, 0]", YK_VECTOR, .item = &motion_value,
     .description = "displacement of the center of mass from its initial position"},
    {"rotation", YK_OPTION_FUNCTIONS, "rad", "[0, 0, 0]", YK_VECTOR, .item = &motion_value,
     .description = "rotation vector relative to the initial orientation"},
    {0},
};
static const yk_option_section motion_section = {
    "prescribed_motion", "All six motions as functions of time.", motion_fields};

static const yk_option body_fields[] = {
    {"mass", YK_OPTION_NUMBER, "kg", .range = YK_POSITIVE,
     .description = "mass; default: that of the shapes by their density"},
    {"inertia", YK_OPTION_INERTIA, "kg m²",
     .description =
         "about the center of mass: diagonal, or three rows; default: that of the shapes, scaled "
         "to `mass`, with their densities or equal ones if none is given"},
    {"position", YK_ORIGIN, .description = "initial velocity of the center of mass"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "rotation from its axes to the global axes"},
    {"velocity", YK_OPTION_NUMBERS, "m/s", "[0, 0, 0]", YK_VECTOR,
     .description = "initial velocity of the center of mass"},
    {"angular_velocity", YK_OPTION_NUMBERS, "rad/s", "[0, 0, 0]", YK_VECTOR,
     .description = "initial value, global axes"},
    {"fixed", YK_OPTION_BOOLEAN, .default_text = "false", .description = "never moves"},
    {"prescribed_motion", YK_OPTION_SECTION, .section = &motion_section,
     .description = "prescribed motion; mass is then optional"},
    {"shapes", YK_OPTION_LIST, .item = &shape_item, .description = "contact shapes"},
    {0},
};
static const yk_option_section body_section = {"body", "A rigid body.", body_fields};
static const yk_option body_item = {"body", YK_OPTION_SECTION, .section = &body_section,
                                    .description = ""};

/* Particles ------------------------------------------------------------------------------------ */

static const yk_option clump_sphere_fields[] = {
    {"position", YK_ORIGIN, .description = "of its middle"},
    {"radius", YK_OPTION_NUMBER, "m", .required = true, .range = YK_POSITIVE,
     .description = "its radius"},
    {0},
};
static const yk_option_section clump_sphere = {"sphere of a clump", "", clump_sphere_fields};
static const yk_option clump_item = {"spheres", YK_OPTION_SECTION, .section = &clump_sphere,
                                     .description = ""};
static const yk_option clump_fields[] = {
    {"spheres", YK_OPTION_LIST, .required = true, .min_count = 1, .max_count = 256,
     .item = &clump_item,
     .description = "its spheres, in its own axes; overlapping volume counts once"},
    {0},
};
static const yk_option round_fields[] = {{0}};
static const yk_option_section round_particle = {"sphere", "", round_fields};
static const yk_option_section clump = {"clump", "Several spheres in one rigid body.",
                                        clump_fields};

const yk_option_section *const yk_particle_variants[] = {
    &round_particle, YK_CONVEX_SOLID_LIST(VARIANT) & clump, NULL};

static const yk_option particle_fields[] = {
    {"density", YK_OPTION_NUMBER, "kg/m³", .required = true, .range = YK_POSITIVE,
     .description = "of the particles"},
    {"shape", YK_OPTION_VARIANT, .default_text = "sphere", .variants = yk_particle_variants,
     .selector = "type",
     .description =
         "Shape of a particle. If its radius is given by `radius`, sieves or a file, only the "
         "proportions count: the particle gets the volume of a sphere of that radius"},
    {"material", YK_OPTION_TEXT, .description = "one of `materials`"},
    {"position", YK_ORIGIN, .description = "center of their cavity, global"},
    {"velocity", YK_OPTION_NUMBERS, "m/s", "[0, 0, 0]", YK_VECTOR,
     .description = "initial velocity at that center"},
    {"angular_velocity", YK_OPTION_NUMBERS, "rad/s", "[0, 0, 0]", YK_VECTOR,
     .description =
         "initial angular velocity of all particles as one rigid body about that center"},
    {0},
};
static const yk_option_section particle_section = {"particles", "", particle_fields};
static const yk_option file_fields[] = {
    {"file", YK_OPTION_PATH, .required = true,
     .description = "x, y, z, radius per line (m), relative to the center of the cavity; with more "
                    "columns their names come first: `x,y,z,radius,vx,vy,vz` (m/s), `qw,qx,qy,qz` "
                    "the orientation, `wx,wy,wz` (rad/s)"},
    {0}};

static const yk_option_choice cavity_words[] = {{"box", NULL}, {"cylinder", NULL}, {NULL, NULL}};
/* In the order of yk_size_distribution. */
static const yk_option_choice size_words[] = {
    {"uniform", "in radius (1 ± spread)"},
    {"normal", "mean radius, standard deviation spread times radius"},
    {"lognormal", "median radius, standard deviation of the logarithm spread"},
    {NULL, NULL}};
static const yk_option sieve_item = {
    "sieve_curve", YK_OPTION_NUMBERS, .min_count = 2, .max_count = 2,
    .description = "diameter (m) and fraction of the mass that passes"};
static const yk_option size_fields[] = {
    {"radius", YK_OPTION_NUMBER, "m", .range = YK_POSITIVE,
     .description = "of a sphere with the particle's volume; default: the size of `shape`"},
    {"size_distribution", YK_OPTION_CHOICE, .default_text = "uniform", .choices = size_words,
     .description = "of radii, by number"},
    {"size_spread", YK_OPTION_NUMBER, .default_text = "0", .range = YK_BETWEEN(0, 0.99),
     .description = "width of the distribution; 0: all radii are equal"},
    {"size_cutoff", YK_OPTION_NUMBER, .default_text = "3",
     .only_with = {"size_distribution", {"normal", "lognormal"}}, .range = YK_BETWEEN(0.1, 8),
     .description = "number of standard deviations at which normal and lognormal distributions are "
                    "cut off on either side"},
    {"sieve_curve", YK_OPTION_LIST, .min_count = 2, .item = &sieve_item,
     .description = "a sieve curve instead of radius, distribution and spread: pairs of diameter "
                    "(m) and fraction of the mass that passes, from 0 to 1; between sieves the "
                    "mass is uniform in the diameter"},
    {"aligned", YK_OPTION_BOOLEAN, .default_text = "false",
     .description = "axes of all particles along those of the cavity; otherwise random"},
    {0},
};
static const yk_option_section size_keys = {"sizes", NULL, size_fields};

static const yk_option lattice_fields[] = {
    {"count", YK_OPTION_INTEGER, .required = true, .range = YK_AT_LEAST(0),
     .description = "number of particles"},
    YK_INCLUDE(size_keys),
    {"container", YK_OPTION_CHOICE, .default_text = "cylinder", .choices = cavity_words,
     .description = "form of the cavity"},
    {"container_size", YK_OPTION_NUMBERS, "m", .required = true, YK_VECTOR,
     .description = "its edges, or diameter twice and height"},
    {"clearance", YK_OPTION_NUMBER, .default_text = "0.1", .range = YK_POSITIVE,
     .description = "clearance of the lattice, in radii of the ball around the largest particle"},
    {"position_jitter", YK_OPTION_NUMBER, .default_text = "0.5", .range = YK_BETWEEN(0, 1),
     .description = "fraction of the clearance by which particles are moved at random"},
    {"seed", YK_OPTION_INTEGER, .default_text = "1", .is_seed = true,
     .description = "of the random numbers"},
    {0},
};
static const yk_option_section from_lattice = {"lattice", "On a lattice, with clearances.",
                                               lattice_fields};
static const yk_option settling_fields[] = {
    {"step", YK_OPTION_NUMBER, "s", "1e-4", .range = YK_POSITIVE, .description = "Step size."},
    {"max_time", YK_OPTION_NUMBER, "s", "2", .range = YK_POSITIVE,
     .description = "Maximum simulated time, for the first fall and after each shake."},
    {"max_shakes", YK_OPTION_INTEGER, .default_text = "0", .range = YK_AT_LEAST(0),
     .description = "Maximum number of times that the container is shaken and its lid lowered."},
    {"shake_amplitude", YK_OPTION_NUMBER, "m", "5e-4", .range = YK_NOT_NEGATIVE,
     .description = "Amplitude of a shake, which is one cycle."},
    {"shake_frequency", YK_OPTION_NUMBER, "Hz", "20", .range = YK_POSITIVE,
     .description = "Frequency of a shake."},
    {0}};
static const yk_option_section settling_section = {
    "settling", "Simulation in which the particles come to rest.", settling_fields};
static const yk_option settled_fields[] = {YK_INCLUDE(from_lattice),
                                           {"settling", YK_OPTION_SECTION, .default_text = "{}",
                                            .section = &settling_section,
                                            .description = "How the particles come to rest."},
                                           {0}};
static const yk_option_section from_file = {"file", "From a file.", file_fields};
static const yk_option_section from_settled = {
    "settled", "From the lattice, settled under gravity; simulated while the scenario is loaded.",
    settled_fields};
static const yk_option_section *const particle_variants[] = {&from_file, &from_lattice,
                                                             &from_settled, NULL};
static const yk_option particle_item = {"particles",
                                        YK_OPTION_VARIANT,
                                        .section = &particle_section,
                                        .variants = particle_variants,
                                        .selector = "type",
                                        .description = "Many particles"};

/* Emitters and sinks --------------------------------------------------------------------------- */

static const yk_option emitter_fields[] = {
    {"rate", YK_OPTION_NUMBER, "1/s", .range = YK_POSITIVE,
     .description = "particles per second; or `mass_rate`"},
    {"mass_rate", YK_OPTION_NUMBER, "kg/s", .range = YK_POSITIVE, .description = "mass per second"},
    {"max_present", YK_OPTION_INTEGER, .required = true, .range = YK_AT_LEAST(1),
     .description = "largest number of its particles at the same time; memory is reserved for "
                    "them. Particles removed by a sink appear again, with the same size"},
    {"start_time", YK_OPTION_NUMBER, "s", "0",
     .description = "start; the first particle appears 1/rate later"},
    {"end_time", YK_OPTION_NUMBER, "s", .description = "end; default: none"},
    {"max_emitted", YK_OPTION_INTEGER, .range = YK_AT_LEAST(1),
     .description = "largest number of emitted particles; default: no limit"},
    {"density", YK_OPTION_NUMBER, "kg/m³", .required = true, .range = YK_POSITIVE,
     .description = "of the particles"},
    {"shape", YK_OPTION_VARIANT, .default_text = "sphere", .variants = yk_particle_variants,
     .selector = "type",
     .description =
         "Shape of a particle, scaled to the volume of a sphere of its radius if that is given"},
    YK_INCLUDE(size_keys),
    {"material", YK_OPTION_TEXT, .description = "one of `materials`"},
    {"region", YK_OPTION_CHOICE, .default_text = "box", .choices = cavity_words,
     .description = "form of the region in which particles appear"},
    {"region_size", YK_OPTION_NUMBERS, "m", .required = true, YK_VECTOR,
     .description = "its edges, or diameter twice and height"},
    {"position", YK_ORIGIN, .description = "center of the region, global"},
    {"velocity", YK_OPTION_NUMBERS, "m/s", "[0, 0, 0]", YK_VECTOR,
     .description = "initial velocity of particles"},
    {"angular_velocity", YK_OPTION_NUMBERS, "rad/s", "[0, 0, 0]", YK_VECTOR,
     .description = "initial angular velocity of particles, global axes"},
    {"seed", YK_OPTION_INTEGER, .default_text = "1", .is_seed = true,
     .description = "of the random numbers"},
    {0},
};
static const yk_option_section emitter_section = {
    "emitter",
    "Adds particles during the run, at random free places of a region; if none is free, they wait. "
    "Channels `NAME.emitted_count`, `NAME.emitted_mass`, `NAME.waiting_count`.",
    emitter_fields};
static const yk_option emitter_item = {"emitter", YK_OPTION_SECTION, .section = &emitter_section,
                                       .description = ""};

static const yk_option sink_fields[] = {
    {"position", YK_ORIGIN, .description = "of its middle, or a point of the plane"},
    {"orientation", YK_OPTION_ORIENTATION, .default_text = "[1, 0, 0, 0]",
     .description = "rotation from its axes to the global axes"},
    {0},
};
static const yk_option_section sink_section = {"sink", "", sink_fields};
static const yk_option plane_fields[] = {{0}};
static const yk_option_section sink_plane = {"plane", "Everything below z = 0.", plane_fields};
const yk_option_section *const yk_sink_variants[] = {&yk_box_ops.section, &yk_cylinder_ops.section,
                                                     &sink_plane, NULL};
static const yk_option sink_item = {
    "sink",
    YK_OPTION_VARIANT,
    .section = &sink_section,
    .variants = yk_sink_variants,
    .selector = "type",
    .description = "Takes particles whose centre of mass is in it; bodies with a name stay. "
                   "Channels `NAME.removed_count`, `NAME.removed_mass`"};

/* The solver ----------------------------------------------------------------------------------- */

#define PERIOD(axis)                                                             \
    {                                                                            \
        axis, YK_OPTION_NUMBERS, "m", .min_count = 2, .max_count = 2,            \
                                      .description = "start and end of a period" \
    }
static const yk_option periodic_fields[] = {PERIOD("x"), PERIOD("y"), PERIOD("z"), {0}};
static const yk_option_section periodic_section = {
    "periodic",
    "Periodic space: a body that leaves a period at one end enters at the other, and touches its "
    "neighbours there. Bodies are drawn in the first period; channels have continuous positions. "
    "Two solids together must be smaller than half a period, and planes and cavities must be "
    "invariant along it.",
    periodic_fields};

static const yk_option fields[] = {
    {"components", YK_OPTION_COMPONENTS, .item = &yk_component_item,
     .description = "instances of components that consist of bodies, joints, forces and so on"},
    YK_INCLUDE(yk_nonsmooth_gravity),
    {"periodic", YK_OPTION_SECTION, .section = &periodic_section,
     .description = "periodic directions"},
    {"materials", YK_OPTION_NAMED, .item = &material_item, .description = "surfaces"},
    {"material_pairs", YK_OPTION_LIST, .item = &pair_item,
     .description = "surfaces of pairs of materials; particles settle with their own material"},
    {"bodies", YK_OPTION_NAMED, .item = &body_item, .description = "rigid bodies"},
    {"exclusions", YK_OPTION_LIST, .item = &exclusion_item,
     .description = "pairs of bodies without contact"},
    {"ground_shapes", YK_OPTION_LIST, .item = &shape_item, .description = "fixed shapes"},
    {"particles", YK_OPTION_NAMED, .item = &particle_item, .description = "many particles at once"},
    {"emitters", YK_OPTION_NAMED, .item = &emitter_item,
     .description = "sources of particles during a run"},
    {"sinks", YK_OPTION_NAMED, .item = &sink_item,
     .description = "removal of particles during a run"},
    {"joints", YK_OPTION_NAMED, .item = &yk_joint_item,
     .description = "joints and prescribed relative motions"},
    {"forces", YK_OPTION_NAMED, .item = &yk_force_item,
     .description = "forces between bodies and on them, without `feedback`"},
    {"ports", YK_OPTION_NAMED, .item = &yk_port_item,
     .description = "points that can be coupled with other subsystems"},
    YK_INCLUDE(yk_nonsmooth_options),
    {0},
};

const yk_option_section yk_nonsmooth_section = {
    "nonsmooth",
    "Rigid bodies and particles with frictional contact, "
    "stepped at the level of impulses. "
    "Channels: of bodies `position`, `orientation`, `velocity`, `angular_velocity`, "
    "the `contact_force` of all contacts on it (mean of the last step), "
    "and of those with prescribed motion the `force` and `torque` that hold them on it; "
    "of joints `force` and `torque`, on the second body at its marker, "
    "and as a sensor in the joint reports them `angle` (in (-pi, pi]) "
    "and `angular_velocity` about the first's z axis, "
    "`displacement` and `velocity` along it; "
    "`contact_count`, `max_penetration`, `contact_residual` of the contact problem of the last "
    "step "
    "in m/s (by how much contacts and joints miss their conditions) "
    "and the `max_contact_residual` since the start, "
    "also as `max_contact_residual_ratio` by the speed "
    "that the step resolves (gravity times step, or a hundredth "
    "of the fastest approach), `unsolved_step_fraction`: "
    "the fraction of steps in which it was larger than that, `unsolved_impulse_fraction`: "
    "the sum of the impulses by which contacts and joints missed their conditions in these steps, "
    "relative to all impulses that they exchanged since the start, the "
    "`max_prescribed_penetration`: "
    "how deep a body whose motion an interface prescribes has entered what never moves "
    "and could not stop it, the `contact_iteration_count` of the contact problem of the last step, "
    "and `sleeping_count`, the number of bodies, where they may sleep; "
    "`particle_positions`: x, y, z of every particle, one after the other, "
    "no numbers where one is not there; with emitters or sinks "
    "`particle_count` and `particle_mass`, the particles that are there, `emitter_shortfall`: "
    "the largest fraction of what was due from an emitter and has not come, "
    "and `emitter_exhausted`: 1 where that is because all of its particles are there already.",
    fields};
