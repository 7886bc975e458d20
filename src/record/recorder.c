/* The operations of any recorder, a recorder that passes everything on to several others, and
 * checked copies of headers and summaries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/memory.h"

yk_status yk_recorder_begin(yk_recorder *recorder, const yk_record_header *header)
{
    return recorder->ops->begin(recorder, header);
}

yk_status yk_recorder_sample(yk_recorder *recorder, double time, const double *row)
{
    return recorder->ops->sample(recorder, time, row);
}

yk_status yk_recorder_frame(yk_recorder *recorder, double time, const float *values)
{
    if (!recorder->ops->frame)
        return YK_OK;

    return recorder->ops->frame(recorder, time, values);
}

yk_status yk_recorder_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    return recorder->ops->end(recorder, summary);
}

/* Recorders that were compiled before there were these operations have a shorter table. */
bool yk_recorder_can_resume(const yk_recorder *recorder)
{
    /* Recorders that were compiled before there were resumed runs have shorter tables. */
    const yk_recorder_ops *ops = recorder->ops;
    if (ops->size < sizeof *ops || !ops->sync || !ops->resume)
        return false;

    return !ops->can_resume || ops->can_resume(recorder);
}

yk_status yk_recorder_sync(yk_recorder *recorder, yk_journal_position *position)
{
    return recorder->ops->sync(recorder, position);
}

yk_status yk_recorder_resume(yk_recorder *recorder, const yk_record_header *header,
                             const yk_journal_position *position)
{
    return recorder->ops->resume(recorder, header, position);
}

void yk_recorder_destroy(yk_recorder *recorder)
{
    if (recorder)
        recorder->ops->destroy(recorder);
}

/* Several at once ------------------------------------------------------------------------------ */

typedef struct tee {
    yk_recorder base;
    yk_context *context;
    int count;
    yk_recorder *recorders[];
} tee;

static yk_status tee_begin(yk_recorder *recorder, const yk_record_header *header)
{
    /* If one recorder cannot begin, nothing is recorded. */
    tee *self = (tee *)recorder;
    for (int i = 0; i < self->count; i++) {
        yk_status status = yk_recorder_begin(self->recorders[i], header);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

static yk_status tee_sample(yk_recorder *recorder, double time, const double *row)
{
    /* All of them receive it, even if an earlier one fails. */
    tee *self = (tee *)recorder;
    yk_status failure = YK_OK;
    for (int i = 0; i < self->count; i++) {
        yk_status status = yk_recorder_sample(self->recorders[i], time, row);
        if (status != YK_OK)
            failure = status;
    }

    return failure;
}

static yk_status tee_frame(yk_recorder *recorder, double time, const float *values)
{
    tee *self = (tee *)recorder;
    yk_status failure = YK_OK;
    for (int i = 0; i < self->count; i++) {
        yk_status status = yk_recorder_frame(self->recorders[i], time, values);
        if (status != YK_OK)
            failure = status;
    }

    return failure;
}

static yk_status tee_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    tee *self = (tee *)recorder;
    yk_status failure = YK_OK;
    for (int i = 0; i < self->count; i++) {
        yk_status status = yk_recorder_end(self->recorders[i], summary);
        if (status != YK_OK)
            failure = status;
    }

    /* A resumed run needs the journals of all. */
    for (int i = 0; failure != YK_OK && i < self->count; i++)
        yk_file_recorder_keep_journal(self->recorders[i]);

    return failure;
}

/* The positions of all, one each. */
static yk_status tee_keep(yk_recorder *recorder, yk_journal_position *position)
{
    tee *self = (tee *)recorder;

    /* The lengths of all files, one after another; a tee within a tee has several. */
    position->count = 0;
    for (int i = 0; i < self->count; i++) {
        yk_journal_position own = {0};
        yk_status status = yk_recorder_sync(self->recorders[i], &own);
        if (status != YK_OK)
            return status;
        if (own.count != 1 || position->count == YK_RECORD_FILES_MAX)
            return yk_fail(self->context, YK_ERROR_ARGUMENT,
                           "a record that is to be resumed has at most %d files, side by side",
                           YK_RECORD_FILES_MAX);

        position->digest[position->count] = own.digest[0];
        position->length[position->count++] = own.length[0];
    }

    return YK_OK;
}

static yk_status tee_resume(yk_recorder *recorder, const yk_record_header *header,
                            const yk_journal_position *position)
{
    tee *self = (tee *)recorder;
    if (position->count != self->count)
        return yk_fail(self->context, YK_ERROR_ARGUMENT,
                       "the run that is to be resumed recorded to %d files, and here are %d",
                       position->count, self->count);

    /* Each at its own position; the order of the command line is preserved. */
    for (int i = 0; i < self->count; i++) {
        yk_journal_position own = {
            .count = 1, .length = {position->length[i]}, .digest = {position->digest[i]}};
        yk_status status = yk_recorder_resume(self->recorders[i], header, &own);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

static bool tee_can_resume(const yk_recorder *recorder)
{
    const tee *self = (const tee *)recorder;
    for (int i = 0; i < self->count; i++)
        if (!yk_recorder_can_resume(self->recorders[i]))
            return false;

    return true;
}

/* The recorders belong to their creators. */
static void tee_destroy(yk_recorder *recorder)
{
    tee *self = (tee *)recorder;
    yk_free(self->context, self);
}

static const yk_recorder_ops tee_ops = {
    .size = sizeof tee_ops,
    .kind = "tee",
    .begin = tee_begin,
    .sample = tee_sample,
    .frame = tee_frame,
    .end = tee_end,
    .destroy = tee_destroy,
    .sync = tee_keep,
    .resume = tee_resume,
    .can_resume = tee_can_resume,
};

yk_status yk_tee_recorder_create(yk_context *context, yk_recorder *const *recorders, int count,
                                 yk_recorder **made)
{
    *made = NULL;
    if (count < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a tee cannot have %d recorders", count);

    for (int i = 0; i < count; i++)
        if (!recorders[i])
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s: recorder %d is NULL", __func__, i);

    /* The list follows the tee in the same memory. */
    size_t list = (size_t)count * sizeof *recorders;
    tee *self = yk_allocate(context, 1, sizeof *self + list);
    if (!self)
        return YK_ERROR_MEMORY;

    *self = (tee){.base.ops = &tee_ops, .context = context, .count = count};
    if (count)
        memcpy(self->recorders, recorders, list);
    *made = &self->base;

    return YK_OK;
}

/* Copies of headers and summaries ----------------------------------------------------------------
 *
 * They are made in two passes over the same code: the first measures (its store has no memory), the
 * second writes. */

typedef struct text_store {
    char *memory; /* NULL: measure only */
    size_t used;
} text_store;

static void *take(text_store *store, size_t bytes, size_t alignment)
{
    /* While it is measured there is no memory, only its length. */
    store->used = (store->used + alignment - 1) / alignment * alignment;
    void *to = store->memory ? store->memory + store->used : NULL;
    store->used += bytes;
    return to;
}

/* Memory of the length that was measured; false when out of memory. */
static bool begin_writing(yk_context *context, text_store *store)
{
    store->memory = yk_allocate(context, store->used, 1);
    store->used = 0;
    return store->memory != NULL;
}

static const char *put_text(text_store *store, const char *text)
{
    size_t bytes = text ? strlen(text) + 1 : 1;
    char *to = take(store, bytes, 1);
    if (to)
        memcpy(to, text ? text : "", bytes);
    return to;
}

/* The unit of a pure number is 1. */
static const char *put_unit(text_store *store, const char *unit)
{
    return put_text(store, unit && *unit ? unit : "1");
}

static const char **put_labels(text_store *store, const yk_record_channel *channel)
{
    size_t count = (size_t)channel->component_count;
    const char **labels = take(store, count * sizeof *labels, sizeof *labels);
    for (size_t i = 0; i < count; i++) {
        /* If the channel has no labels, their defaults depend on the number of components. */
        static const char *const position[] = {"x", "y", "z"};
        static const char *const orientation[] = {"w", "x", "y", "z"};
        char number[16] = "";
        const char *given = number;
        if (channel->labels)
            given = channel->labels[i];
        else if (count == 3)
            given = position[i];
        else if (count == 4)
            given = orientation[i];
        else if (count > 1)
            snprintf(number, sizeof number, "%d", (int)i + 1);

        /* The first pass only measures. */
        const char *label = put_text(store, given);
        if (labels)
            labels[i] = label;
    }

    return labels;
}

static const char **put_texts(text_store *store, const char *const *texts, int count)
{
    const char **copy = take(store, (size_t)count * sizeof *copy, sizeof *copy);
    for (int i = 0; i < count; i++) {
        const char *text = put_text(store, texts[i]);
        if (copy)
            copy[i] = text;
    }

    return copy;
}

static yk_record_scene *put_scene(text_store *store, const yk_record_scene *scene)
{
    /* The first pass only measures. */
    yk_record_scene *copy = take(store, sizeof *copy, sizeof(double));
    yk_record_scene filled = *scene;
    filled.subsystems = put_texts(store, scene->subsystems, scene->subsystem_count);
    filled.solvers = put_texts(store, scene->solvers, scene->subsystem_count);

    /* Names are copied into the memory of their records. */
    yk_record_body *bodies =
        take(store, (size_t)scene->body_count * sizeof *bodies, sizeof(double));
    filled.bodies = bodies;
    for (int i = 0; i < scene->body_count; i++) {
        const char *name = put_text(store, scene->bodies[i].name);
        if (bodies) {
            bodies[i] = scene->bodies[i];
            bodies[i].name = name;
        }
    }

    /* Shapes of lines and meshes have points of their own. */
    yk_shape *shapes = take(store, (size_t)scene->shape_count * sizeof *shapes, sizeof(double));
    filled.shapes = shapes;
    for (int i = 0; i < scene->shape_count; i++) {
        const yk_shape *shape = &scene->shapes[i];
        const char *name = put_text(store, shape->name);
        size_t bytes = (size_t)shape->point_count * sizeof *shape->points;
        yk_vec3 *points = take(store, bytes, sizeof(double));
        if (points && bytes)
            memcpy(points, shape->points, bytes);
        if (shapes) {
            shapes[i] = *shape;
            shapes[i].name = name;
            shapes[i].points = points;
        }
    }

    /* Interfaces and wires. */
    yk_record_connection *links =
        take(store, (size_t)scene->connection_count * sizeof *links, sizeof(void *));
    filled.connections = links;
    for (int i = 0; i < scene->connection_count; i++) {
        const char *name = put_text(store, scene->connections[i].name);
        if (links) {
            links[i] = scene->connections[i];
            links[i].name = name;
        }
    }

    if (copy)
        *copy = filled;

    return copy;
}

static yk_record_header *put_header(text_store *store, const yk_record_header *header)
{
    /* In the same order in both passes, because each part follows the previous one in memory. */
    yk_record_header *copy = take(store, sizeof *copy, sizeof(void *));
    yk_record_channel *channels =
        take(store, (size_t)header->channel_count * sizeof *channels, sizeof(void *));
    yk_record_header filled = {.title = put_text(store, header->title),
                               .scenario_text = put_text(store, header->scenario_text),
                               .command = put_text(store, header->command),
                               .channels = channels,
                               .channel_count = header->channel_count};
    for (int i = 0; i < header->channel_count; i++) {
        const yk_record_channel *channel = &header->channels[i];
        yk_record_channel filled_channel = {.name = put_text(store, channel->name),
                                            .unit = put_unit(store, channel->unit),
                                            .component_count = channel->component_count,
                                            .labels = put_labels(store, channel)};
        if (channels)
            channels[i] = filled_channel;
    }

    /* All data of the copy are in the same block after it. */
    if (header->scene)
        filled.scene = put_scene(store, header->scene);
    if (copy)
        *copy = filled;

    return copy;
}

static yk_record_summary *put_summary(text_store *store, const yk_record_summary *summary)
{
    int count = summary ? summary->count : 0;

    /* In the same order in both passes, as the header. */
    yk_record_summary *copy = take(store, sizeof *copy, sizeof(void *));
    yk_record_value *values = take(store, (size_t)count * sizeof *values, sizeof(double));
    for (int i = 0; i < count; i++) {
        const yk_record_value *value = &summary->values[i];
        yk_record_value filled = {.name = put_text(store, value->name),
                                  .value = value->value,
                                  .unit = put_unit(store, value->unit),
                                  .text = put_text(store, value->text)};
        if (values)
            values[i] = filled;
    }

    if (copy)
        *copy = (yk_record_summary){values, count};

    return copy;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts `names`. */
static yk_status check_names(yk_context *context, const char *what, const char **names, int count)
{
    /* Channels and values are found by their names. */
    for (int i = 0; i < count; i++)
        if (!names[i] || !*names[i])
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s %d of the record has no name", what,
                           i + 1);

    /* In sorted order, duplicates are adjacent. */
    qsort(names, (size_t)count, sizeof *names, compare_names);
    for (int i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s '%s' is recorded twice; names must be unique", what, names[i]);

    return YK_OK;
}

/* Every index of a scene is in range. */
static bool scene_is_sound(const yk_record_scene *scene)
{
    /* In a file these may be any numbers, and lists depend on them. */
    if (scene->subsystem_count < 0 || scene->body_count < 0 || scene->shape_count < 0 ||
        scene->connection_count < 0 || scene->contact_count < 0 || scene->monitor_version < 0 ||
        scene->monitor_version > YK_MONITOR_VERSION)
        return false;

    /* Bodies belong to subsystems, shapes and links to bodies and subsystems. */
    int subsystems = scene->subsystem_count, bodies = scene->body_count;
    for (int i = 0; i < bodies; i++) {
        const yk_record_body *body = &scene->bodies[i];
        if (body->subsystem < 0 || body->subsystem >= subsystems || body->motion < 0 ||
            body->motion > YK_SCENE_MOTION_FULL)
            return false;
    }

    /* The ground is not a body, but may have shapes. */
    for (int i = 0; i < scene->shape_count; i++) {
        const yk_shape *shape = &scene->shapes[i];
        if ((unsigned)shape->kind >= YK_SHAPE_KIND_COUNT || shape->point_count < 0 ||
            shape->body < YK_SCENE_GROUND || shape->body >= bodies ||
            shape->end_body < YK_SCENE_GROUND || shape->end_body >= bodies)
            return false;
    }

    for (int i = 0; i < scene->connection_count; i++) {
        const yk_record_connection *link = &scene->connections[i];
        if (link->from < 0 || link->from >= subsystems || link->to < 0 || link->to >= subsystems ||
            link->kind < 0 || link->kind > YK_CONNECTION_WIRE)
            return false;
    }

    return true;
}

size_t yk_scene_table_value_count(const yk_record_scene *scene, yk_frame_table table)
{
    size_t size = 0;

    /* Number of values per frame: for bodies only what changes. */
    for (int i = 0; i < scene->body_count; i++) {
        const yk_record_body *body = &scene->bodies[i];
        if (table == YK_FRAME_POSITION && body->motion != YK_SCENE_MOTION_FIXED)
            size += 3;
        if (table == YK_FRAME_ORIENTATION && body->motion == YK_SCENE_MOTION_FULL)
            size += 4;
        if (table == YK_FRAME_STRAIN && body->has_strain)
            size += 1;
    }

    /* Interfaces of markers have a point, a force and a torque; all but wires have figures. */
    for (int i = 0; i < scene->connection_count; i++) {
        yk_connection_kind kind = scene->connections[i].kind;
        if (table == YK_FRAME_WRENCH && kind == YK_CONNECTION_MARKERS)
            size += 9;
        if (table == YK_FRAME_MONITOR && scene->monitor_version && kind != YK_CONNECTION_WIRE)
            size += scene->monitor_version == 1 ? YK_MONITOR_INTERFACE_VALUES - 1
                                                : YK_MONITOR_INTERFACE_VALUES;
    }

    /* Of the subsystems, in the first layout one figure each, and the iterations. */
    size_t figures = scene->monitor_version == 1 ? 1 : YK_MONITOR_SUBSYSTEM_VALUES;
    if (table == YK_FRAME_MONITOR && scene->monitor_version)
        size += figures * (size_t)scene->subsystem_count + 1;

    /* A contact has its point, its normal and its force. */
    if (table == YK_FRAME_CONTACT)
        size = 9 * (size_t)scene->contact_count;

    return size;
}

size_t yk_scene_frame_value_count(const yk_record_scene *scene)
{
    size_t size = 0;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++)
        size += yk_scene_table_value_count(scene, (yk_frame_table)i);
    return size;
}

yk_status yk_header_copy(yk_context *context, const yk_record_header *header,
                         yk_record_header **copy)
{
    *copy = NULL;
    int count = header->channel_count;
    if (count < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "a record cannot have %d channels", count);

    /* Names separate channels in every format. */
    const char **names = yk_allocate(context, (size_t)count, sizeof *names);
    if (!names)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++)
        names[i] = header->channels[i].name;
    yk_status status = check_names(context, "channel", names, count);
    yk_free(context, names);

    for (int i = 0; i < count && status == YK_OK; i++)
        if (header->channels[i].component_count < 1)
            status = yk_fail(context, YK_ERROR_ARGUMENT,
                             "channel '%s' has %d components; it needs at least one",
                             header->channels[i].name, header->channels[i].component_count);
    if (status != YK_OK)
        return status;

    /* Code that draws a scene relies on its indices. */
    if (header->scene && !scene_is_sound(header->scene))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "the scene of the record names a body or a subsystem that it does not have");

    /* Measured first, then written. */
    text_store store = {0};
    put_header(&store, header);
    if (!begin_writing(context, &store))
        return YK_ERROR_MEMORY;

    *copy = put_header(&store, header);

    return YK_OK;
}

yk_status yk_summary_copy(yk_context *context, const yk_record_summary *summary,
                          yk_record_summary **copy)
{
    *copy = NULL;
    int count = summary ? summary->count : 0;
    const char **names = yk_allocate(context, (size_t)count, sizeof *names);
    if (!names)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++)
        names[i] = summary->values[i].name;
    yk_status status = check_names(context, "value", names, count);
    yk_free(context, names);
    if (status != YK_OK)
        return status;

    /* Measured first, then written. */
    text_store store = {0};
    put_summary(&store, summary);
    if (!begin_writing(context, &store))
        return YK_ERROR_MEMORY;

    *copy = put_summary(&store, summary);

    return YK_OK;
}

size_t yk_header_width(const yk_record_header *header)
{
    size_t width = 0;
    for (int i = 0; i < header->channel_count; i++)
        width += (size_t)header->channels[i].component_count;
    return width;
}
