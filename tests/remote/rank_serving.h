/* Two ranks for tests: rank 1 serves subsystems, rank 0 is the test.
 *
 * Under mpirun -n 2 they are those of the launcher and their messages go through MPI. Without one,
 * rank 1 is a process of the test's own, and the driver is the one below: datagrams, in order and
 * whole, as the messages of an MPI are, between processes that can be stopped and killed. */
#ifndef YOKE_TESTS_TRANSPORT_RANK_SERVING_H
#define YOKE_TESTS_TRANSPORT_RANK_SERVING_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/mpi_ranks.h"

/* The driver ----------------------------------------------------------------------------------- */

typedef struct datagram {
    struct datagram *next;
    int32_t tag;
    size_t count;
    unsigned char bytes[];
} datagram;

static int datagram_socket, datagram_rank;
static datagram *datagrams; /* that have come, the oldest first */

static bool datagram_open(int *rank, int *count)
{
    *rank = datagram_rank;
    *count = 2;
    return true;
}

static bool datagram_hosts(char *names)
{
    for (int i = 0; i < 2; i++)
        snprintf(names + (size_t)i * YK_HOST_NAME, YK_HOST_NAME, "host-%d", i);
    return true;
}

static void datagram_close(void)
{
    close(datagram_socket);
    while (datagrams) {
        datagram *first = datagrams;
        datagrams = first->next;
        free(first);
    }
}

static bool datagram_probe(int *from, int *tag, size_t *bytes)
{
    /* All that have come since, to the end of the list. */
    datagram **end = &datagrams;
    while (*end)
        end = &(*end)->next;
    for (;;) {
        int32_t own;
        int flags = MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT;
        ssize_t size = recv(datagram_socket, &own, sizeof own, flags);
        if (size < (ssize_t)sizeof own)
            break;

        datagram *d = malloc(sizeof *d + (size_t)size);
        struct iovec parts[] = {{&d->tag, sizeof d->tag}, {d->bytes, (size_t)size}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        recvmsg(datagram_socket, &message, 0);
        d->next = NULL;
        d->count = (size_t)size - sizeof d->tag;
        *end = d;
        end = &d->next;
    }

    for (const datagram *d = datagrams; d; d = d->next) {
        if (*tag != YK_ANY && *tag != d->tag)
            continue;

        *from = 1 - datagram_rank;
        *tag = d->tag;
        *bytes = d->count;
        return true;
    }

    return false;
}

static bool datagram_receive(void *bytes, size_t count, int from, int tag)
{
    (void)from;
    for (datagram **at = &datagrams; *at; at = &(*at)->next) {
        datagram *d = *at;
        if (d->tag != tag)
            continue;

        bool good = d->count == count;
        if (good)
            memcpy(bytes, d->bytes, count);
        *at = d->next;
        free(d);
        return good;
    }

    return false;
}

static bool datagram_send(const void *bytes, size_t count, int to, int tag, uint64_t *request)
{
    (void)to;
    (void)request;
    int32_t own = tag;
    struct iovec parts[] = {{&own, sizeof own}, {(void *)(uintptr_t)bytes, count}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return sendmsg(datagram_socket, &message, MSG_NOSIGNAL) >= 0;
}

static bool datagram_sent(uint64_t *request)
{
    (void)request;
    return true;
}

static const yk_ranks_driver datagram_driver = {
    .size = sizeof(yk_ranks_driver),
    .name = "datagrams",
    .open = datagram_open,
    .hosts = datagram_hosts,
    .close = datagram_close,
    .abort = _exit,
    .probe = datagram_probe,
    .receive = datagram_receive,
    .send = datagram_send,
    .sent = datagram_sent,
};

/* Serving -------------------------------------------------------------------------------------- */

typedef struct rank_serving {
    yk_context *context;
    yk_ranks *ranks;
    pid_t process; /* of rank 1; 0: that of a launcher */
    int outer;     /* the socket of one that was started before */
} rank_serving;

/* Makes the subsystem of an index. */
typedef yk_status (*rank_create)(yk_context *context, int index, yk_subsystem **subsystem);

/* The work of rank 1: it serves the given number of subsystems until rank 0 ends it. */
static inline int rank_serve(yk_context *context, yk_ranks *ranks, rank_create create, int count)
{
    yk_subsystem **subsystems = yk_allocate(context, (size_t)count, sizeof *subsystems);
    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < count; i++)
        status = create(context, i, &subsystems[i]);
    if (status == YK_OK)
        status = yk_ranks_serve(context, ranks, subsystems, count, NULL, 1, NULL);
    for (int i = 0; i < count; i++)
        if (subsystems[i])
            subsystems[i]->ops->destroy(subsystems[i]);
    yk_free(context, subsystems);
    return status == YK_OK ? 0 : 1;
}

/* False where it does not come up. Under a launcher rank 1 does not return: it serves, and ends. */
static inline bool rank_serving_start(rank_serving *s, rank_create create, int count)
{
    *s = (rank_serving){.context = yk_context_create(NULL)};
    const char *module = getenv("YOKE_MPI_MODULE");
    if (yk_ranks_launched() && module) {
        if (yk_ranks_open(s->context, module, &s->ranks) != YK_OK) {
            fprintf(stderr, "%s\n", yk_last_message(s->context));
            return false;
        }

        if (s->ranks->rank == 0)
            return true;
        int code = rank_serve(s->context, s->ranks, create, count);
        yk_ranks_close(s->ranks);
        exit(code);
    }

    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    fflush(NULL);
    s->process = fork();
    s->outer = datagram_socket;
    if (s->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        datagram_socket = ends[1];
        datagram_rank = 1;
        yk_ranks *ranks;
        if (yk_ranks_meet(s->context, &datagram_driver, &ranks) != YK_OK)
            _exit(1);
        _exit(rank_serve(s->context, ranks, create, count));
    }

    close(ends[1]);
    datagram_socket = ends[0];
    datagram_rank = 0;
    return yk_ranks_meet(s->context, &datagram_driver, &s->ranks) == YK_OK;
}

/* Whether rank 1 ended as it should. */
static inline bool rank_serving_stop(rank_serving *s)
{
    int32_t enough = 0;
    yk_ranks_send(s->context, s->ranks, 1, YK_TAG_CONTROL, &enough, sizeof enough, 0);
    int status = 0;
    if (s->process > 0)
        waitpid(s->process, &status, 0);
    yk_ranks_close(s->ranks);
    if (s->process > 0)
        datagram_socket = s->outer;
    yk_context_destroy(s->context);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#endif
