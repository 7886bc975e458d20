/* Frames: messages between the processes of a coupled run, and the transports that carry them.
 *
 *   offset  bytes
 *   0       4      length of the body in bytes
 *   4       2      kind (yk_frame_kind)
 *   6       2      zero
 *   8       8      number; an answer has the number of its request
 *   16      ...    body
 *
 * Everything is little-endian: integers of 4 bytes, doubles of 8 (IEEE 754), texts as their length
 * (4 bytes) and their bytes in UTF-8. docs/protocol.md describes the bodies of all kinds.
 *
 * A transport moves bytes in order and without loss between two processes, with a deadline: a
 * socket, two mailboxes in shared memory, or messages between processes that a launcher started
 * together (mpi_ranks.h). */
#ifndef YK_TRANSPORT_FRAME_H
#define YK_TRANSPORT_FRAME_H

#include "remote/frame_list.h"
#include "yoke/base.h"
#include "yoke/subsystem.h"

enum {
    YK_PROTOCOL_VERSION = 1,
    YK_FRAME_HEADER = 16,
    YK_HEAD_MAX = 16,
    YK_FRAME_BODY_MAX = 1 << 28,   /* 256 MiB */
    YK_MEETING_BODY_MAX = 1 << 12, /* of frames before both sides have proved who they are */
    YK_TEXT_MAX = 1 << 16,
    YK_PORTS_MAX = 10000,
    YK_REMOTE_CHANNELS_MAX = 100000,
    YK_SCENE_MAX = 10000000, /* bodies, shapes, points of one of them */
    YK_PARTS_MAX = 10000,    /* of a merged subsystem */
    YK_NONCE = 32,
    YK_PROOF = 64,
    YK_PARTNER_MESSAGE = 1024
};

#define YK_MEETING_KIND(number, id, name) YK_FRAME_##id = (number),
#define YK_QUESTION_KIND(number, id, name, when) YK_FRAME_##id = (number),
typedef enum yk_frame_kind {
    YK_MEETING_FRAMES(YK_MEETING_KIND) YK_QUESTION_FRAMES(YK_QUESTION_KIND) YK_FRAME_KIND_END
} yk_frame_kind;
#undef YK_MEETING_KIND
#undef YK_QUESTION_KIND

/* "step_model"; NULL for an unknown number. */
const char *yk_frame_name(unsigned kind);

/* Capabilities of the subsystem behind a connection: groups of the contract. */
enum {
    YK_CAN_PREDICT = 1 << 0,
    YK_CAN_MOVE_PORTS = 1 << 1,
    YK_CAN_ROLL_BACK = 1 << 2,
    YK_CAN_ITERATE = 1 << 3,
    YK_CAN_DIFFERENTIATE = 1 << 4,
    YK_CAN_REDUCE = 1 << 5,
    YK_CAN_MODEL_STEP = 1 << 6,
    YK_CAN_ANNOUNCE_EVENTS = 1 << 7,
    YK_CAN_COUNT_ENERGY = 1 << 8,
    YK_CAN_BE_RECORDED = 1 << 9,
    /* of the server itself: posted steps, saved states, rollback, details, counters */
    YK_CAN_WORK_AHEAD = 1 << 10,
    YK_CAN_BE_SEEN = 1 << 11,
    YK_CAN_SHOW_CONTACTS = 1 << 12,
    YK_CAN_RELAX = 1 << 13,
    YK_CAN_CHOOSE_CHANNELS = 1 << 14,
    YK_CAN_EXPECT_STATES = 1 << 15,
    YK_CAN_NAME_UNITS = 1 << 16
};

/* Transports ----------------------------------------------------------------------------------- */

typedef struct yk_transport yk_transport;

/* Deadlines are times of yk_clock_seconds(); infinity: none. */
typedef struct yk_transport_ops {
    /* A head of at most YK_HEAD_MAX bytes and a body, together. */
    yk_status (*send)(yk_transport *self, const void *head, size_t head_count, const void *body,
                      size_t count, double deadline);
    yk_status (*receive)(yk_transport *self, void *bytes, size_t count, double deadline);
    void (*close)(yk_transport *self);
} yk_transport_ops;

struct yk_transport {
    const yk_transport_ops *ops;
    yk_context *context; /* receives the messages: "has ended", "did not answer within 3 s" */
};

/* Connects; repeats the attempt until the deadline if the server does not exist yet. (socket.c) */
yk_status yk_socket_connect(yk_context *context, const char *address, double deadline, int *fd);
/* Listens. A socket file without a listener is replaced. */
yk_status yk_socket_listen(yk_context *context, const char *address, bool has_secret, int *fd);
/* Waits for a connection. */
yk_status yk_socket_accept(yk_context *context, int listening, double deadline, int *fd);
/* The address of a listening socket, with the port that the system chose. */
void yk_socket_name(const char *address, int fd, char *name, size_t capacity);
void yk_socket_remove(const char *address);
/* A transport over a connected socket, which it closes when it is destroyed; NULL: memory is
 * missing. */
yk_transport *yk_socket_transport(yk_context *context, int fd);

/* Mailboxes in memory that both processes map. (shared_memory.c) */
bool yk_memory_create(int *fd);
/* `first`: the side that created the memory. The socket shows that the other side has ended. Memory
 * and socket are closed with the transport. NULL: the memory cannot be mapped. */
yk_transport *yk_memory_transport(yk_context *context, int memory, int socket, bool first);
/* Sends one byte together with a descriptor over a UNIX socket. */
bool yk_send_descriptor(int socket, int fd);
int yk_receive_descriptor(int socket, double deadline);

/* Connected sockets ---------------------------------------------------------------------------- */

/* Serves the one client behind a connected socket until it disconnects. (server.c) */
struct yk_server_def;
void yk_serve_connected(yk_context *context, const struct yk_server_def *def, int socket);

/* Serves one client over a transport without a handshake, request by request. The caller owns the
 * subsystem; NULL: every request is answered by `failure`. */
typedef struct yk_session yk_session;
yk_status yk_session_open(yk_context *context, yk_transport *transport, yk_subsystem *subsystem,
                          const char *failure, yk_session **session);
/* Waits for a request and answers it. */
yk_status yk_session_answer(yk_session *session);
/* Time that the subsystem has computed (s). */
double yk_session_seconds(const yk_session *session);
void yk_session_close(yk_session *session);

/* The partner behind a connected socket. */
typedef struct yk_remote_host {
    const char *name;            /* in messages: "the partner NAME has ended" */
    void (*release)(void *user); /* called when the subsystem is destroyed; may be NULL */
    void *user;
} yk_remote_host;

/* Creates the subsystem behind a connected socket, which is closed with it; after an error too, and
 * then `release` is called. (remote.c) */
struct yk_remote_def;
yk_status yk_remote_attach(yk_context *context, const struct yk_remote_def *def, int socket,
                           const yk_remote_host *host, yk_subsystem **subsystem);
/* The same over any transport; those without a socket (-1) need no handshake. */
yk_status yk_remote_over(yk_context *context, const struct yk_remote_def *def,
                         yk_transport *transport, int socket, const yk_remote_host *host,
                         yk_subsystem **subsystem);

/* Called first in a child process: it ends with its parent, ignores interrupts, and is ended by its
 * own faults. (child_process.c) */
void yk_child_begin(void);

/* A subsystem in a child process, created there by `create`: a crash, or a step that exceeds the
 * deadline (s), ends the child and is an error here with its name. `release` is called with `user`
 * after the child has ended, also if the status is an error. (child_process.c) */
typedef struct yk_child_def {
    const char *name;
    double deadline;
    yk_status (*create)(void *user, yk_context *context, const char *name,
                        yk_subsystem **subsystem);
    void (*release)(void *user);
    void *user;
} yk_child_def;

yk_status yk_child_create(yk_context *context, const yk_child_def *def, yk_subsystem **subsystem);

/* Bodies --------------------------------------------------------------------------------------- */

/* A body that is written or read. Its memory grows and is reused. A read beyond its end, or a count
 * that is too large, sets `failed` and gives zeros. */
typedef struct yk_body {
    yk_context *context;
    unsigned char *bytes;
    size_t length, capacity;
    size_t at; /* position of the next read */
    bool failed;
    bool meeting; /* handshake: received bodies are limited to YK_MEETING_BODY_MAX bytes */
} yk_body;

/* Allocates memory for bodies of this size, so that later ones need none; false: memory is missing. */
bool yk_body_reserve(yk_body *body, size_t capacity);
void yk_put_bytes(yk_body *body, const void *bytes, size_t count);
void yk_put_whole(yk_body *body, uint32_t value);
void yk_put_number(yk_body *body, double value);
void yk_put_numbers(yk_body *body, const double *values, size_t count);
void yk_put_text(yk_body *body, const char *text);
void yk_get_bytes(yk_body *body, void *bytes, size_t count);
uint32_t yk_get_whole(yk_body *body);
double yk_get_number(yk_body *body);
void yk_get_numbers(yk_body *body, double *values, size_t count);
/* Only those of many numbers that have changed since they were last sent. Both sides store the last
 * ones. */
void yk_put_changes(yk_body *body, const double *values, double *kept, size_t count);
void yk_get_changes(yk_body *body, double *kept, size_t count);
/* Reads into a buffer, truncating the text. */
void yk_get_text(yk_body *body, char *text, size_t capacity);
/* Whether the body was complete, and has no further bytes. */
bool yk_body_is_done(const yk_body *body);

/* The input of a port: its degree, and only the coefficients up to it. Coefficients of unconnected
 * ports are zero. */
void yk_put_input(yk_body *body, const yk_input *input, bool connected);
void yk_get_input(yk_body *body, yk_input *input);

/* Number of rows of the wrench ports: `marker` for each marker and `scalar` for each scalar port. */
size_t yk_wrench_rows(const yk_port *ports, const yk_causality *causalities, int count,
                      size_t marker, size_t scalar);

/* Frames --------------------------------------------------------------------------------------- */

/* Sends the body as a frame; receives one into the body. The number of an answer must be that of
 * its request; the caller checks the kind. */
yk_status yk_frame_send(yk_transport *transport, yk_frame_kind kind, uint64_t number,
                        const yk_body *body, double deadline);
yk_status yk_frame_receive(yk_transport *transport, uint16_t *kind, uint64_t *number, yk_body *body,
                           double deadline);

/* A failure of the connection: puts the name of the partner before the last message of the context
 * ("did not answer within 3 s"), and stores it for later calls. Returns the status. */
yk_status yk_partner_failed(yk_context *context, yk_status status, const char *partner,
                            char message[YK_PARTNER_MESSAGE]);

/* HMAC-SHA-512 of the role of the prover, the nonce of the other side and the own nonce. */
void yk_proof(const char *secret, const char *who, const unsigned char theirs[YK_NONCE],
              const unsigned char own[YK_NONCE], unsigned char proof[YK_PROOF]);

#endif
