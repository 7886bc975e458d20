/* Tables of comma-separated fields, read row by row: the first line names the columns, in any order; columns that nobody
 * asked for are passed over, as are empty lines and lines that begin with #. Mistakes are told with their place. */
#ifndef YK_MODEL_TABLE_H
#define YK_MODEL_TABLE_H

#include <stdio.h>

#include "yoke/base.h"

enum { YK_TABLE_COLUMNS = 16, YK_TABLE_FIELDS = 64, YK_TABLE_LINE = 8192 };

typedef struct yk_table {
    yk_context *context;
    const char *path;
    FILE *file;
    const char *const *names; /* of the columns that are wanted */
    int count;
    int required;                 /* the first of them must be there, and filled */
    int column[YK_TABLE_COLUMNS]; /* where they are in the file; -1: absent */
    int line, fields;
    char *field[YK_TABLE_FIELDS];
    char text[YK_TABLE_LINE];
} yk_table;

/* `names` end with NULL. Close it whatever is returned. */
yk_status yk_table_open(yk_context *context, const char *path, const char *const *names, int required, yk_table *table);
void yk_table_close(yk_table *table);
/* The next row, or none. */
yk_status yk_table_next(yk_table *table, bool *more);

bool yk_table_has(const yk_table *table, int name);
/* Fields of the row by the index of their name; absent and empty ones are "" and 0. */
const char *yk_table_text(const yk_table *table, int name);
yk_status yk_table_number(const yk_table *table, int name, double *value);
yk_status yk_table_integer(const yk_table *table, int name, int *value);

/* A message that begins with file:line:column of the field. */
yk_status yk_table_error(const yk_table *table, int name, const char *format, ...) YK_PRINTF(3, 4);

#endif
