/* Reference results of a model: a CSV file with one header line and numbers below. */
#ifndef YK_TESTS_REFERENCE_TABLE_H
#define YK_TESTS_REFERENCE_TABLE_H

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

enum { REFERENCE_COLUMNS = 16, REFERENCE_ROWS = 4096 };

typedef struct reference_table {
    int rows, columns;
    double (*value)[REFERENCE_COLUMNS];
} reference_table;

static inline reference_table reference_table_read(const char *path)
{
    reference_table table = {0};
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot read %s", path);
    table.value = calloc(REFERENCE_ROWS, sizeof *table.value);
    assert_non_null(table.value);
    char line[1024];
    bool header = true;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        if (header) {
            header = false;
            continue;
        }
        assert_true(table.rows < REFERENCE_ROWS);
        char *at = line;
        int columns = 0;
        for (;;) {
            char *end;
            double number = strtod(at, &end);
            if (end == at || columns == REFERENCE_COLUMNS)
                break;
            table.value[table.rows][columns++] = number;
            at = *end == ',' ? end + 1 : end;
        }
        table.columns = columns > table.columns ? columns : table.columns;
        table.rows++;
    }
    fclose(file);
    assert_true(table.rows > 0);
    return table;
}

static inline void reference_table_free(reference_table *table)
{
    free(table->value);
    table->value = NULL;
}

#endif
