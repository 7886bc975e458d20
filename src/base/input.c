#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Opens a regular file of at most `max_bytes`. */
static FILE *open_regular(yk_context *context, const char *path, uint64_t max_bytes,
                          yk_status status)
{
    /* Without O_NONBLOCK, open() waits for a writer of a pipe. */
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
        yk_fail(context, status, "%s cannot be read: not a regular file", path);
    } else if ((uint64_t)about.st_size > max_bytes) {
        good = false;
        yk_fail(context, status, "%s has %lld bytes; the limit is %llu", path,
                (long long)about.st_size, (unsigned long long)max_bytes);
    }

    /* A stream owns the descriptor. */
    FILE *file = NULL;
    if (good) {
        file = fdopen(descriptor, "rb");
        if (!file)
            yk_fail(context, YK_ERROR_MEMORY, "%s cannot be opened: %s", path, strerror(errno));
    }

    if (!file) {
        int error = errno;
        close(descriptor);
        errno = error;
    }

    return file;
}

yk_status yk_input_check(yk_context *context, FILE *file, const char *path, yk_status status)
{
    if (!ferror(file))
        return status;
    return yk_fail(context, YK_ERROR_FILE, "%s cannot be read completely: read error", path);
}

FILE *yk_input_open(yk_context *context, const char *path, yk_status status)
{
    return open_regular(context, path, YK_INPUT_MAX, status);
}

FILE *yk_regular_open(yk_context *context, const char *path, yk_status status)
{
    return open_regular(context, path, UINT64_MAX, status);
}

yk_status yk_regular_check(yk_context *context, const char *path, yk_status status)
{
    FILE *file = yk_regular_open(context, path, status);
    if (!file)
        return status;

    fclose(file);
    return YK_OK;
}

bool yk_is_irregular_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
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

    yk_status status = yk_input_check(context, file, path, YK_OK);
    fclose(file);
    return status;
}
