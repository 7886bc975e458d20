/* Tables of a scenario: functions that expressions call by their name, from points in the scenario
 * or from columns of a file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "math/lookup.h"
#include "model/files.h"
#include "model/scenario.h"
#include "record/hdf5_read.h"
#include "yoke/record.h"

static const yk_option_choice interpolation_words[] = {
    {"step", "the value of the point before"},
    {"linear", "straight lines; two points with the same argument are a jump"},
    {"cubic", "cubic spline with two continuous derivatives, for the motion of a drive; "
              "the ends are not-a-knot"},
    {"akima", "Akima's spline with one continuous derivative, without overshoot next to steps"},
    {NULL, NULL},
};
static const yk_option_choice extrapolation_words[] = {
    {"hold", "the value at the nearest end"},
    {"linear", "a straight line with the slope at the end"},
    {"periodic", "the points repeat; the last value must be the first"},
    {"none", "an error: the run stops"},
    {NULL, NULL},
};
static const yk_option point_item = {
    "points", YK_OPTION_NUMBERS, .min_count = 2, .max_count = 3,
    .description = "argument and value; of two arguments: both, then the value"};

static const yk_option table_fields[] = {
    {"points", YK_OPTION_LIST, .min_count = 1, .item = &point_item,
     .description = "the points `[argument, value]`, or `[argument, second argument, value]`"},
    {"file", YK_OPTION_PATH,
     .description = "instead of points: a CSV file whose first line names the columns, or an HDF5 "
                    "file; relative to the scenario's folder"},
    {"argument", YK_OPTION_TEXT, .default_text = "t", .only_with = {.key = "file"},
     .description = "column of the argument; of HDF5 the path of a dataset, `run/time`, or a "
                    "channel of a results file"},
    {"second_argument", YK_OPTION_TEXT, .only_with = {.key = "file"},
     .description = "column of the second argument, for a function of two arguments: one row for "
                    "each point of a full grid, in any order"},
    {"value", YK_OPTION_TEXT, .default_text = "value", .only_with = {.key = "file"},
     .description = "column of the value"},
    {"argument_scale", YK_OPTION_NUMBER,
     .description = "factor of the argument, such as 60 from minutes to s; default: from the unit "
                    "of the column, or 1"},
    {"argument_offset", YK_OPTION_NUMBER, .default_text = "0",
     .description = "added to the argument after the factor"},
    {"second_argument_scale", YK_OPTION_NUMBER,
     .description = "factor of the second argument; default: as for `argument_scale`"},
    {"second_argument_offset", YK_OPTION_NUMBER, .default_text = "0",
     .description = "added to the second argument after the factor"},
    {"scale", YK_OPTION_NUMBER,
     .description = "factor of the value; default: as for `argument_scale`"},
    {"offset", YK_OPTION_NUMBER, .default_text = "0",
     .description = "added to the value after the factor"},
    {"interpolation", YK_OPTION_CHOICE, .default_text = "linear", .choices = interpolation_words,
     .description = "value between the points; of two arguments `step` or `linear`"},
    {"extrapolation", YK_OPTION_CHOICE, .default_text = "hold", .choices = extrapolation_words,
     .description = "value outside of the points"},
    {0},
};
static const yk_option_section table_section = {
    "table",
    "A function that every expression of time or of channels can call by its name: `road(20*t)`, "
    "`damper(speed)`, `torque(speed, throttle)`.\n\n"
    "Arguments and values are in SI. If the first line of a CSV file gives a unit, as in "
    "`height [mm]` or `speed [rpm]`, its column is converted.",
    table_fields};
const yk_option yk_table_item = {"table", YK_OPTION_SECTION, .section = &table_section,
                                 .description = ""};

/* Points --------------------------------------------------------------------------------------- */

enum { ARGUMENT, SECOND, VALUE, COLUMNS };

/* The points of a table, before they are sorted into a grid. */
typedef struct table_points {
    yk_resolver *r;
    const yk_node *node; /* of the table */
    bool two_arguments;
    size_t count;
    double *column[COLUMNS]; /* SECOND is NULL for a function of one argument */
    yk_unit unit[COLUMNS];   /* of a CSV file; 0: none */
    int *line;               /* of a CSV file; NULL: none */
    const char *path;        /* of the file; NULL: none */
} table_points;

/* An error of row i. */
static bool refuse_point(const table_points *p, size_t i, const char *reason)
{
    if (p->line)
        yk_node_error(p->r->diagnostics, p->node, "%s:%d: %s", p->path, p->line[i], reason);
    else
        yk_node_error(p->r->diagnostics, p->node, "point %zu: %s", i + 1, reason);
    return false;
}

static bool allocate_columns(table_points *p, size_t capacity)
{
    for (int c = 0; c < COLUMNS; c++) {
        if (c == SECOND && !p->two_arguments)
            continue;
        double *column = yk_resolver_take(p->r, (capacity + 1) * sizeof *column);
        if (!column)
            return false;
        if (p->count)
            memcpy(column, p->column[c], p->count * sizeof *column);
        p->column[c] = column;
    }

    return true;
}

static bool read_inline_points(table_points *p, const yk_node *list)
{
    p->two_arguments = list->first->value_count == 3;
    if (!allocate_columns(p, (size_t)list->count))
        return false;

    for (const yk_node *item = list->first; item; item = item->next) {
        if ((item->value_count == 3) != p->two_arguments) {
            yk_node_error(p->r->diagnostics, item, "expected %d numbers, as in the first point",
                          p->two_arguments ? 3 : 2);
            return false;
        }

        p->column[ARGUMENT][p->count] = item->values[0];
        if (p->two_arguments)
            p->column[SECOND][p->count] = item->values[1];
        p->column[VALUE][p->count] = item->values[item->value_count - 1];
        p->count++;
    }

    return true;
}

/* The message of a file that cannot be read, which names the file and the line. */
static bool refuse_file(const table_points *p, yk_status status)
{
    if (status == YK_ERROR_MEMORY)
        p->r->status = status;
    else
        yk_node_error(p->r->diagnostics, p->node, "%s", yk_last_message(p->r->store->context));
    return false;
}

static bool read_csv_rows(table_points *p, yk_csv *table)
{
    size_t capacity = 0;
    bool more;
    yk_status status = yk_csv_next(table, &more);
    for (; status == YK_OK && more; status = yk_csv_next(table, &more)) {
        if (p->count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            int *line = yk_resolver_take(p->r, capacity * sizeof *line);
            if (!line || !allocate_columns(p, capacity))
                return false;
            if (p->count)
                memcpy(line, p->line, p->count * sizeof *line);
            p->line = line;
        }

        p->line[p->count] = table->line;
        int name = 0;
        for (int c = 0; c < COLUMNS && status == YK_OK; c++)
            if (p->column[c])
                status = yk_csv_number(table, name++, &p->column[c][p->count]);
        if (status != YK_OK)
            break;
        p->count++;
    }

    return status == YK_OK || refuse_file(p, status);
}

static bool read_csv(table_points *p, const char *const names[COLUMNS])
{
    const char *wanted[COLUMNS + 1] = {NULL};
    int count = 0;
    for (int c = 0; c < COLUMNS; c++)
        if (names[c])
            wanted[count++] = names[c];

    yk_csv table;
    yk_status status = yk_csv_open(p->r->store->context, p->path, wanted, count, &table);
    bool good = status == YK_OK ? read_csv_rows(p, &table) : refuse_file(p, status);
    for (int c = 0, name = 0; c < COLUMNS && good; c++)
        if (names[c])
            p->unit[c] = table.unit[name++];
    yk_csv_close(&table);
    return good;
}

/* A dataset of numbers; `*found` is false if the file has none with this path. */
static bool read_dataset(table_points *p, yk_hdf5_input *input, const char *name, int column,
                         bool *found)
{
    yk_hdf5_entry entry;
    *found = yk_hdf5_find(input, NULL, name, &entry);
    if (!*found)
        return true;

    uint64_t count = yk_hdf5_value_count(&entry);
    bool numbers = entry.kind == YK_HDF5_NUMBERS && entry.rank == 1;
    bool fits = column == ARGUMENT || count == p->count;
    if (numbers && column == ARGUMENT) {
        p->count = 0;
        numbers = count > 0 && count < SIZE_MAX / sizeof(double) - 1 &&
                  allocate_columns(p, (size_t)count);
        p->count = (size_t)count;
    }
    if (numbers && fits)
        numbers = yk_hdf5_read(input, &entry, YK_HDF5_FLOAT64, 0, p->count, p->column[column]);
    yk_hdf5_release(input, &entry);

    if (numbers && fits)
        return true;
    if (p->r->status != YK_OK)
        return false;
    if (!numbers)
        yk_node_error(p->r->diagnostics, p->node,
                      "%s: dataset '%.60s' is not a list of numbers without chunks and filters; "
                      "write it with the default settings, or as CSV",
                      p->path, name);
    else
        yk_node_error(p->r->diagnostics, p->node,
                      "%s: dataset '%.60s' has %llu values, but '%.60s' has %zu", p->path, name,
                      (unsigned long long)count, yk_node_text(p->node, "argument"), p->count);
    return false;
}

/* The column of a results file with the name of a channel, "time", or a channel's component. */
static const double *find_recorded(const yk_record *record, const char *name)
{
    if (strcmp(name, "t") == 0 || strcmp(name, "time") == 0)
        return yk_record_times(record);

    int channel = yk_record_find_channel(record, name);
    if (channel >= 0)
        return yk_record_column(record, channel, 0);

    /* The component after the last dot. */
    const char *dot = strrchr(name, '.');
    char owner[256];
    if (!dot || (size_t)(dot - name) >= sizeof owner)
        return NULL;
    memcpy(owner, name, (size_t)(dot - name));
    owner[dot - name] = '\0';
    channel = yk_record_find_channel(record, owner);
    if (channel < 0)
        return NULL;

    const yk_record_channel *of = &yk_record_get_header(record)->channels[channel];
    for (int i = 0; i < of->component_count; i++)
        if (of->labels && of->labels[i] && strcmp(of->labels[i], dot + 1) == 0)
            return yk_record_column(record, channel, i);
    return NULL;
}

static bool read_results(table_points *p, const char *const names[COLUMNS])
{
    yk_record *record = NULL;
    yk_status status = yk_record_load(p->r->store->context, p->path, &record);
    bool good = status == YK_OK || refuse_file(p, status);
    if (good) {
        size_t count = yk_record_row_count(record);
        good = allocate_columns(p, count);
        for (int c = 0; good && c < COLUMNS; c++) {
            if (!names[c])
                continue;
            const double *column = find_recorded(record, names[c]);
            if (!column) {
                yk_node_error(p->r->diagnostics, p->node,
                              "%s: there is no dataset or channel '%.60s'", p->path, names[c]);
                good = false;
            } else if (p->column[c]) {
                memcpy(p->column[c], column, count * sizeof *column);
            }
        }
        p->count = count;
    }

    yk_record_destroy(record);
    return good;
}

static bool read_hdf5(table_points *p, const char *const names[COLUMNS])
{
    yk_hdf5_input *input = NULL;
    yk_status status = yk_hdf5_input_open(p->r->store->context, p->path, &input);
    if (status != YK_OK)
        return refuse_file(p, status);

    bool good = true;
    int missing = -1;
    for (int c = 0; good && missing < 0 && c < COLUMNS; c++) {
        bool found = true;
        if (names[c])
            good = read_dataset(p, input, names[c], c, &found);
        if (!found)
            missing = c;
    }

    status = yk_hdf5_status(input);
    yk_hdf5_entry order;
    bool recorded = missing >= 0 && yk_hdf5_find(input, NULL, "time", &order);
    if (recorded)
        yk_hdf5_release(input, &order);
    yk_hdf5_input_close(input);
    if (!good)
        return false;
    if (status != YK_OK)
        return refuse_file(p, status);
    if (missing < 0)
        return true;

    /* Names that are not datasets are channels of a run. */
    if (recorded)
        return read_results(p, names);
    yk_node_error(p->r->diagnostics, p->node, "%s: there is no dataset '%.60s'", p->path,
                  names[missing]);
    return false;
}

static bool read_file(table_points *p)
{
    const yk_node *second = yk_node_get(p->node, "second_argument");
    p->two_arguments = second;
    const char *const names[COLUMNS] = {yk_node_text(p->node, "argument"),
                                        second ? second->text : NULL,
                                        yk_node_text(p->node, "value")};
    p->path = yk_builder_path(p->r->builder, p->node, "file");
    if (!p->path) {
        p->r->status = YK_ERROR_MEMORY;
        return false;
    }

    if (!allocate_columns(p, 1))
        return false;
    const char *end = strrchr(p->path, '.');
    if (end && (strcmp(end, ".h5") == 0 || strcmp(end, ".hdf5") == 0))
        return read_hdf5(p, names);
    return read_csv(p, names);
}

/* Checks --------------------------------------------------------------------------------------- */

static bool scale_points(const table_points *p)
{
    static const char *const scales[COLUMNS] = {"argument_scale", "second_argument_scale", "scale"};
    static const char *const offsets[COLUMNS] = {"argument_offset", "second_argument_offset",
                                                 "offset"};
    for (int c = 0; c < COLUMNS; c++) {
        double *column = p->column[c];
        double numerator = 1;
        double denominator = 1;
        if (yk_node_get(p->node, scales[c])) {
            numerator = yk_node_number(p->node, scales[c]);
        } else if (p->unit[c].denominator > 0) {
            numerator = p->unit[c].numerator;
            denominator = p->unit[c].denominator;
        }

        double offset = yk_node_number(p->node, offsets[c]);
        for (size_t i = 0; column && i < p->count; i++) {
            column[i] = column[i] * numerator / denominator + offset;
            if (!isfinite(column[i]))
                return refuse_point(p, i, "not a finite number; remove the row or repair it");
        }
    }

    if (p->count > 0)
        return true;
    yk_node_error(p->r->diagnostics, p->node, "%s has no rows", p->path ? p->path : "the table");
    return false;
}

/* Points of one argument, as written. */
static bool check_order(const table_points *p, const yk_lookup *lookup)
{
    const double *x = p->column[ARGUMENT];
    bool smooth =
        lookup->interpolation == YK_LOOKUP_CUBIC || lookup->interpolation == YK_LOOKUP_AKIMA;
    for (size_t i = 1; i < p->count; i++) {
        if (x[i] < x[i - 1])
            return refuse_point(p, i,
                                "the argument is below the one before; arguments must ascend");
        if (x[i] == x[i - 1] && smooth)
            return refuse_point(p, i,
                                "the argument is the same as the one before: a jump, for which "
                                "'interpolation' must be 'step' or 'linear'");
        if (i > 1 && x[i] == x[i - 2])
            return refuse_point(p, i, "more than two points have this argument");
    }

    if (lookup->extrapolation != YK_LOOKUP_OUTSIDE_PERIODIC)
        return true;

    /* Measured periods close up to rounding only. */
    double first = p->column[VALUE][0];
    double last = p->column[VALUE][p->count - 1];
    double largest = 0;
    for (size_t i = 0; i < p->count; i++)
        largest = fmax(largest, fabs(p->column[VALUE][i]));
    if (p->count < 2 || x[p->count - 1] == x[0] || fabs(last - first) > 1e-9 * largest) {
        yk_node_error(p->r->diagnostics, p->node,
                      "the last value must be the first, because 'extrapolation' is 'periodic'; "
                      "they are %g and %g: add a point at the end of the period",
                      last, first);
        return false;
    }

    p->column[VALUE][p->count - 1] = first;
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The different values of a column, ascending. */
static int distinct(double *sorted, const double *column, size_t count)
{
    memcpy(sorted, column, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    int kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || sorted[i] != sorted[kept - 1])
            sorted[kept++] = sorted[i];
    return kept;
}

/* Two arguments: a full grid. */
static bool fill_grid(const table_points *p, yk_lookup *lookup)
{
    bool allowed =
        (lookup->interpolation == YK_LOOKUP_STEP || lookup->interpolation == YK_LOOKUP_LINEAR) &&
        lookup->extrapolation != YK_LOOKUP_OUTSIDE_PERIODIC;
    if (!allowed) {
        yk_node_error(p->r->diagnostics, p->node,
                      "with two arguments 'interpolation' must be 'step' or 'linear', and "
                      "'extrapolation' must not be 'periodic'");
        return false;
    }

    double *arguments = yk_resolver_take(p->r, p->count * sizeof *arguments);
    double *second = yk_resolver_take(p->r, p->count * sizeof *second);
    double *values = yk_resolver_take(p->r, p->count * sizeof *values);
    bool *given = yk_resolver_take(p->r, p->count * sizeof *given);
    if (p->r->status != YK_OK)
        return false;

    lookup->count = distinct(arguments, p->column[ARGUMENT], p->count);
    lookup->second_count = distinct(second, p->column[SECOND], p->count);
    if ((size_t)lookup->count * (size_t)lookup->second_count != p->count) {
        yk_node_error(p->r->diagnostics, p->node,
                      "%zu points with %d different arguments and %d different second arguments "
                      "are not a full grid",
                      p->count, lookup->count, lookup->second_count);
        return false;
    }

    for (size_t k = 0; k < p->count; k++) {
        const double *row = bsearch(&p->column[ARGUMENT][k], arguments, (size_t)lookup->count,
                                    sizeof *row, compare_numbers);
        const double *column = bsearch(&p->column[SECOND][k], second, (size_t)lookup->second_count,
                                       sizeof *column, compare_numbers);
        size_t cell =
            (size_t)(row - arguments) * (size_t)lookup->second_count + (size_t)(column - second);
        if (given[cell])
            return refuse_point(p, k, "another point has the same two arguments");
        given[cell] = true;
        values[cell] = p->column[VALUE][k];
    }

    lookup->arguments = arguments;
    lookup->second = second;
    lookup->values = values;
    return true;
}

/* Enough for any measurement, and few enough for an int. */
static const size_t POINTS_MAX = 100000000;

static bool make_lookup(yk_resolver *r, const yk_node *node, yk_lookup *lookup)
{
    const yk_node *points = yk_node_get(node, "points");
    const yk_node *file = yk_node_get(node, "file");
    if (!points == !file) {
        yk_node_error(r->diagnostics, node, "give either 'points' or 'file'");
        return false;
    }

    table_points p = {.r = r, .node = node};
    if (points ? !read_inline_points(&p, points) : !read_file(&p))
        return false;
    if (p.count > POINTS_MAX) {
        yk_node_error(r->diagnostics, node, "more than %zu points", POINTS_MAX);
        return false;
    }

    if (!scale_points(&p))
        return false;

    *lookup = (yk_lookup){
        .interpolation = (yk_lookup_interpolation)yk_node_choice(node, "interpolation"),
        .extrapolation = (yk_lookup_extrapolation)yk_node_choice(node, "extrapolation"),
        .count = (int)p.count,
        .arguments = p.column[ARGUMENT],
        .values = p.column[VALUE],
    };
    if (p.two_arguments)
        return fill_grid(&p, lookup);
    if (!check_order(&p, lookup))
        return false;
    if (lookup->interpolation == YK_LOOKUP_STEP || lookup->interpolation == YK_LOOKUP_LINEAR)
        return true;

    double *slopes = yk_resolver_take(r, p.count * sizeof *slopes);
    double *work = yk_resolver_take(r, 4 * p.count * sizeof *work);
    if (!slopes || !work)
        return false;
    yk_lookup_compute_slopes(lookup, slopes, work);
    lookup->slopes = slopes;
    return true;
}

static bool has_two_arguments(const yk_node *table)
{
    const yk_node *points = yk_node_get(table, "points");
    if (points)
        return points->first && points->first->value_count == 3;
    return yk_node_get(table, "second_argument");
}

void yk_resolve_tables(yk_resolver *r, yk_node *node, const yk_option *field)
{
    yk_option named = *field;
    named.kind = YK_OPTION_NAMED;
    yk_resolve(r, node, &named);
    if (node->kind == YK_NODE_SCALAR || r->status != YK_OK)
        return;

    yk_scope_function *functions =
        yk_resolver_take(r, ((size_t)node->count + 1) * sizeof *functions);
    if (!functions)
        return;

    int count = 0;
    for (yk_node *item = node->first; item; item = item->next) {
        const char *name = yk_node_name(item);
        if (!name)
            continue;

        const char *reason = yk_expression_reserved(name);
        for (int i = 0; i < r->scope.parameter_count && !reason; i++)
            if (strcmp(r->scope.parameters[i].name, name) == 0)
                reason = "is a parameter";
        if (strcmp(name, "t") == 0)
            reason = "is time";
        if (reason) {
            yk_node_key_error(r->diagnostics, item, "cannot be a table's name: '%.60s' %s", name,
                              reason);
            node->valid = false;
            continue;
        }

        /* A table with errors is a function all the same, so that its calls are not errors too. */
        yk_lookup *lookup = yk_resolver_take(r, sizeof *lookup);
        if (!lookup)
            return;
        static const double zero = 0;
        if (!item->valid || !make_lookup(r, item, lookup)) {
            *lookup = (yk_lookup){.count = 1, .arguments = &zero, .values = &zero};
            lookup->second = &zero;
            lookup->second_count = 1;
            node->valid = false;
        }

        bool two = has_two_arguments(item);
        functions[count++] = (yk_scope_function){
            .name = name,
            .arguments = two ? 2 : 1,
            .call = {two ? YK_OPERATION_TABLE_2 : YK_OPERATION_TABLE_1, .table = lookup}};
    }

    r->scope.functions = functions;
    r->scope.function_count = count;
}
