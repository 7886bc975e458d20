/* Contents of reports: the page of the viewer, and records in one block of compressed bytes:
 *
 *   zlib( "YKR1", u32 length of the JSON, JSON, zeros up to a multiple of 8 bytes, arrays )
 *
 * The JSON contains everything except bulk numbers, and refers to arrays by [offset, bytes] after
 * it. Numbers are stored in planes, all high bytes first, which compresses far better:
 *
 *   columns of channels float32 differences from the first value of the column, which is in the
 *   JSON
 *   positions             uint16 between the smallest and the largest of each coordinate, as
 *                         differences from the previous frame
 *   orientations          int16, the quaternion times 32767, in the same order
 *   strains, wrenches, monitored values    float32
 *   contacts              of each frame with its own number: points as uint16 between the smallest
 *                         and the largest of each coordinate, normals as int8 times 127, forces as
 *                         int16, fractions of 1/32767 of the largest of the frame; those below 0.5
 *                         % of it are left out, and the smallest if there are more than 250000 in
 *                         all frames
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

/* The packed bytes of runs, which the caller frees; NULL: memory is missing. At most the given
 * number of frames of each, or with 0 as many as fit in 64 MB before compression; bare: neither
 * samples nor frames, which follow later. */
unsigned char *report_pack(const report_source *runs, int count, bool bare, int frames,
                           size_t *bytes);

/* Tables unchanged, for pages of maps, convergence, sweeps and modes:
 *
 *   zlib( {"software": ..., "tables": [{"file": ..., "text": ...}, ...]} )
 *
 * viewer/src/tables.ts draws them. */
unsigned char *report_pack_tables(const report_source *tables, int count, size_t *bytes);

/* The page of the viewer, built from viewer/ with this program; *length is 0 if it was built
 * without Node.js. */
const char *viewer_page(size_t *length);

/* The mark for the data in a page, and its place in a page of this length; NULL: the page has no
 * mark. */
#define VIEWER_MARK "<!--yoke-data-->"
const char *viewer_mark(const char *page, size_t length);

#endif
