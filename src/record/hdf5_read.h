/* Reading of HDF5 files with the layout that hdf5_write.h writes. Other programs write the same
 * layout with the default settings of the library, without chunks and filters.
 *
 * No data in a file are trusted: every address and size is checked against the size of the file
 * before memory is allocated or bytes are read, and every loop is bounded. After the first failure
 * all functions do nothing and return false, NULL or 0; yk_hdf5_status() returns the failure. */
#ifndef YK_RECORD_HDF5_READ_H
#define YK_RECORD_HDF5_READ_H

#include "record/hdf5_write.h"

typedef struct yk_hdf5_input yk_hdf5_input;

typedef enum yk_hdf5_kind {
    YK_HDF5_GROUP,
    YK_HDF5_NUMBERS, /* a dataset of integers or floating-point numbers */
    YK_HDF5_TEXTS,   /* a dataset of texts of one length */
    YK_HDF5_OTHER    /* anything else, including chunked datasets */
} yk_hdf5_kind;

/* A group or dataset of a file. */
typedef struct yk_hdf5_entry {
    yk_hdf5_kind kind;
    int rank;
    uint64_t size[YK_HDF5_RANK_MAX]; /* 1 beyond the rank */
    size_t value_bytes;

    /* For hdf5_read.c. */
    bool floating, foreign_order;
    uint64_t tree, heap; /* of a group */
    uint64_t data;       /* of a dataset */
    unsigned char *messages;
    size_t message_bytes;
} yk_hdf5_entry;

/* Whether the first bytes of a file are those of an HDF5 file; eight are needed. */
bool yk_hdf5_begins(const void *start, size_t bytes);

yk_status yk_hdf5_input_open(yk_context *context, const char *path, yk_hdf5_input **input);
void yk_hdf5_input_close(yk_hdf5_input *input);
yk_status yk_hdf5_status(const yk_hdf5_input *input);
/* Forgets a failure, so that other parts of the file can be read. */
void yk_hdf5_retry(yk_hdf5_input *input);
/* Reports damage; returns YK_ERROR_INPUT. */
yk_status yk_hdf5_damaged(yk_hdf5_input *input, const char *reason);

/* The object at a path below a group (NULL: the root), such as "scene/bodies"; the caller releases
 * it. False: it does not exist, or there was a failure. */
bool yk_hdf5_find(yk_hdf5_input *input, const yk_hdf5_entry *group, const char *path,
                  yk_hdf5_entry *found);
void yk_hdf5_release(yk_hdf5_input *input, yk_hdf5_entry *entry);

typedef yk_status yk_hdf5_visit_function(void *user, const char *name, uint64_t header);
/* Calls `visit` for all members of a group in the order of their names. */
yk_status yk_hdf5_visit(yk_hdf5_input *input, const yk_hdf5_entry *group,
                        yk_hdf5_visit_function *visit, void *user);
/* Opens a member by the address given to `visit`. */
bool yk_hdf5_open(yk_hdf5_input *input, uint64_t header, yk_hdf5_entry *entry);

/* Attributes, in memory of the context. NULL or false: there is none with this name and kind. A
 * list of texts is one block of memory. */
char *yk_hdf5_get_text(yk_hdf5_input *input, const yk_hdf5_entry *entry, const char *name);
char **yk_hdf5_get_texts(yk_hdf5_input *input, const yk_hdf5_entry *entry, const char *name,
                         size_t count);
bool yk_hdf5_get_integer(yk_hdf5_input *input, const yk_hdf5_entry *entry, const char *name,
                         int *value);
bool yk_hdf5_get_doubles(yk_hdf5_input *input, const yk_hdf5_entry *entry, const char *name,
                         size_t count, double *values);

/* Number of values of a dataset. */
uint64_t yk_hdf5_value_count(const yk_hdf5_entry *dataset);
/* Values from `first` on, converted to `type`. */
bool yk_hdf5_read(yk_hdf5_input *input, const yk_hdf5_entry *dataset, yk_hdf5_type type,
                  uint64_t first, size_t count, void *values);
/* All texts of a dataset in one block of memory: the pointers, then the texts. */
char **yk_hdf5_read_texts(yk_hdf5_input *input, const yk_hdf5_entry *dataset);

#endif
