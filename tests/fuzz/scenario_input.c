#include "scenario_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yoke/scenario.h"

enum { OVERRIDES_MAX = 8 };

static void require(int promise, const char *what)
{
    if (promise)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

/* Splits lines in place; returns how many. */
static int split_lines(char *text, const char *lines[OVERRIDES_MAX])
{
    int count = 0;
    for (char *line = text; line && count < OVERRIDES_MAX;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        lines[count++] = line;
        line = end;
    }
    return count;
}

static void check_messages(const yk_diagnostics *diagnostics, yk_status status)
{
    int errors = yk_diagnostics_error_count(diagnostics);
    require(status == YK_OK || status == YK_ERROR_INPUT, "a load succeeds or has mistakes");
    require((status == YK_OK) == (errors == 0), "mistakes are reported, and only mistakes");
    for (int i = 0; i < yk_diagnostics_count(diagnostics); i++) {
        const yk_diagnostic *entry = yk_diagnostics_at(diagnostics, i);
        require(entry->message[0] != '\0', "a message says something");
        for (const char *c = entry->excerpt; *c; c++)
            require((unsigned char)*c >= 0x20 && *c != 0x7F,
                    "no control characters reach the terminal");
    }
}

static void run_a_little(yk_context *context, yk_scenario *scenario)
{
    const yk_scenario_info *info = yk_scenario_get_info(scenario);
    double *sample = yk_allocate(context, (size_t)info->values_per_sample, sizeof *sample);
    char *text = yk_scenario_resolved_text(scenario);
    require(text != NULL, "a scenario can be written");
    yk_free(context, text);
    yk_system *system;
    yk_status status = yk_scenario_system(scenario, &system);
    if (status == YK_OK)
        status = yk_system_initialize(system);
    for (int i = 0; i < 2 && !YK_FAILED(status); i++) {
        status = yk_system_step(system, NULL);
        yk_scenario_read_sample(scenario, sample);
    }
    require(!YK_FAILED(status) || yk_last_message(context)[0], "a failure has a message");
    yk_free(context, sample);
}

void fuzz_scenario(const unsigned char *data, size_t size)
{
    const unsigned char *zero = memchr(data, '\0', size);
    size_t length = zero ? (size_t)(zero - data) : size;
    char *text = calloc(size + 2, 1), *rest = calloc(size + 2, 1);
    require(text && rest, "memory");
    memcpy(text, data, length);
    const char *overrides[OVERRIDES_MAX];
    int count = 0;
    if (zero) {
        memcpy(rest, zero + 1, size - length - 1);
        count = split_lines(rest, overrides);
    }
    yk_context_def context_def = yk_context_default();
    context_def.thread_count = 1;
    yk_context *context = yk_context_create(&context_def);
    yk_diagnostics *diagnostics;
    require(yk_diagnostics_create(context, &diagnostics) == YK_OK, "memory");
    yk_scenario_def def = {
        .path = "fuzz.yaml", .text = text, .overrides = overrides, .override_count = count};
    yk_scenario *scenario;
    yk_status status = yk_scenario_load(context, &def, diagnostics, &scenario);
    check_messages(diagnostics, status);
    char *messages = yk_diagnostics_format(diagnostics);
    require(messages != NULL, "messages can be written");
    if (scenario)
        run_a_little(context, scenario);
    yk_free(context, messages);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    free(text);
    free(rest);
}
