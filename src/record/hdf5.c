/* HDF5 writer: a dataset per channel. The layout is in yoke/record.h. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "record/hdf5.h"
#include "record/memory.h"

/* Rows are buffered until the columns of a block are long enough to be written separately. */
enum { BLOCK_VALUES = 1 << 20, BLOCK_ROWS_MAX = 8192 };

/* A dataset and its columns in a row. */
typedef struct channel_table {
    yk_hdf5_object *dataset;
    size_t columns;
} channel_table;

typedef struct hdf5_writer {
    yk_recorder base;
    yk_context *context;
    char *path;
    yk_record_counts counts; /* final numbers of rows and frames */
    yk_hdf5_output *output;
    channel_table *tables; /* time, then the channels */
    size_t table_count;
    double *rows; /* buffered rows, time first */
    size_t stride, waiting, capacity;
    size_t written; /* rows in the file */
    double *scratch;
    yk_hdf5_frames frames;
} hdf5_writer;

/* Names ---------------------------------------------------------------------------------------- */

/* Copies the part of `name` before the first dot as a link name, which must not contain a slash.
 * Returns the text after the dot, or NULL at the end. */
static const char *next_link(const char *name, char *link)
{
    size_t length = strcspn(name, ".");
    memcpy(link, name, length);
    link[length] = '\0';
    for (char *slash = link; (slash = strchr(slash, '/')) != NULL;)
        *slash = '_';
    if (length == 0)
        strcpy(link, "_");

    return name[length] ? name + length + 1 : NULL;
}

/* Changes a link name that exists already: "a" and "a.b" may both be channels, and one of them
 * becomes a~2. Groups are shared. The attribute `name` always has the name of the channel. */
static yk_hdf5_object *find_free_link(const yk_hdf5_object *group, char *link, bool shared)
{
    size_t length = strlen(link);
    yk_hdf5_object *taken;
    for (int number = 2; (taken = yk_hdf5_member(group, link)) != NULL; number++) {
        if (shared && yk_hdf5_is_group(taken))
            return taken;
        snprintf(link + length, 16, "~%d", number);
    }

    return NULL;
}

/* Adds a dataset in the groups given by the dots in its name, with its full name, unit and order. */
static yk_hdf5_object *add_named(hdf5_writer *self, yk_hdf5_object *group, const char *name,
                                 const char *unit, int order, int rank, const uint64_t *size)
{
    char *link = yk_allocate(self->context, strlen(name) + 32, 1);
    if (!link) {
        yk_hdf5_fail(self->output);
        return NULL;
    }

    const char *rest = next_link(name, link);
    while (group && rest) {
        yk_hdf5_object *inner = find_free_link(group, link, true);
        group = inner ? inner : yk_hdf5_add_group(self->output, group, link);
        rest = next_link(rest, link);
    }

    yk_hdf5_object *dataset = NULL;
    if (group) {
        find_free_link(group, link, false);
        dataset = yk_hdf5_add_dataset(self->output, group, link, YK_HDF5_FLOAT64, rank, size);
        yk_hdf5_set_text(self->output, dataset, "name", name);
        yk_hdf5_set_text(self->output, dataset, "units", unit);
        yk_hdf5_set_integer(self->output, dataset, "order", order);
    }

    yk_free(self->context, link);
    return dataset;
}

/* Begin ---------------------------------------------------------------------------------------- */

static yk_hdf5_object *add_table(hdf5_writer *self, yk_hdf5_object *group, const char *name,
                                 const char *unit, int order, size_t columns)
{
    const uint64_t size[] = {self->counts.row_count, columns};
    yk_hdf5_object *dataset = add_named(self, group, name, unit, order, columns > 1 ? 2 : 1, size);
    self->tables[self->table_count++] = (channel_table){dataset, columns};
    return dataset;
}

/* The attributes of the file, and a dataset for the time and for each channel. */
static yk_status write_header(hdf5_writer *self, const yk_record_header *header)
{
    yk_hdf5_output *output = self->output;
    yk_hdf5_object *root = yk_hdf5_root(output);
    char software[64];
    snprintf(software, sizeof software, "yoke %s", yk_version());
    yk_hdf5_set_text(output, root, "format", YK_HDF5_FORMAT);
    yk_hdf5_set_integer(output, root, "format_version", YK_HDF5_FORMAT_VERSION);
    yk_hdf5_set_text(output, root, "software", software);
    yk_hdf5_set_text(output, root, "title", header->title);
    yk_hdf5_set_text(output, root, "command", header->command);
    yk_hdf5_set_text(output, root, "scenario_yaml", header->scenario_text);

    yk_hdf5_object *time = add_table(self, root, "time", "s", 0, 1);
    yk_hdf5_object *channels = yk_hdf5_add_group(output, root, "channels");
    yk_hdf5_object **scaled =
        yk_allocate(self->context, (size_t)header->channel_count + 1, sizeof(yk_hdf5_object *));
    if (!scaled)
        yk_hdf5_fail(output);

    bool complete = time && channels && scaled;
    for (int i = 0; i < header->channel_count && complete; i++) {
        const yk_record_channel *channel = &header->channels[i];
        size_t columns = (size_t)channel->component_count;
        scaled[i] = add_table(self, channels, channel->name, channel->unit, i, columns);
        complete = scaled[i] != NULL;

        /* Components of longer rows are numbered, as readers do without labels. */
        if (complete && columns <= YK_HDF5_TEXTS_MAX)
            yk_hdf5_set_texts(output, scaled[i], "labels", channel->labels, columns);
    }

    if (complete)
        yk_hdf5_set_scale(output, time, "time", scaled, (size_t)header->channel_count);
    yk_free(self->context, scaled);
    if (!complete || !header->scene)
        return yk_hdf5_output_status(output);

    yk_hdf5_write_scene(self->context, output, header->scene);
    return yk_hdf5_open_frames(self->context, output, header->scene, self->counts.frame_count,
                               &self->frames);
}

static yk_status hdf5_begin(yk_recorder *recorder, const yk_record_header *header)
{
    hdf5_writer *self = (hdf5_writer *)recorder;
    size_t channels = (size_t)header->channel_count;
    size_t widest = 1;
    for (size_t i = 0; i < channels; i++)
        if ((size_t)header->channels[i].component_count > widest)
            widest = (size_t)header->channels[i].component_count;

    self->stride = 1 + yk_header_width(header);
    self->capacity = BLOCK_VALUES / self->stride + 1;
    if (self->capacity > BLOCK_ROWS_MAX)
        self->capacity = BLOCK_ROWS_MAX;
    self->tables = yk_allocate(self->context, channels + 1, sizeof *self->tables);
    self->rows = yk_allocate(self->context, self->capacity, self->stride * sizeof *self->rows);
    self->scratch = yk_allocate(self->context, self->capacity, widest * sizeof *self->scratch);
    if (!self->tables || !self->rows || !self->scratch)
        return YK_ERROR_MEMORY;

    yk_status status = yk_hdf5_output_create(self->context, self->path, &self->output);
    return status == YK_OK ? write_header(self, header) : status;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Writes the buffered rows, column by column. */
static void write_rows(hdf5_writer *self)
{
    const double *first = self->rows;
    for (size_t i = 0; i < self->table_count; i++) {
        size_t columns = self->tables[i].columns;
        const double *from = first;
        double *to = self->scratch;
        for (size_t row = 0; row < self->waiting; row++, from += self->stride)
            for (size_t k = 0; k < columns; k++)
                *to++ = from[k];

        yk_hdf5_write(self->output, self->tables[i].dataset, self->written * columns,
                      self->waiting * columns, self->scratch);
        first += columns;
    }

    self->written += self->waiting;
    self->waiting = 0;
}

/* A journal that has changed since its rows were counted. */
static yk_status wrong_count(const hdf5_writer *self)
{
    return yk_fail(self->context, YK_ERROR_FILE,
                   "cannot write '%s': the journal changed while it was read", self->path);
}

static yk_status hdf5_sample(yk_recorder *recorder, double time, const double *row)
{
    hdf5_writer *self = (hdf5_writer *)recorder;
    if (self->written + self->waiting == self->counts.row_count)
        return wrong_count(self);

    double *to = self->rows + self->waiting++ * self->stride;
    to[0] = time;
    memcpy(to + 1, row, (self->stride - 1) * sizeof *row);
    if (self->waiting == self->capacity)
        write_rows(self);
    return YK_OK;
}

static yk_status hdf5_frame(yk_recorder *recorder, double time, const float *values)
{
    hdf5_writer *self = (hdf5_writer *)recorder;
    if (self->frames.written + self->frames.waiting == self->frames.count)
        return wrong_count(self);

    yk_hdf5_add_frame(self->output, &self->frames, time, values);
    return YK_OK;
}

/* End ------------------------------------------------------------------------------------------ */

/* A record without a summary belongs to a run that did not reach its end. */
static yk_status hdf5_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    hdf5_writer *self = (hdf5_writer *)recorder;
    write_rows(self);
    yk_hdf5_write_frames(self->output, &self->frames);
    if (self->written != self->counts.row_count || self->frames.written != self->frames.count)
        return wrong_count(self);

    yk_hdf5_object *root = yk_hdf5_root(self->output);
    yk_hdf5_set_integer(self->output, root, "is_complete", summary != NULL);
    yk_hdf5_object *group = NULL;
    if (summary)
        group = yk_hdf5_add_group(self->output, root, "summary");
    for (int i = 0; group && i < summary->count; i++) {
        const yk_record_value *value = &summary->values[i];
        yk_hdf5_object *figure = add_named(self, group, value->name, value->unit, i, 0, NULL);
        if (!figure)
            break;
        yk_hdf5_set_text(self->output, figure, "text", value->text);
        yk_hdf5_write(self->output, figure, 0, 1, &value->value);
    }

    return yk_hdf5_output_finish(self->output);
}

static void hdf5_destroy(yk_recorder *recorder)
{
    hdf5_writer *self = (hdf5_writer *)recorder;
    yk_hdf5_output_destroy(self->output);
    yk_hdf5_close_frames(self->context, &self->frames);
    yk_free(self->context, self->scratch);
    yk_free(self->context, self->rows);
    yk_free(self->context, self->tables);
    yk_free(self->context, self->path);
    yk_free(self->context, self);
}

static const yk_recorder_ops hdf5_ops = {
    .size = sizeof hdf5_ops,
    .kind = "hdf5",
    .begin = hdf5_begin,
    .sample = hdf5_sample,
    .frame = hdf5_frame,
    .end = hdf5_end,
    .destroy = hdf5_destroy,
};

yk_status yk_hdf5_writer_create(yk_context *context, const char *path,
                                const yk_record_counts *counts, yk_recorder **writer)
{
    *writer = NULL;
    hdf5_writer *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->base.ops = &hdf5_ops;
    self->context = context;
    self->counts = *counts;
    self->path = yk_text_copy(context, path);
    if (!self->path) {
        hdf5_destroy(&self->base);
        return YK_ERROR_MEMORY;
    }

    *writer = &self->base;
    return YK_OK;
}
