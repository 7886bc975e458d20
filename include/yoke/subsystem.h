/* The contract of a subsystem: everything that moves and can be coupled.
 *
 * A multibody mechanism, a box of particles, a hydraulic circuit, an FMU, a program behind a
 * socket or a tape of recorded motion: each is an object whose first member points to a constant
 * table of operations. This header and status.h are all that a plug-in needs.
 *
 *        time t                                                          t + h
 *          |-------------------------- macro step -------------------------|
 *   inputs: one polynomial per connected port, valid over the whole step
 *   step:   advances the state from t to t + h with these inputs
 *   output: motion and wrench of a port at the end of the last step (or of the trial that is open)
 *
 * Ports. A port is a named place where the subsystem meets the world. Motion and wrench are power
 * conjugates: wrench . rate is the power that flows INTO the subsystem. A port is connected in
 * one of two ways:
 *
 *   YK_CAUSALITY_WRENCH_INPUT   the world applies a wrench to the subsystem, the subsystem answers with its motion
 *   YK_CAUSALITY_MOTION_INPUT   the world prescribes the motion, the subsystem answers with the wrench that it needed
 *                     from the world to follow (so the partner receives the opposite)
 *
 * Signal ports carry one number without power, in one direction: a measured length to a
 * controller, a command to a valve. They are connected by wires as YK_CAUSALITY_SIGNAL_INPUT or
 * YK_CAUSALITY_SIGNAL_OUTPUT.
 *
 * Units are the subsystem's own (SI unless it says otherwise), radians, seconds. All vectors are
 * in the global frame of the subsystem; quaternions rotate from the marker's frame to the global
 * frame. */
#ifndef YOKE_SUBSYSTEM_H
#define YOKE_SUBSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yk_vec3 {
    double x, y, z;
} yk_vec3;

/* Unit quaternion, scalar first. */
typedef struct yk_quat {
    double w, x, y, z;
} yk_quat;

/* A 3 x 3 matrix, by rows. */
typedef struct yk_mat3 {
    double m[3][3];
} yk_mat3;

/* The numbers are sent to partners (frame 3 of docs/protocol.md). Do not change a number. */
typedef enum yk_port_kind {
    /* one coordinate: position (m), velocity, acceleration; force (N); or their rotational kin */
    YK_PORT_SCALAR = 0,
    /* a frame on a body: six coordinates on R3 x SO(3); wrench at the marker's origin */
    YK_PORT_MARKER = 1,
    /* a number without power, where scalar ports have their position; its rate, if known, as
     * velocity */
    YK_PORT_SIGNAL = 2
} yk_port_kind;

/* How a port may be, or is, connected. */
typedef enum yk_causality {
    YK_CAUSALITY_NONE = 0,
    YK_CAUSALITY_WRENCH_INPUT = 1,
    YK_CAUSALITY_MOTION_INPUT = 2,
    YK_CAUSALITY_SIGNAL_INPUT = 4, /* signal ports: an input ... */
    /* ... or an output, which any number of wires may read and nobody connects */
    YK_CAUSALITY_SIGNAL_OUTPUT = 8,
    /* with YK_CAUSALITY_SIGNAL_INPUT: unless it is connected, the subsystem has a value of its own for it */
    YK_OPTIONAL_SIGNAL = 16
} yk_causality;

/* The six relative motions of a marker, in the axes of the marker that takes the motion. */
enum {
    YK_AXIS_X = 1,
    YK_AXIS_Y = 2,
    YK_AXIS_Z = 4,
    YK_AXIS_RX = 8,
    YK_AXIS_RY = 16,
    YK_AXIS_RZ = 32,
    YK_AXES_TRANSLATION = 7,
    YK_AXES_ROTATION = 56,
    YK_AXES_ALL = 63,
    YK_AXIS_DISTANCE = 64 /* of joints between ports, alone: the distance of the two origins */
};

/* A prescribed relative motion: value (m, rad) with its first and second derivative by time. */
typedef struct yk_relative_motion {
    void (*evaluate)(void *user, double t, double value[3]); /* NULL: at rest */
    void *user;
} yk_relative_motion;

typedef struct yk_port {
    const char *name;
    yk_port_kind kind;
    unsigned
        allowed_causalities; /* mask of the yk_causality values that it can be connected with */
} yk_port;

typedef struct yk_motion {
    yk_vec3 position; /* scalar ports use the x components only, and no rotation */
    yk_vec3 velocity;
    yk_vec3 acceleration;
    yk_quat orientation;
    yk_vec3 angular_velocity;
    yk_vec3 angular_acceleration;
} yk_motion;

/* A force (scalar ports: its x component) and a torque about the marker's origin. */
typedef struct yk_wrench {
    yk_vec3 force;
    yk_vec3 torque;
} yk_wrench;

typedef struct yk_port_value {
    yk_motion motion;
    yk_wrench wrench; /* on the subsystem, from the world */
} yk_port_value;

enum { YK_INPUT_DEGREE_MAX = 3, YK_INPUT_COEFFICIENT_COUNT = YK_INPUT_DEGREE_MAX + 1 };

/* What one input does over a macro step that starts at local time 0: sum of coefficient[i] *
 * time^i.
 *
 * Wrench ports: linear = force, angular = torque. Motion ports: linear = position, angular =
 * rotation vector theta with orientation(time) = exp(theta(time)) * orientation. Velocities and
 * accelerations are the derivatives. Signal ports that take a signal: linear.x = its value. */
typedef struct yk_input {
    int degree; /* 0 to YK_INPUT_DEGREE_MAX; coefficients above it are not read */
    yk_vec3 linear[YK_INPUT_COEFFICIENT_COUNT];
    yk_vec3 angular[YK_INPUT_COEFFICIENT_COUNT]; /* not read for scalar and signal ports */
    yk_quat base_orientation; /* base orientation; marker ports that take motion only */
} yk_input;

/* The state image is an array of 8-byte words. The first `continuous` of them are doubles that
 * may be perturbed one by one (finite differences); the rest is opaque (counters, caches) and
 * only ever copied. */
typedef struct yk_state_layout {
    size_t word_count;
    size_t continuous_count;
} yk_state_layout;

/* How a run uses state images of a subsystem. */
typedef enum yk_state_use {
    YK_STATES_UNUSED,  /* no image is taken */
    YK_STATES_SAVED,   /* images are taken, for checkpoints, and never set at an earlier time */
    YK_STATES_RESTORED /* the run may return to an earlier state */
} yk_state_use;

/* Energies in joules. dissipated and work count from start; without numerical errors
 * kinetic + potential + dissipated - work is constant. */
typedef struct yk_energy {
    double kinetic;
    double potential;
    double dissipated; /* by dampers, friction, impacts */
    double work;       /* done on the subsystem: external forces and all ports */
    /* Of that work, what came through connected ports; the rest was fed in from outside. Callers
     * set it to NaN: one that stays so, or stays zero while work is done at the ports, is not
     * known, and the coupling takes its own account. */
    double port_work;
} yk_energy;

/* What one solver iteration achieved (see iterate). */
typedef struct yk_iteration_report {
    /* norm of the change of the iterate, relative to the solver's own tolerance */
    double correction;
    /* non-zero: another iteration with the same inputs would change nothing of weight */
    int converged;
} yk_iteration_report;

/* A named quantity inside a subsystem that can be recorded. */
typedef struct yk_channel {
    const char *name; /* "crank.reaction" */
    /* An SI unit, "N": then the numbers are in the corresponding unit of the subsystem's own
     * system (see yk_transform), and records convert them. Any other unit, "bar", is the one that
     * the numbers are in. "" for pure numbers. */
    const char *unit;
    int component_count;
} yk_channel;

/* Geometry of a shape of a scene. The numbers are stored in records (/scene/shapes/kind, see
 * docs/report.md) and sent to partners (frame 22, see docs/protocol.md), and the viewer has the same
 * numbers (viewer/src/data.ts). Do not change a number; a new kind gets the next one. */
typedef enum yk_shape_kind {
    YK_SHAPE_SPHERE = 0,          /* size.x radius */
    YK_SHAPE_BOX = 1,             /* size half edges */
    YK_SHAPE_CYLINDER = 2,        /* size.x radius, size.z half height, axis z */
    YK_SHAPE_CAPSULE = 3,         /* size.x radius, size.z half length of the axis z */
    YK_SHAPE_LINE = 4,            /* from the origin to `size`: the axis of something slender */
    YK_SHAPE_THIN_LINE = 5,       /* from the origin to `size`: an edge of a body, or a spring */
    YK_SHAPE_ACTUATOR = 6,        /* from the origin to `size`: a hydraulic cylinder, for example */
    YK_SHAPE_HULL = 7,            /* convex hull of `points`; three points are a triangle */
    YK_SHAPE_BOX_CAVITY = 8,      /* hollow, size half edges */
    YK_SHAPE_CYLINDER_CAVITY = 9, /* hollow, size.x radius, size.z half height, axis z */
    YK_SHAPE_PLANE = 10,          /* z = 0, solid below, unbounded */
    YK_SHAPE_JOINT = 11,          /* position of a joint: the origin */
    YK_SHAPE_ELLIPSOID = 12       /* size half axes */
} yk_shape_kind;

/* Number of kinds of shapes. Not an enumerator of yk_shape_kind, so that compilers report a switch
 * without `default` that does not handle a kind. */
enum { YK_SHAPE_KIND_COUNT = 13 };

/* Walls of a cavity that are left out. */
enum {
    YK_WALL_LEFT = 1,    /* -x of a box cavity; the side wall of a cylinder cavity */
    YK_WALL_RIGHT = 2,   /* +x */
    YK_WALL_FRONT = 4,   /* -y */
    YK_WALL_BACK = 8,    /* +y */
    YK_WALL_BOTTOM = 16, /* -z */
    YK_WALL_TOP = 32     /* +z */
};

enum { YK_SCENE_GROUND = -1 };

/* Something to draw, fixed to a body of the scene. */
typedef struct yk_shape {
    yk_shape_kind kind;
    const char *name; /* of the joint, beam, spring or port that it shows; NULL: the body's */
    int body;         /* that it is fixed to; YK_SCENE_GROUND: the ground */
    yk_vec3 position; /* on the body, in its axes */
    yk_quat orientation;
    yk_vec3 size;
    /* Of a line whose end is on another body: that body, and `size` is the point on it; else the
     * same as `body`. */
    int end_body;
    unsigned open_walls;   /* of a cavity: mask of the walls that are left out */
    const yk_vec3 *points; /* of a hull, in the axes of the shape */
    int point_count;
} yk_shape;

/* How a body of the scene moves. The numbers are stored in records and sent to partners as those of
 * yk_shape_kind. Do not change a number. */
typedef enum yk_scene_motion {
    YK_SCENE_MOTION_FIXED = 0,
    YK_SCENE_MOTION_POINT = 1, /* has no orientation that matters: particles, points of a line */
    YK_SCENE_MOTION_FULL = 2
} yk_scene_motion;

/* A frame that shapes are fixed to. */
typedef struct yk_scene_body {
    const char *name; /* as channels have it; NULL: none, as of a particle */
    yk_scene_motion motion;
    int part_index; /* of a merged subsystem: which part it came from; else 0 */
    int has_strain; /* non-zero: its strain is known, see yk_scene_pose */
} yk_scene_body;

typedef struct yk_scene_pose {
    yk_vec3 position; /* not finite: the body is not there now, and nothing of it is drawn */
    yk_quat orientation;
    /* Of a beam there: the strain whose uniform extension would store the same energy, which for
     * bending is the curvature times the section's radius of gyration. */
    double strain;
} yk_scene_pose;

/* A contact point of the last step, with the mean force over it on the body that the normal points
 * to. In the subsystem's units and axes. */
typedef struct yk_contact_point {
    yk_vec3 point;
    yk_vec3 normal; /* unit */
    yk_vec3 force;
} yk_contact_point;

/* Motion of a body: its origin, its axes and their velocities. */
typedef struct yk_body_state {
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity; /* global axes */
} yk_body_state;

/* A number of a model that may be changed between steps. */
typedef struct yk_parameter {
    const char *name;        /* "spring.stiffness" */
    const char *unit;        /* "" for pure numbers */
    double minimum, maximum; /* inclusive */
} yk_parameter;

typedef struct yk_subsystem yk_subsystem;

/* The units and axes of a subsystem, where they are not those of the system (SI, seconds
 * everywhere): a point that the subsystem calls x is at position + orientation(length * x). Paper
 * tight (20). */
typedef struct yk_transform {
    yk_vec3 position;    /* m */
    yk_quat orientation; /* from the subsystem's axes to the system's */
    double length_unit;  /* m per unit of length: 1e-3 for millimetres */
    double mass_unit;    /* kg per unit of mass: 1e-3 for grams */
} yk_transform;

/* A rigid connection between two ports of the parts that are merged (see merge). */
typedef struct yk_merge_joint {
    int part_a, port_a;
    int part_b, port_b;
    unsigned constrained_axes; /* YK_AXIS mask in the frame of b; scalar ports: YK_AXIS_X */
    /* Of a's marker in the frame of b's, in metres: six, x to rz; with YK_AXIS_DISTANCE the first
     * is the distance. NULL: none. */
    const yk_relative_motion *drive;
} yk_merge_joint;

/* What is merged to one subsystem (see merge). */
typedef struct yk_merge_def {
    yk_subsystem *const *parts;
    int part_count;
    /* of the parts in the whole; NULL: all have its units and axes */
    const yk_transform *transforms;
    const yk_merge_joint *joints;
    int joint_count;
    double length_unit; /* m per unit of length of the whole */
    int separate_parts; /* non-zero: the parts of the whole are to be relaxed one by one, see relax */
} yk_merge_def;

/* A mechanism as its partners feel it over the next step (see interface_model): the velocities w
 * of its connected wrench ports, all of them coupled, under wrenches f that stay over the time
 * tau <= h,
 *
 *   w(t + tau) = w(t) + tau (rate + inverse_mass f)
 *
 * Rows and columns: connected wrench ports in port order, velocity 3 and angular velocity 3
 * (force 3 and torque 3) of a marker, one of a scalar port. inverse_mass is the inverse of the
 * effective mass, which exists where the effective mass does not (motions that joints suppress);
 * the effective force is its inverse times `rate`. */
typedef struct yk_interface_model {
    int row_count;             /* set by the caller, as are the arrays */
    double *inverse_mass;      /* size x size, row-major */
    double *free_acceleration; /* size: acceleration without wrenches at these ports */
    /* Where the ports will be: x(t + tau) = x(t) + tau ((1 - lead) w(t) + lead w(t + tau)), as
     * the subsystem's own method moves them in one step. 1: semi-implicit Euler; 1/2: methods of
     * second order. */
    double theta;
} yk_interface_model;

/* The next step of a mechanism as its own method makes it (see step_model), linear in the
 * wrenches f at its connected wrench ports:
 *
 *   w(t + h) = velocity + mobility (f - f0)      displacement over the step = displacement + lead h mobility (f - f0)
 *
 * f0: the wrenches of the inputs. Rows and columns as in yk_interface_model, which is the
 * mechanism without the method: a method with a memory answers to a wrench of one step over
 * several. Displacements of markers: position 3, and the rotation vector (global axes) 3 from the
 * orientation at t to that at t + h. */
typedef struct yk_step_model {
    int row_count; /* set by the caller, as are the arrays */
    /* likewise: equal ones from t to t + h, with one wrench over all of them; 0 counts as 1 */
    int substep_count;
    double *velocity;
    double *displacement;
    double *mobility; /* size x size, row-major */
    double theta;
    /* Where in the step a constant wrench acts, as far as positions tell: 1, at its end (implicit
     * methods that evaluate forces there), 1/2, all over it; 0, at its start (semi-implicit
     * Euler). */
    double wrench_point;
    /* What constant wrenches f of this step, f1 of the last and f2 of the one before it add to
     * the velocity of a free mass in this step, y h / mass with y = weight[0] f + weight[1] f1 +
     * weight[2] f2 - memory y1, y1 that of the last step. 1, 0, 0 and 0 for methods without a
     * memory. */
    double wrench_weights[3], memory_factor;
} yk_step_model;

/* Capabilities
 * -------------------------------------------------------------------------------------------------------
 *
 * What a subsystem can do beyond stepping, in groups. A group is a constant table, stamped as the
 * table of the subsystem is with the size that it had when it was compiled. It is absent (NULL)
 * or whole; schemes ask for groups before a run starts. */

/* Rollback, checkpoint, finite differences; after start. Set after get restores bit for bit, and
 * discards an open trial. */
typedef struct yk_rollback_ops {
    size_t size; /* sizeof(yk_rollback_ops), and so on below */
    yk_state_layout (*layout)(const yk_subsystem *self);
    void (*get)(const yk_subsystem *self, double *image);
    yk_status (*set)(yk_subsystem *self, const double *image);
} yk_rollback_ops;

/* Single iterations of the solver. */
typedef struct yk_iteration_ops {
    size_t size;
    /* One iteration towards the state at t + h. The first call after step, start or a rollback
     * opens a trial from the predicted state; outputs are those of the trial until step closes
     * it. */
    yk_status (*iterate)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                         yk_iteration_report *report);
} yk_iteration_ops;

/* Derivatives of a step by its inputs. */
typedef struct yk_sensitivity_ops {
    size_t size;
    /* As step of the subsystem, and the derivatives of the motions at t + h of all ports that
     * take a wrench, by the coefficients 0 to `degree` of their inputs. Row-major. Rows: per such
     * port, in the order of the ports, position 3, rotation 3 (a rotation vector in global axes),
     * velocity 3, angular velocity 3, acceleration 3, angular acceleration 3; of a scalar port
     * position, velocity, acceleration. Columns: per such port, per power of time, force 3 and
     * torque 3; of a scalar port one. */
    yk_status (*step_with_sensitivity)(yk_subsystem *self, double t, double h,
                                       const yk_input *inputs, int degree, double *matrix);
} yk_sensitivity_ops;

/* The reduced interface model. */
typedef struct yk_interface_model_ops {
    size_t size;
    /* For a step from t to t + h, at the present state: papers rim (5)-(7), with contact and
     * friction (36)-(44). Contacts keep the state that they had in the last step, sticking,
     * slipping or open, unless the wrenches of that step would now close or open them; a step in
     * which they keep it gives the velocities of the model, up to terms of second order in the
     * rotations over h. Of the inputs those of motion ports are read, wrenches count as zero.
     * State and outputs stay as they are. */
    yk_status (*evaluate)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                          yk_interface_model *model);
} yk_interface_model_ops;

/* The next step as the solver would make it. */
typedef struct yk_step_model_ops {
    size_t size;
    /* What the step from t to t + h with these inputs will do to the ports that take a wrench,
     * without taking it: the equations of the step, linear around the solver's prediction. Costs
     * a part of a step. State and outputs stay as they are. */
    yk_status (*evaluate)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                          yk_step_model *model);
} yk_step_model_ops;

/* New subsystems of the same kind. */
typedef struct yk_merge_ops {
    size_t size;
    /* One subsystem made of parts of the same kind, rigidly joined; its ports are those of the
     * parts in order, all unconnected, in the units and axes of the whole. So are its channels,
     * in the units and axes of their part, with others of its own after them. The parts stay as
     * they are. The reference of every coupling scheme. */
    yk_status (*merge)(const yk_merge_def *def, yk_subsystem **merged);
    /* A free mass at rest, in the subsystem's units of mass, with the same integrator and
     * options: one port of the given kind, whose motion along x is that of the mass; a marker
     * begins at the origin, a scalar port at 1. The limits of coupling schemes are found on it.
     * YK_ERROR_CAPABILITY where there is no such port. */
    yk_status (*create_free_mass)(const yk_subsystem *self, double mass, yk_port_kind kind,
                                  yk_subsystem **made);
} yk_merge_ops;

/* Relaxed coupling (paper relaxed, section 4): the parts of a merged subsystem move one by one,
 * each by its own equations with what is known of the others. Subsystems that have this group
 * give it to what is merged from them. */
typedef struct yk_relaxed_ops {
    size_t size;
    /* One relaxation of a part towards t + h, with the coordinates of the others as the trial has
     * them. The first call after start, step or a rollback opens the trial; step accepts it as it
     * stands. What it keeps for later steps is part of the state. *change: the largest change
     * that it made in a velocity of the part, as a fraction of the typical velocity of the
     * whole. */
    yk_status (*relax_part)(yk_subsystem *self, int part, double t, double h,
                            const yk_input *inputs, double *change);
    /* What a trial knows of a part, as *words doubles for another subsystem that was merged from
     * the same parts and has the same state; YK_ERROR_CAPABILITY if its parts cannot be relaxed,
     * and message says why. The first *unknowns of them are what the part solves for, and others
     * may be set instead. Takes what memory relaxing needs. After start; get and set in an open
     * trial. */
    yk_status (*part_state_size)(yk_subsystem *self, int part, size_t *words, size_t *unknowns);
    void (*get_part_state)(yk_subsystem *self, int part, double *words);
    void (*set_part_state)(yk_subsystem *self, int part, const double *words);
} yk_relaxed_ops;

/* Jumps of its own. */
typedef struct yk_event_ops {
    size_t size;
    /* The first time after t at which something of the subsystem's own jumps or has a kink, as
     * far as it knows: a given function of time, a sample; infinity: nothing. Macro steps end
     * there, and nothing is extrapolated over it, unless events of one subsystem follow each
     * other as fast as macro steps do. */
    double (*next_time)(const yk_subsystem *self, double t);
} yk_event_ops;

/* Its energies. */
typedef struct yk_energy_ops {
    size_t size;
    void (*read)(const yk_subsystem *self, yk_energy *energy);
} yk_energy_ops;

/* What can be recorded besides the ports: reactions, body motions, pressures. */
typedef struct yk_channel_ops {
    size_t size;
    /* The channels, valid and constant as long as the subsystem lives; returns their number. */
    int (*list)(const yk_subsystem *self, const yk_channel **list);
    void (*read)(const yk_subsystem *self, int channel, double *values);
} yk_channel_ops;

/* What it looks like: bodies, which move, and shapes, which are fixed to them. */
typedef struct yk_scene_ops {
    size_t size;
    /* After start, and constant from then on. Fill at most `capacity` entries, and return how
     * many there are. */
    int (*bodies)(const yk_subsystem *self, yk_scene_body *list, int capacity);
    int (*shapes)(const yk_subsystem *self, yk_shape *list, int capacity);
    /* Where all bodies are now. */
    void (*poses)(const yk_subsystem *self, yk_scene_pose *list);
    /* Which way is down: the acceleration of gravity, zero where there is none. */
    yk_vec3 (*gravity)(const yk_subsystem *self);
} yk_scene_ops;

/* Where its bodies touch each other. */
typedef struct yk_contact_point_ops {
    size_t size;
    /* Fills at most `capacity` points, those with the largest forces, and returns their number;
     * with a capacity of 0 the most that there can be. */
    int (*list)(const yk_subsystem *self, yk_contact_point *list, int capacity);
} yk_contact_point_ops;

/* Bodies that can be read and pushed while the subsystem runs. Bodies are numbered from 0; bodies of a merged subsystem are
 * those of the parts in order. */
typedef struct yk_body_ops {
    size_t size;
    int (*count)(const yk_subsystem *self);
    /* NULL: the body has no name, as a particle. */
    const char *(*name)(const yk_subsystem *self, int body);
    /* After initialize. Fills the states of `count` bodies from `first` on. A body that does not exist at present has a
     * position that is not finite. */
    void (*read)(const yk_subsystem *self, int first, int count, yk_body_state *states);
    /* Sets the wrench about the origin of a body, in global axes, that acts in addition to everything else in the steps that
     * follow, until it is set again. It is an input, not part of the state. YK_ERROR_CAPABILITY: the motion of the body is
     * prescribed. */
    yk_status (*set_wrench)(yk_subsystem *self, int body, const yk_wrench *wrench);
    /* Sets the states of `count` bodies from `first` on, all of them or none. Orientations are unit quaternions.
     * YK_ERROR_CAPABILITY: the motion of a body is prescribed, or the solver cannot continue from other states. */
    yk_status (*set_states)(yk_subsystem *self, int first, int count, const yk_body_state *states);
} yk_body_ops;

/* Numbers of the model that may be changed between steps. */
typedef struct yk_parameter_ops {
    size_t size;
    /* The parameters, constant as long as the subsystem exists; returns their number. */
    int (*list)(const yk_subsystem *self, const yk_parameter **list);
    double (*get)(const yk_subsystem *self, int parameter);
    /* The value is finite and within the limits of the parameter. */
    yk_status (*set)(yk_subsystem *self, int parameter, double value);
} yk_parameter_ops;

/* Of a subsystem in another process: steps that are begun before anybody waits for them, so that
 * several processes compute at the same time, and a state that is kept where it is. */
typedef struct yk_remote_ops {
    size_t size;
    /* Sends the inputs of a step ahead, with `left` more steps that will follow it in the same way;
     * all of them begin with the last. The calls of `step` that come next, with the same times,
     * wait for what these steps did, one after the other. */
    yk_status (*begin_step)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                            int left);
    /* Likewise the question for a step model, of which `size` and `steps` are set, where there is
     * one. */
    yk_status (*begin_step_model)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                  const yk_step_model *model);
    /* Likewise a relaxation of a part, from the state of an image where one is given. */
    yk_status (*begin_relax)(yk_subsystem *self, int part, double t, double h,
                             const yk_input *inputs, const double *image);
    /* Keeps the state, and sets it as it was kept last. Neither waits: what fails is the outcome of
     * the call that follows. */
    void (*save_state)(yk_subsystem *self);
    yk_status (*restore_state)(yk_subsystem *self);
    /* The outcome of calls that have none of their own, such as those that read the state, energies
     * and channels: what they returned counts where this is YK_OK. */
    yk_status (*last_status)(const yk_subsystem *self);
} yk_remote_ops;

/* Of a subsystem whose other half is carried by another master, such as a coupling library that meets
 * its partners once in a time window. It is called after all others of its macro step: motions that
 * it takes are those that were reached, and the wrenches that it answers with are those of the next
 * step. The other master may ask for a window once more, until its own iterations have converged. */
typedef struct yk_time_window_ops {
    size_t size;
    /* The length (s) of windows that may have to be repeated, which must be the macro step; 0: none
     * is. After start. */
    double (*repeatable_window)(const yk_subsystem *self);
    /* Whether the macro step that was just made is to be made again. All others have then returned to
     * its start, and outputs are as at its start but for what the other master now offers. */
    bool (*must_repeat)(const yk_subsystem *self);
} yk_time_window_ops;

/* The table of a subsystem --------------------------------------------------------------------- */

typedef struct yk_subsystem_ops {
    /* sizeof(yk_subsystem_ops) of the header that the implementation was compiled with */
    size_t size;
    const char *kind; /* "oscillator", "smooth", ... */

    /* Required. */

    /* The ports, valid and constant as long as the subsystem lives; returns their number. */
    int (*ports)(const yk_subsystem *self, const yk_port **list);
    /* Fixes how a port is used; called before start, at most once per port. `constrained` is the
     * mask of the motions that are prescribed (YK_CAUSALITY_MOTION_INPUT) or along which wrenches arrive
     * (YK_CAUSALITY_WRENCH_INPUT). */
    yk_status (*connect)(yk_subsystem *self, int port, yk_causality causality,
                         unsigned constrained);
    /* Finds a consistent initial state at time t for steps of size h. Outputs are valid
     * afterwards. Called again, it starts anew from the initial positions and velocities.
     * `inputs` (one per port, at local time 0) bring the initial wrenches and accelerations
     * consistent with the partners; NULL while nothing is known of them. */
    yk_status (*initialize)(yk_subsystem *self, double t, double h, const yk_input *inputs);
    /* Advances from t to t + h. One input per port in the order of the ports; those of
     * unconnected ports are not read. An open trial is carried to convergence with these inputs
     * and closed. */
    yk_status (*step)(yk_subsystem *self, double t, double h, const yk_input *inputs);
    void (*get_port_value)(const yk_subsystem *self, int port, yk_port_value *value);
    void (*destroy)(yk_subsystem *self);

    /* May be NULL, and then have the default that is named. */

    /* What went wrong, in words, after a call returned other than YK_OK; valid until the next
     * call. Default: the text of the status. */
    const char *(*last_message)(const yk_subsystem *self);
    /* The motion at t + h as the solver extrapolates it before it knows the inputs; the state is
     * not touched. Default: the coupling extrapolates the outputs. */
    void (*predict)(const yk_subsystem *self, int port, double h, yk_motion *motion);
    /* The asymptotic spectral radius of the method, 0 to 1, for extrapolations of the outputs over
     * macro steps of several steps of its own. Default: 0.6. */
    double (*rho_inf)(const yk_subsystem *self);
    /* The degree of polynomials in time up to which one step follows a wrench. Default: 0, one
     * value or the mean counts. */
    int (*max_input_degree)(const yk_subsystem *self);
    /* Moves a marker port on its body, before it is connected: with the body where it was defined
     * to start, the port's origin is at `position` and its axes are `orientation`, in the
     * subsystem's global frame; NULL: as they were. Default: ports cannot be moved. */
    yk_status (*move_port)(yk_subsystem *self, int port, const yk_vec3 *position,
                           const yk_quat *orientation);

    /* Whether state images mean something in this process only, such as the number of a state that
     * another program keeps: they cannot go to a file then. After start. Default: they can. */
    bool (*is_state_process_local)(const yk_subsystem *self);
    /* How the run will use state images. Called before start, and again after it if the use grows;
     * the size of an image (layout) is asked for only if images are used. For subsystems that must
     * prepare for images or pay for them, such as FMUs. Default: nothing to prepare. */
    void (*expect_states)(yk_subsystem *self, yk_state_use use);
    /* The unit of a number of a port, which is at this offset in yk_port_value counted in doubles;
     * NULL or "": not known. Default: SI units of the quantities, and none of a signal. */
    const char *(*port_unit)(const yk_subsystem *self, int port, int offset);
    /* Plain data that it counts since start and shows in channels, beside its state: where it is,
     * and its bytes. A run that is taken up from a checkpoint has it back. Default: nothing. */
    size_t (*counters)(yk_subsystem *self, void **data);

    /* Direct feed-through: whether what an output shows at the end of a step depends on the signal at
     * an input port at that time, however short the step is. The output is a port, or with port -1 a
     * channel, and one component of it as in wires. States do not: positions, velocities, integrals.
     * Wires that feed back to themselves in this way are algebraic loops, which the coupling solves.
     * Default: signal ports do, channels and ports with power do not. */
    bool (*feeds_through)(const yk_subsystem *self, int input, int port, int channel,
                          int component);

    /* Capabilities: absent when NULL. */

    const yk_rollback_ops *rollback;
    const yk_iteration_ops *iteration;
    const yk_sensitivity_ops *sensitivity;
    const yk_interface_model_ops *interface_model;
    const yk_step_model_ops *step_model;
    const yk_merge_ops *merge;
    const yk_relaxed_ops *relaxed;
    const yk_event_ops *events;
    const yk_energy_ops *energy;
    const yk_channel_ops *channels;
    const yk_scene_ops *scene;
    const yk_contact_point_ops *contact_points;
    const yk_remote_ops *remote;
    const yk_time_window_ops *time_windows;
    const yk_body_ops *bodies;
    const yk_parameter_ops *parameters;
} yk_subsystem_ops;

/* Implementations embed this as their first member. */
struct yk_subsystem {
    const yk_subsystem_ops *ops;
};

#ifdef __cplusplus
}
#endif

#endif
