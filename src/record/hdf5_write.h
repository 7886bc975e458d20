/* Writing of HDF5 files: groups, contiguous datasets of numbers, attributes.
 *
 * The file has the oldest layout of the format (superblock 0, symbol tables, contiguous datasets),
 * which every HDF5 library reads. Sizes are given when a dataset is added; its values may then be
 * written in any order, directly to the disk. Descriptions of objects stay in memory until the file
 * is finished: they follow the data, and the superblock is written last, so that an unfinished file
 * is not an HDF5 file.
 *
 * After the first failure all functions do nothing, and yk_hdf5_output_finish() reports it. */
#ifndef YK_RECORD_HDF5_WRITE_H
#define YK_RECORD_HDF5_WRITE_H

#include <stdint.h>

#include "yoke/base.h"

typedef struct yk_hdf5_output yk_hdf5_output;
typedef struct yk_hdf5_object yk_hdf5_object;

typedef enum yk_hdf5_type {
    YK_HDF5_FLOAT64,
    YK_HDF5_FLOAT32,
    YK_HDF5_INT32,
    YK_HDF5_INT64,
    YK_HDF5_TYPE_COUNT
} yk_hdf5_type;

enum { YK_HDF5_RANK_MAX = 3 };

/* Creates the file, which must not exist. */
yk_status yk_hdf5_output_create(yk_context *context, const char *path, yk_hdf5_output **output);
/* Writes all descriptions and synchronizes the file to the disk. */
yk_status yk_hdf5_output_finish(yk_hdf5_output *output);
void yk_hdf5_output_destroy(yk_hdf5_output *output);
/* YK_OK, or the first failure. */
yk_status yk_hdf5_output_status(const yk_hdf5_output *output);
/* Reports that the caller has run out of memory, so that the file is not finished. */
void yk_hdf5_fail(yk_hdf5_output *output);

yk_hdf5_object *yk_hdf5_root(yk_hdf5_output *output);
/* The member of a group with this name, or NULL. */
yk_hdf5_object *yk_hdf5_member(const yk_hdf5_object *group, const char *name);
bool yk_hdf5_is_group(const yk_hdf5_object *object);

/* Names must be unique in their group and must not contain a slash. NULL after a failure. */
yk_hdf5_object *yk_hdf5_add_group(yk_hdf5_output *output, yk_hdf5_object *group, const char *name);
/* A dataset of rank 0 is a single number. */
yk_hdf5_object *yk_hdf5_add_dataset(yk_hdf5_output *output, yk_hdf5_object *group, const char *name,
                                    yk_hdf5_type type, int rank, const uint64_t *size);
/* A list of texts of one length (UTF-8, padded with zeros). */
yk_hdf5_object *yk_hdf5_add_texts(yk_hdf5_output *output, yk_hdf5_object *group, const char *name,
                                  const char *const *texts, size_t count);
void yk_hdf5_write(yk_hdf5_output *output, const yk_hdf5_object *dataset, uint64_t first,
                   size_t count, const void *values);

/* Attributes: a list of numbers (count 0: a single number), a text, or a list of texts. */
void yk_hdf5_set_numbers(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                         yk_hdf5_type type, size_t count, const void *values);
void yk_hdf5_set_integer(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                         int value);
void yk_hdf5_set_text(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                      const char *text);
void yk_hdf5_set_texts(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                       const char *const *texts, size_t count);
/* A text of fixed length in ASCII, as some readers require. */
void yk_hdf5_set_fixed_text(yk_hdf5_output *output, yk_hdf5_object *object, const char *name,
                            const char *text, size_t length);

/* Largest number of texts in an attribute, limited by the size of an object header. */
enum { YK_HDF5_TEXTS_MAX = 4000 };

/* Makes a dataset the scale of the first dimension of others, for h5py, xarray and MATLAB (HDF5
 * Dimension Scale Specification). */
void yk_hdf5_set_scale(yk_hdf5_output *output, yk_hdf5_object *scale, const char *name,
                       yk_hdf5_object *const *datasets, size_t count);

#endif
