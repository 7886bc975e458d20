/* Vibration modes of a linear constrained system
 *
 *   M q'' + C q' + K q + G^T lambda = 0,   G q = 0
 *
 * with sparse matrices that need not be symmetric: those s, q with (s^2 M + s C + K) q + G^T
 * lambda = 0 and G q = 0 whose |s| is smallest. M may be singular (massless unknowns) and G may
 * have dependent rows; K may be singular (free bodies, mechanisms) or indefinite (unstable
 * equilibria).
 *
 * The operator (s - shift)^-1 is applied through one KLU factorisation of the constrained matrix
 * at the shift, and its largest eigenvalues are found by a block Arnoldi method without restart,
 * which finds modes of equal frequency and, on small systems, exhausts the whole space. */
#ifndef YK_SMOOTH_LINEAR_MODES_H
#define YK_SMOOTH_LINEAR_MODES_H

#include "yoke/base.h"

typedef struct yk_linear_entry {
    int row, column;
    double value;
} yk_linear_entry;

/* A matrix by its entries; those of one place add up. */
typedef struct yk_linear_matrix {
    const yk_linear_entry *entries;
    size_t count;
} yk_linear_matrix;

typedef struct yk_linear_system {
    int unknowns;
    int constraints;
    yk_linear_matrix mass, damping, stiffness; /* no damping: count = 0 */
    yk_linear_matrix constraint;               /* rows: constraints, columns: unknowns */
} yk_linear_system;

typedef struct yk_linear_modes_options {
    int count;        /* modes wanted; fewer are returned when there are no more */
    double tolerance; /* residual of a mode relative to the operator's eigenvalue */
    double shift;     /* rad/s; 0: chosen from the matrices */
    int subspace;     /* largest dimension of the search space; 0: 20 per mode and 200 */
} yk_linear_modes_options;

/* By ascending modulus. Of a complex pair only the member with positive imaginary part is
 * listed. */
typedef struct yk_linear_modes {
    yk_context *context;
    int unknowns;
    int count;
    double *real, *imaginary; /* s, in rad/s */
    double *residual;
    double *shape; /* 2 x unknowns per mode: real part, imaginary part; largest component 1 */
    double *floor; /* rad/s: below it a mode cannot be told from a free motion, for rounding */
    int subspace;  /* dimension of the space that was searched */
    bool damped;   /* found with C; without, s comes in pairs of both signs */
} yk_linear_modes;

yk_linear_modes_options yk_linear_modes_default(void);

/* YK_NOT_CONVERGED with the modes that did converge; YK_ERROR_SINGULAR where an unknown has
 * neither mass nor stiffness.
 */
yk_status yk_linear_modes_solve(yk_context *context, const yk_linear_system *system,
                                const yk_linear_modes_options *options, yk_linear_modes **modes);
void yk_linear_modes_destroy(yk_linear_modes *modes);

/* The last part of it: order, floors and shapes of modes that were found with this shift. */
void yk_linear_modes_order(const yk_linear_system *system, double shift, yk_linear_modes *modes);

static inline const double *yk_linear_modes_shape(const yk_linear_modes *modes, int mode,
                                                  bool imaginary)
{
    return modes->shape + (size_t)(2 * mode + (imaginary ? 1 : 0)) * (size_t)modes->unknowns;
}

#endif
