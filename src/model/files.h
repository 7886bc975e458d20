/* Files referenced by scenarios: tables of numbers, and surfaces. Modal bodies are in modal.h. */
#ifndef YK_MODEL_FILES_H
#define YK_MODEL_FILES_H

#include <stdio.h>

#include "base/unit.h"
#include "yoke/base.h"
#include "yoke/subsystem.h"

/* Tables (csv.c) ------------------------------------------------------------------------------- */

/* Tables of comma-separated fields, read row by row. The first line names the columns, in any
 * order. Unknown columns, empty lines and lines that begin with # are skipped. Errors are reported
 * with their location. */

enum { YK_CSV_COLUMNS = 16, YK_CSV_FIELDS = 64, YK_CSV_LINE = 8192 };

typedef struct yk_csv {
    yk_context *context;
    const char *path;
    FILE *file;
    const char *const *names; /* of the requested columns */
    int count;
    int required;                 /* number of leading names that must exist and have values */
    int column[YK_CSV_COLUMNS];   /* their index in the file; -1: missing */
    yk_unit unit[YK_CSV_COLUMNS]; /* in the first line; a pure number if there is none */
    int line, fields;
    char *field[YK_CSV_FIELDS];
    char text[YK_CSV_LINE];
} yk_csv;

/* `names` end with NULL. Close the table even after an error. */
yk_status yk_csv_open(yk_context *context, const char *path, const char *const *names, int required,
                      yk_csv *table);
void yk_csv_close(yk_csv *table);
/* Reads the next row; false: there is none. */
yk_status yk_csv_next(yk_csv *table, bool *more);

bool yk_csv_has(const yk_csv *table, int name);
/* Fields of the row by the index of their name; missing and empty ones are "" and 0. */
const char *yk_csv_text(const yk_csv *table, int name);
yk_status yk_csv_number(const yk_csv *table, int name, double *value);
yk_status yk_csv_integer(const yk_csv *table, int name, int *value);

/* A message that begins with file:line:column of the field. */
yk_status yk_csv_error(const yk_csv *table, int name, const char *format, ...) YK_PRINTF(3, 4);

/* Surfaces (mesh_file.c) ----------------------------------------------------------------------- */

/* Surfaces of triangles: STL, binary or text, and Wavefront OBJ. */

enum { YK_MESH_TRIANGLES_MAX = 5000000 };

typedef struct yk_mesh {
    yk_vec3 *points; /* corners that several triangles share are stored once */
    int point_count;
    int (*triangles)[3];
    int triangle_count;
} yk_mesh;

/* Reads a file whose name ends in .stl or .obj; lengths are multiplied by `scale`. The message of
 * an error names the file and, for texts, the line. Release the result with yk_mesh_release(). */
yk_status yk_mesh_read(yk_context *context, const char *path, double scale, yk_mesh *mesh);
void yk_mesh_release(yk_context *context, yk_mesh *mesh);

#endif
