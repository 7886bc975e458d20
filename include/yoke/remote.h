/* Subsystems in other processes: a server that offers them, and a stand-in for a subsystem of a
 * server.
 *
 *   process 1                                              process 2
 *   system -> remote subsystem -> frames over a socket -> server -> subsystem
 *
 * Every operation of the contract (yoke/subsystem.h) is one frame in each direction. Numbers are
 * transferred as their 8 bytes, so the results are those of a single process bit for bit. Data that
 * schemes need after each step (outputs, energies, predictions, the next event) are returned with
 * the step. docs/protocol.md describes the frames byte by byte for partners in other languages.
 *
 * Addresses:
 *
 *   unix:PATH        a UNIX socket in the file system
 *   tcp:HOST:PORT    a TCP socket; beyond the loopback device only with a shared secret
 *
 * Between processes of one machine (unix:) the frames go through shared memory, and the socket only
 * shows that the partner is alive. If a partner ends, does not answer within the deadline or
 * violates the protocol, the call that waits for it fails. */
#ifndef YOKE_REMOTE_H
#define YOKE_REMOTE_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Largest and smallest length of a shared secret, the first line of a file that both sides have. */
enum { YK_SECRET_MIN = 16, YK_SECRET_MAX = 1024 };
/* Reads the secret, without its line end. */
yk_status yk_read_secret_file(yk_context *context, const char *path, char secret[YK_SECRET_MAX]);

typedef struct yk_remote_def {
    const char *address;
    const char *subsystem; /* its name at the server; "": the only one */
    /* s, for each answer; also the time to wait for a server that does not exist yet */
    double timeout;
    const char *secret;         /* the same as on the server; NULL: none */
    bool disable_shared_memory; /* no shared memory */
} yk_remote_def;

/* No address, a deadline of 30 s. */
yk_remote_def yk_remote_default(void);

/* Connects to a server. The subsystem has the ports, channels and capabilities of the remote one,
 * but cannot be merged with others. */
yk_status yk_remote_create(yk_context *context, const yk_remote_def *def, yk_subsystem **subsystem);

typedef struct yk_server_def {
    const char *address;
    const char *secret; /* NULL: none */
    /* Creates the subsystem requested by a client, in the process that serves only this client and
     * ends with it, so that nothing needs to be destroyed. The client receives the message of an
     * error. */
    yk_status (*create)(void *user, yk_context *context, const char *name,
                        yk_subsystem **subsystem);
    void *user;
    bool stop_after_first_client; /* return after the first client has disconnected */
    /* s without a frame after which a client counts as disconnected; 0: never */
    double client_timeout;
    /* Called when the server listens, and at intervals while it waits; NULL: never. False: stop. */
    bool (*on_idle)(void *user, const char *address);
} yk_server_def;

yk_server_def yk_server_default(void);

/* Listens, and serves each client in a process of its own, so that a crash of one subsystem does
 * not affect the others. Returns YK_OK when it is stopped, or after one client. */
yk_status yk_serve(yk_context *context, const yk_server_def *def);

#ifdef __cplusplus
}
#endif

#endif
