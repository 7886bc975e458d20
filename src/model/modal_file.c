/* Modal bodies from the tables that finite-element programs export: comma-separated, with a line of names first, in any
 * order of columns; docs/modal.md describes them.
 *
 *   nodes        node, x, y, z, mass; optionally ixx, iyy, izz, ixy, ixz, iyz of the lump about its node
 *   modes        mode, node, ux, uy, uz; optionally rx, ry, rz
 *   frequencies  mode, frequency; optionally damping, mass
 *
 * The shape integrals are sums over the lumped masses; the stiffness of mode i is its modal mass times its circular
 * frequency squared. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/kind_smooth.h"

enum { COLUMNS_MAX = 16, LINE_MAX_LENGTH = 4096 };

/* A table of numbers by rows. */
typedef struct table {
    const char *path;
    int column[COLUMNS_MAX]; /* place of each wanted name in the file, -1: absent */
    int wanted;
    double *values; /* rows x wanted, absent ones zero */
    int rows, capacity;
} table;

static yk_status add_row(yk_context *context, table *t, const double *fields)
{
    if (t->rows == t->capacity) {
        int capacity = t->capacity ? 2 * t->capacity : 64;
        double *grown = yk_reallocate(context, t->values, (size_t)(capacity * t->wanted), sizeof *grown);
        if (!grown) return YK_ERROR_MEMORY;
        t->values = grown;
        t->capacity = capacity;
    }
    for (int k = 0; k < t->wanted; k++)
        t->values[t->rows * t->wanted + k] = t->column[k] >= 0 ? fields[t->column[k]] : 0;
    t->rows++;
    return YK_OK;
}

/* The next field between commas, without blanks around it; NULL after the last. */
static char *next_field(char **rest)
{
    char *field = *rest;
    if (!field) return NULL;
    char *comma = strchr(field, ',');
    *rest = comma ? comma + 1 : NULL;
    if (comma) *comma = 0;
    while (isspace((unsigned char)*field)) field++;
    size_t length = strlen(field);
    while (length && isspace((unsigned char)field[length - 1])) field[--length] = 0;
    return field;
}

static yk_status read_names(yk_context *context, table *t, char *line, const char *const *names, int required)
{
    for (int k = 0; k < t->wanted; k++) t->column[k] = -1;
    char *rest = line, *field;
    for (int at = 0; (field = next_field(&rest)); at++)
        for (int k = 0; k < t->wanted; k++)
            if (strcmp(field, names[k]) == 0) t->column[k] = at;
    for (int k = 0; k < required; k++)
        if (t->column[k] < 0)
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s:1: there is no column '%s' in the first line", t->path,
                           names[k]);
    return YK_OK;
}

static yk_status read_line(yk_context *context, table *t, char *line, int number)
{
    double fields[COLUMNS_MAX] = {0};
    char *rest = line, *field;
    int count = 0, last = 0;
    for (; (field = next_field(&rest)) && count < COLUMNS_MAX; count++) {
        char *end;
        fields[count] = strtod(field, &end);
        if (end == field || *end || !isfinite(fields[count]))
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d: expected a number in column %d, found '%.40s'", t->path,
                           number, count + 1, field);
    }
    for (int k = 0; k < t->wanted; k++) last = t->column[k] > last ? t->column[k] : last;
    if (count <= last)
        return yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d: expected %d columns, found %d", t->path, number, last + 1,
                       count);
    return add_row(context, t, fields);
}

static bool is_blank(const char *line)
{
    while (isspace((unsigned char)*line)) line++;
    return *line == 0 || *line == '#';
}

/* Lines that are empty or begin with # are skipped. */
static yk_status read_table(yk_context *context, const char *path, const char *const *names, int wanted, int required,
                            table *t)
{
    *t = (table){.path = path, .wanted = wanted};
    FILE *file = fopen(path, "r");
    if (!file) return yk_fail(context, YK_ERROR_ARGUMENT, "%s cannot be opened: %s", path, strerror(errno));
    char line[LINE_MAX_LENGTH];
    yk_status status = YK_OK;
    bool named = false;
    for (int number = 1; status == YK_OK && fgets(line, sizeof line, file); number++) {
        if (is_blank(line)) continue;
        if (!strchr(line, '\n') && !feof(file)) {
            status = yk_fail(context, YK_ERROR_ARGUMENT, "%s:%d: the line is longer than %d characters", path, number,
                             LINE_MAX_LENGTH - 2);
        } else if (!named) {
            status = read_names(context, t, line, names, required);
            named = true;
        } else {
            status = read_line(context, t, line, number);
        }
    }
    fclose(file);
    if (status == YK_OK && t->rows == 0)
        status = yk_fail(context, YK_ERROR_ARGUMENT, "%s holds no numbers: its first line names the columns", path);
    return status;
}

/* A body in the making. */
typedef struct reading {
    yk_context *context;
    table nodes, modes, frequencies;
    yk_ffrf_point *points;
    yk_vec3 *shapes; /* per node: displacements, then rotations */
    double *stiffness, *damping, *mass;
    int *places;
    int mode_count;
    bool rotates, weighs; /* the files have rotations; modal masses */
} reading;

static int find_node(const reading *r, int number)
{
    for (int i = 0; i < r->nodes.rows; i++)
        if ((int)r->nodes.values[i * r->nodes.wanted] == number) return i;
    return -1;
}

static int find_mode(const reading *r, int number)
{
    for (int i = 0; i < r->mode_count; i++)
        if ((int)r->frequencies.values[i * r->frequencies.wanted] == number) return i;
    return -1;
}

/* sum of m rho rho^T from an inertia tensor: trace/2 - tensor. */
static yk_mat3 second_moment(const double *v)
{
    double half = 0.5 * (v[5] + v[6] + v[7]);
    return (yk_mat3){{{half - v[5], -v[8], -v[9]}, {-v[8], half - v[6], -v[10]}, {-v[9], -v[10], half - v[7]}}};
}

static yk_status take_memory(reading *r, int point_count)
{
    size_t nodes = (size_t)r->nodes.rows, n = (size_t)r->mode_count;
    r->points = yk_allocate(r->context, nodes, sizeof *r->points);
    r->shapes = yk_allocate(r->context, 2 * nodes * n, sizeof *r->shapes);
    r->stiffness = yk_allocate(r->context, n * n, sizeof *r->stiffness);
    r->damping = yk_allocate(r->context, n * n, sizeof *r->damping);
    r->mass = yk_allocate(r->context, n * n, sizeof *r->mass);
    r->places = yk_allocate(r->context, (size_t)point_count, sizeof *r->places);
    bool complete = r->points && r->shapes && r->stiffness && r->damping && r->mass && r->places;
    return complete ? YK_OK : YK_ERROR_MEMORY;
}

static void place_points(reading *r)
{
    size_t n = (size_t)r->mode_count;
    for (int i = 0; i < r->nodes.rows; i++) {
        const double *v = &r->nodes.values[i * r->nodes.wanted];
        yk_vec3 *shape = r->shapes + 2 * n * (size_t)i;
        r->points[i] = (yk_ffrf_point){.mass = v[4],
                                       .position = {v[1], v[2], v[3]},
                                       .second = second_moment(v),
                                       .displacement = shape,
                                       .rotation = r->rotates ? shape + n : NULL};
    }
}

static yk_status fill_shapes(reading *r)
{
    size_t n = (size_t)r->mode_count;
    for (int k = 0; k < r->modes.rows; k++) {
        const double *v = &r->modes.values[k * r->modes.wanted];
        int mode = find_mode(r, (int)v[0]), node = find_node(r, (int)v[1]);
        if (mode < 0) continue; /* a mode without frequency is left out */
        if (node < 0)
            return yk_fail(r->context, YK_ERROR_ARGUMENT, "%s names node %g, which %s does not have", r->modes.path,
                           v[1], r->nodes.path);
        yk_vec3 *shape = r->shapes + 2 * n * (size_t)node + mode;
        shape[0] = yk_v3(v[2], v[3], v[4]);
        shape[n] = yk_v3(v[5], v[6], v[7]);
    }
    return YK_OK;
}

/* Modal masses of the file, or of the lumps. */
static double modal_mass(const reading *r, int i)
{
    const double *v = &r->frequencies.values[i * r->frequencies.wanted];
    if (r->weighs) return v[3];
    double sum = 0;
    for (int k = 0; k < r->nodes.rows; k++) {
        const yk_ffrf_point *p = &r->points[k];
        sum += p->mass * yk_v3_norm2(p->displacement[i]);
        if (!p->rotation) continue;
        double trace = p->second.m[0][0] + p->second.m[1][1] + p->second.m[2][2];
        sum += trace * yk_v3_norm2(p->rotation[i]) - yk_v3_dot(p->rotation[i], yk_m3_apply(p->second, p->rotation[i]));
    }
    return sum;
}

static yk_status fill_modes(reading *r, double damping_ratio)
{
    int n = r->mode_count;
    bool damped = r->frequencies.column[2] >= 0;
    for (int i = 0; i < n; i++) {
        const double *v = &r->frequencies.values[i * r->frequencies.wanted];
        double omega = 2 * YK_PI * v[1], mass = modal_mass(r, i);
        if (!(v[1] > 0))
            return yk_fail(r->context, YK_ERROR_ARGUMENT,
                           "%s: mode %g has the frequency %g: leave out the rigid modes, the frame moves instead",
                           r->frequencies.path, v[0], v[1]);
        if (!(mass > 0))
            return yk_fail(r->context, YK_ERROR_ARGUMENT, "%s: mode %g moves no mass of %s", r->modes.path, v[0],
                           r->nodes.path);
        r->mass[n * i + i] = mass;
        r->stiffness[n * i + i] = mass * omega * omega;
        r->damping[n * i + i] = 2 * (damped ? v[2] : damping_ratio) * mass * omega;
    }
    return YK_OK;
}

static yk_status find_places(reading *r, const int *points, int count)
{
    for (int k = 0; k < count; k++) {
        r->places[k] = find_node(r, points[k]);
        if (r->places[k] < 0)
            return yk_fail(r->context, YK_ERROR_ARGUMENT, "%s has no node %d", r->nodes.path, points[k]);
    }
    return YK_OK;
}

static yk_status read_tables(reading *r, const yk_modal_files *files)
{
    static const char *const of_nodes[] = {"node", "x", "y", "z", "mass", "ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    static const char *const of_modes[] = {"mode", "node", "ux", "uy", "uz", "rx", "ry", "rz"};
    static const char *const of_frequencies[] = {"mode", "frequency", "damping", "mass"};
    yk_status status = read_table(r->context, files->nodes, of_nodes, 11, 5, &r->nodes);
    if (status == YK_OK) status = read_table(r->context, files->modes, of_modes, 8, 5, &r->modes);
    if (status == YK_OK) status = read_table(r->context, files->frequencies, of_frequencies, 4, 2, &r->frequencies);
    if (status != YK_OK) return status;
    r->mode_count = r->frequencies.rows;
    r->rotates = r->modes.column[5] >= 0 && r->modes.column[6] >= 0 && r->modes.column[7] >= 0;
    r->weighs = r->frequencies.column[3] >= 0;
    if (r->mode_count > YK_FFRF_MODES_MAX)
        return yk_fail(r->context, YK_ERROR_ARGUMENT, "%s lists %d modes, but at most %d can be used: shorten it",
                       files->frequencies, r->mode_count, YK_FFRF_MODES_MAX);
    return YK_OK;
}

yk_status yk_modal_read(yk_context *context, const yk_modal_files *files, const int *points, int point_count,
                        yk_flexible **body)
{
    reading r = {.context = context};
    *body = NULL;
    yk_status status = read_tables(&r, files);
    if (status == YK_OK) status = take_memory(&r, point_count);
    if (status == YK_OK) {
        place_points(&r);
        status = fill_shapes(&r);
    }
    if (status == YK_OK) status = fill_modes(&r, files->damping_ratio);
    if (status == YK_OK) status = find_places(&r, points, point_count);
    if (status == YK_OK) {
        yk_ffrf_def def = {.mode_count = r.mode_count,
                           .points = r.points,
                           .point_count = r.nodes.rows,
                           .mass = r.weighs ? r.mass : NULL,
                           .stiffness = r.stiffness,
                           .damping = r.damping,
                           .constant_mass = files->constant_mass};
        status = yk_flexible_modal(context, &def, r.places, point_count, body);
    }
    void *const blocks[] = {r.nodes.values, r.modes.values, r.frequencies.values,
                            r.points,       r.shapes,       r.stiffness,
                            r.damping,      r.mass,         r.places};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) yk_release(context, blocks[i]);
    return status;
}
