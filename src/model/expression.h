/* Expressions of parameters and variables such as time, compiled once and evaluated without
 * allocation. */
#ifndef YK_MODEL_EXPRESSION_H
#define YK_MODEL_EXPRESSION_H

#include "math/polynomial.h"
#include "model/expression_code.h"
#include "model/quantity.h"
#include "yoke/base.h"
#include "yoke/option.h"

/* A name with a fixed value. */
typedef struct yk_named_value {
    const char *name;
    double value;
    yk_quantity quantity;
} yk_named_value;

/* Which quantities a function takes, and which it returns. */
typedef enum yk_function_units {
    YK_TAKES_ANY,   /* without a check; the unit of its value is not known */
    YK_TAKES_PURE,  /* pure numbers and angles; returns a pure number */
    YK_TAKES_SAME,  /* values in the same unit; returns one of them */
    YK_TAKES_RATIO, /* values in the same unit; returns a pure number */
    YK_TAKES_ROOT,
    YK_TAKES_POWER,
} yk_function_units;

/* A function, and the instruction that calls it. */
typedef struct yk_scope_function {
    const char *name;
    int arguments; /* 0: any number, at least one */
    yk_function_units units;
    yk_instruction call;
} yk_scope_function;

/* The names that an expression may use in addition to the built-in functions and pi. */
typedef struct yk_scope {
    const yk_named_value *parameters;
    int parameter_count;
    bool *used; /* per parameter: set if an expression uses it; may be NULL */
    const yk_scope_function *functions;
    int function_count;
    const char *const *variables; /* their values come with each evaluation */
    int variable_count;
    bool without_units; /* a word after a number is an error, not its unit */
} yk_scope;

enum { YK_EXPRESSION_LENGTH_MAX = 1000, YK_EXPRESSION_VARIABLES_MAX = 16 };

/* An error in an expression: its place in bytes, and the message. */
typedef struct yk_expression_error {
    size_t offset, length;
    bool wants_time; /* the expression would be valid if time were allowed */
    char message[256];
} yk_expression_error;

typedef struct yk_expression yk_expression;

/* YK_ERROR_INPUT: the text has an error, described in *error. */
yk_status yk_expression_create(yk_context *context, const char *text, const yk_scope *scope,
                               yk_expression_error *error, yk_expression **expression);
void yk_expression_destroy(yk_expression *expression);

/* One value per variable of the scope. The result may be infinite or not a number. Thread-safe. */
double yk_expression_value(const yk_expression *expression, const double *variables);
/* The quantity of the value, which is in SI, as far as it is known from units. */
yk_quantity yk_expression_quantity(const yk_expression *expression);
/* Multiplies all future values. */
void yk_expression_scale(yk_expression *expression, double factor);
/* Whether the expression uses any variable. */
bool yk_expression_varies(const yk_expression *expression);
/* A function of the scope's first variable; the expression must outlive it. */
yk_time_function yk_expression_function(yk_expression *expression);

/* The value of a constant expression, and its quantity (may be NULL); a plain number needs no
 * memory. A value that is not finite is an error. */
yk_status yk_expression_constant(yk_context *context, const char *text, const yk_scope *scope,
                                 yk_expression_error *error, double *value, yk_quantity *quantity);

/* A decimal number and nothing else, independent of the locale; false if the text is not one. */
bool yk_number_read(const char *text, double *value);

/* Reason why a word cannot name a parameter or variable ("is a function"); NULL if it can. */
const char *yk_expression_reserved(const char *name);

/* Visits the names in an expression that are neither functions nor units nor pi, in order; invalid
 * text is skipped. */
void yk_expression_names(const char *text,
                         void (*visit)(void *user, const char *name, size_t length), void *user);

/* The functions with their arguments, "ramp(t, t0, t1)", for the reference documentation. */
const yk_option_choice *yk_expression_words(void);

#endif
