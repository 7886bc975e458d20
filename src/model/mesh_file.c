/* Reads STL and OBJ files. In STL each triangle has its own three corners; equal corners are merged
 * with a hash table, if they agree to the last bit. In OBJ corners are numbered from 1, or
 * backwards from the last with negative numbers; polygons are divided into triangles that share
 * their first corner. */
#include "model/files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/input.h"
#include "base/text.h"
#include "model/expression.h"

enum { STL_HEADER = 80, STL_TRIANGLE = 50, WORD = 64 };

typedef struct reader {
    yk_context *context;
    const char *path;
    double scale;
    FILE *file;
    int line;
    yk_mesh *mesh;
    int point_capacity, triangle_capacity;
    int *table; /* of points by their hash, -1: empty; a power of two of slots */
    size_t slots;
} reader;

/* Memory --------------------------------------------------------------------------------------- */

static yk_status grow(reader *r, void **list, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return YK_OK;
    if (count >= 3 * YK_MESH_TRIANGLES_MAX)
        return yk_fail(r->context, YK_ERROR_INPUT, "%s has more than %d triangles", r->path,
                       YK_MESH_TRIANGLES_MAX);

    int wanted = *capacity > 0 ? 2 * *capacity : 256;
    void *grown = yk_reallocate(r->context, *list, (size_t)wanted, size);
    if (!grown)
        return YK_ERROR_MEMORY;

    *list = grown;
    *capacity = wanted;
    return YK_OK;
}

static yk_status add_point(reader *r, yk_vec3 point)
{
    yk_mesh *m = r->mesh;
    if (!isfinite(point.x) || !isfinite(point.y) || !isfinite(point.z))
        return yk_fail(r->context, YK_ERROR_INPUT, "%s: a corner is not finite", r->path);

    /* The list may move as it grows. */
    void *list = m->points;
    yk_status status = grow(r, &list, m->point_count, &r->point_capacity, sizeof *m->points);
    m->points = list;
    if (status != YK_OK)
        return status;

    m->points[m->point_count++] =
        (yk_vec3){r->scale * point.x, r->scale * point.y, r->scale * point.z};
    return YK_OK;
}

/* A degenerate triangle, with two equal corners, is left out. */
static yk_status add_triangle(reader *r, int a, int b, int c)
{
    yk_mesh *m = r->mesh;
    if (a == b || b == c || c == a)
        return YK_OK;

    /* The list may move as it grows. */
    void *list = m->triangles;
    yk_status status =
        grow(r, &list, m->triangle_count, &r->triangle_capacity, sizeof *m->triangles);
    m->triangles = list;
    if (status != YK_OK)
        return status;

    int *corners = m->triangles[m->triangle_count++];
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;

    return YK_OK;
}

/* STL ------------------------------------------------------------------------------------------ */

static size_t hash_of(yk_vec3 p)
{
    const double parts[3] = {p.x + 0.0, p.y + 0.0, p.z + 0.0}; /* -0 and 0 are the same corner */
    return (size_t)yk_hash_bytes(YK_HASH_START, parts, sizeof parts);
}

/* The index of a corner, which may exist already. */
static yk_status find_point(reader *r, yk_vec3 point, int *number)
{
    yk_mesh *m = r->mesh;

    /* The table is at most half full; a larger one is filled again. */
    if (2 * (size_t)m->point_count >= r->slots) {
        /* A power of two, so that a mask does what a division would. */
        size_t slots = r->slots ? 2 * r->slots : 1024;
        int *table = yk_allocate(r->context, slots, sizeof *table);
        if (!table)
            return YK_ERROR_MEMORY;

        /* All bits set: -1, an empty slot. */
        memset(table, 0xff, slots * sizeof *table);
        for (int i = 0; i < m->point_count; i++) {
            size_t slot = hash_of(m->points[i]) & (slots - 1);
            while (table[slot] >= 0)
                slot = (slot + 1) & (slots - 1);

            table[slot] = i;
        }

        yk_free(r->context, r->table);
        r->table = table;
        r->slots = slots;
    }

    /* The slot of the corner, or the next empty one. */
    yk_vec3 scaled = {r->scale * point.x, r->scale * point.y, r->scale * point.z};
    size_t slot = hash_of(scaled) & (r->slots - 1);
    for (; r->table[slot] >= 0; slot = (slot + 1) & (r->slots - 1)) {
        const yk_vec3 *other = &m->points[r->table[slot]];
        if (other->x == scaled.x && other->y == scaled.y && other->z == scaled.z) {
            *number = r->table[slot];
            return YK_OK;
        }
    }

    *number = m->point_count;
    yk_status status = add_point(r, point);
    if (status == YK_OK)
        r->table[slot] = *number;

    return status;
}

static yk_status add_corners(reader *r, const yk_vec3 corners[3])
{
    int numbers[3];
    for (int i = 0; i < 3; i++) {
        yk_status status = find_point(r, corners[i], &numbers[i]);
        if (status != YK_OK)
            return status;
    }

    return add_triangle(r, numbers[0], numbers[1], numbers[2]);
}

/* An 80-byte header, the number of triangles, then for each a normal, three corners (floats) and
 * two bytes. */
static yk_status read_binary(reader *r, uint32_t count)
{
    fseek(r->file, STL_HEADER + 4, SEEK_SET);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char bytes[STL_TRIANGLE];
        if (fread(bytes, 1, sizeof bytes, r->file) != sizeof bytes)
            return yk_fail(r->context, YK_ERROR_INPUT, "%s ends in triangle %u of %u", r->path,
                           i + 1, count);

        /* The normal comes first; it follows from the corners. */
        float numbers[12];
        memcpy(numbers, bytes, sizeof numbers);
        const yk_vec3 corners[3] = {{numbers[3], numbers[4], numbers[5]},
                                    {numbers[6], numbers[7], numbers[8]},
                                    {numbers[9], numbers[10], numbers[11]}};

        yk_status status = add_corners(r, corners);
        if (status != YK_OK)
            return status;
    }

    return YK_OK;
}

/* The next word of a text, in lower case; false at the end. */
static bool next_word(reader *r, char word[WORD])
{
    int c = getc(r->file);
    for (; c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = getc(r->file))
        r->line += c == '\n';

    /* Longer words are truncated; all relevant words are shorter. */
    size_t length = 0;
    for (; c != EOF && c != ' ' && c != '\t' && c != '\r' && c != '\n'; c = getc(r->file))
        if (length < WORD - 1)
            word[length++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (c != EOF)
        ungetc(c, r->file);

    word[length] = '\0';
    return length > 0;
}

/* solid NAME, facet normal n n n, outer loop, vertex x y z (three times), endloop, endfacet ... */
static yk_status read_text(reader *r)
{
    rewind(r->file);
    r->line = 1;
    char word[WORD];
    yk_vec3 corners[3];

    int corner = 0;
    while (next_word(r, word)) {
        /* The end of a facet. */
        if (strcmp(word, "endloop") == 0 && corner != 3)
            return yk_fail(r->context, YK_ERROR_INPUT, "%s:%d: a facet has %d corners, not 3",
                           r->path, r->line, corner);
        if (strcmp(word, "endloop") == 0) {
            yk_status status = add_corners(r, corners);
            if (status != YK_OK)
                return status;

            corner = 0;
        }

        /* A corner; all other words are skipped. */
        if (strcmp(word, "vertex") != 0)
            continue;
        if (corner == 3)
            return yk_fail(r->context, YK_ERROR_INPUT, "%s:%d: a facet has more than 3 corners",
                           r->path, r->line);

        double numbers[3];
        for (int i = 0; i < 3; i++)
            if (!next_word(r, word) || !yk_number_read(word, &numbers[i]))
                return yk_fail(r->context, YK_ERROR_INPUT,
                               "%s:%d: after 'vertex' three numbers are expected", r->path,
                               r->line);

        corners[corner++] = (yk_vec3){numbers[0], numbers[1], numbers[2]};
    }

    return YK_OK;
}

/* Text begins with `solid`, but so do the headers of some binary files: the size decides. */
static yk_status read_stl(reader *r)
{
    /* Size of a binary file with this count. */
    unsigned char head[STL_HEADER + 4] = {0};
    size_t got = fread(head, 1, sizeof head, r->file);
    yk_status status = yk_input_check(r->context, r->file, r->path, YK_OK);
    if (status != YK_OK)
        return status;

    uint32_t count = 0;
    memcpy(&count, head + STL_HEADER, sizeof count);
    fseek(r->file, 0, SEEK_END);
    long size = ftell(r->file);
    bool fits = got == sizeof head && size == STL_HEADER + 4 + (long)count * STL_TRIANGLE;

    /* A file that is too short for its count, or has no count, may be a text. */
    if (!fits && strncasecmp((const char *)head, "solid", 5) == 0)
        return read_text(r);
    if (got < sizeof head || count > YK_MESH_TRIANGLES_MAX)
        return yk_fail(
            r->context, YK_ERROR_INPUT,
            "%s is no STL file: neither a text that begins with 'solid', nor binary with "
            "up to %d triangles",
            r->path, YK_MESH_TRIANGLES_MAX);

    return read_binary(r, count);
}

/* OBJ ------------------------------------------------------------------------------------------ */

/* The corners of a face: "f 1 2 3", "f 1/4/7 2/5/8 ...", of which the first number is the corner. */
static yk_status read_face(reader *r, const char *text)
{
    int first = -1;
    int last = -1;
    int count = 0;
    for (;;) {
        /* The first number of a group; texture and normal follow a slash. */
        text += strspn(text, " \t");
        char *end;
        errno = 0;
        long number = strtol(text, &end, 10);
        if (end == text)
            break;

        /* Negative numbers count backwards from the last corner. */
        if (number < 0)
            number += r->mesh->point_count + 1;
        if (errno || number < 1 || number > r->mesh->point_count)
            return yk_fail(r->context, YK_ERROR_INPUT,
                           "%s:%d: there is no corner %.*s; %d have come so far", r->path, r->line,
                           (int)(end - text), text, r->mesh->point_count);

        /* A fan of triangles about the first corner. */
        int corner = (int)number - 1;
        if (count == 0)
            first = corner;
        if (count >= 2) {
            yk_status status = add_triangle(r, first, last, corner);
            if (status != YK_OK)
                return status;
        }

        last = corner;
        count++;
        text = end + strcspn(end, " \t");
    }

    if (count < 3)
        return yk_fail(r->context, YK_ERROR_INPUT, "%s:%d: a face has at least 3 corners", r->path,
                       r->line);

    return YK_OK;
}

static yk_status read_obj(reader *r)
{
    char *line = NULL;
    size_t capacity = 0;
    yk_status status = YK_OK;
    while (status == YK_OK && getline(&line, &capacity, r->file) >= 0) {
        r->line++;
        line[strcspn(line, "\r\n")] = '\0';

        /* Faces and corners; normals, colors and groups are skipped. */
        if (strncmp(line, "f ", 2) == 0)
            status = read_face(r, line + 2);
        if (strncmp(line, "v ", 2) != 0)
            continue;

        /* A corner; a fourth number, its weight, is not used. */
        char words[3][WORD];
        yk_vec3 point = {0};
        bool good = sscanf(line + 2, "%63s %63s %63s", words[0], words[1], words[2]) == 3 &&
                    yk_number_read(words[0], &point.x) && yk_number_read(words[1], &point.y) &&
                    yk_number_read(words[2], &point.z);
        if (good)
            status = add_point(r, point);
        else
            status = yk_fail(r->context, YK_ERROR_INPUT,
                             "%s:%d: after 'v' three numbers are expected", r->path, r->line);
    }

    free(line);
    return status;
}

/* Files ---------------------------------------------------------------------------------------- */

void yk_mesh_release(yk_context *context, yk_mesh *mesh)
{
    yk_free(context, mesh->points);
    yk_free(context, mesh->triangles);
    *mesh = (yk_mesh){0};
}

yk_status yk_mesh_read(yk_context *context, const char *path, double scale, yk_mesh *mesh)
{
    static const struct {
        const char *ending;
        yk_status (*read)(reader *r);
    } formats[] = {{".stl", read_stl}, {".obj", read_obj}};
    *mesh = (yk_mesh){0};

    /* The name determines the format. */
    const char *ending = strrchr(path, '.');
    yk_status (*read)(reader * r) = NULL;
    for (size_t i = 0; ending && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(ending, formats[i].ending) == 0)
            read = formats[i].read;
    if (!read)
        return yk_fail(
            context, YK_ERROR_INPUT,
            "the format of %s is not known from its name; use a name that ends in .stl or .obj",
            path);

    reader r = {.context = context, .path = path, .scale = scale, .mesh = mesh};
    r.file = yk_input_open(context, path, YK_ERROR_FILE);
    if (!r.file)
        return YK_ERROR_FILE;

    yk_status status = read(&r);
    status = yk_input_check(context, r.file, path, status);
    fclose(r.file);
    yk_free(context, r.table);
    if (status == YK_OK && mesh->triangle_count == 0)
        status = yk_fail(context, YK_ERROR_INPUT, "%s has no triangles", path);

    /* Release the data read before an error. */
    if (status != YK_OK)
        yk_mesh_release(context, mesh);

    return status;
}
