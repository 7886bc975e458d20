/* What all file recorders share: the path and its .part, the block of rows that waits, the order
 * of calls. A format adds how a file is opened, written and closed. */
#ifndef YK_RECORD_FILE_H
#define YK_RECORD_FILE_H

#include <time.h>

#include "yoke/record.h"

/* Rows on their way to a file: collected row by row, written a block at a time. */
typedef struct yk_block {
    double *values; /* rows of `stride` doubles, time first */
    size_t stride;
    size_t rows;
    size_t capacity;      /* 0 while no record is open */
    double flush_seconds; /* at most so long do rows wait for a sample to carry them out */
    struct timespec flushed;
} yk_block;

typedef struct yk_record_file yk_record_file;

typedef struct yk_file_format {
    yk_recorder_ops ops; /* those of file.c, under the format's own name */
    size_t size;         /* bytes of the format's object, which starts with a yk_record_file */
    yk_status (*open)(yk_record_file *file);
    /* Writes the rows of the block; a reader finds them there whatever happens to the run
     * afterwards. */
    yk_status (*write)(yk_record_file *file);
    /* Takes a frame, of records that have a scene. NULL: the format has no frames. */
    yk_status (*frame)(yk_record_file *file, double time, const float *values);
    yk_status (*finish)(yk_record_file *file, const yk_record_summary *summary);
    /* Closes the file and frees what open made, in whatever state it is. Called once after each
     * open. */
    void (*close)(yk_record_file *file);
} yk_file_format;

struct yk_record_file {
    yk_recorder base;
    const yk_file_format *format;
    yk_context *context;
    yk_file_recorder_def def;
    char *path;
    char *part; /* path.part, the file that is written */
    yk_record_header *header;
    yk_block block; /* has capacity while the file is open */
    bool failed;    /* an error has closed the file before the end */
};

extern const yk_file_format yk_csv_format, yk_hdf5_format;

yk_status yk_file_begin(yk_recorder *recorder, const yk_record_header *header);
yk_status yk_file_sample(yk_recorder *recorder, double time, const double *row);
yk_status yk_file_frame(yk_recorder *recorder, double time, const float *values);
yk_status yk_file_end(yk_recorder *recorder, const yk_record_summary *summary);
void yk_file_destroy(yk_recorder *recorder);

#define YK_FILE_OPS(name)                                                      \
    {                                                                          \
        .size = sizeof(yk_recorder_ops), .kind = name, .begin = yk_file_begin, \
        .sample = yk_file_sample, .frame = yk_file_frame, .end = yk_file_end,  \
        .destroy = yk_file_destroy                                             \
    }

/* "cannot write 'results.csv.part': No space left on device", from errno. */
yk_status yk_file_fail(const yk_record_file *file, int error);

#endif
