#include "base/unit.h"

#include <stdio.h>
#include <string.h>

/* Dimensions ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    yk_dimension dimension; /* known, length, mass, time, angle, cycle */
} names[] = {
    {"1", {true, 0, 0, 0, 0, 0}},   {"m", {true, 1, 0, 0, 0, 0}},   {"kg", {true, 0, 1, 0, 0, 0}},
    {"s", {true, 0, 0, 1, 0, 0}},   {"rad", {true, 0, 0, 0, 1, 0}}, {"N", {true, 1, 1, -2, 0, 0}},
    {"J", {true, 2, 1, -2, 0, 0}},  {"W", {true, 2, 1, -3, 0, 0}},  {"Pa", {true, -1, 1, -2, 0, 0}},
    {"Hz", {true, 0, 0, -1, 0, 1}},
};

static const struct {
    const char *text;
    int exponent;
} superscripts[] = {{"²", 2}, {"³", 3}, {"⁴", 4}};

typedef struct unit_parser {
    const char *at, *end;
} unit_parser;

static const yk_dimension UNKNOWN = {.known = false};

static yk_dimension add_dimensions(yk_dimension a, yk_dimension b, int exponent)
{
    return (yk_dimension){
        .known = a.known && b.known,
        .length = a.length + exponent * b.length,
        .mass = a.mass + exponent * b.mass,
        .time = a.time + exponent * b.time,
        .angle = a.angle + exponent * b.angle,
        .cycle = a.cycle + exponent * b.cycle,
    };
}

static bool skip_character(unit_parser *p, char c)
{
    if (p->at == p->end || *p->at != c)
        return false;

    p->at++;
    return true;
}

/* The exponent after a name or a parenthesis; 1 if there is none. */
static int parse_exponent(unit_parser *p)
{
    for (size_t i = 0; i < sizeof superscripts / sizeof *superscripts; i++) {
        size_t length = strlen(superscripts[i].text);
        if ((size_t)(p->end - p->at) < length || memcmp(p->at, superscripts[i].text, length) != 0)
            continue;

        p->at += length;
        return superscripts[i].exponent;
    }

    skip_character(p, '^');
    int sign = skip_character(p, '-') ? -1 : 1;
    if (p->at == p->end || *p->at < '1' || *p->at > '9')
        return 1;
    return sign * (*p->at++ - '0');
}

static yk_dimension parse_product(unit_parser *p);

static yk_dimension parse_factor(unit_parser *p)
{
    yk_dimension base = UNKNOWN;
    if (skip_character(p, '(')) {
        base = parse_product(p);
        if (!skip_character(p, ')'))
            return UNKNOWN;
    } else if (skip_character(p, '1')) {
        return names[0].dimension;
    } else {
        const char *name = p->at;
        while (p->at < p->end &&
               ((*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z')))
            p->at++;

        size_t length = (size_t)(p->at - name);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0)
                base = names[i].dimension;
    }

    return add_dimensions((yk_dimension){.known = true}, base, parse_exponent(p));
}

static yk_dimension parse_product(unit_parser *p)
{
    yk_dimension product = parse_factor(p);
    while (product.known && p->at < p->end && *p->at != ')') {
        int exponent = 1;
        if (skip_character(p, '/'))
            exponent = -1;
        else if (!skip_character(p, ' ') && !skip_character(p, '.') && !skip_character(p, '*'))
            return UNKNOWN;

        product = add_dimensions(product, parse_factor(p), exponent);
    }

    return product;
}

static yk_dimension parse_unit(const char *unit, size_t length)
{
    unit_parser p = {unit, unit + length};
    if (length == 0)
        return names[0].dimension;

    yk_dimension dimension = parse_product(&p);
    if (p.at != p.end)
        return UNKNOWN;
    return dimension;
}

yk_dimension yk_unit_dimension(const char *unit)
{
    if (!unit)
        return names[0].dimension;
    return parse_unit(unit, strlen(unit));
}

static double integer_power(double base, int exponent)
{
    double power = 1;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
        power *= base;
    return exponent < 0 ? 1 / power : power;
}

double yk_unit_factor(const char *unit, double length, double mass)
{
    yk_dimension d = yk_unit_dimension(unit);
    if (!d.known)
        return 1;
    return integer_power(length, d.length) * integer_power(mass, d.mass);
}

/* Names ---------------------------------------------------------------------------------------- */

typedef struct unit_writer {
    yk_unit_name *name;
    size_t used;
    yk_unit_style style;
} unit_writer;

static void write_text(unit_writer *w, const char *text, size_t length)
{
    size_t room = sizeof w->name->text - 1 - w->used;
    if (length > room)
        length = room;

    memcpy(w->name->text + w->used, text, length);
    w->used += length;
    w->name->text[w->used] = '\0';
}

/* Writes the factors whose exponent has the given sign; returns their number. */
static int write_factors(unit_writer *w, const char *const names_of[4], const int exponents[4],
                         int sign)
{
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int exponent = sign * exponents[i];
        if (exponent <= 0)
            continue;

        char factor[YK_UNIT_TEXT];
        const char *separator = count == 0 ? "" : w->style == YK_UNIT_FMI ? "." : " ";
        const char *power = w->style == YK_UNIT_FMI ? "" : "^";
        int length = snprintf(factor, sizeof factor, "%s%s", separator, names_of[i]);
        if (exponent > 1)
            length = snprintf(factor, sizeof factor, "%s%s%s%d", separator, names_of[i], power,
                              exponent);
        write_text(w, factor, (size_t)length);
        count++;
    }

    return count;
}

static void write_dimension(unit_writer *w, yk_dimension d, const char *length, const char *mass)
{
    const char *const names_of[4] = {mass, length, "s", "rad"};
    const int exponents[4] = {d.mass, d.length, d.time, d.angle};
    int divisors = 0;
    for (int i = 0; i < 4; i++)
        divisors += exponents[i] < 0;

    if (write_factors(w, names_of, exponents, 1) == 0)
        write_text(w, "1", 1);
    if (divisors > 0)
        write_text(w, divisors > 1 ? "/(" : "/", divisors > 1 ? 2 : 1);
    write_factors(w, names_of, exponents, -1);
    if (divisors > 1)
        write_text(w, ")", 1);
}

static void write_unit(unit_writer *w, const char *unit, size_t unit_length, const char *length,
                       const char *mass)
{
    yk_dimension d = parse_unit(unit, unit_length);
    if (!d.known || (d.length == 0 && d.mass == 0)) {
        write_text(w, unit, unit_length);
        return;
    }

    write_dimension(w, d, length, mass);
}

yk_unit_name yk_unit_in(const char *unit, const char *length, const char *mass, yk_unit_style style)
{
    static const char *const separators[] = {", ", " or "};
    yk_unit_name name = {{0}};
    unit_writer w = {.name = &name, .style = style};

    while (*unit) {
        /* One alternative, up to the nearest separator. */
        size_t own = strlen(unit);
        size_t gap = 0;
        for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
            const char *next = strstr(unit, separators[i]);
            if (!next || (size_t)(next - unit) >= own)
                continue;

            own = (size_t)(next - unit);
            gap = strlen(separators[i]);
        }

        write_unit(&w, unit, own, length, mass);
        write_text(&w, unit + own, gap);
        unit += own + gap;
    }

    return name;
}

yk_unit_name yk_dimension_name(yk_dimension d)
{
    yk_unit_name name = {"1"};
    unit_writer w = {.name = &name, .style = YK_UNIT_PLAIN};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const yk_dimension *n = &names[i].dimension;
        bool same = n->length == d.length && n->mass == d.mass && n->time == d.time &&
                    n->angle == d.angle && n->cycle == d.cycle;
        if (!same)
            continue;

        write_text(&w, names[i].name, strlen(names[i].name));
        return name;
    }

    write_dimension(&w, d, "m", "kg");
    return name;
}
