/* Differences of the aligned records of several runs of one scenario, and the error of a run that
 * follows from them. */
#ifndef YK_ANALYSIS_RUN_DIFFERENCE_H
#define YK_ANALYSIS_RUN_DIFFERENCE_H

#include "analysis/error_bars.h"

/* Rows of several records at the times that all of them have. Release the result also after an
 * error. */
yk_status yk_align_common(yk_context *context, const yk_record *const *records, int count,
                          yk_aligned *a);

/* Differences of the runs i and j in a channel, whose components begin at the column `first`. */
typedef double yk_difference_function(const yk_aligned *a, int first, int components, int i, int j);
double yk_largest_difference(const yk_aligned *a, int first, int components, int i, int j);
double yk_mean_difference(const yk_aligned *a, int first, int components, int i, int j);

/* Difference of the means and of the rms of two runs, the larger one. The rms of impact forces
 * depends on the step by which their impulses are divided. */
double yk_statistics_difference(const yk_aligned *a, int first, int components, int i, int j,
                                bool with_rms);

/* Largest difference of values of the first run at its own times from straight lines between the
 * aligned times: motion that the aligned rows do not show. `column` is that of the values. */
double yk_hidden_motion(const double *times, const double *values, size_t count,
                        const yk_aligned *a, int column);

/* The first time at which two runs differ by more than a limit; infinite if they never do. */
double yk_time_of_difference(const yk_aligned *a, int first, int components, int i, int j,
                             double limit);

/* The order p at which differences between runs with the factors a < b < c of the steps have this
 * ratio, (c^p - b^p) / (b^p - a^p), which grows with p. */
double yk_order_of_differences(double a, double b, double c, double ratio);

/* Error of the run relative to its difference to a companion with a factor of the steps, of which
 * the differences `fine` and `coarse` between three runs show the order. A scheme of first order
 * with solvers of second order has errors of both: far from the run the second hides the first. */
double yk_error_by_difference(double factor, double order, const double factors[3], double fine,
                              double coarse);

#endif
