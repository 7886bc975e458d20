/* Several threads, each with its own context, load and step scenarios at the same time (yoke
 * sweep does). */
#include "loading.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, REPEATS = 25 };

static const char text[] = "parameters: {a: 2*b, b: 3}\n"
                           "time: {end: 1, step: 0.01}\n"
                           "subsystems: {only: {solver: oscillator, mass: 1.5, force: sin(a*t)}}\n";
static const char wrong[] =
    "time: {end: 1, step: 0.01}\n"
    "subsystems: {only: {solver: oscillator, mass: 1 +, force: sin(a*t)}}\n";

typedef struct result {
    double position;
    char *messages;
    bool failed;
} result;

static void load(const char *scenario_text, result *r)
{
    yk_context_def context_def = yk_context_default();
    context_def.thread_count = 1;
    yk_context *context = yk_context_create(&context_def);
    yk_diagnostics *diagnostics;
    yk_scenario *scenario = NULL;
    yk_system *system;
    yk_scenario_def def = {.path = "file.yaml", .text = scenario_text};
    yk_diagnostics_create(context, &diagnostics);
    yk_status status = yk_scenario_load(context, &def, diagnostics, &scenario);
    if (status == YK_OK)
        status = yk_scenario_system(scenario, &system);
    if (status == YK_OK)
        status = yk_system_initialize(system);
    for (int i = 0; i < 10 && status == YK_OK; i++)
        status = yk_system_step(system, NULL);
    if (status == YK_OK)
        r->position =
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
    r->failed = status != YK_OK;
    char *messages = yk_diagnostics_format(diagnostics);
    r->messages = strdup(messages);
    yk_free(context, messages);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
}

/* Returns NULL if every load gave the same. */
static void *work(void *user)
{
    const result *expected = user;
    void *different = NULL;
    for (int i = 0; i < REPEATS; i++) {
        for (int k = 0; k < 2; k++) {
            result r = {0};
            load(k ? wrong : text, &r);
            bool same = r.position == expected[k].position && r.failed == expected[k].failed &&
                        strcmp(r.messages, expected[k].messages) == 0;
            if (!same)
                different = user;
            free(r.messages);
        }
    }
    return different;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    result expected[2] = {{.position = 0}, {.position = 0}};
    pthread_t threads[THREADS];
    load(text, &expected[0]);
    load(wrong, &expected[1]);
    assert_false(expected[0].failed);
    assert_true(expected[1].failed);
    assert_non_null(strstr(expected[1].messages, "an operand is missing at the end"));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, expected), 0);
    for (int i = 0; i < THREADS; i++) {
        void *different;
        assert_int_equal(pthread_join(threads[i], &different), 0);
        assert_null(different);
    }
    free(expected[0].messages);
    free(expected[1].messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_do_not_disturb_each_other)};
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
