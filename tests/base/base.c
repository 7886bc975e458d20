/* Status list, context, text and the deterministic pool. */
#include "context.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/builder.h"
#include "base/context.h"
#include "base/input.h"
#include "base/pool.h"
#include "base/text.h"
#include "base/unit.h"

static void status_signs_follow_the_rule(void **state)
{
    (void)state;
#define CHECK(name, value, text)                      \
    assert_string_equal(yk_status_name(name), #name); \
    assert_string_equal(yk_status_text(name), text);  \
    assert_int_equal(strncmp(#name, "YK_ERROR", 8) == 0, (value) < 0);
    YK_STATUS_LIST(CHECK)
#undef CHECK
    assert_string_equal(yk_status_name((yk_status)-999), "YK_UNKNOWN");

#define CHECK_KNOWN(name, value, text) assert_true(yk_status_is_known(value));
    YK_STATUS_LIST(CHECK_KNOWN)
#undef CHECK_KNOWN
    assert_false(yk_status_is_known(-999));
    assert_false(yk_status_is_known(YK_INTERRUPTED + 1));
}

static void collect_log(void *user, yk_log_level level, const char *message)
{
    snprintf(user, 64, "%d:%s", (int)level, message);
}

static void context_keeps_the_last_message_and_filters_the_log(void **state)
{
    (void)state;
    char log[64] = "";
    yk_context_def def = yk_context_default();
    def.log = collect_log;
    def.log_user = log;
    def.log_level = YK_LOG_WARNING;
    yk_context *context = yk_context_create(&def);
    assert_string_equal(yk_last_message(context), "");
    assert_int_equal(yk_fail(context, YK_ERROR_INPUT, "line %d", 7), YK_ERROR_INPUT);
    yk_fail(context, YK_ERROR_INPUT, "file: %s", yk_last_message(context));
    assert_string_equal(yk_last_message(context), "file: line 7");
    yk_log(context, YK_LOG_INFO, "quiet");
    assert_string_equal(log, "");
    yk_log(context, YK_LOG_ERROR, "loud");
    assert_string_equal(log, "3:loud");
    yk_context_destroy(context);
}

/* Fails after a number of allocations. */
static void *failing_allocator(void *user, void *block, size_t bytes)
{
    int *left = user;
    if (bytes && (*left)-- <= 0)
        return NULL;
    if (bytes)
        return realloc(block, bytes);
    free(block);
    return NULL;
}

static void out_of_memory_is_reported_at_every_allocation(void **state)
{
    (void)state;
    for (int budget = 0; budget < 3; budget++) {
        int left = budget;
        yk_context_def def = yk_context_default();
        def.allocate = failing_allocator;
        def.allocate_user = &left;
        yk_context *context = yk_context_create(&def);
        if (!context)
            continue;
        yk_pool *pool = NULL;
        assert_int_equal(yk_pool_create(context, 2, &pool), YK_ERROR_MEMORY);
        assert_null(pool);
        assert_non_null(strstr(yk_last_message(context), "out of memory"));
        yk_context_destroy(context);
    }
}

static void allocation_size_overflow_is_refused(void **state)
{
    yk_context *context = *state;
    assert_null(yk_allocate(context, SIZE_MAX / 2, 8));
    assert_non_null(strstr(yk_last_message(context), "overflows"));
}

static void nearest_word_is_the_one_that_was_meant(void **state)
{
    (void)state;
    const char *words[] = {"scheme", "order", "inputs", "tolerance", "iterations", NULL};
    assert_string_equal(yk_text_nearest("shceme", words), "scheme");
    assert_string_equal(yk_text_nearest("Toleranse", words), "tolerance");
    assert_string_equal(yk_text_nearest("iteration", words), "iterations");
    assert_string_equal(yk_text_nearest("tol", words), "tolerance");
    assert_null(yk_text_nearest("gravity", words));

    /* The nearest of several candidates, and the first of equal ones. */
    assert_string_equal(yk_text_nearest("masss", (const char *[]){"mask", "mass", "moss", NULL}),
                        "mass");
    assert_string_equal(yk_text_nearest("mats", (const char *[]){"mass", "maps", NULL}), "mass");

    /* One letter may differ of three, two of six, three of more. */
    assert_string_equal(yk_text_nearest("tes", (const char *[]){"yes", NULL}), "yes");
    assert_null(yk_text_nearest("tos", (const char *[]){"yes", NULL}));
    assert_string_equal(yk_text_nearest("skhemo", words), "scheme");
    assert_null(yk_text_nearest("skhomo", words));
    assert_string_equal(yk_text_nearest("tularanse", words), "tolerance");
    assert_null(yk_text_nearest("tularansa", words));
    assert_null(yk_text_nearest("z", (const char *[]){"x", "y", NULL}));
    assert_int_equal(yk_text_distance("abcd", "acbd", 3), 1);
    assert_int_equal(yk_text_distance("kitten", "sitting", 5), 3);
    assert_int_equal(yk_text_distance("kitten", "sitting", 1), 2);
}

static void text_grows(void **state)
{
    yk_context *context = *state;
    yk_text text = {0};
    for (int i = 0; i < 1000; i++)
        yk_text_add(context, &text, "%d,", i % 10);
    assert_int_equal(text.length, 2000);
    assert_int_equal(strlen(text.data), 2000);
    yk_text_destroy(context, &text);
}

static void sum_inverses(void *user, size_t begin, size_t end, size_t chunk)
{
    double *partials = user;
    partials[chunk] = 0;
    for (size_t i = begin; i < end; i++)
        partials[chunk] += 1.0 / (double)(i + 1);
}

static void pool_gives_the_same_bits_for_any_number_of_threads(void **state)
{
    yk_context *context = *state;
    enum { COUNT = 100003, CHUNK = 257 };
    double *partials = malloc(sizeof *partials * (COUNT / CHUNK + 1));
    double reference = 0;
    for (int threads = 1; threads <= 5; threads++) {
        yk_pool *pool = NULL;
        assert_int_equal(yk_pool_create(context, threads, &pool), YK_OK);
        assert_int_equal(yk_pool_threads(pool), threads);
        for (int repeat = 0; repeat < 20; repeat++) {
            yk_pool_run(pool, COUNT, CHUNK, sum_inverses, partials);
            double sum = 0;
            for (int chunk = 0; chunk <= COUNT / CHUNK; chunk++)
                sum += partials[chunk];
            if (threads == 1 && repeat == 0)
                reference = sum;
            assert_memory_equal(&sum, &reference, sizeof sum);
        }
        yk_pool_destroy(pool);
    }
    free(partials);
}

typedef struct marks {
    atomic_int visits[64];
} marks;

static void mark(void *user, size_t begin, size_t end, size_t chunk)
{
    marks *m = user;
    assert_true(begin == 3 * chunk && end > begin);
    atomic_fetch_add(&m->visits[chunk], 1);
}

/* Loops in close sequence and after pauses in which the workers fall asleep, more threads than
 * processors: each chunk is computed once, and is done when the call returns. */
static void pool_computes_every_chunk_once(void **state)
{
    yk_context *context = *state;
    static marks m;
    for (int threads = 2; threads <= 16; threads += 7) {
        yk_pool *pool = NULL;
        assert_int_equal(yk_pool_create(context, threads, &pool), YK_OK);
        for (int i = 0; i < 64; i++)
            atomic_store(&m.visits[i], 0);
        for (int loop = 0; loop < 3000; loop++) {
            size_t chunks = (size_t)(1 + loop % 64);
            yk_pool_run(pool, 3 * chunks - loop % 2, 3, mark, &m);
            for (size_t i = 0; i < 64; i++) {
                assert_int_equal(atomic_load(&m.visits[i]), i < chunks);
                atomic_store(&m.visits[i], 0);
            }
            if (loop % 500 == 0)
                nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        }
        yk_pool_destroy(pool);
    }
}

/* Chunks that end one after the other: that of the caller as soon as the worker has the other one,
 * which it finishes long after the caller has fallen asleep. */
typedef struct turns {
    pthread_t caller;
    atomic_bool begun;
} turns;

static void take_turns(void *user, size_t begin, size_t end, size_t chunk)
{
    (void)begin, (void)end, (void)chunk;
    turns *t = user;
    if (pthread_equal(pthread_self(), t->caller)) {
        while (!atomic_load(&t->begun))
            sched_yield();
    } else {
        atomic_store(&t->begun, true);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

/* Without a wake-up the caller would sleep for ever; the alarm ends it. */
static void pool_wakes_its_caller(void **state)
{
    yk_pool *pool = NULL;
    assert_int_equal(yk_pool_create(*state, 2, &pool), YK_OK);
    turns t = {.caller = pthread_self()};
    alarm(20);
    yk_pool_run(pool, 2, 1, take_turns, &t);
    alarm(0);
    assert_true(atomic_load(&t.begun));
    yk_pool_destroy(pool);
}

static void *count_calls(void *user, void *block, size_t bytes)
{
    ++*(int *)user;
    if (bytes)
        return realloc(block, bytes);
    free(block);
    return NULL;
}

/* Rounds that need no more than those before call the allocator no more; what is taken keeps its
 * bytes. */
static void scratch_takes_memory_once(void **state)
{
    (void)state;
    int calls = 0;
    yk_context_def def = {.allocate = count_calls, .allocate_user = &calls};
    yk_context *parent = yk_context_create(&def);
    yk_scratch *scratch = yk_scratch_create(parent);
    assert_non_null(scratch);
    yk_context *context = yk_scratch_context(scratch);
    int before = 0;
    for (int round = 0; round < 6; round++) {
        if (round == 2)
            before = calls;
        unsigned char *a = yk_allocate(context, 100, 1),
                      *b = yk_allocate(context, (size_t)(4000 - round), 8);
        assert_true(a && b && (uintptr_t)a % 16 == 0 && (uintptr_t)b % 16 == 0);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(a[i], 0);
            a[i] = (unsigned char)i;
        }
        yk_free(context, b);
        a = yk_reallocate(context, a, 5000, 1);
        assert_non_null(a);
        for (int i = 0; i < 100; i++)
            assert_int_equal(a[i], i);
        memset(a, 255, 5000);
        yk_scratch_reset(scratch);
    }
    assert_int_equal(calls, before);

    /* More than the block holds, and no round after it: the block is released once. */
    assert_non_null(yk_allocate(context, 1000000, 1));
    yk_scratch_reset(scratch);
    yk_scratch_destroy(scratch);
    yk_context_destroy(parent);
}

/* Neither a device without an end nor a pipe without a writer holds the reader. */
static void only_files_that_end_are_opened(void **state)
{
    yk_context *context = *state;
    char folder[] = "/tmp/yoke-input-XXXXXX", path[64], pipe[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(pipe, sizeof pipe, "%s/b", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);

    const char *const bad[][2] = {
        {"/dev/zero", "not a regular file"},
        {pipe, "not a regular file"},
        {folder, "not a regular file"},
        {path, "No such file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(yk_input_open(context, bad[i][0], YK_ERROR_INPUT));
        assert_non_null(strstr(yk_last_message(context), bad[i][1]));
        assert_int_equal(yk_last_status(context), YK_ERROR_INPUT);
        assert_int_equal(yk_is_irregular_file(bad[i][0]), strstr(bad[i][1], "regular") != NULL);
    }

    /* One byte makes another hash; a sparse file beyond the limit is refused. */
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "1,%d\n", i);
        fclose(file);
        assert_int_equal(yk_input_hash(context, path, &hashes[i]), YK_OK);
    }
    assert_true(hashes[0] != hashes[1]);
    assert_false(yk_is_irregular_file(path));
    assert_int_equal(truncate(path, (off_t)YK_INPUT_MAX + 1), 0);
    assert_int_equal(yk_input_hash(context, path, &hashes[0]), YK_ERROR_FILE);
    assert_non_null(strstr(yk_last_message(context), "the limit is"));

    unlink(path);
    unlink(pipe);
    rmdir(folder);
}

static bool always(void *user)
{
    return *(bool *)user;
}

static void a_caller_can_ask_to_stop(void **state)
{
    (void)state;
    bool stop = false;
    yk_context_def def = yk_context_default();
    def.should_stop = always;
    def.should_stop_user = &stop;
    yk_context *context = yk_context_create(&def);
    assert_false(yk_context_should_stop(context));
    stop = true;
    assert_true(yk_context_should_stop(context));
    yk_context_destroy(context);
}

/* Parts are copied in their order, and the first error is reported. */
static void buildings_keep_their_parts(void **state)
{
    yk_building building = {.context = *state};
    int *parts = NULL;
    int count = 0;
    for (int i = 0; i < 100; i++) {
        int part = i * i;
        assert_int_equal(yk_building_append(&building, &parts, &count, &part, sizeof part), i);
    }
    assert_int_equal(count, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(parts[i], i * i);
    assert_int_equal(yk_building_finish(&building), YK_OK);
    yk_free(*state, parts);

    const char *const names[] = {"a", NULL, "", "b", "", "b", "a"};
    assert_true(yk_building_unique(&building, "parts", names, 5, sizeof *names));
    assert_false(yk_building_unique(&building, "parts", names, 7, sizeof *names));
    yk_fail(*state, YK_ERROR_INPUT, "later");
    yk_building_refuse(&building, YK_ERROR_INPUT);
    assert_true(YK_FAILED(yk_building_finish(&building)));
    assert_null(strstr(yk_last_message(*state), "later"));
    assert_non_null(strstr(yk_last_message(*state), "two parts have the name"));
}

static void units_have_dimensions(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        bool known;
        int length, mass, time, angle;
    } rows[] = {
        {"", true, 0, 0, 0, 0},       {"1", true, 0, 0, 0, 0},
        {"m", true, 1, 0, 0, 0},      {"N m s/rad", true, 2, 1, -1, -1},
        {"m/s^2", true, 1, 0, -2, 0}, {"m/s2", true, 1, 0, -2, 0},
        {"N.m", true, 2, 1, -2, 0},   {"m³/(s Pa)", true, 4, -1, 1, 0},
        {"kg/m³", true, -3, 1, 0, 0}, {"1/Pa²", true, 2, -2, 4, 0},
        {"m.s-2", true, 1, 0, -2, 0}, {"J/(kg*m)^2", true, 0, -1, -2, 0},
        {"bar", false, 0, 0, 0, 0},   {"mm", false, 0, 0, 0, 0},
        {"m/", false, 0, 0, 0, 0},    {"N, N m", false, 0, 0, 0, 0},
        {"m/(s", false, 0, 0, 0, 0},  {"m)", false, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        yk_dimension d = yk_unit_dimension(rows[i].unit);
        assert_int_equal(d.known, rows[i].known);
        if (!d.known)
            continue;

        assert_int_equal(d.length, rows[i].length);
        assert_int_equal(d.mass, rows[i].mass);
        assert_int_equal(d.time, rows[i].time);
        assert_int_equal(d.angle, rows[i].angle);
    }
    assert_true(yk_unit_dimension(NULL).known);
}

static void units_have_sizes_and_names_in_other_systems(void **state)
{
    (void)state;
    assert_near(yk_unit_factor("N", 1e-3, 1e-3), 1e-6, 1e-20);
    assert_near(yk_unit_factor("Pa", 1e-3, 1e3), 1e6, 1e-6);
    assert_near(yk_unit_factor("m^3/s", 1e-3, 1e-3), 1e-9, 1e-22);
    assert_near(yk_unit_factor("rad/s", 1e-3, 1e-3), 1, 0);
    assert_near(yk_unit_factor("bar", 1e-3, 1e-3), 1, 0);

    static const struct {
        const char *unit, *plain, *fmi;
    } rows[] = {
        {"N", "g mm/s^2", "g.mm/s2"},
        {"Pa", "g/(mm s^2)", "g/(mm.s2)"},
        {"1/Pa²", "mm^2 s^4/g^2", "mm2.s4/g2"},
        {"kg/m³", "g/mm^3", "g/mm3"},
        {"1/m", "1/mm", "1/mm"},
        {"rad/s", "rad/s", "rad/s"},
        {"bar", "bar", "bar"},
        {"", "", ""},
        {"N/m, N m/rad", "g/s^2, g mm^2/(s^2 rad)", "g/s2, g.mm2/(s2.rad)"},
        {"N m or N", "g mm^2/s^2 or g mm/s^2", "g.mm2/s2 or g.mm/s2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        yk_unit_name plain = yk_unit_in(rows[i].unit, "mm", "g", YK_UNIT_PLAIN);
        yk_unit_name fmi = yk_unit_in(rows[i].unit, "mm", "g", YK_UNIT_FMI);
        assert_string_equal(plain.text, rows[i].plain);
        assert_string_equal(fmi.text, rows[i].fmi);
    }

    /* A name that does not fit ends early. */
    char long_name[200];
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(strlen(yk_unit_in(long_name, "mm", "g", YK_UNIT_PLAIN).text),
                     YK_UNIT_TEXT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_signs_follow_the_rule),
        cmocka_unit_test(context_keeps_the_last_message_and_filters_the_log),
        cmocka_unit_test(out_of_memory_is_reported_at_every_allocation),
        cmocka_unit_test(allocation_size_overflow_is_refused),
        cmocka_unit_test(nearest_word_is_the_one_that_was_meant),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(units_have_dimensions),
        cmocka_unit_test(units_have_sizes_and_names_in_other_systems),
        cmocka_unit_test(buildings_keep_their_parts),
        cmocka_unit_test(pool_gives_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(pool_computes_every_chunk_once),
        cmocka_unit_test(pool_wakes_its_caller),
        cmocka_unit_test(scratch_takes_memory_once),
        cmocka_unit_test(only_files_that_end_are_opened),
        cmocka_unit_test(a_caller_can_ask_to_stop),
    };
    return cmocka_run_group_tests_name("base", tests, create_context, destroy_context);
}
