/* An allocator that counts its requests and fails, either at one request or at all requests from a
 * given one. */
#ifndef YOKE_TESTS_BUDGET_H
#define YOKE_TESTS_BUDGET_H

#include <stdlib.h>

#include "yoke/base.h"

typedef struct budget {
    long made;  /* requests so far */
    long fails; /* number of the first that fails, from 0; -1: none */
    bool once;  /* the one after it is met again */
    long open;  /* blocks that are not released */
    bool failed;
} budget;

static void *budget_allocate(void *user, void *block, size_t bytes)
{
    budget *b = user;
    if (!bytes) {
        b->open -= block != NULL;
        free(block);
        return NULL;
    }
    long number = b->made++;
    if (b->fails >= 0 && (b->once ? number == b->fails : number >= b->fails)) {
        b->failed = true;
        return NULL;
    }
    void *memory = realloc(block, bytes);
    b->open += memory && !block;
    return memory;
}

/* NULL where the budget does not even reach for it. */
static yk_context *budget_context(budget *b)
{
    yk_context_def def = yk_context_default();
    def.allocate = budget_allocate;
    def.allocate_user = b;
    return yk_context_create(&def);
}

#endif
