/* Two mailboxes in memory that two processes of one machine map, one for each direction.
 *
 * A mailbox has a count of written and a count of read messages. The writer waits until they are
 * equal, copies at most the size of the mailbox, and increments the first; the reader waits until
 * they differ, takes the bytes and increments the second. A waiting process polls for a moment,
 * because most answers arrive that fast, then sleeps on the count (futex(2)) and checks at
 * intervals whether the partner is alive: the end of the partner closes the socket over which they
 * met. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "remote/frame.h"

enum { MAILBOX = 1 << 20, FEWEST_SPINS = 32, MOST_SPINS = 2048 };

typedef struct mailbox {
    _Alignas(64) _Atomic uint32_t written;
    _Alignas(64) _Atomic uint32_t taken;
    _Alignas(64) _Atomic uint32_t sleepers;
    uint32_t size; /* bytes of the message */
    _Alignas(64) unsigned char bytes[MAILBOX];
} mailbox;

typedef struct memory_transport {
    yk_transport base;
    mailbox *map; /* both */
    mailbox *out, *in;
    size_t taken; /* bytes of the present incoming message that were read already */
    /* Polling time before sleeping: longer if that was successful, and very short if the partner
     * has no processor of its own. */
    int spins;
    int socket;
} memory_transport;

bool yk_memory_create(int *fd)
{
    *fd = memfd_create("yoke", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return *fd >= 0 && ftruncate(*fd, 2 * sizeof(mailbox)) == 0 &&
           fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0;
}

/* Waiting -------------------------------------------------------------------------------------- */

static bool partner_lives(const memory_transport *m)
{
    struct pollfd one = {.fd = m->socket, .events = POLLIN};
    return poll(&one, 1, 0) == 0;
}

/* Until the counter is no longer `old`. */
static yk_status wait_for(memory_transport *m, mailbox *box, _Atomic uint32_t *counter,
                          uint32_t old, double deadline)
{
    /* Most answers arrive while polling. */
    for (int i = 0; i < m->spins; i++) {
        if (atomic_load_explicit(counter, memory_order_acquire) != old) {
            m->spins = m->spins < MOST_SPINS / 2 ? 2 * m->spins : MOST_SPINS;
            return YK_OK;
        }

#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    /* Without success: poll for a shorter time in future, and sleep now. */
    m->spins = m->spins / 2 > FEWEST_SPINS ? m->spins / 2 : FEWEST_SPINS;
    double began = yk_clock_seconds();
    yk_status status = YK_OK;
    atomic_fetch_add(&box->sleepers, 1);
    while (status == YK_OK && atomic_load(counter) == old) {
        /* Sleep for at most 50 ms, because a partner that ends does not wake this process. */
        double left = fmin(deadline - yk_clock_seconds(), 0.05);
        if (left <= 0) {
            status = yk_fail(m->base.context, YK_ERROR_EXTERNAL, "did not answer within %.3g s",
                             fmax(deadline - began, 0));
            break;
        }

        struct timespec sleep = {.tv_nsec = (long)(1e9 * left)};
        syscall(SYS_futex, counter, FUTEX_WAIT, old, &sleep, NULL, 0);

        /* Data that a partner wrote before it ended are valid. */
        if (atomic_load(counter) == old && !partner_lives(m))
            status = yk_fail(m->base.context, YK_ERROR_EXTERNAL, "has ended");
        else if (atomic_load(counter) == old && yk_context_should_stop(m->base.context))
            status = yk_fail(m->base.context, YK_ERROR_ABORTED,
                             "was waited for until a stop was asked for");
    }

    atomic_fetch_sub(&box->sleepers, 1);
    return status;
}

static void raise_counter(mailbox *box, _Atomic uint32_t *counter)
{
    /* Sleepers increment their count before they check the counter a last time, so that none is
     * missed. */
    atomic_fetch_add(counter, 1);
    if (atomic_load(&box->sleepers) > 0)
        syscall(SYS_futex, counter, FUTEX_WAKE, 2, NULL, NULL, 0);
}

/* Bytes ---------------------------------------------------------------------------------------- */

static yk_status memory_send(yk_transport *self, const void *head, size_t head_count,
                             const void *body, size_t count, double deadline)
{
    memory_transport *m = (memory_transport *)self;
    mailbox *box = m->out;
    const unsigned char *rest = body;
    bool first = true;

    do {
        /* The mailbox is empty when everything in it has been taken. */
        uint32_t written = atomic_load_explicit(&box->written, memory_order_relaxed);
        uint32_t taken = atomic_load_explicit(&box->taken, memory_order_acquire);
        if (taken != written) {
            yk_status status = wait_for(m, box, &box->taken, taken, deadline);
            if (status != YK_OK)
                return status;
        }

        /* The first message begins with the header, and contains as much of the body as fits. */
        size_t used = 0;
        if (first) {
            memcpy(box->bytes, head, head_count);
            used = head_count;
            first = false;
        }

        size_t piece = count < MAILBOX - used ? count : MAILBOX - used;
        if (piece > 0)
            memcpy(box->bytes + used, rest, piece);
        rest += piece;
        count -= piece;

        /* The count comes last: it passes the message to the reader. */
        box->size = (uint32_t)(used + piece);
        raise_counter(box, &box->written);
    } while (count > 0);
    return YK_OK;
}

static yk_status memory_receive(yk_transport *self, void *bytes, size_t count, double deadline)
{
    memory_transport *m = (memory_transport *)self;
    mailbox *box = m->in;
    unsigned char *target = bytes;
    while (count > 0) {
        /* Only this side increments the read count, only the other side the write count. */
        uint32_t taken = atomic_load_explicit(&box->taken, memory_order_relaxed);
        if (atomic_load_explicit(&box->written, memory_order_acquire) == taken) {
            yk_status status = wait_for(m, box, &box->written, taken, deadline);
            if (status != YK_OK)
                return status;
        }

        /* The other side also writes the size, so do not trust it. */
        size_t size = box->size;
        if (size > MAILBOX || m->taken >= size)
            return yk_fail(m->base.context, YK_ERROR_EXTERNAL,
                           "wrote a letter of %zu bytes, the most are %d", size, MAILBOX);

        size_t piece = size - m->taken < count ? size - m->taken : count;
        memcpy(target, box->bytes + m->taken, piece);
        m->taken += piece;
        target += piece;
        count -= piece;

        /* A message that was read completely frees the mailbox. */
        if (m->taken == size) {
            m->taken = 0;
            raise_counter(box, &box->taken);
        }
    }

    return YK_OK;
}

static void memory_close(yk_transport *self)
{
    memory_transport *m = (memory_transport *)self;
    munmap(m->map, 2 * sizeof *m->map);
    close(m->socket);
    yk_free(m->base.context, m);
}

yk_transport *yk_memory_transport(yk_context *context, int memory, int socket, bool first)
{
    static const yk_transport_ops ops = {memory_send, memory_receive, memory_close};

    /* If its creator could still truncate the memory, reading it could crash. */
    struct stat about;
    int seals = fcntl(memory, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(memory, &about) != 0 ||
        about.st_size != 2 * sizeof(mailbox))
        return NULL;

    memory_transport *m = yk_allocate(context, 1, sizeof *m);
    if (!m)
        return NULL;

    void *map = mmap(NULL, 2 * sizeof(mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (map == MAP_FAILED) {
        yk_free(context, m);
        return NULL;
    }

    m->base = (yk_transport){&ops, context};
    m->map = map;

    /* One mailbox for each direction. */
    if (first) {
        m->out = &m->map[0];
        m->in = &m->map[1];
    } else {
        m->out = &m->map[1];
        m->in = &m->map[0];
    }

    m->socket = socket;
    m->spins = MOST_SPINS;
    return &m->base;
}

/* Handing over the memory ---------------------------------------------------------------------- */

/* Bytes of the message that carries a descriptor. */
enum { CONTROL = CMSG_SPACE(sizeof(int)) };

bool yk_send_descriptor(int socket, int fd)
{
    /* A descriptor needs at least one byte. */
    char byte = 'M';
    struct iovec part = {&byte, 1};
    _Alignas(struct cmsghdr) char buffer[CONTROL] = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = buffer, .msg_controllen = sizeof buffer};

    /* SCM_RIGHTS gives the other process a descriptor of its own for the same memory. */
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

int yk_receive_descriptor(int socket, double deadline)
{
    struct pollfd one = {.fd = socket, .events = POLLIN};
    double left = fmin(fmax(deadline - yk_clock_seconds(), 0), 1e5);
    if (poll(&one, 1, (int)(1e3 * left)) <= 0)
        return -1;

    /* The byte is invalid unless it comes with exactly one descriptor. */
    char byte;
    struct iovec part = {&byte, 1};
    _Alignas(struct cmsghdr) char buffer[CONTROL];
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = buffer, .msg_controllen = sizeof buffer};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;

    int fd = -1;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}
