/* Functions shared by the commands of the program: exit codes, options from tables, scenarios with
 * their messages, findings as text, progress and interrupts.
 *
 * A command is a function command_NAME in the file of its name or of a related one, with a row in
 * main.c. */
#ifndef YOKE_CLI_H
#define YOKE_CLI_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "yoke/analysis.h"
#include "yoke/scenario.h"

/* Exit codes of every command. EXIT_UNTRUSTED: the work was done, but its result is not
 * trustworthy: a run with serious findings, an unstable coupling. */
enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2, EXIT_UNTRUSTED = 3 };

/* A command or subcommand; argv[0] is its name. It returns the exit code. */
typedef struct command_row {
    const char *name;    /* NULL: the row is a heading */
    const char *summary; /* NULL for a subcommand: the usage of its command lists it */
    int (*run)(int argc, char **argv);
} command_row;

/* Runs the subcommand named by argv[1]. Without one, prints the usage: to stdout for --help,
 * otherwise to stderr. */
int run_subcommand(const char *usage, const command_row *rows, int count, int argc, char **argv);

/* The commands of the program, with headings. */
const command_row *program_commands(int *count);

int command_completion(int argc, char **argv);
int command_man(int argc, char **argv);
int command_new(int argc, char **argv);
int command_models(int argc, char **argv);
int command_run(int argc, char **argv);
int command_recover(int argc, char **argv);
int command_resume(int argc, char **argv);
int command_reproduce(int argc, char **argv);
int command_advise(int argc, char **argv);
int command_check(int argc, char **argv);
int command_draw(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_report(int argc, char **argv);
int command_export(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_stability(int argc, char **argv);
int command_convergence(int argc, char **argv);
int command_modes(int argc, char **argv);
int command_linearize(int argc, char **argv);
int command_frequency_response(int argc, char **argv);
int command_flexible(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_contact(int argc, char **argv);
int command_fmu(int argc, char **argv);
int command_schema(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_ssp(int argc, char **argv);
int command_import(int argc, char **argv);

/* Printing (print.c) --------------------------------------------------------------------------- */

/* printf and fprintf for the terminal: control characters other than newline and tab, and bytes
 * that are not UTF-8, are printed as \xNN. Only progress lines, whose text is Yoke's own, are
 * printed directly. */
void print_to(FILE *stream, const char *format, ...) YK_PRINTF(2, 3);
void print_out(const char *format, ...) YK_PRINTF(1, 2); /* to stdout */
void print_err(const char *format, ...) YK_PRINTF(1, 2); /* to stderr */

/* Styles of text on a terminal. */
typedef enum text_style {
    STYLE_TITLE,   /* bold */
    STYLE_DIM,     /* table headers, remarks */
    STYLE_GOOD,    /* green */
    STYLE_WARNING, /* yellow */
    STYLE_SERIOUS, /* red */
    STYLE_ALARM,   /* white on red */
    STYLE_FILE,    /* underlined */
    STYLE_COUNT
} text_style;

typedef enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_when;

/* COLOR_AUTO: styles appear on terminals, unless NO_COLOR is set or TERM is "dumb". */
void set_color(color_when when);
/* print_to in a style. */
void print_styled(FILE *stream, text_style style, const char *format, ...) YK_PRINTF(3, 4);

/* "--color" or "--color=WHEN". */
bool is_color_option(const char *argument);
/* Reads the value of --color; false after a message. */
bool choose_color(const char *when);

/* Options -------------------------------------------------------------------------------------- */

enum { OPTION_LIST_MAX = 64 };

typedef struct option_list {
    int count;
    const char *items[OPTION_LIST_MAX];
} option_list;

/* One row per option determines its parsing, its errors and its line in --help. */
typedef struct option_row {
    const char *name; /* without the dashes */
    enum {
        OPTION_FLAG,    /* bool */
        OPTION_NUMBER,  /* double */
        OPTION_COUNT,   /* int, 0 or more */
        OPTION_TEXT,    /* const char * */
        OPTION_LIST,    /* option_list: may be given several times */
        OPTION_RENAMED, /* retired name; `argument` is the new one */
        OPTION_END
    } kind;
    void *target;
    const char *argument; /* placeholder of the value in --help: "FILE" */
    const char *help;
} option_row;

/* Rows shared by several commands. */
#define SET_ROW(list)                                                            \
    {                                                                            \
        "set", OPTION_LIST, list, "PATH=VALUE",                                  \
            "Override a value of the scenario, e.g. --set coupling.scheme=tight" \
    }
#define JSON_ROW(flag)                                                              \
    {                                                                               \
        "json", OPTION_FLAG, flag, NULL, "Print one JSON object instead of a table" \
    }
#define RENAMED_ROW(old, new)                                    \
    {                                                            \
        .name = (old), .kind = OPTION_RENAMED, .argument = (new) \
    }

/* Parses argv[1..]: options into their targets, the rest in order into `operands` (at most
 * `operand_max`, at least `operand_min`). Returns the number of operands, -1 after an error message
 * on stderr, or -2 after --help was answered on stdout. */
int options_parse(const char *usage, const option_row *rows, int argc, char **argv,
                  const char **operands, int operand_min, int operand_max);

/* From now on, options_parse() only calls this function with the usage and the rows of the command,
 * and returns -2; NULL: normal operation. */
typedef void options_visitor(void *user, const char *usage, const option_row *rows);
void options_describe(options_visitor *visit, void *user);

/* The exit code for a negative return value of options_parse(). */
static inline int options_exit(int parsed)
{
    return parsed == -2 ? EXIT_GOOD : EXIT_MISUSE;
}

/* Whether an argument requests the usage. */
static inline bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* Index of an option's word in the NULL-terminated list of valid ones; false after a message on
 * stderr. */
bool options_pick(const char *option, const char *word, const char *const *words, int *index);
/* The same for an operand with this name in messages. */
bool operand_pick(const char *name, const char *word, const char *const *words, int *index);
/* The same for the names of the schemes of the library. */
bool options_pick_scheme(const char *option, const char *word, int *index);

/* Whether the name of an output file has one of these endings ("svg", NULL-terminated), or none;
 * false after a message on stderr. An ending is two to five letters after the last dot: "run.v2"
 * has none. NULL and "-" are valid. */
bool options_ending(const char *option, const char *file, const char *const *endings);

/* Whether a name has this ending, such as ".csv", and something before it. */
bool ends_in(const char *name, const char *ending);
/* The text after the last of these marks, such as the name of a file without its folder; the whole
 * text if there is none. */
const char *behind_last(const char *text, char mark);

/* "FIRST:LAST:COUNT", optionally followed by ":log" for equal ratios; false: the text is something
 * else. */
bool read_range(const char *text, yk_map_axis *range);
/* The values of a range in the form of an override after `=`, with their letters in *letters; the
 * caller frees both. NULL: memory is missing. */
const char **spell_range(const yk_map_axis *range, char **letters);

/* Scenarios ------------------------------------------------------------------------------------ */

typedef struct loaded {
    yk_context *context;
    yk_diagnostics *diagnostics;
    yk_scenario *scenario;
    int code; /* the exit code for a failed load */
} loaded;

/* Purpose of loading a scenario. */
typedef enum load_purpose {
    LOAD_TO_RUN,
    LOAD_AGAIN,         /* to run, after it was loaded before: warnings have been printed */
    LOAD_TO_DIFFERENCE, /* for differences of runs (see yk_scenario_def) */
    LOAD_TO_CHECK /* prints all warnings, including those about problems that a run corrects */
} load_purpose;

/* Loads and prints the messages on stderr. False, with the exit code and nothing to close: it has
 * errors. */
bool load_scenario(const char *path, const option_list *sets, load_purpose purpose, loaded *out);
/* The same for an existing description. */
bool load_scenario_def(const yk_scenario_def *def, load_purpose purpose, loaded *out);
void close_scenario(loaded *out);

/* The name of a scenario in tables and pictures: its title, otherwise its path. */
static inline const char *scenario_title(const yk_scenario_info *info)
{
    if (*info->title)
        return info->title;
    return info->path;
}

/* The path itself, or the scenario of the model library with this name if there is no such file. */
const char *resolve_scenario(const char *path);
/* A scenario with its overrides, for analyses that load it themselves. */
yk_scenario_def scenario_def(const char *path, const option_list *sets);
/* Applies to all scenarios that are loaded later. */
void forbid_plugins(void);

/* The exit code if the user's input could not be read: wrong input, unless memory is missing. */
static inline int input_code(yk_status status)
{
    return status == YK_ERROR_MEMORY ? EXIT_FAILED : EXIT_MISUSE;
}

/* The command line as one text, each argument quoted for a shell. */
struct yk_text;
void join_arguments(yk_context *context, struct yk_text *text, int argc, const char *const *argv);

/* The scenario of a model of the library by its name; false: there is none. */
bool find_model(const char *name, char *path, size_t capacity);

/* The file of this program; false: it is unknown. */
bool find_program(char *path, size_t capacity);
/* The first existing one of the files, relative to the folder of the program; false: none. */
bool find_beside_program(const char *const *candidates, size_t count, char *path, size_t capacity);

/* A context whose warnings go to stderr; NULL after a message. */
yk_context *open_context(void);
/* The same for work on a scenario that loads it itself, after it was checked for errors; NULL after
 * they were printed, with the exit code. */
yk_context *open_checked(const char *path, const option_list *sets, int *code);

/* From now on, reports progress while a scenario is loaded to run, such as settling particles, a
 * few times per second. */
void watch_loading(void (*see)(void *user, const char *message), void *user);

/* Messages ------------------------------------------------------------------------------------- */

/* Prints the messages of the list; true: there are errors. */
bool print_diagnostics(const yk_diagnostics *diagnostics);

/* Prints the context's last message as the program's; returns EXIT_FAILED. */
int print_failure(const yk_context *context);
/* The same for a message that does not contain the name of its file. */
int print_failure_of(const char *file, const yk_context *context);
/* Reports that memory is missing; returns EXIT_FAILED. */
int print_no_memory(void);
/* Reports that a file cannot be written, with the reason in errno; returns EXIT_FAILED. */
int print_unwritable(const char *file);
/* Completes an output file, also one that could not be opened. False after a message: it could not
 * be written completely, and the old file is unchanged. */
bool close_written(yk_output *output, const char *file);

/* Reports the reason of a status other than YK_OK of work on a scenario: its errors, or the last
 * message. Returns the exit code. */
int print_refusal(yk_context *context, const yk_diagnostics *diagnostics, yk_status status);

/* " --set 'PATH=VALUE'" for each, as on a command line. */
void print_overrides(const option_list *sets);

/* "s" of a plural. */
static inline const char *plural(long long count)
{
    return count == 1 ? "" : "s";
}

/* Progress ------------------------------------------------------------------------------------- */

/* From now on an interrupt (SIGINT, SIGTERM) is only noted. */
void catch_interrupts(void);
/* Time (ms) that a macro step may continue after an interrupt. */
void set_grace(int time);
bool was_interrupted(void);

/* "run 3 of 12" on a terminal; `user` is the noun. False after an interrupt. */
bool show_count(void *user, int done, int total);
/* A bar with a percentage at the start of a line of the terminal, on stderr. */
void show_bar(double fraction);
/* Prints an empty line after progress on a terminal. */
void clear_progress(void);

/* Systems of FMUs (import.c) ------------------------------------------------------------------- */

/* Converts a package (.ssp) or description (.ssd) to a scenario in a temporary folder, to be
 * removed with yk_archive_remove(); the caller frees its path. NULL after a message. */
char *ssp_open(yk_context *context, const char *path, char **folder);

#endif
