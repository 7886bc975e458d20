/* The builder of yoke/smooth.h from inside: flexible bodies, a look at what was added, and parts
 * that merging adds as they stand. */
#ifndef YK_SMOOTH_BUILDER_H
#define YK_SMOOTH_BUILDER_H

#include "base/building.h"
#include "smooth/smooth.h"

/* Ids of attachments begin here while a model is built, so that they do not depend on the number of
 * nodes, which may still grow. */
enum { YK_SMOOTH_FIRST_ATTACHMENT = 1 << 24 };

struct yk_smooth_builder {
    yk_building building;
    yk_smooth_description description; /* its counts are those of the arrays below */
    yk_smooth_node_def *nodes;
    yk_smooth_body_def *bodies;
    yk_joint_def *joints;
    yk_force_def *forces;
    yk_smooth_beam_def *beams;
    yk_smooth_flexible_def *flexibles;
    yk_smooth_attachment_def *attachments;
    yk_smooth_shape_def *shapes;
    yk_port_def *ports;
    int *force_channels; /* of a merged model, one per force; else NULL */
};

/* Adds an element as it stands: its index, or YK_NO_ID. */
#define YK_SMOOTH_APPEND(builder, list, counter, part)                                          \
    yk_building_append(&(builder)->building, &(builder)->list, &(builder)->description.counter, \
                       part, sizeof *(builder)->list)

/* All that was added, with attachments numbered behind the nodes; nothing can be added after it.
 * The arrays stay the builder's. */
yk_smooth_description yk_smooth_describe(yk_smooth_builder *builder);

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
