#include "record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/text.h"
#include "record/memory.h"
#include "record/serialize.h"

enum { VERSION = 3, BYTE_ORDER_MARK = 0x01020304 };

static const char MAGIC[8] = {'Y', 'O', 'K', 'E', 'J', 'R', 'N', 'L'};

/* Kinds of blocks. */
enum { BLOCK_HEADER = 1, BLOCK_ROWS, BLOCK_FRAME, BLOCK_SUMMARY };

typedef struct block_head {
    uint32_t kind, items;
    uint64_t bytes;    /* of the payload */
    uint64_t offset;   /* of this block in the file */
    uint64_t checksum; /* of the four above and the payload */
} block_head;

static uint64_t head_checksum(const block_head *head)
{
    return yk_checksum_bytes(YK_HASH_START, head, offsetof(block_head, checksum));
}

/* The digest of a journal covers the checksums of all its blocks, in order. */
static uint64_t add_to_digest(uint64_t digest, const block_head *head)
{
    return yk_checksum_bytes(digest, &head->checksum, sizeof head->checksum);
}

/* Writing -------------------------------------------------------------------------------------- */

bool yk_write_all(int descriptor, const void *bytes, size_t count, uint64_t offset)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t written = pwrite(descriptor, from, count, (off_t)offset);
        /* An interruption by a signal is not a failure. Writing nothing without an error would be
         * repeated forever. */
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        if (written == 0) {
            errno = EIO;
            return false;
        }

        /* A part may have been written: continue with the rest. */
        from += written;
        offset += (uint64_t)written;
        count -= (size_t)written;
    }

    return true;
}

void yk_sync_folder(const char *path_of_file)
{
    /* The part of the name before its last slash. */
    char folder[4096] = ".";
    const char *slash = strrchr(path_of_file, '/');
    if (slash == path_of_file)
        strcpy(folder, "/");
    else if (slash && (size_t)(slash - path_of_file) < sizeof folder)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path_of_file), path_of_file);

    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;

    /* Some file systems do not support this; the file itself is safe in any case. */
    int failed = fsync(descriptor);
    (void)failed;
    close(descriptor);
}

static yk_status cannot_write(const yk_journal *journal, int error)
{
    return yk_fail(journal->context, YK_ERROR_FILE, "cannot write '%s': %s", journal->path,
                   strerror(error));
}

/* Appends a block whose payload consists of two pieces. The part of a block that could not be
 * written completely is removed. */
static yk_status append(yk_journal *journal, uint32_t kind, size_t items, const void *first,
                        size_t first_bytes, const void *second, size_t second_bytes)
{
    /* Blocks of the stopped run must not follow those of the run that continues it. */
    if (journal->has_rest && ftruncate(journal->descriptor, (off_t)journal->length) != 0)
        return cannot_write(journal, errno);
    journal->has_rest = false;

    /* The checksum covers everything except itself. */
    block_head head = {
        .kind = kind,
        .items = (uint32_t)items,
        .bytes = first_bytes + second_bytes,
        .offset = journal->length,
    };

    uint64_t checksum = yk_checksum_bytes(head_checksum(&head), first, first_bytes);
    head.checksum = yk_checksum_bytes(checksum, second, second_bytes);

    /* After the last complete block, wherever a failed one ended. */
    uint64_t at = journal->length;
    bool done =
        yk_write_all(journal->descriptor, &head, sizeof head, at) &&
        yk_write_all(journal->descriptor, first, first_bytes, at + sizeof head) &&
        yk_write_all(journal->descriptor, second, second_bytes, at + sizeof head + first_bytes);

    /* Nothing may remain after the last complete block. */
    if (!done) {
        int error = errno;
        int cut = ftruncate(journal->descriptor, (off_t)journal->length);
        (void)cut; /* readers stop at the incomplete block anyway */
        return cannot_write(journal, error);
    }

    journal->length += sizeof head + head.bytes;
    journal->digest = add_to_digest(journal->digest, &head);

    return YK_OK;
}

/* Opens the file and locks it. The lock belongs to the open file and ends with the process, however
 * that ends. */
static yk_status open_locked(yk_journal *journal, int flags)
{
    enum { ATTEMPTS = 100 };
    const char *path = journal->path;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        /* Without blocking, so that a pipe with this name does not block the run. */
        int file = open(path, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0666);
        if (file < 0 && errno == ELOOP)
            return yk_fail(journal->context, YK_ERROR_FILE,
                           "cannot write '%s': it is a link, and links are not followed here; "
                           "remove it",
                           path);

        if (file < 0)
            return cannot_write(journal, errno);

        /* Devices and pipes cannot be truncated. */
        struct stat held, named;
        if (fstat(file, &held) != 0 || !S_ISREG(held.st_mode)) {
            close(file);
            return yk_fail(journal->context, YK_ERROR_FILE,
                           "cannot write '%s': it exists and is not a regular file", path);
        }

        /* A file system without locks does not prevent the run. */
        if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            /* The owner is stored at the beginning of the file. */
            yk_file_start start = {0};
            ssize_t got = pread(file, &start, sizeof start, 0);
            close(file);

            char process[48] = "";
            if (got == (ssize_t)sizeof start && start.number > 0)
                snprintf(process, sizeof process, " (process %llu)",
                         (unsigned long long)start.number);
            return yk_fail(journal->context, YK_ERROR_FILE,
                           "cannot write '%s': another run%s is writing it; wait until that run "
                           "has ended, or write to a file of another name",
                           path, process);
        }

        /* The other run may have ended and removed the name since the file was opened. */
        if (lstat(path, &named) == 0 && named.st_dev == held.st_dev &&
            named.st_ino == held.st_ino) {
            journal->descriptor = file;
            return YK_OK;
        }

        close(file);
    }

    return yk_fail(journal->context, YK_ERROR_FILE,
                   "cannot write '%s': it is taken away again and again", path);
}

/* Whether a file with the name of a journal may contain samples. Only a file that is too short, or
 * a journal with an intact header as its only block, contains none: a damaged or unreadable file
 * may. */
static bool holds_samples(int file)
{
    yk_file_start start;
    block_head head;
    struct stat found;
    if (fstat(file, &found) != 0)
        return true;
    if ((uint64_t)found.st_size <= sizeof start + sizeof head)
        return false;

    bool known = pread(file, &start, sizeof start, 0) == (ssize_t)sizeof start &&
                 memcmp(start.magic, MAGIC, sizeof MAGIC) == 0 &&
                 pread(file, &head, sizeof head, sizeof start) == (ssize_t)sizeof head &&
                 head.kind == BLOCK_HEADER && head.offset == sizeof start;

    /* A header that was being written when the run was killed extends beyond the end. */
    return !known || (uint64_t)found.st_size - sizeof start - sizeof head > head.bytes;
}

static yk_status write_start(yk_journal *journal)
{
    /* Version of the format, kind of machine, and process. */
    yk_file_start start = {
        .version = VERSION,
        .byte_order = BYTE_ORDER_MARK,
        .number = (uint64_t)getpid(),
    };

    memcpy(start.magic, MAGIC, sizeof MAGIC);
    if (!yk_write_all(journal->descriptor, &start, sizeof start, 0))
        return cannot_write(journal, errno);

    journal->length = sizeof start;
    journal->digest = YK_HASH_START;
    return YK_OK;
}

/* Renames the journal of an earlier run to the first free name: `old`, `old`.2, `old`.3, ... The
 * lock on the journal excludes other runs with this name meanwhile. */
static yk_status keep_unfinished(const yk_journal *journal, const char *old)
{
    enum { NAMES_MAX = 10000 };
    yk_context *context = journal->context;
    yk_text name = {0};
    yk_text_add(context, &name, "%s", old);
    struct stat found;
    for (int i = 2; !name.failed && lstat(name.data, &found) == 0 && i < NAMES_MAX; i++) {
        name.length = 0;
        yk_text_add(context, &name, "%s.%d", old, i);
    }

    yk_status status = YK_ERROR_MEMORY;
    if (!name.failed) {
        status = YK_OK;
        errno = EEXIST;
        if (lstat(name.data, &found) == 0 || rename(journal->path, name.data) != 0)
            status = yk_fail(context, YK_ERROR_FILE,
                             "cannot keep the unfinished record '%s' as '%s': %s", journal->path,
                             name.data, strerror(errno));
        else
            yk_log(context, YK_LOG_WARNING,
                   "the unfinished record of an earlier run is kept as '%s'", name.data);
    }

    yk_text_destroy(context, &name);
    return status;
}

yk_status yk_journal_create(yk_context *context, const char *path, const char *old,
                            yk_journal *journal)
{
    *journal = (yk_journal){.context = context, .path = path, .descriptor = -1};
    yk_status status = open_locked(journal, O_RDWR | O_CREAT);
    if (status != YK_OK)
        return status;

    /* Do not overwrite the record of a run that was killed. */
    if (holds_samples(journal->descriptor)) {
        status = keep_unfinished(journal, old);
        yk_journal_close(journal);

        /* The name is free again, and another run may take it first. */
        if (status == YK_OK)
            status = open_locked(journal, O_RDWR | O_CREAT | O_EXCL);
        if (status != YK_OK)
            return status;
    }

    /* Truncate only now that the lock is held. */
    if (ftruncate(journal->descriptor, 0) == 0)
        status = write_start(journal);
    else
        status = cannot_write(journal, errno);
    if (status != YK_OK)
        yk_journal_close(journal);

    return status;
}

yk_status yk_journal_lock(yk_context *context, const char *path, yk_journal *journal)
{
    *journal = (yk_journal){.context = context, .path = path, .descriptor = -1};
    struct stat found;
    if (lstat(path, &found) != 0)
        return yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));

    return open_locked(journal, O_RDONLY);
}

void yk_journal_close(yk_journal *journal)
{
    if (journal->descriptor >= 0)
        close(journal->descriptor);
    journal->descriptor = -1;
}

yk_status yk_journal_sync(yk_journal *journal)
{
    /* Some file systems do not support this. */
    if (fdatasync(journal->descriptor) == 0 || errno == EINVAL || errno == ENOTSUP)
        return YK_OK;

    return cannot_write(journal, errno);
}

yk_status yk_journal_rows(yk_journal *journal, const double *rows, size_t count, size_t stride)
{
    return append(journal, BLOCK_ROWS, count, rows, count * stride * sizeof *rows, NULL, 0);
}

yk_status yk_journal_frame(yk_journal *journal, double time, const float *values, size_t size)
{
    return append(journal, BLOCK_FRAME, 1, &time, sizeof time, values, size * sizeof *values);
}

/* Header and summary --------------------------------------------------------------------------- */

static void pack_texts(yk_pack *pack, const char *const *texts, int count)
{
    for (int i = 0; i < count; i++)
        yk_pack_text(pack, texts[i]);
}

/* Records of a scene are stored as they are in memory, without their pointers, preceded by their
 * size: a build with another size rejects them. */
static void pack_scene(yk_pack *pack, const yk_record_scene *scene)
{
    /* The subsystems and the direction of gravity. */
    yk_pack_number(pack, (uint64_t)scene->subsystem_count);
    pack_texts(pack, scene->subsystems, scene->subsystem_count);
    pack_texts(pack, scene->solvers, scene->subsystem_count);
    yk_pack_bytes(pack, &scene->up, sizeof scene->up);

    /* Bodies, each followed by its name. */
    yk_pack_number(pack, sizeof(yk_record_body));
    yk_pack_number(pack, (uint64_t)scene->body_count);
    for (int i = 0; i < scene->body_count; i++) {
        yk_record_body body = scene->bodies[i];
        body.name = NULL;
        yk_pack_bytes(pack, &body, sizeof body);
        yk_pack_text(pack, scene->bodies[i].name);
    }

    /* Shapes, each followed by its name and its points. */
    yk_pack_number(pack, sizeof(yk_shape));
    yk_pack_number(pack, (uint64_t)scene->shape_count);
    for (int i = 0; i < scene->shape_count; i++) {
        yk_shape shape = scene->shapes[i];
        size_t points = (size_t)shape.point_count;
        shape.name = NULL;
        shape.points = NULL;
        yk_pack_bytes(pack, &shape, sizeof shape);
        yk_pack_text(pack, scene->shapes[i].name);
        yk_pack_bytes(pack, scene->shapes[i].points, points * sizeof *shape.points);
    }

    /* Interfaces and wires. */
    yk_pack_number(pack, sizeof(yk_record_connection));
    yk_pack_number(pack, (uint64_t)scene->connection_count);
    for (int i = 0; i < scene->connection_count; i++) {
        yk_record_connection link = scene->connections[i];
        link.name = NULL;
        yk_pack_bytes(pack, &link, sizeof link);
        yk_pack_text(pack, scene->connections[i].name);
    }

    /* These two also determine the size of a frame. */
    yk_pack_number(pack, (uint64_t)scene->contact_count);
    yk_pack_number(pack, (uint64_t)scene->monitor_version);
}

static yk_status append_pack(yk_journal *journal, uint32_t kind, yk_pack *pack)
{
    yk_status status = YK_ERROR_MEMORY;
    if (!pack->failed)
        status = append(journal, kind, 1, pack->data, pack->size, NULL, 0);
    yk_pack_destroy(pack);
    return status;
}

static void pack_header(yk_pack *pack, const yk_record_header *header)
{
    yk_pack_text(pack, header->title);
    yk_pack_text(pack, header->scenario_text);
    yk_pack_text(pack, header->command);

    /* Channels with all their labels. */
    yk_pack_number(pack, (uint64_t)header->channel_count);
    for (int i = 0; i < header->channel_count; i++) {
        const yk_record_channel *channel = &header->channels[i];
        yk_pack_text(pack, channel->name);
        yk_pack_text(pack, channel->unit);
        yk_pack_number(pack, (uint64_t)channel->component_count);
        pack_texts(pack, channel->labels, channel->component_count);
    }

    /* A scene is optional: a number says whether one follows. */
    yk_pack_number(pack, header->scene != NULL);
    if (header->scene)
        pack_scene(pack, header->scene);
}

yk_status yk_journal_header(yk_journal *journal, const yk_record_header *header)
{
    yk_pack pack = {.context = journal->context};
    pack_header(&pack, header);
    return append_pack(journal, BLOCK_HEADER, &pack);
}

yk_status yk_journal_summary(yk_journal *journal, const yk_record_summary *summary)
{
    yk_pack pack = {.context = journal->context};

    /* The last block of a journal. A journal without it belongs to a run that did not reach its
     * end. */
    yk_pack_number(&pack, (uint64_t)summary->count);
    for (int i = 0; i < summary->count; i++) {
        const yk_record_value *value = &summary->values[i];
        yk_pack_text(&pack, value->name);
        yk_pack_bytes(&pack, &value->value, sizeof value->value);
        yk_pack_text(&pack, value->unit);
        yk_pack_text(&pack, value->text);
    }

    return append_pack(journal, BLOCK_SUMMARY, &pack);
}

/* Reading ----------------------------------------------------------------------------------------
 *
 * Unpacked data point into the payload of their block; arrays come from a list of blocks of memory
 * that is released when the recorder has its copies. */

enum { ARRAYS_MAX = 12 };

typedef struct player {
    yk_context *context;
    const char *path;
    yk_recorder *to;
    int file;
    unsigned char *payload;
    size_t capacity;
    void *arrays[ARRAYS_MAX];
    int array_count;
    size_t stride;
    bool has_scene;
    size_t frame_size;
    yk_journal_use use;
    double last_time; /* of the last sample or frame (s); NaN before the first */
    bool gap_open;    /* no data since the last gap */
} player;

static void *take_array(player *p, int count, size_t size)
{
    void *array = yk_allocate(p->context, (size_t)count + 1, size);
    if (array)
        p->arrays[p->array_count++] = array;
    return array;
}

static yk_status unpack_scene(player *p, yk_unpack *pack, yk_record_scene *scene)
{
    /* Names and kinds of the subsystems, and which way is up. */
    int subsystems = yk_unpack_count(pack, 1);
    const char **names = take_array(p, subsystems, sizeof *names);
    const char **solvers = take_array(p, subsystems, sizeof *solvers);
    if (!names || !solvers)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < subsystems; i++)
        names[i] = yk_unpack_text(pack);
    for (int i = 0; i < subsystems; i++)
        solvers[i] = yk_unpack_text(pack);
    const void *up = yk_unpack_bytes(pack, sizeof scene->up);
    if (up)
        memcpy(&scene->up, up, sizeof scene->up);
    scene->subsystem_count = subsystems;
    scene->subsystems = names;
    scene->solvers = solvers;

    /* Bodies. */
    if (yk_unpack_number(pack) != sizeof(yk_record_body))
        pack->failed = true;
    int count = yk_unpack_count(pack, sizeof(yk_record_body));
    yk_record_body *bodies = take_array(p, count, sizeof *bodies);
    if (!bodies)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++) {
        const unsigned char *from = yk_unpack_bytes(pack, sizeof *bodies);
        if (from)
            memcpy(&bodies[i], from, sizeof *bodies);
        bodies[i].name = yk_unpack_text(pack);

        /* Any byte value is possible, and most of them are invalid as a truth value. */
        if (from && from[offsetof(yk_record_body, has_strain)] > 1) {
            pack->failed = true;
            bodies[i].has_strain = false;
        }
    }

    scene->bodies = bodies;
    scene->body_count = count;

    /* Shapes, each with its points, which need memory of the right alignment. */
    if (yk_unpack_number(pack) != sizeof(yk_shape))
        pack->failed = true;
    count = yk_unpack_count(pack, sizeof(yk_shape));
    yk_shape *shapes = take_array(p, count, sizeof *shapes);
    /* No more points than the rest of the block can contain. */
    size_t most = (pack->size - pack->at) / sizeof(yk_vec3);
    yk_vec3 *points = yk_allocate(p->context, most + 1, sizeof *points);
    if (!shapes || !points) {
        yk_free(p->context, points);
        return YK_ERROR_MEMORY;
    }

    p->arrays[p->array_count++] = points;
    for (int i = 0; i < count; i++) {
        const void *from = yk_unpack_bytes(pack, sizeof *shapes);
        if (from)
            memcpy(&shapes[i], from, sizeof *shapes);
        shapes[i].name = yk_unpack_text(pack);
        shapes[i].points = points;
        if (shapes[i].point_count < 0)
            pack->failed = true;
        if (shapes[i].point_count <= 0)
            continue;

        size_t own = (size_t)shapes[i].point_count;
        const void *given = yk_unpack_bytes(pack, own * sizeof *points);
        if (given) {
            memcpy(points, given, own * sizeof *points);
            points += own;
        }
    }

    scene->shapes = shapes;
    scene->shape_count = count;

    /* Interfaces and wires. */
    if (yk_unpack_number(pack) != sizeof(yk_record_connection))
        pack->failed = true;
    count = yk_unpack_count(pack, sizeof(yk_record_connection));
    yk_record_connection *links = take_array(p, count, sizeof *links);
    if (!links)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++) {
        const void *from = yk_unpack_bytes(pack, sizeof *links);
        if (from)
            memcpy(&links[i], from, sizeof *links);
        links[i].name = yk_unpack_text(pack);
    }

    scene->connections = links;
    scene->connection_count = count;

    /* The size of a frame depends on these: reject values out of range. */
    uint64_t contacts = yk_unpack_number(pack);
    if (contacts > INT_MAX)
        pack->failed = true;
    else
        scene->contact_count = (int)contacts;

    uint64_t watched = yk_unpack_number(pack);
    if (watched > YK_MONITOR_VERSION)
        pack->failed = true;
    else
        scene->monitor_version = (int)watched;

    return YK_OK;
}

static yk_status damaged(player *p, const char *what)
{
    return yk_fail(p->context, YK_ERROR_INPUT, "'%s' is a damaged record: %s", p->path, what);
}

static yk_status begin(player *p, yk_unpack *pack)
{
    yk_record_header header = {0};
    yk_record_scene scene = {0};
    header.title = yk_unpack_text(pack);
    header.scenario_text = yk_unpack_text(pack);
    header.command = yk_unpack_text(pack);

    /* Minimum size of a channel: its three lengths; of a label: its length. */
    int count = yk_unpack_count(pack, 3 * sizeof(uint64_t));
    int labels_most = (int)((pack->size - pack->at) / sizeof(uint64_t));
    yk_record_channel *channels = take_array(p, count, sizeof *channels);
    const char **labels = take_array(p, labels_most, sizeof *labels);
    if (!channels || !labels)
        return YK_ERROR_MEMORY;

    /* All labels are in one list; each channel has a part of it. */
    for (int i = 0; i < count; i++) {
        yk_record_channel *channel = &channels[i];
        channel->name = yk_unpack_text(pack);
        channel->unit = yk_unpack_text(pack);
        channel->component_count = yk_unpack_count(pack, sizeof(uint64_t));
        channel->labels = labels;
        for (int c = 0; c < channel->component_count; c++)
            *labels++ = yk_unpack_text(pack);
    }

    /* The scene, if it was recorded. */
    header.channels = channels;
    header.channel_count = count;
    if (yk_unpack_number(pack)) {
        yk_status status = unpack_scene(p, pack, &scene);
        if (status != YK_OK)
            return status;
        header.scene = &scene;
    }

    if (pack->failed)
        return damaged(p, "its header cannot be read");

    /* The sizes of the following blocks are checked against these. */
    yk_status status = yk_recorder_begin(p->to, &header);
    p->stride = 1 + yk_header_width(&header);
    p->has_scene = header.scene != NULL;
    if (status == YK_OK && header.scene)
        p->frame_size = yk_scene_frame_value_count(header.scene);

    return status;
}

static yk_status end(player *p, yk_unpack *pack)
{
    /* Minimum size of a value: the lengths of its three texts. */
    int count = yk_unpack_count(pack, 3 * sizeof(uint64_t));
    yk_record_value *values = take_array(p, count, sizeof *values);
    if (!values)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++) {
        values[i].name = yk_unpack_text(pack);
        const void *value = yk_unpack_bytes(pack, sizeof values[i].value);
        if (value)
            memcpy(&values[i].value, value, sizeof values[i].value);
        values[i].unit = yk_unpack_text(pack);
        values[i].text = yk_unpack_text(pack);
    }

    if (pack->failed)
        return damaged(p, "its summary cannot be read");

    return yk_recorder_end(p->to, &(yk_record_summary){values, count});
}

typedef enum read_result {
    READ_WHOLE,
    READ_SHORT, /* the file ends before */
    READ_FAILED /* with errno */
} read_result;

static read_result read_all(const player *p, void *to, size_t count, uint64_t offset)
{
    char *at = to;
    while (count > 0) {
        ssize_t got = pread(p->file, at, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return READ_FAILED;
        if (got == 0)
            return READ_SHORT;

        at += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }

    return READ_WHOLE;
}

/* A read error says nothing about the contents of the file, which may be intact. */
static yk_status cannot_read(const player *p, int error)
{
    return yk_fail(
        p->context, YK_ERROR_FILE,
        "cannot read '%s': %s. The file is not changed. Try again, or copy it to another "
        "disk",
        p->path, strerror(error));
}

typedef enum block_state {
    BLOCK_SOUND,
    BLOCK_DAMAGED /* incomplete, or with a wrong checksum */
} block_state;

typedef struct block_read {
    yk_status status;
    block_state state;
    block_head head; /* of a valid block, whose payload is in the player */
} block_read;

/* Reads and checks the block at an offset. */
static block_read read_block(player *p, uint64_t offset, uint64_t size)
{
    block_read block = {.status = YK_OK, .state = BLOCK_DAMAGED};
    block_head *head = &block.head;
    if (size - offset < sizeof *head)
        return block;

    read_result got = read_all(p, head, sizeof *head, offset);
    if (got == READ_FAILED)
        block.status = cannot_read(p, errno);

    /* A length is limited by the file size before memory is allocated for it. */
    bool plausible =
        got == READ_WHOLE && head->offset == offset && head->bytes <= size - offset - sizeof *head;
    if (!plausible)
        return block;

    /* Memory grows with the largest block, and is reused. */
    if (head->bytes > p->capacity) {
        unsigned char *grown = yk_reallocate(p->context, p->payload, head->bytes, 1);
        if (!grown) {
            block.status = YK_ERROR_MEMORY;
            return block;
        }

        p->payload = grown;
        p->capacity = head->bytes;
    }

    got = read_all(p, p->payload, head->bytes, offset + sizeof *head);
    if (got == READ_FAILED)
        block.status = cannot_read(p, errno);
    bool sound = got == READ_WHOLE &&
                 yk_checksum_bytes(head_checksum(head), p->payload, head->bytes) == head->checksum;
    if (sound)
        block.state = BLOCK_SOUND;

    return block;
}

typedef struct block_search {
    yk_status status;
    uint64_t offset; /* of the next valid block; the size of the file if there is none */
} block_search;

/* Searches the next valid block from `offset` on. A block contains its offset, so that few places
 * must be tried. */
static block_search find_block(player *p, uint64_t offset, uint64_t size)
{
    enum { PIECE = 1 << 16 };
    block_search search = {.status = YK_OK, .offset = size};
    unsigned char *piece = yk_allocate(p->context, PIECE, 1);
    if (!piece) {
        search.status = YK_ERROR_MEMORY;
        return search;
    }

    /* Pieces overlap by the size of a header, which may cross their boundary. */
    const uint64_t step = PIECE - sizeof(block_head);
    bool found = false;
    for (uint64_t start = offset; !found && search.status == YK_OK && start < size; start += step) {
        uint64_t count = size - start;
        if (count > PIECE)
            count = PIECE;
        read_result got = read_all(p, piece, count, start);
        if (got == READ_FAILED)
            search.status = cannot_read(p, errno);
        if (got != READ_WHOLE)
            break;

        for (uint64_t i = 0; i + sizeof(block_head) <= count && i < step && !found; i++) {
            uint64_t own;
            memcpy(&own, piece + i + offsetof(block_head, offset), sizeof own);
            if (own != start + i)
                continue;

            block_read block = read_block(p, start + i, size);
            search.status = block.status;
            found = block.status == YK_OK && block.state == BLOCK_SOUND;
            if (found)
                search.offset = start + i;
            if (search.status != YK_OK)
                break;
        }
    }

    yk_free(p->context, piece);
    return search;
}

/* The time of the next sample or frame that is passed on. */
static void note_time(player *p, yk_recovery_report *contents, double time)
{
    if (p->gap_open && contents->gap_count <= YK_RECOVERY_GAPS)
        contents->gaps[contents->gap_count - 1].before = time;
    p->gap_open = false;
    p->last_time = time;
}

/* Passes one block on. */
static yk_status play_block(player *p, const block_head *head, yk_recovery_report *contents)
{
    yk_unpack pack = {.data = p->payload, .size = head->bytes};
    yk_status status = YK_OK;
    switch (head->kind) {
    case BLOCK_HEADER: status = begin(p, &pack); break;
    case BLOCK_ROWS: {
        if (head->bytes != head->items * p->stride * sizeof(double))
            return damaged(p, "its rows are not as wide as its header says");

        /* Memory of the context is aligned for doubles. */
        const double *row = (const double *)(const void *)p->payload;
        for (uint32_t i = 0; i < head->items && status == YK_OK; i++) {
            note_time(p, contents, row[0]);
            status = yk_recorder_sample(p->to, row[0], row + 1);
            row += p->stride;
        }

        contents->row_count += head->items;
        break;
    }
    case BLOCK_FRAME: {
        if (!p->has_scene || head->bytes != sizeof(double) + p->frame_size * sizeof(float))
            return damaged(p, "a frame is not as large as its scene");

        /* A frame is its time and then its numbers. */
        double time;
        memcpy(&time, p->payload, sizeof time);
        note_time(p, contents, time);
        status =
            yk_recorder_frame(p->to, time, (const float *)(const void *)(p->payload + sizeof time));
        contents->frame_count++;
        break;
    }
    case BLOCK_SUMMARY:
        contents->is_complete = true;

        /* A record with gaps is incomplete, and must not be marked as complete. */
        if (contents->gap_count == 0)
            status = end(p, &pack);
        break;
    default: return damaged(p, "it has a block of an unknown kind; use a newer program");
    }

    /* The recorder has its copies. */
    for (int i = 0; i < p->array_count; i++)
        yk_free(p->context, p->arrays[i]);
    p->array_count = 0;

    return status;
}

/* Skips the damaged block at *offset up to the next valid one, and counts the gap. Returns false at
 * the end of the journal: data after the last valid block were being written when the run was
 * killed. */
static bool skip_damage(player *p, uint64_t size, uint64_t *offset, yk_recovery_report *contents,
                        yk_status *status)
{
    block_search next = find_block(p, *offset + 1, size);
    *status = next.status;
    if (next.status != YK_OK || next.offset == size)
        return false;

    if (p->use == YK_JOURNAL_READ) {
        *status = yk_fail(p->context, YK_ERROR_INPUT,
                          "'%s' is a damaged record: %llu bytes at byte %llu%s do not have their "
                          "checksum. `yoke recover` makes a results file of what is intact",
                          p->path, (unsigned long long)(next.offset - *offset),
                          (unsigned long long)*offset, isnan(p->last_time) ? " (its header)" : "");
        return false;
    }

    if (contents->gap_count < YK_RECOVERY_GAPS)
        contents->gaps[contents->gap_count] = (yk_recovery_gap){p->last_time, NAN};
    contents->gap_count++;
    p->gap_open = true;
    contents->damaged_bytes += next.offset - *offset;
    *offset = next.offset;
    return true;
}

static yk_status play(player *p, uint64_t size, yk_recovery_report *contents)
{
    /* Whether this version can read it. */
    yk_file_start start;
    read_result got = READ_SHORT;
    if (size >= sizeof start)
        got = read_all(p, &start, sizeof start, 0);
    if (got == READ_FAILED)
        return cannot_read(p, errno);
    if (got == READ_SHORT)
        return damaged(p, "it ends before its header");
    if (start.byte_order != BYTE_ORDER_MARK)
        return yk_fail(p->context, YK_ERROR_INPUT,
                       "'%s' was written on a machine with another order of bytes; read it there",
                       p->path);
    if (start.version != VERSION)
        return yk_fail(
            p->context, YK_ERROR_INPUT,
            "'%s' has version %u and this program reads version %d: use the program that "
            "wrote it",
            p->path, (unsigned)start.version, VERSION);

    /* Block by block, up to the summary or to the end. */
    uint64_t offset = sizeof start;
    yk_status status = YK_OK;
    p->last_time = NAN;
    while (offset < size && !contents->is_complete) {
        block_read block = read_block(p, offset, size);
        if (block.status != YK_OK)
            return block.status;

        /* Nothing can be read without the header. */
        bool first = offset == sizeof start;
        if (block.state == BLOCK_DAMAGED && first)
            return damaged(p, "it ends before its header, or its header is damaged");
        if (block.state == BLOCK_DAMAGED) {
            if (skip_damage(p, size, &offset, contents, &status))
                continue;
            if (status != YK_OK)
                return status;
            break;
        }

        /* Exactly one header, at the beginning. */
        if (first != (block.head.kind == BLOCK_HEADER))
            return damaged(p, "its header is not its first block");

        status = play_block(p, &block.head, contents);
        if (status != YK_OK)
            return status;
        offset += sizeof block.head + block.head.bytes;
    }

    contents->damaged_bytes += size - offset;
    if (offset == sizeof start)
        return damaged(p, "it ends before its header");

    bool whole = contents->is_complete && contents->damaged_bytes == 0;
    if (p->use == YK_JOURNAL_COMPLETE && !whole)
        return yk_fail(p->context, YK_ERROR_FILE,
                       "'%s' was written whole, and is damaged now: %llu bytes do not have their "
                       "checksum, the first after t = %g s. Check the disk and the memory of this "
                       "machine",
                       p->path, (unsigned long long)contents->damaged_bytes,
                       contents->gap_count > 0 ? contents->gaps[0].after : p->last_time);

    return YK_OK;
}

static void release_player(player *p)
{
    /* Release the arrays of a block that was not played completely. */
    for (int i = 0; i < p->array_count; i++)
        yk_free(p->context, p->arrays[i]);
    yk_free(p->context, p->payload);
}

bool yk_is_journal(const void *start, size_t bytes)
{
    return bytes >= sizeof MAGIC && memcmp(start, MAGIC, sizeof MAGIC) == 0;
}

yk_status yk_journal_play(yk_context *context, const char *path, int file, yk_journal_use use,
                          yk_recorder *to, yk_recovery_report *contents)
{
    *contents = (yk_recovery_report){0};
    struct stat found;
    if (fstat(file, &found) != 0)
        return yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));

    player p = {.context = context, .path = path, .to = to, .file = file, .use = use};
    yk_status status = play(&p, (uint64_t)found.st_size, contents);
    release_player(&p);
    return status;
}

yk_status yk_journal_play_file(yk_context *context, const char *path, yk_recorder *to,
                               yk_recovery_report *contents)
{
    FILE *file = yk_regular_open(context, path, YK_ERROR_FILE);
    if (!file)
        return YK_ERROR_FILE;

    yk_status status = yk_journal_play(context, path, fileno(file), YK_JOURNAL_READ, to, contents);
    fclose(file);

    return status;
}

/* Going on ------------------------------------------------------------------------------------- */

/* Whether the first bytes of a journal are the blocks that the stopped run had written, the first
 * of them this header. */
static yk_status check_beginning(player *p, const yk_journal_place *position,
                                 const yk_record_header *header)
{
    /* The header that this run would write. */
    yk_pack pack = {.context = p->context};
    pack_header(&pack, header);
    if (pack.failed) {
        yk_pack_destroy(&pack);
        return YK_ERROR_MEMORY;
    }

    /* The same channels, scene and texts: a record continues only if its header would be identical. */
    yk_status status = YK_OK;
    uint64_t offset = sizeof(yk_file_start);
    uint64_t digest = YK_HASH_START;
    bool same = true, sound = true;
    while (offset < position->length && same && sound) {
        block_read block = read_block(p, offset, position->length);
        status = block.status;
        sound = block.state == BLOCK_SOUND;
        if (status != YK_OK || !sound)
            break;

        if (offset == sizeof(yk_file_start))
            same = block.head.kind == BLOCK_HEADER && block.head.bytes == pack.size && p->payload &&
                   memcmp(p->payload, pack.data, pack.size) == 0;
        digest = add_to_digest(digest, &block.head);
        offset += sizeof block.head + block.head.bytes;
    }

    yk_pack_destroy(&pack);
    if (status != YK_OK)
        return status;
    if (!same || offset == sizeof(yk_file_start))
        return yk_fail(
            p->context, YK_ERROR_INPUT,
            "'%s' is the journal of another run than the one that was stopped, or files that "
            "the scenario names have changed since",
            p->path);
    if (!sound)
        return damaged(p, "a block before the place where the run was stopped does not have its "
                          "checksum");
    if (digest != position->digest)
        return yk_fail(p->context, YK_ERROR_INPUT,
                       "'%s' does not hold what the stopped run had recorded: it is the journal of "
                       "another run of the same scenario",
                       p->path);

    return YK_OK;
}

yk_status yk_journal_reopen(yk_context *context, const char *path, const yk_record_header *header,
                            const yk_journal_place *position, yk_journal *journal)
{
    uint64_t length = position->length;
    *journal = (yk_journal){.context = context, .path = path, .descriptor = -1};
    struct stat found;
    if (lstat(path, &found) != 0)
        return yk_fail(context, YK_ERROR_FILE,
                       "cannot continue '%s', the journal of the run that was stopped: %s. Put the "
                       "journal back, or continue without the record (--no-output). If that run "
                       "has ended and its results are complete, remove the checkpoint",
                       path, strerror(errno));

    yk_status status = open_locked(journal, O_RDWR);
    if (status != YK_OK)
        return status;

    /* The complete and unchanged data that the run had written when it was stopped. */
    int file = journal->descriptor;
    if (fstat(file, &found) != 0 || (uint64_t)found.st_size < length) {
        yk_journal_close(journal);
        return yk_fail(context, YK_ERROR_INPUT,
                       "'%s' is shorter than it was when the run was stopped: it belongs to "
                       "another run, or was damaged",
                       path);
    }

    player p = {.context = context, .path = path, .file = file};
    status = check_beginning(&p, position, header);
    release_player(&p);

    /* Later blocks are recorded again. They are kept until then, because the run may still be
     * rejected for another reason. From now on this process writes the journal. */
    uint64_t process = (uint64_t)getpid();
    if (status == YK_OK &&
        !yk_write_all(file, &process, sizeof process, offsetof(yk_file_start, number)))
        status = cannot_write(journal, errno);
    if (status != YK_OK) {
        yk_journal_close(journal);
        return status;
    }

    journal->length = length;
    journal->digest = position->digest;
    journal->has_rest = (uint64_t)found.st_size > length;

    return YK_OK;
}
