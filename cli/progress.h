/* Progress of long work on the terminal, and Ctrl-C as a request to stop in order. */
#ifndef YOKE_CLI_PROGRESS_H
#define YOKE_CLI_PROGRESS_H

#include <stdbool.h>

/* From now on an interrupt (SIGINT, SIGTERM) is only noted. */
void catch_interrupts(void);
bool was_interrupted(void);

/* "run 3 of 12" on a terminal; `user` is the noun. False after an interrupt. */
bool show_count(void *user, int done, int total);

#endif
