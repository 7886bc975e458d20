/* Comparison of records: differences, interpolation, tolerance, and channels that only one record
 * has. */
#include <math.h>

#include "folder.h"
#include "yoke/compare.h"

/* x(t) = slope t + offset, sampled at 0, step, ... */
static yk_record *make_record(yk_context *context, const char *name, double step, double slope,
                              double offset)
{
    const yk_record_channel channel = {.name = name, .unit = "m", .component_count = 1};
    const yk_record_header header = {.title = "line", .channels = &channel, .channel_count = 1};
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(context, &record), YK_OK);
    yk_recorder *recorder = yk_record_recorder(record);
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    for (int i = 0; i * step <= 1; i++) {
        double x = slope * i * step + offset;
        assert_int_equal(yk_recorder_sample(recorder, i * step, &x), YK_OK);
    }
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    return record;
}

static yk_comparison *compare(yk_context *context, const yk_record *a, const yk_record *b,
                              double tolerance)
{
    yk_compare_options options = yk_compare_options_default();
    options.tolerance = tolerance;
    yk_comparison *comparison = NULL;
    assert_int_equal(yk_record_compare(context, a, b, &options, &comparison), YK_OK);
    return comparison;
}

static void samples_between_those_of_b_are_interpolated(void **state)
{
    test_folder *folder = *state;
    yk_record *fine = make_record(folder->context, "x", 0.125, 2, 0);
    yk_record *coarse = make_record(folder->context, "x", 0.25, 2, 0);
    yk_comparison *comparison = compare(folder->context, fine, coarse, 0);
    assert_int_equal(comparison->channels[0].relation, YK_CHANNELS_EQUAL);
    assert_int_equal(comparison->different_count, 0);
    yk_comparison_destroy(folder->context, comparison);
    yk_record_destroy(fine);
    yk_record_destroy(coarse);
}

/* The slopes 2 and 2.5 part by 0.5 at t = 1, a quarter of the range of A. */
static void the_largest_difference_has_its_time(void **state)
{
    test_folder *folder = *state;
    yk_record *a = make_record(folder->context, "x", 0.25, 2, 0);
    yk_record *b = make_record(folder->context, "x", 0.25, 2.5, 0);
    yk_comparison *comparison = compare(folder->context, a, b, 0.24);
    const yk_channel_comparison *channel = &comparison->channels[0];
    assert_int_equal(channel->relation, YK_CHANNELS_DIFFERENT);
    assert_int_equal(comparison->different_count, 1);
    assert_near(channel->max_difference, 0.5, 1e-15);
    assert_near(channel->time, 1, 0);
    assert_near(channel->range, 2, 0);
    assert_near(channel->rms_difference, 0.5 * sqrt(30. / 16 / 5), 1e-15);
    yk_comparison_destroy(folder->context, comparison);

    comparison = compare(folder->context, a, b, 0.26);
    assert_int_equal(comparison->channels[0].relation, YK_CHANNELS_WITHIN_TOLERANCE);
    assert_int_equal(comparison->different_count, 0);
    yk_comparison_destroy(folder->context, comparison);
    yk_record_destroy(a);
    yk_record_destroy(b);
}

static void nan_equals_nan_and_nothing_else(void **state)
{
    test_folder *folder = *state;
    yk_record *nan_record = make_record(folder->context, "x", 0.5, 0, NAN);
    yk_record *zero = make_record(folder->context, "x", 0.5, 0, 0);
    yk_comparison *comparison = compare(folder->context, nan_record, nan_record, 0);
    assert_int_equal(comparison->channels[0].relation, YK_CHANNELS_EQUAL);
    yk_comparison_destroy(folder->context, comparison);
    comparison = compare(folder->context, zero, nan_record, 1);
    assert_int_equal(comparison->channels[0].relation, YK_CHANNELS_DIFFERENT);
    assert_true(isinf(comparison->channels[0].max_difference));
    yk_comparison_destroy(folder->context, comparison);
    yk_record_destroy(nan_record);
    yk_record_destroy(zero);
}

static void channels_of_one_record_alone_differ(void **state)
{
    test_folder *folder = *state;
    yk_record *a = make_record(folder->context, "x", 0.5, 1, 0);
    yk_record *b = make_record(folder->context, "y", 0.5, 1, 0);
    yk_comparison *comparison = compare(folder->context, a, b, 1);
    assert_int_equal(comparison->channel_count, 2);
    assert_int_equal(comparison->channels[0].relation, YK_CHANNELS_ONLY_IN_A);
    assert_int_equal(comparison->channels[1].relation, YK_CHANNELS_ONLY_IN_B);
    assert_int_equal(comparison->different_count, 2);
    yk_comparison_destroy(folder->context, comparison);

    const char *const wanted[] = {"y"};
    yk_compare_options options = yk_compare_options_default();
    options.channels = wanted;
    options.channel_count = 1;
    assert_int_equal(yk_record_compare(folder->context, a, b, &options, &comparison),
                     YK_ERROR_ARGUMENT);
    assert_null(comparison);
    yk_record_destroy(a);
    yk_record_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_between_those_of_b_are_interpolated),
        cmocka_unit_test(the_largest_difference_has_its_time),
        cmocka_unit_test(nan_equals_nan_and_nothing_else),
        cmocka_unit_test(channels_of_one_record_alone_differ),
    };
    return cmocka_run_group_tests_name("compare", tests, open_folder, close_folder);
}
