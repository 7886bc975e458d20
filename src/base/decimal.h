/* Conversion of numbers to the shortest decimal text that gives the same bits, and back. Several times faster than
 * printf and strtod, and independent of the locale. */
#ifndef YK_BASE_DECIMAL_H
#define YK_BASE_DECIMAL_H

#include <stddef.h>

/* Longest text, with the terminator: "-2.2250738585072014e-308". */
enum { YK_DECIMAL_BYTES = 26 };

/* Writes a number as the shortest text that reads back to the same bits; returns its length. Infinities and
 * NaN as printf does. */
size_t yk_decimal_write(double value, char text[YK_DECIMAL_BYTES]);

/* The number at the start of a text; *end is the first character after it, or `text` if there is no number. As strtod() in
 * the locale C, without white space before the number. */
double yk_decimal_read(const char *text, char **end);

#endif
