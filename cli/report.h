/* What reports are made of: the page of the viewer, and records as it takes them, one block of
 * compressed bytes:
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
#ifndef YOKE_CLI_REPORT_H
#define YOKE_CLI_REPORT_H

#include "yoke/record.h"

/* Channels with more components, such as the positions of all particles, are seen in 3D. */
enum { REPORT_COMPONENTS_MAX = 24 };

/* A file of a report: a run with its record, or the table of an analysis with its text. */
typedef struct report_source {
    const char *file;
    yk_record *record;
    char *text;
} report_source;

/* The packed bytes of runs, to be freed; NULL when out of memory. At most so many frames of each,
 * or with 0 as many as fit in 64 MB before compression; bare: neither samples nor frames, which
 * come later. */
unsigned char *report_pack(const report_source *runs, int count, bool bare, int frames,
                           size_t *bytes);

/* Tables as they are, for pages of maps, convergence, sweeps and modes:
 *
 *   zlib( {"software": ..., "tables": [{"file": ..., "text": ...}, ...]} )
 *
 * viewer/src/tables.ts draws them. */
unsigned char *report_pack_tables(const report_source *tables, int count, size_t *bytes);

/* The page of the viewer, as viewer/ was built with this program; *length is 0 where that was done
 * without Node.js. */
const char *viewer_page(size_t *length);

/* Where the data goes in a page: what stands there for it, and where in a page of this length it
 * is; NULL: the page has no room for data. */
#define VIEWER_MARK "<!--yoke-data-->"
const char *viewer_mark(const char *page, size_t length);

#endif
