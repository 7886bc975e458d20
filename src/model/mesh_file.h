/* Surfaces of triangles from files: STL, binary or text, and Wavefront OBJ. */
#ifndef YK_MODEL_MESH_FILE_H
#define YK_MODEL_MESH_FILE_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

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
