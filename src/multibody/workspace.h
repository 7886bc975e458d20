/* The workspace of a step: the present trial, the loads on it, the right-hand side, and the
 * integrator's parameters of the equations. Between steps the trial equals the accepted state, and
 * outputs are read from it. None of it needs to be saved: yk_multibody_trial_from_state()
 * recomputes it. */
#ifndef YK_MULTIBODY_WORKSPACE_H
#define YK_MULTIBODY_WORKSPACE_H

#include "math/integrators.h"
#include "multibody/rotation.h"
#include "multibody/state.h"

/* A node in the present step. */
typedef struct trial_node {
    yk_frame frame;
    yk_quat orientation;
    yk_vec3 phi_rate;
    yk_rotation rotation;
    yk_vec3 position_past, phi_past;
    yk_momentum momentum_past;
    yk_momentum momentum, momentum_rate;
    yk_vec3 acceleration,
        angular_acceleration; /* of prescribed frames, and of all after the step */
} trial_node;

/* A generalized coordinate in the present step. */
typedef struct trial_coordinate {
    double value, rate;
    double value_past, momentum_past;
    double momentum, momentum_rate;
    double acceleration;
    double load;
} trial_coordinate;

/* A flexible body in the step: the trial's coordinates in contiguous arrays, from which the body
 * reads them. */
typedef struct flexible_trial {
    double *value, *rate, *second;
    double *tangent; /* of one element */
    /* modal bodies: loads in addition to the momenta, set by yk_multibody_inertias() */
    yk_ffrf_loads *loads;
} flexible_trial;

/* An attachment of a flexible body in the step. */
typedef struct attachment_trial {
    /* 6 x count, row-major: displacement and rotation of the attachment caused by changes of the
     * unknowns that move it */
    double *jacobian;
    yk_ffrf_pose pose;
    yk_wrench port; /* wrench of the ports, apart from its load */
} attachment_trial;

typedef struct yk_multibody_workspace {
    const yk_multibody *owner; /* owner of the channels that feedbacks read */

    /* The trial: nodes, then ground, then prescribed frames, then attachments; coordinates;
     * multipliers. */
    bool open;
    double t, h, c; /* end of the present step, its size, b0 h */
    trial_node *trial;
    trial_coordinate *coordinates;
    double *lambda;
    double *angle; /* references of angles, from the state */
    flexible_trial *flexibles;
    attachment_trial *attachments;
    double *flexible_store;
    yk_ffrf_loads *flexible_loads;

    /* Inputs of the step. */
    const yk_input *inputs;
    yk_input *own_inputs; /* if the caller gives none */
    double input_time;    /* local time of inputs at the end of the trial */
    /* on each port, at the end of the trial; force.x of a signal port: the signal */
    yk_wrench *wrench;

    /* Per node: wrenches that the program applies (access.c); NULL: there were none yet. */
    yk_wrench *pushed;

    /* Parameters of the equations: set by the start or the integrator, read by assembly. */
    double damping;    /* artificial, at the end of the step */
    double compliance; /* e of the matrix */
    /* Per constraint row: left out because it follows from the other rows in every position
     * (initialize.c). Its multiplier is 0. */
    bool *dependent_row;
    double rotation_weight; /* YK_ROTATION_OF_STEP, except when the matrix is read for modes */
    double drive_step;      /* step for the time derivatives of drives; 0: that of the start */
    /* not zero: constraints are (d/dt + this)^2 c = 0 (1/s); multiplied by row_weight in a step */
    double stabilisation;
    /* the constraints on velocity level are d/dt + stabilisation, and those on position level follow
     * another equation (chebyshev.c) */
    bool stabilises_velocities;
    double row_weight, velocity_row_weight;
    /* of massless nodes, as a fraction of the typical mass; zero except at the start */
    double idle_mass;

    /* Results of assembly. */
    yk_wrench *load; /* per frame: applied forces */
    double *right;   /* right-hand side and solution */
    double *work_vector;
    double supply, port_supply, loss, potential;

    /* Newton's method. */
    int iteration;
    /* iterations by calls of iterate: their corrections follow changing inputs, and do not measure
     * the contraction */
    bool iterated;
    bool new_inputs; /* since the last correction */
    bool refresh;    /* make new factors in the next iteration */
    bool refreshed;  /* factors were made in this step */
    double first_correction, last_correction;
    double extent; /* largest coordinate of a node: scale of the rounding errors of positions */

    /* Data of the integrator. */
    yk_two_step method;
    double size;     /* next internal step of a trial, with error control */
    double *scratch; /* as long as the integrator requested */
    bool varying;    /* the step also computes its derivatives (step_sensitivity.h) */
    bool relaxing;   /* the open trial results from relaxations (relaxed.c) */

    yk_multibody_report report;
} yk_multibody_workspace;

/* workspace.c: allocates all arrays. */
yk_status yk_multibody_workspace_create(const yk_multibody_model *model,
                                        yk_multibody_workspace *work);
void yk_multibody_workspace_release(const yk_multibody_model *model, yk_multibody_workspace *work);
/* Includes all constraint rows again. */
void yk_multibody_use_all_rows(const yk_multibody_model *model, yk_multibody_workspace *work);

double yk_multibody_damping_at(const yk_multibody_model *model, double t);
/* Moves the frames that inputs prescribe to the end of the trial. */
void yk_multibody_input_frames(const yk_multibody_model *model, yk_multibody_workspace *work);
/* Adds the solution in work->right to the trial: changes of positions, times `fraction`; changes of
 * velocities; accelerations and multipliers, or multipliers only. */
void yk_multibody_move_nodes(const yk_multibody_model *model, yk_multibody_workspace *work,
                             double fraction);
void yk_multibody_add_velocities(const yk_multibody_model *model, yk_multibody_workspace *work);
void yk_multibody_read_accelerations(const yk_multibody_model *model, yk_multibody_workspace *work);
void yk_multibody_read_multipliers(const yk_multibody_model *model, yk_multibody_workspace *work);
/* The largest change of a position in work->right, relative to the size of the model. */
double yk_multibody_largest_change(const yk_multibody_model *model,
                                   const yk_multibody_workspace *work);
/* Momenta of all nodes and coordinates, and their rates from the trial's accelerations. */
void yk_multibody_momenta(const yk_multibody_model *model, yk_multibody_workspace *work);
/* Adds the power of prescribed motions to work->supply. */
void yk_multibody_drive_powers(const yk_multibody_model *model, yk_multibody_workspace *work);
/* Adds work and losses of the finished step, by the trapezoidal rule over the powers at its ends. */
void yk_multibody_balance_energy(const yk_multibody_model *model, yk_multibody_state *state,
                                 yk_multibody_workspace *work);
/* Saves the placement of the trial (frames and coordinates with their rates) at which a matrix or a
 * Jacobian was computed; exchanges it with a saved one. */
void yk_multibody_keep_placement(const yk_multibody_model *model,
                                 const yk_multibody_workspace *work, yk_frame *frames,
                                 coordinate_reference *coordinates);
void yk_multibody_swap_placement(const yk_multibody_model *model, yk_multibody_workspace *work,
                                 yk_frame *frames, coordinate_reference *coordinates);
/* Stores wrenches on ports and prescribed frames in the state. */
void yk_multibody_keep_inputs(const yk_multibody_model *model, yk_multibody_state *state,
                              const yk_multibody_workspace *work);
void yk_multibody_trial_from_state(const yk_multibody_model *model, const yk_multibody_state *state,
                                   yk_multibody_workspace *work);
void yk_multibody_state_from_trial(const yk_multibody_model *model, yk_multibody_state *state,
                                   yk_multibody_workspace *work);

/* flexible.c: frames of the attachments of flexible bodies. Evaluates the frames of all attachments
 * at the trial, and on request: data that transfer loads from them; maps from the unknowns; and the
 * part of their accelerations that remains if those of the unknowns are zero. */
enum { ATTACHMENT_FRAMES = 0, ATTACHMENT_LOADS = 1, ATTACHMENT_MAPS = 2, ATTACHMENT_BIASES = 4 };
void yk_multibody_place_flexibles(const yk_multibody_model *model, yk_multibody_workspace *work,
                                  unsigned what);
/* The same if there are attachments, for outputs. */
void yk_multibody_show_attachments(const yk_multibody_model *model, yk_multibody_workspace *work);
/* Accelerations of the attachments, from those of the trial. */
void yk_multibody_accelerate_attachments(const yk_multibody_model *model,
                                         yk_multibody_workspace *work);
/* A frame with its acceleration and orientation: from the trial, or stored in `own` for an
 * attachment whose frame has been evaluated. */
const trial_node *yk_multibody_shown(const yk_multibody_model *model,
                                     const yk_multibody_workspace *work, int frame,
                                     trial_node *own);
void yk_multibody_start_flexibles(const yk_multibody_model *model, yk_multibody_state *state);
/* Points of a rod's line for pictures; none for other bodies. */
int yk_multibody_outline(const yk_multibody_model *model, int flexible);
yk_vec3 yk_multibody_outline_point(const yk_multibody_model *model,
                                   const yk_multibody_workspace *work, int flexible, int point);
/* Adds scale times a wrench on a frame to the unknowns that move the frame; and the motion of a
 * frame caused by changes of unknowns. */
void yk_multibody_push_frame(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int frame, double scale, const yk_wrench *wrench, double *right);
void yk_multibody_pull_frame(const yk_multibody_model *model, const yk_multibody_workspace *work,
                             int frame, const double *change, yk_vec3 *linear, yk_vec3 *angular);

/* flexible.c: momenta, loads and energies of flexible bodies. */
void yk_multibody_flexible_inertias(const yk_multibody_model *model, yk_multibody_workspace *work,
                                    bool with_rates);
/* Momenta and their rates from the trial's accelerations. */
void yk_multibody_flexible_momenta(const yk_multibody_model *model, yk_multibody_workspace *work);
void yk_multibody_flexible_energy(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, yk_energy *energy);
double yk_multibody_flexible_loss(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work);
double yk_multibody_flexible_strain(const yk_multibody_model *model,
                                    const yk_multibody_workspace *work, int flexible);

/* outputs.c: power of the damping of beams in the present trial. It must be computed from the
 * converged motion: a predicted motion has strain rates of high modes that the step does not have. */
double yk_multibody_beam_loss(const yk_multibody_model *model, const yk_multibody_workspace *work);
void yk_multibody_motion_of(const trial_node *node, const yk_marker *marker, yk_motion *motion);
/* Output of a port at the trial. */
void yk_multibody_port_output(const yk_multibody_model *model, const yk_multibody_workspace *work,
                              int port, yk_port_value *value);

#endif
