/* File recorders. While a run goes on its rows and frames go to the journal `path`.part, block by
 * block. The end plays the journal to a writer of the format, which makes `path`.new; that gets
 * its name when it is complete and on the disk, and only then the journal goes. So whoever sees
 * `path` sees a complete file, and what was flushed is in one of the two at any moment. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "record/apart.h"
#include "record/hdf5_access.h"
#include "record/journal.h"
#include "record/memory.h"

typedef struct file_format {
    const char *endings[3];
    yk_record_format format;
    const yk_recorder_ops *ops; /* of the file recorder, with the name of the format */
    yk_status (*create_writer)(yk_context *context, const char *path, yk_recorder **writer);
    bool apart; /* its library is only trusted in a process of its own */
} file_format;

/* Limits of that process, far beyond what it needs: so much (s of the processor, bytes), and so
 * much for each byte of the journal. */
static const double MAKING_SECONDS = 600;
static const double MAKING_SECONDS_PER_BYTE = 1e-6;
static const double MAKING_BYTES = 8e9;

typedef struct file_recorder {
    yk_recorder base;
    const file_format *format;
    yk_context *context;
    yk_file_recorder_def def;
    char *path;
    char *part;      /* the journal */
    char *old;       /* an unfinished journal of another run */
    char *temporary; /* the results file while it is being made */
    yk_record_header *header;
    yk_journal journal;
    bool open;
    bool failed;  /* an error has closed the journal before the end */
    double *rows; /* that wait, of `stride` doubles each, time first */
    size_t stride, count, capacity;
    size_t frame_size;
    double flushed, synced; /* s on the clock */
    yk_recovery contents;   /* of the journal that the results were made of */
} file_recorder;

static void close_journal(file_recorder *self)
{
    yk_journal_close(&self->journal);
    yk_release(self->context, self->rows);
    self->rows = NULL;
    self->open = false;
}

static yk_status give_up(file_recorder *self, yk_status status)
{
    self->failed = true;
    close_journal(self);
    return status;
}

/* Rows to the journal, and now and then the journal to the disk. A failure closes it, with all
 * blocks that were written before. */
static yk_status flush(file_recorder *self, double now)
{
    /* Also without rows: frames may wait for the disk. */
    yk_status status = YK_OK;
    if (self->count > 0)
        status = yk_journal_rows(&self->journal, self->rows, self->count, self->stride);
    if (status == YK_OK && now - self->synced >= self->def.sync_seconds) {
        status = yk_journal_sync(&self->journal);
        self->synced = now;
    }

    if (status != YK_OK)
        return give_up(self, status);

    /* From here on a reader finds them, whatever happens to this process. */
    self->count = 0;
    self->flushed = now;

    return YK_OK;
}

static yk_status not_open(const file_recorder *self)
{
    /* Who goes on after a failure hears of it again, not of the order of calls. */
    if (self->failed)
        return yk_fail(self->context, YK_ERROR_FILE, "'%s' was given up after an earlier error",
                       self->part);
    return yk_fail(self->context, YK_ERROR_ARGUMENT,
                   "'%s' is not open: samples belong between begin and end", self->path);
}

/* Copies the header and takes memory for the rows. */
static yk_status prepare(file_recorder *self, const yk_record_header *header)
{
    /* A recorder may be used for one record after the other. */
    self->failed = false;
    yk_release(self->context, self->header);
    self->header = NULL;
    yk_status status = yk_header_copy(self->context, header, &self->header);
    if (status != YK_OK)
        return status;

    /* Rows are collected in memory of fixed size: a run of any length needs no more. */
    self->stride = 1 + yk_header_width(self->header);
    if (self->header->scene)
        self->frame_size = yk_scene_frame_size(self->header->scene);
    self->count = 0;
    self->capacity = 1;
    if (self->def.block_rows > 1)
        self->capacity = (size_t)self->def.block_rows;
    self->rows = yk_allocate(self->context, self->capacity, self->stride * sizeof *self->rows);
    if (!self->rows)
        return YK_ERROR_MEMORY;

    /* Before hours of simulation, not after: can a file have this name? */
    struct stat there;
    if (stat(self->path, &there) == 0 && !S_ISREG(there.st_mode))
        return yk_fail(self->context, YK_ERROR_FILE,
                       "cannot write '%s': it exists and is not a regular file", self->path);

    return YK_OK;
}

static yk_status file_begin(yk_recorder *recorder, const yk_record_header *header)
{
    file_recorder *self = (file_recorder *)recorder;

    /* A record that was begun before is replaced. */
    if (self->open) {
        unlink(self->part);
        close_journal(self);
    }

    /* The journal is this process's alone; one that a killed run has left is kept as `old`. */
    yk_status status = prepare(self, header);
    if (status == YK_OK)
        status = yk_journal_create(self->context, self->part, self->old, &self->journal);
    if (status != YK_OK) {
        yk_release(self->context, self->rows);
        self->rows = NULL;
        return status;
    }

    /* From here on a failure leaves no file behind. */
    status = yk_journal_header(&self->journal, self->header);
    if (status != YK_OK) {
        unlink(self->part);
        return give_up(self, status);
    }

    self->open = true;
    self->flushed = self->synced = yk_clock_seconds();

    return YK_OK;
}

static yk_status file_keep(yk_recorder *recorder, yk_record_position *position)
{
    file_recorder *self = (file_recorder *)recorder;
    if (!self->open)
        return not_open(self);

    /* Later than any time to wait for: the disk has it when this returns. */
    yk_status status = flush(self, INFINITY);
    self->flushed = self->synced = yk_clock_seconds();
    *position = (yk_record_position){.count = 1, .length = {self->journal.length}};

    return status;
}

static yk_status file_resume(yk_recorder *recorder, const yk_record_header *header,
                             const yk_record_position *position)
{
    file_recorder *self = (file_recorder *)recorder;
    if (self->open || position->count != 1)
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "'%s' cannot be resumed: it is open, or was not a single record",
                       self->path);

    /* What the stopped run wrote after its checkpoint is cut off, and recorded again. */
    yk_status status = prepare(self, header);
    if (status == YK_OK)
        status = yk_journal_reopen(self->context, self->part, self->header, position->length[0],
                                   &self->journal);
    if (status != YK_OK) {
        yk_release(self->context, self->rows);
        self->rows = NULL;
        return status;
    }

    self->open = true;
    self->flushed = self->synced = yk_clock_seconds();

    return YK_OK;
}

static yk_status file_sample(yk_recorder *recorder, double time, const double *row)
{
    file_recorder *self = (file_recorder *)recorder;
    if (!self->open)
        return not_open(self);

    /* Time first, then the row. */
    double *to = self->rows + self->count++ * self->stride;
    to[0] = time;
    for (size_t i = 1; i < self->stride; i++)
        to[i] = row[i - 1];

    /* To the journal when the memory is full, or when rows have waited long enough. */
    double now = yk_clock_seconds();
    if (self->count < self->capacity && now - self->flushed < self->def.flush_seconds)
        return YK_OK;

    return flush(self, now);
}

static yk_status file_frame(yk_recorder *recorder, double time, const float *values)
{
    file_recorder *self = (file_recorder *)recorder;
    if (!self->open)
        return not_open(self);
    if (!self->header->scene)
        return YK_OK;

    /* Frames are rare and large: each is a block of its own, at once. */
    yk_status status = yk_journal_frame(&self->journal, time, values, self->frame_size);
    if (status != YK_OK)
        return give_up(self, status);

    return YK_OK;
}

/* The results file from its journal, here or in a process of its own: made under another name,
 * complete and on the disk before it takes the place of an older one. */
static yk_status make_results(void *user, int stream)
{
    (void)stream;
    file_recorder *self = user;
    yk_context *context = self->context;

    /* The lock on the journal is the lock on this name too: what has it was left behind. */
    unlink(self->temporary);
    yk_recorder *writer = NULL;
    yk_status status = self->format->create_writer(context, self->temporary, &writer);
    if (status != YK_OK)
        return status;

    /* A journal without its end makes a file without a summary. */
    const yk_journal *journal = &self->journal;
    yk_recovery *contents = &self->contents;
    status = yk_journal_play(context, journal->path, journal->descriptor, writer, contents);
    if (status == YK_OK && contents->rows == 0 && contents->frames == 0 && !contents->complete)
        status =
            yk_fail(context, YK_ERROR_INPUT,
                    "'%s' holds no samples: the run ended before its first one", journal->path);
    if (status == YK_OK && !contents->complete)
        status = yk_recorder_end(writer, NULL);
    yk_recorder_destroy(writer);

    /* An older file is there until this moment. */
    if (status == YK_OK && rename(self->temporary, self->path) != 0)
        status = yk_fail(context, YK_ERROR_FILE, "cannot rename '%s' to '%s': %s", self->temporary,
                         self->path, strerror(errno));
    if (status != YK_OK) {
        unlink(self->temporary);
        return status;
    }

    /* The new name is on the disk, too. */
    yk_sync_folder(self->path);
    return YK_OK;
}

/* In a process of its own where that is wise: libhdf5 does not get over every failure, of memory for
 * instance, and must not take the run with it. */
static yk_status make_safely(file_recorder *self)
{
    /* Formats that we write ourselves need no such care. */
    if (!self->format->apart)
        return make_results(self, -1);

    /* Limits grow with what there is to write. */
    struct stat found;
    double bytes = 0;
    if (fstat(self->journal.descriptor, &found) == 0)
        bytes = (double)found.st_size;

    char what[1200];
    snprintf(what, sizeof what, "making '%.1000s'", self->path);
    yk_apart_def def = {
        .work = make_results,
        .user = self,
        .result = &self->contents,
        .result_bytes = sizeof self->contents,
        .seconds = MAKING_SECONDS + MAKING_SECONDS_PER_BYTE * bytes,
        .bytes = (uint64_t)(MAKING_BYTES + bytes),
        .idle_seconds = YK_APART_IDLE,
        .what = what,
        .lock = yk_hdf5_lock,
        .unlock = yk_hdf5_unlock,
    };

    bool crashed = false;
    def.crashed = &crashed;
    yk_status status = yk_apart(self->context, &def);

    /* Without a process of its own it is made here, rather than not at all. */
    if (status == YK_ERROR_EXTERNAL)
        status = make_results(self, -1);
    if (!crashed)
        return status;

    /* The journal stays: `path` can be made of it by another program, or on another machine. */
    unlink(self->temporary);
    return yk_fail(self->context, YK_ERROR_EXTERNAL, "%s; the record is whole in '%s'",
                   yk_last_message(self->context), self->journal.path);
}

static yk_status file_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    file_recorder *self = (file_recorder *)recorder;
    if (!self->open)
        return not_open(self);

    /* A summary that is refused leaves the record open. */
    yk_record_summary *copy = NULL;
    yk_status status = yk_summary_copy(self->context, summary, &copy);
    if (status != YK_OK)
        return status;

    /* What waits, then the block that says that the run came to its end. */
    status = flush(self, self->synced);
    if (status == YK_OK) {
        status = yk_journal_summary(&self->journal, copy);
        if (status != YK_OK)
            give_up(self, status);
    }

    yk_release(self->context, copy);
    if (status != YK_OK)
        return status;

    /* The lock is held until the journal has gone. */
    status = make_safely(self);
    if (status == YK_OK && unlink(self->part) != 0 && errno != ENOENT)
        yk_log(self->context, YK_LOG_WARNING, "cannot remove '%s': %s", self->part,
               strerror(errno));
    self->failed = status != YK_OK;
    close_journal(self);

    return status;
}

/* A record that is left without its end: what has come in is kept in the journal. */
static void file_destroy(yk_recorder *recorder)
{
    file_recorder *self = (file_recorder *)recorder;
    if (self->open && flush(self, self->synced) == YK_OK)
        close_journal(self);
    yk_release(self->context, self->header);
    yk_release(self->context, self->temporary);
    yk_release(self->context, self->old);
    yk_release(self->context, self->part);
    yk_release(self->context, self->path);
    yk_release(self->context, self);
}

#define FILE_OPS(name)                                                                             \
    {                                                                                              \
        .size = sizeof(yk_recorder_ops), .kind = name, .begin = file_begin, .sample = file_sample, \
        .frame = file_frame, .end = file_end, .destroy = file_destroy, .keep = file_keep,          \
        .resume = file_resume                                                                      \
    }

static const yk_recorder_ops csv_ops = FILE_OPS("csv");
static const yk_recorder_ops hdf5_ops = FILE_OPS("hdf5");

static const file_format formats[] = {
    {{".csv"}, YK_RECORD_CSV, &csv_ops, yk_csv_writer_create, false},
    {{".h5", ".hdf5"}, YK_RECORD_HDF5, &hdf5_ops, yk_hdf5_writer_create, true},
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

yk_file_recorder_def yk_file_recorder_default(void)
{
    return (yk_file_recorder_def){.block_rows = 1024, .flush_seconds = 1, .sync_seconds = 5};
}

/* By the format that is asked for, or by the end of the name. */
static const file_format *choose_format(const char *path, yk_record_format format)
{
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (format == formats[i].format)
            return &formats[i];
        if (format != YK_RECORD_BY_NAME)
            continue;

        /* In upper or lower case, behind at least one other character. */
        for (const char *const *ending = formats[i].endings; *ending; ending++) {
            size_t length = strlen(path);
            size_t tail = strlen(*ending);
            if (length > tail && strcasecmp(path + length - tail, *ending) == 0)
                return &formats[i];
        }
    }

    return NULL;
}

bool yk_record_format_known(const char *path)
{
    return choose_format(path, YK_RECORD_BY_NAME) != NULL;
}

yk_status yk_file_recorder_create(yk_context *context, const yk_file_recorder_def *def,
                                  yk_recorder **recorder)
{
    *recorder = NULL;
    if (!def->path || !*def->path)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a recorder needs the name of the file to be written");

    const file_format *format = choose_format(def->path, def->format);
    if (!format)
        return yk_fail(
            context, YK_ERROR_ARGUMENT,
            "cannot find the format of '%s' by its name; let it end in .h5, .hdf5 or .csv",
            def->path);

    /* All names beside that of the results are made here, so that the run needs no memory. */
    file_recorder *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->base.ops = format->ops;
    self->format = format;
    self->context = context;
    self->def = *def;
    self->journal.descriptor = -1;
    self->path = yk_text_copy(context, def->path);
    self->part = yk_text_join(context, def->path, ".part");
    self->old = yk_text_join(context, def->path, ".part.old");
    self->temporary = yk_text_join(context, def->path, ".new");

    if (!self->path || !self->part || !self->old || !self->temporary) {
        file_destroy(&self->base);
        return YK_ERROR_MEMORY;
    }

    /* The caller's text need not live as long as the recorder. */
    self->def.path = self->path;
    *recorder = &self->base;

    return YK_OK;
}

yk_status yk_record_recover(yk_context *context, const char *part, const char *path,
                            yk_recovery *recovery)
{
    *recovery = (yk_recovery){0};

    /* A recorder that never begins: of it only names, format and writer are used. */
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = path;
    yk_recorder *recorder = NULL;
    yk_status status = yk_file_recorder_create(context, &def, &recorder);
    if (status != YK_OK)
        return status;

    /* As at the end of a run. One that still writes the journal is not disturbed. */
    file_recorder *self = (file_recorder *)recorder;
    status = yk_journal_lock(context, part, &self->journal);
    if (status == YK_OK) {
        status = make_safely(self);
        yk_journal_close(&self->journal);
    }

    /* Also after a failure: what was found in the journal until then. */
    *recovery = self->contents;
    yk_recorder_destroy(recorder);

    return status;
}
