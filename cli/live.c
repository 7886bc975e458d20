#include "live.h"

#include <arpa/inet.h>
#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli.h"
#include "live_control.h"
#include "report.h"

/* Largest number of samples stored for pages, and approximate size of one answer (bytes). */
enum { SAMPLES_MAX = 20000, ANSWER_BYTES = 4000000 };

/* Pages request data every half second; one that has not for QUIET_SECONDS has received the end or
 * is closed. */
static const double QUIET_SECONDS = 1.5;
static const double CLOSE_SECONDS = 10;

enum { KEY_BYTES = 16 };

/* Frames of settling particles: minimum interval in wall time, and interval relative to the elapsed
 * time, so that their number stays small. */
static const double SETTLING_SECONDS = 0.1;
static const double SETTLING_PART = 0.05;

/* Written by the thread of the run, read by that of the server, both with the lock held. */
struct live_view {
    yk_recorder recorder;
    yk_context *context; /* its own, because that of the run is not shared between threads */
    struct MHD_Daemon *server;
    char key[2 * KEY_BYTES + 1];
    char hosts[2][32]; /* host names by which a browser may connect */
    live_control *control;

    pthread_mutex_t lock;
    enum { LIVE_LOADING, LIVE_SETTLING, LIVE_RUNNING, LIVE_ENDED } state;
    /* index of the record shown: each settling of particles is one, the run is the last */
    int act;
    char loading[128]; /* work before the run */
    yk_run_progress progress;
    bool stopped;
    double last_request;  /* wall time (s); 0: none yet */
    unsigned char *start; /* the packed report without samples and frames */
    size_t start_size;

    /* All frames, and every stride-th sample of the channels that can be plotted. */
    yk_record *record;
    double expected;      /* samples */
    int64_t stride, seen; /* samples */
    int *picked;          /* columns of the run's rows */
    double *row;
    int width;
    size_t frame_size;

    /* Particles that settle. */
    const yk_subsystem *bed;               /* the one that is shown; NULL: none */
    double settled;                        /* s: its time */
    double settling_begun, settling_shown; /* s on the clock */
};

/* Recording ------------------------------------------------------------------------------------ */

/* Packs the data with which pages begin; again at the end, with the summary. */
static yk_status pack_start(live_view *v)
{
    report_source run = {.file = "live", .record = v->record};
    size_t size = 0;
    unsigned char *packed = report_pack(&run, 1, true, 0, &size);
    if (!packed)
        return yk_fail(v->context, YK_ERROR_MEMORY, "out of memory");

    free(v->start);
    v->start = packed;
    v->start_size = size;
    return YK_OK;
}

/* Replaces the record, which pages detect by its number. With the lock held. */
static yk_status begin_act(live_view *v, const yk_record_header *header)
{
    yk_record *record;
    yk_status status = yk_record_create(v->context, &record);
    if (status != YK_OK)
        return status;

    yk_record_destroy(v->record);
    v->record = record;
    v->act++;
    v->frame_size = 0;
    if (header->scene)
        v->frame_size = yk_scene_frame_value_count(header->scene);

    status = yk_recorder_begin(yk_record_recorder(record), header);
    if (status == YK_OK)
        status = pack_start(v);
    return status;
}

static yk_status live_begin(yk_recorder *self, const yk_record_header *header)
{
    /* Memory for as many columns as there are, though not all are shown. */
    live_view *v = (live_view *)self;
    int columns = 0;
    for (int i = 0; i < header->channel_count; i++)
        columns += header->channels[i].component_count;

    yk_record_channel *channels =
        yk_allocate(v->context, (size_t)header->channel_count + 1, sizeof *channels);
    v->picked = yk_allocate(v->context, (size_t)columns + 1, sizeof *v->picked);
    v->row = yk_allocate(v->context, (size_t)columns + 1, sizeof *v->row);
    if (!channels || !v->picked || !v->row) {
        yk_free(v->context, channels);
        return YK_ERROR_MEMORY;
    }

    /* Channels with many components, such as the positions of all particles, are shown in 3D only. */
    yk_record_header shown = *header;
    shown.channels = channels;
    shown.channel_count = 0;

    v->width = 0;
    int column = 0;
    for (int i = 0; i < header->channel_count; i++) {
        const yk_record_channel *channel = &header->channels[i];
        if (channel->component_count <= REPORT_COMPONENTS_MAX) {
            channels[shown.channel_count++] = *channel;
            for (int k = 0; k < channel->component_count; k++)
                v->picked[v->width++] = column + k;
        }

        column += channel->component_count;
    }

    /* Long runs are reduced to every stride-th sample; pages may begin now. */
    pthread_mutex_lock(&v->lock);
    v->stride = (int64_t)(v->expected / SAMPLES_MAX) + 1;
    yk_status status = begin_act(v, &shown);
    v->state = LIVE_RUNNING;
    pthread_mutex_unlock(&v->lock);

    yk_free(v->context, channels);
    return status;
}

static yk_status live_sample(yk_recorder *self, double time, const double *row)
{
    live_view *v = (live_view *)self;

    /* A page needs no more points of a long run than it can show. */
    if (v->seen++ % v->stride != 0)
        return YK_OK;

    for (int i = 0; i < v->width; i++)
        v->row[i] = row[v->picked[i]];

    /* The lock is held while a page copies its answer, so the run waits at most for that. */
    pthread_mutex_lock(&v->lock);
    yk_status status = yk_recorder_sample(yk_record_recorder(v->record), time, v->row);
    pthread_mutex_unlock(&v->lock);

    /* Without frames, an advance ends with the next sample. */
    if (v->frame_size == 0)
        live_control_end_advance(v->control);
    return status;
}

static yk_status live_frame(yk_recorder *self, double time, const float *values)
{
    live_view *v = (live_view *)self;
    pthread_mutex_lock(&v->lock);
    yk_status status = yk_recorder_frame(yk_record_recorder(v->record), time, values);
    pthread_mutex_unlock(&v->lock);
    live_control_end_advance(v->control);
    return status;
}

static yk_status live_end(yk_recorder *self, const yk_record_summary *summary)
{
    /* The summary belongs to the start of pages that are opened from now on. */
    live_view *v = (live_view *)self;
    pthread_mutex_lock(&v->lock);
    yk_status status = yk_recorder_end(yk_record_recorder(v->record), summary);
    if (status == YK_OK)
        status = pack_start(v);

    v->state = LIVE_ENDED;
    pthread_mutex_unlock(&v->lock);
    return status;
}

/* It is used as a recorder, but destroyed by live_close(). */
static void live_destroy(yk_recorder *self)
{
    (void)self;
}

static const yk_recorder_ops live_ops = {
    .size = sizeof(yk_recorder_ops),
    .kind = "live",
    .begin = live_begin,
    .sample = live_sample,
    .end = live_end,
    .destroy = live_destroy,
    .frame = live_frame,
};

yk_recorder *live_recorder(live_view *view, double samples)
{
    view->expected = samples;
    return &view->recorder;
}

yk_status live_attach(live_view *view, const yk_scenario_info *info, yk_system *system, bool paced)
{
    return live_control_attach(view->control, info, system, !paced);
}

const char *live_changes(const live_view *view)
{
    return live_control_changes(view->control);
}

/* Without characters that need quoting in JSON. */
void live_loading(live_view *view, const char *message)
{
    pthread_mutex_lock(&view->lock);
    snprintf(view->loading, sizeof view->loading, "%s", message);
    for (char *c = view->loading; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = ' ';
    pthread_mutex_unlock(&view->lock);
}

/* Begins to show a bed: its particles in their present poses, and its container in its final one.
 * With the lock held. */
static yk_status begin_settling(live_view *v, const yk_settling *settling)
{
    static const char *const names[] = {"bed"};
    static const char *const solvers[] = {"nonsmooth"};
    static const yk_record_channel channel = {
        .name = "bed.speed", .unit = "m/s", .component_count = 1};
    const yk_subsystem *bed = settling->bed;
    const yk_scene_ops *ops = bed->ops->scene;
    int bodies = ops->bodies(bed, NULL, 0);
    int shapes = ops->shapes(bed, NULL, 0);

    /* Lists of what there is, and the poses at the start. */
    yk_scene_body *seen = yk_allocate(v->context, (size_t)bodies, sizeof *seen);
    yk_scene_pose *poses = yk_allocate(v->context, (size_t)bodies, sizeof *poses);
    yk_record_body *list = yk_allocate(v->context, (size_t)bodies, sizeof *list);
    yk_shape *drawn = yk_allocate(v->context, (size_t)shapes, sizeof *drawn);
    yk_status status = YK_ERROR_MEMORY;
    if (seen && poses && list && drawn) {
        ops->bodies(bed, seen, bodies);
        ops->poses(bed, poses);
        ops->shapes(bed, drawn, shapes);
        for (int i = 0; i < bodies; i++)
            list[i] = (yk_record_body){.name = seen[i].name,
                                       .motion = seen[i].motion,
                                       .position = poses[i].position,
                                       .orientation = poses[i].orientation};
        for (int i = 0; i < shapes; i++) {
            if (drawn[i].body != settling->container)
                continue;
            drawn[i].size = settling->size;
            drawn[i].open_walls = YK_WALL_TOP;
        }

        char title[64];
        snprintf(title, sizeof title, "Settling of %d particles", settling->count);
        yk_record_scene scene = {.subsystems = names,
                                 .solvers = solvers,
                                 .subsystem_count = 1,
                                 .bodies = list,
                                 .body_count = bodies,
                                 .shapes = drawn,
                                 .shape_count = shapes,
                                 .up = {0, 0, 1}};
        yk_record_header header = {
            .title = title, .channels = &channel, .channel_count = 1, .scene = &scene};
        v->width = 1;
        status = begin_act(v, &header);
    }

    yk_free(v->context, seen);
    yk_free(v->context, poses);
    yk_free(v->context, list);
    yk_free(v->context, drawn);
    return status;
}

void live_settling(live_view *view, const yk_settling *settling)
{
    pthread_mutex_lock(&view->lock);
    double now = yk_clock_seconds();
    bool fresh = view->bed != settling->bed || settling->time < view->settled;
    view->settled = settling->time;
    if (fresh) {
        view->settling_begun = now;
        view->bed = settling->bed;
    }

    double apart = fmax(SETTLING_SECONDS, SETTLING_PART * (now - view->settling_begun));
    bool due = fresh || now > view->settling_shown + apart;

    /* If memory is missing, frames are left out; the settling continues. */
    yk_status status = YK_OK;
    if (fresh)
        status = begin_settling(view, settling);
    if (status == YK_OK && due) {
        const yk_scene_ops *ops = settling->bed->ops->scene;
        const yk_record_scene *scene = yk_record_get_header(view->record)->scene;
        size_t bodies = (size_t)scene->body_count;
        yk_scene_pose *poses = yk_allocate(view->context, bodies, sizeof *poses);
        float *frame = yk_allocate(view->context, view->frame_size, sizeof *frame);
        status = YK_ERROR_MEMORY;
        if (poses && frame) {
            /* Present positions, then orientations of bodies that have them; and the remaining
             * speed. */
            ops->poses(settling->bed, poses);
            poses[settling->container].position = settling->middle;
            float *position = frame;
            float *orientation = frame + yk_scene_table_value_count(scene, YK_FRAME_POSITION);
            for (size_t i = 0; i < bodies; i++) {
                const double *x = &poses[i].position.x;
                const double *q = &poses[i].orientation.w;
                for (int k = 0; k < 3 && scene->bodies[i].motion != YK_SCENE_MOTION_FIXED; k++)
                    *position++ = (float)x[k];
                for (int k = 0; k < 4 && scene->bodies[i].motion == YK_SCENE_MOTION_FULL; k++)
                    *orientation++ = (float)q[k];
            }

            yk_recorder *recorder = yk_record_recorder(view->record);
            status = yk_recorder_sample(recorder, settling->time, &settling->rms_speed);
            if (status == YK_OK)
                status = yk_recorder_frame(recorder, settling->time, frame);
        }

        yk_free(view->context, poses);
        yk_free(view->context, frame);
        view->settling_shown = now;
    }
    if (status == YK_OK)
        view->state = LIVE_SETTLING;

    enum { PARTS = 1000 };
    view->progress =
        (yk_run_progress){.step = (int64_t)(PARTS * settling->time / settling->time_limit),
                          .step_count = PARTS,
                          .time = settling->time,
                          .wall_time = now - view->settling_begun};
    pthread_mutex_unlock(&view->lock);
}

void live_progress(live_view *view, const yk_run_progress *progress)
{
    pthread_mutex_lock(&view->lock);
    view->progress = *progress;
    pthread_mutex_unlock(&view->lock);
}

/* Answers -------------------------------------------------------------------------------------- */

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     struct MHD_Response *response, const char *type)
{
    /* The page needs its own script and its own server, and must not be embedded in another page. */
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
         "img-src data: blob:; connect-src 'self'; frame-ancestors 'none'; form-action 'none'"},
    };

    if (!response)
        return MHD_NO;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);

    enum MHD_Result sent = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return sent;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
                                 const char *text)
{
    size_t length = strlen(text);
    char *copy = malloc(length + 1);
    if (!copy)
        return MHD_NO;

    memcpy(copy, text, length + 1);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, copy, MHD_RESPMEM_MUST_FREE);
    return send_response(connection, status, response, text[0] ? "text/plain" : NULL);
}

static size_t asked_from(struct MHD_Connection *connection, const char *name, size_t count)
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    if (!text || *text < '0' || *text > '9')
        return 0;

    unsigned long long from = strtoull(text, NULL, 10);
    return from < count ? (size_t)from : count;
}

/* As many remaining samples as fit in an answer, and at least one. */
static size_t fitting(size_t count, size_t from, size_t bytes)
{
    size_t rest = count - from;
    size_t most = ANSWER_BYTES / bytes + 1;
    return rest < most ? rest : most;
}

/* Called with the lock held. */
static enum MHD_Result send_more(live_view *v, struct MHD_Connection *connection)
{
    static const char *const states[] = {
        [LIVE_LOADING] = "loading",
        [LIVE_SETTLING] = "settling",
        [LIVE_RUNNING] = "running",
        [LIVE_ENDED] = "ended",
    };
    size_t all_rows = yk_record_row_count(v->record);
    size_t all_frames = yk_record_frame_count(v->record);
    size_t row_bytes = ((size_t)v->width + 1) * sizeof(double);
    size_t frame_bytes = sizeof(double) + v->frame_size * sizeof(float);
    size_t row = asked_from(connection, "rows", all_rows);
    size_t frame = asked_from(connection, "frames", all_frames);
    size_t rows = fitting(all_rows, row, row_bytes);
    size_t frames = fitting(all_frames, frame, frame_bytes);

    /* Progress of the run, size of the answer, and whether there are more data. */
    char json[640];
    const yk_run_progress *p = &v->progress;
    int length = snprintf(
        json, sizeof json,
        "{\"state\":\"%s\",\"act\":%d,\"step\":%lld,\"steps\":%lld,\"time\":%.17g,"
        "\"seconds\":%.6g,\"rows\":%zu,\"width\":%d,\"frames\":%zu,"
        "\"size\":%zu,\"more\":%s,\"loading\":\"%s\"}",
        states[v->state], v->act, (long long)p->step, (long long)p->step_count, p->time,
        p->wall_time, rows, v->width, frames, v->frame_size,
        row + rows < all_rows || frame + frames < all_frames ? "true" : "false", v->loading);

    /* Head and JSON, then the arrays from a multiple of eight bytes on. */
    size_t start = (8 + (size_t)length + 7) / 8 * 8;
    unsigned char *answer = calloc(start + rows * row_bytes + frames * frame_bytes + 1, 1);
    if (!answer)
        return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");

    const unsigned char head[8] = {
        'Y', 'K', 'L', '1', (unsigned char)length, (unsigned char)(length >> 8), 0, 0};
    memcpy(answer, head, sizeof head);
    memcpy(answer + sizeof head, json, (size_t)length);

    /* Samples column by column, as in the viewer. */
    double *to = (double *)(void *)(answer + start);
    if (rows > 0)
        memcpy(to, yk_record_times(v->record) + row, rows * sizeof *to);
    to += rows;

    const yk_record_header *header = yk_record_get_header(v->record);
    int column = 0;
    for (int i = 0; i < header->channel_count && rows > 0; i++) {
        for (int k = 0; k < header->channels[i].component_count; k++, column++) {
            const double *values = yk_record_column(v->record, i, k) + row;
            memcpy(to + (size_t)column * rows, values, rows * sizeof *to);
        }
    }

    to += (size_t)v->width * rows;

    /* Frames: all times, then all poses in single precision. */
    for (size_t i = 0; i < frames; i++)
        *to++ = yk_record_frame_time(v->record, frame + i);
    float *poses = (float *)(void *)to;
    for (size_t i = 0; i < frames; i++, poses += v->frame_size)
        memcpy(poses, yk_record_frame(v->record, frame + i), v->frame_size * sizeof *poses);

    struct MHD_Response *response = MHD_create_response_from_buffer(
        (size_t)((unsigned char *)poses - answer), answer, MHD_RESPMEM_MUST_FREE);
    return send_response(connection, MHD_HTTP_OK, response, "application/octet-stream");
}

/* The state of the controls. */
static enum MHD_Result send_control(live_view *v, struct MHD_Connection *connection)
{
    yk_text json = {0};
    live_control_write(v->control, v->context, &json);
    enum MHD_Result sent =
        json.failed ? send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n")
                    : send_text(connection, MHD_HTTP_OK, json.data);
    yk_text_destroy(v->context, &json);
    return sent;
}

/* Changes a parameter to the value of the request. */
static enum MHD_Result set_parameter(live_view *v, struct MHD_Connection *connection)
{
    const char *name = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "parameter");
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "value");
    char *end = NULL;
    double value = text ? yk_text_number(text, &end) : NAN;
    const char *reason = "set needs a parameter and a value";
    if (name && text && end != text && *end == 0)
        reason = live_control_set(v->control, name, value);
    return send_text(connection, reason ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_OK,
                     reason ? reason : "set\n");
}

/* The actions that a page can trigger. */
static enum MHD_Result follow_post(live_view *v, struct MHD_Connection *connection,
                                   const char *path)
{
    static const struct {
        const char *path;
        live_request request;
    } requests[] = {{"pause", LIVE_PAUSE}, {"resume", LIVE_RESUME}, {"advance", LIVE_ADVANCE}};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (strcmp(path, requests[i].path) != 0)
            continue;
        if (!live_control_post(v->control, requests[i].request))
            return send_text(connection, MHD_HTTP_CONFLICT, "a run with --pace cannot be paused\n");
        return send_text(connection, MHD_HTTP_OK, "done\n");
    }

    if (strcmp(path, "set") == 0)
        return set_parameter(v, connection);
    if (strcmp(path, "stop") != 0)
        return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "read only\n");

    /* A second interrupt would end the program immediately. */
    pthread_mutex_lock(&v->lock);
    bool first = !v->stopped && (v->state == LIVE_RUNNING || v->state == LIVE_SETTLING);
    if (first)
        v->stopped = true;
    pthread_mutex_unlock(&v->lock);
    if (first)
        kill(getpid(), SIGINT);
    return send_text(connection, MHD_HTTP_OK, "stopping\n");
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request)
{
    (void)version;
    (void)upload;
    live_view *v = user;
    bool post = strcmp(method, MHD_HTTP_METHOD_POST) == 0;

    /* The first call has only the headers; the body of a request is ignored. */
    if (!*request) {
        *request = v;
        return MHD_YES;
    }

    if (*upload_size > 0) {
        *upload_size = 0;
        return MHD_YES;
    }

    /* A request with another host name was redirected by another site. */
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    if (!host || (strcmp(host, v->hosts[0]) != 0 && strcmp(host, v->hosts[1]) != 0))
        return send_text(connection, MHD_HTTP_FORBIDDEN, "wrong host\n");
    if (!post && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "read only\n");

    /* The key in the address excludes other users of this machine. */
    size_t length = strlen(v->key);
    bool known = url[0] == '/' && strncmp(url + 1, v->key, length) == 0 && url[1 + length] == '/';
    if (!known)
        return send_text(connection, MHD_HTTP_NOT_FOUND, "not found\n");

    /* The page: the viewer, with a mark that makes it request its data from this server. */
    const char *path = url + length + 2;
    if (!post && strcmp(path, "") == 0) {
        static const char live[] = "<script id=\"yoke-live\" type=\"text/plain\">live</script>";
        size_t size;
        const char *page = viewer_page(&size);

        const char *at = viewer_mark(page, size);
        char *text = malloc(size + sizeof live);
        if (!at || !text) {
            free(text);
            return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no viewer\n");
        }

        size_t before = (size_t)(at - page);
        size_t after = size - before - strlen(VIEWER_MARK);
        memcpy(text, page, before);
        memcpy(text + before, live, strlen(live));
        memcpy(text + before + strlen(live), at + strlen(VIEWER_MARK), after);
        struct MHD_Response *response = MHD_create_response_from_buffer(
            before + strlen(live) + after, text, MHD_RESPMEM_MUST_FREE);
        return send_response(connection, MHD_HTTP_OK, response, "text/html; charset=utf-8");
    }

    /* Data: first the start, then the increments. A browser that requests them is still open. */
    if (!post) {
        enum MHD_Result sent;
        pthread_mutex_lock(&v->lock);
        v->last_request = yk_clock_seconds();
        if (strcmp(path, "more") == 0) {
            sent = send_more(v, connection);
        } else if (strcmp(path, "control") == 0) {
            sent = send_control(v, connection);
        } else if (strcmp(path, "start") != 0) {
            sent = send_text(connection, MHD_HTTP_NOT_FOUND, "not found\n");
        } else if (!v->start) {
            sent = send_text(connection, MHD_HTTP_NO_CONTENT, "");
        } else {
            char act[16];
            snprintf(act, sizeof act, "%d", v->act);
            struct MHD_Response *response =
                MHD_create_response_from_buffer(v->start_size, v->start, MHD_RESPMEM_MUST_COPY);
            if (response)
                MHD_add_response_header(response, "Yoke-Act", act);
            sent = send_response(connection, MHD_HTTP_OK, response, "application/octet-stream");
        }
        pthread_mutex_unlock(&v->lock);
        return sent;
    }

    return follow_post(v, connection, path);
}

/* Life ----------------------------------------------------------------------------------------- */

static void release(live_view *v)
{
    if (v->server)
        MHD_stop_daemon(v->server);

    /* The server is stopped, so no thread holds the lock or reads the record. */
    pthread_mutex_destroy(&v->lock);
    live_control_destroy(v->control);
    yk_record_destroy(v->record);
    yk_free(v->context, v->picked);
    yk_free(v->context, v->row);
    yk_context_destroy(v->context);
    free(v->start);
    free(v);
}

live_view *live_open(int port)
{
    size_t length;
    viewer_page(&length);
    if (length == 0) {
        print_err("yoke: this program was built without the viewer, for want of Node.js; "
                  "--live needs it\n");
        return NULL;
    }

    /* A random key that no other user can guess. */
    live_view *v = calloc(1, sizeof *v);
    unsigned char key[KEY_BYTES];
    yk_context_def def = yk_context_default();
    def.log = NULL;
    if (v)
        v->context = yk_context_create(&def);
    if (v)
        v->control = live_control_create();
    if (!v || !v->context || !v->control || yk_record_create(v->context, &v->record) != YK_OK ||
        getrandom(key, sizeof key, 0) != sizeof key) {
        print_no_memory();
        if (v) {
            live_control_destroy(v->control);
            yk_context_destroy(v->context);
        }
        free(v);
        return NULL;
    }

    v->recorder.ops = &live_ops;
    pthread_mutex_init(&v->lock, NULL);
    for (int i = 0; i < KEY_BYTES; i++)
        snprintf(v->key + 2 * i, 3, "%02x", key[i]);

    /* Listens on this machine only. */
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };

    v->server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, v,
                                 MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
                                 MHD_OPTION_CONNECTION_LIMIT, 32u, MHD_OPTION_CONNECTION_TIMEOUT,
                                 30u, MHD_OPTION_END);

    /* Port 0 is any that is free: which one it became is asked of the server. */
    const union MHD_DaemonInfo *info =
        v->server ? MHD_get_daemon_info(v->server, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info) {
        print_err("yoke: cannot listen on port %d of 127.0.0.1; is it taken?\n", port);
        release(v);
        return NULL;
    }

    /* Port 0 lets the system choose one. */
    unsigned bound = info->port;
    snprintf(v->hosts[0], sizeof v->hosts[0], "127.0.0.1:%u", bound);
    snprintf(v->hosts[1], sizeof v->hosts[1], "localhost:%u", bound);
    print_out("live: http://%s/%s/\n", v->hosts[0], v->key);
    fflush(stdout);
    return v;
}

void live_close(live_view *view)
{
    if (!view)
        return;

    /* If no page was ever open, do not wait. */
    double begun = yk_clock_seconds();
    bool wait = true;
    while (wait) {
        pthread_mutex_lock(&view->lock);
        view->state = LIVE_ENDED;

        double now = yk_clock_seconds();
        bool quiet = view->last_request == 0 || now - view->last_request > QUIET_SECONDS;
        wait = !quiet && now - begun < CLOSE_SECONDS;
        pthread_mutex_unlock(&view->lock);

        if (wait)
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }

    release(view);
}
