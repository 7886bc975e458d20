/* The linear model of a coupled system, identified from the running system.
 *
 * At one step size:
 *
 *   deviations  Random changes of all words of the state, forward and backward. After some steps the
 *               memory of the integrators has faded, and what remains are motions that the system
 *               can make; observed before and after one more step.
 *   fit         States among the observed quantities, and the matrices of the step (linear_fit.c).
 *   inputs      The same with a constant input instead of a deviation.
 *
 * Steps are halved until the modes of two extrapolations agree. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/linear.h"
#include "analysis/scenario_run.h"
#include "base/text.h"
#include "math/dense.h"
#include "math/vec3.h"
#include "model/scenario.h"

enum {
    LEVELS_MAX = 13,
    SETTLE_STEPS = 72,    /* after which the memory of integrators has faded */
    PHASES = 3,           /* different times from a random change to its observation */
    SPARE_DEVIATIONS = 8, /* deviations in addition to the states */
    WORDS_MAX = 6000,     /* largest state image, for time and memory */
    STATES_MAX = 1500,    /* largest number of states */
    REST_WORDS_MAX = 400  /* largest state image in which a state of rest is searched */
};

/* Random deviations at the first step size, as a fraction of the probes of the map. */
static const double FIRST_AMPLITUDE = 30;
/* Relative change of the decisive modes between two extrapolations above which the model is wrong. */
static const double UNUSABLE = 0.1;
/* Modulus of a free motion, relative to that of the fastest mode that counts. */
static const double FREE = 1e-5;

yk_linearize_options yk_linearize_options_default(void)
{
    return (yk_linearize_options){
        .time = NAN, .mode_count = 6, .tolerance = 1e-6, .max_halvings = 6};
}

/* Inputs --------------------------------------------------------------------------------------- */

typedef enum input_kind { INPUT_WRENCH, INPUT_SIGNAL, INPUT_PARAMETER } input_kind;

typedef struct input_source {
    input_kind kind;
    yk_subsystem_id subsystem; /* of a wrench */
    yk_body_id body;
    int component; /* of the wrench, 0 to 5 */
    yk_input_id signal;
    const char *parameter;
    double value; /* at the state */
} input_source;

/* The input that acts during a step. */
typedef struct applied_input {
    const input_source *source; /* NULL: none */
    double change;
} applied_input;

static yk_status apply_input(void *user, yk_system *system, double time)
{
    (void)time;
    const applied_input *applied = user;
    const input_source *source = applied->source;
    if (!source || source->kind == INPUT_PARAMETER)
        return YK_OK;
    if (source->kind == INPUT_SIGNAL)
        return yk_system_set_input(system, source->signal, source->value + applied->change);

    double components[6] = {0};
    components[source->component] = applied->change;
    yk_wrench wrench = {{components[0], components[1], components[2]},
                        {components[3], components[4], components[5]}};
    return yk_system_apply_body_wrench(system, source->subsystem, source->body, wrench, NULL);
}

/* "SUBSYSTEM.BODY.force.x" */
static bool find_wrench(const yk_scenario_info *info, const yk_system *system, const char *name,
                        input_source *source)
{
    size_t length = strlen(name);
    for (int s = 0; s < info->subsystem_count; s++)
        for (int b = 0; b < yk_system_body_count(system, (yk_subsystem_id){s}); b++) {
            const char *body = yk_system_body_name(system, (yk_subsystem_id){s}, (yk_body_id){b});
            if (!body)
                continue;
            for (int c = 0; c < 6; c++) {
                char full[320];
                int written = snprintf(full, sizeof full, "%s.%s.%s.%c", info->subsystem_names[s],
                                       body, c < 3 ? "force" : "torque", "xyz"[c % 3]);
                if (written == (int)length && strcmp(full, name) == 0) {
                    *source = (input_source){
                        .kind = INPUT_WRENCH, .subsystem = {s}, .body = {b}, .component = c};
                    return true;
                }
            }
        }
    return false;
}

static yk_status find_input(yk_context *context, const yk_scenario *scenario,
                            const yk_system *system, const char *name, input_source *source,
                            yk_linear_variable *variable)
{
    static const char PARAMETERS[] = "parameters.";
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    *variable = (yk_linear_variable){.unit = "1"};
    snprintf(variable->name, sizeof variable->name, "%s", name);
    if (strlen(name) >= sizeof variable->name)
        return yk_fail(context, YK_ERROR_ARGUMENT, "linearize: the name of an input is too long");

    if (strncmp(name, PARAMETERS, strlen(PARAMETERS)) == 0) {
        const yk_scope *scope = &scenario->resolver.scope;
        for (int i = 0; i < scope->parameter_count; i++) {
            if (strcmp(scope->parameters[i].name, name + strlen(PARAMETERS)) != 0)
                continue;
            *source = (input_source){
                .kind = INPUT_PARAMETER, .parameter = name, .value = scope->parameters[i].value};
            variable->value = source->value;
            const char *unit = yk_scenario_unit(scenario, name);
            if (unit && *unit)
                snprintf(variable->unit, sizeof variable->unit, "%s", unit);
            return YK_OK;
        }
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "linearize: the scenario has no parameter '%s' for an input",
                       name + strlen(PARAMETERS));
    }

    if (find_wrench(info, system, name, source)) {
        snprintf(variable->unit, sizeof variable->unit, source->component < 3 ? "N" : "N m");
        return YK_OK;
    }

    if (yk_system_input_count(system) > 0) {
        yk_input_id signal = yk_system_find_input(system, name);
        if (yk_input_is_valid(signal)) {
            *source = (input_source){.kind = INPUT_SIGNAL,
                                     .signal = signal,
                                     .value = yk_system_input_value(system, signal)};
            variable->value = source->value;
            return YK_OK;
        }
    }

    return yk_fail(context, YK_ERROR_ARGUMENT,
                   "linearize: unknown input '%s'; an input is a component of a wrench on a body, "
                   "such as SUBSYSTEM.BODY.force.x or SUBSYSTEM.BODY.torque.z, or a parameter of "
                   "the scenario, such as parameters.NAME",
                   name);
}

/* One step size -------------------------------------------------------------------------------- */

typedef struct loaded_system {
    yk_scenario *scenario;
    const yk_scenario_info *info;
    yk_system *system;
} loaded_system;

/* The matrices at one step size. */
typedef struct level {
    double step;
    yk_linear_model *model;
} level;

typedef struct study {
    yk_context *context;
    yk_scenario_def def;
    yk_diagnostics *diagnostics;
    const yk_linearize_options *options;
    yk_changes changes; /* of the scheme */
    char scheme[64];
    int input_count;
    input_source *inputs;
    int output_count;
    int *outputs; /* rows of observations */
    int state_count;
    int *states;      /* rows of observations, chosen at the first level */
    int column_count; /* of random deviations */
    bool is_complete; /* the states explain all motions */
    int64_t steps;
    double time; /* s, of the state; NaN: not known before the first step size */
    level levels[LEVELS_MAX];
    int level_count;
} study;

/* Work at one step size. */
typedef struct work {
    study *s;
    loaded_system loaded;
    yk_step_map map;
    yk_observer observer;
    applied_input applied;
    double *starts;   /* PHASES images, SETTLE_STEPS apart, from which deviations start */
    double amplitude; /* of random deviations, as a fraction of the probes of the map */
    double *raw;      /* of two observations at two times */
    yk_deviations deviations, input_deviations;
} work;

static void report_progress(const study *s, const char *what)
{
    if (s->options->progress)
        s->options->progress(s->options->user, what);
}

static void unload(loaded_system *loaded)
{
    yk_scenario_destroy(loaded->scenario);
    *loaded = (loaded_system){0};
}

/* The scenario with other values, as a started system. */
static yk_status load(const study *s, int halvings, const yk_changes *scheme, const char *override,
                      yk_diagnostics *diagnostics, loaded_system *loaded)
{
    /* The overrides of the caller, those of the scheme, and one more. */
    *loaded = (loaded_system){0};
    yk_scenario_def def = s->def;
    size_t count = (size_t)def.override_count;
    const char **overrides =
        yk_allocate(s->context, count + (size_t)scheme->count + 1, sizeof *overrides);
    if (!overrides)
        return YK_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        overrides[i] = def.overrides[i];
    for (int i = 0; i < scheme->count; i++)
        overrides[count++] = scheme->texts[i];
    if (override)
        overrides[count++] = override;
    def.overrides = overrides;
    def.override_count = (int)count;
    def.iterate_to_rounding = true;
    def.refinement = ldexp(def.refinement > 0 ? def.refinement : 1, halvings);

    yk_status status = yk_scenario_load(s->context, &def, diagnostics, &loaded->scenario);
    yk_free(s->context, overrides);
    if (!YK_FAILED(status)) {
        loaded->info = yk_scenario_get_info(loaded->scenario);
        status = yk_scenario_system(loaded->scenario, &loaded->system);
    }
    if (!YK_FAILED(status))
        status = yk_system_initialize(loaded->system);
    if (YK_FAILED(status)) {
        unload(loaded);
        return status;
    }
    return YK_OK;
}

/* The model describes the system, not its coupling: take the most accurate scheme with which the
 * system starts. */
static yk_status choose_scheme(study *s)
{
    loaded_system own;
    yk_status status = load(s, 0, &(yk_changes){0}, NULL, s->diagnostics, &own);
    if (status != YK_OK)
        return status;
    yk_format(s->scheme, sizeof s->scheme, "%s", own.info->scheme.ops->name);
    if (s->options->keep_scheme) {
        unload(&own);
        return YK_OK;
    }

    yk_choice references[YK_CHOICES_MAX];
    int count = yk_choices(YK_VARIANT_REFERENCE, references);
    for (int i = 0; i < count; i++) {
        const yk_choice *choice = &references[i];
        if (!yk_scheme_fits(choice->scheme, own.info))
            continue;
        yk_changes changes = yk_choice_changes(choice);
        loaded_system other;
        if (load(s, 0, &changes, NULL, NULL, &other) != YK_OK)
            continue;
        unload(&other);
        s->changes = changes;
        yk_format(s->scheme, sizeof s->scheme, "%s", choice->name);
        break;
    }
    unload(&own);
    return YK_OK;
}

static yk_status run_image(work *w, const double *image, int steps)
{
    yk_status status = yk_system_set_state(w->map.system, image);
    if (!YK_FAILED(status))
        status = yk_step_map_run(&w->map, steps);
    return status;
}

/* On to the state, and its scales. */
static yk_status reach_state(work *w)
{
    const yk_linearize_options *options = w->s->options;
    const yk_scenario_info *info = w->loaded.info;
    yk_step_map *map = &w->map;
    double *vector = yk_allocate(w->s->context, map->n + 1, sizeof *vector);
    if (!vector)
        return YK_ERROR_MEMORY;

    yk_status status = YK_OK;
    /* All step sizes linearize at the same time. */
    double own = (PHASES * SETTLE_STEPS + 1) * info->step;
    if (!isfinite(w->s->time))
        w->s->time =
            isfinite(options->time) ? fmax(options->time, info->start + own) : info->start + own;
    double steps = options->find_equilibrium && !isfinite(options->time)
                       ? 0
                       : round((w->s->time - own - info->start) / info->step);
    if (steps > 0)
        status = yk_step_map_run(map, (int64_t)steps);
    if (status == YK_OK)
        status = yk_step_map_set_base(map, vector);

    if (status == YK_OK && options->find_equilibrium) {
        if (map->n > REST_WORDS_MAX)
            status = yk_fail(w->s->context, YK_ERROR_ARGUMENT,
                             "linearize: rest is searched in systems of up to %d words, this one "
                             "has %zu; linearize at a time at which the run has come to rest",
                             REST_WORDS_MAX, map->n);
        if (status == YK_OK)
            status = yk_step_map_rest(map);
        if (status == YK_OK) {
            /* Small violations of constraints fade. */
            status = run_image(w, map->base, SETTLE_STEPS);
            if (status == YK_OK)
                status = yk_step_map_set_base(map, vector);
        }
    }
    yk_free(w->s->context, vector);
    if (status != YK_OK)
        return status;

    /* Positions that follow from one change of velocities are proportional to these after the same
     * time. Changes at several times make both independent. */
    w->starts = yk_allocate(w->s->context, PHASES * map->words, sizeof *w->starts);
    if (!w->starts)
        return YK_ERROR_MEMORY;
    memcpy(w->starts, map->earlier, map->words * sizeof *w->starts);
    for (int i = 1; status == YK_OK && i < PHASES; i++) {
        status = run_image(w, w->starts + (size_t)(i - 1) * map->words, SETTLE_STEPS);
        yk_system_get_state(map->system, w->starts + (size_t)i * map->words);
    }
    return status;
}

static const double *last_start(const work *w)
{
    return w->starts + (size_t)(PHASES - 1) * w->map.words;
}

/* Runs from an image, and observes before and after one more step. */
static yk_status observe_run(work *w, const double *image, int steps, double *before, double *after)
{
    yk_status status = run_image(w, image, steps);
    if (status == YK_OK)
        status = yk_observer_read(&w->observer, before);
    if (status == YK_OK)
        status = yk_step_map_run(&w->map, 1);
    if (status == YK_OK)
        status = yk_observer_read(&w->observer, after);
    return status;
}

static yk_status create_deviations(work *w, int columns, yk_deviations *d)
{
    d->row_count = w->observer.row_count;
    d->column_count = columns;
    size_t size = (size_t)d->row_count * (size_t)columns;
    d->before = yk_allocate(w->s->context, 2 * size + (size_t)d->row_count + 1, sizeof *d->before);
    if (!d->before)
        return YK_ERROR_MEMORY;
    d->after = d->before + size;
    return YK_OK;
}

/* Stores the differences of two pairs of observations as a column. */
static void store_column(work *w, double factor, yk_deviations *d, int column, double *rows)
{
    size_t length = (size_t)w->observer.raw_count;
    const double *plus = w->raw;
    const double *minus = w->raw + 2 * length;
    for (int time = 0; time < 2; time++) {
        yk_observer_difference(&w->observer, factor, plus + (size_t)time * length,
                               minus + (size_t)time * length, rows);
        double *to = time == 0 ? d->before : d->after;
        for (int i = 0; i < d->row_count; i++)
            to[(size_t)i * (size_t)d->column_count + (size_t)column] = rows[i];
    }
}

/* Observes random deviations of the earlier state, forward and backward. */
static yk_status observe_deviation(work *w, int column)
{
    int phase = column % PHASES;
    uint64_t seed = UINT64_C(88172645463325252) + UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)column;
    yk_step_map *map = &w->map;
    size_t length = (size_t)w->observer.raw_count;
    const double *start = w->starts + (size_t)phase * map->words;
    memcpy(map->plus, start, map->words * sizeof(double));
    memcpy(map->minus, start, map->words * sizeof(double));
    for (size_t i = 0; i < map->n; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double d =
            w->amplitude * map->probe[i] * (2 * (double)(seed >> 11) / 9007199254740992.0 - 1);
        map->plus[i] += d;
        map->minus[i] -= d;
    }

    yk_status status =
        observe_run(w, map->plus, SETTLE_STEPS * (PHASES - phase), w->raw, w->raw + length);
    if (status == YK_OK)
        status = observe_run(w, map->minus, SETTLE_STEPS * (PHASES - phase), w->raw + 2 * length,
                             w->raw + 3 * length);
    return status;
}

/* Appends columns of random deviations up to a number of them. */
static yk_status draw_deviations(work *w, int columns, double *rows)
{
    yk_deviations wider = {0};
    yk_deviations *d = &w->deviations;
    yk_status status = create_deviations(w, columns, &wider);
    if (status != YK_OK)
        return status;
    for (int i = 0; i < wider.row_count; i++) {
        for (int k = 0; k < d->column_count; k++) {
            wider.before[(size_t)i * (size_t)columns + (size_t)k] =
                d->before[(size_t)i * (size_t)d->column_count + (size_t)k];
            wider.after[(size_t)i * (size_t)columns + (size_t)k] =
                d->after[(size_t)i * (size_t)d->column_count + (size_t)k];
        }
    }
    int first = d->column_count;
    yk_free(w->s->context, d->before);
    *d = wider;

    for (int k = first; status == YK_OK && k < columns; k++) {
        status = observe_deviation(w, k);
        if (status == YK_OK)
            store_column(w, 0.5, d, k, rows);
    }
    return status;
}

/* Draws deviations until they are more than their independent rows, which become the states. */
static yk_status find_states(work *w, double *rows)
{
    study *s = w->s;
    int most = w->map.n < STATES_MAX ? (int)w->map.n : STATES_MAX;
    s->states = yk_allocate(s->context, (size_t)most + SPARE_DEVIATIONS + 1, sizeof *s->states);
    if (!s->states)
        return YK_ERROR_MEMORY;

    int columns = 2 * SPARE_DEVIATIONS;
    yk_status status = YK_OK;
    while (status == YK_OK) {
        status = draw_deviations(w, columns, rows);
        if (status == YK_OK)
            s->state_count = yk_linear_select(s->context, &w->observer, &w->deviations, s->states,
                                              most + SPARE_DEVIATIONS, &s->is_complete, &status);
        if (status != YK_OK || s->state_count + SPARE_DEVIATIONS <= columns)
            break;
        if (columns >= most + SPARE_DEVIATIONS)
            return yk_fail(s->context, YK_ERROR_ARGUMENT,
                           "linearize: the system has more than %d states; simplify it, or use "
                           "yoke stability, which computes the modes with the largest growth only",
                           most);
        columns = 2 * columns < most + SPARE_DEVIATIONS ? 2 * columns : most + SPARE_DEVIATIONS;
    }
    if (status == YK_OK && s->state_count == 0)
        status = yk_fail(s->context, YK_ERROR_ARGUMENT, "linearize: nothing in this system moves");
    s->column_count = columns;
    return status;
}

/* A run from the base with a changed input. */
static yk_status run_with_input(work *w, const input_source *source, double change, int halvings,
                                double *before, double *after)
{
    if (source->kind != INPUT_PARAMETER) {
        w->applied = (applied_input){source, change};
        yk_status status = observe_run(w, last_start(w), SETTLE_STEPS, before, after);
        w->applied = (applied_input){0};
        if (source->kind == INPUT_SIGNAL)
            yk_system_set_input(w->map.system, source->signal, source->value);
        return status;
    }

    /* The scenario with another value of the parameter, from the same state. */
    char text[200];
    yk_format(text, sizeof text, "%s=%.17g", source->parameter, source->value + change);
    loaded_system other;
    yk_status status = load(w->s, halvings, &w->s->changes, text, w->s->diagnostics, &other);
    if (status != YK_OK)
        return status;
    yk_state_layout own = yk_system_state_layout(w->map.system);
    yk_state_layout changed = yk_system_state_layout(other.system);
    if (own.word_count != changed.word_count) {
        status = yk_fail(w->s->context, YK_ERROR_ARGUMENT,
                         "linearize: '%s' changes the number of states, so it cannot be an input",
                         source->parameter);
    } else {
        yk_system *system = w->map.system;
        w->map.system = w->observer.system = other.system;
        status = observe_run(w, last_start(w), SETTLE_STEPS, before, after);
        w->map.system = w->observer.system = system;
    }
    unload(&other);
    return status;
}

/* Deviation of the states by an input, relative to the random deviations. */
static double input_response(work *w, int input, double change, double *rows)
{
    const yk_deviations *d = &w->deviations;
    store_column(w, 0.5 / change, &w->input_deviations, input, rows);
    double largest = 0;
    for (int i = 0; i < w->s->state_count; i++) {
        int row = w->s->states[i];
        const double *before = d->before + (size_t)row * (size_t)d->column_count;
        double size = yk_dense_norm((size_t)d->column_count, before);
        double own = w->input_deviations.before[row * w->s->input_count + input];
        largest = fmax(largest, fabs(own * change) / size);
    }
    return largest;
}

/* Deviations by the inputs, per unit of each. */
static yk_status follow_inputs(work *w, int halvings, double *rows)
{
    size_t length = (size_t)w->observer.raw_count;
    yk_status status = create_deviations(w, w->s->input_count, &w->input_deviations);
    for (int k = 0; status == YK_OK && k < w->s->input_count; k++) {
        const input_source *source = &w->s->inputs[k];

        /* First a guess; then so much that words deviate by their scales. */
        double change = 1;
        if (source->kind == INPUT_PARAMETER)
            change = 1e-4 * fmax(fabs(source->value), 1e-2);
        for (int pass = 0; status == YK_OK && pass < 2; pass++) {
            status = run_with_input(w, source, change, halvings, w->raw, w->raw + length);
            if (status == YK_OK)
                status = run_with_input(w, source, -change, halvings, w->raw + 2 * length,
                                        w->raw + 3 * length);
            if (status != YK_OK || pass == 1)
                break;

            double largest = input_response(w, k, change, rows);
            if (!(largest > 0) || !isfinite(largest) || source->kind == INPUT_PARAMETER)
                break;
            change /= largest;
        }
        if (status == YK_OK)
            store_column(w, 0.5 / change, &w->input_deviations, k, rows);
    }
    return status;
}

/* The matrices of the step, made continuous. */
static yk_status fit(work *w, level *made)
{
    study *s = w->s;
    int n = s->state_count;
    int m = s->input_count;
    int p = s->output_count;
    yk_linear_model *model;
    yk_status status = yk_linear_model_create(s->context, n, m, p, &model);
    if (status != YK_OK)
        return status;
    made->model = model;

    const yk_deviations *d = &w->deviations;
    status = yk_linear_regress(s->context, d, s->states, n, d->after, s->states, n, model->a);
    if (status == YK_OK)
        status = yk_linear_regress(s->context, d, s->states, n, d->before, s->outputs, p, model->c);

    const yk_deviations *u = &w->input_deviations;
    for (int k = 0; status == YK_OK && k < m; k++) {
        for (int i = 0; i < n; i++) {
            double rest = u->after[s->states[i] * m + k];
            for (int j = 0; j < n; j++)
                rest -= model->a[i * n + j] * u->before[s->states[j] * m + k];
            model->b[i * m + k] = rest;
        }
        for (int o = 0; o < p; o++) {
            double rest = u->after[s->outputs[o] * m + k];
            for (int j = 0; j < n; j++)
                rest -= model->c[o * n + j] * u->after[s->states[j] * m + k];
            model->d[o * m + k] = rest;
        }
    }

    if (status == YK_OK)
        status = yk_linear_make_continuous(s->context, made->step, n, m, model->a, model->b);
    if (status == YK_ERROR_SINGULAR)
        status = yk_fail(s->context, YK_ERROR_SINGULAR,
                         "linearize: the deviations do not determine the model at a step of %g s",
                         made->step);
    if (status == YK_OK)
        status = yk_linear_model_find_modes(model);
    return status;
}

/* Rows of the outputs, and their names, once. */
static yk_status find_outputs(work *w)
{
    study *s = w->s;
    const yk_linearize_options *options = s->options;
    const yk_scenario_info *info = w->loaded.info;
    int count = options->output_count > 0 ? options->output_count : info->channel_count;
    int capacity = w->observer.row_count;
    s->outputs = yk_allocate(s->context, (size_t)capacity + 1, sizeof *s->outputs);
    if (!s->outputs)
        return YK_ERROR_MEMORY;

    for (int i = 0; i < count; i++) {
        const char *name = options->output_count > 0 ? options->outputs[i] : info->channels[i].name;
        int first;
        int rows = yk_observer_find(&w->observer, name, &first);
        if (rows == 0 && options->output_count > 0)
            return yk_fail(
                s->context, YK_ERROR_ARGUMENT,
                "linearize: there is no channel '%s' for an output; outputs have the names that "
                "record.channels accepts, such as SUBSYSTEM.BODY.position, or "
                "SUBSYSTEM.BODY.position.x",
                name);
        for (int k = 0; k < rows && s->output_count < capacity; k++)
            s->outputs[s->output_count++] = first + k;
    }
    return YK_OK;
}

/* The length of the observed step: step control may have chosen it. */
static yk_status measure_step(work *w, double *step)
{
    yk_status status = run_image(w, last_start(w), SETTLE_STEPS);
    double before = yk_system_time(w->map.system);
    if (status == YK_OK)
        status = yk_step_map_run(&w->map, 1);
    *step = yk_system_time(w->map.system) - before;
    /* The difference of times has rounding errors. */
    if (fabs(*step / w->loaded.info->step - 1) < 1e-6)
        *step = w->loaded.info->step;
    return status;
}

/* Names, units and values of all variables of the model, at the end of the observed runs. */
static yk_status name_variables(work *w, yk_linear_model *model)
{
    study *s = w->s;
    size_t length = (size_t)w->observer.raw_count;
    yk_status status = observe_run(w, last_start(w), SETTLE_STEPS, w->raw, w->raw + length);
    if (status != YK_OK)
        return status;
    model->time = yk_system_time(w->map.system);

    for (int list = 0; list < 2; list++) {
        int count = list == 0 ? s->state_count : s->output_count;
        const int *rows = list == 0 ? s->states : s->outputs;
        yk_linear_variable *variables = list == 0 ? model->states : model->outputs;
        for (int i = 0; i < count; i++) {
            const yk_observed_row *row = &w->observer.rows[rows[i]];
            memcpy(variables[i].name, row->name, sizeof row->name);
            memcpy(variables[i].unit, row->unit, sizeof row->unit);
            variables[i].value = row->is_rotation ? 0 : w->raw[length + (size_t)row->raw];
        }
    }

    for (int k = 0; status == YK_OK && k < s->input_count; k++) {
        input_source unused;
        status = find_input(s->context, w->loaded.scenario, w->loaded.system, s->options->inputs[k],
                            &unused, &model->inputs[k]);
    }
    return status;
}

static yk_status find_inputs(work *w)
{
    study *s = w->s;
    s->input_count = s->options->input_count;
    s->inputs = yk_allocate(s->context, (size_t)s->input_count + 1, sizeof *s->inputs);
    yk_status status = s->inputs ? YK_OK : YK_ERROR_MEMORY;
    for (int k = 0; status == YK_OK && k < s->input_count; k++) {
        yk_linear_variable unused;
        status = find_input(s->context, w->loaded.scenario, w->loaded.system, s->options->inputs[k],
                            &s->inputs[k], &unused);
    }
    return status;
}

static yk_status make_level(study *s, int halvings)
{
    char what[80];
    work w = {.s = s, .amplitude = ldexp(FIRST_AMPLITUDE, -halvings)};
    yk_status status = load(s, halvings, &s->changes, NULL, s->diagnostics, &w.loaded);
    if (status != YK_OK)
        return status;
    level *made = &s->levels[s->level_count++];
    made->step = w.loaded.info->step;
    yk_format(what, sizeof what, "deviations at a step of %g s", made->step);
    report_progress(s, what);

    status = yk_step_map_open(s->context, w.loaded.system, &w.map);
    if (status == YK_OK && w.map.n > WORDS_MAX)
        status = yk_fail(s->context, YK_ERROR_ARGUMENT,
                         "linearize: the state has %zu words; up to %d can be linearized. yoke "
                         "stability computes the modes with the largest growth of larger systems",
                         w.map.n, WORDS_MAX);
    if (status == YK_OK)
        status = yk_observer_create(s->context, w.loaded.scenario, w.loaded.system, &w.observer);
    double *rows = NULL;
    if (status == YK_OK) {
        yk_system_set_before_step(w.loaded.system, apply_input, &w.applied);
        rows = yk_allocate(s->context, (size_t)w.observer.row_count + 1, sizeof *rows);
        w.raw = yk_allocate(s->context, 4 * (size_t)w.observer.raw_count + 1, sizeof *w.raw);
        if (!rows || !w.raw)
            status = YK_ERROR_MEMORY;
    }
    if (status == YK_OK && halvings == 0)
        status = find_inputs(&w);
    if (status == YK_OK && halvings == 0)
        status = find_outputs(&w);
    if (status == YK_OK)
        status = reach_state(&w);
    if (status == YK_OK)
        status = measure_step(&w, &made->step);
    if (status == YK_OK)
        status = halvings == 0 ? find_states(&w, rows) : draw_deviations(&w, s->column_count, rows);
    if (status == YK_OK)
        status = follow_inputs(&w, halvings, rows);
    if (status == YK_OK)
        status = fit(&w, made);
    if (status == YK_OK)
        status = name_variables(&w, made->model);
    if (status == YK_OK)
        made->model->step = made->step;

    s->steps += w.map.steps;
    yk_free(s->context, rows);
    yk_free(s->context, w.raw);
    yk_free(s->context, w.starts);
    yk_free(s->context, w.deviations.before);
    yk_free(s->context, w.input_deviations.before);
    yk_observer_release(&w.observer);
    yk_step_map_close(&w.map);
    unload(&w.loaded);
    return status;
}

/* Extrapolation -------------------------------------------------------------------------------- */

static double modulus_of(const yk_linear_mode *mode)
{
    return hypot(mode->real, mode->imaginary);
}

/* Distance to the nearest mode of another model (1/s). */
static double distance_to(const yk_linear_mode *mode, const yk_linear_model *other)
{
    double least = INFINITY;
    for (int i = 0; i < other->mode_count; i++) {
        const yk_linear_mode *m = &other->modes[i];
        least = fmin(least, hypot(m->real - mode->real, m->imaginary - mode->imaginary));
    }
    return least;
}

static int decisive_modes(const study *s, const yk_linear_model *model)
{
    int asked = s->options->mode_count;
    return asked > 0 && asked < model->mode_count ? asked : model->mode_count;
}

/* Largest relative difference of the decisive modes. Slow modes are compared with a fraction of the
 * fastest of them, because free motions have no size. */
static double compare_models(const study *s, const yk_linear_model *model,
                             const yk_linear_model *other)
{
    int count = decisive_modes(s, model);
    double fastest = count > 0 ? modulus_of(&model->modes[count - 1]) : 0;
    double largest = 0;
    for (int i = 0; i < count; i++) {
        double size = fmax(modulus_of(&model->modes[i]), 1e-2 * fastest);
        if (size > 0)
            largest = fmax(largest, distance_to(&model->modes[i], other) / size);
    }
    return largest;
}

/* fine + (fine - coarse) / (2^order - 1) */
static yk_status extrapolate(const study *s, int fine, int order, yk_linear_model **made)
{
    const yk_linear_model *f = s->levels[fine].model;
    const yk_linear_model *c = s->levels[fine - 1].model;
    yk_status status =
        yk_linear_model_create(s->context, f->state_count, f->input_count, f->output_count, made);
    if (status != YK_OK)
        return status;

    yk_linear_model *e = *made;
    size_t n = (size_t)f->state_count;
    size_t m = (size_t)f->input_count;
    size_t p = (size_t)f->output_count;
    double weight = 1 / (ldexp(1, order) - 1);
    for (size_t i = 0; i < n * n + n * m + p * n + p * m; i++)
        e->a[i] = f->a[i] + weight * (f->a[i] - c->a[i]);
    memcpy(e->states, f->states, (n + m + p) * sizeof *e->states);
    e->time = f->time;
    e->step = f->step;
    e->order = order;
    return yk_linear_model_find_modes(e);
}

/* The order of the error in the step, from three levels. */
static int observe_order(const study *s, int fine)
{
    double last = compare_models(s, s->levels[fine].model, s->levels[fine - 1].model);
    double before = compare_models(s, s->levels[fine - 1].model, s->levels[fine - 2].model);
    if (last > 1e-9 && log2(before / last) < 1.5)
        return 1;
    return 2;
}

/* Errors of the modes, and what they mean. */
static void judge_modes(const study *s, yk_linear_model *model, const yk_linear_model *other)
{
    int count = decisive_modes(s, model);
    double fastest = count > 0 ? modulus_of(&model->modes[count - 1]) : 0;
    for (int i = 0; i < model->mode_count; i++) {
        yk_linear_mode *mode = &model->modes[i];
        double size = modulus_of(mode);
        mode->error = distance_to(mode, other);
        mode->is_free = size <= FREE * fastest ||
                        (i < count && size <= 1e-2 * fastest && size <= 3 * mode->error);
        mode->is_uncertain = !mode->is_free && mode->error > 0.1 * size;
    }
}

/* Halves the step until two extrapolations agree; keeps the pair that agrees best. */
static yk_status refine(study *s, yk_linear_model **best)
{
    double least = INFINITY;
    yk_linear_model *earlier = NULL;
    *best = NULL;
    int worse = 0;
    yk_status status = YK_OK;
    for (int i = 0; status == YK_OK && i <= s->options->max_halvings; i++) {
        status = make_level(s, i);

        /* A state that a finer run does not reach, or steps too small for differences: the coarser
         * ones are known. */
        if (YK_FAILED(status) && status != YK_ERROR_MEMORY && *best) {
            status = YK_OK;
            break;
        }
        if (status != YK_OK || i < 2)
            continue;

        yk_linear_model *made = NULL;
        int order = observe_order(s, i);
        yk_linear_model_destroy(earlier);
        earlier = NULL;
        status = extrapolate(s, i - 1, order, &earlier);
        if (status == YK_OK)
            status = extrapolate(s, i, order, &made);
        if (status != YK_OK) {
            yk_linear_model_destroy(made);
            break;
        }

        double change = compare_models(s, made, earlier);
        if (change < least || !*best) {
            least = change;
            worse = 0;
            judge_modes(s, made, earlier);
            yk_linear_model_destroy(*best);
            *best = made;
        } else {
            worse++;
            yk_linear_model_destroy(made);
        }
        if (least <= s->options->tolerance || worse == 2)
            break;
    }
    yk_linear_model_destroy(earlier);
    if (status == YK_OK && !(least <= UNUSABLE))
        status =
            yk_fail(s->context, YK_ERROR_NO_SOLUTION,
                    "linearize: the slowest modes differ by %.2g of their size between two step "
                    "sizes, so no linear model was found. The motion may have a kink at this "
                    "state, or too many stiff modes: linearize at another time, reduce "
                    "time.step, or use yoke modes for one multibody subsystem",
                    least);
    return status;
}

static yk_status check(yk_context *context, const yk_linearize_options *options)
{
    if (options->max_halvings < 2 || options->max_halvings >= LEVELS_MAX)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "linearize: %d halvings of the step; 2 to %d are possible",
                       options->max_halvings, LEVELS_MAX - 1);
    if (options->mode_count < 0 || !(options->tolerance > 0))
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "linearize: the number of modes may not be negative, and the tolerance must "
                       "be positive");
    return YK_OK;
}

yk_status yk_linearize(yk_context *context, const yk_scenario_def *scenario,
                       yk_diagnostics *diagnostics, const yk_linearize_options *options,
                       yk_linear_model **model)
{
    *model = NULL;
    yk_status status = check(context, options);
    if (status != YK_OK)
        return status;

    study s = {.context = context,
               .def = *scenario,
               .diagnostics = diagnostics,
               .options = options,
               .time = NAN};
    yk_cache *prepared = yk_trials_prepare(&s.def);
    status = choose_scheme(&s);
    if (status == YK_OK)
        status = refine(&s, model);
    if (*model) {
        (*model)->step_count = s.steps;
        memcpy((*model)->scheme, s.scheme, sizeof s.scheme);
        (*model)->is_complete = s.is_complete;
    }
    if (status != YK_OK) {
        yk_linear_model_destroy(*model);
        *model = NULL;
    }

    for (int i = 0; i < s.level_count; i++)
        yk_linear_model_destroy(s.levels[i].model);
    yk_free(context, s.inputs);
    yk_free(context, s.outputs);
    yk_free(context, s.states);
    yk_cache_destroy(prepared);
    return status;
}
