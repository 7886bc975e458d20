/* Replaces the library preCICE in tests: the functions of its C interface that Yoke calls, between
 * two participants in two processes that are connected by a UNIX socket.
 *
 * It reads these items of preCICE's own configuration: the kind of coupling, the first participant, the size
 * of the time window, max-time, the dimensions and what each participant reads and writes. Vertices of
 * both meshes are the same in the same order, an implicit coupling relaxes forces by a constant factor,
 * and values between the ends of a window lie on a line, as in preCICE. Mistakes are printed as ERROR,
 * and end the process. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION "3.4.1"
#endif

#define API __attribute__((visibility("default")))

enum { TEXT_MAX = 1 << 16, DATA_MAX = 4, NAME_MAX_BYTES = 64 };

typedef struct data {
    char name[NAME_MAX_BYTES];
    bool written; /* by this participant */
    /* At the start of the window; at its end, where known; and what the last iteration had. */
    double *start, *end, *last;
} data;

static struct {
    char text[TEXT_MAX];
    char name[NAME_MAX_BYTES], mesh[NAME_MAX_BYTES];
    bool first, serial, implicit;
    double window, max_time, relaxation, limit;
    int dimensions, most_iterations;
    int peer;
    int vertices;
    data list[DATA_MAX];
    int count;
    double time, used; /* at the start of the window; of the window */
    int iterations;
    bool initializes, is_initialized; /* this participant's data, and the other's, at the start */
    bool complete;                    /* a window was, by the last advance */
    bool reads, writes;               /* a checkpoint */
} it;

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ERROR: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

/* The configuration ---------------------------------------------------------------------------- */

/* The value of an attribute behind a place in the text. */
static void attribute(const char *from, const char *name, char value[NAME_MAX_BYTES])
{
    char pattern[80];
    snprintf(pattern, sizeof pattern, "%s=\"", name);
    const char *at = from ? strstr(from, pattern) : NULL;
    if (!at)
        give_up("the configuration has no %s", name);
    at += strlen(pattern);
    snprintf(value, NAME_MAX_BYTES, "%.*s", (int)strcspn(at, "\""), at);
}

static double number(const char *tag, const char *name, double otherwise)
{
    char value[NAME_MAX_BYTES];
    const char *at = strstr(it.text, tag);
    if (!at)
        return otherwise;
    attribute(at, name, value);
    return atof(value);
}

static void add_data(const char *from, const char *end, const char *tag, bool written)
{
    for (const char *at = strstr(from, tag); at && at < end; at = strstr(at + 1, tag)) {
        if (it.count == DATA_MAX)
            give_up("too many data");
        data *d = &it.list[it.count++];
        attribute(at, "name", d->name);
        d->written = written;
    }
}

API const char *precicec_getVersionInformation(void)
{
    return VERSION ";stand-in";
}

API void precicec_createParticipant(const char *name, const char *configuration, int rank, int size)
{
    FILE *file = fopen(configuration, "r");
    if (!file)
        give_up("The configuration \"%s\" cannot be opened.", configuration);
    size_t got = fread(it.text, 1, TEXT_MAX - 1, file);
    it.text[got] = '\0';
    fclose(file);
    if (rank != 0 || size != 1)
        give_up("one process only");

    /* This participant. */
    char tag[100];
    snprintf(tag, sizeof tag, "<participant name=\"%.60s\"", name);
    const char *own = strstr(it.text, tag);
    if (!own)
        give_up("This participant's name \"%s\" is not defined in the configuration.", name);
    const char *end = strstr(own, "</participant>");
    snprintf(it.name, sizeof it.name, "%s", name);
    attribute(strstr(own, "<provide-mesh"), "name", it.mesh);
    add_data(own, end, "<read-data", false);
    add_data(own, end, "<write-data", true);

    /* The coupling. */
    char value[NAME_MAX_BYTES];
    it.serial = strstr(it.text, "<coupling-scheme:serial") != NULL;
    it.implicit = strstr(it.text, "-implicit>") != NULL;
    attribute(strstr(it.text, "<participants"), "first", value);
    it.first = strcmp(value, name) == 0;
    it.window = number("<time-window-size", "value", 0);
    it.max_time = number("<max-time", "value", 0);
    it.dimensions = (int)number("<mesh ", "dimensions", 3);
    it.relaxation = number("<relaxation", "value", 1);
    it.limit = number("<relative-convergence-measure", "limit", 1e-9);
    it.most_iterations = (int)number("<max-iterations", "value", 50);

    /* Data that are there at the start, from this participant or the other. */
    for (const char *at = strstr(it.text, "<exchange"); at; at = strstr(at + 1, "<exchange")) {
        const char *tag_end = strchr(at, '>');
        const char *flag = strstr(at, "initialize=\"true\"");
        if (!flag || flag > tag_end)
            continue;
        attribute(at, "from", value);
        if (strcmp(value, name) == 0)
            it.initializes = true;
        else
            it.is_initialized = true;
    }
    if (it.implicit && !it.serial)
        give_up("the stand-in has no parallel implicit coupling");
}

static void check_mesh(const char *mesh)
{
    if (strcmp(mesh, it.mesh) != 0)
        give_up("The mesh named \"%s\" is unknown to preCICE.", mesh);
}

static data *find(const char *mesh, const char *name)
{
    check_mesh(mesh);
    for (int i = 0; i < it.count; i++)
        if (strcmp(it.list[i].name, name) == 0)
            return &it.list[i];
    give_up("The given data \"%s\" is unknown to mesh \"%s\".", name, mesh);
}

API int precicec_getMeshDimensions(const char *mesh)
{
    check_mesh(mesh);
    return it.dimensions;
}

API int precicec_getDataDimensions(const char *mesh, const char *name)
{
    find(mesh, name);
    return it.dimensions;
}

/* The other participant ------------------------------------------------------------------------ */

static void receive(void *bytes, size_t count)
{
    char *to = bytes;
    while (count > 0) {
        ssize_t got = read(it.peer, to, count);
        if (got <= 0)
            give_up("Receive using sockets failed: the other participant has gone.");
        to += got;
        count -= (size_t)got;
    }
}

static void transmit(const void *bytes, size_t count)
{
    if (send(it.peer, bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
        give_up("Send using sockets failed: the other participant has gone.");
}

static size_t values(void)
{
    return (size_t)it.vertices * (size_t)it.dimensions;
}

/* Data that this participant has written; by name, because the other may have another order. */
static void send_data(void)
{
    for (int i = 0; i < it.count; i++) {
        if (!it.list[i].written)
            continue;
        transmit(it.list[i].name, NAME_MAX_BYTES);
        transmit(it.list[i].end, values() * sizeof(double));
    }
}

static void receive_data(void)
{
    for (int i = 0; i < it.count; i++) {
        if (it.list[i].written)
            continue;
        char name[NAME_MAX_BYTES];
        receive(name, sizeof name);
        data *d = find(it.mesh, name);
        receive(d->end, values() * sizeof(double));
    }
}

static void meet(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "standin.sock");
    int one = socket(AF_UNIX, SOCK_STREAM, 0);
    if (it.first) {
        unlink(address.sun_path);
        if (bind(one, (struct sockaddr *)&address, sizeof address) || listen(one, 1))
            give_up("cannot listen");
        it.peer = accept(one, NULL, NULL);
        close(one);
        unlink(address.sun_path);
    } else {
        for (int i = 0; connect(one, (struct sockaddr *)&address, sizeof address) != 0; i++) {
            if (i > 6000)
                give_up("no process listens");
            usleep(10000);
        }
        it.peer = one;
    }

    int theirs;
    transmit(&it.vertices, sizeof it.vertices);
    receive(&theirs, sizeof theirs);
    if (theirs != it.vertices)
        give_up("the meshes have %d and %d vertices", it.vertices, theirs);
}

/* The interface -------------------------------------------------------------------------------- */

API void precicec_setMeshVertices(const char *mesh, int size, const double *coordinates, int *ids)
{
    check_mesh(mesh);
    (void)coordinates;
    it.vertices = size;
    for (int i = 0; i < size; i++)
        ids[i] = i;
    for (int i = 0; i < it.count; i++) {
        data *d = &it.list[i];
        d->start = calloc(values(), sizeof(double));
        d->end = calloc(values(), sizeof(double));
        d->last = calloc(values(), sizeof(double));
    }
}

API int precicec_requiresInitialData(void)
{
    return it.initializes;
}

API void precicec_initialize(void)
{
    meet();
    it.writes = it.implicit;
    if (it.initializes)
        send_data();
    if (it.is_initialized)
        receive_data();
    for (int i = 0; i < it.count; i++)
        memcpy(it.list[i].start, it.list[i].end, values() * sizeof(double));

    /* The second participant begins after the first has computed the window. */
    if (it.serial && !it.first)
        receive_data();
}

API int precicec_isCouplingOngoing(void)
{
    return it.time < it.max_time - 1e-9 * it.window;
}

API int precicec_isTimeWindowComplete(void)
{
    return it.complete;
}

API double precicec_getMaxTimeStepSize(void)
{
    return it.window - it.used;
}

API void precicec_writeData(const char *mesh, const char *name, int size, const int *ids,
                            const double *written)
{
    data *d = find(mesh, name);
    if (!d->written)
        give_up("data \"%s\" is not written by this participant", name);
    for (int i = 0; i < size; i++)
        for (int k = 0; k < it.dimensions; k++)
            d->end[ids[i] * it.dimensions + k] = written[i * it.dimensions + k];
}

API void precicec_readData(const char *mesh, const char *name, int size, const int *ids,
                           double relative, double *read_values)
{
    const data *d = find(mesh, name);
    if (relative < 0 || relative > it.window - it.used + 1e-12)
        give_up("readData(...) cannot sample data outside of current time window.");
    double part = (it.used + relative) / it.window;
    for (int i = 0; i < size; i++)
        for (int k = 0; k < it.dimensions; k++) {
            int at = ids[i] * it.dimensions + k;
            read_values[i * it.dimensions + k] = d->start[at] + part * (d->end[at] - d->start[at]);
        }
}

/* The second participant of an implicit coupling decides; its forces are relaxed. */
static bool converged(void)
{
    double change = 0;
    double size = 0;
    for (int i = 0; i < it.count; i++) {
        data *d = &it.list[i];
        for (size_t k = 0; d->written && k < values(); k++) {
            double difference = d->end[k] - d->last[k];
            change += difference * difference;
            size += d->end[k] * d->end[k];
            d->end[k] = d->last[k] + it.relaxation * difference;
            d->last[k] = d->end[k];
        }
    }
    return change <= it.limit * it.limit * size || it.iterations >= it.most_iterations;
}

/* The values at the end of one window are those at the start of the next. */
static void begin_window(void)
{
    it.time += it.window;
    it.iterations = 0;
    for (int i = 0; i < it.count; i++)
        memcpy(it.list[i].start, it.list[i].end, values() * sizeof(double));
}

API void precicec_advance(double step)
{
    if (it.writes || it.reads)
        give_up("a checkpoint was required, and not asked for");
    if (!precicec_isCouplingOngoing())
        give_up("advance() was called after the end of the coupling");
    if (step > it.window - it.used + 1e-12)
        give_up("The timestep is longer than the rest of the time window.");
    it.used += step;
    it.complete = false;
    if (it.used < it.window - 1e-12)
        return;

    it.used = 0;
    it.iterations++;
    char done = 1;
    if (!it.serial) {
        send_data();
        receive_data();
    } else if (it.first) {
        send_data();
        receive(&done, 1);
        receive_data();
    } else {
        done = !it.implicit || converged();
        transmit(&done, 1);
        send_data();
    }

    it.reads = !done;
    it.complete = done;
    if (done)
        begin_window();
    it.writes = it.implicit && done && precicec_isCouplingOngoing();
    if (it.serial && !it.first && precicec_isCouplingOngoing())
        receive_data();
}

API int precicec_requiresReadingCheckpoint(void)
{
    bool required = it.reads;
    it.reads = false;
    return required;
}

API int precicec_requiresWritingCheckpoint(void)
{
    bool required = it.writes;
    it.writes = false;
    return required;
}

#ifndef WITHOUT_FINALIZE
API void precicec_finalize(void)
{
    close(it.peer);
}
#endif
