/* How the motion of the ports at the end of a step depends on the wrenches that act on them: the
 * columns of step_sensitivity.
 *
 * A column is one coefficient of one component of one port's wrench. Derivatives along it are
 * those of the equations of the integrator itself, solved with its own factors. What the
 * equations change by under a displacement is the central difference of their assembled residual
 * along the column's own direction, so no element needs a second derivative of anything; with
 * displacements of 1e-5 of the model's size it holds nine digits. */
#ifndef YK_MULTIBODY_VARIATION_H
#define YK_MULTIBODY_VARIATION_H

#include "multibody/multibody.h"

/* Internal steps of a macro step, at most. */
enum { YK_VARIATION_STEPS_MAX = 4096 };

struct variation {
    int columns, port_rows,
        outputs; /* derivatives, components of wrenches, components of motions */
    int degree;
    int *row, *power; /* of each column: its component and its power of time */
    /* of a direction: changes of positions, then of their rates, in the order of the unknowns */
    size_t n;
    double *begin; /* columns of n: what has changed at the beginning of the internal step */
    double *end;
    double *slope; /* columns times stages of n */
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

/* The fraction at which a direction moves the model by 1e-5 of its size; 0: it moves nothing. */
double yk_variation_relative_size(const yk_multibody_model *model,
                                  const yk_multibody_workspace *work, const double *direction);
/* A column from the motions of the ports at the trial, displaced backwards and then forwards;
 * `displace` moves it by a fraction of what the column changes. */
void yk_variation_read(yk_multibody *self, int column, double fraction,
                       void (*displace)(yk_multibody *self, int column, double fraction));
void yk_variation_keep(yk_multibody *self);
void yk_variation_restore(yk_multibody *self);

/* two_step.c: internal steps of the given sizes from the accepted state, without error control. */
yk_status yk_two_step_repeat(yk_multibody *self, double t, const double *sizes, int count);
/* Of implicit steps: derivatives at the converged end of a single internal step; and by
 * repetition of several from the image `mark`, with memory for an image in `end`. */
yk_status yk_two_step_vary(yk_multibody *self);
yk_status yk_two_step_differences(yk_multibody *self, double t, double h, const double *mark,
                                  const double *sizes, int count, double *end);

#endif
