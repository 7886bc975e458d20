#include "record/hdf5_access.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { CHUNK_BYTES = 1 << 20, CHUNK_FRAMES = 64 };

static const char *const table_names[YK_FRAME_TABLE_COUNT] = {
    [YK_FRAME_POSITION] = "position", [YK_FRAME_ORIENTATION] = "orientation",
    [YK_FRAME_STRAIN] = "strain",     [YK_FRAME_WRENCH] = "wrench",
    [YK_FRAME_MONITOR] = "watch",     [YK_FRAME_CONTACT] = "contact",
};

/* What an entry of a table has: coordinates of a point, a quaternion, a number, three vectors. */
static const hsize_t table_columns[YK_FRAME_TABLE_COUNT] = {
    [YK_FRAME_POSITION] = 3, [YK_FRAME_ORIENTATION] = 4, [YK_FRAME_STRAIN] = 1,
    [YK_FRAME_WRENCH] = 9,   [YK_FRAME_MONITOR] = 1,     [YK_FRAME_CONTACT] = 9,
};

static hid_t create_group(hid_t parent, const char *name)
{
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

/* Columns --------------------------------------------------------------------------------------
 *
 * Bodies, shapes and links are lists of records here and a dataset per member in the file. A
 * member is found by its offset, in writing as in reading.
 */

typedef struct member {
    const char *name;
    enum { TEXT, INTEGER, FLAG, NUMBERS } type;
    size_t offset;
    int columns; /* doubles, of NUMBERS */
} member;

#define MEMBER(type, name, kind, columns)          \
    {                                              \
#name, kind, offsetof(type, name), columns \
    }

static const member body_members[] = {
    MEMBER(yk_record_body, name, TEXT, 1),        MEMBER(yk_record_body, subsystem, INTEGER, 1),
    MEMBER(yk_record_body, motion, INTEGER, 1),   MEMBER(yk_record_body, has_strain, FLAG, 1),
    MEMBER(yk_record_body, position, NUMBERS, 3), MEMBER(yk_record_body, orientation, NUMBERS, 4),
};

static const member shape_members[] = {
    MEMBER(yk_shape, name, TEXT, 1),           MEMBER(yk_shape, kind, INTEGER, 1),
    MEMBER(yk_shape, body, INTEGER, 1),        MEMBER(yk_shape, end_body, INTEGER, 1),
    MEMBER(yk_shape, position, NUMBERS, 3),    MEMBER(yk_shape, orientation, NUMBERS, 4),
    MEMBER(yk_shape, size, NUMBERS, 3),        MEMBER(yk_shape, open_walls, INTEGER, 1),
    MEMBER(yk_shape, point_count, INTEGER, 1),
};

static const member link_members[] = {
    MEMBER(yk_record_connection, name, TEXT, 1),
    MEMBER(yk_record_connection, kind, INTEGER, 1),
    MEMBER(yk_record_connection, from, INTEGER, 1),
    MEMBER(yk_record_connection, to, INTEGER, 1),
};

/* A list of the scene: its group, the size of a record, and its members. */
typedef struct list_layout {
    const char *group;
    size_t size;
    const member *members;
    int member_count;
} list_layout;

#define LAYOUT(group, type, members)                                   \
    {                                                                  \
        group, sizeof(type), members, sizeof members / sizeof *members \
    }

static const list_layout body_layout = LAYOUT("bodies", yk_record_body, body_members);
static const list_layout shape_layout = LAYOUT("shapes", yk_shape, shape_members);
static const list_layout link_layout = LAYOUT("links", yk_record_connection, link_members);

static size_t member_bytes(const member *m)
{
    switch (m->type) {
    case TEXT: return sizeof(char *);
    case NUMBERS: return (size_t)m->columns * sizeof(double);
    default: return sizeof(int);
    }
}

static hid_t member_memory_type(const member *m)
{
    if (m->type == TEXT)
        return yk_hdf5_text_type();

    return H5Tcopy(m->type == NUMBERS ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT);
}

static bool write_array(hid_t group, const char *name, hid_t file_type, hid_t memory_type,
                        hsize_t rows, hsize_t columns, const void *values)
{
    const hsize_t size[2] = {rows, columns};
    hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, size, NULL);

    /* Without times of creation equal runs give equal files. */
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, 0);
    hid_t dataset = H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, properties, H5P_DEFAULT);

    /* An empty list has its dataset, too, without anything to write. */
    bool done = dataset >= 0;
    if (done && rows > 0)
        done = H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);

    return done;
}

static bool write_list(yk_context *context, hid_t scene, const list_layout *layout,
                       const void *list, int count)
{
    hid_t group = create_group(scene, layout->group);
    bool done = group >= 0;
    for (int i = 0; i < layout->member_count && done; i++) {
        const member *m = &layout->members[i];
        size_t bytes = member_bytes(m);
        char *column = yk_allocate(context, (size_t)count + 1, bytes);
        if (!column) {
            done = false;
            break;
        }

        /* The member of all records side by side; flags are integers in the file. */
        for (int k = 0; k < count; k++) {
            const char *record = (const char *)list + (size_t)k * layout->size;
            char *to = column + (size_t)k * bytes;
            bool flag;
            if (m->type == FLAG) {
                memcpy(&flag, record + m->offset, sizeof flag);
                memcpy(to, &(int){flag}, sizeof(int));
            } else {
                memcpy(to, record + m->offset, bytes);
            }
        }

        /* Doubles are stored in one order of bytes, whatever machine writes them. */
        hid_t type = member_memory_type(m);
        hid_t stored = H5Tcopy(type);
        if (m->type == NUMBERS) {
            H5Tclose(stored);
            stored = H5Tcopy(H5T_IEEE_F64LE);
        }

        done =
            write_array(group, m->name, stored, type, (hsize_t)count, (hsize_t)m->columns, column);
        H5Tclose(stored);
        H5Tclose(type);
        yk_free(context, column);
    }

    if (group >= 0)
        H5Gclose(group);

    return done;
}

/* Writing -------------------------------------------------------------------------------------- */

bool yk_hdf5_write_scene(yk_context *context, hid_t file, const yk_record_scene *scene)
{
    hid_t group = create_group(file, "scene");
    if (group < 0)
        return false;

    /* Who takes part, and the lists. */
    size_t subsystems = (size_t)scene->subsystem_count;
    char up[96];
    yk_format(up, sizeof up, "%.9g %.9g %.9g", scene->up.x, scene->up.y, scene->up.z);

    bool done =
        yk_hdf5_write_texts(group, "subsystems", scene->subsystems, subsystems) &&
        yk_hdf5_write_texts(group, "solvers", scene->solvers, subsystems) &&
        yk_hdf5_write_integer(group, "subsystem_count", scene->subsystem_count) &&
        yk_hdf5_write_integer(group, "contact_count", scene->contact_count) &&
        yk_hdf5_write_integer(group, "watched", scene->monitor_version) &&
        yk_hdf5_write_text(group, "up", up) &&
        write_list(context, group, &body_layout, scene->bodies, scene->body_count) &&
        write_list(context, group, &shape_layout, scene->shapes, scene->shape_count) &&
        write_list(context, group, &link_layout, scene->connections, scene->connection_count);

    /* Points of all hulls, one after the other. */
    size_t count = 0;
    for (int i = 0; i < scene->shape_count; i++)
        count += (size_t)scene->shapes[i].point_count;
    yk_vec3 *points = yk_allocate(context, count + 1, sizeof *points);
    if (points) {
        yk_vec3 *to = points;
        for (int i = 0; i < scene->shape_count; i++) {
            const yk_shape *shape = &scene->shapes[i];
            for (int k = 0; k < shape->point_count; k++)
                *to++ = shape->points[k];
        }

        done = done &&
               write_array(group, "points", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, 3, points);
    }

    done = done && points;
    yk_free(context, points);
    H5Gclose(group);

    return done;
}

static hid_t create_table(hid_t group, const char *name, hid_t type, int rank, const hsize_t *now,
                          const hsize_t *chunk, const char *unit)
{
    /* Frames come while the run goes on: their number has no end. */
    hsize_t most[3] = {H5S_UNLIMITED, now[1], now[2]};
    hid_t space = H5Screate_simple(rank, now, most);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, rank, chunk);
    H5Pset_obj_track_times(properties, 0);

    yk_hdf5_compress(properties);

    hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);

    /* Numbers that do not say their unit would not be understood: then there is no table. */
    if (dataset >= 0 && !yk_hdf5_write_text(dataset, "units", unit)) {
        H5Dclose(dataset);
        return H5I_INVALID_HID;
    }

    return dataset;
}

bool yk_hdf5_open_frames(yk_context *context, hid_t file, const yk_record_scene *scene,
                         yk_hdf5_frames *frames)
{
    static const char *const units[YK_FRAME_TABLE_COUNT] = {
        [YK_FRAME_POSITION] = "m",
        [YK_FRAME_ORIENTATION] = "1",
        [YK_FRAME_STRAIN] = "1",
        [YK_FRAME_WRENCH] = "m, N, N m",
        [YK_FRAME_MONITOR] = "J, m/s, 1, m, rad, rad/s",
        [YK_FRAME_CONTACT] = "m, 1, N",
    };

    *frames = (yk_hdf5_frames){.time = H5I_INVALID_HID};

    /* A chunk holds as many frames as the largest table has place for. */
    size_t widest = 1;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++) {
        frames->table[i] = H5I_INVALID_HID;
        frames->size[i] = yk_scene_table_value_count(scene, (yk_frame_table)i);
        frames->frame_size += frames->size[i];
        if (frames->size[i] > widest)
            widest = frames->size[i];
    }

    size_t capacity = CHUNK_BYTES / (widest * sizeof(float));
    if (capacity < 1)
        capacity = 1;
    if (capacity > CHUNK_FRAMES)
        capacity = CHUNK_FRAMES;

    /* Memory for a chunk of frames as they come, and for one table of them. */
    frames->times = yk_allocate(context, capacity, sizeof *frames->times);
    frames->values =
        yk_allocate(context, capacity * frames->frame_size + 1, sizeof *frames->values);
    frames->scratch = yk_allocate(context, capacity * widest, sizeof *frames->scratch);
    if (!frames->times || !frames->values || !frames->scratch)
        return false;

    frames->capacity = capacity;
    hid_t group = create_group(file, "frames");
    if (group < 0)
        return false;

    /* Times, and the tables that the scene has something for. */
    hid_t tables[YK_FRAME_TABLE_COUNT];
    size_t table_count = 0;
    const hsize_t none[3] = {0, 1, 1}, times[3] = {1024, 1, 1};
    frames->time = create_table(group, "time", H5T_IEEE_F64LE, 1, none, times, "s");
    bool done = frames->time >= 0;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT && done; i++) {
        if (frames->size[i] == 0)
            continue;

        hsize_t entries = frames->size[i] / table_columns[i];
        const hsize_t now[3] = {0, entries, table_columns[i]};
        const hsize_t chunk[3] = {capacity, entries, table_columns[i]};
        frames->table[i] =
            create_table(group, table_names[i], H5T_IEEE_F32LE, 3, now, chunk, units[i]);
        done = frames->table[i] >= 0;
        tables[table_count++] = frames->table[i];
    }

    /* Readers that know dimension scales find the time of every row. */
    done = done && yk_hdf5_set_scale(context, frames->time, "time", tables, table_count);
    H5Gclose(group);

    return done;
}

void yk_hdf5_add_frame(yk_hdf5_frames *frames, double time, const float *values)
{
    frames->times[frames->waiting] = time;
    memcpy(frames->values + frames->waiting * frames->frame_size, values,
           frames->frame_size * sizeof *values);
    frames->waiting++;
}

bool yk_hdf5_write_frames(yk_hdf5_frames *frames)
{
    hsize_t rows = frames->waiting;
    if (rows == 0)
        return true;

    /* Also where writing fails they are not tried again. */
    frames->waiting = 0;

    /* Frames come with their tables one after the other; a dataset takes one table of all. */
    const float *first = frames->values;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++) {
        size_t size = frames->size[i];
        if (size == 0)
            continue;

        for (hsize_t k = 0; k < rows; k++)
            memcpy(frames->scratch + k * size, first + k * frames->frame_size,
                   size * sizeof *first);
        first += size;

        const hsize_t row[2] = {size / table_columns[i], table_columns[i]};
        if (!yk_hdf5_append(frames->table[i], 3, H5T_NATIVE_FLOAT, frames->written, rows, row,
                            frames->scratch))
            return false;
    }

    /* The times last: who finds one finds all that belongs to it. */
    const hsize_t row[2] = {1, 1};
    if (!yk_hdf5_append(frames->time, 1, H5T_NATIVE_DOUBLE, frames->written, rows, row,
                        frames->times))
        return false;

    frames->written += rows;

    return true;
}

void yk_hdf5_close_frames(yk_context *context, yk_hdf5_frames *frames)
{
    yk_free(context, frames->times);
    yk_free(context, frames->values);
    yk_free(context, frames->scratch);
    *frames = (yk_hdf5_frames){0};
}

/* Reading --------------------------------------------------------------------------------------
 *
 * Nothing in the file is trusted: sizes are compared before anything is read, and the recorder
 * checks the indices.
 */

typedef struct scene_store {
    yk_record_scene scene; /* first: what is returned is the store */
    char **subsystems, **solvers;
    yk_vec3 *points;
    char **blocks[3]; /* names of bodies, shapes and links */
} scene_store;

/* The number of rows of a dataset that has so many columns; -1 where it has not. */
static hssize_t count_rows(hid_t dataset, hsize_t columns)
{
    /* Dimensions that a dataset does not have count as 1. */
    hsize_t size[3] = {0, 1, 1};
    hid_t space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_ndims(space);

    /* A damaged file may have any rank; three is the most that is written. */
    if (rank >= 1 && rank <= 3)
        H5Sget_simple_extent_dims(space, size, NULL);
    if (space >= 0)
        H5Sclose(space);
    if (rank < 1 || rank > 3 || size[1] * size[2] != columns || size[0] > INT_MAX)
        return -1;

    return (hssize_t)size[0];
}

/* All texts of a dataset in one block of memory; NULL when it cannot be had. */
static char **read_names(yk_context *context, hid_t dataset, hid_t type, size_t count)
{
    char **texts = yk_allocate(context, count + 1, sizeof *texts);
    hid_t stored = H5Dget_type(dataset);
    bool variable = H5Tis_variable_str(stored) > 0;
    H5Tclose(stored);

    /* Only texts of variable length can be read as pointers. */
    if (!texts || !variable || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) < 0) {
        yk_free(context, texts);
        return NULL;
    }

    /* The library's own copies go back to it. */
    char **packed = yk_hdf5_pack_texts(context, texts, count);
    hid_t space = H5Dget_space(dataset);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    H5Sclose(space);
    yk_free(context, texts);
    return packed;
}

/* The records of a list, whose names are in *names. NULL where it cannot be read. */
static void *read_list(yk_context *context, hid_t scene, const list_layout *layout, int *count,
                       char ***names)
{
    hid_t group = H5Gopen2(scene, layout->group, H5P_DEFAULT);
    if (group < 0)
        return NULL;

    char *list = NULL;
    hssize_t rows = -1;
    bool sound = true;
    for (int i = 0; i < layout->member_count && sound; i++) {
        const member *m = &layout->members[i];
        hid_t dataset = H5Dopen2(group, m->name, H5P_DEFAULT);
        sound = false;
        if (dataset < 0)
            break;

        /* All members have as many rows as the first, which is the name. */
        hssize_t found = count_rows(dataset, (hsize_t)m->columns);
        if (i == 0 && found >= 0) {
            rows = found;
            list = yk_allocate(context, (size_t)rows + 1, layout->size);
        }

        /* Texts become pointers into one block, numbers have a column of their own. */
        hid_t type = member_memory_type(m);
        size_t bytes = member_bytes(m);
        char *column = NULL;
        if (list && found == rows && found >= 0) {
            if (m->type == TEXT) {
                *names = read_names(context, dataset, type, (size_t)rows);
                sound = *names != NULL;
            } else {
                column = yk_allocate(context, (size_t)rows + 1, bytes);
                sound =
                    column && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, column) >= 0;
            }
        }

        /* From the column into the records. */
        for (hssize_t k = 0; sound && k < rows; k++) {
            char *to = list + (size_t)k * layout->size + m->offset;
            int number;

            if (m->type == TEXT) {
                memcpy(to, &(*names)[k], bytes);
            } else if (m->type == FLAG) {
                memcpy(&number, column + (size_t)k * bytes, sizeof number);
                memcpy(to, &(bool){number != 0}, sizeof(bool));
            } else {
                memcpy(to, column + (size_t)k * bytes, bytes);
            }
        }

        yk_free(context, column);
        H5Tclose(type);
        H5Dclose(dataset);
    }

    /* Half a list is none. */
    H5Gclose(group);
    if (!sound) {
        yk_free(context, list);
        return NULL;
    }

    *count = (int)rows;
    return list;
}

void yk_hdf5_release_scene(yk_context *context, yk_record_scene *scene)
{
    scene_store *store = (scene_store *)scene;
    if (!store)
        return;

    /* A scene points to constants; whoever made it may release them. */
    const void *lists[] = {scene->bodies, scene->shapes, scene->connections};
    for (int i = 0; i < 3; i++) {
        yk_free(context, (void *)(uintptr_t)lists[i]);
        yk_free(context, store->blocks[i]);
    }

    yk_free(context, store->subsystems);
    yk_free(context, store->solvers);
    yk_free(context, store->points);
    yk_free(context, store);
}

static bool fill_scene(yk_context *context, hid_t group, scene_store *store)
{
    /* Who took part. */
    yk_record_scene *scene = &store->scene;
    int subsystems;
    if (!yk_hdf5_read_integer(group, "subsystem_count", &subsystems) || subsystems < 0)
        return false;

    store->subsystems = yk_hdf5_read_texts(context, group, "subsystems", (size_t)subsystems);
    store->solvers = yk_hdf5_read_texts(context, group, "solvers", (size_t)subsystems);
    if (!store->subsystems || !store->solvers)
        return false;

    scene->subsystem_count = subsystems;
    scene->subsystems = (const char *const *)store->subsystems;
    scene->solvers = (const char *const *)store->solvers;

    /* Records from before there were contacts, or figures of the watch, in frames have none. */
    if (!yk_hdf5_read_integer(group, "contact_count", &scene->contact_count))
        scene->contact_count = 0;
    if (!yk_hdf5_read_integer(group, "watched", &scene->monitor_version))
        scene->monitor_version = 0;

    /* Three numbers as text; z where they are not there. */
    scene->up = (yk_vec3){0, 0, 1};
    char *up = yk_hdf5_read_text(context, group, "up");
    if (up) {
        char *end = up;
        scene->up.x = yk_text_number(end, &end);
        scene->up.y = yk_text_number(end, &end);
        scene->up.z = yk_text_number(end, &end);
    }
    yk_free(context, up);

    /* Lists of bodies, shapes and links, with the memory of their names. */
    scene->bodies = read_list(context, group, &body_layout, &scene->body_count, &store->blocks[0]);
    yk_shape *shapes =
        read_list(context, group, &shape_layout, &scene->shape_count, &store->blocks[1]);
    scene->shapes = shapes;
    scene->connections =
        read_list(context, group, &link_layout, &scene->connection_count, &store->blocks[2]);
    if (!scene->bodies || !shapes || !scene->connections)
        return false;

    /* The points of all hulls, each of which takes as many as it counts. */
    hid_t dataset = H5Dopen2(group, "points", H5P_DEFAULT);
    if (dataset < 0)
        return false;

    hssize_t count = count_rows(dataset, 3);
    bool sound = count >= 0;
    if (sound)
        store->points = yk_allocate(context, (size_t)count + 1, sizeof *store->points);
    sound = sound && store->points &&
            H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, store->points) >= 0;
    H5Dclose(dataset);

    /* More than there are would reach beyond the memory. */
    hssize_t used = 0;
    for (int i = 0; i < scene->shape_count && sound; i++) {
        sound = shapes[i].point_count >= 0 && shapes[i].point_count <= count - used;
        shapes[i].points = sound ? store->points + used : NULL;
        used += shapes[i].point_count;
    }

    return sound;
}

yk_status yk_hdf5_read_scene(yk_context *context, hid_t file, yk_record_scene **scene)
{
    *scene = NULL;

    /* A run need not have a scene. */
    if (H5Lexists(file, "scene", H5P_DEFAULT) <= 0)
        return YK_OK;

    hid_t group = H5Gopen2(file, "scene", H5P_DEFAULT);
    scene_store *store = yk_allocate(context, 1, sizeof *store);
    bool sound = group >= 0 && store && fill_scene(context, group, store);
    if (group >= 0)
        H5Gclose(group);
    if (sound) {
        *scene = &store->scene;
        return YK_OK;
    }

    /* Half a scene is none. */
    yk_status status = store ? YK_ERROR_INPUT : YK_ERROR_MEMORY;
    yk_hdf5_release_scene(context, &store->scene);

    return status;
}

/* Rows `from` to `from + rows` of a table. */
static bool read_rows(hid_t dataset, int rank, hid_t type, hsize_t from, hsize_t rows,
                      const hsize_t *row, void *values)
{
    const hsize_t there[3] = {from, 0, 0}, count[3] = {rows, row[0], row[1]};
    hid_t file_space = H5Dget_space(dataset);

    /* A damaged file may have another rank, for which `there` and `count` are too short. */
    bool done = H5Sget_simple_extent_ndims(file_space) == rank;
    if (done) {
        hid_t memory_space = H5Screate_simple(rank, count, NULL);
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, there, NULL, count, NULL);
        done = H5Dread(dataset, type, memory_space, file_space, H5P_DEFAULT, values) >= 0;
        H5Sclose(memory_space);
    }

    H5Sclose(file_space);

    return done;
}

yk_status yk_hdf5_read_frames(yk_context *context, hid_t file, const yk_record_scene *scene,
                              yk_recorder *recorder)
{
    /* Nor need a scene have frames. */
    if (H5Lexists(file, "frames", H5P_DEFAULT) <= 0)
        return YK_OK;

    /* Every table that the scene asks for, with a row for each time. */
    hid_t group = H5Gopen2(file, "frames", H5P_DEFAULT);
    hid_t time = group < 0 ? group : H5Dopen2(group, "time", H5P_DEFAULT);
    hid_t tables[YK_FRAME_TABLE_COUNT];
    hssize_t rows = time < 0 ? -1 : count_rows(time, 1);
    bool sound = rows >= 0;
    size_t size = yk_scene_frame_value_count(scene);
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++) {
        size_t columns = yk_scene_table_value_count(scene, (yk_frame_table)i);
        tables[i] = H5I_INVALID_HID;
        if (columns == 0 || !sound)
            continue;

        tables[i] = H5Dopen2(group, table_names[i], H5P_DEFAULT);
        sound = tables[i] >= 0 && count_rows(tables[i], columns) >= rows;
    }

    /* Frame by frame: a chunk stays in the cache of the library until it is used up. */
    float *values = yk_allocate(context, size + 1, sizeof *values);
    yk_status status = values ? YK_OK : YK_ERROR_MEMORY;
    if (!sound)
        status = YK_ERROR_INPUT;

    for (hssize_t k = 0; k < rows && status == YK_OK; k++) {
        double now;
        const hsize_t one[2] = {1, 1};
        bool done = read_rows(time, 1, H5T_NATIVE_DOUBLE, (hsize_t)k, 1, one, &now);
        float *to = values;
        for (int i = 0; i < YK_FRAME_TABLE_COUNT && done; i++) {
            size_t columns = yk_scene_table_value_count(scene, (yk_frame_table)i);
            if (columns == 0)
                continue;

            const hsize_t row[2] = {columns / table_columns[i], table_columns[i]};
            done = read_rows(tables[i], 3, H5T_NATIVE_FLOAT, (hsize_t)k, 1, row, to);
            to += columns;
        }

        status = done ? yk_recorder_frame(recorder, now, values) : YK_ERROR_INPUT;
    }

    yk_free(context, values);
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++)
        if (tables[i] >= 0)
            H5Dclose(tables[i]);
    if (time >= 0)
        H5Dclose(time);
    if (group >= 0)
        H5Gclose(group);

    return status;
}
