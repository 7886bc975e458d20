#include "pictures.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

/* Files ---------------------------------------------------------------------------------------- */

static const char *const endings[] = {"svg", "png", "pdf", NULL};

/* Index of the ending of a name; -1 for a name without. */
static int ending_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (int i = 0; endings[i] && dot && dot > name; i++)
        if (strcmp(dot + 1, endings[i]) == 0)
            return i;
    return -1;
}

bool picture_is_named(const char *option, const char *name)
{
    return options_ending(option, name, endings);
}

bool picture_is_still(const char *name)
{
    return ending_of(name) > 0;
}

void print_picture(const char *name)
{
    print_out("picture %s%s\n", name, ending_of(name) < 0 ? ".svg" : "");
}

/* Runs rsvg-convert from one temporary file to another: pipes could fill up in both directions. */
static yk_status convert(yk_context *context, FILE *from, FILE *to, const char *format)
{
    char program[] = "rsvg-convert";
    char format_option[16];
    char zoom[] = "--zoom=2"; /* pixels of fine displays; PDF is drawn in points */
    snprintf(format_option, sizeof format_option, "-f%s", format);
    char *arguments[] = {program, format_option, zoom, NULL};
    if (strcmp(format, "pdf") == 0)
        arguments[2] = NULL;

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(from), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(to), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    pid_t child = -1;
    int failure = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure)
        return yk_fail(context, YK_ERROR_EXTERNAL,
                       "cannot run rsvg-convert (%s), which makes %s files: install it (Debian "
                       "package librsvg2-bin), or let the name end in .svg",
                       strerror(failure), format);

    int outcome = 0;
    while (waitpid(child, &outcome, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(outcome) || WEXITSTATUS(outcome) != 0 || fseek(to, 0, SEEK_END) != 0 ||
        ftell(to) <= 0)
        return yk_fail(context, YK_ERROR_EXTERNAL,
                       "rsvg-convert could not make a %s file (status %d)", format, outcome);
    rewind(to);
    return YK_OK;
}

/* Writes the bytes of a stream, or a text if there is none, as a whole file. */
static yk_status write_file(yk_context *context, const char *path, FILE *from, const char *text,
                            size_t length)
{
    yk_output output = yk_output_open(path);
    bool whole = true;
    if (output.stream && from) {
        char bytes[1 << 14];
        size_t count;
        while ((count = fread(bytes, 1, sizeof bytes, from)) > 0)
            fwrite(bytes, 1, count, output.stream);
        whole = !ferror(from);
    } else if (output.stream) {
        fwrite(text, 1, length, output.stream);
    }

    if (!whole)
        yk_output_discard(&output);
    if (!whole || !yk_output_close(&output))
        return yk_fail(context, YK_ERROR_FILE, "cannot write %s: %s", path, strerror(errno));
    return YK_OK;
}

yk_status picture_write_svg(yk_context *context, const char *name, const char *svg, size_t length)
{
    int ending = ending_of(name);
    yk_text path = {0};
    yk_text_add(context, &path, "%s%s", name, ending < 0 ? ".svg" : "");
    if (path.failed) {
        yk_text_destroy(context, &path);
        return YK_ERROR_MEMORY;
    }

    yk_status status = YK_OK;
    if (ending <= 0) {
        status = write_file(context, path.data, NULL, svg, length);
    } else {
        FILE *from = tmpfile();
        FILE *to = tmpfile();
        bool ready = from && to && fwrite(svg, 1, length, from) == length && fflush(from) == 0;
        if (!ready)
            status = yk_fail(context, YK_ERROR_FILE, "cannot write a temporary file: %s",
                             strerror(errno));
        if (status == YK_OK) {
            rewind(from);
            status = convert(context, from, to, endings[ending]);
        }
        if (status == YK_OK)
            status = write_file(context, path.data, to, NULL, 0);
        if (from)
            fclose(from);
        if (to)
            fclose(to);
    }

    yk_text_destroy(context, &path);
    return status;
}

yk_status picture_write(yk_context *context, const char *name, const chart *picture)
{
    yk_text svg = {0};
    yk_status status = YK_ERROR_MEMORY;
    if (chart_write(context, picture, &svg))
        status = picture_write_svg(context, name, svg.data, svg.length);
    yk_text_destroy(context, &svg);
    return status;
}

/* Maps ----------------------------------------------------------------------------------------- */

/* Edges of the cells around increasing values: halfway between neighbours, on a logarithmic axis at their geometric mean. A
 * single value gets a cell of its own size. */
static void find_edges(const double *values, int count, bool is_logarithmic, double *edges)
{
    for (int i = 1; i < count; i++)
        edges[i] =
            is_logarithmic ? sqrt(values[i - 1] * values[i]) : 0.5 * (values[i - 1] + values[i]);
    if (count == 1) {
        double half = values[0] != 0 ? 0.5 * fabs(values[0]) : 0.5;
        edges[0] = is_logarithmic ? values[0] / 2 : values[0] - half;
        edges[1] = is_logarithmic ? values[0] * 2 : values[0] + half;
        return;
    }
    edges[0] = is_logarithmic ? values[0] * values[0] / edges[1] : 2 * values[0] - edges[1];
    edges[count] = is_logarithmic ? values[count - 1] * values[count - 1] / edges[count - 1]
                                  : 2 * values[count - 1] - edges[count - 1];
}

/* An axis of a map with its values in increasing order. */
typedef struct map_side {
    double *values, *edges;
    int *order; /* index of each value in the table */
} map_side;

static void destroy_side(yk_context *context, map_side *side)
{
    yk_free(context, side->values);
    yk_free(context, side->edges);
    yk_free(context, side->order);
    *side = (map_side){0};
}

static bool make_side(yk_context *context, const double *values, int count, bool is_logarithmic,
                      map_side *side)
{
    *side = (map_side){.values = yk_allocate(context, (size_t)count, sizeof(double)),
                       .edges = yk_allocate(context, (size_t)count + 1, sizeof(double)),
                       .order = yk_allocate(context, (size_t)count, sizeof(int))};
    if (!side->values || !side->edges || !side->order)
        return false;

    /* Insertion: the values are in order, or in reverse order. */
    for (int i = 0; i < count; i++) {
        int k = i;
        for (; k > 0 && side->values[k - 1] > values[i]; k--) {
            side->values[k] = side->values[k - 1];
            side->order[k] = side->order[k - 1];
        }
        side->values[k] = values[i];
        side->order[k] = i;
    }
    find_edges(side->values, count, is_logarithmic, side->edges);
    return true;
}

/* The name of a parameter of a map as papers write it, or the key of a scenario. */
static const char *parameter_title(const char *parameter)
{
    static const char *const titles[][2] = {
        {"rho-inf", "asymptotic spectral radius ρ∞"},
        {"omega-h", "ω₀₁ h"},
        {"mass-ratio", "mass ratio m₂/m₁"},
        {"frequency-ratio", "frequency ratio ω₀₂/ω₀₁"},
        {"damping", "damping ξ₁"},
        {"damping-ratio", "damping ratio ξ₂/ξ₁"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], parameter) == 0)
            return titles[i][1];
    return parameter;
}

yk_status picture_map(yk_context *context, const char *name, const char *title,
                      const yk_map_axis *x, const yk_map_axis *y, const double *radii)
{
    /* Stable is 0; unstable is 1 to 7, by the decimal logarithm of how much the radius exceeds 1, from 1e-6 to 1 and more. */
    static const chart_stop stops[] = {
        {0, {0x2b, 0x6c, 0xb0}, "stable"},   {0.99, {0x2b, 0x6c, 0xb0}, NULL},
        {1, {0xfd, 0xf3, 0xd8}, "1 + 10⁻⁶"}, {3, {0xf4, 0xbe, 0x87}, "1 + 10⁻⁴"},
        {5, {0xd4, 0x77, 0x49}, "1 + 10⁻²"}, {7, {0x9c, 0x2f, 0x1f}, "≥ 2"},
    };
    const yk_map_axis *axes[2] = {x, y};
    map_side sides[2] = {{0}, {0}};
    size_t count = (size_t)x->count * (size_t)y->count;
    double *levels = yk_allocate(context, count, sizeof *levels);
    bool ready = levels != NULL;
    for (int side = 0; ready && side < 2; side++) {
        double *values = yk_allocate(context, (size_t)axes[side]->count, sizeof *values);
        for (int i = 0; values && i < axes[side]->count; i++)
            values[i] = yk_map_axis_value(axes[side], i);
        ready = values && make_side(context, values, axes[side]->count, axes[side]->is_logarithmic,
                                    &sides[side]);
        yk_free(context, values);
    }

    yk_status status = YK_ERROR_MEMORY;
    if (ready) {
        for (int row = 0; row < y->count; row++) {
            for (int column = 0; column < x->count; column++) {
                double radius = radii[(size_t)sides[1].order[row] * (size_t)x->count +
                                      (size_t)sides[0].order[column]];
                double level = isnan(radius) ? NAN : 0;
                if (radius > YK_SPECTRAL_RADIUS_LIMIT)
                    level = 7 + fmax(-6, fmin(0, log10(radius - 1)));
                levels[(size_t)row * (size_t)x->count + (size_t)column] = level;
            }
        }

        chart_map map = {x->count,
                         y->count,
                         sides[0].edges,
                         sides[1].edges,
                         levels,
                         stops,
                         sizeof stops / sizeof *stops};
        chart_panel panel = {
            .x = {.name = parameter_title(x->parameter), .is_logarithmic = x->is_logarithmic},
            .y = {.name = parameter_title(y->parameter), .is_logarithmic = y->is_logarithmic},
            .map = &map,
        };
        chart picture = {.title = title, .panels = &panel, .panel_count = 1, .panel_height = 420};
        status = picture_write(context, name, &picture);
    }

    destroy_side(context, &sides[0]);
    destroy_side(context, &sides[1]);
    yk_free(context, levels);
    return status;
}

/* Curves over time ----------------------------------------------------------------------------- */

static const yk_record_channel *channel_of(const picture_curve *curve)
{
    return &yk_record_get_header(curve->record)->channels[curve->channel];
}

/* A channel's name is "SOURCE.QUANTITY", or "SOURCE.QUANTITY.x" if it is a single component. */
typedef struct channel_words {
    int source;            /* length of the source, from the beginning of the name */
    int quantity;          /* where the quantity begins */
    int quantity_size;     /* its length */
    const char *component; /* "" if the name has none */
} channel_words;

static channel_words split_name(const picture_curve *curve)
{
    const char *name = channel_of(curve)->name;
    int length = (int)strlen(name);
    channel_words words = {.component = ""};
    if (length > 2 && name[length - 2] == '.') {
        words.component = name + length - 1;
        length -= 2;
    }
    words.quantity = length;
    while (words.quantity > 0 && name[words.quantity - 1] != '.')
        words.quantity--;
    words.quantity_size = length - words.quantity;
    words.source = words.quantity > 0 ? words.quantity - 1 : length;
    return words;
}

bool picture_shares_panel(const picture_curve *a, const picture_curve *b)
{
    channel_words p = split_name(a);
    channel_words q = split_name(b);
    return strcmp(channel_of(a)->unit, channel_of(b)->unit) == 0 &&
           p.quantity_size == q.quantity_size &&
           strncmp(channel_of(a)->name + p.quantity, channel_of(b)->name + q.quantity,
                   (size_t)p.quantity_size) == 0;
}

/* Whether the curve is the first of its panel. */
static bool leads_panel(const picture_curve *curves, int index)
{
    for (int i = 0; i < index; i++)
        if (picture_shares_panel(&curves[i], &curves[index]))
            return false;
    return true;
}

int picture_panel_count(const picture_curve *curves, int count)
{
    int panels = 0;
    for (int i = 0; i < count; i++)
        panels += leads_panel(curves, i);
    return panels;
}

void curve_extremes(const double *values, size_t from, size_t end, size_t rows[2])
{
    size_t least = from;
    size_t largest = from;
    for (size_t i = from; i < end; i++) {
        if (values[i] < values[least])
            least = i;
        if (values[i] > values[largest])
            largest = i;
    }

    bool falls = largest < least;
    rows[falls] = least;
    rows[!falls] = largest;
}

/* Range of the finite values of a component; low > high if there are none. */
static void component_range(const picture_curve *curve, int component, double *low, double *high)
{
    const double *values = yk_record_column(curve->record, curve->channel, component);
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < yk_record_row_count(curve->record); i++) {
        if (!isfinite(values[i]))
            continue;
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

/* Whether a component stays constant, but for rounding, while others of its channel change. */
static bool stands_still(const picture_curve *curve)
{
    double low;
    double high;
    double largest = 0;
    for (int i = 0; i < channel_of(curve)->component_count; i++) {
        component_range(curve, i, &low, &high);
        largest = fmax(largest, high - low);
    }
    component_range(curve, curve->component, &low, &high);
    return low <= high && largest > 0 && high - low <= 1e-9 * largest;
}

static bool same_channel(const picture_curve *a, const picture_curve *b)
{
    return strcmp(channel_of(a)->name, channel_of(b)->name) == 0;
}

/* The common part of the names of all curves of a panel, for its title. */
typedef enum panel_subject { SUBJECT_QUANTITY, SUBJECT_CHANNEL, SUBJECT_COMPONENT } panel_subject;

static panel_subject find_subject(const picture_curve *curves, const bool *drawn, int count,
                                  int leader)
{
    panel_subject subject = SUBJECT_COMPONENT;
    const picture_curve *last = NULL;
    for (int i = leader; i < count; i++) {
        if (!picture_shares_panel(&curves[leader], &curves[i]))
            continue;
        if (!same_channel(&curves[leader], &curves[i]))
            return SUBJECT_QUANTITY;
        if (!drawn[i])
            continue;
        if (last && last->component != curves[i].component)
            subject = SUBJECT_CHANNEL;
        last = &curves[i];
    }
    return subject;
}

/* The name of a curve in its panel: what its title does not say. */
static void name_curve(yk_context *context, const picture_curve *curve, panel_subject subject,
                       yk_text *name)
{
    const yk_record_channel *channel = channel_of(curve);
    channel_words words = split_name(curve);
    if (subject == SUBJECT_QUANTITY)
        yk_text_add(context, name, "%.*s%s%s", words.source, channel->name,
                    *words.component ? " " : "", words.component);
    if (subject != SUBJECT_COMPONENT && channel->component_count > 1)
        yk_text_add(context, name, "%s%s", name->length ? " " : "",
                    channel->labels[curve->component]);
    if (curve->run)
        yk_text_add(context, name, "%s%s", name->length ? ", " : "", curve->run);
    yk_text_add(context, name, "%s", "");
}

/* A panel with the texts that it owns. */
typedef struct curve_panel {
    chart_curve *curves;
    yk_text *names;
    int count;
    yk_text title, note;
} curve_panel;

/* Adds "z = 0.1 m" to the note of a panel. */
static void note_constant(yk_context *context, const picture_curve *curve, panel_subject subject,
                          yk_text *note)
{
    const yk_record_channel *channel = channel_of(curve);
    double value = yk_record_column(curve->record, curve->channel, curve->component)[0];
    bool has_unit = strcmp(channel->unit, "1") != 0;
    yk_text label = {0};
    if (subject == SUBJECT_COMPONENT)
        subject = SUBJECT_CHANNEL; /* another component than the one of the title */
    name_curve(context, curve, subject, &label);
    yk_text_add(context, note, "%s%s = %.4g%s%s",
                note->length ? ", " : "constant: ", label.data ? label.data : "",
                fabs(value) < 1e-12 ? 0 : value, has_unit ? " " : "",
                has_unit ? channel->unit : "");
    yk_text_destroy(context, &label);
}

/* Fills the panel of the curve `leader` and of all that share it. */
static void fill_panel(yk_context *context, const picture_curve *curves, const bool *drawn,
                       int count, int leader, curve_panel *own, chart_panel *panel)
{
    panel_subject subject = find_subject(curves, drawn, count, leader);
    const picture_curve *sample = NULL; /* of the curves that are drawn */
    int color_count = 0;
    for (int i = leader; i < count; i++) {
        const picture_curve *curve = &curves[i];
        if (!picture_shares_panel(&curves[leader], curve))
            continue;
        if (!drawn[i]) {
            note_constant(context, curve, subject, &own->note);
            continue;
        }

        /* The same component of several runs has one color and different dashes, unless there is no other component. */
        int color = -1;
        int runs_before = 0;
        for (int k = leader, n = 0; k < i && subject != SUBJECT_COMPONENT; k++) {
            if (!picture_shares_panel(&curves[leader], &curves[k]) || !drawn[k])
                continue;
            if (curves[k].component == curve->component && same_channel(&curves[k], curve)) {
                color = own->curves[n].color;
                runs_before++;
            }
            n++;
        }

        yk_text *name = &own->names[own->count];
        name_curve(context, curve, subject, name);
        own->curves[own->count++] = (chart_curve){
            .name = name->data ? name->data : "",
            .x = yk_record_times(curve->record),
            .y = yk_record_column(curve->record, curve->channel, curve->component),
            .count = yk_record_row_count(curve->record),
            .color = color >= 0 ? color : color_count++,
            .dashes = runs_before,
        };
        sample = curve;
    }

    const yk_record_channel *channel = channel_of(&curves[leader]);
    channel_words words = split_name(&curves[leader]);
    if (subject == SUBJECT_QUANTITY)
        yk_text_add(context, &own->title, "%.*s", words.quantity_size,
                    channel->name + words.quantity);
    else
        yk_text_add(context, &own->title, "%s", channel->name);
    if (subject == SUBJECT_COMPONENT && sample && channel->component_count > 1)
        yk_text_add(context, &own->title, ".%s", channel->labels[sample->component]);

    *panel = (chart_panel){
        .title = own->title.data,
        .note = own->note.data,
        .x = {.name = "time", .unit = "s"},
        .y = {.unit = channel->unit},
        .curves = own->curves,
        .curve_count = own->count,
    };
}

yk_status picture_curves(yk_context *context, const char *name, const char *title,
                         const picture_curve *curves, int count)
{
    int panel_count = picture_panel_count(curves, count);
    chart_panel *panels = yk_allocate(context, (size_t)panel_count + 1, sizeof *panels);
    curve_panel *own = yk_allocate(context, (size_t)panel_count + 1, sizeof *own);
    bool *drawn = yk_allocate(context, (size_t)count + 1, sizeof *drawn);
    yk_status status = panels && own && drawn ? YK_OK : YK_ERROR_MEMORY;
    for (int i = 0; drawn && i < count; i++)
        drawn[i] = curves[i].is_asked_for || !stands_still(&curves[i]);

    /* All panels show the same stretch of time. */
    double begin = INFINITY;
    double end = -INFINITY;
    for (int i = 0; i < count; i++) {
        size_t rows = yk_record_row_count(curves[i].record);
        const double *times = yk_record_times(curves[i].record);
        begin = fmin(begin, rows ? times[0] : begin);
        end = fmax(end, rows ? times[rows - 1] : end);
    }

    int filled = 0;
    for (int i = 0; i < count && status == YK_OK; i++) {
        if (!leads_panel(curves, i))
            continue;

        own[filled].curves = yk_allocate(context, (size_t)count, sizeof *own[filled].curves);
        own[filled].names = yk_allocate(context, (size_t)count, sizeof *own[filled].names);
        if (!own[filled].curves || !own[filled].names) {
            status = YK_ERROR_MEMORY;
        } else {
            fill_panel(context, curves, drawn, count, i, &own[filled], &panels[filled]);
            panels[filled].shares_x = filled < panel_count - 1;
            if (begin < end) {
                panels[filled].x.low = begin;
                panels[filled].x.high = end;
            }
        }
        filled++;
    }

    if (status == YK_OK) {
        chart picture = {.title = title, .panels = panels, .panel_count = panel_count};
        status = picture_write(context, name, &picture);
    }

    for (int i = 0; own && i < panel_count; i++) {
        for (int k = 0; k < own[i].count; k++)
            yk_text_destroy(context, &own[i].names[k]);
        yk_text_destroy(context, &own[i].title);
        yk_text_destroy(context, &own[i].note);
        yk_free(context, own[i].curves);
        yk_free(context, own[i].names);
    }
    yk_free(context, drawn);
    yk_free(context, own);
    yk_free(context, panels);
    return status;
}

/* Convergence ---------------------------------------------------------------------------------- */

/* Rows that failed or are unstable would only stretch the axes. */
static bool is_shown(const yk_convergence_row *row)
{
    return isfinite(row->error) && row->error > 0 && row->outcome < YK_OUTCOME_UNSTABLE;
}

yk_status picture_convergence(yk_context *context, const char *name, const char *title,
                              const yk_convergence_options *def, const yk_convergence_row *rows)
{
    enum { COSTS = 3, ORDERS = 2 };
    static const chart_axis costs[COSTS] = {
        {.name = "macro step (s)", .is_logarithmic = true},
        {.name = "calls of subsystems", .is_logarithmic = true},
        {.name = "time of the run (s)", .is_logarithmic = true}};
    static const char *const orders[ORDERS] = {"order 1", "order 2"};

    /* Values of the costs and of the error, variant after variant. */
    int variants = def->variant_count > 0 ? def->variant_count : 1;
    size_t steps = (size_t)def->step_count;
    double *values = yk_allocate(context, (COSTS + 1) * steps * (size_t)variants, sizeof *values);
    chart_curve *curves = yk_allocate(context, COSTS * ((size_t)variants + ORDERS), sizeof *curves);
    if (!values || !curves) {
        yk_free(context, values);
        yk_free(context, curves);
        return YK_ERROR_MEMORY;
    }

    chart_panel panels[COSTS];
    double *errors = values + COSTS * steps * (size_t)variants;
    double steepest[2] = {0, 0}; /* the coarsest step and its error */
    double finest = INFINITY;
    for (int p = 0; p < COSTS; p++)
        panels[p] = (chart_panel){.x = costs[p],
                                  .y = {.name = "relative error", .is_logarithmic = true},
                                  .curves = curves + (size_t)p * ((size_t)variants + ORDERS)};
    for (int v = 0; v < variants; v++) {
        size_t first = (size_t)v * steps;
        size_t shown = 0;
        for (size_t i = 0; i < steps; i++) {
            const yk_convergence_row *row = &rows[first + i];
            if (!is_shown(row))
                continue;
            const double cost[COSTS] = {row->step, (double)row->call_count, row->wall_time};
            for (int p = 0; p < COSTS; p++)
                values[(size_t)p * steps * (size_t)variants + first + shown] = cost[p];
            errors[first + shown++] = row->error;
            finest = fmin(finest, row->step);
            if (row->step > steepest[0] || (row->step == steepest[0] && row->error > steepest[1])) {
                steepest[0] = row->step;
                steepest[1] = row->error;
            }
        }
        for (int p = 0; p < COSTS && shown > 0; p++) {
            chart_curve *curve =
                &curves[(size_t)p * ((size_t)variants + ORDERS) + (size_t)panels[p].curve_count++];
            *curve = (chart_curve){
                .name = def->variant_count ? def->variants[v].name : "",
                .x = values + (size_t)p * steps * (size_t)variants + first,
                .y = errors + first,
                .count = shown,
                .color = v,
                .style = CHART_MARKED_LINE,
            };
        }
    }

    /* Lines of the orders 1 and 2 through the coarsest point. */
    double guide_x[2] = {finest, steepest[0]};
    double guide_y[ORDERS][2];
    for (int k = 0; k < ORDERS && finest < steepest[0]; k++) {
        guide_y[k][0] = steepest[1] * pow(finest / steepest[0], k + 1);
        guide_y[k][1] = steepest[1];
        curves[panels[0].curve_count++] = (chart_curve){
            .name = orders[k], .x = guide_x, .y = guide_y[k], .count = 2, .style = CHART_GUIDE};
    }

    chart picture = {.title = title, .panels = panels, .panel_count = COSTS, .panel_height = 190};
    yk_status status = picture_write(context, name, &picture);
    yk_free(context, values);
    yk_free(context, curves);
    return status;
}

/* Sweeps --------------------------------------------------------------------------------------- */

/* The values of an axis as numbers; false if one is not a number. */
static bool read_axis(const yk_sweep_axis *axis, double *values)
{
    for (int i = 0; i < axis->count; i++) {
        char *end;
        values[i] = yk_text_number(axis->values[i], &end);
        if (end == axis->values[i] || *end || !isfinite(values[i]))
            return false;
    }
    return true;
}

/* Values in equal ratios over more than a decade belong on a logarithmic axis. */
static bool is_geometric(const double *values, int count)
{
    if (count < 3 || !(values[0] > 0) || !(values[count - 1] > 0))
        return false;
    double ratio = values[1] / values[0];
    for (int i = 1; i < count; i++)
        if (!(values[i] > 0) || fabs(values[i] / values[i - 1] / ratio - 1) > 0.02)
            return false;
    return fmax(values[count - 1] / values[0], values[0] / values[count - 1]) > 10;
}

/* More curves than this in one panel are drawn as a map if they can. */
enum { SWEEP_CURVES_MAX = 6 };

static yk_status sweep_maps(yk_context *context, const char *name, const char *title,
                            const yk_sweep_options *def, const double *results,
                            const double *const axes[2])
{
    int columns = def->axes[1].count;
    int rows = def->axes[0].count;
    size_t count = (size_t)columns * (size_t)rows;
    int measures = def->measure_count;
    bool logarithmic[2] = {is_geometric(axes[0], rows), is_geometric(axes[1], columns)};
    map_side sides[2] = {{0}, {0}};
    double *values = yk_allocate(context, count * (size_t)measures, sizeof *values);
    chart_map *maps = yk_allocate(context, (size_t)measures, sizeof *maps);
    chart_panel *panels = yk_allocate(context, (size_t)measures, sizeof *panels);
    chart_stop(*stops)[3] = yk_allocate(context, (size_t)measures, sizeof *stops);
    char(*words)[2][32] = yk_allocate(context, (size_t)measures, sizeof *words);
    bool ready = values && maps && panels && stops && words;
    for (int side = 0; ready && side < 2; side++)
        ready =
            make_side(context, axes[side], def->axes[side].count, logarithmic[side], &sides[side]);

    yk_status status = YK_ERROR_MEMORY;
    if (ready) {
        for (int m = 0; m < measures; m++) {
            double *cells = values + (size_t)m * count;
            double low = INFINITY;
            double high = -INFINITY;
            for (int row = 0; row < rows; row++) {
                for (int column = 0; column < columns; column++) {
                    size_t run = (size_t)sides[0].order[row] * (size_t)columns +
                                 (size_t)sides[1].order[column];
                    double value = results[run * (size_t)measures + (size_t)m];
                    cells[(size_t)row * (size_t)columns + (size_t)column] =
                        isfinite(value) ? value : NAN;
                    low = isfinite(value) ? fmin(low, value) : low;
                    high = isfinite(value) ? fmax(high, value) : high;
                }
            }
            if (low > high)
                low = high = 0;

            yk_format(words[m][0], sizeof words[m][0], "%.3g", low);
            yk_format(words[m][1], sizeof words[m][1], "%.3g", high);
            stops[m][0] = (chart_stop){low, {0xf3, 0xec, 0xd9}, words[m][0]};
            stops[m][1] = (chart_stop){0.5 * (low + high), {0x58, 0x9a, 0xa8}, NULL};
            stops[m][2] = (chart_stop){high, {0x1f, 0x3a, 0x6e}, words[m][1]};
            maps[m] =
                (chart_map){columns, rows, sides[1].edges, sides[0].edges, cells, stops[m], 3};
            panels[m] = (chart_panel){
                .title = def->measures[m],
                .note = def->units ? def->units[def->axis_count + m] : NULL,
                .x = {.name = def->axes[1].path,
                      .unit = def->units ? def->units[1] : "",
                      .is_logarithmic = logarithmic[1]},
                .y = {.name = def->axes[0].path,
                      .unit = def->units ? def->units[0] : "",
                      .is_logarithmic = logarithmic[0]},
                .map = &maps[m],
            };
        }
        chart picture = {
            .title = title, .panels = panels, .panel_count = measures, .panel_height = 320};
        status = picture_write(context, name, &picture);
    }

    destroy_side(context, &sides[0]);
    destroy_side(context, &sides[1]);
    yk_free(context, values);
    yk_free(context, maps);
    yk_free(context, panels);
    yk_free(context, stops);
    yk_free(context, words);
    return status;
}

/* One curve per combination of the axes before the last. */
static yk_status sweep_curves(yk_context *context, const char *name, const char *title,
                              const yk_sweep_options *def, const double *results, bool numbers,
                              double *axis)
{
    int last = def->axis_count - 1;
    int points = def->axes[last].count;
    int combinations = yk_sweep_run_count(def) / points;
    int measures = def->measure_count;
    size_t curve_count = (size_t)combinations * (size_t)measures;
    double *values = yk_allocate(context, curve_count * (size_t)points, sizeof *values);
    chart_curve *curves = yk_allocate(context, curve_count, sizeof *curves);
    chart_panel *panels = yk_allocate(context, (size_t)measures, sizeof *panels);
    yk_text *names = yk_allocate(context, (size_t)combinations, sizeof *names);
    yk_status status = values && curves && panels && names ? YK_OK : YK_ERROR_MEMORY;

    for (int i = 0; !numbers && i < points; i++)
        axis[i] = i;
    for (int c = 0; status == YK_OK && c < combinations; c++) {
        for (int i = 0; i < last; i++)
            yk_text_add(context, &names[c], "%s%s=%s", i ? ", " : "",
                        behind_last(def->axes[i].path, '.'), yk_sweep_value(def, c * points, i));
        yk_text_add(context, &names[c], "%s", "");
        if (names[c].failed)
            status = YK_ERROR_MEMORY;
    }

    bool logarithmic = numbers && is_geometric(axis, points);
    for (int m = 0; status == YK_OK && m < measures; m++) {
        for (int c = 0; c < combinations; c++) {
            size_t index = (size_t)m * (size_t)combinations + (size_t)c;
            double *column = values + index * (size_t)points;
            for (int i = 0; i < points; i++)
                column[i] = results[((size_t)c * (size_t)points + (size_t)i) * (size_t)measures +
                                    (size_t)m];
            curves[index] = (chart_curve){
                .name = names[c].data,
                .x = axis,
                .y = column,
                .count = (size_t)points,
                .color = c,
                .style = CHART_MARKED_LINE,
            };
        }
        panels[m] = (chart_panel){
            .x = {.name = def->axes[last].path,
                  .unit = def->units ? def->units[last] : "",
                  .is_logarithmic = logarithmic,
                  .words = numbers ? NULL : def->axes[last].values,
                  .word_count = points},
            .y = {.name = def->measures[m],
                  .unit = def->units ? def->units[def->axis_count + m] : ""},
            .curves = curves + (size_t)m * (size_t)combinations,
            .curve_count = combinations,
            .shares_x = m < measures - 1,
        };
    }

    if (status == YK_OK) {
        chart picture = {.title = title, .panels = panels, .panel_count = measures};
        status = picture_write(context, name, &picture);
    }
    for (int c = 0; names && c < combinations; c++)
        yk_text_destroy(context, &names[c]);
    yk_free(context, names);
    yk_free(context, panels);
    yk_free(context, curves);
    yk_free(context, values);
    return status;
}

yk_status picture_sweep(yk_context *context, const char *name, const char *title,
                        const yk_sweep_options *def, const double *results)
{
    int last = def->axis_count - 1;
    double *axes[2] = {NULL, NULL};
    bool numbers = true;
    bool can_be_map =
        def->axis_count == 2 && def->axes[0].count > SWEEP_CURVES_MAX && def->axes[1].count > 1;
    for (int i = 0; i < 2; i++) {
        const yk_sweep_axis *axis = &def->axes[i == 0 ? last : 0];
        axes[i] = yk_allocate(context, (size_t)axis->count, sizeof *axes[i]);
        if (!axes[i]) {
            yk_free(context, axes[0]);
            return YK_ERROR_MEMORY;
        }
        bool readable = read_axis(axis, axes[i]);
        can_be_map = can_be_map && readable;
        if (i == 0)
            numbers = readable;
    }

    yk_status status;
    if (can_be_map)
        status = sweep_maps(context, name, title, def, results,
                            (const double *const[2]){axes[1], axes[0]});
    else
        status = sweep_curves(context, name, title, def, results, numbers, axes[0]);
    yk_free(context, axes[0]);
    yk_free(context, axes[1]);
    return status;
}
