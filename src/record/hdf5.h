/* The groups /scene and /frames of a results file (hdf5_scene.c); the layout is in yoke/record.h. */
#ifndef YK_RECORD_HDF5_H
#define YK_RECORD_HDF5_H

#include "record/hdf5_read.h"
#include "record/hdf5_write.h"
#include "yoke/record.h"

#define YK_HDF5_FORMAT "yoke results"
#define YK_HDF5_FORMAT_1 "yoke record" /* of format version 1 */
enum { YK_HDF5_FORMAT_VERSION = 2 };

/* The tables of all frames while they are written. Frames wait in memory until a block of them is full. */
typedef struct yk_hdf5_frames {
    yk_hdf5_object *time;
    yk_hdf5_object *table[YK_FRAME_TABLE_COUNT]; /* NULL if the table has no columns */
    size_t size[YK_FRAME_TABLE_COUNT];           /* values of a table in a frame */
    size_t frame_size;
    size_t capacity, waiting; /* frames */
    size_t written, count;    /* frames in the file so far, and in the end */
    double *times;
    float *values;  /* of the frames that wait */
    float *scratch; /* one table of them */
} yk_hdf5_frames;

void yk_hdf5_write_scene(yk_context *context, yk_hdf5_output *output, const yk_record_scene *scene);
/* Adds the tables for `count` frames. */
yk_status yk_hdf5_open_frames(yk_context *context, yk_hdf5_output *output,
                              const yk_record_scene *scene, size_t count, yk_hdf5_frames *frames);
void yk_hdf5_add_frame(yk_hdf5_output *output, yk_hdf5_frames *frames, double time,
                       const float *values);
void yk_hdf5_write_frames(yk_hdf5_output *output, yk_hdf5_frames *frames);
void yk_hdf5_close_frames(yk_context *context, yk_hdf5_frames *frames);

/* The scene of a file, or NULL if it has none. */
yk_status yk_hdf5_read_scene(yk_context *context, yk_hdf5_input *input, yk_record_scene **scene);
void yk_hdf5_release_scene(yk_context *context, yk_record_scene *scene);
/* Passes all frames to a recorder that has begun. */
yk_status yk_hdf5_read_frames(yk_context *context, yk_hdf5_input *input,
                              const yk_record_scene *scene, yk_recorder *recorder);

#endif
