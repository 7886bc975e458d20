/* Rigid bodies with frictional contact, stepped on the level of impulses and velocities: the
 * nonsmooth subsystem.
 *
 * One step from t to t + h (Zhang et al. 2020, equations 18 and 19; Zhang et al. 2022, equation
 * 11), with all geometry from the configuration at t:
 *
 *   1  collision pairs that may touch (broad_phase.c), contact points with a gap below the envelope
 *      (narrow_phase.h)
 *   2  free motion  v = v(t) + h M^-1 f: gravity, force laws, user forces, gyroscopic torque
 *   3  rows contacts gap/h + u_N >= 0, or u_N >= -e u_N(t) if they rebound, or Peiret et al. 2020
 *      (41) if the surfaces yield; joints g/h + dg/dt = 0; prescribed motion (q(t) - u21)/h + v(t +
 *      h) - u22 = 0
 *   4  impulses cone complementarity or Coulomb problem of all rows together (contact/network.h),
 *      started from the impulses of the last step
 *   5  move         q(t + h) = q(t) + h v(t + h), rotations by the exponential map
 *
 * A body whose six motions are all prescribed has a known velocity: it acts like a body of infinite
 * mass, and the wrench that its motion needs follows from the balance of its momentum, exact to
 * rounding errors.
 *
 * Build a model with the add functions (users: with the builder of yoke/nonsmooth.h, builder.c,
 * which calls them). Then give it to the coupling as a subsystem, or start and step it directly.
 * After the start the model is frozen. Bodies are numbered from 0 in the order in which they were
 * added. The results are the same bit for bit for any number of threads. Stepping allocates no
 * memory, with two exceptions: there are more contacts or near pairs than ever before, or the
 * interior-point solver, which assembles and factors its problem in every step, needs more.
 *
 * Sleeping is disabled by default. Bodies connected by contacts, joints and force laws form an
 * island. An island whose bodies have all been slow for a given time comes to rest exactly, and
 * costs almost nothing until it is disturbed: by contact with a body that is awake, by a partner
 * with known motion, by a drive or a load that changes, by a port, by set_motion or resize_shape.
 * It then continues from its last impulses. Motion below the limits is lost unless something from
 * outside drives it, and counted as dissipated. */
#ifndef YK_NONSMOOTH_NONSMOOTH_H
#define YK_NONSMOOTH_NONSMOOTH_H

#include <stdint.h>

#include "contact/solver.h"
#include "math/polynomial.h"
#include "mechanics/force.h"
#include "mechanics/joint.h"
#include "nonsmooth/narrow_phase.h"
#include "yoke/nonsmooth.h"

typedef struct yk_nonsmooth yk_nonsmooth;

typedef struct yk_nonsmooth_report {
    size_t contacts; /* points with a gap below the envelope, those of sleeping bodies among them */
    size_t asleep;   /* the list was rebuilt in this step */
    size_t near_pairs;      /* in the list */
    bool rebuilt;           /* the list was made anew in this step */
    double deepest_overlap; /* positive, at the start of the step */
    double collision_seconds, solve_seconds, step_seconds;
    yk_contact_report solver;
} yk_nonsmooth_report;

/* What an emitter has brought since the start, and with what it goes on: see emitter.c. */
typedef struct yk_emitter_state {
    double from; /* when the first particle begins to be due (s) */
    /* of the emitter's particles: the first absent one from here on is emitted next */
    uint64_t random;
    uint64_t next;      /* number of emitted particles */
    uint64_t count;     /* their mass (kg) */
    double mass;        /* particles that are due but not placed */
    uint64_t waiting;   /* 1: they wait because all particles of the emitter are in use */
    uint64_t exhausted; /* 1: they wait because all of the emitter's are there already */
} yk_emitter_state;

/* What a sink has taken. */
typedef struct yk_sink_state {
    uint64_t count;
    double mass; /* kg */
} yk_sink_state;

yk_status yk_world_create(yk_context *context, const yk_nonsmooth_def *def, yk_nonsmooth **made);
void yk_nonsmooth_destroy(yk_nonsmooth *self);

/* Each returns the id of what was added, or YK_NO_ID; the context has the status and the message. */
int yk_world_add_body(yk_nonsmooth *self, const yk_nonsmooth_body_def *def);
int yk_world_add_shape(yk_nonsmooth *self, const yk_nonsmooth_shape_def *def);
int yk_world_add_pair(yk_nonsmooth *self, const yk_material_pair_def *def);
int yk_world_add_exclusion(yk_nonsmooth *self, const yk_exclusion_def *def);
int yk_world_add_joint(yk_nonsmooth *self, const yk_joint_def *def);
int yk_world_add_force(yk_nonsmooth *self, const yk_force_def *def);
/* A solid sphere with its shape, in one call; returns the body. */
int yk_world_add_sphere(yk_nonsmooth *self, yk_vec3 position, double radius, double density,
                        yk_material material);
/* A marker that can be coupled; returns the port. */
int yk_world_add_port(yk_nonsmooth *self, const char *name, int body, const yk_marker *marker);
/* The distance of two markers as a scalar port: an actuator that takes a force (positive pushes
 * the bodies apart) or a length. YK_GROUND is allowed for one of the bodies. */
int yk_world_add_line_port(yk_nonsmooth *self, const char *name, const yk_body_id bodies[2],
                           const yk_marker marker[2]);
/* A number that arrives by a wire and loads the forces that name it as their input; returns the
 * signal. As a port it follows after all others. */
int yk_world_add_signal(yk_nonsmooth *self, const char *name);
/* See yoke/nonsmooth.h. */
int yk_world_add_emitter(yk_nonsmooth *self, const yk_emitter_def *def);
int yk_world_add_sink(yk_nonsmooth *self, const yk_sink_def *def);
/* All six motions of the body follow the function. */
yk_status yk_world_prescribe(yk_nonsmooth *self, int body, yk_motion_function function, void *user);
yk_status yk_world_prescribe_path(yk_nonsmooth *self, int body, const yk_prescribed_path *path);

/* As a subsystem: see yoke/subsystem.h. The object stays the caller's until the subsystem is
 * destroyed. */
yk_subsystem *yk_nonsmooth_subsystem(yk_nonsmooth *self);

/* Directly, without ports. */
yk_status yk_nonsmooth_start(yk_nonsmooth *self, double t, double h);
yk_status yk_nonsmooth_step(yk_nonsmooth *self, double h);

double yk_nonsmooth_time(const yk_nonsmooth *self);
int yk_nonsmooth_body_count(const yk_nonsmooth *self);
/* Motion of a body's centre of mass; accelerations are (v(t) - v(t - h)) / h of prescribed and
 * ported bodies, else 0.
 */
void yk_nonsmooth_body_motion(const yk_nonsmooth *self, int body, yk_motion *motion);
/* Between steps: places a body anew. */
void yk_nonsmooth_set_motion(yk_nonsmooth *self, int body, const yk_motion *motion);
/* Before start, or between steps: another size of a shape (a lid that is lowered). */
yk_status yk_nonsmooth_resize_shape(yk_nonsmooth *self, int shape, yk_vec3 size);
/* Mean over the last step of the wrench at the centre of mass that held a prescribed body on its
 * course. */
yk_wrench yk_nonsmooth_reaction(const yk_nonsmooth *self, int body);
void yk_nonsmooth_energy(const yk_nonsmooth *self, yk_energy *energy);
/* The contact problem of the last step as it stood before it was solved, joints behind the
 * contacts; right after a step of which it is wanted. The caller destroys it. */
yk_status yk_nonsmooth_problem(yk_nonsmooth *self, yk_contact_problem *problem);

/* Tests and benchmarks step a world directly, and ask it here for what a run records by channels, or
 * for what has none.
 *
 * Since the start; and whether a body waits to be emitted, or has left through a sink. */
yk_emitter_state yk_nonsmooth_emitted(const yk_nonsmooth *self, int emitter);
yk_sink_state yk_nonsmooth_removed(const yk_nonsmooth *self, int sink);
bool yk_nonsmooth_is_absent(const yk_nonsmooth *self, int body);
double yk_nonsmooth_body_mass(const yk_nonsmooth *self, int body);
/* Mean over the last step of the force of contacts on a body from another one; YK_GROUND counts
 * as a body. */
yk_vec3 yk_nonsmooth_contact_force(const yk_nonsmooth *self, int body, int from);
/* Mean over the last step of the wrench of joint on body b, about marker b. */
yk_wrench yk_nonsmooth_joint_reaction(const yk_nonsmooth *self, int joint);
/* Of the last step. */
void yk_nonsmooth_report_read(const yk_nonsmooth *self, yk_nonsmooth_report *report);
/* Root mean square and largest violation of the cone conditions after the last step, velocities. */
void yk_nonsmooth_violation(yk_nonsmooth *self, double *rms, double *largest);
/* Bytes held, solver included. */
size_t yk_nonsmooth_memory(const yk_nonsmooth *self);

#endif
