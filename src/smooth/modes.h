/* Eigenfrequencies and mode shapes of a smooth model about its present state (after start,
 * statics or any step).
 *
 * The equations of motion are linearised as the time integration sees them, with the joints as
 * constraints and the geometric stiffness of their reactions: a pendulum swings, a preloaded beam
 * stiffens, a column under its critical load has frequency zero. Dampers, beam damping and
 * gyroscopic terms make the modes complex. */
#ifndef YK_SMOOTH_MODES_H
#define YK_SMOOTH_MODES_H

#include "smooth/smooth.h"

typedef struct yk_modes_options {
    int count;        /* modes wanted, from the lowest frequency on */
    double tolerance; /* relative residual */
} yk_modes_options;

/* One mode: motion of the form shape * exp(s t). */
typedef struct yk_mode {
    double growth;    /* real part of s (1/s): negative decays */
    double omega;     /* imaginary part of s (rad/s), not negative */
    double frequency; /* omega / 2 pi (Hz) */
    double damping;   /* -growth / |s|: 1 and above: no oscillation */
    /* |s| is zero within rounding: a mechanism or a free body moves without resistance */
    bool free_motion;
    double residual; /* relative */
    /* fraction of the model's mass that takes part along x, y, z: effective modal mass / total */
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

yk_modes_options yk_modes_default(void);

/* YK_NOT_CONVERGED leaves the modes that were found. The state of the model is not changed;
 * between steps only. */
yk_status yk_modes_find(yk_smooth *model, const yk_modes_options *options, yk_modes **modes);
void yk_modes_destroy(yk_modes *modes);

/* Six numbers of a node in a mode: displacement, rotation. */
static inline const double *yk_modes_shape(const yk_modes *modes, int mode, int node,
                                           bool imaginary)
{
    size_t length = 6 * (size_t)modes->node_count;
    return modes->shape + (size_t)(2 * mode + (imaginary ? 1 : 0)) * length + 6 * (size_t)node;
}

#endif
