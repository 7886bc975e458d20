#include "math/table.h"

#include <math.h>

double yk_table_value(const yk_table *table, double t)
{
    int low = 0;
    int high = table->count - 1;

    /* Constant outside. */
    if (t < table->time[low])
        return table->value[low];
    if (t >= table->time[high])
        return table->value[high];

    /* The two points around t. */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (t >= table->time[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }

    double fraction = (t - table->time[low]) / (table->time[high] - table->time[low]);
    return table->value[low] + fraction * (table->value[high] - table->value[low]);
}

double yk_table_next_point(const yk_table *table, double t)
{
    /* The first point after t is one of low to high, the last being none. */
    int low = 0;
    int high = table->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (table->time[middle] > t) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }

    return low < table->count ? table->time[low] : INFINITY;
}
