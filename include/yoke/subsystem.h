/* The contract of a subsystem: anything that moves and can be coupled.
 *
 * A multibody mechanism, a box of particles, a hydraulic circuit, an FMU, a program behind a socket or a recording of a
 * motion is an object whose first member points to a constant table of operations. A plug-in needs this header and status.h
 * only.
 *
 *        time t                                                          t + h
 *          |-------------------------- macro step -------------------------|
 *   inputs:          one polynomial per connected port, valid over the whole step
 *   step:            advances the state from t to t + h with these inputs
 *   get_port_value:  motion and wrench of a port at the end of the last step, or of the open trial
 *
 * Ports. A port is a named place where a subsystem meets others. Motion and wrench are power conjugates: wrench . rate is
 * the power that flows INTO the subsystem. A port is connected in one of two ways:
 *
 *   YK_CAUSALITY_WRENCH_INPUT   The subsystem receives a wrench and answers with its motion.
 *   YK_CAUSALITY_MOTION_INPUT   The subsystem receives a motion and answers with the wrench that had to act on it. The
 *                               partner receives the opposite wrench.
 *
 * Signal ports carry one number in one direction, without power: a measured length to a controller, a command to a valve.
 * Wires connect an output (YK_CAUSALITY_SIGNAL_OUTPUT) with inputs (YK_CAUSALITY_SIGNAL_INPUT).
 *
 * Quantities are in the units of the subsystem (SI unless it is given a yk_transform), radians and seconds. All vectors are
 * in the global frame of the subsystem. Quaternions rotate from the frame of a marker to the global frame. */
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
    /* One coordinate: position (m), velocity, acceleration and force (N), or an angle and a torque. */
    YK_PORT_SCALAR = 0,
    /* A frame on a body: six coordinates on R3 x SO(3), and a wrench at the origin of the frame. */
    YK_PORT_MARKER = 1,
    /* A number without power, stored as the position of a scalar port; its rate, if known, as the velocity. */
    YK_PORT_SIGNAL = 2
} yk_port_kind;

/* How a port is connected. Bits, because a port may allow several. */
typedef enum yk_causality {
    YK_CAUSALITY_NONE = 0,
    YK_CAUSALITY_WRENCH_INPUT = 1,
    YK_CAUSALITY_MOTION_INPUT = 2,
    YK_CAUSALITY_SIGNAL_INPUT = 4,
    YK_CAUSALITY_SIGNAL_OUTPUT = 8, /* Any number of wires may read it; it is never connected. */
    /* With YK_CAUSALITY_SIGNAL_INPUT: the subsystem has a value of its own while the port is not connected. */
    YK_OPTIONAL_SIGNAL = 16
} yk_causality;

/* Bits of the six relative motions of two markers, in the axes of the marker that receives the motion. */
typedef enum yk_axis {
    YK_AXIS_X = 1,
    YK_AXIS_Y = 2,
    YK_AXIS_Z = 4,
    YK_AXIS_RX = 8,
    YK_AXIS_RY = 16,
    YK_AXIS_RZ = 32,
    YK_AXES_TRANSLATION = 7,
    YK_AXES_ROTATION = 56,
    YK_AXES_ALL = 63,
    YK_AXIS_DISTANCE = 64, /* The distance of the two origins; not combined with other axes. */
    /* Nonholonomic joints, not combined with other axes. The marker that receives the motion has the surface. Knife edge: the
     * other marker's origin moves relative to the surface only along its own x and z. Rolling: a disc about z of the other
     * marker rolls without slip on x and y of the surface. */
    YK_AXIS_KNIFE_EDGE = 128,
    YK_AXIS_ROLLING = 256
} yk_axis;

/* A prescribed relative motion: the value (m, rad) and its first and second derivatives with respect to time. */
typedef struct yk_relative_motion {
    void (*evaluate)(void *user, double t, double value[3]); /* NULL: at rest */
    void *user;
} yk_relative_motion;

typedef struct yk_port {
    const char *name;
    yk_port_kind kind;
    unsigned allowed_causalities; /* yk_causality bits */
} yk_port;

typedef struct yk_motion {
    yk_vec3 position; /* Scalar ports use the x components only, and no rotation. */
    yk_vec3 velocity;
    yk_vec3 acceleration;
    yk_quat orientation;
    yk_vec3 angular_velocity;
    yk_vec3 angular_acceleration;
} yk_motion;

/* A force and a torque about the origin of the marker. Scalar ports use the x component of the force only. */
typedef struct yk_wrench {
    yk_vec3 force;
    yk_vec3 torque;
} yk_wrench;

typedef struct yk_port_value {
    yk_motion motion;
    yk_wrench wrench; /* On the subsystem, from its partner. */
} yk_port_value;

enum { YK_INPUT_DEGREE_MAX = 3, YK_INPUT_COEFFICIENT_COUNT = YK_INPUT_DEGREE_MAX + 1 };

/* An input over a macro step that starts at local time 0: the sum of coefficient[i] * time^i.
 *
 * Wrench ports: `linear` is the force, `angular` the torque. Motion ports: `linear` is the position, `angular` the rotation
 * vector theta with orientation(time) = exp(theta(time)) * base_orientation; velocities and accelerations are the
 * derivatives. Signal ports: linear.x is the value. */
typedef struct yk_input {
    int degree; /* 0 to YK_INPUT_DEGREE_MAX; higher coefficients are not read. */
    yk_vec3 linear[YK_INPUT_COEFFICIENT_COUNT];
    yk_vec3 angular[YK_INPUT_COEFFICIENT_COUNT]; /* Marker ports only. */
    yk_quat base_orientation;                    /* Marker ports that receive a motion only. */
} yk_input;

/* The state image is an array of 8-byte words. The first `continuous_count` words are doubles that may be perturbed one by
 * one (finite differences). The other words are opaque (counters, caches) and are only copied. */
typedef struct yk_state_layout {
    size_t word_count;
    size_t continuous_count;
} yk_state_layout;

/* How a run uses state images of a subsystem. */
typedef enum yk_state_use {
    YK_STATES_UNUSED,  /* No image is read. */
    YK_STATES_SAVED,   /* Images are read for checkpoints, but never set at an earlier time. */
    YK_STATES_RESTORED /* The run may return to an earlier state. */
} yk_state_use;

/* Energies (J). `dissipated` and `work` count from the start. Without numerical errors
 * kinetic + potential + dissipated - work is constant. */
typedef struct yk_energy {
    double kinetic;
    double potential;
    double dissipated; /* By dampers, friction and impacts. */
    /* On the subsystem, by external forces and by all ports. NaN: only the ports do work, which the coupling counts. */
    double work;
    /* The part of `work` that came through connected ports. The caller sets it to NaN before the call. If it is still NaN
     * afterwards, or zero although the ports did work, then it is unknown and the coupling uses its own account. */
    double port_work;
} yk_energy;

/* Result of one solver iteration (yk_iteration_ops). */
typedef struct yk_iteration_report {
    double
        correction; /* Norm of the change of the iterate, relative to the tolerance of the solver. */
    bool
        converged; /* Another iteration with the same inputs would not change the result notably. */
} yk_iteration_report;

/* A named quantity inside a subsystem that can be recorded. */
typedef struct yk_channel {
    const char *name; /* "crank.reaction" */
    /* "" for pure numbers. If this is an SI unit ("N"), the values are in the corresponding unit of the subsystem's own
     * system of units (yk_transform), and records convert them. Values with any other unit ("bar") are recorded as they
     * are. */
    const char *unit;
    int component_count;
} yk_channel;

/* Geometry of a shape of a scene. The numbers are stored in records (/scene/shapes/kind, see
 * docs/report.md) and sent to partners (frame 22, see docs/protocol.md), and the viewer has the same
 * numbers (viewer/src/data.ts). Do not change a number; a new kind gets the next one. */
typedef enum yk_shape_kind {
    YK_SHAPE_SPHERE = 0,          /* size.x: radius */
    YK_SHAPE_BOX = 1,             /* size: half edges */
    YK_SHAPE_CYLINDER = 2,        /* Axis z; size.x: radius, size.z: half height */
    YK_SHAPE_CAPSULE = 3,         /* Axis z; size.x: radius, size.z: half length of the axis */
    YK_SHAPE_LINE = 4,            /* From the origin to `size`: the axis of a slender part. */
    YK_SHAPE_THIN_LINE = 5,       /* From the origin to `size`: an edge of a body, or a spring. */
    YK_SHAPE_ACTUATOR = 6,        /* From the origin to `size`, such as a hydraulic cylinder. */
    YK_SHAPE_HULL = 7,            /* Convex hull of `points`; three points are a triangle. */
    YK_SHAPE_BOX_CAVITY = 8,      /* Hollow; size: half edges */
    YK_SHAPE_CYLINDER_CAVITY = 9, /* Hollow, axis z; size.x: radius, size.z: half height */
    YK_SHAPE_PLANE = 10,          /* Half space below z = 0. */
    YK_SHAPE_JOINT = 11,          /* Position of a joint: the origin. */
    YK_SHAPE_ELLIPSOID = 12       /* size: half axes */
} yk_shape_kind;

/* Number of kinds of shapes. Not an enumerator of yk_shape_kind, so that compilers report a switch
 * without `default` that does not handle a kind. */
enum { YK_SHAPE_KIND_COUNT = 13 };

/* Walls of a cavity, as bits. */
typedef enum yk_cavity_wall {
    YK_WALL_LEFT = 1,    /* -x of a box cavity; the side wall of a cylinder cavity */
    YK_WALL_RIGHT = 2,   /* +x */
    YK_WALL_FRONT = 4,   /* -y */
    YK_WALL_BACK = 8,    /* +y */
    YK_WALL_BOTTOM = 16, /* -z */
    YK_WALL_TOP = 32     /* +z */
} yk_cavity_wall;

enum { YK_SCENE_GROUND = -1 };

/* A shape to draw, fixed to a body of the scene. */
typedef struct yk_shape {
    yk_shape_kind kind;
    const char
        *name; /* Name of the joint, beam, spring or port that is shown; NULL: of the body. */
    int body;  /* YK_SCENE_GROUND: the ground. */
    yk_vec3 position; /* On the body, in its axes. */
    yk_quat orientation;
    yk_vec3 size;
    /* A line may end on another body: `size` is then a point in the axes of `end_body`. Otherwise the same as `body`. */
    int end_body;
    unsigned open_walls;   /* Cavities: yk_cavity_wall bits of the walls that are left out. */
    const yk_vec3 *points; /* Hulls: corners in the axes of the shape. */
    int point_count;
} yk_shape;

/* How a body of the scene moves. The numbers are stored in records and sent to partners as those of
 * yk_shape_kind. Do not change a number. */
typedef enum yk_scene_motion {
    YK_SCENE_MOTION_FIXED = 0,
    YK_SCENE_MOTION_POINT = 1, /* Without an orientation: particles, points of a line. */
    YK_SCENE_MOTION_FULL = 2
} yk_scene_motion;

/* A frame that shapes are fixed to. */
typedef struct yk_scene_body {
    const char *name; /* As in channels; NULL: no name, as for particles. */
    yk_scene_motion motion;
    int part_index;  /* Part of a merged subsystem that the body belongs to; otherwise 0. */
    bool has_strain; /* yk_scene_pose.strain is known. */
} yk_scene_body;

typedef struct yk_scene_pose {
    yk_vec3 position; /* Not finite: the body does not exist at present and is not drawn. */
    yk_quat orientation;
    /* Beams: the uniform extension that would store the same energy. For bending, the curvature times the radius of
     * gyration of the section. */
    double strain;
} yk_scene_pose;

/* A contact point of the last step, with the mean force during the step on the body that the normal points to. In the
 * units and axes of the subsystem. */
typedef struct yk_contact_point {
    yk_vec3 point;
    yk_vec3 normal; /* Unit vector. */
    yk_vec3 force;
} yk_contact_point;

/* Motion of a body: its origin, its axes and their velocities. */
typedef struct yk_body_state {
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity; /* In global axes. */
} yk_body_state;

/* A number of a model that may be changed between steps. */
typedef struct yk_parameter {
    const char *name;        /* "spring.stiffness" */
    const char *unit;        /* "" for pure numbers */
    double minimum, maximum; /* inclusive */
} yk_parameter;

typedef struct yk_subsystem yk_subsystem;

/* Units and axes of a subsystem. A point with the coordinates x in the subsystem is at position + orientation(length_unit
 * * x) in the system. The unit of time is the second everywhere (Zhang et al. 2020, equation 20). */
typedef struct yk_transform {
    yk_vec3 position;    /* m */
    yk_quat orientation; /* From the axes of the subsystem to those of the system. */
    double length_unit;  /* m per unit of length: 1e-3 for millimetres. */
    double mass_unit;    /* kg per unit of mass: 1e-3 for grams. */
} yk_transform;

/* A joint between two ports of the parts of a merged subsystem (yk_merge_ops). */
typedef struct yk_merge_joint {
    int part_a, port_a;
    int part_b, port_b;
    unsigned constrained_axes; /* yk_axis bits in the frame of b; scalar ports: YK_AXIS_X. */
    /* Motion of marker a in the frame of marker b (m, rad): six components, x to rz. With YK_AXIS_DISTANCE the first is the
     * distance. NULL: at rest. */
    const yk_relative_motion *drive;
    double radius; /* YK_AXIS_ROLLING: radius of the disc, in the system's unit of length (m). */
} yk_merge_joint;

/* The parts of a merged subsystem and their joints (yk_merge_ops). */
typedef struct yk_merge_def {
    yk_subsystem *const *parts;
    int part_count;
    const yk_transform
        *transforms; /* One per part; NULL: all have the units and axes of the whole. */
    const yk_merge_joint *joints;
    int joint_count;
    double length_unit;  /* m per unit of length of the whole. */
    bool separate_parts; /* The parts will be relaxed one by one (yk_relaxed_ops). */
} yk_merge_def;

/* A mechanism as its partners see it over the next step: the velocities w of all its connected wrench ports under wrenches
 * f that are constant over the time tau <= h,
 *
 *   w(t + tau) = w(t) + tau (free_acceleration + inverse_mass f)
 *
 * Rows and columns: connected wrench ports in the order of the ports; velocity 3 and angular velocity 3 (force 3 and torque
 * 3) for a marker, one for a scalar port. `inverse_mass` is the inverse of the effective mass. It also exists for motions
 * that joints suppress, which have no effective mass. The effective force is the effective mass times
 * `free_acceleration`. */
typedef struct yk_interface_model {
    int row_count;             /* Set by the caller, as are the arrays. */
    double *inverse_mass;      /* row_count x row_count, row-major. */
    double *free_acceleration; /* row_count: acceleration without wrenches at these ports. */
    /* The positions of the ports as the subsystem's own method moves them in one step:
     * x(t + tau) = x(t) + tau ((1 - theta) w(t) + theta w(t + tau)). 1: semi-implicit Euler; 1/2: methods of second order. */
    double theta;
} yk_interface_model;

/* The next step of a mechanism with its own method, linearized in the wrenches f at its connected wrench ports:
 *
 *   w(t + h)               = velocity + mobility (f - f0)
 *   displacement over h    = displacement + theta h mobility (f - f0)
 *
 * f0 are the wrenches of the inputs. Rows and columns as in yk_interface_model. That model describes the mechanism without
 * the method: a method with a memory answers to a wrench of one step during several steps. Displacements of markers:
 * position 3, and the rotation vector 3 (global axes) from the orientation at t to that at t + h. */
typedef struct yk_step_model {
    int row_count; /* Set by the caller, as are the arrays. */
    /* Set by the caller: number of equal substeps from t to t + h, with one wrench over all of them. 0 counts as 1. */
    int substep_count;
    double *velocity;
    double *displacement;
    double *mobility; /* row_count x row_count, row-major. */
    double theta;
    /* Time within the step at which a constant wrench appears to act on the positions. 1: at the end (implicit methods that
     * evaluate forces there); 1/2: over the whole step; 0: at the start (semi-implicit Euler). */
    double wrench_point;
    /* Memory of the method. Constant wrenches f of this step, f1 of the last step and f2 of the step before change the
     * velocity of a free mass in this step by y h / mass with
     * y = wrench_weights[0] f + wrench_weights[1] f1 + wrench_weights[2] f2 - memory_factor y1, where y1 belongs to the last
     * step. Methods without a memory have the weights 1, 0, 0 and the factor 0. */
    double wrench_weights[3], memory_factor;
    /* Set by the caller: the mobility of an earlier step is accurate enough. The subsystem may then skip its computation. */
    bool omit_mobility;
} yk_step_model;

/* Capabilities ---------------------------------------------------------------------------------
 *
 * Capabilities of a subsystem in addition to stepping, in groups. A group is a constant table that begins with its size. It is either
 * absent (NULL) or complete. Schemes ask for groups before a run starts. */

/* Rollback, checkpoints and finite differences, after initialize. Setting an image that was read before restores the state
 * bit for bit and discards an open trial. */
typedef struct yk_rollback_ops {
    size_t size; /* sizeof(yk_rollback_ops); the same in all groups below. */
    yk_state_layout (*layout)(const yk_subsystem *self);
    void (*get)(const yk_subsystem *self, double *image);
    yk_status (*set)(yk_subsystem *self, const double *image);
} yk_rollback_ops;

/* Single iterations of the solver. */
typedef struct yk_iteration_ops {
    size_t size;
    /* One iteration towards the state at t + h. The first call after step, initialize or a rollback opens a trial from the
     * predicted state. Outputs are those of the trial until step closes it. */
    yk_status (*iterate)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                         yk_iteration_report *report);
} yk_iteration_ops;

/* Derivatives of a step with respect to its inputs. */
typedef struct yk_sensitivity_ops {
    size_t size;
    /* Makes a step, and fills the derivatives of the motions at t + h of all connected wrench ports with respect to the
     * coefficients 0 to `degree` of their inputs. Row-major. Rows, by port: position 3, rotation 3 (a rotation vector in
     * global axes), velocity 3, angular velocity 3, acceleration 3, angular acceleration 3; for a scalar port position,
     * velocity and acceleration. Columns, by port, then by power of time: force 3 and torque 3; one for a scalar port. */
    yk_status (*step_with_sensitivity)(yk_subsystem *self, double t, double h,
                                       const yk_input *inputs, int degree, double *matrix);
} yk_sensitivity_ops;

/* The interface model (yk_interface_model). */
typedef struct yk_interface_model_ops {
    size_t size;
    /* Evaluates the model for a step from t to t + h at the present state (Peiret et al. 2020, equations 5 to 7; with contact and
     * friction 36 to 44). Contacts keep the state of the last step (sticking, slipping or open), unless the wrenches of that
     * step would now open or close them. If they keep it, a step gives the velocities of the model, except for terms of
     * second order in the rotations over h. Only the inputs of motion ports are read; wrenches count as zero. State and
     * outputs do not change. */
    yk_status (*evaluate)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                          yk_interface_model *model);
} yk_interface_model_ops;

/* The step model (yk_step_model). */
typedef struct yk_step_model_ops {
    size_t size;
    /* Evaluates the model for a step from t to t + h with these inputs, linearized around the prediction of the solver.
     * Cheaper than a step. State and outputs do not change. */
    yk_status (*evaluate)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                          yk_step_model *model);
} yk_step_model_ops;

/* Creation of new subsystems of the same kind. */
typedef struct yk_merge_ops {
    size_t size;
    /* Creates one subsystem from parts of the same kind that joints connect. Its ports are those of the parts in order, all
     * unconnected, in the units and axes of the whole. Its channels are those of the parts in order, in the units and axes of
     * their part, followed by channels of its own. The parts do not change. The merged subsystem is the reference for every
     * coupling scheme. */
    yk_status (*merge)(const yk_merge_def *def, yk_subsystem **merged);
    /* Creates a free mass at rest, in the units of mass of the subsystem, with the same integrator and options. It has one
     * port of the given kind, whose motion along x is that of the mass. A marker starts at the origin, a scalar port at 1.
     * Analyses use it to find the stability limits of coupling schemes. YK_ERROR_CAPABILITY: there is no such port. */
    yk_status (*create_free_mass)(const yk_subsystem *self, double mass, yk_port_kind kind,
                                  yk_subsystem **made);
} yk_merge_ops;

/* A mechanism of rigid bodies as plain data, which only the solvers of the library exchange. */
typedef struct yk_rigid_parts yk_rigid_parts;

/* Description of a mechanism for a solver of another kind. */
typedef struct yk_rigid_parts_ops {
    size_t size;
    /* YK_ERROR_CAPABILITY: the subsystem has other parts than rigid bodies, and the last message of the context names them. */
    yk_status (*describe)(const yk_subsystem *self, yk_rigid_parts *parts);
} yk_rigid_parts_ops;

/* Merging with mechanisms of other kinds of solvers. */
typedef struct yk_rigid_merge_ops {
    size_t size;
    /* Like yk_merge_ops.merge. At least one part is of this kind, and the others have yk_rigid_parts_ops. */
    yk_status (*merge)(const yk_merge_def *def, yk_subsystem **merged);
} yk_rigid_merge_ops;

/* Relaxed coupling (Zhou et al. 2022, section 4): the parts of a merged subsystem move one by one, each by its own equations
 * with the present coordinates of the others. A subsystem with this group passes the group on to merged subsystems. */
typedef struct yk_relaxed_ops {
    size_t size;
    /* One relaxation of a part towards t + h, with the coordinates of the other parts in the trial. The first call after
     * initialize, step or a rollback opens the trial; step accepts the trial without further iterations. Data that are kept
     * for later steps are part of the state. *change: the largest change of a velocity of the part, as a fraction of the
     * typical velocity of the whole. */
    yk_status (*relax_part)(yk_subsystem *self, int part, double t, double h,
                            const yk_input *inputs, double *change);
    /* The coordinates of a part in a trial, as *words doubles, for another subsystem that was merged from the same parts and
     * has the same state. The first *unknowns words are those that the part solves for; others may be set instead.
     * Allocates the memory for relaxing. After initialize; get and set in an open trial. YK_ERROR_CAPABILITY: the parts cannot
     * be relaxed, and last_message() has the reason. */
    yk_status (*part_state_size)(yk_subsystem *self, int part, size_t *words, size_t *unknowns);
    void (*get_part_state)(yk_subsystem *self, int part, double *words);
    void (*set_part_state)(yk_subsystem *self, int part, const double *words);
} yk_relaxed_ops;

/* Discontinuities of the subsystem's own. */
typedef struct yk_event_ops {
    size_t size;
    /* The first time after t at which a quantity of the subsystem jumps or has a kink, as far as the subsystem knows: a
     * function of time, a sample. Infinity: none. Macro steps end there and nothing is extrapolated over that time, unless
     * the events of one subsystem follow each other as fast as macro steps. */
    double (*next_time)(const yk_subsystem *self, double t);
} yk_event_ops;

/* Energies. */
typedef struct yk_energy_ops {
    size_t size;
    void (*read)(const yk_subsystem *self, yk_energy *energy);
} yk_energy_ops;

/* Quantities that can be recorded in addition to those of the ports: reactions, body motions, pressures. */
typedef struct yk_channel_ops {
    size_t size;
    /* The channels, constant as long as the subsystem exists; returns their number. */
    int (*list)(const yk_subsystem *self, const yk_channel **list);
    void (*read)(const yk_subsystem *self, int channel, double *values);
} yk_channel_ops;

/* Geometry for pictures: bodies, which move, and shapes, which are fixed to bodies. */
typedef struct yk_scene_ops {
    size_t size;
    /* After initialize, and constant from then on. Each fills at most `capacity` entries and returns the total number. */
    int (*bodies)(const yk_subsystem *self, yk_scene_body *list, int capacity);
    int (*shapes)(const yk_subsystem *self, yk_shape *list, int capacity);
    /* The present poses of all bodies. */
    void (*poses)(const yk_subsystem *self, yk_scene_pose *list);
    /* The acceleration of gravity; zero without gravity. */
    yk_vec3 (*gravity)(const yk_subsystem *self);
} yk_scene_ops;

/* Contact points. */
typedef struct yk_contact_point_ops {
    size_t size;
    /* Fills at most `capacity` points, those with the largest forces, and returns their number. With a capacity of 0:
     * returns the largest possible number. */
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

/* Subsystems in other processes: steps that begin before the caller waits for them, so that several processes compute at the
 * same time, and a state that stays in the other process. */
typedef struct yk_remote_ops {
    size_t size;
    /* Sends the inputs of a step ahead. `left` more steps will follow in the same way; all of them begin when the last one is
     * sent. The following calls of `step` with the same times wait for the results of these steps, one after another. */
    yk_status (*begin_step)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                            int left);
    /* Sends the request for a step model ahead; row_count and substep_count of the model are set. */
    yk_status (*begin_step_model)(yk_subsystem *self, double t, double h, const yk_input *inputs,
                                  const yk_step_model *model);
    /* Sends the request for a relaxation of a part ahead, from the state of an image if one is given. */
    yk_status (*begin_relax)(yk_subsystem *self, int part, double t, double h,
                             const yk_input *inputs, const double *image);
    /* Saves the state in the other process, and restores the state that was saved last. Neither waits: an error is reported
     * by the next call. */
    void (*save_state)(yk_subsystem *self);
    yk_status (*restore_state)(yk_subsystem *self);
    /* The status of calls that return none, such as those that read the state, energies and channels. Their results are
     * valid if this is YK_OK. */
    yk_status (*last_status)(const yk_subsystem *self);
} yk_remote_ops;

/* Subsystems that an external coupling library controls, which exchanges data once per time window. Such a subsystem is
 * called after all others of its macro step: it receives motions that were reached, and its wrenches are those of the next
 * step. The library may ask for a window again until its own iterations converge. */
typedef struct yk_time_window_ops {
    size_t size;
    /* Length of windows that may have to be repeated (s), which must be the macro step. 0: no window is repeated. After
     * initialize. */
    double (*repeatable_window)(const yk_subsystem *self);
    /* Whether the macro step that was just made must be repeated. All other subsystems have then returned to its start, and
     * outputs are those at its start, except for the data that the library now offers. */
    bool (*must_repeat)(const yk_subsystem *self);
} yk_time_window_ops;

/* The table of a subsystem --------------------------------------------------------------------- */

typedef struct yk_subsystem_ops {
    size_t
        size; /* sizeof(yk_subsystem_ops) of the header that the implementation was compiled with. */
    const char *kind; /* "oscillator", "multibody" */

    /* Required. */

    /* The ports, constant as long as the subsystem exists; returns their number. */
    int (*ports)(const yk_subsystem *self, const yk_port **list);
    /* Determines the causality of a port, before initialize and at most once per port. `constrained` has the yk_axis bits of
     * the motions that are prescribed (YK_CAUSALITY_MOTION_INPUT), or along which wrenches arrive
     * (YK_CAUSALITY_WRENCH_INPUT). */
    yk_status (*connect)(yk_subsystem *self, int port, yk_causality causality,
                         unsigned constrained);
    /* Computes a consistent initial state at time t for steps of size h. Outputs are valid afterwards. A repeated call starts
     * from the initial positions and velocities again. `inputs` (one per port, at local time 0) are initial wrenches and
     * accelerations that are consistent with the partners; NULL: unknown. */
    yk_status (*initialize)(yk_subsystem *self, double t, double h, const yk_input *inputs);
    /* Advances the state from t to t + h. `inputs` has one input per port in the order of the ports; inputs of ports that are
     * not connected are not read. An open trial is iterated to convergence with these inputs and closed. */
    yk_status (*step)(yk_subsystem *self, double t, double h, const yk_input *inputs);
    void (*get_port_value)(const yk_subsystem *self, int port, yk_port_value *value);
    void (*destroy)(yk_subsystem *self);

    /* Optional. NULL has the effect of the default that is named. */

    /* The message of a call that did not return YK_OK, valid until the next call. Default: the text of the status. */
    const char *(*last_message)(const yk_subsystem *self);
    /* The motion at t + h as the solver extrapolates it before it knows the inputs. The state does not change. Default: the
     * coupling extrapolates the outputs. */
    void (*predict)(const yk_subsystem *self, int port, double h, yk_motion *motion);
    /* Asymptotic spectral radius of the method, 0 to 1, for extrapolations of outputs over macro steps with substeps.
     * Default: 0.6. */
    double (*rho_inf)(const yk_subsystem *self);
    /* Degree of the polynomials in time up to which one step follows a wrench. Default: 0, one value or the mean. */
    int (*max_input_degree)(const yk_subsystem *self);
    /* Moves a marker port on its body, before it is connected. With the body in its initial pose, the origin of the port is
     * at `position` and its axes are `orientation`, in the global frame of the subsystem; NULL: unchanged. Default: ports
     * cannot be moved. */
    yk_status (*move_port)(yk_subsystem *self, int port, const yk_vec3 *position,
                           const yk_quat *orientation);

    /* Whether state images are valid in this process only, such as the number of a state that another program keeps. Such
     * images cannot be written to a file. After initialize. Default: false. */
    bool (*is_state_process_local)(const yk_subsystem *self);
    /* Announces how the run will use state images. Called before initialize, and after it if the use grows. The layout of
     * images is asked for only if images are used. For subsystems that must prepare for images, such as FMUs. Default: no
     * preparation. */
    void (*expect_states)(yk_subsystem *self, yk_state_use use);
    /* The unit of a number of a port; `offset` is its position in yk_port_value, counted in doubles. NULL or "": unknown.
     * Default: SI units of the quantities, and no unit for signals. */
    const char *(*port_unit)(const yk_subsystem *self, int port, int offset);
    /* Plain data that count events since the start and appear in channels, but are not part of the state: sets their address
     * and returns their size in bytes. A run that is resumed from a checkpoint restores them. Default: none. */
    size_t (*counters)(yk_subsystem *self, void **data);

    /* Direct feed-through: whether an output at the end of a step depends on the signal at an input port at that time,
     * however short the step is. The output is a component of a port, or of a channel if `port` is -1. States (positions,
     * velocities, integrals) do not depend on it. Wires that feed back to themselves in this way are algebraic loops, which
     * the coupling solves. Default: true for signal ports, false for channels and ports with power. */
    bool (*feeds_through)(const yk_subsystem *self, int input, int port, int channel,
                          int component);
    /* Whether the steps inside the subsystem do not follow the macro step, so that a run with other macro steps repeats their
     * errors and no estimate of the error covers them. After initialize. Default: false. */
    bool (*keeps_own_steps)(const yk_subsystem *self);
    /* The number of the vector that a channel is a part of, such as the modal amplitudes of a body: the error of a small part
     * is judged by the range of the largest part with the same unit. 0: a quantity of its own. Default: 0. */
    int (*channel_vector)(const yk_subsystem *self, int channel);
    /* Whether a channel says how the solver worked, such as a residual or the number of contacts that it considers. Such
     * channels change with the step and are not judged as results. Default: false. */
    bool (*is_diagnostic_channel)(const yk_subsystem *self, int channel);

    /* Capabilities; NULL: absent. */

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
    const yk_rigid_parts_ops *rigid_parts;
    const yk_rigid_merge_ops *rigid_merge;
} yk_subsystem_ops;

/* Implementations have this as their first member. */
struct yk_subsystem {
    const yk_subsystem_ops *ops;
};

#ifdef __cplusplus
}
#endif

#endif
