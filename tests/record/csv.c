/* CSV files as other programs read them: the exact text, quoting, digits, locale, the .part file,
 * and write errors. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "folder.h"

static void text_is_a_plain_table(void **state)
{
    test_folder *folder = *state;
    const yk_record_channel channels[] = {
        {.name = "tip.position", .unit = "m", .component_count = 3},
        {.name = "count", .component_count = 1},
        {.name = "say \"a,b\"", .unit = "N", .component_count = 1}};
    const yk_record_header header = {.channels = channels, .channel_count = 3};
    yk_recorder *recorder = create_file_recorder(folder, "a.csv");
    assert_int_equal(yk_recorder_begin(recorder, &header), YK_OK);
    assert_int_equal(yk_recorder_sample(recorder, 0, (double[]){1, -0.5, 1e300, NAN, INFINITY}),
                     YK_OK);
    assert_int_equal(
        yk_recorder_sample(recorder, 0.1, (double[]){1 / 3.0, 0, 5e-324, 7, -INFINITY}), YK_OK);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    yk_recorder_destroy(recorder);
    size_t length;
    char *text = read_whole(in_folder(folder, "a.csv"), &length);
    assert_string_equal(
        text, "time [s],tip.position.x [m],tip.position.y [m],tip.position.z [m],count [1],\"say "
              "\"\"a,b\"\" "
              "[N]\"\n"
              "0,1,-0.5,1e+300,nan,inf\n"
              "0.1,0.3333333333333333,0,5e-324,7,-inf\n");
    free(text);
}

/* Components are joined if they have the usual names, with dots or, as in files of earlier versions, with colons. */
static void components_are_joined(void **state)
{
    test_folder *folder = *state;
    static const char text[] =
        "time [s],a.x [m],a.y [m],a.z [m],b.w,b.x,b.y,b.z,c.x [m],c.y [s],d:x,d:y,e.1,e.2,"
        "f.x,f.y,f.z,f.rx,f.ry,f.rz\n"
        "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n";
    write_file(in_folder(folder, "a.csv"), text, sizeof text - 1);
    yk_record *record = load_file(folder, "a.csv");
    const yk_record_header *header = yk_record_get_header(record);
    static const char *const names[] = {"a", "b", "c.x", "c.y", "d", "e", "f"};
    static const int sizes[] = {3, 4, 1, 1, 2, 2, 6};
    assert_int_equal(header->channel_count, 7);
    for (int i = 0; i < 7; i++) {
        assert_string_equal(header->channels[i].name, names[i]);
        assert_int_equal(header->channels[i].component_count, sizes[i]);
    }
    assert_string_equal(header->channels[6].labels[3], "rx");
    assert_string_equal(header->channels[4].labels[1], "y");
    assert_near(yk_record_column(record, 6, 5)[0], 19, 0);
    yk_record_destroy(record);
}

static void file_appears_complete_and_at_once(void **state)
{
    test_folder *folder = *state;
    write_file(in_folder(folder, "a.csv"), "old", 3);
    yk_recorder *recorder = create_file_recorder(folder, "a.csv");
    assert_false(file_exists(in_folder(folder, "a.csv.part"))); /* creation opens nothing */
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 10);
    assert_true(file_exists(in_folder(folder, "a.csv.part")));
    size_t length;
    char *old = read_whole(in_folder(folder, "a.csv"), &length);
    assert_string_equal(old, "old");
    free(old);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    assert_false(file_exists(in_folder(folder, "a.csv.part")));
    yk_recorder_destroy(recorder);
    yk_record *record = load_file(folder, "a.csv");
    assert_samples(record, 10);
    yk_record_destroy(record);
}

static void abandoned_run_leaves_its_rows_in_the_part(void **state)
{
    test_folder *folder = *state;
    yk_recorder *recorder = create_file_recorder(folder, "a.csv");
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 1500);
    yk_recorder_destroy(recorder);
    assert_false(file_exists(in_folder(folder, "a.csv")));
    yk_record *record = load_file(folder, "a.csv.part");
    assert_samples(record, 1500);
    assert_false(yk_record_is_complete(record));
    yk_record_destroy(record);
}

/* Runs `work` in a child that dies by `signal` (0: exits with status 0). */
static void expect_child(test_folder *folder, void (*work)(test_folder *), int channel)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        work(folder);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (channel) {
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), channel);
    } else {
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void record_and_die(test_folder *folder)
{
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, "a.csv");
    def.block_rows = 100;
    def.flush_interval = 1e9;
    yk_recorder *recorder = NULL;
    yk_file_recorder_create(folder->context, &def, &recorder);
    yk_recorder_begin(recorder, &sample_header);
    record_samples(recorder, 0, 250);
    raise(SIGKILL);
}

static void killed_run_leaves_whole_blocks(void **state)
{
    expect_child(*state, record_and_die, SIGKILL);
    yk_record *record = load_file(*state, "a.csv.part");
    assert_samples(record, 200);
    yk_record_destroy(record);
}

static void slow_runs_are_flushed_by_the_clock(void **state)
{
    test_folder *folder = *state;
    yk_file_recorder_def def = yk_file_recorder_default();
    def.path = in_folder(folder, "a.csv");
    def.flush_interval = 0;
    yk_recorder *recorder = NULL;
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_OK);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 3);
    yk_record *record = load_file(folder, "a.csv.part");
    assert_samples(record, 3);
    yk_record_destroy(record);
    yk_recorder_destroy(recorder);
}

/* Exit status 1: a sample or the end did not report the full disk as it should. */
static void fill_the_disk(test_folder *folder)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {200000, 200000};
    setrlimit(RLIMIT_FSIZE, &limit);
    yk_recorder *recorder = create_file_recorder(folder, "a.csv");
    yk_recorder_begin(recorder, &sample_header);
    double row[SAMPLE_WIDTH];
    yk_status status = YK_OK;
    for (size_t i = 0; i < 5000 && status == YK_OK; i++) {
        sample_row(i, row, SAMPLE_WIDTH);
        status = yk_recorder_sample(recorder, sample_time(i), row);
    }
    bool named = strstr(yk_last_message(folder->context), "a.csv.part': File too large") != NULL;
    bool again = yk_recorder_sample(recorder, 0, row) == YK_ERROR_FILE &&
                 yk_recorder_end(recorder, NULL) == YK_ERROR_FILE;
    yk_recorder_destroy(recorder);
    _exit(status == YK_ERROR_FILE && named && again ? 0 : 1);
}

static void full_disk_is_an_error_and_leaves_whole_blocks(void **state)
{
    expect_child(*state, fill_the_disk, 0);
    assert_false(file_exists(in_folder(*state, "a.csv")));
    yk_record *record = load_file(*state, "a.csv.part");
    assert_samples(record, 1024);
    yk_record_destroy(record);
}

static void expect_begin_error(test_folder *folder, const char *name, const char *message)
{
    yk_recorder *recorder = create_file_recorder(folder, name);
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_ERROR_FILE);
    const char *text = yk_last_message(folder->context);
    if (!strstr(text, message) || !strstr(text, name))
        fail_msg("'%s' lacks '%s' or '%s'", text, message, name);
    yk_recorder_destroy(recorder);
}

static void places_that_cannot_be_written_are_named_at_the_beginning(void **state)
{
    test_folder *folder = *state;
    expect_begin_error(folder, "missing/a.csv", "No such file or directory");
    expect_begin_error(folder, "missing/a.h5", "No such file or directory");
    mkdir(in_folder(folder, "b.csv"), 0700);
    expect_begin_error(folder, "b.csv", "not a regular file");
    rmdir(in_folder(folder, "b.csv"));
}

/* Exit status 1: the error was not the expected one. */
static void write_without_permission(test_folder *folder)
{
    if (geteuid() == 0 && setuid(65534) != 0)
        _exit(2); /* root may write anywhere */
    static const char *const names[] = {"a.csv", "a.h5"};
    for (int i = 0; i < 2; i++) {
        yk_recorder *recorder = create_file_recorder(folder, names[i]);
        yk_status status = yk_recorder_begin(recorder, &sample_header);
        bool named = strstr(yk_last_message(folder->context), "Permission denied") != NULL;
        yk_recorder_destroy(recorder);
        if (status != YK_ERROR_FILE || !named)
            _exit(1);
    }
}

static void no_permission_is_an_error(void **state)
{
    test_folder *folder = *state;
    chmod(folder->path, 0500);
    expect_child(folder, write_without_permission, 0);
}

static void names_that_imply_no_format(void **state)
{
    test_folder *folder = *state;
    yk_recorder *recorder = NULL;
    yk_file_recorder_def def = yk_file_recorder_default();
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_ERROR_ARGUMENT);
    def.path = "results.txt";
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_ERROR_ARGUMENT);
    assert_non_null(strstr(yk_last_message(folder->context), "'results.txt'"));
    assert_null(recorder);
    def.format = YK_RECORD_FORMAT_CSV;
    assert_int_equal(yk_file_recorder_create(folder->context, &def, &recorder), YK_OK);
    assert_string_equal(recorder->ops->kind, "csv");
    yk_recorder_destroy(recorder);
}

static void decimal_commas_of_the_locale_do_not_leak_in(void **state)
{
    test_folder *folder = *state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    if (!found)
        skip(); /* no language with a decimal comma is installed */
    yk_recorder *recorder = create_file_recorder(folder, "a.csv");
    assert_int_equal(yk_recorder_begin(recorder, &sample_header), YK_OK);
    record_samples(recorder, 0, 100);
    assert_int_equal(yk_recorder_end(recorder, NULL), YK_OK);
    yk_recorder_destroy(recorder);
    yk_record *record = load_file(folder, "a.csv");
    assert_string_equal(localeconv()->decimal_point, ",");
    setlocale(LC_NUMERIC, "C");
    assert_samples(record, 100);
    yk_record_destroy(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_is_a_plain_table, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(components_are_joined, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(file_appears_complete_and_at_once, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(abandoned_run_leaves_its_rows_in_the_part, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(killed_run_leaves_whole_blocks, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(slow_runs_are_flushed_by_the_clock, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(full_disk_is_an_error_and_leaves_whole_blocks, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(places_that_cannot_be_written_are_named_at_the_beginning,
                                        open_folder, close_folder),
        cmocka_unit_test_setup_teardown(no_permission_is_an_error, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(names_that_imply_no_format, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(decimal_commas_of_the_locale_do_not_leak_in, open_folder,
                                        close_folder),
    };
    return cmocka_run_group_tests_name("record/csv", tests, NULL, NULL);
}
