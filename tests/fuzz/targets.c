#include "targets.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "contact/mlcp.h"
#include "contact/read.h"
#include "interop/fmi/archive.h"
#include "interop/fmi/description.h"
#include "interop/import/import.h"
#include "model/expression.h"
#include "model/files.h"
#include "model/modal.h"
#include "record/checkpoint.h"
#include "remote/frame.h"
#include "yoke/oscillator.h"
#include "yoke/record.h"
#include "yoke/remote.h"

static void require(int promise, const char *what)
{
    if (promise)
        return;

    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* A failure has a message, unless it is one of memory. */
static void require_message(const yk_context *context, yk_status status)
{
    require(status == YK_OK || status == YK_ERROR_MEMORY || yk_last_message(context)[0],
            "an error says something");
}

/* Files ---------------------------------------------------------------------------------------- */

/* A folder of this process, removed at its end. */
static char folder[64];

static void remove_folder(void)
{
    static const char *const names[] = {
        "a.stl", "a.obj",    "a.fem",        "a.csv", "a.h5",
        "0.csv", "1.csv",    "2.csv",        "a.fmu", "modelDescription.xml",
        "a.ssd", "part.fmu", "a.checkpoint", "a.mbd", "a.checkpoint.previous"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

const char *fuzz_write_file(const char *name, const void *bytes, size_t size)
{
    static char paths[4][128];
    static int next;
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/yoke-fuzz-XXXXXX");
        require(mkdtemp(folder) != NULL, "there is a folder for files");
        atexit(remove_folder);
    }

    char *path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    require(file != NULL, "files can be written");
    require(fwrite(bytes, 1, size, file) == size, "files can be written to their end");
    fclose(file);
    return path;
}

unsigned char *fuzz_take_bytes(const unsigned char *data, size_t *size)
{
    unsigned char *bytes = malloc(*size + 1);
    if (*size < 4 || memcmp(data, "hex:", 4) != 0) {
        memcpy(bytes, data, *size);
        return bytes;
    }

    size_t count = 0;
    unsigned digits = 0;
    unsigned value = 0;
    for (size_t i = 4; i < *size; i++) {
        static const char hexadecimal[] = "0123456789abcdef";
        const char *digit = data[i] ? strchr(hexadecimal, data[i]) : NULL;
        if (!digit)
            continue;

        value = value * 16 + (unsigned)(digit - hexadecimal);
        if (++digits % 2 == 0) {
            bytes[count++] = (unsigned char)value;
            value = 0;
        }
    }

    *size = count;
    return bytes;
}

/* Targets -------------------------------------------------------------------------------------- */

void fuzz_expression(const unsigned char *data, size_t size)
{
    static const char *const variables[] = {"t"};
    char text[YK_EXPRESSION_LENGTH_MAX + 2];
    if (size >= sizeof text)
        size = sizeof text - 1;
    memcpy(text, data, size);
    text[size] = '\0';

    yk_context *context = yk_context_create(NULL);
    yk_scope scope = {.variables = variables, .variable_count = 1};
    yk_expression_error error = {0};
    yk_expression *expression = NULL;
    yk_status status = yk_expression_create(context, text, &scope, &error, &expression);
    if (status == YK_ERROR_INPUT) {
        require(error.message[0], "a mistake has a message");
        require(error.offset <= strlen(text), "a mistake lies in the text");
    } else if (status == YK_OK) {
        yk_time_function function = yk_expression_function(expression);
        for (double t = -1; t <= 1; t += 0.5) {
            yk_expression_value(expression, &t);
            require(!function.next_event || function.next_event(function.user, t) > t,
                    "an event comes after the time that was asked for");
        }
    }
    yk_expression_destroy(expression);

    double value = 0;
    status = yk_expression_constant(context, text, &(yk_scope){0}, &error, &value, NULL);
    require(status != YK_OK || isfinite(value), "constants are finite");
    yk_context_destroy(context);
}

void fuzz_mesh(const unsigned char *data, size_t size)
{
    bool obj = size > 0 && strchr("v#f", data[0]);
    const char *path = fuzz_write_file(obj ? "a.obj" : "a.stl", data, size);
    yk_context *context = yk_context_create(NULL);
    yk_mesh mesh;
    yk_status status = yk_mesh_read(context, path, 1, &mesh);
    require_message(context, status);
    for (int i = 0; status == YK_OK && i < mesh.triangle_count; i++)
        for (int k = 0; k < 3; k++)
            require(mesh.triangles[i][k] >= 0 && mesh.triangles[i][k] < mesh.point_count,
                    "corners are points");
    yk_mesh_release(context, &mesh);
    yk_context_destroy(context);
}

void fuzz_modal(const unsigned char *data, size_t size)
{
    yk_modal_files files = {0};
    char name[8];
    const char *paths[3] = {NULL};
    int count = 0;
    for (size_t begin = 0; begin <= size && count < 3; count++) {
        size_t end = begin;
        while (end + 3 <= size && memcmp(data + end, "%%\n", 3) != 0)
            end++;
        if (end + 3 > size)
            end = size;
        snprintf(name, sizeof name, "%d.csv", count);
        paths[count] = fuzz_write_file(name, data + begin, end - begin);
        begin = end + 3;
    }

    if (count == 3) {
        files.nodes = paths[0];
        files.modes = paths[1];
        files.frequencies = paths[2];
    } else {
        files.fem = fuzz_write_file("a.fem", data, size);
    }

    static const int points[] = {1};
    yk_context *context = yk_context_create(NULL);
    yk_flexible *body = NULL;
    yk_status status = yk_modal_read(context, &files, points, 1, &body);
    require_message(context, status);
    require((status == YK_OK) == (body != NULL), "there is a body or an error");
    if (body)
        yk_flexible_release(body);
    yk_context_destroy(context);
}

void fuzz_contact(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL, "there is memory");
    memcpy(text, data, size);
    text[size] = '\0';

    yk_context *context = yk_context_create(NULL);
    yk_contact_problem contact;
    yk_status status = yk_contact_parse(context, "input", text, size, &contact);
    require_message(context, status);
    if (status == YK_OK)
        yk_contact_problem_destroy(context, &contact);

    yk_mlcp mlcp;
    status = yk_mlcp_parse(context, "input", text, size, &mlcp);
    require_message(context, status);
    if (status == YK_OK)
        yk_mlcp_destroy(context, &mlcp);
    yk_context_destroy(context);
    free(text);
}

void fuzz_fmu(const unsigned char *data, size_t size)
{
    yk_context *context = yk_context_create(NULL);
    unsigned char *bytes = fuzz_take_bytes(data, &size);
    if (size >= 2 && memcmp(bytes, "PK", 2) == 0) {
        char *unpacked = NULL;
        yk_status status =
            yk_archive_unpack(context, fuzz_write_file("a.fmu", bytes, size), &unpacked);
        require_message(context, status);
        if (status == YK_OK)
            yk_archive_remove(context, unpacked);
    } else {
        fuzz_write_file("modelDescription.xml", bytes, size);
        yk_fmi_description description = {0};
        yk_status status = yk_fmi_describe(context, folder, "input.fmu", &description);
        require_message(context, status);
        if (status == YK_OK)
            yk_fmi_forget(context, &description);
    }
    yk_context_destroy(context);
    free(bytes);
}

void fuzz_import(const unsigned char *data, size_t size)
{
    yk_context *context = yk_context_create(NULL);
    bool xml = size > 0 && data[0] == '<';
    const char *path = fuzz_write_file(xml ? "a.ssd" : "a.mbd", data, size);

    /* The FMU is the same for all inputs. */
    static char fmu[128];
    if (!fmu[0]) {
        snprintf(fmu, sizeof fmu, "%s/part.fmu", folder);
        char *inside;
        require(yk_archive_folder(context, &inside) == YK_OK &&
                    yk_archive_put_file(context, inside, "modelDescription.xml",
                                        YOKE_SOURCE_DIR "/tests/interop/fmi/mass2.xml") == YK_OK &&
                    yk_archive_pack(context, inside, fmu) == YK_OK,
                "an FMU can be made");
        yk_archive_remove(context, inside);
    }

    yk_import_options options = yk_import_options_default();
    yk_import *import = NULL;
    yk_status status = yk_import_read(context, path, &options, &import);
    require_message(context, status);
    require(status != YK_OK || yk_import_scenario(import), "a model that was read has a scenario");
    yk_import_destroy(import);
    yk_context_destroy(context);
}

/* The subsystem that a client may request: an oscillator. */
static yk_subsystem *served;

static yk_status create_served(void *user, yk_context *context, const char *name,
                               yk_subsystem **subsystem)
{
    (void)user;
    (void)name;
    yk_oscillator_def def = yk_oscillator_default();
    yk_status status = yk_oscillator_create(context, &def, &served);
    *subsystem = served;
    return status;
}

static int digit(unsigned char c)
{
    return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

void fuzz_frames(const unsigned char *data, size_t size)
{
    /* Small enough for the buffer of a socket, so that all of it is written before it is read. */
    enum { BYTES_MAX = 1 << 14 };
    unsigned char bytes[BYTES_MAX];
    size_t count = 0;
    if (size >= 4 && memcmp(data, "hex:", 4) == 0) {
        for (size_t i = 4; i + 1 < size && count < BYTES_MAX; i++)
            if (isxdigit(data[i]) && isxdigit(data[i + 1])) {
                bytes[count++] = (unsigned char)(16 * digit(data[i]) + digit(data[i + 1]));
                i++;
            }
    } else {
        count = size < BYTES_MAX ? size : BYTES_MAX;
        memcpy(bytes, data, count);
    }
    if (count == 0)
        return;

    int pair[2];
    require(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "there are sockets");
    require(write(pair[0], bytes + 1, count - 1) == (ssize_t)(count - 1), "sockets take bytes");
    shutdown(pair[0], SHUT_WR);

    yk_context *context = yk_context_create(NULL);
    if (bytes[0] == 'c') {
        yk_server_def def = yk_server_default();
        def.address = "fuzz";
        def.create = create_served;
        served = NULL;
        yk_serve_connected(context, &def, pair[1]);
        if (served)
            served->ops->destroy(served);
    } else {
        yk_remote_def def = yk_remote_default();
        def.address = "fuzz";
        def.timeout = 1;
        def.disable_shared_memory = true;
        yk_remote_host host = {.name = "fuzz"};
        yk_subsystem *subsystem = NULL;
        yk_status status = yk_remote_attach(context, &def, pair[1], &host, &subsystem);
        require_message(context, status);
        require((status == YK_OK) == (subsystem != NULL), "there is a subsystem or an error");
        if (subsystem)
            subsystem->ops->destroy(subsystem);
    }
    close(pair[0]);
    yk_context_destroy(context);
}

void fuzz_results(const unsigned char *data, size_t size)
{
    yk_context *context = yk_context_create(NULL);
    yk_record *record = NULL;
    yk_status status = yk_record_load(context, fuzz_write_file("a.csv", data, size), &record);
    require_message(context, status);
    if (status == YK_OK) {
        const yk_record_header *header = yk_record_get_header(record);
        for (int i = 0; i < header->channel_count; i++)
            require(yk_record_find_channel(record, header->channels[i].name) >= 0,
                    "channels have names");
        yk_record_destroy(record);
    }
    yk_context_destroy(context);
}

/* A results file with two channels, a scene, frames and a summary. Returns its bytes, which stay. */
static const unsigned char *make_results(size_t *size)
{
    static unsigned char bytes[1 << 16];
    static size_t count;
    *size = count;
    if (count > 0)
        return bytes;

    const char *const names[] = {"ball"};
    const yk_record_body bodies[] = {
        {.name = "ball", .motion = YK_SCENE_MOTION_FULL, .orientation = {1, 0, 0, 0}}};
    const yk_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const yk_shape shapes[] = {{.name = "hull",
                                .kind = YK_SHAPE_HULL,
                                .orientation = {1, 0, 0, 0},
                                .points = points,
                                .point_count = 3}};
    const yk_record_scene scene = {.subsystems = names,
                                   .solvers = names,
                                   .subsystem_count = 1,
                                   .bodies = bodies,
                                   .body_count = 1,
                                   .shapes = shapes,
                                   .shape_count = 1,
                                   .up = {0, 0, 1}};
    const yk_record_channel channels[] = {
        {.name = "ball.position", .unit = "m", .component_count = 3},
        {.name = "ball.energy", .unit = "J", .component_count = 1}};
    const yk_record_header header = {
        .title = "fuzz", .channels = channels, .channel_count = 2, .scene = &scene};
    const yk_record_value value = {.name = "step_count", .value = 3};

    yk_context *context = yk_context_create(NULL);
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = fuzz_write_file("a.h5", "", 0);
    yk_recorder *recorder = NULL;
    require(yk_file_recorder_create(context, &def, &recorder) == YK_OK, "a file can be written");
    require(yk_recorder_begin(recorder, &header) == YK_OK, "a record begins");
    for (int i = 0; i < 3; i++) {
        const float frame[16] = {0};
        require(yk_recorder_sample(recorder, i, (const double[]){1, 2, 3, 4}) == YK_OK,
                "a sample is taken");
        require(yk_recorder_frame(recorder, i, frame) == YK_OK, "a frame is taken");
    }
    require(yk_recorder_end(recorder, &(yk_record_summary){&value, 1}) == YK_OK, "a record ends");
    yk_recorder_destroy(recorder);

    FILE *file = fopen(def.path, "rb");
    count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    require(count > 0 && count < sizeof bytes, "a results file is small");
    fclose(file);
    yk_context_destroy(context);
    *size = count;
    return bytes;
}

void fuzz_hdf5(const unsigned char *data, size_t size)
{
    size_t bytes;
    const unsigned char *good = make_results(&bytes);
    unsigned char *changed = malloc(bytes);
    require(changed != NULL, "there is memory");
    memcpy(changed, good, bytes);
    unsigned char *changes = fuzz_take_bytes(data, &size);
    for (size_t i = 0; i + 2 < size; i += 3)
        changed[(changes[i] | (size_t)changes[i + 1] << 8) % bytes] = changes[i + 2];
    fuzz_results(changed, bytes);
    free(changes);
    free(changed);
}

/* The layout of journal.h and journal.c: a start of three words, then blocks of a head of four words,
 * whose second is the length of the payload, third the offset and last the checksum. */
void fuzz_journal(const unsigned char *data, size_t size)
{
    enum { WORD = 8, START = 3 * WORD, HEAD = 4 * WORD };
    unsigned char *bytes = fuzz_take_bytes(data, &size);
    for (size_t at = START; at + HEAD <= size;) {
        uint64_t length;
        uint64_t offset = at;
        memcpy(&length, bytes + at + WORD, sizeof length);
        memcpy(bytes + at + 2 * WORD, &offset, sizeof offset);
        if (length > size - at - HEAD)
            break;

        uint64_t checksum = yk_checksum_bytes(YK_HASH_START, bytes + at, HEAD - WORD);
        checksum = yk_checksum_bytes(checksum, bytes + at + HEAD, length);
        memcpy(bytes + at + 3 * WORD, &checksum, sizeof checksum);
        at += HEAD + length;
    }

    fuzz_results(bytes, size);
    free(bytes);
}

/* The layout of checkpoint.c: the checksum of everything before it comes last. */
void fuzz_checkpoint(const unsigned char *data, size_t size)
{
    unsigned char *bytes = fuzz_take_bytes(data, &size);
    if (size >= sizeof(uint64_t)) {
        uint64_t checksum = yk_hash_bytes(YK_HASH_START, bytes, size - sizeof checksum);
        memcpy(bytes + size - sizeof checksum, &checksum, sizeof checksum);
    }

    yk_context *context = yk_context_create(NULL);
    yk_checkpoint_file *file = NULL;
    yk_status status =
        yk_checkpoint_read(context, fuzz_write_file("a.checkpoint", bytes, size), &file);
    require_message(context, status);
    require((status == YK_OK) == (file != NULL), "there is a checkpoint or an error");
    if (file) {
        size_t count = 0;
        const unsigned char *section = yk_checkpoint_find(file, "state", &count);
        uint64_t sum = 0;
        if (section)
            sum = yk_hash_bytes(YK_HASH_START, section, count);
        require(!section || sum == yk_hash_bytes(YK_HASH_START, section, count),
                "a section has all of its bytes");
        yk_checkpoint_close(context, file);
    }

    yk_context_destroy(context);
    free(bytes);
}
