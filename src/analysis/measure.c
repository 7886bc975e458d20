/* Computes one number from a recorded channel: rms(tip.position.y, 1, 2) and similar measures.
 *
 *   rms, mean, deviation (about the mean), min, max, peak (largest absolute value), amplitude (half
 *   of max - min), final
 *   frequency    of the strongest line of the spectrum (Hz)
 *   line         amplitude of the spectrum at a frequency: line(channel, frequency[, from[, to]])
 *   radius       spectral radius of the macro step, as defined in yoke/analysis.h
 *   coupling     growth caused by the coupling, as defined there
 *
 * All except the last two have a channel and, optionally, a time span (s). Spectra are those of the
 * channel minus its mean with a Hann window, evaluated at the requested frequency itself and not on
 * a grid of bins. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/scenario_run.h"
#include "base/text.h"
#include "math/fourier.h"
#include "math/vec3.h"

enum { RMS, MEAN, DEVIATION, MIN, MAX, PEAK, AMPLITUDE, FINAL, FREQUENCY, LINE, RADIUS, COUPLING };

static const char *const words[] = {"rms",    "mean",      "deviation", "min",       "max",
                                    "peak",   "amplitude", "final",     "frequency", "line",
                                    "radius", "coupling",  NULL};

/* Parsing -------------------------------------------------------------------------------------- */

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* The text up to one of `ends`, without surrounding white space. */
static const char *take_word(const char *at, const char *ends, char *word, size_t capacity)
{
    at = skip_space(at);
    size_t length = strcspn(at, ends);
    size_t used = length;
    while (used > 0 && isspace((unsigned char)at[used - 1]))
        used--;
    snprintf(word, capacity, "%.*s", (int)used, at);
    return at + length;
}

static const char *take_number(const char *at, double *value)
{
    char *end;
    *value = yk_text_number(skip_space(at), &end);
    return skip_space(end);
}

bool yk_measure_of_step(const yk_measure *measure)
{
    return measure->kind == RADIUS || measure->kind == COUPLING;
}

yk_status yk_measure_parse(yk_context *context, const char *text, yk_measure *m)
{
    *m = (yk_measure){.kind = -1, .from = -INFINITY, .to = INFINITY};

    /* What is measured. */
    char word[32];
    const char *at = take_word(text, "(", word, sizeof word);
    for (int i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            m->kind = i;
    if (m->kind < 0) {
        const char *nearest = yk_text_nearest(word, words);
        char hint[64] = "";
        if (nearest)
            snprintf(hint, sizeof hint, ", did you mean %s", nearest);
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "measure '%s': unknown word '%s'%s; there are rms, mean, deviation, min, "
                       "max, peak, amplitude, final, frequency, line, radius and coupling",
                       text, word, hint);
    }

    bool of_step = yk_measure_of_step(m);
    if (of_step && !*at)
        return YK_OK;
    if (of_step)
        return yk_fail(context, YK_ERROR_ARGUMENT, "measure '%s': write %s", text, words[m->kind]);

    /* (channel, from, to) or (channel, frequency, from, to); in records the component of
     * tip.position:x is .x. */
    if (*at == '(')
        at = take_word(at + 1, ",)", m->channel, sizeof m->channel);
    for (char *c = m->channel; *c; c++)
        if (*c == ':')
            *c = '.';
    if (m->kind == LINE && *at == ',')
        at = take_number(at + 1, &m->frequency);
    if (*at == ',')
        at = take_number(at + 1, &m->from);
    if (*at == ',')
        at = take_number(at + 1, &m->to);

    bool complete = *m->channel && *at == ')' && !*skip_space(at + 1);
    bool sound = m->from < m->to && (m->kind != LINE || m->frequency > 0);
    if (complete && sound)
        return YK_OK;

    const char *form = "rms(channel), rms(channel, from) or rms(channel, from, to), times in s";
    if (m->kind == LINE)
        form = "line(channel, frequency) or line(channel, frequency, from, to)";

    return yk_fail(context, YK_ERROR_ARGUMENT, "measure '%s': write %s", text, form);
}

const char *yk_measure_unit(const yk_measure *measure, const char *unit)
{
    if (measure->kind == FREQUENCY)
        return "Hz";
    if (yk_measure_of_step(measure) || strcmp(unit, "1") == 0)
        return "";
    return unit;
}

double yk_measure_step_value(const yk_measure *measure, const yk_stability_report *report)
{
    if (measure->kind == RADIUS)
        return report->spectral_radius;
    return report->coupling_growth;
}

/* Spectrum ------------------------------------------------------------------------------------- */

static double mean_of(size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* Weight of sample i of n. */
static double hann(size_t n, size_t i)
{
    if (n <= 1)
        return 1;

    return 0.5 - 0.5 * cos(2 * YK_PI * (double)i / (double)(n - 1));
}

/* Amplitude of the line at `frequency` (Hz) of n samples at distance dt (s). */
static double spectrum_line(size_t n, const double *x, double dt, double frequency)
{
    /* One term of the Fourier transform, divided by the sum of the window. */
    double mean = mean_of(n, x);
    double real = 0;
    double imaginary = 0;
    double weights = 0;
    double step_angle = 2 * YK_PI * frequency * dt;

    for (size_t i = 0; i < n; i++) {
        double window = hann(n, i);
        double angle = step_angle * (double)i;
        real += window * (x[i] - mean) * cos(angle);
        imaginary += window * (x[i] - mean) * sin(angle);
        weights += window;
    }

    if (!(weights > 0))
        return 0;
    return 2 * hypot(real, imaginary) / weights;
}

static yk_status strongest_frequency(yk_context *context, size_t n, const double *x, double dt,
                                     double *frequency)
{
    /* The strongest line on a grid of at most half a bin, from a zero-padded transform of the
     * windowed channel. */
    size_t size = 2;
    while (size < 2 * n)
        size *= 2;
    double *real = yk_allocate(context, 2 * size, sizeof *real);
    if (!real)
        return YK_ERROR_MEMORY;

    double *imaginary = real + size;
    double mean = mean_of(n, x);
    for (size_t i = 0; i < n; i++)
        real[i] = hann(n, i) * (x[i] - mean);
    yk_fourier_transform(size, real, imaginary);
    double spacing = 1 / ((double)size * dt);
    double best = 0;
    double largest = -1;

    for (size_t k = 1; k < size / 2; k++) {
        double square = real[k] * real[k] + imaginary[k] * imaginary[k];
        if (square > largest) {
            largest = square;
            best = (double)k * spacing;
        }
    }

    yk_free(context, real);

    /* Refine by golden section search between the neighbours on the grid. */
    const double golden = 0.6180339887498949;
    double low = best - spacing;
    double high = best + spacing;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double at_left = spectrum_line(n, x, dt, left);
    double at_right = spectrum_line(n, x, dt, right);

    while (high - low > 1e-7 * best) {
        if (at_left > at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = spectrum_line(n, x, dt, left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = spectrum_line(n, x, dt, right);
        }
    }

    *frequency = 0.5 * (low + high);

    return YK_OK;
}

/* Values --------------------------------------------------------------------------------------- */
yk_status yk_measure_value(yk_context *context, const yk_measure *measure, const yk_record *record,
                           double *value)
{
    int channel = yk_record_find_channel(record, measure->channel);
    if (channel < 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "measure: the record has no channel '%s'",
                       measure->channel);

    /* The rows within the time span. */
    const double *time = yk_record_times(record);
    size_t begin = 0;
    size_t end = yk_record_row_count(record);
    while (begin < end && time[begin] < measure->from)
        begin++;
    while (end > begin && time[end - 1] > measure->to)
        end--;
    size_t count = end - begin;
    if (count < 2)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "measure of '%s': fewer than two samples from %g s to %g s",
                       measure->channel, measure->from, measure->to);

    /* A frequency needs a search; all other measures are sums or extremes. */
    const double *x = yk_record_column(record, channel, 0) + begin;
    double dt = time[begin + 1] - time[begin];
    if (measure->kind == FREQUENCY)
        return strongest_frequency(context, count, x, dt, value);

    /* Sums and extremes over these rows. */
    double mean = mean_of(count, x);
    double low = INFINITY;
    double high = -INFINITY;
    double squares = 0;

    for (size_t i = 0; i < count; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
        squares += x[i] * x[i];
    }

    double square = squares / (double)count;
    switch (measure->kind) {
    case RMS: *value = sqrt(square); break;
    case MEAN: *value = mean; break;
    case DEVIATION: *value = sqrt(fmax(0, square - mean * mean)); break;
    case MIN: *value = low; break;
    case MAX: *value = high; break;
    case PEAK: *value = fmax(fabs(low), fabs(high)); break;
    case AMPLITUDE: *value = 0.5 * (high - low); break;
    case FINAL: *value = x[count - 1]; break;
    default: *value = spectrum_line(count, x, dt, measure->frequency); break;
    }

    return YK_OK;
}
