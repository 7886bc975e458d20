/* Knowledge about the unit of an expression's value.
 *
 * Plain numbers of every quantity are in SI, so an expression is checked only where units
 * are written: "5 mm + 3 s" is an error, "5 mm + 0.002" is not. */
#ifndef YK_MODEL_QUANTITY_H
#define YK_MODEL_QUANTITY_H

#include <stddef.h>

#include "base/unit.h"

typedef struct yk_quantity {
    bool has_unit; /* a unit took part; otherwise the value is a plain number */
    /* The dimension is certain. It is not if a plain factor took part that may have a unit: a
     * parameter, or a coefficient of time. The dimension is then that of the other factors. */
    bool certain;
    bool is_time;  /* time or a power of it: a plain coefficient of it may have any unit */
    bool is_mixed; /* a plain number or parameter was added to a quantity */
    bool has_pi;   /* pi is a factor: 2*pi*50 Hz is in rad/s */
    yk_dimension dimension;
} yk_quantity;

extern const yk_quantity yk_quantity_number; /* a plain number in an expression */
extern const yk_quantity yk_quantity_plain;  /* a parameter or variable without a unit */
extern const yk_quantity yk_quantity_time;
yk_quantity yk_quantity_in(yk_dimension dimension);

/* exponent 1: product, -1: quotient. */
yk_quantity yk_quantity_product(yk_quantity a, yk_quantity b, int exponent);
/* The root of 2 has the exponent 0.5. A power without a unit of whole exponents is not certain. */
yk_quantity yk_quantity_power(yk_quantity base, double exponent);
/* The quantity of a sum, a comparison, or alternatives. `a_zero`: a is the number 0, which has any unit. */
yk_quantity yk_quantity_sum(yk_quantity a, bool a_zero, yk_quantity b, bool b_zero);
/* Whether two quantities can be added. */
bool yk_quantity_agree(yk_quantity a, yk_quantity b);
/* Whether it can be the argument of a function of pure numbers or angles. */
bool yk_quantity_is_pure(yk_quantity q);

enum { YK_QUANTITY_MESSAGE = 256 };

/* Checks a value for a key with this unit, which may name alternatives: "N/m, N m/rad"; NULL: none.
 * Sets the factor from the value to the number that the key takes, in a system of units with this
 * length and mass (0: SI). False: it does not fit, for the reason in the message. */
bool yk_quantity_fits(yk_quantity q, const char *unit, double length, double mass, double *factor,
                      char message[YK_QUANTITY_MESSAGE]);

#endif
