/* Modal bodies from the tables that finite-element programs export; docs/modal.md describes them.
 *
 *   nodes         node, x, y, z, mass; optionally ixx, iyy, izz, ixy, ixz, iyz of the lump about its node
 *   modes         mode, node, ux, uy, uz; optionally rx, ry, rz
 *   frequencies   mode, frequency; optionally damping, mass
 *   second_order  mode, other, node, ux, uy, uz
 *   invariants    modal_invariants.c
 *
 * The shape integrals are sums over the lumped masses, or those of the table of invariants. The
 * stiffness of mode i is its modal mass times its circular frequency squared, or that of the
 * table. */
#include "model/csv.h"
#include "model/modal.h"

/* All rows of a table of numbers; a whole number where the name is among the first `whole`. */
typedef struct rows {
    yk_csv table;
    double *values; /* rows x names */
    int *line;
    int count;
} rows;

static yk_status grow(yk_modal *modal, rows *r, int *capacity)
{
    int wider = *capacity ? 2 * *capacity : 64, width = r->table.count;
    double *values = yk_modal_take(modal, (size_t)wider * (size_t)width, sizeof *values);
    int *line = yk_modal_take(modal, (size_t)wider, sizeof *line);
    if (!values || !line)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < r->count * width; i++)
        values[i] = r->values[i];
    for (int i = 0; i < r->count; i++)
        line[i] = r->line[i];
    r->values = values, r->line = line;
    *capacity = wider;
    return YK_OK;
}

static yk_status read_row(rows *r, int whole)
{
    double *to = &r->values[r->count * r->table.count];
    yk_status status = YK_OK;
    for (int k = 0; k < r->table.count && status == YK_OK; k++) {
        int number = 0;
        status =
            k < whole ? yk_csv_integer(&r->table, k, &number) : yk_csv_number(&r->table, k, &to[k]);
        if (k < whole)
            to[k] = number;
    }
    r->line[r->count++] = r->table.line;
    return status;
}

static yk_status read_rows(yk_modal *modal, const char *path, const char *const *names,
                           int required, int whole, rows *r)
{
    *r = (rows){0};
    int capacity = 0;
    yk_status status = yk_csv_open(modal->context, path, names, required, &r->table);
    for (bool more = true; status == YK_OK && more;) {
        status = yk_csv_next(&r->table, &more);
        if (status != YK_OK || !more)
            break;
        if (r->count == capacity)
            status = grow(modal, r, &capacity);
        if (status == YK_OK)
            status = read_row(r, whole);
    }
    yk_csv_close(&r->table);
    if (status == YK_OK && r->count == 0)
        status = yk_fail(modal->context, YK_ERROR_ARGUMENT,
                         "%s holds no numbers below its first line", path);
    return status;
}

/* Nodes and shapes ----------------------------------------------------------------------------- */

static yk_status read_nodes(yk_modal *modal)
{
    static const char *const names[] = {"node", "x",   "y",   "z",   "mass", "ixx",
                                        "iyy",  "izz", "ixy", "ixz", "iyz",  NULL};
    rows r;
    yk_status status =
        read_rows(modal, modal->files->nodes, names, modal->files->invariants ? 4 : 5, 1, &r);
    if (status == YK_OK)
        status = yk_modal_take_nodes(modal, r.count);
    for (int i = 0; i < r.count && status == YK_OK; i++) {
        const double *v = &r.values[i * r.table.count];
        yk_mat3 tensor = {{{v[5], v[8], v[9]}, {v[8], v[6], v[10]}, {v[9], v[10], v[7]}}};
        if (v[4] < 0)
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s:%d: node %g has the negative mass %g", r.table.path, r.line[i], v[0],
                           v[4]);
        modal->node_number[i] = (int)v[0];
        modal->points[i].mass = v[4];
        modal->points[i].position = yk_v3(v[1], v[2], v[3]);
        modal->points[i].second = yk_modal_second_moment(&tensor);
    }
    return status == YK_OK ? yk_modal_order_nodes(modal, modal->files->nodes) : status;
}

static yk_status no_such_node(const yk_modal *modal, const rows *r, int row, double number)
{
    return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s:%d: there is no node %g in %s",
                   r->table.path, r->line[row], number, modal->files->nodes);
}

/* Modes that take no part are passed over. */
static yk_status read_modes(yk_modal *modal)
{
    static const char *const names[] = {"mode", "node", "ux", "uy", "uz", "rx", "ry", "rz", NULL};
    rows r;
    yk_status status = read_rows(modal, modal->files->modes, names, 5, 2, &r);
    if (status != YK_OK)
        return status;

    modal->rotates = yk_csv_has(&r.table, 5) && yk_csv_has(&r.table, 6) && yk_csv_has(&r.table, 7);
    size_t n = (size_t)modal->mode_count;
    for (int k = 0; k < r.count; k++) {
        const double *v = &r.values[k * r.table.count];
        int mode = yk_modal_mode(modal, (int)v[0]), node = yk_modal_node(modal, (int)v[1]);
        if (mode < 0)
            continue;
        if (node < 0)
            return no_such_node(modal, &r, k, v[1]);

        yk_vec3 *shape = modal->shapes + 2 * n * (size_t)node + mode;
        shape[0] = yk_v3(v[2], v[3], v[4]);
        shape[n] = yk_v3(v[5], v[6], v[7]);
    }
    return YK_OK;
}

/* g_ij and g_ji are one: a table may have either, or both. */
static yk_status read_second_order(yk_modal *modal)
{
    static const char *const names[] = {"mode", "other", "node", "ux", "uy", "uz", NULL};
    rows r;
    yk_status status = read_rows(modal, modal->files->second_order, names, 6, 3, &r);
    if (status != YK_OK)
        return status;

    int n = modal->mode_count;
    for (int k = 0; k < r.count; k++) {
        const double *v = &r.values[k * r.table.count];
        int i = yk_modal_mode(modal, (int)v[0]), j = yk_modal_mode(modal, (int)v[1]);
        int node = yk_modal_node(modal, (int)v[2]);
        if (i < 0 || j < 0)
            continue;
        if (node < 0)
            return no_such_node(modal, &r, k, v[2]);

        yk_vec3 *bends = yk_modal_bends(modal, node), value = {v[3], v[4], v[5]}, had;
        if (!bends)
            return YK_ERROR_MEMORY;

        had = bends[n * i + j];
        if (yk_v3_norm2(had) > 0 && yk_v3_norm(yk_v3_sub(had, value)) > 1e-6 * yk_v3_norm(had))
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s:%d: modes %g and %g of node %g have another value further up: "
                           "the order of the modes does not matter",
                           r.table.path, r.line[k], v[0], v[1], v[2]);
        bends[n * i + j] = bends[n * j + i] = value;
    }
    return YK_OK;
}

/* Modes ---------------------------------------------------------------------------------------- */

/* Columns of the table of frequencies. */
enum { MODE, FREQUENCY, DAMPING, MASS };

/* Frequencies say nothing of modes that are coupled by their masses. */
static yk_status check_uncoupled(const yk_modal *modal)
{
    int n = modal->mode_count;
    for (int k = 0; k < n * n && modal->modal_mass; k++) {
        double size =
            sqrt(fabs(modal->modal_mass[(n + 1) * (k / n)] * modal->modal_mass[(n + 1) * (k % n)]));
        if (k / n == k % n || fabs(modal->modal_mass[k]) <= 1e-6 * size)
            continue;
        return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                       "%s: modal_mass couples modes %d and %d, whose stiffness is not known "
                       "from frequencies: give 'stiffness' beside it",
                       modal->files->invariants, modal->mode_number[k / n],
                       modal->mode_number[k % n]);
    }
    return YK_OK;
}

/* Matrices of a body without them, from its frequencies: diagonal, whatever the lumps say. */
static yk_status fill_modes(yk_modal *modal, const rows *r)
{
    int n = modal->mode_count;
    bool weighed = yk_csv_has(&r->table, MASS), damped = yk_csv_has(&r->table, DAMPING);
    bool given = modal->modal_mass != NULL, lossy = false;
    for (int k = 0; k < n * n; k++)
        lossy |= modal->damping[k] != 0; /* by the table of invariants */
    double *mass = given ? modal->modal_mass : yk_modal_take(modal, (size_t)(n * n), sizeof *mass);
    if (!mass)
        return YK_ERROR_MEMORY;

    yk_status status = check_uncoupled(modal);
    if (status != YK_OK)
        return status;

    for (int k = 0; k < r->count; k++) {
        const double *v = &r->values[k * r->table.count];
        int i = yk_modal_mode(modal, (int)v[MODE]);
        if (i < 0)
            continue;

        double *m = &mass[(n + 1) * i], omega = 2 * YK_PI * v[FREQUENCY];
        if (!(v[FREQUENCY] > 0))
            return yk_fail(modal->context, YK_ERROR_ARGUMENT,
                           "%s:%d: mode %g has the frequency %g: leave out the rigid modes, "
                           "the frame moves instead",
                           r->table.path, r->line[k], v[MODE], v[FREQUENCY]);
        if (!given)
            *m = weighed ? v[MASS] : yk_modal_lumped_mass(modal, i);
        if (!(*m > 0))
            return yk_fail(modal->context, YK_ERROR_ARGUMENT, "%s:%d: mode %g moves no mass of %s",
                           r->table.path, r->line[k], v[MODE],
                           modal->files->nodes ? modal->files->nodes : modal->files->invariants);
        modal->stiffness[(n + 1) * i] = *m * omega * omega;
        if (!lossy)
            modal->damping[(n + 1) * i] =
                2 * (damped ? v[DAMPING] : modal->files->damping_ratio) * *m * omega;
    }
    if (weighed && !given)
        modal->modal_mass = mass;
    return YK_OK;
}

static yk_status list_modes(yk_modal *modal, rows *frequencies)
{
    static const char *const names[] = {"mode", "frequency", "damping", "mass", NULL};
    const yk_modal_files *files = modal->files;
    int *numbers, count;
    if (!files->frequencies) {
        yk_status status = yk_modal_list_modes(modal, files->invariants, &numbers, &count);
        return status == YK_OK ? yk_modal_take_modes(modal, numbers, count, files->invariants)
                               : status;
    }
    yk_status status = read_rows(modal, files->frequencies, names, 2, 1, frequencies);
    if (status != YK_OK)
        return status;

    numbers = yk_modal_take(modal, (size_t)frequencies->count, sizeof *numbers);
    if (!numbers)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < frequencies->count; i++)
        numbers[i] = (int)frequencies->values[i * frequencies->table.count];
    return yk_modal_take_modes(modal, numbers, frequencies->count, files->frequencies);
}

static bool is_stiff(const yk_modal *modal)
{
    for (int i = 0; i < modal->mode_count; i++)
        if (modal->stiffness[(modal->mode_count + 1) * i] != 0)
            return true;
    return false;
}

yk_status yk_modal_read_tables(yk_modal *modal)
{
    const yk_modal_files *files = modal->files;
    rows *frequencies = yk_modal_take(modal, 1, sizeof *frequencies);
    if (!frequencies)
        return YK_ERROR_MEMORY;

    yk_status status = list_modes(modal, frequencies);
    if (status == YK_OK && files->nodes)
        status = read_nodes(modal);
    if (status == YK_OK && files->modes)
        status = read_modes(modal);
    if (status == YK_OK && files->second_order)
        status = read_second_order(modal);
    if (status == YK_OK && files->invariants)
        status = yk_modal_read_invariants(modal, files->invariants);
    if (status != YK_OK)
        return status;
    if (files->frequencies && !is_stiff(modal))
        return fill_modes(modal, frequencies);

    yk_modal_damp(modal);
    return YK_OK;
}
