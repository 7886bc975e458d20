/* Requirements on every kind of recorder: bitwise equal data after writing and reading, the order
 * of calls, and invalid headers are rejected. */
#include "folder.h"

/* A kind of recorder: how it is made, and how its record comes back. */
typedef struct test_subject {
    yk_recorder *recorder;
    yk_record *memory;   /* the record that it writes, or the one behind a tee */
    yk_recorder *beside; /* the other recorder of a tee */
    const char *file;    /* name in the folder; NULL: none */
} test_subject;

static const char *const kinds[] = {"memory", "csv", "hdf5", "tee"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static test_subject create(test_folder *folder, const char *kind)
{
    test_subject made = {0};
    if (strcmp(kind, "csv") == 0)
        made.file = "results.csv";
    if (strcmp(kind, "hdf5") == 0)
        made.file = "results.h5";
    if (made.file) {
        made.recorder = create_file_recorder(folder, made.file);
        return made;
    }
    assert_int_equal(yk_record_create(folder->context, &made.memory), YK_OK);
    made.recorder = yk_record_recorder(made.memory);
    if (strcmp(kind, "tee") == 0) {
        made.beside = create_file_recorder(folder, "beside.HDF5");
        yk_recorder *both[] = {made.beside, made.recorder};
        assert_int_equal(yk_tee_recorder_create(folder->context, both, 2, &made.recorder), YK_OK);
    }
    return made;
}

/* The record as a reader finds it; the subject is gone afterwards. */
static yk_record *take_record(test_folder *folder, test_subject *subject)
{
    if (subject->recorder != (yk_recorder *)subject->memory)
        yk_recorder_destroy(subject->recorder);
    yk_recorder_destroy(subject->beside);
    return subject->memory ? subject->memory : load_file(folder, subject->file);
}

static void destroy(test_folder *folder, test_subject *subject)
{
    (void)folder;
    if (subject->recorder != (yk_recorder *)subject->memory)
        yk_recorder_destroy(subject->recorder);
    yk_recorder_destroy(subject->beside);
    yk_record_destroy(subject->memory);
}

static void samples_come_back_bit_for_bit(void **state)
{
    test_folder *folder = *state;
    for (int k = 0; k < KINDS; k++) {
        test_subject subject = create(folder, kinds[k]);
        assert_string_equal(subject.recorder->ops->kind, kinds[k]);
        assert_int_equal(yk_recorder_begin(subject.recorder, &sample_header), YK_OK);
        record_samples(subject.recorder, 0, 2500); /* some full blocks and a rest */
        assert_int_equal(yk_recorder_end(subject.recorder, NULL), YK_OK);
        yk_record *record = take_record(folder, &subject);
        assert_true(yk_record_is_complete(record));
        assert_channels(record);
        assert_samples(record, 2500);
        yk_record_destroy(record);
    }
    yk_record *beside = load_file(folder, "beside.HDF5");
    assert_samples(beside, 2500);
    yk_record_destroy(beside);
}

static void one_row_and_no_channel_are_enough(void **state)
{
    test_folder *folder = *state;
    for (int k = 0; k < KINDS; k++) {
        test_subject subject = create(folder, kinds[k]);
        assert_int_equal(yk_recorder_begin(subject.recorder, &(yk_record_header){0}), YK_OK);
        assert_int_equal(yk_recorder_sample(subject.recorder, 0.25, NULL), YK_OK);
        assert_int_equal(yk_recorder_end(subject.recorder, NULL), YK_OK);
        yk_record *record = take_record(folder, &subject);
        assert_int_equal(yk_record_row_count(record), 1);
        assert_near(yk_record_times(record)[0], 0.25, 0);
        assert_string_equal(yk_record_get_header(record)->title, "");
        yk_record_destroy(record);
    }
}

static void samples_outside_begin_and_end_are_refused(void **state)
{
    test_folder *folder = *state;
    const double row[SAMPLE_WIDTH] = {0};
    for (int k = 0; k < KINDS; k++) {
        test_subject subject = create(folder, kinds[k]);
        assert_int_equal(yk_recorder_sample(subject.recorder, 0, row), YK_ERROR_ARGUMENT);
        assert_int_equal(yk_recorder_end(subject.recorder, NULL), YK_ERROR_ARGUMENT);
        assert_int_equal(yk_recorder_begin(subject.recorder, &sample_header), YK_OK);
        assert_int_equal(yk_recorder_sample(subject.recorder, 0, row), YK_OK);
        assert_int_equal(yk_recorder_end(subject.recorder, NULL), YK_OK);
        assert_int_equal(yk_recorder_sample(subject.recorder, 0, row), YK_ERROR_ARGUMENT);
        assert_int_equal(yk_recorder_end(subject.recorder, NULL), YK_ERROR_ARGUMENT);
        destroy(folder, &subject);
    }
}

static void beginning_anew_replaces_the_record(void **state)
{
    test_folder *folder = *state;
    const yk_record_channel other = {.name = "other", .component_count = 2};
    const yk_record_header first = {.channels = &other, .channel_count = 1};
    for (int k = 0; k < KINDS; k++) {
        test_subject subject = create(folder, kinds[k]);
        assert_int_equal(yk_recorder_begin(subject.recorder, &first), YK_OK);
        assert_int_equal(yk_recorder_sample(subject.recorder, 7, (const double[]){1, 2}), YK_OK);
        if (k % 2)
            assert_int_equal(yk_recorder_end(subject.recorder, NULL), YK_OK);
        assert_int_equal(yk_recorder_begin(subject.recorder, &sample_header), YK_OK);
        record_samples(subject.recorder, 0, 10);
        assert_int_equal(yk_recorder_end(subject.recorder, NULL), YK_OK);
        yk_record *record = take_record(folder, &subject);
        assert_channels(record);
        assert_samples(record, 10);
        yk_record_destroy(record);
    }
}

static void refuse(test_folder *folder, const yk_record_channel *channels, int count,
                   const char *message)
{
    const yk_record_header header = {.channels = channels, .channel_count = count};
    for (int k = 0; k < KINDS; k++) {
        test_subject subject = create(folder, kinds[k]);
        assert_int_equal(yk_recorder_begin(subject.recorder, &header), YK_ERROR_ARGUMENT);
        assert_non_null(strstr(yk_last_message(folder->context), message));
        destroy(folder, &subject);
    }
}

static void headers_that_make_no_sense_are_refused(void **state)
{
    const yk_record_channel twins[] = {{.name = "a", .component_count = 1},
                                       {.name = "b", .component_count = 1},
                                       {.name = "a", .component_count = 1}};
    const yk_record_channel unnamed[] = {{.name = "", .component_count = 1}},
                            null[] = {{.component_count = 1}};
    const yk_record_channel empty[] = {{.name = "a.b", .component_count = 0}};
    refuse(*state, twins, 3, "'a' is recorded twice");
    refuse(*state, unnamed, 1, "channel 1 of the record has no name");
    refuse(*state, null, 1, "channel 1 of the record has no name");
    refuse(*state, empty, 1, "'a.b' has 0 components");
    refuse(*state, empty, -1, "-1 channels");
}

static void summaries_with_twins_are_refused(void **state)
{
    test_folder *folder = *state;
    const yk_record_value values[] = {{.name = "steps", .value = 1}, {.name = "steps", .value = 2}};
    const yk_record_summary summary = {values, 2};
    for (int k = 0; k < KINDS; k++) {
        test_subject subject = create(folder, kinds[k]);
        assert_int_equal(yk_recorder_begin(subject.recorder, &sample_header), YK_OK);
        assert_int_equal(yk_recorder_end(subject.recorder, &summary), YK_ERROR_ARGUMENT);
        assert_non_null(strstr(yk_last_message(folder->context), "'steps' is recorded twice"));
        destroy(folder, &subject);
    }
}

/* A recorder of somebody else's, which fails. */
static yk_status broken_sample(yk_recorder *recorder, double time, const double *row)
{
    (void)recorder, (void)time, (void)row;
    return YK_ERROR_EXTERNAL;
}

static void a_tee_feeds_the_others_when_one_fails(void **state)
{
    test_folder *folder = *state;
    static const yk_recorder_ops broken_ops = {
        .size = sizeof broken_ops, .kind = "broken", .sample = broken_sample};
    yk_recorder broken = {&broken_ops}, *tee = NULL;
    yk_record *record = NULL;
    assert_int_equal(yk_record_create(folder->context, &record), YK_OK);
    yk_recorder *both[] = {&broken, yk_record_recorder(record)};
    assert_int_equal(yk_tee_recorder_create(folder->context, both, 2, &tee), YK_OK);
    assert_int_equal(yk_recorder_begin(yk_record_recorder(record), &(yk_record_header){0}), YK_OK);
    assert_int_equal(yk_recorder_sample(tee, 1, NULL), YK_ERROR_EXTERNAL);
    assert_int_equal(yk_record_row_count(record), 1);
    yk_recorder_destroy(tee);
    yk_record_destroy(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_come_back_bit_for_bit, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(one_row_and_no_channel_are_enough, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(samples_outside_begin_and_end_are_refused, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(beginning_anew_replaces_the_record, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(headers_that_make_no_sense_are_refused, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(summaries_with_twins_are_refused, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(a_tee_feeds_the_others_when_one_fails, open_folder,
                                        close_folder),
    };
    return cmocka_run_group_tests_name("recorders", tests, NULL, NULL);
}
