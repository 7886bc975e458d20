/* Units as text: their dimension, and their size and name in a system of units that has another
 * length and mass than SI.
 *
 * A unit is a product of names, "N m s/rad", "m^3/s" or "m³/(s Pa)". Factors are separated by a
 * space, '.' or '*'; '/' divides by the next factor or by a product in parentheses. Exponents are
 * digits, with or without '^' ("m/s^2", "m/s2"), or superscripts. */
#ifndef YK_BASE_UNIT_H
#define YK_BASE_UNIT_H

#include <stdbool.h>
#include <stddef.h>

/* Exponents of the base units. */
typedef struct yk_dimension {
    /* False if a factor is not one of m, kg, s, rad, N, J, W, Pa and Hz: "mm" and "bar" say
     * themselves what a number is in, whatever system of units it comes from. */
    bool known;
    int length, mass, time, angle;
    int cycle; /* exponent of "per cycle": 1/s is no frequency in Hz, and 2 pi Hz is 1 rad/s */
} yk_dimension;

/* NULL is a pure number. */
yk_dimension yk_unit_dimension(const char *unit);

/* The factor from a number in a system of units to the given SI unit. `length`
 * and `mass` are the base units of the system (m, kg). 1 if the dimension is not known. */
double yk_unit_factor(const char *unit, double length, double mass);

/* How a unit is written: "g mm/s^2" in records, "g.mm/s2" in FMUs. */
typedef enum yk_unit_style { YK_UNIT_PLAIN, YK_UNIT_FMI } yk_unit_style;

enum { YK_UNIT_TEXT = 64 };
typedef struct yk_unit_name {
    char text[YK_UNIT_TEXT];
} yk_unit_name;

/* The unit that takes the place of the given SI unit if lengths and masses are in the units with
 * these names: "g mm/s^2" for "N". Alternatives, "N/m, N m/rad", are translated one by one. A unit
 * without length and mass, or of unknown dimension, stays as it is. */
yk_unit_name yk_unit_in(const char *unit, const char *length, const char *mass,
                        yk_unit_style style);

/* The dimension in base units, or as N, J, W or Pa if it is one of these: "kg/m^3". "1" for a pure
 * number. */
yk_unit_name yk_dimension_name(yk_dimension dimension);

/* Units as people write them ------------------------------------------------------------------- */

/* "mm", "kN/m", "rpm", "°": a number in the unit times numerator / denominator is the number in SI.
 * Both are exact for decimal units, so that 5 mm is the same double as 0.005. */
typedef struct yk_unit {
    double numerator, denominator;
    yk_dimension dimension;
} yk_unit;

/* Reads the longest unit at the start of the text; returns its length, 0 if there is none. A name
 * for which `is_taken` returns true is not a unit (NULL: all are units). (unit_read.c) */
size_t yk_unit_read(const char *text,
                    bool (*is_taken)(const void *user, const char *name, size_t length),
                    const void *user, yk_unit *unit);
/* Names of common units, for suggestions; ended by NULL. */
const char *const *yk_unit_words(void);

#endif
