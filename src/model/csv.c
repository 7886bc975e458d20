/* Comma-separated tables with places for messages. */
#include "model/csv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static bool is_blank(const char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    return *line == 0 || *line == '#';
}

/* Cuts the line at its commas, in place, without blanks around the fields. */
static void cut(yk_csv *table)
{
    char *rest = table->text;
    for (table->fields = 0; rest && table->fields < YK_CSV_FIELDS; table->fields++) {
        char *field = rest, *comma = strchr(field, ',');
        rest = comma ? comma + 1 : NULL;
        if (comma)
            *comma = 0;
        while (isspace((unsigned char)*field))
            field++;
        size_t length = strlen(field);
        while (length && isspace((unsigned char)field[length - 1]))
            field[--length] = 0;
        table->field[table->fields] = field;
    }
}

static yk_status next_line(yk_csv *table, bool *more)
{
    for (*more = true; fgets(table->text, sizeof table->text, table->file);) {
        table->line++;
        if (!strchr(table->text, '\n') && !feof(table->file))
            return yk_fail(table->context, YK_ERROR_ARGUMENT,
                           "%s:%d: the line is longer than %d characters", table->path, table->line,
                           YK_CSV_LINE - 2);
        if (is_blank(table->text))
            continue;

        table->text[strcspn(table->text, "\r\n")] = 0;
        cut(table);
        return YK_OK;
    }
    *more = false;
    return YK_OK;
}

static yk_status find_columns(yk_csv *table)
{
    for (int k = 0; k < table->count; k++) {
        table->column[k] = -1;
        for (int at = 0; at < table->fields; at++) {
            if (strcmp(table->field[at], table->names[k]) != 0)
                continue;
            if (table->column[k] >= 0)
                return yk_fail(table->context, YK_ERROR_ARGUMENT,
                               "%s:%d:%d: there are two columns '%s'", table->path, table->line,
                               (int)(table->field[at] - table->text) + 1, table->names[k]);
            table->column[k] = at;
        }
        if (table->column[k] < 0 && k < table->required)
            return yk_fail(table->context, YK_ERROR_ARGUMENT,
                           "%s:%d: there is no column '%s': the first line names the columns",
                           table->path, table->line, table->names[k]);
    }
    return YK_OK;
}

yk_status yk_csv_open(yk_context *context, const char *path, const char *const *names, int required,
                      yk_csv *table)
{
    *table = (yk_csv){.context = context, .path = path, .names = names, .required = required};
    while (names[table->count])
        table->count++;
    table->file = fopen(path, "r");
    if (!table->file)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s cannot be opened: %s", path,
                       strerror(errno));
    bool more;
    yk_status status = next_line(table, &more);
    if (status != YK_OK)
        return status;
    if (!more)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s is empty: its first line names the columns, such as '%s'", path,
                       names[0]);
    return find_columns(table);
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

    for (int k = 0; k < table->required; k++)
        if (table->column[k] >= table->fields || table->field[table->column[k]][0] == 0)
            return yk_csv_error(table, k, "there is nothing under '%s'", table->names[k]);
    return YK_OK;
}

bool yk_csv_has(const yk_csv *table, int name)
{
    return table->column[name] >= 0;
}

const char *yk_csv_text(const yk_csv *table, int name)
{
    int at = table->column[name];
    return at >= 0 && at < table->fields ? table->field[at] : "";
}

yk_status yk_csv_number(const yk_csv *table, int name, double *value)
{
    const char *text = yk_csv_text(table, name);
    char *end;
    *value = strtod(text, &end);
    if (text[0] == 0)
        return YK_OK;
    if (*end || !isfinite(*value))
        return yk_csv_error(table, name, "expected a number under '%s', found '%.40s'",
                            table->names[name], text);
    return YK_OK;
}

yk_status yk_csv_integer(const yk_csv *table, int name, int *value)
{
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
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    int at = table->column[name];
    const char *last = table->fields ? table->field[table->fields - 1] : table->text;
    const char *place = at >= 0 && at < table->fields ? table->field[at] : last + strlen(last);
    return yk_fail(table->context, YK_ERROR_ARGUMENT, "%s:%d:%d: %s", table->path, table->line,
                   (int)(place - table->text) + 1, message);
}
