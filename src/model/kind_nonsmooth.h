/* Shared by the parts of `solver: nonsmooth`. */
#ifndef YK_MODEL_KIND_NONSMOOTH_H
#define YK_MODEL_KIND_NONSMOOTH_H

#include "model/registry.h"
#include "nonsmooth/nonsmooth.h"

/* Variants of `particles`, in the order of the schema. */
enum { YK_PARTICLES_FROM_FILE, YK_PARTICLES_FROM_LATTICE, YK_PARTICLES_SETTLED };

/* Adds an item of `particles`; its first body, or YK_NO_ID with a message. gravity in m/s2. */
int yk_read_particles(yk_builder *builder, yk_nonsmooth_builder *model, const yk_node *item,
                      double gravity, yk_material material);

#endif
