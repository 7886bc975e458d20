/* yoke recover: the results file of a run that did not come to write it, from its journal. */
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char usage[] =
    "recover FILE.part [-o FILE]\n\n"
    "A run records to a journal, FILE.part, and makes FILE of it at its end. Where it did not get\n"
    "there, because it was killed or the disk was full, this makes FILE of what the journal "
    "holds:\n"
    "everything up to about the last second before the end. The journal stays.";

int command_recover(int argc, char **argv)
{
    const char *part = NULL;
    const char *output = NULL;

    const option_row rows[] = {
        {"o", OPTION_TEXT, &output, "FILE", "the results file, .h5 or .csv [FILE without .part]"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(usage, rows, argc, argv, &part, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    /* A journal has the name of its results and one of two endings. A results file of another run
     * is not overwritten unless it is named. */
    static const char *const endings[] = {".part", ".part.old"};
    char name[4096];
    if (!output) {
        size_t length = strlen(part);
        size_t kept = 0;
        for (int i = 0; i < 2; i++) {
            size_t tail = strlen(endings[i]);
            if (length > tail && strcmp(part + length - tail, endings[i]) == 0)
                kept = length - tail;
        }

        snprintf(name, sizeof name, "%.*s", (int)kept, part);
        if (kept == 0 || kept >= sizeof name) {
            fprintf(stderr,
                    "yoke: '%s' does not end in .part: name the results file with -o FILE\n", part);
            return EXIT_MISUSE;
        }

        if (access(name, F_OK) == 0) {
            fprintf(stderr,
                    "yoke: '%s' is there already, of another run: name the results file with -o "
                    "FILE\n",
                    name);
            return EXIT_MISUSE;
        }

        output = name;
    }

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* All that was written before the run ended, whatever ended it. */
    yk_recovery recovery;
    yk_status status = yk_record_recover(context, part, output, &recovery);

    int code = EXIT_GOOD;
    if (status != YK_OK) {
        code = print_refusal(context, NULL, status);
    } else {
        printf("%s: %zu sample%s", output, recovery.rows, plural((long long)recovery.rows));
        if (recovery.frames > 0)
            printf(", %zu frame%s", recovery.frames, plural((long long)recovery.frames));
        printf("%s\n", recovery.complete ? ", complete" : "; the run did not come to its end");

        /* What a crash left half written cannot be trusted. */
        if (recovery.damaged_bytes > 0)
            printf("  %llu damaged bytes at the end of %s were left out\n",
                   (unsigned long long)recovery.damaged_bytes, part);
    }

    yk_context_destroy(context);
    return code;
}
