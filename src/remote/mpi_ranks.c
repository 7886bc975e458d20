#include "remote/mpi_ranks.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "yoke/remote.h"

/* A waiting rank polls for a message: without a pause for BUSY (s), because most answers arrive
 * that fast, and for up to MOST_SPIN (s) with yields between polls. Then it sleeps for a fraction
 * of the elapsed waiting time, so that a wait is extended by at most that fraction. The polling
 * time adapts to its success: ranks that wait for long leave their processors to those that
 * compute. The fraction is small if every rank has a core of its own, and larger if they share
 * cores. */
static const double BUSY = 2e-5;
static const double MOST_SPIN = 1e-3;
static const double SLEEP_FRACTION = 1.0 / 64;
static const double SLEEP_FRACTION_SHARED = 1.0 / 16;
static const double LONGEST_SLEEP = 1e-3;
enum { LOOKS = 8, NOTHING_SEEN = -1 };

/* Life ----------------------------------------------------------------------------------------- */

bool yk_ranks_launched(void)
{
    /* Open MPI; MPICH and others with PMI; launchers with PMIx such as srun. */
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *size = getenv(sizes[i]);
        if (size && strtol(size, NULL, 10) > 1)
            return true;
    }

    /* PMIx gives the rank of this process, but not the number of ranks; Slurm does. */
    const char *tasks = getenv("SLURM_NTASKS");
    return getenv("PMIX_RANK") && tasks && strtol(tasks, NULL, 10) > 1;
}

yk_status yk_ranks_open(yk_context *context, const char *module, yk_ranks **ranks)
{
    *ranks = NULL;

    /* Open MPI loads components of its own, which search its symbols globally. */
    void *library = dlopen(module, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return yk_fail(context, YK_ERROR_EXTERNAL, "%s", dlerror());

    /* The module may be of another build: its table of calls has another size then. */
    const yk_ranks_driver *driver = dlsym(library, "yk_ranks_driver_mpi");
    if (!driver || driver->size != sizeof *driver)
        return yk_fail(context, YK_ERROR_EXTERNAL, "%s is of another version", module);
    return yk_ranks_meet(context, driver, ranks);
}

yk_status yk_ranks_meet(yk_context *context, const yk_ranks_driver *driver, yk_ranks **ranks)
{
    *ranks = NULL;
    yk_ranks *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->driver = driver;
    pthread_mutex_init(&made->lock, NULL);
    if (!driver->open(&made->rank, &made->count))
        return yk_fail(context, YK_ERROR_EXTERNAL, "%s cannot be started", driver->name);

    /* Machines of all ranks: for messages, and to know which ranks share processors. */
    made->hosts = yk_allocate(context, (size_t)made->count, sizeof *made->hosts);
    if (!made->hosts)
        return YK_ERROR_MEMORY;
    if (!driver->hosts(made->hosts[0]))
        return yk_fail(context, YK_ERROR_EXTERNAL, "%s does not reach all ranks", driver->name);

    /* How waiting ranks treat others on the same machine. */
    int beside = 0;
    for (int i = 0; i < made->count; i++)
        beside += strcmp(made->hosts[i], made->hosts[made->rank]) == 0;

    made->spin = MOST_SPIN;
    made->sleep_fraction = SLEEP_FRACTION;
    if (beside > sysconf(_SC_NPROCESSORS_ONLN))
        made->sleep_fraction = SLEEP_FRACTION_SHARED;
    made->seen_tag = NOTHING_SEEN;

    *ranks = made;
    return YK_OK;
}

void yk_ranks_close(yk_ranks *ranks)
{
    /* The progress thread calls the driver, so it must end before the library does. */
    pthread_mutex_lock(&ranks->lock);
    ranks->closing = true;
    pthread_mutex_unlock(&ranks->lock);
    if (ranks->pushes)
        pthread_join(ranks->pusher, NULL);

    /* The library remains loaded, because it has handlers that run at the end of the program. */
    ranks->driver->close();
    pthread_mutex_destroy(&ranks->lock);
    yk_free(ranks->context, ranks->hosts);
    yk_free(ranks->context, ranks);
}

/* Messages ------------------------------------------------------------------------------------- */

/* State of one wait. */
typedef struct waiting {
    double begun; /* 0: no wait yet */
    double spin;  /* s */
    bool slept;
} waiting;

/* Waits for a moment between polls. False: the deadline has passed, or the context requests a stop. */
static bool pause_for(yk_context *context, yk_ranks *ranks, waiting *w, double deadline)
{
    /* Answers arrive within microseconds, or after a long step: first without a pause, then with
     * yields, then with sleeps that grow with the waiting time. */
    double now = yk_clock_seconds();
    if (w->begun == 0) {
        pthread_mutex_lock(&ranks->lock);
        w->spin = ranks->spin;
        pthread_mutex_unlock(&ranks->lock);
        w->begun = now;
    }

    /* A request to stop is checked only in long waits. */
    double waited = now - w->begun;
    if (now > deadline || (waited > w->spin && yk_context_should_stop(context)))
        return false;
    if (waited < BUSY)
        return true;
    if (waited < w->spin) {
        sched_yield();
        return true;
    }

    /* Proportional to the waiting time, which is extended by at most that fraction. */
    w->slept = true;
    double seconds = fmin(ranks->sleep_fraction * waited, LONGEST_SLEEP);
    struct timespec sleep = {.tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&sleep, NULL);
    return true;
}

/* After a wait, with the lock held: adapt the polling time of the next one to the success. */
static void learn(yk_ranks *ranks, const waiting *w)
{
    if (w->begun == 0)
        return;
    if (w->slept)
        ranks->spin = fmax(ranks->spin / 2, BUSY);
    else
        ranks->spin = fmin(2 * ranks->spin, MOST_SPIN);
}

static yk_status report_silence(yk_context *context, const waiting *w, double deadline)
{
    if (yk_clock_seconds() <= deadline)
        return yk_fail(context, YK_ERROR_EXTERNAL, "had not answered when the run was stopped");

    return yk_fail(context, YK_ERROR_EXTERNAL, "did not answer within %.3g s", deadline - w->begun);
}

/* With the lock held. A message that was seen before is available. */
static bool look(yk_ranks *ranks, int *from, int *tag, size_t *bytes)
{
    if (ranks->seen_tag == NOTHING_SEEN || *tag != ranks->seen_tag || *from != ranks->seen_from)
        return ranks->driver->probe(from, tag, bytes);

    /* Only once: the next message with this tag needs another probe. */
    *bytes = ranks->seen_bytes;
    ranks->seen_tag = NOTHING_SEEN;
    return true;
}

yk_status yk_ranks_wait(yk_context *context, yk_ranks *ranks, int *from, int *tag, size_t *bytes,
                        double deadline)
{
    waiting w = {0};
    for (;;) {
        /* Poll several times before reading the clock, because most messages are available already. */
        for (int i = 0; i < LOOKS; i++) {
            pthread_mutex_lock(&ranks->lock);
            bool there = look(ranks, from, tag, bytes);
            if (there)
                learn(ranks, &w);
            pthread_mutex_unlock(&ranks->lock);
            if (there)
                return YK_OK;
        }

        if (!pause_for(context, ranks, &w, deadline))
            return report_silence(context, &w, deadline);
    }
}

yk_status yk_ranks_send(yk_context *context, yk_ranks *ranks, int to, int tag, const void *bytes,
                        size_t count, double deadline)
{
    /* Only one thread may call the driver at a time. */
    const yk_ranks_driver *driver = ranks->driver;
    uint64_t request;
    pthread_mutex_lock(&ranks->lock);
    bool good = driver->send(bytes, count, to, tag, &request);
    bool sent = good && driver->sent(&request);
    pthread_mutex_unlock(&ranks->lock);
    if (!good)
        return yk_fail(context, YK_ERROR_EXTERNAL, "cannot be reached any more");

    /* Short messages are sent immediately; a long one waits for its receiver. */
    waiting w = {0};
    while (!sent) {
        if (!pause_for(context, ranks, &w, deadline))
            return report_silence(context, &w, deadline);

        pthread_mutex_lock(&ranks->lock);
        sent = driver->sent(&request);
        pthread_mutex_unlock(&ranks->lock);
    }

    return YK_OK;
}

yk_status yk_ranks_take(yk_context *context, yk_ranks *ranks, int from, int tag, void *bytes,
                        size_t count)
{
    pthread_mutex_lock(&ranks->lock);
    bool good = ranks->driver->receive(bytes, count, from, tag);
    pthread_mutex_unlock(&ranks->lock);
    if (!good)
        return yk_fail(context, YK_ERROR_EXTERNAL, "sent a message that cannot be received");

    return YK_OK;
}

/* The transport -------------------------------------------------------------------------------- */

/* Number of messages that may be in transit at the same time: both sides send at most two before
 * they wait for an answer. Each has memory for usual sizes. */
enum { OUTGOING = 4, USUAL_MESSAGE = 4096 };

/* A late receiver must not delay the sender: the bytes wait here. */
typedef struct yk_ranks_outgoing {
    yk_body body;
    uint64_t request;
    bool under_way; /* the library still reads the bytes */
    struct yk_ranks_outgoing *next;
} yk_ranks_outgoing;

typedef struct ranks_transport {
    yk_transport base;
    yk_ranks *ranks;
    int rank, tag;
    yk_ranks_outgoing out[OUTGOING]; /* whole messages, like `in` */
    int next;
    yk_body in;
} ranks_transport;

/* The header contains the kind of a frame. */
static void count_frame(yk_ranks *ranks, const yk_body *frame)
{
    size_t kind = 0;
    if (frame->length >= YK_FRAME_HEADER)
        kind = frame->bytes[4] | (size_t)frame->bytes[5] << 8;
    if (kind >= YK_FRAME_KIND_END)
        return;

    pthread_mutex_lock(&ranks->lock);
    ranks->traffic[kind].messages++;
    ranks->traffic[kind].bytes += (int64_t)frame->length;
    pthread_mutex_unlock(&ranks->lock);
}

/* With the lock held: removes the message from the list of those in transit. */
static void strike(yk_ranks *ranks, yk_ranks_outgoing *o)
{
    yk_ranks_outgoing **at = &ranks->under_way;
    while (*at && *at != o)
        at = &(*at)->next;
    if (*at)
        *at = o->next;
    o->under_way = false;
}

/* Lets messages leave while their sender computes: an MPI library progresses unfinished sends only
 * when it is called, including messages that it has accepted. A thread calls it every millisecond
 * while messages are sent, and less often otherwise. */
static void *push(void *user)
{
    static const double LONGEST = 1e-2; /* s */
    yk_ranks *ranks = user;
    double seconds = LONGEST_SLEEP;
    int64_t before = 0;
    for (;;) {
        struct timespec sleep = {.tv_nsec = (long)(1e9 * seconds)};
        nanosleep(&sleep, NULL);

        pthread_mutex_lock(&ranks->lock);
        bool closing = ranks->closing;

        /* Any call lets the library progress its sends; a probe has no side effects. */
        int from = YK_ANY;
        int tag = YK_ANY;
        size_t bytes;
        if (!closing)
            ranks->driver->probe(&from, &tag, &bytes);

        for (yk_ranks_outgoing *o = ranks->under_way, *next; o && !closing; o = next) {
            next = o->next;
            if (ranks->driver->sent(&o->request))
                strike(ranks, o);
        }

        /* Less and less often while nothing is sent. */
        seconds = fmin(2 * seconds, LONGEST);
        if (ranks->sends > before)
            seconds = LONGEST_SLEEP;
        before = ranks->sends;
        pthread_mutex_unlock(&ranks->lock);

        if (closing)
            return NULL;
    }
}

/* Waits until a message has left. The library keeps the bytes of a message without a receiver. */
static yk_status let_go(ranks_transport *t, yk_ranks_outgoing *o, double deadline)
{
    yk_ranks *ranks = t->ranks;
    waiting w = {0};
    for (;;) {
        pthread_mutex_lock(&ranks->lock);
        if (o->under_way && ranks->driver->sent(&o->request))
            strike(ranks, o);
        bool left = !o->under_way;
        pthread_mutex_unlock(&ranks->lock);

        if (left)
            return YK_OK;
        if (pause_for(t->base.context, ranks, &w, deadline))
            continue;

        /* There is no receiver, but the library may still read the bytes: leave the memory to it. */
        pthread_mutex_lock(&ranks->lock);
        strike(ranks, o);
        pthread_mutex_unlock(&ranks->lock);
        *o = (yk_ranks_outgoing){.body = {.context = t->base.context}};
        return report_silence(t->base.context, &w, deadline);
    }
}

static yk_status ranks_send(yk_transport *self, const void *head, size_t head_count,
                            const void *body, size_t count, double deadline)
{
    /* Header and body as one message, so that the other side need not wait for a second one. */
    ranks_transport *t = (ranks_transport *)self;
    yk_ranks_outgoing *o = &t->out[t->next];
    t->next = (t->next + 1) % OUTGOING;
    yk_status status = let_go(t, o, deadline);
    if (status != YK_OK)
        return status;

    o->body.length = 0;
    o->body.failed = false;
    yk_put_bytes(&o->body, head, head_count);
    yk_put_bytes(&o->body, body, count);
    if (o->body.failed)
        return YK_ERROR_MEMORY;

    /* A message that the library could not accept immediately is in the list of the thread. */
    count_frame(t->ranks, &o->body);
    yk_ranks *ranks = t->ranks;
    pthread_mutex_lock(&ranks->lock);
    const yk_ranks_driver *driver = ranks->driver;
    bool good = driver->send(o->body.bytes, o->body.length, t->rank, t->tag, &o->request);
    o->under_way = good && !driver->sent(&o->request);
    ranks->sends++;
    if (o->under_way) {
        o->next = ranks->under_way;
        ranks->under_way = o;
    }

    /* Rank 0 sends many requests at a time; other ranks rarely send more than fits at once. */
    if (!ranks->pushes && (ranks->rank == 0 || o->under_way))
        ranks->pushes = pthread_create(&ranks->pusher, NULL, push, ranks) == 0;
    pthread_mutex_unlock(&ranks->lock);

    if (!good)
        return yk_fail(t->base.context, YK_ERROR_EXTERNAL, "cannot be reached any more");
    return YK_OK;
}

static yk_status ranks_receive(yk_transport *self, void *bytes, size_t count, double deadline)
{
    ranks_transport *t = (ranks_transport *)self;
    unsigned char *target = bytes;
    while (count > 0) {
        /* The next message, complete. */
        if (t->in.at == t->in.length) {
            int from = t->rank;
            int tag = t->tag;
            size_t size;
            yk_context *context = t->base.context;
            yk_status status = yk_ranks_wait(context, t->ranks, &from, &tag, &size, deadline);
            if (status != YK_OK)
                return status;
            if (!yk_body_reserve(&t->in, size))
                return YK_ERROR_MEMORY;

            status = yk_ranks_take(context, t->ranks, from, tag, t->in.bytes, size);
            if (status != YK_OK)
                return status;

            t->in.length = size;
            t->in.at = 0;
            count_frame(t->ranks, &t->in);
        }

        /* The rest remains for the next call. */
        size_t have = t->in.length - t->in.at;
        size_t piece = have < count ? have : count;
        memcpy(target, t->in.bytes + t->in.at, piece);
        t->in.at += piece;
        target += piece;
        count -= piece;
    }

    return YK_OK;
}

static void ranks_close(yk_transport *self)
{
    /* A live partner receives its last message immediately. */
    static const double PATIENCE = 1; /* s */
    ranks_transport *t = (ranks_transport *)self;
    double deadline = yk_clock_seconds() + PATIENCE;
    for (int i = 0; i < OUTGOING; i++) {
        let_go(t, &t->out[i], deadline);
        yk_free(t->base.context, t->out[i].body.bytes);
    }

    yk_free(t->base.context, t->in.bytes);
    yk_free(t->base.context, t);
}

/* A transport to a rank with a tag; closing it sends nothing. NULL: memory is missing. */
static yk_transport *create_transport(yk_context *context, yk_ranks *ranks, int rank, int tag)
{
    static const yk_transport_ops ops = {ranks_send, ranks_receive, ranks_close};
    ranks_transport *t = yk_allocate(context, 1, sizeof *t);
    if (!t)
        return NULL;

    t->base = (yk_transport){&ops, context};
    t->ranks = ranks;
    t->rank = rank;
    t->tag = tag;
    t->in.context = context;

    /* Allocate memory for usual messages now, so that steps need none. */
    bool good = yk_body_reserve(&t->in, USUAL_MESSAGE);
    for (int i = 0; i < OUTGOING; i++) {
        t->out[i].body.context = context;
        good = good && yk_body_reserve(&t->out[i].body, USUAL_MESSAGE);
    }

    if (!good) {
        ranks_close(&t->base);
        return NULL;
    }

    return &t->base;
}

yk_status yk_ranks_remote(yk_context *context, yk_ranks *ranks, int rank, int index,
                          const char *name, double deadline, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    yk_transport *transport = create_transport(context, ranks, rank, YK_TAG_SUBSYSTEM + index);
    if (!transport)
        return YK_ERROR_MEMORY;

    /* With rank and host in messages, to find one of many processes. */
    char who[300];
    snprintf(who, sizeof who, "'%.150s' on rank %d (host %.63s)", name, rank, ranks->hosts[rank]);
    yk_remote_def def = yk_remote_default();
    def.subsystem = name;
    def.timeout = deadline;
    yk_remote_host host = {.name = who};
    return yk_remote_over(context, &def, transport, -1, &host, subsystem);
}

/* Serving -------------------------------------------------------------------------------------- */

typedef struct service {
    yk_context *context;
    yk_ranks *ranks;
    int count, threads;
    yk_session **sessions; /* NULL: another rank has it */

    /* Guards the following members. */
    pthread_mutex_t lock;
    bool *busy;
    bool ended;
    yk_status status;
} service;

/* A session with a request that no thread handles, which is then taken; -1: none. */
static int take_session(service *s)
{
    int found = -1;
    pthread_mutex_lock(&s->lock);

    /* From rank 0: the end, or a request to a subsystem that no thread handles. */
    int from = 0;
    int tag = YK_TAG_CONTROL;
    size_t bytes;

    pthread_mutex_lock(&s->ranks->lock);
    if (s->threads == 1) {
        /* No thread is busy: handle the next message of any kind. */
        tag = YK_ANY;
        if (s->ranks->driver->probe(&from, &tag, &bytes)) {
            found = tag - YK_TAG_SUBSYSTEM;
            s->ended = found < 0 || found >= s->count || !s->sessions[found];

            /* The session that handles it need not probe for it again. */
            if (!s->ended) {
                s->ranks->seen_from = from;
                s->ranks->seen_tag = tag;
                s->ranks->seen_bytes = bytes;
            }
        }
    } else if (s->ranks->driver->probe(&from, &tag, &bytes)) {
        s->ended = true;
    }

    /* With several threads, a request to a subsystem that another thread handles waits. */
    for (int i = 0; s->threads > 1 && !s->ended && found < 0 && i < s->count; i++) {
        tag = YK_TAG_SUBSYSTEM + i;
        if (s->sessions[i] && !s->busy[i] && s->ranks->driver->probe(&from, &tag, &bytes))
            found = i;
    }

    pthread_mutex_unlock(&s->ranks->lock);

    if (s->ended)
        found = -1;
    if (found >= 0)
        s->busy[found] = true;
    pthread_mutex_unlock(&s->lock);
    return found;
}

static void *serve_questions(void *user)
{
    service *s = user;
    waiting w = {0};
    for (;;) {
        /* Poll several times before reading the clock, as in yk_ranks_wait(). */
        int index = -1;
        for (int i = 0; index < 0 && i < LOOKS; i++)
            index = take_session(s);

        pthread_mutex_lock(&s->lock);
        bool ended = s->ended;
        pthread_mutex_unlock(&s->lock);
        if (ended)
            return NULL;
        if (index < 0) {
            pause_for(s->context, s->ranks, &w, INFINITY);
            continue;
        }

        /* A request has arrived: adapt the polling time of the next wait. */
        pthread_mutex_lock(&s->ranks->lock);
        learn(s->ranks, &w);
        pthread_mutex_unlock(&s->ranks->lock);
        w = (waiting){0};

        yk_status status = yk_session_answer(s->sessions[index]);

        /* Rank 0 cannot be reached, so no answer is needed. */
        pthread_mutex_lock(&s->lock);
        s->busy[index] = false;
        if (status != YK_OK) {
            s->status = status;
            s->ended = true;
        }

        pthread_mutex_unlock(&s->lock);
    }
}

yk_status yk_ranks_serve(yk_context *context, yk_ranks *ranks, yk_subsystem *const *subsystems,
                         int count, const char *failure, int threads, double *seconds)
{
    enum { THREADS_MAX = 256 };
    service s = {.context = context, .ranks = ranks, .count = count, .threads = threads};
    s.sessions = yk_allocate(context, (size_t)count + 1, sizeof *s.sessions);
    s.busy = yk_allocate(context, (size_t)count + 1, sizeof *s.busy);

    yk_status status = YK_OK;
    if (!s.sessions || !s.busy)
        status = YK_ERROR_MEMORY;

    /* A session for each subsystem of this rank. */
    for (int i = 0; status == YK_OK && i < count; i++) {
        yk_subsystem *subsystem = NULL;
        if (!failure)
            subsystem = subsystems[i];
        if (!subsystem && !failure)
            continue;

        yk_transport *transport = create_transport(context, ranks, 0, YK_TAG_SUBSYSTEM + i);
        status = YK_ERROR_MEMORY;
        if (transport)
            status = yk_session_open(context, transport, subsystem, failure, &s.sessions[i]);
    }

    /* This thread and others, until rank 0 ends the service. */
    pthread_mutex_init(&s.lock, NULL);
    pthread_t others[THREADS_MAX];
    int started = 0;
    while (status == YK_OK && started + 1 < threads && started < THREADS_MAX &&
           pthread_create(&others[started], NULL, serve_questions, &s) == 0)
        started++;

    if (status == YK_OK)
        serve_questions(&s);
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    pthread_mutex_destroy(&s.lock);
    if (status == YK_OK)
        status = s.status;

    /* Time of each subsystem (s), before its session is destroyed. */
    for (int i = 0; s.sessions && i < count; i++) {
        if (s.sessions[i] && seconds)
            seconds[i] = yk_session_seconds(s.sessions[i]);
        yk_session_close(s.sessions[i]);
    }

    yk_free(context, s.sessions);
    yk_free(context, s.busy);
    return status;
}
