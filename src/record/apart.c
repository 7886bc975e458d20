#include "record/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

/* What the child says last. */
typedef struct outcome {
    yk_status status;
    char message[2048];
    unsigned char result[YK_APART_RESULT_MAX];
} outcome;

/* The child ------------------------------------------------------------------------------------ */

/* Lowers a limit, never beyond what there was; the process is warned at it, and ended one
 * further. */
static void limit(int resource, double most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return;

    /* Capped where the conversion to an integer would not be defined. */
    rlim_t value = (rlim_t)fmin(most, 1e18);
    if (now.rlim_cur == RLIM_INFINITY || value < now.rlim_cur)
        now.rlim_cur = value;
    if (now.rlim_max == RLIM_INFINITY || value + 1 < now.rlim_max)
        now.rlim_max = value + 1;
    setrlimit(resource, &now);
}

/* Only the thread that asks is copied. A lock that another one holds at that moment stays locked in
 * the child for ever: not one of the C library's memory and streams, which sees to that, but one of
 * another allocator, of time zones or of the host program. A child that stands still for two looks
 * in a row ends itself, and the caller makes another one. */
static double look_seconds;
static double longest_look;
static double time_used, time_waited;
static int idle_looks;
static int to_caller;

/* Seconds for which the process was ready, and others had the processor. */
static double waited(void)
{
    int file = open("/proc/self/schedstat", O_RDONLY);
    if (file < 0)
        return 0;

    /* Time on the processor first, then time spent waiting for it, both in ns. */
    char text[128];
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';

    const char *second = strchr(text, ' ');
    return second ? 1e-9 * yk_text_number(second, NULL) : 0;
}

static void look_every(double seconds)
{
    look_seconds = seconds;
    idle_looks = 0;
    struct timeval look = {.tv_sec = (time_t)seconds};
    look.tv_usec = (suseconds_t)(1e6 * (seconds - (double)look.tv_sec));
    setitimer(ITIMER_REAL, &(struct itimerval){.it_interval = look, .it_value = look}, NULL);
}

/* The caller has begun to receive: there will be no other attempt, and time enough. */
static void be_patient(int number)
{
    (void)number;
    look_every(longest_look);
}

static void end_if_still(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    double used = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    double delayed = waited();

    /* Looking takes some microseconds itself. Bytes that lie in the pipe are waited for by nobody
     * here. */
    int unread = 0;
    bool sent = ioctl(to_caller, FIONREAD, &unread) == 0 && unread > 0;
    if (sent || used - time_used > 1e-3 || delayed - time_waited > look_seconds / 2)
        idle_looks = 0;
    else
        idle_looks++;

    time_used = used;
    time_waited = delayed;

    /* Ended by its own alarm, by which the caller knows that it stood still. */
    if (idle_looks == 2) {
        signal(number, SIG_DFL);
        raise(number); /* comes when this handler returns */
    }
}

_Noreturn static void work_as_child(yk_context *context, const yk_apart_def *def, double patience,
                                    pid_t caller, int stream, int last)
{
    /* It ends with its caller, or it would hold the locks of one that was killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != caller)
        _exit(1);

    /* A crash is no affair of whoever handles signals in the caller, and prints nothing. */
    static const int signals[] = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE, SIGILL,
                                  SIGXCPU, SIGPIPE, SIGINT,  SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);

    /* It is looked after; the thread that asked may have been one that leaves these signals to
     * others. */
    struct sigaction action = {.sa_handler = end_if_still, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = be_patient;
    sigaddset(&action.sa_mask, SIGALRM);
    sigaction(SIGUSR1, &action, NULL);

    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGALRM);
    sigaddset(&mine, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &mine, NULL);

    to_caller = stream;
    longest_look = def->idle_seconds / 2.0;
    look_every(patience / 2);

    /* Limits beyond what it has: of the address space, in which is also what sanitizers reserve. */
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, ceil(def->seconds));
    char sizes[128];
    FILE *memory = fopen("/proc/self/statm", "r");
    double pages = 0;
    if (memory && fgets(sizes, sizeof sizes, memory))
        pages = yk_text_number(sizes, NULL);
    if (pages > 0)
        limit(RLIMIT_AS, pages * (double)sysconf(_SC_PAGESIZE) + (double)def->bytes);
    if (memory)
        fclose(memory);

    /* The outcome is smaller than a pipe: writing it does not wait. */
    outcome said = {0};
    said.status = def->work(def->user, stream);
    if (said.status != YK_OK)
        strncpy(said.message, yk_last_message(context), sizeof said.message - 1);
    if (def->result)
        memcpy(said.result, def->result, def->result_bytes);
    close(stream);
    ssize_t written = write(last, &said, sizeof said);

    /* Nothing that the caller would do at its end. */
    _exit(written == (ssize_t)sizeof said ? 0 : 1);
}

/* The caller ----------------------------------------------------------------------------------- */

/* Both ends of a pipe, which programs that are started meanwhile do not inherit. */
static bool open_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;

    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return true;
}

static bool read_outcome(int from, outcome *said)
{
    size_t got = 0;
    while (got < sizeof *said) {
        ssize_t more = read(from, (char *)said + got, sizeof *said - got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return false;

        got += (size_t)more;
    }

    /* Whatever came, the message has an end. */
    said->message[sizeof said->message - 1] = '\0';
    return true;
}

/* Waits until something can be read, or the other end has gone: true where something can. */
static bool wait_for_first(int stream)
{
    struct pollfd end = {.fd = stream, .events = POLLIN};
    int ready;
    do {
        ready = poll(&end, 1, -1);
    } while (ready < 0 && errno == EINTR);

    return ready > 0 && (end.revents & POLLIN) != 0;
}

/* One attempt with a child that may stand still for `patience` seconds. *still where it did so before
 * anything came from it: then another one may do better. */
static yk_status attempt(yk_context *context, const yk_apart_def *def, double patience, bool *still)
{
    /* Two pipes: one for what the work sends, one for what the child says last. */
    int stream[2];
    int last[2];
    *still = false;
    if (!open_pipe(stream))
        return yk_fail(context, YK_ERROR_EXTERNAL, "no pipe to a process of its own: %s",
                       strerror(errno));
    if (!open_pipe(last)) {
        int error = errno;
        close(stream[0]);
        close(stream[1]);
        return yk_fail(context, YK_ERROR_EXTERNAL, "no pipe to a process of its own: %s",
                       strerror(error));
    }

    /* Locks that the work needs are free in the copy. */
    if (def->lock)
        def->lock();
    pid_t caller = getpid();
    pid_t child = fork();
    int error = errno;
    if (def->unlock)
        def->unlock();

    if (child == 0) {
        /* A pipe whose reader has gone must not have another one here. */
        close(stream[0]);
        close(last[0]);
        work_as_child(context, def, patience, caller, stream[1], last[1]);
    }

    /* As long as a writing end is open here, the end of the child would not be noticed. */
    close(stream[1]);
    close(last[1]);

    /* Once something has come there is no other attempt: the child is given time. */
    yk_status received = YK_OK;
    outcome said = {0};
    bool whole = false;
    bool came = child > 0 && wait_for_first(stream[0]);
    if (came)
        kill(child, SIGUSR1);

    /* What comes, as long as it makes sense; a child to which nobody listens any more ends. */
    if (child > 0 && def->receive)
        received = def->receive(def->user, stream[0]);
    close(stream[0]);
    if (child > 0 && received != YK_OK)
        kill(child, SIGKILL);
    else if (child > 0)
        whole = read_outcome(last[0], &said);

    close(last[0]);
    if (child < 0)
        return yk_fail(context, YK_ERROR_EXTERNAL, "cannot start a process of its own: %s",
                       strerror(error));

    /* Somebody else may have waited for it: then what it said must do. */
    int state = 0;
    pid_t ended;
    do {
        ended = waitpid(child, &state, 0);
    } while (ended < 0 && errno == EINTR);

    /* Nothing that was received is lost with it. */
    bool killed = ended == child && WIFSIGNALED(state);
    bool stood_still = killed && WTERMSIG(state) == SIGALRM;
    *still = stood_still && !came;

    /* What the caller found wrong, what the child says of itself, or its result. */
    if (received != YK_OK && !stood_still)
        return received;
    if (whole && said.status != YK_OK)
        return yk_fail(context, said.status, "%s", said.message);
    if (whole) {
        if (def->result)
            memcpy(def->result, said.result, def->result_bytes);
        return YK_OK;
    }

    /* It did not come to its end. */
    if (stood_still)
        return yk_fail(
            context, YK_ERROR_EXTERNAL,
            "%s stood still for %g s in a process of its own: another thread held a lock "
            "when the process was copied, or the disk does not answer; try again",
            def->what, came ? def->idle_seconds : patience);

    /* Everything else is the fault of what it worked on. */
    if (def->crashed)
        *def->crashed = true;
    if (killed && WTERMSIG(state) == SIGXCPU)
        return yk_fail(context, YK_ERROR_INPUT, "%s did not end within %g s of the processor",
                       def->what, ceil(def->seconds));
    if (killed)
        return yk_fail(context, YK_ERROR_INPUT, "%s ended with signal %d (%s)", def->what,
                       WTERMSIG(state), strsignal(WTERMSIG(state)));
    return yk_fail(context, YK_ERROR_INPUT, "%s ended before it was done", def->what);
}

yk_status yk_apart(yk_context *context, const yk_apart_def *def)
{
    /* A lock is held for moments, so that the next copy is likely to find it free: little patience
     * at first. A disk may take long: more with every attempt. */
    static const double FIRST_PATIENCE = 0.25; /* s */
    static const double GROWTH = 1.5;

    double patience = FIRST_PATIENCE;
    bool still = true;
    while (still && patience < def->idle_seconds) {
        yk_status status = attempt(context, def, patience, &still);
        if (!still)
            return status;
        patience *= GROWTH;
    }

    return attempt(context, def, def->idle_seconds, &still);
}
