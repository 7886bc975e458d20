/* yoke schema: the reference of all keys of a scenario. */
#include <stdio.h>

#include "commands.h"
#include "scenario.h"

int command_schema(int argc, char **argv)
{
    const option_row rows[] = {{.kind = OPTION_END}};
    int parsed = options_parse("schema", rows, argc, argv, NULL, 0, 0);
    if (parsed < 0)
        return options_exit(parsed);
    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;
    char *text = yk_scenario_reference(context);
    int code = text ? EXIT_GOOD : print_failure(context);
    if (text)
        fputs(text, stdout);
    yk_release(context, text);
    yk_context_destroy(context);
    return code;
}
