#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

FILE *yk_input_open(yk_context *context, const char *path, yk_status status)
{
    /* Without O_NONBLOCK a pipe that nobody writes to would hold the program here. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        yk_fail(context, status, "%s cannot be opened: %s", path, strerror(errno));
        return NULL;
    }

    struct stat about;
    bool good = fstat(descriptor, &about) == 0;
    if (!good) {
        yk_fail(context, status, "%s cannot be read: %s", path, strerror(errno));
    } else if (!S_ISREG(about.st_mode)) {
        good = false;
        yk_fail(context, status, "%s cannot be read: it is not a regular file", path);
    } else if ((uint64_t)about.st_size > YK_INPUT_MAX) {
        good = false;
        yk_fail(context, status, "%s has %lld bytes; the limit is %lld", path,
                (long long)about.st_size, (long long)YK_INPUT_MAX);
    }

    FILE *file = NULL;
    if (good) {
        file = fdopen(descriptor, "rb");
        if (!file)
            yk_fail(context, YK_ERROR_MEMORY, "%s cannot be opened: %s", path, strerror(errno));
    }

    if (!file)
        close(descriptor);
    return file;
}

yk_status yk_input_hash(yk_context *context, const char *path, uint64_t *hash)
{
    *hash = YK_HASH_START;
    FILE *file = yk_input_open(context, path, YK_ERROR_FILE);
    if (!file)
        return YK_ERROR_FILE;

    char bytes[1 << 14];
    size_t count;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        *hash = yk_hash_bytes(*hash, bytes, count);

    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return yk_fail(context, YK_ERROR_FILE, "%s cannot be read to its end", path);
    return YK_OK;
}
