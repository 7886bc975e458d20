#include "record/hdf5_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/journal.h"

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

/* Metadata that could not be written, the newest first. */
typedef struct kept_write {
    struct kept_write *next;
    haddr_t address;
    size_t size;
    unsigned char bytes[];
} kept_write;

typedef struct output_file {
    H5FD_t base;
    yk_hdf5_output *output;
    int descriptor;
    haddr_t allocated, end; /* as the library has it, and of the file */
    kept_write *kept;
} output_file;

/* What the access list carries to the driver. */
typedef struct output_info {
    yk_hdf5_output *output;
} output_info;

static void note_error(output_file *file, int error)
{
    if (file->output->error == 0)
        file->output->error = error ? error : EIO;
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)flags;
    (void)most;
    const output_info *info = H5Pget_driver_info(access);
    output_file *file = calloc(1, sizeof *file);
    if (!info || !file) {
        free(file);
        return NULL;
    }

    /* A link in the way is not followed, and a file is not overwritten. */
    file->output = info->output;
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
    bool good = file->output->error == 0;
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
    if (address + size > file->end)
        file->end = address + size;

    if (file->output->error == 0) {
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
    if (file->allocated == file->end || file->output->error != 0)
        return 0;

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
    .fapl_size = sizeof(output_info),
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

hid_t yk_hdf5_output_create(const char *path, yk_hdf5_output *output)
{
    *output = (yk_hdf5_output){0};
    /* The file holds a reference to the driver as long as it is open. */
    hid_t id = H5FDregister(&driver);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    if (id >= 0 && access >= 0 && H5Pset_driver(access, id, &(output_info){output}) >= 0) {
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
