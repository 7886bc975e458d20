/* The scene of a run and its frames in an HDF5 file: the groups /scene and /frames of
 * yoke/record.h. All calls stand between enter and leave of hdf5_access.h. */
#ifndef YK_RECORD_HDF5_SCENE_H
#define YK_RECORD_HDF5_SCENE_H

#include "record/hdf5_access.h"
#include "yoke/record.h"

/* Frames are compressed in chunks, and a chunk is written once. */
typedef struct yk_hdf5_frames {
    hid_t time;
    hid_t table[YK_FRAME_TABLES]; /* invalid where the table has no columns */
    size_t size[YK_FRAME_TABLES]; /* values of a table in a frame */
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
