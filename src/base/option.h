/* Functions for readers and writers of option rows: search, ranges, defaults and members. */
#ifndef YK_BASE_OPTION_H
#define YK_BASE_OPTION_H

#include "yoke/option.h"

/* The row with that key, also among included rows; NULL: none. */
const yk_option *yk_option_find(const yk_option *rows, const char *key);

/* Number of the choices of a row. */
int yk_option_choice_count(const yk_option *row);

/* Whether a number satisfies the bounds. */
bool yk_range_contains(const yk_range *range, double value);

/* The number that a text means for a row: a number, a whole number, true or false, or the index of a choice. False: it
 * means none. Expressions of parameters are not read. */
bool yk_option_parse(const yk_option *row, const char *text, double *value);

/* The value of a member of kind number, integer, boolean, choice, form or variant. False: the member is of another kind. */
bool yk_option_get_number(const yk_option *row, const void *def, double *value);
void yk_option_set_number(const yk_option *row, void *def, double value);

/* Writes the values of a row of kind numbers with a fixed count, of that length, into its member. */
void yk_option_set_array(const yk_option *row, void *def, const double *values);

/* Writes the defaults of all rows that name a member, in SI units. Rows of included sections, of sections with a default
 * and of the default variant are part of the same struct. Members without a default keep their values. */
void yk_option_set_defaults(const yk_option *rows, void *def);

#endif
