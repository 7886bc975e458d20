/* A subsystem that represents the solvers behind the coupling library preCICE (docs/precice.md). */
#ifndef YOKE_PRECICE_H
#define YOKE_PRECICE_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points of a coupling mesh that move with one port. */
typedef struct yk_precice_port_def {
    const char *name;
    /* Position of the port without displacements, in the axes of the mesh (m). */
    yk_vec3 position;
    yk_quat orientation;
    /* Its vertices (m), which move with the port as a rigid body. None: one at the position. */
    const yk_vec3 *vertices;
    int vertex_count;
    /* Not zero: a scalar port, whose coordinate is the displacement along this axis. */
    yk_vec3 axis;
} yk_precice_port_def;

typedef struct yk_precice_def {
    const char *library;     /* file, or name that the loader finds */
    const char *participant; /* name in the configuration */
    const char *config_file; /* file */
    const char *mesh;        /* provided by the participant */
    /* Causality of the ports. Motion: the motion is written, and forces are read. Wrench: forces
     * are written, and displacements are read. */
    yk_causality causality;
    /* Names of the data; of the two motions one may be NULL. */
    const char *displacement, *velocity, *force;
    const yk_precice_port_def *ports;
    int port_count;
    double timeout; /* s, for each answer: a partner may need this time for a time window */
} yk_precice_def;

/* libprecice.so.3, motion ports, data Displacement and Force, 600 s. */
yk_precice_def yk_precice_default(void);

/* A participant of the coupling library preCICE, version 3, which a child process loads: it
 * represents the solvers coupled with this system. One macro step is one time window, a part of
 * one, or several. An implicit coupling repeats macro steps (yk_time_window_ops). The participant
 * can be initialized once. */
yk_status yk_precice_create(yk_context *context, const yk_precice_def *def,
                            yk_subsystem **subsystem);

#ifdef __cplusplus
}
#endif

#endif
