/* Loading a scenario: read, override, resolve against the schema, build, cross-check. And queries
 * of a loaded one: its files with their hashes, units, expressions without a value. */
#include "model/scenario.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/input.h"
#include "base/text.h"

yk_scenario_def yk_scenario_default(void)
{
    return (yk_scenario_def){.path = "scenario.yaml"};
}

const yk_scenario_info *yk_scenario_get_info(const yk_scenario *scenario)
{
    return &scenario->info;
}

const char *yk_scenario_input_file(const yk_scenario *scenario, int index, bool *code)
{
    const yk_scenario_input *input = scenario->builder.files;
    for (int i = 0; input && i < index; i++)
        input = input->next;
    if (!input)
        return NULL;

    if (code)
        *code = input->code;
    return input->whole;
}

int yk_find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* Time ----------------------------------------------------------------------------------------- */

/* A number of steps that differs from an integer by rounding errors only. */
static bool is_whole(double steps)
{
    return fabs(steps - round(steps)) <= 1e-9 * fmax(1, steps);
}

static void read_time(yk_scenario *scenario)
{
    const yk_node *time = yk_node_get(scenario->root, "time");
    if (!time || !time->valid)
        return;

    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    yk_scenario_info *info = &scenario->info;
    const yk_node *end = yk_node_get(time, "end");
    const yk_node *step = yk_node_get(time, "step");
    info->start = yk_node_number(time, "start");
    info->step = step->value;

    /* Step control, with its bounds in order. */
    yk_step_control *control = &info->step_control;
    const yk_node *smallest = yk_node_get(time, "min_step");
    const yk_node *largest = yk_node_get(time, "max_step");
    *control = yk_step_control_default();
    control->relative_tolerance = yk_node_number(time, "step_tolerance");
    if (smallest)
        control->min_step = smallest->value;
    if (smallest && control->min_step > info->step)
        yk_node_error(diagnostics, smallest,
                      "the smallest step (%g s) is longer than the step (%g s)", smallest->value,
                      info->step);
    if (largest)
        control->max_step = largest->value;
    if (control->max_step > info->step || (largest && control->max_step < control->min_step))
        yk_node_error(diagnostics, largest,
                      "the largest step (%g s) must lie between the smallest (%g s) and the step "
                      "(%g s)",
                      control->max_step, control->min_step, info->step);

    /* Events known in advance. */
    const yk_node *events = yk_node_get(time, "events");
    if (events) {
        control->event_times = events->values;
        control->event_time_count = events->value_count;
    }

    /* In ascending order: the coupling uses the next one. */
    for (int i = 1; i < control->event_time_count; i++) {
        double before = control->event_times[i - 1];
        double after = control->event_times[i];
        if (after > before)
            continue;

        yk_node_error(diagnostics, events, "must be in ascending order, but %g follows %g", after,
                      before);
        break;
    }

    /* The number of steps. A run whose length is no multiple of the step ends after its end. */
    double length = end->value - info->start;
    double steps = length / step->value;
    if (!(length > 0))
        yk_node_error(diagnostics, end, "the end (%g s) must be after the start (%g s)", end->value,
                      info->start);
    else if (steps < 1 && !is_whole(steps))
        yk_node_error(diagnostics, step, "the step (%g s) is longer than the whole run (%g s)",
                      step->value, length);
    else if (!(steps < 1e15))
        yk_node_error(diagnostics, step, "the run would take %g steps; the most is 1e15", steps);
    else if (!is_whole(steps))
        yk_node_warning(diagnostics, end,
                        "is not a whole number of steps of %g s; the run takes %.0f steps and ends "
                        "at %g s",
                        step->value, ceil(steps), info->start + ceil(steps) * step->value);
    else
        steps = round(steps);

    /* The end that the run reaches, without the rounding errors of a sum. */
    if (length > 0 && steps < 1e15)
        info->step_count = (int64_t)ceil(steps);

    info->end = info->start + (double)info->step_count * info->step;
}

/* Checkpoints ---------------------------------------------------------------------------------- */

/* The checkpoint interval of a scenario: "500 steps", "0.5 s", "10 min wall". */
static const struct {
    const char *word;
    double seconds;
} units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};

/* Returns false if the text is invalid. */
static bool read_distance(const char *text, yk_checkpoint_unit *unit, double *every)
{
    /* A number and one or two words. */
    char words[3][32] = {"", "", ""};
    for (int i = 0; i < 3; i++) {
        text += strspn(text, " ");
        size_t length = strcspn(text, " ");
        if (length >= sizeof words[i])
            return false;
        memcpy(words[i], text, length);
        words[i][length] = '\0';
        text += length;
    }

    double number;
    const char *word = words[1];
    bool wall = strcmp(words[2], "wall") == 0;
    if (text[strspn(text, " ")] != '\0' || (*words[2] && !wall))
        return false;
    if (!yk_number_read(words[0], &number) || !isfinite(number) || !(number > 0))
        return false;

    /* Steps are integers, and not wall time. */
    if (strcmp(word, "steps") == 0 || strcmp(word, "step") == 0) {
        *unit = YK_CHECKPOINT_STEPS;
        *every = number;
        return number == floor(number) && number < 1e15 && !wall;
    }

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(word, units[i].word) != 0)
            continue;

        *unit = wall ? YK_CHECKPOINT_WALL_TIME : YK_CHECKPOINT_SIMULATED_TIME;
        *every = number * units[i].seconds;
        return true;
    }

    return false;
}

static void read_checkpoint(yk_scenario *scenario)
{
    yk_scenario_info *info = &scenario->info;
    const yk_node *section = yk_node_get(scenario->root, "checkpoint");
    if (!section || section->kind != YK_NODE_MAP || !section->valid)
        return;

    const yk_node *every = yk_node_get(section, "every");
    if (!read_distance(every->text, &info->checkpoint_unit, &info->checkpoint_interval)) {
        info->checkpoint_unit = YK_CHECKPOINT_NEVER;
        yk_node_error(scenario->resolver.diagnostics, every,
                      "'%.60s' does not say how often: write a number with a unit, `500 steps`, "
                      "`0.5 s` of simulated time, or `10 min wall`",
                      every->text);
        return;
    }

    const yk_node *file = yk_node_get(section, "file");
    if (file)
        info->checkpoint_file = yk_builder_output(&scenario->builder, file->text);
}

/* Loading -------------------------------------------------------------------------------------- */

yk_status yk_scenario_read_tree(yk_scenario *scenario, const yk_scenario_def *def)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    yk_store *store = &scenario->store;
    yk_source *source = &scenario->source;

    /* A text given by the program, with the name in the def. */
    if (def->text) {
        size_t length = strlen(def->text);
        *source = (yk_source){.has_lines = true, .length = length};
        source->name = yk_store_text(store, def->path, strlen(def->path));
        source->text = yk_store_text(store, def->text, length);
        if (!source->name || !source->text)
            return YK_ERROR_MEMORY;
    } else {
        yk_status status = yk_yaml_open(store, def->path, diagnostics, source);
        if (status != YK_OK || !source->text)
            return status;
    }

    yk_status status = yk_yaml_read(store, source, diagnostics, &scenario->root);

    /* Without a tree there is nothing to override, and the error has been reported. */
    if (!scenario->root)
        return status;

    /* Files first, so that overrides reach their values. */
    scenario->resolver.root = scenario->root;
    if (status == YK_OK) {
        yk_resolve_includes(&scenario->resolver);
        status = scenario->resolver.status;
    }

    /* Later overrides change the results of earlier ones. */
    for (int i = 0; status == YK_OK && i < def->override_count; i++)
        status = yk_override_apply(store, scenario->root, def->overrides[i], diagnostics);

    return status;
}

static const char *text_or_empty(const yk_node *root, const char *key)
{
    const yk_node *node = yk_node_get(root, key);
    if (!node || !node->valid)
        return "";
    return node->text;
}

/* From the tree to subsystems, interfaces, wires and channels. */
static yk_status interpret(yk_scenario *scenario, const yk_scenario_def *def)
{
    yk_resolver *r = &scenario->resolver;
    yk_store *store = &scenario->store;
    yk_builder *builder = &scenario->builder;
    *builder = (yk_builder){.store = store, .diagnostics = r->diagnostics, .scope = &r->scope};
    builder->to_rounding = def->iterate_to_rounding;
    builder->forbid_code = def->forbid_external_code;
    builder->unsettled = def->skip_settling;
    builder->see_settling = def->show_settling;
    builder->see_user = def->show_settling_user;
    builder->hosts = def->placement;
    builder->cache = def->cache;
    r->builder = builder;

    /* Paths are relative to the scenario's folder. */
    const char *path = scenario->source.name;
    size_t folder = yk_text_folder(path);
    builder->folder = "";
    if (folder > 0)
        builder->folder = yk_store_text(store, path, folder);
    if (!builder->folder)
        return YK_ERROR_MEMORY;

    /* Plug-ins first, because their schemes and solvers are words of the file. */
    yk_status status = yk_scenario_extend(scenario, def);
    if (status != YK_OK)
        return status;

    /* The keys of a scenario are those of its scheme. */
    const yk_extensions *extensions = &scenario->extensions;
    const yk_node *coupling = yk_node_get(scenario->root, "coupling");
    const yk_node *word = coupling ? yk_node_get(coupling, "scheme") : NULL;
    const yk_scheme_ops *scheme = NULL;
    if (word && word->text)
        scheme = yk_schemes_find(extensions, word->text);
    if (!scheme)
        scheme = yk_schemes_at(extensions, 0);

    /* So are those of its fallback scheme. */
    const yk_node *policy = coupling ? yk_node_get(coupling, "on_failure") : NULL;
    const yk_node *second = policy ? yk_node_get(policy, "scheme") : NULL;
    const yk_scheme_ops *fall_back = NULL;
    if (second && second->text)
        fall_back = yk_schemes_find(extensions, second->text);

    const yk_option_section *section = yk_scenario_section(store, extensions, scheme, fall_back);
    if (!section)
        return YK_ERROR_MEMORY;

    /* All errors of the file in one pass. */
    yk_take_templates(r);
    yk_resolve_section(r, scenario->root, section);
    if (r->status != YK_OK || scenario->root->kind != YK_NODE_MAP)
        return r->status;

    /* Included files are inputs, like files of data. */
    for (const yk_included_file *file = r->files; file; file = file->next)
        if (!yk_builder_file(builder, file->path))
            return YK_ERROR_MEMORY;

    /* General information of the file. */
    yk_scenario_info *info = &scenario->info;
    info->path = path;
    info->title = text_or_empty(scenario->root, "title");
    info->description = text_or_empty(scenario->root, "description");

    /* Each step uses the results of the previous ones. */
    void (*const steps[])(yk_scenario *) = {
        read_time,
        yk_scenario_read_coupling,
        yk_scenario_build_subsystems,
        yk_scenario_read_subsystem_lists,
        yk_scenario_read_interfaces,
        yk_scenario_make_copies,
        yk_scenario_read_wires,
        yk_scenario_read_channels,
        read_checkpoint,
    };

    /* Load subsystems only if other processes have the rest; if merged ones are distributed, load
     * everything. */
    bool alone = def->placement && !def->placement->create_proxy;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && r->status == YK_OK; i++) {
        steps[i](scenario);
        if (alone && !scenario->copies && steps[i] == yk_scenario_build_subsystems)
            break;
        if (alone && steps[i] == yk_scenario_make_copies)
            break;
    }

    /* A part of a scenario need not use all parameters. */
    if (r->status == YK_OK && !alone && yk_diagnostics_error_count(r->diagnostics) == 0)
        yk_report_unused_parameters(r, yk_node_get(scenario->root, "parameters"),
                                    def->override_count == 0);

    /* The caller owns the placement, which is valid during the load. */
    scenario->builder.hosts = NULL;
    return r->status;
}

/* The message for a scenario with errors: their number, and the first of them. */
static yk_status summarise_mistakes(const yk_scenario *scenario, const char *path)
{
    const yk_diagnostics *diagnostics = scenario->resolver.diagnostics;

    /* Warnings are no mistakes. */
    const yk_diagnostic *first = yk_diagnostics_at(diagnostics, 0);
    for (int i = 1; first->severity != YK_SEVERITY_ERROR; i++)
        first = yk_diagnostics_at(diagnostics, i);

    /* Overrides have a name and no line. */
    char location[80];
    if (first->line > 0)
        snprintf(location, sizeof location, "line %d", first->line);
    else
        snprintf(location, sizeof location, "%.70s", first->source);

    int count = yk_diagnostics_error_count(diagnostics);
    const char *plural = count > 1 ? "s" : "";
    const char *colon = first->path[0] ? ": " : "";
    return yk_fail(scenario->context, YK_ERROR_INPUT,
                   "%s has %d mistake%s, the first in %s: %s%s%s", path, count, plural, location,
                   first->path, colon, first->message);
}

yk_status yk_scenario_load(yk_context *context, const yk_scenario_def *def,
                           yk_diagnostics *diagnostics, yk_scenario **scenario)
{
    if (!scenario)
        return yk_refuse_null(context, __func__, "scenario");
    *scenario = NULL;
    if (!def)
        return yk_refuse_null(context, __func__, "def");
    if (!def->path)
        return yk_refuse_null(context, __func__, "def->path");

    yk_scenario *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;

    made->context = context;
    made->store.context = context;
    made->resolver = (yk_resolver){
        .store = &made->store, .refinement = def->refinement, .realization = def->realization};

    /* A caller without a list still gets the first error in the last message. */
    yk_diagnostics *own = NULL;
    yk_status status = YK_OK;
    if (!diagnostics) {
        status = yk_diagnostics_create(context, &own);
        diagnostics = own;
    }

    made->resolver.diagnostics = diagnostics;

    /* Warnings and errors remain in the list, in the order of the file. */
    if (status == YK_OK) {
        status = yk_scenario_read_tree(made, def);
        if (status == YK_OK && made->root)
            status = interpret(made, def);

        yk_diagnostics_sort(diagnostics);
        if (status == YK_OK && yk_diagnostics_failed(diagnostics))
            status = YK_ERROR_MEMORY;
        if (status == YK_OK && yk_diagnostics_error_count(diagnostics) > 0)
            status = summarise_mistakes(made, def->path);
    }

    made->resolver.diagnostics = NULL;
    yk_diagnostics_destroy(own);

    /* A scenario with errors is not returned. */
    if (status != YK_OK) {
        yk_scenario_destroy(made);
        return status;
    }
    *scenario = made;

    return YK_OK;
}

void yk_scenario_destroy(yk_scenario *scenario)
{
    if (!scenario)
        return;

    /* The system and copies of merged subsystems use the subsystems; these use the functions and
     * the code of plug-ins. */
    yk_system_destroy(scenario->system);
    for (int i = 0; scenario->copies && i < scenario->info.subsystem_count; i++) {
        yk_subsystem *copy = scenario->copies[i];
        if (copy)
            copy->ops->destroy(copy);
    }

    for (int i = 0; i < scenario->info.subsystem_count; i++) {
        yk_subsystem *subsystem = scenario->subsystems[i];
        if (subsystem)
            subsystem->ops->destroy(subsystem);
    }

    for (yk_scenario_function *f = scenario->builder.functions; f; f = f->next)
        yk_expression_destroy(f->expression);
    yk_scenario_close_plugins(scenario);
    yk_store_destroy(&scenario->store);
    yk_free(scenario->context, scenario);
}

/* Units ---------------------------------------------------------------------------------------- */

static const char *unit_word(double size, const double *sizes, const yk_option_choice *words)
{
    int i = 0;
    while (words[i + 1].name && sizes[i] != size)
        i++;
    return words[i].name;
}

yk_unit_name yk_scenario_own_unit(const yk_scenario *scenario, int subsystem, const char *unit,
                                  yk_unit_style style)
{
    const yk_transform *transform = &scenario->transforms[subsystem];
    const char *length = unit_word(transform->length_unit, yk_length_units, yk_length_words);
    const char *mass = unit_word(transform->mass_unit, yk_mass_units, yk_mass_words);
    return yk_unit_in(unit, length, mass, style);
}

/* The common unit of all values below a node that consist of the parameter only; NULL: none so far,
 * "": they disagree. */
static const char *unit_of_parameter(const yk_node *node, const char *name, const char *unit)
{
    bool own = node->kind == YK_NODE_SCALAR && node->unit && strcmp(node->text, name) == 0;
    if (own && unit && strcmp(unit, node->unit) != 0)
        return "";
    if (own)
        unit = node->unit;
    for (const yk_node *child = node->first; child; child = child->next)
        unit = unit_of_parameter(child, name, unit);
    return unit;
}

/* The node of a path such as "subsystems.left.mass"; NULL if there is none. */
static const yk_node *find_node(const yk_scenario *scenario, const char *path)
{
    /* Step by step: a key or a name up to the next '.', or an index in brackets. */
    const yk_node *node = scenario->root;
    while (node && *path) {
        const yk_node *child = node->first;
        if (*path == '[') {
            char *end;
            child = yk_node_at(node, (int)strtol(path + 1, &end, 10));
            path = end + (*end == ']');
        } else {
            size_t length = strcspn(path, ".[");
            for (; child; child = child->next) {
                const char *name = child->key;
                if (node->kind == YK_NODE_LIST)
                    name = yk_node_name(child);
                if (name && strlen(name) == length && strncmp(name, path, length) == 0)
                    break;
            }
            path += length;
        }

        node = child;
        path += *path == '.';
    }

    return node;
}

const char *yk_scenario_unit(const yk_scenario *scenario, const char *path)
{
    const yk_node *node = find_node(scenario, path);
    if (node && node->unit)
        return node->unit;

    /* A parameter without a unit has that of the values in which it is used. */
    static const char parameters[] = "parameters.";
    const char *unit = NULL;
    if (strncmp(path, parameters, strlen(parameters)) == 0)
        unit = unit_of_parameter(scenario->root, path + strlen(parameters), NULL);
    return unit ? unit : "";
}

/* Inputs --------------------------------------------------------------------------------------- */

/* "# 0123456789abcdef PATH", or "# - PATH" if the file cannot be read. */
static void add_file(yk_context *context, yk_text *text, const char *path)
{
    /* A hash of its contents lets a later run detect changes. */
    FILE *stream = yk_regular_open(NULL, path, YK_ERROR_FILE);
    uint64_t hash = YK_HASH_START;
    char bytes[16384];
    size_t got = 0;
    while (stream && (got = fread(bytes, 1, sizeof bytes, stream)) > 0)
        hash = yk_hash_bytes(hash, bytes, got);

    if (stream && !ferror(stream))
        yk_text_add(context, text, "# %016" PRIx64 " %s\n", hash, path);
    else
        yk_text_add(context, text, "# - %s\n", path);
    if (stream)
        fclose(stream);
}

char *yk_scenario_inputs(const yk_scenario *scenario)
{
    yk_context *context = scenario->context;
    const yk_scenario_info *info = &scenario->info;
    yk_text text = {0};
    yk_text_add(context, &text, "# version %s\n# scenario %s\n", yk_version(), info->path);

    /* The list begins with the last; results and checkpoints are in it too, but are not inputs. */
    for (const yk_scenario_input *file = scenario->builder.files; file; file = file->next) {
        yk_text path = {0};
        const char *folder = file->whole == file->path ? "" : scenario->builder.folder;
        yk_text_add(context, &path, "%s%s", folder, file->path);
        const char *name = path.data ? path.data : "";
        bool record = info->record_file && !strcmp(name, info->record_file);
        bool checkpoint = info->checkpoint_file && !strcmp(name, info->checkpoint_file);
        if (path.failed)
            text.failed = true;
        else if (!record && !checkpoint)
            add_file(context, &text, path.data);
        yk_text_destroy(context, &path);
    }

    /* Code that was run is an input, like data. */
    for (int i = 0; i < info->plugin_count; i++)
        add_file(context, &text, info->plugins[i].path);

    if (!text.failed)
        return text.data;

    yk_text_destroy(context, &text);
    return NULL;
}

/* Expressions without a value ------------------------------------------------------------------ */

/* Times within a step at which expressions are checked: the ends and the middle, at which solvers
 * evaluate most functions, and some between. */
enum { MOMENTS = 9 };

bool yk_scenario_find_undefined(const yk_scenario *scenario, double t, double h, char *what,
                                size_t capacity)
{
    for (int i = 0; i < MOMENTS; i++) {
        double moment = t + h * i / (MOMENTS - 1);
        for (const yk_scenario_function *f = scenario->builder.functions; f; f = f->next) {
            if (!f->of_time)
                continue;

            double value = yk_expression_value(f->expression, &moment);
            if (isfinite(value))
                continue;

            /* The location as in other messages: file and line, or the override. */
            yk_location location = yk_node_location(f->node);
            char line[32] = "";
            if (location.source->has_lines)
                snprintf(line, sizeof line, ":%d:%d", location.line, location.column);
            char path[YK_PATH_MAX];
            const char *kind = "infinite";
            if (isnan(value))
                kind = "not a number";
            yk_format(
                what, capacity,
                "%.200s%s: %s: '%.200s' is %s at t = %g s; give it a value for the whole run, "
                "as a condition 'a ? b : c' can",
                location.source->name, line, yk_node_path(f->node, path), f->node->text, kind,
                moment);
            return true;
        }
    }

    return false;
}
