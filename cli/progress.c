#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

/* The first channel lets the present step end and the record be closed; the next one ends the
 * program at once. */
static void note_interrupt(int number)
{
    static const char note[] = "\nyoke: stopping after this step; once more to stop at once\n";
    interrupted = 1;
    signal(number, SIG_DFL);
    if (number == SIGINT && isatty(STDERR_FILENO))
        (void)!write(STDERR_FILENO, note, sizeof note - 1);
}

void catch_interrupts(void)
{
    signal(SIGINT, note_interrupt);
    signal(SIGTERM, note_interrupt);
    if (signal(SIGHUP, note_interrupt) == SIG_IGN)
        signal(SIGHUP, SIG_IGN); /* as under nohup */
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
