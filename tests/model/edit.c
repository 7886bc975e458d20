/* Changing values in the text of a scenario leaves all other bytes unchanged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "test.h"
#include "yoke/scenario.h"

/* The edited text; NULL if it was refused. */
static char *edit(yk_context *context, const char *text, const char *const *overrides, int count)
{
    char path[] = "/tmp/yoke_edit_XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    fputs(text, file);
    fclose(file);
    char *edited = NULL;
    yk_status status = yk_scenario_edit(context, path, overrides, count, &edited);
    unlink(path);
    if (status == YK_OK)
        return edited;
    assert_int_equal(status, YK_ERROR_INPUT);
    assert_true(strlen(yk_last_message(context)) > 0);
    assert_null(edited);
    return NULL;
}

static void expect(yk_context *context, const char *text, const char *override, const char *wanted)
{
    char *edited = edit(context, text, &override, 1);
    assert_non_null(edited);
    assert_string_equal(edited, wanted);
    yk_free(context, edited);
}

static void values_are_replaced_in_place(void **state)
{
    expect(*state, "time: {end: 1, step: 1e-3} # s\n", "time.step=5e-05",
           "time: {end: 1, step: 5e-05} # s\n");
    expect(*state, "# head\ntime:\n  step:   1e-3   # macro step\n  end: 2\n", "time.step=0.25",
           "# head\ntime:\n  step:   0.25   # macro step\n  end: 2\n");
    expect(*state, "coupling: {scheme: \"explicit\", sequence: jacobi}\n", "coupling.scheme=tight",
           "coupling: {scheme: tight, sequence: jacobi}\n");
    expect(*state, "coupling: {modified_inputs: {alpha: 1, beta: [2]}, sequence: jacobi}\n",
           "coupling.modified_inputs=index-1",
           "coupling: {modified_inputs: index-1, sequence: jacobi}\n");
    expect(*state,
           "titel: Pr\xC3\xBC"
           "fung\ntime: {t: '\xC3\xA4', step: 1} # \xC3\xB6\n",
           "time.step=2",
           "titel: Pr\xC3\xBC"
           "fung\ntime: {t: '\xC3\xA4', step: 2} # \xC3\xB6\n");
}

static void missing_keys_are_inserted(void **state)
{
    expect(*state, "coupling: {scheme: tight}\n", "coupling.acceleration=aitken",
           "coupling: {acceleration: aitken, scheme: tight}\n");
    expect(*state, "coupling:\n    # why\n    scheme: tight # yes\nrecord: {}\n",
           "coupling.polynomial_degree=2",
           "coupling:\n    # why\n    polynomial_degree: 2\n    scheme: tight # yes\nrecord: {}\n");
}

static void several_values_are_set(void **state)
{
    static const char *const overrides[] = {"coupling.scheme=index1",
                                            "coupling.polynomial_degree=3", "time.step=1e-4"};
    char *edited =
        edit(*state, "time: {step: 1, end: 2}\ncoupling: {scheme: explicit}\n", overrides, 3);
    assert_non_null(edited);
    assert_string_equal(
        edited, "time: {step: 1e-4, end: 2}\ncoupling: {polynomial_degree: 3, scheme: index1}\n");
    yk_free(*state, edited);
}

/* Edits that would also change something else are refused. */
static void what_is_shared_is_refused(void **state)
{
    static const char *const step = "time.step=2";
    assert_null(edit(*state, "a: &h 1\ntime: {step: *h, end: 2}\n", &step, 1));
    assert_null(edit(*state, "time: &t {step: 1}\nother: *t\n", &step, 1));
    static const char *const scheme = "coupling.scheme=tight";
    assert_null(edit(*state, "time: {step: 1}\n", &scheme, 1));
    static const char *const inputs = "coupling.modified_inputs=none";
    assert_null(edit(*state, "coupling:\n  modified_inputs:\n    alpha: 1\n  sequence: jacobi\n",
                     &inputs, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_replaced_in_place),
        cmocka_unit_test(missing_keys_are_inserted),
        cmocka_unit_test(several_values_are_set),
        cmocka_unit_test(what_is_shared_is_refused),
    };
    return cmocka_run_group_tests_name("edit", tests, create_context, destroy_context);
}
