/* Shared by the two halves of `solver: nonsmooth`. */
#ifndef YK_MODEL_KIND_NONSMOOTH_H
#define YK_MODEL_KIND_NONSMOOTH_H

#include "model/registry.h"

/* Variants of `particles`, in the order of the schema. */
enum { YK_PARTICLES_FROM_FILE, YK_PARTICLES_FROM_LATTICE, YK_PARTICLES_SETTLED };

#endif
