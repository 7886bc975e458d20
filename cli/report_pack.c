#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "pictures.h"

enum { VALUES_MAX = 1500000, ROWS_MIN = 1000, ROWS_MAX = 20000, FRAMES_BYTES = 64000000 };

/* Contacts over all frames, and the smallest force that is shown, relative to the largest of its
 * frame. */
enum { CONTACTS_MAX = 250000, CONTACT_COLUMNS = 9 };
static const float CONTACT_LEAST = 0.005F;

/* Bytes that grow ------------------------------------------------------------------------------ */

typedef struct buffer {
    unsigned char *data;
    size_t count, capacity;
    bool failed; /* memory is missing: the rest is left out */
} buffer;

static unsigned char *extend(buffer *b, size_t bytes)
{
    if (b->failed)
        return NULL;

    if (b->count + bytes > b->capacity) {
        size_t capacity = 2 * b->capacity + bytes + 4096;
        unsigned char *grown = realloc(b->data, capacity);
        if (!grown) {
            b->failed = true;
            return NULL;
        }
        b->data = grown;
        b->capacity = capacity;
    }

    unsigned char *added = b->data + b->count;
    b->count += bytes;
    return added;
}

static void put(buffer *b, const char *text)
{
    size_t length = strlen(text);
    unsigned char *to = extend(b, length);
    if (to)
        memcpy(to, text, length);
}

static void put_format(buffer *b, const char *format, ...) YK_PRINTF(2, 3);

static void put_format(buffer *b, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    put(b, text);
}

/* A text in quotes. "</" would end the script that the JSON may be shown in, were it not packed. */
static void put_text(buffer *b, const char *text)
{
    /* A string of JSON: quotes, backslashes and control characters are escaped. */
    put(b, "\"");
    for (const char *c = text ? text : ""; *c; c++) {
        unsigned char code = (unsigned char)*c;
        if (code == '"' || code == '\\')
            put_format(b, "\\%c", code);
        else if (code < 0x20)
            put_format(b, "\\u%04x", code);
        else
            put_format(b, "%c", code);
    }
    put(b, "\"");
}

static void put_texts(buffer *json, const char *const *texts, int count)
{
    put(json, "[");
    for (int i = 0; i < count; i++) {
        put(json, i ? "," : "");
        put_text(json, texts[i]);
    }
    put(json, "]");
}

/* Begins an object of a list, which follows another one or is the first. */
static void begin_named(buffer *b, bool follows, const char *name)
{
    if (follows)
        put(b, ",");
    put(b, "{\"name\":");
    put_text(b, name);
}

static void put_number(buffer *b, double value)
{
    if (isfinite(value))
        put_format(b, "%.17g", value);
    else
        put(b, "null");
}

static void put_numbers(buffer *b, const double *values, int count)
{
    put(b, "[");
    for (int i = 0; i < count; i++)
        put_format(b, i ? ",%.8g" : "%.8g", isfinite(values[i]) ? values[i] : 0.0);
    put(b, "]");
}

/* Lengths and orientations of the scene, which is drawn in single precision. */
static void put_vector(buffer *b, yk_vec3 v)
{
    put_numbers(b, (const double[]){v.x, v.y, v.z}, 3);
}

static void put_quaternion(buffer *b, yk_quat q)
{
    put_numbers(b, (const double[]){q.w, q.x, q.y, q.z}, 4);
}

/* Numbers of `width` bytes, in the byte order of this machine, stored in planes; and their place. */
static void put_array(buffer *json, buffer *arrays, const void *values, size_t count, size_t width)
{
    put_format(json, "[%zu,%zu]", arrays->count, count * width);
    unsigned char *to = extend(arrays, count * width);
    if (!to)
        return;

    /* The plane of the highest bytes first, independent of the byte order of this machine. */
    const unsigned char *from = values;
    const uint16_t probe = 1;
    bool little = *(const unsigned char *)&probe == 1;
    for (size_t plane = 0; plane < width; plane++) {
        size_t byte = little ? width - 1 - plane : plane;
        for (size_t i = 0; i < count; i++)
            *to++ = from[i * width + byte];
    }
}

/* Channels ------------------------------------------------------------------------------------- */

static void put_channels(buffer *json, buffer *arrays, const yk_record *record, bool bare)
{
    const yk_record_header *header = yk_record_get_header(record);
    size_t columns = 1;
    for (int i = 0; i < header->channel_count; i++)
        if (header->channels[i].component_count <= REPORT_COMPONENTS_MAX)
            columns += (size_t)header->channels[i].component_count;

    /* Few columns may have many rows, many columns few. */
    size_t most = VALUES_MAX / columns;
    if (most < ROWS_MIN)
        most = ROWS_MIN;
    if (most > ROWS_MAX)
        most = ROWS_MAX;

    /* All rows are kept, or two represent a piece, and the last one itself. */
    size_t rows = 0;
    if (!bare)
        rows = yk_record_row_count(record);
    size_t piece = 1;
    size_t kept = rows;
    if (rows > most) {
        piece = (2 * rows + most - 1) / most;
        kept = 2 * ((rows + piece - 1) / piece) + 1;
    }

    double *time = calloc(kept + 1, sizeof *time);
    float *column = calloc(kept + 1, sizeof *column);
    if (!time || !column) {
        json->failed = true;
        free(time);
        free(column);
        return;
    }

    /* One column of times for all channels. Those of a piece are its first and its middle, because
     * the rows with the extremes differ from channel to channel. */
    const double *times = yk_record_times(record);
    double *next = time;
    for (size_t from = 0; from < rows; from += piece) {
        size_t middle = from + piece / 2;
        if (middle >= rows)
            middle = rows - 1;

        *next++ = times[from];
        if (piece > 1)
            *next++ = times[middle];
    }
    if (piece > 1)
        *next = times[rows - 1];
    put_format(json, ",\"recorded\":%zu,\"rows\":%zu,\"time\":", rows, kept);
    put_array(json, arrays, time, kept, sizeof *time);

    put(json, ",\"channels\":[");
    bool first = true;
    for (int i = 0; i < header->channel_count; i++) {
        const yk_record_channel *channel = &header->channels[i];
        if (channel->component_count > REPORT_COMPONENTS_MAX)
            continue;

        begin_named(json, !first, channel->name);
        first = false;
        put(json, ",\"unit\":");
        put_text(json, channel->unit);
        put(json, ",\"labels\":");
        put_texts(json, channel->labels, channel->component_count);

        put(json, ",\"columns\":[");
        for (int k = 0; k < channel->component_count; k++) {
            /* Differences from an exact first value, for which single precision is sufficient. */
            const double *values = yk_record_column(record, i, k);
            double base = 0;
            if (rows > 0 && isfinite(values[0]))
                base = values[0];

            /* The smallest and the largest value of each piece, so that no peak is lost. */
            float *to = column;
            for (size_t from = 0; from < rows; from += piece) {
                size_t ends[2];
                curve_extremes(values, from, from + piece < rows ? from + piece : rows, ends);
                *to++ = (float)(values[ends[0]] - base);
                if (piece > 1)
                    *to++ = (float)(values[ends[1]] - base);
            }
            if (piece > 1)
                *to = (float)(values[rows - 1] - base);

            put(json, k ? ",{\"base\":" : "{\"base\":");
            put_number(json, base);
            put(json, ",\"data\":");
            put_array(json, arrays, column, kept, sizeof *column);
            put(json, "}");
        }
        put(json, "]}");
    }

    /* The names of those that are left out. */
    put(json, "],\"skipped\":[");
    first = true;
    for (int i = 0; i < header->channel_count; i++) {
        if (header->channels[i].component_count <= REPORT_COMPONENTS_MAX)
            continue;

        put(json, first ? "" : ",");
        first = false;
        put_text(json, header->channels[i].name);
    }
    put(json, "]");

    free(time);
    free(column);
}

/* Scene ---------------------------------------------------------------------------------------- */

static void put_scene(buffer *json, const yk_record_scene *scene)
{
    /* The subsystems, and the axis that points up. */
    put(json, "{\"subsystems\":");
    put_texts(json, scene->subsystems, scene->subsystem_count);
    put(json, ",\"solvers\":");
    put_texts(json, scene->solvers, scene->subsystem_count);
    put(json, ",\"up\":");
    put_vector(json, scene->up);

    /* Bodies as they stand at the start; frames have their motion. */
    put(json, ",\"bodies\":[");
    for (int i = 0; i < scene->body_count; i++) {
        const yk_record_body *body = &scene->bodies[i];
        begin_named(json, i > 0, body->name);
        put_format(json, ",\"subsystem\":%d,\"motion\":%d,\"has_strain\":%s,\"position\":",
                   body->subsystem, (int)body->motion, body->has_strain ? "true" : "false");
        put_vector(json, body->position);
        put(json, ",\"orientation\":");
        put_quaternion(json, body->orientation);
        put(json, "}");
    }

    /* Shapes in the axes of their bodies; points only of hulls and meshes. */
    put(json, "],\"shapes\":[");
    for (int i = 0; i < scene->shape_count; i++) {
        const yk_shape *shape = &scene->shapes[i];
        begin_named(json, i > 0, shape->name);
        put_format(json, ",\"kind\":%d,\"body\":%d,\"end\":%d,\"open\":%u,\"position\":",
                   (int)shape->kind, shape->body, shape->end_body, shape->open_walls);
        put_vector(json, shape->position);
        put(json, ",\"orientation\":");
        put_quaternion(json, shape->orientation);
        put(json, ",\"size\":");
        put_vector(json, shape->size);

        put(json, ",\"points\":[");
        for (int k = 0; k < shape->point_count; k++) {
            const double point[3] = {shape->points[k].x, shape->points[k].y, shape->points[k].z};
            for (int c = 0; c < 3; c++) {
                put(json, k + c ? "," : "");
                put_number(json, point[c]);
            }
        }
        put(json, "]}");
    }

    /* Connections of the subsystems. */
    put(json, "],\"connections\":[");
    for (int i = 0; i < scene->connection_count; i++) {
        const yk_record_connection *link = &scene->connections[i];
        begin_named(json, i > 0, link->name);
        put_format(json, ",\"kind\":%d,\"from\":%d,\"to\":%d}", (int)link->kind, link->from,
                   link->to);
    }
    put_format(json, "],\"contacts\":%d,\"monitor_version\":%d}", scene->contact_count,
               scene->monitor_version);
}

/* Frames --------------------------------------------------------------------------------------- */

/* Differences from frame to frame, which wrap around. */
static void put_words(buffer *json, buffer *arrays, uint16_t *words, size_t frames, size_t size)
{
    for (size_t i = frames; i-- > 1;)
        for (size_t k = 0; k < size; k++)
            words[i * size + k] = (uint16_t)(words[i * size + k] - words[(i - 1) * size + k]);
    put_array(json, arrays, words, frames * size, sizeof *words);
}

enum { LAST_POSITION = 65534, NO_POSITION = 65535 };

/* Positions between the smallest and the largest of each coordinate; the last value means that
 * there is no position in that frame. */
static void put_positions(buffer *json, buffer *arrays, const float *const *frames, size_t count,
                          size_t size, uint16_t *words)
{
    float *low = calloc(size + 1, sizeof *low);
    float *scale = calloc(size + 1, sizeof *scale);
    if (!low || !scale) {
        json->failed = true;
        free(low);
        free(scale);
        return;
    }

    /* The range of each coordinate over all frames; a coordinate that is never finite has none. */
    for (size_t k = 0; k < size; k++) {
        float least = INFINITY;
        float largest = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            least = fminf(least, frames[i][k]);
            largest = fmaxf(largest, frames[i][k]);
        }

        if (!(largest >= least)) {
            least = 0;
            largest = 0;
        }
        low[k] = least;
        scale[k] = (largest - least) / LAST_POSITION;
    }

    /* Positions as parts of it. */
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < size; k++) {
            float at = 0;
            if (scale[k] > 0)
                at = (frames[i][k] - low[k]) / scale[k];
            words[i * size + k] = NO_POSITION;
            if (isfinite(frames[i][k]))
                words[i * size + k] = (uint16_t)lroundf(fminf(at, LAST_POSITION));
        }
    }

    /* Data for the reader to restore the positions. */
    put(json, ",\"low\":");
    put_array(json, arrays, low, size, sizeof *low);
    put(json, ",\"scale\":");
    put_array(json, arrays, scale, size, sizeof *scale);
    put(json, ",\"position\":");
    put_words(json, arrays, words, count, size);

    free(low);
    free(scale);
}

static void put_floats(buffer *json, buffer *arrays, const float *const *frames, size_t count,
                       size_t from, size_t size, float *values)
{
    for (size_t i = 0; i < count; i++)
        memcpy(values + i * size, frames[i] + from, size * sizeof *values);
    put_array(json, arrays, values, count * size, sizeof *values);
}

static int compare_descending(const void *a, const void *b)
{
    float left = *(const float *)a;
    float right = *(const float *)b;
    return (left < right) - (left > right);
}

/* The size of a contact's force; 0 if it is absent or not finite. */
static float contact_force(const float *contact)
{
    float size = sqrtf(contact[6] * contact[6] + contact[7] * contact[7] + contact[8] * contact[8]);
    bool finite = isfinite(size) && isfinite(contact[0] + contact[1] + contact[2]);
    return finite ? size : 0;
}

/* Contacts frame by frame, each frame with its own number: points between the smallest and the
 * largest of each coordinate, normals in bytes, forces as fractions of the largest of their frame. */
static void put_contacts(buffer *json, buffer *arrays, const float *const *frames, size_t count,
                         size_t from, size_t size)
{
    /* The number per frame that fits into the page if all frames have the same number. */
    size_t all = size / CONTACT_COLUMNS;
    size_t most = CONTACTS_MAX / count;
    if (most > UINT16_MAX)
        most = UINT16_MAX;
    if (most < 1)
        most = 1;
    if (most > all)
        most = all;

    const float **kept = calloc(count * most + 1, sizeof *kept); /* point, normal, force */
    uint16_t *words = calloc(3 * count * most + 1, sizeof *words);
    uint16_t *counts = calloc(count, sizeof *counts); /* of each frame */
    float *peaks = calloc(count, sizeof *peaks);      /* largest force of each frame (N) */
    float *forces = calloc(all + 1, sizeof *forces);
    bool ready = kept && words && counts && peaks && forces;
    if (!ready)
        json->failed = true;

    /* The largest forces of each frame, and none that would be invisible next to the largest. */
    size_t total = 0;
    double low[3] = {INFINITY, INFINITY, INFINITY};
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < count && ready; i++) {
        const float *contacts = frames[i] + from;
        for (size_t k = 0; k < all; k++)
            forces[k] = contact_force(contacts + CONTACT_COLUMNS * k);
        qsort(forces, all, sizeof *forces, compare_descending);
        float least = fmaxf(CONTACT_LEAST * forces[0], forces[most - 1]);
        peaks[i] = forces[0];

        /* In the order of the record, with what bounds their points. */
        for (size_t k = 0; k < all && counts[i] < most; k++) {
            const float *contact = contacts + CONTACT_COLUMNS * k;
            float force = contact_force(contact);
            if (!(force > 0) || force < least)
                continue;

            kept[total++] = contact;
            counts[i]++;
            for (int c = 0; c < 3; c++) {
                low[c] = fmin(low[c], contact[c]);
                high[c] = fmax(high[c], contact[c]);
            }
        }
    }

    if (ready) {
        /* The number in each frame, and the scales of the following data. */
        size_t numbers = 3 * total;
        double scale[3] = {0, 0, 0};
        for (int c = 0; c < 3 && numbers > 0; c++)
            scale[c] = (high[c] - low[c]) / UINT16_MAX;
        put(json, "{\"low\":");
        put_numbers(json, low, 3);
        put(json, ",\"scale\":");
        put_numbers(json, scale, 3);
        put(json, ",\"count\":");
        put_array(json, arrays, counts, count, sizeof *counts);
        put(json, ",\"peak\":");
        put_array(json, arrays, peaks, count, sizeof *peaks);

        /* One block of memory serves points, normals and forces in turn. */
        for (size_t i = 0; i < numbers; i++) {
            double at = 0;
            if (scale[i % 3] > 0)
                at = (kept[i / 3][i % 3] - low[i % 3]) / scale[i % 3];
            words[i] = (uint16_t)lround(fmin(at, UINT16_MAX));
        }
        put(json, ",\"point\":");
        put_array(json, arrays, words, numbers, sizeof *words);

        /* Normals are only drawn: a byte per component is finer than a pixel. */
        int8_t *bytes = (int8_t *)words;
        for (size_t i = 0; i < numbers; i++) {
            float normal = kept[i / 3][3 + i % 3];
            bytes[i] = (int8_t)lroundf(127 * fmaxf(-1, fminf(1, normal)));
        }
        put(json, ",\"normal\":");
        put_array(json, arrays, bytes, numbers, sizeof *bytes);

        /* Forces as parts of the largest of their frame. */
        int16_t *parts = (int16_t *)words;
        size_t next = 0;
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; k < 3 * (size_t)counts[i]; k++, next++) {
                float part = kept[next / 3][6 + next % 3] / peaks[i];
                parts[next] = (int16_t)lroundf(INT16_MAX * part);
            }
        }
        put(json, ",\"force\":");
        put_array(json, arrays, parts, numbers, sizeof *parts);
        put(json, "}");
    }

    free(kept);
    free(words);
    free(counts);
    free(peaks);
    free(forces);
}

static void put_frames(buffer *json, buffer *arrays, const yk_record *record, int wanted)
{
    /* The requested number of frames, or the number that fits into the memory; always the first and the last. */
    const yk_record_scene *scene = yk_record_get_header(record)->scene;
    size_t all = yk_record_frame_count(record);
    size_t most = (size_t)wanted;
    if (most == 0)
        most = FRAMES_BYTES / (2 * yk_scene_frame_value_count(scene) + 16);
    if (most < 2)
        most = 2;

    /* Every stride-th, and the last. */
    size_t stride = 1;
    if (all > most)
        stride = (all + most - 2) / (most - 1);
    size_t count = (all - 1 + stride - 1) / stride + 1;

    /* A frame is a row of tables, one after the other. */
    size_t size[YK_FRAME_TABLE_COUNT];
    size_t from[YK_FRAME_TABLE_COUNT];
    size_t at = 0;
    size_t widest = 1;
    for (int i = 0; i < YK_FRAME_TABLE_COUNT; i++) {
        size[i] = yk_scene_table_value_count(scene, (yk_frame_table)i);
        from[i] = at;
        at += size[i];
        if (size[i] > widest)
            widest = size[i];
    }

    double *times = calloc(count + 1, sizeof *times);
    const float **frames = calloc(count + 1, sizeof *frames);
    float *scratch = calloc(count * widest + 1, sizeof *scratch);
    if (!times || !frames || !scratch) {
        json->failed = true;
        free(times);
        free(frames);
        free(scratch);
        return;
    }

    for (size_t i = 0; i < count; i++) {
        size_t index = i * stride;
        if (i + 1 == count || index >= all)
            index = all - 1;
        times[i] = yk_record_frame_time(record, index);
        frames[i] = yk_record_frame(record, index);
    }
    put_format(json, "{\"count\":%zu,\"recorded\":%zu,\"time\":", count, all);
    put_array(json, arrays, times, count, sizeof *times);

    /* One block of memory serves all tables, whose numbers have at most four bytes. */
    uint16_t *words = (uint16_t *)scratch;
    put_positions(json, arrays, frames, count, size[YK_FRAME_POSITION], words);

    /* Orientations: q and -q are equal, and a jump between them would not compress, so use the one
     * that is nearer to that of the previous frame. */
    size_t width = size[YK_FRAME_ORIENTATION];
    for (size_t i = 0; i < count; i++) {
        const float *values = frames[i] + from[YK_FRAME_ORIENTATION];
        for (size_t k = 0; k < width; k += 4) {
            int16_t *to = (int16_t *)words + i * width + k;
            double along = 0;
            for (size_t c = 0; c < 4 && i > 0; c++)
                along += (double)values[k + c] * to[(ptrdiff_t)c - (ptrdiff_t)width];
            double sign = 1;
            if (along < 0)
                sign = -1;

            for (size_t c = 0; c < 4; c++) {
                double value = sign * values[k + c];
                to[c] = 0;
                if (isfinite(value))
                    to[c] = (int16_t)lround(32767 * fmax(-1, fmin(1, value)));
            }
        }
    }
    put(json, ",\"orientation\":");
    put_words(json, arrays, words, count, width);

    /* The other tables are small, and stored unchanged. */
    put(json, ",\"strain\":");
    put_floats(json, arrays, frames, count, from[YK_FRAME_STRAIN], size[YK_FRAME_STRAIN], scratch);
    put(json, ",\"wrench\":");
    put_floats(json, arrays, frames, count, from[YK_FRAME_WRENCH], size[YK_FRAME_WRENCH], scratch);
    put(json, ",\"monitor\":");
    put_floats(json, arrays, frames, count, from[YK_FRAME_MONITOR], size[YK_FRAME_MONITOR],
               scratch);
    put(json, ",\"contact\":");
    if (size[YK_FRAME_CONTACT] > 0)
        put_contacts(json, arrays, frames, count, from[YK_FRAME_CONTACT], size[YK_FRAME_CONTACT]);
    else
        put(json, "null");
    put(json, "}");

    free(times);
    free(frames);
    free(scratch);
}

/* The whole ------------------------------------------------------------------------------------ */

/* Compressed by zlib; NULL when out of memory. */
static unsigned char *deflate_bytes(const unsigned char *from, size_t count, size_t *bytes)
{
    /* The usual level: higher ones take long for little. */
    uLongf length = compressBound((uLong)count);
    unsigned char *packed = malloc(length);
    if (packed && compress2(packed, &length, from, (uLong)count, 6) != Z_OK) {
        free(packed);
        packed = NULL;
    }

    *bytes = length;
    return packed;
}

unsigned char *report_pack(const report_source *runs, int count, bool bare, int frames,
                           size_t *bytes)
{
    buffer json = {0};
    buffer arrays = {0};
    put_format(&json, "{\"software\":\"yoke %s\",\"runs\":[", yk_version());
    for (int i = 0; i < count; i++) {
        const yk_record *record = runs[i].record;
        const yk_record_header *header = yk_record_get_header(record);
        const yk_record_summary *summary = yk_record_get_summary(record);

        /* The source of the run, and its channels. */
        put(&json, i ? ",{\"file\":" : "{\"file\":");
        put_text(&json, runs[i].file);
        put(&json, ",\"title\":");
        put_text(&json, header->title);
        put(&json, ",\"command\":");
        put_text(&json, header->command);
        put(&json, ",\"scenario\":");
        put_text(&json, header->scenario_text);
        put_format(&json, ",\"complete\":%s", yk_record_is_complete(record) ? "true" : "false");
        put_channels(&json, &arrays, record, bare);

        /* The statistics of the run, as in the printed summary. */
        put(&json, ",\"summary\":[");
        for (int k = 0; k < summary->count; k++) {
            const yk_record_value *value = &summary->values[k];
            begin_named(&json, k > 0, value->name);
            put(&json, ",\"value\":");
            put_number(&json, value->value);
            put(&json, ",\"unit\":");
            put_text(&json, value->unit);
            put(&json, ",\"text\":");
            put_text(&json, value->text);
            put(&json, "}");
        }

        /* The scene, if the subsystems can be drawn; a live page gets frames later. */
        put(&json, "],\"scene\":");
        if (header->scene)
            put_scene(&json, header->scene);
        else
            put(&json, "null");

        put(&json, ",\"frames\":");
        if (header->scene && !bare && yk_record_frame_count(record) > 0)
            put_frames(&json, &arrays, record, frames);
        else
            put(&json, "null");
        put(&json, "}");
    }
    put(&json, "]}");

    /* Header, JSON and arrays. */
    size_t start = (8 + json.count + 7) / 8 * 8;
    unsigned char *whole = calloc(start + arrays.count + 1, 1);
    unsigned char *packed = NULL;
    if (whole && !json.failed && !arrays.failed) {
        memcpy(whole, "YKR1", 4);
        for (int i = 0; i < 4; i++)
            whole[4 + i] = (unsigned char)(json.count >> 8 * i);
        memcpy(whole + 8, json.data, json.count);
        if (arrays.count > 0)
            memcpy(whole + start, arrays.data, arrays.count);

        packed = deflate_bytes(whole, start + arrays.count, bytes);
    }

    free(whole);
    free(json.data);
    free(arrays.data);
    return packed;
}

unsigned char *report_pack_tables(const report_source *tables, int count, size_t *bytes)
{
    buffer json = {0};
    put_format(&json, "{\"software\":\"yoke %s\",\"tables\":[", yk_version());
    for (int i = 0; i < count; i++) {
        put(&json, i ? ",{\"file\":" : "{\"file\":");
        put_text(&json, tables[i].file);
        put(&json, ",\"text\":");
        put_text(&json, tables[i].text);
        put(&json, "}");
    }
    put(&json, "]}");

    unsigned char *packed = NULL;
    if (!json.failed)
        packed = deflate_bytes(json.data, json.count, bytes);

    free(json.data);
    return packed;
}
