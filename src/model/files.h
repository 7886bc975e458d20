/* Files that scenarios name: tables of numbers, and surfaces. Modal bodies have modal.h. */
#ifndef YK_MODEL_FILES_H
#define YK_MODEL_FILES_H

#include <stdio.h>

#include "yoke/base.h"
#include "yoke/subsystem.h"

/* Tables (csv.c) ------------------------------------------------------------------------------- */

/* Tables of comma-separated fields, read row by row: the first line names the columns, in any
 * order; columns that nobody asked for are passed over, as are empty lines and lines that begin
 * with #. Mistakes are reported with their location. */

enum { YK_CSV_COLUMNS = 16, YK_CSV_FIELDS = 64, YK_CSV_LINE = 8192 };

typedef struct yk_csv {
    yk_context *context;
    const char *path;
    FILE *file;
    const char *const *names; /* of the columns that are wanted */
    int count;
    int required;               /* the first of them must be there, and filled */
    int column[YK_CSV_COLUMNS]; /* where they are in the file; -1: absent */
    int line, fields;
    char *field[YK_CSV_FIELDS];
    char text[YK_CSV_LINE];
} yk_csv;

/* `names` end with NULL. Close it whatever is returned. */
yk_status yk_csv_open(yk_context *context, const char *path, const char *const *names, int required,
                      yk_csv *table);
void yk_csv_close(yk_csv *table);
/* The next row, or none. */
yk_status yk_csv_next(yk_csv *table, bool *more);

bool yk_csv_has(const yk_csv *table, int name);
/* Fields of the row by the index of their name; absent and empty ones are "" and 0. */
const char *yk_csv_text(const yk_csv *table, int name);
yk_status yk_csv_number(const yk_csv *table, int name, double *value);
yk_status yk_csv_integer(const yk_csv *table, int name, int *value);

/* A message that begins with file:line:column of the field. */
yk_status yk_csv_error(const yk_csv *table, int name, const char *format, ...) YK_PRINTF(3, 4);

/* Surfaces (mesh_file.c) ----------------------------------------------------------------------- */

/* Surfaces of triangles: STL, binary or text, and Wavefront OBJ. */

enum { YK_MESH_TRIANGLES_MAX = 5000000 };

typedef struct yk_mesh {
    yk_vec3 *points; /* corners that several triangles share are there once */
    int point_count;
    int (*triangles)[3];
    int triangle_count;
} yk_mesh;

/* Reads a file whose name ends in .stl or .obj, its lengths multiplied by `scale`. The message of a
 * failure names the file and, of texts, the line. To be given back with yk_mesh_release. */
yk_status yk_mesh_read(yk_context *context, const char *path, double scale, yk_mesh *mesh);
void yk_mesh_release(yk_context *context, yk_mesh *mesh);

#endif
