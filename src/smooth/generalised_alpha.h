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
#ifndef YK_SMOOTH_GENERALISED_ALPHA_H
#define YK_SMOOTH_GENERALISED_ALPHA_H

#include "smooth/internal.h"

typedef struct yk_generalised_alpha {
    double alpha_m, alpha_f, gamma, beta;
    double position; /* change of q by a change of v', over h^2 */
    double velocity; /* of v, over h */
} yk_generalised_alpha;

yk_generalised_alpha yk_generalised_alpha_of(double rho_inf);
/* Opens a step: accelerations extrapolated, placement of the trial that belongs to them. */
void yk_generalised_alpha_open(const yk_smooth_model *model, const yk_smooth_state *state,
                               yk_smooth_workspace *work, double t, double h);
/* Places a node or coordinate of the trial where its acceleration takes it; a change of an
 * unknown's acceleration. */
void yk_generalised_alpha_place_node(const yk_smooth_model *model, const yk_smooth_state *state,
                                     yk_smooth_workspace *work, int node);
void yk_generalised_alpha_place_coordinate(const yk_smooth_model *model,
                                           const yk_smooth_state *state, yk_smooth_workspace *work,
                                           int coordinate);
/* The trial becomes the state. */
void yk_generalised_alpha_close(const yk_smooth_model *model, yk_smooth_state *state,
                                yk_smooth_workspace *work);
/* Makes the constraints ordinary differential equations. */
void yk_generalised_alpha_as_ode(yk_smooth_options *options);
/* Of the constraints in the ODE form: beta of the paper, from the options and the step. */
double yk_generalised_alpha_stabilisation(const yk_smooth_model *model, double h);

#endif
