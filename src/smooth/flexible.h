/* Flexible bodies for smooth models: what is constant about one, apart from where it is and how
 * it moves.
 *
 *   modal   small deformations seen from a floating frame, a node of the model (smooth/ffrf.h):
 *           built-in shapes of a rod, or any shapes, such as those of a finite-element program
 *   rod     large deflections in absolute nodal coordinates (smooth/ancf.h): equal elements in a
 *           row
 *
 * Joints, forces and ports act at its attachments: those that are named when a modal body is
 * made, the end nodes of a rod's elements. A body is shared by the models that use it and goes
 * with the last of them. */
#ifndef YK_SMOOTH_FLEXIBLE_H
#define YK_SMOOTH_FLEXIBLE_H

#include "smooth/ancf.h"
#include "smooth/ffrf.h"
#include "smooth/ffrf_rod.h"

typedef enum yk_flexible_kind { YK_FLEXIBLE_MODAL, YK_FLEXIBLE_ROD } yk_flexible_kind;

/* Stations of a rod's line that are drawn. */
enum { YK_FLEXIBLE_OUTLINE = 9 };

typedef struct yk_ancf_rod_def {
    double length;
    int elements;
    yk_beam_section_def section;
} yk_ancf_rod_def;

typedef struct yk_flexible {
    yk_context *context;
    int users;
    yk_flexible_kind kind;
    double length;   /* a typical size */
    int coordinates; /* beyond those of the floating frame */
    int attachments; /* where joints may attach */
    int outline;     /* stations to draw: nodes after the attachments of a modal body */
    yk_ffrf modal;
    yk_ffrf_node *nodes; /* modal: attachments, then the outline */
    yk_ancf element;     /* rod: one stands for all */
    int elements;
    yk_ffrf_rod store_rod; /* owns modal and nodes of a built-in rod */
    yk_ffrf_bend *bends;   /* of attachments of other modal bodies */
    void *store;
} yk_flexible;

/* The def's attachments are kept in their order. */
yk_status yk_flexible_rod(yk_context *context, const yk_ffrf_rod_def *def, yk_flexible **body);
/* Attachments are points of the def, by index. */
yk_status yk_flexible_modal(yk_context *context, const yk_ffrf_def *def, const int *attachments,
                            int attachment_count, yk_flexible **body);
yk_status yk_flexible_ancf(yk_context *context, const yk_ancf_rod_def *def, yk_flexible **body);

/* Whoever makes or keeps a body releases it. */
yk_flexible *yk_flexible_keep(const yk_flexible *body);
void yk_flexible_release(yk_flexible *body);

double yk_flexible_mass(const yk_flexible *body);
/* Where an attachment is in the undeformed body, seen from its origin: the floating frame, or the
 * start of a rod. */
yk_vec3 yk_flexible_attachment(const yk_flexible *body, int attachment);

/* The largest displacement of the body per unit of a coordinate (m). */
double yk_flexible_reach(const yk_flexible *body, int coordinate);

/* A rod's coordinates, element by element: an end node has twelve, a middle six. */
static inline int yk_flexible_rod_node(int node)
{
    return (YK_ANCF_NODE + YK_ANCF_MIDDLE) * node;
}

#endif
