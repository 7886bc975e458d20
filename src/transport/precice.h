/* The library preCICE in a process of its own, and what is asked of it.
 *
 * Its C interface has one participant per process, and ends the process on every mistake: in its
 * configuration, or when a partner has gone. So a child process loads it; this one stays alive, and
 * says what the library wrote before it ended. */
#ifndef YK_TRANSPORT_PRECICE_H
#define YK_TRANSPORT_PRECICE_H

#include "yoke/transport.h"

enum { YK_PRECICE_DATA_MAX = 2 };

/* Data of the mesh by name: those that this participant writes, and those that it reads. */
typedef struct yk_precice_data {
    const char *written[YK_PRECICE_DATA_MAX];
    const char *read[YK_PRECICE_DATA_MAX];
    int written_count, read_count;
} yk_precice_data;

/* Where the coupling is after initialisation or an advance. */
typedef struct yk_precice_state {
    int dimensions; /* of the mesh: 2 or 3 */
    double longest; /* s to the end of the time window */
    bool ongoing;   /* the coupling has not ended */
    bool complete;  /* the last advance ended a window, which is not repeated */
    bool begins;    /* an implicit coupling: a window begins here */
    bool repeats;   /* an implicit coupling: the window is to be made again */
    double ahead;   /* s after now that the second set of values was read for */
} yk_precice_state;

typedef struct yk_precice_host yk_precice_host;

/* Loads the library and makes the participant; `dimensions` of the state are known then. */
yk_status yk_precice_open(yk_context *context, const yk_precice_def *def,
                          const yk_precice_data *data, int vertices, yk_precice_host **host,
                          yk_precice_state *state);
/* Values are all vertices of the first data, then of the second, `dimensions` numbers of a vertex.
 * Those read come twice: for now, and for `ahead` s later, or the end of the window where that is
 * earlier. Coordinates as the values of one data. */
yk_status yk_precice_initialize(yk_precice_host *host, const double *coordinates,
                                const double *written, double ahead, yk_precice_state *state,
                                double *read);
yk_status yk_precice_advance(yk_precice_host *host, double step, const double *written,
                             double ahead, yk_precice_state *state, double *read);
/* What was wrong, once a call has failed. */
const char *yk_precice_message(const yk_precice_host *host);
/* Lets the library end its connections, and ends the process. */
void yk_precice_close(yk_precice_host *host);

#endif
