/* Evaluation of the functions of time that models are given (yk_function of yoke/base.h). */
#ifndef YK_BASE_FUNCTION_H
#define YK_BASE_FUNCTION_H

#include <math.h>

#include "yoke/base.h"

static inline double yk_function_value(yk_function function, double t)
{
    return function.value ? function.value(function.user, t) : 0;
}

static inline double yk_function_next_event(yk_function function, double t)
{
    return function.next_event ? function.next_event(function.user, t) : INFINITY;
}

#endif
