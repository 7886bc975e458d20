/* The smooth solver behind the plug-in contract. */
#ifndef YK_SMOOTH_SUBSYSTEM_H
#define YK_SMOOTH_SUBSYSTEM_H

#include "yoke/subsystem.h"

const yk_subsystem_ops *yk_smooth_ops(void);

#endif
