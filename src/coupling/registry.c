/* The list of all schemes of the library. */
#include <string.h>

#include "yoke/system.h"

/* The first is the default. */
static const yk_scheme_ops *(*const schemes[])(void) = {
    yk_scheme_explicit, yk_scheme_tight,   yk_scheme_monolithic, yk_scheme_index1,
    yk_scheme_rim,      yk_scheme_relaxed, yk_scheme_loose,
};

enum { SCHEMES = sizeof schemes / sizeof *schemes };

const yk_scheme_ops *yk_scheme_at(int number)
{
    return number >= 0 && number < SCHEMES ? schemes[number]() : NULL;
}

const yk_scheme_ops *yk_scheme_find(const char *name)
{
    for (int i = 0; i < SCHEMES; i++)
        if (strcmp(schemes[i]()->name, name) == 0)
            return schemes[i]();
    return NULL;
}

yk_scheme_def yk_scheme_default(void)
{
    return (yk_scheme_def){.ops = schemes[0]()};
}
