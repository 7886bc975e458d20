/* Units as people write them after a number: with prefixes, degrees, and units outside SI. */
#include <string.h>

#include "base/unit.h"

static const double PI = 3.14159265358979323846;

typedef struct unit_row {
    const char *name;
    bool takes_prefix;
    double numerator, denominator;
    yk_dimension dimension; /* known, length, mass, time, angle, cycle */
} unit_row;

/* The kilogram is 1000 g, so that every mass has a prefix of the gram. Degrees have the factor of
 * the function rad(). */
static const unit_row rows[] = {
    {"m", true, 1, 1, {true, 1, 0, 0, 0, 0}},
    {"g", true, 1, 1000, {true, 0, 1, 0, 0, 0}},
    {"s", true, 1, 1, {true, 0, 0, 1, 0, 0}},
    {"rad", true, 1, 1, {true, 0, 0, 0, 1, 0}},
    {"N", true, 1, 1, {true, 1, 1, -2, 0, 0}},
    {"J", true, 1, 1, {true, 2, 1, -2, 0, 0}},
    {"W", true, 1, 1, {true, 2, 1, -3, 0, 0}},
    {"Pa", true, 1, 1, {true, -1, 1, -2, 0, 0}},
    {"Hz", true, 1, 1, {true, 0, 0, -1, 0, 1}},
    {"bar", true, 100000, 1, {true, -1, 1, -2, 0, 0}},
    {"l", true, 1, 1000, {true, 3, 0, 0, 0, 0}},
    {"L", true, 1, 1000, {true, 3, 0, 0, 0, 0}},
    {"t", false, 1000, 1, {true, 0, 1, 0, 0, 0}},
    {"min", false, 60, 1, {true, 0, 0, 1, 0, 0}},
    {"h", false, 3600, 1, {true, 0, 0, 1, 0, 0}},
    {"deg", false, PI / 180, 1, {true, 0, 0, 0, 1, 0}},
    {"°", false, PI / 180, 1, {true, 0, 0, 0, 1, 0}},
    {"rev", false, 2 * PI, 1, {true, 0, 0, 0, 1, 0}},
    {"rpm", false, PI / 30, 1, {true, 0, 0, -1, 1, 0}},
    {"in", false, 254, 10000, {true, 1, 0, 0, 0, 0}},
    {"ft", false, 3048, 10000, {true, 1, 0, 0, 0, 0}},
    {"lb", false, 45359237, 100000000, {true, 0, 1, 0, 0, 0}},
    {"lbf", false, 4.4482216152605, 1, {true, 1, 1, -2, 0, 0}},
    {"psi", false, 4.4482216152605, 0.00064516, {true, -1, 1, -2, 0, 0}},
    {"mph", false, 44704, 100000, {true, 1, 0, -1, 0, 0}},
    {"%", false, 1, 100, {true, 0, 0, 0, 0, 0}},
};

static const struct {
    const char *name;
    double numerator, denominator;
} prefixes[] = {
    {"", 1, 1},    {"n", 1, 1e9}, {"µ", 1, 1e6}, {"μ", 1, 1e6}, {"u", 1, 1e6}, {"m", 1, 1e3},
    {"c", 1, 100}, {"d", 1, 10},  {"k", 1e3, 1}, {"M", 1e6, 1}, {"G", 1e9, 1},
};

static const char *const words[] = {"m",   "mm",  "km",   "kg",  "g",     "s",   "ms", "rad", "deg",
                                    "rpm", "Hz",  "N",    "kN",  "J",     "W",   "kW", "Pa",  "MPa",
                                    "GPa", "bar", "l",    "min", "h",     "in",  "ft", "lb",  "lbf",
                                    "psi", "mph", "km/h", "m/s", "rad/s", "N m", "%",  NULL};

const char *const *yk_unit_words(void)
{
    return words;
}

typedef struct reader {
    const char *at;
    bool (*is_taken)(const void *user, const char *name, size_t length);
    const void *user;
    yk_unit *unit;
} reader;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Bytes outside ASCII belong to the name: "µm", "°"; superscripts do not. */
static bool is_superscript(const char *at)
{
    return strncmp(at, "²", 2) == 0 || strncmp(at, "³", 2) == 0 || strncmp(at, "⁻", 3) == 0;
}

static size_t name_length(const char *at)
{
    if (*at == '%')
        return 1;

    size_t length = 0;
    while (is_letter(at[length]) || ((at[length] & 0x80) && !is_superscript(at + length) &&
                                     strncmp(at + length, "·", 2) != 0))
        length++;
    return length;
}

static bool has_name(const char *name, size_t length, const char *prefix, const char *unit)
{
    size_t before = strlen(prefix);
    return length == before + strlen(unit) && strncmp(name, prefix, before) == 0 &&
           strncmp(name + before, unit, length - before) == 0;
}

/* A name without its exponent; plain names come before those with a prefix: "min", "cd". */
static bool find_unit(const char *name, size_t length, yk_unit *unit)
{
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const unit_row *row = &rows[i];
            if ((p > 0 && !row->takes_prefix) ||
                !has_name(name, length, prefixes[p].name, row->name))
                continue;

            *unit = (yk_unit){prefixes[p].numerator * row->numerator,
                              prefixes[p].denominator * row->denominator, row->dimension};
            return true;
        }
    }

    return false;
}

/* "^2", "^-2", "2", "²", "⁻²"; 1 if there is none. */
static int read_exponent(const char **at)
{
    static const struct {
        const char *text;
        int exponent;
    } superscripts[] = {{"²", 2}, {"³", 3}, {"⁴", 4}, {"⁻¹", -1}, {"⁻²", -2}, {"⁻³", -3}};
    for (size_t i = 0; i < sizeof superscripts / sizeof *superscripts; i++) {
        size_t length = strlen(superscripts[i].text);
        if (strncmp(*at, superscripts[i].text, length) != 0)
            continue;

        *at += length;
        return superscripts[i].exponent;
    }

    const char *digit = *at + (**at == '^');
    int sign = 1;
    if (**at == '^' && *digit == '-') {
        sign = -1;
        digit++;
    }

    /* "5 m2" has an exponent, "5 m^12" and "5 m2x" have none that a unit can have. */
    bool single = *digit >= '1' && *digit <= '9' && !is_letter(digit[1]) &&
                  !(digit[1] >= '0' && digit[1] <= '9') && digit[1] != '.';
    if (!single)
        return 1;

    *at = digit + 1;
    return sign * (*digit - '0');
}

static void multiply(yk_unit *unit, const yk_unit *factor, int exponent)
{
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++) {
        unit->numerator *= exponent > 0 ? factor->numerator : factor->denominator;
        unit->denominator *= exponent > 0 ? factor->denominator : factor->numerator;
    }

    yk_dimension *d = &unit->dimension;
    d->length += exponent * factor->dimension.length;
    d->mass += exponent * factor->dimension.mass;
    d->time += exponent * factor->dimension.time;
    d->angle += exponent * factor->dimension.angle;
    d->cycle += exponent * factor->dimension.cycle;
}

/* One name with its exponent. A call such as min(...) is not a unit. */
static bool read_factor(reader *r, int exponent)
{
    const char *at = r->at;
    size_t length = name_length(at);
    yk_unit factor;
    if (length == 0 || (r->is_taken && r->is_taken(r->user, at, length)) ||
        !find_unit(at, length, &factor))
        return false;

    at += length;
    int power = read_exponent(&at);
    bool longer = is_letter(*at) || (*at >= '0' && *at <= '9');
    if (longer || at[strspn(at, " ")] == '(')
        return false;

    multiply(r->unit, &factor, exponent * power);
    r->at = at;
    return true;
}

/* Factors separated by spaces or '·'. */
static bool read_product(reader *r, int exponent)
{
    if (!read_factor(r, exponent))
        return false;

    for (;;) {
        const char *before = r->at;
        r->at += strspn(r->at, " ");
        if (strncmp(r->at, "·", 2) == 0)
            r->at += strlen("·");
        if (r->at == before || !read_factor(r, exponent)) {
            r->at = before;
            return true;
        }
    }
}

/* "/s", or "/(m s)". */
static bool read_divisor(reader *r)
{
    r->at += strspn(r->at, " ");
    if (*r->at != '/')
        return false;

    r->at++;
    r->at += strspn(r->at, " ");
    if (*r->at != '(')
        return read_factor(r, -1);

    r->at++;
    if (!read_product(r, -1) || *r->at != ')')
        return false;

    r->at++;
    return true;
}

size_t yk_unit_read(const char *text,
                    bool (*is_taken)(const void *user, const char *name, size_t length),
                    const void *user, yk_unit *unit)
{
    *unit = (yk_unit){1, 1, {.known = true}};
    reader r = {.at = text, .is_taken = is_taken, .user = user, .unit = unit};

    /* "1/s" begins with its divisor. */
    bool inverse = text[0] == '1' && text[1] == '/';
    if (inverse)
        r.at++;
    else if (!read_product(&r, 1))
        return 0;

    const char *end = inverse ? text : r.at;
    yk_unit complete = *unit;
    while (read_divisor(&r)) {
        end = r.at;
        complete = *unit;
    }

    *unit = complete;
    return (size_t)(end - text);
}
