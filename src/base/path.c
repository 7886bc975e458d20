/* Paths of files. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

size_t yk_text_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The folder of a file, with links resolved and a slash at its end, from malloc(); NULL if it does not exist. */
static char *real_folder(const char *path)
{
    size_t length = yk_text_folder(path);
    char *folder = length > 0 ? strndup(path, length) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    if (!real)
        return NULL;

    size_t end = strlen(real);
    char *whole = realloc(real, end + 2);
    if (!whole) {
        free(real);
        return NULL;
    }

    if (whole[end - 1] != '/')
        strcpy(whole + end, "/");
    return whole;
}

char *yk_path_relative(yk_context *context, const char *path, const char *other)
{
    char *folder = real_folder(path);
    char *from = real_folder(other);
    if (!folder || !from) {
        free(folder);
        free(from);
        return yk_text_copy(context, path);
    }

    /* Length of the path of the deepest common folder. */
    size_t common = 0;
    for (size_t i = 0; folder[i] && folder[i] == from[i]; i++)
        if (folder[i] == '/')
            common = i + 1;

    yk_text text = {0};
    for (const char *at = from + common; *at; at++)
        if (*at == '/')
            yk_text_add(context, &text, "../");
    yk_text_add(context, &text, "%s%s", folder + common, path + yk_text_folder(path));
    free(folder);
    free(from);
    if (!text.failed)
        return text.data;

    yk_text_destroy(context, &text);
    return NULL;
}

char *yk_path_resolve(yk_context *context, const char *relative, const char *other)
{
    yk_text text = {0};
    int folder = relative[0] == '/' ? 0 : (int)yk_text_folder(other);
    yk_text_add(context, &text, "%.*s%s", folder, other, relative);
    if (!text.failed)
        return text.data;

    yk_text_destroy(context, &text);
    return NULL;
}
