/* Ranks: processes that a launcher such as mpirun started together, on one machine or on many.
 *
 *   rank 0: system -> remote subsystems -> messages -> rank 1, 2, ...: sessions -> subsystems
 *
 * A message is one frame (frame.h), to a rank, with a tag: 0 for what the ranks say to each other
 * as processes, 1 + i for the subsystem i. So the subsystems of a rank are served side by side,
 * each by a session of its own, and requests to several ranks are under way at the same time.
 *
 * The library behind the messages is not linked: a module, yoke-mpi.so, has the few calls that are
 * needed (yk_ranks_driver) and is loaded where a launcher has started the program. Without one
 * nothing of this costs anything. */
#ifndef YK_TRANSPORT_RANKS_H
#define YK_TRANSPORT_RANKS_H

#include <pthread.h>

#include "remote/frame.h"

enum { YK_HOST_NAME = 64, YK_TAG_CONTROL = 0, YK_TAG_SUBSYSTEM = 1, YK_ANY = -1 };

/* What the module exports as yk_ranks_driver. All calls but `abort` from one thread at a time. */
typedef struct yk_ranks_driver {
    size_t size; /* sizeof(yk_ranks_driver) of the header that it was compiled with */
    const char *name;
    bool (*open)(int *rank, int *count);
    /* The machines of all ranks, YK_HOST_NAME bytes each. */
    bool (*hosts)(char *names);
    /* Waits for all ranks. */
    void (*close)(void);
    /* Ends all ranks, and this one with the exit code. */
    void (*abort)(int code);
    /* Whether a message has come; YK_ANY becomes what it has. */
    bool (*probe)(int *from, int *tag, size_t *bytes);
    bool (*receive)(void *bytes, size_t count, int from, int tag);
    /* The bytes stay as they are until it is sent; the request stands for it on its way. */
    bool (*send)(const void *bytes, size_t count, int to, int tag, uint64_t *request);
    bool (*sent)(uint64_t *request);
} yk_ranks_driver;

/* What went between this rank and the others. */
typedef struct yk_ranks_traffic {
    int64_t messages, bytes;
} yk_ranks_traffic;

typedef struct yk_ranks {
    yk_context *context;
    int rank, count;
    char (*hosts)[YK_HOST_NAME];
    const yk_ranks_driver *driver;

    /* Around calls of the driver, and for what follows. */
    pthread_mutex_t lock;
    double spin;           /* s that a wait looks for its message before it sleeps */
    double sleep_fraction; /* of the time waited, that it sleeps then */
    /* A message that was seen but not taken yet, which need not be looked for again. */
    int seen_from, seen_tag;
    size_t seen_bytes;
    yk_ranks_traffic traffic[YK_FRAME_KIND_END]; /* of frames, either way */
    /* Messages that the library could not send at once, and the thread that sees to them. */
    struct yk_ranks_outgoing *under_way;
    int64_t sends; /* of all messages */
    pthread_t pusher;
    bool pushes, closing;
} yk_ranks;

/* Whether a launcher has started this process with others, as its environment says. */
bool yk_ranks_launched(void);
/* Loads the module and meets the others. */
yk_status yk_ranks_open(yk_context *context, const char *module, yk_ranks **ranks);
/* Meets them by a driver that is at hand. */
yk_status yk_ranks_meet(yk_context *context, const yk_ranks_driver *driver, yk_ranks **ranks);
/* Leaves together with the others. */
void yk_ranks_close(yk_ranks *ranks);

/* Waits for a message; YK_ANY becomes what it has. The bytes are taken by yk_ranks_take. */
yk_status yk_ranks_wait(yk_context *context, yk_ranks *ranks, int *from, int *tag, size_t *bytes,
                        double deadline);
/* One message of plain bytes. Who takes it knows its size from yk_ranks_wait. */
yk_status yk_ranks_send(yk_context *context, yk_ranks *ranks, int to, int tag, const void *bytes,
                        size_t count, double deadline);
yk_status yk_ranks_take(yk_context *context, yk_ranks *ranks, int from, int tag, void *bytes,
                        size_t count);

/* The subsystem that a rank has under the index. The deadline (s) is that of every answer. */
yk_status yk_ranks_remote(yk_context *context, yk_ranks *ranks, int rank, int index,
                          const char *name, double deadline, yk_subsystem **subsystem);

/* Answers what rank 0 asks of the subsystems, NULL where another rank has it, on so many threads,
 * until a message with the control tag comes. `failure`: why there are none, which is then the
 * answer to everything; NULL: nothing failed. Receives the seconds that each has computed since it
 * was started. */
yk_status yk_ranks_serve(yk_context *context, yk_ranks *ranks, yk_subsystem *const *subsystems,
                         int count, const char *failure, int threads, double *seconds);

#endif
