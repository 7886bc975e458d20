#include "mpi.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

/* Messages between the processes: a kind and its data. */
enum {
    MESSAGE_PLACES = 1, /* from rank 0: the rank of every subsystem */
    MESSAGE_LOADING,    /* to rank 0: subsystems are still being loaded */
    MESSAGE_READY,      /* to rank 0: subsystems are loaded, or loading has failed */
    /* from rank 0: request of costs. To rank 0: the seconds of each subsystem */
    MESSAGE_COSTS,
    MESSAGE_END,     /* from rank 0: there is no more work */
    MESSAGE_GOODBYE, /* to rank 0: this rank ends */
    SUBSYSTEMS_MAX = 1000
};

typedef struct message {
    int32_t kind;
    int32_t count; /* number of values: ranks or seconds */
    double numbers[SUBSYSTEMS_MAX];
} message;

/* s that idle ranks have to answer. */
static const double PATIENCE = 2;

/* s between signs of life of a rank that loads its subsystems. */
enum { SIGN_SECONDS = 1 };

static yk_context *context;
static yk_ranks *all;
static bool ended; /* rank 0 has sent the end */
static int places[SUBSYSTEMS_MAX];
static bool fixed[SUBSYSTEMS_MAX]; /* placed by the scenario, or by the scheme */
static int place_count;
static double costs[SUBSYSTEMS_MAX]; /* measured costs (s) */
static int cost_steps;               /* in this number of macro steps; 0: not measured */
static bool *ready;                  /* ranks that have loaded their subsystems */
static double answer_deadline;
static int visible_errors = -1; /* stderr of silenced ranks */

/* Life ----------------------------------------------------------------------------------------- */

int ranks_own(void)
{
    return all ? all->rank : 0;
}

static yk_status send_message(int to, message *m, double deadline)
{
    size_t size = offsetof(message, numbers) + (size_t)m->count * sizeof *m->numbers;
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

    /* Next to the program in a build, or where it is installed. */
    static const char *const candidates[] = {
        "yoke-mpi.so",
        "../" YOKE_LIBRARY_FOLDER "/yoke/yoke-mpi.so",
    };
    char module[4096];
    bool found = find_beside_program(candidates, sizeof candidates / sizeof *candidates, module,
                                     sizeof module);
    if (!found)
        print_err("yoke: a launcher has started several processes, but yoke-mpi.so is not "
                  "there: this program was built without MPI\n");
    else if (yk_ranks_open(context, module, &all) != YK_OK)
        found = print_failure(context) == EXIT_GOOD;
    if (found)
        ready = calloc((size_t)all->count, sizeof *ready);
    if (!found || !ready)
        return false;

    /* A launcher kills processes that have not ended a second after its signal. */
    enum { GRACE = 300 };
    set_grace(GRACE);

    /* Rank 0 reports for the others. */
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
        /* Rank 0 decides about the end. */
        while (!ended && take_message(0, &m, INFINITY) == YK_OK)
            continue;

        m = (message){.kind = MESSAGE_GOODBYE};
        send_message(0, &m, INFINITY);
        code = EXIT_GOOD;
    }

    /* Every rank must have answered, because otherwise leaving together would never end. */
    bool together = true;
    double deadline = yk_clock_seconds() + PATIENCE;
    for (int rank = 1; all->rank == 0 && rank < all->count; rank++) {
        m = (message){.kind = MESSAGE_END};
        together = send_message(rank, &m, deadline) == YK_OK && together;
    }

    /* Their last message, after everything else that they have sent. */
    for (int rank = 1; all->rank == 0 && together && rank < all->count; rank++)
        do
            together = take_message(rank, &m, deadline) == YK_OK;
        while (together && m.kind != MESSAGE_GOODBYE);

    /* A rank that does not answer would let all others wait at the end of MPI. */
    fflush(NULL);
    if (!together)
        all->driver->abort(code);

    /* Unneeded messages, such as the last request for a run: MPI requires that all of them are
     * received before it ends. */
    bool more = all->rank == 0;
    while (more) {
        int from = YK_ANY;
        int tag = YK_ANY;
        size_t size = 0;
        more = yk_ranks_wait(context, all, &from, &tag, &size, 0) == YK_OK;

        void *bytes = malloc(size + 1);
        more = more && bytes && yk_ranks_take(context, all, from, tag, bytes, size) == YK_OK;
        free(bytes);
    }

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

const yk_process_group *ranks_team(double deadline)
{
    static yk_process_group team;
    if (!all)
        return NULL;

    team =
        (yk_process_group){all->rank, all->count, team_send, team_wait, team_take, NULL, deadline};
    return &team;
}

/* Subsystems on ranks -------------------------------------------------------------------------- */

/* Rank 0: places the free subsystems, the most costly first, on the rank with the least work so far
 * (Graham's rule: at most 4/3 of the optimum). Unmeasured costs count as equal. */
static yk_status choose_places(void *user, yk_context *own, const char *const *names, int count,
                               int *ranks)
{
    (void)user;
    (void)names;
    double *loads = calloc((size_t)all->count, sizeof *loads);
    if (!loads || count > SUBSYSTEMS_MAX) {
        free(loads);
        return yk_fail(own, YK_ERROR_MEMORY, "out of memory");
    }

    for (int i = 0; i < count; i++) {
        if (cost_steps == 0)
            costs[i] = 1;
        fixed[i] = ranks[i] >= 0;
        if (fixed[i])
            loads[ranks[i]] += costs[i];
    }

    for (;;) {
        int next = -1;
        for (int i = 0; i < count; i++)
            if (ranks[i] < 0 && (next < 0 || costs[i] > costs[next]))
                next = i;
        if (next < 0)
            break;

        /* Among equal ranks the last, because rank 0 also has to do the coupling. */
        int best = all->count - 1;
        for (int rank = all->count - 2; rank >= 0; rank--)
            if (loads[rank] < loads[best])
                best = rank;
        ranks[next] = best;
        loads[best] += costs[next];
    }

    free(loads);

    /* The others wait for this before they create any. Traffic is counted from here on. */
    memset(all->traffic, 0, sizeof all->traffic);
    message m = {.kind = MESSAGE_PLACES, .count = count};
    for (int i = 0; i < count; i++) {
        m.numbers[i] = ranks[i];
        places[i] = ranks[i];
    }

    place_count = count;
    yk_status status = YK_OK;
    for (int rank = 1; status == YK_OK && rank < all->count; rank++) {
        ready[rank] = false;
        status = send_message(rank, &m, INFINITY);
    }

    return status;
}

static yk_status ask_rank(void *user, yk_context *own, const char *name, int index, int rank,
                          yk_subsystem **subsystem)
{
    (void)user;

    /* Loading may take any time, if there are signs of life. */
    message m = {0};
    while (!ready[rank]) {
        double deadline = yk_clock_seconds() + answer_deadline + SIGN_SECONDS;
        yk_status status = take_message(rank, &m, deadline);
        if (status != YK_OK)
            return yk_fail(own, status, "the partner '%s' on rank %d (host %s) %s", name, rank,
                           all->hosts[rank], yk_last_message(context));
        ready[rank] = m.kind == MESSAGE_READY;
    }

    return yk_ranks_remote(own, all, rank, index, name, answer_deadline, subsystem);
}

const yk_subsystem_placement *ranks_hosts(double deadline)
{
    static yk_subsystem_placement hosts;
    if (!all)
        return NULL;

    answer_deadline = deadline;
    hosts = (yk_subsystem_placement){
        .rank_count = all->count,
        .place = choose_places,
        .create_proxy = ask_rank,
    };
    return &hosts;
}

void ranks_print(const yk_scenario_info *info)
{
    double whole = 0;
    for (int i = 0; i < place_count; i++)
        whole += costs[i];

    for (int rank = 0; all && rank < all->count; rank++) {
        print_out("  rank %d (%s):", rank, all->hosts[rank]);
        const char *comma = "";
        double own = 0;
        for (int i = 0; i < place_count && i < info->subsystem_count; i++) {
            if (places[i] != rank)
                continue;

            print_out("%s %s", comma, info->subsystem_names[i]);
            comma = ",";
            own += costs[i];
        }

        if (cost_steps > 0 && own > 0)
            print_out("; %.0f %% of the cost", 100 * own / whole);
        print_out("\n");
    }

    if (cost_steps > 0 && all)
        print_out("  placed by what %d macro step%s cost\n", cost_steps, plural(cost_steps));
}

void ranks_print_traffic(int64_t steps)
{
    if (!all)
        return;

    /* Data that a scheme requests, recorded channels, whole states; everything else is sent once at
     * the start. */
    static const yk_frame_kind recorded[] = {YK_FRAME_CHANNELS, YK_FRAME_SOME_CHANNELS,
                                             YK_FRAME_SCENE, YK_FRAME_POSES,
                                             YK_FRAME_CONTACT_POINTS};
    static const yk_frame_kind images[] = {YK_FRAME_STATE_GET, YK_FRAME_STATE_SET};
    static const yk_frame_kind steps_of[] = {
        YK_FRAME_STEP,       YK_FRAME_ITERATE, YK_FRAME_SENSITIVITY, YK_FRAME_INTERFACE_MODEL,
        YK_FRAME_STEP_MODEL, YK_FRAME_PREDICT, YK_FRAME_NEXT_EVENT,  YK_FRAME_STEPS,
        YK_FRAME_MARK,       YK_FRAME_REWIND,  YK_FRAME_COUNTS,      YK_FRAME_RELAX};
    const struct {
        const yk_frame_kind *kinds;
        size_t count;
    } groups[] = {{steps_of, sizeof steps_of / sizeof *steps_of},
                  {recorded, sizeof recorded / sizeof *recorded},
                  {images, sizeof images / sizeof *images}};
    yk_ranks_traffic sums[3] = {{0}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (size_t k = 0; k < groups[i].count; k++) {
            const yk_ranks_traffic *one = &all->traffic[groups[i].kinds[k]];
            sums[i].messages += one->messages;
            sums[i].bytes += one->bytes;
        }

    print_out(
        "  with other ranks: %.4g messages and %.4g bytes per macro step; %.3g kB of samples and "
        "poses, %.3g kB of states\n",
        (double)sums[0].messages / (double)steps, (double)sums[0].bytes / (double)steps,
        1e-3 * (double)sums[1].bytes, 1e-3 * (double)sums[2].bytes);
}

/* Costs ---------------------------------------------------------------------------------------- */

bool ranks_measure(const loaded *l)
{
    enum { STEPS_MOST = 20, STEPS_FRACTION = 50 };
    static const double SECONDS_MOST = 2;
    if (!all)
        return false;

    /* The first steps are made twice, but external partners can be connected only once. */
    const yk_scenario_info *info = yk_scenario_get_info(l->scenario);
    if (yk_scheme_traits(&info->scheme) & YK_SCHEME_MERGES)
        return false;
    for (int i = 0; i < info->subsystem_count; i++)
        if (strcmp(info->subsystem_solvers[i], "remote") == 0 ||
            strcmp(info->subsystem_solvers[i], "mbdyn") == 0)
            return false;

    /* Another placement could be better if a movable subsystem shares its rank with others. */
    bool shares = false;
    for (int i = 0; i < place_count; i++)
        for (int k = 0; !fixed[i] && k < place_count; k++)
            if (k != i && places[k] == places[i])
                shares = true;

    yk_system *system;
    if (!shares || yk_scenario_system(l->scenario, &system) != YK_OK)
        return false;

    /* The first macro steps, a small fraction of all, but one at least. */
    int64_t most = info->step_count / STEPS_FRACTION;
    if (most < 1)
        most = 1;
    if (most > STEPS_MOST)
        most = STEPS_MOST;
    double begun = yk_clock_seconds();
    int steps = 0;
    yk_status status = yk_system_initialize(system);
    while (!YK_FAILED(status) && steps < most) {
        status = yk_system_step(system, NULL);
        if (!YK_FAILED(status))
            steps++;
        if (yk_clock_seconds() - begun > SECONDS_MOST)
            break;
    }

    /* Costs here, and reports of the others. A step that failed will fail again in the run itself,
     * which reports it. */
    double seconds[SUBSYSTEMS_MAX];
    for (int i = 0; i < place_count; i++) {
        yk_subsystem_statistics s = yk_system_subsystem_statistics(system, (yk_subsystem_id){i});
        seconds[i] = s.wall_time + s.model_wall_time;
    }

    for (int rank = 1; rank < all->count; rank++) {
        message m = {.kind = MESSAGE_COSTS};
        double deadline = yk_clock_seconds() + answer_deadline;
        status = send_message(rank, &m, deadline);
        while (status == YK_OK && (m.kind != MESSAGE_COSTS || m.count == 0))
            status = take_message(rank, &m, deadline);
        if (status != YK_OK)
            return false;

        for (int i = 0; i < place_count && i < m.count; i++)
            if (places[i] == rank)
                seconds[i] = m.numbers[i];
    }

    memcpy(costs, seconds, (size_t)place_count * sizeof *costs);
    cost_steps = steps;
    return true;
}

/* Other ranks ---------------------------------------------------------------------------------- */

/* Other ranks: as decided by rank 0. */
static yk_status hear_places(void *user, yk_context *own, const char *const *names, int count,
                             int *ranks)
{
    /* Rank 0 may need long to load, because particles settle there first. */
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
        ranks[i] = (int)m.numbers[i];
    return YK_OK;
}

/* Signs of life to rank 0 while this rank loads its subsystems, from a thread of its own. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
} signs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *send_signs(void *user)
{
    (void)user;
    pthread_mutex_lock(&signs.lock);
    while (!signs.over) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec += SIGN_SECONDS;
        if (pthread_cond_timedwait(&signs.changed, &signs.lock, &next) == 0)
            continue;

        message m = {.kind = MESSAGE_LOADING};
        send_message(0, &m, yk_clock_seconds() + SIGN_SECONDS);
    }

    pthread_mutex_unlock(&signs.lock);
    return NULL;
}

int ranks_serve(const yk_scenario_def *given)
{
    /* Interrupts are for rank 0, which requests the last step and releases the others. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    dup2(visible_errors, STDERR_FILENO);

    /* Signs of life are sent even if the system clock is changed. */
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&signs.changed, &steady);
    pthread_condattr_destroy(&steady);

    /* Results that are expensive to compute, such as settled particles, are kept for the second
     * load. */
    const yk_subsystem_placement hosts = {all->rank, all->count, hear_places, NULL, NULL};
    yk_scenario_def def = *given;
    def.placement = &hosts;
    def.cache = yk_cache_create();

    /* Load again if rank 0 has requested the costs: it will send a new placement. */
    bool again = true;
    while (again) {
        pthread_t thread;
        signs.over = false;
        bool shows = pthread_create(&thread, NULL, send_signs, NULL) == 0;

        /* Rank 0 lists the errors of a scenario. */
        place_count = -1;
        yk_scenario *scenario = NULL;
        yk_status status = yk_scenario_load(context, &def, NULL, &scenario);
        char *failure = NULL;
        if (status != YK_OK)
            failure = yk_text_copy(context, yk_last_message(context));

        pthread_mutex_lock(&signs.lock);
        signs.over = true;
        pthread_cond_signal(&signs.changed);
        pthread_mutex_unlock(&signs.lock);
        if (shows)
            pthread_join(thread, NULL);

        /* A scenario that could not be read here: rank 0 may have read it. */
        message m = {0};
        while (!ended && place_count < 0 && take_message(0, &m, INFINITY) == YK_OK)
            if (m.kind == MESSAGE_PLACES)
                place_count = m.count;

        /* A rank solves as many subsystems at the same time as the scheme would. */
        yk_subsystem *const *subsystems = NULL;
        const yk_option *rows = NULL;
        const char *options = NULL;
        if (scenario) {
            const yk_scenario_info *info = yk_scenario_get_info(scenario);
            subsystems = info->subsystems;
            rows = info->scheme.ops->options;
            options = info->scheme.options;
        }

        int threads = 1;
        for (int i = 0; rows && rows[i].key; i++) {
            if (strcmp(rows[i].key, "threads") != 0)
                continue;

            memcpy(&threads, options + rows[i].offset, sizeof threads);
            if (threads <= 0)
                threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
        }

        /* Answers requests until rank 0 has another task. */
        again = false;
        if (!ended) {
            m = (message){.kind = MESSAGE_READY};
            send_message(0, &m, INFINITY);
            double seconds[SUBSYSTEMS_MAX] = {0};
            status =
                yk_ranks_serve(context, all, subsystems, place_count, failure, threads, seconds);
            if (status == YK_OK)
                status = take_message(0, &m, INFINITY);
            again = status == YK_OK && m.kind == MESSAGE_COSTS;
            if (again) {
                m.count = place_count;
                memcpy(m.numbers, seconds, (size_t)place_count * sizeof *seconds);
                again = send_message(0, &m, INFINITY) == YK_OK;
            }
        }

        yk_scenario_destroy(scenario);
        yk_free(context, failure);
    }

    yk_cache_destroy(def.cache);
    return EXIT_GOOD;
}
