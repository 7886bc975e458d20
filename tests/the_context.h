/* One context for all functions of a test program: cmocka_run_group_tests_name(..., open_context,
 * close_context). */
#ifndef YOKE_TESTS_THE_CONTEXT_H
#define YOKE_TESTS_THE_CONTEXT_H

#include "yoke/base.h"

static yk_context *context;

static int open_context(void **state)
{
    context = *state = yk_context_create(NULL);
    return context ? 0 : -1;
}

static int close_context(void **state)
{
    yk_context_destroy(*state);
    return 0;
}

#endif
