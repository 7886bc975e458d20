/* The process that loads the library preCICE: version 3 of its C interface, loaded at run time.
 *
 *   parent                                        child
 *   open         -> fork                          dlopen, createParticipant
 *                <- answer                        dimensions, or the reason of a failure
 *   initialize   -> request, coordinates, values  setMeshVertices, writeData, initialize
 *                <- answer, values                readData
 *   advance      -> request, values               writeData, advance
 *                <- answer, values                readData
 *   close        -> request                       finalize
 *
 * Both are the same program, so that structs are transferred unchanged. The output of the library
 * goes to a file in memory: it is logged here, and its last error becomes the message after the
 * child has ended. */
#define _GNU_SOURCE
#include "interop/precice/partner.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/input.h"
#include "base/text.h"
#include "remote/frame.h"

/* s in which the library must close its connections before the end of its coupling. */
static const double CLOSING = 5;

/* A warning in every window is not repeated every time. */
enum { PRINTED_MAX = 1 << 16, LINE_MAX_BYTES = 400, WARNINGS_MAX = 5 };

typedef struct request {
    enum { INITIALIZE = 1, ADVANCE, FINALIZE } kind;
    double step;
    double ahead;
} request;

typedef struct answer {
    yk_status status;
    char text[600]; /* reason, if the status is an error */
    yk_precice_state state;
} answer;

struct yk_precice_host {
    yk_context *context;
    yk_transport *transport;
    pid_t process;
    int printed; /* the file in memory */
    double deadline;
    char name[200];
    char message[YK_PARTNER_MESSAGE];
    int warnings;  /* that were logged as such */
    size_t values; /* of one data */
    int written_count, read_count;
    bool ended; /* the coupling has ended as configured */
    bool broken;
};

/* The library ---------------------------------------------------------------------------------- */

/* X(name, type of the result, types of the arguments): the used part of the interface. */
#define FUNCTIONS(X)                                                                    \
    X(createParticipant, void, (const char *, const char *, int, int))                  \
    X(getMeshDimensions, int, (const char *))                                           \
    X(getDataDimensions, int, (const char *, const char *))                             \
    X(setMeshVertices, void, (const char *, int, const double *, int *))                \
    X(requiresInitialData, int, (void))                                                 \
    X(initialize, void, (void))                                                         \
    X(writeData, void, (const char *, const char *, int, const int *, const double *))  \
    X(readData, void, (const char *, const char *, int, const int *, double, double *)) \
    X(advance, void, (double))                                                          \
    X(getMaxTimeStepSize, double, (void))                                               \
    X(isCouplingOngoing, int, (void))                                                   \
    X(isTimeWindowComplete, int, (void))                                                \
    X(requiresReadingCheckpoint, int, (void))                                           \
    X(requiresWritingCheckpoint, int, (void))                                           \
    X(finalize, void, (void))

typedef struct child {
    const yk_precice_def *def;
    const yk_precice_data *data;
    struct {
#define MEMBER(name, result, arguments) result(*name) arguments;
        FUNCTIONS(MEMBER)
#undef MEMBER
    } library;
    int socket;
    int vertices;
    int dimensions;
    int *ids;
    double *coordinates, *written, *read;
} child;

/* The cast from an object to a function pointer is what dlsym(3) asks for. */
static bool find(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The reason is the text of the answer. */
static yk_status load(child *c, answer *a)
{
    const char *path = c->def->library;
    /* The loader would wait for a pipe. For a missing file its own message is better. */
    if (strchr(path, '/') && yk_is_irregular_file(path)) {
        snprintf(a->text, sizeof a->text, "cannot be loaded: '%.300s' is not a regular file", path);
        return YK_ERROR_EXTERNAL;
    }

    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        snprintf(a->text, sizeof a->text,
                 "cannot be loaded: %.300s (the library preCICE, version 3, is not part of Yoke: "
                 "install it, or say where it is)",
                 dlerror());
        return YK_ERROR_EXTERNAL;
    }

    /* The functions of other versions have different arguments. */
    const char *(*version)(void);
    if (!find(handle, "precicec_getVersionInformation", &version)) {
        snprintf(a->text, sizeof a->text,
                 "%.200s is not preCICE, or was built without its C interface: it has no function "
                 "precicec_getVersionInformation",
                 path);
        return YK_ERROR_EXTERNAL;
    }

    if (strncmp(version(), "3.", 2) != 0) {
        snprintf(a->text, sizeof a->text, "%.200s is version %.*s of preCICE: version 3 is needed",
                 path, (int)strcspn(version(), ";"), version());
        return YK_ERROR_EXTERNAL;
    }

    /* All functions at the start, so that a run does not fail later. */
    const char *absent = NULL;
#define FIND(name, result, arguments)                       \
    if (!find(handle, "precicec_" #name, &c->library.name)) \
        absent = "precicec_" #name;
    FUNCTIONS(FIND)
#undef FIND
    if (!absent)
        return YK_OK;

    snprintf(a->text, sizeof a->text, "%.200s has no function %s: another version 3 is needed",
             path, absent);
    return YK_ERROR_EXTERNAL;
}

/* Mesh and data must be there, and the data vectors. */
static yk_status create_participant(child *c, answer *a)
{
    const char *mesh = c->def->mesh;

    /* The library ends this process after a wrong name or configuration; its output contains the
     * reason. */
    c->library.createParticipant(c->def->participant, c->def->config_file, 0, 1);
    c->dimensions = c->library.getMeshDimensions(mesh);
    a->state.dimensions = c->dimensions;

    /* Motions and forces are vectors; a scalar would be read beyond its end. */
    int count = c->data->written_count + c->data->read_count;
    for (int i = 0; i < count; i++) {
        const char *name = c->data->written[i % YK_PRECICE_DATA_MAX];
        if (i >= c->data->written_count)
            name = c->data->read[i - c->data->written_count];
        if (c->library.getDataDimensions(mesh, name) == c->dimensions)
            continue;

        snprintf(a->text, sizeof a->text,
                 "data '%.100s' of mesh '%.100s' is a scalar: it must be data:vector", name, mesh);
        return YK_ERROR_EXTERNAL;
    }

    /* Memory for all values of both directions, of those that are read at two times. */
    size_t n = (size_t)c->vertices * (size_t)c->dimensions;
    c->ids = calloc((size_t)c->vertices, sizeof *c->ids);
    c->coordinates = calloc(n, sizeof *c->coordinates);
    c->written = calloc(n * YK_PRECICE_DATA_MAX, sizeof *c->written);
    c->read = calloc(2 * n * YK_PRECICE_DATA_MAX, sizeof *c->read);

    if (c->ids && c->coordinates && c->written && c->read)
        return YK_OK;
    snprintf(a->text, sizeof a->text, "there is no memory for its values");
    return YK_ERROR_MEMORY;
}

/* The child ------------------------------------------------------------------------------------ */

static bool put(int fd, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t done = write(fd, from, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        count -= (size_t)done;
    }

    return true;
}

static bool take(int fd, void *bytes, size_t count)
{
    char *to = bytes;
    while (count > 0) {
        ssize_t done = read(fd, to, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        to += done;
        count -= (size_t)done;
    }

    return true;
}

static void write_values(const child *c)
{
    size_t n = (size_t)c->vertices * (size_t)c->dimensions;
    for (int i = 0; i < c->data->written_count; i++)
        c->library.writeData(c->def->mesh, c->data->written[i], c->vertices, c->ids,
                             c->written + (size_t)i * n);
}

/* One request: handles it and sends the state. False: the parent has ended. */
static bool answer_one(child *c)
{
    request q;
    answer a = {0};
    size_t n = (size_t)c->vertices * (size_t)c->dimensions;
    if (!take(c->socket, &q, sizeof q))
        return false;

    /* The parent waits for this answer before it ends us, so that connections are closed in order. */
    if (q.kind == FINALIZE) {
        c->library.finalize();
        put(c->socket, &a, sizeof a);
        return false;
    }

    /* Vertices are constant: their coordinates are sent once. */
    if (q.kind == INITIALIZE && !take(c->socket, c->coordinates, n * sizeof *c->coordinates))
        return false;
    size_t written = (size_t)c->data->written_count * n;
    if (!take(c->socket, c->written, written * sizeof *c->written))
        return false;

    /* The library requires a call for checkpoints wherever it may request one. */
    if (q.kind == INITIALIZE) {
        c->library.setMeshVertices(c->def->mesh, c->vertices, c->coordinates, c->ids);
        if (c->library.requiresInitialData())
            write_values(c);
        c->library.initialize();
    } else {
        write_values(c);
        c->library.advance(q.step);
        a.state.complete = c->library.isTimeWindowComplete();
        a.state.repeats = c->library.requiresReadingCheckpoint();
    }

    /* After the end of the coupling there is no window to request. */
    a.state.dimensions = c->dimensions;
    a.state.ongoing = c->library.isCouplingOngoing();
    if (a.state.ongoing) {
        a.state.longest = c->library.getMaxTimeStepSize();
        a.state.ahead = fmin(q.ahead, a.state.longest);
        a.state.begins = c->library.requiresWritingCheckpoint();
    }

    /* For now, and for the end of the step that follows. */
    size_t read = (size_t)c->data->read_count * n;
    for (int i = 0; i < c->data->read_count; i++) {
        const char *name = c->data->read[i];
        double *values = c->read + (size_t)i * n;
        c->library.readData(c->def->mesh, name, c->vertices, c->ids, 0, values);
        c->library.readData(c->def->mesh, name, c->vertices, c->ids, a.state.ahead, values + read);
    }

    return put(c->socket, &a, sizeof a) && put(c->socket, c->read, 2 * read * sizeof *c->read);
}

static void run_child(child *c, int printed)
{
    yk_child_begin();

    /* The output of the library goes to a file, which is searched for reasons. */
    dup2(printed, STDOUT_FILENO);
    dup2(printed, STDERR_FILENO);

    /* The first answer: whether the participant was created, and if not, the reason. */
    answer a = {0};
    a.status = load(c, &a);
    if (a.status == YK_OK)
        a.status = create_participant(c, &a);

    bool good = put(c->socket, &a, sizeof a) && a.status == YK_OK;
    while (good)
        good = answer_one(c);

    /* The parent's exit handlers must not be called. */
    fflush(NULL);
    _exit(0);
}

/* Output of the library ------------------------------------------------------------------------ */

/* Without the codes for colors, and without the prefix of an error. */
static void clean(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++) {
        /* An escape sequence ends with its first letter: "\033[31m". */
        if (*from == '\033') {
            while (*from && !isalpha((unsigned char)*from))
                from++;
            if (!*from)
                break;
            continue;
        }

        *to++ = *from;
    }

    *to = '\0';
}

/* Logs the output since the last call; the last error, or otherwise the last line, is kept. */
static void read_printed(yk_precice_host *host, char last[LINE_MAX_BYTES])
{
    last[0] = '\0';

    /* Only the last lines: old output is not the reason. */
    char *bytes = yk_allocate(host->context, PRINTED_MAX + 1, 1);
    if (!bytes)
        return;

    off_t size = lseek(host->printed, 0, SEEK_END);
    off_t from = size > PRINTED_MAX ? size - PRINTED_MAX : 0;
    ssize_t got = pread(host->printed, bytes, PRINTED_MAX, from);
    if (got <= 0) {
        yk_free(host->context, bytes);
        return;
    }

    /* Everything is logged, but a warning in every window only some times as a warning. */
    bytes[got] = '\0';
    bool error = false;
    char *rest = NULL;
    for (char *line = strtok_r(bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        clean(line);
        const char *fault = strstr(line, "ERROR: ");
        yk_log_level level = YK_LOG_DEBUG;
        if (strstr(line, "WARNING: ") && host->warnings++ < WARNINGS_MAX)
            level = YK_LOG_WARNING;
        yk_log(host->context, level, "preCICE: %s", line);

        /* An error is the reason, wherever it is; otherwise the last line may be. */
        if (fault || (!error && *line))
            snprintf(last, LINE_MAX_BYTES, "%s", fault ? fault + strlen("ERROR: ") : line);
        error = error || fault;
    }

    yk_free(host->context, bytes);

    /* Later lines go to the new end. */
    if (ftruncate(host->printed, 0) != 0)
        yk_log(host->context, YK_LOG_DEBUG, "preCICE: what it prints cannot be cut: %s",
               strerror(errno));
}

/* The parent ----------------------------------------------------------------------------------- */

/* The child has ended or does not answer: the last output of the library gives the reason. */
static yk_status give_up(yk_precice_host *host, yk_status status)
{
    host->broken = true;
    yk_partner_failed(host->context, status, host->name, host->message);

    char last[LINE_MAX_BYTES];
    read_printed(host, last);
    if (last[0]) {
        char why[YK_PARTNER_MESSAGE];
        snprintf(why, sizeof why, "%.500s: %.400s", host->message, last);
        memcpy(host->message, why, sizeof why);
    }

    return yk_fail(host->context, status, "%s", host->message);
}

static yk_status receive(yk_precice_host *host, answer *a, double *values, size_t count)
{
    const yk_transport_ops *ops = host->transport->ops;
    double deadline = yk_clock_seconds() + host->deadline;
    yk_status status = ops->receive(host->transport, a, sizeof *a, deadline);
    if (status == YK_OK && a->status == YK_OK && count > 0)
        status = ops->receive(host->transport, values, count * sizeof *values, deadline);
    if (status != YK_OK)
        return give_up(host, status);

    /* The output is logged also after a success. */
    char last[LINE_MAX_BYTES];
    read_printed(host, last);
    if (a->status == YK_OK)
        return YK_OK;

    /* After an answer with a failure, the child has ended. */
    host->broken = true;
    snprintf(host->message, sizeof host->message, "%s: %s", host->name, a->text);
    return yk_fail(host->context, a->status, "%s", host->message);
}

static yk_status ask(yk_precice_host *host, const request *q, const double *coordinates,
                     const double *written, yk_precice_state *state, double *read)
{
    if (host->broken)
        return yk_fail(host->context, YK_ERROR_EXTERNAL, "%s", host->message);

    /* In the order in which the child reads them: request, coordinates if any, values. */
    const yk_transport_ops *ops = host->transport->ops;
    double deadline = yk_clock_seconds() + host->deadline;
    yk_status status = ops->send(host->transport, NULL, 0, q, sizeof *q, deadline);
    if (status == YK_OK && coordinates)
        status = ops->send(host->transport, NULL, 0, coordinates,
                           host->values * sizeof *coordinates, deadline);

    size_t count = (size_t)host->written_count * host->values;
    if (status == YK_OK)
        status = ops->send(host->transport, NULL, 0, written, count * sizeof *written, deadline);
    if (status != YK_OK)
        return give_up(host, status);

    answer a;
    status = receive(host, &a, read, 2 * (size_t)host->read_count * host->values);
    if (status != YK_OK)
        return status;

    /* A coupling that has ended as configured gets more time to close. */
    *state = a.state;
    host->ended = !a.state.ongoing;
    return YK_OK;
}

yk_status yk_precice_initialize(yk_precice_host *host, const double *coordinates,
                                const double *written, double ahead, yk_precice_state *state,
                                double *read)
{
    const request q = {.kind = INITIALIZE, .ahead = ahead};
    return ask(host, &q, coordinates, written, state, read);
}

yk_status yk_precice_advance(yk_precice_host *host, double step, const double *written,
                             double ahead, yk_precice_state *state, double *read)
{
    const request q = {.kind = ADVANCE, .step = step, .ahead = ahead};
    return ask(host, &q, NULL, written, state, read);
}

const char *yk_precice_message(const yk_precice_host *host)
{
    return host->message;
}

void yk_precice_close(yk_precice_host *host)
{
    if (!host)
        return;

    /* Close connections in order, if the library still answers; it may wait for partners that make
     * their last step. */
    if (host->transport && !host->broken) {
        const request q = {.kind = FINALIZE};
        double closing = host->ended ? host->deadline : CLOSING;
        double deadline = yk_clock_seconds() + closing;
        answer a;
        if (host->transport->ops->send(host->transport, NULL, 0, &q, sizeof q, deadline) == YK_OK)
            host->transport->ops->receive(host->transport, &a, sizeof a, deadline);
    }

    /* The library may hang, so the child is ended and reaped in any case. */
    if (host->transport)
        host->transport->ops->close(host->transport);
    if (host->process > 0) {
        kill(host->process, SIGKILL);
        while (waitpid(host->process, NULL, 0) < 0 && errno == EINTR)
            continue;
    }

    if (host->printed >= 0)
        close(host->printed);
    yk_free(host->context, host);
}

yk_status yk_precice_open(yk_context *context, const yk_precice_def *def,
                          const yk_precice_data *data, int vertices, yk_precice_host **made,
                          yk_precice_state *state)
{
    *made = NULL;
    yk_precice_host *host = yk_allocate(context, 1, sizeof *host);
    if (!host)
        return YK_ERROR_MEMORY;

    host->context = context;
    host->deadline = def->timeout;
    host->written_count = data->written_count;
    host->read_count = data->read_count;
    snprintf(host->name, sizeof host->name, "preCICE, participant '%.100s',", def->participant);

    /* All output of the library is appended, so that the file can be truncated meanwhile. */
    int ends[2] = {-1, -1};
    host->printed = memfd_create("precice", MFD_CLOEXEC);
    if (host->printed < 0 || fcntl(host->printed, F_SETFL, O_APPEND) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        yk_fail(context, YK_ERROR_EXTERNAL, "no sockets for a child process: %s", strerror(errno));
        yk_precice_close(host);
        return YK_ERROR_EXTERNAL;
    }

    /* A fork has def and data in its memory, so they need not be sent. */
    host->process = fork();
    if (host->process == 0) {
        close(ends[0]);
        child c = {.def = def, .data = data, .socket = ends[1], .vertices = vertices};
        run_child(&c, host->printed);
    }

    /* Only the child has its end open, so that its death is visible here. */
    close(ends[1]);
    if (host->process < 0) {
        yk_fail(context, YK_ERROR_EXTERNAL, "no child process for preCICE: %s", strerror(errno));
        close(ends[0]);
        yk_precice_close(host);
        return YK_ERROR_EXTERNAL;
    }

    host->transport = yk_socket_transport(context, ends[0]);
    if (!host->transport) {
        close(ends[0]);
        yk_precice_close(host);
        return YK_ERROR_MEMORY;
    }

    /* Whether there is a participant. The message is copied before the host is destroyed. */
    answer a;
    yk_status status = receive(host, &a, NULL, 0);
    if (status != YK_OK) {
        char why[YK_PARTNER_MESSAGE];
        memcpy(why, host->message, sizeof why);
        yk_precice_close(host);
        return yk_fail(context, status, "%s", why);
    }

    *state = a.state;
    host->values = (size_t)vertices * (size_t)a.state.dimensions;
    *made = host;
    return YK_OK;
}
