/* HDF5 reader for the layout in yoke/record.h. Datasets are found wherever they stand below
 * /channels; their attributes say what they are. Nothing in the file is trusted: sizes,
 * depths and types are checked before use.
 *
 * That is not enough: of 401 damaged files 10 led to memory errors and 13 to endless loops within
 * libhdf5. So a child process reads the file, with limits on its time and memory, and passes what
 * it finds through a pipe, as a journal, which a reader of our own takes or refuses. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/hdf5_access.h"
#include "record/journal.h"
#include "record/memory.h"

enum { DEPTH_MAX = 64, OBJECTS_MAX = 1000000, ROWS_AT_ONCE = 4096, LINK_BYTES = 1024 };
enum { VALUES_AT_ONCE = 1 << 20 };

/* More values per stored byte than any filter of the library can pack: such a dataset was not
 * written by anybody. */
enum { COMPRESSION_MAX = 2000 };

typedef struct record_item {
    hid_t dataset;
    int index;
    char *name, *unit;
    char *text;    /* summary only */
    char **labels; /* channels only */
    hsize_t rows, columns;
} record_item;

typedef struct hdf5_loader {
    yk_context *context;
    yk_hdf5_session session;
    const char *path;
    hid_t file;
    yk_recorder *to;
    yk_record_scene *scene; /* NULL: it has none */
    record_item *items;     /* of the group that is being read */
    int count, capacity;
    int objects; /* seen so far */
} hdf5_loader;

static yk_status damaged(hdf5_loader *loader, const char *what)
{
    return yk_fail(loader->context, YK_ERROR_INPUT, "'%s' is a damaged result file: %s",
                   loader->path, what);
}

/* Datasets of a group -------------------------------------------------------------------------- */

static void release_items(hdf5_loader *loader)
{
    for (int i = 0; i < loader->count; i++) {
        record_item *item = &loader->items[i];
        H5Dclose(item->dataset);
        yk_free(loader->context, item->name);
        yk_free(loader->context, item->unit);
        yk_free(loader->context, item->text);
        yk_free(loader->context, item->labels);
    }

    yk_free(loader->context, loader->items);
    loader->items = NULL;
    loader->count = loader->capacity = 0;
}

/* Rows and columns of a dataset of numbers that can have that size. */
static bool measure(hid_t dataset, hsize_t *rows, hsize_t *columns)
{
    /* Numbers in one or two dimensions. */
    hsize_t size[2] = {1, 1};
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    int rank = H5Sget_simple_extent_ndims(space);
    bool numbers = H5Tget_class(type) == H5T_FLOAT && rank >= 0 && rank <= 2;
    if (numbers)
        H5Sget_simple_extent_dims(space, size, NULL);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);

    /* Sizes that memory or the file cannot hold were not written by anybody. */
    *rows = size[0];
    *columns = size[1];
    if (!numbers || size[1] < 1 || size[1] > INT_MAX ||
        size[0] > SIZE_MAX / sizeof(double) / size[1])
        return false;

    return size[0] / COMPRESSION_MAX * size[1] * sizeof(double) <= H5Dget_storage_size(dataset);
}

/* Takes over the dataset, also when it fails. */
static yk_status add_item(hdf5_loader *loader, hid_t dataset)
{
    /* The item owns the dataset from here on, also where there is no memory for it. */
    if (loader->count == loader->capacity) {
        int capacity = loader->capacity ? 2 * loader->capacity : 32;
        record_item *grown =
            yk_reallocate(loader->context, loader->items, (size_t)capacity, sizeof *grown);
        if (!grown) {
            H5Dclose(dataset);
            return YK_ERROR_MEMORY;
        }

        loader->items = grown;
        loader->capacity = capacity;
    }

    /* What its attributes say; nothing is believed that cannot be. */
    record_item *item = &loader->items[loader->count++];
    memset(item, 0, sizeof *item);
    item->dataset = dataset;
    item->name = yk_hdf5_read_text(loader->context, dataset, "name");
    item->unit = yk_hdf5_read_text(loader->context, dataset, "units");
    item->text = yk_hdf5_read_text(loader->context, dataset, "text");
    if (!item->name || !yk_hdf5_read_integer(dataset, "index", &item->index))
        return damaged(loader, "a dataset has no name or no index");
    if (!measure(dataset, &item->rows, &item->columns))
        return damaged(loader, "a dataset is not a table of numbers");

    item->labels = yk_hdf5_read_texts(loader->context, dataset, "labels", (size_t)item->columns);

    return YK_OK;
}

/* All datasets below a group, at any depth. */
static yk_status collect(hdf5_loader *loader, hid_t group, int depth)
{
    /* Links may form a circle in a damaged file: depth and number have an end. */
    H5G_info_t info = {0};
    if (H5Gget_info(group, &info) < 0)
        return damaged(loader, "a group cannot be listed");

    for (hsize_t i = 0; i < info.nlinks; i++) {
        char link[LINK_BYTES];
        ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, link,
                                            sizeof link, H5P_DEFAULT);
        if (length < 0 || length >= LINK_BYTES)
            return damaged(loader, "a link has no readable name");
        if (depth > DEPTH_MAX || loader->objects++ > OBJECTS_MAX)
            return damaged(loader, "its groups have no end");

        /* Datasets are kept open; groups are looked into. */
        hid_t object = H5Oopen(group, link, H5P_DEFAULT);
        if (object < 0)
            return damaged(loader, "an object of a group cannot be opened");

        H5I_type_t type = H5Iget_type(object);
        yk_status status = YK_OK;
        if (type == H5I_DATASET)
            status = add_item(loader, object);
        else if (type == H5I_GROUP)
            status = collect(loader, object, depth + 1);

        if (type != H5I_DATASET)
            H5Oclose(object);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

static int by_index(const void *a, const void *b)
{
    int x = ((const record_item *)a)->index, y = ((const record_item *)b)->index;
    return (x > y) - (x < y);
}

/* All datasets below `name`, in the order in which they were recorded. */
static yk_status collect_group(hdf5_loader *loader, const char *name)
{
    /* Groups are listed in the order of names, records in that of their index. */
    release_items(loader);
    hid_t group = H5Gopen2(loader->file, name, H5P_DEFAULT);
    if (group < 0)
        return damaged(loader, "a group is missing");

    yk_status status = collect(loader, group, 0);
    H5Gclose(group);
    if (loader->count)
        qsort(loader->items, (size_t)loader->count, sizeof *loader->items, by_index);

    return status;
}

/* Header --------------------------------------------------------------------------------------- */

static yk_status begin_record(hdf5_loader *loader)
{
    /* The channels as the datasets describe them. */
    yk_context *context = loader->context;
    yk_record_channel *channels = yk_allocate(context, (size_t)loader->count, sizeof *channels);
    if (!channels)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < loader->count; i++) {
        const record_item *item = &loader->items[i];
        channels[i] = (yk_record_channel){.name = item->name,
                                          .unit = item->unit,
                                          .component_count = (int)item->columns,
                                          .labels = (const char *const *)item->labels};
    }

    /* Texts that are absent stay empty. */
    char *title = yk_hdf5_read_text(context, loader->file, "title");
    char *scenario = yk_hdf5_read_text(context, loader->file, "scenario");
    char *command = yk_hdf5_read_text(context, loader->file, "command");
    yk_record_header header = {.title = title,
                               .scenario_text = scenario,
                               .command = command,
                               .channels = channels,
                               .channel_count = loader->count};

    /* The scene, where there is one; the record checks what it says. */
    yk_status status = yk_hdf5_read_scene(context, loader->file, &loader->scene);
    header.scene = loader->scene;
    if (status == YK_ERROR_INPUT)
        status = damaged(loader, "its scene cannot be read");
    if (status == YK_OK)
        status = yk_recorder_begin(loader->to, &header);

    yk_free(context, command);
    yk_free(context, scenario);
    yk_free(context, title);
    yk_free(context, channels);
    return status;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Some rows of a dataset to columns of a block that is `stride` doubles wide, through a buffer. */
static yk_status read_rows(hdf5_loader *loader, const record_item *item, hsize_t start,
                           hsize_t rows, double *buffer, double *block, size_t stride)
{
    /* The rows as they lie in the file, */
    const hsize_t from[2] = {start, 0};
    const hsize_t count[2] = {rows, item->columns};
    hid_t file_space = H5Dget_space(item->dataset);
    hid_t memory_space = H5Screate_simple(H5Sget_simple_extent_ndims(file_space), count, NULL);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, from, NULL, count, NULL);
    bool done = H5Dread(item->dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT,
                        buffer) >= 0;
    H5Sclose(memory_space);
    H5Sclose(file_space);

    if (!done)
        return yk_fail(loader->context, YK_ERROR_INPUT,
                       "'%s' is a damaged result file: the values of '%s' cannot be read",
                       loader->path, item->name);

    /* and side by side with those of other datasets. */
    for (hsize_t i = 0; i < rows; i++)
        memcpy(block + i * stride, buffer + i * item->columns, item->columns * sizeof *block);
    return YK_OK;
}

static yk_status read_tables(hdf5_loader *loader, bool complete)
{
    static char name[] = "time";
    yk_context *context = loader->context;
    record_item time = {.dataset = H5Dopen2(loader->file, "time", H5P_DEFAULT), .name = name};
    if (time.dataset < 0)
        return damaged(loader, "it has no time");

    yk_status status = YK_OK;
    if (!measure(time.dataset, &time.rows, &time.columns) || time.columns != 1)
        status = damaged(loader, "time is not a column of numbers");

    /* A run that was killed while it wrote may have left some datasets longer than others;
     * complete files may not. */
    hsize_t rows = time.rows;
    size_t stride = 1;
    size_t widest = 1;
    for (int i = 0; status == YK_OK && i < loader->count; i++) {
        const record_item *item = &loader->items[i];
        if (item->rows != rows && complete)
            status = yk_fail(context, YK_ERROR_INPUT,
                             "'%s' is a damaged result file: '%s' has %llu rows and time has %llu",
                             loader->path, item->name, (unsigned long long)item->rows,
                             (unsigned long long)rows);

        /* A row that is not there in all of them is left out. */
        if (item->rows < rows)
            rows = item->rows;
        if (item->columns > widest)
            widest = item->columns;
        stride += item->columns;
    }

    /* As many rows at a time as fit into some megabytes, side by side as a recorder takes them. */
    size_t at_once = VALUES_AT_ONCE / stride;
    if (at_once > ROWS_AT_ONCE)
        at_once = ROWS_AT_ONCE;
    if (at_once < 1)
        at_once = 1;

    double *block = NULL;
    double *buffer = NULL;
    if (status == YK_OK) {
        block = yk_allocate(context, at_once, stride * sizeof *block);
        buffer = yk_allocate(context, at_once, widest * sizeof *buffer);
        if (!block || !buffer)
            status = YK_ERROR_MEMORY;
    }

    /* Block by block to the recorder, a row at a time. */
    for (hsize_t start = 0; status == YK_OK && start < rows; start += at_once) {
        hsize_t count = rows - start;
        if (count > at_once)
            count = at_once;

        /* Time is the first column of a row. */
        status = read_rows(loader, &time, start, count, buffer, block, stride);
        size_t column = 1;
        for (int i = 0; status == YK_OK && i < loader->count; i++) {
            const record_item *item = &loader->items[i];
            status = read_rows(loader, item, start, count, buffer, block + column, stride);
            column += item->columns;
        }

        for (hsize_t i = 0; status == YK_OK && i < count; i++)
            status = yk_recorder_sample(loader->to, block[i * stride], &block[i * stride + 1]);
    }

    yk_free(context, block);
    yk_free(context, buffer);
    H5Dclose(time.dataset);

    return status;
}

/* Summary -------------------------------------------------------------------------------------- */

static yk_status end_record(hdf5_loader *loader)
{
    yk_status status = collect_group(loader, "summary");
    if (status != YK_OK)
        return status;

    /* Each figure is a dataset of one number. */
    yk_record_value *values = yk_allocate(loader->context, (size_t)loader->count, sizeof *values);
    if (!values)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < loader->count && status == YK_OK; i++) {
        const record_item *item = &loader->items[i];
        values[i] = (yk_record_value){.name = item->name, .unit = item->unit, .text = item->text};
        if (item->rows != 1 || item->columns != 1 ||
            H5Dread(item->dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    &values[i].value) < 0)
            status = damaged(loader, "a value of the summary cannot be read");
    }

    yk_record_summary summary = {values, loader->count};
    if (status == YK_OK)
        status = yk_recorder_end(loader->to, &summary);
    yk_free(loader->context, values);
    return status;
}

/* File ----------------------------------------------------------------------------------------- */

static yk_status load_file(hdf5_loader *loader)
{
    /* Ours, and not newer than this program. */
    int version = 0;
    char *format = yk_hdf5_read_text(loader->context, loader->file, "format");
    bool ours = format && strcmp(format, YK_HDF5_FORMAT) == 0;
    yk_free(loader->context, format);
    if (!ours || !yk_hdf5_read_integer(loader->file, "format_version", &version))
        return yk_fail(
            loader->context, YK_ERROR_INPUT,
            "'%s' is an HDF5 file of another program: it has no attribute format = \"%s\"",
            loader->path, YK_HDF5_FORMAT);
    if (version > YK_HDF5_FORMAT_VERSION)
        return yk_fail(
            loader->context, YK_ERROR_INPUT,
            "'%s' has format version %d and this program reads up to %d: use a newer one",
            loader->path, version, YK_HDF5_FORMAT_VERSION);

    /* What was recorded, before any number is read. */
    yk_status status = collect_group(loader, "channels");
    if (status == YK_OK)
        status = begin_record(loader);
    if (status != YK_OK)
        return status;

    /* Files of runs that were killed are read as far as they go. */
    int complete = 0;
    yk_hdf5_read_integer(loader->file, "complete", &complete);
    status = read_tables(loader, complete != 0);
    if (status == YK_OK && loader->scene && loader->to->ops->frame) {
        status = yk_hdf5_read_frames(loader->context, loader->file, loader->scene, loader->to);
        if (status == YK_ERROR_INPUT)
            status = damaged(loader, "its frames cannot be read");
    }

    /* The summary is what a complete record has beyond its rows. */
    if (status == YK_OK && complete)
        status = end_record(loader);
    return status;
}

/* What the reading process does. */
static yk_status read_file(yk_context *context, const char *path, yk_recorder *to)
{
    /* The library is one for all threads of the process. */
    hdf5_loader loader = {.context = context, .path = path, .to = to};
    yk_hdf5_enter(&loader.session);
    loader.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);

    yk_status status;
    if (loader.file < 0) {
        status = yk_fail(context, YK_ERROR_INPUT,
                         "'%s' is a damaged or truncated HDF5 file, or still being written (%s)",
                         path, loader.session.reason);
    } else {
        status = load_file(&loader);
        release_items(&loader);
        yk_hdf5_release_scene(context, loader.scene);
        H5Fclose(loader.file);
    }

    status = yk_hdf5_judge(context, &loader.session, path, status);
    yk_hdf5_leave(&loader.session);
    return status;
}

/* In a process of its own ---------------------------------------------------------------------- */

/* A record on its way from the child to the caller: there a recorder that passes everything on as a
 * journal, here the recorder that takes it, and what came. */
typedef struct sender {
    yk_recorder base;
    yk_journal journal;
    double *rows;
    size_t stride, count, capacity;
    size_t frame_size;
    yk_recorder *to;
    yk_recovery_report contents;
} sender;

static yk_status send_rows(sender *self)
{
    size_t count = self->count;
    self->count = 0;
    if (count == 0)
        return YK_OK;
    return yk_journal_rows(&self->journal, self->rows, count, self->stride);
}

static yk_status send_begin(yk_recorder *recorder, const yk_record_header *header)
{
    sender *self = (sender *)recorder;
    yk_context *context = self->journal.context;

    /* The copy has all labels, and refuses what no recorder takes. */
    yk_record_header *copy = NULL;
    yk_status status = yk_header_copy(context, header, &copy);
    if (status != YK_OK)
        return status;

    /* Rows go in blocks, each with its checksum. */
    self->stride = 1 + yk_header_width(copy);
    self->capacity = VALUES_AT_ONCE / self->stride + 1;
    if (copy->scene)
        self->frame_size = yk_scene_frame_value_count(copy->scene);

    self->rows = yk_allocate(context, self->capacity, self->stride * sizeof *self->rows);
    if (self->rows)
        status = yk_journal_header(&self->journal, copy);
    else
        status = YK_ERROR_MEMORY;

    yk_free(context, copy);
    return status;
}

static yk_status send_sample(yk_recorder *recorder, double time, const double *row)
{
    sender *self = (sender *)recorder;
    double *to = self->rows + self->count++ * self->stride;
    to[0] = time;
    memcpy(to + 1, row, (self->stride - 1) * sizeof *row);
    if (self->count < self->capacity)
        return YK_OK;
    return send_rows(self);
}

static yk_status send_frame(yk_recorder *recorder, double time, const float *values)
{
    sender *self = (sender *)recorder;
    return yk_journal_frame(&self->journal, time, values, self->frame_size);
}

static yk_status send_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    sender *self = (sender *)recorder;
    yk_status status = send_rows(self);
    if (status != YK_OK)
        return status;
    return yk_journal_summary(&self->journal, summary);
}

static const yk_recorder_ops sender_ops = {
    .size = sizeof sender_ops,
    .kind = "journal",
    .begin = send_begin,
    .sample = send_sample,
    .frame = send_frame,
    .end = send_end,
};
static const yk_recorder_ops sender_without_frames = {
    .size = sizeof sender_without_frames,
    .kind = "journal",
    .begin = send_begin,
    .sample = send_sample,
    .end = send_end,
};

/* In the child, which has no need to give back what it took. */
static yk_status send_file(void *user, int stream)
{
    sender *self = user;
    yk_context *context = self->journal.context;
    const char *path = self->journal.path;
    yk_status status = yk_journal_stream(context, path, stream, &self->journal);
    if (status == YK_OK)
        status = read_file(context, path, &self->base);

    /* Of a record without its end. */
    if (status == YK_OK)
        status = send_rows(self);
    return status;
}

static yk_status receive_file(void *user, int stream)
{
    sender *self = user;
    yk_status status = yk_journal_play_stream(self->journal.context, self->journal.path, stream,
                                              self->to, &self->contents);

    /* A stream that breaks off is for the child to explain. */
    if (status == YK_ERROR_INPUT && self->contents.row_count == 0)
        return YK_OK;
    return status;
}

yk_status yk_hdf5_load(yk_context *context, const char *path, yk_recorder *to, bool *complete)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));

    /* Frames that the caller does not take are not even read. */
    sender passage = {
        .base.ops = to->ops->frame ? &sender_ops : &sender_without_frames,
        .journal = {.context = context, .path = path, .descriptor = -1},
        .to = to,
    };
    yk_status status =
        yk_hdf5_read_apart(context, path, (double)found.st_size, send_file, receive_file, &passage);
    *complete = passage.contents.is_complete;
    return status;
}
