/* A context as the state of a group of tests: cmocka_run_group_tests_name(..., create_context,
 * destroy_context). */
#ifndef YOKE_TESTS_CONTEXT_H
#define YOKE_TESTS_CONTEXT_H

#include "yoke/base.h"

static int create_context(void **state)
{
    *state = yk_context_create(NULL);
    return *state ? 0 : -1;
}

static int destroy_context(void **state)
{
    yk_context_destroy(*state);
    return 0;
}

#endif
