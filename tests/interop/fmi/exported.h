/* Models that are exported to FMUs in a folder of the test, and scenarios there that use them. */
#ifndef YOKE_TESTS_FMU_EXPORTED_H
#define YOKE_TESTS_FMU_EXPORTED_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interop/fmi/export.h"
#include "system/scenario_run.h"

static char folder[300];

static inline int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/exported-%ld", FMU_FOLDER, (long)getpid());
    return mkdir(folder, 0700);
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Exports a scenario, or a subsystem of it, to NAME.fmu in the folder. */
static inline void export_file(const char *scenario, const char *subsystem, bool wrenches,
                               int version, const char *name)
{
    yk_context *context = yk_context_create(NULL);
    char file[600];
    snprintf(file, sizeof file, "%s/%s.fmu", folder, name);
    yk_fmu_export_def def = {
        .model = {.scenario = scenario, .subsystem = subsystem, .wrenches = wrenches},
        .version = version,
        .binary = FMU_BINARY,
        .file = file};
    if (yk_fmu_export(context, &def) != YK_OK)
        fail_msg("%s", yk_last_message(context));
    yk_context_destroy(context);
}

/* The same for a model of models/. */
static inline void export_model(const char *model, const char *subsystem, bool wrenches,
                                int version, const char *name)
{
    export_file(model_file(model), subsystem, wrenches, version, name);
}

/* A scenario with FMUs of the folder. */
static inline run open_here(const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/scenario.yaml", folder);
    return open_text(path, text, NULL);
}

#endif
