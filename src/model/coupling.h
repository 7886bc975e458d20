/* The section `coupling` of a scenario: its keys are the option rows of the schemes
 * (yoke/scheme.h); see coupling.c. */
#ifndef YK_MODEL_COUPLING_H
#define YK_MODEL_COUPLING_H

#include "model/plugins.h"
#include "model/schema.h"
#include "yoke/coupling.h"

/* The schemes that a scenario may name, first those of the library. NULL behind the last, or where
 * there is none of that name. */
const yk_scheme_ops *yk_schemes_at(const yk_extensions *extensions, int number);
const yk_scheme_ops *yk_schemes_find(const yk_extensions *extensions, const char *name);

/* The section with the keys of all schemes, each as the chosen scheme has it, or else as the
 * first that has it. Without a chosen one, as documentation: the meaning of each key in every
 * scheme. Lives in the store; NULL when out of memory. */
const yk_section *yk_coupling_section(yk_store *store, const yk_extensions *extensions,
                                      const yk_scheme_ops *chosen);
/* The file, with that section in it and the solvers from outside. */
const yk_section *yk_scenario_section(yk_store *store, const yk_extensions *extensions,
                                      const yk_scheme_ops *chosen);

#endif
