/* The scene of a record and its frames as VTKHDF 2.0, the format of ParaView and VTK on HDF5: PolyData whose
 * points move from step to step while its cells stay. Its specification is "VTKHDF format specification" of the
 * VTK documentation.
 *
 *   /VTKHDF                          attributes Version (2, 0) and Type
 *   NumberOfPoints, Points           of one step; of all steps, one behind the other
 *   Vertices, Lines, Polygons, Strips: NumberOfCells, NumberOfConnectivityIds, Offsets, Connectivity
 *   PointData                        radius, subsystem and body, the same in all steps; strain.
 *                                    Where bodies come and go, radius is that of each step, and 0 while one is not there
 *   Steps                            attribute NSteps; Values (s), and where each step begins in what is above
 *
 * Particles are vertices with their radius. Everything slender is a line, everything solid is polygons. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "record/hdf5_write.h"
#include "record/serialize.h"
#include "yoke/record.h"

enum { SIDES = 24, ARCS = 6, HULL_MAX = 200 };

/* The kinds of cells, in the order in which VTK counts them. */
enum { VERTICES, LINES, POLYGONS, STRIPS, TOPOLOGIES };

static const char *const topology_names[TOPOLOGIES] = {"Vertices", "Lines", "Polygons", "Strips"};

/* A point in the axes of a body of the scene, or of the ground. */
typedef struct anchor {
    int body, subsystem;
    float radius; /* of a particle; 0: the point is on something else */
    yk_vec3 point;
} anchor;

/* Arrays grow in packs, whose memory is that of a context. */
typedef struct mesh {
    const yk_record_scene *scene;
    bool varies;                      /* some body is absent in some frame */
    yk_pack anchors;                  /* of anchor */
    yk_pack connectivity[TOPOLOGIES]; /* of int64_t: points of the cells */
    yk_pack offsets[TOPOLOGIES];      /* of int64_t: start of each cell, and the end */
    /* First values of a body in a frame; -1: the frame has none. */
    struct {
        ptrdiff_t position, orientation, strain;
    } * slots;
} mesh;

static size_t count_points(const mesh *m)
{
    return m->anchors.size / sizeof(anchor);
}

static size_t count_ids(const yk_pack *pack)
{
    return pack->size / sizeof(int64_t);
}

/* Cells ---------------------------------------------------------------------------------------- */

static int64_t add_point(mesh *m, int body, yk_vec3 point, double radius)
{
    anchor a = {.body = body, .radius = (float)radius, .point = point};
    if (body != YK_SCENE_GROUND)
        a.subsystem = m->scene->bodies[body].subsystem;
    yk_pack_bytes(&m->anchors, &a, sizeof a);
    return (int64_t)count_points(m) - 1;
}

/* A point given in the axes of a shape. */
static int64_t add_corner(mesh *m, const yk_shape *shape, double x, double y, double z)
{
    yk_vec3 rotated = yk_q_rotate(shape->orientation, yk_v3(x, y, z));
    return add_point(m, shape->body, yk_v3_add(shape->position, rotated), 0);
}

static void add_cell(mesh *m, int topology, const int64_t *points, size_t count)
{
    yk_pack_bytes(&m->connectivity[topology], points, count * sizeof *points);
    int64_t end = (int64_t)count_ids(&m->connectivity[topology]);
    yk_pack_bytes(&m->offsets[topology], &end, sizeof end);
}

/* The surface of revolution of a line about the z axis: `profile` has radius and height of the
 * points of the line. Along y the surface is stretched. */
static void add_revolved(mesh *m, const yk_shape *shape, const double (*profile)[2], int count,
                         double stretch)
{
    int64_t before[SIDES];
    int64_t now[SIDES];
    for (int i = 0; i < count; i++) {
        /* A ring of points, or one point on the axis. */
        bool on_axis = profile[i][0] == 0;
        for (int k = 0; k < SIDES; k++) {
            double angle = 2 * YK_PI * k / SIDES;
            if (k > 0 && on_axis)
                now[k] = now[0];
            else
                now[k] = add_corner(m, shape, profile[i][0] * cos(angle),
                                    stretch * profile[i][0] * sin(angle), profile[i][1]);
        }

        /* Faces between this ring and the previous one; triangles if one of them is a point. */
        for (int k = 0; k < SIDES && i > 0; k++) {
            int next = (k + 1) % SIDES;
            int64_t face[4] = {before[k], before[next], now[next], now[k]};
            if (on_axis)
                add_cell(m, POLYGONS, face, 3);
            else if (before[0] == before[1])
                add_cell(m, POLYGONS, face + 1, 3);
            else
                add_cell(m, POLYGONS, face, 4);
        }

        memcpy(before, now, sizeof before);
    }
}

/* Half circles about (0, -z) and (0, z): a sphere, or a capsule. */
static void add_round(mesh *m, const yk_shape *shape, double radius, double z)
{
    double profile[2 * ARCS + 2][2];
    int count = 0;

    /* The lower half. Its pole is exactly on the axis, which the cosine would miss by rounding. */
    for (int i = 0; i <= ARCS; i++, count++) {
        double angle = 0.5 * YK_PI * (i - ARCS) / ARCS;
        profile[count][0] = i > 0 ? radius * cos(angle) : 0;
        profile[count][1] = radius * sin(angle) - z;
    }

    /* The upper half; a sphere has its equator once, a capsule two rims. */
    for (int i = z > 0 ? 0 : 1; i <= ARCS; i++, count++) {
        double angle = 0.5 * YK_PI * i / ARCS;
        profile[count][0] = i < ARCS ? radius * cos(angle) : 0;
        profile[count][1] = radius * sin(angle) + z;
    }

    add_revolved(m, shape, (const double(*)[2])profile, count, 1);
}

static void add_ellipsoid(mesh *m, const yk_shape *shape)
{
    enum { COUNT = 2 * ARCS + 1 };
    double profile[COUNT][2];
    for (int i = 0; i < COUNT; i++) {
        /* Poles are exactly on the axis. */
        double angle = 0.5 * YK_PI * (i - ARCS) / ARCS;
        bool pole = i == 0 || i == COUNT - 1;
        profile[i][0] = pole ? 0 : shape->size.x * cos(angle);
        profile[i][1] = shape->size.z * sin(angle);
    }
    add_revolved(m, shape, (const double(*)[2])profile, COUNT, shape->size.y / shape->size.x);
}

static void add_cylinder(mesh *m, const yk_shape *shape)
{
    double radius = shape->size.x;
    double z = shape->size.z;
    const double profile[4][2] = {{0, -z}, {radius, -z}, {radius, z}, {0, z}};

    /* Bottom, side and top, except open ones. */
    static const unsigned walls[3] = {YK_WALL_BOTTOM, YK_WALL_LEFT, YK_WALL_TOP};
    for (int i = 0; i < 3; i++)
        if (!(shape->open_walls & walls[i]))
            add_revolved(m, shape, &profile[i], 2, 1);
}

static void add_box(mesh *m, const yk_shape *shape)
{
    /* The first bit of i selects the corner at -x or +x, the other bits y and z. */
    int64_t corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] = add_corner(m, shape, i & 1 ? shape->size.x : -shape->size.x,
                                i & 2 ? shape->size.y : -shape->size.y,
                                i & 4 ? shape->size.z : -shape->size.z);

    /* In the order of the bits of open walls: -x, +x, -y, +y, -z, +z. */
    static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int i = 0; i < 6; i++) {
        if (shape->open_walls >> i & 1)
            continue;

        int64_t face[4];
        for (int k = 0; k < 4; k++)
            face[k] = corners[faces[i][k]];
        add_cell(m, POLYGONS, face, 4);
    }
}

/* Hulls ---------------------------------------------------------------------------------------- */

/* The corners of a face of a hull, which is a plane with all points in it or behind it, in order
 * about its middle; returns their number, or 0 if the plane is not a face. */
static int face_points(const yk_vec3 *points, int count, yk_vec3 normal, double height, double near,
                       int *face)
{
    /* Collect points in the plane; a point in front of it means that it is not a face. */
    int found = 0;
    yk_vec3 middle = yk_v3(0, 0, 0);
    for (int i = 0; i < count; i++) {
        double above = yk_v3_dot(normal, points[i]) - height;
        if (above > near)
            return 0;
        if (above < -near)
            continue;

        face[found++] = i;
        middle = yk_v3_add(middle, points[i]);
    }

    middle = yk_v3_scale(1.0 / found, middle);

    /* Sorted by their angle; faces have few corners. */
    yk_vec3 u;
    yk_vec3 w;
    yk_v3_tangents(normal, &u, &w);
    double angles[HULL_MAX];
    for (int i = 0; i < found; i++) {
        yk_vec3 arm = yk_v3_sub(points[face[i]], middle);
        double angle = atan2(yk_v3_dot(arm, w), yk_v3_dot(arm, u));
        int corner = face[i];
        int at = i;
        for (; at > 0 && angles[at - 1] > angle; at--) {
            angles[at] = angles[at - 1];
            face[at] = face[at - 1];
        }

        angles[at] = angle;
        face[at] = corner;
    }

    /* Points inside the face, or on its edges, are not corners. */
    for (int i = 0; i < found && found > 3;) {
        yk_vec3 last = points[face[(i + found - 1) % found]];
        yk_vec3 next = points[face[(i + 1) % found]];
        yk_vec3 across = yk_v3_sub(next, last);
        yk_vec3 bend = yk_v3_cross(yk_v3_sub(points[face[i]], last), across);
        if (yk_v3_dot(bend, normal) > near * yk_v3_norm(across)) {
            i++;
            continue;
        }

        /* Without this point, the previous one may not be a corner either. */
        memmove(&face[i], &face[i + 1], (size_t)(found - 1 - i) * sizeof *face);
        found--;
        i = i > 0 ? i - 1 : 0;
    }

    return found;
}

/* Every plane through three points that has all others on one side is a face; hulls have few
 * points. Of hulls with more than HULL_MAX points, only the points are shown. */
static void add_hull(mesh *m, const yk_shape *shape)
{
    int count = shape->point_count;
    const yk_vec3 *points = shape->points;
    int64_t first = (int64_t)count_points(m);
    double size = 0;
    for (int i = 0; i < count; i++) {
        int64_t id = add_corner(m, shape, points[i].x, points[i].y, points[i].z);
        size = fmax(size, yk_v3_norm(yk_v3_sub(points[i], points[0])));
        if (count > HULL_MAX)
            add_cell(m, VERTICES, &id, 1);
    }

    if (count > HULL_MAX)
        return;

    /* A triangle is its own face. */
    if (count == 3) {
        add_cell(m, POLYGONS, (const int64_t[]){first, first + 1, first + 2}, 3);
        return;
    }

    /* Skip planes that were found before. */
    yk_vec3 normals[2 * HULL_MAX];
    double heights[2 * HULL_MAX];
    int faces = 0;
    double near = 1e-7 * size;
    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count; j++) {
            for (int k = j + 1; k < count; k++) {
                yk_vec3 normal =
                    yk_v3_cross(yk_v3_sub(points[j], points[i]), yk_v3_sub(points[k], points[i]));

                /* Three collinear points define no plane. */
                if (yk_v3_norm(normal) < near * size)
                    continue;

                /* Either side of it may be the outer one. */
                normal = yk_v3_unit(normal);
                for (int side = 0; side < 2 && faces < 2 * HULL_MAX; side++) {
                    double height = yk_v3_dot(normal, points[i]);
                    bool known = false;
                    for (int f = 0; f < faces && !known; f++)
                        known = yk_v3_dot(normals[f], normal) > 1 - 1e-9 &&
                                fabs(heights[f] - height) <= near;

                    int corners[HULL_MAX];
                    int found = 0;
                    if (!known)
                        found = face_points(points, count, normal, height, near, corners);
                    if (found > 2) {
                        int64_t cell[HULL_MAX];
                        for (int c = 0; c < found; c++)
                            cell[c] = first + corners[c];
                        add_cell(m, POLYGONS, cell, (size_t)found);
                        normals[faces] = normal;
                        heights[faces++] = height;
                    }

                    normal = yk_v3_neg(normal);
                }
            }
        }
    }
}

/* The scene ------------------------------------------------------------------------------------ */

/* From the origin of the shape to its end, which may be on another body. */
static void add_line(mesh *m, const yk_shape *shape)
{
    int64_t ends[2];
    ends[0] = add_corner(m, shape, 0, 0, 0);
    if (shape->end_body == shape->body)
        ends[1] = add_corner(m, shape, shape->size.x, shape->size.y, shape->size.z);
    else
        ends[1] = add_point(m, shape->end_body, shape->size, 0);
    add_cell(m, LINES, ends, 2);
}

static void add_shape(mesh *m, const yk_shape *shape)
{
    const yk_record_body *body = NULL;
    if (shape->body != YK_SCENE_GROUND)
        body = &m->scene->bodies[shape->body];

    /* Particles are points with a radius, which ParaView draws as spheres. */
    switch (shape->kind) {
    case YK_SHAPE_SPHERE:
        if (body && body->motion == YK_SCENE_MOTION_POINT) {
            int64_t id = add_point(m, shape->body, shape->position, shape->size.x);
            add_cell(m, VERTICES, &id, 1);
        } else {
            add_round(m, shape, shape->size.x, 0);
        }
        break;
    case YK_SHAPE_CAPSULE: add_round(m, shape, shape->size.x, shape->size.z); break;
    case YK_SHAPE_ELLIPSOID: add_ellipsoid(m, shape); break;
    case YK_SHAPE_BOX:
    case YK_SHAPE_BOX_CAVITY: add_box(m, shape); break;
    case YK_SHAPE_CYLINDER:
    case YK_SHAPE_CYLINDER_CAVITY: add_cylinder(m, shape); break;
    case YK_SHAPE_LINE:
    case YK_SHAPE_THIN_LINE:
    case YK_SHAPE_ACTUATOR: add_line(m, shape); break;
    case YK_SHAPE_HULL: add_hull(m, shape); break;
    case YK_SHAPE_PLANE: break; /* unbounded */
    case YK_SHAPE_JOINT: break; /* has no size */
    }
}

static bool find_slots(yk_context *context, mesh *m)
{
    const yk_record_scene *scene = m->scene;
    m->slots = yk_allocate(context, (size_t)scene->body_count + 1, sizeof *m->slots);
    if (!m->slots)
        return false;

    /* One table behind the other, see yk_frame_table. */
    ptrdiff_t position = 0;
    ptrdiff_t orientation = (ptrdiff_t)yk_scene_table_value_count(scene, YK_FRAME_POSITION);
    ptrdiff_t strain =
        orientation + (ptrdiff_t)yk_scene_table_value_count(scene, YK_FRAME_ORIENTATION);
    for (int i = 0; i < scene->body_count; i++) {
        const yk_record_body *body = &scene->bodies[i];

        /* -1: the frame does not contain it, because it is constant and in the scene. */
        m->slots[i].position = -1;
        m->slots[i].orientation = -1;
        m->slots[i].strain = -1;
        if (body->motion != YK_SCENE_MOTION_FIXED) {
            m->slots[i].position = position;
            position += 3;
        }

        if (body->motion == YK_SCENE_MOTION_FULL) {
            m->slots[i].orientation = orientation;
            orientation += 4;
        }

        if (body->has_strain)
            m->slots[i].strain = strain++;
    }

    return true;
}

/* Whether the body of a point is present in a frame; and the position of the point. */
static bool is_there(const mesh *m, const float *frame, const anchor *a)
{
    return a->body == YK_SCENE_GROUND || m->slots[a->body].position < 0 ||
           isfinite(frame[m->slots[a->body].position]);
}

static yk_vec3 locate(const mesh *m, const float *frame, const anchor *a)
{
    if (a->body == YK_SCENE_GROUND)
        return a->point;

    /* All points of an absent body coincide, so that nothing of it is visible. */
    if (!is_there(m, frame, a))
        return yk_v3(0, 0, 0);

    /* A frame contains only changing data; the rest is in the scene. */
    const yk_record_body *body = &m->scene->bodies[a->body];
    ptrdiff_t position_slot = m->slots[a->body].position;
    ptrdiff_t orientation_slot = m->slots[a->body].orientation;
    yk_vec3 position = body->position;
    yk_quat orientation = body->orientation;
    if (position_slot >= 0) {
        const float *p = frame + position_slot;
        position = yk_v3((double)p[0], (double)p[1], (double)p[2]);
    }

    if (orientation_slot >= 0) {
        const float *q = frame + orientation_slot;
        orientation = (yk_quat){(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    }

    return yk_v3_add(position, yk_q_rotate(orientation, a->point));
}

/* Writing --------------------------------------------------------------------------------------- */

/* A dataset of `rows` rows; its values are written at once unless they are NULL. */
static yk_hdf5_object *add_dataset(yk_hdf5_output *output, yk_hdf5_object *group, const char *name,
                                   yk_hdf5_type type, size_t rows, size_t columns,
                                   const void *values)
{
    const uint64_t size[] = {rows, columns};
    yk_hdf5_object *dataset =
        yk_hdf5_add_dataset(output, group, name, type, columns > 1 ? 2 : 1, size);
    if (values)
        yk_hdf5_write(output, dataset, 0, rows * columns, values);
    return dataset;
}

static void write_ids(yk_hdf5_output *output, yk_hdf5_object *group, const char *name,
                      const int64_t *ids, size_t rows, size_t columns)
{
    add_dataset(output, group, name, YK_HDF5_INT64, rows, columns, ids);
}

/* Version and type of the file, and the cells, which are the same in all steps. */
static void write_cells(yk_hdf5_output *output, yk_hdf5_object *root, const mesh *m)
{
    static const char type[] = "PolyData";
    const int64_t version[2] = {2, 0};
    yk_hdf5_set_numbers(output, root, "Version", YK_HDF5_INT64, 2, version);
    yk_hdf5_set_fixed_text(output, root, "Type", type, sizeof type - 1);
    int64_t points = (int64_t)count_points(m);
    write_ids(output, root, "NumberOfPoints", &points, 1, 1);

    /* All topologies are required, also those without a cell. */
    for (int i = 0; i < TOPOLOGIES; i++) {
        const yk_pack *connectivity = &m->connectivity[i];
        const yk_pack *offsets = &m->offsets[i];
        int64_t ids = (int64_t)count_ids(connectivity);
        int64_t cells = (int64_t)count_ids(offsets) - 1;

        yk_hdf5_object *group = yk_hdf5_add_group(output, root, topology_names[i]);
        write_ids(output, group, "NumberOfCells", &cells, 1, 1);
        write_ids(output, group, "NumberOfConnectivityIds", &ids, 1, 1);
        write_ids(output, group, "Connectivity", (const int64_t *)(const void *)connectivity->data,
                  (size_t)ids, 1);
        write_ids(output, group, "Offsets", (const int64_t *)(const void *)offsets->data,
                  (size_t)cells + 1, 1);
    }
}

/* Points of all steps, and the strain at them if some body is strained. */
static void write_points(yk_hdf5_output *output, yk_hdf5_object *root, yk_hdf5_object *data,
                         const mesh *m, const yk_record *record, float *scratch)
{
    size_t steps = yk_record_frame_count(record);
    size_t points = count_points(m);
    const anchor *anchors = (const anchor *)(const void *)m->anchors.data;
    bool strained = yk_scene_table_value_count(m->scene, YK_FRAME_STRAIN) > 0;

    /* Points of all steps, one step after the other; radii of each step only if particles come and go. */
    size_t rows = steps * points;
    const yk_hdf5_object *places =
        add_dataset(output, root, "Points", YK_HDF5_FLOAT32, rows, 3, NULL);
    const yk_hdf5_object *strains = NULL;
    const yk_hdf5_object *radii = NULL;
    if (m->varies)
        radii = add_dataset(output, data, "radius", YK_HDF5_FLOAT32, rows, 1, NULL);
    if (strained)
        strains = add_dataset(output, data, "strain", YK_HDF5_FLOAT32, rows, 1, NULL);

    for (size_t step = 0; step < steps; step++) {
        const float *frame = yk_record_frame(record, step);
        for (size_t i = 0; i < points; i++) {
            yk_vec3 p = locate(m, frame, &anchors[i]);
            scratch[3 * i] = (float)p.x;
            scratch[3 * i + 1] = (float)p.y;
            scratch[3 * i + 2] = (float)p.z;
        }
        yk_hdf5_write(output, places, 3 * step * points, 3 * points, scratch);

        /* Absent particles have no size. */
        if (m->varies) {
            for (size_t i = 0; i < points; i++)
                scratch[i] = is_there(m, frame, &anchors[i]) ? anchors[i].radius : 0;
            yk_hdf5_write(output, radii, step * points, points, scratch);
        }

        if (!strained)
            continue;

        /* The strain of a body is that of all its points. */
        for (size_t i = 0; i < points; i++) {
            const anchor *a = &anchors[i];
            scratch[i] = 0;
            if (a->body != YK_SCENE_GROUND && m->slots[a->body].strain >= 0)
                scratch[i] = frame[m->slots[a->body].strain];
        }
        yk_hdf5_write(output, strains, step * points, points, scratch);
    }
}

/* Radius, subsystem and body of all points. */
static void write_owners(yk_hdf5_output *output, yk_hdf5_object *data, const mesh *m,
                         float *scratch)
{
    size_t points = count_points(m);
    const anchor *anchors = (const anchor *)(const void *)m->anchors.data;

    /* Radii that change are written with the steps. */
    for (size_t i = 0; i < points; i++)
        scratch[i] = anchors[i].radius;
    if (!m->varies)
        add_dataset(output, data, "radius", YK_HDF5_FLOAT32, points, 1, scratch);

    /* The same memory holds integers of as many bytes. */
    int32_t *numbers = (int32_t *)(void *)scratch;
    for (size_t i = 0; i < points; i++)
        numbers[i] = anchors[i].subsystem;
    add_dataset(output, data, "subsystem", YK_HDF5_INT32, points, 1, numbers);
    for (size_t i = 0; i < points; i++)
        numbers[i] = anchors[i].body;
    add_dataset(output, data, "body", YK_HDF5_INT32, points, 1, numbers);
}

/* Times, and where each step begins. Cells are those of the first step, as one part. */
static void write_steps(yk_hdf5_output *output, yk_hdf5_object *root, const mesh *m,
                        const yk_record *record, double *times, int64_t *ids)
{
    size_t steps = yk_record_frame_count(record);
    int64_t number = (int64_t)steps;
    int64_t points = (int64_t)count_points(m);
    for (size_t i = 0; i < steps; i++)
        times[i] = yk_record_frame_time(record, i);

    yk_hdf5_object *group = yk_hdf5_add_group(output, root, "Steps");
    yk_hdf5_set_numbers(output, group, "NSteps", YK_HDF5_INT64, 0, &number);
    add_dataset(output, group, "Values", YK_HDF5_FLOAT64, steps, 1, times);
    yk_hdf5_object *data = yk_hdf5_add_group(output, group, "PointDataOffsets");

    /* Offsets that are the same in all steps. */
    memset(ids, 0, 4 * steps * sizeof *ids);
    write_ids(output, group, "PartOffsets", ids, steps, 1);
    write_ids(output, group, "CellOffsets", ids, steps, TOPOLOGIES);
    write_ids(output, group, "ConnectivityIdOffsets", ids, steps, TOPOLOGIES);
    write_ids(output, data, "subsystem", ids, steps, 1);
    write_ids(output, data, "body", ids, steps, 1);
    if (!m->varies)
        write_ids(output, data, "radius", ids, steps, 1);
    for (size_t i = 0; i < steps; i++)
        ids[i] = 1;
    write_ids(output, group, "NumberOfParts", ids, steps, 1);

    /* Offsets of each step. */
    for (size_t i = 0; i < steps; i++)
        ids[i] = (int64_t)i * points;
    write_ids(output, group, "PointOffsets", ids, steps, 1);
    if (m->varies)
        write_ids(output, data, "radius", ids, steps, 1);
    if (yk_scene_table_value_count(m->scene, YK_FRAME_STRAIN) > 0)
        write_ids(output, data, "strain", ids, steps, 1);
}

static yk_status write_file(yk_context *context, const char *path, const mesh *m,
                            const yk_record *record)
{
    /* Memory for a step of everything, and for a row of all steps. */
    size_t steps = yk_record_frame_count(record);
    float *scratch = yk_allocate(context, 3 * count_points(m) + 1, sizeof *scratch);
    double *times = yk_allocate(context, steps + 1, sizeof *times);
    int64_t *ids = yk_allocate(context, 4 * steps + 1, sizeof *ids);
    yk_status status = YK_ERROR_MEMORY;
    if (scratch && times && ids) {
        yk_hdf5_output *output = NULL;
        status = yk_hdf5_output_create(context, path, &output);
        if (status == YK_OK) {
            yk_hdf5_object *root = yk_hdf5_add_group(output, yk_hdf5_root(output), "VTKHDF");
            yk_hdf5_object *data = yk_hdf5_add_group(output, root, "PointData");
            write_cells(output, root, m);
            write_owners(output, data, m, scratch);
            write_points(output, root, data, m, record, scratch);
            write_steps(output, root, m, record, times, ids);
            status = yk_hdf5_output_finish(output);
        }
        yk_hdf5_output_destroy(output);
    }

    yk_free(context, scratch);
    yk_free(context, times);
    yk_free(context, ids);
    return status;
}

yk_status yk_record_export_vtkhdf(yk_context *context, const yk_record *record, const char *path)
{
    const yk_record_scene *scene = yk_record_get_header(record)->scene;
    if (!scene || yk_record_frame_count(record) == 0)
        return yk_fail(context, YK_ERROR_INPUT,
                       "the record has no frames, so there is nothing to be seen of it");

    /* Whether some body is absent in some frame. */
    mesh m = {.scene = scene, .anchors = {.context = context}};
    size_t positions = yk_scene_table_value_count(scene, YK_FRAME_POSITION);
    for (size_t step = 0; !m.varies && step < yk_record_frame_count(record); step++) {
        const float *frame = yk_record_frame(record, step);
        for (size_t i = 0; i < positions; i += 3)
            m.varies = m.varies || !isfinite(frame[i]);
    }

    /* Points and cells of all shapes; every kind of cells begins at 0. */
    for (int i = 0; i < TOPOLOGIES; i++) {
        m.connectivity[i].context = context;
        m.offsets[i].context = context;
        yk_pack_bytes(&m.offsets[i], &(int64_t){0}, sizeof(int64_t));
    }

    for (int i = 0; i < scene->shape_count; i++)
        add_shape(&m, &scene->shapes[i]);
    bool failed = m.anchors.failed || !find_slots(context, &m);
    for (int i = 0; i < TOPOLOGIES; i++)
        failed = failed || m.connectivity[i].failed || m.offsets[i].failed;

    /* The file appears at once, and an older one remains after a failure. */
    yk_status status = YK_ERROR_MEMORY;
    size_t bytes = strlen(path) + 8;
    char *part = yk_allocate(context, bytes, 1);
    if (part && !failed) {
        snprintf(part, bytes, "%s.part", path);
        remove(part);
        status = write_file(context, part, &m, record);
        if (status == YK_OK && rename(part, path) != 0)
            status =
                yk_fail(context, YK_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
        if (status != YK_OK)
            remove(part);
    }

    yk_free(context, part);
    yk_free(context, m.slots);
    yk_pack_destroy(&m.anchors);
    for (int i = 0; i < TOPOLOGIES; i++) {
        yk_pack_destroy(&m.connectivity[i]);
        yk_pack_destroy(&m.offsets[i]);
    }

    return status;
}
