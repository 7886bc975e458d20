/* yoke linearize and yoke frequency-response: the linear model of a coupled system with its modes,
 * and its transfer functions. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "cli.h"
#include "json.h"
#include "pictures.h"

static const char linearize_usage[] =
    "linearize SCENARIO [OPTIONS]\n"
    "\n"
    "Linearize the coupled system about a state, print the modes across all subsystems, and "
    "write the matrices of x' = A x + B u, y = C x + D u. Contacts keep the state that they "
    "have.";

static const char response_usage[] =
    "frequency-response SCENARIO --input NAME [OPTIONS]\n"
    "\n"
    "Compute the transfer functions of the linearized coupled system from inputs to channels.";

/* Both commands ----------------------------------------------------- */

static void show_stage(void *user, const char *what)
{
    (void)user;
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K");
        print_err("%s", what);
    }
}

/* The linear model of a scenario in a context of its own, with progress on a terminal. NULL after a
 * message, with the exit code. The caller destroys the model, then the context, if they exist. */
static yk_linear_model *linear_model_of(const yk_scenario_def *def,
                                        const yk_linearize_options *given, yk_context **context,
                                        int *code)
{
    *code = EXIT_FAILED;
    *context = open_context();
    if (!*context)
        return NULL;
    yk_diagnostics *diagnostics = NULL;
    if (yk_diagnostics_create(*context, &diagnostics) != YK_OK) {
        *code = print_no_memory();
        return NULL;
    }

    yk_linearize_options options = *given;
    options.progress = show_stage;
    yk_linear_model *model = NULL;
    yk_status status = yk_linearize(*context, def, diagnostics, &options, &model);
    clear_progress();
    if (status == YK_OK)
        *code = EXIT_GOOD;
    else
        *code = print_refusal(*context, diagnostics, status);
    yk_diagnostics_destroy(diagnostics);
    return model;
}

/* The states that move most in a mode: two of them, compared within each unit by their share. */
static void describe_mode(const yk_linear_model *model, const yk_linear_mode *mode, char *text,
                          size_t capacity)
{
    int first = -1;
    int second = -1;
    double sizes[2] = {0, 0};
    for (int i = 0; i < model->state_count; i++) {
        /* Positions determine the shape. Velocities are used only if all states are velocities. */
        const char *unit = model->states[i].unit;
        double size = hypot(mode->shape_real[i], mode->shape_imaginary[i]);
        if (strcmp(unit, "m/s") == 0 || strcmp(unit, "rad/s") == 0)
            size /= fmax(hypot(mode->real, mode->imaginary), 1e-3);
        if (size > sizes[0]) {
            second = first;
            sizes[1] = sizes[0];
            first = i;
            sizes[0] = size;
        } else if (size > sizes[1]) {
            second = i;
            sizes[1] = size;
        }
    }

    *text = 0;
    if (first >= 0)
        snprintf(text, capacity, "%s", model->states[first].name);
    if (second >= 0 && sizes[1] > 0.2 * sizes[0])
        snprintf(text + strlen(text), capacity - strlen(text), ", %s", model->states[second].name);
}

/* A table of the slowest modes; 0: all. */
static void print_linear_modes(const yk_linear_model *model, int count)
{
    print_out("\n  mode   frequency Hz      damping   growth 1/s    error 1/s   moves most\n");
    int growing = 0;
    int uncertain = 0;
    int shown = count > 0 && count < model->mode_count ? count : model->mode_count;
    for (int i = 0; i < shown; i++) {
        const yk_linear_mode *mode = &model->modes[i];
        char where[340];
        describe_mode(model, mode, where, sizeof where);
        print_out("  %4d ", i + 1);
        if (mode->is_free)
            print_out("%14s %12s %12s %12s", "free", "-", "-", "-");
        else
            print_out("%14.6g %12.6f %12.5g %12.2g", mode->frequency, mode->damping, mode->real,
                      mode->error);
        print_out("   %s%s\n", where, mode->is_uncertain ? "  (uncertain)" : "");
        uncertain += mode->is_uncertain;
        growing += !mode->is_free && !mode->is_uncertain && mode->real > 5 * mode->error &&
                   mode->real > 1e-4 * hypot(mode->real, mode->imaginary);
    }
    if (shown < model->mode_count)
        print_out("  %d faster mode%s (--count)\n", model->mode_count - shown,
                  plural(model->mode_count - shown));
    if (growing > 0)
        print_out("\n  %d mode%s grow%s: the state is unstable\n", growing, plural(growing),
                  growing > 1 ? "" : "s");
    if (!model->is_complete)
        print_out(
            "\n  the states do not explain all motions: a subsystem has states that no channel "
            "shows, or the motion has\n  a kink at this state; the model is an approximation\n");
    if (uncertain > 0)
        print_out("\n  %d mode%s uncertain: too fast for the step, or made by the coupling "
                  "scheme; reduce time.step\n",
                  uncertain, uncertain > 1 ? "s are" : " is");
}

static void write_linear_modes(json_writer *json, const yk_linear_model *model, int count)
{
    int shown = count > 0 && count < model->mode_count ? count : model->mode_count;
    json_open_array(json, "modes");
    for (int i = 0; i < shown; i++) {
        const yk_linear_mode *mode = &model->modes[i];
        json_open_object(json, NULL);
        json_number(json, "frequency", mode->frequency);
        json_number(json, "damping", mode->damping);
        json_number(json, "growth", mode->real);
        json_number(json, "error", mode->error);
        json_bool(json, "free", mode->is_free);
        json_bool(json, "uncertain", mode->is_uncertain);
        json_open_array(json, "shape");
        for (int k = 0; k < model->state_count; k++)
            json_number(json, NULL, mode->shape_real[k]);
        json_close(json);
        json_open_array(json, "shape_imaginary");
        for (int k = 0; k < model->state_count; k++)
            json_number(json, NULL, mode->shape_imaginary[k]);
        json_close(json);
        json_close(json);
    }
    json_close(json);
}

static void write_matrix(json_writer *json, const char *key, int rows, int columns,
                         const double *values)
{
    json_open_array(json, key);
    for (int i = 0; i < rows; i++) {
        json_open_array(json, NULL);
        for (int j = 0; j < columns; j++)
            json_number(json, NULL, values[i * columns + j]);
        json_close(json);
    }
    json_close(json);
}

static void write_variables(json_writer *json, const char *key, int count,
                            const yk_linear_variable *variables)
{
    json_open_array(json, key);
    for (int i = 0; i < count; i++) {
        json_open_object(json, NULL);
        json_text(json, "name", variables[i].name);
        json_text(json, "unit", variables[i].unit);
        json_number(json, "value", variables[i].value);
        json_close(json);
    }
    json_close(json);
}

static void write_json(const char *scenario, const yk_linear_model *model, int count)
{
    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", scenario);
    json_number(&json, "time", model->time);
    json_number(&json, "step", model->step);
    write_variables(&json, "states", model->state_count, model->states);
    write_variables(&json, "inputs", model->input_count, model->inputs);
    write_variables(&json, "outputs", model->output_count, model->outputs);
    write_matrix(&json, "a", model->state_count, model->state_count, model->a);
    write_matrix(&json, "b", model->state_count, model->input_count, model->b);
    write_matrix(&json, "c", model->output_count, model->state_count, model->c);
    write_matrix(&json, "d", model->output_count, model->input_count, model->d);
    write_linear_modes(&json, model, count);
    json_end(&json);
}

/* yoke linearize ------------------------------------------------------------------------------- */

/* Options that both commands have. */
typedef struct request {
    const char *path;
    option_list sets, inputs, channels;
    yk_linearize_options options;
    const char *output, *plot;
    bool as_json;
} request;

#define STATE_ROWS(q)                                                                              \
    {"at", OPTION_NUMBER, &(q).options.time, "SECONDS",                                            \
     "Linearize about the state at this time (default: the start)"},                               \
        {"keep-scheme", OPTION_FLAG, &(q).options.keep_scheme, NULL,                               \
         "Use the coupling scheme of the scenario, with its errors (default: the most accurate)"}, \
        {"equilibrium", OPTION_FLAG, &(q).options.find_equilibrium, NULL,                          \
         "Find a nearby equilibrium first"},                                                       \
        {"input", OPTION_LIST, &(q).inputs, "NAME",                                                \
         "An input: SUBSYSTEM.BODY.force.x, SUBSYSTEM.BODY.torque.x or parameters.NAME; may be "   \
         "repeated"},                                                                              \
    {                                                                                              \
        "channel", OPTION_LIST, &(q).channels, "NAME",                                             \
            "An output, such as arm.tip.position.x; may be repeated (default: recorded channels)"  \
    }

static void take_lists(request *q)
{
    q->options.inputs = q->inputs.items;
    q->options.input_count = q->inputs.count;
    q->options.outputs = q->channels.items;
    q->options.output_count = q->channels.count;
}

int command_linearize(int argc, char **argv)
{
    request q = {.options = yk_linearize_options_default()};
    int count = 10;
    const option_row rows[] = {
        STATE_ROWS(q),
        {"count", OPTION_COUNT, &count, "N", "Print N modes (default: 10; 0: all)"},
        SET_ROW(&q.sets),
        {"output", OPTION_TEXT, &q.output, "FILE",
         "Write the matrices: .mat for MATLAB, Octave and SciPy, or .csv"},
        JSON_ROW(&q.as_json),
        {.kind = OPTION_END},
    };
    int parsed = options_parse(linearize_usage, rows, argc, argv, &q.path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    static const char *const endings[] = {"mat", "csv", NULL};
    if (q.output && !options_ending("-o", q.output, endings))
        return EXIT_MISUSE;

    take_lists(&q);
    yk_scenario_def def = scenario_def(q.path, &q.sets);
    yk_context *context;
    int code;
    yk_linear_model *model = linear_model_of(&def, &q.options, &context, &code);
    if (model && q.as_json) {
        write_json(q.path, model, count);
    } else if (model) {
        print_out("%s\n", q.path);
        print_out(
            "\n  %d state%s, %d input%s, %d output%s at t = %.6g s (%s, steps down to %.3g s)\n",
            model->state_count, plural(model->state_count), model->input_count,
            plural(model->input_count), model->output_count, plural(model->output_count),
            model->time, model->scheme, model->step);
        print_linear_modes(model, count);
    }
    if (model && q.output) {
        if (yk_linear_model_write(model, q.output) != YK_OK)
            code = print_failure(context);
        else if (!q.as_json)
            print_out("\n  matrices %s\n", q.output);
    }
    yk_linear_model_destroy(model);
    if (context)
        yk_context_destroy(context);
    return code;
}

/* yoke frequency-response ---------------------------------------------------------------------- */

/* Responses at all frequencies: amplitude and phase of a path (output by output, input by input),
 * frequency by frequency. */
typedef struct response_table {
    int frequency_count, path_count;
    double *frequencies;
    double *real, *imaginary;  /* frequency_count x path_count */
    double *amplitude, *phase; /* path_count x frequency_count; phase in degrees */
} response_table;

static yk_status compute_responses(yk_context *context, const yk_linear_model *model,
                                   const yk_map_axis *axis, response_table *t)
{
    *t = (response_table){.frequency_count = axis->count,
                          .path_count = model->input_count * model->output_count};
    size_t count = (size_t)t->frequency_count;
    size_t paths = (size_t)t->path_count;
    t->frequencies = yk_allocate(context, count + 4 * count * paths + 1, sizeof *t->frequencies);
    if (!t->frequencies)
        return YK_ERROR_MEMORY;
    t->real = t->frequencies + count;
    t->imaginary = t->real + count * paths;
    t->amplitude = t->imaginary + count * paths;
    t->phase = t->amplitude + count * paths;

    for (size_t i = 0; i < count; i++) {
        t->frequencies[i] = yk_map_axis_value(axis, (int)i);
        double *real = t->real + i * paths;
        double *imaginary = t->imaginary + i * paths;
        yk_status status = yk_linear_model_response(model, t->frequencies[i], real, imaginary);
        if (status != YK_OK)
            return status;
        for (size_t k = 0; k < paths; k++) {
            t->amplitude[k * count + i] = hypot(real[k], imaginary[k]);
            double phase = atan2(imaginary[k], real[k]) * 180 / acos(-1);
            /* Continuous along the curve. */
            if (i > 0)
                phase += 360 * round((t->phase[k * count + i - 1] - phase) / 360);
            t->phase[k * count + i] = phase;
        }
    }
    return YK_OK;
}

static bool write_responses(const yk_linear_model *model, const response_table *t, const char *file)
{
    yk_output output = yk_output_open(file);
    FILE *out = output.stream;
    if (out) {
        fputs("frequency_Hz,input,output,real,imaginary,amplitude,phase_deg\n", out);
        for (int k = 0; k < t->path_count; k++)
            for (int i = 0; i < t->frequency_count; i++) {
                size_t at = (size_t)i * (size_t)t->path_count + (size_t)k;
                size_t own = (size_t)k * (size_t)t->frequency_count + (size_t)i;
                fprintf(out, "%.15g,%s,%s,%.15g,%.15g,%.15g,%.15g\n", t->frequencies[i],
                        model->inputs[k % model->input_count].name,
                        model->outputs[k / model->input_count].name, t->real[at], t->imaginary[at],
                        t->amplitude[own], t->phase[own]);
            }
    }
    return close_written(&output, file);
}

static yk_status draw_responses(yk_context *context, const char *name, const char *title,
                                const yk_linear_model *model, const response_table *t)
{
    enum { CURVES_MAX = 12 };
    int count = t->path_count < CURVES_MAX ? t->path_count : CURVES_MAX;
    chart_curve curves[2][CURVES_MAX];
    char names[CURVES_MAX][340];
    for (int k = 0; k < count; k++) {
        snprintf(names[k], sizeof names[k], "%s", model->outputs[k / model->input_count].name);
        if (model->input_count > 1)
            snprintf(names[k] + strlen(names[k]), sizeof names[k] - strlen(names[k]), " by %s",
                     model->inputs[k % model->input_count].name);
        for (int part = 0; part < 2; part++)
            curves[part][k] = (chart_curve){
                .name = names[k],
                .x = t->frequencies,
                .y = (part == 0 ? t->amplitude : t->phase) + (size_t)k * (size_t)t->frequency_count,
                .count = (size_t)t->frequency_count,
                .color = k,
            };
    }
    chart_axis frequency = {.name = "frequency", .unit = "Hz", .is_logarithmic = true};
    const chart_panel panels[2] = {
        {.title = "output per input",
         .x = frequency,
         .y = {.name = "amplitude", .unit = "", .is_logarithmic = true},
         .curves = curves[0],
         .curve_count = count},
        {.title = "output per input",
         .x = frequency,
         .y = {.name = "phase (deg)", .unit = ""},
         .curves = curves[1],
         .curve_count = count},
    };
    chart picture = {.title = title, .panels = panels, .panel_count = 2, .panel_height = 220};
    return picture_write(context, name, &picture);
}

static void print_responses(const yk_linear_model *model, const response_table *t)
{
    /* The largest amplitude of each path, and that at the lowest frequency. */
    print_out("\n  %-40s %-32s %14s %14s %12s\n", "output", "input", "lowest", "largest", "at Hz");
    for (int k = 0; k < t->path_count; k++) {
        const double *amplitude = t->amplitude + (size_t)k * (size_t)t->frequency_count;
        int largest = 0;
        for (int i = 1; i < t->frequency_count; i++)
            if (amplitude[i] > amplitude[largest])
                largest = i;
        print_out("  %-40s %-32s %14.6g %14.6g %12.6g\n",
                  model->outputs[k / model->input_count].name,
                  model->inputs[k % model->input_count].name, amplitude[0], amplitude[largest],
                  t->frequencies[largest]);
    }
}

static void write_responses_json(const char *scenario, const yk_linear_model *model,
                                 const response_table *t)
{
    json_writer json = json_begin(stdout);
    json_text(&json, "scenario", scenario);
    json_number(&json, "time", model->time);
    json_open_array(&json, "frequencies");
    for (int i = 0; i < t->frequency_count; i++)
        json_number(&json, NULL, t->frequencies[i]);
    json_close(&json);
    json_open_array(&json, "responses");
    for (int k = 0; k < t->path_count; k++) {
        json_open_object(&json, NULL);
        json_text(&json, "input", model->inputs[k % model->input_count].name);
        json_text(&json, "output", model->outputs[k / model->input_count].name);
        for (int part = 0; part < 2; part++) {
            json_open_array(&json, part == 0 ? "real" : "imaginary");
            for (int i = 0; i < t->frequency_count; i++)
                json_number(&json, NULL,
                            (part == 0 ? t->real : t->imaginary)[i * t->path_count + k]);
            json_close(&json);
        }
        json_close(&json);
    }
    json_close(&json);
    json_end(&json);
}

int command_frequency_response(int argc, char **argv)
{
    request q = {.options = yk_linearize_options_default()};
    const char *range = "0.1:100:200:log";
    const option_row rows[] = {
        STATE_ROWS(q),
        {"frequencies", OPTION_TEXT, &range, "FIRST:LAST:N[:log]",
         "Use N frequencies in Hz (default: 0.1:100:200:log)"},
        SET_ROW(&q.sets),
        {"output", OPTION_TEXT, &q.output, "FILE", "Write the responses as CSV"},
        {"plot", OPTION_TEXT, &q.plot, "BASE",
         "Draw amplitude and phase as BASE.svg, or as the .svg, .png or .pdf file of this name"},
        JSON_ROW(&q.as_json),
        {.kind = OPTION_END},
    };
    int parsed = options_parse(response_usage, rows, argc, argv, &q.path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);
    if (!picture_is_named("--plot", q.plot))
        return EXIT_MISUSE;
    if (q.inputs.count == 0) {
        print_err("yoke: name an input, such as --input SUBSYSTEM.BODY.force.x or --input "
                  "parameters.NAME\n");
        return EXIT_MISUSE;
    }

    yk_map_axis axis = {0};
    bool is_valid = read_range(range, &axis) && axis.count >= 1 && axis.first >= 0 &&
                    axis.last >= axis.first && !(axis.is_logarithmic && axis.first == 0);
    if (!is_valid) {
        print_err("yoke: --frequencies '%s': write FIRST:LAST:N or FIRST:LAST:N:log in Hz\n",
                  range);
        return EXIT_MISUSE;
    }

    take_lists(&q);
    yk_scenario_def def = scenario_def(q.path, &q.sets);
    yk_context *context;
    int code;
    yk_linear_model *model = linear_model_of(&def, &q.options, &context, &code);
    response_table table = {0};
    if (model && compute_responses(context, model, &axis, &table) != YK_OK) {
        code = print_failure(context);
    } else if (model) {
        if (q.as_json)
            write_responses_json(q.path, model, &table);
        else {
            print_out("%s\n", q.path);
            print_responses(model, &table);
        }
        if (q.output && !write_responses(model, &table, q.output))
            code = EXIT_FAILED;
        if (q.plot && draw_responses(context, q.plot, q.path, model, &table) != YK_OK)
            code = print_failure(context);
        else if (q.plot && !q.as_json) {
            print_out("\n  ");
            print_picture(q.plot);
        }
    }
    if (context)
        yk_free(context, table.frequencies);
    yk_linear_model_destroy(model);
    if (context)
        yk_context_destroy(context);
    return code;
}
