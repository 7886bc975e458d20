/* The multibody solver as one object, and its equations.
 *
 * The object consists of four parts. A file includes the parts that it needs:
 *
 *   model.h           constant: nodes, joints, forces, beams, flexible bodies, ports, numbers
 *   state.h           the image that rollback saves
 *   workspace.h       the trial of the present step, its loads and its right-hand side
 *   linear_solver.h   the matrix, its factors and its scaling
 *
 * assemble.h makes the equations of a trial; integrator.h advances the object in time.
 *
 * Time integration. The two-step method (Zhang et al. 2020, equation 2) is applied to positions and
 * to momenta:
 *
 *   x = x_past + c v,   p = p_past + c p',   c = b0 h,
 *
 * where x_past and p_past contain the terms of the last two steps. So v is the only unknown of a
 * node's translation, and a Newton step changes x by dx = c dv. Rotations use the same formula in
 * the chart phi = log(R R_n^T) around the last accepted rotation, in which phi_n = 0 and phi_(n-1)
 * is minus the last increment. The rate of phi is the unknown, and the angular velocity is T(phi)
 * phi'. A linear multistep method in a chart has its full order, and the chart is never evaluated
 * far from its origin.
 *
 * Newton's method. Equations of a node are multiplied by c^2/s (s: a typical mass) and multipliers
 * by s/c^2, so that
 *
 *   | M/s + O(c)   G^T | | dq        |     | (c^2/s) (p' + G^T lambda - f) |
 *   | G            -e  | | c^2/s dl  | = - | g                             |
 *
 * remains well conditioned as h goes to zero. Rotations are also scaled by a radius of gyration, so
 * that all pivots of a body have a similar size. e is zero unless constraints are redundant
 * (initialize.c). At c = 0 the same matrix is that of the consistent start: assembly of positions,
 * velocities, accelerations.
 *
 * Interface of the integrators. A model consists of elements (nodes with their inertia, forces,
 * beams, joints, ports). An integrator advances it in time without knowing any of them:
 *
 *   placement     work->trial and work->coordinates: elements read positions and velocities from
 *                 them, and an integrator writes them before it assembles. Changes, rates and
 *                 accelerations of all unknowns are in work->right, in the order of the unknowns.
 *   inertia       as momenta in a step (yk_multibody_inertias: p of each node and coordinate, and
 *                 p' = (p - past) / c), as mass matrix and velocity-dependent forces at
 *                 LEVEL_ACCELERATION.
 *   loads         summed by the passes of assemble.c into work->load[frame] and
 *                 work->coordinates[k].load.
 *   constraints   rows of joints, motion ports, and elements that tie coordinates to nodes: value,
 *                 rate, bias and gradient, by level. An element owns row_count rows from its first.
 *
 * yk_multibody_assemble(model, work, solver, level) makes the right-hand side, and the matrix | M/s
 * .. G^T; G -e |, at the trial:
 *
 *   LEVEL_STEP            the equations of an implicit step with weight c = work->c
 *   LEVEL_ACCELERATION    | M G^T; G -e | (a, lambda/s) = (f - bias, -bias of the rows) at the
 *                         trial's positions and velocities
 *   LEVEL_POSITION        gaps of the rows, for projections in the metric of the masses
 *   LEVEL_VELOCITY        rates of the rows, likewise
 *
 * A new element adds its part to each pass of assemble.c (RECORD, ADD, NONE: pattern, matrix and
 * residual cannot differ), its momenta to yk_multibody_inertias(), its coordinates to
 * yk_multibody_coordinates_of() and its initial values to initialize.c. */
#ifndef YK_MULTIBODY_INTERNAL_H
#define YK_MULTIBODY_INTERNAL_H

#include "base/context.h"
#include "multibody/integrator.h"

typedef struct variation variation;

struct yk_multibody {
    yk_subsystem base; /* must be first: the object is a subsystem */
    yk_multibody_model model;
    yk_multibody_state state;
    yk_multibody_workspace work;
    yk_linear_solver solver;
    bool compiled, started;
    yk_own_message message;

    bool warned_cuts; /* the warning about divided steps was given (warnings.c) */
    /* the warning about torques on bodies without inertia was given (warnings.c) */
    bool warned_points;
    struct flexible_watch *watch; /* data of each flexible body for warnings (warnings.c) */
    /* Created at the first request. */
    struct interface_solver *interface;
    variation *variation;          /* of sensitivities */
    struct relaxation *relaxation; /* of the parts of a merged model */
};

/* compile.c: all parts from the def and the connections of the ports. */
yk_status yk_multibody_compile(yk_multibody *multibody);
void yk_multibody_release_compiled(yk_multibody *multibody);

/* initialize.c, statics.c */
yk_status yk_multibody_begin_motion(yk_multibody *multibody);
yk_status yk_multibody_consistent_start(yk_multibody *multibody, double t, double h);
yk_status yk_multibody_equilibrium(yk_multibody *multibody);

/* warnings.c: after a step or the start, warns of flexible bodies that rotate too fast for their
 * shapes or deform too much, and of steps that are too long. Returns the status of the step, or
 * YK_ERROR_DIVERGED if a deformation is out of range. */
yk_status yk_multibody_watch_create(yk_multibody *multibody);
void yk_multibody_watch_release(yk_multibody *multibody);
void yk_multibody_watch_reset(yk_multibody *multibody);
yk_status yk_multibody_watch(yk_multibody *multibody, yk_status status);
yk_status yk_multibody_watch_start(yk_multibody *multibody, yk_status status);

/* rigid_parts.c: of the contract. */
yk_status yk_multibody_describe_rigid(const yk_subsystem *self, yk_rigid_parts *parts);

/* access.c */
extern const yk_body_ops yk_multibody_body_ops;
extern const yk_parameter_ops yk_multibody_parameter_ops;
yk_status yk_multibody_list_parameters(yk_multibody_model *model);
void yk_multibody_release_parameters(yk_multibody_model *model);

/* channels.c */
void yk_multibody_channel_read(const yk_multibody *multibody, int channel, double *values);

/* scene.c: of the contract. */
int yk_multibody_scene_bodies(const yk_multibody *multibody, yk_scene_body *list, int capacity);
int yk_multibody_scene_shapes(const yk_multibody *multibody, yk_shape *list, int capacity);
void yk_multibody_scene_poses(const yk_multibody *multibody, yk_scene_pose *list);

/* interface.c: one velocity of a wrench port: coefficients of the velocities of one or two frames,
 * and its rate at constant velocities. */
typedef struct port_row {
    int frame[2]; /* -1: none */
    yk_vec3 linear[2], angular[2];
    double bias;
} port_row;
/* Six velocities of a marker, one of a distance; none if the port receives no wrench. */
int yk_multibody_port_size(const port_model *port);
void yk_multibody_port_rows(const yk_multibody_model *model, const yk_multibody_workspace *work,
                            port_row *rows);
/* Adds a unit wrench along the row, over the typical mass, to the equations of the nodes. */
void yk_multibody_push(const yk_multibody_model *model, const yk_multibody_workspace *work,
                       const port_row *row, double *right);
/* See yk_interface_model. */
yk_status yk_multibody_interface_model(yk_multibody *multibody, yk_interface_model *out);
void yk_multibody_release_interface(yk_multibody *multibody);
/* See yk_step_model; set work->inputs before. */
yk_status yk_multibody_step_model(yk_multibody *multibody, double t, double h, yk_step_model *out);

/* step_sensitivity.c: the derivatives of a step. */
yk_status yk_multibody_step_sensitivity(yk_multibody *multibody, double t, double h, int degree,
                                        double *matrix);
void yk_multibody_release_variation(yk_multibody *multibody);

/* relaxed.c: parts of a merged model that move one by one: see yk_relaxed_ops in yoke/subsystem.h. */
yk_status yk_multibody_relax(yk_multibody *multibody, int part, double t, double h, double *change);
/* Called before an image replaces the model's own: determines which Jacobians are still valid. */
void yk_multibody_relaxation_compare(yk_multibody *multibody, const double *image);
/* Accepts the open trial as the state, without further iterations. */
yk_status yk_multibody_accept_relaxed(yk_multibody *multibody);
yk_status yk_multibody_part_words(yk_multibody *multibody, int part, size_t *words,
                                  size_t *unknowns);
void yk_multibody_part_get(yk_multibody *multibody, int part, double *words);
void yk_multibody_part_set(yk_multibody *multibody, int part, const double *words);
void yk_multibody_release_relaxation(yk_multibody *multibody);

/* merge.c: of the contract. */
yk_status yk_multibody_merge(const yk_merge_def *merge, yk_subsystem **merged);
yk_status yk_multibody_free_mass(const yk_subsystem *self, double mass, yk_port_kind kind,
                                 yk_subsystem **made);

#endif
