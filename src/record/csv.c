/* CSV writer: RFC 4180 with line feeds, 17 significant digits. Whole lines only reach the file,
 * so that a run that dies leaves a table that can be read. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "record/file.h"

enum {
    TEXT_BYTES = 65536,
    NUMBER_BYTES = 26 /* "-2.2250738585072014e-308", separator, terminator */
};

typedef struct csv_file {
    yk_record_file file;
    int descriptor;  /* -1: none */
    locale_t locale; /* numbers have a decimal point, whatever the program's language */
    off_t length;    /* of the whole lines in the file */
    char *text;
    size_t capacity;
} csv_file;

static yk_status write_text(csv_file *self, const char *text, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t written = write(self->descriptor, text + done, length - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            /* Take back the piece of a line that may have got through. */
            int error = errno;
            int cut = ftruncate(self->descriptor, self->length);
            (void)cut;
            return yk_file_fail(&self->file, error);
        }

        done += (size_t)written;
    }

    self->length += (off_t)length;

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

static void add_column(yk_context *context, yk_text *line, const yk_record_channel *channel,
                       int component)
{
    const char *label = channel->labels[component];
    bool quotes = strpbrk(channel->name, ",\"\r\n") || strpbrk(label, ",\"\r\n") ||
                  strpbrk(channel->unit, ",\"\r\n");
    yk_text_add(context, line, quotes ? ",\"" : ",");
    add_quoted(context, line, channel->name);
    if (*label) {
        yk_text_add(context, line, ":");
        add_quoted(context, line, label);
    }

    if (*channel->unit) {
        yk_text_add(context, line, " [");
        add_quoted(context, line, channel->unit);
        yk_text_add(context, line, "]");
    }

    if (quotes)
        yk_text_add(context, line, "\"");
}

static yk_status write_names(csv_file *self)
{
    yk_context *context = self->file.context;
    const yk_record_header *header = self->file.header;
    yk_text line = {0};
    yk_text_add(context, &line, "time [s]");
    for (int i = 0; i < header->channel_count; i++)
        for (int c = 0; c < header->channels[i].components; c++)
            add_column(context, &line, &header->channels[i], c);
    yk_text_add(context, &line, "\n");
    yk_status status = line.failed ? YK_ERROR_MEMORY : write_text(self, line.data, line.length);
    yk_text_destroy(context, &line);
    return status;
}

static yk_status csv_open(yk_record_file *file)
{
    csv_file *self = (csv_file *)file;
    self->length = 0;
    self->locale = (locale_t)0;
    self->text = NULL;
    self->descriptor = open(file->part, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (self->descriptor < 0)
        return yk_file_fail(file, errno);

    self->locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!self->locale)
        return yk_fail(file->context, YK_ERROR_MEMORY, "out of memory for a locale");

    size_t line = file->block.stride * NUMBER_BYTES;
    self->capacity = line > TEXT_BYTES ? line : TEXT_BYTES;
    self->text = yk_allocate(file->context, self->capacity, 1);

    return self->text ? write_names(self) : YK_ERROR_MEMORY;
}

static yk_status csv_write(yk_record_file *file)
{
    csv_file *self = (csv_file *)file;
    const yk_block *block = &file->block;
    size_t longest = block->stride * NUMBER_BYTES, used = 0;
    yk_status status = YK_OK;
    locale_t before = uselocale(self->locale);
    for (size_t i = 0; i < block->rows && status == YK_OK; i++) {
        const double *row = block->values + i * block->stride;
        for (size_t k = 0; k < block->stride; k++) {
            used += (size_t)snprintf(self->text + used, NUMBER_BYTES, "%.17g", row[k]);
            self->text[used++] = k + 1 < block->stride ? ',' : '\n';
        }

        /* To the file, when another line does not fit. */
        bool last = i + 1 == block->rows;
        if (!last && self->capacity - used >= longest)
            continue;

        status = write_text(self, self->text, used);
        used = 0;
    }

    uselocale(before);

    return status;
}

static yk_status csv_finish(yk_record_file *file, const yk_record_summary *summary)
{
    (void)summary; /* a plain table cannot hold it */
    csv_file *self = (csv_file *)file;
    int failed = close(self->descriptor);
    self->descriptor = -1;
    return failed ? yk_file_fail(file, errno) : YK_OK;
}

static void csv_close(yk_record_file *file)
{
    csv_file *self = (csv_file *)file;
    if (self->descriptor >= 0)
        close(self->descriptor);
    if (self->locale)
        freelocale(self->locale);
    yk_release(file->context, self->text);
}

const yk_file_format yk_csv_format = {
    .ops = YK_FILE_OPS("csv"),
    .size = sizeof(csv_file),
    .open = csv_open,
    .write = csv_write,
    .finish = csv_finish,
    .close = csv_close,
};
