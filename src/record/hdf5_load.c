/* HDF5 reader of the layout in yoke/record.h. Datasets may be anywhere below /channels; their
 * attributes describe them. A load reads rows block by block, so that memory does not grow with the
 * file; an opened record reads whole columns when they are needed. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "record/hdf5.h"
#include "record/memory.h"

enum { DEPTH_MAX = 64, ITEMS_MAX = 1000000, BLOCK_VALUES = 1 << 20, BLOCK_ROWS_MAX = 8192 };

/* A dataset below /channels or /summary. */
typedef struct record_item {
    yk_hdf5_entry entry;
    int order;
    char *name, *unit;
    char *text;    /* summary only */
    char **labels; /* channels only; NULL: the usual ones */
    size_t columns;
} record_item;

typedef struct hdf5_loader {
    yk_context *context;
    const char *path;
    yk_hdf5_input *input;
    yk_recorder *to;
    yk_record_scene *scene; /* NULL: none */
    record_item *items;     /* of the group that is being read */
    int count, capacity;
    int visited, depth;
} hdf5_loader;

/* Datasets of a group -------------------------------------------------------------------------- */

static void release_item(hdf5_loader *loader, record_item *item)
{
    yk_hdf5_release(loader->input, &item->entry);
    yk_free(loader->context, item->name);
    yk_free(loader->context, item->unit);
    yk_free(loader->context, item->text);
    yk_free(loader->context, item->labels);
}

static void release_items(hdf5_loader *loader)
{
    for (int i = 0; i < loader->count; i++)
        release_item(loader, &loader->items[i]);
    yk_free(loader->context, loader->items);
    loader->items = NULL;
    loader->count = loader->capacity = 0;
}

/* Takes ownership of the entry. */
static yk_status add_item(hdf5_loader *loader, yk_hdf5_entry *entry)
{
    yk_hdf5_input *input = loader->input;
    record_item item = {.entry = *entry, .columns = 1};
    if (entry->rank == 2)
        item.columns = (size_t)entry->size[1];

    item.name = yk_hdf5_get_text(input, entry, "name");
    item.unit = yk_hdf5_get_text(input, entry, "units");
    item.text = yk_hdf5_get_text(input, entry, "text");
    item.labels = yk_hdf5_get_texts(input, entry, "labels", item.columns);
    bool table = entry->kind == YK_HDF5_NUMBERS && entry->rank <= 2 && item.columns >= 1 &&
                 item.columns <= INT_MAX;
    yk_status status = yk_hdf5_status(input);
    if (status == YK_OK && (!item.name || !yk_hdf5_get_integer(input, entry, "order", &item.order)))
        status = yk_hdf5_damaged(input, "a dataset has no name or no order");
    if (status == YK_OK && !table)
        status = yk_hdf5_damaged(input, "a dataset is not a table of numbers");

    /* The data of the header are not needed any more. */
    yk_hdf5_release(input, &item.entry);
    if (status == YK_OK && loader->count == loader->capacity) {
        int capacity = loader->capacity ? 2 * loader->capacity : 32;
        record_item *grown =
            yk_reallocate(loader->context, loader->items, (size_t)capacity, sizeof *grown);
        if (grown) {
            loader->items = grown;
            loader->capacity = capacity;
        } else {
            status = YK_ERROR_MEMORY;
        }
    }

    if (status == YK_OK)
        loader->items[loader->count++] = item;
    else
        release_item(loader, &item);
    return status;
}

/* Adds a dataset, or all datasets below a group. */
static yk_status collect(void *user, const char *name, uint64_t header)
{
    (void)name;
    hdf5_loader *loader = user;
    yk_hdf5_entry entry;
    if (loader->depth > DEPTH_MAX || loader->visited++ > ITEMS_MAX)
        return yk_hdf5_damaged(loader->input, "its groups have no end");
    if (!yk_hdf5_open(loader->input, header, &entry))
        return yk_hdf5_status(loader->input);
    if (entry.kind != YK_HDF5_GROUP)
        return add_item(loader, &entry);

    loader->depth++;
    yk_status status = yk_hdf5_visit(loader->input, &entry, collect, loader);
    loader->depth--;
    yk_hdf5_release(loader->input, &entry);
    return status;
}

static int by_order(const void *a, const void *b)
{
    int x = ((const record_item *)a)->order;
    int y = ((const record_item *)b)->order;
    return (x > y) - (x < y);
}

/* All datasets below a group, in the order in which they were recorded. */
static yk_status collect_group(hdf5_loader *loader, const char *name)
{
    release_items(loader);
    yk_hdf5_entry group;
    if (!yk_hdf5_find(loader->input, NULL, name, &group))
        return yk_hdf5_damaged(loader->input, "a group is missing");

    yk_status status = YK_OK;
    if (group.kind == YK_HDF5_GROUP)
        status = yk_hdf5_visit(loader->input, &group, collect, loader);
    yk_hdf5_release(loader->input, &group);
    if (loader->count > 0)
        qsort(loader->items, (size_t)loader->count, sizeof *loader->items, by_order);
    return status;
}

/* Header --------------------------------------------------------------------------------------- */

static yk_status begin_record(hdf5_loader *loader, const yk_hdf5_entry *root)
{
    yk_context *context = loader->context;
    yk_hdf5_input *input = loader->input;
    yk_record_channel *channels = yk_allocate(context, (size_t)loader->count + 1, sizeof *channels);
    if (!channels)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < loader->count; i++) {
        const record_item *item = &loader->items[i];
        channels[i] = (yk_record_channel){.name = item->name,
                                          .unit = item->unit,
                                          .component_count = (int)item->columns,
                                          .labels = (const char *const *)item->labels};
    }

    char *title = yk_hdf5_get_text(input, root, "title");
    char *scenario = yk_hdf5_get_text(input, root, "scenario_yaml");
    char *command = yk_hdf5_get_text(input, root, "command");
    yk_record_header header = {.title = title,
                               .scenario_text = scenario,
                               .command = command,
                               .channels = channels,
                               .channel_count = loader->count};

    /* The recorder checks the scene. */
    yk_status status = yk_hdf5_read_scene(context, input, &loader->scene);
    header.scene = loader->scene;
    if (status == YK_OK)
        status = yk_recorder_begin(loader->to, &header);

    yk_free(context, command);
    yk_free(context, scenario);
    yk_free(context, title);
    yk_free(context, channels);
    return status;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Memory for a block of rows as a recorder takes them, and for the same rows of one dataset. */
typedef struct row_block {
    size_t stride, capacity;
    double *rows, *column;
} row_block;

/* Some rows of a dataset, to a column of the block. */
static bool read_columns(hdf5_loader *loader, const yk_hdf5_entry *entry, size_t columns,
                         uint64_t start, size_t rows, const row_block *block, size_t first)
{
    if (!yk_hdf5_read(loader->input, entry, YK_HDF5_FLOAT64, start * columns, rows * columns,
                      block->column))
        return false;

    const double *from = block->column;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            block->rows[i * block->stride + first + k] = *from++;
    return true;
}

static yk_status play_rows(hdf5_loader *loader, const yk_hdf5_entry *time, const row_block *block)
{
    for (uint64_t start = 0; start < time->size[0]; start += block->capacity) {
        size_t count = block->capacity;
        if (time->size[0] - start < count)
            count = (size_t)(time->size[0] - start);

        bool read = read_columns(loader, time, 1, start, count, block, 0);
        size_t column = 1;
        for (int i = 0; read && i < loader->count; i++) {
            const record_item *item = &loader->items[i];
            read = read_columns(loader, &item->entry, item->columns, start, count, block, column);
            column += item->columns;
        }

        if (!read)
            return yk_hdf5_status(loader->input);

        for (size_t i = 0; i < count; i++) {
            const double *row = block->rows + i * block->stride;
            yk_status status = yk_recorder_sample(loader->to, row[0], row + 1);
            if (status != YK_OK)
                return status;
        }
    }

    return YK_OK;
}

/* The dataset of the times; all channels must have as many rows. */
static yk_status find_time(hdf5_loader *loader, yk_hdf5_entry *time)
{
    if (!yk_hdf5_find(loader->input, NULL, "time", time))
        return yk_hdf5_damaged(loader->input, "it has no time");

    yk_status status = YK_OK;
    if (time->kind != YK_HDF5_NUMBERS || time->rank != 1)
        status = yk_hdf5_damaged(loader->input, "time is not a column of numbers");
    for (int i = 0; status == YK_OK && i < loader->count; i++) {
        const record_item *item = &loader->items[i];
        if (item->entry.rank == 0 || item->entry.size[0] != time->size[0])
            status = yk_fail(
                loader->context, YK_ERROR_INPUT,
                "'%s' is a damaged or truncated HDF5 file: '%s' has %llu rows and time has %llu",
                loader->path, item->name, (unsigned long long)item->entry.size[0],
                (unsigned long long)time->size[0]);
    }

    /* The data of the header are not needed any more. */
    yk_hdf5_release(loader->input, time);
    return status;
}

static yk_status read_tables(hdf5_loader *loader)
{
    yk_context *context = loader->context;
    yk_hdf5_entry time;
    yk_status status = find_time(loader, &time);
    if (status != YK_OK)
        return status;

    row_block block = {.stride = 1};
    size_t widest = 1;
    for (int i = 0; i < loader->count; i++) {
        const record_item *item = &loader->items[i];
        if (item->columns > widest)
            widest = item->columns;
        block.stride += item->columns;
    }

    block.capacity = BLOCK_VALUES / block.stride + 1;
    if (block.capacity > BLOCK_ROWS_MAX)
        block.capacity = BLOCK_ROWS_MAX;
    if (time.size[0] > 0) {
        block.rows = yk_allocate(context, block.capacity, block.stride * sizeof *block.rows);
        block.column = yk_allocate(context, block.capacity, widest * sizeof *block.column);
        status = block.rows && block.column ? play_rows(loader, &time, &block) : YK_ERROR_MEMORY;
    }

    yk_free(context, block.rows);
    yk_free(context, block.column);
    return status;
}

/* Summary -------------------------------------------------------------------------------------- */

static yk_status end_record(hdf5_loader *loader)
{
    yk_status status = collect_group(loader, "summary");
    if (status != YK_OK)
        return status;

    yk_record_value *values =
        yk_allocate(loader->context, (size_t)loader->count + 1, sizeof *values);
    if (!values)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < loader->count && status == YK_OK; i++) {
        const record_item *item = &loader->items[i];
        values[i] = (yk_record_value){.name = item->name, .unit = item->unit, .text = item->text};
        if (yk_hdf5_value_count(&item->entry) != 1)
            status = yk_hdf5_damaged(loader->input, "a value of the summary is not a number");
        else if (!yk_hdf5_read(loader->input, &item->entry, YK_HDF5_FLOAT64, 0, 1,
                               &values[i].value))
            status = yk_hdf5_status(loader->input);
    }

    if (status == YK_OK)
        status = yk_recorder_end(loader->to, &(yk_record_summary){values, loader->count});
    yk_free(loader->context, values);
    return status;
}

/* File ----------------------------------------------------------------------------------------- */

static yk_status check_version(hdf5_loader *loader, const yk_hdf5_entry *root)
{
    int version = 0;
    char *format = yk_hdf5_get_text(loader->input, root, "format");
    bool first = format && strcmp(format, YK_HDF5_FORMAT_1) == 0;
    bool known = format && strcmp(format, YK_HDF5_FORMAT) == 0 &&
                 yk_hdf5_get_integer(loader->input, root, "format_version", &version);
    yk_free(loader->context, format);

    if (yk_hdf5_status(loader->input) != YK_OK)
        return yk_hdf5_status(loader->input);
    if (first)
        return yk_fail(loader->context, YK_ERROR_INPUT,
                       "'%s' was written by an earlier version of Yoke, which this version cannot "
                       "read: run the scenario again, or use "
                       "the version that wrote it",
                       loader->path);
    if (!known)
        return yk_fail(
            loader->context, YK_ERROR_INPUT,
            "'%s' is an HDF5 file of another program: it has no attribute format = \"%s\"",
            loader->path, YK_HDF5_FORMAT);
    if (version > YK_HDF5_FORMAT_VERSION)
        return yk_fail(loader->context, YK_ERROR_INPUT,
                       "'%s' has format version %d and this program reads up to %d: use a newer "
                       "version of Yoke",
                       loader->path, version, YK_HDF5_FORMAT_VERSION);
    return YK_OK;
}

/* Begins the record: everything but rows, frames and summary. */
static yk_status load_header(hdf5_loader *loader, bool *complete)
{
    yk_hdf5_entry root;
    if (!yk_hdf5_find(loader->input, NULL, "", &root))
        return yk_hdf5_status(loader->input);

    int is_complete = 0;
    yk_status status = check_version(loader, &root);
    if (status == YK_OK)
        status = collect_group(loader, "channels");
    if (status == YK_OK)
        status = begin_record(loader, &root);
    if (status == YK_OK && !yk_hdf5_get_integer(loader->input, &root, "is_complete", &is_complete))
        status = yk_hdf5_damaged(loader->input, "it does not say whether it is complete");
    yk_hdf5_release(loader->input, &root);
    *complete = is_complete != 0;
    return status;
}

static yk_status load_file(hdf5_loader *loader, bool *complete)
{
    yk_status status = load_header(loader, complete);
    if (status == YK_OK)
        status = read_tables(loader);
    if (status == YK_OK && loader->scene && loader->to->ops->frame)
        status = yk_hdf5_read_frames(loader->context, loader->input, loader->scene, loader->to);
    if (status == YK_OK && *complete)
        status = end_record(loader);
    return status;
}

yk_status yk_hdf5_load(yk_context *context, const char *path, yk_recorder *to, bool *complete)
{
    hdf5_loader loader = {.context = context, .path = path, .to = to};
    *complete = false;
    yk_status status = yk_hdf5_input_open(context, path, &loader.input);
    if (status != YK_OK)
        return status;

    status = load_file(&loader, complete);
    release_items(&loader);
    yk_hdf5_release_scene(context, loader.scene);
    yk_hdf5_input_close(loader.input);
    return status;
}

/* A file as the source of a record ------------------------------------------------------------- */

typedef struct hdf5_source {
    yk_record_source base;
    hdf5_loader loader; /* its items are the channels */
    yk_hdf5_entry time;
    char path[];
} hdf5_source;

static yk_status source_read_channel(yk_record_source *self, int channel, double *const *columns)
{
    hdf5_source *source = (hdf5_source *)self;
    hdf5_loader *loader = &source->loader;
    const record_item *item = channel < 0 ? NULL : &loader->items[channel];
    const yk_hdf5_entry *entry = item ? &item->entry : &source->time;
    size_t width = item ? item->columns : 1;
    size_t rows = (size_t)source->time.size[0];
    yk_hdf5_retry(loader->input);
    if (width == 1) {
        bool read = yk_hdf5_read(loader->input, entry, YK_HDF5_FLOAT64, 0, rows, columns[0]);
        return read ? YK_OK : yk_hdf5_status(loader->input);
    }

    /* The components are next to each other in the file: read blocks of rows and separate them. */
    size_t capacity = BLOCK_VALUES / width + 1;
    if (capacity > rows)
        capacity = rows;
    double *block = yk_allocate(loader->context, capacity, width * sizeof *block);
    if (!block)
        return YK_ERROR_MEMORY;

    yk_status status = YK_OK;
    for (size_t start = 0; status == YK_OK && start < rows; start += capacity) {
        size_t count = rows - start < capacity ? rows - start : capacity;
        if (!yk_hdf5_read(loader->input, entry, YK_HDF5_FLOAT64, start * width, count * width,
                          block))
            status = yk_hdf5_status(loader->input);
        for (size_t i = 0; status == YK_OK && i < count; i++)
            for (size_t k = 0; k < width; k++)
                columns[k][start + i] = block[i * width + k];
    }

    yk_free(loader->context, block);
    return status;
}

static yk_status source_read_frames(yk_record_source *self, yk_recorder *to)
{
    hdf5_loader *loader = &((hdf5_source *)self)->loader;
    yk_hdf5_retry(loader->input);
    return yk_hdf5_read_frames(loader->context, loader->input, loader->scene, to);
}

static void source_destroy(yk_record_source *self)
{
    hdf5_source *source = (hdf5_source *)self;
    hdf5_loader *loader = &source->loader;
    release_items(loader);
    yk_hdf5_release_scene(loader->context, loader->scene);
    yk_hdf5_input_close(loader->input);
    yk_free(loader->context, source);
}

static const yk_record_source_ops source_ops = {
    .read_channel = source_read_channel,
    .read_frames = source_read_frames,
    .destroy = source_destroy,
};

yk_status yk_hdf5_attach(yk_context *context, const char *path, yk_record *record)
{
    size_t length = strlen(path) + 1;
    hdf5_source *source = yk_allocate(context, 1, sizeof *source + length);
    if (!source)
        return YK_ERROR_MEMORY;

    memcpy(source->path, path, length);
    source->base.ops = &source_ops;
    hdf5_loader *loader = &source->loader;
    *loader =
        (hdf5_loader){.context = context, .path = source->path, .to = yk_record_recorder(record)};
    yk_status status = yk_hdf5_input_open(context, path, &loader->input);
    if (status != YK_OK) {
        yk_free(context, source);
        return status;
    }

    bool complete = false;
    status = load_header(loader, &complete);
    if (status == YK_OK)
        status = find_time(loader, &source->time);

    if (status == YK_OK && complete) {
        /* The items of the summary take the place of those of the channels meanwhile. */
        hdf5_loader channels = *loader;
        loader->items = NULL;
        loader->count = loader->capacity = 0;
        status = end_record(loader);
        release_items(loader);
        loader->items = channels.items;
        loader->count = channels.count;
        loader->capacity = channels.capacity;
    }

    if (status != YK_OK) {
        source_destroy(&source->base);
        return status;
    }

    yk_record_close(record);
    yk_record_set_source(record, &source->base, (size_t)source->time.size[0]);
    return YK_OK;
}
