/* Names of ports and channels, made of those of the parts. */
#include "physics/names.h"

#include <stdio.h>
#include <string.h>

char *yk_name_join(yk_context *context, const char *text, const char *ending)
{
    size_t bytes = strlen(text) + strlen(ending) + 1;
    char *made = yk_allocate(context, bytes, 1);
    if (made)
        snprintf(made, bytes, "%s%s", text, ending);

    return made;
}

yk_status yk_name_channels(yk_context *context, const yk_channel_rows *of, yk_channel **channels,
                           char **names)
{
    /* The longest name: part, dot, row. */
    size_t part_width = 0;
    for (int i = 0; i < of->part_count; i++) {
        size_t length = strlen(of->part_name(of->user, i));
        if (length > part_width)
            part_width = length;
    }

    size_t row_width = 0;
    for (int i = 0; i < of->row_count; i++) {
        size_t length = strlen(of->rows[i].name);
        if (length > row_width)
            row_width = length;
    }

    size_t width = part_width + row_width + 2;

    /* One channel per part and row. */
    int count = of->part_count * of->row_count;
    *channels = yk_allocate(context, (size_t)count, sizeof **channels);
    *names = yk_allocate(context, (size_t)count, width);
    if (!*channels || !*names)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++) {
        const yk_channel_row *row = &of->rows[i % of->row_count];
        char *name = *names + (size_t)i * width;
        snprintf(name, width, "%s.%s", of->part_name(of->user, i / of->row_count), row->name);
        (*channels)[i] = (yk_channel){name, row->unit, 1};
    }

    return YK_OK;
}
