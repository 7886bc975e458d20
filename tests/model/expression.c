/* Expressions: known values, every kind of mistake with its place, and no allocation while
 * evaluating. */
#include "context.h"
#include "test.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "model/expression.h"

#if !SANITIZED
/* Counts every request of the program. */
static long allocations;
void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes)
{
    allocations++;
    return __libc_malloc(bytes);
}

void *__libc_realloc(void *block, size_t bytes);
void *realloc(void *block, size_t bytes)
{
    allocations++;
    return __libc_realloc(block, bytes);
}
#endif

static const yk_named_value parameters[] = {{.name = "mass", .value = 2},
                                            {.name = "stiffness", .value = 5000},
                                            {.name = "t1", .value = 0.5}};
static const char *const variables[] = {"t", "tip.position"};
static const yk_scope scope = {
    .parameters = parameters, .parameter_count = 3, .variables = variables, .variable_count = 2};

static double value_of(yk_context *context, const char *text, double t)
{
    yk_expression_error error;
    yk_expression *expression;
    yk_status status = yk_expression_create(context, text, &scope, &error, &expression);
    if (status != YK_OK)
        print_error("%s: %s\n", text, error.message);
    assert_int_equal(status, YK_OK);
    double value = yk_expression_value(expression, (double[]){t, 7});
    yk_expression_destroy(expression);
    return value;
}

static void values_are_those_of_the_formulas(void **state)
{
    static const struct {
        const char *text;
        double t, value;
    } cases[] = {
        {"1+2*3", 0, 7},
        {"-2^2", 0, -4},
        {"2^3^2", 0, 512},
        {"  ( 1 + 2 )\n * 3 ", 0, 9},
        {"1e-3*.5e+2", 0, 0.05},
        {"3.", 0, 3},
        {"pi", 0, 3.14159265358979323846},
        {"sqrt(stiffness/mass)", 0, 50},
        {"tip.position*2", 0, 14},
        {"0.25*sin(2*pi*15.5*t)", 0.01, 0.20677014356864043},
        {"atan2(1, -1)", 0, 2.35619449019234493},
        {"log(exp(3))+log10(1000)", 0, 6},
        {"pow(2, 0.5)-hypot(1, 1)", 0, 0},
        {"abs(-3)+sign(-2)+sign(0)", 0, 2},
        {"floor(-1.5)+ceil(1.2)+round(2.5)", 0, 3},
        {"mod(-1, 3)", 0, 2},
        {"min(3, 1, 2)+max(4, 6, 5)", 0, 7},
        {"min(5)", 0, 5},
        {"rad(180)/pi", 0, 1},
        {"step(t, t1)", 0.5, 1},
        {"step(t, t1)", 0.4999, 0},
        {"ramp(t, 0, t1)", 0.125, 0.25},
        {"ramp(t, 0, t1)", 9, 1},
        {"ramp(t, 1, 1)", 1, 0},
        {"smooth(t, 0, 1)", 0.25, 0.103515625},
        {"smooth(t, 0, 1)", 2, 1},
        {"t < 1 ? 10 : 20", 0.5, 10},
        {"t < 1 && t > 0.7 || t == 3", 3, 1},
        {"2^-1*-3", 0, -1.5},
        {"2--3", 0, 5},
        {"-t+3", 1, 2},
        {"min(t > 2 ? -1 : 4, 3)", 3, -1},
        {"t < 1 ? 1 : t < 2 ? 2 : 3", 1.5, 2},
        {"tan(0.5)-sin(0.5)/cos(0.5)", 0, 0},
        {"asin(1)+acos(1)+atan(1)*2", 0, 3.14159265358979323846},
        {"cosh(1)^2-sinh(1)^2-tanh(0)", 0, 1},
        {"2^-2^2", 0, 0.0625},
        {"-t*2-t^2-t^3-t^4-t^5", 2, -64},
        {"(t > 1 ? 1 : 2)+3*4", 0, 14},
        {"(t > 1 ? 1 : 2)+3*4", 2, 13},
        {"t > 1 ? t > 2 ? 1 : 2 : 3", 1.5, 2},
        {"(t > 1 ? t : 2)^2", 0, 4},
        {"0.5 && 1", 0, 1},
        {"1 < 2 == 1", 0, 1},
        {"1 + 1 > 1 || 0 && 0", 0, 1},
        {"8/4/2-1-1", 0, -1},
        {"3*(t-1)", 1.0000000000000002, 6.66133814775093924e-16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = value_of(*state, cases[i].text, cases[i].t);
        if (fabs(value - cases[i].value) > 1e-14 * (1 + fabs(cases[i].value)))
            print_error("%s: ", cases[i].text);
        assert_near(value, cases[i].value, 1e-14 * (1 + fabs(cases[i].value)));
    }
}

static void mistakes_are_named_with_their_place(void **state)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *message;
    } cases[] = {
        {"", 0, "the expression is empty"},
        {"   ", 0, "the expression is empty"},
        {"1+", 1, "an operand is missing at the end"},
        {"2*(1+3", 2,
         "this '(' is not closed; inside [] and {} put expressions with commas in quotes"},
        {"1+2)", 3, "')' without a '(' before it"},
        {"1 2", 2, "an operator is missing before '2'"},
        {"2t", 0, "an operator is missing; write 2*t"},
        {"2exp(1)", 0, "an operator is missing; write 2*exp"},
        {"(1)(2)", 3, "an operator is missing before '('"},
        {"t(3)", 0, "'t' is not a function; an operator is missing before '('"},
        {"1+*2", 2, "'*' is not allowed here; an operand is missing before it"},
        {"*3", 0, "'*' is not allowed here; an operand is missing before it"},
        {"sin", 0, "'sin' is a function; its arguments in parentheses are missing"},
        {"1+sin()", 5, "'sin' takes 1 argument, not 0"},
        {"atan2(1)", 5, "'atan2' takes 2 arguments, not 1"},
        {"ramp(t, 0)", 4, "'ramp' takes 3 arguments, not 2"},
        {"max()", 3, "'max' takes at least 1 argument, not 0"},
        {"1+()", 3, "nothing between '(' and ')'"},
        {"0,5", 1, "a ',' separates the arguments of a function; decimals take a point"},
        {"(1,2)", 2, "a ',' separates the arguments of a function; decimals take a point"},
        {"a = 3", 0, "unknown name 'a'. Define it under 'parameters'."},
        {"mass = 3", 5, "'=' has no meaning here; equality is '=='"},
        {"\"abc\"", 0, "this character has no meaning in an expression"},
        {"2*stifness", 2, "unknown name 'stifness'. Did you mean 'stiffness'?"},
        {"sine(t)", 0, "unknown function 'sine'. Did you mean 'sin'?"},
        {"bessel(t)", 0, "unknown function 'bessel'"},
        {"_pi", 0, "unknown name '_pi'. Did you mean 'pi'?"},
        {"0x1F", 1,
         "unknown unit 'x1F'. Units are m, kg, s, rad, deg, rpm, Hz, N, J, W, Pa, bar and others, "
         "with prefixes as in mm"},
        {"5 mmm", 2, "unknown unit 'mmm'. Did you mean 'mm'?"},
        {"5 KN", 2, "unknown unit 'KN'. Did you mean 'kN'?"},
        {"5 mm 3", 5, "an operator is missing before '3'"},
        {"5 mm + 3 s", 5, "'+' cannot combine a value in m with one in s"},
        {"t < 3 mm", 2, "'<' cannot combine a value in s with one in m"},
        {"t < 3 s ? 1 N : 2 m", 14, "':' cannot combine a value in N with one in m"},
        {"max(0, 5 mm, 3 N)", 0, "'max' cannot combine a value in m with one in N"},
        {"2 m^2 - 3 m", 6, "'-' cannot combine a value in m^2 with one in m"},
        {"sin(50 Hz*t)", 0, "'sin' takes a pure number, not a value in 1; 1 Hz is 2*pi rad/s"},
        {"exp(3 s)", 0, "'exp' takes a pure number, not a value in s"},
        {"2^(3 s)", 1, "an exponent is a pure number, not a value in s"},
        {"3 rad/s + 5 Hz", 8, "'+' cannot combine a value in rad/s with one in Hz"},
        {"1?2", 1, "the '?' and ':' of a condition do not fit; it reads a ? b : c"},
        {"1:2", 1, "the '?' and ':' of a condition do not fit; it reads a ? b : c"},
        {"min(1,,2)", 6, "',' is not allowed here; an operand is missing before it"},
        {"min(1,)", 6, "')' is not allowed here; an operand is missing before it"},
        {"sin(1)(2)", 6, "an operator is missing before '('"},
        {"t sin(1)", 2, "an operator is missing before 'sin'"},
        {"2-", 1, "an operand is missing at the end"},
        {"(1?2)", 2, "the '?' and ':' of a condition do not fit; it reads a ? b : c"},
        {"1?2:3:t", 5, "the '?' and ':' of a condition do not fit; it reads a ? b : c"},
        {"t*1e400", 2, "the number is beyond 1.8e308"},
        {"--3", 1, "'-' is not allowed here; an operand is missing before it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yk_expression_error error;
        yk_expression *expression;
        yk_status status = yk_expression_create(*state, cases[i].text, &scope, &error, &expression);
        if (status != YK_ERROR_INPUT || strcmp(error.message, cases[i].message) != 0 ||
            error.offset != cases[i].offset)
            print_error("%s: at %zu: %s\n", cases[i].text, error.offset, error.message);
        assert_int_equal(status, YK_ERROR_INPUT);
        assert_null(expression);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.offset, cases[i].offset);
    }
}

static void units_convert_to_si(void **state)
{
    static const struct {
        const char *text;
        double value;
        const char *unit; /* NULL: not certain */
    } rows[] = {
        {"5 mm", 0.005, "m"},
        {"5mm", 0.005, "m"},
        {"0.25 kg", 0.25, "kg"},
        {"1.5 t", 1500, "kg"},
        {"3 kN/m", 3000, "kg/s^2"},
        {"30 deg", 30 * (YK_PI / 180), "rad"},
        {"30°", 30 * (YK_PI / 180), "rad"},
        {"1200 rpm", 1200 * (YK_PI / 30), "rad/s"},
        {"210 GPa", 210e9, "Pa"},
        {"9.81 m/s^2", 9.81, "m/s^2"},
        {"9.81 m/s²", 9.81, "m/s^2"},
        {"9.81 m/s2", 9.81, "m/s^2"},
        {"9.81 m s⁻²", 9.81, "m/s^2"},
        {"2 N m/(rad s)", 2, "kg m^2/(s^3 rad)"},
        {"4 1/s", 4, "1/s"},
        {"36 km/h", 10, "m/s"},
        {"2 l/min", 2e-3 / 60, "m^3/s"},
        {"1 in", 0.0254, "m"},
        {"10 µm", 1e-5, "m"},
        {"50 %", 0.5, "1"},
        {"2*3 mm", 0.006, "m"},
        {"-(5 mm)^2", -2.5e-5, "m^2"},
        {"5 mm^2", 5e-6, "m^2"},
        {"sqrt(9 m^2)", 3, "m"},
        {"sqrt(8 kN/m/(2 kg))", 63.245553203367585, "1/s"},
        {"hypot(3 m, 4 m)", 5, "m"},
        {"min(0, 5 mm)", 0, "m"},
        {"5 mm + 0.001", 0.006, "m"},
        {"sin(30 deg)", 0.5, "1"},
        {"2*pi*50 Hz", 2 * YK_PI * 50, "1/s"},
        {"600 rpm/(2*pi)", 10, "1/s"},
        {"atan2(1 mm, 1 mm)", YK_PI / 4, "1"},
        {"6 mm/(2 s)", 0.003, "m/s"},
        {"mass*9.81 m/s^2", 2 * 9.81, NULL},
        {"pow(2 m, 3)", 8, "m^3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        yk_expression_error error = {0};
        double value = 0;
        yk_quantity quantity = {0};
        yk_status status =
            yk_expression_constant(*state, rows[i].text, &scope, &error, &value, &quantity);
        if (status != YK_OK || fabs(value - rows[i].value) > 1e-15 * fabs(rows[i].value))
            print_error("%s: %.17g %s\n", rows[i].text, value, error.message);
        assert_int_equal(status, YK_OK);
        assert_near(value, rows[i].value, 1e-15 * fabs(rows[i].value));
        assert_true(quantity.has_unit || strcmp(rows[i].unit, "1") == 0);
        assert_int_equal(quantity.certain, rows[i].unit != NULL);
        if (rows[i].unit)
            assert_string_equal(yk_dimension_name(quantity.dimension).text, rows[i].unit);
    }

    /* Decimal units give the double that SI gives. */
    double value;
    yk_expression_error error;
    assert_int_equal(yk_expression_constant(*state, "5 mm", &scope, &error, &value, NULL), YK_OK);
    assert_true(value == 0.005);
    assert_int_equal(yk_expression_constant(*state, "30 deg", &scope, &error, &value, NULL), YK_OK);
    assert_true(value == value_of(*state, "rad(30)", 0));
}

/* Without units nothing is checked; with them, plain coefficients of time have any unit. */
static void plain_numbers_combine_with_everything(void **state)
{
    static const struct {
        const char *text;
        double value; /* at t = 2 */
        bool certain;
    } rows[] = {
        {"3 + 2*t", 7, false},
        {"5 N*sin(10*t)", 5 * 0.91294525072762765, true},
        {"5 N*(1 + 2*t)", 25, false},
        {"t > 1 s ? 5 N : 0", 5, true},
        {"ramp(t, 0, 4 s)*2 N", 1, true},
        {"100 N/s*t", 200, true},
        {"sin(2*pi*50 Hz*t)*3 mm", 0, true},
        {"tip.position*3 N/m", 21, false},
        {"5 N + tip.position", 12, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        yk_expression_error error = {0};
        yk_expression *expression;
        yk_status status = yk_expression_create(*state, rows[i].text, &scope, &error, &expression);
        if (status != YK_OK)
            print_error("%s: %s\n", rows[i].text, error.message);
        assert_int_equal(status, YK_OK);
        assert_near(yk_expression_value(expression, (double[]){2, 7}), rows[i].value, 1e-12);
        assert_int_equal(yk_expression_quantity(expression).certain, rows[i].certain);
        yk_expression_scale(expression, 1000);
        assert_near(yk_expression_value(expression, (double[]){2, 7}), 1000 * rows[i].value, 1e-9);
        yk_expression_destroy(expression);
    }
}

static void long_and_deep_expressions_are_refused(void **state)
{
    char text[3000];
    yk_expression_error error;
    yk_expression *expression;
    memset(text, '1', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(yk_expression_create(*state, text, &scope, &error, &expression),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(error.message, "longer than 1000"));
    memset(text, '(', 100);
    strcpy(text + 100, "1");
    assert_int_equal(yk_expression_create(*state, text, &scope, &error, &expression),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(error.message, "nested parentheses"));
    memset(text, 'x', 900);
    text[900] = '\0';
    assert_int_equal(yk_expression_create(*state, text, &scope, &error, &expression),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(error.message, "unknown name"));
}

static void constants_must_be_finite_and_free_of_time(void **state)
{
    yk_expression_error error;
    double value = 0;
    assert_int_equal(yk_expression_constant(*state, "mass/4", &scope, &error, &value, NULL), YK_OK);
    assert_near(value, 0.5, 0);
    assert_int_equal(yk_expression_constant(*state, "1/(mass-2)", &scope, &error, &value, NULL),
                     YK_ERROR_INPUT);
    assert_string_equal(error.message,
                        "the value is not finite (a division by zero, or an overflow)");
    assert_int_equal(yk_expression_constant(*state, "sqrt(-1)", &scope, &error, &value, NULL),
                     YK_ERROR_INPUT);
    assert_string_equal(error.message,
                        "the value is not finite (0/0, or a function outside its domain)");
    assert_int_equal(yk_expression_constant(*state, "1e400", &scope, &error, &value, NULL),
                     YK_ERROR_INPUT);
    assert_int_equal(yk_expression_constant(*state, "2*t", &scope, &error, &value, NULL),
                     YK_ERROR_INPUT);
    assert_string_equal(error.message, "time 't' cannot be used here: the value must be constant");
    assert_int_equal(error.offset, 2);

    /* A colon of no condition, in a group and among arguments. */
    static const char *const colons[] = {"(1:2)", "max(1, 2:3)", "ramp(.1, 0:.1, 0)"};
    for (size_t i = 0; i < sizeof colons / sizeof *colons; i++) {
        assert_int_equal(yk_expression_constant(*state, colons[i], &scope, &error, &value, NULL),
                         YK_ERROR_INPUT);
        assert_int_equal(error.offset, strchr(colons[i], ':') - colons[i]);
    }
}

static void numbers_read_the_same_in_every_locale(void **state)
{
    (void)state;
    static const char *const not_numbers[] = {"",    "-",    ".",   "e5",  "1e",    "1 ",    " 1",
                                              "1,5", "0x10", "inf", "nan", "1.2.3", "1_000", "--1"};
    double value;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && !setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de_DE"))
            break;
        assert_true(yk_number_read("-1.25e-2", &value));
        assert_near(value, -0.0125, 0);
        assert_true(yk_number_read("+.5", &value));
        assert_near(value, 0.5, 0);
        assert_true(yk_number_read("17", &value));
        assert_near(value, 17, 0);
        for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++)
            assert_false(yk_number_read(not_numbers[i], &value));
    }
    setlocale(LC_NUMERIC, "C");
}

static void a_function_of_time_follows_its_expression(void **state)
{
    yk_expression_error error;
    yk_expression *expression;
    assert_int_equal(yk_expression_create(*state, "2*t+mass", &scope, &error, &expression), YK_OK);
    assert_true(yk_expression_varies(expression));
    yk_time_function f = yk_expression_function(expression);
    assert_near(yk_function_value(f, 3), 8, 0);
    assert_near(yk_function_value(f, -1), 0, 0);
    yk_expression_destroy(expression);
    assert_int_equal(yk_expression_create(*state, "mass*3", &scope, &error, &expression), YK_OK);
    assert_false(yk_expression_varies(expression));
    yk_expression_destroy(expression);
}

static void evaluating_allocates_nothing(void **state)
{
#if SANITIZED
    (void)state;
    skip();
#else
    yk_expression_error error;
    yk_expression *expression;
    long before = allocations;
    assert_int_equal(yk_expression_create(*state, "max(0.25*sin(2*pi*15.5*t), ramp(t, 0, 1), mass)",
                                          &scope, &error, &expression),
                     YK_OK);
    assert_true(allocations > before); /* the counter counts */
    before = allocations;
    double sum = 0;
    for (int i = 0; i < 100; i++)
        sum += yk_expression_value(expression, (double[]){i, 0});
    assert_int_equal(allocations - before, 0);
    assert_near(sum, 200, 0);
    yk_expression_destroy(expression);
#endif
}

static void reserved_words_are_refused_as_names(void **state)
{
    (void)state;
    assert_null(yk_expression_reserved("omega_0"));
    assert_non_null(yk_expression_reserved("sin"));
    assert_non_null(yk_expression_reserved("pi"));
    assert_non_null(yk_expression_reserved("2a"));
    assert_non_null(yk_expression_reserved("a-b"));
    assert_non_null(yk_expression_reserved(""));
}

/* Every function of the reference exists, and every function is in the reference. */
static void reference_names_every_function(void **state)
{
    char all[2000] = "";
    for (const yk_option_choice *word = yk_expression_words(); word->name; word++) {
        strcat(all, word->name);
        strcat(all, " ");
    }
    static const char *const names[] = {
        "sin",   "cos", "tan",   "asin", "acos", "atan",  "atan2", "sinh",  "cosh",  "tanh",
        "exp",   "log", "log10", "sqrt", "pow",  "hypot", "abs",   "sign",  "floor", "ceil",
        "round", "mod", "min",   "max",  "rad",  "step",  "ramp",  "smooth"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char call[16];
        snprintf(call, sizeof call, "%s(", names[i]);
        assert_non_null(strstr(all, call));
        assert_non_null(yk_expression_reserved(names[i]));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_formulas),
        cmocka_unit_test(mistakes_are_named_with_their_place),
        cmocka_unit_test(units_convert_to_si),
        cmocka_unit_test(plain_numbers_combine_with_everything),
        cmocka_unit_test(long_and_deep_expressions_are_refused),
        cmocka_unit_test(constants_must_be_finite_and_free_of_time),
        cmocka_unit_test(numbers_read_the_same_in_every_locale),
        cmocka_unit_test(a_function_of_time_follows_its_expression),
        cmocka_unit_test(evaluating_allocates_nothing),
        cmocka_unit_test(reserved_words_are_refused_as_names),
        cmocka_unit_test(reference_names_every_function),
    };
    return cmocka_run_group_tests_name("expression", tests, create_context, destroy_context);
}
