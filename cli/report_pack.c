#include "report_pack.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { VALUES_MAX = 1500000, ROWS_MIN = 1000, ROWS_MAX = 20000, FRAMES_BYTES = 64000000 };

/* Contacts over all frames, and the smallest force that is shown beside the largest of its
 * frame. */
enum { CONTACTS_MAX = 250000, CONTACT_COLUMNS = 9 };
static const float CONTACT_LEAST = 0.005F;

/* Bytes that grow ------------------------------------------------------------------------------ */

typedef struct buffer {
    unsigned char *data;
    size_t count, capacity;
    bool failed; /* out of memory: what follows is left out */
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
    /* As JSON has it: quotes, backslashes and control characters are escaped. */
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

/* Numbers of `width` bytes, in the order of this machine, as planes; and where they are. */
static void put_array(buffer *json, buffer *arrays, const void *values, size_t count, size_t width)
{
    put_format(json, "[%zu,%zu]", arrays->count, count * width);
    unsigned char *to = extend(arrays, count * width);
    if (!to)
        return;

    /* The plane of the highest bytes first, whatever the order of bytes of this machine. */
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

/* Rows of a record in the report: all of them, or the least and the largest value of pieces. */
typedef struct thinning {
    size_t rows;  /* of the record */
    size_t piece; /* rows that two stand for; 1: all are kept */
    size_t kept;
} thinning;

static thinning thin(const yk_record *record)
{
    const yk_record_header *header = yk_record_get_header(record);
    size_t columns = 1;
    for (int i = 0; i < header->channel_count; i++)
        if (header->channels[i].components <= REPORT_COMPONENTS_MAX)
            columns += (size_t)header->channels[i].components;

    /* Few columns may have many rows, many columns few. */
    size_t most = VALUES_MAX / columns;
    if (most < ROWS_MIN)
        most = ROWS_MIN;
    if (most > ROWS_MAX)
        most = ROWS_MAX;

    /* Two rows stand for a piece, and the last one for itself. */
    thinning t = {.rows = yk_record_rows(record), .piece = 1};
    t.kept = t.rows;
    if (t.rows > most) {
        t.piece = (2 * t.rows + most - 1) / most;
        t.kept = 2 * ((t.rows + t.piece - 1) / t.piece) + 1;
    }
    return t;
}

/* Less the first value, in single precision. */
static void thin_column(const thinning *t, const double *values, double base, float *out)
{
    if (t->piece == 1) {
        for (size_t i = 0; i < t->rows; i++)
            out[i] = (float)(values[i] - base);
        return;
    }

    /* The least and the largest value of each piece, so that no peak is lost. */
    for (size_t from = 0; from < t->rows; from += t->piece) {
        size_t end = from + t->piece < t->rows ? from + t->piece : t->rows;
        size_t least = from;
        size_t largest = from;
        for (size_t i = from; i < end; i++) {
            if (values[i] < values[least])
                least = i;
            if (values[i] > values[largest])
                largest = i;
        }

        /* In the order in which they came. */
        size_t first = least < largest ? least : largest;
        size_t second = least < largest ? largest : least;
        *out++ = (float)(values[first] - base);
        *out++ = (float)(values[second] - base);
    }
    *out = (float)(values[t->rows - 1] - base);
}

static void put_channels(buffer *json, buffer *arrays, const yk_record *record,
                         const report_options *options)
{
    const yk_record_header *header = yk_record_get_header(record);
    thinning t = {.piece = 1};
    if (!options->bare)
        t = thin(record);

    double *time = calloc(t.kept + 1, sizeof *time);
    float *column = calloc(t.kept + 1, sizeof *column);
    if (!time || !column) {
        json->failed = true;
        free(time);
        free(column);
        return;
    }

    /* One column of times for all channels. Those of a piece are its first and its middle: which
     * of its rows has the least value differs from channel to channel. */
    const double *times = yk_record_time(record);
    double *next = time;
    for (size_t from = 0; from < t.rows; from += t.piece) {
        size_t middle = from + t.piece / 2;
        *next++ = times[from];
        if (t.piece > 1)
            *next++ = times[middle < t.rows ? middle : t.rows - 1];
    }
    if (t.piece > 1)
        *next = times[t.rows - 1];
    put_format(json, ",\"recorded\":%zu,\"rows\":%zu,\"time\":", t.rows, t.kept);
    put_array(json, arrays, time, t.kept, sizeof *time);

    put(json, ",\"channels\":[");
    bool first = true;
    for (int i = 0; i < header->channel_count; i++) {
        const yk_record_channel *channel = &header->channels[i];
        if (channel->components > REPORT_COMPONENTS_MAX)
            continue;

        begin_named(json, !first, channel->name);
        first = false;
        put(json, ",\"unit\":");
        put_text(json, channel->unit);
        put(json, ",\"labels\":");
        put_texts(json, channel->labels, channel->components);

        /* Differences from a first value that is kept whole: single precision is enough for
         * them. */
        put(json, ",\"columns\":[");
        for (int k = 0; k < channel->components; k++) {
            const double *values = yk_record_column(record, i, k);
            double base = 0;
            if (t.rows > 0 && isfinite(values[0]))
                base = values[0];

            thin_column(&t, values, base, column);
            put(json, k ? ",{\"base\":" : "{\"base\":");
            put_number(json, base);
            put(json, ",\"data\":");
            put_array(json, arrays, column, t.kept, sizeof *column);
            put(json, "}");
        }
        put(json, "]}");
    }

    /* The names of those that are left out. */
    put(json, "],\"skipped\":[");
    first = true;
    for (int i = 0; i < header->channel_count; i++) {
        if (header->channels[i].components <= REPORT_COMPONENTS_MAX)
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
    /* Who takes part, and which axis points up. */
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
        put_format(json,
                   ",\"subsystem\":%d,\"motion\":%d,\"strained\":%s,\"position\":", body->subsystem,
                   (int)body->motion, body->strained ? "true" : "false");
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
                   (int)shape->kind, shape->body, shape->end, shape->open);
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

    /* What is coupled with what. */
    put(json, "],\"links\":[");
    for (int i = 0; i < scene->link_count; i++) {
        const yk_record_link *link = &scene->links[i];
        begin_named(json, i > 0, link->name);
        put_format(json, ",\"kind\":%d,\"from\":%d,\"to\":%d}", (int)link->kind, link->from,
                   link->to);
    }
    put_format(json, "],\"contacts\":%d,\"watched\":%d}", scene->contact_count, scene->watched);
}

/* Frames --------------------------------------------------------------------------------------- */

/* The frames of a record that the report has: every stride-th, and the last. */
typedef struct selection {
    size_t all, stride, count;
} selection;

static size_t selected(const selection *s, size_t i)
{
    size_t frame = i * s->stride;
    if (i + 1 == s->count || frame >= s->all)
        return s->all - 1;
    return frame;
}

/* Differences from frame to frame, which wrap around. */
static void put_words(buffer *json, buffer *arrays, uint16_t *words, size_t frames, size_t size)
{
    for (size_t i = frames; i-- > 1;)
        for (size_t k = 0; k < size; k++)
            words[i * size + k] = (uint16_t)(words[i * size + k] - words[(i - 1) * size + k]);
    put_array(json, arrays, words, frames * size, sizeof *words);
}

enum { LAST_POSITION = 65534, NO_POSITION = 65535 };

/* Positions between the least and the largest of each coordinate; the last word says that there is
 * no position in that frame. */
static void put_positions(buffer *json, buffer *arrays, const yk_record *record, const selection *s,
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
        for (size_t i = 0; i < s->count; i++) {
            float value = yk_record_frame(record, selected(s, i))[k];
            least = fminf(least, value);
            largest = fmaxf(largest, value);
        }

        if (!(largest >= least)) {
            least = 0;
            largest = 0;
        }
        low[k] = least;
        scale[k] = (largest - least) / LAST_POSITION;
    }

    /* Positions as parts of it. */
    for (size_t i = 0; i < s->count; i++) {
        const float *values = yk_record_frame(record, selected(s, i));
        for (size_t k = 0; k < size; k++) {
            float at = 0;
            if (scale[k] > 0)
                at = (values[k] - low[k]) / scale[k];
            words[i * size + k] = NO_POSITION;
            if (isfinite(values[k]))
                words[i * size + k] = (uint16_t)lroundf(fminf(at, LAST_POSITION));
        }
    }

    /* What a reader needs to get the positions back. */
    put(json, ",\"low\":");
    put_array(json, arrays, low, size, sizeof *low);
    put(json, ",\"scale\":");
    put_array(json, arrays, scale, size, sizeof *scale);
    put(json, ",\"position\":");
    put_words(json, arrays, words, s->count, size);

    free(low);
    free(scale);
}

static void put_floats(buffer *json, buffer *arrays, const yk_record *record, const selection *s,
                       size_t from, size_t size, float *values)
{
    for (size_t i = 0; i < s->count; i++)
        memcpy(values + i * size, yk_record_frame(record, selected(s, i)) + from,
               size * sizeof *values);
    put_array(json, arrays, values, s->count * size, sizeof *values);
}

static int compare_descending(const void *a, const void *b)
{
    float left = *(const float *)a;
    float right = *(const float *)b;
    return (left < right) - (left > right);
}

/* The size of a contact's force; 0 of one that is not there or not finite. */
static float contact_force(const float *contact)
{
    float size = sqrtf(contact[6] * contact[6] + contact[7] * contact[7] + contact[8] * contact[8]);
    bool finite = isfinite(size) && isfinite(contact[0] + contact[1] + contact[2]);
    return finite ? size : 0;
}

/* The contacts of a report, frame by frame, each frame as many as it has. */
typedef struct contact_choice {
    const float **kept; /* in the record: point, normal, force */
    size_t total;
    uint16_t *counts;       /* of each frame */
    float *peaks;           /* largest force of each frame (N) */
    double low[3], high[3]; /* what bounds the points */
} contact_choice;

/* False when out of memory. Of each frame the strongest are kept, and none that could not be seen
 * beside the strongest. */
static bool choose_contacts(contact_choice *choice, const yk_record *record, const selection *s,
                            size_t from, size_t size)
{
    /* As many in each frame as fit into the page, if all frames had so many. */
    size_t all = size / CONTACT_COLUMNS;
    size_t most = CONTACTS_MAX / s->count;
    if (most > UINT16_MAX)
        most = UINT16_MAX;
    if (most < 1)
        most = 1;
    if (most > all)
        most = all;

    *choice = (contact_choice){
        .kept = calloc(s->count * most + 1, sizeof *choice->kept),
        .counts = calloc(s->count, sizeof *choice->counts),
        .peaks = calloc(s->count, sizeof *choice->peaks),
        .low = {INFINITY, INFINITY, INFINITY},
        .high = {-INFINITY, -INFINITY, -INFINITY},
    };
    float *forces = calloc(all + 1, sizeof *forces);
    bool ready = choice->kept && choice->counts && choice->peaks && forces;

    for (size_t i = 0; i < s->count && ready; i++) {
        /* The smallest force that is kept: of those that can be seen, and of as many as fit. */
        const float *contacts = yk_record_frame(record, selected(s, i)) + from;
        for (size_t k = 0; k < all; k++)
            forces[k] = contact_force(contacts + CONTACT_COLUMNS * k);
        qsort(forces, all, sizeof *forces, compare_descending);
        float least = fmaxf(CONTACT_LEAST * forces[0], forces[most - 1]);
        choice->peaks[i] = forces[0];

        /* Those above it in the order of the record, and what bounds their points. */
        for (size_t k = 0; k < all && choice->counts[i] < most; k++) {
            const float *contact = contacts + CONTACT_COLUMNS * k;
            float force = contact_force(contact);
            if (!(force > 0) || force < least)
                continue;

            choice->kept[choice->total++] = contact;
            choice->counts[i]++;
            for (int c = 0; c < 3; c++) {
                choice->low[c] = fmin(choice->low[c], contact[c]);
                choice->high[c] = fmax(choice->high[c], contact[c]);
            }
        }
    }

    free(forces);
    return ready;
}

static void release_contacts(contact_choice *choice)
{
    free(choice->kept);
    free(choice->counts);
    free(choice->peaks);
}

/* Points between the least and the largest of each coordinate, normals in bytes, forces as parts of
 * the largest of their frame. */
static void put_contacts(buffer *json, buffer *arrays, const yk_record *record, const selection *s,
                         size_t from, size_t size)
{
    contact_choice choice;
    bool chosen = choose_contacts(&choice, record, s, from, size);
    size_t numbers = 3 * choice.total;
    uint16_t *words = calloc(numbers + 1, sizeof *words);
    if (!chosen || !words) {
        json->failed = true;
        release_contacts(&choice);
        free(words);
        return;
    }

    /* How many each frame has, and the scales of what follows. */
    double scale[3] = {0, 0, 0};
    for (int c = 0; c < 3 && numbers > 0; c++)
        scale[c] = (choice.high[c] - choice.low[c]) / UINT16_MAX;
    put(json, "{\"low\":");
    put_numbers(json, choice.low, 3);
    put(json, ",\"scale\":");
    put_numbers(json, scale, 3);
    put(json, ",\"count\":");
    put_array(json, arrays, choice.counts, s->count, sizeof *choice.counts);
    put(json, ",\"peak\":");
    put_array(json, arrays, choice.peaks, s->count, sizeof *choice.peaks);

    /* One block of memory serves points, normals and forces in turn. */
    for (size_t i = 0; i < numbers; i++) {
        double at = 0;
        if (scale[i % 3] > 0)
            at = (choice.kept[i / 3][i % 3] - choice.low[i % 3]) / scale[i % 3];
        words[i] = (uint16_t)lround(fmin(at, UINT16_MAX));
    }
    put(json, ",\"point\":");
    put_array(json, arrays, words, numbers, sizeof *words);

    /* Normals are only drawn: a byte per component is finer than a pixel. */
    int8_t *bytes = (int8_t *)words;
    for (size_t i = 0; i < numbers; i++) {
        float normal = choice.kept[i / 3][3 + i % 3];
        bytes[i] = (int8_t)lroundf(127 * fmaxf(-1, fminf(1, normal)));
    }
    put(json, ",\"normal\":");
    put_array(json, arrays, bytes, numbers, sizeof *bytes);

    /* Forces as parts of the largest of their frame. */
    int16_t *parts = (int16_t *)words;
    size_t next = 0;
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < 3 * (size_t)choice.counts[i]; k++, next++) {
            float part = choice.kept[next / 3][6 + next % 3] / choice.peaks[i];
            parts[next] = (int16_t)lroundf(INT16_MAX * part);
        }
    }
    put(json, ",\"force\":");
    put_array(json, arrays, parts, numbers, sizeof *parts);
    put(json, "}");

    release_contacts(&choice);
    free(words);
}

static void put_frames(buffer *json, buffer *arrays, const yk_record *record,
                       const report_options *options)
{
    /* As many frames as are asked for, or as fit into the memory; the first and the last in any
     * case. */
    const yk_record_scene *scene = yk_record_get_header(record)->scene;
    selection s = {.all = yk_record_frame_count(record), .stride = 1};
    size_t most = (size_t)options->frames;
    if (most == 0)
        most = FRAMES_BYTES / (2 * yk_scene_frame_size(scene) + 16);
    if (most < 2)
        most = 2;
    if (s.all > most)
        s.stride = (s.all + most - 2) / (most - 1);
    if (s.all > 0)
        s.count = (s.all - 1 + s.stride - 1) / s.stride + 1;

    /* A frame is a row of tables, one after the other. */
    size_t size[YK_FRAME_TABLES];
    size_t from[YK_FRAME_TABLES];
    size_t at = 0;
    size_t widest = 1;
    for (int i = 0; i < YK_FRAME_TABLES; i++) {
        size[i] = yk_scene_table_size(scene, (yk_frame_table)i);
        from[i] = at;
        at += size[i];
        if (size[i] > widest)
            widest = size[i];
    }

    double *times = calloc(s.count + 1, sizeof *times);
    float *scratch = calloc(s.count * widest + 1, sizeof *scratch);
    if (!times || !scratch) {
        json->failed = true;
        free(times);
        free(scratch);
        return;
    }

    /* When they were. */
    for (size_t i = 0; i < s.count; i++)
        times[i] = yk_record_frame_time(record, selected(&s, i));
    put_format(json, "{\"count\":%zu,\"recorded\":%zu,\"time\":", s.count, s.all);
    put_array(json, arrays, times, s.count, sizeof *times);

    /* One block of memory serves all tables, whose numbers have at most four bytes. */
    uint16_t *words = (uint16_t *)scratch;
    put_positions(json, arrays, record, &s, size[YK_FRAME_POSITION], words);

    /* Orientations: both q and -q are one, and a jump between them would not compress, so the one
     * is taken that is nearer to that of the frame before. */
    size_t width = size[YK_FRAME_ORIENTATION];
    for (size_t i = 0; i < s.count; i++) {
        const float *values = yk_record_frame(record, selected(&s, i)) + from[YK_FRAME_ORIENTATION];
        for (size_t k = 0; k < width; k += 4) {
            int16_t *to = (int16_t *)words + i * width + k;
            double along = 0;
            for (size_t c = 0; c < 4 && i > 0; c++)
                along += (double)values[k + c] * to[(ptrdiff_t)c - (ptrdiff_t)width];
            double sign = along < 0 ? -1 : 1;

            for (size_t c = 0; c < 4; c++) {
                double value = sign * values[k + c];
                to[c] = 0;
                if (isfinite(value))
                    to[c] = (int16_t)lround(32767 * fmax(-1, fmin(1, value)));
            }
        }
    }
    put(json, ",\"orientation\":");
    put_words(json, arrays, words, s.count, width);

    /* The others are few, and stay as they are. */
    put(json, ",\"strain\":");
    put_floats(json, arrays, record, &s, from[YK_FRAME_STRAIN], size[YK_FRAME_STRAIN], scratch);
    put(json, ",\"wrench\":");
    put_floats(json, arrays, record, &s, from[YK_FRAME_WRENCH], size[YK_FRAME_WRENCH], scratch);
    put(json, ",\"watch\":");
    put_floats(json, arrays, record, &s, from[YK_FRAME_WATCH], size[YK_FRAME_WATCH], scratch);
    put(json, ",\"contact\":");
    if (size[YK_FRAME_CONTACT] > 0)
        put_contacts(json, arrays, record, &s, from[YK_FRAME_CONTACT], size[YK_FRAME_CONTACT]);
    else
        put(json, "null");
    put(json, "}");

    free(times);
    free(scratch);
}

/* The whole ------------------------------------------------------------------------------------ */

unsigned char *report_pack(const report_run *runs, int count, const report_options *options,
                           size_t *bytes)
{
    buffer json = {0};
    buffer arrays = {0};
    put(&json, "{\"software\":");
    char software[64];
    snprintf(software, sizeof software, "yoke %s", yk_version());
    put_text(&json, software);
    put(&json, ",\"runs\":[");
    for (int i = 0; i < count; i++) {
        const yk_record *record = runs[i].record;
        const yk_record_header *header = yk_record_get_header(record);
        const yk_record_summary *summary = yk_record_get_summary(record);

        /* Where the run comes from, and its channels. */
        put(&json, i ? ",{\"file\":" : "{\"file\":");
        put_text(&json, runs[i].file);
        put(&json, ",\"title\":");
        put_text(&json, header->title);
        put(&json, ",\"command\":");
        put_text(&json, header->command);
        put(&json, ",\"scenario\":");
        put_text(&json, header->scenario);
        put_format(&json, ",\"complete\":%s", yk_record_complete(record) ? "true" : "false");
        put_channels(&json, &arrays, record, options);

        /* The figures of the run, as the summary printed them. */
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

        /* What it looked like, where the subsystems can be drawn; a page that is live gets frames
         * later. */
        put(&json, "],\"scene\":");
        if (header->scene)
            put_scene(&json, header->scene);
        else
            put(&json, "null");

        put(&json, ",\"frames\":");
        if (header->scene && !options->bare && yk_record_frame_count(record) > 0)
            put_frames(&json, &arrays, record, options);
        else
            put(&json, "null");
        put(&json, "}");
    }
    put(&json, "]}");

    /* Head, JSON and arrays side by side. */
    size_t start = (8 + json.count + 7) / 8 * 8;
    unsigned char *whole = calloc(start + arrays.count + 1, 1);
    unsigned char *packed = NULL;
    if (whole && !json.failed && !arrays.failed) {
        const unsigned char head[8] = {
            'Y',
            'K',
            'R',
            '1',
            (unsigned char)json.count,
            (unsigned char)(json.count >> 8),
            (unsigned char)(json.count >> 16),
            (unsigned char)(json.count >> 24),
        };
        memcpy(whole, head, sizeof head);
        memcpy(whole + sizeof head, json.data, json.count);
        if (arrays.count > 0)
            memcpy(whole + start, arrays.data, arrays.count);

        /* The usual level: higher ones take long for little. */
        uLongf length = compressBound((uLong)(start + arrays.count));
        packed = malloc(length);
        if (packed && compress2(packed, &length, whole, (uLong)(start + arrays.count), 6) != Z_OK) {
            free(packed);
            packed = NULL;
        }
        *bytes = length;
    }

    free(whole);
    free(json.data);
    free(arrays.data);
    return packed;
}

unsigned char *report_pack_tables(const report_table *tables, int count, size_t *bytes)
{
    buffer json = {0};
    char software[64];
    snprintf(software, sizeof software, "yoke %s", yk_version());
    put(&json, "{\"software\":");
    put_text(&json, software);
    put(&json, ",\"tables\":[");
    for (int i = 0; i < count; i++) {
        put(&json, i ? ",{\"file\":" : "{\"file\":");
        put_text(&json, tables[i].file);
        put(&json, ",\"text\":");
        put_text(&json, tables[i].text);
        put(&json, "}");
    }
    put(&json, "]}");

    uLongf length = compressBound((uLong)json.count);
    unsigned char *packed = NULL;
    if (!json.failed)
        packed = malloc(length);
    if (packed && compress2(packed, &length, json.data, (uLong)json.count, 6) != Z_OK) {
        free(packed);
        packed = NULL;
    }

    free(json.data);
    *bytes = length;
    return packed;
}
