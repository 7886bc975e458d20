/* The solver's own view of a model: constant data, the flat state, and the trial that a step works on.
 *
 * Time integration. The two-step method (tight (2)) is applied to positions and to momenta:
 *
 *   x = x_past + c v,   p = p_past + c p',   c = b0 h,
 *
 * the past holding all that is known of the last two steps. So v is the only unknown of a node's translation and each
 * Newton step moves dx = c dv. Rotations take the same formula in the chart phi = log(R R_n^T) around the last accepted
 * rotation, where phi_n = 0 and phi_(n-1) is minus the last increment; the rate of phi is the unknown and the angular
 * velocity is T(phi) phi'. A linear multistep method in a chart is of its full order, and no chart is ever far from its
 * origin.
 *
 * Newton's method. Equations of a node are multiplied by c^2/s (s: a typical mass) and multipliers by s/c^2, so that
 *
 *   | M/s + O(c)   G^T | | dq        |     | (c^2/s) (p' + G^T lambda - f) |
 *   | G            -e  | | c^2/s dl  | = - | g                             |
 *
 * keeps its condition as h goes to zero. Rotations are further scaled by a radius of gyration, so that all pivots of a
 * body are of one size. e is zero unless constraints are redundant (redundancy.c). At c = 0 the same matrix is that of
 * the consistent start: assembly of positions, velocities, accelerations.
 *
 * The seam of the integrators. A model is made of elements (nodes with their inertia, forces, beams, joints, ports), and
 * an integrator carries it through time without knowing any of them:
 *
 *   unknowns      nodes first, six each (displacement, rotation); then generalised coordinates, one each, from
 *                 coordinate_first (what a flexible body has beyond its nodes: modal amplitudes, gradients); together
 *                 motion_count. Then one multiplier per constraint row, from motion_count. Changes, rates and
 *                 accelerations of all of them lie in this order in model->right.
 *   placement     model->trial (nodes, then ground, then prescribed frames) and model->coordinates: where the elements
 *                 read positions and velocities, and where an integrator writes them before it assembles.
 *   inertia       as momenta in a step (yk_smooth_inertias: p of each node and coordinate, and p' = (p - past) / c), as
 *                 mass matrix and velocity-dependent forces at LEVEL_ACCELERATION.
 *   loads         summed up by the passes of assemble.c into model->load[frame] and model->coordinates[k].load.
 *   constraints   rows of joints, motion ports, and whatever element ties coordinates to nodes: value, rate, bias and
 *                 gradient, by level. An element owns row_count rows from its first.
 *
 *   yk_smooth_assemble(model, level, with_matrix)    right-hand side, and the matrix | M/s ..  G^T; G  -e | at the trial
 *   LEVEL_STEP            the equations of an implicit step with weight c = model->c
 *   LEVEL_ACCELERATION    | M G^T; G -e | (a, lambda/s) = (f - bias, -bias of the rows) at the trial's positions and velocities
 *   LEVEL_POSITION, LEVEL_VELOCITY    gaps of the rows and their rates, for projections in the metric of the masses
 *
 * A new element adds its share to each pass of assemble.c (RECORD, ADD, NONE: pattern, matrix and residual cannot differ),
 * its momenta to yk_smooth_inertias, its coordinates to coordinates_of() in compile.c and its initial values to start.c.
 * A new integrator adds a row to the table of integrator.c. Its state is the image: `now` is what elements and outputs
 * are read from, `before` and the rest belong to the two-step method. */
#ifndef YK_SMOOTH_INTERNAL_H
#define YK_SMOOTH_INTERNAL_H

#include "math/sparse.h"
#include "math/two_step.h"
#include "smooth/place_part.h"
#include "smooth/smooth.h"
#include "smooth/turn.h"

/* A node at an accepted time; doubles only, part of the image. */
typedef struct node_state {
    yk_vec3 position;
    yk_quat orientation;
    yk_vec3 velocity;
    yk_vec3 angular_velocity;
    yk_momentum momentum;
    yk_momentum momentum_rate;
    yk_vec3 acceleration;
    yk_vec3 angular_acceleration;
} node_state;

/* A generalised coordinate at an accepted time; doubles only, part of the image. */
typedef struct coordinate_state {
    double value, rate;
    double momentum, momentum_rate;
    double acceleration;
} coordinate_state;

/* A generalised coordinate in the step that is being solved. */
typedef struct trial_coordinate {
    double value, rate;
    double value_past, momentum_past;
    double momentum, momentum_rate;
    double acceleration;
    double load;
} trial_coordinate;

/* Where a coordinate was when the matrix was assembled. */
typedef struct coordinate_reference {
    double value, rate;
} coordinate_reference;

/* A node in the step that is being solved. */
typedef struct trial_node {
    yk_frame frame;
    yk_quat orientation;
    yk_vec3 phi_rate;
    yk_turn turn;
    yk_vec3 position_past, phi_past;
    yk_momentum momentum_past;
    yk_momentum momentum, momentum_rate;
    yk_vec3 acceleration, angular_acceleration; /* of prescribed frames, and of all after the step */
} trial_node;

typedef struct node_model {
    const char *name;
    yk_inertia inertia;
    int unknown; /* first of six; -1: ground, prescribed, or a place of a flexible body */
    int place;   /* of a flexible body: index of places; else -1 */
    bool massive, eccentric;
    bool keep; /* heavy in the assembly of positions and velocities */
} node_model;

typedef struct joint_model {
    const char *name;
    yk_joint joint;
    int node[2];
    int row; /* first equation, counted from the first multiplier */
    unsigned stiffness_mask;
    bool chained; /* an end is a place of a flexible body */
    yk_smooth_function drive;
    double drive_unit;
    int port; /* motion port that made it, or -1 */
} joint_model;

typedef struct force_model {
    const char *name;
    yk_force_law law;
    int node[2];
    bool chained;
    yk_smooth_function load;
    double load_unit;
    int input; /* signal port, or -1 */
    int first_channel;
} force_model;

typedef struct beam_model {
    const char *name;
    yk_beam beam;
    int node[YK_BEAM_NODES];
} beam_model;

/* A flexible body in the model; the arrays hold what the trial's coordinates say, side by side. */
typedef struct flexible_model {
    const char *name;
    const yk_flexible *body;
    int node;       /* of the floating frame; -1 for rods */
    int coordinate; /* first */
    double *value, *rate, *second;
    double *tangent;                       /* work space of one element */
    yk_ffrf_loads *loads;                  /* of a modal body beside its momenta, from yk_smooth_inertias on */
    bool told_spin, told_steps, told_size; /* warned since start (watch.c) */
    int steps_seen, steps_coarse;
    double largest; /* deformation since start (m) */
    double vibrating,
        drawn; /* largest kinetic energies since start: of the deformation, and of what bending draws in (J) */
    bool told_drawn;
} flexible_model;

enum { PLACE_MOVES = 1, PLACE_TURNS = 2 };

/* A place of a flexible body. Its frame follows the coordinates, so nothing is solved for it: `jacobian` (6 x count, by
 * rows) maps changes of the unknowns `column` to its displacement and rotation. */
typedef struct place_model {
    int flexible, place;
    int frame;
    int count;
    int *column;
    unsigned char *moves; /* per column: PLACE_MOVES, PLACE_TURNS as far as it can by structure */
    double *jacobian;
    yk_ffrf_pose pose;
    yk_effort port; /* what ports exert on it, apart from its load */
} place_model;

/* Vectors of unknowns that turn with a body (corotation.c). */
typedef struct carried_model {
    int first, vectors;
    int node; /* whose rotation carries them; -1: the section of a rod, by r_y and r_z from coordinate `section` on */
    int section;  /* as an unknown */
    yk_mat3 then; /* axes when the factors were made */
    yk_mat3 turn; /* since; work space of a solution */
} carried_model;

typedef struct port_model {
    yk_smooth_port_def def;
    int node[2]; /* as indices of frames */
    yk_causality causality;
    unsigned constrained;
    int joint;                /* of a motion port */
    int merged, merged_count; /* of a port that merging has joined: its joints, and which side of them is the port's */
    int merged_side;
    int driver;        /* its prescribed frame, an index of nodes; -1 */
    yk_joint distance; /* of a scalar port */
    yk_effort effort;  /* that it takes, at the end of the trial; force.x of a signal port: the signal */
} port_model;

/* Counters and sums that belong to the state but are no coordinates; all eight bytes wide. */
typedef struct clock_state {
    double t, h;
    int64_t steps;     /* since start; 0: no past yet */
    double rate;       /* last measured contraction of the iteration with factors of an earlier step, per step of age */
    double fresh_rate; /* the same in the step in which factors were made, not per step */
    double age;        /* of the factors, in steps */
    double refresh;    /* not zero: make new factors in the next step */
    double unmeasured; /* steps since a contraction was measured */
    double correction; /* first correction of the last step: its estimated local error */
    double size;       /* of the next internal step, with error control */
    double h_before;   /* size of the step before the last */
    double unchanged;  /* steps since the size changed */
    double redundant;  /* not zero: joint equations depend on each other, multipliers of least norm are wanted */
    double work, port_work, dissipated;
    double supply, port_supply, loss; /* powers at t; of the supply, what comes through ports */
} clock_state;

/* What the matrix was assembled at, so that a rollback can make the same factors again. */
typedef struct factor_state {
    double c;
    double t;
    double damping;
    double level; /* an assembly_level: LEVEL_STEP or LEVEL_ACCELERATION */
} factor_state;

/* What the Jacobian of a part was made at, likewise, and how it serves (relaxation.c). In the image the placement follows:
 * all frames, then all coordinates. */
typedef struct part_state {
    double t, h; /* h = 0: there is none */
    double stale;
    double rate;    /* last measured contraction */
    double trusted; /* relaxations since */
} part_state;

/* Pointers into the flat image. */
typedef struct state_view {
    node_state *now, *before;
    coordinate_state *coordinate_now, *coordinate_before;
    yk_vec3 *turn;                    /* rotation from before to now */
    yk_vec3 *older_move, *older_turn; /* the same one step earlier, for the local error */
    double *older_change;             /* and of each coordinate */
    double *lambda;                   /* multipliers of now */
    double *lambda_before;
    double *method;      /* accelerations of an integrator's own, one per unknown of motion */
    yk_effort *effort;   /* that each port took */
    yk_frame *driven;    /* prescribed frames */
    double *parts;       /* part_words each, beginning with a part_state; where parts can be relaxed */
    yk_frame *reference; /* frames and multipliers at the last assembly of the matrix */
    coordinate_reference *reference_coordinate;
    double *reference_lambda;
    factor_state *factor;
    clock_state *clock;
} state_view;

/* How a model moves through time; all operations with model->inputs set. */
typedef struct integrator {
    /* After a consistent start: factors and memory of the first step. */
    yk_status (*begin)(yk_smooth *model);
    /* From the accepted state at t to t + h; an open trial is carried to convergence. */
    yk_status (*advance)(yk_smooth *model, double t, double h);
    /* One iteration towards t + h; the outcome stays in the trial, which is open then. */
    yk_status (*iterate)(yk_smooth *model, double t, double h, yk_iteration *report);
    /* The motion of a node at t + h before the inputs are known. */
    void (*predict)(const yk_smooth *model, int node, double h, trial_node *trial);
    /* Newton's method: momenta and their rates at the trial, and a correction of it; NULL: those of the two-step. */
    void (*momenta)(yk_smooth *model);
    double (*update)(yk_smooth *model);
    int input_degree; /* of efforts in time that one step follows */
    bool remembers;   /* keeps accelerations of its own in the image, state.method */
    /* Doubles of model->scratch that a step needs; NULL: none. */
    size_t (*scratch_words)(const yk_smooth *model);
    /* As advance, and the derivatives of the port motions into the columns of model->variation (variation.h). */
    yk_status (*vary)(yk_smooth *model, double t, double h);
    /* Newton's method: opens the trial of a step at its prediction; and what the method makes of efforts in it, from `lead`
     * on. NULL: accelerations are evaluated, and nothing is solved for. */
    void (*open)(yk_smooth *model, double t, double h);
    void (*characterise)(const yk_smooth *model, yk_step_model *out);
} integrator;

typedef struct variation variation;

struct yk_smooth {
    yk_subsystem base; /* first: the object is a subsystem */
    yk_context *context;

    /* Constant after creation. */
    yk_smooth_def def; /* deep copy */
    char *name_store;
    double mass_scale, length_scale;
    double gyration; /* typical radius of gyration: scales rotations in the matrix */

    /* Compiled by start, from def and the connections. */
    const integrator *integrator;
    bool compiled;
    node_model *nodes; /* model nodes, then ground, then prescribed frames, then places of flexible bodies */
    int node_count;    /* free nodes */
    int frame_count;   /* all */
    joint_model *joints;
    int joint_count, joint_count_def;
    force_model *forces;
    beam_model *beams;
    flexible_model *flexibles;
    place_model *places;
    int place_first; /* frame of the first place */
    double *flexible_store;
    const double *reach; /* per coordinate: largest displacement of the body per unit of it (m) */
    const double *share; /* and what corrections of it are measured by: see yk_smooth_share */
    carried_model *carried;
    int carried_count;
    int *place_columns;
    unsigned char *place_moves;
    yk_ffrf_loads *flexible_loads;
    port_model *ports;
    yk_port *port_list;
    yk_channel *channels;
    yk_smooth_quantity *quantities; /* of the channels */
    int channel_count;
    int *channel_order; /* of a merged model: channels of the first part, the second, ..; then of what joins them */
    int first_channel;  /* that the function knows which is being evaluated */
    /* Of a merged model whose parts have units or axes of their own: their placements, and the first channel behind each;
     * NULL: all are as the whole. */
    yk_placement *part_placements;
    int *part_channels;
    int place_channel; /* first channel of the places of flexible bodies, and of these bodies after them */
    char *channel_names;
    int row_count;
    int coordinate_count, coordinate_first;
    int motion_count; /* unknowns before the multipliers */
    int unknown_count;
    yk_sparse *matrix;
    int *place;
    size_t place_count;
    double *unknown_scale; /* of each unknown and equation */
    double *entry_scale;   /* of each entry of the matrix, the product of both */

    /* State. */
    double *image;
    size_t image_words, part_words;
    state_view state;

    /* Trial. */
    bool open;
    double t, h, c; /* end of the step being solved, its size, b0 h */
    yk_two_step method;
    trial_node *trial;
    trial_coordinate *coordinates;
    double *lambda;
    yk_effort *load; /* per frame: applied forces */
    double *right;   /* right-hand side and solution */
    double *work_vector;
    double *scratch;      /* of the integrator */
    double size;          /* next internal step of a trial, with error control */
    double drive_step;    /* for derivatives of drives by time; 0: that of the start */
    double stabilisation; /* not zero: constraints are (d/dt + this)^2 c = 0 (1/s); in a step times row_weight */
    double row_weight, velocity_row_weight;
    double idle_mass; /* of massless nodes, as a share of the typical mass; zero but for the start */
    const yk_signal *inputs;
    yk_signal *own_inputs; /* when the caller gives none */
    bool started;
    double input_time; /* local time of inputs at which the trial ends */
    double supply, port_supply, loss, potential;
    double damping;    /* artificial, at the end of the step */
    double compliance; /* e of the matrix */
    double turn_share; /* YK_TURN_OF_STEP, but where the matrix is read for modes */
    int iteration;
    bool iterated;   /* by calls of iterate: corrections follow inputs that change, and tell nothing of the factors */
    bool new_inputs; /* since the last correction */
    bool refresh;    /* make new factors in the next iteration */
    bool refreshed;  /* factors were made in this step */
    double first_correction, last_correction;
    double extent;      /* largest coordinate of a node: what rounding of positions is measured by */
    bool factors_match; /* the matrix holds the factors that belong to the state */
    yk_smooth_report report;
    bool told_cuts;                     /* warned since start (watch.c) */
    struct smooth_interface *interface; /* made when it is first asked for */
    variation *variation;               /* likewise, for sensitivities; `varying` while a step makes them */
    bool varying;
    struct relaxation *relaxation; /* of the parts of a merged model */
    bool relaxing;                 /* the open trial is made of relaxations */
};

/* compile.c */
yk_status yk_smooth_compile(yk_smooth *model);
void yk_smooth_release_compiled(yk_smooth *model);
yk_state_layout yk_smooth_layout(const yk_smooth *model);

/* assemble.c: right-hand side (minus the scaled residual) of the trial, and the matrix if wanted. */
typedef enum assembly_level {
    LEVEL_STEP,
    LEVEL_POSITION,
    LEVEL_VELOCITY,
    LEVEL_ACCELERATION,
    LEVEL_STATIC
} assembly_level;
size_t yk_smooth_pattern(yk_smooth *model, yk_sparse_entry *entries); /* entries may be NULL: counts */
void yk_smooth_assemble(yk_smooth *model, assembly_level level, bool with_matrix);
/* Inertia at the trial's placement: momenta and, inside a step, their rates. */
void yk_smooth_inertias(yk_smooth *model, bool with_rates);
yk_drive yk_smooth_drive(const yk_smooth *model, const joint_model *joint, double t, bool with_rates);
void yk_smooth_input_frames(yk_smooth *model);

/* Solves with the factors at hand, in place; scales in and out. */
void yk_smooth_solve(yk_smooth *model, double *vector);

/* corotation.c: the same with factors of an earlier placement, which turn with the bodies since yk_smooth_carry_from_here
 * was called. */
yk_status yk_smooth_compile_carried(yk_smooth *model);
void yk_smooth_carry_from_here(yk_smooth *model);
void yk_smooth_solve_carried(yk_smooth *model, double *vector);

/* The same against the equations without compliance: what redundant rows leave open becomes least norm. */
void yk_smooth_solve_refined(yk_smooth *model);

/* flexible_place.c: where the places of flexible bodies are. */
yk_status yk_smooth_compile_flexibles(yk_smooth *model);
void yk_smooth_release_flexibles(yk_smooth *model);
int yk_smooth_coordinates_of(const yk_smooth_def *def);
/* Frames of all places at the trial; and what passes loads on from them; and maps to them from the unknowns; and in the
 * frames' accelerations what they have where those of the unknowns are zero. */
enum { PLACE_FRAMES = 0, PLACE_LOADS = 1, PLACE_MAPS = 2, PLACE_BIASES = 4 };
void yk_smooth_place_flexibles(yk_smooth *model, unsigned what);
/* The trial's coordinates side by side, where the bodies read them. */
void yk_smooth_gather_flexibles(yk_smooth *model);
/* The same where there are places at all, for outputs. */
void yk_smooth_show_places(yk_smooth *model);
/* Accelerations of the places, as those of the trial make them. */
void yk_smooth_accelerate_places(yk_smooth *model);
/* A frame with its acceleration and orientation: the trial's, or in `own` for a place, when places have been shown. */
const trial_node *yk_smooth_shown(const yk_smooth *model, int frame, trial_node *own);
void yk_smooth_start_flexibles(yk_smooth *model);
/* Points of a rod's line, to draw; none for other bodies. */
int yk_smooth_outline(const yk_smooth *model, int flexible);
yk_vec3 yk_smooth_outline_point(const yk_smooth *model, int flexible, int point);
/* The frame of a node in the def. */
int yk_smooth_frame_of(const yk_smooth *model, int node);
/* A wrench on a frame, times scale, on the unknowns that move it; and the motion of a frame by changes of unknowns. */
void yk_smooth_push_frame(const yk_smooth *model, int frame, double scale, const yk_effort *effort, double *right);
void yk_smooth_pull_frame(const yk_smooth *model, int frame, const double *change, yk_vec3 *linear, yk_vec3 *angular);

/* flexible_load.c: momenta, loads and energies of flexible bodies. */
void yk_smooth_flexible_inertias(yk_smooth *model, bool with_rates);
/* Momenta and their rates from the trial's accelerations. */
void yk_smooth_flexible_momenta(yk_smooth *model);
void yk_smooth_flexible_energy(const yk_smooth *model, yk_energy *energy);
double yk_smooth_flexible_loss(const yk_smooth *model);
double yk_smooth_flexible_strain(const yk_smooth *model, int flexible);

/* watch.c: warns, after a step or the start, of flexible bodies that turn too fast for their shapes or deform too much, and of
 * steps that are too long. Returns the status of the step, or YK_ERROR_DIVERGED where a deformation is out of hand. */
yk_status yk_smooth_watch(yk_smooth *model, yk_status status);
yk_status yk_smooth_watch_start(yk_smooth *model, yk_status status);

/* newton.c */
/* Adds the solution in model->right to the trial; returns the largest change of position (by the length scale) or
 * rotation. */
double yk_smooth_update(yk_smooth *model);
/* The same as the integrator has it, and its momenta with their rates. */
double yk_smooth_step_update(yk_smooth *model);
void yk_smooth_step_momenta(yk_smooth *model);
/* New factors of the assembled matrix, or a message that names what has no unique solution. */
yk_status yk_smooth_factor(yk_smooth *model);
yk_status yk_smooth_factor_failed(yk_smooth *model, yk_status status, int column);
/* The placement of the trial as that of the factors at hand, to the image; and the factors that belong to the image. */
void yk_smooth_remember_factors(yk_smooth *model, assembly_level level);
yk_status yk_smooth_restore_factors(yk_smooth *model);
yk_status yk_smooth_iterate_once(yk_smooth *model, bool *converged);
yk_status yk_smooth_solve_step(yk_smooth *model);

/* Whether an unknown is a rotation, counted in radians; the others are lengths, or what modes count in. */
static inline bool yk_smooth_turns(const yk_smooth *model, int unknown)
{
    return unknown < model->coordinate_first && unknown % 6 >= 3;
}

/* Metres per unit of an unknown: rotations count as arcs of the length scale, coordinates by what they displace. */
static inline double yk_smooth_arm(const yk_smooth *model, int unknown)
{
    if (unknown >= model->coordinate_first) return model->reach[unknown - model->coordinate_first];
    return unknown % 6 >= 3 ? model->length_scale : 1;
}

/* What a change of an unknown by one is of the model's size: displacements by the length scale, rotations in radians, and so
 * the gradients of rods, which turn and stretch; amplitudes by what they displace. */
double yk_smooth_share(const yk_smooth *model, int unknown);

/* trial.c */
double yk_smooth_damping_at(const yk_smooth *model, double t);
/* Adds the power of prescribed motions to model->supply. */
void yk_smooth_drive_powers(yk_smooth *model);
/* Work and losses of the step that closes, by the trapezoidal rule over the powers at its ends. */
void yk_smooth_account(yk_smooth *model);
/* What ports took and prescribed, to the state. */
void yk_smooth_keep_inputs(yk_smooth *model);
void yk_smooth_trial_from_state(yk_smooth *model);
void yk_smooth_state_from_trial(yk_smooth *model);

/* rates.c: accelerations and multipliers at the trial's placement and time, into the trial. `factored`: the positions are
 * those of the factors at hand. Open before the first. */
void yk_smooth_rates_open(yk_smooth *model);
yk_status yk_smooth_rates(yk_smooth *model, bool factored);
/* The same, left in model->right, with factors that are kept while refinement makes up for their age; the trial stays as
 * it is. Multipliers from there to the trial. */
yk_status yk_smooth_solve_rates(yk_smooth *model);
/* New factors at the trial's placement for those that follow. */
yk_status yk_smooth_renew_rates(yk_smooth *model);
void yk_smooth_read_multipliers(yk_smooth *model);
/* With the factors at hand. */
yk_status yk_smooth_project_positions(yk_smooth *model);
void yk_smooth_project_velocities(yk_smooth *model);

/* integrator.c */
/* Size of the next internal step: what was chosen, or the rest of the whole in equal parts when that is near. */
double yk_smooth_next_size(double chosen, double left);
/* The trial moved along the motion of the accepted state by a time s, with its inputs there. */
void yk_smooth_move_along(yk_smooth *model, double s);
/* From position, velocity and acceleration alone, for methods without a past. */
void yk_smooth_predict_taylor(const yk_smooth *model, int node, double h, trial_node *trial);
const integrator *yk_smooth_integrator_of(yk_smooth_integrator kind);

/* generalised_alpha.c */
extern const integrator yk_smooth_generalised_alpha;

/* runge_kutta.c */
extern const integrator yk_smooth_runge_kutta;

/* two_step.c */
extern const integrator yk_smooth_two_step;
void yk_smooth_place_node(yk_smooth *model, int node);
double yk_smooth_redundant_compliance(const yk_smooth *model);

/* start.c, redundancy.c, statics.c */
/* Momenta of all nodes and coordinates, and their rates from the trial's accelerations. */
void yk_smooth_momenta(yk_smooth *model);
void yk_smooth_move_nodes(yk_smooth *model, double share);
double yk_smooth_largest_change(const yk_smooth *model);
yk_status yk_smooth_begin(yk_smooth *model);
yk_status yk_smooth_consistent_start(yk_smooth *model, double t, double h);
/* With the factors of the start: YK_REDUNDANT with the joints in the message. */
yk_status yk_smooth_find_redundant(yk_smooth *model);
yk_status yk_smooth_equilibrium(yk_smooth *model);

/* query.c */
void yk_smooth_motion_of(const trial_node *node, const yk_marker *marker, yk_motion *motion);
int yk_smooth_channels(const yk_smooth *model, const yk_channel **list);
void yk_smooth_channel_read(const yk_smooth *model, int channel, double *values);
yk_status yk_smooth_make_channels(yk_smooth *model);
/* Of a merged model: its channels in the order of the parts. */
yk_status yk_smooth_order_channels(yk_smooth *model, const yk_merge_def *merge);
void yk_smooth_joint_wrench(const yk_smooth *model, const joint_model *joint, int side, yk_effort *effort);

/* interface.c: a velocity of a port that takes efforts: coefficients of the velocities of one or two frames, and its rate at
 * constant velocities. */
typedef struct port_row {
    int frame[2]; /* -1: none */
    yk_vec3 linear[2], angular[2];
    double bias;
} port_row;
/* Six velocities of a marker, one of a distance; none where no effort is taken. */
int yk_smooth_port_size(const port_model *port);
void yk_smooth_port_rows(const yk_smooth *model, port_row *rows);
/* Adds a unit effort along the row, over the typical mass, to the equations of the nodes. */
void yk_smooth_push(const yk_smooth *model, const port_row *row, double *right);
/* See yk_interface_model. */
yk_status yk_smooth_interface_model(yk_smooth *model, yk_interface_model *out);
void yk_smooth_release_interface(yk_smooth *model);
/* See yk_step_model; with model->inputs set. */
yk_status yk_smooth_step_model(yk_smooth *model, double t, double h, yk_step_model *out);

/* variation.c: the derivatives of a step; made when they are first asked for. */
yk_status yk_smooth_step_sensitivity(yk_smooth *model, double t, double h, int degree, double *matrix);
void yk_smooth_release_variation(yk_smooth *model);

/* relaxation.c; made when it is first asked for. Parts that the image has room for: none if they cannot be relaxed. */
int yk_smooth_part_count(const yk_smooth *model);
void yk_smooth_release_relaxation(yk_smooth *model);

/* merge.c */
yk_status yk_smooth_merge(const yk_merge_def *merge, yk_subsystem **merged);

/* free_mass.c: of the contract. */
yk_status yk_smooth_free_mass(const yk_subsystem *self, double mass, yk_port_kind kind, yk_subsystem **made);

/* query.c: power that the damping of beams takes out, at the trial as it stands. Read off the converged motion, not the
 * iterate before it: a predicted motion has strain rates of high modes that the step does not. */
double yk_smooth_beam_loss(const yk_smooth *model);

/* report.c: whose unknown or equation is it, for messages: "node 'crank'" or "joint 'pin'". */
const char *yk_smooth_owner(const yk_smooth *model, int unknown, char *buffer, size_t capacity);

#endif
