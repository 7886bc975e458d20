/* File recorders: everything but the format. The rows go to `path`.part; the end renames it,
 * which is atomic, so that whoever sees `path` sees a complete file. */
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "record/memory.h"

/* Rows that wait ------------------------------------------------------------------------------ */

static yk_status open_block(yk_context *context, yk_block *block, size_t width,
                            const yk_file_recorder_def *def)
{
    size_t rows = 1;
    if (def->block_rows > 1)
        rows = (size_t)def->block_rows;
    *block = (yk_block){.stride = width + 1, .flush_seconds = def->flush_seconds};
    block->values = yk_allocate(context, rows, block->stride * sizeof *block->values);
    if (!block->values)
        return YK_ERROR_MEMORY;

    block->capacity = rows;
    clock_gettime(CLOCK_MONOTONIC, &block->flushed);

    return YK_OK;
}

/* Whether the rows should be written now. */
static bool is_due(const yk_block *block)
{
    if (block->rows == block->capacity)
        return true;

    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - block->flushed.tv_sec) +
                    1e-9 * (double)(now.tv_nsec - block->flushed.tv_nsec);

    return passed >= block->flush_seconds;
}

/* The order of calls --------------------------------------------------------------------------- */

yk_status yk_file_fail(const yk_record_file *file, int error)
{
    return yk_fail(file->context, YK_ERROR_FILE, "cannot write '%s': %s", file->part,
                   strerror(error));
}

/* Before hours of simulation, not after: can a file be put at `path`? Leaves an empty .part. */
static yk_status check_path(yk_record_file *file)
{
    struct stat there;
    if (stat(file->path, &there) == 0 && !S_ISREG(there.st_mode))
        return yk_fail(file->context, YK_ERROR_FILE,
                       "cannot write '%s': it exists and is not a regular file", file->path);
    int descriptor = open(file->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return yk_file_fail(file, errno);

    close(descriptor);

    return YK_OK;
}

static void close_file(yk_record_file *file)
{
    file->format->close(file);
    yk_release(file->context, file->block.values);
    file->block = (yk_block){0};
}

static bool is_open(const yk_record_file *file)
{
    return file->block.capacity > 0;
}

static yk_status write_block(yk_record_file *file)
{
    if (file->block.rows == 0)
        return YK_OK;

    yk_status status = file->format->write(file);
    if (status == YK_OK) {
        file->block.rows = 0;
        clock_gettime(CLOCK_MONOTONIC, &file->block.flushed);
    } else {
        file->failed = true;
        close_file(file);
    }

    return status;
}

/* A record that is left without its end: what has come in is kept, in the .part. */
static void abandon(yk_record_file *file)
{
    if (is_open(file) && write_block(file) == YK_OK)
        close_file(file);
}

yk_status yk_file_begin(yk_recorder *recorder, const yk_record_header *header)
{
    yk_record_file *file = (yk_record_file *)recorder;
    abandon(file);
    file->failed = false;
    yk_release(file->context, file->header);
    yk_status status = yk_header_copy(file->context, header, &file->header);
    if (status == YK_OK)
        status = check_path(file);
    if (status != YK_OK)
        return status;

    /* From here on a failure leaves no file behind. */
    status = open_block(file->context, &file->block, yk_header_width(file->header), &file->def);
    if (status == YK_OK) {
        status = file->format->open(file);
        if (status != YK_OK)
            close_file(file);
    }

    if (status != YK_OK)
        unlink(file->part);

    return status;
}

static yk_status not_open(const yk_record_file *file)
{
    if (file->failed)
        return yk_fail(file->context, YK_ERROR_FILE, "'%s' was given up after an earlier error",
                       file->part);
    return yk_fail(file->context, YK_ERROR_ARGUMENT,
                   "'%s' is not open: samples belong between begin and end", file->path);
}

yk_status yk_file_sample(yk_recorder *recorder, double time, const double *row)
{
    yk_record_file *file = (yk_record_file *)recorder;
    if (!is_open(file))
        return not_open(file);

    yk_block *block = &file->block;
    double *to = block->values + block->rows++ * block->stride;
    to[0] = time;
    for (size_t i = 1; i < block->stride; i++)
        to[i] = row[i - 1];
    if (is_due(block))
        return write_block(file);

    return YK_OK;
}

yk_status yk_file_frame(yk_recorder *recorder, double time, const float *values)
{
    yk_record_file *file = (yk_record_file *)recorder;
    if (!is_open(file))
        return not_open(file);
    if (!file->format->frame || !file->header->scene)
        return YK_OK;

    yk_status status = file->format->frame(file, time, values);
    if (status != YK_OK) {
        file->failed = true;
        close_file(file);
    }

    return status;
}

yk_status yk_file_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    yk_record_file *file = (yk_record_file *)recorder;
    if (!is_open(file))
        return not_open(file);

    yk_record_summary *copy = NULL;
    yk_status status = yk_summary_copy(file->context, summary, &copy);
    if (status != YK_OK)
        return status;

    status = write_block(file);
    if (status == YK_OK) {
        status = file->format->finish(file, copy);
        close_file(file);
        file->failed = status != YK_OK;
    }

    yk_release(file->context, copy);
    /* Whoever sees `path` sees a complete file. */
    if (status == YK_OK && rename(file->part, file->path) != 0)
        status = yk_fail(file->context, YK_ERROR_FILE, "cannot rename '%s' to '%s': %s", file->part,
                         file->path, strerror(errno));

    return status;
}

void yk_file_destroy(yk_recorder *recorder)
{
    yk_record_file *file = (yk_record_file *)recorder;
    abandon(file);
    yk_release(file->context, file->header);
    yk_release(file->context, file->part);
    yk_release(file->context, file->path);
    yk_release(file->context, file);
}

yk_file_recorder_def yk_file_recorder_default(void)
{
    return (yk_file_recorder_def){.block_rows = 1024, .flush_seconds = 1};
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

static const yk_file_format *choose_format(const yk_file_recorder_def *def)
{
    if (def->format == YK_RECORD_CSV)
        return &yk_csv_format;
    if (def->format == YK_RECORD_HDF5)
        return &yk_hdf5_format;
    if (ends_with(def->path, ".csv"))
        return &yk_csv_format;
    if (ends_with(def->path, ".h5") || ends_with(def->path, ".hdf5"))
        return &yk_hdf5_format;

    return NULL;
}

bool yk_record_format_known(const char *path)
{
    return choose_format(&(yk_file_recorder_def){.path = path}) != NULL;
}

static char *part_of(yk_context *context, const char *path)
{
    yk_text text = {0};
    yk_text_add(context, &text, "%s.part", path);
    if (!text.failed)
        return text.data;

    yk_text_destroy(context, &text);
    return NULL;
}

yk_status yk_file_recorder_create(yk_context *context, const yk_file_recorder_def *def,
                                  yk_recorder **recorder)
{
    *recorder = NULL;
    if (!def->path || !*def->path)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a recorder needs the name of the file to be written");
    const yk_file_format *format = choose_format(def);
    if (!format)
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "cannot find the format of '%s' by its name; let it end in .h5, .hdf5 or .csv",
            def->path);
    yk_record_file *file = yk_allocate(context, 1, format->size);
    if (!file)
        return YK_ERROR_MEMORY;

    file->base.ops = &format->ops;
    file->format = format;
    file->context = context;
    file->def = *def;
    file->path = yk_text_copy(context, def->path);
    file->part = part_of(context, def->path);
    if (!file->path || !file->part) {
        yk_file_destroy(&file->base);
        return YK_ERROR_MEMORY;
    }

    file->def.path = file->path;
    *recorder = &file->base;

    return YK_OK;
}
