/* Common parts of the commands: scenarios with their messages, findings in words, progress. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli.h"

static bool is_overdue(void *user);

/* Scenarios ------------------------------------------------------------------------------------ */

static bool plugins_forbidden;

void forbid_plugins(void)
{
    plugins_forbidden = true;
}

const char *resolve_scenario(const char *path)
{
    static char found[4096];
    if (access(path, F_OK) != 0 && find_model(path, found, sizeof found))
        return found;
    return path;
}

yk_scenario_def scenario_def(const char *path, const option_list *sets)
{
    yk_scenario_def def = yk_scenario_default();
    def.path = resolve_scenario(path);
    def.overrides = sets->items;
    def.override_count = sets->count;
    def.forbid_external_code = plugins_forbidden;
    return def;
}

static void print_log(void *user, yk_log_level level, const char *message)
{
    (void)user;
    const char *lead = "";
    if (level >= YK_LOG_WARNING)
        lead = "warning: ";
    print_err("yoke: %s%s\n", lead, message);
}

void join_arguments(yk_context *context, yk_text *text, int argc, const char *const *argv)
{
    /* Arguments with any other character are quoted, so that a shell does not change the line. */
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/@%";

    yk_text_add(context, text, "yoke");
    for (int i = 0; i < argc; i++) {
        const char *argument = argv[i];
        bool quoted = !*argument || argument[strspn(argument, plain)];
        yk_text_add(context, text, quoted ? " '" : " ");

        /* A quote cannot stand between quotes: they are closed around it. */
        for (; *argument; argument++) {
            if (*argument == '\'')
                yk_text_add(context, text, "'\\''");
            else
                yk_text_add(context, text, "%c", *argument);
        }

        if (quoted)
            yk_text_add(context, text, "'");
    }
}

bool find_program(char *path, size_t capacity)
{
    /* By the link of the kernel: argv[0] may be a name that a shell looked up. */
    ssize_t length = readlink("/proc/self/exe", path, capacity - 1);
    if (length <= 0)
        return false;

    path[length] = '\0';
    return true;
}

bool find_beside_program(const char *const *candidates, size_t count, char *path, size_t capacity)
{
    /* The folder of the program, wherever it was installed or built. */
    char program[3000];
    if (!find_program(program, sizeof program))
        return false;

    *strrchr(program, '/') = '\0';
    for (size_t i = 0; i < count; i++) {
        snprintf(path, capacity, "%s/%s", program, candidates[i]);
        if (access(path, R_OK) == 0)
            return true;
    }

    return false;
}

static void (*see_loading)(void *user, const char *message);
static void *loading_user;

void watch_loading(void (*see)(void *user, const char *message), void *user)
{
    see_loading = see;
    loading_user = user;
}

/* Progress goes to the display of progress, warnings to their usual place. */
static void watch_log(void *user, yk_log_level level, const char *message)
{
    if (level >= YK_LOG_WARNING)
        print_log(user, level, message);
    else if (level == YK_LOG_DEBUG)
        see_loading(loading_user, message);
}

static yk_context *open_context_at(yk_log_level level)
{
    yk_context_def def = yk_context_default();
    def.log = level == YK_LOG_DEBUG ? watch_log : print_log;
    def.log_level = level;
    def.should_stop = is_overdue;

    yk_context *context = yk_context_create(&def);
    if (!context)
        print_no_memory();
    return context;
}

yk_context *open_context(void)
{
    return open_context_at(YK_LOG_WARNING);
}

bool load_scenario(const char *path, const option_list *sets, load_purpose purpose, loaded *out)
{
    yk_scenario_def def = scenario_def(path, sets);
    return load_scenario_def(&def, purpose, out);
}

yk_context *open_checked(const char *path, const option_list *sets, int *code)
{
    loaded l;
    if (!load_scenario(path, sets, LOAD_TO_RUN, &l)) {
        *code = l.code;
        return NULL;
    }

    close_scenario(&l);
    *code = EXIT_FAILED;
    return open_context();
}

bool load_scenario_def(const yk_scenario_def *given, load_purpose purpose, loaded *out)
{
    /* A check says more than a run; who watches the loading sees how far it is. */
    yk_log_level level = YK_LOG_WARNING;
    if (purpose == LOAD_TO_CHECK)
        level = YK_LOG_INFO;
    else if (purpose == LOAD_TO_RUN && see_loading)
        level = YK_LOG_DEBUG;

    *out = (loaded){.context = open_context_at(level), .code = EXIT_FAILED};
    if (!out->context)
        return false;

    /* Differences of runs need states to rounding; a check need not wait until particles rest. */
    yk_scenario_def def = *given;
    def.iterate_to_rounding = purpose == LOAD_TO_DIFFERENCE;
    def.skip_settling = purpose == LOAD_TO_CHECK;

    yk_status status = yk_diagnostics_create(out->context, &out->diagnostics);
    if (status == YK_OK)
        status = yk_scenario_load(out->context, &def, out->diagnostics, &out->scenario);

    /* Warnings are printed of a good scenario too. */
    if (out->diagnostics && (purpose != LOAD_AGAIN || YK_FAILED(status)))
        print_diagnostics(out->diagnostics);
    if (!YK_FAILED(status))
        return true;

    /* All mistakes are listed above; else the message says what went wrong. */
    int errors = 0;
    if (out->diagnostics)
        errors = yk_diagnostics_error_count(out->diagnostics);
    if (errors > 0)
        print_err("%s: %d error%s\n", def.path, errors, plural(errors));
    else
        print_failure(out->context);

    close_scenario(out);
    out->code = input_code(status);
    return false;
}

void close_scenario(loaded *out)
{
    if (!out->context)
        return;

    yk_scenario_destroy(out->scenario);
    yk_diagnostics_destroy(out->diagnostics);
    yk_context_destroy(out->context);

    /* To close it once more does nothing. */
    *out = (loaded){0};
}

/* Messages ------------------------------------------------------------------------------------- */

/* The line of the file, and below it a mark under the place. */
static void print_excerpt(const yk_diagnostic *entry)
{
    if (entry->line)
        print_err("%5d", entry->line);
    else
        print_err("     ");
    print_err(" | %s\n      | %*s", entry->excerpt, entry->caret, "");

    /* The mark ends where the line ends; bytes 10xxxxxx continue a character. */
    int characters = 0;
    for (const char *at = entry->excerpt; *at; at++)
        characters += (*at & 0xc0) != 0x80;
    int length = entry->length;
    if (length > characters - entry->caret)
        length = characters - entry->caret;

    print_styled(stderr, STYLE_SERIOUS, "^");
    for (int i = 1; i < length; i++)
        print_styled(stderr, STYLE_SERIOUS, "~");
    print_err("\n");
}

bool print_diagnostics(const yk_diagnostics *diagnostics)
{
    int count = yk_diagnostics_count(diagnostics);
    for (int i = 0; i < count; i++) {
        const yk_diagnostic *entry = yk_diagnostics_at(diagnostics, i);
        if (*entry->source && entry->line)
            print_styled(stderr, STYLE_TITLE, "%s:%d:%d: ", entry->source, entry->line,
                         entry->column);
        else if (*entry->source)
            print_styled(stderr, STYLE_TITLE, "%s: ", entry->source);

        if (entry->severity == YK_SEVERITY_ERROR)
            print_styled(stderr, STYLE_SERIOUS, "error: ");
        else
            print_styled(stderr, STYLE_WARNING, "warning: ");
        if (*entry->path)
            print_err("%s: ", entry->path);
        print_err("%s\n", entry->message);
        if (*entry->excerpt)
            print_excerpt(entry);
    }

    int errors = yk_diagnostics_error_count(diagnostics);
    int dropped = errors + yk_diagnostics_warning_count(diagnostics) - count;
    if (dropped > 0)
        print_err("... and %d more\n", dropped);
    return errors > 0;
}

int print_failure(const yk_context *context)
{
    print_err("yoke: %s\n", yk_last_message(context));
    return EXIT_FAILED;
}

int print_failure_of(const char *file, const yk_context *context)
{
    print_err("yoke: %s: %s\n", file, yk_last_message(context));
    return EXIT_FAILED;
}

int print_no_memory(void)
{
    print_err("yoke: out of memory\n");
    return EXIT_FAILED;
}

int print_unwritable(const char *file)
{
    print_err("yoke: cannot write %s: %s\n", file, strerror(errno));
    return EXIT_FAILED;
}

bool close_written(yk_output *output, const char *file)
{
    bool good = yk_output_close(output);
    if (!good)
        print_unwritable(file);
    return good;
}

int print_refusal(yk_context *context, const yk_diagnostics *diagnostics, yk_status status)
{
    /* A scenario with mistakes: they are the message. */
    if (YK_FAILED(status) && diagnostics && print_diagnostics(diagnostics))
        return EXIT_MISUSE;

    /* Wrong input has another exit code than work that failed. */
    print_failure(context);
    bool misuse = status == YK_ERROR_ARGUMENT || status == YK_ERROR_INPUT;
    if (misuse || status == YK_ERROR_CAPABILITY)
        return EXIT_MISUSE;
    return EXIT_FAILED;
}

void print_overrides(const option_list *sets)
{
    for (int i = 0; i < sets->count; i++)
        print_out(" --set '%s'", sets->items[i]);
}

/* Progress ------------------------------------------------------------------------------------- */

/* Time after a signal (ms) after which an unfinished macro step is abandoned. */
static int grace = 2000;

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t interrupted_at; /* ms on the clock */

static sig_atomic_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (sig_atomic_t)((now.tv_sec * 1000 + now.tv_nsec / 1000000) & 0x3fffffff);
}

void set_grace(int time)
{
    grace = time;
}

/* Signals within so many ms of the first one are the same request: terminals, launchers and batch
 * systems send several to a group of processes. */
enum { ONE_REQUEST = 500 };

/* The first signal lets the present step end and the record be closed; one that comes later ends
 * the program at once. */
static void note_interrupt(int number)
{
    static const char note[] =
        "\nyoke: stopping after this step; press Ctrl-C again to stop immediately\n";
    sig_atomic_t now = milliseconds();

    /* A second request is meant: what the signal does by itself is to happen. */
    if (interrupted) {
        if (now > interrupted_at + ONE_REQUEST) {
            signal(number, SIG_DFL);
            raise(number); /* comes when this handler returns */
        }

        return;
    }

    interrupted_at = now;
    interrupted = 1;

    /* printf is not safe here. */
    if (number == SIGINT && isatty(STDERR_FILENO))
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
}

void catch_interrupts(void)
{
    /* SIGHUP stays ignored under nohup. */
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        sigaction(signals[i], NULL, &action);
        if (signals[i] == SIGHUP && action.sa_handler == SIG_IGN)
            continue;

        action = (struct sigaction){.sa_handler = note_interrupt};
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
}

static bool is_overdue(void *user)
{
    (void)user;
    return interrupted && milliseconds() > interrupted_at + grace;
}

bool was_interrupted(void)
{
    return interrupted;
}

bool show_count(void *user, int done, int total)
{
    const char *noun = user;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s %d of %d%s", noun, done, total, done == total ? "\n" : "");
    return !interrupted;
}

void show_bar(double fraction)
{
    enum { WIDTH = 32 };
    char bar[WIDTH + 1] = "";
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < fraction * WIDTH ? '#' : ' ';

    fprintf(stderr, "\r[%s] %3.0f %%  ", bar, 100 * fraction);
}

void clear_progress(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}
