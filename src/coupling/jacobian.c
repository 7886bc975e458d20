#include "coupling/jacobian.h"

#include <math.h>
#include <string.h>

/* The matrix is scaled to rows and columns of size 1; below this reciprocal condition number
 * constraints are then taken to be redundant, and the diagonal is raised by the fraction below.
 * The wrenches of redundant constraints are distributed that way, instead of growing out of the
 * noise of the Jacobian. */
static const double SINGULAR = 1e-8;
static const double REDUNDANCY = 1e-6;

struct yk_jacobian {
    yk_context *context;
    int size, parameters, motions, first_level;
    int participant_count, interface_count;
    yk_jacobian_interface *interfaces;
    yk_port_response *responses;
    yk_sparse *matrix;

    /* In the matrix: of every entry of every block, in the order of assembly, then of the
     * diagonal. */
    int *slots;
    size_t slot_count;

    /* Conditions of one interface by the coordinates of one side. */
    double *condition_gradient;
    double *row_scale, *column_scale;

    /* A response is new since the last factorisation; whether constraints were redundant then. */
    bool fresh, redundant;
    bool factored;
};

/* Numbers of unknowns -------------------------------------------------------------------------- */

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
    if (of->relation)
        return of->rows * (jacobian->parameters + jacobian->motions);
    return of->rows * jacobian->parameters;
}

int yk_jacobian_coordinates(const yk_jacobian_interface *interface, int side)
{
    /* The target of a wire answers nothing. */
    if (interface->wire && side == 1)
        return 0;
    return interface->coordinates;
}

int yk_jacobian_columns(const yk_jacobian *jacobian, int interface, int side, int *first)
{
    const yk_jacobian_interface *of = &jacobian->interfaces[interface];
    *first = of->first;
    if (of->wire)
        return side;
    if (!of->relation || side == 0)
        return of->rows * jacobian->parameters;

    /* Side B of a relation sees the motion that it is given. */
    *first += of->rows * jacobian->parameters;
    return of->rows * jacobian->motions;
}

const yk_jacobian_interface *yk_jacobian_interfaces(const yk_jacobian *jacobian)
{
    return jacobian->interfaces;
}

yk_port_response *yk_jacobian_response(yk_jacobian *jacobian, int participant)
{
    return &jacobian->responses[participant];
}

/* Creation ------------------------------------------------------------------------------------- */

static int side_of(const yk_jacobian_interface *interface, int participant)
{
    for (int side = 0; side < 2; side++)
        if (interface->participant[side] == participant)
            return side;
    return -1;
}

static yk_status create_response(yk_jacobian *j, int participant)
{
    yk_port_response *r = &j->responses[participant];
    size_t count = 0;
    for (int i = 0; i < j->interface_count; i++)
        count += side_of(&j->interfaces[i], participant) >= 0;

    r->connections = yk_allocate(j->context, count, sizeof *r->connections);
    if (!r->connections)
        return YK_ERROR_MEMORY;

    /* Its sides of interfaces, in the order of its ports. */
    for (int i = 0; i < j->interface_count; i++) {
        const yk_jacobian_interface *interface = &j->interfaces[i];
        int side = side_of(interface, participant);
        if (side < 0)
            continue;

        int port = interface->port[side];
        int slot = r->connection_count++;
        for (; slot > 0 && r->connections[slot - 1].port > port; slot--)
            r->connections[slot] = r->connections[slot - 1];

        r->connections[slot] = (yk_connection){.interface = i, .side = side, .port = port};
    }

    /* Where what they answer and what they see begin. */
    for (int i = 0; i < r->connection_count; i++) {
        yk_connection *c = &r->connections[i];
        const yk_jacobian_interface *interface = &j->interfaces[c->interface];
        int first;
        c->row = r->rows;
        c->column = r->columns;
        r->rows += yk_jacobian_coordinates(interface, c->side);
        r->columns += yk_jacobian_columns(j, c->interface, c->side, &first);
    }

    /* The response, and what it is computed and improved with. */
    size_t rows = (size_t)r->rows;
    size_t columns = (size_t)r->columns;
    r->matrix = yk_allocate(j->context, rows * columns, sizeof *r->matrix);
    r->motion = yk_allocate(j->context, columns * count, sizeof *r->motion);
    r->last = yk_allocate(j->context, count, sizeof *r->last);
    r->change = yk_allocate(j->context, rows + columns, sizeof *r->change);
    if (!r->matrix || !r->motion || !r->last || !r->change)
        return YK_ERROR_MEMORY;
    return YK_OK;
}

/* The pattern of the matrix, and where in it assembly finds the entries that it runs through. */
static yk_status create_matrix(yk_jacobian *j)
{
    j->slot_count = (size_t)j->size;
    for (int m = 0; m < j->participant_count; m++) {
        const yk_port_response *r = &j->responses[m];
        for (int i = 0; i < r->connection_count; i++) {
            int height = yk_jacobian_interface_size(j, r->connections[i].interface);
            j->slot_count += (size_t)height * (size_t)r->columns;
        }
    }

    yk_context *context = j->context;
    yk_sparse_entry *entries = yk_allocate(context, j->slot_count, sizeof *entries);
    j->slots = yk_allocate(context, j->slot_count, sizeof *j->slots);
    if (!entries || !j->slots) {
        yk_release(context, entries);
        return YK_ERROR_MEMORY;
    }

    /* All blocks, in the order of assembly ... */
    yk_sparse_entry *entry = entries;
    for (int m = 0; m < j->participant_count; m++) {
        const yk_port_response *r = &j->responses[m];
        int count = r->connection_count;
        for (int k = 0; k < count * count; k++) {
            const yk_connection *from = &r->connections[k / count];
            const yk_connection *by = &r->connections[k % count];
            int first_row = j->interfaces[from->interface].first;
            int first_column;
            int height = yk_jacobian_interface_size(j, from->interface);
            int width = yk_jacobian_columns(j, by->interface, by->side, &first_column);

            for (int row = 0; row < height; row++)
                for (int column = 0; column < width; column++)
                    *entry++ = (yk_sparse_entry){first_row + row, first_column + column};
        }
    }

    /* ... then the diagonal. */
    for (int i = 0; i < j->size; i++)
        *entry++ = (yk_sparse_entry){i, i};

    yk_status status =
        yk_sparse_create(context, j->size, entries, j->slot_count, j->slots, &j->matrix);
    yk_release(context, entries);
    return status;
}

static yk_status create_parts(yk_jacobian *j, const yk_jacobian_def *def)
{
    yk_context *context = j->context;
    j->interfaces = yk_allocate(context, (size_t)j->interface_count, sizeof *j->interfaces);
    j->responses = yk_allocate(context, (size_t)j->participant_count, sizeof *j->responses);
    if (!j->interfaces || !j->responses)
        return YK_ERROR_MEMORY;

    /* Unknowns are numbered by interface. */
    for (int i = 0; i < j->interface_count; i++) {
        j->interfaces[i] = def->interfaces[i];
        j->interfaces[i].first = j->size;
        j->size += yk_jacobian_interface_size(j, i);
    }

    for (int i = 0; i < j->participant_count; i++) {
        yk_status status = create_response(j, i);
        if (status != YK_OK)
            return status;
    }

    /* Workspace of the assembly, and the matrix. */
    size_t widest = (size_t)YK_JOINT_ROWS_MAX * YK_LEVELS * YK_MARKER_COORDINATES;
    j->condition_gradient = yk_allocate(context, widest, sizeof *j->condition_gradient);
    j->row_scale = yk_allocate(context, 2 * (size_t)j->size, sizeof *j->row_scale);
    if (!j->condition_gradient || !j->row_scale)
        return YK_ERROR_MEMORY;

    j->column_scale = j->row_scale + j->size;

    return create_matrix(j);
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
    made->motions = def->motions;
    made->first_level = def->first_level;
    made->participant_count = def->participant_count;
    made->interface_count = def->interface_count;

    yk_status status = create_parts(made, def);
    if (status != YK_OK) {
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

    /* Where creation failed, some of it was not made. */
    for (int i = 0; jacobian->responses && i < jacobian->participant_count; i++) {
        yk_port_response *r = &jacobian->responses[i];
        yk_release(context, r->connections);
        yk_release(context, r->matrix);
        yk_release(context, r->motion);
        yk_release(context, r->last);
        yk_release(context, r->change);
    }

    yk_sparse_destroy(jacobian->matrix);
    yk_release(context, jacobian->interfaces);
    yk_release(context, jacobian->responses);
    yk_release(context, jacobian->slots);
    yk_release(context, jacobian->condition_gradient);
    yk_release(context, jacobian->row_scale);
    yk_release(context, jacobian);
}

/* Assembly ------------------------------------------------------------------------------------- */

void yk_jacobian_renew(yk_jacobian *jacobian)
{
    jacobian->fresh = true;
}

void yk_response_scale(const yk_jacobian *jacobian, yk_port_response *response, double h)
{
    /* Positions by h^2, velocities by h: then it hardly depends on the step. */
    for (int i = 0; i < response->connection_count; i++) {
        const yk_connection *c = &response->connections[i];
        const yk_jacobian_interface *interface = &jacobian->interfaces[c->interface];
        if (!yk_is_motion(interface, c->side))
            continue;

        for (int k = 0; k < interface->coordinates; k++) {
            double factor = 1 / yk_level_size(yk_level_of(interface, k), h);
            double *row = response->matrix + (c->row + k) * response->columns;

            for (int column = 0; column < response->columns; column++)
                row[column] *= factor;
        }
    }
}

/* The conditions of one interface by the coordinates of one of its sides; the gradient is that
 * of a constraint: (condition, row) x coordinate. Weights are those of the levels of a constraint, or
 * of the moments of a relation. */
static void differentiate(yk_jacobian *j, const yk_jacobian_interface *interface, int side,
                          const yk_constraint_gradient *gradient,
                          const double (*weights)[YK_LEVELS], double h)
{
    double *out = j->condition_gradient;

    /* A wire: what it was given, less what its source gives. */
    if (interface->wire) {
        out[0] = -1;
        out[1] = 0;
        out[2] = 0;
        return;
    }

    /* A relation, by what its sides answer: the wrench on A by the moments of B, the motion of B by
     * that of A. */
    if (interface->relation) {
        int rows = j->parameters + j->motions;
        memset(out, 0, (size_t)(rows * YK_SCALAR_COORDINATES) * sizeof *out);
        for (int e = 0; side == 1 && e < j->parameters; e++)
            for (int level = 0; level < YK_LEVELS; level++)
                out[e * YK_SCALAR_COORDINATES + level] = -weights[e][level];
        for (int i = 0; side == 0 && i < j->motions; i++)
            out[(j->parameters + i) * YK_SCALAR_COORDINATES + j->first_level + i] = -1;
        return;
    }

    /* A constraint: the weighted sum over its levels, in units of the step. */
    for (int e = 0; e < j->parameters; e++) {
        for (int row = 0; row < interface->rows; row++) {
            for (int k = 0; k < interface->coordinates; k++) {
                double sum = 0;
                for (int level = 0; level < YK_LEVELS; level++) {
                    double weight = weights[e][level] / yk_level_size(level, h);
                    sum += weight * gradient->by[side][level][row][k];
                }

                *out++ = sum * yk_level_size(yk_level_of(interface, k), h);
            }
        }
    }
}

/* Conditions of one connection times the response to another; returns the slots behind. */
static const int *add_block(yk_jacobian *j, const yk_port_response *r, const yk_connection *from,
                            const yk_connection *by, const int *slots)
{
    /* Both matrices are dense, but most conditions see one level only. */
    int coordinates = yk_jacobian_coordinates(&j->interfaces[from->interface], from->side);

    /* Its entries follow each other in the slots, row by row. */
    double *values = yk_sparse_values(j->matrix);
    int first;
    int height = yk_jacobian_interface_size(j, from->interface);
    int width = yk_jacobian_columns(j, by->interface, by->side, &first);

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
            values[*slots++] += sum[column];
    }

    return slots;
}

static double inverse_or_one(double size)
{
    if (size > 0 && isfinite(size))
        return 1 / size;
    return 1;
}

static yk_status factor(yk_jacobian *j)
{
    /* Scaled, so that conditions and parameters of light and heavy, soft and stiff partners become
     * comparable. */
    double *values = yk_sparse_values(j->matrix);
    double *row_scale = j->row_scale;
    const int *starts = yk_sparse_column_starts(j->matrix);
    const int *rows = yk_sparse_rows(j->matrix);

    /* First the rows, by their largest entries ... */
    memset(row_scale, 0, (size_t)j->size * sizeof *row_scale);
    for (int k = 0; k < starts[j->size]; k++)
        row_scale[rows[k]] = fmax(row_scale[rows[k]], fabs(values[k]));

    for (int i = 0; i < j->size; i++)
        row_scale[i] = inverse_or_one(row_scale[i]);

    /* ... then columns. */
    for (int column = 0; column < j->size; column++) {
        double largest = 0;
        for (int k = starts[column]; k < starts[column + 1]; k++) {
            values[k] *= row_scale[rows[k]];
            largest = fmax(largest, fabs(values[k]));
        }

        j->column_scale[column] = inverse_or_one(largest);
        for (int k = starts[column]; k < starts[column + 1]; k++)
            values[k] *= j->column_scale[column];
    }

    yk_status status;
    if (j->factored)
        status = yk_sparse_refactor(j->matrix, NULL);
    else
        status = yk_sparse_factor(j->matrix, NULL);

    /* Whether constraints are redundant is found with new responses, and holds with them. */
    bool redundant = status == YK_ERROR_SINGULAR || j->redundant;
    if (status == YK_OK && j->fresh) {
        j->redundant = yk_sparse_rcond(j->matrix) < SINGULAR;
        redundant = j->redundant;
    }

    /* The diagonal raised distributes what is redundant. */
    if (redundant && status != YK_ERROR_NOT_FINITE) {
        const int *diagonal = j->slots + (j->slot_count - (size_t)j->size);
        for (int i = 0; i < j->size; i++)
            values[diagonal[i]] += REDUNDANCY;

        status = yk_sparse_factor(j->matrix, NULL);
    }

    j->factored = status == YK_OK;
    j->fresh = false;

    return status;
}

yk_status yk_jacobian_assemble(yk_jacobian *jacobian,
                               const yk_constraint_gradient *(*gradient)(void *user, int interface),
                               void *user, const double (*motion)[YK_LEVELS],
                               const double (*moment)[YK_LEVELS], double h)
{
    yk_jacobian *j = jacobian;
    double *values = yk_sparse_values(j->matrix);
    memset(values, 0, yk_sparse_nonzeros(j->matrix) * sizeof *values);

    /* Subsystem by subsystem: conditions at each of its ports, by the parameters at all of them. */
    const int *slots = j->slots;
    for (int m = 0; m < j->participant_count; m++) {
        const yk_port_response *r = &j->responses[m];
        for (int from = 0; from < r->connection_count; from++) {
            const yk_connection *c = &r->connections[from];
            const yk_jacobian_interface *interface = &j->interfaces[c->interface];
            const yk_constraint_gradient *own = NULL;
            if (!interface->wire && !interface->relation)
                own = gradient(user, c->interface);
            const double(*weights)[YK_LEVELS] = motion;
            if (interface->relation)
                weights = moment;
            differentiate(j, interface, c->side, own, weights, h);

            for (int by = 0; by < r->connection_count; by++)
                slots = add_block(j, r, c, &r->connections[by], slots);
        }
    }

    /* Relations and wires: what is given, less the answer. Only the diagonal is left of the
     * slots. */
    for (int i = 0; i < j->interface_count; i++) {
        const yk_jacobian_interface *interface = &j->interfaces[i];
        if (!interface->relation && !interface->wire)
            continue;

        for (int k = 0; k < yk_jacobian_interface_size(j, i); k++)
            values[slots[interface->first + k]] += 1;
    }

    return factor(j);
}

void yk_jacobian_solve(const yk_jacobian *jacobian, double *x)
{
    /* Of the scaled matrix R J C: J^-1 = C (R J C)^-1 R. */
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
    /* Responses that are kept cannot be computed again. */
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

    /* Whether constraints are redundant is found anew. */
    jacobian->fresh = true;
}
