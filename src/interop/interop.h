/* Contributions of the folders of interop to Yoke, one row each. registry.c lists the rows that a build has. */
#ifndef YK_INTEROP_INTEROP_H
#define YK_INTEROP_INTEROP_H

#include "interop/import/importer.h"
#include "model/registry.h"

/* Kinds of subsystems. */
extern const yk_solver_kind yk_fmu_kind, yk_mbdyn_kind, yk_precice_kind;
/* Formats of `yoke import`. */
extern const yk_import_format yk_mbdyn_format, yk_mjcf_format, yk_ssp_format, yk_urdf_format;

#endif
