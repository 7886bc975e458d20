/* Solvers and schemes from outside the library: of the program that loads a scenario, and of the
 * plug-ins that it names. */
#include "model/scenario.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"

/* Tables --------------------------------------------------------------------------------------- */

/* Copies the list with one more slot; the old list remains in the store until the scenario ends. */
static void *grow(yk_store *store, const void *list, int count, size_t size)
{
    char *grown = yk_store_take(store, ((size_t)count + 1) * size);
    if (grown && count > 0)
        memcpy(grown, list, (size_t)count * size);
    return grown;
}

static yk_status check_solver(yk_context *context, const yk_solver_ops *ops)
{
    /* The table is that of this version of the library, and complete. */
    if (ops->size != sizeof *ops)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "a solver's table has %zu bytes, this library's %zu: rebuild it with the "
                       "headers of version %s",
                       ops->size, sizeof *ops, yk_version());
    if (!ops->name || !ops->description || !ops->create)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "solver %s has no name, no text or no function create in its table",
                       ops->name ? ops->name : "(unnamed)");
    if (ops->options_size > YK_SOLVER_OPTIONS_SIZE_MAX)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "solver %s has options of %zu bytes, the most are %d", ops->name,
                       ops->options_size, YK_SOLVER_OPTIONS_SIZE_MAX);

    for (const yk_option *row = ops->options; row && row->key; row++) {
        /* Option rows write into the struct, so their offsets must be inside it. */
        bool choice = row->kind == YK_OPTION_CHOICE;
        if (row->kind == YK_OPTION_SUBSYSTEMS || row->kind > YK_OPTION_FUNCTION ||
            !row->description || (choice && !row->choices) || row->size == 0 ||
            row->offset > ops->options_size || row->size > ops->options_size - row->offset)
            return yk_fail(context, YK_ERROR_CAPABILITY,
                           "solver %s: the row of '%s' needs a kind that solvers can have, a text, "
                           "an offset inside the struct and, as a choice, words",
                           ops->name, row->key);
    }

    return YK_OK;
}

static yk_status add_solver(yk_scenario *scenario, const yk_solver_ops *ops)
{
    yk_extensions *known = &scenario->extensions;
    yk_status status = check_solver(scenario->context, ops);
    if (status != YK_OK)
        return status;

    /* The word after `solver:` must be unique. */
    bool exists = false;
    for (int i = 0; i < yk_solver_kind_count; i++)
        exists = exists || strcmp(yk_solver_kinds[i]->section->name, ops->name) == 0;

    for (int i = 0; i < known->solver_count; i++)
        exists = exists || strcmp(known->solvers[i]->name, ops->name) == 0;
    if (exists)
        return yk_fail(scenario->context, YK_ERROR_ARGUMENT, "there is a solver '%s' already",
                       ops->name);

    /* Its index follows those of the library: see build_one(). */
    known->solvers = grow(&scenario->store, known->solvers, known->solver_count, sizeof ops);
    if (!known->solvers)
        return YK_ERROR_MEMORY;

    known->solvers[known->solver_count++] = ops;
    return YK_OK;
}

static yk_status add_scheme(yk_scenario *scenario, const yk_scheme_ops *ops)
{
    yk_extensions *known = &scenario->extensions;
    yk_status status = yk_scheme_validate(scenario->context, &(yk_scheme_def){.ops = ops});
    if (status != YK_OK)
        return status;

    /* A scheme of the library cannot be replaced. */
    if (yk_schemes_find(known, ops->name))
        return yk_fail(scenario->context, YK_ERROR_ARGUMENT, "there is a scheme '%s' already",
                       ops->name);

    known->schemes = grow(&scenario->store, known->schemes, known->scheme_count, sizeof ops);
    if (!known->schemes)
        return YK_ERROR_MEMORY;

    known->schemes[known->scheme_count++] = ops;
    return YK_OK;
}

/* Libraries ------------------------------------------------------------------------------------ */

/* Opens the library and adds its contents; the context has the message of an error. */
static yk_status load_plugin(yk_scenario *scenario, const char *path)
{
    /* A path without a slash would be searched in the system's library folders. */
    yk_context *context = scenario->context;
    char here[4096];
    snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);

    /* The loader would wait for a pipe. For a missing file its own message is better. */
    if (yk_is_irregular_file(here))
        return yk_fail(context, YK_ERROR_INPUT, "%s cannot be read: not a regular file", here);

    /* The library stays open as long as the scenario, even after an error. */
    yk_plugin_handle *handle = yk_store_take(&scenario->store, sizeof *handle);
    if (!handle)
        return YK_ERROR_MEMORY;

    /* Resolve all symbols now, so that a missing one is found here. They are not visible to other
     * plug-ins. */
    handle->library = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!handle->library)
        return yk_fail(context, YK_ERROR_INPUT, "cannot be loaded: %s", dlerror());

    /* From here on the scenario closes it, also after an error below. */
    handle->next = scenario->plugins;
    scenario->plugins = handle;

    /* Its only function returns its table. dlsym(3) recommends this cast from an object pointer to
     * a function pointer. */
    yk_plugin_function function;
    void *symbol = dlsym(handle->library, "yoke_plugin");
    memcpy(&function, &symbol, sizeof function);
    if (!function)
        return yk_fail(context, YK_ERROR_INPUT,
                       "is no plug-in of Yoke: it exports no function yoke_plugin");

    const yk_plugin *plugin = function();
    if (!plugin)
        return yk_fail(context, YK_ERROR_INPUT, "gave no table: its yoke_plugin() returned NULL");
    if (plugin->version != YK_PLUGIN_VERSION || plugin->size != sizeof *plugin)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "was built for version %u of the plug-in contract (a table of %zu bytes), "
                       "this program has version %d (%zu bytes): rebuild it with the headers of "
                       "Yoke %s",
                       plugin->version, plugin->size, YK_PLUGIN_VERSION, sizeof *plugin,
                       yk_version());

    /* Its name and version, and its solvers and schemes. */
    handle->info.path = yk_store_text(&scenario->store, path, strlen(path));
    handle->info.name = plugin->name ? plugin->name : "";
    handle->info.license = plugin->license ? plugin->license : "";
    yk_status status = handle->info.path ? YK_OK : YK_ERROR_MEMORY;

    for (int i = 0; status == YK_OK && plugin->solvers && plugin->solvers[i]; i++)
        status = add_solver(scenario, plugin->solvers[i]);
    for (int i = 0; status == YK_OK && plugin->schemes && plugin->schemes[i]; i++)
        status = add_scheme(scenario, plugin->schemes[i]);

    return status;
}

yk_status yk_scenario_extend(yk_scenario *scenario, const yk_scenario_def *def)
{
    /* Solvers and schemes of the program. */
    for (int i = 0; i < def->solver_count; i++) {
        yk_status status = add_solver(scenario, def->solvers[i]);
        if (status != YK_OK)
            return status;
    }

    for (int i = 0; i < def->scheme_count; i++) {
        yk_status status = add_scheme(scenario, def->schemes[i]);
        if (status != YK_OK)
            return status;
    }

    /* The schema reports errors in the list itself. */
    const yk_node *list = yk_node_get(scenario->root, "plugins");
    yk_diagnostics *diagnostics = scenario->resolver.diagnostics;
    if (!list || list->kind != YK_NODE_LIST)
        return YK_OK;

    /* Solvers and schemes of the file's plug-ins. */
    int count = 0;
    for (const yk_node *item = list->first; item; item = item->next) {
        if (item->kind != YK_NODE_SCALAR)
            continue;
        if (++count > YK_PLUGINS_MAX) {
            yk_node_error(diagnostics, item, "is one too many: the most are %d", YK_PLUGINS_MAX);
            break;
        }

        const char *path;
        yk_status status = yk_builder_code(&scenario->builder, item, &path);

        /* A file that may not be loaded has its message already. */
        if (status == YK_ERROR_INPUT)
            continue;
        if (status == YK_OK)
            status = load_plugin(scenario, path);
        if (status == YK_ERROR_MEMORY)
            return status;
        if (status != YK_OK)
            yk_node_error(diagnostics, item, "%s", yk_last_message(scenario->context));
    }

    /* In the order of the file. */
    yk_plugin_info *infos = yk_store_take(&scenario->store, (size_t)count * sizeof *infos + 1);
    if (!infos)
        return YK_ERROR_MEMORY;

    for (const yk_plugin_handle *h = scenario->plugins; h; h = h->next)
        scenario->info.plugin_count++;

    int slot = scenario->info.plugin_count;
    for (const yk_plugin_handle *h = scenario->plugins; h; h = h->next)
        infos[--slot] = h->info;

    scenario->info.plugins = infos;

    return YK_OK;
}

void yk_scenario_close_plugins(yk_scenario *scenario)
{
    for (yk_plugin_handle *h = scenario->plugins; h; h = h->next)
        dlclose(h->library);
}

/* Subsystems ----------------------------------------------------------------------------------- */

yk_status yk_solver_build(yk_builder *builder, const yk_solver_ops *ops, const yk_node *section,
                          yk_subsystem **subsystem)
{
    void *options = yk_builder_take(builder, ops->options_size + 1);
    if (!options)
        return YK_ERROR_MEMORY;

    /* The option struct, zero initially. */
    yk_status status = yk_option_read_all(builder, ops->options, section, options);
    if (status != YK_OK)
        return status;

    /* Do not trust the result of an external solver. */
    yk_context *context = yk_builder_context(builder);
    status = ops->create(context, options, subsystem);
    if (status != YK_OK)
        return status;
    if (!*subsystem || !(*subsystem)->ops)
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "solver %s made no subsystem, and gave no reason", ops->name);

    /* One compiled for another version of the contract cannot even be destroyed. */
    size_t size = (*subsystem)->ops->size;
    if (size != sizeof(yk_subsystem_ops)) {
        *subsystem = NULL;
        return yk_fail(context, YK_ERROR_CAPABILITY,
                       "solver %s: its subsystem has a table of %zu bytes, this library's %zu: "
                       "rebuild it with the headers of Yoke %s",
                       ops->name, size, sizeof(yk_subsystem_ops), yk_version());
    }

    return YK_OK;
}
