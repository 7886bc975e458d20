/* Common code of the tests of imports: a file of a model as the text of a scenario. */
#ifndef YK_TESTS_IMPORT_IMPORTING_H
#define YK_TESTS_IMPORT_IMPORTING_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interop/import/import.h"
#include "scenario_run.h"

/* The scenario of a model, with channels to record; to be freed. NULL where it is refused. */
static inline char *import_file(yk_context *context, const char *path,
                                const yk_import_options *options, const char *channels)
{
    yk_import *import;
    if (yk_import_read(context, path, options, &import) != YK_OK)
        return NULL;

    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    fputs(yk_import_scenario(import), to);
    fprintf(to, "record: {channels: [%s]}\n", channels);
    fclose(to);
    yk_import_destroy(import);
    return text;
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

#endif
