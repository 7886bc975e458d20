/* Comma-separated tables, with the location of each field for messages. */
#include "model/files.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/text.h"

/* Whether a field of the first line names a column, possibly with its unit: "height [mm]". */
static bool names_column(const char *field, const char *name)
{
    size_t length = strlen(name);
    return strncmp(field, name, length) == 0 &&
           (field[length] == '\0' || strncmp(field + length, " [", 2) == 0);
}

/* The unit in a field of the first line; 1 if there is none, or if it is unknown. */
static yk_unit unit_of(const char *field)
{
    yk_unit unit = {.numerator = 1, .denominator = 1};
    const char *open = strstr(field, " [");
    size_t length = open ? yk_unit_read(open + 2, NULL, NULL, &unit) : 0;
    if (!length || strcmp(open + 2 + length, "]") != 0)
        unit = (yk_unit){.numerator = 1, .denominator = 1};
    return unit;
}

/* The next line that is neither empty nor a comment, split into fields. */
static yk_status next_line(yk_csv *table, bool *more)
{
    *more = false;
    const char *first = "";
    while (*first == '\0' || *first == '#') {
        if (!fgets(table->text, sizeof table->text, table->file))
            return yk_input_check(table->context, table->file, table->path, YK_OK);

        table->line++;

        /* A truncated line would be read as two. */
        if (!strchr(table->text, '\n') && !feof(table->file))
            return yk_fail(table->context, YK_ERROR_ARGUMENT,
                           "%s:%d: the line is longer than %d characters", table->path, table->line,
                           YK_CSV_LINE - 2);

        first = table->text;
        while (isspace((unsigned char)*first))
            first++;
    }

    table->text[strcspn(table->text, "\r\n")] = '\0';

    /* Split at the commas, in place, without white space around the fields. */
    char *rest = table->text;
    for (table->fields = 0; rest && table->fields < YK_CSV_FIELDS; table->fields++) {
        char *field = rest;
        char *comma = strchr(field, ',');
        rest = NULL;
        if (comma) {
            *comma = '\0';
            rest = comma + 1;
        }

        while (isspace((unsigned char)*field))
            field++;
        size_t length = strlen(field);

        while (length && isspace((unsigned char)field[length - 1]))
            field[--length] = '\0';
        table->field[table->fields] = field;
    }
    *more = true;

    return YK_OK;
}

yk_status yk_csv_open(yk_context *context, const char *path, const char *const *names, int required,
                      yk_csv *table)
{
    *table = (yk_csv){.context = context, .path = path, .names = names, .required = required};
    while (names[table->count])
        table->count++;

    table->file = yk_input_open(context, path, YK_ERROR_ARGUMENT);
    if (!table->file)
        return YK_ERROR_ARGUMENT;

    /* The first line names the columns. */
    bool more;
    yk_status status = next_line(table, &more);
    if (status != YK_OK)
        return status;
    if (!more)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s is empty: its first line names the columns, such as '%s'", path,
                       names[0]);

    /* Indices of the columns. */
    for (int k = 0; k < table->count; k++) {
        table->column[k] = -1;
        for (int i = 0; i < table->fields; i++) {
            const char *field = table->field[i];
            if (!names_column(field, names[k]))
                continue;
            if (table->column[k] >= 0)
                return yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d:%d: there are two columns '%s'",
                               path, table->line, (int)(field - table->text) + 1, names[k]);

            table->column[k] = i;
            table->unit[k] = unit_of(field);
        }

        if (k < required && table->column[k] < 0)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s:%d: there is no column '%s': the first line names the columns", path,
                           table->line, names[k]);
    }

    return YK_OK;
}

void yk_csv_close(yk_csv *table)
{
    if (table->file)
        fclose(table->file);
    table->file = NULL;
}

yk_status yk_csv_next(yk_csv *table, bool *more)
{
    yk_status status = next_line(table, more);
    if (status != YK_OK || !*more)
        return status;

    /* The row may be shorter than the header. */
    for (int k = 0; k < table->required; k++)
        if (!yk_csv_text(table, k)[0])
            return yk_csv_error(table, k, "there is nothing under '%s'", table->names[k]);

    return YK_OK;
}

bool yk_csv_has(const yk_csv *table, int name)
{
    return table->column[name] >= 0;
}

const char *yk_csv_text(const yk_csv *table, int name)
{
    int column = table->column[name];
    if (column < 0 || column >= table->fields)
        return "";
    return table->field[column];
}

yk_status yk_csv_number(const yk_csv *table, int name, double *value)
{
    /* A missing or empty field is zero. */
    const char *text = yk_csv_text(table, name);
    char *end;
    *value = yk_text_number(text, &end);
    if (text[0] == 0)
        return YK_OK;
    if (*end || !isfinite(*value))
        return yk_csv_error(table, name, "expected a number under '%s', found '%.40s'",
                            table->names[name], text);

    return YK_OK;
}

yk_status yk_csv_integer(const yk_csv *table, int name, int *value)
{
    /* Whole numbers may be written as 1.0 or 1e3. */
    double number;
    yk_status status = yk_csv_number(table, name, &number);
    if (status != YK_OK)
        return status;
    if (number != floor(number) || fabs(number) > 2e9)
        return yk_csv_error(table, name, "expected a whole number under '%s', found '%.40s'",
                            table->names[name], yk_csv_text(table, name));
    *value = (int)number;

    return YK_OK;
}

yk_status yk_csv_error(const yk_csv *table, int name, const char *format, ...)
{
    /* A message with the location. */
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(message, sizeof message, format, arguments);
    va_end(arguments);

    /* The field, or the end of a line that is too short. */
    const char *at = table->text;
    int column = table->column[name];
    if (column >= 0 && column < table->fields) {
        at = table->field[column];
    } else if (table->fields > 0) {
        const char *last = table->field[table->fields - 1];
        at = last + strlen(last);
    } else {
        at += strlen(at);
    }
    return yk_fail(table->context, YK_ERROR_ARGUMENT, "%s:%d:%d: %s", table->path, table->line,
                   (int)(at - table->text) + 1, message);
}
