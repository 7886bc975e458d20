/* Reading a record, completely or reduced to a limited size. HDF5 files and journals are recognized
 * by their first bytes, everything else is read as CSV. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/input.h"
#include "base/text.h"
#include "record/hdf5.h"
#include "record/journal.h"
#include "record/memory.h"

/* With a note about the file of an unfinished run. */
static yk_status cannot_open(yk_context *context, const char *path, int error)
{
    /* The journal of a run that continues, or was killed, may exist next to it. */
    char part[4096];
    struct stat there;
    snprintf(part, sizeof part, "%s.part", path);
    if (error == ENOENT && stat(part, &there) == 0)
        return yk_fail(context, YK_ERROR_FILE,
                       "cannot read '%s': %s. The run did not finish; what it has written is '%s'",
                       path, strerror(error), part);

    return yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, strerror(error));
}

/* The first bytes of a file, which determine its format; its name does not. */
typedef struct file_start {
    unsigned char bytes[8];
    size_t count;
} file_start;

static yk_status read_start(yk_context *context, const char *path, file_start *start)
{
    FILE *stream = yk_regular_open(context, path, YK_ERROR_FILE);
    if (!stream && access(path, F_OK) != 0 && errno == ENOENT)
        return cannot_open(context, path, errno);
    if (!stream)
        return YK_ERROR_FILE;

    start->count = fread(start->bytes, 1, sizeof start->bytes, stream);
    int error = ferror(stream) ? errno : 0;
    fclose(stream);
    if (error)
        return cannot_open(context, path, error);
    if (start->count == 0)
        return yk_fail(context, YK_ERROR_INPUT, "'%s' is empty", path);
    return YK_OK;
}

/* The contents of a file are invalid for a recorder if they have a duplicate or a missing name. */
static yk_status blame_file(yk_context *context, const char *path, yk_status status)
{
    if (status == YK_ERROR_ARGUMENT)
        return yk_fail(context, YK_ERROR_INPUT, "'%s': %s", path, yk_last_message(context));
    return status;
}

yk_status yk_record_play(yk_context *context, const char *path, yk_recorder *to, bool *complete)
{
    *complete = true;
    file_start start;
    yk_status status = read_start(context, path, &start);
    if (status != YK_OK)
        return status;

    /* Any other file may be a table: the CSV reader reports errors. */
    if (yk_hdf5_begins(start.bytes, start.count)) {
        status = yk_hdf5_load(context, path, to, complete);
    } else if (yk_is_journal(start.bytes, start.count)) {
        yk_recovery_report contents = {0};
        status = yk_journal_play_file(context, path, to, &contents);
        *complete = contents.is_complete;
    } else {
        status = yk_csv_load(context, path, to, complete);
    }

    return blame_file(context, path, status);
}

/* Returns the record of a file, or destroys it if reading failed or there are no samples. */
static yk_status finish_load(yk_context *context, const char *path, yk_status status,
                             yk_record *made, yk_record **record)
{
    if (status == YK_OK && yk_record_row_count(made) == 0)
        status = yk_fail(context, YK_ERROR_INPUT,
                         "'%s' holds no samples: the run ended before its first one", path);
    if (status != YK_OK) {
        yk_record_destroy(made);
        return status;
    }

    *record = made;
    return YK_OK;
}

yk_status yk_record_load(yk_context *context, const char *path, yk_record **record)
{
    *record = NULL;
    if (!path)
        return yk_refuse_null(context, __func__, "path");

    yk_record *made = NULL;
    bool complete = false;
    yk_status status = yk_record_create(context, &made);
    if (status == YK_OK)
        status = yk_record_play(context, path, yk_record_recorder(made), &complete);

    /* The data of a killed run are a record, too, closed without an end. */
    if (status == YK_OK && !complete)
        yk_record_close(made);
    return finish_load(context, path, status, made, record);
}

yk_status yk_record_open(yk_context *context, const char *path, yk_record **record)
{
    *record = NULL;
    if (!path)
        return yk_refuse_null(context, __func__, "path");

    file_start start;
    yk_status status = read_start(context, path, &start);
    if (status != YK_OK)
        return status;
    if (!yk_hdf5_begins(start.bytes, start.count))
        return yk_record_load(context, path, record);

    yk_record *made = NULL;
    status = yk_record_create(context, &made);
    if (status == YK_OK)
        status = blame_file(context, path, yk_hdf5_attach(context, path, made));
    return finish_load(context, path, status, made, record);
}

/* Conversion ----------------------------------------------------------------------------------- */

/* Passes a record to the recorder of a file, and counts its samples. */
typedef struct converter {
    yk_recorder base;
    yk_recorder *to;
    size_t sample_count;
} converter;

static yk_status convert_begin(yk_recorder *recorder, const yk_record_header *header)
{
    return yk_recorder_begin(((converter *)recorder)->to, header);
}

static yk_status convert_sample(yk_recorder *recorder, double time, const double *row)
{
    converter *self = (converter *)recorder;
    self->sample_count++;
    return yk_recorder_sample(self->to, time, row);
}

static yk_status convert_frame(yk_recorder *recorder, double time, const float *values)
{
    return yk_recorder_frame(((converter *)recorder)->to, time, values);
}

static yk_status convert_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    return yk_recorder_end(((converter *)recorder)->to, summary);
}

static const yk_recorder_ops converter_ops = {
    .size = sizeof converter_ops,
    .kind = "converter",
    .begin = convert_begin,
    .sample = convert_sample,
    .frame = convert_frame,
    .end = convert_end,
};

/* Writes the file of a record without its end, which has only a journal. */
static yk_status finish_incomplete(yk_context *context, const char *path)
{
    char *part = yk_text_join(context, path, ".part");
    if (!part)
        return YK_ERROR_MEMORY;

    yk_recovery_report recovery;
    yk_status status = yk_record_recover_journal(context, part, path, &recovery);
    if (status == YK_OK)
        unlink(part);
    yk_free(context, part);
    return status;
}

yk_status yk_record_convert(yk_context *context, const char *from, const char *to,
                            size_t *sample_count)
{
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = to;
    converter self = {.base.ops = &converter_ops};
    yk_status status = yk_file_recorder_create(context, &def, &self.to);
    bool complete = false;
    if (status == YK_OK)
        status = yk_record_play(context, from, &self.base, &complete);
    yk_recorder_destroy(self.to);
    if (status == YK_OK && !complete)
        status = finish_incomplete(context, to);
    *sample_count = self.sample_count;
    return status;
}

/* A reduced record that looks like the whole one -------------------------------------------------
 *
 * Rows are gathered in buckets of equal length. Of each bucket the first and the last time and the
 * lowest and the highest value of every column are kept. When all buckets are full, neighbours are
 * joined, and buckets take twice as many rows. So a record of any length is read once, in memory
 * that does not depend on its length, and a picture with fewer columns of pixels than there are
 * buckets shows every peak. A record that fits is kept unchanged. */

/* Memory of all buckets, and their smallest number. */
static const double BYTES_MOST = 64e6;
enum { BUCKETS_LEAST = 256 };

typedef struct thin {
    yk_recorder base;
    yk_context *context;
    yk_record *record;
    size_t rows_most;
    size_t width;                 /* columns, without time */
    size_t capacity, count;       /* of buckets */
    size_t rows, rows_per_bucket; /* in the last bucket; in each bucket */
    double *first, *last;         /* times of a bucket */
    double *low, *high;           /* by buckets, then columns */
    bool *low_first;              /* whether the lowest value came before the highest */
} thin;

static yk_status thin_begin(yk_recorder *recorder, const yk_record_header *header)
{
    thin *self = (thin *)recorder;
    yk_context *context = self->context;

    /* The scene is not kept: only columns are reduced. */
    yk_record_header plain = *header;
    plain.scene = NULL;
    yk_status status = yk_recorder_begin(yk_record_recorder(self->record), &plain);
    if (status != YK_OK)
        return status;

    /* As many buckets as requested rows, two rows each, limited by the memory; an even number, so
     * that pairs can be joined. */
    self->width = yk_header_width(header);
    double bytes = (double)(self->width + 1) * (2 * sizeof(double) + sizeof(bool));
    self->capacity = (size_t)fmin((double)self->rows_most / 2, BYTES_MOST / bytes);
    if (self->capacity < BUCKETS_LEAST)
        self->capacity = BUCKETS_LEAST;
    self->capacity -= self->capacity % 2;
    self->rows_per_bucket = 1;

    size_t values = self->capacity * self->width;
    self->first = yk_allocate(context, self->capacity, sizeof *self->first);
    self->last = yk_allocate(context, self->capacity, sizeof *self->last);
    self->low = yk_allocate(context, values, sizeof *self->low);
    self->high = yk_allocate(context, values, sizeof *self->high);
    self->low_first = yk_allocate(context, values, sizeof *self->low_first);
    bool all = self->first && self->last && self->low && self->high && self->low_first;
    return all ? YK_OK : YK_ERROR_MEMORY;
}

/* Joins the values of one bucket with the following ones. NaN is ignored if there are numbers. */
static void join(double *low, double *high, bool *low_first, double next_low, double next_high,
                 bool next_low_first)
{
    /* Comparisons with NaN are false: it remains only if there is nothing else. */
    bool lower = next_low < *low || isnan(*low);
    bool higher = next_high > *high || isnan(*high);

    /* If only one of both is new, it comes after the other, which is older. */
    if (lower && higher)
        *low_first = next_low_first;
    else if (lower || higher)
        *low_first = higher;
    if (lower)
        *low = next_low;
    if (higher)
        *high = next_high;
}

/* Join pairs of neighbours. */
static void halve(thin *self)
{
    /* In place: the destination precedes the unread data. */
    size_t width = self->width;
    for (size_t i = 0; i < self->count / 2; i++) {
        size_t a = 2 * i * width;
        size_t b = a + width;
        for (size_t c = 0; c < width; c++) {
            double low = self->low[a + c];
            double high = self->high[a + c];
            bool low_first = self->low_first[a + c];
            join(&low, &high, &low_first, self->low[b + c], self->high[b + c],
                 self->low_first[b + c]);
            self->low[i * width + c] = low;
            self->high[i * width + c] = high;
            self->low_first[i * width + c] = low_first;
        }

        self->first[i] = self->first[2 * i];
        self->last[i] = self->last[2 * i + 1];
    }

    /* The last bucket is full, so the next row opens another. */
    self->count /= 2;
    self->rows_per_bucket *= 2;
    self->rows = self->rows_per_bucket;
}

static yk_status thin_sample(yk_recorder *recorder, double time, const double *row)
{
    thin *self = (thin *)recorder;

    /* Opens a new bucket if the last one is full. If there are no more, each becomes twice as long:
     * the resolution is as high as the length of the run allows, which is not known in advance. */
    if (self->count == 0 || self->rows == self->rows_per_bucket) {
        if (self->count == self->capacity)
            halve(self);

        self->first[self->count] = time;
        self->rows = 0;
        size_t at = self->count++ * self->width;
        memcpy(self->low + at, row, self->width * sizeof *row);
        memcpy(self->high + at, row, self->width * sizeof *row);
        memset(self->low_first + at, 0, self->width * sizeof *self->low_first);
    } else {
        size_t at = (self->count - 1) * self->width;
        for (size_t c = 0; c < self->width; c++)
            join(&self->low[at + c], &self->high[at + c], &self->low_first[at + c], row[c], row[c],
                 false);
    }

    self->last[self->count - 1] = time;
    self->rows++;
    return YK_OK;
}

static yk_status thin_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    (void)recorder;
    (void)summary;
    return YK_OK;
}

static const yk_recorder_ops thin_ops = {
    .size = sizeof thin_ops,
    .kind = "thin",
    .begin = thin_begin,
    .sample = thin_sample,
    .end = thin_end,
};

yk_status yk_record_load_thin(yk_context *context, const char *path, size_t rows_most,
                              yk_record **record)
{
    *record = NULL;
    thin self = {.base.ops = &thin_ops, .context = context, .rows_most = rows_most};
    yk_status status = yk_record_create(context, &self.record);
    bool complete = false;
    if (status == YK_OK)
        status = yk_record_play(context, path, &self.base, &complete);
    if (status == YK_OK && self.count == 0)
        status = yk_fail(context, YK_ERROR_INPUT,
                         "'%s' holds no samples: the run ended before its first one", path);

    /* Buckets as rows: a bucket with a single row unchanged, others as two rows, their lowest and
     * highest values in their order of time. */
    double *row = NULL;
    yk_recorder *to = NULL;
    if (status == YK_OK) {
        row = yk_allocate(context, self.width + 1, sizeof *row);
        to = yk_record_recorder(self.record);
        if (!row)
            status = YK_ERROR_MEMORY;
    }

    for (size_t i = 0; status == YK_OK && i < self.count; i++) {
        size_t at = i * self.width;
        for (int second = 0; second < 2 && status == YK_OK; second++) {
            if (second && self.rows_per_bucket == 1)
                break;

            for (size_t c = 0; c < self.width; c++) {
                bool low = self.low_first[at + c] != (second == 1);
                row[c] = low ? self.low[at + c] : self.high[at + c];
            }

            status = yk_recorder_sample(to, second ? self.last[i] : self.first[i], row);
        }
    }

    yk_free(context, row);
    yk_free(context, self.first);
    yk_free(context, self.last);
    yk_free(context, self.low);
    yk_free(context, self.high);
    yk_free(context, self.low_first);
    if (status != YK_OK) {
        yk_record_destroy(self.record);
        return status;
    }

    yk_record_close(self.record);
    *record = self.record;
    return YK_OK;
}
