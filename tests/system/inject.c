/* Runs a command in which one call to the kernel fails, or before one of which it is killed: faults
 * of disks and machines, at a chosen place.
 *
 * usage: inject FOLDER reads|writes NUMBER COMMAND [ARGUMENT ...]
 *
 *   reads    the NUMBER-th read from a file in FOLDER fails with EIO
 *   writes   all processes of the command are killed before the NUMBER-th call that writes to a file
 *            in FOLDER, waits for the disk, renames or removes a file
 *
 * Number 0 only counts. The last line on stderr is "inject: COUNT calls". Children of the command are
 * included. The exit code is that of the command, 137 after the kill, 77 on machines without ptrace. */
#define _DEFAULT_SOURCE /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __linux__ && defined __x86_64__

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS_MAX = 256, SKIPPED = 77, KILLED = 137 };

typedef enum fault { FAIL_READ, KILL_BEFORE_WRITE } fault;

typedef struct task {
    pid_t id;
    bool inside;  /* between the entry of a call and its return */
    bool failing; /* the call was replaced, and returns EIO */
} task;

typedef struct injection {
    const char *folder;
    fault fault;
    long chosen, count;
    pid_t command;
    task tasks[TASKS_MAX];
    int task_count;
} injection;

static task *find_task(injection *in, pid_t id)
{
    for (int i = 0; i < in->task_count; i++)
        if (in->tasks[i].id == id)
            return &in->tasks[i];

    /* Places of tasks that have ended are used again. */
    int place = in->task_count;
    for (int i = 0; i < in->task_count; i++)
        if (in->tasks[i].id == 0)
            place = i;
    if (place == TASKS_MAX) {
        fprintf(stderr, "inject: more than %d tasks\n", TASKS_MAX);
        exit(1);
    }
    if (place == in->task_count)
        in->task_count++;
    in->tasks[place] = (task){.id = id};
    return &in->tasks[place];
}

static bool is_in_folder(const injection *in, pid_t id, unsigned long long file)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/fd/%llu", (int)id, file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;

    path[length] = '\0';
    return strncmp(path, in->folder, strlen(in->folder)) == 0;
}

static bool is_target(const injection *in, pid_t id, const struct user_regs_struct *registers)
{
    switch (registers->orig_rax) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv: return in->fault == FAIL_READ && is_in_folder(in, id, registers->rdi);
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_ftruncate:
    case SYS_fsync:
    case SYS_fdatasync:
        return in->fault == KILL_BEFORE_WRITE && is_in_folder(in, id, registers->rdi);
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_unlink:
    case SYS_unlinkat: return in->fault == KILL_BEFORE_WRITE;
    default: return false;
    }
}

/* At the entry or the return of a call. */
static void handle_call(injection *in, task *t)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, t->id, NULL, &registers) != 0)
        return;

    t->inside = !t->inside;
    if (!t->inside && t->failing) {
        t->failing = false;
        registers.rax = (unsigned long long)-EIO;
        ptrace(PTRACE_SETREGS, t->id, NULL, &registers);
    }
    if (!t->inside || !is_target(in, t->id, &registers) || ++in->count != in->chosen)
        return;

    if (in->fault == KILL_BEFORE_WRITE) {
        kill(-in->command, SIGKILL);
    } else {
        t->failing = true;
        registers.orig_rax = (unsigned long long)-1; /* no such call */
        ptrace(PTRACE_SETREGS, t->id, NULL, &registers);
    }
}

static int trace(injection *in)
{
    int code = KILLED;
    int state;
    pid_t id;
    while ((id = waitpid(-1, &state, __WALL)) > 0) {
        task *t = find_task(in, id);
        if (WIFEXITED(state) || WIFSIGNALED(state)) {
            if (id == in->command)
                code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
            t->id = 0;
            continue;
        }

        /* Stops of the tracer itself are not for the command; signals are. */
        int number = WSTOPSIG(state);
        if (number == (SIGTRAP | 0x80))
            handle_call(in, t);
        bool own = number == (SIGTRAP | 0x80) || number == SIGTRAP || state >> 16 != 0 ||
                   number == SIGSTOP;
        ptrace(PTRACE_SYSCALL, id, NULL, (void *)(long)(own ? 0 : number));
    }

    return code;
}

int main(int argc, char **argv)
{
    bool reads = argc > 4 && strcmp(argv[2], "reads") == 0;
    bool writes = argc > 4 && strcmp(argv[2], "writes") == 0;
    char folder[PATH_MAX];
    if ((!reads && !writes) || !realpath(argv[1], folder)) {
        fprintf(stderr, "usage: inject FOLDER reads|writes NUMBER COMMAND [ARGUMENT ...]\n");
        return 2;
    }

    injection in = {.folder = folder,
                    .fault = reads ? FAIL_READ : KILL_BEFORE_WRITE,
                    .chosen = strtol(argv[3], NULL, 10)};
    in.command = fork();
    if (in.command == 0) {
        setpgid(0, 0);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(SKIPPED);
        raise(SIGSTOP);
        execvp(argv[4], argv + 4);
        _exit(127);
    }

    int state;
    if (in.command < 0 || waitpid(in.command, &state, 0) < 0 || !WIFSTOPPED(state))
        return SKIPPED;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                   PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, in.command, NULL, (void *)options) != 0)
        return SKIPPED;
    ptrace(PTRACE_SYSCALL, in.command, NULL, NULL);
    int code = trace(&in);
    fprintf(stderr, "inject: %ld calls\n", in.count);
    return code;
}

#else

int main(void)
{
    fprintf(stderr, "inject: only for Linux on x86_64\n");
    return 77;
}

#endif
