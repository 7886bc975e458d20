#include "coupling/jacobian.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/restored.h"
#include "math/dependence.h"

/* The matrix is scaled to rows and columns of size 1. Below this reciprocal condition number, some
 * of its conditions are redundant: no unknown changes them, or only together with other conditions. */
static const double SINGULAR = 1e-8;
/* The condition number of a chain grows with the third power of its length or faster, although its
 * conditions are independent: with all other joints closed, a joint moves two halves of the chain. A
 * dependent condition has a pivot that is a rounding error, relative to the largest one. */
static const double DEPENDENT_PIVOT = 1e-11;
/* A condition is also redundant if its entries are less than this fraction of its bound (see
 * bound_conditions): the subsystems cannot move that way, and its entries are rounding errors. */
static const double ROUNDING = 1e-8;
/* If conditions are redundant, the correction is the regularized least-squares solution, the x that
 * minimizes |J x - r|^2 + REGULARISATION^2 |x|^2. A plain inverse would turn the rounding errors of
 * redundant conditions into large wrenches. */
static const double REGULARISATION = 1e-5;
/* The regularization is as large as the errors of finite differences, as long as these resolve
 * anything. */
static const double LARGEST_REGULARISATION = 1e-3;
/* Conditions of unit length depend on each other if a unit combination of them is shorter than this,
 * or than this multiple of the errors of finite differences. */
static const double DEPENDENT = 1e-6;
static const double NOISE_FACTOR = 10;
/* A port whose mobility in rotation is less than this fraction of its mobility in translation (for
 * a body of the size of the model), or the reverse, cannot rotate (or translate). */
static const double IMMOBILE = 1e-8;
static const double SMALLEST_MODEL = 1e-6; /* m */

/* Role of a condition if constraints are redundant. A dependent one follows from the others. An
 * immobile one constrains a motion that neither side can make, so its multiplier has no effect. */
typedef enum condition_use { CONDITION_MET, CONDITION_DEPENDENT, CONDITION_IMMOBILE } condition_use;

struct yk_jacobian {
    yk_context *context;
    int size, parameters, motions, first_level;
    int participant_count, interface_count;
    yk_jacobian_interface *interfaces;
    yk_port_response *responses;
    yk_sparse *matrix;

    /* Position in the matrix of every entry of every block, in the order of assembly, then of the
     * diagonal. */
    int *slots;
    size_t slot_count;

    /* Gradient of the conditions of one interface with respect to the coordinates of one side. */
    double *condition_gradient;
    double *row_scale, *column_scale;

    /* Per condition: bound of its entries, if no mobility of its sides cancelled; errors of its
     * entries by finite differences. */
    double *bound, *noise;

    /* Matrix of factor_least_squares(), created when the first redundant conditions are found:
     * positions of J, of J^T and of both diagonals in it, and buffers of its size and of the size
     * of J. */
    yk_sparse *least_squares;
    int *least_squares_slots;
    double *least_squares_vector, *least_squares_solution;
    double regularisation;

    /* Per condition. The least-squares problem contains only conditions that are met, because it would
     * turn the small errors of the others into large wrenches. */
    condition_use *use;
    yk_scratch *scratch;

    /* A response is new since the last factorization; constraints were redundant at that time. */
    bool fresh, redundant;
    bool expects_redundancy;
    bool factored;
    /* The matrix comes from a state image, and the factors do not belong to it. */
    bool outdated;
};

/* Numbers of unknowns -------------------------------------------------------------------------- */

int yk_jacobian_size(const yk_jacobian *jacobian)
{
    return jacobian->size;
}

bool yk_jacobian_is_redundant(const yk_jacobian *jacobian)
{
    return jacobian->redundant;
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
    /* The target of a wire has no answer. */
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

    /* The interface sides of a participant, in the order of its ports. */
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

    /* Offsets of the coordinates and of the parameters of each side. */
    for (int i = 0; i < r->connection_count; i++) {
        yk_connection *c = &r->connections[i];
        const yk_jacobian_interface *interface = &j->interfaces[c->interface];
        int first;
        c->row = r->rows;
        c->column = r->columns;
        r->rows += yk_jacobian_coordinates(interface, c->side);
        r->columns += yk_jacobian_columns(j, c->interface, c->side, &first);
    }

    /* The response matrix, and buffers to compute and improve it. */
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

/* The pattern of the matrix, and the position of each entry in the order of assembly. */
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
        yk_free(context, entries);
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
    yk_free(context, entries);
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

    /* Buffers of the assembly, and the matrix. */
    size_t widest = (size_t)YK_JOINT_ROWS_MAX * YK_LEVELS * YK_MARKER_COORDINATES;
    j->condition_gradient = yk_allocate(context, widest, sizeof *j->condition_gradient);
    j->row_scale = yk_allocate(context, 2 * (size_t)j->size, sizeof *j->row_scale);
    if (!j->condition_gradient || !j->row_scale)
        return YK_ERROR_MEMORY;

    j->column_scale = j->row_scale + j->size;
    j->bound = yk_allocate(context, 2 * (size_t)j->size, sizeof *j->bound);
    if (!j->bound)
        return YK_ERROR_MEMORY;

    j->noise = j->bound + j->size;
    j->use = yk_allocate(context, (size_t)j->size, sizeof *j->use);
    if (!j->use)
        return YK_ERROR_MEMORY;

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
    made->expects_redundancy = true;
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

    /* If creation failed, some members do not exist. */
    for (int i = 0; jacobian->responses && i < jacobian->participant_count; i++) {
        yk_port_response *r = &jacobian->responses[i];
        yk_free(context, r->connections);
        yk_free(context, r->matrix);
        yk_free(context, r->motion);
        yk_free(context, r->last);
        yk_free(context, r->change);
    }

    yk_sparse_destroy(jacobian->matrix);
    yk_sparse_destroy(jacobian->least_squares);
    yk_free(context, jacobian->least_squares_slots);
    yk_free(context, jacobian->least_squares_vector);
    yk_free(context, jacobian->bound);
    yk_free(context, jacobian->use);
    yk_scratch_destroy(jacobian->scratch);
    yk_free(context, jacobian->interfaces);
    yk_free(context, jacobian->responses);
    yk_free(context, jacobian->slots);
    yk_free(context, jacobian->condition_gradient);
    yk_free(context, jacobian->row_scale);
    yk_free(context, jacobian);
}

/* Assembly ------------------------------------------------------------------------------------- */

void yk_jacobian_renew(yk_jacobian *jacobian)
{
    jacobian->fresh = true;
}

void yk_jacobian_expect_redundant(yk_jacobian *jacobian, bool redundant)
{
    jacobian->expects_redundancy = redundant;
}

void yk_response_scale(const yk_jacobian *jacobian, yk_port_response *response, double h)
{
    /* Position rows by h^2, velocity rows by h, so that the response hardly depends on the step
     * size. */
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

/* The conditions of one interface with respect to the coordinates of one of its sides. The gradient
 * is (condition, row) x coordinate. Weights are those of the levels of a constraint, or of the
 * moments of a relation. */
static void differentiate(yk_jacobian *j, const yk_jacobian_interface *interface, int side,
                          const yk_constraint_gradient *gradient,
                          const double (*weights)[YK_LEVELS], double h)
{
    double *out = j->condition_gradient;

    /* A wire: the prescribed value minus the value of the source. */
    if (interface->wire) {
        out[0] = -1;
        out[1] = 0;
        out[2] = 0;
        return;
    }

    /* A relation, with respect to the answers of its sides: the wrench on A and the moments of B;
     * the motion of B and the motion of A. */
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
    double size[YK_MARKER_COORDINATES];
    for (int k = 0; k < interface->coordinates; k++)
        size[k] = yk_level_size(yk_level_of(interface, k), h);

    for (int e = 0; e < j->parameters; e++) {
        double weight[YK_LEVELS];
        for (int level = 0; level < YK_LEVELS; level++)
            weight[level] = weights[e][level] / yk_level_size(level, h);

        for (int row = 0; row < interface->rows; row++, out += interface->coordinates) {
            const double *position = gradient->by[side][0][row];
            const double *velocity = gradient->by[side][1][row];
            const double *acceleration = gradient->by[side][2][row];
            for (int k = 0; k < interface->coordinates; k++)
                out[k] = (weight[0] * position[k] + weight[1] * velocity[k] +
                          weight[2] * acceleration[k]) *
                         size[k];
        }
    }
}

/* Conditions of one connection times the response to all connections of its subsystem. Returns the
 * address after the last slot. */
static const int *add_blocks(yk_jacobian *j, const yk_port_response *r, const yk_connection *from,
                             const int *slots)
{
    /* Both matrices are dense, but most conditions depend on one level only. */
    double *values = yk_sparse_values(j->matrix);
    const yk_jacobian_interface *interface = &j->interfaces[from->interface];
    int coordinates = yk_jacobian_coordinates(interface, from->side);
    int height = yk_jacobian_interface_size(j, from->interface);
    int columns = r->columns;
    double *sum = r->change;

    for (int row = 0; row < height; row++) {
        const double *gradient = j->condition_gradient + row * coordinates;
        memset(sum, 0, (size_t)columns * sizeof *sum);
        for (int k = 0; k < coordinates; k++) {
            if (gradient[k] == 0)
                continue;

            const double *response = r->matrix + (from->row + k) * columns;
            for (int column = 0; column < columns; column++)
                sum[column] += gradient[k] * response[column];
        }

        /* The slots are ordered by connection, then by row. */
        for (int i = 0; i < r->connection_count; i++) {
            int first = r->connections[i].column;
            int last = i + 1 < r->connection_count ? r->connections[i + 1].column : columns;
            const int *slot = slots + first * height + row * (last - first);
            for (int column = first; column < last; column++)
                values[*slot++] += sum[column];
        }
    }

    return slots + height * columns;
}

static double inverse_or_one(double size)
{
    if (size > 0 && isfinite(size))
        return 1 / size;
    return 1;
}

/* Mobilities ----------------------------------------------------------------------------------- */

/* Whether the multiplier of a row is a torque. */
static bool is_force(const yk_constraint_gradient *gradient, int side, int row)
{
    const double *by = gradient->by[side][0][row];
    return by[0] != 0 || by[1] != 0 || by[2] != 0;
}

yk_mobility yk_mobility_of_model(yk_mobility mobility, double distance)
{
    double large = fmax(1, distance);
    double small = fmin(1, fmax(distance, SMALLEST_MODEL));
    double least_rotation = mobility.translation / (large * large);
    double least_translation = mobility.rotation * small * small;
    if (mobility.rotation < IMMOBILE * least_rotation)
        mobility.rotation = least_rotation;
    if (mobility.translation < IMMOBILE * least_translation)
        mobility.translation = least_translation;

    return mobility;
}

/* The mobility of a port: as reported by its subsystem for wrenches in all directions, which is free
 * of errors of differences, otherwise the largest response to the multipliers of its own interface. */
static yk_mobility mobility_of(const yk_jacobian *j, const yk_port_response *r,
                               const yk_connection *c, const yk_constraint_gradient *gradient)
{
    const yk_jacobian_interface *interface = &j->interfaces[c->interface];
    yk_mobility mobility = c->mobility;
    bool known = mobility.translation > 0 || mobility.rotation > 0;

    for (int k = 0; k < interface->coordinates && !known; k++) {
        const double *response = r->matrix + (c->row + k) * r->columns + c->column;
        bool rotation = k % 6 >= 3;
        for (int column = 0; column < interface->rows * j->parameters; column++) {
            bool force = is_force(gradient, c->side, column % interface->rows);
            double size = fabs(response[column]);
            if (force && !rotation)
                mobility.translation = fmax(mobility.translation, size);
            else if (!force && rotation)
                mobility.rotation = fmax(mobility.rotation, size);
        }
    }

    return yk_mobility_of_model(mobility, gradient->distance);
}

/* Adds the possible contribution of one side to the bounds and the noise of the conditions of one
 * constraint. `gradient` is the result of differentiate(). */
static void bound_conditions(yk_jacobian *j, const yk_port_response *r, const yk_connection *c,
                             const yk_constraint_gradient *gradient)
{
    const yk_jacobian_interface *interface = &j->interfaces[c->interface];
    if (interface->coordinates != YK_MARKER_COORDINATES)
        return;

    yk_mobility mobility = mobility_of(j, r, c, gradient);
    double mixed = sqrt(mobility.translation * mobility.rotation);
    for (int i = 0; i < interface->rows * j->parameters; i++) {
        const double *by = j->condition_gradient + i * interface->coordinates;
        bool force = is_force(gradient, c->side, i % interface->rows);
        double turn = force ? mixed : mobility.rotation;
        double bound = j->bound[interface->first + i];
        double noise = j->noise[interface->first + i];
        for (int k = 0; k < interface->coordinates; k += 6) {
            for (int n = k; n < k + 3; n++) {
                bound += fabs(by[n]) * mobility.translation;
                noise += fabs(by[n]) * c->noise.translation;
            }
            for (int n = k + 3; n < k + 6; n++) {
                bound += fabs(by[n]) * turn;
                noise += fabs(by[n]) * c->noise.rotation;
            }
        }
        j->bound[interface->first + i] = bound;
        j->noise[interface->first + i] = noise;
    }
}

/* Factors -------------------------------------------------------------------------------------- */

/* Scales rows and columns to a largest entry of 1, so that conditions and parameters of light and
 * heavy, soft and stiff partners become comparable. Returns whether the entries of some condition
 * are errors only. */
static bool scale_matrix(yk_jacobian *j)
{
    double *values = yk_sparse_values(j->matrix);
    double *row_scale = j->row_scale;
    const int *starts = yk_sparse_column_starts(j->matrix);
    const int *rows = yk_sparse_rows(j->matrix);
    bool immobile = false;

    memset(row_scale, 0, (size_t)j->size * sizeof *row_scale);
    for (int k = 0; k < starts[j->size]; k++)
        if (fabs(values[k]) > row_scale[rows[k]])
            row_scale[rows[k]] = fabs(values[k]);

    for (int i = 0; i < j->size; i++) {
        immobile = immobile || row_scale[i] < fmax(ROUNDING * j->bound[i], j->noise[i]);
        row_scale[i] = inverse_or_one(row_scale[i]);
    }

    for (int column = 0; column < j->size; column++) {
        double largest = 0;
        for (int k = starts[column]; k < starts[column + 1]; k++) {
            values[k] *= row_scale[rows[k]];
            if (fabs(values[k]) > largest)
                largest = fabs(values[k]);
        }

        j->column_scale[column] = inverse_or_one(largest);
        for (int k = starts[column]; k < starts[column + 1]; k++)
            values[k] *= j->column_scale[column];
    }

    return immobile;
}

/* Scales the conditions and multipliers of constraints by their bounds instead. Entries that are
 * errors remain small, and the choice of the smallest wrenches of redundant constraints does not
 * depend on units. */
static void scale_by_bounds(yk_jacobian *j)
{
    double *values = yk_sparse_values(j->matrix);
    const int *starts = yk_sparse_column_starts(j->matrix);
    const int *rows = yk_sparse_rows(j->matrix);

    for (int column = 0; column < j->size; column++)
        for (int k = starts[column]; k < starts[column + 1]; k++)
            values[k] /= j->row_scale[rows[k]] * j->column_scale[column];

    j->regularisation = REGULARISATION;
    for (int i = 0; i < j->size; i++) {
        if (!(j->bound[i] > 0))
            continue;
        j->row_scale[i] = 1 / sqrt(j->bound[i]);
        j->column_scale[i] = j->row_scale[i];
        j->regularisation = fmax(j->regularisation, j->noise[i] / j->bound[i]);
    }

    j->regularisation = fmin(j->regularisation, LARGEST_REGULARISATION);

    for (int column = 0; column < j->size; column++)
        for (int k = starts[column]; k < starts[column + 1]; k++)
            values[k] *= j->row_scale[rows[k]] * j->column_scale[column];
}

static yk_status create_least_squares(yk_jacobian *j)
{
    yk_context *context = j->context;
    size_t count = 2 * (yk_sparse_nonzeros(j->matrix) + (size_t)j->size);
    yk_sparse_entry *entries = yk_allocate(context, count, sizeof *entries);
    j->least_squares_slots = yk_allocate(context, count, sizeof *j->least_squares_slots);
    j->least_squares_vector =
        yk_allocate(context, 3 * (size_t)j->size, sizeof *j->least_squares_vector);
    yk_status status = YK_ERROR_MEMORY;

    if (entries && j->least_squares_slots && j->least_squares_vector) {
        j->least_squares_solution = j->least_squares_vector + 2 * j->size;
        const int *starts = yk_sparse_column_starts(j->matrix);
        const int *rows = yk_sparse_rows(j->matrix);
        yk_sparse_entry *entry = entries;
        for (int column = 0; column < j->size; column++) {
            for (int k = starts[column]; k < starts[column + 1]; k++) {
                *entry++ = (yk_sparse_entry){rows[k], j->size + column};
                *entry++ = (yk_sparse_entry){j->size + column, rows[k]};
            }
        }

        for (int i = 0; i < 2 * j->size; i++)
            *entry++ = (yk_sparse_entry){i, i};

        status = yk_sparse_create(context, 2 * j->size, entries, count, j->least_squares_slots,
                                  &j->least_squares);
    }

    yk_free(context, entries);
    return status;
}

/* Whether the least-squares problem contains an entry of the matrix. */
static bool is_used(const yk_jacobian *j, int row, int column)
{
    return j->use[row] == CONDITION_MET && j->use[column] != CONDITION_IMMOBILE;
}

/* Lists the entries that are used; `entries` has room for all of them. Returns their number. */
static size_t list_entries(const yk_jacobian *j, yk_matrix_entry *entries)
{
    const double *values = yk_sparse_values(j->matrix);
    const int *starts = yk_sparse_column_starts(j->matrix);
    const int *rows = yk_sparse_rows(j->matrix);
    size_t count = 0;
    for (int column = 0; column < j->size; column++)
        for (int k = starts[column]; k < starts[column + 1]; k++)
            if (values[k] != 0 && is_used(j, rows[k], column))
                entries[count++] = (yk_matrix_entry){rows[k], column, values[k]};

    return count;
}

/* Chooses the conditions to meet. Conditions that consist of errors are left out, and so many others
 * that no combination of the remaining conditions vanishes. The matrix is scaled by bounds. */
static yk_status choose_conditions_in(yk_jacobian *j, yk_context *context)
{
    const double *values = yk_sparse_values(j->matrix);
    const int *starts = yk_sparse_column_starts(j->matrix);
    const int *rows = yk_sparse_rows(j->matrix);
    size_t size = (size_t)j->size;
    double *largest = yk_allocate(context, size, sizeof *largest);
    int *group = yk_allocate(context, size, sizeof *group);
    yk_matrix_entry *entries = yk_allocate(context, yk_sparse_nonzeros(j->matrix), sizeof *entries);
    if (!largest || !group || !entries)
        return YK_ERROR_MEMORY;

    for (int k = 0; k < starts[j->size]; k++)
        largest[rows[k]] = fmax(largest[rows[k]], fabs(values[k]));
    for (int i = 0; i < j->size; i++) {
        double errors = 0;
        if (j->bound[i] > 0)
            errors = fmax(ROUNDING, NOISE_FACTOR * j->noise[i] / j->bound[i]);
        j->use[i] = largest[i] <= errors ? CONDITION_IMMOBILE : CONDITION_MET;
    }

    for (int i = 0; i < j->interface_count; i++)
        for (int k = 0; k < yk_jacobian_interface_size(j, i); k++)
            group[j->interfaces[i].first + k] = i;

    yk_dependence_def def = {
        .rows = j->size,
        .columns = j->size,
        .entries = entries,
        .entry_count = list_entries(j, entries),
        .group = group,
        .group_count = j->interface_count,
        .tolerance = fmax(DEPENDENT, NOISE_FACTOR * j->regularisation),
    };
    yk_dependence dependence = {0};
    yk_status status = yk_dependence_find(context, &def, &dependence);
    for (int i = 0; status == YK_OK && i < j->size; i++)
        if (dependence.chosen[i] && j->use[i] == CONDITION_MET)
            j->use[i] = CONDITION_DEPENDENT;

    yk_dependence_release(context, &dependence);
    return status;
}

static yk_status choose_conditions(yk_jacobian *j)
{
    if (!j->scratch)
        j->scratch = yk_scratch_create(j->context);
    if (!j->scratch)
        return YK_ERROR_MEMORY;

    yk_status status = choose_conditions_in(j, yk_scratch_context(j->scratch));
    yk_scratch_reset(j->scratch);
    return status;
}

/* Factors the equations of the regularized least-squares solution, with the regularization d:
 *
 *   [ d I    J   ] [ (r - J x) / d ]   [ r ]
 *   [ J^T   -d I ] [       x       ] = [ 0 ] */
static yk_status factor_least_squares(yk_jacobian *j, bool fresh)
{
    if (!j->least_squares) {
        yk_status status = create_least_squares(j);
        if (status != YK_OK)
            return status;
    }

    scale_by_bounds(j);
    if (fresh) {
        yk_status status = choose_conditions(j);
        if (status != YK_OK)
            return status;
    }

    const double *jacobian = yk_sparse_values(j->matrix);
    const int *starts = yk_sparse_column_starts(j->matrix);
    const int *rows = yk_sparse_rows(j->matrix);
    double *values = yk_sparse_values(j->least_squares);
    const int *slot = j->least_squares_slots;
    memset(values, 0, yk_sparse_nonzeros(j->least_squares) * sizeof *values);
    for (int column = 0; column < j->size; column++) {
        for (int k = starts[column]; k < starts[column + 1]; k++) {
            double value = is_used(j, rows[k], column) ? jacobian[k] : 0;
            values[*slot++] += value;
            values[*slot++] += value;
        }
    }

    for (int i = 0; i < 2 * j->size; i++)
        values[*slot++] += i < j->size ? j->regularisation : -j->regularisation;

    return yk_sparse_factor(j->least_squares, NULL);
}

/* Whether the factors, which exist, have a pivot that is only an error. The condition number, which
 * is expensive, is the criterion if errors of finite differences may hide it. */
static bool has_dependent_pivot(const yk_jacobian *j)
{
    bool noisy = false;
    for (int i = 0; i < j->size && !noisy; i++)
        noisy = j->noise[i] > 0;
    if (noisy && j->expects_redundancy)
        return yk_sparse_rcond(j->matrix) < SINGULAR;

    double spread = yk_sparse_pivot_spread(j->matrix);
    return spread < DEPENDENT_PIVOT && yk_sparse_rcond(j->matrix) < SINGULAR;
}

/* Factors the scaled matrix, with the pivots of the first factors. */
static yk_status factor_scaled(yk_jacobian *j)
{
    yk_status status;
    if (j->factored)
        status = yk_sparse_refactor(j->matrix, NULL);
    else
        status = yk_sparse_factor(j->matrix, NULL);
    j->factored = status == YK_OK;
    j->outdated = false;
    return status;
}

static yk_status factor(yk_jacobian *j)
{
    bool immobile = scale_matrix(j);
    yk_status status = factor_scaled(j);

    /* Check for redundancy if responses are new. Responses that were only improved by corrections
     * keep the result of the last check. */
    bool fresh = j->fresh;
    j->fresh = false;
    if (status == YK_ERROR_SINGULAR) {
        fresh = fresh || !j->redundant;
        j->redundant = true;
    } else if (status != YK_OK)
        return status;
    else if (fresh)
        j->redundant = immobile || has_dependent_pivot(j);

    if (j->redundant)
        return factor_least_squares(j, fresh);
    return YK_OK;
}

yk_status yk_jacobian_assemble(yk_jacobian *jacobian,
                               const yk_constraint_gradient *(*gradient)(void *user, int interface),
                               void *user, const double (*motion)[YK_LEVELS],
                               const double (*moment)[YK_LEVELS], double h)
{
    yk_jacobian *j = jacobian;
    double *values = yk_sparse_values(j->matrix);
    memset(values, 0, yk_sparse_nonzeros(j->matrix) * sizeof *values);
    memset(j->bound, 0, 2 * (size_t)j->size * sizeof *j->bound);

    /* For each subsystem: conditions at each of its ports, with respect to the parameters at all of
     * them. */
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
            if (own)
                bound_conditions(j, r, c, own);

            slots = add_blocks(j, r, c, slots);
        }
    }

    /* Relations and wires: the prescribed value minus the answer. Only the diagonal slots remain. */
    for (int i = 0; i < j->interface_count; i++) {
        const yk_jacobian_interface *interface = &j->interfaces[i];
        if (!interface->relation && !interface->wire)
            continue;

        for (int k = 0; k < yk_jacobian_interface_size(j, i); k++)
            values[slots[interface->first + k]] += 1;
    }

    return factor(j);
}

/* One solution with the factors of factor_least_squares(), for the right-hand sides r and -d below;
 * r becomes r - J x. Returns x. */
static const double *solve_least_squares(const yk_jacobian *j, double *r, const double *below)
{
    size_t size = (size_t)j->size;
    double *vector = j->least_squares_vector;
    memcpy(vector, r, size * sizeof *r);
    for (int i = 0; i < j->size; i++)
        vector[j->size + i] = below ? -j->regularisation * below[i] : 0;

    yk_sparse_solve(j->least_squares, vector);
    for (int i = 0; i < j->size; i++)
        r[i] = j->regularisation * vector[i];

    return vector + size;
}

/* The least-squares solution for the right-hand side r. The second solution, for the residual of
 * the first, removes nearly all of the effect of the regularization. The part of the unknowns
 * `held` that changes no condition is removed, so that the smallest unknowns that satisfy the
 * conditions remain. */
static void solve_redundant(const yk_jacobian *j, double *r, double *held)
{
    enum { SOLUTIONS = 2 };
    size_t size = (size_t)j->size;
    double *x = j->least_squares_solution;
    memset(x, 0, size * sizeof *x);
    for (int i = 0; i < j->size; i++)
        if (j->use[i] != CONDITION_MET)
            r[i] = 0;
    for (int n = 0; n < SOLUTIONS; n++) {
        const double *part = solve_least_squares(j, r, NULL);
        for (int i = 0; i < j->size; i++)
            x[i] += part[i];
    }

    /* d^2 (J^T J + d^2)^-1 is close to the projection onto that part. */
    for (int n = 0; held && n < SOLUTIONS; n++) {
        memset(r, 0, size * sizeof *r);
        memcpy(held, solve_least_squares(j, r, held), size * sizeof *held);
    }

    for (int i = 0; i < j->size; i++)
        r[i] = x[i] + (held ? held[i] : 0);
}

void yk_jacobian_solve(const yk_jacobian *jacobian, double *x, double *held)
{
    /* With the scaled matrix R J C: J^-1 = C (R J C)^-1 R. */
    const yk_jacobian *j = jacobian;
    for (int i = 0; i < j->size; i++)
        x[i] *= j->row_scale[i];

    if (j->redundant) {
        for (int i = 0; held && i < j->size; i++)
            held[i] /= j->column_scale[i];
        solve_redundant(j, x, held);
    } else {
        yk_sparse_solve(j->matrix, x);
    }

    for (int i = 0; i < j->size; i++)
        x[i] *= j->column_scale[i];
}

/* State ---------------------------------------------------------------------------------------- */

/* The response of a subsystem, and the noise of each of its connections. */
static size_t response_words(const yk_port_response *r)
{
    return (size_t)r->rows * (size_t)r->columns + 2 * (size_t)r->connection_count;
}

size_t yk_jacobian_words(const yk_jacobian *jacobian)
{
    size_t words = 1 + (size_t)jacobian->size;
    for (int m = 0; m < jacobian->participant_count; m++)
        words += response_words(&jacobian->responses[m]);
    return words;
}

void yk_jacobian_get(const yk_jacobian *jacobian, double *words)
{
    *words++ = jacobian->redundant;
    for (int i = 0; i < jacobian->size; i++)
        *words++ = jacobian->use[i];

    /* The responses cannot be recomputed. */
    for (int m = 0; m < jacobian->participant_count; m++) {
        const yk_port_response *r = &jacobian->responses[m];
        size_t count = (size_t)r->rows * (size_t)r->columns;
        memcpy(words, r->matrix, count * sizeof *words);
        words += count;

        for (int i = 0; i < r->connection_count; i++) {
            *words++ = r->connections[i].noise.translation;
            *words++ = r->connections[i].noise.rotation;
        }
    }
}

void yk_jacobian_set(yk_jacobian *jacobian, const double *words)
{
    /* Responses that corrections have improved do not show redundant constraints as clearly as new
     * responses, so the result of the last check is part of the state. */
    jacobian->redundant = *words++ != 0;
    jacobian->fresh = false;
    for (int i = 0; i < jacobian->size; i++)
        jacobian->use[i] = (condition_use)*words++;

    for (int m = 0; m < jacobian->participant_count; m++) {
        yk_port_response *r = &jacobian->responses[m];
        size_t count = (size_t)r->rows * (size_t)r->columns;
        memcpy(r->matrix, words, count * sizeof *words);
        words += count;

        for (int i = 0; i < r->connection_count; i++) {
            r->connections[i].noise.translation = *words++;
            r->connections[i].noise.rotation = *words++;
        }
    }
}

bool yk_jacobian_is_valid(const yk_jacobian *jacobian, const double *words)
{
    bool valid = yk_is_restored_word(words[0], 1);
    for (int i = 0; i < jacobian->size; i++)
        valid = valid && yk_is_restored_word(words[1 + i], CONDITION_IMMOBILE);
    return valid;
}

/* The matrix of the last assembly --------------------------------------------------------------- */

size_t yk_jacobian_matrix_words(const yk_jacobian *jacobian)
{
    return yk_sparse_nonzeros(jacobian->matrix) + 2 * (size_t)jacobian->size;
}

void yk_jacobian_get_matrix(const yk_jacobian *jacobian, double *words)
{
    /* The scaled matrix, and the scales of rows and columns, which are one block. */
    size_t count = yk_sparse_nonzeros(jacobian->matrix);
    memcpy(words, yk_sparse_values(jacobian->matrix), count * sizeof *words);
    memcpy(words + count, jacobian->row_scale, 2 * (size_t)jacobian->size * sizeof *words);
}

void yk_jacobian_set_matrix(yk_jacobian *jacobian, const double *words)
{
    size_t count = yk_sparse_nonzeros(jacobian->matrix);
    double *values = yk_sparse_values(jacobian->matrix);
    if (memcmp(values, words, count * sizeof *words) != 0) {
        memcpy(values, words, count * sizeof *words);
        jacobian->outdated = true;
    }
    memcpy(jacobian->row_scale, words + count, 2 * (size_t)jacobian->size * sizeof *words);
    jacobian->redundant = false;
}

yk_status yk_jacobian_restore(yk_jacobian *jacobian)
{
    return jacobian->outdated ? factor_scaled(jacobian) : YK_OK;
}

double yk_jacobian_unknown_size(const yk_jacobian *jacobian, const double *unknowns)
{
    double largest = 0;
    for (int i = 0; i < jacobian->size; i++) {
        double size = fabs(unknowns[i] / jacobian->column_scale[i]);
        if (!(size <= largest))
            largest = size;
    }
    return largest;
}

double yk_jacobian_condition_size(const yk_jacobian *jacobian, const double *conditions)
{
    double largest = 0;
    for (int i = 0; i < jacobian->size; i++) {
        double size = fabs(jacobian->row_scale[i] * conditions[i]);
        if (!(size <= largest))
            largest = size;
    }
    return largest;
}
