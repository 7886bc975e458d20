/* The parts of a participant of the library preCICE: the process that loads the library (host.c),
 * and the vertices of its mesh (vertices.c).
 *
 * The library's C interface supports one participant per process, and ends the process after every
 * error: in its configuration, or if a partner has ended. So a child process loads it. This process
 * stays alive, and reports the last output of the library. */
#ifndef YK_TRANSPORT_PRECICE_H
#define YK_TRANSPORT_PRECICE_H

#include "math/vec3.h"
#include "yoke/precice.h"

/* The process ---------------------------------------------------------------------------------- */

enum { YK_PRECICE_DATA_MAX = 2 };

/* Data of the mesh by name: those that this participant writes, and those that it reads. */
typedef struct yk_precice_data {
    const char *written[YK_PRECICE_DATA_MAX];
    const char *read[YK_PRECICE_DATA_MAX];
    int written_count, read_count;
} yk_precice_data;

/* State of the coupling after initialization or an advance. */
typedef struct yk_precice_state {
    int dimensions; /* of the mesh: 2 or 3 */
    double longest; /* s to the end of the time window */
    bool ongoing;   /* the coupling has not ended */
    bool complete;  /* the last advance ended a window, which is not repeated */
    bool begins;    /* an implicit coupling: a window begins here */
    bool repeats;   /* an implicit coupling: the window must be repeated */
    double ahead;   /* s, the time ahead for which the second set of values was read */
} yk_precice_state;

typedef struct yk_precice_host yk_precice_host;

/* Loads the library and creates the participant; afterwards `dimensions` of the state are known. */
yk_status yk_precice_open(yk_context *context, const yk_precice_def *def,
                          const yk_precice_data *data, int vertices, yk_precice_host **host,
                          yk_precice_state *state);
/* Values are all vertices of the first data, then of the second, `dimensions` numbers per vertex.
 * Values are read twice: for the present time, and for `ahead` s later, or the end of the window if
 * that is earlier. Coordinates are stored like the values of one data. */
yk_status yk_precice_initialize(yk_precice_host *host, const double *coordinates,
                                const double *written, double ahead, yk_precice_state *state,
                                double *read);
yk_status yk_precice_advance(yk_precice_host *host, double step, const double *written,
                             double ahead, yk_precice_state *state, double *read);
/* The message of the last failed call. */
const char *yk_precice_message(const yk_precice_host *host);
/* Lets the library close its connections, and ends the process. */
void yk_precice_close(yk_precice_host *host);

/* Vertices ------------------------------------------------------------------------------------- */

/* Vertices that move with a marker as a rigid body. */
typedef struct yk_vertices {
    yk_vec3 position; /* of the marker, in the reference */
    yk_quat orientation;
    const yk_vec3 *points; /* in the reference */
    int count;
    int dimensions; /* of the mesh: 2 leaves z out */
    yk_vec3 mean;   /* of the arms */
    /* J^-1 in the reference; zero if the vertices do not determine a rotation. */
    yk_mat3 inverse;
    bool rotates;
} yk_vertices;

/* Computes mean, inverse and rotates; the caller sets the other members. */
void yk_vertices_prepare(yk_vertices *vertices);

/* Values are `dimensions` numbers for each vertex. */
void yk_vertices_displace(const yk_vertices *vertices, const yk_motion *motion,
                          double *displacements);
void yk_vertices_move(const yk_vertices *vertices, const yk_motion *motion, double *velocities);
yk_wrench yk_vertices_reduce(const yk_vertices *vertices, const yk_motion *motion,
                             const double *forces);
void yk_vertices_distribute(const yk_vertices *vertices, const yk_motion *motion,
                            const yk_wrench *wrench, double *forces);
/* Position and orientation from displacements, starting at the orientation of the motion; then
 * velocities from velocities of the vertices. */
void yk_vertices_fit(const yk_vertices *vertices, const double *displacements, yk_motion *motion);
void yk_vertices_fit_velocity(const yk_vertices *vertices, const double *velocities,
                              yk_motion *motion);

#endif
