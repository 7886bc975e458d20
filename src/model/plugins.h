/* What a scenario may name besides the solvers and schemes of the library: those of the program
 * that loads it, and those of the plug-ins that it names (yoke/plugin.h). */
#ifndef YK_MODEL_PLUGINS_H
#define YK_MODEL_PLUGINS_H

#include "model/registry.h"
#include "yoke/plugin.h"

typedef struct yk_extensions {
    const yk_solver_ops **solvers;
    int solver_count;
    const yk_scheme_ops **schemes;
    int scheme_count;
} yk_extensions;

/* Makes a subsystem by a solver from outside, from its resolved section. */
yk_status yk_solver_build(yk_builder *builder, const yk_solver_ops *ops, const yk_node *section,
                          yk_subsystem **subsystem);

#endif
