/* Scenarios as JSON. */
#include <string.h>

#include "context.h"
#include "test.h"
#include "yoke/scenario.h"

static yk_status convert(yk_context *context, const char *text, const char *override, char **json)
{
    yk_diagnostics *diagnostics;
    assert_int_equal(yk_diagnostics_create(context, &diagnostics), YK_OK);
    yk_scenario_def def = yk_scenario_default();
    def.path = "text";
    def.text = text;
    def.overrides = &override;
    def.override_count = override ? 1 : 0;
    yk_status status = yk_scenario_source_json(context, &def, diagnostics, json);
    assert_int_equal(status != YK_OK, yk_diagnostics_error_count(diagnostics) > 0);
    yk_diagnostics_destroy(diagnostics);
    return status;
}

static void expect(yk_context *context, const char *text, const char *override, const char *wanted)
{
    char *json;
    assert_int_equal(convert(context, text, override, &json), YK_OK);
    assert_string_equal(json, wanted);
    yk_free(context, json);
}

static void scalars_keep_their_types(void **state)
{
    expect(*state,
           "{a: 1, b: -20, c: 007, d: 0.5, e: 1e-3, f: '1', g: true, h: null, i: 2*pi, j: .nan}",
           NULL,
           "{\"a\":1,\"b\":-20,\"c\":7,\"d\":0.5,\"e\":0.001,\"f\":\"1\",\"g\":true,\"h\":null,"
           "\"i\":\"2*pi\","
           "\"j\":\".nan\"}");
}

static void texts_are_escaped(void **state)
{
    expect(*state, "a: \"q\\\" b\\\\ n\\n t\\x01 \xC3\xA4\"", NULL,
           "{\"a\":\"q\\\" b\\\\ n\\u000a t\\u0001 \xC3\xA4\"}");
}

static void overrides_are_applied(void **state)
{
    expect(*state, "a: {b: [1, {c: x}]}\n", "a.d=3", "{\"a\":{\"b\":[1,{\"c\":\"x\"}],\"d\":3}}");
}

static void invalid_text_is_an_error(void **state)
{
    char *json;
    assert_int_equal(convert(*state, "a: [1,", NULL, &json), YK_ERROR_INPUT);
    assert_null(json);
    assert_int_equal(convert(*state, "a: 1\n", "a.b.c=1", &json), YK_ERROR_INPUT);
    assert_null(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_keep_their_types),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(overrides_are_applied),
        cmocka_unit_test(invalid_text_is_an_error),
    };
    return cmocka_run_group_tests_name("source_json", tests, create_context, destroy_context);
}
