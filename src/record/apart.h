/* Work in a child process, for libraries that do not survive everything that they are given: the
 * child may crash, run for ever or take all memory, and the caller gets an error.
 *
 * The child is a copy of the caller with the calling thread alone, and goes on without another
 * program being started, because the library cannot know one. POSIX allows little to such a copy of a process
 * with threads; the C library here allows memory and streams as well, and `lock` covers the library at work. What
 * remains are locks of others that a thread held at that moment: a child that waits for one stands
 * still, is ended, and another copy is made, until one finds the lock free. Work may therefore be begun several times; it
 * is received once. */
#ifndef YK_RECORD_APART_H
#define YK_RECORD_APART_H

#include <stdint.h>

#include "yoke/base.h"

typedef struct yk_apart_def {
    /* In the child, which has a copy of everything; what it writes to `stream` is for `receive`.
     * Its status, its message and `result` come back, nothing else. */
    yk_status (*work)(void *user, int stream);
    /* In the caller, while the child works, up to the end of the stream; NULL: nothing comes. */
    yk_status (*receive)(void *user, int stream);
    void *user;
    void *result;
    size_t result_bytes; /* at most YK_APART_RESULT_MAX */

    /* Limits of the child: time of the processor (s), memory beyond that of the caller, and seconds
     * for which it may stand still. */
    double seconds;
    uint64_t bytes;
    int idle_seconds; /* at most, of the last attempt; YK_APART_IDLE unless a test is in a hurry */

    /* Hold, while the process is copied, what other threads may be within of; both may be NULL. */
    void (*lock)(void);
    void (*unlock)(void);

    /* The beginning of the message about a child that did not come to its end: "reading 'a.h5'". */
    const char *what;
    bool *crashed; /* set where it crashed or took too much; may be NULL */
} yk_apart_def;

enum { YK_APART_RESULT_MAX = 512, YK_APART_IDLE = 20 };

/* YK_ERROR_INPUT where the child crashed or took too much; YK_ERROR_EXTERNAL where there can be
 * none, or it stood still, as one does that waits for a lock of a thread that was not copied. */
yk_status yk_apart(yk_context *context, const yk_apart_def *def);

#endif
