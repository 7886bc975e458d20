#include "chart.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. The areas of all panels in a column of panels begin and end at the same place. */
enum {
    WIDTH = 800,
    EDGE = 16,           /* free space around the picture */
    TITLE_HEIGHT = 34,   /* of the chart */
    HEADING_HEIGHT = 30, /* of a panel */
    NUMBERS_HEIGHT = 22, /* of the numbers below an axis */
    NAME_HEIGHT = 24,    /* of the name of an axis */
    GAP = 12,            /* between panels that share an axis */
    LABEL_HEIGHT = 15,   /* of the name of a curve at its end */
    BAR_WIDTH = 14       /* of the color scale of a map */
};

/* Sizes of letters, in pixels. */
static const double TITLE_SIZE = 16, HEADING_SIZE = 13, TEXT_SIZE = 12, SMALL_SIZE = 11;

/* The palette of the report (viewer/src/ui.ts). */
static const char *const palette[] = {"#3f72a6", "#c07d25", "#3a8b7d", "#8c5b8f",
                                      "#b24c3d", "#6b7f3a", "#5b6b8c", "#a0673f"};
static const char *const dash_patterns[] = {"", "7 4", "2 3", "9 3 2 3"};
enum {
    PALETTE_SIZE = sizeof palette / sizeof *palette,
    DASH_COUNT = sizeof dash_patterns / sizeof *dash_patterns
};

static const char TEXT_COLOR[] = "#1d242c", MUTED_COLOR[] = "#6a7480", GRID_COLOR[] = "#e1e5ea";
static const char GUIDE_COLOR[] = "#a3abb5", UNDECIDED_COLOR[] = "#8a8f98";

static const char *color_of(int index)
{
    return palette[index % PALETTE_SIZE];
}

/* Words and numbers ---------------------------------------------------------------------------- */

/* Upper estimate of the width of a text in a font without serifs, in pixels. */
static double text_width(const char *text, double size)
{
    double ems = 0;
    for (const char *c = text; *c; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80)
            continue; /* not the first byte of a character */
        if ((unsigned char)*c >= 0x80) {
            ems += 0.84; /* the minus sign, which is the widest in numbers */
            continue;
        }
        if (strchr("iljtfrI.,:;'|!()[]/ ", *c))
            ems += 0.38;
        else if (strchr("mwMW", *c))
            ems += 0.92;
        else if (*c >= 'A' && *c <= 'Z')
            ems += 0.7;
        else
            ems += 0.62;
    }
    return ems * size;
}

/* A number with few digits and a proper minus sign. */
static void spell_number(char *word, size_t size, double value, int decimals)
{
    char digits[40];
    yk_format(digits, sizeof digits, "%.*f", decimals, fabs(value));
    bool is_zero = strspn(digits, "0.") == strlen(digits);
    snprintf(word, size, "%s%s", value < 0 && !is_zero ? "−" : "", digits);
}

static const char *const superscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

/* Appends to a word of limited size; what does not fit is left out. */
static void append(char *word, size_t size, const char *part)
{
    size_t used = strlen(word);
    if (used + strlen(part) < size)
        memcpy(word + used, part, strlen(part) + 1);
}

static void append_power(char *word, size_t size, int exponent)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", exponent);
    for (const char *c = digits; *c; c++)
        append(word, size, *c == '-' ? "⁻" : superscripts[*c - '0']);
}

/* "N m" as "N·m", "m/s^2" as "m/s²". */
static void append_unit(char *word, size_t size, const char *unit)
{
    bool raised = false;
    for (const char *c = unit; *c; c++) {
        char one[2] = {*c, 0};
        bool digit = *c >= '0' && *c <= '9';
        if (*c == '^')
            raised = true;
        else if (raised && (digit || *c == '-'))
            append(word, size, digit ? superscripts[*c - '0'] : "⁻");
        else {
            raised = false;
            append(word, size, *c == ' ' || *c == '*' ? "·" : one);
        }
    }
}

static bool has_unit(const chart_axis *axis)
{
    return axis->unit && *axis->unit && strcmp(axis->unit, "1") != 0;
}

/* Whether the first symbol of a unit may have a prefix: "m/s" may be shown as "mm/s", but not "m^2" as "mm^2", which is
 * another factor. */
static bool takes_prefix(const char *unit)
{
    static const char *const symbols[] = {"m", "N", "Pa", "J", "W", "s", "V", "A", "Hz"};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        size_t length = strlen(symbols[i]);
        if (strncmp(unit, symbols[i], length) != 0)
            continue;

        char next = unit[length];
        if (next == 0 || next == ' ' || next == '*' || next == '/')
            return true;
    }
    return false;
}

/* Axes ----------------------------------------------------------------------------------------- */

enum { TICK_MAX = 24 };

/* An axis in the picture: values from low to high lie at the pixels from `from` to `to`. */
typedef struct scale {
    double low, high;
    bool is_logarithmic;
    double from, to;
    char name[160]; /* with its unit and prefix */
    int tick_count;
    double ticks[TICK_MAX];
    char tick_words[TICK_MAX][48];
} scale;

static double place(const scale *s, double value)
{
    double part = s->is_logarithmic ? log(value / s->low) / log(s->high / s->low)
                                    : (value - s->low) / (s->high - s->low);
    /* A point far outside is cut off in any case, and must not be an endless number. */
    return s->from + fmin(fmax(part, -100), 100) * (s->to - s->from);
}

/* The largest step of 1, 2 or 5 times a power of ten that makes at least so many steps. */
static double round_step(double range, int count)
{
    double raw = range / count;
    double power = pow(10, floor(log10(raw)));
    double digits = raw / power;
    if (digits >= 5)
        return 5 * power;
    return digits >= 2 ? 2 * power : power;
}

/* The name of an axis and the factor to the unit in which its numbers are shown. */
static double name_axis(const chart_axis *axis, scale *s)
{
    static const char *const prefixes[] = {"p", "n", "µ", "m", "", "k", "M", "G", "T"};
    double largest = fmax(fabs(s->low), fabs(s->high));
    int exponent = 0;
    if (!s->is_logarithmic && largest > 0)
        exponent = 3 * (int)floor(log10(largest * (1 + 1e-9)) / 3);

    bool prefixed = has_unit(axis) && takes_prefix(axis->unit);
    if (prefixed && axis->unit[0] == 's' && exponent > 0)
        exponent = 0; /* not kiloseconds */
    if (prefixed)
        exponent = exponent < -12 ? -12 : exponent > 12 ? 12 : exponent;
    else if (largest >= 1e-3 && largest < 1e5)
        exponent = 0;

    snprintf(s->name, sizeof s->name, "%s", axis->name ? axis->name : "");
    if (has_unit(axis) || exponent) {
        append(s->name, sizeof s->name, *s->name ? " (" : "(");
        if (exponent && !prefixed) {
            append(s->name, sizeof s->name, "10");
            append_power(s->name, sizeof s->name, exponent);
            append(s->name, sizeof s->name, has_unit(axis) ? " " : "");
        }
        if (prefixed)
            append(s->name, sizeof s->name, prefixes[exponent / 3 + 4]);
        if (has_unit(axis))
            append_unit(s->name, sizeof s->name, axis->unit);
        append(s->name, sizeof s->name, ")");
    }
    return pow(10, exponent);
}

static void add_tick(scale *s, double value, const char *word)
{
    if (s->tick_count == TICK_MAX)
        return;
    s->ticks[s->tick_count] = value;
    snprintf(s->tick_words[s->tick_count], sizeof *s->tick_words, "%s", word);
    s->tick_count++;
}

static void add_logarithmic_ticks(scale *s, int count)
{
    int first = (int)ceil(log10(s->low) - 1e-9);
    int last = (int)floor(log10(s->high) + 1e-9);
    int every = (last - first) / count + 1;
    char word[48];
    for (int power = first; power <= last && last > first; power++) {
        if ((power - first) % every)
            continue;
        snprintf(word, sizeof word, "10");
        append_power(word, sizeof word, power);
        add_tick(s, pow(10, power), word);
    }
    if (s->tick_count > 0)
        return;

    /* Less than a decade. */
    static const double digits[] = {1, 2, 5};
    for (int power = first - 1; power <= last; power++) {
        for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
            double value = digits[i] * pow(10, power);
            if (value < s->low * (1 - 1e-9) || value > s->high * (1 + 1e-9))
                continue;
            yk_format(word, sizeof word, "%g", value);
            add_tick(s, value, word);
        }
    }
}

/* Ticks at round numbers, at least so many if the numbers allow it. */
static void add_ticks(scale *s, const chart_axis *axis, int count)
{
    s->tick_count = 0;
    double factor = name_axis(axis, s);
    if (axis->words) {
        for (int i = 0; i < axis->word_count; i++)
            add_tick(s, i, axis->words[i]);
        return;
    }
    if (s->is_logarithmic) {
        add_logarithmic_ticks(s, count);
        return;
    }

    double low = s->low / factor;
    double high = s->high / factor;
    double step = round_step(high - low, count);
    int decimals = (int)ceil(-log10(step) - 1e-9);
    decimals = decimals < 0 ? 0 : decimals > 12 ? 12 : decimals;
    for (double i = ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
        char word[48];
        spell_number(word, sizeof word, i * step, decimals);
        add_tick(s, i * step * factor, word);
        if (s->tick_count == TICK_MAX)
            return;
    }
}

/* The range of the data along an axis. */
static void find_range(const chart_panel *panel, bool along_x, double *low, double *high)
{
    const chart_axis *axis = along_x ? &panel->x : &panel->y;
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < panel->curve_count; i++) {
        const chart_curve *curve = &panel->curves[i];
        if (curve->style == CHART_GUIDE)
            continue;
        for (size_t k = 0; k < curve->count; k++) {
            if (!isfinite(curve->x[k]) || !isfinite(curve->y[k]))
                continue;
            double value = along_x ? curve->x[k] : curve->y[k];
            if (axis->is_logarithmic && value <= 0)
                continue;
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    }
}

static scale make_scale(const chart_panel *panel, bool along_x)
{
    const chart_axis *axis = along_x ? &panel->x : &panel->y;
    const chart_map *map = panel->map;
    scale s = {.is_logarithmic = axis->is_logarithmic, .low = axis->low, .high = axis->high};
    if (s.low < s.high)
        return s;

    if (axis->words) {
        s.low = -0.5;
        s.high = axis->word_count - 0.5;
        return s;
    }
    if (map) {
        s.low = along_x ? map->x_edges[0] : map->y_edges[0];
        s.high = along_x ? map->x_edges[map->column_count] : map->y_edges[map->row_count];
        return s;
    }

    double low;
    double high;
    find_range(panel, along_x, &low, &high);
    if (low > high) {
        /* No data. */
        low = s.is_logarithmic ? 1 : 0;
        high = s.is_logarithmic ? 10 : 1;
    }

    /* A constant is a line in the middle, and so is a value that changes by rounding only. */
    double size = fmax(fabs(low), fabs(high));
    if (s.is_logarithmic) {
        double margin = low < high ? pow(high / low, 0.06) : 2;
        s.low = low / margin;
        s.high = high * margin;
        return s;
    }
    if (high - low <= 1e-9 * size) {
        double half = size > 0 ? 0.5 * size : 1;
        low -= half;
        high += half;
    } else if (size < 1e-12 && !along_x) {
        low = -1e-12;
        high = 1e-12;
    }

    /* Curves keep a distance from the edges; those that are nowhere negative stand on zero. */
    double range = high - low;
    bool marked = panel->curve_count > 0 && panel->curves[0].style == CHART_MARKED_LINE;
    double margin = along_x && !marked ? 0 : 0.06 * range;
    s.low = low >= 0 && low < 0.3 * range && !along_x ? 0 : low - margin;
    s.high = high + margin;
    return s;
}

/* Curves --------------------------------------------------------------------------------------- */

typedef struct canvas {
    yk_context *context;
    yk_text *svg;
} canvas;

/* Adds a text as XML. Characters that are not printable become spaces. */
static void add_words(const canvas *c, const char *text)
{
    char *copy = yk_text_copy(c->context, text ? text : "");
    if (!copy) {
        c->svg->failed = true;
        return;
    }
    yk_text_make_printable(copy);
    yk_text_add_xml(c->context, c->svg, copy);
    yk_free(c->context, copy);
}

static void add_text(const canvas *c, double x, double y, double size, const char *color,
                     const char *attributes, const char *text)
{
    yk_text_add(c->context, c->svg, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%g\" fill=\"%s\"%s%s>",
                x, y, size, color, *attributes ? " " : "", attributes);
    add_words(c, text);
    yk_text_add(c->context, c->svg, "</text>\n");
}

/* How often the curve changes its direction. */
static size_t count_reversals(const chart_curve *curve)
{
    size_t reversals = 0;
    double before = 0;
    for (size_t i = 1; i < curve->count; i++) {
        double change = curve->y[i] - curve->y[i - 1];
        if (change * before < 0)
            reversals++;
        if (change != 0 && isfinite(change))
            before = change;
    }
    return reversals;
}

static bool rises_along_x(const chart_curve *curve)
{
    for (size_t i = 1; i < curve->count; i++)
        if (!(curve->x[i] >= curve->x[i - 1]))
            return false;
    return true;
}

/* Points from `begin` that lie in a column of this width in pixels. */
static size_t end_of_column(const chart_curve *curve, const scale *x, size_t begin, double width)
{
    double column = floor(place(x, curve->x[begin]) / width);
    size_t end = begin + 1;
    while (end < curve->count && floor(place(x, curve->x[end]) / width) == column)
        end++;
    return end;
}

static bool is_visible(const chart_curve *curve, size_t i, const scale *x, const scale *y)
{
    return isfinite(curve->x[i]) && isfinite(curve->y[i]) &&
           (!x->is_logarithmic || curve->x[i] > 0) && (!y->is_logarithmic || curve->y[i] > 0);
}

/* The smallest and the largest visible value of some points; false if there is none. */
static bool column_extremes(const chart_curve *curve, const scale *x, const scale *y, size_t begin,
                            size_t end, size_t rows[2])
{
    bool found = false;
    for (size_t i = begin; i < end; i++) {
        if (!is_visible(curve, i, x, y))
            continue;
        if (!found)
            rows[0] = rows[1] = i;
        found = true;
        if (curve->y[i] < curve->y[rows[0]])
            rows[0] = i;
        if (curve->y[i] > curve->y[rows[1]])
            rows[1] = i;
    }
    return found;
}

/* The band between the extremes of columns that hold at least a period each. */
static void add_band(const canvas *c, const chart_curve *curve, const scale *x, const scale *y,
                     double width)
{
    double at[WIDTH], low[WIDTH], high[WIDTH];
    int count = 0;
    for (size_t begin = 0; begin < curve->count && count < WIDTH;) {
        size_t end = end_of_column(curve, x, begin, width);
        size_t rows[2];
        if (column_extremes(curve, x, y, begin, end, rows)) {
            /* The band reaches from the first point to the last. */
            at[count] = 0.5 * (place(x, curve->x[begin]) + place(x, curve->x[end - 1]));
            if (begin == 0)
                at[count] = place(x, curve->x[0]);
            if (end == curve->count)
                at[count] = place(x, curve->x[end - 1]);
            low[count] = place(y, curve->y[rows[0]]);
            high[count++] = place(y, curve->y[rows[1]]);
        }
        begin = end;
    }

    /* The upper edge forward, the lower edge back. */
    const char *color = color_of(curve->color);
    yk_text_add(c->context, c->svg,
                "<path fill=\"%s\" fill-opacity=\"0.35\" stroke=\"%s\" stroke-width=\"1\" d=\"",
                color, color);
    for (int i = 0; i < count; i++)
        yk_text_add(c->context, c->svg, "%s%.1f %.1f", i ? "L" : "M", at[i], high[i]);
    for (int i = count - 1; i >= 0; i--)
        yk_text_add(c->context, c->svg, "L%.1f %.1f", at[i], low[i]);
    yk_text_add(c->context, c->svg, "%s\"/>\n", count ? "Z" : "");
}

/* A line through all points, or through the extremes of each column of pixels if there are many. */
static void add_line(const canvas *c, const chart_curve *curve, const scale *x, const scale *y,
                     bool reduced, int dashes)
{
    const char *color = color_of(curve->color);
    double width = 1.6;
    if (curve->style == CHART_THICK_LINE)
        width = 2.2;
    if (curve->style == CHART_GUIDE) {
        color = GUIDE_COLOR;
        width = 1;
        dashes = 1;
    }

    yk_text_add(c->context, c->svg,
                "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linejoin=\"round\"",
                color, width);
    if (dashes % DASH_COUNT)
        yk_text_add(c->context, c->svg, " stroke-dasharray=\"%s\"",
                    dash_patterns[dashes % DASH_COUNT]);
    yk_text_add(c->context, c->svg, " d=\"");

    bool draws = false;
    for (size_t begin = 0; begin < curve->count;) {
        size_t end = reduced ? end_of_column(curve, x, begin, 0.5) : begin + 1;
        size_t rows[2] = {begin, begin};
        bool visible = column_extremes(curve, x, y, begin, end, rows);
        if (!is_visible(curve, begin, x, y))
            draws = false;

        /* The extremes in the order of their points. */
        bool falls = rows[1] < rows[0];
        for (int k = 0; visible && k < 2; k++) {
            size_t row = rows[falls ? 1 - k : k];
            if (k == 1 && rows[0] == rows[1])
                break;
            yk_text_add(c->context, c->svg, "%s%.1f %.1f", draws ? "L" : "M",
                        place(x, curve->x[row]), place(y, curve->y[row]));
            draws = true;
        }
        begin = end;
    }
    yk_text_add(c->context, c->svg, "\"/>\n");
}

static void add_curve(const canvas *c, const chart_curve *curve, const scale *x, const scale *y,
                      int dashes)
{
    yk_text_add(c->context, c->svg, "<g><title>");
    add_words(c, curve->name);
    yk_text_add(c->context, c->svg, "</title>\n");

    /* A curve that oscillates faster than every few pixels is a band. */
    double pixels = fabs(x->to - x->from);
    bool many = (double)curve->count > 2 * pixels && rises_along_x(curve);
    size_t reversals = many ? count_reversals(curve) : 0;
    double period = reversals ? 2 * pixels / (double)reversals : pixels;
    if (many && period < 3)
        add_band(c, curve, x, y, fmax(1.5 * period, 1));
    else
        add_line(c, curve, x, y, many, dashes);

    if (curve->style == CHART_GUIDE && curve->count > 0 && curve->name && *curve->name)
        add_text(c, place(x, curve->x[0]) + 4, place(y, curve->y[0]) - 4, SMALL_SIZE, MUTED_COLOR,
                 "", curve->name);
    for (size_t i = 0; curve->style == CHART_MARKED_LINE && i < curve->count; i++)
        if (is_visible(curve, i, x, y))
            yk_text_add(c->context, c->svg,
                        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                        place(x, curve->x[i]), place(y, curve->y[i]), color_of(curve->color));
    yk_text_add(c->context, c->svg, "</g>\n");
}

/* Whether two curves cover each other in the picture. */
static bool coincide(const chart_curve *a, const chart_curve *b, const scale *x, const scale *y)
{
    if (a->count != b->count || a->count == 0)
        return false;
    size_t every = a->count / 200 + 1;
    for (size_t i = 0; i < a->count; i += every) {
        bool seen = is_visible(a, i, x, y);
        if (seen != is_visible(b, i, x, y))
            return false;
        if (seen && (fabs(place(x, a->x[i]) - place(x, b->x[i])) > 1 ||
                     fabs(place(y, a->y[i]) - place(y, b->y[i])) > 1.5))
            return false;
    }
    return true;
}

/* Names of curves ------------------------------------------------------------------------------ */

typedef struct curve_label {
    const chart_curve *curve;
    double end; /* of the curve, and where its name stands */
    double at;
} curve_label;

static int compare_labels(const void *a, const void *b)
{
    const curve_label *p = a;
    const curve_label *q = b;
    return (p->end > q->end) - (p->end < q->end);
}

static bool is_named(const chart_curve *curve)
{
    return curve->name && *curve->name && curve->style != CHART_GUIDE && curve->count > 0;
}

/* At most so much of the width is for names of curves. */
static const double LABEL_PART = 0.34;

static double label_width(const chart_panel *panel)
{
    double widest = 0;
    for (int i = 0; i < panel->curve_count; i++)
        if (is_named(&panel->curves[i]))
            widest = fmax(widest, text_width(panel->curves[i].name, TEXT_SIZE));
    return fmin(widest, LABEL_PART * WIDTH);
}

/* Writes the name of each curve next to its end, and moves names apart that would overlap. */
static yk_status add_labels(const canvas *c, const chart_panel *panel, const scale *x,
                            const scale *y)
{
    curve_label *labels = yk_allocate(c->context, (size_t)panel->curve_count + 1, sizeof *labels);
    if (!labels)
        return YK_ERROR_MEMORY;

    int count = 0;
    double top = y->to + 4;
    double bottom = y->from;
    for (int i = 0; i < panel->curve_count; i++) {
        const chart_curve *curve = &panel->curves[i];
        if (!is_named(curve))
            continue;

        /* The name stands at the height of the point that is farthest to the right. */
        double end = 0.5 * (top + bottom);
        double farthest = -INFINITY;
        for (size_t k = curve->count; k-- > 0;) {
            if (is_visible(curve, k, x, y) && curve->x[k] > farthest) {
                farthest = curve->x[k];
                end = fmin(fmax(place(y, curve->y[k]), y->to), y->from);
            }
        }
        labels[count++] = (curve_label){curve, end, end};
    }
    qsort(labels, (size_t)count, sizeof *labels, compare_labels);

    for (int i = 0; i < count; i++) {
        double least = i > 0 ? labels[i - 1].at + LABEL_HEIGHT : top;
        labels[i].at = fmax(labels[i].at, least);
    }
    for (int i = count - 1; i >= 0; i--) {
        double most = i < count - 1 ? labels[i + 1].at - LABEL_HEIGHT : bottom;
        labels[i].at = fmin(labels[i].at, most);
    }

    for (int i = 0; i < count; i++) {
        const curve_label *label = &labels[i];
        const char *color = color_of(label->curve->color);
        yk_text_add(c->context, c->svg,
                    "<path fill=\"none\" stroke=\"%s\" stroke-opacity=\"0.6\" "
                    "d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                    color, x->to + 2, label->end, x->to + 11, label->at);

        /* A name that is too long loses its beginning, which names have in common. */
        const char *name = label->curve->name;
        bool cut = false;
        while (text_width(name, TEXT_SIZE) > LABEL_PART * WIDTH) {
            name++;
            while (((unsigned char)*name & 0xc0) == 0x80)
                name++;
            cut = true;
        }
        yk_text shown = {0};
        yk_text_add(c->context, &shown, "%s%s", cut ? "…" : "", name);
        add_text(c, x->to + 14, label->at + 4, TEXT_SIZE, color, "", shown.data ? shown.data : "");
        yk_text_destroy(c->context, &shown);
    }

    yk_free(c->context, labels);
    return YK_OK;
}

/* Maps ----------------------------------------------------------------------------------------- */

/* Steps of the color scale of a map. */
enum { LEVELS = 96, UNDECIDED = -1 };

static int level_of(const chart_map *map, double value)
{
    if (isnan(value))
        return UNDECIDED;
    double low = map->stops[0].value;
    double high = map->stops[map->stop_count - 1].value;
    double part = low < high ? (value - low) / (high - low) : 0;
    return (int)lrint(fmin(fmax(part, 0), 1) * (LEVELS - 1));
}

static void level_color(const chart_map *map, int level, char color[8])
{
    if (level == UNDECIDED) {
        snprintf(color, 8, "%s", UNDECIDED_COLOR);
        return;
    }
    double low = map->stops[0].value;
    double high = map->stops[map->stop_count - 1].value;
    double value = low + (high - low) * level / (LEVELS - 1);
    int next = 1;
    while (next < map->stop_count - 1 && map->stops[next].value < value)
        next++;
    const chart_stop *a = &map->stops[next - 1];
    const chart_stop *b = &map->stops[next];
    double part = b->value > a->value ? (value - a->value) / (b->value - a->value) : 0;
    part = fmin(fmax(part, 0), 1);
    int rgb[3];
    for (int i = 0; i < 3; i++)
        rgb[i] = (int)lrint(a->color[i] + part * (b->color[i] - a->color[i])) & 255;
    snprintf(color, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

static bool has_undecided(const chart_map *map)
{
    for (int i = 0; i < map->row_count * map->column_count; i++)
        if (isnan(map->values[i]))
            return true;
    return false;
}

/* All cells of a color are one path. Adjacent cells of a color are one rectangle. */
static void add_cells(const canvas *c, const chart_map *map, const scale *x, const scale *y)
{
    yk_text_add(c->context, c->svg, "<g class=\"cells\" shape-rendering=\"crispEdges\">\n");
    for (int level = UNDECIDED; level < LEVELS; level++) {
        bool found = false;
        for (int row = 0; row < map->row_count; row++) {
            const double *values = map->values + (size_t)row * (size_t)map->column_count;
            for (int i = 0; i < map->column_count; i++) {
                if (level_of(map, values[i]) != level)
                    continue;

                int end = i + 1;
                while (end < map->column_count && level_of(map, values[end]) == level)
                    end++;
                char color[8];
                level_color(map, level, color);
                double left = place(x, map->x_edges[i]);
                double right = place(x, map->x_edges[end]);
                double low = place(y, map->y_edges[row]);
                double high = place(y, map->y_edges[row + 1]);
                if (!found)
                    yk_text_add(c->context, c->svg, "<path fill=\"%s\" d=\"", color);
                yk_text_add(c->context, c->svg, "M%.2f %.2fH%.2fV%.2fH%.2fZ", left, high, right,
                            low, left);
                found = true;
                i = end - 1;
            }
        }
        if (found)
            yk_text_add(c->context, c->svg, "\"/>\n");
    }
    yk_text_add(c->context, c->svg, "</g>\n");
}

/* The color scale next to a map. */
static void add_color_scale(const canvas *c, const chart_map *map, double left, double top,
                            double height)
{
    bool undecided = has_undecided(map);
    if (undecided)
        height -= 2.0 * LABEL_HEIGHT;
    yk_text_add(c->context, c->svg, "<g class=\"scale\" shape-rendering=\"crispEdges\">\n");
    for (int level = 0; level < LEVELS; level++) {
        char color[8];
        level_color(map, level, color);
        double high = top + height * (1 - (level + 1.0) / LEVELS);
        yk_text_add(c->context, c->svg,
                    "<rect x=\"%.1f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"%s\"/>\n",
                    left, high, BAR_WIDTH, height / LEVELS + 0.5, color);
    }
    yk_text_add(c->context, c->svg, "</g>\n");

    double low = map->stops[0].value;
    double high = map->stops[map->stop_count - 1].value;
    for (int i = 0; i < map->stop_count; i++) {
        const chart_stop *stop = &map->stops[i];
        if (!stop->label)
            continue;
        double part = low < high ? (stop->value - low) / (high - low) : 0;
        add_text(c, left + BAR_WIDTH + 6, top + height * (1 - part) + 4, SMALL_SIZE, TEXT_COLOR, "",
                 stop->label);
    }

    if (undecided) {
        double at = top + height + LABEL_HEIGHT;
        yk_text_add(c->context, c->svg,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", left,
                    at, BAR_WIDTH, BAR_WIDTH, UNDECIDED_COLOR);
        add_text(c, left + BAR_WIDTH + 6, at + 11, SMALL_SIZE, TEXT_COLOR, "", "undecided");
    }
}

static double color_scale_width(const chart_map *map)
{
    double widest = has_undecided(map) ? text_width("undecided", SMALL_SIZE) : 0;
    for (int i = 0; i < map->stop_count; i++)
        if (map->stops[i].label)
            widest = fmax(widest, text_width(map->stops[i].label, SMALL_SIZE));
    return BAR_WIDTH + 6 + widest;
}

/* Panels --------------------------------------------------------------------------------------- */

/* The area of a panel within its axes. */
typedef struct frame {
    double edge; /* where the heading begins */
    double left, top, width, height;
} frame;

/* Adds the numbers of one axis, and its lines of the grid. */
static void add_axis(const canvas *c, const frame *f, const scale *s, bool along_x, bool numbers,
                     bool grid)
{
    for (int i = 0; i < s->tick_count; i++) {
        double at = place(s, s->ticks[i]);
        bool zero = s->ticks[i] == 0 && !s->is_logarithmic;
        double line[4] = {f->left, at, f->left + f->width, at};
        if (along_x) {
            line[0] = line[2] = at;
            line[1] = f->top;
            line[3] = f->top + f->height;
        }
        if (grid)
            yk_text_add(c->context, c->svg,
                        "<path stroke=\"%s\" stroke-width=\"1\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                        zero ? GUIDE_COLOR : GRID_COLOR, line[0], line[1], line[2], line[3]);
        if (numbers && along_x)
            add_text(c, at, f->top + f->height + 17, TEXT_SIZE, MUTED_COLOR,
                     "text-anchor=\"middle\"", s->tick_words[i]);
        if (numbers && !along_x)
            add_text(c, f->left - 8, at + 4, TEXT_SIZE, MUTED_COLOR, "text-anchor=\"end\"",
                     s->tick_words[i]);
    }
}

static double number_width(const scale *s)
{
    double widest = 0;
    for (int i = 0; i < s->tick_count; i++)
        widest = fmax(widest, text_width(s->tick_words[i], TEXT_SIZE));
    return widest + 8;
}

/* The name of the y axis is in the heading of the panel, where it is easy to read. */
static void add_heading(const canvas *c, const frame *f, const chart_panel *panel, const scale *y)
{
    bool titled = panel->title && *panel->title;
    const char *separator = "";
    if (titled && *y->name)
        separator = y->name[0] == '(' ? " " : ", ";
    yk_text heading = {0};
    yk_text_add(c->context, &heading, "%s%s%s", titled ? panel->title : "", separator, y->name);

    const char *words = heading.data ? heading.data : "";
    double at = f->top - 9;
    add_text(c, f->edge, at, HEADING_SIZE, TEXT_COLOR, "font-weight=\"600\"", words);
    if (panel->note && *panel->note)
        add_text(c, f->edge + 1.06 * text_width(words, HEADING_SIZE) + 12, at, SMALL_SIZE,
                 MUTED_COLOR, "", panel->note);
    yk_text_destroy(c->context, &heading);
}

static yk_status add_panel(const canvas *c, const chart_panel *panel, int index, const frame *area)
{
    /* A panel to scale uses as much of its area as its shape fills. */
    frame f = *area;
    scale x = make_scale(panel, true);
    scale y = make_scale(panel, false);
    if (panel->is_to_scale) {
        double per_pixel = fmax((x.high - x.low) / f.width, (y.high - y.low) / f.height);
        double middle = 0.5 * (x.low + x.high);
        x.low = middle - 0.5 * per_pixel * f.width;
        x.high = middle + 0.5 * per_pixel * f.width;
        middle = 0.5 * (y.low + y.high);
        y.low = middle - 0.5 * per_pixel * f.height;
        y.high = middle + 0.5 * per_pixel * f.height;
    }
    x.from = f.left;
    x.to = f.left + f.width;
    y.from = f.top + f.height;
    y.to = f.top;
    add_ticks(&x, &panel->x, f.width > 400 ? 6 : 3);
    add_ticks(&y, &panel->y, f.height > 180 ? 4 : 2);

    yk_text_add(c->context, c->svg, "<g class=\"panel\">\n");
    add_heading(c, &f, panel, &y);
    add_axis(c, &f, &x, true, !panel->shares_x, !panel->map && !panel->x.words);
    add_axis(c, &f, &y, false, true, !panel->map);
    if (!panel->shares_x)
        add_text(c, f.left + 0.5 * f.width, f.top + f.height + NUMBERS_HEIGHT + 14, TEXT_SIZE,
                 TEXT_COLOR, "text-anchor=\"middle\"", x.name);

    yk_text_add(
        c->context, c->svg,
        "<clipPath id=\"area%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>"
        "</clipPath>\n<g clip-path=\"url(#area%d)\">\n",
        index, f.left - 1, f.top - 2, f.width + 2, f.height + 4, index);
    if (panel->map)
        add_cells(c, panel->map, &x, &y);

    /* Guides lie behind; a curve that covers an earlier one is dashed, so that both can be seen. */
    for (int guides = 1; guides >= 0; guides--) {
        for (int i = 0; i < panel->curve_count; i++) {
            const chart_curve *curve = &panel->curves[i];
            if ((curve->style == CHART_GUIDE) != guides)
                continue;
            int dashes = curve->dashes;
            for (int k = 0; k < i && !guides; k++)
                if (panel->curves[k].dashes == curve->dashes &&
                    panel->curves[k].style != CHART_GUIDE &&
                    coincide(&panel->curves[k], curve, &x, &y))
                    dashes++;
            add_curve(c, curve, &x, &y, dashes);
        }
    }
    yk_text_add(c->context, c->svg, "</g>\n");

    yk_status status = add_labels(c, panel, &x, &y);
    if (panel->map)
        add_color_scale(c, panel->map, f.left + f.width + 14, f.top, f.height);
    yk_text_add(c->context, c->svg, "</g>\n");
    return status;
}

/* The chart ------------------------------------------------------------------------------------ */

/* Height of the area of a panel. */
static double area_height(const chart *picture, int rows)
{
    if (picture->panel_height > 0)
        return picture->panel_height;
    return rows == 1 ? 360 : rows == 2 ? 210 : 150;
}

/* A panel has room for the names of its curves one below the other. */
static double panel_height(const chart_panel *panel, double usual)
{
    int named = 0;
    for (int i = 0; i < panel->curve_count; i++)
        named += is_named(&panel->curves[i]);
    return fmax(usual, 1.0 * LABEL_HEIGHT * named + 4);
}

bool chart_write(yk_context *context, const chart *picture, yk_text *svg)
{
    const canvas c = {context, svg};
    int columns = picture->column_count > 0 ? picture->column_count : 1;
    int rows = (picture->panel_count + columns - 1) / columns;
    double usual = area_height(picture, rows);

    /* The widest numbers and names decide where all areas begin and end. */
    double left = 0;
    double right = 0;
    for (int i = 0; i < picture->panel_count; i++) {
        const chart_panel *panel = &picture->panels[i];
        scale y = make_scale(panel, false);
        add_ticks(&y, &panel->y, panel_height(panel, usual) > 180 ? 4 : 2);
        left = fmax(left, number_width(&y));
        double names = label_width(panel);
        right = fmax(right, names > 0 ? names + 16 : 0);
        if (panel->map)
            right = fmax(right, color_scale_width(panel->map) + 14);
    }
    right = fmax(right, 12); /* half of the last number */
    double cell = (WIDTH - 2.0 * EDGE) / columns;
    double gap = columns > 1 ? 14 : 0;

    bool titled = picture->title && *picture->title;
    double height = titled ? EDGE + TITLE_HEIGHT - 6 : EDGE;
    double begin = height;
    for (int row = 0; row < rows; row++) {
        double tallest = 0;
        bool shares = true;
        for (int i = row * columns; i < (row + 1) * columns && i < picture->panel_count; i++) {
            tallest = fmax(tallest, panel_height(&picture->panels[i], usual));
            shares = shares && picture->panels[i].shares_x;
        }
        height += HEADING_HEIGHT + tallest + (shares ? GAP : NUMBERS_HEIGHT + NAME_HEIGHT);
    }
    height += 8;

    yk_text_add(context, svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
                "height=\"%.0f\" role=\"img\" font-family=\"Inter, 'Segoe UI', 'Helvetica Neue', "
                "Arial, 'DejaVu Sans', sans-serif\">\n<title>",
                WIDTH, height, WIDTH, height);
    add_words(&c, titled ? picture->title : "");
    yk_text_add(context, svg, "</title>\n<rect width=\"%d\" height=\"%.0f\" fill=\"#ffffff\"/>\n",
                WIDTH, height);
    if (titled)
        add_text(&c, EDGE, EDGE + 14, TITLE_SIZE, TEXT_COLOR, "font-weight=\"600\"",
                 picture->title);

    yk_status status = YK_OK;
    double top = begin;
    for (int row = 0; row < rows && status == YK_OK; row++) {
        double tallest = 0;
        bool shares = true;
        for (int i = row * columns; i < (row + 1) * columns && i < picture->panel_count; i++)
            tallest = fmax(tallest, panel_height(&picture->panels[i], usual));
        for (int i = row * columns; i < (row + 1) * columns && i < picture->panel_count; i++) {
            const chart_panel *panel = &picture->panels[i];
            double edge = EDGE + cell * (i % columns);
            frame f = {.edge = edge,
                       .left = edge + left,
                       .top = top + HEADING_HEIGHT,
                       .width = cell - left - right - gap,
                       .height = tallest};
            shares = shares && panel->shares_x;
            if (status == YK_OK)
                status = add_panel(&c, panel, i, &f);
        }
        top += HEADING_HEIGHT + tallest + (shares ? GAP : NUMBERS_HEIGHT + NAME_HEIGHT);
    }
    yk_text_add(context, svg, "</svg>\n");
    return status == YK_OK && !svg->failed;
}
