#include "coupling/jacobian.h"

#include <math.h>
#include <string.h>

/* The matrix is scaled to rows and columns of size 1; below this reciprocal condition number
 * constraints are then taken to be redundant, and the diagonal is raised by the fraction below.
 * The wrenches of redundant constraints are shared out that way, instead of growing out of the
 * noise of the Jacobian. */
static const double SINGULAR = 1e-8, REDUNDANCY = 1e-6;

struct yk_jacobian {
    yk_context *context;
    int size, parameters, motions, first_level;
    int participant_count, interface_count;
    yk_jacobian_interface *interfaces;
    yk_port_response *responses;
    yk_sparse *matrix;
    int *place; /* of every entry of every block, in the order of assembly, then of the diagonal */
    size_t place_count;
    /* workspace: conditions of one interface by the coordinates of one side */
    double *condition_gradient;
    double *row_scale, *column_scale;
    bool factored;
    bool fresh;     /* a response is new since the last factorisation */
    bool redundant; /* as found then */
};

/* Creation ------------------------------------------------------------------------------------- */

static int side_of(const yk_jacobian_interface *interface, int participant)
{
    return interface->participant[0] == participant   ? 0
           : interface->participant[1] == participant ? 1
                                                      : -1;
}

static void insert_by_port(yk_port_response *r, yk_connection c)
{
    int i = r->connection_count++;
    for (; i > 0 && r->connections[i - 1].port > c.port; i--)
        r->connections[i] = r->connections[i - 1];
    r->connections[i] = c;
}

static yk_status create_response(yk_jacobian *j, int participant)
{
    yk_port_response *r = &j->responses[participant];
    int count = 0;
    for (int i = 0; i < j->interface_count; i++)
        count += side_of(&j->interfaces[i], participant) >= 0;
    r->connections = yk_allocate(j->context, (size_t)count, sizeof *r->connections);
    if (!r->connections)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < j->interface_count; i++) {
        int side = side_of(&j->interfaces[i], participant);
        if (side >= 0)
            insert_by_port(
                r,
                (yk_connection){.interface = i, .side = side, .port = j->interfaces[i].port[side]});
    }
    for (int i = 0; i < count; i++) {
        const yk_jacobian_interface *interface = &j->interfaces[r->connections[i].interface];
        int first;
        r->connections[i].row = r->rows, r->connections[i].column = r->columns;
        r->rows += yk_jacobian_coordinates(interface, r->connections[i].side);
        r->columns +=
            yk_jacobian_columns(j, r->connections[i].interface, r->connections[i].side, &first);
    }
    r->matrix = yk_allocate(j->context, (size_t)r->rows * (size_t)r->columns, sizeof *r->matrix);
    r->motion = yk_allocate(j->context, (size_t)r->columns * (size_t)count, sizeof *r->motion);
    r->last = yk_allocate(j->context, (size_t)count, sizeof *r->last);
    r->change = yk_allocate(j->context, (size_t)(r->rows + r->columns), sizeof *r->change);
    return r->matrix && r->motion && r->last && r->change ? YK_OK : YK_ERROR_MEMORY;
}

static size_t count_entries(const yk_jacobian *j)
{
    size_t count = (size_t)j->size;
    for (int m = 0; m < j->participant_count; m++) {
        const yk_port_response *r = &j->responses[m];
        for (int from = 0; from < r->connection_count; from++)
            count += (size_t)yk_jacobian_interface_size(j, r->connections[from].interface) *
                     (size_t)r->columns;
    }
    return count;
}

/* In the order in which assembly runs through them. */
static void list_entries(const yk_jacobian *j, yk_sparse_entry *entry)
{
    for (int m = 0; m < j->participant_count; m++) {
        const yk_port_response *r = &j->responses[m];
        for (int from = 0; from < r->connection_count; from++) {
            int of = r->connections[from].interface, height = yk_jacobian_interface_size(j, of);
            for (int by = 0; by < r->connection_count; by++) {
                int first, width = yk_jacobian_columns(j, r->connections[by].interface,
                                                       r->connections[by].side, &first);
                for (int row = 0; row < height; row++)
                    for (int column = 0; column < width; column++)
                        *entry++ = (yk_sparse_entry){j->interfaces[of].first + row, first + column};
            }
        }
    }
    for (int i = 0; i < j->size; i++)
        *entry++ = (yk_sparse_entry){i, i};
}

static yk_status create_matrix(yk_jacobian *j)
{
    j->place_count = count_entries(j);
    yk_sparse_entry *entries = yk_allocate(j->context, j->place_count, sizeof *entries);
    j->place = yk_allocate(j->context, j->place_count, sizeof *j->place);
    yk_status status = entries && j->place ? YK_OK : YK_ERROR_MEMORY;
    if (status == YK_OK) {
        list_entries(j, entries);
        status =
            yk_sparse_create(j->context, j->size, entries, j->place_count, j->place, &j->matrix);
    }
    yk_release(j->context, entries);
    return status;
}

static yk_status create_parts(yk_jacobian *j, const yk_jacobian_def *def)
{
    size_t interfaces = (size_t)j->interface_count, participants = (size_t)j->participant_count;
    j->interfaces = yk_allocate(j->context, interfaces, sizeof *j->interfaces);
    j->responses = yk_allocate(j->context, participants, sizeof *j->responses);
    if (!j->interfaces || !j->responses)
        return YK_ERROR_MEMORY;
    for (int i = 0; i < j->interface_count; i++) {
        j->interfaces[i] = def->interfaces[i];
        j->interfaces[i].first = j->size;
        j->size += yk_jacobian_interface_size(j, i);
    }
    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < j->participant_count; i++)
        status = create_response(j, i);
    if (status < 0)
        return status;
    size_t widest = (size_t)YK_JOINT_ROWS_MAX * YK_LEVELS * YK_MARKER_COORDINATES;
    j->condition_gradient = yk_allocate(j->context, widest, sizeof *j->condition_gradient);
    j->row_scale = yk_allocate(j->context, 2 * (size_t)j->size, sizeof *j->row_scale);
    j->column_scale = j->row_scale ? j->row_scale + j->size : NULL;
    return j->condition_gradient && j->row_scale ? create_matrix(j) : YK_ERROR_MEMORY;
}

yk_status yk_jacobian_create(yk_context *context, const yk_jacobian_def *def,
                             yk_jacobian **jacobian)
{
    *jacobian = NULL;
    yk_jacobian *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;
    made->context = context;
    made->parameters = def->parameters;
    made->motions = def->motions, made->first_level = def->first_level;
    made->participant_count = def->participant_count, made->interface_count = def->interface_count;
    yk_status status = create_parts(made, def);
    if (status < 0) {
        yk_jacobian_destroy(made);
        return status;
    }
    *jacobian = made;
    return YK_OK;
}

void yk_jacobian_destroy(yk_jacobian *jacobian)
{
    if (!jacobian)
        return;
    yk_context *context = jacobian->context;
    for (int i = 0; jacobian->responses && i < jacobian->participant_count; i++) {
        yk_release(context, jacobian->responses[i].connections);
        yk_release(context, jacobian->responses[i].matrix);
        yk_release(context, jacobian->responses[i].motion);
        yk_release(context, jacobian->responses[i].last);
        yk_release(context, jacobian->responses[i].change);
    }
    yk_sparse_destroy(jacobian->matrix);
    yk_release(context, jacobian->interfaces);
    yk_release(context, jacobian->responses);
    yk_release(context, jacobian->place);
    yk_release(context, jacobian->condition_gradient);
    yk_release(context, jacobian->row_scale);
    yk_release(context, jacobian);
}

int yk_jacobian_size(const yk_jacobian *jacobian)
{
    return jacobian->size;
}

int yk_jacobian_participants(const yk_jacobian *jacobian)
{
    return jacobian->participant_count;
}

int yk_jacobian_parameters(const yk_jacobian *jacobian)
{
    return jacobian->parameters;
}

int yk_jacobian_interface_size(const yk_jacobian *jacobian, int interface)
{
    const yk_jacobian_interface *of = &jacobian->interfaces[interface];
    if (of->wire)
        return 1;
    return of->rows * (jacobian->parameters + (of->relation ? jacobian->motions : 0));
}

int yk_jacobian_coordinates(const yk_jacobian_interface *interface, int side)
{
    return interface->wire && side == 1 ? 0 : interface->coordinates;
}

int yk_jacobian_columns(const yk_jacobian *jacobian, int interface, int side, int *first)
{
    const yk_jacobian_interface *of = &jacobian->interfaces[interface];
    *first = of->first;
    if (of->wire)
        return side;
    bool given = of->relation && side == 1;
    *first = of->first + (given ? of->rows * jacobian->parameters : 0);
    return of->rows * (given ? jacobian->motions : jacobian->parameters);
}

const yk_jacobian_interface *yk_jacobian_interfaces(const yk_jacobian *jacobian)
{
    return jacobian->interfaces;
}

yk_port_response *yk_jacobian_response(yk_jacobian *jacobian, int participant)
{
    return &jacobian->responses[participant];
}

/* Assembly ------------------------------------------------------------------------------------- */

void yk_jacobian_renew(yk_jacobian *jacobian)
{
    jacobian->fresh = true;
}

void yk_response_scale(const yk_jacobian *jacobian, yk_port_response *response, double h)
{
    for (int i = 0; i < response->connection_count; i++) {
        const yk_connection *c = &response->connections[i];
        const yk_jacobian_interface *interface = &jacobian->interfaces[c->interface];
        if (!yk_is_motion(interface, c->side))
            continue;
        for (int k = 0; k < interface->coordinates; k++) {
            double factor = 1 / yk_level_size(yk_level_of(interface, k), h),
                   *row = response->matrix + (c->row + k) * response->columns;
            for (int column = 0; column < response->columns; column++)
                row[column] *= factor;
        }
    }
}

/* The conditions of a relation, by what its sides answer. */
static void weigh_answers(yk_jacobian *j, int side, const double (*moment)[YK_LEVELS])
{
    double *out = j->condition_gradient;
    memset(out, 0, (size_t)((j->parameters + j->motions) * YK_SCALAR_COORDINATES) * sizeof *out);
    for (int e = 0; side == 1 && e < j->parameters; e++)
        for (int level = 0; level < YK_LEVELS; level++)
            out[e * YK_SCALAR_COORDINATES + level] = -moment[e][level];
    for (int i = 0; side == 0 && i < j->motions; i++)
        out[(j->parameters + i) * YK_SCALAR_COORDINATES + j->first_level + i] = -1;
}

static void weigh_value(yk_jacobian *j)
{
    double *out = j->condition_gradient;
    out[0] = -1, out[1] = out[2] = 0;
}

/* The conditions of one interface by the coordinates of one of its sides: (condition, row) x
 * coordinate. */
static void weigh_levels(yk_jacobian *j, const yk_jacobian_interface *interface, int side,
                         const yk_constraint_gradient *gradient,
                         const double (*condition)[YK_LEVELS], double h)
{
    double *out = j->condition_gradient;
    for (int e = 0; e < j->parameters; e++) {
        for (int row = 0; row < interface->rows; row++) {
            for (int k = 0; k < interface->coordinates; k++) {
                double sum = 0;
                for (int level = 0; level < YK_LEVELS; level++)
                    sum += condition[e][level] / yk_level_size(level, h) *
                           gradient->by[side][level][row][k];
                *out++ = sum * yk_level_size(yk_level_of(interface, k), h);
            }
        }
    }
}

/* Conditions of one connection times the response to another; returns the place behind. */
static const int *add_block(yk_jacobian *j, const yk_port_response *r, const yk_connection *from,
                            const yk_connection *by, const int *place)
{
    int coordinates = yk_jacobian_coordinates(&j->interfaces[from->interface], from->side);
    double *values = yk_sparse_values(j->matrix);
    int first, height = yk_jacobian_interface_size(j, from->interface),
               width = yk_jacobian_columns(j, by->interface, by->side, &first);
    for (int row = 0; row < height; row++) {
        const double *gradient = j->condition_gradient + row * coordinates;
        double sum[YK_JOINT_ROWS_MAX * YK_LEVELS] = {0};
        for (int k = 0; k < coordinates; k++) {
            if (gradient[k] == 0)
                continue;
            const double *response = r->matrix + (from->row + k) * r->columns + by->column;
            for (int column = 0; column < width; column++)
                sum[column] += gradient[k] * response[column];
        }
        for (int column = 0; column < width; column++)
            values[*place++] += sum[column];
    }
    return place;
}

static const int *add_response(yk_jacobian *j, const yk_port_response *r, yk_gradient_of gradient,
                               void *user, const yk_conditions *conditions, const int *place)
{
    for (int from = 0; from < r->connection_count; from++) {
        const yk_connection *c = &r->connections[from];
        if (j->interfaces[c->interface].wire)
            weigh_value(j);
        else if (j->interfaces[c->interface].relation)
            weigh_answers(j, c->side, conditions->moment);
        else
            weigh_levels(j, &j->interfaces[c->interface], c->side, gradient(user, c->interface),
                         conditions->motion, conditions->h);
        for (int by = 0; by < r->connection_count; by++)
            place = add_block(j, r, c, &r->connections[by], place);
    }
    return place;
}

static const int *diagonal(const yk_jacobian *j)
{
    return j->place + (j->place_count - (size_t)j->size);
}

static double inverse_or_one(double size)
{
    return size > 0 && isfinite(size) ? 1 / size : 1;
}

/* Conditions and parameters of light and heavy, soft and stiff partners become comparable. */
static void equilibrate(yk_jacobian *j)
{
    double *values = yk_sparse_values(j->matrix), *row_scale = j->row_scale;
    const int *starts = yk_sparse_column_starts(j->matrix), *rows = yk_sparse_rows(j->matrix);
    memset(row_scale, 0, (size_t)j->size * sizeof *row_scale);
    for (int k = 0; k < starts[j->size]; k++)
        row_scale[rows[k]] = fmax(row_scale[rows[k]], fabs(values[k]));
    for (int i = 0; i < j->size; i++)
        row_scale[i] = inverse_or_one(row_scale[i]);
    for (int column = 0; column < j->size; column++) {
        double largest = 0;
        for (int k = starts[column]; k < starts[column + 1]; k++)
            largest = fmax(largest, fabs(values[k] *= row_scale[rows[k]]));
        j->column_scale[column] = inverse_or_one(largest);
        for (int k = starts[column]; k < starts[column + 1]; k++)
            values[k] *= j->column_scale[column];
    }
}

static yk_status factor_redundant(yk_jacobian *j)
{
    double *values = yk_sparse_values(j->matrix);
    for (int i = 0; i < j->size; i++)
        values[diagonal(j)[i]] += REDUNDANCY;
    return yk_sparse_factor(j->matrix, NULL);
}

static yk_status factor(yk_jacobian *j)
{
    equilibrate(j);
    yk_status status =
        j->factored ? yk_sparse_refactor(j->matrix, NULL) : yk_sparse_factor(j->matrix, NULL);
    bool redundant = status == YK_ERROR_SINGULAR || j->redundant;
    if (status == YK_OK && j->fresh)
        redundant = j->redundant = yk_sparse_rcond(j->matrix) < SINGULAR;
    if (status != YK_ERROR_NOT_FINITE && redundant)
        status = factor_redundant(j);
    j->factored = status == YK_OK;
    j->fresh = false;
    return status;
}

yk_status yk_jacobian_assemble(yk_jacobian *jacobian, yk_gradient_of gradient, void *user,
                               const yk_conditions *conditions)
{
    memset(yk_sparse_values(jacobian->matrix), 0,
           yk_sparse_nonzeros(jacobian->matrix) * sizeof(double));
    const int *place = jacobian->place;
    for (int m = 0; m < jacobian->participant_count; m++)
        place = add_response(jacobian, &jacobian->responses[m], gradient, user, conditions, place);
    for (int i = 0; i < jacobian->interface_count; i++)
        for (int k = 0; (jacobian->interfaces[i].relation || jacobian->interfaces[i].wire) &&
                        k < yk_jacobian_interface_size(jacobian, i);
             k++)
            yk_sparse_values(jacobian->matrix)[place[jacobian->interfaces[i].first + k]] += 1;
    return factor(jacobian);
}

void yk_jacobian_solve(const yk_jacobian *jacobian, double *x)
{
    for (int i = 0; i < jacobian->size; i++)
        x[i] *= jacobian->row_scale[i];
    yk_sparse_solve(jacobian->matrix, x);
    for (int i = 0; i < jacobian->size; i++)
        x[i] *= jacobian->column_scale[i];
}

/* State ---------------------------------------------------------------------------------------- */

static size_t response_words(const yk_port_response *r)
{
    return (size_t)r->rows * (size_t)r->columns;
}

size_t yk_jacobian_words(const yk_jacobian *jacobian)
{
    size_t words = 0;
    for (int m = 0; m < jacobian->participant_count; m++)
        words += response_words(&jacobian->responses[m]);
    return words;
}

void yk_jacobian_get(const yk_jacobian *jacobian, double *words)
{
    for (int m = 0; m < jacobian->participant_count; m++) {
        const yk_port_response *r = &jacobian->responses[m];
        memcpy(words, r->matrix, response_words(r) * sizeof *words);
        words += response_words(r);
    }
}

void yk_jacobian_set(yk_jacobian *jacobian, const double *words)
{
    for (int m = 0; m < jacobian->participant_count; m++) {
        yk_port_response *r = &jacobian->responses[m];
        memcpy(r->matrix, words, response_words(r) * sizeof *words);
        words += response_words(r);
    }
    jacobian->fresh = true;
}
