/* Records as a browser takes them: one block of compressed bytes.
 *
 *   zlib( "YKR1", u32 length of the JSON, JSON, zeros up to a multiple of 8 bytes, arrays )
 *
 * The JSON has everything but numbers in bulk, and names arrays by [offset, bytes] behind it.
 * Numbers are stored in planes, all high bytes first, which compresses far better:
 *
 *   columns of channels   float32 differences from the first value of the column, which is in the JSON
 *   positions             uint16 between the least and the largest of each coordinate, as differences from the frame
 *                         before
 *   orientations          int16, the quaternion times 32767, likewise
 *   strains, wrenches,    float32
 *   what is watched
 *   contacts              of each frame as many as it has: points as uint16 between the least and the largest of each
 *                         coordinate, normals as int8 times 127, forces as int16, parts of 32767 of the largest of
 *                         the frame; those below 0.5 % of it are left out, and the weakest where there are more than
 *                         250000 in all frames
 *
 * viewer/src/data.ts reads it. */
#ifndef YOKE_CLI_REPORT_PACK_H
#define YOKE_CLI_REPORT_PACK_H

#include "yoke/record.h"

/* Channels with more components, such as the positions of all particles, are seen in 3D. */
enum { REPORT_COMPONENTS_MAX = 24 };

typedef struct report_run {
    const char *file;
    const yk_record *record;
} report_run;

typedef struct report_options {
    int frames; /* at most so many of each run; 0: as many as fit in 64 MB before compression */
    bool bare;  /* neither samples nor frames, which come later */
} report_options;

/* The packed bytes, to be freed; NULL when out of memory. */
unsigned char *report_pack(const report_run *runs, int count, const report_options *options,
                           size_t *bytes);

/* Tables as they are, for pages of maps, convergence, sweeps and modes:
 *
 *   zlib( {"software": ..., "tables": [{"file": ..., "text": ...}, ...]} )
 *
 * viewer/src/tables.ts draws them. */
typedef struct report_table {
    const char *file, *text;
} report_table;

unsigned char *report_pack_tables(const report_table *tables, int count, size_t *bytes);

#endif
