/* Built-in shapes of a straight uniform rod for the floating frame of reference: bending in two
 * planes, extension, torsion. The rod runs along x from the origin of the floating frame; y and z
 * are the principal axes of its section.
 *
 *   clamped-free    the frame is fixed to the section at x = 0: shapes of a cantilever
 *   pinned-pinned   the frame's x axis runs through both ends: sines; extension and torsion start
 *                   at x = 0
 *   free-free       the frame moves with the mean motion: modes of a free rod, orthogonal to all
 *                   rigid motions
 *
 * Thin rods in the sense of Euler and Bernoulli: no shear; the rotary inertia of the sections is
 * kept. Modal damping is a fraction of critical damping for each shape alone. */
#ifndef YK_SMOOTH_FFRF_ROD_H
#define YK_SMOOTH_FFRF_ROD_H

#include "smooth/ffrf.h"
#include "yoke/smooth.h"

typedef enum yk_rod_support {
    YK_ROD_CLAMPED_FREE,
    YK_ROD_PINNED_PINNED,
    YK_ROD_FREE_FREE
} yk_rod_support;

enum { YK_ROD_MODES_MAX = 12 };

typedef struct yk_ffrf_rod_def {
    double length;
    yk_beam_section_def section;
    yk_rod_support support;
    int bending_y, bending_z; /* shapes of vibration with deflection along y and z */
    int extension, torsion;
    /* also the exact deflections under a force and a moment at the ends, in planes that bend */
    bool statics;
    bool stiffening; /* shapes of second order: bending draws the rod in, axial forces stiffen it */
    bool constant_mass;
    double damping_ratio;      /* fraction of critical damping of each shape */
    const double *attachments; /* distances from x = 0 at which joints attach */
    int attachment_count;
} yk_ffrf_rod_def;

typedef struct yk_ffrf_rod {
    yk_ffrf body;
    yk_ffrf_node *nodes; /* one per attachment */
    int node_count;
    yk_ffrf_bend *bends;
    void *store;
} yk_ffrf_rod;

/* Clamped at x = 0 with two bending shapes in each plane, one of extension and one of torsion. */
yk_ffrf_rod_def yk_ffrf_rod_default(void);
/* YK_ERROR_ARGUMENT for numbers that are not positive, too many shapes, or an attachment outside
 * the rod. */
yk_status yk_ffrf_rod_create(yk_context *context, const yk_ffrf_rod_def *def, yk_ffrf_rod *rod);
void yk_ffrf_rod_destroy(yk_context *context, yk_ffrf_rod *rod);

#endif
