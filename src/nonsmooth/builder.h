/* What the builder of yoke/nonsmooth.h offers beside its public functions. */
#ifndef YK_NONSMOOTH_BUILDER_H
#define YK_NONSMOOTH_BUILDER_H

#include "nonsmooth/packing.h"

/* The world in the making, to be looked at. */
yk_nonsmooth *yk_nonsmooth_world_of(yk_nonsmooth_builder *builder);
/* Particles of a packing that is there already; position, motion, density and material are read of
 * the def. */
int yk_nonsmooth_add_packing(yk_nonsmooth_builder *builder, const yk_packing *packing,
                             const yk_particles_def *def);

#endif
