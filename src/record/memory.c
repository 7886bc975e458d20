#include "record/memory.h"

#include <math.h>
#include <string.h>

/* Columns grow at their ends, each in its own memory, so that adding a row to all of them would
 * touch as many cache lines as there are columns. So rows are staged first, side by side, and moved
 * to the columns many at a time. */
typedef struct yk_columns {
    size_t width;    /* columns, time included */
    size_t rows;     /* in the columns, without the staged ones */
    size_t capacity; /* rows that fit in the columns; at least rows + stage_rows while recording */
    size_t staged;   /* rows on the stage */
    /* capacity of the stage; 0 outside begin and end, so that sample() detects it */
    size_t stage_rows;
    double *stage;
    double *columns[]; /* time first */
} yk_columns;

struct yk_record {
    yk_recorder base;
    yk_context *context;
    yk_record_header *header; /* header, summary and data are never NULL after creation */
    yk_record_summary *summary;
    yk_columns *data;
    size_t frame_size, frame_count, frame_capacity;
    double *frame_times;
    float *frames; /* frame_size values each */
    bool complete;
    /* Source of the columns that are NULL, and of the frames until they have been read; NULL: none. */
    yk_record_source *source;
    bool frames_wait;
    yk_record *self; /* readers have a constant record, which frames are read into on demand */
};

enum { STAGE_VALUES = 4096, STAGE_ROWS_MIN = 64, STAGE_ROWS_MAX = 256 };

static void destroy_columns(yk_context *context, yk_columns *data)
{
    if (!data)
        return;

    for (size_t c = 0; c < data->width; c++)
        yk_free(context, data->columns[c]);
    yk_free(context, data->stage);
    yk_free(context, data);
}

static size_t stage_rows(size_t width)
{
    size_t rows = STAGE_VALUES / width;
    if (rows < STAGE_ROWS_MIN)
        return STAGE_ROWS_MIN;
    if (rows > STAGE_ROWS_MAX)
        return STAGE_ROWS_MAX;

    return rows;
}

/* Empty columns. Those of the previous run are reused if they fit, because used memory is much
 * faster than new memory. */
static yk_columns *prepare_columns(yk_record *record, size_t width)
{
    yk_columns *data = record->data;
    if (!data || data->width != width) {
        /* New columns get memory when rows arrive. */
        data = yk_allocate(record->context, 1, sizeof *data + width * sizeof *data->columns);
        if (!data)
            return NULL;

        data->width = width;
        data->stage = yk_allocate(record->context, stage_rows(width) * width, sizeof *data->stage);
        if (!data->stage) {
            yk_free(record->context, data);
            return NULL;
        }

        destroy_columns(record->context, record->data);
    }

    /* Columns that are taken again stay as long as they are. */
    data->rows = 0;
    data->staged = 0;
    data->stage_rows = stage_rows(width);

    return data;
}

/* Moves the staged rows to the columns, which are long enough. Writes nothing if there are none, so
 * that several threads may read a complete record. */
static void settle(yk_columns *data)
{
    if (data->staged == 0)
        return;

    /* Column by column, for sequential writes. */
    for (size_t c = 0; c < data->width; c++) {
        double *column = data->columns[c] + data->rows;
        const double *value = data->stage + c;
        for (size_t i = 0; i < data->staged; i++, value += data->width)
            column[i] = *value;
    }

    data->rows += data->staged;
    data->staged = 0;
}

static void drop_source(yk_record *record)
{
    if (record->source)
        record->source->ops->destroy(record->source);
    record->source = NULL;
    record->frames_wait = false;
}

static yk_status memory_begin(yk_recorder *recorder, const yk_record_header *header)
{
    /* Create the new parts before the old ones are released, which remain if one of them cannot be
     * created. */
    yk_record *record = (yk_record *)recorder;
    yk_record_header *copy = NULL;
    yk_record_summary *summary = NULL;
    yk_columns *data = NULL;
    yk_status status = yk_header_copy(record->context, header, &copy);
    if (status == YK_OK)
        status = yk_summary_copy(record->context, NULL, &summary);
    if (status == YK_OK)
        data = prepare_columns(record, yk_header_width(copy) + 1);
    if (!data) {
        yk_free(record->context, summary);
        yk_free(record->context, copy);
        return status == YK_OK ? YK_ERROR_MEMORY : status;
    }

    /* Everything is created: release the previous contents. */
    drop_source(record);
    yk_free(record->context, record->header);
    yk_free(record->context, record->summary);
    record->header = copy;
    record->summary = summary;
    record->data = data;
    record->frame_size = copy->scene ? yk_scene_frame_value_count(copy->scene) : 0;
    record->frame_count = 0;
    record->frame_capacity = 0; /* frames may have another size now */
    record->complete = false;

    return YK_OK;
}

static bool is_open(const yk_record *record)
{
    return record->data->stage_rows > 0;
}

/* Off the fast path: the first sample of a stage, or a sample while the record is not open. */
static yk_status clear_stage(yk_record *record)
{
    yk_columns *data = record->data;
    if (!is_open(record))
        return yk_fail(record->context, YK_ERROR_ARGUMENT,
                       "a sample came outside begin and end of a record");

    settle(data);

    /* Double the columns, so that a long run copies each number once on average. */
    size_t rows = data->rows + data->stage_rows;
    if (rows <= data->capacity)
        return YK_OK;
    if (rows < 2 * data->capacity)
        rows = 2 * data->capacity;

    /* If memory ends, columns that have grown are only larger than necessary. */
    for (size_t c = 0; c < data->width; c++) {
        double *grown = yk_reallocate(record->context, data->columns[c], rows, sizeof *grown);
        if (!grown)
            return YK_ERROR_MEMORY;

        data->columns[c] = grown;
    }

    data->capacity = rows;
    return YK_OK;
}

static yk_status memory_sample(yk_recorder *recorder, double time, const double *row)
{
    yk_record *record = (yk_record *)recorder;
    yk_columns *data = record->data;
    if (data->staged == 0 || data->staged == data->stage_rows) {
        yk_status status = clear_stage(record);
        if (status != YK_OK)
            return status;
    }

    /* Rows wait in a stage that fits in the cache; columns are written stage by stage. */
    size_t width = data->width;
    double *to = data->stage + data->staged++ * width;
    to[0] = time;
    for (size_t c = 1; c < width; c++)
        to[c] = row[c - 1];

    return YK_OK;
}

static yk_status memory_frame(yk_recorder *recorder, double time, const float *values)
{
    yk_record *record = (yk_record *)recorder;

    /* A run without a scene has no frames. */
    size_t size = record->frame_size;
    if (size == 0)
        return YK_OK;
    if (!is_open(record))
        return yk_fail(record->context, YK_ERROR_ARGUMENT,
                       "a frame came outside begin and end of a record");

    /* Double. Arrays that have grown already remain if the others cannot grow. */
    if (record->frame_count == record->frame_capacity) {
        size_t capacity = 2 * record->frame_capacity + 16;
        double *times =
            yk_reallocate(record->context, record->frame_times, capacity, sizeof *times);
        if (times)
            record->frame_times = times;
        float *frames =
            yk_reallocate(record->context, record->frames, capacity, size * sizeof *frames);
        if (frames)
            record->frames = frames;
        if (!times || !frames)
            return YK_ERROR_MEMORY;

        record->frame_capacity = capacity;
    }

    record->frame_times[record->frame_count] = time;
    memcpy(record->frames + record->frame_count * size, values, size * sizeof *values);
    record->frame_count++;

    return YK_OK;
}

void yk_record_close(yk_record *record)
{
    settle(record->data);
    record->data->stage_rows = 0;
}

static yk_status memory_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    yk_record *record = (yk_record *)recorder;
    if (!is_open(record))
        return yk_fail(record->context, YK_ERROR_ARGUMENT, "a record was ended that had not begun");

    /* A summary that is rejected leaves the record unchanged. */
    yk_record_summary *copy = NULL;
    yk_status status = yk_summary_copy(record->context, summary, &copy);
    if (status != YK_OK)
        return status;

    yk_free(record->context, record->summary);
    record->summary = copy;
    record->complete = true;
    yk_record_close(record);
    return YK_OK;
}

static void memory_destroy(yk_recorder *recorder)
{
    yk_record *record = (yk_record *)recorder;
    drop_source(record);
    destroy_columns(record->context, record->data);
    yk_free(record->context, record->frame_times);
    yk_free(record->context, record->frames);
    yk_free(record->context, record->summary);
    yk_free(record->context, record->header);
    yk_free(record->context, record);
}

static const yk_recorder_ops memory_ops = {
    .size = sizeof memory_ops,
    .kind = "memory",
    .begin = memory_begin,
    .sample = memory_sample,
    .frame = memory_frame,
    .end = memory_end,
    .destroy = memory_destroy,
};

yk_status yk_record_create(yk_context *context, yk_record **record)
{
    *record = NULL;
    yk_record *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->base.ops = &memory_ops;
    made->self = made;
    made->context = context;

    /* An empty record has valid members, so that the getters need not check whether it has begun. */
    yk_status status = memory_begin(&made->base, &(yk_record_header){0});
    if (status != YK_OK) {
        memory_destroy(&made->base);
        return status;
    }

    yk_record_close(made);
    *record = made;

    return YK_OK;
}

void yk_record_destroy(yk_record *record)
{
    if (record)
        memory_destroy(&record->base);
}

yk_recorder *yk_record_recorder(yk_record *record)
{
    return &record->base;
}

bool yk_record_is_complete(const yk_record *record)
{
    return record->complete;
}

const yk_record_header *yk_record_get_header(const yk_record *record)
{
    return record->header;
}

const yk_record_summary *yk_record_get_summary(const yk_record *record)
{
    return record->summary;
}

/* Rows from a file -------------------------------------------------------------------------------- */

void yk_record_set_source(yk_record *record, yk_record_source *source, size_t row_count)
{
    /* Columns of a previous record may be too short. They have no capacity until they are read. */
    yk_columns *data = record->data;
    for (size_t c = 0; c < data->width; c++) {
        yk_free(record->context, data->columns[c]);
        data->columns[c] = NULL;
    }

    data->capacity = 0;
    data->rows = row_count;
    record->source = source;
    record->frames_wait = record->frame_size > 0;
}

/* The columns of a channel (-1: the time), which are read now if they have not been read yet. */
static double **fetch_columns(const yk_record *record, int channel)
{
    /* Time is the first column, then the components of all channels in order. */
    const yk_record_channel *channels = record->header->channels;
    size_t first = channel < 0 ? 0 : 1;
    for (int i = 0; i < channel; i++)
        first += (size_t)channels[i].component_count;

    settle(record->data);
    double **columns = record->data->columns + first;
    if (!record->source || columns[0])
        return columns;

    int count = channel < 0 ? 1 : channels[channel].component_count;
    bool all = true;
    for (int i = 0; i < count; i++) {
        columns[i] = yk_allocate(record->context, record->data->rows, sizeof *columns[i]);
        all = all && columns[i];
    }

    if (all && record->source->ops->read_channel(record->source, channel, columns) == YK_OK)
        return columns;

    for (int i = 0; i < count; i++) {
        yk_free(record->context, columns[i]);
        columns[i] = NULL;
    }

    return columns;
}

/* Reads the frames of a file when they are first needed; false after a message. */
static bool fetch_frames(const yk_record *constant)
{
    if (!constant->frames_wait)
        return true;

    /* A record from a file is closed; frames are only accepted by an open one. */
    yk_record *record = constant->self;
    record->frames_wait = false;
    record->data->stage_rows = 1;
    yk_status status = record->source->ops->read_frames(record->source, &record->base);
    record->data->stage_rows = 0;
    if (status == YK_OK)
        return true;

    /* The next call tries again, with a message of its own. */
    record->frame_count = 0;
    record->frames_wait = true;
    return false;
}

size_t yk_record_row_count(const yk_record *record)
{
    return record->data->rows + record->data->staged;
}

const double *yk_record_times(const yk_record *record)
{
    return fetch_columns(record, -1)[0];
}

const double *yk_record_column(const yk_record *record, int channel, int component)
{
    const yk_record_header *header = record->header;
    if (channel < 0 || channel >= header->channel_count || component < 0 ||
        component >= header->channels[channel].component_count) {
        yk_fail(record->context, YK_ERROR_ARGUMENT,
                "%s: there is no component %d of channel %d; the record has %d channels", __func__,
                component, channel, header->channel_count);
        return NULL;
    }

    return fetch_columns(record, channel)[component];
}

size_t yk_record_frame_count(const yk_record *record)
{
    fetch_frames(record);
    return record->frame_count;
}

static bool has_frame(const yk_record *record, const char *function, size_t frame)
{
    if (!fetch_frames(record))
        return false;
    if (frame < record->frame_count)
        return true;

    yk_fail(record->context, YK_ERROR_ARGUMENT, "%s: there is no frame %zu; the record has %zu",
            function, frame, record->frame_count);
    return false;
}

double yk_record_frame_time(const yk_record *record, size_t frame)
{
    return has_frame(record, __func__, frame) ? record->frame_times[frame] : NAN;
}

const float *yk_record_frame(const yk_record *record, size_t frame)
{
    return has_frame(record, __func__, frame) ? record->frames + frame * record->frame_size : NULL;
}

int yk_record_find_channel(const yk_record *record, const char *name)
{
    for (int i = 0; i < record->header->channel_count; i++)
        if (strcmp(record->header->channels[i].name, name) == 0)
            return i;

    return -1;
}
