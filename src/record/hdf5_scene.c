#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "record/hdf5.h"

/* Number of frames written at once, and the memory for the widest table of them. */
enum { BLOCK_BYTES = 1 << 20, BLOCK_FRAMES_MAX = 64 };

static const char *const table_names[YK_FRAME_TABLE_COUNT] = {
    [YK_FRAME_POSITION] = "position", [YK_FRAME_ORIENTATION] = "orientation",
    [YK_FRAME_STRAIN] = "strain",     [YK_FRAME_WRENCH] = "wrench",
    [YK_FRAME_MONITOR] = "monitor",   [YK_FRAME_CONTACT] = "contact",
};

static const char *const table_units[YK_FRAME_TABLE_COUNT] = {
    [YK_FRAME_POSITION] = "m",
    [YK_FRAME_ORIENTATION] = "1",
    [YK_FRAME_STRAIN] = "1",
    [YK_FRAME_WRENCH] = "m, N, N m",
    [YK_FRAME_MONITOR] = "J, m/s, 1, m, rad, rad/s",
    [YK_FRAME_CONTACT] = "m, 1, N",
};

/* Values of an entry of a table: a point, a quaternion, a number, three vectors. */
static const uint64_t table_columns[YK_FRAME_TABLE_COUNT] = {
    [YK_FRAME_POSITION] = 3, [YK_FRAME_ORIENTATION] = 4, [YK_FRAME_STRAIN] = 1,
    [YK_FRAME_WRENCH] = 9,   [YK_FRAME_MONITOR] = 1,     [YK_FRAME_CONTACT] = 9,
};

/* Lists ------------------------------------------------------------------------------------------
 *
 * Subsystems, bodies, shapes and connections are lists of records in memory and one dataset per
 * member in the file. */

typedef enum member_type { MEMBER_TEXT, MEMBER_INTEGER, MEMBER_FLAG, MEMBER_NUMBERS } member_type;

typedef struct member {
    const char *name;
    member_type type;
    size_t offset;
    int columns; /* doubles of MEMBER_NUMBERS */
} member;

#define MEMBER(type, name, kind, columns)                   \
    {                                                       \
#name, MEMBER_##kind, offsetof(type, name), columns \
    }

typedef struct subsystem_record {
    const char *name, *solver;
} subsystem_record;

static const member subsystem_members[] = {
    MEMBER(subsystem_record, name, TEXT, 1),
    MEMBER(subsystem_record, solver, TEXT, 1),
};

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

static const member connection_members[] = {
    MEMBER(yk_record_connection, name, TEXT, 1),
    MEMBER(yk_record_connection, kind, INTEGER, 1),
    MEMBER(yk_record_connection, from, INTEGER, 1),
    MEMBER(yk_record_connection, to, INTEGER, 1),
};

/* A list of the scene: its group, the size of a record, and its members, of which the first is a text. */
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

typedef enum scene_list {
    LIST_SUBSYSTEMS,
    LIST_BODIES,
    LIST_SHAPES,
    LIST_CONNECTIONS,
    LIST_COUNT
} scene_list;

static const list_layout layouts[LIST_COUNT] = {
    [LIST_SUBSYSTEMS] = LAYOUT("subsystems", subsystem_record, subsystem_members),
    [LIST_BODIES] = LAYOUT("bodies", yk_record_body, body_members),
    [LIST_SHAPES] = LAYOUT("shapes", yk_shape, shape_members),
    [LIST_CONNECTIONS] = LAYOUT("connections", yk_record_connection, connection_members),
};

enum { LIST_TEXTS_MAX = 2 };

static size_t member_bytes(const member *m)
{
    switch (m->type) {
    case MEMBER_TEXT: return sizeof(char *);
    case MEMBER_NUMBERS: return (size_t)m->columns * sizeof(double);
    default: return sizeof(int);
    }
}

/* Writing -------------------------------------------------------------------------------------- */

/* One member of all records of a list, side by side. */
static void *gather(yk_context *context, const list_layout *layout, const member *m,
                    const void *list, size_t count)
{
    size_t bytes = member_bytes(m);
    char *column = yk_allocate(context, count + 1, bytes);
    for (size_t k = 0; column && k < count; k++) {
        const char *from = (const char *)list + k * layout->size + m->offset;
        char *to = column + k * bytes;
        if (m->type == MEMBER_FLAG) {
            bool flag;
            memcpy(&flag, from, sizeof flag);
            memcpy(to, &(int){flag}, sizeof(int));
        } else {
            memcpy(to, from, bytes);
        }
    }

    return column;
}

static void write_list(yk_context *context, yk_hdf5_output *output, yk_hdf5_object *scene,
                       scene_list which, const void *list, int count)
{
    const list_layout *layout = &layouts[which];
    yk_hdf5_object *group = yk_hdf5_add_group(output, scene, layout->group);
    for (int i = 0; group && i < layout->member_count; i++) {
        const member *m = &layout->members[i];
        void *column = gather(context, layout, m, list, (size_t)count);
        if (!column) {
            yk_hdf5_fail(output);
            return;
        }

        if (m->type == MEMBER_TEXT) {
            yk_hdf5_add_texts(output, group, m->name, column, (size_t)count);
        } else {
            const uint64_t size[] = {(uint64_t)count, (uint64_t)m->columns};
            yk_hdf5_type type = m->type == MEMBER_NUMBERS ? YK_HDF5_FLOAT64 : YK_HDF5_INT32;
            const yk_hdf5_object *dataset =
                yk_hdf5_add_dataset(output, group, m->name, type, m->columns > 1 ? 2 : 1, size);
            yk_hdf5_write(output, dataset, 0, (size_t)count * (size_t)m->columns, column);
        }

        yk_free(context, column);
    }
}

static void write_subsystems(yk_context *context, yk_hdf5_output *output, yk_hdf5_object *group,
                             const yk_record_scene *scene)
{
    subsystem_record *list = yk_allocate(context, (size_t)scene->subsystem_count + 1, sizeof *list);
    if (!list) {
        yk_hdf5_fail(output);
        return;
    }

    for (int i = 0; i < scene->subsystem_count; i++)
        list[i] = (subsystem_record){scene->subsystems[i], scene->solvers[i]};
    write_list(context, output, group, LIST_SUBSYSTEMS, list, scene->subsystem_count);
    yk_free(context, list);
}

void yk_hdf5_write_scene(yk_context *context, yk_hdf5_output *output, const yk_record_scene *scene)
{
    yk_hdf5_object *group = yk_hdf5_add_group(output, yk_hdf5_root(output), "scene");
    if (!group)
        return;

    yk_hdf5_set_integer(output, group, "contact_count", scene->contact_count);
    yk_hdf5_set_integer(output, group, "monitor_version", scene->monitor_version);
    const double up[] = {scene->up.x, scene->up.y, scene->up.z};
    yk_hdf5_set_numbers(output, group, "up", YK_HDF5_FLOAT64, 3, up);
    write_subsystems(context, output, group, scene);
    write_list(context, output, group, LIST_BODIES, scene->bodies, scene->body_count);
    write_list(context, output, group, LIST_SHAPES, scene->shapes, scene->shape_count);
    write_list(context, output, group, LIST_CONNECTIONS, scene->connections,
               scene->connection_count);

    /* The points of all shapes, one shape after the other. */
    uint64_t size[] = {0, 3};
    for (int i = 0; i < scene->shape_count; i++)
        size[0] += (uint64_t)scene->shapes[i].point_count;
    const yk_hdf5_object *points =
        yk_hdf5_add_dataset(output, group, "points", YK_HDF5_FLOAT64, 2, size);
    uint64_t first = 0;
    for (int i = 0; i < scene->shape_count; i++) {
        size_t values = 3 * (size_t)scene->shapes[i].point_count;
        if (values > 0)
            yk_hdf5_write(output, points, first, values, scene->shapes[i].points);
        first += values;
    }
}

yk_status yk_hdf5_open_frames(yk_context *context, yk_hdf5_output *output,
                              const yk_record_scene *scene, size_t count, yk_hdf5_frames *frames)
{
    *frames = (yk_hdf5_frames){.count = count};
    size_t widest = 1;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++) {
        frames->size[i] = yk_scene_table_value_count(scene, (yk_frame_table)i);
        frames->frame_size += frames->size[i];
        if (frames->size[i] > widest)
            widest = frames->size[i];
    }

    frames->capacity = BLOCK_BYTES / (widest * sizeof(float));
    if (frames->capacity < 1)
        frames->capacity = 1;
    if (frames->capacity > BLOCK_FRAMES_MAX)
        frames->capacity = BLOCK_FRAMES_MAX;
    frames->times = yk_allocate(context, frames->capacity, sizeof *frames->times);
    frames->values =
        yk_allocate(context, frames->capacity * frames->frame_size + 1, sizeof *frames->values);
    frames->scratch = yk_allocate(context, frames->capacity * widest, sizeof *frames->scratch);
    if (!frames->times || !frames->values || !frames->scratch)
        return YK_ERROR_MEMORY;

    yk_hdf5_object *group = yk_hdf5_add_group(output, yk_hdf5_root(output), "frames");
    frames->time =
        yk_hdf5_add_dataset(output, group, "time", YK_HDF5_FLOAT64, 1, &(uint64_t){count});
    yk_hdf5_set_text(output, frames->time, "units", "s");

    yk_hdf5_object *scaled[YK_FRAME_TABLE_COUNT];
    size_t scaled_count = 0;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++) {
        if (frames->size[i] == 0)
            continue;

        const uint64_t size[] = {count, frames->size[i] / table_columns[i], table_columns[i]};
        frames->table[i] =
            yk_hdf5_add_dataset(output, group, table_names[i], YK_HDF5_FLOAT32, 3, size);
        if (!frames->table[i])
            return yk_hdf5_output_status(output);
        yk_hdf5_set_text(output, frames->table[i], "units", table_units[i]);
        scaled[scaled_count++] = frames->table[i];
    }

    yk_hdf5_set_scale(output, frames->time, "time", scaled, scaled_count);
    return YK_OK;
}

void yk_hdf5_add_frame(yk_hdf5_output *output, yk_hdf5_frames *frames, double time,
                       const float *values)
{
    frames->times[frames->waiting] = time;
    memcpy(frames->values + frames->waiting * frames->frame_size, values,
           frames->frame_size * sizeof *values);
    if (++frames->waiting == frames->capacity)
        yk_hdf5_write_frames(output, frames);
}

void yk_hdf5_write_frames(yk_hdf5_output *output, yk_hdf5_frames *frames)
{
    size_t count = frames->waiting;
    if (count == 0)
        return;

    /* A frame contains its tables one after another; a dataset contains one table of all frames. */
    const float *first = frames->values;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++) {
        size_t size = frames->size[i];
        if (size == 0)
            continue;

        for (size_t k = 0; k < count; k++)
            memcpy(frames->scratch + k * size, first + k * frames->frame_size,
                   size * sizeof *first);
        yk_hdf5_write(output, frames->table[i], frames->written * size, count * size,
                      frames->scratch);
        first += size;
    }

    yk_hdf5_write(output, frames->time, frames->written, count, frames->times);
    frames->written += count;
    frames->waiting = 0;
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
 * The datasets of a list must have the same number of rows; the recorder checks all indices. */

typedef struct list_memory {
    void *records;
    int count;
    char **texts[LIST_TEXTS_MAX];
} list_memory;

typedef struct scene_store {
    yk_record_scene scene; /* first: the store is what is returned */
    list_memory lists[LIST_COUNT];
    const char **names, **solvers; /* of subsystems */
    yk_vec3 *points;
} scene_store;

/* Sets a member of all records from a column. */
static void scatter(const list_layout *layout, const member *m, const void *column,
                    list_memory *list)
{
    size_t bytes = member_bytes(m);
    for (size_t k = 0; k < (size_t)list->count; k++) {
        const char *from = (const char *)column + k * bytes;
        char *to = (char *)list->records + k * layout->size + m->offset;
        if (m->type == MEMBER_FLAG) {
            int number;
            memcpy(&number, from, sizeof number);
            memcpy(to, &(bool){number != 0}, sizeof(bool));
        } else {
            memcpy(to, from, bytes);
        }
    }
}

static yk_status read_member(yk_context *context, yk_hdf5_input *input, const list_layout *layout,
                             const member *m, const yk_hdf5_entry *dataset, list_memory *list)
{
    if (m->type == MEMBER_TEXT) {
        int slot = list->texts[0] ? 1 : 0;
        list->texts[slot] = yk_hdf5_read_texts(input, dataset);
        if (!list->texts[slot])
            return yk_hdf5_status(input);

        scatter(layout, m, list->texts[slot], list);
        return YK_OK;
    }

    bool numbers = m->type == MEMBER_NUMBERS;
    void *column = yk_allocate(context, (size_t)list->count + 1, member_bytes(m));
    if (!column)
        return YK_ERROR_MEMORY;

    if (yk_hdf5_read(input, dataset, numbers ? YK_HDF5_FLOAT64 : YK_HDF5_INT32, 0,
                     (size_t)list->count * (size_t)m->columns, column))
        scatter(layout, m, column, list);
    yk_free(context, column);
    return yk_hdf5_status(input);
}

static yk_status read_list(yk_context *context, yk_hdf5_input *input, const yk_hdf5_entry *scene,
                           scene_list which, list_memory *list)
{
    const list_layout *layout = &layouts[which];
    yk_hdf5_entry group;
    if (!yk_hdf5_find(input, scene, layout->group, &group))
        return yk_hdf5_damaged(input, "a list of the scene is missing");

    yk_status status = YK_OK;
    for (int i = 0; i < layout->member_count && status == YK_OK; i++) {
        const member *m = &layout->members[i];
        yk_hdf5_entry dataset;
        if (!yk_hdf5_find(input, &group, m->name, &dataset)) {
            status = yk_hdf5_damaged(input, "a member of a list of the scene is missing");
            break;
        }

        uint64_t values = yk_hdf5_value_count(&dataset);
        if (i == 0 && values <= INT_MAX) {
            list->count = (int)values;
            list->records = yk_allocate(context, (size_t)values + 1, layout->size);
            status = list->records ? YK_OK : YK_ERROR_MEMORY;
        }

        if (status == YK_OK &&
            (!list->records || values != (uint64_t)list->count * (uint64_t)m->columns))
            status = yk_hdf5_damaged(input, "the members of a list of the scene differ in length");
        if (status == YK_OK)
            status = read_member(context, input, layout, m, &dataset, list);
        yk_hdf5_release(input, &dataset);
    }

    yk_hdf5_release(input, &group);
    return status;
}

void yk_hdf5_release_scene(yk_context *context, yk_record_scene *scene)
{
    scene_store *store = (scene_store *)scene;
    if (!store)
        return;

    for (int i = 0; i < LIST_COUNT; i++) {
        yk_free(context, store->lists[i].records);
        for (int k = 0; k < LIST_TEXTS_MAX; k++)
            yk_free(context, store->lists[i].texts[k]);
    }

    yk_free(context, store->names);
    yk_free(context, store->solvers);
    yk_free(context, store->points);
    yk_free(context, store);
}

/* Reads the points of all shapes, as many for each as its count. */
static yk_status read_points(yk_context *context, yk_hdf5_input *input, const yk_hdf5_entry *scene,
                             scene_store *store)
{
    yk_hdf5_entry dataset;
    if (!yk_hdf5_find(input, scene, "points", &dataset))
        return yk_hdf5_damaged(input, "the points of the scene are missing");

    size_t values = (size_t)yk_hdf5_value_count(&dataset);
    store->points = yk_allocate(context, values / 3 + 1, sizeof *store->points);
    yk_status status = store->points ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK &&
        !yk_hdf5_read(input, &dataset, YK_HDF5_FLOAT64, 0, values / 3 * 3, store->points))
        status = yk_hdf5_status(input);
    yk_hdf5_release(input, &dataset);

    yk_shape *shapes = store->lists[LIST_SHAPES].records;
    size_t left = values / 3;
    const yk_vec3 *next = store->points;
    for (int i = 0; i < store->lists[LIST_SHAPES].count && status == YK_OK; i++) {
        if (shapes[i].point_count < 0 || (size_t)shapes[i].point_count > left)
            return yk_hdf5_damaged(input, "a shape has more points than there are");
        shapes[i].points = next;
        next += shapes[i].point_count;
        left -= (size_t)shapes[i].point_count;
    }

    return status;
}

static yk_status fill_scene(yk_context *context, yk_hdf5_input *input, const yk_hdf5_entry *group,
                            scene_store *store)
{
    yk_record_scene *scene = &store->scene;
    double up[3];
    if (!yk_hdf5_get_integer(input, group, "contact_count", &scene->contact_count) ||
        !yk_hdf5_get_integer(input, group, "monitor_version", &scene->monitor_version) ||
        !yk_hdf5_get_doubles(input, group, "up", 3, up))
        return yk_hdf5_damaged(input, "an attribute of the scene is missing");

    scene->up = (yk_vec3){up[0], up[1], up[2]};
    for (int i = 0; i < LIST_COUNT; i++) {
        yk_status status = read_list(context, input, group, (scene_list)i, &store->lists[i]);
        if (status != YK_OK)
            return status;
    }

    const subsystem_record *subsystems = store->lists[LIST_SUBSYSTEMS].records;
    scene->subsystem_count = store->lists[LIST_SUBSYSTEMS].count;
    store->names = yk_allocate(context, (size_t)scene->subsystem_count + 1, sizeof *store->names);
    store->solvers =
        yk_allocate(context, (size_t)scene->subsystem_count + 1, sizeof *store->solvers);
    if (!store->names || !store->solvers)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < scene->subsystem_count; i++) {
        store->names[i] = subsystems[i].name;
        store->solvers[i] = subsystems[i].solver;
    }

    scene->subsystems = store->names;
    scene->solvers = store->solvers;
    scene->bodies = store->lists[LIST_BODIES].records;
    scene->body_count = store->lists[LIST_BODIES].count;
    scene->shapes = store->lists[LIST_SHAPES].records;
    scene->shape_count = store->lists[LIST_SHAPES].count;
    scene->connections = store->lists[LIST_CONNECTIONS].records;
    scene->connection_count = store->lists[LIST_CONNECTIONS].count;
    return read_points(context, input, group, store);
}

yk_status yk_hdf5_read_scene(yk_context *context, yk_hdf5_input *input, yk_record_scene **scene)
{
    *scene = NULL;
    yk_hdf5_entry group;
    if (!yk_hdf5_find(input, NULL, "scene", &group))
        return yk_hdf5_status(input);

    scene_store *store = yk_allocate(context, 1, sizeof *store);
    yk_status status = store ? fill_scene(context, input, &group, store) : YK_ERROR_MEMORY;
    yk_hdf5_release(input, &group);
    if (status == YK_OK)
        *scene = &store->scene;
    else
        yk_hdf5_release_scene(context, store ? &store->scene : NULL);
    return status;
}

/* The tables of the frames of a file. */
typedef struct frame_tables {
    yk_hdf5_entry time;
    yk_hdf5_entry table[YK_FRAME_TABLE_COUNT];
    size_t size[YK_FRAME_TABLE_COUNT];
} frame_tables;

static yk_status open_tables(yk_hdf5_input *input, const yk_record_scene *scene,
                             frame_tables *tables)
{
    yk_hdf5_entry group;
    if (!yk_hdf5_find(input, NULL, "frames", &group))
        return yk_hdf5_status(input);

    bool sound = yk_hdf5_find(input, &group, "time", &tables->time) && tables->time.rank == 1;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT && sound; i++) {
        tables->size[i] = yk_scene_table_value_count(scene, (yk_frame_table)i);
        if (tables->size[i] == 0)
            continue;

        sound = yk_hdf5_find(input, &group, table_names[i], &tables->table[i]) &&
                tables->table[i].size[0] == tables->time.size[0] &&
                yk_hdf5_value_count(&tables->table[i]) == tables->time.size[0] * tables->size[i];
    }

    yk_hdf5_release(input, &group);
    return sound ? YK_OK : yk_hdf5_damaged(input, "the frames do not fit to the scene");
}

yk_status yk_hdf5_read_frames(yk_context *context, yk_hdf5_input *input,
                              const yk_record_scene *scene, yk_recorder *recorder)
{
    frame_tables tables = {0};
    float *values = yk_allocate(context, yk_scene_frame_value_count(scene) + 1, sizeof *values);
    yk_status status = values ? open_tables(input, scene, &tables) : YK_ERROR_MEMORY;
    uint64_t count = status == YK_OK && tables.time.rank == 1 ? tables.time.size[0] : 0;
    for (uint64_t k = 0; k < count && status == YK_OK; k++) {
        double time;
        bool read = yk_hdf5_read(input, &tables.time, YK_HDF5_FLOAT64, k, 1, &time);
        float *to = values;
        for (int i = 0; i < YK_FRAME_TABLE_COUNT && read; i++) {
            size_t size = tables.size[i];
            if (size > 0)
                read = yk_hdf5_read(input, &tables.table[i], YK_HDF5_FLOAT32, k * size, size, to);
            to += size;
        }

        status = read ? yk_recorder_frame(recorder, time, values) : yk_hdf5_status(input);
    }

    yk_hdf5_release(input, &tables.time);
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++)
        yk_hdf5_release(input, &tables.table[i]);
    yk_free(context, values);
    return status;
}
