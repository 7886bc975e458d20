/* yoke import: scenarios from models of other programs. yoke ssp: packages of FMUs from scenarios.
 * Also lets all commands use SSP systems in place of scenarios. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"
#include "interop/fmi/archive.h"
#include "interop/import/import.h"
#include "interop/ssp/ssp.h"

static const char import_usage[] =
    "import MODEL [OPTIONS]\n"
    "\n"
    "Convert a URDF, MJCF, MBDyn (.mbd) or SSP model (.ssd, .ssp) to a scenario. "
    "Unsupported features are listed on standard error, with their line in the "
    "model, and at the head of the scenario. The FMUs of a package are extracted "
    "next to the scenario.";

static const char ssp_usage[] =
    "Usage: yoke ssp COMMAND ...\n\n"
    "  export       a package of SSP from a scenario of FMUs\n\n"
    "Commands that take a scenario take a package (.ssp) or a description (.ssd) in its\n"
    "place; `yoke import` makes a scenario of it.\n";
static const char ssp_export_usage[] =
    "ssp export SCENARIO -o FILE.ssp [OPTIONS]\n"
    "\n"
    "Export a scenario of FMUs as an SSP 1.0 package. Ports with power, interfaces "
    "and the coupling scheme are written as an annotation, which other programs "
    "ignore.";

/* Writes the scenario, to the standard output if there is no file, and reports the conversion on
 * stderr. False after a message: an incomplete file is not used. */
static bool write_scenario(const yk_import *import, const char *file, const char *model)
{
    yk_output output = {0};
    if (file)
        output = yk_output_open(file);
    FILE *to = file ? output.stream : stdout;
    bool written = to && fputs(yk_import_scenario(import), to) >= 0 && !ferror(to);
    if (file && written)
        written = yk_output_close(&output);
    else if (file)
        yk_output_discard(&output);
    if (!written) {
        print_unwritable(file ? file : "the standard output");
        return false;
    }

    const yk_import_note *notes;
    int note_count = yk_import_notes(import, &notes);
    print_err("%s: %s\n", model, yk_import_summary(import));

    if (note_count > 0)
        print_err("Not as in the model, or left out:\n");
    for (int i = 0; i < note_count; i++)
        print_err("  %s:%d: %s\n", notes[i].file, notes[i].line, notes[i].text);
    return true;
}

int command_import(int argc, char **argv)
{
    static const char *const solvers[] = {"auto", "multibody", "nonsmooth", NULL};
    yk_import_options options = yk_import_options_default();
    const char *solver = solvers[0];
    const char *output = NULL;
    const char *path;

    const option_row rows[] = {
        {"output", OPTION_TEXT, &output, "FILE",
         "Write the scenario to FILE (default: standard output)"},
        {"solver", OPTION_TEXT, &solver, "WORD",
         "Use multibody, nonsmooth or auto: nonsmooth if something can touch the ground (default: "
         "auto)"},
        {"end", OPTION_NUMBER, &options.end, "SECONDS",
         "Set the end of the run (default: as in the model, otherwise 1)"},
        {"step", OPTION_NUMBER, &options.step, "SECONDS",
         "Set the macro step (default: as in the model, otherwise 0.001)"},
        {"floating-base", OPTION_FLAG, &options.floating_base, NULL,
         "Do not fix the root link of a URDF to the ground"},
        RENAMED_ROW("floating", "floating-base"),
        {.kind = OPTION_END},
    };

    int count = options_parse(import_usage, rows, argc, argv, &path, 1, 1);
    if (count < 0)
        return options_exit(count);

    /* The words and numbers of the options. */
    int index;
    if (!options_pick("solver", solver, solvers, &index))
        return EXIT_MISUSE;

    options.solver = index;
    if (options.end < 0 || options.step < 0) {
        print_err("yoke: end and step must be positive\n");
        return EXIT_MISUSE;
    }

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* A package is unpacked next to the scenario, in a folder of the scenario's name. */
    char inside[4200] = "";
    char unpacked[4096] = "";
    if (ends_in(path, ".ssp")) {
        const char *dot = output ? strrchr(output, '.') : NULL;
        if (!dot || strchr(dot, '/')) {
            print_err("yoke: name the scenario with -o NAME.yaml; the FMUs of the package are "
                      "put into the folder NAME next to it\n");
            yk_context_destroy(context);
            return EXIT_MISUSE;
        }

        snprintf(unpacked, sizeof unpacked, "%.*s", (int)(dot - output), output);
        if (yk_archive_unpack_to(context, path, unpacked) != YK_OK) {
            print_failure(context);
            yk_context_destroy(context);
            return EXIT_MISUSE;
        }

        snprintf(inside, sizeof inside, "%.4000s/%s", unpacked, YK_SSP_DESCRIPTION);
    }

    /* Files of the model are found from the scenario, wherever that is written: by their names in
     * the same folder, otherwise by the whole path. */
    const char *model = path;
    if (inside[0])
        model = inside;
    const char *const ends[2] = {model, output};
    char whole[2][PATH_MAX];
    bool found = true;
    for (int i = 0; i < 2 && found; i++) {
        char folder[4096] = ".";
        size_t length = 0;
        if (ends[i])
            length = yk_text_folder(ends[i]);
        if (length > 0)
            snprintf(folder, sizeof folder, "%.*s", (int)length, ends[i]);

        found = realpath(folder, whole[i]) != NULL;
        if (!found)
            print_err("yoke: %s: %s\n", folder, strerror(errno));
    }

    /* FMUs of a package are in a folder of their own, named after the scenario. */
    char prefix[PATH_MAX + 2] = "";
    if (inside[0])
        snprintf(prefix, sizeof prefix, "%.4000s/", behind_last(unpacked, '/'));
    else if (found && strcmp(whole[0], whole[1]) != 0)
        snprintf(prefix, sizeof prefix, "%s/", whole[0]);
    options.mesh_folder = prefix;

    /* A file that cannot be read is invalid input. */
    yk_import *import = NULL;
    int code = EXIT_MISUSE;
    if (found) {
        yk_status status = yk_import_read(context, model, &options, &import);
        if (status != YK_OK)
            print_failure(context);
    }

    if (import && write_scenario(import, output, path))
        code = EXIT_GOOD;
    else if (import)
        code = EXIT_FAILED;

    /* Remove an unpacked folder that is not used. */
    if (code != EXIT_GOOD && unpacked[0])
        yk_archive_remove(context, yk_text_copy(context, unpacked));

    yk_import_destroy(import);
    yk_context_destroy(context);
    return code;
}

/* Systems of FMUs ------------------------------------------------------------------------------ */

/* The FMUs of a description are next to it, those of a package in the folder of the scenario. */
char *ssp_open(yk_context *context, const char *path, char **folder)
{
    yk_import_options options = yk_import_options_default();
    char description[4200];
    char beside[4200] = "";
    yk_status status;
    *folder = NULL;

    /* Paths in a description are relative to it, although the scenario is elsewhere. */
    if (ends_in(path, ".ssp")) {
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
        written = write_scenario(import, file, path);
    } else {
        print_failure(context);
    }

    /* Without a scenario the folder is useless. */
    yk_import_destroy(import);
    if (written)
        return strdup(file);

    yk_archive_remove(context, *folder);
    *folder = NULL;
    return NULL;
}

static int export_ssp(int argc, char **argv)
{
    option_list sets = {0};
    const char *output = NULL;
    const char *scenario;

    const option_row rows[] = {
        {"output", OPTION_TEXT, &output, "FILE", "Write the package to FILE"},
        SET_ROW(&sets),
        {.kind = OPTION_END},
    };

    int parsed = options_parse(ssp_export_usage, rows, argc, argv, &scenario, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    if (!output) {
        print_err("yoke: name the package to be written with -o FILE.ssp\n");
        return EXIT_MISUSE;
    }

    /* The writer reads it again, to pack the files that the scenario names. */
    int code;
    yk_context *context = open_checked(scenario, &sets, &code);
    if (!context)
        return code;

    code = EXIT_GOOD;
    yk_status status =
        yk_ssp_write(context, resolve_scenario(scenario), sets.items, sets.count, output);
    if (status == YK_OK)
        print_out("%s: SSP 1.0\n", output);
    else
        code = print_refusal(context, NULL, status);

    yk_context_destroy(context);
    return code;
}

int command_ssp(int argc, char **argv)
{
    /* There is one subcommand; others may be added. */
    static const command_row commands[] = {{.name = "export", .run = export_ssp}};
    return run_subcommand(ssp_usage, commands, 1, argc, argv);
}
