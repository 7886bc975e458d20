/* Integrators of multibody systems, one row of operations each, and what
 * they are made of.
 *
 * An integrator knows no element. It writes the placement of the trial, asks for the equations of
 * a step or for accelerations, and keeps its state in the image: `now` is what elements and
 * outputs are read from, `before` and the rest belong to the methods. A new one is a file with a
 * row, and a line in the table of integrator.c; nobody else asks which one it is. */
#ifndef YK_MULTIBODY_INTEGRATOR_H
#define YK_MULTIBODY_INTEGRATOR_H

#include "multibody/assemble.h"

struct integrator {
    /* After a consistent start: factors and memory of the first step. */
    yk_status (*begin)(yk_multibody *self);
    /* From the accepted state at t to t + h; an open trial is carried to convergence. With
     * work->inputs set, as all that follow. */
    yk_status (*advance)(yk_multibody *self, double t, double h);
    /* One iteration towards t + h; the outcome stays in the trial, which is open then. */
    yk_status (*iterate)(yk_multibody *self, double t, double h, yk_iteration_report *report);
    /* As advance, and the derivatives of the port motions into the columns of the variation
     * (step_sensitivity.h). */
    yk_status (*vary)(yk_multibody *self, double t, double h);
    /* The motion of a node at t + h before the inputs are known. */
    void (*predict)(const yk_multibody_model *model, const yk_multibody_state *state, int node,
                    double h, trial_node *trial);

    /* Newton's method; NULL: accelerations are evaluated, and nothing is solved for. Opens the
     * trial of a step at its prediction; momenta and their rates at the trial; adds the solution
     * in work->right to the trial, and returns the largest change of position (by the length
     * scale) or rotation. */
    void (*open)(const yk_multibody_model *model, const yk_multibody_state *state,
                 yk_multibody_workspace *work, double t, double h);
    void (*momenta)(const yk_multibody_model *model, yk_multibody_workspace *work);
    double (*update)(const yk_multibody_model *model, const yk_multibody_state *state,
                     yk_multibody_workspace *work);
    /* Accelerations of the trial that belong to its velocities; NULL: update keeps them. */
    void (*accelerations)(const yk_multibody_model *model, const yk_multibody_state *state,
                          yk_multibody_workspace *work);
    /* What the method makes of wrenches in a step, from `lead` on. */
    void (*characterise)(const yk_multibody_model *model, const yk_multibody_workspace *work,
                         yk_step_model *out);

    /* Doubles of work->scratch that a step needs; NULL: none. */
    size_t (*scratch_words)(const yk_multibody_model *model);
    int stages;       /* evaluations of a step whose derivatives are kept (step_sensitivity.h) */
    int input_degree; /* of wrenches in time that one step follows */
    bool remembers;   /* keeps accelerations of its own in the image, state.method */
    /* accelerations belong to the size of the steps, and settle after it has changed */
    bool settles;
    /* Whether constraints are ordinary differential equations under these options; NULL: never. */
    bool (*is_ode)(const yk_multibody_options *options);
};

/* NULL: there is none of this kind. */
const integrator *yk_multibody_integrator_of(yk_multibody_integrator kind);
/* Whether its steps are implicit: solved for by Newton's method. */
static inline bool yk_multibody_is_implicit(const integrator *of)
{
    return of->open != NULL;
}

extern const integrator yk_multibody_two_step, yk_multibody_generalized_alpha,
    yk_multibody_runge_kutta;

/* Size of the next internal step: what was chosen, or the rest of the whole in equal parts when
 * that is near. */
double yk_multibody_next_size(double chosen, double left);
/* Before each attempt at an internal step, counted from 0 in one call of a step: YK_ERROR_ABORTED
 * where the caller wants to stop, YK_ERROR_DIVERGED with a message where there were too many. */
yk_status yk_multibody_go_on(const yk_multibody_model *model, double t, double h, double done,
                             int attempts);
/* The trial moved along the motion of the accepted state by a time s, with its inputs there. */
void yk_multibody_move_along(const yk_multibody_model *model, const yk_multibody_state *state,
                             yk_multibody_workspace *work, double s);
/* From position, velocity and acceleration alone, for methods without a past. */
void yk_multibody_predict_taylor(const yk_multibody_model *model, const yk_multibody_state *state,
                                 int i, double h, trial_node *node);
/* Of the matrix of a step, where joint equations are redundant. */
double yk_multibody_redundant_compliance(const yk_multibody_model *model,
                                         const yk_multibody_state *state,
                                         const yk_multibody_workspace *work);

/* newton.c: a trial that is placed at its prediction is open for iterations; one iteration on the
 * equations of the open trial; all of them. */
void yk_multibody_open_newton(const yk_multibody_state *state, yk_multibody_workspace *work);
yk_status yk_multibody_iterate_once(yk_multibody *self, bool *converged);
yk_status yk_multibody_solve_step(yk_multibody *self);
/* The placement of the trial as that of the factors at hand, to the image; and the factors that
 * belong to the image. */
void yk_multibody_remember_factors(yk_multibody *self, assembly_level level);
yk_status yk_multibody_restore_factors(yk_multibody *self);

/* accelerations.c: accelerations and multipliers at the trial's placement and time, into the trial.
 * `factored`: the positions are those of the factors at hand. Open before the first. */
void yk_multibody_rates_open(yk_multibody *self);
yk_status yk_multibody_rates(const yk_multibody_model *model, yk_multibody_workspace *work,
                             yk_linear_solver *solver, bool factored);
/* The same, left in work->right, with factors that are kept while refinement makes up for their
 * age; the trial stays as it is. */
yk_status yk_multibody_solve_rates(yk_multibody *self);
/* New factors at the trial's placement for those that follow. */
yk_status yk_multibody_renew_rates(yk_multibody *self);
/* With the factors at hand. */
yk_status yk_multibody_project_positions(const yk_multibody_model *model,
                                         yk_multibody_workspace *work,
                                         const yk_linear_solver *solver);
void yk_multibody_project_velocities(const yk_multibody_model *model, yk_multibody_workspace *work,
                                     const yk_linear_solver *solver);

/* Generalised-alpha: generalized_alpha.c ------------------------------------------------------- */

/* The generalised-alpha method on R3 x SO(3), and what it shares with the relaxed coupling of
 * parts.
 *
 *   (1 - alpha_m) a + alpha_m a_n = (1 - alpha_f) v' + alpha_f v'_n
 *   v = v_n + h ((1 - gamma) a_n + gamma a)
 *   q = q_n exp(h v_n + h^2 ((1/2 - beta) a_n + beta a))
 *
 * v' is the true acceleration of the equations of motion at t + h, a the method's own (Arnold and
 * Bruels 2007; Bruels, Cardona and Arnold 2012), kept in the image. alpha_m, alpha_f, gamma and
 * beta follow from rho_inf. */
typedef struct yk_generalized_alpha {
    double alpha_m, alpha_f, gamma, beta;
    double position; /* change of q by a change of v', over h^2 */
    double velocity; /* of v, over h */
} yk_generalized_alpha;

yk_generalized_alpha yk_generalized_alpha_of(double rho_inf);
/* Opens a step: accelerations extrapolated, placement of the trial that belongs to them. */
void yk_generalized_alpha_open(const yk_multibody_model *model, const yk_multibody_state *state,
                               yk_multibody_workspace *work, double t, double h);
/* Places a node or coordinate of the trial where its acceleration takes it; a change of an
 * unknown's acceleration. */
void yk_generalized_alpha_place_node(const yk_multibody_model *model,
                                     const yk_multibody_state *state, yk_multibody_workspace *work,
                                     int node);
void yk_generalized_alpha_place_coordinate(const yk_multibody_model *model,
                                           const yk_multibody_state *state,
                                           yk_multibody_workspace *work, int coordinate);
/* The trial becomes the state. */
void yk_generalized_alpha_close(const yk_multibody_model *model, yk_multibody_state *state,
                                yk_multibody_workspace *work);
/* Makes the constraints ordinary differential equations. */
void yk_generalized_alpha_as_ode(yk_multibody_options *options);
/* Of the constraints in the ODE form: beta of the paper, from the options and the step. */
double yk_generalized_alpha_stabilisation(const yk_multibody_model *model, double h);

/* Runge-Kutta: runge_kutta.c ------------------------------------------------------------------- */

/* The Runge-Kutta method of order 8: its coefficients as data, and what its steps and their
 * derivatives share. */
enum { YK_RUNGE_KUTTA_STAGES = 12 };

typedef struct yk_runge_kutta {
    double a[YK_RUNGE_KUTTA_STAGES][YK_RUNGE_KUTTA_STAGES];
    double c[YK_RUNGE_KUTTA_STAGES];
    double b[YK_RUNGE_KUTTA_STAGES];
    /* b less the weights of a method of order 5, and of one of order 3 */
    double error5[YK_RUNGE_KUTTA_STAGES];
    double error3[YK_RUNGE_KUTTA_STAGES];
} yk_runge_kutta;

const yk_runge_kutta *yk_runge_kutta_853(void);

/* Vectors of the integration: positions and rotations in the order of the unknowns, their rates,
 * work, work through ports, losses. */
typedef struct yk_runge_kutta_workspace {
    double *begin, *value, *error5, *error3;
    double *stage, *moved; /* of the derivatives */
    double *slope[YK_RUNGE_KUTTA_STAGES];
    yk_quat *orientation; /* centre of each node's chart */
    size_t n;
} yk_runge_kutta_workspace;

yk_runge_kutta_workspace yk_runge_kutta_workspace_of(const yk_multibody_model *model,
                                                     yk_multibody_workspace *work);
/* Beginning of the step plus what the slopes before stage s give it. */
void yk_runge_kutta_stage(const yk_runge_kutta_workspace *w, int s, double size, double *value);
/* The trial at a vector of the integration. */
void yk_runge_kutta_place(const yk_multibody_model *model, yk_multibody_workspace *work,
                          const yk_runge_kutta_workspace *w, const double *value);
/* Inputs and time at a point of the step. */
void yk_runge_kutta_move_to(const yk_multibody_model *model, yk_multibody_workspace *work, double t,
                            double local);

/* runge_kutta_sensitivity.c: along an internal step that was accepted; after it has arrived; at the
 * end of the whole. */
yk_status yk_runge_kutta_vary(yk_multibody *self, const yk_runge_kutta_workspace *w, double t,
                              double local, double size);
void yk_runge_kutta_vary_end(yk_multibody *self, const yk_runge_kutta_workspace *w);
yk_status yk_runge_kutta_vary_outputs(yk_multibody *self, double h);

#endif
