/* Error bars for one recorded channel, from runs of one scenario with h, h/2, h/4, ...
 *
 * Richardson's idea: for a method of order p the differences of successive runs, d1 = |y(h) -
 * y(h/2)| and d2 = |y(h/2) - y(h/4)|, have the ratio theta = d2/d1 = 2^-p, and the error of the
 * finest run is the rest of the geometric series, d2 theta / (1 - theta). The ratio is measured,
 * and never assumed if there are three runs. The bar is the difference of the run from the finest
 * one, plus that rest with a margin.
 *
 * Additions for real runs:
 *
 *   zero crossings   differences vanish where curves cross, but errors do not: use the largest
 *                    difference up to each time; of all components of a vector together for the
 *                    ratio, of each component for the bar
 *   irregular        a ratio near 1 or above shows that the steps are too large for a series: the
 *                    rest is then nine times the last difference, and at most the range of the
 *                    channel
 *   jumps            a velocity that jumps at an impact is wrong by the whole jump between the
 *                    times of the jump in two runs. The largest difference does not decrease then,
 *                    but the mean does: use the mean
 *   chaos            neither decreases, and they are as large as the motion: the channel is
 *                    unpredictable from there on */
#ifndef YK_ANALYSIS_ERROR_BARS_H
#define YK_ANALYSIS_ERROR_BARS_H

#include "yoke/analysis.h"

/* Records of several runs of one scenario, at their common times. */
typedef struct yk_aligned {
    size_t rows;
    int runs, width;  /* columns without time */
    double **columns; /* columns[run * width + column][row] */
    double *values;
    double *time;
} yk_aligned;

/* Number of columns of a record without time: the components of all channels. */
int yk_record_width(const yk_record_header *header);

/* Copies the records, which have the same channels and the same times until the shortest one ends.
 * Quaternions of opposite sign are the same rotation: those of later records get the sign of the
 * first. Release the result, whatever the status. */
yk_status yk_align(yk_context *context, const yk_record *const *records, int count,
                   yk_aligned *aligned);
void yk_align_release(yk_context *context, yk_aligned *aligned);

/* Number of runs for a bar: h, h/2, h/4, h/8. */
enum { YK_ERROR_RUNS_MAX = 4 };

typedef struct yk_error_input {
    int runs;       /* 2 or more */
    int components; /* of the channel */
    bool impacts;   /* errors of single steps are not smooth in the step size: order 1 at most */
    size_t rows;
    const double *time;
    const double *const *columns; /* columns[run * components + component][row] */
} yk_error_input;

/* One channel of aligned records, whose first component is the column `first`. `columns` is
 * workspace for runs x components pointers. */
yk_error_input yk_error_channel(const yk_aligned *aligned, int first, int components, bool impacts,
                                const double **columns);

/* Computes the bars, bars[component][row], and all members of `error` except name, unit and exempt.
 * `ratios` is workspace for one number per row. */
void yk_error_bars(const yk_error_input *input, double *ratios, double *const *bars,
                   yk_channel_error *error);

/* Difference of the first of two runs from the second, as if that were exact: all members of
 * `error` except name, unit and exempt. */
void yk_error_distance(const yk_error_input *input, yk_channel_error *error);
/* The best estimate of the true solution from three runs, in truth[component][row], and its error:
 * the finest run, or the limit of the runs if they converge with a clear order. */
void yk_error_extrapolate(const yk_error_input *input, double *const *truth,
                          yk_channel_error *error);

/* The number that the error of a channel is compared with: its range, or a small part of the
 * largest range of others with its unit, or of its own size for rates and wrenches, whose zero
 * means rest. A channel that is nearly constant would have large relative errors otherwise. */
double yk_error_scale(const yk_channel_error *channels, int count, int index);

/* Relates the relative errors of all channels to these scales. */
void yk_error_relate(yk_channel_error *channels, int count);

/* Exempts channels for which a relative error has no meaning: those that hardly move compared with
 * others of their unit or with their own size, torques that are negligible compared with the forces
 * at the lever arm of the motion, and velocities that cause no displacement over the duration (s). */
void yk_error_exempt_resting(yk_channel_error *channels, int count, double duration);

#endif
