/* A function of time that a model is given: an expression of the scenario, a table, a constant. */
#ifndef YK_BASE_FUNCTION_H
#define YK_BASE_FUNCTION_H

#include <stddef.h>

typedef struct yk_function {
    double (*value)(void *user, double t); /* NULL: the function is zero */
    void *user;                            /* must outlive what uses the function */
} yk_function;

static inline double yk_function_value(yk_function function, double t)
{
    return function.value ? function.value(function.user, t) : 0;
}

#endif
