/* HDF5 writer: one extendible dataset per channel, a chunk of rows at a time. The layout is in
 * yoke/record.h. Files have the oldest format version, which is readable everywhere. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "record/hdf5_access.h"
#include "record/memory.h"

enum { CHUNK_ROWS = 1024, CHUNK_BYTES = 131072 };

typedef struct hdf5_writer {
    yk_recorder base;
    yk_context *context;
    char *path;
    yk_hdf5_session session;
    int error; /* of the first write that failed; 0: none */
    hid_t id;
    hid_t *datasets; /* time, then the channels */
    size_t *columns; /* of a row, of each */
    int dataset_count;
    double *rows; /* CHUNK_ROWS rows that wait, time first */
    size_t stride, waiting;
    hsize_t written; /* rows in the file */
    double *scratch; /* as many rows of the widest dataset */
    yk_hdf5_frames frames;
} hdf5_writer;

/* Whether all went well until now: the library did its part, and so did the disk. */
static yk_status outcome(hdf5_writer *self, bool done)
{
    if (done && self->error == 0)
        return YK_OK;

    /* An error of the disk says more than what the library makes of it. */
    const char *reason = self->session.reason;
    if (self->error != 0)
        reason = strerror(self->error);
    else if (!*reason)
        reason = "the HDF5 library gives no reason";

    return yk_fail(self->context, YK_ERROR_FILE, "cannot write '%s': %s", self->path, reason);
}

/* Names ---------------------------------------------------------------------------------------- */

/* The start of `name` up to the dot, as a link name: slashes part groups in HDF5 and cannot
 * stand. Returns what follows the dot, or NULL at the end. */
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

/* Makes the link differ from those that stand in its way: "a" and "a.b" may both be channels, and
 * one of them becomes a~2. Groups may be shared. The attribute `name` always has the channel's
 * own name. */
static void find_free_link(hid_t parent, char *link, bool group)
{
    size_t length = strlen(link);
    for (int number = 2; H5Lexists(parent, link, H5P_DEFAULT) > 0; number++) {
        /* A group is there already where another channel stands in it. */
        if (group) {
            hid_t object = H5Oopen(parent, link, H5P_DEFAULT);
            bool shared = object >= 0 && H5Iget_type(object) == H5I_GROUP;
            if (object >= 0)
                H5Oclose(object);
            if (shared)
                return;
        }

        snprintf(link + length, 16, "~%d", number);
    }
}

/* A dataset with what every dataset has: its full name, unit and index. Dots in its name part the
 * groups that it stands in. */
static hid_t create_dataset(hid_t parent, const char *name, const char *unit, int index,
                            hid_t space, hid_t properties, yk_context *context)
{
    char *link = yk_allocate(context, strlen(name) + 32, 1);
    if (!link)
        return H5I_INVALID_HID;

    /* Its groups are opened, or made. */
    hid_t group = H5Gopen2(parent, ".", H5P_DEFAULT);
    const char *rest = next_link(name, link);
    while (group >= 0 && rest) {
        hid_t inner;
        find_free_link(group, link, true);
        if (H5Lexists(group, link, H5P_DEFAULT) > 0)
            inner = H5Gopen2(group, link, H5P_DEFAULT);
        else
            inner = H5Gcreate2(group, link, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

        H5Gclose(group);
        group = inner;
        rest = next_link(rest, link);
    }

    if (group >= 0)
        find_free_link(group, link, false);

    /* Little-endian whatever the machine, so that files are the same everywhere. */
    hid_t dataset =
        H5Dcreate2(group, link, H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    yk_free(context, link);
    if (group >= 0)
        H5Gclose(group);

    /* A table that cannot say what it is would not be read: then there is none. */
    bool described = dataset >= 0 && yk_hdf5_write_text(dataset, "name", name) &&
                     yk_hdf5_write_text(dataset, "units", unit) &&
                     yk_hdf5_write_integer(dataset, "index", index);
    if (dataset < 0 || described)
        return dataset;

    H5Dclose(dataset);
    return H5I_INVALID_HID;
}

/* Beginning ------------------------------------------------------------------------------------ */

static hid_t create_table(hdf5_writer *self, hid_t parent, const char *name, const char *unit,
                          int index, size_t columns)
{
    /* Rows without end; one column alone has one dimension. */
    int rank = columns > 1 ? 2 : 1;
    const hsize_t now[2] = {0, columns};
    const hsize_t most[2] = {H5S_UNLIMITED, columns};

    /* Chunks of about one size, however wide a row is: one is compressed and read as a whole. */
    hsize_t rows = CHUNK_BYTES / (columns * sizeof(double));
    if (rows < 1)
        rows = 1;
    if (rows > CHUNK_ROWS)
        rows = CHUNK_ROWS;
    const hsize_t chunk[2] = {rows, columns};
    hid_t space = H5Screate_simple(rank, now, most);

    /* Without times of creation equal runs give equal files. */
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, rank, chunk);
    H5Pset_obj_track_times(properties, 0);
    yk_hdf5_compress(properties);

    hid_t dataset = create_dataset(parent, name, unit, index, space, properties, self->context);
    H5Pclose(properties);
    H5Sclose(space);

    return dataset;
}

/* The attributes of the file, and a dataset for the time and for each channel. */
static bool write_header(hdf5_writer *self, const yk_record_header *header)
{
    /* What the file is, and what the run was. */
    char software[64];
    snprintf(software, sizeof software, "yoke %s", yk_version());
    bool done = yk_hdf5_write_text(self->id, "format", YK_HDF5_FORMAT) &&
                yk_hdf5_write_integer(self->id, "format_version", YK_HDF5_FORMAT_VERSION) &&
                yk_hdf5_write_text(self->id, "software", software) &&
                yk_hdf5_write_text(self->id, "title", header->title) &&
                yk_hdf5_write_text(self->id, "command", header->command) &&
                yk_hdf5_write_text(self->id, "scenario", header->scenario_text) &&
                yk_hdf5_write_integer(self->id, "complete", 0);
    if (!done)
        return false;

    /* Time is a dataset beside the channels. */
    hid_t channels = H5Gcreate2(self->id, "channels", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    self->datasets[0] = create_table(self, self->id, "time", "s", 0, 1);
    self->columns[0] = 1;
    self->dataset_count = 1;
    done = channels >= 0 && self->datasets[0] >= 0;

    for (int i = 0; i < header->channel_count && done; i++) {
        const yk_record_channel *channel = &header->channels[i];
        size_t columns = (size_t)channel->component_count;
        hid_t dataset = create_table(self, channels, channel->name, channel->unit, i, columns);
        self->datasets[self->dataset_count] = dataset;
        self->columns[self->dataset_count++] = columns;
        done = dataset >= 0 && yk_hdf5_write_texts(dataset, "labels", channel->labels, columns);
    }

    if (channels >= 0)
        H5Gclose(channels);

    /* Time is the scale of the rows of every channel. */
    done = done && yk_hdf5_set_scale(self->context, self->datasets[0], "time", self->datasets + 1,
                                     (size_t)self->dataset_count - 1);

    /* What the run looks like, and tables for its frames. */
    if (done && header->scene)
        done = yk_hdf5_write_scene(self->context, self->id, header->scene) &&
               yk_hdf5_open_frames(self->context, self->id, header->scene, &self->frames);

    return done;
}

static yk_status hdf5_begin(yk_recorder *recorder, const yk_record_header *header)
{
    hdf5_writer *self = (hdf5_writer *)recorder;
    size_t channels = (size_t)header->channel_count;

    /* Rows are collected by the chunk; the scratch takes those of the widest dataset. */
    size_t widest = 1;
    for (size_t i = 0; i < channels; i++) {
        size_t columns = (size_t)header->channels[i].component_count;
        if (columns > widest)
            widest = columns;
    }

    self->stride = 1 + yk_header_width(header);
    self->datasets = yk_allocate(self->context, channels + 1, sizeof *self->datasets);
    self->columns = yk_allocate(self->context, channels + 1, sizeof *self->columns);
    self->rows = yk_allocate(self->context, CHUNK_ROWS, self->stride * sizeof *self->rows);
    self->scratch = yk_allocate(self->context, CHUNK_ROWS, widest * sizeof *self->scratch);
    if (!self->datasets || !self->columns || !self->rows || !self->scratch)
        return YK_ERROR_MEMORY;

    /* The file, with all datasets still empty. */
    yk_hdf5_enter(&self->session);
    self->id = yk_hdf5_create(self->path, &self->error);
    bool done = self->id >= 0 && write_header(self, header);
    yk_hdf5_leave(&self->session);

    return outcome(self, done);
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Appends the rows that wait to all datasets. */
static bool write_rows(hdf5_writer *self)
{
    if (self->waiting == 0)
        return true;

    size_t first = 0;
    for (int i = 0; i < self->dataset_count; i++) {
        /* Its columns of the rows, side by side. */
        size_t columns = self->columns[i];
        const double *from = self->rows + first;
        double *to = self->scratch;
        for (size_t row = 0; row < self->waiting; row++) {
            memcpy(to, from, columns * sizeof *to);
            from += self->stride;
            to += columns;
        }

        /* A channel of one number is a list, others are tables of two dimensions. */
        const hsize_t row[2] = {columns, 1};
        if (!yk_hdf5_append(self->datasets[i], columns > 1 ? 2 : 1, H5T_NATIVE_DOUBLE,
                            self->written, self->waiting, row, self->scratch))
            return false;

        first += columns;
    }

    self->written += self->waiting;
    self->waiting = 0;

    return true;
}

static yk_status hdf5_sample(yk_recorder *recorder, double time, const double *row)
{
    /* Whole chunks go to the file: the library need not read them back. */
    hdf5_writer *self = (hdf5_writer *)recorder;
    double *to = self->rows + self->waiting++ * self->stride;
    to[0] = time;
    if (self->stride > 1)
        memcpy(to + 1, row, (self->stride - 1) * sizeof *row);
    if (self->waiting < CHUNK_ROWS)
        return YK_OK;

    yk_hdf5_enter(&self->session);
    bool done = write_rows(self);
    yk_hdf5_leave(&self->session);

    return outcome(self, done);
}

static yk_status hdf5_frame(yk_recorder *recorder, double time, const float *values)
{
    /* Frames wait for others as rows do: a chunk is compressed as a whole. */
    hdf5_writer *self = (hdf5_writer *)recorder;
    yk_hdf5_add_frame(&self->frames, time, values);
    if (self->frames.waiting < self->frames.capacity)
        return YK_OK;

    yk_hdf5_enter(&self->session);
    bool done = yk_hdf5_write_frames(&self->frames);
    yk_hdf5_leave(&self->session);

    return outcome(self, done);
}

/* End ------------------------------------------------------------------------------------------ */

/* A record without a summary is one whose run did not come to its end. */
static yk_status hdf5_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    hdf5_writer *self = (hdf5_writer *)recorder;

    /* What still waited for a full chunk. */
    yk_hdf5_enter(&self->session);
    bool done = write_rows(self) && yk_hdf5_write_frames(&self->frames);

    if (done && summary) {
        /* Each figure is a dataset of one number, without times of creation as all others. */
        hid_t group = H5Gcreate2(self->id, "summary", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = H5Screate(H5S_SCALAR);
        hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_obj_track_times(properties, 0);
        done = group >= 0;

        for (int i = 0; i < summary->count && done; i++) {
            const yk_record_value *value = &summary->values[i];
            hid_t dataset = create_dataset(group, value->name, value->unit, i, space, properties,
                                           self->context);
            done = dataset >= 0 && yk_hdf5_write_text(dataset, "text", value->text) &&
                   H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                            &value->value) >= 0;
            if (dataset >= 0)
                H5Dclose(dataset);
        }

        H5Pclose(properties);
        H5Sclose(space);
        if (group >= 0)
            H5Gclose(group);

        /* The mark that it is complete comes last. */
        done = done && yk_hdf5_write_integer(self->id, "complete", 1);
    }

    /* Closing writes what the library has kept back; errors show only then. */
    if (H5Fclose(self->id) < 0)
        done = false;
    self->id = H5I_INVALID_HID;
    yk_hdf5_leave(&self->session);

    return outcome(self, done);
}

static void hdf5_destroy(yk_recorder *recorder)
{
    hdf5_writer *self = (hdf5_writer *)recorder;

    /* Still open only where something failed before the end. */
    if (self->id >= 0) {
        yk_hdf5_enter(&self->session);
        H5Fclose(self->id);
        yk_hdf5_leave(&self->session);
    }

    yk_hdf5_close_frames(self->context, &self->frames);
    yk_free(self->context, self->scratch);
    yk_free(self->context, self->rows);
    yk_free(self->context, self->columns);
    yk_free(self->context, self->datasets);
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

yk_status yk_hdf5_writer_create(yk_context *context, const char *path, yk_recorder **writer)
{
    *writer = NULL;
    hdf5_writer *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    /* The file itself is made when the record begins. */
    self->base.ops = &hdf5_ops;
    self->context = context;
    self->id = H5I_INVALID_HID;
    self->path = yk_text_copy(context, path);
    if (!self->path) {
        hdf5_destroy(&self->base);
        return YK_ERROR_MEMORY;
    }

    *writer = &self->base;

    return YK_OK;
}
