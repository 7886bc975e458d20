/* A server in a process of its own, for tests. */
#ifndef YOKE_TESTS_TRANSPORT_SERVING_H
#define YOKE_TESTS_TRANSPORT_SERVING_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "yoke/remote.h"

typedef struct serving {
    pid_t process;
    char address[200]; /* with the port that the system chose */
    int pipe;          /* where the server writes it */
} serving;

static inline bool serving_announce(void *user, const char *address)
{
    serving *s = user;
    if (s->pipe >= 0) {
        size_t length = strlen(address) + 1;
        bool good = write(s->pipe, address, length) == (ssize_t)length;
        close(s->pipe);
        s->pipe = -1;
        return good;
    }
    return getppid() != 1; /* ends with the test */
}

typedef yk_status (*serving_create)(void *user, yk_context *context, const char *name,
                                    yk_subsystem **subsystem);

/* NULL as address: a UNIX socket in a new folder. False where it does not come up. */
static inline bool serving_start(serving *s, const char *address, const char *secret,
                                 serving_create create)
{
    static char folder[] = "/tmp/yoke-test-XXXXXX";
    static char local[100];
    if (!address) {
        if (!local[0]) {
            if (!mkdtemp(folder))
                return false;
            snprintf(local, sizeof local, "unix:%s/socket", folder);
        }
        address = local;
    }
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    s->process = fork();
    if (s->process == 0) {
        setpgid(0, 0);
        close(ends[0]);
        s->pipe = ends[1];
        yk_context *context = yk_context_create(NULL);
        yk_server_def def = yk_server_default();
        def.address = address;
        def.secret = secret;
        def.create = create;
        def.user = s;
        def.on_idle = serving_announce;
        yk_status status = yk_serve(context, &def);
        if (status != YK_OK)
            fprintf(stderr, "server: %s\n", yk_last_message(context));
        _exit(status == YK_OK ? 0 : 1);
    }
    close(ends[1]);
    bool up = read(ends[0], s->address, sizeof s->address) > 0;
    close(ends[0]);
    return up;
}

static inline void serving_stop(serving *s)
{
    kill(-s->process, SIGKILL);
    waitpid(s->process, NULL, 0);
    if (strncmp(s->address, "unix:", 5) == 0)
        unlink(s->address + 5);
}

#endif
