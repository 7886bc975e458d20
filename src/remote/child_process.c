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

#include "remote/frame.h"
#include "yoke/remote.h"

typedef struct child {
    yk_context *context;
    pid_t process;
    void (*release)(void *user);
    void *user;
} child;

/* The child process alone decides how long it lives after a failure: one that hangs must be ended. */
static void end_child(void *user)
{
    child *c = user;
    kill(c->process, SIGKILL);
    while (waitpid(c->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (c->release)
        c->release(c->user);
    yk_free(c->context, c);
}

/* No process was started: release the caller's data nevertheless. */
static yk_status release_all(yk_context *context, child *c, const yk_child_def *def,
                             yk_status status)
{
    yk_free(context, c);
    if (def->release)
        def->release(def->user);
    return status;
}

void yk_child_begin(void)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    /* The child ends with its parent, which alone decides when a run is stopped. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);

    /* A fault ends the child: a handler of the parent would be wrong here. */
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_DFL);
}

yk_status yk_child_create(yk_context *context, const yk_child_def *def, yk_subsystem **subsystem)
{
    *subsystem = NULL;
    child *c = yk_allocate(context, 1, sizeof *c);
    if (!c)
        return release_all(context, NULL, def, YK_ERROR_MEMORY);

    /* Both sides meet over the pair of sockets, and each detects there that the other has ended. */
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        yk_fail(context, YK_ERROR_EXTERNAL, "no sockets for a child process: %s", strerror(errno));
        return release_all(context, c, def, YK_ERROR_EXTERNAL);
    }

    pid_t process = fork();
    if (process < 0) {
        yk_fail(context, YK_ERROR_EXTERNAL, "no child process for '%s': %s", def->name,
                strerror(errno));
        close(ends[0]);
        close(ends[1]);
        return release_all(context, c, def, YK_ERROR_EXTERNAL);
    }

    if (process == 0) {
        yk_child_begin();
        close(ends[0]);
        yk_server_def server = yk_server_default();
        server.address = "unix:"; /* on this machine */
        server.create = def->create;
        server.user = def->user;
        yk_serve_connected(context, &server, ends[1]);
        _exit(0);
    }

    /* Only the child has its end open, so that its death is visible here. */
    close(ends[1]);
    *c = (child){context, process, def->release, def->user};

    /* For the parent the subsystem is a remote one on this machine: frames go through shared
     * memory. */
    char name[300];
    snprintf(name, sizeof name, "'%.200s' in a process of its own", def->name);
    yk_remote_host host = {.name = name, .release = end_child, .user = c};
    yk_remote_def remote = yk_remote_default();
    remote.address = "unix:";
    remote.subsystem = def->name;
    remote.timeout = def->deadline;
    return yk_remote_attach(context, &remote, ends[0], &host, subsystem);
}
