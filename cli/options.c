/* Options of the commands, from tables; their subcommands and words. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli.h"

enum { NAMES_MAX = 64 };

enum { HELP_COLUMN = 31, LINE_WIDTH = 100 };

/* Prints words, wrapped at LINE_WIDTH; later lines are indented. */
static void print_wrapped(const char *text, size_t width, int indent)
{
    while (*text) {
        size_t word = strcspn(text, " ");
        if (width + 1 + word > LINE_WIDTH) {
            print_out("\n%*s", indent, "");
            width = (size_t)indent;
        }
        print_out("%s%.*s", width == 0 ? "" : " ", (int)word, text);
        width += word + 1;
        text += word;
        text += strspn(text, " ");
    }
    print_out("\n");
}

/* The short form of an option, or "": -o is the only one. */
static const char *short_form(const char *name)
{
    return strcmp(name, "output") == 0 ? "-o, " : "";
}

static void print_help_row(const char *name, const char *argument, const char *help)
{
    char option[80];
    snprintf(option, sizeof option, "%s--%s%s%s", short_form(name), name, argument ? " " : "",
             argument ? argument : "");
    print_out("  %-*s", HELP_COLUMN - 3, option);

    /* A long option has its help on the next line. */
    size_t width = HELP_COLUMN - 1;
    if (strlen(option) > HELP_COLUMN - 3)
        width = LINE_WIDTH;
    print_wrapped(help, width, HELP_COLUMN - 1);
}

static void print_usage(const char *usage, const option_row *rows)
{
    const char *description = strstr(usage, "\n\n");
    size_t synopsis = description ? (size_t)(description - usage) : strlen(usage);
    print_out("Usage: yoke %.*s\n\n", (int)synopsis, usage);
    if (description) {
        print_wrapped(description + 2, 0, 0);
        print_out("\n");
    }

    for (const option_row *row = rows; row->kind != OPTION_END; row++)
        if (row->kind != OPTION_RENAMED)
            print_help_row(row->name, row->argument, row->help);
    print_help_row("color", "WHEN", "Use color: auto, always or never (default: auto)");
    print_help_row("help", NULL, "Print this help");
}

/* The row of an option: by its name, or "-o". The last row if unknown. */
static const option_row *find_option(const option_row *rows, const char *argument, size_t length)
{
    const option_row *row = rows;
    for (; row->kind != OPTION_END; row++) {
        if (argument[1] != '-' && length == 1 && argument[1] == 'o' &&
            strcmp(row->name, "output") == 0)
            break;
        if (argument[1] == '-' && strlen(row->name) == length &&
            strncmp(row->name, argument + 2, length) == 0)
            break;
    }
    return row;
}

bool is_color_option(const char *argument)
{
    static const char name[] = "--color";
    size_t length = sizeof name - 1;
    return strncmp(argument, name, length) == 0 &&
           (argument[length] == '\0' || argument[length] == '=');
}

bool choose_color(const char *when)
{
    static const char *const words[] = {
        [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};
    int index;
    if (!when) {
        print_err("yoke: --color needs a value: auto, always or never\n");
        return false;
    }

    if (!options_pick("color", when, words, &index))
        return false;
    set_color((color_when)index);
    return true;
}

static void print_unknown_option(const option_row *rows, const char *argument, size_t length)
{
    const char *names[NAMES_MAX + 1] = {NULL};
    int count = 0;
    for (const option_row *row = rows; row->kind != OPTION_END && count < NAMES_MAX; row++)
        if (row->kind != OPTION_RENAMED)
            names[count++] = row->name;

    char word[64];
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *nearest = yk_text_nearest(word, names);

    /* A single letter may be the first letter of an option. */
    for (int i = 0; !nearest && length == 1 && i < count; i++)
        if (names[i][0] == word[0])
            nearest = names[i];

    print_err("yoke: unknown option '%s'", argument);
    if (nearest)
        print_err(". Did you mean '--%s'?", nearest);
    print_err("\n");
}

/* Reads the option at argv[*index], and its value from the same or the next argument. */
static bool read_option(const option_row *rows, int argc, char **argv, int *index)
{
    const char *argument = argv[*index];
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    const option_row *row = find_option(rows, argument, length);
    if (is_color_option(argument)) {
        const char *when = argument[length + 2] == '=' ? argument + length + 3 : NULL;
        if (!when && *index + 1 < argc)
            when = argv[++*index];
        return choose_color(when);
    }

    if (row->kind == OPTION_END) {
        print_unknown_option(rows, argument, length);
        return false;
    }

    if (row->kind == OPTION_RENAMED) {
        print_err("yoke: --%s was renamed to --%s\n", row->name, row->argument);
        return false;
    }

    /* A value after '=', or the next argument; a flag has none. */
    const char *value = NULL;
    if (name[length] == '=')
        value = name + length + 1;

    /* "--quiet=no" would mean the opposite. */
    if (row->kind == OPTION_FLAG) {
        if (value)
            print_err("yoke: --%s takes no value\n", row->name);
        *(bool *)row->target = true;
        return !value;
    }

    if (!value && *index + 1 < argc)
        value = argv[++*index];

    if (!value) {
        print_err("yoke: %s needs a value: %s\n", argument, row->argument);
        return false;
    }

    /* Stores the value in the target of its row. The whole text must be a number: "1e-3x" is an
     * error, not 1e-3. */
    char *end;
    errno = 0;
    switch (row->kind) {
    case OPTION_NUMBER: {
        double number = yk_text_number(value, &end);
        if (end == value || *end || !isfinite(number)) {
            print_err("yoke: --%s expects a number, not '%s'\n", row->name, value);
            return false;
        }

        *(double *)row->target = number;
        return true;
    }

    case OPTION_COUNT: {
        long number = strtol(value, &end, 10);
        if (end == value || *end || errno || number < 0 || number > INT_MAX) {
            print_err("yoke: --%s expects a non-negative integer, not '%s'\n", row->name, value);
            return false;
        }

        *(int *)row->target = (int)number;
        return true;
    }

    case OPTION_LIST: {
        option_list *list = row->target;
        if (list->count == OPTION_LIST_MAX) {
            print_err("yoke: --%s is given more than %d times\n", row->name, OPTION_LIST_MAX);
            return false;
        }

        if (!*value) {
            print_err("yoke: --%s needs a value that is not empty: %s\n", row->name, row->argument);
            return false;
        }

        list->items[list->count++] = value;
        return true;
    }

    case OPTION_TEXT: *(const char **)row->target = value; return true;
    case OPTION_FLAG:
    case OPTION_RENAMED:
    case OPTION_END: break;
    }

    return false;
}

/* After an error: the usage without its description. */
static void print_synopsis(const char *usage)
{
    const char *end = strstr(usage, "\n\n");
    print_err("Usage: yoke %.*s\n", end ? (int)(end - usage) : (int)strlen(usage), usage);
}

static options_visitor *visitor;
static void *visitor_user;

void options_describe(options_visitor *visit, void *user)
{
    visitor = visit;
    visitor_user = user;
}

int options_parse(const char *usage, const option_row *rows, int argc, char **argv,
                  const char **operands, int operand_min, int operand_max)
{
    if (visitor) {
        visitor(visitor_user, usage, rows);
        return -2;
    }

    int count = 0;
    bool only_operands = false;

    /* Options and operands may come in any order; after "--" there are only operands. */
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        bool option = !only_operands && argument[0] == '-' && argument[1];
        if (option && strcmp(argument, "--") == 0) {
            only_operands = true;
        } else if (option && is_help(argument)) {
            print_usage(usage, rows);
            return -2;
        } else if (option) {
            if (!read_option(rows, argc, argv, &i))
                return -1;
        } else if (count == operand_max) {
            print_err("yoke: unexpected argument '%s'\n", argument);
            print_synopsis(usage);
            return -1;
        } else {
            operands[count++] = argument;
        }
    }

    if (count < operand_min) {
        print_err("yoke: missing argument\n");
        print_synopsis(usage);
        return -1;
    }

    return count;
}

/* Prints the expected words in place of an unknown one. */
static void print_unknown_word(const char *word, const char *const *words)
{
    const char *nearest = yk_text_nearest(word, words);
    print_err("unknown value '%s'", word);
    if (nearest)
        print_err(". Did you mean '%s'?", nearest);
    print_err("\n  Valid values:");
    for (int i = 0; words[i]; i++)
        print_err("%s %s", i ? "," : "", words[i]);
    print_err("\n");
}

bool operand_pick(const char *name, const char *word, const char *const *words, int *index)
{
    for (*index = 0; words[*index]; ++*index)
        if (strcmp(word, words[*index]) == 0)
            return true;

    print_err("yoke: %s: ", name);
    print_unknown_word(word, words);
    return false;
}

bool options_pick(const char *option, const char *word, const char *const *words, int *index)
{
    for (*index = 0; words[*index]; ++*index)
        if (strcmp(word, words[*index]) == 0)
            return true;

    print_err("yoke: --%s: ", option);
    print_unknown_word(word, words);
    return false;
}

bool options_ending(const char *option, const char *file, const char *const *endings)
{
    if (!file)
        return true;

    const char *name = file + yk_text_folder(file);
    const char *dot = strrchr(name, '.');
    size_t length = dot ? strlen(dot + 1) : 0;
    if (!dot || dot == name || length < 2 || length > 5)
        return true;
    for (const char *at = dot + 1; *at; at++)
        if (!isalpha((unsigned char)*at))
            return true;

    for (int i = 0; endings[i]; i++)
        if (strcmp(dot + 1, endings[i]) == 0)
            return true;

    print_err("yoke: %s %s: '%s' files cannot be written; let the name end in", option, file, dot);
    for (int i = 0; endings[i]; i++) {
        const char *before = i == 0 ? "" : endings[i + 1] ? "," : " or";
        print_err("%s .%s", before, endings[i]);
    }
    print_err("\n");
    return false;
}

bool options_pick_scheme(const char *option, const char *word, int *index)
{
    const char *words[32] = {NULL};
    for (int i = 0; yk_scheme_at(i) && i < 31; i++)
        words[i] = yk_scheme_at(i)->name;
    return options_pick(option, word, words, index);
}

int run_subcommand(const char *usage, const command_row *rows, int count, int argc, char **argv)
{
    for (int i = 0; visitor && i < count; i++)
        rows[i].run(argc, argv);
    if (visitor)
        return EXIT_GOOD;

    for (int i = 0; i < count && argc > 1; i++)
        if (strcmp(argv[1], rows[i].name) == 0)
            return rows[i].run(argc - 1, argv + 1);

    if (argc > 1 && is_help(argv[1])) {
        fputs(usage, stdout);
        return EXIT_GOOD;
    }

    fputs(usage, stderr);
    return EXIT_MISUSE;
}

bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name);
    size_t tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

const char *behind_last(const char *text, char mark)
{
    const char *last = strrchr(text, mark);
    if (last)
        return last + 1;
    return text;
}

bool read_range(const char *text, yk_map_axis *range)
{
    /* Two ends, each with a ':' behind it. */
    double *const ends[2] = {&range->first, &range->last};
    char *after;
    for (int i = 0; i < 2; i++) {
        *ends[i] = yk_text_number(text, &after);
        if (after == text || *after != ':')
            return false;
        text = after + 1;
    }

    errno = 0;
    long count = strtol(text, &after, 10);
    if (after == text || errno || count < INT_MIN || count > INT_MAX)
        return false;

    range->count = (int)count;
    range->is_logarithmic = strcmp(after, ":log") == 0;
    return !*after || range->is_logarithmic;
}

const char **spell_range(const yk_map_axis *range, char **letters)
{
    enum { WIDTH = 32 };
    const char **values = malloc((size_t)range->count * sizeof *values);
    *letters = malloc((size_t)range->count * WIDTH);
    if (!values || !*letters) {
        free((void *)(uintptr_t)values);
        return NULL;
    }

    for (int i = 0; i < range->count; i++) {
        char *word = *letters + (size_t)i * WIDTH;
        snprintf(word, WIDTH, "%.15g", yk_map_axis_value(range, i));
        values[i] = word;
    }

    return values;
}
