/* Integrators of multibody systems, one row of operations each, and their building blocks.
 *
 * An integrator does not know the elements of a model. It writes the placement of the trial,
 * requests the equations of a step or accelerations, and keeps its state in the image: elements and
 * outputs read `now`; `before` and the rest belong to the methods. A new integrator is a file with
 * a row, and a line in the table of integrator.c; no other file asks for the integrator in use. */
#ifndef YK_MULTIBODY_INTEGRATOR_H
#define YK_MULTIBODY_INTEGRATOR_H

#include "multibody/assemble.h"

struct integrator {
    /* After a consistent start: factors and memory of the first step. */
    yk_status (*begin)(yk_multibody *self);
    /* Steps from the accepted state at t to t + h, with the inputs work->inputs (also used by the
     * following operations). An open trial is iterated to convergence. */
    yk_status (*advance)(yk_multibody *self, double t, double h);
    /* One iteration towards t + h. The result stays in the trial, which is open afterwards. */
    yk_status (*iterate)(yk_multibody *self, double t, double h, yk_iteration_report *report);
    /* Like advance, and stores the derivatives of the port motions in the columns of the variation
     * (step_sensitivity.h). */
    yk_status (*vary)(yk_multibody *self, double t, double h);
    /* The motion of a node at t + h as predicted without inputs. */
    void (*predict)(const yk_multibody_model *model, const yk_multibody_state *state, int node,
                    double h, trial_node *trial);

    /* Newton's method; NULL: the integrator only evaluates accelerations. In order: opens the trial
     * of a step at its prediction; computes momenta and their rates at the trial; adds the solution
     * in work->right to the trial, and returns the largest change of position (relative to the
     * length scale) or rotation. */
    void (*open)(const yk_multibody_model *model, const yk_multibody_state *state,
                 yk_multibody_workspace *work, double t, double h);
    void (*momenta)(const yk_multibody_model *model, yk_multibody_workspace *work);
    double (*update)(const yk_multibody_model *model, const yk_multibody_state *state,
                     yk_multibody_workspace *work);
    /* Computes the accelerations of the trial that belong to its velocities; NULL: update does it. */
    void (*accelerations)(const yk_multibody_model *model, const yk_multibody_state *state,
                          yk_multibody_workspace *work);
    /* The method's fields of a step model, from `lead` on. */
    void (*characterise)(const yk_multibody_model *model, const yk_multibody_workspace *work,
                         yk_step_model *out);

    /* Number of doubles of work->scratch that a step needs; NULL: none. */
    size_t (*scratch_words)(const yk_multibody_model *model);
    int stages;       /* evaluations of a step whose derivatives are kept (step_sensitivity.h) */
    int input_degree; /* of wrenches in time that one step follows */
    bool remembers;   /* stores accelerations of its own in the image, state.method */
    /* its accelerations depend on the step size, and settle after the size has changed */
    bool settles;
    /* Whether constraints are enforced as ordinary differential equations with these options; NULL:
     * never. */
    bool (*is_ode)(const yk_multibody_options *options);
    /* Explicit methods: coefficient of the third derivative of a position in a step; NULL: 1/6. */
    double (*cubic_weight)(const yk_multibody_options *options);
};

/* NULL: there is no integrator of this kind. */
const integrator *yk_multibody_integrator_of(yk_multibody_integrator kind);
/* Whether its steps are implicit and solved by Newton's method. */
static inline bool yk_multibody_is_implicit(const integrator *of)
{
    return of->open != NULL;
}

extern const integrator yk_multibody_two_step, yk_multibody_generalized_alpha,
    yk_multibody_runge_kutta, yk_multibody_chebyshev;

/* Size of the next internal step: the chosen size, or equal parts of the rest if the end is near. */
double yk_multibody_next_size(double chosen, double left);
/* Called before each attempt at an internal step, counted from 0 in one call of a step.
 * YK_ERROR_ABORTED: the caller wants to stop. YK_ERROR_DIVERGED, with a message: too many steps. */
yk_status yk_multibody_go_on(const yk_multibody_model *model, double t, double h, double done,
                             int attempts);
/* Moves the trial along the motion of the accepted state by a time s, and evaluates the inputs
 * there. */
void yk_multibody_move_along(const yk_multibody_model *model, const yk_multibody_state *state,
                             yk_multibody_workspace *work, double s);
/* Predicts from position, velocity and acceleration, for methods without a history. */
void yk_multibody_predict_taylor(const yk_multibody_model *model, const yk_multibody_state *state,
                                 int i, double h, trial_node *node);
/* Compliance in the matrix of a step if joint equations are redundant. */
double yk_multibody_redundant_compliance(const yk_multibody_model *model,
                                         const yk_multibody_state *state,
                                         const yk_multibody_workspace *work);

/* newton.c: opens a trial at its prediction; makes one iteration on the equations of the open
 * trial; iterates until convergence. */
void yk_multibody_open_newton(const yk_multibody_state *state, yk_multibody_workspace *work);
yk_status yk_multibody_iterate_once(yk_multibody *self, bool *converged);
yk_status yk_multibody_solve_step(yk_multibody *self);
/* Stores the placement of the trial as that of the present factors in the image; makes the factors
 * that belong to the image. */
void yk_multibody_remember_factors(yk_multibody *self, assembly_level level);
yk_status yk_multibody_restore_factors(yk_multibody *self);

/* accelerations.c: accelerations and multipliers at the trial's placement and time, written to the
 * trial. `factored`: the factors of these positions exist. Open before the first. */
void yk_multibody_rates_open(yk_multibody *self);
yk_status yk_multibody_rates(const yk_multibody_model *model, yk_multibody_workspace *work,
                             yk_linear_solver *solver, bool factored);
/* The same, left in work->right, with older factors as long as iterative refinement is sufficient.
 * The trial is unchanged. */
yk_status yk_multibody_solve_rates(yk_multibody *self);
/* Makes new factors at the trial's placement for the following solutions. */
yk_status yk_multibody_renew_rates(yk_multibody *self);
/* Solves with the present factors. */
yk_status yk_multibody_project_positions(const yk_multibody_model *model,
                                         yk_multibody_workspace *work,
                                         const yk_linear_solver *solver);
void yk_multibody_project_velocities(const yk_multibody_model *model, yk_multibody_workspace *work,
                                     const yk_linear_solver *solver);
/* Rates of the positions minus the velocities in the pair of stabilised equations (Zhou et al. 2022,
 * equation 37), one per unknown of motion, with the present factors. */
void yk_multibody_stabilized_drift(const yk_multibody_model *model, yk_multibody_workspace *work,
                                   const yk_linear_solver *solver, double beta, double *drift);

/* Generalised-alpha: generalized_alpha.c ------------------------------------------------------- */

/* The generalized-alpha method on R3 x SO(3), and functions that the relaxed coupling of parts
 * shares with it.
 *
 *   (1 - alpha_m) a + alpha_m a_n = (1 - alpha_f) v' + alpha_f v'_n
 *   v = v_n + h ((1 - gamma) a_n + gamma a)
 *   q = q_n exp(h v_n + h^2 ((1/2 - beta) a_n + beta a))
 *
 * v' is the true acceleration of the equations of motion at t + h; a is the algorithmic
 * acceleration (Arnold and Bruels 2007; Bruels, Cardona and Arnold 2012), stored in the image.
 * alpha_m, alpha_f, gamma and beta follow from rho_inf. */
typedef struct yk_generalized_alpha {
    double alpha_m, alpha_f, gamma, beta;
    double position; /* change of q by a change of v', over h^2 */
    double velocity; /* of v, over h */
} yk_generalized_alpha;

yk_generalized_alpha yk_generalized_alpha_of(double rho_inf);
/* Opens a step: extrapolates accelerations and computes the placement of the trial that belongs to
 * them. */
void yk_generalized_alpha_open(const yk_multibody_model *model, const yk_multibody_state *state,
                               yk_multibody_workspace *work, double t, double h);
/* Places a node or coordinate of the trial according to its acceleration; applies a change of an
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
/* The rate beta of the constraints in the ODE form, from the options and the step. */
double yk_generalized_alpha_stabilisation(const yk_multibody_model *model, double h);

/* Runge-Kutta: runge_kutta.c ------------------------------------------------------------------- */

/* The Runge-Kutta method of order 8: its coefficients as data, and functions shared by its steps
 * and their derivatives. */
enum { YK_RUNGE_KUTTA_STAGES = 12 };

typedef struct yk_runge_kutta {
    double a[YK_RUNGE_KUTTA_STAGES][YK_RUNGE_KUTTA_STAGES];
    double c[YK_RUNGE_KUTTA_STAGES];
    double b[YK_RUNGE_KUTTA_STAGES];
    /* b minus the weights of a method of order 5, and of one of order 3 */
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
/* Finds the pivots of the accelerations at the start of a run. */
yk_status yk_runge_kutta_begin(yk_multibody *self);
size_t yk_runge_kutta_scratch_words(const yk_multibody_model *model);
/* Stores the trial as the start of an internal step, with the charts of all rotations around it. */
void yk_runge_kutta_begin_step(const yk_multibody_model *model, yk_multibody_workspace *work,
                               yk_runge_kutta_workspace *w);
/* Rates of the vector at the trial, whose accelerations are known. */
void yk_runge_kutta_read_slope(const yk_multibody_model *model, yk_multibody_workspace *work,
                               const yk_runge_kutta_workspace *w, double *slope);
/* The trial becomes the state; w->begin has the sums at its end, w->slope[0] the powers. */
void yk_runge_kutta_accept(yk_multibody *self, double t, double h);
/* Start of the step plus the contribution of the slopes before stage s. */
void yk_runge_kutta_stage(const yk_runge_kutta_workspace *w, int s, double size, double *value);
/* Sets the trial to a vector of the integration. */
void yk_runge_kutta_place(const yk_multibody_model *model, yk_multibody_workspace *work,
                          const yk_runge_kutta_workspace *w, const double *value);
/* Inputs and time at a point of the step. */
void yk_runge_kutta_move_to(const yk_multibody_model *model, yk_multibody_workspace *work, double t,
                            double local);

/* Runge-Kutta-Chebyshev: chebyshev.c ----------------------------------------------------------- */

/* Coefficients of the method of order 2 with the given number of stages (2 or more), at stage j from 1
 * (Sommeijer, Shampine, Verwer 1998): Y_j = (1 - mu - nu) Y_0 + mu Y_{j-1} + nu Y_{j-2}
 * + mu_slope h F_{j-1} + gamma h F_0, at the time c h. */
typedef struct yk_chebyshev_stage {
    double mu, nu, mu_slope, gamma, c;
} yk_chebyshev_stage;

enum { YK_CHEBYSHEV_STAGES_MAX = 100 };

void yk_chebyshev_coefficients(int stages, yk_chebyshev_stage stage[YK_CHEBYSHEV_STAGES_MAX + 1]);
/* Growth of an error with the eigenvalue z / h in one step. */
double yk_chebyshev_growth(int stages, double z);

/* runge_kutta_sensitivity.c: after an accepted internal step; at its end; at the end of the whole
 * step. */
yk_status yk_runge_kutta_vary(yk_multibody *self, const yk_runge_kutta_workspace *w, double t,
                              double local, double size);
void yk_runge_kutta_vary_end(yk_multibody *self, const yk_runge_kutta_workspace *w);
yk_status yk_runge_kutta_vary_outputs(yk_multibody *self, double h);

#endif
