#include "analysis/align.h"

#include <string.h>

int yk_record_width(const yk_record_header *header)
{
    int width = 0;
    for (int i = 0; i < header->channel_count; i++)
        width += header->channels[i].components;
    return width;
}

static void align_rotation(double *const *first, double *const *other, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        double product = 0;
        for (int k = 0; k < 4; k++)
            product += first[k][i] * other[k][i];
        for (int k = 0; product < 0 && k < 4; k++)
            other[k][i] = -other[k][i];
    }
}

static bool is_rotation(const yk_record_channel *channel)
{
    const char *dot = strrchr(channel->name, '.');
    return channel->components == 4 && dot && strcmp(dot, ".orientation") == 0;
}

yk_status yk_align(yk_context *context, const yk_record *const *records, int count, yk_aligned *a)
{
    const yk_record_header *header = yk_record_get_header(records[0]);
    *a = (yk_aligned){
        .runs = count, .width = yk_record_width(header), .rows = yk_record_rows(records[0])};
    for (int i = 1; i < count; i++)
        if (yk_record_rows(records[i]) < a->rows)
            a->rows = yk_record_rows(records[i]);
    size_t columns = (size_t)a->runs * (size_t)a->width;
    a->columns = yk_allocate(context, columns + 1, sizeof *a->columns);
    a->values = yk_allocate(context, columns * a->rows + 1, sizeof *a->values);
    a->time = yk_allocate(context, a->rows + 1, sizeof *a->time);
    if (!a->columns || !a->values || !a->time)
        return YK_ERROR_MEMORY;

    memcpy(a->time, yk_record_time(records[0]), a->rows * sizeof *a->time);
    for (int run = 0; run < a->runs; run++) {
        int at = run * a->width;
        for (int c = 0; c < header->channel_count; c++) {
            int components = header->channels[c].components;
            for (int k = 0; k < components; k++) {
                a->columns[at + k] = a->values + (size_t)(at + k) * a->rows;
                memcpy(a->columns[at + k], yk_record_column(records[run], c, k),
                       a->rows * sizeof(double));
            }
            if (run > 0 && is_rotation(&header->channels[c]))
                align_rotation(a->columns + at - run * a->width, a->columns + at, a->rows);
            at += components;
        }
    }
    return YK_OK;
}

void yk_align_release(yk_context *context, yk_aligned *a)
{
    yk_release(context, a->columns);
    yk_release(context, a->values);
    yk_release(context, a->time);
}
