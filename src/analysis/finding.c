#include "analysis/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

yk_finding *yk_finding_add(yk_run_report *report, yk_finding_kind kind, bool serious, int interface,
                           double value, const char *format, ...)
{
    if (report->finding_count == YK_FINDINGS_MAX)
        return NULL;
    yk_finding *finding = &report->findings[report->finding_count++];
    *finding =
        (yk_finding){.kind = kind, .serious = serious, .interface = interface, .value = value};

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    return finding;
}

/* Cuts a list of overrides at its spaces, but not at those inside of brackets. */
static void split_overrides(yk_remedy *remedy, const char *list)
{
    while (*list && remedy->override_count < YK_REMEDY_OVERRIDES_MAX) {
        size_t length = 0;
        int depth = 0;
        for (; list[length] && (list[length] != ' ' || depth > 0); length++) {
            if (list[length] == '[' || list[length] == '{')
                depth++;
            if (list[length] == ']' || list[length] == '}')
                depth--;
        }

        char *override = remedy->overrides[remedy->override_count++];
        snprintf(override, sizeof remedy->overrides[0], "%.*s", (int)length, list);
        list += length;
        while (*list == ' ')
            list++;
    }
}

void yk_finding_remedy(yk_finding *finding, const char *overrides, const char *format, ...)
{
    if (!finding || finding->remedy_count == YK_REMEDIES_MAX)
        return;
    yk_remedy *remedy = &finding->remedies[finding->remedy_count];
    *remedy = (yk_remedy){.override_count = 0};

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(remedy->text, sizeof remedy->text, format, arguments);
    va_end(arguments);
    split_overrides(remedy, overrides);

    size_t used = strlen(finding->text);
    const char *lead = finding->remedy_count == 0 ? "; " : ", or ";
    snprintf(finding->text + used, sizeof finding->text - used, "%s%s", lead, remedy->text);
    finding->remedy_count++;
}
