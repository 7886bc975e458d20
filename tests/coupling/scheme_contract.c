/* What every scheme of the registry has to fulfil, whatever it does: a complete table, options
 * that can be set and are checked, variants that exist, and steps that can be repeated to the bit
 * from a saved state. */
#include <stdlib.h>
#include <string.h>

#include "coupling/description.h"
#include "test.h"
#include "yoke/physics.h"

static yk_context *context;

static void tables_and_defaults_are_valid(void **state)
{
    (void)state;
    for (int i = 0; yk_scheme_at(i); i++) {
        const yk_scheme_ops *ops = yk_scheme_at(i);
        assert_ptr_equal(yk_scheme_find(ops->name), ops);
        assert_non_null(ops->text);
        double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
        yk_scheme_fill(ops, options);
        assert_int_equal(yk_scheme_check(context, &(yk_scheme_def){.ops = ops}), YK_OK);
        assert_int_equal(yk_scheme_check(context, &(yk_scheme_def){ops, options}), YK_OK);

        /* The text of a default is a value of its row; rows lie in the struct and explain
         * themselves. */
        for (const yk_option *row = ops->options; row && row->key; row++) {
            assert_true(row->offset < ops->options_size);
            assert_non_null(row->text);
            assert_ptr_equal(yk_scheme_option(ops, row->key), row);
            if (row->fallback)
                assert_int_equal(yk_scheme_set(context, ops, options, row->key, row->fallback),
                                 YK_OK);
        }
    }
    assert_null(yk_scheme_find("guess"));
}

static void options_are_checked(void **state)
{
    (void)state;
    yk_tight_options options = yk_tight_default();
    const yk_scheme_ops *tight = yk_scheme_tight();
    assert_int_equal(yk_scheme_set(context, tight, &options, "halvings", "3"), YK_OK);
    assert_int_equal(options.halvings, 3);
    assert_int_equal(yk_scheme_set(context, tight, &options, "acceleration", "aitken"), YK_OK);
    assert_int_equal(options.acceleration, YK_ACCELERATION_AITKEN);
    static const char *const wrong[][3] = {
        {"halvings", "21", "must be between 0 and 20"},
        {"halvings", "2.5", "no value of the option"},
        {"tolerance", "-1", "must be 0 or more"},
        {"tolerance", "nan", "must be 0 or more"},
        {"acceleration", "newton", "none, aitken, quasi"},
        {"degree", "3", "has no option 'degree'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(yk_scheme_set(context, tight, &options, wrong[i][0], wrong[i][1]),
                         YK_ERROR_ARGUMENT);
        if (!strstr(yk_last_message(context), wrong[i][2]))
            print_error("%s\n", yk_last_message(context));
        assert_non_null(strstr(yk_last_message(context), wrong[i][2]));
    }

    /* A choice that has keys of its own takes their numbers. */
    yk_explicit_options weights = yk_explicit_default();
    assert_int_equal(yk_scheme_set(context, yk_scheme_explicit(), &weights, "inputs", "2,3,5"),
                     YK_OK);
    assert_int_equal(weights.inputs, YK_INPUTS_WEIGHTED);
    assert_near(weights.beta, 3, 0);
    assert_int_equal(yk_scheme_set(context, yk_scheme_explicit(), &weights, "inputs", "2,3"),
                     YK_ERROR_ARGUMENT);
}

static void tables_of_another_version_are_refused(void **state)
{
    (void)state;
    yk_scheme_ops other = *yk_scheme_explicit();
    other.step = NULL;
    assert_int_equal(yk_scheme_check(context, &(yk_scheme_def){.ops = &other}),
                     YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(context), "lacks a required operation"));
    other.size = 8;
    assert_int_equal(yk_scheme_check(context, &(yk_scheme_def){.ops = &other}),
                     YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(context), "another version of the contract"));
}

static void variants_name_options_that_exist(void **state)
{
    (void)state;
    for (int i = 0; yk_scheme_at(i); i++) {
        const yk_scheme_ops *ops = yk_scheme_at(i);
        for (const yk_scheme_variant *v = ops->variants; v && v->name; v++) {
            double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
            yk_scheme_fill(ops, options);
            assert_true(v->purpose != 0);
            for (int k = 0; k < 6 && v->options[k]; k++) {
                char key[64];
                snprintf(key, sizeof key, "%s", v->options[k]);
                char *equals = strchr(key, '=');
                assert_non_null(equals);
                *equals = '\0';
                assert_int_equal(yk_scheme_set(context, ops, options, key, equals + 1), YK_OK);
            }
        }
    }
}

/* Ten steps, and the same again from the state between them. */
static void a_saved_state_repeats_the_steps(void **state)
{
    (void)state;
    static const char *const names[] = {"left", "right"};
    const yk_interface_def joint = {
        .name = "joint", .motion_subsystem = 1, .constrained = YK_AXIS_X};
    int ran = 0;
    for (int i = 0; yk_scheme_at(i); i++) {
        yk_oscillator_def mass = yk_oscillator_default();
        mass.stiffness = 100, mass.position = 0.1, mass.integrator = YK_OSCILLATOR_EXACT;
        yk_subsystem *masses[2];
        for (int k = 0; k < 2; k++) {
            assert_int_equal(yk_oscillator_create(context, &mass, &masses[k]), YK_OK);
            mass.mass = 0.3;
        }
        const yk_system_description def = {.subsystems = masses,
                                           .names = names,
                                           .subsystem_count = 2,
                                           .interfaces = &joint,
                                           .interface_count = 1,
                                           .scheme = {.ops = yk_scheme_at(i)},
                                           .step = 1e-3};
        yk_system *system;
        yk_status status = yk_system_make(context, &def, &system);
        if (status == YK_OK) {
            ran++;
            assert_int_equal(yk_system_start(system), YK_OK);
            size_t words = yk_system_state_layout(system).words;
            double *saved = malloc(3 * words * sizeof *saved), *once = saved + words,
                   *again = once + words;
            for (int k = 0; k < 10; k++)
                assert_true(!YK_FAILED(yk_system_step(system, NULL)));
            yk_system_state_get(system, saved);
            for (int k = 0; k < 10; k++)
                assert_true(!YK_FAILED(yk_system_step(system, NULL)));
            yk_system_state_get(system, once);
            assert_int_equal(yk_system_state_set(system, saved), YK_OK);
            for (int k = 0; k < 10; k++)
                assert_true(!YK_FAILED(yk_system_step(system, NULL)));
            yk_system_state_get(system, again);
            assert_memory_equal(once, again, words * sizeof *once);
            free(saved);
            yk_system_destroy(system);
        } else {
            /* Oscillators cannot be solved part by part. */
            assert_int_equal(status, YK_ERROR_CAPABILITY);
        }
        for (int k = 0; k < 2; k++)
            masses[k]->ops->destroy(masses[k]);
    }
    assert_int_equal(ran, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_and_defaults_are_valid),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(tables_of_another_version_are_refused),
        cmocka_unit_test(variants_name_options_that_exist),
        cmocka_unit_test(a_saved_state_repeats_the_steps),
    };
    context = yk_context_create(NULL);
    int failed = cmocka_run_group_tests_name("scheme_contract", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
