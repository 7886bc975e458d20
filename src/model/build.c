/* Builds the subsystems from their sections, and the coupled system from the scenario. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "coupling/system_arrays.h"
#include "model/scenario.h"

/* Functions for builders ----------------------------------------------------------------------- */

yk_context *yk_builder_context(const yk_builder *builder)
{
    return builder->store->context;
}

double yk_builder_length_unit(const yk_node *section)
{
    const yk_node *units = yk_node_get(section, "units");
    return units ? yk_length_units[yk_node_choice(units, "length")] : 1;
}

void *yk_builder_take(yk_builder *builder, size_t bytes)
{
    return yk_store_take(builder->store, bytes);
}

yk_status yk_builder_error(yk_builder *builder, const yk_node *node, const char *format, ...)
{
    /* A lack of memory is not an error of the scenario. */
    if (yk_last_status(builder->store->context) == YK_ERROR_MEMORY)
        return YK_ERROR_MEMORY;

    char message[512];
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(message, sizeof message, format, arguments);
    va_end(arguments);

    yk_node_error(builder->diagnostics, node, "%s", message);
    return yk_fail(builder->store->context, YK_ERROR_INPUT, "%s", message);
}

void yk_builder_note_impacts(yk_builder *builder)
{
    builder->impacts = true;
}

void yk_builder_note_partner(yk_builder *builder)
{
    builder->partners = true;
}

yk_cache *yk_builder_cache(const yk_builder *builder)
{
    return builder->cache;
}

static double constant_value(void *user, double t)
{
    (void)t;
    return *(const double *)user;
}

yk_status yk_builder_function_of(yk_builder *builder, const yk_node *node,
                                 yk_time_function *function)
{
    *function = (yk_time_function){0};

    /* A constant needs no expression, and zero no function. */
    if (node->value_count == 1) {
        if (node->value == 0)
            return YK_OK;

        /* The function points to its number, which lives as long as the scenario. */
        double *value = yk_store_take(builder->store, sizeof *value);
        if (!value)
            return YK_ERROR_MEMORY;

        *value = node->value;
        *function = (yk_time_function){.evaluate = constant_value, .user = value};
        return YK_OK;
    }

    static const char *const time_variable[] = {"t"};
    yk_expression *expression;
    yk_status status = yk_builder_expression(builder, node, time_variable, 1, &expression);
    if (status != YK_OK)
        return status;

    *function = yk_expression_function(expression);
    return YK_OK;
}

yk_status yk_builder_function(yk_builder *builder, const yk_node *section, const char *key,
                              yk_time_function *function)
{
    *function = (yk_time_function){0};
    const yk_node *node = yk_node_get(section, key);
    if (!node)
        return YK_OK;
    return yk_builder_function_of(builder, node, function);
}

yk_status yk_builder_expression(yk_builder *builder, const yk_node *node,
                                const char *const *variables, int count, yk_expression **expression)
{
    yk_context *context = builder->store->context;
    yk_scenario_function *entry = yk_store_take(builder->store, sizeof *entry);
    if (!entry)
        return YK_ERROR_MEMORY;

    /* Parameters are known everywhere; the caller passes the variables. */
    yk_scope scope = *builder->scope;
    scope.variables = variables;
    scope.variable_count = count;
    yk_expression_error error;
    yk_status status = yk_expression_create(context, node->text, &scope, &error, expression);
    if (status == YK_ERROR_INPUT)
        return yk_builder_error(builder, node, "%s", error.message);
    if (status != YK_OK)
        return status;

    /* Values with a unit are in SI. */
    double factor;
    char message[YK_QUANTITY_MESSAGE];
    if (!yk_quantity_fits(yk_expression_quantity(*expression), node->unit, node->own_length,
                          node->own_mass, &factor, message)) {
        yk_expression_destroy(*expression);
        *expression = NULL;
        return yk_builder_error(builder, node, "%s", message);
    }

    yk_expression_scale(*expression, factor);

    /* The scenario destroys it, after the subsystems that use it. */
    *entry = (yk_scenario_function){
        .expression = *expression,
        .node = node,
        .of_time = count == 1,
        .next = builder->functions,
    };
    builder->functions = entry;

    return YK_OK;
}

const char *yk_builder_path(yk_builder *builder, const yk_node *section, const char *key)
{
    return yk_builder_file(builder, yk_node_text(section, key));
}

const char *yk_builder_output(yk_builder *builder, const char *path)
{
    if (path[0] == '/')
        return path;

    /* Relative paths start at the folder of the scenario, wherever the program was started. */
    size_t folder = strlen(builder->folder);
    size_t rest = strlen(path);
    char *whole = yk_store_take(builder->store, folder + rest + 1);
    if (!whole)
        return NULL;

    memcpy(whole, builder->folder, folder);
    memcpy(whole + folder, path, rest);
    return whole;
}

/* `whole`: path relative to the present folder. */
static const char *add_input(yk_builder *builder, const char *path, const char *whole, bool code)
{
    yk_scenario_input *input = yk_store_take(builder->store, sizeof *input);
    if (!input || !whole)
        return NULL;

    *input =
        (yk_scenario_input){.path = path, .whole = whole, .code = code, .next = builder->files};
    builder->files = input;
    return whole;
}

const char *yk_builder_file(yk_builder *builder, const char *path)
{
    return add_input(builder, path, yk_builder_output(builder, path), false);
}

/* Loaded code has all rights of the process, wherever the file is. */
static yk_status add_code(yk_builder *builder, const yk_node *node, const char *whole,
                          const char **path)
{
    if (builder->forbid_code)
        return yk_builder_error(builder, node,
                                "is not loaded: FMUs, libraries and plug-ins are forbidden here, "
                                "because they run with all rights of the program");

    *path = add_input(builder, node->text, whole, true);
    return *path ? YK_OK : YK_ERROR_MEMORY;
}

yk_status yk_builder_code(yk_builder *builder, const yk_node *node, const char **path)
{
    return add_code(builder, node, yk_builder_output(builder, node->text), path);
}

yk_status yk_builder_library(yk_builder *builder, const yk_node *node, const char **path)
{
    /* The loader searches a name without a slash in its own folders. */
    if (strchr(node->text, '/'))
        return yk_builder_code(builder, node, path);
    return add_code(builder, node, node->text, path);
}

bool yk_builder_leaves_unsettled(const yk_builder *builder)
{
    return builder->unsettled;
}

void yk_builder_show_settling(const yk_builder *builder, const struct yk_settling *settling)
{
    if (builder->see_settling)
        builder->see_settling(builder->see_user, settling);
}

/* Names ---------------------------------------------------------------------------------------- */

/* Entries begin with their name. */
static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void yk_names_sort(yk_names *names)
{
    qsort(names->entries, (size_t)names->count, sizeof *names->entries, compare_names);
}

const yk_names *yk_builder_names(yk_builder *builder, const yk_node *collection)
{
    size_t count = 0;
    const yk_node *first = NULL;
    if (collection) {
        count = (size_t)collection->count;
        first = collection->first;
    }

    /* A missing collection has no names, and a reference to it gets a message. */
    yk_names *names = yk_store_take(builder->store, sizeof *names + count * sizeof *names->entries);
    if (!names)
        return NULL;

    /* In the order of the collection; sorting keeps the index with the name. */
    for (const yk_node *item = first; item; item = item->next) {
        names->entries[names->count].name = yk_node_name(item);
        names->entries[names->count].index = names->count;
        names->count++;
    }

    yk_names_sort(names);
    return names;
}

int yk_builder_find(yk_builder *builder, const yk_names *names, const yk_node *reference,
                    const char *what, const char *also)
{
    /* Bisection: the names are sorted. */
    int low = 0;
    int high = names->count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int order = strcmp(reference->text, names->entries[middle].name);
        if (order == 0)
            return names->entries[middle].index;
        if (order > 0)
            low = middle + 1;
        else
            high = middle - 1;
    }

    /* Not found: the message suggests the nearest name, or lists all. */
    const char *list[YK_SUGGESTED_MAX];
    int count = 0;
    if (also)
        list[count++] = also;

    for (int i = 0; i < names->count && count < YK_SUGGESTED_MAX; i++)
        list[count++] = names->entries[i].name;
    yk_builder_error(builder, reference, "%s '%.60s' not found. %s", what, reference->text,
                     yk_suggest_name(reference->text, list, count).text);

    return -1;
}

/* Subsystems ----------------------------------------------------------------------------------- */

/* Whether an interface connects the subsystem with another; schemes that merge make one of both. */
static bool is_joined(const yk_scenario *scenario, const char *name)
{
    const yk_node *list = yk_node_get(scenario->root, "interfaces");
    if (!list || list->kind == YK_NODE_SCALAR)
        return false;

    /* Sides are written as "subsystem.port". */
    size_t length = strlen(name);
    for (const yk_node *item = list->first; item; item = item->next) {
        const yk_node *between = yk_node_get(item, "between");
        if (!between || !between->valid)
            continue;

        for (const yk_node *side = between->first; side; side = side->next)
            if (strncmp(side->text, name, length) == 0 && side->text[length] == '.')
                return true;
    }

    return false;
}

/* Steps of a subsystem per macro step: `substeps` as written, the number that keeps its steps
 * within `max_substep`, or the number that the scheme recommends for this subsystem. */
static int read_substeps(yk_scenario *scenario, const yk_node *node, const yk_subsystem *subsystem)
{
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    const yk_scheme_def *scheme = &scenario->info.scheme;
    const yk_node *max_substep = yk_node_get(node, "max_substep");
    const yk_node *substeps = yk_node_get(node, "substeps");

    /* The scheme's recommendation; without interfaces there is no coupling. */
    int usual = 1;
    int fewest = 1;
    bool joined = yk_node_get(scenario->root, "interfaces");
    if (joined && subsystem && scheme->ops->default_substeps)
        usual = scheme->ops->default_substeps(scheme->options, subsystem, &fewest);

    /* From the longest step. A quotient that differs from a whole number by rounding errors is that
     * number. */
    if (max_substep) {
        double step = scenario->info.step;
        double count = ceil(step / max_substep->value - 1e-9);
        if (substeps)
            yk_node_error(diagnostics, max_substep, "replaces 'substeps': remove one of the two");
        else if (!(count < 1e6))
            yk_node_error(diagnostics, max_substep,
                          "is more than a million times in time.step = %g s", step);

        /* At least the recommendation of the scheme. */
        count = fmax(count, usual);
        return count < 1e6 ? (int)count : 1;
    }

    /* By their number. */
    if (!substeps)
        return usual;
    if (substeps->value < fewest)
        yk_node_error(diagnostics, substeps,
                      "is too few for the scheme %s, which needs at least %d of this integrator: "
                      "leave the key out, or choose an integrator whose steps follow forces that "
                      "change within them",
                      scheme->ops->name, fewest);

    return (int)substeps->value;
}

/* The first of the subsystems that interfaces connect with each one, directly or through others. */
static void find_leaders(const yk_scenario *scenario, const char *const *names, int count,
                         int *leader)
{
    for (int i = 0; i < count; i++)
        leader[i] = i;

    /* Each interface gives both sides the smaller one, until nothing changes. Sides are written as
     * "subsystem.port". */
    const yk_node *list = yk_node_get(scenario->root, "interfaces");
    bool readable = list && list->kind != YK_NODE_SCALAR;
    for (bool changed = readable; changed;) {
        changed = false;
        for (const yk_node *item = list->first; item; item = item->next) {
            const yk_node *between = yk_node_get(item, "between");
            int *sides[2] = {NULL, NULL};
            const yk_node *side = NULL;
            if (between && between->valid)
                side = between->first;
            for (int k = 0; k < 2 && side; k++, side = side->next) {
                size_t length = strcspn(side->text, ".");
                for (int i = 0; i < count; i++)
                    if (strlen(names[i]) == length && strncmp(names[i], side->text, length) == 0)
                        sides[k] = &leader[i];
            }

            if (!sides[0] || !sides[1] || *sides[0] == *sides[1])
                continue;

            int least = *sides[0] < *sides[1] ? *sides[0] : *sides[1];
            *sides[0] = least;
            *sides[1] = least;
            changed = true;
        }
    }
}

/* The process of each subsystem: as in the scenario, or as the placement decides. NULL: all are in
 * this process, or the resolver has an error status. */
static int *place_subsystems(yk_scenario *scenario, const yk_node *list)
{
    const yk_subsystem_placement *hosts = scenario->builder.hosts;
    yk_resolver *r = &scenario->resolver;
    if (!hosts)
        return NULL;

    size_t size = (size_t)list->count;
    int *ranks = yk_resolver_take(r, size * sizeof *ranks);
    int *leader = yk_resolver_take(r, size * sizeof *leader);
    const char **names = yk_resolver_take(r, size * sizeof *names);
    unsigned traits = yk_scheme_traits(&scenario->info.scheme);

    /* Parts of a merged system may be on several ranks, which then have copies of the whole. */
    if (traits & YK_SCHEME_DISTRIBUTES_PARTS) {
        scenario->copies = yk_resolver_take(r, size * sizeof *scenario->copies);
        scenario->served = yk_resolver_take(r, size * sizeof *scenario->served);
    }

    if (r->status != YK_OK)
        return NULL;

    /* A section without a name keeps its index; the schema reports the error. */
    int count = 0;
    for (const yk_node *node = list->first; node; node = node->next, count++) {
        names[count] = yk_node_name(node);
        if (!names[count])
            names[count] = "";
    }

    find_leaders(scenario, names, count, leader);

    /* The rank in the section; -1: the placement decides. */
    int index = 0;
    for (const yk_node *node = list->first; node; node = node->next, index++) {
        const yk_node *rank = yk_node_get(node, "mpi_rank");
        ranks[index] = -1;
        if (rank && rank->valid)
            ranks[index] = (int)rank->value;

        /* The rank must exist; another start may have more ranks. */
        if (ranks[index] >= hosts->rank_count) {
            yk_node_error(r->diagnostics, rank, "there are %d ranks, 0 to %d", hosts->rank_count,
                          hosts->rank_count - 1);
            ranks[index] = 0;
        }

        /* Subsystems that a scheme merges are in one process, unless the scheme distributes their
         * parts. */
        if (!(traits & YK_SCHEME_MERGES) || !is_joined(scenario, names[index]))
            continue;
        if (traits & YK_SCHEME_DISTRIBUTES_PARTS && leader[index] != index)
            continue;

        if (ranks[index] > 0 && traits & YK_SCHEME_DISTRIBUTES_PARTS)
            yk_node_warning(r->diagnostics, rank,
                            "is not used: this scheme merges the subsystems that interfaces join, "
                            "and the first of them is on rank 0; the others may be elsewhere");
        else if (ranks[index] > 0)
            yk_node_warning(r->diagnostics, rank,
                            "is not used: this scheme merges the subsystems that interfaces join, "
                            "which are then on rank 0; other schemes keep them apart");
        ranks[index] = 0;
    }

    r->status = hosts->place(hosts->user, scenario->context, names, count, ranks);
    return ranks;
}

/* Replaces the SI units of a value, or of all values in a section, by those of the subsystem. */
static void label_own_units(yk_resolver *r, yk_node *node, const char *length, const char *mass)
{
    if (node->unit) {
        yk_unit_name own = yk_unit_in(node->unit, length, mass, YK_UNIT_PLAIN);
        node->unit = yk_store_text(r->store, own.text, strlen(own.text));
        if (!node->unit)
            r->status = YK_ERROR_MEMORY;
    }

    for (yk_node *child = node->first; child; child = child->next)
        label_own_units(r, child, length, mass);
}

/* Builds the subsystem of a valid section, by a kind of the library or by an external solver, or
 * its stand-in if another process computes it. */
static void build_one(yk_scenario *scenario, int index, const yk_node *node, int rank)
{
    const yk_subsystem_placement *hosts = scenario->builder.hosts;
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    yk_builder *builder = &scenario->builder;
    yk_subsystem **subsystem = &scenario->subsystems[index];

    /* The subsystem itself, by a kind of the library or by an external solver. */
    int errors_before = yk_diagnostics_error_count(diagnostics);
    int outside = node->choice - yk_solver_kind_count;
    bool elsewhere = hosts && rank != hosts->rank;

    /* Parts of a merged and distributed system are on all ranks: each rank builds the whole. */
    if (scenario->copies && is_joined(scenario, yk_node_name(node)))
        elsewhere = false;
    yk_status status = YK_OK;
    if (outside < 0)
        scenario->solvers[index] = yk_solver_kinds[node->choice]->section->name;
    else
        scenario->solvers[index] = scenario->extensions.solvers[outside]->name;

    /* After an error in the scenario no partner is needed. */
    if (elsewhere && (!hosts->create_proxy || errors_before > 0))
        return;
    if (elsewhere)
        status = hosts->create_proxy(hosts->user, scenario->context, yk_node_name(node), index,
                                     rank, subsystem);
    else if (outside < 0)
        status = yk_solver_kinds[node->choice]->build(builder, node, subsystem);
    else
        status = yk_solver_build(builder, scenario->extensions.solvers[outside], node, subsystem);
    scenario->info.has_impacts = builder->impacts;
    scenario->info.partners = builder->partners;

    /* Builders report errors at their locations; other failures are reported at the section. */
    bool reported = yk_diagnostics_error_count(diagnostics) > errors_before;
    if (status == YK_ERROR_MEMORY)
        scenario->resolver.status = status;
    else if (YK_FAILED(status) && !reported)
        yk_node_error(diagnostics, node, "%s", yk_last_message(scenario->context));

    /* Units and axes. */
    const yk_node *units = yk_node_get(node, "units");
    const yk_node *pose = yk_node_get(node, "pose");
    yk_transform transform = yk_transform_identity();
    if (units) {
        int length = yk_node_choice(units, "length");
        int mass = yk_node_choice(units, "mass");
        transform.length_unit = yk_length_units[length];
        transform.mass_unit = yk_mass_units[mass];
        for (yk_node *child = node->first; child; child = child->next)
            if (child != pose)
                label_own_units(&scenario->resolver, child, yk_length_words[length].name,
                                yk_mass_words[mass].name);
    }

    if (pose) {
        transform.position = yk_node_vector(pose, "position");
        transform.orientation = yk_node_orientation(pose, "orientation");
    }

    scenario->transforms[index] = transform;

    /* Steps. Those of merged subsystems are equal. */
    int substeps = read_substeps(scenario, node, *subsystem);
    scenario->substeps[index] = substeps;
    if (units || pose || substeps > 1)
        scenario->placed = true;

    /* The number of steps has no effect for a subsystem that is merged with others. */
    const yk_node *named = yk_node_get(node, "substeps");
    bool merges = yk_scheme_traits(&scenario->info.scheme) & YK_SCHEME_MERGES;
    if (merges && named && named->value > 1 && is_joined(scenario, yk_node_name(node)))
        yk_node_warning(diagnostics, named,
                        "is not used: this scheme merges the subsystems, which then make the same "
                        "steps");
}

void yk_scenario_build_subsystems(yk_scenario *scenario)
{
    yk_resolver *r = &scenario->resolver;
    const yk_node *list = yk_node_get(scenario->root, "subsystems");
    if (!list || list->kind == YK_NODE_SCALAR || list->count > YK_SUBSYSTEMS_MAX)
        return;

    /* All lists are as long as that of the sections. */
    size_t count = (size_t)list->count;
    scenario->subsystems = yk_resolver_take(r, count * sizeof *scenario->subsystems);
    scenario->names = yk_resolver_take(r, count * sizeof *scenario->names);
    scenario->solvers = yk_resolver_take(r, count * sizeof *scenario->solvers);
    scenario->transforms = yk_resolver_take(r, count * sizeof *scenario->transforms);
    scenario->substeps = yk_resolver_take(r, count * sizeof *scenario->substeps);
    if (r->status != YK_OK)
        return;

    scenario->ranks = place_subsystems(scenario, list);

    /* A section with errors keeps its index, without a subsystem. */
    yk_scenario_info *info = &scenario->info;
    for (const yk_node *node = list->first; node && r->status == YK_OK; node = node->next) {
        const char *name = yk_node_name(node);
        int index = info->subsystem_count++;
        scenario->names[index] = name ? name : "";
        scenario->solvers[index] = "";
        if (node->valid && name)
            build_one(scenario, index, node, scenario->ranks ? scenario->ranks[index] : 0);
    }

    /* Names for the user. */
    info->subsystem_names = scenario->names;
    info->subsystem_solvers = scenario->solvers;
    info->subsystems = scenario->subsystems;
    info->transforms = scenario->transforms;
}

/* The system ----------------------------------------------------------------------------------- */

/* The same data as plain arrays. */
static yk_system_description describe(const yk_scenario *scenario)
{
    const yk_scenario_info *info = &scenario->info;
    yk_system_description def = {
        .subsystems = scenario->subsystems,
        .copies = scenario->copies,
        .names = info->subsystem_names,
        .subsystem_count = info->subsystem_count,
        .interfaces = info->interfaces,
        .interface_count = info->interface_count,
        .wires = info->wires,
        .wire_count = info->wire_count,
        .scheme = info->scheme,
        .start = info->start,
        .step = info->step,
        .control = info->step_control,
        .on_failure = info->on_failure,
    };

    /* If nothing is placed, there are no transforms between the subsystems and the system. */
    if (scenario->placed) {
        def.transforms = scenario->transforms;
        def.substeps = scenario->substeps;
    }

    return def;
}

void yk_scenario_make_copies(yk_scenario *scenario)
{
    const yk_subsystem_placement *hosts = scenario->builder.hosts;
    yk_resolver *r = &scenario->resolver;
    if (!scenario->copies || yk_diagnostics_error_count(r->diagnostics) > 0)
        return;

    /* Rank 0 has stand-ins for the subsystems of the other ranks. */
    const yk_system_description def = describe(scenario);
    const yk_node *node = yk_node_get(scenario->root, "subsystems")->first;
    for (int i = 0; i < scenario->info.subsystem_count; i++, node = node->next) {
        yk_subsystem **copy = &scenario->copies[i];
        bool is_here = scenario->ranks[i] == hosts->rank;
        if (!is_joined(scenario, scenario->names[i])) {
            scenario->served[i] = scenario->subsystems[i];
            continue;
        }

        yk_status status = YK_OK;
        if (hosts->create_proxy && !is_here)
            status = hosts->create_proxy(hosts->user, scenario->context, scenario->names[i], i,
                                         scenario->ranks[i], copy);
        else if (!hosts->create_proxy && is_here)
            status = yk_system_make_copy(scenario->context, &def, i, copy);

        /* Rank 0 reports the failures of other ranks with their messages. */
        if (status == YK_ERROR_MEMORY || !hosts->create_proxy)
            r->status = status;
        else if (YK_FAILED(status))
            yk_node_error(r->diagnostics, node, "%s", yk_last_message(scenario->context));
        if (status != YK_OK)
            return;

        scenario->served[i] = *copy;
    }

    /* Other ranks serve the copies that they have made. */
    if (!hosts->create_proxy)
        scenario->info.subsystems = scenario->served;
}

yk_status yk_scenario_system(yk_scenario *scenario, yk_system **system)
{
    if (scenario->system) {
        *system = scenario->system;
        return YK_OK;
    }

    yk_system_description def = describe(scenario);
    yk_status status = yk_system_make(scenario->context, &def, &scenario->system);
    if (YK_FAILED(status))
        return status;

    *system = scenario->system;
    return YK_OK;
}
