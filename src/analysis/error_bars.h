/* Error bars on one recorded channel, from runs of one scenario with h, h/2, h/4, ...
 *
 * Richardson's idea: of a method of order p the differences of successive runs, d1 = |y(h) -
 * y(h/2)| and d2 = |y(h/2) - y(h/4)|, stand in the ratio theta = d2/d1 = 2^-p, and what the
 * finest run is still wrong by is the rest of the geometric series, d2 theta / (1 - theta). The
 * ratio is measured, never assumed where there are three runs. The bar is then what the run
 * differs from the finest one, plus that rest with a margin.
 *
 * What it takes to hold on real runs:
 *
 *   zero crossings   differences vanish where curves cross, and errors do not: the largest
 *                    difference up to the time counts, of all components of a vector together for
 *                    the ratio, of each on its own for the bar
 *   irregular        a ratio near 1 or above says that the steps are not small enough for a
 *                    series: the rest is then nine times the last difference, and at most the
 *                    range of the channel
 *   jumps            a velocity that jumps at an impact is wrong by the whole jump between the
 *                    times at which two runs have it. The largest difference does not fall then,
 *                    and the mean does: the mean is what counts
 *   chaos            neither falls, and they are as large as the motion: the channel is not
 *                    predictable from there on */
#ifndef YK_ANALYSIS_ERROR_BARS_H
#define YK_ANALYSIS_ERROR_BARS_H

#include "yoke/analysis.h"

/* Records of several runs of one scenario, on the rows that all of them have. */
typedef struct yk_aligned {
    size_t rows;
    int runs, width;  /* columns without time */
    double **columns; /* columns[run * width + column][row] */
    double *values;
    double *time;
} yk_aligned;

/* Columns of a record without time: the components of all channels. */
int yk_record_width(const yk_record_header *header);

/* Copies the records, which have the same channels and the same times as far as they go.
 * Quaternions of opposite sign are one rotation: those of later records take the sign of the
 * first. To be released, whatever the status. */
yk_status yk_align(yk_context *context, const yk_record *const *records, int count,
                   yk_aligned *aligned);
void yk_align_release(yk_context *context, yk_aligned *aligned);

/* Runs that a bar can be made of: h, h/2, h/4, h/8. */
enum { YK_ERROR_RUNS_MAX = 4 };

typedef struct yk_error_input {
    int runs;       /* 2 or more */
    int components; /* of the channel */
    bool impacts;   /* errors of single steps are not smooth in the step: order 1 at most */
    size_t rows;
    const double *time;
    const double *const *columns; /* columns[run * components + component][row] */
} yk_error_input;

/* One channel of aligned records, whose first component is the column `first`. `columns` is
 * workspace for runs x components pointers. */
yk_error_input yk_error_channel(const yk_aligned *aligned, int first, int components, bool impacts,
                                const double **columns);

/* Fills the bars, bars[component][row], and of `error` all but name, unit and exempt. `ratios` is
 * workspace for one number per row. */
void yk_error_bars(const yk_error_input *input, double *ratios, double *const *bars,
                   yk_channel_error *error);

/* How far the first of two runs is from the second, as if that were the truth: all of `error` but
 * name, unit and exempt. */
void yk_error_distance(const yk_error_input *input, yk_channel_error *error);
/* The best that three runs say of the truth, into `truth`, truth[component][row], and what that
 * is wrong by: the finest run, or the limit that the runs tend to where they do so with a clear
 * order. */
void yk_error_extrapolate(const yk_error_input *input, double *const *truth,
                          yk_channel_error *error);

/* Exempts channels that hardly move beside others of their unit, or beside their own size, torques
 * that are nothing beside the forces at the arm of the motion, and velocities that over the duration
 * (s) move nothing: errors have nothing there that they could be compared with. */
void yk_error_exempt_resting(yk_channel_error *channels, int count, double duration);

#endif
