/* Memory and errors of builders: parts are collected in growing arrays, and the first error is kept with its message
 * until the object is created. */
#ifndef YK_BASE_BUILDER_H
#define YK_BASE_BUILDER_H

#include "yoke/base.h"
#include "yoke/ids.h"

enum { YK_BUILDING_MESSAGE = 512 };

typedef struct yk_building {
    yk_context *context;
    yk_status status; /* Of the first error. */
    char message[YK_BUILDING_MESSAGE];
} yk_building;

/* Keeps the context's message as the error of this builder, if it is the first. Returns YK_NO_ID. */
int yk_building_refuse(yk_building *building, yk_status status);

/* Whether `def` is not NULL. Otherwise the error names `function`. */
bool yk_building_has_def(yk_building *building, const char *function, const void *def);

/* Status of the first error, whose message is set in the context again. */
yk_status yk_building_finish(yk_building *building);

/* Appends a copy of `part` to an array. `array` points to the pointer of the array, which has `count` elements. Returns
 * the index, or YK_NO_ID. */
int yk_building_append(yk_building *building, void *array, int *count, const void *part,
                       size_t size);

/* Whether all names are different. Otherwise the error names the first duplicate. The names are `stride` bytes apart;
 * NULL and "" are not compared. */
bool yk_building_unique(yk_building *building, const char *what, const void *first_name, int count,
                        size_t stride);

#endif
