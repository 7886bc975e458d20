/* CSV writer: RFC 4180 with line feeds, 17 significant digits. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "record/file.h"
#include "record/journal.h"
#include "record/memory.h"

enum {
    TEXT_BYTES = 65536,
    NUMBER_BYTES = 26 /* "-2.2250738585072014e-308", separator, terminator */
};

typedef struct csv_writer {
    yk_recorder base;
    yk_context *context;
    char *path;
    int descriptor;  /* -1: none */
    locale_t locale; /* numbers have a decimal point, whatever the program's language */
    uint64_t length; /* of the file */
    size_t stride;   /* numbers in a line */
    char *text;      /* lines that wait */
    size_t used, capacity;
} csv_writer;

static yk_status cannot_write(const csv_writer *self, int error)
{
    return yk_fail(self->context, YK_ERROR_FILE, "cannot write '%s': %s", self->path,
                   strerror(error));
}

static yk_status write_text(csv_writer *self, const char *text, size_t length)
{
    if (!yk_write_all(self->descriptor, text, length, self->length))
        return cannot_write(self, errno);

    self->length += length;

    return YK_OK;
}

/* Characters that part name, label and unit are quoted by a backslash, quotes as RFC 4180 has it
 * by another quote. */
static void add_quoted(yk_context *context, yk_text *line, const char *text)
{
    for (; *text; text++) {
        if (strchr(":[]\\", *text))
            yk_text_add(context, line, "\\");
        if (*text == '"')
            yk_text_add(context, line, "\"");
        yk_text_add(context, line, "%c", *text);
    }
}

static yk_status csv_begin(yk_recorder *recorder, const yk_record_header *header)
{
    csv_writer *self = (csv_writer *)recorder;
    yk_context *context = self->context;
    self->descriptor = open(self->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (self->descriptor < 0)
        return cannot_write(self, errno);

    /* Numbers have a decimal point, whatever the program's language. */
    self->locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!self->locale)
        return yk_fail(context, YK_ERROR_MEMORY, "out of memory for a locale");

    /* Memory for the longest line, or for many short ones. */
    self->stride = 1 + yk_header_width(header);
    self->capacity = self->stride * NUMBER_BYTES;
    if (self->capacity < TEXT_BYTES)
        self->capacity = TEXT_BYTES;
    self->text = yk_allocate(context, self->capacity, 1);
    if (!self->text)
        return YK_ERROR_MEMORY;

    /* The line of names. */
    yk_text line = {0};
    yk_text_add(context, &line, "time [s]");
    for (int i = 0; i < header->channel_count; i++) {
        const yk_record_channel *channel = &header->channels[i];
        for (int c = 0; c < channel->components; c++) {
            /* "name:label [unit]", quoted where RFC 4180 asks for it. */
            const char *label = channel->labels[c];
            bool quotes = strpbrk(channel->name, ",\"\r\n") || strpbrk(label, ",\"\r\n") ||
                          strpbrk(channel->unit, ",\"\r\n");
            yk_text_add(context, &line, quotes ? ",\"" : ",");
            add_quoted(context, &line, channel->name);
            if (*label) {
                yk_text_add(context, &line, ":");
                add_quoted(context, &line, label);
            }

            if (*channel->unit) {
                yk_text_add(context, &line, " [");
                add_quoted(context, &line, channel->unit);
                yk_text_add(context, &line, "]");
            }

            if (quotes)
                yk_text_add(context, &line, "\"");
        }
    }

    yk_text_add(context, &line, "\n");

    yk_status status = YK_ERROR_MEMORY;
    if (!line.failed)
        status = write_text(self, line.data, line.length);
    yk_text_destroy(context, &line);
    return status;
}

static yk_status csv_sample(yk_recorder *recorder, double time, const double *row)
{
    /* Lines are gathered until another does not fit. */
    csv_writer *self = (csv_writer *)recorder;
    if (self->capacity - self->used < self->stride * NUMBER_BYTES) {
        yk_status status = write_text(self, self->text, self->used);
        if (status != YK_OK)
            return status;
        self->used = 0;
    }

    /* 17 digits bring every number back to the bit. */
    locale_t before = uselocale(self->locale);
    for (size_t k = 0; k < self->stride; k++) {
        double value = k > 0 ? row[k - 1] : time;
        char *to = self->text + self->used;
        self->used += (size_t)snprintf(to, NUMBER_BYTES, "%.17g", value);
        self->text[self->used++] = k + 1 < self->stride ? ',' : '\n';
    }

    uselocale(before);

    return YK_OK;
}

static yk_status csv_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    (void)summary; /* a plain table cannot hold it */
    csv_writer *self = (csv_writer *)recorder;
    yk_status status = write_text(self, self->text, self->used);
    if (status != YK_OK)
        return status;

    /* On the disk before anybody may rename it; errors of writes may show only here. */
    if (fsync(self->descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
        return cannot_write(self, errno);

    int failed = close(self->descriptor);
    self->descriptor = -1;
    if (failed)
        return cannot_write(self, errno);

    return YK_OK;
}

static void csv_destroy(yk_recorder *recorder)
{
    csv_writer *self = (csv_writer *)recorder;
    if (self->descriptor >= 0)
        close(self->descriptor);
    if (self->locale)
        freelocale(self->locale);
    yk_release(self->context, self->text);
    yk_release(self->context, self->path);
    yk_release(self->context, self);
}

static const yk_recorder_ops csv_ops = {
    .size = sizeof csv_ops,
    .kind = "csv",
    .begin = csv_begin,
    .sample = csv_sample,
    .end = csv_end,
    .destroy = csv_destroy,
};

yk_status yk_csv_writer_create(yk_context *context, const char *path, yk_recorder **writer)
{
    *writer = NULL;
    csv_writer *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->base.ops = &csv_ops;
    self->context = context;
    self->descriptor = -1;
    self->path = yk_text_copy(context, path);
    if (!self->path) {
        csv_destroy(&self->base);
        return YK_ERROR_MEMORY;
    }

    *writer = &self->base;

    return YK_OK;
}
