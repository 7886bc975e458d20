/* Pictures of results, drawn by gnuplot to BASE.svg and BASE.png; where BASE ends in .svg, .png or
 * .pdf, to that file alone. */
#ifndef YOKE_CLI_PICTURES_H
#define YOKE_CLI_PICTURES_H

#include "base/text.h"
#include "yoke/analysis.h"

/* Whether BASE can be the name of pictures; false after a message that names the option ("--plot").
 * Commands ask before they begin to compute. NULL is good: no picture is asked for. */
bool pictures_named(const char *option, const char *base);

/* A map of spectral radii: stable points in one colour, unstable ones by how much the radius exceeds
 * 1, undecided ones (NaN) in a colour of their own with an entry in the legend. */
yk_status picture_map(yk_context *context, const char *base, const char *title,
                      const yk_map_axis *x, const yk_map_axis *y, const double *radii);

/* Errors over the step, over calls of subsystems and over time on the clock. */
yk_status picture_convergence(yk_context *context, const char *base, const char *title,
                              const yk_convergence_options *def, const yk_convergence_row *rows);

/* One curve of a picture: component of a channel of a record over time. */
typedef struct picture_curve {
    const yk_record *record;
    int channel, component;
    const char *title;
} picture_curve;

/* The rows of the least and the largest value from row `from` to before `end`, in the order in
 * which they come: of a stretch of a curve that is narrower than a pixel, these are what is
 * seen. */
void curve_extremes(const double *values, size_t from, size_t end, size_t rows[2]);

/* Curves over time, one panel per unit; and how many panels these are. */
int picture_panels(const picture_curve *curves, int count);
yk_status picture_curves(yk_context *context, const char *base, const char *title,
                         const picture_curve *curves, int count);

/* The measures of a sweep over its last axis, one panel per measure and one curve per combination
 * of the other axes. */
yk_status picture_sweep(yk_context *context, const char *base, const char *title,
                        const yk_sweep_options *def, const double *results);

/* The names of the pictures that were drawn for BASE, on the standard output. */
void print_pictures(const char *base);

/* The program's one caller of gnuplot: a script goes in, pictures come out.
 *
 * The script runs once per picture, as high as so many panels one below the other need, and is
 * destroyed. It must not set terminal or output. */
yk_status gnuplot_draw(yk_context *context, const char *base, yk_text *script, int panels);

#endif
