/* Functions of time given by points, with straight lines between them. */
#ifndef YK_MATH_TABLE_H
#define YK_MATH_TABLE_H

/* Times rise; two points at one time are a jump, whose second value counts from then on. Before
 * the first point and after the last the value stays. */
typedef struct yk_table {
    int count; /* at least 1 */
    const double *time, *value;
} yk_table;

double yk_table_value(const yk_table *table, double t);
/* The first point after t; infinity after the last. */
double yk_table_next_point(const yk_table *table, double t);

#endif
