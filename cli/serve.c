/* yoke serve: subsystems of a scenario for runs in other processes. */
#include <string.h>

#include "cli.h"
#include "yoke/remote.h"

static const char usage[] =
    "serve SCENARIO --listen ADDRESS [OPTIONS]\n"
    "\n"
    "Offer the subsystems of a scenario to runs that use `solver: remote`. Every "
    "client gets its own process, with the subsystem in its initial state.";

typedef struct request {
    const char *path, *listen, *subsystem, *secret_file;
    option_list sets;
    bool once, quiet;
    bool announced;
    loaded scenario; /* in the process of a client */
} request;

static yk_status create(void *user, yk_context *context, const char *name, yk_subsystem **subsystem)
{
    request *r = user;
    yk_scenario_def def = scenario_def(r->path, &r->sets);
    yk_status status = yk_scenario_load(context, &def, NULL, &r->scenario.scenario);
    if (YK_FAILED(status))
        return status;

    /* Which one: the client's choice among those that are offered. */
    const yk_scenario_info *info = yk_scenario_get_info(r->scenario.scenario);
    if (r->subsystem && *name && strcmp(name, r->subsystem) != 0)
        return yk_fail(context, YK_ERROR_ARGUMENT, "the server offers '%s' alone, not '%s'",
                       r->subsystem, name);

    const char *wanted = r->subsystem ? r->subsystem : name;
    if (!*wanted && info->subsystem_count > 1)
        return yk_fail(context, YK_ERROR_ARGUMENT,
                       "the server has %d subsystems: name one of them, such as '%s'",
                       info->subsystem_count, info->subsystem_names[0]);

    for (int i = 0; i < info->subsystem_count; i++) {
        if (*wanted && strcmp(info->subsystem_names[i], wanted) != 0)
            continue;

        *subsystem = info->subsystems[i];
        return YK_OK;
    }

    return yk_fail(context, YK_ERROR_ARGUMENT, "the server has no subsystem '%s'; it has '%s'%s",
                   wanted, info->subsystem_names[0],
                   info->subsystem_count > 1 ? " and others" : "");
}

static bool wait_for_clients(void *user, const char *address)
{
    /* Scripts wait for this line, which names the port that was free: it must not stay in a
     * buffer. */
    request *r = user;
    if (!r->announced && !r->quiet) {
        print_out("serving %s at %s\n", r->path, address);
        fflush(stdout);
    }

    r->announced = true;
    return !was_interrupted();
}

int command_serve(int argc, char **argv)
{
    request r = {0};

    const option_row rows[] = {
        {"listen", OPTION_TEXT, &r.listen, "ADDRESS",
         "Listen on unix:PATH or tcp:HOST:PORT (port 0: any free port)"},
        {"subsystem", OPTION_TEXT, &r.subsystem, "NAME",
         "Offer only this subsystem (default: all)"},
        {"secret-file", OPTION_TEXT, &r.secret_file, "FILE",
         "Require clients to know the first line of FILE; mandatory for addresses that other "
         "machines can reach"},
        {"once", OPTION_FLAG, &r.once, NULL, "Exit after the first client has disconnected"},
        SET_ROW(&r.sets),
        {"quiet", OPTION_FLAG, &r.quiet, NULL, "Print errors only"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, &r.path, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    if (!r.listen) {
        print_err("yoke: --listen is missing: unix:PATH or tcp:HOST:PORT\n");
        return EXIT_MISUSE;
    }

    /* The mistakes of a scenario are shown before the first client comes. */
    int code;
    yk_context *context = open_checked(r.path, &r.sets, &code);
    if (!context)
        return code;

    /* A secret is read from a file, because all users can see the options of a command. */
    char secret[YK_SECRET_MAX];
    if (r.secret_file && yk_read_secret_file(context, r.secret_file, secret) != YK_OK) {
        print_failure(context);
        yk_context_destroy(context);
        return EXIT_MISUSE;
    }

    /* Every client gets a subsystem of its own; an interrupt ends the wait for the next. */
    catch_interrupts();
    yk_server_def def = yk_server_default();
    def.address = r.listen;
    if (r.secret_file)
        def.secret = secret;
    def.create = create;
    def.on_idle = wait_for_clients;
    def.user = &r;
    def.stop_after_first_client = r.once;

    code = EXIT_GOOD;
    if (YK_FAILED(yk_serve(context, &def)))
        code = print_failure(context);

    yk_context_destroy(context);
    return code;
}
