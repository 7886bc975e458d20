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

#endif
