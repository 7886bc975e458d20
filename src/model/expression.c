/* Expressions on muParser, behind a scanner of our own.
 *
 * The scanner runs first: it knows every name, checks parentheses and the number of arguments,
 * and so can say where in the text a mistake is and which name was meant. muParser compiles what
 * passed, and its byte code does the rest. Only the names that occur are given to it, and none of
 * its extras (assignment, strings, its own constants) get through. */
#include "model/expression.h"

#include <langinfo.h>
#include <math.h>
#include <muParserDLL.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

/* 10 s^3 - 15 s^4 + 6 s^5: speed and acceleration vanish at both ends. */
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

typedef struct function_row {
    const char *name;
    int arguments; /* 0: any number, at least one */
    muFun1_t one;
    muFun2_t two;
    muFun3_t three;
    muMultFun_t many;
} function_row;

static const function_row functions[] = {
    {"sin", 1, .one = sin},
    {"cos", 1, .one = cos},
    {"tan", 1, .one = tan},
    {"asin", 1, .one = asin},
    {"acos", 1, .one = acos},
    {"atan", 1, .one = atan},
    {"atan2", 2, .two = atan2},
    {"sinh", 1, .one = sinh},
    {"cosh", 1, .one = cosh},
    {"tanh", 1, .one = tanh},
    {"exp", 1, .one = exp},
    {"log", 1, .one = log},
    {"log10", 1, .one = log10},
    {"sqrt", 1, .one = sqrt},
    {"pow", 2, .two = pow},
    {"hypot", 2, .two = hypot},
    {"abs", 1, .one = fabs},
    {"sign", 1, .one = sign_of},
    {"floor", 1, .one = floor},
    {"ceil", 1, .one = ceil},
    {"round", 1, .one = round},
    {"mod", 2, .two = modulo},
    {"min", 0, .many = smallest},
    {"max", 0, .many = largest},
    {"rad", 1, .one = radians},
    {"step", 2, .two = step_at},
    {"ramp", 3, .three = ramp_between},
    {"smooth", 3, .three = smooth_between},
};

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static const yk_expression_word words[] = {
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

const yk_expression_word *yk_expression_words(void)
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
    /* Digits with a point: ".5" and "5." are numbers, "." is none. */
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

    /* An exponent, where digits follow: "2e" is a number and a name. */
    if (at[length] == 'e' || at[length] == 'E') {
        size_t sign = at[length + 1] == '+' || at[length + 1] == '-';
        size_t exponent = digits(at + length + 1 + sign);
        if (exponent)
            length += 1 + sign + exponent;
    }

    return length;
}

bool yk_number_read(const char *text, double *value)
{
    const char *start = text + (*text == '+' || *text == '-');
    size_t length = number_length(start);
    char copy[400];
    if (!length || start[length] || length + 1 >= sizeof copy)
        return false;

    /* strtod wants the decimal point of the locale that the host program may have set (localeconv
     * is not thread-safe). */
    snprintf(copy, sizeof copy, "%s", text);
    char *point = strchr(copy, '.');
    if (point)
        *point = nl_langinfo(RADIXCHAR)[0];
    *value = strtod(copy, NULL);

    return true;
}

/* Scanner -------------------------------------------------------------------------------------- */

enum { DEPTH_MAX = 64, NAME_MAX_LENGTH = 60 };

typedef enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN, TOKEN_BAD } token_kind;

typedef struct token {
    token_kind kind;
    const char *start;
    size_t length;
} token;

/* Not isalpha: its answer depends on the locale. */
static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool continues_name(char c)
{
    return starts_name(c) || (c >= '0' && c <= '9');
}

static token next_token(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n')
        at++;
    if (!*at)
        return (token){TOKEN_END, at, 0};

    /* Names may be dotted: tip.position. */
    size_t length = 0;
    if (starts_name(*at)) {
        while (continues_name(at[length]) || (at[length] == '.' && starts_name(at[length + 1])))
            length++;
        return (token){TOKEN_NAME, at, length};
    }

    /* Numbers without a sign, which is an operator. */
    length = number_length(at);
    if (length)
        return (token){TOKEN_NUMBER, at, length};

    /* Operators of two characters before those of one. */
    static const char *const pairs[] = {"<=", ">=", "==", "!=", "&&", "||"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strncmp(at, pairs[i], 2) == 0)
            return (token){TOKEN_SIGN, at, 2};
    if (strchr("+-*/^()<>?:,", *at))
        return (token){TOKEN_SIGN, at, 1};

    return (token){TOKEN_BAD, at, 1};
}

static bool token_is(token t, const char *text)
{
    return t.length == strlen(text) && strncmp(t.start, text, t.length) == 0;
}

static const function_row *find_function(const char *name, size_t length)
{
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (strlen(functions[i].name) == length && strncmp(functions[i].name, name, length) == 0)
            return &functions[i];
    return NULL;
}

const char *yk_expression_reserved(const char *name)
{
    /* Words that the scanner reads as one name. */
    size_t length = 0;
    while (continues_name(name[length]))
        length++;
    if (!starts_name(name[0]) || name[length] || length > NAME_MAX_LENGTH)
        return "is not a word of at most 60 letters, digits and '_'";
    if (find_function(name, strlen(name)))
        return "is the name of a function";
    if (strcmp(name, "pi") == 0)
        return "is the number 3.14159...";

    return NULL;
}

void yk_expression_names(const char *text,
                         void (*visit)(void *user, const char *name, size_t length), void *user)
{
    for (token t = next_token(text); t.kind != TOKEN_END; t = next_token(t.start + t.length)) {
        bool known = t.kind != TOKEN_NAME || find_function(t.start, t.length) || token_is(t, "pi");
        if (!known)
            visit(user, t.start, t.length);
    }
}

struct yk_expression {
    yk_context *context;
    muParserHandle_t parser;
    int variable_count;
    bool varies;
    pthread_mutex_t lock; /* of the parser, which holds the variables */
    double variables[YK_EXPRESSION_VARIABLES_MAX];
};

/* An open parenthesis, with the function whose arguments it holds. */
typedef struct group {
    const function_row *function; /* NULL: plain */
    const char *start;
    int commas;
} group;

typedef struct scanner {
    const char *text;
    const yk_scope *scope;
    yk_expression *expression;
    yk_expression_error *error;
    const function_row *called; /* a function whose '(' comes next */
    bool has_operand; /* an operand is complete: an operator or a closing sign comes next */
    bool has_sign;    /* the operand that comes next has a '+' or '-' of its own */
    group groups[DEPTH_MAX];
    int depth;
} scanner;

static bool complain(scanner *s, const char *start, size_t length, const char *format, ...)
    YK_PRINTF(4, 5);

static bool complain(scanner *s, const char *start, size_t length, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->error->message, sizeof s->error->message, format, arguments);
    va_end(arguments);
    s->error->offset = (size_t)(start - s->text);
    s->error->length = length;

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

/* An unknown function or value, with the nearest that is known. */
static bool unknown_name(scanner *s, token t, bool function)
{
    const yk_scope *scope = s->scope;
    char word[NAME_MAX_LENGTH + 1];
    int length = (int)(t.length < sizeof word ? t.length : sizeof word);
    snprintf(word, sizeof word, "%.*s", length, t.start);
    if (strcmp(word, "t") == 0 && !function)
        return complain(s, t.start, t.length,
                        "time 't' cannot be used here: the value must be constant");

    /* Short words are near to everything: they must fit better. */
    const char *nearest = NULL;
    int limit = 2;
    if (strlen(word) <= 4)
        limit = 1;
    if (strlen(word) <= 1)
        limit = 0;

    /* Functions are not meant where values stand, nor the other way round. */
    if (function) {
        for (int i = 0; i < FUNCTION_COUNT; i++)
            consider(word, functions[i].name, &limit, &nearest);
    } else {
        for (int i = 0; i < scope->parameter_count; i++)
            consider(word, scope->parameters[i].name, &limit, &nearest);
        for (int i = 0; i < scope->variable_count; i++)
            consider(word, scope->variables[i], &limit, &nearest);

        consider(word, "pi", &limit, &nearest);
    }

    /* With the nearest, or with where names are defined. */
    const char *what = function ? "function" : "name";
    const char *remedy = function ? "" : "; define it under 'parameters'";
    if (nearest)
        return complain(s, t.start, t.length, "unknown %s '%s'; did you mean '%s'?", what, word,
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

/* A name that no operator would give a meaning to: after a number, a unit. */
static bool is_unknown(const scanner *s, token t)
{
    return t.kind == TOKEN_NAME && !is_value(s->scope, t) && !find_function(t.start, t.length);
}

/* A function, whose arguments follow, or a value; the parser learns the names that occur. */
static bool scan_name(scanner *s, token t)
{
    yk_expression *e = s->expression;
    const yk_scope *scope = s->scope;
    bool call = *next_token(t.start + t.length).start == '(';
    const function_row *row = find_function(t.start, t.length);
    if (row && !call)
        return complain(s, t.start, t.length,
                        "'%s' is a function; its arguments in parentheses are missing", row->name);

    /* The functions that occur are given to the parser, no others. */
    s->called = row;
    if (row) {
        if (row->one)
            mupDefineFun1(e->parser, row->name, row->one, 1);
        if (row->two)
            mupDefineFun2(e->parser, row->name, row->two, 1);
        if (row->three)
            mupDefineFun3(e->parser, row->name, row->three, 1);
        if (row->many)
            mupDefineMultFun(e->parser, row->name, row->many, 1);
        return true;
    }

    /* What looks like a call and is none. */
    if (call && !is_value(scope, t))
        return unknown_name(s, t, true);
    if (call)
        return complain(s, t.start, t.length,
                        "'%.*s' is not a function; an operator is missing before '('",
                        (int)(t.length < 60 ? t.length : 60), t.start);

    /* A variable, whose value comes with each evaluation, or a constant. */
    char name[NAME_MAX_LENGTH + 1];
    if (t.length >= sizeof name)
        return unknown_name(s, t, false);

    snprintf(name, sizeof name, "%.*s", (int)t.length, t.start);

    /* Variables hide parameters of the same name. */
    for (int i = 0; i < scope->variable_count; i++) {
        if (strcmp(name, scope->variables[i]) != 0)
            continue;

        mupDefineVar(e->parser, name, &e->variables[i]);
        e->varies = true;
        return true;
    }

    for (int i = 0; i < scope->parameter_count; i++) {
        if (strcmp(name, scope->parameters[i].name) != 0)
            continue;

        mupDefineConst(e->parser, name, scope->parameters[i].value);
        return true;
    }

    if (strcmp(name, "pi") != 0)
        return unknown_name(s, t, false);

    mupDefineConst(e->parser, name, 3.14159265358979323846);
    return true;
}

/* Parentheses must fit, and functions have the arguments that they take. */
static bool scan_sign(scanner *s, token t, token before)
{
    /* A group, with the function whose arguments it holds. */
    if (*t.start == '(') {
        if (s->depth == DEPTH_MAX)
            return complain(s, t.start, 1, "more than %d nested parentheses", DEPTH_MAX);

        s->groups[s->depth++] = (group){.function = s->called, .start = t.start};
        return true;
    }

    /* Between arguments. */
    if (*t.start == ',') {
        group *inner = s->depth ? &s->groups[s->depth - 1] : NULL;
        if (!inner || !inner->function)
            return complain(s, t.start, 1,
                            "a ',' separates the arguments of a function; decimals take a point");

        inner->commas++;
        return true;
    }

    if (*t.start != ')')
        return true;

    /* The end of a group. */
    if (s->depth == 0)
        return complain(s, t.start, 1, "')' without a '(' before it");

    group closed = s->groups[--s->depth];
    bool empty = token_is(before, "(");
    if (!closed.function && empty)
        return complain(s, t.start, 1, "nothing between '(' and ')'");
    if (!closed.function)
        return true;

    /* The number of arguments; some functions take any. */
    int given = empty ? 0 : closed.commas + 1;
    int wanted = closed.function->arguments;
    size_t length = (size_t)(t.start - closed.start) + 1;
    if (wanted == 0 && given == 0)
        return complain(s, closed.start, length, "'%s' takes at least 1 argument, not 0",
                        closed.function->name);
    if (wanted > 0 && given != wanted)
        return complain(s, closed.start, length, "'%s' takes %d argument%s, not %d",
                        closed.function->name, wanted, wanted > 1 ? "s" : "", given);

    return true;
}

/* Operands and operators must alternate. */
static bool check_order(scanner *s, token t, token before)
{
    char first = *t.start;
    int shown = (int)(t.length < 60 ? t.length : 60);
    bool value = t.kind == TOKEN_NUMBER || t.kind == TOKEN_NAME;
    if (before.kind == TOKEN_NUMBER && is_unknown(s, t))
        return complain(s, t.start, t.length, "remove '%.*s': numbers stand without units", shown,
                        t.start);

    /* What begins an operand comes after an operator, or as the arguments of a function. */
    bool opens = value || first == '(';
    bool arguments = first == '(' && s->called;
    if (opens && s->has_operand && !arguments)
        return complain(s, t.start, t.length, "an operator is missing before '%.*s'", shown,
                        t.start);

    /* All else comes after an operand, but for one sign of an operand. An empty group has a message
     * of its own. */
    bool empty = first == ')' && token_is(before, "(");
    bool sign = (first == '+' || first == '-') && !s->has_operand;
    if (!opens && !s->has_operand && !empty && (!sign || s->has_sign))
        return complain(s, t.start, t.length,
                        "'%.*s' cannot stand here; an operand is missing before it", (int)t.length,
                        t.start);

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
    token before = {TOKEN_END, NULL, 0};
    token t = next_token(s->text);
    for (; t.kind != TOKEN_END; before = t, t = next_token(t.start + t.length)) {
        if (t.kind == TOKEN_BAD && *t.start == '=')
            return complain(s, t.start, t.length, "'=' has no meaning here; equality is '=='");
        if (t.kind == TOKEN_BAD)
            return complain(s, t.start, t.length, "this character has no meaning in an expression");

        /* 2x instead of 2*x. */
        bool adjacent = before.start && before.start + before.length == t.start;
        bool product = before.kind == TOKEN_NUMBER && t.kind == TOKEN_NAME && !is_unknown(s, t);
        if (adjacent && product)
            return complain(s, before.start, before.length + t.length,
                            "an operator is missing; write %.*s*%.*s",
                            (int)(before.length < 40 ? before.length : 40), before.start,
                            (int)(t.length < 40 ? t.length : 40), t.start);

        /* What it is, at this point of the text. */
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

    /* What is missing at the end. */
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

/* Many times what a parser takes: `yoke check` of a scenario of 19 000 short expressions has a peak
 * of 197 MB in all, and an expression has at most YK_EXPRESSION_LENGTH_MAX characters. */
enum { PARSER_BYTES = 1 << 19 };

/* Compiling ------------------------------------------------------------------------------------ */

static void ignore_error(muParserHandle_t parser)
{
    (void)parser; /* mupError tells */
}

yk_status yk_expression_create(yk_context *context, const char *text, const yk_scope *scope,
                               yk_expression_error *error, yk_expression **expression)
{
    *expression = NULL;
    *error = (yk_expression_error){0};
    if (scope->variable_count > YK_EXPRESSION_VARIABLES_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT, "an expression can have at most %d variables",
                       YK_EXPRESSION_VARIABLES_MAX);

    yk_expression *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->variable_count = scope->variable_count;
    pthread_mutex_init(&made->lock, NULL);

    /* muParser throws where it gets no memory, and nobody in C can catch that: the program would be
     * aborted. So it is asked only where there is more than it takes. */
    void *room = malloc(PARSER_BYTES);
    free(room);
    if (room)
        made->parser = mupCreate(muBASETYPE_FLOAT);
    if (!made->parser) {
        yk_expression_destroy(made);
        return yk_fail(context, YK_ERROR_MEMORY, "out of memory for expression '%.200s'", text);
    }

    /* A parser that knows no names but those that the scanner finds. */
    muParserHandle_t parser = made->parser;
    mupSetErrorHandler(parser, ignore_error);
    mupDefineNameChars(parser, "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.");
    mupClearFun(parser);
    mupClearConst(parser);
    scanner s = {.text = text, .scope = scope, .expression = made, .error = error};
    bool good = scan(&s);

    /* The first evaluation makes the byte code. The scanner leaves only one mistake to find. */
    if (good) {
        mupErrorReset(parser);
        mupSetExpr(parser, text);
        mupEval(parser);
        if (mupError(parser))
            good = complain(&s, text, strlen(text),
                            "the '?' and ':' of a condition do not fit; it reads a ? b : c");
    }

    if (!good) {
        yk_expression_destroy(made);
        return yk_fail(context, YK_ERROR_INPUT, "expression '%.200s': %s", text, error->message);
    }
    *expression = made;

    return YK_OK;
}

void yk_expression_destroy(yk_expression *expression)
{
    if (!expression)
        return;
    if (expression->parser)
        mupRelease(expression->parser);
    pthread_mutex_destroy(&expression->lock);
    yk_release(expression->context, expression);
}

double yk_expression_value(yk_expression *expression, const double *variables)
{
    pthread_mutex_lock(&expression->lock);
    for (int i = 0; i < expression->variable_count; i++)
        expression->variables[i] = variables[i];
    double value = mupEval(expression->parser);
    pthread_mutex_unlock(&expression->lock);
    return value;
}

bool yk_expression_varies(const yk_expression *expression)
{
    return expression->varies;
}

static double value_at(void *user, double t)
{
    double variables[YK_EXPRESSION_VARIABLES_MAX] = {t};
    return yk_expression_value(user, variables);
}

yk_function yk_expression_function(yk_expression *expression)
{
    return (yk_function){.value = value_at, .user = expression};
}

yk_status yk_expression_constant(yk_context *context, const char *text, const yk_scope *scope,
                                 yk_expression_error *error, double *value)
{
    *error = (yk_expression_error){.length = strlen(text)};

    /* Most constants are plain numbers, which need no parser. */
    if (!yk_number_read(text, value)) {
        yk_scope constants = *scope;
        constants.variable_count = 0;
        yk_expression *expression = NULL;
        yk_status status = yk_expression_create(context, text, &constants, error, &expression);
        if (status != YK_OK)
            return status;
        *value = yk_expression_value(expression, NULL);
        yk_expression_destroy(expression);
        error->length = strlen(text);
    }

    if (isfinite(*value))
        return YK_OK;

    /* Infinity and NaN spread through a model: they are mistakes here. */
    const char *reason = "a division by zero, or an overflow";
    if (isnan(*value))
        reason = "0/0, or a function outside its domain";

    snprintf(error->message, sizeof error->message, "the value is not finite (%s)", reason);
    return yk_fail(context, YK_ERROR_INPUT, "expression '%.200s': %s", text, error->message);
}
