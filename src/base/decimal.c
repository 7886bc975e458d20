/* Writing: Schubfach (Giulietti 2020): the interval of decimals that round to the number, in integers of 128 bits.
 * Reading: the product of the digits with a power of ten in 128 bits (Lemire 2021), and strtod() in the rare cases that it
 * cannot decide.
 *
 * Both use the same table of the powers of ten to 128 bits, which is computed on first use. */
#include "base/decimal.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

__extension__ typedef unsigned __int128 wide;

enum { POWER_MIN = -326, POWER_MAX = 326, POWER_COUNT = POWER_MAX - POWER_MIN + 1 };

/* 10^k = (high 2^64 + low) 2^e, rounded up, with the highest bit set. `exact`: without rounding. */
typedef struct power {
    uint64_t high, low;
    bool exact;
} power;

static power powers[POWER_COUNT];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

/* The table ------------------------------------------------------------------------------------ */

/* A large integer, least significant word first. */
enum { WORDS = 30 };
typedef struct integer {
    uint32_t word[WORDS];
} integer;

static void multiply(integer *a, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (uint64_t)a->word[i] * factor;
        a->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static int bit_length(const integer *a)
{
    for (int i = WORDS - 1; i >= 0; i--)
        if (a->word[i])
            return 32 * i + 32 - __builtin_clz(a->word[i]);
    return 0;
}

static bool bit_of(const integer *a, int bit)
{
    return a->word[bit / 32] >> (bit % 32) & 1;
}

static int compare(const integer *a, const integer *b)
{
    for (int i = WORDS - 1; i >= 0; i--)
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

static void subtract(integer *a, const integer *b)
{
    int64_t borrow = 0;
    for (int i = 0; i < WORDS; i++) {
        borrow += (int64_t)a->word[i] - b->word[i];
        a->word[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
}

static void set_power(int k, wide value, bool exact)
{
    if (!exact)
        value++;
    powers[k - POWER_MIN] = (power){(uint64_t)(value >> 64), (uint64_t)value, exact};
}

/* The 128 highest bits of an integer. */
static void set_leading_bits(int k, const integer *a)
{
    int length = bit_length(a);
    wide value = 0;
    for (int i = 0; i < 128; i++)
        value = value << 1 | (length - 1 - i >= 0 && bit_of(a, length - 1 - i));

    bool exact = true;
    for (int i = 0; i < length - 128; i++)
        exact = exact && !bit_of(a, i);
    set_power(k, value, exact);
}

/* The 128 highest bits of 1 / a, by long division. */
static void set_reciprocal(int k, const integer *a)
{
    /* Begin with the highest power of two below a, which is less than a itself. */
    integer rest = {{0}};
    int top = bit_length(a) - 1;
    rest.word[top / 32] = (uint32_t)1 << (top % 32);
    wide value = 0;
    for (int i = 0; i < 128; i++) {
        multiply(&rest, 2);
        value <<= 1;
        if (compare(&rest, a) >= 0) {
            subtract(&rest, a);
            value |= 1;
        }
    }

    set_power(k, value, false);
}

/* Powers of five; the factor of two is the exponent. */
static void fill_powers(void)
{
    integer five = {{1}};
    for (int k = 0; k <= POWER_MAX; k++) {
        set_leading_bits(k, &five);
        if (k > 0)
            set_reciprocal(-k, &five);
        multiply(&five, 5);
    }
}

static const power *power_of(int k)
{
    return &powers[k - POWER_MIN];
}

/* Writing -------------------------------------------------------------------------------------- */

typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* floor(log2(10^k)). */
static int log2_of_power(int k)
{
    return (int)(((int64_t)k * 1741647) >> 19);
}

/* The product of a power and a number, rounded to odd. */
static uint64_t round_to_odd(const power *g, uint64_t factor)
{
    wide low = (wide)g->low * factor;
    wide high = (wide)g->high * factor + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* The shortest decimal in the rounding interval of a positive number; of several, the nearest. */
static decimal shortest(uint64_t fraction, int biased)
{
    uint64_t c = fraction;
    int q = 1 - 1075;
    if (biased != 0) {
        c = fraction | (uint64_t)1 << 52;
        q = biased - 1075;
        if (q <= 0 && q > -53 && (c & (((uint64_t)1 << -q) - 1)) == 0)
            return (decimal){c >> -q, 0};
    }

    /* The interval is shorter below a power of two. */
    bool even = c % 2 == 0;
    bool closer = fraction == 0 && biased > 1;
    int k = (int)(((int64_t)q * 1262611 - (closer ? 524031 : 0)) >> 22);
    int h = q + log2_of_power(-k) + 1;
    const power *g = power_of(-k);
    uint64_t lower = round_to_odd(g, (4 * c - 2 + closer) << h) + !even;
    uint64_t middle = round_to_odd(g, (4 * c) << h);
    uint64_t upper = round_to_odd(g, (4 * c + 2) << h) - !even;

    /* One digit less. */
    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t shorter = s / 10;
        bool below = lower <= 40 * shorter;
        bool above = 40 * shorter + 40 <= upper;
        if (below != above)
            return (decimal){shorter + above, k + 1};
    }

    bool below = lower <= 4 * s;
    bool above = 4 * s + 4 <= upper;
    if (below != above)
        return (decimal){s + above, k};

    uint64_t half = 4 * s + 2;
    bool up = middle > half || (middle == half && (s & 1));
    return (decimal){s + up, k};
}

static size_t write_digits(uint64_t digits, char text[20])
{
    char reversed[20];
    size_t count = 0;
    do {
        reversed[count++] = (char)('0' + digits % 10);
        digits /= 10;
    } while (digits > 0);
    for (size_t i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    return count;
}

size_t yk_decimal_write(double value, char text[YK_DECIMAL_BYTES])
{
    if (!isfinite(value))
        return (size_t)yk_format(text, YK_DECIMAL_BYTES, "%g", value);

    pthread_once(&powers_once, fill_powers);
    char *to = text;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (bits >> 63)
        *to++ = '-';
    bits &= ~((uint64_t)1 << 63);
    if (bits == 0) {
        memcpy(to, "0", 2);
        return (size_t)(to + 1 - text);
    }

    decimal d = shortest(bits & (((uint64_t)1 << 52) - 1), (int)(bits >> 52));
    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }

    /* The same rule as %.17g: exponents below -4 and from 17 on are written with an 'e'. */
    char digits[20];
    int count = (int)write_digits(d.digits, digits);
    int exponent = d.exponent + count - 1;
    if (exponent >= -4 && exponent < 17) {
        int point = exponent + 1;
        if (point <= 0) {
            *to++ = '0';
            *to++ = '.';
            for (int i = point; i < 0; i++)
                *to++ = '0';
        }
        for (int i = 0; i < count || i < point; i++) {
            if (i == point && i > 0)
                *to++ = '.';
            *to++ = i < count ? digits[i] : '0';
        }
    } else {
        *to++ = digits[0];
        if (count > 1)
            *to++ = '.';
        for (int i = 1; i < count; i++)
            *to++ = digits[i];
        *to++ = 'e';
        *to++ = exponent < 0 ? '-' : '+';
        if (exponent < 0)
            exponent = -exponent;
        if (exponent < 10)
            *to++ = '0';
        to += write_digits((uint64_t)exponent, to);
    }

    *to = 0;
    return (size_t)(to - text);
}

/* Reading -------------------------------------------------------------------------------------- */

/* digits * 10^exponent as the nearest number; false: undecided. */
static bool nearest(uint64_t digits, int exponent, double *value)
{
    if (digits == 0) {
        *value = 0;
        return true;
    }
    if (exponent < -300 || exponent > 285)
        return false;

    /* The product with the power, rounded down: of the upper half, and if that does not decide, of both. */
    const power *g = power_of(exponent);
    uint64_t high = g->high;
    uint64_t low = g->low;
    if (!g->exact && low-- == 0)
        high--;

    int shift = __builtin_clzll(digits);
    wide product = (wide)(digits << shift) * high;
    uint64_t upper = (uint64_t)(product >> 64);
    uint64_t lower = (uint64_t)product;
    if ((upper & 0x1FF) == 0x1FF) {
        uint64_t second = (uint64_t)(((wide)(digits << shift) * low) >> 64);
        lower += second;
        if (second > lower)
            upper++;
    }
    if (lower == UINT64_MAX && !g->exact)
        return false;

    int top = (int)(upper >> 63);
    uint64_t mantissa = upper >> (top + 9);
    int biased = log2_of_power(exponent) + 63 + top - shift + 1023;
    if (biased <= 0 || biased >= 2046)
        return false;

    /* Exactly in the middle between two numbers: to even. */
    if (lower <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 &&
        mantissa << (top + 9) == upper)
        mantissa &= ~(uint64_t)1;

    mantissa += mantissa & 1;
    mantissa >>= 1;
    if (mantissa >= (uint64_t)1 << 53) {
        mantissa = (uint64_t)1 << 52;
        biased++;
    }

    uint64_t bits = (uint64_t)biased << 52 | (mantissa & (((uint64_t)1 << 52) - 1));
    memcpy(value, &bits, sizeof bits);
    return true;
}

double yk_decimal_read(const char *text, char **end)
{
    pthread_once(&powers_once, fill_powers);
    const char *at = text;
    bool negative = *at == '-';
    at += negative;

    /* At most 19 digits fit. */
    uint64_t digits = 0;
    int count = 0, exponent = 0;
    bool any = false, point = false;
    for (;; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        if (*at < '0' || *at > '9')
            break;

        any = true;
        if (count > 0 || *at != '0')
            count++;
        if (count <= 19)
            digits = 10 * digits + (uint64_t)(*at - '0');
        exponent -= point;
    }

    bool plain = any && count <= 19;
    if (plain && (*at == 'e' || *at == 'E')) {
        const char *from = at + 1;
        bool minus = *from == '-';
        if (*from == '-' || *from == '+')
            from++;
        int ten = 0, places = 0;
        for (; *from >= '0' && *from <= '9' && places < 5; from++, places++)
            ten = 10 * ten + (*from - '0');
        plain = places > 0 && places < 5;
        exponent += minus ? -ten : ten;
        at = from;
    } else if (plain && (*at == 'x' || *at == 'X')) {
        plain = false;
    }

    double value;
    if (!plain || !nearest(digits, exponent, &value))
        return yk_text_number(text, end);
    if (end)
        *end = (char *)(uintptr_t)at;
    return negative ? -value : value;
}
