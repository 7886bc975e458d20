/* Pictures of results: which charts show them, and their files.
 *
 * A picture is an SVG file BASE.svg, or the file that the name with the ending .svg, .png or .pdf says. PNG and PDF are made
 * from the SVG by rsvg-convert. */
#ifndef YOKE_CLI_PICTURES_H
#define YOKE_CLI_PICTURES_H

#include "chart.h"
#include "yoke/analysis.h"

/* Whether the name can be that of a picture; false after a message that names the option ("--plot"). Commands ask before they
 * compute. NULL is good: no picture is asked for. */
bool picture_is_named(const char *option, const char *name);

/* Whether the picture of this name cannot move, because it is no SVG. */
bool picture_is_still(const char *name);

/* Writes a chart, or the text of an SVG file, to the picture of this name. */
yk_status picture_write(yk_context *context, const char *name, const chart *picture);
yk_status picture_write_svg(yk_context *context, const char *name, const char *svg, size_t length);

/* "picture NAME.svg" on the standard output. */
void print_picture(const char *name);

/* A map of spectral radii: stable points in one colour, unstable ones by how much the radius exceeds 1, undecided ones (NaN) in
 * a colour of their own. */
yk_status picture_map(yk_context *context, const char *name, const char *title,
                      const yk_map_axis *x, const yk_map_axis *y, const double *radii);

/* The error over the step, over the calls of subsystems and over the time on the clock. */
yk_status picture_convergence(yk_context *context, const char *name, const char *title,
                              const yk_convergence_options *def, const yk_convergence_row *rows);

/* One curve of a picture: a component of a channel of a record over time. */
typedef struct picture_curve {
    const yk_record *record;
    int channel, component;
    const char *run; /* name of the record in a picture of several; NULL in a picture of one */
    bool
        is_asked_for; /* drawn even if it stays constant while other components of its channel change */
} picture_curve;

/* The rows of the smallest and the largest value from row `from` to before `end`, in increasing order. Of a part of a curve
 * that is narrower than a pixel, these are what can be seen. */
void curve_extremes(const double *values, size_t from, size_t end, size_t rows[2]);

/* Curves over time, one panel per quantity. Components that stay constant while others of their channel change are not drawn
 * but noted. */
yk_status picture_curves(yk_context *context, const char *name, const char *title,
                         const picture_curve *curves, int count);
/* Whether two curves show the same quantity in the same unit. */
bool picture_shares_panel(const picture_curve *a, const picture_curve *b);
/* Number of panels that these curves take. */
int picture_panel_count(const picture_curve *curves, int count);

/* The measures of a sweep, one panel per measure: over its last axis with one curve per combination of the other axes, or as a
 * map over two axes of numbers if that would be many curves. */
yk_status picture_sweep(yk_context *context, const char *name, const char *title,
                        const yk_sweep_options *def, const double *results);

#endif
