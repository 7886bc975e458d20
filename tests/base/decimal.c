/* Numbers as their shortest decimal text, and back: all bits return, and texts agree with the C library. */
#include "base/decimal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "test.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Numbers of all sizes, short decimals, and the limits of the intervals of rounding. */
static double number(int i, uint64_t *state)
{
    uint64_t bits = next_random(state);
    if (i < 2046)
        bits = (uint64_t)(i + 1) << 52; /* powers of two */
    else if (i < 4000)
        bits = (uint64_t)i; /* subnormal numbers */
    else if (i % 3 == 1)
        return (double)(int64_t)(bits % 2000001) / 1000 - 1000;
    else if (i % 3 == 2)
        return ldexp((double)(bits >> 11), -53 - (int)(bits % 40));

    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void assert_same(double a, double b, const char *text)
{
    if (memcmp(&a, &b, sizeof a) != 0)
        fail_msg("'%s': %a and %a", text, a, b);
}

static void all_bits_return(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        double value = number(i, &random);
        if (!isfinite(value))
            continue;

        char text[YK_DECIMAL_BYTES];
        char *end;
        size_t length = yk_decimal_write(value, text);
        assert_int_equal(length, strlen(text));
        assert_same(value, yk_text_number(text, NULL), text);
        assert_same(value, yk_decimal_read(text, &end), text);
        assert_int_equal(*end, '\0');
    }
}

/* The shortest text has no more digits than the shortest of printf that returns all bits. */
static void texts_are_shortest(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 4000; i < 24000; i++) {
        double value = number(i, &random);
        if (!isfinite(value))
            continue;

        char text[YK_DECIMAL_BYTES], other[40];
        yk_decimal_write(value, text);
        for (int digits = 1; digits <= 17; digits++) {
            yk_format(other, sizeof other, "%.*g", digits, value);
            if (yk_text_number(other, NULL) == value)
                break;
            assert_same(yk_text_number(other, NULL), yk_decimal_read(other, NULL), other);
        }
        assert_true(strlen(text) <= strlen(other) || strchr(other, 'e'));
    }
}

static void texts_look_like_those_of_printf(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100, "100"},
        {1e-4, "0.0001"},
        {1e-5, "1e-05"},
        {1e16, "10000000000000000"},
        {1e17, "1e+17"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
        {9007199254740992, "9007199254740992"},
        {(double)INFINITY, "inf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[YK_DECIMAL_BYTES];
        yk_decimal_write(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Texts that the fast path does not handle are read by strtod(). */
static void unusual_texts_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "x",
        "-",
        ".",
        "1e",
        "1e+",
        "0x10",
        "nan",
        "inf",
        "-inf",
        " 1",
        "+1",
        "1.",
        ".5",
        "-.5e1",
        "1e400",
        "1e-400",
        "12345678901234567890123",
        "0.00000000000000000000012345678901234567890",
        "1e00000000005",
        "9007199254740993",
        "9007199254740992.5",
        "2.2250738585072011e-308",
        "1e5,7",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *end, *expected_end;
        double value = yk_decimal_read(texts[i], &end);
        double expected = yk_text_number(texts[i], &expected_end);
        assert_true(isnan(value) == isnan(expected));
        if (!isnan(expected))
            assert_same(value, expected, texts[i]);
        if (end != expected_end)
            fail_msg("'%s' is read up to '%s'", texts[i], end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bits_return),
        cmocka_unit_test(texts_are_shortest),
        cmocka_unit_test(texts_look_like_those_of_printf),
        cmocka_unit_test(unusual_texts_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
