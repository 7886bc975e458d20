/* yoke ssp, and systems of FMUs by the standard SSP in place of scenarios. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "import/import.h"
#include "transport/fmi/archive.h"

bool ssp_is_package(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".ssp") == 0;
}

bool ssp_is_description(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".ssd") == 0;
}

void print_import(const yk_import *import, const char *path)
{
    const yk_import_note *notes;
    int note_count = yk_import_notes(import, &notes);
    char summary[200];
    yk_import_summary(import, summary, sizeof summary);
    fprintf(stderr, "%s: %s\n", path, summary);

    if (note_count > 0)
        fprintf(stderr, "Not as in the model, or left out:\n");
    for (int i = 0; i < note_count; i++)
        fprintf(stderr, "  %s:%d: %s\n", notes[i].file, notes[i].line, notes[i].text);
}

/* The FMUs of a description lie beside it, those of a package in the folder of the scenario. */
char *ssp_open(yk_context *context, const char *path, char **folder)
{
    yk_import_options options = yk_import_default();
    char description[4200];
    char beside[4200] = "";
    yk_status status;
    *folder = NULL;

    /* What a description names is found from where it is, though the scenario lies elsewhere. */
    if (ssp_is_package(path)) {
        status = yk_archive_unpack(context, path, folder);
        if (status == YK_OK)
            snprintf(description, sizeof description, "%.4000s/%s", *folder, YK_SSP_DESCRIPTION);
    } else {
        status = yk_archive_folder(context, folder);
        snprintf(description, sizeof description, "%.4000s", path);
        char *whole = realpath(path, NULL);
        if (whole) {
            *(strrchr(whole, '/') + 1) = '\0';
            snprintf(beside, sizeof beside, "%.4000s", whole);
        }

        free(whole);
        options.mesh_folder = beside;
    }

    yk_import *import = NULL;
    if (status == YK_OK)
        status = yk_import_read(context, description, &options, &import);

    /* A scenario of its own, which commands read as any other. */
    char file[4200];
    bool written = false;
    if (status == YK_OK) {
        snprintf(file, sizeof file, "%.4000s/scenario.yaml", *folder);
        FILE *to = fopen(file, "w");
        written = to && yk_import_write(import, to);
        if (to)
            written = fclose(to) == 0 && written;
        if (!written)
            print_unwritable(file);
        else
            print_import(import, path);
    } else {
        print_failure(context);
    }

    /* Without a scenario the folder is of no use to anybody. */
    yk_import_destroy(import);
    if (written)
        return strdup(file);

    yk_archive_remove(context, *folder);
    *folder = NULL;
    return NULL;
}

/* Commands ------------------------------------------------------------------------------------- */

int command_ssp(int argc, char **argv)
{
    static const char usage[] = "ssp export SCENARIO -o FILE.ssp\n\n"
                                "Makes a package of SSP 1.0 of a scenario whose subsystems are "
                                "FMUs: components with their\n"
                                "values, wires as connections. Ports with power, interfaces and "
                                "the coupling scheme are in\n"
                                "an annotation, which other programs pass over.";

    /* There is one command, so that others may come beside it. */
    if (argc < 2 || strcmp(argv[1], "export") != 0) {
        bool help = argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        fprintf(
            help ? stdout : stderr,
            "usage: yoke ssp COMMAND ...\n\n"
            "  export       a package of SSP from a scenario of FMUs\n\n"
            "Commands that take a scenario take a package (.ssp) or a description (.ssd) in its\n"
            "place; `yoke import` makes a scenario of it.\n");
        return help ? EXIT_GOOD : EXIT_MISUSE;
    }

    option_list sets = {0};
    const char *output = NULL;
    const char *scenario;

    const option_row rows[] = {
        {"o", OPTION_TEXT, &output, "FILE", "the package to be written"},
        {"set", OPTION_LIST, &sets, "PATH=VALUE", "override a value of the scenario"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc - 1, argv + 1, &scenario, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    if (!output) {
        fprintf(stderr, "yoke: name the package to be written with -o FILE.ssp\n");
        return EXIT_MISUSE;
    }

    /* The scenario's mistakes, as every command prints them. */
    loaded l;
    if (!load_scenario(scenario, &sets, LOAD_TO_RUN, &l))
        return l.code;

    close_scenario(&l);

    /* The writer reads it again: it packs the files that the scenario names. */
    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    int code = EXIT_GOOD;
    yk_status status = yk_ssp_write(context, scenario, sets.items, sets.count, output);
    if (status == YK_OK)
        printf("%s: SSP 1.0\n", output);
    else
        code = print_refusal(context, NULL, status);

    yk_context_destroy(context);
    return code;
}
