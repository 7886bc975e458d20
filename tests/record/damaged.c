/* Files that were damaged at random: the program gets a record or a message, without a crash, a
 * hang or a memory error.
 *
 *   test_record_damaged [FILES]     so many damaged files, 4000 unless given */
#include "folder.h"
#include "record/memory.h"

static int files = 4000;

/* Damage -----------------------------------------------------------------------------------------*/

/* A file with frames and a summary. */
static void make_file(test_folder *folder, const char *name, size_t rows)
{
    const yk_record_channel channels[] = {
        {.name = "tip.position", .unit = "m", .component_count = 3},
        {.name = "force", .unit = "N", .component_count = 1},
    };
    yk_record_header header = {.title = "damaged", .channels = channels, .channel_count = 2};
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, name);
    yk_recorder *recorder;
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_OK);
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    for (size_t i = 0; i < rows; i++) {
        double t = 1e-3 * (double)i;
        const double row[] = {sin(t), cos(t), t, i % 1000 == 500 ? 9 : 1};
        assert_int_equal(yk_recorder_sample(recorder, t, row), YK_OK);
    }
    const yk_record_value value = {.name = "steps", .value = (double)rows, .unit = ""};
    assert_int_equal(yk_recorder_end(recorder, &(yk_record_summary){&value, 1}), YK_OK);
    yk_recorder_destroy(recorder);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 24;
}

/* Bytes are changed, many of them in descriptions of objects, and some files are cut off. */
static void damaged_files_give_a_record_or_a_message(void **state)
{
    test_folder *folder = *state;
    make_file(folder, "good.h5", 3000);
    size_t length;
    char *good = read_whole(in_folder(folder, "good.h5"), &length);
    char *bad = malloc(length);
    int refused = 0;
    for (int i = 0; i < files; i++) {
        uint64_t seed = 977 * (uint64_t)i + 1;
        memcpy(bad, good, length);
        int changes = 1 + (int)(next(&seed) % 16);
        for (int k = 0; k < changes; k++) {
            /* Descriptions are at the end of the file, the superblock at its start. */
            size_t at = next(&seed) % length;
            if (k % 4 == 0)
                at = length - 1 - next(&seed) % (length < 8192 ? length : 8192);
            if (k % 16 == 2)
                at = next(&seed) % 96;
            bad[at] = (char)next(&seed);
        }

        size_t left = i % 8 == 7 ? next(&seed) % length + 8 : length;
        write_file(in_folder(folder, "bad.h5"), bad, left < length ? left : length);
        yk_record *record = NULL;
        yk_status status = yk_record_load(folder->context, in_folder(folder, "bad.h5"), &record);
        if (status == YK_OK) {
            assert_true(yk_record_row_count(record) > 0);
            yk_record_destroy(record);
            continue;
        }

        refused++;
        bool known = status == YK_ERROR_INPUT || status == YK_ERROR_MEMORY;
        if (!known || !strstr(yk_last_message(folder->context), "bad.h5"))
            fail_msg("file %d: %s: %s", i, yk_status_name(status),
                     yk_last_message(folder->context));
    }

    print_message("%d damaged files, %d refused\n", files, refused);
    assert_true(refused > files / 4);
    free(bad);
    free(good);
}

/* Thin records -----------------------------------------------------------------------------------*/

static void thin_records_look_like_the_whole(void **state)
{
    test_folder *folder = *state;
    const char *const names[] = {"whole.h5", "whole.csv"};
    for (int i = 0; i < 2; i++) {
        make_file(folder, names[i], 100000);
        yk_record *thin;
        const char *path = in_folder(folder, names[i]);
        assert_int_equal(yk_record_load_thin(folder->context, path, 4096, &thin), YK_OK);
        size_t rows = yk_record_row_count(thin);
        assert_true(rows <= 4096 && rows >= 2048);

        /* All peaks of a millisecond are there, times ascend, and both ends are those of the run. */
        const double *time = yk_record_times(thin);
        const double *force = yk_record_column(thin, 1, 0);
        int peaks = 0;
        for (size_t k = 0; k < rows; k++) {
            peaks += force[k] == 9;
            assert_true(k == 0 || time[k] > time[k - 1]);
            double x = yk_record_column(thin, 0, 0)[k];
            assert_near(x, sin(time[k]), 0.07);
        }

        assert_int_equal(peaks, 100);
        assert_true(time[0] == 0);
        assert_near(time[rows - 1], 99.999, 1e-9);
        yk_record_destroy(thin);

        /* One that fits is as it was. */
        yk_record *whole;
        make_file(folder, names[i], 1000);
        path = in_folder(folder, names[i]);
        assert_int_equal(yk_record_load_thin(folder->context, path, 4096, &thin), YK_OK);
        assert_int_equal(yk_record_load(folder->context, path, &whole), YK_OK);
        assert_int_equal(yk_record_row_count(thin), 1000);
        assert_memory_equal(yk_record_times(thin), yk_record_times(whole), 1000 * sizeof(double));
        for (int c = 0; c < 3; c++)
            assert_memory_equal(yk_record_column(thin, 0, c), yk_record_column(whole, 0, c),
                                1000 * sizeof(double));
        yk_record_destroy(thin);
        yk_record_destroy(whole);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(int argc, char **argv)
{
    if (argc > 1)
        files = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        TEST(damaged_files_give_a_record_or_a_message),
        TEST(thin_records_look_like_the_whole),
    };
    return cmocka_run_group_tests_name("damaged", tests, NULL, NULL);
}
