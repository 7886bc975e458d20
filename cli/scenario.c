#include "scenario.h"

#include <stdio.h>
#include <string.h>

static void print_log(void *user, yk_log_level level, const char *message)
{
    (void)user;
    fprintf(stderr, "yoke: %s%s\n", level >= YK_LOG_WARNING ? "warning: " : "", message);
}

static yk_context *open_context_at(yk_log_level level)
{
    yk_context_def def = yk_context_default();
    def.log = print_log;
    def.log_level = level;
    yk_context *context = yk_context_create(&def);
    if (!context)
        fprintf(stderr, "yoke: out of memory\n");
    return context;
}

yk_context *open_context(void)
{
    return open_context_at(YK_LOG_WARNING);
}

int print_failure(const yk_context *context)
{
    fprintf(stderr, "yoke: %s\n", yk_last_message(context));
    return EXIT_FAILED;
}

bool print_diagnostics(yk_context *context, const yk_diagnostics *diagnostics)
{
    if (yk_diagnostics_count(diagnostics) == 0)
        return false;
    char *text = yk_diagnostics_text(diagnostics);
    if (text)
        fputs(text, stderr);
    yk_release(context, text);
    return yk_diagnostics_errors(diagnostics) > 0;
}

static bool plugins_forbidden;

void forbid_plugins(void)
{
    plugins_forbidden = true;
}

yk_scenario_def scenario_def(const char *path, const option_list *sets)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = path;
    def.overrides = sets->items;
    def.override_count = sets->count;
    def.forbid_plugins = plugins_forbidden;
    return def;
}

static bool load(const char *path, const option_list *sets, bool to_rounding, yk_log_level level,
                 loaded *out)
{
    *out = (loaded){.context = open_context_at(level)};
    if (!out->context)
        return false;
    yk_scenario_def def = scenario_def(path, sets);
    def.to_rounding = to_rounding;
    yk_status status = yk_diagnostics_create(out->context, &out->diagnostics);
    if (status >= 0)
        status = yk_scenario_load(out->context, &def, out->diagnostics, &out->scenario);
    if (out->diagnostics)
        print_diagnostics(out->context, out->diagnostics);
    if (status >= 0)
        return true;
    int errors = out->diagnostics ? yk_diagnostics_errors(out->diagnostics) : 0;
    if (errors)
        fprintf(stderr, "yoke: %s has %d mistake%s\n", path, errors, errors == 1 ? "" : "s");
    else
        print_failure(out->context);
    close_scenario(out);
    return false;
}

bool load_scenario(const char *path, const option_list *sets, loaded *out)
{
    return load(path, sets, false, YK_LOG_WARNING, out);
}

bool load_scenario_as(const char *path, const option_list *sets, bool to_rounding, loaded *out)
{
    return load(path, sets, to_rounding, YK_LOG_WARNING, out);
}

bool load_scenario_to_check(const char *path, const option_list *sets, loaded *out)
{
    return load(path, sets, false, YK_LOG_INFO, out);
}

void close_scenario(loaded *out)
{
    if (!out->context)
        return;
    yk_scenario_destroy(out->scenario);
    yk_diagnostics_destroy(out->diagnostics);
    yk_context_destroy(out->context);
    *out = (loaded){0};
}

int print_refusal(yk_context *context, const yk_diagnostics *diagnostics, yk_status status)
{
    if (status < 0 && diagnostics && print_diagnostics(context, diagnostics))
        return EXIT_MISUSE;
    print_failure(context);
    bool wrong_input =
        status == YK_ERROR_ARGUMENT || status == YK_ERROR_INPUT || status == YK_ERROR_CAPABILITY;
    return wrong_input ? EXIT_MISUSE : EXIT_FAILED;
}

void print_finding(FILE *file, const char *path, const yk_finding *finding)
{
    fputs(finding->text, file);
    for (int i = 0; i < finding->remedy_count; i++) {
        const yk_remedy *remedy = &finding->remedies[i];
        fputs(i == 0 ? "; " : ", or ", file);
        if (remedy->kind == YK_REMEDY_ADVICE)
            fprintf(file, "let `yoke advise %s` find a scheme and a step", path);
        if (remedy->kind == YK_REMEDY_STEP)
            fprintf(file, "let `yoke converge %s` find a step that is small enough", path);

        /* "use coupling.scheme tight with coupling.acceleration aitken" */
        for (int k = 0; k < remedy->override_count; k++) {
            const char *key = remedy->overrides[k];
            const char *equals = strchr(key, '=');
            const char *lead = k == 0 ? "use" : k == 1 ? " with" : " and";
            fprintf(file, "%s %.*s %s", lead, (int)(equals - key), key, equals + 1);
        }
    }
}
