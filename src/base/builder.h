/* What all builders of the public interface share: parts are collected in growing arrays, and the
 * first mistake is kept, with its message, until the whole is asked for. */
#ifndef YK_BASE_BUILDING_H
#define YK_BASE_BUILDING_H

#include "yoke/base.h"

enum { YK_BUILDING_MESSAGE = 512 };

typedef struct yk_building {
    yk_context *context;
    yk_status status; /* of the first mistake */
    char message[YK_BUILDING_MESSAGE];
} yk_building;

/* Keeps a mistake whose message the context has, if it is the first. Returns YK_NO_ID. */
int yk_building_refuse(yk_building *building, yk_status status);

/* Whether a part has a def; otherwise the first error is that `function` got none. */
bool yk_building_has_def(yk_building *building, const char *function, const void *def);

/* The status of the first mistake, whose message becomes the context's again. */
yk_status yk_building_finish(yk_building *building);

/* Appends a copy of `part` to an array (a pointer to its pointer) of `count` elements. Its index,
 * or YK_NO_ID. */
int yk_building_append(yk_building *building, void *array, int *count, const void *part,
                       size_t size);

/* Whether no two parts of a list have one name; otherwise a mistake that names it. The names stand
 * `stride` bytes apart from each other; NULL and "" are no names. */
bool yk_building_unique(yk_building *building, const char *what, const void *first_name, int count,
                        size_t stride);

#endif
