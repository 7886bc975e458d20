/* Reading a record back: HDF5 and journals are known by how they begin, all else is taken for
 * CSV. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "record/hdf5_access.h"
#include "record/journal.h"
#include "record/memory.h"

/* With a word about the file that a run which did not finish leaves behind. */
static yk_status cannot_open(yk_context *context, const char *path, int error)
{
    /* The journal of a run that goes on, or was killed, may be beside it. */
    char part[4096];
    struct stat there;
    snprintf(part, sizeof part, "%s.part", path);
    if (error == ENOENT && stat(part, &there) == 0)
        return yk_fail(context, YK_ERROR_FILE,
                       "cannot read '%s': %s. The run did not finish; what it has written is '%s'",
                       path, strerror(error), part);

    return yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, strerror(error));
}

yk_status yk_record_play(yk_context *context, const char *path, yk_recorder *to, bool *complete)
{
    struct stat there;
    *complete = true;
    if (stat(path, &there) != 0)
        return cannot_open(context, path, errno);
    if (!S_ISREG(there.st_mode))
        return yk_fail(context, YK_ERROR_FILE, "cannot read '%s': not a regular file", path);

    FILE *stream = fopen(path, "rb");
    if (!stream)
        return cannot_open(context, path, errno);

    /* The first bytes say what it is, whatever its name. */
    unsigned char start[8];
    size_t got = fread(start, 1, sizeof start, stream);
    fclose(stream);
    if (got == 0)
        return yk_fail(context, YK_ERROR_INPUT, "'%s' is empty", path);

    yk_status status;
    if (yk_hdf5_begins(start, got)) {
        status = yk_hdf5_load(context, path, to, complete);
    } else if (yk_is_journal(start, got)) {
        yk_journal_contents contents;
        status = yk_journal_play_file(context, path, to, &contents);
        *complete = contents.complete;
    } else {
        status = yk_csv_load(context, path, to, complete);
    }

    /* The file asks for what no recorder takes: twice the same name, no name. */
    if (status == YK_ERROR_ARGUMENT)
        return yk_fail(context, YK_ERROR_INPUT, "'%s': %s", path, yk_last_message(context));
    return status;
}

yk_status yk_record_load(yk_context *context, const char *path, yk_record **record)
{
    *record = NULL;
    yk_record *made = NULL;
    bool complete = false;
    yk_status status = yk_record_create(context, &made);
    if (status == YK_OK)
        status = yk_record_play(context, path, yk_record_recorder(made), &complete);
    if (status == YK_OK && !complete)
        yk_record_close(made);
    if (status == YK_OK && yk_record_rows(made) == 0)
        status = yk_fail(context, YK_ERROR_INPUT,
                         "'%s' holds no samples: the run ended before its first one", path);
    if (status != YK_OK) {
        yk_record_destroy(made);
        return status;
    }

    *record = made;

    return YK_OK;
}
