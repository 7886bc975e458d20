/* The library HDF5, one thread at a time, and the driver under the files that it writes. */
#include "record/hdf5_access.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/apart.h"
#include "record/journal.h"

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

/* The library ---------------------------------------------------------------------------------- */

/* HDF5 has one state per process, and not every build of it is safe for threads. Contexts of
 * different threads are independent of each other by our own rule, so the lock has to be the
 * process's too. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static yk_hdf5_session *current; /* of the thread that holds the lock */

static herr_t keep_innermost(unsigned n, const H5E_error2_t *error, void *user)
{
    yk_hdf5_session *session = user;
    if (n != 0)
        return 0;

    session->failure = YK_HDF5_OTHER;
    bool input = error->maj_num == H5E_IO || error->maj_num == H5E_VFL;
    if (input && error->min_num == H5E_READERROR)
        session->failure = YK_HDF5_READ_ERROR;
    if (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC)
        session->failure = YK_HDF5_NO_MEMORY;
    if (error->desc)
        snprintf(session->reason, sizeof session->reason, "%s", error->desc);
    return 0;
}

/* The library calls this whenever one of its functions fails. */
static herr_t keep_reason(hid_t stack, void *user)
{
    yk_hdf5_session *session = user;
    if (session->failure == YK_HDF5_NONE)
        H5Ewalk2(stack, H5E_WALK_UPWARD, keep_innermost, session);
    return 0;
}

void yk_hdf5_lock(void)
{
    pthread_mutex_lock(&library_lock);
}

void yk_hdf5_unlock(void)
{
    pthread_mutex_unlock(&library_lock);
}

void yk_hdf5_enter(yk_hdf5_session *session)
{
    /* The library would print on stderr, which is not ours. */
    yk_hdf5_lock();
    current = session;
    session->failure = YK_HDF5_NONE;
    session->reason[0] = '\0';
    H5Eget_auto2(H5E_DEFAULT, &session->print, &session->print_data);
    H5Eset_auto2(H5E_DEFAULT, keep_reason, session);
}

void yk_hdf5_leave(const yk_hdf5_session *session)
{
    H5Eset_auto2(H5E_DEFAULT, session->print, session->print_data);
    current = NULL;
    yk_hdf5_unlock();
}

yk_status yk_hdf5_judge(yk_context *context, const yk_hdf5_session *session, const char *path,
                        yk_status status)
{
    switch (session->failure) {
    case YK_HDF5_READ_ERROR:
        return yk_fail(context, YK_ERROR_FILE, "cannot read '%s': %s", path, session->reason);
    case YK_HDF5_NO_MEMORY:
        return yk_fail(context, YK_ERROR_MEMORY, "out of memory while reading '%s'", path);
    case YK_HDF5_OTHER:
        if (status == YK_OK)
            return yk_fail(context, YK_ERROR_INPUT, "'%s' is a damaged HDF5 file: %s", path,
                           session->reason);
        return status;
    default: return status;
    }
}

bool yk_hdf5_begins(const void *start, size_t bytes)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return bytes >= sizeof signature && memcmp(start, signature, sizeof signature) == 0;
}

hid_t yk_hdf5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* Creates, writes and closes an attribute; one that was there is replaced. Takes over type and
 * space. */
static bool write_attribute(hid_t object, const char *name, hid_t type, hid_t space,
                            const void *values)
{
    /* The file is incomplete until the end says otherwise: that attribute is written twice. */
    if (H5Aexists(object, name) > 0)
        H5Adelete(object, name);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool written = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
    if (attribute >= 0 && H5Aclose(attribute) < 0)
        written = false;
    H5Sclose(space);
    H5Tclose(type);

    return written;
}

yk_status yk_hdf5_read_apart(yk_context *context, const char *path, double size,
                             yk_status (*work)(void *user, int stream),
                             yk_status (*receive)(void *user, int stream), void *user)
{
    /* What that process may take (s of the processor, bytes): so much, and so much for each byte of
     * the file, which files of any content do with a hundredth of. */
    static const double SECONDS = 5;
    static const double SECONDS_PER_BYTE = 1e-6;
    static const double BYTES = 1e9;
    static const double BYTES_PER_BYTE = 8;

    /* No other thread may be within the library when the process is copied. */
    char what[1200];
    bool crashed = false;
    snprintf(what, sizeof what, "reading '%.1000s'", path);
    yk_apart_def def = {
        .work = work,
        .receive = receive,
        .user = user,
        .seconds = SECONDS + SECONDS_PER_BYTE * size,
        .bytes = (uint64_t)(BYTES + BYTES_PER_BYTE * size),
        .idle_seconds = YK_APART_IDLE,
        .lock = yk_hdf5_lock,
        .unlock = yk_hdf5_unlock,
        .what = what,
        .crashed = &crashed,
    };

    yk_status status = yk_apart(context, &def);
    if (crashed)
        yk_fail(context, status, "'%.1000s' is a damaged HDF5 file, or memory ran out: %s", path,
                yk_last_message(context));
    return status;
}

bool yk_hdf5_write_text(hid_t object, const char *name, const char *text)
{
    return write_attribute(object, name, yk_hdf5_text_type(), H5Screate(H5S_SCALAR), &text);
}

bool yk_hdf5_write_texts(hid_t object, const char *name, const char *const *texts, size_t count)
{
    hsize_t size = count;
    return write_attribute(object, name, yk_hdf5_text_type(), H5Screate_simple(1, &size, NULL),
                           texts);
}

bool yk_hdf5_write_integer(hid_t object, const char *name, int value)
{
    return write_attribute(object, name, H5Tcopy(H5T_NATIVE_INT), H5Screate(H5S_SCALAR), &value);
}

static bool write_fixed_text(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    return write_attribute(object, name, type, H5Screate(H5S_SCALAR), text);
}

bool yk_hdf5_set_scale(yk_context *context, hid_t scale, const char *name, const hid_t *datasets,
                       size_t count)
{
    enum { ATTRIBUTE_BYTES = 60000, RANK_MAX = 3 };

    /* The list of those that a scale belongs to. */
    struct {
        hobj_ref_t dataset;
        int dimension;
    } *users = yk_allocate(context, count + 1, sizeof *users);
    hobj_ref_t own;
    bool done = users && write_fixed_text(scale, "CLASS", "DIMENSION_SCALE") &&
                write_fixed_text(scale, "NAME", name) &&
                H5Rcreate(&own, scale, ".", H5R_OBJECT, H5I_INVALID_HID) >= 0;

    /* Each dataset names the scale of its first dimension; the others have none. */
    for (size_t i = 0; i < count && done; i++) {
        hid_t space = H5Dget_space(datasets[i]);
        int rank = H5Sget_simple_extent_ndims(space);
        H5Sclose(space);
        hvl_t scales[RANK_MAX] = {{.len = 1, .p = &own}};
        const hsize_t size = (hsize_t)rank;
        done = rank >= 1 && rank <= RANK_MAX &&
               write_attribute(datasets[i], "DIMENSION_LIST", H5Tvlen_create(H5T_STD_REF_OBJ),
                               H5Screate_simple(1, &size, NULL), scales) &&
               H5Rcreate(&users[i].dataset, datasets[i], ".", H5R_OBJECT, H5I_INVALID_HID) >= 0;
    }

    /* And the scale names them, as far as an attribute can. */
    if (done && count > 0 && count * sizeof *users <= ATTRIBUTE_BYTES) {
        hid_t type = H5Tcreate(H5T_COMPOUND, sizeof *users);
        H5Tinsert(type, "dataset", 0, H5T_STD_REF_OBJ);
        H5Tinsert(type, "dimension", sizeof users->dataset, H5T_NATIVE_INT);
        const hsize_t size = count;
        done =
            write_attribute(scale, "REFERENCE_LIST", type, H5Screate_simple(1, &size, NULL), users);
    }

    yk_free(context, users);

    return done;
}

void yk_hdf5_compress(hid_t properties)
{
    enum { DEFLATE = 3 };

    /* Bytes of equal weight lie side by side for the compression: signs and exponents repeat. */
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, DEFLATE);
    }
}

char **yk_hdf5_pack_texts(yk_context *context, char *const *texts, size_t count)
{
    /* One block: first the pointers, then all texts, each with its end. */
    size_t bytes = (count + 1) * sizeof *texts;
    for (size_t i = 0; i < count; i++)
        bytes += (texts[i] ? strlen(texts[i]) : 0) + 1;
    char **packed = yk_allocate(context, bytes, 1);
    if (!packed)
        return NULL;

    /* Texts that are absent are empty, as the memory is. */
    char *to = (char *)(packed + count + 1);
    for (size_t i = 0; i < count; i++) {
        packed[i] = to;
        if (texts[i])
            strcpy(to, texts[i]);
        to += strlen(to) + 1;
    }

    return packed;
}

bool yk_hdf5_append(hid_t dataset, int rank, hid_t type, hsize_t before, hsize_t rows,
                    const hsize_t row[2], const void *values)
{
    const hsize_t size[3] = {before + rows, row[0], row[1]};
    const hsize_t there[3] = {before, 0, 0};
    const hsize_t count[3] = {rows, row[0], row[1]};
    if (H5Dset_extent(dataset, size) < 0)
        return false;

    /* Behind the rows that are there. */
    hid_t file_space = H5Dget_space(dataset);
    hid_t memory_space = H5Screate_simple(rank, count, NULL);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, there, NULL, count, NULL);
    bool done = H5Dwrite(dataset, type, memory_space, file_space, H5P_DEFAULT, values) >= 0;
    H5Sclose(memory_space);
    H5Sclose(file_space);
    return done;
}

char **yk_hdf5_read_texts(yk_context *context, hid_t object, const char *name, size_t count)
{
    if (H5Aexists(object, name) <= 0)
        return NULL;

    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return NULL;

    /* The library takes memory of its own for each text. */
    hid_t type = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    bool as_many =
        H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    char **texts = NULL;
    if (as_many)
        texts = yk_allocate(context, count, sizeof *texts);
    bool missed = as_many && !texts;

    /* Into one block that is released as one, and the memory of the library back to it. */
    char **packed = NULL;
    if (texts && H5Aread(attribute, type, texts) >= 0) {
        packed = yk_hdf5_pack_texts(context, texts, count);
        missed = !packed;
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    }

    /* Otherwise the attribute would seem not to be there. */
    if (missed && current)
        current->failure = YK_HDF5_NO_MEMORY;

    yk_free(context, texts);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
    return packed;
}

char *yk_hdf5_read_text(yk_context *context, hid_t object, const char *name)
{
    char **texts = yk_hdf5_read_texts(context, object, name, 1);
    if (!texts)
        return NULL;

    char *text = texts[0];

    /* The one pointer makes way for its text, which is then the block. */
    memmove(texts, text, strlen(text) + 1);

    return (char *)texts;
}

bool yk_hdf5_read_integer(hid_t object, const char *name, int *value)
{
    if (H5Aexists(object, name) <= 0)
        return false;

    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return false;

    /* One number of any integer type; others are not what was written here. */
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool done = H5Tget_class(type) == H5T_INTEGER && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(attribute, H5T_NATIVE_INT, value) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);

    return done;
}

/* The file under an HDF5 file that is being written ----------------------------------------------
 *
 * A driver of the library, which does not get over a write that fails: what it could not write it
 * tries again when the file is closed and when the program exits, and crashes there. So it is not
 * told. From the first failure on nothing more goes to the disk, what the library may want to read
 * again is kept in memory, and whoever writes the file asks for the error afterwards and throws the
 * file away. */

/* Metadata that could not be written, the newest first. */
typedef struct kept_write {
    struct kept_write *next;
    haddr_t address;
    size_t size;
    unsigned char bytes[];
} kept_write;

typedef struct output_file {
    H5FD_t base;
    int *error; /* of the first failure; 0: none */
    int descriptor;
    haddr_t allocated, end; /* as the library has it, and of the file */
    kept_write *kept;
} output_file;

static void note_error(output_file *file, int error)
{
    if (*file->error == 0)
        *file->error = error ? error : EIO;
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)flags;
    (void)most;

    /* The driver's settings are the only way through the library for the address of the error. */
    int *const *errors = H5Pget_driver_info(access);
    output_file *file = calloc(1, sizeof *file);
    if (!errors || !file) {
        free(file);
        return NULL;
    }

    /* A link in the way is not followed, and a file is not overwritten. */
    file->error = *errors;
    file->descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->descriptor < 0) {
        note_error(file, errno);
        free(file);
        return NULL;
    }

    return (H5FD_t *)file;
}

static herr_t close_file(H5FD_t *base)
{
    output_file *file = (output_file *)base;
    /* On the disk before anybody may rename it; of a file that has failed nobody waits for it. */
    bool good = *file->error == 0;
    if (good && fsync(file->descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
        note_error(file, errno);
    if (close(file->descriptor) != 0)
        note_error(file, errno);

    /* What never got there. */
    while (file->kept) {
        kept_write *next = file->kept->next;
        free(file->kept);
        file->kept = next;
    }

    free(file);

    return 0;
}

static herr_t query(const H5FD_t *base, unsigned long *flags)
{
    (void)base;
    /* As the library's own driver of files has it: small pieces are gathered. */
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const output_file *)base)->allocated;
}

static herr_t set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((output_file *)base)->allocated = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const output_file *)base)->end;
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, const void *bytes)
{
    (void)transfer;
    output_file *file = (output_file *)base;

    /* The library may ask where the file ends, also after a write that has failed. */
    if (address + size > file->end)
        file->end = address + size;

    if (*file->error == 0) {
        if (yk_write_all(file->descriptor, bytes, size, address))
            return 0;
        note_error(file, errno);
    }

    /* Raw data is not read again; the rest may be. */
    if (type == H5FD_MEM_DRAW)
        return 0;

    /* Without memory the piece is lost, as is the file. */
    kept_write *kept = malloc(sizeof *kept + size);
    if (kept) {
        kept->next = file->kept;
        kept->address = address;
        kept->size = size;
        memcpy(kept->bytes, bytes, size);
        file->kept = kept;
    }

    return 0;
}

/* Writes that were kept lie over the file, later ones over earlier ones. */
static void lay_over(const kept_write *kept, haddr_t address, size_t size, unsigned char *to)
{
    if (!kept)
        return;

    /* The older ones first. */
    lay_over(kept->next, address, size, to);
    haddr_t from = kept->address > address ? kept->address : address;
    haddr_t kept_end = kept->address + kept->size;
    haddr_t end = kept_end < address + size ? kept_end : address + size;
    if (from < end)
        memcpy(to + (from - address), kept->bytes + (from - kept->address), end - from);
}

static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, void *bytes)
{
    (void)type;
    (void)transfer;

    /* What the file has of it. */
    output_file *file = (output_file *)base;
    unsigned char *to = bytes;
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(file->descriptor, to + done, size - done, (off_t)(address + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            note_error(file, errno);
        if (got <= 0)
            break;
        done += (size_t)got;
    }

    /* Behind the end there are zeros. */
    memset(to + done, 0, size - done);
    lay_over(file->kept, address, size, to);

    return 0;
}

static herr_t truncate_file(H5FD_t *base, hid_t transfer, hbool_t closing)
{
    (void)transfer;
    (void)closing;
    output_file *file = (output_file *)base;
    if (file->allocated == file->end || *file->error != 0)
        return 0;

    /* The file ends where the library has given out its last byte. */
    if (ftruncate(file->descriptor, (off_t)file->allocated) != 0)
        note_error(file, errno);
    file->end = file->allocated;

    return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 14, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)520, /* of those that nobody has registered */
#endif
    .name = "yoke",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(int *), /* the access list has where errors are noted */
    .open = open_file,
    .close = close_file,
    .query = query,
    .get_eoa = get_allocated,
    .set_eoa = set_allocated,
    .get_eof = get_end,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = truncate_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t yk_hdf5_create(const char *path, int *error)
{
    *error = 0;
    /* The file holds a reference to the driver as long as it is open. */
    hid_t id = H5FDregister(&driver);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    if (id >= 0 && access >= 0 && H5Pset_driver(access, id, &error) >= 0) {
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG); /* with all that is open in it */
        H5Pset_cache(access, 0, 0, 0, 0);               /* chunks come whole, and go at once */
        file = H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, access);
    }

    if (access >= 0)
        H5Pclose(access);
    if (id >= 0)
        H5FDunregister(id);

    return file;
}
