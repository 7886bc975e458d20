/* HDF5 writer: one extendible dataset per channel, a block of rows at a time, flushed after each
 * block. The layout is in yoke/record.h. Files have the oldest format version: it is readable
 * everywhere, and has no mark that would make a file unreadable when its writer was killed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "record/file.h"
#include "record/hdf5_access.h"
#include "record/hdf5_scene.h"

enum { CHUNK_ROWS = 1024, CHUNK_BYTES = 131072 };

/* A dataset and the columns of the block that belong to it. */
typedef struct hdf5_table {
    hid_t dataset;
    size_t first, columns;
} hdf5_table;

typedef struct hdf5_file {
    yk_record_file file;
    yk_hdf5_session session;
    hid_t id;
    hdf5_table *tables; /* time, then the channels; NULL: not yet made */
    int table_count;
    hsize_t rows;    /* in the file */
    double *scratch; /* a block's worth of the widest dataset */
    yk_hdf5_frames frames;
} hdf5_file;

static yk_status library_failed(hdf5_file *self)
{
    const char *reason = self->session.reason;
    return yk_fail(self->file.context, YK_ERROR_FILE, "cannot write '%s': %s", self->file.part,
                   *reason ? reason : "the HDF5 library gives no reason");
}

/* Space
 * --------------------------------------------------------------------------------------------------------
 *
 * HDF5 does not get over a full disk: what it cannot write it tries again when the file is closed
 * and at the exit of the program, where it crashes. So the space for all that the next call may
 * write is asked from the system first, and refused before HDF5 knows of it. Estimates are on the
 * safe side; what was not used goes back when the file is closed.
 */

static size_t chunk_rows(size_t columns)
{
    size_t rows = CHUNK_BYTES / (columns * sizeof(double));
    if (rows < 1)
        return 1;
    if (rows > CHUNK_ROWS)
        return CHUNK_ROWS;

    return rows;
}

enum { RESERVE_MIN = 1 << 20, RESERVE_MAX = 1 << 26 };
enum {
    OBJECT_BYTES = 8192
}; /* a group or dataset with its header, heap, index nodes and short attributes */

static size_t space_for_object(const char *name)
{
    size_t links = 1;
    for (const char *c = name; *c; c++)
        links += *c == '.';
    return (links + 1) * OBJECT_BYTES + 4 * strlen(name);
}

static int descriptor_of(const hdf5_file *self)
{
    void *descriptor = NULL;
    if (H5Fget_vfd_handle(self->id, H5P_DEFAULT, &descriptor) < 0)
        return -1;

    return *(int *)descriptor;
}

/* Gives back what lies behind the end of the data. */
static void trim(const hdf5_file *self)
{
    hsize_t size = 0;
    int failed =
        H5Fget_filesize(self->id, &size) < 0 || ftruncate(descriptor_of(self), (off_t)size) != 0;
    (void)failed; /* a longer file is no worse */
}

/* File systems that cannot reserve do not stop us. */
static int allocate(int descriptor, hsize_t start, hsize_t bytes)
{
    int error = posix_fallocate(descriptor, (off_t)start, (off_t)bytes);
    return error == EINVAL || error == EOPNOTSUPP ? 0 : error;
}

/* To ask the system costs more than to write a block; so more is taken than is needed now, if
 * there is more. */
static yk_status reserve(const hdf5_file *self, hsize_t bytes)
{
    hsize_t size = 0;
    struct stat there = {0};
    int descriptor = descriptor_of(self);
    H5Fget_filesize(self->id, &size);
    if (fstat(descriptor, &there) == 0 && (hsize_t)there.st_size >= size + bytes)
        return YK_OK;

    hsize_t ahead = size / 4;
    if (ahead < RESERVE_MIN)
        ahead = RESERVE_MIN;
    if (ahead > RESERVE_MAX)
        ahead = RESERVE_MAX;
    if (ahead > bytes && allocate(descriptor, size, ahead) == 0)
        return YK_OK;

    int error = allocate(descriptor, size, bytes);

    return error ? yk_file_fail(&self->file, error) : YK_OK;
}

/* The same for the header, before HDF5 has made the file. */
static yk_status reserve_for_header(const hdf5_file *self)
{
    const yk_record_header *header = self->file.header;
    size_t bytes = 4 * OBJECT_BYTES +
                   2 * (strlen(header->title) + strlen(header->command) + strlen(header->scenario));
    for (int i = 0; i < header->channel_count; i++) {
        const yk_record_channel *channel = &header->channels[i];
        bytes += space_for_object(channel->name) + 2 * strlen(channel->unit);
        for (int c = 0; c < channel->components; c++)
            bytes += 64 + 2 * strlen(channel->labels[c]);
    }

    if (header->scene)
        bytes += yk_hdf5_scene_bytes(header->scene);

    int descriptor = open(self->file.part, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return yk_file_fail(&self->file, errno);

    int error = allocate(descriptor, 0, bytes);
    close(descriptor);

    return error ? yk_file_fail(&self->file, error) : YK_OK;
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

/* Opens, or makes, the groups that `name` stands in, and leaves the name of its last link in
 * `link`. */
static hid_t open_groups(hid_t parent, const char *name, char *link)
{
    hid_t here = H5Gopen2(parent, ".", H5P_DEFAULT);
    const char *rest = next_link(name, link);
    while (here >= 0 && rest) {
        hid_t group;
        find_free_link(here, link, true);
        if (H5Lexists(here, link, H5P_DEFAULT) > 0)
            group = H5Gopen2(here, link, H5P_DEFAULT);
        else
            group = H5Gcreate2(here, link, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(here);
        here = group;
        rest = next_link(rest, link);
    }

    if (here >= 0)
        find_free_link(here, link, false);

    return here;
}

/* A dataset with what every dataset has: its full name, unit and index. */
static hid_t create_dataset(hid_t parent, const char *name, const char *unit, int index,
                            hid_t space, hid_t properties, yk_context *context)
{
    char *link = yk_allocate(context, strlen(name) + 32, 1);
    if (!link)
        return H5I_INVALID_HID;

    hid_t group = open_groups(parent, name, link);
    hid_t dataset =
        H5Dcreate2(group, link, H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    yk_release(context, link);
    if (group >= 0)
        H5Gclose(group);

    bool described = dataset >= 0 && yk_hdf5_write_text(dataset, "name", name) &&
                     yk_hdf5_write_text(dataset, "units", unit) &&
                     yk_hdf5_write_integer(dataset, "index", index);
    if (dataset < 0 || described)
        return dataset;

    H5Dclose(dataset);

    return H5I_INVALID_HID;
}

/* Beginning ------------------------------------------------------------------------------------ */

static hid_t create_table(hdf5_file *self, hid_t parent, const char *name, const char *unit,
                          int index, size_t columns)
{
    int rank = columns > 1 ? 2 : 1;
    const hsize_t now[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns};
    const hsize_t chunk[2] = {chunk_rows(columns), columns};
    hid_t space = H5Screate_simple(rank, now, most);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, rank, chunk);
    H5Pset_obj_track_times(properties,
                           0); /* without times of creation equal runs give equal files */

    hid_t dataset =
        create_dataset(parent, name, unit, index, space, properties, self->file.context);
    H5Pclose(properties);
    H5Sclose(space);

    return dataset;
}

/* The attributes of the file, and a dataset for the time and for each channel. */
static bool write_header(hdf5_file *self)
{
    const yk_record_header *header = self->file.header;
    char software[64];
    snprintf(software, sizeof software, "yoke %s", yk_version());
    bool done = yk_hdf5_write_text(self->id, "format", YK_HDF5_FORMAT) &&
                yk_hdf5_write_integer(self->id, "format_version", YK_HDF5_FORMAT_VERSION) &&
                yk_hdf5_write_text(self->id, "software", software) &&
                yk_hdf5_write_text(self->id, "title", header->title) &&
                yk_hdf5_write_text(self->id, "command", header->command) &&
                yk_hdf5_write_text(self->id, "scenario", header->scenario) &&
                yk_hdf5_write_integer(self->id, "complete", 0);
    if (!done)
        return false;

    /* Time is a dataset beside the channels. */
    hid_t channels = H5Gcreate2(self->id, "channels", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    self->tables[0] = (hdf5_table){create_table(self, self->id, "time", "s", 0, 1), 0, 1};
    self->table_count = 1;
    done = channels >= 0 && self->tables[0].dataset >= 0;
    size_t first = 1;
    for (int i = 0; i < header->channel_count && done; i++) {
        const yk_record_channel *channel = &header->channels[i];
        size_t columns = (size_t)channel->components;
        hid_t dataset = create_table(self, channels, channel->name, channel->unit, i, columns);
        self->tables[self->table_count++] = (hdf5_table){dataset, first, columns};
        first += columns;
        done = dataset >= 0 && yk_hdf5_write_texts(dataset, "labels", channel->labels, columns);
    }

    if (channels >= 0)
        H5Gclose(channels);
    if (done && header->scene)
        done = yk_hdf5_write_scene(self->file.context, self->id, header->scene) &&
               yk_hdf5_open_frames(self->file.context, self->id, header->scene, &self->frames);

    return done;
}

static yk_status open_file(hdf5_file *self)
{
    yk_record_file *file = &self->file;
    self->rows = 0;
    self->table_count = 0;
    self->id = H5I_INVALID_HID;
    self->frames = (yk_hdf5_frames){0};

    /* The scratch takes the block of the widest dataset. */
    size_t widest = 1;
    for (int i = 0; i < file->header->channel_count; i++) {
        size_t columns = (size_t)file->header->channels[i].components;
        if (columns > widest)
            widest = columns;
    }

    self->tables =
        yk_allocate(file->context, (size_t)file->header->channel_count + 1, sizeof *self->tables);
    self->scratch =
        yk_allocate(file->context, file->block.capacity, widest * sizeof *self->scratch);
    if (!self->tables || !self->scratch)
        return YK_ERROR_MEMORY;

    yk_status status = reserve_for_header(self);
    if (status != YK_OK)
        return status;

    /* The file itself, flushed at once so that readers find it sound. */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access,
                         H5F_CLOSE_STRONG); /* closing the file closes all that is open in it */
    H5Pset_cache(access, 0, 0, 0,
                 0); /* chunks go to the file at once; blocks are collected already */
    self->id = H5Fcreate(file->part, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (self->id < 0 || !write_header(self) || H5Fflush(self->id, H5F_SCOPE_LOCAL) < 0)
        return library_failed(self);

    return YK_OK;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* Appends the rows of the block to one dataset. */
static bool append(hdf5_file *self, const hdf5_table *table)
{
    const yk_block *block = &self->file.block;
    hsize_t rows = block->rows;
    const hsize_t size[2] = {self->rows + rows, table->columns};
    if (H5Dset_extent(table->dataset, size) < 0)
        return false;

    /* Its columns of the block, side by side. */
    const double *from = block->values + table->first;
    double *to = self->scratch;
    for (size_t i = 0; i < block->rows; i++) {
        memcpy(to, from, table->columns * sizeof *to);
        from += block->stride;
        to += table->columns;
    }

    const hsize_t there[2] = {self->rows, 0}, count[2] = {rows, table->columns};
    hid_t file_space = H5Dget_space(table->dataset),
          memory_space = H5Screate_simple(2, count, NULL);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, there, NULL, count, NULL);
    bool done = H5Dwrite(table->dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT,
                         self->scratch) >= 0;
    H5Sclose(memory_space);
    H5Sclose(file_space);

    return done;
}

static yk_status write_rows(hdf5_file *self)
{
    /* Space for the chunks that these rows begin. */
    size_t bytes = OBJECT_BYTES;
    for (int i = 0; i < self->table_count; i++) {
        size_t columns = self->tables[i].columns, rows = chunk_rows(columns);
        size_t before = (self->rows + rows - 1) / rows;
        size_t after = (self->rows + self->file.block.rows + rows - 1) / rows;
        bytes += (after - before) * (rows * columns * sizeof(double) + 128) + OBJECT_BYTES;
    }

    yk_status status = reserve(self, bytes);
    if (status != YK_OK)
        return status;

    for (int i = 0; i < self->table_count; i++)
        if (!append(self, &self->tables[i]))
            return library_failed(self);

    self->rows += self->file.block.rows;

    return H5Fflush(self->id, H5F_SCOPE_LOCAL) < 0 ? library_failed(self) : YK_OK;
}

static yk_status write_frames(hdf5_file *self)
{
    yk_status status = reserve(self, yk_hdf5_frames_bytes(&self->frames));
    if (status != YK_OK)
        return status;
    if (!yk_hdf5_write_frames(&self->frames) || H5Fflush(self->id, H5F_SCOPE_LOCAL) < 0)
        return library_failed(self);

    return YK_OK;
}

/* End ------------------------------------------------------------------------------------------ */

static bool write_value(hdf5_file *self, hid_t group, const yk_record_value *value, int index)
{
    hid_t space = H5Screate(H5S_SCALAR), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, 0);
    hid_t dataset = create_dataset(group, value->name, value->unit, index, space, properties,
                                   self->file.context);
    bool done =
        dataset >= 0 && yk_hdf5_write_text(dataset, "text", value->text) &&
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value->value) >= 0;
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);

    return done;
}

static yk_status finish_file(hdf5_file *self, const yk_record_summary *summary)
{
    size_t bytes = 4 * OBJECT_BYTES;
    for (int i = 0; i < summary->count; i++) {
        const yk_record_value *value = &summary->values[i];
        bytes += space_for_object(value->name) + 2 * (strlen(value->unit) + strlen(value->text));
    }

    yk_status status = write_frames(self);
    if (status == YK_OK)
        status = reserve(self, bytes);
    if (status != YK_OK)
        return status;

    /* The mark that it is complete comes last. */
    hid_t group = H5Gcreate2(self->id, "summary", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = group >= 0;
    for (int i = 0; i < summary->count && done; i++)
        done = write_value(self, group, &summary->values[i], i);
    if (group >= 0)
        H5Gclose(group);
    if (!done || !yk_hdf5_write_integer(self->id, "complete", 1) ||
        H5Fflush(self->id, H5F_SCOPE_LOCAL) < 0)
        return library_failed(self);

    trim(self);
    herr_t closed = H5Fclose(self->id);
    self->id = H5I_INVALID_HID;

    return closed < 0 ? library_failed(self) : YK_OK;
}

/* The format ----------------------------------------------------------------------------------- */

static yk_status hdf5_open(yk_record_file *file)
{
    hdf5_file *self = (hdf5_file *)file;
    yk_hdf5_enter(&self->session);
    yk_status status = open_file(self);
    yk_hdf5_leave(&self->session);
    return status;
}

static yk_status hdf5_write(yk_record_file *file)
{
    hdf5_file *self = (hdf5_file *)file;
    yk_hdf5_enter(&self->session);
    yk_status status = write_rows(self);
    yk_hdf5_leave(&self->session);
    return status;
}

static yk_status hdf5_frame(yk_record_file *file, double time, const float *values)
{
    hdf5_file *self = (hdf5_file *)file;
    yk_hdf5_add_frame(&self->frames, time, values);
    if (self->frames.waiting < self->frames.capacity)
        return YK_OK;

    yk_hdf5_enter(&self->session);
    yk_status status = write_frames(self);
    yk_hdf5_leave(&self->session);

    return status;
}

static yk_status hdf5_finish(yk_record_file *file, const yk_record_summary *summary)
{
    hdf5_file *self = (hdf5_file *)file;
    yk_hdf5_enter(&self->session);
    yk_status status = finish_file(self, summary);
    yk_hdf5_leave(&self->session);
    return status;
}

static void hdf5_close(yk_record_file *file)
{
    hdf5_file *self = (hdf5_file *)file;
    yk_hdf5_enter(&self->session);
    if (self->id >= 0) {
        yk_hdf5_write_frames(&self->frames);
        trim(self);
        H5Fclose(self->id);
    }

    yk_hdf5_leave(&self->session);
    yk_hdf5_close_frames(file->context, &self->frames);
    yk_release(file->context, self->scratch);
    yk_release(file->context, self->tables);
}

const yk_file_format yk_hdf5_format = {
    .ops = YK_FILE_OPS("hdf5"),
    .size = sizeof(hdf5_file),
    .open = hdf5_open,
    .write = hdf5_write,
    .frame = hdf5_frame,
    .finish = hdf5_finish,
    .close = hdf5_close,
};
