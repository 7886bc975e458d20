/* Suggestions for unstable couplings: a scheme and a step size that the analysis has tried out. */
#include <string.h>

#include "context.h"
#include "load_scenario.h"
#include "test.h"
#include "yoke/analysis.h"

/* Stability of two masses, with overrides up to a NULL. */
static yk_stability_report ask(yk_context *context, const char *const *overrides)
{
    yk_scenario_def def = describe_scenario(model_file("two-mass-oscillator"), NULL, overrides);
    def.iterate_to_rounding = true;
    yk_scenario *scenario = load_described(context, &def);
    yk_stability_options how = yk_stability_options_default();
    how.find_remedies = true;
    yk_stability_report report;
    assert_int_equal(yk_analyze_stability(context, scenario, &how, &report), YK_OK);
    yk_scenario_destroy(scenario);
    return report;
}

/* Original inputs between equal masses grow by 1.105 per step of 1 ms, the closed form says. */
static void what_was_tried_is_stable(void **state)
{
    const char *const unstable[] = {"coupling.modified_inputs=none", "time.step=1e-3", NULL};
    yk_stability_report r = ask(*state, unstable);
    assert_int_equal(r.verdict, YK_VERDICT_UNSTABLE_COUPLING);
    assert_relative(r.spectral_radius, 1.10532447731, 1e-6);
    assert_true(r.coupling_growth > 1.1);
    assert_true(*r.reference != '\0');
    assert_true(r.rate_count >= 1);
    assert_relative(r.rates[0].rate, log(1.10532447731) / 1e-3, 1e-4);

    /* The remedy names a scheme, and has no growth. */
    assert_non_null(strstr(r.remedy, "coupling"));
    assert_true(r.remedy_radius <= 1 + 1e-6);
    if (isfinite(r.stable_step))
        assert_true(r.stable_step < 1e-3);
}

/* Nothing is sought where nothing is wrong. */
static void stable_couplings_need_none(void **state)
{
    const char *const stable[] = {"coupling.scheme=monolithic", "time.step=1e-3", NULL};
    yk_stability_report r = ask(*state, stable);
    assert_int_equal(r.verdict, YK_VERDICT_STABLE);
    assert_string_equal(r.remedy, "");
    assert_true(r.coupling_growth <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_tried_is_stable),
        cmocka_unit_test(stable_couplings_need_none),
    };
    return cmocka_run_group_tests_name("remedies of stability", tests, create_context,
                                       destroy_context);
}
