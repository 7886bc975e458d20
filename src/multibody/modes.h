/* Vibration modes: of a linear constrained system, and of a multibody system about one of its states. */
#ifndef YK_MULTIBODY_MODES_H
#define YK_MULTIBODY_MODES_H

#include "math/sparse.h"
#include "multibody/def.h"

/* Linear systems: linear_modes.c --------------------------------------------------------------- */

/* Vibration modes of a linear constrained system
 *
 *   M q'' + C q' + K q + G^T lambda = 0,   G q = 0
 *
 * with sparse matrices that need not be symmetric: the s and q with (s^2 M + s C + K) q + G^T
 * lambda = 0 and G q = 0 whose |s| is smallest. M may be singular (massless unknowns) and G may
 * have dependent rows; K may be singular (free bodies, mechanisms) or indefinite (unstable
 * equilibria).
 *
 * The operator (s - shift)^-1 is applied through one KLU factorization of the constrained matrix at
 * the shift. Its largest eigenvalues are found by a block Arnoldi method without restart, which
 * finds modes of equal frequency and, for small systems, the complete spectrum. */

/* A matrix by its entries; repeated entries are summed. */
typedef struct yk_linear_matrix {
    const yk_matrix_entry *entries;
    size_t count;
} yk_linear_matrix;

typedef struct yk_linear_system {
    int unknowns;
    int constraints;
    yk_linear_matrix mass, damping, stiffness; /* no damping: count = 0 */
    yk_linear_matrix constraint;               /* rows: constraints, columns: unknowns */
} yk_linear_system;

typedef struct yk_modes_options {
    int count;        /* requested modes; fewer are returned if there are no more */
    double tolerance; /* residual of a mode relative to the operator's eigenvalue */
    double shift;     /* rad/s; 0: chosen from the matrices */
    int subspace;     /* largest dimension of the search space; 0: 20 per mode and 200 */
} yk_modes_options;

/* By ascending modulus. Of a complex pair only the member with positive imaginary part is
 * listed. */
typedef struct yk_linear_modes {
    yk_context *context;
    int unknowns;
    int count;
    double *real, *imaginary; /* s, in rad/s */
    double *residual;
    double *shape; /* 2 x unknowns per mode: real part, imaginary part; largest component 1 */
    /* rad/s: below it a mode cannot be distinguished from a free motion because of rounding errors */
    double *floor;
    int subspace; /* dimension of the space that was searched */
    bool damped;  /* computed with C; without C, s comes in pairs of both signs */
} yk_linear_modes;

yk_modes_options yk_modes_default(void);

/* YK_NOT_CONVERGED: only the converged modes are returned. YK_ERROR_SINGULAR: an unknown has
 * neither mass nor stiffness. */
yk_status yk_linear_modes_solve(yk_context *context, const yk_linear_system *system,
                                const yk_modes_options *options, yk_linear_modes **modes);
void yk_linear_modes_destroy(yk_linear_modes *modes);

/* The last stage: order, floors and shapes of modes that were found with this shift. */
void yk_linear_modes_order(const yk_linear_system *system, double shift, yk_linear_modes *modes);

static inline const double *yk_linear_modes_shape(const yk_linear_modes *modes, int mode,
                                                  bool imaginary)
{
    return modes->shape + (size_t)(2 * mode + (imaginary ? 1 : 0)) * (size_t)modes->unknowns;
}

/* Multibody systems: modes.c ----------------------------------------------------------------------- */

/* Eigenfrequencies and mode shapes of a multibody system about its present state (after start,
 * statics or any step).
 *
 * The equations of motion are linearised as the time integration sees them, with the joints as
 * constraints and the geometric stiffness of their reactions: a pendulum swings, a preloaded beam
 * stiffens, a column under its critical load has frequency zero. Dampers, beam damping and
 * gyroscopic terms make the modes complex. */
/* One mode: motion of the form shape * exp(s t). */
typedef struct yk_mode {
    double growth;    /* real part of s (1/s): negative decays */
    double omega;     /* imaginary part of s (rad/s), not negative */
    double frequency; /* omega / 2 pi (Hz) */
    double damping;   /* -growth / |s|: 1 and above: no oscillation */
    /* |s| is zero within rounding errors: a mechanism or a free body moves without resistance */
    bool free_motion;
    double residual; /* relative */
    /* participating fraction of the model's mass along x, y, z: effective modal mass / total */
    double mass[3];
} yk_mode;

typedef struct yk_modes {
    yk_context *context;
    int count;
    int node_count; /* nodes, then attachments of flexible bodies */
    yk_mode *mode;
    /* count x 2 x 6 node_count: real and imaginary part; displacement and rotation of each node,
     * the largest unknown of the model 1 (m or rad) */
    double *shape;
} yk_modes;

/* YK_NOT_CONVERGED: only the converged modes are returned. The state of the model does not change.
 * Call between steps only. */
yk_status yk_modes_find(yk_multibody *model, const yk_modes_options *options, yk_modes **modes);
void yk_modes_destroy(yk_modes *modes);

/* The six numbers of a node in a mode: displacement, rotation. */
static inline const double *yk_modes_shape(const yk_modes *modes, int mode, int node,
                                           bool imaginary)
{
    size_t length = 6 * (size_t)modes->node_count;
    return modes->shape + (size_t)(2 * mode + (imaginary ? 1 : 0)) * length + 6 * (size_t)node;
}

#endif
