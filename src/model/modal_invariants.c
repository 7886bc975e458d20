/* The table of inertia invariants and modal matrices: quantity, i, j, component, value, one number
 * per line. docs/modal.md lists the quantities with their units and other names. Missing values are
 * zero; of two equivalent index pairs i, j one is sufficient. */
#include <string.h>

#include "base/text.h"
#include "model/files.h"
#include "model/modal.h"

/* The quantities. */
enum {
    MASS,
    MOMENT,
    INERTIA,
    MOMENTUM,
    SPIN,
    INERTIA_SLOPE,
    INERTIA_CURVE,
    CORIOLIS,
    SHORTENING,
    SWING,
    MODAL_MASS,
    STIFFNESS,
    DAMPING,
    QUANTITIES
};

enum { SCALAR = 1, VECTOR = 3, TENSOR = 6 };

/* Number of modes of a quantity, its components, and the sign that relates i, j to j, i. */
static const struct {
    int modes, components, sign;
} kinds[QUANTITIES] = {
    [MASS] = {0, SCALAR, 1},          [MOMENT] = {0, VECTOR, 1},
    [INERTIA] = {0, TENSOR, 1},       [MOMENTUM] = {1, VECTOR, 1},
    [SPIN] = {1, VECTOR, 1},          [INERTIA_SLOPE] = {1, TENSOR, 1},
    [INERTIA_CURVE] = {2, TENSOR, 1}, [CORIOLIS] = {2, VECTOR, -1},
    [SHORTENING] = {2, VECTOR, 1},    [SWING] = {2, VECTOR, 1},
    [MODAL_MASS] = {2, SCALAR, 1},    [STIFFNESS] = {2, SCALAR, 1},
    [DAMPING] = {2, SCALAR, 1},
};

static const char *const quantity_names[] = {
    "mass",          "moment",        "inertia",  "momentum",   "spin",
    "inertia_slope", "inertia_curve", "coriolis", "shortening", "swing",
    "modal_mass",    "stiffness",     "damping",  NULL};
static const char *const vector_names[] = {"x", "y", "z", NULL};
static const char *const tensor_names[] = {"xx", "yy", "zz", "xy", "xz", "yz", NULL};

/* Columns */
enum { QUANTITY, FIRST, SECOND, COMPONENT, VALUE };
static const char *const columns[] = {"quantity", "i", "j", "component", "value", NULL};

/* Numbers of all quantities by index, and the line of each, 0: none. */
typedef struct reading {
    yk_modal *modal;
    yk_csv table;
    double *value[QUANTITIES];
    int *line[QUANTITIES];
    int lines[QUANTITIES]; /* number of lines with this quantity */
} reading;

/* Index of a number of a quantity. */
static int entry_of(const reading *r, int of, int i, int j, int component)
{
    int entry = i;
    if (kinds[of].modes == 2)
        entry = r->modal->mode_count * i + j;
    return kinds[of].components * entry + component;
}

static int find_word(const char *text, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

/* All columns are required; all except the first may be empty. */
static yk_status open_table(yk_context *context, const char *path, yk_csv *table)
{
    /* A row may have empty i, j and component, the header may not. */
    yk_status status = yk_csv_open(context, path, columns, 1, table);
    for (int k = 0; columns[k] && status == YK_OK; k++)
        if (!yk_csv_has(table, k))
            status = yk_fail(context, YK_ERROR_ARGUMENT,
                             "%s:%d: there is no column '%s': the first line is "
                             "quantity,i,j,component,value",
                             path, table->line, columns[k]);

    return status;
}

/* Modes with a stiffness of their own. */
yk_status yk_modal_list_modes(yk_modal *modal, const char *path, int **numbers, int *count)
{
    *count = 0;
    *numbers = NULL;
    int capacity = 0;
    yk_csv table;
    yk_status status = open_table(modal->context, path, &table);

    for (bool more = true; status == YK_OK && more;) {
        status = yk_csv_next(&table, &more);
        if (status != YK_OK || !more)
            break;
        if (strcmp(yk_csv_text(&table, QUANTITY), quantity_names[STIFFNESS]) != 0)
            continue;

        /* A diagonal entry. */
        int i = 0;
        int j = 0;
        status = yk_csv_integer(&table, FIRST, &i);
        if (status == YK_OK)
            status = yk_csv_integer(&table, SECOND, &j);
        if (status != YK_OK || i != j)
            continue;

        /* Memory for twice as many. */
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            int *wider = yk_modal_take(modal, (size_t)capacity, sizeof *wider);
            if (!wider) {
                status = YK_ERROR_MEMORY;
                break;
            }

            for (int k = 0; k < *count; k++)
                wider[k] = (*numbers)[k];
            *numbers = wider;
        }

        (*numbers)[(*count)++] = i;
    }

    yk_csv_close(&table);
    if (status == YK_OK && *count == 0)
        status = yk_fail(
            modal->context, YK_ERROR_ARGUMENT,
            "%s has no 'stiffness' of any mode: give it there, or a table of frequencies", path);

    return status;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* The modes of a row as indices; -1 for one that is not used. */
static yk_status read_modes(const reading *r, int of, int mode[2])
{
    for (int k = 0; k < 2; k++) {
        const char *text = yk_csv_text(&r->table, FIRST + k);
        const char *column = columns[FIRST + k];
        bool belongs = k < kinds[of].modes;

        /* A quantity of fewer modes has an empty column. */
        if (!belongs && text[0])
            return yk_csv_error(&r->table, FIRST + k, "'%s' is no quantity of %s: leave '%s' empty",
                                quantity_names[of], k ? "two modes" : "a mode", column);
        if (!belongs)
            continue;
        if (!text[0])
            return yk_csv_error(
                &r->table, FIRST + k, "'%s' belongs to %s: give the number of a mode under '%s'",
                quantity_names[of], kinds[of].modes == 2 ? "two modes" : "a mode", column);

        /* Its index among the modes that take part. */
        int number;
        yk_status status = yk_csv_integer(&r->table, FIRST + k, &number);
        if (status != YK_OK)
            return status;

        mode[k] = yk_modal_mode(r->modal, number);
    }

    return YK_OK;
}

/* One number of a quantity. */
static yk_status read_row(reading *r)
{
    const yk_csv *table = &r->table;

    /* Which quantity. */
    const char *word = yk_csv_text(table, QUANTITY);
    int of = find_word(word, quantity_names);
    if (of < 0) {
        const char *nearest = yk_text_nearest(word, quantity_names);
        if (!nearest)
            return yk_csv_error(table, QUANTITY, "there is no quantity '%.40s'", word);
        return yk_csv_error(table, QUANTITY, "quantity '%.40s' not found. Did you mean '%s'?", word,
                            nearest);
    }

    /* The numbers of the modes, and of the component. */
    int mode[2] = {0, 0};
    yk_status status = read_modes(r, of, mode);
    if (status != YK_OK)
        return status;

    /* Components have names; a scalar has none. */
    int component = 0;
    const char *text = yk_csv_text(table, COMPONENT);
    if (kinds[of].components == SCALAR && text[0])
        return yk_csv_error(table, COMPONENT, "'%s' has no components", quantity_names[of]);
    if (kinds[of].components == VECTOR) {
        component = find_word(text, vector_names);
        if (component < 0)
            return yk_csv_error(table, COMPONENT, "'%s' has the components %s, not '%.20s'",
                                quantity_names[of], "x, y, z", text);
    }

    if (kinds[of].components == TENSOR) {
        component = find_word(text, tensor_names);
        if (component < 0)
            return yk_csv_error(table, COMPONENT, "'%s' has the components %s, not '%.20s'",
                                quantity_names[of], "xx, yy, zz, xy, xz, yz", text);
    }

    /* The number, which is stored if its modes are used. */
    double value = 0;
    if (!yk_csv_text(table, VALUE)[0])
        return yk_csv_error(table, VALUE, "there is nothing under 'value'");

    status = yk_csv_number(table, VALUE, &value);
    if (status != YK_OK || mode[0] < 0 || mode[1] < 0)
        return status;

    /* Each number once. */
    int at = entry_of(r, of, mode[0], mode[1], component);
    if (r->line[of][at])
        return yk_csv_error(table, VALUE, "this number of '%s' is already in line %d",
                            quantity_names[of], r->line[of][at]);

    r->value[of][at] = value;
    r->line[of][at] = table->line;
    r->lines[of]++;

    return YK_OK;
}

/* The whole table ------------------------------------------------------------------------------ */

/* Fills in the value for the exchanged order of two modes; both may be given if they agree. */
static yk_status complete(reading *r, int of, const char *path)
{
    yk_context *context = r->modal->context;
    const int *number = r->modal->mode_number;
    int n = r->modal->mode_count;
    int components = kinds[of].components;
    int sign = kinds[of].sign;
    const int *line = r->line[of];
    double *value = r->value[of];

    /* Limit below which a number is zero compared with the others. */
    double largest = 0;
    for (int k = 0; k < n * n * components; k++)
        largest = fmax(largest, fabs(value[k]));

    for (int k = 0; k < n * n * components; k++) {
        int i = k / components / n;
        int j = k / components % n;
        int other = entry_of(r, of, j, i, k % components);
        if (i == j && sign < 0 && value[k] != 0)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s:%d: '%s' of a mode with itself is zero: the product of a shape with "
                           "itself",
                           path, line[k], quantity_names[of]);

        /* Only one of both orders is given: copy it. */
        if (!line[k])
            continue;
        if (!line[other]) {
            value[other] = sign * value[k];
            continue;
        }

        /* Tables are written with fewer digits than numbers have. */
        double difference = fabs(value[k] - sign * value[other]);
        if (difference > 1e-6 * fabs(value[k]) + 1e-9 * largest)
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s:%d: '%s' of modes %d and %d is %.9g, but %.9g in line %d: they must "
                           "%s; leave one of them out",
                           path, line[k], quantity_names[of], number[i], number[j], value[k],
                           value[other], line[other],
                           sign > 0 ? "be the same" : "differ in sign alone");
    }

    return YK_OK;
}

/* The quantities of inertia must be complete; the matrices may be given alone, together with lumped
 * masses. */
static yk_status check_set(const reading *r, const char *path)
{
    yk_context *context = r->modal->context;
    const int *number = r->modal->mode_number;
    int n = r->modal->mode_count;

    /* Inertia as a whole. */
    for (int k = MOMENT; k < MODAL_MASS; k++)
        if (r->lines[k] && !r->lines[MASS])
            return yk_fail(context, YK_ERROR_ARGUMENT,
                           "%s has '%s' but no 'mass': inertia comes from this table as a whole, "
                           "or from lumped masses",
                           path, quantity_names[k]);
    if (!r->lines[MASS])
        return YK_OK;
    if (!r->lines[INERTIA])
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "%s has no 'inertia': give the tensor about the origin of the floating "
                       "frame",
                       path);

    /* Shapes must move mass. */
    for (int i = 0; i < n; i++)
        if (!(r->value[MODAL_MASS][(n + 1) * i] > 0))
            return yk_fail(context, YK_ERROR_ARGUMENT, "%s has no positive 'modal_mass' of mode %d",
                           path, number[i]);

    /* The trace of the second moments of two shapes is their modal mass, except for shapes of
     * second order. */
    if (!r->lines[INERTIA_CURVE] || r->lines[SWING] || r->lines[SHORTENING])
        return YK_OK;

    /* d2J/dp2 = 2 (tr(S) 1 - S) with the second moments S of a shape: its trace is 4 tr(S). */
    for (int i = 0; i < n; i++) {
        const double *v = &r->value[INERTIA_CURVE][TENSOR * (n + 1) * i];
        double mass = r->value[MODAL_MASS][(n + 1) * i];
        double found = 0.25 * (v[0] + v[1] + v[2]);
        if (fabs(found - mass) <= 0.5 * mass)
            continue;

        yk_log(context, YK_LOG_WARNING,
               "%s: mode %d has the modal mass %.6g, and %.6g by its inertia_curve: one of them "
               "is of another normalisation",
               path, number[i], mass, found);
        break;
    }

    return YK_OK;
}

static yk_vec3 vector_at(const reading *r, int of, int entry)
{
    const double *v = &r->value[of][VECTOR * entry];
    return yk_v3(v[0], v[1], v[2]);
}

static yk_mat3 tensor_at(const reading *r, int of, int entry)
{
    const double *v = &r->value[of][TENSOR * entry];
    return (yk_mat3){{{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}}};
}

yk_status yk_modal_read_invariants(yk_modal *modal, const char *path)
{
    reading *r = yk_modal_take(modal, 1, sizeof *r);
    if (!r)
        return YK_ERROR_MEMORY;

    /* Allocate all quantities; missing values are zero. */
    int n = modal->mode_count;
    r->modal = modal;
    for (int k = 0; k < QUANTITIES; k++) {
        size_t count = (size_t)kinds[k].components;
        for (int mode = 0; mode < kinds[k].modes; mode++)
            count *= (size_t)n;

        r->value[k] = yk_modal_take(modal, count, sizeof *r->value[k]);
        r->line[k] = yk_modal_take(modal, count, sizeof *r->line[k]);
        if (!r->value[k] || !r->line[k])
            return YK_ERROR_MEMORY;
    }

    /* Read the rows, then apply the symmetry of pairs. */
    yk_status status = open_table(modal->context, path, &r->table);
    for (bool more = true; status == YK_OK && more;) {
        status = yk_csv_next(&r->table, &more);
        if (status == YK_OK && more)
            status = read_row(r);
    }

    yk_csv_close(&r->table);
    for (int k = 0; k < QUANTITIES && status == YK_OK; k++)
        if (kinds[k].modes == 2)
            status = complete(r, k, path);
    if (status == YK_OK)
        status = check_set(r, path);
    if (status != YK_OK)
        return status;

    /* The matrices. */
    if (r->lines[MODAL_MASS])
        modal->modal_mass = r->value[MODAL_MASS];

    modal->stiffness = r->value[STIFFNESS];
    modal->damping = r->value[DAMPING];
    if (!r->lines[MASS])
        return YK_OK;

    /* The integrals of the rigid body, of each shape and of each pair of shapes. */
    status = yk_modal_take_invariants(modal);
    if (status != YK_OK)
        return status;

    yk_mat3 inertia = tensor_at(r, INERTIA, 0);
    modal->mass = r->value[MASS][0];
    modal->moment = vector_at(r, MOMENT, 0);
    modal->second = yk_modal_second_moment(&inertia);

    /* Symmetric parts are given as changes of the inertia tensor, axial parts as momenta. */
    for (int i = 0; i < n; i++) {
        yk_mat3 slope = tensor_at(r, INERTIA_SLOPE, i);
        modal->shift[i] = vector_at(r, MOMENTUM, i);
        modal->spread[i] = yk_ffrf_compose(&slope, vector_at(r, SPIN, i));
    }

    for (int k = 0; k < n * n; k++) {
        yk_mat3 curve = tensor_at(r, INERTIA_CURVE, k);
        yk_vec3 axial = yk_v3_sub(vector_at(r, SWING, k), vector_at(r, CORIOLIS, k));
        modal->curve[k] = vector_at(r, SHORTENING, k);
        modal->pair[k] = yk_ffrf_compose(&curve, axial);
    }

    return YK_OK;
}
