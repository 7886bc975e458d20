/* Names of ports and channels of kinds that are made of several equal parts: "boom.spool",
 * "boom.pressure_1". */
#ifndef YK_PHYSICS_NAMES_H
#define YK_PHYSICS_NAMES_H

#include "yoke/base.h"
#include "yoke/subsystem.h"

/* The text with an ending, from the context's allocator; NULL when out of memory. */
char *yk_name_join(yk_context *context, const char *text, const char *ending);

typedef struct yk_channel_row {
    const char *name, *unit;
} yk_channel_row;

/* What every part has as channels of one component. */
typedef struct yk_channel_rows {
    const yk_channel_row *rows;
    int row_count;
    const char *(*part_name)(const void *user, int part);
    const void *user;
    int part_count;
} yk_channel_rows;

/* The channels of all parts, part by part, and one store of their names; both are the caller's to
 * release, also after a failure. */
yk_status yk_name_channels(yk_context *context, const yk_channel_rows *of, yk_channel **channels,
                           char **names);

#endif
