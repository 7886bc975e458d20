/* Systems of FMUs in the standard SSP (System Structure and Parameterization). */
#ifndef YK_INTEROP_SSP_SSP_H
#define YK_INTEROP_SSP_SSP_H

#include "yoke/base.h"

/* The description of a system in a package. */
#define YK_SSP_DESCRIPTION "SystemStructure.ssd"

/* Sections of a scenario for which SSP has no elements, stored in its annotation: keys of the whole
 * system and of a component, ended by NULL. */
#define YK_SSP_ANNOTATION "yoke.coupling"
extern const char *const yk_ssp_system_sections[];
extern const char *const yk_ssp_component_sections[];

/* Writes a scenario whose subsystems are all FMUs as a package. */
yk_status yk_ssp_write(yk_context *context, const char *path, const char *const *overrides,
                       int override_count, const char *file);

#endif
