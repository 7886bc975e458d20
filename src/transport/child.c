/* A subsystem in a child process: a fork of this one that serves it over a pair of sockets, with
 * frames in shared memory. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/frame.h"
#include "yoke/transport.h"

typedef struct child {
    yk_context *context;
    pid_t process;
    void (*release)(void *user);
    void *user;
} child;

/* What the child is after is decided here alone: one that hangs does not end by itself. */
static void end_child(void *user)
{
    child *c = user;
    kill(c->process, SIGKILL);
    while (waitpid(c->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (c->release)
        c->release(c->user);
    yk_release(c->context, c);
}

/* In the child: it ends with its parent, and leaves interrupts to it. */
static void serve(yk_context *context, const yk_child_def *def, int socket)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL); /* a handler of the parent would be wrong here */
    yk_server_def server = yk_server_default();
    server.address = "unix:"; /* on this machine */
    server.create = def->create;
    server.user = def->user;
    yk_serve_connected(context, &server, socket);
    _exit(0);
}

yk_status yk_child_create(yk_context *context, const yk_child_def *def, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    int ends[2];
    child *c = yk_allocate(context, 1, sizeof *c);
    yk_status status = c ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        status = yk_fail(context, YK_ERROR_EXTERNAL, "no sockets for a child process: %s",
                         strerror(errno));
    if (status != YK_OK) {
        yk_release(context, c);
        if (def->release)
            def->release(def->user);
        return status;
    }

    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        serve(context, def, ends[1]);
    }
    close(ends[1]);
    if (process < 0) {
        status = yk_fail(context, YK_ERROR_EXTERNAL, "no child process for '%s': %s", def->name,
                         strerror(errno));
        close(ends[0]);
        yk_release(context, c);
        if (def->release)
            def->release(def->user);
        return status;
    }
    *c = (child){context, process, def->release, def->user};

    char name[300];
    snprintf(name, sizeof name, "'%.200s' in a process of its own", def->name);
    yk_remote_host host = {.name = name, .release = end_child, .user = c};
    yk_remote_def remote = yk_remote_default();
    remote.address = "unix:"; /* on this machine: frames go through memory */
    remote.subsystem = def->name;
    remote.deadline = def->deadline;

    return yk_remote_attach(context, &remote, ends[0], &host, subsystem);
}
