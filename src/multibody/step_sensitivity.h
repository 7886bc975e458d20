/* Derivatives of the motion of the ports at the end of a step with respect to the wrenches on them:
 * the columns of step_sensitivity.
 *
 * A column belongs to one coefficient of one component of one port's wrench. Derivatives along it
 * are those of the equations of the integrator itself, solved with its own factors. The change of
 * the equations by a displacement is the central difference of their assembled residual along the
 * column's own direction, so that no element needs second derivatives; with displacements of 1e-5
 * of the model's size it has nine correct digits. */
#ifndef YK_MULTIBODY_VARIATION_H
#define YK_MULTIBODY_VARIATION_H

#include "multibody/multibody.h"

/* Largest number of internal steps of a macro step. */
enum { YK_VARIATION_STEPS_MAX = 4096 };

struct variation {
    int columns, port_rows, outputs; /* derivatives, wrench components, motion components */
    int degree;
    int *row, *power; /* per column: its component and its power of time */
    /* of a direction: changes of positions, then of their rates, in the order of the unknowns */
    size_t n;
    double *begin; /* columns x n: changes at the start of the internal step */
    double *end;
    double *slope; /* columns x stages x n */
    double *direction;
    double *base, *plus, *minus; /* as long as the unknowns */
    double *output[2];
    yk_quat *rotated;
    port_row *rows;
    double *matrix;       /* of the caller */
    double *mark, *image; /* two images of the state */
    double *sizes;        /* of the internal steps */
    int size_count;
    /* The trial of the step itself. */
    trial_node *trial;
    trial_coordinate *coordinates;
    double *lambda;
    double supply, port_supply, loss, potential;
};

/* The factor with which a direction moves the model by 1e-5 of its size; 0: the direction is zero. */
double yk_variation_relative_size(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, const double *direction);
/* Computes a column from the motions of the ports at the trial displaced backwards and forwards;
 * `displace` moves the trial by a multiple of the column. */
void yk_variation_read(yk_multibody *self, int column, double fraction,
                       void (*displace)(yk_multibody *self, int column, double fraction));
void yk_variation_keep(yk_multibody *self);
void yk_variation_restore(yk_multibody *self);

/* two_step.c: internal steps of the given sizes from the accepted state, without error control. */
yk_status yk_two_step_repeat(yk_multibody *self, double t, const double *sizes, int count);
/* For implicit steps: derivatives at the converged end of a single internal step; and derivatives
 * of several steps by repeating them from the image `mark`, with memory for an image in `end`. */
yk_status yk_two_step_vary(yk_multibody *self);
yk_status yk_two_step_differences(yk_multibody *self, double t, double h, const double *mark,
                                  const double *sizes, int count, double *end);

#endif
