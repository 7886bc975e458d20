/* A function of time that a model is given: an expression of the scenario, a table, a constant. */
#ifndef YK_BASE_FUNCTION_H
#define YK_BASE_FUNCTION_H

#include <math.h>
#include <stddef.h>

typedef struct yk_function {
    double (*value)(void *user, double t); /* NULL: the function is zero */
    void *user;                            /* must outlive what uses the function */
    /* The first time after t at which it jumps or has a kink; NULL: none is known. */
    double (*next_event)(void *user, double t);
} yk_function;

static inline double yk_function_value(yk_function function, double t)
{
    return function.value ? function.value(function.user, t) : 0;
}

static inline double yk_function_next_event(yk_function function, double t)
{
    return function.next_event ? function.next_event(function.user, t) : INFINITY;
}

#endif
