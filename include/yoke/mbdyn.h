/* A subsystem that is a model in MBDyn, connected by its force "external structural" over a socket (docs/mbdyn.md). */
#ifndef YOKE_MBDYN_H
#define YOKE_MBDYN_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Times at which MBDyn exchanges data with its peer, as in its input file after `coupling`. */
typedef enum yk_mbdyn_coupling {
    YK_MBDYN_COUPLING_STAGGERED, /* after each converged step */
    YK_MBDYN_COUPLING_LOOSE,     /* after the prediction of each step */
    YK_MBDYN_COUPLING_TIGHT      /* after the prediction, and in every Newton iteration */
} yk_mbdyn_coupling;

/* Format of orientations, as in its input file after `orientation`. */
typedef enum yk_mbdyn_orientation {
    YK_MBDYN_ORIENTATION_MATRIX,
    YK_MBDYN_ORIENTATION_VECTOR,
    YK_MBDYN_ORIENTATION_EULER123
} yk_mbdyn_orientation;

typedef struct yk_mbdyn_def {
    const char *address;
    bool mbdyn_connects; /* MBDyn connects (`create, no`); otherwise it listens (`create, yes`) */
    /* The names of the ports: MBDyn's nodes in the order of its input file. */
    const char *const *nodes;
    int node_count;
    yk_mbdyn_coupling coupling;
    yk_mbdyn_orientation orientation;
    bool sends_accelerations; /* MBDyn sends accelerations */
    double timeout;           /* s, for each answer and for the connection */
} yk_mbdyn_def;

/* No address and no nodes, staggered, matrices, no accelerations, 30 s. */
yk_mbdyn_def yk_mbdyn_default(void);

/* A model that runs in unmodified MBDyn with a `force: ..., external structural` in its input file:
 * each node is a marker port that receives a wrench. MBDyn's time step must be that of the
 * subsystem. It can neither be initialized again nor rolled back. With tight coupling the subsystem
 * supports iterations. */
yk_status yk_mbdyn_create(yk_context *context, const yk_mbdyn_def *def, yk_subsystem **subsystem);

#ifdef __cplusplus
}
#endif

#endif
