#include "interop/fmi/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zip.h>

#include "base/input.h"
#include "base/text.h"

enum { PATH_BYTES = 4096, BLOCK = 1 << 12 };

/* Names ---------------------------------------------------------------------------------------- */

/* The reason why an entry may not be unpacked under this name; NULL: it may. */
static const char *why_not(const char *name)
{
    if (name[0] == '\0')
        return "has no name";

    /* Absolute paths, including those of Windows, lead out of the folder. */
    if (name[0] == '/' || strchr(name, '\\') || (name[0] && name[1] == ':'))
        return "is not a relative path with '/'";

    if (strlen(name) > 1000)
        return "has a name of more than 1000 bytes";

    /* No part of it may be "..". */
    for (const char *at = name; *at;) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.')
            return "leaves the folder of the FMU";

        at += length;
        if (*at == '/')
            at++;
    }

    return NULL;
}

/* An entry of the archive by its name. */
typedef struct named_entry {
    const char *name;
    zip_uint64_t index;
} named_entry;

/* By name, then by place in the archive. */
static int compare_entries(const void *a, const void *b)
{
    const named_entry *x = a;
    const named_entry *y = b;
    int order = strcmp(x->name, y->name);
    if (order != 0)
        return order;
    return (x->index > y->index) - (x->index < y->index);
}

/* Checking ------------------------------------------------------------------------------------- */

/* All checks of a single entry. */
static yk_status check_entry(yk_context *context, zip_t *archive, zip_int64_t index,
                             const zip_stat_t *entry, const char *file)
{
    const char *reason = why_not(entry->name);
    if (reason)
        return yk_fail(context, YK_ERROR_INPUT, "%s: the entry '%.200s' %s", file, entry->name,
                       reason);

    if (entry->size > YK_ARCHIVE_ENTRY_BYTES_MAX)
        return yk_fail(context, YK_ERROR_INPUT,
                       "%s: the entry '%.200s' has %llu bytes unpacked, more than the limit of "
                       "%llu for one entry",
                       file, entry->name, (unsigned long long)entry->size,
                       (unsigned long long)YK_ARCHIVE_ENTRY_BYTES_MAX);

    /* A decompression bomb: a small archive with huge contents. */
    bool suspicious = entry->size > 1 << 20 && entry->comp_size > 0 &&
                      entry->size / entry->comp_size > YK_ARCHIVE_RATIO_MAX;

    if (suspicious)
        return yk_fail(context, YK_ERROR_INPUT,
                       "%s: the entry '%.200s' grows from %llu to %llu bytes, more than the limit "
                       "of %d times",
                       file, entry->name, (unsigned long long)entry->comp_size,
                       (unsigned long long)entry->size, YK_ARCHIVE_RATIO_MAX);

    /* A symbolic link could refer to anything, and a later entry could be written through it. */
    zip_uint8_t system;
    zip_uint32_t attributes;
    zip_uint64_t number = (zip_uint64_t)index;
    int known = zip_file_get_external_attributes(archive, number, 0, &system, &attributes);

    if (known == 0 && system == ZIP_OPSYS_UNIX && S_ISLNK(attributes >> 16))
        return yk_fail(context, YK_ERROR_INPUT, "%s: the entry '%.200s' is a symbolic link", file,
                       entry->name);

    return YK_OK;
}

/* Whether two entries have the same bytes. */
static bool entries_are_equal(zip_t *archive, zip_uint64_t first, zip_uint64_t second)
{
    zip_file_t *a = zip_fopen_index(archive, first, 0);
    zip_file_t *b = zip_fopen_index(archive, second, 0);
    bool equal = a && b;
    uint64_t total = 0;
    for (bool more = equal; more;) {
        /* The library may return fewer bytes than asked for only at the end. */
        char blocks[2][4096];
        zip_int64_t got = zip_fread(a, blocks[0], sizeof *blocks);
        equal = got >= 0 && zip_fread(b, blocks[1], sizeof *blocks) == got &&
                memcmp(blocks[0], blocks[1], (size_t)got) == 0;
        total += equal ? (uint64_t)got : 0;
        more = equal && got > 0 && total <= YK_ARCHIVE_ENTRY_BYTES_MAX;
    }

    if (a)
        zip_fclose(a);
    if (b)
        zip_fclose(b);
    return equal && total <= YK_ARCHIVE_ENTRY_BYTES_MAX;
}

/* Checks all entries before anything is written. `repeated` has room for one mark per entry:
 * entries that repeat an earlier one are not unpacked. */
static yk_status check_archive(yk_context *context, zip_t *archive, const char *file,
                               bool *repeated)
{
    zip_int64_t count = zip_get_num_entries(archive, 0);
    if (count > YK_ARCHIVE_ENTRIES_MAX)
        return yk_fail(context, YK_ERROR_INPUT, "%s: %lld entries, more than the limit of %d", file,
                       (long long)count, YK_ARCHIVE_ENTRIES_MAX);

    named_entry *entries = yk_allocate(context, (size_t)count + 1, sizeof *entries);
    if (!entries)
        return YK_ERROR_MEMORY;

    yk_status status = YK_OK;
    uint64_t total = 0;
    for (zip_int64_t i = 0; i < count && status == YK_OK; i++) {
        zip_stat_t entry;
        zip_stat_init(&entry);

        if (zip_stat_index(archive, (zip_uint64_t)i, 0, &entry) != 0 || !entry.name) {
            status = yk_fail(context, YK_ERROR_INPUT, "%s: entry %lld cannot be read: %s", file,
                             (long long)i, zip_strerror(archive));
            break;
        }

        entries[i] = (named_entry){entry.name, (zip_uint64_t)i};
        total += entry.size;
        status = check_entry(context, archive, i, &entry, file);
    }

    /* Many entries below the limit of one can be too large together. */
    if (status == YK_OK && total > YK_ARCHIVE_TOTAL_BYTES_MAX)
        status = yk_fail(context, YK_ERROR_INPUT,
                         "%s: %llu bytes unpacked, more than the limit of %llu", file,
                         (unsigned long long)total, (unsigned long long)YK_ARCHIVE_TOTAL_BYTES_MAX);

    /* If one name had different contents, their meaning would depend on the reading program.
     * Folders are equal however often they are named. */
    if (status == YK_OK)
        qsort(entries, (size_t)count, sizeof *entries, compare_entries);
    for (zip_int64_t i = 1; i < count && status == YK_OK; i++) {
        const char *name = entries[i].name;
        size_t length = strlen(name);
        bool folder = length > 0 && name[length - 1] == '/';
        if (folder || strcmp(entries[i - 1].name, name) != 0)
            continue;

        repeated[entries[i].index] = true;
        if (!entries_are_equal(archive, entries[i - 1].index, entries[i].index))
            status =
                yk_fail(context, YK_ERROR_INPUT,
                        "%s: the entry '%.200s' occurs twice with different contents", file, name);
    }

    yk_free(context, entries);
    return status;
}

/* Unpacking ------------------------------------------------------------------------------------ */

/* Unpacks one entry to its file, and creates the folders above it. The size in the directory of the
 * archive may be wrong: the unpacked size counts. */
static yk_status unpack_entry(yk_context *context, zip_t *archive, zip_uint64_t index,
                              const char *folder, const char *file)
{
    const char *name = zip_get_name(archive, index, 0);
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return yk_fail(context, YK_ERROR_INPUT, "%s: the path of '%.200s' is too long", file, name);

    /* The folders above it, from the outermost one on. */
    bool made = true;
    for (char *at = path + strlen(folder) + 1; made && (at = strchr(at, '/')); at++) {
        *at = '\0';
        made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *at = '/';
    }

    if (!made)
        return yk_fail(context, YK_ERROR_FILE, "cannot make the folder of %s: %s", path,
                       strerror(errno));

    /* A folder is an entry without contents. */
    if (name[strlen(name) - 1] == '/')
        return YK_OK;

    zip_file_t *from = zip_fopen_index(archive, index, 0);
    if (!from)
        return yk_fail(context, YK_ERROR_INPUT, "%s: the entry '%.200s' cannot be unpacked: %s",
                       file, name, zip_strerror(archive));

    /* An existing file would have been put there by another process. */
    FILE *to = fopen(path, "wbx");
    if (!to) {
        zip_fclose(from);
        return yk_fail(context, YK_ERROR_FILE, "cannot write %s: %s", path, strerror(errno));
    }

    /* Read no more than was checked, even if the directory of the archive states more. */
    char block[BLOCK];
    uint64_t total = 0;
    zip_int64_t got;
    bool written = true;
    while (written && (got = zip_fread(from, block, sizeof block)) > 0) {
        size_t bytes = (size_t)got;
        total += bytes;
        written = total <= YK_ARCHIVE_ENTRY_BYTES_MAX && fwrite(block, 1, bytes, to) == bytes;
    }

    /* A full disk may be reported only here. */
    written = fclose(to) == 0 && written;
    zip_fclose(from);

    if (!written)
        return yk_fail(context, YK_ERROR_FILE, "cannot write %s: %s", path, strerror(errno));
    if (got < 0)
        return yk_fail(context, YK_ERROR_INPUT,
                       "%s: the entry '%.200s' cannot be unpacked: the archive is damaged", file,
                       name);
    return YK_OK;
}

/* Folders ------------------------------------------------------------------------------------- */

/* Calls the function for everything in a folder, and for each folder after its contents, with the
 * name after the first `prefix` bytes of its path; stops at the first failure. Symbolic links are
 * not followed. */
static bool walk(const char *folder, size_t prefix,
                 bool (*visit)(void *user, const char *path, const char *name, bool folder),
                 void *user)
{
    DIR *list = opendir(folder);
    if (!list)
        return false;

    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(list));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;

        char path[PATH_BYTES];
        struct stat status;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        good = length < (int)sizeof path && lstat(path, &status) == 0;

        if (!good)
            break;

        /* The contents of a folder come before the folder, so that it can be removed. */
        if (S_ISDIR(status.st_mode))
            good = walk(path, prefix, visit, user) && visit(user, path, path + prefix, true);
        else
            good = visit(user, path, path + prefix, false);
    }

    closedir(list);
    return good;
}

static bool remove_one(void *user, const char *path, const char *name, bool folder)
{
    (void)user;
    (void)name;
    (void)folder;
    return remove(path) == 0;
}

/* Temporary folders ------------------------------------------------------------------------------
 *
 * A process holds a lock on each of its folders, by a descriptor that stays open until the folder
 * is removed. The kernel releases the lock when the process ends, also by a signal: a folder that
 * can be locked is abandoned. */

#define FOLDER_PREFIX "yoke-fmu."

/* A folder of this age (s) is locked if its process is alive. */
static const double LOCKED_BY_NOW = 60;

/* Removes abandoned folders of ended processes of this user. */
static void remove_left_folders(const char *base)
{
    DIR *list = opendir(base);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (strncmp(entry->d_name, FOLDER_PREFIX, strlen(FOLDER_PREFIX)) != 0)
            continue;

        char path[PATH_BYTES];
        if (snprintf(path, sizeof path, "%s/%s", base, entry->d_name) >= (int)sizeof path)
            continue;

        /* Not through a symbolic link, and nothing of another user. */
        struct stat about;
        int lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        bool left = lock >= 0 && fstat(lock, &about) == 0 && about.st_uid == geteuid() &&
                    difftime(time(NULL), about.st_mtime) > LOCKED_BY_NOW &&
                    flock(lock, LOCK_EX | LOCK_NB) == 0;
        if (left) {
            walk(path, 0, remove_one, NULL);
            rmdir(path);
        }
        if (lock >= 0)
            close(lock);
    }

    if (list)
        closedir(list);
}

/* Closes the descriptor that holds the lock on a folder of this process. */
static void release_lock(const char *folder)
{
    struct stat wanted;
    DIR *list = stat(folder, &wanted) == 0 ? opendir("/proc/self/fd") : NULL;
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        struct stat about;
        bool open =
            end != entry->d_name && number != dirfd(list) && fstat((int)number, &about) == 0;
        if (open && about.st_dev == wanted.st_dev && about.st_ino == wanted.st_ino) {
            close((int)number);
            break;
        }
    }

    if (list)
        closedir(list);
}

yk_status yk_archive_folder(yk_context *context, char **folder)
{
    /* The folder chosen by the user, if it is valid. */
    const char *base = getenv("TMPDIR");
    if (!base || base[0] != '/')
        base = "/tmp";

    char path[PATH_BYTES];
    *folder = NULL;
    remove_left_folders(base);
    if (snprintf(path, sizeof path, "%s/" FOLDER_PREFIX "XXXXXX", base) >= (int)sizeof path)
        return yk_fail(context, YK_ERROR_FILE, "the path of the temporary folder is too long");

    if (!mkdtemp(path))
        return yk_fail(context, YK_ERROR_FILE, "cannot make a temporary folder in %s: %s", base,
                       strerror(errno));

    /* On file systems without locks, the folder of a killed process remains. */
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0) {
        close(lock);
        lock = -1;
    }

    *folder = yk_text_copy(context, path);
    if (*folder)
        return YK_OK;
    if (lock >= 0)
        close(lock);
    rmdir(path);
    return YK_ERROR_MEMORY;
}

/* Into a new folder: the given one, or with NULL a temporary one. */
static yk_status unpack(yk_context *context, const char *file, const char *wanted, char **folder)
{
    *folder = NULL;

    /* The directory at the end of the archive counts. Headers before the entries need not agree
     * with it: programs that write in one pass, such as CMake, leave sizes open there. */
    int code;
    yk_status readable = yk_regular_check(context, file, YK_ERROR_FILE);
    if (readable != YK_OK)
        return readable;

    zip_t *archive = zip_open(file, ZIP_RDONLY, &code);
    if (!archive) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);

        yk_status status = YK_ERROR_INPUT;
        if (code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ)
            status = YK_ERROR_FILE;

        yk_fail(context, status, "%s cannot be opened as a ZIP archive: %s", file,
                zip_error_strerror(&error));
        zip_error_fini(&error);
        return status;
    }

    /* All entries are checked before one of them is written. */
    zip_int64_t count = zip_get_num_entries(archive, 0);
    bool *repeated = yk_allocate(context, (size_t)count + 1, sizeof *repeated);
    yk_status status = YK_ERROR_MEMORY;
    if (repeated)
        status = check_archive(context, archive, file, repeated);
    if (status == YK_OK && !wanted) {
        status = yk_archive_folder(context, folder);
    } else if (status == YK_OK) {
        if (mkdir(wanted, 0755) != 0)
            status = yk_fail(context, YK_ERROR_FILE, "cannot make the folder %s: %s", wanted,
                             strerror(errno));
        else if (!(*folder = yk_text_copy(context, wanted)))
            status = YK_ERROR_MEMORY;
    }

    for (zip_int64_t i = 0; *folder && i < count && status == YK_OK; i++)
        if (!repeated[i])
            status = unpack_entry(context, archive, (zip_uint64_t)i, *folder, file);

    zip_discard(archive);
    yk_free(context, repeated);

    /* Remove the incomplete folder. */
    if (status != YK_OK) {
        yk_archive_remove(context, *folder);
        *folder = NULL;
    }

    return status;
}

yk_status yk_archive_unpack(yk_context *context, const char *file, char **folder)
{
    return unpack(context, file, NULL, folder);
}

yk_status yk_archive_unpack_to(yk_context *context, const char *file, const char *folder)
{
    char *made;
    yk_status status = unpack(context, file, folder, &made);
    yk_free(context, made);
    return status;
}

/* Files of folders ----------------------------------------------------------------------------- */

void yk_archive_remove(yk_context *context, char *folder)
{
    if (!folder)
        return;

    /* The folder itself is not visited. */
    walk(folder, 0, remove_one, NULL);
    release_lock(folder);
    rmdir(folder);
    yk_free(context, folder);
}

static bool pack_one(void *user, const char *path, const char *name, bool folder)
{
    zip_t *archive = user;
    if (folder)
        return true;

    zip_source_t *source = zip_source_file(archive, path, 0, -1);
    if (!source)
        return false;

    zip_int64_t index = zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return false;
    }

    /* The fastest level: higher ones reduce the size by a tenth at ten times the cost. */
    zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_DEFLATE, 1);
    return true;
}

yk_status yk_archive_pack(yk_context *context, const char *folder, const char *file)
{
    int code;
    zip_t *archive = zip_open(file, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!archive)
        return yk_fail(context, YK_ERROR_FILE, "cannot write %s: %s", file, strerror(errno));

    /* Names in the archive begin behind the folder's path and its slash. */
    if (walk(folder, strlen(folder) + 1, pack_one, archive) && zip_close(archive) == 0)
        return YK_OK;

    yk_fail(context, YK_ERROR_FILE, "cannot write %s: %s", file, zip_strerror(archive));
    zip_discard(archive);
    return YK_ERROR_FILE;
}

yk_status yk_archive_put_text(yk_context *context, const char *folder, const char *name,
                              const char *text)
{
    /* With the folders above it. */
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(path, 0755);
        *at = '/';
    }

    FILE *stream = fopen(path, "wb");
    bool good = stream && fputs(text, stream) >= 0;

    if (stream)
        good = fclose(stream) == 0 && good;
    if (!good)
        return yk_fail(context, YK_ERROR_FILE, "cannot write %s: %s", path, strerror(errno));
    return YK_OK;
}

yk_status yk_archive_put_file(yk_context *context, const char *folder, const char *name,
                              const char *from)
{
    yk_status status = yk_archive_put_text(context, folder, name, ""); /* creates its folders */
    if (status != YK_OK)
        return status;

    FILE *in = yk_regular_open(context, from, YK_ERROR_FILE);
    if (!in)
        return YK_ERROR_FILE;

    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);

    /* Block by block: a binary may be large. */
    FILE *out = fopen(path, "wb");
    bool good = out != NULL;
    char block[BLOCK];

    for (size_t got; good && (got = fread(block, 1, sizeof block, in)) > 0;)
        good = fwrite(block, 1, got, out) == got;
    good = good && !ferror(in);

    fclose(in);
    if (out)
        good = fclose(out) == 0 && good;
    if (!good)
        return yk_fail(context, YK_ERROR_FILE, "cannot copy %s to %s", from, path);
    return YK_OK;
}
