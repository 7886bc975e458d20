/* File recorders. During a run its rows and frames are written to the journal `path`.part, block by
 * block. At the end the journal is passed to a writer of the format, which creates `path`.new. This
 * file is read back and gets its final name if its contents agree with the journal and it is on the
 * disk; only then the journal is removed. So `path` is always a complete file, and flushed data are
 * in one of the two files at any time. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "record/journal.h"
#include "record/memory.h"

/* A format of results files. Adding one takes a file with its writer and a row in `formats`. */
typedef struct file_format {
    const char *endings[3];
    yk_record_format format;
    const yk_recorder_ops *ops; /* of the file recorder, with the name of the format */
    yk_writer_create_function *create_writer;
    bool frames; /* the format supports frames */
} file_format;

/* Digests of the samples and frames of a record, with which a results file is compared with its
 * journal. */
typedef struct contents_digest {
    uint64_t rows, row_hash;
    uint64_t frames, frame_hash;
} contents_digest;

/* Contents of a journal, found while the results file was written. */
typedef struct making {
    yk_recovery_report contents;
    contents_digest digest;
} making;

typedef struct file_recorder {
    yk_recorder base;
    const file_format *format;
    yk_context *context;
    yk_file_recorder_def def;
    char *path;
    char *part;      /* the journal */
    char *old;       /* an unfinished journal of another run */
    char *temporary; /* the results file under construction */
    yk_record_header *header;
    yk_journal journal;
    yk_journal_use use; /* expected state of the journal when the results file is written */
    bool open;
    bool failed;       /* an error has closed the journal before the end */
    bool checkpointed; /* a checkpoint may refer to the journal */
    bool ended;        /* the results file is complete; the journal can be removed */
    double *rows;      /* buffered rows, of `stride` doubles each, time first */
    size_t stride, count, capacity;
    size_t frame_size;
    double flushed, synced; /* s on the clock */
    making made;
} file_recorder;

static void close_journal(file_recorder *self)
{
    yk_journal_close(&self->journal);
    yk_free(self->context, self->rows);
    self->rows = NULL;
    self->open = false;
}

/* Called after the results file is complete and no checkpoint needs the journal any more. */
static void remove_journal(file_recorder *self)
{
    if (unlink(self->part) != 0 && errno != ENOENT)
        yk_log(self->context, YK_LOG_WARNING, "cannot remove '%s': %s", self->part,
               strerror(errno));
    self->ended = false;
    close_journal(self);
}

static yk_status give_up(file_recorder *self, yk_status status)
{
    self->failed = true;
    close_journal(self);
    return status;
}

/* Writes rows to the journal, and synchronizes the journal at intervals. A failure closes it, with
 * all blocks written before. */
static yk_status flush(file_recorder *self, double now)
{
    /* Also without rows, because frames may not be synchronized yet. */
    yk_status status = YK_OK;
    if (self->count > 0)
        status = yk_journal_rows(&self->journal, self->rows, self->count, self->stride);
    if (status == YK_OK && now - self->synced >= self->def.sync_interval) {
        status = yk_journal_sync(&self->journal);
        self->synced = now;
    }

    if (status != YK_OK)
        return give_up(self, status);

    /* From here on readers find them, also if this process is killed. */
    self->count = 0;
    self->flushed = now;

    return YK_OK;
}

static yk_status not_open(const file_recorder *self)
{
    /* A caller that continues after a failure gets the same failure again. */
    if (self->failed)
        return yk_fail(self->context, YK_ERROR_FILE, "'%s' was given up after an earlier error",
                       self->part);
    return yk_fail(self->context, YK_ERROR_ARGUMENT,
                   "'%s' is not open: samples belong between begin and end", self->path);
}

/* Copies the header and allocates memory for the rows. */
static yk_status prepare(file_recorder *self, const yk_record_header *header)
{
    /* A recorder may be used for several records, one after another. */
    self->failed = self->checkpointed = false;
    yk_free(self->context, self->header);
    self->header = NULL;
    yk_status status = yk_header_copy(self->context, header, &self->header);
    if (status != YK_OK)
        return status;

    /* Rows are buffered in memory of fixed size, independent of the length of the run. */
    self->stride = 1 + yk_header_width(self->header);
    if (self->header->scene)
        self->frame_size = yk_scene_frame_value_count(self->header->scene);
    self->count = 0;
    self->capacity = 1;
    if (self->def.block_rows > 1)
        self->capacity = (size_t)self->def.block_rows;
    self->rows = yk_allocate(self->context, self->capacity, self->stride * sizeof *self->rows);
    if (!self->rows)
        return YK_ERROR_MEMORY;

    /* Check the file name before hours of simulation, not after. */
    struct stat there;
    if (stat(self->path, &there) == 0 && !S_ISREG(there.st_mode))
        return yk_fail(self->context, YK_ERROR_FILE,
                       "cannot write '%s': it exists and is not a regular file", self->path);

    return YK_OK;
}

static yk_status file_begin(yk_recorder *recorder, const yk_record_header *header)
{
    file_recorder *self = (file_recorder *)recorder;

    /* Replaces a record that was begun before. */
    if (self->ended)
        remove_journal(self);
    if (self->open) {
        unlink(self->part);
        close_journal(self);
    }

    /* The journal is locked by this process; that of a killed run is kept as `old`. */
    yk_status status = prepare(self, header);
    if (status == YK_OK)
        status = yk_journal_create(self->context, self->part, self->old, &self->journal);
    if (status != YK_OK) {
        yk_free(self->context, self->rows);
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

static yk_status file_keep(yk_recorder *recorder, yk_journal_position *position)
{
    file_recorder *self = (file_recorder *)recorder;
    if (!self->open)
        return not_open(self);

    /* After waiting, the data are on the disk. */
    yk_status status = flush(self, INFINITY);
    self->flushed = self->synced = yk_clock_seconds();
    self->checkpointed = true;
    *position = (yk_journal_position){
        .count = 1, .length = {self->journal.length}, .digest = {self->journal.digest}};

    return status;
}

static yk_status file_resume(yk_recorder *recorder, const yk_record_header *header,
                             const yk_journal_position *position)
{
    file_recorder *self = (file_recorder *)recorder;
    if (self->open || position->count != 1)
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "'%s' cannot be resumed: it is open, or was not a single record",
                       self->path);

    /* Data after the checkpoint of the stopped run are removed, and recorded again. */
    yk_status status = prepare(self, header);
    yk_journal_place at = {.length = position->length[0], .digest = position->digest[0]};
    if (status == YK_OK)
        status = yk_journal_reopen(self->context, self->part, self->header, &at, &self->journal);
    if (status != YK_OK) {
        yk_free(self->context, self->rows);
        self->rows = NULL;
        return status;
    }

    self->open = true;
    self->checkpointed = true;
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

    /* Flush when the buffer is full, or the rows are old enough. */
    double now = yk_clock_seconds();
    if (self->count < self->capacity && now - self->flushed < self->def.flush_interval)
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

    /* Frames are rare and large: each is written immediately, as a block of its own. */
    yk_status status = yk_journal_frame(&self->journal, time, values, self->frame_size);
    if (status != YK_OK)
        return give_up(self, status);

    return YK_OK;
}

/* A recorder that computes the digest of a record. */
typedef struct digester {
    yk_recorder base;
    size_t width, frame_size;
    contents_digest digest;
} digester;

static yk_status digest_begin(yk_recorder *recorder, const yk_record_header *header)
{
    digester *self = (digester *)recorder;
    self->width = yk_header_width(header);
    self->frame_size = header->scene ? yk_scene_frame_value_count(header->scene) : 0;
    self->digest = (contents_digest){.row_hash = YK_HASH_START, .frame_hash = YK_HASH_START};
    return YK_OK;
}

/* All bits, except the payload of a NaN, which CSV does not preserve. */
static uint64_t add_double(uint64_t hash, double value)
{
    if (isnan(value))
        value = NAN;
    return yk_checksum_bytes(hash, &value, sizeof value);
}

static yk_status digest_sample(yk_recorder *recorder, double time, const double *row)
{
    digester *self = (digester *)recorder;
    uint64_t hash = add_double(self->digest.row_hash, time);
    for (size_t i = 0; i < self->width; i++)
        hash = add_double(hash, row[i]);
    self->digest.row_hash = hash;
    self->digest.rows++;
    return YK_OK;
}

static yk_status digest_frame(yk_recorder *recorder, double time, const float *values)
{
    digester *self = (digester *)recorder;
    uint64_t hash = add_double(self->digest.frame_hash, time);
    self->digest.frame_hash = yk_checksum_bytes(hash, values, self->frame_size * sizeof *values);
    self->digest.frames++;
    return YK_OK;
}

static yk_status digest_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    (void)recorder;
    (void)summary;
    return YK_OK;
}

static const yk_recorder_ops digester_ops = {
    .size = sizeof digester_ops,
    .kind = "digest",
    .begin = digest_begin,
    .sample = digest_sample,
    .frame = digest_frame,
    .end = digest_end,
};

/* Counts and digests the contents of the journal. A journal without its end, or with gaps, makes a file
 * without a summary. */
static yk_status digest_journal(file_recorder *self)
{
    const yk_journal *journal = &self->journal;
    yk_recovery_report *contents = &self->made.contents;
    digester digest = {.base.ops = &digester_ops};
    yk_status status = yk_journal_play(self->context, journal->path, journal->descriptor, self->use,
                                       &digest.base, contents);
    if (status == YK_OK && contents->row_count == 0 && contents->frame_count == 0 &&
        !contents->is_complete)
        status =
            yk_fail(self->context, YK_ERROR_INPUT,
                    "'%s' holds no samples: the run ended before its first one", journal->path);
    self->made.digest = digest.digest;
    return status;
}

/* Writes the results file from its journal under a temporary name. It is complete and on the disk at the end. */
static yk_status write_results(file_recorder *self)
{
    yk_context *context = self->context;
    const yk_journal *journal = &self->journal;

    /* The lock on the journal covers this name too: an existing file is from a killed run. */
    unlink(self->temporary);
    const yk_record_counts counts = {self->made.contents.row_count,
                                     self->made.contents.frame_count};
    yk_recorder *writer = NULL;
    yk_status status = self->format->create_writer(context, self->temporary, &counts, &writer);
    if (status != YK_OK)
        return status;

    yk_recovery_report contents;
    status =
        yk_journal_play(context, journal->path, journal->descriptor, self->use, writer, &contents);
    if (status == YK_OK && (!contents.is_complete || contents.gap_count > 0))
        status = yk_recorder_end(writer, NULL);
    yk_recorder_destroy(writer);
    return status;
}

/* Reads the new results file and compares it with the contents of the journal. */
static yk_status verify_results(file_recorder *self)
{
    digester digest = {.base.ops = &digester_ops};
    bool complete;
    yk_status status = yk_record_play(self->context, self->temporary, &digest.base, &complete);
    if (status != YK_OK)
        return status;

    const contents_digest *made = &self->made.digest;
    const contents_digest *found = &digest.digest;
    bool same = found->rows == made->rows && found->row_hash == made->row_hash;
    if (self->format->frames)
        same = same && found->frames == made->frames && found->frame_hash == made->frame_hash;
    if (!same)
        return yk_fail(self->context, YK_ERROR_FILE,
                       "'%s' does not hold what was recorded when it is read back (%llu of %llu "
                       "samples). Check the disk and the memory of this machine",
                       self->path, (unsigned long long)found->rows, (unsigned long long)made->rows);

    return YK_OK;
}

/* The results file gets its name only after it was read back. */
static yk_status make_and_verify(file_recorder *self)
{
    yk_status status = digest_journal(self);
    if (status == YK_OK)
        status = write_results(self);
    if (status == YK_OK)
        status = verify_results(self);

    /* An older file exists until this moment. */
    if (status == YK_OK && rename(self->temporary, self->path) != 0)
        status = yk_fail(self->context, YK_ERROR_FILE, "cannot rename '%s' to '%s': %s",
                         self->temporary, self->path, strerror(errno));
    if (status != YK_OK) {
        unlink(self->temporary);
        return status;
    }

    /* Synchronize the renaming, too. */
    yk_sync_folder(self->path);
    return YK_OK;
}

static yk_status file_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    file_recorder *self = (file_recorder *)recorder;
    if (!self->open)
        return not_open(self);

    /* A summary that is rejected leaves the record open. */
    yk_record_summary *copy = NULL;
    yk_status status = yk_summary_copy(self->context, summary, &copy);
    if (status != YK_OK)
        return status;

    /* The buffered data, then the block that marks the end of the run. */
    status = flush(self, self->synced);
    if (status == YK_OK) {
        status = yk_journal_summary(&self->journal, copy);
        if (status != YK_OK)
            give_up(self, status);
    }

    yk_free(self->context, copy);
    if (status != YK_OK)
        return status;

    /* The lock is held until the journal is removed. A run that is killed before its checkpoints
     * are removed is resumed from them, which needs the journal: then destroy removes it. */
    self->use = YK_JOURNAL_COMPLETE;
    status = make_and_verify(self);
    self->failed = status != YK_OK;
    if (status == YK_OK && self->checkpointed) {
        self->ended = true;
        self->open = false;
    } else if (status == YK_OK) {
        remove_journal(self);
    } else {
        close_journal(self);
    }

    return status;
}

/* For a record without an end, the data are kept in the journal. */
static void file_destroy(yk_recorder *recorder)
{
    file_recorder *self = (file_recorder *)recorder;
    if (self->ended)
        remove_journal(self);
    if (self->open && flush(self, self->synced) == YK_OK)
        close_journal(self);
    yk_free(self->context, self->header);
    yk_free(self->context, self->temporary);
    yk_free(self->context, self->old);
    yk_free(self->context, self->part);
    yk_free(self->context, self->path);
    yk_free(self->context, self);
}

#define FILE_OPS(name)                                                                             \
    {                                                                                              \
        .size = sizeof(yk_recorder_ops), .kind = name, .begin = file_begin, .sample = file_sample, \
        .frame = file_frame, .end = file_end, .destroy = file_destroy, .sync = file_keep,          \
        .resume = file_resume                                                                      \
    }

static const yk_recorder_ops csv_ops = FILE_OPS("csv");
static const yk_recorder_ops hdf5_ops = FILE_OPS("hdf5");

static const file_format formats[] = {
    {{".h5", ".hdf5"}, YK_RECORD_FORMAT_HDF5, &hdf5_ops, yk_hdf5_writer_create, .frames = true},
    {{".csv"}, YK_RECORD_FORMAT_CSV, &csv_ops, yk_csv_writer_create, .frames = false},
};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

void yk_file_recorder_keep_journal(yk_recorder *recorder)
{
    bool own = recorder->ops == &csv_ops || recorder->ops == &hdf5_ops;
    file_recorder *self = (file_recorder *)recorder;
    if (!own || !self->ended)
        return;

    self->ended = false;
    close_journal(self);
}

yk_file_recorder_def yk_file_recorder_default(void)
{
    return (yk_file_recorder_def){.block_rows = 1024, .flush_interval = 1, .sync_interval = 5};
}

/* The requested format, or that of the end of the name. */
static const file_format *choose_format(const char *path, yk_record_format format)
{
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (format == formats[i].format)
            return &formats[i];
        if (format != YK_RECORD_FORMAT_FROM_NAME)
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

bool yk_record_is_known_format(const char *path)
{
    return choose_format(path, YK_RECORD_FORMAT_FROM_NAME) != NULL;
}

void yk_record_endings(char *text, size_t size)
{
    size_t count = 0;
    for (int i = 0; i < FORMAT_COUNT; i++)
        for (const char *const *ending = formats[i].endings; *ending; ending++)
            count++;

    size_t written = 0;
    text[0] = '\0';
    for (int i = 0; i < FORMAT_COUNT; i++) {
        for (const char *const *ending = formats[i].endings; *ending; ending++, written++) {
            const char *separator = ", ";
            if (written == 0)
                separator = "";
            else if (written + 1 == count)
                separator = " or ";
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", separator, *ending);
        }
    }
}

yk_status yk_file_recorder_create(yk_context *context, const yk_file_recorder_def *def,
                                  yk_recorder **recorder)
{
    *recorder = NULL;
    if (!def->path || !*def->path)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "a recorder needs the name of the file to be written");

    const file_format *format = choose_format(def->path, def->format);
    if (!format) {
        char endings[64];
        yk_record_endings(endings, sizeof endings);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "cannot find the format of '%s' by its name; let it end in %s", def->path,
                       endings);
    }

    /* All other names are created here, so that the run needs no memory. */
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

    /* The caller's text may be released. */
    self->def.path = self->path;
    *recorder = &self->base;

    return YK_OK;
}

yk_status yk_record_recover_journal(yk_context *context, const char *part, const char *path,
                                    yk_recovery_report *recovery)
{
    *recovery = (yk_recovery_report){0};

    /* A recorder that never begins: only its names, format and writer are used. */
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = path;
    yk_recorder *recorder = NULL;
    yk_status status = yk_file_recorder_create(context, &def, &recorder);
    if (status != YK_OK)
        return status;

    /* The same steps as at the end of a run. A process that still writes the journal is not disturbed. */
    file_recorder *self = (file_recorder *)recorder;
    self->use = YK_JOURNAL_RECOVER;
    status = yk_journal_lock(context, part, &self->journal);
    if (status == YK_OK) {
        status = make_and_verify(self);
        yk_journal_close(&self->journal);
    }

    /* Also after a failure: the contents of the journal until then. */
    *recovery = self->made.contents;
    yk_recorder_destroy(recorder);

    return status;
}
