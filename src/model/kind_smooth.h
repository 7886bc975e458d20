/* Shared by the parts of `solver: smooth`. */
#ifndef YK_MODEL_KIND_SMOOTH_H
#define YK_MODEL_KIND_SMOOTH_H

#include "model/registry.h"
#include "smooth/flexible.h"

/* To be included: where a node is and how it moves at the start. */
extern const yk_section yk_node_keys;

/* Sections of beams and rods: in this order of `choice`. */
enum { YK_SECTION_RECTANGLE, YK_SECTION_TUBE, YK_SECTION_GENERAL, YK_SECTION_MATRIX };
extern const yk_section *const yk_plain_sections[]; /* all but the last */
/* Of one of the plain sections; reports what does not fit together. */
yk_status yk_read_section(yk_builder *builder, const yk_node *node, yk_beam_section_def *def);

/* kind_smooth_flexible.c: an item of `flexible`. */
extern const yk_field yk_flexible_item;
enum { YK_FLEXIBLE_ITEM_ROD, YK_FLEXIBLE_ITEM_MODAL, YK_FLEXIBLE_ITEM_ANCF };
/* The body, to be released, and the attachment of each of its `points` (an array as long as they
 * are many). */
yk_status yk_flexible_build(yk_builder *builder, const yk_node *item, int *attachments,
                            yk_flexible **body);

#endif
