#include "analysis/run_difference.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ALIGNED_MAX = 8 };

yk_status yk_align_common(yk_context *context, const yk_record *const *records, int count,
                          yk_aligned *a)
{
    assert(count <= ALIGNED_MAX);
    const yk_record_header *header = yk_record_get_header(records[0]);
    size_t rows = yk_record_row_count(records[0]);
    *a = (yk_aligned){.runs = count, .width = yk_record_width(header)};
    size_t columns = (size_t)count * (size_t)a->width;
    a->columns = yk_allocate(context, columns + 1, sizeof *a->columns);
    a->values = yk_allocate(context, columns * rows + 1, sizeof *a->values);
    a->time = yk_allocate(context, rows + 1, sizeof *a->time);
    if (!a->columns || !a->values || !a->time)
        return YK_ERROR_MEMORY;
    for (size_t i = 0; i < columns; i++)
        a->columns[i] = a->values + i * rows;

    const double *t = yk_record_times(records[0]);
    double grid = rows > 1 ? t[1] - t[0] : 1;
    size_t at[ALIGNED_MAX] = {0};
    for (size_t row = 0; row < rows; row++) {
        bool common = true;
        at[0] = row;
        for (int r = 1; r < count; r++) {
            const double *u = yk_record_times(records[r]);
            size_t others = yk_record_row_count(records[r]);
            while (at[r] < others && u[at[r]] < t[row] - 1e-6 * grid)
                at[r]++;
            common = common && at[r] < others && fabs(u[at[r]] - t[row]) <= 1e-6 * grid;
        }
        if (!common)
            continue;

        for (int r = 0; r < count; r++) {
            int column = 0;
            for (int c = 0; c < header->channel_count; c++) {
                int components = header->channels[c].component_count;
                double product = 0;
                for (int k = 0; k < components; k++) {
                    double value = yk_record_column(records[r], c, k)[at[r]];
                    a->columns[r * a->width + column + k][a->rows] = value;
                    product += value * a->columns[column + k][a->rows];
                }

                /* A quaternion and its negative are one rotation. */
                const char *dot = strrchr(header->channels[c].name, '.');
                bool flip = r > 0 && components == 4 && dot && product < 0 &&
                            strcmp(dot, ".orientation") == 0;
                for (int k = 0; flip && k < components; k++)
                    a->columns[r * a->width + column + k][a->rows] *= -1;
                column += components;
            }
        }
        a->time[a->rows++] = t[row];
    }

    return YK_OK;
}

double yk_largest_difference(const yk_aligned *a, int first, int components, int i, int j)
{
    double largest = 0;
    for (int c = first; c < first + components; c++)
        for (size_t row = 0; row < a->rows; row++) {
            double d = fabs(a->columns[i * a->width + c][row] - a->columns[j * a->width + c][row]);
            if (!(d <= largest))
                largest = d;
        }
    return largest;
}

double yk_mean_difference(const yk_aligned *a, int first, int components, int i, int j)
{
    double sum = 0;
    for (int c = first; c < first + components; c++)
        for (size_t row = 0; row < a->rows; row++)
            sum += fabs(a->columns[i * a->width + c][row] - a->columns[j * a->width + c][row]);
    return sum;
}

double yk_statistics_difference(const yk_aligned *a, int first, int components, int i, int j,
                                bool with_rms)
{
    double largest = 0;
    for (int c = first; c < first + components; c++) {
        double mean[2] = {0};
        double square[2] = {0};
        const int runs[2] = {i, j};
        for (int k = 0; k < 2; k++) {
            const double *column = a->columns[runs[k] * a->width + c];
            for (size_t row = 0; row < a->rows; row++)
                mean[k] += column[row] / (double)a->rows;
            for (size_t row = 0; row < a->rows; row++)
                square[k] += (column[row] - mean[k]) * (column[row] - mean[k]) / (double)a->rows;
        }
        largest = fmax(largest, fabs(mean[0] - mean[1]));
        if (with_rms)
            largest = fmax(largest, fabs(sqrt(square[0]) - sqrt(square[1])));
    }
    return largest;
}

double yk_hidden_motion(const double *times, const double *values, size_t count,
                        const yk_aligned *a, int column)
{
    const double *known = a->columns[column];
    double largest = 0;
    size_t right = 1;
    for (size_t row = 0; row < count && right < a->rows; row++) {
        while (right + 1 < a->rows && a->time[right] < times[row])
            right++;
        double begin = a->time[right - 1];
        double part = (times[row] - begin) / (a->time[right] - begin);
        double line = known[right - 1] + part * (known[right] - known[right - 1]);
        if (part >= 0 && part <= 1)
            largest = fmax(largest, fabs(values[row] - line));
    }

    return largest;
}

double yk_time_of_difference(const yk_aligned *a, int first, int components, int i, int j,
                             double limit)
{
    for (size_t row = 0; row < a->rows; row++)
        for (int c = first; c < first + components; c++)
            if (!(fabs(a->columns[i * a->width + c][row] - a->columns[j * a->width + c][row]) <=
                  limit))
                return a->time[row];
    return INFINITY;
}

double yk_order_of_differences(double a, double b, double c, double ratio)
{
    double low = 0.25;
    double high = 8;
    for (int i = 0; i < 40; i++) {
        double p = 0.5 * (low + high);
        if ((pow(c, p) - pow(b, p)) / (pow(b, p) - pow(a, p)) < ratio)
            low = p;
        else
            high = p;
    }
    return 0.5 * (low + high);
}

double yk_error_by_difference(double factor, double order, const double factors[3], double fine,
                              double coarse)
{
    double power = 1 / fabs(pow(factor, order) - 1);
    if (!(order > 1 && order < 2) || factor < 4)
        return power;

    double a = factors[0];
    double b = factors[1];
    double c = factors[2];
    double determinant = (b - a) * (c * c - b * b) - (c - b) * (b * b - a * a);
    double first = (fine * (c * c - b * b) - coarse * (b * b - a * a)) / determinant;
    double second = (coarse * (b - a) - fine * (c - b)) / determinant;
    return (first + second) / (first * (factor - 1) + second * (factor * factor - 1));
}
