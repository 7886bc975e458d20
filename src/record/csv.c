/* CSV according to RFC 4180: a header line, then numbers with the fewest digits that preserve every
 * bit. Written with line feeds; read with these or CR LF. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/input.h"
#include "base/text.h"
#include "record/journal.h"
#include "record/memory.h"

/* Writing -------------------------------------------------------------------------------------- */

enum {
    TEXT_BYTES = 65536,
    NUMBER_BYTES = YK_DECIMAL_BYTES + 1 /* with a separator */
};

typedef struct csv_writer {
    yk_recorder base;
    yk_context *context;
    char *path;
    int descriptor;  /* -1: none */
    uint64_t length; /* of the file */
    size_t stride;   /* numbers in a line */
    char *text;      /* buffered lines */
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

/* Components ------------------------------------------------------------------------------------
 *
 * A column is named "channel.component" if the components of the channel have the usual labels, and
 * "channel:component" otherwise. The reader joins neighbors "tip.position.x", ".y" and ".z" to one channel. */

static const char *const component_sets[][6] = {
    {"x", "y", "z", "rx", "ry", "rz"},
    {"w", "x", "y", "z"},
    {"x", "y", "z"},
};

enum { COMPONENT_SETS = sizeof component_sets / sizeof *component_sets };

static int component_set_size(int set)
{
    int size = 0;
    while (size < 6 && component_sets[set][size])
        size++;
    return size;
}

/* Label `index` of a set; in the set after the last one the labels are 1, 2, 3, ... */
static const char *component_label(int set, int index, char number[16])
{
    if (set < COMPONENT_SETS)
        return index < component_set_size(set) ? component_sets[set][index] : NULL;

    snprintf(number, 16, "%d", index + 1);
    return number;
}

static bool has_usual_labels(const yk_record_channel *channel)
{
    int count = channel->component_count;
    if (count == 1)
        return false;

    for (int set = 0; set <= COMPONENT_SETS; set++) {
        if (set < COMPONENT_SETS && component_set_size(set) != count)
            continue;

        bool same = true;
        char number[16];
        for (int i = 0; i < count && same; i++)
            same = strcmp(channel->labels[i], component_label(set, i, number)) == 0;
        if (same)
            return true;
    }

    return false;
}

/* Writing: the header line --------------------------------------------------------------------- */

/* Characters that separate name, label and unit are quoted by a backslash, quotes by another quote as in
 * RFC 4180. */
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

    /* A symbolic link is not followed, and an existing file is not overwritten. */
    self->descriptor = open(self->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (self->descriptor < 0)
        return cannot_write(self, errno);

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
        const char *separator = has_usual_labels(channel) ? "." : ":";
        for (int c = 0; c < channel->component_count; c++) {
            /* "name.label [unit]", quoted if RFC 4180 requires it. */
            const char *label = channel->labels[c];
            bool quotes = strpbrk(channel->name, ",\"\r\n") || strpbrk(label, ",\"\r\n") ||
                          strpbrk(channel->unit, ",\"\r\n");

            yk_text_add(context, &line, quotes ? ",\"" : ",");
            add_quoted(context, &line, channel->name);
            if (*label) {
                yk_text_add(context, &line, "%s", separator);
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
    /* Lines are buffered until the next one does not fit. */
    csv_writer *self = (csv_writer *)recorder;
    if (self->capacity - self->used < self->stride * NUMBER_BYTES) {
        yk_status status = write_text(self, self->text, self->used);
        if (status != YK_OK)
            return status;
        self->used = 0;
    }

    for (size_t k = 0; k < self->stride; k++) {
        double value = k > 0 ? row[k - 1] : time;
        char *to = self->text + self->used;
        self->used += yk_decimal_write(value, to);
        self->text[self->used++] = k + 1 < self->stride ? ',' : '\n';
    }

    return YK_OK;
}

static yk_status csv_end(yk_recorder *recorder, const yk_record_summary *summary)
{
    (void)summary; /* a plain table has no place for it */
    csv_writer *self = (csv_writer *)recorder;
    yk_status status = write_text(self, self->text, self->used);
    if (status != YK_OK)
        return status;

    /* Synchronize to the disk before the file is renamed; write errors may appear only here. */
    if (fsync(self->descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
        return cannot_write(self, errno);

    /* Close here and not in destroy, so that a failure is reported. */
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
    yk_free(self->context, self->text);
    yk_free(self->context, self->path);
    yk_free(self->context, self);
}

static const yk_recorder_ops csv_ops = {
    .size = sizeof csv_ops,
    .kind = "csv",
    .begin = csv_begin,
    .sample = csv_sample,
    .end = csv_end,
    .destroy = csv_destroy,
};

yk_status yk_csv_writer_create(yk_context *context, const char *path,
                               const yk_record_counts *counts, yk_recorder **writer)
{
    (void)counts; /* lines are appended */
    *writer = NULL;
    csv_writer *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    /* The file itself is created when the record begins. */
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

/* Reading: text ----------------------------------------------------------------------------------
 *
 * Some lines at a time are in memory and split into fields in place, so that files may have any
 * length. */

enum { BUFFER_BYTES = 1 << 16 };

typedef struct csv_parser {
    yk_context *context;
    const char *path;
    FILE *stream;
    char *data; /* unused data, from cursor to end */
    size_t capacity;
    char *cursor, *end; /* *end is a terminator */
    size_t line;        /* of the cursor, from 1 */
    bool line_ended;    /* the last field was the last of its line */
    char **names;       /* fields of the header line */
    size_t columns;
} csv_parser;

static yk_status fail_at(csv_parser *parser, const char *reason)
{
    return yk_fail(parser->context, YK_ERROR_INPUT, "%s:%zu: %s", parser->path, parser->line,
                   reason);
}

/* After the first line break from the cursor on that is not quoted; NULL: there is none yet. */
static const char *end_of_line(const csv_parser *parser)
{
    /* Lines of numbers have no quotes. */
    size_t left = (size_t)(parser->end - parser->cursor);
    const char *feed = memchr(parser->cursor, '\n', left);
    if (!feed || !memchr(parser->cursor, '"', (size_t)(feed - parser->cursor)))
        return feed ? feed + 1 : NULL;

    bool quoted = false;
    for (const char *c = parser->cursor; c < parser->end; c++) {
        if (*c == '"')
            quoted = !quoted;
        if (*c == '\n' && !quoted)
            return c + 1;
    }

    return NULL;
}

/* Reads until the line at the cursor is complete, or the file ends. */
static yk_status read_line(csv_parser *parser)
{
    while (!parser->cursor || !end_of_line(parser)) {
        /* Move the rest to the front; enlarge the buffer for a long line. */
        size_t left = 0;
        if (parser->cursor)
            left = (size_t)(parser->end - parser->cursor);
        if (left > 0)
            memmove(parser->data, parser->cursor, left);

        if (left + 1 >= parser->capacity) {
            size_t capacity = 2 * parser->capacity;
            if (capacity < BUFFER_BYTES)
                capacity = BUFFER_BYTES;
            char *grown = yk_reallocate(parser->context, parser->data, capacity, 1);
            if (!grown)
                return YK_ERROR_MEMORY;

            parser->data = grown;
            parser->capacity = capacity;
        }

        /* One byte less than there is: the text gets a zero at its end. */
        char *to = parser->data + left;
        size_t got = fread(to, 1, parser->capacity - left - 1, parser->stream);
        if (ferror(parser->stream))
            return yk_fail(parser->context, YK_ERROR_FILE, "cannot read '%s': %s", parser->path,
                           strerror(errno));

        /* A text has no zero bytes. */
        if (memchr(to, '\0', got))
            return yk_fail(parser->context, YK_ERROR_INPUT, "'%s' is neither an HDF5 file nor text",
                           parser->path);

        parser->cursor = parser->data;
        parser->end = to + got;
        *parser->end = '\0';

        /* At the end of the file, the rest is the last line. */
        if (got == 0)
            return YK_OK;
    }

    return YK_OK;
}

/* Extracts the next field from the text, without its quotes, and moves after its separator. */
static yk_status next_field(csv_parser *parser, char **field)
{
    char *from = parser->cursor;
    char *close = NULL; /* where the field ends */
    *field = from;

    if (*from == '"') {
        /* The text is moved by its quotes; two quotes stand for one. */
        size_t first_line = parser->line;
        char *to = from++;
        for (; from < parser->end && !close; from++) {
            if (*from == '\n')
                parser->line++;
            if (*from == '"' && *++from != '"')
                close = to;
            else
                *to++ = *from;
        }

        if (!close) {
            parser->line = first_line;
            return fail_at(parser, "a quote is opened and never closed; is the file cut off?");
        }

        /* Back to the separator, over which the loop has gone. */
        from--;
    } else {
        while (*from && *from != ',' && *from != '\r' && *from != '\n')
            from++;
        close = from;
    }

    /* Lines may end in CR LF (RFC 4180, section 2, rule 1). */
    if (from[0] == '\r' && from[1] == '\n')
        from++;
    parser->cursor = from;

    /* Without its line break the last number may be truncated. */
    if (from == parser->end)
        return fail_at(parser, "the last line has no line break: the file is cut off, or lacks its "
                               "last character");
    if (*from != ',' && *from != '\n')
        return fail_at(parser, "a field continues after its closing quote");

    /* Terminate the field at its separator, which was needed until here. */
    parser->line_ended = *from == '\n';
    parser->cursor = from + 1;
    *close = '\0';

    return YK_OK;
}

/* Reading: the header line --------------------------------------------------------------------- */

/* The last `mark` without a backslash before it, or NULL. */
static char *last_mark(char *text, char mark)
{
    char *found = NULL;
    for (; *text; text++) {
        if (*text == '\\' && text[1])
            text++;
        else if (*text == mark)
            found = text;
    }

    return found;
}

static void take_off_backslashes(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text == '\\' && text[1])
            text++;
        *to++ = *text;
    }

    *to = '\0';
}

/* Splits "left.position:x [m]" in place into its three parts; the label is NULL if there is none. */
static void split_name(char *text, char **label, char **unit)
{
    static char none[] = "";
    *unit = none;
    *label = NULL;

    /* The unit stands in brackets at the end, after a space. */
    char *bracket = last_mark(text, '[');
    char *closing = last_mark(text, ']');
    bool has_unit = bracket && bracket > text && bracket[-1] == ' ';
    if (has_unit && closing > bracket && closing[1] == '\0') {
        bracket[-1] = '\0';
        *closing = '\0';
        *unit = bracket + 1;
        take_off_backslashes(*unit);
    }

    /* The label of a component follows the last colon. */
    char *colon = last_mark(text, ':');
    if (colon) {
        *colon = '\0';
        *label = colon + 1;
        take_off_backslashes(*label);
    }

    /* The writer has put backslashes before characters that separate name, label and unit. */
    take_off_backslashes(text);
}

/* A column of the header line. */
typedef struct csv_column {
    char *name, *unit;
    char *label; /* NULL: none */
} csv_column;

/* The component after the last dot of a name; NULL: none. */
static char *dotted_component(const char *name)
{
    char *dot = strrchr(name, '.');
    return dot && dot > name && dot[1] ? dot + 1 : NULL;
}

/* Number of columns from the first one on that are "name.label" with the labels of this set. */
static size_t count_components(const csv_column *columns, size_t count, int set)
{
    const char *first = dotted_component(columns[0].name);
    size_t prefix = first ? (size_t)(first - columns[0].name) : 0;
    size_t found = 0;
    char number[16];
    for (; found < count; found++) {
        const csv_column *column = &columns[found];
        const char *label = component_label(set, (int)found, number);
        const char *own = dotted_component(column->name);
        bool same = label && own && !column->label && strcmp(own, label) == 0 &&
                    (size_t)(own - column->name) == prefix &&
                    strncmp(column->name, columns[0].name, prefix) == 0 &&
                    strcmp(column->unit, columns[0].unit) == 0;
        if (!same)
            break;
    }

    bool whole = set < COMPONENT_SETS ? found == (size_t)component_set_size(set) : found > 1;
    return whole ? found : 0;
}

/* Splits "name.label" for all columns that are components of one channel. */
static void split_components(csv_column *columns, size_t count)
{
    size_t step;
    for (size_t i = 0; i < count; i += step) {
        step = 0;
        for (int set = 0; set <= COMPONENT_SETS && step == 0; set++)
            step = count_components(columns + i, count - i, set);
        for (size_t k = 0; k < step; k++) {
            char *label = dotted_component(columns[i + k].name);
            label[-1] = '\0';
            columns[i + k].label = label;
        }

        if (step == 0)
            step = 1;
    }
}

static yk_status read_header(csv_parser *parser, yk_recorder *to)
{
    /* There are at most as many names as unquoted commas. */
    size_t most = 1;
    bool quoted = false;
    for (const char *c = parser->cursor; c < parser->end && (quoted || *c != '\n'); c++) {
        if (*c == '"')
            quoted = !quoted;
        if (*c == ',' && !quoted)
            most++;
    }

    /* The names are extracted in place. */
    parser->names = yk_allocate(parser->context, most, sizeof *parser->names);
    if (!parser->names)
        return YK_ERROR_MEMORY;

    do {
        yk_status status = next_field(parser, &parser->names[parser->columns]);
        if (status != YK_OK)
            return status;

        parser->columns++;
    } while (!parser->line_ended && parser->columns < most);
    parser->line++;

    /* Any table whose first column is time is accepted. */
    const char *first = parser->names[0];
    bool is_time = strncasecmp(first, "time", 4) == 0 && (first[4] == '\0' || first[4] == ' ');
    if (!is_time)
        return yk_fail(parser->context, YK_ERROR_INPUT,
                       "%s:1: neither an HDF5 file nor a CSV table: the first column must be 'time "
                       "[s]', not '%.40s'",
                       parser->path, first);

    /* Neighbors with the same name and different labels are the components of one channel. */
    size_t count = parser->columns - 1;
    csv_column *columns = yk_allocate(parser->context, parser->columns, sizeof *columns);
    yk_record_channel *channels = yk_allocate(parser->context, parser->columns, sizeof *channels);
    char **labels = yk_allocate(parser->context, parser->columns, sizeof *labels);
    yk_status status = YK_ERROR_MEMORY;
    if (columns && channels && labels) {
        for (size_t i = 0; i < count; i++) {
            columns[i].name = parser->names[i + 1];
            split_name(columns[i].name, &columns[i].label, &columns[i].unit);
        }

        split_components(columns, count);

        int channel_count = 0;
        for (size_t i = 0; i < count; i++) {
            labels[i] = columns[i].label;
            if (i > 0 && labels[i] && labels[i - 1] &&
                strcmp(channels[channel_count - 1].name, columns[i].name) == 0) {
                channels[channel_count - 1].component_count++;
                continue;
            }

            yk_record_channel *channel = &channels[channel_count++];
            *channel = (yk_record_channel){
                .name = columns[i].name, .unit = columns[i].unit, .component_count = 1};
            if (labels[i])
                channel->labels = (const char *const *)&labels[i];
        }

        yk_record_header header = {.channels = channels, .channel_count = channel_count};
        status = yk_recorder_begin(to, &header);
    }

    yk_free(parser->context, labels);
    yk_free(parser->context, channels);
    yk_free(parser->context, columns);
    return status;
}

/* Reading: rows -------------------------------------------------------------------------------- */

static yk_status read_rows(csv_parser *parser, yk_recorder *to)
{
    double *row = yk_allocate(parser->context, parser->columns, sizeof *row);
    if (!row)
        return YK_ERROR_MEMORY;

    yk_status status = YK_OK;
    while (status == YK_OK) {
        status = read_line(parser);
        if (status != YK_OK || parser->cursor >= parser->end)
            break;

        /* Blank lines are skipped. */
        size_t blank = strspn(parser->cursor, "\r");
        if (parser->cursor[blank] == '\n') {
            parser->cursor += blank + 1;
            parser->line++;
            continue;
        }

        for (size_t i = 0; i < parser->columns && status == YK_OK; i++) {
            char *field = NULL;
            status = next_field(parser, &field);
            if (status != YK_OK)
                break;

            /* Also inf and nan, as written; nothing may follow. */
            char *rest = NULL;
            row[i] = yk_decimal_read(field, &rest);
            if (rest == field || rest[strspn(rest, " \t")] != '\0')
                status = yk_fail(parser->context, YK_ERROR_INPUT,
                                 "%s:%zu: '%.40s' in column %zu ('%s') is not a number",
                                 parser->path, parser->line, field, i + 1, parser->names[i]);

            /* Every line has as many fields as the first. */
            bool last = i + 1 == parser->columns;
            if (status == YK_OK && parser->line_ended != last)
                status = yk_fail(parser->context, YK_ERROR_INPUT,
                                 "%s:%zu: %s than the %zu fields of the header line", parser->path,
                                 parser->line, last ? "more" : "fewer", parser->columns);
        }

        if (status == YK_OK)
            status = yk_recorder_sample(to, row[0], row + 1);
        parser->line++;
    }

    yk_free(parser->context, row);
    return status;
}

yk_status yk_csv_load(yk_context *context, const char *path, yk_recorder *to, bool *complete)
{
    csv_parser parser = {.context = context, .path = path, .line = 1};
    parser.stream = yk_regular_open(context, path, YK_ERROR_FILE);
    if (!parser.stream)
        return YK_ERROR_FILE;

    yk_status status = read_line(&parser);
    if (status == YK_OK && strncmp(parser.cursor, "\xef\xbb\xbf", 3) == 0)
        parser.cursor += 3; /* the mark that spreadsheets write */

    char *header = NULL;
    if (status == YK_OK) {
        status = read_header(&parser, to);

        /* The names remain in their buffer; the rest of it is moved to new memory. */
        header = parser.data;
        parser.data = NULL;
        if (status == YK_OK) {
            size_t left = (size_t)(parser.end - parser.cursor);
            parser.data = yk_allocate(context, parser.capacity, 1);
            if (parser.data) {
                memcpy(parser.data, parser.cursor, left + 1);
                parser.cursor = parser.data;
                parser.end = parser.data + left;
                status = read_rows(&parser, to);
            } else {
                status = YK_ERROR_MEMORY;
            }
        }
    }

    fclose(parser.stream);
    yk_free(context, parser.names);
    yk_free(context, parser.data);
    yk_free(context, header);
    if (status != YK_OK)
        return status;

    /* A table does not show whether its run finished, but only complete ones have no .part file. */
    size_t length = strlen(path);
    *complete = !(length > 5 && strcmp(path + length - 5, ".part") == 0);
    if (!*complete)
        return YK_OK;

    return yk_recorder_end(to, NULL);
}
