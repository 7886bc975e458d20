/* Subsystems in other processes: a server that offers them, and a subsystem that stands for one.
 *
 *   process 1                                              process 2
 *   system -> remote subsystem -> frames over a socket -> server -> subsystem
 *
 * Every operation of the contract (yoke/subsystem.h) is one frame there and one back; numbers
 * travel as the 8 bytes that they are, so the results are those of one process to the last bit.
 * What schemes ask for after each step (outputs, energies, predictions, the next event) comes back
 * with the step. docs/protocol.md describes the frames byte by byte for partners in other
 * languages.
 *
 * Addresses:
 *
 *   unix:PATH        a UNIX socket in the file system
 *   tcp:HOST:PORT    a TCP socket; beyond the loopback device only with a shared secret
 *
 * Between processes of one machine (unix:) the frames go through shared memory, and the socket is
 * left to say that the partner has ended. A partner that ends, does not answer within the deadline
 * or sends what the protocol does not allow is an error of the call that waits for it. */
#ifndef YOKE_REMOTE_H
#define YOKE_REMOTE_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A shared secret is the first line of a file that both sides have. */
enum { YK_SECRET_MIN = 16, YK_SECRET_MAX = 1024 };
/* Reads it; without its line end. */
yk_status yk_read_secret_file(yk_context *context, const char *path, char secret[YK_SECRET_MAX]);

typedef struct yk_remote_def {
    const char *address;
    const char *subsystem; /* its name at the server; "": the only one */
    /* s, for each answer; a server that is not there yet is waited for as long */
    double timeout;
    const char *secret;         /* the same as at the server; NULL: none */
    bool disable_shared_memory; /* no shared memory */
} yk_remote_def;

/* No address, a deadline of 30 s. */
yk_remote_def yk_remote_default(void);

/* Connects to a server. The subsystem has the ports, channels and capabilities of the one that it
 * stands for, but cannot be merged with others. */
yk_status yk_remote_create(yk_context *context, const yk_remote_def *def, yk_subsystem **subsystem);

typedef struct yk_server_def {
    const char *address;
    const char *secret; /* NULL: none */
    /* Makes the subsystem that a client asks for, in the process that serves this client alone and
     * ends with it: nothing needs to be destroyed. Its message becomes the client's. */
    yk_status (*create)(void *user, yk_context *context, const char *name,
                        yk_subsystem **subsystem);
    void *user;
    bool stop_after_first_client; /* return when the first client has left */
    double client_timeout; /* s without a frame after which a client counts as gone; 0: never */
    /* Called when the server listens, and now and then while it waits; NULL: never. False: end. */
    bool (*on_idle)(void *user, const char *address);
} yk_server_def;

yk_server_def yk_server_default(void);

/* Listens, and serves each client in a process of its own, so that one that makes a subsystem crash
 * takes nobody with it. Returns YK_OK when it is told to end, or after one client. */
yk_status yk_serve(yk_context *context, const yk_server_def *def);

#ifdef __cplusplus
}
#endif

#endif
