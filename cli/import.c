/* yoke import: scenarios from models of other programs. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"
#include "import/import.h"
#include "transport/fmi/archive.h"

static const char usage[] =
    "import MODEL [options]\n\n"
    "Writes a scenario from a robot in URDF, a model of MuJoCo (MJCF) or one of MBDyn (.mbd), or\n"
    "from a system of FMUs (SSP: .ssd, or a package .ssp, which is unpacked beside the scenario),\n"
    "to the standard output or to the file given by -o. What the scenario does not have is named "
    "on\n"
    "stderr, with its line in the model, and at the head of the scenario.\n\n"
    "Several joints of one body, frames, default classes, included files, loops closed by\n"
    "<connect> and <weld>, and inertia from geoms are understood. Fixed links become part of what\n"
    "they are fixed to, and ports with their names. docs/import.md lists what is read.";

/* Meshes lie where the model says, seen from the scenario: in the same folder as they are, else by
 * the whole path. The text is to be freed; NULL after a message. */
static char *folder_from_scenario(const char *model, const char *scenario)
{
    const char *const paths[2] = {model, scenario};
    char *whole[2] = {NULL, NULL};

    for (int i = 0; i < 2; i++) {
        char folder[4096] = ".";
        size_t length = paths[i] ? yk_text_folder(paths[i]) : 0;
        if (length > 0)
            snprintf(folder, sizeof folder, "%.*s", (int)length, paths[i]);

        whole[i] = realpath(folder, NULL);
        if (whole[i])
            continue;

        fprintf(stderr, "yoke: %s: %s\n", folder, strerror(errno));
        free(whole[0]);
        return NULL;
    }

    /* An empty text where both are in the same folder: names stay as they are. */
    char *text = NULL;
    if (strcmp(whole[0], whole[1]) == 0) {
        text = strdup("");
    } else {
        size_t size = strlen(whole[0]) + 2;
        text = malloc(size);
        if (text)
            snprintf(text, size, "%s/", whole[0]);
    }

    free(whole[0]);
    free(whole[1]);
    if (!text)
        fprintf(stderr, "yoke: out of memory\n");
    return text;
}

int command_import(int argc, char **argv)
{
    static const char *const solvers[] = {"automatic", "smooth", "nonsmooth", NULL};
    yk_import_options options = yk_import_default();
    const char *solver = solvers[0];
    const char *output = NULL;
    const char *path;

    const option_row rows[] = {
        {"o", OPTION_TEXT, &output, "FILE", "the scenario; without: the standard output"},
        {"solver", OPTION_TEXT, &solver, "WORD",
         "smooth, nonsmooth (with contact), or automatic: nonsmooth where something can touch the "
         "ground or is free to fall"},
        {"end", OPTION_NUMBER, &options.end, "SECONDS", "of the run (that of the model, or 1)"},
        {"step", OPTION_NUMBER, &options.step, "SECONDS",
         "of the run (that of the model, or 0.001)"},
        {"floating", OPTION_FLAG, &options.floating, NULL,
         "the root link of a URDF is free instead of fixed to the ground"},
        {.kind = OPTION_END},
    };

    int count = options_parse(usage, rows, argc, argv, &path, 1, 1);
    if (count < 0)
        return options_exit(count);

    /* The words and numbers of the options. */
    int index;
    if (!options_pick("solver", solver, solvers, &index))
        return EXIT_MISUSE;

    options.solver = index;
    if (options.end < 0 || options.step < 0) {
        fprintf(stderr, "yoke: end and step must be positive\n");
        return EXIT_MISUSE;
    }

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* A package lies beside the scenario, in a folder of the scenario's name. */
    char inside[4200] = "";
    char unpacked[4096] = "";
    if (ssp_is_package(path)) {
        const char *dot = output ? strrchr(output, '.') : NULL;
        if (!dot || strchr(dot, '/')) {
            fprintf(stderr,
                    "yoke: name the scenario with -o NAME.yaml; the FMUs of the package are "
                    "put into the folder NAME beside it\n");
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

    /* Files that the model names are found from the scenario, wherever that is written. */
    const char *model = inside[0] ? inside : path;
    char *folder = folder_from_scenario(model, output);
    options.mesh_folder = folder;

    /* FMUs of a package lie in its own folder, which is named after the scenario. */
    char prefix[4200];
    if (inside[0]) {
        const char *slash = strrchr(unpacked, '/');
        snprintf(prefix, sizeof prefix, "%.4000s/", slash ? slash + 1 : unpacked);
        options.mesh_folder = prefix;
    }

    /* What cannot be read is wrong input. */
    yk_import *import = NULL;
    int code = EXIT_MISUSE;
    if (folder) {
        yk_status status = yk_import_read(context, model, &options, &import);
        if (status != YK_OK)
            print_failure(context);
    }

    /* The whole scenario, or a message: what is half written is not used. */
    if (import) {
        FILE *to = output ? fopen(output, "w") : stdout;
        bool written = to && yk_import_write(import, to);
        if (output && to)
            written = fclose(to) == 0 && written;

        code = EXIT_GOOD;
        if (!written)
            code = print_unwritable(output ? output : "the standard output");
    }

    /* What became of it. */
    if (import && code == EXIT_GOOD)
        print_import(import, path);

    /* What was unpacked for nothing goes again. */
    if (code != EXIT_GOOD && unpacked[0])
        yk_archive_remove(context, yk_text_copy(context, unpacked));

    yk_import_destroy(import);
    yk_context_destroy(context);
    free(folder);
    return code;
}
