/* Command line options from a table: one row per option gives its parsing, its errors and its
 * line in --help. */
#ifndef YOKE_CLI_OPTIONS_H
#define YOKE_CLI_OPTIONS_H

#include <stdbool.h>

typedef enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_NUMBER, /* double */
    OPTION_COUNT,  /* int, 0 or more */
    OPTION_TEXT,   /* const char * */
    OPTION_LIST,   /* option_list: may be given several times */
    OPTION_END
} option_kind;

enum { OPTION_LIST_MAX = 64 };

typedef struct option_list {
    int count;
    const char *items[OPTION_LIST_MAX];
} option_list;

typedef struct option_row {
    const char *name; /* without the dashes; a one-letter name is given with one dash */
    option_kind kind;
    void *target;
    const char *argument; /* what stands for the value in --help: "FILE" */
    const char *help;
} option_row;

typedef struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
} command_row;

/* Exit codes of every command. */
/* EXIT_UNTRUSTED: the work was done, but its result is not to be trusted: a run with serious
 * findings, a coupling that is unstable. */
enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2, EXIT_UNTRUSTED = 3 };

/* Parses argv[1..]: options into their targets, the rest in order into `operands` (at most
 * `operand_max`, of which the first `operand_min` must be there). Returns the number of operands,
 * -1 after a message on stderr for a mistake (exit with EXIT_MISUSE), or -2 if --help was asked
 * for and answered on stdout (exit with EXIT_GOOD). */
int options_parse(const char *usage, const option_row *rows, int argc, char **argv,
                  const char **operands, int operand_min, int operand_max);

/* Index of the word that an option was given among those it knows (NULL-terminated); false after
 * a message on stderr. */
bool options_pick(const char *option, const char *word, const char *const *words, int *index);

/* The exit code that belongs to a negative return of options_parse. */
static inline int options_exit(int parsed)
{
    return parsed == -2 ? EXIT_GOOD : EXIT_MISUSE;
}

#endif
