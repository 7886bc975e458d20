/* yoke completion: completion of commands, options and files for shells. yoke man: manual pages. Both
 * follow from the option tables of the commands. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* Commands and their options ------------------------------------------------------------------- */

enum { DESCRIPTIONS_MAX = 48, OPTIONS_MAX = 48, NAME_MAX_LENGTH = 32 };

typedef struct description {
    char name[NAME_MAX_LENGTH]; /* "run", "fmu info" */
    const char *usage;
    int option_count;
    struct described_option {
        const char *name, *argument, *help;
    } options[OPTIONS_MAX];
} description;

typedef struct described_option described_option;

typedef struct description_list {
    int count;
    description items[DESCRIPTIONS_MAX];
} description_list;

/* Length of the words of the command at the start of a usage: lower case, without operands. */
static size_t command_length(const char *usage)
{
    size_t length = 0;
    for (size_t at = 0; islower((unsigned char)usage[at]);) {
        size_t word = strspn(usage + at, "abcdefghijklmnopqrstuvwxyz-");
        if (usage[at + word] != ' ' && usage[at + word] != '\n' && usage[at + word] != '\0')
            break;
        length = at + word;
        at = length + (usage[length] == ' ');
    }
    return length;
}

static void add_description(void *user, const char *usage, const option_row *rows)
{
    description_list *list = user;
    if (list->count == DESCRIPTIONS_MAX)
        return;

    description *d = &list->items[list->count++];
    *d = (description){.usage = usage};
    snprintf(d->name, sizeof d->name, "%.*s", (int)command_length(usage), usage);
    for (const option_row *row = rows; row->kind != OPTION_END; row++)
        if (row->kind != OPTION_RENAMED && d->option_count < OPTIONS_MAX)
            d->options[d->option_count++] = (described_option){row->name, row->argument, row->help};
}

static const description_list *describe_commands(void)
{
    static description_list list;
    int count;
    const command_row *commands = program_commands(&count);
    options_describe(add_description, &list);
    for (int i = 0; i < count; i++) {
        if (!commands[i].name)
            continue;
        char name[NAME_MAX_LENGTH];
        snprintf(name, sizeof name, "%s", commands[i].name);
        char *argv[] = {name, NULL};
        commands[i].run(1, argv);
    }
    options_describe(NULL, NULL);
    return &list;
}

/* Whether an option takes the name of a file or folder. */
static bool takes_file(const described_option *option)
{
    const char *argument = option->argument;
    return argument && (strcmp(argument, "FILE") == 0 || strcmp(argument, "FOLDER") == 0 ||
                        strcmp(argument, "BASE") == 0);
}

/* The shell command that lists the values of a command's first operand other than files, or NULL. */
static const char *operand_values(const description *d, char *text, size_t capacity)
{
    const char *operand = d->usage + strlen(d->name);
    operand += strspn(operand, " [");
    if (strncmp(operand, "SCENARIO", 8) == 0)
        return "yoke models 2>/dev/null | sed 's/^ *//; s/ .*//'";

    /* Words with bars between them are the only values, as in "bash|zsh|fish". */
    size_t length = strspn(operand, "abcdefghijklmnopqrstuvwxyz|");
    if (!memchr(operand, '|', length) || length + 6 > capacity)
        return NULL;

    snprintf(text, capacity, "echo %.*s", (int)length, operand);
    for (char *at = text; *at; at++)
        if (*at == '|')
            *at = ' ';
    return text;
}

static const char *second_word(const char *name)
{
    const char *space = strchr(name, ' ');
    return space ? space + 1 : NULL;
}

/* The subcommands of a command, with spaces between them; false if it has none. */
static bool subcommands_of(const description_list *list, const char *command, char *words,
                           size_t capacity)
{
    size_t length = strlen(command);
    size_t used = 0;
    words[0] = '\0';
    for (int i = 0; i < list->count; i++) {
        const char *name = list->items[i].name;
        if (strncmp(name, command, length) == 0 && name[length] == ' ' && used < capacity)
            used += (size_t)snprintf(words + used, capacity - used, "%s%s", used ? " " : "",
                                     name + length + 1);
    }
    return used > 0;
}

/* Bash ----------------------------------------------------------------------------------------- */

static void print_bash(const description_list *list, const command_row *commands, int count)
{
    printf("# Completion of yoke for bash. Load it with: source <(yoke completion bash)\n"
           "_yoke() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local command='' sub='' options='' words='' values='' i\n"
           "    COMPREPLY=()\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n"
           "        -*) ;;\n"
           "        *) if [ -z \"$command\" ]; then command=${COMP_WORDS[i]}; else "
           "sub=${COMP_WORDS[i]}; "
           "break; fi ;;\n"
           "        esac\n"
           "    done\n"
           "    if [ \"$prev\" = --color ]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- \"$cur\")\n"
           "        return\n"
           "    fi\n"
           "    case \"$command $sub\" in\n"
           "    ' ') words='");
    for (int i = 0; i < count; i++)
        if (commands[i].name)
            printf("%s ", commands[i].name);
    printf("' options='--no-external-code --color --version --help' ;;\n");

    for (int i = 0; i < count; i++) {
        char words[256];
        if (commands[i].name && subcommands_of(list, commands[i].name, words, sizeof words))
            printf("    '%s ') words='%s' options='--help' ;;\n", commands[i].name, words);
    }

    for (int i = 0; i < list->count; i++) {
        const description *d = &list->items[i];
        printf("    '%s%s) options='", d->name, second_word(d->name) ? "'" : " '*");
        for (int k = 0; k < d->option_count; k++)
            printf("--%s ", d->options[k].name);
        printf("--color --help'");
        char text[64];
        const char *values = operand_values(d, text, sizeof text);
        if (values)
            printf("; values=$(%s)", values);
        printf(" ;;\n");
    }

    printf("    esac\n"
           "    if [[ $cur == -* ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
           "    elif [ -n \"$words\" ]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
           "    else\n"
           "        compopt -o filenames 2>/dev/null\n"
           "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"; compgen -W \"$values\" -- "
           "\"$cur\")\n"
           "    fi\n"
           "}\n"
           "complete -F _yoke yoke\n");
}

/* Zsh ------------------------------------------------------------------------------------------ */

/* Text inside of single quotes and brackets of _arguments. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh_options(const description *d)
{
    printf("        _arguments -s");
    for (int k = 0; k < d->option_count; k++) {
        const described_option *option = &d->options[k];
        printf(" \\\n            '%s--%s", option->argument ? "*" : "", option->name);
        printf("[");
        print_zsh_text(option->help);
        printf("]");
        if (option->argument) {
            printf(":");
            print_zsh_text(option->argument);
            printf(":%s", takes_file(option) ? "_files" : "");
        }
        printf("'");
    }
    char text[64];
    const char *values = operand_values(d, text, sizeof text);
    printf(
        " \\\n            '--color[Use color]:when:(auto always never)' '--help[Print this help]'");
    if (values)
        printf(" '1: :_yoke_operand'");
    printf(" '*:file:_files'\n");
}

static void print_zsh(const description_list *list, const command_row *commands, int count)
{
    printf("#compdef yoke\n"
           "# Completion of yoke for zsh: put it into a folder of $fpath as _yoke.\n"
           "_yoke() {\n"
           "    local -a commands\n"
           "    commands=(\n");
    for (int i = 0; i < count; i++) {
        if (!commands[i].name)
            continue;
        printf("        '%s:", commands[i].name);
        print_zsh_text(commands[i].summary);
        printf("'\n");
    }
    printf("    )\n"
           "    if ((CURRENT == 2)); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local name=$words[2]\n"
           "    case $name in\n"
           "    ");
    bool first = true;
    for (int i = 0; i < count; i++) {
        char words[256];
        if (!commands[i].name || !subcommands_of(list, commands[i].name, words, sizeof words))
            continue;
        printf("%s%s", first ? "" : "|", commands[i].name);
        first = false;
    }
    printf(") name+=\" $words[3]\" ;;\n"
           "    esac\n"
           "    if ((CURRENT == 3)) && [[ $name == *' '* ]]; then\n"
           "        case $words[2] in\n");
    for (int i = 0; i < count; i++) {
        char words[256];
        if (commands[i].name && subcommands_of(list, commands[i].name, words, sizeof words))
            printf("        %s) compadd %s ;;\n", commands[i].name, words);
    }
    printf("        esac\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    ((CURRENT--))\n"
           "    _yoke_operand() { _files; compadd -- ${=$(eval $values)} }\n"
           "    local values=''\n"
           "    case $name in\n");
    for (int i = 0; i < list->count; i++) {
        char text[64];
        const char *values = operand_values(&list->items[i], text, sizeof text);
        printf("    '%s')\n", list->items[i].name);
        if (values)
            printf("        values=\"%s\"\n", values);
        print_zsh_options(&list->items[i]);
        printf("        ;;\n");
    }
    printf("    esac\n"
           "}\n"
           "_yoke \"$@\"\n");
}

/* Fish ----------------------------------------------------------------------------------------- */

static void print_fish_text(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('\'');
}

static void print_fish(const description_list *list, const command_row *commands, int count)
{
    printf(
        "# Completion of yoke for fish: yoke completion fish > "
        "~/.config/fish/completions/yoke.fish\n"
        "complete -c yoke -n __fish_use_subcommand -l no-external-code -d 'Refuse scenarios that "
        "load plug-ins, FMUs or libraries'\n"
        "complete -c yoke -n __fish_use_subcommand -l version -d 'Print the version'\n"
        "complete -c yoke -l help -d 'Print help'\n"
        "complete -c yoke -l color -x -a 'auto always never' -d 'Use color'\n");
    for (int i = 0; i < count; i++) {
        char words[256];
        if (!commands[i].name)
            continue;
        printf("complete -c yoke -f -n __fish_use_subcommand -a %s -d ", commands[i].name);
        print_fish_text(commands[i].summary);
        printf("\n");
        if (subcommands_of(list, commands[i].name, words, sizeof words))
            printf("complete -c yoke -f -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                   commands[i].name, words);
    }

    for (int i = 0; i < list->count; i++) {
        const description *d = &list->items[i];
        const char *sub = second_word(d->name);
        int first = (int)strcspn(d->name, " ");
        char text[64];
        const char *values = operand_values(d, text, sizeof text);
        if (values)
            printf("complete -c yoke -n '__fish_seen_subcommand_from %s' -a \"(%s%s)\"\n", d->name,
                   values, strncmp(values, "echo", 4) == 0 ? " | string split ' '" : "");
        for (int k = 0; k < d->option_count; k++) {
            const described_option *option = &d->options[k];
            printf("complete -c yoke -n '__fish_seen_subcommand_from %.*s", first, d->name);
            if (sub)
                printf("; and __fish_seen_subcommand_from %s", sub);
            printf("' -l %s", option->name);
            if (strcmp(option->name, "output") == 0)
                printf(" -s o");
            if (option->argument)
                printf(takes_file(option) ? " -r" : " -x");
            printf(" -d ");
            print_fish_text(option->help);
            printf("\n");
        }
    }
}

static const char completion_usage[] =
    "completion bash|zsh|fish\n\n"
    "Print the completion of commands, options, models and files for a shell. For bash, put "
    "`source <(yoke completion bash)` into ~/.bashrc. For zsh, write it as _yoke into a folder of "
    "$fpath, for fish as ~/.config/fish/completions/yoke.fish.";

int command_completion(int argc, char **argv)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    const option_row rows[] = {{.kind = OPTION_END}};
    const char *shell;
    int parsed = options_parse(completion_usage, rows, argc, argv, &shell, 1, 1);
    if (parsed < 0)
        return options_exit(parsed);

    int index;
    if (!options_pick("completion", shell, shells, &index))
        return EXIT_MISUSE;

    int count;
    const command_row *commands = program_commands(&count);
    const description_list *list = describe_commands();
    if (index == 0)
        print_bash(list, commands, count);
    else if (index == 1)
        print_zsh(list, commands, count);
    else
        print_fish(list, commands, count);
    return EXIT_GOOD;
}

/* Manual pages --------------------------------------------------------------------------------- */

/* Text of roff: backslashes and hyphens are escaped, and no line begins with a control character. */
static void print_roff(FILE *page, const char *text, size_t length)
{
    for (size_t i = 0; i < length && text[i]; i++) {
        bool at_line_start = i == 0 || text[i - 1] == '\n';
        if (at_line_start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", page);
        if (text[i] == '\\')
            fputs("\\e", page);
        else if (text[i] == '-')
            fputs("\\-", page);
        else
            fputc(text[i], page);
    }
}

static void print_title(FILE *page, const char *name)
{
    fprintf(page, ".TH \"");
    for (const char *at = name; *at; at++)
        fputc(*at == ' ' ? '-' : toupper((unsigned char)*at), page);
    fprintf(page, "\" 1 \"\" \"yoke %s\" \"Yoke\"\n.nh\n", yk_version());
}

static void print_exit_codes(FILE *page)
{
    fprintf(page, ".SH EXIT STATUS\n"
                  ".TP\n0\nSuccess.\n"
                  ".TP\n1\nThe command failed; compare, reproduce: the runs differ.\n"
                  ".TP\n2\nInvalid input: options, scenario or file.\n"
                  ".TP\n3\nThe command finished, but the result is not trustworthy (run), or the "
                  "coupling is unstable (stability).\n");
}

static const char *summary_of(const char *name, const command_row *commands, int count)
{
    for (int i = 0; i < count; i++)
        if (commands[i].name && strcmp(commands[i].name, name) == 0)
            return commands[i].summary;
    return NULL;
}

static void print_command_page(FILE *page, const description *d, const command_row *commands,
                               int count)
{
    char title[NAME_MAX_LENGTH + 8];
    snprintf(title, sizeof title, "yoke %s", d->name);
    print_title(page, title);

    const char *text = strstr(d->usage, "\n\n");
    const char *description_text = text ? text + 2 : "";
    size_t synopsis = text ? (size_t)(text - d->usage) : strlen(d->usage);
    const char *summary = summary_of(d->name, commands, count);
    size_t summary_length = summary ? strlen(summary) : strcspn(description_text, ".:");

    fprintf(page, ".SH NAME\nyoke");
    for (const char *at = title + 4; *at; at++)
        fputs(*at == ' ' ? "\\-" : (char[]){*at, '\0'}, page);
    fprintf(page, " \\- ");
    print_roff(page, summary ? summary : description_text, summary_length);
    fprintf(page, "\n.SH SYNOPSIS\n.nf\nyoke ");
    print_roff(page, d->usage, synopsis);
    fprintf(page, "\n.fi\n.SH DESCRIPTION\n");
    print_roff(page, description_text, strlen(description_text));

    fprintf(page, "\n.SH OPTIONS\n");
    for (int i = 0; i < d->option_count; i++) {
        const described_option *option = &d->options[i];
        fprintf(page, ".TP\n.B ");
        if (strcmp(option->name, "output") == 0)
            fprintf(page, "\\-o, ");
        fprintf(page, "\\-\\-");
        print_roff(page, option->name, strlen(option->name));
        if (option->argument) {
            fputc(' ', page);
            print_roff(page, option->argument, strlen(option->argument));
        }
        fputc('\n', page);
        print_roff(page, option->help, strlen(option->help));
        fprintf(page, ".\n");
    }
    fprintf(page, ".TP\n.B \\-\\-color WHEN\nUse color: auto, always or never (default: auto).\n"
                  ".TP\n.B \\-\\-help\nPrint this help.\n");
    print_exit_codes(page);
    fprintf(page, ".SH SEE ALSO\n.BR yoke (1)\n");
}

static void print_program_page(FILE *page, const command_row *commands, int count)
{
    print_title(page, "yoke");
    fprintf(page, ".SH NAME\nyoke \\- co\\-simulation of mechanical systems\n"
                  ".SH SYNOPSIS\n.B yoke\n[OPTIONS] COMMAND [ARGUMENTS]\n"
                  ".SH DESCRIPTION\n"
                  "Yoke couples simulations of mechanical systems: multibody mechanisms, flexible "
                  "beams, particles with frictional contact, hydraulics, controllers and FMUs. A "
                  "system is described by a scenario, a YAML file.\n");
    for (int i = 0; i < count; i++) {
        if (!commands[i].name) {
            fprintf(page, ".SS %s\n", commands[i].summary);
            continue;
        }
        fprintf(page, ".TP\n.B %s\n", commands[i].name);
        print_roff(page, commands[i].summary, strlen(commands[i].summary));
        fprintf(page, ".\n");
    }
    fprintf(page,
            ".SH OPTIONS\n"
            ".TP\n.B \\-\\-no\\-external\\-code\nRefuse scenarios that load plug\\-ins, FMUs or "
            "libraries.\n"
            ".TP\n.B \\-\\-color WHEN\nUse color: auto, always or never (default: auto).\n"
            ".TP\n.B \\-\\-version\nPrint the version and the options of the build.\n"
            ".TP\n.B \\-\\-help\nPrint this help.\n"
            ".SH ENVIRONMENT\n"
            ".TP\n.B NO_COLOR\nIf set, text is not styled.\n");
    print_exit_codes(page);
}

/* One page into a folder, as "yoke-run.1"; without a folder to the standard output. */
static bool write_page(const char *folder, const description *d, const command_row *commands,
                       int count)
{
    yk_output output = {0};
    char path[4096] = "";
    FILE *page = stdout;
    if (folder) {
        size_t used = (size_t)snprintf(path, sizeof path, "%s/yoke", folder);
        if (d && used < sizeof path)
            snprintf(path + used, sizeof path - used, "-%s", d->name);
        for (char *at = path + strlen(folder) + 1; *at; at++)
            if (*at == ' ')
                *at = '-';
        strncat(path, ".1", sizeof path - strlen(path) - 1);
        output = yk_output_open(path);
        page = output.stream;
    }

    if (page && d)
        print_command_page(page, d, commands, count);
    else if (page)
        print_program_page(page, commands, count);
    return !folder || close_written(&output, path);
}

static const char man_usage[] =
    "man [COMMAND [SUBCOMMAND]] [OPTIONS]\n\n"
    "Print the manual page of Yoke or of a command, for example `yoke man run | man -l -`.";

int command_man(int argc, char **argv)
{
    const char *folder = NULL;
    const option_row rows[] = {
        {"output", OPTION_TEXT, &folder, "FOLDER", "Write the pages of all commands into FOLDER"},
        {.kind = OPTION_END},
    };

    const char *words[2] = {NULL, NULL};
    int parsed = options_parse(man_usage, rows, argc, argv, words, 0, 2);
    if (parsed < 0)
        return options_exit(parsed);

    int count;
    const command_row *commands = program_commands(&count);
    const description_list *list = describe_commands();
    if (folder) {
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return print_unwritable(folder);
        bool good = write_page(folder, NULL, commands, count);
        for (int i = 0; good && i < list->count; i++)
            good = write_page(folder, &list->items[i], commands, count);
        return good ? EXIT_GOOD : EXIT_FAILED;
    }

    if (!words[0])
        return write_page(NULL, NULL, commands, count) ? EXIT_GOOD : EXIT_FAILED;

    char name[NAME_MAX_LENGTH];
    snprintf(name, sizeof name, "%s%s%s", words[0], words[1] ? " " : "", words[1] ? words[1] : "");
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return write_page(NULL, &list->items[i], commands, count) ? EXIT_GOOD : EXIT_FAILED;

    print_err("yoke: there is no manual page of '%s'; `yoke --help` lists the commands\n", name);
    return EXIT_MISUSE;
}
