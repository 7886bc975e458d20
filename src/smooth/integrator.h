/* Integrators: how a smooth model is carried through time, one row of operations each, and what
 * they are made of.
 *
 * An integrator knows no element. It writes the placement of the trial, asks for the equations of
 * a step or for accelerations, and keeps its state in the image: `now` is what elements and
 * outputs are read from, `before` and the rest belong to the methods. A new one is a file with a
 * row, and a line in the table of integrator.c; nobody else asks which one it is. */
#ifndef YK_SMOOTH_INTEGRATOR_H
#define YK_SMOOTH_INTEGRATOR_H

#include "smooth/assemble.h"

struct integrator {
    /* After a consistent start: factors and memory of the first step. */
    yk_status (*begin)(yk_smooth *smooth);
    /* From the accepted state at t to t + h; an open trial is carried to convergence. With
     * work->inputs set, as all that follow. */
    yk_status (*advance)(yk_smooth *smooth, double t, double h);
    /* One iteration towards t + h; the outcome stays in the trial, which is open then. */
    yk_status (*iterate)(yk_smooth *smooth, double t, double h, yk_iteration *report);
    /* As advance, and the derivatives of the port motions into the columns of the variation
     * (variation.h). */
    yk_status (*vary)(yk_smooth *smooth, double t, double h);
    /* The motion of a node at t + h before the inputs are known. */
    void (*predict)(const yk_smooth_model *model, const yk_smooth_state *state, int node, double h,
                    trial_node *trial);

    /* Newton's method; NULL: accelerations are evaluated, and nothing is solved for. Opens the
     * trial of a step at its prediction; momenta and their rates at the trial; adds the solution
     * in work->right to the trial, and returns the largest change of position (by the length
     * scale) or rotation. */
    void (*open)(const yk_smooth_model *model, const yk_smooth_state *state,
                 yk_smooth_workspace *work, double t, double h);
    void (*momenta)(const yk_smooth_model *model, yk_smooth_workspace *work);
    double (*update)(const yk_smooth_model *model, const yk_smooth_state *state,
                     yk_smooth_workspace *work);
    /* Accelerations of the trial that belong to its velocities; NULL: update keeps them. */
    void (*accelerations)(const yk_smooth_model *model, const yk_smooth_state *state,
                          yk_smooth_workspace *work);
    /* What the method makes of wrenches in a step, from `lead` on. */
    void (*characterise)(const yk_smooth_model *model, const yk_smooth_workspace *work,
                         yk_step_model *out);

    /* Doubles of work->scratch that a step needs; NULL: none. */
    size_t (*scratch_words)(const yk_smooth_model *model);
    int stages;       /* evaluations of a step whose derivatives are kept (variation.h) */
    int input_degree; /* of wrenches in time that one step follows */
    bool remembers;   /* keeps accelerations of its own in the image, state.method */
    /* accelerations belong to the size of the steps, and settle after it has changed */
    bool settles;
    /* Whether constraints are ordinary differential equations under these options; NULL: never. */
    bool (*is_ode)(const yk_smooth_options *options);
};

/* NULL: there is none of this kind. */
const integrator *yk_smooth_integrator_of(yk_smooth_integrator kind);
/* Whether its steps are implicit: solved for by Newton's method. */
static inline bool yk_smooth_is_implicit(const integrator *of)
{
    return of->open != NULL;
}

extern const integrator yk_smooth_two_step, yk_smooth_generalised_alpha, yk_smooth_runge_kutta;

/* Size of the next internal step: what was chosen, or the rest of the whole in equal parts when
 * that is near. */
double yk_smooth_next_size(double chosen, double left);
/* Before each attempt at an internal step, counted from 0 in one call of a step: YK_ERROR_STOPPED
 * where the caller wants to stop, YK_ERROR_DIVERGED with a message where there were too many. */
yk_status yk_smooth_go_on(const yk_smooth_model *model, double t, double h, double done,
                          int attempts);
/* The trial moved along the motion of the accepted state by a time s, with its inputs there. */
void yk_smooth_move_along(const yk_smooth_model *model, const yk_smooth_state *state,
                          yk_smooth_workspace *work, double s);
/* From position, velocity and acceleration alone, for methods without a past. */
void yk_smooth_predict_taylor(const yk_smooth_model *model, const yk_smooth_state *state, int i,
                              double h, trial_node *node);
/* Of the matrix of a step, where joint equations are redundant. */
double yk_smooth_redundant_compliance(const yk_smooth_model *model, const yk_smooth_state *state,
                                      const yk_smooth_workspace *work);

/* newton.c: a trial that is placed at its prediction is open for iterations; one iteration on the
 * equations of the open trial; all of them. */
void yk_smooth_open_newton(const yk_smooth_state *state, yk_smooth_workspace *work);
yk_status yk_smooth_iterate_once(yk_smooth *smooth, bool *converged);
yk_status yk_smooth_solve_step(yk_smooth *smooth);
/* The placement of the trial as that of the factors at hand, to the image; and the factors that
 * belong to the image. */
void yk_smooth_remember_factors(yk_smooth *smooth, assembly_level level);
yk_status yk_smooth_restore_factors(yk_smooth *smooth);

/* rates.c: accelerations and multipliers at the trial's placement and time, into the trial.
 * `factored`: the positions are those of the factors at hand. Open before the first. */
void yk_smooth_rates_open(yk_smooth *smooth);
yk_status yk_smooth_rates(const yk_smooth_model *model, yk_smooth_workspace *work,
                          yk_linear_solver *solver, bool factored);
/* The same, left in work->right, with factors that are kept while refinement makes up for their
 * age; the trial stays as it is. */
yk_status yk_smooth_solve_rates(yk_smooth *smooth);
/* New factors at the trial's placement for those that follow. */
yk_status yk_smooth_renew_rates(yk_smooth *smooth);
/* With the factors at hand. */
yk_status yk_smooth_project_positions(const yk_smooth_model *model, yk_smooth_workspace *work,
                                      const yk_linear_solver *solver);
void yk_smooth_project_velocities(const yk_smooth_model *model, yk_smooth_workspace *work,
                                  const yk_linear_solver *solver);

#endif
