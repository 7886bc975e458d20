/* What the builder of yoke/smooth.h offers beside its public functions: flexible bodies, and a
 * look at what was added. */
#ifndef YK_SMOOTH_BUILDER_H
#define YK_SMOOTH_BUILDER_H

#include "smooth/smooth.h"

/* A flexible body; its attachments, added one by one, are ids wherever a body is named in joints,
 * forces, ports and shapes. The def's body stays the caller's to release. */
int yk_smooth_add_flexible(yk_smooth_builder *builder, const yk_smooth_flexible_def *def);
int yk_smooth_add_attachment(yk_smooth_builder *builder, const yk_smooth_attachment_def *def);

/* Where a node or an attachment is at the start. */
yk_smooth_node_def yk_smooth_frame_at(const yk_smooth_builder *builder, int id);
/* The nodes by their ids, to be changed until the model is made; adding another moves them. */
yk_smooth_node_def *yk_smooth_nodes_of(yk_smooth_builder *builder);
/* The beams that were added; their number. */
int yk_smooth_beams_of(const yk_smooth_builder *builder, const yk_smooth_beam_def **beams);
/* A beam as an element, free of strain where its nodes are defined. */
yk_beam_def yk_smooth_beam_element(const yk_smooth_builder *builder,
                                   const yk_smooth_beam_def *beam);
/* Of the parabola through the three nodes of a beam, at one of them. */
yk_vec3 yk_smooth_beam_tangent(const yk_vec3 position[YK_BEAM_NODES], int k);

#endif
