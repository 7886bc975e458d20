/* Ranks: processes that a launcher such as mpirun started together, on one machine or on many.
 *
 *   rank 0: system -> remote subsystems -> messages -> rank 1, 2, ...: sessions -> subsystems
 *
 * A message is one frame (frame.h), sent to a rank with a tag: 0 for messages between the
 * processes, 1 + i for subsystem i. So the subsystems of a rank are served in parallel, each by a
 * session of its own, and requests to several ranks are in transit at the same time.
 *
 * The MPI library is not linked: a module, yoke-mpi.so, contains the few required calls
 * (yk_ranks_driver) and is loaded if a launcher has started the program. Without a launcher there
 * is no cost. */
#ifndef YK_TRANSPORT_RANKS_H
#define YK_TRANSPORT_RANKS_H

#include <pthread.h>

#include "remote/frame.h"

enum { YK_HOST_NAME = 64, YK_TAG_CONTROL = 0, YK_TAG_SUBSYSTEM = 1, YK_ANY = -1 };

/* Exported by the module as yk_ranks_driver. All calls except `abort` are made by one thread at a
 * time. */
typedef struct yk_ranks_driver {
    size_t size; /* sizeof(yk_ranks_driver) of the header that it was compiled with */
    const char *name;
    bool (*open)(int *rank, int *count);
    /* The machines of all ranks, YK_HOST_NAME bytes each. */
    bool (*hosts)(char *names);
    /* Waits for all ranks. */
    void (*close)(void);
    /* Ends all ranks, including this one, with the exit code. */
    void (*abort)(int code);
    /* Whether a message is available; YK_ANY is replaced by its rank or tag. */
    bool (*probe)(int *from, int *tag, size_t *bytes);
    bool (*receive)(void *bytes, size_t count, int from, int tag);
    /* The bytes must not change until the message is sent; the request identifies it. */
    bool (*send)(const void *bytes, size_t count, int to, int tag, uint64_t *request);
    bool (*sent)(uint64_t *request);
} yk_ranks_driver;

/* Messages between this rank and the others. */
typedef struct yk_ranks_traffic {
    int64_t messages, bytes;
} yk_ranks_traffic;

typedef struct yk_ranks {
    yk_context *context;
    int rank, count;
    char (*hosts)[YK_HOST_NAME];
    const yk_ranks_driver *driver;

    /* Held around calls of the driver, and for the following members. */
    pthread_mutex_t lock;
    double spin;           /* polling time of a wait before it sleeps (s) */
    double sleep_fraction; /* fraction of the waiting time of a sleep */
    /* A message that was probed but not received yet, which need not be probed again. */
    int seen_from, seen_tag;
    size_t seen_bytes;
    yk_ranks_traffic traffic[YK_FRAME_KIND_END]; /* of frames, in both directions */
    /* Messages that the library could not send immediately, and the thread that progresses them. */
    struct yk_ranks_outgoing *under_way;
    int64_t sends; /* total number of messages */
    pthread_t pusher;
    bool pushes, closing;
} yk_ranks;

/* Whether a launcher has started this process with others, according to its environment. */
bool yk_ranks_launched(void);
/* Loads the module and initializes the communication. */
yk_status yk_ranks_open(yk_context *context, const char *module, yk_ranks **ranks);
/* Initializes the communication with a given driver. */
yk_status yk_ranks_meet(yk_context *context, const yk_ranks_driver *driver, yk_ranks **ranks);
/* Ends the communication together with the other ranks. */
void yk_ranks_close(yk_ranks *ranks);

/* Waits for a message; YK_ANY is replaced by its rank or tag. yk_ranks_take() receives the bytes. */
yk_status yk_ranks_wait(yk_context *context, yk_ranks *ranks, int *from, int *tag, size_t *bytes,
                        double deadline);
/* One message of plain bytes. The receiver knows its size from yk_ranks_wait(). */
yk_status yk_ranks_send(yk_context *context, yk_ranks *ranks, int to, int tag, const void *bytes,
                        size_t count, double deadline);
yk_status yk_ranks_take(yk_context *context, yk_ranks *ranks, int from, int tag, void *bytes,
                        size_t count);

/* The subsystem with the index on a rank. The deadline (s) applies to every answer. */
yk_status yk_ranks_remote(yk_context *context, yk_ranks *ranks, int rank, int index,
                          const char *name, double deadline, yk_subsystem **subsystem);

/* Answers requests of rank 0 to the subsystems (NULL if another rank has it) with the given number
 * of threads, until a message with the control tag arrives. `failure`: the reason why there are no
 * subsystems, which is then the answer to everything; NULL: no failure. Receives the computing time
 * (s) of each subsystem since the start. */
yk_status yk_ranks_serve(yk_context *context, yk_ranks *ranks, yk_subsystem *const *subsystems,
                         int count, const char *failure, int threads, double *seconds);

#endif
