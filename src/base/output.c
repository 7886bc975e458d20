#define _XOPEN_SOURCE 700 /* realpath */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates a file next to another one. Returns its descriptor, or -1 with errno. *name is from malloc(). */
static int create_next_to(const char *path, char **name)
{
    /* A killed process with the same id may have left files. */
    enum { ATTEMPTS = 100 };
    size_t capacity = strlen(path) + 48;
    *name = malloc(capacity);
    int descriptor = -1;
    for (int i = 0; *name && descriptor < 0 && i < ATTEMPTS; i++) {
        snprintf(*name, capacity, "%s.%ld-%d.new", path, (long)getpid(), i);
        descriptor = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }

    return descriptor;
}

yk_output yk_output_open(const char *path)
{
    yk_output output = {.path = realpath(path, NULL)};
    struct stat there;
    bool exists = output.path && stat(output.path, &there) == 0;
    bool dangling = !exists && lstat(path, &there) == 0;
    if (!output.path)
        output.path = strdup(path);
    if (!output.path)
        return output;

    if (dangling || (exists && !S_ISREG(there.st_mode))) {
        output.stream = fopen(path, "wb");
        return output;
    }

    /* Renaming would also replace a write-protected file. */
    if (exists && access(output.path, W_OK) != 0)
        return output;

    int descriptor = create_next_to(output.path, &output.temporary);
    if (descriptor < 0)
        return output;

    if (exists)
        (void)!fchmod(descriptor, there.st_mode & 0777);
    output.stream = fdopen(descriptor, "wb");
    if (!output.stream) {
        int error = errno;
        close(descriptor);
        unlink(output.temporary);
        errno = error;
    }

    return output;
}

static void release(yk_output *output)
{
    free(output->path);
    free(output->temporary);
    *output = (yk_output){0};
}

void yk_output_discard(yk_output *output)
{
    int error = errno;
    if (output->stream) {
        fclose(output->stream);
        if (output->temporary)
            unlink(output->temporary);
    }

    release(output);
    errno = error;
}

bool yk_output_close(yk_output *output)
{
    if (!output->stream) {
        yk_output_discard(output);
        return false;
    }

    /* The stream does not keep the reason of an earlier error. The file is dropped anyway, so write once more to get the
     * same error again. */
    bool good = fflush(output->stream) == 0;
    int error = errno;
    if (good && ferror(output->stream)) {
        good = false;
        error = EIO;
        if (write(fileno(output->stream), "\n", 1) < 0)
            error = errno;
    }

    /* Synchronize before renaming. Some file systems do not support this. */
    if (good && output->temporary && fsync(fileno(output->stream)) != 0 && errno != EINVAL &&
        errno != ENOTSUP) {
        good = false;
        error = errno;
    }

    if (fclose(output->stream) != 0 && good) {
        good = false;
        error = errno;
    }

    if (good && output->temporary && rename(output->temporary, output->path) != 0) {
        good = false;
        error = errno;
    }

    if (!good && output->temporary)
        unlink(output->temporary);
    release(output);
    errno = error;
    return good;
}
