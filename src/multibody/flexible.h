/* Flexible bodies of multibody systems: the constant data of a body, independent of its motion.
 *
 *   modal   small deformations seen from a floating frame, a node of the model (multibody/ffrf.h):
 *           built-in shapes of a rod, or any shapes, such as those of a finite-element program
 *   rod     large deflections in absolute nodal coordinates (multibody/ancf.h): equal elements in a
 *           row
 *
 * Joints, forces and ports act at its attachments: those named at the creation of a modal body, or
 * the end nodes of a rod's elements. A body is shared by the models that use it and destroyed with
 * the last of them. */
#ifndef YK_MULTIBODY_FLEXIBLE_H
#define YK_MULTIBODY_FLEXIBLE_H

#include "multibody/ancf.h"
#include "multibody/ffrf.h"

/* Stations of a rod's line that are drawn. */
enum { YK_FLEXIBLE_OUTLINE = 9 };

typedef struct yk_flexible {
    yk_context *context;
    int users;
    enum { YK_FLEXIBLE_MODAL, YK_FLEXIBLE_ROD } kind;
    double length;   /* a typical size */
    int coordinates; /* in addition to those of the floating frame */
    int attachments; /* where joints may attach */
    int outline;     /* stations to draw: nodes after the attachments of a modal body */
    yk_ffrf modal;
    yk_ffrf_node *nodes; /* modal: attachments, then the outline */
    yk_ancf element;     /* rod: one stands for all */
    int elements;
    yk_ffrf_bend *bends; /* modal: of the nodes */
    void *store;         /* and their shapes */
    /* Units of the amplitudes, one per coordinate; NULL: that of the shapes is not known. */
    const char **amplitude_units;
} yk_flexible;

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
 * The rods are thin (Euler-Bernoulli): no shear, but the rotary inertia of the sections is
 * included. Modal damping is a fraction of critical damping of each shape. */
enum { YK_ROD_MODES_MAX = 12 };

typedef struct yk_ffrf_rod_def {
    double length;
    yk_beam_section_def section;
    enum { YK_ROD_CLAMPED_FREE, YK_ROD_PINNED_PINNED, YK_ROD_FREE_FREE } support;
    int bending_y, bending_z; /* shapes of vibration with deflection along y and z */
    int extension, torsion;
    /* also the exact deflections under a force and a moment at the ends, in planes that bend */
    bool statics;
    bool stiffening; /* shapes of second order: bending shortens the rod, axial forces stiffen it */
    bool constant_mass;
    double damping_ratio;      /* fraction of critical damping of each shape */
    const double *attachments; /* distances from x = 0 at which joints attach */
    int attachment_count;
} yk_ffrf_rod_def;

/* Clamped at x = 0 with two bending shapes in each plane, one of extension and one of torsion. */
yk_ffrf_rod_def yk_ffrf_rod_default(void);
/* YK_ERROR_ARGUMENT: numbers that are not positive, too many shapes, or an attachment outside the
 * rod. The attachments keep the order of the def. */
yk_status yk_flexible_rod(yk_context *context, const yk_ffrf_rod_def *def, yk_flexible **body);

/* Attachments are points of the def, by index. */
yk_status yk_flexible_modal(yk_context *context, const yk_ffrf_def *def, const int *attachments,
                            int attachment_count, yk_flexible **body);

/* A rod of equal elements in absolute nodal coordinates. */
yk_status yk_flexible_ancf(yk_context *context, double length, int elements,
                           const yk_beam_section_def *section, yk_flexible **body);

/* An empty body with one user, for functions that create one; NULL: out of memory. */
yk_flexible *yk_flexible_begin(yk_context *context);
/* Every user of a body must release it. */
yk_flexible *yk_flexible_keep(const yk_flexible *body);
void yk_flexible_release(yk_flexible *body);

double yk_flexible_mass(const yk_flexible *body);
/* Position of an attachment in the undeformed body, relative to its origin: the floating frame, or
 * the start of a rod. */
yk_vec3 yk_flexible_attachment(const yk_flexible *body, int attachment);

#endif
