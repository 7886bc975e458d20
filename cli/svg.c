#include "svg.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"

/* Dots, in a picture that is 800 wide. */
enum { MARGIN = 28, TITLE = 34, FOOTER = 58, DIAGRAM = 156, BLOCK_HEIGHT = 44 };
/* Points of a circle. */
enum { RIM = 32 };
/* A model is flat if its extent along an axis is less than this part of the largest. */
static const double FLAT = 0.15, SHEET = 0.02;
/* Height by width of the area for shapes. */
static const double LOWEST = 0.34, HIGHEST = 0.8;

/* Colours that can be distinguished, also by most who see colours differently. */
static const unsigned char colours[][3] = {
    {74, 124, 178}, {226, 146, 66}, {94, 160, 110},  {146, 108, 180}, {198, 92, 88},
    {70, 160, 164}, {164, 128, 92}, {128, 136, 148}, {196, 168, 64},  {190, 116, 160},
};
enum { COLOURS = sizeof colours / sizeof *colours };

typedef struct point {
    double x, y;
} point;

typedef struct canvas {
    const drawing *model;
    const drawing_options *options;
    FILE *stream;
    yk_vec3 right, up, near; /* axes of the picture; near: towards the viewer */
    yk_vec3 middle;          /* of everything in space but planes, and half its extent (m) */
    double radius;
    double size;          /* of lines and letters, against a picture that is 800 wide */
    double scale;         /* dots per metre */
    point origin;         /* of space, in dots */
    double width, height; /* of the picture */
    double top;           /* of the area for shapes, and its height */
    double area;
} canvas;

drawing_options drawing_default(void)
{
    return (drawing_options){.view = VIEW_AUTO, .up = 2, .width = 800};
}

/* Where things are ----------------------------------------------------------------------------- */

typedef struct box {
    double low[3], high[3];
} box;

static void box_add(box *b, yk_vec3 p, yk_vec3 half)
{
    const double centre[3] = {p.x, p.y, p.z};
    const double extent[3] = {half.x, half.y, half.z};
    for (int k = 0; k < 3; k++) {
        b->low[k] = fmin(b->low[k], centre[k] - extent[k]);
        b->high[k] = fmax(b->high[k], centre[k] + extent[k]);
    }
}

static bool is_line(yk_shape_kind kind)
{
    return kind == YK_SHAPE_LINE || kind == YK_SHAPE_THIN_LINE;
}

/* Whether a shape is a body with an extent, which is painted in the order of depth. Planes are painted
 * below all bodies, joints as marks above them. */
static bool is_body(yk_shape_kind kind)
{
    switch (kind) {
    case YK_SHAPE_SPHERE:
    case YK_SHAPE_BOX:
    case YK_SHAPE_CYLINDER:
    case YK_SHAPE_CAPSULE:
    case YK_SHAPE_ELLIPSOID:
    case YK_SHAPE_LINE:
    case YK_SHAPE_THIN_LINE:
    case YK_SHAPE_ACTUATOR:
    case YK_SHAPE_HULL:
    case YK_SHAPE_BOX_CAVITY:
    case YK_SHAPE_CYLINDER_CAVITY: return true;
    case YK_SHAPE_PLANE:
    case YK_SHAPE_JOINT: return false;
    }
    return false;
}

/* Half the extents of a shape along three directions, and its middle. */
static yk_vec3 shape_extent(const yk_shape *s, const yk_vec3 axes[3], yk_vec3 *middle)
{
    yk_mat3 r = yk_q_matrix(s->orientation);
    yk_vec3 size = s->size;
    double half[3] = {0};

    for (int k = 0; k < 3; k++) {
        /* The direction in the axes of the shape. */
        yk_vec3 d = yk_m3_apply_transposed(r, axes[k]);
        switch (s->kind) {
        case YK_SHAPE_SPHERE: half[k] = size.x; break;
        case YK_SHAPE_BOX:
            half[k] = size.x * fabs(d.x) + size.y * fabs(d.y) + size.z * fabs(d.z);
            break;
        case YK_SHAPE_CYLINDER: half[k] = size.x * hypot(d.x, d.y) + size.z * fabs(d.z); break;
        case YK_SHAPE_CAPSULE: half[k] = size.x + size.z * fabs(d.z); break;
        case YK_SHAPE_ELLIPSOID:
            half[k] = yk_v3_norm(yk_v3(size.x * d.x, size.y * d.y, size.z * d.z));
            break;
        case YK_SHAPE_LINE:
        case YK_SHAPE_THIN_LINE: half[k] = 0.5 * fabs(yk_v3_dot(size, d)); break;
        case YK_SHAPE_PLANE:
        case YK_SHAPE_JOINT: break; /* points */
        case YK_SHAPE_ACTUATOR:
        case YK_SHAPE_HULL:
        case YK_SHAPE_BOX_CAVITY:
        case YK_SHAPE_CYLINDER_CAVITY: assert(!"draw.c replaces it by edges"); break;
        }
    }

    /* A line begins at its position. */
    *middle = s->position;
    if (is_line(s->kind))
        *middle = yk_v3_add(s->position, yk_v3_scale(0.5, yk_m3_apply(r, size)));
    return yk_v3(half[0], half[1], half[2]);
}

/* Components along three directions. */
static yk_vec3 along(yk_vec3 p, const yk_vec3 axes[3])
{
    return yk_v3(yk_v3_dot(p, axes[0]), yk_v3_dot(p, axes[1]), yk_v3_dot(p, axes[2]));
}

/* The box around everything in space but planes, along three directions. */
static box bounds(const drawing *d, const yk_vec3 axes[3])
{
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < d->shape_count; i++) {
        const yk_shape *shape = &d->shapes[i].shape;
        if (shape->kind == YK_SHAPE_PLANE)
            continue;

        yk_vec3 middle;
        yk_vec3 half = shape_extent(shape, axes, &middle);
        box_add(&b, along(middle, axes), half);
    }

    for (int i = 0; i < d->mark_count; i++)
        box_add(&b, along(d->marks[i].position, axes), yk_v3(0, 0, 0));
    return b;
}

static yk_vec3 axis_of(int k)
{
    return yk_v3(k == 0, k == 1, k == 2);
}

static point project(const canvas *c, yk_vec3 p)
{
    return (point){c->origin.x + c->scale * yk_v3_dot(p, c->right),
                   c->origin.y - c->scale * yk_v3_dot(p, c->up)};
}

/* Order of painting ---------------------------------------------------------------------------- */

/* A shape as the box around it: enough to find which of two is nearer to the viewer. */
typedef struct body {
    int shape;
    bool solid, round, line;
    yk_vec3 centre, axes[3];
    double half[3];         /* of a round one: the radius in all directions */
    double depth;           /* towards the viewer */
    double low[2], high[2]; /* on the picture */
} body;

/* Which of two is painted first, by the face of a that parts them most: what is beyond a face
 * that looks at the viewer is nearer. -1: a; 1: b; 0: no face parts them. */
static int compare_by_faces(const canvas *c, const body *a, const body *b)
{
    double widest = -INFINITY;
    int order = 0;
    for (int face = 0; face < 6; face++) {
        int k = face / 2;
        yk_vec3 normal = yk_v3_scale(face % 2 ? 1 : -1, a->axes[k]);
        double facing = yk_v3_dot(normal, c->near);
        if (fabs(facing) < 1e-3)
            continue;

        /* How far b reaches from its centre along the normal; a line along its own vector. */
        double other = 0;
        for (int i = 0; i < 3; i++) {
            double part = b->half[i] * yk_v3_dot(b->axes[i], normal);
            other += b->line ? part : fabs(part);
        }

        other = b->round ? b->half[0] : fabs(other);

        /* A little overlap does not join them. */
        double distance = yk_v3_dot(normal, yk_v3_sub(b->centre, a->centre));
        double gap = distance - a->half[k] - other;
        double overlap = 0.05 * fmin(a->half[k], other) + 1e-9 * c->radius;
        if (gap < -overlap || gap <= widest)
            continue;

        widest = gap;
        order = facing > 0 ? -1 : 1;
    }

    return order;
}

static int compare_depths(const void *a, const void *b)
{
    const body *p = a;
    const body *q = b;
    if (p->depth != q->depth)
        return p->depth < q->depth ? -1 : 1;

    return p->shape - q->shape;
}

/* The shapes in the order of painting. By depth of their centres, except where the faces of a
 * solid say otherwise. NULL when out of memory. */
static body *order_shapes(const canvas *c, int *count)
{
    /* Pairs are compared in pictures of up to so many shapes; beyond, single ones are too small
     * to matter. */
    enum { COMPARED_MAX = 6000 };
    int all = c->model->shape_count;
    int n = 0;

    /* Some shapes are not painted here, so there may be fewer bodies than shapes. */
    body *bodies = calloc((size_t)all + 1, sizeof *bodies);
    body *ordered = calloc((size_t)all + 1, sizeof *ordered);
    int *waits = calloc((size_t)all + 1, sizeof *waits); /* for so many others; -1: painted */
    unsigned char *before = NULL;                        /* row i: those that wait for i */

    const yk_vec3 view[3] = {c->right, c->up, c->near};
    for (int i = 0; bodies && i < all; i++) {
        const yk_shape *s = &c->model->shapes[i].shape;
        if (!is_body(s->kind))
            continue;

        /* Where it is in the picture, and how near. */
        body *b = &bodies[n++];
        *b = (body){.shape = i, .round = s->kind == YK_SHAPE_SPHERE};
        b->line = is_line(s->kind);
        yk_vec3 half = shape_extent(s, view, &b->centre);
        yk_vec3 seen = along(b->centre, view);
        b->depth = seen.z;
        b->low[0] = seen.x - half.x;
        b->high[0] = seen.x + half.x;
        b->low[1] = seen.y - half.y;
        b->high[1] = seen.y + half.y;

        /* The box around it in its own axes. */
        yk_vec3 size = s->size;
        switch (s->kind) {
        case YK_SHAPE_SPHERE: size = yk_v3(s->size.x, s->size.x, s->size.x); break;
        case YK_SHAPE_CYLINDER: size = yk_v3(s->size.x, s->size.x, s->size.z); break;
        case YK_SHAPE_CAPSULE: size = yk_v3(s->size.x, s->size.x, s->size.z + s->size.x); break;
        case YK_SHAPE_LINE:
        case YK_SHAPE_THIN_LINE: size = yk_v3_scale(0.5, s->size); break;
        case YK_SHAPE_BOX:
        case YK_SHAPE_ELLIPSOID: break;
        case YK_SHAPE_PLANE:
        case YK_SHAPE_JOINT: assert(!"not a body"); break;
        case YK_SHAPE_ACTUATOR:
        case YK_SHAPE_HULL:
        case YK_SHAPE_BOX_CAVITY:
        case YK_SHAPE_CYLINDER_CAVITY: assert(!"draw.c replaces it by edges"); break;
        }

        const double extent[3] = {size.x, size.y, size.z};
        for (int k = 0; k < 3; k++) {
            b->axes[k] = yk_q_rotate(s->orientation, axis_of(k));
            b->half[k] = extent[k];
        }

        /* Those that have faces by which others can be parted from them. */
        bool straight = s->kind == YK_SHAPE_BOX || s->kind == YK_SHAPE_CYLINDER;
        b->solid = straight || s->kind == YK_SHAPE_CAPSULE || s->kind == YK_SHAPE_ELLIPSOID;
    }

    /* From far to near; faces are compared where that is not too much work. */
    if (bodies)
        qsort(bodies, (size_t)n, sizeof *bodies, compare_depths);

    if (n <= COMPARED_MAX)
        before = calloc((size_t)n * (size_t)n + 1, 1);
    if (!bodies || !ordered || !waits || (n <= COMPARED_MAX && !before)) {
        free(bodies);
        free(ordered);
        free(waits);
        free(before);
        return NULL;
    }

    /* Who must be painted before whom. */
    for (int i = 0; before && i < n; i++) {
        for (int k = i + 1; k < n; k++) {
            const body *a = &bodies[i];
            const body *b = &bodies[k];
            /* Lines and spheres alone are ordered by their depth. */
            if (!a->solid && !b->solid)
                continue;

            /* What does not overlap in the picture may be painted in any order. */
            bool apart = a->high[0] < b->low[0] || b->high[0] < a->low[0] ||
                         a->high[1] < b->low[1] || b->high[1] < a->low[1];
            if (apart)
                continue;

            /* By the faces of the one or of the other; where none parts them, by depth. */
            int order = 0;
            if (a->solid)
                order = compare_by_faces(c, a, b);
            if (order == 0 && b->solid)
                order = -compare_by_faces(c, b, a);

            int first = i;
            int second = k;
            if (order > 0) {
                first = k;
                second = i;
            }

            before[(size_t)first * (size_t)n + (size_t)second] = 1;
            waits[second]++;
        }
    }

    /* The farthest that waits for nobody; where they wait in a circle, the farthest. */
    for (*count = 0; *count < n; ++*count) {
        int next = -1;
        for (int i = 0; i < n && (next < 0 || waits[next] > 0); i++)
            if (waits[i] == 0 || (waits[i] > 0 && next < 0))
                next = i;

        ordered[*count] = bodies[next];
        waits[next] = -1;
        for (int k = 0; before && k < n; k++)
            if (before[(size_t)next * (size_t)n + (size_t)k] && waits[k] > 0)
                waits[k]--;
    }

    free(bodies);
    free(waits);
    free(before);
    return ordered;
}

/* SVG ------------------------------------------------------------------------------------------ */

static void write_text(const canvas *c, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&': fputs("&amp;", c->stream); break;
        case '<': fputs("&lt;", c->stream); break;
        case '>': fputs("&gt;", c->stream); break;
        default: fputc((unsigned char)*text < ' ' ? ' ' : *text, c->stream);
        }
    }
}

/* "#4a7cb2" of a part, towards black below a shade of 1 and towards white above. */
static const char *colour(int part, double shade, char text[8])
{
    unsigned char rgb[3];
    for (int k = 0; k < 3; k++) {
        double base = colours[part % COLOURS][k];
        double value = base * shade;
        if (shade > 1)
            value = base + (255 - base) * (shade - 1);
        rgb[k] = (unsigned char)fmax(0, fmin(255, value + 0.5));
    }

    snprintf(text, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    return text;
}

/* Shapes --------------------------------------------------------------------------------------- */

/* From corner to corner of a square. */
static const double corner_signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};

static int compare_points(const void *a, const void *b)
{
    const point *p = a;
    const point *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return 0;
}

static double cross(point o, point a, point b)
{
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

/* Light comes from above, from the left and from the viewer. */
static double shade_of(const canvas *c, yk_vec3 normal)
{
    double above = yk_v3_dot(normal, c->up);
    double aside = yk_v3_dot(normal, c->right);
    double ahead = yk_v3_dot(normal, c->near);
    return 1 + 0.30 * above - 0.18 * aside + 0.20 * ahead;
}

static void write_polygon(const canvas *c, const point *corners, int count, int part, double shade)
{
    char fill[8];
    char dark[8];
    fprintf(c->stream, "<polygon fill=\"%s\" stroke=\"%s\" points=\"", colour(part, shade, fill),
            colour(part, 0.55, dark));
    for (int i = 0; i < count; i++)
        fprintf(c->stream, "%s%.1f,%.1f", i ? " " : "", corners[i].x, corners[i].y);
    fprintf(c->stream, "\"/>\n");
}

/* A line with round ends; of some width, it has a darker one below it as its outline. */
static void write_line(const canvas *c, yk_vec3 from, yk_vec3 to, int part, double width,
                       bool outlined)
{
    char fill[8];
    char dark[8];
    colour(part, 1, fill);
    colour(part, 0.55, dark);
    point a = project(c, from);
    point b = project(c, to);

    /* The outline is a wider line below. */
    for (int pass = outlined ? 0 : 1; pass < 2; pass++) {
        const char *stroke = outlined && pass == 1 ? fill : dark;
        double wide = pass == 0 ? width + 1.4 * c->size : width;
        fprintf(c->stream,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                "stroke-width=\"%.1f\" "
                "stroke-linecap=\"round\"/>\n",
                a.x, a.y, b.x, b.y, stroke, wide);
    }
}

/* Windings between two straight ends. */
static void write_spring(const canvas *c, yk_vec3 from, yk_vec3 to, int part)
{
    point a = project(c, from);
    point b = project(c, to);
    double x = b.x - a.x;
    double y = b.y - a.y;
    double length = hypot(x, y);
    double amplitude = fmin(8 * c->size, length / 6);
    int turns = (int)fmin(fmax(length / (9 * c->size), 8), 30);
    char dark[8];
    colour(part, 0.55, dark);

    fprintf(c->stream,
            "<polyline class=\"spring\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" "
            "points=\"%.1f,%.1f",
            dark, 1.3 * c->size, a.x, a.y);
    for (int i = -1; i <= turns; i++) {
        bool winding = i >= 0 && i < turns;
        double along = 0.15 + 0.7 * fmin(fmax((i + 0.5) / turns, 0), 1);
        double aside = winding && length > 0 ? (i % 2 ? -amplitude : amplitude) / length : 0;
        fprintf(c->stream, " %.1f,%.1f", a.x + along * x - aside * y, a.y + along * y + aside * x);
    }
    fprintf(c->stream, " %.1f,%.1f\"/>\n", b.x, b.y);
}

/* The outline of an ellipsoid is an ellipse. The square of its half width along a direction of the
 * picture is that of the ellipsoid: a quadratic form, whose eigenvectors are the axes of the
 * ellipse. */
static void write_ellipsoid(const canvas *c, const yk_shape *s, int part)
{
    const double size[3] = {s->size.x, s->size.y, s->size.z};
    double xx = 0, yy = 0, xy = 0;
    for (int k = 0; k < 3; k++) {
        yk_vec3 axis = yk_v3_scale(size[k], yk_q_rotate(s->orientation, axis_of(k)));
        double x = yk_v3_dot(axis, c->right), y = -yk_v3_dot(axis, c->up);
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }

    double mean = 0.5 * (xx + yy), deviation = hypot(0.5 * (xx - yy), xy);
    double angle = 0.5 * atan2(2 * xy, xx - yy) * 180 / YK_PI;
    point centre = project(c, s->position);
    fprintf(c->stream,
            "<ellipse cx=\"%.1f\" cy=\"%.1f\" rx=\"%.1f\" ry=\"%.1f\" "
            "transform=\"rotate(%.1f %.1f %.1f)\" fill=\"url(#s%d)\"/>\n",
            centre.x, centre.y, fmax(c->scale * sqrt(mean + deviation), 0.6),
            fmax(c->scale * sqrt(fmax(0, mean - deviation)), 0.6), angle, centre.x, centre.y,
            part % COLOURS);
}

/* The outline of both rims, and on it the end that looks at the viewer. */
static void write_cylinder(const canvas *c, const yk_shape *s, int part)
{
    point rims[2 * RIM];
    point end[RIM];
    point hull[2 * RIM + 1];

    for (int i = 0; i < 2 * RIM; i++) {
        double angle = 2 * YK_PI * (i % RIM) / RIM;
        double z = i < RIM ? -s->size.z : s->size.z;
        yk_vec3 local = {s->size.x * cos(angle), s->size.x * sin(angle), z};
        rims[i] = project(c, yk_v3_add(s->position, yk_q_rotate(s->orientation, local)));
    }

    /* The end whose outside is seen. */
    yk_vec3 axis = yk_q_rotate(s->orientation, yk_v3(0, 0, 1));
    double facing = yk_v3_dot(axis, c->near);
    double side = facing < 0 ? -1 : 1;
    memcpy(end, facing < 0 ? rims : rims + RIM, sizeof end);

    /* What is seen of both rims and the mantle between them is their convex hull, by Andrew's
     * monotone chain: the lower side from left to right, then the upper one back. */
    qsort(rims, 2 * RIM, sizeof *rims, compare_points);
    int count = 0;
    for (int i = 0; i < 2 * RIM; i++) {
        while (count >= 2 && cross(hull[count - 2], hull[count - 1], rims[i]) <= 0)
            count--;
        hull[count++] = rims[i];
    }

    int fewest = count + 1; /* the lower side stays */
    for (int i = 2 * RIM - 2; i >= 0; i--) {
        while (count >= fewest && cross(hull[count - 2], hull[count - 1], rims[i]) <= 0)
            count--;
        hull[count++] = rims[i];
    }

    /* The first corner is also the last one. */
    if (count > 1)
        count--;
    write_polygon(c, hull, count, part, 0.95);
    if (fabs(facing) < 1e-3)
        return;

    /* A little lighter than its direction asks for, so that it stands out from the mantle. */
    double shade = shade_of(c, yk_v3_scale(side, axis)) + 0.12;
    write_polygon(c, end, RIM, part, shade);
}

/* The piece of a plane that is drawn: below the model, and wider than it. */
static void plane_corners(const canvas *c, const yk_shape *plane, yk_vec3 corners[4])
{
    /* Below the middle of the model, and the wider the farther the plane is away. */
    yk_vec3 normal = yk_q_rotate(plane->orientation, yk_v3(0, 0, 1));
    double height = yk_v3_dot(normal, yk_v3_sub(c->middle, plane->position));
    yk_vec3 foot = yk_v3_axpy(-height, normal, c->middle);
    double half = 1.1 * c->radius + 0.25 * fabs(height);

    for (int i = 0; i < 4; i++) {
        yk_vec3 local = {corner_signs[i][0] * half, corner_signs[i][1] * half, 0};
        corners[i] = yk_v3_add(foot, yk_q_rotate(plane->orientation, local));
    }
}

/* Planes whose solid side is turned to the viewer would hide everything. */
static bool is_seen(const canvas *c, const yk_shape *s)
{
    if (s->kind != YK_SHAPE_PLANE)
        return false;

    return yk_v3_dot(yk_q_rotate(s->orientation, yk_v3(0, 0, 1)), c->near) > -0.02;
}

/* Planes lie below everything else. */
static void write_planes(const canvas *c)
{
    const drawing *d = c->model;
    FILE *out = c->stream;
    fprintf(out, "<g id=\"planes\" fill=\"#ecebe6\" stroke=\"#b9b7ae\" stroke-width=\"%.1f\">\n",
            1.4 * c->size);
    for (int i = 0; i < d->shape_count; i++) {
        const yk_shape *plane = &d->shapes[i].shape;
        if (!is_seen(c, plane))
            continue;

        yk_vec3 corners[4];
        plane_corners(c, plane, corners);
        fprintf(out, "<polygon points=\"");
        for (int k = 0; k < 4; k++) {
            point p = project(c, corners[k]);
            fprintf(out, "%s%.1f,%.1f", k ? " " : "", p.x, p.y);
        }
        fprintf(out, "\"/>\n");
    }
    fprintf(out, "</g>\n");
}

/* Painter's algorithm: what is nearer covers what is farther. False when out of memory. */
static bool write_shapes(const canvas *c)
{
    const drawing *d = c->model;
    FILE *out = c->stream;
    int count;
    body *ordered = order_shapes(c, &count);
    if (!ordered)
        return false;

    /* From far to near; joints are marks, above all others. */
    fprintf(out, "<g class=\"shapes\" stroke-width=\"%.1f\" stroke-linejoin=\"round\">\n",
            0.8 * c->size);
    for (int i = 0; i < count; i++) {
        int part = d->shapes[ordered[i].shape].part;
        const yk_shape *s = &d->shapes[ordered[i].shape].shape;
        yk_vec3 half = yk_q_rotate(s->orientation, yk_v3(0, 0, s->size.z));
        yk_vec3 end = yk_v3_add(s->position, yk_q_rotate(s->orientation, s->size));
        point centre = project(c, s->position);

        if (d->shapes[ordered[i].shape].is_spring) {
            write_spring(c, s->position, end, part);
            continue;
        }

        /* Lines and small spheres stay visible at any scale. */
        switch (s->kind) {
        case YK_SHAPE_SPHERE:
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"url(#s%d)\"/>\n",
                    centre.x, centre.y, fmax(c->scale * s->size.x, 0.6), part % COLOURS);
            break;

        /* The faces that look at the viewer, each from corner to corner. */
        case YK_SHAPE_BOX: {
            const double size[3] = {s->size.x, s->size.y, s->size.z};
            for (int face = 0; face < 6; face++) {
                int k = face / 2;
                int u = (k + 1) % 3;
                int v = (k + 2) % 3;

                yk_vec3 normal = axis_of(k);
                if (face % 2 == 0)
                    normal = yk_v3_scale(-1, normal);
                yk_vec3 outwards = yk_q_rotate(s->orientation, normal);
                if (yk_v3_dot(outwards, c->near) < 1e-6)
                    continue;

                point corners[4];
                for (int n = 0; n < 4; n++) {
                    yk_vec3 local = yk_v3_scale(size[k], normal);
                    local = yk_v3_axpy(corner_signs[n][0] * size[u], axis_of(u), local);
                    local = yk_v3_axpy(corner_signs[n][1] * size[v], axis_of(v), local);
                    yk_vec3 corner = yk_v3_add(s->position, yk_q_rotate(s->orientation, local));
                    corners[n] = project(c, corner);
                }

                write_polygon(c, corners, 4, part, shade_of(c, outwards));
            }
            break;
        }

        case YK_SHAPE_ELLIPSOID: write_ellipsoid(c, s, part); break;
        case YK_SHAPE_CYLINDER: write_cylinder(c, s, part); break;
        case YK_SHAPE_CAPSULE:
            write_line(c, yk_v3_sub(s->position, half), yk_v3_add(s->position, half), part,
                       fmax(2 * c->scale * s->size.x, 2 * c->size), true);
            break;
        case YK_SHAPE_LINE: write_line(c, s->position, end, part, 4 * c->size, true); break;
        case YK_SHAPE_THIN_LINE: write_line(c, s->position, end, part, 1.1 * c->size, false); break;
        case YK_SHAPE_PLANE:
        case YK_SHAPE_JOINT: assert(!"not a body"); break;
        case YK_SHAPE_ACTUATOR:
        case YK_SHAPE_HULL:
        case YK_SHAPE_BOX_CAVITY:
        case YK_SHAPE_CYLINDER_CAVITY: assert(!"draw.c replaces it by edges"); break;
        }
    }

    fprintf(out, "</g>\n");
    free(ordered);
    return true;
}

/* Marks and diagram ---------------------------------------------------------------------------- */

/* Marks of joints and springs that are fixed to the ground: a line with hatching below it. */
static void write_ground(const canvas *c)
{
    const drawing *d = c->model;
    double u = c->size;
    int count = 0;
    for (int i = 0; i < d->shape_count; i++) {
        const yk_shape *s = &d->shapes[i].shape;
        bool spring = d->shapes[i].is_spring;
        if (s->kind != YK_SHAPE_JOINT && !spring)
            continue;
        if (s->body >= 0 && (!spring || s->end_body >= 0))
            continue;

        if (count++ == 0)
            fprintf(c->stream,
                    "<g class=\"ground\" fill=\"none\" stroke=\"#666666\" "
                    "stroke-width=\"%.1f\">\n",
                    1.2 * u);
        point p = project(c, s->body < 0 ? s->position : yk_v3_add(s->position, s->size));
        fprintf(c->stream, "<path d=\"M%.1f %.1fh%.1f", p.x - 12 * u, p.y + 5 * u, 24 * u);
        for (int k = 0; k < 4; k++)
            fprintf(c->stream, "M%.1f %.1fl%.1f %.1f", p.x + (6 * k - 6) * u, p.y + 5 * u, -6 * u,
                    6 * u);
        fprintf(c->stream, "\"/>\n");
    }

    if (count > 0)
        fprintf(c->stream, "</g>\n");
}

/* Joints, ports and interfaces on top, with their names where they are wanted: to the right, and
 * below the last one where that would cover it. */
static void write_marks(const canvas *c)
{
    const drawing *d = c->model;
    FILE *out = c->stream;
    double size = c->size;

    write_ground(c);

    /* Joints are small circles. */
    fprintf(out, "<g class=\"joints\" fill=\"#ffffff\" stroke=\"#333333\" stroke-width=\"%.1f\">\n",
            1.2 * size);
    for (int i = 0; i < d->shape_count; i++) {
        const yk_shape *s = &d->shapes[i].shape;
        if (s->kind != YK_SHAPE_JOINT)
            continue;

        point p = project(c, s->position);
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", p.x, p.y, 2.8 * size);
    }

    /* Ports are dots, interfaces diamonds. */
    fprintf(out, "</g>\n");
    if (d->mark_count == 0)
        return;

    fprintf(out, "<g id=\"ports\" stroke=\"#333333\" stroke-width=\"%.1f\">\n", 1.2 * size);
    for (int i = 0; i < d->mark_count; i++) {
        const drawing_mark *m = &d->marks[i];
        point p = project(c, m->position);
        if (m->kind == MARK_INTERFACE)
            fprintf(out,
                    "<path class=\"interface\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\" "
                    "fill=\"#ffd23f\"/>\n",
                    p.x, p.y - 6 * size, 6 * size, 6 * size, -6 * size, 6 * size, -6 * size,
                    -6 * size);
        else
            fprintf(
                out,
                "<circle class=\"port\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#333333\"/>\n",
                p.x, p.y, 2.2 * size);
    }

    fprintf(out, "</g>\n");
    if (!c->options->names)
        return;

    /* Names to the right of their marks, and to the left at the right edge. */
    fprintf(out, "<g id=\"names\" font-size=\"%.1f\" fill=\"#222222\">\n", 13 * size);
    double last_x = -INFINITY;
    double last_y = -INFINITY;
    for (int i = 0; i < d->mark_count; i++) {
        point p = project(c, d->marks[i].position);
        double x = p.x + 9 * size;
        double y = p.y - 7 * size;

        bool covers = fabs(x - last_x) < 80 * size && fabs(y - last_y) < 14 * size;
        if (covers)
            y = last_y + 15 * size;

        bool at_edge = x > 0.85 * c->width;
        if (at_edge)
            x = p.x - 9 * size;

        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, at_edge ? " text-anchor=\"end\"" : "");
        write_text(c, d->marks[i].name);
        fprintf(out, "</text>\n");

        last_x = x;
        last_y = y;
    }
    fprintf(out, "</g>\n");
}

/* All parts as blocks in a row; interfaces are arcs above them, wires dashed arrows below. Links
 * between the same two parts are one line with their names. */
static void write_diagram(const canvas *c, double top)
{
    const drawing *d = c->model;
    FILE *out = c->stream;
    double size = c->size;
    double pitch = (c->width - 2 * MARGIN * size) / d->part_count;
    double block = fmin(150 * size, 0.72 * pitch);
    double y = top + 0.5 * (DIAGRAM - BLOCK_HEIGHT) * size;
    double bottom = y + BLOCK_HEIGHT * size;

    /* Links first: blocks lie on their ends. */
    fprintf(out, "<g id=\"diagram\" font-size=\"%.1f\" text-anchor=\"middle\" fill=\"#222222\">\n",
            13 * size);
    for (int i = 0; i < d->link_count; i++) {
        /* The names of all links that are drawn as this one; too many are counted instead. */
        const drawing_link *link = &d->links[i];
        char names[48] = "";
        int same = 0;
        bool first = true;
        for (int k = 0; k < d->link_count; k++) {
            const drawing_link *other = &d->links[k];
            if (other->wire != link->wire || other->from != link->from || other->to != link->to)
                continue;

            if (k < i)
                first = false;
            same++;

            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", other->name);
        }

        if (!first)
            continue;

        if (strlen(names) > 26)
            snprintf(names, sizeof names, "%d %ss", same, link->wire ? "wire" : "interface");

        /* An arc from block to block; that of a link back is higher. */
        double x1 = MARGIN * size + (link->from + 0.5) * pitch;
        double x2 = MARGIN * size + (link->to + 0.5) * pitch;
        double begin = y;

        double side = -1;
        const char *kind = "interface";
        const char *style = "";
        if (link->wire) {
            begin = bottom;
            side = 1;
            kind = "wire";
            style = " stroke-dasharray=\"5 4\" marker-end=\"url(#arrow)\"";
        }

        double height = side * (link->to < link->from ? 58 : 32) * size;

        /* Apart from what comes and goes at the same block. */
        if (link->to == link->from) {
            x1 -= 0.3 * block;
            x2 += 0.3 * block;
        } else {
            double inset = 0.15 * block * (x2 > x1 ? 1 : -1);
            x1 += inset;
            x2 -= inset;
        }

        fprintf(out,
                "<path class=\"%s\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" fill=\"none\" "
                "stroke=\"#444444\" "
                "stroke-width=\"%.1f\"%s/>\n",
                kind, x1, begin, x1, begin + height, x2, begin + height, x2, begin, 1.6 * size,
                style);

        /* Beyond its line, so that the one of a link back lies between them; of a wire forth on
         * its near side. */
        double label = begin + 0.75 * height + (link->wire ? 12 : -5) * size;
        if (link->wire && link->to >= link->from)
            label = begin + 0.75 * height - 6 * size;

        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" fill=\"#444444\">",
                0.5 * (x1 + x2), label, 11 * size);
        write_text(c, names);
        fprintf(out, "</text>\n");
    }

    /* The blocks on top of the lines. */
    for (int i = 0; i < d->part_count; i++) {
        double x = MARGIN * size + (i + 0.5) * pitch;
        char light[8];
        char dark[8];
        fprintf(out,
                "<rect class=\"part\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                "rx=\"%.1f\" fill=\"%s\" "
                "stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
                x - 0.5 * block, y, block, BLOCK_HEIGHT * size, 6 * size, colour(i, 1.72, light),
                colour(i, 0.7, dark), 1.4 * size);

        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\">", x, y + 18 * size);
        write_text(c, d->parts[i].name);
        fprintf(out, "</text>\n<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">", x, y + 35 * size,
                11 * size);
        write_text(c, d->parts[i].kind);
        fprintf(out, "</text>\n");
    }
    fprintf(out, "</g>\n");
}

/* A length of 1, 2 or 5 times a power of ten, about a fifth of the picture. */
static void write_scale(const canvas *c, double y)
{
    FILE *out = c->stream;
    double size = c->size;
    double wanted = 0.2 * c->width / c->scale;

    double length = pow(10, floor(log10(wanted)));
    if (5 * length <= wanted)
        length *= 5;
    else if (2 * length <= wanted)
        length *= 2;

    /* In the unit in which it is a short number. */
    double shown = length;
    const char *unit = "m";
    if (length < 1e-3) {
        shown = 1e6 * length;
        unit = "µm";
    } else if (length < 0.1) {
        shown = 1e3 * length;
        unit = "mm";
    } else if (length >= 1e3) {
        shown = 1e-3 * length;
        unit = "km";
    }

    /* The bar, with its length below it. */
    double right = c->width - MARGIN * size;
    double left = right - length * c->scale;
    fprintf(out, "<g id=\"scale\" stroke=\"#333333\" stroke-width=\"%.1f\" fill=\"none\">\n",
            1.4 * size);
    fprintf(out, "<path d=\"M%.1f %.1fv%.1fh%.1fv%.1f\"/>\n", left, y - 5 * size, 5 * size,
            right - left, -5 * size);
    fprintf(
        out,
        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"middle\" fill=\"#333333\" "
        "stroke=\"none\">%.6g %s</text>\n",
        0.5 * (left + right), y + 15 * size, 12 * size, shown, unit);

    /* The axes of space beside it, those that can be seen. */
    double x0 = left - 62 * size;
    double y0 = y + 6 * size;
    for (int k = 0; k < 3; k++) {
        double x = 26 * size * yk_v3_dot(axis_of(k), c->right);
        double up = 26 * size * yk_v3_dot(axis_of(k), c->up);
        if (hypot(x, up) < size)
            continue;

        fprintf(out, "<path d=\"M%.1f %.1fl%.1f %.1f\" marker-end=\"url(#arrow)\"/>\n", x0, y0, x,
                -up);
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"middle\" "
                "fill=\"#333333\" "
                "stroke=\"none\">%c</text>\n",
                x0 + 1.45 * x, y0 - 1.45 * up + 4 * size, 12 * size, "xyz"[k]);
    }
    fprintf(out, "</g>\n");
}

/* Sets the view, the scale and the size of the picture. */
static void lay_out(canvas *c, bool in_space, bool diagram)
{
    const drawing *d = c->model;
    const drawing_options *o = c->options;
    c->size = o->width / 800;
    c->scale = 1;
    c->width = o->width;
    c->top = (o->bare ? MARGIN : TITLE + MARGIN / 2) * c->size;

    /* From where it is seen: along the axis in which the model is thinnest, and along the one that
     * points up only where no other is thin and the model is flat as a sheet. Else from above and
     * aside. */
    int view = o->view;
    int up = o->up;
    if (view == VIEW_AUTO && in_space) {
        const yk_vec3 space[3] = {axis_of(0), axis_of(1), axis_of(2)};
        box b = bounds(d, space);

        double extent[3];
        double largest = 0;
        for (int k = 0; k < 3; k++) {
            extent[k] = b.high[k] - b.low[k];
            largest = fmax(largest, extent[k]);
        }

        int thin = -1;
        view = VIEW_ISO;
        for (int k = 0; k < 3; k++) {
            double limit = k == up ? SHEET : FLAT;
            if (!(extent[k] < limit * largest))
                continue;
            if (thin >= 0 && thin != up && (k == up || extent[k] >= extent[thin]))
                continue;

            thin = k;
            view = VIEW_X + k;
        }
    }

    /* Towards the viewer: an axis, or from above and aside. */
    switch (view) {
    case VIEW_X: c->near = yk_v3(1, 0, 0); break;
    case VIEW_Y: c->near = yk_v3(0, up == 0 ? 1 : -1, 0); break;
    case VIEW_Z: c->near = yk_v3(0, 0, 1); break;
    default: {
        /* The first axis of the ground points to the right and to the viewer, the second to the
         * right and away. */
        const double weights[3] = {0.50, -0.76, 0.42};
        c->near = yk_v3(0, 0, 0);
        for (int k = 0; k < 3; k++)
            c->near = yk_v3_axpy(weights[k], axis_of((up + 1 + k) % 3), c->near);
        c->near = yk_v3_scale(1 / yk_v3_norm(c->near), c->near);
    }
    }

    /* From above, y points up in the picture, or what comes after the axis that does. */
    yk_vec3 above = axis_of(up);
    if (fabs(yk_v3_dot(above, c->near)) > 0.99)
        above = axis_of(up == 1 ? 2 : 1);

    c->up = yk_v3_axpy(-yk_v3_dot(above, c->near), c->near, above);
    c->up = yk_v3_scale(1 / yk_v3_norm(c->up), c->up);
    c->right = yk_v3_cross(c->up, c->near);

    if (in_space) {
        /* What planes are drawn around. */
        const yk_vec3 axes[3] = {c->right, c->up, c->near};
        box b = bounds(d, axes);
        c->middle = yk_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            c->middle = yk_v3_axpy(0.5 * (b.low[k] + b.high[k]), axes[k], c->middle);
            c->radius = fmax(c->radius, 0.5 * (b.high[k] - b.low[k]));
        }

        if (!(c->radius > 0))
            c->radius = 1;

        /* A single body does not fill the picture. */
        int bodies = 0;
        for (int i = 0; i < d->shape_count; i++)
            if (is_body(d->shapes[i].shape.kind))
                bodies++;
        double margin = 0;
        if (bodies == 1)
            margin = 0.35 * c->radius;

        yk_vec3 around = yk_v3(margin, margin, margin);
        yk_vec3 middle = {0.5 * (b.low[0] + b.high[0]), 0.5 * (b.low[1] + b.high[1]), 0};
        yk_vec3 half = {0.5 * (b.high[0] - b.low[0]), 0.5 * (b.high[1] - b.low[1]), 0};
        box_add(&b, middle, yk_v3_add(half, around));

        for (int i = 0; i < d->shape_count; i++) {
            if (!is_seen(c, &d->shapes[i].shape))
                continue;

            /* The pieces of planes below the model are part of the picture. */
            yk_vec3 corners[4];
            plane_corners(c, &d->shapes[i].shape, corners);
            for (int k = 0; k < 4; k++)
                box_add(&b, along(corners[k], axes), yk_v3(0, 0, 0));
        }

        /* The scale at which all of it fits into an area of a usual shape. */
        double across = fmax(b.high[0] - b.low[0], 1e-9 * c->radius);
        double high = fmax(b.high[1] - b.low[1], 1e-9 * c->radius);
        double area_width = c->width - 2 * MARGIN * c->size;
        c->area = fmax(LOWEST, fmin(HIGHEST, high / across)) * area_width;
        c->scale = fmin(area_width / across, c->area / high);
        c->origin.x = 0.5 * c->width - 0.5 * c->scale * (b.low[0] + b.high[0]);
        c->origin.y = c->top + 0.5 * c->area + 0.5 * c->scale * (b.low[1] + b.high[1]);
    }

    /* What stands below the model makes the picture higher. */
    double below = o->bare ? MARGIN : FOOTER + MARGIN / 2;
    if (diagram)
        below += DIAGRAM;
    c->height = c->top + c->area + below * c->size;
}

/* The frames one above the other, each visible in its part of the duration. */
static bool write_frames(const canvas *c)
{
    const drawing *d = c->model;
    for (int i = 0; i < d->frame_count; i++) {
        drawing moment = *d;
        moment.shapes = d->shapes + d->frames[i].first;
        moment.shape_count = d->frames[i].count;
        moment.mark_count = 0;
        canvas one = *c;
        one.model = &moment;

        /* Programs that show no motion show the first frame. */
        double from = (double)i / d->frame_count;
        double to = (double)(i + 1) / d->frame_count;
        fprintf(c->stream,
                "<g class=\"frame\" visibility=\"%s\"><animate attributeName=\"visibility\" "
                "calcMode=\"discrete\" dur=\"%.3fs\" repeatCount=\"indefinite\" ",
                i == 0 ? "visible" : "hidden", d->duration);
        if (i == 0)
            fprintf(c->stream, "values=\"visible;hidden\" keyTimes=\"0;%.5f\"/>\n", to);
        else if (i == d->frame_count - 1)
            fprintf(c->stream, "values=\"hidden;visible\" keyTimes=\"0;%.5f\"/>\n", from);
        else
            fprintf(c->stream, "values=\"hidden;visible;hidden\" keyTimes=\"0;%.5f;%.5f\"/>\n",
                    from, to);
        if (!write_shapes(&one))
            return false;
        write_marks(&one);
        fprintf(c->stream, "</g>\n");
    }
    return true;
}

bool drawing_write(const drawing *d, const drawing_options *options, FILE *stream)
{
    /* Parts without a position in space are drawn in a diagram. */
    bool diagram = false;
    bool in_space = d->mark_count > 0;
    for (int i = 0; i < d->part_count; i++) {
        if (d->parts[i].in_space)
            in_space = true;
        else
            diagram = true;
    }

    canvas c = {.model = d, .options = options, .stream = stream};
    lay_out(&c, in_space, diagram);

    /* The head, with a gradient for the spheres of each part. */
    fprintf(stream, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 "
            "0 %.0f %.0f\" font-family=\"DejaVu Sans, Helvetica, sans-serif\">\n<title>",
            c.width, c.height, c.width, c.height);

    write_text(&c, d->title);
    fprintf(stream, "</title>\n<defs>\n");
    for (int i = 0; i < d->part_count && i < COLOURS; i++) {
        char light[8];
        char base[8];
        char dark[8];
        fprintf(stream,
                "<radialGradient id=\"s%d\" cx=\"0.38\" cy=\"0.32\" r=\"0.72\"><stop offset=\"0\" "
                "stop-color=\"%s\"/><stop offset=\"0.55\" stop-color=\"%s\"/><stop offset=\"1\" "
                "stop-color=\"%s\"/></radialGradient>\n",
                i, colour(i, 1.55, light), colour(i, 1, base), colour(i, 0.62, dark));
    }

    fprintf(stream, "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" "
                    "markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 "
                    "8z\" fill=\"#444444\" stroke=\"none\"/></marker>\n</defs>\n");
    fprintf(stream, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fdfdfb\"/>\n");

    if (!options->bare) {
        fprintf(stream,
                "<text id=\"title\" x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" fill=\"#222222\">",
                MARGIN * c.size, 28 * c.size, 17 * c.size);
        write_text(&c, d->title);
        fprintf(stream, "</text>\n");
    }

    /* What comes later lies above: the model, its marks, what explains it. */
    write_planes(&c);
    bool complete = d->frames ? write_frames(&c) : write_shapes(&c);
    if (!complete)
        return false;
    if (!d->frames)
        write_marks(&c);
    if (diagram)
        write_diagram(&c, c.top + c.area);

    /* The legend, where no block has the name of its part, goes from left to right up to where the
     * scale begins; letters have about this width, and what does not fit is counted. */
    double y = c.height - 0.5 * FOOTER * c.size;
    if (!options->bare && !diagram) {
        double x = MARGIN * c.size;
        double end = c.width - 0.36 * c.width;
        fprintf(stream, "<g id=\"legend\" font-size=\"%.1f\" fill=\"#222222\">\n", 13 * c.size);
        for (int i = 0; i < d->part_count; i++) {
            const drawing_part *part = &d->parts[i];
            double length = 7.4 * c.size * (double)(strlen(part->name) + strlen(part->kind) + 3);
            if (x + length > end && i > 0) {
                fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\">and %d more</text>\n", x, y,
                        d->part_count - i);
                break;
            }

            char fill[8];
            fprintf(stream,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" "
                    "fill=\"%s\"/>\n",
                    x, y - 10 * c.size, 11 * c.size, 11 * c.size, colour(i, 1, fill));
            fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\">", x + 17 * c.size, y);
            write_text(&c, part->name);
            fprintf(stream, " <tspan fill=\"#777777\">");
            write_text(&c, part->kind);
            fprintf(stream, "</tspan></text>\n");
            x += length + 30 * c.size;
        }
        fprintf(stream, "</g>\n");
    }

    if (!options->bare && in_space)
        write_scale(&c, y);

    fprintf(stream, "</svg>\n");
    return !ferror(stream);
}
