/* Shared by the two halves of `solver: smooth`. */
#ifndef YK_MODEL_KIND_SMOOTH_H
#define YK_MODEL_KIND_SMOOTH_H

#include "model/registry.h"

enum { YK_SMOOTH_FEEDBACK_MAX = 15 };

#endif
