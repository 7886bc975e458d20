/* Runs that two ranks share. Here the ranks are threads that a socket connects, each with a context
 * of its own, as the processes of an MPI launcher have. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/scenario_run.h"
#include "test.h"
#include "yoke/analysis.h"

typedef struct side {
    int socket, rank;
    atomic_bool *received; /* NULL, or set by the first message that comes */
} side;

/* Messages stay whole on such a socket; a byte before each tells an empty one from the end. */
enum { MESSAGE_MAX = 4096 };

static yk_status send_bytes(void *user, int to, const void *bytes, size_t count)
{
    const side *own = user;
    char message[MESSAGE_MAX] = {0};
    if (to != 1 - own->rank || count >= sizeof message)
        return YK_ERROR_ARGUMENT;
    memcpy(message + 1, bytes, count);
    ssize_t sent = send(own->socket, message, count + 1, MSG_NOSIGNAL);
    return sent == (ssize_t)count + 1 ? YK_OK : YK_ERROR_EXTERNAL;
}

static yk_status wait_for_bytes(void *user, double seconds, int *from, size_t *count)
{
    const side *own = user;
    struct pollfd one = {.fd = own->socket, .events = POLLIN};
    int patience = -1;
    if (isfinite(seconds))
        patience = (int)(1e3 * seconds);
    if (poll(&one, 1, patience) <= 0)
        return YK_INTERRUPTED;

    char message[MESSAGE_MAX];
    ssize_t there = recv(own->socket, message, sizeof message, MSG_PEEK);
    if (there <= 0)
        return YK_INTERRUPTED;
    *from = 1 - own->rank;
    *count = (size_t)there - 1;
    if (own->received)
        atomic_store(own->received, true);
    return YK_OK;
}

static yk_status take_bytes(void *user, int from, void *bytes, size_t count)
{
    const side *own = user;
    char message[MESSAGE_MAX];
    ssize_t got = recv(own->socket, message, sizeof message, 0);
    if (from != 1 - own->rank || got != (ssize_t)count + 1)
        return YK_ERROR_EXTERNAL;
    memcpy(bytes, message + 1, count);
    return YK_OK;
}

static void open_team(side sides[2], yk_process_group teams[2], double deadline)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    for (int i = 0; i < 2; i++) {
        sides[i] = (side){.socket = ends[i], .rank = i};
        teams[i] = (yk_process_group){.rank = i,
                                      .count = 2,
                                      .send = send_bytes,
                                      .probe = wait_for_bytes,
                                      .receive = take_bytes,
                                      .user = &sides[i],
                                      .timeout = deadline};
    }
}

/* Work that is known --------------------------------------------------------------------------- */

enum { RUNS = 8, TEXT_MAX = 160 };

/* Runs that two ranks share, and what came of it. */
typedef struct exchange {
    double deadline;        /* s */
    size_t size_of_partner; /* of a result, as rank 1 has it; 0: the right one */
    bool partner_hangs;     /* until rank 0 has ended */
    bool (*progress)(void *user, int done, int total);

    atomic_bool go, rank_0_has_ended;
    double results[RUNS];
    int finished[RUNS];
    yk_status status, status_of_partner;
    char message[TEXT_MAX], warning[TEXT_MAX];
} exchange;

/* Rank 0 begins when rank 1 has a run too, so that both have some. */
static void square_at_rank_0(void *user, int index, void *result)
{
    exchange *x = user;
    while (!atomic_load(&x->go))
        sched_yield();
    *(double *)result = index * index + 1;
}

static void square_at_rank_1(void *user, int index, void *result)
{
    exchange *x = user;
    atomic_store(&x->go, true);
    while (x->partner_hangs && !atomic_load(&x->rank_0_has_ended))
        sched_yield();
    *(double *)result = index * index + 1;
}

static void keep(void *user, int index, const void *result)
{
    exchange *x = user;
    x->results[index] = *(const double *)result;
    x->finished[index]++;
}

typedef struct partner {
    yk_trials_def work;
    yk_status status;
} partner;

static void *be_partner(void *user)
{
    partner *p = user;
    yk_context *context = yk_context_create(NULL);
    p->status = yk_trials_run(context, &p->work);
    yk_context_destroy(context);
    return NULL;
}

static void note_warning(void *user, yk_log_level level, const char *message)
{
    (void)level;
    snprintf(user, TEXT_MAX, "%s", message);
}

/* The alarm ends a test that hangs. */
static void share(exchange *x)
{
    side sides[2];
    yk_process_group teams[2];
    open_team(sides, teams, x->deadline);
    if (x->size_of_partner > 0)
        sides[0].received = &x->go;

    yk_trials_def work = {.team = &teams[0],
                          .count = RUNS,
                          .result_size = sizeof(double),
                          .work = square_at_rank_0,
                          .finish = keep,
                          .user = x,
                          .progress = x->progress};
    partner other = {.work = work};
    other.work.team = &teams[1];
    other.work.work = square_at_rank_1;
    if (x->size_of_partner > 0)
        other.work.result_size = x->size_of_partner;

    yk_context_def def = yk_context_default();
    def.log = note_warning;
    def.log_user = x->warning;
    yk_context *context = yk_context_create(&def);
    pthread_t thread;
    alarm(60);
    assert_int_equal(pthread_create(&thread, NULL, be_partner, &other), 0);
    x->status = yk_trials_run(context, &work);
    snprintf(x->message, sizeof x->message, "%s", yk_last_message(context));

    /* Nothing comes to rank 1 any more. */
    shutdown(sides[0].socket, SHUT_RDWR);
    atomic_store(&x->rank_0_has_ended, true);
    pthread_join(thread, NULL);
    alarm(0);
    x->status_of_partner = other.status;
    close(sides[0].socket);
    close(sides[1].socket);
    yk_context_destroy(context);
}

static void assert_all_results(const exchange *x)
{
    assert_int_equal(x->status, YK_OK);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(x->finished[i], 1);
        assert_near(x->results[i], i * i + 1, 0);
    }
}

static void all_results_come_to_rank_0_once(void **state)
{
    (void)state;
    exchange x = {0};
    share(&x);
    assert_all_results(&x);
    assert_int_equal(x.status_of_partner, YK_OK);
    assert_string_equal(x.warning, "");
}

static void runs_of_a_lost_rank_are_made_again(void **state)
{
    (void)state;
    exchange x = {.deadline = 0.05, .partner_hangs = true};
    share(&x);
    assert_all_results(&x);
    assert_non_null(strstr(x.warning, "rank 1 has not finished run"));
    assert_non_null(strstr(x.warning, "rank 0 makes it"));
}

static void a_rank_that_asks_for_something_else_is_an_error(void **state)
{
    (void)state;
    exchange x = {.size_of_partner = 3 * sizeof(double)};
    share(&x);
    assert_int_equal(x.status, YK_ERROR_EXTERNAL);
    assert_non_null(strstr(x.message, "rank 1 sent a result of"));
}

static bool stop_after_three(void *user, int done, int total)
{
    (void)user;
    assert_int_equal(total, RUNS);
    return done < 3;
}

/* The run that the other rank has under way is finished. */
static void ranks_stop_when_they_are_told(void **state)
{
    (void)state;
    exchange x = {.progress = stop_after_three};
    share(&x);
    int finished = 0;
    for (int i = 0; i < RUNS; i++)
        finished += x.finished[i];
    assert_in_range(finished, 3, 4);

    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "stopped after %d of 8 runs", finished);
    assert_int_equal(x.status, YK_INTERRUPTED);
    assert_string_equal(x.message, expected);
}

/* Sweeps --------------------------------------------------------------------------------------- */

static const char *const stiffnesses[] = {"2000", "4500", "8000"};
static const yk_sweep_axis axis = {"parameters.stiffness", stiffnesses, 3};
static const char *const measures[] = {"frequency(left.mass.position)", "peak(left.mass.velocity)"};

typedef struct sweeping {
    yk_sweep_options def;
    double results[6];
    yk_status status;
} sweeping;

static void *sweep(void *user)
{
    sweeping *s = user;
    yk_context *context = yk_context_create(NULL);
    yk_diagnostics *diagnostics = NULL;
    yk_diagnostics_create(context, &diagnostics);
    s->status = yk_sweep(context, &s->def, diagnostics, s->results);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    return NULL;
}

static sweeping make_sweep(const char *journal)
{
    sweeping s = {.def = {.axes = &axis,
                          .axis_count = 1,
                          .measures = measures,
                          .measure_count = 2,
                          .jobs = 1,
                          .journal = journal}};
    s.def.scenario = yk_scenario_default();
    s.def.scenario.path = YOKE_SOURCE_DIR "/models/two-mass-oscillator/scenario.yaml";
    return s;
}

static void sweep_with_a_partner(const char *journal, sweeping *s)
{
    side sides[2];
    yk_process_group teams[2];
    open_team(sides, teams, 0);
    sweeping other = make_sweep(journal);
    *s = make_sweep(journal);
    s->def.team = &teams[0];
    other.def.team = &teams[1];
    pthread_t thread;
    alarm(60);
    assert_int_equal(pthread_create(&thread, NULL, sweep, &other), 0);
    sweep(s);
    shutdown(sides[0].socket, SHUT_RDWR);
    pthread_join(thread, NULL);
    alarm(0);
    close(sides[0].socket);
    close(sides[1].socket);
}

/* Also with a journal, which rank 0 reads for both: what it has is not computed again. */
static void a_sweep_of_two_ranks_is_that_of_one(void **state)
{
    (void)state;
    sweeping alone = make_sweep(NULL);
    sweep(&alone);
    assert_int_equal(alone.status, YK_OK);
    sweeping shared;
    sweep_with_a_partner(NULL, &shared);
    assert_int_equal(shared.status, YK_OK);
    assert_memory_equal(shared.results, alone.results, sizeof alone.results);

    char journal[] = "/tmp/yoke-team-XXXXXX";
    int file = mkstemp(journal);
    assert_true(file >= 0);
    close(file);
    sweep_with_a_partner(journal, &shared);
    assert_int_equal(shared.status, YK_OK);
    assert_memory_equal(shared.results, alone.results, sizeof alone.results);
    struct stat written, kept;
    assert_int_equal(stat(journal, &written), 0);
    sweep_with_a_partner(journal, &shared);
    assert_int_equal(shared.status, YK_OK);
    assert_memory_equal(shared.results, alone.results, sizeof alone.results);
    assert_int_equal(stat(journal, &kept), 0);
    assert_true(written.st_size > 0);
    assert_int_equal(kept.st_size, written.st_size);
    unlink(journal);
}

/* Two parts that know nothing of each other, and what gathers them without a run of its own. */
static void parts_of_a_sweep_are_gathered(void **state)
{
    (void)state;
    sweeping alone = make_sweep(NULL);
    sweep(&alone);

    char journal[] = "/tmp/yoke-parts-XXXXXX", path[64];
    int file = mkstemp(journal);
    assert_true(file >= 0);
    close(file);
    for (int part = 1; part <= 2; part++) {
        sweeping s = make_sweep(journal);
        s.def.part_count = 2;
        s.def.part_index = part;
        sweep(&s);
        assert_int_equal(s.status, YK_OK);
        for (int run = 0; run < 3; run++)
            assert_int_equal(isnan(s.results[2 * run]) != 0, run % 2 != part - 1);
    }

    struct stat gathered;
    sweeping all = make_sweep(journal);
    all.def.part_count = 2;
    sweep(&all);
    assert_int_equal(all.status, YK_OK);
    assert_memory_equal(all.results, alone.results, sizeof alone.results);
    assert_int_equal(stat(journal, &gathered), 0);
    assert_int_equal(gathered.st_size, 0);
    unlink(journal);
    for (int part = 1; part <= 2; part++) {
        snprintf(path, sizeof path, "%s.%d", journal, part);
        assert_int_equal(unlink(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_results_come_to_rank_0_once),
        cmocka_unit_test(runs_of_a_lost_rank_are_made_again),
        cmocka_unit_test(a_rank_that_asks_for_something_else_is_an_error),
        cmocka_unit_test(ranks_stop_when_they_are_told),
        cmocka_unit_test(a_sweep_of_two_ranks_is_that_of_one),
        cmocka_unit_test(parts_of_a_sweep_are_gathered),
    };
    return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
