/* Growing columns: one block per component, all of the same capacity, doubled when full. */
#include "record/memory.h"

#include <string.h>

#include "record/header.h"

enum { FIRST_ROWS = 256 };

static void release_columns(yk_record *record)
{
    if (record->columns)
        for (size_t c = 0; c <= record->width; c++) yk_release(record->context, record->columns[c]);
    yk_release(record->context, record->columns);
    record->columns = NULL;
    record->rows = record->capacity = 0;
}

yk_status yk_record_reserve(yk_record *record, size_t rows)
{
    if (rows <= record->capacity) return YK_OK;
    for (size_t c = 0; c <= record->width; c++) {
        double *grown = yk_reallocate(record->context, record->columns[c], rows, sizeof *grown);
        if (!grown) return YK_ERROR_MEMORY; /* columns that have grown already are just larger than they need be */
        record->columns[c] = grown;
    }
    record->capacity = rows;
    return YK_OK;
}

static yk_status memory_begin(yk_recorder *recorder, const yk_record_header *header)
{
    yk_record *record = (yk_record *)recorder;
    yk_record_header *copy = NULL;
    yk_status status = yk_header_copy(record->context, header, &copy);
    if (status != YK_OK) return status;
    size_t width = yk_header_width(copy);
    double **columns = yk_allocate(record->context, width + 1, sizeof *columns);
    yk_record_summary *summary = NULL;
    if (columns) status = yk_summary_copy(record->context, NULL, &summary);
    if (!columns || status != YK_OK) {
        yk_release(record->context, columns);
        yk_release(record->context, copy);
        return YK_ERROR_MEMORY;
    }
    release_columns(record);
    yk_release(record->context, record->header);
    yk_release(record->context, record->summary);
    record->header = copy;
    record->summary = summary;
    record->columns = columns;
    record->width = width;
    record->open = true;
    record->complete = false;
    return YK_OK;
}

/* Off the fast path: a sample that finds no room, because the columns are full or the record is not open. */
static yk_status make_room(yk_record *record)
{
    if (!record->open)
        return yk_fail(record->context, YK_ERROR_ARGUMENT, "a sample came outside begin and end of a record");
    return yk_record_reserve(record, record->capacity ? 2 * record->capacity : FIRST_ROWS);
}

static yk_status memory_sample(yk_recorder *recorder, double time, const double *row)
{
    yk_record *record = (yk_record *)recorder;
    if (record->rows == record->capacity) {
        yk_status status = make_room(record);
        if (status != YK_OK) return status;
    }
    double **columns = record->columns;
    size_t place = record->rows++, width = record->width;
    columns[0][place] = time;
    for (size_t c = 0; c < width; c++) columns[c + 1][place] = row[c];
    return YK_OK;
}

void yk_record_close(yk_record *record)
{
    record->open = false;
    record->capacity = record->rows;
}

static yk_status memory_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    yk_record *record = (yk_record *)recorder;
    if (!record->open) return yk_fail(record->context, YK_ERROR_ARGUMENT, "a record was ended that had not begun");
    yk_record_summary *copy = NULL;
    yk_status status = yk_summary_copy(record->context, summary, &copy);
    if (status != YK_OK) return status;
    yk_release(record->context, record->summary);
    record->summary = copy;
    record->complete = true;
    yk_record_close(record);
    return YK_OK;
}

static void memory_destroy(yk_recorder *recorder)
{
    yk_record *record = (yk_record *)recorder;
    release_columns(record);
    yk_release(record->context, record->summary);
    yk_release(record->context, record->header);
    yk_release(record->context, record);
}

static const yk_recorder_ops memory_ops = {
    .size = sizeof memory_ops,
    .kind = "memory",
    .begin = memory_begin,
    .sample = memory_sample,
    .end = memory_end,
    .destroy = memory_destroy,
};

yk_status yk_record_create(yk_context *context, yk_record **record)
{
    *record = NULL;
    yk_record *made = yk_allocate(context, 1, sizeof *made);
    if (!made) return YK_ERROR_MEMORY;
    made->base.ops = &memory_ops;
    made->context = context;
    /* An empty record answers every question, so that the getters need not ask whether it has begun. */
    yk_status status = memory_begin(&made->base, &(yk_record_header){0});
    if (status != YK_OK) {
        memory_destroy(&made->base);
        return status;
    }
    yk_record_close(made);
    *record = made;
    return YK_OK;
}

void yk_record_destroy(yk_record *record)
{
    if (record) memory_destroy(&record->base);
}

yk_recorder *yk_record_recorder(yk_record *record)
{
    return &record->base;
}

bool yk_record_complete(const yk_record *record)
{
    return record->complete;
}

const yk_record_header *yk_record_get_header(const yk_record *record)
{
    return record->header;
}

const yk_record_summary *yk_record_get_summary(const yk_record *record)
{
    return record->summary;
}

size_t yk_record_rows(const yk_record *record)
{
    return record->rows;
}

const double *yk_record_time(const yk_record *record)
{
    return record->columns[0];
}

const double *yk_record_column(const yk_record *record, int channel, int component)
{
    size_t column = 1 + (size_t)component;
    for (int i = 0; i < channel; i++) column += (size_t)record->header->channels[i].components;
    return record->columns[column];
}

int yk_record_find(const yk_record *record, const char *name)
{
    for (int i = 0; i < record->header->channel_count; i++)
        if (strcmp(record->header->channels[i].name, name) == 0) return i;
    return -1;
}
