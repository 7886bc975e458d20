/* A subsystem that stands for the solvers behind the coupling library preCICE (docs/precice.md). */
#ifndef YOKE_PRECICE_H
#define YOKE_PRECICE_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points of a coupling mesh that one port carries. */
typedef struct yk_precice_port_def {
    const char *name;
    /* Where the port is while nothing is displaced, in the axes of the mesh (m). */
    yk_vec3 position;
    yk_quat orientation;
    /* Its vertices there (m); they move with the port as with a rigid body. None: one at the
     * position. */
    const yk_vec3 *vertices;
    int vertex_count;
    /* Not zero: a scalar port, whose coordinate is the displacement along this axis. */
    yk_vec3 axis;
} yk_precice_port_def;

typedef struct yk_precice_def {
    const char *library;     /* file, or name that the loader finds */
    const char *participant; /* as the configuration names it */
    const char *config_file; /* file */
    const char *mesh;        /* that the participant provides */
    /* What the ports take: a motion, which is written, and forces are read; or a wrench, which is
     * written as forces, and displacements are read. */
    yk_causality causality;
    /* Names of the data; of the two motions one may be NULL. */
    const char *displacement, *velocity, *force;
    const yk_precice_port_def *ports;
    int port_count;
    double timeout; /* s, for each answer: a partner may need that long for a time window */
} yk_precice_def;

/* libprecice.so.3, ports that take motion, data Displacement and Force, 600 s. */
yk_precice_def yk_precice_default(void);

/* A participant of the coupling library preCICE, version 3, which a child process loads: it stands for
 * the solvers that meet this one there. One macro step is one time window, a part of one, or several.
 * An implicit coupling repeats macro steps (yk_time_window_ops). It can be started once. */
yk_status yk_precice_create(yk_context *context, const yk_precice_def *def,
                            yk_subsystem **subsystem);

#ifdef __cplusplus
}
#endif

#endif
