/* A picture of a model as SVG: shapes in space, seen from one side, and a diagram of the coupling.
 *
 * What is far is painted first. Solids are convex, so of a box only the faces that look at the
 * viewer are painted; spheres are circles with a gradient, cylinders the outline of their two
 * rims. Marks of joints, ports and interfaces lie on top. Subsystems without a position in space
 * stand as blocks below, joined by what couples them. */
#ifndef YOKE_CLI_DRAWING_H
#define YOKE_CLI_DRAWING_H

#include <stdbool.h>
#include <stdio.h>

#include "yoke/subsystem.h"

typedef struct drawing_part {
    const char *name, *kind;
    bool in_space; /* false: it has no shapes that say where it is */
} drawing_part;

/* A shape in the axes and units (m) of the system: a sphere, box, cylinder, capsule, line, edge, plane
 * or joint. The caller replaces all other kinds by edges. */
typedef struct drawing_shape {
    yk_shape shape;
    int part;
    bool is_spring; /* an edge that is drawn with windings */
} drawing_shape;

typedef struct drawing_mark {
    enum { MARK_PORT, MARK_INTERFACE } kind;
    yk_vec3 position;
    const char *name;
} drawing_mark;

/* An interface, or a wire from one part to another. */
typedef struct drawing_link {
    int from, to;
    bool wire;
    const char *name;
} drawing_link;

/* A moment of a moving picture: the first of its shapes, and how many it has. */
typedef struct drawing_frame {
    int first, count;
} drawing_frame;

typedef struct drawing {
    const char *title;
    const drawing_part *parts;
    const drawing_shape *shapes; /* of all frames */
    const drawing_frame *frames; /* NULL: a still picture */
    int frame_count;
    double duration; /* of all frames, until the picture begins again, s */
    const drawing_mark *marks;
    const drawing_link *links;
    int part_count, shape_count, mark_count, link_count;
} drawing;

typedef struct drawing_options {
    /* Auto: along the axis in which the model is thin, else from above and aside. */
    enum { VIEW_AUTO, VIEW_X, VIEW_Y, VIEW_Z, VIEW_ISO } view;
    int up;       /* axis that points up, 0 to 2 */
    bool names;   /* of ports and interfaces, beside their marks */
    bool bare;    /* without title, legend and scale */
    double width; /* of the picture, in dots */
} drawing_options;

/* From above and aside with z up, 800 dots wide. */
drawing_options drawing_default(void);

/* Writes the picture; one with frames moves in any browser, without a script. False when out of memory or if the stream has
 * an error. */
bool drawing_write(const drawing *drawing, const drawing_options *options, FILE *stream);

#endif
