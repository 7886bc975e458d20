/* The record in memory: growth, copies of header and summary, failing allocations. */
#include "failing_allocator.h"
#include "folder.h"

static void a_hundred_thousand_samples_stay_in_place(void **state)
{
    test_folder *folder = *state;
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    assert_int_equal(yk_recorder_begin(yk_record_recorder(record), &sample_header), YK_OK);
    record_samples(yk_record_recorder(record), 0, 100000);
    assert_int_equal(yk_recorder_end(yk_record_recorder(record), NULL), YK_OK);
    assert_samples(record, 100000);
    yk_record_destroy(record);
}

static void columns_can_be_read_while_recording(void **state)
{
    test_folder *folder = *state;
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    assert_int_equal(yk_record_row_count(record), 0);
    assert_false(yk_record_is_complete(record));
    assert_int_equal(yk_recorder_begin(yk_record_recorder(record), &sample_header), YK_OK);
    record_samples(yk_record_recorder(record), 0, 300);
    assert_samples(record, 300);
    assert_false(yk_record_is_complete(record));
    yk_record_destroy(record);
}

/* The second run finds the first one's memory, and none of its rows. */
static void a_second_run_starts_empty(void **state)
{
    test_folder *folder = *state;
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    yk_recorder *recorder = yk_record_recorder(record);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 5000);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    const double *time = yk_record_times(record);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    assert_int_equal(yk_record_row_count(record), 0);
    record_samples(recorder, 0, 4000);
    assert_samples(record, 4000);
    assert_ptr_equal(yk_record_times(record), time);
    yk_record_destroy(record);
}

static void header_and_summary_are_copies(void **state)
{
    test_folder *folder = *state;
    char name[] = "a", unit[] = "m", title[] = "t", steps[] = "steps", text[] = "explicit";
    const yk_record_channel channel = {.name = name, .unit = unit, .component_count = 3};
    const yk_record_header header = {.title = title, .channels = &channel, .channel_count = 1};
    const yk_record_value values[] = {{.name = steps, .value = 12, .unit = "1"},
                                      {.name = "scheme", .text = text}};
    const yk_record_summary summary = {values, 2};
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    assert_int_equal(yk_recorder_begin(yk_record_recorder(record), &header), YK_OK);
    assert_int_equal(yk_recorder_end(yk_record_recorder(record), &summary), YK_OK);
    name[0] = unit[0] = title[0] = steps[0] = text[0] = '?';
    assert_string_equal(yk_record_get_header(record)->title, "t");
    assert_string_equal(yk_record_get_header(record)->scenario_text, "");
    assert_string_equal(yk_record_get_header(record)->channels[0].name, "a");
    assert_string_equal(yk_record_get_header(record)->channels[0].unit, "m");
    assert_string_equal(yk_record_get_header(record)->channels[0].labels[2], "z");
    const yk_record_summary *kept = yk_record_get_summary(record);
    assert_int_equal(kept->count, 2);
    assert_string_equal(kept->values[0].name, "steps");
    assert_near(kept->values[0].value, 12, 0);
    assert_string_equal(kept->values[0].unit, "1");
    assert_string_equal(kept->values[0].text, "");
    assert_string_equal(kept->values[1].text, "explicit");
    yk_record_destroy(record);
}

/* Records until something fails; what was recorded by then has to be there and right. */
static void record_with_fault(yk_context *context)
{
    enum { ROWS = 600 }; /* two times of growth */
    yk_record *record = NULL;
    yk_status status = yk_record_create(context, &record);
    if (status == YK_OK)
        status = yk_recorder_begin(yk_record_recorder(record), &sample_header);
    if (status == YK_OK) {
        size_t rows = 0;
        double row[SAMPLE_WIDTH];
        for (; rows < ROWS && status == YK_OK; rows += status == YK_OK) {
            sample_row(rows, row, SAMPLE_WIDTH);
            status = yk_recorder_sample(yk_record_recorder(record), sample_time(rows), row);
        }
        assert_samples(record, rows);
        if (status != YK_OK)
            record_samples(yk_record_recorder(record), rows, ROWS); /* memory is back */
        assert_samples(record, ROWS);
        yk_status ended = yk_recorder_end(yk_record_recorder(record), NULL);
        if (status == YK_OK)
            status = ended;
    }
    if (status != YK_OK)
        assert_int_equal(status, YK_ERROR_MEMORY);
    yk_record_destroy(record);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    int failures = 0;
    for (int nth = 1;; nth++) {
        budget fault = {.fails = nth, .once = true};
        yk_context *context = budget_context(&fault);
        record_with_fault(context);
        yk_context_destroy(context);
        if (!fault.failed)
            break;
        failures++;
    }
    assert_true(failures > 3 * (SAMPLE_WIDTH + 1)); /* three growths of all columns, and the rest */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_hundred_thousand_samples_stay_in_place, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(columns_can_be_read_while_recording, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(a_second_run_starts_empty, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(header_and_summary_are_copies, open_folder, close_folder),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("record/memory", tests, NULL, NULL);
}
