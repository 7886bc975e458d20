/* Loading a scenario: read, override, resolve against the schema, build, cross-check. */
#include "model/scenario.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/override.h"
#include "model/yaml.h"

yk_scenario_def yk_scenario_default(void)
{
    return (yk_scenario_def){.path = "scenario.yaml"};
}

const yk_scenario_info *yk_scenario_get(const yk_scenario *scenario)
{
    return &scenario->info;
}

int yk_find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* Time and coupling ---------------------------------------------------------------------------- */

/* A number of steps so near to a whole one that only rounding keeps it from being one. */
static bool is_whole(double steps)
{
    return fabs(steps - round(steps)) <= 1e-9 * fmax(1, steps);
}

static void read_control(yk_scenario *scenario, const yk_node *time)
{
    yk_step_control *control = &scenario->info.control;
    const yk_node *smallest = yk_node_get(time, "smallest"), *events = yk_node_get(time, "events");
    const yk_node *largest = yk_node_get(time, "largest");
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    *control = yk_step_control_default();
    control->tolerance = yk_node_number(time, "tolerance");
    if (smallest)
        control->smallest = smallest->value;
    if (control->smallest > scenario->info.step)
        yk_node_error(diagnostics, smallest,
                      "the smallest step (%g s) is longer than the step (%g s)", smallest->value,
                      scenario->info.step);
    if (largest)
        control->largest = largest->value;
    if (control->largest > scenario->info.step || (largest && control->largest < control->smallest))
        yk_node_error(
            diagnostics, largest,
            "the largest step (%g s) must lie between the smallest (%g s) and the step (%g s)",
            control->largest, control->smallest, scenario->info.step);
    if (!events)
        return;
    control->events = events->values, control->event_count = events->value_count;
    for (int i = 1; i < control->event_count; i++)
        if (!(events->values[i] > events->values[i - 1])) {
            yk_node_error(diagnostics, events, "must be in ascending order, but %g follows %g",
                          events->values[i], events->values[i - 1]);
            return;
        }
}

void yk_scenario_read_time(yk_scenario *scenario)
{
    const yk_node *time = yk_node_get(scenario->root, "time");
    if (!time || !time->valid)
        return;
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_node *end = yk_node_get(time, "end"), *step = yk_node_get(time, "step");
    yk_scenario_info *info = &scenario->info;
    info->start = yk_node_number(time, "start");
    info->step = step->value;
    read_control(scenario, time);
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
        yk_node_warning(
            diagnostics, end,
            "is not a whole number of steps of %g s; the run takes %.0f steps and ends at %g s",
            step->value, ceil(steps), info->start + ceil(steps) * step->value);
    else
        steps = round(steps);
    if (steps < 1e15)
        info->steps = (int64_t)ceil(steps);
    info->end = info->start + (double)info->steps * info->step;
}

/* Loading -------------------------------------------------------------------------------------- */

static yk_status read_source(yk_scenario *scenario, const yk_scenario_def *def)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    if (!def->text) {
        yk_status status =
            yk_yaml_open(&scenario->store, def->path, diagnostics, &scenario->source);
        if (status != YK_OK || !scenario->source.text)
            return status;
    } else {
        size_t length = strlen(def->text);
        scenario->source = (yk_source){.has_lines = true, .length = length};
        scenario->source.name = yk_store_text(&scenario->store, def->path, strlen(def->path));
        scenario->source.text = yk_store_text(&scenario->store, def->text, length);
        if (!scenario->source.name || !scenario->source.text)
            return YK_ERROR_MEMORY;
    }
    return yk_yaml_read(&scenario->store, &scenario->source, diagnostics, &scenario->root);
}

static yk_status apply_overrides(yk_scenario *scenario, const yk_scenario_def *def)
{
    for (int i = 0; i < def->override_count; i++) {
        yk_status status = yk_override_apply(&scenario->store, scenario->root, def->overrides[i],
                                             scenario->resolver.diagnostics);
        if (status != YK_OK)
            return status;
    }
    return YK_OK;
}

static const char *text_or_empty(const yk_node *root, const char *key)
{
    const yk_node *node = yk_node_get(root, key);
    return node && node->valid ? node->text : "";
}

/* The part of the path up to its last '/'. */
static const char *folder_of(yk_store *store, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? yk_store_text(store, path, (size_t)(slash - path) + 1) : "";
}

static yk_status interpret(yk_scenario *scenario, const yk_scenario_def *def)
{
    yk_resolver *r = &scenario->resolver;
    yk_scenario_info *info = &scenario->info;
    scenario->builder =
        (yk_builder){.store = &scenario->store, .diagnostics = r->diagnostics, .scope = &r->scope};
    scenario->builder.folder = folder_of(&scenario->store, scenario->source.name);
    scenario->builder.to_rounding = def->to_rounding;
    scenario->builder.cache = def->cache;
    if (!scenario->builder.folder)
        return YK_ERROR_MEMORY;
    yk_status status = yk_scenario_extend(scenario, def);
    if (status != YK_OK)
        return status;

    /* The keys of a scenario are those of the scheme that it names. */
    const yk_node *coupling = yk_node_get(scenario->root, "coupling");
    const yk_node *word = coupling ? yk_node_get(coupling, "scheme") : NULL;
    const yk_scheme_ops *scheme =
        word && word->text ? yk_schemes_find(&scenario->extensions, word->text) : NULL;
    if (!scheme)
        scheme = yk_schemes_at(&scenario->extensions, 0);
    const yk_section *section =
        yk_scenario_section(&scenario->store, &scenario->extensions, scheme);
    if (!section)
        return YK_ERROR_MEMORY;
    yk_resolve_section(r, scenario->root, section);
    if (r->status != YK_OK || scenario->root->kind != YK_NODE_MAP)
        return r->status;
    info->path = scenario->source.name;
    info->title = text_or_empty(scenario->root, "title");
    info->description = text_or_empty(scenario->root, "description");
    void (*const steps[])(yk_scenario *) = {
        yk_scenario_read_time,        yk_scenario_read_coupling,
        yk_scenario_build_subsystems, yk_scenario_read_subsystem_lists,
        yk_scenario_read_interfaces,  yk_scenario_read_wires,
        yk_scenario_read_channels};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && r->status == YK_OK; i++)
        steps[i](scenario);
    return r->status;
}

static yk_status load(yk_scenario *scenario, const yk_scenario_def *def)
{
    yk_status status = read_source(scenario, def);
    if (status == YK_OK && scenario->root)
        status = apply_overrides(scenario, def);
    if (status == YK_OK && scenario->root)
        status = interpret(scenario, def);
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    yk_diagnostics_sort(diagnostics);
    if (status == YK_OK && yk_diagnostics_failed(diagnostics))
        status = YK_ERROR_MEMORY;
    if (status != YK_OK || yk_diagnostics_errors(diagnostics) == 0)
        return status;
    const yk_diagnostic *first = yk_diagnostics_get(diagnostics, 0);
    for (int i = 1; first->severity != YK_SEVERITY_ERROR; i++)
        first = yk_diagnostics_get(diagnostics, i);
    char place[80];
    if (first->line > 0)
        snprintf(place, sizeof place, "line %d", first->line);
    else
        snprintf(place, sizeof place, "%.70s", first->source);
    return yk_fail(scenario->context, YK_ERROR_INPUT,
                   "%s has %d mistake%s, the first in %s: %s%s%s", def->path,
                   yk_diagnostics_errors(diagnostics),
                   yk_diagnostics_errors(diagnostics) > 1 ? "s" : "", place, first->path,
                   first->path[0] ? ": " : "", first->message);
}

yk_status yk_scenario_load(yk_context *context, const yk_scenario_def *def,
                           yk_diagnostics *diagnostics, yk_scenario **scenario)
{
    *scenario = NULL;
    yk_scenario *made = yk_allocate(context, 1, sizeof *made);
    if (!made)
        return YK_ERROR_MEMORY;
    made->context = context;
    made->store.context = context;

    /* Who wants no list of mistakes still gets the first of them in the last message. */
    yk_diagnostics *own = NULL;
    yk_status status = diagnostics ? YK_OK : yk_diagnostics_create(context, &own);
    if (status >= 0) {
        made->resolver = (yk_resolver){.store = &made->store,
                                       .diagnostics = diagnostics ? diagnostics : own,
                                       .refinement = def->refinement};
        status = load(made, def);
        made->resolver.diagnostics = NULL;
    }
    yk_diagnostics_destroy(own);

    if (status < 0) {
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
    yk_system_destroy(scenario->system);
    for (int i = 0; i < scenario->info.subsystem_count; i++) {
        yk_subsystem *subsystem = scenario->subsystems[i];
        if (subsystem)
            subsystem->ops->destroy(subsystem);
    }
    for (yk_scenario_function *f = scenario->builder.functions; f; f = f->next)
        yk_expression_destroy(f->expression);
    yk_scenario_close_plugins(scenario);
    yk_store_destroy(&scenario->store);
    yk_release(scenario->context, scenario);
}
