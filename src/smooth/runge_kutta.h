/* The Runge-Kutta method of order 8: its coefficients as data, and what its steps and their
 * derivatives share. */
#ifndef YK_SMOOTH_RUNGE_KUTTA_H
#define YK_SMOOTH_RUNGE_KUTTA_H

#include "smooth/internal.h"

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

yk_runge_kutta_workspace yk_runge_kutta_workspace_of(const yk_smooth_model *model,
                                                     yk_smooth_workspace *work);
/* Beginning of the step plus what the slopes before stage s give it. */
void yk_runge_kutta_stage(const yk_runge_kutta_workspace *w, int s, double size, double *value);
/* The trial at a vector of the integration. */
void yk_runge_kutta_place(const yk_smooth_model *model, yk_smooth_workspace *work,
                          const yk_runge_kutta_workspace *w, const double *value);
/* Inputs and time at a point of the step. */
void yk_runge_kutta_move_to(const yk_smooth_model *model, yk_smooth_workspace *work, double t,
                            double local);

/* runge_kutta_variation.c: along an internal step that was accepted; after it has arrived; at the
 * end of the whole. */
yk_status yk_runge_kutta_vary(yk_smooth *smooth, const yk_runge_kutta_workspace *w, double t,
                              double local, double size);
void yk_runge_kutta_vary_end(yk_smooth *smooth, const yk_runge_kutta_workspace *w);
yk_status yk_runge_kutta_vary_outputs(yk_smooth *smooth, double h);

#endif
