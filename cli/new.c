/* yoke new: a commented scenario to start from. The files are in cli/starters. */
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* CMake defines YOKE_STARTERS, the folder of the files, which the assembler puts into the program. */
#define EMBED(name)                                          \
    __asm__(".section .rodata\n"                             \
            ".global starter_" #name "\n"                    \
            "starter_" #name ":\n"                           \
            ".incbin \"" YOKE_STARTERS "/" #name ".yaml\"\n" \
            ".byte 0\n"                                      \
            ".previous\n");                                  \
    extern const char starter_##name[]

EMBED(coupled);
EMBED(multibody);
EMBED(nonsmooth);
EMBED(oscillator);
EMBED(hydraulic);
EMBED(control);

typedef struct starter {
    const char *kind, *summary, *text;
} starter;

static const starter starters[] = {
    {"coupled", "a mechanism and a body with contact, joined at a hinge", starter_coupled},
    {"multibody", "bodies and joints in one solver", starter_multibody},
    {"nonsmooth", "rigid bodies with frictional contact", starter_nonsmooth},
    {"oscillator", "two masses, the smallest coupled system", starter_oscillator},
    {"hydraulic", "a hydraulic cylinder under position control", starter_hydraulic},
    {"control", "an arm whose motor is commanded by a controller", starter_control},
};

enum { STARTER_COUNT = sizeof starters / sizeof *starters };

static const char usage[] =
    "new [KIND] [OPTIONS]\n\n"
    "Write a commented scenario to start from. KIND is coupled (a mechanism and a body with "
    "contact; "
    "default), multibody, nonsmooth (contact), oscillator, hydraulic or control.";

int command_new(int argc, char **argv)
{
    const char *kind = "coupled";
    const char *file = "scenario.yaml";
    const option_row rows[] = {
        {"output", OPTION_TEXT, &file, "FILE",
         "Write the scenario to FILE, - for standard output (default: scenario.yaml)"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, &kind, 0, 1);
    if (parsed < 0)
        return options_exit(parsed);

    const char *kinds[STARTER_COUNT + 1] = {NULL};
    for (int i = 0; i < STARTER_COUNT; i++)
        kinds[i] = starters[i].kind;
    int index;
    if (!operand_pick("KIND", kind, kinds, &index))
        return EXIT_MISUSE;

    const starter *s = &starters[index];
    if (strcmp(file, "-") == 0) {
        fputs(s->text, stdout);
        return EXIT_GOOD;
    }

    /* A scenario is work: it is never overwritten. */
    if (access(file, F_OK) == 0) {
        print_err("yoke: '%s' already exists. Choose another name with -o\n", file);
        return EXIT_MISUSE;
    }

    yk_output output = yk_output_open(file);
    if (output.stream)
        fputs(s->text, output.stream);
    if (!close_written(&output, file))
        return EXIT_FAILED;

    print_out("%s: %s\nRun it with `yoke run %s`.\n", file, s->summary, file);
    return EXIT_GOOD;
}
