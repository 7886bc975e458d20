/* The file under an HDF5 file that is being written, as a driver of the HDF5 library.
 *
 * The library does not get over a write that fails: what it could not write it tries again when
 * the file is closed and when the program exits, and crashes there. So it is not told. From the
 * first failure on nothing more goes to the disk, what the library may want to read again is kept
 * in memory, and whoever writes the file asks for the error afterwards and throws the file away. */
#ifndef YK_RECORD_HDF5_OUTPUT_H
#define YK_RECORD_HDF5_OUTPUT_H

#include <hdf5.h>

typedef struct yk_hdf5_output {
    int error; /* errno of the first failure; 0: none */
} yk_hdf5_output;

/* Creates a file, which must not be there yet. Negative: it could not be made, with the error in
 * `output`, or with that of the library. The output must live until the file is closed, at which
 * it is on the disk. */
hid_t yk_hdf5_output_create(const char *path, yk_hdf5_output *output);

#endif
