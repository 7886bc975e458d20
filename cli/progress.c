#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void catch_interrupts(void)
{
    signal(SIGINT, note_interrupt);
    signal(SIGTERM, note_interrupt);
}

bool was_interrupted(void)
{
    return interrupted;
}

bool show_count(void *user, int done, int total)
{
    const char *noun = user;
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%s %d of %d%s", noun, done, total, done == total ? "\n" : "");
    return !interrupted;
}
