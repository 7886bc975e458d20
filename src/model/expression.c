/* Scanner and compiler of expressions.
 *
 * The scanner runs first. It knows every name, and checks parentheses and the number of arguments,
 * so that it can report the location of an error and the nearest valid name. A valid text is
 * compiled to the code of a stack machine by precedence climbing (Pratt 1973): the right operand of
 * an operator contains all operators that bind more tightly. */
#include "model/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/expression_code.h"

/* Functions ------------------------------------------------------------------------------------ */

static double sign_of(double x)
{
    return (x > 0) - (x < 0);
}

static double modulo(double x, double y)
{
    return x - y * floor(x / y);
}

static double radians(double degrees)
{
    return degrees * (3.14159265358979323846 / 180);
}

static double step_at(double t, double t0)
{
    return t >= t0 ? 1 : 0;
}

static double ramp_between(double t, double t0, double t1)
{
    if (t <= t0)
        return 0;
    if (t >= t1)
        return 1;
    return (t - t0) / (t1 - t0);
}

/* 10 s^3 - 15 s^4 + 6 s^5: first and second derivative are zero at both ends. */
static double smooth_between(double t, double t0, double t1)
{
    double s = ramp_between(t, t0, t1);
    return s * s * s * (10 - s * (15 - 6 * s));
}

static double smallest(const double *values, int count)
{
    double result = values[0];
    for (int i = 1; i < count; i++)
        if (values[i] < result)
            result = values[i];
    return result;
}

static double largest(const double *values, int count)
{
    double result = values[0];
    for (int i = 1; i < count; i++)
        if (values[i] > result)
            result = values[i];
    return result;
}

static const yk_scope_function functions[] = {
    {"sin", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = sin}},
    {"cos", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = cos}},
    {"tan", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = tan}},
    {"asin", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = asin}},
    {"acos", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = acos}},
    {"atan", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = atan}},
    {"atan2", 2, YK_TAKES_RATIO, {YK_OPERATION_CALL_2, .two = atan2}},
    {"sinh", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = sinh}},
    {"cosh", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = cosh}},
    {"tanh", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = tanh}},
    {"exp", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = exp}},
    {"log", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = log}},
    {"log10", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = log10}},
    {"sqrt", 1, YK_TAKES_ROOT, {YK_OPERATION_CALL_1, .one = sqrt}},
    {"pow", 2, YK_TAKES_POWER, {YK_OPERATION_CALL_2, .two = pow}},
    {"hypot", 2, YK_TAKES_SAME, {YK_OPERATION_CALL_2, .two = hypot}},
    {"abs", 1, YK_TAKES_SAME, {YK_OPERATION_CALL_1, .one = fabs}},
    {"sign", 1, YK_TAKES_RATIO, {YK_OPERATION_CALL_1, .one = sign_of}},
    {"floor", 1, YK_TAKES_SAME, {YK_OPERATION_CALL_1, .one = floor}},
    {"ceil", 1, YK_TAKES_SAME, {YK_OPERATION_CALL_1, .one = ceil}},
    {"round", 1, YK_TAKES_SAME, {YK_OPERATION_CALL_1, .one = round}},
    {"mod", 2, YK_TAKES_SAME, {YK_OPERATION_CALL_2, .two = modulo}},
    {"min", 0, YK_TAKES_SAME, {YK_OPERATION_CALL_MANY, .many = smallest}},
    {"max", 0, YK_TAKES_SAME, {YK_OPERATION_CALL_MANY, .many = largest}},
    {"rad", 1, YK_TAKES_PURE, {YK_OPERATION_CALL_1, .one = radians}},
    {"step", 2, YK_TAKES_RATIO, {YK_OPERATION_CALL_2, .two = step_at}},
    {"ramp", 3, YK_TAKES_RATIO, {YK_OPERATION_CALL_3, .three = ramp_between}},
    {"smooth", 3, YK_TAKES_RATIO, {YK_OPERATION_CALL_3, .three = smooth_between}},
};

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static const yk_option_choice words[] = {
    {"+ - * / ^", "arithmetic; ^ is the power and binds from the right"},
    {"< <= > >= == != && ||", "comparisons and logic: 1 for true, 0 for false"},
    {"a ? b : c", "b where a is not 0, otherwise c"},
    {"pi", "3.14159..."},
    {"sin(x) cos(x) tan(x)", "of an angle in rad"},
    {"asin(x) acos(x) atan(x) atan2(y, x)", "angles in rad"},
    {"sinh(x) cosh(x) tanh(x)", "hyperbolic functions"},
    {"exp(x) log(x) log10(x) sqrt(x) pow(x, y) hypot(x, y)", "log is the natural logarithm"},
    {"abs(x) sign(x) floor(x) ceil(x) round(x) mod(x, y)", "mod has the sign of y"},
    {"min(a, b, ...) max(a, b, ...)", "of any number of values"},
    {"rad(x)", "x degrees in rad"},
    {"step(t, t0)", "0 before t0, 1 from t0 on"},
    {"ramp(t, t0, t1)", "0 before t0, 1 after t1, straight in between"},
    {"smooth(t, t0, t1)", "as ramp, with speed and acceleration zero at both ends"},
    {NULL, NULL},
};

const yk_option_choice *yk_expression_words(void)
{
    return words;
}

/* Numbers -------------------------------------------------------------------------------------- */

static size_t digits(const char *at)
{
    size_t length = 0;
    while (at[length] >= '0' && at[length] <= '9')
        length++;
    return length;
}

/* Length of the unsigned decimal number at `at`, 0 if there is none. */
static size_t number_length(const char *at)
{
    /* Digits with a point: ".5" and "5." are numbers, "." is not. */
    size_t whole = digits(at);
    size_t length = whole;
    if (at[length] == '.') {
        size_t fraction = digits(at + length + 1);
        if (whole + fraction == 0)
            return 0;

        length += 1 + fraction;
    }

    if (length == 0)
        return 0;

    /* An exponent, if digits follow: "2e" is a number and a name. */
    if (at[length] == 'e' || at[length] == 'E') {
        size_t sign = at[length + 1] == '+' || at[length + 1] == '-';
        size_t exponent = digits(at + length + 1 + sign);
        if (exponent)
            length += 1 + sign + exponent;
    }

    return length;
}

/* The number in the first `length` characters, at most YK_EXPRESSION_LENGTH_MAX. */
static double number_value(const char *start, size_t length)
{
    char copy[YK_EXPRESSION_LENGTH_MAX + 1];
    snprintf(copy, sizeof copy, "%.*s", (int)length, start);
    return yk_text_number(copy, NULL);
}

bool yk_number_read(const char *text, double *value)
{
    const char *start = text + (*text == '+' || *text == '-');
    size_t length = number_length(start);
    if (!length || start[length] || length >= YK_EXPRESSION_LENGTH_MAX)
        return false;

    *value = number_value(start, length);
    if (*text == '-')
        *value = -*value;

    return true;
}

/* Scanner -------------------------------------------------------------------------------------- */

enum { DEPTH_MAX = 64, NAME_MAX_LENGTH = 60 };

typedef struct token {
    enum { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN, TOKEN_BAD } kind;
    const char *start;
    size_t length;
    size_t digits; /* of a number, without its unit */
    bool has_unit;
    yk_unit unit;
} token;

/* Not isalpha(), because it depends on the locale. */
static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool continues_name(char c)
{
    return starts_name(c) || (c >= '0' && c <= '9');
}

/* Length of the name at `at`, 0 if there is none. Names may contain dots: tip.position. */
static size_t name_length(const char *at)
{
    size_t length = 0;
    if (starts_name(*at))
        while (continues_name(at[length]) || (at[length] == '.' && starts_name(at[length + 1])))
            length++;
    return length;
}

static bool is_variable(const void *user, const char *name, size_t length)
{
    const yk_scope *scope = user;
    for (int i = 0; i < scope->variable_count; i++)
        if (strlen(scope->variables[i]) == length &&
            strncmp(scope->variables[i], name, length) == 0)
            return true;
    return false;
}

/* A number and the unit after it: "5 mm", "5mm", "3 1/s". Variables hide units: 5 t is a mistake for
 * 5*t in a function of time, and five tonnes elsewhere. */
static token number_token(const char *at, size_t digits, const yk_scope *scope)
{
    token number = {TOKEN_NUMBER, at, digits, .digits = digits};
    if (scope && scope->without_units)
        return number;

    size_t space = strspn(at + digits, " ");
    const char *unit = at + digits + space;
    if (*unit == '1' && space == 0)
        return number;

    size_t length = yk_unit_read(unit, scope ? is_variable : NULL, scope, &number.unit);
    number.has_unit = length > 0;
    if (number.has_unit)
        number.length = digits + space + length;
    return number;
}

/* Without a scope, names are only read. */
static token next_token(const char *at, const yk_scope *scope)
{
    while (*at == ' ' || *at == '\t' || *at == '\n')
        at++;
    if (!*at)
        return (token){.kind = TOKEN_END, .start = at};

    size_t length = name_length(at);
    if (length)
        return (token){.kind = TOKEN_NAME, .start = at, .length = length};

    /* Numbers without a sign, which is an operator. */
    length = number_length(at);
    if (length)
        return number_token(at, length, scope);

    /* Operators of two characters before those of one. */
    static const char *const pairs[] = {"<=", ">=", "==", "!=", "&&", "||"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strncmp(at, pairs[i], 2) == 0)
            return (token){.kind = TOKEN_SIGN, .start = at, .length = 2};
    if (strchr("+-*/^()<>?:,", *at))
        return (token){.kind = TOKEN_SIGN, .start = at, .length = 1};

    return (token){.kind = TOKEN_BAD, .start = at, .length = 1};
}

static bool token_is(token t, const char *text)
{
    return t.length == strlen(text) && strncmp(t.start, text, t.length) == 0;
}

static const yk_scope_function *find_row(const yk_scope_function *rows, int count, const char *name,
                                         size_t length)
{
    for (int i = 0; i < count; i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0)
            return &rows[i];
    return NULL;
}

/* A built-in function, or one of the scope (NULL: none). */
static const yk_scope_function *find_function(const yk_scope *scope, const char *name,
                                              size_t length)
{
    const yk_scope_function *row = find_row(functions, FUNCTION_COUNT, name, length);
    if (!row && scope)
        row = find_row(scope->functions, scope->function_count, name, length);
    return row;
}

const char *yk_expression_reserved(const char *name)
{
    size_t length = name_length(name);
    if (!length || name[length] || length > NAME_MAX_LENGTH)
        return "is not a word of at most 60 letters, digits and '_'";
    if (find_function(NULL, name, strlen(name)))
        return "is the name of a function";
    if (strcmp(name, "pi") == 0)
        return "is the number 3.14159...";

    return NULL;
}

void yk_expression_names(const char *text,
                         void (*visit)(void *user, const char *name, size_t length), void *user)
{
    for (token t = next_token(text, NULL); t.kind != TOKEN_END;
         t = next_token(t.start + t.length, NULL)) {
        bool known =
            t.kind != TOKEN_NAME || find_function(NULL, t.start, t.length) || token_is(t, "pi");
        if (!known)
            visit(user, t.start, t.length);
    }
}

struct yk_expression {
    yk_context *context;
    bool varies;
    yk_quantity quantity;
    int count;
    yk_instruction code[];
};

typedef struct scanner {
    const char *text;
    const yk_scope *scope;
    yk_expression_error *error;
    int tokens;                      /* number of tokens so far */
    const yk_scope_function *called; /* a function whose '(' must follow */
    bool has_operand; /* an operand is complete: an operator or a closing sign must follow */
    bool has_sign;    /* the next operand has a '+' or '-' of its own */
    /* Open parentheses, each with its function. */
    struct {
        const yk_scope_function *function; /* NULL: no function call */
        const char *start;
        int commas;
    } groups[DEPTH_MAX];
    int depth;
} scanner;

static bool complain(scanner *s, const char *start, size_t length, const char *format, ...)
    YK_PRINTF(4, 5);

static bool complain(scanner *s, const char *start, size_t length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(s->error->message, sizeof s->error->message, format, arguments);
    va_end(arguments);
    s->error->offset = (size_t)(start - s->text);
    s->error->length = length;
    s->error->wants_time = false;

    return false;
}

static void consider(const char *word, const char *name, int *limit, const char **nearest)
{
    int distance = yk_text_distance(word, name, *limit);
    if (distance > *limit)
        return;
    *limit = distance - 1;
    *nearest = name;
}

/* An unknown function or value, with the nearest known one. */
static bool unknown_name(scanner *s, token t, bool function)
{
    const yk_scope *scope = s->scope;
    char word[NAME_MAX_LENGTH + 1];
    int length = (int)(t.length < sizeof word ? t.length : sizeof word);
    snprintf(word, sizeof word, "%.*s", length, t.start);
    if (strcmp(word, "t") == 0 && !function) {
        complain(s, t.start, t.length, "time 't' cannot be used here: the value must be constant");
        s->error->wants_time = true;
        return false;
    }

    /* Short words are similar to many others, so they must match better. */
    const char *nearest = NULL;
    int limit = 2;
    if (strlen(word) <= 4)
        limit = 1;
    if (strlen(word) <= 1)
        limit = 0;

    /* Suggest functions only for functions, and values only for values. */
    if (function) {
        for (int i = 0; i < FUNCTION_COUNT; i++)
            consider(word, functions[i].name, &limit, &nearest);
        for (int i = 0; i < scope->function_count; i++)
            consider(word, scope->functions[i].name, &limit, &nearest);
    } else {
        for (int i = 0; i < scope->parameter_count; i++)
            consider(word, scope->parameters[i].name, &limit, &nearest);
        for (int i = 0; i < scope->variable_count; i++)
            consider(word, scope->variables[i], &limit, &nearest);

        consider(word, "pi", &limit, &nearest);
    }

    /* With the nearest name, or with the place where names are defined. */
    const char *what = function ? "function" : "name";
    const char *remedy = function ? "" : ". Define it under 'parameters'.";
    if (nearest)
        return complain(s, t.start, t.length, "unknown %s '%s'. Did you mean '%s'?", what, word,
                        nearest);

    return complain(s, t.start, t.length, "unknown %s '%s'%s", what, word, remedy);
}

static bool is_value(const yk_scope *scope, token t)
{
    /* Variables, parameters, and the one constant. */
    for (int i = 0; i < scope->variable_count; i++)
        if (token_is(t, scope->variables[i]))
            return true;

    for (int i = 0; i < scope->parameter_count; i++)
        if (token_is(t, scope->parameters[i].name))
            return true;

    return token_is(t, "pi");
}

/* A name directly after a number, probably a unit. */
static bool is_unknown(const scanner *s, token t)
{
    return t.kind == TOKEN_NAME && !is_value(s->scope, t) &&
           !find_function(s->scope, t.start, t.length);
}

/* A function, whose arguments follow, or a value. */
static bool scan_name(scanner *s, token t)
{
    bool call = *next_token(t.start + t.length, s->scope).start == '(';
    const yk_scope_function *row = find_function(s->scope, t.start, t.length);
    if (row && !call)
        return complain(s, t.start, t.length,
                        "'%s' is a function; its arguments in parentheses are missing", row->name);

    s->called = row;
    if (row)
        return true;

    /* A call of something that is not a function. */
    if (call && !is_value(s->scope, t))
        return unknown_name(s, t, true);
    if (call)
        return complain(s, t.start, t.length,
                        "'%.*s' is not a function; an operator is missing before '('",
                        (int)(t.length < 60 ? t.length : 60), t.start);
    if (!is_value(s->scope, t))
        return unknown_name(s, t, false);

    return true;
}

/* Parentheses must match, and functions need their number of arguments. */
static bool scan_sign(scanner *s, token t, token before)
{
    /* A group, with the function whose arguments it holds. */
    if (*t.start == '(') {
        if (s->depth == DEPTH_MAX)
            return complain(s, t.start, 1, "more than %d nested parentheses", DEPTH_MAX);

        s->groups[s->depth].function = s->called;
        s->groups[s->depth].start = t.start;
        s->groups[s->depth].commas = 0;
        s->depth++;
        return true;
    }

    /* Between arguments. */
    if (*t.start == ',') {
        int inner = s->depth - 1;
        if (inner < 0 || !s->groups[inner].function)
            return complain(s, t.start, 1,
                            "a ',' separates the arguments of a function; decimals take a point");

        s->groups[inner].commas++;
        return true;
    }

    if (*t.start != ')')
        return true;

    /* The end of a group. */
    if (s->depth == 0)
        return complain(s, t.start, 1, "')' without a '(' before it");

    s->depth--;
    const yk_scope_function *function = s->groups[s->depth].function;
    bool empty = token_is(before, "(");
    if (!function && empty)
        return complain(s, t.start, 1, "nothing between '(' and ')'");
    if (!function)
        return true;

    /* The number of arguments; some functions take any. */
    int given = empty ? 0 : s->groups[s->depth].commas + 1;
    int wanted = function->arguments;
    const char *start = s->groups[s->depth].start;
    size_t length = (size_t)(t.start - start) + 1;
    if (wanted == 0 && given == 0)
        return complain(s, start, length, "'%s' takes at least 1 argument, not 0", function->name);
    if (wanted > 0 && given != wanted)
        return complain(s, start, length, "'%s' takes %d argument%s, not %d", function->name,
                        wanted, wanted > 1 ? "s" : "", given);

    return true;
}

static bool unknown_unit(scanner *s, token t)
{
    char word[NAME_MAX_LENGTH + 1];
    int shown = (int)(t.length < sizeof word - 1 ? t.length : sizeof word - 1);
    snprintf(word, sizeof word, "%.*s", shown, t.start);
    if (s->scope->without_units)
        return complain(s, t.start, t.length, "remove '%s': numbers stand without units", word);

    const char *nearest = NULL;
    int limit = strlen(word) > 3 ? 2 : 1;
    for (const char *const *unit = yk_unit_words(); *unit && strlen(word) > 1; unit++)
        consider(word, *unit, &limit, &nearest);
    if (nearest)
        return complain(s, t.start, t.length, "unknown unit '%s'. Did you mean '%s'?", word,
                        nearest);
    return complain(
        s, t.start, t.length,
        "unknown unit '%s'. Units are m, kg, s, rad, deg, rpm, Hz, N, J, W, Pa, bar and "
        "others, with prefixes as in mm",
        word);
}

/* Operands and operators must alternate. */
static bool check_order(scanner *s, token t, token before)
{
    char first = *t.start;
    int shown = (int)(t.length < 60 ? t.length : 60);
    bool value = t.kind == TOKEN_NUMBER || t.kind == TOKEN_NAME;
    if (before.kind == TOKEN_NUMBER && is_unknown(s, t))
        return unknown_unit(s, t);

    /* The start of an operand follows an operator, or begins the arguments of a function. */
    bool opens = value || first == '(';
    bool arguments = first == '(' && s->called;
    if (opens && s->has_operand && !arguments)
        return complain(s, t.start, t.length, "an operator is missing before '%.*s'", shown,
                        t.start);

    /* Everything else follows an operand, except for one sign of an operand. An empty group has a
     * message of its own. */
    bool empty = first == ')' && token_is(before, "(");
    bool sign = (first == '+' || first == '-') && !s->has_operand;
    if (!opens && !s->has_operand && !empty && (!sign || s->has_sign))
        return complain(s, t.start, t.length,
                        "'%.*s' is not allowed here; an operand is missing before it",
                        (int)t.length, t.start);

    s->has_operand = value || first == ')';
    s->has_sign = sign;
    return true;
}

static bool scan(scanner *s)
{
    size_t length = strlen(s->text);
    if (length > YK_EXPRESSION_LENGTH_MAX)
        return complain(s, s->text, 1, "the expression is longer than %d characters",
                        YK_EXPRESSION_LENGTH_MAX);

    /* Token by token, each with the one before it. */
    token before = {.kind = TOKEN_END};
    token t = next_token(s->text, s->scope);
    for (; t.kind != TOKEN_END; before = t, t = next_token(t.start + t.length, s->scope)) {
        if (t.kind == TOKEN_BAD && *t.start == '=')
            return complain(s, t.start, t.length, "'=' has no meaning here; equality is '=='");
        if (t.kind == TOKEN_BAD)
            return complain(s, t.start, t.length, "this character has no meaning in an expression");

        s->tokens++;

        /* 2x instead of 2*x. */
        bool adjacent = before.start && before.start + before.length == t.start;
        bool product = before.kind == TOKEN_NUMBER && t.kind == TOKEN_NAME && !is_unknown(s, t);
        if (adjacent && product)
            return complain(s, before.start, before.length + t.length,
                            "an operator is missing; write %.*s*%.*s",
                            (int)(before.length < 40 ? before.length : 40), before.start,
                            (int)(t.length < 40 ? t.length : 40), t.start);

        /* The kind of token at this place. */
        if (!check_order(s, t, before))
            return false;
        if (t.kind == TOKEN_NAME && !scan_name(s, t))
            return false;
        if (t.kind == TOKEN_SIGN) {
            if (!scan_sign(s, t, before))
                return false;

            s->called = NULL;
        }
    }

    /* The part that is missing at the end. */
    if (before.kind == TOKEN_END)
        return complain(s, s->text, 1, "the expression is empty");
    if (s->depth > 0)
        return complain(s, s->groups[s->depth - 1].start, 1,
                        "this '(' is not closed; inside [] and {} put expressions with commas in "
                        "quotes");
    if (!s->has_operand)
        return complain(s, before.start, before.length, "an operand is missing at the end");

    return true;
}

/* Compiling ------------------------------------------------------------------------------------ */

/* Precedence of operators; all comparisons are equal. A sign has that of a product: -2^2 is -4. */
enum {
    BINDS_CONDITION,
    BINDS_OR,
    BINDS_AND,
    BINDS_COMPARISON,
    BINDS_SUM,
    BINDS_PRODUCT,
    BINDS_POWER
};

static const struct {
    const char *sign;
    int binds;
    int operation;
} operators[] = {
    {"||", BINDS_OR, YK_OPERATION_OR},
    {"&&", BINDS_AND, YK_OPERATION_AND},
    {"<", BINDS_COMPARISON, YK_OPERATION_LESS},
    {"<=", BINDS_COMPARISON, YK_OPERATION_LESS_EQUAL},
    {">", BINDS_COMPARISON, YK_OPERATION_GREATER},
    {">=", BINDS_COMPARISON, YK_OPERATION_GREATER_EQUAL},
    {"==", BINDS_COMPARISON, YK_OPERATION_EQUAL},
    {"!=", BINDS_COMPARISON, YK_OPERATION_UNEQUAL},
    {"+", BINDS_SUM, YK_OPERATION_ADD},
    {"-", BINDS_SUM, YK_OPERATION_SUBTRACT},
    {"*", BINDS_PRODUCT, YK_OPERATION_MULTIPLY},
    {"/", BINDS_PRODUCT, YK_OPERATION_DIVIDE},
    {"^", BINDS_POWER, YK_OPERATION_POWER},
};

static const char condition_usage[] =
    "the '?' and ':' of a condition do not fit; it reads a ? b : c";

typedef struct compiler {
    scanner *scanner; /* for its text, scope and messages */
    token next;
    yk_code code;
    bool varies;
    yk_quantity quantity; /* of the value on top of the stack */
} compiler;

/* Advances past the present token. */
static token take(compiler *c)
{
    token taken = c->next;
    c->next = next_token(taken.start + taken.length, c->scanner->scope);
    return taken;
}

/* The constant on top of the stack; false if the value varies. */
static bool is_constant(const compiler *c, double *value)
{
    if (c->code.count <= c->code.settled)
        return false;

    const yk_instruction *last = &c->code.instructions[c->code.count - 1];
    *value = last->number;
    return last->operation == YK_OPERATION_NUMBER;
}

static bool is_zero(const compiler *c)
{
    double value;
    return is_constant(c, &value) && value == 0;
}

/* Two values in different units; `sign` is the operator or function that joins them. */
static bool units_differ(compiler *c, token sign, yk_quantity a, yk_quantity b)
{
    return complain(c->scanner, sign.start, sign.length,
                    "'%.*s' cannot combine a value in %s with one in %s",
                    (int)(sign.length < 20 ? sign.length : 20), sign.start,
                    yk_dimension_name(a.dimension).text, yk_dimension_name(b.dimension).text);
}

static void append_number(compiler *c, double number)
{
    yk_code_append(&c->code, (yk_instruction){.operation = YK_OPERATION_NUMBER, .number = number},
                   0);
}

static void compile_value(compiler *c, token name)
{
    /* Variables hide parameters of the same name. */
    const yk_scope *scope = c->scanner->scope;
    for (int i = 0; i < scope->variable_count; i++) {
        if (!token_is(name, scope->variables[i]))
            continue;

        yk_instruction variable = {.operation = YK_OPERATION_VARIABLE, .index = i};
        yk_code_append(&c->code, variable, 0);
        c->varies = true;
        c->quantity = token_is(name, "t") ? yk_quantity_time : yk_quantity_plain;
        return;
    }

    /* Parameters are constants of a scenario: their values go into the code. */
    for (int i = 0; i < scope->parameter_count; i++) {
        if (!token_is(name, scope->parameters[i].name))
            continue;

        if (scope->used)
            scope->used[i] = true;
        append_number(c, scope->parameters[i].value);
        c->quantity = scope->parameters[i].quantity;
        return;
    }

    /* The syntax has been checked: a name that is neither is pi. */
    append_number(c, 3.14159265358979323846);
    c->quantity = yk_quantity_number;
    c->quantity.has_pi = true;
}

static bool compile_from(compiler *c, int least);

/* The scanner has matched parentheses: only a ':' without a condition can be in their place. */
static bool close_parenthesis(compiler *c)
{
    token t = take(c);
    return token_is(t, ")") || complain(c->scanner, t.start, 1, "%s", condition_usage);
}

/* Adds the quantity of one more argument to that of the earlier ones, `all`. */
static bool add_argument(compiler *c, token name, const yk_scope_function *row, bool first,
                         yk_quantity *all, bool *all_zero)
{
    yk_quantity own = c->quantity;
    bool zero = is_zero(c);
    if (row->units == YK_TAKES_PURE && !yk_quantity_is_pure(own))
        return complain(c->scanner, name.start, name.length,
                        "'%s' takes a pure number, not a value in %s%s", row->name,
                        yk_dimension_name(own.dimension).text,
                        own.dimension.cycle ? "; 1 Hz is 2*pi rad/s" : "");
    if (first) {
        *all = own;
        *all_zero = zero;
        return true;
    }

    bool joined = row->units == YK_TAKES_SAME || row->units == YK_TAKES_RATIO;
    if (!joined)
        return true;
    if (!*all_zero && !zero && !yk_quantity_agree(*all, own))
        return units_differ(c, name, *all, own);

    *all = yk_quantity_sum(*all, *all_zero, own, zero);
    *all_zero = *all_zero && zero;
    return true;
}

/* The arguments of a function in their parentheses, and its call. */
static bool compile_call(compiler *c, token name, const yk_scope_function *row)
{
    int count = 0;
    yk_quantity all = yk_quantity_number;
    bool all_zero = false;
    double exponent = NAN;
    do {
        take(c); /* '(' or ',' */
        if (!compile_from(c, BINDS_CONDITION) ||
            !add_argument(c, name, row, count == 0, &all, &all_zero))
            return false;
        if (!is_constant(c, &exponent))
            exponent = NAN;

        count++;
    } while (token_is(c->next, ","));
    if (!close_parenthesis(c))
        return false;

    c->quantity = row->units == YK_TAKES_ANY ? yk_quantity_plain : yk_quantity_number;
    if (row->units == YK_TAKES_SAME)
        c->quantity = all;
    if (row->units == YK_TAKES_ROOT)
        c->quantity = yk_quantity_power(all, 0.5);
    if (row->units == YK_TAKES_POWER)
        c->quantity = yk_quantity_power(all, exponent);

    /* Functions with any number of arguments need their count. */
    yk_instruction call = row->call;
    call.index = count;
    yk_code_append(&c->code, call, count);

    return true;
}

/* A number, a value, a call, a group, or one of these with a sign and powers. */
static bool compile_operand(compiler *c)
{
    token t = take(c);
    if (t.kind == TOKEN_NUMBER) {
        double number = number_value(t.start, t.digits);
        c->quantity = yk_quantity_number;
        if (t.has_unit) {
            number = number * t.unit.numerator / t.unit.denominator;
            c->quantity = yk_quantity_in(t.unit.dimension);
        }

        if (isinf(number))
            return complain(c->scanner, t.start, t.length, "the number is beyond 1.8e308");

        append_number(c, number);
        return true;
    }

    if (t.kind == TOKEN_NAME) {
        const yk_scope_function *row = find_function(c->scanner->scope, t.start, t.length);
        if (row)
            return compile_call(c, t, row);

        compile_value(c, t);
        return true;
    }

    if (*t.start == '(') {
        return compile_from(c, BINDS_CONDITION) && close_parenthesis(c);
    }

    /* A sign binds less tightly than a power: -x^2 is -(x^2). */
    if (!compile_from(c, BINDS_POWER))
        return false;
    if (*t.start == '-')
        yk_code_append(&c->code, (yk_instruction){.operation = YK_OPERATION_NEGATE}, 1);

    return true;
}

/* The branches of a condition from its '?' on. Its value is on the stack. */
static bool compile_branches(compiler *c)
{
    token question = take(c);
    int to_otherwise = c->code.count;

    /* A jump whose target is set when the other branch begins. */
    yk_code_append(&c->code, (yk_instruction){.operation = YK_OPERATION_UNLESS}, 0);
    c->code.settled = c->code.count;
    if (!compile_from(c, BINDS_CONDITION))
        return false;
    if (!token_is(c->next, ":"))
        return complain(c->scanner, question.start, 1, "%s", condition_usage);

    /* The branch jumps over the other one. */
    token colon = take(c);
    yk_quantity first = c->quantity;
    bool first_zero = is_zero(c);
    int to_end = c->code.count;
    yk_code_append(&c->code, (yk_instruction){.operation = YK_OPERATION_JUMP}, 0);
    yk_code_land(&c->code, to_otherwise);
    if (!compile_from(c, BINDS_CONDITION))
        return false;

    bool second_zero = is_zero(c);
    if (!first_zero && !second_zero && !yk_quantity_agree(first, c->quantity))
        return units_differ(c, colon, first, c->quantity);

    c->quantity = yk_quantity_sum(first, first_zero, c->quantity, second_zero);
    yk_code_land(&c->code, to_end);
    return true;
}

/* The row of an operator; -1: it is none. */
static int find_operator(token t)
{
    enum { OPERATORS = sizeof operators / sizeof *operators };
    for (int i = 0; i < OPERATORS; i++)
        if (token_is(t, operators[i].sign))
            return i;
    return -1;
}

/* The quantity of `a operator b`; b is on top of the stack. */
static bool join_quantities(compiler *c, token sign, int binds, yk_quantity a, bool a_zero)
{
    yk_quantity b = c->quantity;
    bool b_zero = is_zero(c);
    if (binds == BINDS_POWER) {
        double exponent;
        if (!yk_quantity_is_pure(b))
            return complain(c->scanner, sign.start, sign.length,
                            "an exponent is a pure number, not a value in %s",
                            yk_dimension_name(b.dimension).text);
        c->quantity = yk_quantity_power(a, is_constant(c, &exponent) ? exponent : NAN);
        return true;
    }

    if (binds == BINDS_PRODUCT) {
        c->quantity = yk_quantity_product(a, b, *sign.start == '/' ? -1 : 1);
        return true;
    }

    bool logic = binds == BINDS_AND || binds == BINDS_OR;
    if (!logic && !a_zero && !b_zero && !yk_quantity_agree(a, b))
        return units_differ(c, sign, a, b);

    c->quantity = yk_quantity_number;
    if (binds == BINDS_SUM)
        c->quantity = yk_quantity_sum(a, a_zero, b, b_zero);
    return true;
}

/* An operand, and all following operators with at least this precedence. */
static bool compile_from(compiler *c, int least)
{
    if (!compile_operand(c))
        return false;

    /* Operators of equal precedence are evaluated from left to right, except for powers. */
    int row = find_operator(c->next);
    while (row >= 0 && operators[row].binds >= least) {
        token sign = take(c);
        int binds = operators[row].binds;
        yk_quantity left = c->quantity;
        bool left_zero = is_zero(c);
        if (!compile_from(c, binds == BINDS_POWER ? BINDS_POWER : binds + 1) ||
            !join_quantities(c, sign, binds, left, left_zero))
            return false;

        yk_code_append(&c->code, (yk_instruction){.operation = operators[row].operation}, 2);
        row = find_operator(c->next);
    }

    if (least == BINDS_CONDITION && token_is(c->next, "?"))
        return compile_branches(c);

    return true;
}

/* The whole text. The branches of conditions are checked here, not by the scanner. */
static bool compile(compiler *c)
{
    c->next = next_token(c->scanner->text, c->scanner->scope);
    if (!compile_from(c, BINDS_CONDITION))
        return false;
    if (c->next.kind != TOKEN_END)
        return complain(c->scanner, c->next.start, c->next.length, "%s", condition_usage);

    return true;
}

yk_status yk_expression_create(yk_context *context, const char *text, const yk_scope *scope,
                               yk_expression_error *error, yk_expression **expression)
{
    *expression = NULL;
    *error = (yk_expression_error){0};
    if (scope->variable_count > YK_EXPRESSION_VARIABLES_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT, "an expression can have at most %d variables",
                       YK_EXPRESSION_VARIABLES_MAX);

    scanner s = {.text = text, .scope = scope, .error = error};
    if (!scan(&s))
        return yk_fail(context, YK_ERROR_INPUT, "expression '%.200s': %s", text, error->message);

    /* A token is at most one instruction; a factor is two more. */
    size_t bytes = sizeof(yk_expression) + (size_t)(s.tokens + 2) * sizeof(yk_instruction);
    yk_expression *made = yk_allocate(context, 1, bytes);
    if (!made)
        return YK_ERROR_MEMORY;

    compiler c = {.scanner = &s, .code = {.instructions = made->code}};
    if (!compile(&c)) {
        yk_free(context, made);
        return yk_fail(context, YK_ERROR_INPUT, "expression '%.200s': %s", text, error->message);
    }

    made->context = context;
    made->varies = c.varies;
    made->quantity = c.quantity;
    made->count = c.code.count;
    *expression = made;
    return YK_OK;
}

void yk_expression_destroy(yk_expression *expression)
{
    if (expression)
        yk_free(expression->context, expression);
}

/* Operands are separated by an operator or a ',', so the stack needs at most half of the letters. */
_Static_assert(YK_CODE_STACK_MAX > YK_EXPRESSION_LENGTH_MAX / 2, "the stack holds all operands");

double yk_expression_value(const yk_expression *expression, const double *variables)
{
    return yk_code_run(expression->code, expression->count, variables);
}

bool yk_expression_varies(const yk_expression *expression)
{
    return expression->varies;
}

yk_quantity yk_expression_quantity(const yk_expression *expression)
{
    return expression->quantity;
}

void yk_expression_scale(yk_expression *expression, double factor)
{
    if (factor == 1)
        return;

    yk_code code = {
        .instructions = expression->code, .count = expression->count, .settled = expression->count};
    yk_instruction number = {.operation = YK_OPERATION_NUMBER, .number = factor};
    yk_code_append(&code, number, 0);
    yk_code_append(&code, (yk_instruction){.operation = YK_OPERATION_MULTIPLY}, 2);
    expression->count = code.count;
}

static double value_at(void *user, double t)
{
    double variables[YK_EXPRESSION_VARIABLES_MAX] = {t};
    return yk_expression_value(user, variables);
}

yk_time_function yk_expression_function(yk_expression *expression)
{
    return (yk_time_function){.evaluate = value_at, .user = expression};
}

yk_status yk_expression_constant(yk_context *context, const char *text, const yk_scope *scope,
                                 yk_expression_error *error, double *value, yk_quantity *quantity)
{
    *error = (yk_expression_error){.length = strlen(text)};
    if (quantity)
        *quantity = yk_quantity_number;

    /* Most constants are plain numbers, which need no parser. */
    if (!yk_number_read(text, value)) {
        yk_scope constants = *scope;
        constants.variable_count = 0;
        yk_expression *expression = NULL;
        yk_status status = yk_expression_create(context, text, &constants, error, &expression);
        if (status != YK_OK || !expression)
            return status;
        *value = yk_expression_value(expression, NULL);
        if (quantity)
            *quantity = expression->quantity;
        yk_expression_destroy(expression);
        error->length = strlen(text);
    }

    if (isfinite(*value))
        return YK_OK;

    /* Infinity and NaN would spread through a model, so they are errors. */
    const char *reason = "a division by zero, or an overflow";
    if (isnan(*value))
        reason = "0/0, or a function outside its domain";

    snprintf(error->message, sizeof error->message, "the value is not finite (%s)", reason);
    return yk_fail(context, YK_ERROR_INPUT, "expression '%.200s': %s", text, error->message);
}
