/* Files that were damaged at random, and work in a process of its own: whatever happens in libhdf5,
 * the program gets a record or a message.
 *
 *   test_record_damaged [FILES]     so many damaged files, 40 unless given */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "folder.h"
#include "record/apart.h"
#include "record/memory.h"

static int files = 40;

/* Work in a child --------------------------------------------------------------------------------*/

typedef struct exchange {
    yk_context *context;
    int number;
    char text[8];
} exchange;

static yk_status succeed(void *user, int stream)
{
    exchange *e = user;
    e->number = 7;
    return write(stream, "hello", 6) == 6 ? YK_OK : YK_ERROR_EXTERNAL;
}

static yk_status receive(void *user, int stream)
{
    exchange *e = user;
    return read(stream, e->text, sizeof e->text) == 6 ? YK_OK : YK_ERROR_INPUT;
}

/* More than a pipe holds, of which the first bytes are enough for the reader. */
static yk_status write_much(void *user, int stream)
{
    static const char much[1 << 20];
    (void)user;
    size_t sent = 0;
    while (sent < sizeof much) {
        ssize_t more = write(stream, much + sent, sizeof much - sent);
        if (more <= 0)
            return YK_ERROR_EXTERNAL;
        sent += (size_t)more;
    }
    return YK_OK;
}

static yk_status receive_little(void *user, int stream)
{
    exchange *e = user;
    return read(stream, e->text, 1) == 1 ? YK_OK : YK_ERROR_INPUT;
}

static yk_status refuse_work(void *user, int stream)
{
    (void)stream;
    return yk_fail(((exchange *)user)->context, YK_ERROR_SINGULAR, "no %s", "pivot");
}

static yk_status crash(void *user, int stream)
{
    (void)user;
    (void)stream;
    raise(SIGSEGV);
    return YK_OK;
}

static yk_status leave(void *user, int stream)
{
    (void)user;
    (void)stream;
    _exit(3);
    return YK_OK;
}

static yk_status wait_for_ever(void *user, int stream)
{
    (void)user;
    (void)stream;
    while (pause() < 0)
        continue;
    return YK_OK;
}

static yk_status run_for_ever(void *user, int stream)
{
    (void)stream;
    volatile int *number = &((exchange *)user)->number;
    while (*number >= 0)
        *number = (*number + 1) % 1000;
    return YK_OK;
}

static yk_status take_all_memory(void *user, int stream)
{
    (void)stream;
    for (;;) {
        char *taken = malloc(1 << 26);
        if (!taken)
            return yk_fail(((exchange *)user)->context, YK_ERROR_MEMORY, "no more");
        memset(taken, 1, 4096);
    }
}

static void expect(test_folder *folder, yk_status (*work)(void *, int), yk_status status,
                   const char *message)
{
    exchange e = {.context = folder->context};
    yk_apart_def def = {.work = work,
                        .user = &e,
                        .result = &e.number,
                        .result_bytes = sizeof e.number,
                        .seconds = 1,
                        .bytes = 1 << 30,
                        .idle_seconds = 4,
                        .what = "the work"};
    yk_status got = yk_apart(folder->context, &def);
    if (got != status || !strstr(yk_last_message(folder->context), message))
        fail_msg("%s: '%s' lacks '%s'", yk_status_name(got), yk_last_message(folder->context),
                 message);
    assert_int_equal(e.number, 0);
}

static void what_a_child_does_ends_in_a_message(void **state)
{
    test_folder *folder = *state;
    exchange e = {.context = folder->context};
    yk_apart_def def = {.work = succeed,
                        .receive = receive,
                        .user = &e,
                        .result = &e.number,
                        .result_bytes = sizeof e.number,
                        .seconds = 10,
                        .bytes = 1 << 30,
                        .idle_seconds = 4,
                        .what = "the work"};
    assert_int_equal(yk_apart(folder->context, &def), YK_OK);
    assert_int_equal(e.number, 7);
    assert_string_equal(e.text, "hello");

    /* Nobody waits for somebody who waits for him. */
    def.work = write_much;
    def.receive = receive_little;
    assert_int_equal(yk_apart(folder->context, &def), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_last_message(folder->context), "the work ended with signal 13"));

    expect(folder, refuse_work, YK_ERROR_SINGULAR, "no pivot");
    expect(folder, crash, YK_ERROR_INPUT, "the work ended with signal 11");
    expect(folder, leave, YK_ERROR_INPUT, "the work ended before it was done");
    expect(folder, run_for_ever, YK_ERROR_INPUT, "the work did not end within 1 s");
    expect(folder, wait_for_ever, YK_ERROR_EXTERNAL, "the work stood still for 4 s");

    /* Sanitizers end a process that gets no memory. */
    if (!SANITIZED)
        expect(folder, take_all_memory, YK_ERROR_MEMORY, "no more");
}

/* A lock of the host program, which another thread holds most of the time, as it would one of an
 * allocator: in a child that is copied meanwhile nobody gives it back. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool holding;

static void *hold_most_of_the_time(void *user)
{
    (void)user;
    const struct timespec held = {.tv_nsec = 3000000};
    const struct timespec free = {.tv_nsec = 2000000};
    while (holding) {
        pthread_mutex_lock(&lock);
        nanosleep(&held, NULL);
        pthread_mutex_unlock(&lock);
        nanosleep(&free, NULL);
    }
    return NULL;
}

static yk_status succeed_with_lock(void *user, int stream)
{
    pthread_mutex_lock(&lock);
    yk_status status = succeed(user, stream);
    pthread_mutex_unlock(&lock);
    return status;
}

/* As a reader that is slower than the first patience. */
static yk_status receive_slowly(void *user, int stream)
{
    exchange *e = user;
    const struct timespec second = {.tv_sec = 1};
    char bytes[1 << 16];
    ssize_t got;
    while ((got = read(stream, bytes, sizeof bytes)) > 0) {
        if (e->number == 0)
            nanosleep(&second, NULL);
        e->number += (int)got;
    }
    return YK_OK;
}

static void locks_of_other_threads_do_not_matter(void **state)
{
    test_folder *folder = *state;
    pthread_t thread;
    holding = true;
    assert_int_equal(pthread_create(&thread, NULL, hold_most_of_the_time, NULL), 0);
    for (int i = 0; i < 5; i++) {
        exchange e = {.context = folder->context};
        yk_apart_def def = {.work = succeed_with_lock,
                            .receive = receive,
                            .user = &e,
                            .seconds = 10,
                            .bytes = 1 << 30,
                            .idle_seconds = YK_APART_IDLE,
                            .what = "the work"};
        assert_int_equal(yk_apart(folder->context, &def), YK_OK);
        assert_string_equal(e.text, "hello");
    }

    holding = false;
    pthread_join(thread, NULL);
}

static void a_slow_reader_is_waited_for(void **state)
{
    test_folder *folder = *state;
    exchange e = {.context = folder->context};
    yk_apart_def def = {.work = write_much,
                        .receive = receive_slowly,
                        .user = &e,
                        .seconds = 10,
                        .bytes = 1 << 30,
                        .idle_seconds = 4,
                        .what = "the work"};
    assert_int_equal(yk_apart(folder->context, &def), YK_OK);
    assert_int_equal(e.number, 1 << 20);
}

static yk_status say_so_and_run(void *user, int stream)
{
    const exchange *e = user;
    if (write(e->number, "x", 1) != 1)
        return YK_ERROR_EXTERNAL;
    return run_for_ever(user, stream);
}

/* One that went on alone would hold locks and files of a program that is not there any more. */
static void a_child_ends_with_its_caller(void **state)
{
    test_folder *folder = *state;
    int alive[2];
    assert_int_equal(pipe(alive), 0);
    pid_t caller = fork();
    assert_true(caller >= 0);
    if (caller == 0) {
        exchange e = {.context = folder->context, .number = alive[1]};
        yk_apart_def def = {.work = say_so_and_run,
                            .user = &e,
                            .seconds = 60,
                            .bytes = 1 << 30,
                            .idle_seconds = 60,
                            .what = "the work"};
        yk_apart(folder->context, &def);
        _exit(0);
    }

    /* The pipe ends when all have gone who could write to it. */
    close(alive[1]);
    char begun;
    assert_int_equal(read(alive[0], &begun, 1), 1);
    kill(caller, SIGKILL);
    assert_int_equal(waitpid(caller, NULL, 0), caller);
    struct pollfd end = {.fd = alive[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, 20000), 1);
    assert_int_equal(read(alive[0], &begun, 1), 0);
    close(alive[0]);
}

/* Damage -----------------------------------------------------------------------------------------*/

/* A file with frames and a summary. */
static void make_file(test_folder *folder, const char *name, size_t rows)
{
    const yk_record_channel channels[] = {
        {.name = "tip.position", .unit = "m", .component_count = 3},
        {.name = "force", .unit = "N", .component_count = 1},
    };
    yk_record_header header = {.title = "damaged", .channels = channels, .channel_count = 2};
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, name);
    yk_recorder *recorder;
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_OK);
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    for (size_t i = 0; i < rows; i++) {
        double t = 1e-3 * (double)i;
        const double row[] = {sin(t), cos(t), t, i % 1000 == 500 ? 9 : 1};
        assert_int_equal(yk_recorder_sample(recorder, t, row), YK_OK);
    }
    const yk_record_value value = {.name = "steps", .value = (double)rows, .unit = ""};
    assert_int_equal(yk_recorder_end(recorder, &(yk_record_summary){&value, 1}), YK_OK);
    yk_recorder_destroy(recorder);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 24;
}

/* Bytes are changed, half of them where the file says what it is, and some files are cut off. */
static void damaged_files_give_a_record_or_a_message(void **state)
{
    test_folder *folder = *state;
    make_file(folder, "good.h5", 3000);
    size_t length;
    char *good = read_whole(in_folder(folder, "good.h5"), &length);
    char *bad = malloc(length);
    int refused = 0;
    for (int i = 0; i < files; i++) {
        uint64_t seed = 977 * (uint64_t)i + 1;
        memcpy(bad, good, length);
        int changes = 1 + (int)(next(&seed) % 16);
        for (int k = 0; k < changes; k++) {
            size_t range = k % 2 ? length : 8192;
            size_t at = next(&seed) % (range < length ? range : length);
            bad[at] = (char)next(&seed);
        }

        size_t left = i % 8 == 7 ? next(&seed) % length + 8 : length;
        write_file(in_folder(folder, "bad.h5"), bad, left < length ? left : length);
        yk_record *record = NULL;
        yk_status status = yk_record_load(folder->context, in_folder(folder, "bad.h5"), &record);
        if (status == YK_OK) {
            assert_true(yk_record_row_count(record) > 0);
            yk_record_destroy(record);
            continue;
        }

        refused++;
        bool known = status == YK_ERROR_INPUT || status == YK_ERROR_MEMORY;
        if (!known || !strstr(yk_last_message(folder->context), "bad.h5"))
            fail_msg("file %d: %s: %s", i, yk_status_name(status),
                     yk_last_message(folder->context));
    }

    print_message("%d damaged files, %d refused\n", files, refused);
    assert_true(refused > files / 4);
    free(bad);
    free(good);
}

/* Thin records -----------------------------------------------------------------------------------*/

static void thin_records_look_like_the_whole(void **state)
{
    test_folder *folder = *state;
    const char *const names[] = {"whole.h5", "whole.csv"};
    for (int i = 0; i < 2; i++) {
        make_file(folder, names[i], 100000);
        yk_record *thin;
        const char *path = in_folder(folder, names[i]);
        assert_int_equal(yk_record_load_thin(folder->context, path, 4096, &thin), YK_OK);
        size_t rows = yk_record_row_count(thin);
        assert_true(rows <= 4096 && rows >= 2048);

        /* All peaks of a millisecond are there, times ascend, and both ends are those of the run. */
        const double *time = yk_record_times(thin);
        const double *force = yk_record_column(thin, 1, 0);
        int peaks = 0;
        for (size_t k = 0; k < rows; k++) {
            peaks += force[k] == 9;
            assert_true(k == 0 || time[k] > time[k - 1]);
            double x = yk_record_column(thin, 0, 0)[k];
            assert_near(x, sin(time[k]), 0.07);
        }

        assert_int_equal(peaks, 100);
        assert_true(time[0] == 0);
        assert_near(time[rows - 1], 99.999, 1e-9);
        yk_record_destroy(thin);

        /* One that fits is as it was. */
        yk_record *whole;
        make_file(folder, names[i], 1000);
        path = in_folder(folder, names[i]);
        assert_int_equal(yk_record_load_thin(folder->context, path, 4096, &thin), YK_OK);
        assert_int_equal(yk_record_load(folder->context, path, &whole), YK_OK);
        assert_int_equal(yk_record_row_count(thin), 1000);
        assert_memory_equal(yk_record_times(thin), yk_record_times(whole), 1000 * sizeof(double));
        for (int c = 0; c < 3; c++)
            assert_memory_equal(yk_record_column(thin, 0, c), yk_record_column(whole, 0, c),
                                1000 * sizeof(double));
        yk_record_destroy(thin);
        yk_record_destroy(whole);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(int argc, char **argv)
{
    if (argc > 1)
        files = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        TEST(what_a_child_does_ends_in_a_message), TEST(locks_of_other_threads_do_not_matter),
        TEST(a_slow_reader_is_waited_for),         TEST(damaged_files_give_a_record_or_a_message),
        TEST(thin_records_look_like_the_whole),    TEST(a_child_ends_with_its_caller),
    };
    return cmocka_run_group_tests_name("damaged", tests, NULL, NULL);
}
