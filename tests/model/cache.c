/* Results that are expensive to compute while loading are cached: they are computed once, and the
 * next load gives the same model without the computation. */
#include "model/registry.h"

#include <string.h>

#include "context.h"
#include "test.h"

static const char text[] =
    "parameters: {seed: 1}\n"
    "time: {end: 1, step: 1e-3}\n"
    "subsystems:\n"
    "  can:\n"
    "    solver: nonsmooth\n"
    "    gravity: [0, 0, -9.81]\n"
    "    materials: {lead: {friction: 0.3}}\n"
    "    bodies: {box: {fixed: true, shapes: [{type: box-cavity, size: "
    "[6e-3, 6e-3, 10e-3], material: lead}]}}\n"
    "    particles: {shot: {type: settled, count: 12, radius: 1e-3, "
    "density: 11344, material: lead, seed: seed, "
    "container: box,\n"
    "                       container_size: [6e-3, 6e-3, 10e-3], size_spread: 0.1}}\n";

enum { WORDS = 4096 };

/* The state of the only subsystem after a load; returns its words. */
static size_t load(yk_context *context, yk_cache *cache, const char *override, double *image)
{
    yk_scenario_def def = {
        .path = "file.yaml", .text = text, .overrides = &override, .override_count = 1};
    def.cache = cache;
    yk_diagnostics *diagnostics = NULL;
    yk_scenario *scenario = NULL;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    assert_int_equal(yk_scenario_load(context, &def, diagnostics, &scenario), YK_OK);
    yk_subsystem *can = yk_scenario_get_info(scenario)->subsystems[0];
    assert_int_equal(can->ops->initialize(can, 0, 1e-3, NULL), YK_OK);
    size_t words = can->ops->rollback->layout(can).word_count;
    assert_true(words <= WORDS);
    can->ops->rollback->get(can, image);
    yk_scenario_destroy(scenario);
    yk_diagnostics_destroy(diagnostics);
    return words;
}

static void a_load_from_the_cache_is_the_same(void **state)
{
    static double fresh[WORDS], first[WORDS], again[WORDS], other[WORDS];
    yk_cache *cache = yk_cache_create();
    assert_non_null(cache);
    size_t words = load(*state, NULL, "time.step=1e-3", fresh);
    assert_int_equal(load(*state, cache, "time.step=1e-3", first), words);
    assert_int_equal(load(*state, cache, "time.step=2e-3", again), words);
    assert_int_equal(load(*state, cache, "parameters.seed=2", other), words);
    assert_memory_equal(first, fresh, words * sizeof *fresh);
    assert_memory_equal(again, fresh, words * sizeof *fresh);
    assert_memory_not_equal(other, fresh, words * sizeof *fresh);
    yk_cache_destroy(cache);
}

static void what_is_kept_is_recalled_by_key_and_size(void **state)
{
    (void)state;
    double data[2] = {1, 2}, more[2] = {3, 4}, out[2] = {0};
    yk_cache *cache = yk_cache_create();
    assert_non_null(cache);
    assert_false(yk_cache_recall(cache, "a", out, sizeof out));
    yk_cache_keep(cache, "a", data, sizeof data);
    yk_cache_keep(cache, "a", more, sizeof more); /* the first one stays */
    assert_true(yk_cache_recall(cache, "a", out, sizeof out));
    assert_memory_equal(out, data, sizeof data);
    assert_false(yk_cache_recall(cache, "a", out, sizeof *out));
    assert_false(yk_cache_recall(cache, "b", out, sizeof out));
    assert_false(yk_cache_recall(NULL, "a", out, sizeof out));
    yk_cache_destroy(cache);
    yk_cache_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_from_the_cache_is_the_same),
        cmocka_unit_test(what_is_kept_is_recalled_by_key_and_size),
    };
    return cmocka_run_group_tests_name("cache", tests, create_context, destroy_context);
}
