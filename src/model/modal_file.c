/* Modal bodies from the tables that finite-element programs export (docs/modal.md).
 *
 *   nodes         node, x, y, z, mass; optionally ixx, iyy, izz, ixy, ixz, iyz of the lump about
 *                 its node
 *   modes         mode, node, ux, uy, uz; optionally rx, ry, rz
 *   frequencies   mode, frequency; optionally damping, mass
 *   second_order  mode, other, node, ux, uy, uz
 *   invariants    modal_invariants.c
 *
 * The shape integrals are sums over the lumped masses, or those of the table of invariants. The
 * stiffness of mode i is its modal mass times its squared angular frequency, or that of the table.
 * A body is written in the same tables. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"
#include "model/files.h"
#include "model/modal.h"

/* All rows of a table of numbers. */
typedef struct rows {
    yk_csv table;
    double *values; /* rows x names */
    int *line;
    int count;
} rows;

/* The first `required` names must exist, and the first `whole` of them are integers. */
static yk_status read_rows(yk_modal *modal, const char *path, const char *const *names,
                           int required, int whole, rows *r)
{
    *r = (rows){0};

    /* Every requested column is read as a number. */
    int capacity = 0;
    yk_status status = yk_csv_open(modal->context, path, names, required, &r->table);
    int width = r->table.count;
    while (status == YK_OK) {
        bool more;
        status = yk_csv_next(&r->table, &more);
        if (status != YK_OK || !more)
            break;

        /* Allocate twice as many rows; the old block remains in the store. */
        if (r->count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            size_t cells = (size_t)capacity * (size_t)width;
            double *values = yk_modal_take(modal, cells, sizeof *values);
            int *line = yk_modal_take(modal, (size_t)capacity, sizeof *line);
            if (!values || !line) {
                status = YK_ERROR_MEMORY;
                break;
            }

            for (int i = 0; i < r->count * width; i++)
                values[i] = r->values[i];
            for (int i = 0; i < r->count; i++)
                line[i] = r->line[i];

            r->values = values;
            r->line = line;
        }

        /* The numbers of the row, and its location. */
        double *to = &r->values[r->count * width];
        for (int k = 0; k < width && status == YK_OK; k++) {
            int number = 0;
            if (k < whole) {
                status = yk_csv_integer(&r->table, k, &number);
                to[k] = number;
            } else {
                status = yk_csv_number(&r->table, k, &to[k]);
            }
        }

        r->line[r->count++] = r->table.line;
    }

    yk_csv_close(&r->table);
    if (status == YK_OK && r->count == 0)
        return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                       "%s holds no numbers below its first line", path);

    return status;
}

/* Nodes and shapes ----------------------------------------------------------------------------- */

static yk_status read_nodes(yk_modal *modal, const char *path)
{
    static const char *const names[] = {"node", "x",   "y",   "z",   "mass", "ixx",
                                        "iyy",  "izz", "ixy", "ixz", "iyz",  NULL};

    /* With invariants, nodes have no mass. */
    rows r;
    int required = modal->files->invariants ? 4 : 5;
    yk_status status = read_rows(modal, path, names, required, 1, &r);
    if (status == YK_OK)
        status = yk_modal_take_nodes(modal, r.count);
    if (status != YK_OK)
        return status;

    for (int i = 0; i < r.count; i++) {
        const double *v = &r.values[i * r.table.count];
        if (v[4] < 0)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s:%d: node %g has the negative mass %g", path, r.line[i], v[0], v[4]);

        /* A lump: its mass, and its inertia as second moments. */
        yk_mat3 tensor = {{{v[5], v[8], v[9]}, {v[8], v[6], v[10]}, {v[9], v[10], v[7]}}};
        yk_ffrf_point *point = &modal->points[i];
        modal->node_number[i] = (int)v[0];
        point->mass = v[4];
        point->position = yk_v3(v[1], v[2], v[3]);
        point->second = yk_modal_second_moment(&tensor);
    }

    return yk_modal_order_nodes(modal, path);
}

static yk_status no_such_node(const yk_modal *modal, const rows *r, int row, double number)
{
    return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s:%d: there is no node %g in %s",
                   r->table.path, r->line[row], number, modal->files->nodes);
}

/* Modes that are not used are skipped. */
static yk_status read_modes(yk_modal *modal, const char *path)
{
    static const char *const names[] = {"mode", "node", "ux", "uy", "uz", "rx", "ry", "rz", NULL};
    rows r;
    yk_status status = read_rows(modal, path, names, 5, 2, &r);
    if (status != YK_OK)
        return status;

    /* Either all rotations are given or none. */
    modal->rotates = true;
    for (int k = 5; k < 8; k++)
        modal->rotates = modal->rotates && yk_csv_has(&r.table, k);

    size_t n = (size_t)modal->mode_count;
    for (int k = 0; k < r.count; k++) {
        const double *v = &r.values[k * r.table.count];
        int mode = yk_modal_mode(modal, (int)v[0]);
        int node = yk_modal_node(modal, (int)v[1]);

        /* The node of a used mode must exist. */
        if (mode < 0)
            continue;
        if (node < 0)
            return no_such_node(modal, &r, k, v[1]);

        /* Displacements of a node come before its rotations. */
        yk_vec3 *shape = modal->shapes + 2 * n * (size_t)node + mode;
        shape[0] = yk_v3(v[2], v[3], v[4]);
        shape[n] = yk_v3(v[5], v[6], v[7]);
    }

    return YK_OK;
}

/* g_ij equals g_ji: a table may contain either, or both. */
static yk_status read_second_order(yk_modal *modal, const char *path)
{
    static const char *const names[] = {"mode", "other", "node", "ux", "uy", "uz", NULL};
    rows r;
    yk_status status = read_rows(modal, path, names, 6, 3, &r);
    if (status != YK_OK)
        return status;

    int n = modal->mode_count;
    for (int k = 0; k < r.count; k++) {
        /* Modes that are not used are skipped. */
        const double *v = &r.values[k * r.table.count];
        int i = yk_modal_mode(modal, (int)v[0]);
        int j = yk_modal_mode(modal, (int)v[1]);
        int node = yk_modal_node(modal, (int)v[2]);
        if (i < 0 || j < 0)
            continue;
        if (node < 0)
            return no_such_node(modal, &r, k, v[2]);

        /* The table of a node is created at its first row. */
        yk_vec3 *bends = yk_modal_bends(modal, node);
        if (!bends)
            return YK_ERROR_MEMORY;

        /* Both orders may be given, with the same value. */
        yk_vec3 value = {v[3], v[4], v[5]};
        yk_vec3 had = bends[n * i + j];
        double difference = yk_v3_norm(yk_v3_sub(had, value));
        if (yk_v3_norm2(had) > 0 && difference > 1e-6 * yk_v3_norm(had))
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s:%d: modes %g and %g of node %g have another value further up: the "
                           "order of the modes does not matter",
                           path, r.line[k], v[0], v[1], v[2]);

        bends[n * i + j] = value;
        bends[n * j + i] = value;
    }

    return YK_OK;
}

/* Modes ---------------------------------------------------------------------------------------- */

/* Columns of the table of frequencies. */
enum { MODE, FREQUENCY, DAMPING, MASS };
static const char *const frequency_names[] = {"mode", "frequency", "damping", "mass", NULL};

/* Matrices from frequencies are diagonal for all lumped masses. */
static yk_status fill_modes(yk_modal *modal, const rows *r)
{
    int n = modal->mode_count;
    const yk_modal_files *files = modal->files;

    /* Frequencies do not describe modes that are coupled by their masses. */
    double *mass = modal->modal_mass;
    for (int k = 0; k < n * n && mass; k++) {
        int i = k / n;
        int j = k % n;
        double size = sqrt(fabs(mass[(n + 1) * i] * mass[(n + 1) * j]));
        if (i != j && fabs(mass[k]) > 1e-6 * size)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s: modal_mass couples modes %d and %d, whose stiffness is not known "
                           "from frequencies: give 'stiffness' too",
                           files->invariants, modal->mode_number[i], modal->mode_number[j]);
    }

    /* Values from the table of invariants have priority. */
    bool given = mass != NULL;
    bool lossy = false;
    for (int k = 0; k < n * n; k++)
        lossy |= modal->damping[k] != 0;
    if (!given)
        mass = yk_modal_take(modal, (size_t)(n * n), sizeof *mass);
    if (!mass)
        return YK_ERROR_MEMORY;

    /* Each mode that takes part. */
    bool weighed = yk_csv_has(&r->table, MASS);
    bool damped = yk_csv_has(&r->table, DAMPING);
    for (int k = 0; k < r->count; k++) {
        const double *v = &r->values[k * r->table.count];
        int i = yk_modal_mode(modal, (int)v[MODE]);
        if (i < 0)
            continue;
        if (!(v[FREQUENCY] > 0))
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s:%d: mode %g has the frequency %g: leave out the rigid modes, the "
                           "frame moves instead",
                           r->table.path, r->line[k], v[MODE], v[FREQUENCY]);

        /* Modal mass: as given, else that of the lumps. */
        double *m = &mass[(n + 1) * i];
        if (!given && weighed)
            *m = v[MASS];
        else if (!given)
            *m = yk_modal_lumped_mass(modal, i);
        if (!(*m > 0))
            return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s:%d: mode %g moves no mass of %s",
                           r->table.path, r->line[k], v[MODE],
                           files->nodes ? files->nodes : files->invariants);

        /* k = m omega^2, c = 2 zeta m omega. */
        double omega = 2 * YK_PI * v[FREQUENCY];
        double ratio = damped ? v[DAMPING] : files->damping_ratio;
        modal->stiffness[(n + 1) * i] = *m * omega * omega;
        if (!lossy)
            modal->damping[(n + 1) * i] = 2 * ratio * *m * omega;
    }

    if (weighed && !given)
        modal->modal_mass = mass;
    return YK_OK;
}

yk_status yk_modal_read_tables(yk_modal *modal)
{
    const yk_modal_files *files = modal->files;
    rows *frequencies = yk_modal_take(modal, 1, sizeof *frequencies);
    if (!frequencies)
        return YK_ERROR_MEMORY;

    /* The modes, from the table of frequencies or from those with a stiffness. */
    const char *path = files->invariants;
    int *numbers = NULL;
    int count = 0;
    yk_status status;
    if (files->frequencies) {
        path = files->frequencies;
        status = read_rows(modal, path, frequency_names, 2, 1, frequencies);
        count = frequencies->count;
        numbers = yk_modal_take(modal, (size_t)count, sizeof *numbers);
        if (status == YK_OK && !numbers)
            status = YK_ERROR_MEMORY;

        for (int i = 0; status == YK_OK && i < count; i++)
            numbers[i] = (int)frequencies->values[i * frequencies->table.count];
    } else {
        status = yk_modal_list_modes(modal, path, &numbers, &count);
    }

    if (status == YK_OK)
        status = yk_modal_take_modes(modal, numbers, count, path);

    /* Each table that is given. */
    const struct {
        const char *path;
        yk_status (*read)(yk_modal *modal, const char *path);
    } tables[] = {
        {files->nodes, read_nodes},
        {files->modes, read_modes},
        {files->second_order, read_second_order},
        {files->invariants, yk_modal_read_invariants},
    };

    /* Read nodes before tables that refer to them. */
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == YK_OK; i++)
        if (tables[i].path)
            status = tables[i].read(modal, tables[i].path);
    if (status != YK_OK)
        return status;

    /* A given stiffness has priority over frequencies. */
    bool stiff = false;
    for (int i = 0; i < modal->mode_count; i++)
        stiff = stiff || modal->stiffness[(modal->mode_count + 1) * i] != 0;
    if (files->frequencies && !stiff)
        return fill_modes(modal, frequencies);

    /* With a stiffness and no damping, use the scenario's damping. */
    yk_modal_damp(modal);
    return YK_OK;
}

/* Writing -------------------------------------------------------------------------------------- */

/* With all digits. Modes are numbered from 1; nodes are the attachments of the body and, for a
 * built-in rod, the drawn stations. */

static void write_number(FILE *out, const char *quantity, const int mode[2], const char *component,
                         double value)
{
    if (value == 0)
        return;

    /* Modes are numbered from 1; unused columns are empty. */
    fprintf(out, "%s,", quantity);
    for (int k = 0; k < 2; k++) {
        if (mode && mode[k] >= 0)
            fprintf(out, "%d", mode[k] + 1);
        fputc(',', out);
    }

    yk_print(out, "%s,%.17g\n", component, value);
}

static void write_vector(FILE *out, const char *quantity, const int mode[2], yk_vec3 v)
{
    write_number(out, quantity, mode, "x", v.x);
    write_number(out, quantity, mode, "y", v.y);
    write_number(out, quantity, mode, "z", v.z);
}

static void write_tensor(FILE *out, const char *quantity, const int mode[2], const yk_mat3 *t)
{
    static const char *const names[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    static const int row[] = {0, 1, 2, 0, 0, 1};
    static const int column[] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++)
        write_number(out, quantity, mode, names[k], t->m[row[k]][column[k]]);
}

static void write_matrix(FILE *out, const char *quantity, int n, const double *matrix)
{
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            const int mode[2] = {i, j};
            write_number(out, quantity, mode, "", matrix[n * i + j]);
        }
    }
}

static void write_invariants(FILE *out, const yk_flexible *flexible)
{
    const yk_ffrf *body = &flexible->modal;
    int n = body->modes;

    /* The rigid body. */
    yk_inertia rigid = yk_ffrf_inertia(body, NULL);
    fprintf(out, "quantity,i,j,component,value\n");
    write_number(out, "mass", NULL, "", body->mass);
    write_vector(out, "moment", NULL, body->moment);
    write_tensor(out, "inertia", NULL, &rigid.tensor);

    /* Each shape. */
    for (int i = 0; i < n; i++) {
        const int mode[2] = {i, -1};
        yk_mat3 slope = yk_ffrf_tensor_change(&body->spread[i]);
        write_vector(out, "momentum", mode, body->shift[i]);
        write_vector(out, "spin", mode, yk_ffrf_axial_of(&body->spread[i]));
        write_tensor(out, "inertia_slope", mode, &slope);
    }

    /* Each pair of shapes: the symmetric part of both orders, and the axial parts as their
     * difference and sum. */
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            const int mode[2] = {i, j};
            const yk_mat3 *one = &body->pair[n * i + j];
            const yk_mat3 *other = &body->pair[n * j + i];
            yk_mat3 mean = yk_m3_scale(0.5, yk_m3_add(*one, *other));
            yk_mat3 curve = yk_ffrf_tensor_change(&mean);
            yk_vec3 a = yk_ffrf_axial_of(one);
            yk_vec3 b = yk_ffrf_axial_of(other);
            write_tensor(out, "inertia_curve", mode, &curve);
            write_vector(out, "coriolis", mode, yk_v3_scale(0.5, yk_v3_sub(b, a)));
            write_vector(out, "swing", mode, yk_v3_scale(0.5, yk_v3_add(a, b)));
            write_vector(out, "shortening", mode, body->curve[n * i + j]);
        }
    }

    write_matrix(out, "modal_mass", n, body->modal_mass);
    write_matrix(out, "stiffness", n, body->stiffness);
    write_matrix(out, "damping", n, body->damping);
}

static void write_nodes(FILE *out, const yk_flexible *flexible)
{
    fprintf(out, "node,x,y,z\n");
    for (int k = 0; k < flexible->attachments + flexible->outline; k++) {
        yk_vec3 at = flexible->nodes[k].position;
        yk_print(out, "%d,%.17g,%.17g,%.17g\n", k + 1, at.x, at.y, at.z);
    }
}

static void write_modes(FILE *out, const yk_flexible *flexible)
{
    fprintf(out, "mode,node,ux,uy,uz,rx,ry,rz\n");
    for (int i = 0; i < flexible->modal.modes; i++) {
        for (int k = 0; k < flexible->attachments + flexible->outline; k++) {
            const yk_ffrf_node *node = &flexible->nodes[k];

            /* Stations of a drawn line may have no rotation. */
            yk_vec3 u = node->displacement[i];
            yk_vec3 r = yk_v3(0, 0, 0);
            if (node->rotation)
                r = node->rotation[i];

            yk_print(out, "%d,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", i + 1, k + 1, u.x, u.y,
                     u.z, r.x, r.y, r.z);
        }
    }
}

/* Each pair of shapes in one order. */
static void write_second_order(FILE *out, const yk_flexible *flexible)
{
    fprintf(out, "mode,other,node,ux,uy,uz\n");
    for (int k = 0; k < flexible->attachments + flexible->outline; k++) {
        const yk_ffrf_node *node = &flexible->nodes[k];
        for (int b = 0; b < node->bend_count; b++) {
            const yk_ffrf_bend *bend = &node->bends[b];

            /* The other order is equal. */
            if (bend->j < bend->i)
                continue;

            yk_vec3 g = bend->value;
            yk_print(out, "%d,%d,%d,%.17g,%.17g,%.17g\n", bend->i + 1, bend->j + 1, k + 1, g.x, g.y,
                     g.z);
        }
    }
}

yk_status yk_modal_write(yk_context *context, const yk_flexible *body, const char *folder)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out, const yk_flexible *flexible);
    } tables[] = {
        {"nodes.csv", write_nodes},
        {"modes.csv", write_modes},
        {"second_order.csv", write_second_order},
        {"invariants.csv", write_invariants},
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        /* A truncated path would name another file. */
        char path[1024];
        int length = snprintf(path, sizeof path, "%s/%s", folder, tables[i].name);
        if ((size_t)length >= sizeof path)
            return yk_fail(context, YK_ERROR_ARGUMENT, "the path %.200s... is too long", folder);

        yk_output out = yk_output_open(path);
        if (out.stream)
            tables[i].write(out.stream, body);
        if (!yk_output_close(&out))
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s cannot be written: %s", path,
                           strerror(errno));
    }

    return YK_OK;
}
