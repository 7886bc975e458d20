#include "math/dependence.h"

#include <math.h>
#include <string.h>

/* A row shorter than this fraction of the longest one is zero within rounding errors. */
static const double ZERO_ROW = 1e-12;

/* Rows with smaller coefficients are not part of a combination. */
static const double NO_PART = 1e-6;

/* A row can be chosen from a combination if its coefficient is at least this fraction of the largest
 * one. */
static const double CHOICE_FRACTION = 0.1;

/* A growing array. Elements are addressed by index, because growing moves them. */
typedef struct reals {
    double *at;
    size_t count, capacity;
} reals;

typedef struct integers {
    int *at;
    size_t count, capacity;
} integers;

/* One dense front, after its group has been eliminated. Input rows are rows of the matrix, or
 * output rows of earlier fronts, whose numbers start at the number of rows of the matrix. */
typedef struct front {
    int rows;              /* of input */
    int rank;              /* reflectors */
    int first_output;      /* row where S begins */
    int outputs;           /* rows of S and Z */
    int output_columns;    /* columns of S and Z */
    size_t input;          /* first in `inputs` */
    size_t reflector;      /* first in `reflectors`: rank columns of `rows` numbers */
    size_t output;         /* first of Z in `values`, row by row */
    size_t factor;         /* first of L in `factors`, row by row */
    size_t column;         /* first of the columns of S in `columns` */
    int output_number;     /* number of its first output row */
    int next_child, child; /* lists of fronts whose outputs are input here */
} front;

typedef struct reduction {
    yk_context *context;
    const yk_dependence_def *def;

    /* Rows of the matrix, scaled to unit length. */
    size_t *row_start;
    int *row_column;
    double *row_value;

    int *rank_of_group; /* position of a group in the order of elimination */
    int *first_row;     /* per front: list of its rows of the matrix, by next_row */
    int *next_row;

    front *fronts; /* in the order of elimination */
    integers inputs, columns;
    reals reflectors, values, factors;
    integers owner; /* front of each output row */

    /* Work space of one front. */
    int *place;        /* position of each column in the front, or -1 */
    integers involved; /* columns of the front: those of the group, then the others */
    reals dense;       /* rows by columns, column by column */
    reals vector;

    double *coefficient; /* of each output row in the present combination */
    integers stack;
    double *combination; /* of the rows of the matrix */
    integers combined;   /* rows of the combination */

    /* Combinations from which a row has been chosen, one after the other. */
    integers chosen;     /* chosen row of each */
    int *choice_of_row;  /* per row: its number in `chosen`, or -1 */
    integers waiting;    /* numbers of chosen rows to be eliminated, as a heap */
    integers kept_start; /* first coefficient of each, and one past the last */
    bool *listed;        /* per row: it is in `combined` */
    integers kept_row;
    reals kept_value;
} reduction;

/* Sets the number of elements of an array, whose memory doubles if it is too small. Returns the
 * elements; NULL: memory is missing. */
static void *resize(yk_context *context, void *at, size_t *count, size_t *capacity, size_t needed,
                    size_t size)
{
    if (needed >= *capacity) {
        size_t grown = 2 * needed + 1;
        at = yk_reallocate(context, at, grown, size);
        if (!at)
            return NULL;
        *capacity = grown;
    }

    *count = needed;
    return at;
}

static yk_status resize_reals(yk_context *context, reals *array, size_t count)
{
    double *at = resize(context, array->at, &array->count, &array->capacity, count, sizeof *at);
    if (at)
        array->at = at;
    return at ? YK_OK : YK_ERROR_MEMORY;
}

static yk_status resize_integers(yk_context *context, integers *array, size_t count)
{
    int *at = resize(context, array->at, &array->count, &array->capacity, count, sizeof *at);
    if (at)
        array->at = at;
    return at ? YK_OK : YK_ERROR_MEMORY;
}

static yk_status append_integer(yk_context *context, integers *array, int value)
{
    size_t count = array->count;
    yk_status status = resize_integers(context, array, count + 1);
    if (status == YK_OK)
        array->at[count] = value;
    return status;
}

/* Rows of the matrix --------------------------------------------------------------------------- */

static yk_status sort_by_rows(reduction *r)
{
    const yk_dependence_def *def = r->def;
    size_t rows = (size_t)def->rows;
    r->row_start = yk_allocate(r->context, rows + 1, sizeof *r->row_start);
    r->row_column = yk_allocate(r->context, def->entry_count + 1, sizeof *r->row_column);
    r->row_value = yk_allocate(r->context, def->entry_count + 1, sizeof *r->row_value);
    if (!r->row_start || !r->row_column || !r->row_value)
        return YK_ERROR_MEMORY;

    memset(r->row_start, 0, (rows + 1) * sizeof *r->row_start);
    for (size_t i = 0; i < def->entry_count; i++)
        r->row_start[def->entries[i].row + 1]++;
    for (size_t i = 0; i < rows; i++)
        r->row_start[i + 1] += r->row_start[i];

    /* Filled from the ends of the rows, which become their starts. */
    for (size_t i = def->entry_count; i-- > 0;) {
        const yk_matrix_entry *entry = &def->entries[i];
        size_t at = --r->row_start[entry->row + 1];
        r->row_column[at] = entry->column;
        r->row_value[at] = entry->value;
    }

    memmove(r->row_start, r->row_start + 1, rows * sizeof *r->row_start);
    r->row_start[rows] = def->entry_count;
    return YK_OK;
}

static double row_length(const reduction *r, int row)
{
    double square = 0;
    for (size_t i = r->row_start[row]; i < r->row_start[row + 1]; i++)
        square += r->row_value[i] * r->row_value[i];
    return sqrt(square);
}

/* Scales all rows to unit length. Zero rows are redundant. */
static void scale_rows(reduction *r, yk_dependence *dependence)
{
    double longest = 0;
    for (int i = 0; i < r->def->rows; i++)
        longest = fmax(longest, row_length(r, i));

    for (int i = 0; i < r->def->rows; i++) {
        double length = row_length(r, i);
        bool zero = !(length > ZERO_ROW * longest);
        if (zero) {
            dependence->count++;
            dependence->part[i] = 1;
            dependence->chosen[i] = true;
        }

        for (size_t k = r->row_start[i]; k < r->row_start[i + 1]; k++)
            r->row_value[k] = zero ? 0 : r->row_value[k] / length;
    }
}

/* Order of elimination ------------------------------------------------------------------------- */

/* Two groups of columns are neighbours if a row has entries in both. */
static yk_status order_groups(reduction *r)
{
    const yk_dependence_def *def = r->def;
    size_t count = 0;
    size_t capacity = 64;
    yk_sparse_entry *edges = yk_allocate(r->context, capacity, sizeof *edges);
    if (!edges)
        return YK_ERROR_MEMORY;
    edges[count++] = (yk_sparse_entry){0, 0};

    for (int i = 0; i < def->rows; i++) {
        for (size_t a = r->row_start[i]; a < r->row_start[i + 1]; a++) {
            /* Entries of a group follow each other, and one of them stands for all. */
            int group = def->group[r->row_column[a]];
            if (a > r->row_start[i] && def->group[r->row_column[a - 1]] == group)
                continue;

            for (size_t b = r->row_start[i]; b < a; b++) {
                int other = def->group[r->row_column[b]];
                const yk_sparse_entry *before = &edges[count - 1];
                if (other == group || (before->row == group && before->column == other))
                    continue;

                if (count == capacity) {
                    capacity *= 2;
                    yk_sparse_entry *grown =
                        yk_reallocate(r->context, edges, capacity, sizeof *edges);
                    if (!grown) {
                        yk_free(r->context, edges);
                        return YK_ERROR_MEMORY;
                    }
                    edges = grown;
                }

                edges[count++] = (yk_sparse_entry){group, other};
            }
        }
    }

    size_t groups = (size_t)def->group_count;
    int *order = yk_allocate(r->context, groups + 1, sizeof *order);
    r->rank_of_group = yk_allocate(r->context, groups + 1, sizeof *r->rank_of_group);
    yk_status status = YK_ERROR_MEMORY;
    if (order && r->rank_of_group)
        status = yk_graph_order(r->context, def->group_count, edges, count, order);
    for (int i = 0; status == YK_OK && i < def->group_count; i++)
        r->rank_of_group[order[i]] = i;

    yk_free(r->context, order);
    yk_free(r->context, edges);
    return status;
}

static int front_of_column(const reduction *r, int column)
{
    return r->rank_of_group[r->def->group[column]];
}

/* Each row of the matrix is input of the front that eliminates the first of its groups. */
static yk_status assign_rows(reduction *r)
{
    const yk_dependence_def *def = r->def;
    r->first_row = yk_allocate(r->context, (size_t)def->group_count + 1, sizeof *r->first_row);
    r->next_row = yk_allocate(r->context, (size_t)def->rows + 1, sizeof *r->next_row);
    if (!r->first_row || !r->next_row)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < def->group_count; i++)
        r->first_row[i] = -1;

    for (int i = def->rows - 1; i >= 0; i--) {
        int first = def->group_count;
        for (size_t k = r->row_start[i]; k < r->row_start[i + 1]; k++) {
            int at = front_of_column(r, r->row_column[k]);
            if (r->row_value[k] != 0 && at < first)
                first = at;
        }

        if (first == def->group_count)
            continue;

        r->next_row[i] = r->first_row[first];
        r->first_row[first] = i;
    }

    return YK_OK;
}

/* A front -------------------------------------------------------------------------------------- */

static yk_status involve_column(reduction *r, int column)
{
    if (r->place[column] >= 0)
        return YK_OK;

    r->place[column] = (int)r->involved.count;
    return append_integer(r->context, &r->involved, column);
}

/* Columns of the front, those of its group before the others; returns the number of those of the
 * group. */
static yk_status list_columns(reduction *r, int number, int *own)
{
    const front *f = &r->fronts[number];
    r->involved.count = 0;
    yk_status status = YK_OK;

    for (int others = 0; others < 2; others++) {
        for (int i = r->first_row[number]; i >= 0; i = r->next_row[i]) {
            for (size_t k = r->row_start[i]; status == YK_OK && k < r->row_start[i + 1]; k++)
                if ((front_of_column(r, r->row_column[k]) != number) == others)
                    status = involve_column(r, r->row_column[k]);
        }

        for (int c = f->child; c >= 0; c = r->fronts[c].next_child) {
            const front *child = &r->fronts[c];
            for (int k = 0; status == YK_OK && k < child->output_columns; k++) {
                int column = r->columns.at[child->column + (size_t)k];
                if ((front_of_column(r, column) != number) == others)
                    status = involve_column(r, column);
            }
        }

        if (!others)
            *own = (int)r->involved.count;
    }

    return status;
}

/* Copies the input rows into the dense matrix of the front. */
static yk_status fill_front(reduction *r, int number)
{
    front *f = &r->fronts[number];
    size_t rows = (size_t)f->rows;
    size_t size = rows * r->involved.count;
    yk_status status = resize_reals(r->context, &r->dense, size);
    f->input = r->inputs.count;
    if (status == YK_OK)
        status = resize_integers(r->context, &r->inputs, f->input + rows);
    if (status != YK_OK)
        return status;

    double *dense = r->dense.at;
    int *inputs = r->inputs.at + f->input;
    if (size > 0)
        memset(dense, 0, size * sizeof *dense);

    size_t row = 0;
    for (int i = r->first_row[number]; i >= 0; i = r->next_row[i]) {
        for (size_t k = r->row_start[i]; k < r->row_start[i + 1]; k++)
            dense[(size_t)r->place[r->row_column[k]] * rows + row] = r->row_value[k];
        inputs[row++] = i;
    }

    for (int n = f->child; n >= 0; n = r->fronts[n].next_child) {
        const front *child = &r->fronts[n];
        size_t outputs = (size_t)child->outputs;
        size_t columns = (size_t)child->output_columns;
        for (size_t k = 0; k < outputs; k++) {
            const double *from = r->values.at + child->output + k * columns;
            for (size_t c = 0; c < columns; c++)
                dense[(size_t)r->place[r->columns.at[child->column + c]] * rows + row] = from[c];
            inputs[row++] = r->def->rows + child->output_number + (int)k;
        }
    }

    return YK_OK;
}

static double tail_length(const double *column, int from, int rows)
{
    double square = 0;
    for (int i = from; i < rows; i++)
        square += column[i] * column[i];
    return sqrt(square);
}

/* v - 2 w (w . v) from row `from` on, with the unit vector w. */
static void reflect(const double *w, int from, int rows, double *v)
{
    double along = 0;
    for (int i = from; i < rows; i++)
        along += w[i] * v[i];
    along *= 2;
    for (int i = from; i < rows; i++)
        v[i] -= along * w[i];
}

/* Householder reflections with column pivoting for the columns from `first` to `last`, from row
 * f->rank on, until the rest is below the tolerance. */
static yk_status reduce_columns(reduction *r, front *f, int first, int last)
{
    int rows = f->rows;
    size_t stride = (size_t)rows;
    int all = (int)r->involved.count;

    while (f->rank < rows && first < last) {
        double *dense = r->dense.at;
        int pivot = first;
        double longest = 0;
        for (int k = first; k < last; k++) {
            double length = tail_length(dense + (size_t)k * stride, f->rank, rows);
            if (length > longest) {
                longest = length;
                pivot = k;
            }
        }

        if (!(longest > r->def->tolerance))
            return YK_OK;

        /* The pivot column goes to the front. */
        double *a = dense + (size_t)first * stride;
        if (pivot != first) {
            double *b = dense + (size_t)pivot * stride;
            for (int i = 0; i < rows; i++) {
                double value = a[i];
                a[i] = b[i];
                b[i] = value;
            }

            int column = r->involved.at[first];
            r->involved.at[first] = r->involved.at[pivot];
            r->involved.at[pivot] = column;
        }

        /* The reflection that leaves one entry of the column. It is stored to follow combinations. */
        size_t at = r->reflectors.count;
        yk_status status = resize_reals(r->context, &r->reflectors, at + stride);
        if (status != YK_OK)
            return status;

        double *w = r->reflectors.at + at;
        memset(w, 0, stride * sizeof *w);
        for (int i = f->rank; i < rows; i++)
            w[i] = a[i] / longest;
        w[f->rank] += w[f->rank] < 0 ? -1 : 1;
        double length = tail_length(w, f->rank, rows);
        for (int i = f->rank; i < rows; i++)
            w[i] /= length;

        for (int k = first; k < all; k++)
            reflect(w, f->rank, rows, dense + (size_t)k * stride);

        f->rank++;
        first++;
    }

    return YK_OK;
}

/* S = L Z in place, with orthonormal rows of Z and a lower triangle L: Gram-Schmidt, repeated once
 * against rounding. */
static void orthonormalise_rows(size_t rows, size_t columns, double *s, double *lower)
{
    for (size_t i = 0; i < rows; i++) {
        double *row = s + i * columns;
        for (int round = 0; round < 2; round++) {
            for (size_t k = 0; k < i; k++) {
                const double *z = s + k * columns;
                double along = 0;
                for (size_t c = 0; c < columns; c++)
                    along += z[c] * row[c];
                for (size_t c = 0; c < columns; c++)
                    row[c] -= along * z[c];
                lower[i * rows + k] += along;
            }
        }

        double length = tail_length(row, 0, (int)columns);
        lower[i * rows + i] = length;
        for (size_t c = 0; c < columns; c++)
            row[c] /= length;
    }
}

/* Passes the row space of S to the next front with columns of it. */
static yk_status keep_outputs(reduction *r, int number, int own)
{
    front *f = &r->fronts[number];
    f->outputs = f->rank - f->first_output;
    f->output_columns = f->outputs > 0 ? (int)r->involved.count - own : 0;
    f->output_number = (int)r->owner.count;
    f->column = r->columns.count;
    f->output = r->values.count;
    f->factor = r->factors.count;

    size_t outputs = (size_t)f->outputs;
    size_t columns = (size_t)f->output_columns;
    yk_status status = resize_integers(r->context, &r->columns, f->column + columns);
    if (status == YK_OK)
        status = resize_reals(r->context, &r->values, f->output + outputs * columns);
    if (status == YK_OK)
        status = resize_reals(r->context, &r->factors, f->factor + outputs * outputs);
    for (size_t k = 0; status == YK_OK && k < outputs; k++)
        status = append_integer(r->context, &r->owner, number);
    if (status != YK_OK || f->outputs == 0)
        return status;

    int next = r->def->group_count;
    double *s = r->values.at + f->output;
    for (size_t k = 0; k < columns; k++) {
        int column = r->involved.at[(size_t)own + k];
        const double *from = r->dense.at + ((size_t)own + k) * (size_t)f->rows + f->first_output;
        r->columns.at[f->column + k] = column;
        for (size_t i = 0; i < outputs; i++)
            s[i * columns + k] = from[i];
        if (front_of_column(r, column) < next)
            next = front_of_column(r, column);
    }

    double *lower = r->factors.at + f->factor;
    memset(lower, 0, outputs * outputs * sizeof *lower);
    orthonormalise_rows(outputs, columns, s, lower);

    f->next_child = r->fronts[next].child;
    r->fronts[next].child = number;
    return YK_OK;
}

static yk_status eliminate_group(reduction *r, int number)
{
    front *f = &r->fronts[number];
    for (int i = r->first_row[number]; i >= 0; i = r->next_row[i])
        f->rows++;
    for (int c = f->child; c >= 0; c = r->fronts[c].next_child)
        f->rows += r->fronts[c].outputs;

    f->reflector = r->reflectors.count;
    if (f->rows == 0)
        return YK_OK;

    int own = 0;
    yk_status status = list_columns(r, number, &own);
    if (status == YK_OK)
        status = fill_front(r, number);
    for (size_t k = 0; k < r->involved.count; k++)
        r->place[r->involved.at[k]] = -1;

    if (status == YK_OK)
        status = reduce_columns(r, f, 0, own);
    f->first_output = f->rank;
    if (status == YK_OK)
        status = reduce_columns(r, f, own, (int)r->involved.count);
    if (status == YK_OK)
        status = keep_outputs(r, number, own);

    return status;
}

/* Combinations of rows ------------------------------------------------------------------------- */

/* Converts a combination of the rows after a front's reflections to one of its input rows, and
 * pushes the fronts whose outputs are part of it on the stack. */
static yk_status follow_front(reduction *r, const front *f)
{
    double *vector = r->vector.at;
    size_t rows = (size_t)f->rows;
    for (int k = f->rank - 1; k >= 0; k--)
        reflect(r->reflectors.at + f->reflector + (size_t)k * rows, k, f->rows, vector);

    yk_status status = YK_OK;
    int last = -1;
    for (size_t i = 0; status == YK_OK && i < rows; i++) {
        int input = r->inputs.at[f->input + i];
        if (input < r->def->rows) {
            r->combination[input] = vector[i];
            status = append_integer(r->context, &r->combined, input);
            continue;
        }

        /* Outputs of one front follow each other. */
        int output = input - r->def->rows;
        int owner = r->owner.at[output];
        r->coefficient[output] = vector[i];
        if (owner != last && fabs(vector[i]) > NO_PART) {
            status = append_integer(r->context, &r->stack, owner);
            last = owner;
        }
    }

    return status;
}

/* The combination of the rows of S that is the given one of the rows of Z = L^-1 S. */
static void divide_by_factor(const reduction *r, const front *f, double *vector)
{
    size_t n = (size_t)f->outputs;
    const double *lower = r->factors.at + f->factor;
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            vector[i] -= lower[k * n + i] * vector[k];
        vector[i] /= lower[i * n + i];
    }
}

/* Traces a vanishing combination of the rows of a front back to the rows of the matrix. */
static yk_status follow_combination(reduction *r, int number, int row, yk_dependence *dependence)
{
    const front *f = &r->fronts[number];
    yk_status status = resize_reals(r->context, &r->vector, (size_t)f->rows);
    if (status != YK_OK)
        return status;

    memset(r->vector.at, 0, (size_t)f->rows * sizeof *r->vector.at);
    r->vector.at[row] = 1;
    r->stack.count = 0;
    r->combined.count = 0;
    status = follow_front(r, f);

    while (status == YK_OK && r->stack.count > 0) {
        f = &r->fronts[r->stack.at[--r->stack.count]];
        status = resize_reals(r->context, &r->vector, (size_t)f->rows);
        if (status != YK_OK)
            return status;

        double *vector = r->vector.at;
        memset(vector, 0, (size_t)f->rows * sizeof *vector);
        memcpy(vector + f->first_output, r->coefficient + f->output_number,
               (size_t)f->outputs * sizeof *vector);
        divide_by_factor(r, f, vector + f->first_output);
        status = follow_front(r, f);
    }

    double largest = 0;
    for (size_t i = 0; i < r->combined.count; i++)
        largest = fmax(largest, fabs(r->combination[r->combined.at[i]]));
    for (size_t i = 0; i < r->combined.count; i++) {
        int of = r->combined.at[i];
        dependence->part[of] = fmax(dependence->part[of], fabs(r->combination[of]) / largest);
    }

    return status;
}

/* Stores the combination, divided by the coefficient of the chosen row. */
static yk_status keep_combination(reduction *r, int choice, double largest)
{
    const double *combination = r->combination;
    r->choice_of_row[choice] = (int)r->chosen.count;
    yk_status status = append_integer(r->context, &r->chosen, choice);
    for (size_t i = 0; status == YK_OK && i < r->combined.count; i++) {
        int row = r->combined.at[i];
        if (fabs(combination[row]) <= NO_PART * largest)
            continue;

        size_t count = r->kept_value.count;
        status = append_integer(r->context, &r->kept_row, row);
        if (status == YK_OK)
            status = resize_reals(r->context, &r->kept_value, count + 1);
        if (status == YK_OK)
            r->kept_value.at[count] = combination[row] / combination[choice];
    }

    if (status == YK_OK)
        status = append_integer(r->context, &r->kept_start, (int)r->kept_value.count);
    return status;
}

/* Adds a row to the heap of chosen rows that are to be eliminated, if it was chosen before. */
static yk_status await_chosen(reduction *r, int row)
{
    int number = r->choice_of_row[row];
    if (number < 0)
        return YK_OK;

    yk_status status = append_integer(r->context, &r->waiting, number);
    if (status != YK_OK)
        return status;

    int *heap = r->waiting.at;
    size_t at = r->waiting.count - 1;
    for (; at > 0 && heap[(at - 1) / 2] > number; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = number;
    return YK_OK;
}

/* Removes the row that was chosen first from the heap; returns the number of its choice. */
static int next_chosen(reduction *r)
{
    int *heap = r->waiting.at;
    int first = heap[0];
    size_t count = --r->waiting.count;
    int last = heap[count];

    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= last)
            break;
        heap[at] = heap[child];
        at = child;
    }
    if (count > 0)
        heap[at] = last;
    return first;
}

/* Chooses a row from the traced combination. */
static yk_status choose_row(reduction *r, yk_dependence *dependence)
{
    double *combination = r->combination;

    /* Eliminate rows chosen before from the combination, in the order of their choice: the stored
     * combinations have zeros at the rows that were chosen before them. */
    yk_status status = YK_OK;
    for (size_t i = 0; i < r->combined.count; i++)
        r->listed[r->combined.at[i]] = true;
    for (size_t i = 0; status == YK_OK && i < r->combined.count; i++)
        status = await_chosen(r, r->combined.at[i]);

    while (status == YK_OK && r->waiting.count > 0) {
        int k = next_chosen(r);
        int row = r->chosen.at[k];
        double factor = combination[row];
        if (factor == 0)
            continue;

        for (int i = r->kept_start.at[k]; status == YK_OK && i < r->kept_start.at[k + 1]; i++) {
            int other = r->kept_row.at[i];
            if (!r->listed[other]) {
                combination[other] = 0;
                r->listed[other] = true;
                status = append_integer(r->context, &r->combined, other);
                if (status == YK_OK)
                    status = await_chosen(r, other);
            }
            combination[other] -= factor * r->kept_value.at[i];
        }
        combination[row] = 0;
    }

    for (size_t i = 0; i < r->combined.count; i++)
        r->listed[r->combined.at[i]] = false;
    if (status != YK_OK)
        return status;

    double largest = 0;
    for (size_t i = 0; i < r->combined.count; i++)
        largest = fmax(largest, fabs(combination[r->combined.at[i]]));

    int choice = -1;
    for (size_t i = 0; i < r->combined.count; i++) {
        int row = r->combined.at[i];
        if (row > choice && fabs(combination[row]) >= CHOICE_FRACTION * largest)
            choice = row;
    }
    if (!(largest > 0) || choice < 0)
        return YK_OK;

    dependence->chosen[choice] = true;
    return keep_combination(r, choice, largest);
}

static yk_status find_parts(reduction *r, yk_dependence *dependence)
{
    r->coefficient = yk_allocate(r->context, r->owner.count + 1, sizeof *r->coefficient);
    r->combination = yk_allocate(r->context, (size_t)r->def->rows + 1, sizeof *r->combination);
    r->listed = yk_allocate(r->context, (size_t)r->def->rows + 1, sizeof *r->listed);
    r->choice_of_row = yk_allocate(r->context, (size_t)r->def->rows + 1, sizeof *r->choice_of_row);
    if (!r->coefficient || !r->combination || !r->listed || !r->choice_of_row)
        return YK_ERROR_MEMORY;

    memset(r->listed, 0, (size_t)r->def->rows * sizeof *r->listed);
    for (int i = 0; i < r->def->rows; i++)
        r->choice_of_row[i] = -1;

    yk_status status = append_integer(r->context, &r->kept_start, 0);
    for (int i = 0; i < r->def->group_count; i++) {
        const front *f = &r->fronts[i];
        for (int row = f->rank; status == YK_OK && row < f->rows; row++) {
            dependence->count++;
            status = follow_combination(r, i, row, dependence);
            if (status == YK_OK)
                status = choose_row(r, dependence);
        }
    }

    return status;
}

/* The whole ------------------------------------------------------------------------------------ */

static yk_status reduce_all(reduction *r)
{
    size_t groups = (size_t)r->def->group_count;
    size_t columns = (size_t)r->def->columns;
    r->fronts = yk_allocate(r->context, groups + 1, sizeof *r->fronts);
    r->place = yk_allocate(r->context, columns + 1, sizeof *r->place);
    if (!r->fronts || !r->place)
        return YK_ERROR_MEMORY;

    for (size_t i = 0; i < groups; i++)
        r->fronts[i] = (front){.child = -1, .next_child = -1};
    for (size_t i = 0; i < columns; i++)
        r->place[i] = -1;

    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i < r->def->group_count; i++)
        status = eliminate_group(r, i);
    return status;
}

static void release_reduction(reduction *r)
{
    void *parts[] = {
        r->row_start,   r->row_column,    r->row_value,     r->rank_of_group, r->first_row,
        r->next_row,    r->fronts,        r->inputs.at,     r->columns.at,    r->reflectors.at,
        r->values.at,   r->factors.at,    r->owner.at,      r->place,         r->involved.at,
        r->dense.at,    r->vector.at,     r->coefficient,   r->stack.at,      r->combination,
        r->combined.at, r->chosen.at,     r->kept_start.at, r->kept_row.at,   r->kept_value.at,
        r->listed,      r->choice_of_row, r->waiting.at,
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        yk_free(r->context, parts[i]);
}

yk_status yk_dependence_find(yk_context *context, const yk_dependence_def *def,
                             yk_dependence *dependence)
{
    *dependence = (yk_dependence){0};
    dependence->part = yk_allocate(context, (size_t)def->rows + 1, sizeof *dependence->part);
    dependence->chosen = yk_allocate(context, (size_t)def->rows + 1, sizeof *dependence->chosen);
    if (!dependence->part || !dependence->chosen) {
        yk_dependence_release(context, dependence);
        return YK_ERROR_MEMORY;
    }
    memset(dependence->part, 0, (size_t)def->rows * sizeof *dependence->part);
    memset(dependence->chosen, 0, (size_t)def->rows * sizeof *dependence->chosen);

    reduction r = {.context = context, .def = def};
    yk_status status = sort_by_rows(&r);
    if (status == YK_OK)
        scale_rows(&r, dependence);
    if (status == YK_OK && def->group_count > 0)
        status = order_groups(&r);
    if (status == YK_OK)
        status = assign_rows(&r);
    if (status == YK_OK)
        status = reduce_all(&r);
    if (status == YK_OK)
        status = find_parts(&r, dependence);

    release_reduction(&r);
    if (status != YK_OK)
        yk_dependence_release(context, dependence);

    return status;
}

void yk_dependence_release(yk_context *context, yk_dependence *dependence)
{
    yk_free(context, dependence->part);
    yk_free(context, dependence->chosen);
    *dependence = (yk_dependence){0};
}
