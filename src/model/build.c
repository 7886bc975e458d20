/* Subsystems from their sections, and the coupled system from the scenario. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coupling/description.h"
#include "model/scenario.h"
#include "model/schema_words.h"

/* What builders use ---------------------------------------------------------------------------- */

yk_context *yk_builder_context(const yk_builder *builder)
{
    return builder->store->context;
}

void yk_builder_note_impacts(yk_builder *builder)
{
    builder->impacts = true;
}

yk_cache *yk_builder_cache(const yk_builder *builder)
{
    return builder->cache;
}

void *yk_builder_take(yk_builder *builder, size_t bytes)
{
    return yk_store_take(builder->store, bytes);
}

static double constant_value(void *user, double t)
{
    (void)t;
    return *(const double *)user;
}

static const char *const time_variable[] = {"t"};

yk_status yk_builder_function_of(yk_builder *builder, const yk_node *node, yk_function *function)
{
    *function = (yk_function){0};
    if (node->value_count == 1) {
        double *value = yk_store_take(builder->store, sizeof *value);
        if (!value)
            return YK_ERROR_MEMORY;
        *value = node->value;
        if (*value != 0)
            *function = (yk_function){.value = constant_value, .user = value};
        return YK_OK;
    }
    yk_scope scope = *builder->scope;
    scope.variables = time_variable, scope.variable_count = 1;
    yk_expression_error error;
    yk_scenario_function *entry = yk_store_take(builder->store, sizeof *entry);
    if (!entry)
        return YK_ERROR_MEMORY;
    yk_status status = yk_expression_create(builder->store->context, node->text, &scope, &error,
                                            &entry->expression);
    if (status != YK_OK)
        return status;
    entry->next = builder->functions;
    builder->functions = entry;
    *function = yk_expression_function(entry->expression);
    return YK_OK;
}

yk_status yk_builder_expression(yk_builder *builder, const yk_node *node,
                                const char *const *variables, int count, yk_expression **expression)
{
    yk_scope scope = *builder->scope;
    scope.variables = variables, scope.variable_count = count;
    yk_expression_error error;
    yk_scenario_function *entry = yk_store_take(builder->store, sizeof *entry);
    if (!entry)
        return YK_ERROR_MEMORY;
    yk_status status =
        yk_expression_create(builder->store->context, node->text, &scope, &error, expression);
    if (status == YK_ERROR_INPUT)
        return yk_builder_error(builder, node, "%s", error.message);
    if (status != YK_OK)
        return status;
    *entry = (yk_scenario_function){*expression, builder->functions};
    builder->functions = entry;
    return YK_OK;
}

yk_status yk_builder_function(yk_builder *builder, const yk_node *section, const char *key,
                              yk_function *function)
{
    const yk_node *node = yk_node_get(section, key);
    *function = (yk_function){0};
    return node ? yk_builder_function_of(builder, node, function) : YK_OK;
}

const char *yk_builder_path(yk_builder *builder, const yk_node *section, const char *key)
{
    return yk_builder_file(builder, yk_node_text(section, key));
}

const char *yk_builder_file(yk_builder *builder, const char *path)
{
    yk_scenario_file *file = yk_store_take(builder->store, sizeof *file);
    if (!file)
        return NULL;
    *file = (yk_scenario_file){path, builder->files};
    builder->files = file;
    if (path[0] == '/')
        return path;
    size_t folder = strlen(builder->folder), rest = strlen(path);
    char *whole = yk_store_take(builder->store, folder + rest + 1);
    if (!whole)
        return NULL;
    memcpy(whole, builder->folder, folder);
    memcpy(whole + folder, path, rest);
    return whole;
}

yk_status yk_builder_error(yk_builder *builder, const yk_node *node, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    yk_node_error(builder->diagnostics, node, "%s", message);
    return yk_fail(builder->store->context, YK_ERROR_INPUT, "%s", message);
}

/* Names ---------------------------------------------------------------------------------------- */

typedef struct name_entry {
    const char *name;
    int index;
} name_entry;

/* Sorted: models have thousands of references. */
struct yk_names {
    int count;
    name_entry entries[];
};

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const name_entry *)a)->name, ((const name_entry *)b)->name);
}

const yk_names *yk_builder_names(yk_builder *builder, const yk_node *collection)
{
    size_t count = collection ? (size_t)collection->count : 0;
    yk_names *names = yk_store_take(builder->store, sizeof *names + count * sizeof *names->entries);
    if (!names)
        return NULL;
    for (const yk_node *item = collection ? collection->first : NULL; item; item = item->next) {
        names->entries[names->count] = (name_entry){yk_node_name(item), names->count};
        names->count++;
    }
    qsort(names->entries, count, sizeof *names->entries, compare_entries);
    return names;
}

int yk_builder_find(yk_builder *builder, const yk_names *names, const yk_node *reference,
                    const char *what, const char *also)
{
    name_entry wanted = {reference->text, 0};
    const name_entry *found = bsearch(&wanted, names->entries, (size_t)names->count,
                                      sizeof *names->entries, compare_entries);
    if (found)
        return found->index;
    const char *list[YK_SUGGESTED_MAX];
    int count = 0;
    if (also)
        list[count++] = also;
    for (int i = 0; i < names->count && count < YK_SUGGESTED_MAX; i++)
        list[count++] = names->entries[i].name;
    yk_builder_error(builder, reference, "there is no %s '%.60s'; %s", what, reference->text,
                     yk_suggestion(reference->text, list, count).text);
    return -1;
}

/* Subsystems ----------------------------------------------------------------------------------- */

static bool read_transform(const yk_node *node, yk_transform *transform)
{
    *transform = yk_transform_default();
    const yk_node *units = yk_node_get(node, "units"), *frame = yk_node_get(node, "frame");
    if (units) {
        transform->length = yk_length_units[yk_node_choice(units, "length")];
        transform->mass = yk_mass_units[yk_node_choice(units, "mass")];
    }
    if (frame) {
        transform->position = yk_node_vector(frame, "position");
        transform->orientation = yk_node_orientation(frame, "orientation");
    }
    return units || frame;
}

/* Whether an interface joins the subsystem to another: schemes that merge make one of both. */
static bool is_joined(const yk_scenario *scenario, const char *name)
{
    const yk_node *list = yk_node_get(scenario->root, "interfaces");
    size_t length = strlen(name);
    for (const yk_node *item = list && list->kind != YK_NODE_SCALAR ? list->first : NULL; item;
         item = item->next) {
        const yk_node *between = yk_node_get(item, "between");
        if (!between || !between->valid)
            continue;
        for (const yk_node *side = between->first; side; side = side->next)
            if (strncmp(side->text, name, length) == 0 && side->text[length] == '.')
                return true;
    }
    return false;
}

static void check_merging(yk_scenario *scenario, const yk_node *node)
{
    const yk_node *substeps = yk_node_get(node, "substeps");
    bool merges = yk_scheme_traits(&scenario->info.scheme) & YK_SCHEME_MERGES;
    bool merged = merges && is_joined(scenario, yk_node_name(node));
    if (merged && substeps && substeps->value > 1)
        yk_node_warning(
            scenario->resolver.diagnostics, substeps,
            "is not used: this scheme merges the subsystems, which then make the same steps");
}

/* The steps named by `substeps`, or as many as the scheme usually takes of this subsystem. */
static int named_substeps(yk_scenario *scenario, const yk_node *substeps, int usual, int fewest)
{
    if (!substeps)
        return usual;
    if (substeps->value < fewest)
        yk_node_error(scenario->resolver.diagnostics, substeps,
                      "is too few for the scheme %s, which needs at least %d of this integrator: "
                      "leave the key out, or "
                      "choose an integrator whose steps follow forces that change within them",
                      scenario->info.scheme.ops->name, fewest);
    return (int)substeps->value;
}

static int read_substeps(yk_scenario *scenario, const yk_node *node, const yk_subsystem *subsystem)
{
    const yk_node *micro_step = yk_node_get(node, "micro_step"),
                  *substeps = yk_node_get(node, "substeps");
    const yk_scheme_def *scheme = &scenario->info.scheme;
    bool joined = yk_node_get(scenario->root, "interfaces");
    int usual = 1, fewest = 1;
    if (joined && subsystem && scheme->ops->substeps)
        usual = scheme->ops->substeps(scheme->options, subsystem, &fewest);
    if (!micro_step)
        return named_substeps(scenario, substeps, usual, fewest);

    double count = ceil(scenario->info.step / micro_step->value - 1e-9);
    if (substeps)
        yk_node_error(scenario->resolver.diagnostics, micro_step,
                      "stands in place of substeps: remove one of the two");
    else if (!(count < 1e6))
        yk_node_error(scenario->resolver.diagnostics, micro_step,
                      "is more than a million times in time.step = %g s", scenario->info.step);
    count = fmax(count, usual);
    return count < 1e6 ? (int)count : 1;
}

static void place_one(yk_scenario *scenario, int index, const yk_node *node)
{
    bool placed = read_transform(node, &scenario->transforms[index]);
    scenario->substeps[index] = read_substeps(scenario, node, scenario->subsystems[index]);
    scenario->placed = scenario->placed || placed || scenario->substeps[index] > 1;
    check_merging(scenario, node);
}

static void build_one(yk_scenario *scenario, int index, const yk_node *node)
{
    int before = yk_diagnostics_errors(scenario->resolver.diagnostics);
    yk_subsystem **subsystem = &scenario->subsystems[index];
    int outside = node->choice - YK_KIND_COUNT;
    yk_status status;
    if (outside >= 0) {
        const yk_solver_ops *ops = scenario->extensions.solvers[outside];
        scenario->solvers[index] = ops->name;
        status = yk_solver_build(&scenario->builder, ops, node, subsystem);
    } else {
        const yk_kind *kind = yk_kind_at(node->choice);
        scenario->solvers[index] = kind->section->name;
        status = kind->build(&scenario->builder, node, subsystem);
    }
    scenario->info.impacts = scenario->builder.impacts;
    bool reported = yk_diagnostics_errors(scenario->resolver.diagnostics) > before;
    if (status == YK_ERROR_MEMORY)
        scenario->resolver.status = status;
    else if (status < 0 && !reported)
        yk_node_error(scenario->resolver.diagnostics, node, "%s",
                      yk_last_message(scenario->context));
}

void yk_scenario_build_subsystems(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node *list = yk_node_get(scenario->root, "subsystems");
    if (!list || list->kind == YK_NODE_SCALAR || list->count > YK_SUBSYSTEMS_MAX)
        return;
    size_t count = (size_t)list->count;
    scenario->subsystems = yk_store_take(&scenario->store, count * sizeof *scenario->subsystems);
    scenario->names = yk_store_take(&scenario->store, count * sizeof *scenario->names);
    scenario->solvers = yk_store_take(&scenario->store, count * sizeof *scenario->solvers);
    scenario->transforms = yk_store_take(&scenario->store, count * sizeof *scenario->transforms);
    scenario->substeps = yk_store_take(&scenario->store, count * sizeof *scenario->substeps);
    if (!scenario->subsystems || !scenario->names || !scenario->solvers || !scenario->transforms ||
        !scenario->substeps) {
        r->status = YK_ERROR_MEMORY;
        return;
    }
    yk_scenario_info *info = &scenario->info;
    for (const yk_node *node = list->first; node && r->status == YK_OK; node = node->next) {
        const char *name = yk_node_name(node);
        int index = info->subsystem_count++;
        scenario->names[index] = name ? name : "";
        scenario->solvers[index] = "";
        if (!node->valid || !name)
            continue;
        build_one(scenario, index, node);
        place_one(scenario, index, node);
    }
    info->names = scenario->names;
    info->solvers = scenario->solvers;
    info->subsystems = scenario->subsystems;
    info->transforms = scenario->transforms;
}

/* The system ----------------------------------------------------------------------------------- */

yk_status yk_scenario_system(yk_scenario *scenario, yk_system **system)
{
    if (!scenario->system) {
        const yk_scenario_info *info = &scenario->info;
        yk_system_description def = {
            .subsystems = info->subsystems,
            .names = info->names,
            .subsystem_count = info->subsystem_count,
            .transforms = scenario->placed ? scenario->transforms : NULL,
            .substeps = scenario->placed ? scenario->substeps : NULL,
            .interfaces = info->interfaces,
            .interface_count = info->interface_count,
            .wires = info->wires,
            .wire_count = info->wire_count,
            .scheme = info->scheme,
            .start = info->start,
            .step = info->step,
            .control = info->control,
        };
        yk_status status = yk_system_make(scenario->context, &def, &scenario->system);
        if (status < 0)
            return status;
    }
    *system = scenario->system;
    return YK_OK;
}
