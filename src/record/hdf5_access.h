/* What writing and reading of HDF5 files share: the library and its files, and the scene of a run in
 * them (hdf5_scene.c). */
#ifndef YK_RECORD_HDF5_ACCESS_H
#define YK_RECORD_HDF5_ACCESS_H

#include <hdf5.h>

#include "yoke/record.h"

#define YK_HDF5_FORMAT "yoke record"
enum { YK_HDF5_FORMAT_VERSION = 1 };

/* Why a function of the library failed. */
typedef enum yk_hdf5_failure {
    YK_HDF5_NONE,
    YK_HDF5_OTHER,      /* mostly a damaged file */
    YK_HDF5_READ_ERROR, /* the disk or the file system */
    YK_HDF5_NO_MEMORY
} yk_hdf5_failure;

/* Every use of HDF5 stands between enter and leave: one thread at a time, and the library prints
 * nothing. The first failure of any of its functions is kept, with its innermost cause in
 * `reason`. */
typedef struct yk_hdf5_session {
    H5E_auto2_t print;
    void *print_data;
    yk_hdf5_failure failure;
    char reason[256];
} yk_hdf5_session;

void yk_hdf5_enter(yk_hdf5_session *session);
void yk_hdf5_leave(const yk_hdf5_session *session);

/* The status of a file that was read with `status`. The library does not tell an attribute that
 * cannot be read from one that is not there, so that any failure within a session is one of the
 * whole file: YK_ERROR_FILE for a read error, YK_ERROR_MEMORY for a lack of memory, YK_ERROR_INPUT
 * for damage. */
yk_status yk_hdf5_judge(yk_context *context, const yk_hdf5_session *session, const char *path,
                        yk_status status);

/* Holds the library against all other threads. */
void yk_hdf5_lock(void);
void yk_hdf5_unlock(void);

/* Reads a file of so many bytes in a process of its own (apart.h), within limits that its size
 * sets: the library does not survive every damaged file. */
yk_status yk_hdf5_read_apart(yk_context *context, const char *path, double size,
                             yk_status (*work)(void *user, int stream),
                             yk_status (*receive)(void *user, int stream), void *user);

/* Whether the first bytes of a file are those of an HDF5 file; eight are needed. */
bool yk_hdf5_begins(const void *start, size_t bytes);

/* Text of any length in UTF-8; to be closed by the caller. */
hid_t yk_hdf5_text_type(void);

/* A copy of texts that the library owns, in one block: the pointers, then the texts. */
char **yk_hdf5_pack_texts(yk_context *context, char *const *texts, size_t count);

/* Appends `rows` rows to a dataset that has `before` of them; `row` has the extents of one beyond
 * the first. */
bool yk_hdf5_append(hid_t dataset, int rank, hid_t type, hsize_t before, hsize_t rows,
                    const hsize_t row[2], const void *values);

bool yk_hdf5_write_text(hid_t object, const char *name, const char *text);
bool yk_hdf5_write_texts(hid_t object, const char *name, const char *const *texts, size_t count);
bool yk_hdf5_write_integer(hid_t object, const char *name, int value);
/* Makes a dataset the scale of the first dimension of others, as h5py, xarray and MATLAB know it
 * (HDF5 Dimension Scale Specification). */
bool yk_hdf5_set_scale(yk_context *context, hid_t scale, const char *name, const hid_t *datasets,
                       size_t count);
/* Compression of what is written by the chunk; none where the library was built without. */
void yk_hdf5_compress(hid_t properties);

/* From the context's memory; NULL if the attribute is not there, is not a text or memory is
 * short. */
char *yk_hdf5_read_text(yk_context *context, hid_t object, const char *name);
/* An array of `count` texts in one block of memory; NULL as above, or if there are more or fewer
 * of them. */
char **yk_hdf5_read_texts(yk_context *context, hid_t object, const char *name, size_t count);
bool yk_hdf5_read_integer(hid_t object, const char *name, int *value);

/* Files ---------------------------------------------------------------------------------------- */

/* Creates a file, which must not be there yet, through a driver of our own. Negative: it could not
 * be made, with errno in *error, or with the reason of the library. *error is the first failure, 0:
 * none; it must live until the file is closed, at which it is on the disk. */
hid_t yk_hdf5_create(const char *path, int *error);

/* Scenes: hdf5_scene.c ---------------------------------------------------------------------------
 *
 * The groups /scene and /frames of yoke/record.h. All calls stand between enter and leave. */

/* Frames are compressed in chunks, and a chunk is written once. */
typedef struct yk_hdf5_frames {
    hid_t time;
    hid_t table[YK_FRAME_TABLE_COUNT]; /* invalid where the table has no columns */
    size_t size[YK_FRAME_TABLE_COUNT]; /* values of a table in a frame */
    size_t frame_size;
    size_t capacity, waiting; /* frames */
    hsize_t written;
    double *times;
    float *values;  /* of the frames that wait */
    float *scratch; /* one table of them */
} yk_hdf5_frames;

/* False after a failure of the library, or when memory is short. */
bool yk_hdf5_write_scene(yk_context *context, hid_t file, const yk_record_scene *scene);
bool yk_hdf5_open_frames(yk_context *context, hid_t file, const yk_record_scene *scene,
                         yk_hdf5_frames *frames);
/* Needs the library only where it is called with `waiting` at `capacity`. */
void yk_hdf5_add_frame(yk_hdf5_frames *frames, double time, const float *values);
bool yk_hdf5_write_frames(yk_hdf5_frames *frames);
void yk_hdf5_close_frames(yk_context *context, yk_hdf5_frames *frames);

/* NULL for a file without one. YK_ERROR_INPUT where it cannot be read. */
yk_status yk_hdf5_read_scene(yk_context *context, hid_t file, yk_record_scene **scene);
void yk_hdf5_release_scene(yk_context *context, yk_record_scene *scene);
/* All frames, to a recorder that has begun. */
yk_status yk_hdf5_read_frames(yk_context *context, hid_t file, const yk_record_scene *scene,
                              yk_recorder *recorder);

#endif
