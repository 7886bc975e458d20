#include "base/builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"

int yk_building_refuse(yk_building *building, yk_status status)
{
    if (building->status != YK_OK)
        return YK_NO_ID;

    building->status = status;
    strncpy(building->message, yk_last_message(building->context), YK_BUILDING_MESSAGE - 1);
    return YK_NO_ID;
}

bool yk_building_has_def(yk_building *building, const char *function, const void *def)
{
    if (def)
        return true;

    yk_building_refuse(building, yk_refuse_null(building->context, function, "def"));
    return false;
}

yk_status yk_building_finish(yk_building *building)
{
    if (building->status == YK_OK)
        return YK_OK;
    return yk_fail(building->context, building->status, "%s", building->message);
}

int yk_building_append(yk_building *building, void *array, int *count, const void *part,
                       size_t size)
{
    /* The capacity is the next power of two of the count, so it is not stored. */
    void **block = array;
    bool full = (*count & (*count - 1)) == 0;
    if (full) {
        size_t capacity = *count > 0 ? 2 * (size_t)*count : 1;
        void *grown = yk_reallocate(building->context, *block, capacity, size);
        if (!grown)
            return yk_building_refuse(building, YK_ERROR_MEMORY);
        *block = grown;
    }

    memcpy((char *)*block + (size_t)*count * size, part, size);
    return (*count)++;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool yk_building_unique(yk_building *building, const char *what, const void *first_name, int count,
                        size_t stride)
{
    const char **names = yk_allocate(building->context, (size_t)count + 1, sizeof *names);
    if (!names) {
        yk_building_refuse(building, YK_ERROR_MEMORY);
        return false;
    }

    size_t named = 0;
    for (int i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)first_name + (size_t)i * stride, sizeof name);
        if (name && name[0])
            names[named++] = name;
    }

    qsort(names, named, sizeof *names, compare_texts);

    bool unique = true;
    for (size_t i = 1; i < named && unique; i++) {
        unique = strcmp(names[i - 1], names[i]) != 0;
        if (!unique)
            yk_building_refuse(building, yk_fail(building->context, YK_ERROR_ARGUMENT,
                                                 "two %s have the name '%s'", what, names[i]));
    }

    yk_free(building->context, names);
    return unique;
}
