/* The hash of the final state: equal for equal runs, different if a single bit differs, and stored
 * in the record. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

/* The hash that the report of a run has, after comparing it with that of its record. */
static uint64_t hash_of(const char *model, const char *const *overrides)
{
    char text[32] = "";
    yk_context *context = yk_context_create(NULL);
    yk_scenario *scenario = load_scenario(context, model_file(model), NULL, overrides);
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(context, &record), YK_OK);

    yk_run_report report;
    yk_run_options run = {.recorder = yk_record_recorder(record)};
    assert_true(!YK_FAILED(yk_run(context, scenario, &run, &report)));

    const yk_record_summary *summary = yk_record_get_summary(record);
    for (int i = 0; i < summary->count; i++)
        if (strcmp(summary->values[i].name, "state_hash") == 0)
            snprintf(text, sizeof text, "%s", summary->values[i].text);
    char expected[32];
    snprintf(expected, sizeof expected, "%016" PRIx64, report.state_hash);
    assert_string_equal(text, expected);

    yk_record_destroy(record);
    yk_scenario_destroy(scenario);
    yk_context_destroy(context);
    return report.state_hash;
}

static void equal_runs_have_equal_hashes(void **state)
{
    (void)state;
    static const char *const schemes[] = {"explicit", "tight", "index1", "rim"};
    for (int i = 0; i < 4; i++) {
        char scheme[64];
        snprintf(scheme, sizeof scheme, "coupling.scheme=%s", schemes[i]);
        const char *overrides[] = {"time.end=0.05", scheme, NULL};
        assert_true(hash_of("split-pendulum", overrides) == hash_of("split-pendulum", overrides));
    }
}

static void a_single_bit_makes_another_hash(void **state)
{
    (void)state;
    const char *as_it_is[] = {"time.end=0.05", "parameters.rate=0.5", NULL};
    const char *next_number[] = {"time.end=0.05", "parameters.rate=0.50000000000000011", NULL};
    const char *one_step_more[] = {"time.end=0.051", "parameters.rate=0.5", NULL};
    uint64_t hash = hash_of("split-pendulum", as_it_is);
    assert_true(hash != hash_of("split-pendulum", next_number));
    assert_true(hash != hash_of("split-pendulum", one_step_more));
}

static void threads_do_not_change_the_hash(void **state)
{
    (void)state;
    const char *one[] = {"time.end=0.01", "coupling={scheme: index1, threads: 1}", NULL};
    const char *four[] = {"time.end=0.01", "coupling={scheme: index1, threads: 4}", NULL};
    assert_true(hash_of("link-chain", one) == hash_of("link-chain", four));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_runs_have_equal_hashes),
        cmocka_unit_test(a_single_bit_makes_another_hash),
        cmocka_unit_test(threads_do_not_change_the_hash),
    };
    return cmocka_run_group_tests_name("state_hash", tests, NULL, NULL);
}
