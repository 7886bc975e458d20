/* UNIX and TCP sockets: addresses, connecting and listening, and bytes with a deadline. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "remote/frame.h"

enum { BUFFER = 1 << 16, MOST_SKIPPED = 63 };

/* Polling time of a receiver before it sleeps (s). A partner on this machine answers within some
 * microseconds, but waking up from poll(2) on an idle processor takes 50 to 100. */
static const double SPIN = 50e-6;

/* Interval at which a wait checks for a request to stop (s). */
static const double STOP_LOOK = 0.1;

/* Addresses ------------------------------------------------------------------------------------ */

typedef struct endpoint {
    struct sockaddr_storage address;
    socklen_t length;
    bool loopback; /* or a UNIX socket */
} endpoint;

static yk_status parse(yk_context *context, const char *address, endpoint *end)
{
    *end = (endpoint){.loopback = true};

    /* A path in the file system. */
    if (strncmp(address, "unix:", 5) == 0) {
        struct sockaddr_un *local = (struct sockaddr_un *)&end->address;
        const char *path = address + 5;

        if (!*path || strlen(path) >= sizeof local->sun_path)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "the path of a UNIX socket has 1 to %zu bytes: '%s'",
                           sizeof local->sun_path - 1, path);

        local->sun_family = AF_UNIX;
        memcpy(local->sun_path, path, strlen(path));
        end->length = sizeof *local;

        return YK_OK;
    }

    /* HOST:PORT, resolved by the system. */
    const char *colon = strrchr(address, ':');
    if (strncmp(address, "tcp:", 4) != 0 || colon < address + 5 || strlen(colon) < 2)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "'%s' is no address: expected unix:PATH or tcp:HOST:PORT", address);

    char host[256];
    size_t length = (size_t)(colon - address - 4);
    if (length >= sizeof host)
        return yk_fail(context, YK_ERROR_ARGUMENT, "the host of '%s' is too long", address);

    memcpy(host, address + 4, length);
    host[length] = '\0';

    /* The first IPv4 address of the host. */
    struct addrinfo *found = NULL;
    struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    int error = getaddrinfo(host, colon + 1, &wanted, &found);
    if (error)
        return yk_fail(context, YK_ERROR_ARGUMENT, "cannot find %s: %s", address,
                       gai_strerror(error));

    memcpy(&end->address, found->ai_addr, found->ai_addrlen);
    end->length = found->ai_addrlen;
    freeaddrinfo(found);

    /* All of 127.0.0.0/8 stays on this machine. */
    const struct sockaddr_in *inet = (const struct sockaddr_in *)&end->address;
    end->loopback = ntohl(inet->sin_addr.s_addr) >> 24 == 127;
    return YK_OK;
}

/* Not inherited by programs that are started; small frames are sent immediately. */
static void set_options(int fd, const endpoint *end)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    int one = 1;
    if (end->address.ss_family == AF_INET)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/* Waits for events of a descriptor. 0 at the deadline, or if a stop is requested. */
static int poll_until(const yk_context *context, int fd, short events, double deadline)
{
    for (;;) {
        double left = deadline - yk_clock_seconds();
        if (left < 0)
            return 0;

        /* Rounded up, because otherwise the last fraction of a millisecond would be a busy loop. */
        int milliseconds = (int)ceil(1e3 * fmin(left, STOP_LOOK));
        struct pollfd one = {.fd = fd, .events = events};
        int ready = poll(&one, 1, milliseconds);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready;
        if (yk_context_should_stop(context))
            return 0;
    }
}

/* Connects without blocking, because a server with a full queue, or a machine that does not answer,
 * would block connect(2) beyond the deadline. Returns 0, or the error. */
static int try_to_connect(const yk_context *context, int fd, const endpoint *end, double deadline)
{
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    int error = 0;
    if (connect(fd, (const struct sockaddr *)&end->address, end->length) != 0)
        error = errno;

    if (error == EINPROGRESS || error == EINTR) {
        socklen_t size = sizeof error;
        error = ETIMEDOUT;
        if (poll_until(context, fd, POLLOUT, deadline) > 0)
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }

    fcntl(fd, F_SETFL, flags);
    return error;
}

yk_status yk_socket_connect(yk_context *context, const char *address, double deadline, int *fd)
{
    endpoint end;
    yk_status status = parse(context, address, &end);
    if (status != YK_OK)
        return status;

    /* A server that is starting may not exist yet: try again every 20 ms. */
    const struct timespec pause = {.tv_nsec = 20000000};
    for (;;) {
        *fd = socket(end.address.ss_family, SOCK_STREAM, 0);
        if (*fd < 0)
            return yk_fail(context, YK_ERROR_EXTERNAL, "no socket: %s", strerror(errno));

        set_options(*fd, &end);
        int error = try_to_connect(context, *fd, &end, deadline);
        if (error == 0)
            return YK_OK;

        close(*fd);
        *fd = -1;
        if (yk_context_should_stop(context))
            return yk_fail(context, YK_ERROR_ABORTED, "stopped while connecting to %s", address);

        /* Nothing listens yet, the socket file does not exist yet, or the queue of the server is
         * full. */
        bool absent = error == ECONNREFUSED || error == ENOENT || error == EAGAIN;
        if (!absent || yk_clock_seconds() > deadline)
            return yk_fail(
                context, YK_ERROR_EXTERNAL,
                "no server listens at %s (%s): start a server there, or correct the address",
                address, strerror(error));

        nanosleep(&pause, NULL);
    }
}

yk_status yk_socket_listen(yk_context *context, const char *address, bool has_secret, int *fd)
{
    endpoint end;
    yk_status status = parse(context, address, &end);
    if (status != YK_OK)
        return status;

    /* Without it, every process that can reach the address could use the server. */
    if (!end.loopback && !has_secret)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s can be reached from other machines: that needs a shared secret",
                       address);

    *fd = socket(end.address.ss_family, SOCK_STREAM, 0);
    if (*fd < 0)
        return yk_fail(context, YK_ERROR_EXTERNAL, "no socket: %s", strerror(errno));

    set_options(*fd, &end);

    /* Remove the socket file of a server that has ended, but not that of a live one. */
    if (end.address.ss_family == AF_UNIX) {
        const char *path = address + 5;
        struct stat about;
        int probe = socket(AF_UNIX, SOCK_STREAM, 0);
        bool alive = probe >= 0 && connect(probe, (struct sockaddr *)&end.address, end.length) == 0;

        if (probe >= 0)
            close(probe);

        if (alive) {
            close(*fd);
            return yk_fail(context, YK_ERROR_EXTERNAL, "%s is served already", address);
        }

        if (lstat(path, &about) == 0 && S_ISSOCK(about.st_mode))
            unlink(path);
    } else {
        /* Reuse a port immediately, although old connections of it are still in TIME_WAIT. */
        int one = 1;
        setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    }

    /* The socket file is accessible to its owner only. */
    mode_t before = umask(0077);
    bool good = bind(*fd, (const struct sockaddr *)&end.address, end.length) == 0;
    umask(before);
    if (good && listen(*fd, 64) == 0)
        return YK_OK;

    int error = errno;
    close(*fd);
    return yk_fail(context, YK_ERROR_EXTERNAL, "cannot listen at %s: %s", address, strerror(error));
}

yk_status yk_socket_accept(yk_context *context, int listening, double deadline, int *fd)
{
    for (;;) {
        *fd = -1;
        if (poll_until(context, listening, POLLIN, deadline) > 0)
            *fd = accept(listening, NULL, NULL);

        if (*fd >= 0) {
            fcntl(*fd, F_SETFD, FD_CLOEXEC);
            return YK_OK;
        }

        if (yk_context_should_stop(context))
            return yk_fail(context, YK_ERROR_ABORTED, "stopped while waiting for a partner");
        if (yk_clock_seconds() >= deadline)
            return yk_fail(context, YK_ERROR_EXTERNAL,
                           "no client has connected within the deadline");
    }
}

void yk_socket_name(const char *address, int fd, char *name, size_t capacity)
{
    /* The given address, except for TCP port 0, for which the system chooses a port. */
    snprintf(name, capacity, "%s", address);
    if (strncmp(address, "tcp:", 4) != 0)
        return;

    struct sockaddr_in inet = {0};
    socklen_t length = sizeof inet;
    if (getsockname(fd, (struct sockaddr *)&inet, &length) != 0)
        return;

    char host[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &inet.sin_addr, host, sizeof host);
    snprintf(name, capacity, "tcp:%s:%d", host, ntohs(inet.sin_port));
}

void yk_socket_remove(const char *address)
{
    if (strncmp(address, "unix:", 5) == 0)
        unlink(address + 5);
}

/* Bytes ---------------------------------------------------------------------------------------- */

typedef struct socket_transport {
    yk_transport base;
    int fd;
    /* Received data that have not been requested yet. */
    unsigned char buffer[BUFFER];
    size_t first, last;
    /* After polling without success the next polls are skipped, more of them each time: a partner
     * that needs long, or has no processor of its own while this process polls, costs almost
     * nothing. */
    int skipped; /* receives that will sleep immediately */
    int penalty; /* for the next failure; 0 after a success */
} socket_transport;

/* Sleeps until the socket can be read or written. */
static yk_status wait_for(socket_transport *s, short events, double deadline)
{
    double began = yk_clock_seconds();
    int ready = poll_until(s->base.context, s->fd, events, deadline);
    if (ready > 0)
        return YK_OK;
    if (ready < 0)
        return yk_fail(s->base.context, YK_ERROR_EXTERNAL, "cannot be waited for: %s",
                       strerror(errno));
    if (yk_context_should_stop(s->base.context))
        return yk_fail(s->base.context, YK_ERROR_ABORTED,
                       "was waited for until a stop was asked for");
    return yk_fail(s->base.context, YK_ERROR_EXTERNAL, "did not answer within %.3g s",
                   fmax(deadline - began, 0));
}

static yk_status report_end(const socket_transport *s, int error)
{
    if (error == 0 || error == ECONNRESET || error == EPIPE)
        return yk_fail(s->base.context, YK_ERROR_EXTERNAL, "has ended");

    return yk_fail(s->base.context, YK_ERROR_EXTERNAL, "cannot be reached any more: %s",
                   strerror(error));
}

static yk_status socket_send(yk_transport *self, const void *head, size_t head_count,
                             const void *body, size_t count, double deadline)
{
    socket_transport *s = (socket_transport *)self;

    /* In one call: without Nagle's algorithm header and body would be two packets. */
    struct iovec parts[2] = {{(void *)(uintptr_t)head, head_count},
                             {(void *)(uintptr_t)body, count}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    while (message.msg_iovlen > 0) {
        ssize_t sent = sendmsg(s->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return report_end(s, errno);

        /* The partner has not yet read the previous data. */
        if (sent < 0) {
            yk_status status = wait_for(s, POLLOUT, deadline);
            if (status != YK_OK)
                return status;
            continue;
        }

        /* Remaining bytes of both parts. */
        size_t gone = (size_t)sent;
        while (message.msg_iovlen > 0 && gone >= message.msg_iov->iov_len) {
            gone -= message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }

        if (message.msg_iovlen > 0) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + gone;
            message.msg_iov->iov_len -= gone;
        }
    }

    return YK_OK;
}

/* Receives available bytes, up to a full buffer; possibly none. */
static yk_status take(socket_transport *s)
{
    s->first = 0;
    s->last = 0;
    ssize_t got = recv(s->fd, s->buffer, sizeof s->buffer, MSG_DONTWAIT);

    /* recv(2) returns 0 when the partner has closed its end. */
    if (got == 0)
        return report_end(s, 0);
    if (got < 0 && errno != EAGAIN && errno != EINTR)
        return report_end(s, errno);

    if (got > 0)
        s->last = (size_t)got;
    return YK_OK;
}

/* Waits for bytes and takes them. */
static yk_status fill_buffer(socket_transport *s, double deadline)
{
    yk_status status = take(s);

    /* Poll again for a moment, unless the last polls failed. */
    if (s->skipped > 0) {
        s->skipped--;
    } else if (status == YK_OK && s->last == 0) {
        double end = yk_clock_seconds() + SPIN;
        while (status == YK_OK && s->last == 0 && yk_clock_seconds() < end)
            status = take(s);

        /* After failures, 1, 3, 7, up to 63 of the next polls are left out. */
        if (s->last > 0)
            s->penalty = 0;
        else if (s->penalty < MOST_SKIPPED)
            s->penalty = 2 * s->penalty + 1;
        s->skipped = s->penalty;
    }

    /* Sleep. Other events than data also wake poll(2), so check again. */
    while (status == YK_OK && s->last == 0) {
        status = wait_for(s, POLLIN, deadline);
        if (status == YK_OK)
            status = take(s);
    }

    return status;
}

static yk_status socket_receive(yk_transport *self, void *bytes, size_t count, double deadline)
{
    socket_transport *s = (socket_transport *)self;
    unsigned char *target = bytes;
    while (count > 0) {
        if (s->first == s->last) {
            yk_status status = fill_buffer(s, deadline);
            if (status != YK_OK)
                return status;
        }

        /* Messages are short, and reading each piece separately would cost a system call. */
        size_t have = s->last - s->first;
        size_t taken = have < count ? have : count;
        memcpy(target, s->buffer + s->first, taken);
        s->first += taken;
        target += taken;
        count -= taken;
    }

    return YK_OK;
}

static void socket_close(yk_transport *self)
{
    socket_transport *s = (socket_transport *)self;
    close(s->fd);
    yk_free(s->base.context, s);
}

yk_transport *yk_socket_transport(yk_context *context, int fd)
{
    static const yk_transport_ops ops = {socket_send, socket_receive, socket_close};
    socket_transport *s = yk_allocate(context, 1, sizeof *s);
    if (!s)
        return NULL;

    s->base = (yk_transport){&ops, context};
    s->fd = fd;
    return &s->base;
}
