/* Loading the binary of an FMU and looking up its functions. */
#include "interop/fmi/fmu_internal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"

/* Crashes -------------------------------------------------------------------------------------- */

_Thread_local yk_fmi_call yk_fmi_running;

const char *yk_fmu_running_file(void)
{
    return yk_fmi_running.file;
}

const char *yk_fmu_running_function(void)
{
    return yk_fmi_running.function;
}

/* Messages ------------------------------------------------------------------------------------- */

yk_status yk_fmi_refuse(yk_fmi_instance *self, yk_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    yk_format_list(self->message, sizeof self->message, format, arguments);
    va_end(arguments);
    return status;
}

const char *yk_fmi_log_link(const yk_fmi_instance *self)
{
    if (self->log[0])
        return "; it logged: ";
    return "";
}

yk_status yk_fmi_judge(yk_fmi_instance *self, int level, const char *function)
{
    static const char *const words[] = {"OK",       "a warning",     "discard",
                                        "an error", "a fatal error", "pending"};
    if (level == YK_FMI_OK || level == YK_FMI_WARNING)
        return YK_OK;

    self->discarded = level == YK_FMI_DISCARD;

    /* The standard allows no further call after a fatal error. */
    if (level == YK_FMI_FATAL)
        self->dead = true;

    const char *word = "an unknown status";
    if (level >= 0 && level <= YK_FMI_PENDING)
        word = words[level];
    yk_fmi_refuse(self, YK_ERROR_SUBSYSTEM, "%s: fmi%d%s returned %s%s%s", self->file,
                  self->description->version, function, word, yk_fmi_log_link(self), self->log);

    /* Reset the reason for the next failure. */
    self->log[0] = '\0';
    return YK_ERROR_SUBSYSTEM;
}

void yk_fmi_logged(yk_fmi_instance *self, int level, const char *category, const char *text)
{
    if (!text)
        return;

    /* The last warning or error is kept for the message of a failed call. */
    if (level >= YK_FMI_WARNING && level <= YK_FMI_FATAL)
        snprintf(self->log, sizeof self->log, "%s", text);

    /* Errors are not logged separately, because they are part of that message. */
    if (level == YK_FMI_WARNING)
        yk_log(self->context, YK_LOG_WARNING, "%s: %s", self->name, text);
    else if (self->logging)
        yk_log(self->context, YK_LOG_INFO, "%s: %s: %s", self->name, category ? category : "",
               text);
}

/* Functions ------------------------------------------------------------------------------------ */

typedef struct function_row {
    const char *name;
    unsigned who;
    size_t offset; /* of the pointer in the instance */
} function_row;

static const function_row functions2[] = {
#define ROW2(who, type, name, arguments) \
    {"fmi2" #name, who, offsetof(yk_fmi_instance, functions.two.name)},
    YK_FMI2_LIST(ROW2)
#undef ROW2
        {NULL, 0, 0}};
static const function_row functions3[] = {
#define ROW3(who, type, name, arguments) \
    {"fmi3" #name, who, offsetof(yk_fmi_instance, functions.three.name)},
    YK_FMI3_LIST(ROW3)
#undef ROW3
        {NULL, 0, 0}};

static yk_status find_functions(yk_fmi_instance *self)
{
    const yk_fmi_capabilities *can = self->can;

    /* Functions required by the description must exist. */
    unsigned needed = YK_FMI_ALL;
    if (self->exchange)
        needed |= YK_FMI_ONLY_ME;
    else
        needed |= YK_FMI_ONLY_CS;

    if (can->state)
        needed |= YK_FMI_ONLY_STATE;
    if (can->state && can->serialises)
        needed |= YK_FMI_ONLY_SERIAL;
    if (can->directional)
        needed |= YK_FMI_ONLY_DIRECTIONAL;

    /* Functions that are not needed for this use of the FMU may be missing. */
    const function_row *rows = functions3;
    if (self->description->version == 2)
        rows = functions2;

    for (const function_row *row = rows; row->name; row++) {
        void *found = dlsym(self->library, row->name);
        if (!found && (row->who & needed))
            return yk_fail(self->context, YK_ERROR_EXTERNAL,
                           "%s: its binary %s.so lacks the function %s", self->file,
                           can->identifier, row->name);

        memcpy((char *)self + row->offset, &found, sizeof found);
    }

    return YK_OK;
}

/* Binaries ------------------------------------------------------------------------------------- */

static yk_status open_library(yk_fmi_instance *self)
{
    struct utsname about;
    if (uname(&about) != 0)
        strcpy(about.machine, "unknown");

    /* FMI 2 calls the platform linux64, FMI 3 x86_64-linux. */
    char platform[100];
    const char *machine = about.machine;
    if (self->description->version == 3)
        snprintf(platform, sizeof platform, "%.60s-linux", machine);
    else if (strcmp(machine, "x86_64") == 0)
        snprintf(platform, sizeof platform, "linux64");
    else
        snprintf(platform, sizeof platform, "linux-%.60s", machine);

    char path[4096];
    snprintf(path, sizeof path, "%s/binaries/%s/%s.so", self->folder, platform,
             self->can->identifier);

    if (access(path, F_OK) != 0) {
        /* The platforms for which it has one, for the message. */
        char others[300] = "no binaries at all";
        size_t used = 0;
        snprintf(path, sizeof path, "%s/binaries", self->folder);
        DIR *list = opendir(path);
        for (struct dirent *entry; list && (entry = readdir(list));) {
            if (entry->d_name[0] == '.' || used >= sizeof others)
                continue;

            const char *link = used == 0 ? "those of " : ", ";
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%.60s", link,
                                     entry->d_name);
        }

        if (list)
            closedir(list);

        return yk_fail(self->context, YK_ERROR_EXTERNAL,
                       "%s has no binary for this platform, binaries/%s/%s.so; it has %s",
                       self->file, platform, self->can->identifier, others);
    }

    /* Not global, because all FMUs export functions of the same names. */
    yk_fmi_enter(self, "the constructors of its library");
    self->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    yk_fmi_left(0);
    if (!self->library) {
        const char *reason = dlerror();
        if (!reason)
            reason = "unknown reason";

        /* The path is that of a temporary folder, which does not help the reader. */
        size_t prefix = strlen(path);
        if (strncmp(reason, path, prefix) == 0 && reason[prefix] == ':')
            reason += prefix + 2;

        return yk_fail(self->context, YK_ERROR_EXTERNAL, "%s: its binary cannot be loaded: %s",
                       self->file, reason);
    }

    return find_functions(self);
}

yk_status yk_fmi_load(yk_context *context, const yk_fmi_description *description, bool exchange,
                      const char *file, const char *folder, const char *name,
                      yk_fmi_instance **instance)
{
    *instance = NULL;
    yk_fmi_instance *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->context = context;
    self->description = description;
    self->exchange = exchange;
    self->can = &description->co_simulation;
    if (exchange)
        self->can = &description->model_exchange;

    self->calls = &yk_fmi3_calls;
    if (description->version == 2)
        self->calls = &yk_fmi2_calls;

    self->file = file;
    self->folder = folder;
    self->name = yk_text_copy(context, name);

    yk_status status = YK_OK;
    if (!self->name)
        status = YK_ERROR_MEMORY;

    /* A tool coupling would start a program that may not be installed. */
    if (status == YK_OK && self->can->needs_tool)
        status = yk_fail(context, YK_ERROR_EXTERNAL,
                         "%s holds no model, only a connection to the program that made it (%s): "
                         "export it again with the solver inside",
                         file, description->tool[0] ? description->tool : "not named");

    if (status == YK_OK)
        status = open_library(self);
    if (status != YK_OK) {
        yk_fmi_unload(self);
        return status;
    }

    *instance = self;
    return YK_OK;
}

void yk_fmi_unload(yk_fmi_instance *self)
{
    if (!self)
        return;

    /* After a fatal error not even this may be called. */
    if (self->component && !self->dead)
        self->calls->release(self);
    if (self->library)
        dlclose(self->library);
    yk_free(self->context, self->name);
    yk_free(self->context, self);
}
