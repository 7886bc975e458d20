#include "ranks.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

/* What ranks say to each other as processes: a kind and what belongs to it. */
enum {
    MESSAGE_PLACES = 1, /* from rank 0: the rank of every subsystem */
    MESSAGE_READY,      /* to rank 0: subsystems are loaded, or could not be */
    MESSAGE_END,        /* from rank 0: no more is to be done */
    MESSAGE_GOODBYE,    /* to rank 0: this rank ends */
    SUBSYSTEMS_MAX = 1000
};

typedef struct message {
    int32_t kind;
    int32_t count;
    int32_t ranks[SUBSYSTEMS_MAX];
} message;

/* s that ranks which have nothing more to do may take to say so. */
static const double PATIENCE = 2;

static yk_context *context;
static yk_ranks *all;
static bool ended; /* rank 0 has said so */
static int places[SUBSYSTEMS_MAX];
static int place_count;
static bool *ready; /* ranks that have loaded their subsystems */
static double answer_deadline;
static int visible_errors = -1; /* stderr of ranks that are silent */

/* Life ----------------------------------------------------------------------------------------- */

int ranks_own(void)
{
    return all ? all->rank : 0;
}

int ranks_count(void)
{
    return all ? all->count : 1;
}

yk_ranks *ranks_all(void)
{
    return all;
}

static yk_status send_message(int to, message *m, double deadline)
{
    size_t size = offsetof(message, ranks) + (size_t)m->count * sizeof *m->ranks;
    return yk_ranks_send(context, all, to, YK_TAG_CONTROL, m, size, deadline);
}

static yk_status take_message(int from, message *m, double deadline)
{
    int tag = YK_TAG_CONTROL;
    size_t size = 0;
    yk_status status = yk_ranks_wait(context, all, &from, &tag, &size, deadline);
    if (status != YK_OK)
        return status;
    if (size > sizeof *m)
        return yk_fail(context, YK_ERROR_EXTERNAL, "sent a message that is too long");

    status = yk_ranks_take(context, all, from, tag, m, size);
    if (status == YK_OK && m->kind == MESSAGE_END)
        ended = true;
    return status;
}

bool ranks_begin(void)
{
    if (!yk_ranks_launched())
        return true;

    context = open_context();
    if (!context)
        return false;

    /* Beside the program, as it is built, or where it is installed. */
    static const char *const candidates[] = {
        "yoke-mpi.so",
        "../" YOKE_LIBRARY_FOLDER "/yoke/yoke-mpi.so",
    };
    char module[4096];
    bool found = find_beside_program(candidates, sizeof candidates / sizeof *candidates, module,
                                     sizeof module);
    if (!found)
        fprintf(stderr, "yoke: a launcher has started several processes, but yoke-mpi.so is not "
                        "there: this program was built without MPI\n");
    else if (yk_ranks_open(context, module, &all) != YK_OK)
        found = print_failure(context) == EXIT_GOOD;
    if (found)
        ready = calloc((size_t)all->count, sizeof *ready);
    if (!found || !ready)
        return false;

    /* A launcher kills what has not ended a second after its signal. */
    enum { GRACE = 300 };
    set_grace(GRACE);

    /* What others would say, rank 0 says. */
    if (all->rank > 0) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        visible_errors = dup(STDERR_FILENO);
        if (nowhere >= 0 && visible_errors >= 0) {
            dup2(nowhere, STDOUT_FILENO);
            dup2(nowhere, STDERR_FILENO);
        }
    }

    return true;
}

int ranks_end(int code)
{
    if (!all)
        return code;

    message m = {0};
    if (all->rank > 0) {
        /* Rank 0 says when it is over. */
        while (!ended && take_message(0, &m, INFINITY) == YK_OK)
            continue;

        m = (message){.kind = MESSAGE_GOODBYE};
        send_message(0, &m, INFINITY);
        code = EXIT_GOOD;
    }

    /* Every rank must have answered, or leaving together would never end. */
    bool together = true;
    double deadline = yk_clock_seconds() + PATIENCE;
    for (int rank = 1; all->rank == 0 && rank < all->count; rank++) {
        m = (message){.kind = MESSAGE_END};
        together = send_message(rank, &m, deadline) == YK_OK && together;
    }

    for (int rank = 1; all->rank == 0 && together && rank < all->count; rank++)
        do
            together = take_message(rank, &m, deadline) == YK_OK;
        while (together && m.kind != MESSAGE_GOODBYE);

    fflush(NULL);
    if (!together)
        all->driver->abort(code);
    yk_ranks_close(all);
    all = NULL;
    free(ready);
    yk_context_destroy(context);
    return code;
}

/* Runs on ranks -------------------------------------------------------------------------------- */

enum { TAG_TEAM = YK_TAG_SUBSYSTEM + SUBSYSTEMS_MAX };

static yk_status team_send(void *user, int to, const void *bytes, size_t count)
{
    (void)user;
    return yk_ranks_send(context, all, to, TAG_TEAM, bytes, count, INFINITY);
}

static yk_status team_wait(void *user, double seconds, int *from, size_t *count)
{
    /* Rank 0 hears the others of the team; these hear rank 0, also when it has ended. */
    (void)user;
    int tag = TAG_TEAM;
    if (all->rank > 0)
        tag = YK_ANY;
    double deadline = yk_clock_seconds() + seconds;
    if (yk_ranks_wait(context, all, from, &tag, count, deadline) != YK_OK || tag != TAG_TEAM)
        return YK_INTERRUPTED;
    return YK_OK;
}

static yk_status team_take(void *user, int from, void *bytes, size_t count)
{
    (void)user;
    return yk_ranks_take(context, all, from, TAG_TEAM, bytes, count);
}

const yk_team *ranks_team(void)
{
    static yk_team team;
    if (!all)
        return NULL;

    team = (yk_team){all->rank, all->count, team_send, team_wait, team_take, NULL};
    return &team;
}

/* Subsystems on ranks -------------------------------------------------------------------------- */

/* Rank 0: those that the scenario leaves open go where the fewest are. */
static yk_status choose_places(void *user, yk_context *own, const char *const *names, int count,
                               int *ranks)
{
    (void)user;
    (void)names;
    int *loads = calloc((size_t)all->count, sizeof *loads);
    if (!loads || count > SUBSYSTEMS_MAX) {
        free(loads);
        return yk_fail(own, YK_ERROR_MEMORY, "out of memory");
    }

    for (int i = 0; i < count; i++)
        if (ranks[i] >= 0)
            loads[ranks[i]]++;
    for (int i = 0; i < count; i++) {
        if (ranks[i] >= 0)
            continue;

        /* Of equals the last: rank 0 has the coupling to do as well. */
        int best = all->count - 1;
        for (int rank = all->count - 2; rank >= 0; rank--)
            if (loads[rank] < loads[best])
                best = rank;
        ranks[i] = best;
        loads[best]++;
    }

    free(loads);

    /* The others wait for this before they make any. */
    message m = {.kind = MESSAGE_PLACES, .count = count};
    for (int i = 0; i < count; i++) {
        m.ranks[i] = ranks[i];
        places[i] = ranks[i];
    }

    place_count = count;
    yk_status status = YK_OK;
    for (int rank = 1; status == YK_OK && rank < all->count; rank++)
        status = send_message(rank, &m, INFINITY);
    return status;
}

static yk_status ask_rank(void *user, yk_context *own, const char *name, int index, int rank,
                          yk_subsystem **subsystem)
{
    (void)user;

    /* Loading may take as long as it likes. */
    message m = {0};
    while (!ready[rank]) {
        yk_status status = take_message(rank, &m, INFINITY);
        if (status != YK_OK)
            return yk_fail(own, status, "rank %d (host %s) %s", rank, all->hosts[rank],
                           yk_last_message(context));
        ready[rank] = m.kind == MESSAGE_READY;
    }

    return yk_ranks_remote(own, all, rank, index, name, answer_deadline, subsystem);
}

const yk_scenario_hosts *ranks_hosts(double deadline)
{
    static yk_scenario_hosts hosts;
    if (!all)
        return NULL;

    answer_deadline = deadline;
    hosts = (yk_scenario_hosts){
        .count = all->count,
        .place = choose_places,
        .stand_in = ask_rank,
    };
    return &hosts;
}

void ranks_print(const yk_scenario_info *info)
{
    for (int rank = 0; rank < ranks_count() && all; rank++) {
        printf("  rank %d (%s):", rank, all->hosts[rank]);
        const char *comma = "";
        for (int i = 0; i < place_count && i < info->subsystem_count; i++) {
            if (places[i] != rank)
                continue;

            printf("%s %s", comma, info->names[i]);
            comma = ",";
        }

        printf("\n");
    }
}

/* Other ranks: as rank 0 has decided. */
static yk_status hear_places(void *user, yk_context *own, const char *const *names, int count,
                             int *ranks)
{
    (void)user;
    (void)names;
    message m = {0};
    yk_status status = take_message(0, &m, INFINITY);
    if (status != YK_OK)
        return status;
    if (m.kind != MESSAGE_PLACES)
        return yk_fail(own, YK_INTERRUPTED, "rank 0 has ended");

    place_count = m.count;
    if (m.count != count)
        return yk_fail(own, YK_ERROR_INPUT,
                       "rank 0 has %d subsystems, rank %d has %d: they read different scenarios",
                       m.count, all->rank, count);
    for (int i = 0; i < count; i++)
        ranks[i] = m.ranks[i];
    return YK_OK;
}

/* How many subsystems a rank solves at the same time: as many as the scheme would. */
static int scheme_threads(const yk_scheme_def *scheme)
{
    const yk_option *rows = scheme->ops->options;
    for (int i = 0; rows && rows[i].key; i++) {
        if (strcmp(rows[i].key, "threads") != 0)
            continue;

        int threads;
        memcpy(&threads, (const char *)scheme->options + rows[i].offset, sizeof threads);
        if (threads > 0)
            return threads;
        return (int)sysconf(_SC_NPROCESSORS_ONLN);
    }

    return 1;
}

int ranks_serve(const yk_scenario_def *given)
{
    /* Interrupts are for rank 0, which asks for the last step and lets the others go. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    dup2(visible_errors, STDERR_FILENO);

    /* The mistakes of a scenario are listed by rank 0. */
    const yk_scenario_hosts hosts = {all->rank, all->count, hear_places, NULL, NULL};
    yk_scenario_def def = *given;
    def.hosts = &hosts;
    place_count = -1;
    yk_scenario *scenario = NULL;
    yk_status status = yk_scenario_load(context, &def, NULL, &scenario);
    char *failure = NULL;
    if (status != YK_OK)
        failure = yk_text_copy(context, yk_last_message(context));

    /* A scenario that could not be read: rank 0 may have been able to. */
    message m = {0};
    while (!ended && place_count < 0 && take_message(0, &m, INFINITY) == YK_OK)
        if (m.kind == MESSAGE_PLACES)
            place_count = m.count;

    if (!ended) {
        m = (message){.kind = MESSAGE_READY};
        send_message(0, &m, INFINITY);
        yk_subsystem *const *subsystems = NULL;
        int threads = 1;
        if (scenario) {
            const yk_scenario_info *info = yk_scenario_get(scenario);
            subsystems = info->subsystems;
            threads = scheme_threads(&info->scheme);
        }

        yk_ranks_serve(context, all, subsystems, place_count, failure, threads, NULL);
    }

    yk_scenario_destroy(scenario);
    yk_release(context, failure);
    return EXIT_GOOD;
}
