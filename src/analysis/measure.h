/* One number out of a recorded channel: rms(tip.position.y, 1, 2) and its kin.
 *
 *   rms, mean, deviation (about the mean), min, max, peak (largest size), amplitude (half of max - min), final
 *   frequency    of the strongest line of the spectrum (Hz)
 *   line         amplitude of the spectrum at a frequency: line(channel, frequency[, from[, to]])
 *   radius       spectral radius of the macro step, as yoke/analysis.h has it
 *   coupling     the growth that the coupling feeds, likewise
 *
 * All but the last two take the channel and, optionally, the time span (s). Spectra are those of
 * the channel less its mean under a Hann window, evaluated at the wanted frequency itself and not
 * on a grid of bins. */
#ifndef YK_ANALYSIS_MEASURE_H
#define YK_ANALYSIS_MEASURE_H

#include "yoke/analysis.h"

typedef struct yk_measure {
    int kind;
    char channel[160];
    double frequency; /* Hz, line only */
    double from, to;  /* s */
} yk_measure;

/* True for measures of the macro step instead of a recorded channel. */
bool yk_measure_of_step(const yk_measure *measure);
/* Its value, from an analysis. */
double yk_measure_step_value(const yk_measure *measure, const yk_stability_report *report);

/* YK_ERROR_ARGUMENT with what is wrong in the message. */
yk_status yk_measure_parse(yk_context *context, const char *text, yk_measure *measure);
/* Of the first component of the channel that has the measure's channel as its name. */
yk_status yk_measure_value(yk_context *context, const yk_measure *measure, const yk_record *record,
                           double *value);

/* Amplitude of the line at `frequency` (Hz) of n samples at distance dt (s). */
double yk_spectrum_line(size_t n, const double *x, double dt, double frequency);

#endif
