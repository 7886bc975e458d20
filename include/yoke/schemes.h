/* The coupling schemes of the library and their options.
 *
 *     yk_tight_options options = yk_tight_options_default();
 *     options.max_iterations = 50;
 *     def.scheme = (yk_scheme_def){yk_scheme_tight(), &options};     // def: a yk_system_def
 *
 * Options are copied when the system is created. Their meaning, units, ranges and defaults are the rows of each
 * scheme (yk_scheme_ops), from which the scenario reference is generated as well. A scheme of your own implements
 * yoke/scheme_ops.h. */
#ifndef YOKE_SCHEMES_H
#define YOKE_SCHEMES_H

#include "yoke/scheme_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The scheme explicit with its default options. */
yk_scheme_def yk_scheme_default(void);

typedef enum yk_sequence {
    /* One after another: motion sides and sources of wires first, then wrench sides with the new wrenches. */
    YK_SEQUENCE_GAUSS_SEIDEL,
    /* All at the same time, with the values at the start of the step. */
    YK_SEQUENCE_JACOBI
} yk_sequence;

/* Quantities that cross an interface in schemes that step each subsystem once (explicit, loose, rim). */
typedef enum yk_exchange {
    /* A motion to one side, and the wrench that it required to the other side. */
    YK_EXCHANGE_FORCE_MOTION,
    /* The same as force-force if both subsystems have a step model and the scheme does not subcycle them; otherwise the same as
     * force-motion. */
    YK_EXCHANGE_AUTO,
    /* The same wrench to both sides. It is computed from the step models of both sides, so that the joint holds at
     * the end of the step. A subsystem without a step model is represented by its interface model, which is less
     * accurate if its contacts change. */
    YK_EXCHANGE_FORCE_FORCE
} yk_exchange;

/* How an iteration uses the iterations before it. */
typedef enum yk_acceleration {
    /* Fixed-point iteration. In the scheme tight, wrench sides make one iteration of their own solver per sweep if
     * they can. */
    YK_ACCELERATION_NONE,
    /* One relaxation factor per subsystem, from the last two changes of the wrenches on it. */
    YK_ACCELERATION_AITKEN,
    /* Least squares over the changes of earlier iterations (IQN-ILS), in the scheme tight also those of earlier
     * steps. */
    YK_ACCELERATION_QUASI_NEWTON
} yk_acceleration;

/* Motion of the wrench side at the end of a step that this side has not made yet. */
typedef enum yk_motion_extrapolation {
    YK_MOTION_EXTRAPOLATION_SOLVER, /* The prediction of the subsystem (Zhang et al. 2022, equations 33 to 35). */
    YK_MOTION_EXTRAPOLATION_CONSTANT,  /* The velocity at the start of the step. */
    YK_MOTION_EXTRAPOLATION_LINEAR,    /* The velocity, from the starts of the last two steps. */
    YK_MOTION_EXTRAPOLATION_QUADRATIC, /* The velocity, from the starts of the last three steps. */
    YK_MOTION_EXTRAPOLATION_HERMITE /* The cubic through positions and velocities at the last two starts. */
} yk_motion_extrapolation;

/* Explicit: each subsystem is stepped once per macro step (Zhang et al. 2022, section 3.1).
 *
 * Modified inputs set the velocity of a motion side to the weighted mean of (x_A - x_B)/h, v_A and v_B + h a_A
 * (Zhang et al. 2022, equation 26). The weights are alpha h^2, beta h and gamma of Baumgarte's stabilization with
 * the macro step h. Only their ratio matters. */
typedef enum yk_modified_inputs {
    YK_MODIFIED_INPUTS_NONE,    /* Zhang et al. 2022, equation 20 */
    YK_MODIFIED_INPUTS_INDEX_1, /* alpha = 2/h^2, beta = 2/h, gamma = 1 */
    YK_MODIFIED_INPUTS_INDEX_2, /* alpha = 1/h, beta = 1, gamma = 0 */
    YK_MODIFIED_INPUTS_INDEX_3, /* alpha = 1, beta = gamma = 0 */
    YK_MODIFIED_INPUTS_WEIGHTED /* alpha, beta and gamma of the options */
} yk_modified_inputs;

typedef struct yk_explicit_options {
    yk_sequence sequence;
    yk_exchange exchange;
    yk_modified_inputs modified_inputs;
    double alpha;     /* Weight of the position (1/s^2). */
    double beta;      /* Weight of the velocity (1/s). */
    double gamma;     /* Weight of the acceleration. */
    int thread_count; /* Subsystems that step at the same time with Jacobi; 0: one per core. */
    yk_motion_extrapolation
        extrapolation; /* Of motions that are prescribed before they are known. */
} yk_explicit_options;

yk_explicit_options yk_explicit_options_default(void);
const yk_scheme_ops *yk_scheme_explicit(void);

/* Tight: the step is repeated until the interface wrenches converge (Zhang et al. 2020, section 3.1).
 * Loose: the same without repetition. It reads `exchange`, `prescribed_velocity` and `extrapolation` only. */
typedef enum yk_prescribed_velocity {
    /* From the positions at both ends of the step, by SLERP for rotations (Zhang et al. 2020, equation 21). */
    YK_PRESCRIBED_VELOCITY_DIFFERENCE,
    /* The velocity of the partner's marker at the end of the step. */
    YK_PRESCRIBED_VELOCITY_PARTNER
} yk_prescribed_velocity;

typedef struct yk_tight_options {
    int max_iterations;        /* Repetitions per macro step; 0: the scheme loose. */
    double tolerance;          /* Largest change of an interface wrench at convergence (N, N m). */
    double relative_tolerance; /* The same, relative to the wrench. */
    /* Algebraic loops of wires through subsystems with interfaces are always solved with YK_ACCELERATION_QUASI_NEWTON. */
    yk_acceleration acceleration;
    yk_prescribed_velocity prescribed_velocity; /* Velocity that motion sides receive. */
    int max_halvings; /* Halvings of a step that does not converge; 0: accept the last iterate. */
    yk_exchange exchange; /* Used if max_iterations is 0. */
    /* Gauss-Seidel: each sweep uses what earlier subsystems of the same sweep have reached. Jacobi: all subsystems make a
     * sweep at the same time, with what the sweep before has reached. */
    yk_sequence sequence;
    /* Inputs of motion sides, as in the scheme explicit, from the motion that the iteration has found for the wrench side.
     * YK_MODIFIED_INPUTS_NONE: the motion itself, with the prescribed velocity. */
    yk_modified_inputs modified_inputs;
    double alpha;                          /* Weight of the position (1/s^2). */
    double beta;                           /* Weight of the velocity (1/s). */
    double gamma;                          /* Weight of the acceleration. */
    yk_motion_extrapolation extrapolation; /* Of the motions with which the iteration starts. */
    int thread_count; /* Subsystems that step at the same time with Jacobi; 0: one per core. */
} yk_tight_options;

yk_tight_options yk_tight_options_default(void);
yk_tight_options yk_loose_default(void);
const yk_scheme_ops *yk_scheme_tight(void);
const yk_scheme_ops *yk_scheme_loose(void);

/* Monolithic: the parts are merged into one subsystem with the joints as constraints. This is the reference. */
typedef struct yk_monolithic_options {
    int max_iterations; /* Repetitions per macro step if wires form a loop. */
} yk_monolithic_options;

yk_monolithic_options yk_monolithic_options_default(void);
const yk_scheme_ops *yk_scheme_monolithic(void);

/* Index1: both sides receive the same wrench, a polynomial in time, so that the constraints hold on position,
 * velocity and acceleration level at the end of the step (Meyer et al. 2018). */
typedef enum yk_jacobian_update {
    /* Keep the Jacobian over several steps and improve it with each correction, until it stops reducing the residual. */
    YK_JACOBIAN_UPDATE_REUSE,
    /* Compute it in every step from the sensitivities of the subsystems. */
    YK_JACOBIAN_UPDATE_EVERY_STEP,
    /* Compute it in every step by finite differences. */
    YK_JACOBIAN_UPDATE_FINITE_DIFFERENCES
} yk_jacobian_update;

typedef struct yk_index1_options {
    int polynomial_degree; /* Degree of the coupling wrenches in time, 0 to 3. */
    int max_iterations; /* Corrections per step; 1 is the single Newton step of Meyer et al. 2018. */
    double tolerance;   /* Largest change of an interface wrench at convergence (N, N m). */
    double relative_tolerance; /* The same, relative to the wrench. */
    yk_jacobian_update jacobian_update;
    int thread_count; /* Subsystems that step at the same time; 0: one per core. */
} yk_index1_options;

yk_index1_options yk_index1_options_default(void);
const yk_scheme_ops *yk_scheme_index1(void);

/* Rim: fast subsystems take small steps against reduced interface models of the slow ones (Peiret et al. 2020). */
typedef enum yk_extrapolation {
    YK_EXTRAPOLATION_INTERFACE_MODEL, /* By a reduced model that reacts to the wrenches of the fast subsystems. */
    YK_EXTRAPOLATION_CONSTANT, /* The velocity at the start of the macro step. */
    YK_EXTRAPOLATION_LINEAR,   /* From the starts of the last two macro steps. */
    YK_EXTRAPOLATION_QUADRATIC /* From the starts of the last three macro steps. */
} yk_extrapolation;

/* Positions of the ports in the reduced model. */
typedef enum yk_position_update {
    YK_POSITION_UPDATE_OWN_STEP, /* Where one step of the slow subsystem's own method would move them. */
    YK_POSITION_UPDATE_INTEGRAL /* The integral of the velocities (Peiret et al. 2020, equation 45). */
} yk_position_update;

/* Wrench that slow subsystems receive from fast ones. */
typedef enum yk_slow_wrench {
    YK_SLOW_WRENCH_MEAN, /* The mean over the macro step, which preserves the impulse. */
    YK_SLOW_WRENCH_LAST  /* The value at the end of the macro step. */
} yk_slow_wrench;

/* Source of the reduced models. */
typedef enum yk_interface_model_source {
    YK_INTERFACE_MODEL_REPORTED, /* The subsystem's own interface model if it has one, otherwise trial steps. */
    /* Trial steps. These include effects inside the macro step, such as stiff springs of a flexible mechanism. */
    YK_INTERFACE_MODEL_IDENTIFIED
} yk_interface_model_source;

typedef struct yk_rim_options {
    /* Gauss-Seidel: slow subsystems receive the wrench of the macro step that the fast ones have just made. Jacobi:
     * the wrench of the macro step before. */
    yk_sequence sequence;
    yk_exchange exchange;
    yk_extrapolation extrapolation;
    yk_interface_model_source interface_models;
    yk_slow_wrench slow_wrench;
    yk_position_update position_update;
    /* Exchanges between fast subsystems and models per macro step; 0: at every common step of the fast subsystems. */
    int exchanges_per_step;
    /* Empty: the subsystems with substeps that receive no wrench, otherwise those that receive motions only. */
    yk_subsystem_list fast_subsystems;
    /* Interface models, fast subsystems, and slow subsystems without interfaces between them that are computed at the same
     * time; 0: one per core. */
    int thread_count;
} yk_rim_options;

yk_rim_options yk_rim_options_default(void);
const yk_scheme_ops *yk_scheme_rim(void);

/* Relaxed: the equations of one part at a time are solved, with the other parts fixed, until nothing changes
 * (Zhou et al. 2022). */
typedef struct yk_relaxed_options {
    yk_sequence sequence;
    yk_acceleration acceleration;
    double relative_tolerance; /* Largest change of a velocity, relative to the typical velocity. */
    int max_sweeps;            /* Sweeps per macro step. */
    int thread_count; /* Parts that are solved at the same time with Jacobi; 0: one per core. */
} yk_relaxed_options;

yk_relaxed_options yk_relaxed_options_default(void);
const yk_scheme_ops *yk_scheme_relaxed(void);

/* Whether one step of a subsystem follows wrenches of any polynomial degree that the scheme index1 applies. A
 * subsystem that cannot needs several substeps per macro step under index1. */
bool yk_subsystem_can_follow_polynomials(const yk_subsystem *subsystem);

#ifdef __cplusplus
}
#endif

#endif
