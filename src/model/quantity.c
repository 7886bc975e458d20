#include "model/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const yk_quantity yk_quantity_number = {.certain = true, .dimension = {.known = true}};
const yk_quantity yk_quantity_plain = {.certain = false, .dimension = {.known = true}};
const yk_quantity yk_quantity_time = {
    .certain = true, .is_time = true, .dimension = {.known = true, .time = 1}};

yk_quantity yk_quantity_in(yk_dimension dimension)
{
    return (yk_quantity){.has_unit = true, .certain = true, .dimension = dimension};
}

static yk_dimension add_dimensions(yk_dimension a, yk_dimension b, int exponent)
{
    return (yk_dimension){
        .known = true,
        .length = a.length + exponent * b.length,
        .mass = a.mass + exponent * b.mass,
        .time = a.time + exponent * b.time,
        .angle = a.angle + exponent * b.angle,
        .cycle = a.cycle + exponent * b.cycle,
    };
}

yk_quantity yk_quantity_product(yk_quantity a, yk_quantity b, int exponent)
{
    /* 10*t may be 10 N/s times t, or 10 rad/s. */
    bool coefficient = a.is_time ? !b.has_unit && !b.is_time : b.is_time && !a.has_unit;
    if (a.is_time && b.is_time)
        coefficient = false;

    bool has_unit = a.has_unit || b.has_unit;
    yk_quantity product = {
        .has_unit = has_unit,
        .certain = a.certain && b.certain && !coefficient,
        .is_time = (a.is_time || b.is_time) && !has_unit && !coefficient,
        .is_mixed = a.is_mixed || b.is_mixed,
        .has_pi = a.has_pi || b.has_pi,
        .dimension = add_dimensions(a.dimension, b.dimension, exponent),
    };

    /* 2*pi*Hz is rad/s, and rad/s/(2*pi) is Hz. */
    yk_dimension *d = &product.dimension;
    if (product.has_pi && (d->cycle != 0 || (b.has_pi && exponent < 0 && d->angle != 0))) {
        d->cycle = d->angle = 0;
        product.has_pi = false;
    }

    return product;
}

/* d times the exponent, if that is whole. */
static bool multiply_exponent(int *d, double exponent)
{
    double product = *d * exponent;
    *d = (int)fmax(-1000, fmin(1000, round(product)));
    return product == *d;
}

yk_quantity yk_quantity_power(yk_quantity base, double exponent)
{
    yk_quantity power = base;
    yk_dimension *d = &power.dimension;
    bool whole = isfinite(exponent) && multiply_exponent(&d->length, exponent) &&
                 multiply_exponent(&d->mass, exponent) && multiply_exponent(&d->time, exponent);
    /* sqrt(J/kg m^2) has half a radian; angles and cycles are not checked then. */
    if (whole &&
        !(multiply_exponent(&d->angle, exponent) && multiply_exponent(&d->cycle, exponent)))
        d->angle = d->cycle = 0;
    if (whole)
        return power;

    power.dimension = (yk_dimension){.known = true};
    power.certain = false;
    power.is_time = false;
    power.is_mixed = power.is_mixed || power.has_unit;
    return power;
}

static bool same_dimension(yk_dimension a, yk_dimension b)
{
    /* Radians are pure numbers, except that they are not cycles: 1 Hz is not 1 rad/s. */
    bool cycles = a.cycle != b.cycle && (a.angle != 0 || b.angle != 0);
    return a.length == b.length && a.mass == b.mass && a.time == b.time && !cycles;
}

bool yk_quantity_agree(yk_quantity a, yk_quantity b)
{
    /* Next to quantities, time is a quantity; next to plain numbers, it is a plain number. */
    bool checked = a.certain && b.certain && (a.has_unit || a.is_time) &&
                   (b.has_unit || b.is_time) && (a.has_unit || b.has_unit);
    return !checked || same_dimension(a.dimension, b.dimension);
}

yk_quantity yk_quantity_sum(yk_quantity a, bool a_zero, yk_quantity b, bool b_zero)
{
    if (a_zero)
        return b;
    if (b_zero)
        return a;

    /* The quantity of the operand with a unit; a plain one has to be in SI. */
    yk_quantity sum = b.has_unit && !(a.has_unit && a.certain) ? b : a;
    bool both = a.has_unit && b.has_unit;
    bool differ = both && !same_dimension(a.dimension, b.dimension);
    sum.has_pi = false;
    if (!a.has_unit && !b.has_unit) {
        sum.is_time = a.is_time && b.is_time;
        sum.certain = a.certain && b.certain && a.is_time == b.is_time;
        if (!sum.certain)
            sum.dimension = (yk_dimension){.known = true};
        return sum;
    }

    sum.certain = (a.has_unit && a.certain) || (b.has_unit && b.certain);
    sum.is_time = false;
    sum.is_mixed = a.is_mixed || b.is_mixed || differ || (!both && !(a.is_time || b.is_time));
    return sum;
}

bool yk_quantity_is_pure(yk_quantity q)
{
    return !q.has_unit || !q.certain ||
           (q.dimension.length == 0 && q.dimension.mass == 0 && q.dimension.time == 0 &&
            q.dimension.cycle == 0);
}

/* Keys ----------------------------------------------------------------------------------------- */

/* Calls `fits` with the dimension of each alternative of a key's unit; false if none fits. Units
 * that are no quantities are pure numbers. */
static bool any_alternative(const char *unit, bool (*fits)(yk_dimension of_key, yk_quantity q),
                            yk_quantity q)
{
    while (unit && *unit) {
        const char *comma = strstr(unit, ", ");
        const char * or = strstr(unit, " or ");
        const char *end = comma;
        if (!end || (or && or < end))
            end = or ;

        char one[YK_UNIT_TEXT];
        size_t length = end ? (size_t)(end - unit) : strlen(unit);
        snprintf(one, sizeof one, "%.*s", (int)length, unit);
        yk_dimension of_key = yk_unit_dimension(one);
        if (!of_key.known)
            of_key = (yk_dimension){.known = true};
        if (fits(of_key, q))
            return true;
        if (!end)
            return false;

        unit = end + (end == comma ? strlen(", ") : strlen(" or "));
    }

    return !unit && fits((yk_dimension){.known = true}, q);
}

static bool is_same(yk_dimension of_key, yk_quantity q)
{
    return same_dimension(of_key, q.dimension);
}

/* Whether own units of a subsystem change both by the same factor. */
static bool has_same_factor(yk_dimension of_key, yk_quantity q)
{
    return of_key.length == q.dimension.length && of_key.mass == q.dimension.mass;
}

static double power_of(double base, int exponent)
{
    double power = 1;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
        power *= base;
    return exponent < 0 ? 1 / power : power;
}

bool yk_quantity_fits(yk_quantity q, const char *unit, double length, double mass, double *factor,
                      char message[YK_QUANTITY_MESSAGE])
{
    *factor = 1;
    if (!q.has_unit)
        return true;

    /* An angle is a pure number only where a unit is expected. */
    bool misfit = q.certain && !any_alternative(unit, is_same, q);
    if (misfit || (q.certain && !unit && q.dimension.angle != 0)) {
        const char *remedy = "";
        if (q.dimension.cycle != 0 && unit && strstr(unit, "rad"))
            remedy = "; 1 Hz is 2*pi rad/s, or 60 rpm";
        yk_format(message, YK_QUANTITY_MESSAGE, "the value is in %s, which cannot be converted%s",
                  yk_dimension_name(q.dimension).text, remedy);
        return false;
    }

    if (length == 0)
        return true;

    /* Plain numbers are in the units of the subsystem there, quantities in SI. */
    yk_dimension d = q.dimension;
    if (q.is_mixed || (!q.certain && !any_alternative(unit, has_same_factor, q))) {
        yk_format(message, YK_QUANTITY_MESSAGE,
                  "the subsystem has units of its own, so that numbers with and without a unit "
                  "cannot be combined; give all of them a unit, or none");
        return false;
    }

    *factor = 1 / (power_of(length, d.length) * power_of(mass, d.mass));
    return true;
}
