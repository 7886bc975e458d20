/* The solver kinds and import formats of this build: those of the core, and those of the folders of
 * interop that CMake was told to build (YOKE_FMI, YOKE_MBDYN, ...). The core declares these tables and
 * does not know who fills them. */
#include "interop/interop.h"

/* In the order in which the reference lists them. */
const yk_solver_kind *const yk_solver_kinds[] = {
    &yk_blocks_kind,    &yk_control_kind,
#ifdef YOKE_FMI
    &yk_fmu_kind,
#endif
    &yk_hydraulic_kind,
#ifdef YOKE_MBDYN
    &yk_mbdyn_kind,
#endif
    &yk_multibody_kind, &yk_nonsmooth_kind, &yk_oscillator_kind,
#ifdef YOKE_PRECICE
    &yk_precice_kind,
#endif
    &yk_remote_kind,
};
const int yk_solver_kind_count = sizeof yk_solver_kinds / sizeof *yk_solver_kinds;

const yk_import_format *const yk_import_formats[] = {
#ifdef YOKE_MBDYN
    &yk_mbdyn_format,
#endif
#ifdef YOKE_ROBOTS
    &yk_mjcf_format,
    &yk_urdf_format,
#endif
#ifdef YOKE_SSP
    &yk_ssp_format,
#endif
    NULL,
};
