/* Loading the binary of an FMU and looking up its functions. */
#include "transport/fmi/instance.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"

/* Messages ------------------------------------------------------------------------------------- */

yk_status yk_fmi_refuse(yk_fmi_instance *self, yk_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->message, sizeof self->message, format, arguments);
    va_end(arguments);
    return status;
}

yk_status yk_fmi_judge(yk_fmi_instance *self, int level, const char *function)
{
    static const char *const words[] = {"OK",       "a warning",     "discard",
                                        "an error", "a fatal error", "pending"};
    if (level == YK_FMI2_OK || level == YK_FMI2_WARNING)
        return YK_OK;
    if (level == YK_FMI2_FATAL)
        self->dead = true;
    yk_fmi_refuse(self, YK_ERROR_SUBSYSTEM, "%s: fmi%d%s returned %s%s%s%s", self->file,
                  self->description->version, function,
                  level >= 0 && level <= YK_FMI2_PENDING ? words[level] : "an unknown status",
                  self->log[0] ? "; it logged: " : "", self->log, self->log[0] ? "" : "");
    self->log[0] = '\0';

    return YK_ERROR_SUBSYSTEM;
}

void yk_fmi_logged(yk_fmi_instance *self, int level, const char *category, const char *text)
{
    if (!text)
        return;
    if (level >= YK_FMI2_WARNING && level <= YK_FMI2_FATAL)
        snprintf(self->log, sizeof self->log, "%s", text);

    /* Errors become the message of the call that failed. */
    if (level == YK_FMI2_WARNING)
        yk_log(self->context, YK_LOG_WARNING, "%s: %s", self->name, text);
    else if (self->logging)
        yk_log(self->context, YK_LOG_INFO, "%s: %s: %s", self->name, category ? category : "",
               text);
}

/* Functions ------------------------------------------------------------------------------------ */

typedef struct function_row {
    const char *name;
    unsigned who;
    size_t offset; /* in the table of functions */
} function_row;

static const function_row functions2[] = {
#define ROW2(who, type, name, arguments) {"fmi2" #name, who, offsetof(yk_fmi2_functions, name)},
    YK_FMI2_LIST(ROW2)
#undef ROW2
        {NULL, 0, 0}};
static const function_row functions3[] = {
#define ROW3(who, type, name, arguments) {"fmi3" #name, who, offsetof(yk_fmi3_functions, name)},
    YK_FMI3_LIST(ROW3)
#undef ROW3
        {NULL, 0, 0}};

static yk_status find_functions(yk_fmi_instance *self)
{
    const yk_fmi_capabilities *can = self->can;
    unsigned needed = YK_FMI_ALL;
    needed |= self->kind == YK_FMI_MODEL_EXCHANGE ? YK_FMI_ONLY_ME : YK_FMI_ONLY_CS;
    if (can->state)
        needed |= YK_FMI_ONLY_STATE;
    if (can->state && can->serialises)
        needed |= YK_FMI_ONLY_SERIAL;
    if (can->directional)
        needed |= YK_FMI_ONLY_DIRECTIONAL;

    const function_row *rows = self->description->version == 2 ? functions2 : functions3;

    for (const function_row *row = rows; row->name; row++) {
        void *found = dlsym(self->library, row->name);
        if (!found && (row->who & needed))
            return yk_fail(self->context, YK_ERROR_EXTERNAL,
                           "%s: its binary %s.so lacks the function %s", self->file,
                           can->identifier, row->name);
        memcpy((char *)&self->functions + row->offset, &found, sizeof found);
    }

    return YK_OK;
}

/* Binaries ------------------------------------------------------------------------------------- */

/* The names of the folders of an FMU's binaries, for messages. */
static void list_platforms(const char *folder, char *text, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/binaries", folder);
    DIR *list = opendir(path);
    size_t used = 0;
    text[0] = '\0';

    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (entry->d_name[0] == '.' || used >= size)
            continue;

        used +=
            (size_t)snprintf(text + used, size - used, "%s%.60s", used ? ", " : "", entry->d_name);
    }

    if (list)
        closedir(list);
}

/* FMI 2 calls the platform linux64, FMI 3 x86_64-linux. */
static const char *platform_name(int version, char buffer[100])
{
    struct utsname machine;
    if (uname(&machine) != 0)
        strcpy(machine.machine, "unknown");
    if (version == 3)
        snprintf(buffer, 100, "%.60s-linux", machine.machine);
    else if (strcmp(machine.machine, "x86_64") == 0)
        strcpy(buffer, "linux64");
    else
        snprintf(buffer, 100, "linux-%.60s", machine.machine);

    return buffer;
}

static yk_status open_library(yk_fmi_instance *self)
{
    char path[4096], platform[100];
    platform_name(self->description->version, platform);
    snprintf(path, sizeof path, "%s/binaries/%s/%s.so", self->folder, platform,
             self->can->identifier);
    if (access(path, F_OK) != 0) {
        char others[300];
        list_platforms(self->folder, others, sizeof others);
        return yk_fail(self->context, YK_ERROR_EXTERNAL,
                       "%s has no binary for this platform, binaries/%s/%s.so; it has %s%s",
                       self->file, platform, self->can->identifier,
                       others[0] ? "those of " : "no binaries at all", others);
    }
    self->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!self->library) {
        const char *reason = dlerror();
        /* The path is that of a temporary folder, which says nothing to the reader. */
        size_t prefix = strlen(path);
        if (reason && strncmp(reason, path, prefix) == 0 && reason[prefix] == ':')
            reason += prefix + 2;
        return yk_fail(self->context, YK_ERROR_EXTERNAL, "%s: its binary cannot be loaded: %s",
                       self->file, reason ? reason : "unknown reason");
    }

    return find_functions(self);
}

yk_status yk_fmi_load(yk_context *context, const yk_fmi_description *description, yk_fmi_kind kind,
                      const char *file, const char *folder, const char *name,
                      yk_fmi_instance **instance)
{
    *instance = NULL;
    yk_fmi_instance *self = yk_allocate(context, 1, sizeof *self);
    if (!self)
        return YK_ERROR_MEMORY;

    self->context = context;
    self->description = description;
    self->can = &description->co_simulation;
    if (kind == YK_FMI_MODEL_EXCHANGE)
        self->can = &description->model_exchange;
    self->calls = description->version == 2 ? &yk_fmi2_calls : &yk_fmi3_calls;
    self->kind = kind;
    self->file = file;
    self->folder = folder;
    self->name = yk_text_copy(context, name);

    yk_status status = self->name ? YK_OK : YK_ERROR_MEMORY;
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
    if (self->component && !self->dead)
        self->calls->release(self);
    if (self->library)
        dlclose(self->library);
    yk_release(self->context, self->name);
    yk_release(self->context, self);
}
