/* yoke export: converts recorded runs to formats of other programs. yoke recover: writes the
 * results file of an interrupted run from its journal. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "yoke/record.h"

static const char export_usage[] =
    "export RESULTS -o FILE [OPTIONS]\n"
    "\n"
    "Convert a recorded run: FILE.vtkhdf for ParaView (needs frames), FILE.csv for "
    "all channels, one line per sample.";

static const char recover_usage[] =
    "recover FILE.part [OPTIONS]\n"
    "\n"
    "Write a results file from the journal of a run that was killed or could not "
    "finish writing. At most about the last second before the end is missing. The "
    "journal is kept.";

int command_export(int argc, char **argv)
{
    const char *results = NULL;
    const char *file = NULL;

    const option_row rows[] = {
        {"output", OPTION_TEXT, &file, "FILE", "Write to FILE; the extension selects the format"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(export_usage, rows, argc, argv, &results, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    /* The ending determines the content: the motion, or the numbers. */
    bool scene = file && ends_in(file, ".vtkhdf");
    if (!scene && !(file && ends_in(file, ".csv"))) {
        print_err("yoke: name the file with -o: FILE.vtkhdf for ParaView, FILE.csv for the "
                  "numbers\n");
        return EXIT_MISUSE;
    }

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    yk_status status = YK_OK;
    yk_record *record = NULL;
    size_t count = 0;
    const char *what = "sample";
    if (scene) {
        /* A record that cannot be read is invalid input. */
        if (yk_record_load(context, results, &record) != YK_OK) {
            print_failure(context);
            yk_context_destroy(context);
            return EXIT_MISUSE;
        }

        count = yk_record_frame_count(record);
        what = "step";
        status = yk_record_export_vtkhdf(context, record, file);
    } else {
        status = yk_record_convert(context, results, file, &count);
    }

    /* Reports the written file; or the reason of a failure, and an alternative. */
    int code = EXIT_GOOD;
    if (status == YK_OK) {
        print_out("%s: %zu %s%s\n", file, count, what, plural((long long)count));
    } else {
        print_failure(context);
        code = EXIT_FAILED;
        if (status == YK_ERROR_INPUT || access(results, R_OK) != 0)
            code = EXIT_MISUSE;

        if (scene && count == 0)
            print_err(
                "yoke: its subsystems have nothing to draw, or record.frames (--frames) was 0; "
                "-o FILE.csv works\n");
    }

    yk_record_destroy(record);
    yk_context_destroy(context);
    return code;
}

/* Length of the name of the results file in that of its journal: FILE.part, FILE.part.old or
 * FILE.part.old.N. 0: another name. */
static size_t results_length(const char *journal)
{
    static const char ending[] = ".part";
    const char *found = NULL;
    for (const char *at = strstr(journal, ending); at; at = strstr(at + 1, ending))
        found = at;
    if (!found)
        return 0;

    const char *rest = found + strlen(ending);
    if (strncmp(rest, ".old", 4) == 0)
        rest += 4;
    if (rest[0] == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    return *rest ? 0 : (size_t)(found - journal);
}

/* The ranges of time lost by damage. */
static int print_gaps(const yk_recovery_report *recovery, const char *part)
{
    print_err("yoke: %s is damaged: %llu bytes in %zu place%s were left out. Samples or frames are "
              "missing\n",
              part, (unsigned long long)recovery->damaged_bytes, recovery->gap_count,
              plural((long long)recovery->gap_count));
    for (size_t i = 0; i < recovery->gap_count && i < YK_RECOVERY_GAPS; i++) {
        const yk_recovery_gap *gap = &recovery->gaps[i];
        char after[40] = "from the start";
        char before[48] = "to the end";
        if (!isnan(gap->after))
            snprintf(after, sizeof after, "after t = %.9g s", gap->after);
        if (!isnan(gap->before))
            snprintf(before, sizeof before, "before t = %.9g s", gap->before);
        print_err("yoke:   %s and %s\n", after, before);
    }

    if (recovery->gap_count > YK_RECOVERY_GAPS)
        print_err("yoke:   and in %zu more places\n", recovery->gap_count - YK_RECOVERY_GAPS);
    return EXIT_UNTRUSTED;
}

int command_recover(int argc, char **argv)
{
    const char *part = NULL;
    const char *output = NULL;

    const option_row rows[] = {
        {"output", OPTION_TEXT, &output, "FILE",
         "Write results to FILE, whose ending selects the format (default: FILE without .part)"},
        {.kind = OPTION_END},
    };

    int parsed = options_parse(recover_usage, rows, argc, argv, &part, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    /* A results file of another run is overwritten only if it is named. */
    char name[4096];
    if (!output) {
        size_t kept = results_length(part);
        snprintf(name, sizeof name, "%.*s", (int)kept, part);
        if (kept == 0 || kept >= sizeof name) {
            print_err("yoke: '%s' does not end in .part: name the results file with -o FILE\n",
                      part);
            return EXIT_MISUSE;
        }

        if (access(name, F_OK) == 0) {
            print_err("yoke: '%s' already exists and belongs to another run. Choose another name "
                      "with -o\n",
                      name);
            return EXIT_MISUSE;
        }

        output = name;
    }

    yk_context *context = open_context();
    if (!context)
        return EXIT_FAILED;

    /* All data written before the run ended or was stopped. */
    yk_recovery_report recovery;
    yk_status status = yk_record_recover_journal(context, part, output, &recovery);

    int code = EXIT_GOOD;
    if (status != YK_OK) {
        code = print_refusal(context, NULL, status);
    } else {
        print_out("%s: %zu sample%s", output, recovery.row_count,
                  plural((long long)recovery.row_count));
        if (recovery.frame_count > 0)
            print_out(", %zu frame%s", recovery.frame_count,
                      plural((long long)recovery.frame_count));
        if (!recovery.is_complete)
            print_out("; the run did not come to its end\n");
        else
            print_out("%s\n", recovery.gap_count == 0 ? ", complete" : "");

        /* The block that was being written when the run was killed does not count as a loss. */
        if (recovery.damaged_bytes > 0 && recovery.gap_count == 0)
            print_out("  %llu damaged bytes at the end of %s were left out\n",
                      (unsigned long long)recovery.damaged_bytes, part);
        if (recovery.gap_count > 0)
            code = print_gaps(&recovery, part);
    }

    yk_context_destroy(context);
    return code;
}
