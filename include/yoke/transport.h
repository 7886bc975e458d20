/* Subsystems in other processes: a server that offers them, and a subsystem that stands for one.
 *
 *   process 1                                              process 2
 *   system -> remote subsystem -> frames over a socket -> server -> subsystem
 *
 * Every operation of the contract (yoke/subsystem.h) is one frame there and one back; numbers
 * travel as the 8 bytes that they are, so the results are those of one process to the last bit.
 * What schemes ask for after each step (outputs, energies, predictions, the next event) comes back
 * with the step. docs/protocol.md describes the frames byte by byte for partners in other
 * languages.
 *
 * Addresses:
 *
 *   unix:PATH        a UNIX socket in the file system
 *   tcp:HOST:PORT    a TCP socket; beyond the loopback device only with a shared secret
 *
 * Between processes of one machine (unix:) the frames go through shared memory, and the socket is
 * left to say that the partner has ended. A partner that ends, does not answer within the deadline
 * or sends what the protocol does not allow is an error of the call that waits for it. */
#ifndef YOKE_TRANSPORT_H
#define YOKE_TRANSPORT_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A shared secret is the first line of a file that both sides have. */
enum { YK_SECRET_MIN = 16, YK_SECRET_MAX = 1024 };
/* Reads it; without its line end. */
yk_status yk_read_secret_file(yk_context *context, const char *path, char secret[YK_SECRET_MAX]);

typedef struct yk_remote_def {
    const char *address;
    const char *subsystem; /* its name at the server; "": the only one */
    /* s, for each answer; a server that is not there yet is waited for as long */
    double timeout;
    const char *secret;         /* the same as at the server; NULL: none */
    bool disable_shared_memory; /* no shared memory */
} yk_remote_def;

/* No address, a deadline of 30 s. */
yk_remote_def yk_remote_default(void);

/* Connects to a server. The subsystem has the ports, channels and capabilities of the one that it
 * stands for, but cannot be merged with others. */
yk_status yk_remote_create(yk_context *context, const yk_remote_def *def, yk_subsystem **subsystem);

typedef struct yk_server_def {
    const char *address;
    const char *secret; /* NULL: none */
    /* Makes the subsystem that a client asks for, in the process that serves this client alone and
     * ends with it: nothing needs to be destroyed. Its message becomes the client's. */
    yk_status (*create)(void *user, yk_context *context, const char *name,
                        yk_subsystem **subsystem);
    void *user;
    bool stop_after_first_client; /* return when the first client has left */
    double client_timeout; /* s without a frame after which a client counts as gone; 0: never */
    /* Called when the server listens, and now and then while it waits; NULL: never. False: end. */
    bool (*on_idle)(void *user, const char *address);
} yk_server_def;

yk_server_def yk_server_default(void);

/* Listens, and serves each client in a process of its own, so that one that makes a subsystem crash
 * takes nobody with it. Returns YK_OK when it is told to end, or after one client. */
yk_status yk_serve(yk_context *context, const yk_server_def *def);

/* MBDyn ---------------------------------------------------------------------------------------- */

/* When MBDyn talks to its peer, as its input file says behind `coupling`. */
typedef enum yk_mbdyn_coupling {
    YK_MBDYN_COUPLING_STAGGERED, /* after each converged step */
    YK_MBDYN_COUPLING_LOOSE,     /* after the prediction of each step */
    YK_MBDYN_COUPLING_TIGHT      /* after the prediction, and in every Newton iteration */
} yk_mbdyn_coupling;

/* How it sends orientations, as its input file says behind `orientation`. */
typedef enum yk_mbdyn_orientation {
    YK_MBDYN_ORIENTATION_MATRIX,
    YK_MBDYN_ORIENTATION_VECTOR,
    YK_MBDYN_ORIENTATION_EULER123
} yk_mbdyn_orientation;

typedef struct yk_mbdyn_def {
    const char *address;
    bool mbdyn_connects; /* MBDyn connects (`create, no`); else it listens (`create, yes`) */
    /* The names of the ports: MBDyn's nodes in the order of its input file. */
    const char *const *nodes;
    int node_count;
    yk_mbdyn_coupling coupling;
    yk_mbdyn_orientation orientation;
    bool sends_accelerations; /* it sends them */
    double timeout;           /* s, for each answer and for MBDyn to be there */
} yk_mbdyn_def;

/* No address and no nodes, staggered, matrices, no accelerations, 30 s. */
yk_mbdyn_def yk_mbdyn_default(void);

/* A model that runs in MBDyn, unmodified but for its `force: ..., external structural`: each node
 * is a marker port that takes a wrench. MBDyn's time step is its own, and must be that of the
 * subsystem; it can neither be started again nor go back. With tight coupling the subsystem can
 * iterate. */
yk_status yk_mbdyn_create(yk_context *context, const yk_mbdyn_def *def, yk_subsystem **subsystem);

/* preCICE -------------------------------------------------------------------------------------- */

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
