#include "record/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input.h"
#include "base/text.h"
#include "record/journal.h"

enum { VERSION = 1, BYTE_ORDER_MARK = 0x01020304, SECTIONS_MAX = 16 };

static const char MAGIC[8] = {'Y', 'O', 'K', 'E', 'C', 'K', 'P', 'T'};

struct yk_checkpoint_file {
    uint64_t *words; /* contents of the file */
    int count;
    yk_checkpoint_section sections[SECTIONS_MAX];
};

static size_t padding(uint64_t count)
{
    return (size_t)(-count & 7);
}

/* Writing -------------------------------------------------------------------------------------- */

/* A growing file, with the checksum of its contents. */
typedef struct output {
    int descriptor;
    uint64_t length, checksum;
    bool failed; /* errno of the failure is in `error` */
    int error;
} output;

static void put(output *out, const void *bytes, size_t count)
{
    if (out->failed)
        return;

    /* The first failure is reported. */
    out->checksum = yk_hash_bytes(out->checksum, bytes, count);
    if (!yk_write_all(out->descriptor, bytes, count, out->length)) {
        out->failed = true;
        out->error = errno;
    }

    out->length += count;
}

static yk_status write_sections(yk_context *context, const char *path,
                                const yk_checkpoint_section *sections, int count)
{
    unlink(path); /* remove the file of a killed process */
    output out = {.checksum = YK_HASH_START};
    out.descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out.descriptor < 0)
        return yk_fail(context, YK_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));

    /* The start and the sections, each with its name and its bytes, padded to whole words. */
    yk_file_start start = {
        .version = VERSION,
        .byte_order = BYTE_ORDER_MARK,
        .number = (uint64_t)count,
    };

    memcpy(start.magic, MAGIC, sizeof MAGIC);
    put(&out, &start, sizeof start);

    const uint64_t nothing = 0;
    for (int i = 0; i < count; i++) {
        uint64_t bytes = sections[i].count;
        put(&out, sections[i].name, sizeof sections[i].name);
        put(&out, &bytes, sizeof bytes);
        put(&out, sections[i].bytes, sections[i].count);
        put(&out, &nothing, padding(bytes));
    }

    /* The checksum last. Everything is on the disk before the file gets its name. */
    uint64_t checksum = out.checksum;
    put(&out, &checksum, sizeof checksum);
    if (!out.failed && fsync(out.descriptor) != 0 && errno != EINVAL && errno != ENOTSUP) {
        out.failed = true;
        out.error = errno;
    }

    /* Some file systems report a failed write only here. */
    if (close(out.descriptor) != 0 && !out.failed) {
        out.failed = true;
        out.error = errno;
    }

    if (!out.failed)
        return YK_OK;

    /* An incomplete checkpoint is useless. */
    unlink(path);
    return yk_fail(context, YK_ERROR_FILE, "cannot write '%s': %s", path, strerror(out.error));
}

yk_status yk_checkpoint_write(yk_context *context, const char *path,
                              const yk_checkpoint_section *sections, int count)
{
    /* Complete under another name first; the previous one exists until then. */
    char *temporary = yk_text_join(context, path, ".new");
    char *previous = yk_text_join(context, path, ".previous");
    yk_status status = YK_ERROR_MEMORY;
    if (temporary && previous)
        status = write_sections(context, temporary, sections, count);

    /* Between the two renames only the previous one exists for a moment, which readers use. */
    if (status == YK_OK) {
        bool kept = rename(path, previous) == 0 || errno == ENOENT;
        if (!kept || rename(temporary, path) != 0)
            status = yk_fail(context, YK_ERROR_FILE, "cannot rename '%s' to '%s': %s", temporary,
                             path, strerror(errno));
        else
            yk_sync_folder(path);
    }

    yk_free(context, previous);
    yk_free(context, temporary);
    return status;
}

yk_status yk_checkpoint_try(yk_context *context, const char *path)
{
    char *temporary = yk_text_join(context, path, ".new");
    if (!temporary)
        return YK_ERROR_MEMORY;

    /* The temporary name. An existing file of that name is kept: a run that was killed while it
     * renamed its files may have left its newest checkpoint there. */
    yk_status status = YK_OK;
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
        close(descriptor);
        unlink(temporary);
    } else if (errno != EEXIST) {
        status = yk_fail(context, YK_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
    }

    yk_free(context, temporary);
    return status;
}

/* Possible names of a checkpoint, the newest first. One that was not renamed is either complete, or
 * its checksum is wrong. */
static const char *const endings[] = {"", ".new", ".previous"};
enum { ENDINGS = sizeof endings / sizeof *endings };

void yk_checkpoint_remove(yk_context *context, const char *path)
{
    for (int i = ENDINGS - 1; i >= 0; i--) {
        char *name = yk_text_join(context, path, endings[i]);
        if (name)
            unlink(name);
        yk_free(context, name);
    }
}

bool yk_checkpoint_exists(yk_context *context, const char *path)
{
    struct stat found;
    char *previous = yk_text_join(context, path, ".previous");
    bool exists = lstat(path, &found) == 0 || !previous || lstat(previous, &found) == 0;
    yk_free(context, previous);
    return exists;
}

/* Reading -------------------------------------------------------------------------------------- */

static yk_status damaged(yk_context *context, const char *path, const char *what)
{
    return yk_fail(context, YK_ERROR_INPUT, "'%s' is not a whole checkpoint: %s", path, what);
}

/* Finds the sections. Data that the checksum does not cover are not trusted. */
static yk_status open_sections(yk_context *context, const char *path, size_t bytes,
                               yk_checkpoint_file *file)
{
    const unsigned char *data = (const unsigned char *)file->words;
    yk_file_start start = {0};
    if (bytes < sizeof start || memcmp(data, MAGIC, sizeof MAGIC) != 0)
        return yk_fail(context, YK_ERROR_INPUT, "'%s' is not a checkpoint", path);

    /* Whether this version can read it. */
    memcpy(&start, data, sizeof start);
    if (start.byte_order != BYTE_ORDER_MARK)
        return yk_fail(context, YK_ERROR_INPUT,
                       "'%s' was written on a machine with another order of bytes: go on there",
                       path);
    if (start.version != VERSION)
        return yk_fail(context, YK_ERROR_INPUT,
                       "'%s' is a checkpoint of version %u and this program reads version %d: use "
                       "the program that wrote it",
                       path, (unsigned)start.version, VERSION);

    uint64_t checksum = 0;
    if (bytes < sizeof start + sizeof checksum)
        return damaged(context, path, "it is cut off");

    /* From here on all bytes are those that were written. */
    size_t end = bytes - sizeof checksum;
    memcpy(&checksum, data + end, sizeof checksum);
    if (yk_hash_bytes(YK_HASH_START, data, end) != checksum)
        return damaged(context, path, "its checksum does not hold, it is cut off or was changed");

    /* Sections are used in place. A valid checksum does not guarantee valid contents. */
    size_t at = sizeof start;
    for (uint64_t i = 0; i < start.number; i++) {
        uint64_t count;
        if (i == SECTIONS_MAX || end - at < YK_SECTION_NAME_BYTES + sizeof count)
            return damaged(context, path, "its sections have no end");

        const unsigned char *name = data + at;
        memcpy(&count, name + YK_SECTION_NAME_BYTES, sizeof count);
        at += YK_SECTION_NAME_BYTES + sizeof count;
        if (count > end - at || padding(count) > end - at - count)
            return damaged(context, path, "a section is longer than the file");

        /* The bytes are used in place; the name is terminated. */
        yk_checkpoint_section *section = &file->sections[file->count++];
        memcpy(section->name, name, YK_SECTION_NAME_BYTES);
        section->name[YK_SECTION_NAME_BYTES - 1] = '\0';
        section->bytes = data + at;
        section->count = count;
        at += count + padding(count);
    }

    return YK_OK;
}

static yk_status read_one(yk_context *context, const char *path, yk_checkpoint_file **file)
{
    *file = NULL;
    FILE *stream = yk_regular_open(context, path, YK_ERROR_FILE);
    if (!stream)
        return YK_ERROR_FILE;

    struct stat found;
    if (fstat(fileno(stream), &found) != 0) {
        fclose(stream);
        return yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
    }

    /* The whole file in memory, as words, so that sections of doubles can be used in place. */
    size_t bytes = (size_t)found.st_size;
    size_t got = 0;
    int error = 0;
    yk_checkpoint_file *made = yk_allocate(context, 1, sizeof *made);
    if (made)
        made->words = yk_allocate(context, bytes / sizeof *made->words + 1, sizeof *made->words);
    if (made && made->words)
        got = fread(made->words, 1, bytes, stream);
    if (ferror(stream))
        error = errno;
    fclose(stream);

    yk_status status = YK_ERROR_MEMORY;
    if (error)
        status = yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, strerror(error));
    else if (made && made->words && got != bytes)
        status = damaged(context, path, "it cannot be read to its end");
    else if (made && made->words)
        status = open_sections(context, path, bytes, made);
    if (status != YK_OK) {
        yk_checkpoint_close(context, made);
        return status;
    }

    *file = made;
    return YK_OK;
}

yk_status yk_checkpoint_read(yk_context *context, const char *path, yk_checkpoint_file **file)
{
    /* Only a damaged, unreadable or missing file is replaced by an earlier one. */
    yk_status status = read_one(context, path, file);
    if (status != YK_ERROR_INPUT && status != YK_ERROR_FILE)
        return status;

    /* If there is none, the message of the first failure is reported. */
    char *message = yk_text_copy(context, yk_last_message(context));
    yk_status first = status;
    for (int i = 1; message && status != YK_OK && i < ENDINGS; i++) {
        char *name = yk_text_join(context, path, endings[i]);
        if (name)
            status = read_one(context, name, file);
        if (name && status == YK_OK)
            yk_log(context, YK_LOG_WARNING, "%s. Using '%s' instead", message, name);
        yk_free(context, name);
    }

    if (status != YK_OK && message)
        status = yk_fail(context, first, "%s", message);
    yk_free(context, message);
    return status;
}

void yk_checkpoint_close(yk_context *context, yk_checkpoint_file *file)
{
    if (!file)
        return;

    yk_free(context, file->words);
    yk_free(context, file);
}

const void *yk_checkpoint_find(const yk_checkpoint_file *file, const char *name, size_t *count)
{
    for (int i = 0; i < file->count; i++) {
        if (strcmp(file->sections[i].name, name) != 0)
            continue;

        *count = file->sections[i].count;
        return file->sections[i].bytes;
    }

    *count = 0;

    return NULL;
}
