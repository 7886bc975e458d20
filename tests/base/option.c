/* Option rows: ranges with open bounds, values of texts, members and defaults of structs. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/option.h"

typedef enum color { RED, GREEN, OWN_COLOR } color;
typedef struct paint {
    double hue;
} paint;
typedef struct def {
    double mass;
    int count;
    bool heavy;
    color color;
    paint paint;
    double position[3];
    color shade;
    double width;
    const char *name;
} def;

static const yk_option_choice colors[] = {{"red", "warm"}, {"green", "calm"}, {NULL, NULL}};
static const yk_option paint_rows[] = {
    {"hue", YK_OPTION_NUMBER, .default_text = "0.25", YK_MEMBER(def, paint.hue)}, {0}};
static const yk_option_section paint_section = {"paint", NULL, paint_rows};
static const yk_option thin_rows[] = {
    {"width", YK_OPTION_NUMBER, "m", "1e-3", YK_MEMBER(def, width)}, {0}};
static const yk_option thick_rows[] = {
    {"width", YK_OPTION_NUMBER, "m", "1e-1", YK_MEMBER(def, width)}, {0}};
static const yk_option_section thin = {"thin", NULL, thin_rows},
                               thick = {"thick", NULL, thick_rows};
static const yk_option_section *const shades[] = {&thin, &thick, NULL};
static const yk_option common_rows[] = {
    {"mass", YK_OPTION_NUMBER, "kg", "2.5", YK_MEMBER(def, mass), .range = YK_POSITIVE}, {0}};
static const yk_option_section common = {"common", NULL, common_rows};

static const yk_option rows[] = {
    {"include", YK_OPTION_INCLUDE, .section = &common},
    {"count", YK_OPTION_INTEGER, .default_text = "auto", YK_MEMBER(def, count),
     .accepts_auto = true, .range = YK_BETWEEN(0, 9)},
    {"heavy", YK_OPTION_BOOLEAN, .default_text = "true", YK_MEMBER(def, heavy)},
    {"color", YK_OPTION_CHOICE, .default_text = "green", YK_MEMBER(def, color), .choices = colors},
    {"paint", YK_OPTION_SECTION, .default_text = "{}", .section = &paint_section},
    {"position", YK_OPTION_NUMBERS, "m", "[1, -2, 3.5]", YK_MEMBER(def, position), .min_count = 3,
     .max_count = 3},
    {"shade", YK_OPTION_VARIANT, .default_text = "{}", YK_MEMBER(def, shade), .variants = shades,
     .selector = "type", .default_variant = "thick"},
    {"name", YK_OPTION_TEXT, YK_MEMBER(def, name)},
    {0},
};

static void test_defaults_reach_their_members(void **state)
{
    (void)state;
    def d = {.count = 7, .name = "kept"};
    yk_option_set_defaults(rows, &d);
    assert_true(d.mass == 2.5);
    assert_int_equal(d.count, 0);
    assert_true(d.heavy);
    assert_int_equal(d.color, GREEN);
    assert_true(d.paint.hue == 0.25);
    assert_true(d.position[0] == 1 && d.position[1] == -2 && d.position[2] == 3.5);
    assert_int_equal(d.shade, 1);
    assert_true(d.width == 0.1);
    assert_string_equal(d.name, "kept");
}

static void test_rows_are_found_by_their_keys(void **state)
{
    (void)state;
    assert_ptr_equal(yk_option_find(rows, "mass"), common_rows);
    assert_ptr_equal(yk_option_find(rows, "heavy"), &rows[2]);
    assert_null(yk_option_find(rows, "hue"));
    assert_null(yk_option_find(NULL, "mass"));
}

static void test_bounds_are_open_or_closed(void **state)
{
    (void)state;
    const yk_range positive = YK_POSITIVE, not_negative = YK_NOT_NEGATIVE;
    const yk_range between = YK_BETWEEN(-1, 0.5), any = {0};
    const yk_range poisson = {-1, 0.5, YK_BOUND_MINIMUM | YK_BOUND_MINIMUM_OPEN | YK_BOUND_MAXIMUM};
    assert_false(yk_range_contains(&positive, 0));
    assert_true(yk_range_contains(&positive, 1e-300));
    assert_true(yk_range_contains(&not_negative, 0));
    assert_true(yk_range_contains(&not_negative, INFINITY));
    assert_true(yk_range_contains(&between, -1) && yk_range_contains(&between, 0.5));
    assert_false(yk_range_contains(&between, 0.51));
    assert_false(yk_range_contains(&poisson, -1));
    assert_true(yk_range_contains(&poisson, 0.5));
    assert_true(yk_range_contains(&any, -1e300));
    assert_false(yk_range_contains(&positive, NAN));
}

static void test_texts_are_read_by_kind(void **state)
{
    (void)state;
    const struct {
        const char *key, *text;
        bool valid;
        double value;
    } cases[] = {
        {"mass", "1e-3", true, 1e-3},  {"mass", "heavy", false, 0}, {"mass", "1 kg", false, 0},
        {"count", "3", true, 3},       {"count", "3.5", false, 0},  {"count", "auto", true, 0},
        {"heavy", "false", true, 0},   {"heavy", "1", false, 0},    {"color", "green", true, 1},
        {"color", "violet", false, 0}, {"position", "1", false, 0}, {"mass", "auto", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -1;
        bool valid = yk_option_parse(yk_option_find(rows, cases[i].key), cases[i].text, &value);
        if (valid != cases[i].valid || (valid && value != cases[i].value))
            fail_msg("%s: %s: %d, %g", cases[i].key, cases[i].text, valid, value);
    }
}

static void test_members_are_set_and_read(void **state)
{
    (void)state;
    def d = {0};
    static const char *const keys[] = {"mass", "count", "heavy", "color", "shade"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const yk_option *row = yk_option_find(rows, keys[i]);
        double value = 0;
        yk_option_set_number(row, &d, 1);
        assert_true(yk_option_get_number(row, &d, &value));
        assert_true(value == 1);
    }
    double none;
    assert_false(yk_option_get_number(yk_option_find(rows, "name"), &d, &none));
}

static void test_members_are_multiples_of_values(void **state)
{
    (void)state;
    static const yk_option halves[] = {
        {"diameter", YK_OPTION_NUMBER, "m", "3", YK_MEMBER(def, mass), .factor = 0.5},
        {"edges", YK_OPTION_NUMBERS, "m", "[1, 2, 4]", YK_MEMBER(def, position), .factor = 0.5,
         .min_count = 3, .max_count = 3},
        {0}};
    def d = {0};
    double value = 0;
    yk_option_set_defaults(halves, &d);
    assert_true(d.mass == 1.5 && d.position[0] == 0.5 && d.position[2] == 2);
    yk_option_set_number(&halves[0], &d, 8);
    assert_true(d.mass == 4 && yk_option_get_number(&halves[0], &d, &value) && value == 8);
    yk_option_set_array(&halves[1], &d, (const double[]){6, 7, 8});
    assert_true(d.position[1] == 3.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_reach_their_members),
        cmocka_unit_test(test_rows_are_found_by_their_keys),
        cmocka_unit_test(test_bounds_are_open_or_closed),
        cmocka_unit_test(test_texts_are_read_by_kind),
        cmocka_unit_test(test_members_are_set_and_read),
        cmocka_unit_test(test_members_are_multiples_of_values),
    };
    return cmocka_run_group_tests_name("option", tests, NULL, NULL);
}
