/* yoke schema: the reference of all keys of a scenario. */
#include <stdio.h>

#include "commands.h"
#include "scenario.h"

int command_schema(int argc, char **argv)
{
    const option_row rows[] = {{.kind = OPTION_END}};
    const char *path = NULL;
    int parsed = options_parse("schema [SCENARIO]", rows, argc, argv, &path, 0, 1);
    if (parsed < 0)
        return options_exit(parsed);

    /* With a scenario, the keys of its plug-ins too. */
    loaded l = {0};
    if (path && !load_scenario(path, &(option_list){0}, &l))
        return EXIT_MISUSE;
    if (!path)
        l.context = open_context();
    if (!l.context)
        return EXIT_FAILED;

    char *text = yk_scenario_reference(l.context, l.scenario);
    int code = text ? EXIT_GOOD : print_failure(l.context);
    if (text)
        fputs(text, stdout);
    yk_release(l.context, text);
    close_scenario(&l);
    return code;
}
