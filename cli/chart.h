/* Charts as SVG in the look of the report: panels with axes, curves and coloured cells.
 *
 * A chart is plain data that the caller owns. Values are in SI units; an axis is shown with the prefix that keeps its numbers
 * short ("12 mm" for 0.012 m). Curves are named at their ends. A curve with more points than the picture has columns of
 * pixels is drawn as what can be seen of it: a line through the extremes of each column, or, if it oscillates within the
 * columns, the band between them. */
#ifndef YOKE_CLI_CHART_H
#define YOKE_CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

typedef enum chart_style {
    CHART_LINE,
    CHART_MARKED_LINE, /* with a dot at each point */
    CHART_THICK_LINE,
    CHART_GUIDE /* thin and dashed, behind the others, without a name at its end */
} chart_style;

typedef struct chart_curve {
    const char *name; /* "" for none */
    const double *x, *y;
    size_t count; /* a point that is not finite interrupts the curve */
    int color;    /* index of the palette, taken modulo its size */
    int dashes;   /* pattern, taken modulo their number; 0: solid */
    chart_style style;
} chart_curve;

typedef struct chart_axis {
    const char *name;
    const char *unit; /* SI unit, such as "m" or "N m"; "" or "1" for none */
    bool is_logarithmic;
    double low, high; /* range; low = high: the range of the data, with a margin */
    /* Names of the positions 0, 1, ...; NULL: the axis has numbers. */
    const char *const *words;
    int word_count;
} chart_axis;

/* One color of a scale, at a value; colours between two stops are interpolated. */
typedef struct chart_stop {
    double value;
    unsigned char color[3];
    const char *label; /* in the legend; NULL for none */
} chart_stop;

/* Cells of constant colour. */
typedef struct chart_map {
    int column_count, row_count;
    const double *x_edges, *y_edges; /* column_count + 1 and row_count + 1 values, increasing */
    const double *values;            /* row by row; NaN: undecided */
    const chart_stop *stops;         /* in increasing order of their values */
    int stop_count;
} chart_map;

typedef struct chart_panel {
    const char *title;
    const char *note; /* small text next to the title; NULL for none */
    chart_axis x, y;
    const chart_curve *curves;
    int curve_count;
    const chart_map *map; /* NULL for none */
    bool shares_x; /* the numbers below the next panel are valid for this one too, which has none */
    bool is_to_scale; /* a metre is as long across as up */
} chart_panel;

typedef struct chart {
    const char *title;
    const chart_panel *panels;
    int panel_count;
    int column_count;    /* number of panels in a row; 0: one */
    double panel_height; /* in pixels; 0: chosen by the number of panels */
} chart;

/* Adds the chart to the text as an SVG document, 800 pixels wide. Returns false without memory. */
bool chart_write(yk_context *context, const chart *picture, yk_text *svg);

#endif
