/* CSV reader: RFC 4180 fields with line feeds or CR LF, a header line, numbers. The file is held
 * in memory and cut into fields in place. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "record/load.h"

typedef struct csv_parser {
    yk_context *context;
    const char *path;
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

/* Fields --------------------------------------------------------------------------------------- */

/* Takes the quotes off a field that starts with one; the cursor moves behind the closing quote. */
static yk_status unquote(csv_parser *parser, char **close)
{
    char *from = parser->cursor + 1, *to = parser->cursor;
    size_t first_line = parser->line;
    for (; from < parser->end; from++) {
        if (*from == '\n')
            parser->line++;
        if (*from == '"' && *++from != '"') {
            parser->cursor = from;
            *close = to;
            return YK_OK;
        }
        *to++ = *from;
    }
    parser->line = first_line;
    return fail_at(parser, "a quote is opened and never closed; is the file cut off?");
}

static bool ends_field(char c)
{
    return c == ',' || c == '\n' || c == '\r';
}

static yk_status next_field(csv_parser *parser, char **field)
{
    char *close = NULL;
    *field = parser->cursor;
    if (*parser->cursor == '"') {
        yk_status status = unquote(parser, &close);
        if (status != YK_OK)
            return status;
    } else {
        while (parser->cursor < parser->end && !ends_field(*parser->cursor))
            parser->cursor++;
        close = parser->cursor;
    }
    char *next = parser->cursor;
    if (next[0] == '\r' && next[1] == '\n')
        next++;
    if (*next != ',' && *next != '\n')
        return fail_at(parser, next == parser->end ? "the last line has no line break: the file is "
                                                     "cut off, or lacks its last character"
                                                   : "a field continues after its closing quote");
    parser->line_ended = *next == '\n';
    parser->cursor = next + 1;
    *close = '\0';
    return YK_OK;
}

static void skip_blank_lines(csv_parser *parser)
{
    for (; parser->cursor < parser->end && (*parser->cursor == '\r' || *parser->cursor == '\n');
         parser->cursor++)
        if (*parser->cursor == '\n')
            parser->line++;
}

/* Header --------------------------------------------------------------------------------------- */

static size_t count_columns(const csv_parser *parser)
{
    size_t count = 1;
    bool quoted = false;
    for (const char *c = parser->cursor; c < parser->end && (quoted || *c != '\n'); c++) {
        if (*c == '"')
            quoted = !quoted;
        if (*c == ',' && !quoted)
            count++;
    }
    return count;
}

static yk_status read_names(csv_parser *parser)
{
    size_t room = count_columns(parser);
    parser->names = yk_allocate(parser->context, room, sizeof *parser->names);
    if (!parser->names)
        return YK_ERROR_MEMORY;
    do {
        yk_status status = next_field(parser, &parser->names[parser->columns]);
        if (status != YK_OK)
            return status;
        parser->columns++;
    } while (!parser->line_ended && parser->columns < room);
    parser->line++;
    return YK_OK;
}

/* Where the last `mark` stands that no backslash quotes, or NULL. */
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

/* "left.position:x [m]" in place to its three parts; label NULL where there is none. */
static void split_name(char *text, char **label, char **unit)
{
    static char none[] = "";
    char *bracket = last_mark(text, '['), *closing = last_mark(text, ']');
    *unit = none;
    *label = NULL;
    if (bracket && bracket > text && bracket[-1] == ' ' && closing > bracket &&
        closing[1] == '\0') {
        bracket[-1] = *closing = '\0';
        *unit = bracket + 1;
        take_off_backslashes(*unit);
    }
    char *colon = last_mark(text, ':');
    if (colon) {
        *colon = '\0';
        *label = colon + 1;
        take_off_backslashes(*label);
    }
    take_off_backslashes(text);
}

/* Neighbours with the same name and different labels are the components of one channel. */
static int group_columns(const csv_parser *parser, yk_record_channel *channels, char **labels)
{
    int count = 0;
    for (size_t i = 1; i < parser->columns; i++) {
        char *unit = NULL;
        split_name(parser->names[i], &labels[i], &unit);
        yk_record_channel *last = count ? &channels[count - 1] : NULL;
        if (last && labels[i] && labels[i - 1] && strcmp(last->name, parser->names[i]) == 0) {
            last->components++;
            continue;
        }
        channels[count++] =
            (yk_record_channel){.name = parser->names[i],
                                .unit = unit,
                                .components = 1,
                                .labels = labels[i] ? (const char *const *)&labels[i] : NULL};
    }
    return count;
}

static bool names_time(const char *field)
{
    return strncasecmp(field, "time", 4) == 0 && (field[4] == '\0' || field[4] == ' ');
}

static yk_status read_header(csv_parser *parser, yk_record *record)
{
    yk_status status = read_names(parser);
    if (status != YK_OK)
        return status;
    if (!names_time(parser->names[0]))
        return yk_fail(parser->context, YK_ERROR_INPUT,
                       "%s:1: neither an HDF5 file nor a CSV table: the first column must be 'time "
                       "[s]', not '%.40s'",
                       parser->path, parser->names[0]);
    yk_record_channel *channels = yk_allocate(parser->context, parser->columns, sizeof *channels);
    char **labels = yk_allocate(parser->context, parser->columns, sizeof *labels);
    status = YK_ERROR_MEMORY;
    if (channels && labels) {
        yk_record_header header = {.channels = channels,
                                   .channel_count = group_columns(parser, channels, labels)};
        status = yk_recorder_begin(yk_record_recorder(record), &header);
    }
    yk_release(parser->context, labels);
    yk_release(parser->context, channels);
    return status;
}

/* Rows ----------------------------------------------------------------------------------------- */

static yk_status read_number(csv_parser *parser, size_t column, double *number)
{
    char *field = NULL, *rest = NULL;
    yk_status status = next_field(parser, &field);
    if (status != YK_OK)
        return status;
    *number = strtod(field, &rest);
    if (rest != field && rest[strspn(rest, " \t")] == '\0')
        return YK_OK;
    return yk_fail(parser->context, YK_ERROR_INPUT,
                   "%s:%zu: '%.40s' in column %zu ('%s') is not a number", parser->path,
                   parser->line, field, column + 1, parser->names[column]);
}

static yk_status read_row(csv_parser *parser, double *row)
{
    for (size_t i = 0; i < parser->columns; i++) {
        yk_status status = read_number(parser, i, &row[i]);
        if (status != YK_OK)
            return status;
        if (parser->line_ended != (i + 1 == parser->columns))
            return yk_fail(parser->context, YK_ERROR_INPUT,
                           "%s:%zu: %s than the %zu fields of the header line", parser->path,
                           parser->line, parser->line_ended ? "fewer" : "more", parser->columns);
    }
    return YK_OK;
}

static yk_status read_rows(csv_parser *parser, yk_record *record)
{
    double *row = yk_allocate(parser->context, parser->columns, sizeof *row);
    if (!row)
        return YK_ERROR_MEMORY;
    yk_status status = YK_OK;
    for (skip_blank_lines(parser); status == YK_OK && parser->cursor < parser->end;
         skip_blank_lines(parser)) {
        status = read_row(parser, row);
        if (status == YK_OK)
            status = yk_recorder_sample(yk_record_recorder(record), row[0], row + 1);
        parser->line++;
    }
    yk_release(parser->context, row);
    return status;
}

/* File ----------------------------------------------------------------------------------------- */

static yk_status read_file(csv_parser *parser, char **data)
{
    FILE *stream = fopen(parser->path, "rb");
    if (!stream)
        return yk_fail(parser->context, YK_ERROR_FILE, "cannot read '%s': %s", parser->path,
                       strerror(errno));
    yk_status status = YK_OK;
    size_t length = 0, capacity = 0;
    for (bool more = true; more && status == YK_OK;) {
        if (length + 1 >= capacity) {
            capacity = capacity ? 2 * capacity : 1 << 16;
            char *grown = yk_reallocate(parser->context, *data, capacity, 1);
            if (grown)
                *data = grown;
            else
                status = YK_ERROR_MEMORY;
        }
        size_t got = status == YK_OK ? fread(*data + length, 1, capacity - length - 1, stream) : 0;
        length += got;
        more = got > 0;
    }
    if (status == YK_OK && ferror(stream))
        status = yk_fail(parser->context, YK_ERROR_FILE, "cannot read '%s': %s", parser->path,
                         strerror(errno));
    fclose(stream);
    if (status != YK_OK)
        return status;
    (*data)[length] = '\0';
    parser->cursor = *data;
    parser->end = *data + length;
    if (strlen(*data) == length)
        return YK_OK;
    return yk_fail(parser->context, YK_ERROR_INPUT, "'%s' is neither an HDF5 file nor text",
                   parser->path);
}

static yk_status parse(csv_parser *parser, yk_record *record)
{
    if (strncmp(parser->cursor, "\xef\xbb\xbf", 3) == 0)
        parser->cursor += 3; /* the mark that spreadsheets put */
    /* Numbers have a decimal point, whatever the program's language. */
    locale_t locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!locale)
        return yk_fail(parser->context, YK_ERROR_MEMORY, "out of memory for a locale");
    locale_t before = uselocale(locale);
    yk_status status = read_header(parser, record);
    if (status == YK_OK)
        status = read_rows(parser, record);
    uselocale(before);
    freelocale(locale);
    return status;
}

yk_status yk_csv_load(yk_context *context, const char *path, yk_record *record)
{
    csv_parser parser = {.context = context, .path = path, .line = 1};
    char *data = NULL;
    yk_status status = read_file(&parser, &data);
    if (status == YK_OK)
        status = parse(&parser, record);
    yk_release(context, parser.names);
    yk_release(context, data);
    if (status != YK_OK)
        return status;
    /* A table does not say whether its run finished, but only complete ones lose their .part. */
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".part") == 0)
        yk_record_close(record);
    else
        status = yk_recorder_end(yk_record_recorder(record), NULL);
    return status;
}
