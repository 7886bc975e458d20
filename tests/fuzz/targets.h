/* One input for each reader of what others wrote, from bytes of any kind. The fuzzers and the test
 * of the seeds share them. A target aborts where a promise of an interface is broken. */
#ifndef YOKE_TESTS_FUZZ_TARGETS_H
#define YOKE_TESTS_FUZZ_TARGETS_H

#include <stddef.h>

/* An expression of t. */
void fuzz_expression(const unsigned char *data, size_t size);
/* A mesh: an OBJ file where it begins with 'v', '#' or 'f', else an STL file. */
void fuzz_mesh(const unsigned char *data, size_t size);
/* A modal body: nodes, modes and frequencies as tables with a line "%%" between them, else record
 * groups of MBDyn. */
void fuzz_modal(const unsigned char *data, size_t size);
/* A contact or complementarity problem. */
void fuzz_contact(const unsigned char *data, size_t size);
/* An FMU: an archive where it begins with "PK", else its model description. Behind "hex:" the bytes
 * are given by their digits. */
void fuzz_fmu(const unsigned char *data, size_t size);
/* A model of another program: XML if it begins with '<' (URDF, MJCF, or SSP next to an FMU
 * `part.fmu` without a binary), else one of MBDyn. */
void fuzz_import(const unsigned char *data, size_t size);
/* Frames: the first byte 'c' are those of a client, else those of a server. Behind "hex:" the bytes
 * are given by their digits, so that seeds are text. */
void fuzz_frames(const unsigned char *data, size_t size);
/* Results as CSV, or an HDF5 file. */
void fuzz_results(const unsigned char *data, size_t size);
/* Changes to a valid HDF5 results file: of three bytes each, two for the place and one for the new value. */
void fuzz_hdf5(const unsigned char *data, size_t size);
/* A journal, and a checkpoint: their checksums are made good first, without which no changed byte
 * would be looked at. Behind "hex:" as above. */
void fuzz_journal(const unsigned char *data, size_t size);
void fuzz_checkpoint(const unsigned char *data, size_t size);
/* Changes to the words of a valid checkpoint, from which a run is then resumed. Behind "hex:" as
 * above. */
void fuzz_resume(const unsigned char *data, size_t size);

/* Writes a file in a folder of this process, which is removed at its end. The path is valid for a
 * few calls. */
const char *fuzz_write_file(const char *name, const void *bytes, size_t size);
/* The bytes, or those that digits behind "hex:" stand for; to be freed. */
unsigned char *fuzz_take_bytes(const unsigned char *data, size_t *size);

#endif
