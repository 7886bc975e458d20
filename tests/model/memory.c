/* Loading with an allocator that fails at the n-th request, for every n: an error each time,
 * never a crash or a leak.
 */
#include "loading.h"

#include "failing_allocator.h"

static yk_status load_limited(budget *b, const yk_scenario_def *def)
{
    yk_context *context = budget_context(b);
    if (!context)
        return YK_ERROR_MEMORY;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    yk_status status = yk_diagnostics_create(context, &diagnostics);
    if (status == YK_OK)
        status = yk_scenario_load(context, def, diagnostics, &scenario);
    if (status == YK_OK) {
        yk_system *system;
        status = yk_scenario_system(scenario, &system);
    }
    if (status == YK_OK) {
        char *text = yk_scenario_resolved_text(scenario);
        if (!text)
            status = YK_ERROR_MEMORY;
        yk_free(context, text);
    }
    char *messages = diagnostics ? yk_diagnostics_format(diagnostics) : NULL;
    if (!messages)
        status = YK_ERROR_MEMORY;
    yk_free(context, messages);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    yk_context_destroy(context);
    return status;
}

static void every_failed_allocation_is_reported(const yk_scenario_def *def, yk_status expected)
{
    bool done = false;
    long count = 0;
    for (; !done; count++) {
        budget b = {.fails = count};
        yk_status status = load_limited(&b, def);
        assert_int_equal(b.open, 0);
        done = !b.failed;
        assert_int_equal(status, done ? expected : YK_ERROR_MEMORY);
        assert_true(count < 100000);
    }
    assert_true(count > 10);
}

static void a_good_scenario(void **state)
{
    (void)state;
    static const char *const overrides[] = {"coupling.scheme=tight", "subsystems.left.mass=2*k",
                                            "record.every=2"};
    yk_scenario_def def = {.path = "a/file.yaml", .overrides = overrides, .override_count = 3};
    def.text =
        "parameters: {a: 2*k, k: 3}\n"
        "time: {end: 1, step: 0.01}\n"
        "subsystems:\n"
        "  left: &part {solver: oscillator, mass: 1, force: sin(a*t), integrator: two-step}\n"
        "  right: {<<: *part, mass: 2}\n"
        "interfaces: [{name: joint, between: [left.mass, right.mass]}]\n"
        "coupling: {scheme: explicit}\n"
        "record: {file: results.h5}\n";
    every_failed_allocation_is_reported(&def, YK_OK);
}

static void a_scenario_with_wires(void **state)
{
    (void)state;
    yk_scenario_def def = {.path = YOKE_SOURCE_DIR "/tests/fuzz/corpus/scenario/hydraulics.yaml"};
    every_failed_allocation_is_reported(&def, YK_OK);
}

static void a_scenario_with_components(void **state)
{
    (void)state;
    yk_scenario_def def = {.path = YOKE_SOURCE_DIR "/tests/fuzz/corpus/scenario/components.yaml"};
    every_failed_allocation_is_reported(&def, YK_OK);

    /* A file is read. */
    FILE *file = fopen("memory-part.yaml", "w");
    assert_non_null(file);
    fputs("parameters: {m: }\nsubsystems: {a: {solver: oscillator, mass: m}}\n", file);
    fclose(file);
    def = (yk_scenario_def){.path = "file.yaml"};
    def.text = "time: {end: 1, step: 0.01}\n"
               "components: {x: {use: memory-part.yaml, with: {m: 2}}}\n";
    every_failed_allocation_is_reported(&def, YK_OK);
}

static void a_scenario_with_mistakes(void **state)
{
    (void)state;
    static const char *const overrides[] = {"coupling.scheme=tihgt"};
    yk_scenario_def def = {.path = YOKE_SOURCE_DIR "/tests/model/bad/ten.yaml",
                           .overrides = overrides,
                           .override_count = 1};
    every_failed_allocation_is_reported(&def, YK_ERROR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_scenario),
        cmocka_unit_test(a_scenario_with_wires),
        cmocka_unit_test(a_scenario_with_components),
        cmocka_unit_test(a_scenario_with_mistakes),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
