/* A file is a header of 128 bytes and a data element per variable. An element is a tag (type, number
 * of bytes) and data that are padded to 8 bytes. The element of an array contains those of its flags,
 * dimensions, name and values; that of a cell array contains arrays. Numbers have the byte order of
 * the machine, which the header states. */
#include "record/mat.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum {
    HEADER_TEXT = 116,
    TAG = 8,
    MI_INT8 = 1,
    MI_UINT16 = 4,
    MI_INT32 = 5,
    MI_UINT32 = 6,
    MI_DOUBLE = 9,
    MI_MATRIX = 14,
    MX_CELL = 1,
    MX_CHAR = 4,
    MX_DOUBLE = 6
};

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void put(yk_mat_file *file, const void *data, size_t bytes)
{
    if (file->failed || bytes == 0)
        return;
    errno = 0;
    if (fwrite(data, 1, bytes, file->output.stream) != bytes) {
        file->failed = true;
        file->error = errno;
    }
}

static void put_padding(yk_mat_file *file, size_t bytes)
{
    static const char zeros[8] = {0};
    put(file, zeros, padded(bytes) - bytes);
}

static void put_tag(yk_mat_file *file, uint32_t type, size_t bytes)
{
    const uint32_t tag[2] = {type, (uint32_t)bytes};
    put(file, tag, sizeof tag);
}

/* Bytes of flags, dimensions and name of an array. */
static size_t head_bytes(const char *name)
{
    return 3 * TAG + 8 + 8 + padded(strlen(name));
}

static void put_head(yk_mat_file *file, uint32_t class, int rows, int columns, const char *name)
{
    const uint32_t flags[2] = {class, 0};
    const int32_t dimensions[2] = {rows, columns};
    put_tag(file, MI_UINT32, sizeof flags);
    put(file, flags, sizeof flags);
    put_tag(file, MI_INT32, sizeof dimensions);
    put(file, dimensions, sizeof dimensions);
    put_tag(file, MI_INT8, strlen(name));
    put(file, name, strlen(name));
    put_padding(file, strlen(name));
}

yk_mat_file yk_mat_open(const char *path)
{
    yk_mat_file file = {.output = yk_output_open(path)};
    if (!file.output.stream) {
        file.failed = true;
        file.error = errno;
        return file;
    }

    char text[HEADER_TEXT];
    memset(text, ' ', sizeof text);
    static const char title[] = "MATLAB 5.0 MAT-file, written by Yoke";
    memcpy(text, title, sizeof title - 1);
    put(&file, text, sizeof text);
    const uint32_t none[2] = {0, 0};
    put(&file, none, sizeof none);
    const uint16_t version[2] = {0x0100, ('M' << 8) | 'I'};
    put(&file, version, sizeof version);
    return file;
}

bool yk_mat_close(yk_mat_file *file)
{
    if (!file->failed)
        return yk_output_close(&file->output);
    yk_output_discard(&file->output);
    errno = file->error;
    return false;
}

void yk_mat_write_matrix(yk_mat_file *file, const char *name, int rows, int columns,
                         const double *values)
{
    size_t bytes = (size_t)rows * (size_t)columns * sizeof(double);
    put_tag(file, MI_MATRIX, head_bytes(name) + TAG + bytes);
    put_head(file, MX_DOUBLE, rows, columns, name);
    put_tag(file, MI_DOUBLE, bytes);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            put(file, &values[(size_t)i * (size_t)columns + (size_t)j], sizeof(double));
}

/* Length in UTF-16 units of a text in UTF-8, and the units if there is a file. Characters beyond the
 * basic plane and invalid bytes become '?'. */
static size_t put_characters(yk_mat_file *file, const char *text)
{
    size_t count = 0;
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        uint16_t unit = '?';
        int more = 0;
        if (*at < 0x80)
            unit = *at;
        else if ((*at & 0xe0) == 0xc0)
            more = 1;
        else if ((*at & 0xf0) == 0xe0)
            more = 2;
        else if ((*at & 0xf8) == 0xf0)
            more = 3;
        uint32_t code = more == 1 ? *at & 0x1fU : *at & 0x0fU;
        bool valid = more > 0 && more < 3;
        at++;
        for (int i = 0; i < more && (*at & 0xc0) == 0x80; i++, at++)
            code = code << 6 | (*at & 0x3fU);
        if (valid)
            unit = (uint16_t)code;
        if (file)
            put(file, &unit, sizeof unit);
        count++;
    }
    return count;
}

void yk_mat_write_texts(yk_mat_file *file, const char *name, int count,
                        const char *(*texts)(const void *user, int index), const void *user)
{
    size_t bytes = head_bytes(name);
    for (int i = 0; i < count; i++)
        bytes += TAG + head_bytes("") + TAG + padded(2 * put_characters(NULL, texts(user, i)));

    put_tag(file, MI_MATRIX, bytes);
    put_head(file, MX_CELL, count, 1, name);
    for (int i = 0; i < count; i++) {
        size_t length = put_characters(NULL, texts(user, i));
        put_tag(file, MI_MATRIX, head_bytes("") + TAG + padded(2 * length));
        put_head(file, MX_CHAR, length > 0 ? 1 : 0, (int)length, "");
        put_tag(file, MI_UINT16, 2 * length);
        put_characters(file, texts(user, i));
        put_padding(file, 2 * length);
    }
}
