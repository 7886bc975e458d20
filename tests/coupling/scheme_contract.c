/* Requirements on every scheme of the registry: a complete table of functions, options that can be
 * set and are checked, variants that exist, and steps that give bitwise the same result when they
 * are repeated from a saved state. */
#include <stdlib.h>
#include <string.h>

#include "coupling/system_arrays.h"
#include "test.h"
#include "yoke/oscillator.h"

static yk_context *context;

static void tables_and_defaults_are_valid(void **state)
{
    (void)state;
    for (int i = 0; yk_scheme_at(i); i++) {
        const yk_scheme_ops *ops = yk_scheme_at(i);
        assert_ptr_equal(yk_scheme_find(ops->name), ops);
        assert_non_null(ops->description);
        double options[YK_SCHEME_OPTIONS_SIZE_MAX / sizeof(double)];
        yk_scheme_set_defaults(ops, options);
        assert_int_equal(yk_scheme_validate(context, &(yk_scheme_def){.ops = ops}), YK_OK);
        assert_int_equal(yk_scheme_validate(context, &(yk_scheme_def){ops, options}), YK_OK);

        /* The text of a default is a value of its row; rows lie in the struct and explain
         * themselves. */
        for (const yk_option *row = ops->options; row && row->key; row++) {
            assert_true(row->size > 0 && row->offset + row->size <= ops->options_size);
            assert_non_null(row->description);
            assert_ptr_equal(yk_scheme_find_option(ops, row->key), row);
            if (row->default_text)
                assert_int_equal(
                    yk_scheme_set_option(context, ops, options, row->key, row->default_text),
                    YK_OK);
        }
    }
    assert_null(yk_scheme_find("guess"));
}

static void options_are_checked(void **state)
{
    (void)state;
    yk_tight_options options = yk_tight_options_default();
    const yk_scheme_ops *tight = yk_scheme_tight();
    assert_int_equal(yk_scheme_set_option(context, tight, &options, "max_halvings", "3"), YK_OK);
    assert_int_equal(options.max_halvings, 3);
    assert_int_equal(yk_scheme_set_option(context, tight, &options, "acceleration", "aitken"),
                     YK_OK);
    assert_int_equal(options.acceleration, YK_ACCELERATION_AITKEN);
    static const char *const wrong[][3] = {
        {"max_halvings", "21", "must be between 0 and 20"},
        {"max_halvings", "2.5", "no value of the option"},
        {"absolute_tolerance", "-1", "must be 0 or more"},
        {"absolute_tolerance", "nan", "must be 0 or more"},
        {"acceleration", "newton", "none, aitken, quasi"},
        {"polynomial_degree", "3", "has no option 'polynomial_degree'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(yk_scheme_set_option(context, tight, &options, wrong[i][0], wrong[i][1]),
                         YK_ERROR_ARGUMENT);
        if (!strstr(yk_last_message(context), wrong[i][2]))
            print_error("%s\n", yk_last_message(context));
        assert_non_null(strstr(yk_last_message(context), wrong[i][2]));
    }

    /* A choice that has keys of its own takes their numbers. */
    yk_explicit_options weights = yk_explicit_options_default();
    assert_int_equal(
        yk_scheme_set_option(context, yk_scheme_explicit(), &weights, "modified_inputs", "2,3,5"),
        YK_OK);
    assert_int_equal(weights.modified_inputs, YK_MODIFIED_INPUTS_WEIGHTED);
    assert_near(weights.beta, 3, 0);
    assert_int_equal(
        yk_scheme_set_option(context, yk_scheme_explicit(), &weights, "modified_inputs", "2,3"),
        YK_ERROR_ARGUMENT);
}

static void tables_of_another_version_are_refused(void **state)
{
    (void)state;
    yk_scheme_ops other = *yk_scheme_explicit();
    other.step = NULL;
    assert_int_equal(yk_scheme_validate(context, &(yk_scheme_def){.ops = &other}),
                     YK_ERROR_CAPABILITY);
    assert_non_null(strstr(yk_last_message(context), "lacks a required operation"));
    other.size = 8;
    assert_int_equal(yk_scheme_validate(context, &(yk_scheme_def){.ops = &other}),
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
            yk_scheme_set_defaults(ops, options);
            assert_true(v->purpose != 0);
            for (int k = 0; k < 6 && v->options[k]; k++) {
                char key[64];
                snprintf(key, sizeof key, "%s", v->options[k]);
                char *equals = strchr(key, '=');
                assert_non_null(equals);
                *equals = '\0';
                assert_int_equal(yk_scheme_set_option(context, ops, options, key, equals + 1),
                                 YK_OK);
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
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
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
            assert_int_equal(yk_system_initialize(system), YK_OK);
            size_t words = yk_system_state_layout(system).word_count;
            double *saved = malloc(3 * words * sizeof *saved), *once = saved + words,
                   *again = once + words;
            for (int k = 0; k < 10; k++)
                assert_true(!YK_FAILED(yk_system_step(system, NULL)));
            yk_system_get_state(system, saved);
            for (int k = 0; k < 10; k++)
                assert_true(!YK_FAILED(yk_system_step(system, NULL)));
            yk_system_get_state(system, once);
            assert_int_equal(yk_system_set_state(system, saved), YK_OK);
            for (int k = 0; k < 10; k++)
                assert_true(!YK_FAILED(yk_system_step(system, NULL)));
            yk_system_get_state(system, again);
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

/* A scheme that takes the mean of the last two wrenches, and so has to remember one: numbers that
 * lie together. */
typedef struct mean_scheme {
    yk_scheme base;
    yk_wrench last;
} mean_scheme;

static yk_status mean_create(yk_system *system, const void *options, yk_scheme **scheme)
{
    (void)options;
    *scheme = yk_allocate(yk_system_context(system), 1, sizeof(mean_scheme));
    return *scheme ? YK_OK : YK_ERROR_MEMORY;
}

static void mean_destroy(yk_scheme *scheme, yk_system *system)
{
    yk_free(yk_system_context(system), scheme);
}

static yk_status mean_start(yk_scheme *scheme, yk_system *system)
{
    yk_status status = yk_system_initialize_wrenches(system);
    ((mean_scheme *)scheme)->last = yk_system_reaction_wrench(system, 0);
    return status;
}

static yk_status mean_step(yk_scheme *scheme, yk_system *system, yk_step_report *report)
{
    mean_scheme *self = (mean_scheme *)scheme;
    report->iterations = 1;
    yk_wrench now = yk_system_reaction_wrench(system, 0);
    yk_wrench mean = {.force.x = 0.5 * (now.force.x + self->last.force.x)};
    yk_system_apply_wrench(system, 0, &mean);
    self->last = now;

    yk_motion end;
    yk_system_predict_motion(system, 0, &end);
    yk_system_prescribe_motion(system, 0, &end);
    for (int i = 0; i < 2; i++)
        if (YK_FAILED(yk_system_advance_participant(system, i)))
            return yk_system_report_failure(system, i);
    return YK_OK;
}

static double *mean_state(yk_scheme *scheme, const yk_system *system, size_t *count)
{
    (void)system;
    *count = sizeof(yk_wrench) / sizeof(double);
    return &((mean_scheme *)scheme)->last.force.x;
}

/* Ten steps twice from one state, with the wrench in it or without: returns the words of it, and
 * whether the steps were the same. */
static size_t repeat_with_mean(bool remembers, bool *same)
{
    const yk_scheme_ops ops = {
        .size = sizeof ops,
        .name = "mean",
        .constant_traits = YK_SCHEME_EXCHANGES_MOTION,
        .create = mean_create,
        .destroy = mean_destroy,
        .initialize = mean_start,
        .step = mean_step,
        .state_array = remembers ? mean_state : NULL,
    };
    const yk_scheme_def scheme = {.ops = &ops};
    assert_int_equal(yk_scheme_traits(&scheme), YK_SCHEME_EXCHANGES_MOTION);

    yk_oscillator_def mass = yk_oscillator_default();
    mass.stiffness = 100, mass.position = 0.1, mass.integrator = YK_OSCILLATOR_EXACT;
    yk_subsystem *masses[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(yk_oscillator_create(context, &mass, &masses[k]), YK_OK);
        mass.mass = 0.3;
    }
    static const char *const names[] = {"left", "right"};
    const yk_interface_def joint = {
        .name = "joint", .motion_subsystem = {1}, .constrained_axes = YK_AXIS_X};
    const yk_system_description def = {.subsystems = masses,
                                       .names = names,
                                       .subsystem_count = 2,
                                       .interfaces = &joint,
                                       .interface_count = 1,
                                       .scheme = scheme,
                                       .step = 1e-3};
    yk_system *system;
    assert_int_equal(yk_system_make(context, &def, &system), YK_OK);
    assert_int_equal(yk_system_initialize(system), YK_OK);

    size_t words = yk_system_state_layout(system).word_count;
    double saved[64];
    double ends[2];
    assert_true(words <= 64);
    yk_system_get_state(system, saved);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(yk_system_set_state(system, saved), YK_OK);
        for (int k = 0; k < 10; k++)
            assert_int_equal(yk_system_step(system, NULL), YK_OK);
        ends[pass] =
            yk_system_port_value(system, (yk_subsystem_id){0}, (yk_port_id){0})->motion.position.x;
    }
    *same = memcmp(&ends[0], &ends[1], sizeof *ends) == 0;

    yk_system_destroy(system);
    for (int k = 0; k < 2; k++)
        masses[k]->ops->destroy(masses[k]);
    return words;
}

static void numbers_that_lie_together_are_a_state(void **state)
{
    (void)state;
    bool same_with;
    bool same_without;
    size_t with = repeat_with_mean(true, &same_with);
    size_t without = repeat_with_mean(false, &same_without);
    assert_int_equal(with - without, 6);
    assert_true(same_with);
    assert_false(same_without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_and_defaults_are_valid),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(tables_of_another_version_are_refused),
        cmocka_unit_test(variants_name_options_that_exist),
        cmocka_unit_test(a_saved_state_repeats_the_steps),
        cmocka_unit_test(numbers_that_lie_together_are_a_state),
    };
    context = yk_context_create(NULL);
    int failed = cmocka_run_group_tests_name("scheme_contract", tests, NULL, NULL);
    yk_context_destroy(context);
    return failed;
}
